// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests for counters, and their answers; then the sums that the command prints.
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

#include "session/select.h"
#include "lib/internal.h"
#include "fail_alloc.h"
#include "fake_netlink.h"

#define NR_BUCKETS	32
#define FREQUENCY	62500000

static struct hyptrace *h;
static struct hyptrace_error err;
static unsigned int nr_dumps;
static int error;

/* Answers, which are made before allocations fail */
static struct nl_msg *counter_msgs[5], *event_msgs[3];

static void reply_done(int flags)
{
	struct {
		struct nlmsghdr		nlh;
		int			error;
	} end = {
		.nlh = { .nlmsg_len = sizeof(end), .nlmsg_type = NLMSG_DONE,
			 .nlmsg_flags = NLM_F_MULTI | flags },
	};

	fake_netlink_reply(&end, sizeof(end));
}

static struct nl_msg *begin(int cmd)
{
	struct nl_msg *msg = nlmsg_alloc();

	genlmsg_put(msg, 0, 0, FAKE_FAMILY, 0, NLM_F_MULTI, cmd, 1);
	return msg;
}

static void reply(struct nl_msg *const *msgs)
{
	for (; *msgs; msgs++)
		fake_netlink_reply(nlmsg_hdr(*msgs), nlmsg_hdr(*msgs)->nlmsg_len);
}

static struct nl_msg *begin_counter(unsigned int cpu, const char *event, const char *field,
				    uint64_t count)
{
	struct nl_msg *msg = begin(HYPTRACE_CMD_COUNT_GET);

	nla_put_string(msg, HYPTRACE_A_COUNTER_REMOTE, "r");
	nla_put_u32(msg, HYPTRACE_A_COUNTER_CPU, cpu);
	nla_put_string(msg, HYPTRACE_A_COUNTER_EVENT, event);
	nla_put_string(msg, HYPTRACE_A_COUNTER_FIELD, field);
	nla_put_u64(msg, HYPTRACE_A_COUNTER_COUNT, count);
	return msg;
}

/* A time outside of EL2: neither a number nor buckets */
static void make_outside(void)
{
	struct nl_msg *msg = begin(HYPTRACE_CMD_COUNT_GET);

	nla_put_string(msg, HYPTRACE_A_COUNTER_REMOTE, "r");
	nla_put_u32(msg, HYPTRACE_A_COUNTER_CPU, 2);
	nla_put_string(msg, HYPTRACE_A_COUNTER_EVENT, "hyp_exit");
	nla_put_string(msg, HYPTRACE_A_COUNTER_FIELD, "reason");
	nla_put_u64(msg, HYPTRACE_A_COUNTER_VALUE, 6);
	nla_put_u64(msg, HYPTRACE_A_COUNTER_TOTAL, 11);
	nla_put_u64(msg, HYPTRACE_A_COUNTER_NOW, 12);
	counter_msgs[3] = msg;
}

/* Two counters with times, one of them of all other values, and one without; a time outside */
static void make_counters(unsigned int nr_buckets)
{
	uint64_t buckets[65] = { [2] = 3, [31] = 4 }, pmu[] = { 10, 20, 30, 40, 50 };
	struct nl_msg *msg;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		msg = begin_counter(i, "host_hcall", "id", 7);
		if (!i)
			nla_put_u64(msg, HYPTRACE_A_COUNTER_VALUE, 5);
		nla_put_u64(msg, HYPTRACE_A_COUNTER_TOTAL, 8);
		nla_put_u64(msg, HYPTRACE_A_COUNTER_LONGEST, 9);
		nla_put(msg, HYPTRACE_A_COUNTER_BUCKETS, nr_buckets * sizeof(buckets[0]), buckets);
		nla_put_u64(msg, HYPTRACE_A_COUNTER_FREQUENCY, FREQUENCY);
		/* a later driver may have more, an earlier one less */
		nla_put_u64(msg, HYPTRACE_A_COUNTER_MEASURED, 6);
		nla_put(msg, HYPTRACE_A_COUNTER_PMU, i ? 2 * sizeof(pmu[0]) : sizeof(pmu), pmu);
		counter_msgs[i] = msg;
	}
	msg = begin_counter(1, "mem_transition", "op", 10);
	nla_put_u64(msg, HYPTRACE_A_COUNTER_VALUE, 5);
	counter_msgs[2] = msg;
	make_outside();
}

/*
 * Two events whose field has a name for the value 5, and for 0, which those of all other values
 * seem to have; "op" is the second field of one.
 */
