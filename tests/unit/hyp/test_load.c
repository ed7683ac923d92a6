// SPDX-License-Identifier: GPL-2.0-only
/*
 * Descriptors from a hostile host. EL2 must refuse each op in each wrong state and with each
 * kind of wrong argument: it returns the right errno and changes nothing.
 */
#include "hyp_env.h"

#define POOL	700
#define CPU	2

static struct env_ring ring;

static s64 hcall(u64 op, u64 arg2, u64 arg3)
{
	return hyptrace_hcall(op, CPU, arg2, arg3);
}

static int start(void **state)
{
	(void)state;
	env_start(POOL);

	return 0;
}

static int stop(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < POOL && hcall(HYPTRACE_OP_RING_FREE, 0, 0) > 0; i++)
		;
	env_stop();

	return 0;
}

/* Everything that a refused hypercall could have changed. */
struct el2_state {
	struct hyptrace_ring rings[ENV_CPUS];
	struct hyptrace_ring spare_rings[ENV_CPUS];
	u8 owner[POOL];
};

static void save_state(struct el2_state *saved)
{
	u32 i;

	memcpy(saved->rings, env_rings, sizeof(env_rings));
	memcpy(saved->spare_rings, env_spare_rings, sizeof(env_spare_rings));
	for (i = 0; i < POOL; i++)
		saved->owner[i] = env_owner(i);
}

static void refused(s64 errno_due, u64 op, u64 arg1, u64 arg2, u64 arg3)
{
	static struct el2_state before, after;

	save_state(&before);
	assert_int_equal(hyptrace_hcall(op, arg1, arg2, arg3), errno_due);
	save_state(&after);
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(env_violations, 0);
}

static void begin(u32 nr_pages)
{
	env_ring_shape(&ring, CPU, 0, nr_pages);
	assert_int_equal(hcall(HYPTRACE_OP_RING_BEGIN, nr_pages, 0), 0);
}

static void dir(void)
{
	assert_int_equal(hcall(HYPTRACE_OP_RING_DIR, env_pfn(env_ring_dir(&ring, 0)), 0),
			 0);
}

static u64 table_pfn(u32 nr)
{
	return env_pfn(env_ring_table(&ring, nr));
}

static void table(u32 nr)
{
	env_ring_list(&ring, nr);
	env_ring_give_table(&ring, nr);
}

static u64 meta_pfn(void)
{
	return env_pfn(ring.nr_pages);
}

static void list_entry(u32 entry, u64 pfn)
{
	env_host_write(env_ring_table(&ring, 0),
		       entry * sizeof(struct hyptrace_table_entry), &pfn, sizeof(pfn));
}

static const u64 no_page[] = {
	0, 1, ~0ULL, 1ULL << 52, 1ULL << 51, (1ULL << 52) - 1, 1ULL << 63,
};

static void no_such_op(void **state)
{
	u64 op;

	(void)state;
	for (op = HYPTRACE_NR_OPS; op < HYPTRACE_NR_OPS + 100; op++)
		refused(-EOPNOTSUPP, op, CPU, 0, 0);
	refused(-EOPNOTSUPP, ~0ULL, CPU, ~0ULL, ~0ULL);
	refused(-EOPNOTSUPP, 1ULL << 32, CPU, 4, 0);
}

static void no_such_cpu(void **state)
{
	u64 op;

	(void)state;
	for (op = HYPTRACE_OP_RING_BEGIN; op <= HYPTRACE_OP_MOVE; op++) {
		refused(-ENXIO, op, ENV_CPUS, 4, 0);
		refused(-ENXIO, op, 1ULL << 33, 4, 0);
		refused(-ENXIO, op, HYPTRACE_SPARE_RING | ENV_CPUS, 4, 0);
		if (op > HYPTRACE_OP_RING_FREE)
			refused(-ENXIO, op, HYPTRACE_SPARE_RING, 4, 0);
		refused(-ENXIO, op, ~0ULL, 4, 0);
	}
}

