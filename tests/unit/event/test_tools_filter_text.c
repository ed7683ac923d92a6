// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is wrong with the text of a filter, and where.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "filter_case.h"
#include "filter_sample.h"

/* The caret stands below the character at fault. */
struct wrong {
	const char	*text;
	const char	*caret;
	const char	*why;
};

static void check(const struct wrong *wrong)
{
	struct hyptrace_error err = { .subject = "old" };
	size_t at = SIZE_MAX;

	if (filter_of(&sample_event, wrong->text, &at, &err))
		fail_msg("\"%s\" is parsed", wrong->text);
	if (at != strlen(wrong->caret) - 1)
		fail_msg("\"%s\": %s at %zu, not %zu", wrong->text, err.text, at,
			 strlen(wrong->caret) - 1);
	if (strcmp(err.text, wrong->why))
		fail_msg("\"%s\": %s", wrong->text, err.text);
	assert_int_equal(err.errnum, EINVAL);
	assert_string_equal(err.subject, "");
	/* the reason and its place may be left out */
	assert_null(filter_of(&sample_event, wrong->text, NULL, NULL));
}

#define CHECK_ALL(list)							\
	do {								\
		unsigned int i;						\
									\
		for (i = 0; i < sizeof(list) / sizeof((list)[0]); i++)	\
			check(&(list)[i]);				\
	} while (0)

static void missing(void **state)
{
	static const struct wrong list[] = {
		{ "",
		  "^", "the filter is empty" },
		{ " \t\n",
		  "   ^", "the filter is empty" },
		{ "op",
		  "  ^", "an operator is missing after \"op\": use ==, !=, <, <=, >, >= or &" },
		{ "op && pfn == 1",
		  "   ^", "an operator is missing after \"op\": use ==, !=, <, <=, >, >= or &" },
		{ "op 1",
		  "   ^", "an operator is missing after \"op\": use ==, !=, <, <=, >, >= or &" },
		{ "op = 1",
		  "   ^", "\"=\" is no operator: use \"==\"" },
		{ "op => 1",
		  "   ^", "\"=\" is no operator: use \"==\"" },
		{ "op ==",
		  "     ^", "a value is missing after \"==\"" },
		{ "op >= ",
		  "      ^", "a value is missing after \">=\"" },
		{ "op == && pfn == 1",
		  "      ^", "a value is missing before \"&&\"" },
		{ "(op <)",
		  "     ^", "a value is missing before \")\"" },
		{ "op == \"share\"",
		  "      ^", "a value has no quotes" },
		{ "op == 'share'",
		  "      ^", "a value has no quotes" },
		{ "ret == -",
		  "        ^", "a number or the name of an errno is missing after \"-\"" },
		{ "ret == - 1",
		  "        ^", "a number or the name of an errno is missing after \"-\"" },
		{ "op == 1 &&",
		  "          ^", "a comparison is missing after \"&&\"" },
		{ "op == 1 || ",
		  "           ^", "a comparison is missing after \"||\"" },
		{ "(",
		  " ^", "a comparison is missing after \"(\"" },
		{ "()",
		  " ^", "a comparison is missing before \")\"" },
		{ "&& op == 1",
		  "^", "a comparison is missing before \"&&\"" },
		{ "op == 1 || || pfn == 1",
		  "           ^", "a comparison is missing before \"||\"" },
		{ "5 < pfn",
		  "^", "a comparison begins with a field, not with \"5\"" },
		{ "op == 1 && 0x10 < pfn",
		  "           ^", "a comparison begins with a field, not with \"0x10\"" },
		{ "op == 1 && -pfn > 2",
		  "           ^", "a comparison begins with a field, not with \"-\"" },
		{ "!(op == 1)",
		  "^", "\"!\" is no operator: use the opposite comparison" },
	};

	(void)state;
	CHECK_ALL(list);
}

