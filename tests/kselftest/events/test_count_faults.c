// SPDX-License-Identifier: GPL-2.0-only
/*
 * The requests of counters, to a remote whose numbers are known and whose callbacks fail: what the
 * answers have, what an error says, and that it changes nothing.
 */
#include <errno.h>
#include <stdlib.h>

#include "kselftest_harness.h"
#include "faulty.h"
#include "counters.h"
#include "kmsg.h"

#define EVENT		"hyp_enter"
#define OTHER		"guest_exit"
#define MAX_COUNTERS	1024
#define CPU		1
#define CYCLES		0x11
#define PATIENCE_MS	10000

/* The counters of each CPU, in their order: see hyptrace_faulty.c */
static const struct {
	const char	*event;
	const char	*field;
	uint64_t	value;
	bool		is_others;
	bool		has_time;
	bool		is_outside;
} known[] = {
	{ "hyp_enter", "reason", 0, .has_time = true },
	{ "hyp_enter", "reason", 1, .has_time = true },
	{ "hyp_enter", "reason", 2, .has_time = true },
	{ "host_hcall", "id", 0, .has_time = true },
	{ "host_hcall", "id", 0, .has_time = true, .is_others = true },
	{ "guest_exit", "ec", 0, .has_time = true },
	{ "mem_transition", "op", 0 },
	{ "mem_transition", "op", 1 },
	{ "hyp_exit", "reason", 0, .has_time = true, .is_outside = true },
	{ "hyp_exit", "reason", 1, .has_time = true, .is_outside = true },
};

#define NR_KNOWN	((ssize_t)(sizeof(known) / sizeof(known[0])))

static struct counter counters[MAX_COUNTERS];

__FAULTY_FIXTURE(count_faults);

static unsigned long parameter(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), PARAMETERS "%s", name);
	return get_parameter(path);
}

static bool says(const char *text)
{
	return strstr(counters_message(), text);
}

static int is_counted(struct nl *nl, const char *event)
{
	const struct nlattr *counted = control_event_attr(nl, REMOTE, event,
							  HYPTRACE_A_EVENT_COUNTED);

	return counted ? *(const uint8_t *)nl_data(counted) : -ENODATA;
}

static bool is_as_known(const struct counter *counter, unsigned int number, unsigned int nr_pmu)
{
	const uint64_t value = 100 * counter->cpu + number + 1;
	unsigned int i;

	if (strcmp(counter->event, known[number].event) ||
	    strcmp(counter->field, known[number].field) ||
	    counter->value != known[number].value ||
	    counter->is_others != known[number].is_others ||
	    counter->has_time != known[number].has_time)
		return false;
	if (known[number].is_outside)
		return counter->total == 1000 * value && counter->now == 2000 * value &&
		       !counter->count && !counter->measured && !counter->frequency;
	for (i = 0; i < HYPTRACE_PMU_COUNTER_MAX; i++)
		if (counter->pmu[i] != (nr_pmu && i == nr_pmu - 1 ? 3 * value : 0))
			return false;
	if (counter->count != value || counter->measured != (nr_pmu ? value : 0) || counter->now)
		return false;
	if (!counter->has_time)
		return !counter->total && !counter->frequency;
	for (i = 0; i < COUNTER_BUCKETS; i++)
		if (counter->buckets[i] != (i == 10 ? value : 0))
			return false;
	return counter->total == 1000 * value && counter->longest == 10 * value &&
	       counter->frequency == 1000000;
}

/* Are there all counters of the CPUs from @first to @last, and no other? */
static bool are_known(struct nl *nl, int cpu, unsigned int first, unsigned int last,
		      unsigned int nr_pmu)
{
	ssize_t i, nr = counters_get(nl, cpu, counters, MAX_COUNTERS);

	if (nr != (ssize_t)(last - first + 1) * NR_KNOWN)
		return false;
	for (i = 0; i < nr; i++)
		if (counters[i].cpu != first + i / NR_KNOWN ||
		    !is_as_known(&counters[i], i % NR_KNOWN, nr_pmu))
			return false;
	return true;
}

FIXTURE_SETUP(count_faults)
{
	counters_remote = REMOTE;
	__FAULTY_SETUP();
}

