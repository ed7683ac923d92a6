// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines that the library prints in steps must equal those of libtraceevent. Where that does
 * not sign-extend a narrow field, they must equal those of C.
 */
#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/digits.h"
#include "event_lists.h"
#include "hyp_list.h"

#define MAX_EVENTS	512
#define MAX_PAYLOAD	64
#define NAME		"event"
#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

static struct hyptrace_event events[MAX_EVENTS];
static unsigned int nr_events;
static struct hyptrace_formats *formats;
static uint64_t seed = 1;

static uint64_t noise(void)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return seed >> 32 ^ seed << 31;
}

/* Random numbers: many small ones, and many with all high bits set. */
static uint64_t noisy_value(void)
{
	uint64_t value = noise() >> noise() % 64;

	return noise() % 4 ? value : ~value;
}

static struct hyptrace_event *add(const char *name, const char *print_fmt, uint32_t size,
				  struct hyptrace_field *fields, unsigned int nr_fields)
{
	struct hyptrace_event *event = &events[nr_events];

	assert_in_range(nr_events, 0, MAX_EVENTS - 1);
	*event = (struct hyptrace_event) {
		.id = ++nr_events,
		.size = size,
		.print_fmt = (char *)print_fmt,
		.fields = field_list(fields, nr_fields),
		.nr_fields = nr_fields,
	};
	snprintf(event->name, sizeof(event->name), "%s", name);
	return event;
}

static int setup(void **state)
{
	(void)state;
	nr_events = 0;
	lists_begin();
	return 0;
}

static void begin(const char *before, const char *after)
{
	formats = hyptrace_formats_new(event_list(events, nr_events), nr_events, NULL);
	assert_non_null(formats);
	hyptrace_formats_set_raw(formats);
	assert_int_equal(hyptrace_formats_lines(formats, before, after, NULL), 0);
}

static int teardown(void **state)
{
	(void)state;
	hyptrace_formats_free(formats);
	formats = NULL;
	return 0;
}

/* The memory has exactly the promised sizes, so that ASan reports accesses beyond it. */
static char *line_of(const struct hyptrace_event *event, const void *payload, uint32_t size)
{
	void *data = malloc(size);
	char *line = malloc(HYPTRACE_LINE_MAX), *end, *text = NULL;
	struct hyptrace_record rec = { .data = data, .size = size };
	const uint16_t id = event->id;

	memcpy(data, payload, size);
	if (size >= sizeof(id))
		memcpy(data, &id, sizeof(id));
	end = hyptrace_formats_line(formats, &rec, line);
	if (end) {
		assert_in_range(end - line, 0, HYPTRACE_LINE_MAX);
		text = strndup(line, end - line);
	}
	free(line);
	free(data);
	return text;
}

static void expect(const struct hyptrace_event *event, const void *payload, const char *expected)
{
	char *line = line_of(event, payload, event->size);

	assert_non_null(line);
	assert_string_equal(line, expected);
	free(line);
}

/* Print the line in steps and with libtraceevent, and compare. */
static void compare(const struct hyptrace_event *event, const void *payload)
{
	char data[MAX_PAYLOAD], expected[HYPTRACE_LINE_MAX];
	struct hyptrace_record rec = { .data = data, .size = event->size };
	const uint16_t id = event->id;
	const char *text;
	size_t len;

	memcpy(data, payload, event->size);
	memcpy(data, &id, sizeof(id));
	text = hyptrace_formats_text(formats, event, &rec, &len);
	snprintf(expected, sizeof(expected), "%s: %s", event->name, text);
	expect(event, payload, expected);
}

/* Avoid negative numbers of less than 32 bits: libtraceevent prints them wrong. */
static void spare_narrow(const struct hyptrace_event *event, unsigned char *payload)
{
	unsigned int i, j;

	for (i = 0; i < event->nr_fields; i++) {
		const struct hyptrace_field *field = event->fields[i];

		for (j = 0; field->is_signed && field->size < 4 && j < field->size; j++)
			payload[field->offset + j] &= 0x7f;
	}
}

