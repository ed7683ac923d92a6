// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the netlink family refuses: each operation, with the errno, the message,
 * the attribute that it blames, and that nothing has changed.
 */
#include <errno.h>
#include <fcntl.h>

#include "kselftest_harness.h"
#include "privilege.h"
#include "remotes.h"

#define A_REMOTE	HYPTRACE_A_CONTROL_REMOTE	/* in each set of attributes */
#define NO_CPU		4711
#define PAGE		4096UL

REMOTE_FIXTURE(refuse);

static struct nl_answer answer;
static struct nl_msg msg;
static struct snapshot before, after;

/* Which bytes an attribute has */
enum kind { END, REMOTE, STRING, U8, U32, U64, BYTES };

struct attribute {
	enum kind	kind;
	uint16_t	type;
	uint64_t	number;	/* or how many bytes, all 0x41 */
	const char	*text;
};

#define REMOTE_ATTR		{ REMOTE, A_REMOTE }
#define STRING_ATTR(type, text)	{ STRING, type, 0, text }
#define U8_ATTR(type, number)	{ U8, type, number }
#define U32_ATTR(type, number)	{ U32, type, number }
#define U64_ATTR(type, number)	{ U64, type, number }
#define BYTES_ATTR(type, len)	{ BYTES, type, len }

#define ATTRIBUTES_MAX	6

static void put(const struct attribute *attr, const char *remote)
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

static int request(struct nl *nl, uint8_t cmd, bool dump, const struct attribute *attrs,
		   const char *remote, uint32_t *offsets)
{
	unsigned int i;

	nl_begin(&msg, nl, cmd);
	for (i = 0; i < ATTRIBUTES_MAX && attrs[i].kind != END; i++) {
		offsets[i] = msg.hdr.nlmsg_len;
		put(&attrs[i], remote);
	}
	return dump ? nl_dump(nl, &msg, &answer) : nl_do(nl, &msg, &answer);
}

#define NOBODY_TO_BLAME	(-1)

/**
 * struct refusal - a request that is refused
 * @what:	about it
 * @cmd:	operation
 * @dump:	as a dump
 * @error:	errno
 * @blamed:	index of the attribute at fault, or NOBODY_TO_BLAME
 * @missing:	type of the attribute that is missing, 0 if none
 * @word:	which the message has; NULL if the kernel's core may be silent
 * @attrs:	of the request
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

static void expect_refused(struct __test_metadata *_metadata, struct nl *nl, const char *remote,
			   const struct refusal *refusal)
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
	if (refusal->blamed != NOBODY_TO_BLAME) {
		EXPECT_EQ(offsets[refusal->blamed], answer.offset) TH_LOG("%s", refusal->what);
	} else {
		EXPECT_EQ(0, answer.offset) TH_LOG("%s", refusal->what);
	}
	ASSERT_EQ(0, control_snapshot(nl, &after));
	EXPECT_TRUE(snapshot_equal(&before, &after)) TH_LOG("%s has changed something",
							    refusal->what);
}

#define EXPECT_REFUSED(refusals)						\
	for (unsigned int __i = 0; __i < ARRAY_SIZE(refusals); __i++)		\
		expect_refused(_metadata, &self->nl, variant->remote, &(refusals)[__i])

/* All operations with what makes them complete */
static const struct operation {
	const char		*name;
	uint8_t			cmd;
	bool			dump;
	uint16_t		max;	/* attribute type */
	const char		*remote;/* name of the attribute with the remote's name */
	struct attribute	attrs[ATTRIBUTES_MAX];
} operations[] = {
	{ "remote-get", HYPTRACE_CMD_REMOTE_GET, false, HYPTRACE_A_REMOTE_NAME, "name",
	  { REMOTE_ATTR } },
	{ "cpu-get", HYPTRACE_CMD_CPU_GET, false, HYPTRACE_A_CPU_ID, "remote",
	  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CPU_ID, 0) } },
	{ "event-get", HYPTRACE_CMD_EVENT_GET, false, HYPTRACE_A_EVENT_NAME, "remote",
	  { REMOTE_ATTR, STRING_ATTR(HYPTRACE_A_EVENT_NAME, "selftest") } },
	{ "event-set", HYPTRACE_CMD_EVENT_SET, false, HYPTRACE_A_EVENT_NAMES, "remote",
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
	{ "cpu-get dump", HYPTRACE_CMD_CPU_GET, true, A_REMOTE, NULL, { REMOTE_ATTR } },
	{ "event-get dump", HYPTRACE_CMD_EVENT_GET, true, A_REMOTE, NULL, { REMOTE_ATTR } },
	{ "remote-get dump", HYPTRACE_CMD_REMOTE_GET, true, 0, NULL, { } },
};

