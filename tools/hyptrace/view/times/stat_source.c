// SPDX-License-Identifier: GPL-2.0-only
/*
 * Take the numbers of stat and top from a file, or live from the counters of EL2 or from events.
 *
 * Several threads read a file, of a CPU each. If the order of CPUs matters, one thread reads it in
 * the order of time: for intervals, and for exits and entries of vCPUs, which move between CPUs.
 */
#include "output/die.h"
#include "stat.h"

/* An interval is printed so long after its end: then all its events were read */
#define LATENESS	(30 * NSEC_PER_MSEC)

/* If more intervals than this pass without an event, they are one: a wrong time may be far away */
#define QUIET_MAX	1000

/* UINT64_MAX stands for all later times. */
static uint64_t time_after(uint64_t ts, uint64_t interval)
{
	return ts < UINT64_MAX - interval ? ts + interval : UINT64_MAX;
}

static void show_interval(struct stat *stat)
{
	const uint64_t end = stat->end;

	stat->end = stat->has_clock ? stat->next : 0;
	stat_limits(stat);
	stat->is_over |= !stat->show(stat);
	stat_cut(stat, stat->end);
	stat->next = time_after(stat->next, stat->interval);
	/* after the end, the last events may still belong to several intervals */
	if (end > stat->end)
		stat->end = end;
}

static void show_until(struct stat *stat, uint64_t ts)
{
	while (ts >= stat->next && stat->next < UINT64_MAX && !stat->is_over && !signals_stop) {
		show_interval(stat);
		if (ts > stat->next && (ts - stat->next) / stat->interval > QUIET_MAX)
			stat->next = ts - (ts - stat->next) % stat->interval;
	}
}

/* Earlier events, such as the visits of stat_cost_measure(), only say where the CPUs are. */
static void begin_counting(struct stat *stat)
{
	const uint64_t end = stat->end;

	if (stat->has_begun)
		return;
	stat->has_begun = true;
	stat_cut(stat, stat->from);
	if (end)
		stat->end = end;
	if (stat->slow)
		stat->slow->nr = 0;
}

/* Show what ends before this event. Return false if it belongs to no interval. */
static bool begin_event(struct stat *stat, const struct hyptrace_record *rec)
{
	if (stat->has_begun && rec->ts < stat->from)
		return false;
	if (!stat->has_begun && stat->session.file && rec->data) {
		stat->has_begun = true;
		stat->begin = rec->ts;
		stat->next = time_after(rec->ts, stat->interval);
	} else if (rec->ts >= stat->from && !stat->session.file) {
		begin_counting(stat);
	}
	if (rec->data)
		show_until(stat, rec->ts);
	return !stat->is_over || stat->session.stream;
}

static void take(struct session *s, const struct hyptrace_stream_event *event, unsigned int nr)
{
	const struct hyptrace_stream_event *const end = event + nr, *first = event;
	struct stat *stat = s->arg;

	for (; event < end; event++) {
		const uint64_t ts = event->record.ts;

		if (stat->has_begun && ts >= stat->from && ts < stat->next)
			continue;
		stat_feed(stat, first, event - first);
		first = event;
		first += !begin_event(stat, &event->record);
	}
	stat_feed(stat, first, end - first);
	s->loop.is_over |= stat->is_over;
}

/* Of a file without intervals; by several threads */
static void take_all(struct session *s, const struct hyptrace_stream_event *events, unsigned int nr)
{
	stat_feed(s->arg, events, nr);
}

static uint64_t tick(struct loop *l, uint64_t now)
{
	const uint64_t time = clock_now(CLOCK_BOOTTIME);
	const struct session *s = l->arg;
	struct stat *stat = s->arg;

	/* events that are held back to keep the order of CPUs */
	if (l->has_ended)
		return now + s->bound;
	if (stat->next == UINT64_MAX)
		return UINT64_MAX;
	if (time >= LATENESS && time - LATENESS >= stat->next) {
		begin_counting(stat);
		show_until(stat, time - LATENESS);
	}
	l->is_over |= stat->is_over;
	return now + stat->next + LATENESS - time;
}

static void stop(struct session *s)
{
	struct stat *stat = s->arg;

	if (stat->has_clock)
		stat->end = clock_now(CLOCK_BOOTTIME);
}

static int begin(struct session *s)
{
	struct stat *stat = s->arg;
	uint64_t now;

	stat_cost_measure(stat);
	now = clock_now(CLOCK_BOOTTIME);
	stat->has_begun = !stat->has_clock;
	stat->from = stat->has_clock ? now : 0;
	stat->begin = stat->from;
	stat->next = stat->interval ? now + stat->interval : UINT64_MAX;
	return EXIT_DONE;
}

