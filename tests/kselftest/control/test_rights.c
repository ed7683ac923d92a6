// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which capabilities the netlink family needs, whose trace a user can change, and how much memory a
 * user can pin.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "privilege.h"
#include "remotes.h"
#include "refuse.h"

REMOTE_FIXTURE(refuse);

/* Drop CAP_PERFMON and CAP_SYS_ADMIN, keep all others. */
TEST_F(refuse, requests_with_all_other_capabilities)
{
	const struct operation *op;
	uint32_t offsets[ATTRIBUTES_MAX];
	struct nl own;

	ASSERT_EQ(0, control_snapshot(&self->nl, &before));
	ASSERT_EQ(0, capabilities_keep(~(CAPABILITY(CAP_SYS_ADMIN) | CAPABILITY(CAP_PERFMON)) &
				       (CAPABILITY(CAP_LAST_CAP + 1) - 1)));
	/* Use a socket opened before the drop, and one opened after it. */
	ASSERT_EQ(0, nl_open(&own));
	for (op = operations; op < operations + ARRAY_SIZE(operations); op++) {
		EXPECT_EQ(-EPERM, request(&own, op->cmd, op->dump, op->attrs, variant->remote,
					  offsets)) TH_LOG("%s", op->name);
		EXPECT_NE(NULL, strstr(answer.message, "CAP_PERFMON")) TH_LOG("%s", op->name);
		EXPECT_EQ(0, answer.nr);
		EXPECT_EQ(-EPERM, request(&self->nl, op->cmd, op->dump, op->attrs,
					  variant->remote, offsets)) TH_LOG("%s", op->name);
	}
	EXPECT_EQ(-EPERM, nl_join(&own));
	EXPECT_EQ(0, answer.nr);
}

TEST_F(refuse, requests_of_user_nobody)
{
	int status;
	pid_t child;

	ASSERT_EQ(0, control_snapshot(&self->nl, &before));
	child = fork();
	if (!child) {
		const struct operation *op;
		uint32_t offsets[ATTRIBUTES_MAX];
		struct nl own;

		if (become_nobody() || nl_open(&own))
			_exit(1);
		for (op = operations; op < operations + ARRAY_SIZE(operations); op++) {
			if (request(&own, op->cmd, op->dump, op->attrs, variant->remote,
				    offsets) != -EPERM)
				_exit(2);
		}
		_exit(nl_join(&own) == -EPERM ? 0 : 3);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, control_snapshot(&self->nl, &after));
	EXPECT_TRUE(snapshot_equal(&before, &after));
}

/* The process has all capabilities, but only in its own user namespace. */
TEST_F(refuse, requests_of_root_in_a_user_namespace)
{
	const struct operation *op;
	uint32_t offsets[ATTRIBUTES_MAX];
	struct nl own;

	ASSERT_EQ(0, unshare(CLONE_NEWUSER));
	ASSERT_EQ(0, nl_open(&own));
	for (op = operations; op < operations + ARRAY_SIZE(operations); op++) {
		EXPECT_EQ(-EPERM, request(&own, op->cmd, op->dump, op->attrs, variant->remote,
					  offsets)) TH_LOG("%s", op->name);
		EXPECT_EQ(0, answer.nr);
	}
	EXPECT_EQ(-EPERM, nl_join(&own));
	EXPECT_EQ(-1, open(DEVICE, O_RDWR));
	EXPECT_EQ(EPERM, errno);
}

TEST_F(refuse, nothing_but_notifications_with_cap_perfmon)
{
	struct nl own;

	ASSERT_EQ(0, capabilities_keep(CAPABILITY(CAP_PERFMON)));
	ASSERT_EQ(0, nl_open(&own));
	EXPECT_EQ(0, control(&own, HYPTRACE_CMD_LOAD, variant->remote));
	EXPECT_EQ(0, control(&own, HYPTRACE_CMD_UNLOAD, variant->remote));
	EXPECT_EQ(0, control_snapshot(&own, &after));
	/* For a multicast group generic netlink can only check CAP_SYS_ADMIN. */
	EXPECT_EQ(-EPERM, nl_join(&own));
}

TEST_F(refuse, nothing_with_cap_sys_admin)
{
	struct nl own;

	ASSERT_EQ(0, capabilities_keep(CAPABILITY(CAP_SYS_ADMIN)));
	ASSERT_EQ(0, nl_open(&own));
	EXPECT_EQ(0, control(&own, HYPTRACE_CMD_LOAD, variant->remote));
	EXPECT_EQ(0, control(&own, HYPTRACE_CMD_UNLOAD, variant->remote));
	EXPECT_EQ(0, control_snapshot(&own, &after));
	EXPECT_EQ(0, nl_join(&own));
}

