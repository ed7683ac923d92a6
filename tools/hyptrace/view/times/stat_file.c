// SPDX-License-Identifier: GPL-2.0-only
/*
 * Take the numbers of stat and top from a file.
 *
 * Several threads read the events of a CPU each. The order of events of several CPUs matters only
 * for intervals, and for the times between exits and entries of vCPUs, since these move between
 * CPUs: then one thread reads all events in the order of time.
 */
#include <stdlib.h>

#include "cli/args.h"
#include "output/clock.h"
#include "output/die.h"
#include "output/message.h"
#include "output/progress.h"
#include "session/gaps.h"
#include "session/signals.h"
#include "stat.h"

/* More damaged places than this are only counted. */
#define NOTES_MAX	20

static int fail(const struct stat *stat, const struct hyptrace_error *err)
{
	return cmd_fail("cannot read \"%s\": %s", stat->path, err->text);
}

static void note_damage(const struct hyptrace_error *err, void *arg)
{
	struct stat *stat = arg;

	if (++stat->damaged <= NOTES_MAX)
		cmd_note("\"%s\": %s", stat->path, err->text);
	if (stat->damaged == NOTES_MAX)
		cmd_note("\"%s\": other damaged places are only counted", stat->path);
}

static int take(void *arg, const struct hyptrace_file_batch *batch)
{
	stat_feed(arg, batch->events, batch->nr);
	return 0;
}

/* Show each interval when an event follows it. Not 0: the end was requested. */
static int take_intervals(void *arg, const struct hyptrace_file_batch *batch)
{
	struct stat *stat = arg;
	unsigned int i;

	for (i = 0; i < batch->nr; i++) {
		const struct hyptrace_record *rec = &batch->events[i].record;

		if (rec->data && !stat->begin) {
			stat->begin = rec->ts;
			stat->next = rec->ts + stat->interval;
		}
		while (rec->data && rec->ts >= stat->next && !stat->is_over && !signals_stop)
			stat_show_interval(stat);
		if (stat->is_over || signals_stop)
			return 1;
		stat_feed(stat, &batch->events[i], 1);
	}
	return 0;
}

/* Choose the CPUs and the times. Return an exit code. */
static int configure(struct stat *stat, struct hyptrace_file *file)
{
	const struct cpu_list *list = &stat->ctx->cpus;
	const bool all = !stat->ctx->have_cpus || list->all;
	const struct hyptrace_file_cpu *const *cpus;
	struct hyptrace_error err;
	unsigned int nr, i;

	if (!all && hyptrace_file_set_cpus(file, list->ids, list->nr, &err))
		return fail(stat, &err);
	cpus = hyptrace_file_cpus(file, &nr);
	for (i = 0; i < nr; i++)
		if (all || cpu_list_has(list, cpus[i]->id))
			stat_add_cpu(stat, cpus[i]->id);
	if (moment_set_times(file, &stat->from, &stat->to, &err))
		return fail(stat, &err);
	return EXIT_DONE;
}

/* If all events lie outside of --from and --to, say where they are. */
static void note_outside(struct stat *stat, struct hyptrace_file *file)
{
	uint64_t first = 0, last = 0;
	unsigned int i;

	for (i = 0; i < stat->nr_cpus; i++)
		if (stat->cpus[i]->events)
			return;
	hyptrace_file_set_times(file, 0, UINT64_MAX);
	if (hyptrace_file_first_time(file, &first, NULL) ||
	    hyptrace_file_last_time(file, &last, NULL))
		return;
	stat->is_outside = true;
	cmd_note("\"%s\" has no event at these times, but from %.6f to %.6f s", stat->path,
		 (double)first / NSEC_PER_SEC, (double)last / NSEC_PER_SEC);
}

static int read_file(struct stat *stat, struct hyptrace_file *file)
{
	const struct hyptrace_file_work work = {
		.flags = stat->interval || stat->by == STAT_BY_EXIT ? HYPTRACE_FILE_ALONE :
								      HYPTRACE_FILE_BY_CPU,
		.arg = stat,
		.batch = stat->interval ? take_intervals : take,
		.damage = note_damage,
	};
	struct hyptrace_error err;
	int code, ret = 0;

	code = configure(stat, file);
	if (code)
		return code;
	progress_begin(file, !stat->quiet && !stat->interval);
	if (stat->nr_cpus)
		ret = hyptrace_file_run(file, &work, sizeof(work), &err);
	progress_end();
	if (ret < 0)
		return fail(stat, &err);
	stat_limits(stat);
	if (stat->from.kind || stat->to.kind)
		note_outside(stat, file);
	/* the last interval is shorter */
	if (!ret)
		stat->show(stat);
	return EXIT_DONE;
}

int stat_file(struct stat *stat)
{
	struct hyptrace_error err;
	struct hyptrace_file *file;
	int code;

	file = hyptrace_file_open(stat->path, &err);
	if (!file)
		return fail(stat, &err);
	if (!stat->quiet)
		gaps_note_file(file, stat->path);
	stat->has_clock = true;
	stat->formats = hyptrace_file_formats(file);
	stat->model = hyptrace_model_new(stat->formats, &err);
	if (!stat->model)
		die_no_memory();
	code = read_file(stat, file);
	stat_free(stat);
	hyptrace_file_close(file);
	return code ? code : stat->damaged ? EXIT_REFUSED : EXIT_DONE;
}
