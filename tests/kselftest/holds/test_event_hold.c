// SPDX-License-Identifier: GPL-2.0-only
/*
 * event-set with hold: an event has the state that a socket has requested, until the socket
 * releases it or is closed, in whatever way. Then it gets back the state of before, unless a
 * request has overridden the hold.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "filter.h"
#include "page.h"
#include "remotes.h"

/* The driver ends the holds of a closed socket soon, but not at once. */
#define PATIENCE_MS	10000
#define EVENT		"selftest"
#define NONE		(-1ULL)	/* no filter */

FIXTURE(event_hold) {
	struct nl nl;
	struct nl other;
};

FIXTURE_VARIANT(event_hold) {
	const char *remote;
};

FIXTURE_VARIANT_ADD(event_hold, hypervisor) { .remote = "hypervisor" };
FIXTURE_VARIANT_ADD(event_hold, test) { .remote = "test" };

FIXTURE_SETUP(event_hold)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, nl_open(&self->other));
	ASSERT_EQ(0, control_fresh(&self->nl, variant->remote));
}

FIXTURE_TEARDOWN(event_hold)
{
	nl_close(&self->other);
	control_fresh(&self->nl, variant->remote);
	nl_close(&self->nl);
}

static struct nl_answer answer;
static struct nl_msg msg;

/* How an event is enabled: 0 if it is disabled; @id: the one id that its filter accepts, or NONE */
struct state {
	uint64_t	id;
	uint32_t	trigger;
	uint8_t		enabled;
	uint32_t	holder;
};

static int set(struct nl *nl, const char *remote, const struct state *state, bool hold)
{
	const struct filter_term term = FILTER_TERM("id", EQ, state->id);
	char text[32];

	snprintf(text, sizeof(text), "id == %llu", (unsigned long long)state->id);
	nl_begin(&msg, nl, HYPTRACE_CMD_EVENT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, remote);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, EVENT);
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, state->enabled);
	if (state->enabled && state->id != NONE)
		filter_put(&msg, text, &term, 1, NULL);
	if (state->trigger)
		nl_put_u32(&msg, HYPTRACE_A_EVENT_TRIGGER, state->trigger);
	if (hold)
		nl_put(&msg, HYPTRACE_A_EVENT_HOLD, NULL, 0);
	return nl_do(nl, &msg, &answer);
}

static int get(struct nl *nl, const char *remote, struct state *state)
{
	const struct nlattr *filter, *holder, *trigger;
	const struct nlmsghdr *hdr;
	int err;

	nl_begin(&msg, nl, HYPTRACE_CMD_EVENT_GET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, remote);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAME, EVENT);
	err = nl_do(nl, &msg, &answer);
	if (err)
		return err;
	hdr = nl_first(&answer);
	filter = nl_attr(hdr, HYPTRACE_A_EVENT_FILTER);
	trigger = nl_attr(hdr, HYPTRACE_A_EVENT_TRIGGER);
	holder = nl_attr(hdr, HYPTRACE_A_EVENT_HOLDER);
	state->enabled = *(const uint8_t *)nl_data(nl_attr(hdr, HYPTRACE_A_EVENT_ENABLED));
	state->trigger = trigger ? nl_u32(trigger) : 0;
	state->holder = holder ? nl_u32(holder) : 0;
	state->id = NONE;
	if (filter && sscanf(nl_str(nl_nested(filter, HYPTRACE_A_FILTER_TEXT)), "id == %llu",
			     (unsigned long long *)&state->id) != 1)
		return -EBADMSG;
	return 0;
}

static int release(struct nl *nl, const char *remote)
{
	return control(nl, HYPTRACE_CMD_EVENT_RELEASE, remote);
}

/* Wait until no socket holds the event any more. */
static bool is_released(struct nl *nl, const char *remote)
{
	struct state state;
	unsigned int ms;

	for (ms = 0; !get(nl, remote, &state) && state.holder; ms += 10) {
		if (ms >= PATIENCE_MS)
			return false;
		usleep(10000);
	}
	return true;
}

