/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write times in nanoseconds. The first digits are cached, since many times in a row share them.
 */
#ifndef STAMP_H
#define STAMP_H

#include <stdint.h>

#include "common/digits.h"

/* The last eight digits differ within this time */
#define STAMP_TICK	UINT64_C(100000000)

/* The cached digits of a time; all 0 at first */
struct stamp {
	uint64_t	tick;	/* the time that begins with them, and goes on with eight zeros */
	uint32_t	len;	/* length of text; 0 if nothing is cached */
	char		text[DIGITS_MAX + DIGITS_SLACK];
};

static inline char *stamp_put(struct stamp *stamp, char *to, uint64_t ts)
{
	if (__builtin_expect(ts - stamp->tick >= STAMP_TICK || !stamp->len, 0)) {
		if (ts < STAMP_TICK)
			return hyptrace_digits_decimal(to, ts);
		stamp->tick = ts - ts % STAMP_TICK;
		stamp->len = hyptrace_digits_decimal(stamp->text, ts / STAMP_TICK) - stamp->text;
	}
	to = hyptrace_digits_text(to, stamp->text, stamp->len);
	return hyptrace_digits_eight(to, ts - stamp->tick);
}

#endif /* STAMP_H */
