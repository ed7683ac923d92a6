// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots in a storm: a writer fills small rings as fast as it can, with or without a
 * consumer, while snapshots are taken. In each snapshot the event numbers must be
 * consecutive except for reported losses. A snapshot must also have all events up to its
 * start that were neither consumed nor cleared. Also built with TSan, as
 * test_ring_snapshot_tsan.c.
 *
 * HYPTRACE_TEST_SEED and HYPTRACE_TEST_SNAPSHOTS change the defaults.
 */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "hyp_env.h"
#include "lib/internal.h"

#define WRITER_CPU	1
#define SNAPSHOTS	3000
#define EVENTS_BEFORE	1000	/* written before the first snapshot */
#define EVENTS_EACH	50	/* written per snapshot, at least, on average */
#define SEED		0x736e6170
#define SHORT_PAYLOAD	12
#define LONG_PAYLOAD	200
#define NUMBER_AT	4

/* Only the main thread may call cmocka: in any other thread a failure aborts the program. */
#define require(cond)							\
	do {								\
		if (!(cond)) {						\
			fprintf(stderr, "%s:%d: failed: %s\n", __FILE__,	\
				__LINE__, #cond);			\
			abort();					\
		}							\
	} while (0)

enum consumer_kind {
	NOBODY,
	EAGER,		/* follows the writer */
	LAZY,		/* stops within a sub-buffer while the writer overwrites the ring */
};

static struct storm {
	struct env_ring host;
	struct hyptrace_map_meta meta;	/* as the driver keeps it */
	enum consumer_kind kind;
	u64 seed;
	u32 first;	/* the consumer's first sub-buffer */
	u64 clearing;	/* a reset of the events before this one has begun */
	u64 cleared;	/* a reset of the events before this one has ended */
	u64 written;	/* 1 + number of the newest readable event */
	u64 consumed;	/* 1 + number of the newest consumed event */
	u64 writer_acts;	/* odd while the writer changes the ring */
	u64 consumer_acts;	/* odd while the consumer's fields in meta change */
	bool clears;
	bool over;
} storm;

/* Replaces the library's function: here the sub-buffers are not contiguous. */
const void *hyptrace_reader_subbuf(const struct hyptrace_reader *reader, uint32_t id)
{
	(void)reader;
	return id < storm.host.nr_pages ? env_ring_data(&storm.host, id) : NULL;
}

/* Mark the begin or the end of a change that a snapshot may observe. */
static void act(u64 *acts)
{
	__atomic_fetch_add(acts, 1, __ATOMIC_SEQ_CST);
}

/* Whether a change was in progress at @before, or has begun since. */
static bool acted_since(u64 *acts, u64 before)
{
	return before & 1 || __atomic_load_n(acts, __ATOMIC_SEQ_CST) != before;
}

static bool write_one(u64 number)
{
	const u32 size = number % 8 ? SHORT_PAYLOAD : LONG_PAYLOAD;
	struct hyptrace_ring *ring = hyptrace_this_ring();
	u64 now = hyptrace_clock_read(&ring->clock);
	void *to = hyptrace_ring_reserve(ring, &now, size);

	if (!to)
		return false;
	memset(to, 0xee, size);
	memcpy(to + NUMBER_AT, &number, sizeof(number));
	hyptrace_ring_commit(ring, ring->commit, ring->recorded, to, now, size);
	return true;
}

/* Clear the ring as the driver does: while @begin is ~0, a snapshot has no events. */
static void clear(u64 number)
{
	/* Order @clearing before the reset. Pairs with the last acquire in take(). */
	smp_store_release(&storm.clearing, number);
	__atomic_store_n(&storm.meta.begin, ~0ULL, __ATOMIC_SEQ_CST);
	require(!hyptrace_hcall(HYPTRACE_OP_RESET, WRITER_CPU, 0, 0));
	/* Order the reset before @cleared. Pairs with the first acquire in take(). */
	smp_store_release(&storm.cleared, number);
	/* Order the reset before @begin. Pairs with the acquire in tools/lib/ring/snapshot.c. */
	smp_store_release(&storm.meta.begin,
			  READ_ONCE(env_ring_meta(&storm.host)->begin));
}

static void *writer(void *arg)
{
	u64 seed = storm.seed, number = 0;

	env_cpu(WRITER_CPU);
	require(!hyptrace_hcall(HYPTRACE_OP_ATTACH, WRITER_CPU, HYPTRACE_ALL_EVENTS, 0));
	while (!READ_ONCE(storm.over)) {
		u64 what = env_random(&seed);

		WRITE_ONCE(env_counter, env_counter + (what & 255));
		if (!(what >> 32 & 2047))
			WRITE_ONCE(env_counter, env_counter + BIT_ULL(28));
		number++;
		act(&storm.writer_acts);
		if (write_one(number - 1))
			/*
			 * Order the event before @written. Pairs with the second acquire in
			 * take().
			 */
			smp_store_release(&storm.written, number);
		if (storm.clears && !(what >> 44 & 8191))
			clear(number);
		act(&storm.writer_acts);
		if (!(what >> 20 & 1023))
			sched_yield();
	}
	return arg;
}

/* Consume at most @records of the sub-buffer's records. True if that was all of it. */
static bool consume(struct hyptrace_decoder *dec, u64 id, u32 records)
{
	const struct hyptrace_subbuf *page = env_ring_data(&storm.host, id);
	/* Pairs with (A) in hyp/ring.h:hyptrace_ring_commit(). */
	u64 commit = smp_load_acquire(&page->commit), number;
	union {
		struct hyptrace_subbuf subbuf;
		u8 bytes[PAGE_SIZE];
	} copy = { .subbuf.commit = commit };
	struct hyptrace_record rec;
	u32 read = 0;

	memcpy(copy.subbuf.data, page->data, commit);
	require(!hyptrace_decoder_load(dec, &copy, HYPTRACE_SUBBUF_HEADER + commit, NULL));
	while (records-- && hyptrace_decoder_next(dec, &rec, NULL) > 0) {
		memcpy(&number, rec.data + NUMBER_AT, sizeof(number));
		/* The decoder starts with the records that were consumed before. */
		if (number >= storm.consumed)
			WRITE_ONCE(storm.consumed, number + 1);
		read = (u8 *)rec.data + rec.size - copy.subbuf.data;
	}
	if (read)
		WRITE_ONCE(storm.meta.buffer.reader.read, read);
	return read == commit;
}

/* Swap as the driver does. */
static bool swap_page(u64 *id)
{
	s64 ret = hyptrace_hcall(HYPTRACE_OP_SWAP, WRITER_CPU,
				 READ_ONCE(storm.meta.buffer.reader.read), 0);

	require(ret >= 0 || ret == -EAGAIN || ret == -ESTALE);
	if (ret < 0)
		return false;
	*id = ret;
	WRITE_ONCE(storm.meta.buffer.reader.id, (u32)ret);
	/*
	 * Order the new reader's id before its @read. Pairs with the acquires in
	 * tools/lib/ring/snapshot.c.
	 */
	smp_store_release(&storm.meta.buffer.reader.read, 0);
	/* Order @read before @begin. Pairs with the acquires in tools/lib/ring/snapshot.c. */
	smp_store_release(&storm.meta.begin,
			  READ_ONCE(env_ring_data(&storm.host, ret)->time_stamp));
	return true;
}

static void *consumer(void *arg)
{
	struct hyptrace_decoder dec = {};
	u64 seed = storm.seed, id = storm.first;
	bool swapped;

	env_cpu(2);
	while (!READ_ONCE(storm.over)) {
		u64 what = env_random(&seed);

		if (storm.kind == LAZY && !(what & 3)) {
			consume(&dec, id, what >> 8 & 15);
			usleep(what >> 16 & 1023);
		}
		if (!consume(&dec, id, ~0U))
			continue;
		act(&storm.consumer_acts);
		swapped = swap_page(&id);
		act(&storm.consumer_acts);
		if (!swapped)
			sched_yield();
	}
	return arg;
}

/*
 * Take a snapshot and check it. Returns the number of its events, or -1 if the snapshot
 * failed. It may fail only if the writer or the consumer changed the ring meanwhile.
 */
static int take(u64 last)
{
	struct hyptrace_reader reader = {
		.meta = &storm.meta.buffer,
		.subbuf_size = PAGE_SIZE,
		.data_size = storm.host.nr_pages * PAGE_SIZE,
	};
	/* Pairs with the release in clear(). */
	u64 cleared = smp_load_acquire(&storm.cleared), consumed, clearing;
	/* Pairs with the release in writer(). */
	u64 written = smp_load_acquire(&storm.written);
	u64 writer_acts = __atomic_load_n(&storm.writer_acts, __ATOMIC_SEQ_CST);
	u64 consumer_acts = __atomic_load_n(&storm.consumer_acts, __ATOMIC_SEQ_CST);
	u64 number, end = 0, time = 0;
	struct hyptrace_snapshot *snap;
	struct hyptrace_record rec;
	struct hyptrace_error err;
	int nr = 0, ret;

	snap = hyptrace_snapshot_take(&reader, env_rings[WRITER_CPU].discard ?
				      HYPTRACE_MODE_DISCARD : HYPTRACE_MODE_OVERWRITE, last, &err);
	if (!snap) {
		require(err.errnum == EAGAIN);
		require(acted_since(&storm.writer_acts, writer_acts) ||
			acted_since(&storm.consumer_acts, consumer_acts));
		return -1;
	}
	while ((ret = hyptrace_snapshot_next(snap, &rec, NULL)) > 0) {
		memcpy(&number, rec.data + NUMBER_AT, sizeof(number));
		require(number >= cleared);
		require(!nr || number == end + rec.lost);
		require(rec.ts >= time);
		require(rec.size == (number % 8 ? SHORT_PAYLOAD : LONG_PAYLOAD));
		time = rec.ts;
		end = number + 1;
		nr++;
	}
	require(!ret);
	require(!last || hyptrace_snapshot_events(snap) == (u64)nr);
	hyptrace_snapshot_free(snap);

	consumed = READ_ONCE(storm.consumed);
	/* Pairs with the release in clear(). */
	clearing = smp_load_acquire(&storm.clearing);
	require(end >= written || consumed >= written || clearing >= written);
	return nr;
}

/* When the ring is at rest, a snapshot has all unread events. */
static void check_quiet_snapshots(void)
{
	struct hyptrace_meta *meta = env_ring_meta(&storm.host);

	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_SYNC, WRITER_CPU, 0, 0), 0);
	if (storm.kind == NOBODY)
		assert_int_equal(take(0), meta->written - meta->overrun - meta->dropped);
	assert_true(take(1) >= 0);
}

