// SPDX-License-Identifier: GPL-2.0-only
/*
 * mem_transition, host_mem_abort, tlbi and hyp_pool: against calls of the test, and replayed
 * while VMs are created and destroyed. At the start the host owns all pages that change hands
 * later, and shares none of them: the VM of the module keeps its pages.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "calls.h"
#include "control.h"
#include "cpus.h"
#include "events.h"
#include "owners.h"
#include "page.h"
#include "transition.h"

#define REMOTE		"hypervisor"
#define CPU		1
#define CPUS		2
#define RING_SIZE	(4 << 20)
#define MAX_EVENTS	100000
#define VMS		4

/* Address of the guest's code, see tests/vm/workload.c */
#define GUEST_RAM	0x80000000LL

enum { TRANSITION, ABORT, TLBI, POOL, NR_TYPES };

static const char *const names[] = { "mem_transition", "host_mem_abort", "tlbi", "hyp_pool" };

FIXTURE(memory) {
	struct nl nl;
	struct calls calls;
	struct event_type types[NR_TYPES];
	struct event *events;
	struct owners owners;
};

FIXTURE_SETUP(memory)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, control_fresh(&self->nl, REMOTE));
	ASSERT_EQ(0, calls_open(&self->calls));
	ASSERT_EQ(0, owners_init(&self->owners, &self->nl, REMOTE));
	ASSERT_EQ(0, control_load(&self->nl, REMOTE, RING_SIZE, HYPTRACE_MODE_DISCARD));
	ASSERT_EQ(0, event_types(&self->nl, REMOTE, names, self->types, NR_TYPES));
	self->events = calloc(MAX_EVENTS, sizeof(*self->events));
	ASSERT_NE(NULL, self->events);
	ASSERT_EQ(0, pin_to(CPU));
}

FIXTURE_TEARDOWN(memory)
{
	control_fresh(&self->nl, REMOTE);
	EXPECT_EQ(0, calls_close(&self->calls));
	nl_close(&self->nl);
}

/* Make calls and trace them. Return the number of events of this CPU. */
static ssize_t trace(struct __test_metadata *_metadata, struct _test_data_memory *self,
		     struct calls_one *list, size_t nr_calls)
{
	ssize_t nr;

	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	ASSERT_EQ(0, calls_make(&self->calls, list, nr_calls));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, REMOTE));
	nr = events_read(REMOTE, CPU, self->types, NR_TYPES, self->events, MAX_EVENTS);
	ASSERT_LE(0, nr);
	return nr;
}

/* Get the next event of a type; NULL if there is none. */
static const struct event *next_of(const struct _test_data_memory *self, ssize_t nr, ssize_t *at,
				   int type)
{
	while (*at < nr) {
		const struct event *event = &self->events[(*at)++];

		if (event->type == &self->types[type])
			return event;
	}
	return NULL;
}

/* Share all pages, share them again, take them back, and again: every second one is refused. */
TEST_F(memory, pages_that_are_shared_and_unshared)
{
	static const char *const calls[] = {
		"__pkvm_host_share_hyp", "__pkvm_host_share_hyp",
		"__pkvm_host_unshare_hyp", "__pkvm_host_unshare_hyp",
	};
	const struct mem_values *values = &self->owners.values;
	struct calls_one list[4 * CALLS_FRESH_PAGES];
	unsigned int i, page;
	ssize_t nr, at = 0;

	for (i = 0; i < 4 * CALLS_FRESH_PAGES; i++) {
		page = i % CALLS_FRESH_PAGES;
		list[i] = calls_hvc(&self->calls, calls[i / CALLS_FRESH_PAGES],
				    self->calls.info.fresh_pfn + page, 0, 0);
	}
	nr = trace(_metadata, self, list, 4 * CALLS_FRESH_PAGES);
	for (i = 0; i < 4 * CALLS_FRESH_PAGES; i++) {
		EXPECT_EQ(0, list[i].ret[0]);
		EXPECT_EQ(i / CALLS_FRESH_PAGES % 2, list[i].ret[1] != 0);
		check_transition(_metadata, next_of(self, nr, &at, TRANSITION),
				 i < 2 * CALLS_FRESH_PAGES ? values->share : values->unshare,
				 values->host, values->hyp, list[i].x[1], list[i].ret[1]);
	}
	EXPECT_EQ(NULL, next_of(self, nr, &at, TRANSITION));
}

/* The host may abort at other addresses where nobody tests it. */
static void check_abort(struct __test_metadata *_metadata, const struct _test_data_memory *self,
			ssize_t nr, ssize_t at, int64_t addr, int ret)
{
	const struct event *event;

	do {
		event = next_of(self, nr, &at, ABORT);
		ASSERT_NE(NULL, event);
	} while (event_field(event, "addr") != addr);
	EXPECT_EQ(ret, event_field(event, "ret"));
	/* a data abort from a lower exception level */
	EXPECT_EQ(0x24, event_field(event, "esr") >> 26 & 63);
}

/*
 * __pkvm_init_vcpu() takes the pages for the vCPU, finds no such VM, and gives them back. Before
 * Linux 7 the host then has no mapping of them: its next access aborts, and EL2 maps them.
 */
