// SPDX-License-Identifier: GPL-2.0-only
/*
 * The screen of top: its lines at several sizes, its columns, and the order of rows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "view/top/top.h"

#define NR_ROWS	40

static struct top_row rows[NR_ROWS];
static struct top_cpu cpus[2] = {
	{ .id = 0, .ns = { [STAT_HOST] = 900000000, [STAT_EL2] = 25000000,
			   [STAT_GUEST] = 75000000 } },
	{ .id = 1, .ns = { [STAT_HOST] = 1000000000 } },
};

static struct top_view view;

/* Row i has i + 1 samples of i + 1 us each, which came in the last i + 1 seconds. */
static void set_row(unsigned int i)
{
	const unsigned int nr = i + 1;
	struct stat_row sum = {
		.key = { .major = i }, .samples = 10 * nr,
		.times = { .count = 10 * nr, .sum = 10000 * nr * nr, .max = 5000 - i },
	};
	struct stat_line *line = &rows[i].line;
	unsigned int j;

	rows[i] = (struct top_row){};
	stat_line_set(line, &sum, true);
	snprintf(line->name, sizeof(line->name), "row_%u", i);
	stat_cell_set(line, COL_RATE, true, nr);
	stat_cell_percent(line, COL_TIME, nr * nr, 14);
	stat_cell_set(line, COL_MEAN, true, 1000 * nr);
	for (j = 0; j < nr; j++)
		rows[i].spark[TOP_SECONDS - 1 - j] = 8 - j % 8;
}

static int make_view(void **state)
{
	unsigned int i;

	(void)state;
	view = (struct top_view){
		.source = "test", .by = STAT_BY_REASON, .is_counted = true,
		.interval = 1000000000, .seconds = 12, .known = TOP_SECONDS,
		.cpus = cpus, .nr_cpus = 2, .rows = rows, .nr_rows = 3,
	};
	for (i = 0; i < NR_ROWS; i++)
		set_row(i);
	return 0;
}

static void sort(enum stat_column column)
{
	stat_lines_sort(view.rows, view.nr_rows, sizeof(*view.rows), column);
}

/* Columns of a text */
static unsigned int width_of(const char *text)
{
	unsigned int width = 0;

	for (; *text; text++)
		width += (*text & 0xc0) != 0x80;
	return width;
}

static void expect(const struct top_screen *screen, unsigned int line, const char *text)
{
	size_t len;

	assert_true(line < screen->nr);
	len = strlen(screen->lines[line].text);
	while (len && screen->lines[line].text[len - 1] == ' ')
		screen->lines[line].text[--len] = '\0';
	assert_string_equal(screen->lines[line].text, text);
}

static void at_80x24(void **state)
{
	struct top_screen screen = { .width = 80, .height = 24 };
	struct top_look look = { .sort = COL_TIME };

	(void)state;
	sort(look.sort);
	top_screen_rows(&screen, &view, &look);
	assert_int_equal(screen.nr, 24);
	expect(&screen, 0, "hyptrace top: test, by reason, sums of 12.0 s");
	expect(&screen, 1, "All CPUs:  95.00% host,   1.25% EL2,   3.75% guest,   0.00% unknown");
	expect(&screen, 2, "EL2 counts: no event is recorded or lost.");
	expect(&screen, 3, "NAME        SAMPLES/S *TIME%       MEAN        MAX      TOTAL  LAST MINUTE");
	expect(&screen, 4, "row_2               3  64.29   3.000 us   4.998 us  90.000 us                  #");
	expect(&screen, 6, "row_0               1   7.14   1.000 us   5.000 us  10.000 us                  #");
	expect(&screen, 7, "");
	expect(&screen, 23, "h help  q quit  < > sort  g group  p pause  r reset  Enter detail");
	assert_int_equal(screen.lines[3].style, TOP_HEAD);
	top_screen_free(&screen);
}

static void at_200x50(void **state)
{
	struct top_screen screen = { .width = 200, .height = 50, .has_utf8 = true };
	struct top_look look = { .sort = COL_NAME, .per_cpu = true, .paused = true };

	(void)state;
	view.is_counted = false;
	view.events = 1000;
	view.lost = 7;
	stat_cell_set(&rows[2].line, COL_P99, true, 1500);
	sort(look.sort);
	top_screen_rows(&screen, &view, &look);
	assert_int_equal(screen.nr, 50);
	expect(&screen, 0, "hyptrace top: test, by reason, sums of 12.0 s [PAUSED]");
	expect(&screen, 1, "CPU 0:     90.00% host,   2.50% EL2,   7.50% guest,   0.00% unknown");
	expect(&screen, 2, "CPU 1:    100.00% host,   0.00% EL2,   0.00% guest,   0.00% unknown");
	expect(&screen, 3, "1000 events read, 7 lost.");
	assert_int_equal(screen.lines[3].style, TOP_LOSS);
	expect(&screen, 4,
	       "*NAME       SAMPLES/S  TIME%       MEAN        MAX        P99"
	       "    SAMPLES      TOTAL  LAST MINUTE");
	assert_int_equal(strlen(screen.lines[5].text), 85 + 59 + 3);
	assert_non_null(strstr(screen.lines[5].text,
			       "  5.000 us          -         10  10.000 us   "));
	assert_non_null(strstr(screen.lines[7].text,
			       "  4.998 us   1.500 us         30  90.000 us   "));
	assert_non_null(strstr(screen.lines[7].text, "  \u2587\u2588\u2588"));
	top_screen_free(&screen);
}

