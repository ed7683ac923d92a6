// SPDX-License-Identifier: GPL-2.0-only
/*
 * A CPU gets a ring of another size while it writes. All events that fit are kept, in order.
 * The others are counted as lost before the right sub-buffer.
 */
#include "ring_run.h"

#define CPU		1
#define OTHER_CPU	2
#define MAX_PAGES	9
#define ROUNDS		3000
#define PER_START	50
#define REGION		env_ring_pages(MAX_PAGES)
#define SEED		0x5e5e

/* The host's view: the page behind each id of the ring and of the spare ring. */
static struct {
	struct env_ring ring, spare;
	struct hyptrace_subbuf *page[2][MAX_PAGES];
	u32 regions;		/* used so far: resizes move pages between rings */
	u32 id;			/* of the reader's page */
	u32 seen;		/* events read of it */
	u64 consumed;
	u64 next;		/* number of the next event */
	u64 expect;		/* number of the event to read next */
	u64 read, lost;
} host;

static struct hyptrace_ring *ring = &env_rings[CPU];

static s64 hcall(u64 op, u64 arg)
{
	return hyptrace_hcall(op, CPU, arg, 0);
}

static void load(struct env_ring *which, bool spare, u32 nr_pages, u32 flags)
{
	u32 first = host.regions++ * REGION, i;

	env_ring_load(which, spare ? CPU | HYPTRACE_SPARE_RING : CPU, first, nr_pages, flags);
	for (i = 0; i < nr_pages; i++)
		host.page[spare][i] = env_ring_data(which, i);
}

static void start(u32 nr_pages, u32 flags)
{
	memset(&host, 0, sizeof(host));
	env_start((PER_START + 1) * REGION);
	env_cpu(CPU);
	load(&host.ring, false, nr_pages, flags);
	host.id = nr_pages - 1;
	assert_int_equal(hcall(HYPTRACE_OP_ATTACH, HYPTRACE_ALL_EVENTS), 0);
}

/* Free a ring. Its pages may be from other rings: each one must be wiped and released. */
static void free_ring(struct env_ring *which, bool spare)
{
	u64 arg = CPU | (spare ? HYPTRACE_SPARE_RING : 0);
	u32 i;

	while (hyptrace_hcall(HYPTRACE_OP_RING_FREE, arg, 0, 0) == 1)
		;
	for (i = 0; i < which->nr_pages; i++) {
		u32 index;

		for (index = 0; env_page(index) != (void *)host.page[spare][i]; index++)
			;
		assert_int_equal(env_owner(index), ENV_HOST);
		assert_true(env_is_wiped(index));
	}
}

static void stop(void)
{
	assert_int_equal(hcall(HYPTRACE_OP_DETACH, 0), 0);
	free_ring(&host.ring, false);
	env_stop();
}

/*
 * The time of an event. The distance leaves room for the time stamps of sub-buffers and gap
 * records.
 */
static u64 time_of(u64 number)
{
	return 1000 + 10 * number;
}

static void write_events(u32 nr)
{
	while (nr--) {
		env_counter = time_of(host.next);
		hyptrace(selftest, host.next++);
	}
}

static void look(void)
{
	const struct hyptrace_subbuf *page = host.page[0][host.id];
	struct decoded events[DECODE_MAX];
	int nr = decode_both(page, events);
	u64 number;

	for (; (int)host.seen < nr; host.seen++) {
		memcpy(&number, page->data + events[host.seen].offset + 8, sizeof(number));
		assert_int_equal(number, host.expect);
		assert_int_equal(events[host.seen].time, time_of(number));
		host.expect++;
		host.read++;
	}
	host.consumed = page->commit;
}

static bool next_page(void)
{
	s64 ret = hcall(HYPTRACE_OP_SWAP, host.consumed);
	struct hyptrace_meta *meta = env_ring_meta(&host.ring);

	if (ret < 0) {
		assert_int_equal(ret, -EAGAIN);
		return false;
	}
	host.id = ret;
	host.seen = 0;
	host.consumed = 0;
	host.lost += meta->reader_lost;
	host.expect += meta->reader_lost;
	return true;
}