TEST_F(memory, pages_that_are_donated_and_accessed)
{
	const struct mem_values *values = &self->owners.values;
	const struct calls_info *info = &self->calls.info;
	const struct calls_known *init = calls_find(&self->calls, "__pkvm_init_vcpu");
	struct calls_one list[] = {
		{ .how = CALLS_READ, .x = { 0, info->fresh } },
		{ .x = { info->base + init->number, init->x[1], init->x[2], info->fresh } },
		{ .how = CALLS_READ, .x = { 0, info->fresh } },
		{ .how = CALLS_READ, .x = { 0, info->fresh } },
	};
	ssize_t nr = trace(_metadata, self, list, sizeof(list) / sizeof(list[0])), at = 0, i;
	const struct event *event;
	unsigned int aborts = 0;
	int64_t pages, address = info->fresh_pfn * PAGE;
	bool is_new = calls_for_guest_memory(&self->calls);

	if (calls_for_heap(&self->calls))
		SKIP(return, "EL2 takes the memory of a vCPU from a heap");
	EXPECT_EQ(0, list[1].ret[0]);
	EXPECT_EQ(-ENOENT, (int64_t)list[1].ret[1]);
	event = next_of(self, nr, &at, TRANSITION);
	check_transition(_metadata, event, values->donate, values->host, values->hyp,
			 info->fresh_pfn, 0);
	pages = event_field(event, "nr");
	EXPECT_LT(0, pages);
	event = next_of(self, nr, &at, TRANSITION);
	check_transition(_metadata, event, values->donate, values->hyp, values->host,
			 info->fresh_pfn, 0);
	EXPECT_EQ(pages, event_field(event, "nr"));
	if (!is_new)
		check_abort(_metadata, self, nr, at, address, 0);
	for (i = 0; i < nr; i++) {
		if (self->events[i].type == &self->types[ABORT])
			aborts += event_field(&self->events[i], "addr") == address;
	}
	/*
	 * Since Linux 7 the host survives that it reads by words beyond the end of a string, at the
	 * end of the page before; that is an abort of its own.
	 */
	EXPECT_LE(!is_new, aborts);
}

/*
 * The host reads a page that EL2 owns. Since Linux 7 EL2 refuses that, and the host goes on;
 * before, it ends in a panic.
 */
TEST_F(memory, a_page_of_el2_that_the_host_accesses)
{
	const struct mem_values *values = &self->owners.values;
	const struct calls_info *info = &self->calls.info;
	struct calls_one read = { .how = CALLS_READ };
	const struct event *event, *donated = NULL;
	ssize_t nr, at = 0;
	int64_t pfn;
	int vm;

	if (!calls_for_guest_memory(&self->calls))
		SKIP(return, "the host would panic before Linux 7");
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	vm = calls_create_vm();
	ASSERT_LT(0, vm);
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, REMOTE));
	nr = events_read(REMOTE, CPU, self->types, NR_TYPES, self->events, MAX_EVENTS);
	while ((event = next_of(self, nr, &at, TRANSITION))) {
		if (event_field(event, "op") == values->donate &&
		    event_field(event, "to") == values->hyp && !event_field(event, "ret"))
			donated = event;
	}
	ASSERT_NE(NULL, donated);
	pfn = event_field(donated, "pfn");
	/* in the kernel's linear map */
	read.x[1] = info->fresh + (pfn - (int64_t)info->fresh_pfn) * PAGE;
	nr = trace(_metadata, self, &read, 1);
	check_abort(_metadata, self, nr, 0, pfn * PAGE, -EPERM);
	EXPECT_EQ(-EFAULT, (int64_t)read.ret[0]);
	close(vm);
}

/*
 * The host passes the address of a struct with CALLS_VMID. No event may show that: the address
 * could also be one that only EL2 can read.
 */
TEST_F(memory, tlb_invalidations)
{
	static const struct {
		const char *call, *op;
		bool has_ipa;
	} ops[] = {
		{ "__kvm_tlb_flush_vmid_ipa",		"vmid_ipa",	true },
		{ "__kvm_tlb_flush_vmid_ipa_nsh",	"vmid_ipa_nsh",	true },
		{ "__kvm_tlb_flush_vmid_range",		"vmid_range",	true },
		{ "__kvm_tlb_flush_vmid",		"vmid",		false },
		{ "__kvm_flush_cpu_context",		"cpu_context",	false },
		{ "__kvm_flush_vm_context",		"vm_context",	false },
	};
	const unsigned int nr_ops = sizeof(ops) / sizeof(ops[0]);
	struct calls_one list[sizeof(ops) / sizeof(ops[0])];
	const struct event *event;
	ssize_t nr, at = 0;
	unsigned int i;

	for (i = 0; i < nr_ops; i++) {
		const struct calls_known *known = calls_find(&self->calls, ops[i].call);

		ASSERT_NE(NULL, known);
		if (known->flags & CALLS_REFUSED)
			SKIP(return, "EL2 refuses %s once pKVM is initialised", ops[i].call);
		list[i] = calls_hvc(&self->calls, ops[i].call, known->x[1], known->x[2],
				    known->x[3]);
	}
	nr = trace(_metadata, self, list, nr_ops);
	for (i = 0; i < nr_ops; i++) {
		event = next_of(self, nr, &at, TLBI);
		ASSERT_NE(NULL, event) TH_LOG("%s", ops[i].call);
		EXPECT_EQ(value_of(&self->nl, REMOTE, "tlbi", "op", ops[i].op),
			  event_field(event, "op"))
			TH_LOG("%s", ops[i].call);
		EXPECT_EQ(0, event_field(event, "vmid")) TH_LOG("%s", ops[i].call);
		EXPECT_EQ(ops[i].has_ipa ? list[i].x[2] : 0, (uint64_t)event_field(event, "ipa"));
		EXPECT_EQ(strcmp(ops[i].op, "vmid_range") ? ops[i].has_ipa : list[i].x[3],
			  (uint64_t)event_field(event, "nr"));
	}
	EXPECT_EQ(NULL, next_of(self, nr, &at, TLBI));
}