static void after_a_comparison(void **state)
{
	static const struct wrong list[] = {
		{ "op == 1 pfn == 2",
		  "        ^", "\"&&\" or \"||\" is missing before \"pfn\"" },
		{ "op == 1 and pfn == 2",
		  "        ^", "\"&&\" or \"||\" is missing before \"and\"" },
		{ "op == 1 & 2",
		  "        ^", "\"&&\" or \"||\" is missing before \"&\"" },
		{ "pfn & 1 == 1",
		  "        ^", "a comparison has one operator: leave this out" },
		{ "(pfn & 1) == 1",
		  "          ^", "a comparison has one operator: leave this out" },
		{ "(op & 1) != 0",
		  "         ^", "a comparison has one operator: leave this out" },
		{ "op == 1 >= 2",
		  "        ^", "a comparison has one operator: leave this out" },
		{ "op == 1 | pfn == 2",
		  "        ^", "\"|\" is no operator: use \"||\"" },
		{ "op == 1 (pfn == 2)",
		  "        ^", "\"&&\" or \"||\" is missing before \"(\"" },
		{ "op == 1;",
		  "       ^", "\"&&\" or \"||\" is missing before \";\"" },
		{ "op == 1)",
		  "       ^", "\"(\" is missing for this \")\"" },
		{ "(op == 1) && pfn == 2)",
		  "                     ^", "\"(\" is missing for this \")\"" },
		{ "(op == 1",
		  "^", "\")\" is missing for this \"(\"" },
		{ "op == 1 && ((pfn == 2) || ret < 0 ",
		  "           ^", "\")\" is missing for this \"(\"" },
		{ "(op == 1 pfn == 2)",
		  "         ^", "\"&&\", \"||\" or \")\" is missing before \"pfn\"" },
		{ "op == 1 a23456789012345678901234567890123456789_123",
		  "        ^",
		  "\"&&\" or \"||\" is missing before "
		  "\"a23456789012345678901234567890123456789_\"" },
	};

	(void)state;
	CHECK_ALL(list);
}

static void numbers(void **state)
{
	static const struct wrong list[] = {
		{ "pfn == 18446744073709551616",
		  "       ^", "the number exceeds 64 bits" },
		{ "pfn == 0x10000000000000000",
		  "       ^", "the number exceeds 64 bits" },
		{ "res == -18446744073709551616",
		  "       ^", "the number exceeds 64 bits" },
		{ "pfn == 0x",
		  "         ^", "a hexadecimal digit is missing after \"0x\"" },
		{ "pfn == 0Xg",
		  "         ^", "a hexadecimal digit is missing after \"0X\"" },
		{ "duration > 1.5",
		  "            ^", "only a time with a unit can have a fraction" },
		{ "pfn == 1.5 && op == 1",
		  "        ^", "only a time with a unit can have a fraction" },
		{ "duration > 1.5ns",
		  "            ^", "a time consists of whole nanoseconds" },
		{ "duration > 1.2040001 us",
		  "            ^", "a time consists of whole nanoseconds" },
		{ "duration > 1.us",
		  "            ^", "\"&&\" or \"||\" is missing before \".\"" },
		{ "duration > 1.5min",
		  "              ^", "unknown unit \"min\": use ns, us, ms or s" },
		{ "duration > 18446744073.709551616s",
		  "           ^", "the time in nanoseconds exceeds 64 bits" },
		{ "duration > 5min",
		  "            ^", "unknown unit \"min\": use ns, us, ms or s" },
		{ "duration > 5u",
		  "            ^", "unknown unit \"u\": use ns, us, ms or s" },
		{ "pfn == 12ab",
		  "         ^", "unknown unit \"ab\": use ns, us, ms or s" },
		{ "duration > 18446744074s",
		  "           ^", "the time in nanoseconds exceeds 64 bits" },
		{ "duration > 50 usec",
		  "              ^", "\"&&\" or \"||\" is missing before \"usec\"" },
		{ "pfn > 5us",
		  "      ^", "\"pfn\" is not a time: use a number without a unit" },
	};

	(void)state;
	CHECK_ALL(list);
}

