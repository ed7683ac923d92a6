// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print a file in parts, each of which one thread reads itself. For report_team.c.
 *
 * That is faster than batches, and possible for the events of one CPU: lib/file/read/file_part.c.
 */
#include <errno.h>

#include "output/die.h"
#include "report_team.h"

/* Bytes of a part: of several sub-buffers of usual size, and at least of one */
#define PART_BYTES	((uint64_t)128 << 10)

static uint64_t part_size(const struct report_team *team)
{
	uint64_t subbuf = hyptrace_file_info(team->file)->subbuf_size;

	return subbuf < PART_BYTES ? PART_BYTES : subbuf;
}

/**
 * report_parts_begin - begin to read the file in parts
 * @team:	the team
 *
 * Return: false if that is not possible.
 */
bool report_parts_begin(struct report_team *team)
{
	enum lines_time time = team->lines->time;

	/* the time of a line depends on that of another line, which another thread prints */
	if (time == LINES_TIME_REL || time == LINES_TIME_DELTA)
		return false;
	return hyptrace_file_parts(team->file, &team->at, &team->end, NULL) > 0;
}

/**
 * report_part_init - prepare a worker for parts
 * @w:		the worker
 */
void report_part_init(struct worker *w)
{
	w->part = hyptrace_file_part_new(w->team->file, NULL);
	if (!w->part)
		die_no_memory();
}

/* Take the next part. Return false if there is none. */
static bool take(struct worker *w, uint64_t *from, uint64_t *to)
{
	struct report_team *team = w->team;
	bool found;

	pthread_mutex_lock(&team->reading);
	found = !team->over;
	if (found) {
		w->number = team->next++;
		*from = team->at;
		*to = team->at + part_size(team);
		team->at = *to;
		team->over = *to >= team->end;
		if (team->over)
			*to = UINT64_MAX;
	}
	pthread_mutex_unlock(&team->reading);
	return found;
}

/**
 * report_part - print the next part
 * @w:		the worker
 *
 * Return: false if there is none.
 */
bool report_part(struct worker *w)
{
	struct hyptrace_error err;
	uint64_t from, to;
	int ret = 0;

	if (!take(w, &from, &to))
		return false;
	if (!hyptrace_file_part_begin(w->part, from, to)) {
		report_wait(w);
		hyptrace_file_part_continue(w->part, &w->team->rest);
	}
	while (ret >= 0 && !w->ctx.out.error) {
		ret = lines_file(&w->lines, w->part, &err);
		if (ret >= 0 || ret == -ENODATA)
			continue;
		report_write(w);
		report_fail(w, ret, &err);
		if (ret == -EBADMSG)
			ret = 0;
	}
	report_write(w);
	hyptrace_file_part_end(w->part, &w->team->rest);
	hyptrace_file_part_count(w->team->file, w->part);
	report_pass(w);
	return true;
}
