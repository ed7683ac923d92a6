// SPDX-License-Identifier: GPL-2.0-only
/*
 * HYPTRACE_IOC_HOLD: the events that a descriptor holds are enabled while it is attached.
 * They are disabled at the end of the hold, unless another hold or a request enables them.
 * The same holds for tracing.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "page.h"
#include "remotes.h"

#define RING_SIZE	(8 * PAGE)
#define MAX_EVENTS	HYPTRACE_HOLD_EVENTS_MAX

REMOTE_FIXTURE(hold);

static int hold(int fd, const struct hyptrace_hold *hold)
{
	return ioctl(fd, HYPTRACE_IOC_HOLD, hold) ? -errno : 0;
}

static int hold_events(int fd, uint32_t flags, const uint16_t *ids, unsigned int nr)
{
	const struct hyptrace_hold request = {
		.size = sizeof(request), .flags = flags, .nr_events = nr,
		.events = (uintptr_t)ids,
	};

	return hold(fd, &request);
}

static int hold_event(int fd, uint32_t flags, uint16_t id)
{
	return hold_events(fd, flags, &id, 1);
}

static int hold_nothing(int fd)
{
	return hold_events(fd, 0, NULL, 0);
}

/* Expect this state of the remote, and whether the two events are enabled. */
#define EXPECT_NOW(expected_state, selftest, hyp_exit)					\
	do {										\
		struct info __info;							\
											\
		ASSERT_EQ(0, control_info(&self->nl, variant->remote, &__info));	\
		EXPECT_EQ(expected_state, __info.state);				\
		EXPECT_EQ(selftest, control_is_enabled(&self->nl, variant->remote, "selftest")); \
		EXPECT_EQ(hyp_exit, control_is_enabled(&self->nl, variant->remote, "hyp_exit")); \
	} while (0)

#define UNLOADED	HYPTRACE_STATE_UNLOADED
#define LOADED		HYPTRACE_STATE_LOADED
#define TRACING		HYPTRACE_STATE_TRACING

#define ID(name)	control_event_id(&self->nl, variant->remote, name)
#define ENABLE(name)	control_enable(&self->nl, variant->remote, name, true)
#define DISABLE(name)	control_enable(&self->nl, variant->remote, name, false)
#define CONTROL(cmd)	control(&self->nl, HYPTRACE_CMD_##cmd, variant->remote)
#define MARK(count)	control_mark(&self->nl, variant->remote, 0, 0, count)

/* Open a descriptor of @cpu that holds the event, and tracing if @flags say so. */
#define HOLDER(cpu, flags, name)							\
	({										\
		int __fd = open_attached(variant->remote, cpu, 0);			\
											\
		ASSERT_LE(0, __fd);							\
		ASSERT_EQ(0, hold_event(__fd, flags, ID(name)));			\
		__fd;									\
	})

/* Expect that the good request is refused with this value of the field. */
#define EXPECT_REFUSED(error, field, value)						\
	do {										\
		struct hyptrace_hold __bad = good;					\
											\
		__bad.field = value;							\
		EXPECT_EQ(-(error), hold(fd, &__bad));					\
	} while (0)

