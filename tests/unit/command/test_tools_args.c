// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parsing of arguments: numbers, sizes, CPU lists and event names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../tools/hyptrace/cli/cli.h"
#include "event_lists.h"

static void numbers(void **state)
{
	static const char *const bad[] = {
		"", " 1", "1 ", "-1", "+1", "0x", "x1", "1.5", "1e3", "18446744073709551616",
		"0xg", "1K", "--", "0x-1",
	};
	uint64_t value;
	size_t i;

	(void)state;
	assert_true(parse_number("0", 10, &value));
	assert_int_equal(value, 0);
	assert_true(parse_number("007", 10, &value));
	assert_int_equal(value, 7);
	assert_true(parse_number("0x1F", 31, &value));
	assert_int_equal(value, 31);
	assert_true(parse_number("18446744073709551615", UINT64_MAX, &value));
	assert_true(value == UINT64_MAX);
	assert_false(parse_number("11", 10, &value));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(parse_number(bad[i], UINT64_MAX, &value));
}

static void sizes(void **state)
{
	static const char *const bad[] = {
		"", "K", "1KB", "1 K", "-1K", "1Q", "1.5M", "16777216T", "18446744073709551615K",
		"18446744073709551616",
	};
	uint64_t bytes;
	size_t i;

	(void)state;
	assert_true(parse_size("0", &bytes));
	assert_int_equal(bytes, 0);
	assert_true(parse_size("4096", &bytes));
	assert_int_equal(bytes, 4096);
	assert_true(parse_size("64K", &bytes));
	assert_int_equal(bytes, 65536);
	assert_true(parse_size("3m", &bytes));
	assert_int_equal(bytes, 3 << 20);
	assert_true(parse_size("2G", &bytes));
	assert_int_equal(bytes, UINT64_C(2) << 30);
	assert_true(parse_size("16777215T", &bytes));
	assert_true(bytes == UINT64_C(16777215) << 40);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(parse_size(bad[i], &bytes));
}

static void durations(void **state)
{
	static const struct {
		const char	*text;
		uint64_t	nsec;
	} good[] = {
		{ "5", 5000000000 }, { "1.5s", 1500000000 }, { "20ms", 20000000 },
		{ "2m", 120000000000 }, { "2min", 120000000000 }, { "1h", 3600000000000 },
		{ "50us", 50000 }, { "7ns", 7 }, { "0.25us", 250 },
	};
	static const char *const bad[] = { "", "0", "-1", " 1", "inf", "1x", "1 s", "1e30", "s",
		"1.", ".5", "0.0ms",
		"99999999999h", "2000000000s" };
	uint64_t nsec;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(parse_duration(good[i].text, &nsec));
		assert_true(nsec == good[i].nsec);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(parse_duration(bad[i], &nsec));
}

static void modes(void **state)
{
	uint32_t mode;

	(void)state;
	assert_true(parse_mode("overwrite", &mode));
	assert_int_equal(mode, HYPTRACE_MODE_OVERWRITE);
	assert_true(parse_mode("discard", &mode));
	assert_int_equal(mode, HYPTRACE_MODE_DISCARD);
	assert_false(parse_mode("", &mode));
	assert_false(parse_mode("Discard", &mode));
}

static void cpu_lists(void **state)
{
	static const char *const bad[] = {
		"", ",", "0,", ",0", "0,,1", "-", "0-", "-1", "2-1", "0-1-2", "a", "0 1", "All",
		"65536", "0-65536", "0-99999999999999999999", "1-0x", "0;1", "4294967296",
	};
	struct cpu_list list;
	size_t i;

	(void)state;
	assert_true(parse_cpu_list("all", &list));
	assert_true(list.all);
	assert_true(cpu_list_has(&list, 12345));

	assert_true(parse_cpu_list("5,0,2-3,3,0-0", &list));
	assert_false(list.all);
	assert_int_equal(list.nr, 4);
	assert_int_equal(list.ids[0], 0);
	assert_int_equal(list.ids[1], 2);
	assert_int_equal(list.ids[2], 3);
	assert_int_equal(list.ids[3], 5);
	assert_true(cpu_list_has(&list, 3));
	assert_false(cpu_list_has(&list, 1));
	cpu_list_free(&list);
	assert_int_equal(list.nr, 0);
	assert_false(cpu_list_has(&list, 0));

	assert_true(parse_cpu_list("0-65535,0-65535,0-65535", &list));
	assert_int_equal(list.nr, CPU_LIMIT);
	cpu_list_free(&list);

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(parse_cpu_list(bad[i], &list));
}

static struct hyptrace_event events[] = {
	{ .name = "hyp_enter" }, { .name = "hyp_exit" }, { .name = "selftest" },
};

#define NR_EVENTS 3

static struct event_choice choice;

static void select_words(const char *const *words, unsigned int nr_words)
{
	event_choice_free(&choice);
	lists_begin();
	select_events(event_list(events, NR_EVENTS), NR_EVENTS, words, nr_words, &choice);
}

static void event_names(void **state)
{
	const char *all[] = { "all" }, *glob[] = { "hyp_*" };
	const char *twice[] = { "hyp_e*", "hyp_exit", "all", "*" };
	const char *unknown[] = { "nothing", "selftest", "zzz*", "nothing", "", "hyp_e" };
	const char *set[] = { "hyp_e[nx]*", "self?est" };

	(void)state;
	select_words(all, 1);
	assert_int_equal(choice.nr, 3);
	select_words(glob, 1);
	assert_int_equal(choice.nr, 2);
	assert_int_equal(choice.nr_unknown, 0);
	assert_string_equal(choice.names[0], "hyp_enter");
	assert_string_equal(choice.names[1], "hyp_exit");
	select_words(twice, 4);
	assert_int_equal(choice.nr, 3);
	assert_string_equal(choice.names[2], "selftest");
	select_words(set, 2);
	assert_int_equal(choice.nr, 3);

	/* each unknown word is reported, and only once */
	select_words(unknown, 6);
	assert_int_equal(choice.nr, 1);
	assert_int_equal(choice.nr_unknown, 4);
	assert_string_equal(choice.unknown[0], "nothing");
	assert_string_equal(choice.unknown[1], "zzz*");
	assert_string_equal(choice.unknown[2], "");
	assert_string_equal(choice.unknown[3], "hyp_e");
	event_choice_free(&choice);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(sizes),
		cmocka_unit_test(durations),
		cmocka_unit_test(modes),
		cmocka_unit_test(cpu_lists),
		cmocka_unit_test(event_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
