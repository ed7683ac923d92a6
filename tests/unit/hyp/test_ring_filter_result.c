// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters at EL2 that compare the result of a hypercall: a hypercall that returns nothing, or that
 * is invalid, has none, so that the comparison is false.
 */
#include "filter_terms.h"
#include "ring_decode.h"

#define CPU		FILTER_CPU
#define ACCEPT		HYPTRACE_FILTER_ACCEPT
#define REJECT		HYPTRACE_FILTER_REJECT

/* These return nothing, as the numbers from 128 on cannot. */
#define VOID		5
#define VOID_TOO	127
#define NOT_VOID	6
#define LARGE		133

static s64 set_void(u64 first, u64 bits)
{
	return hyptrace_hcall(HYPTRACE_OP_VOID_HCALLS, first, bits, 0);
}

static int start(void **state)
{
	assert_int_equal(filter_start(state), 0);
	env_counter = 1000;
	assert_int_equal(set_void(0, BIT_ULL(VOID)), 0);

	return set_void(64, BIT_ULL(VOID_TOO - 64));
}

static int stop(void **state)
{
	assert_int_equal(set_void(0, 0), 0);
	assert_int_equal(set_void(64, 0), 0);

	return filter_stop(state);
}

#define TERM(field, op_, value_, true_, false_)					\
	{									\
		.offset = offsetof(struct hyptrace_entry_host_hcall, field),	\
		.width = sizeof(((struct hyptrace_entry_host_hcall *)0)->field), \
		.op = HYPTRACE_TERM_##op_, .value = value_,			\
		.is_signed = offsetof(struct hyptrace_entry_host_hcall, field) == \
			     offsetof(struct hyptrace_entry_host_hcall, ret),	\
		.on_true = true_, .on_false = false_,				\
	}

static void set(const struct hyptrace_term *terms, u32 nr)
{
	assert_int_equal(filter_set(CPU, HYPTRACE_EVENT_host_hcall, terms, nr), 0);
}

/* Whether a hypercall is recorded */
static bool passes(u64 id, bool invalid, s64 ret, u64 ns)
{
	struct filter_counts before = filter_before();
	u64 regs[31] = {};

	hyptrace_begin(host_hcall, id, regs);
	env_counter += ns;
	regs[0] = invalid ? -1 : 0;
	regs[1] = ret;
	hyptrace(host_hcall, regs);

	return filter_passed(before);
}

static void no_result(void **state)
{
	static const struct hyptrace_term less[] = { TERM(ret, LT, 0, ACCEPT, REJECT) };
	static const struct hyptrace_term not_less[] = { TERM(ret, LT, 0, REJECT, ACCEPT) };
	static const struct hyptrace_term not_equal[] = { TERM(ret, NE, 0, ACCEPT, REJECT) };

	(void)state;
	set(less, 1);
	assert_true(passes(NOT_VOID, false, -1, 1));
	assert_false(passes(NOT_VOID, false, 1, 1));
	assert_false(passes(NOT_VOID, true, -1, 1));
	assert_false(passes(VOID, false, -1, 1));
	assert_false(passes(VOID_TOO, false, -1, 1));
	assert_true(passes(LARGE, false, -1, 1));
	assert_true(passes(VOID + 64, false, -1, 1));

	set(not_less, 1);
	assert_false(passes(NOT_VOID, false, -1, 1));
	assert_true(passes(VOID, false, -1, 1));
	assert_true(passes(NOT_VOID, true, -1, 1));

	/* an operator that holds outside a range */
	set(not_equal, 1);
	assert_true(passes(NOT_VOID, false, 7, 1));
	assert_false(passes(VOID, false, 7, 1));
	assert_false(passes(VOID, false, 0, 1));
}

/* Only the comparison of the result is false: the others are made. */
static void one_of_several(void **state)
{
	static const struct hyptrace_term terms[] = {
		TERM(ret, LT, 0, ACCEPT, 1), TERM(duration, GT, 1000, ACCEPT, REJECT),
	};

	(void)state;
	set(terms, 2);
	assert_true(passes(VOID, false, -1, 5000));
	assert_false(passes(VOID, false, -1, 10));
	assert_true(passes(NOT_VOID, false, -1, 10));
	/* as seen from the result: the numbers can change while a filter is set */
	assert_int_equal(set_void(0, BIT_ULL(NOT_VOID)), 0);
	assert_true(passes(VOID, false, -1, 10));
	assert_false(passes(NOT_VOID, false, -1, 10));
}

static void malformed(void **state)
{
	static const struct hyptrace_term less[] = { TERM(ret, LT, 0, ACCEPT, REJECT) };

	(void)state;
	set(less, 1);
	assert_int_equal(set_void(1, ~0ULL), -EINVAL);
	assert_int_equal(set_void(63, ~0ULL), -EINVAL);
	assert_int_equal(set_void(128, ~0ULL), -EINVAL);
	assert_int_equal(set_void(~0ULL << 6, ~0ULL), -EINVAL);
	assert_true(passes(NOT_VOID, false, -1, 1));
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_result), TEST(one_of_several), TEST(malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
