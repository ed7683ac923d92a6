/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two decoders of a sub-buffer: one is written here, from the kernel's description of the
 * format, and one is libtraceevent's. For the tests of the ring.
 */
#ifndef RING_DECODE_H
#define RING_DECODE_H

#include "hyp_env.h"

/* The smallest record has 4 bytes of header and 4 of payload. */
#define DECODE_MAX	(HYPTRACE_SUBBUF_DATA_SIZE / 8)

struct decoded {
	u64 time;
	u32 offset;	/* of the payload in the data */
	u32 size;	/* of the payload, rounded up */
};

u64 decode_gap(const struct hyptrace_subbuf *page, u64 commit);
int decode_own(const struct hyptrace_subbuf *page, u64 commit,
	       struct decoded *events);
int decode_kbuffer(const struct hyptrace_subbuf *page, struct decoded *events);
int decode_both(const struct hyptrace_subbuf *page, struct decoded *events);

#endif /* RING_DECODE_H */