TEST_F(hold, bad_requests_are_refused_and_change_nothing)
{
	const uint16_t none[] = { 0, 63, 64, UINT16_MAX }, known = ID("hyp_exit");
	static struct snapshot before, after;
	uint16_t ids[MAX_EVENTS + 1];
	struct hyptrace_hold good = {
		.size = sizeof(good), .nr_events = 1, .events = (uintptr_t)ids,
	};
	struct {
		struct hyptrace_hold hold;
		uint64_t surplus;
	} longer = { .hold = good, .surplus = 1 };
	int fd, observer, unattached = open(DEVICE, O_RDONLY);
	uint16_t *end;
	unsigned int i;

	for (i = 0; i < MAX_EVENTS + 1; i++)
		ids[i] = ID("selftest");
	/* The second element of this array is not mapped. */
	end = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, end);
	end += PAGE / sizeof(*end);
	ASSERT_EQ(0, munmap(end, PAGE));
	*--end = known;

	EXPECT_EQ(-ENOTCONN, hold(unattached, &good));
	fd = HOLDER(0, HYPTRACE_HOLD_TRACING, "selftest");
	observer = open_snapshot(variant->remote, 0);
	ASSERT_LE(0, observer);
	/* Refused requests hold hyp_exit, so that any effect of them can be seen. */
	good.events = (uintptr_t)&known;
	ASSERT_EQ(0, control_snapshot(&self->nl, &before));
	EXPECT_EQ(-EOPNOTSUPP, hold(observer, &good));
	EXPECT_EQ(-EFAULT, hold(fd, NULL));
	EXPECT_REFUSED(EINVAL, flags, HYPTRACE_HOLD_TRACING << 1);
	EXPECT_REFUSED(EINVAL, reserved, 1);
	EXPECT_REFUSED(EINVAL, size, sizeof(good) - 1);
	EXPECT_REFUSED(E2BIG, size, PAGE + 1);
	EXPECT_REFUSED(EFAULT, events, 8);
	for (i = 0; i < ARRAY_SIZE(none); i++)
		EXPECT_REFUSED(ENOENT, events, (uintptr_t)&none[i]);
	good.events = (uintptr_t)end;
	EXPECT_REFUSED(EFAULT, nr_events, 2);
	ids[0] = known;
	good.events = (uintptr_t)ids;
	EXPECT_REFUSED(E2BIG, nr_events, MAX_EVENTS + 1);
	ids[1] = 63;
	EXPECT_REFUSED(ENOENT, nr_events, 2);
	longer.hold.size = sizeof(longer);
	EXPECT_EQ(-E2BIG, hold(fd, &longer.hold));
	ASSERT_EQ(0, control_snapshot(&self->nl, &after));
	EXPECT_TRUE(snapshot_equal(&before, &after));
	/*
	 * The hold has not changed: the end of another one makes the driver compute again what
	 * must be on.
	 */
	close(HOLDER(1, 0, "hyp_exit"));
	EXPECT_NOW(TRACING, true, false);

	ids[0] = ids[MAX_EVENTS];
	ids[1] = ids[MAX_EVENTS];
	longer.surplus = 0;
	EXPECT_EQ(0, hold(fd, &longer.hold));
	EXPECT_NOW(LOADED, true, false);
	EXPECT_EQ(0, hold_events(fd, HYPTRACE_HOLD_TRACING, ids, MAX_EVENTS));
	EXPECT_NOW(TRACING, true, false);
	close(fd);
	close(observer);
	close(unattached);
	EXPECT_NOW(UNLOADED, false, false);
}

/* Only attaching has loaded the rings, so they are unloaded with the unread events. */
TEST_F(hold, ends_when_the_last_copy_of_the_descriptor_is_closed)
{
	int fd = open_attached(variant->remote, HYPTRACE_CPU_ALL, 0), copy;
	const uint16_t ids[] = { ID("selftest"), ID("hyp_exit"), ID("selftest") };

	ASSERT_LE(0, fd);
	EXPECT_NOW(LOADED, false, false);
	EXPECT_EQ(0, hold_events(fd, HYPTRACE_HOLD_TRACING, ids, ARRAY_SIZE(ids)));
	EXPECT_NOW(TRACING, true, true);
	EXPECT_EQ(0, MARK(3));
	copy = dup(fd);
	close(fd);
	EXPECT_NOW(TRACING, true, true);
	close(copy);
	EXPECT_NOW(UNLOADED, false, false);
}