static void check_counts(void)
{
	struct hyptrace_meta *meta = env_ring_meta(&host.ring);
	u64 gone;

	assert_int_equal(hcall(HYPTRACE_OP_SYNC, 0), 0);
	gone = meta->overrun + meta->dropped;
	assert_int_equal(meta->written, host.next);
	assert_int_equal(host.lost + ring->pending, gone);
	assert_int_equal(meta->written, host.read + gone);
	assert_int_equal(meta->unread, 0);
	assert_int_equal(meta->nr_unread, 0);
}

static void drain(void)
{
	do
		look();
	while (next_page());
	look();
	assert_int_equal(host.expect + ring->pending, host.next);
	check_counts();
}

/* The shared page must describe the complete sub-buffers of the ring. */
static void check_unread(void)
{
	struct hyptrace_meta *meta = env_ring_meta(&host.ring);
	struct hyptrace_slot *slot;
	u64 bytes = 0;
	u32 nr = 0, pos;

	for (pos = ring->head; pos != ring->tail; pos = hyptrace_next_position(ring, pos)) {
		slot = hyptrace_slot_at(ring, pos);
		assert_int_equal(slot->commit, slot->page->commit);
		bytes += slot->page->commit;
		nr++;
	}
	assert_int_equal(meta->unread, bytes);
	assert_int_equal(meta->nr_unread, nr);
	assert_int_equal(meta->reader_id, host.id);
	assert_ptr_equal(host.page[0][meta->tail_id], ring->page);
	if (!meta->writer_in_reader_page)
		assert_int_equal(meta->head_lost, hyptrace_slot_at(ring, ring->head)->lost);
}

static void exchange_pages(u32 old, u32 new)
{
	struct hyptrace_subbuf *page = host.page[1][old];

	host.page[1][old] = host.page[0][new];
	host.page[0][new] = page;
}

static void exchange(void)
{
	struct hyptrace_subbuf *page;
	struct env_ring was = host.ring;
	u32 i;

	assert_int_equal(hcall(HYPTRACE_OP_EXCHANGE, 0), 0);
	for (i = 0; i < MAX_PAGES; i++) {
		page = host.page[0][i];
		host.page[0][i] = host.page[1][i];
		host.page[1][i] = page;
	}
	host.ring = host.spare;
	host.spare = was;
	exchange_pages(host.id, host.ring.nr_pages - 1);
	host.id = host.ring.nr_pages - 1;
	assert_int_equal(env_ring_meta(&host.ring)->reader_id, host.id);
	assert_int_equal(env_ring_meta(&host.ring)->written, host.next);
}

/* Overwrite the answer of the last MOVE, which EL2 must not read, and move the next one. */
static s64 move_one(struct hyptrace_meta *meta)
{
	memset(&meta->moved, 0xff, sizeof(meta->moved));
	return hcall(HYPTRACE_OP_MOVE, 0);
}

/* Move all sub-buffers; return how many. After each move, write @write_between events. */
static u32 move(u32 write_between)
{
	struct hyptrace_meta *meta = env_ring_meta(&host.ring);
	u32 moved = 0;
	s64 ret;

	while ((ret = move_one(meta)) > 0) {
		if (ret == HYPTRACE_MOVE_MOVED) {
			exchange_pages(meta->moved.retired_id, meta->moved.ring_id);
			check_unread();
			moved++;
		}
		write_events(write_between);
	}
	assert_int_equal(ret, 0);
	return moved;
}

static u32 resize(u32 nr_pages, u32 flags, u32 write_between)
{
	u32 moved;

	load(&host.spare, true, nr_pages, flags);
	write_events(write_between);
	exchange();
	write_events(write_between);
	check_unread();
	moved = move(write_between);
	check_unread();
	free_ring(&host.spare, true);
	return moved;
}

/* A selftest record has 20 bytes: 203 of them fit into a sub-buffer. */
#define PER_PAGE	(HYPTRACE_SUBBUF_DATA_SIZE / 20)

static void grow(void **state)
{
	(void)state;
	start(4, 0);
	write_events(2 * PER_PAGE + 5);
	assert_int_equal(resize(8, 0, 0), 3);
	assert_int_equal(env_ring_meta(&host.ring)->nr_unread, 3);
	assert_int_equal(env_ring_meta(&host.ring)->unread, (2 * PER_PAGE + 5) * 20);
	write_events(3 * PER_PAGE);
	drain();
	assert_int_equal(host.lost, 0);
	assert_int_equal(host.read, 5 * PER_PAGE + 5);
	stop();
}

