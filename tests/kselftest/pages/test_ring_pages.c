// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pages of the rings and of the counters themselves: mem_transition and hyp_pool while a resize
 * loads and unloads rings. All else that such hypercalls do leaves no events.
 */
#include <errno.h>

#include "kselftest_harness.h"
#include "../../../hyp/abi.h"
#include "calls.h"
#include "control.h"
#include "counters.h"
#include "cpus.h"
#include "events.h"
#include "owners.h"
#include "page.h"
#include "transition.h"

#define REMOTE		"hypervisor"
#define CPU		1
#define CPUS		2
#define MAX_EVENTS	100000

/* Sub-buffers of the first rings, and those of the resizes: one table and several */
#define FIRST_PAGES	1000
static const unsigned int sizes[] = { 3000, 200, 700 };

enum { TRANSITION, POOL, HCALL, NR_TYPES };

static const char *const names[] = { "mem_transition", "hyp_pool", "host_hcall" };

FIXTURE(ring_pages) {
	struct nl nl;
	struct calls calls;
	struct event_type types[NR_TYPES];
	struct event *events;
	struct owners owners;
};

FIXTURE_SETUP(ring_pages)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, control_fresh(&self->nl, REMOTE));
	ASSERT_EQ(0, calls_open(&self->calls));
	ASSERT_EQ(0, owners_init(&self->owners, &self->nl, REMOTE));
	ASSERT_EQ(0, control_load(&self->nl, REMOTE, FIRST_PAGES * PAGE, HYPTRACE_MODE_DISCARD));
	ASSERT_EQ(0, event_types(&self->nl, REMOTE, names, self->types, NR_TYPES));
	self->events = calloc(MAX_EVENTS, sizeof(*self->events));
	ASSERT_NE(NULL, self->events);
	ASSERT_EQ(0, pin_to(CPU));
}

FIXTURE_TEARDOWN(ring_pages)
{
	control_fresh(&self->nl, REMOTE);
	EXPECT_EQ(0, calls_close(&self->calls));
	nl_close(&self->nl);
}

/* Get the next mem_transition; NULL if there is none. */
static const struct event *next_transition(const struct _test_data_ring_pages *self, ssize_t nr,
					   ssize_t *at)
{
	while (*at < nr) {
		const struct event *event = &self->events[(*at)++];

		if (event->type == &self->types[TRANSITION])
			return event;
	}
	return NULL;
}

/* What a CPU gives to EL2 for its ring, in pages */
struct shape {
	unsigned int data;	/* sub-buffers, the reader's included */
	unsigned int tables, dirs;
};

static unsigned int divide_up(unsigned int nr, unsigned int by)
{
	return (nr + by - 1) / by;
}

static struct shape shape_of_rings(struct __test_metadata *_metadata, struct nl *nl)
{
	struct shape shape;
	struct info info;

	ASSERT_EQ(0, control_info(nl, REMOTE, &info));
	shape.data = info.nr_subbufs;
	shape.tables = divide_up(shape.data, HYPTRACE_ENTRIES_PER_TABLE(PAGE));
	shape.dirs = divide_up(shape.tables, HYPTRACE_TABLES_PER_DIR(PAGE));
	return shape;
}

/* Where the check of a list of events is */
struct check {
	ssize_t nr, at;
};

/*
 * A page that is donated is the second of two, of which the driver has the first. The kernel may
 * read bytes beyond the end of a string that is right before a page. An older host panics if that
 * page is EL2's.
 */
static void check_donated(struct __test_metadata *_metadata, const struct event *event)
{
	EXPECT_EQ(1, event_field(event, "pfn") % 2);
	EXPECT_EQ(1, event_field(event, "nr"));
}

/*
 * The next events are about so many pages: neighbours change hands at once. Pages are given on the
 * CPU of this process, and taken back by a worker on any CPU.
 */
static void check_pages(struct __test_metadata *_metadata, struct _test_data_ring_pages *self,
			struct check *check, int op, int from, int to, int64_t pages)
{
	const struct event *event;

