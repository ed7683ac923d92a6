// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace record --snapshot: save what the rings hold now, without consuming it.
 *
 * A copy of a ring may begin and end within a sub-buffer, and may have gaps. So its records are
 * put into new sub-buffers, which report each gap as the driver does.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "output/die.h"
#include "output/message.h"
#include "session/edge_losses.h"
#include "session/select.h"
#include "record.h"

/* A delta that needs no record of its own */
#define DELTA_MAX	((UINT64_C(1) << HYPTRACE_DELTA_BITS) - 1)

#define WORD		sizeof(uint32_t)

/* Bytes that a record takes at most, besides its payload: a time extend, a header, a length */
#define OVERHEAD	(4 * WORD)

/* Puts records into sub-buffers */
struct copier {
	struct record		*r;
	unsigned int		cpu;	/* the CPU of the records */
	struct hyptrace_subbuf	*subbuf;	/* the sub-buffer */
	size_t			size;	/* its bytes */
	size_t			used;	/* bytes of records in it */
	uint64_t		lost;	/* lost events that it reports */
	uint64_t		time;	/* time of its last record */
	struct record_counts	counts;	/* counts of the CPU */
	bool			lost_more;	/* more were lost, whose number is not known */
};

/* Bytes for records: behind them is room for the number of lost events. */
static size_t room_for_records(const struct copier *c)
{
	return c->size - sizeof(*c->subbuf) - sizeof(uint64_t);
}

/* Write the sub-buffer to the file. */
static int flush(struct copier *c, struct hyptrace_error *err)
{
	struct hyptrace_subbuf *subbuf = c->subbuf;

	if (!c->used)
		return 0;
	memset(subbuf->data + c->used, 0, c->size - sizeof(*subbuf) - c->used);
	subbuf->commit = c->used;
	if (c->lost) {
		subbuf->commit |= HYPTRACE_COMMIT_MISSED;
		if (c->lost != HYPTRACE_LOST_UNKNOWN) {
			subbuf->commit |= HYPTRACE_COMMIT_STORED;
			memcpy(subbuf->data + c->used, &c->lost, sizeof(c->lost));
		}
	}
	c->used = 0;
	c->lost = 0;
	return hyptrace_file_write(c->r->file.w, c->cpu, subbuf, c->size, err);
}

static void put_word(struct copier *c, uint32_t word)
{
	memcpy(c->subbuf->data + c->used, &word, WORD);
	c->used += WORD;
}

static void put_record(struct copier *c, const struct hyptrace_record *rec)
{
	uint64_t delta = rec->ts - c->time;
	uint32_t words = rec->size / WORD;

	if (delta > DELTA_MAX) {
		put_word(c, hyptrace_record_header(HYPTRACE_TYPE_TIME_EXTEND, delta & DELTA_MAX));
		put_word(c, delta >> HYPTRACE_DELTA_BITS);
		delta = 0;
	}
	if (words && words <= HYPTRACE_TYPE_MAX_WORDS) {
		put_word(c, hyptrace_record_header(words, delta));
	} else {
		put_word(c, hyptrace_record_header(HYPTRACE_TYPE_LENGTH_WORD, delta));
		put_word(c, rec->size + WORD);
	}
	memcpy(c->subbuf->data + c->used, rec->data, words * WORD);
	c->used += words * WORD;
	c->time = rec->ts;
}

static void count_lost(struct copier *c, uint64_t lost)
{
	if (lost == HYPTRACE_LOST_UNKNOWN)
		c->lost_more = true;
	else
		c->counts.lost += lost;
}

static int add(struct copier *c, const struct hyptrace_record *rec, struct hyptrace_error *err)
{
	int ret = 0;

	if (c->used && (rec->lost || c->used + OVERHEAD + rec->size > room_for_records(c)))
		ret = flush(c, err);
	if (ret)
		return ret;
	if (!c->used) {
		c->subbuf->time_stamp = rec->ts;
		c->time = rec->ts;
		c->lost = rec->lost;
	}
	put_record(c, rec);
	c->counts.events++;
	count_lost(c, rec->lost);
	return 0;
}

/* The content of a ring */
struct snapshot {
	struct hyptrace_snapshot	*snap;	/* a copy of it; NULL if the CPU has no ring */
	struct edge_losses		edge;	/* losses that no record of snap reports */
};