static void shrink(void **state)
{
	struct hyptrace_meta *meta;

	(void)state;
	start(8, 0);
	write_events(6 * PER_PAGE + 5);
	/* The ring has two sub-buffers, and the writer needs one. */
	assert_int_equal(resize(3, 0, 0), 1);
	meta = env_ring_meta(&host.ring);
	assert_int_equal(meta->overrun, 6 * PER_PAGE);
	assert_int_equal(meta->nr_overwritten, 6);
	assert_int_equal(meta->nr_unread, 1);
	assert_int_equal(meta->head_lost, 6 * PER_PAGE);
	assert_true(next_page());
	assert_int_equal(host.lost, 6 * PER_PAGE);
	drain();
	assert_int_equal(host.read, 5);
	stop();
}

/*
 * During a resize the reader keeps its sub-buffer: what it has read is not read again, the
 * rest remains to be read.
 */
static void reader_between(void **state)
{
	(void)state;
	start(4, 0);
	write_events(7);
	assert_true(next_page());
	look();
	assert_int_equal(host.read, 7);
	write_events(4);
	/* The writer is in the reader's sub-buffer, and leaves it with the resize. */
	assert_int_equal(resize(5, 0, 0), 0);
	assert_int_equal(env_ring_meta(&host.ring)->writer_in_reader_page, 0);
	assert_int_equal(env_ring_meta(&host.ring)->reader_entries, 11);
	assert_int_equal(hcall(HYPTRACE_OP_SWAP, host.consumed), -ESTALE);
	write_events(3);
	drain();
	assert_int_equal(host.read, 14);
	assert_int_equal(host.lost, 0);
	stop();
}

/* Dropped events are reported before the next event, in whichever ring that is recorded. */
static void discard(void **state)
{
	(void)state;
	start(3, HYPTRACE_RING_DISCARD);
	write_events(2 * PER_PAGE + 9);
	assert_int_equal(ring->pending, 9);
	assert_int_equal(resize(6, HYPTRACE_RING_DISCARD, 0), 2);
	assert_int_equal(ring->pending, 9);
	assert_int_equal(ring->page->commit, 0);
	/* Resize again, without an event in between. */
	assert_int_equal(resize(5, HYPTRACE_RING_DISCARD, 0), 2);
	write_events(2);
	assert_int_equal(decode_gap(ring->page, ring->page->commit), 9);
	drain();
	assert_int_equal(host.lost, 9);
	assert_int_equal(host.read, 2 * PER_PAGE + 2);
	stop();
}

/* The mode belongs to the ring: another ring can have the other mode. */
static void other_mode(void **state)
{
	(void)state;
	start(3, HYPTRACE_RING_DISCARD);
	write_events(2 * PER_PAGE + 9);
	assert_int_equal(ring->dropped, 9);
	resize(4, 0, 0);
	write_events(4 * PER_PAGE);
	assert_int_equal(ring->dropped, 9);
	assert_true(ring->overrun > 0);
	drain();
	resize(3, HYPTRACE_RING_DISCARD, 0);
	write_events(5 * PER_PAGE);
	assert_true(ring->dropped > 9);
	drain();
	stop();
}

static void refusals(void **state)
{
	(void)state;
	start(4, 0);
	assert_int_equal(hcall(HYPTRACE_OP_EXCHANGE, 0), -ENODEV);
	assert_int_equal(hcall(HYPTRACE_OP_MOVE, 0), -ENODEV);
	load(&host.spare, true, 4, 0);
	assert_int_equal(hcall(HYPTRACE_OP_MOVE, 0), -ENODEV);
	env_cpu(OTHER_CPU);
	assert_int_equal(hcall(HYPTRACE_OP_EXCHANGE, 0), -EBUSY);
	env_cpu(CPU);
	write_events(3);
	exchange();
	assert_int_equal(hcall(HYPTRACE_OP_EXCHANGE, 0), -EBUSY);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_RING_FREE, CPU | HYPTRACE_SPARE_RING, 0, 0),
			 -EBUSY);
	/* A swap must not return younger events before the older ones that are not moved yet. */
	write_events(1);
	assert_int_equal(hcall(HYPTRACE_OP_SWAP, 0), -EBUSY);
	assert_int_equal(move(0), 1);
	drain();
	assert_int_equal(host.read, 4);
	free_ring(&host.spare, true);
	stop();
}

