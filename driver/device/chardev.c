// SPDX-License-Identifier: GPL-2.0-only
/* /dev/hyptrace: descriptors and their ioctls, see uapi/linux/hyptrace.h. Called by main.c. */
#include <linux/bits.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/trace_mmap.h>
#include <linux/uaccess.h>

#include "device.h"

static int hyptrace_open(struct inode *inode, struct file *filp)
{
	struct hyptrace_file *file;
	int err = hyptrace_may_open();

	if (err)
		return err;

	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file)
		return -ENOMEM;
	mutex_init(&file->lock);
	hyptrace_file_wait_init(file);
	filp->private_data = file;
	return stream_open(inode, filp);
}

static int hyptrace_release(struct inode *inode, struct file *filp)
{
	struct hyptrace_file *file = filp->private_data;

	hyptrace_file_wait_exit(file);
	if (file->attachment.remote)
		hyptrace_remote_detach(&file->attachment);
	mutex_destroy(&file->lock);
	kvfree(file->pending);
	kfree(file);
	return 0;
}

static int attach_check(const struct hyptrace_attach *attach)
{
	if (attach->flags & ~HYPTRACE_ATTACH_SNAPSHOT || attach->reserved)
		return -EINVAL;
	if (attach->flags & HYPTRACE_ATTACH_SNAPSHOT && attach->cpu == HYPTRACE_CPU_ALL)
		return -EINVAL;
	if (strnlen(attach->remote, sizeof(attach->remote)) == sizeof(attach->remote))
		return -EINVAL;
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
	if (file->attachment.remote)
		return -EISCONN;
	remote = hyptrace_remote_get(attach->remote);
	if (!remote)
		return -ENODEV;
	if (!file->pending)
		file->pending = kvmalloc(HYPTRACE_FRAME_BYTES + PAGE_SIZE, GFP_KERNEL_ACCOUNT);
	file->attachment.snapshot = attach->flags & HYPTRACE_ATTACH_SNAPSHOT;
	err = !file->pending ? -ENOMEM :
	      hyptrace_remote_attach(remote, &file->attachment, attach->cpu);
	if (!err) {
		attach->subbuf_size = PAGE_SIZE;
		attach->nr_subbufs = hyptrace_file_is_for_all(file) ? 0 :
				     READ_ONCE(remote->nr_pages);
	}
	hyptrace_remote_put(remote);
	return err;
}

static long ioctl_wakeup(struct hyptrace_file *file, void *arg)
{
	return hyptrace_file_set_wakeup(file, arg);
}

/* Read the ids of events from user space. Return 0, -EFAULT or -ENOENT. */
static int get_events(u64 *events, const u16 __user *ids, u32 nr)
{
	u32 i;
	u16 id;

	for (i = 0; i < nr; i++) {
		if (get_user(id, &ids[i]))
			return -EFAULT;
		if (id >= HYPTRACE_MAX_EVENT_ID)
			return -ENOENT;
		*events |= BIT_ULL(id);
	}
	return 0;
}

static long ioctl_hold(struct hyptrace_file *file, void *arg)
{
	const struct hyptrace_hold *hold = arg;
	struct hyptrace_wants held = { .tracing = hold->flags & HYPTRACE_HOLD_TRACING };
	int err = hyptrace_file_check_consumer(file);

	if (err)
		return err;
	if (hold->flags & ~HYPTRACE_HOLD_TRACING || hold->reserved)
		return -EINVAL;
	if (hold->nr_events > HYPTRACE_HOLD_EVENTS_MAX)
		return -E2BIG;
	err = get_events(&held.events, u64_to_user_ptr(hold->events), hold->nr_events);
	return err ?: hyptrace_remote_hold(hyptrace_file_remote(file), &file->attachment, &held);
}

/* An ioctl of hyptrace. Its argument is a struct that begins with its own size. */
struct ioctl_op {
	long		(*run)(struct hyptrace_file *file, void *arg);
	unsigned int	cmd;
	u32		size;		/* of the struct in this kernel */
	u32		min_size;	/* of the struct's first version */
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
	IOCTL_OP(HYPTRACE_IOC_WAKEUP, ioctl_wakeup, struct hyptrace_wakeup, bytes),
	IOCTL_OP(HYPTRACE_IOC_HOLD, ioctl_hold, struct hyptrace_hold, events),
};

union ioctl_arg {
	u32			size;
	struct hyptrace_attach	attach;
	struct hyptrace_wakeup	wakeup;
	struct hyptrace_hold	hold;
};

/* Use the size field of the struct and ignore the size in @cmd: see struct hyptrace_attach. */
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
	/* Larger than any struct can become. This bounds the check for surplus zeroes. */
	if (size > PAGE_SIZE)
		return -E2BIG;
	err = copy_struct_from_user(&arg, op->size, user, size);
	if (err)
		return err;
	arg.size = op->size;
	err = op->run(file, &arg);
	if (err || !(_IOC_DIR(cmd) & _IOC_READ))
		return err;
	return copy_to_user(user, &arg, min(size, op->size)) ? -EFAULT : 0;
}

/* TRACE_MMAP_IOCTL_GET_READER, as on the kernel's own ring-buffer mapping */
static long ioctl_get_reader(struct hyptrace_file *file, bool nonblock)
{
	static const struct hyptrace_watermark any_event;
	struct hyptrace_remote *remote = hyptrace_file_remote(file);
	struct hyptrace_reader *reader;
	long err = hyptrace_file_check_consumer(file);

	if (err)
		return err;
	if (hyptrace_file_is_for_all(file) || !atomic_read(&file->mappings))
		return -ENODEV;

	reader = hyptrace_file_reader(file);
	while (!nonblock) {
		int nr_wakeups = atomic_read(&file->nr_wakeups);
		bool tracing = hyptrace_remote_is_tracing(remote);

		/* Look at the ring only: read() has already consumed the data in @pending. */
		if (hyptrace_reader_has_data(reader, &any_event) || !tracing)
			break;
		err = hyptrace_file_sleep(file, nr_wakeups);
		if (err)
			return err;
	}
	err = hyptrace_reader_advance(reader);
	hyptrace_file_rearm_timer(file);
	return err;
}

static long hyptrace_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct hyptrace_file *file = filp->private_data;

	if (cmd == TRACE_MMAP_IOCTL_GET_READER)
		return ioctl_get_reader(file, filp->f_flags & O_NONBLOCK);
	return ioctl_dispatch(file, cmd, (void __user *)arg);
}

static const struct file_operations hyptrace_fops = {
	.owner		= THIS_MODULE,
	.open		= hyptrace_open,
	.release	= hyptrace_release,
	.read		= hyptrace_file_read,
	.splice_read	= hyptrace_file_splice_read,
	.poll		= hyptrace_file_poll,
	.mmap		= hyptrace_file_mmap,
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
 * hyptrace_chardev_register - create /dev/hyptrace and /dev/hyptrace-previous
 *
 * Return: 0 or a negative errno.
 */
int __init hyptrace_chardev_register(void)
{
	int err = misc_register(&hyptrace_device);

	if (err)
		return err;
	err = hyptrace_previous_register();
	if (err)
		misc_deregister(&hyptrace_device);
	return err;
}

/**
 * hyptrace_chardev_unregister - undo hyptrace_chardev_register()
 */
void hyptrace_chardev_unregister(void)
{
	hyptrace_previous_unregister();
	misc_deregister(&hyptrace_device);
}
