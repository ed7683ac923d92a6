// SPDX-License-Identifier: GPL-2.0-only
/* What hyptrace record counts and says: a line on a terminal, and a summary, also as JSON. */
#include <sys/ioctl.h>

#include "output/clock.h"
#include "output/die.h"
#include "output/printer.h"
#include "record.h"

#define BYTES_SIZE	32

#define LINE_SIZE	256

/* Columns of a terminal that does not say how many it has */
#define COLUMNS_DEFAULT	80

#define UNKNOWN		"the number of events is not known"

/* Back to the first column, and erase the line */
#define ERASE		"\r\033[K"

bool record_count(struct record *r, enum record_count how)
{
	auto_cpus struct hyptrace_cpu **cpus = NULL;
	const struct session *s = &r->session;
	struct record_ring *ring;
	struct ring_counts file;
	unsigned int nr, i;

	if (hyptrace_get_cpus(s->ctx->h, s->name, &cpus, &nr, NULL))
		return false;
	for (i = 0; i < nr; i++) {
		for (ring = r->rings; ring < r->rings + r->nr_rings && ring->cpu != cpus[i]->id;)
			ring++;
		if (ring == r->rings + r->nr_rings)
			continue;
		ring->used = cpus[i]->nr_subbufs ?
			     100 * cpus[i]->used_subbufs / cpus[i]->nr_subbufs : 0;
		ring->nr_subbufs = cpus[i]->nr_subbufs;
		ring->now = ring_counts_of(cpus[i]);
		file = ring->base;
		if (how != RECORD_COUNT_LOOK)
			ring->base = ring->now;
		if (how == RECORD_COUNT_LOOK || how == RECORD_COUNT_BEGIN)
			continue;
		/* as if all of the file could be written */
		ring->was_cleared |= !ring_counts_end(&file, cpus[i], how == RECORD_COUNT_LAST,
						      r->file.w);
		ring_counts_add(&ring->sum, &file);
	}
	return true;
}

struct total {
	struct ring_counts	sum;
	bool			was_cleared;	/* it is not known */
	bool			lost_more;	/* nor how many events were lost */
};

static struct total total_of(const struct record *r)
{
	const struct record_ring *ring;
	struct total total = { .lost_more = r->file.has_failed };

	for (ring = r->rings; ring < r->rings + r->nr_rings; ring++) {
		ring_counts_add(&total.sum, &ring->sum);
		/* there are less after a clear */
		if (ring->now.events > ring->base.events)
			total.sum.events += ring->now.events - ring->base.events;
		if (ring->now.lost > ring->base.lost)
			total.sum.lost += ring->now.lost - ring->base.lost;
		if (ring->now.filtered > ring->base.filtered)
			total.sum.filtered += ring->now.filtered - ring->base.filtered;
		total.was_cleared |= ring->was_cleared;
		total.lost_more |= ring->lost_more;
	}
	return total;
}

static const char *size_text(uint64_t bytes, char text[BYTES_SIZE])
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
	double value = bytes / 1024.0;
	unsigned int i;

	for (i = 0; value >= 1024 && i + 1 < sizeof(units) / sizeof(units[0]); i++)
		value /= 1024;
	snprintf(text, BYTES_SIZE, "%.1f %s", value, units[i]);
	return text;
}

void record_show_status(struct record *r)
{
	const uint64_t now = clock_now(CLOCK_MONOTONIC);
	const struct ring_counts total = total_of(r).sum;
	const char *term = getenv("TERM");
	char bytes[BYTES_SIZE], line[LINE_SIZE];
	unsigned int i, used = 0;
	struct winsize size;
	double rate = 0;

	if (r->session.quiet || !isatty(STDERR_FILENO) || (term && !strcmp(term, "dumb")))
		return;
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
		 size_text(r->file.bytes + hyptrace_file_size(r->file.w), bytes),
		 total.lost, used);
	/* a longer line would wrap, and could not be erased */
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		size.ws_col = COLUMNS_DEFAULT;
	fprintf(stderr, ERASE "%.*s", size.ws_col - 1, line);
	r->has_status = true;
}

void record_hide_status(struct record *r)
{
	if (r->has_status)
		fputs(ERASE, stderr);
	r->has_status = false;
}

static struct ring_counts host_total(const struct record *r)
{
	struct ring_counts total = {};
	unsigned int i;