static void run_storm(u32 nr_pages, u32 flags, enum consumer_kind kind, bool clears)
{
	u64 nr = env_number("HYPTRACE_TEST_SNAPSHOTS", SNAPSHOTS), taken = 0, failed = 0, i;
	u64 events = 0;
	pthread_t threads[2];
	int ret;

	memset(&storm, 0, sizeof(storm));
	storm.seed = env_seed(SEED + nr_pages);
	storm.kind = kind;
	storm.clears = clears;
	env_start(env_ring_pages(nr_pages));
	env_ring_load(&storm.host, WRITER_CPU, 0, nr_pages, flags);
	storm.meta.buffer.meta_struct_len = sizeof(storm.meta);
	storm.first = env_ring_meta(&storm.host)->reader_id;
	storm.meta.buffer.reader.id = storm.first;
	storm.meta.begin = env_ring_meta(&storm.host)->begin;
	env_cpu(WRITER_CPU);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, WRITER_CPU, 0, 0), 0);

	assert_int_equal(pthread_create(&threads[0], NULL, writer, NULL), 0);
	if (kind != NOBODY)
		assert_int_equal(pthread_create(&threads[1], NULL, consumer, NULL), 0);
	while (READ_ONCE(storm.written) < EVENTS_BEFORE)
		sched_yield();
	/*
	 * The scheduler may delay any thread: go on until there are enough snapshots and
	 * events.
	 */
	for (i = 0; taken < nr || !events || READ_ONCE(storm.written) < nr * EVENTS_EACH; i++) {
		ret = take(i % 3 ? 0 : i % 500 + 1);
		if (ret < 0) {
			failed++;
		} else {
			taken++;
			events += ret;
		}
		if (ret <= 0)
			sched_yield();
	}
	WRITE_ONCE(storm.over, true);
	pthread_join(threads[0], NULL);
	if (kind != NOBODY)
		pthread_join(threads[1], NULL);
	check_quiet_snapshots();

	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, WRITER_CPU, 0, 0), 0);
	env_ring_free(&storm.host);
	env_stop();
	print_message("%u pages: %llu snapshots of %llu events while %llu were written, %llu failed\n",
		      nr_pages, (unsigned long long)taken, (unsigned long long)events,
		      (unsigned long long)storm.written, (unsigned long long)failed);
}

static void overwrite(void **state)
{
	enum consumer_kind kind;

	(void)state;
	for (kind = NOBODY; kind <= LAZY; kind++) {
		run_storm(3, 0, kind, false);
		run_storm(4, 0, kind, false);
		run_storm(8, 0, kind, false);
	}
}

static void discard(void **state)
{
	enum consumer_kind kind;

	(void)state;
	for (kind = EAGER; kind <= LAZY; kind++) {
		run_storm(3, HYPTRACE_RING_DISCARD, kind, false);
		run_storm(8, HYPTRACE_RING_DISCARD, kind, false);
	}
}

static void clears(void **state)
{
	(void)state;
	run_storm(4, 0, NOBODY, true);
	run_storm(8, HYPTRACE_RING_DISCARD, NOBODY, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overwrite),
		cmocka_unit_test(discard),
		cmocka_unit_test(clears),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
