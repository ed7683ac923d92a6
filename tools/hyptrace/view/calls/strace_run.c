// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace strace: which events are calls to print, and in which order. For cmd_strace.c and
 * strace_live.c.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/args.h"
#include "output/die.h"
#include "output/message.h"
#include "strace_run.h"

#define BIT(kind)	(1U << (kind))

/* Find the kinds of calls that a call of each kind can be in, of those that are recorded. */
static void find_parents(const struct strace *s, uint32_t parents[NR_STRACE_KINDS])
{
	const uint32_t smc = s->is_needed[STRACE_SMC] ? BIT(STRACE_SMC) : 0;
	uint32_t run = 0, exit = 0;

	/* of the hypercalls only one runs a guest */
	if (s->is_needed[STRACE_HCALL] &&
	    strace_choice_name(&s->choice, STRACE_HCALL, STRACE_RUN_CALL))
		run = BIT(STRACE_HCALL);
	if (s->is_needed[STRACE_EXIT])
		exit = BIT(STRACE_EXIT);
	parents[STRACE_HCALL] = 0;
	parents[STRACE_SMC] = 0;
	parents[STRACE_PSCI] = smc;
	parents[STRACE_FFA] = smc;
	parents[STRACE_EXIT] = run;
	parents[STRACE_FIXUP] = run | exit;
}

/* Parse --filter: a field that none of the calls has is an error. */
static int parse_filter(struct strace *s)
{
	struct hyptrace_event *list[NR_STRACE_KINDS];
	enum strace_kind kind;
	unsigned int nr = 0;

	for (kind = 0; kind < NR_STRACE_KINDS; kind++)
		if (s->is_needed[kind])
			list[nr++] = (struct hyptrace_event *)s->events.kinds[kind].event;
	return filter_parse(s->filter, list, nr, s->events.formats, &s->filters);
}

/**
 * strace_begin - prepare to print the calls
 * @s:		the verb, after lines_begin()
 * @of:		name of the remote or of the file, for a message
 * @list:	all events of the remote or the file; must stay valid
 * @nr:		number of @list
 * @formats:	their formats
 * @hypercalls:	the hypercalls, or NULL; must stay valid
 * @nr_hypercalls: number of @hypercalls
 *
 * Return: an exit code.
 */
int strace_begin(struct strace *s, const char *of, struct hyptrace_event *const *list,
		 unsigned int nr, struct hyptrace_formats *formats,
		 struct hyptrace_hypercall *const *hypercalls, unsigned int nr_hypercalls)
{
	uint32_t parents[NR_STRACE_KINDS];
	bool is_any = false;
	enum strace_kind kind;
	int code;

	strace_events_init(&s->events, list, nr, formats, hypercalls, nr_hypercalls);
	for (kind = 0; kind < NR_STRACE_KINDS; kind++)
		is_any |= !!s->events.kinds[kind].event;
	if (!is_any)
		return cmd_fail("cannot trace \"%s\": it has no events of calls, such as host_hcall",
				of);
	code = strace_choice_check(&s->choice, &s->events);
	if (code)
		return code;
	is_any = false;
	for (kind = 0; kind < NR_STRACE_KINDS; kind++) {
		s->is_needed[kind] = strace_choice_kind(&s->choice, &s->events, kind);
		is_any |= s->is_needed[kind];
	}
	if (!is_any)
		return cmd_fail("cannot trace \"%s\": --trace excludes all calls", of);
	code = parse_filter(s);
	if (code)
		return code;
	find_parents(s, parents);
	s->nest = strace_nest_new(parents);
	return EXIT_DONE;
}

static bool is_shown(struct strace *s, const struct strace_call *call,
		     const struct hyptrace_record *rec)
{
	if (!strace_choice_accept(&s->choice, call))
		return false;
	if (s->filters && !hyptrace_filters_match(s->filters, rec))
		return false;
	return !s->vms.nr || strace_vms_accept(&s->vms, &s->events, call);
}

/**
 * strace_event - take an event
 * @s:		the verb, after strace_begin()
 * @event:	the event, or a loss
 * @now:	the time, for strace_flush()
 */
void strace_event(struct strace *s, const struct hyptrace_stream_event *event, uint64_t now)
{
	const struct hyptrace_record *rec = &event->record;
	struct strace_call call;

	if (rec->lost) {
		strace_nest_loss(s->nest, event->cpu, rec->ts, rec->lost, now);
		strace_vms_lost(&s->vms, event->cpu);
	}
	if (!rec->data)
		return;
	if (s->vms.nr)
		strace_vms_note(&s->vms, &s->events, event->cpu, rec);
	if (strace_call_read(&s->events, event->cpu, rec, &call) && s->is_needed[call.kind])
		strace_nest_call(s->nest, &call, is_shown(s, &call, rec), now);
}

/**
 * strace_flush - print the calls that need not wait
 * @s:		the verb
 * @until:	also those that have come until then
 */
void strace_flush(struct strace *s, uint64_t until)
{
	const struct strace_item *item;

	for (item = strace_nest_next(s->nest, until); item && !s->ctx->out.error;
	     item = strace_nest_next(s->nest, until)) {
		const struct strace_call *call = &item->call;

		if (item->is_loss) {
			/* the summary has no place for it: the last line counts it */
			if (!s->summarize)
				lines_lost(&s->lines, call->cpu, call->ts, item->lost);
			continue;
		}
		s->nr_printed++;
		if (s->summarize)
			strace_summary_add(&s->summary, call, strace_call_error(&s->events, call));
		else
			strace_print(&s->events, &s->lines, call, s->times);
	}
}

/**
 * strace_finish - print what still waits, and the summary
 * @s:		the verb; no event follows
 */
void strace_finish(struct strace *s)
{
	strace_nest_end(s->nest);
	strace_flush(s, 0);
	if (s->summarize)
		strace_summary_print(&s->summary, s->ctx->p);
	out_flush(&s->ctx->out);
}

/**
 * strace_print_counts - print the last line
 * @s:		the verb
 * @discarded:	the part that counts the events that were discarded, with a comma before it
 * @lost:	number of lost events
 * @lost_more:	more were lost, whose number is not known
 */
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
