// SPDX-License-Identifier: GPL-2.0-only
/* For test_modules.sh: a generic-netlink family that has the name of hyptrace's. */
#include <linux/module.h>
#include <net/genetlink.h>

#include <linux/hyptrace_netlink.h>

static struct genl_family family __ro_after_init = {
	.name		= HYPTRACE_FAMILY_NAME,
	.version	= 1,
	.module		= THIS_MODULE,
};

static int __init family_init(void)
{
	return genl_register_family(&family);
}
module_init(family_init);

static void __exit family_exit(void)
{
	genl_unregister_family(&family);
}
module_exit(family_exit);

MODULE_DESCRIPTION("for tests: takes the name of the netlink family");
MODULE_LICENSE("GPL");
