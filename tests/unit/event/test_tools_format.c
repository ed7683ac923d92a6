// SPDX-License-Identifier: GPL-2.0-only
/*
 * Formatting of events as text, and of their fields as numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <event-parse.h>

#include "lib/internal.h"
#include "event_lists.h"
#include "fail_alloc.h"

struct enter {
	uint16_t	id;
	uint8_t		reason;
	int32_t		vcpu;
};

struct selftest {
	uint16_t	id;
	uint64_t	value;
};

static struct hyptrace_field reason = {
	"reason", "u8", offsetof(struct enter, reason), 1, false, NULL, 0
};

static struct hyptrace_field vcpu = {
	"vcpu", "pid_t", offsetof(struct enter, vcpu), 4, true, NULL, 0
};

static struct hyptrace_field value = {
	"id", "u64", offsetof(struct selftest, value), 8, false, NULL, 0
};

static struct hyptrace_field *enter_fields[] = { &reason, &vcpu };
static struct hyptrace_field *selftest_fields[] = { &value };

static struct hyptrace_event events[] = {
	{
		.name = "hyp_enter", .id = 1, .size = sizeof(struct enter),
		.print_fmt = "\"reason=%s vcpu=%d\", __print_symbolic(REC->reason, { 0, \"smc\" }, { 1, \"hvc\" }), REC->vcpu",
		.fields = enter_fields, .nr_fields = 2,
	}, {
		.name = "selftest", .id = 3, .size = sizeof(struct selftest),
		.print_fmt = "\"id=%llu\", REC->id",
		.fields = selftest_fields, .nr_fields = 1,
	}, {
		.name = "odd", .id = 4, .size = sizeof(struct enter),
		.print_fmt = "\"%s\", kernel_function(REC->reason",
		.fields = enter_fields, .nr_fields = 2,
	},
};

static const char *text_of(struct hyptrace_formats *fmts, const void *data, unsigned int size)
{
	/* of the exact size, so that ASan reports reads beyond it */
	void *exact = memcpy(malloc(size), data, size);
	struct hyptrace_record rec = { .data = exact, .size = size, .ts = 1 };
	const struct hyptrace_event *event = hyptrace_formats_event(fmts, &rec);
	const char *text = NULL;
	size_t len;

	if (event) {
		text = hyptrace_formats_text(fmts, event, &rec, &len);
		assert_int_equal(strlen(text), len);
	}
	free(exact);
	return text;
}

static void texts(void **state)
{
	struct hyptrace_formats *fmts = hyptrace_formats_new(event_list(events, 3), 3, NULL);
	struct enter enter = { .id = 1, .reason = 1, .vcpu = -5 };
	struct selftest selftest = { .id = 3, .value = UINT64_MAX };
	const uint16_t unknown = 2, behind_the_last = 5, beyond = 60000;

	(void)state;
	assert_non_null(fmts);
	assert_string_equal(text_of(fmts, &enter, sizeof(enter)), "reason=hvc vcpu=-5");
	enter.reason = 0;
	enter.vcpu = 77;
	assert_string_equal(text_of(fmts, &enter, sizeof(enter)), "reason=smc vcpu=77");
	assert_string_equal(text_of(fmts, &selftest, sizeof(selftest)), "id=18446744073709551615");

	/* libtraceevent cannot parse this format, so the fields are printed one by one */
	enter.id = 4;
	assert_string_equal(text_of(fmts, &enter, sizeof(enter)), "reason=0 vcpu=77");

	enter.vcpu = -5;
	assert_string_equal(text_of(fmts, &enter, sizeof(enter)), "reason=0 vcpu=-5");

	assert_null(text_of(fmts, &unknown, sizeof(unknown)));
	assert_null(text_of(fmts, &behind_the_last, sizeof(behind_the_last)));
	assert_null(text_of(fmts, &beyond, sizeof(beyond)));
	enter.id = 1;
	assert_null(text_of(fmts, &enter, sizeof(enter) - 1));
	assert_null(text_of(fmts, &enter, 1));
	hyptrace_formats_free(fmts);
}

