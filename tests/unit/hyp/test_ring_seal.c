// SPDX-License-Identifier: GPL-2.0-only
/*
 * The seals of a ring that outlives a reset: what the next boot finds of each sub-buffer at any
 * moment is what the writer had put in it.
 */
#include "hyp_env.h"

#define CPU		1
#define NR_PAGES	5

static struct env_ring host;
static struct hyptrace_ring *ring;

static void load(u64 flags)
{
	env_start(env_ring_pages(NR_PAGES));
	env_cpu(CPU);
	ring = &env_rings[CPU];
	env_ring_load(&host, CPU, 0, NR_PAGES, flags);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU, HYPTRACE_ALL_EVENTS, 0), 0);
}

static int stop(void **state)
{
	(void)state;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, CPU, 0, 0), 0);
	env_ring_free(&host);
	env_stop();

	return 0;
}

static void write_events(u32 nr)
{
	while (nr--) {
		env_counter += 10;
		hyptrace(hyp_enter, HYPTRACE_REASON_HVC);
	}
}

static const struct hyptrace_seal *seal_of(const struct hyptrace_subbuf *page)
{
	const u8 *end = page->data + HYPTRACE_SUBBUF_DATA_SIZE;

	return (const struct hyptrace_seal *)(end - sizeof(struct hyptrace_seal));
}

/* Bytes that the next boot would take of a sub-buffer; -1: none, it has no valid seal */
static s64 sealed(const struct hyptrace_subbuf *page)
{
	const struct hyptrace_seal *seal = seal_of(page);

	if (seal->bytes > HYPTRACE_SUBBUF_DATA_SIZE - sizeof(*seal) || seal->bytes % sizeof(u32) ||
	    seal->sum != hyptrace_seal_sum(page, seal->bytes))
		return -1;
	assert_int_equal(seal->reserved, 0);
	return seal->bytes;
}

/* Each sub-buffer that the writer has left is sealed with all that it has; its own is not. */
static void complete(void **state)
{
	u32 i, id, nr;

	(void)state;
	load(HYPTRACE_RING_KEPT);
	for (i = 0; i < 5000; i++) {
		write_events(1);
		for (id = nr = 0; id < NR_PAGES; id++) {
			const struct hyptrace_subbuf *page = env_page(id);

			if (!page->commit)
				continue;
			if (page == ring->page)
				assert_int_equal(sealed(page), -1);
			else
				assert_int_equal(sealed(page), page->commit);
			nr++;
		}
	}
	assert_int_equal(nr, NR_PAGES - 1);
}

/* SYNC seals what is there; what comes later is not part of it, and does no harm to it. */
static void part(void **state)
{
	u64 before;
	u32 i;

	(void)state;
	load(HYPTRACE_RING_KEPT);
	for (i = 0; i < 1000; i++) {
		write_events(i % 7);
		before = ring->page->commit;
		assert_int_equal(hyptrace_hcall(HYPTRACE_OP_SYNC, CPU, 0, 0), 0);
		assert_int_equal(sealed(ring->page), before);
		write_events(1);
		if (ring->page->commit > before)
			assert_int_equal(sealed(ring->page), before);
	}
}

/* The host can write what EL2 believes is the end of the sub-buffer. */
static void bad_commit(void **state)
{
	static const u64 bad[] = {
		2, 7, HYPTRACE_SUBBUF_DATA_SIZE - sizeof(struct hyptrace_seal) + 4,
		PAGE_SIZE, 1 << 20, ~3ULL, ~0ULL,
	};
	struct hyptrace_seal *seal;
	u64 commit;
	u32 i;

	(void)state;
	load(HYPTRACE_RING_KEPT);
	write_events(3);
	seal = (void *)seal_of(ring->page);
	commit = ring->page->commit;
	for (i = 0; i < ENV_NR(bad); i++) {
		memset(seal, 0x5a, sizeof(*seal));
		ring->page->commit = bad[i];
		assert_int_equal(hyptrace_hcall(HYPTRACE_OP_SYNC, CPU, 0, 0), 0);
		assert_int_equal(sealed(ring->page), -1);
	}
	ring->page->commit = HYPTRACE_SUBBUF_DATA_SIZE - sizeof(*seal);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_SYNC, CPU, 0, 0), 0);
	assert_int_equal(sealed(ring->page), HYPTRACE_SUBBUF_DATA_SIZE - sizeof(*seal));
	ring->page->commit = commit;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_SYNC, CPU, 0, 0), 0);
	assert_int_equal(sealed(ring->page), commit);
}

/* A ring that is full drops events: then its last sub-buffer is complete. */
static void full(void **state)
{
	(void)state;
	load(HYPTRACE_RING_KEPT | HYPTRACE_RING_DISCARD);
	while (!ring->dropped)
		write_events(1);
	assert_int_equal(sealed(ring->page), ring->page->commit);
	write_events(10);
	assert_int_equal(sealed(ring->page), ring->page->commit);
}

/* After a clear, the writer's sub-buffer has nothing that is sealed. */
static void cleared(void **state)
{
	(void)state;
	load(HYPTRACE_RING_KEPT);
	write_events(2000);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_RESET, CPU, 0, 0), 0);
	assert_true(sealed(ring->page) <= 0);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_SYNC, CPU, 0, 0), 0);
	assert_int_equal(sealed(ring->page), 0);
}

/* A ring of other memory is used to its last byte. */
static void others(void **state)
{
	u32 bytes = 0;

	(void)state;
	load(0);
	while (ring->page->commit >= bytes) {
		bytes = ring->page->commit;
		write_events(1);
	}
	assert_true(bytes > HYPTRACE_SUBBUF_DATA_SIZE - sizeof(struct hyptrace_seal));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(complete, stop),
		cmocka_unit_test_teardown(part, stop),
		cmocka_unit_test_teardown(bad_commit, stop),
		cmocka_unit_test_teardown(full, stop),
		cmocka_unit_test_teardown(cleared, stop),
		cmocka_unit_test_teardown(others, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
