// SPDX-License-Identifier: GPL-2.0-only
/*
 * The request that measures visits of EL2, and its answer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <string.h>

#include <cmocka.h>
#include <linux/genetlink.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "lib/internal.h"
#include "fail_alloc.h"
#include "fake_netlink.h"

#define VISITS	100
#define TIME	0x123456789aULL
#define BEFORE	7

static struct hyptrace *h;
static struct hyptrace_error err;
static int error;
static unsigned int time_size;
static bool has_time, is_short;

static int setup(void **state)
{
	(void)state;
	fake_netlink_begin(NULL);
	h = hyptrace_open(&err);
	error = 0;
	time_size = sizeof(uint64_t);
	has_time = true;
	return h ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	hyptrace_close(h);
	fake_netlink_begin(NULL);
	return fake_netlink_nr_open();
}

static void answer(const struct nlmsghdr *request)
{
	struct {
		struct nlmsghdr		nlh;
		struct genlmsghdr	genl;
		struct nlattr		attr;
		uint8_t			time[12];
	} visit = {
		.nlh = {
			.nlmsg_type = FAKE_FAMILY,
			.nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN + NLA_HDRLEN + NLA_ALIGN(time_size),
		},
		.genl = { .cmd = HYPTRACE_CMD_VISIT_GET },
		.attr = { .nla_type = HYPTRACE_A_VISIT_TIME, .nla_len = NLA_HDRLEN + time_size },
	};
	struct nlattr *tb[HYPTRACE_A_VISIT_MAX + 1];
	const uint64_t ns = TIME;

	assert_false(genlmsg_parse((struct nlmsghdr *)request, 0, tb, HYPTRACE_A_VISIT_MAX, NULL));
	assert_string_equal(nla_data(tb[HYPTRACE_A_VISIT_REMOTE]), "r");
	assert_int_equal(nla_get_u32(tb[HYPTRACE_A_VISIT_COUNT]), VISITS);
	memcpy(visit.time, &ns, sizeof(ns));
	if (is_short)
		visit.nlh.nlmsg_len = NLMSG_HDRLEN;
	if (!error && has_time)
		fake_netlink_reply(&visit, visit.nlh.nlmsg_len);
	fake_netlink_ack(request, error);
}

static void time_of_visits(void **state)
{
	bool failed = true;
	unsigned int nth;
	uint64_t ns;
	int ret;

	(void)state;
	fake_netlink_begin(answer);
	for (nth = 1; failed; nth++) {
		ns = BEFORE;
		fail_alloc(nth);
		ret = hyptrace_time_visits(h, "r", VISITS, &ns, &err);
		failed = fail_alloc_end();
		assert_int_equal(ret, failed ? -ENOMEM : 0);
		assert_true(ns == (failed ? BEFORE : TIME));
	}
	assert_true(nth > 3);
}

static void refused_or_malformed(void **state)
{
	uint64_t ns = BEFORE;

	(void)state;
	fake_netlink_begin(answer);
	error = -EOPNOTSUPP;
	assert_int_equal(hyptrace_time_visits(h, "r", VISITS, &ns, &err), -EOPNOTSUPP);
	error = 0;
	for (time_size = 0; time_size <= 12; time_size += 4) {
		if (time_size == sizeof(uint64_t))
			continue;
		assert_int_equal(hyptrace_time_visits(h, "r", VISITS, &ns, &err), -EBADMSG);
		assert_string_equal(err.text, "the kernel's answer makes no sense");
	}
	time_size = sizeof(uint64_t);
	has_time = false;
	assert_int_equal(hyptrace_time_visits(h, "r", VISITS, &ns, &err), -EBADMSG);
	assert_string_equal(err.text, "the driver has not answered");
	/* it has not even the header of the family */
	has_time = true;
	is_short = true;
	assert_int_equal(hyptrace_time_visits(h, "r", VISITS, &ns, &err), -EBADMSG);
	assert_string_equal(err.text, "the kernel's answer makes no sense");
	is_short = false;
	assert_true(ns == BEFORE);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(time_of_visits, setup, teardown),
		cmocka_unit_test_setup_teardown(refused_or_malformed, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
