// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings that hyptrace record reads, and their counters.
 *
 * The recording is the only consumer of its rings. So the events in a file are exactly those that
 * the ring's counter "read" counts while the file is written. The losses are those that its
 * sub-buffers report. Later ones, which no sub-buffer reports in time, are added at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "output/die.h"
#include "output/message.h"
#include "session/select.h"
#include "record.h"

/*
 * A ring is read when a quarter of it holds data: that makes few calls for many events, and
 * leaves time before events are lost. The driver looks at the rings as often as this.
 */
#define WATERMARK_PERCENT	25
#define LOOK_USEC		5000

#define BUSY_HINT	" (stop it, or use \"hyptrace record --snapshot\")"

static int add_ring(struct record *r, unsigned int cpu)
{
	struct record_ring *ring = &r->rings[r->nr_rings];
	struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data.u32 = r->nr_rings };
	struct hyptrace_error err;

	ring->reader = hyptrace_reader_open(r->remote->name, cpu, O_NONBLOCK, &err);
	if (!ring->reader) {
		/* without a list, the CPUs that have a ring are meant */
		if (err.errnum == ENXIO && !(r->ctx->have_cpus && !r->ctx->cpus.all))
			return EXIT_DONE;
		return cmd_fail_ring(r->ctx, r->remote->name, cpu, &err, BUSY_HINT);
	}
	ring->cpu = cpu;
	r->nr_rings++;
	if (hyptrace_reader_watermark(ring->reader, LOOK_USEC, WATERMARK_PERCENT, &err))
		return cmd_fail_ring(r->ctx, r->remote->name, cpu, &err, BUSY_HINT);
	if (epoll_ctl(r->epoll, EPOLL_CTL_ADD, hyptrace_reader_fd(ring->reader), &event))
		return cmd_fail("cannot wait for events: %s", strerror(errno));
	return EXIT_DONE;
}

/*
 * Become the consumer of the rings. Return an exit code; the caller calls record_close_rings() in
 * any case.
 */
int record_open_rings(struct record *r)
{
	struct hyptrace_cpu **cpus;
	unsigned int nr, i;
	int code;

	code = cmd_get_cpus(r->ctx, r->remote->name, &cpus, &nr);
	if (code)
		return code;
	r->rings = calloc(nr + 1, sizeof(*r->rings));
	if (!r->rings)
		die_no_memory();
	for (i = 0; i < nr && !code; i++)
		code = add_ring(r, cpus[i]->id);
	hyptrace_free_cpus(cpus);
	if (!code && !r->nr_rings)
		code = cmd_fail("cannot record \"%s\": no CPU has a ring", r->remote->name);
	return code;
}

/* Enable the chosen events, and start tracing. */
int record_hold(struct record *r)
{
	uint16_t ids[HYPTRACE_HOLD_EVENTS_MAX];
	struct hyptrace_error err;
	unsigned int i, j, nr = 0;

	if (r->choice.nr > HYPTRACE_HOLD_EVENTS_MAX)
		return cmd_fail("cannot record \"%s\": %u events were chosen, and the driver takes %u at most",
				r->remote->name, r->choice.nr, HYPTRACE_HOLD_EVENTS_MAX);
	for (i = 0; i < r->choice.nr; i++)
		for (j = 0; j < r->nr_events; j++)
			if (!strcmp(r->events[j]->name, r->choice.names[i]))
				ids[nr++] = r->events[j]->id;
	if (!hyptrace_reader_hold(r->rings[0].reader, ids, nr, true, &err))
		return EXIT_DONE;
	return cmd_fail("cannot record \"%s\": %s", r->remote->name, err.text);
}

/* Stop tracing and disable the events, unless others need them. */
void record_release(struct record *r)
{
	/* if this fails, the kernel does it when the rings are closed */
	hyptrace_reader_hold(r->rings[0].reader, NULL, 0, false, NULL);
}

void record_close_rings(struct record *r)
{
	unsigned int i;

	for (i = 0; i < r->nr_rings; i++) {
		hyptrace_reader_close(r->rings[i].reader);
		r->rings[i].reader = NULL;
	}
}

/*
 * Move what a ring holds to the file. A CPU may record as fast as this reads, so that there is no
 * end: the ring is then marked as ready.
 */
