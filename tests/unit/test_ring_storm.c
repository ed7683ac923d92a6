// SPDX-License-Identifier: GPL-2.0-only
/*
 * The storm: a writer on its CPU writes numbered events as fast as it can into a
 * small ring, while a reader follows and swaps, others look, and the clock is set.
 * In the end the numbers read are exactly those that were not reported lost. Also
 * built with TSan, as test_ring_storm_tsan.c.
 *
 * HYPTRACE_TEST_SEED and HYPTRACE_TEST_EVENTS say otherwise.
 */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "ring_model.h"

#define WRITER_CPU	1
#define EVENTS		150000
#define SEED		0x73746f726d
#define RAW_PAYLOAD	150	/* long, and not a multiple of 4 */

/* A thread that fails takes the program with it: cmocka is for one thread. */
#define require(cond)							\
	do {								\
		if (!(cond)) {						\
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__,	\
				__LINE__, #cond);			\
			abort();					\
		}							\
	} while (0)

enum reader_kind {
	EAGER,		/* looks again and again */
	SLEEPY,		/* sleeps between pages */
	MORTAL,		/* ends after some pages, another one goes on */
	NR_READERS
};

static struct storm {
	struct env_ring host;
	u64 events;
	u64 seed;
	bool resets;
	enum reader_kind kind;
	bool written;	/* the writer is done */
	bool over;	/* the reader too */

	/* the reader's, kept for the one that comes after it */
	u32 id;
	u32 seen;
	u64 consumed;
	u64 expect;
	u64 read;
	u64 lost;
	u64 time;
} storm;

static void write_one(u64 number)
{
	struct hyptrace_ring *ring = hyptrace_this_ring();
	void *to;

	switch (number % 8) {
	case 1:
		hyptrace_host_vcpu = number >> 8 & 0x7fffffff;
		hyptrace(hyp_enter, number);
		break;
	case 5:
		to = hyptrace_ring_reserve(ring, hyptrace_clock(&ring->clock),
					   RAW_PAYLOAD);
		if (to) {
			model_fill(to, number, RAW_PAYLOAD);
			hyptrace_ring_commit(ring, to, RAW_PAYLOAD);
		}
		break;
	default:
		hyptrace(selftest, number);
	}
}

/* What a CPU goes through without an event being missed. */
static void interlude(u64 what)
{
	s64 ret = 0;

	switch (what % 4) {
	case 0:
		hyptrace_cpu_off();
		hyptrace_cpu_on();
		break;
	case 1:
		ret = hyptrace_hcall(HYPTRACE_OP_DETACH, WRITER_CPU, 0, 0);
		break;
	case 2:
		sched_yield();
		break;
	case 3:
		if (storm.resets)
			ret = hyptrace_hcall(HYPTRACE_OP_RESET, WRITER_CPU, 0, 0);
		else
			usleep(what >> 8 & 127);
	}
	require(!ret);
	ret = hyptrace_hcall(HYPTRACE_OP_ATTACH, WRITER_CPU, HYPTRACE_ALL_EVENTS, 0);
	require(!ret);
}

static void *writer(void *arg)
{
	u64 seed = storm.seed, number;

	env_cpu(WRITER_CPU);
	require(!hyptrace_hcall(HYPTRACE_OP_ATTACH, WRITER_CPU, HYPTRACE_ALL_EVENTS, 0));
	for (number = 0; number < storm.events; number++) {
		u64 what = env_random(&seed);

		WRITE_ONCE(env_counter, env_counter + (what & 1023));
		if (!(what >> 32 & 2047))
			WRITE_ONCE(env_counter, env_counter + BIT_ULL(28));
		write_one(number);
		if (!(what >> 20 & 1023))
			interlude(what >> 48);
	}
	/* pairs with the acquire in reader(): all that was written is there */
	smp_store_release(&storm.written, true);

	return arg;
}

/* Calls that any CPU may make at any time, and the clock that is kept in step. */
static void *busybody(void *arg)
{
	env_cpu(3);
	while (!READ_ONCE(storm.over)) {
		u64 now = READ_ONCE(env_counter);

		require(!hyptrace_hcall(HYPTRACE_OP_SYNC, WRITER_CPU, 0, 0));
		require(!hyptrace_hcall(HYPTRACE_OP_CLOCK, ENV_NS_CLOCK, now, now));
		require(hyptrace_hcall(HYPTRACE_OP_RING_READY, WRITER_CPU, 0, 0) == -EINVAL);
		require(hyptrace_hcall(HYPTRACE_OP_RING_BEGIN, WRITER_CPU, 4, 0) == -EBUSY);
		usleep(50);
	}

	return arg;
}

static void read_event(const struct decoded *event, const u8 *payload)
{
	struct model_event due = { .number = storm.expect };

	if (storm.resets) {
		/* What was thrown away is not told: take the number as it is. */
		if (event->size != 8)
			memcpy(&due.number, payload + (event->size == 16 ? 8 : 0), 8);
		else
			while (due.number % 8 != 1 || (u8)due.number != payload[2])
				due.number++;
		require(due.number >= storm.expect);
		storm.expect = due.number;
	}
	if (due.number % 8 == 5)
		due.payload = RAW_PAYLOAD;
	else
		due.kind = due.number % 8 == 1 ? MODEL_ENTER : MODEL_SELFTEST;
	if (!storm.resets || due.kind != MODEL_ENTER)
		require(model_matches(&due, payload));
	require(event->time >= storm.time);
	storm.time = event->time;
	storm.expect++;
	storm.read++;
}

