// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list of remotes: register, find and unregister them. Called by modules that register
 * a remote, and by device/ and netlink/, which look one up.
 */
#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "internal.h"

/* For work that may take long or sleep. */
struct workqueue_struct *hyptrace_wq;

/* The lock order is in core.h. */
DEFINE_MUTEX(hyptrace_remotes_lock);

/* Sorted by serial. Protected by hyptrace_remotes_lock. */
static LIST_HEAD(remotes);
static unsigned long last_serial;

static void remote_release(struct kref *refs)
{
	struct hyptrace_remote *remote = container_of(refs, struct hyptrace_remote, refs);
	unsigned int cpu;

	for (cpu = 0; remote->readers && cpu < nr_cpu_ids; cpu++)
		hyptrace_reader_destroy(remote->readers[cpu]);
	kfree(remote->readers);
	kfree(remote->events);
	hyptrace_events_free_options(remote->options);
	mutex_destroy(&remote->control);
	mutex_destroy(&remote->change);
	kfree(remote);
}

/**
 * hyptrace_remote_put - drop a reference
 * @remote:	the caller must not use it any more
 */
void hyptrace_remote_put(struct hyptrace_remote *remote)
{
	kref_put(&remote->refs, remote_release);
}

static struct hyptrace_remote *find_remote(const char *name)
{
	struct hyptrace_remote *remote;

	list_for_each_entry(remote, &remotes, node) {
		if (!strcmp(remote->name, name))
			return remote;
	}
	return NULL;
}

/**
 * hyptrace_remote_get - find a remote by its name
 * @name:	exact name
 *
 * Return: the remote with a reference for the caller, or NULL. The remote may be
 * unregistered at any time. After taking its control mutex, a caller must check that its
 * desc is not NULL.
 */
struct hyptrace_remote *hyptrace_remote_get(const char *name)
{
	struct hyptrace_remote *remote;

	guard(mutex)(&hyptrace_remotes_lock);
	remote = find_remote(name);
	if (remote)
		kref_get(&remote->refs);
	return remote;
}

/**
 * hyptrace_remote_begin_change - lock both mutexes of a remote, to change it
 * @remote:	none of its locks held
 *
 * Return: 0, or -EINTR after a fatal signal: another change may take long.
 */
int hyptrace_remote_begin_change(struct hyptrace_remote *remote)
{
	if (mutex_lock_killable(&remote->change))
		return -EINTR;
	mutex_lock(&remote->control);
	return 0;
}

/**
 * hyptrace_remote_end_change - undo hyptrace_remote_begin_change()
 * @remote:	the remote
 */
void hyptrace_remote_end_change(struct hyptrace_remote *remote)
{
	mutex_unlock(&remote->control);
	mutex_unlock(&remote->change);
}

/**
 * hyptrace_remote_find_from - find the first remote whose serial is at least @serial
 * @serial:	0 finds the first remote of the list
 *
 * Context: hyptrace_remotes_lock held.
 * Return: the remote, which stays registered while the lock is held, or NULL.
 */
struct hyptrace_remote *hyptrace_remote_find_from(unsigned long serial)
{
	struct hyptrace_remote *remote;

	lockdep_assert_held(&hyptrace_remotes_lock);
	list_for_each_entry(remote, &remotes, node) {
		if (remote->serial >= serial)
			return remote;
	}
	return NULL;
}

/**
 * hyptrace_remote_names - list the names of all remotes, for a message
 * @names:	out: names separated by commas, or "none"
 * @size:	bytes of @names; a list that does not fit is truncated
 */
void hyptrace_remote_names(char *names, size_t size)
{
	struct hyptrace_remote *remote;
	size_t length = 0;

	strscpy(names, "none", size);
	guard(mutex)(&hyptrace_remotes_lock);
	list_for_each_entry(remote, &remotes, node)
		length += scnprintf(names + length, size - length, "%s%s",
				    length ? ", " : "", remote->name);
}

/**
 * hyptrace_remote_watch_losses - start to check for losses periodically
 * @remote:	tracing has started, or a listener now wants losses
 *
 * The check repeats itself while tracing is on and a listener wants losses.
 */
void hyptrace_remote_watch_losses(struct hyptrace_remote *remote)
{
	if (hyptrace_losses_wanted())
		queue_delayed_work(hyptrace_wq, &remote->loss_work,
				   msecs_to_jiffies(HYPTRACE_LOSS_PERIOD_MS));
}

/**
 * hyptrace_remotes_watch_losses - check all remotes for losses: a listener now wants them
 */
void hyptrace_remotes_watch_losses(void)
{
	struct hyptrace_remote *remote;

	guard(mutex)(&hyptrace_remotes_lock);
	list_for_each_entry(remote, &remotes, node)
		hyptrace_remote_watch_losses(remote);
}

