// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triggers: what the writer records until an event starts or stops the recording, what the driver
 * tells of it, when triggers are armed, and which requests are refused.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kselftest_harness.h"
#include "events.h"
#include "filter.h"
#include "page.h"
#include "remotes.h"

#define SOON_MS		10000
#define QUIET_MS	400	/* longer than the driver needs to notice a trigger */
#define SUBBUFS		8
#define NONE		(-1ULL)	/* no filter */

REMOTE_FIXTURE(trigger);

static struct nl_answer answer;
static struct nl_msg msg;

/* The request that enables selftest with a trigger, for one id or for all */
static void begin(const struct nl *nl, const char *remote, uint64_t id, uint32_t action)
{
	const struct filter_term term = FILTER_TERM("id", EQ, id);

	nl_begin(&msg, nl, HYPTRACE_CMD_EVENT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, remote);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, "selftest");
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, 1);
	if (id != NONE)
		filter_put(&msg, "one id", &term, 1, NULL);
	nl_put_u32(&msg, HYPTRACE_A_EVENT_TRIGGER, action);
}

static int enable(struct nl *nl, const char *remote, uint64_t id, uint32_t action, uint32_t after)
{
	begin(nl, remote, id, action);
	if (after)
		nl_put_u32(&msg, HYPTRACE_A_EVENT_AFTER, after);
	return nl_do(nl, &msg, &answer);
}

/* What remote-get tells: whether a trigger is armed, and what has fired */
struct fired {
	bool		armed;
	unsigned int	nr;
	uint32_t	action;		/* the last one */
	uint32_t	cpu;
	uint64_t	time;
	char		event[64];
	bool		ended;		/* the recording */
};

static void read_fired(const struct nlattr *nest, struct fired *fired)
{
	fired->nr++;
	fired->action = nl_u32(nl_nested(nest, HYPTRACE_A_FIRED_ACTION));
	fired->cpu = nl_u32(nl_nested(nest, HYPTRACE_A_FIRED_CPU));
	fired->time = nl_u64(nl_nested(nest, HYPTRACE_A_FIRED_TIME));
	snprintf(fired->event, sizeof(fired->event), "%s",
		 nl_str(nl_nested(nest, HYPTRACE_A_FIRED_EVENT)));
}

static int get_fired(struct nl *nl, const char *remote, struct fired *fired)
{
	const struct nlattr *attr;
	const struct nlmsghdr *hdr;
	int err;

	memset(fired, 0, sizeof(*fired));
	nl_begin(&msg, nl, HYPTRACE_CMD_REMOTE_GET);
	nl_put_str(&msg, HYPTRACE_A_REMOTE_NAME, remote);
	err = nl_do(nl, &msg, &answer);
	if (err)
		return err;
	hdr = nl_first(&answer);
	attr = nl_attr(hdr, HYPTRACE_A_REMOTE_ARMED);
	fired->armed = attr && *(const uint8_t *)nl_data(attr);
	attr = nl_attr(hdr, HYPTRACE_A_REMOTE_ENDED);
	fired->ended = attr && *(const uint8_t *)nl_data(attr);
	for (attr = nl_attr(hdr, HYPTRACE_A_REMOTE_FIRED); attr;
	     attr = nl_attr_next(hdr, attr, HYPTRACE_A_REMOTE_FIRED))
		read_fired(attr, fired);
	return 0;
}

/* Wait until so many triggers have fired. */
static int wait_fired(struct nl *nl, const char *remote, unsigned int nr, struct fired *fired)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	unsigned int i;
	int err;

	for (i = 0; i < SOON_MS / 10; i++) {
		err = get_fired(nl, remote, fired);
		if (err || fired->nr >= nr)
			return err;
		nanosleep(&pause, NULL);
	}
	return -ETIME;
}

#define READY()		ASSERT_EQ(0, control_ready(&self->nl, variant->remote, SUBBUFS * PAGE, \
						   HYPTRACE_MODE_OVERWRITE))
