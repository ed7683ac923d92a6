// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters of events: what the writer records and counts, how long a filter lasts, and who is
 * notified. test_filter_refused.c tests the requests that the kernel refuses.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>

#include "kselftest_harness.h"
#include "cpus.h"
#include "events.h"
#include "filter.h"
#include "page.h"
#include "remotes.h"

#define BATCHES		100
#define BATCH_EVENTS	1000
/* Each batch begins with an id that is a multiple of this. */
#define BATCH_STEP	1024

REMOTE_FIXTURE(filter);

#define READY()		ASSERT_EQ(0, control_ready(&self->nl, variant->remote, 64 << 10, \
						   HYPTRACE_MODE_DISCARD))
#define CONTROL(cmd)	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_##cmd, variant->remote))
#define ENABLE_ID(id)	ASSERT_EQ(0, filter_enable_id(&self->nl, variant->remote, id))
#define ENABLE()	ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "selftest", true))
#define TEXT()		filter_text(&self->nl, variant->remote, "selftest")

/* Return how many of the events with the ids @first to @first + @nr - 1 are recorded, or -1. */
static int recorded(struct nl *nl, const char *remote, int cpu, uint64_t first, uint32_t nr)
{
	struct counts before, after;

	if (control_counts(nl, remote, cpu, &before) ||
	    control_mark(nl, remote, cpu, first, nr) ||
	    control_counts(nl, remote, cpu, &after) ||
	    after.written - before.written + after.filtered - before.filtered != nr)
		return -1;
	return after.written - before.written;
}

#define RECORDED(cpu, first, nr)	recorded(&self->nl, variant->remote, cpu, first, nr)

/* Expect that only this id is recorded, on both CPUs. */
#define EXPECT_ONLY(id)						\
	do {							\
		EXPECT_EQ(1, RECORDED(0, id, 1));		\
		EXPECT_EQ(0, RECORDED(0, (id) + 1, 5));		\
		EXPECT_EQ(1, RECORDED(1, (id) - 5, 10));	\
	} while (0)

#define EXPECT_ALL()						\
	do {							\
		EXPECT_EQ(5, RECORDED(0, 1, 5));		\
		EXPECT_EQ(5, RECORDED(1, 1, 5));		\
	} while (0)

/* 100,000 events per CPU. The filter accepts the first one of each batch. */
TEST_F(filter, one_in_a_thousand)
{
	static const struct filter_term first_of_batch = {
		"id", HYPTRACE_FILTER_OP_AND, BATCH_STEP - 1, FILTER_REJECT, FILTER_ACCEPT,
	};
	const char *const name = "selftest";
	static struct event events[2 * BATCHES];
	struct event_type type;
	struct counts counts;
	unsigned int cpu, i;

	ASSERT_EQ(0, event_types(&self->nl, variant->remote, &name, &type, 1));
	READY();
	ASSERT_EQ(0, filter_enable(&self->nl, variant->remote, name, "the first of a batch",
				   &first_of_batch, 1));
	for (cpu = 0; cpu < 2; cpu++) {
		for (i = 0; i < BATCHES; i++)
			ASSERT_EQ(0, control_mark(&self->nl, variant->remote, cpu,
						  i * BATCH_STEP, BATCH_EVENTS));
		ASSERT_EQ(0, control_counts(&self->nl, variant->remote, cpu, &counts));
		EXPECT_EQ(BATCHES, counts.written);
		EXPECT_EQ(BATCHES * (BATCH_EVENTS - 1), counts.filtered);
		EXPECT_EQ(BATCHES, counts.unread);
		EXPECT_EQ(0, counts.overrun + counts.dropped);
		ASSERT_EQ(BATCHES, events_read(variant->remote, cpu, &type, 1, events,
					       ARRAY_SIZE(events)));
		for (i = 0; i < BATCHES; i++)
			EXPECT_EQ(i * BATCH_STEP, event_field(&events[i], "id"));
	}
}