/* All pointers to tables change rings, nothing that is behind them, and the kind of memory. */
static void directory_pointers(void **state)
{
	const u32 end = (sizeof(*ring) - offsetof(struct hyptrace_ring, dir)) / sizeof(void *);
	void **theirs = (void **)env_spare_rings[CPU].dir, **ours = (void **)ring->dir;
	u32 i;

	(void)state;
	start(4, 0);
	load(&host.spare, true, 4, HYPTRACE_RING_KEPT);
	for (i = 1; i < end; i++) {
		ours[i] = &ours[i];
		theirs[i] = &theirs[i];
	}
	exchange();
	for (i = 1; i < end; i++) {
		bool changed = i < HYPTRACE_MAX_DIRS;

		assert_ptr_equal(ours[i], changed ? &theirs[i] : &ours[i]);
		assert_ptr_equal(theirs[i], changed ? &ours[i] : &theirs[i]);
	}
	assert_true(ring->kept);
	assert_false(env_spare_rings[CPU].kept);
	free_ring(&host.spare, true);
	stop();
}

/* Resize from one directory to two and back: moved sub-buffers go to the end of the ring. */
static void two_directories(void **state)
{
	const u32 nr = HYPTRACE_SLOTS_PER_TABLE * HYPTRACE_TABLE_PTRS_PER_DIR + 5;
	struct env_ring small, large, last;
	u32 left = nr - 2, i;
	s64 ret;

	(void)state;
	env_start(env_ring_pages(nr) + 2 * env_ring_pages(6));
	memset(&host, 0, sizeof(host));
	env_cpu(CPU);
	env_ring_load(&small, CPU, 0, 6, 0);
	assert_int_equal(hcall(HYPTRACE_OP_ATTACH, HYPTRACE_ALL_EVENTS), 0);
	write_events(3 * PER_PAGE + 1);
	env_ring_load(&large, CPU | HYPTRACE_SPARE_RING, 2 * env_ring_pages(6), nr, 0);
	assert_int_equal(large.nr_dirs, 2);
	assert_int_equal(hcall(HYPTRACE_OP_EXCHANGE, 0), 0);
	for (i = 4; i--; left--) {
		assert_int_equal(hcall(HYPTRACE_OP_MOVE, 0), HYPTRACE_MOVE_MOVED);
		assert_int_equal(env_ring_meta(&large)->moved.retired_id, i);
		assert_int_equal(env_ring_meta(&large)->moved.ring_id, left);
		assert_ptr_equal(hyptrace_slot_at(ring, left)->page, env_page(i));
	}
	assert_int_equal(hcall(HYPTRACE_OP_MOVE, 0), HYPTRACE_MOVE_NONE_LEFT);
	while ((ret = hyptrace_hcall(HYPTRACE_OP_RING_FREE, CPU | HYPTRACE_SPARE_RING, 0, 0)) > 0)
		;
	assert_int_equal(ret, 0);

	write_events(5);
	env_ring_load(&last, CPU | HYPTRACE_SPARE_RING, env_ring_pages(6), 6, 0);
	assert_int_equal(hcall(HYPTRACE_OP_EXCHANGE, 0), 0);
	for (i = 0; (ret = hcall(HYPTRACE_OP_MOVE, 0)) > 0; i++)
		assert_int_equal(ret == HYPTRACE_MOVE_DROPPED, i == 4);
	assert_int_equal(ret, 0);
	assert_int_equal(i, 5);
	assert_int_equal(env_ring_meta(&last)->nr_unread, 4);
	assert_int_equal(env_ring_meta(&last)->overrun, PER_PAGE);
	for (i = 1; (ret = hyptrace_hcall(HYPTRACE_OP_RING_FREE, CPU | HYPTRACE_SPARE_RING,
					  0, 0)) > 0; i++)
		;
	assert_int_equal(ret, 0);
	assert_true(i > large.nr_dirs + large.nr_tables);
	assert_int_equal(hcall(HYPTRACE_OP_DETACH, 0), 0);
	while (hcall(HYPTRACE_OP_RING_FREE, 0) > 0)
		;
	env_stop();
}

