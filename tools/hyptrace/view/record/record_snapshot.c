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
#include "session/select.h"
#include "session/session.h"
#include "record.h"

/* A delta that needs no record of its own */
#define DELTA_MAX	((UINT64_C(1) << HYPTRACE_DELTA_BITS) - 1)

#define WORD		sizeof(uint32_t)

/* Bytes that a record takes at most, besides its payload: a time extend, a header, a length */
#define OVERHEAD	(4 * WORD)

/* Puts the records of a CPU into sub-buffers */
struct copier {
	struct record		*r;
	unsigned int		cpu;
	struct hyptrace_subbuf	*subbuf;
	size_t			size;		/* of @subbuf */
	size_t			used;		/* bytes of records in it */
	uint64_t		lost;		/* events that it reports as lost */
	uint64_t		time;		/* of its last record */
	struct record_counts	counts;
	bool			lost_more;	/* more were lost, whose number is not known */
};

struct saving {
	struct record		*r;
	struct copier		*copiers;	/* of the CPUs */
	unsigned int		nr;
	int			code;		/* exit code of what has failed */
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

/* Begin the file when all rings were copied. */
static void begin_file(struct saving *saving)
{
	struct record *r = saving->r;

	if (r->file.w || saving->code)
		return;
	saving->code = record_begin_file(r);
	if (!saving->code)
		gaps_look_at_events(&r->gaps);
}

static void take(struct saving *saving, unsigned int cpu, const struct hyptrace_record *rec)
{
	struct hyptrace_error err;
	struct copier *c;

	begin_file(saving);
	for (c = saving->copiers; c < saving->copiers + saving->nr && !saving->code; c++) {
		if (c->cpu != cpu)
			continue;
		if (!rec->data)
			count_lost(c, rec->lost);
		else if (add(c, rec, &err))
			saving->code = cmd_fail("%s", err.text);
	}
}

static void take_all(struct session *s, const struct hyptrace_stream_event *events,
		     unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		take(s->arg, events[i].cpu, &events[i].record);
}

/* Write what is left of a CPU, and its counts. */
static void end_cpu(struct saving *saving, struct copier *c)
{
	struct record_ring *ring = &saving->r->rings[saving->r->nr_rings++];
	struct hyptrace_error err;

	if (!saving->code && flush(c, &err))
		saving->code = cmd_fail("%s", err.text);
	ring->cpu = c->cpu;
	ring->sum = c->counts;
	ring->lost_more = c->lost_more;
	if (!c->lost_more && saving->r->file.w)
		hyptrace_file_set_counts(saving->r->file.w, c->cpu, c->counts.events,
					 c->counts.lost, 0);
	free(c->subbuf);
}

static void save(struct saving *saving)
{
	static const struct session_ops ops = { .batch = take_all };
	struct record *r = saving->r;
	struct session s = {
		.ctx = r->ctx, .name = r->remote->name, .remote = r->remote, .ops = &ops,
		.arg = saving, .takes = SESSION_SNAPSHOT | SESSION_NO_RINGS,
	};
	int code = session_run_snapshot(&s);
	unsigned int i;

	saving->code = saving->code ? saving->code : code;
	if (!saving->code && !s.has_rings)
		saving->code = cmd_fail("cannot record \"%s\": the rings are not loaded, so they hold nothing",
					s.name);
	begin_file(saving);
	for (i = 0; i < saving->nr; i++)
		end_cpu(saving, &saving->copiers[i]);
}

/* Save what the rings hold now. Return an exit code. */
int record_snapshot(struct record *r)
{
	struct saving saving = { .r = r };
	struct hyptrace_cpu **cpus;
	unsigned int nr, i;
	int code, end;

	code = cmd_get_cpus(r->ctx, r->remote->name, &cpus, &nr);
	if (code)
		return code;
	saving.copiers = calloc(nr + 1, sizeof(*saving.copiers));
	r->rings = calloc(nr + 1, sizeof(*r->rings));
	if (!saving.copiers || !r->rings)
		die_no_memory();
	for (i = 0; i < nr; i++) {
		saving.copiers[i] = (struct copier){
			.r = r, .cpu = cpus[i]->id, .size = r->remote->subbuf_size,
			.subbuf = malloc(r->remote->subbuf_size),
		};
		if (!saving.copiers[i].subbuf)
			die_no_memory();
	}
	saving.nr = nr;
	hyptrace_free_cpus(cpus);
	save(&saving);
	free(saving.copiers);
	if (saving.code && r->file.w) {
		hyptrace_file_abandon(r->file.w);
		r->file.w = NULL;
	}
	end = record_end_file(r);
	return saving.code ? saving.code : end;
}
