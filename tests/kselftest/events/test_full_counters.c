// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of so many events that EL2 must empty the packed word of a bucket, which takes 2^23 of
 * them (count.h): none is lost then. That takes a minute, so by default the test makes fewer calls:
 * HYPTRACE_COUNTED_CALLS says how many.
 */
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "calls.h"
#include "control.h"
#include "counters.h"
#include "cpus.h"
#include "page.h"

#define REMOTE		"hypervisor"
/* A number that no hypercall has */
#define UNKNOWN		1000

#define DEFAULT_CALLS	100000
#define MAX_COUNTERS	1024
/* Under emulation, the default of 30 s is too short for millions of calls. */
#define LIMIT_S		1200

FIXTURE(full) {
	struct nl nl;
	struct calls calls;
	struct counter *counters;
};

static void count(struct __test_metadata *_metadata, struct _test_data_full *self, bool on)
{
	ASSERT_EQ(0, counters_set(&self->nl, "host_hcall", on));
	ASSERT_EQ(0, counters_set(&self->nl, "hyp_enter", on));
}

FIXTURE_SETUP(full)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, control_fresh(&self->nl, REMOTE));
	ASSERT_EQ(0, calls_open(&self->calls));
	self->counters = calloc(MAX_COUNTERS, sizeof(*self->counters));
	ASSERT_NE(NULL, self->counters);
	ASSERT_EQ(0, pin_to(0));
}

FIXTURE_TEARDOWN(full)
{
	counters_set(&self->nl, "host_hcall", false);
	counters_set(&self->nl, "hyp_enter", false);
	control_fresh(&self->nl, REMOTE);
	EXPECT_EQ(0, calls_close(&self->calls));
	nl_close(&self->nl);
}

/* Make calls that EL2 does not know, which are the fastest. Return their number. */
static uint64_t make_calls(struct __test_metadata *_metadata, struct _test_data_full *self)
{
	const char *text = getenv("HYPTRACE_COUNTED_CALLS");
	uint64_t nr = text && *text ? strtoull(text, NULL, 0) : DEFAULT_CALLS, made;
	static struct calls_one list[CALLS_BATCH];
	unsigned int i;

	for (i = 0; i < CALLS_BATCH; i++)
		list[i].x[0] = self->calls.info.base + UNKNOWN;
	for (made = 0; made < nr; made += CALLS_BATCH)
		ASSERT_EQ(0, calls_make(&self->calls, list, CALLS_BATCH));
	return made;
}

/* Nobody else makes such calls. Each enters EL2. */
static void expect_counted(struct __test_metadata *_metadata, struct _test_data_full *self,
			   uint64_t made)
{
	ssize_t nr = counters_get(&self->nl, 0, self->counters, MAX_COUNTERS), i;
	int hvc = control_symbol(&self->nl, REMOTE, "hyp_enter", "reason", "hvc");
	const struct counter *visits;
	uint64_t counted = 0;

	ASSERT_LT(0, nr);
	for (i = 0; i < nr; i++) {
		EXPECT_TRUE(counter_is_plausible(&self->counters[i]));
		if (self->counters[i].is_others)
			counted += self->counters[i].count;
	}
	EXPECT_EQ(made, counted);
	visits = counters_find(self->counters, nr, 0, "hyp_enter", "reason", hvc);
	ASSERT_NE(NULL, visits);
	EXPECT_LE(made, visits->count);
}

TEST_F_TIMEOUT(full, of_events_that_are_only_counted, LIMIT_S)
{
	uint64_t made;

	count(_metadata, self, true);
	made = make_calls(_metadata, self);
	expect_counted(_metadata, self, made);
}

TEST_F_TIMEOUT(full, of_events_that_are_recorded_too, LIMIT_S)
{
	uint64_t made;

	ASSERT_EQ(0, control_load(&self->nl, REMOTE, 8 * PAGE, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, control_enable(&self->nl, REMOTE, "host_hcall", true));
	ASSERT_EQ(0, control_enable(&self->nl, REMOTE, "hyp_enter", true));
	ASSERT_EQ(0, control_enable(&self->nl, REMOTE, "hyp_exit", true));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	count(_metadata, self, true);
	made = make_calls(_metadata, self);
	expect_counted(_metadata, self, made);
}

TEST_HARNESS_MAIN
