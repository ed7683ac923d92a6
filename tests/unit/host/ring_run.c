// SPDX-License-Identifier: GPL-2.0-only
/* The steps that are done to a ring and to its model. For test_ring_*.c. */
#include "ring_run.h"

#define RESERVE(n)	case n: to = hyptrace_ring_reserve(ring, now, n); break;
#define RESERVE_4(n)	RESERVE(n) RESERVE((n) + 1) RESERVE((n) + 2) RESERVE((n) + 3)
#define RESERVE_16(n)	RESERVE_4(n) RESERVE_4((n) + 4) RESERVE_4((n) + 8) \
			RESERVE_4((n) + 12)

/* The recording functions pass constant sizes to hyptrace_ring_reserve(), so do the same here. */
static void *reserve(struct hyptrace_ring *ring, u64 *now, u32 payload)
{
	void *to;

	switch (payload) {
	RESERVE_16(2) RESERVE_16(18) RESERVE_16(34) RESERVE_16(50) RESERVE_16(66)
	RESERVE_16(82) RESERVE_16(98)	/* up to 113, the smallest long payload */
	RESERVE_4(114) RESERVE_4(254) RESERVE_4(1022) RESERVE_4(2030)
	RESERVE_4(2034) RESERVE_4(4044) RESERVE_4(4049) RESERVE_4(4053)
	default:
		to = hyptrace_ring_reserve(ring, now, payload);
	}

	return to;
}

void run_start(struct run *run, u32 nr_pages, bool discard)
{
	memset(run, 0, sizeof(*run));
	env_start(env_ring_pages(nr_pages));
	env_cpu(RUN_CPU);
	env_ring_load(&run->host, RUN_CPU, 0, nr_pages,
		      discard ? HYPTRACE_RING_DISCARD : 0);
	run->ring = &env_rings[RUN_CPU];
	run->model = model_new(nr_pages, discard);
	run->state = HYPTRACE_RING_DETACHED;
	run_check(run);
	run_attach(run, RUN_CPU, HYPTRACE_ALL_EVENTS);
}

void run_stop(struct run *run)
{
	run_detach(run, RUN_CPU);
	env_ring_free(&run->host);
	model_delete(run->model);
	env_stop();
}

/* Record an event. False if the ring dropped it, or if it is not enabled. */
bool run_write(struct run *run, enum model_kind kind, u32 payload, u64 now)
{
	struct model_event event = { run->next, now, payload, kind };
	struct hyptrace_ring *ring = run->ring;
	u64 before = ring->recorded;
	u64 bit = ~0ULL, at = now;
	void *to;
	bool ret;

	__atomic_store_n(&env_counter, now, __ATOMIC_RELAXED);
	switch (kind) {
	case MODEL_ENTER:
		event.payload = 8;
		bit = BIT_ULL(HYPTRACE_EVENT_hyp_enter);
		hyptrace_host_ring->vcpu = run->next >> 8 & 0x7fffffff;
		hyptrace(hyp_enter, run->next);
		break;
	case MODEL_SELFTEST:
		event.payload = 16;
		bit = BIT_ULL(HYPTRACE_EVENT_selftest);
		if (run->next & 1)
			hyptrace(selftest, run->next);
		else
			assert_int_equal(hyptrace_hcall(HYPTRACE_OP_WRITE, run->next, 0, 0),
					 run->enabled & bit ? 0 : -ENODATA);
		break;
	case MODEL_RAW:
		if (!run->enabled)
			return false;
		to = reserve(ring, &at, payload);
		if (to) {
			assert_int_equal((uintptr_t)to % sizeof(u32), 0);
			model_fill(to, run->next, payload);
			hyptrace_ring_commit(ring, ring->commit, ring->recorded, to, at, payload);
		}
		break;
	}

	if (!(run->enabled & bit)) {
		assert_int_equal(ring->recorded, before);
		return false;
	}
	run->next++;
	ret = model_write(run->model, &event);
	assert_int_equal(ring->recorded, before + ret);

	return ret;
}

static u64 sum(const void *data, size_t len)
{
	const u64 *words = data;
	u64 ret = 0;

	for (len /= sizeof(*words); len--; words++)
		ret = (ret ^ *words) * 0x100000001b3;

	return ret;
}

static const struct hyptrace_subbuf *reader_page(struct run *run)
{
	return env_ring_data(&run->host, env_ring_meta(&run->host)->reader_id);
}

/*
 * Read the new events of the reader's page. Their numbers must be the expected ones. This uses
 * the model only for the content of each event.
 */
void run_look(struct run *run)
{
	struct model_page *page = run->model->reader;
	struct decoded events[DECODE_MAX];
	int nr = page->nr;

	if (!run->hostile) {
		nr = decode_both(reader_page(run), events);
		model_check_page(page, reader_page(run));
	}
	for (; (int)run->seen < nr; run->seen++, run->expect++, run->read++) {
		struct model_event due = page->events[run->seen];

		assert_int_equal(due.number, run->expect);
		due.number = run->expect;
		if (!run->hostile)
			assert_true(model_matches(&due, reader_page(run)->data +
						  events[run->seen].offset));
	}
}

