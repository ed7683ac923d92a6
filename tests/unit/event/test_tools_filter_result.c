// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters of the command that compare the result of a hypercall: each comparison is false for a
 * hypercall that returns nothing, or that EL2 has refused. test_ring_filter_result.c tests the same
 * at EL2.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "filter_case.h"
#include "sentence_case.h"

static struct hyptrace_hypercall calls[] = {
	{ .id = 1, .name = (char *)"something", .returns = true, .known_args = true },
	{ .id = 4, .name = (char *)"nothing", .known_args = true },
	{ .id = 5, .name = (char *)"unknown" },
};

static struct hyptrace_hypercall *list[] = { &calls[0], &calls[1], &calls[2] };

static const struct entry_host_hcall entries[] = {
	{ .id = 1, .ret = -1, .duration = 1 },
	{ .id = 4, .ret = -1, .duration = 1 },
	{ .id = 5, .ret = -1, .duration = 1 },
	{ .id = 1, .ret = -1, .duration = 1, .invalid = 1 },
};

/* Which of the entries meet a filter, one bit each */
static unsigned int met_by(const char *text)
{
	struct hyptrace_filter *filters;
	struct hyptrace_record rec;
	unsigned int i, met = 0;

	filters = filter_any(event_list(events, NR_EVENTS), NR_EVENTS, formats, text, NULL, NULL);
	assert_non_null(filters);
	for (i = 0; i < COUNT(entries); i++) {
		rec = record_of("host_hcall", &entries[i], event_of("host_hcall")->size);
		met |= hyptrace_filter_match(filters, &rec) << i;
		free((void *)rec.data);
	}
	hyptrace_filter_free(filters);
	return met;
}

static void check(void)
{
	assert_int_equal(met_by("ret < 0"), 0x5);
	assert_int_equal(met_by("ret != 0"), 0x5);
	assert_int_equal(met_by("ret < 0 || ret >= 0"), 0x5);
	assert_int_equal(met_by("ret == -1 || invalid == 1"), 0xd);
	assert_int_equal(met_by("duration == 1"), 0xf);
}

static void filters_of_results(void **state)
{
	(void)state;
	describe_and_begin(NULL);
	assert_int_equal(hyptrace_formats_set_hypercalls(formats, list, COUNT(list), NULL), 0);
	check();
	/* also if events are not printed as sentences */
	hyptrace_formats_set_raw(formats);
	check();
	hyptrace_formats_free(formats);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filters_of_results),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
