// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counting: which key an event has, its time and bucket, what silence does, and that events which
 * are recorded, too, are counted as recorded. test_count_ops.c tests the ops.
 */
#include "count_pages.h"
#include "filter_terms.h"
#include "ring_decode.h"

#define CPU		1
#define RING_PAGES	4

#define KEY(event, number)	(HYPTRACE_COUNT_KEY_##event + (number))

static struct count_pages pages;
static struct env_ring ring;
static u64 regs[31];

static void select_events(u64 op, u64 events)
{
	assert_int_equal(hyptrace_hcall(op, CPU, events, 0), 0);
}

static int start(void **state)
{
	(void)state;
	env_start(2 * COUNT_PAIRS + env_ring_pages(RING_PAGES));
	count_pages_give(&pages, CPU, 0);
	env_cpu(CPU);
	env_counter = 1000;
	select_events(HYPTRACE_OP_COUNT, HYPTRACE_COUNTABLE_EVENTS);

	return 0;
}

static int stop(void **state)
{
	(void)state;
	select_events(HYPTRACE_OP_COUNT, 0);
	assert_int_equal(hyptrace_events_on, 0);
	count_pages_free(&pages);
	env_stop();

	return 0;
}

/* Let the CPU record all events, too. */
static int start_with_ring(void **state)
{
	start(state);
	env_ring_load(&ring, CPU, 2 * COUNT_PAIRS, RING_PAGES, 0);
	select_events(HYPTRACE_OP_ATTACH, HYPTRACE_ALL_EVENTS);

	return 0;
}

static int stop_with_ring(void **state)
{
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, CPU, 0, 0), 0);
	env_ring_free(&ring);

	return stop(state);
}

static void check_key(u32 key, u64 nr, u64 total, u64 max)
{
	struct count_sum sum;

	count_read(&pages, key, &sum);
	assert_int_equal(sum.nr, nr);
	assert_int_equal(sum.total, total);
	assert_int_equal(sum.max, max);
}

static u64 count_all(void)
{
	struct count_sum sum;
	u64 nr = 0;
	u32 key;

	for (key = 0; key < HYPTRACE_COUNT_KEYS; key++) {
		count_read(&pages, key, &sum);
		nr += sum.nr;
	}

	return nr;
}

static void hypercall(u64 number, u64 ticks)
{
	hyptrace_host_call(number, false, regs);

	env_counter += ticks;
}

/* A hypercall of a host, from the entry of EL2 to the return, each of which counts. */
static void host_trap(u64 number, u64 ticks)
{
	hypercall(number, ticks);
	hyptrace_host_exit();
}

/* __hyptrace() with an op that changes nothing */
static void own_call(void)
{
	{
		hyptrace_host_call(0, true, regs);
		hyptrace_silence_own_call();
		hyptrace_hcall(HYPTRACE_OP_INFO, 0, 0, 0);
	}
	hyptrace_host_exit();
}

static void begin_run(void)
{
	hyptrace_begin_span(hyptrace_this_ring(), guest_exit);
}

static void end_run(u8 code, u8 ec)
{
	const struct hyptrace_vcpu vcpu = { .fault.esr_el2 = (u64)ec << HYPTRACE_EXIT_EC_SHIFT };

	hyptrace_end_span(hyptrace_this_ring(), guest_exit, &vcpu, code);
}

static void guest_run(u8 code, u8 ec, u64 ticks)
{
	begin_run();
	env_counter += ticks;
	end_run(code, ec);
}

static void hypercalls(void **state)
{
	static const u64 others[] = {
		HYPTRACE_COUNT_HCALLS - 1, HYPTRACE_COUNT_HCALLS, 0xffff, 0x10000, 1ULL << 63,
		~0ULL,
	};
	u32 i;

	(void)state;
	hypercall(12, 100);
	hypercall(12, 50);
	check_key(KEY(host_hcall, 12), 2, 150, 100);
	hypercall(0, 7);
	check_key(KEY(host_hcall, 0), 1, 7, 7);
	hypercall(HYPTRACE_COUNT_HCALLS - 2, 8);
	check_key(KEY(host_hcall, HYPTRACE_COUNT_HCALLS - 2), 1, 8, 8);
	for (i = 0; i < ENV_NR(others); i++)
		hypercall(others[i], 10);
	check_key(KEY(host_hcall, HYPTRACE_COUNT_HCALLS - 1), i, 10 * i, 10);
	assert_int_equal(count_all(), 4 + i);
}