TEST_F(hold, ends_when_the_process_is_killed)
{
	const uint16_t id = ID("selftest");
	int tell[2], status;
	char byte;
	pid_t child;

	ASSERT_EQ(0, pipe(tell));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		int fd = open_attached(variant->remote, 0, 0);

		if (fd < 0 || hold_event(fd, HYPTRACE_HOLD_TRACING, id) ||
		    write(tell[1], "", 1) != 1)
			_exit(1);
		pause();
		_exit(2);
	}
	close(tell[1]);
	ASSERT_EQ(1, read(tell[0], &byte, 1));
	close(tell[0]);
	EXPECT_NOW(TRACING, true, false);
	EXPECT_EQ(0, MARK(1));
	ASSERT_EQ(0, kill(child, SIGKILL));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_NOW(UNLOADED, false, false);
}

TEST_F(hold, lasts_while_a_child_has_the_descriptor)
{
	int fd = HOLDER(0, HYPTRACE_HOLD_TRACING, "selftest"), status;
	pid_t child = fork();

	ASSERT_LE(0, child);
	if (!child) {
		pause();
		_exit(0);
	}
	close(fd);
	EXPECT_NOW(TRACING, true, false);
	ASSERT_EQ(0, kill(child, SIGKILL));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_NOW(UNLOADED, false, false);
}

TEST_F(hold, of_two_descriptors_ends_with_the_last)
{
	int first = HOLDER(0, HYPTRACE_HOLD_TRACING, "selftest");
	int second = HOLDER(1, HYPTRACE_HOLD_TRACING, "selftest");

	close(first);
	EXPECT_NOW(TRACING, true, false);
	first = HOLDER(0, 0, "hyp_exit");
	EXPECT_NOW(TRACING, true, true);
	close(second);
	EXPECT_NOW(LOADED, false, true);
	close(first);
	EXPECT_NOW(UNLOADED, false, false);
}

TEST_F(hold, replaces_the_one_before)
{
	int fd = HOLDER(0, HYPTRACE_HOLD_TRACING, "selftest");

	EXPECT_EQ(0, hold_event(fd, HYPTRACE_HOLD_TRACING, ID("hyp_exit")));
	EXPECT_NOW(TRACING, false, true);
	EXPECT_EQ(0, hold_event(fd, 0, ID("selftest")));
	EXPECT_NOW(LOADED, true, false);
	EXPECT_EQ(0, hold_events(fd, HYPTRACE_HOLD_TRACING, NULL, 0));
	EXPECT_NOW(TRACING, false, false);
	EXPECT_EQ(0, hold_nothing(fd));
	EXPECT_NOW(LOADED, false, false);
	close(fd);
	EXPECT_NOW(UNLOADED, false, false);
}

/* The requests come before the hold, then after it. */
TEST_F(hold, does_not_end_what_a_request_has_switched_on)
{
	unsigned int after;
	int fd = -1;

	for (after = 0; after < 2; after++) {
		if (after)
			fd = HOLDER(0, HYPTRACE_HOLD_TRACING, "selftest");
		ASSERT_EQ(0, ENABLE("selftest"));
		ASSERT_EQ(0, ENABLE("hyp_exit"));
		ASSERT_EQ(0, CONTROL(START));
		if (!after)
			fd = HOLDER(0, HYPTRACE_HOLD_TRACING, "selftest");
		EXPECT_EQ(0, MARK(1));
		close(fd);
		EXPECT_NOW(TRACING, true, true);
		/* start was sent, so the rings stay loaded while they have unread events. */
		ASSERT_EQ(0, CONTROL(STOP));
		EXPECT_NOW(LOADED, true, true);
		ASSERT_EQ(0, control_fresh(&self->nl, variant->remote));
	}
}

