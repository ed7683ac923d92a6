// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print a file in batches of events, which one thread at a time takes from it. For report_team.c.
 *
 * So the events of several CPUs can be merged. Making lines takes most of the time.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "output/die.h"
#include "report_team.h"

/* Events of a batch, and bytes of their payloads, at most */
#define BATCH_EVENTS	4096
#define BATCH_BYTES	(512 << 10)
/* Events to add at once: the payload of a short record has 112 bytes at most */
#define RUN_EVENTS	512
static_assert(RUN_EVENTS * 112 <= BATCH_BYTES / 4, "a batch has room for a run and an event");

/**
 * struct batch - events in their order
 * @first:	time of the first line of all; if this is not the first batch
 * @previous:	time of the line before this batch, likewise
 * @nr:		number of @events
 * @used:	bytes of @data
 * @ret:	what hyptrace_file_next() has returned after them
 * @err:	the reason if that failed
 * @events:	the events, whose payloads are in @data
 * @data:	payloads
 */
struct batch {
	uint64_t			first;
	uint64_t			previous;
	unsigned int			nr;
	size_t				used;
	int				ret;
	struct hyptrace_error		err;
	struct hyptrace_stream_event	events[BATCH_EVENTS];
	char				data[BATCH_BYTES] __attribute__((aligned(8)));
};

/* A few words: the call of memcpy() would take longer. Records have whole words of 32 bits. */
static inline void copy_payload(char *to, const char *from, unsigned int size)
{
	for (; size >= sizeof(uint64_t); size -= sizeof(uint64_t)) {
		memcpy(to, from, sizeof(uint64_t));
		to += sizeof(uint64_t);
		from += sizeof(uint64_t);
	}
	if (size)
		memcpy(to, from, sizeof(uint32_t));
}

/* Keep the payload of an event. */
static inline void keep_payload(struct batch *batch, struct hyptrace_record *rec)
{
	char *to = batch->data + batch->used;

	if (!rec->data)
		return;
	copy_payload(to, rec->data, rec->size);
	rec->data = to;
	batch->used += (rec->size + 7) & ~7U;
}

/* Add the next events. Return as hyptrace_file_next(). */
static int add_events(struct hyptrace_file *file, struct batch *batch)
{
	const struct hyptrace_stream_event *event;
	unsigned int room = BATCH_EVENTS - 1 - batch->nr, nr, i;
	int ret;

	nr = hyptrace_file_run(file, &batch->events[batch->nr],
			       room < RUN_EVENTS ? room : RUN_EVENTS);
	for (i = 0; i < nr; i++)
		keep_payload(batch, &batch->events[batch->nr++].record);
	ret = hyptrace_file_next(file, &event, &batch->err);
	if (ret <= 0)
		return ret;
	if (event->record.size > BATCH_BYTES / 2)
		return hyptrace_error_set(&batch->err, EBADMSG, "an event of %u bytes is too large",
					  event->record.size);
	batch->events[batch->nr] = *event;
	keep_payload(batch, &batch->events[batch->nr++].record);
	return ret;
}

/* Take the next batch. Return false if there is none. */
static bool take(struct worker *w)
{
	struct report_team *team = w->team;
	struct batch *batch = w->batch;

	batch->nr = 0;
	batch->used = 0;
	pthread_mutex_lock(&team->reading);
	if (team->over) {
		pthread_mutex_unlock(&team->reading);
		return false;
	}
	w->number = team->next++;
	batch->first = team->first;
	batch->previous = team->previous;
	do {
		batch->ret = add_events(team->file, batch);
	} while (batch->ret > 0 && batch->nr < BATCH_EVENTS && batch->used <= BATCH_BYTES / 4);
	if (batch->nr && !w->number)
		team->first = batch->events[0].record.ts;
	if (batch->nr)
		team->previous = batch->events[batch->nr - 1].record.ts;
	team->over = batch->ret <= 0 && batch->ret != -EBADMSG;
	pthread_mutex_unlock(&team->reading);
	return true;
}

/**
 * report_batch_init - prepare a worker for batches
 * @w:		the worker
 */
void report_batch_init(struct worker *w)
{
	w->batch = malloc(sizeof(*w->batch));
	if (!w->batch)
		die_no_memory();
}

/**
 * report_batch - print the next batch
 * @w:		the worker
 *
 * Return: false if there is none.
 */
bool report_batch(struct worker *w)
{
	struct batch *batch = w->batch;

	if (!take(w))
		return false;
	if (w->number)
		lines_resume(&w->lines, batch->first, batch->previous);
	lines_events(&w->lines, batch->events, batch->nr);
	report_write(w);
	if (batch->ret < 0 && batch->ret != -ENODATA)
		report_fail(w, batch->ret, &batch->err);
	report_pass(w);
	return true;
}