static void while_empty(void **state)
{
	(void)state;
	refused(-EINVAL, HYPTRACE_OP_RING_DIR, CPU, env_pfn(0), 0);
	refused(-EINVAL, HYPTRACE_OP_RING_TABLE, CPU, env_pfn(0), 0);
	refused(-EINVAL, HYPTRACE_OP_RING_READY, CPU, env_pfn(0), 0);
	refused(0, HYPTRACE_OP_RING_FREE, CPU, 0, 0);
	env_cpu(CPU);
	refused(-ENODEV, HYPTRACE_OP_ATTACH, CPU, 2, 0);
	refused(-ENODEV, HYPTRACE_OP_DETACH, CPU, 0, 0);
	refused(-ENODEV, HYPTRACE_OP_SWAP, CPU, 0, 0);
	refused(-ENODEV, HYPTRACE_OP_RESET, CPU, 0, 0);
	refused(-ENODEV, HYPTRACE_OP_SYNC, CPU, 0, 0);
	refused(-ENODEV, HYPTRACE_OP_EXCHANGE, CPU, 0, 0);
	refused(-ENODEV, HYPTRACE_OP_MOVE, CPU, 0, 0);
	refused(-ENODATA, HYPTRACE_OP_WRITE, 7, 0, 0);
	hyptrace_cpu_off();
	hyptrace_cpu_on();
	refused(-ENODEV, HYPTRACE_OP_SYNC, CPU, 0, 0);
}

static void bad_begin(void **state)
{
	u32 bit;

	(void)state;
	refused(-EINVAL, HYPTRACE_OP_RING_BEGIN, CPU, 0, 0);
	refused(-EINVAL, HYPTRACE_OP_RING_BEGIN, CPU, 2, 0);
	refused(-E2BIG, HYPTRACE_OP_RING_BEGIN, CPU, HYPTRACE_RING_MAX_PAGES(PAGE_SIZE) + 1, 0);
	refused(-E2BIG, HYPTRACE_OP_RING_BEGIN, CPU, (1ULL << 32) + 4, 0);
	refused(-E2BIG, HYPTRACE_OP_RING_BEGIN, CPU, ~0ULL, 0);
	for (bit = 2; bit < 64; bit++)
		refused(-EINVAL, HYPTRACE_OP_RING_BEGIN, CPU, 4, 1ULL << bit);
	assert_int_equal(hcall(HYPTRACE_OP_RING_BEGIN, HYPTRACE_RING_MAX_PAGES(PAGE_SIZE), 0), 0);
	refused(-EBUSY, HYPTRACE_OP_RING_BEGIN, CPU, 4, 0);
	assert_int_equal(hcall(HYPTRACE_OP_RING_FREE, 0, 0), 0);
	assert_int_equal(hcall(HYPTRACE_OP_RING_BEGIN, 3, HYPTRACE_RING_DISCARD), 0);
}

/*
 * The order is: a directory, then its tables, then RING_READY. No step may come early or
 * twice.
 */
