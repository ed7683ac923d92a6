// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compare the ring with its simple model in long random sequences: events of each
 * size, swaps, resets, CPUs that are switched on and off, clocks that jump. Then do the
 * same while a hostile host keeps overwriting all pages that it shares with EL2.
 *
 * HYPTRACE_TEST_SEED and HYPTRACE_TEST_ROUNDS change the defaults.
 */
#include "ring_run.h"

#define ROUNDS		30000
#define WATCHED_PAGES	9	/* the first pages, compared byte by byte */

/* What a sequence does how often. */
struct mix {
	u32 max_burst;
	u32 swaps;		/* percent of the steps */
	u32 (*payload)(u64 *state);
};

static u32 short_payload(u64 *state)
{
	return 2 + env_random(state) % 111;
}

static u32 any_payload(u64 *state)
{
	u64 what = env_random(state);

	switch (what % 16) {
	case 0:
		return 113 + (what >> 8) % (HYPTRACE_MAX_PAYLOAD_BYTES - 112);
	case 1:
		return HYPTRACE_MAX_PAYLOAD_BYTES - (what >> 8) % 12;
	case 2:
		return 108 + (what >> 8) % 10;
	default:
		return 2 + (what >> 8) % 120;
	}
}

static u32 big_payload(u64 *state)
{
	return 113 + env_random(state) % (HYPTRACE_MAX_PAYLOAD_BYTES - 112);
}

static const struct mix mixes[] = {
	{ 60, 25, short_payload },
	{ 20, 25, any_payload },
	{ 200, 10, short_payload },
	{ 3, 60, any_payload },
	{ 8, 20, big_payload },
};

/*
 * Mostly a little later than @now. Sometimes near the limits of what a record can hold, or
 * earlier.
 */
static u64 next_time(struct run *run, u64 now)
{
	u64 what = env_random(&run->seed);
	u64 some = what >> 32;

	switch (what % 512) {
	case 0 ... 5:
		return now + BIT_ULL(27) - 4 + some % 8;
	case 6 ... 9:
		return now + (BIT_ULL(27) << some % 24) + some % 1000;
	case 10 ... 14:
		return now - some % (1 + (now < 100000 ? now : 100000));
	case 15:
		return 0;
	default:
		return now + some % 700;
	}
}

static void write_some(struct run *run, const struct mix *mix)
{
	u32 nr = 1 + env_random(&run->seed) % mix->max_burst;
	u64 now = run->model->last;

	while (nr--) {
		u64 what = env_random(&run->seed);

		now = next_time(run, now);
		/* Sometimes a jump that no record can hold, for this event only. */
		if (what >> 32 < BIT_ULL(20) && run->model->last < BIT_ULL(62))
			now = run->model->last + BIT_ULL(59) - 2 +
			      (what >> 4) % 4 + (what >> 6 & BIT_ULL(57));
		run_write(run, what % 8 < 6 ? MODEL_RAW :
			  what % 8 == 6 ? MODEL_ENTER : MODEL_SELFTEST,
			  mix->payload(&run->seed), now);
		if (now < run->model->last)
			now = run->model->last;
	}
}

static void swap_some(struct run *run)
{
	u64 what = env_random(&run->seed);
	u32 consumed = run_consumed(run);

	switch (what % 8) {
	case 0:
		run_swap(run, consumed ? (what >> 8) % consumed : 0);
		break;
	case 1:
		run_swap(run, consumed + (what >> 8) % 8192);
		break;
	case 2:
		run_swap(run, ~0ULL);
		break;
	case 3:
		run_drain(run);
		break;
	default:
		run_swap(run, consumed);
	}
}

static void step(struct run *run, const struct mix *mix)
{
	u64 what = env_random(&run->seed);
	u32 cpu = what >> 32 & 1 ? RUN_CPU : RUN_OTHER_CPU;
	u32 dice = what % 1000;

	if (dice < mix->swaps * 10) {
		swap_some(run);
		return;
	}
	switch (what >> 12 & 63) {
	case 0:
		run_attach(run, cpu, HYPTRACE_ALL_EVENTS);
		break;
	case 1:
		run_attach(run, cpu, what >> 33 & HYPTRACE_ALL_EVENTS);
		break;
	case 2:
		run_detach(run, cpu);
		break;
	case 3:
		run_power(run, false);
		break;
	case 4 ... 5:
		run_power(run, true);
		run_attach(run, RUN_CPU, HYPTRACE_ALL_EVENTS);
		break;
	case 6 ... 8:
		run_sync(run);
		break;
	case 9 ... 12:
		run_look(run);
		break;
	case 13:
		if (!(what >> 40 & 3))
			run_reset(run, cpu);
		break;
	default:
		write_some(run, mix);
	}
}