/* The operation's own attributes, and one more behind them */
static struct refusal with_surplus(const struct operation *op, struct attribute surplus)
{
	struct refusal refusal = {
		.what = op->name, .cmd = op->cmd, .dump = op->dump, .error = EINVAL,
	};
	int i;

	for (i = 0; op->attrs[i].kind != END; i++)
		refusal.attrs[i] = op->attrs[i];
	refusal.attrs[i] = surplus;
	refusal.blamed = i;
	return refusal;
}

/* The operation, with that instead of its attribute number @index */
static struct refusal with_instead(const struct operation *op, int index,
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

TEST_F(refuse, missing_remote)
{
	const struct operation *op;

	for (op = operations; op < operations + ARRAY_SIZE(operations); op++) {
		struct refusal refusal = {
			.what = op->name, .cmd = op->cmd, .error = EINVAL,
			.blamed = NOBODY_TO_BLAME, .missing = A_REMOTE, .word = op->remote,
		};

		if (op->dump)
			continue;
		expect_refused(_metadata, &self->nl, variant->remote, &refusal);
		/* the other attributes alone */
		memcpy(refusal.attrs, op->attrs + 1, sizeof(refusal.attrs) - sizeof(op->attrs[0]));
		expect_refused(_metadata, &self->nl, variant->remote, &refusal);
	}
}

TEST_F(refuse, unknown_remote)
{
	const struct operation *op;

	for (op = operations; op < operations + ARRAY_SIZE(operations); op++) {
		struct refusal refusal = with_instead(op, 0, (struct attribute)
				STRING_ATTR(A_REMOTE, "no-such"), ENODEV);

		if (!op->max)
			continue;
		refusal.word = "\"no-such\"";
		expect_refused(_metadata, &self->nl, variant->remote, &refusal);
		/* and it says which there are */
		refusal.word = variant->remote;
		expect_refused(_metadata, &self->nl, variant->remote, &refusal);
		refusal.attrs[0].text = "";
		expect_refused(_metadata, &self->nl, variant->remote, &refusal);
	}
}

TEST_F(refuse, malformed_remote)
{
	/* the longest is 31 characters: one of 31 bytes has no NUL, one of 32 neither */
	static const unsigned int lengths[] = { 0, 1, 4, 31, 32, 33, 100 };
	const struct operation *op;
	unsigned int i;

	for (op = operations; op < operations + ARRAY_SIZE(operations); op++) {
		for (i = 0; op->max && i < ARRAY_SIZE(lengths); i++) {
			struct refusal refusal = with_instead(op, 0, (struct attribute)
					BYTES_ATTR(A_REMOTE, lengths[i]), EINVAL);

			refusal.word = "";
			expect_refused(_metadata, &self->nl, variant->remote, &refusal);
		}
	}
}

TEST_F(refuse, longest_remote_name)
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
			struct refusal refusal = with_surplus(op, (struct attribute)
					U32_ATTR(op->max + beyond[i], 1));

			refusal.word = " ";
			expect_refused(_metadata, &self->nl, variant->remote, &refusal);
		}
	}
}

/* Of the same set, but of other operations */
TEST_F(refuse, attributes_of_others)
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

