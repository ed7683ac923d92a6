// SPDX-License-Identifier: GPL-2.0-only
/*
 * What filters accept, and how they are carried.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event_lists.h"
#include "fail_alloc.h"
#include "filter_case.h"
#include "filter_sample.h"

static struct sample sample;

static int setup(void **state)
{
	(void)state;
	lists_begin();
	sample = (struct sample){
		.event = SAMPLE_ID, .op = 2, .step = -3, .index = 40000, .delta = -20000,
		.handle = 0xf0000000, .ret = -1, .pfn = 0xffffffffffffff01, .res = INT64_MIN,
		.duration = 50000,
	};
	return 0;
}

static bool matches(const char *text)
{
	/* of the exact size, so that ASan reports reads beyond it */
	void *exact = memcpy(malloc(SAMPLE_SIZE), &sample, SAMPLE_SIZE);
	struct hyptrace_filter *filter;
	struct hyptrace_error err;
	size_t at;
	bool does;

	filter = filter_of(&sample_event, text, &at, &err);
	if (!filter)
		fail_msg("\"%s\": %s at %zu", text, err.text, at);
	assert_string_equal(filter->text, text);
	does = filter_accepts(filter, exact, SAMPLE_SIZE);
	hyptrace_filter_free(filter);
	free(exact);
	return does;
}

static void operators(void **state)
{
	(void)state;
	assert_true(matches("op == 2"));
	assert_false(matches("op == 1"));
	assert_true(matches("op != 1"));
	assert_false(matches("op != 2"));
	assert_true(matches("op < 3"));
	assert_false(matches("op < 2"));
	assert_true(matches("op <= 2"));
	assert_false(matches("op <= 1"));
	assert_true(matches("op > 1"));
	assert_false(matches("op > 2"));
	assert_true(matches("op >= 2"));
	assert_false(matches("op >= 3"));
	assert_true(matches("op & 0x6"));
	assert_false(matches("op & 0xfd"));
}

/* A field is compared with its own sign, whatever its width. */
static void signs(void **state)
{
	(void)state;
	assert_true(matches("step < 0"));
	assert_true(matches("step == -3"));
	assert_true(matches("step >= -3"));
	assert_false(matches("step > -3"));
	assert_true(matches("step & 0x80"));
	assert_true(matches("delta == -20000"));
	assert_false(matches("delta >= 0"));
	assert_true(matches("ret < 0"));
	assert_true(matches("ret & 0xffffffff"));
	assert_true(matches("ret & -2147483648"));
	assert_true(matches("res < -9223372036854775807"));
	assert_true(matches("res == -0x8000000000000000"));
	assert_true(matches("index > 32767"));
	assert_true(matches("handle > 2147483647"));
	assert_true(matches("handle == 0xf0000000"));
	assert_true(matches("pfn > 9223372036854775807"));
	assert_true(matches("pfn == 18446744073709551361"));
	assert_true(matches("op >= -0"));
}

static void limits_of_values(void **state)
{
	(void)state;
	assert_true(matches("op <= 255 && step >= -128 && step <= 127 && index <= 65535"));
	assert_true(matches("delta >= -32768 && delta <= 32767 && handle <= 4294967295"));
	assert_true(matches("ret >= -2147483648 && ret <= 2147483647"));
	assert_true(matches("res >= -9223372036854775808 && res <= 9223372036854775807"));
	assert_true(matches("pfn <= 0xffffffffffffffff"));
	assert_true(matches("duration < 18446744073709551615"));
	assert_true(matches("duration < 18446744073s"));
}

static void named_values(void **state)
{
	(void)state;
	assert_true(matches("op == donate"));
	assert_false(matches("op == share"));
	assert_true(matches("op < _4k"));
	assert_true(matches("ret == -EPERM"));
	assert_false(matches("ret == -ENOENT"));
	sample.ret = -133;
	assert_true(matches("ret == -EHWPOISON"));
	sample.res = -22;
	sample.delta = -22;
	assert_true(matches("res == -EINVAL && delta == -EINVAL"));
	assert_true(matches("step == -ESRCH"));
	sample.ret = -11;
	sample.res = -35;
	sample.delta = -95;
	assert_true(matches("ret == -EWOULDBLOCK && res == -EDEADLOCK && delta == -ENOTSUP"));
}