static void order(void **state)
{
	(void)state;
	begin(300);
	env_ring_list(&ring, 0);
	refused(-EINVAL, HYPTRACE_OP_RING_TABLE, CPU, table_pfn(0), 0);
	refused(-EINVAL, HYPTRACE_OP_RING_READY, CPU, meta_pfn(), 0);
	dir();
	refused(-EINVAL, HYPTRACE_OP_RING_DIR, CPU, env_pfn(POOL - 1), 0);
	refused(-EINVAL, HYPTRACE_OP_RING_READY, CPU, meta_pfn(), 0);
	table(0);
	refused(-EINVAL, HYPTRACE_OP_RING_DIR, CPU, env_pfn(POOL - 1), 0);
	refused(-EPERM, HYPTRACE_OP_RING_TABLE, CPU, table_pfn(0), 0);
	table(1);
	refused(-EINVAL, HYPTRACE_OP_RING_READY, CPU, meta_pfn(), 0);
	table(2);
	refused(-EINVAL, HYPTRACE_OP_RING_TABLE, CPU, env_pfn(POOL - 1), 0);
	refused(-EINVAL, HYPTRACE_OP_RING_DIR, CPU, env_pfn(POOL - 1), 0);
	assert_int_equal(env_rings[CPU].nr_loaded, 300);
	assert_int_equal(hcall(HYPTRACE_OP_RING_READY, meta_pfn(), 0), 0);
	refused(-EINVAL, HYPTRACE_OP_RING_READY, CPU, meta_pfn(), 0);
	refused(-EINVAL, HYPTRACE_OP_RING_TABLE, CPU, env_pfn(POOL - 1), 0);
	refused(-EINVAL, HYPTRACE_OP_RING_DIR, CPU, env_pfn(POOL - 1), 0);
	refused(-EBUSY, HYPTRACE_OP_RING_BEGIN, CPU, 4, 0);
	env_ring_free(&ring);
}

static void cannot_donate(void **state)
{
	u32 i;

	(void)state;
	begin(4);
	env_share(POOL - 1);
	for (i = 0; i < ENV_NR(no_page); i++)
		refused(-EINVAL, HYPTRACE_OP_RING_DIR, CPU, no_page[i], 0);
	refused(-EINVAL, HYPTRACE_OP_RING_DIR, CPU, env_pfn(5) - 1, 0);
	refused(-EPERM, HYPTRACE_OP_RING_DIR, CPU, env_pfn(POOL - 1), 0);
	dir();
	for (i = 0; i < ENV_NR(no_page); i++)
		refused(-EINVAL, HYPTRACE_OP_RING_TABLE, CPU, no_page[i], 0);
	refused(-EPERM, HYPTRACE_OP_RING_TABLE, CPU, env_pfn(POOL - 1), 0);
	refused(-EPERM, HYPTRACE_OP_RING_TABLE, CPU, env_pfn(env_ring_dir(&ring, 0)), 0);
}

static s64 share_all(void)
{
	u32 steps = HYPTRACE_SLOTS_PER_TABLE;
	s64 ret;

	do {
		assert_true(steps--);
		ret = hcall(HYPTRACE_OP_RING_TABLE, 0, 0);
	} while (ret == 1);

	return ret;
}

static void free_all(void)
{
	u32 steps = POOL;

	while (hcall(HYPTRACE_OP_RING_FREE, 0, 0) == 1)
		assert_true(steps--);
	assert_int_equal(env_count(ENV_PINNED), 0);
	assert_int_equal(env_count(ENV_HYP), 0);
}

/* Give a table in which an entry is bad: EL2 must have shared the pages before it, and no other. */
static void bad_table(u32 bad, const u64 *pfn, u32 fail, s64 errno_due)
{
	u32 shared;

	begin(HYPTRACE_SLOTS_PER_TABLE);
	dir();
	env_ring_list(&ring, 0);
	if (pfn)
		list_entry(bad, *pfn);
	assert_int_equal(hcall(HYPTRACE_OP_RING_TABLE, table_pfn(0), 0), 1);
	refused(-EINVAL, HYPTRACE_OP_RING_TABLE, CPU, meta_pfn(), 0);
	refused(-EINVAL, HYPTRACE_OP_RING_READY, CPU, meta_pfn(), 0);
	refused(-EINVAL, HYPTRACE_OP_RING_DIR, CPU, meta_pfn(), 0);
	env_fail_share = fail;
	assert_int_equal(share_all(), errno_due);
	env_fail_share = 0;
	shared = env_rings[CPU].nr_loaded;
	assert_in_range(shared, 0, bad);
	assert_int_equal(env_count(ENV_PINNED), shared);
	refused(-EINVAL, HYPTRACE_OP_RING_READY, CPU, meta_pfn(), 0);
}