/* The bytes in the complete sub-buffers of the ring. */
static u64 unread_bytes(const struct model *model)
{
	u64 bytes = 0;
	u32 i;

	for (i = 0; i + 1 < model->nr_unread; i++)
		bytes += model->unread[i]->used;

	return bytes;
}

/* Check the fields that are up to date at all times, not only after a hypercall. */
static void check_meta_now(struct run *run)
{
	struct hyptrace_meta *meta = env_ring_meta(&run->host);
	struct model *model = run->model;
	u32 complete = model->following ? 0 : model->nr_unread - 1, i;
	u64 unread = 0;

	for (i = 0; i < complete; i++)
		unread += model->unread[i]->used;
	assert_int_equal(meta->unread, unread);
	assert_int_equal(meta->nr_unread, complete);
	if (!model->following)
		assert_int_equal(meta->head_lost, model->unread[0]->lost);
	assert_int_equal(meta->nr_entered, model->touched);
	assert_int_equal(meta->nr_overwritten, model->overwritten);
	assert_int_equal(meta->begin, model->begin);
	assert_true(meta->tail_id < run->host.nr_pages);
	assert_ptr_equal(env_ring_data(&run->host, meta->tail_id), run->ring->page);
	assert_int_equal(meta->overrun, model->overrun);
	assert_int_equal(meta->dropped, model->dropped);
	assert_int_equal(meta->reader_lost, model->reader->lost);
	assert_int_equal(meta->writer_in_reader_page, model->following);
	assert_int_equal(meta->state, run->state);
	assert_true(meta->reader_id < run->host.nr_pages);
	assert_ptr_equal(env_ring_data(&run->host, meta->tail_id), run->ring->page);
	assert_int_equal(meta->nr_unread, model->following ? 0 : model->nr_unread - 1);
	assert_int_equal(meta->unread, unread_bytes(model));
	assert_int_equal(meta->head_lost, model->following ? meta->head_lost :
			 model->unread[0]->lost);
	if (!model->following)
		assert_int_equal(meta->reader_entries, model->reader->nr);
}

static void check_meta(struct run *run)
{
	struct hyptrace_meta *meta = env_ring_meta(&run->host);

	check_meta_now(run);
	assert_int_equal(meta->written, run->model->recorded + run->model->dropped);
}

/* Swap the reader's page. Returns 0 or a negative errno. */
int run_swap(struct run *run, u64 consumed)
{
	int due, ret;
	u32 old = hyptrace_slot_at(run->ring, run->host.nr_pages - 1)->id;

	/*
	 * Read the rest first, so that the reader itself loses nothing. EL2 must refuse a
	 * smaller @consumed.
	 */
	if (!run->model->following && consumed >= run_consumed(run))
		run_look(run);

	due = model_swap(run->model, consumed);
	ret = hyptrace_hcall(HYPTRACE_OP_SWAP, RUN_CPU, consumed, 0);
	if (due) {
		assert_int_equal(ret, due);
		return due;
	}
	assert_true(ret >= 0);
	assert_int_equal(ret, env_ring_meta(&run->host)->reader_id);
	assert_int_not_equal(ret, old);
	check_meta(run);

	run->lost += run->model->reader->lost;
	run->expect += run->model->reader->lost;
	run->seen = 0;
	run->stable = false;

	return 0;
}

/* Read until the ring is empty. Then the counters must add up. */
void run_drain(struct run *run)
{
	struct model *model = run->model;

	do {
		run_look(run);
	} while (!run_swap(run, run_consumed(run)));
	run_look(run);

	assert_int_equal(run->ring->recorded + run->ring->dropped,
			 run->read + run->ring->overrun + run->ring->dropped);
	assert_int_equal(run->lost + model->pending,
			 run->ring->overrun + run->ring->dropped);
	assert_int_equal(run->expect + model->pending, run->next);
}

/* Reset the ring from @cpu. EL2 refuses another CPU while the ring is attached. */
void run_reset(struct run *run, u32 cpu)
{
	u32 steps = 0;
	int ret;

	env_cpu(cpu);
	do {
		ret = hyptrace_hcall(HYPTRACE_OP_RESET, RUN_CPU, 0, 0);
		steps++;
	} while (ret > 0);
	env_cpu(RUN_CPU);
	if (cpu != RUN_CPU && run->state == HYPTRACE_RING_ATTACHED) {
		assert_int_equal(ret, -EBUSY);
		return;
	}
	assert_int_equal(ret, 0);
	assert_true(steps <= DIV_ROUND_UP(run->host.nr_pages, HYPTRACE_SLOTS_PER_TABLE));
	model_reset(run->model, env_counter);
	check_meta(run);
	run->expect = run->next;
	run->read = 0;
	run->lost = 0;
	run->seen = 0;
	run->stable = false;
}

