// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mainline's rings (kernel/trace/simple_ring_buffer.c) as core expects them. Called by kernel.c.
 *
 * The pages have core's format. EL2 does not publish in which sub-buffer the writer is, and how
 * many are complete. But both follow from its counters. The slots of a ring form a circle, and are
 * numbered without end from the load:
 *
 *	tail = pages_touched			the slot that the writer is in
 *	head = swaps + pages_lost		the slot of the oldest sub-buffer
 *	head = tail + 1				a swap has taken the writer's own sub-buffer
 *
 * A swap takes the page of the head, and puts the reader page in its slot. kernel_ring_look()
 * writes core's struct hyptrace_meta from this, without a hypercall.
 *
 * EL2 has defects, which this file avoids:
 * - A swap races with the writer when it moves on to the head. So the ring's own CPU makes the
 *   hypercall: EL2 cannot write there at the same time. An offline CPU does not write.
 * - EL2 does not refuse a swap while the writer is in the reader page. This file does.
 */
#include <linux/cpu.h>
#include <linux/mm.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/trace_mmap.h>

#include "kernel.h"

#define COUNTED_AT_ONCE		8	/* sub-buffers, with interrupts off: some 2,000 events */
#define COUNT_ROUNDS_MAX	4	/* of a writer that is too fast */

/* The state of a ring at one moment */
struct place {
	u64	tail;
	u64	head;
};

struct kernel_ring *kernel_rings;
static bool is_tracing;

static struct page *page_in_slot(const struct kernel_ring *ring, u64 slot)
{
	return ring->pages->pages[ring->order[(ring->first + slot) % ring->nr_slots]];
}

static u32 committed(struct page *page)
{
	const struct hyptrace_subbuf *subbuf = page_address(page);

	return READ_ONCE(subbuf->commit) & HYPTRACE_COMMIT_MASK;
}

/*
 * A sub-buffer before the tail is complete: between its last event and the move to the next one,
 * EL2 executes the full barrier of simple_ring_buffer_reserve().
 */
static struct place place_of(const struct kernel_ring *ring)
{
	struct place place;

	/* (KR) Order pages_touched before pages_lost and commit. Pairs with that barrier. */
	place.tail = smp_load_acquire(&ring->el2->pages_touched);
	place.head = ring->swaps + READ_ONCE(ring->el2->pages_lost);

	return place;
}

static bool is_tail_in_reader_page(const struct place *place)
{
	return place->head > place->tail;
}

static bool is_full(const struct kernel_ring *ring, const struct place *place)
{
	return place->tail - place->head == ring->nr_slots - 1;
}

/* EL2 has the first reader page as number 0. */
static u32 index_of(const struct kernel_ring *ring, u32 number)
{
	return number ? number - 1 : ring->nr_slots;
}

static u32 state_of(unsigned int cpu)
{
	return READ_ONCE(is_tracing) && cpu_online(cpu) ? HYPTRACE_RING_ATTACHED :
							   HYPTRACE_RING_DETACHED;
}

static void publish(struct kernel_ring *ring, unsigned int cpu)
{
	struct hyptrace_meta *meta = page_address(ring->pages->meta);
	const struct place place = place_of(ring);
	u32 nr_complete;

	nr_complete = is_tail_in_reader_page(&place) ? 0 :
		      min_t(u64, place.tail - place.head, ring->nr_slots - 1);

	WRITE_ONCE(meta->overrun, READ_ONCE(ring->el2->overrun));
	WRITE_ONCE(meta->written, READ_ONCE(ring->el2->entries));
	WRITE_ONCE(meta->nr_entered, place.tail);
	WRITE_ONCE(meta->nr_overwritten, place.head - ring->swaps);
	WRITE_ONCE(meta->reader_id, ring->reader);
	WRITE_ONCE(meta->state, state_of(cpu));
	/* EL2 does not say how many events the page has. */
	WRITE_ONCE(meta->reader_entries, U32_MAX);
	WRITE_ONCE(meta->nr_unread, nr_complete);
	WRITE_ONCE(meta->unread, (u64)nr_complete * HYPTRACE_SUBBUF_DATA_SIZE);
	WRITE_ONCE(meta->tail_id, is_tail_in_reader_page(&place) ? ring->reader :
		   ring->order[(ring->first + place.tail) % ring->nr_slots]);
	/* (B) as in hyp/ring.c. Pairs with (B) in core/reader.c:reader_fill(). */
	smp_store_release(&meta->writer_in_reader_page, is_tail_in_reader_page(&place));
}