/* In a child: each request that changes a trace of user @owner is refused. Return 0 if so. */
static int changes_are_refused(struct nl *nl, const char *remote, unsigned int owner)
{
	const struct operation *op;
	uint32_t offsets[ATTRIBUTES_MAX];
	char words[64];

	snprintf(words, sizeof(words), "user %u has started this trace", owner);
	for (op = operations; op < operations + ARRAY_SIZE(operations); op++) {
		switch (op->cmd) {
		case HYPTRACE_CMD_EVENT_SET:
		case HYPTRACE_CMD_LOAD ... HYPTRACE_CMD_SET:
			if (request(nl, op->cmd, op->dump, op->attrs, remote, offsets) != -EPERM ||
			    !strstr(answer.message, words))
				return 100 + op->cmd;
			break;
		case HYPTRACE_CMD_REMOTE_GET:
		case HYPTRACE_CMD_CPU_GET:
		case HYPTRACE_CMD_EVENT_GET:
		case HYPTRACE_CMD_MARK:
			if (request(nl, op->cmd, op->dump, op->attrs, remote, offsets))
				return 100 + op->cmd;
		}
	}
	return 0;
}

/* Run @run in a child that is user nobody with these capabilities. Return its exit code. */
static int as_nobody(const char *remote, uint64_t capabilities,
		     int (*run)(struct nl *nl, const char *remote))
{
	pid_t child = fork();
	int status;

	if (!child) {
		struct nl own;

		_exit(become_nobody_with(capabilities) || nl_open(&own) ? 1 : run(&own, remote));
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int change_trace_of_root(struct nl *nl, const char *remote)
{
	return changes_are_refused(nl, remote, 0);
}

static int start(struct nl *nl, const char *remote)
{
	return control_ready(nl, remote, 8 * PAGE, HYPTRACE_MODE_OVERWRITE) != 0;
}

static int stop(struct nl *nl, const char *remote)
{
	return control(nl, HYPTRACE_CMD_STOP, remote) != 0;
}

/* Of several users with CAP_PERFMON, only the one who has started a trace can change it. */
TEST_F(refuse, changes_of_the_trace_of_another_user)
{
	struct info info;

	ASSERT_EQ(0, start(&self->nl, variant->remote));
	ASSERT_EQ(0, control_snapshot(&self->nl, &before));
	EXPECT_EQ(0, as_nobody(variant->remote, CAPABILITY(CAP_PERFMON), change_trace_of_root));
	ASSERT_EQ(0, control_info(&self->nl, variant->remote, &info));
	EXPECT_EQ(HYPTRACE_STATE_TRACING, info.state);
	EXPECT_EQ(0, as_nobody(variant->remote, CAPABILITY(CAP_SYS_ADMIN), stop));
	EXPECT_EQ(0, as_nobody(variant->remote, CAPABILITY(CAP_SYS_ADMIN), start));
	EXPECT_EQ(0, control(&self->nl, HYPTRACE_CMD_RESET, variant->remote));

	EXPECT_EQ(0, as_nobody(variant->remote, CAPABILITY(CAP_PERFMON), start));
	ASSERT_EQ(0, capabilities_keep(CAPABILITY(CAP_PERFMON) | CAPABILITY(CAP_SETUID) |
				       CAPABILITY(CAP_SETGID)));
	EXPECT_EQ(0, changes_are_refused(&self->nl, variant->remote, NOBODY));
	EXPECT_EQ(0, as_nobody(variant->remote, CAPABILITY(CAP_PERFMON), stop));
}

/* The trace is the user's, but the socket is not. */
TEST_F(refuse, changes_by_a_socket_that_another_user_has_opened)
{
	pid_t child;
	int status;

	EXPECT_EQ(0, as_nobody(variant->remote, CAPABILITY(CAP_PERFMON), start));
	child = fork();
	if (!child)
		_exit(become_nobody_with(CAPABILITY(CAP_PERFMON)) ? 1 :
		      control(&self->nl, HYPTRACE_CMD_STOP, variant->remote) == -EPERM ? 0 : 2);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, as_nobody(variant->remote, CAPABILITY(CAP_PERFMON), stop));
}

/* Attach to the ring of CPU 0 and detach. Return 10 + the state of the remote then. */
static int attach_once(struct nl *nl, const char *remote)
{
	int fd = open_attached(remote, 0, 0);
	struct info info;

	if (fd < 0)
		return 1;
	close(fd);
	return control_info(nl, remote, &info) ? 2 : 10 + (int)info.state;
}

static int load_and_attach_once(struct nl *nl, const char *remote)
{
	return control_load(nl, remote, 8 * PAGE, HYPTRACE_MODE_OVERWRITE) ? 3 :
	       attach_once(nl, remote);
}

/* When the last consumer leaves, empty rings are unloaded only for a user who may unload them. */
TEST_F(refuse, to_unload_empty_rings_of_another_user)
{
	const uint64_t user = CAPABILITY(CAP_PERFMON), admin = CAPABILITY(CAP_SYS_ADMIN);
	const char *remote = variant->remote;

	ASSERT_EQ(0, chmod(DEVICE, 0666));
	EXPECT_EQ(10 + HYPTRACE_STATE_UNLOADED, as_nobody(remote, user, load_and_attach_once));
	ASSERT_EQ(0, control_load(&self->nl, remote, 8 * PAGE, HYPTRACE_MODE_OVERWRITE));
	EXPECT_EQ(10 + HYPTRACE_STATE_LOADED, as_nobody(remote, user, attach_once));
	EXPECT_EQ(10 + HYPTRACE_STATE_UNLOADED, as_nobody(remote, admin, attach_once));
	EXPECT_EQ(0, chmod(DEVICE, 0600));
}

static int hold_event(int fd, uint16_t id, uint32_t flags)
{
	struct hyptrace_hold hold = {
		.size = sizeof(hold), .flags = flags, .nr_events = 1, .events = (uintptr_t)&id,
	};

	return ioctl(fd, HYPTRACE_IOC_HOLD, &hold) ? -errno : 0;
}

/* selftest is enabled, and nothing else. Return 0 if what is on is held, and nothing more. */
static int hold_what_is_on(struct nl *nl, const char *remote)
{
	int selftest = control_event_id(nl, remote, "selftest");
	int other = control_event_id(nl, remote, "hyp_enter");
	int fd = open_attached(remote, 0, 0);
	struct info info;
	bool tracing;

	if (fd < 0 || selftest < 0 || other < 0 || control_info(nl, remote, &info))
		return 1;
	tracing = info.state == HYPTRACE_STATE_TRACING;
	if (hold_event(fd, other, 0) != -EPERM)
		return 2;
	if (hold_event(fd, selftest, HYPTRACE_HOLD_TRACING) != (tracing ? 0 : -EPERM))
		return 3;
	if (hold_event(fd, other, HYPTRACE_HOLD_TRACING) != -EPERM)
		return 4;
	return hold_event(fd, selftest, 0) ? 5 : 0;
}

/* What only another consumer holds is off when it ends, and stays off. */
static int hold_what_is_held(struct nl *nl, const char *remote)
{
	int selftest = control_event_id(nl, remote, "selftest");
	int fd = open_attached(remote, 0, 0);
	struct hyptrace_hold tracing = {
		.size = sizeof(tracing), .flags = HYPTRACE_HOLD_TRACING,
	};

	if (fd < 0 || selftest < 0)
		return 1;
	if (hold_event(fd, selftest, 0) != -EPERM)
		return 2;
	return ioctl(fd, HYPTRACE_IOC_HOLD, &tracing) != -1 || errno != EPERM ? 3 : 0;
}

static int hold_more(struct nl *nl, const char *remote)
{
	int other = control_event_id(nl, remote, "hyp_enter"), fd = open_attached(remote, 0, 0);

	return fd < 0 || other < 0 || hold_event(fd, other, HYPTRACE_HOLD_TRACING);
}

TEST_F(refuse, to_hold_more_than_is_on_in_the_trace_of_another_user)
{
	const uint64_t user = CAPABILITY(CAP_PERFMON), admin = CAPABILITY(CAP_SYS_ADMIN);
	const char *remote = variant->remote;
	int fd;

	ASSERT_EQ(0, chmod(DEVICE, 0666));
	ASSERT_EQ(0, start(&self->nl, remote));
	EXPECT_EQ(0, as_nobody(remote, user, hold_what_is_on));
	/* rings that are empty would be unloaded */
	EXPECT_EQ(0, control_mark(&self->nl, remote, 0, 1, 1));
	EXPECT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, remote));
	EXPECT_EQ(0, as_nobody(remote, user, hold_what_is_on));
	EXPECT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, remote));
	EXPECT_EQ(0, as_nobody(remote, admin, hold_more));
	EXPECT_EQ(0, control(&self->nl, HYPTRACE_CMD_RESET, remote));
	ASSERT_EQ(0, control_load(&self->nl, remote, 8 * PAGE, HYPTRACE_MODE_OVERWRITE));
	fd = open_attached(remote, 1, 0);
	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, hold_event(fd, control_event_id(&self->nl, remote, "selftest"),
				HYPTRACE_HOLD_TRACING));
	EXPECT_EQ(0, as_nobody(remote, user, hold_what_is_held));
	close(fd);
	EXPECT_EQ(0, control(&self->nl, HYPTRACE_CMD_RESET, remote));
	/* without a trace it is the user's own */
	EXPECT_EQ(0, as_nobody(remote, user, hold_more));
	EXPECT_EQ(0, chmod(DEVICE, 0600));
}

