// SPDX-License-Identifier: GPL-2.0-only
/*
 * The replay of leaks: each way in which a page goes and comes back, the VM it belongs to,
 * teardowns, hypercalls, losses, and bounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <linux/hyptrace_netlink.h>

#include "view/pages/pages.h"

#define PFN	0x812f3ULL
#define VM	0x1000
#define OTHER	0x1001
#define MAX	4096

/* The payloads of the two events; their members lie at their natural alignment. */
struct transition {
	uint16_t	id;
	uint8_t		op, from, to;
	uint32_t	handle;
	int32_t		ret;
	uint64_t	pfn, nr, gfn;
};

struct call {
	uint16_t	event;
	uint8_t		invalid;
	uint32_t	id;
	uint64_t	arg1, duration;
	int64_t		ret;
};

enum op { SHARE, UNSHARE, DONATE, RECLAIM };
enum owner { HOST, HYP, GUEST, FFA };
enum hcall { SHARE_HYP = 7, INIT_VM, INIT_VCPU, TEARDOWN, START_TEARDOWN, FINALIZE, RESERVE,
	     UNRESERVE, TRACING_LOAD, SHARE_GUEST, REFILL };

#define SYMBOL(value_, name_)	{ .value = value_, .name = (char *)name_ }
static struct hyptrace_symbol symbols[] = {
	SYMBOL(SHARE, "share"), SYMBOL(UNSHARE, "unshare"), SYMBOL(DONATE, "donate"),
	SYMBOL(RECLAIM, "reclaim"),
	SYMBOL(HOST, "host"), SYMBOL(HYP, "hyp"), SYMBOL(GUEST, "guest"), SYMBOL(FFA, "ffa"),
	SYMBOL(SHARE_HYP, "__pkvm_host_share_hyp"), SYMBOL(INIT_VM, "__pkvm_init_vm"),
	SYMBOL(INIT_VCPU, "__pkvm_init_vcpu"), SYMBOL(TEARDOWN, "__pkvm_teardown_vm"),
	SYMBOL(START_TEARDOWN, "__pkvm_start_teardown_vm"),
	SYMBOL(FINALIZE, "__pkvm_finalize_teardown_vm"), SYMBOL(RESERVE, "__pkvm_reserve_vm"),
	SYMBOL(UNRESERVE, "__pkvm_unreserve_vm"), SYMBOL(TRACING_LOAD, "__tracing_load"),
	SYMBOL(SHARE_GUEST, "__pkvm_host_share_guest"),
	SYMBOL(REFILL, "__pkvm_hyp_alloc_mgt_refill"),
};

#define NR_SYMBOLS	(sizeof(symbols) / sizeof(symbols[0]))
static struct hyptrace_symbol *symbol_list[NR_SYMBOLS];

#define FIELD(of, member, sign, first, nr_list) {				\
		.name = (char *)#member, .type = (char *)"int", .is_signed = sign, \
		.offset = offsetof(struct of, member),				\
		.size = sizeof(((struct of *)0)->member),			\
		.symbols = symbol_list + (first), .nr_symbols = nr_list,	\
	}

static struct hyptrace_field fields[] = {
	FIELD(transition, op, false, 0, 4), FIELD(transition, from, false, 4, 4),
	FIELD(transition, to, false, 4, 4), FIELD(transition, handle, false, 0, 0),
	FIELD(transition, ret, true, 0, 0), FIELD(transition, pfn, false, 0, 0),
	FIELD(transition, nr, false, 0, 0), FIELD(transition, gfn, false, 0, 0),
	FIELD(call, invalid, false, 0, 0), FIELD(call, id, false, 8, NR_SYMBOLS - 8),
	FIELD(call, arg1, false, 0, 0), FIELD(call, duration, false, 0, 0),
	FIELD(call, ret, true, 0, 0),
};

#define NR_FIELDS	(sizeof(fields) / sizeof(fields[0]))
static struct hyptrace_field *field_list[NR_FIELDS];

static struct hyptrace_event transition_event = {
	.name = "mem_transition", .id = 1, .fields = field_list, .nr_fields = 8,
	.print_fmt = (char *)"\"pfn=%llx\", REC->pfn", .size = sizeof(struct transition),
};

