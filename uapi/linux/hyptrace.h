/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * /dev/hyptrace: the data plane. Reading the ring buffers of a remote.
 *
 * Control (load, start, enable an event, ...) is the generic-netlink family
 * of linux/hyptrace_netlink.h.
 *
 * Opening
 *	The device's file permission and CAP_PERFMON or CAP_SYS_ADMIN are needed:
 *	-EACCES or -EPERM otherwise; -EPERM also where kernel lockdown forbids it.
 *
 * Attaching
 *	A fresh descriptor belongs to no ring: read, mmap and
 *	TRACE_MMAP_IOCTL_GET_READER answer -ENOTCONN, poll EPOLLERR. After a successful
 *	attach the descriptor is the consumer of that CPU's ring, or of all rings
 *	of the remote, until it is closed: by the last process that has it or a
 *	mapping of it. If the rings are not loaded they are loaded with the
 *	remote's settings; while a descriptor is attached they stay loaded, and
 *	the module that has the remote cannot be removed.
 *
 *	An ioctl that is not known is -ENOTTY.
 *
 *	With HYPTRACE_ATTACH_SNAPSHOT a descriptor is no consumer but a observer: any
 *	number of them may be attached to a ring besides its consumer, and none
 *	takes anything off it. They map the ring: see Snapshots below; read, splice
 *	and GET_READER are -EOPNOTSUPP. poll() tells them whether there is something
 *	that the consumer has not taken.
 *
 * Reading
 *	read() returns sub-buffers as the kernel's trace_pipe_raw does: byte for
 *	byte Linux ring-buffer pages, one to as many as fit: u64 time stamp, u64
 *	commit, and records, each a u32 and a payload, aligned to 4 bytes.
 *	linux/hyptrace_record.h says what is in the u32, and decodes it. Times are
 *	nanoseconds of CLOCK_BOOTTIME. A payload begins with the u16 id of the event;
 *	event-get of the netlink family describes the rest of it.
 *
 *	It blocks while there is no event unless O_NONBLOCK is
 *	set (-EAGAIN); an event that is there is seen after 10 ms at most. It
 *	returns 0 when the ring is empty and tracing is off, also when tracing is
 *	stopped while it blocks.
 *
 *	A sub-buffer before which events went missing carries the flags
 *	HYPTRACE_COMMIT_MISSED and HYPTRACE_COMMIT_STORED in its commit word, the
 *	count being the u64 behind the data. (Where a page has no room for it, its
 *	last record comes in the next sub-buffer.) What is written to a page of
 *	which a part was read already comes as a sub-buffer of its own, its time
 *	stamp being the time of the record before. Behind the data is 0.
 *
 *	A buffer smaller than a sub-buffer gets the sub-buffer in pieces, as
 *	from trace_pipe_raw. On a descriptor attached to all CPUs each sub-buffer
 *	is preceded by a struct hyptrace_frame, and the buffer must hold a frame
 *	and a sub-buffer.
 *
 *	One read() ends with what was there when it began. And while tracing is on, a
 *	non-blocking reader gets -EAGAIN, though there may be more, once it has read what
 *	was there after the last -EAGAIN or poll() and as many bytes again as the ring
 *	holds (or the rings, for all CPUs): so a loop until -EAGAIN ends, however fast the
 *	writer is. poll() tells whether there is more.
 *
 *	-EAGAIN		O_NONBLOCK, and no event is there, or the loop has to end
 *	-EINVAL		all CPUs: the buffer is too small
 *	-EINTR		a signal came before anything was read, and its handler
 *			does not restart system calls
 *	-EFAULT		bad pointer; nothing of the sub-buffer is lost by it
 *	-ENODEV		the remote was unregistered
 *	-EIO		the remote failed
 *	-EOPNOTSUPP	the descriptor is for snapshots
 *
 *	splice() delivers the same, whole sub-buffers only, as many as the pipe has
 *	room for, without a copy but the one that takes the sub-buffer off the ring;
 *	SPLICE_F_NONBLOCK is as O_NONBLOCK. While it waits nobody else can use the
 *	pipe, as with the kernel's own: better poll() first.
 *
 *	-EINVAL		less than a sub-buffer is asked for, a part of one was read by
 *			read() and not the rest, or attached to all CPUs
 *
 * Mapping
 *	One meta page (struct trace_buffer_meta of linux/trace_mmap.h) at offset
 *	0, then the sub-buffers in the order of their ids, read-only and shared.
 *	On a ring that is fresh from its load the reader's sub-buffer has the
 *	id 0. So map the first page, which says by meta_page_size, subbuf_size and
 *	nr_subbufs what there is (and while it is mapped the ring is not resized),
 *	and then nr_subbufs * subbuf_size bytes at the offset meta_page_size. Any
 *	part of it that begins at a page will do. As many mappings as one likes,
 *	also of the same pages, as with the kernel's own; a child does not inherit
 *	them.
 *
 *	TRACE_MMAP_IOCTL_GET_READER takes what was read off the ring, all of the
 *	reader's sub-buffer that is not consumed so far, or else swaps it for the
 *	next and consumes that, exactly as on the kernel's own ring-buffer
 *	mapping. It blocks while there is nothing, unless O_NONBLOCK is set or
 *	tracing is off: then it consumes nothing. It returns 0 in any case. What
 *	is new begins at reader.read as it was before the call, if reader.id has
 *	stayed the same, else at 0, and ends at reader.read; there is nothing if
 *	both are as before. reader.read counts from behind the header.
 *	The flags of missed events are in the commit word of the sub-buffer only
 *	once the writer has left it; reader.lost_events of the meta page is always
 *	right. A reader must read commit with acquire semantics: it pairs with the
 *	writer's release.
 *
 *	-EPERM		a mapping that is writable, executable or private (-EACCES
 *			if the descriptor is not open for writing)
 *	-EINVAL		a range that is not there: beyond the end, or not from a
 *			page boundary of the layout above
 *	-ENODEV		mmap and GET_READER: the descriptor is attached to all
 *			CPUs, or the remote was unregistered. GET_READER:
 *			nothing is mapped
 *	-EBUSY		mmap: the ring is being resized. (And a ring that is mapped is
 *			not resized.)
 *	-EOPNOTSUPP	GET_READER: the descriptor is for snapshots
 *	-EINTR		GET_READER: a signal came
 *	-ENOMEM		mmap: no memory
 *
 * Snapshots
 *	What is in a ring can be read from its mapping alone, while the writer
 *	writes and the consumer reads. Between the writer and an observer:
 *
 *	  writer, entering a sub-buffer	  observer
 *
 *	  store commit = 0		  load time_stamp, acquire
 *	  store time_stamp, release	  load commit, acquire
 *	  write barrier			  copy the data up to commit
 *	  store record			  read barrier
 *	  store commit, release		  load time_stamp: the same?
 *
 *	The time stamp of a sub-buffer is later than those of all that were entered
 *	before on its ring. (It may become later still while commit is 0.) So time
 *	stamps tell their order, and one that has changed tells that the sub-buffer
 *	was written anew. Those below begin of the meta page were consumed, or
 *	thrown away by a clear; the reader's sub-buffer, unless it is one of these,
 *	has the time stamp begin. The writer takes those below begin first, in any
 *	order, and then overwrites the oldest of the others, but never the
 *	reader's. In a ring that discards, a sub-buffer before which events went
 *	missing begins with a record of padding: type_len 29, delta 1, a u32
 *	of 12, and their number as a u64.
 *
 *	A sub-buffer with commit 0 has nothing, whatever its time stamp. Of the
 *	reader's sub-buffer what lies below reader.read was consumed.
 *
 *	A run without a gap: load begin, reader.read (both with acquire) and the time
 *	stamp of the sub-buffer reader.id. Let T be the latest time stamp found; then
 *	look again, for the writer may have passed where it was not seen, and list
 *	all sub-buffers from begin to T: that is all there is up to T. Copy them from
 *	the youngest to the oldest until one has changed. Load next_lost (acquire),
 *	the time stamp R of the sub-buffer that reader.id tells now, and begin again,
 *	and drop what is below begin. There may be a gap behind the oldest that is
 *	left, and the run starts behind that, if it is the reader's and next_lost is not
 *	0, or it is and R is later than begin: the consumer has gone on, and begin
 *	will tell. If the ring overwrites, also if begin or R is not what it was at
 *	first, or R is later than begin, whatever the oldest is; or if it is the
 *	reader's and no sub-buffer below begin is left.
 *
 * poll()
 *	EPOLLIN when there is something to read, EPOLLERR when not attached,
 *	EPOLLHUP when tracing is off and the ring is empty, both of these when the
 *	remote was unregistered. An event that is there is seen after 10 ms at
 *	most, or what HYPTRACE_IOC_WAKEUP has set; with a watermark, once there is
 *	so much, or tracing is off. Nobody looks while nobody waits; a descriptor in an
 *	epoll set is waited for. (A large ring that is being resized keeps its readers
 *	waiting for longer.)
 */
