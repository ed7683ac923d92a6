// SPDX-License-Identifier: GPL-2.0-only
/*
 * The history of a page: its changes, the hypercalls that made them, and the owner that they imply.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <linux/hyptrace_netlink.h>

#include "view/pages/pages.h"

#define PFN	0x812f3ULL

/* The payloads of the two events; their members lie at their natural alignment. */
struct transition {
	uint16_t	id;
	uint8_t		op, from, to;
	uint32_t	handle;
	int32_t		ret;
	uint64_t	pfn, nr;
};

struct call {
	uint16_t	id;
	uint32_t	duration;
};

enum op { SHARE, UNSHARE, DONATE, RECLAIM };
enum owner { HOST, HYP, GUEST, FFA };

static struct hyptrace_symbol ops[] = {
	{ SHARE, (char *)"share" }, { UNSHARE, (char *)"unshare" },
	{ DONATE, (char *)"donate" }, { RECLAIM, (char *)"reclaim" },
};

static struct hyptrace_symbol owners[] = {
	{ HOST, (char *)"host" }, { HYP, (char *)"hyp" }, { GUEST, (char *)"guest" },
	{ FFA, (char *)"ffa" },
};

static struct hyptrace_symbol *op_list[] = { &ops[0], &ops[1], &ops[2], &ops[3] };
static struct hyptrace_symbol *owner_list[] = { &owners[0], &owners[1], &owners[2], &owners[3] };

#define FIELD(of, member, sign, list, nr_list) {				\
		.name = (char *)#member, .type = (char *)"int", .is_signed = sign, \
		.offset = offsetof(struct of, member),				\
		.size = sizeof(((struct of *)0)->member),			\
		.symbols = list, .nr_symbols = nr_list,				\
	}

static struct hyptrace_field fields[] = {
	FIELD(transition, op, false, op_list, 4), FIELD(transition, from, false, owner_list, 4),
	FIELD(transition, to, false, owner_list, 4), FIELD(transition, handle, false, NULL, 0),
	FIELD(transition, ret, true, NULL, 0), FIELD(transition, pfn, false, NULL, 0),
	FIELD(transition, nr, false, NULL, 0), FIELD(call, duration, false, NULL, 0),
	FIELD(call, id, false, NULL, 0),
};

static struct hyptrace_field *field_list[] = {
	&fields[0], &fields[1], &fields[2], &fields[3], &fields[4], &fields[5], &fields[6],
	&fields[7], &fields[8],
};

static struct hyptrace_event transition_event = {
	.name = "mem_transition", .id = 1, .fields = field_list, .nr_fields = 7,
	.print_fmt = (char *)"\"pfn=%llx\", REC->pfn", .size = sizeof(struct transition),
};

static struct hyptrace_event call_event = {
	.name = "host_hcall", .id = 2, .fields = &field_list[7], .nr_fields = 2,
	.print_fmt = (char *)"\"took=%u\", REC->duration", .size = sizeof(struct call),
};

static struct hyptrace_event *const events[] = { &transition_event, &call_event, NULL };
static struct hyptrace_formats *formats;
static struct page_history history;

static int setup(void **state)
{
	struct hyptrace_error err;

	(void)state;
	formats = hyptrace_formats_new(events, 2, &err);
	page_history_init(&history, PFN, formats);
	return formats ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	page_history_free(&history);
	hyptrace_formats_free(formats);
	return 0;
}

static void add(unsigned int cpu, uint64_t ts, uint64_t lost, const void *data, unsigned int size)
{
	const struct hyptrace_record rec = { .ts = ts, .lost = lost, .data = data, .size = size };

	page_history_add(&history, cpu, &rec);
}

static void change_pages(unsigned int cpu, uint64_t ts, enum op op, enum owner from,
			 enum owner to, int ret, uint64_t pfn, uint64_t nr)
{
	const struct transition t = {
		.id = 1, .op = op, .from = from, .to = to, .ret = ret, .pfn = pfn, .nr = nr,
		.handle = from == GUEST || to == GUEST ? 0x1000 : 0,
	};

	add(cpu, ts, 0, &t, sizeof(t));
}

static void change(unsigned int cpu, uint64_t ts, enum op op, enum owner from, enum owner to,
		   int ret)
{
	change_pages(cpu, ts, op, from, to, ret, PFN, 1);
}

static void end_call(unsigned int cpu, uint64_t ts, uint32_t duration)
{
	const struct call c = { .id = 2, .duration = duration };

	add(cpu, ts, 0, &c, sizeof(c));
}

static void check_call(unsigned int i, const char *call)
{
	if (call)
		assert_string_equal(history.changes[i].call, call);
	else
		assert_null(history.changes[i].call);
}

/* The next hypercall of the same CPU made the change, if it began before. */
static void calls_of_changes(void **state)
{
	(void)state;
	change(0, 100, SHARE, HOST, HYP, 0);
	end_call(1, 110, 50);		/* another CPU */
	end_call(0, 120, 30);
	change(1, 150, UNSHARE, HOST, HYP, 0);
	change(1, 151, SHARE, HOST, HYP, 0);
	end_call(1, 160, 10);		/* made both; its begin is that of the first one */
	change(0, 200, SHARE, HOST, HYP, -1);
	end_call(0, 210, 5);		/* began after the change */
	end_call(0, 220, 50);		/* not the next one */
	change(0, 300, UNSHARE, HOST, HYP, 0);
	end_call(0, 310, 9);		/* 1 ns later, by rounding */
	change(0, 400, SHARE, HOST, HYP, 0);
	assert_int_equal(history.nr, 6);
	check_call(0, "took=30");
	check_call(1, "took=10");
	check_call(2, "took=10");
	check_call(3, NULL);
	check_call(4, "took=9");
	check_call(5, NULL);
	assert_int_equal(history.changes[1].cpu, 1);
	assert_string_equal(history.changes[1].op, "unshare");
	assert_string_equal(history.changes[3].text, "pfn=812f3");
	assert_int_equal(history.changes[3].ret, -1);
}

