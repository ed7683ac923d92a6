// SPDX-License-Identifier: GPL-2.0-only
/*
 * Render the view of a row of hyptrace top, with its histogram and its slowest samples, and the
 * help.
 */
#include <stdlib.h>
#include <string.h>

#include "output/die.h"
#include "output/out.h"
#include "output/printer.h"
#include "output/time_text.h"
#include "top_screen.h"

#define NR(array)	(sizeof(array) / sizeof((array)[0]))

/* Lines of slowest samples that a histogram leaves at least */
#define SLOW_LINES	5

/* The histogram is that of the printer: print it into memory. */
static void add_histogram(struct top_screen *screen, const struct time_bucket *buckets,
			  unsigned int nr, unsigned int reserve)
{
	struct out *out = malloc(sizeof(*out));
	struct printer *p;
	char *line, *end;

	if (!out)
		die_no_memory();
	out_init(out, -1);
	p = printer_new(out, PRINTER_TEXT, false);
	printer_object(p, NULL);
	time_print_histogram(p, buckets, nr);
	printer_end(p);
	/* it has at most as many lines as there are buckets, so the buffer is never written */
	for (line = out->own; line < out->own + out->len; line = end + 1) {
		end = memchr(line, '\n', out->own + out->len - line);
		if (!end)
			break;
		if (screen->height == TOP_UNLIMITED || screen->nr + reserve < screen->height)
			top_screen_add(screen, TOP_PLAIN, "%.*s", (int)(end - line), line);
	}
	out->len = 0;
	printer_free(p);
	free(out);
}

static void add_slow(struct top_screen *screen, const struct stat_slow *slow)
{
	char time[TIME_TEXT_SIZE];
	unsigned int i;

	for (i = 0; i < slow->nr; i++) {
		if (screen->height != TOP_UNLIMITED && screen->nr + 1 >= screen->height)
			return;
		time_text(time, slow->samples[i].time);
		top_screen_add(screen, TOP_PLAIN, "%10s  CPU %-3u %s", time, slow->samples[i].cpu,
			       slow->samples[i].text);
	}
	if (!slow->nr)
		top_screen_add(screen, TOP_PLAIN, "none so far");
}

void top_screen_detail(struct top_screen *screen, const struct top_view *view,
		       const struct top_row *row, const struct stat_row *sum,
		       const struct stat_slow *slow, const char *note)
{
	struct time_bucket buckets[STAT_BUCKETS];
	unsigned int slow_lines = slow->nr < SLOW_LINES ? slow->nr + 1 : SLOW_LINES;

	top_screen_add(screen, TOP_TITLE, "hyptrace top: by %s: %s", stat_by_name(view->by),
		       row ? row->line.name : "");
	top_screen_add(screen, view->lost || view->lost_more ? TOP_LOSS : TOP_PLAIN,
		       "%s%llu read, %llu%s lost.",
		       view->is_file ? "Events: " : "Events are recorded for this view: ",
		       (unsigned long long)view->events, (unsigned long long)view->lost,
		       view->lost_more ? " or more" : "");
	if (!stat_by_has_time(view->by))
		top_screen_add(screen, TOP_PLAIN, "These samples have no times.");
	top_screen_add(screen, TOP_HEAD, "%s", sum && sum->buckets ?
		       "HISTOGRAM: counted by EL2, and from events while a row is shown" :
		       "HISTOGRAM");
	if (sum && stat_by_has_time(view->by))
		add_histogram(screen, buckets, stat_row_histogram(sum, buckets), slow_lines + 2);
	top_screen_add(screen, TOP_HEAD, "SLOWEST SAMPLES since this view is shown");
	add_slow(screen, slow);
	top_screen_footer(screen, note, "Esc back  r reset  h help  q quit");
}

void top_screen_help(struct top_screen *screen)
{
	static const char *const lines[] = {
		"<  >         Sort by the column to the left, to the right",
		"Up  Down     Select a row",
		"Enter        Show its histogram and its slowest samples; this records events",
		"Esc          Return to the rows",
		"g            Other rows: reason, hcall, exit, vcpu, vm, cpu, memory",
		"1            A line for each CPU, or for all CPUs",
		"p            Pause: the numbers on the screen do not change",
		"r            Reset: begin the sums again",
		"h  ?         This help",
		"q            Quit",
		"",
		"SAMPLES/S, TIME% and MEAN are those of the last interval, all other columns",
		"are sums since the begin or the last reset. TIME% is the part of all rows.",
	};
	unsigned int i;

	top_screen_add(screen, TOP_TITLE, "hyptrace top: keys");
	for (i = 0; i < NR(lines); i++)
		top_screen_add(screen, TOP_PLAIN, "%s", lines[i]);
	top_screen_footer(screen, NULL, "press a key to return");
}