#define OFF			{ .id = NONE }
#define ON(only, does)		{ .id = only, .enabled = 1, \
				  .trigger = HYPTRACE_TRIGGER_ACTION_##does }
#define STATE(...)		(&(const struct state)__VA_ARGS__)
#define SET(nl, ...)		set(nl, variant->remote, STATE(__VA_ARGS__), false)
#define HOLD(nl, ...)		set(nl, variant->remote, STATE(__VA_ARGS__), true)
#define RELEASE(nl)		ASSERT_EQ(0, release(nl, variant->remote))
#define CONTROL(cmd)	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_##cmd, variant->remote))

/* Expect this state of the event, and that the process holds it. */
#define EXPECT_STATE(by, ...)							\
	do {									\
		const struct state __expected = __VA_ARGS__;			\
		struct state __state;						\
										\
		ASSERT_EQ(0, get(&self->nl, variant->remote, &__state));	\
		EXPECT_EQ(__expected.enabled, __state.enabled);		\
		EXPECT_EQ(__expected.id, __state.id);				\
		EXPECT_EQ(__expected.trigger, __state.trigger);		\
		EXPECT_EQ((uint32_t)(by), __state.holder);			\
	} while (0)

/* Expect that of 10 ids only so many are recorded, on each CPU. */
#define EXPECT_RECORDED(number)							\
	do {									\
		struct counts __before, __after;				\
		unsigned int __cpu;						\
										\
		for (__cpu = 0; __cpu < 2; __cpu++) {				\
			ASSERT_EQ(0, control_counts(&self->nl, variant->remote, __cpu,	\
						    &__before));		\
			ASSERT_EQ(0, control_mark(&self->nl, variant->remote, __cpu, 0, 10)); \
			ASSERT_EQ(0, control_counts(&self->nl, variant->remote, __cpu,	\
						    &__after));			\
			EXPECT_EQ(number, __after.written - __before.written);	\
		}								\
	} while (0)

TEST_F(event_hold, a_killed_process_leaves_nothing)
{
	const struct state before[] = {
		OFF, ON(NONE, NONE), ON(7, NONE), ON(7, STOP), ON(7, NOTIFY),
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(before); i++) {
		int ready[2], status;
		char byte;
		pid_t pid;

		ASSERT_EQ(0, set(&self->nl, variant->remote, &before[i], false));
		ASSERT_EQ(0, pipe(ready));
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			struct nl nl;

			/* the parent has the sockets of the fixture, too */
			if (nl_open(&nl) || HOLD(&nl, OFF) || HOLD(&nl, ON(5, NOTIFY)))
				_exit(1);
			write(ready[1], "", 1);
			pause();
			_exit(0);
		}
		close(ready[1]);
		ASSERT_EQ(1, read(ready[0], &byte, 1));
		close(ready[0]);
		EXPECT_STATE(pid, ON(5, NOTIFY));
		ASSERT_EQ(0, kill(pid, SIGKILL));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_TRUE(is_released(&self->nl, variant->remote));
		EXPECT_STATE(0, before[i]);
	}
}

TEST_F(event_hold, the_writer_records_what_is_held_and_then_what_was_before)
{
	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, 64 << 10, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, HOLD(&self->other, ON(5, NONE)));
	EXPECT_RECORDED(1);
	/* The same socket may change it, and the first state comes back. */
	ASSERT_EQ(0, HOLD(&self->other, OFF));
	EXPECT_STATE(getpid(), OFF);
	EXPECT_EQ(-ENODATA, control_mark(&self->nl, variant->remote, 0, 0, 1));
	ASSERT_EQ(0, HOLD(&self->other, ON(NONE, NOTIFY)));
	EXPECT_RECORDED(10);
	/* The hold outlives the rings. */
	ASSERT_EQ(0, HOLD(&self->other, ON(6, NONE)));
	CONTROL(UNLOAD);
	CONTROL(START);
	EXPECT_RECORDED(1);
	RELEASE(&self->other);
	EXPECT_STATE(0, ON(NONE, NONE));
	EXPECT_RECORDED(10);
	/* It holds nothing any more. */
	RELEASE(&self->other);
	EXPECT_STATE(0, ON(NONE, NONE));
}