/* Count the TLB invalidations of guests' VMIDs. pKVM numbers its VMs from 1 on. */
static unsigned int count_guest_tlbis(struct __test_metadata *_metadata,
				      const struct _test_data_memory *self, ssize_t nr)
{
	const struct event *event;
	unsigned int found = 0;
	ssize_t at = 0;

	while ((event = next_of(self, nr, &at, TLBI))) {
		EXPECT_NE(CALLS_VMID, event_field(event, "vmid"));
		found += event_field(event, "vmid") > 0;
	}
	return found;
}

static int run_guest(const char *cpu, const char *option)
{
	int status;

	if (!fork()) {
		dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
		execlp("workload", "workload", "--cpu", cpu, "--mmio", "10", "--psci", "10", option,
		       NULL);
		_exit(127);
	}
	return wait(&status) > 0 ? status : -1;
}

/*
 * Create VMs, run and destroy them; the last is protected if the kernel has such guests. In the
 * end the host has all pages again, for itself, but for those of a heap of EL2. Since Linux 7 EL2
 * also maps the pages of a guest: each VM gets the page of its code, which is shared with it, or
 * donated to it.
 */
TEST_F(memory, owners_are_consistent_while_vms_live_and_die)
{
	const struct mem_values *values = &self->owners.values;
	unsigned int succeeded = 0, i, not_back = 0, codes[2] = { };
	const struct event *event;
	const bool has_guest_memory = calls_for_guest_memory(&self->calls);
	const bool has_heap = calls_for_heap(&self->calls);
	bool has_protected_guests;
	ssize_t nr, at = 0;
	int pools;

	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	for (i = 0; i < VMS; i++)
		EXPECT_EQ(0, run_guest(i % CPUS ? "1" : "0", NULL));
	has_protected_guests = !run_guest("1", "--protected");
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, REMOTE));
	nr = events_read_all(REMOTE, CPUS, self->types, NR_TYPES, self->events, MAX_EVENTS);
	ASSERT_LT(0, nr);
	while ((event = next_of(self, nr, &at, TRANSITION))) {
		ASSERT_TRUE(owners_apply(&self->owners, event));
		if (event_field(event, "ret"))
			continue;
		succeeded++;
		if (event_field(event, "from") == values->host &&
		    event_field(event, "to") == values->guest &&
		    event_field(event, "gfn") == GUEST_RAM / PAGE) {
			EXPECT_LT(0, event_field(event, "handle"));
			codes[event_field(event, "op") == values->donate] +=
				event_field(event, "op") != values->unshare;
		}
	}
	for (i = 0; i < OWNERS_MAX_PAGES; i++) {
		const struct page_state *page = &self->owners.pages[i];

		/* A heap of EL2 keeps its pages. */
		if (has_heap && page->used && page->owner == values->hyp)
			continue;
		if (page->used && (page->owner != values->host || page_sharers(page))) {
			TH_LOG("page 0x%llx: owner %d, %d sharers", (unsigned long long)page->pfn,
			       page->owner, page_sharers(page));
			not_back++;
		}
	}
	pools = count_pools(self->events, nr, &self->types[POOL],
			    value_of(&self->nl, REMOTE, "hyp_pool", "op", "free"));
	TH_LOG("%u transitions of %u pages, %d pools, protected guests: %d", succeeded,
	       self->owners.nr_used, pools, has_protected_guests);
	EXPECT_LE(4 * VMS, succeeded);
	EXPECT_EQ(0, not_back);
	EXPECT_EQ(has_guest_memory ? VMS : 0, codes[0]);
	EXPECT_EQ(has_protected_guests, codes[1]);
	EXPECT_LT(0, pools);
	/* the host's pool, EL2's own, and those of the VMs */
	EXPECT_GE(2 + VMS + has_protected_guests, pools);
	/* Before Linux 7 the host itself changes the mappings of its guests. */
	EXPECT_EQ(has_guest_memory, count_guest_tlbis(_metadata, self, nr) > 0);
}

TEST_HARNESS_MAIN
