// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which functions of EL2 are traced, and what is recorded of them. The stubs, which are arm64
 * assembly, are played by this test: it changes no text, but an array.
 */
#include <pthread.h>

#include "filter_terms.h"
#include "ring_decode.h"

#include "../../../hyp/function/function.h"

#define CPU		1
#define NR_PAGES	16
#define NR_FUNCTIONS	5
#define NOP		0xd503201fU
#define SIZE		sizeof(struct hyptrace_entry_func)

/* As the linker places what functions.awk has made */
__asm__(".pushsection .data\n.balign 4\n"
	".globl hyptrace_function_places\nhyptrace_function_places:\n.zero 4 * 5\n"
	".globl hyptrace_function_places_end\nhyptrace_function_places_end:\n"
	".globl hyptrace_function_stubs\nhyptrace_function_stubs:\n.zero 16 * 5\n"
	".popsection\n");

static u32 text[NR_FUNCTIONS];
static bool is_protected, is_other_text;
static unsigned int nr_writes, nr_wrong;
static struct env_ring ring;

bool is_protected_kvm_enabled(void)
{
	return is_protected;
}

bool hyptrace_write_text(const u8 *at, u32 old, u32 new)
{
	u32 *to = (u32 *)at;

	nr_writes++;
	if (is_other_text)
		return false;
	/* Another thread would have changed it since it was read. */
	sched_yield();
	if (to < text || to >= text + NR_FUNCTIONS || READ_ONCE(*to) != old)
		nr_wrong++;
	WRITE_ONCE(*to, new);

	return true;
}

static int start(void **state)
{
	s32 *places = (s32 *)hyptrace_function_places;
	u32 id;

	(void)state;
	for (id = 0; id < NR_FUNCTIONS; id++) {
		text[id] = NOP;
		places[id] = (u8 *)&text[id] - (u8 *)&places[id];
	}
	is_protected = true;
	is_other_text = false;
	nr_writes = 0;
	nr_wrong = 0;
	memset(&hyptrace_calls, 0, sizeof(hyptrace_calls));
	env_start(2 * env_ring_pages(NR_PAGES));
	env_ring_load(&ring, CPU, 0, NR_PAGES, 0);
	env_cpu(CPU);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_CLOCK, ENV_NS_CLOCK, 0, 0), 0);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU,
					BIT_ULL(HYPTRACE_EVENT_func), 0), 0);
	env_counter = 100000;

	return 0;
}

static int stop(void **state)
{
	(void)state;
	assert_int_equal(nr_wrong, 0);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, CPU, 0, 0), 0);
	env_ring_free(&ring);
	env_stop();

	return 0;
}

/* Where a branch goes to */
static const u8 *target(u32 id)
{
	s64 distance = text[id] & 0x3ffffff;

	assert_int_equal(text[id] >> 26, 5);
	if (distance & 0x2000000)
		distance -= 0x4000000;

	return (const u8 *)&text[id] + 4 * distance;
}

static void functions_are_chosen_one_by_one(void **state)
{
	u32 id, other;

	(void)state;
	for (id = 0; id < NR_FUNCTIONS; id++) {
		assert_int_equal(hyptrace_function_set(id, 1), 0);
		for (other = 0; other < NR_FUNCTIONS; other++)
			if (other > id)
				assert_int_equal(text[other], NOP);
			else
				assert_ptr_equal(target(other),
						 hyptrace_function_stubs + 16 * other);
	}
	assert_int_equal(nr_writes, NR_FUNCTIONS);
	/* again */
	assert_int_equal(hyptrace_function_set(3, 1), 0);
	assert_int_equal(nr_writes, NR_FUNCTIONS);
	assert_int_equal(hyptrace_function_set(3, 0), 0);
	assert_int_equal(text[3], NOP);
	assert_int_not_equal(text[2], NOP);
	assert_int_equal(hyptrace_function_set(3, 0), 0);
	assert_int_equal(nr_writes, NR_FUNCTIONS + 1);
}

