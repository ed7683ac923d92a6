// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the events of a file that has those of the host, too: both in the order of time. For
 * cmd_report.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hyptrace_file.h"
#include "cli/cli.h"
#include "output/die.h"
#include "output/out.h"
#include "host_events.h"

/* The host's events come second, also of equal times: what they cause comes first. */
enum {
	REMOTE,
	HOST,
	NR_SIDES
};

/**
 * struct side - the events of the remote, or those of the host
 * @lines:	their line printer
 * @file:	the file; NULL if none of its events are printed
 * @next:	the next event; NULL at the end
 */
struct side {
	struct lines				*lines;
	struct hyptrace_file			*file;
	const struct hyptrace_stream_event	*next;
};

/**
 * report_host_configure - apply the options to the host's events
 * @h:		the events of the host, after host_events_share()
 * @lines:	the line printer of the remote, after lines_choose()
 * @ctx:	the context
 * @err:	the reason if it fails
 *
 * Return: an exit code; or a negative errno with @err.
 */
int report_host_configure(struct host_events *h, const struct lines *lines, struct context *ctx,
			  struct hyptrace_error *err)
{
	int ret;

	h->no_host |= lines->csv;
	if (h->no_host)
		return EXIT_DONE;
	lines_set_like(&h->lines, lines);
	h->lines.is_host = true;
	ret = lines_begin(&h->lines, ctx, hyptrace_file_info(h->file)->clock,
			  hyptrace_file_formats(h->file), err);
	return ret ? ret : host_events_choose(h, "report");
}

static int advance(struct host_events *h, struct side *side, struct hyptrace_error *err)
{
	int ret;

	do {
		ret = hyptrace_file_next(side->file, &side->next, err);
		if (ret == -EBADMSG)
			session_note_damage(err, h->session);
	} while (ret == -EBADMSG);
	if (ret > 0)
		return 0;
	side->next = NULL;
	return ret == -ENODATA ? 0 : ret;
}

static int begin(struct host_events *h, struct side *sides, struct hyptrace_error *err)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < NR_SIDES && !ret; i++) {
		sides[i].next = NULL;
		if (sides[i].file)
			ret = advance(h, &sides[i], err);
	}
	return ret;
}

static struct side *earliest(struct side *sides)
{
	struct side *remote = &sides[REMOTE], *host = &sides[HOST];

	if (!remote->next || !host->next)
		return remote->next ? remote : host;
	return host->next->record.ts < remote->next->record.ts ? host : remote;
}

static uint64_t count_filtered(const struct side *sides)
{
	struct hyptrace_file_counts counts;
	uint64_t nr = 0;
	unsigned int i;

	for (i = 0; i < NR_SIDES; i++) {
		if (!sides[i].file)
			continue;
		hyptrace_file_counts(sides[i].file, &counts, sizeof(counts));
		nr += counts.filtered;
	}
	return nr;
}

static void count(struct host_events *h, const struct hyptrace_record *rec)
{
	h->printed += !!rec->data;
	if (rec->lost == HYPTRACE_LOST_UNKNOWN)
		h->lost_more = true;
	else
		h->lost += rec->lost;
}

/* Print the events but for the first @skip ones. */
static int print(struct host_events *h, struct side *sides, uint64_t skip,
		 const struct out *out, struct hyptrace_error *err)
{
	uint64_t first = 0, previous = 0;
	struct side *side;
	int ret = begin(h, sides, err);

	while (!ret && !out->error && (side = earliest(sides))->next) {
		const struct hyptrace_stream_event *event = side->next;

		if (skip) {
			skip -= !!event->record.data;
			if (!skip)
				h->skipped = count_filtered(sides);
		} else {
			if (h->printed)
				lines_resume(side->lines, first, previous);
			else
				first = event->record.ts;
			previous = event->record.ts;
			lines_events(side->lines, event, 1);
			count(h, &event->record);
		}
		ret = advance(h, side, err);
	}
	return ret;
}

/* Each side has at most its last @last events: count those that are too many together. */
static int count_too_many(struct host_events *h, struct side *sides, uint64_t last,
			  uint64_t *skip, struct hyptrace_error *err)
{
	uint64_t nr = 0;
	unsigned int i;
	int ret = begin(h, sides, err);

	for (i = 0; i < NR_SIDES && !ret; i++) {
		while (sides[i].next && !ret) {
			nr += !!sides[i].next->record.data;
			ret = advance(h, &sides[i], err);
		}
		if (sides[i].file)
			hyptrace_file_rewind(sides[i].file);
	}
	*skip = nr > last ? nr - last : 0;
	return ret;
}

/**
 * report_host_run - print the events of both
 * @h:		the events of the host
 * @lines:	the line printer of the remote
 * @s:		the session of the file
 * @err:	the reason if it fails
 *
 * Return: 0 or a negative errno.
 */
int report_host_run(struct host_events *h, struct lines *lines, struct session *s,
		    struct hyptrace_error *err)
{
	struct side sides[NR_SIDES] = {
		[REMOTE] = { .lines = lines, .file = h->no_remote ? NULL : s->file },
		[HOST] = { .lines = &h->lines, .file = h->no_host ? NULL : h->file },
	};
	uint64_t skip = 0;
	int ret = 0;

	if (s->count)
		ret = count_too_many(h, sides, s->count, &skip, err);
	h->session = s;
	return ret ? ret : print(h, sides, skip, lines->out, err);
}

/**
 * report_host_counts - add what became of the events of the host
 * @h:		the events of the host, which may have none
 * @counts:	the counts of the remote's events; out: those of the lines that are printed, and
 *		of the filtered events after the first of them
 */
void report_host_counts(const struct host_events *h, struct session_counts *counts)
{
	struct hyptrace_file_counts host;

	if (!h->file)
		return;
	hyptrace_file_counts(h->file, &host, sizeof(host));
	counts->delivered = h->printed;
	counts->filtered += host.filtered - h->skipped;
	counts->lost = h->lost;
	counts->lost_more = h->lost_more;
}
