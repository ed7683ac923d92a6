// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the time of a CPU goes, and the rows of stat.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "view/times/stat.h"

#define BEGIN	1000
#define END	2000

/* The times add up to those that passed. */
static void expect(const struct stat_times *t, uint64_t host, uint64_t el2, uint64_t guest,
		   uint64_t unknown)
{
	uint64_t ns[NR_STAT_PLACES];

	stat_times_sum(t, BEGIN, END, ns);
	assert_int_equal(ns[STAT_HOST], host);
	assert_int_equal(ns[STAT_EL2], el2);
	assert_int_equal(ns[STAT_GUEST], guest);
	assert_int_equal(ns[STAT_UNKNOWN], unknown);
	assert_int_equal(host + el2 + guest + unknown, END - BEGIN);
}

static void no_event(void **state)
{
	struct stat_times t = {};

	(void)state;
	expect(&t, 0, 0, 0, 1000);
	stat_times_lose(&t);
	expect(&t, 0, 0, 0, 1000);
}

static void host_and_guest(void **state)
{
	struct stat_times t = {};

	(void)state;
	stat_times_enter(&t, 1100);
	stat_times_exit(&t, 1110, true);
	stat_times_enter(&t, 1410);
	stat_times_exit(&t, 1430, false);
	stat_times_enter(&t, 1500);
	stat_times_exit(&t, 1505, false);
	expect(&t, 70 + 495, 10 + 20 + 5, 300, 100);
}

static void first_and_last(void **state)
{
	struct stat_times t = {}, guest = {}, el2 = {}, host = { .now = STAT_HOST };

	(void)state;
	/* nobody knows how long the CPU was elsewhere before; EL2 is still at work at the end */
	stat_times_enter(&t, 1100);
	expect(&t, 0, 900, 0, 100);
	stat_times_enter(&guest, 1100);
	stat_times_exit(&guest, 1110, true);
	expect(&guest, 0, 10, 890, 100);
	stat_times_exit(&el2, 1300, false);
	expect(&el2, 700, 0, 0, 300);
	/* where it was at the begin is known */
	stat_times_cut(&host, BEGIN);
	expect(&host, 1000, 0, 0, 0);
	stat_times_enter(&host, 1100);
	expect(&host, 100, 900, 0, 0);
}

static void at_the_limits(void **state)
{
	struct stat_times t = {};

	(void)state;
	stat_times_enter(&t, BEGIN);
	stat_times_exit(&t, END, true);
	expect(&t, 0, 1000, 0, 0);
}

static void losses(void **state)
{
	struct stat_times t = {};

	(void)state;
	stat_times_enter(&t, 1100);
	stat_times_exit(&t, 1110, true);
	stat_times_lose(&t);
	/* nobody knows where the CPU was from 1110 to 1200 */
	stat_times_enter(&t, 1200);
	stat_times_exit(&t, 1230, false);
	expect(&t, 770, 10 + 30, 0, 100 + 90);
	stat_times_enter(&t, 1300);
	stat_times_lose(&t);
	stat_times_exit(&t, 1350, false);
	expect(&t, 70 + 650, 10 + 30, 0, 100 + 90 + 50);
	/* at the end */
	stat_times_lose(&t);
	expect(&t, 70, 10 + 30, 0, 100 + 90 + 50 + 650);
}

static void lost_first(void **state)
{
	struct stat_times t = {}, other = {};

	(void)state;
	stat_times_lose(&t);
	stat_times_enter(&t, 1200);
	expect(&t, 0, 800, 0, 200);
	stat_times_lose(&other);
	stat_times_exit(&other, 1200, true);
	expect(&other, 0, 0, 800, 200);
}

/* An event is missing, though no loss says so: a filter may have refused it. */
static void two_of_a_kind(void **state)
{
	struct stat_times t = {};

	(void)state;
	stat_times_enter(&t, 1100);
	stat_times_enter(&t, 1200);
	stat_times_exit(&t, 1210, false);
	stat_times_exit(&t, 1260, true);
	expect(&t, 0, 10, 740, 100 + 100 + 50);
}

/* Events of another CPU can be read late; time does not go back. */
static void late(void **state)
{
	struct stat_times t = {};

	(void)state;
	stat_times_enter(&t, 1100);
	stat_times_exit(&t, 1050, false);
	expect(&t, 900, 0, 0, 100);
}

static void cut(void **state)
{
	struct stat_times t = {};
	uint64_t ns[NR_STAT_PLACES];

	(void)state;
	stat_times_cut(&t, 1000);
	stat_times_enter(&t, 1100);
	stat_times_exit(&t, 1110, true);
	stat_times_cut(&t, 1500);
	stat_times_sum(&t, 1500, 1600, ns);
	assert_int_equal(ns[STAT_GUEST], 100);
	stat_times_enter(&t, 1550);
	stat_times_sum(&t, 1500, 1600, ns);
	assert_int_equal(ns[STAT_GUEST], 50);
	assert_int_equal(ns[STAT_EL2], 50);
	assert_int_equal(ns[STAT_HOST] + ns[STAT_UNKNOWN], 0);
}

static void many_rows(void **state)
{
	struct stat_rows rows = {}, sums = {};
	struct stat_row *row, *first;
	unsigned int i, j;

	(void)state;
	first = stat_rows_get(&rows, (struct stat_key){ 0, 0 });
	for (i = 0; i < 1000; i++) {
		for (j = 0; j < 3; j++) {
			row = stat_rows_get(&rows, (struct stat_key){ i << 16, j });
			assert_true(row->key.major == i << 16 && row->key.minor == j);
			row->samples += i + 1;
			loglin_add(&row->times, i * j);
		}
	}
	/* a row stays where it is, whatever comes after it */
	assert_ptr_equal(stat_rows_get(&rows, (struct stat_key){ 0, 0 }), first);
	assert_int_equal(rows.nr, 3000);
	stat_rows_merge(&sums, &rows);
	stat_rows_merge(&sums, &rows);
	assert_int_equal(sums.nr, 3000);
	row = stat_rows_get(&sums, (struct stat_key){ 700 << 16, 2 });
	assert_int_equal(row->samples, 2 * 701);
	assert_int_equal(row->times.sum, 2 * 1400);
	stat_rows_free(&rows);
	stat_rows_free(&sums);
	assert_int_equal(rows.nr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_event),
		cmocka_unit_test(host_and_guest),
		cmocka_unit_test(first_and_last),
		cmocka_unit_test(at_the_limits),
		cmocka_unit_test(losses),
		cmocka_unit_test(lost_first),
		cmocka_unit_test(two_of_a_kind),
		cmocka_unit_test(late),
		cmocka_unit_test(cut),
		cmocka_unit_test(many_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
