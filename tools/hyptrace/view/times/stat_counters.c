// SPDX-License-Identifier: GPL-2.0-only
/*
 * The numbers of stat and top from the counters of EL2: nothing is recorded or lost, but they have
 * no percentiles. And what an event costs: how much longer a visit of EL2 takes.
 */
#include "output/die.h"
#include "stat.h"

/* What an event costs: so many visits of EL2 are timed, so often */
#define VISITS			64
#define ROUNDS			9

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The median, ns; 0: not known. Half of the rounds differ from it by @spread at most. */
static uint64_t time_visits(const struct stat *stat, uint64_t *spread)
{
	uint64_t nsec[ROUNDS] = {};
	unsigned int i;

	for (i = 0; i < ROUNDS; i++)
		if (hyptrace_time_visits(stat->session.ctx->h, stat->session.name, VISITS,
					 &nsec[i], NULL))
			return 0;
	qsort(nsec, ROUNDS, sizeof(nsec[0]), compare);
	*spread = (nsec[ROUNDS * 3 / 4] - nsec[ROUNDS / 4]) / 2;
	return nsec[ROUNDS / 2];
}

/* while no event is recorded or counted */
void stat_cost_prepare(struct stat *stat)
{
	stat->visits_nsec = time_visits(stat, &stat->visits_spread);
}

/* while those happen that the verb needs */
void stat_cost_measure(struct stat *stat)
{
	/* hyp_enter and hyp_exit, and maybe host_hcall; waits for locks are few */
	const unsigned int nr = stat_by_needs(stat->by, HYPTRACE_KIND_HYPERCALL) ? 3 : 2;
	uint64_t spread = 0;
	uint64_t during = stat->visits_nsec ? time_visits(stat, &spread) : 0;

	if (during <= stat->visits_nsec)
		return;
	stat->event_psec = (during - stat->visits_nsec) * PSEC_PER_NSEC / (VISITS * nr);
	stat->event_spread = (spread + stat->visits_spread) * PSEC_PER_NSEC / (VISITS * nr);
}

struct counting {
	struct stat			*stat;
	struct session			*s;		/* of @stat */
	/* events that this verb holds: EL2 counts them until it ends; the last one has the rows */
	const char			*names[2];
	/* how often others had reset them or switched them off, right before last was read */
	uint32_t			breaks[2];
	unsigned int			nr_names;
	bool				is_held;	/* it holds them */
	/* others may have reset them or switched them off in the interval */
	bool				is_broken;
	struct hyptrace_event_counter	**last;	/* the counters at the begin of the interval */
	unsigned int			nr_last;
	uint64_t			end;	/* by --duration; or 0 */
	bool				has_ended;	/* the user wants no more intervals */
	int				code;
};

/* Is a counter less than it was? The time of hyp_exit may also become less without a reset. */
static bool is_less(const struct hyptrace_event_counter *now,
		    const struct hyptrace_event_counter *last)
{
	return now->count < last->count || (!now->now && now->total < last->total);
}

/*
 * What a counter was in the last interval. Both lists are in the same order and lack counters that
 * are 0. NULL: all that it has counted is of this interval, since it is new or was reset.
 */
static const struct hyptrace_event_counter *
take_last(const struct counting *c, unsigned int *next, const struct hyptrace_event_counter *now,
	  bool *was_reset)
{
	const struct hyptrace_event_counter *last;
	unsigned int i;

	for (i = *next; i < c->nr_last && c->last[i]->cpu <= now->cpu; i++) {
		last = c->last[i];
		if (last->cpu != now->cpu || !counters_have_same_key(last, now))
			continue;
		*was_reset |= i > *next || is_less(now, last);
		*next = i + 1;
		return is_less(now, last) ? NULL : last;
	}
	return NULL;
}