static void hyp_events(void **state)
{
	unsigned char payload[MAX_PAYLOAD];
	unsigned int i, j, round, nr;

	(void)state;
	for (i = 0; i < COUNT(hyp_list); i++) {
		struct hyptrace_field *list = hyp_list[i].fields(&nr);

		add(hyp_list[i].name, hyp_list[i].print_fmt, hyp_list[i].size, list, nr);
	}
	begin("", ": ");
	for (i = 0; i < nr_events; i++) {
		assert_in_range(events[i].size, 2, sizeof(payload));
		for (round = 0; round < 3000; round++) {
			for (j = 0; j < sizeof(payload); j++)
				payload[j] = noise() % 3 ? noise() % 16 : noise();
			spare_narrow(&events[i], payload);
			compare(&events[i], payload);
		}
	}
}

/* A field of each width and sign, at offsets of two bytes and more */
static struct hyptrace_field fields[] = {
	{ "u1", "u8", 2, 1, false, NULL, 0 },	{ "s1", "s8", 3, 1, true, NULL, 0 },
	{ "u2", "u16", 4, 2, false, NULL, 0 },	{ "s2", "s16", 6, 2, true, NULL, 0 },
	{ "u4", "u32", 8, 4, false, NULL, 0 },	{ "s4", "int", 12, 4, true, NULL, 0 },
	{ "u8", "u64", 16, 8, false, NULL, 0 },	{ "s8", "s64", 24, 8, true, NULL, 0 },
};

#define FIELDS_SIZE	32

static int64_t put_value(unsigned char *payload, const struct hyptrace_field *field, uint64_t value)
{
	struct hyptrace_record rec = { .data = payload, .size = FIELDS_SIZE };

	/* store the low bytes of the value */
	memcpy(payload + field->offset,
	       (char *)&value + (htobe16(1) == 1 ? 8 - field->size : 0), field->size);
	assert_int_equal(hyptrace_field_value(field, &rec, &value), 0);
	return value;
}

static void print_fmt(char *to, size_t size, const char *format, const char *field)
{
	snprintf(to, size, "\"%s\", REC->%s", format, field);
}

static void numbers(void **state)
{
	static const char *const conversions[] = {
		"%d", "%i", "%u", "%x", "%ld", "%lu", "%lx", "%lld", "%llu", "%llx", "%lli",
	};
	static char fmts[COUNT(conversions) * COUNT(fields)][64];
	unsigned char payload[FIELDS_SIZE];
	unsigned int i, j, round;
	char number[64], expected[128];

	(void)state;
	for (i = 0; i < COUNT(fmts); i++) {
		print_fmt(fmts[i], sizeof(fmts[i]), conversions[i / COUNT(fields)],
			  fields[i % COUNT(fields)].name);
		add(NAME, fmts[i], FIELDS_SIZE, fields, COUNT(fields));
		snprintf(events[i].name, sizeof(events[i].name), NAME "%u", i);
	}
	begin("", ": ");

	for (i = 0; i < COUNT(fmts); i++) {
		const struct hyptrace_field *field = &fields[i % COUNT(fields)];
		const char *conversion = conversions[i / COUNT(fields)];
		bool is_long = strchr(conversion, 'l');

		for (round = 0; round < 300; round++) {
			int64_t value;

			for (j = 0; j < sizeof(payload); j++)
				payload[j] = noise();
			value = put_value(payload, field, round ? noisy_value() : 0);
			if (!is_long && field->size == 8) {
				/* undefined in C */
				assert_null(line_of(&events[i], payload, FIELDS_SIZE));
				continue;
			}
			if (is_long)
				snprintf(number, sizeof(number), conversion, (long long)value);
			else
				snprintf(number, sizeof(number), conversion, (int)value);
			snprintf(expected, sizeof(expected), "%s: %s", events[i].name, number);
			expect(&events[i], payload, expected);
			if (value >= 0 || field->size == (is_long ? 8 : 4))
				compare(&events[i], payload);
		}
	}
}