TEST_F(refuse, wrong_length)
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
				struct refusal refusal = with_instead(op, i, (struct attribute)
					BYTES_ATTR(op->attrs[i].type, lengths[j]), EINVAL);

				if (lengths[j] == size)
					continue;
				refusal.word = "";
				expect_refused(_metadata, &self->nl, variant->remote, &refusal);
			}
		}
	}
}

/* An attribute that says it is longer than the message, and stray bytes behind. */
TEST_F(refuse, broken_messages)
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

TEST_F(refuse, unknown_operations)
{
	static const uint8_t cmds[] = {
		0, HYPTRACE_CMD_REMOTE_NTF, HYPTRACE_CMD_REMOTE_DEL_NTF, HYPTRACE_CMD_EVENT_NTF,
		HYPTRACE_CMD_READER_NTF, HYPTRACE_CMD_LOSS_NTF, HYPTRACE_CMD_MAX + 1, 255,
	};
	static const uint8_t no_dump[] = {
		HYPTRACE_CMD_EVENT_SET, HYPTRACE_CMD_LOAD, HYPTRACE_CMD_UNLOAD,
		HYPTRACE_CMD_START, HYPTRACE_CMD_STOP, HYPTRACE_CMD_CLEAR, HYPTRACE_CMD_RESET,
		HYPTRACE_CMD_SET, HYPTRACE_CMD_MARK,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cmds); i++) {
		struct refusal refusal = {
			"no operation", cmds[i], false, EOPNOTSUPP, NOBODY_TO_BLAME, 0, NULL,
			{ REMOTE_ATTR },
		};

		expect_refused(_metadata, &self->nl, variant->remote, &refusal);
		refusal.dump = true;
		expect_refused(_metadata, &self->nl, variant->remote, &refusal);
	}
	for (i = 0; i < ARRAY_SIZE(no_dump); i++) {
		struct refusal refusal = {
			"no dump", no_dump[i], true, EOPNOTSUPP, NOBODY_TO_BLAME, 0, NULL,
			{ REMOTE_ATTR },
		};

		expect_refused(_metadata, &self->nl, variant->remote, &refusal);
	}
}

TEST_F(refuse, cpu_get)
{
	static const struct refusal refusals[] = {
		{ "no id", HYPTRACE_CMD_CPU_GET, false, EINVAL, NOBODY_TO_BLAME,
		  HYPTRACE_A_CPU_ID, "\"id\"", { REMOTE_ATTR } },
		{ "no such CPU", HYPTRACE_CMD_CPU_GET, false, ENXIO, 1, 0, "4711",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CPU_ID, NO_CPU) } },
		{ "the largest CPU", HYPTRACE_CMD_CPU_GET, false, ENXIO, 1, 0, "4294967295",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CPU_ID, UINT32_MAX) } },
		{ "dump with id", HYPTRACE_CMD_CPU_GET, true, EINVAL, 1, 0, "",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CPU_ID, 0) } },
	};

	EXPECT_REFUSED(refusals);
}

TEST_F(refuse, event_get)
{
	static const struct refusal refusals[] = {
		{ "no name", HYPTRACE_CMD_EVENT_GET, false, EINVAL, NOBODY_TO_BLAME,
		  HYPTRACE_A_EVENT_NAME, "\"name\"", { REMOTE_ATTR } },
		{ "no such event", HYPTRACE_CMD_EVENT_GET, false, ENOENT, 1, 0, "\"no_such\"",
		  { REMOTE_ATTR, STRING_ATTR(HYPTRACE_A_EVENT_NAME, "no_such") } },
		{ "empty", HYPTRACE_CMD_EVENT_GET, false, ENOENT, 1, 0, "\"\"",
		  { REMOTE_ATTR, STRING_ATTR(HYPTRACE_A_EVENT_NAME, "") } },
		{ "beginning of a name", HYPTRACE_CMD_EVENT_GET, false, ENOENT, 1, 0, "\"selftes\"",
		  { REMOTE_ATTR, STRING_ATTR(HYPTRACE_A_EVENT_NAME, "selftes") } },
		{ "glob", HYPTRACE_CMD_EVENT_GET, false, ENOENT, 1, 0, "\"*\"",
		  { REMOTE_ATTR, STRING_ATTR(HYPTRACE_A_EVENT_NAME, "*") } },
		{ "not terminated", HYPTRACE_CMD_EVENT_GET, false, EINVAL, 1, 0, "",
		  { REMOTE_ATTR, BYTES_ATTR(HYPTRACE_A_EVENT_NAME, 8) } },
		{ "too long", HYPTRACE_CMD_EVENT_GET, false, EINVAL, 1, 0, "",
		  { REMOTE_ATTR, BYTES_ATTR(HYPTRACE_A_EVENT_NAME, 65) } },
	};

	EXPECT_REFUSED(refusals);
}