static void ranges(void **state)
{
	static const struct wrong list[] = {
		{ "op == 300",
		  "      ^", "the values of \"op\" are from 0 to 255" },
		{ "op & 256",
		  "     ^", "a mask of \"op\" has at most 8 bits" },
		{ "op == -1",
		  "      ^", "the values of \"op\" are from 0 to 255" },
		{ "step == 128",
		  "        ^", "the values of \"step\" are from -128 to 127" },
		{ "step == -129",
		  "        ^", "the values of \"step\" are from -128 to 127" },
		{ "step & 256",
		  "       ^", "a mask of \"step\" has at most 8 bits" },
		{ "step & -129",
		  "       ^", "a mask of \"step\" has at most 8 bits" },
		{ "step == -EHWPOISON",
		  "        ^", "the values of \"step\" are from -128 to 127" },
		{ "index == 65536",
		  "         ^", "the values of \"index\" are from 0 to 65535" },
		{ "delta < -32769",
		  "        ^", "the values of \"delta\" are from -32768 to 32767" },
		{ "handle == 0x100000000",
		  "          ^", "the values of \"handle\" are from 0 to 4294967295" },
		{ "ret == 0x80000000",
		  "       ^", "the values of \"ret\" are from -2147483648 to 2147483647" },
		{ "pfn == -1",
		  "       ^", "the values of \"pfn\" are from 0 to 18446744073709551615" },
		{ "pfn == -EPERM",
		  "       ^", "the values of \"pfn\" are from 0 to 18446744073709551615" },
		{ "res == 0x8000000000000000",
		  "       ^",
		  "the values of \"res\" are from -9223372036854775808 to 9223372036854775807" },
		{ "res == -0x8000000000000001",
		  "       ^",
		  "the values of \"res\" are from -9223372036854775808 to 9223372036854775807" },
	};

	(void)state;
	CHECK_ALL(list);
}

static void names(void **state)
{
	static const struct wrong list[] = {
		{ "pf == 1",
		  "^", "the event \"sample\" has no field \"pf\"; did you mean \"pfn\"?" },
		{ "oq == 1",
		  "^", "the event \"sample\" has no field \"oq\"; did you mean \"op\"?" },
		{ "op == 1 && xyzzy == 1",
		  "           ^", "the event \"sample\" has no field \"xyzzy\"" },
		{ "event == 7",
		  "^", "the event \"sample\" has no field \"event\"" },
		{ "op == donat",
		  "      ^", "the field \"op\" has no value \"donat\"; did you mean \"donate\"?" },
		{ "op == DONATE",
		  "      ^", "the field \"op\" has no value \"DONATE\"; did you mean \"donate\"?" },
		{ "op == lend && pfn == 1",
		  "      ^", "the field \"op\" has no value \"lend\"" },
		{ "pfn == share",
		  "       ^", "the values of \"pfn\" have no names: use a number" },
		{ "ret == EPERM",
		  "       ^",
		  "the name of an errno has a minus: use \"-EPERM\"" },
		{ "ret == DENIED",
		  "       ^", "the values of \"ret\" have no names: use a number" },
		{ "pfn == EPERM",
		  "       ^", "the values of \"pfn\" have no names: use a number" },
		{ "vm == 0x1000",
		  "^", "the event \"sample\" has no field \"vm\"; did you mean \"handle\"?" },
		{ "ret == -EPREM",
		  "       ^", "there is no errno \"EPREM\"; did you mean \"-EPERM\"?" },
		{ "ret == -xyzzy123",
		  "       ^", "there is no errno \"xyzzy123\"" },
		{ "name == 1",
		  "^", "the field \"name\" is not a number" },
		{ "beyond == 1",
		  "^", "the field \"beyond\" is not a number" },
	};

	(void)state;
	CHECK_ALL(list);
}

static void limits(void **state)
{
	static const struct wrong list[] = {
		{ "op==1||op==2||op==3||op==4||op==5||op==6||op==7||op==8||op==9",
		  "                                                        ^",
		  "a filter has at most 8 comparisons" },
		{ "op==1&&(op==2||op==3)&&(op==4||op==5||op==6)&&(op==7||op==8&&op==9)",
		  "                                                             ^",
		  "a filter has at most 8 comparisons" },
		{ "(((((((((((((((((op == 1)))))))))))))))))",
		  "                ^", "parentheses are nested more than 16 deep" },
	};
	struct hyptrace_filter *filter;

	(void)state;
	CHECK_ALL(list);
	filter = filter_of(&sample_event, "((((((((((((((((op == 1))))))))))))))))", NULL, NULL);
	assert_non_null(filter);
	hyptrace_filter_free(filter);
	/* that is how deep, not how many */
	filter = filter_of(&sample_event,
			   "((((((((op == 1))))))))||((((((((op == 1))))))))||((op == 1))", NULL,
			   NULL);
	assert_non_null(filter);
	hyptrace_filter_free(filter);
}

