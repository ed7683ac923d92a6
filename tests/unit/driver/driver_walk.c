// SPDX-License-Identifier: GPL-2.0-only
/* See driver_walk.h. */
#include "../../../driver/core/subbuf.h"

#include "driver_walk.h"

/*
 * Walk over the records up to @end. *@time is the start time, and becomes the time of the last
 * record. *@events becomes the number of events.
 */
bool driver_walk(const void *data, uint32_t end, uint64_t *time, uint32_t *events)
{
	struct hyptrace_walk walk = { .time = *time };
	bool ret = hyptrace_subbuf_walk(data, end, &walk);

	*time = walk.time;
	*events = walk.events;

	return ret;
}
