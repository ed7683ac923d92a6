// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace strace: which events are calls to print, and in which order. Live, what -e and -F allow
 * becomes a filter at EL2, so that other calls leave no events, until the end of the verb.
 */
#include "output/clock.h"
#include "output/die.h"
#include "strace.h"

#define BIT(kind)	HYPTRACE_KIND_BIT(kind)

/* The hypercall that runs a guest: the exits of the guest are inside it */
#define RUN_CALL	"__kvm_vcpu_run"

/* Live, a call waits for the calls that it is in so many ns at most. */
#define HOLD_TIME	(NSEC_PER_SEC / 10)

static const struct hyptrace_event *event_of(const struct strace *s, enum hyptrace_kind kind)
{
	const struct hyptrace_meaning *meaning = hyptrace_model_of_kind(s->model, kind);

	return meaning ? meaning->event : NULL;
}

static int choose_kinds(struct strace *s)
{
	const struct hyptrace_event *list[STRACE_LAST - STRACE_FIRST + 1];
	const struct hyptrace_event *missing = NULL;
	struct session *session = &s->session;
	enum hyptrace_kind kind = STRACE_FIRST;
	unsigned int nr = 0;
	int code;

	while (kind <= STRACE_LAST && !event_of(s, kind))
		kind++;
	if (kind > STRACE_LAST)
		return cmd_fail("cannot trace \"%s\": it has no events of calls, such as host_hcall",
				session->name);
	code = strace_choice_begin(&s->choice, s->model, session->calls, session->nr_calls);
	if (code)
		return code;
	for (kind = STRACE_FIRST; kind <= STRACE_LAST; kind++) {
		const struct hyptrace_event *event = event_of(s, kind);

		if (!strace_choice_kind(&s->choice, kind))
			continue;
		if (event->missing) {
			missing = event;
			continue;
		}
		s->needed |= BIT(kind);
		list[nr++] = event;
	}
	if (!nr && missing)
		return cmd_fail("cannot trace \"%s\": %s is not in this kernel", session->name,
				missing->name);
	if (!nr)
		return cmd_fail("cannot trace \"%s\": --trace excludes all calls", session->name);
	/* a field that none of these has is an error */
	return filter_parse(session->choice.filter, list, nr, session->formats, false,
			    &session->choice.parsed);
}

/* Parse a filter of two conditions, of which each may be NULL, or NULL if it does not fit. */
static struct hyptrace_filter *parse_both(const struct hyptrace_event *event, const char *one,
					  const char *other)
{
	auto_free char *text = NULL;

	if (!one && !other)
		return NULL;
	text = xasprintf(one && other ? "(%s) && (%s)" : "%s%s", one ?: "", other ?: "");
	return hyptrace_filter_new(&event, 1, NULL, true, text, NULL, NULL);
}

static int hold(struct strace *s)
{
	const char *names[HYPTRACE_NR_KINDS], *condition = s->session.choice.filter;
	struct event_choice choice = { .names = names };
	struct hyptrace_error err;
	enum hyptrace_kind kind;

	for (kind = 0; kind < HYPTRACE_NR_KINDS; kind++) {
		auto_filter struct hyptrace_filter *filter = NULL;
		auto_free char *chosen = NULL;
		const struct hyptrace_event *event = event_of(s, kind);
		const bool is_witness = s->vms.nr && STRACE_WITNESSES & BIT(kind);

		if (!event || event->missing || !(is_witness || s->needed & BIT(kind)))
			continue;
		names[choice.nr++] = event->name;
		/*
		 * tracefs has no filters. Together they may have too many comparisons, or the event
		 * has not all of the fields: EL2 records all, and the command chooses.
		 */
		if (!is_witness && !s->session.ctx->is_tracefs) {
			chosen = strace_choice_filter(&s->choice, kind);
			filter = parse_both(event, chosen, condition) ?:
				 parse_both(event, chosen, NULL) ?:
				 parse_both(event, NULL, condition);
		}
		if ((filter || event->filter) &&
		    event_hold(s->session.ctx->h, event, true, filter, event->trigger,
			       event->after, &err))
			return cmd_fail_verb("filter", event->name, &err);
	}
	return session_hold(&s->session, &choice);
}

int strace_begin(struct strace *s)
{
	struct session *session = &s->session;
	int code = lines_begin(&s->lines, session, session->clock, session->formats);
	uint32_t outer;

	s->model = or_die(hyptrace_model_new(session->formats, NULL));
	code = code ?: choose_kinds(s) ?: (session->path ? EXIT_DONE : strace_vms_open(&s->vms));
	if (code)
		return code;
	outer = s->needed;
	/* of the hypercalls only one runs a guest */
	if (!strace_choice_name(&s->choice, HYPTRACE_KIND_HYPERCALL, RUN_CALL))
		outer &= ~BIT(HYPTRACE_KIND_HYPERCALL);
	s->nest = or_die(hyptrace_nest_new(s->model, outer));
	return session->stream ? hold(s) : EXIT_DONE;
}

static struct pmu_counts *counts_of(struct strace *s, unsigned int cpu)
{
	return map_get(&s->pmu, cpu, 0, sizeof(struct pmu_counts));
}

static void add_counts(struct strace *s, struct hyptrace_stream_event *call,
		       enum hyptrace_kind kind)
{
	struct pmu_counts *counts = counts_of(s, call->cpu);
	struct hyptrace_record *rec = &call->record;

	if (!pmu_take(&s->session.pmu, counts, kind, rec->ts) || rec->size > STRACE_PMU_OFFSET)
		return;
	memcpy(s->measured, rec->data, rec->size);
	memcpy(s->measured + STRACE_PMU_OFFSET, counts->n, sizeof(counts->n));
	rec->data = s->measured;
	rec->size = sizeof(s->measured);
}