static void times(void **state)
{
	(void)state;
	assert_true(matches("duration == 50us"));
	assert_true(matches("duration == 50000"));
	assert_true(matches("duration == 50000ns"));
	assert_true(matches("duration == 0xc350ns"));
	assert_true(matches("duration < 1ms"));
	assert_false(matches("duration > 1ms"));
	sample.duration = 2000000000;
	assert_true(matches("duration == 2s"));
	assert_true(matches("duration == 2000ms"));
	sample.duration = 1204;
	assert_true(matches("duration == 1.204us && duration == 1.204 us && op == 2"));
	assert_true(matches("duration == 1.204000us && duration == 0.000001204s"));
	assert_false(matches("duration > 1.204us"));
	sample.duration = UINT64_MAX;
	assert_true(matches("duration == 18446744073.709551615s"));
}

/* "&&" has a higher precedence than "||". */
static void precedence(void **state)
{
	(void)state;
	/* true || true && false */
	assert_true(matches("op == 2 || op == 2 && op == 1"));
	assert_false(matches("(op == 2 || op == 2) && ret == 1"));
	/* false && true || true */
	assert_true(matches("op == 1 && op == 2 || op == 2"));
	assert_false(matches("op == 1 && (op == 2 || ret == 2)"));
	assert_true(matches("((op==2)&&((ret<0)))"));
	assert_true(matches("\top\n==  2 && ( ret<0 ) "));
}

/* The comparisons as they are carried to the driver: the example of the manual page. */
static void terms(void **state)
{
	static const struct {
		const char	*field;
		uint32_t	op;
		uint64_t	value;
		uint32_t	on_true;
		uint32_t	on_false;
	} wanted[] = {
		{ "pfn", HYPTRACE_FILTER_OP_AND, 1, 1, 2 },
		{ "index", HYPTRACE_FILTER_OP_GE, 16, HYPTRACE_FILTER_ACCEPT, 2 },
		{ "op", HYPTRACE_FILTER_OP_EQ, 2, 3, HYPTRACE_FILTER_REJECT },
		{ "ret", HYPTRACE_FILTER_OP_NE, UINT64_MAX, HYPTRACE_FILTER_ACCEPT, 4 },
		{ "res", HYPTRACE_FILTER_OP_LT, -(uint64_t)7, HYPTRACE_FILTER_ACCEPT,
		  HYPTRACE_FILTER_REJECT },
	};
	static const char text[] =
		"(pfn & 0x1) && index >= 0x10 || op == donate && (ret != -EPERM || res < -7)";
	const struct hyptrace_filter_term *term;
	struct hyptrace_filter *filter;
	unsigned int i;

	(void)state;
	filter = filter_of(&sample_event, text, NULL, NULL);
	assert_non_null(filter);
	for (i = 0; i < 5; i++) {
		term = &filter->terms[i];
		assert_string_equal(term->field, wanted[i].field);
		assert_int_equal(term->op, wanted[i].op);
		assert_true(term->value == wanted[i].value);
		assert_int_equal(term->on_true, wanted[i].on_true);
		assert_int_equal(term->on_false, wanted[i].on_false);
	}
	assert_int_equal(filter->nr, 5);
	hyptrace_filter_free(filter);
	hyptrace_filter_free(NULL);
}

/* A payload that is too short, or of another event, never matches. */
static void payloads(void **state)
{
	struct hyptrace_filter *filter;
	unsigned int size;

	(void)state;
	filter = filter_of(&sample_event, "op >= 0", NULL, NULL);
	assert_non_null(filter);
	for (size = 0; size < SAMPLE_SIZE; size++) {
		void *exact = memcpy(malloc(size + !size), &sample, size);

		assert_false(filter_accepts(filter, exact, size));
		free(exact);
	}
	/* the writer rounds payloads up */
	assert_true(filter_accepts(filter, &sample, sizeof(sample)));
	sample.event++;
	assert_false(filter_accepts(filter, &sample, sizeof(sample)));
	hyptrace_filter_free(filter);

	/* not even of an event that has nothing but its id */
	struct hyptrace_event bare = sample_event;

	bare.id = 0;
	bare.size = 0;
	assert_null(filter_of(&bare, "op >= 0", NULL, NULL));
}

