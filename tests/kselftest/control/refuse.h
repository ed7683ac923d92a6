/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests that the kernel must refuse. Each is described by its attributes, good and
 * bad, and by the attribute that the answer must point at. A refused request must not
 * change anything. Include it after remotes.h, in a program with the fixture "refuse".
 */
#ifndef __REFUSE_H
#define __REFUSE_H

#include <errno.h>
#include <string.h>

#include "page.h"

#define UNUSED	__attribute__((unused))

#define A_REMOTE	HYPTRACE_A_CONTROL_REMOTE	/* the same number in each set */
#define NO_CPU		4711

static struct nl_answer answer;
static struct nl_msg msg;
static struct snapshot before, after;

/* Type of the data of an attribute */
enum kind { END, REMOTE, STRING, U8, U32, U64, BYTES };

struct attribute {
	enum kind	kind;
	uint16_t	type;
	uint64_t	number;	/* the value; for BYTES the length: all bytes are 0x41 */
	const char	*text;
};

#define REMOTE_ATTR		{ REMOTE, A_REMOTE }
#define STRING_ATTR(type, text)	{ STRING, type, 0, text }
#define U8_ATTR(type, number)	{ U8, type, number }
#define U32_ATTR(type, number)	{ U32, type, number }
#define U64_ATTR(type, number)	{ U64, type, number }
#define BYTES_ATTR(type, len)	{ BYTES, type, len }

#define ATTRIBUTES_MAX	6

static UNUSED void put(const struct attribute *attr, const char *remote)
{
	static const char bytes[128] = { [0 ... 127] = 'A' };

	switch (attr->kind) {
	case END:
		break;
	case REMOTE:
		nl_put_str(&msg, attr->type, remote);
		break;
	case STRING:
		nl_put_str(&msg, attr->type, attr->text);
		break;
	case U8:
		nl_put_u8(&msg, attr->type, attr->number);
		break;
	case U32:
		nl_put_u32(&msg, attr->type, attr->number);
		break;
	case U64:
		nl_put_u64(&msg, attr->type, attr->number);
		break;
	case BYTES:
		nl_put(&msg, attr->type, bytes, attr->number);
		break;
	}
}

static UNUSED int request(struct nl *nl, uint8_t cmd, bool dump,
			  const struct attribute *attrs, const char *remote,
			  uint32_t *offsets)
{
	unsigned int i;

	nl_begin(&msg, nl, cmd);
	for (i = 0; i < ATTRIBUTES_MAX && attrs[i].kind != END; i++) {
		offsets[i] = msg.hdr.nlmsg_len;
		put(&attrs[i], remote);
	}
	return dump ? nl_dump(nl, &msg, &answer) : nl_do(nl, &msg, &answer);
}

#define NO_ATTRIBUTE	(-1)

/**
 * struct refusal - a request that the kernel must refuse
 * @what:	description for the test's output
 * @cmd:	operation
 * @dump:	the request asks for a dump
 * @error:	expected errno
 * @blamed:	index of the wrong attribute, or NO_ATTRIBUTE
 * @missing:	type of the missing attribute, 0 if none
 * @word:	text in the message; NULL if the netlink core refuses without a message
 * @attrs:	attributes of the request
 */
struct refusal {
	const char		*what;
	uint8_t			cmd;
	bool			dump;
	int			error;
	int			blamed;
	uint32_t		missing;
	const char		*word;
	struct attribute	attrs[ATTRIBUTES_MAX];
};

static UNUSED void expect_refused(struct __test_metadata *_metadata, struct nl *nl,
				  const char *remote, const struct refusal *refusal)
{
	uint32_t offsets[ATTRIBUTES_MAX] = { };
	int err;

	ASSERT_EQ(0, control_snapshot(nl, &before));
	err = request(nl, refusal->cmd, refusal->dump, refusal->attrs, remote, offsets);
	EXPECT_EQ(-refusal->error, err) TH_LOG("%s: \"%s\"", refusal->what, answer.message);
	if (refusal->word) {
		EXPECT_NE(NULL, strstr(answer.message, refusal->word))
			TH_LOG("%s: \"%s\" does not say \"%s\"", refusal->what, answer.message,
			       refusal->word);
	}
	EXPECT_EQ(refusal->missing, answer.missing) TH_LOG("%s", refusal->what);
	EXPECT_EQ(refusal->blamed == NO_ATTRIBUTE ? 0 : offsets[refusal->blamed], answer.offset)
		TH_LOG("%s", refusal->what);
	ASSERT_EQ(0, control_snapshot(nl, &after));
	EXPECT_TRUE(snapshot_equal(&before, &after)) TH_LOG("%s: refused, but changed the state",
							    refusal->what);
}

#define EXPECT_REFUSED(refusals)						\
	for (unsigned int __i = 0; __i < ARRAY_SIZE(refusals); __i++)		\
		expect_refused(_metadata, &self->nl, variant->remote, &(refusals)[__i])

