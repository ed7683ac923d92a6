// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings that hyptrace catch reads, as a stream, which puts their events in the order of time.
 * It is read only when something was caught: until then the rings keep the last events of each CPU.
 */
#include <poll.h>

#include "output/die.h"
#include "catch.h"

/* A stream holds an event back for a quarter of its bound. */
#define BOUND		(4 * CATCH_ORDER_NSEC)

/* EL2's clock is set every 500 ms. Until then it may be ahead of ours by less than this. */
#define AHEAD_NSEC	NSEC_PER_MSEC

/* While the CPUs record as fast as this reads, other things are looked after so often. */
#define READ_NSEC	(100 * NSEC_PER_MSEC)

/* Without order it cannot be known that all was taken: so long is waited for it at most. */
#define READ_ALL_NSEC	NSEC_PER_SEC

/* Events that are taken between two looks at the clock */
#define AT_ONCE		256

/* Hold the events enabled that show what surrounds the caught one, which the trigger enables. */
int catch_hold(struct catcher *c)
{
	/* not enabled by default: they say little, and push the others out of the rings */
	static const char *const noisy[] = { "hyp_enter", "hyp_exit", "tlbi", "hyp_pool", "func" };
	struct session *s = &c->session;
	const bool *wanted = s->choice.wanted;
	const struct hyptrace_event *events[HYPTRACE_HOLD_EVENTS_MAX];
	const char *names[HYPTRACE_HOLD_EVENTS_MAX];
	struct event_choice choice = { .names = names, .events = events };
	bool by_default = !wanted;
	unsigned int i;

	for (i = 0; i < s->nr_events; i++)
		by_default &= !s->events[i]->enabled;
	for (i = 0; i < s->nr_events && choice.nr < HYPTRACE_HOLD_EVENTS_MAX; i++) {
		const struct hyptrace_event *event = s->events[i];

		if (event == c->event || (event->missing && !wanted))
			continue;
		if (wanted ? choice_has(wanted, event) :
		    by_default ? !has_name(noisy, sizeof(noisy) / sizeof(noisy[0]), event->name) :
				 event->enabled) {
			events[choice.nr] = event;
			names[choice.nr++] = event->name;
		}
	}
	if (wanted)
		cmd_leave_out_func(&choice, &s->choice.words);
	return session_hold(s, &choice);
}

static int tap(unsigned int id, const void *subbufs, size_t size, void *arg,
	       struct hyptrace_error *err)
{
	struct catcher *c = arg;
	struct catch_cpu *cpu = catch_find_cpu(c, id);

	if (!cpu)
		return 0;
	cpu->read_at = clock_now(CLOCK_BOOTTIME);
	return c->w ? hyptrace_file_write(c->w, id, subbufs, size, err) : 0;
}

/* Become the consumer of the rings. The kernel undoes all that when the stream is freed. */
int catch_begin_stream(struct catcher *c)
{
	auto_cpus struct hyptrace_cpu **cpus = NULL;
	struct session *s = &c->session;
	unsigned int nr, i;
	int code = catch_hold(c);

	if (code)
		return code;
	c->progress.ahead = AHEAD_NSEC;
	hyptrace_stream_options(s->stream)->bound = BOUND;
	hyptrace_stream_options(s->stream)->tap = tap;
	hyptrace_stream_options(s->stream)->tap_arg = c;
	code = session_start(s);
	/* nobody else reads the rings from now on */
	if (!code)
		code = cmd_get_cpus(s->ctx, s->name, &cpus, &nr);
	if (code)
		return code;
	for (i = 0; i < nr; i++)
		*xappend(c->cpus, c->nr_cpus) = (struct catch_cpu){
			.id = cpus[i]->id, .counts = ring_counts_of(cpus[i]) };
	return EXIT_DONE;
}

static bool has_clock(const struct catcher *c)
{
	return !strcmp(c->session.clock, "boot");
}

/* How far is EL2's clock ahead of ours? An event cannot be later than when it was read. */
static void learn_clock(struct catcher *c, const struct hyptrace_stream_event *event)
{
	const struct catch_cpu *cpu = catch_find_cpu(c, event->cpu);
	const uint64_t ts = event->record.ts;

	c->progress.last = ts;
	if (cpu && has_clock(c) && ts > cpu->read_at + c->progress.ahead)
		c->progress.ahead = ts - cpu->read_at;
}

/* Take the events that the rings hold, unless they are so young that the order is not known yet. */
int catch_read(struct catcher *c)
{
	struct catch_progress *progress = &c->progress;
	uint64_t begin = clock_now(CLOCK_BOOTTIME);
	const uint64_t end = begin + READ_NSEC;
	const struct hyptrace_stream_event *event;
	bool all_asked = progress->is_empty;
	struct hyptrace_error err;
	unsigned int nr = 0;
	int ret;

	progress->is_empty = false;
	for (;;) {
		ret = hyptrace_stream_next(c->session.stream, &event, &err);
		if (ret > 0) {
			learn_clock(c, event);
			catch_take(c, event);
			if (!c->is_ending && catch_has_enough(c))
				return EXIT_DONE;
			if (++nr % AT_ONCE == 0 && clock_now(CLOCK_BOOTTIME) > end)
				return EXIT_DONE;
		} else if (ret == -EBADMSG) {
			session_note_damage(&err, &c->session);
		} else if (ret < 0) {
			return session_fail(&c->session, &err);
		} else if (!all_asked) {
			/* the next call looks at all rings: some were read before @begin */
			all_asked = true;
			begin = clock_now(CLOCK_BOOTTIME);
		} else {
			break;
		}
	}
	progress->is_empty = true;
	progress->empty_at = begin;
	if (!progress->read_at)
		progress->read_at = clock_now(CLOCK_BOOTTIME);
	return EXIT_DONE;
}

/* Were all events taken that the rings had when asked_at was set? */
bool catch_is_past(const struct catcher *c)
{
	const struct catch_progress *progress = &c->progress;

	/* the events are in the order of time */
	if (has_clock(c) && progress->last > progress->asked_at + progress->ahead)
		return true;
	/* what was not taken was younger than the bound when the rings were last empty */
	return progress->read_at && progress->empty_at >= progress->read_at + CATCH_ORDER_NSEC +
	       (has_clock(c) ? progress->ahead : 0);
}

int catch_read_all(struct catcher *c)
{
	const uint64_t begin = clock_now(CLOCK_BOOTTIME);
	int code;

	c->progress.asked_at = begin;
	c->progress.read_at = 0;
	c->progress.last = 0;
	for (;;) {
		code = catch_read(c);
		if (code || catch_is_past(c) || clock_now(CLOCK_BOOTTIME) - begin > READ_ALL_NSEC)
			break;
		if (c->progress.is_empty)
			poll(NULL, 0, CATCH_ORDER_NSEC / NSEC_PER_MSEC + 2);
	}
	return code;
}
