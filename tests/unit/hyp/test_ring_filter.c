// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters at EL2: what they accept, against an evaluation of the same condition by another way;
 * what EL2 refuses; who may set them; and that an event which a filter refuses is counted only.
 *
 * HYPTRACE_TEST_SEED and HYPTRACE_TEST_ROUNDS change the defaults.
 */
#include "filter_terms.h"
#include "ring_decode.h"

#define CPU		FILTER_CPU
#define OTHER_CPU	2
#define ROUNDS		20000
#define SEED		0x66696c74
#define ACCEPT		HYPTRACE_FILTER_ACCEPT
#define REJECT		HYPTRACE_FILTER_REJECT
#define ALL		HYPTRACE_ALL_EVENTS

static struct hyptrace_ring *ring = &env_rings[CPU];
static const u64 no_regs[31];

static s64 give(u32 event, u32 number, u32 nr_terms, const struct hyptrace_term *term)
{
	return filter_give(CPU, event, number, nr_terms, term);
}

static s64 set(u32 event, const struct hyptrace_term *terms, u32 nr_terms)
{
	return filter_set(CPU, event, terms, nr_terms);
}

static s64 remove_filter(u32 event)
{
	return filter_remove(CPU, event);
}

/* A filter of selftest that accepts one id */
static struct hyptrace_term only_id(u64 id)
{
	return (struct hyptrace_term) {
		.offset = offsetof(struct hyptrace_entry_selftest, id), .width = 8,
		.op = HYPTRACE_TERM_EQ, .value = id, .on_true = ACCEPT, .on_false = REJECT,
	};
}

static void set_only_id(u64 id)
{
	struct hyptrace_term term = only_id(id);

	assert_int_equal(set(HYPTRACE_EVENT_selftest, &term, 1), 0);
}

/* Whether a selftest event is recorded */
static bool selftest_passes(u64 id)
{
	struct filter_counts before = filter_before();

	hyptrace(selftest, id);

	return filter_passed(before);
}

static bool printk_passes(const struct hyptrace_entry_hyp_printk *entry)
{
	struct filter_counts before = filter_before();

	hyptrace(hyp_printk, entry->fmt_id, entry->a, entry->b, entry->c, entry->d);

	return filter_passed(before);
}

/* A field with the limits of all widths, against one value, between bytes of 0 or 0xff */
static void check_operator(const struct hyptrace_term *term)
{
	struct hyptrace_entry_hyp_printk entry = { .common_type = HYPTRACE_EVENT_hyp_printk };
	u32 i;

	assert_int_equal(set(HYPTRACE_EVENT_hyp_printk, term, 1), 0);
	for (i = 0; i < filter_nr_limits(); i++) {
		u64 bytes = filter_limit(i);

		memset(&entry.fmt_id, i & 1 ? 0xff : 0,
		       sizeof(entry) - offsetof(typeof(entry), fmt_id));
		memcpy((u8 *)&entry + term->offset, &bytes, term->width);
		/* EL2 writes 0 to the bytes that no field covers. */
		memset((u8 *)&entry + sizeof(entry.common_type), 0, sizeof(u16));
		assert_int_equal(printk_passes(&entry), filter_holds(term, &entry));
	}
}

/* Each operator, width and sign, at each offset, with values around the limits of all widths */
static void operators(void **state)
{
	u32 last = sizeof(struct hyptrace_entry_hyp_printk), kind, value;
	struct hyptrace_term term = { .on_true = ACCEPT, .on_false = REJECT };

	(void)state;
	for (kind = 0; kind < 8 * HYPTRACE_TERM_NR_OPS; kind++) {
		term.op = kind / 8;
		term.width = 1 << kind % 4;
		term.is_signed = kind / 4 % 2;
		for (term.offset = 2; term.offset + term.width <= last; term.offset++) {
			value = term.offset % 5;
			for (; value < filter_nr_limits(); value += 1 + term.offset % 3) {
				term.value = filter_limit(value);
				check_operator(&term);
			}
		}
	}
}