TEST_F(refuse, event_set)
{
	static const struct refusal refusals[] = {
		{ "no names", HYPTRACE_CMD_EVENT_SET, false, EINVAL, NOBODY_TO_BLAME,
		  HYPTRACE_A_EVENT_NAMES, "\"names\"",
		  { REMOTE_ATTR, U8_ATTR(HYPTRACE_A_EVENT_ENABLED, 1) } },
		{ "no enabled", HYPTRACE_CMD_EVENT_SET, false, EINVAL, NOBODY_TO_BLAME,
		  HYPTRACE_A_EVENT_ENABLED, "\"enabled\"",
		  { REMOTE_ATTR, STRING_ATTR(HYPTRACE_A_EVENT_NAMES, "selftest") } },
		{ "enabled 2", HYPTRACE_CMD_EVENT_SET, false, ERANGE, 2, 0, "",
		  { REMOTE_ATTR, STRING_ATTR(HYPTRACE_A_EVENT_NAMES, "selftest"),
		    U8_ATTR(HYPTRACE_A_EVENT_ENABLED, 2) } },
		{ "a bad name among good ones", HYPTRACE_CMD_EVENT_SET, false, ENOENT, 2, 0,
		  "\"no_such\"",
		  { REMOTE_ATTR, STRING_ATTR(HYPTRACE_A_EVENT_NAMES, "selftest"),
		    STRING_ATTR(HYPTRACE_A_EVENT_NAMES, "no_such"),
		    STRING_ATTR(HYPTRACE_A_EVENT_NAMES, "hyp_enter"),
		    U8_ATTR(HYPTRACE_A_EVENT_ENABLED, 1) } },
		{ "a bad name at the end", HYPTRACE_CMD_EVENT_SET, false, ENOENT, 4, 0,
		  "\"no_such\"",
		  { REMOTE_ATTR, U8_ATTR(HYPTRACE_A_EVENT_ENABLED, 1),
		    STRING_ATTR(HYPTRACE_A_EVENT_NAMES, "selftest"),
		    STRING_ATTR(HYPTRACE_A_EVENT_NAMES, "hyp_enter"),
		    STRING_ATTR(HYPTRACE_A_EVENT_NAMES, "no_such") } },
		{ "one not terminated among good ones", HYPTRACE_CMD_EVENT_SET, false, EINVAL, 2, 0,
		  "", { REMOTE_ATTR, STRING_ATTR(HYPTRACE_A_EVENT_NAMES, "selftest"),
		    BYTES_ATTR(HYPTRACE_A_EVENT_NAMES, 8), U8_ATTR(HYPTRACE_A_EVENT_ENABLED, 1) } },
	};

	EXPECT_REFUSED(refusals);
	/* the other way round: all are on, and stay on */
	ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "selftest", true));
	ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "hyp_enter", true));
	for (unsigned int i = 0; i < ARRAY_SIZE(refusals); i++) {
		struct refusal refusal = refusals[i];

		for (unsigned int j = 0; j < ATTRIBUTES_MAX; j++) {
			if (refusal.attrs[j].kind == U8 && refusal.attrs[j].number == 1)
				refusal.attrs[j].number = 0;
		}
		expect_refused(_metadata, &self->nl, variant->remote, &refusal);
	}
}

