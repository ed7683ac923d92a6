// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace strace: which events are calls to print, and in which order.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/args.h"
#include "output/die.h"
#include "output/message.h"
#include "session/choice.h"
#include "strace_run.h"

/* Parse --filter: a field that none of the calls has is an error. */
static int parse_filter(struct strace *s)
{
	struct hyptrace_event *list[STRACE_LAST - STRACE_FIRST + 1];
	enum hyptrace_kind kind;
	unsigned int nr = 0;

	for (kind = STRACE_FIRST; kind <= STRACE_LAST; kind++)
		if (s->needed & HYPTRACE_KIND_BIT(kind))
			list[nr++] = (struct hyptrace_event *)
				     hyptrace_model_of_kind(s->events.model, kind)->event;
	return filter_parse(s->filter, list, nr, s->events.formats, &s->filters);
}

/* Prepare to print the calls of @of, after lines_begin(). Hypercalls may be NULL. */
int strace_begin(struct strace *s, const char *of, struct hyptrace_formats *formats,
		 struct hyptrace_hypercall *const *hypercalls, unsigned int nr_hypercalls)
{
	enum hyptrace_kind kind;
	bool is_any = false;
	uint32_t outer;
	int code;

	s->events = (struct strace_events){
		.model = hyptrace_model_new(formats, NULL),
		.formats = formats,
		.hypercalls = hypercalls,
		.nr_hypercalls = hypercalls ? nr_hypercalls : 0,
	};
	if (!s->events.model)
		die_no_memory();
	for (kind = STRACE_FIRST; kind <= STRACE_LAST; kind++)
		is_any |= !!hyptrace_model_of_kind(s->events.model, kind);
	if (!is_any)
		return cmd_fail("cannot trace \"%s\": it has no events of calls, such as host_hcall",
				of);
	code = strace_choice_check(&s->choice, &s->events);
	if (code)
		return code;
	for (kind = STRACE_FIRST; kind <= STRACE_LAST; kind++)
		if (strace_choice_kind(&s->choice, &s->events, kind))
			s->needed |= HYPTRACE_KIND_BIT(kind);
	if (!s->needed)
		return cmd_fail("cannot trace \"%s\": --trace excludes all calls", of);
	code = parse_filter(s);
	if (code)
		return code;
	outer = s->needed;
	/* of the hypercalls only one runs a guest */
	if (!strace_choice_name(&s->choice, HYPTRACE_KIND_HYPERCALL, STRACE_RUN_CALL))
		outer &= ~HYPTRACE_KIND_BIT(HYPTRACE_KIND_HYPERCALL);
	s->nest = hyptrace_nest_new(s->events.model, outer);
	if (!s->nest)
		die_no_memory();
	return EXIT_DONE;
}

void strace_free(struct strace *s)
{
	hyptrace_nest_free(s->nest);
	hyptrace_model_free(s->events.model);
	strace_summary_free(&s->summary);
	strace_choice_free(&s->choice);
	strace_vms_free(&s->vms);
}

static bool is_shown(struct strace *s, const struct hyptrace_meaning *meaning,
		     const struct hyptrace_stream_event *event)
{
	const struct hyptrace_record *rec = &event->record;

	if (!strace_choice_accept(&s->choice, meaning, hyptrace_meaning_key(meaning, rec)))
		return false;
	if (s->filters && !hyptrace_filters_match(s->filters, rec))
		return false;
	return !s->vms.nr || strace_vms_accept(&s->vms, meaning, event->cpu, rec);
}

/* Take an event or a loss; @now is for strace_flush(). */
void strace_event(struct strace *s, const struct hyptrace_stream_event *event, uint64_t now)
{
	const struct hyptrace_meaning *meaning = s->events.model->unknown;
	const struct hyptrace_record *rec = &event->record;
	struct hyptrace_stream_event call = *event;
	bool shown = false;

	if (rec->lost)
		strace_vms_lost(&s->vms, event->cpu);
	if (rec->data)
		meaning = hyptrace_model_meaning(s->events.model, rec);
	if (s->vms.nr)
		strace_vms_note(&s->vms, meaning, event->cpu, rec);
	if (s->needed & HYPTRACE_KIND_BIT(meaning->kind))
		shown = is_shown(s, meaning, event);
	else
		call.record.data = NULL;
	if ((rec->lost || call.record.data) && hyptrace_nest_add(s->nest, &call, shown, now))
		die_no_memory();
}

/* Print the calls that need not wait, and those that have come until @until. */
void strace_flush(struct strace *s, uint64_t until)
{
	const struct hyptrace_span *call;

	while (!s->ctx->out.error && (call = hyptrace_nest_next(s->nest, until))) {
		if (call->kind == HYPTRACE_KIND_LOSS) {
			/* the summary has no place for it: the last line counts it */
			if (!s->summarize)
				lines_lost(&s->lines, call->cpu, call->record.ts, call->lost);
			continue;
		}
		s->nr_printed++;
		if (s->summarize)
			strace_summary_add(&s->summary, call,
					   hyptrace_meaning_error(call->meaning, &call->record));
		else
			strace_print(&s->lines, call, s->times);
	}
}

/* Print what still waits, and the summary: no event follows. */
void strace_finish(struct strace *s)
{
	hyptrace_nest_end(s->nest);
	strace_flush(s, 0);
	if (s->summarize)
		strace_summary_print(&s->summary, s->ctx->p);
	out_flush(&s->ctx->out);
}

/* Print the last line; @discarded counts the events that were, with a comma before it. */
void strace_print_counts(const struct strace *s, const char *discarded, uint64_t lost,
			 bool lost_more)
{
	/* not all of them were written */
	if (out_has_failed(&s->ctx->out))
		return;
	if (s->lines.quiet && !lost && !lost_more)
		return;
	cmd_note("%" PRIu64 " call%s %s%s, %" PRIu64 "%s event%s lost", s->nr_printed,
		 s->nr_printed == 1 ? "" : "s",
		 out_printed(&s->ctx->out, s->summarize ? "counted" : "printed"), discarded, lost,
		 lost_more ? " or more" : "", lost == 1 && !lost_more ? "" : "s");
}