/* Fields that are not numbers are left out of the text, for each event. */
static void odd_fields(void **state)
{
	static struct hyptrace_field fields[] = {
		{ "name", "char[2]", 2, 2, true, NULL, 0 },
		{ "vcpu", "pid_t", offsetof(struct enter, vcpu), 4, true, NULL, 0 },
		{ "end", "char[2]", 2, 2, true, NULL, 0 },
	};
	struct hyptrace_event odd[] = { events[2], events[2] };
	struct enter enter = { .id = 4, .vcpu = 7 };
	struct hyptrace_formats *fmts;

	(void)state;
	odd[0].fields = field_list(fields, 3);
	odd[0].nr_fields = 3;
	strcpy(odd[1].name, "bare");
	odd[1].id = 5;
	odd[1].size = sizeof(enter.id);
	odd[1].nr_fields = 0;
	fmts = hyptrace_formats_new(event_list(odd, 2), 2, NULL);
	assert_non_null(fmts);
	assert_string_equal(text_of(fmts, &enter, sizeof(enter)), "vcpu=7");
	enter.id = 5;
	assert_string_equal(text_of(fmts, &enter, sizeof(enter.id)), "");
	hyptrace_formats_free(fmts);
}

/* An address has eight bytes, also on a 32-bit machine. */
static void address(void **state)
{
	struct selftest selftest = { .id = 3, .value = 0x4142 };
	struct hyptrace_event event = events[1];
	struct hyptrace_formats *fmts;

	(void)state;
	event.print_fmt = "\"%s\", REC->id";
	fmts = hyptrace_formats_new(event_list(&event, 1), 1, NULL);
	assert_non_null(fmts);
	assert_string_equal(text_of(fmts, &selftest, sizeof(selftest)), "4142");
	hyptrace_formats_free(fmts);
}

/* For libtraceevent the string ends at the comma, and it divides by zero as it parses the rest. */
static void control_character(void **state)
{
	struct selftest selftest = { .id = 3, .value = 5 };
	struct hyptrace_event event = events[1];
	struct hyptrace_formats *fmts;

	(void)state;
	event.print_fmt = "\"\004, 5 %0 \", REC->id";
	fmts = hyptrace_formats_new(event_list(&event, 1), 1, NULL);
	assert_non_null(fmts);
	assert_string_equal(text_of(fmts, &selftest, sizeof(selftest)), "id=5");
	hyptrace_formats_free(fmts);
}

/* Event ids in any order, up to the largest id that a record can have. */
static void numbers_of_events(void **state)
{
	struct hyptrace_event list[] = { events[0], events[1], events[0] };
	struct selftest selftest = { .id = UINT16_MAX, .value = 6 };
	struct enter enter = { .id = 1, .vcpu = 7 };
	struct hyptrace_formats *fmts;

	(void)state;
	list[0].id = UINT16_MAX + 1;
	list[1].id = UINT16_MAX;
	fmts = hyptrace_formats_new(event_list(list, 3), 3, NULL);
	assert_non_null(fmts);
	assert_string_equal(text_of(fmts, &selftest, sizeof(selftest)), "id=6");
	assert_string_equal(text_of(fmts, &enter, sizeof(enter)), "reason=smc vcpu=7");
	enter.id = 0;
	assert_null(text_of(fmts, &enter, sizeof(enter)));
	hyptrace_formats_free(fmts);
}

/* Nothing is printed, even if the program sets the highest log level of libtraceevent. */
static void silence(void **state)
{
	int old = dup(STDERR_FILENO);
	FILE *said = tmpfile();
	struct hyptrace_formats *fmts;

	(void)state;
	assert_non_null(said);
	tep_set_loglevel(TEP_LOG_ALL);
	dup2(fileno(said), STDERR_FILENO);
	fmts = hyptrace_formats_new(event_list(events, 3), 3, NULL);
	dup2(old, STDERR_FILENO);
	close(old);
	assert_non_null(fmts);
	assert_int_equal(lseek(fileno(said), 0, SEEK_END), 0);
	fclose(said);
	hyptrace_formats_free(fmts);
}

static void no_events(void **state)
{
	struct hyptrace_formats *fmts = hyptrace_formats_new(NULL, 0, NULL);
	struct enter enter = { .id = 0 };

	(void)state;
	assert_non_null(fmts);
	assert_null(text_of(fmts, &enter, sizeof(enter)));
	hyptrace_formats_free(fmts);
	hyptrace_formats_free(NULL);
}

/* The event id 0 is valid. */
static void number_zero(void **state)
{
	struct hyptrace_event event = events[0];
	struct enter enter = { .id = 0, .reason = 1, .vcpu = 6 };
	struct hyptrace_record rec = { .data = &enter, .size = sizeof(enter) };
	static const char expected[] = "hyp_enter: reason=hvc vcpu=6";
	struct hyptrace_formats *fmts;
	char line[HYPTRACE_LINE_MAX];

	(void)state;
	event.id = 0;
	fmts = hyptrace_formats_new(event_list(&event, 1), 1, NULL);
	assert_non_null(fmts);
	assert_int_equal(hyptrace_formats_lines(fmts, "", ": ", NULL), 0);
	assert_ptr_equal(hyptrace_formats_line(fmts, &rec, line), line + strlen(expected));
	assert_memory_equal(line, expected, strlen(expected));
	enter.id = 1;
	assert_null(hyptrace_formats_line(fmts, &rec, line));
	hyptrace_formats_free(fmts);
}

