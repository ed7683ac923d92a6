// SPDX-License-Identifier: GPL-2.0-only
/* Render the screens of hyptrace top as lines: all rows, a single row in detail, and the help. */
#include "output/die.h"
#include "top.h"

#define NAME_WIDTH_MIN	10
#define NAME_WIDTH_MAX	32
#define SPARK_WIDTH_MIN	10
/* A screen with fewer lines has no line of keys */
#define FOOTER_HEIGHT	8
/* Bytes of a line at most: in UTF-8, a bar has three */
#define LINE_SIZE	1024

const enum stat_column top_columns[] = {
	COL_NAME, COL_RATE, COL_TIME, COL_MEAN, COL_PMU, COL_PMU + 1, COL_PMU + 2, COL_PMU + 3,
	COL_IPC, COL_MAX, COL_P99, COL_SAMPLES, COL_TOTAL, COL_GUEST, NR_STAT_COLUMNS
};

#define NR_COLUMNS	(sizeof(top_columns) / sizeof(top_columns[0]) - 1)

/* The columns that a narrow screen keeps longest are first. */
static const enum stat_column by_importance[] = {
	COL_RATE, COL_TIME, COL_PMU, COL_PMU + 1, COL_PMU + 2, COL_PMU + 3, COL_IPC, COL_MEAN,
	COL_MAX, COL_GUEST, COL_TOTAL, COL_P99, COL_SAMPLES,
};

struct layout {
	unsigned int	name;	/* width of the names */
	bool		has[NR_STAT_COLUMNS];	/* the columns that fit */
	unsigned int	spark;	/* width of the spark lines; 0 for none */
};

enum stat_column top_column_next(const struct top_view *view, enum stat_column column, int step)
{
	unsigned int i = 0;

	while (top_columns[i] != column)
		i++;
	do {
		i = (i + NR_COLUMNS + step) % NR_COLUMNS;
	} while (!stat_column_has(top_columns[i], view->by, view->is_counted));
	return top_columns[i];
}

static int width_of(enum stat_column column)
{
	const size_t head = strnlen(stat_columns[column].column.head, TIME_TEXT_SIZE) + 1;

	return stat_columns[column].kind == CELL_PERCENT ? 6 : head > 10 ? head : 10;
}

#define NR_LEVELS	8

/* From the smallest value that is not 0; 0 is a blank */
static const char *const blocks[NR_LEVELS] = {
	"\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588",
};

static const char *const letters[NR_LEVELS] = { ".", ":", "-", "=", "+", "*", "%", "#" };

/* The mean of the seconds of a bar; less than 0 if none of them is known */
static double value_of(const struct top_row *row, unsigned int known, unsigned int from,
		       unsigned int to)
{
	unsigned int i, nr = 0;
	double sum = 0;

	for (i = from; i < to; i++) {
		if (i + known < TOP_SECONDS)
			continue;
		sum += row->spark[i];
		nr++;
	}
	return nr ? sum / nr : -1;
}

void top_spark(const struct top_row *row, unsigned int known, unsigned int width, bool has_utf8,
	       char *to)
{
	double values[TOP_SECONDS], most = 0;
	unsigned int i, level;

	for (i = 0; i < width; i++) {
		values[i] = value_of(row, known, i * TOP_SECONDS / width,
				     (i + 1) * TOP_SECONDS / width);
		if (values[i] > most)
			most = values[i];
	}
	*to = '\0';
	for (i = 0; i < width; i++) {
		const char *bar = " ";

		if (values[i] > 0) {
			level = values[i] / most * NR_LEVELS;
			level = level < NR_LEVELS ? level : NR_LEVELS - 1;
			bar = (has_utf8 ? blocks : letters)[level];
		}
		to = stpcpy(to, bar);
	}
}

static __attribute__((format(printf, 3, 4)))
void add_line(struct top_screen *screen, enum top_style style, const char *fmt, ...)
{
	unsigned int width = 0;
	char *text, *at;
	va_list ap;

	if (screen->height != TOP_UNLIMITED && screen->nr >= screen->height)
		return;
	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	/* cut it: all bytes of a character of UTF-8 but the first one are 10xxxxxx in binary */
	for (at = text; *at; at++)
		if ((*at & 0xc0) != 0x80 && width++ == screen->width &&
		    screen->width != TOP_UNLIMITED)
			break;
	*at = '\0';
	*xappend(screen->lines, screen->nr) = (struct top_line){ .text = text, .style = style };
}