	for (i = 0; i < r->host.nr_cpus; i++)
		ring_counts_add(&total, &r->host.cpus[i].sum);
	return total;
}

static void print_losses(unsigned int cpu, const struct ring_counts *sum, const char *what)
{
	if (sum->lost)
		cmd_note("CPU %u: %" PRIu64 " events%s recorded, %" PRIu64 " lost", cpu,
			 sum->events, what, sum->lost);
}

static void print_text(const struct record *r)
{
	const struct total all = total_of(r);
	const struct ring_counts total = all.sum;
	char counts[128], filtered[40] = "", bytes[BYTES_SIZE];
	unsigned int i;

	/* the verb that reads the dump says what was lost */
	if (r->session.quiet && (r->session.ctx->dump ||
				 (!r->counts_failed && !total.lost && !all.lost_more &&
				  !all.was_cleared)))
		return;
	if (r->session.choice.filter || total.filtered)
		snprintf(filtered, sizeof(filtered), ", %" PRIu64 " filtered", total.filtered);
	snprintf(counts, sizeof(counts), "%" PRIu64 " event%s recorded%s, %" PRIu64 "%s lost",
		 total.events, total.events == 1 ? "" : "s", filtered, total.lost,
		 all.lost_more ? " or more" : "");
	cmd_note("%s; %s in %s%s", r->counts_failed || all.was_cleared ? UNKNOWN : counts,
		 size_text(r->file.bytes, bytes),
		 r->file.nr ? "all; the last file is " : "",
		 strcmp(r->path, "-") ? r->path : "the output");
	for (i = 0; i < r->nr_rings && !r->counts_failed; i++) {
		if (r->rings[i].was_cleared)
			cmd_note("CPU %u: the ring was cleared: events that were not read yet are missing",
				 r->rings[i].cpu);
		else
			print_losses(r->rings[i].cpu, &r->rings[i].sum, "");
	}
	if (total.lost && !r->counts_failed && !r->snapshot && !r->size && !r->has_failed)
		cmd_note("larger rings lose less: use --size");
}

static void print_counts(struct printer *p, const struct ring_counts *counts, bool is_known,
			 bool is_loss_known)
{
	printer_uint_if(p, "events", is_known, counts->events);
	printer_uint_if(p, "lost", is_known && is_loss_known, counts->lost);
	printer_uint_if(p, "filtered", is_known, counts->filtered);
}

static void print_json(const struct record *r)
{
	const struct ring_counts of_host = host_total(r);
	const struct total all = total_of(r);
	struct printer *p = r->session.ctx->p;
	const struct record_ring *ring;

	printer_object(p, NULL);
	printer_str(p, "remote", r->session.name);
	printer_str(p, "file", r->path);
	printer_uint(p, "files", r->file.nr + 1);
	printer_uint(p, "bytes", r->file.bytes);
	print_counts(p, &all.sum, !r->counts_failed && !all.was_cleared, !all.lost_more);
	printer_array(p, "cpus");
	for (ring = r->rings; ring < r->rings + r->nr_rings; ring++) {
		printer_object(p, NULL);
		printer_uint(p, "cpu", ring->cpu);
		print_counts(p, &ring->sum, !r->counts_failed && !ring->was_cleared,
			     !ring->lost_more);
		printer_end(p);
	}
	printer_end(p);
	if (r->host.words.nr) {
		printer_object(p, "host");
		printer_uint(p, "events", of_host.events);
		printer_uint(p, "lost", of_host.lost);
		printer_end(p);
	}
	printer_end(p);
}

int record_print_summary(const struct record *r)
{
	const struct ring_counts of_host = host_total(r);
	unsigned int i;

	print_text(r);
	if (r->host.words.nr && (!r->session.quiet || of_host.lost)) {
		cmd_note("%" PRIu64 " event%s of the host recorded, %" PRIu64 " lost",
			 of_host.events, of_host.events == 1 ? "" : "s", of_host.lost);
		for (i = 0; i < r->host.nr_cpus; i++)
			print_losses(r->host.cpus[i].id, &r->host.cpus[i].sum, " of the host");
	}
	if (r->session.ctx->json)
		print_json(r);
	if (!r->unwritten || r->has_failed)
		return EXIT_DONE;
	return cmd_fail("%" PRIu64 " events could not be written to the file", r->unwritten);
}