#define CONTROL(cmd)	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_##cmd, variant->remote))
#define ENABLE(id, action, after)					\
	ASSERT_EQ(0, enable(&self->nl, variant->remote, id,		\
			    HYPTRACE_TRIGGER_ACTION_##action, after))
#define MARK(cpu, id, nr) \
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, cpu, id, nr))
/* A trigger keeps the recording off, or stops it before all are written: the request says so. */
#define MARK_REFUSED(cpu, id, nr) \
	ASSERT_EQ(-ENODATA, control_mark(&self->nl, variant->remote, cpu, id, nr))

#define WRITTEN(cpu)								\
	({									\
		struct counts __counts;						\
										\
		ASSERT_EQ(0, control_counts(&self->nl, variant->remote, cpu, &__counts)); \
		__counts.written;						\
	})

#define EXPECT_ARMED(is_armed, nr_fired)					\
	do {									\
		struct fired __fired;						\
										\
		ASSERT_EQ(0, get_fired(&self->nl, variant->remote, &__fired));	\
		EXPECT_EQ(is_armed, __fired.armed);				\
		EXPECT_EQ(nr_fired, __fired.nr);				\
	} while (0)

/* Expect that @nr triggers fire, and that the last one is of that action, on that CPU. */
#define EXPECT_FIRED(number, does, on_cpu)					\
	({									\
		struct fired __fired;						\
										\
		ASSERT_EQ(0, wait_fired(&self->nl, variant->remote, number, &__fired)); \
		EXPECT_EQ(number, __fired.nr);					\
		EXPECT_EQ(HYPTRACE_TRIGGER_ACTION_##does, __fired.action);	\
		EXPECT_EQ(on_cpu, __fired.cpu);					\
		EXPECT_STREQ("selftest", __fired.event);			\
		__fired.time;							\
	})

/* Expect that a CPU has recorded an event with this id at this time. */
#define EXPECT_IN_RING(on_cpu, id, at)						\
	do {									\
		const char *const __name = "selftest";				\
		static struct event __events[SUBBUFS * PAGE_MAX / RECORD_MIN];	\
		struct event_type __type;					\
		ssize_t __nr, __i;						\
										\
		ASSERT_EQ(0, event_types(&self->nl, variant->remote, &__name, &__type, 1)); \
		__nr = events_read(variant->remote, on_cpu, &__type, 1, __events, \
				   ARRAY_SIZE(__events));			\
		ASSERT_LT(0, __nr);						\
		for (__i = 0; __i < __nr; __i++)				\
			if (event_field(&__events[__i], "id") == (id))		\
				break;						\
		ASSERT_GT(__nr, __i);						\
		EXPECT_EQ(at, __events[__i].time);				\
	} while (0)

TEST_F(trigger, stops_at_once_on_all_cpus)
{
	uint64_t time;

	READY();
	ENABLE(7, STOP, 0);
	EXPECT_ARMED(true, 0);
	MARK(0, 8, 10);
	EXPECT_ARMED(true, 0);
	MARK(1, 7, 1);
	MARK_REFUSED(1, 7, 1);
	MARK_REFUSED(0, 7, 1);
	EXPECT_EQ(1, WRITTEN(1));
	EXPECT_EQ(0, WRITTEN(0));
	time = EXPECT_FIRED(1, STOP, 1);
	EXPECT_ARMED(false, 1);
	EXPECT_IN_RING(1, 7, time);
}

/* After N sub-buffers: not a record more than fits there, and the event is still in the ring. */
TEST_F(trigger, stops_within_its_bound)
{
	static const uint32_t afters[] = { 1, 3, SUBBUFS - 1, 1000 };
	unsigned int i, due;
	uint64_t time;

	for (i = 0; i < ARRAY_SIZE(afters); i++) {
		/* The last one would overwrite the event, if there was no bound for it. */
		due = afters[i] < SUBBUFS - 1 ? afters[i] : SUBBUFS - 1;
		READY();
		/* sub-buffers before the event */
		MARK(0, 1000000, 2 * SUBBUFS * PER_SUBBUF);
		ENABLE(NONE, STOP, afters[i]);
		MARK(1, 0, 1);
		time = EXPECT_FIRED(1, STOP, 1);
		MARK_REFUSED(1, 1, 2 * SUBBUFS * PER_SUBBUF);
		/* A time stamp takes the room of an event at most. */
		EXPECT_GE(due * PER_SUBBUF + 1, WRITTEN(1));
		EXPECT_LE(due * PER_SUBBUF - due, WRITTEN(1));
		EXPECT_EQ(2 * SUBBUFS * PER_SUBBUF, WRITTEN(0));
		MARK_REFUSED(0, 0, 1);
		EXPECT_EQ(2 * SUBBUFS * PER_SUBBUF, WRITTEN(0));
		EXPECT_IN_RING(1, 0, time);
	}
}

#define EXPECT_ENDED(expected)							\
	do {									\
		struct fired __fired;						\
										\
		ASSERT_EQ(0, get_fired(&self->nl, variant->remote, &__fired));	\
		EXPECT_EQ(expected, __fired.ended);				\
	} while (0)

/* Another CPU than that of the event moves on. */
TEST_F(trigger, stops_when_the_first_cpu_has_moved_on)
{
	READY();
	ENABLE(NONE, STOP, 2);
	MARK(1, 0, 1);
	EXPECT_FIRED(1, STOP, 1);
	EXPECT_ENDED(false);
	MARK_REFUSED(0, 0, 10 * PER_SUBBUF);
	EXPECT_GE(3 * PER_SUBBUF + 1, WRITTEN(0));
	EXPECT_LE(2 * PER_SUBBUF - 2, WRITTEN(0));
	MARK_REFUSED(1, 0, 1);
	EXPECT_EQ(1, WRITTEN(1));
	EXPECT_FIRED(1, STOP, 1);
	EXPECT_ENDED(true);
	CONTROL(START);
	EXPECT_ENDED(false);
}

TEST_F(trigger, start_arms_it_again)
{
	uint64_t first, second;

	ENABLE(7, STOP, 0);
	EXPECT_ARMED(false, 0);
	CONTROL(START);
	EXPECT_ARMED(true, 0);
	MARK(0, 7, 1);
	first = EXPECT_FIRED(1, STOP, 0);
	CONTROL(START);
	EXPECT_ARMED(true, 0);
	MARK(1, 7, 1);
	EXPECT_EQ(1, WRITTEN(1));
	second = EXPECT_FIRED(1, STOP, 1);
	EXPECT_LT(first, second);
	/* What has fired can still be seen after a stop. */
	CONTROL(STOP);
	EXPECT_ARMED(false, 1);
	CONTROL(START);
	EXPECT_ARMED(true, 0);
	MARK(1, 7, 1);
	EXPECT_FIRED(1, STOP, 1);
	CONTROL(UNLOAD);
	EXPECT_ARMED(false, 0);
}

/* Without another request, nothing is armed again. Only start and a trigger that is set do that. */
TEST_F(trigger, stays_stopped)
{
	READY();
	ENABLE(7, STOP, 0);
	MARK(0, 7, 1);
	ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "hyp_exit", true));
	ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "selftest", true));
	MARK_REFUSED(0, 7, 1);
	EXPECT_EQ(1, WRITTEN(0));
	EXPECT_FIRED(1, STOP, 0);
	ENABLE(9, STOP, 0);
	EXPECT_ARMED(true, 0);
	MARK(1, 9, 1);
	EXPECT_EQ(1, WRITTEN(1));
	EXPECT_FIRED(1, STOP, 1);
}