/* Random conditions of up to 8 comparisons, joined by && and || */
static void trees(void **state)
{
	u64 rounds = env_number("HYPTRACE_TEST_ROUNDS", ROUNDS), seed = env_seed(SEED), i;
	struct hyptrace_entry_hyp_printk entry = { .common_type = HYPTRACE_EVENT_hyp_printk };
	u64 passed = 0, by_size[HYPTRACE_FILTER_MAX_TERMS + 1] = { };
	struct filter_tree tree;
	bool due;
	u32 k, n;

	(void)state;
	print_message("seed %#llx, %llu rounds\n", (unsigned long long)seed,
		      (unsigned long long)rounds);
	for (i = 0; i < rounds; i++) {
		filter_random_tree(&tree, &seed, sizeof(entry));
		by_size[tree.nr_terms]++;
		assert_int_equal(set(HYPTRACE_EVENT_hyp_printk, tree.terms, tree.nr_terms), 0);
		for (k = 0; k < 16; k++) {
			entry.fmt_id = filter_limit(env_random(&seed));
			entry.a = filter_limit(env_random(&seed));
			entry.b = filter_limit(env_random(&seed));
			entry.c = env_random(&seed) >> env_random(&seed) % 64;
			entry.d = -(env_random(&seed) >> env_random(&seed) % 64);
			/* Often one that is right at the limit of a comparison */
			n = env_random(&seed) % tree.nr_terms;
			if (tree.terms[n].offset >= 4 && k % 2) {
				u64 value = tree.terms[n].value + env_random(&seed) % 3 - 1;

				memcpy((u8 *)&entry + tree.terms[n].offset, &value,
				       tree.terms[n].width);
			}
			due = filter_tree_holds(&tree, &entry);
			assert_int_equal(printk_passes(&entry), due);
			passed += due;
		}
	}
	assert_true(passed > rounds * 2 && passed < rounds * 14);
	for (i = 1; i <= HYPTRACE_FILTER_MAX_TERMS; i++)
		assert_true(by_size[i] > rounds / 50);
}

/* Every term that is wrong is refused. The active filter and the terms so far stay. */
static void malformed(void **state)
{
	const struct hyptrace_term good = only_id(7);
	struct hyptrace_term two[2] = { good, only_id(9) }, bad;
	u32 event = HYPTRACE_EVENT_selftest, i, nr = filter_nr_bad();
	u64 arg = hyptrace_filter_where(CPU, event, 0, 0);

	(void)state;
	set_only_id(5);
	two[0].on_false = 1;
	for (i = 0; i < nr; i++) {
		/* alone, then as each of two */
		bad = filter_bad(&good, sizeof(struct hyptrace_entry_selftest), i);
		assert_int_equal(give(event, 0, 1, &bad), -EINVAL);
		assert_int_equal(give(event, 0, 2, &bad), -EINVAL);
		assert_int_equal(give(event, 0, 2, &two[0]), 0);
		assert_int_equal(give(event, 1, 2, &bad), -EINVAL);
		assert_true(selftest_passes(5));
		assert_false(selftest_passes(7));
	}

	/* Jumps: not to itself, nor back, nor beyond the last; the limits of events and sizes */
	bad = good;
	for (i = 0; i < 256; i++) {
		bool forward = i == 2 || i == ACCEPT || i == REJECT || i == HYPTRACE_FILTER_RECORD;

		assert_int_equal(give(event, 0, 3, &two[0]), 0);
		bad.on_true = i;
		bad.on_false = ACCEPT;
		assert_int_equal(give(event, 1, 3, &bad), forward ? 0 : -EINVAL);
		assert_int_equal(give(event, 0, 3, &two[0]), 0);
		bad.on_true = REJECT;
		bad.on_false = i;
		assert_int_equal(give(event, 1, 3, &bad), forward ? 0 : -EINVAL);
	}
	for (i = HYPTRACE_FILTER_MAX_TERMS + 1; i < 256; i++)
		assert_int_equal(give(event, 0, i, &good), -EINVAL);
	for (i = 1; i < 256; i++)
		assert_int_equal(give(event, i, 1, &good), -EINVAL);
	assert_int_equal(give(0, 0, 1, &good), -EINVAL);
	for (i = HYPTRACE_NR_EVENTS; i < 0x10000; i++)
		assert_int_equal(give(i, 0, 1, &good), -EINVAL);

	/* Without terms nothing else may be given. */
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_FILTER, arg | BIT_ULL(48), 0, 0), -EINVAL);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_FILTER, arg, 1, 0), -EINVAL);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_FILTER, arg, 0, 1), -EINVAL);
	assert_int_equal(remove_filter(0), -EINVAL);
	assert_int_equal(remove_filter(HYPTRACE_NR_EVENTS), -EINVAL);
	assert_true(selftest_passes(5));
	assert_false(selftest_passes(7));
}

