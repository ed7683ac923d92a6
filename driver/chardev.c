// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/hyptrace: descriptors, and reading the rings through them. What user
 * space may expect is in uapi/linux/hyptrace.h. Called by main.c and state.c.
 *
 * The writer does not tell of events: whoever waits looks for them in turn, and
 * nobody does when nobody waits.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/trace_mmap.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "internal.h"

#define FRAME_BYTES	sizeof(struct hyptrace_frame)

/* The remote that the descriptor is attached to, or NULL. It stays with it. */
static struct hyptrace_remote *file_remote(const struct hyptrace_file *file)
{
	/* (G) pairs with the release in hyptrace_remote_attach() */
	return smp_load_acquire(&file->remote);
}

static bool is_of_all_cpus(const struct hyptrace_file *file)
{
	return file->cpu == HYPTRACE_CPU_ALL;
}

/* An attached remote is loaded, unless it was unregistered. */
static bool remote_is_gone(const struct hyptrace_remote *remote)
{
	return READ_ONCE(remote->state) == HYPTRACE_STATE_UNLOADED;
}

/**
 * hyptrace_file_kick - have those who wait look again
 * @file:	whatever they wait for
 */
void hyptrace_file_kick(struct hyptrace_file *file)
{
	atomic_inc(&file->kicks);
	wake_up_interruptible_poll(&file->wait, EPOLLIN | EPOLLRDNORM | EPOLLHUP | EPOLLERR);
}

static bool file_has_data(const struct hyptrace_file *file,
			  const struct hyptrace_remote *remote)
{
	unsigned int cpu;

	if (READ_ONCE(file->spare_at) < READ_ONCE(file->spare_end))
		return true;
	if (!is_of_all_cpus(file))
		return hyptrace_reader_has_data(hyptrace_remote_reader(remote, file->cpu));
	for_each_possible_cpu(cpu) {
		if (hyptrace_reader_has_data(hyptrace_remote_reader(remote, cpu)))
			return true;
	}
	return false;
}

static void timer_arm(struct hyptrace_file *file)
{
	/* not hrtimer_active(): the work may be here before the timer's function has returned */
	if (!hrtimer_is_queued(&file->timer))
		hrtimer_start(&file->timer, ns_to_ktime(HYPTRACE_LATENCY_NS), HRTIMER_MODE_REL);
}

static enum hrtimer_restart timer_expired(struct hrtimer *timer)
{
	struct hyptrace_file *file = container_of(timer, struct hyptrace_file, timer);

	queue_work(hyptrace_wq, &file->work);
	return HRTIMER_NORESTART;
}

/* For those in poll(), as long as there are any. */
static void look_for_data(struct work_struct *work)
{
	struct hyptrace_file *file = container_of(work, struct hyptrace_file, work);
	struct hyptrace_remote *remote = file_remote(file);

	if (!wq_has_sleeper(&file->wait))
		return;
	if (!hyptrace_remote_is_tracing(remote) || file_has_data(file, remote))
		hyptrace_file_kick(file);
	else
		timer_arm(file);
}

/*
 * The ring is empty: look for the next event for those who were told of the last
 * one and do not ask again (edge-triggered epoll).
 */
static void go_on_looking(struct hyptrace_file *file)
{
	if (wq_has_sleeper(&file->wait))
		timer_arm(file);
}

/*
 * Sleep until it is time to look again, or until there was a kick since @kicks.
 */
static int file_sleep(struct hyptrace_file *file, int kicks)
{
	int err = wait_event_interruptible_hrtimeout(file->wait,
						     atomic_read(&file->kicks) != kicks,
						     ns_to_ktime(HYPTRACE_LATENCY_NS));

	return err == -ETIME ? 0 : err;
}

static int hyptrace_open(struct inode *inode, struct file *filp)
{
	struct hyptrace_file *file;
	int err;

	if (!perfmon_capable())
		return -EPERM;
	err = security_locked_down(LOCKDOWN_TRACEFS);
	if (err)
		return err;

	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file)
		return -ENOMEM;
	mutex_init(&file->lock);
	INIT_LIST_HEAD(&file->node);
	init_waitqueue_head(&file->wait);
	hrtimer_setup(&file->timer, timer_expired, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	INIT_WORK(&file->work, look_for_data);
	filp->private_data = file;
	return stream_open(inode, filp);
}

static int hyptrace_release(struct inode *inode, struct file *filp)
{
	struct hyptrace_file *file = filp->private_data;

	/* each starts the other: first the work for good, then the timer */
	disable_work_sync(&file->work);
	hrtimer_cancel(&file->timer);
	if (file->remote)
		hyptrace_remote_detach(file->remote, file);
	mutex_destroy(&file->lock);
	kvfree(file->spare);
	kfree(file);
	return 0;
}

static int attach_check(const struct hyptrace_attach *attach)
{
	if (attach->flags || attach->reserved)
		return -EINVAL;
	if (strnlen(attach->remote, sizeof(attach->remote)) == sizeof(attach->remote))
		return -EINVAL;
	if (attach->cpu < 0 && attach->cpu != HYPTRACE_CPU_ALL)
		return -ENXIO;
	return 0;
}