/* Whatever the size, no line is too long, and there are not too many. */
static void any_size(void **state)
{
	static const struct stat_row sum = { .samples = 1 };
	static struct stat_slow slow = { .nr = STAT_SLOW_SAMPLES };
	struct top_look look = { .sort = COL_TIME, .note = "a message that is longer than a line" };
	unsigned int width, height, what, i;

	(void)state;
	view.nr_rows = NR_ROWS;
	for (i = 0; i < slow.nr; i++)
		memset(slow.samples[i].text, 'x', STAT_SLOW_TEXT - 1);
	for (width = 1; width <= 220; width += width < 30 ? 1 : 19) {
		for (height = 1; height <= 60; height += height < 12 ? 1 : 7) {
			for (what = 0; what < 4; what++) {
				struct top_screen screen = { .width = width, .height = height,
							     .has_utf8 = what == 1 };

				if (what < 2)
					top_screen_rows(&screen, &view, &look);
				else if (what == 2)
					top_screen_detail(&screen, &view, &rows[0], &sum, &slow,
							  NULL);
				else
					top_screen_help(&screen);
				assert_true(screen.nr && screen.nr <= height);
				for (i = 0; i < screen.nr; i++)
					assert_true(width_of(screen.lines[i].text) <= width);
				top_screen_free(&screen);
			}
		}
	}
}

static void tiny(void **state)
{
	struct top_screen screen = { .width = 20, .height = 5 };
	struct top_look look = { .sort = COL_RATE };

	(void)state;
	sort(look.sort);
	top_screen_rows(&screen, &view, &look);
	assert_int_equal(screen.nr, 5);
	expect(&screen, 0, "hyptrace top: test,");
	expect(&screen, 3, "NAME");
	expect(&screen, 4, "row_2");
	screen.width = 21;
	top_screen_free(&screen);
	top_screen_rows(&screen, &view, &look);
	expect(&screen, 3, "NAME       *SAMPLES/S");
	expect(&screen, 4, "row_2               3");
	top_screen_free(&screen);
}

/* The selected row is visible, wherever it is. */
static void selected(void **state)
{
	struct top_look look = { .sort = COL_RATE, .has_selected = true };
	unsigned int i, line;

	(void)state;
	view.nr_rows = NR_ROWS;
	sort(look.sort);
	for (i = 0; i < NR_ROWS; i++) {
		struct top_screen screen = { .width = 80, .height = 24 };
		const char *name = view.rows[NR_ROWS - 1 - i].line.name;
		unsigned int found = 0;

		look.selected.major = i;
		top_screen_rows(&screen, &view, &look);
		for (line = 0; line < screen.nr; line++) {
			if (screen.lines[line].style != TOP_SELECTED)
				continue;
			found++;
			assert_memory_equal(screen.lines[line].text, name, strlen(name));
		}
		assert_int_equal(found, 1);
		top_screen_free(&screen);
	}
}

static void columns(void **state)
{
	enum stat_column column = COL_NAME, last;
	unsigned int nr = 0;

	(void)state;
	/* without events there is no percentile, and only exits have a time in the guest */
	do {
		assert_true(column != COL_P99 && column != COL_GUEST);
		last = column;
		column = top_column_next(&view, column, 1);
		assert_int_equal(top_column_next(&view, column, -1), last);
		nr++;
	} while (column != COL_NAME);
	/* all but the two */
	assert_int_equal(nr, 7);
	view.by = STAT_BY_MEMORY;
	assert_int_equal(top_column_next(&view, COL_RATE, 1), COL_SAMPLES);
	assert_true(stat_column_find(top_columns, "total", &column));
	assert_int_equal(column, COL_TOTAL);
	assert_false(stat_column_find(top_columns, "totals", &column));
	sort(COL_MAX);
	assert_int_equal(view.rows[0].line.key.major, 0);
	sort(COL_TOTAL);
	assert_int_equal(view.rows[0].line.key.major, 2);
}

