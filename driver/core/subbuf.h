/* SPDX-License-Identifier: GPL-2.0-only */
/* A walk over the records of a sub-buffer. Used by core, and by unit tests in user space. */
#ifndef __HYPTRACE_SUBBUF_H
#define __HYPTRACE_SUBBUF_H

#include <linux/types.h>

/* Bytes of the smallest record of an event: a header and a payload of 4 bytes. */
#define HYPTRACE_RECORD_MIN		8

/* Position of a walk over records */
struct hyptrace_walk {
	u32 pos;	/* bytes of data before the position */
	u32 events;	/* events before the position */
	u64 time;	/* time stamp of the last record before the position */
};

bool hyptrace_subbuf_walk(const u8 *data, u32 end, struct hyptrace_walk *walk);
const void *hyptrace_subbuf_next(const u8 *data, u32 end, struct hyptrace_walk *walk, u32 *size);

#endif /* __HYPTRACE_SUBBUF_H */
