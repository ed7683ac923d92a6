/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sub-buffer is as large as a page of the running kernel, so tests count in pages.
 */
#ifndef __PAGE_H
#define __PAGE_H

#include <stdlib.h>
#include <unistd.h>

#include <linux/hyptrace_record.h>

#define PAGE		page_size()
#define PAGE_MAX	65536		/* the largest page size of any kernel, for arrays */

/* Bytes of a selftest event: header, id of the event, padding, number */
#define RECORD		record_size()
#define RECORD_MIN	20		/* of any remote, for arrays */
#define PER_SUBBUF	((PAGE - sizeof(struct hyptrace_subbuf)) / RECORD)

static inline long page_size(void)
{
	static long size;

	if (!size)
		size = sysconf(_SC_PAGESIZE);
	return size;
}

/* The remote "kernel" (see control_remote()) has more padding. */
static inline long record_size(void)
{
	return getenv("HYPTRACE_REMOTE") ? 24 : RECORD_MIN;
}

#endif /* __PAGE_H */