static void changes_of_several_pages(void **state)
{
	(void)state;
	change_pages(0, 1, DONATE, HOST, HYP, 0, PFN - 4, 4);
	assert_int_equal(history.nr, 0);
	change_pages(0, 2, DONATE, HOST, HYP, 0, PFN - 4, 5);
	change_pages(0, 3, DONATE, HOST, HYP, 0, PFN, 8);
	assert_int_equal(history.nr, 2);
	change_pages(0, 4, DONATE, HOST, HYP, 0, PFN + 1, UINT64_MAX);
	change_pages(0, 5, DONATE, HOST, HYP, 0, PFN, 0);
	change_pages(0, 6, DONATE, HOST, HYP, 0, UINT64_MAX, 2 * PFN);
	assert_int_equal(history.nr, 2);
	assert_int_equal(history.changes[0].nr, 5);
}

static void owners_implied(void **state)
{
	static const struct {
		enum op op;
		enum owner from, to;
		int ret;
		uint32_t owner;
	} steps[] = {
		{ SHARE, HOST, HYP, 0, HYPTRACE_OWNERSHIP_HOST_SHARED_HYP },
		{ SHARE, HOST, HYP, -1, HYPTRACE_OWNERSHIP_HOST_SHARED_HYP },
		{ UNSHARE, HOST, HYP, 0, HYPTRACE_OWNERSHIP_HOST },
		{ UNSHARE, HOST, HYP, -1, HYPTRACE_OWNERSHIP_HOST },
		{ DONATE, HOST, HYP, 0, HYPTRACE_OWNERSHIP_HYP },
		{ DONATE, HYP, HOST, -16, HYPTRACE_OWNERSHIP_HYP },
		{ DONATE, HYP, HOST, 0, HYPTRACE_OWNERSHIP_HOST },
		{ SHARE, HOST, FFA, 0, HYPTRACE_OWNERSHIP_HOST_SHARED_FFA },
		{ UNSHARE, HOST, FFA, 0, HYPTRACE_OWNERSHIP_HOST },
		{ DONATE, HOST, GUEST, 0, HYPTRACE_OWNERSHIP_GUEST },
		{ RECLAIM, GUEST, HOST, 0, HYPTRACE_OWNERSHIP_HOST },
		/* two guests */
		{ SHARE, HOST, GUEST, 0, HYPTRACE_OWNERSHIP_HOST_SHARED_GUEST },
		{ SHARE, HOST, GUEST, 0, HYPTRACE_OWNERSHIP_HOST_SHARED_GUEST },
		{ UNSHARE, HOST, GUEST, 0, HYPTRACE_OWNERSHIP_HOST_SHARED_GUEST },
		{ UNSHARE, HOST, GUEST, 0, HYPTRACE_OWNERSHIP_HOST },
		/* lent to the secure world */
		{ DONATE, HOST, FFA, 0, HYPTRACE_OWNERSHIP_HOST_SHARED_FFA },
		{ RECLAIM, FFA, HOST, 0, HYPTRACE_OWNERSHIP_HOST },
		/* a module of EL2 keeps its page */
		{ SHARE, HYP, GUEST, 0, HYPTRACE_OWNERSHIP_HYP },
		{ UNSHARE, HYP, GUEST, 0, HYPTRACE_OWNERSHIP_HYP },
		/* the history has begun after the share */
		{ UNSHARE, HOST, GUEST, 0, HYPTRACE_OWNERSHIP_HOST },
		{ SHARE, HOST, GUEST, 0, HYPTRACE_OWNERSHIP_HOST_SHARED_GUEST },
	};
	uint32_t owner;
	size_t i;

	(void)state;
	assert_false(page_history_owner(&history, &owner));
	change(0, 0, SHARE, HOST, HYP, -1);
	assert_false(page_history_owner(&history, &owner));
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		change(0, i + 1, steps[i].op, steps[i].from, steps[i].to, steps[i].ret);
		assert_true(page_history_owner(&history, &owner));
		assert_int_equal(owner, steps[i].owner);
	}
	assert_int_equal(history.changes[10].handle, 0x1000);
}

/* Events that the formats do not have, and a file without them */
static void other_events(void **state)
{
	static const uint16_t other[4] = { 77 };

	(void)state;
	add(0, 1, 0, other, sizeof(other));
	assert_int_equal(history.nr, 0);
	hyptrace_model_free(history.model);
	hyptrace_formats_free(formats);
	formats = hyptrace_formats_new(events, 0, NULL);
	page_history_init(&history, PFN, formats);
	change(0, 1, SHARE, HOST, HYP, 0);
	end_call(0, 2, 2);
	assert_int_equal(history.nr, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(calls_of_changes, setup, teardown),
		cmocka_unit_test_setup_teardown(changes_of_several_pages, setup, teardown),
		cmocka_unit_test_setup_teardown(owners_implied, setup, teardown),
		cmocka_unit_test_setup_teardown(other_events, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