TEST_F(event_hold, one_socket_holds_an_event)
{
	char message[80];

	ASSERT_EQ(0, SET(&self->nl, ON(1, NONE)));
	ASSERT_EQ(0, HOLD(&self->other, ON(2, NONE)));
	EXPECT_EQ(-EBUSY, HOLD(&self->nl, ON(3, NONE)));
	snprintf(message, sizeof(message), "process %d (test_event_hold) holds \"" EVENT "\": end it first",
		 getpid());
	EXPECT_STREQ(message, answer.message);
	EXPECT_EQ(-EBUSY, HOLD(&self->nl, OFF));
	/* Only the own events are released. */
	RELEASE(&self->nl);
	EXPECT_STATE(getpid(), ON(2, NONE));
	/* It is free as soon as the socket is closed. */
	nl_close(&self->other);
	ASSERT_EQ(0, HOLD(&self->nl, ON(3, NONE)));
	EXPECT_STATE(getpid(), ON(3, NONE));
	RELEASE(&self->nl);
	EXPECT_STATE(0, ON(1, NONE));
	ASSERT_EQ(0, nl_open(&self->other));
}

static int disable(struct nl *nl, const char *remote, const char *event, bool hold)
{
	nl_begin(&msg, nl, HYPTRACE_CMD_EVENT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, remote);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, event);
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, 0);
	if (hold)
		nl_put(&msg, HYPTRACE_A_EVENT_HOLD, NULL, 0);
	return nl_do(nl, &msg, &answer);
}

TEST_F(event_hold, so_does_it_with_each_event)
{
	static const char *const events[] = { "hyp_enter", "hyp_exit", "guest_exit", "host_hcall" };
	unsigned int i;

	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		ASSERT_EQ(0, disable(&self->other, variant->remote, events[i], true));
		EXPECT_EQ(-EBUSY, disable(&self->nl, variant->remote, events[i], true));
		EXPECT_NE(NULL, strstr(answer.message, events[i]));
	}
}

/* A socket of another protocol may have the same port. */
TEST_F(event_hold, the_end_of_another_socket_does_not_end_it)
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK };
	socklen_t len = sizeof(addr);
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, getsockname(self->other.fd, (void *)&addr, &len));
	ASSERT_NE(0, addr.nl_pid);
	addr.nl_groups = 0;
	ASSERT_EQ(0, bind(fd, (void *)&addr, sizeof(addr)));
	ASSERT_EQ(0, HOLD(&self->other, ON(2, NONE)));
	close(fd);
	/* what ends a hold is done a moment later */
	usleep(100000);
	EXPECT_STATE(getpid(), ON(2, NONE));
	RELEASE(&self->other);
}

TEST_F(event_hold, requests_override_it)
{
	ASSERT_EQ(0, SET(&self->nl, ON(1, STOP)));
	ASSERT_EQ(0, HOLD(&self->other, ON(2, NONE)));
	ASSERT_EQ(0, SET(&self->nl, ON(3, NONE)));
	EXPECT_STATE(0, ON(3, NONE));
	RELEASE(&self->other);
	EXPECT_STATE(0, ON(3, NONE));

	ASSERT_EQ(0, HOLD(&self->other, OFF));
	ASSERT_EQ(0, SET(&self->nl, OFF));
	RELEASE(&self->other);
	EXPECT_STATE(0, OFF);

	ASSERT_EQ(0, SET(&self->nl, ON(1, NOTIFY)));
	ASSERT_EQ(0, HOLD(&self->other, OFF));
	CONTROL(RESET);
	EXPECT_STATE(0, OFF);
	RELEASE(&self->other);
	EXPECT_STATE(0, OFF);
}