static long ioctl_attach(struct hyptrace_file *file, void *arg)
{
	struct hyptrace_attach *attach = arg;
	struct hyptrace_remote *remote;
	int err;

	err = attach_check(attach);
	if (err)
		return err;

	guard(mutex)(&file->lock);
	if (file->remote)
		return -EISCONN;
	remote = hyptrace_remote_get(attach->remote);
	if (!remote)
		return -ENODEV;
	if (!file->spare)
		file->spare = kvmalloc(FRAME_BYTES + PAGE_SIZE, GFP_KERNEL_ACCOUNT);
	err = file->spare ? hyptrace_remote_attach(remote, file, attach->cpu) : -ENOMEM;
	if (!err) {
		attach->subbuf_size = PAGE_SIZE;
		attach->nr_subbufs = is_of_all_cpus(file) ? 0 : READ_ONCE(remote->nr_pages);
	}
	hyptrace_remote_put(remote);
	return err;
}

/* One of our ioctls: its argument is a struct that begins with its size. */
struct ioctl_op {
	long		(*run)(struct hyptrace_file *file, void *arg);
	unsigned int	cmd;
	u32		size;		/* as this kernel knows it */
	u32		min_size;	/* as it was at first */
};

#define IOCTL_OP(_cmd, _run, _struct, _last)				\
	[_IOC_NR(_cmd)] = {						\
		.run = _run,						\
		.cmd = _cmd,						\
		.size = sizeof(_struct),				\
		.min_size = offsetofend(_struct, _last),		\
	}

static const struct ioctl_op ioctl_ops[] = {
	IOCTL_OP(HYPTRACE_IOC_ATTACH, ioctl_attach, struct hyptrace_attach, remote),
};

union ioctl_arg {
	u32			size;
	struct hyptrace_attach	attach;
};

/* The size that counts is in the struct: the one in the number is the caller's. */
static long ioctl_dispatch(struct hyptrace_file *file, unsigned int cmd, void __user *user)
{
	const struct ioctl_op *op;
	unsigned int nr = _IOC_NR(cmd);
	union ioctl_arg arg;
	u32 size;
	long err;

	if (_IOC_TYPE(cmd) != HYPTRACE_IOC_MAGIC || nr >= ARRAY_SIZE(ioctl_ops))
		return -ENOTTY;
	op = &ioctl_ops[array_index_nospec(nr, ARRAY_SIZE(ioctl_ops))];
	if (_IOC_DIR(cmd) != _IOC_DIR(op->cmd))
		return -ENOTTY;

	if (get_user(size, (u32 __user *)user))
		return -EFAULT;
	if (size < op->min_size)
		return -EINVAL;
	/* no struct ever gets there, and nobody has to look through it for zeroes */
	if (size > PAGE_SIZE)
		return -E2BIG;
	err = copy_struct_from_user(&arg, op->size, user, size);
	if (err)
		return err;
	arg.size = op->size;
	err = op->run(file, &arg);
	if (err)
		return err;
	return copy_to_user(user, &arg, min(size, op->size)) ? -EFAULT : 0;
}

/* TRACE_MMAP_IOCTL_GET_READER, as on the kernel's own mapping */
static long ioctl_get_reader(struct hyptrace_file *file, bool nonblock)
{
	struct hyptrace_remote *remote = file_remote(file);
	long err;

	if (!remote)
		return -ENOTCONN;
	if (is_of_all_cpus(file) || !atomic_read(&file->mappings))
		return -ENODEV;

	while (!nonblock) {
		int kicks = atomic_read(&file->kicks);
		bool tracing = hyptrace_remote_is_tracing(remote);

		if (file_has_data(file, remote) || !tracing)
			break;
		err = file_sleep(file, kicks);
		if (err)
			return err;
	}
	err = hyptrace_reader_advance(hyptrace_remote_reader(remote, file->cpu));
	go_on_looking(file);
	return err;
}

static long hyptrace_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct hyptrace_file *file = filp->private_data;

	if (cmd == TRACE_MMAP_IOCTL_GET_READER)
		return ioctl_get_reader(file, filp->f_flags & O_NONBLOCK);
	return ioctl_dispatch(file, cmd, (void __user *)arg);
}

/* Each CPU in turn, so that a busy one does not keep others from being read. */
static int take_of_all(struct hyptrace_file *file, struct hyptrace_subbuf *to)
{
	struct hyptrace_frame *frame = file->spare;
	struct hyptrace_reader *reader;
	unsigned int i, cpu;
	u64 lost;
	int err;

	for (i = 0; i < nr_cpu_ids; i++) {
		cpu = (file->next_cpu + i) % nr_cpu_ids;
		reader = hyptrace_remote_reader(file->remote, cpu);
		if (!reader)
			continue;
		err = hyptrace_reader_take(reader, to, &lost);
		if (err == -EAGAIN)
			continue;
		if (err)
			return err;
		file->next_cpu = cpu + 1;
		frame->cpu = cpu;
		frame->size = PAGE_SIZE;
		frame->lost = lost;
		return 0;
	}
	return -EAGAIN;
}

