/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * /dev/hyptrace: the data plane. It reads the ring buffers of a remote.
 *
 * The control plane (load, start, enable an event, ...) is the generic netlink family
 * of linux/hyptrace_netlink.h.
 *
 * Opening
 *	open() needs the device's file permission (else -EACCES), and CAP_PERFMON or
 *	CAP_SYS_ADMIN (else -EPERM). It also fails with -EPERM where kernel lockdown
 *	forbids it.
 *
 * Attaching
 *	A new descriptor is attached to no ring: read(), splice(), mmap() and
 *	TRACE_MMAP_IOCTL_GET_READER fail with -ENOTCONN, and poll() reports EPOLLERR.
 *	HYPTRACE_IOC_ATTACH makes it the consumer of one CPU's ring, or of all rings of
 *	the remote. It stays the consumer until no process has the descriptor, or a mapping
 *	of it, any more. If the rings are not loaded, attaching loads them with the
 *	remote's settings. While a descriptor is attached the rings stay loaded, and the
 *	module of the remote cannot be removed.
 *
 *	HYPTRACE_IOC_HOLD keeps events enabled and tracing on while a consumer is attached.
 *	The kernel restores both when the descriptor is detached, also if its process was
 *	killed.
 *
 *	An unknown ioctl fails with -ENOTTY.
 *
 *	With HYPTRACE_ATTACH_SNAPSHOT the descriptor is an observer, not a consumer. A
 *	ring can have any number of observers besides its consumer. An observer takes
 *	nothing off the ring: it maps the ring and copies from it (see Snapshots). read(),
 *	splice() and GET_READER fail with -EOPNOTSUPP. poll() reports whether the ring
 *	holds something that the consumer has not consumed.
 *
 * Reading
 *	read() returns sub-buffers as the kernel's trace_pipe_raw does: as many as fit.
 *	A sub-buffer is byte for byte a Linux ring-buffer page: a u64 time stamp, a u64
 *	commit, and records. A record is a u32 header and a payload, aligned to 4 bytes:
 *	see linux/hyptrace_record.h. Times are nanoseconds of
 *	CLOCK_BOOTTIME. A payload begins with the u16 id of the event; event-get of the
 *	netlink family describes its other fields.
 *
 *	read() blocks while there is no event; with O_NONBLOCK it fails with -EAGAIN. A
 *	blocked read() sees an event after 10 ms at most, or after the latency that
 *	HYPTRACE_IOC_WAKEUP has set. It returns 0 when the ring is empty and tracing is
 *	off, also when tracing stops while it blocks.
 *
 *	If events were lost right before a sub-buffer, its commit word has the flags
 *	HYPTRACE_COMMIT_MISSED and HYPTRACE_COMMIT_STORED. A u64 after the data is then
 *	their number. The gap record of a ring that discards (see Snapshots) is not
 *	delivered. If the page has no room for that u64, read() delivers the last
 *	record of the page in the next sub-buffer. If the writer adds records to a page
 *	that was delivered in part, read() delivers these as a sub-buffer of their own.
 *	The time stamp of such a sub-buffer is the time of the record before it. All other
 *	bytes after the data are 0.
 *
 *	A buffer smaller than a sub-buffer receives the sub-buffer in pieces, as from
 *	trace_pipe_raw. On a descriptor attached to all CPUs a struct hyptrace_frame
 *	precedes each sub-buffer, and the buffer must hold both.
 *
 *	One read() delivers no more than the rings held when it began. A loop of
 *	non-blocking reads until -EAGAIN ends, however fast the writer is. While tracing is
 *	on, the first read() after an -EAGAIN or a poll() limits the loop to the bytes that
 *	the rings hold, plus their capacity. At the limit read() fails with -EAGAIN even if
 *	there is more. poll() reports whether there is more.
 *
 *	-EAGAIN		O_NONBLOCK, and there is no event, or the loop must end
 *	-EINVAL		all CPUs: the buffer is too small
 *	-EINTR		a signal came before anything was read, and its handler
 *			does not restart system calls
 *	-EFAULT		bad pointer; nothing of the sub-buffer is lost by it
 *	-ENODEV		the remote was unregistered
 *	-EIO		the remote failed
 *	-EOPNOTSUPP	the descriptor is an observer
 *
 *	splice() delivers the same, in whole sub-buffers only, as many as the pipe has
 *	room for. It copies each sub-buffer once, off the ring. SPLICE_F_NONBLOCK works
 *	as O_NONBLOCK. While splice() waits no other process can use the pipe, as with the
 *	kernel's own: better call poll() first.
 *
 *	-EINVAL		less than a sub-buffer is requested, read() has delivered only a
 *			part of one, or the descriptor is attached to all CPUs
 *
 * Mapping
 *	A mapping is read-only and shared. At offset 0 it has one meta page, struct
 *	hyptrace_map_meta, which begins with struct trace_buffer_meta of
 *	linux/trace_mmap.h. The sub-buffers follow in the order of their ids. In a newly
 *	loaded ring the reader's sub-buffer has the id 0.
 *
 *	Map the first page. Its meta_page_size, subbuf_size and nr_subbufs give the
 *	layout, and while it is mapped the ring is not resized. Then map nr_subbufs *
 *	subbuf_size bytes at the offset meta_page_size. A mapping may have any part of
 *	this that begins at a page. There may be any number of mappings, also of the same
 *	pages, as with the kernel's own. A child process does not inherit them.
 *
 *	TRACE_MMAP_IOCTL_GET_READER consumes exactly as on the kernel's own ring-buffer
 *	mapping. If the reader's sub-buffer has data that was not consumed, it consumes
 *	all of that. Else it swaps the sub-buffer for the next one and consumes the data of
 *	that. It blocks while there is nothing, unless O_NONBLOCK is set or tracing is
 *	off: then it consumes nothing and returns 0.
 *
 *	The new data ends at reader.read, which counts from the end of the header. It
 *	begins at 0 if the call has changed reader.id, else at the reader.read of before
 *	the call. If both are as before, there is no new data.
 *
 *	The commit word of the reader's sub-buffer has the flags of missed events only
 *	once the writer has left it. reader.lost_events of the meta page is always right,
 *	and includes the number of a gap record at the beginning (see Snapshots).
 *	A reader must load commit with acquire semantics, which pairs with the writer's
 *	release.
 *
 *	-EPERM		a mapping that is writable, executable or private (-EACCES
 *			if the descriptor is not open for writing)
 *	-EINVAL		a range that does not exist: beyond the end, or not from a
 *			page boundary of the layout above
 *	-ENODEV		mmap and GET_READER: the descriptor is attached to all
 *			CPUs, or the remote was unregistered. GET_READER:
 *			nothing is mapped
 *	-EBUSY		mmap: the ring is being resized. (A ring that is mapped is
 *			not resized.)
 *	-EOPNOTSUPP	GET_READER: the descriptor is an observer
 *	-EINTR		GET_READER: a signal came
 *	-ENOMEM		mmap: no memory
 *
 * Snapshots
 *	An observer copies the content of a ring from its mapping, while the writer
 *	writes and the consumer reads. The reference implementation is
 *	hyptrace_snapshot_take() in tools/lib/ring/snapshot.c (libhyptrace). Below, meta is the
 *	struct hyptrace_map_meta of the mapping, and reader is its buffer.reader. A driver
 *	whose meta_struct_len is smaller than this struct does not support snapshots.
 *
 *	The order of accesses between the writer and an observer:
 *
 *	  writer, entering a sub-buffer	  observer
 *
 *	  store commit = 0		  load time_stamp, acquire	(H)
 *	  store time_stamp, release (H)	  load commit, acquire		(A)
 *	  write barrier		    (H)	  copy the data up to commit
 *	  store record			  read barrier			(H)
 *	  store commit, release	    (A)	  load time_stamp: the same?
 *
 *	What an observer can rely on:
 *	- When the writer enters a sub-buffer, it sets a time stamp that is later than
 *	  those of all sub-buffers entered before. So time stamps give their order. If one
 *	  has changed, the writer has entered that sub-buffer again.
 *	- While commit is 0 a sub-buffer holds nothing, and its time stamp may still
 *	  become later.
 *	- A sub-buffer with a time stamp below meta.begin was consumed, or thrown away by
 *	  a clear. Any other sub-buffer of the reader has the time stamp meta.begin: its
 *	  first reader.read bytes of data were consumed.
 *	- The writer enters the sub-buffers below begin first, in any order. Then it
 *	  overwrites the oldest of the others, but never the reader's.
 *	- In a ring that discards, a sub-buffer before which events were lost begins with a
 *	  padding record: type_len 29, delta 1, a u32 of 12, and their number as a u64.
 *
 *	The functions that the algorithm uses:
 *
 *	  look(s):
 *	    ts = load_acquire(s.time_stamp)				(H)
 *	    commit = load_acquire(s.commit)				(A)
 *	    if load_acquire(s.time_stamp) != ts: return unstable
 *	    return ts, commit
 *
 *	  copy(s, ts): false if the writer has entered s again
 *	    commit = load_acquire(s.commit) & HYPTRACE_COMMIT_MASK	(A)
 *	    if commit == 0: return false
 *	    copy min(commit, size of the data of s) bytes of the data
 *	    read barrier						(H)
 *	    return s.time_stamp == ts
 *
 *	  reader_time():
 *	    return load_acquire(subbuf[reader.id].time_stamp)		(H)
 *
 *	The algorithm. Each gap in the copies that it leaves has a padding record:
 *
 *	  begin0 = load_acquire(meta.begin)				(K)
 *	  consumed = load_acquire(reader.read)				(L)
 *	  time0 = reader_time()
 *
 *	  newest: for each sub-buffer, look() until it is stable. Take the latest ts of
 *	    those with commit != 0 and ts >= begin0. If there is none, the ring is empty:
 *	    end.
 *	  list: look() at each sub-buffer once more, since the writer may have entered one
 *	    after the first look and before it entered newest. Take those that are stable,
 *	    with commit != 0 and begin0 <= ts <= newest. These are all that the ring holds
 *	    up to newest. Sort them by ts.
 *	  copies: copy() them from the youngest to the oldest. Stop at the first that
 *	    fails: the writer has overwritten the older ones, too.
 *
 *	  next_lost = load_acquire(meta.next_lost)			(L)
 *	  time1 = reader_time()
 *	  begin1 = load_acquire(meta.begin)				(K)
 *
 *	  drop the copies with ts < begin1: any part of them may be missing
 *	  if no copy is left: start again
 *	  oldest = the copy with the lowest ts
 *	  is_reader = oldest.ts == begin1
 *	  moved = begin1 != begin0 or time1 != time0 or time1 > begin1
 *	  gap = is_reader and (next_lost != 0 or time1 > begin1)
 *	  if the ring overwrites (the netlink family has its mode):
 *	    gap = gap or moved or (is_reader and no sub-buffer has ts < begin1)
 *	  if gap: drop oldest, since events may be missing right after it
 *	  if no copy is left: start again
 *	  in the copy with ts == begin0, skip the first consumed bytes of data
 *
 *	time1 > begin1 means that the consumer has swapped its sub-buffer, and that the
 *	driver has not stored the new begin yet. The driver stores reader.id, reader.read,
 *	next_lost and begin in this order. (K) and (L) pair with its releases, (A) and (H)
 *	with the writer's.
 *
 * poll()
 *	EPOLLIN		there is something to read
 *	EPOLLERR	the descriptor is not attached, or the remote was unregistered
 *	EPOLLHUP	tracing is off and the ring is empty, or the remote was
 *			unregistered
 *
 *	poll() sees an event after 10 ms at most, or after the latency that
 *	HYPTRACE_IOC_WAKEUP has set. With a watermark it reports EPOLLIN when the ring
 *	holds that much, or when tracing is off and there is anything. The driver looks at
 *	the rings only while a process waits; a descriptor in an epoll set counts as
 *	waiting. While a large ring is being resized, its readers may wait longer.
 */
