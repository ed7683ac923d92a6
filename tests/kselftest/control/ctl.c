// SPDX-License-Identifier: GPL-2.0-only
/*
 * Send one request of the netlink family. For the scripts of the kselftests, which must
 * not depend on the hyptrace command: other tests test that.
 *
 *	ctl OP REMOTE [NAME=VALUE]...
 *
 * Exit codes: 0 done; 1 refused, with the errno and the extack message on stderr;
 * 2 usage error.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"

static const struct {
	const char	*name;
	uint8_t		cmd;
} ops[] = {
	{ "load",	HYPTRACE_CMD_LOAD },
	{ "unload",	HYPTRACE_CMD_UNLOAD },
	{ "start",	HYPTRACE_CMD_START },
	{ "stop",	HYPTRACE_CMD_STOP },
	{ "clear",	HYPTRACE_CMD_CLEAR },
	{ "reset",	HYPTRACE_CMD_RESET },
	{ "set",	HYPTRACE_CMD_SET },
	{ "mark",	HYPTRACE_CMD_MARK },
	{ "event-set",	HYPTRACE_CMD_EVENT_SET },
	{ "get",	HYPTRACE_CMD_REMOTE_GET },
};

enum kind { U8, U32, U64, STRING };

static const struct {
	const char	*name;
	uint16_t	type;
	enum kind	kind;
} attributes[] = {
	{ "cpu",	HYPTRACE_A_CONTROL_CPU,		U32 },
	{ "size",	HYPTRACE_A_CONTROL_SIZE,	U64 },
	{ "mode",	HYPTRACE_A_CONTROL_MODE,	U32 },
	{ "value",	HYPTRACE_A_CONTROL_VALUE,	U64 },
	{ "count",	HYPTRACE_A_CONTROL_COUNT,	U32 },
	{ "rate",	HYPTRACE_A_CONTROL_RATE,	U32 },
	{ "event",	HYPTRACE_A_EVENT_NAMES,		STRING },
	{ "enabled",	HYPTRACE_A_EVENT_ENABLED,	U8 },
};

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

static struct nl_answer answer;
static struct nl_msg msg;

static int usage(void)
{
	fprintf(stderr, "usage: ctl OP REMOTE [NAME=VALUE]...\n");
	return 2;
}

static int put(const char *word)
{
	size_t i, len = strcspn(word, "=");
	const char *value = word + len + 1;

	if (!word[len])
		return -EINVAL;
	for (i = 0; i < COUNT(attributes); i++) {
		if (strncmp(word, attributes[i].name, len) || attributes[i].name[len])
			continue;
		switch (attributes[i].kind) {
		case U8:
			nl_put_u8(&msg, attributes[i].type, strtoul(value, NULL, 0));
			return 0;
		case U32:
			nl_put_u32(&msg, attributes[i].type, strtoul(value, NULL, 0));
			return 0;
		case U64:
			nl_put_u64(&msg, attributes[i].type, strtoull(value, NULL, 0));
			return 0;
		case STRING:
			nl_put_str(&msg, attributes[i].type, value);
			return 0;
		}
	}
	return -EINVAL;
}

int main(int argc, char **argv)
{
	struct nl nl;
	size_t i;
	int err;

	if (argc < 3)
		return usage();
	for (i = 0; i < COUNT(ops) && strcmp(ops[i].name, argv[1]); i++)
		;
	if (i == COUNT(ops))
		return usage();
	err = nl_open(&nl);
	if (err) {
		fprintf(stderr, "ctl: cannot open the netlink family: %s\n", strerror(-err));
		return EXIT_FAILURE;
	}
	nl_begin(&msg, &nl, ops[i].cmd);
	nl_put_str(&msg, HYPTRACE_A_CONTROL_REMOTE, argv[2]);
	for (argv += 3; *argv; argv++) {
		if (put(*argv))
			return usage();
	}
	err = nl_do(&nl, &msg, &answer);
	if (err)
		fprintf(stderr, "ctl: %s (%s)\n", strerror(-err), answer.message);
	nl_close(&nl);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
