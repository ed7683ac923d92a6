// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of the host in a trace file that is being written: a trace buffer of its own, whose
 * sub-buffers come from tracefs. For the command.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file_write.h"

static struct file_part *find_part(struct hyptrace_file_writer *w, unsigned int cpu)
{
	unsigned int i;

	for (i = w->meta.nr_cpus; i < w->nr_parts; i++)
		if (w->parts[i].cpu->id == cpu)
			return &w->parts[i];
	return NULL;
}

/**
 * hyptrace_file_write_host - write sub-buffers of the host
 * @w:		the writer
 * @cpu:	their CPU
 * @subbufs:	the sub-buffers, later than those written before
 * @size:	their bytes, a multiple of the remote's sub-buffer size. With 0, those that wait for
 *		their compression for long are compressed.
 * @err:	the reason if it fails; may be NULL
 *
 * Return: 0 or a negative errno: -EOVERFLOW, and nothing is written, if the file would become
 * larger than its limit.
 */
int hyptrace_file_write_host(struct hyptrace_file_writer *w, unsigned int cpu,
			     const void *subbufs, size_t size, struct hyptrace_error *err)
{
	struct file_part *part = find_part(w, cpu);

	if (!part)
		return hyptrace_error_set(err, ENXIO, "the host has no CPU %u", cpu);
	if (size && hyptrace_file_is_full(w, size))
		return hyptrace_error_set(err, EOVERFLOW, "the file has reached its limit");
	if (w->compressor)
		return hyptrace_file_zstd_write(w, part, subbufs, size, err);
	return !size ? 0 : hyptrace_file_part_write(w, part, subbufs, size, err);
}

/**
 * hyptrace_file_set_host_counts - set the counts of the host's events of a CPU
 * @w:		the writer
 * @cpu:	the CPU
 * @events:	events that were given to hyptrace_file_write_host()
 * @lost:	events that were lost meanwhile
 */
void hyptrace_file_set_host_counts(struct hyptrace_file_writer *w, unsigned int cpu,
				   uint64_t events, uint64_t lost)
{
	struct file_part *part = find_part(w, cpu);

	if (!part)
		return;
	part->cpu->events = events;
	part->cpu->lost = lost;
	part->cpu->has_counts = true;
}

/**
 * hyptrace_file_host_unwritten - count the events of the host that could not be written
 * @w:		the writer, to which nothing more is written
 * @cpu:	their CPU
 *
 * Return: the number of events.
 */
uint64_t hyptrace_file_host_unwritten(struct hyptrace_file_writer *w, unsigned int cpu)
{
	const struct file_part *part = find_part(w, cpu);

	/* hyptrace_file_finish() reports a failure */
	hyptrace_file_end_data(w);
	return part ? part->unwritten : 0;
}

/**
 * hyptrace_file_set_host_tasks - set the names of the host's tasks
 * @w:		the writer
 * @tasks:	lines with a process id and a name, as tracefs has them in saved_cmdlines
 *
 * Only what fits into the room that the head has for it is written, in whole lines.
 */
void hyptrace_file_set_host_tasks(struct hyptrace_file_writer *w, const char *tasks)
{
	free(w->host_tasks);
	w->host_tasks = strdup(tasks);
}