TEST_F(count_faults, a_dump_has_each_counter_of_each_cpu)
{
	const unsigned int last = sysconf(_SC_NPROCESSORS_CONF) - 1;

	EXPECT_EQ(0, counters_get(&self->nl, CPU_ALL, counters, MAX_COUNTERS));
	ASSERT_EQ(0, counters_set(&self->nl, EVENT, true));
	EXPECT_TRUE(are_known(&self->nl, CPU_ALL, 0, last, 0));
	EXPECT_TRUE(are_known(&self->nl, 0, 0, 0, 0));
	EXPECT_TRUE(are_known(&self->nl, CPU, CPU, CPU, 0));
	EXPECT_EQ(-ENXIO, counters_get(&self->nl, 4096, counters, MAX_COUNTERS));
	EXPECT_TRUE(says("no ring for CPU 4096"));
}

TEST_F(count_faults, a_dump_in_several_parts_is_complete)
{
	static struct nl_answer answer;
	const uint32_t pmu = CYCLES;
	char message[COUNTER_MESSAGE];
	static struct nl_msg msg;

	ASSERT_EQ(0, counters_set(&self->nl, EVENT, true));
	nl_begin(&msg, &self->nl, HYPTRACE_CMD_COUNT_GET);
	nl_put_str(&msg, HYPTRACE_A_COUNTER_REMOTE, REMOTE);
	ASSERT_EQ(0, nl_dump(&self->nl, &msg, &answer));
	EXPECT_TRUE(nl_parts_are_whole(&msg, &answer));
	/* with more data of each */
	ASSERT_EQ(0, counters_measure(&self->nl, EVENT, &pmu, 1, message));
	ASSERT_EQ(0, nl_dump(&self->nl, &msg, &answer));
	EXPECT_TRUE(nl_parts_are_whole(&msg, &answer));
}

/* The remote counts on, so its log is all that says so. */
TEST_F(count_faults, a_remote_that_counts_on_is_unregistered)
{
	const int kmsg = log_open();

	ASSERT_LE(0, kmsg);
	ASSERT_EQ(0, counters_set(&self->nl, EVENT, true));
	ASSERT_EQ(0, set_parameter(PARAMETERS "count_error", -EIO));
	ASSERT_EQ(0, set_parameter(PARAMETERS "unregister", 1));
	EXPECT_TRUE(log_has(kmsg, "remote \"" REMOTE "\" still counts events"));
	close(kmsg);
}

/* Listeners hear of each event of which this changes, and of no other. */
TEST_F(count_faults, changes_are_announced)
{
	const struct nlmsghdr *change;
	struct nl listener;

	ASSERT_EQ(0, nl_open(&listener));
	ASSERT_EQ(0, nl_join(&listener));
	ASSERT_EQ(0, counters_set(&self->nl, EVENT, true));
	ASSERT_EQ(0, counters_set(&self->nl, OTHER, true));
	ASSERT_EQ(0, counters_set(&self->nl, EVENT, false));
	change = control_next_change(&listener, PATIENCE_MS);
	ASSERT_NE(NULL, change);
	EXPECT_STREQ(EVENT, nl_str(nl_attr(change, HYPTRACE_A_EVENT_NAME)));
	EXPECT_EQ(1, *(const uint8_t *)nl_data(nl_attr(change, HYPTRACE_A_EVENT_COUNTED)));
	change = control_next_change(&listener, PATIENCE_MS);
	ASSERT_NE(NULL, change);
	EXPECT_STREQ(OTHER, nl_str(nl_attr(change, HYPTRACE_A_EVENT_NAME)));
	change = control_next_change(&listener, PATIENCE_MS);
	ASSERT_NE(NULL, change);
	EXPECT_STREQ(EVENT, nl_str(nl_attr(change, HYPTRACE_A_EVENT_NAME)));
	EXPECT_EQ(0, *(const uint8_t *)nl_data(nl_attr(change, HYPTRACE_A_EVENT_COUNTED)));
	EXPECT_EQ(NULL, control_next_change(&listener, 100));
	nl_close(&listener);
}