static void symbols(void **state)
{
	static const char *const tables[] = {
		/* without gaps, unordered, with gaps, a value twice, a gap of two, large */
		"{ 0, \"a\" }, { 1, \"bc\" }, { 2, \"def\" }, { 3, \"\" }",
		"{ 9, \"nine\" }, { 7, \"seven\" }, { 8, \"eight\" }",
		"{ 1, \"one\" }, { 2, \"two\" }, { 4, \"four\" }, { 8, \"eight\" }, { 13, \"more\" }",
		"{ 5, \"first\" }, { 6, \"other\" }, { 5, \"second\" }",
		"{ 5, \"first\" }, { 7, \"other\" }, { 5, \"second\" }",
		"{ 1, \"one\" }, { 4, \"four\" }",
		"{ 0x80, \"x\" }, { 0x7fffffff, \"y\" }, { 0x7fffffffffffffff, \"z\" }, { 0, \"o\" }",
		"{ 3, \"a name that takes more than the block of 32 bytes that is copied first\" }",
	};
	static const uint64_t hits[] = { 0x80, 0x7fffffff, INT64_MAX, UINT64_MAX };
	static char fmts[COUNT(tables) * COUNT(fields)][256];
	unsigned char payload[FIELDS_SIZE] = {};
	unsigned int i, round;

	(void)state;
	for (i = 0; i < COUNT(fmts); i++) {
		snprintf(fmts[i], sizeof(fmts[i]),
			 "\"is %%s, %%u\", __print_symbolic(REC->%s, %s), REC->u1",
			 fields[i % COUNT(fields)].name, tables[i / COUNT(fields)]);
		add(NAME, fmts[i], FIELDS_SIZE, fields, COUNT(fields));
		snprintf(events[i].name, sizeof(events[i].name), NAME "%u", i);
	}
	begin("", ": ");
	for (i = 0; i < COUNT(fmts); i++) {
		const struct hyptrace_field *field = &fields[i % COUNT(fields)];

		for (round = 0; round < 200; round++) {
			uint64_t value = noisy_value();

			if (round < 20)
				value = round;
			else if (round - 20 < COUNT(hits))
				value = hits[round - 20];
			if (put_value(payload, field, value) >= 0 || field->size == 8)
				compare(&events[i], payload);
		}
	}

	/* as in the kernel: extended to the size of a long */
	put_value(payload, &fields[0], 0);
	put_value(payload, &fields[1], -2);
	expect(&events[1], payload, NAME "1: is 0xfffffffffffffffe, 0");
}

/* Names before and after the value, and texts that need more than one block of memory */
static void texts(void **state)
{
	const unsigned char payload[FIELDS_SIZE] = { 0, 0, 7 };

	(void)state;
	add("none", "\"hello\"", FIELDS_SIZE, fields, COUNT(fields));
	add("empty", "\"\"", 2, NULL, 0);
	add("percent", "\"~100%% of %u%%\", REC->u1", FIELDS_SIZE, fields, COUNT(fields));
	add("long", "\"a text that is longer than two blocks of thirty-two bytes each: %u and %u more\", REC->u1, REC->u1",
	    FIELDS_SIZE, fields, COUNT(fields));
	add("tight", "\"%u%u%u\", REC->u1, REC->u2, REC->u1", FIELDS_SIZE, fields, COUNT(fields));
	add("number", "\"%u\", REC->common_type", sizeof(uint16_t), NULL, 0);
	add("two", "\"%s %s\", __print_symbolic(REC->u1, { 1, \"a\" }), __print_symbolic(REC->u1, { 7, \"b\" })",
	    FIELDS_SIZE, fields, COUNT(fields));
	begin("<", "> ");
	expect(&events[0], payload, "<none> hello");
	expect(&events[1], payload, "<empty> ");
	expect(&events[2], payload, "<percent> ~100% of 7%");
	expect(&events[3], payload,
	       "<long> a text that is longer than two blocks of thirty-two bytes each: 7 and 7 more");
	expect(&events[4], payload, "<tight> 707");
	expect(&events[5], payload, "<number> 6");
	/* each __print_symbolic() has its own names */
	expect(&events[6], payload, "<two> 0x7 b");

	/* again, with escape sequences for a terminal */
	assert_int_equal(hyptrace_formats_lines(formats, "\033[1m", "\033[0m: ", NULL), 0);
	expect(&events[0], payload, "\033[1mnone\033[0m: hello");
}