void run_attach(struct run *run, u32 cpu, u64 events)
{
	int ret;

	env_cpu(cpu);
	ret = hyptrace_hcall(HYPTRACE_OP_ATTACH, RUN_CPU, events, 0);
	env_cpu(RUN_CPU);
	if (cpu != RUN_CPU && run->state != HYPTRACE_RING_PARKED) {
		assert_int_equal(ret, -EBUSY);
		return;
	}
	assert_int_equal(ret, 0);
	run->events = events;
	if (cpu == RUN_CPU) {
		run->state = HYPTRACE_RING_ATTACHED;
		run->enabled = events;
		check_meta(run);
	}
}

void run_detach(struct run *run, u32 cpu)
{
	int ret;

	env_cpu(cpu);
	ret = hyptrace_hcall(HYPTRACE_OP_DETACH, RUN_CPU, 0, 0);
	env_cpu(RUN_CPU);
	if (cpu != RUN_CPU && run->state == HYPTRACE_RING_ATTACHED) {
		assert_int_equal(ret, -EBUSY);
		return;
	}
	assert_int_equal(ret, 0);
	run->state = HYPTRACE_RING_DETACHED;
	run->enabled = 0;
	check_meta(run);
}

void run_power(struct run *run, bool on)
{
	if (on) {
		hyptrace_cpu_on();
		if (run->state == HYPTRACE_RING_PARKED) {
			run->state = HYPTRACE_RING_ATTACHED;
			run->enabled = run->events;
			check_meta(run);
		}
	} else {
		hyptrace_cpu_off();
		if (run->state == HYPTRACE_RING_ATTACHED) {
			run->state = HYPTRACE_RING_PARKED;
			run->enabled = 0;
			check_meta(run);
		}
	}
}

void run_sync(struct run *run)
{
	env_cpu(RUN_OTHER_CPU);
	assert_int_equal(hyptrace_hcall(HYPTRACE_OP_SYNC, RUN_CPU, 0, 0), 0);
	env_cpu(RUN_CPU);
	check_meta(run);
}

/* EL2's private state must match the model. */
void run_check(struct run *run)
{
	struct hyptrace_ring *ring = run->ring;
	struct model *model = run->model;
	u32 slots = model->nr_slots, pos = ring->head, i;

	assert_int_equal(ring->lock, 0);
	assert_int_equal(ring->state, run->state);
	assert_int_equal(ring->enabled, run->enabled);
	assert_int_equal(ring->recorded, model->recorded);
	assert_int_equal(ring->overrun, model->overrun);
	assert_int_equal(ring->dropped, model->dropped);
	assert_int_equal(ring->pending, model->pending);
	assert_int_equal(ring->last_time, model->last);
	assert_int_equal(ring->writer_in_reader_page, model->following);
	assert_int_equal(ring->reader_lost, model->reader->lost);
	assert_int_equal(ring->pos - ring->page->data, model_writing(model)->used);
	assert_true(ring->head < slots && ring->tail < slots);
	if (!model->following) {
		assert_int_equal(ring->reader_commit, model->reader->used);
		assert_int_equal((ring->tail + slots - ring->head) % slots + 1,
				 model->nr_unread);
	}
	for (i = 0; i < model->nr_unread; i++, pos = (pos + 1) % slots) {
		struct hyptrace_slot *slot = hyptrace_slot_at(ring, pos);

		assert_int_equal(slot->lost, model->unread[i]->lost);
		if (i + 1 < model->nr_unread) {
			assert_int_equal(slot->entries, model->unread[i]->nr);
			assert_int_equal(slot->commit, model->unread[i]->used);
		}
	}
	if (!run->hostile)
		check_meta_now(run);

	/* Once the writer has left the reader's page, nobody may write to it. */
	if (!run->hostile && !model->following) {
		u64 now = sum(reader_page(run), PAGE_SIZE);

		if (run->stable)
			assert_int_equal(now, run->reader_sum);
		run->reader_sum = now;
		run->stable = true;
	}
}

/* Each page must be in exactly one slot, and the unread sub-buffers must match the model. */
void run_check_pages(struct run *run)
{
	struct model *model = run->model;
	u32 nr = run->host.nr_pages, pos = run->ring->head, i;
	bool *found = calloc(nr, sizeof(*found));

	assert_non_null(found);
	for (i = 0; i < nr; i++) {
		struct hyptrace_slot *slot = hyptrace_slot_at(run->ring, i);

		assert_true(slot->id < nr && !found[slot->id]);
		assert_ptr_equal(slot->page, env_ring_data(&run->host, slot->id));
		found[slot->id] = true;
	}
	free(found);
	for (i = 0; !run->hostile && i < model->nr_unread; i++) {
		model_check_page(model->unread[i],
				 hyptrace_slot_at(run->ring, pos)->page);
		pos = (pos + 1) % model->nr_slots;
	}
	assert_int_equal(env_violations, 0);
}
