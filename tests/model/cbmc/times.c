// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clock, hyp/clock.c and hyptrace_clock_read_copy(): 64 bits are enough where it says so, and
 * time never steps back while the counter does not. MULT is ns per cycle, times 2^32, a power of
 * two: CBMC would take days for any other. tests/unit/hyp/test_clock.c tries these.
 */
#include "clock.c"
#include "proof.h"

u64 hyptrace_read_counter(void)
{
	return nondet_u64();
}

/* The copy is as good as the 128 bits of compute_time(). */
void copy(void)
{
	u64 counter = nondet_u64(), now, mult, epoch;
	struct hyptrace_clock_copy set = {
		.mult = MULT, .epoch_cycles = nondet_u64(),
		.epoch_ns = nondet_u64() & HYPTRACE_CLOCK_MASK,
	};

	set.valid_cycles = compute_valid_cycles(set.mult, set.epoch_ns);
	if (hyptrace_clock_read_copy(&set, counter, &now, &mult, &epoch)) {
		claim(now == compute_time(&set, counter));
		claim(now <= HYPTRACE_CLOCK_MASK);
		claim(mult == set.mult && epoch == set.epoch_cycles);
	}
}

/* For 292 years, and before the epoch */
void order(void)
{
	u64 first = nondet_u64(), second = nondet_u64();
	struct hyptrace_clock_copy set = {
		.mult = MULT, .epoch_cycles = nondet_u64(),
		.epoch_ns = nondet_u64() & HYPTRACE_CLOCK_MASK,
	};

	assume((s64)(second - first) >= 0);
	assume((s64)(second - set.epoch_cycles) >= (s64)(first - set.epoch_cycles));
	/* the time of the second does not wrap */
	assume((s64)(second - set.epoch_cycles) < 0 ||
	       ((__uint128_t)(second - set.epoch_cycles) * MULT >> HYPTRACE_CLOCK_SHIFT) <=
	       HYPTRACE_CLOCK_MASK - set.epoch_ns);
	claim(compute_time(&set, first) <= compute_time(&set, second));
}
