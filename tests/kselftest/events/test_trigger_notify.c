// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trigger that notifies: what is recorded and counted, what the driver tells of it, and that it
 * neither touches the recording nor other triggers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "filter.h"
#include "page.h"
#include "remotes.h"

#define SOON_MS		10000
#define QUIET_MS	400	/* longer than the driver needs to notice a trigger */
#define SUBBUFS		8

REMOTE_FIXTURE(notify);

static struct nl_answer answer;
static struct nl_msg msg;

/* Enable selftest with a trigger for one id. */
static int enable(struct nl *nl, const char *remote, uint64_t id, uint32_t action)
{
	const struct filter_term term = FILTER_TERM("id", EQ, id);

	nl_begin(&msg, nl, HYPTRACE_CMD_EVENT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, remote);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, "selftest");
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, 1);
	filter_put(&msg, "one id", &term, 1, NULL);
	nl_put_u32(&msg, HYPTRACE_A_EVENT_TRIGGER, action);
	return nl_do(nl, &msg, &answer);
}

#define READY()									\
	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, SUBBUFS * PAGE,	\
				   HYPTRACE_MODE_OVERWRITE))
#define CONTROL(cmd)	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_##cmd, variant->remote))
#define ENABLE(id, action)							\
	ASSERT_EQ(0, enable(&self->nl, variant->remote, id,			\
			    HYPTRACE_TRIGGER_ACTION_##action))
#define MARK(cpu, id, nr)							\
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, cpu, id, nr))

#define EXPECT_COUNT(cpu, name, number)						\
	do {									\
		struct counts __counts;						\
										\
		ASSERT_EQ(0, control_counts(&self->nl, variant->remote, cpu, &__counts)); \
		EXPECT_EQ(number, __counts.name);				\
	} while (0)

/* No notification, and one without a count */
#define NOTHING		UINT64_MAX
#define WRONG		(UINT64_MAX - 1)

/* Return the count of the next notification of a trigger; NOTHING if none comes in time. */
static uint64_t next(struct nl *listener, int timeout_ms)
{
	const struct nlmsghdr *hdr;

	do {
		hdr = control_next_change(listener, timeout_ms);
	} while (hdr && nl_cmd(hdr) != HYPTRACE_CMD_TRIGGER_NTF);
	if (!hdr)
		return NOTHING;
	if (nl_attr(hdr, HYPTRACE_A_REMOTE_FIRED) || !nl_attr(hdr, HYPTRACE_A_REMOTE_NOTIFIED))
		return WRONG;
	return nl_u64(nl_attr(hdr, HYPTRACE_A_REMOTE_NOTIFIED));
}

/* mark writes numbers from id on: one of them fires, and all are recorded. */
TEST_F(notify, fires_each_time_and_all_is_recorded)
{
	READY();
	ENABLE(7, NOTIFY);
	MARK(0, 0, 10);
	EXPECT_COUNT(0, notified, 1);
	EXPECT_COUNT(0, written, 10);
	EXPECT_COUNT(0, filtered, 0);
	MARK(1, 0, 10);
	MARK(1, 7, 1);
	MARK(1, 8, 5);
	EXPECT_COUNT(0, notified, 1);
	EXPECT_COUNT(1, notified, 2);
	EXPECT_COUNT(1, written, 16);
	/* Without the trigger the filter chooses what is recorded. */
	ENABLE(7, NONE);
	MARK(1, 0, 10);
	EXPECT_COUNT(1, notified, 2);
	EXPECT_COUNT(1, written, 17);
	EXPECT_COUNT(1, filtered, 9);
}