static struct hyptrace_event call_event = {
	.name = "host_hcall", .id = 2, .fields = &field_list[8], .nr_fields = NR_FIELDS - 8,
	.print_fmt = (char *)"\"arg1=%llx\", REC->arg1", .size = sizeof(struct call),
};

static struct hyptrace_event *const events[] = { &transition_event, &call_event, NULL };
static struct hyptrace_formats *formats;
static struct page_leaks leaks;
static struct leak_counts counts;
static struct page_leak *list;
static uint64_t nr_ranges, now;

static int setup(void **state)
{
	struct hyptrace_error err;
	size_t i;

	(void)state;
	for (i = 0; i < NR_SYMBOLS; i++)
		symbol_list[i] = &symbols[i];
	for (i = 0; i < NR_FIELDS; i++)
		field_list[i] = &fields[i];
	formats = hyptrace_formats_new(events, 2, &err);
	now = 1000;
	return formats && page_leaks_init(&leaks, MAX, formats) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	free(list);
	list = NULL;
	page_leaks_free(&leaks);
	hyptrace_formats_free(formats);
	return 0;
}

static void add(unsigned int cpu, uint64_t lost, const void *data, unsigned int size)
{
	const struct hyptrace_record rec = { .ts = now, .lost = lost, .data = data, .size = size };

	page_leaks_add(&leaks, cpu, &rec);
	now += 10;
}

static void change(unsigned int cpu, enum op op, enum owner from, enum owner to, uint64_t pfn,
		   uint64_t nr, uint32_t handle, int ret)
{
	const struct transition t = {
		.id = 1, .op = op, .from = from, .to = to, .ret = ret, .pfn = pfn, .nr = nr,
		.handle = handle, .gfn = handle ? pfn + 5 : 0,
	};

	add(cpu, 0, &t, sizeof(t));
}

/* A hypercall that has begun before the last two events */
static void call(unsigned int cpu, enum hcall id, uint64_t arg1, int64_t ret)
{
	const struct call c = { .event = 2, .id = id, .arg1 = arg1, .duration = 25, .ret = ret };

	add(cpu, 0, &c, sizeof(c));
}

/* The host shares a page with EL2. */
static void share_hyp(uint64_t pfn)
{
	change(0, SHARE, HOST, HYP, pfn, 1, 0, 0);
	call(0, SHARE_HYP, pfn, 0);
}

/* A VM that takes a page each for the VM and its vCPU */
static void create(uint32_t handle, uint64_t pfn)
{
	change(0, DONATE, HOST, HYP, pfn, 1, 0, 0);
	call(0, INIT_VM, 0xffff, handle);
	change(0, DONATE, HOST, HYP, pfn + 1, 1, 0, 0);
	call(0, INIT_VCPU, handle, 0);
}

static void destroy(uint32_t handle, uint64_t pfn)
{
	change(0, DONATE, HYP, HOST, pfn + 1, 1, 0, 0);
	change(0, DONATE, HYP, HOST, pfn, 1, 0, 0);
	call(0, TEARDOWN, handle, 0);
}

static void find(void)
{
	free(list);
	list = page_leaks_list(&leaks, &counts);
	nr_ranges = page_leaks_merge(list, counts.leaked);
}

static void check_pages(uint64_t leaked)
{
	find();
	assert_int_equal(counts.leaked, leaked);
}

static void check_leak(uint64_t i, uint64_t pfn, uint64_t nr, uint32_t owner, enum hcall id)
{
	assert_true(i < nr_ranges);
	assert_int_equal(list[i].pfn, pfn);
	assert_int_equal(list[i].nr, nr);
	assert_int_equal(list[i].take->owner, owner);
	assert_non_null(list[i].take->call.data);
	assert_int_equal(((const struct call *)list[i].take->call.data)->id, id);
}

static void nothing_is_leaked(void **state)
{
	(void)state;
	check_pages(0);
	share_hyp(PFN);
	create(VM, PFN + 1);
	check_pages(0);
	destroy(VM, PFN + 1);
	change(0, UNSHARE, HOST, HYP, PFN, 1, 0, 0);
	check_pages(0);
	assert_int_equal(leaks.nr_gone, 1);
	assert_int_equal(leaks.pages.nr, 0);
	assert_int_equal(leaks.nr_vms, 0);
	/* shared after the teardown: of a VM that is about to come */
	share_hyp(PFN);
	check_pages(0);
	assert_int_equal(counts.undecided, 0);
}