TEST_F(trigger, is_gone_with_a_request_without_it)
{
	READY();
	ENABLE(7, STOP, 0);
	ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "selftest", true));
	EXPECT_ARMED(false, 0);
	MARK(0, 7, 2);
	EXPECT_EQ(2, WRITTEN(0));
	/* The recording that waited for a start begins. */
	ENABLE(7, START, 0);
	MARK(0, 8, 1);
	EXPECT_EQ(2, WRITTEN(0));
	ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "selftest", false));
	ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "selftest", true));
	MARK(0, 8, 1);
	EXPECT_EQ(3, WRITTEN(0));
	ENABLE(7, STOP, 0);
	CONTROL(RESET);
	READY();
	MARK(0, 7, 2);
	EXPECT_EQ(2, WRITTEN(0));
	EXPECT_ARMED(false, 0);
}

TEST_F(trigger, survives_unload_and_resize)
{
	uint64_t time;

	ENABLE(7, STOP, 0);
	CONTROL(START);
	CONTROL(UNLOAD);
	CONTROL(START);
	ASSERT_EQ(0, control_set_size(&self->nl, variant->remote, 2 * SUBBUFS * PAGE));
	MARK(1, 7, 1);
	/* The driver must find it in the new memory. */
	ASSERT_EQ(0, control_set_size(&self->nl, variant->remote, SUBBUFS * PAGE));
	time = EXPECT_FIRED(1, STOP, 1);
	MARK_REFUSED(0, 7, 1);
	EXPECT_EQ(0, WRITTEN(0));
	EXPECT_IN_RING(1, 7, time);
}