#define LIMITED	(8 << 20)

/* The limit is that of perf, 512 KB and a page per CPU, and RLIMIT_MEMLOCK. */
TEST_F(refuse, rings_that_exceed_the_limit_of_the_user)
{
	struct rlimit limit = { 0, 4 * LIMITED };
	unsigned int i;
	struct nl own;

	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	ASSERT_EQ(0, capabilities_keep(CAPABILITY(CAP_PERFMON)));
	ASSERT_EQ(0, nl_open(&own));
	EXPECT_EQ(-EDQUOT, control_load(&own, variant->remote, LIMITED, HYPTRACE_MODE_OVERWRITE));
	EXPECT_NE(NULL, strstr(control_message(), "exceeds your limit of "));
	/* Each load and resize gives back what it has pinned. */
	for (i = 0; i < 8; i++) {
		ASSERT_EQ(0, control_load(&own, variant->remote, 128 << 10,
					  HYPTRACE_MODE_OVERWRITE));
		EXPECT_EQ(-EDQUOT, control_set_size(&own, variant->remote, LIMITED));
		EXPECT_EQ(0, control_set_size(&own, variant->remote, 256 << 10));
		EXPECT_EQ(0, control(&own, HYPTRACE_CMD_UNLOAD, variant->remote));
	}
	ASSERT_EQ(0, control_set_size(&own, variant->remote, LIMITED));
	EXPECT_EQ(-EDQUOT, open_attached(variant->remote, 0, 0));
	limit.rlim_cur = limit.rlim_max;
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	EXPECT_EQ(0, control_load(&own, variant->remote, LIMITED, HYPTRACE_MODE_OVERWRITE));
	EXPECT_EQ(0, control(&own, HYPTRACE_CMD_RESET, variant->remote));
}