/* The library reads eight bytes per field: let fields and payloads end earlier. */
static void small_payloads(void **state)
{
	static struct hyptrace_field byte = { "b", "u8", 0, 1, false, NULL, 0 };
	static struct hyptrace_field at[12];
	static char names[12][16];
	unsigned char payload[12] = { 0, 0, 12, 23, 34, 45, 56, 67, 78, 89, 90, 101 };
	unsigned int size;
	char expected[32];

	(void)state;
	for (size = 3; size <= sizeof(payload); size++) {
		at[size - 1] = byte;
		at[size - 1].offset = size - 1;
		snprintf(names[size - 1], sizeof(names[0]), "size%u", size);
		add(names[size - 1], "\"b=%u\", REC->b", size, &at[size - 1], 1);
	}
	begin("", ": ");
	for (size = 3; size <= sizeof(payload); size++) {
		snprintf(expected, sizeof(expected), "size%u: b=%u", size, payload[size - 1]);
		expect(&events[size - 3], payload, expected);
	}
}

#define SIXTY	"sixty bytes take most of the room that a line has in memory: "

/* Lines of short payloads are remembered, many at the same place. Each payload has its own line. */
static void remembered(void **state)
{
	static struct hyptrace_field list[] = {
		{ "first", "u16", 2, 2, false, NULL, 0 }, { "last", "u16", 8, 2, false, NULL, 0 },
	};
	static const struct hyptrace_event unknown = { .id = 0 };
	uint16_t payload[6] = {}, zeros[6] = {};
	char expected[32];
	unsigned int i;

	(void)state;
	add("short", "\"%u %u\", REC->first, REC->last", sizeof(payload), list, 2);
	add("long", "\"" SIXTY "%u\", REC->last", sizeof(payload), list, 2);
	begin("", ": ");
	for (i = 0; i < 4000; i++) {
		payload[1] = i / 2 < 1000 ? i / 2 : 1000;
		payload[4] = i / 2 - payload[1];
		snprintf(expected, sizeof(expected), "short: %u %u", payload[1], payload[4]);
		expect(&events[0], payload, expected);
		assert_null(line_of(&unknown, zeros, sizeof(zeros)));
	}
	/* a payload that is too short has the same first and last bytes */
	memcpy(payload, (uint16_t[]){ 1, 5, 1, 5, 1, 5 }, sizeof(payload));
	for (i = 0; i < 2; i++) {
		expect(&events[0], payload, "short: 5 1");
		assert_null(line_of(&events[0], payload, 8));
	}
	for (i = 0; i < 4; i++) {
		payload[4] = i % 2;
		expect(&events[1], payload, i % 2 ? "long: " SIXTY "1" : "long: " SIXTY "0");
	}
}

