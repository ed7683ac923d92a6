// SPDX-License-Identifier: GPL-2.0-only
/*
 * Render the rows of hyptrace top, and the lines above and below them.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/die.h"
#include "output/time_text.h"
#include "top_screen.h"

#define NAME_WIDTH_MIN	10
#define NAME_WIDTH_MAX	32
#define SPARK_WIDTH_MIN	10
/* A screen with fewer lines has no line of keys */
#define FOOTER_HEIGHT	8
/* Bytes of a line at most: in UTF-8, a bar has three */
#define LINE_SIZE	1024

/* The columns that a narrow screen keeps longest are first */
static const enum top_column by_importance[] = {
	TOP_RATE, TOP_TIME, TOP_MEAN, TOP_MAX, TOP_GUEST, TOP_TOTAL, TOP_P99, TOP_SAMPLES,
};

/**
 * struct layout - the columns of a screen
 * @name:	width of the names
 * @has:	the columns that fit
 * @spark:	width of the spark lines; 0 for none
 */
struct layout {
	unsigned int	name;
	bool		has[NR_TOP_COLUMNS];
	unsigned int	spark;
};

static bool is_full(const struct top_screen *screen)
{
	return screen->height != TOP_UNLIMITED && screen->nr >= screen->height;
}

/* Cut a text of UTF-8 to the width of the screen. */
static void cut(const struct top_screen *screen, char *text)
{
	unsigned int width = 0;

	for (; *text; text++) {
		/* all bytes of a character but the first one are 10xxxxxx in binary */
		if ((*text & 0xc0) != 0x80 && screen->width != TOP_UNLIMITED &&
		    width++ == screen->width)
			break;
	}
	*text = '\0';
}

/**
 * top_screen_add - add a line, unless the screen is full
 * @screen:	the screen
 * @style:	how the line looks
 * @fmt:	as for printf(); what is too long for the screen is cut
 */
void top_screen_add(struct top_screen *screen, enum top_style style, const char *fmt, ...)
{
	char *text;
	va_list ap;

	if (is_full(screen))
		return;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		die_no_memory();
	va_end(ap);
	cut(screen, text);
	screen->lines = reallocarray(screen->lines, screen->nr + 1, sizeof(*screen->lines));
	if (!screen->lines)
		die_no_memory();
	screen->lines[screen->nr++] = (struct top_line){ .text = text, .style = style };
}

/* Lines that are left for rows */
static unsigned int lines_left(const struct top_screen *screen)
{
	const unsigned int footer = screen->height >= FOOTER_HEIGHT;

	if (screen->height == TOP_UNLIMITED)
		return UINT32_MAX;
	return screen->nr + footer < screen->height ? screen->height - screen->nr - footer : 0;
}

/**
 * top_screen_footer - write the last line of the screen, if it is high enough
 * @screen:	the screen
 * @note:	a message; NULL for none
 * @keys:	what keys do; shown without a message
 */
void top_screen_footer(struct top_screen *screen, const char *note, const char *keys)
{
	if (screen->height < FOOTER_HEIGHT)
		return;
	while (screen->nr + 1 < screen->height)
		top_screen_add(screen, TOP_PLAIN, "%s", "");
	top_screen_add(screen, note ? TOP_LOSS : TOP_TITLE, "%s", note ? note : keys);
}

static void add_times(struct top_screen *screen, const char *name, const uint64_t *ns)
{
	static const enum stat_place places[] = { STAT_HOST, STAT_EL2, STAT_GUEST, STAT_UNKNOWN };
	static const char *const names[] = { "host", "EL2", "guest", "unknown" };
	uint64_t sum = ns[STAT_HOST] + ns[STAT_EL2] + ns[STAT_GUEST] + ns[STAT_UNKNOWN];
	char shares[4][TIME_TEXT_SIZE];
	unsigned int i;

	for (i = 0; i < 4; i++)
		percent_text(shares[i], ns[places[i]], sum ? sum : 1);
	top_screen_add(screen, TOP_PLAIN, "%-9s %6s%% %s, %6s%% %s, %6s%% %s, %6s%% %s", name,
		       shares[0], names[0], shares[1], names[1], shares[2], names[2], shares[3],
		       names[3]);
}

static void add_cpus(struct top_screen *screen, const struct top_view *view, bool per_cpu)
{
	uint64_t sum[NR_STAT_PLACES] = {};
	char name[32];
	unsigned int i, place;

	for (i = 0; i < view->nr_cpus; i++) {
		for (place = 0; place < NR_STAT_PLACES; place++)
			sum[place] += view->cpus[i].ns[place];
		if (!per_cpu)
			continue;
		snprintf(name, sizeof(name), "CPU %u:", view->cpus[i].id);
		add_times(screen, name, view->cpus[i].ns);
	}
	if (!per_cpu)
		add_times(screen, "All CPUs:", sum);
}

static void add_losses(struct top_screen *screen, const struct top_view *view)
{
	const bool is_lost = view->lost || view->lost_more;
	const enum top_style style = is_lost ? TOP_LOSS : TOP_PLAIN;
	const char *more = view->lost_more ? " or more" : "";

	if (!view->interval)
		top_screen_add(screen, TOP_PLAIN, "Waiting for the end of the first interval.");
	else if (!view->is_counted)
		top_screen_add(screen, style, "%" PRIu64 " events read, %" PRIu64 "%s lost.",
			       view->events, view->lost, more);
	else if (view->events || is_lost)
		top_screen_add(screen, style,
			       "EL2 counts. Before, %" PRIu64 " events were read, %" PRIu64 "%s lost.",
			       view->events, view->lost, more);
	else
		top_screen_add(screen, TOP_PLAIN, "EL2 counts: no event is recorded or lost.");
}