/**
 * hyptrace_remotes_forget_losses - never announce the losses of all remotes up to now
 *
 * A listener is about to want losses. If it is the only one, it must not hear of those from before:
 * nobody has listened then, perhaps for days. Does nothing if another listener wants them.
 */
void hyptrace_remotes_forget_losses(void)
{
	struct hyptrace_remote *remote;
	u64 count, total;
	unsigned int cpu;

	if (hyptrace_losses_wanted())
		return;
	guard(mutex)(&hyptrace_remotes_lock);
	list_for_each_entry(remote, &remotes, node) {
		for_each_possible_cpu(cpu)
			hyptrace_reader_losses(remote->readers[cpu], &count, &total);
	}
}

/**
 * hyptrace_remote_is_tracing - whether the writer may currently record events
 * @remote:	no lock needed
 *
 * Return: true while tracing.
 */
bool hyptrace_remote_is_tracing(const struct hyptrace_remote *remote)
{
	/*
	 * (F) Order the state before the events: a reader that sees tracing off also sees
	 * all events. Pairs with (F) in state.c:state_set().
	 */
	return smp_load_acquire(&remote->state) == HYPTRACE_STATE_TRACING;
}

/**
 * hyptrace_remote_reader - get the reader of a CPU
 * @remote:	no lock needed
 * @cpu:	any number
 *
 * Return: the reader, or NULL if there is no such CPU.
 */
struct hyptrace_reader *hyptrace_remote_reader(const struct hyptrace_remote *remote,
					       unsigned int cpu)
{
	return cpu < nr_cpu_ids ? remote->readers[array_index_nospec(cpu, nr_cpu_ids)] : NULL;
}

/* Runs at most once per period, which limits the rate of the announcements. */
static void loss_work(struct work_struct *work)
{
	struct hyptrace_remote *remote = container_of(to_delayed_work(work),
						      struct hyptrace_remote, loss_work);
	u64 count, total;
	unsigned int cpu;

	if (!hyptrace_losses_wanted())
		return;
	for_each_possible_cpu(cpu) {
		if (hyptrace_reader_losses(remote->readers[cpu], &count, &total))
			hyptrace_announce_loss(remote, cpu, count, total);
	}
	if (hyptrace_remote_is_tracing(remote))
		hyptrace_remote_watch_losses(remote);
}