/* A request to disable or stop ends the holds of all descriptors. */
TEST_F(hold, is_overridden_by_requests)
{
	const uint16_t both[] = { ID("selftest"), ID("hyp_exit") };
	int first = HOLDER(0, HYPTRACE_HOLD_TRACING, "selftest");
	int second = open_attached(variant->remote, 1, 0);

	ASSERT_LE(0, second);
	ASSERT_EQ(0, hold_events(second, HYPTRACE_HOLD_TRACING, both, ARRAY_SIZE(both)));
	ASSERT_EQ(0, DISABLE("selftest"));
	EXPECT_NOW(TRACING, false, true);
	/* The driver computes again what must be on: the second descriptor has lost its hold. */
	ASSERT_EQ(0, hold_nothing(first));
	EXPECT_NOW(TRACING, false, true);

	ASSERT_EQ(0, CONTROL(STOP));
	EXPECT_NOW(LOADED, false, true);
	ASSERT_EQ(0, hold_nothing(first));
	EXPECT_NOW(LOADED, false, true);

	/* A new hold overrides the requests. */
	ASSERT_EQ(0, hold_event(first, HYPTRACE_HOLD_TRACING, ID("selftest")));
	EXPECT_NOW(TRACING, true, true);
	close(second);
	EXPECT_NOW(TRACING, true, false);

	/* Requests override earlier requests, too. */
	ASSERT_EQ(0, ENABLE("selftest"));
	ASSERT_EQ(0, CONTROL(START));
	ASSERT_EQ(0, DISABLE("selftest"));
	ASSERT_EQ(0, CONTROL(STOP));
	EXPECT_NOW(LOADED, false, false);
	ASSERT_EQ(0, hold_nothing(first));
	EXPECT_NOW(LOADED, false, false);
	/* The CPUs may have left EL2 meanwhile: rings with such events would stay loaded. */
	ASSERT_EQ(0, control_clear(&self->nl, variant->remote, CPU_ALL));
	close(first);
	EXPECT_NOW(UNLOADED, false, false);
}

TEST_F(hold, of_one_event_does_not_change_another)
{
	int fd;

	ASSERT_EQ(0, ENABLE("hyp_exit"));
	fd = HOLDER(0, 0, "selftest");
	ASSERT_EQ(0, DISABLE("hyp_exit"));
	EXPECT_NOW(LOADED, true, false);
	ASSERT_EQ(0, ENABLE("hyp_exit"));
	close(fd);
	EXPECT_NOW(UNLOADED, false, true);
}

/* The second round shows that unload makes the driver forget the request. */
TEST_F(hold, unloads_rings_with_events_only_if_attaching_has_loaded_them)
{
	unsigned int i;
	int fd;

	for (i = 0; i < 2; i++) {
		/* Attaching has loaded the rings, so the end of the descriptor unloads them. */
		fd = HOLDER(0, HYPTRACE_HOLD_TRACING, "selftest");
		EXPECT_EQ(0, MARK(1));
		close(fd);
		EXPECT_NOW(UNLOADED, false, false);

		ASSERT_EQ(0, CONTROL(LOAD));
		fd = HOLDER(0, HYPTRACE_HOLD_TRACING, "selftest");
		EXPECT_EQ(0, MARK(1));
		close(fd);
		EXPECT_NOW(LOADED, false, false);
		ASSERT_EQ(0, CONTROL(UNLOAD));
	}
}

TEST_F(hold, unloads_the_rings_after_the_last_observer)
{
	int fd = HOLDER(0, HYPTRACE_HOLD_TRACING, "selftest");
	int observer = open_snapshot(variant->remote, 0);

	ASSERT_LE(0, observer);
	EXPECT_EQ(0, MARK(1));
	close(fd);
	EXPECT_NOW(LOADED, false, false);
	close(observer);
	EXPECT_NOW(UNLOADED, false, false);
}

#define SOON_MS		10000
#define QUIET_MS	300

#define NEXT(command)								\
	({									\
		const struct nlmsghdr *__hdr = control_next_change(&listener, SOON_MS); \
										\
		ASSERT_NE(NULL, __hdr);						\
		ASSERT_EQ(command, nl_cmd(__hdr));				\
		__hdr;								\
	})

#define EXPECT_NEXT_EVENT(expected)						\
	EXPECT_EQ(expected, *(uint8_t *)nl_data(nl_attr(NEXT(HYPTRACE_CMD_EVENT_NTF), \
							HYPTRACE_A_EVENT_ENABLED)))