static void entries(void **state)
{
	(void)state;
	host_trap(3, 40);
	check_key(KEY(hyp_enter, HYPTRACE_REASON_HVC), 1, 40, 40);
	check_key(KEY(host_hcall, 3), 1, 40, 40);

	/* EL2 calls the firmware; an entry that has no hyp_enter; one that has */
	hyptrace(hyp_enter, HYPTRACE_REASON_SMC);
	env_counter += 5;
	hyptrace_smc_exit();
	env_counter += 1000;
	hyptrace_smc_enter();
	env_counter += 6;
	hyptrace_host_exit();
	env_counter += 1000;
	hyptrace_host_exit();
	hyptrace(hyp_enter, HYPTRACE_REASON_HOST_ABORT);
	hyptrace_host_exit();
	check_key(KEY(hyp_enter, HYPTRACE_REASON_SMC), 2, 11, 6);
	check_key(KEY(hyp_enter, HYPTRACE_REASON_HOST_ABORT), 1, 0, 0);
	assert_int_equal(count_all(), 5);
}

static void guest_exits(void **state)
{
	u32 ec, code;

	(void)state;
	for (ec = 0; ec < HYPTRACE_COUNT_CLASSES; ec++)
		guest_run(HYPTRACE_EXIT_TRAP, ec, ec);
	for (code = 0; code < HYPTRACE_EXIT_TRAP; code++)
		guest_run(code, 5, 500);
	guest_run(3, 5, 501);
	for (ec = 0; ec < HYPTRACE_COUNT_CLASSES; ec++)
		check_key(KEY(guest_exit, ec), 1, ec, ec);
	for (code = 0; code < HYPTRACE_EXIT_TRAP; code++)
		check_key(KEY(guest_exit, HYPTRACE_COUNT_CLASSES + code), 1, 500, 500);
	check_key(KEY(guest_exit, HYPTRACE_COUNT_CLASSES + 3), 1, 501, 501);
	assert_int_equal(count_all(), HYPTRACE_COUNT_CLASSES + 3);
}

static void memory(void **state)
{
	u32 op, i;

	(void)state;
	for (op = 0; op < HYPTRACE_COUNT_MEM_OPS; op++)
		for (i = 0; i <= op; i++, env_counter++)
			hyptrace(mem_transition, op, 0, 1, 2, 3, 4, 5, -1);
	for (op = 0; op < HYPTRACE_COUNT_MEM_OPS; op++)
		check_key(KEY(mem_transition, op), op + 1, 0, 0);
	assert_int_equal(count_all(), 10);
}

static u32 bucket_of(u64 ticks)
{
	u32 bucket = 0;

	for (; ticks && bucket < HYPTRACE_COUNT_BUCKETS - 1; ticks >>= 1)
		bucket++;

	return bucket;
}

/* Times around the limits of all buckets, most of them first as the longest so far, then again. */
static void buckets(void **state)
{
	u64 nr[HYPTRACE_COUNT_BUCKETS] = { }, total = 0, max = 0;
	struct count_sum sum;
	u64 ticks;
	u32 i, j;

	(void)state;
	for (i = 0; i < 3 * 45; i++) {
		ticks = (1ULL << i / 3) + i % 3 - 1;
		for (j = 0; j < 3; j++, total += ticks)
			hypercall(1, ticks);
		nr[bucket_of(ticks)] += 3;
		max = ticks > max ? ticks : max;
		count_read(&pages, KEY(host_hcall, 1), &sum);
		assert_memory_equal(sum.buckets, nr, sizeof(nr));
		assert_int_equal(sum.total, total);
		assert_int_equal(sum.max, max);
	}
	assert_int_equal(count_all(), 3 * i);
}

/* A packed word takes 2^23 events. The next one empties it, and no event or tick is lost. */
static void full_words(void **state)
{
	const u64 full = 1ULL << (63 - HYPTRACE_COUNT_TICK_BITS);
	struct hyptrace_private_count *counter;
	u64 word, longest, nr, i;
	u32 bucket;

	(void)state;
	for (bucket = 1; bucket < HYPTRACE_COUNT_PACKED_BUCKETS; bucket++) {
		u32 key = KEY(host_hcall, bucket);

		longest = (1ULL << bucket) - 1;
		hypercall(bucket, longest);
		/* as many events of the longest time as leave room for two more */
		nr = full - 3;
		word = nr << HYPTRACE_COUNT_TICK_BITS | nr * longest;
		counter = env_rings[CPU].counting.ends[key] - 1;
		counter->packed[bucket] = word;
		((struct hyptrace_count *)count_published(&pages, key))->packed[bucket] = word;
		for (i = 0; i < 5; i++) {
			nr++;
			hypercall(bucket, longest);
			check_key(key, nr + 1, (nr + 1) * longest, longest);
		}
		assert_int_equal(count_published(&pages, key)->nr[bucket], full + 1);
		assert_int_equal(counter->packed[bucket] >> HYPTRACE_COUNT_TICK_BITS, 2);
	}
}

