// SPDX-License-Identifier: GPL-2.0-only
/* The events of a live remote as they happen. */
#include "output/die.h"
#include "session.h"

/* Events to take before looking whether the session is to end */
#define EVENTS_AT_ONCE	4096
/* Events that are decoded before the first of them is used: they fit into the cache */
#define RUN_EVENTS	128

/* More events than a stream reads ahead of those that it delivers: 8192 of each CPU */
#define READ_AHEAD	(UINT64_C(1) << 20)

int session_open_stream(struct session *s)
{
	auto_cpus struct hyptrace_cpu **cpus = NULL;
	const struct cpu_list *list = &s->ctx->cpus;
	struct hyptrace_stream_options *options;
	struct hyptrace_error err;
	unsigned int nr;
	int code;

	if (s->no_start && s->ctx->is_tracefs)
		return cmd_fail("tracefs does not say when its rings are empty: leave --no-start out");
	if (signals_catch() < 0)
		return cmd_fail("cannot catch signals: %s", strerror(errno));
	s->ctx->out.abandon = &signals_abandon;
	s->loop = (struct loop)LOOP(s->ctx, NULL, s);
	s->loop.child = &s->child;
	s->loop.duration = s->duration;
	if (s->takes & SESSION_OWN_RINGS)
		return EXIT_DONE;
	s->stream = hyptrace_stream_new(s->ctx->h, s->name, &err);
	if (!s->stream)
		return session_fail(s, &err);
	s->formats = hyptrace_stream_formats(s->stream);
	/* this checks that the remote has the CPUs of --cpu */
	code = cmd_get_cpus(s->ctx, s->name, &cpus, &nr);
	if (code)
		return code;
	/* without a list the library takes all CPUs that have a ring */
	options = hyptrace_stream_options(s->stream);
	if (s->ctx->have_cpus && !list->all) {
		options->cpus = list->ids;
		options->nr_cpus = list->nr;
	}
	if (s->takes & SESSION_FIRST)
		options->limit = s->count;
	options->bound = s->bound;
	options->no_start = s->no_start;
	return EXIT_DONE;
}

static bool add_counters(const struct session *s, struct ring_counts *sum)
{
	const struct context *ctx = s->ctx;
	auto_cpus struct hyptrace_cpu **cpus = NULL;
	unsigned int nr, i;

	*sum = (struct ring_counts){};
	if (hyptrace_get_cpus(ctx->h, s->name, &cpus, &nr, NULL))
		return false;
	for (i = 0; i < nr; i++) {
		const struct ring_counts counts = ring_counts_of(cpus[i]);

		if (!ctx->have_cpus || cpu_list_has(&ctx->cpus, cpus[i]->id))
			ring_counts_add(sum, &counts);
	}
	return true;
}

/* EL2 chooses those of -F, if it can, and nobody else has enabled the event; else the session. */
static void hold_filters(struct session *s, const struct event_choice *choice)
{
	struct ring_counts sum;
	unsigned int i;

	for (i = 0; i < s->nr_events; i++) {
		auto_filter struct hyptrace_filter *filter = NULL;
		const struct hyptrace_event *event = s->events[i];

		if (event->enabled || !event_choice_has(choice, event->name))
			continue;
		filter = hyptrace_filter_new(&event, 1, NULL, true, s->choice.filter, NULL, NULL);
		if (filter && !event_hold(s->ctx->h, event, true, filter, 0, 0, NULL))
			s->gaps.own = s->choice.filter;
	}
	add_counters(s, &sum);
	s->refused_before = sum.filtered;
}

static int hold(struct session *s, const struct event_choice *choice)
{
	struct hyptrace_error err;
	int code = cmd_refuse_missing("enable", s->events, s->nr_events, choice);

	if (code)
		return code;
	gaps_begin(&s->gaps, s->ctx, s->name, choice, s->events, s->nr_events);
	s->gaps.owns_filters = s->takes & SESSION_HOLDS_FILTERS;
	if (hyptrace_stream_set_events(s->stream, choice->names, choice->nr, &err))
		return session_fail(s, &err);
	if (s->choice.filter && !s->gaps.owns_filters)
		hold_filters(s, choice);
	return EXIT_DONE;
}

/* Hold these events enabled, and that of --pmu; without any, those that others enable. */
int session_hold(struct session *s, const struct event_choice *choice)
{
	auto_free const char **names = xcalloc(choice->nr + 1, sizeof(*names));
	struct event_choice with_pmu = { .names = names, .nr = choice->nr };
	const char *pmu = hyptrace_kind_event(HYPTRACE_KIND_PMU);
	unsigned int i;

	for (i = 0; i < choice->nr; i++)
		names[i] = choice->names[i];
	if (s->pmu.nr && !event_choice_has(choice, pmu))
		names[with_pmu.nr++] = pmu;
	return hold(s, &with_pmu) ?: session_hold_pmu(s, choice);
}

/* Without words, if no event is enabled, hold those of -e or the default ones. */
int session_hold_chosen(struct session *s, const struct words *words)
{
	auto_free const struct hyptrace_event **enabled = xcalloc(s->nr_events + 1,
								  sizeof(*enabled));
	auto_filter struct hyptrace_filter *filter = NULL;
	struct event_choice choice auto_choice = {};
	const char *verb = s->ctx->verb->name;
	unsigned int nr_enabled = 0, i;
	int code = EXIT_DONE;

	if (words && words->nr) {
		code = cmd_choose_events(verb, s->events, s->nr_events, words, &choice);
		cmd_leave_out_func(&choice, words);
	} else if (!s->no_start) {
		cmd_choose_default(verb, s->name, s->events, s->nr_events, &s->choice.words,
				   s->quiet, &choice);
	}
	for (i = 0; i < s->nr_events; i++)
		if (s->events[i]->enabled || event_choice_has(&choice, s->events[i]->name))
			enabled[nr_enabled++] = s->events[i];
	/* one of these must have the fields of -F; if none is, somebody may enable any later */
	if (!code && nr_enabled)
		code = filter_parse(s->choice.filter, enabled, nr_enabled, s->formats, false,
				    &filter);
	return code ?: session_hold(s, &choice);
}

