// SPDX-License-Identifier: GPL-2.0-only
/*
 * What hyptrace record says: a line on a terminal while it records, and a summary, also as JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "output/clock.h"
#include "output/message.h"
#include "output/printer.h"
#include "record.h"

/* Bytes of a size as text */
#define BYTES_SIZE	32

/* Bytes of the status line */
#define LINE_SIZE	256

/* Columns of a terminal that does not say how many it has */
#define COLUMNS_DEFAULT	80

#define UNKNOWN		"the number of events is not known"

/* Back to the first column, and erase the line */
#define ERASE		"\r\033[K"

static bool has_terminal(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && !(term && !strcmp(term, "dumb"));
}

/* A longer line would wrap, and could not be erased. */
static int terminal_columns(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return COLUMNS_DEFAULT;
	return size.ws_col;
}

const char *record_bytes(uint64_t bytes, char *text, size_t size)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
	double value = bytes / 1024.0;
	unsigned int i;

	for (i = 0; value >= 1024 && i + 1 < sizeof(units) / sizeof(units[0]); i++)
		value /= 1024;
	snprintf(text, size, "%.1f %s", value, units[i]);
	return text;
}

/* Write the status line. Nothing happens without a terminal. */
void record_show_status(struct record *r)
{
	const uint64_t now = clock_now(CLOCK_MONOTONIC);
	struct record_counts total;
	char bytes[BYTES_SIZE], line[LINE_SIZE];
	unsigned int i, used = 0;
	double rate = 0;

	if (r->quiet || !has_terminal())
		return;
	record_total(r, &total);
	for (i = 0; i < r->nr_rings; i++)
		if (r->rings[i].used > used)
			used = r->rings[i].used;
	if (now > r->shown_at && total.events > r->shown)
		rate = (double)(total.events - r->shown) * NSEC_PER_SEC / (now - r->shown_at);
	r->shown = total.events;
	r->shown_at = now;
	snprintf(line, sizeof(line),
		 "%.1f s, %" PRIu64 " events, %.0f/s, %s, %" PRIu64 " lost, buffer %u %% full",
		 (double)(now - r->begin) / NSEC_PER_SEC, total.events, rate,
		 record_bytes(r->file.bytes + hyptrace_file_size(r->file.w), bytes, sizeof(bytes)),
		 total.lost, used);
	fprintf(stderr, ERASE "%.*s", terminal_columns() - 1, line);
	r->has_status = true;
}

/* Remove the status line, before other text. */
void record_hide_status(struct record *r)
{
	if (r->has_status)
		fputs(ERASE, stderr);
	r->has_status = false;
}

static bool has_lost_more(const struct record *r)
{
	unsigned int i;

	for (i = 0; i < r->nr_rings; i++)
		if (r->rings[i].lost_more)
			return true;
	return r->file.has_failed;
}

/* Say where the file is, and how large. */
static void print_place(const struct record *r, const char *counts)
{
	char bytes[BYTES_SIZE];

	cmd_note("%s; %s in %s%s", counts, record_bytes(r->file.bytes, bytes, sizeof(bytes)),
		 r->file.nr ? "all; the last file is " : "",
		 strcmp(r->path, "-") ? r->path : "the output");
}

static void print_cpu(const struct record_ring *ring)
{
	if (ring->was_cleared)
		cmd_note("CPU %u: the ring was cleared meanwhile: its counts are not known",
			 ring->cpu);
	else if (ring->sum.lost)
		cmd_note("CPU %u: %" PRIu64 " events recorded, %" PRIu64 " lost", ring->cpu,
			 ring->sum.events, ring->sum.lost);
}

/* Add up the counts of the host's events. */
static struct record_counts host_total(const struct record *r)
{
	struct record_counts total = {};
	unsigned int i;

	for (i = 0; i < r->host.nr_cpus; i++) {
		total.events += r->host.cpus[i].sum_events;
		total.lost += r->host.cpus[i].sum_lost;
	}
	return total;
}

