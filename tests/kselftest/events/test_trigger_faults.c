// SPDX-License-Identifier: GPL-2.0-only
/*
 * When the driver arms triggers again: after requests that set or remove them, after those that
 * fail half way, and not when a trigger has fired. The module hyptrace_faulty injects the errors.
 */
#include <errno.h>
#include <string.h>

#include "kselftest_harness.h"
#include "faulty.h"
#include "page.h"

#define UNKNOWN_ID	63
#define SOON_MS		10000
#define QUIET_MS	300	/* longer than the driver needs to look again */

static struct nl_answer answer;
static struct nl_msg msg;

FAULTY_TRACED_FIXTURE(faults, 8 * PAGE);

/* Enable hyp_enter and @other with a trigger. */
static int enable(struct nl *nl, const char *other, uint32_t trigger)
{
	nl_begin(&msg, nl, HYPTRACE_CMD_EVENT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, REMOTE);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, "hyp_enter");
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, other);
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, 1);
	if (trigger)
		nl_put_u32(&msg, HYPTRACE_A_EVENT_TRIGGER, trigger);
	return nl_do(nl, &msg, &answer);
}

#define ENABLE(other, action)	enable(&self->nl, other, HYPTRACE_TRIGGER_ACTION_##action)
#define SET(name, value)	ASSERT_EQ(0, set_parameter(PARAMETERS name, value))
#define EXPECT_ARMS(nr)		EXPECT_EQ(nr, get_parameter(PARAMETERS "arms"))

TEST_F(faults, a_failed_request_leaves_the_old_trigger_armed)
{
	ASSERT_EQ(0, ENABLE("hyp_enter", STOP));
	EXPECT_ARMS(1);
	/* but for one that is not about it */
	SET("event_error_id", self->exit);
	EXPECT_EQ(-EIO, control_enable(&self->nl, REMOTE, "hyp_exit", true));
	EXPECT_ARMS(1);
	SET("event_error_id", -1);
	SET("trigger_error_id", self->exit);
	EXPECT_EQ(-EIO, ENABLE("hyp_exit", STOP));
	EXPECT_STREQ("the remote failed to set up \"hyp_exit\" (error 5)", answer.message);
	EXPECT_FALSE(control_is_enabled(&self->nl, REMOTE, "hyp_exit"));
	EXPECT_ARMS(2);
	/* also one that would have taken it away */
	SET("event_error_id", self->enter);
	EXPECT_EQ(-EIO, control_enable(&self->nl, REMOTE, "hyp_enter", false));
	EXPECT_ARMS(3);
	/* It does not end what a trigger has done. */
	SET("fired_id", self->enter);
	EXPECT_EQ(-EIO, ENABLE("hyp_exit", STOP));
	EXPECT_ARMS(3);
}

TEST_F(faults, a_failed_request_without_triggers_arms_none)
{
	SET("event_error_id", self->enter);
	EXPECT_EQ(-EIO, ENABLE("hyp_exit", NONE));
	EXPECT_ARMS(0);
	/* nor one while tracing is off */
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, REMOTE));
	EXPECT_EQ(-EIO, ENABLE("hyp_exit", STOP));
	EXPECT_ARMS(0);
}

TEST_F(faults, a_request_that_arms_in_vain_changes_no_event)
{
	SET("arm_error", -EIO);
	EXPECT_EQ(-EIO, ENABLE("hyp_exit", STOP));
	EXPECT_STREQ("the remote failed to arm its triggers (error 5)", answer.message);
	EXPECT_FALSE(control_is_enabled(&self->nl, REMOTE, "hyp_enter"));
	EXPECT_FALSE(control_is_enabled(&self->nl, REMOTE, "hyp_exit"));
}

TEST_F(faults, a_trigger_that_notifies_does_not_arm)
{
	ASSERT_EQ(0, ENABLE("hyp_exit", NOTIFY));
	EXPECT_ARMS(0);
	SET("event_error_id", self->enter);
	EXPECT_EQ(-EIO, control_enable(&self->nl, REMOTE, "hyp_enter", false));
	EXPECT_ARMS(0);
}

TEST_F(faults, a_removed_stop_does_not_arm)
{
	ASSERT_EQ(0, ENABLE("hyp_exit", STOP));
	EXPECT_ARMS(1);
	ASSERT_EQ(0, ENABLE("hyp_exit", NONE));
	EXPECT_ARMS(1);
}

