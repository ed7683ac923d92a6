// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read what the rings of all CPUs hold, without consuming it: see snapshots.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "output/clock.h"
#include "output/die.h"
#include "output/message.h"
#include "edge_losses.h"
#include "select.h"
#include "snapshots.h"

/**
 * struct ring - a CPU's ring
 * @cpu:	the CPU
 * @snap:	a copy of what it holds
 * @rec:	the next event of @snap
 * @edge:	losses that no record of @snap reports
 * @inner:	losses that its records have reported
 */
struct ring {
	unsigned int			cpu;
	struct hyptrace_snapshot	*snap;
	struct hyptrace_record		rec;
	struct edge_losses		edge;
	uint64_t			inner;
};

/* Copy what a ring holds. Return an exit code; without a ring nothing is added. */
static int take_ring(struct context *ctx, const struct hyptrace_remote *remote,
		     const struct hyptrace_cpu *before, struct ring *ring, struct snapshots *found)
{
	struct hyptrace_reader *reader;
	struct hyptrace_error err;
	struct hyptrace_cpu *after;

	reader = hyptrace_reader_open_snapshot(remote->name, before->id, &err);
	/* the rings are not loaded, or this CPU has none */
	if (!reader && (err.errnum == ENODATA || err.errnum == ENXIO))
		return EXIT_DONE;
	if (reader) {
		ring->snap = hyptrace_snapshot_take(reader, remote->mode, 0, &err);
		hyptrace_reader_close(reader);
	}
	if (!ring->snap)
		return cmd_fail("cannot read CPU %u of \"%s\": %s", before->id, remote->name,
				err.text);
	ring->cpu = before->id;
	found->has_rings = true;
	if (!hyptrace_get_cpu(ctx->h, remote->name, before->id, &after, NULL)) {
		edge_losses_find(&ring->edge, before, after);
		found->read += after->read;
		found->filtered += after->filtered;
		hyptrace_free_cpu(after);
	}
	return EXIT_DONE;
}

/* Get the next event of a ring; return false if there is none. */
static bool next_event(struct ring *ring, struct snapshots *found)
{
	struct hyptrace_error err;
	int ret;

	while ((ret = hyptrace_snapshot_next(ring->snap, &ring->rec, &err)) < 0) {
		cmd_note("CPU %u: %s: the rest of the sub-buffer is skipped", ring->cpu, err.text);
		found->damaged++;
	}
	if (!ret)
		return false;
	ring->inner = edge_losses_add(ring->inner, ring->rec.lost);
	ring->rec.lost = edge_losses_add(ring->rec.lost, ring->edge.begin);
	ring->edge.begin = 0;
	return true;
}

static void merge_rings(struct ring *rings, unsigned int nr, snapshots_fn fn, void *arg,
			struct snapshots *found)
{
	struct hyptrace_merge *merge = hyptrace_merge_new(nr, 0);
	enum hyptrace_merge_step step;
	unsigned int i;

	if (!merge)
		die_no_memory();
	hyptrace_merge_finish(merge);
	while ((step = hyptrace_merge_step(merge, &i)) != HYPTRACE_MERGE_WAIT) {
		if (step == HYPTRACE_MERGE_EMIT)
			fn(arg, rings[i].cpu, &rings[i].rec);
		else if (next_event(&rings[i], found))
			hyptrace_merge_pending(merge, i, rings[i].rec.ts, rings[i].rec.ts);
		else
			hyptrace_merge_empty(merge, i, 0);
	}
	hyptrace_merge_free(merge);
}

/* Report what a ring has lost after its last event. */
static void end_ring(struct ring *ring, uint64_t now, snapshots_fn fn, void *arg)
{
	struct hyptrace_record rec = { .ts = now };
	const uint64_t last = hyptrace_snapshot_lost(ring->snap);

	ring->inner = edge_losses_add(ring->inner, last);
	rec.lost = edge_losses_add(last, ring->edge.begin);
	rec.lost = edge_losses_add(rec.lost, edge_losses_end(&ring->edge, ring->inner));
	if (rec.lost)
		fn(arg, ring->cpu, &rec);
}

/**
 * snapshots_read - read what the rings hold
 * @ctx:	the verb's context, connected
 * @remote:	the remote
 * @fn:		gets each event
 * @arg:	the argument of @fn
 * @found:	out: what is known about the rings
 *
 * Without rings there are no events.
 *
 * Return: an exit code, after a message if that is not EXIT_DONE.
 */
int snapshots_read(struct context *ctx, const struct hyptrace_remote *remote, snapshots_fn fn,
		   void *arg, struct snapshots *found)
{
	struct hyptrace_cpu **cpus;
	unsigned int nr, i, nr_rings = 0;
	struct ring *rings;
	uint64_t now;
	int code;

	*found = (struct snapshots){ 0 };
	code = cmd_get_cpus(ctx, remote->name, &cpus, &nr);
	if (code)
		return code;
	rings = calloc(nr ? nr : 1, sizeof(*rings));
	if (!rings)
		die_no_memory();
	for (i = 0; i < nr && !code; i++) {
		code = take_ring(ctx, remote, cpus[i], &rings[nr_rings], found);
		nr_rings += !!rings[nr_rings].snap;
	}
	now = clock_now(CLOCK_BOOTTIME);
	if (!code && nr_rings)
		merge_rings(rings, nr_rings, fn, arg, found);
	for (i = 0; i < nr_rings; i++) {
		if (!code)
			end_ring(&rings[i], now, fn, arg);
		hyptrace_snapshot_free(rings[i].snap);
	}
	free(rings);
	hyptrace_free_cpus(cpus);
	return code;
}