/* The CPU of a counter: new if it came online since the begin. NULL: not chosen, or still off */
static struct stat_cpu *find_cpu(struct stat *stat, const struct hyptrace_event_counter *now,
				 const struct hyptrace_event_counter *last)
{
	struct stat_cpu *cpu = stat_find_cpu(stat, now->cpu);
	const struct context *ctx = stat->session.ctx;

	if (cpu || (ctx->have_cpus && !cpu_list_has(&ctx->cpus, now->cpu)) ||
	    (last && last->total == now->total))
		return cpu;
	return stat_add_cpu(stat, now->cpu);
}

static void add_time(struct stat_cpu *cpu, const struct hyptrace_event_counter *now,
		     const struct hyptrace_event_counter *last)
{
	const struct hyptrace_meaning *exit = hyptrace_model_of_kind(cpu->model,
								     HYPTRACE_KIND_EXIT);
	const uint64_t was = last ? last->total : 0;
	/* A visit of EL2 is time outside until it ends: then the sum may become smaller. */
	const uint64_t ns = now->total > was ? now->total - was : 0;
	enum stat_place place = STAT_EL2;

	/* hyp_exit: the firmware belongs to the host that calls it */
	if (now->now)
		place = exit && now->value == exit->into_guest ? STAT_GUEST : STAT_HOST;
	cpu->times.ns[place] += ns;
	/* of a visit, hyp_exit is counted as a time only */
	if (!now->now)
		cpu->counted += 2 * (now->count - (last ? last->count : 0));
}

/* The times of samples are only known as powers of two. */
static void add_buckets(struct stat_row *row, const struct hyptrace_event_counter *now,
			const struct hyptrace_event_counter *last)
{
	unsigned int nr = now->nr_buckets < STAT_BUCKETS ? now->nr_buckets : STAT_BUCKETS, i;
	uint64_t from[STAT_BUCKETS] = {};
	struct stat_buckets *buckets;

	for (i = 0; i < nr; i++)
		from[i] = hyptrace_counter_bucket(now, i);
	buckets = stat_row_buckets(row, from, nr);
	for (i = 0; i < buckets->nr && i < nr; i++)
		buckets->count[i] += now->buckets[i] - (last ? last->buckets[i] : 0);
}

static void add_measured(struct stat_row *row, const struct hyptrace_event_counter *now,
			 const struct hyptrace_event_counter *last)
{
	unsigned int i;

	/* They begin again when the PMU is held again. */
	if (last && now->measured < last->measured)
		last = NULL;
	row->measured += now->measured - (last ? last->measured : 0);
	for (i = 0; i < PMU_MAX; i++)
		row->pmu[i] += now->pmu[i] - (last ? last->pmu[i] : 0);
}

static void add_row(const struct stat *stat, struct stat_cpu *cpu,
		    const struct hyptrace_event_counter *now,
		    const struct hyptrace_event_counter *last)
{
	struct stat_key key = { .major = now->is_others ? STAT_OTHERS : now->value };
	struct stat_row *row;

	if (now->count == (last ? last->count : 0))
		return;
	if (stat->by == STAT_BY_CPU)
		key.major = cpu->id;
	row = stat_rows_get(&cpu->rows, key);
	row->samples += now->count - (last ? last->count : 0);
	row->times.count = row->samples;
	row->times.sum += now->total - (last ? last->total : 0);
	/* Else the longest time may be older than the interval. */
	if (now->longest > (last ? last->longest : 0) && now->longest > row->times.max)
		row->times.max = now->longest;
	add_measured(row, now, last);
	if (stat->has_buckets)
		add_buckets(row, now, last);
}

/* The counters were read shortly before the begin and after the end: the host had that time. */
static void trim_times(struct stat_times *times, uint64_t wall)
{
	static const enum stat_place places[] = { STAT_HOST, STAT_GUEST, STAT_EL2 };
	uint64_t *ns = times->ns, sum = ns[STAT_HOST] + ns[STAT_GUEST] + ns[STAT_EL2];
	uint64_t excess = sum > wall ? sum - wall : 0;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		const uint64_t cut = excess < ns[places[i]] ? excess : ns[places[i]];

		ns[places[i]] -= cut;
		excess -= cut;
	}
}