/* Formats that the library leaves to libtraceevent */
static void left_alone(void **state)
{
	static struct hyptrace_field list[] = {
		{ "n", "u32", 4, 4, false, NULL, 0 },	{ "wide", "u64", 8, 8, false, NULL, 0 },
		{ "text", "char[8]", 16, 8, false, NULL, 0 },
		{ "loc", "__data_loc u32", 24, 4, false, NULL, 0 },
	};
	static struct hyptrace_field outside[] = { { "n", "u32", 30, 4, false, NULL, 0 } };
	static const char *const fmts[] = {
		"\"%s\", REC->text", "\"%-8d|\", REC->n", "\"%+d\", REC->n", "\"%.3d\", REC->n",
		"\"% 5d\", REC->n", "\"%hhd\", REC->n", "\"%hd\", REC->n", "\"%o\", REC->n", "\"%p\", REC->wide",
		"\"%X\", REC->n", "\"%#x\", REC->n", "\"%08x\", REC->n", "\"%8d\", REC->n",
		"\"%016llx\", REC->wide", "\"%s\", __print_flags(REC->n, \"|\", { 1, \"a\" })",
		"\"%#d\", REC->n", "\"%33d\", REC->n", "\"%d\", REC->wide", "\"%x\", REC->wide",
		"\"%lu\", (unsigned long)REC->n", "\"%d\", REC->n + 1", "\"%d\", 5", "\"%d\"",
		"\"%s\", REC->n ? \"yes\" : \"no\"", "\"tab\\tulated %d\", REC->n",
		"\"%s\", __print_hex(REC->text, 4)", "\"%10s\", __print_symbolic(REC->n, { 1, \"a\" })",
		"\"%s\", __print_symbolic(REC->n, { -1, \"a\" })",
		"\"%s\", __print_symbolic(REC->n + 1, { 1, \"a\" })",
		"\"%s\", __print_symbolic(REC->wide, { 0x8000000000000000, \"a\" })",
		"\"%s\", __print_symbolic(REC->n, { 1x, \"a\" })",
		"\"%s\", __print_symbolic(REC->n, { 1, \"a\\tb\" })",
		"\"\\tabulated %d\", REC->n", "\"%d\\n\", REC->n",
		"\"%s\", __print_symbolic(REC->n, { 1, \"\\tb\" })",
		"\"%s\", __print_flags(REC->wide, \"\\t\", { 1, \"a\" })",
		"\"%s\", __print_flags(REC->wide, \"|\", { 0x8000000000000000, \"a\" })",
		"\"%s\", kernel_function(REC->n", "\"\303\244 %d\", REC->n",
		"\"line\nfeed %d\", REC->n", "\"%d\", REC->n, kernel_function(REC->n",
		"\"%u\", REC->loc", "\"%llu\", REC->text", "\"%u\", REC->nothing",
		"\"%llu\", (wide)REC->n", "\"%d\", n",
	};
	const unsigned char payload[FIELDS_SIZE] = { 0 };
	static char longer[HYPTRACE_LINE_MAX];
	unsigned int i;

	(void)state;
	for (i = 0; i < COUNT(fmts); i++) {
		add(NAME, fmts[i], FIELDS_SIZE, list, COUNT(list));
		snprintf(events[i].name, sizeof(events[i].name), NAME "%u", i);
	}
	add("outside", "\"%d\", REC->n", FIELDS_SIZE, outside, 1);
	/* this line would fit without the number */
	memset(longer, 'x', sizeof(longer) - 1);
	memcpy(longer, "\"%u", 3);
	strcpy(longer + sizeof(longer) - 50, "\", REC->n");
	add("longer", longer, FIELDS_SIZE, list, COUNT(list));
	begin("", ": ");
	for (i = 0; i < nr_events; i++)
		assert_null(line_of(&events[i], payload, FIELDS_SIZE));
}

/* A line may need the name, the text, a number of each width, and some slack. */
#define LONGEST_NUMBER	22

/* The longest line that fits, and one that is longer by one byte. */
static void line_limit(void **state)
{
	static struct hyptrace_field wide = { "n", "u64", 8, 8, false, NULL, 0 };
	static char fits[HYPTRACE_LINE_MAX + 16], longer[HYPTRACE_LINE_MAX + 16];
	const unsigned int len = HYPTRACE_LINE_MAX - DIGITS_SLACK - LONGEST_NUMBER -
				 strlen("fits: ");
	unsigned char payload[FIELDS_SIZE];
	char expected[HYPTRACE_LINE_MAX + 1];

	(void)state;
	snprintf(fits, sizeof(fits), "\"%%llu%0*u\", REC->n", len, 0);
	snprintf(longer, sizeof(longer), "\"%%llu%0*u\", REC->n", len + 1, 0);
	add("fits", fits, FIELDS_SIZE, &wide, 1);
	add("more", longer, FIELDS_SIZE, &wide, 1);
	begin("", ": ");
	memset(payload, 0xff, sizeof(payload));
	snprintf(expected, sizeof(expected), "fits: %llu%0*u", ~0ULL, len, 0);
	expect(&events[0], payload, expected);
	assert_null(line_of(&events[1], payload, FIELDS_SIZE));
	/* a longer lead also counts */
	assert_int_equal(hyptrace_formats_lines(formats, "", "::", NULL), 0);
	expected[4] = ':';
	expected[5] = ':';
	expect(&events[0], payload, expected);
	assert_int_equal(hyptrace_formats_lines(formats, "", ":: ", NULL), 0);
	assert_null(line_of(&events[0], payload, FIELDS_SIZE));
}

#define LONG_NAME	"a name of thirty-three characters"

