// SPDX-License-Identifier: GPL-2.0-only
/*
 * Transitions between the states of a remote: see the diagram in core.h. Called by netlink/,
 * attach.c, hold.c, register.c and resize.c. Each function checks everything before it acts, and
 * puts the reason of an error in @extack, which may be NULL.
 */
#include <linux/capability.h>
#include <linux/cleanup.h>
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "internal.h"

static void state_set(struct hyptrace_remote *remote, enum hyptrace_state state)
{
	/*
	 * (F) Order the last events before the state. Pairs with (F) in
	 * remote.c:hyptrace_remote_is_tracing().
	 */
	smp_store_release(&remote->state, state);
	hyptrace_wake_waiters(remote);
}

/**
 * hyptrace_remote_check_size - check that rings can have a size
 * @remote:	control mutex held
 * @size:	bytes per CPU
 * @extack:	see above
 * Return: 0, -EINVAL for 0, -ENOMEM beyond all memory, or -E2BIG beyond the limit of the remote.
 */
int hyptrace_remote_check_size(const struct hyptrace_remote *remote, u64 size,
			       struct netlink_ext_ack *extack)
{
	u64 nr_pages = hyptrace_buffer_nr_pages(size);

	if (!size) {
		NL_SET_ERR_MSG(extack, "size 0: give the number of bytes per CPU");
		return -EINVAL;
	}
	if (!nr_pages || nr_pages * num_possible_cpus() > totalram_pages()) {
		NL_SET_ERR_MSG_FMT(extack,
				   "%llu bytes for each of %u CPUs exceed the machine's memory",
				   size, num_possible_cpus());
		return -ENOMEM;
	}
	if (remote->desc->max_pages && nr_pages > remote->desc->max_pages) {
		NL_SET_ERR_MSG_FMT(extack, "%llu bytes exceed the largest ring, %llu bytes", size,
				   (u64)(remote->desc->max_pages - HYPTRACE_READER_SUBBUFS) <<
				   PAGE_SHIFT);
		return -E2BIG;
	}
	return 0;
}

/**
 * hyptrace_remote_check_mode - check that rings can have a mode
 * @remote:	control mutex held
 * @mode:	overwrite or discard
 * @extack:	see above
 * Return: 0 or -EOPNOTSUPP.
 */
int hyptrace_remote_check_mode(const struct hyptrace_remote *remote, enum hyptrace_mode mode,
			       struct netlink_ext_ack *extack)
{
	if (mode == HYPTRACE_MODE_OVERWRITE || !remote->desc->only_overwrites)
		return 0;
	NL_SET_ERR_MSG_FMT(extack, "remote \"%s\" can only overwrite the oldest events",
			   remote->name);
	return -EOPNOTSUPP;
}

static bool is_empty(struct hyptrace_remote *remote)
{
	struct hyptrace_counts counts;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		hyptrace_reader_counts(remote->readers[cpu], &counts);
		if (counts.unread)
			return false;
	}
	return true;
}

static void readers_unload(struct hyptrace_remote *remote)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		hyptrace_reader_unload(remote->readers[cpu]);
}

static int readers_load(struct hyptrace_remote *remote)
{
	struct hyptrace_map_meta *user_meta;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		user_meta = hyptrace_user_meta_alloc();
		if (!user_meta)
			goto err_unload;
		hyptrace_reader_load(remote->readers[cpu], &remote->buf.ring[cpu], user_meta);
	}
	return 0;

err_unload:
	readers_unload(remote);
	return -ENOMEM;
}

/* Make the writer release the rings. After an error it may keep pages for good. */
static int buffer_give_back(struct hyptrace_remote *remote)
{
	return hyptrace_release_rings(remote, &remote->buf, remote->desc->ops->unload_trace_buffer);
}

/**
 * hyptrace_remote_load - UNLOADED to LOADED
 * @remote:	control mutex held
 * @size:	bytes per CPU, rounded up to whole sub-buffers
 * @mode:	overwrite or discard
 * @extack:	see above
 *
 * If this succeeds, @size and @mode become the settings of the remote.
 *
 * Return: 0; -EBUSY if it is loaded, -EIO if it has kept pages of an earlier load, or as
 * hyptrace_remote_check_size() and hyptrace_buffer_give().
 */