static void bad_entry(void **state)
{
	u32 bad, i;
	u64 pfn;

	(void)state;
	/* its tables have the places that those of bad_table() have */
	env_ring_shape(&ring, CPU, 0, HYPTRACE_SLOTS_PER_TABLE);
	for (bad = 0; bad < HYPTRACE_SLOTS_PER_TABLE; bad += bad < 3 ? 1 : 31) {
		for (i = 0; i < ENV_NR(no_page); i++) {
			bad_table(bad, &no_page[i], 0, -EINVAL);
			free_all();
			assert_true(env_is_wiped(env_ring_table(&ring, 0)));
		}
		/* EL2 already owns the table page itself and the directory. */
		pfn = table_pfn(0);
		bad_table(bad, &pfn, 0, -EPERM);
		free_all();
		pfn = env_pfn(env_ring_dir(&ring, 0));
		bad_table(bad, &pfn, 0, -EPERM);
		free_all();
		if (bad) {
			pfn = env_pfn(bad / 2);
			bad_table(bad, &pfn, 0, -EPERM);
			free_all();
		}

		/* What fails may succeed later. */
		env_share(bad);
		bad_table(bad, NULL, 0, -EPERM);
		refused(-EPERM, HYPTRACE_OP_RING_TABLE, CPU, 0, 0);
		env_unshare(bad);
		assert_int_equal(share_all(), 0);
		free_all();
		bad_table(bad, NULL, bad + 1, -ENOMEM);
		assert_int_equal(share_all(), 0);
		refused(-EINVAL, HYPTRACE_OP_RING_TABLE, CPU, 0, 0);
		assert_int_equal(hcall(HYPTRACE_OP_RING_READY, meta_pfn(), 0), 0);
		env_ring_free(&ring);
	}
}

/* EL2 must wipe the old content of the pages before it publishes anything in them. */
static void dirty_pages(void **state)
{
	u8 dirt[PAGE_SIZE];
	u32 i;

	(void)state;
	memset(dirt, 0xff, sizeof(dirt));
	for (i = 0; i <= 4; i++)
		env_host_write(i, 0, dirt, sizeof(dirt));
	begin(4);
	dir();
	table(0);
	for (i = 0; i < 4; i++) {
		assert_int_equal(env_ring_data(&ring, i)->time_stamp, 0);
		assert_int_equal(env_ring_data(&ring, i)->commit, 0);
	}
	assert_int_equal(hcall(HYPTRACE_OP_RING_READY, meta_pfn(), 0), 0);
	assert_int_equal(env_ring_meta(&ring)->nr_unread, 0);
	assert_int_equal(env_ring_meta(&ring)->head_lost, 0);
	assert_int_equal(env_ring_meta(&ring)->tail_id, 0);
	assert_int_equal(env_ring_meta(&ring)->reader_id, 3);
	env_ring_free(&ring);
}

/* EL2 shares contiguous pages together, unless there are too many for one call. */
static void contiguous_pages(void **state)
{
	const u32 nr = HYPTRACE_SLOTS_PER_TABLE;
	u32 fail, i;
	s64 ret;

	(void)state;
	env_packed = true;
	env_start(POOL);
	env_packed = false;
	for (fail = 0; fail <= 20; fail++) {
		begin(nr);
		dir();
		/* a contiguous run, ten pages in reverse order, and another contiguous run */
		env_ring_list(&ring, 0);
		for (i = 0; i < 10; i++)
			list_entry(40 + i, env_pfn(49 - i));
		assert_int_equal(hcall(HYPTRACE_OP_RING_TABLE, table_pfn(0), 0), 1);
		env_fail_share = fail;
		ret = share_all();
		assert_int_equal(ret, env_fail_share || !fail ? 0 : -ENOMEM);
		env_fail_share = 0;
		assert_int_equal(env_count(ENV_PINNED), env_rings[CPU].nr_loaded);
		if (env_rings[CPU].nr_loaded < nr)
			assert_int_equal(share_all(), 0);
		for (i = 0; i < nr; i++) {
			u32 page = i >= 40 && i < 50 ? 89 - i : i;

			assert_ptr_equal(hyptrace_slot_at(&env_rings[CPU], i)->page,
					 env_page(page));
			assert_int_equal(hyptrace_slot_at(&env_rings[CPU], i)->id, i);
		}
		assert_int_equal(hcall(HYPTRACE_OP_RING_READY, meta_pfn(), 0), 0);
		env_ring_free(&ring);
	}
	env_stop();
}