/* Each way in which a page goes is found, and each way back makes it disappear. */
static void ways(void **state)
{
	static const struct {
		enum op		op;
		enum owner	to;
		enum hcall	id;
		uint32_t	handle;
		uint32_t	owner;
		enum op		back;
		enum owner	from, back_to;
	} ways[] = {
		{ SHARE, HYP, SHARE_HYP, 0, HYPTRACE_OWNERSHIP_HOST_SHARED_HYP,
		  UNSHARE, HOST, HYP },
		{ DONATE, HYP, INIT_VCPU, 0, HYPTRACE_OWNERSHIP_HYP, DONATE, HYP, HOST },
		{ SHARE, GUEST, SHARE_GUEST, VM, HYPTRACE_OWNERSHIP_HOST_SHARED_GUEST,
		  UNSHARE, HOST, GUEST },
		{ DONATE, GUEST, SHARE_GUEST, VM, HYPTRACE_OWNERSHIP_GUEST, RECLAIM, GUEST, HOST },
	};
	size_t i, back;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		for (back = 0; back < 3; back++) {
			teardown(state);
			setup(state);
			change(0, ways[i].op, HOST, ways[i].to, PFN, 3, ways[i].handle, 0);
			call(0, ways[i].id, VM, 0);
			/* refused: nothing changes */
			change(0, ways[i].back, ways[i].from, ways[i].back_to, PFN, 3,
			       ways[i].handle, -EPERM);
			/* two pages are back, or all */
			if (back)
				change(0, ways[i].back, ways[i].from, ways[i].back_to, PFN,
				       back + 1, ways[i].handle, 0);
			call(0, TEARDOWN, VM, 0);
			check_pages(back ? 2 - back : 3);
			assert_int_equal(nr_ranges, back < 2);
			if (back == 0)
				check_leak(0, PFN, 3, ways[i].owner, ways[i].id);
			if (back == 1)
				check_leak(0, PFN + 2, 1, ways[i].owner, ways[i].id);
		}
	}
}

/* What EL2 has refused takes nothing, and the secure world has no VMs. */
static void not_taken(void **state)
{
	(void)state;
	change(0, DONATE, HOST, HYP, PFN, 1, 0, -EPERM);
	call(0, SHARE_HYP, PFN, -EPERM);
	change(0, SHARE, HOST, FFA, PFN + 1, 1, 0, 0);
	call(0, SHARE_HYP, PFN, 0);
	/* A module of EL2 keeps its page. */
	change(0, SHARE, HYP, GUEST, PFN + 2, 1, VM, 0);
	call(0, TEARDOWN, VM, 0);
	check_pages(0);
	assert_int_equal(leaks.pages.nr, 0);
	assert_int_equal(leaks.transitions, 3);
	assert_int_equal(leaks.calls, 3);
}

/* Pages of one event are merged, those of two are not, and they come in the order of time. */
static void ranges(void **state)
{
	(void)state;
	change(0, DONATE, HOST, HYP, PFN, 9, 0, 0);
	call(0, INIT_VCPU, VM, 0);
	change(0, DONATE, HOST, HYP, PFN - 2, 2, 0, 0);
	call(0, INIT_VCPU, VM, 0);
	change(0, DONATE, HYP, HOST, PFN + 3, 2, 0, 0);
	call(0, TEARDOWN, VM, 0);
	check_pages(9);
	assert_int_equal(nr_ranges, 3);
	check_leak(0, PFN, 3, HYPTRACE_OWNERSHIP_HYP, INIT_VCPU);
	check_leak(1, PFN + 5, 4, HYPTRACE_OWNERSHIP_HYP, INIT_VCPU);
	check_leak(2, PFN - 2, 2, HYPTRACE_OWNERSHIP_HYP, INIT_VCPU);
	assert_int_equal(list[0].take->vm->handle, VM);
	assert_int_equal(list[0].take->vm->gone, leaks.last_gone);
}