TEST_F(refuse, no_limit_with_cap_ipc_lock)
{
	static const struct rlimit none;

	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &none));
	ASSERT_EQ(0, capabilities_keep(CAPABILITY(CAP_PERFMON) | CAPABILITY(CAP_IPC_LOCK)));
	EXPECT_EQ(0, control_load(&self->nl, variant->remote, LIMITED, HYPTRACE_MODE_OVERWRITE));
	EXPECT_EQ(0, control(&self->nl, HYPTRACE_CMD_RESET, variant->remote));
}

/* Return the number of notifications of the family that the socket has. */
static unsigned int notifications(int fd, uint16_t family)
{
	static char message[8192];
	unsigned int nr = 0;

	while (recv(fd, message, sizeof(message), MSG_DONTWAIT) > 0)
		nr += ((struct nlmsghdr *)message)->nlmsg_type == family;
	return nr;
}

/* Without a family, anybody may join the number that its group will have. */
TEST_F(refuse, notifications_of_a_group_that_was_joined_early)
{
	const struct sockaddr_nl address = { .nl_family = AF_NETLINK };
	int fd, group;
	struct nl own;

	nl_close(&self->nl);
	ASSERT_EQ(0, system("rmmod hyptrace_pkvm; rmmod hyptrace_test hyptrace"));
	ASSERT_EQ(0, setegid(NOBODY));
	ASSERT_EQ(0, seteuid(NOBODY));
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	EXPECT_EQ(0, bind(fd, (const void *)&address, sizeof(address)));
	for (group = 1; group < 64; group++)
		setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group));
	ASSERT_EQ(0, seteuid(0));
	ASSERT_EQ(0, setegid(0));
	ASSERT_EQ(0, system("modprobe hyptrace_test && { modprobe -q hyptrace_pkvm || :; }"));
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, nl_open(&own));
	ASSERT_EQ(0, nl_join(&own));
	EXPECT_EQ(0, start(&self->nl, variant->remote));
	EXPECT_LT(0, notifications(own.fd, own.family));
	EXPECT_EQ(0, notifications(fd, own.family));
}

TEST_HARNESS_MAIN