int record_drain(struct record *r, struct record_ring *ring, int64_t *left,
		 struct hyptrace_error *err)
{
	const int fd = hyptrace_reader_fd(ring->reader);
	int64_t n;

	do {
		n = hyptrace_file_splice(r->file.w, ring->cpu, fd, err);
		if (n > 0)
			*left -= n;
	} while (n > 0 && *left > 0);
	ring->is_ready = n > 0;
	return n < 0 ? n : 0;
}

int64_t record_ring_size(const struct record *r, const struct record_ring *ring)
{
	/* one may be read in two parts */
	return (ring->nr_subbufs + 1LL) * r->remote->subbuf_size;
}

static struct record_ring *find_ring(struct record *r, unsigned int cpu)
{
	unsigned int i;

	for (i = 0; i < r->nr_rings; i++)
		if (r->rings[i].cpu == cpu)
			return &r->rings[i];
	return NULL;
}

/* The counts of a ring since it was loaded or cleared, as the sub-buffers report them */
static struct record_counts counts_of(const struct hyptrace_cpu *cpu)
{
	return (struct record_counts){
		.events = cpu->read,
		.lost = cpu->overrun + cpu->dropped - cpu->unreported,
		.filtered = cpu->filtered,
	};
}

/*
 * End the counts of a file, as if all of it could be written. @last: losses after the last event
 * belong to it.
 */
static void end_counts(struct record *r, struct record_ring *ring, const struct hyptrace_cpu *cpu,
		       bool last)
{
	const struct record_counts now = counts_of(cpu), *base = &ring->base;
	/* a driver that does not count the clears: the counters have begun again */
	const bool is_cleared = cpu->clears != ring->clears || now.events < base->events ||
				now.lost < base->lost || now.filtered < base->filtered;
	struct record_counts file;

	ring->now = now;
	/* the next file of a rotation could not be begun */
	if (!is_cleared && r->file.w) {
		file.events = now.events - base->events;
		file.lost = now.lost - base->lost;
		file.filtered = now.filtered - base->filtered;
		if (last && !cpu->unread)
			file.lost += cpu->unreported;
		hyptrace_file_set_counts(r->file.w, ring->cpu, file.events, file.lost,
					 file.filtered);
		ring->sum.events += file.events;
		ring->sum.lost += file.lost;
		ring->sum.filtered += file.filtered;
	}
	ring->was_cleared |= is_cleared;
	ring->clears = cpu->clears;
	ring->base = now;
}

bool record_count(struct record *r, enum record_count how)
{
	struct record_counts now;
	struct record_ring *ring;
	struct hyptrace_cpu **cpus;
	unsigned int nr, i;

	if (hyptrace_get_cpus(r->ctx->h, r->remote->name, &cpus, &nr, NULL))
		return false;
	for (i = 0; i < nr; i++) {
		ring = find_ring(r, cpus[i]->id);
		if (!ring)
			continue;
		ring->used = cpus[i]->nr_subbufs ?
			     100 * cpus[i]->used_subbufs / cpus[i]->nr_subbufs : 0;
		ring->nr_subbufs = cpus[i]->nr_subbufs;
		now = counts_of(cpus[i]);
		if (how == RECORD_COUNT_BEGIN) {
			ring->base = now;
			ring->now = now;
			ring->clears = cpus[i]->clears;
		} else if (how == RECORD_COUNT_LOOK) {
			ring->now = now;
		} else {
			end_counts(r, ring, cpus[i], how == RECORD_COUNT_LAST);
		}
	}
	hyptrace_free_cpus(cpus);
	return true;
}

static uint64_t since(uint64_t now, uint64_t base)
{
	return now > base ? now - base : 0;
}

void record_total(const struct record *r, struct record_counts *total)
{
	const struct record_ring *ring;
	unsigned int i;

	memset(total, 0, sizeof(*total));
	for (i = 0; i < r->nr_rings; i++) {
		ring = &r->rings[i];
		total->events += ring->sum.events + since(ring->now.events, ring->base.events);
		total->lost += ring->sum.lost + since(ring->now.lost, ring->base.lost);
		total->filtered += ring->sum.filtered +
				   since(ring->now.filtered, ring->base.filtered);
	}
}