int hyptrace_remote_load(struct hyptrace_remote *remote, u64 size,
			 enum hyptrace_mode mode, struct netlink_ext_ack *extack)
{
	unsigned int nr_pages;
	int err;

	if (remote->state != HYPTRACE_STATE_UNLOADED) {
		NL_SET_ERR_MSG(extack,
			       "the rings are already loaded: unload them first, or set their size");
		return -EBUSY;
	}
	err = hyptrace_release_wait(remote, extack);
	if (err)
		return err;
	if (remote->broken) {
		NL_SET_ERR_MSG(extack,
			       "the remote kept the rings of an earlier load: it cannot be loaded again");
		return -EIO;
	}
	err = hyptrace_remote_check_size(remote, size, extack) ?:
	      hyptrace_remote_check_mode(remote, mode, extack);
	if (err)
		return err;

	remote->buf.discard = mode == HYPTRACE_MODE_DISCARD;
	nr_pages = hyptrace_buffer_nr_pages(size);
	err = hyptrace_buffer_give(remote, &remote->buf, nr_pages,
				   remote->desc->ops->load_trace_buffer, extack);
	if (err)
		return err;
	err = readers_load(remote);
	if (err) {
		NL_SET_ERR_MSG(extack, "not enough free memory for the meta pages of the rings");
		buffer_give_back(remote);
		return err;
	}

	remote->nr_pages = nr_pages;
	remote->size_requested = size;
	remote->mode = mode;
	remote->owner = current_euid();
	remote->loaded_by_attach = false;
	state_set(remote, HYPTRACE_STATE_LOADED);
	hyptrace_announce_remote(remote);
	return 0;
}

static int loaded_to_unloaded(struct hyptrace_remote *remote)
{
	readers_unload(remote);
	remote->nr_pages = 0;
	hyptrace_triggers_forget(remote);
	remote->notified = 0;
	remote->owner = INVALID_UID;
	state_set(remote, HYPTRACE_STATE_UNLOADED);
	return buffer_give_back(remote);
}

static int tracing_to_loaded(struct hyptrace_remote *remote,
			     struct netlink_ext_ack *extack)
{
	int err = remote->desc->ops->enable_tracing(false, remote->desc->priv);

	if (err) {
		NL_SET_ERR_MSG_FMT(extack, "the remote failed to stop (error %d)", -err);
		return err;
	}
	remote->requested.tracing = false;
	state_set(remote, HYPTRACE_STATE_LOADED);
	hyptrace_triggers_end(remote);
	return 0;
}

/**
 * hyptrace_remote_is_own - whether the trace belongs to the user of the current process
 * @remote:	control mutex held
 * Return: true if the user has loaded or started it, or if the rings are not loaded.
 */
bool hyptrace_remote_is_own(const struct hyptrace_remote *remote)
{
	return !uid_valid(remote->owner) || uid_eq(remote->owner, current_euid());
}

/* Return whether this unloaded the rings. */
static bool unload_unused(struct hyptrace_remote *remote)
{
	if (remote->state != HYPTRACE_STATE_LOADED || remote->nr_attached)
		return false;
	if (!remote->loaded_by_attach &&
	    (!is_empty(remote) || !(hyptrace_remote_is_own(remote) || capable(CAP_SYS_ADMIN))))
		return false;
	loaded_to_unloaded(remote);
	return true;
}

/**
 * hyptrace_remote_unload_unused - LOADED to UNLOADED, if the rings are unused: see core.h
 * @remote:	control mutex held
 */
void hyptrace_remote_unload_unused(struct hyptrace_remote *remote)
{
	if (unload_unused(remote))
		hyptrace_announce_remote(remote);
}

static int check_unattached(struct hyptrace_remote *remote, struct netlink_ext_ack *extack)
{
	const struct hyptrace_attachment *first;
	char cpu[sizeof("CPU 4294967295")] = "all CPUs";

	first = list_first_entry_or_null(&remote->attached, struct hyptrace_attachment, node);
	if (!first)
		return 0;
	if (first->cpu != HYPTRACE_CPU_ALL)
		snprintf(cpu, sizeof(cpu), "CPU %d", first->cpu);
	NL_SET_ERR_MSG_FMT(extack, "process %d (%s) is %s %s: end it first", first->pid,
			   first->comm, first->snapshot ? "observing" : "reading", cpu);
	return -EBUSY;
}