/* A line is that of its payload, whatever was printed before, and with the text of now. */
static void repeated_lines(void **state)
{
	static const char *const after[] = { ": ", " - " };
	struct hyptrace_formats *fmts = hyptrace_formats_new(event_list(events, 3), 3, NULL);
	struct enter enter = {};
	struct hyptrace_record rec = { .data = &enter, .size = sizeof(enter) };
	char line[HYPTRACE_LINE_MAX], expected[64], *end;
	unsigned int i, nr;

	(void)state;
	assert_non_null(fmts);
	enter.id = 1;
	for (i = 0; i < 8000; i++) {
		if (i % 4000 == 0)
			assert_int_equal(hyptrace_formats_lines(fmts, "", after[i / 4000], NULL),
					 0);
		/* begin again with the payloads that were printed last */
		nr = i < 4000 ? i : 7999 - i;
		enter.reason = nr % 2;
		enter.vcpu = nr / 2 % 1000 << nr % 3 * 8;
		end = hyptrace_formats_line(fmts, &rec, line);
		assert_non_null(end);
		*end = '\0';
		snprintf(expected, sizeof(expected), "hyp_enter%sreason=%s vcpu=%d",
			 after[i / 4000], nr % 2 ? "hvc" : "smc", enter.vcpu);
		assert_string_equal(line, expected);
	}
	hyptrace_formats_free(fmts);
}

/* Payloads of all sizes that differ in one byte, printed again and again, have different lines. */
static void similar_lines(void **state)
{
	struct hyptrace_field fields[] = {
		{ "a", "u32", 4, 4, false, NULL, 0 }, { "b", "u16", 8, 2, false, NULL, 0 },
		{ "c", "u16", 10, 2, false, NULL, 0 },
	};
	struct hyptrace_event list[2] = {};
	struct hyptrace_formats *fmts;
	char line[HYPTRACE_LINE_MAX], expected[64], *end;
	unsigned int round, size, i;

	(void)state;
	for (size = 8; size <= 12; size += 2) {
		const unsigned int nr = (size - 6) / 2;
		char fmt[64];

		snprintf(fmt, sizeof(fmt), "\"%s\", REC->a%s%s", "%u %u %u" + 3 * (3 - nr),
			 nr > 1 ? ", REC->b" : "", nr > 2 ? ", REC->c" : "");
		for (i = 0; i < 2; i++) {
			list[i] = (struct hyptrace_event) {
				.id = 1 + i, .size = size, .print_fmt = fmt,
				.fields = field_list(fields, nr), .nr_fields = nr,
			};
			snprintf(list[i].name, sizeof(list[i].name), "event%u", i);
		}
		fmts = hyptrace_formats_new(event_list(list, 2), 2, NULL);
		assert_non_null(fmts);
		assert_int_equal(hyptrace_formats_lines(fmts, "", ": ", NULL), 0);
		for (round = 0; round < 3 * 16; round++) {
			uint16_t words[6] = { 1 + round % 2, 0, round / 2 % 2, 0, round / 4 % 2,
					      round / 8 % 2 };
			struct hyptrace_record rec = { .data = words, .size = size };

			end = hyptrace_formats_line(fmts, &rec, line);
			assert_non_null(end);
			*end = '\0';
			snprintf(expected, sizeof(expected), "event%u: %u %u %u", round % 2,
				 words[2], words[4], words[5]);
			expected[8 + 2 * nr - 1] = '\0';
			assert_string_equal(line, expected);
		}
		hyptrace_formats_free(fmts);
	}
}

static void format_file(void **state)
{
	struct hyptrace_field fields[] = {
		{ "name", "char[4]", 2, 4, true, NULL, 0 },
		{ "n", "unsigned int", 8, 4, false, NULL, 0 },
	};
	const struct hyptrace_event event = {
		.name = "e", .id = 9, .print_fmt = "\"%u\", REC->n",
		.fields = field_list(fields, 2), .nr_fields = 2,
	};
	static const char expected[] =
		"name: e\nID: 9\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
		"\tfield:char name[4];\toffset:2;\tsize:4;\tsigned:1;\n"
		"\tfield:unsigned int n;\toffset:8;\tsize:4;\tsigned:0;\n"
		"\nprint fmt: \"%u\", REC->n\n";
	char *text = hyptrace_format_file(&event);

	(void)state;
	assert_string_equal(text, expected);
	free(text);
}