TEST_F(notify, clear_and_resize_keep_the_count_and_unload_ends_it)
{
	READY();
	ENABLE(7, NOTIFY);
	MARK(1, 7, 1);
	ASSERT_EQ(0, control_clear(&self->nl, variant->remote, 1));
	EXPECT_COUNT(1, notified, 1);
	EXPECT_COUNT(1, written, 0);
	ASSERT_EQ(0, control_set_size(&self->nl, variant->remote, 2 * SUBBUFS * PAGE));
	MARK(1, 7, 1);
	EXPECT_COUNT(1, notified, 2);
	CONTROL(STOP);
	CONTROL(START);
	MARK(1, 7, 1);
	EXPECT_COUNT(1, notified, 3);
	CONTROL(UNLOAD);
	EXPECT_COUNT(1, notified, 0);
	CONTROL(START);
	EXPECT_COUNT(1, notified, 0);
	MARK(1, 7, 1);
	EXPECT_COUNT(1, notified, 1);
}

TEST_F(notify, is_notified_with_the_count)
{
	struct nl listener;

	ASSERT_EQ(0, nl_open(&listener));
	ASSERT_EQ(0, nl_join(&listener));
	READY();
	ENABLE(7, NOTIFY);
	MARK(0, 8, 100);
	EXPECT_EQ(NOTHING, next(&listener, QUIET_MS));
	MARK(1, 7, 1);
	EXPECT_EQ(1, next(&listener, SOON_MS));
	MARK(0, 7, 1);
	EXPECT_EQ(2, next(&listener, SOON_MS));
	EXPECT_EQ(NOTHING, next(&listener, QUIET_MS));
	/* What fires right before the stop is not missed. */
	MARK(0, 7, 1);
	CONTROL(STOP);
	EXPECT_EQ(3, next(&listener, SOON_MS));
	/* A trigger that is set while tracing is off is watched from the start on. */
	ENABLE(9, NOTIFY);
	CONTROL(START);
	MARK(0, 9, 1);
	EXPECT_EQ(4, next(&listener, SOON_MS));
	CONTROL(UNLOAD);
	CONTROL(START);
	MARK(0, 9, 1);
	EXPECT_EQ(1, next(&listener, SOON_MS));
	nl_close(&listener);
}

/* It arms nothing: "wait" does not wait for it, and what has stopped stays stopped. */
TEST_F(notify, leaves_other_triggers_alone)
{
	const struct nlmsghdr *hdr;

	READY();
	ENABLE(7, NOTIFY);
	nl_begin(&msg, &self->nl, HYPTRACE_CMD_REMOTE_GET);
	nl_put_str(&msg, HYPTRACE_A_REMOTE_NAME, variant->remote);
	ASSERT_EQ(0, nl_do(&self->nl, &msg, &answer));
	hdr = nl_first(&answer);
	ASSERT_NE(NULL, nl_attr(hdr, HYPTRACE_A_REMOTE_ARMED));
	EXPECT_EQ(0, *(const uint8_t *)nl_data(nl_attr(hdr, HYPTRACE_A_REMOTE_ARMED)));
	ENABLE(7, STOP);
	MARK(0, 7, 1);
	EXPECT_EQ(-ENODATA, control_mark(&self->nl, variant->remote, 0, 7, 1));
	ENABLE(7, NOTIFY);
	EXPECT_EQ(-ENODATA, control_mark(&self->nl, variant->remote, 0, 7, 1));
	EXPECT_COUNT(0, written, 1);
	CONTROL(START);
	MARK(0, 7, 1);
	EXPECT_COUNT(0, notified, 1);
}

TEST_F(notify, bad_requests_are_refused)
{
	READY();
	EXPECT_EQ(-ERANGE, enable(&self->nl, variant->remote, 7,
				  HYPTRACE_TRIGGER_ACTION_FOLLOW + 1));
	nl_begin(&msg, &self->nl, HYPTRACE_CMD_EVENT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, variant->remote);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, "selftest");
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, 1);
	nl_put_u32(&msg, HYPTRACE_A_EVENT_TRIGGER, HYPTRACE_TRIGGER_ACTION_NOTIFY);
	nl_put_u32(&msg, HYPTRACE_A_EVENT_AFTER, 1);
	EXPECT_EQ(-EINVAL, nl_do(&self->nl, &msg, &answer));
	EXPECT_STREQ("only the trigger stop takes a number of sub-buffers", answer.message);
	MARK(0, 7, 1);
	EXPECT_COUNT(0, notified, 0);
}

TEST_HARNESS_MAIN