#ifndef _UAPI_LINUX_HYPTRACE_H
#define _UAPI_LINUX_HYPTRACE_H

#include <linux/hyptrace_record.h>
#include <linux/ioctl.h>
#include <linux/trace_mmap.h>
#include <linux/types.h>

#define HYPTRACE_NAME_SIZE	32	/* of a remote's name, with its NUL */

#define HYPTRACE_CPU_ALL	(-1)

/**
 * struct hyptrace_attach - HYPTRACE_IOC_ATTACH
 * @size:	sizeof(struct hyptrace_attach) as the caller knows it, whatever size the
 *		number of the ioctl encodes. A caller newer than the kernel must have the
 *		surplus zeroed (-E2BIG).
 * @flags:	HYPTRACE_ATTACH_*; any other bit is -EINVAL.
 * @cpu:	the CPU whose ring is to be read, or HYPTRACE_CPU_ALL, which is -EINVAL
 *		for observers.
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
 * -EBUSY	the ring, or one of all rings, already has a consumer
 * -EALREADY	another tracer, such as tracefs, has loaded the buffer of the remote "kernel"
 * -ENODATA	for observers: the rings are not loaded
 * -EISCONN	the descriptor is attached already
 * -ENOMEM	no memory for rings of the requested size
 * -EDQUOT	such rings exceed the memory that the user may pin: see hyptrace(4)
 * -EINTR	the process was killed while it waited for another request
 * -EIO		the remote has kept the rings of an earlier load
 * -EFAULT	bad pointer; if the struct can be read but not written, the descriptor
 *		is attached all the same
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
 * @latency_us:	a waiter sees an event after this many microseconds at most:
 *		HYPTRACE_LATENCY_MIN_US to HYPTRACE_LATENCY_MAX_US, or -EINVAL.
 * @percent:	watermark of poll(): the percentage of the sub-buffers of a ring that
 *		hold data. More than 100 is -EINVAL.
 * @bytes:	watermark of poll(): bytes of records in a ring that were not consumed,
 *		their headers included. -EINVAL unless @bytes or @percent is 0. A full
 *		ring always reaches the watermark.
 *
 * With both watermarks 0 any event is enough. The ioctl works at any time, attached or
 * not. Those who already wait continue with the new values. read(), splice() and
 * GET_READER wait for any event, and for no longer than the latency.
 *
 * Errors: -EINVAL as above or @size smaller than the first version of this struct,
 * -E2BIG as in struct hyptrace_attach, -EFAULT. An error changes nothing.
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
 * struct hyptrace_hold - HYPTRACE_IOC_HOLD: what stays on while the descriptor is attached
 * @size:	sizeof(struct hyptrace_hold), as in struct hyptrace_attach
 * @flags:	HYPTRACE_HOLD_*; any other bit is -EINVAL.
 * @nr_events:	number of ids at @events, at most HYPTRACE_HOLD_EVENTS_MAX. May be 0.
 * @reserved:	0; -EINVAL otherwise.
 * @events:	pointer to an array of __u16: the ids of the events to hold, in any order. An
 *		id may be there twice. The pointer is not used if @nr_events is 0.
 *
 * The descriptor holds these events: they are enabled, and stay so while it is attached.
 * With HYPTRACE_HOLD_TRACING it also holds tracing: tracing starts if it is off. Each
 * descriptor has one hold. The ioctl replaces the hold that the descriptor had before, and
 * without events and flags it releases it. It changes all or nothing.
 * A hold leaves the filters of events as they are.
 *
 * When the descriptor is detached, the kernel releases its hold. An event is disabled if no
 * other descriptor holds it and event-set of the netlink family has not enabled it. Tracing
 * stops if no other descriptor holds it and nobody has sent start. If only attaching has
 * loaded the rings (nobody has sent load or start since they were unloaded), the last
 * descriptor that is detached unloads them, even if they hold events that were not read.
 *
 * Requests of the netlink family override a hold. event-set disables an event though it is
 * held, and all descriptors lose their hold of it. An event that event-set enables stays
 * enabled after the hold. stop and start do the same with tracing.
 *
 * Errors:
 * -EINVAL	@size smaller than the first version of this struct, unknown flags, or
 *		@reserved not 0
 * -E2BIG	more than HYPTRACE_HOLD_EVENTS_MAX events; or @size as in struct
 *		hyptrace_attach
 * -ENOTCONN	the descriptor is not attached
 * -EOPNOTSUPP	the descriptor is an observer, or an event is not in this kernel
 * -ENOENT	the remote has no event with such an id
 * -EPERM	the trace belongs to another user, and event-set has not enabled one of the
 *		events, or start was not sent, without CAP_SYS_ADMIN
 * -EFAULT	bad pointer to the struct or to the array
 * -ENODEV	the remote was unregistered
 * -EINTR	the process was killed while it waited for another request
 * -EIO		the remote failed; it may also fail with another errno
 *
 * The capability was checked by open(). Who gets the descriptor may use it, as with perf.
 */