/* Another event, whose "op" has other names and is wider, and which has a "count" but no "pfn" */
struct other {
	uint16_t	event;
	uint16_t	op;
	uint32_t	count;
};

static struct hyptrace_symbol other_symbol = { 300, "flush" };
static struct hyptrace_symbol *other_ops[] = { &other_symbol };

static struct hyptrace_field other_fields[] = {
	{ "op", "u16", offsetof(struct other, op), 2, false, other_ops, 1 },
	{ "count", "u32", offsetof(struct other, count), 4, false, NULL, 0 },
};

static struct hyptrace_filter *any_of(const char *text, size_t *at, struct hyptrace_error *err)
{
	struct hyptrace_event events[] = {
		sample_event,
		sample_event,
		{ .name = "other", .id = 0, .size = sizeof(struct other), .nr_fields = 2 },
	};

	lists_begin();
	/* no record can have this id */
	events[0].id = UINT16_MAX + 1;
	events[2].fields = field_list(other_fields, 2);
	return filter_any(event_list(events, 3), 3, NULL, text, at, err);
}

/* Which of the two events match: bit 0 is sample, bit 1 is other. */
static unsigned int which(const char *text, struct other *other)
{
	struct hyptrace_record recs[] = {
		{ .data = &sample, .size = sizeof(sample) },
		{ .data = other, .size = sizeof(*other) },
	};
	struct hyptrace_filter *filters;
	struct hyptrace_error err;
	unsigned int bits;

	filters = any_of(text, NULL, &err);
	if (!filters)
		fail_msg("\"%s\": %s", text, err.text);
	bits = hyptrace_filter_match(filters, &recs[0]);
	bits |= hyptrace_filter_match(filters, &recs[1]) << 1;
	hyptrace_filter_free(filters);
	return bits;
}

static void several_events(void **state)
{
	struct other other = { .event = 0, .op = 300, .count = 5 };

	(void)state;
	assert_int_equal(which("op >= 2", &other), 3);
	assert_int_equal(which("op == donate", &other), 1);
	assert_int_equal(which("op == flush", &other), 2);
	assert_int_equal(which("op == 300", &other), 2);
	/* an event without the field or the name does not match, whatever the operator */
	assert_int_equal(which("count != 7", &other), 2);
	assert_int_equal(which("op != share", &other), 1);
	/* a number that the field cannot have is compared nevertheless */
	assert_int_equal(which("op < 1000", &other), 3);
	assert_int_equal(which("op != 1000", &other), 3);
	assert_int_equal(which("op > 256", &other), 2);
	assert_int_equal(which("op & 256 || op == 2", &other), 3);
	/* but another side of "||" may */
	assert_int_equal(which("op == flush || op == donate", &other), 3);
	assert_int_equal(which("count == 5 || pfn > 1", &other), 3);
	assert_int_equal(which("count == 5 && op == flush || pfn > 1", &other), 3);
	assert_int_equal(which("(count == 4 || pfn > 1) && op > 1", &other), 1);
	other.op = 2;
	assert_int_equal(which("op == 2", &other), 3);
}

#define WIDE(_type, _signed) {						\
	{ "op", _type, 8, 8, _signed, NULL, 0 }, { "step", _type, 8, 8, _signed, NULL, 0 }, \
	{ "ret", _type, 8, 8, _signed, NULL, 0 }, { "pfn", _type, 8, 8, _signed, NULL, 0 }, \
	{ "res", _type, 8, 8, _signed, NULL, 0 },			\
}

static bool compare(__int128 is, unsigned int op, __int128 than)
{
	const bool results[] = { is == than, is != than, is < than, is <= than, is > than,
				 is >= than };

	return results[op];
}

