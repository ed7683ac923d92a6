// SPDX-License-Identifier: GPL-2.0-only
/*
 * A host that loads and unloads rings by hypercalls. The pages come from the pool of
 * hyp_env.c. For the tests of hyp/.
 */
#include "hyp_env.h"

/* How many pool pages a ring with @nr_pages data pages needs. */
u32 env_ring_pages(u32 nr_pages)
{
	struct env_ring ring;

	env_ring_shape(&ring, 0, 0, nr_pages);

	return nr_pages + 1 + ring.nr_dirs + ring.nr_tables;
}

void env_ring_shape(struct env_ring *ring, u64 cpu, u32 first, u32 nr_pages)
{
	u32 nr_tables = DIV_ROUND_UP(nr_pages, (u32)HYPTRACE_SLOTS_PER_TABLE);

	*ring = (struct env_ring) {
		.cpu = cpu,
		.first = first,
		.nr_pages = nr_pages,
		.nr_tables = nr_tables,
		.nr_dirs = DIV_ROUND_UP(nr_tables,
					(u32)HYPTRACE_TABLE_PTRS_PER_DIR),
	};
}

u32 env_ring_dir(const struct env_ring *ring, u32 nr)
{
	return ring->first + ring->nr_pages + 1 + nr;
}

u32 env_ring_table(const struct env_ring *ring, u32 nr)
{
	return env_ring_dir(ring, ring->nr_dirs) + nr;
}

/* Write the table page, which lists data pages of the ring. */
void env_ring_list(const struct env_ring *ring, u32 table)
{
	struct hyptrace_table_entry entries[HYPTRACE_SLOTS_PER_TABLE] = { };
	u32 first = table * HYPTRACE_SLOTS_PER_TABLE, i;

	for (i = 0; i < HYPTRACE_SLOTS_PER_TABLE; i++) {
		if (first + i == ring->nr_pages)
			break;
		entries[i].pfn = env_pfn(ring->first + first + i);
		/* EL2 must not use what the host left in the reserved words. */
		memset(entries[i].reserved, 0xa5, sizeof(entries[i].reserved));
	}
	env_host_write(env_ring_table(ring, table), 0, entries, sizeof(entries));
}

/* Donate a table page that lists data pages, and have EL2 share these. */
void env_ring_give_table(const struct env_ring *ring, u32 table)
{
	u64 pfn = env_pfn(env_ring_table(ring, table));
	u32 steps = HYPTRACE_SLOTS_PER_TABLE;
	s64 ret;

	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_RING_TABLE, ring->cpu, pfn, 0), 1);
	do {
		assert_true(steps--);
		ret = hyptrace_hcall(HYPTRACE_OP_RING_TABLE, ring->cpu, 0, 0);
	} while (ret == 1);
	assert_int_equal(ret, 0);
}

void env_ring_load(struct env_ring *ring, u64 cpu, u32 first, u32 nr_pages,
		   u32 flags)
{
	u8 dirt[256];
	u32 i;

	env_ring_shape(ring, cpu, first, nr_pages);
	/* EL2 must not depend on the old content of a page: make it dirty. */
	memset(dirt, 0xa5, sizeof(dirt));
	for (i = 0; i <= nr_pages; i++)
		env_host_write(first + i, 0, dirt, sizeof(dirt));
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_RING_BEGIN, cpu, nr_pages, flags),
			 0);
	for (i = 0; i < ring->nr_tables; i++) {
		u32 dir = i / HYPTRACE_TABLE_PTRS_PER_DIR;

		if (i % HYPTRACE_TABLE_PTRS_PER_DIR == 0)
			assert_int_equal(hyptrace_hcall(HYPTRACE_OP_RING_DIR, cpu,
							env_pfn(env_ring_dir(ring, dir)),
							0), 0);
		env_ring_list(ring, i);
		env_ring_give_table(ring, i);
	}
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_RING_READY, cpu,
					env_pfn(first + nr_pages), 0), 0);
}

/* Free the ring: all pages must come back wiped. */
void env_ring_free(struct env_ring *ring)
{
	u32 steps = env_ring_pages(ring->nr_pages), i;
	s64 ret;

	do {
		assert_true(steps--);
		ret = hyptrace_hcall(HYPTRACE_OP_RING_FREE, ring->cpu, 0, 0);
	} while (ret == 1);
	assert_int_equal(ret, 0);

	for (i = 0; i <= ring->nr_pages; i++) {
		assert_int_equal(env_owner(ring->first + i), ENV_HOST);
		assert_true(env_is_wiped(ring->first + i));
	}
	for (; i < env_ring_pages(ring->nr_pages); i++)
		assert_int_equal(env_owner(ring->first + i), ENV_HOST);
}