/* The message names the events that lack a field, the first of them if there are many. */
static void lacking_events(void **state)
{
	static struct hyptrace_event other = { .name = "other", .id = 8, .size = 8 };
	const struct hyptrace_event *const events[] = {
		&other, &sample_event, &other, &other, &other, &other, &other,
	};
	struct hyptrace_error err;
	size_t at;

	(void)state;
	assert_null(hyptrace_filter_new(events, 3, NULL, true, "pfn == 1", &at, &err));
	assert_string_equal(err.text, "the events \"other\", \"other\" have no field \"pfn\"");
	assert_null(hyptrace_filter_new(events, 7, NULL, true, "pfn == 1", &at, &err));
	assert_string_equal(err.text, "the events \"other\", \"other\", \"other\", \"other\" and 2 others have no field \"pfn\"");
}

/* One filter for two events needs the same number for a name. */
static void name_of_two_values(void **state)
{
	static struct hyptrace_symbol symbol = { 1, "share" }, *symbols[] = { &symbol };
	static struct hyptrace_field op = FIELD("u8", op, false, symbols, 1), *fields[] = { &op };
	static struct hyptrace_event other = {
		.name = "other", .id = 8, .size = SAMPLE_SIZE, .fields = fields, .nr_fields = 1,
	};
	const struct hyptrace_event *const events[] = { &sample_event, &other };
	struct hyptrace_error err;
	size_t at;

	(void)state;
	assert_null(hyptrace_filter_new(events, 2, NULL, true, "op == share || op == 2", &at,
					&err));
	assert_string_equal(err.text,
			    "\"share\" has different values in \"sample\" and \"other\": use two filters");
	assert_int_equal(at, strlen("op == "));
}

/* An event whose id is just too large for a record cannot meet a filter. */
static void too_large_id(void **state)
{
	struct hyptrace_event largest = { .name = "largest", .id = UINT16_MAX, .size = 8 };
	struct hyptrace_event larger = sample_event;
	const struct hyptrace_event *const events[] = { &largest, &larger };
	struct hyptrace_error err;

	(void)state;
	larger.id = UINT16_MAX + 1;
	assert_null(hyptrace_filter_new(events, 2, NULL, false, "op == 1", NULL, &err));
	assert_int_equal(err.errnum, EINVAL);
	assert_string_equal(err.text, "no event can meet this filter: none has all its fields and values");
}

/* Any beginning of a filter, with any character after it, is parsed or refused with a place. */
static void beginnings(void **state)
{
	static const char text[] =
		"(op == donate && (ret == -EPERM || pfn & 0xf0)) || duration > 50us && res <= -7";
	char part[sizeof(text) + 1] = "";
	struct hyptrace_filter *filter;
	struct hyptrace_error err;
	unsigned int len, c;
	size_t at;

	(void)state;
	for (len = 0; len < sizeof(text); len++) {
		for (c = 0; c < 256; c++) {
			memcpy(part, text, len);
			part[len] = c;
			part[len + 1] = '\0';
			at = SIZE_MAX;
			filter = filter_of(&sample_event, part, &at, &err);
			if (!filter)
				assert_in_range(at, 0, strlen(part));
			hyptrace_filter_free(filter);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing),
		cmocka_unit_test(after_a_comparison),
		cmocka_unit_test(numbers),
		cmocka_unit_test(ranges),
		cmocka_unit_test(names),
		cmocka_unit_test(lacking_events),
		cmocka_unit_test(name_of_two_values),
		cmocka_unit_test(too_large_id),
		cmocka_unit_test(limits),
		cmocka_unit_test(beginnings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