/*
 * A number that one event's field cannot have: another event makes the filter valid. The result
 * is that of exact arithmetic.
 */
static void out_of_range(void **state)
{
	static struct hyptrace_field wide[2][5] = { WIDE("u64", false), WIDE("s64", true) };
	static const char *const ops[] = { "==", "!=", "<", "<=", ">", ">=" };
	static const struct {
		const char	*text;
		__int128	number;
	} values[] = {
		{ "-9223372036854775808", INT64_MIN }, { "-2147483649", -2147483649LL },
		{ "-129", -129 }, { "-EBADMSG", -74 }, { "-EHWPOISON", -133 }, { "-1", -1 },
		{ "128", 128 }, { "256", 256 }, { "0x84000060", 0x84000060 },
		{ "4294967296", 4294967296 }, { "9223372036854775807", INT64_MAX },
		{ "9223372036854775808", (__int128)INT64_MAX + 1 },
		{ "18446744073709551615", UINT64_MAX },
	};
	const struct hyptrace_record rec = { .data = &sample, .size = sizeof(sample) };
	const struct {
		const char	*name;
		__int128	value;
	} fields[] = {
		{ "op", sample.op }, { "step", sample.step }, { "ret", sample.ret },
		{ "pfn", sample.pfn }, { "res", sample.res },
	};
	struct hyptrace_event events[] = {
		sample_event,
		{ .name = "u", .id = 1, .size = 16, .nr_fields = 5 },
		{ .name = "s", .id = 2, .size = 16, .nr_fields = 5 },
	};
	struct hyptrace_filter *filters;
	unsigned int i, j, op;
	char text[128];

	(void)state;
	events[1].fields = field_list(wide[0], 5);
	events[2].fields = field_list(wide[1], 5);
	for (i = 0; i < 5; i++) {
		for (j = 0; j < sizeof(values) / sizeof(values[0]); j++) {
			for (op = 0; op < 6; op++) {
				snprintf(text, sizeof(text), "%s %s %s", fields[i].name, ops[op],
					 values[j].text);
				filters = filter_any(event_list(events, 3), 3, NULL, text, NULL,
						     NULL);
				if ((filters && hyptrace_filter_match(filters, &rec)) !=
				    compare(fields[i].value, op, values[j].number))
					fail_msg("\"%s\" is wrong", text);
				hyptrace_filter_free(filters);
			}
		}
	}
}

static void unknown_records(void **state)
{
	const uint16_t ids[] = { 1, 6, 8, 65535 };
	struct hyptrace_filter *filters = any_of("op >= 0", NULL, NULL);
	struct hyptrace_record rec = { .data = &sample, .size = sizeof(sample) };
	unsigned int i;

	(void)state;
	assert_non_null(filters);
	assert_true(hyptrace_filter_match(filters, &rec));
	for (i = 0; i < 4; i++) {
		sample.event = ids[i];
		assert_false(hyptrace_filter_match(filters, &rec));
	}
	sample.event = SAMPLE_ID;
	rec.size = SAMPLE_SIZE - 1;
	assert_false(hyptrace_filter_match(filters, &rec));
	/* of the exact size, so that ASan reports reads beyond it */
	rec.size = 1;
	rec.data = calloc(1, 1);
	assert_false(hyptrace_filter_match(filters, &rec));
	free((void *)rec.data);
	hyptrace_filter_free(filters);
	hyptrace_filter_free(NULL);
}

static void refused(const char *text, size_t where, const char *why)
{
	struct hyptrace_error err;
	size_t at = SIZE_MAX;

	assert_null(any_of(text, &at, &err));
	assert_string_equal(err.text, why);
	assert_int_equal(err.errnum, EINVAL);
	assert_int_equal(at, where);
	assert_null(any_of(text, NULL, NULL));
}