/* Return the next notification of the kind, or NULL. */
static const struct nlmsghdr *next(struct nl *listener, uint8_t cmd, int timeout_ms)
{
	const struct nlmsghdr *hdr;

	do {
		hdr = control_next_change(listener, timeout_ms);
	} while (hdr && nl_cmd(hdr) != cmd);
	return hdr;
}

TEST_F(trigger, is_notified)
{
	const struct nlmsghdr *hdr;
	struct fired fired = { };
	struct nl listener;
	uint64_t time;

	ASSERT_EQ(0, nl_open(&listener));
	ASSERT_EQ(0, nl_join(&listener));
	READY();
	ENABLE(7, STOP, 5);
	hdr = next(&listener, HYPTRACE_CMD_EVENT_NTF, SOON_MS);
	ASSERT_NE(NULL, hdr);
	hdr = next(&listener, HYPTRACE_CMD_EVENT_NTF, SOON_MS);
	ASSERT_NE(NULL, hdr);
	EXPECT_EQ(HYPTRACE_TRIGGER_ACTION_STOP, nl_u32(nl_attr(hdr, HYPTRACE_A_EVENT_TRIGGER)));
	EXPECT_EQ(5, nl_u32(nl_attr(hdr, HYPTRACE_A_EVENT_AFTER)));
	MARK(1, 7, 1);
	hdr = next(&listener, HYPTRACE_CMD_TRIGGER_NTF, SOON_MS);
	ASSERT_NE(NULL, hdr);
	EXPECT_STREQ(variant->remote, nl_str(nl_attr(hdr, HYPTRACE_A_REMOTE_NAME)));
	ASSERT_NE(NULL, nl_attr(hdr, HYPTRACE_A_REMOTE_FIRED));
	read_fired(nl_attr(hdr, HYPTRACE_A_REMOTE_FIRED), &fired);
	time = EXPECT_FIRED(1, STOP, 1);
	EXPECT_EQ(time, fired.time);
	EXPECT_EQ(HYPTRACE_TRIGGER_ACTION_STOP, fired.action);
	EXPECT_EQ(1, fired.cpu);
	EXPECT_STREQ("selftest", fired.event);
	hdr = next(&listener, HYPTRACE_CMD_REMOTE_NTF, SOON_MS);
	ASSERT_NE(NULL, hdr);
	EXPECT_NE(NULL, nl_attr(hdr, HYPTRACE_A_REMOTE_FIRED));
	/* It fires once. */
	MARK(0, 7, 1);
	EXPECT_EQ(NULL, next(&listener, HYPTRACE_CMD_TRIGGER_NTF, QUIET_MS));
	nl_close(&listener);
}

/* A trigger that fires right before the stop is not missed. */
TEST_F(trigger, is_noticed_at_the_stop)
{
	READY();
	ENABLE(7, STOP, 0);
	MARK(1, 7, 1);
	CONTROL(STOP);
	EXPECT_ARMED(false, 1);
}

/* Expect that the request in msg is refused at its attribute of that type. */
#define EXPECT_REFUSED(err, type)						\
	do {									\
		uint32_t __at = attr_offset(type);				\
										\
		EXPECT_EQ(err, nl_do(&self->nl, &msg, &answer));		\
		EXPECT_NE('\0', answer.message[0]);				\
		EXPECT_EQ(__at, answer.offset);					\
	} while (0)

static uint32_t attr_offset(uint16_t type)
{
	return (const char *)nl_attr(&msg.hdr, type) - msg.bytes;
}

