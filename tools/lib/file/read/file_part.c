// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read a part of a trace file, beside readers of the other parts. For the threads of the command.
 *
 * A reader of a part shares what the file says about itself, and has sources of its own. A file
 * can be read in parts if the events of one CPU are read: they have the order of the sub-buffers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

int hyptrace_file_parts(struct hyptrace_file *f, uint64_t *from, uint64_t *to,
			struct hyptrace_error *err)
{
	const struct file_source *src;
	int ret;

	/* at an end that is not that of the file, the readers of later parts would not stop */
	if (f->compressed || f->last || f->sides != HYPTRACE_SIDE_REMOTE || f->to != UINT64_MAX)
		return 0;
	ret = hyptrace_file_begin(f, err);
	if (ret || f->nr_sources != 1)
		return ret;
	src = &f->sources[0];
	*from = src->first * f->meta.info.subbuf_size;
	*to = src->data->size;
	return *from < *to;
}

/*
 * Make a reader of parts. Return the reader, for hyptrace_file_next() and
 * hyptrace_file_part_free(); NULL if there is no memory.
 */
struct hyptrace_file *hyptrace_file_part_new(const struct hyptrace_file *f,
					     struct hyptrace_error *err)
{
	struct hyptrace_file *part = malloc(sizeof(*part));

	if (!part) {
		hyptrace_error_memory(err);
		return NULL;
	}
	*part = *f;
	part->host = NULL;
	part->sources = NULL;
	part->nr_sources = 0;
	part->players = NULL;
	part->events = NULL;
	part->packed = NULL;
	part->packed_size = 0;
	part->chunk = NULL;
	part->chunk_size = 0;
	part->chunk_of = NULL;
	part->last_source = NULL;
	part->begun = false;
	return part;
}

void hyptrace_file_part_free(struct hyptrace_file *part)
{
	if (!part)
		return;
	hyptrace_file_end(part);
	free(part->events);
	free(part->packed);
	free(part->chunk);
	free(part);
}

/* Decode the sub-buffer before a part. Return false if it has no event. */
static bool look_back(struct hyptrace_file *part, struct file_source *src, uint64_t from)
{
	bool found = false;
	int ret;

	hyptrace_file_source_seek(src, from - part->meta.info.subbuf_size);
	src->end = from;
	do {
		ret = hyptrace_file_source_next(src, NULL);
		found |= ret > 0;
	} while (ret && !src->over);
	return found;
}

/*
 * Begin to read a part. The sub-buffers before the part may have losses for its first event to
 * report, and the losses of all parts are counted for the last one.
 */
bool hyptrace_file_part_begin(struct hyptrace_file *part, uint64_t from, uint64_t to)
{
	struct file_source *src = &part->sources[0];
	bool found = true;

	if (from > src->first * part->meta.info.subbuf_size)
		found = look_back(part, src, from);
	else
		hyptrace_file_source_seek(src, from);
	src->end = to;
	src->start = from;
	src->counted = 0;
	src->before = 0;
	src->over = false;
	part->nr_primed = 0;
	part->last_source = NULL;
	part->ended = false;
	memset(&part->counts, 0, sizeof(part->counts));
	return found && to != UINT64_MAX;
}

/* Get what the next part must know of the parts so far. */
void hyptrace_file_part_end(struct hyptrace_file *part, struct file_rest *rest)
{
	struct file_source *src = &part->sources[0];

	rest->ts = src->event.record.ts;
	rest->lost = hyptrace_decoder_lost(src->dec);
	rest->counted += src->counted;
	rest->damaged = src->damaged;
}

void hyptrace_file_part_continue(struct hyptrace_file *part, const struct file_rest *rest)
{
	struct file_source *src = &part->sources[0];

	src->event.record.ts = rest->ts;
	src->damaged = rest->damaged;
	src->start = src->first * part->meta.info.subbuf_size;
	src->before = rest->counted;
	hyptrace_decoder_lost(src->dec);
	hyptrace_decoder_lose(src->dec, rest->lost);
}

/* Add what a reader of a part has counted to the counts of the file. */
void hyptrace_file_part_count(struct hyptrace_file *f, const struct hyptrace_file *part)
{
	f->counts.delivered += part->counts.delivered;
	f->counts.filtered += part->counts.filtered;
	f->counts.lost += part->counts.lost;
	f->counts.lost_more |= part->counts.lost_more;
	f->counts.damaged += part->counts.damaged;
}
