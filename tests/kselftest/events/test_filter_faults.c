// SPDX-License-Identifier: GPL-2.0-only
/*
 * Errors of a remote while the filters of events change, which the module hyptrace_faulty
 * injects: then no event has changed, nor its filter.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "kselftest_harness.h"
#include "faulty.h"
#include "filter.h"

static struct nl_answer answer, before, after;
static struct nl_msg msg;

FAULTY_FIXTURE(faults);

/* A request for hyp_enter and hyp_exit; @trigger: of both */
static int set_both_with(struct nl *nl, bool enable, uint64_t reason, uint32_t trigger)
{
	const struct filter_term term = FILTER_TERM("reason", EQ, reason);

	nl_begin(&msg, nl, HYPTRACE_CMD_EVENT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, REMOTE);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, "hyp_enter");
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, "hyp_exit");
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, enable);
	if (enable)
		filter_put(&msg, "x", &term, 1, NULL);
	if (trigger)
		nl_put_u32(&msg, HYPTRACE_A_EVENT_TRIGGER, trigger);
	return nl_do(nl, &msg, &answer);
}

/* Enable them for a reason, or disable them. */
static int set_both(struct nl *nl, bool enable, uint64_t reason)
{
	return set_both_with(nl, enable, reason, HYPTRACE_TRIGGER_ACTION_NONE);
}

#define FAIL(what, id)	ASSERT_EQ(0, set_parameter(PARAMETERS what "_error_id", id))

/* Describe the events of the remote, and their filters. */
static int get_events(struct nl *nl, struct nl_answer *events)
{
	nl_begin(&msg, nl, HYPTRACE_CMD_EVENT_GET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, REMOTE);
	return nl_dump(nl, &msg, events);
}

/* What the remote was told of both: see the parameter "state" */
static bool has_state(struct _test_data_faults *self, bool enabled, unsigned int reason,
		      unsigned int trigger)
{
	char text[PARAMETER_SIZE], wanted[128] = "";

	if (enabled)
		snprintf(wanted, sizeof(wanted), "%d 1 1 %u %u 0, %d 1 1 %u %u 0", self->enter,
			 reason, trigger, self->exit, reason, trigger);
	return !strcmp(wanted, read_parameter(PARAMETERS "state", text));
}

/* The request fails, and changes neither what the driver says nor what the remote has. */
#define EXPECT_EIO(request)							\
	do {									\
		char state[PARAMETER_SIZE], state_after[PARAMETER_SIZE];	\
										\
		ASSERT_EQ(0, get_events(&self->nl, &before));			\
		read_parameter(PARAMETERS "state", state);			\
		EXPECT_EQ(-EIO, request);					\
		ASSERT_EQ(0, get_events(&self->nl, &after));			\
		EXPECT_EQ(before.len, after.len);				\
		EXPECT_EQ(0, memcmp(before.data, after.data, before.len));	\
		EXPECT_STREQ(state, read_parameter(PARAMETERS "state", state_after)); \
	} while (0)

TEST_F(faults, a_filter_that_fails_changes_no_event)
{
	/* no event is enabled before */
	FAIL("filter", self->exit);
	EXPECT_EIO(set_both(&self->nl, true, 1));
	EXPECT_STREQ("the remote failed to set up \"hyp_exit\" (error 5)",
		     answer.message);
	EXPECT_TRUE(has_state(self, false, 0, 0));

	/* both have a filter before */
	FAIL("filter", 0);
	ASSERT_EQ(0, set_both(&self->nl, true, 1));
	EXPECT_TRUE(has_state(self, true, 1, 0));
	FAIL("filter", self->exit);
	EXPECT_EIO(set_both(&self->nl, true, 2));
	EXPECT_TRUE(has_state(self, true, 1, 0));
}

TEST_F(faults, an_event_that_cannot_be_enabled_gets_no_filter)
{
	FAIL("event", self->exit);
	EXPECT_EIO(set_both(&self->nl, true, 1));
	EXPECT_TRUE(has_state(self, false, 0, 0));
}

TEST_F(faults, events_that_cannot_be_disabled_keep_their_filters)
{
	ASSERT_EQ(0, set_both(&self->nl, true, 1));
	FAIL("event", self->exit);
	EXPECT_EIO(set_both(&self->nl, false, 0));

	/* The filters are removed after the events are disabled. */
	FAIL("event", 0);
	FAIL("filter", self->exit);
	EXPECT_EIO(set_both(&self->nl, false, 0));
	EXPECT_TRUE(has_state(self, true, 1, 0));

	FAIL("filter", 0);
	EXPECT_EQ(0, set_both(&self->nl, false, 0));
	EXPECT_TRUE(has_state(self, false, 0, 0));
}