/* The message is of the event that comes nearest. */
static void several_events_wrong(void **state)
{
	struct hyptrace_field arg = { .name = "arg1", .type = "u64", .offset = 8, .size = 8 };
	const struct hyptrace_event hcall = {
		.name = "host_hcall", .id = 1, .size = 16, .nr_fields = 1,
		.fields = (struct hyptrace_field *[]){ &arg },
	};
	struct hyptrace_error err;

	(void)state;
	refused("cout == 1", 0, "no event has a field \"cout\"; did you mean \"count\"?");
	refused("op == 1 && xyzzy == 2", 11, "no event has a field \"xyzzy\"");
	refused("op == donat", 6, "the field \"op\" has no value \"donat\"; did you mean \"donate\"?");
	refused("op == flus", 6, "the field \"op\" has no value \"flus\"; did you mean \"flush\"?");
	refused("op == xyzzy", 6, "the field \"op\" has no value \"xyzzy\"");
	refused("count == xyzzy", 9, "the values of \"count\" have no names: use a number");
	refused("op == 70000", 6, "the values of \"op\" are from 0 to 255");
	refused("op ==", 5, "a value is missing after \"==\"");
	/* each comparison can be made, but not all of one event */
	refused("pfn == 1 && count == 2", 0,
		"no event can meet this filter: none has all its fields and values");
	refused("pfn & 1 && (count == 2 || op == flush)", 0,
		"no event can meet this filter: none has all its fields and values");
	refused("op < 70000 && cout == 1", 5, "the values of \"op\" are from 0 to 255");
	refused("op & 0x10000", 5, "a mask of \"op\" has at most 8 bits");
	/* the key of a sentence, which looks more like the field "op" */
	/* what is printed before each event, but is no field of it */
	refused("cpu == 0", 0, "no event has a field \"cpu\": choose CPUs with --cpu");
	refused("vm == 1", 0, "no event has a field \"vm\"; did you mean \"handle\"?");
	assert_null(filter_of(&hcall, "pfn == 1", NULL, &err));
	assert_string_equal(err.text, "the event \"host_hcall\" has no field \"pfn\"; the arguments of calls are \"arg1\" to \"arg4\", in the order of the sentence");
	assert_null(filter_any(NULL, 0, NULL, "op == 1", NULL, &err));
	assert_string_equal(err.text, "no event has a field \"op\"");
}

/* The largest id of an event */
static void largest_id(void **state)
{
	struct hyptrace_event event = sample_event;
	struct hyptrace_record rec = { .data = &sample, .size = sizeof(sample) };
	struct hyptrace_filter *filters;
	struct hyptrace_error err;

	(void)state;
	event.id = UINT16_MAX;
	sample.event = UINT16_MAX;
	filters = filter_any(event_list(&event, 1), 1, NULL, "op == 2", NULL, NULL);
	assert_non_null(filters);
	assert_true(hyptrace_filter_match(filters, &rec));
	hyptrace_filter_free(filters);

	event.id++;
	assert_null(filter_of(&event, "op == 2", NULL, &err));
	assert_int_equal(err.errnum, EINVAL);
	assert_string_equal(err.text, "the id of the event \"sample\" exceeds 16 bits");
}

/* Of two events with the same id, which no driver has, the last counts. */
static void same_id(void **state)
{
	struct hyptrace_field swapped[] = {
		{ "step", "s8", offsetof(struct sample, op), 1, true, NULL, 0 },
		{ "op", "u8", offsetof(struct sample, step), 1, false, NULL, 0 },
	};
	struct hyptrace_event events[] = { sample_event, sample_event };
	struct hyptrace_record rec = { .data = &sample, .size = sizeof(sample) };
	struct hyptrace_filter *filters;

	(void)state;
	events[1].fields = field_list(swapped, 2);
	events[1].nr_fields = 2;
	filters = filter_any(event_list(events, 2), 2, NULL, "op == 2", NULL, NULL);
	assert_non_null(filters);
	assert_false(hyptrace_filter_match(filters, &rec));
	hyptrace_filter_free(filters);
	filters = filter_any(event_list(events, 2), 2, NULL, "step == 2", NULL, NULL);
	assert_non_null(filters);
	assert_true(hyptrace_filter_match(filters, &rec));
	hyptrace_filter_free(filters);
}