static void make_events(void)
{
	static const char *const names[] = { "mem_transition", "host_hcall" };
	static const char *const fields[] = { "op", "id" };
	struct nlattr *field, *symbol;
	struct nl_msg *msg;
	unsigned int i, j;

	for (i = 0; i < 2; i++) {
		msg = begin(HYPTRACE_CMD_EVENT_GET);
		nla_put_string(msg, HYPTRACE_A_EVENT_NAME, names[i]);
		nla_put_u32(msg, HYPTRACE_A_EVENT_ID, i + 1);
		if (i)
			nla_put_u8(msg, HYPTRACE_A_EVENT_COUNTED, 1);
		for (j = i; j < 2; j++) {
			field = nla_nest_start(msg, HYPTRACE_A_EVENT_FIELD);
			nla_put_string(msg, HYPTRACE_A_FIELD_NAME, fields[j]);
			symbol = nla_nest_start(msg, HYPTRACE_A_FIELD_SYMBOL);
			nla_put_u64(msg, HYPTRACE_A_SYMBOL_VALUE, 5);
			nla_put_string(msg, HYPTRACE_A_SYMBOL_NAME, i ? "call5" : "five");
			nla_nest_end(msg, symbol);
			symbol = nla_nest_start(msg, HYPTRACE_A_FIELD_SYMBOL);
			nla_put_string(msg, HYPTRACE_A_SYMBOL_NAME, "zero");
			nla_nest_end(msg, symbol);
			nla_nest_end(msg, field);
		}
		event_msgs[i] = msg;
	}
}

static void free_msgs(struct nl_msg **msgs)
{
	for (; *msgs; msgs++) {
		nlmsg_free(*msgs);
		*msgs = NULL;
	}
}

static int setup(void **state)
{
	(void)state;
	memset(&err, 0, sizeof(err));
	fake_netlink_begin(NULL);
	h = hyptrace_open(&err);
	make_counters(NR_BUCKETS);
	make_events();
	nr_dumps = 0;
	error = 0;
	return h ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	free_msgs(counter_msgs);
	free_msgs(event_msgs);
	hyptrace_close(h);
	fake_netlink_begin(NULL);
	return fake_netlink_nr_open();
}

static void answer(const struct nlmsghdr *request)
{
	const struct genlmsghdr *genl = (const void *)((const char *)request + NLMSG_HDRLEN);

	if (error) {
		fake_netlink_ack(request, error);
		return;
	}
	if (!(request->nlmsg_flags & NLM_F_DUMP)) {
		fake_netlink_ack(request, 0);
		return;
	}
	if (genl->cmd == HYPTRACE_CMD_EVENT_GET) {
		reply(event_msgs);
		reply_done(0);
		return;
	}
	reply(counter_msgs);
	/* The first dump is interrupted. */
	reply_done(nr_dumps++ ? 0 : NLM_F_DUMP_INTR);
}

static void check_counters(struct hyptrace_event_counter *const *c, unsigned int nr)
{
	assert_int_equal(nr, 4);
	assert_null(c[4]);
	assert_int_equal(c[0]->now, 0);
	assert_int_equal(c[3]->value, 6);
	assert_true(c[3]->has_time);
	assert_int_equal(c[3]->count, 0);
	assert_int_equal(c[3]->total, 11);
	assert_int_equal(c[3]->now, 12);
	assert_int_equal(c[3]->nr_buckets, 0);
	assert_string_equal(c[0]->remote, "r");
	assert_string_equal(c[0]->event, "host_hcall");
	assert_int_equal(c[0]->cpu, 0);
	assert_string_equal(c[0]->field, "id");
	assert_int_equal(c[0]->value, 5);
	assert_false(c[0]->is_others);
	assert_string_equal(c[0]->name, "call5");
	assert_int_equal(c[0]->count, 7);
	assert_true(c[0]->has_time);
	assert_int_equal(c[0]->total, 8);
	assert_int_equal(c[0]->longest, 9);
	assert_int_equal(c[0]->frequency, FREQUENCY);
	assert_int_equal(c[0]->nr_buckets, NR_BUCKETS);
	assert_int_equal(c[0]->buckets[2], 3);
	assert_int_equal(c[0]->buckets[31], 4);
	assert_int_equal(c[0]->measured, 6);
	assert_int_equal(c[0]->pmu[3], 40);
	assert_int_equal(c[1]->pmu[1], 20);
	assert_int_equal(c[1]->pmu[2], 0);
	assert_int_equal(c[2]->measured, 0);
	assert_int_equal(hyptrace_counter_bucket(c[0], 0), 0);
	assert_int_equal(hyptrace_counter_bucket(c[0], 1), 16);
	assert_int_equal(hyptrace_counter_bucket(c[0], 2), 32);
	assert_int_equal(hyptrace_counter_bucket(c[0], 31), UINT64_C(16) << 30);

	assert_int_equal(c[1]->cpu, 1);
	assert_true(c[1]->is_others);
	assert_int_equal(c[1]->value, 0);
	assert_null(c[1]->name);

	assert_string_equal(c[2]->name, "five");
	assert_false(c[2]->has_time);
	assert_int_equal(c[2]->count, 10);
	assert_int_equal(c[2]->nr_buckets, 0);
	assert_int_equal(hyptrace_counter_bucket(c[2], 3), 0);
}

