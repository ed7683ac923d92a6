/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's mapping of a ring buffer, for systems whose headers are older
 * than Linux 6.10. Searched after the system's own headers.
 */
#ifndef _TRACE_MMAP_H_
#define _TRACE_MMAP_H_

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * struct trace_buffer_meta - the first page of the mapping
 * @meta_page_size:	bytes of this page
 * @meta_struct_len:	bytes of this struct
 * @subbuf_size:	bytes of a sub-buffer
 * @nr_subbufs:		sub-buffers, the reader's included
 * @reader:		the reader's sub-buffer: events lost before it, its id, and
 *			how many bytes of it have been read
 * @flags:		0
 * @entries:		events in the ring
 * @overrun:		events lost
 * @read:		events read
 * @pages_lost:		sub-buffers overwritten
 * @pages_touched:	sub-buffers written
 */
struct trace_buffer_meta {
	__u32 meta_page_size;
	__u32 meta_struct_len;
	__u32 subbuf_size;
	__u32 nr_subbufs;
	struct {
		__u64 lost_events;
		__u32 id;
		__u32 read;
	} reader;
	__u64 flags;
	__u64 entries;
	__u64 overrun;
	__u64 read;
	__u64 pages_lost;
	__u64 pages_touched;
};

#define TRACE_MMAP_IOCTL_GET_READER	_IO('R', 0x20)

#endif /* _TRACE_MMAP_H_ */