/* Names count with the most that they may need. */
static void line_limit_of_names(void **state)
{
	static const struct {
		const char	*conversion;
		const char	*value;
		unsigned int	needs;
	} values[] = {
		{ "%llu", "REC->u8", LONGEST_NUMBER },
		{ "%s", "__print_symbolic(REC->u8, { 1, \"" LONG_NAME "\" }, { 2, \"x\" })", 33 },
		{ "%s", "__print_symbolic(REC->u8, { 1, \"short\" })", LONGEST_NUMBER },
	};
	static char fmts[COUNT(values)][HYPTRACE_LINE_MAX + 256];
	unsigned char payload[FIELDS_SIZE] = {};
	unsigned int i, more, len;
	char *line;

	for (more = 0; more < 2; more++) {
		setup(state);
		for (i = 0; i < COUNT(values); i++) {
			len = HYPTRACE_LINE_MAX - DIGITS_SLACK - values[i].needs -
			      strlen("name0: ");
			snprintf(fmts[i], sizeof(fmts[i]), "\"%s%0*u\", %s", values[i].conversion,
				 len + more, 0, values[i].value);
			add("name0", fmts[i], FIELDS_SIZE, fields, COUNT(fields));
			events[i].name[4] += i;
		}
		begin("", ": ");
		for (i = 0; i < COUNT(values); i++) {
			put_value(payload, &fields[6], i ? 3 : UINT64_MAX);
			line = line_of(&events[i], payload, FIELDS_SIZE);
			assert_int_equal(!line, more);
			free(line);
		}
		teardown(state);
	}
}

static void no_such_record(void **state)
{
	static const struct hyptrace_event unknown = { .id = 77 }, zero = { .id = 0 };
	const unsigned char payload[FIELDS_SIZE] = { 0 };

	(void)state;
	add("some", "\"%u\", REC->s8", FIELDS_SIZE, fields, COUNT(fields));
	add("known", "\"%u\", REC->u1", FIELDS_SIZE, fields, COUNT(fields));
	begin("", ": ");
	expect(&events[1], payload, "known: 0");
	assert_null(line_of(&events[1], payload, FIELDS_SIZE - 1));
	assert_null(line_of(&events[1], payload, 2));
	assert_null(line_of(&events[1], payload, 1));
	assert_null(line_of(&unknown, payload, FIELDS_SIZE));
	assert_null(line_of(&zero, payload, FIELDS_SIZE));
}

static void digits(void **state)
{
	char text[DIGITS_MAX + DIGITS_SLACK], expected[32];
	uint64_t power = 1, value;
	unsigned int i;

	(void)state;
	for (i = 0; i < 20000; i++) {
		/* numbers around each power of ten, then random ones */
		if (i % 3 == 0 && i < 60 && i)
			power *= 10;
		value = i < 60 ? power - 1 + i % 3 : noisy_value();

		snprintf(expected, sizeof(expected), "%llu", (unsigned long long)value);
		*hyptrace_digits_decimal(text, value) = '\0';
		assert_string_equal(text, expected);
		snprintf(expected, sizeof(expected), "%llx", (unsigned long long)value);
		*hyptrace_digits_hex(text, value) = '\0';
		assert_string_equal(text, expected);
		snprintf(expected, sizeof(expected), "%04u", (unsigned int)(value % 10000));
		*hyptrace_digits_four(text, value % 10000) = '\0';
		assert_string_equal(text, expected);
	}
	/* all values of each half of eight digits */
	for (i = 0; i < 10000; i++) {
		snprintf(expected, sizeof(expected), "%u", i);
		*hyptrace_digits_decimal(text, i) = '\0';
		assert_string_equal(text, expected);
		snprintf(expected, sizeof(expected), "%u", i * 10000 + 9999 - i);
		*hyptrace_digits_decimal(text, i * 10000 + 9999 - i) = '\0';
		assert_string_equal(text, expected);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(hyp_events), TEST(numbers), TEST(symbols), TEST(texts),
		TEST(small_payloads), TEST(remembered), TEST(left_alone), TEST(line_limit),
		TEST(line_limit_of_names), TEST(no_such_record), TEST(digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