/* Choose the columns that fit beside the names and a spark line. */
static void make_layout(const struct top_screen *screen, const struct top_view *view,
			struct layout *layout)
{
	unsigned int i, used, width = screen->width;

	*layout = (struct layout){ .name = NAME_WIDTH_MIN };
	for (i = 0; i < view->nr_rows; i++) {
		size_t len = strlen(view->rows[i].name);

		if (len > layout->name)
			layout->name = len < NAME_WIDTH_MAX ? len : NAME_WIDTH_MAX;
	}
	if (width == TOP_UNLIMITED)
		width = LINE_SIZE / 4;
	used = layout->name;
	for (i = 0; i < sizeof(by_importance) / sizeof(by_importance[0]); i++) {
		enum top_column column = by_importance[i];
		/* the most important one is beside the name even if no spark line fits */
		unsigned int rest = i ? 2 + SPARK_WIDTH_MIN : 0;

		if (!top_column_is_shown(view, column) ||
		    used + 1 + top_column_width(column) + rest > width)
			continue;
		layout->has[column] = true;
		used += 1 + top_column_width(column);
	}
	if (used + 2 + SPARK_WIDTH_MIN <= width)
		layout->spark = width - used - 2;
	if (layout->spark > TOP_SECONDS)
		layout->spark = TOP_SECONDS;
}

static void add_head(struct top_screen *screen, const struct layout *layout,
		     enum top_column sort)
{
	char line[LINE_SIZE], head[TOP_CELL_SIZE], *to = line;
	enum top_column column;

	to += sprintf(to, "%-*s", (int)layout->name, sort == TOP_NAME ? "*NAME" : "NAME");
	for (column = TOP_NAME + 1; column < NR_TOP_COLUMNS; column++) {
		if (!layout->has[column])
			continue;
		snprintf(head, sizeof(head), "%s%s", column == sort ? "*" : "",
			 top_column_head(column));
		to += sprintf(to, " %*s", (int)top_column_width(column), head);
	}
	if (layout->spark)
		sprintf(to, "  %-*s", (int)layout->spark, "LAST MINUTE");
	top_screen_add(screen, TOP_HEAD, "%s", line);
}

static void add_row(struct top_screen *screen, const struct top_view *view,
		    const struct layout *layout, const struct top_row *row, bool is_selected)
{
	char line[LINE_SIZE], cell[TOP_CELL_SIZE], *to = line;
	enum top_column column;

	to += sprintf(to, "%-*.*s", (int)layout->name, (int)layout->name, row->name);
	for (column = TOP_NAME + 1; column < NR_TOP_COLUMNS; column++) {
		if (!layout->has[column])
			continue;
		top_column_cell(view, row, column, cell);
		to += sprintf(to, " %*s", (int)top_column_width(column), cell);
	}
	if (layout->spark) {
		to = stpcpy(to, "  ");
		top_spark(row, view->known, layout->spark, screen->has_utf8, to);
	}
	top_screen_add(screen, is_selected ? TOP_SELECTED : TOP_PLAIN, "%s", line);
}

static bool is_selected(const struct top_look *look, const struct top_row *row)
{
	return look->has_selected && look->selected.major == row->key.major &&
	       look->selected.minor == row->key.minor;
}

/* The first row to show: the selected one must be visible. */
static unsigned int first_row(const struct top_view *view, const struct top_look *look,
			      unsigned int left)
{
	unsigned int i;

	for (i = 0; i < view->nr_rows; i++)
		if (is_selected(look, &view->rows[i]))
			return i < left ? 0 : i - left + 1;
	return 0;
}

/**
 * top_screen_rows - render the rows
 * @screen:	the screen, which is empty
 * @view:	what is shown; its rows are sorted
 * @look:	what the user has chosen
 */
void top_screen_rows(struct top_screen *screen, const struct top_view *view,
		     const struct top_look *look)
{
	struct layout layout;
	unsigned int i, left;

	top_screen_add(screen, TOP_TITLE, "hyptrace top: %s%sby %s, sums of %.1f s%s",
		       view->remote ? view->remote : "", view->remote ? ", " : "", view->by,
		       view->seconds, look->paused ? " [PAUSED]" : "");
	add_cpus(screen, view, look->per_cpu);
	add_losses(screen, view);
	make_layout(screen, view, &layout);
	add_head(screen, &layout, look->sort);
	left = lines_left(screen);
	for (i = first_row(view, look, left); i < view->nr_rows && left; i++, left--)
		add_row(screen, view, &layout, &view->rows[i], is_selected(look, &view->rows[i]));
	top_screen_footer(screen, look->note,
			  "h help  q quit  < > sort  g group  p pause  r reset  Enter detail");
}

/**
 * top_screen_free - remove all lines
 * @screen:	the screen; its size stays
 */
void top_screen_free(struct top_screen *screen)
{
	while (screen->nr)
		free(screen->lines[--screen->nr].text);
	free(screen->lines);
	screen->lines = NULL;
}