/* Terms must follow each other; the last one replaces the filter at once. */
static void order_of_terms(void **state)
{
	u32 event = HYPTRACE_EVENT_selftest, other = HYPTRACE_EVENT_hyp_pool;
	struct hyptrace_term terms[3] = { only_id(1), only_id(2), only_id(3) }, pool = only_id(0);

	(void)state;
	terms[0].on_false = 1;
	terms[1].on_false = 2;
	pool.offset = offsetof(struct hyptrace_entry_hyp_pool, op);
	pool.width = 1;
	set_only_id(5);
	assert_int_equal(give(event, 1, 3, &terms[1]), -EINVAL);
	assert_int_equal(give(event, 0, 3, &terms[0]), 0);
	assert_int_equal(give(event, 2, 3, &terms[2]), -EINVAL);
	assert_int_equal(give(event, 1, 2, &terms[2]), -EINVAL);
	assert_int_equal(give(other, 1, 3, &pool), -EINVAL);
	assert_int_equal(give(event, 1, 3, &terms[1]), 0);
	assert_int_equal(give(event, 1, 3, &terms[1]), -EINVAL);
	assert_true(selftest_passes(5));
	assert_int_equal(give(event, 2, 3, &terms[2]), 0);
	assert_false(selftest_passes(5));
	assert_true(selftest_passes(1) && selftest_passes(2) && selftest_passes(3));

	/* The terms are used up. The first one begins again. */
	assert_int_equal(give(event, 2, 3, &terms[2]), -EINVAL);
	assert_int_equal(give(event, 3, 3, &terms[2]), -EINVAL);
	assert_int_equal(give(event, 0, 3, &terms[0]), 0);
	assert_int_equal(give(other, 0, 1, &pool), 0);
	assert_int_equal(give(event, 1, 3, &terms[1]), -EINVAL);
	assert_true(selftest_passes(2));
	assert_int_equal(remove_filter(event), 0);
	assert_true(selftest_passes(5));
	assert_int_equal(ring->has_filter, BIT_ULL(other));
}

/* As for ATTACH: on the CPU itself, on any while the ring is parked or detached. */
static void who_may(void **state)
{
	struct hyptrace_term term = only_id(7);
	u32 event = HYPTRACE_EVENT_selftest;

	(void)state;
	env_cpu(OTHER_CPU);
	assert_int_equal(set(event, &term, 1), -EBUSY);
	assert_int_equal(remove_filter(event), -EBUSY);
	assert_int_equal(filter_set(OTHER_CPU, event, &term, 1), -ENODEV);
	assert_int_equal(filter_set(ENV_CPUS, event, &term, 1), -ENXIO);
	assert_int_equal(filter_set(~0U, event, &term, 1), -ENXIO);
	env_cpu(CPU);
	assert_true(selftest_passes(5));
	hyptrace_cpu_off();
	env_cpu(OTHER_CPU);
	assert_int_equal(set(event, &term, 1), 0);
	env_cpu(CPU);
	hyptrace_cpu_on();
	assert_false(selftest_passes(5));
	assert_true(selftest_passes(7));

	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, CPU, 0, 0), 0);
	env_cpu(OTHER_CPU);
	term.value = 8;
	assert_int_equal(set(event, &term, 1), 0);
	env_cpu(CPU);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU, ALL, 0), 0);
	assert_false(selftest_passes(7));
	assert_true(selftest_passes(8));
}