void kernel_ring_look(unsigned int cpu, void *priv)
{
	struct kernel_ring *ring = &kernel_rings[cpu];

	spin_lock_bh(&ring->lock);
	publish(ring, cpu);
	spin_unlock_bh(&ring->lock);
}

/* What the ring's own CPU does, and what it finds right after that */
struct ring_call {
	unsigned int		cpu;
	u32			consumed;
	int			ret;
	struct place		before;
	u64			lost;
	u64			pages_lost;
	u32			reader;
};

/* 0 if a swap gives a page with data. The hypercall can only add events, so this stays true. */
static int check_swap(const struct kernel_ring *ring, const struct ring_call *call)
{
	if (ring->is_dead)
		return -EIO;
	if (is_tail_in_reader_page(&call->before))
		return committed(ring->pages->pages[ring->reader]) > call->consumed ?
		       -ESTALE : -EAGAIN;
	/* The writer has left the page since core has looked. */
	if (committed(ring->pages->pages[ring->reader]) > call->consumed)
		return -ESTALE;
	if (call->before.tail == call->before.head &&
	    !committed(page_in_slot(ring, call->before.tail)))
		return -EAGAIN;

	return 0;
}

static void do_swap(void *arg)
{
	struct ring_call *call = arg;
	struct kernel_ring *ring = &kernel_rings[call->cpu];

	call->before = place_of(ring);
	call->ret = check_swap(ring, call);
	if (call->ret)
		return;
	call->ret = kernel_call(__tracing_swap_reader, call->cpu);
	call->lost = READ_ONCE(ring->el2->reader.lost_events);
	call->pages_lost = READ_ONCE(ring->el2->pages_lost);
	call->reader = READ_ONCE(ring->el2->reader.id);
}

/*
 * The hypercall of a reset is itself an event. In a full ring it may move the head before the
 * reset. Then a swap tells where the head is: it takes the page of that slot.
 */
static void do_reset(void *arg)
{
	struct ring_call *call = arg;
	struct kernel_ring *ring = &kernel_rings[call->cpu];

	call->before = place_of(ring);
	call->ret = kernel_call(__tracing_reset, call->cpu);
	if (call->ret || !is_full(ring, &call->before))
		return;
	call->ret = kernel_call(__tracing_swap_reader, call->cpu);
	call->reader = READ_ONCE(ring->el2->reader.id);
}

/* Core holds the reader's lock: only one call changes what these use, so the ring's is not held. */
static void call_on(unsigned int cpu, smp_call_func_t function, void *arg)
{
	cpus_read_lock();
	if (!cpu_online(cpu) || smp_call_function_single(cpu, function, arg, true))
		function(arg);
	cpus_read_unlock();
}

static int declare_dead(struct kernel_ring *ring, unsigned int cpu, const char *why)
{
	ring->is_dead = true;
	pr_err("hyptrace_kernel: CPU %u: %s: an unknown number of events is lost. Unload the rings\n",
	       cpu, why);

	return -EIO;
}

/* Follow a swap of EL2 that has taken the page @taken of @slot, if that is right. */
static bool exchange(struct kernel_ring *ring, u64 slot, u32 taken)
{
	u32 *page = &ring->order[slot % ring->nr_slots];

	if (*page != taken)
		return false;
	*page = ring->reader;
	ring->reader = taken;
	ring->swaps++;

	return true;
}

int kernel_ring_swap(unsigned int cpu, u32 consumed, struct hyptrace_swap *swap, void *priv)
{
	struct kernel_ring *ring = &kernel_rings[cpu];
	struct ring_call call = { .cpu = cpu, .consumed = consumed };
	u32 taken;
	bool ok;

	call_on(cpu, do_swap, &call);
	if (call.ret == -EBUSY)
		return declare_dead(ring, cpu, "EL2 has lost the head of the ring");
	if (call.ret)
		return call.ret;

	taken = index_of(ring, call.reader);
	spin_lock_bh(&ring->lock);
	ok = exchange(ring, ring->first + ring->swaps + call.pages_lost, taken);
	publish(ring, cpu);
	spin_unlock_bh(&ring->lock);
	if (!ok)
		return declare_dead(ring, cpu, "EL2 has not taken the oldest sub-buffer");
	swap->id = taken;
	swap->lost = call.lost;

	return 0;
}

