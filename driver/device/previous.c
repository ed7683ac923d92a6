// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/hyptrace-previous: what the boot before has left in memory that outlives a reset. It begins
 * with struct hyptrace_dump, whose own address says which addresses it has. Called by chardev.c.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>

#include "../core/dump.h"
#include "device.h"

static int previous_open(struct inode *inode, struct file *filp)
{
	return hyptrace_may_open();
}

static ssize_t previous_read(struct file *filp, char __user *to, size_t count, loff_t *pos)
{
	size_t size;
	const void *data = hyptrace_keep_previous(&size);

	return simple_read_from_buffer(to, count, pos, data, size);
}

static loff_t previous_llseek(struct file *filp, loff_t offset, int whence)
{
	size_t size;

	hyptrace_keep_previous(&size);
	return fixed_size_llseek(filp, offset, whence, size);
}

static const struct file_operations previous_fops = {
	.owner	= THIS_MODULE,
	.open	= previous_open,
	.read	= previous_read,
	.llseek	= previous_llseek,
};

static struct miscdevice previous_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "hyptrace-previous",
	.fops	= &previous_fops,
	.mode	= 0400,
};

/**
 * hyptrace_previous_register - create /dev/hyptrace-previous if the boot before has left something
 *
 * Return: 0 or a negative errno.
 */
int __init hyptrace_previous_register(void)
{
	size_t size;

	return hyptrace_keep_previous(&size) ? misc_register(&previous_device) : 0;
}

/**
 * hyptrace_previous_unregister - undo hyptrace_previous_register()
 */
void hyptrace_previous_unregister(void)
{
	size_t size;

	if (hyptrace_keep_previous(&size))
		misc_deregister(&previous_device);
}
