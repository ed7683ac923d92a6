// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the rows of stat and top can be, and their names.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stat.h"

#define BIT(kind)	(1U << HYPTRACE_KIND_##kind)

/* The events that the rows need, besides those that all need for the times of CPUs */
static const struct {
	const char	*name;
	unsigned int	events;
	bool		has_time;
} rows[NR_STAT_BY] = {
	[STAT_BY_REASON]	= { "reason", BIT(ENTER) | BIT(EXIT), true },
	[STAT_BY_HCALL]		= { "hcall", BIT(HYPERCALL), true },
	[STAT_BY_EXIT]		= { "exit", BIT(GUEST_ENTER) | BIT(GUEST_EXIT), true },
	[STAT_BY_VCPU]		= { "vcpu", BIT(GUEST_EXIT), true },
	[STAT_BY_VM]		= { "vm", BIT(GUEST_EXIT), true },
	[STAT_BY_CPU]		= { "cpu", BIT(ENTER) | BIT(EXIT), true },
	[STAT_BY_MEMORY]	= { "memory", BIT(TRANSITION), false },
};

const char *stat_by_name(enum stat_by by)
{
	return rows[by].name;
}

bool stat_by_find(const char *name, enum stat_by *by)
{
	for (*by = 0; *by < NR_STAT_BY; ++*by)
		if (!strcmp(name, rows[*by].name))
			return true;
	return false;
}

bool stat_by_needs(enum stat_by by, enum hyptrace_kind kind)
{
	return rows[by].events & 1U << kind;
}

bool stat_by_has_time(enum stat_by by)
{
	return rows[by].has_time;
}