static void bad_requests_change_nothing(void **state)
{
	u32 id;

	(void)state;
	assert_int_equal(hyptrace_function_set(NR_FUNCTIONS, 1), -EINVAL);
	assert_int_equal(hyptrace_function_set(-1ULL, 0), -EINVAL);
	assert_int_equal(hyptrace_function_set(0, 2), -EINVAL);
	is_protected = false;
	assert_int_equal(hyptrace_function_set(0, 1), -EOPNOTSUPP);
	assert_int_equal(hyptrace_function_set(NR_FUNCTIONS, 1), -EOPNOTSUPP);
	is_protected = true;
	is_other_text = true;
	assert_int_equal(hyptrace_function_set(0, 1), -EIO);
	is_other_text = false;
	assert_int_equal(nr_writes, 1);
	for (id = 0; id < NR_FUNCTIONS; id++)
		assert_int_equal(text[id], NOP);
	text[1] = NOP + 1;
	assert_int_equal(hyptrace_function_set(1, 1), -EIO);
	assert_int_equal(hyptrace_function_set(1, 0), -EIO);
	assert_int_equal(text[1], NOP + 1);
	assert_int_equal(nr_writes, 1);
}

static void *toggle(void *unused)
{
	u32 i;

	(void)unused;
	for (i = 0; i < 5000; i++)
		if (hyptrace_function_set(0, i % 2))
			__atomic_add_fetch(&nr_wrong, 1, __ATOMIC_RELAXED);

	return NULL;
}

static void one_cpu_at_a_time_changes_the_text(void **state)
{
	pthread_t threads[2];
	u32 i;

	(void)state;
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, toggle, NULL), 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* A function has returned. */
static void add(u32 id, u64 depth, u64 begun, u64 ended)
{
	struct hyptrace_call *call = hyptrace_calls.call + hyptrace_calls.used / sizeof(*call);
	u64 stub = (u64)(hyptrace_function_stubs + 16 * id + 8);

	assert_true(call < hyptrace_calls.call + HYPTRACE_MAX_CALLS);
	*call = (struct hyptrace_call) { begun, ended, (stub & GENMASK_ULL(47, 0)) | depth << 48 };
	hyptrace_calls.used += sizeof(*call);
}

/*
 * Read the payloads of all events in the sub-buffer that the writer is in. From that one on, all
 * have that time. Return their number.
 */
static u32 recorded_from(struct hyptrace_entry_func *entries, int first, u64 time)
{
	struct decoded events[DECODE_MAX];
	int i, nr = decode_both(env_rings[CPU].page, events);

	assert_true(nr >= 0);
	for (i = 0; i < nr; i++) {
		assert_int_equal(events[i].size, SIZE);
		if (i >= first)
			assert_int_equal(events[i].time, time);
		memcpy(&entries[i], env_rings[CPU].page->data + events[i].offset, SIZE);
		assert_int_equal(entries[i].common_type, HYPTRACE_EVENT_func);
	}

	return nr;
}

static u32 recorded(struct hyptrace_entry_func *entries)
{
	return recorded_from(entries, 0, 100000);
}

static void what_has_returned_is_recorded(void **state)
{
	struct hyptrace_entry_func entries[DECODE_MAX];

	(void)state;
	add(3, 2, 99000, 99500);
	add(0, 0, 98000, 99900);
	/* nothing synchronises the counter */
	add(4, 1, 99990, 99980);
	add(1, 5, 99990, 100010);
	hyptrace_functions_record();
	assert_int_equal(hyptrace_calls.used, 0);
	assert_int_equal(recorded(entries), 4);
	assert_int_equal(entries[0].id, 3);
	assert_int_equal(entries[0].depth, 2);
	assert_int_equal(entries[0].duration, 500);
	assert_int_equal(entries[0].ago, 500);
	assert_int_equal(entries[1].id, 0);
	assert_int_equal(entries[1].depth, 0);
	assert_int_equal(entries[1].duration, 1900);
	assert_int_equal(entries[1].ago, 100);
	assert_int_equal(entries[2].id, 4);
	assert_int_equal(entries[2].duration, 0);
	assert_int_equal(entries[2].ago, 20);
	assert_int_equal(entries[3].duration, 20);
	assert_int_equal(entries[3].ago, 0);
	/* and not once more */
	hyptrace_functions_record();
	assert_int_equal(recorded(entries), 4);
}

