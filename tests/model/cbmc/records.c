// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records, hyp/ring.h: one that fits ends inside of its sub-buffer, and says its own length.
 */
#include "ring.h"
#include "proof.h"

/* A small sub-buffer, and what is behind it: all that matters is how far the end is. */
#define SIZE	320

static union {
	struct hyptrace_subbuf subbuf;
	u8 bytes[2 * SIZE];
} page;

void record(void)
{
	u32 used = nondet_u32(), payload = nondet_u32(), delta = nondet_u32(), header, length;
	u8 *pos = page.subbuf.data + used, *end = page.bytes + SIZE, *to;
	static struct hyptrace_ring ring;

	assume(used <= SIZE - sizeof(page.subbuf) && !(used % sizeof(u32)));
	assume(payload && payload <= HYPTRACE_MAX_ENTRY_BYTES);
	if (!hyptrace_ring_fits(pos, end, delta, payload))
		return;
	to = hyptrace_ring_put(pos, delta, payload);
	claim(to + payload <= end);
	claim(to > pos);

	header = *(u32 *)pos;
	claim(hyptrace_record_delta(header) == delta);
	length = hyptrace_record_type_len(header);
	claim(length <= HYPTRACE_TYPE_MAX_WORDS);
	length = length ? length * sizeof(u32) : *(u32 *)(pos + sizeof(u32)) - sizeof(u32);
	claim(length >= payload && length < payload + sizeof(u32));

	hyptrace_ring_commit(&ring, &page.subbuf.commit, 0, to, 0, payload);
	claim(page.subbuf.commit == (u64)(to + length - page.subbuf.data));
	claim(page.subbuf.commit <= SIZE - sizeof(page.subbuf));
	claim(ring.pos <= end && ring.recorded == 1);
}
