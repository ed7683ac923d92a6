// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests to a remote that lacks what they need, or whose callback fails, from the module
 * hyptrace_bad: each is refused with its reason, and changes nothing.
 */
#include <errno.h>
#include <stdlib.h>

#include "kselftest_harness.h"
#include "control.h"
#include "filter.h"
#include "kmsg.h"
#include "page.h"

#define REMOTE		"bad"
#define EVENT		"second"
#define SIZE		(8 * PAGE)

FIXTURE(lacks) {
	struct nl nl;
};

FIXTURE_SETUP(lacks)
{
	ASSERT_EQ(0, nl_open(&self->nl));
}

FIXTURE_TEARDOWN(lacks)
{
	EXPECT_EQ(0, system("rmmod hyptrace_bad"));
	nl_close(&self->nl);
}

static int make(const char *what)
{
	char command[80];

	snprintf(command, sizeof(command), "modprobe hyptrace_bad what=%s", what);
	return system(command);
}

static bool says(const char *text)
{
	return strstr(control_message(), text);
}

static int state(struct nl *nl)
{
	struct info info;

	return control_info(nl, REMOTE, &info) ?: (int)info.state;
}

TEST_F(lacks, a_ring_that_is_too_large)
{
	char message[128];
	struct info info;

	ASSERT_EQ(0, make("max_pages"));
	EXPECT_EQ(-E2BIG, control_load(&self->nl, REMOTE, 8 * PAGE, HYPTRACE_MODE_OVERWRITE));
	snprintf(message, sizeof(message), "%ld bytes exceed the largest ring, %ld bytes", 8 * PAGE,
		 7 * PAGE);
	EXPECT_TRUE(says(message)) TH_LOG("%s", control_message());
	EXPECT_EQ(HYPTRACE_STATE_UNLOADED, state(&self->nl));
	ASSERT_EQ(0, control_load(&self->nl, REMOTE, 7 * PAGE, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, control_info(&self->nl, REMOTE, &info));
	EXPECT_EQ(8, info.nr_subbufs);
}

TEST_F(lacks, a_mode)
{
	ASSERT_EQ(0, make("only_overwrites"));
	EXPECT_EQ(-EOPNOTSUPP, control_load(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_DISCARD));
	EXPECT_TRUE(says("remote \"bad\" can only overwrite the oldest events"));
	EXPECT_EQ(0, control_load(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_OVERWRITE));
}

TEST_F(lacks, a_rate)
{
	ASSERT_EQ(0, make("other"));
	EXPECT_EQ(-EOPNOTSUPP, control_set_rate(&self->nl, REMOTE, 5));
	EXPECT_TRUE(says("remote \"bad\" has no rate"));
}

TEST_F(lacks, a_rate_that_is_accepted)
{
	ASSERT_EQ(0, make("rate_error"));
	EXPECT_EQ(-EIO, control_set_rate(&self->nl, REMOTE, 5));
	EXPECT_TRUE(says("the remote refused the rate (error 5)"));
}

TEST_F(lacks, selftest_events)
{
	ASSERT_EQ(0, make("other"));
	ASSERT_EQ(0, control_load(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	EXPECT_EQ(-EOPNOTSUPP, control_mark(&self->nl, REMOTE, 0, 0, 1));
	EXPECT_TRUE(says("remote \"bad\" cannot write selftest events"));
}

TEST_F(lacks, another_size_of_rings)
{
	ASSERT_EQ(0, make("resize"));
	ASSERT_EQ(0, control_load(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_OVERWRITE));
	EXPECT_EQ(-EOPNOTSUPP, control_set_size(&self->nl, REMOTE, 2 * SIZE));
	EXPECT_TRUE(says("the remote cannot resize loaded rings: unload them first"));
	EXPECT_EQ(0, control_set_size(&self->nl, REMOTE, SIZE));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_UNLOAD, REMOTE));
	EXPECT_EQ(0, control_set_size(&self->nl, REMOTE, 2 * SIZE));
}

TEST_F(lacks, an_event)
{
	ASSERT_EQ(0, make("missing"));
	EXPECT_EQ(-EOPNOTSUPP, control_enable(&self->nl, REMOTE, EVENT, true));
	EXPECT_TRUE(says("\"second\" is not in this kernel")) TH_LOG("%s", control_message());
	EXPECT_EQ(0, control_enable(&self->nl, REMOTE, "first", true));
	EXPECT_FALSE(control_is_enabled(&self->nl, REMOTE, EVENT));
}

static bool has_flag(struct nl *nl, const char *event, uint16_t flag)
{
	return control_event_attr(nl, REMOTE, event, flag);
}

TEST_F(lacks, some_of_an_event)
{
	ASSERT_EQ(0, make("incomplete"));
	EXPECT_TRUE(has_flag(&self->nl, EVENT, HYPTRACE_A_EVENT_INCOMPLETE));
	EXPECT_FALSE(has_flag(&self->nl, "first", HYPTRACE_A_EVENT_INCOMPLETE));
	EXPECT_FALSE(has_flag(&self->nl, EVENT, HYPTRACE_A_EVENT_MISSING));
	EXPECT_EQ(0, control_enable(&self->nl, REMOTE, EVENT, true));
	ASSERT_EQ(0, system("rmmod hyptrace_bad"));
	ASSERT_EQ(0, make("missing"));
	EXPECT_TRUE(has_flag(&self->nl, EVENT, HYPTRACE_A_EVENT_MISSING));
	EXPECT_FALSE(has_flag(&self->nl, "first", HYPTRACE_A_EVENT_MISSING));
	EXPECT_FALSE(has_flag(&self->nl, EVENT, HYPTRACE_A_EVENT_INCOMPLETE));
}

TEST_F(lacks, a_field_that_is_a_number)
{
	const struct filter_term number = FILTER_TERM("other", EQ, 5);
	const struct filter_term text = FILTER_TERM("text", EQ, 5);

	ASSERT_EQ(0, make("other"));
	EXPECT_EQ(-EINVAL, filter_enable(&self->nl, REMOTE, EVENT, "text==5", &text, 1));
	EXPECT_FALSE(control_is_enabled(&self->nl, REMOTE, EVENT));
	EXPECT_EQ(0, filter_enable(&self->nl, REMOTE, EVENT, "other==5", &number, 1));
}

TEST_F(lacks, a_start)
{
	ASSERT_EQ(0, make("enable_error"));
	EXPECT_EQ(-EIO, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	EXPECT_TRUE(says("the remote failed to start (error 5)"));
	EXPECT_EQ(HYPTRACE_STATE_UNLOADED, state(&self->nl));
	ASSERT_EQ(0, control_load(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_OVERWRITE));
	EXPECT_EQ(-EIO, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	EXPECT_EQ(HYPTRACE_STATE_LOADED, state(&self->nl));
}

TEST_F(lacks, a_clear)
{
	ASSERT_EQ(0, make("clear_error"));
	ASSERT_EQ(0, control_load(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_OVERWRITE));
	EXPECT_EQ(-EIO, control_clear(&self->nl, REMOTE, CPU_ALL));
	EXPECT_TRUE(says("the remote failed to clear the ring of CPU 1 (error 5)"));
	EXPECT_EQ(0, control_clear(&self->nl, REMOTE, 0));
}

/* The pages are lost. */
TEST_F(lacks, a_release_of_its_rings)
{
	int kmsg = log_open();

	ASSERT_EQ(0, make("unload_error"));
	ASSERT_EQ(0, control_load(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_OVERWRITE));
	EXPECT_EQ(-EIO, control(&self->nl, HYPTRACE_CMD_UNLOAD, REMOTE));
	EXPECT_TRUE(says("the remote kept its rings: it cannot be loaded again (error 5)"));
	EXPECT_TRUE(log_gets(kmsg, "remote \"bad\" kept its rings"));
	EXPECT_EQ(HYPTRACE_STATE_UNLOADED, state(&self->nl));
	EXPECT_EQ(-EIO, control_load(&self->nl, REMOTE, SIZE, HYPTRACE_MODE_OVERWRITE));
	close(kmsg);
}

TEST_HARNESS_MAIN
