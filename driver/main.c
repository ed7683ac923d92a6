// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace.ko: its beginning and its end.
 */
#include <linux/init.h>
#include <linux/module.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>

#include "internal.h"
#include "writer.h"

struct workqueue_struct *hyptrace_wq;

static int __init hyptrace_init(void)
{
	int err;

	hyptrace_wq = alloc_workqueue("hyptrace", WQ_UNBOUND, 0);
	if (!hyptrace_wq)
		return -ENOMEM;
	hyptrace_debugfs_init();
	err = hyptrace_writers_init();
	if (err)
		goto err_debugfs;
	err = hyptrace_chardev_register();
	if (err)
		goto err_writers;
	err = hyptrace_netlink_register();
	if (err)
		goto err_chardev;
	return 0;

err_chardev:
	hyptrace_chardev_unregister();
err_writers:
	hyptrace_writers_exit();
err_debugfs:
	hyptrace_debugfs_exit();
	destroy_workqueue(hyptrace_wq);
	return err;
}

/* Remotes are modules that use this one: there is none any more. */
static void __exit hyptrace_exit(void)
{
	hyptrace_netlink_unregister();
	hyptrace_chardev_unregister();
	hyptrace_writers_exit();
	hyptrace_debugfs_exit();
	destroy_workqueue(hyptrace_wq);
}

module_init(hyptrace_init);
module_exit(hyptrace_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Ring buffers that a hypervisor or other remote fills");
MODULE_ALIAS_GENL_FAMILY(HYPTRACE_FAMILY_NAME);
