// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the rows of stat and top can be.
 */
#include <string.h>

#include "stat.h"

#define BIT(event)	(1U << (event))
#define BOTH		(BIT(STAT_ENTER) | BIT(STAT_EXIT))

/* The events that the rows need, besides those that all need for the times of CPUs */
static const struct {
	const char	*name;
	unsigned int	events;
	bool		has_time;
} rows[NR_STAT_BY] = {
	[STAT_BY_REASON]	= { "reason", BOTH, true },
	[STAT_BY_HCALL]		= { "hcall", BIT(STAT_HCALL), true },
	[STAT_BY_EXIT]		= { "exit", BIT(STAT_GUEST_ENTER) | BIT(STAT_GUEST_EXIT), true },
	[STAT_BY_VCPU]		= { "vcpu", BIT(STAT_GUEST_EXIT), true },
	[STAT_BY_VM]		= { "vm", BIT(STAT_GUEST_EXIT), true },
	[STAT_BY_CPU]		= { "cpu", BOTH, true },
	[STAT_BY_MEMORY]	= { "memory", BIT(STAT_MEMORY), false },
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

bool stat_by_needs(enum stat_by by, enum stat_event event)
{
	return rows[by].events & BIT(event);
}

bool stat_by_has_time(enum stat_by by)
{
	return rows[by].has_time;
}
