// SPDX-License-Identifier: GPL-2.0-only
/*
 * The changes of a page's owner, from mem_transition events. The hypercall that made a change is
 * the next host_hcall of the same CPU, if it began before the change.
 */
#include "output/die.h"
#include "pages.h"

/* The event's time and the hypercall's begin are rounded down to ns, each by itself. */
#define ROUNDING_NSEC	1

/* Begin a history without changes. @formats must remain valid. */
void page_history_init(struct page_history *history, uint64_t pfn, struct hyptrace_formats *formats)
{
	*history = (struct page_history){
		.pfn = pfn, .formats = formats, .model = or_die(hyptrace_model_new(formats, NULL)),
	};
}

void page_history_free(struct page_history *history)
{
	unsigned int i;

	for (i = 0; i < history->nr; i++)
		page_change_free(&history->changes[i]);
	free(history->changes);
	hyptrace_model_free(history->model);
}

static const char *name_of(const struct hyptrace_meaning *meaning, enum hyptrace_role role,
			   const struct hyptrace_record *rec)
{
	const uint64_t value = hyptrace_meaning_value(meaning, role, rec);
	const char *text = hyptrace_meaning_value_name(meaning, role, value);

	return text ? text : "?";
}

char *page_change_text(struct hyptrace_formats *formats, const struct hyptrace_event *event,
		       const struct hyptrace_record *rec)
{
	size_t len;
	const char *text = hyptrace_formats_text(formats, event, rec, &len);

	return xstrndup(text ?: "", text ? len : 0);
}

void page_change_read(struct page_change *change, const struct hyptrace_meaning *meaning,
		      unsigned int cpu, const struct hyptrace_record *rec)
{
	*change = (struct page_change){
		.ts = rec->ts,
		.cpu = cpu,
		.op = name_of(meaning, HYPTRACE_ROLE_OP, rec),
		.from = name_of(meaning, HYPTRACE_ROLE_FROM, rec),
		.to = name_of(meaning, HYPTRACE_ROLE_TO, rec),
		.pfn = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_PAGE, rec),
		.nr = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_COUNT, rec),
		.handle = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_VM, rec),
		.gfn = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_GUEST_PAGE, rec),
		.ret = (int64_t)hyptrace_meaning_value(meaning, HYPTRACE_ROLE_RESULT, rec),
	};
}

void page_change_free(struct page_change *change)
{
	free(change->text);
	free(change->call);
}

bool page_call_made(const struct hyptrace_meaning *meaning, const struct hyptrace_record *call,
		    uint64_t ts)
{
	const uint64_t begin = call->ts - hyptrace_meaning_value(meaning, HYPTRACE_ROLE_DURATION,
								 call);

	return ts + ROUNDING_NSEC >= begin && ts <= call->ts;
}

/* Add an event. They must come in the order of time. */
void page_history_add(struct page_history *history, unsigned int cpu,
		      const struct hyptrace_record *rec)
{
	const struct hyptrace_meaning *meaning;
	struct page_change change, *at;

	if (!rec->data)
		return;
	meaning = hyptrace_model_meaning(history->model, rec);
	if (meaning->kind == HYPTRACE_KIND_TRANSITION) {
		page_change_read(&change, meaning, cpu, rec);
		if (history->pfn < change.pfn || history->pfn - change.pfn >= change.nr)
			return;
		change.text = page_change_text(history->formats, meaning->event, rec);
		change.waits = true;
		*xappend(history->changes, history->nr) = change;
		history->nr_waiting++;
	}
	if (meaning->kind != HYPTRACE_KIND_HYPERCALL || !history->nr_waiting)
		return;
	/* it has ended: it made the changes of the CPU since its begin, but none before */
	for (at = history->changes; at < history->changes + history->nr; at++) {
		if (!at->waits || at->cpu != cpu)
			continue;
		at->waits = false;
		history->nr_waiting--;
		if (page_call_made(meaning, rec, at->ts))
			at->call = page_change_text(history->formats, meaning->event, rec);
	}
}

/* A module of EL2 begins or ends to share its page with a guest. */
bool page_change_is_of_module(const struct page_change *change)
{
	return strstr(change->op, "share") && !strcmp(change->from, "hyp");
}

uint32_t page_change_owner(const struct page_change *change)
{
	static const struct {
		const char	*name;
		uint32_t	owner, sharer;
	} names[] = {
		{ "hyp", HYPTRACE_OWNERSHIP_HYP, HYPTRACE_OWNERSHIP_HOST_SHARED_HYP },
		{ "guest", HYPTRACE_OWNERSHIP_GUEST, HYPTRACE_OWNERSHIP_HOST_SHARED_GUEST },
		{ "ffa", HYPTRACE_OWNERSHIP_HOST_SHARED_FFA, HYPTRACE_OWNERSHIP_HOST_SHARED_FFA },
	};
	size_t i;

	if (page_change_is_of_module(change))
		return HYPTRACE_OWNERSHIP_HYP;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(change->to, names[i].name))
			return strstr(change->op, "share") ? names[i].sharer : names[i].owner;
	return HYPTRACE_OWNERSHIP_HOST;
}

/* Several guests may share a page: the host owns it alone when as many have lost it. */
bool page_history_owner(const struct page_history *history, uint32_t *owner)
{
	unsigned int i, sharers = 0;
	bool known = false;

	for (i = 0; i < history->nr; i++) {
		const struct page_change *change = &history->changes[i];

		if (change->ret)
			continue;
		known = true;
		*owner = page_change_owner(change);
		if (page_change_is_of_module(change))
			continue;
		if (!strcmp(change->op, "share")) {
			sharers++;
		} else if (strcmp(change->op, "unshare")) {
			sharers = 0;
		} else {
			sharers -= sharers > 0;
			if (!sharers)
				*owner = HYPTRACE_OWNERSHIP_HOST;
		}
	}
	return known;
}