/* The pages of a VM that lives are no leaks, nor those that may be in use by it. */
static void another_vm(void **state)
{
	(void)state;
	share_hyp(PFN);
	create(VM, PFN + 1);
	create(OTHER, PFN + 3);
	call(0, TEARDOWN, OTHER, 0);
	check_pages(2);
	check_leak(0, PFN + 3, 1, HYPTRACE_OWNERSHIP_HYP, INIT_VM);
	check_leak(1, PFN + 4, 1, HYPTRACE_OWNERSHIP_HYP, INIT_VCPU);
	assert_int_equal(list[0].take->vm->handle, OTHER);
	assert_int_equal(counts.undecided, 1);
	destroy(VM, PFN + 1);
	check_pages(3);
	assert_int_equal(counts.undecided, 0);
	check_leak(0, PFN, 1, HYPTRACE_OWNERSHIP_HOST_SHARED_HYP, SHARE_HYP);
	assert_null(list[0].take->vm);
}

/* A refused teardown is none, and a handle is used again. */
static void handles(void **state)
{
	(void)state;
	create(VM, PFN);
	call(0, TEARDOWN, VM, -EBUSY);
	check_pages(0);
	call(0, TEARDOWN, VM, 0);
	check_pages(2);
	create(VM, PFN + 8);
	check_pages(2);
	assert_int_equal(leaks.nr_vms, 1);
	destroy(VM, PFN + 8);
	check_pages(2);
	assert_int_equal(leaks.nr_gone, 2);
	/* the teardown of this one is lost */
	create(VM, PFN + 16);
	create(VM, PFN + 24);
	check_pages(4);
	assert_int_equal(leaks.nr_vms, 1);
}

/* Since Linux 7 the host reclaims the guest's pages between two hypercalls. */
static void teardown_in_two_steps(void **state)
{
	(void)state;
	call(0, RESERVE, 0, VM);
	change(0, DONATE, HOST, HYP, PFN, 1, 0, 0);
	call(0, INIT_VM, 0xffff, 0);
	change(0, DONATE, HOST, GUEST, PFN + 1, 2, VM, 0);
	change(0, DONATE, HOST, HYP, PFN + 8, 1, 0, 0);
	call(0, SHARE_GUEST, PFN + 1, 0);
	call(0, FINALIZE, VM, -EINVAL);
	call(0, START_TEARDOWN, VM, 0);
	check_pages(0);
	assert_int_equal(counts.pending, 3);
	change(0, RECLAIM, GUEST, HOST, PFN + 1, 1, VM, 0);
	check_pages(0);
	assert_int_equal(counts.pending, 2);
	call(0, FINALIZE, VM, 0);
	check_pages(3);
	assert_int_equal(counts.pending, 0);
	check_leak(0, PFN, 1, HYPTRACE_OWNERSHIP_HYP, INIT_VM);
	check_leak(1, PFN + 2, 1, HYPTRACE_OWNERSHIP_GUEST, SHARE_GUEST);
	/* the page of the guest's tables belongs to the VM, too */
	check_leak(2, PFN + 8, 1, HYPTRACE_OWNERSHIP_HYP, SHARE_GUEST);
	assert_int_equal(list[2].take->vm->handle, VM);
}

/* A reserved handle is a VM that may use a page, until it is given back. */
static void reserved(void **state)
{
	(void)state;
	share_hyp(PFN);
	call(0, RESERVE, 0, VM);
	call(0, FINALIZE, OTHER, 0);
	check_pages(0);
	assert_int_equal(counts.undecided, 1);
	call(0, UNRESERVE, VM, VM);
	assert_int_equal(leaks.nr_gone, 1);
	check_pages(1);
}

/* Two guests share a page, and one has it in two places. */
static void shared_by_several(void **state)
{
	struct transition t = { .id = 1, .op = SHARE, .to = GUEST, .pfn = PFN, .nr = 1,
				.handle = VM, .gfn = 77 };

	(void)state;
	change(0, SHARE, HOST, GUEST, PFN, 1, VM, 0);
	call(0, SHARE_GUEST, PFN, 0);
	change(0, SHARE, HOST, GUEST, PFN, 1, OTHER, 0);
	call(0, SHARE_GUEST, PFN, 0);
	add(0, 0, &t, sizeof(t));
	call(0, SHARE_GUEST, PFN, 0);
	t.op = UNSHARE;
	add(0, 0, &t, sizeof(t));
	call(0, FINALIZE, VM, 0);
	check_pages(1);
	assert_int_equal(list[0].take->shift, 5);
	change(0, UNSHARE, HOST, GUEST, PFN, 1, OTHER, 0);
	call(0, FINALIZE, OTHER, 0);
	check_pages(1);
}