static int take(struct hyptrace_file *file)
{
	struct hyptrace_subbuf *to = file->spare + FRAME_BYTES;
	struct hyptrace_reader *reader;
	u64 lost;
	int err;

	if (is_of_all_cpus(file)) {
		err = take_of_all(file, to);
	} else {
		reader = hyptrace_remote_reader(file->remote, file->cpu);
		err = hyptrace_reader_take(reader, to, &lost);
	}
	if (err)
		return err;
	WRITE_ONCE(file->spare_at, is_of_all_cpus(file) ? 0 : FRAME_BYTES);
	WRITE_ONCE(file->spare_end, FRAME_BYTES + PAGE_SIZE);
	return 0;
}

/* What is there and fits; without waiting. */
static ssize_t read_present(struct hyptrace_file *file, char __user *buf, size_t count)
{
	size_t whole = PAGE_SIZE + (is_of_all_cpus(file) ? FRAME_BYTES : 0);
	size_t done = 0, n, left;
	int err = 0;

	if (mutex_lock_interruptible(&file->lock))
		return -ERESTARTSYS;
	while (done < count) {
		if (file->spare_at == file->spare_end) {
			/* only the first may be delivered in pieces */
			if (done && (count - done < whole || signal_pending(current)))
				break;
			err = take(file);
			if (err)
				break;
		}
		n = min(count - done, file->spare_end - file->spare_at);
		left = copy_to_user(buf + done, file->spare + file->spare_at, n);
		WRITE_ONCE(file->spare_at, file->spare_at + n - left);
		done += n - left;
		if (left) {
			err = -EFAULT;
			break;
		}
		cond_resched();
	}
	mutex_unlock(&file->lock);
	return done ? done : err;
}

static ssize_t hyptrace_read(struct file *filp, char __user *buf, size_t count, loff_t *pos)
{
	struct hyptrace_file *file = filp->private_data;
	struct hyptrace_remote *remote = file_remote(file);

	if (!remote)
		return -ENOTCONN;
	if (is_of_all_cpus(file) && count < FRAME_BYTES + PAGE_SIZE)
		return -EINVAL;

	while (count) {
		int kicks = atomic_read(&file->kicks);
		bool tracing = hyptrace_remote_is_tracing(remote);
		ssize_t done = read_present(file, buf, count);
		int err;

		if (done != -EAGAIN)
			return done;
		if (!tracing)
			return 0;
		if (filp->f_flags & O_NONBLOCK) {
			go_on_looking(file);
			return -EAGAIN;
		}
		err = file_sleep(file, kicks);
		if (err)
			return err;
	}
	return 0;
}

static __poll_t hyptrace_poll(struct file *filp, poll_table *wait)
{
	struct hyptrace_file *file = filp->private_data;
	struct hyptrace_remote *remote = file_remote(file);
	bool tracing;

	if (!remote)
		return EPOLLERR;
	poll_wait(filp, &file->wait, wait);
	if (remote_is_gone(remote))
		return EPOLLERR | EPOLLHUP;
	tracing = hyptrace_remote_is_tracing(remote);
	if (file_has_data(file, remote))
		return EPOLLIN | EPOLLRDNORM;
	if (!tracing)
		return EPOLLHUP;
	timer_arm(file);
	return 0;
}

static void mapping_open(struct vm_area_struct *vma)
{
	struct hyptrace_file *file = vma->vm_file->private_data;

	atomic_inc(&file->mappings);
}

static void mapping_close(struct vm_area_struct *vma)
{
	struct hyptrace_file *file = vma->vm_file->private_data;

	atomic_dec(&file->mappings);
}

static const struct vm_operations_struct mapping_ops = {
	.open	= mapping_open,
	.close	= mapping_close,
};

static int hyptrace_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct hyptrace_file *file = filp->private_data;
	struct hyptrace_remote *remote = file_remote(file);
	int err;

	if (!remote)
		return -ENOTCONN;
	if (is_of_all_cpus(file))
		return -ENODEV;
	err = hyptrace_reader_map(hyptrace_remote_reader(remote, file->cpu), vma);
	if (err)
		return err;
	vma->vm_ops = &mapping_ops;
	mapping_open(vma);
	return 0;
}

static const struct file_operations hyptrace_fops = {
	.owner		= THIS_MODULE,
	.open		= hyptrace_open,
	.release	= hyptrace_release,
	.read		= hyptrace_read,
	.poll		= hyptrace_poll,
	.mmap		= hyptrace_mmap,
	.unlocked_ioctl	= hyptrace_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
};

static struct miscdevice hyptrace_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "hyptrace",
	.fops	= &hyptrace_fops,
	.mode	= 0600,
};

/**
 * hyptrace_chardev_register - make /dev/hyptrace
 *
 * Return: 0 or a negative errno.
 */
int hyptrace_chardev_register(void)
{
	return misc_register(&hyptrace_device);
}

/**
 * hyptrace_chardev_unregister - undo hyptrace_chardev_register()
 */
void hyptrace_chardev_unregister(void)
{
	misc_deregister(&hyptrace_device);
}