/* Say what was recorded of the host, and which CPUs have lost events. */
void record_print_host_summary(const struct record *r)
{
	const struct record_host *host = &r->host;
	const struct record_counts total = host_total(r);
	unsigned int i;

	if (!host->words.nr || (r->quiet && !total.lost))
		return;
	cmd_note("%" PRIu64 " event%s of the host recorded, %" PRIu64 " lost", total.events,
		 total.events == 1 ? "" : "s", total.lost);
	for (i = 0; i < host->nr_cpus; i++)
		if (host->cpus[i].sum_lost)
			cmd_note("CPU %u: %" PRIu64 " events of the host recorded, %" PRIu64 " lost",
				 host->cpus[i].id, host->cpus[i].sum_events,
				 host->cpus[i].sum_lost);
}

static bool was_cleared(const struct record *r)
{
	unsigned int i;

	for (i = 0; i < r->nr_rings; i++)
		if (r->rings[i].was_cleared)
			return true;
	return false;
}

/* Say what was recorded, and which CPUs have lost events. */
void record_print_summary(const struct record *r)
{
	struct record_counts total;
	char counts[128], filtered[32] = "";
	bool is_complete = !r->counts_failed && !has_lost_more(r);
	unsigned int i;

	if (r->counts_failed) {
		print_place(r, UNKNOWN);
		return;
	}
	record_total(r, &total);
	if (r->quiet && !total.lost && is_complete && !was_cleared(r))
		return;
	if (r->filter || total.filtered)
		snprintf(filtered, sizeof(filtered), ", %" PRIu64 " filtered", total.filtered);
	snprintf(counts, sizeof(counts), "%" PRIu64 " event%s recorded%s, %" PRIu64 "%s lost",
		 total.events, total.events == 1 ? "" : "s", filtered, total.lost,
		 is_complete ? "" : " or more");
	print_place(r, was_cleared(r) ? UNKNOWN : counts);
	for (i = 0; i < r->nr_rings; i++)
		print_cpu(&r->rings[i]);
	if (total.lost && !r->snapshot && !r->size && !r->has_failed)
		cmd_note("larger rings lose less: use --size");
}

static void print_count(struct printer *p, const char *key, bool is_known, uint64_t count)
{
	if (is_known)
		printer_uint(p, key, count);
	else
		printer_none(p, key);
}

static void print_counts(struct printer *p, const struct record_counts *counts, bool is_known,
			 bool is_loss_known)
{
	print_count(p, "events", is_known, counts->events);
	print_count(p, "lost", is_known && is_loss_known, counts->lost);
	print_count(p, "filtered", is_known, counts->filtered);
}

static void print_host(struct printer *p, const struct record *r)
{
	const struct record_counts total = host_total(r);

	printer_object(p, "host");
	printer_uint(p, "events", total.events);
	printer_uint(p, "lost", total.lost);
	printer_end(p);
}

/* Print the summary as JSON. A number that is not known is null. */
void record_print_json(const struct record *r)
{
	struct printer *p = r->ctx->p;
	const struct record_ring *ring;
	struct record_counts total;
	unsigned int i;

	record_total(r, &total);
	printer_object(p, NULL);
	printer_str(p, "remote", r->remote->name);
	printer_str(p, "file", r->path);
	printer_uint(p, "files", r->file.nr + 1);
	printer_uint(p, "bytes", r->file.bytes);
	print_counts(p, &total, !r->counts_failed && !was_cleared(r), !has_lost_more(r));
	printer_array(p, "cpus");
	for (i = 0; i < r->nr_rings; i++) {
		ring = &r->rings[i];
		printer_object(p, NULL);
		printer_uint(p, "cpu", ring->cpu);
		print_counts(p, &ring->sum, !r->counts_failed && !ring->was_cleared,
			     !ring->lost_more);
		printer_end(p);
	}
	printer_end(p);
	if (r->host.words.nr)
		print_host(p, r);
	printer_end(p);
}
