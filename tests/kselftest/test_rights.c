// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which capabilities the netlink family needs.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>

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

TEST_HARNESS_MAIN
