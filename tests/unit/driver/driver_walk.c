// SPDX-License-Identifier: GPL-2.0-only
/* See driver_walk.h. */
#include <stdlib.h>

#include "../../../driver/core/subbuf.h"

#include "driver_walk.h"

/*
 * Walk over the records up to @end. *@time is the start time, and becomes the time of the last
 * record. *@events becomes the number of events. A walk from event to event must agree with this.
 */
bool driver_walk(const void *data, uint32_t end, uint64_t *time, uint32_t *events)
{
	struct hyptrace_walk walk = { .time = *time }, next = walk;
	bool ret = hyptrace_subbuf_walk(data, end, &walk);
	uint32_t size, nr = 0;
	const void *payload;

	for (; (payload = hyptrace_subbuf_next(data, end, &next, &size)); nr++)
		if (payload + size != data + next.pos)
			abort();
	if (nr != walk.events || next.pos != walk.pos || next.events != nr ||
	    next.time != walk.time)
		abort();

	*time = walk.time;
	*events = walk.events;

	return ret;
}