/* EL2 must ignore the entries after the last data page. */
static void entries_in_excess(void **state)
{
	struct hyptrace_table_entry all[HYPTRACE_SLOTS_PER_TABLE];

	(void)state;
	begin(4);
	dir();
	memset(all, 0xff, sizeof(all));
	env_host_write(env_ring_table(&ring, 0), 0, all, sizeof(all));
	list_entry(0, env_pfn(0));
	list_entry(1, env_pfn(1));
	list_entry(2, env_pfn(2));
	list_entry(3, env_pfn(3));
	assert_int_equal(hcall(HYPTRACE_OP_RING_TABLE, table_pfn(0), 0), 1);
	assert_int_equal(share_all(), 0);
	assert_int_equal(env_rings[CPU].nr_loaded, 4);
	assert_int_equal(env_count(ENV_PINNED), 4);
}

static void bad_meta(void **state)
{
	u32 i;

	(void)state;
	begin(4);
	dir();
	table(0);
	for (i = 0; i < ENV_NR(no_page); i++)
		refused(-EINVAL, HYPTRACE_OP_RING_READY, CPU, no_page[i], 0);
	env_share(POOL - 1);
	refused(-EPERM, HYPTRACE_OP_RING_READY, CPU, env_pfn(POOL - 1), 0);
	refused(-EPERM, HYPTRACE_OP_RING_READY, CPU, env_pfn(2), 0);
	refused(-EPERM, HYPTRACE_OP_RING_READY, CPU, table_pfn(0), 0);
	refused(-ENODEV, HYPTRACE_OP_SWAP, CPU, 0, 0);
	env_cpu(CPU);
	refused(-ENODEV, HYPTRACE_OP_ATTACH, CPU, 2, 0);
	assert_int_equal(hcall(HYPTRACE_OP_RING_READY, meta_pfn(), 0), 0);
	env_ring_free(&ring);
}

/* A page may be used only once, in one ring. */
static void pages_of_another_ring(void **state)
{
	struct env_ring other;
	u32 page;

	(void)state;
	env_ring_load(&other, 0, 400, 4, 0);
	begin(4);
	dir();
	for (page = 402; page <= 404; page += 2) {	/* a data page, and its meta page */
		env_ring_list(&ring, 0);
		list_entry(3, env_pfn(page));
		assert_int_equal(hcall(HYPTRACE_OP_RING_TABLE, table_pfn(0), 0), 1);
		assert_int_equal(share_all(), -EPERM);
		refused(-EPERM, HYPTRACE_OP_RING_TABLE, CPU, 0, 0);
		while (hcall(HYPTRACE_OP_RING_FREE, 0, 0) == 1)
			;
		begin(4);
		dir();
	}
	table(0);
	refused(-EPERM, HYPTRACE_OP_RING_READY, CPU, env_pfn(404), 0);
	env_ring_free(&other);
}

