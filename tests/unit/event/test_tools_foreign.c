// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which print formats of a file libtraceevent prints: not those that read as far as a record says,
 * or divide by what it says. And records that it gets: not those that are too short for a field.
 */
#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event/format.h"
#include "fail_alloc.h"

#define FIELDS \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n" \
	"\tfield:u32 n;\toffset:4;\tsize:4;\tsigned:0;\n" \
	"\tfield:u8 list[16];\toffset:8;\tsize:16;\tsigned:0;\n" \
	"\tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:0;\n" \
	"\tfield:__data_loc u8[] more;\toffset:28;\tsize:4;\tsigned:0;\n" \
	"\tfield:__data_loc unsigned long[] cpus;\toffset:32;\tsize:4;\tsigned:0;\n"
#define SIZE	36

/* As the reader of files makes it */
static struct hyptrace_field fields[] = {
	{ .name = "n", .type = "u32", .offset = 4, .size = 4 },
	{ .name = "list", .type = "u8[16]", .offset = 8, .size = 16 },
	{ .name = "name", .type = "__data_loc char[]", .offset = 24, .size = 4 },
	{ .name = "more", .type = "__data_loc u8[]", .offset = 28, .size = 4 },
	{ .name = "cpus", .type = "__data_loc unsigned long[]", .offset = 32, .size = 4 },
};

static struct hyptrace_field *list[] = {
	&fields[0], &fields[1], &fields[2], &fields[3], &fields[4], NULL
};

static struct hyptrace_event event = {
	.name = "tick", .id = 7, .size = SIZE, .fields = list, .nr_fields = 5,
};

/* libtraceevent forgets some memory of formats that it cannot parse */
const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent.so";
}

static struct tep_handle *parse(const char *fmt, struct tep_event **found)
{
	const enum tep_endian order = htole16(1) == 1 ? TEP_LITTLE_ENDIAN : TEP_BIG_ENDIAN;
	struct tep_handle *tep = tep_alloc();
	char text[4096];

	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_file_bigendian(tep, order);
	tep_set_local_bigendian(tep, order);
	tep_set_long_size(tep, 8);
	snprintf(text, sizeof(text), "name: tick\nID: 7\nformat:\n%s\nprint fmt: %s\n", FIELDS,
		 fmt);
	tep_parse_event(tep, text, strlen(text), "test");
	*found = tep_find_event(tep, 7);
	return tep;
}

static void is_safe(bool expected, const char *argument)
{
	struct tep_handle *tep;
	struct tep_event *found, *safe;
	char fmt[2048];

	snprintf(fmt, sizeof(fmt), "\"%%s\", %s", argument);
	tep = parse(fmt, &found);
	assert_non_null(found);
	safe = hyptrace_safe_event(found);
	if (!!safe != expected || (safe && safe != found))
		fail_msg("%s is %s", argument, safe ? "printed" : "not printed");
	tep_free(tep);
}

static void arguments(void **state)
{
	static const char *const good[] = {
		"1", "REC->n", "-REC->n", "REC->n + 1", "REC->n / 2", "REC->n % 2", "(u8)REC->n",
		"REC->n ? 1 : 2", "\"text\"", "__get_str(name)", "__get_dynamic_array(more)",
		"__get_dynamic_array_len(more)",
		"__print_symbolic(REC->n, { 1, \"a\" })", "__print_flags(REC->n, \"|\", { 1, \"a\" })",
		"__print_hex(REC->list, 16)", "__print_hex(REC->list, 64)",
		"__print_hex_str(REC->list, 16)", "__print_hex(__get_dynamic_array(more), 8)",
		"__print_hex(__get_dynamic_array(more), __get_dynamic_array_len(more))",
		"__print_array(REC->list, 16, 1)",
		"__print_array(__get_dynamic_array(more), __get_dynamic_array_len(more), 1)",
	};
	static const char *const bad[] = {
		"REC->n / REC->n", "REC->n % REC->n", "1 + REC->n / REC->n", "REC->n / REC->n + 1",
		"(u8)(REC->n / REC->n)", "REC->n ? REC->n / REC->n : 1", "REC->n ? 1 : REC->n % REC->n",
		"__get_str(n)", "__get_bitmask(cpus)", "__get_bitmask(n)", "REC->list[1]", "REC->list[REC->n]",
		"__print_symbolic(REC->n / REC->n, { 1, \"a\" })",
		"__print_flags(REC->n / REC->n, \"|\", { 1, \"a\" })",
		"__print_hex(REC->list, 65)", "__print_hex(REC->list, 0)", "__print_hex(REC->list, REC->n)",
		"__print_hex_str(REC->list, REC->n)",
		"__print_hex(REC->list, __get_dynamic_array_len(more))",
		"__print_hex(__get_dynamic_array(more), __get_dynamic_array_len(name))",
		"__print_hex(1, 16)",
		"__print_array(REC->list, 16, 2)", "__print_array(REC->list, 16, REC->n)",
		"__print_array(REC->list, 65, 1)", "__print_array(REC->list, REC->n, 1)",
		"((u32 *)__get_dynamic_array(more))[1]",
	};
	char deep[1024] = "";
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(*good); i++)
		is_safe(true, good[i]);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		is_safe(false, bad[i]);
	/* all arguments, not just the first */
	is_safe(false, "1, REC->n / REC->n");
	is_safe(false, "REC->n / REC->n, 1");
	for (i = 0; i < 60; i++)
		strcat(deep, "(u8)");
	strcat(deep, "1");
	is_safe(true, deep);
	for (i = 0; i < 8; i++)
		memmove(deep + 4, deep, strlen(deep) + 1);
	is_safe(false, deep);
}