/* As many of each of the depths 0 to 7: those of the two deepest are a quarter. */
static void fill(void)
{
	u32 i;

	for (i = 0; i < HYPTRACE_MAX_CALLS; i++)
		add(i % NR_FUNCTIONS, i % 8, 99000 + i, 99001 + i);
}

static u64 published(u64 *dropped)
{
	const struct hyptrace_meta *meta = env_ring_meta(&ring);

	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_SYNC, CPU, 0, 0), 0);
	*dropped = meta->dropped;

	return meta->written;
}

static void more_than_a_sub_buffer_holds_are_recorded(void **state)
{
	u64 dropped;

	(void)state;
	fill();
	hyptrace_functions_record();
	assert_int_equal(published(&dropped), HYPTRACE_MAX_CALLS);
	assert_int_equal(dropped, 0);
}

static noinline void dirty_stack(void)
{
	volatile u8 bytes[4096];
	u32 i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = 0xa5;
}

/* The clock of EL2 was set after it had begun. 64 bits are not enough for its duration. */
static void a_function_of_long_ago_is_recorded(void **state)
{
	static const struct hyptrace_entry_func expected = {
		.id = 2, .depth = 1, .duration = 1ULL << 55,
	};
	struct hyptrace_entry_func entries[DECODE_MAX];

	(void)state;
	env_counter = 1ULL << 55;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_CLOCK, ENV_NS_CLOCK, env_counter, 200000), 0);
	/* From the first one on, the copy of the clock is valid. */
	add(3, 0, env_counter + 1, env_counter + 2);
	add(2, 1, 0, env_counter);
	env_counter += 7;
	add(4, 0, env_counter - 5, env_counter - 4);
	dirty_stack();
	hyptrace_functions_record();
	assert_int_equal(recorded_from(entries, 0, 200007), 3);
	assert_int_equal(entries[0].id, 3);
	assert_int_equal(entries[0].duration, 1);
	assert_int_equal(entries[0].ago, 5);
	/* also what is between the fields */
	assert_memory_equal(&entries[1].id, &expected.id,
			    offsetof(struct hyptrace_entry_func, ago) - HYPTRACE_FUNC_ID_OFFSET);
	assert_int_equal(entries[1].ago, 7);
	assert_int_equal(entries[2].id, 4);
	assert_int_equal(entries[2].duration, 1);
	assert_int_equal(entries[2].ago, 4);
}

/* The copy of the clock is not valid then. */
static void the_clock_may_have_changed(void **state)
{
	struct hyptrace_entry_func entries[DECODE_MAX];
	u32 i;

	(void)state;
	add(0, 0, 99900, 99990);
	hyptrace_functions_record();
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_CLOCK, 2 * ENV_NS_CLOCK, 90000, 100000), 0);
	hyptrace_this_ring()->clock = (struct hyptrace_clock_copy){ .mult = 3 * ENV_NS_CLOCK };
	env_counter = 95000;
	for (i = 0; i < 2; i++)
		add(1, 0, 94000, 94500);
	hyptrace_functions_record();
	assert_int_equal(recorded_from(entries, 1, 110000), 3);
	for (i = 1; i < 3; i++) {
		assert_int_equal(entries[i].duration, 1000);
		assert_int_equal(entries[i].ago, 1000);
	}
}

