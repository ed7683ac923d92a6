// SPDX-License-Identifier: GPL-2.0-only
/*
 * The storm: on each CPU a writer records numbered events into a small ring as fast as
 * it can. A reader follows it and swaps, while another thread calls EL2 and sets the
 * clock. In the end each number must have been either read or reported lost. Also built
 * with TSan, as test_ring_storm_tsan.c, and with more events.
 *
 * HYPTRACE_TEST_SEED and HYPTRACE_TEST_EVENTS (in each mode) change the defaults.
 */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "ring_model.h"

#ifndef EVENTS
#define EVENTS		1000000
#endif
#define RESET_EVENTS	600000
#define LANES		(ENV_CPUS - 1)	/* CPUs with a writer; the last one has none */
#define MIN_PAGES	3
#define MAX_PAGES	5
#define MAX_STEPS	1000	/* of a reader that ends early */
#define FIRST_STEPS	20	/* few: one reader must end early on any machine */
#define SEED		0x73746f726d
#define RAW_PAYLOAD	150	/* long, and not a multiple of 4 */

/* Only the main thread may call cmocka: in any other thread a failure aborts the program. */
#define require(cond)							\
	do {								\
		if (!(cond)) {						\
			fprintf(stderr, "%s:%d: failed: %s\n", __FILE__,	\
				__LINE__, #cond);			\
			abort();					\
		}							\
	} while (0)

/* What the threads of all CPUs share. */
static struct {
	u64 events;	/* of each CPU */
	u64 seed;
	bool resets;
	bool over;	/* all readers have read everything */
} storm;

/**
 * struct lane - a CPU with its ring, its writer, and its readers one after another
 * @slow:	the reader sleeps between pages
 * @ends_early:	the reader ends at a random step, and the next reader continues
 * @written:	the writer has finished
 * @steps:	how many steps the present reader has left, if @ends_early
 * @nr_ended:	how many readers have ended early
 *
 * The fields from @steps on belong to the reader, which leaves them to the next reader.
 */
static struct lane {
	struct env_ring host;
	u32 cpu;
	bool slow;
	bool ends_early;
	bool written;

	u64 steps;
	u32 nr_ended;
	u32 id;
	u32 seen;
	u64 consumed;
	u64 expect;
	u64 read;
	u64 lost;
	u64 time;
} lanes[LANES];

static void write_one(u64 number)
{
	struct hyptrace_ring *ring = hyptrace_this_ring();
	void *to;
	u64 now;

	switch (number % 8) {
	case 1:
		hyptrace_host_ring->vcpu = number >> 8 & 0x7fffffff;
		hyptrace(hyp_enter, number);
		break;
	case 5:
		now = hyptrace_clock_read(&ring->clock);
		to = hyptrace_ring_reserve(ring, &now, RAW_PAYLOAD);
		if (to) {
			model_fill(to, number, RAW_PAYLOAD);
			hyptrace_ring_commit(ring, ring->commit, ring->recorded, to, now,
					     RAW_PAYLOAD);
		}
		break;
	default:
		hyptrace(selftest, number);
	}
}

/* Disturb the CPU in ways that must not lose an event. */
static void disturb(const struct lane *lane, u64 what)
{
	s64 ret = 0;

	switch (what % 4) {
	case 0:
		hyptrace_cpu_off();
		hyptrace_cpu_on();
		break;
	case 1:
		ret = hyptrace_hcall(HYPTRACE_OP_DETACH, lane->cpu, 0, 0);
		break;
	case 2:
		sched_yield();
		break;
	case 3:
		if (storm.resets)
			ret = hyptrace_hcall(HYPTRACE_OP_RESET, lane->cpu, 0, 0);
		else
			usleep(what >> 8 & 127);
	}
	require(!ret);
	ret = hyptrace_hcall(HYPTRACE_OP_ATTACH, lane->cpu, HYPTRACE_ALL_EVENTS, 0);
	require(!ret);
}

/* All writers change the counter, so it sometimes jumps back. No ring's time may go back. */
static void *writer(void *arg)
{
	struct lane *lane = arg;
	u64 seed = storm.seed + lane->cpu, number;

	env_cpu(lane->cpu);
	require(!hyptrace_hcall(HYPTRACE_OP_ATTACH, lane->cpu, HYPTRACE_ALL_EVENTS, 0));
	for (number = 0; number < storm.events; number++) {
		u64 what = env_random(&seed);

		WRITE_ONCE(env_counter, READ_ONCE(env_counter) + (what & 1023));
		if (!(what >> 32 & 2047))
			WRITE_ONCE(env_counter, READ_ONCE(env_counter) + BIT_ULL(28));
		write_one(number);
		if (!(what >> 20 & 1023))
			disturb(lane, what >> 48);
	}
	/* Order all events before @written. Pairs with reader(). */
	smp_store_release(&lane->written, true);

	return arg;
}

/* Make the calls that any CPU may make at any time, and set the clock as the driver does. */
static void *any_cpu_calls(void *arg)
{
	u32 cpu;

	env_cpu(LANES);
	while (!READ_ONCE(storm.over)) {
		u64 now = READ_ONCE(env_counter);

		require(!hyptrace_hcall(HYPTRACE_OP_CLOCK, ENV_NS_CLOCK, now, now));
		for (cpu = 0; cpu < LANES; cpu++) {
			require(!hyptrace_hcall(HYPTRACE_OP_SYNC, cpu, 0, 0));
			require(hyptrace_hcall(HYPTRACE_OP_RING_READY, cpu, 0, 0) == -EINVAL);
			require(hyptrace_hcall(HYPTRACE_OP_RING_BEGIN, cpu, 4, 0) == -EBUSY);
		}
		usleep(50);
	}

	return arg;
}

/* Count a step of the reader; false if it must end now. */
static bool may_continue(struct lane *lane)
{
	return !lane->ends_early || (lane->steps && --lane->steps);
}

static void read_event(struct lane *lane, const struct decoded *event, const u8 *payload)
{
	struct model_event due = { .number = lane->expect };

	if (storm.resets) {
		/* Events lost by a reset are not reported: take the number from the event. */
		if (event->size != 8)
			memcpy(&due.number, payload + (event->size == 16 ? 8 : 0), 8);
		else
			while (due.number % 8 != 1 || (u8)due.number != payload[2])
				due.number++;
		require(due.number >= lane->expect);
		lane->expect = due.number;
	}
	if (due.number % 8 == 5)
		due.payload = RAW_PAYLOAD;
	else
		due.kind = due.number % 8 == 1 ? MODEL_ENTER : MODEL_SELFTEST;
	if (!storm.resets || due.kind != MODEL_ENTER)
		require(model_matches(&due, payload));
	/*
	 * A reset sets the time back if the counter has jumped far back. Here the writer
	 * resets without waiting for the reader, unlike the driver.
	 */
	require(event->time >= lane->time || storm.resets);
	lane->time = event->time;
	lane->expect++;
	lane->read++;
}

/* Read the new events up to commit; false if the reader must end before that. */
static bool look(struct lane *lane)
{
	const struct hyptrace_subbuf *page = env_ring_data(&lane->host, lane->id);
	struct decoded events[DECODE_MAX];
	/* Pairs with (A) in hyp/ring.h:hyptrace_ring_commit(). */
	u64 commit = smp_load_acquire(&page->commit);
	int nr;

	if (commit <= lane->consumed)
		return may_continue(lane);
	nr = decode_own(page, commit, events);
	require(nr >= 0);
	for (; (int)lane->seen < nr; lane->seen++) {
		if (!may_continue(lane))
			return false;
		read_event(lane, &events[lane->seen], page->data + events[lane->seen].offset);
	}
	lane->consumed = commit;

	return may_continue(lane);
}

/* Swap to the next page; true if all events have been read. */
static bool next_page(struct lane *lane, bool last)
{
	s64 ret = hyptrace_hcall(HYPTRACE_OP_SWAP, lane->cpu, lane->consumed, 0);
	struct hyptrace_meta *meta = env_ring_meta(&lane->host);

	if (ret < 0) {
		require(ret == -EAGAIN || ret == -ESTALE);
		return ret == -EAGAIN && last;
	}
	require(ret < lane->host.nr_pages && ret != lane->id);
	require(READ_ONCE(meta->reader_id) == ret || storm.resets);
	lane->id = ret;
	lane->seen = 0;
	lane->consumed = 0;
	if (!storm.resets) {
		lane->lost += READ_ONCE(meta->reader_lost);
		lane->expect += READ_ONCE(meta->reader_lost);
	}

	return false;
}

/* Run the reader; true if all events have been read, false if it has ended before. */
static bool reader(struct lane *lane)
{
	u64 seed = storm.seed + lane->read + lane->nr_ended;
	bool last, done = false;

	lane->steps = env_random(&seed) % (lane->nr_ended ? MAX_STEPS : FIRST_STEPS) + 1;
	while (!done) {
		/*
		 * An empty ring is the end only if the writer had finished before. Pairs with
		 * writer().
		 */
		last = smp_load_acquire(&lane->written);
		if (!look(lane))
			return false;
		if (lane->slow)
			usleep(env_random(&seed) % 200);
		done = next_page(lane, last);
		if (!done && !may_continue(lane))
			return false;
	}

	return true;
}

static void *reader_thread(void *arg)
{
	struct lane *lane = arg;

	/* A reader does not run on the writer's CPU. */
	env_cpu((lane->cpu + 1) % ENV_CPUS);

	return reader(lane) ? arg : NULL;
}

/* Run the readers of a CPU one after another, each in a thread of its own. */
static void *readers(void *arg)
{
	struct lane *lane = arg;
	pthread_t thread;
	void *ended;

	for (;;) {
		require(!pthread_create(&thread, NULL, reader_thread, lane));
		require(!pthread_join(thread, &ended));
		if (ended)
			return arg;
		lane->nr_ended++;
	}
}

static void check_books(struct lane *lane)
{
	struct hyptrace_meta *meta = env_ring_meta(&lane->host);
	u64 untold;

	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_SYNC, lane->cpu, 0, 0), 0);
	assert_true(lane->read > 0);
	assert_true(lane->ends_early == (lane->nr_ended > 0));
	if (storm.resets)
		return;
	assert_int_equal(meta->written, storm.events);
	assert_int_equal(meta->written, lane->read + meta->overrun + meta->dropped);
	/* Events that were dropped after the last record have not been reported. */
	untold = meta->overrun + meta->dropped - lane->lost;
	assert_int_equal(lane->expect + untold, storm.events);
	assert_int_equal(env_rings[lane->cpu].pending, untold);
}

