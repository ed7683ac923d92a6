// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open the chosen CPUs of a trace file, and say what is to be read of them. For file_next.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

/* Are the events of a CPU read? */
bool hyptrace_file_is_chosen(const struct hyptrace_file *f, unsigned int cpu)
{
	unsigned int i;

	for (i = 0; i < f->nr_chosen; i++)
		if (f->chosen[i] == cpu)
			return true;
	return !f->chosen;
}

void hyptrace_file_end(struct hyptrace_file *f)
{
	unsigned int i;

	for (i = 0; i < f->nr_sources; i++)
		hyptrace_file_source_close(&f->sources[i]);
	free(f->sources);
	free(f->players);
	f->sources = NULL;
	f->players = NULL;
	f->nr_sources = 0;
	f->last_source = NULL;
	f->begun = false;
	f->late = 0;
}

/* Is there something to read of a CPU of one side, or to say that it is missing or was lost? */
static bool is_read(const struct hyptrace_file *f, const struct hyptrace_file *side,
		    unsigned int index)
{
	const struct hyptrace_file_cpu *cpu = side->meta.cpus[index];
	const struct file_data *data = &side->data[index];

	/* other threads read the CPUs that are not chosen */
	if (!hyptrace_file_is_chosen(f, cpu->id))
		return false;
	return data->size || cpu->missing || (cpu->has_counts && cpu->lost);
}

/* Return how many bytes a source can have in memory, 0 if that is too little. */
static size_t room_of(const struct hyptrace_file *f, unsigned int nr)
{
	const uint32_t subbuf = f->meta.info.subbuf_size;
	const bool is_copied = f->swap || f->long_size != sizeof(uint64_t);
	size_t room = FILE_BUFFERS / (nr ? nr : 1);

	/* a source converts a sub-buffer to memory of its own */
	if (is_copied && nr > 1)
		room = room > subbuf ? room - subbuf : 0;

	/* a compressed chunk has any size; memory that is not used is not allocated */
	if (room > FILE_READ_SIZE && !f->compressed)
		room = FILE_READ_SIZE;
	if (room < subbuf && FILE_READ_SIZE < subbuf && nr == 1)
		room = subbuf;
	return room - room % subbuf;
}

static unsigned int count_side(const struct hyptrace_file *f, const struct hyptrace_file *side)
{
	unsigned int nr = 0, i;

	for (i = 0; side && i < side->meta.nr_cpus; i++)
		nr += is_read(f, side, i);
	return nr;
}

/* @nr: sources of both sides */
static int open_side(struct hyptrace_file *f, struct hyptrace_file *side, unsigned int nr,
		     struct hyptrace_error *err)
{
	size_t room = room_of(side, nr);
	unsigned int i;
	int ret = 0;

	if (!room)
		return hyptrace_error_set(err, E2BIG, "the sub-buffers of %u CPUs do not fit into memory: choose some of the CPUs",
					  nr);
	for (i = 0; i < side->meta.nr_cpus && !ret; i++) {
		if (!is_read(f, side, i))
			continue;
		f->sources[f->nr_sources].index = f->nr_sources;
		ret = hyptrace_file_source_open(side, &f->sources[f->nr_sources++], i, room, err);
	}
	return ret;
}

/* The host's sources come second, also of equal times: what they cause comes first. */
static int open_sources(struct hyptrace_file *f, struct hyptrace_error *err)
{
	struct hyptrace_file *remote = f->sides & HYPTRACE_SIDE_REMOTE ? f : NULL;
	struct hyptrace_file *host = f->sides & HYPTRACE_SIDE_HOST ? f->host : NULL;
	unsigned int nr = count_side(f, remote) + count_side(f, host);
	int ret = 0;

	f->sources = calloc(nr ? nr : 1, sizeof(*f->sources));
	if (!f->sources)
		return hyptrace_error_memory(err);
	if (remote)
		ret = open_side(f, remote, nr, err);
	if (host && !ret)
		ret = open_side(f, host, nr, err);
	return ret;
}

/* Make the tree that finds the earliest event. */
static int make_tree(struct hyptrace_file *f, struct hyptrace_error *err)
{
	unsigned int i;

	for (f->nr_leaves = 1; f->nr_leaves < f->nr_sources; f->nr_leaves *= 2)
		;
	f->players = calloc(2 * f->nr_leaves, sizeof(*f->players));
	if (!f->players)
		return hyptrace_error_memory(err);
	for (i = 0; i < f->nr_leaves; i++)
		f->players[f->nr_leaves + i] = (struct file_player){ FILE_KEY_NONE, i };
	return 0;
}

/* Open the chosen CPUs and find where to begin. */
int hyptrace_file_begin(struct hyptrace_file *f, struct hyptrace_error *err)
{
	int ret;

	hyptrace_file_end(f);
	ret = open_sources(f, err);
	if (!ret)
		ret = make_tree(f, err);
	if (!ret)
		ret = hyptrace_file_seek(f, err);
	memset(&f->counts, 0, sizeof(f->counts));
	if (f->host)
		f->host->counts.damaged = 0;
	f->nr_primed = 0;
	f->ended = false;
	f->begun = !ret;
	return ret;
}
