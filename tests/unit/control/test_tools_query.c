// SPDX-License-Identifier: GPL-2.0-only
/*
 * One remote, one CPU, one event, all hypercalls.
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
#include "conversation.h"
#include "fail_alloc.h"
#include "fake_netlink.h"

#define EXCHANGES	6

static struct hyptrace *h;
static struct hyptrace_error err;

static int setup(void **state)
{
	(void)state;
	memset(&err, 0, sizeof(err));
	fake_netlink_begin(conversation_answer);
	h = hyptrace_open(&err);
	return conversation_read() == EXCHANGES && h ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	hyptrace_close(h);
	h = NULL;
	fake_netlink_begin(NULL);
	return fake_netlink_nr_open();
}

/* The good end of a dump. */
static void reply_done(void)
{
	struct {
		struct nlmsghdr		nlh;
		int			error;
	} end = {
		.nlh = { .nlmsg_len = sizeof(end), .nlmsg_type = NLMSG_DONE,
			 .nlmsg_flags = NLM_F_MULTI },
	};

	fake_netlink_reply(&end, sizeof(end));
}

/* A CPU of which all is said, each number another one. */
static void answer_cpu(const struct nlmsghdr *request)
{
	struct nl_msg *msg = nlmsg_alloc();

	(void)request;
	genlmsg_put(msg, 0, 0, FAKE_FAMILY, 0, NLM_F_MULTI, HYPTRACE_CMD_CPU_GET, 1);
	nla_put_u32(msg, HYPTRACE_A_CPU_ID, 1);
	nla_put_u32(msg, HYPTRACE_A_CPU_STATE, 2);
	nla_put_u32(msg, HYPTRACE_A_CPU_NR_SUBBUFS, 3);
	nla_put_u64(msg, HYPTRACE_A_CPU_WRITTEN, 4);
	nla_put_u64(msg, HYPTRACE_A_CPU_READ, 5);
	nla_put_u64(msg, HYPTRACE_A_CPU_OVERRUN, 6);
	nla_put_u64(msg, HYPTRACE_A_CPU_DROPPED, 7);
	nla_put_u64(msg, HYPTRACE_A_CPU_UNREAD, 8);
	nla_put_u32(msg, HYPTRACE_A_CPU_CONSUMER, 9);
	nla_put_u32(msg, HYPTRACE_A_CPU_USED_SUBBUFS, 10);
	nla_put_u64(msg, HYPTRACE_A_CPU_FILTERED, 11);
	fake_netlink_reply(nlmsg_hdr(msg), nlmsg_hdr(msg)->nlmsg_len);
	reply_done();
	nlmsg_free(msg);
}

static void whole_cpu(void **state)
{
	struct hyptrace_cpu **c;
	unsigned int nr;

	(void)state;
	fake_netlink_begin(answer_cpu);
	assert_int_equal(hyptrace_get_cpus(h, "test", &c, &nr, &err), 0);
	assert_int_equal(nr, 1);
	assert_int_equal(c[0]->id, 1);
	assert_int_equal(c[0]->state, 2);
	assert_int_equal(c[0]->nr_subbufs, 3);
	assert_int_equal(c[0]->written, 4);
	assert_int_equal(c[0]->read, 5);
	assert_int_equal(c[0]->overrun, 6);
	assert_int_equal(c[0]->dropped, 7);
	assert_int_equal(c[0]->unread, 8);
	assert_int_equal(c[0]->consumer, 9);
	assert_int_equal(c[0]->used_subbufs, 10);
	assert_int_equal(c[0]->filtered, 11);
	hyptrace_free_cpus(c);
}

static unsigned int nr_of_one;
static int error_of_one;

/* The first message of a recorded dump, so many times, and the end of the answer. */
static void answer_one(const struct nlmsghdr *request)
{
	const struct genlmsghdr *genl = (const void *)((const char *)request + NLMSG_HDRLEN);
	const struct datagram *answer = conversation_find(genl->cmd,
							  genl->cmd == HYPTRACE_CMD_CPU_GET);
	const struct nlmsghdr *first = (const void *)answer->data;
	struct nlmsghdr *one = alloc_surely(first->nlmsg_len);
	unsigned int i;

	assert_int_equal(request->nlmsg_flags, NLM_F_REQUEST | NLM_F_ACK);
	memcpy(one, first, first->nlmsg_len);
	one->nlmsg_flags = 0;
	one->nlmsg_seq = 0;
	for (i = 0; i < nr_of_one; i++)
		fake_netlink_reply(one, one->nlmsg_len);
	free(one);
	fake_netlink_ack(request, error_of_one);
}

static int get_one(unsigned int which)
{
	struct hyptrace_remote *r = NULL;
	struct hyptrace_event *e = NULL;
	struct hyptrace_cpu *c = NULL;
	int ret;

	switch (which) {
	case 0:
		ret = hyptrace_get_remote(h, "hypervisor", &r, &err);
		if (!ret)
			assert_string_equal(r->name, "hypervisor");
		break;
	case 1:
		ret = hyptrace_get_cpu(h, "test", 0, &c, &err);
		if (!ret)
			assert_int_equal(c->written, 5);
		break;
	default:
		ret = hyptrace_get_event(h, "hypervisor", "hyp_enter", &e, &err);
		if (!ret)
			assert_string_equal(e->fields[0]->name, "reason");
		break;
	}
	assert_int_equal(!r + !c + !e, ret ? 3 : 2);
	hyptrace_free_remote(r);
	hyptrace_free_cpu(c);
	hyptrace_free_event(e);
	return ret;
}

