// SPDX-License-Identifier: GPL-2.0-only
/*
 * With --rotate the next file begins when one has reached its limit. A thread finishes that one
 * meanwhile, since copying and syncing take their time. So the two have different names at first.
 */
#include <sys/stat.h>

#include "output/die.h"
#include "record.h"

bool record_is_stream(const struct record *r)
{
	struct stat st;

	return !strcmp(r->path, "-") || (!stat(r->path, &st) && !S_ISREG(st.st_mode));
}

bool record_is_stdout(const struct record *r)
{
	struct stat file, output;

	if (!strcmp(r->path, "-"))
		return true;
	return !stat(r->path, &file) && !fstat(STDOUT_FILENO, &output) &&
	       file.st_dev == output.st_dev && file.st_ino == output.st_ino &&
	       !S_ISCHR(file.st_mode);
}

void record_abandon_file(struct record *r)
{
	gaps_set_file(&r->session.gaps, NULL);
	hyptrace_file_abandon(r->file.w);
	r->file.w = NULL;
}

int record_begin_file(struct record *r)
{
	struct record_file *file = &r->file;
	struct session *s = &r->session;
	const struct hyptrace_file_host host = {
		.cpus = r->host.ids,
		.nr_cpus = r->host.nr_cpus,
		.systems = (const char *const *)r->host.systems,
		.formats = (const char *const *)r->host.formats,
		.nr_formats = r->host.nr_events,
	};
	struct hyptrace_error err;
	uint64_t size;

	file->name = xasprintf(file->nr % 2 ? "%s.next" : "%s", r->path);
	file->w = hyptrace_file_create(file->name, s->ctx->h, s->name,
				       r->compress ? HYPTRACE_FILE_ZSTD : 0, s->command_line,
				       r->host.words.nr ? &host : NULL, sizeof(host), &err);
	if (!file->w)
		return cmd_fail("cannot record to %s: %s", r->path, err.text);
	gaps_set_file(&s->gaps, file->w);
	if (!r->limit)
		return EXIT_DONE;
	size = hyptrace_file_size(file->w);
	if (size + s->remote->subbuf_size > r->limit) {
		record_abandon_file(r);
		return cmd_fail("the limit is too small: a file begins with %" PRIu64
				" bytes that describe the events", size);
	}
	hyptrace_file_set_limit(file->w, r->limit);
	return EXIT_DONE;
}

static char *aged(const struct record *r, uint64_t age)
{
	return xasprintf("%s.%" PRIu64, r->path, age);
}

/* Give each older file the next age. The one before has the age 0, but the newest has no age. */
static void age_files(const struct record *r)
{
	uint64_t age;

	for (age = r->rotate - 1; age; age--) {
		auto_free char *from = aged(r, age - 1), *to = aged(r, age);

		rename(from, to);
	}
}

/* Events that were counted are lost. */
static void lose(struct record *r, struct ring_counts *counts, uint64_t *unwritten)
{
	/* not all are counted if the ring was cleared */
	counts->events -= *unwritten < counts->events ? *unwritten : counts->events;
	counts->lost += *unwritten;
	r->unwritten += *unwritten;
	*unwritten = 0;
}

static void *finish(void *arg)
{
	struct record *r = arg;
	struct record_file *file = &r->file;
	const bool ages = r->rotate > 1;
	auto_free char *before = aged(r, 0);
	struct record_host_cpu *cpu;
	struct record_ring *ring;
	struct stat st;

	/* the events that the disk had no room for */
	for (ring = r->rings; ring < r->rings + r->nr_rings; ring++)
		ring->unwritten = hyptrace_file_unwritten(file->ended, ring->cpu);
	for (cpu = r->host.cpus; cpu < r->host.cpus + r->host.nr_cpus; cpu++)
		cpu->unwritten = hyptrace_file_unwritten(file->ended,
							 cpu->id | HYPTRACE_FILE_OF_HOST);
	/* the command was killed while it aged files */
	if (ages && !access(before, F_OK))
		age_files(r);
	/* the file before gets the age 0, and keeps its name until the newest replaces it */
	if (ages && link(r->path, before) && errno != ENOENT)
		rename(r->path, before);
	file->ended_bytes = hyptrace_file_size(file->ended);
	file->failed = true;
	if (r->snapshot && hyptrace_file_failed(file->ended, &file->err)) {
		/* nothing was consumed: the next snapshot has all events */
		hyptrace_file_abandon(file->ended);
	} else if (!hyptrace_file_finish(file->ended, &file->err)) {
		file->failed = strcmp(file->ended_name, r->path) &&
			       rename(file->ended_name, r->path);
		if (file->failed)
			snprintf(file->err.text, sizeof(file->err.text),
				 "cannot rename %s to %s: %s", file->ended_name, r->path,
				 strerror(errno));
		else if (!record_is_stream(r) && !stat(r->path, &st))
			file->ended_bytes = st.st_size;
	}
	if (ages && !file->failed)
		age_files(r);
	/* the newest file could not be finished: all others stay what they were */
	else if (ages && !access(r->path, F_OK))
		unlink(before);
	else if (ages)
		rename(before, r->path);
	file->ended = NULL;
	return NULL;
}

static int wait_for_finisher(struct record *r)
{
	struct record_file *file = &r->file;
	unsigned int i;

	if (file->is_finishing)
		pthread_join(file->finisher, NULL);
	file->is_finishing = false;
	for (i = 0; i < r->nr_rings; i++)
		lose(r, &r->rings[i].sum, &r->rings[i].unwritten);
	for (i = 0; i < r->host.nr_cpus; i++)
		lose(r, &r->host.cpus[i].sum, &r->host.cpus[i].unwritten);
	file->bytes += file->ended_bytes;
	file->ended_bytes = 0;
	free(file->ended_name);
	file->ended_name = NULL;
	if (!file->failed)
		return EXIT_DONE;
	file->failed = false;
	file->has_failed = true;
	return cmd_fail("%s", file->err.text);
}

/* The current file is the one before from now on. */
static int end_current(struct record *r)
{
	struct record_file *file = &r->file;
	int code = wait_for_finisher(r);

	file->ended = file->w;
	file->ended_name = file->name;
	gaps_set_file(&r->session.gaps, NULL);
	file->w = NULL;
	file->name = NULL;
	return code;
}

int record_next_file(struct record *r)
{
	struct record_file *file = &r->file;
	int code;

	record_hide_status(r);
	gaps_look(&r->session.gaps, true);
	record_count(r, RECORD_COUNT_NEXT);
	if (r->host.instance)
		record_host_count(r);
	code = end_current(r);
	file->nr++;
	file->is_finishing = !pthread_create(&file->finisher, NULL, finish, r);
	if (!file->is_finishing)
		finish(r);
	return code ? code : record_begin_file(r);
}

int record_end_file(struct record *r)
{
	int code = EXIT_DONE, last;

	if (r->file.w) {
		code = end_current(r);
		finish(r);
	}
	last = wait_for_finisher(r);
	free(r->file.name);
	return code ? code : last;
}
