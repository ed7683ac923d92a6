/* SPDX-License-Identifier: GPL-2.0-only */
/* Random hypercalls that do no harm, and function ids that EL2 refuses: see calls_random.c. */
#ifndef __CALLS_RANDOM_H
#define __CALLS_RANDOM_H

#include <stdbool.h>

#include "calls.h"

/* Function ids of hypercalls have this many numbers. */
#define CALLS_NUMBERS	0x10000

/* Calls that were made, with their results */
struct calls_log {
	size_t			nr;
	bool			failed;
	struct calls_one	list[];
};

void calls_flush(const struct calls *calls, struct calls_log *log, size_t *from);
void calls_unreserve(const struct calls *calls, struct calls_log *log, size_t *from);
void calls_make_random(const struct calls *calls, struct calls_log *log, size_t nr, uint64_t seed);
bool calls_is_own(const struct calls *calls, const struct calls_one *call);

#endif /* __CALLS_RANDOM_H */