/* The last line, if the screen is high enough: a note, or else what keys do */
static void add_footer(struct top_screen *screen, const char *note, const char *keys)
{
	if (screen->height < FOOTER_HEIGHT)
		return;
	while (screen->nr + 1 < screen->height)
		add_line(screen, TOP_PLAIN, "%s", "");
	add_line(screen, note ? TOP_LOSS : TOP_TITLE, "%s", note ? note : keys);
}

static void add_times(struct top_screen *screen, const char *name, const uint64_t *ns)
{
	uint64_t sum = ns[STAT_HOST] + ns[STAT_EL2] + ns[STAT_GUEST] + ns[STAT_UNKNOWN];
	char shares[NR_STAT_PLACES][TIME_TEXT_SIZE];
	unsigned int i;

	for (i = 0; i < NR_STAT_PLACES; i++)
		percent_text(shares[i], ns[i], sum ? sum : 1);
	add_line(screen, TOP_PLAIN, "%-9s %6s%% host, %6s%% EL2, %6s%% guest, %6s%% unknown", name,
		 shares[STAT_HOST], shares[STAT_EL2], shares[STAT_GUEST], shares[STAT_UNKNOWN]);
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
		add_line(screen, TOP_PLAIN, "Waiting for the end of the first interval.");
	else if (!view->is_counted)
		add_line(screen, style, "%" PRIu64 " events read, %" PRIu64 "%s lost.",
			 view->events, view->lost, more);
	else if (view->events || is_lost)
		add_line(screen, style,
			 "EL2 counts. Before, %" PRIu64 " events were read, %" PRIu64 "%s lost.",
			 view->events, view->lost, more);
	else
		add_line(screen, TOP_PLAIN, "EL2 counts: no event is recorded or lost.");
}

static void make_layout(const struct top_screen *screen, const struct top_view *view,
			struct layout *layout)
{
	unsigned int i, used, width = screen->width;

	*layout = (struct layout){ .name = NAME_WIDTH_MIN };
	for (i = 0; i < view->nr_rows; i++) {
		size_t len = strlen(view->rows[i].line.name);

		if (len > layout->name)
			layout->name = len < NAME_WIDTH_MAX ? len : NAME_WIDTH_MAX;
	}
	if (width == TOP_UNLIMITED)
		width = LINE_SIZE / 4;
	used = layout->name;
	for (i = 0; i < NR_COLUMNS - 1; i++) {
		enum stat_column column = by_importance[i];
		/* the most important one is beside the name even if no spark line fits */
		unsigned int rest = i ? 2 + SPARK_WIDTH_MIN : 0;

		if (!stat_column_has(column, view->by, view->is_counted) ||
		    used + 1 + width_of(column) + rest > width)
			continue;
		layout->has[column] = true;
		used += 1 + width_of(column);
	}
	if (used + 2 + SPARK_WIDTH_MIN <= width)
		layout->spark = width - used - 2;
	if (layout->spark > TOP_SECONDS)
		layout->spark = TOP_SECONDS;
}

static void add_head(struct top_screen *screen, const struct layout *layout, enum stat_column sort)
{
	const char *const name = stat_columns[COL_NAME].column.head;
	const enum stat_column *column = top_columns;
	char line[LINE_SIZE], head[TIME_TEXT_SIZE], *to = line;

	to += sprintf(to, "%s%-*s", sort == COL_NAME ? "*" : "",
		      (int)layout->name - (sort == COL_NAME), name);
	while (*++column != NR_STAT_COLUMNS) {
		if (!layout->has[*column])
			continue;
		snprintf(head, sizeof(head), "%s%s", *column == sort ? "*" : "",
			 stat_columns[*column].column.head);
		to += sprintf(to, " %*s", width_of(*column), head);
	}
	if (layout->spark)
		sprintf(to, "  %-*s", (int)layout->spark, "LAST MINUTE");
	add_line(screen, TOP_HEAD, "%s", line);
}

static void add_row(struct top_screen *screen, const struct top_view *view,
		    const struct layout *layout, const struct top_row *row, bool is_selected)
{
	const enum stat_column *column = top_columns;
	char line[LINE_SIZE], cell[TIME_TEXT_SIZE], *to = line;

	to += sprintf(to, "%-*.*s", (int)layout->name, (int)layout->name, row->line.name);
	while (*++column != NR_STAT_COLUMNS) {
		if (!layout->has[*column])
			continue;
		stat_cell_text(&row->line, *column, cell);
		to += sprintf(to, " %*s", width_of(*column), cell);
	}
	if (layout->spark) {
		to = stpcpy(to, "  ");
		top_spark(row, view->known, layout->spark, screen->has_utf8, to);
	}
	add_line(screen, is_selected ? TOP_SELECTED : TOP_PLAIN, "%s", line);
}