/**
 * hyptrace_remote_unload - any state to UNLOADED
 * @remote:	control mutex held
 * @extack:	see above
 * Return: 0, also if it was unloaded; -EBUSY while descriptors are attached; -EINTR after a
 * fatal signal, and a release that has started continues; or the error of a callback.
 */
int hyptrace_remote_unload(struct hyptrace_remote *remote,
			   struct netlink_ext_ack *extack)
{
	int err;

	if (remote->state == HYPTRACE_STATE_UNLOADED)
		return 0;
	err = check_unattached(remote, extack) ?: hyptrace_release_wait(remote, extack);
	if (err)
		return err;
	if (remote->state == HYPTRACE_STATE_TRACING) {
		err = tracing_to_loaded(remote, extack);
		if (err)
			return err;
	}
	err = loaded_to_unloaded(remote);
	if (err == -EINTR)
		NL_SET_ERR_MSG(extack, "killed while the rings are being released");
	else if (err)
		NL_SET_ERR_MSG_FMT(extack,
				   "the remote kept its rings: it cannot be loaded again (error %d)",
				   -err);
	hyptrace_announce_remote(remote);
	return err;
}

/**
 * hyptrace_tracing_start - any state to TRACING
 * @remote:	control mutex held
 * @extack:	see above
 * Return: 0, also if it was tracing; as hyptrace_remote_load(), or the error of a callback.
 */
int hyptrace_tracing_start(struct hyptrace_remote *remote, struct netlink_ext_ack *extack)
{
	bool loaded = remote->state != HYPTRACE_STATE_UNLOADED;
	int err;

	if (remote->state == HYPTRACE_STATE_TRACING)
		return 0;
	if (!loaded) {
		err = hyptrace_remote_load(remote, remote->size_requested, remote->mode, extack);
		if (err)
			return err;
	}
	err = remote->desc->ops->enable_tracing(true, remote->desc->priv);
	if (err) {
		NL_SET_ERR_MSG_FMT(extack, "the remote failed to start (error %d)", -err);
		if (!loaded) {
			loaded_to_unloaded(remote);
			hyptrace_announce_remote(remote);
		}
		return err;
	}
	state_set(remote, HYPTRACE_STATE_TRACING);
	hyptrace_triggers_begin(remote);
	hyptrace_announce_remote(remote);
	hyptrace_remote_watch_losses(remote);
	return 0;
}

/**
 * hyptrace_tracing_stop - TRACING to LOADED, or to UNLOADED if the rings are unused
 * @remote:	control mutex held
 * @extack:	see above
 * Return: 0, also if it was not tracing; or the error of the remote's callback.
 */
int hyptrace_tracing_stop(struct hyptrace_remote *remote, struct netlink_ext_ack *extack)
{
	int err;

	if (remote->state != HYPTRACE_STATE_TRACING)
		return 0;
	err = tracing_to_loaded(remote, extack);
	if (err)
		return err;
	unload_unused(remote);
	hyptrace_announce_remote(remote);
	return 0;
}

/**
 * hyptrace_remote_start - any state to TRACING by request, also without a hold; arms fired triggers
 * @remote:	control mutex held
 * @extack:	see above
 * Return: as hyptrace_tracing_start().
 */
int hyptrace_remote_start(struct hyptrace_remote *remote, struct netlink_ext_ack *extack)
{
	bool was_tracing = remote->state == HYPTRACE_STATE_TRACING;
	int err = hyptrace_tracing_start(remote, extack);

	if (!err && was_tracing)
		err = hyptrace_triggers_restart(remote, extack);
	if (err)
		return err;
	remote->requested.tracing = true;
	remote->owner = current_euid();
	remote->loaded_by_attach = false;
	return 0;
}

/**
 * hyptrace_remote_stop - as hyptrace_tracing_stop(), by request, which overrides holds
 * @remote:	control mutex held
 * @extack:	see above
 * Return: as hyptrace_tracing_stop().
 */