/* Take what is new up to commit. */
static void look(void)
{
	const struct hyptrace_subbuf *page = env_ring_data(&storm.host, storm.id);
	struct decoded events[DECODE_MAX];
	/* pairs with (A) in hyptrace_ring_commit() */
	u64 commit = smp_load_acquire(&page->commit);
	int nr;

	if (commit <= storm.consumed)
		return;
	nr = decode_own(page, commit, events);
	require(nr >= 0);
	for (; (int)storm.seen < nr; storm.seen++)
		read_event(&events[storm.seen],
			   page->data + events[storm.seen].offset);
	storm.consumed = commit;
}

/* True when the reader is to end. */
static bool next_page(bool last)
{
	s64 ret = hyptrace_hcall(HYPTRACE_OP_SWAP, WRITER_CPU, storm.consumed, 0);
	struct hyptrace_meta *meta = env_ring_meta(&storm.host);

	if (ret < 0) {
		require(ret == -EAGAIN || ret == -ESTALE);
		return ret == -EAGAIN && last;
	}
	require(ret < storm.host.nr_pages && ret != storm.id);
	require(READ_ONCE(meta->reader_id) == ret || storm.resets);
	storm.id = ret;
	storm.seen = 0;
	storm.consumed = 0;
	if (!storm.resets) {
		storm.lost += READ_ONCE(meta->reader_lost);
		storm.expect += READ_ONCE(meta->reader_lost);
	}

	return false;
}

static void *reader(void *arg)
{
	u64 seed = storm.seed + storm.read;
	u32 turns = storm.kind == MORTAL ? 20 : ~0;
	bool last, done = false;

	env_cpu(2);
	while (turns-- && !done) {
		/* Only if the writer had ended before (pairs with writer()) is this all. */
		last = smp_load_acquire(&storm.written);
		look();
		if (storm.kind == SLEEPY)
			usleep(env_random(&seed) % 200);
		done = next_page(last);
	}

	return done ? arg : NULL;
}

static void check_books(void)
{
	struct hyptrace_meta *meta = env_ring_meta(&storm.host);
	u64 untold;

	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_SYNC, WRITER_CPU, 0, 0), 0);
	if (storm.resets)
		return;
	assert_int_equal(meta->written, storm.events);
	assert_int_equal(meta->written, storm.read + meta->overrun + meta->dropped);
	/* Refused at the very end: missing before an event that never came. */
	untold = meta->overrun + meta->dropped - storm.lost;
	assert_int_equal(storm.expect + untold, storm.events);
	assert_int_equal(env_rings[WRITER_CPU].pending, untold);
	assert_true(storm.read > 0);
}

static void run_storm(u32 nr_pages, u32 flags, enum reader_kind kind, bool resets)
{
	pthread_t threads[3];
	void *ended;

	memset(&storm, 0, sizeof(storm));
	storm.events = env_number("HYPTRACE_TEST_EVENTS", EVENTS);
	storm.seed = env_seed(SEED + nr_pages);
	storm.kind = kind;
	storm.resets = resets;
	env_start(env_ring_pages(nr_pages));
	env_ring_load(&storm.host, WRITER_CPU, 0, nr_pages, flags);
	storm.id = env_ring_meta(&storm.host)->reader_id;
	env_cpu(WRITER_CPU);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, WRITER_CPU, 0, 0), 0);

	assert_int_equal(pthread_create(&threads[0], NULL, writer, NULL), 0);
	assert_int_equal(pthread_create(&threads[1], NULL, busybody, NULL), 0);
	do {
		assert_int_equal(pthread_create(&threads[2], NULL, reader, &storm), 0);
		pthread_join(threads[2], &ended);
	} while (!ended);
	WRITE_ONCE(storm.over, true);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);

	check_books();
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, WRITER_CPU, 0, 0), 0);
	env_ring_free(&storm.host);
	env_stop();
	print_message("%u pages: %llu read, %llu lost\n", nr_pages,
		      (unsigned long long)storm.read, (unsigned long long)storm.lost);
}

static void all_storms(u32 flags)
{
	enum reader_kind kind;

	for (kind = EAGER; kind < NR_READERS; kind++) {
		run_storm(3, flags, kind, false);
		run_storm(8, flags, kind, false);
	}
}

static void overwrite(void **state)
{
	(void)state;
	all_storms(0);
}

static void discard(void **state)
{
	(void)state;
	all_storms(HYPTRACE_RING_DISCARD);
}

static void resets(void **state)
{
	(void)state;
	run_storm(3, 0, EAGER, true);
	run_storm(4, HYPTRACE_RING_DISCARD, EAGER, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overwrite),
		cmocka_unit_test(discard),
		cmocka_unit_test(resets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
