// SPDX-License-Identifier: GPL-2.0-only
/*
 * A host that gives a CPU pages for its counters, takes them back, and reads them. For the tests of
 * hyp/.
 */
#include "count_pages.h"

#define KEYS_PER_PAGE	HYPTRACE_COUNT_KEYS_PER_PAGE(PAGE_SIZE)

void count_pages_give(struct count_pages *pages, u64 cpu, u32 first)
{
	u8 dirt[PAGE_SIZE];
	u32 i;

	*pages = (struct count_pages) { .cpu = cpu, .first = first };
	/* EL2 must not depend on the old content of a page. */
	memset(dirt, 0xa5, sizeof(dirt));
	for (i = first; i < first + 2 * COUNT_PAIRS; i += 2) {
		env_host_write(i, 0, dirt, sizeof(dirt));
		env_host_write(i + 1, 0, dirt, sizeof(dirt));
		assert_int_equal(hyptrace_hcall(HYPTRACE_OP_COUNT_PAGE, cpu, env_pfn(i),
						env_pfn(i + 1)), 0);
	}
}

/* Set all counters of a CPU to 0, a part with each call. Return 0, or the error of a call. */
int count_reset(u64 cpu)
{
	u64 part = 0;
	s64 ret;

	do {
		ret = hyptrace_hcall(HYPTRACE_OP_COUNT_RESET, cpu, part++, 0);
	} while (ret > 0);
	if (!ret)
		assert_int_equal(part, COUNT_PARTS);

	return ret;
}

/* All pages must come back wiped, one pair with each call. */
void count_pages_free(const struct count_pages *pages)
{
	u32 i;

	for (i = 1; i < COUNT_PAIRS; i++)
		assert_int_equal(hyptrace_hcall(HYPTRACE_OP_COUNT_FREE, pages->cpu, 0, 0), 1);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_COUNT_FREE, pages->cpu, 0, 0), 0);
	for (i = pages->first; i < pages->first + 2 * COUNT_PAIRS; i++) {
		assert_int_equal(env_owner(i), ENV_HOST);
		assert_true(env_is_wiped(i));
	}
}

const struct hyptrace_count *count_published(const struct count_pages *pages, u32 key)
{
	const struct hyptrace_count *page = env_page(pages->first + 2 * (key / KEYS_PER_PAGE) + 1);

	return &page[key % KEYS_PER_PAGE];
}

/* Read the counters of a key as abi.h says. False: they have changed meanwhile. */
bool count_try_read(const struct hyptrace_count *from, struct count_sum *sum)
{
	/*
	 * Order seq before the values. Pairs with (Q) in
	 * hyp/count.h:hyptrace_count_end_change().
	 */
	u64 seq = smp_load_acquire(&from->seq), word;
	u32 i;

	*sum = (struct count_sum) { .max = READ_ONCE(from->max), .total = READ_ONCE(from->total) };
	for (i = 0; i < HYPTRACE_COUNT_BUCKETS; i++) {
		sum->buckets[i] = READ_ONCE(from->nr[i]);
		if (i < HYPTRACE_COUNT_PACKED_BUCKETS) {
			word = READ_ONCE(from->packed[i]);
			sum->buckets[i] += word >> HYPTRACE_COUNT_TICK_BITS;
			sum->total += word & (BIT_ULL(HYPTRACE_COUNT_TICK_BITS) - 1);
		}
		sum->nr += sum->buckets[i];
	}
	/*
	 * Order the values before seq. Pairs with (Q) in
	 * hyp/count.h:hyptrace_count_begin_change().
	 */
	smp_rmb();

	return !(seq & 1) && READ_ONCE(from->seq) == seq;
}

void count_read(const struct count_pages *pages, u32 key, struct count_sum *sum)
{
	assert_true(count_try_read(count_published(pages, key), sum));
}