#define EXPECT_NEXT_STATE(expected)						\
	EXPECT_EQ(expected, nl_u32(nl_attr(NEXT(HYPTRACE_CMD_REMOTE_NTF),	\
					   HYPTRACE_A_REMOTE_STATE)))

#define EXPECT_QUIET()	EXPECT_EQ(NULL, control_next_change(&listener, QUIET_MS))

TEST_F(hold, notifies_of_each_change)
{
	int fd = open_attached(variant->remote, 0, 0);
	struct nl listener;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, nl_open(&listener));
	ASSERT_EQ(0, nl_join(&listener));
	ASSERT_EQ(0, hold_event(fd, HYPTRACE_HOLD_TRACING, ID("selftest")));
	EXPECT_NEXT_EVENT(1);
	EXPECT_NEXT_STATE(TRACING);
	/* None of these changes anything. */
	ASSERT_EQ(0, hold_event(fd, HYPTRACE_HOLD_TRACING, ID("selftest")));
	ASSERT_EQ(0, ENABLE("selftest"));
	ASSERT_EQ(0, hold_events(fd, HYPTRACE_HOLD_TRACING, NULL, 0));
	EXPECT_QUIET();

	ASSERT_EQ(0, hold_event(fd, HYPTRACE_HOLD_TRACING, ID("hyp_exit")));
	EXPECT_NEXT_EVENT(1);
	ASSERT_EQ(0, CONTROL(STOP));
	EXPECT_NEXT_STATE(LOADED);
	ASSERT_EQ(0, hold_events(fd, HYPTRACE_HOLD_TRACING, NULL, 0));
	EXPECT_NEXT_EVENT(0);
	EXPECT_NEXT_STATE(TRACING);
	close(fd);
	EXPECT_EQ(HYPTRACE_READER_CHANGE_DETACHED,
		  nl_u32(nl_attr(NEXT(HYPTRACE_CMD_READER_NTF), HYPTRACE_A_READER_CHANGE)));
	/* one notification for both the stop and the unload */
	EXPECT_NEXT_STATE(UNLOADED);
	EXPECT_QUIET();
	nl_close(&listener);
}

/* These are the sub-buffers with unread events. */
TEST_F(hold, cpu_get_counts_the_used_subbufs)
{
	static char page[PAGE_MAX];
	struct counts counts;
	unsigned int left;
	int fd;

#define EXPECT_USED(expected)							\
	do {									\
		ASSERT_EQ(0, control_counts(&self->nl, variant->remote, 0, &counts)); \
		EXPECT_EQ(expected, counts.used_subbufs);			\
	} while (0)

	EXPECT_USED(0);
	ASSERT_EQ(0, control_load(&self->nl, variant->remote, RING_SIZE,
				  HYPTRACE_MODE_OVERWRITE));
	fd = HOLDER(0, HYPTRACE_HOLD_TRACING, "selftest");
	EXPECT_USED(0);
	ASSERT_EQ(0, MARK(1));
	EXPECT_USED(1);
	/* The writer goes on in the reader page. */
	ASSERT_EQ(PAGE, read(fd, page, PAGE));
	EXPECT_USED(0);
	ASSERT_EQ(0, MARK(1));
	EXPECT_USED(1);
	ASSERT_EQ(0, MARK(PER_SUBBUF));
	EXPECT_USED(2);
	ASSERT_EQ(0, MARK(PER_SUBBUF));
	EXPECT_USED(3);
	for (left = 3; left--;) {
		ASSERT_EQ(PAGE, read(fd, page, PAGE));
		EXPECT_USED(left);
	}
	/* Fill the reader page, in which the writer goes on, and the whole ring. */
	ASSERT_EQ(0, MARK(20 * PER_SUBBUF));
	EXPECT_USED(RING_SIZE / PAGE + 1);
	EXPECT_EQ(counts.nr_subbufs, counts.used_subbufs);
	ASSERT_EQ(0, control_clear(&self->nl, variant->remote, CPU_ALL));
	EXPECT_USED(0);
	close(fd);
}

TEST_HARNESS_MAIN