static bool is_valid_name(const char *name)
{
	static const char characters[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";

	return name && *name && strlen(name) <= HYPTRACE_NAME_MAX &&
	       strspn(name, characters) == strlen(name);
}

static int desc_check(const struct hyptrace_remote_desc *desc)
{
	const struct hyptrace_remote_ops *ops = desc->ops;

	if (!is_valid_name(desc->name)) {
		pr_err("hyptrace: a remote needs a name of 1 to %u characters of [a-z0-9_-]\n",
		       HYPTRACE_NAME_MAX);
		return -EINVAL;
	}
	if (!ops || !ops->load_trace_buffer || !ops->unload_trace_buffer ||
	    !ops->enable_tracing || !ops->swap_reader_page || !ops->sync ||
	    !ops->reset || !ops->enable_event) {
		pr_err("hyptrace: remote \"%s\" lacks a required callback\n", desc->name);
		return -EINVAL;
	}
	if (!ops->exchange_ring != !ops->prepare_resize ||
	    !ops->exchange_ring != !ops->finish_resize) {
		pr_err("hyptrace: remote \"%s\" lacks one of the callbacks for resizing\n",
		       desc->name);
		return -EINVAL;
	}
	if (ops->set_trigger && (!ops->set_filter || !ops->pause || !ops->arm ||
				 !ops->get_fired || !ops->has_ended)) {
		pr_err("hyptrace: remote \"%s\" lacks one of the callbacks for triggers\n",
		       desc->name);
		return -EINVAL;
	}
	if (desc->nr_events >= HYPTRACE_MAX_EVENT_ID) {
		pr_err("hyptrace: remote \"%s\" has %u events, at most %u are possible\n",
		       desc->name, desc->nr_events, HYPTRACE_MAX_EVENT_ID - 1);
		return -EINVAL;
	}
	return 0;
}

static struct hyptrace_remote *remote_alloc(const struct hyptrace_remote_desc *desc)
{
	struct hyptrace_remote *remote = kzalloc(sizeof(*remote), GFP_KERNEL);
	unsigned int cpu;
	int err = -ENOMEM;

	if (!remote)
		return ERR_PTR(-ENOMEM);
	kref_init(&remote->refs);
	mutex_init(&remote->change);
	mutex_init(&remote->control);
	init_rwsem(&remote->marking);
	INIT_LIST_HEAD(&remote->node);
	INIT_LIST_HEAD(&remote->attached);
	INIT_DELAYED_WORK(&remote->loss_work, loss_work);
	hyptrace_triggers_init(remote);
	hyptrace_release_init(remote);
	hyptrace_sockets_init(remote);
	strscpy(remote->name, desc->name, sizeof(remote->name));
	remote->desc = desc;
	remote->owner = INVALID_UID;
	remote->size_requested = HYPTRACE_DEFAULT_SIZE;
	remote->mode = HYPTRACE_DEFAULT_MODE;
	remote->nr_events = desc->nr_events;

	remote->readers = kcalloc(nr_cpu_ids, sizeof(*remote->readers), GFP_KERNEL);
	remote->events = kcalloc(desc->nr_events, sizeof(*remote->events), GFP_KERNEL);
	if (!remote->readers || !remote->events)
		goto err_put;
	for_each_possible_cpu(cpu) {
		err = hyptrace_reader_init(remote, cpu);
		if (err)
			goto err_put;
	}
	err = hyptrace_event_check(desc, remote->events);
	if (err)
		goto err_put;
	return remote;

err_put:
	hyptrace_remote_put(remote);
	return ERR_PTR(err);
}

static int remote_init(struct hyptrace_remote *remote)
{
	const struct hyptrace_remote_desc *desc = remote->desc;
	int err;

	if (!desc->ops->init)
		return 0;
	guard(mutex)(&remote->control);
	err = desc->ops->init(remote, desc->priv);
	if (err)
		pr_err("hyptrace: remote \"%s\" failed to initialize (error %d)\n",
		       desc->name, -err);
	return err;
}

/**
 * hyptrace_remote_register - register a remote
 * @desc:	valid, with everything that it points to, until the remote is unregistered
 *
 * Context: may sleep. Calls @desc->ops->init().
 * Return: the remote, or ERR_PTR(). -EINVAL: @desc is not valid, and the log says why.
 * -EEXIST: another remote has the same name, or two events have the same name or id.
 * Otherwise -ENOMEM, or the error of init().
 */
struct hyptrace_remote *hyptrace_remote_register(const struct hyptrace_remote_desc *desc)
{
	struct hyptrace_remote *remote;
	int err;

	err = desc_check(desc);
	if (err)
		return ERR_PTR(err);

	guard(mutex)(&hyptrace_remotes_lock);
	if (find_remote(desc->name)) {
		pr_err("hyptrace: a remote \"%s\" is already registered\n", desc->name);
		return ERR_PTR(-EEXIST);
	}
	remote = remote_alloc(desc);
	if (IS_ERR(remote))
		return remote;
	err = remote_init(remote);
	if (err) {
		hyptrace_remote_put(remote);
		return ERR_PTR(err);
	}

	remote->serial = ++last_serial;
	list_add_tail(&remote->node, &remotes);
	hyptrace_debugfs_add(remote);
	scoped_guard(mutex, &remote->control)
		hyptrace_announce_remote(remote);
	return remote;
}
EXPORT_SYMBOL_GPL(hyptrace_remote_register);

/**
 * hyptrace_remote_unregister - undo hyptrace_remote_register()
 * @remote:	the caller must not use it any more
 *
 * This stops tracing and unloads the rings. If descriptors are still attached, reading
 * from them then fails with -ENODEV. A module that unregisters in its exit function finds
 * none, because an attached descriptor pins @desc->owner.
 *
 * Context: may sleep. No callback runs after the return.
 */
void hyptrace_remote_unregister(struct hyptrace_remote *remote)
{
	/* Large rings take long: do not hold up the dumps of other remotes meanwhile. */
	mutex_lock(&remote->change);
	scoped_guard(mutex, &hyptrace_remotes_lock)
		list_del(&remote->node);
	scoped_guard(mutex, &remote->control)
		hyptrace_remote_retire(remote);
	mutex_unlock(&remote->change);
	/* This waits for readers of the files: hold no lock here. */
	hyptrace_debugfs_remove(remote);
	cancel_delayed_work_sync(&remote->loss_work);
	cancel_delayed_work_sync(&remote->trigger_work);
	cancel_work_sync(&remote->holds_work);
	hyptrace_remote_put(remote);
}
EXPORT_SYMBOL_GPL(hyptrace_remote_unregister);

/**
 * hyptrace_core_init - prepare core for remotes
 *
 * Return: 0 or -ENOMEM.
 */
int __init hyptrace_core_init(void)
{
	hyptrace_wq = alloc_workqueue("hyptrace", WQ_UNBOUND, 0);
	if (!hyptrace_wq)
		return -ENOMEM;
	hyptrace_debugfs_init();
	return 0;
}

/**
 * hyptrace_core_exit - undo hyptrace_core_init(); no remote must be registered
 */
void hyptrace_core_exit(void)
{
	hyptrace_debugfs_exit();
	destroy_workqueue(hyptrace_wq);
}
