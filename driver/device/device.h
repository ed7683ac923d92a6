/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of device have for each other; main.c registers the device by it.
 */
#ifndef __HYPTRACE_DEVICE_H
#define __HYPTRACE_DEVICE_H

#include <linux/hrtimer.h>
#include <linux/poll.h>
#include <linux/wait.h>

#include "../core/core.h"

/* What precedes a sub-buffer on a descriptor of all CPUs. */
#define HYPTRACE_FRAME_BYTES		sizeof(struct hyptrace_frame)

/**
 * struct hyptrace_file - an open /dev/hyptrace
 * @attachment:	to a remote. Set with @lock held.
 * @wait:	who waits for events
 * @kicks:	counts what may end a wait
 * @blocked:	how many wait for any event, whatever @mark says
 * @mark:	how much poll() waits for
 * @mappings:	of the ring into user space
 *
 * @timer_lock:	protects from here on
 * @timer:	looks for events while somebody waits, and wakes or goes on looking
 * @latency_us:	how long an event that is waited for may be there unseen
 *
 * @lock:	protects from here on
 * @draining:	non-blocking reads go on until -EAGAIN. poll() ends that without @lock.
 * @drain_left:	bytes of records until these get -EAGAIN in any case
 * @next_cpu:	where the next read of all CPUs begins
 * @spare:	the sub-buffer that is being delivered, a frame before it
 * @spare_at:	bytes of it that were delivered
 * @spare_end:	where it ends
 */
struct hyptrace_file {
	struct hyptrace_attachment attachment;
	wait_queue_head_t	wait;
	atomic_t		kicks;
	atomic_t		blocked;
	struct hyptrace_watermark mark;
	atomic_t		mappings;

	spinlock_t		timer_lock;
	struct hrtimer		timer;
	u32			latency_us;

	struct mutex		lock;
	bool			draining;
	u64			drain_left;
	unsigned int		next_cpu;
	void			*spare;
	size_t			spare_at;
	size_t			spare_end;
};

static inline struct hyptrace_remote *hyptrace_file_remote(const struct hyptrace_file *file)
{
	return hyptrace_attachment_remote(&file->attachment);
}

/* chardev.c */
int hyptrace_chardev_register(void);
void hyptrace_chardev_unregister(void);

/* map.c */
int hyptrace_file_mmap(struct file *filp, struct vm_area_struct *vma);

/* wait.c */
void hyptrace_file_wait_init(struct hyptrace_file *file);
void hyptrace_file_wait_exit(struct hyptrace_file *file);
void hyptrace_file_kick(struct hyptrace_file *file);
bool hyptrace_file_has_data(const struct hyptrace_file *file,
			    const struct hyptrace_remote *remote,
			    const struct hyptrace_watermark *mark);
int hyptrace_file_set_wakeup(struct hyptrace_file *file, const struct hyptrace_wakeup *wakeup);
void hyptrace_file_rearm_timer(struct hyptrace_file *file);
int hyptrace_file_sleep(struct hyptrace_file *file, int kicks);
__poll_t hyptrace_file_poll(struct file *filp, poll_table *wait);

/* read.c */
ssize_t hyptrace_file_read(struct file *filp, char __user *buf, size_t count, loff_t *pos);
ssize_t hyptrace_file_splice_read(struct file *filp, loff_t *pos, struct pipe_inode_info *pipe,
				  size_t count, unsigned int flags);

#endif /* __HYPTRACE_DEVICE_H */
