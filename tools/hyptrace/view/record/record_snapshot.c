// SPDX-License-Identifier: GPL-2.0-only
/*
 * A copy of a ring may begin and end within a sub-buffer, and may have gaps. So its records are
 * put into new sub-buffers, which report each gap as the driver does.
 */
#include "output/die.h"
#include "record.h"

/* A delta that needs no record of its own */
#define DELTA_MAX	((UINT64_C(1) << HYPTRACE_DELTA_BITS) - 1)

#define WORD		sizeof(uint32_t)

/* Bytes that a record takes at most, besides its payload: a time extend, a header, a length */
#define OVERHEAD	(4 * WORD)

struct copier {
	struct record_ring	*ring;		/* its counts */
	struct hyptrace_subbuf	*subbuf;
	size_t			used;		/* bytes of records in it */
	uint64_t		lost;		/* events that it reports as lost */
	uint64_t		time;		/* of its last record */
};

struct saving {
	struct record		*r;
	struct copier		*copiers;	/* of the rings */
	int			code;		/* exit code of what has failed */
};

static void flush(struct saving *saving, struct copier *c)
{
	const size_t size = saving->r->session.remote->subbuf_size;
	struct hyptrace_subbuf *subbuf = c->subbuf;
	struct hyptrace_error err;

	if (!c->used || saving->code)
		return;
	memset(subbuf->data + c->used, 0, size - sizeof(*subbuf) - c->used);
	subbuf->commit = c->used;
	if (c->lost)
		subbuf->commit |= HYPTRACE_COMMIT_MISSED;
	if (c->lost && c->lost != HYPTRACE_LOST_UNKNOWN) {
		subbuf->commit |= HYPTRACE_COMMIT_STORED;
		memcpy(subbuf->data + c->used, &c->lost, sizeof(c->lost));
	}
	c->used = 0;
	if (hyptrace_file_write(saving->r->file.w, c->ring->cpu, subbuf, size, &err))
		saving->code = cmd_fail("%s", err.text);
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

static void add(struct saving *saving, struct copier *c, const struct hyptrace_record *rec)
{
	/* behind the records is room for the number of lost events */
	const size_t room = saving->r->session.remote->subbuf_size - sizeof(*c->subbuf) -
			    sizeof(uint64_t);

	if (rec->lost == HYPTRACE_LOST_UNKNOWN)
		c->ring->lost_more = true;
	else
		c->ring->sum.lost += rec->lost;
	if (!rec->data)
		return;
	/* only a damaged dump has such a record */
	if (OVERHEAD + rec->size > room) {
		c->ring->lost_more = true;
		return;
	}
	if (rec->lost || c->used + OVERHEAD + rec->size > room)
		flush(saving, c);
	if (!c->used) {
		c->subbuf->time_stamp = rec->ts;
		c->time = rec->ts;
		c->lost = rec->lost;
	}
	put_record(c, rec);
	c->ring->sum.events++;
}

/* Begin the file when all rings were copied. */
static void begin_file(struct saving *saving)
{
	struct record *r = saving->r;

	if (r->file.w || saving->code)
		return;
	saving->code = record_begin_file(r);
	if (!saving->code)
		gaps_look(&r->session.gaps, false);
}

static void take(struct session *s, const struct hyptrace_stream_event *events, unsigned int nr)
{
	struct saving *saving = s->arg;
	struct copier *c;
	unsigned int i;

	begin_file(saving);
	for (i = 0; i < nr && !saving->code; i++) {
		for (c = saving->copiers; c->ring->cpu != events[i].cpu; c++)
			;
		add(saving, c, &events[i].record);
	}
}

static void save(struct saving *saving)
{
	static const struct session_ops ops = { .batch = take };
	struct record *r = saving->r;
	struct copier *c;
	unsigned int i;

	r->session.ops = &ops;
	r->session.arg = saving;
	saving->code = session_run(&r->session) ?: saving->code;
	begin_file(saving);
	/* report reads the file of a quiet one at once: it would say them again */
	for (i = 0; i < r->session.ctx->nr_missing && r->file.w && !r->session.quiet; i++)
		hyptrace_file_add_note(r->file.w, r->session.ctx->missing[i]);
	for (c = saving->copiers; c < saving->copiers + r->nr_rings; c++) {
		flush(saving, c);
		if (!c->ring->lost_more && !saving->code)
			hyptrace_file_set_counts(r->file.w, c->ring->cpu, c->ring->sum.events,
						 c->ring->sum.lost, 0);
		free(c->subbuf);
	}
}

int record_snapshot(struct record *r)
{
	auto_cpus struct hyptrace_cpu **cpus = NULL;
	const struct session *s = &r->session;
	struct saving saving = { .r = r };
	unsigned int nr, i;
	int code, end;

	/* a signal does not keep the file from being finished */
	signals_catch();
	code = cmd_get_cpus(s->ctx, s->name, &cpus, &nr);
	if (code)
		return code;
	saving.copiers = xcalloc(nr + 1, sizeof(*saving.copiers));
	r->rings = xcalloc(nr + 1, sizeof(*r->rings));
	for (i = 0; i < nr; i++) {
		r->rings[i].cpu = cpus[i]->id;
		saving.copiers[i].ring = &r->rings[i];
		saving.copiers[i].subbuf = xmalloc(s->remote->subbuf_size);
	}
	r->nr_rings = nr;
	save(&saving);
	free(saving.copiers);
	if (saving.code && r->file.w)
		record_abandon_file(r);
	end = record_end_file(r);
	return saving.code ?: end ?: record_print_summary(r);
}
