// SPDX-License-Identifier: GPL-2.0-only
/*
 * Seals of the sub-buffers of a ring that outlives a reset (HYPTRACE_RING_KEPT): what the next boot
 * finds with another sum was not complete, or is lost. ring.c calls this for each sub-buffer that
 * the writer leaves, and calls.c for the one that it is in.
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
