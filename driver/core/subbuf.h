/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sub-buffer, byte for byte a page of the kernel's ring buffer, and walking
 * over the records in it. Pure: called by reader.c, and by tests on the host.
 */
#ifndef __HYPTRACE_SUBBUF_H
#define __HYPTRACE_SUBBUF_H

#include <linux/types.h>

/**
 * struct hyptrace_subbuf - a sub-buffer
 * @time_stamp:	nanoseconds; the delta of the first record counts from here
 * @commit:	bytes of data that are there to be read, and HYPTRACE_COMMIT_*
 * @data:	the records
 */
struct hyptrace_subbuf {
	u64 time_stamp;
	u64 commit;
	u8  data[];
};

#define HYPTRACE_SUBBUF_DATA_SIZE	(PAGE_SIZE - sizeof(struct hyptrace_subbuf))

/* The smallest record with an event in it: header and a payload of 4 bytes. */
#define HYPTRACE_RECORD_MIN		8

/**
 * struct hyptrace_walk - where a walk over records has come to
 * @pos:	bytes of data that were walked over
 * @events:	events among them
 * @time:	time stamp of the last record
 */
struct hyptrace_walk {
	u32 pos;
	u32 events;
	u64 time;
};

bool hyptrace_subbuf_walk(const u8 *data, u32 end, struct hyptrace_walk *walk);

#endif /* __HYPTRACE_SUBBUF_H */