/* A ring that was freed has no filter any more, and no terms of one. */
static void freed(void **state)
{
	struct hyptrace_term terms[2] = { only_id(1), only_id(2) };
	u32 event = HYPTRACE_EVENT_selftest;

	(void)state;
	terms[0].on_false = 1;
	set_only_id(7);
	assert_int_equal(give(event, 0, 2, &terms[0]), 0);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_RING_FREE, CPU, 0, 0), -EBUSY);
	assert_false(selftest_passes(5));
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, CPU, 0, 0), 0);
	env_ring_free(&filter_pages);
	assert_int_equal(set(event, terms, 1), -ENODEV);
	env_ring_load(&filter_pages, CPU, 0, FILTER_PAGES, 0);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU, ALL, 0), 0);
	assert_true(selftest_passes(5));
	assert_int_equal(give(event, 1, 2, &terms[1]), -EINVAL);
}

/* Exactly one in a thousand of 100,000 events is recorded; the counters are exact. */
static void one_in_a_thousand(void **state)
{
	const struct hyptrace_term term = {
		.offset = offsetof(struct hyptrace_entry_hyp_printk, a), .width = 8,
		.op = HYPTRACE_TERM_EQ, .value = 123, .on_true = ACCEPT, .on_false = REJECT,
	};
	struct hyptrace_entry_hyp_printk entry;
	struct hyptrace_meta *meta = env_ring_meta(&filter_pages);
	struct decoded events[DECODE_MAX];
	u64 due = 123, read = 0, i;
	s64 id;
	int nr;

	(void)state;
	assert_int_equal(set(HYPTRACE_EVENT_hyp_printk, &term, 1), 0);
	for (i = 0; i < 100000; i++) {
		env_counter += 10;
		hyptrace(hyp_printk, i, i % 1000, i, ~i, 0);
	}
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_SYNC, CPU, 0, 0), 0);
	assert_int_equal(meta->written, 100);
	assert_int_equal(meta->filtered, 99900);
	assert_int_equal(meta->overrun + meta->dropped, 0);
	while ((id = hyptrace_hcall(HYPTRACE_OP_SWAP, CPU, ~0ULL, 0)) >= 0) {
		const struct hyptrace_subbuf *page = env_ring_data(&filter_pages, id);

		nr = decode_both(page, events);
		for (i = 0; (int)i < nr; i++, due += 1000, read++) {
			memcpy(&entry, page->data + events[i].offset, sizeof(entry));
			assert_int_equal(entry.common_type, HYPTRACE_EVENT_hyp_printk);
			assert_int_equal(entry.fmt_id, due);
			assert_int_equal(entry.a, 123);
			assert_int_equal(entry.b, due);
			assert_int_equal(entry.c, ~due);
			assert_int_equal(events[i].time, 10 * (due + 1));
		}
	}
	assert_int_equal(read, 100);
}

/* filtered is a counter like the others: RESET clears it, EXCHANGE keeps it. */
static void counters(void **state)
{
	struct env_ring spare;

	(void)state;
	set_only_id(7);
	assert_false(selftest_passes(1) || selftest_passes(2));
	env_ring_load(&spare, CPU | HYPTRACE_SPARE_RING, env_ring_pages(FILTER_PAGES),
		      FILTER_PAGES, 0);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_EXCHANGE, CPU, 0, 0), 0);
	assert_int_equal(env_ring_meta(&spare)->filtered, 2);
	assert_false(selftest_passes(3));
	assert_true(selftest_passes(7));
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_SYNC, CPU, 0, 0), 0);
	assert_int_equal(env_ring_meta(&spare)->filtered, 3);
	assert_int_equal(env_ring_meta(&spare)->written, 1);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_RESET, CPU, 0, 0), 0);
	assert_int_equal(env_ring_meta(&spare)->filtered, 0);
	assert_false(selftest_passes(1));

	/* Go back to the first ring, which stop() frees. */
	while (hyptrace_hcall(HYPTRACE_OP_MOVE, CPU, 0, 0))
		;
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_DETACH, CPU, 0, 0), 0);
	assert_int_equal(env_ring_meta(&spare)->filtered, 1);
	while (hyptrace_hcall(HYPTRACE_OP_RING_FREE, CPU | HYPTRACE_SPARE_RING, 0, 0))
		;
	while (hyptrace_hcall(HYPTRACE_OP_RING_FREE, CPU, 0, 0))
		;
	env_ring_load(&filter_pages, CPU, 0, FILTER_PAGES, 0);
	assert_int_equal(ring->filtered, 0);
}

