// SPDX-License-Identifier: GPL-2.0-only
/* The stack of a span that has left a nest, as flame graphs have it. */
#include "hyptrace_model.h"
#include "internal.h"

static size_t put_frame(char *text, size_t size, size_t at, const char *frame)
{
	const size_t len = strlen(frame);
	size_t i;

	/* a stack that is too long ends earlier */
	if (at + 1 + len >= size)
		return at;
	text[at++] = ';';
	/* what separates frames and lines */
	for (i = 0; i < len; i++, at++)
		text[at] = frame[i] == ';' || (unsigned char)frame[i] < ' ' ? ':' : frame[i];
	text[at] = '\0';
	return at;
}

static size_t put_frames(const struct hyptrace_span *span, char *text, size_t size, size_t at)
{
	const char *name = span->name;

	if (span->parent)
		at = put_frames(span->parent, text, size, at);
	/* the run of a guest has a stack of its own */
	if (span->kind == HYPTRACE_KIND_GUEST_EXIT)
		return at;
	if (!name)
		name = span->kind == HYPTRACE_KIND_ENTER ? "unknown" : span->meaning->event->name;
	at = put_frame(text, size, at, name);
	if (span->guest_exit)
		at = put_frame(text, size, at, span->guest_exit);
	if (span->guest_entry)
		at = put_frame(text, size, at, span->guest_entry);
	return at;
}

/**
 * hyptrace_span_stack - write the stack of a span, for flame graphs
 * @span:	the span, from hyptrace_nest_next()
 * @text:	out: the stack, such as "el2;hvc;__pkvm_host_share_hyp", or
 *		"guest;VM 0x1000;vCPU 0;DABT_LOW" for the run of a guest; @span->own is its time
 * @size:	bytes of @text
 * Return: the length; 0 for a loss.
 */
size_t hyptrace_span_stack(const struct hyptrace_span *span, char *text, size_t size)
{
	char vm[24], vcpu[32];
	size_t at;

	if (span->kind == HYPTRACE_KIND_LOSS || size < sizeof("guest")) {
		if (size)
			*text = '\0';
		return 0;
	}
	if (span->kind != HYPTRACE_KIND_GUEST_EXIT)
		return put_frames(span, text, size, stpcpy(text, "el2") - text);
	snprintf(vm, sizeof(vm), "VM 0x%llx", (unsigned long long)
		 hyptrace_meaning_value(span->meaning, HYPTRACE_ROLE_VM, &span->record));
	snprintf(vcpu, sizeof(vcpu), "vCPU %llu", (unsigned long long)
		 hyptrace_meaning_value(span->meaning, HYPTRACE_ROLE_INDEX, &span->record));
	at = put_frame(text, size, stpcpy(text, "guest") - text, vm);
	at = put_frame(text, size, at, vcpu);
	return put_frame(text, size, at, span->name ? span->name : "unknown");
}