TEST_F(faults, a_removed_start_arms_unless_a_trigger_has_fired)
{
	ASSERT_EQ(0, ENABLE("hyp_exit", START));
	EXPECT_ARMS(1);
	ASSERT_EQ(0, ENABLE("hyp_enter", NONE));
	EXPECT_ARMS(2);
	SET("fired_id", self->exit);
	ASSERT_EQ(0, ENABLE("hyp_exit", NONE));
	EXPECT_ARMS(2);
}

/* Hold hyp_exit with a trigger that stops so many sub-buffers later, and release it. */
static int hold_and_release(struct nl *nl, uint32_t trigger, uint32_t after)
{
	int err;

	nl_begin(&msg, nl, HYPTRACE_CMD_EVENT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, REMOTE);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, "hyp_exit");
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, 1);
	nl_put(&msg, HYPTRACE_A_EVENT_HOLD, NULL, 0);
	nl_put_u32(&msg, HYPTRACE_A_EVENT_TRIGGER, trigger);
	if (after)
		nl_put_u32(&msg, HYPTRACE_A_EVENT_AFTER, after);
	err = nl_do(nl, &msg, &answer);
	if (err)
		return err;
	nl_begin(&msg, nl, HYPTRACE_CMD_EVENT_RELEASE);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, REMOTE);
	return nl_do(nl, &msg, &answer);
}

/* A hold arms. Its end does so if the event gets back another trigger, and none has fired. */
TEST_F(faults, a_release_arms_if_it_changes_a_trigger)
{
	char before[PARAMETER_SIZE], after[PARAMETER_SIZE];
	struct nl other;

	ASSERT_EQ(0, ENABLE("hyp_exit", STOP));
	EXPECT_ARMS(1);
	read_parameter(PARAMETERS "state", before);
	ASSERT_EQ(0, nl_open(&other));
	ASSERT_EQ(0, hold_and_release(&other, HYPTRACE_TRIGGER_ACTION_STOP, 0));
	EXPECT_ARMS(2);
	ASSERT_EQ(0, hold_and_release(&other, HYPTRACE_TRIGGER_ACTION_STOP, 2));
	EXPECT_ARMS(4);
	ASSERT_EQ(0, hold_and_release(&other, HYPTRACE_TRIGGER_ACTION_START, 0));
	EXPECT_ARMS(6);
	ASSERT_EQ(0, hold_and_release(&other, HYPTRACE_TRIGGER_ACTION_NOTIFY, 0));
	EXPECT_ARMS(7);
	SET("fired_id", self->exit);
	ASSERT_EQ(0, hold_and_release(&other, HYPTRACE_TRIGGER_ACTION_NOTIFY, 0));
	EXPECT_ARMS(7);
	EXPECT_STREQ(before, read_parameter(PARAMETERS "state", after));
	nl_close(&other);
}

/* What fires while the triggers are armed again is announced before that. */
TEST_F(faults, what_fires_in_a_pause_is_announced)
{
	const struct nlmsghdr *hdr;
	const struct nlattr *fired;
	struct nl listener;

	ASSERT_EQ(0, ENABLE("hyp_exit", STOP));
	ASSERT_EQ(0, nl_open(&listener));
	ASSERT_EQ(0, nl_join(&listener));
	SET("pause_fires_id", self->exit);
	ASSERT_EQ(0, ENABLE("hyp_exit", STOP));
	EXPECT_ARMS(2);
	do {
		hdr = control_next_change(&listener, SOON_MS);
		ASSERT_NE(NULL, hdr);
	} while (nl_cmd(hdr) != HYPTRACE_CMD_TRIGGER_NTF);
	fired = nl_attr(hdr, HYPTRACE_A_REMOTE_FIRED);
	ASSERT_NE(NULL, fired);
	EXPECT_STREQ("hyp_exit", nl_str(nl_nested(fired, HYPTRACE_A_FIRED_EVENT)));
	nl_close(&listener);
}

/* What the first answer says has fired; an empty text: nothing */
static const char *fired_event(const struct nl_answer *remotes)
{
	const struct nlattr *fired = nl_attr(nl_first(remotes), HYPTRACE_A_REMOTE_FIRED);

	return fired ? nl_str(nl_nested(fired, HYPTRACE_A_FIRED_EVENT)) : "";
}

