/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the files of device/. main.c includes it to register the device. */
#ifndef __HYPTRACE_DEVICE_H
#define __HYPTRACE_DEVICE_H

#include <linux/capability.h>
#include <linux/hrtimer.h>
#include <linux/poll.h>
#include <linux/security.h>
#include <linux/wait.h>

#include "../core/core.h"

/* On a descriptor of all CPUs, a frame precedes each sub-buffer. */
#define HYPTRACE_FRAME_BYTES		sizeof(struct hyptrace_frame)

/**
 * struct hyptrace_file - an open /dev/hyptrace
 * @attachment:	to a remote. Set with @lock held.
 * @wait:	wait queue of poll(), read(), splice() and GET_READER
 * @nr_wakeups:	counts wakeups. A blocking call sleeps until it changes.
 * @blocked:	number of blocking calls that sleep. They wait for any event, not for @watermark.
 * @watermark:	watermark of poll()
 * @mappings:	mappings of the ring through this descriptor
 *
 * @timer_lock:	protects @timer and @latency_us
 * @timer:	looks for events while there are waiters. It wakes them or starts again.
 * @latency_us:	maximum time from an event to the wakeup of its waiter
 *
 * @lock:	protects the fields below
 * @draining:	a non-blocking reader is reading until -EAGAIN. poll() clears this without
 *		@lock, and so does a read that finds nothing.
 * @drain_left:	bytes of records that this reader can still get before -EAGAIN
 * @next_cpu:	CPU from which the next sub-buffer is taken first, if attached to all CPUs
 * @pending:	buffer for a frame and the sub-buffer that is being delivered
 * @pending_at:	offset in @pending of the next byte to deliver
 * @pending_end:	offset in @pending of the end of the sub-buffer
 */
struct hyptrace_file {
	struct hyptrace_attachment attachment;
	wait_queue_head_t	wait;
	atomic_t		nr_wakeups;
	atomic_t		blocked;
	struct hyptrace_watermark watermark;
	atomic_t		mappings;

	spinlock_t		timer_lock;
	struct hrtimer		timer;
	u32			latency_us;

	struct mutex		lock;
	bool			draining;
	u64			drain_left;
	unsigned int		next_cpu;
	void			*pending;
	size_t			pending_at;
	size_t			pending_end;
};

static inline struct hyptrace_remote *hyptrace_file_remote(const struct hyptrace_file *file)
{
	/* (G) Order remote before cpu. Pairs with (G) in driver/core/attach.c:attach(). */
	return smp_load_acquire(&file->attachment.remote);
}

static inline bool hyptrace_file_is_for_all(const struct hyptrace_file *file)
{
	return file->attachment.cpu == HYPTRACE_CPU_ALL;
}

/* Only for an attached descriptor of one CPU */
static inline struct hyptrace_reader *hyptrace_file_reader(const struct hyptrace_file *file)
{
	return hyptrace_remote_reader(file->attachment.remote, file->attachment.cpu);
}

/* Return 0 if this process may see events. */
static inline int hyptrace_may_open(void)
{
	return perfmon_capable() ? security_locked_down(LOCKDOWN_TRACEFS) : -EPERM;
}

/* Return 0 if @file is attached as a consumer. */
static inline int hyptrace_file_check_consumer(const struct hyptrace_file *file)
{
	if (!hyptrace_file_remote(file))
		return -ENOTCONN;
	return file->attachment.snapshot ? -EOPNOTSUPP : 0;
}

/* chardev.c */
int hyptrace_chardev_register(void);
void hyptrace_chardev_unregister(void);

/* previous.c */
int hyptrace_previous_register(void);
void hyptrace_previous_unregister(void);

/* map.c */
int hyptrace_file_mmap(struct file *filp, struct vm_area_struct *vma);

/* wait.c */
void hyptrace_file_wait_init(struct hyptrace_file *file);
void hyptrace_file_wait_exit(struct hyptrace_file *file);
bool hyptrace_file_has_data(const struct hyptrace_file *file,
			    const struct hyptrace_remote *remote,
			    const struct hyptrace_watermark *watermark);
int hyptrace_file_set_wakeup(struct hyptrace_file *file, const struct hyptrace_wakeup *wakeup);
void hyptrace_file_rearm_timer(struct hyptrace_file *file);
int hyptrace_file_sleep(struct hyptrace_file *file, int nr_wakeups);
__poll_t hyptrace_file_poll(struct file *filp, poll_table *wait);

/* read.c */
ssize_t hyptrace_file_read(struct file *filp, char __user *buf, size_t count, loff_t *pos);
ssize_t hyptrace_file_splice_read(struct file *filp, loff_t *pos, struct pipe_inode_info *pipe,
				  size_t count, unsigned int flags);

#endif /* __HYPTRACE_DEVICE_H */