static int hold(struct counting *c, bool on)
{
	const struct pmu *pmu = &c->s->pmu;
	struct hyptrace_error err;
	int ret;

	if (on)
		ret = hyptrace_hold_counters(c->s->ctx->h, c->s->name, c->names, c->nr_names,
					     pmu->numbers, pmu->nr, &err);
	else
		ret = hyptrace_count_events(c->s->ctx->h, c->s->name, c->names, c->nr_names, false,
					    HYPTRACE_EVENT_HOLD, &err);
	if (ret && on && pmu->nr)
		return cmd_fail("cannot use the PMU: %s", err.text);
	if (ret)
		return cmd_fail("cannot %s the events of \"%s\": %s",
				on ? "count" : "stop counting", c->s->name, err.text);
	c->is_held = on;
	return EXIT_DONE;
}

/* Return false if EL2 does not count, for example since the remote was registered again. */
static bool get_breaks(const struct counting *c, uint32_t *breaks)
{
	bool counted = true;
	unsigned int i;

	for (i = 0; i < c->nr_names; i++) {
		auto_event struct hyptrace_event *event = NULL;

		/* If this fails, so does the next request, with a message. */
		if (hyptrace_get_event(c->s->ctx->h, c->s->name, c->names[i], &event, NULL))
			return true;
		counted &= event->counted;
		breaks[i] = event->count_breaks;
	}
	return counted;
}

/* Are they broken, from before they were read the last time until after they are read now? */
static int read_and_look(struct counting *c, struct hyptrace_event_counter ***counters,
			 unsigned int *nr)
{
	uint32_t before[2] = {}, after[2] = {};
	struct hyptrace_error err;
	int code = EXIT_DONE;

	get_breaks(c, before);
	if (hyptrace_get_counters(c->s->ctx->h, c->s->name, HYPTRACE_CPU_ALL, counters, nr, &err))
		code = cmd_fail("cannot get the counters of \"%s\": %s", c->s->name, err.text);
	c->is_broken = !get_breaks(c, after) || memcmp(after, c->breaks, sizeof(after));
	memcpy(c->breaks, before, sizeof(before));
	return code;
}

static int take_interval(struct counting *c)
{
	const char *of_rows = c->names[c->nr_names - 1];
	const struct hyptrace_event_counter *last;
	struct hyptrace_event_counter **counters;
	struct stat *stat = c->stat;
	unsigned int nr, i, next = 0;
	bool was_reset = false;
	int code;

	stat->begin = stat->end;
	stat->end = clock_now(CLOCK_BOOTTIME);
	code = read_and_look(c, &counters, &nr);
	if (code)
		return code;
	for (i = 0; i < stat->nr_cpus; i++) {
		stat_rows_free(&stat->cpus[i]->rows);
		stat->cpus[i]->times = (struct stat_times){};
		stat->cpus[i]->counted = 0;
	}
	for (i = 0; i < nr; i++) {
		struct stat_cpu *cpu;

		last = take_last(c, &next, counters[i], &was_reset);
		cpu = find_cpu(stat, counters[i], last);
		if (!cpu)
			continue;
		if (counters[i]->now || !strcmp(counters[i]->event, "hyp_enter"))
			add_time(cpu, counters[i], last);
		if (!strcmp(counters[i]->event, of_rows))
			add_row(stat, cpu, counters[i], last);
		if (!strcmp(counters[i]->event, "host_hcall") ||
		    !strcmp(counters[i]->event, "lock_wait"))
			cpu->counted += counters[i]->count - (last ? last->count : 0);
	}
	if (was_reset || next < c->nr_last || c->is_broken)
		cmd_note("the counters were reset or switched off by somebody else: these numbers are incomplete");
	for (i = 0; i < stat->nr_cpus; i++)
		trim_times(&stat->cpus[i]->times, stat->end - stat->begin);
	hyptrace_free_counters(c->last);
	c->last = counters;
	c->nr_last = nr;
	return EXIT_DONE;
}