#ifndef _UAPI_LINUX_HYPTRACE_H
#define _UAPI_LINUX_HYPTRACE_H

#include <linux/ioctl.h>
#include <linux/trace_mmap.h>
#include <linux/types.h>

#define HYPTRACE_NAME_SIZE	32	/* a remote's name with its NUL */

/* Flags of the commit word of a sub-buffer; the low bits are bytes of data. */
#define HYPTRACE_COMMIT_MISSED	(1U << 31)
#define HYPTRACE_COMMIT_STORED	(1U << 30)
#define HYPTRACE_COMMIT_MASK	((1U << 20) - 1)

#define HYPTRACE_CPU_ALL	(-1)

/**
 * struct hyptrace_attach - HYPTRACE_IOC_ATTACH
 * @size:	sizeof(struct hyptrace_attach) as the caller knows it, whatever
 *		the ioctl's number says. A caller newer than the kernel must have
 *		the surplus zeroed (-E2BIG).
 * @flags:	HYPTRACE_ATTACH_*; any other bit is -EINVAL.
 * @cpu:	the CPU whose ring is to be read, or HYPTRACE_CPU_ALL; the latter is
 *		-EINVAL for snapshots.
 * @subbuf_size: out: bytes of a sub-buffer.
 * @nr_subbufs:	out: sub-buffers of the ring at present, the reader's included; 0
 *		for HYPTRACE_CPU_ALL.
 * @reserved:	0; -EINVAL otherwise.
 * @remote:	name of the remote, NUL-terminated.
 *
 * Errors:
 * -EINVAL	@size smaller than the first version of this struct, unknown
 *		flags, a name without NUL, @reserved not 0
 * -E2BIG	@size is larger than the kernel's and the surplus is not zero, or
 *		larger than a page
 * -ENODEV	no such remote
 * -ENXIO	the remote has no ring for such a CPU
 * -EBUSY	the ring, or one of all, has a consumer already
 * -ENODATA	for snapshots: the rings are not loaded
 * -EISCONN	the descriptor is attached already
 * -ENOMEM	no memory for the rings of the size that is set
 * -EIO		the remote has kept the rings of an earlier load
 * -EFAULT	bad pointer; if it can be read, but not written, the descriptor is
 *		attached all the same
 */