/* The state before a step. */
struct start {
	const struct hyptrace_subbuf *page;
	u64 next;
	u8 pages[WATCHED_PAGES * PAGE_SIZE];
};

static void begin_step(struct run *run, struct start *start)
{
	u32 i;

	start->page = run->ring->page;
	start->next = run->next;
	for (i = 0; i < run->host.nr_pages && i < WATCHED_PAGES; i++)
		memcpy(start->pages + i * PAGE_SIZE, env_ring_data(&run->host, i),
		       PAGE_SIZE);
}

/*
 * EL2 may have written only to the sub-buffers in which its writer was before and after the
 * step, and never to the reader's page.
 */
static void check_untouched(struct run *run, const struct start *start)
{
	struct hyptrace_slot *reader =
		hyptrace_slot_at(run->ring, run->host.nr_pages - 1);
	bool is_reset = !run->model->recorded && !run->model->dropped;
	/* A reset that sets the time back clears old time stamps. */
	u32 from = is_reset ? offsetof(struct hyptrace_subbuf, data) : 0, i;

	for (i = 0; i < run->host.nr_pages && i < WATCHED_PAGES; i++) {
		const u8 *page = (u8 *)env_ring_data(&run->host, i);

		if (page == (u8 *)start->page || page == (u8 *)run->ring->page)
			continue;
		if (page == (u8 *)reader->page ? is_reset : run->next != start->next)
			continue;
		assert_memory_equal(page + from, start->pages + i * PAGE_SIZE + from,
				    PAGE_SIZE - from);
	}
}

static void scribble(struct run *run)
{
	u8 junk[64];
	u32 nr = 1 + env_random(&run->seed) % 8, i;

	while (nr--) {
		u32 page = env_random(&run->seed) % (run->host.nr_pages + 1);
		u64 what = env_random(&run->seed);

		for (i = 0; i < sizeof(junk); i++)
			junk[i] = what % 3 ? env_random(&run->seed) : 0xff;
		/* Overwrite mostly the header. */
		env_host_write(run->host.first + page,
			       what & 8 ? 0 : (what >> 8) % (PAGE_SIZE - 64),
			       junk, sizeof(junk));
	}
}

static void sequence(u32 nr_pages, bool discard, const struct mix *mix, bool hostile,
		     u64 seed, u64 rounds)
{
	struct start *start = malloc(sizeof(*start));
	struct run run;
	u64 i;

	assert_non_null(start);

	run_start(&run, nr_pages, discard);
	run.seed = seed;
	run.hostile = hostile;
	for (i = 0; i < rounds; i++) {
		if (hostile)
			scribble(&run);
		begin_step(&run, start);
		step(&run, mix);
		run_check(&run);
		check_untouched(&run, start);
		if (i % (nr_pages * 8) == 0)
			run_check_pages(&run);
	}
	run_drain(&run);
	run_sync(&run);
	run_stop(&run);
	free(start);
}

static const u32 sizes[] = { 3, 4, 5, 9, 300 };

static void all_sequences(bool discard, bool hostile, u64 seed)
{
	u64 rounds = env_number("HYPTRACE_TEST_ROUNDS", ROUNDS);
	u32 nr_mixes = ENV_NR(mixes), i, j;

	seed = env_seed(seed);
	print_message("seed %#llx, %llu rounds\n", (unsigned long long)seed,
		      (unsigned long long)rounds);
	for (i = 0; i < ENV_NR(sizes); i++)
		for (j = 0; j < nr_mixes; j++)
			sequence(sizes[i], discard, &mixes[j], hostile,
				 seed + i * 1000 + j,
				 rounds / (sizes[i] > 100 ? 10 : 1) / nr_mixes);
}

static void overwrite(void **state)
{
	(void)state;
	all_sequences(false, false, 0x6879707472616365);
}

static void discard(void **state)
{
	(void)state;
	all_sequences(true, false, 0x7265616c6c79);
}

static void hostile_overwrite(void **state)
{
	(void)state;
	all_sequences(false, true, 0x6576696c);
}

static void hostile_discard(void **state)
{
	(void)state;
	all_sequences(true, true, 0x6576696c65);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overwrite),
		cmocka_unit_test(discard),
		cmocka_unit_test(hostile_overwrite),
		cmocka_unit_test(hostile_discard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