TEST_F(count_faults, a_reset_is_of_one_cpu_or_of_all)
{
	ASSERT_EQ(0, counters_set(&self->nl, EVENT, true));
	ASSERT_EQ(0, counters_reset(&self->nl, CPU));
	EXPECT_EQ(0, counters_get(&self->nl, CPU, counters, MAX_COUNTERS));
	EXPECT_TRUE(are_known(&self->nl, 0, 0, 0, 0));
	/* counted events keep their counters */
	ASSERT_EQ(0, counters_reset(&self->nl, CPU_ALL));
	EXPECT_EQ(0, counters_get(&self->nl, CPU_ALL, counters, MAX_COUNTERS));
	EXPECT_EQ(1, parameter("has_counters"));
	EXPECT_EQ(1, is_counted(&self->nl, EVENT));
	EXPECT_EQ(-ENXIO, counters_reset(&self->nl, 4096));
	/* others are freed, but not by the reset of one CPU */
	ASSERT_EQ(0, counters_set(&self->nl, EVENT, false));
	ASSERT_EQ(0, counters_reset(&self->nl, CPU));
	EXPECT_EQ(1, parameter("has_counters"));
	ASSERT_EQ(0, counters_reset(&self->nl, CPU_ALL));
	EXPECT_EQ(0, parameter("has_counters"));
	/* and are not there to be reset */
	EXPECT_EQ(0, counters_reset(&self->nl, CPU));
	EXPECT_EQ(0, counters_reset(&self->nl, CPU_ALL));
}

TEST_F(count_faults, a_reset_that_fails_says_of_which_cpu)
{
	ASSERT_EQ(0, counters_set(&self->nl, EVENT, true));
	ASSERT_EQ(0, set_parameter(PARAMETERS "count_reset_error", -ENXIO));
	EXPECT_EQ(-ENXIO, counters_reset(&self->nl, CPU));
	EXPECT_TRUE(says("CPU 1 is offline: its counters cannot be reset"));
	ASSERT_EQ(0, set_parameter(PARAMETERS "count_reset_error", -EIO));
	EXPECT_EQ(-EIO, counters_reset(&self->nl, CPU_ALL));
	EXPECT_TRUE(says("the remote failed to reset CPU 1 (error 5)"));
	EXPECT_TRUE(are_known(&self->nl, CPU, CPU, CPU, 0));
	/* the CPUs before it were reset */
	EXPECT_EQ(0, counters_get(&self->nl, 0, counters, MAX_COUNTERS));
	EXPECT_EQ(0, counters_reset(&self->nl, 0));
	EXPECT_EQ(1, is_counted(&self->nl, EVENT));
}

TEST_F(count_faults, a_dump_of_a_cpu_that_cannot_be_read_fails)
{
	ASSERT_EQ(0, counters_set(&self->nl, EVENT, true));
	ASSERT_EQ(0, set_parameter(PARAMETERS "count_read_error", -EIO));
	EXPECT_TRUE(are_known(&self->nl, 0, 0, 0, 0));
	EXPECT_EQ(-EIO, counters_get(&self->nl, CPU, counters, MAX_COUNTERS));
	EXPECT_TRUE(says("the remote does not finish a change on CPU 1"));
	EXPECT_EQ(-EIO, counters_get(&self->nl, CPU_ALL, counters, MAX_COUNTERS));
}

TEST_F(count_faults, events_that_the_remote_fails_to_count_stay_as_they_are)
{
	ASSERT_EQ(0, set_parameter(PARAMETERS "count_error", -ENOMEM));
	EXPECT_EQ(-ENOMEM, counters_set(&self->nl, EVENT, true));
	EXPECT_TRUE(says("not enough free memory for the counters"));
	EXPECT_EQ(-ENOMEM, counters_hold(&self->nl, EVENT, true));
	EXPECT_EQ(0, is_counted(&self->nl, EVENT));
	EXPECT_EQ(0, parameter("has_counters"));

	ASSERT_EQ(0, set_parameter(PARAMETERS "count_error", 0));
	ASSERT_EQ(0, counters_set(&self->nl, EVENT, true));
	ASSERT_EQ(0, set_parameter(PARAMETERS "count_error", -EIO));
	EXPECT_EQ(-EIO, counters_set(&self->nl, OTHER, true));
	EXPECT_TRUE(says("the remote failed to change what it counts (error 5)"));
	EXPECT_EQ(-EIO, counters_hold(&self->nl, OTHER, true));
	EXPECT_EQ(0, is_counted(&self->nl, OTHER));
	EXPECT_EQ(-EIO, counters_set(&self->nl, EVENT, false));
	EXPECT_EQ(1, is_counted(&self->nl, EVENT));
	/* nothing changes, so the remote is not asked */
	EXPECT_EQ(0, counters_set(&self->nl, EVENT, true));
	EXPECT_EQ(-EIO, control_fresh(&self->nl, REMOTE));
	EXPECT_EQ(1, is_counted(&self->nl, EVENT));

	ASSERT_EQ(0, set_parameter(PARAMETERS "count_error", 0));
	EXPECT_EQ(0, control_fresh(&self->nl, REMOTE));
	EXPECT_EQ(0, is_counted(&self->nl, EVENT));
	EXPECT_EQ(0, parameter("has_counters"));
	/* the request that has failed is forgotten */
	ASSERT_EQ(0, counters_hold(&self->nl, OTHER, true));
	EXPECT_EQ(0, is_counted(&self->nl, EVENT));
}