/* All operations, each with the attributes of a complete request */
static const UNUSED struct operation {
	const char		*name;
	uint8_t			cmd;
	bool			dump;
	uint16_t		max;	/* largest attribute type that it knows */
	const char		*remote;/* name of the attribute with the remote's name */
	struct attribute	attrs[ATTRIBUTES_MAX];
} operations[] = {
	{ "remote-get", HYPTRACE_CMD_REMOTE_GET, false, HYPTRACE_A_REMOTE_NAME, "name",
	  { REMOTE_ATTR } },
	{ "cpu-get", HYPTRACE_CMD_CPU_GET, false, HYPTRACE_A_CPU_ID, "remote",
	  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CPU_ID, 0) } },
	{ "event-get", HYPTRACE_CMD_EVENT_GET, false, HYPTRACE_A_EVENT_NAME, "remote",
	  { REMOTE_ATTR, STRING_ATTR(HYPTRACE_A_EVENT_NAME, "selftest") } },
	{ "event-set", HYPTRACE_CMD_EVENT_SET, false, HYPTRACE_A_EVENT_HOLD, "remote",
	  { REMOTE_ATTR, STRING_ATTR(HYPTRACE_A_EVENT_NAMES, "selftest"),
	    U8_ATTR(HYPTRACE_A_EVENT_ENABLED, 1) } },
	{ "load", HYPTRACE_CMD_LOAD, false, HYPTRACE_A_CONTROL_MODE, "remote",
	  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_SIZE, 8192),
	    U32_ATTR(HYPTRACE_A_CONTROL_MODE, HYPTRACE_MODE_DISCARD) } },
	{ "unload", HYPTRACE_CMD_UNLOAD, false, A_REMOTE, "remote", { REMOTE_ATTR } },
	{ "start", HYPTRACE_CMD_START, false, A_REMOTE, "remote", { REMOTE_ATTR } },
	{ "stop", HYPTRACE_CMD_STOP, false, A_REMOTE, "remote", { REMOTE_ATTR } },
	{ "clear", HYPTRACE_CMD_CLEAR, false, HYPTRACE_A_CONTROL_CPU, "remote",
	  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CONTROL_CPU, 0) } },
	{ "reset", HYPTRACE_CMD_RESET, false, A_REMOTE, "remote", { REMOTE_ATTR } },
	{ "set", HYPTRACE_CMD_SET, false, HYPTRACE_A_CONTROL_RATE, "remote",
	  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_SIZE, 8192),
	    U32_ATTR(HYPTRACE_A_CONTROL_MODE, HYPTRACE_MODE_DISCARD),
	    U32_ATTR(HYPTRACE_A_CONTROL_RATE, 0) } },
	{ "mark", HYPTRACE_CMD_MARK, false, HYPTRACE_A_CONTROL_COUNT, "remote",
	  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_VALUE, 7),
	    U32_ATTR(HYPTRACE_A_CONTROL_COUNT, 1), U32_ATTR(HYPTRACE_A_CONTROL_CPU, 0) } },
	{ "count-set", HYPTRACE_CMD_COUNT_SET, false, HYPTRACE_A_EVENT_NAMES, "remote",
	  { REMOTE_ATTR, STRING_ATTR(HYPTRACE_A_EVENT_NAMES, "host_hcall"),
	    U8_ATTR(HYPTRACE_A_EVENT_ENABLED, 1) } },
	{ "count-reset", HYPTRACE_CMD_COUNT_RESET, false, HYPTRACE_A_CONTROL_CPU, "remote",
	  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CONTROL_CPU, 0) } },
	{ "count-get dump", HYPTRACE_CMD_COUNT_GET, true, HYPTRACE_A_COUNTER_CPU, NULL,
	  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_COUNTER_CPU, 0) } },
	{ "page-get", HYPTRACE_CMD_PAGE_GET, false, HYPTRACE_A_PAGE_COUNT, "remote",
	  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_PAGE_PFN, 0x40000),
	    U32_ATTR(HYPTRACE_A_PAGE_COUNT, 1) } },
	{ "visit-get", HYPTRACE_CMD_VISIT_GET, false, HYPTRACE_A_VISIT_COUNT, "remote",
	  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_VISIT_COUNT, 1) } },
	{ "event-release", HYPTRACE_CMD_EVENT_RELEASE, false, A_REMOTE, "remote", { REMOTE_ATTR } },
	{ "cpu-get dump", HYPTRACE_CMD_CPU_GET, true, A_REMOTE, NULL, { REMOTE_ATTR } },
	{ "event-get dump", HYPTRACE_CMD_EVENT_GET, true, A_REMOTE, NULL, { REMOTE_ATTR } },
	{ "hypercall-get dump", HYPTRACE_CMD_HYPERCALL_GET, true, A_REMOTE, NULL, { REMOTE_ATTR } },
	{ "remote-get dump", HYPTRACE_CMD_REMOTE_GET, true, 0, NULL, { } },
};

/* Make a request with all attributes of the operation, and @extra at the end. */
static UNUSED struct refusal with_extra(const struct operation *op, struct attribute extra)
{
	struct refusal refusal = {
		.what = op->name, .cmd = op->cmd, .dump = op->dump, .error = EINVAL,
	};
	int i;

	for (i = 0; op->attrs[i].kind != END; i++)
		refusal.attrs[i] = op->attrs[i];
	refusal.attrs[i] = extra;
	refusal.blamed = i;
	return refusal;
}

/* Make a request of the operation with @attr in place of its attribute @index. */
static UNUSED struct refusal with_replaced(const struct operation *op, int index,
					   struct attribute attr, int error)
{
	struct refusal refusal = {
		.what = op->name, .cmd = op->cmd, .dump = op->dump, .error = error,
		.blamed = index,
	};

	memcpy(refusal.attrs, op->attrs, sizeof(refusal.attrs));
	refusal.attrs[index] = attr;
	return refusal;
}

#endif /* __REFUSE_H */