TEST_F(refuse, too_many_names)
{
	unsigned int i;
	uint32_t last = 0;

	ASSERT_EQ(0, control_snapshot(&self->nl, &before));
	nl_begin(&msg, &self->nl, HYPTRACE_CMD_EVENT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, variant->remote);
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, 1);
	for (i = 0; i < HYPTRACE_EVENT_LIST_MAX + 1; i++) {
		last = msg.hdr.nlmsg_len;
		nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, "selftest");
	}
	EXPECT_EQ(-E2BIG, nl_do(&self->nl, &msg, &answer));
	EXPECT_NE(NULL, strstr(answer.message, "256"));
	EXPECT_EQ(last, answer.offset);
	ASSERT_EQ(0, control_snapshot(&self->nl, &after));
	EXPECT_TRUE(snapshot_equal(&before, &after));

	msg.hdr.nlmsg_len = last;
	EXPECT_EQ(0, nl_do(&self->nl, &msg, &answer));
}

static uint64_t oom_kills(void)
{
	unsigned long long kills = 0;
	FILE *file = fopen("/proc/vmstat", "r");
	char line[128];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "oom_kill %llu", &kills) == 1)
			break;
	}
	if (file)
		fclose(file);
	return kills;
}

static long free_pages(void)
{
	return sysconf(_SC_AVPHYS_PAGES);
}

/* Sizes that no machine has, also such as overflow when something is added or multiplied */
TEST_F(refuse, sizes)
{
	static const uint64_t sizes[] = {
		UINT64_MAX, UINT64_MAX - PAGE + 1, UINT64_MAX - PAGE, 1ULL << 63, (1ULL << 63) + PAGE,
		1ULL << 62, 1ULL << 61, (1ULL << 44) - 1, 1ULL << 44, (1ULL << 44) + PAGE,
		1ULL << 43, 1ULL << 40, UINT32_MAX * PAGE, (UINT32_MAX + 1ULL) * PAGE,
		(UINT32_MAX + 2ULL) * PAGE, INT32_MAX * PAGE, (INT32_MAX + 1ULL) * PAGE,
	};
	uint64_t kills = oom_kills();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct refusal refusal = {
			"size", HYPTRACE_CMD_LOAD, false, ENOMEM, 1, 0, "bytes",
			{ REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_SIZE, sizes[i]) },
		};

		expect_refused(_metadata, &self->nl, variant->remote, &refusal);
		refusal.cmd = HYPTRACE_CMD_SET;
		expect_refused(_metadata, &self->nl, variant->remote, &refusal);
	}
	EXPECT_EQ(kills, oom_kills());
}

/* All memory that there is, or nearly so: refused before anybody is killed for it. */
TEST_F(refuse, more_than_is_free)
{
	uint64_t kills = oom_kills(), total = (uint64_t)sysconf(_SC_PHYS_PAGES) * PAGE;
	struct info info;
	long free_before, free_after;
	unsigned int part;

	ASSERT_EQ(0, control_info(&self->nl, variant->remote, &info));
	free_before = free_pages();
	for (part = 100; part >= 98; part--) {
		struct refusal refusal = {
			"more than is free", HYPTRACE_CMD_LOAD, false, ENOMEM, 1, 0, "bytes",
			{ REMOTE_ATTR,
			  U64_ATTR(HYPTRACE_A_CONTROL_SIZE, total / 100 * part / info.nr_cpus) },
		};

		expect_refused(_metadata, &self->nl, variant->remote, &refusal);
	}
	free_after = free_pages();
	EXPECT_EQ(kills, oom_kills());
	/* the rings would have been 100 times that */
	EXPECT_GT(total / PAGE / 100, labs(free_before - free_after));
}

