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

/* Enable hyp_enter and hyp_exit for a reason, or disable them. */
static int set_both(struct nl *nl, bool enable, uint64_t reason)
{
	const struct filter_term term = FILTER_TERM("reason", EQ, reason);

	nl_begin(&msg, nl, HYPTRACE_CMD_EVENT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, REMOTE);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, "hyp_enter");
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, "hyp_exit");
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, enable);
	if (enable)
		filter_put(&msg, "x", &term, 1, NULL);
	return nl_do(nl, &msg, &answer);
}

#define BOTH		(1UL << self->enter | 1UL << self->exit)
#define FAIL(what, id)	ASSERT_EQ(0, set_parameter(PARAMETERS what "_error_id", id))
#define EXPECT_PARAMETER(value, name)	EXPECT_EQ(value, get_parameter(PARAMETERS name))

/* Describe the events of the remote, and their filters. */
static int get_events(struct nl *nl, struct nl_answer *events)
{
	nl_begin(&msg, nl, HYPTRACE_CMD_EVENT_GET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, REMOTE);
	return nl_dump(nl, &msg, events);
}

#define EXPECT_EIO(request)							\
	do {									\
		ASSERT_EQ(0, get_events(&self->nl, &before));			\
		EXPECT_EQ(-EIO, request);					\
		ASSERT_EQ(0, get_events(&self->nl, &after));			\
		EXPECT_EQ(before.len, after.len);				\
		EXPECT_EQ(0, memcmp(before.data, after.data, before.len));	\
	} while (0)

TEST_F(faults, a_filter_that_fails_changes_no_event)
{
	/* no event is enabled before */
	FAIL("filter", self->exit);
	EXPECT_EIO(set_both(&self->nl, true, 1));
	EXPECT_STREQ("the remote failed to set up \"hyp_exit\" (error 5)",
		     answer.message);
	EXPECT_PARAMETER(0, "enabled_ids");
	EXPECT_PARAMETER(0, "filtered_ids");

	/* both have a filter before */
	FAIL("filter", 0);
	ASSERT_EQ(0, set_both(&self->nl, true, 1));
	EXPECT_PARAMETER(BOTH, "enabled_ids");
	EXPECT_PARAMETER(BOTH, "filtered_ids");
	FAIL("filter", self->exit);
	EXPECT_EIO(set_both(&self->nl, true, 2));
	EXPECT_PARAMETER(BOTH, "filtered_ids");
	EXPECT_PARAMETER(1, "filter_value");
}

TEST_F(faults, an_event_that_cannot_be_enabled_gets_no_filter)
{
	FAIL("event", self->exit);
	EXPECT_EIO(set_both(&self->nl, true, 1));
	EXPECT_PARAMETER(0, "enabled_ids");
	EXPECT_PARAMETER(0, "filtered_ids");
}

TEST_F(faults, events_that_cannot_be_disabled_keep_their_filters)
{
	ASSERT_EQ(0, set_both(&self->nl, true, 1));
	FAIL("event", self->exit);
	EXPECT_EIO(set_both(&self->nl, false, 0));
	EXPECT_PARAMETER(BOTH, "enabled_ids");
	EXPECT_PARAMETER(BOTH, "filtered_ids");

	/* The filters are removed after the events are disabled. */
	FAIL("event", 0);
	FAIL("filter", self->exit);
	EXPECT_EIO(set_both(&self->nl, false, 0));
	EXPECT_PARAMETER(BOTH, "enabled_ids");
	EXPECT_PARAMETER(BOTH, "filtered_ids");

	FAIL("filter", 0);
	EXPECT_EQ(0, set_both(&self->nl, false, 0));
	EXPECT_PARAMETER(0, "enabled_ids");
	EXPECT_PARAMETER(0, "filtered_ids");
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
