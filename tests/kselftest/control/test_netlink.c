// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that the netlink family refuses for every operation. Each test checks the errno,
 * the message, the attribute that the answer points at, and that nothing has changed.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#include "kselftest_harness.h"
#include "privilege.h"
#include "remotes.h"
#include "refuse.h"

/* driver/netlink/request.c */
#define MAX_KEPT	64

REMOTE_FIXTURE(refuse);

TEST_F(refuse, request_without_a_remote)
{
	const struct operation *op;

	for (op = operations; op < operations + ARRAY_SIZE(operations); op++) {
		struct refusal refusal = {
			.what = op->name, .cmd = op->cmd, .error = EINVAL,
			.blamed = NO_ATTRIBUTE, .missing = A_REMOTE, .word = op->remote,
		};

		if (op->dump)
			continue;
		expect_refused(_metadata, &self->nl, variant->remote, &refusal);
		/* with all other attributes */
		memcpy(refusal.attrs, op->attrs + 1, sizeof(refusal.attrs) - sizeof(op->attrs[0]));
		expect_refused(_metadata, &self->nl, variant->remote, &refusal);
	}
}

TEST_F(refuse, unknown_remote)
{
	const struct operation *op;

	for (op = operations; op < operations + ARRAY_SIZE(operations); op++) {
		struct refusal refusal = with_replaced(op, 0, (struct attribute)
				STRING_ATTR(A_REMOTE, "no-such"), ENODEV);

		if (!op->max)
			continue;
		refusal.word = "\"no-such\"";
		expect_refused(_metadata, &self->nl, variant->remote, &refusal);
		/* The message also lists the registered remotes. */
		refusal.word = variant->remote;
		expect_refused(_metadata, &self->nl, variant->remote, &refusal);
		refusal.attrs[0].text = "";
		expect_refused(_metadata, &self->nl, variant->remote, &refusal);
	}
}

TEST_F(refuse, remote_name_without_terminator)
{
	/* A name has 31 characters and a NUL at most. None of these has a NUL. */
	static const unsigned int lengths[] = { 0, 1, 4, 31, 32, 33, 100 };
	const struct operation *op;
	unsigned int i;

	for (op = operations; op < operations + ARRAY_SIZE(operations); op++) {
		for (i = 0; op->max && i < ARRAY_SIZE(lengths); i++) {
			struct refusal refusal = with_replaced(op, 0, (struct attribute)
					BYTES_ATTR(A_REMOTE, lengths[i]), EINVAL);

			refusal.word = "";
			expect_refused(_metadata, &self->nl, variant->remote, &refusal);
		}
	}
}

TEST_F(refuse, remote_name_longer_than_31_characters)
{
	static const char *const names[] = {
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	};
	struct refusal refusals[] = {
		{ "31 characters", HYPTRACE_CMD_REMOTE_GET, false, ENODEV, 0, 0, names[0],
		  { STRING_ATTR(A_REMOTE, names[0]) } },
		{ "32 characters", HYPTRACE_CMD_REMOTE_GET, false, EINVAL, 0, 0, "",
		  { STRING_ATTR(A_REMOTE, names[1]) } },
	};

	EXPECT_REFUSED(refusals);
}

TEST_F(refuse, unknown_attributes)
{
	static const uint16_t beyond[] = { 1, 2, 100, 1000 };
	const struct operation *op;
	unsigned int i;

	for (op = operations; op < operations + ARRAY_SIZE(operations); op++) {
		for (i = 0; i < ARRAY_SIZE(beyond); i++) {
			struct refusal refusal = with_extra(op, (struct attribute)
					U32_ATTR(op->max + beyond[i], 1));

			refusal.word = " ";
			expect_refused(_metadata, &self->nl, variant->remote, &refusal);
		}
	}
}

/* The attributes belong to the same set, but not to the operation. */
TEST_F(refuse, attributes_of_other_operations)
{
	static const struct refusal refusals[] = {
		{ "load with value", HYPTRACE_CMD_LOAD, false, EINVAL, 1, 0, "",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_VALUE, 1) } },
		{ "load with cpu", HYPTRACE_CMD_LOAD, false, EINVAL, 1, 0, "",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CONTROL_CPU, 1) } },
		{ "mark with size", HYPTRACE_CMD_MARK, false, EINVAL, 1, 0, "",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_SIZE, 1),
		    U64_ATTR(HYPTRACE_A_CONTROL_VALUE, 1) } },
		{ "set with value", HYPTRACE_CMD_SET, false, EINVAL, 1, 0, "",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_VALUE, 1) } },
		{ "event-set with name", HYPTRACE_CMD_EVENT_SET, false, EINVAL, 1, 0, "",
		  { REMOTE_ATTR, STRING_ATTR(HYPTRACE_A_EVENT_NAME, "selftest"),
		    U8_ATTR(HYPTRACE_A_EVENT_ENABLED, 1) } },
		{ "event-get with id", HYPTRACE_CMD_EVENT_GET, false, EINVAL, 1, 0, "",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_EVENT_ID, 1) } },
	};

	EXPECT_REFUSED(refusals);
}

TEST_F(refuse, attributes_of_wrong_length)
{
	static const unsigned int lengths[] = { 0, 1, 2, 3, 4, 5, 7, 8, 9, 16 };
	const struct operation *op;
	unsigned int i, j, size;

	for (op = operations; op < operations + ARRAY_SIZE(operations); op++) {
		for (i = 0; i < ATTRIBUTES_MAX; i++) {
			switch (op->attrs[i].kind) {
			case U8:
				size = 1;
				break;
			case U32:
				size = 4;
				break;
			case U64:
				size = 8;
				break;
			default:
				continue;
			}
			for (j = 0; j < ARRAY_SIZE(lengths); j++) {
				struct refusal refusal = with_replaced(op, i, (struct attribute)
					BYTES_ATTR(op->attrs[i].type, lengths[j]), EINVAL);

				if (lengths[j] == size)
					continue;
				refusal.word = "";
				expect_refused(_metadata, &self->nl, variant->remote, &refusal);
			}
		}
	}
}

