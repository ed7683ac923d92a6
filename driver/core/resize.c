// SPDX-License-Identifier: GPL-2.0-only
/*
 * Another size for rings that are loaded, also while they are written and read.
 * Called by control.c.
 *
 * The memory of the new rings is the writer's before anything changes, so that what
 * cannot be had is refused as a whole. From then on each CPU goes on in its new
 * ring, takes the events along that fit, and the old ring is given back.
 */
#include <linux/mm.h>

#include "internal.h"

static void allow_mapping(struct hyptrace_remote *remote)
{
	unsigned int cpu;

	for_each_cpu(cpu, remote->buf.cpus)
		hyptrace_reader_allow_mapping(remote->readers[cpu]);
}

/* The pages of a mapping cannot be exchanged. */
static int forbid_mapping(struct hyptrace_remote *remote, struct netlink_ext_ack *extack)
{
	unsigned int cpu;

	for_each_cpu(cpu, remote->buf.cpus) {
		if (!hyptrace_reader_forbid_mapping(remote->readers[cpu]))
			continue;
		NL_SET_ERR_MSG_FMT(extack, "the ring of CPU %u is mapped by a reader", cpu);
		allow_mapping(remote);
		return -EBUSY;
	}
	return 0;
}

static int renew_all(struct hyptrace_remote *remote, struct hyptrace_buffer *new,
		     struct netlink_ext_ack *extack)
{
	unsigned int cpu;
	int err;

	for_each_cpu(cpu, remote->buf.cpus) {
		err = hyptrace_reader_renew(remote->readers[cpu], &remote->buf.ring[cpu],
					    &new->ring[cpu]);
		if (err) {
			NL_SET_ERR_MSG_FMT(extack, "the ring of CPU %u is not resized (error %d)",
					   cpu, -err);
			return err;
		}
	}
	return 0;
}

static bool has_size(const struct hyptrace_remote *remote, unsigned int nr_pages)
{
	unsigned int cpu;

	for_each_cpu(cpu, remote->buf.cpus) {
		if (remote->buf.ring[cpu].nr_pages != nr_pages)
			return false;
	}
	return true;
}

/* What each CPU has at least: after a failure the rings may differ. */
static unsigned int smallest_size(const struct hyptrace_remote *remote)
{
	unsigned int cpu, nr_pages = UINT_MAX;

	for_each_cpu(cpu, remote->buf.cpus)
		nr_pages = min(nr_pages, remote->buf.ring[cpu].nr_pages);
	return nr_pages;
}

/* Give the second buffer back. If the caller is killed, the worker finishes it. */
static int finish(struct hyptrace_remote *remote, struct hyptrace_buffer *old,
		  struct netlink_ext_ack *extack)
{
	int err = hyptrace_giveback(remote, old, remote->desc->ops->finish_resize);

	if (err == -EINTR)
		return 0;
	if (err)
		NL_SET_ERR_MSG_FMT(extack, "the remote has kept rings (error %d)", -err);
	return err;
}

static int resize(struct hyptrace_remote *remote, unsigned int nr_pages,
		  struct netlink_ext_ack *extack)
{
	const struct hyptrace_remote_desc *desc = remote->desc;
	struct hyptrace_buffer new = { .discard = remote->buf.discard };
	int err;

	err = hyptrace_buffer_alloc(&new, nr_pages);
	if (err) {
		NL_SET_ERR_MSG_FMT(extack, "%s for %u sub-buffers more for each of %u CPUs",
				   err == -EINTR ? "killed while getting memory" : "no memory",
				   nr_pages, num_possible_cpus());
		return err;
	}
	err = desc->ops->prepare_resize(&new, desc->priv);
	if (err) {
		NL_SET_ERR_MSG_FMT(extack, "the remote refuses the rings (error %d)", -err);
		if (err == -ENOTRECOVERABLE)
			hyptrace_buffer_lose(remote, &new);
		else
			hyptrace_buffer_free(&new);
		return err;
	}

	err = renew_all(remote, &new, extack);
	remote->nr_pages = smallest_size(remote);
	err = finish(remote, &new, extack) ?: err;
	if (err)
		hyptrace_announce_remote(remote);
	/* there may be as much to read now as somebody waits for */
	hyptrace_announce_look(remote);
	return err;
}

/**
 * hyptrace_remote_resize - another size, of the next load or of what is loaded
 * @remote:	control mutex held
 * @size:	bytes per CPU, rounded up to whole sub-buffers
 * @extack:	says what is wrong; may be NULL
 *
 * Events stay, the youngest if not all fit; those that do not are lost as if they
 * had been overwritten. For a while there is memory for both sizes.
 *
 * Return: 0; as hyptrace_remote_check_size(); -EBUSY if a ring is mapped, -EOPNOTSUPP if
 * the remote cannot do it, -EIO if it has kept pages before, -ENOMEM, -EINTR, or what the
 * remote's callbacks answered. Nothing has changed then, unless it was the last of these
 * that failed: the rings of some CPUs may have the new size. Asking again, for that size or
 * for the former one, brings all rings to it.
 */
int hyptrace_remote_resize(struct hyptrace_remote *remote, u64 size,
			   struct netlink_ext_ack *extack)
{
	unsigned int nr_pages;
	int err;

	if (remote->state == HYPTRACE_STATE_UNLOADED) {
		remote->size_asked = size;
		return 0;
	}
	err = hyptrace_remote_check_size(remote, size, extack);
	if (err)
		return err;
	nr_pages = hyptrace_buffer_nr_pages(size);
	if (!has_size(remote, nr_pages)) {
		if (!remote->desc->ops->renew) {
			NL_SET_ERR_MSG(extack, "the remote cannot resize rings that are loaded");
			return -EOPNOTSUPP;
		}
		err = hyptrace_giveback_wait(remote);
		if (err)
			return err;
		if (remote->broken) {
			NL_SET_ERR_MSG(extack, "the remote has kept rings before");
			return -EIO;
		}
		err = forbid_mapping(remote, extack);
		if (err)
			return err;
		err = resize(remote, nr_pages, extack);
		allow_mapping(remote);
		if (err)
			return err;
	}
	remote->size_asked = size;
	return 0;
}