/* Whether the recording has ended, as the next notification of a trigger says; or an errno. */
static int next_ended(struct nl *listener)
{
	const struct nlmsghdr *hdr;

	do {
		hdr = control_next_change(listener, SOON_MS);
	} while (hdr && nl_cmd(hdr) != HYPTRACE_CMD_TRIGGER_NTF);
	return hdr ? *(const uint8_t *)nl_data(nl_attr(hdr, HYPTRACE_A_REMOTE_ENDED)) : -ETIME;
}

/* Listen, and have the event stop the recording, which goes on. */
static void fire_and_go_on(struct __test_metadata *_metadata, struct nl *listener, int id)
{
	ASSERT_EQ(0, nl_open(listener));
	ASSERT_EQ(0, nl_join(listener));
	SET("goes_on", 1);
	SET("fired_id", id);
	EXPECT_EQ(0, next_ended(listener));
}

/* It is announced once, however often the driver looks. */
TEST_F(faults, what_fires_is_announced_once)
{
	struct nl listener;
	unsigned long looks;

	ASSERT_EQ(0, ENABLE("hyp_exit", STOP));
	fire_and_go_on(_metadata, &listener, self->exit);
	looks = get_parameter(PARAMETERS "looks");
	nl_begin(&msg, &self->nl, HYPTRACE_CMD_REMOTE_GET);
	nl_put_str(&msg, HYPTRACE_A_REMOTE_NAME, REMOTE);
	ASSERT_EQ(0, nl_do(&self->nl, &msg, &answer));
	EXPECT_STREQ("hyp_exit", fired_event(&answer));
	/* the new state of the remote, and nothing else */
	ASSERT_NE(NULL, control_next_change(&listener, SOON_MS));
	EXPECT_EQ(NULL, control_next_change(&listener, QUIET_MS));
	EXPECT_LT(looks, get_parameter(PARAMETERS "looks"));
	nl_close(&listener);
}

TEST_F(faults, an_event_that_the_remote_lacks_is_not_announced)
{
	struct nl listener;

	ASSERT_EQ(0, ENABLE("hyp_exit", STOP));
	ASSERT_EQ(0, nl_open(&listener));
	ASSERT_EQ(0, nl_join(&listener));
	SET("fired_id", UNKNOWN_ID);
	EXPECT_EQ(NULL, control_next_change(&listener, QUIET_MS));
	SET("fired_id", self->exit);
	EXPECT_EQ(1, next_ended(&listener));
	nl_close(&listener);
}

/* The writer fires a trigger only if a filter accepts the event. */
TEST_F(faults, only_a_trigger_needs_a_filter)
{
	SET("filter_error_id", self->exit);
	EXPECT_EQ(0, ENABLE("hyp_exit", NONE));
	EXPECT_EQ(-EIO, ENABLE("hyp_exit", STOP));
}

/* The driver looks until the recording has ended, even if another trigger notifies. */
TEST_F(faults, the_end_is_announced_and_ends_the_watch)
{
	const struct nlmsghdr *hdr;
	struct nl listener;
	int looks;

	ASSERT_EQ(0, ENABLE("hyp_exit", NOTIFY));
	ASSERT_EQ(0, ENABLE("hyp_enter", STOP));
	fire_and_go_on(_metadata, &listener, self->enter);
	SET("goes_on", 0);
	EXPECT_EQ(1, next_ended(&listener));
	hdr = control_next_change(&listener, SOON_MS);
	ASSERT_NE(NULL, hdr);
	EXPECT_EQ(HYPTRACE_CMD_REMOTE_NTF, nl_cmd(hdr));
	/* The look that has found the end may not have been counted yet. */
	usleep(QUIET_MS * 1000);
	looks = get_parameter(PARAMETERS "looks");
	usleep(QUIET_MS * 1000);
	EXPECT_EQ(looks, get_parameter(PARAMETERS "looks"));
	/* START arms it again. */
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	SET("fired_id", self->enter);
	EXPECT_EQ(1, next_ended(&listener));
	nl_close(&listener);
}

/* A request to stop ends the recording, too. */
TEST_F(faults, a_stop_before_the_end_is_the_end)
{
	struct nl listener;

	ASSERT_EQ(0, ENABLE("hyp_enter", STOP));
	fire_and_go_on(_metadata, &listener, self->enter);
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, REMOTE));
	EXPECT_EQ(1, next_ended(&listener));
	nl_close(&listener);
}

TEST_HARNESS_MAIN