int hyptrace_remote_stop(struct hyptrace_remote *remote, struct netlink_ext_ack *extack)
{
	int err = hyptrace_tracing_stop(remote, extack);

	if (!err)
		hyptrace_hold_override(remote, &(struct hyptrace_wants){ .tracing = true });
	return err;
}

/**
 * hyptrace_remote_clear - clear the events and counters of rings
 * @remote:	control mutex held
 * @cpu:	a possible CPU, or HYPTRACE_CPU_ALL
 * @extack:	see above
 * Return: 0, also while unloaded; or the error of the callback: rings of other CPUs may be cleared.
 */
int hyptrace_remote_clear(struct hyptrace_remote *remote, int cpu,
			  struct netlink_ext_ack *extack)
{
	unsigned int i;
	int err;

	if (remote->state == HYPTRACE_STATE_UNLOADED)
		return 0;
	for_each_possible_cpu(i) {
		if (cpu != HYPTRACE_CPU_ALL && i != cpu)
			continue;
		err = hyptrace_reader_clear(remote->readers[i]);
		if (err) {
			NL_SET_ERR_MSG_FMT(extack,
					   "the remote failed to clear the ring of CPU %u (error %d)",
					   i, -err);
			return err;
		}
	}
	hyptrace_remote_unload_unused(remote);
	return 0;
}

/**
 * hyptrace_remote_set_rate - set the rate of automatic selftest events
 * @remote:	control mutex held; it has the callback set_rate(), unless @rate is 0
 * @rate:	events per second and CPU
 * @extack:	see above
 *
 * The caller must announce the change: hyptrace_remote_set_mode() does.
 *
 * Return: 0, or the error of the remote's callback.
 */
int hyptrace_remote_set_rate(struct hyptrace_remote *remote, u32 rate,
			     struct netlink_ext_ack *extack)
{
	int err;

	if (rate == remote->rate)
		return 0;
	err = remote->desc->ops->set_rate(rate, remote->desc->priv);
	if (err)
		NL_SET_ERR_MSG_FMT(extack, "the remote refused the rate (error %d)", -err);
	else
		remote->rate = rate;
	return err;
}

/**
 * hyptrace_remote_set_mode - set the mode of the next load, and announce all settings
 * @remote:	control mutex held
 * @mode:	overwrite or discard
 */
void hyptrace_remote_set_mode(struct hyptrace_remote *remote, enum hyptrace_mode mode)
{
	remote->mode = mode;
	hyptrace_announce_remote(remote);
}

/**
 * hyptrace_remote_reset - unload, disable events, free counters, restore default settings
 * @remote:	control mutex held
 * @extack:	see above
 * Return: 0; as hyptrace_remote_unload(), -ENOMEM, or the error of a callback.
 */
int hyptrace_remote_reset(struct hyptrace_remote *remote,
			  struct netlink_ext_ack *extack)
{
	const struct hyptrace_event_request disable = { .events = ~0ULL };
	struct hyptrace_event_options *options;
	int err;

	/* A lack of memory must be found before anything changes. */
	options = hyptrace_events_alloc_options(extack);
	if (!options)
		return -ENOMEM;
	err = check_unattached(remote, extack) ?:
	      hyptrace_remote_unload(remote, extack) ?:
	      hyptrace_events_set_with(remote, &disable, options, extack) ?:
	      hyptrace_count_stop(remote, extack) ?:
	      hyptrace_remote_set_rate(remote, 0, extack);
	hyptrace_events_free_options(options);
	kfree(options);
	if (err)
		return err;
	remote->size_requested = hyptrace_remote_default_size(remote->desc);
	remote->mode = HYPTRACE_DEFAULT_MODE;
	hyptrace_announce_remote(remote);
	return 0;
}

/**
 * hyptrace_remote_shut_down - any state to UNLOADED, when the remote is being unregistered
 * @remote:	both mutexes held; on return the writer has no rings
 */
void hyptrace_remote_shut_down(struct hyptrace_remote *remote)
{
	if (remote->state == HYPTRACE_STATE_TRACING && tracing_to_loaded(remote, NULL))
		pr_err("hyptrace: remote \"%s\" failed to stop\n", remote->name);
	if (remote->state != HYPTRACE_STATE_UNLOADED)
		loaded_to_unloaded(remote);
	/* This releases the control mutex for some time. */
	hyptrace_release_finish(remote);
}