static void show_interval(struct counting *c)
{
	unsigned int i;

	c->code = take_interval(c);
	if (!c->code && !c->stat->show(c->stat))
		c->has_ended = true;
	/* what others have switched off */
	if (!c->code && c->is_broken && !c->has_ended) {
		c->code = hold(c, true);
		/* what the PMU has counted begins again */
		for (i = 0; i < c->nr_last; i++) {
			c->last[i]->measured = 0;
			memset(c->last[i]->pmu, 0, sizeof(c->last[i]->pmu));
		}
	}
	c->s->loop.is_over |= c->code || c->has_ended;
}

static uint64_t tick(struct loop *l, uint64_t now)
{
	struct stat *stat = ((struct session *)l->arg)->arg;
	struct counting *c = stat->counting;
	uint64_t time = clock_now(CLOCK_BOOTTIME);

	if (stat->next <= time && !l->is_over) {
		show_interval(c);
		time = clock_now(CLOCK_BOOTTIME);
		stat->next += stat->interval;
		/* one long interval, rather than several that have ended */
		if (stat->next < time)
			stat->next = time;
		/* the last one ends with the loop */
		if (c->end && stat->next >= c->end)
			stat->next = UINT64_MAX;
	}
	return stat->next < UINT64_MAX ? now + stat->next - time : UINT64_MAX;
}

static int run(struct counting *c)
{
	static const struct loop_ops ops = { .tick = tick, .input = stat_input };
	struct stat *stat = c->stat;
	struct session *s = &stat->session;
	int code = child_start(&s->child);

	if (code)
		return code;
	stat->end = clock_now(CLOCK_BOOTTIME);
	if (stat->interval)
		stat->next = stat->end + stat->interval;
	s->loop.ops = &ops;
	if (s->duration)
		c->end = stat->end + s->duration;
	if (c->end && stat->next >= c->end)
		stat->next = UINT64_MAX;
	code = loop_run(&s->loop);
	if (!code && !c->code && !c->has_ended)
		show_interval(c);
	return code ? code : c->code;
}

static int begin(struct counting *c)
{
	const enum hyptrace_kind kind = stat_by[c->stat->by].kind;
	int code;

	c->names[c->nr_names++] = "hyp_enter";
	if (kind != HYPTRACE_KIND_UNKNOWN)
		c->names[c->nr_names++] = hyptrace_kind_event(kind);
	code = hold(c, true);
	if (code)
		return code;
	stat_cost_measure(c->stat);
	return read_and_look(c, &c->last, &c->nr_last);
}

bool stat_can_count(const struct stat *stat)
{
	const enum hyptrace_kind kind = stat_by[stat->by].kind ?: HYPTRACE_KIND_ENTER;
	const struct hyptrace_meaning *enter = hyptrace_model_of_kind(stat->model,
								      HYPTRACE_KIND_ENTER);
	const struct hyptrace_meaning *rows = hyptrace_model_of_kind(stat->model, kind);

	if (stat->exact || stat->histogram || stat->slow || choice_is_made(&stat->session.choice) ||
	    stat_columns[stat->sort].needs & NEEDS_SAMPLES)
		return false;
	if (stat->by != STAT_BY_REASON && stat->by != STAT_BY_HCALL && stat->by != STAT_BY_CPU &&
	    stat->by != STAT_BY_LOCK)
		return false;
	return enter && enter->event->can_be_counted && rows && rows->event->can_be_counted &&
	       !rows->event->missing;
}

int stat_counters(struct stat *stat)
{
	struct counting c = { .stat = stat, .s = &stat->session };
	int code = begin(&c), ended;

	stat->counting = &c;
	stat->is_counted = true;
	if (!code && !stat->session.quiet)
		cmd_note("EL2 counts, and no event is recorded: for percentiles use --exact");
	if (!code)
		code = run(&c);
	hyptrace_free_counters(c.last);
	ended = c.is_held ? hold(&c, false) : EXIT_DONE;
	return code ? code : ended;
}