struct hyptrace_hold {
	__u32	size;
	__u32	flags;
	__u32	nr_events;
	__u32	reserved;
	__u64	events;
};

/* Flags of struct hyptrace_hold */
#define HYPTRACE_HOLD_TRACING		(1U << 0)

#define HYPTRACE_HOLD_EVENTS_MAX	256

/**
 * struct hyptrace_map_meta - the meta page of a mapping
 * @buffer:	as on the kernel's own mapping; its meta_struct_len is the size of
 *		this struct
 * @begin:	sub-buffers with an earlier time stamp were consumed or thrown away; all
 *		ones while a clear is in progress
 * @next_lost:	events lost right after the reader's sub-buffer when the ring was resized
 */
struct hyptrace_map_meta {
	struct trace_buffer_meta	buffer;
	__u64				begin;
	__u64				next_lost;
};

/**
 * struct hyptrace_frame - what precedes each sub-buffer of an all-CPU read
 * @cpu:	the CPU whose ring the sub-buffer is from
 * @size:	bytes of the sub-buffer that follows
 * @lost:	events lost right before it
 */
struct hyptrace_frame {
	__u32	cpu;
	__u32	size;
	__u64	lost;
};

#define HYPTRACE_IOC_MAGIC	0xb9
#define HYPTRACE_IOC_ATTACH	_IOWR(HYPTRACE_IOC_MAGIC, 0x00, struct hyptrace_attach)
#define HYPTRACE_IOC_WAKEUP	_IOW(HYPTRACE_IOC_MAGIC, 0x01, struct hyptrace_wakeup)
#define HYPTRACE_IOC_HOLD	_IOW(HYPTRACE_IOC_MAGIC, 0x02, struct hyptrace_hold)

#endif /* _UAPI_LINUX_HYPTRACE_H */