TEST_F(refuse, load)
{
	static const struct refusal unloaded[] = {
		{ "size 0", HYPTRACE_CMD_LOAD, false, EINVAL, 1, 0, "size 0",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_SIZE, 0) } },
		{ "mode 2", HYPTRACE_CMD_LOAD, false, ERANGE, 2, 0, "",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_SIZE, 8192),
		    U32_ATTR(HYPTRACE_A_CONTROL_MODE, 2) } },
		{ "the largest mode", HYPTRACE_CMD_LOAD, false, ERANGE, 1, 0, "",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CONTROL_MODE, UINT32_MAX) } },
		{ "size 0 with a mode", HYPTRACE_CMD_LOAD, false, EINVAL, 2, 0, "size 0",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CONTROL_MODE, HYPTRACE_MODE_DISCARD),
		    U64_ATTR(HYPTRACE_A_CONTROL_SIZE, 0) } },
	};
	static const struct refusal loaded[] = {
		{ "twice", HYPTRACE_CMD_LOAD, false, EBUSY, 0, 0, "loaded", { REMOTE_ATTR } },
		{ "twice, other size", HYPTRACE_CMD_LOAD, false, EBUSY, 0, 0, "loaded",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_SIZE, 8192) } },
	};

	EXPECT_REFUSED(unloaded);
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_LOAD, variant->remote));
	EXPECT_REFUSED(loaded);
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, variant->remote));
	EXPECT_REFUSED(loaded);
}

TEST_F(refuse, set)
{
	static const struct refusal unloaded[] = {
		{ "nothing to set", HYPTRACE_CMD_SET, false, EINVAL, NOBODY_TO_BLAME, 0,
		  "nothing to set", { REMOTE_ATTR } },
		{ "size 0", HYPTRACE_CMD_SET, false, EINVAL, 1, 0, "size 0",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_SIZE, 0) } },
		{ "a good mode and size 0", HYPTRACE_CMD_SET, false, EINVAL, 2, 0, "size 0",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CONTROL_MODE, HYPTRACE_MODE_DISCARD),
		    U64_ATTR(HYPTRACE_A_CONTROL_SIZE, 0) } },
		{ "mode 2", HYPTRACE_CMD_SET, false, ERANGE, 2, 0, "",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_SIZE, 8192),
		    U32_ATTR(HYPTRACE_A_CONTROL_MODE, 2) } },
	};
	static const struct refusal loaded[] = {
		{ "size while loaded", HYPTRACE_CMD_SET, false, EBUSY, 1, 0, "size",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_SIZE, 8192) } },
		{ "mode while loaded", HYPTRACE_CMD_SET, false, EBUSY, 1, 0, "mode",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CONTROL_MODE, HYPTRACE_MODE_DISCARD) } },
	};

	EXPECT_REFUSED(unloaded);
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_LOAD, variant->remote));
	EXPECT_REFUSED(loaded);
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, variant->remote));
	EXPECT_REFUSED(loaded);
}

TEST_F(refuse, rate_of_the_hypervisor)
{
	static const struct refusal refusals[] = {
		{ "rate", HYPTRACE_CMD_SET, false, EOPNOTSUPP, 1, 0, "rate",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CONTROL_RATE, 100) } },
		{ "rate with a good mode", HYPTRACE_CMD_SET, false, EOPNOTSUPP, 2, 0, "rate",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CONTROL_MODE, HYPTRACE_MODE_DISCARD),
		    U32_ATTR(HYPTRACE_A_CONTROL_RATE, 100) } },
	};

	if (!strcmp(variant->remote, "hypervisor"))
		EXPECT_REFUSED(refusals);
	else
		EXPECT_EQ(0, control_set_rate(&self->nl, variant->remote, 0));
}

TEST_F(refuse, clear)
{
	static const struct refusal refusals[] = {
		{ "no such CPU", HYPTRACE_CMD_CLEAR, false, ENXIO, 1, 0, "4711",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CONTROL_CPU, NO_CPU) } },
		{ "all CPUs are not a CPU", HYPTRACE_CMD_CLEAR, false, ENXIO, 1, 0, "4294967295",
		  { REMOTE_ATTR, U32_ATTR(HYPTRACE_A_CONTROL_CPU, UINT32_MAX) } },
	};

	EXPECT_REFUSED(refusals);
	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, 8192, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 10));
	EXPECT_REFUSED(refusals);
}