	while (pages > 0) {
		event = next_transition(self, check->nr, &check->at);
		ASSERT_NE(NULL, event);
		check_transition(_metadata, event, op, from, to, event_field(event, "pfn"), 0);
		EXPECT_LT(0, event_field(event, "nr"));
		if (op == self->owners.values.donate)
			check_donated(_metadata, event);
		pages -= event_field(event, "nr");
		ASSERT_FALSE(has_failed(_metadata)) TH_LOG("event %zd", check->at - 1);
	}
	ASSERT_EQ(0, pages);
}

static void check_load(struct __test_metadata *_metadata, struct _test_data_ring_pages *self,
		       struct check *check, const struct shape *shape)
{
	const unsigned int per_table = HYPTRACE_ENTRIES_PER_TABLE(PAGE);
	const struct mem_values *v = &self->owners.values;
	unsigned int table, data;

	for (table = 0; table < shape->tables; table++) {
		data = shape->data - table * per_table;
		if (!(table % HYPTRACE_TABLES_PER_DIR(PAGE)))
			check_pages(_metadata, self, check, v->donate, v->host, v->hyp, 1);
		check_pages(_metadata, self, check, v->donate, v->host, v->hyp, 1);
		check_pages(_metadata, self, check, v->share, v->host, v->hyp,
			    data < per_table ? data : per_table);
	}
	/* the meta page */
	check_pages(_metadata, self, check, v->share, v->host, v->hyp, 1);
}

/* In the opposite order */
static void check_unload(struct __test_metadata *_metadata, struct _test_data_ring_pages *self,
			 struct check *check, const struct shape *shape)
{
	const unsigned int per_table = HYPTRACE_ENTRIES_PER_TABLE(PAGE);
	const struct mem_values *v = &self->owners.values;
	unsigned int table = shape->tables, data;

	check_pages(_metadata, self, check, v->unshare, v->host, v->hyp, 1);
	while (table--) {
		data = shape->data - table * per_table;
		check_pages(_metadata, self, check, v->unshare, v->host, v->hyp,
			    data < per_table ? data : per_table);
		check_pages(_metadata, self, check, v->donate, v->hyp, v->host, 1);
		if (!(table % HYPTRACE_TABLES_PER_DIR(PAGE)))
			check_pages(_metadata, self, check, v->donate, v->hyp, v->host, 1);
	}
}

/*
 * Pages that EL2 gives back before it has got them are those of the rings at the start. Return
 * how many of them it shared.
 */
static unsigned int know_first_rings(struct _test_data_ring_pages *self, ssize_t nr)
{
	struct owners *owners = &self->owners;
	unsigned int known = 0, shared = 0;
	const struct event *event;
	ssize_t at = 0;

	while ((event = next_transition(self, nr, &at))) {
		uint64_t pfn = event_field(event, "pfn"), end = pfn + event_field(event, "nr");

		for (; pfn < end; pfn++) {
			struct page_state *page = owners_page(owners, pfn);

			if (owners->nr_used == known)
				continue;
			known = owners->nr_used;
			page->owner = event_field(event, "from");
			if (event_field(event, "op") == owners->values.unshare) {
				page->sharers[owners->values.hyp]++;
				shared++;
			}
		}
	}
	return shared;
}