static void not_while_attached(void **state)
{
	(void)state;
	env_ring_load(&ring, CPU, 0, 300, 0);
	env_cpu(CPU);
	assert_int_equal(hcall(HYPTRACE_OP_ATTACH, 2, 0), 0);
	refused(-EBUSY, HYPTRACE_OP_RING_FREE, CPU, 0, 0);
	hyptrace_cpu_off();
	refused(-EBUSY, HYPTRACE_OP_RING_FREE, CPU, 0, 0);
	env_cpu(0);
	refused(-EBUSY, HYPTRACE_OP_RING_FREE, CPU, 0, 0);
	assert_int_equal(hcall(HYPTRACE_OP_DETACH, 0, 0), 0);
	env_ring_free(&ring);
	/* When its CPU is switched on again, it has no ring. */
	env_cpu(CPU);
	hyptrace_cpu_on();
	hyptrace(selftest, 1);
	refused(-ENODEV, HYPTRACE_OP_SYNC, CPU, 0, 0);
}

/* After the first RING_FREE, EL2 must refuse all other ops until the ring is empty. */
static void while_freeing(void **state)
{
	(void)state;
	env_ring_load(&ring, CPU, 0, 300, 0);
	env_cpu(CPU);
	while (hcall(HYPTRACE_OP_RING_FREE, 0, 0) > 0) {
		refused(-EBUSY, HYPTRACE_OP_RING_BEGIN, CPU, 4, 0);
		refused(-EINVAL, HYPTRACE_OP_RING_DIR, CPU, env_pfn(POOL - 1), 0);
		refused(-EINVAL, HYPTRACE_OP_RING_TABLE, CPU, env_pfn(POOL - 1), 0);
		refused(-EINVAL, HYPTRACE_OP_RING_READY, CPU, env_pfn(300), 0);
		refused(-ENODEV, HYPTRACE_OP_ATTACH, CPU, 2, 0);
		refused(-ENODEV, HYPTRACE_OP_SWAP, CPU, 0, 0);
		refused(-ENODEV, HYPTRACE_OP_SYNC, CPU, 0, 0);
		refused(-ENODATA, HYPTRACE_OP_WRITE, 7, 0, 0);
	}
	env_ring_load(&ring, CPU, 350, 3, HYPTRACE_RING_DISCARD);
	env_ring_free(&ring);
}

/* If EL2 cannot release a page, a later call retries it. */
static void retry_release(void **state)
{
	u32 fail, i, done;
	s64 ret;

	(void)state;
	for (fail = 1; fail <= 4; fail++) {
		env_ring_load(&ring, CPU, 0, 300, 0);
		env_fail_release = fail;
		done = 0;
		for (i = 0; i < 100; i++) {
			ret = hcall(HYPTRACE_OP_RING_FREE, 0, 0);
			if (ret == -ENOMEM) {
				done++;
				refused(-EBUSY, HYPTRACE_OP_RING_BEGIN, CPU, 4, 0);
				continue;
			}
			if (!ret)
				break;
			assert_int_equal(ret, 1);
		}
		assert_int_equal(done, 1);
		assert_int_equal(ret, 0);
		assert_int_equal(env_count(ENV_HYP), 0);
		assert_int_equal(env_count(ENV_PINNED), 0);
	}
}

/* Free a ring that is built up to any point: EL2 must release all pages. */
static void free_half_built(void **state)
{
	u32 tables, i;

	(void)state;
	for (tables = 0; tables <= 3; tables++) {
		begin(300);
		dir();
		for (i = 0; i < tables; i++)
			table(i);
		assert_int_equal(env_count(ENV_PINNED),
				 tables == 3 ? 300 : tables * 128);
		free_all();
	}
}

#define WITH_POOL(test)	cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_POOL(no_such_op),
		WITH_POOL(no_such_cpu),
		WITH_POOL(while_empty),
		WITH_POOL(bad_begin),
		WITH_POOL(order),
		WITH_POOL(cannot_donate),
		WITH_POOL(bad_entry),
		WITH_POOL(dirty_pages),
		cmocka_unit_test(contiguous_pages),
		WITH_POOL(entries_in_excess),
		WITH_POOL(bad_meta),
		WITH_POOL(pages_of_another_ring),
		WITH_POOL(not_while_attached),
		WITH_POOL(while_freeing),
		WITH_POOL(retry_release),
		WITH_POOL(free_half_built),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
