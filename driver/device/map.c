// SPDX-License-Identifier: GPL-2.0-only
/* Maps the ring of a CPU into user space. Called by chardev.c and through vm_operations_struct. */
#include <linux/cleanup.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "../compat.h"
#include "device.h"

/* The kernel copies a mapping to split it or to move it. */
static void mapping_open(struct vm_area_struct *vma)
{
	struct hyptrace_file *file = vma->vm_file->private_data;
	struct hyptrace_reader *reader = hyptrace_file_reader(file);

	atomic_inc(&file->mappings);
	guard(mutex)(&reader->map_lock);
	WRITE_ONCE(reader->mappings, reader->mappings + 1);
}

static void mapping_close(struct vm_area_struct *vma)
{
	struct hyptrace_file *file = vma->vm_file->private_data;
	struct hyptrace_reader *reader = hyptrace_file_reader(file);

	atomic_dec(&file->mappings);
	guard(mutex)(&reader->map_lock);
	WRITE_ONCE(reader->mappings, reader->mappings - 1);
}

static const struct vm_operations_struct mapping_ops = {
	.open	= mapping_open,
	.close	= mapping_close,
};

/* Called with map_lock held. */
static int insert_pages(const struct hyptrace_reader *reader, struct vm_area_struct *vma)
{
	unsigned long nr = vma_pages(vma), i;
	struct page **pages;
	int err;

	pages = kvmalloc_array(nr, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		pages[i] = hyptrace_reader_user_page(reader, vma->vm_pgoff + i);
	err = vm_insert_pages(vma, vma->vm_start, pages, &nr);
	kvfree(pages);
	return err;
}

static int map_ring(struct hyptrace_reader *reader, struct vm_area_struct *vma)
{
	unsigned long nr = vma_pages(vma), first = vma->vm_pgoff, nr_mappable;
	int err;

	if (vma->vm_flags & (VM_WRITE | VM_EXEC) || !(vma->vm_flags & VM_MAYSHARE))
		return -EPERM;

	guard(mutex)(&reader->map_lock);
	nr_mappable = hyptrace_reader_nr_user_pages(reader);
	if (!nr_mappable)
		return -ENODEV;
	if (reader->resizing)
		return -EBUSY;
	if (first >= nr_mappable || nr > nr_mappable - first)
		return -EINVAL;

	vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP | VM_MIXEDMAP,
		     VM_MAYWRITE | VM_MAYEXEC);
	err = insert_pages(reader, vma);
	if (!err)
		WRITE_ONCE(reader->mappings, reader->mappings + 1);
	return err;
}

/**
 * hyptrace_file_mmap - map the ring of a descriptor's CPU
 * @filp:	the open file
 * @vma:	page 0 is the meta page; the sub-buffers follow in the order of their ids
 * Context: mmap_lock held, and no lock of hyptrace.
 * Return: 0; -ENOTCONN if the descriptor is not attached; -EPERM for a mapping that is writable,
 * executable or private; -EINVAL for a range that exceeds the ring; -ENODEV if the descriptor is
 * attached to all CPUs, or the ring is unloaded; -EBUSY while the ring is being resized; -ENOMEM.
 */
int hyptrace_file_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct hyptrace_file *file = filp->private_data;
	int err;

	if (!hyptrace_file_remote(file))
		return -ENOTCONN;
	if (hyptrace_file_is_for_all(file))
		return -ENODEV;
	err = map_ring(hyptrace_file_reader(file), vma);
	if (err)
		return err;
	vma->vm_ops = &mapping_ops;
	atomic_inc(&file->mappings);
	return 0;
}