TEST_F(filter, clear_sets_the_counter_to_0)
{
	struct counts counts;

	READY();
	ENABLE_ID(7);
	EXPECT_EQ(1, RECORDED(0, 0, 10));
	EXPECT_EQ(1, RECORDED(1, 0, 10));
	ASSERT_EQ(0, control_clear(&self->nl, variant->remote, 0));
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 0, &counts));
	EXPECT_EQ(0, counts.filtered);
	ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 1, &counts));
	EXPECT_EQ(9, counts.filtered);
}

TEST_F(filter, can_change_while_tracing)
{
	static const struct filter_term range[] = {
		{ "id", HYPTRACE_FILTER_OP_GE, 10, 1, FILTER_REJECT },
		{ "id", HYPTRACE_FILTER_OP_LT, 20, FILTER_ACCEPT, 2 },
		FILTER_TERM("id", EQ, 30),
	};

	READY();
	EXPECT_ALL();
	ENABLE_ID(100);
	EXPECT_ONLY(100);
	ENABLE_ID(200);
	EXPECT_ONLY(200);
	ASSERT_EQ(0, filter_enable(&self->nl, variant->remote, "selftest", "10 to 19, 30", range,
				   ARRAY_SIZE(range)));
	EXPECT_EQ(11, RECORDED(0, 0, 100));
	EXPECT_EQ(11, RECORDED(1, 0, 100));
	ENABLE();
	EXPECT_ALL();
}

TEST_F(filter, lasts_until_the_event_is_enabled_without_it_or_disabled)
{
	READY();
	EXPECT_STREQ("", TEXT());
	ENABLE_ID(100);
	EXPECT_STREQ("id == 100", TEXT());
	ENABLE();
	EXPECT_STREQ("", TEXT());

	ENABLE_ID(200);
	ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "hyp_enter", true));
	ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "hyp_enter", false));
	EXPECT_STREQ("id == 200", TEXT());
	ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "selftest", false));
	EXPECT_STREQ("", TEXT());
	ENABLE();
	EXPECT_ALL();

	ENABLE_ID(300);
	CONTROL(RESET);
	EXPECT_STREQ("", TEXT());
	ENABLE();
	CONTROL(START);
	EXPECT_ALL();
}

/* A ring loses its filters when it is unloaded: the driver must send them again. */
TEST_F(filter, survives_stop_unload_and_resize)
{
	ENABLE_ID(100);
	CONTROL(START);
	EXPECT_ONLY(100);
	CONTROL(STOP);
	CONTROL(START);
	EXPECT_ONLY(100);
	CONTROL(UNLOAD);
	CONTROL(START);
	EXPECT_ONLY(100);
	ASSERT_EQ(0, control_set_size(&self->nl, variant->remote, 256 << 10));
	EXPECT_ONLY(100);
	EXPECT_STREQ("id == 100", TEXT());

	/* A filter that changes while tracing is off: the loaded rings have the old one. */
	CONTROL(STOP);
	ENABLE_ID(200);
	CONTROL(START);
	EXPECT_ONLY(200);
	CONTROL(STOP);
	ENABLE();
	CONTROL(START);
	EXPECT_ALL();
}

TEST_F(filter, reaches_a_cpu_that_was_offline)
{
	if (!has_hotplug())
		SKIP(return, "no CPU can go offline");
	READY();
	ENABLE_ID(100);
	ASSERT_EQ(0, cpu_set_online(1, false));
	ASSERT_EQ(0, cpu_set_online(1, true));
	EXPECT_ONLY(100);

	ASSERT_EQ(0, cpu_set_online(1, false));
	ENABLE_ID(200);
	ASSERT_EQ(0, cpu_set_online(1, true));
	EXPECT_ONLY(200);

	ASSERT_EQ(0, cpu_set_online(1, false));
	ENABLE();
	ASSERT_EQ(0, cpu_set_online(1, true));
	EXPECT_ALL();

	ASSERT_EQ(0, cpu_set_online(1, false));
	CONTROL(UNLOAD);
	ENABLE_ID(300);
	CONTROL(START);
	ASSERT_EQ(0, cpu_set_online(1, true));
	EXPECT_ONLY(300);
}

