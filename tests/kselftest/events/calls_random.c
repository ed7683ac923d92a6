// SPDX-License-Identifier: GPL-2.0-only
/* Random hypercalls that do no harm, and function ids that EL2 refuses. */
#include <string.h>

#include "calls_random.h"

/**
 * calls_flush - make the calls that were added to a log since the last time
 * @calls:	the module
 * @log:	the log
 * @from:	the first of them; out: the end of the log
 */
void calls_flush(const struct calls *calls, struct calls_log *log, size_t *from)
{
	if (calls_make(calls, log->list + *from, log->nr - *from))
		log->failed = true;
	*from = log->nr;
}

/**
 * calls_unreserve - give back the handle that the last call of a log has reserved
 * @calls:	the module
 * @log:	the log
 * @from:	the end of the log
 */
void calls_unreserve(const struct calls *calls, struct calls_log *log, size_t *from)
{
	const struct calls_one *last = &log->list[log->nr - 1];

	if (last->ret[0] || (int64_t)last->ret[1] <= 0)
		return;
	log->list[log->nr] = calls_hvc(calls, "__pkvm_unreserve_vm", last->ret[1], 0, 0);
	log->nr++;
	calls_flush(calls, log, from);
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t value = *state += 0x9e3779b97f4a7c15;

	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
	value = (value ^ value >> 27) * 0x94d049bb133111eb;
	return value ^ value >> 31;
}

/* A function id that EL2 refuses */
static uint64_t random_invalid_id(const struct calls_info *info, uint64_t *state)
{
	static const uint32_t ranges[] = {
		0x80000000, 0x84000000, 0xc4000000, 0x86000000, 0xc5000000, 0xffff0000, 0,
	};
	uint64_t value = next_random(state);

	switch (value % 4) {
	case 0:
		/* a number that no hypercall has */
		return info->base + info->nr_known +
		       (value >> 8) % (CALLS_NUMBERS - info->nr_known);
	case 1:
		/* another range of the calling convention; 0 to 3 are calls of the stub */
		return ranges[(value >> 8) % (sizeof(ranges) / sizeof(ranges[0]))] +
		       (value >> 16) % 64;
	case 2:
		/* a hypercall, but for the high half of the register */
		return info->base + (value >> 8) % info->nr_known + ((value | 1) << 32);
	default:
		return value | 1ULL << 63;
	}
}

/* A hypercall, with random values in the registers that may have them. Return its flags. */
static uint32_t random_hypercall(const struct calls_info *info, uint64_t *state,
				 struct calls_one *call)
{
	const struct calls_known *known;
	unsigned int i;

	do {
		known = &info->known[next_random(state) % info->nr_known];
	} while (known->flags & (CALLS_UNSAFE | CALLS_OWN));
	call->x[0] = info->base + known->number;
	for (i = 1; i < sizeof(call->x) / sizeof(call->x[0]); i++)
		call->x[i] = known->random & 1U << i ? next_random(state) : known->x[i];
	return known->flags;
}

/**
 * calls_make_random - make random calls: a quarter of them are refused
 * @calls:	the module
 * @log:	where to append them; a call that reserves a handle needs a place for a second one
 * @nr:		their number
 * @seed:	of the random numbers
 */
void calls_make_random(const struct calls *calls, struct calls_log *log, size_t nr, uint64_t seed)
{
	const struct calls_info *info = &calls->info;
	size_t from = log->nr;
	uint32_t flags;

	while (nr--) {
		struct calls_one *call = &log->list[log->nr];
		uint64_t value = next_random(&seed);
		unsigned int i;

		flags = 0;
		if (value % 4) {
			flags = random_hypercall(info, &seed, call);
		} else {
			call->x[0] = random_invalid_id(info, &seed);
			for (i = 1; i < sizeof(call->x) / sizeof(call->x[0]); i++)
				call->x[i] = next_random(&seed);
		}
		if (value >> 8 & 1)
			call->x[0] |= info->hints;
		log->nr++;
		if (flags & CALLS_RESERVES || log->nr - from == CALLS_BATCH || !nr)
			calls_flush(calls, log, &from);
		if (flags & CALLS_RESERVES)
			calls_unreserve(calls, log, &from);
	}
}

/**
 * calls_is_own - is a call one of hyptrace, which leaves no event?
 * @calls:	the module
 * @call:	the call
 *
 * Return: true if it is.
 */
bool calls_is_own(const struct calls *calls, const struct calls_one *call)
{
	return (call->x[0] & ~calls->info.hints) ==
	       calls->info.base + calls_find(calls, "__hyptrace")->number;
}
