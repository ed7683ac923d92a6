// SPDX-License-Identifier: GPL-2.0-only
/*
 * Take the numbers of hyptrace stat from a file.
 *
 * A thread reads all events of a CPU, then those of the next one: the order of events of several
 * CPUs does not matter. It does for the times between exits and entries of vCPUs, since these move
 * between CPUs: then one thread reads all events in the order of time.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file/read/file.h"
#include "cli/args.h"
#include "output/clock.h"
#include "output/die.h"
#include "output/message.h"
#include "output/progress.h"
#include "session/gaps.h"
#include "stat.h"

/* More damaged places than this are only counted. */
#define NOTES_MAX	20

#define WORKERS_MAX	64

/* What the threads share */
struct reading {
	struct stat		*stat;
	uint64_t		from;	/* the first time that --from means */
	uint64_t		to;	/* the last time, likewise */
	pthread_mutex_t		lock;	/* protects what follows, and stdio */
	unsigned int		next;	/* the CPU to read next */
	int			code;	/* an exit code once reading has failed */
};

static int fail(const struct stat *stat, const struct hyptrace_error *err)
{
	return cmd_fail("cannot read \"%s\": %s", stat->path, err->text);
}

static void note_damage(struct reading *r, const struct hyptrace_error *err)
{
	struct stat *stat = r->stat;

	pthread_mutex_lock(&r->lock);
	if (++stat->damaged <= NOTES_MAX)
		cmd_note("\"%s\": %s", stat->path, err->text);
	if (stat->damaged == NOTES_MAX)
		cmd_note("\"%s\": other damaged places are only counted", stat->path);
	pthread_mutex_unlock(&r->lock);
}

static void set_failed(struct reading *r, const struct hyptrace_error *err)
{
	pthread_mutex_lock(&r->lock);
	if (!r->code)
		r->code = fail(r->stat, err);
	pthread_mutex_unlock(&r->lock);
}

static void feed(struct stat *stat, struct stat_cpu *one,
		 const struct hyptrace_stream_event *event, unsigned int nr)
{
	const struct hyptrace_stream_event *const end = event + nr;

	while (event < end) {
		const struct hyptrace_stream_event *first = event;
		struct stat_cpu *cpu = one ? one : stat_find_cpu(stat, first->cpu);

		while (event < end && event->cpu == first->cpu && !event->record.lost)
			event++;
		if (event > first)
			stat_feed_run(cpu, first, event - first);
		else
			stat_feed(cpu, &event++->record);
	}
}

/* Read the events of the chosen CPUs. @one is the only one, or NULL if there are several. */
static void read_events(struct reading *r, struct hyptrace_file *file, struct stat_cpu *one)
{
	const struct hyptrace_stream_event *events = NULL;
	struct hyptrace_error err;
	int ret;

	do {
		ret = hyptrace_file_batch(file, &events, &err);
		if (ret > 0)
			feed(r->stat, one, events, ret);
		else if (ret == -EBADMSG)
			note_damage(r, &err);
	} while (ret > 0 || ret == -EBADMSG);
	if (ret != -ENODATA)
		set_failed(r, &err);
}

static struct stat_cpu *take_cpu(struct reading *r)
{
	struct stat_cpu *cpu = NULL;

	pthread_mutex_lock(&r->lock);
	if (!r->code && r->next < r->stat->nr_cpus)
		cpu = r->stat->cpus[r->next++];
	pthread_mutex_unlock(&r->lock);
	return cpu;
}

/* Read CPU after CPU. */
static void read_cpus(struct reading *r, struct hyptrace_file *file)
{
	struct hyptrace_error err;
	struct stat_cpu *cpu;

	while ((cpu = take_cpu(r))) {
		if (hyptrace_file_set_cpus(file, &cpu->id, 1, &err))
			set_failed(r, &err);
		else
			read_events(r, file, cpu);
	}
}

/* A thread has a file of its own. */
static void *work(void *arg)
{
	struct reading *r = arg;
	struct hyptrace_error err;
	struct hyptrace_file *file;

	file = hyptrace_file_open(r->stat->path, &err);
	if (!file) {
		set_failed(r, &err);
		return NULL;
	}
	hyptrace_file_set_times(file, r->from, r->to);
	read_cpus(r, file);
	hyptrace_file_close(file);
	return NULL;
}

static unsigned int count_workers(const struct stat *stat)
{
	cpu_set_t set;
	unsigned int nr = 1;

	if (!sched_getaffinity(0, sizeof(set), &set))
		nr = CPU_COUNT(&set);
	if (nr > WORKERS_MAX)
		nr = WORKERS_MAX;
	return nr < stat->nr_cpus ? nr : stat->nr_cpus;
}

static void read_by_cpu(struct reading *r, struct hyptrace_file *file)
{
	pthread_t threads[WORKERS_MAX];
	unsigned int nr = count_workers(r->stat), i, started = 0;

	/* this thread is one of them; if one cannot be started, the others do its work */
	for (i = 1; i < nr; i++)
		if (!pthread_create(&threads[started], NULL, work, r))
			started++;
	read_cpus(r, file);
	for (i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
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
	struct reading r = { .stat = stat, .lock = PTHREAD_MUTEX_INITIALIZER };
	int code;

	code = configure(stat, file);
	if (code)
		return code;
	r.from = file->from;
	r.to = file->to;
	progress_begin(file, !stat->quiet);
	if (stat->by == STAT_BY_EXIT)
		read_events(&r, file, NULL);
	else if (stat->nr_cpus)
		read_by_cpu(&r, file);
	progress_end();
	stat_limits(stat);
	if (!r.code && (stat->from.kind || stat->to.kind))
		note_outside(stat, file);
	if (!r.code)
		stat_print(stat);
	return r.code;
}

int stat_file(struct stat *stat)
{
	struct hyptrace_event *const *events;
	struct hyptrace_error err;
	struct hyptrace_file *file;
	unsigned int nr;
	int code;

	file = hyptrace_file_open(stat->path, &err);
	if (!file)
		return fail(stat, &err);
	if (!stat->quiet)
		gaps_note_file(file, stat->path);
	events = hyptrace_file_events(file, &nr);
	stat->formats = hyptrace_file_formats(file);
	stat_kinds_init(&stat->kinds, events, nr);
	code = read_file(stat, file);
	stat_free(stat);
	hyptrace_file_close(file);
	return code ? code : stat->damaged ? EXIT_REFUSED : EXIT_DONE;
}