/* Only the next hypercall of the same CPU made a change, and only if it began before. */
static void causes(void **state)
{
	(void)state;
	/* hyptrace itself, whose hypercalls leave no events */
	change(1, SHARE, HOST, HYP, PFN, 1, 0, 0);
	now += 100;
	call(1, SHARE_HYP, 1, 0);
	/* mainline's tracing */
	change(1, SHARE, HOST, HYP, PFN + 1, 1, 0, 0);
	call(1, TRACING_LOAD, 2, 0);
	/* Android's heap */
	change(1, DONATE, HOST, HYP, PFN + 4, 1, 0, 0);
	call(1, REFILL, 0, 0);
	/* without any */
	change(2, SHARE, HOST, HYP, PFN + 2, 1, 0, 0);
	/* of another CPU */
	change(0, SHARE, HOST, HYP, PFN + 3, 1, 0, 0);
	call(3, SHARE_HYP, 3, 0);
	call(0, SHARE_HYP, 4, 0);
	call(0, TEARDOWN, VM, 0);
	check_pages(1);
	check_leak(0, PFN + 3, 1, HYPTRACE_OWNERSHIP_HOST_SHARED_HYP, SHARE_HYP);
	assert_int_equal(((const struct call *)list[0].take->call.data)->arg1, 4);
	assert_int_equal(counts.unknown, 0);
}

/* If the hypercall is lost, pages of EL2 are not judged. Pages of a guest have its handle. */
static void losses(void **state)
{
	(void)state;
	change(0, SHARE, HOST, HYP, PFN, 2, 0, 0);
	change(0, DONATE, HOST, GUEST, PFN + 2, 1, VM, 0);
	add(0, 3, NULL, 0);
	add(1, HYPTRACE_LOST_UNKNOWN, NULL, 0);
	add(1, 0, NULL, 0);
	call(0, TEARDOWN, VM, 0);
	check_pages(1);
	assert_int_equal(list[0].pfn, PFN + 2);
	assert_null(list[0].take->call.data);
	assert_int_equal(counts.unknown, 2);
}

/* The way back of a page is lost: a later share shows that it was back. */
static void ways_back_that_are_lost(void **state)
{
	(void)state;
	create(VM, PFN);
	add(0, 7, NULL, 0);
	change(0, SHARE, HOST, GUEST, PFN, 2, OTHER, 0);
	call(0, SHARE_GUEST, PFN, 0);
	call(0, TEARDOWN, VM, 0);
	check_pages(0);
	call(0, TEARDOWN, OTHER, 0);
	check_pages(2);
}

static void bounds(void **state)
{
	uint32_t i;

	(void)state;
	change(0, DONATE, HOST, HYP, PFN, MAX - 1, 0, 0);
	call(0, INIT_VCPU, VM, 0);
	change(0, DONATE, HOST, HYP, 0, 3, 0, 0);
	call(0, INIT_VCPU, VM, 0);
	assert_int_equal(leaks.too_many, 2);
	/* no room for any */
	change(0, DONATE, HOST, HYP, UINT64_MAX, UINT64_MAX, 0, 0);
	assert_int_equal(leaks.pages.nr, MAX);
	call(0, TEARDOWN, VM, 0);
	check_pages(MAX);
	assert_int_equal(nr_ranges, 2);
	change(0, UNSHARE, HOST, GUEST, 0, UINT64_MAX, VM, 0);
	change(0, DONATE, HYP, HOST, 0, UINT64_MAX, 0, 0);
	assert_int_equal(leaks.pages.nr, 0);
	for (i = 1; i <= PAGE_LEAKS_MAX_VMS; i++)
		call(0, INIT_VM, 0, i);
	assert_int_equal(leaks.too_many_vms, 0);
	call(0, INIT_VM, 0, i);
	assert_int_equal(leaks.too_many_vms, 1);
}