/* The CPU may read the counter too early. */
static void time_that_goes_backwards(void **state)
{
	(void)state;
	hypercall(1, -3);
	hypercall(1, 10);
	hypercall(1, -1);
	check_key(KEY(host_hcall, 1), 3, 10, 10);
}

/* A protected guest's run: only its first entry and its last exit count. */
static void protected_guest(void **state)
{
	u64 before;

	(void)state;
	{
		hyptrace_host_call(9, false, regs);
		env_counter += 5;
		begin_run();
		hyptrace_guest_begin(true);
		before = count_all();
		hyptrace(hyp_exit, HYPTRACE_REASON_ERET_GUEST);
		env_counter += 100;
		hyptrace(hyp_enter, HYPTRACE_REASON_GUEST_EXIT);
		hyptrace(mem_transition, 0, 0, 1, 2, 3, 4, 5, -1);
		hyptrace_smc_exit();
		hyptrace_smc_enter();
		hypercall(7, 1);
		env_counter++;
		end_run(HYPTRACE_EXIT_TRAP, 1);
		hyptrace(hyp_exit, HYPTRACE_REASON_ERET_GUEST);
		hyptrace(hyp_enter, HYPTRACE_REASON_GUEST_EXIT);
		assert_int_equal(count_all(), before);
		hyptrace_guest_end(true);
		end_run(HYPTRACE_EXIT_TRAP, 0x16);
		env_counter += 3;
	}
	hyptrace_host_exit();
	check_key(KEY(hyp_enter, HYPTRACE_REASON_HVC), 1, 5, 5);
	check_key(KEY(hyp_enter, HYPTRACE_REASON_GUEST_EXIT), 1, 3, 3);
	check_key(KEY(host_hcall, 9), 1, 110, 110);
	check_key(KEY(guest_exit, 0x16), 1, 102, 102);
	assert_int_equal(count_all(), 4);
}

/* What ends in silence is not counted, though it has begun before. */
static void begun_before_silence(void **state)
{
	(void)state;
	hyptrace(hyp_enter, HYPTRACE_REASON_HVC);
	hyptrace_begin(host_hcall, 1, regs);
	begin_run();
	hyptrace_guest_begin(false);
	hyptrace_set_silent(&env_rings[CPU], HYPTRACE_SILENT_GUEST);
	hyptrace(hyp_exit, HYPTRACE_REASON_ERET_GUEST);
	hyptrace(host_hcall, regs);
	end_run(HYPTRACE_EXIT_TRAP, 1);
	hyptrace(mem_transition, 0, 0, 1, 2, 3, 4, 5, -1);
	assert_int_equal(count_all(), 0);
	hyptrace_set_silent(&env_rings[CPU], 0);
}

static void own_calls(void **state)
{
	(void)state;
	own_call();
	assert_int_equal(count_all(), 0);
	host_trap(3, 1);
	own_call();
	own_call();
	assert_int_equal(count_all(), 2);
	assert_int_equal(env_rings[CPU].silent, 0);
}

/* Another CPU has the same hooks, and counts nothing. */
static void another_cpu(void **state)
{
	(void)state;
	env_cpu(CPU + 1);
	host_trap(3, 1);
	guest_run(HYPTRACE_EXIT_TRAP, 1, 1);
	hyptrace(mem_transition, 0, 0, 1, 2, 3, 4, 5, -1);
	env_cpu(CPU);
	assert_int_equal(count_all(), 0);
}

/* An event counts only if the CPU counts all the time from its begin to its end. */
static void half_events(void **state)
{
	(void)state;
	select_events(HYPTRACE_OP_COUNT, 0);
	hyptrace_begin(host_hcall, 1, regs);
	hyptrace(hyp_enter, HYPTRACE_REASON_HVC);
	begin_run();
	select_events(HYPTRACE_OP_COUNT, HYPTRACE_COUNTABLE_EVENTS);
	hyptrace(host_hcall, regs);
	end_run(HYPTRACE_EXIT_TRAP, 1);
	hyptrace_host_exit();
	assert_int_equal(count_all(), 0);

	hyptrace(hyp_enter, HYPTRACE_REASON_HVC);
	hyptrace_begin(host_hcall, 1, regs);
	begin_run();
	select_events(HYPTRACE_OP_COUNT, 0);
	select_events(HYPTRACE_OP_COUNT, HYPTRACE_COUNTABLE_EVENTS);
	hyptrace(host_hcall, regs);
	end_run(HYPTRACE_EXIT_TRAP, 1);
	hyptrace_host_exit();
	assert_int_equal(count_all(), 0);
}

