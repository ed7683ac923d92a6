// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace strace: the summary, and names of calls. test_tools_nest.c has their depths and their
 * order, test_tools_model.c their results.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "view/calls/strace.h"

static void add(struct strace_summary *summary, enum hyptrace_kind kind, const char *name,
		uint64_t number, uint64_t duration, unsigned int depth, bool has_failed)
{
	const struct hyptrace_span call = {
		.kind = kind, .name = name, .key = number, .end = duration, .depth = depth,
	};

	strace_summary_add(summary, &call, has_failed);
}

static void sums(void **state)
{
	struct strace_summary summary = {};
	char name[] = "same";

	(void)state;
	add(&summary, HYPTRACE_KIND_HYPERCALL, "same", 1, 10, 0, false);
	add(&summary, HYPTRACE_KIND_HYPERCALL, "long", 2, 100, 0, true);
	add(&summary, HYPTRACE_KIND_HYPERCALL, name, 1, 20, 0, true);
	add(&summary, HYPTRACE_KIND_SMC, "same", 1, 5, 0, false);
	add(&summary, HYPTRACE_KIND_GUEST_EXIT, "trap", 0, 50, 1, false);
	add(&summary, HYPTRACE_KIND_HYPERCALL, NULL, 7, 1, 0, true);
	add(&summary, HYPTRACE_KIND_HYPERCALL, NULL, 8, 1, 0, false);
	add(&summary, HYPTRACE_KIND_HYPERCALL, NULL, 8, 1, 0, false);
	strace_summary_sort(&summary);
	assert_int_equal(summary.nr, 6);
	/* without the exit, which is in a hypercall */
	assert_int_equal(summary.outer, 138);
	assert_string_equal(summary.sums[0].name, "long");
	assert_string_equal(summary.sums[1].name, "trap");
	assert_string_equal(summary.sums[2].name, "same");
	assert_int_equal(summary.sums[2].calls, 2);
	assert_int_equal(summary.sums[2].errors, 1);
	assert_int_equal(summary.sums[2].total, 30);
	assert_int_equal(summary.sums[3].kind, HYPTRACE_KIND_SMC);
	assert_int_equal(summary.sums[4].key, 8);
	assert_int_equal(summary.sums[4].calls, 2);
	assert_int_equal(summary.sums[5].key, 7);
	assert_int_equal(summary.sums[5].errors, 1);
	strace_summary_free(&summary);
}

static void numbers_without_names(void **state)
{
	char number[STRACE_NUMBER_SIZE];

	(void)state;
	assert_string_equal(strace_name("irq", 0, number), "irq");
	assert_string_equal(strace_name(NULL, 77, number), "0x4d");
	assert_string_equal(strace_name(NULL, HYPTRACE_KEY_TRAP | 0x3f, number), "0x3f");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums),
		cmocka_unit_test(numbers_without_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