struct hyptrace_attach {
	__u32	size;
	__u32	flags;
	__s32	cpu;
	__u32	subbuf_size;
	__u32	nr_subbufs;
	__u32	reserved;
	char	remote[HYPTRACE_NAME_SIZE];
};

/* Flags of struct hyptrace_attach */
#define HYPTRACE_ATTACH_SNAPSHOT	(1U << 0)

/**
 * struct hyptrace_wakeup - HYPTRACE_IOC_WAKEUP: what the descriptor waits for
 * @size:	sizeof(struct hyptrace_wakeup), as in struct hyptrace_attach
 * @flags:	0; any bit set is -EINVAL.
 * @latency_us:	an event that is waited for is seen after so many microseconds at
 *		most: HYPTRACE_LATENCY_MIN_US to HYPTRACE_LATENCY_MAX_US, or -EINVAL.
 * @percent:	watermark of poll(): so many of 100 of the sub-buffers of a ring
 *		have data. More than 100 is -EINVAL.
 * @bytes:	watermark of poll(): so many bytes of records, their headers included,
 *		in a ring, of which none was consumed. 0 unless @percent is 0: -EINVAL.
 *		A ring that is full is always enough.
 *
 * With both watermarks 0 any event is enough. At any time, attached or not; those
 * who wait go on with the new values. read(), splice() and GET_READER wait for any
 * event, and for no longer than the latency.
 *
 * Errors: -EINVAL as above or @size smaller than the first version of this struct,
 * -E2BIG as in struct hyptrace_attach, -EFAULT. Nothing has changed then.
 */
struct hyptrace_wakeup {
	__u32	size;
	__u32	flags;
	__u32	latency_us;
	__u32	percent;
	__u64	bytes;
};

#define HYPTRACE_LATENCY_DEFAULT_US	10000
#define HYPTRACE_LATENCY_MIN_US		1000
#define HYPTRACE_LATENCY_MAX_US		1000000

/**
 * struct hyptrace_map_meta - the meta page of a mapping
 * @buffer:	as on the kernel's own mapping; its meta_struct_len is the size of
 *		this struct
 * @begin:	sub-buffers with an earlier time stamp hold what was consumed or
 *		thrown away; all ones while a clear is under way
 * @next_lost:	events that went missing right behind the reader's sub-buffer when
 *		the ring was resized
 */
struct hyptrace_map_meta {
	struct trace_buffer_meta	buffer;
	__u64				begin;
	__u64				next_lost;
};

/**
 * struct hyptrace_frame - what precedes each sub-buffer of an all-CPU read
 * @cpu:	whose ring it is from
 * @size:	bytes of the sub-buffer that follows
 * @lost:	events that went missing right before it
 */
struct hyptrace_frame {
	__u32	cpu;
	__u32	size;
	__u64	lost;
};

#define HYPTRACE_IOC_MAGIC	0xb9
#define HYPTRACE_IOC_ATTACH	_IOWR(HYPTRACE_IOC_MAGIC, 0x00, struct hyptrace_attach)
#define HYPTRACE_IOC_WAKEUP	_IOW(HYPTRACE_IOC_MAGIC, 0x01, struct hyptrace_wakeup)

#endif /* _UAPI_LINUX_HYPTRACE_H */
