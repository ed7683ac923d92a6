/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pages of a CPU's counters, taken from the pool of hyp_env.c, and what a reader of the
 * published ones sees. For the tests of hyp/.
 */
#ifndef COUNT_PAGES_H
#define COUNT_PAGES_H

#include "hyp_env.h"

#define COUNT_PAIRS	HYPTRACE_COUNT_PAGES(PAGE_SIZE)
#define COUNT_PARTS	DIV_ROUND_UP(HYPTRACE_COUNT_KEY_hyp_exit, HYPTRACE_COUNT_KEYS_PER_RESET)

/* Pool pages from @first on: the donated one of each pair, then the shared one */
struct count_pages {
	u64 cpu;
	u32 first;
};

/* What a reader makes of the counters of a key */
struct count_sum {
	u64 nr;
	u64 total;
	u64 max;
	u64 buckets[HYPTRACE_COUNT_BUCKETS];
};

void count_pages_give(struct count_pages *pages, u64 cpu, u32 first);
int count_reset(u64 cpu);
void count_pages_free(const struct count_pages *pages);
const struct hyptrace_count *count_published(const struct count_pages *pages, u32 key);
bool count_try_read(const struct hyptrace_count *from, struct count_sum *sum);
void count_read(const struct count_pages *pages, u32 key, struct count_sum *sum);

#endif /* COUNT_PAGES_H */