/* Write a snapshot to the file. Return an exit code. */
static int copy(struct record *r, unsigned int cpu, const struct snapshot *from)
{
	struct hyptrace_snapshot *snap = from->snap;
	struct copier c = { .r = r, .cpu = cpu, .size = r->remote->subbuf_size };
	struct record_ring *ring = &r->rings[r->nr_rings++];
	uint64_t begin = from->edge.begin, inner = 0, lost;
	struct hyptrace_record rec;
	struct hyptrace_error err;
	int ret;

	c.subbuf = malloc(c.size);
	if (!c.subbuf)
		die_no_memory();
	do {
		ret = hyptrace_snapshot_next(snap, &rec, &err);
		if (ret > 0) {
			inner = edge_losses_add(inner, rec.lost);
			rec.lost = edge_losses_add(rec.lost, begin);
			begin = 0;
			ret = add(&c, &rec, &err);
			if (ret)
				break;
			ret = 1;
		} else if (ret == -EBADMSG) {
			cmd_note("CPU %u: %s: the rest of the sub-buffer is skipped", cpu,
				 err.text);
			ret = 1;
		}
	} while (ret > 0);
	if (!ret)
		ret = flush(&c, &err);
	free(c.subbuf);
	lost = hyptrace_snapshot_lost(snap);
	count_lost(&c, lost);
	count_lost(&c, begin);
	count_lost(&c, edge_losses_end(&from->edge, edge_losses_add(inner, lost)));
	ring->cpu = cpu;
	ring->sum = c.counts;
	ring->lost_more = c.lost_more;
	if (!c.lost_more)
		hyptrace_file_set_counts(r->file.w, cpu, c.counts.events, c.counts.lost, 0);
	return ret ? cmd_fail("%s", err.text) : EXIT_DONE;
}

/* Take a snapshot of a ring. Return an exit code. */
static int take(struct record *r, const struct hyptrace_cpu *before, struct snapshot *to)
{
	const unsigned int cpu = before->id;
	struct hyptrace_reader *reader;
	struct hyptrace_cpu *after;
	struct hyptrace_error err;

	reader = hyptrace_reader_open_snapshot(r->remote->name, cpu, &err);
	if (reader) {
		to->snap = hyptrace_snapshot_take(reader, r->remote->mode, 0, &err);
		if (to->snap && !hyptrace_get_cpu(r->ctx->h, r->remote->name, cpu, &after, NULL)) {
			edge_losses_find(&to->edge, before, after);
			hyptrace_free_cpu(after);
		}
		hyptrace_reader_close(reader);
		if (to->snap)
			return EXIT_DONE;
	} else if (err.errnum == ENODATA) {
		return cmd_fail("cannot record \"%s\": the rings are not loaded, so they hold nothing",
				r->remote->name);
	} else if (err.errnum == ENXIO && !(r->ctx->have_cpus && !r->ctx->cpus.all)) {
		return EXIT_DONE;
	}
	return cmd_fail("cannot record CPU %u of \"%s\": %s", cpu, r->remote->name, err.text);
}

static int save(struct record *r, struct hyptrace_cpu **cpus, unsigned int nr,
		struct snapshot *snaps)
{
	unsigned int i;
	int code = EXIT_DONE;

	/* take all snapshots first, so that they are from about the same time */
	for (i = 0; i < nr && !code; i++)
		code = take(r, cpus[i], &snaps[i]);
	if (!code)
		code = record_begin_file(r);
	if (!code)
		gaps_look_at_events(&r->gaps);
	for (i = 0; i < nr && !code; i++)
		if (snaps[i].snap)
			code = copy(r, cpus[i]->id, &snaps[i]);
	return code;
}

int record_snapshot(struct record *r)
{
	struct hyptrace_cpu **cpus;
	struct snapshot *snaps;
	unsigned int nr, i;
	int code, end;

	code = cmd_get_cpus(r->ctx, r->remote->name, &cpus, &nr);
	if (code)
		return code;
	snaps = calloc(nr + 1, sizeof(*snaps));
	r->rings = calloc(nr + 1, sizeof(*r->rings));
	if (!snaps || !r->rings)
		die_no_memory();
	code = save(r, cpus, nr, snaps);
	for (i = 0; i < nr; i++)
		hyptrace_snapshot_free(snaps[i].snap);
	free(snaps);
	hyptrace_free_cpus(cpus);
	if (code && r->file.w) {
		hyptrace_file_abandon(r->file.w);
		r->file.w = NULL;
	}
	end = record_end_file(r);
	return code ? code : end;
}