int kernel_ring_reset(unsigned int cpu, void *priv)
{
	struct kernel_ring *ring = &kernel_rings[cpu];
	struct ring_call call = { .cpu = cpu };
	bool ok = true;

	if (ring->is_dead)
		return -EIO;
	call_on(cpu, do_reset, &call);
	if (call.ret)
		return declare_dead(ring, cpu, "EL2 cannot reset the ring");

	spin_lock_bh(&ring->lock);
	ring->first = (ring->first + call.before.head) % ring->nr_slots;
	ring->swaps = 0;
	if (is_full(ring, &call.before)) {
		call.reader = index_of(ring, call.reader);
		ok = exchange(ring, ring->first, call.reader);
		if (!ok) {
			ring->first = (ring->first + 1) % ring->nr_slots;
			ok = exchange(ring, ring->first, call.reader);
		}
	}
	publish(ring, cpu);
	spin_unlock_bh(&ring->lock);

	return ok ? 0 : declare_dead(ring, cpu, "EL2 has not taken the oldest sub-buffer");
}

/*
 * A count of the unread events. It begins on the ring's own CPU, which is between two events then:
 * EL2 has committed and counted the one before. What it writes later is left out.
 */
struct ring_count {
	unsigned int	cpu;
	u32		consumed;
	u64		tail;
	u32		in_tail;	/* bytes */
	u64		next;		/* the slot to count next */
	u64		read;		/* events that are neither lost nor counted as unread */
};

static u32 count_in_slot(const struct kernel_ring *ring, const struct ring_count *count, u64 slot)
{
	const u32 id = ring->order[(ring->first + slot) % ring->nr_slots];

	return hyptrace_count_events(ring->pages, id, 0, slot == count->tail ? count->in_tail :
				     committed(ring->pages->pages[id]));
}

static void begin_count(void *arg)
{
	struct ring_count *count = arg;
	const struct kernel_ring *ring = &kernel_rings[count->cpu];
	const struct place place = place_of(ring);
	const u64 end = min(place.tail + 1, place.head + COUNTED_AT_ONCE);

	count->tail = place.tail;
	count->in_tail = committed(page_in_slot(ring, place.tail));
	count->read = READ_ONCE(ring->el2->entries) - READ_ONCE(ring->el2->overrun) -
		      hyptrace_count_events(ring->pages, ring->reader, count->consumed,
					    committed(ring->pages->pages[ring->reader]));
	for (count->next = place.head; count->next < end; count->next++)
		count->read -= count_in_slot(ring, count, count->next);
}

/*
 * EL2 moves on to a slot, then writes there. It does not order this: what it writes may be seen
 * first. But then the move before is seen, because the next event begins with a full barrier.
 */
static bool may_be_overwritten(const struct kernel_ring *ring, u64 slot)
{
	/* (KO) Order what was read in the slot before pages_touched. Pairs with that barrier. */
	smp_rmb();

	return READ_ONCE(ring->el2->pages_touched) + 1 >= slot + ring->nr_slots;
}

int kernel_ring_count_read(unsigned int cpu, u32 consumed, u64 *read, void *priv)
{
	const struct kernel_ring *ring = &kernel_rings[cpu];
	struct ring_count count = { .cpu = cpu, .consumed = consumed };
	unsigned int round;

	if (ring->is_dead)
		return -EIO;
	for (round = 0; round < COUNT_ROUNDS_MAX; round++) {
		call_on(cpu, begin_count, &count);
		for (; count.next <= count.tail; count.next++) {
			count.read -= count_in_slot(ring, &count, count.next);
			if (may_be_overwritten(ring, count.next))
				break;
			cond_resched();
		}
		if (count.next > count.tail) {
			*read = count.read;
			return 0;
		}
	}

	return -EAGAIN;
}

void kernel_rings_set_tracing(bool tracing)
{
	WRITE_ONCE(is_tracing, tracing);
}
