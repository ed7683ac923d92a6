// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse a moment such as 12.5, +10ms or -1s, and choose the times of a file by two of them.
 */
#include <errno.h>

#include "lib/hyptrace_file.h"
#include "cli/args.h"
#include "moment.h"

bool moment_parse(const char *text, struct moment *moment)
{
	moment->kind = MOMENT_ABSOLUTE;
	if (*text == '+')
		moment->kind = MOMENT_AFTER_FIRST;
	else if (*text == '-')
		moment->kind = MOMENT_BEFORE_LAST;
	return parse_time(text + (moment->kind != MOMENT_ABSOLUTE), &moment->ns);
}

static int resolve(struct hyptrace_file *file, const struct moment *moment, uint64_t *ns,
		   struct hyptrace_error *err)
{
	uint64_t edge = 0;
	int ret = 0;

	if (moment->kind == MOMENT_AFTER_FIRST)
		ret = hyptrace_file_first_time(file, &edge, err);
	else if (moment->kind == MOMENT_BEFORE_LAST)
		ret = hyptrace_file_last_time(file, &edge, err);
	if (moment->kind == MOMENT_BEFORE_LAST)
		*ns = edge > moment->ns ? edge - moment->ns : 0;
	else if (moment->kind != MOMENT_NONE && __builtin_add_overflow(edge, moment->ns, ns))
		*ns = UINT64_MAX;
	/* of a file without events all times are the same */
	return ret == -ENODATA ? 0 : ret;
}

/* Choose the times of a file, whose CPUs are chosen. Return 0 or a negative errno. */
int moment_set_times(struct hyptrace_file *file, const struct moment *from,
		     const struct moment *to, struct hyptrace_error *err)
{
	uint64_t first = 0, last = UINT64_MAX;
	int ret = resolve(file, from, &first, err);

	if (!ret)
		ret = resolve(file, to, &last, err);
	if (!ret)
		hyptrace_file_set_times(file, first, last);
	return ret;
}
