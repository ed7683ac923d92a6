/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A walk over the records of a sub-buffer. Used by core, and by unit tests in user space.
 */
#ifndef __HYPTRACE_SUBBUF_H
#define __HYPTRACE_SUBBUF_H

#include <linux/types.h>

/* Bytes of the smallest record of an event: a header and a payload of 4 bytes. */
#define HYPTRACE_RECORD_MIN		8

/**
 * struct hyptrace_walk - position of a walk over records
 * @pos:	bytes of data before the position
 * @events:	events before the position
 * @time:	time stamp of the last record before the position
 */
struct hyptrace_walk {
	u32 pos;
	u32 events;
	u64 time;
};

bool hyptrace_subbuf_walk(const u8 *data, u32 end, struct hyptrace_walk *walk);
const void *hyptrace_subbuf_next(const u8 *data, u32 end, struct hyptrace_walk *walk, u32 *size);

#endif /* __HYPTRACE_SUBBUF_H */