static void one_of_each(void **state)
{
	/* the request and the list; then the item */
	static const unsigned int places[] = {
		3 + 1 + 4, 4 + 1 + 2, 4 + 1 + 3 + 2 * 4 + 4 + 9 * 2,
	};
	struct nlattr *tb[HYPTRACE_A_CPU_MAX + 1];
	unsigned int which, nth;
	bool failed;
	int ret;

	(void)state;
	fake_netlink_begin(answer_one);
	nr_of_one = 1;
	for (which = 0; which < 3; which++) {
		for (failed = true, nth = 1; failed; nth++) {
			fail_alloc(nth);
			ret = get_one(which);
			failed = fail_alloc_end();
			assert_int_equal(ret, failed ? -ENOMEM : 0);
		}
		assert_int_equal(nth - 2, places[which]);
	}
	/* what the last request named */
	genlmsg_parse(&fake_netlink.sent.nlh, 0, tb, HYPTRACE_A_CPU_MAX, NULL);
	assert_string_equal(nla_get_string(tb[HYPTRACE_A_EVENT_REMOTE]), "hypervisor");
	assert_string_equal(nla_get_string(tb[HYPTRACE_A_EVENT_NAME]), "hyp_enter");
	assert_int_equal(get_one(1), 0);
	genlmsg_parse(&fake_netlink.sent.nlh, 0, tb, HYPTRACE_A_CPU_MAX, NULL);
	assert_string_equal(nla_get_string(tb[HYPTRACE_A_CPU_REMOTE]), "test");
	assert_int_equal(nla_get_u32(tb[HYPTRACE_A_CPU_ID]), 0);

	for (which = 0; which < 3; which++) {
		for (nr_of_one = 0; nr_of_one < 3; nr_of_one += 2) {
			assert_int_equal(get_one(which), -EBADMSG);
			assert_string_equal(err.text, "the kernel's answer makes no sense");
		}
		error_of_one = -ENODEV;
		nr_of_one = 0;
		assert_int_equal(get_one(which), -ENODEV);
		error_of_one = 0;
	}
}

static unsigned int nr_of_hypercalls;

static void answer_hypercalls(const struct nlmsghdr *request)
{
	unsigned int i;

	assert_int_equal(request->nlmsg_flags & NLM_F_DUMP, NLM_F_DUMP);
	for (i = 1; i <= nr_of_hypercalls; i++) {
		struct nl_msg *msg = nlmsg_alloc();

		genlmsg_put(msg, 0, 0, FAKE_FAMILY, 0, NLM_F_MULTI, HYPTRACE_CMD_HYPERCALL_GET, 1);
		nla_put_u32(msg, HYPTRACE_A_HYPERCALL_ID, i);
		nla_put_string(msg, HYPTRACE_A_HYPERCALL_NAME, "call");
		fake_netlink_reply(nlmsg_hdr(msg), nlmsg_hdr(msg)->nlmsg_len);
		nlmsg_free(msg);
	}
	reply_done();
}

static void refuse_hypercalls(const struct nlmsghdr *request)
{
	fake_netlink_ack(request, error_of_one);
}

static void all_hypercalls(void **state)
{
	struct nlattr *tb[HYPTRACE_A_HYPERCALL_MAX + 1];
	struct hyptrace_hypercall **calls;
	unsigned int nr;

	(void)state;
	fake_netlink_begin(answer_hypercalls);
	for (nr_of_hypercalls = 0; nr_of_hypercalls <= 2; nr_of_hypercalls++) {
		assert_int_equal(hyptrace_get_hypercalls(h, "test", &calls, &nr, &err), 0);
		assert_int_equal(nr, nr_of_hypercalls);
		assert_null(calls[nr]);
		if (nr)
			assert_int_equal(calls[nr - 1]->id, nr);
		hyptrace_free_hypercalls(calls);
	}
	assert_int_equal(fake_netlink.nr_sent, 3);
	genlmsg_parse(&fake_netlink.sent.nlh, 0, tb, HYPTRACE_A_HYPERCALL_MAX, NULL);
	assert_string_equal(nla_get_string(tb[HYPTRACE_A_HYPERCALL_REMOTE]), "test");
}

/* A driver that does not know the request has no hypercalls. */
static void no_hypercalls(void **state)
{
	struct hyptrace_hypercall **calls;
	unsigned int nr;

	(void)state;
	fake_netlink_begin(refuse_hypercalls);
	error_of_one = -EOPNOTSUPP;
	assert_int_equal(hyptrace_get_hypercalls(h, "test", &calls, &nr, NULL), 0);
	assert_int_equal(nr, 0);
	hyptrace_free_hypercalls(calls);
	error_of_one = -ENODEV;
	assert_int_equal(hyptrace_get_hypercalls(h, "test", &calls, &nr, &err), -ENODEV);
	assert_int_equal(nr, 0);
	assert_null(calls);
	assert_int_equal(err.errnum, ENODEV);
	error_of_one = 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(whole_cpu), TEST(one_of_each), TEST(all_hypercalls), TEST(no_hypercalls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
