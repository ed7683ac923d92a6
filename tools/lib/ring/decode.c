// SPDX-License-Identifier: GPL-2.0-only
/* The records of a sub-buffer, by hand: it may be damaged, but libtraceevent's kbuffer trusts it */
#include "internal.h"

#define ABSOLUTE_MASK	((UINT64_C(1) << HYPTRACE_ABSOLUTE_BITS) - 1)

#define WORD		sizeof(uint32_t)

#define COMMIT_BITS	(HYPTRACE_COMMIT_MASK | HYPTRACE_COMMIT_MISSED | HYPTRACE_COMMIT_STORED)

static bool is_late(const struct hyptrace_decoder *dec, uint64_t ts)
{
	return dec->latest && ts > dec->latest;
}

/* Add lost events, which the next record reports. */
void hyptrace_decoder_lose(struct hyptrace_decoder *dec, uint64_t nr)
{
	dec->lost = dec->lost > HYPTRACE_LOST_UNKNOWN - nr ? HYPTRACE_LOST_UNKNOWN : dec->lost + nr;
}

/* Load a sub-buffer, which must stay valid. Return 0, or -EBADMSG if its header is not valid. */
int hyptrace_decoder_load(struct hyptrace_decoder *dec, const void *subbuf, size_t size,
			  struct hyptrace_error *err)
{
	uint64_t commit, stored, ts;
	size_t room, used;

	dec->size = 0;
	dec->next = 0;

	if (size < HYPTRACE_SUBBUF_HEADER)
		return hyptrace_error_set(err, EBADMSG, "a sub-buffer of %zu bytes", size);
	room = size - HYPTRACE_SUBBUF_HEADER;

	memcpy(&ts, subbuf, sizeof(ts));
	memcpy(&commit, (const char *)subbuf + sizeof(ts), sizeof(commit));
	if (!is_late(dec, ts))
		dec->ts = ts;
	used = commit & HYPTRACE_COMMIT_MASK;
	if ((commit & ~(uint64_t)COMMIT_BITS) || used > room || used % WORD)
		return hyptrace_error_set(err, EBADMSG,
					  "a sub-buffer with the commit word 0x%llx",
					  (unsigned long long)commit);
	if (is_late(dec, ts))
		return hyptrace_error_set(err, EBADMSG, "a sub-buffer with the time %llu ns, which is too late",
					  (unsigned long long)ts);

	dec->data = (const char *)subbuf + HYPTRACE_SUBBUF_HEADER;
	dec->size = used;

	if (commit & HYPTRACE_COMMIT_MISSED) {
		if (commit & HYPTRACE_COMMIT_STORED && room - dec->size >= sizeof(stored))
			memcpy(&stored, dec->data + dec->size, sizeof(stored));
		else
			stored = HYPTRACE_LOST_UNKNOWN;
		/* add: a sub-buffer without events leaves its losses to the next one */
		hyptrace_decoder_lose(dec, stored);
	}
	return 0;
}

static inline bool is_short(uint32_t type)
{
	return type > HYPTRACE_TYPE_LENGTH_WORD && type < HYPTRACE_TYPE_PADDING;
}

static inline uint32_t word_at(const struct hyptrace_decoder *dec, uint32_t offset)
{
	uint32_t word;

	memcpy(&word, dec->data + offset, sizeof(word));
	return word;
}

static uint64_t absolute_time(uint64_t before, uint64_t time)
{
	uint64_t high = before & ~ABSOLUTE_MASK;

	time |= high;
	return high && time < before ? time + ABSOLUTE_MASK + 1 : time;
}

/* Decode a record with a word after its header. @len: bytes after that. False: it is not valid. */
static bool long_record(struct hyptrace_decoder *dec, uint32_t at, uint32_t head, uint32_t *len)
{
	uint32_t room = dec->size - at - WORD, word;
	uint64_t ts = dec->ts;

	if (room < WORD)
		return false;
	word = word_at(dec, at + WORD);
	*len = WORD;
	switch (hyptrace_record_type_len(head)) {
	case HYPTRACE_TYPE_TIME_EXTEND:
		ts += hyptrace_record_long_time(head, word);
		break;
	case HYPTRACE_TYPE_TIME_ABSOLUTE:
		ts = absolute_time(ts, hyptrace_record_long_time(head, word));
		break;
	default:
		ts += hyptrace_record_delta(head);
		*len = word;
	}
	if (is_late(dec, ts))
		return false;
	dec->ts = ts;
	return *len >= WORD && *len <= room && *len % WORD == 0;
}