static void spark(void **state)
{
	struct top_row row = {};
	char text[3 * TOP_SECONDS + 1];

	(void)state;
	row.spark[59] = 80;
	row.spark[58] = 10;
	row.spark[57] = 45;
	row.spark[0] = 80;
	top_spark(&row, 60, 60, false, text);
	assert_int_equal(strlen(text), 60);
	assert_int_equal(text[0], '#');
	assert_string_equal(text + 56, " +:#");
	top_spark(&row, 59, 60, false, text);
	assert_int_equal(text[0], ' ');
	top_spark(&row, 60, 60, true, text);
	assert_int_equal(width_of(text), 60);
	assert_string_equal(text + strlen(text) - 3, "\u2588");
	/* three seconds in a bar: 45 of 80 are as much as (45 + 10 + 80) / 3 */
	top_spark(&row, 60, 20, false, text);
	assert_int_equal(strlen(text), 20);
	assert_int_equal(text[19], '#');
	row.spark[59] = 0;
	row.spark[0] = 0;
	row.spark[30] = 110;
	top_spark(&row, 60, 20, false, text);
	assert_int_equal(text[10], '#');
	assert_int_equal(text[19], '+');
}

static void detail(void **state)
{
	struct top_screen screen = { .width = 80, .height = 24 };
	struct stat_buckets buckets = { .nr = 3, .from = { 0, 1, 100 }, .count = { 0, 4, 1 } };
	struct stat_row sum = { .samples = 5, .buckets = &buckets };
	static struct stat_slow slow = { .nr = 1, .samples = { { .time = 1500, .cpu = 1,
							.text = "host_hcall: id=1" } } };

	(void)state;
	top_screen_detail(&screen, &view, &rows[0], &sum, &slow, NULL);
	expect(&screen, 0, "hyptrace top: by reason: row_0");
	expect(&screen, 2, "HISTOGRAM: counted by EL2, and from events while a row is shown");
	expect(&screen, 3, "    FROM      TO  COUNT");
	expect(&screen, 4, "    1 ns  100 ns      4  ########################################");
	expect(&screen, 5, "  100 ns       -      1  ##########");
	expect(&screen, 6, "SLOWEST SAMPLES since this view is shown");
	expect(&screen, 7, "  1.500 us  CPU 1   host_hcall: id=1");
	expect(&screen, 23, "Esc back  r reset  h help  q quit");
	top_screen_free(&screen);
}

/* Samples of events, before and after EL2 has counted, are added to what it has counted. */
static void both_sources(void **state)
{
	static const uint64_t from[] = { 0, 16, 32, 64, 128 };
	struct top_screen screen = { .width = 80, .height = 24 };
	struct stat_rows counted = {}, recorded = {}, sums = {};
	const struct stat_key key = { .major = 1 };
	static const struct stat_slow slow;
	struct stat_row *row;

	(void)state;
	row = stat_rows_get(&recorded, key);
	row->samples = 4;
	loglin_add(&row->times, 20);
	loglin_add(&row->times, 31);
	loglin_add(&row->times, 64);
	loglin_add(&row->times, 5000);
	row = stat_rows_get(&counted, key);
	row->samples = 3;
	row->times.count = 3;
	row->times.sum = 3 * 40;
	stat_row_buckets(row, from, 5)->count[2] = 3;
	stat_rows_merge(&sums, &recorded);
	stat_rows_merge(&sums, &counted);
	stat_rows_merge(&sums, &recorded);
	row = stat_rows_get(&sums, key);
	assert_int_equal(row->samples, 11);

	top_screen_detail(&screen, &view, &rows[0], row, &slow, NULL);
	expect(&screen, 3, "    FROM      TO  COUNT");
	expect(&screen, 4, "   16 ns   32 ns      4  ########################################");
	expect(&screen, 5, "   32 ns   64 ns      3  ##############################");
	expect(&screen, 6, "   64 ns  128 ns      2  ####################");
	expect(&screen, 7, "  128 ns       -      2  ####################");
	top_screen_free(&screen);
	stat_rows_free(&counted);
	stat_rows_free(&recorded);
	stat_rows_free(&sums);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(at_80x24, make_view),
		cmocka_unit_test_setup(at_200x50, make_view),
		cmocka_unit_test_setup(any_size, make_view),
		cmocka_unit_test_setup(tiny, make_view),
		cmocka_unit_test_setup(selected, make_view),
		cmocka_unit_test_setup(columns, make_view),
		cmocka_unit_test_setup(spark, make_view),
		cmocka_unit_test_setup(detail, make_view),
		cmocka_unit_test_setup(both_sources, make_view),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