static int hear(const struct hyptrace_notification *notification, void *arg)
{
	auto_event struct hyptrace_event *event = NULL;
	const struct hyptrace_remote *remote = notification->remote;
	struct session *s = ((struct loop *)arg)->arg;

	s->is_changed |= notification->type == HYPTRACE_NOTIFICATION_REMOTE ||
			 notification->type == HYPTRACE_NOTIFICATION_EVENT;
	if (s->quiet || notification->type != HYPTRACE_NOTIFICATION_TRIGGER || !remote->nr_fired ||
	    strcmp(remote->name, s->name))
		return 0;
	out_flush(&s->ctx->out);
	/* another process may have given the event its trigger since the session began */
	hyptrace_get_event(s->ctx->h, s->name, remote->fired[0].event, &event, NULL);
	firing_note(remote, 0, event ? event->after : 0);
	return 0;
}

/* Count what the rings have as read, but the stream has not taken. May wrap around. */
static uint64_t count_not_taken(const struct session *s)
{
	struct hyptrace_stream_counts counts;
	struct ring_counts sum;

	hyptrace_stream_counts(s->stream, &counts, sizeof(counts));
	if (!add_counters(s, &sum))
		return s->not_taken;
	return sum.events - counts.delivered - counts.filtered;
}

/* Say why events are missing: the session must not just fall silent. */
void session_look(struct session *s)
{
	uint64_t not_taken;

	if (s->quiet && !(s->takes & SESSION_GAPS))
		return;
	out_flush(&s->ctx->out);
	gaps_look(&s->gaps, !s->no_start);
	not_taken = count_not_taken(s);
	/* there are never fewer than at the beginning, unless a clear has set the counters to 0 */
	if ((int64_t)(not_taken - s->not_taken) >= 0)
		return;
	/* what was read before the clear is still taken */
	s->not_taken = not_taken - READ_AHEAD;
	cmd_note("the rings were cleared: events that were not read yet are missing");
}

static int heard(struct loop *l, bool lost)
{
	struct session *s = l->arg;

	if ((s->is_changed || lost) && !l->has_ended)
		session_look(s);
	s->is_changed = false;
	return LOOP_WAIT;
}

static int take(struct loop *l)
{
	struct session *s = l->arg;
	struct hyptrace_stream_event events[RUN_EVENTS];
	const struct hyptrace_stream_event *event;
	struct hyptrace_error err;
	unsigned int nr, all;
	int ret = 1;

	for (all = 0; all < EVENTS_AT_ONCE && ret > 0 && !l->ctx->out.error &&
	     (!l->is_over || l->has_ended); all += nr) {
		nr = hyptrace_stream_run(s->stream, events, RUN_EVENTS);
		if (nr) {
			s->ops->batch(s, events, nr);
			continue;
		}
		ret = hyptrace_stream_next(s->stream, &event, &err);
		if (ret > 0)
			s->ops->batch(s, event, 1);
		nr = 1;
	}
	if (ret == -ENODATA)
		return EXIT_DONE;
	if (ret == -EBADMSG)
		session_note_damage(&err, s);
	else if (ret < 0)
		return session_fail(s, &err);
	return ret ? LOOP_AGAIN : LOOP_WAIT;
}

/* Before the stream ends: then the rings may be unloaded, and their counters are gone. */
static void get_refused(struct session *s)
{
	struct ring_counts sum;

	if (!s->gaps.own)
		return;
	add_counters(s, &sum);
	/* a clear sets the counters to 0 */
	s->refused = sum.filtered - (sum.filtered < s->refused_before ? 0 : s->refused_before);
}

/* Stop to record; what was recorded is still taken. */
static bool stop(struct loop *l)
{
	struct session *s = l->arg;

	session_look(s);
	if (s->ops->stop)
		s->ops->stop(s);
	get_refused(s);
	hyptrace_stream_end(s->stream);
	signals_give_time();
	return true;
}

int session_start(struct session *s)
{
	struct hyptrace_error err;

	/* before the rings are read: a tracer in tracefs reads ahead at once */
	s->not_taken = count_not_taken(s);
	return hyptrace_stream_start(s->stream, &err) ? session_fail(s, &err) : EXIT_DONE;
}

int session_run_stream(struct session *s)
{
	const struct loop_ops ops = {
		.take = take, .hear = hear, .heard = heard, .stop = stop,
		.tick = s->ops->tick, .input = s->ops->input,
	};
	struct hyptrace_error err;
	int code;

	s->loop.ops = &ops;
	if (!s->quiet || s->takes & SESSION_GAPS)
		s->loop.listener = hyptrace_listener_open(s->ctx->h, &err);
	s->gaps.hears_triggers = s->loop.listener && !s->quiet;
	code = session_start(s);
	if (code)
		return code;
	s->loop.fd = hyptrace_stream_fd(s->stream);
	session_look(s);
	code = (s->ops->begin ? s->ops->begin(s) : EXIT_DONE) ?: child_start(&s->child) ?:
	       loop_run(&s->loop);
	if (!s->loop.has_ended)
		get_refused(s);
	s->loop.has_ended = true;
	if (s->loop.listener)
		loop_listen(&s->loop);
	hyptrace_stream_close(s->stream);
	hyptrace_stream_counts(s->stream, &s->counts, sizeof(s->counts));
	s->counts.filtered += s->refused;
	return code;
}
