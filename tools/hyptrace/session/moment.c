// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse a moment such as 12.5, +10ms or -1s, and choose the times of a file by two of them.
 */
#include <errno.h>
#include <string.h>

#include "lib/hyptrace_file.h"
#include "cli/args.h"
#include "moment.h"

static const struct {
	const char	*name;
	uint64_t	ns;
} units[] = {
	{ "", 1000000000 }, { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 },
	{ "m", UINT64_C(60000000000) }, { "h", UINT64_C(3600000000000) },
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *find_unit(const char *text, uint64_t *ns)
{
	unsigned int i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(text, units[i].name))
			continue;
		*ns = units[i].ns;
		return text;
	}
	return NULL;
}

/* Parse a number with decimals and a unit. */
static bool parse_time(const char *text, uint64_t *ns)
{
	const char *digits = text + strspn(text, "0123456789");
	const char *end = *digits == '.' ? digits + 1 + strspn(digits + 1, "0123456789") : digits;
	uint64_t unit, part;

	if (digits == text || (*digits == '.' && end == digits + 1) || !find_unit(end, &unit))
		return false;
	*ns = 0;
	for (; is_digit(*text); text++)
		if (__builtin_mul_overflow(*ns, 10, ns) ||
		    __builtin_add_overflow(*ns, *text - '0', ns))
			return false;
	if (__builtin_mul_overflow(*ns, unit, ns))
		return false;
	for (text++, part = unit / 10; text < end; text++, part /= 10)
		if (__builtin_add_overflow(*ns, (*text - '0') * part, ns))
			return false;
	return true;
}

/**
 * moment_parse - parse an argument of --from or --to
 * @text:	the argument
 * @moment:	out: the moment
 *
 * Return: false if it is not valid.
 */
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

/**
 * moment_set_times - choose the times of a file
 * @file:	the file, whose CPUs are chosen
 * @from:	the first moment
 * @to:		the last moment
 * @err:	the reason if it fails
 *
 * Return: 0 or a negative errno.
 */
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
