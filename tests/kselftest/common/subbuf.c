// SPDX-License-Identifier: GPL-2.0-only
/* Decode sub-buffers: see subbuf.h. */
#include <stdio.h>
#include <string.h>

#include <linux/hyptrace.h>

#include "subbuf.h"

#define WORD		4

struct selftest {
	uint16_t	event;
	uint64_t	id;
};

static uint32_t word(const struct subbuf *sub, uint32_t pos)
{
	uint32_t value;

	memcpy(&value, sub->data + pos, sizeof(value));
	return value;
}

/**
 * subbuf_begin - start a walk at the first record
 * @sub:	filled in
 * @page:	the sub-buffer, a copy or mapped
 * @size:	its size in bytes
 */
void subbuf_begin(struct subbuf *sub, const void *page, uint32_t size)
{
	const struct hyptrace_subbuf *subbuf = page;
	uint32_t room = size - sizeof(*subbuf);
	uint64_t commit;

	memset(sub, 0, sizeof(*sub));
	sub->data = subbuf->data;
	/* Order reading commit before reading the records. Pairs with the writer's release. */
	commit = __atomic_load_n(&subbuf->commit, __ATOMIC_ACQUIRE);
	sub->time = subbuf->time_stamp;
	sub->end = commit & HYPTRACE_COMMIT_MASK;
	sub->missed = commit & HYPTRACE_COMMIT_MISSED;
	sub->stored = commit & HYPTRACE_COMMIT_STORED;
	if (commit & ~(uint64_t)(HYPTRACE_COMMIT_MASK | HYPTRACE_COMMIT_MISSED |
				 HYPTRACE_COMMIT_STORED))
		sub->bad = "unknown flags in commit";
	else if (sub->end > room)
		sub->bad = "commit is larger than the sub-buffer";
	else if (sub->stored && !sub->missed)
		sub->bad = "a number of missed events is stored, but MISSED is not set";
	else if (sub->stored && sub->end + sizeof(sub->lost) > room)
		sub->bad = "the number of missed events is stored behind the end";
	else if (sub->stored)
		memcpy(&sub->lost, sub->data + sub->end, sizeof(sub->lost));
	if (!sub->bad && sub->stored && !sub->lost)
		sub->bad = "the stored number of missed events is 0";
}

/* Whether the record is the gap record of discard mode: see linux/hyptrace.h. */
static bool is_gap(struct subbuf *sub, uint32_t delta)
{
	struct hyptrace_gap gap;

	if (sub->pos || delta != HYPTRACE_GAP_DELTA || sub->end <= sizeof(gap))
		return false;
	memcpy(&gap, sub->data, sizeof(gap));
	/* The number of lost events after the data includes those of the gap. */
	return gap.length == HYPTRACE_GAP_LENGTH && gap.lost &&
	       (!sub->stored || gap.lost <= sub->lost);
}

/**
 * subbuf_next - get the next record that is an event
 * @sub:	the walk
 * @record:	filled in
 *
 * Return: false at the end, and after an error, which is then in @sub->bad.
 */
bool subbuf_next(struct subbuf *sub, struct record *record)
{
	while (!sub->bad && sub->pos < sub->end) {
		uint32_t header, type, delta, size, at = sub->pos + WORD;

		if (sub->end - sub->pos < WORD || sub->pos % WORD) {
			sub->bad = "a record is cut off or not aligned";
			return false;
		}
		header = word(sub, sub->pos);
		type = hyptrace_record_type_len(header);
		delta = hyptrace_record_delta(header);

		if (type != HYPTRACE_TYPE_TIME_ABSOLUTE)
			sub->time += delta;
		switch (type) {
		case HYPTRACE_TYPE_PADDING:
			if (!is_gap(sub, delta)) {
				sub->bad = "a padding record that is no gap";
				return false;
			}
			sub->pos += sizeof(struct hyptrace_gap);
			continue;
		case HYPTRACE_TYPE_TIME_EXTEND:
			sub->time += (uint64_t)word(sub, at) << HYPTRACE_DELTA_BITS;
			sub->pos += 2 * WORD;
			continue;
		case HYPTRACE_TYPE_TIME_ABSOLUTE:
			sub->time = delta | (uint64_t)word(sub, at) << HYPTRACE_DELTA_BITS;
			sub->pos += 2 * WORD;
			continue;
		case HYPTRACE_TYPE_LENGTH_WORD:
			size = word(sub, at) - WORD;
			at += WORD;
			break;
		default:
			size = type * WORD;
			break;
		}
		if (size < sizeof(record->event) || size > sub->end - sub->pos ||
		    at + size > sub->end) {
			sub->bad = "a record is too small or ends behind the data";
			return false;
		}
		record->time = sub->time;
		record->size = size;
		record->payload = sub->data + at;
		memcpy(&record->event, record->payload, sizeof(record->event));
		sub->pos = at + (size + WORD - 1) / WORD * WORD;
		return true;
	}
	return false;
}