/* A failed hypercall gives pages back before its own event. */
static void failed_call(void **state)
{
	(void)state;
	change(0, DONATE, HOST, HYP, PFN, 2, 0, 0);
	change(0, DONATE, HYP, HOST, PFN, 2, 0, 0);
	call(0, INIT_VCPU, VM, -ENOENT);
	assert_int_equal(leaks.pages.nr, 0);
	assert_int_equal(leaks.nr_vms, 0);
	call(0, TEARDOWN, VM, -ENOENT);
	check_pages(0);
}

/* Without the events, or without names of hypercalls, there is no answer. */
static void impossible(void **state)
{
	struct hyptrace_formats *one;
	struct page_leaks none;
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		one = hyptrace_formats_new(events + i, 1, NULL);
		assert_non_null(one);
		assert_false(page_leaks_init(&none, MAX, one));
		page_leaks_free(&none);
		hyptrace_formats_free(one);
	}
	fields[9].nr_symbols = 3;
	assert_false(page_leaks_init(&none, MAX, formats));
	page_leaks_free(&none);
	fields[9].nr_symbols = NR_SYMBOLS - 8;
}

/* Count the pages of a CPU in @many_wait that are not given back. */
static uint64_t count_left(uint64_t nr, uint64_t step, unsigned int cpu)
{
	bool *is_back = calloc(nr, sizeof(*is_back));
	uint64_t i, left = 0;

	assert_non_null(is_back);
	for (i = 0; i < nr / 2; i++) {
		is_back[i] = true;
		is_back[i * step % nr] = true;
	}
	for (i = 0; i < nr; i++)
		left += !is_back[i] && i % 3 == cpu;
	free(is_back);
	return left;
}

/* Without hypercalls, all takes wait. Most of them end in an order that is not theirs. */
static void many_wait(void **state)
{
	const uint64_t nr = 300000, step = 7919;
	uint64_t i, left = 0;

	(void)state;
	page_leaks_free(&leaks);
	assert_true(page_leaks_init(&leaks, nr, formats));
	for (i = 0; i < nr; i++)
		change(i % 3, DONATE, HOST, HYP, PFN + i, 1, 0, 0);
	assert_int_equal(leaks.pages.nr, nr);
	/* the oldest half, and then others here and there: nr and step have no common divisor */
	for (i = 0; i < nr / 2; i++)
		change(0, DONATE, HYP, HOST, PFN + i, 1, 0, 0);
	for (i = 0; i < nr / 2; i++)
		change(0, DONATE, HYP, HOST, PFN + i * step % nr, 1, 0, 0);
	call(1, INIT_VCPU, VM, 0);
	add(2, 1, NULL, 0);
	/* what is left: pages of the younger half that the last loop has not given back */
	call(0, TEARDOWN, VM, 0);
	check_pages(0);
	for (i = 0; i < 3; i++)
		left += count_left(nr, step, i);
	assert_int_equal(leaks.pages.nr, left);
	assert_int_equal(counts.unknown, count_left(nr, step, 2));
	assert_null(leaks.waiting[0]);
	assert_null(leaks.waiting[1]);
	assert_null(leaks.waiting[2]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_is_leaked, setup, teardown),
		cmocka_unit_test_setup_teardown(ways, setup, teardown),
		cmocka_unit_test_setup_teardown(not_taken, setup, teardown),
		cmocka_unit_test_setup_teardown(ranges, setup, teardown),
		cmocka_unit_test_setup_teardown(another_vm, setup, teardown),
		cmocka_unit_test_setup_teardown(handles, setup, teardown),
		cmocka_unit_test_setup_teardown(teardown_in_two_steps, setup, teardown),
		cmocka_unit_test_setup_teardown(reserved, setup, teardown),
		cmocka_unit_test_setup_teardown(shared_by_several, setup, teardown),
		cmocka_unit_test_setup_teardown(causes, setup, teardown),
		cmocka_unit_test_setup_teardown(losses, setup, teardown),
		cmocka_unit_test_setup_teardown(ways_back_that_are_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(bounds, setup, teardown),
		cmocka_unit_test_setup_teardown(failed_call, setup, teardown),
		cmocka_unit_test_setup_teardown(impossible, setup, teardown),
		cmocka_unit_test_setup_teardown(many_wait, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