static void a_filter_looks_at_each(void **state)
{
	const struct hyptrace_term term = {
		.offset = HYPTRACE_FUNC_ID_OFFSET, .width = 2, .op = HYPTRACE_TERM_EQ, .value = 3,
		.on_true = HYPTRACE_FILTER_ACCEPT, .on_false = HYPTRACE_FILTER_REJECT,
	};
	struct hyptrace_entry_func entries[DECODE_MAX];
	u64 id;

	(void)state;
	assert_int_equal(filter_set(CPU, HYPTRACE_EVENT_func, &term, 1), 0);
	for (id = 0; id < NR_FUNCTIONS; id++)
		add(id, id, 99000 + id, 99100);
	hyptrace_functions_record();
	assert_int_equal(recorded(entries), 1);
	assert_int_equal(entries[0].id, 3);
	assert_int_equal(entries[0].depth, 3);
	assert_int_equal(entries[0].duration, 97);
	assert_int_equal(entries[0].ago, 900);
	assert_int_equal(filter_remove(CPU, HYPTRACE_EVENT_func), 0);
}

/* ... before the event that is recorded next */
static void what_had_no_room_is_dropped(void **state)
{
	const struct hyptrace_subbuf *page;
	u64 dropped;

	(void)state;
	hyptrace_calls.forgotten = 7;
	add(0, 0, 99000, 99100);
	hyptrace_functions_record();
	assert_int_equal(published(&dropped), 8);
	assert_int_equal(dropped, 7);
	page = env_rings[CPU].page;
	assert_int_equal(decode_gap(page, page->commit), 7);
	hyptrace_functions_record();
	assert_int_equal(published(&dropped), 8);
	assert_int_equal(dropped, 7);

	/* they count also before another event is recorded */
	hyptrace_calls.forgotten = 2;
	hyptrace_functions_record();
	assert_int_equal(env_ring_meta(&ring)->dropped, 9);
}

/* Functions of a CPU that does not record them leave nothing, also later. */
static void what_is_not_wanted_is_forgotten(void **state)
{
	struct hyptrace_ring *this = hyptrace_this_ring();
	const u64 enabled = this->enabled;
	u64 dropped;

	(void)state;
	this->enabled = 0;
	hyptrace_calls.forgotten = 3;
	add(0, 0, 99000, 99100);
	hyptrace_functions_record();
	this->enabled = enabled;
	hyptrace_functions_record();
	assert_int_equal(published(&dropped), 0);
	assert_int_equal(dropped, 0);

	hyptrace_calls.forgotten = 3;
	add(0, 0, 99000, 99100);
	this->accepted = true;
	hyptrace_functions_forget(this);
	assert_false(this->accepted);
	hyptrace_functions_record();
	assert_int_equal(published(&dropped), 0);
	assert_int_equal(dropped, 0);
}

/* What has returned before func was selected is forgotten, but not when other events change. */
static void what_has_returned_while_func_was_selected_stays(void **state)
{
	const u64 func = BIT_ULL(HYPTRACE_EVENT_func), selftest = BIT_ULL(HYPTRACE_EVENT_selftest);
	u64 dropped;

	(void)state;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU, selftest, 0), 0);
	add(0, 0, 99000, 99100);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU, func, 0), 0);
	assert_int_equal(hyptrace_calls.used, 0);
	add(1, 0, 99200, 99300);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU, func | selftest, 0), 0);
	hyptrace_functions_record();
	assert_int_equal(published(&dropped), 1);
	assert_int_equal(dropped, 0);
}

static void follow(void)
{
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_TRIGGER, HYPTRACE_EVENT_func,
					HYPTRACE_TRIGGER_FOLLOW, 0), 0);
}

static void end_follow(void)
{
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_TRIGGER, HYPTRACE_EVENT_func,
					HYPTRACE_TRIGGER_NONE, 0), 0);
}

