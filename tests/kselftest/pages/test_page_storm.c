// SPDX-License-Identifier: GPL-2.0-only
/*
 * 100,000 random hypercalls that share pages, take them back, donate them to EL2 and reclaim them,
 * while real VMs come and go: for each page touched, the owner that EL2 answers is the one that the
 * mem_transition events imply.
 */
#include <errno.h>

#include "kselftest_harness.h"
#include "control.h"
#include "cpus.h"
#include "events.h"
#include "owners.h"
#include "page_calls.h"

#define REMOTE		"hypervisor"
#define CPU		1
#define CPUS		2
#define RING_SIZE	(4 << 20)
#define MAX_EVENTS	100000

#define OPERATIONS	100000
#define ROUND		5000

static const char *const names[] = { "mem_transition" };

FIXTURE(storm) {
	struct nl nl;
	struct calls calls;
	struct page_calls pages;
	struct event_type type;
	struct event *events;
	struct owners owners;
};

FIXTURE_SETUP(storm)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, control_fresh(&self->nl, REMOTE));
	ASSERT_EQ(0, calls_open_without_vm(&self->calls));
	ASSERT_EQ(0, owners_init(&self->owners, &self->nl, REMOTE));
	ASSERT_EQ(0, control_load(&self->nl, REMOTE, RING_SIZE, HYPTRACE_MODE_DISCARD));
	ASSERT_EQ(0, event_types(&self->nl, REMOTE, names, &self->type, 1));
	self->events = calloc(MAX_EVENTS, sizeof(*self->events));
	ASSERT_NE(NULL, self->events);
	ASSERT_EQ(0, pin_to(CPU));
	ASSERT_EQ(0, page_calls_begin(&self->pages, &self->calls));
}

FIXTURE_TEARDOWN(storm)
{
	EXPECT_EQ(0, page_calls_end(&self->pages));
	control_fresh(&self->nl, REMOTE);
	EXPECT_EQ(0, calls_close(&self->calls));
	nl_close(&self->nl);
}

/* Count the donations among the events, and replay all of them. */
static unsigned int replay(struct __test_metadata *_metadata, struct _test_data_storm *self)
{
	const struct mem_values *values = &self->owners.values;
	unsigned int donations = 0;
	ssize_t nr, i;

	nr = events_read_all(REMOTE, CPUS, &self->type, 1, self->events, MAX_EVENTS);
	ASSERT_LT(0, nr);
	for (i = 0; i < nr; i++) {
		const struct event *event = &self->events[i];

		ASSERT_TRUE(owners_apply(&self->owners, event));
		donations += !event_field(event, "ret") &&
			     event_field(event, "op") == values->donate;
	}
	return donations;
}

/* Compare all pages that were touched so far. Return how many of them the host does not own. */
static unsigned int compare(struct __test_metadata *_metadata, struct _test_data_storm *self)
{
	unsigned int i, away = 0;
	uint8_t owner;

	for (i = 0; i < OWNERS_MAX_PAGES; i++) {
		const struct page_state *page = &self->owners.pages[i];

		if (!page->used)
			continue;
		ASSERT_EQ(0, owners_ask(&self->nl, REMOTE, page->pfn, 1, &owner));
		ASSERT_EQ(owners_implied(&self->owners, page), owner)
			TH_LOG("page 0x%llx after %u hypercalls", (unsigned long long)page->pfn,
			       self->pages.nr);
		away += owner == HYPTRACE_OWNERSHIP_HYP;
	}
	return away;
}

TEST_F_TIMEOUT(storm, owners_are_those_of_the_events, 300)
{
	unsigned int next, donations = 0, away = 0;
	int vm;

	srandom(3);
	for (next = ROUND; self->pages.nr < OPERATIONS; next += ROUND) {
		ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
		vm = calls_create_vm();
		ASSERT_LT(0, vm);
		while (self->pages.nr < next)
			ASSERT_EQ(0, page_calls_step(&self->pages));
		/* look while the VM lives, and while it is gone */
		if (next / ROUND % 2)
			close(vm);
		ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, REMOTE));
		donations += replay(_metadata, self);
		away += compare(_metadata, self);
		if (!(next / ROUND % 2)) {
			ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
			close(vm);
			ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, REMOTE));
			replay(_metadata, self);
		}
	}
	TH_LOG("%u hypercalls: %u shares, %u unshares, %u VMs, %u vCPUs, %u teardowns, %u donations",
	       self->pages.nr, self->pages.shares, self->pages.unshares, self->pages.vms,
	       self->pages.vcpus, self->pages.teardowns, donations);
	TH_LOG("%u pages touched", self->owners.nr_used);
	EXPECT_LT(1000, self->pages.shares);
	EXPECT_LT(1000, self->pages.unshares);
	/* some 9000 on most CPUs, 170 where a table needs 16 pages that are free */
	EXPECT_EQ(!self->pages.only_shares, self->pages.vms > 100);
	EXPECT_EQ(!self->pages.only_shares, self->pages.teardowns > 100);
	/* two for each VM, and as many back */
	EXPECT_LE(4 * self->pages.teardowns, donations);
	EXPECT_LT(0, away);
	EXPECT_LE(CALLS_FRESH_PAGES, self->owners.nr_used);
}

TEST_HARNESS_MAIN