/* After a reset no old event moves to the new ring, and none is counted. */
static void reset_between(void **state)
{
	struct hyptrace_meta *meta;

	(void)state;
	start(4, 0);
	write_events(2 * PER_PAGE);
	load(&host.spare, true, 4, 0);
	exchange();
	assert_int_equal(hcall(HYPTRACE_OP_RESET, 0), 0);
	assert_int_equal(hcall(HYPTRACE_OP_MOVE, 0), HYPTRACE_MOVE_DROPPED);
	assert_int_equal(hcall(HYPTRACE_OP_MOVE, 0), HYPTRACE_MOVE_DROPPED);
	assert_int_equal(hcall(HYPTRACE_OP_MOVE, 0), HYPTRACE_MOVE_NONE_LEFT);
	meta = env_ring_meta(&host.ring);
	assert_int_equal(meta->written, 0);
	assert_int_equal(meta->overrun, 0);
	assert_int_equal(meta->nr_unread, 0);
	free_ring(&host.spare, true);
	stop();
}

/* A reset that is not complete must not affect the CPU's next ring. */
static void half_a_reset(void **state)
{
	const u32 nr = 2 * HYPTRACE_SLOTS_PER_TABLE;
	struct env_ring small, large;

	(void)state;
	memset(&host, 0, sizeof(host));
	env_start(env_ring_pages(nr) + env_ring_pages(4));
	env_cpu(CPU);
	env_ring_load(&large, CPU, 0, nr, 0);
	env_ring_load(&small, CPU | HYPTRACE_SPARE_RING, env_ring_pages(nr), 4, 0);
	assert_int_equal(hcall(HYPTRACE_OP_ATTACH, HYPTRACE_ALL_EVENTS), 0);
	host.next = 2 * HYPTRACE_MAX_LEAD_NS;
	write_events(5);
	env_counter = 1;
	assert_int_equal(hcall(HYPTRACE_OP_RESET, 0), 1);
	assert_int_equal(hcall(HYPTRACE_OP_EXCHANGE, 0), 0);
	while (hcall(HYPTRACE_OP_MOVE, 0) > 0)
		;
	host.next = 0;
	write_events(5);
	assert_int_equal(ring->recorded, 5);
	assert_int_equal(hcall(HYPTRACE_OP_RESET, 0), 0);
	assert_int_equal(ring->recorded, 0);
	assert_int_equal(hcall(HYPTRACE_OP_DETACH, 0), 0);
	while (hyptrace_hcall(HYPTRACE_OP_RING_FREE, CPU | HYPTRACE_SPARE_RING, 0, 0) > 0)
		;
	while (hcall(HYPTRACE_OP_RING_FREE, 0) > 0)
		;
	env_stop();
}

/* Resize between random sizes, at random fill levels, while events are written and read. */
static void at_random(void **state)
{
	u64 rounds = env_number("HYPTRACE_TEST_ROUNDS", ROUNDS), seed = env_seed(SEED), i;
	u64 resized = 0, lost = 0;
	u32 flags = 0;

	(void)state;
	for (i = 0; i < rounds; i++) {
		u64 what = env_random(&seed);

		if (i % PER_START == 0) {
			if (i) {
				drain();
				lost += host.lost;
				stop();
			}
			flags = i / PER_START & 1 ? HYPTRACE_RING_DISCARD : 0;
			start(3 + what % (MAX_PAGES - 2), flags);
		}
		write_events(what >> 8 & 1 ? what >> 16 & 15 : what >> 16 & 1023);
		if (what >> 9 & 1)
			look();
		if (what >> 9 & what >> 10 & 1)
			next_page();
		if ((what >> 11 & 3) == 0) {
			resize(3 + (what >> 32) % (MAX_PAGES - 2), flags,
			       what >> 40 & 1 ? what >> 48 & 255 : 0);
			resized++;
		}
	}
	drain();
	stop();
	print_message("%llu resized, %llu events lost\n", (unsigned long long)resized,
		      (unsigned long long)lost);
	assert_true(resized > rounds / 10 && lost);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grow),
		cmocka_unit_test(shrink),
		cmocka_unit_test(reader_between),
		cmocka_unit_test(discard),
		cmocka_unit_test(other_mode),
		cmocka_unit_test(refusals),
		cmocka_unit_test(directory_pointers),
		cmocka_unit_test(two_directories),
		cmocka_unit_test(reset_between),
		cmocka_unit_test(half_a_reset),
		cmocka_unit_test(at_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