TEST_F(faults, a_trigger_that_fails_changes_no_event)
{
	const uint32_t stop = HYPTRACE_TRIGGER_ACTION_STOP, notify = HYPTRACE_TRIGGER_ACTION_NOTIFY;

	FAIL("trigger", self->exit);
	EXPECT_EIO(set_both_with(&self->nl, true, 1, stop));
	EXPECT_TRUE(has_state(self, false, 0, 0));
	/* another filter, trigger, or both */
	FAIL("trigger", 0);
	ASSERT_EQ(0, set_both_with(&self->nl, true, 1, stop));
	EXPECT_TRUE(has_state(self, true, 1, stop));
	FAIL("trigger", self->exit);
	EXPECT_EIO(set_both_with(&self->nl, true, 2, notify));
	EXPECT_EIO(set_both_with(&self->nl, true, 1, notify));
	EXPECT_EIO(set_both(&self->nl, true, 2));
	EXPECT_EIO(set_both(&self->nl, false, 0));
	FAIL("trigger", self->enter);
	EXPECT_EIO(set_both_with(&self->nl, true, 2, notify));
	EXPECT_EIO(set_both(&self->nl, false, 0));
	EXPECT_TRUE(has_state(self, true, 1, stop));
}

/* Events that are armed in vain are not changed, whatever their state was. */
TEST_F(faults, a_request_that_arms_in_vain_changes_no_filter)
{
	const uint32_t stop = HYPTRACE_TRIGGER_ACTION_STOP;

	ASSERT_EQ(0, control_ready(&self->nl, REMOTE, 65536, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, control_enable(&self->nl, REMOTE, "selftest", false));
	ASSERT_EQ(0, set_parameter(PARAMETERS "arm_error", -EIO));
	EXPECT_EIO(set_both_with(&self->nl, true, 1, stop));
	ASSERT_EQ(0, set_parameter(PARAMETERS "arm_error", 0));
	ASSERT_EQ(0, set_both(&self->nl, true, 1));
	ASSERT_EQ(0, set_parameter(PARAMETERS "arm_error", -EIO));
	EXPECT_EIO(set_both_with(&self->nl, true, 2, stop));
	ASSERT_EQ(0, set_parameter(PARAMETERS "arm_error", 0));
	ASSERT_EQ(0, set_both_with(&self->nl, true, 2, HYPTRACE_TRIGGER_ACTION_START));
	ASSERT_EQ(0, set_parameter(PARAMETERS "arm_error", -EIO));
	/* arms, because a trigger that starts is removed */
	EXPECT_EIO(set_both(&self->nl, true, 3));
	EXPECT_EIO(set_both(&self->nl, false, 0));
	EXPECT_TRUE(has_state(self, true, 2, HYPTRACE_TRIGGER_ACTION_START));
}

/* An event that does not notify is recorded all the same. */
TEST_F(faults, a_filter_of_events_that_notify_rejects_none)
{
	const struct filter_term term = {
		"reason", HYPTRACE_FILTER_OP_EQ, 1, FILTER_REJECT, FILTER_ACCEPT,
	};
	char text[PARAMETER_SIZE];

	nl_begin(&msg, &self->nl, HYPTRACE_CMD_EVENT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, REMOTE);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, "hyp_enter");
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, 1);
	filter_put(&msg, "!(reason==1)", &term, 1, NULL);
	nl_put_u32(&msg, HYPTRACE_A_EVENT_TRIGGER, HYPTRACE_TRIGGER_ACTION_NOTIFY);
	ASSERT_EQ(0, nl_do(&self->nl, &msg, &answer));
	EXPECT_STREQ("1 0 1 253 255", read_parameter(PARAMETERS "filter", text));
}

TEST_F(faults, a_remote_without_triggers_refuses_them)
{
	nl_begin(&msg, &self->nl, HYPTRACE_CMD_EVENT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, "faulty2");
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, "selftest");
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, 1);
	nl_put_u32(&msg, HYPTRACE_A_EVENT_TRIGGER, HYPTRACE_TRIGGER_ACTION_STOP);
	EXPECT_EQ(-EOPNOTSUPP, nl_do(&self->nl, &msg, &answer));
	EXPECT_STREQ("remote \"faulty2\" has no triggers", answer.message);
	EXPECT_FALSE(control_is_enabled(&self->nl, "faulty2", "selftest"));
}

TEST_F(faults, a_remote_without_filters_refuses_them)
{
	const struct filter_term term = FILTER_TERM("id", EQ, 1);

	nl_begin(&msg, &self->nl, HYPTRACE_CMD_EVENT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, "faulty2");
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, "selftest");
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, 1);
	filter_put(&msg, "id == 1", &term, 1, NULL);
	EXPECT_EQ(-EOPNOTSUPP, nl_do(&self->nl, &msg, &answer));
	EXPECT_STREQ("remote \"faulty2\" has no filters", answer.message);
	EXPECT_FALSE(control_is_enabled(&self->nl, "faulty2", "selftest"));
	EXPECT_EQ(0, control_enable(&self->nl, "faulty2", "selftest", true));
}

TEST_HARNESS_MAIN