static void the_deepest_make_room_until_the_call_ends(void **state)
{
	const u32 left = HYPTRACE_MAX_CALLS * 6 / 8;
	u64 dropped;
	u32 i;

	(void)state;
	follow();
	/* what another event does is not what func does */
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_TRIGGER, HYPTRACE_EVENT_selftest,
					HYPTRACE_TRIGGER_NOTIFY, 0), 0);
	add(0, 0, 99000, 99100);
	hyptrace_functions_record();
	assert_int_equal(hyptrace_calls.used, sizeof(struct hyptrace_call));
	hyptrace_calls.used = 0;
	fill();
	hyptrace_functions_record();
	assert_int_equal(hyptrace_calls.forgotten, HYPTRACE_MAX_CALLS - left);
	assert_int_equal(hyptrace_calls.used, left * sizeof(struct hyptrace_call));
	for (i = 0; i < left; i++) {
		assert_int_equal(hyptrace_calls.call[i].stub >> 48, i % 6);
		assert_int_equal(hyptrace_calls.call[i].begun, 99000 + i / 6 * 8 + i % 6);
	}
	assert_int_equal(published(&dropped), 0);

	/* an event that they follow was recorded */
	hyptrace_this_ring()->accepted = true;
	hyptrace_calls.depth = 2;
	hyptrace_functions_end();
	assert_int_equal(hyptrace_calls.depth, 0);
	assert_int_equal(hyptrace_calls.used, 0);
	assert_false(hyptrace_this_ring()->accepted);
	assert_int_equal(published(&dropped), HYPTRACE_MAX_CALLS);
	assert_int_equal(dropped, HYPTRACE_MAX_CALLS - left);
	end_follow();
}

static void without_the_event_all_of_a_call_are_forgotten(void **state)
{
	u64 dropped;

	(void)state;
	follow();
	fill();
	hyptrace_functions_record();
	hyptrace_functions_end();
	assert_int_equal(hyptrace_calls.used, 0);
	assert_int_equal(hyptrace_calls.forgotten, 0);
	assert_int_equal(published(&dropped), 0);
	assert_int_equal(dropped, 0);
	end_follow();
	/* Now they follow nothing. */
	add(0, 0, 99000, 99100);
	hyptrace_functions_end();
	assert_int_equal(published(&dropped), 1);
}

/* @nr of each depth are in the list. Expect that those that are less deep than @depth remain. */
static void expect_left(const u32 *nr, u32 depth)
{
	u32 of, i, left = 0, used = 0;

	memset(&hyptrace_calls, 0, sizeof(hyptrace_calls));
	for (of = 0; of < 64; of++)
		for (i = 0; i < nr[of]; i++, used++)
			add(0, of, 99000, 99100);
	assert_int_equal(used, HYPTRACE_MAX_CALLS);
	for (of = 0; of < depth; of++)
		left += nr[of];
	hyptrace_functions_record();
	assert_int_equal(hyptrace_calls.used, left * sizeof(struct hyptrace_call));
	assert_int_equal(hyptrace_calls.forgotten, HYPTRACE_MAX_CALLS - left);
}

/* No CPU is deeper than there are frames, but nothing else must happen either. */
static void all_of_one_depth_are_forgotten_together(void **state)
{
	const u32 last = HYPTRACE_MAX_FRAMES - 1;

	(void)state;
	follow();
	expect_left((u32[64]){ [0] = 100, [5] = 412 }, 5);
	expect_left((u32[64]){ [0] = 512 }, 0);
	expect_left((u32[64]){ [0] = 185, [1] = 200, [2] = 127 }, 1);
	expect_left((u32[64]){ [0] = 184, [1] = 200, [2] = 128 }, 2);
	expect_left((u32[64]){ [0] = 112, [last - 1] = 200, [last] = 200 }, last);
	expect_left((u32[64]){ [0] = 112, [last - 1] = 200, [last] = 100, [60] = 100 }, last);
	end_follow();
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(functions_are_chosen_one_by_one),
		TEST(bad_requests_change_nothing),
		TEST(one_cpu_at_a_time_changes_the_text),
		TEST(what_has_returned_is_recorded),
		TEST(more_than_a_sub_buffer_holds_are_recorded),
		TEST(a_function_of_long_ago_is_recorded),
		TEST(the_clock_may_have_changed),
		TEST(a_filter_looks_at_each),
		TEST(what_had_no_room_is_dropped),
		TEST(what_is_not_wanted_is_forgotten),
		TEST(what_has_returned_while_func_was_selected_stays),
		TEST(the_deepest_make_room_until_the_call_ends),
		TEST(without_the_event_all_of_a_call_are_forgotten),
		TEST(all_of_one_depth_are_forgotten_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