/* Fill in an event whose payload starts at @from. The next record starts at @to. */
static inline int deliver(struct hyptrace_decoder *dec, struct hyptrace_record *rec,
			  uint32_t from, uint32_t to)
{
	rec->ts = dec->ts;
	rec->lost = dec->lost;
	rec->data = dec->data + from;
	rec->size = to - from;
	dec->lost = 0;
	dec->next = to;
	return 1;
}

/* The record was not an event: decode the next one. */
#define GO_ON	2

/* Decode any other record. Not inlined: nearly all records are short, and that path is hot. */
static __attribute__((noinline)) int other_record(struct hyptrace_decoder *dec,
						  struct hyptrace_record *rec,
						  struct hyptrace_error *err)
{
	const uint32_t at = dec->next;
	uint32_t head, type, len;

	/* the size is a multiple of a word, and below 2^20: no offset overflows */
	if (at >= dec->size)
		return 0;
	head = word_at(dec, at);
	type = hyptrace_record_type_len(head);
	dec->next = dec->size;
	/* padding with delta 0 has no length word: it extends to the end */
	if (type == HYPTRACE_TYPE_PADDING && !hyptrace_record_delta(head))
		return 0;
	if (is_short(type) || !long_record(dec, at, head, &len))
		return hyptrace_error_set(err, EBADMSG,
					  "a sub-buffer with a bad record at byte %u of its data",
					  at);
	if (type == HYPTRACE_TYPE_LENGTH_WORD)
		return deliver(dec, rec, at + 2 * WORD, at + WORD + len);
	dec->next = at + WORD + len;
	return GO_ON;
}

/* Return 1, 0 at the end, or -EBADMSG if a record is not valid: the rest is then skipped. */
int hyptrace_decoder_next(struct hyptrace_decoder *dec, struct hyptrace_record *rec,
			  struct hyptrace_error *err)
{
	uint32_t head, type, from, to;
	int ret;

	do {
		from = dec->next + WORD;
		if (__builtin_expect(from < dec->size, 1)) {
			head = word_at(dec, dec->next);
			type = hyptrace_record_type_len(head);
			to = from + type * WORD;
			if (__builtin_expect(is_short(type) && to <= dec->size, 1)) {
				dec->ts += hyptrace_record_delta(head);
				return deliver(dec, rec, from, to);
			}
		}
		ret = other_record(dec, rec, err);
	} while (ret == GO_ON);
	return ret;
}

/* Decode events as long as that is simple. Return how many; 0: hyptrace_decoder_next() must. */
unsigned int hyptrace_decoder_run(struct hyptrace_decoder *dec,
				  const struct hyptrace_stream_event *like, uint64_t limit,
				  struct hyptrace_stream_event *events, unsigned int max)
{
	const char *at = dec->data + dec->next, *const end = dec->data + dec->size;
	struct hyptrace_stream_event *event = events, *const last = events + max;
	const unsigned int cpu = like->cpu;
	const bool is_host = like->is_host;
	uint64_t ts = dec->ts;

	if (dec->lost)
		return 0;
	/* all sizes are multiples of a word */
	for (; event < last && at < end; event++) {
		const char *data = at + WORD;
		uint32_t head, type;

		memcpy(&head, at, sizeof(head));
		type = hyptrace_record_type_len(head);
		at = data + type * WORD;
		ts += hyptrace_record_delta(head);
		if (!is_short(type) || at > end || ts >= limit)
			break;
		event->record.ts = ts;
		event->record.lost = 0;
		event->record.data = data;
		event->record.size = at - data;
		event->cpu = cpu;
		event->is_host = is_host;
	}
	/* the last one has the place: to keep it beside costs more */
	if (event > events) {
		at = event[-1].record.data;
		dec->next = at - dec->data + event[-1].record.size;
		dec->ts = event[-1].record.ts;
	}
	return event - events;
}

/* Take the losses that no record has reported: a sub-buffer may report some and hold no event. */
uint64_t hyptrace_decoder_lost(struct hyptrace_decoder *dec)
{
	uint64_t lost = dec->lost;

	dec->lost = 0;
	return lost;
}
