// SPDX-License-Identifier: GPL-2.0-only
/*
 * Resize loaded rings, also while they are used. Called by netlink/control.c.
 *
 * The writer gets the memory of all new rings before any ring changes, so a lack of it changes
 * nothing. Then each CPU switches to its new ring, which takes over the events that fit.
 */
#include <linux/mm.h>

#include "internal.h"

static void allow_mapping(struct hyptrace_remote *remote)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		hyptrace_reader_allow_mapping(remote->readers[cpu]);
}

/* A resize cannot exchange pages that user space has mapped. */
static int forbid_mapping(struct hyptrace_remote *remote, struct netlink_ext_ack *extack)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		if (!hyptrace_reader_forbid_mapping(remote->readers[cpu]))
			continue;
		NL_SET_ERR_MSG_FMT(extack, "a process has mapped the ring of CPU %u: end it first",
				   cpu);
		allow_mapping(remote);
		return -EBUSY;
	}
	return 0;
}

static int exchange_all(struct hyptrace_remote *remote, struct hyptrace_buffer *new,
			struct netlink_ext_ack *extack)
{
	unsigned int cpu;
	int err;

	for_each_possible_cpu(cpu) {
		err = hyptrace_reader_exchange_ring(remote->readers[cpu], &remote->buf.ring[cpu],
						    &new->ring[cpu]);
		if (err) {
			NL_SET_ERR_MSG_FMT(extack,
					   "the remote failed to resize the ring of CPU %u (error %d)",
					   cpu, -err);
			return err;
		}
		/* Let requests that wait for it run. */
		mutex_unlock(&remote->control);
		mutex_lock(&remote->control);
	}
	return 0;
}

static bool has_nr_pages(const struct hyptrace_remote *remote, unsigned int nr_pages)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		if (remote->buf.ring[cpu].nr_pages != nr_pages)
			return false;
	}
	return true;
}

/* After a failed resize, the rings may have different sizes. */
static unsigned int smallest_nr_pages(const struct hyptrace_remote *remote)
{
	unsigned int cpu, nr_pages = UINT_MAX;

	for_each_possible_cpu(cpu)
		nr_pages = min(nr_pages, remote->buf.ring[cpu].nr_pages);
	return nr_pages;
}

/* Release the second buffer. If the caller is killed, the worker completes the release. */
static int release_old(struct hyptrace_remote *remote, struct hyptrace_buffer *old,
		       struct netlink_ext_ack *extack)
{
	int err = hyptrace_release_rings(remote, old, remote->desc->ops->finish_resize);

	if (err == -EINTR)
		return 0;
	if (err)
		NL_SET_ERR_MSG_FMT(extack,
				   "the remote kept rings: it cannot be loaded again (error %d)",
				   -err);
	return err;
}

static int resize_loaded(struct hyptrace_remote *remote, unsigned int nr_pages,
			 struct netlink_ext_ack *extack)
{
	const struct hyptrace_remote_desc *desc = remote->desc;
	struct hyptrace_buffer new = { .discard = remote->buf.discard };
	int err;

	err = hyptrace_buffer_give(remote, &new, nr_pages, desc->ops->prepare_resize, extack);
	if (err)
		return err;
	err = exchange_all(remote, &new, extack);
	remote->nr_pages = smallest_nr_pages(remote);
	err = release_old(remote, &new, extack) ?: err;
	if (err)
		hyptrace_announce_remote(remote);
	/* Waiters saw no data during the exchange, and their watermarks depend on the size. */
	hyptrace_wake_waiters(remote);
	return err;
}

/**
 * hyptrace_remote_resize - set the size of the loaded rings, or of the next load
 * @remote:	control mutex held
 * @size:	bytes per CPU, rounded up to whole sub-buffers
 * @extack:	gets the reason of an error; may be NULL
 *
 * The rings keep their events. If not all fit, the oldest are lost, and count as
 * overwritten. During the resize, the old and the new rings are both allocated.
 *
 * Return: 0; as hyptrace_remote_check_size(); -EBUSY if a ring is mapped, -EOPNOTSUPP if
 * the remote cannot resize, -EIO if it has kept pages before, -ENOMEM, -EDQUOT, -EINTR, or the
 * error of a callback. After an error of a callback, the rings of some CPUs may have the new size:
 * another resize, to the new or the old size, can give all rings that size, unless the writer
 * has kept pages: then it fails with -EIO. After any other error, nothing has changed.
 */
int hyptrace_remote_resize(struct hyptrace_remote *remote, u64 size,
			   struct netlink_ext_ack *extack)
{
	unsigned int nr_pages;
	int err;

	if (remote->state == HYPTRACE_STATE_UNLOADED) {
		remote->size_requested = size;
		return 0;
	}
	err = hyptrace_remote_check_size(remote, size, extack);
	if (err)
		return err;
	nr_pages = hyptrace_buffer_nr_pages(size);
	if (!has_nr_pages(remote, nr_pages)) {
		if (!remote->desc->ops->exchange_ring) {
			NL_SET_ERR_MSG(extack,
				       "the remote cannot resize loaded rings: unload them first");
			return -EOPNOTSUPP;
		}
		err = hyptrace_release_wait(remote, extack);
		if (err)
			return err;
		if (remote->broken) {
			NL_SET_ERR_MSG(extack,
				       "the remote kept the rings of an earlier load or resize");
			return -EIO;
		}
		err = forbid_mapping(remote, extack);
		if (err)
			return err;
		err = resize_loaded(remote, nr_pages, extack);
		allow_mapping(remote);
		if (err)
			return err;
	}
	remote->size_requested = size;
	return 0;
}