/* HYPTRACE_IOC_HOLD wants the event enabled, and has no say in its filter. */
TEST_F(event_hold, beside_a_hold_of_a_descriptor)
{
	uint16_t id = control_event_id(&self->nl, variant->remote, EVENT);
	const struct hyptrace_hold hold = {
		.size = sizeof(hold), .flags = HYPTRACE_HOLD_TRACING, .nr_events = 1,
		.events = (uintptr_t)&id,
	};
	int fd = open_attached(variant->remote, 0, O_NONBLOCK);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, HOLD(&self->other, ON(5, NONE)));
	ASSERT_EQ(0, ioctl(fd, HYPTRACE_IOC_HOLD, &hold));
	EXPECT_RECORDED(1);
	RELEASE(&self->other);
	EXPECT_STATE(0, ON(NONE, NONE));
	EXPECT_RECORDED(10);
	ASSERT_EQ(0, HOLD(&self->other, OFF));
	EXPECT_STATE(getpid(), OFF);
	ASSERT_EQ(0, ioctl(fd, HYPTRACE_IOC_HOLD, &hold));
	EXPECT_STATE(getpid(), OFF);
	RELEASE(&self->other);
	EXPECT_STATE(0, ON(NONE, NONE));
	ASSERT_EQ(0, HOLD(&self->other, ON(5, NONE)));
	close(fd);
	EXPECT_STATE(getpid(), ON(5, NONE));
	RELEASE(&self->other);
	EXPECT_STATE(0, OFF);
}

/* What a trigger has stopped stays stopped when the event gets back its trigger. */
TEST_F(event_hold, a_release_does_not_start_what_was_stopped)
{
	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, 64 << 10, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, SET(&self->nl, ON(7, STOP)));
	ASSERT_EQ(0, HOLD(&self->other, ON(5, STOP)));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 5, 1));
	RELEASE(&self->other);
	EXPECT_STATE(0, ON(7, STOP));
	EXPECT_EQ(-ENODATA, control_mark(&self->nl, variant->remote, 0, 7, 1));
	CONTROL(START);
	/* Without that, it is armed again. */
	ASSERT_EQ(0, HOLD(&self->other, ON(5, NOTIFY)));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 7, 1));
	RELEASE(&self->other);
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 7, 1));
	EXPECT_EQ(-ENODATA, control_mark(&self->nl, variant->remote, 0, 7, 1));
}

TEST_F(event_hold, refused_requests_hold_nothing)
{
	const struct filter_term term = FILTER_TERM("nonsense", EQ, 1);

	ASSERT_EQ(0, HOLD(&self->other, ON(2, NONE)));
	nl_begin(&msg, &self->other, HYPTRACE_CMD_EVENT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, variant->remote);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, EVENT);
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, 1);
	filter_put(&msg, "nonsense", &term, 1, NULL);
	nl_put(&msg, HYPTRACE_A_EVENT_HOLD, NULL, 0);
	EXPECT_EQ(-ENOENT, nl_do(&self->other, &msg, &answer));
	EXPECT_STATE(getpid(), ON(2, NONE));
	RELEASE(&self->other);
	EXPECT_STATE(0, OFF);
	/* The release of one remote is not that of another. */
	EXPECT_EQ(-ENODEV, release(&self->other, "nonsense"));
}

TEST_F(event_hold, a_module_that_is_removed_ends_it)
{
	char command[80];

	ASSERT_EQ(0, HOLD(&self->other, ON(2, NOTIFY)));
	snprintf(command, sizeof(command), "rmmod hyptrace_%1$s && modprobe hyptrace_%1$s",
		 strcmp(variant->remote, "test") ? "pkvm" : "test");
	ASSERT_EQ(0, system(command));
	EXPECT_STATE(0, OFF);
	ASSERT_EQ(0, HOLD(&self->other, ON(3, NONE)));
	nl_close(&self->other);
	EXPECT_TRUE(is_released(&self->nl, variant->remote));
	EXPECT_STATE(0, OFF);
	ASSERT_EQ(0, nl_open(&self->other));
}

TEST_HARNESS_MAIN
