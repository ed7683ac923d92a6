// SPDX-License-Identifier: GPL-2.0-only
/*
 * Seals of the sub-buffers of a ring that outlives a reset (HYPTRACE_RING_KEPT): what the next boot
 * finds with another sum was not complete, or is lost. ring.c calls this for each sub-buffer that
 * the writer leaves; hcall.c, hooks.h and calls.c for the one that it is in.
 */
#include "ring.h"

/**
 * hyptrace_ring_seal() - seal the sub-buffer that the writer is in, as far as it is written
 * @ring:	loaded; another CPU may write to it meanwhile
 *
 * It reads what the host can write, too: the sum is for the host, and decides nothing here.
 */
void hyptrace_ring_seal(const struct hyptrace_ring *ring)
{
	struct hyptrace_subbuf *page = READ_ONCE(ring->page);
	struct hyptrace_seal *seal;
	u64 bytes;

	if (!ring->kept)
		return;
	/* (S) Order commit before the records. Pairs with (A) in ring.h:hyptrace_ring_commit(). */
	bytes = smp_load_acquire(&page->commit);
	/* The host can write it, too. */
	if (bytes > HYPTRACE_SUBBUF_DATA_SIZE - sizeof(*seal) || bytes % sizeof(u32))
		return;
	seal = (void *)page->data + HYPTRACE_SUBBUF_DATA_SIZE - sizeof(*seal);
	seal->bytes = bytes;
	seal->reserved = 0;
	seal->sum = hyptrace_seal_sum(page, bytes);
	hyptrace_clean(page, PAGE_SIZE);
}

/**
 * hyptrace_ring_sync() - publish the counters, and seal the sub-buffer that the writer is in
 * @ring:	any CPU's
 *
 * Return: 0; -ENODEV not loaded.
 */
int hyptrace_ring_sync(struct hyptrace_ring *ring)
{
	hyptrace_guard(&ring->lock);
	if (!hyptrace_ring_is_loaded(ring))
		return -ENODEV;
	hyptrace_ring_seal(ring);
	hyptrace_ring_publish(ring);

	return 0;
}

#ifdef __KVM_NVHE_HYPERVISOR__

/* A lock is held for some thousand instructions at most, unless its holder has panicked. */
#define MAX_LOOKS	100000

/**
 * hyptrace_rings_seal() - seal all rings before the machine is reset
 */
void hyptrace_rings_seal(void)
{
	u32 cpu, looks = 0;

	for (cpu = 0; cpu < hyptrace_nr_cpus(); cpu++) {
		struct hyptrace_ring *ring = hyptrace_ring_of(cpu);

		if (!ring || !READ_ONCE(ring->kept))
			continue;
		while (hyp_spin_is_locked(&ring->lock) && looks < MAX_LOOKS)
			looks++;
		if (!hyp_spin_is_locked(&ring->lock))
			hyptrace_ring_sync(ring);
	}
}

#endif
