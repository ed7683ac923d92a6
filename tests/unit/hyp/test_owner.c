// SPDX-License-Identifier: GPL-2.0-only
/* The owner of a page, from the states that pKVM keeps of it. */
#include "hyp_env.h"

#define NONE		HYPTRACE_PAGE_STATE_NONE
#define OWNED		HYPTRACE_PAGE_STATE_OWNED
#define SHARED		HYPTRACE_PAGE_STATE_SHARED
#define BORROWED	HYPTRACE_PAGE_STATE_BORROWED

static s64 ask(u64 pfn)
{
	return hyptrace_hcall(HYPTRACE_OP_PAGE, pfn, 1, 2);
}

static void each_pair_of_states(void **state)
{
	static const struct {
		struct hyptrace_page_states states;
		enum hyptrace_page_owner owner;
	} pages[] = {
		{ { OWNED, NONE, 0 }, HYPTRACE_PAGE_HOST },
		{ { SHARED, BORROWED, 0 }, HYPTRACE_PAGE_HOST_SHARED_HYP },
		{ { SHARED, NONE, 0 }, HYPTRACE_PAGE_HOST_SHARED_FFA },
		{ { SHARED, NONE, 1 }, HYPTRACE_PAGE_HOST_SHARED_GUEST },
		{ { SHARED, NONE, 7 }, HYPTRACE_PAGE_HOST_SHARED_GUEST },
		{ { NONE, OWNED, 0 }, HYPTRACE_PAGE_HYP },
		{ { BORROWED, SHARED, 0 }, HYPTRACE_PAGE_HYP_SHARED_HOST },
		{ { NONE, NONE, 0 }, HYPTRACE_PAGE_GUEST },
		/* A guest shares its page with the host: EL2 says no more than of any other. */
		{ { BORROWED, NONE, 0 }, HYPTRACE_PAGE_GUEST },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ENV_NR(pages); i++) {
		env_page_states = pages[i].states;
		assert_int_equal(ask(i), pages[i].owner);
		assert_int_equal(env_page_asked, i);
	}
}

/* Also in states that pKVM does not have: the answer is an owner. */
static void any_states_have_an_owner(void **state)
{
	unsigned int host, hyp, nr;
	s64 owner;

	(void)state;
	for (host = 0; host < 5; host++) {
		for (hyp = 0; hyp < 5; hyp++) {
			for (nr = 0; nr < 2; nr++) {
				env_page_states = (struct hyptrace_page_states){ host, hyp, nr };
				owner = ask(0);
				assert_true(owner > HYPTRACE_PAGE_NO_MEMORY &&
					    owner < HYPTRACE_NR_PAGE_OWNERS);
			}
		}
	}
}

static void pages_without_a_state(void **state)
{
	(void)state;
	env_page_error = -ENOENT;
	assert_int_equal(ask(~0ULL), HYPTRACE_PAGE_NO_MEMORY);
	assert_true(env_page_asked == ~0ULL);
	env_page_error = -EOPNOTSUPP;
	assert_int_equal(ask(5), -EOPNOTSUPP);
	env_page_error = -ERANGE;
	assert_int_equal(ask(5), -ERANGE);
	env_page_error = 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_pair_of_states),
		cmocka_unit_test(any_states_have_an_owner),
		cmocka_unit_test(pages_without_a_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
