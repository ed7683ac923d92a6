// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings that hyptrace record reads, the events that it has in them, and their counters.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>

#include "output/die.h"
#include "record.h"

/*
 * A ring is read when a quarter of it holds data: that makes few calls for many events, and
 * leaves time before events are lost. The driver looks at the rings as often as this.
 */
#define WATERMARK_PERCENT	25
#define LOOK_USEC		5000

#define BUSY_HINT	" (stop it, or use \"hyptrace record --snapshot\")"

int record_choose(struct record *r)
{
	auto_choice struct event_choice choice = {};
	struct session *s = &r->session;
	unsigned int i;
	int code = EXIT_DONE;

	if (s->choice.words.nr)
		code = cmd_choose_events("record", s->events, s->nr_events, &s->choice.words,
					 &choice);
	else if (!r->snapshot)
		cmd_choose_default("recording", s->name, s->events, s->nr_events,
				   &s->choice.words, s->quiet, &choice);
	r->chosen = xcalloc(s->nr_events + 1, sizeof(*r->chosen));
	for (i = 0; i < choice.nr; i++)
		r->chosen[r->nr_chosen++] = choice.events[i];
	gaps_begin(&s->gaps, s->ctx, s->name, &choice, s->events, s->nr_events);
	s->gaps.own = s->choice.filter;
	return code;
}

/* Set the filter of the chosen events at EL2, or of all that are enabled. Return an exit code. */
int record_set_filter(struct record *r)
{
	auto_filter struct hyptrace_filter *filter = NULL;
	const struct session *s = &r->session;
	const struct hyptrace_event **events = r->chosen;
	struct hyptrace_error err;
	unsigned int nr = r->nr_chosen, i;
	size_t at;

	if (!s->choice.filter)
		return EXIT_DONE;
	for (i = 0; i < s->nr_events && !r->nr_chosen; i++)
		if (s->events[i]->enabled)
			events[nr++] = s->events[i];
	filter = hyptrace_filter_new(events, nr, NULL, true, s->choice.filter, &at, &err);
	if (!filter)
		return filter_fail(s->choice.filter, at, &err);
	r->is_filtered = true;
	for (i = 0; i < nr; i++)
		if (event_hold(s->ctx->h, events[i], true, filter, events[i]->trigger,
			       events[i]->after, &err))
			return cmd_fail_verb("filter", events[i]->name, &err);
	return EXIT_DONE;
}

static int add_ring(struct record *r, unsigned int cpu)
{
	const struct session *s = &r->session;
	struct record_ring *ring = &r->rings[r->nr_rings];
	struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data.u32 = r->nr_rings };
	struct hyptrace_error err;

	ring->reader = hyptrace_reader_open_on(s->ctx->h, s->name, cpu, O_NONBLOCK, &err);
	/* without a list, the CPUs that have a ring are meant */
	if (!ring->reader && err.errnum == ENXIO && !(s->ctx->have_cpus && !s->ctx->cpus.all))
		return EXIT_DONE;
	ring->cpu = cpu;
	r->nr_rings += !!ring->reader;
	if (!ring->reader ||
	    hyptrace_reader_watermark(ring->reader, LOOK_USEC, WATERMARK_PERCENT, &err))
		return cmd_fail_ring(s->ctx, s->name, cpu, &err, BUSY_HINT);
	if (epoll_ctl(r->epoll, EPOLL_CTL_ADD, hyptrace_reader_fd(ring->reader), &event))
		return cmd_fail("cannot wait for events: %s", strerror(errno));
	return EXIT_DONE;
}

/* Become the consumer. The caller calls record_close_rings() in any case. */
int record_open_rings(struct record *r)
{
	auto_cpus struct hyptrace_cpu **cpus = NULL;
	const struct session *s = &r->session;
	unsigned int nr, i;
	int code = cmd_get_cpus(s->ctx, s->name, &cpus, &nr);

	if (code)
		return code;
	r->rings = xcalloc(nr + 1, sizeof(*r->rings));
	for (i = 0; i < nr && !code; i++)
		code = add_ring(r, cpus[i]->id);
	if (!code && !r->nr_rings)
		code = cmd_fail("cannot record \"%s\": no CPU has a ring", s->name);
	return code;
}

int record_hold(struct record *r)
{
	const struct session *s = &r->session;
	uint16_t ids[HYPTRACE_HOLD_EVENTS_MAX];
	struct hyptrace_error err;
	unsigned int i;

	if (r->nr_chosen > HYPTRACE_HOLD_EVENTS_MAX)
		return cmd_fail("cannot record \"%s\": %u events were chosen, and the driver takes %u at most",
				s->name, r->nr_chosen, HYPTRACE_HOLD_EVENTS_MAX);
	for (i = 0; i < r->nr_chosen; i++)
		ids[i] = r->chosen[i]->id;
	if (!hyptrace_reader_hold(r->rings[0].reader, ids, r->nr_chosen, true, &err))
		return EXIT_DONE;
	return cmd_fail("cannot record \"%s\": %s", s->name, err.text);
}

void record_close_rings(struct record *r)
{
	unsigned int i;

	for (i = 0; i < r->nr_rings; i++) {
		hyptrace_reader_close(r->rings[i].reader);
		r->rings[i].reader = NULL;
	}
}

bool record_count(struct record *r, enum record_count how)
{
	const struct session *s = &r->session;
	struct record_ring *ring;
	auto_cpus struct hyptrace_cpu **cpus = NULL;
	struct ring_counts file;
	unsigned int nr, i;

	if (hyptrace_get_cpus(s->ctx->h, s->name, &cpus, &nr, NULL))
		return false;
	for (i = 0; i < nr; i++) {
		for (ring = r->rings; ring < r->rings + r->nr_rings && ring->cpu != cpus[i]->id;)
			ring++;
		if (ring == r->rings + r->nr_rings)
			continue;
		ring->used = cpus[i]->nr_subbufs ?
			     100 * cpus[i]->used_subbufs / cpus[i]->nr_subbufs : 0;
		ring->nr_subbufs = cpus[i]->nr_subbufs;
		ring->now = ring_counts_of(cpus[i]);
		file = ring->base;
		if (how != RECORD_COUNT_LOOK)
			ring->base = ring->now;
		if (how == RECORD_COUNT_LOOK || how == RECORD_COUNT_BEGIN)
			continue;
		/* as if all of the file could be written */
		ring->was_cleared |= !ring_counts_end(&file, cpus[i], how == RECORD_COUNT_LAST,
						      r->file.w);
		ring_counts_add(&ring->sum, &file);
	}
	return true;
}

struct ring_counts record_total(const struct record *r)
{
	const struct record_ring *ring;
	struct ring_counts total = {};

	for (ring = r->rings; ring < r->rings + r->nr_rings; ring++) {
		ring_counts_add(&total, &ring->sum);
		/* there are less after a clear */
		if (ring->now.events > ring->base.events)
			total.events += ring->now.events - ring->base.events;
		if (ring->now.lost > ring->base.lost)
			total.lost += ring->now.lost - ring->base.lost;
		if (ring->now.filtered > ring->base.filtered)
			total.filtered += ring->now.filtered - ring->base.filtered;
	}
	return total;
}