static void counters(void **state)
{
	struct hyptrace_event_counter **c;
	bool failed = true;
	unsigned int nr, nth;
	int ret;

	(void)state;
	fake_netlink_begin(answer);
	for (nth = 1; failed; nth++) {
		fail_alloc(nth);
		ret = hyptrace_get_counters(h, "r", HYPTRACE_CPU_ALL, &c, &nr, &err);
		failed = fail_alloc_end();
		if (failed) {
			assert_int_equal(ret, -ENOMEM);
			assert_null(c);
			assert_int_equal(nr, 0);
		} else {
			assert_int_equal(ret, 0);
			check_counters(c, nr);
		}
		hyptrace_free_counters(c);
	}
	assert_true(nth > 20);
}

static void refused_or_malformed(void **state)
{
	struct hyptrace_event_counter **c;
	unsigned int nr;

	(void)state;
	fake_netlink_begin(answer);
	error = -EOPNOTSUPP;
	assert_int_equal(hyptrace_get_counters(h, "r", 3, &c, &nr, &err), -EOPNOTSUPP);
	assert_null(c);
	assert_int_equal(hyptrace_control(h, HYPTRACE_CMD_COUNT_RESET, "r", 3, NULL, NULL),
			 -EOPNOTSUPP);
	error = 0;
	/* 2^64 ticks do not fit a u64. */
	free_msgs(counter_msgs);
	make_counters(65);
	assert_int_equal(hyptrace_get_counters(h, "r", 3, &c, &nr, &err), -EBADMSG);
	free_msgs(counter_msgs);
	make_counters(64);
	assert_int_equal(hyptrace_get_counters(h, "r", 3, &c, &nr, &err), 0);
	assert_int_equal(c[0]->nr_buckets, 64);
	hyptrace_free_counters(c);
	hyptrace_free_counters(NULL);
}

static void sent(int cmd, struct nlattr **tb, int max)
{
	assert_int_equal(genlmsg_hdr(&fake_netlink.sent.nlh)->cmd, cmd);
	assert_int_equal(genlmsg_parse(&fake_netlink.sent.nlh, 0, tb, max, NULL), 0);
	assert_string_equal(nla_get_string(tb[1]), "r");
}

static void requests(void **state)
{
	static const char *names[HYPTRACE_EVENT_LIST_MAX + 1] = { "a", "b" };
	struct nlattr *tb[HYPTRACE_A_EVENT_MAX + HYPTRACE_A_COUNTER_MAX + 1], *attr;
	struct hyptrace_event_counter **c;
	unsigned int nr, on, i;
	int rem;

	(void)state;
	fake_netlink_begin(answer);
	for (on = 0; on < 2; on++) {
		assert_int_equal(hyptrace_count_events(h, "r", names, 2, on, 0, &err), 0);
		sent(HYPTRACE_CMD_COUNT_SET, tb, HYPTRACE_A_EVENT_MAX);
		assert_int_equal(nla_get_u8(tb[HYPTRACE_A_EVENT_ENABLED]), on);
		assert_string_equal(nla_get_string(tb[HYPTRACE_A_EVENT_NAMES]), "b");
	}
	assert_int_equal(hyptrace_hold_counters(h, "r", names, 2, (uint32_t[]){ 8, 17 }, 2, &err),
			 0);
	sent(HYPTRACE_CMD_COUNT_SET, tb, HYPTRACE_A_EVENT_MAX);
	assert_int_equal(nla_get_u8(tb[HYPTRACE_A_EVENT_ENABLED]), 1);
	assert_non_null(tb[HYPTRACE_A_EVENT_HOLD]);
	i = 0;
	nla_for_each_attr(attr, genlmsg_attrdata(genlmsg_hdr(&fake_netlink.sent.nlh), 0),
			  genlmsg_attrlen(genlmsg_hdr(&fake_netlink.sent.nlh), 0), rem)
		if (nla_type(attr) == HYPTRACE_A_EVENT_PMU)
			assert_int_equal(nla_get_u32(attr), i++ ? 17 : 8);
	assert_int_equal(i, 2);
	nr = fake_netlink.nr_sent;
	assert_int_equal(hyptrace_count_events(h, "r", names, HYPTRACE_EVENT_LIST_MAX + 1, true,
					       0, &err), -E2BIG);
	assert_int_equal(fake_netlink.nr_sent, nr);

	assert_int_equal(hyptrace_control(h, HYPTRACE_CMD_COUNT_RESET, "r", HYPTRACE_CPU_ALL, NULL,
					  &err), 0);
	sent(HYPTRACE_CMD_COUNT_RESET, tb, HYPTRACE_A_CONTROL_MAX);
	assert_null(tb[HYPTRACE_A_CONTROL_CPU]);
	assert_int_equal(hyptrace_control(h, HYPTRACE_CMD_COUNT_RESET, "r", 4, NULL, &err), 0);
	sent(HYPTRACE_CMD_COUNT_RESET, tb, HYPTRACE_A_CONTROL_MAX);
	assert_int_equal(nla_get_u32(tb[HYPTRACE_A_CONTROL_CPU]), 4);

	error = -ENXIO;
	assert_int_equal(hyptrace_get_counters(h, "r", HYPTRACE_CPU_ALL, &c, &nr, &err), -ENXIO);
	sent(HYPTRACE_CMD_COUNT_GET, tb, HYPTRACE_A_COUNTER_MAX);
	assert_null(tb[HYPTRACE_A_COUNTER_CPU]);
	assert_int_equal(hyptrace_get_counters(h, "r", 4, &c, &nr, &err), -ENXIO);
	sent(HYPTRACE_CMD_COUNT_GET, tb, HYPTRACE_A_COUNTER_MAX);
	assert_int_equal(nla_get_u32(tb[HYPTRACE_A_COUNTER_CPU]), 4);
}

