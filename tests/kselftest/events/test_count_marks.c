// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counters of the remote "test", with the writer of the hypervisor: each mark is a visit.
 * test_counters.c has those of the hypervisor.
 */
#include <errno.h>
#include <stdlib.h>

#include "kselftest_harness.h"
#include "control.h"
#include "counters.h"
#include "module.h"

#define REMOTE		"test"
#define CPU		1
#define MAX_COUNTERS	1024
#define NR		1000
/* hyp_enter and hyp_exit: see hyp/events.h */
#define REASON_HVC	1
#define REASON_ERET	6

static struct counter counters[MAX_COUNTERS];

FIXTURE(count_marks) {
	struct nl nl;
};

FIXTURE_SETUP(count_marks)
{
	counters_remote = REMOTE;
	ASSERT_EQ(0, counters_load_test());
	ASSERT_EQ(0, nl_open(&self->nl));
}

FIXTURE_TEARDOWN(count_marks)
{
	control_fresh(&self->nl, REMOTE);
	nl_close(&self->nl);
	EXPECT_EQ(0, module_reload("hyptrace_test", ""));
}

/* The counter of the visits of a CPU; NULL if there is none, or if it is not alone. */
static const struct counter *get_visits(struct nl *nl, uint32_t cpu)
{
	ssize_t nr = counters_get(nl, cpu, counters, MAX_COUNTERS);
	const struct counter *found = NULL;
	ssize_t i;

	if (nr < 0)
		abort();
	for (i = 0; i < nr; i++) {
		if (!strcmp(counters[i].event, "hyp_exit"))
			continue;
		if (found)
			return NULL;
		found = &counters[i];
	}
	if (!found || strcmp(found->event, "hyp_enter") || strcmp(found->field, "reason") ||
	    found->value != REASON_HVC || found->cpu != cpu)
		return NULL;
	return found;
}

/* The slowest of these visits took as long as the last bucket says, which has no end. */
static bool longest_is_in_last_bucket(const struct counter *visits)
{
	unsigned int last = COUNTER_BUCKETS - 1;

	while (last && !visits->buckets[last])
		last--;
	/* the remote counts ns */
	if (last < COUNTER_BUCKETS - 1 && visits->longest >> last)
		return false;
	return !last || visits->longest >> (last - 1);
}

TEST_F(count_marks, each_mark_is_counted_on_its_cpu)
{
	const struct counter *visits, *outside;
	unsigned int i;
	ssize_t nr;

	ASSERT_EQ(0, control_ready(&self->nl, REMOTE, 65536, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, counters_set(&self->nl, "hyp_enter", true));
	for (i = 1; i <= 3; i++) {
		ASSERT_EQ(0, control_mark(&self->nl, REMOTE, CPU, 0, NR));
		visits = get_visits(&self->nl, CPU);
		ASSERT_NE(NULL, visits);
		EXPECT_EQ(i * NR, visits->count);
		EXPECT_TRUE(counter_is_plausible(visits));
		EXPECT_LE(visits->longest, visits->total);
		EXPECT_LE(visits->total, visits->longest * visits->count);
		EXPECT_TRUE(longest_is_in_last_bucket(visits));
	}
	EXPECT_EQ(NULL, get_visits(&self->nl, 0));

	/* the time between two visits */
	nr = counters_get(&self->nl, CPU, counters, MAX_COUNTERS);
	outside = counters_find(counters, nr, CPU, "hyp_exit", "reason", REASON_ERET);
	ASSERT_NE(NULL, outside);
	EXPECT_TRUE(counter_is_plausible(outside));

	/* what is not counted any more stays, until a reset */
	ASSERT_EQ(0, counters_set(&self->nl, "hyp_enter", false));
	ASSERT_EQ(0, control_mark(&self->nl, REMOTE, CPU, 0, NR));
	visits = get_visits(&self->nl, CPU);
	ASSERT_NE(NULL, visits);
	EXPECT_EQ(3 * NR, visits->count);
	ASSERT_EQ(0, counters_set(&self->nl, "hyp_enter", true));
	ASSERT_EQ(0, control_mark(&self->nl, REMOTE, 0, 0, 1));
	ASSERT_EQ(0, counters_reset(&self->nl, CPU));
	EXPECT_EQ(NULL, get_visits(&self->nl, CPU));
	visits = get_visits(&self->nl, 0);
	ASSERT_NE(NULL, visits);
	EXPECT_EQ(1, visits->count);
}

/* A resize, a clear and an unload do not change what is counted. A reset frees it. */
TEST_F(count_marks, rings_and_counters_are_independent)
{
	const struct counter *visits;

	ASSERT_EQ(0, control_ready(&self->nl, REMOTE, 65536, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, counters_set(&self->nl, "hyp_enter", true));
	ASSERT_EQ(0, control_mark(&self->nl, REMOTE, CPU, 0, NR));
	ASSERT_EQ(0, control_set_size(&self->nl, REMOTE, 131072));
	ASSERT_EQ(0, control_clear(&self->nl, REMOTE, CPU));
	visits = get_visits(&self->nl, CPU);
	ASSERT_NE(NULL, visits);
	EXPECT_EQ(NR, visits->count);
	ASSERT_EQ(0, control_mark(&self->nl, REMOTE, CPU, 0, 1));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, REMOTE));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_UNLOAD, REMOTE));
	visits = get_visits(&self->nl, CPU);
	ASSERT_NE(NULL, visits);
	EXPECT_EQ(NR + 1, visits->count);
	ASSERT_EQ(0, control_fresh(&self->nl, REMOTE));
	EXPECT_EQ(0, counters_get(&self->nl, CPU, counters, MAX_COUNTERS));
}

/* A hypervisor whose kernel lacks the hook of an event does not count it either. */
TEST_F(count_marks, what_cannot_be_recorded_is_not_counted)
{
	const int id = control_event_id(&self->nl, REMOTE, "hyp_enter");
	char parameters[64];

	ASSERT_LT(0, id);
	snprintf(parameters, sizeof(parameters), "counts=1 missing=0x%llx", 1ULL << id);
	ASSERT_EQ(0, module_reload("hyptrace_test", parameters));
	EXPECT_EQ(-EOPNOTSUPP, counters_set(&self->nl, "hyp_enter", true));
	EXPECT_STREQ("\"hyp_enter\" cannot be counted", counters_message());
	EXPECT_EQ(0, counters_set(&self->nl, "lock_wait", true));
}

TEST_HARNESS_MAIN