static void take(struct strace *s, const struct hyptrace_stream_event *event)
{
	const struct hyptrace_filter *filter = s->session.choice.parsed;
	const struct hyptrace_meaning *meaning = s->model->unknown;
	const struct hyptrace_record *rec = &event->record;
	struct hyptrace_stream_event call = *event;
	bool shown = false;

	if (rec->data)
		meaning = hyptrace_model_meaning(s->model, rec);
	if (s->vms.nr)
		strace_vms_note(&s->vms, meaning, event->cpu, rec);
	if (s->needed & BIT(meaning->kind))
		shown = strace_choice_accept(&s->choice, meaning,
					     hyptrace_meaning_key(meaning, rec)) &&
			(!filter || hyptrace_filter_match(filter, rec)) &&
			(!s->vms.nr || strace_vms_accept(&s->vms, meaning, event->cpu, rec));
	else
		call.record.data = NULL;
	if (s->session.pmu.nr && meaning->kind == HYPTRACE_KIND_PMU)
		pmu_note(&s->session.pmu, counts_of(s, event->cpu), meaning, rec);
	else if (s->session.pmu.nr && shown)
		add_counts(s, &call, meaning->kind);
	/* traps are calls only if they are named */
	if (!shown && meaning->kind >= STRACE_FIRST && meaning->kind <= STRACE_LAST)
		s->nr_filtered += call.record.data || meaning->kind != HYPTRACE_KIND_GUEST_FIXUP;
	if ((rec->lost || call.record.data) && hyptrace_nest_add(s->nest, &call, shown, s->now))
		die_no_memory();
	s->nr_waiting += shown;
}

static bool has_enough(const struct strace *s)
{
	return s->session.stream && s->session.count && s->nr_printed >= s->session.count;
}

static void show(struct strace *s, const struct hyptrace_span *call)
{
	if (call->kind == HYPTRACE_KIND_LOSS) {
		/* the summary has no place for it: the last line counts it */
		if (!s->summarize)
			lines_lost(&s->lines, call->cpu, call->record.ts, call->lost);
		return;
	}
	s->nr_printed++;
	if (s->summarize)
		strace_summary_add(&s->summary, call,
				   hyptrace_meaning_error(call->meaning, &call->record));
	else
		strace_print(&s->lines, call, s->times, &s->session.pmu);
	s->session.loop.is_over |= has_enough(s);
}

/* Print the calls that have come until @until. With --count, the last ones of a file wait. */
static void flush(struct strace *s, uint64_t until)
{
	const uint64_t last = s->session.file ? s->session.count : 0;
	const struct hyptrace_span *call;

	while (!s->session.ctx->out.error && !has_enough(s) &&
	       (!last || until || s->nr_waiting > last) &&
	       (call = hyptrace_nest_next(s->nest, until))) {
		const bool is_loss = call->kind == HYPTRACE_KIND_LOSS;
		/* nor are losses wanted that come before the first call that is printed */
		const bool drops = last && (s->nr_waiting > last ||
					    (is_loss && s->has_dropped && !s->nr_printed));

		s->nr_waiting -= !is_loss;
		s->has_dropped |= drops;
		if (!drops)
			show(s, call);
	}
}

static void batch(struct session *session, const struct hyptrace_stream_event *events,
		  unsigned int nr)
{
	struct strace *s = session->arg;
	unsigned int i;

	for (i = 0; i < nr && !has_enough(s); i++) {
		if (events[i].record.ts < s->begin)
			continue;
		take(s, &events[i]);
		flush(s, 0);
	}
}

static int begin(struct session *session)
{
	struct strace *s = session->arg;

	if (!strcmp(session->clock, "boot"))
		s->begin = clock_now(CLOCK_BOOTTIME);
	s->now = clock_now(CLOCK_MONOTONIC);
	return EXIT_DONE;
}

static uint64_t tick(struct loop *l, uint64_t now)
{
	struct strace *s = ((struct session *)l->arg)->arg;
	uint64_t since;

	s->now = now;
	if (now > HOLD_TIME)
		flush(s, now - HOLD_TIME);
	if (strace_vms_have_ended(&s->vms))
		l->is_over = true;
	if (hyptrace_nest_waits(s->nest, &since))
		return since + HOLD_TIME;
	/* the processes of VMs may end without an event */
	return s->vms.nr ? now + HOLD_TIME : UINT64_MAX;
}

const struct session_ops strace_ops = { .batch = batch, .begin = begin, .tick = tick };

/* Print what still waits, the summary, and the last line: no event follows. */
void strace_finish(struct strace *s)
{
	struct session *session = &s->session;
	struct context *ctx = session->ctx;

	/* before the output, which may block */
	if (session->stream)
		event_release_all(ctx->h, session->name);
	hyptrace_nest_end(s->nest);
	flush(s, UINT64_MAX);
	if (s->summarize)
		strace_summary_print(&s->summary, ctx->p);
	out_flush(&ctx->out);
	strace_vms_end(&s->vms, session->name);
	session->counts.filtered = s->nr_filtered;
	session_note_counts(session, "call", s->nr_printed, s->summarize ? "counted" : "printed");
}

void strace_free(struct strace *s)
{
	lines_end(&s->lines);
	hyptrace_nest_free(s->nest);
	hyptrace_model_free(s->model);
	strace_summary_free(&s->summary);
	map_free_values(&s->pmu);
	strace_choice_free(&s->choice);
	strace_vms_free(&s->vms);
}