TEST_F(filter, is_not_changed_by_a_hold)
{
	uint16_t id = control_event_id(&self->nl, variant->remote, "selftest");
	const struct hyptrace_hold hold = {
		.size = sizeof(hold), .nr_events = 1, .events = (uintptr_t)&id,
	};
	int fd;

	READY();
	ENABLE_ID(100);
	fd = open_attached(variant->remote, 0, O_NONBLOCK);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, HYPTRACE_IOC_HOLD, &hold));
	EXPECT_ONLY(100);
	EXPECT_STREQ("id == 100", TEXT());
	close(fd);
	EXPECT_ONLY(100);
	EXPECT_STREQ("id == 100", TEXT());
}

/* One request for two events that have the field at different offsets */
TEST_F(filter, of_several_events)
{
	static const struct filter_term term = FILTER_TERM("ret", LT, 0);
	static struct nl_answer answer;
	static struct nl_msg msg;

	nl_begin(&msg, &self->nl, HYPTRACE_CMD_EVENT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, variant->remote);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, "host_hcall");
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, "mem_transition");
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, 1);
	filter_put(&msg, "ret < 0", &term, 1, NULL);
	ASSERT_EQ(0, nl_do(&self->nl, &msg, &answer)) TH_LOG("%s", answer.message);
	EXPECT_STREQ("ret < 0", filter_text(&self->nl, variant->remote, "host_hcall"));
	EXPECT_STREQ("ret < 0", filter_text(&self->nl, variant->remote, "mem_transition"));
	EXPECT_STREQ("", TEXT());
	ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "host_hcall", false));
	EXPECT_STREQ("", filter_text(&self->nl, variant->remote, "host_hcall"));
	EXPECT_STREQ("ret < 0", filter_text(&self->nl, variant->remote, "mem_transition"));
}

static const char *next_filter(struct nl *listener, uint8_t *enabled)
{
	const struct nlmsghdr *hdr = control_next_change(listener, 10000);
	const struct nlattr *attr;

	if (!hdr || nl_cmd(hdr) != HYPTRACE_CMD_EVENT_NTF)
		return "(no notification of an event)";
	attr = nl_attr(hdr, HYPTRACE_A_EVENT_ENABLED);
	*enabled = attr ? *(const uint8_t *)nl_data(attr) : 255;
	attr = nl_attr(hdr, HYPTRACE_A_EVENT_FILTER);
	return attr ? nl_str(nl_nested(attr, HYPTRACE_A_FILTER_TEXT)) : "(none)";
}

#define EXPECT_NEXT(text, is_enabled)						\
	do {									\
		uint8_t __enabled = 255;					\
										\
		EXPECT_STREQ(text, next_filter(&listener, &__enabled));		\
		EXPECT_EQ(is_enabled, __enabled);				\
	} while (0)

TEST_F(filter, changes_are_notified)
{
	struct nl listener;

	ASSERT_EQ(0, nl_open(&listener));
	ASSERT_EQ(0, nl_join(&listener));
	ENABLE_ID(1);
	EXPECT_NEXT("id == 1", 1);
	ENABLE_ID(2);
	EXPECT_NEXT("id == 2", 1);
	ENABLE();
	EXPECT_NEXT("(none)", 1);
	/* nothing changes */
	ENABLE();
	ENABLE_ID(3);
	EXPECT_NEXT("id == 3", 1);
	ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "selftest", false));
	EXPECT_NEXT("(none)", 0);
	EXPECT_EQ(NULL, control_next_change(&listener, 300));
	nl_close(&listener);
}

TEST_HARNESS_MAIN