/* A hypercall of hyptrace, as the kernel's EL2 code handles it */
static s64 trap(u64 op, u64 arg1, u64 arg2, u64 arg3)
{
	s64 ret;

	{
		hyptrace_host_call(0, true, no_regs);
		hyptrace_silence_own_call();
		ret = hyptrace_hcall(op, arg1, arg2, arg3);
	}
	hyptrace_host_exit();
	assert_int_equal(ring->silent, 0);

	return ret;
}

static struct hyptrace_term reason(u32 event, u8 value)
{
	struct hyptrace_term term = {
		.offset = offsetof(struct hyptrace_entry_hyp_exit, reason), .width = 1,
		.op = HYPTRACE_TERM_EQ, .value = value, .on_true = ACCEPT, .on_false = REJECT,
	};

	assert_int_equal(set(event, &term, 1), 0);

	return term;
}

/* A silent CPU neither records nor counts. hyp_exit ends the silence, whatever its filter. */
static void silence(void **state)
{
	static const u8 reasons[] = { HYPTRACE_REASON_ERET_HOST, HYPTRACE_REASON_SMC };
	struct hyptrace_term term;
	u64 recorded, filtered;
	u32 i, ends;

	(void)state;
	for (i = 0; i < ENV_NR(reasons); i++) {
		ends = reasons[i] == HYPTRACE_REASON_ERET_HOST;
		term = reason(HYPTRACE_EVENT_hyp_exit, reasons[i]);
		reason(HYPTRACE_EVENT_hyp_enter, HYPTRACE_REASON_SYS);
		recorded = ring->recorded;
		filtered = ring->filtered;
		trap(HYPTRACE_OP_SYNC, CPU, 0, 0);
		trap(HYPTRACE_OP_FILTER, hyptrace_filter_where(CPU, HYPTRACE_EVENT_hyp_exit, 0, 1),
		     hyptrace_pack_term(&term), term.value);
		assert_int_equal(ring->recorded, recorded);
		assert_int_equal(ring->filtered, filtered);
		hyptrace_host_exit();
		assert_int_equal(ring->recorded, recorded + ends);
		assert_int_equal(ring->filtered, filtered + !ends);
		hyptrace_smc_exit();
		hyptrace_smc_enter();
		assert_int_equal(ring->recorded, recorded + 1);
		assert_int_equal(ring->filtered, filtered + 2);

		/* of a protected guest, only the first entry and the last exit */
		hyptrace_guest_begin(true);
		hyptrace_silence_own_call();
		hyptrace(hyp_enter, HYPTRACE_REASON_SYS);
		hyptrace_smc_exit();
		hyptrace_host_exit();
		assert_int_equal(ring->silent, HYPTRACE_SILENT_GUEST);
		hyptrace(hyp_exit, reasons[i]);
		assert_int_equal(ring->recorded, recorded + 1);
		assert_int_equal(ring->filtered, filtered + 3);
		hyptrace_guest_end(true);
		assert_int_equal(ring->filtered, filtered + 4);
	}
}

/* The event that HYPTRACE_OP_WRITE writes passes its filter, too, and nothing else does. */
static void write(void **state)
{
	(void)state;
	reason(HYPTRACE_EVENT_hyp_exit, HYPTRACE_REASON_ERET_HOST);
	set_only_id(7);
	assert_int_equal(trap(HYPTRACE_OP_WRITE, 7, HYPTRACE_WRITE_SELFTEST, 0), 0);
	assert_int_equal(ring->recorded, 1);
	assert_int_equal(ring->filtered, 0);
	assert_int_equal(trap(HYPTRACE_OP_WRITE, 8, HYPTRACE_WRITE_SELFTEST, 0), 0);
	assert_int_equal(ring->recorded, 1);
	assert_int_equal(ring->filtered, 1);
	assert_int_equal(trap(HYPTRACE_OP_WRITE, 8, HYPTRACE_WRITE_PRINTK, 0), 0);
	assert_int_equal(ring->recorded, 2);
	hyptrace_silence_own_call();
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_WRITE, 7, HYPTRACE_WRITE_SELFTEST, 0), 0);
	hyptrace(selftest, 7);
	assert_int_equal(ring->recorded, 3);
	hyptrace_host_exit();
	trap(HYPTRACE_OP_ATTACH, CPU, ALL & ~BIT_ULL(HYPTRACE_EVENT_selftest), 0);
	assert_int_equal(trap(HYPTRACE_OP_WRITE, 7, HYPTRACE_WRITE_SELFTEST, 0), -ENODATA);
	assert_int_equal(ring->recorded, 3);
	assert_int_equal(ring->filtered, 1);
}