TEST_F(trigger, bad_requests_are_refused)
{
	const struct fired none = { };
	struct fired fired;

	READY();
	begin(&self->nl, variant->remote, 7, HYPTRACE_TRIGGER_ACTION_FOLLOW + 1);
	EXPECT_REFUSED(-ERANGE, HYPTRACE_A_EVENT_TRIGGER);
	begin(&self->nl, variant->remote, 7, HYPTRACE_TRIGGER_ACTION_START);
	nl_put_u32(&msg, HYPTRACE_A_EVENT_AFTER, 1);
	EXPECT_REFUSED(-EINVAL, HYPTRACE_A_EVENT_AFTER);
	begin(&self->nl, variant->remote, 7, HYPTRACE_TRIGGER_ACTION_NONE);
	nl_put_u32(&msg, HYPTRACE_A_EVENT_AFTER, 1);
	EXPECT_REFUSED(-EINVAL, HYPTRACE_A_EVENT_AFTER);
	nl_begin(&msg, &self->nl, HYPTRACE_CMD_EVENT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, variant->remote);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, "selftest");
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, 0);
	nl_put_u32(&msg, HYPTRACE_A_EVENT_TRIGGER, HYPTRACE_TRIGGER_ACTION_STOP);
	EXPECT_REFUSED(-EINVAL, HYPTRACE_A_EVENT_TRIGGER);
	ASSERT_EQ(0, get_fired(&self->nl, variant->remote, &fired));
	EXPECT_EQ(0, memcmp(&none, &fired, sizeof(none)));
	MARK(0, 7, 2);
	EXPECT_EQ(2, WRITTEN(0));
}

/* The remote "hypervisor" also records the run of a guest on CPU 1. */
#define RUN_GUEST() \
	ASSERT_EQ(0, system("workload --cpu 1 --mmio 10 --psci 10 >/dev/null"))

TRACED_FIXTURE(traced, SUBBUFS * PAGE);

TEST_F(traced, nothing_is_recorded_before_the_start_and_after_the_stop)
{
	uint64_t before[2], start, stop;

	ENABLE(7, START, 0);
	before[0] = WRITTEN(0);
	before[1] = WRITTEN(1);
	RUN_GUEST();
	EXPECT_EQ(before[0], WRITTEN(0));
	EXPECT_EQ(before[1], WRITTEN(1));
	EXPECT_ARMED(true, 0);

	MARK(1, 7, 1);
	start = EXPECT_FIRED(1, START, 1);
	EXPECT_ARMED(false, 1);
	RUN_GUEST();
	EXPECT_LT(before[1] + 1, WRITTEN(1));

	ENABLE(8, STOP, 0);
	MARK(0, 8, 1);
	stop = EXPECT_FIRED(1, STOP, 0);
	EXPECT_LT(start, stop);
	before[0] = WRITTEN(0);
	before[1] = WRITTEN(1);
	RUN_GUEST();
	MARK_REFUSED(0, 8, 1);
	MARK_REFUSED(1, 8, 1);
	EXPECT_EQ(before[0], WRITTEN(0));
	EXPECT_EQ(before[1], WRITTEN(1));
}

/* Two events: one starts the recording, another one stops it. */
TEST_F(traced, a_start_and_a_stop)
{
	struct fired fired;

	nl_begin(&msg, &self->nl, HYPTRACE_CMD_EVENT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, variant->remote);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, "hyp_exit");
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, 1);
	nl_put_u32(&msg, HYPTRACE_A_EVENT_TRIGGER, HYPTRACE_TRIGGER_ACTION_STOP);
	ASSERT_EQ(0, nl_do(&self->nl, &msg, &answer));
	ENABLE(7, START, 0);
	EXPECT_ARMED(true, 0);
	MARK(0, 7, 1);
	RUN_GUEST();
	ASSERT_EQ(0, wait_fired(&self->nl, variant->remote, 2, &fired));
	EXPECT_EQ(HYPTRACE_TRIGGER_ACTION_STOP, fired.action);
	EXPECT_STREQ("hyp_exit", fired.event);
	EXPECT_FALSE(fired.armed);
}

TEST_HARNESS_MAIN