TEST_F(count_faults, counting_that_outlives_its_socket_is_logged)
{
	const int kmsg = log_open();
	struct nl other;

	ASSERT_LE(0, kmsg);
	ASSERT_EQ(0, nl_open(&other));
	ASSERT_EQ(0, counters_hold(&other, OTHER, true));
	ASSERT_EQ(0, set_parameter(PARAMETERS "count_error", -EIO));
	nl_close(&other);
	EXPECT_TRUE(log_gets(kmsg, "failed to switch off what was counted (error 5)"));
	ASSERT_EQ(0, set_parameter(PARAMETERS "count_error", 0));
	close(kmsg);
}

TEST_F(count_faults, what_cannot_be_counted_is_refused)
{
	EXPECT_EQ(-EOPNOTSUPP, counters_set(&self->nl, "selftest", true));
	EXPECT_TRUE(says("\"selftest\" cannot be counted"));
	/* its counters are counted with another event */
	EXPECT_EQ(-EOPNOTSUPP, counters_set(&self->nl, "hyp_exit", true));
	EXPECT_EQ(-ENOENT, counters_set(&self->nl, "nonsense", true));
	counters_remote = "faulty2";
	EXPECT_EQ(-EOPNOTSUPP, counters_set(&self->nl, EVENT, true));
	EXPECT_TRUE(says("remote \"faulty2\" cannot count events"));
	EXPECT_EQ(-EOPNOTSUPP, counters_get(&self->nl, CPU_ALL, counters, MAX_COUNTERS));
	EXPECT_TRUE(says("remote \"faulty2\" cannot count events"));
	EXPECT_EQ(-EOPNOTSUPP, counters_reset(&self->nl, CPU_ALL));
	EXPECT_EQ(0, parameter("has_counters"));
}

/* What the PMU counts in the remote is what the socket asks for that holds events. */
TEST_F(count_faults, the_pmu_is_that_of_one_socket)
{
	uint32_t pmu[HYPTRACE_PMU_COUNTER_MAX + 1] = { CYCLES };
	char message[COUNTER_MESSAGE];
	struct nl other;

	ASSERT_EQ(0, nl_open(&other));
	ASSERT_EQ(0, counters_hold(&other, OTHER, true));
	EXPECT_EQ(-E2BIG, counters_measure(&self->nl, EVENT, pmu, HYPTRACE_PMU_COUNTER_MAX + 1,
					   message));
	EXPECT_EQ(0, is_counted(&self->nl, EVENT));
	ASSERT_EQ(0, counters_measure(&self->nl, EVENT, pmu, HYPTRACE_PMU_COUNTER_MAX, message));
	EXPECT_EQ(HYPTRACE_PMU_COUNTER_MAX, parameter("pmu_counters"));
	EXPECT_TRUE(are_known(&self->nl, CPU, CPU, CPU, HYPTRACE_PMU_COUNTER_MAX));
	/* the same socket may ask for others; a hold without a counter changes nothing */
	ASSERT_EQ(0, counters_measure(&self->nl, EVENT, pmu, 1, message));
	ASSERT_EQ(0, counters_hold(&self->nl, "host_hcall", true));
	EXPECT_EQ(1, parameter("pmu_counters"));
	EXPECT_TRUE(are_known(&self->nl, 0, 0, 0, 1));

	EXPECT_EQ(-EOPNOTSUPP, counters_measure(&other, "lock_wait", pmu, 1, message));
	EXPECT_EQ(-EBUSY, counters_measure(&other, "mem_transition", pmu, 1, message));
	EXPECT_NE(NULL, strstr(message, "uses the PMU: end it first"));
	EXPECT_EQ(0, is_counted(&self->nl, "mem_transition"));

	/* it is given back with the last event of that socket, not of another */
	ASSERT_EQ(0, counters_hold(&other, OTHER, false));
	EXPECT_EQ(1, parameter("pmu_counters"));
	ASSERT_EQ(0, counters_hold(&self->nl, EVENT, false));
	EXPECT_EQ(1, parameter("pmu_counters"));
	ASSERT_EQ(0, counters_hold(&self->nl, "host_hcall", false));
	EXPECT_EQ(0, parameter("pmu_counters"));
	EXPECT_EQ(0, parameter("has_counters"));
	ASSERT_EQ(0, counters_measure(&other, OTHER, pmu, 2, message));
	EXPECT_EQ(2, parameter("pmu_counters"));

	/* and if a request switches off what it holds, and at a reset */
	ASSERT_EQ(0, counters_set(&self->nl, OTHER, false));
	EXPECT_EQ(0, parameter("pmu_counters"));
	ASSERT_EQ(0, counters_measure(&self->nl, EVENT, pmu, 1, message));
	ASSERT_EQ(0, control_fresh(&self->nl, REMOTE));
	EXPECT_EQ(0, parameter("pmu_counters"));
	EXPECT_EQ(0, parameter("has_counters"));
	nl_close(&other);
}