static void lane_start(struct lane *lane, u32 cpu, u32 nr_pages, u32 flags)
{
	memset(lane, 0, sizeof(*lane));
	lane->cpu = cpu;
	lane->slow = cpu & 1;
	lane->ends_early = cpu & 2;
	env_ring_load(&lane->host, cpu, cpu * env_ring_pages(nr_pages), nr_pages, flags);
	lane->id = env_ring_meta(&lane->host)->reader_id;
	env_cpu(cpu);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, cpu, 0, 0), 0);
}

static void lane_end(struct lane *lane)
{
	check_books(lane);
	env_cpu(lane->cpu);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, lane->cpu, 0, 0), 0);
	env_ring_free(&lane->host);
	print_message("%u pages, %s reader%s: %llu read, %llu lost, %u readers ended early\n",
		      lane->host.nr_pages, lane->slow ? "slow" : "fast",
		      lane->ends_early ? "s" : "", (unsigned long long)lane->read,
		      (unsigned long long)lane->lost, lane->nr_ended);
}

static void run_storm(u32 nr_pages, u32 flags, u64 events, bool resets)
{
	pthread_t writing[LANES], reading[LANES], busy;
	u32 cpu;

	memset(&storm, 0, sizeof(storm));
	storm.events = events / LANES;
	storm.seed = env_seed(SEED + nr_pages);
	storm.resets = resets;
	env_start(LANES * env_ring_pages(nr_pages));
	for (cpu = 0; cpu < LANES; cpu++)
		lane_start(&lanes[cpu], cpu, nr_pages, flags);

	assert_int_equal(pthread_create(&busy, NULL, any_cpu_calls, NULL), 0);
	for (cpu = 0; cpu < LANES; cpu++) {
		assert_int_equal(pthread_create(&writing[cpu], NULL, writer, &lanes[cpu]), 0);
		assert_int_equal(pthread_create(&reading[cpu], NULL, readers, &lanes[cpu]), 0);
	}
	for (cpu = 0; cpu < LANES; cpu++) {
		pthread_join(writing[cpu], NULL);
		pthread_join(reading[cpu], NULL);
	}
	WRITE_ONCE(storm.over, true);
	pthread_join(busy, NULL);

	for (cpu = 0; cpu < LANES; cpu++)
		lane_end(&lanes[cpu]);
	env_stop();
}

static void all_storms(u32 flags)
{
	u64 events = env_number("HYPTRACE_TEST_EVENTS", EVENTS);
	u32 nr_pages;

	for (nr_pages = MIN_PAGES; nr_pages <= MAX_PAGES; nr_pages++)
		run_storm(nr_pages, flags, events / (MAX_PAGES - MIN_PAGES + 1) + 1, false);
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
	u64 events = env_number("HYPTRACE_TEST_EVENTS", RESET_EVENTS);

	(void)state;
	run_storm(3, 0, events, true);
	run_storm(4, HYPTRACE_RING_DISCARD, events, true);
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