/* Only the selected events count. */
static void selected_events(void **state)
{
	(void)state;
	select_events(HYPTRACE_OP_COUNT, BIT_ULL(HYPTRACE_EVENT_host_hcall));
	host_trap(3, 1);
	guest_run(HYPTRACE_EXIT_TRAP, 1, 1);
	hyptrace(mem_transition, 0, 0, 1, 2, 3, 4, 5, -1);
	assert_int_equal(count_all(), 1);
	select_events(HYPTRACE_OP_COUNT, BIT_ULL(HYPTRACE_EVENT_mem_transition));
	host_trap(3, 1);
	hyptrace(mem_transition, 0, 0, 1, 2, 3, 4, 5, -1);
	assert_int_equal(count_all(), 2);
}

/* Count what the records of the present sub-buffer say. */
static void check_records(void)
{
	struct { u64 nr, total; } due[HYPTRACE_COUNT_KEYS] = { };
	const struct hyptrace_entry_mem_transition *mem;
	const struct hyptrace_entry_host_hcall *hcall;
	const struct hyptrace_entry_guest_exit *exit;
	const struct hyptrace_entry_hyp_enter *enter;
	struct decoded events[DECODE_MAX];
	u64 entered = 0;
	int nr = decode_both(env_rings[CPU].page, events), i;
	u32 enter_key = 0, key;

	assert_int_equal(env_rings[CPU].nr_entered, 0);
	for (i = 0; i < nr; i++) {
		union {
			struct hyptrace_entry_mem_transition mem;
			struct hyptrace_entry_host_hcall hcall;
			struct hyptrace_entry_guest_exit exit;
			struct hyptrace_entry_hyp_enter enter;
		} entry;
		u64 ticks = 0;

		memset(&entry, 0, sizeof(entry));
		memcpy(&entry, env_rings[CPU].page->data + events[i].offset, events[i].size);
		mem = &entry.mem;
		hcall = &entry.hcall;
		exit = &entry.exit;
		enter = &entry.enter;
		switch (entry.mem.common_type) {
		case HYPTRACE_EVENT_hyp_enter:
			enter_key = KEY(hyp_enter, enter->reason);
			entered = events[i].time;
			continue;
		case HYPTRACE_EVENT_hyp_exit:
			key = enter_key;
			ticks = events[i].time - entered;
			break;
		case HYPTRACE_EVENT_host_hcall:
			key = KEY(host_hcall, hcall->id);
			ticks = hcall->duration;
			break;
		case HYPTRACE_EVENT_guest_exit:
			key = KEY(guest_exit, exit->code == HYPTRACE_EXIT_TRAP ? exit->ec :
				  HYPTRACE_COUNT_CLASSES + exit->code);
			ticks = exit->duration;
			break;
		case HYPTRACE_EVENT_mem_transition:
			key = KEY(mem_transition, mem->op);
			break;
		default:
			continue;
		}
		due[key].nr++;
		due[key].total += ticks;
	}
	for (key = 0; key < HYPTRACE_COUNT_KEYS; key++) {
		struct count_sum sum;

		count_read(&pages, key, &sum);
		assert_int_equal(sum.nr, due[key].nr);
		assert_int_equal(sum.total, due[key].total);
	}
}

/* Events that are recorded, too: the counters say the same as the records. */
static void with_records(void **state)
{
	u64 seed = env_seed(0x636f756e74);
	u32 i;

	(void)state;
	for (i = 0; i < 12; i++) {
		u64 what = env_random(&seed);

		host_trap(what % 4, what >> 8 & 0xfff);
		hyptrace(hyp_enter, i % HYPTRACE_COUNT_REASONS);
		guest_run(what >> 32 & 3, 1, what >> 40 & 0xff);
		hyptrace(mem_transition, what >> 16 & 3, 0, 1, 2, 3, 4, 5, -1);
		hyptrace_host_exit();
	}
	assert_int_equal(env_rings[CPU].recorded, 12 * 7);
	assert_int_equal(count_all(), 12 * 5);
	check_records();
}