static struct hyptrace_symbol more_symbols[] = { { 1, "share" }, { 2, "donate" } };
static struct hyptrace_symbol *more_ops[] = { &more_symbols[0], &more_symbols[1] };
static struct hyptrace_field more_op = FIELD("u8", op, false, more_ops, 2);
static struct hyptrace_field *more_fields[] = { &more_op };
static struct hyptrace_event more_event = {
	.name = "other", .id = 8, .size = SAMPLE_SIZE, .fields = more_fields, .nr_fields = 1,
};

/* A filter for all of several events must fit each of them, with the same values. */
static void all_events(void **state)
{
	static const struct hyptrace_event *const events[] = { &sample_event, &more_event };
	static const struct {
		const char	*text;
		size_t		at;
		const char	*why;
	} wrong[] = {
		{ "op == donate && pfn == 1", 16, "the event \"other\" has no field \"pfn\"" },
		{ "op == 1 || op == unshare", 17,
		  "event \"other\": the field \"op\" has no value \"unshare\"; "
		  "did you mean \"share\"?" },
		{ "op == 0 || op == share", 17,
		  "\"share\" has different values in \"sample\" and \"other\": use two filters" },
	};
	struct hyptrace_filter *filter;
	struct hyptrace_error err;
	unsigned int i;
	size_t at;

	(void)state;
	filter = hyptrace_filter_new(events, 2, NULL, true, "op == donate || op == 1", &at, &err);
	assert_non_null(filter);
	assert_int_equal(filter->terms[0].value, 2);
	assert_string_equal(filter->text, "op == donate || op == 1");
	hyptrace_filter_free(filter);

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_null(hyptrace_filter_new(events, 2, NULL, true, wrong[i].text, &at, &err));
		assert_string_equal(err.text, wrong[i].why);
		assert_int_equal(err.errnum, EINVAL);
		assert_int_equal(at, wrong[i].at);
		assert_null(hyptrace_filter_new(events, 2, NULL, true, wrong[i].text, NULL, NULL));
	}
}

static void no_memory(void **state)
{
	static const char several[] = "op == donate && ret < 0 || op == flush";
	static const char text[] = "op == donate && ret < 0";
	struct hyptrace_filter *filters;
	struct hyptrace_filter *filter;
	struct hyptrace_error err;
	unsigned int nth, failures = 0;
	bool failed = true;

	(void)state;
	for (nth = 1; failed; nth++) {
		fail_alloc(nth);
		filter = filter_of(&sample_event, text, NULL, &err);
		failed = fail_alloc_end();
		assert_int_equal(!filter, failed);
		if (failed)
			assert_int_equal(err.errnum, ENOMEM);
		failures += failed;
		hyptrace_filter_free(filter);
	}
	/* the filter, its text, the values of the event */
	assert_int_equal(failures, 3);

	for (nth = 1, failed = true; failed; nth++) {
		fail_alloc(nth);
		filters = any_of(several, NULL, &err);
		failed = fail_alloc_end();
		assert_int_equal(!filters, failed);
		if (failed)
			assert_int_equal(err.errnum, ENOMEM);
		hyptrace_filter_free(filters);
	}
	/* the values of a second event, too */
	assert_int_equal(nth, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(operators, setup),
		cmocka_unit_test_setup(signs, setup),
		cmocka_unit_test_setup(limits_of_values, setup),
		cmocka_unit_test_setup(named_values, setup),
		cmocka_unit_test_setup(times, setup),
		cmocka_unit_test_setup(precedence, setup),
		cmocka_unit_test_setup(terms, setup),
		cmocka_unit_test_setup(payloads, setup),
		cmocka_unit_test_setup(several_events, setup),
		cmocka_unit_test_setup(out_of_range, setup),
		cmocka_unit_test_setup(unknown_records, setup),
		cmocka_unit_test_setup(several_events_wrong, setup),
		cmocka_unit_test_setup(largest_id, setup),
		cmocka_unit_test_setup(same_id, setup),
		cmocka_unit_test_setup(all_events, setup),
		cmocka_unit_test_setup(no_memory, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