/* Resize while tracing: EL2 takes all pages of the new rings, then gives back those of the old. */
TEST_F(ring_pages, rings_that_are_loaded_and_unloaded)
{
	struct shape shapes[1 + ARRAY_SIZE(sizes)], *shape = shapes;
	unsigned int i, cpu, shared = 0, owned = 0, first;
	const struct event *event;
	struct check check = { };
	int64_t left;
	int pools;

	*shape = shape_of_rings(_metadata, &self->nl);
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		ASSERT_EQ(0, control_set_size(&self->nl, REMOTE, sizes[i] * PAGE));
		*++shape = shape_of_rings(_metadata, &self->nl);
		EXPECT_EQ(sizes[i] + 1, shape->data);
	}
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, REMOTE));
	check.nr = events_read_all(REMOTE, CPUS, self->types, NR_TYPES, self->events, MAX_EVENTS);
	ASSERT_LT(0, check.nr);

	for (shape = shapes; shape < shapes + ARRAY_SIZE(sizes); shape++) {
		for (cpu = 0; cpu < CPUS; cpu++)
			check_load(_metadata, self, &check, shape + 1);
		for (cpu = 0; cpu < CPUS; cpu++)
			check_unload(_metadata, self, &check, shape);
	}
	EXPECT_EQ(NULL, next_transition(self, check.nr, &check.at));

	first = know_first_rings(self, check.nr);
	for (check.at = 0; (event = next_transition(self, check.nr, &check.at));)
		ASSERT_TRUE(owners_apply(&self->owners, event));
	for (i = 0; i < OWNERS_MAX_PAGES; i++) {
		const struct page_state *page = &self->owners.pages[i];

		shared += page_sharers(page);
		owned += page->used && page->owner == self->owners.values.hyp;
	}
	/* Sub-buffers with events move from ring to ring: some are still those of the first. */
	left = CPUS * (shapes[0].data + 1) - (int64_t)first;
	TH_LOG("%zd events; %u pages shared at the end, and %lld of the first rings", check.nr,
	       shared, (long long)left);
	EXPECT_LE(0, left);
	EXPECT_EQ(CPUS * (shape->data + 1), shared + left);
	EXPECT_EQ(CPUS * (shape->tables + shape->dirs), owned);
	/* the host's pool, and that of EL2 */
	pools = count_pools(self->events, check.nr, &self->types[POOL],
			    value_of(&self->nl, REMOTE, "hyp_pool", "op", "free"));
	EXPECT_LE(1, pools);
	EXPECT_GE(2, pools);
}

/* EL2 gets the pages of the counters with the first hold, and gives them back with the last. */
TEST_F(ring_pages, counters)
{
	const unsigned int pairs = CPUS * HYPTRACE_COUNT_PAGES(PAGE);
	const struct mem_values *v = &self->owners.values;
	const struct event *event;
	struct check check = { };
	uint64_t pfn = 0;
	unsigned int i;

	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	ASSERT_EQ(0, counters_hold(&self->nl, "hyp_enter", true));
	ASSERT_EQ(0, counters_hold(&self->nl, "hyp_enter", false));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, REMOTE));
	check.nr = events_read_all(REMOTE, CPUS, self->types, NR_TYPES, self->events, MAX_EVENTS);
	for (i = 0; i < 4 * pairs; i++) {
		/* first the donated page and then the one before it; in the opposite order back */
		bool back = i >= 2 * pairs, shared = i % 2 != back;
		int op = shared ? v->share : v->donate, from = v->host, to = v->hyp;

		if (back && shared) {
			op = v->unshare;
		} else if (back) {
			from = v->hyp;
			to = v->host;
		}
		event = next_transition(self, check.nr, &check.at);
		ASSERT_NE(NULL, event);
		if (!shared)
			check_donated(_metadata, event);
		if (i % 2)
			EXPECT_EQ(shared ? pfn - 1 : pfn + 1, (uint64_t)event_field(event, "pfn"));
		pfn = event_field(event, "pfn");
		check_transition(_metadata, event, op, from, to, pfn, 0);
		ASSERT_FALSE(has_failed(_metadata)) TH_LOG("event %u", i);
	}
	EXPECT_EQ(NULL, next_transition(self, check.nr, &check.at));
}

/*
 * Load a spare ring by hand. What EL2 refuses because of the page is seen, with the error; ops
 * that are not possible, or that take no pages, leave nothing.
 */