/* First an attribute that is longer than the message, then stray bytes after the attributes. */
TEST_F(refuse, malformed_messages)
{
	const struct operation *op;
	struct nlattr *attr;
	int err;

	ASSERT_EQ(0, control_snapshot(&self->nl, &before));
	for (op = operations; op < operations + ARRAY_SIZE(operations); op++) {
		if (!op->max)
			continue;
		nl_begin(&msg, &self->nl, op->cmd);
		put(&op->attrs[0], variant->remote);
		attr = (void *)(msg.bytes + NLMSG_LENGTH(4));
		attr->nla_len += 100;
		err = op->dump ? nl_dump(&self->nl, &msg, &answer) :
				 nl_do(&self->nl, &msg, &answer);
		EXPECT_EQ(-EINVAL, err) TH_LOG("%s", op->name);

		nl_begin(&msg, &self->nl, op->cmd);
		put(&op->attrs[0], variant->remote);
		memset(msg.bytes + msg.hdr.nlmsg_len, 0x55, 4);
		msg.hdr.nlmsg_len += 3;
		err = op->dump ? nl_dump(&self->nl, &msg, &answer) :
				 nl_do(&self->nl, &msg, &answer);
		EXPECT_EQ(-EINVAL, err) TH_LOG("%s", op->name);
	}
	ASSERT_EQ(0, control_snapshot(&self->nl, &after));
	EXPECT_TRUE(snapshot_equal(&before, &after));
}

/* Each request of a system call takes memory until the call returns. */
TEST_F(refuse, too_many_requests_in_one_system_call)
{
	static char requests[NL_MSG_SIZE], received[NL_MSG_SIZE];
	unsigned int i, nr = 0, nr_done = 0, nr_refused = 0;
	const struct nlmsghdr *hdr;
	size_t size = 0;
	ssize_t len;

	for (i = 0; i < MAX_KEPT + 2; i++) {
		nl_begin(&msg, &self->nl, HYPTRACE_CMD_REMOTE_GET);
		nl_put_str(&msg, HYPTRACE_A_REMOTE_NAME, variant->remote);
		msg.hdr.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
		msg.hdr.nlmsg_seq = i;
		memcpy(requests + size, &msg, msg.hdr.nlmsg_len);
		size += NLMSG_ALIGN(msg.hdr.nlmsg_len);
	}
	ASSERT_EQ(size, send(self->nl.fd, requests, size, 0));
	while (nr < MAX_KEPT + 2) {
		len = recv(self->nl.fd, received, sizeof(received), 0);
		ASSERT_LT(0, len);
		for (hdr = (void *)received; NLMSG_OK(hdr, len); hdr = NLMSG_NEXT(hdr, len)) {
			const struct nlmsgerr *err = NLMSG_DATA(hdr);

			if (hdr->nlmsg_type != NLMSG_ERROR)
				continue;
			nr++;
			nr_done += !err->error;
			nr_refused += err->error == -ENOBUFS;
		}
	}
	EXPECT_EQ(MAX_KEPT, nr_done);
	EXPECT_EQ(2, nr_refused);
	/* The next one may have as many. */
	nl_begin(&msg, &self->nl, HYPTRACE_CMD_REMOTE_GET);
	nl_put_str(&msg, HYPTRACE_A_REMOTE_NAME, variant->remote);
	EXPECT_EQ(0, nl_do(&self->nl, &msg, &answer));
}

TEST_F(refuse, unknown_operations)
{
	static const uint8_t cmds[] = {
		0, HYPTRACE_CMD_REMOTE_NTF, HYPTRACE_CMD_REMOTE_DEL_NTF, HYPTRACE_CMD_EVENT_NTF,
		HYPTRACE_CMD_READER_NTF, HYPTRACE_CMD_LOSS_NTF, HYPTRACE_CMD_MAX + 1, 255,
	};
	static const uint8_t no_dump[] = {
		HYPTRACE_CMD_EVENT_SET, HYPTRACE_CMD_LOAD, HYPTRACE_CMD_UNLOAD,
		HYPTRACE_CMD_START, HYPTRACE_CMD_STOP, HYPTRACE_CMD_CLEAR, HYPTRACE_CMD_RESET,
		HYPTRACE_CMD_SET, HYPTRACE_CMD_MARK, HYPTRACE_CMD_COUNT_SET,
		HYPTRACE_CMD_COUNT_RESET, HYPTRACE_CMD_PAGE_GET, HYPTRACE_CMD_VISIT_GET,
		HYPTRACE_CMD_EVENT_RELEASE,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cmds); i++) {
		struct refusal refusal = {
			"unknown operation", cmds[i], false, EOPNOTSUPP, NO_ATTRIBUTE, 0, NULL,
			{ REMOTE_ATTR },
		};

		expect_refused(_metadata, &self->nl, variant->remote, &refusal);
		refusal.dump = true;
		expect_refused(_metadata, &self->nl, variant->remote, &refusal);
	}
	for (i = 0; i < ARRAY_SIZE(no_dump); i++) {
		struct refusal refusal = {
			"without dump", no_dump[i], true, EOPNOTSUPP, NO_ATTRIBUTE, 0, NULL,
			{ REMOTE_ATTR },
		};

		expect_refused(_metadata, &self->nl, variant->remote, &refusal);
	}
}

TEST_HARNESS_MAIN