TEST_F(count_faults, a_pmu_that_fails_is_not_held)
{
	const uint32_t pmu = CYCLES;
	char message[COUNTER_MESSAGE];

	ASSERT_EQ(0, set_parameter(PARAMETERS "pmu_error", -EBUSY));
	EXPECT_EQ(-EBUSY, counters_measure(&self->nl, EVENT, &pmu, 1, message));
	EXPECT_STREQ("the PMU is faulty", message);
	EXPECT_EQ(0, is_counted(&self->nl, EVENT));
	EXPECT_EQ(0, parameter("has_counters"));
	ASSERT_EQ(0, counters_set(&self->nl, OTHER, true));
	EXPECT_EQ(-EBUSY, counters_measure(&self->nl, EVENT, &pmu, 1, message));
	EXPECT_EQ(0, is_counted(&self->nl, EVENT));
	EXPECT_EQ(1, is_counted(&self->nl, OTHER));
	ASSERT_EQ(0, set_parameter(PARAMETERS "pmu_error", 0));
	EXPECT_EQ(0, counters_measure(&self->nl, EVENT, &pmu, 1, message));
	EXPECT_EQ(1, parameter("pmu_counters"));
}

/* The PMU belongs to a socket, and to events that are counted. */
TEST_F(count_faults, a_pmu_without_a_hold_is_refused)
{
	static struct nl_answer answer;
	static struct nl_msg msg;
	bool hold;

	for (hold = false;; hold = true) {
		nl_begin(&msg, &self->nl, HYPTRACE_CMD_COUNT_SET);
		nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, REMOTE);
		nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, EVENT);
		nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, !hold);
		if (hold)
			nl_put(&msg, HYPTRACE_A_EVENT_HOLD, NULL, 0);
		nl_put_u32(&msg, HYPTRACE_A_EVENT_PMU, CYCLES);
		EXPECT_EQ(-EINVAL, nl_do(&self->nl, &msg, &answer));
		EXPECT_NE(NULL, strstr(answer.message, "the PMU can only be held with events"));
		EXPECT_EQ(0, is_counted(&self->nl, EVENT));
		if (hold)
			break;
	}
}

TEST_F(count_faults, counters_of_no_remote_are_refused)
{
	static struct nl_answer answer;
	static struct nl_msg msg;

	nl_begin(&msg, &self->nl, HYPTRACE_CMD_COUNT_GET);
	EXPECT_EQ(-EINVAL, nl_dump(&self->nl, &msg, &answer));
	EXPECT_STREQ("the attribute \"remote\" is missing", answer.message);
	EXPECT_EQ(HYPTRACE_A_COUNTER_REMOTE, answer.missing);
	counters_remote = "nonsense";
	EXPECT_EQ(-ENODEV, counters_get(&self->nl, CPU_ALL, counters, MAX_COUNTERS));
}

TEST_HARNESS_MAIN