TEST_F(ring_pages, a_ring_that_is_loaded_step_by_step)
{
	const struct mem_values *v = &self->owners.values;
	const uint64_t spare = CPU | HYPTRACE_SPARE_RING, fresh = self->calls.info.fresh_pfn;
	const struct {
		const char *call;
		uint64_t x[3];
		int64_t ret;
		unsigned int nr_events;
		struct {
			int op, from, to;
			uint64_t pfn;
			int ret;
		} events[2];
	} steps[] = {
		{ "__hyptrace", { HYPTRACE_OP_RING_DIR, spare, fresh }, -EINVAL },
		{ "__hyptrace", { HYPTRACE_OP_RING_BEGIN, spare, HYPTRACE_RING_MIN_PAGES }, 0 },
		{ "__hyptrace", { HYPTRACE_OP_RING_DIR, spare, fresh }, 0, 1,
		  { { v->donate, v->host, v->hyp, fresh, 0 } } },
		{ "__hyptrace", { HYPTRACE_OP_RING_DIR, spare, fresh + 1 }, -EINVAL },
		{ "__pkvm_host_share_hyp", { fresh + 1 }, 0, 1,
		  { { v->share, v->host, v->hyp, fresh + 1, 0 } } },
		{ "__hyptrace", { HYPTRACE_OP_RING_TABLE, spare, fresh + 1 }, -EPERM, 1,
		  { { v->donate, v->host, v->hyp, fresh + 1, -EPERM } } },
		{ "__pkvm_host_unshare_hyp", { fresh + 1 }, 0, 1,
		  { { v->unshare, v->host, v->hyp, fresh + 1, 0 } } },
		/* The page lists page 0, which is no memory. */
		{ "__hyptrace", { HYPTRACE_OP_RING_TABLE, spare, fresh + 2 }, 1, 1,
		  { { v->donate, v->host, v->hyp, fresh + 2, 0 } } },
		{ "__hyptrace", { HYPTRACE_OP_RING_TABLE, spare, 0 }, -EINVAL },
		{ "__hyptrace", { HYPTRACE_OP_SYNC, CPU }, 0 },
		{ "__hyptrace", { HYPTRACE_OP_RING_FREE, spare }, 1, 1,
		  { { v->donate, v->hyp, v->host, fresh + 2, 0 } } },
		{ "__hyptrace", { HYPTRACE_OP_RING_FREE, spare }, 0, 1,
		  { { v->donate, v->hyp, v->host, fresh, 0 } } },
		{ "__hyptrace", { HYPTRACE_OP_RING_FREE, spare }, 0 },
	};
	const unsigned int nr_steps = ARRAY_SIZE(steps);
	struct calls_one list[ARRAY_SIZE(steps)];
	unsigned int i, j, nr_hcalls = 0;
	ssize_t nr, at = 0;

	for (i = 0; i < nr_steps; i++)
		list[i] = calls_hvc(&self->calls, steps[i].call, steps[i].x[0], steps[i].x[1],
				    steps[i].x[2]);
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	ASSERT_EQ(0, calls_make(&self->calls, list, nr_steps));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, REMOTE));
	nr = events_read(REMOTE, CPU, self->types, NR_TYPES, self->events, MAX_EVENTS);
	ASSERT_LE(0, nr);
	for (i = 0; i < nr_steps; i++) {
		EXPECT_EQ(steps[i].ret, (int64_t)list[i].ret[1]) TH_LOG("step %u", i);
		for (j = 0; j < steps[i].nr_events; j++) {
			const struct event *event = next_transition(self, nr, &at);

			check_transition(_metadata, event, steps[i].events[j].op,
					 steps[i].events[j].from, steps[i].events[j].to,
					 steps[i].events[j].pfn, steps[i].events[j].ret);
			EXPECT_EQ(1, event_field(event, "nr"));
		}
	}
	EXPECT_EQ(NULL, next_transition(self, nr, &at));
	/* Those of the test leave a host_hcall, those of hyptrace do not. */
	for (at = 0; at < nr; at++)
		nr_hcalls += self->events[at].type == &self->types[HCALL];
	EXPECT_EQ(2, nr_hcalls);
}

TEST_HARNESS_MAIN
