// SPDX-License-Identifier: GPL-2.0-only
/*
 * For test_kept.sh: memory that outlives a reset is, after the driver was removed and comes again,
 * as a reset would have left it: as it was when this module saved it.
 */
#include <linux/io.h>
#include <linux/memblock.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

static void *at, *copy;
static phys_addr_t size;

static int save(const char *value, const struct kernel_param *param)
{
	memcpy(copy, at, size);
	return 0;
}

static int restore(const char *value, const struct kernel_param *param)
{
	memcpy(at, copy, size);
	return 0;
}

/* A byte of the memory gets another value. */
static int damage(const char *value, const struct kernel_param *param)
{
	unsigned long offset;
	int err = kstrtoul(value, 0, &offset);

	if (err || offset >= size)
		return err ?: -ERANGE;
	((u8 *)at)[offset] ^= 1;
	return 0;
}

module_param_call(save, save, NULL, NULL, 0200);
MODULE_PARM_DESC(save, "a write keeps a copy of the memory");
module_param_call(restore, restore, NULL, NULL, 0200);
MODULE_PARM_DESC(restore, "a write makes the memory what it was then");
module_param_call(damage, damage, NULL, NULL, 0200);
MODULE_PARM_DESC(damage, "change the byte at this offset");

static int __init reset_init(void)
{
	phys_addr_t start;

	if (!reserve_mem_find_by_name("hyptrace", &start, &size))
		return -ENODEV;
	at = phys_to_virt(start);
	copy = vmalloc(size);
	return copy ? 0 : -ENOMEM;
}
module_init(reset_init);

static void __exit reset_exit(void)
{
	vfree(copy);
}
module_exit(reset_exit);

MODULE_DESCRIPTION("for tests: memory as after a reset");
MODULE_LICENSE("GPL");