void top_screen_rows(struct top_screen *screen, const struct top_view *view,
		     const struct top_look *look)
{
	const unsigned int footer = screen->height >= FOOTER_HEIGHT;
	unsigned int i, selected, left = UINT32_MAX;
	struct layout layout;

	add_line(screen, TOP_TITLE, "hyptrace top: %s%sby %s, sums of %.1f s%s",
		 view->source ? view->source : "", view->source ? ", " : "",
		 stat_by[view->by].name, view->seconds,
		 look->paused ? " [PAUSED]" : view->is_over ? " [END]" : "");
	add_cpus(screen, view, look->per_cpu);
	add_losses(screen, view);
	make_layout(screen, view, &layout);
	add_head(screen, &layout, look->sort);
	if (screen->height != TOP_UNLIMITED)
		left = screen->nr + footer < screen->height ?
		       screen->height - screen->nr - footer : 0;
	for (selected = 0; selected < view->nr_rows; selected++)
		if (look->has_selected &&
		    stat_key_is(look->selected, view->rows[selected].line.key))
			break;
	/* the selected row must be visible */
	i = selected == view->nr_rows || selected < left ? 0 : selected - left + 1;
	for (; i < view->nr_rows && left; i++, left--)
		add_row(screen, view, &layout, &view->rows[i], i == selected);
	add_footer(screen, look->note,
		   "h help  q quit  < > sort  g group  p pause  r reset  Enter detail");
}

/* Lines of slowest samples that a histogram leaves at least */
#define SLOW_LINES	5

/* The histogram is that of the printer: print it into memory. */
static void add_histogram(struct top_screen *screen, const struct stat_row *row,
			  unsigned int reserve)
{
	struct printer *p;
	char *line, *end;
	struct out out;

	out_init_memory(&out);
	p = printer_new(&out, PRINTER_TEXT, false);
	printer_object(p, NULL);
	stat_row_print_histogram(p, row);
	printer_end(p);
	for (line = out.buf; line < out.buf + out.len; line = end + 1) {
		end = memchr(line, '\n', out.buf + out.len - line);
		if (!end)
			break;
		if (screen->height == TOP_UNLIMITED || screen->nr + reserve < screen->height)
			add_line(screen, TOP_PLAIN, "%.*s", (int)(end - line), line);
	}
	printer_free(p);
	out_free(&out);
}

void top_screen_detail(struct top_screen *screen, const struct top_view *view,
		       const struct top_row *row, const struct stat_row *sum,
		       const struct stat_slow *slow, const char *note)
{
	unsigned int slow_lines = slow->nr < SLOW_LINES ? slow->nr + 1 : SLOW_LINES, i;
	char time[TIME_TEXT_SIZE];

	add_line(screen, TOP_TITLE, "hyptrace top: by %s: %s", stat_by[view->by].name,
		 row ? row->line.name : "");
	add_line(screen, view->lost || view->lost_more ? TOP_LOSS : TOP_PLAIN,
		 "%s%" PRIu64 " read, %" PRIu64 "%s lost.",
		 view->is_file ? "Events: " : "Events are recorded for this view: ",
		 view->events, view->lost, view->lost_more ? " or more" : "");
	if (!stat_by[view->by].has_time)
		add_line(screen, TOP_PLAIN, "These samples have no times.");
	add_line(screen, TOP_HEAD, "%s", sum && sum->buckets ?
		 "HISTOGRAM: counted by EL2, and from events while a row is shown" :
		 "HISTOGRAM");
	if (sum && stat_by[view->by].has_time)
		add_histogram(screen, sum, slow_lines + 2);
	add_line(screen, TOP_HEAD, "SLOWEST SAMPLES since this view is shown");
	for (i = 0; i < slow->nr; i++) {
		if (screen->height != TOP_UNLIMITED && screen->nr + 1 >= screen->height)
			break;
		time_text(time, slow->samples[i].time);
		add_line(screen, TOP_PLAIN, "%10s  CPU %-3u %s", time, slow->samples[i].cpu,
			 slow->samples[i].text);
	}
	if (!slow->nr)
		add_line(screen, TOP_PLAIN, "none so far");
	add_footer(screen, note, "Esc back  r reset  h help  q quit");
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

	add_line(screen, TOP_TITLE, "hyptrace top: keys");
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		add_line(screen, TOP_PLAIN, "%s", lines[i]);
	add_footer(screen, NULL, "press a key to return");
}

void top_screen_free(struct top_screen *screen)
{
	while (screen->nr)
		free(screen->lines[--screen->nr].text);
	free(screen->lines);
	screen->lines = NULL;
}