/*
 * Whether the first record is padding. read() and splice() deliver no gap record: their
 * sub-buffers have the flags of missed events.
 */
static bool has_gap(const struct subbuf *sub)
{
	return sub->end && hyptrace_record_type_len(word(sub, 0)) == HYPTRACE_TYPE_PADDING;
}

static void complain(struct sequence *seq, const char *what, uint64_t got)
{
	if (!seq->bad[0])
		snprintf(seq->bad, sizeof(seq->bad), "%s: got %llu, expected %llu after %llu events",
			 what, (unsigned long long)got, (unsigned long long)seq->next,
			 (unsigned long long)seq->seen);
}

/**
 * sequence_records - check the remaining records of a walk
 * @seq:	the numbers so far
 * @sub:	the walk, which this takes to its end
 */
void sequence_records(struct sequence *seq, struct subbuf *sub)
{
	struct selftest selftest;
	struct record record;

	while (subbuf_next(sub, &record)) {
		if (record.event != seq->event)
			continue;
		if (record.size != sizeof(selftest)) {
			complain(seq, "size of a selftest event", record.size);
			continue;
		}
		memcpy(&selftest, record.payload, sizeof(selftest));
		if (selftest.id != seq->next)
			complain(seq, "number of an event", selftest.id);
		if (record.time < seq->time)
			complain(seq, "time going back", record.time);
		seq->next = selftest.id + 1;
		seq->time = record.time;
		seq->seen++;
	}
	if (sub->bad)
		complain(seq, sub->bad, sub->pos);
}

/**
 * sequence_feed - check the next sub-buffer that read() delivered
 * @seq:	the numbers so far
 * @page:	the sub-buffer
 * @size:	its size in bytes
 */
void sequence_feed(struct sequence *seq, const void *page, uint32_t size)
{
	struct subbuf sub;

	subbuf_begin(&sub, page, size);
	if (sub.missed && !sub.stored)
		complain(seq, "the number of missed events is not stored", sub.end);
	if (has_gap(&sub))
		complain(seq, "a gap record", sub.end);
	seq->lost += sub.lost;
	seq->next += sub.lost;
	sequence_records(seq, &sub);
}

/**
 * sequence_frames - check the data of a read() of all CPUs
 * @seqs:	the numbers of each CPU so far
 * @nr:		number of CPUs
 * @data:	frames and sub-buffers
 * @len:	bytes of @data
 *
 * An error is stored in the sequence of its CPU, or in the first if the CPU is unknown.
 */
void sequence_frames(struct sequence *seqs, unsigned int nr, const void *data, size_t len)
{
	struct hyptrace_frame frame;
	struct sequence *seq;
	struct subbuf sub;

	while (len) {
		if (len < sizeof(frame)) {
			complain(seqs, "too few bytes for a frame", len);
			return;
		}
		memcpy(&frame, data, sizeof(frame));
		data = (const char *)data + sizeof(frame);
		len -= sizeof(frame);
		if (frame.cpu >= nr) {
			complain(seqs, "CPU of a frame", frame.cpu);
			return;
		}
		seq = &seqs[frame.cpu];
		if (frame.size > len || frame.size <= sizeof(struct hyptrace_subbuf)) {
			complain(seq, "the size in a frame", frame.size);
			return;
		}
		subbuf_begin(&sub, data, frame.size);
		if (sub.lost != frame.lost)
			complain(seq, "frame and sub-buffer store different losses", frame.lost);
		if (has_gap(&sub))
			complain(seq, "a gap record", sub.end);
		seq->lost += frame.lost;
		seq->next += frame.lost;
		sequence_records(seq, &sub);
		data = (const char *)data + frame.size;
		len -= frame.size;
	}
}
