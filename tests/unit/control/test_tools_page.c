// SPDX-License-Identifier: GPL-2.0-only
/*
 * The request for the owners of pages, and its answer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <linux/genetlink.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "lib/internal.h"
#include "fail_alloc.h"
#include "fake_netlink.h"

#define NR_PAGES	3
#define PFN		0x1234567890ULL

static struct hyptrace *h;
static struct hyptrace_error err;
static int error;
static unsigned int nr_owners;
static bool has_owners;

static int setup(void **state)
{
	(void)state;
	fake_netlink_begin(NULL);
	h = hyptrace_open(&err);
	error = 0;
	nr_owners = NR_PAGES;
	has_owners = true;
	return h ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	hyptrace_close(h);
	fake_netlink_begin(NULL);
	return fake_netlink_nr_open();
}

static void check_request(const struct nlmsghdr *request)
{
	struct nlattr *tb[HYPTRACE_A_PAGE_MAX + 1];

	assert_false(genlmsg_parse((struct nlmsghdr *)request, 0, tb, HYPTRACE_A_PAGE_MAX, NULL));
	assert_string_equal(nla_data(tb[HYPTRACE_A_PAGE_REMOTE]), "r");
	assert_true(nla_get_u64(tb[HYPTRACE_A_PAGE_PFN]) == PFN);
	assert_int_equal(nla_get_u32(tb[HYPTRACE_A_PAGE_COUNT]), NR_PAGES);
}

static void answer(const struct nlmsghdr *request)
{
	static const uint8_t owners[] = {
		HYPTRACE_OWNERSHIP_HYP, HYPTRACE_OWNERSHIP_GUEST, 200, HYPTRACE_OWNERSHIP_HOST,
	};
	struct {
		struct nlmsghdr		nlh;
		struct genlmsghdr	genl;
		struct nlattr		attr;
		uint8_t			owners[4];
	} page = {
		.nlh = {
			.nlmsg_type = FAKE_FAMILY,
			.nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN + NLA_HDRLEN + NLA_ALIGN(nr_owners),
		},
		.genl = { .cmd = HYPTRACE_CMD_PAGE_GET },
		.attr = { .nla_type = HYPTRACE_A_PAGE_OWNERS, .nla_len = NLA_HDRLEN + nr_owners },
	};

	check_request(request);
	memcpy(page.owners, owners, sizeof(owners));
	if (!error && has_owners)
		fake_netlink_reply(&page, page.nlh.nlmsg_len);
	fake_netlink_ack(request, error);
}

static int ask(uint8_t *owners)
{
	return hyptrace_get_page_owners(h, "r", PFN, NR_PAGES, owners, &err);
}

static void owners_of_pages(void **state)
{
	uint8_t owners[NR_PAGES] = { 0 };
	bool failed = true;
	unsigned int nth;
	int ret;

	(void)state;
	fake_netlink_begin(answer);
	for (nth = 1; failed; nth++) {
		fail_alloc(nth);
		ret = ask(owners);
		failed = fail_alloc_end();
		assert_int_equal(ret, failed ? -ENOMEM : 0);
	}
	assert_true(nth > 3);
	assert_int_equal(owners[0], HYPTRACE_OWNERSHIP_HYP);
	assert_int_equal(owners[1], HYPTRACE_OWNERSHIP_GUEST);
	assert_int_equal(owners[2], 200);
}

static void refused_or_malformed(void **state)
{
	uint8_t owners[NR_PAGES];

	(void)state;
	fake_netlink_begin(answer);
	error = -EOPNOTSUPP;
	assert_int_equal(ask(owners), -EOPNOTSUPP);
	error = 0;
	for (nr_owners = 0; nr_owners <= 4; nr_owners++)
		assert_int_equal(ask(owners), nr_owners == NR_PAGES ? 0 : -EBADMSG);
	has_owners = false;
	assert_int_equal(ask(owners), -EBADMSG);
	assert_true(err.text[0]);
}

static void names(void **state)
{
	(void)state;
	assert_string_equal(hyptrace_ownership_name(HYPTRACE_OWNERSHIP_NO_MEMORY), "no-memory");
	assert_string_equal(hyptrace_ownership_name(HYPTRACE_OWNERSHIP_GUEST), "guest");
	assert_string_equal(hyptrace_ownership_name(HYPTRACE_OWNERSHIP_GUEST + 1), "unknown");
	assert_string_equal(hyptrace_ownership_name(UINT32_MAX), "unknown");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(owners_of_pages, setup, teardown),
		cmocka_unit_test_setup_teardown(refused_or_malformed, setup, teardown),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