static struct hyptrace_event_counter counter_of(char *event, uint32_t cpu, uint64_t value,
						uint64_t total, uint64_t *buckets)
{
	struct hyptrace_event_counter counter = {
		.cpu = cpu, .field = "f", .value = value, .count = 1, .has_time = true,
		.total = total, .longest = total, .buckets = buckets, .nr_buckets = 2,
	};

	strcpy(counter.event, event);
	return counter;
}

/* Sums are in the order of events, then of CPUs, then of times. */
static void sums(void **state)
{
	struct hyptrace_event first = { .name = "x", .id = 1, .counted = true };
	struct hyptrace_event second = { .name = "y", .id = 2, .counted = true };
	struct hyptrace_event third = { .name = "z", .id = 3 };
	struct hyptrace_event *events[] = { &third, &second, &first, NULL };
	uint64_t buckets[] = { 3, 4 };
	struct hyptrace_event_counter counters[] = {
		counter_of("x", 0, 1, 10, buckets), counter_of("x", 0, 2, 25, buckets),
		counter_of("x", 1, 1, 20, buckets), counter_of("z", 1, 1, 90, buckets),
		counter_of("unknown", 1, 1, 90, buckets),
	};
	struct counter_sums all = {}, each = {};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		counter_sums_add(&all, events, &counters[i], true);
		counter_sums_add(&each, events, &counters[i], false);
	}
	counter_sums_add_unused(&all, events);
	counter_sums_sort(&all);
	counter_sums_sort(&each);

	assert_int_equal(all.nr, 4);
	assert_ptr_equal(all.sums[0].of, &counters[0]);
	assert_true(all.sums[0].all_cpus);
	assert_int_equal(all.sums[0].count, 2);
	assert_int_equal(all.sums[0].total, 30);
	assert_int_equal(all.sums[0].longest, 20);
	assert_int_equal(all.sums[0].buckets[0], 6);
	assert_int_equal(all.sums[0].buckets[1], 8);
	assert_ptr_equal(all.sums[1].of, &counters[1]);
	/* counted, but it did not happen */
	assert_ptr_equal(all.sums[2].event, &second);
	assert_null(all.sums[2].of);
	assert_int_equal(all.sums[2].count, 0);
	assert_true(all.sums[2].all_cpus);
	assert_ptr_equal(all.sums[3].event, &third);

	assert_int_equal(each.nr, 4);
	assert_ptr_equal(each.sums[0].of, &counters[1]);
	assert_ptr_equal(each.sums[1].of, &counters[0]);
	assert_ptr_equal(each.sums[2].of, &counters[2]);
	assert_false(each.sums[0].all_cpus);
	assert_int_equal(each.sums[1].total, 10);
	counter_sums_free(&all);
	counter_sums_free(&each);
	assert_int_equal(all.nr, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(counters), TEST(refused_or_malformed), TEST(requests), cmocka_unit_test(sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