TEST_F(refuse, mark)
{
	static const struct refusal refusals[] = {
		{ "no value", HYPTRACE_CMD_MARK, false, EINVAL, NOBODY_TO_BLAME,
		  HYPTRACE_A_CONTROL_VALUE, "\"value\"", { REMOTE_ATTR } },
		{ "count 0", HYPTRACE_CMD_MARK, false, ERANGE, 2, 0, "",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_VALUE, 1),
		    U32_ATTR(HYPTRACE_A_CONTROL_COUNT, 0) } },
		{ "no such CPU", HYPTRACE_CMD_MARK, false, ENXIO, 2, 0, "4711",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_VALUE, 1),
		    U32_ATTR(HYPTRACE_A_CONTROL_CPU, NO_CPU) } },
		{ "the largest CPU", HYPTRACE_CMD_MARK, false, ENXIO, 2, 0, "4294967295",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_VALUE, 1),
		    U32_ATTR(HYPTRACE_A_CONTROL_CPU, UINT32_MAX) } },
	};
	static const struct refusal off[] = {
		{ "tracing off", HYPTRACE_CMD_MARK, false, ENODATA, 0, 0, "tracing is off",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_VALUE, 1) } },
	};
	static const struct refusal disabled[] = {
		{ "not enabled", HYPTRACE_CMD_MARK, false, ENODATA, 0, 0, "\"selftest\"",
		  { REMOTE_ATTR, U64_ATTR(HYPTRACE_A_CONTROL_VALUE, 1) } },
	};

	EXPECT_REFUSED(refusals);
	EXPECT_REFUSED(off);
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_LOAD, variant->remote));
	EXPECT_REFUSED(off);
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, variant->remote));
	EXPECT_REFUSED(disabled);
	ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "selftest", true));
	EXPECT_REFUSED(refusals);
}

TEST_F(refuse, while_attached)
{
	static const struct refusal refusals[] = {
		{ "unload", HYPTRACE_CMD_UNLOAD, false, EBUSY, 0, 0, "1 descriptor is",
		  { REMOTE_ATTR } },
		{ "reset", HYPTRACE_CMD_RESET, false, EBUSY, 0, 0, "1 descriptor is",
		  { REMOTE_ATTR } },
	};
	static const struct refusal two[] = {
		{ "unload", HYPTRACE_CMD_UNLOAD, false, EBUSY, 0, 0, "2 descriptors are",
		  { REMOTE_ATTR } },
	};
	int fd = open_attached(variant->remote, 0, 0), other;

	ASSERT_LE(0, fd);
	EXPECT_REFUSED(refusals);
	ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "selftest", true));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, variant->remote));
	ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, 10));
	EXPECT_REFUSED(refusals);
	other = open_attached(variant->remote, 1, 0);
	EXPECT_REFUSED(two);
	close(other);
	close(fd);
}

/* With nothing but the capability that each request needs, and with all others */
TEST_F(refuse, capability)
{
	const struct operation *op;
	uint32_t offsets[ATTRIBUTES_MAX];
	struct nl own;

	ASSERT_EQ(0, control_snapshot(&self->nl, &before));
	ASSERT_EQ(0, capabilities_keep(~(CAPABILITY(CAP_SYS_ADMIN) | CAPABILITY(CAP_PERFMON)) &
				       (CAPABILITY(CAP_LAST_CAP + 1) - 1)));
	/* whether by a socket opened before or since */
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

TEST_F(refuse, capability_leaves_no_trace)
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

TEST_F(refuse, capability_perfmon_does)
{
	struct nl own;

	ASSERT_EQ(0, capabilities_keep(CAPABILITY(CAP_PERFMON)));
	ASSERT_EQ(0, nl_open(&own));
	EXPECT_EQ(0, control(&own, HYPTRACE_CMD_LOAD, variant->remote));
	EXPECT_EQ(0, control(&own, HYPTRACE_CMD_UNLOAD, variant->remote));
	EXPECT_EQ(0, control_snapshot(&own, &after));
	/* for the group generic netlink has no finer check than CAP_SYS_ADMIN */
	EXPECT_EQ(-EPERM, nl_join(&own));
}

TEST_F(refuse, capability_sys_admin_does)
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