/* Print a record of @size bytes. Return the text; NULL if it is not printed. */
static const char *print(struct tep_handle *tep, struct tep_event *found, const void *data,
			 uint32_t size)
{
	const struct hyptrace_record rec = { .ts = 1, .data = data, .size = size };
	static char text[512];
	struct trace_seq s;
	bool is_printed;

	trace_seq_init(&s);
	is_printed = hyptrace_foreign_print(tep, &s, found, &event, &rec);
	trace_seq_terminate(&s);
	snprintf(text, sizeof(text), "%s", s.buffer);
	trace_seq_destroy(&s);
	return is_printed ? text : NULL;
}

static void records(void **state)
{
	struct tep_event *found;
	struct tep_handle *tep = parse("\"n=%u %s!\", REC->n, __get_str(name)", &found);
	/* a name of 4 bytes behind the fields, without its NUL */
	const uint32_t where = SIZE | 4 << 16, n = 5, none = 0;
	char data[SIZE + 8] = {};
	static char big[65537];

	(void)state;
	memcpy(data, "\7", 1);
	memcpy(data + 4, &n, 4);
	memcpy(data + 24, &where, 4);
	memcpy(data + SIZE, "abcd", 4);
	assert_string_equal(print(tep, found, data, SIZE + 4), "n=5 abcd!");
	/* it ends in the name, or in a field */
	assert_null(print(tep, found, data, SIZE + 3));
	assert_null(print(tep, found, data, SIZE - 1));
	assert_null(print(tep, found, data, 0));
	memcpy(data + 24, &none, 4);
	assert_string_equal(print(tep, found, data, SIZE), "n=5 !");
	assert_null(print(tep, NULL, data, SIZE));
	memcpy(big, data, SIZE);
	assert_non_null(print(tep, found, big, 65536));
	assert_null(print(tep, found, big, 65537));
	fail_alloc(1);
	assert_null(print(tep, found, data, SIZE));
	assert_true(fail_alloc_end());
	tep_free(tep);

	/* line ends, as trace_printk() has them */
	tep = parse("\"a\nb\n\n\"", &found);
	tep_free(tep);
	tep = parse("\"%s\", __get_str(name)", &found);
	memcpy(data + 24, &where, 4);
	memcpy(data + SIZE, "ab\n\n", 4);
	assert_string_equal(print(tep, found, data, SIZE + 4), "ab");
	memcpy(data + SIZE, "\n\n\n\n", 4);
	assert_string_equal(print(tep, found, data, SIZE + 4), "");
	tep_free(tep);
}

/* Without a format that it has understood, an event is not printed. */
static void failed_formats(void **state)
{
	struct tep_event *found;
	struct tep_handle *tep = parse("\"%u\", REC->n", &found);

	(void)state;
	assert_ptr_equal(hyptrace_safe_event(found), found);
	found->flags |= TEP_EVENT_FL_FAILED;
	assert_null(hyptrace_safe_event(found));
	assert_null(hyptrace_safe_event(NULL));
	tep_free(tep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments),
		cmocka_unit_test(records),
		cmocka_unit_test(failed_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
