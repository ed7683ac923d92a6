// SPDX-License-Identifier: GPL-2.0-only
/* Attach to rings: one consumer each, any number of observers. Called by device/, register.c. */
#include <linux/cleanup.h>
#include <linux/module.h>
#include <linux/sched.h>

#include "internal.h"

static bool includes_cpu(int attached_cpu, unsigned int cpu)
{
	return attached_cpu == HYPTRACE_CPU_ALL || attached_cpu == cpu;
}

static void set_consumers(struct hyptrace_remote *remote,
			  const struct hyptrace_attachment *attachment,
			  enum hyptrace_reader_change change)
{
	bool attached = change == HYPTRACE_READER_CHANGE_ATTACHED;
	unsigned int cpu;

	if (attachment->snapshot)
		return;
	for_each_possible_cpu(cpu) {
		if (includes_cpu(attachment->cpu, cpu))
			remote->readers[cpu]->consumer = attached ? attachment->pid : 0;
	}
	hyptrace_announce(consumer_changed, remote, attachment->cpu, change, attachment->pid);
}

static bool has_consumer(const struct hyptrace_remote *remote, int cpu)
{
	unsigned int i;

	for_each_possible_cpu(i) {
		if (includes_cpu(cpu, i) && remote->readers[i]->consumer)
			return true;
	}
	return false;
}

static int attach(struct hyptrace_remote *remote, struct hyptrace_attachment *attachment, int cpu)
{
	int err;

	if (!remote->desc)
		return -ENODEV;
	if (cpu != HYPTRACE_CPU_ALL && !hyptrace_remote_reader(remote, cpu))
		return -ENXIO;
	if (attachment->snapshot && remote->state == HYPTRACE_STATE_UNLOADED)
		return -ENODATA;
	if (!attachment->snapshot && has_consumer(remote, cpu))
		return -EBUSY;
	if (!try_module_get(remote->desc->owner))
		return -ENODEV;
	if (remote->state == HYPTRACE_STATE_UNLOADED) {
		err = hyptrace_remote_load(remote, remote->size_requested, remote->mode, NULL);
		if (err) {
			module_put(remote->desc->owner);
			/* -EBUSY is for a ring that has a consumer. */
			return err == -EBUSY && remote->desc->busy ? -EALREADY : err;
		}
		remote->loaded_by_attach = true;
	}

	kref_get(&remote->refs);
	list_add_tail(&attachment->node, &remote->attached);
	remote->nr_attached++;
	attachment->cpu = cpu;
	attachment->pid = task_tgid_nr(current);
	get_task_comm(attachment->comm, current->group_leader);
	/* (G) Order cpu before remote. Pairs with (G) in device/device.h:hyptrace_file_remote(). */
	smp_store_release(&attachment->remote, remote);
	set_consumers(remote, attachment, HYPTRACE_READER_CHANGE_ATTACHED);
	return 0;
}

/**
 * hyptrace_remote_attach - attach a consumer or an observer
 * @remote:	control mutex not held
 * @attachment:	not attached. The caller has set @snapshot, and prevents concurrent calls.
 * @cpu:	the CPU of the ring, or HYPTRACE_CPU_ALL
 *
 * Attaching a consumer loads @remote if it is unloaded. Attaching an observer does not.
 *
 * Return: 0; -EINTR if the caller was killed, -ENODEV if the remote is being unregistered, -ENXIO
 * if there is no such CPU, -EBUSY if a ring already has a consumer, -ENODATA if an observer finds
 * no rings, -EALREADY if another tracer has the buffer, or as hyptrace_remote_load().
 */
int hyptrace_remote_attach(struct hyptrace_remote *remote,
			   struct hyptrace_attachment *attachment, int cpu)
{
	int err;

	err = hyptrace_remote_begin_change(remote);
	if (err)
		return err;
	err = attach(remote, attachment, cpu);
	hyptrace_remote_end_change(remote);
	return err;
}

static void detach(struct hyptrace_remote *remote, struct hyptrace_attachment *attachment)
{
	list_del(&attachment->node);
	remote->nr_attached--;
	set_consumers(remote, attachment, HYPTRACE_READER_CHANGE_DETACHED);
	module_put(remote->desc->owner);
}

/**
 * hyptrace_remote_detach - undo hyptrace_remote_attach(), and release the hold
 * @attachment:	control mutex of its remote not held; the caller no longer uses the remote
 */
void hyptrace_remote_detach(struct hyptrace_attachment *attachment)
{
	struct hyptrace_remote *remote = attachment->remote;

	mutex_lock(&remote->change);
	scoped_guard(mutex, &remote->control) {
		/* If NULL, hyptrace_remote_detach_all() has detached it already. */
		if (remote->desc) {
			detach(remote, attachment);
			hyptrace_hold_release(remote);
			hyptrace_remote_unload_unused(remote);
		}
	}
	mutex_unlock(&remote->change);
	hyptrace_remote_put(remote);
}

/**
 * hyptrace_remote_detach_all - detach everything from a remote that is being unregistered
 * @remote:	control mutex held
 */
void hyptrace_remote_detach_all(struct hyptrace_remote *remote)
{
	struct hyptrace_attachment *attachment, *next;

	list_for_each_entry_safe(attachment, next, &remote->attached, node)
		detach(remote, attachment);
}