static int hold(struct stat *stat)
{
	const char *names[HYPTRACE_NR_KINDS];
	struct event_choice choice = { .names = names };
	struct session *s = &stat->session;
	enum hyptrace_kind kind;

	for (kind = 0; kind < HYPTRACE_NR_KINDS; kind++) {
		const struct hyptrace_meaning *meaning = hyptrace_model_of_kind(stat->model, kind);

		if (stat_by_needs(stat->by, kind) || kind == HYPTRACE_KIND_ENTER ||
		    kind == HYPTRACE_KIND_EXIT) {
			if (!meaning)
				return cmd_fail("the remote \"%s\" has no event %s", s->name,
						hyptrace_kind_event(kind));
			if (meaning->event->missing)
				return cmd_fail("--by=%s needs %s, which is not in this kernel",
						stat_by[stat->by].name, meaning->event->name);
		} else if (!meaning || meaning->event->missing || !stat->slow ||
			   !stat_slow_needs(stat->by, kind)) {
			continue;
		}
		if (choice_has(s->choice.wanted, meaning->event))
			names[choice.nr++] = hyptrace_kind_event(kind);
	}
	if (!choice.nr)
		return cmd_fail("none of the events of -e is needed for --by=%s",
				stat_by[stat->by].name);
	if (stat_by[stat->by].measured)
		s->pmu.only = hyptrace_kind_event(stat_by[stat->by].measured);
	else
		s->pmu.nr = 0;
	return session_hold(s, &choice);
}

static int run_live(struct stat *stat)
{
	struct session *s = &stat->session;
	const bool is_traced = s->remote->state == HYPTRACE_STATE_TRACING;
	struct hyptrace_cpu **cpus auto_cpus = NULL;
	unsigned int nr, i;
	int code;

	stat->has_clock = !strcmp(s->clock, "boot");
	s->loop.input_fd = stat->input ? stat->input_fd : -1;
	code = cmd_get_cpus(s->ctx, s->name, &cpus, &nr);
	/* if nobody has traced before, each CPU switches its ring on while it is in the host */
	for (i = 0; !code && i < nr; i++)
		if (cpus[i]->online)
			stat_add_cpu(stat, cpus[i]->id)->times.now =
				stat->has_clock && !is_traced ? STAT_HOST : STAT_UNKNOWN;
	/* Others must not see the visits among their events. */
	if (!code && !is_traced && !counters_any_counted(s->events))
		stat_cost_prepare(stat);
	if (!code && stat_can_count(stat))
		return stat_counters(stat);
	code = code ?: hold(stat) ?: session_run(s);
	if (code)
		return code;
	begin_counting(stat);
	stat_limits(stat);
	if (stat->end > stat->begin || !stat->interval)
		stat->show(stat);
	return EXIT_DONE;
}

static int run_file(struct stat *stat)
{
	struct session *s = &stat->session;
	const struct cpu_list *list = &s->ctx->cpus;
	const struct hyptrace_file_info *info = hyptrace_file_info(s->file);
	unsigned int i;
	int code;

	stat->has_clock = true;
	for (i = 0; i < info->nr_cpus; i++)
		if (!s->ctx->have_cpus || cpu_list_has(list, info->cpus[i]->id))
			stat_add_cpu(stat, info->cpus[i]->id);
	if (!stat->interval)
		s->file_flags = stat->by == STAT_BY_EXIT ? HYPTRACE_FILE_ALONE :
							   HYPTRACE_FILE_BY_CPU;
	code = session_run(s);
	if (code || stat->is_over || signals_stop)
		return code;
	stat_limits(stat);
	/* the last interval is shorter */
	stat->show(stat);
	return EXIT_DONE;
}

int stat_run(struct stat *stat)
{
	static const struct session_ops of_all = { .batch = take_all };
	const struct session_ops of_time = {
		.batch = take, .begin = begin, .tick = tick, .stop = stop,
		.input = stat->input ? stat_input : NULL,
	};
	struct session *s = &stat->session;
	uint64_t events = 0;
	unsigned int i;
	int code;

	if (stat->sort == NR_STAT_COLUMNS)
		stat->sort = stat_by[stat->by].has_time ? COL_TIME : COL_SAMPLES;
	s->arg = stat;
	s->ops = s->path && !stat->interval ? &of_all : &of_time;
	stat->next = UINT64_MAX;
	code = session_open(s) ?: session_choose(s);
	if (!code) {
		stat->model = or_die(hyptrace_model_new(s->formats, NULL));
		code = s->file ? run_file(stat) : run_live(stat);
	}
	for (i = 0; i < stat->nr_cpus; i++)
		events += stat->cpus[i]->events;
	/* on a screen, and with intervals, the numbers are there */
	if (!code && !stat->is_counted && !stat->input && (!stat->interval || s->damaged))
		session_note_counts(s, "event", stat->interval ? s->counts.delivered : events,
				    "read");
	stat_free(stat);
	return session_close(s, code);
}