/* An event that its filter does not accept is counted all the same. */
static void with_filter(void **state)
{
	const struct hyptrace_term term = {
		.value = 100, .offset = offsetof(struct hyptrace_entry_host_hcall, duration),
		.width = 8, .op = HYPTRACE_TERM_GT, .on_true = HYPTRACE_FILTER_ACCEPT,
		.on_false = HYPTRACE_FILTER_REJECT,
	};
	u64 before;

	(void)state;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_FILTER,
					hyptrace_filter_where(CPU, HYPTRACE_EVENT_host_hcall, 0, 1),
					hyptrace_pack_term(&term), term.value), 0);
	select_events(HYPTRACE_OP_ATTACH, BIT_ULL(HYPTRACE_EVENT_host_hcall));
	before = env_rings[CPU].recorded;
	hypercall(1, 100);
	assert_int_equal(env_rings[CPU].recorded, before);
	assert_int_equal(env_rings[CPU].filtered, 1);
	hypercall(1, 101);
	assert_int_equal(env_rings[CPU].recorded, before + 1);
	check_key(KEY(host_hcall, 1), 2, 201, 101);

	/* The filter stays, without counting, and the other way round. */
	select_events(HYPTRACE_OP_COUNT, 0);
	hypercall(1, 100);
	hypercall(1, 101);
	assert_int_equal(env_rings[CPU].recorded, before + 2);
	assert_int_equal(env_rings[CPU].filtered, 2);
	check_key(KEY(host_hcall, 1), 2, 201, 101);
}

/* While an event is recorded and counted, silence holds as for either. */
static void silence_with_records(void **state)
{
	u64 before;

	(void)state;
	hyptrace_guest_begin(true);
	before = env_rings[CPU].recorded;
	hypercall(1, 1);
	guest_run(HYPTRACE_EXIT_TRAP, 1, 1);
	hyptrace(mem_transition, 0, 0, 1, 2, 3, 4, 5, -1);
	hyptrace(hyp_exit, HYPTRACE_REASON_ERET_GUEST);
	assert_int_equal(env_rings[CPU].recorded, before);
	assert_int_equal(count_all(), 0);
	hyptrace_guest_end(true);
	own_call();
	assert_int_equal(count_all(), 0);
	assert_int_equal(env_rings[CPU].recorded, before + 1);
}

/* While triggers keep the CPUs from recording, events still count. */
static void paused(void **state)
{
	(void)state;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_PAUSE, 0, 0, 0), 0);
	hypercall(1, 5);
	guest_run(HYPTRACE_EXIT_TRAP, 1, 1);
	assert_int_equal(env_rings[CPU].recorded, 0);
	assert_int_equal(count_all(), 2);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ARM, 1, 0, 0), 0);
	hypercall(1, 6);
	/* hyp_enter, then host_hcall */
	assert_int_equal(env_rings[CPU].recorded, 2);
	check_key(KEY(host_hcall, 1), 2, 11, 6);
}

/* Detached, events still count; attached again without counting, they take the fast path. */
static void one_without_the_other(void **state)
{
	(void)state;
	assert_int_equal(env_rings[CPU].enabled & HYPTRACE_COUNTABLE_EVENTS, 0);
	hypercall(1, 5);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, CPU, 0, 0), 0);
	hypercall(1, 6);
	check_key(KEY(host_hcall, 1), 2, 11, 6);
	select_events(HYPTRACE_OP_COUNT, 0);
	assert_int_equal(hyptrace_events_on, 0);
	select_events(HYPTRACE_OP_ATTACH, HYPTRACE_ALL_EVENTS);
	assert_int_equal(env_rings[CPU].enabled, HYPTRACE_ALL_EVENTS);
	hypercall(1, 7);
	check_key(KEY(host_hcall, 1), 2, 11, 6);
}

#define WITH_PAGES(test)	cmocka_unit_test_setup_teardown(test, start, stop)
#define WITH_RING(test)	\
	cmocka_unit_test_setup_teardown(test, start_with_ring, stop_with_ring)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_PAGES(hypercalls),
		WITH_PAGES(entries),
		WITH_PAGES(guest_exits),
		WITH_PAGES(memory),
		WITH_PAGES(buckets),
		WITH_PAGES(full_words),
		WITH_PAGES(time_that_goes_backwards),
		WITH_PAGES(protected_guest),
		WITH_PAGES(begun_before_silence),
		WITH_PAGES(own_calls),
		WITH_PAGES(another_cpu),
		WITH_PAGES(half_events),
		WITH_PAGES(selected_events),
		WITH_RING(with_records),
		WITH_RING(with_filter),
		WITH_RING(silence_with_records),
		WITH_RING(paused),
		WITH_RING(one_without_the_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
