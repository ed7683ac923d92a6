// SPDX-License-Identifier: GPL-2.0-only
/* Init and exit of hyptrace.ko. No remote is registered then: each is a module that needs it. */
#include <linux/init.h>
#include <linux/module.h>
#include <net/genetlink.h>

#include "core/core.h"
#include "device/device.h"
#include "netlink/netlink.h"
#include "remotes/writer.h"

static int __init hyptrace_init(void)
{
	int err;

	err = hyptrace_core_init();
	if (err)
		return err;
	err = hyptrace_writers_init();
	if (err)
		goto err_core;
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
err_core:
	hyptrace_core_exit();
	return err;
}

static void __exit hyptrace_exit(void)
{
	hyptrace_netlink_unregister();
	hyptrace_chardev_unregister();
	hyptrace_writers_exit();
	hyptrace_core_exit();
}

module_init(hyptrace_init);
module_exit(hyptrace_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Ring buffers that a hypervisor or other remote fills");
MODULE_ALIAS_GENL_FAMILY(HYPTRACE_FAMILY_NAME);