static void field_values(void **state)
{
	const unsigned char data[16] = { 0xff, 0xfe, 0xff, 0xff, 0xfd, 0xff, 0xff, 0xff, 1 };
	struct hyptrace_record rec = { .data = data, .size = sizeof(data) };
	struct hyptrace_field field = { .name = "f", .type = "s8", .size = 1, .is_signed = true };
	uint64_t value;

	(void)state;
	assert_int_equal(hyptrace_field_value(&field, &rec, &value), 0);
	assert_true((int64_t)value == -1);
	field.is_signed = false;
	assert_int_equal(hyptrace_field_value(&field, &rec, &value), 0);
	assert_int_equal(value, 255);

	field.size = 2;
	field.is_signed = true;
	assert_int_equal(hyptrace_field_value(&field, &rec, &value), 0);
	assert_true((int64_t)value == -257);
	field.offset = 4;
	field.size = 4;
	assert_int_equal(hyptrace_field_value(&field, &rec, &value), 0);
	assert_true((int64_t)value == -3);
	field.size = 8;
	assert_int_equal(hyptrace_field_value(&field, &rec, &value), 0);
	assert_true(value == UINT64_C(0x1fffffffd));

	field.size = 3;
	assert_int_not_equal(hyptrace_field_value(&field, &rec, &value), 0);
	field.size = 4;
	field.offset = 13;
	assert_int_not_equal(hyptrace_field_value(&field, &rec, &value), 0);
	field.offset = UINT32_MAX;
	assert_int_not_equal(hyptrace_field_value(&field, &rec, &value), 0);
	field.offset = 0;
	field.type = "char[4]";
	assert_int_not_equal(hyptrace_field_value(&field, &rec, &value), 0);
}

/* Let each allocation fail: the result is an error, or lines that libtraceevent formats. */
static void no_memory(void **state)
{
	struct enter enter = { .id = 1, .reason = 1, .vcpu = -5 };
	struct hyptrace_record rec = { .data = &enter, .size = sizeof(enter) };
	struct hyptrace_event **list = event_list(events, 3);
	struct hyptrace_formats *fmts = NULL;
	struct hyptrace_error err;
	bool failed = true, ready;
	unsigned int nth;
	char *line = malloc(HYPTRACE_LINE_MAX), *text;
	int ret;

	(void)state;
	for (nth = 1; failed; nth++) {
		hyptrace_formats_free(fmts);
		fail_alloc(nth);
		fmts = hyptrace_formats_new(list, 3, &err);
		failed = fail_alloc_end();
		assert_int_equal(!fmts, failed);
		if (failed) {
			assert_int_equal(err.errnum, ENOMEM);
			assert_string_equal(err.text, "out of memory");
		}
	}
	/*
	 * allocations: object, parser, two tables, lines, and per event its meaning and a stream
	 * that is closed
	 */
	assert_int_equal(nth - 2, 5 + 3 * 3);

	for (failed = true, nth = 1; failed; nth++) {
		fail_alloc(nth);
		ret = hyptrace_formats_lines(fmts, "", ": ", &err);
		failed = fail_alloc_end();
		ready = hyptrace_formats_line(fmts, &rec, line);
		/* allocations for the first event: lead, steps, their texts, a table, two names */
		if (nth <= 6)
			assert_int_equal(ret, nth == 1 ? -ENOMEM : 0);
		if (nth <= 6)
			assert_false(ready);
		else
			assert_true(ready);
		assert_string_equal(text_of(fmts, &enter, sizeof(enter)), "reason=hvc vcpu=-5");
	}
	/* libtraceevent has not parsed the third event, so it has no lead and no steps */
	assert_in_range(nth - 2, 6 + 3, 3 * 6);
	hyptrace_formats_free(fmts);
	free(line);

	for (failed = true, nth = 1; failed; nth++) {
		fail_alloc(nth);
		text = hyptrace_format_file(&events[0]);
		failed = fail_alloc_end();
		assert_int_equal(!text, failed);
		free(text);
	}
	assert_int_equal(nth - 2, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),
		cmocka_unit_test(odd_fields),
		cmocka_unit_test(address),
		cmocka_unit_test(control_character),
		cmocka_unit_test(numbers_of_events),
		cmocka_unit_test(silence),
		cmocka_unit_test(no_events),
		cmocka_unit_test(number_zero),
		cmocka_unit_test(repeated_lines),
		cmocka_unit_test(similar_lines),
		cmocka_unit_test(format_file),
		cmocka_unit_test(field_values),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