/* A filter does not change which events are on. An event that is off is not counted. */
static void events_on(void **state)
{
	const u64 bit = BIT_ULL(HYPTRACE_EVENT_selftest), pool = BIT_ULL(HYPTRACE_EVENT_hyp_pool);
	struct hyptrace_term term = only_id(7);

	(void)state;
	set_only_id(7);
	assert_int_equal(hyptrace_events_on, ALL);
	assert_int_equal(ring->enabled, ALL & ~bit);
	assert_int_equal(ring->aside, bit);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU, pool, 0), 0);
	assert_int_equal(hyptrace_events_on, pool);
	assert_int_equal(ring->aside, 0);
	term.value = 9;
	assert_int_equal(set(HYPTRACE_EVENT_selftest, &term, 1), 0);
	assert_int_equal(ring->enabled, pool);
	__hyptrace_selftest(9);
	__hyptrace_selftest(8);
	assert_int_equal(ring->recorded + ring->filtered, 0);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_ATTACH, CPU, bit, 0), 0);
	assert_int_equal(hyptrace_events_on, bit);
	assert_int_equal(ring->enabled, 0);
	assert_true(selftest_passes(9));
	assert_false(selftest_passes(8));
	hyptrace_cpu_off();
	__hyptrace_selftest(9);
	assert_int_equal(ring->recorded + ring->filtered, 2);
	hyptrace_cpu_on();
	assert_false(selftest_passes(8));
}

/* The duration of a timed event, and what was saved when it began */
static void timed(void **state)
{
	struct hyptrace_term terms[2] = {
		{
			.offset = offsetof(struct hyptrace_entry_host_mem_abort, duration),
			.width = 8, .op = HYPTRACE_TERM_GT, .value = 50000,
			.on_true = ACCEPT, .on_false = 1,
		}, {
			.offset = offsetof(struct hyptrace_entry_host_mem_abort, ret),
			.width = 4, .is_signed = 1, .op = HYPTRACE_TERM_EQ, .value = -EPERM,
			.on_true = ACCEPT, .on_false = REJECT,
		},
	};
	struct hyptrace_entry_host_mem_abort entry;
	struct decoded events[DECODE_MAX];
	u64 ns;

	(void)state;
	assert_int_equal(set(HYPTRACE_EVENT_host_mem_abort, terms, 2), 0);
	env_counter = 1000;
	for (ns = 49998; ns < 50003; ns++) {
		hyptrace_begin(host_mem_abort, 0x92000007, ns << 12);
		env_counter += ns;
		hyptrace(host_mem_abort, ns == 49999 ? -EPERM : EPERM);
	}
	assert_int_equal(ring->filtered, 2);
	assert_int_equal(decode_both(ring->page, events), 3);
	for (ns = 0; ns < 3; ns++) {
		u64 due = ns ? 50000 + ns : 49999;

		memcpy(&entry, ring->page->data + events[ns].offset, sizeof(entry));
		assert_int_equal(entry.duration, due);
		assert_int_equal(entry.addr, due << 12);
		assert_int_equal(entry.esr, 0x92000007);
		assert_int_equal(entry.ret, ns ? EPERM : -EPERM);
	}
	/* without a begin, in silence */
	hyptrace_guest_begin(true);
	hyptrace_begin(host_mem_abort, 1, 1);
	env_counter += 100000;
	hyptrace(host_mem_abort, 0);
	assert_int_equal(ring->recorded, 4);
	assert_int_equal(ring->filtered, 2);
	hyptrace_guest_end(true);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, filter_start, filter_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(operators), TEST(trees), TEST(malformed), TEST(order_of_terms), TEST(who_may),
		TEST(freed), TEST(one_in_a_thousand), TEST(counters), TEST(silence), TEST(write),
		TEST(events_on), TEST(timed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
