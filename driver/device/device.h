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

/* An open /dev/hyptrace */
struct hyptrace_file {
	struct hyptrace_attachment attachment;	/* to a remote. Set with @lock held. */
	wait_queue_head_t	wait;		/* of poll(), read(), splice() and GET_READER */
	atomic_t		nr_wakeups;	/* a blocking call sleeps until it changes */
	/* number of blocking calls that sleep: they wait for any event, not for @watermark */
	atomic_t		blocked;
	struct hyptrace_watermark watermark;	/* of poll() */
	atomic_t		mappings;	/* of the ring, through this descriptor */

	spinlock_t		timer_lock;	/* protects @timer and @latency_us */
	struct hrtimer		timer;		/* looks for events while there are waiters */
	u32			latency_us;	/* most time from an event to the wakeup */

	struct mutex		lock;		/* protects the fields below */
	/* a non-blocking reader reads until -EAGAIN; poll() and an empty read clear it unlocked */
	bool			draining;
	u64			drain_left;	/* bytes that it can still get before -EAGAIN */
	unsigned int		next_cpu;	/* attached to all: take from this CPU first */
	void			*pending;	/* a frame and sub-buffer, being delivered */
	size_t			pending_at;	/* offset of the next byte to deliver */
	size_t			pending_end;	/* offset of the end of the sub-buffer */
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
