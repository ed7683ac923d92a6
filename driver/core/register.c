// SPDX-License-Identifier: GPL-2.0-only
/* Register and unregister remotes. Called by modules that register a remote, and by main.c. */
#include <linux/cleanup.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "dump.h"
#include "internal.h"

static unsigned long last_serial;	/* protected by hyptrace_remotes_lock */

static bool is_valid_name(const char *name)
{
	static const char characters[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";

	return name && *name && strlen(name) <= HYPTRACE_REMOTE_NAME_MAX &&
	       strspn(name, characters) == strlen(name);
}

static int desc_check(const struct hyptrace_remote_desc *desc)
{
	const struct hyptrace_remote_ops *ops = desc->ops;

	if (!is_valid_name(desc->name)) {
		pr_err("hyptrace: a remote needs a name of 1 to %u characters of [a-z0-9_-]\n",
		       HYPTRACE_REMOTE_NAME_MAX);
		return -EINVAL;
	}
	if (!ops || !ops->load_trace_buffer || !ops->unload_trace_buffer ||
	    !ops->enable_tracing || !ops->swap_reader_page || (!ops->sync && !ops->look) ||
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
	INIT_LIST_HEAD(&remote->attached);
	INIT_LIST_HEAD(&remote->holds);
	INIT_DELAYED_WORK(&remote->loss_work, hyptrace_loss_work);
	INIT_DELAYED_WORK(&remote->trigger_work, hyptrace_trigger_work);
	INIT_WORK(&remote->holds_work, hyptrace_holds_work);
	hyptrace_release_init(remote);
	strscpy(remote->name, desc->name, sizeof(remote->name));
	remote->desc = desc;
	remote->owner = INVALID_UID;
	remote->size_requested = hyptrace_remote_default_size(desc);
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

static struct hyptrace_remote *add(const struct hyptrace_remote_desc *desc)
{
	struct hyptrace_remote *remote;
	int err;

	guard(mutex)(&hyptrace_remotes_lock);
	if (hyptrace_remote_find(desc->name)) {
		pr_err("hyptrace: a remote \"%s\" is already registered\n", desc->name);
		return ERR_PTR(-EBUSY);
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
	list_add_tail(&remote->node, &hyptrace_remotes);
	hyptrace_debugfs_add(remote);
	hyptrace_dump_add(remote);
	scoped_guard(mutex, &remote->control)
		hyptrace_announce_remote(remote);
	return remote;
}

/**
 * hyptrace_remote_register - register a remote
 * @desc:	valid, with everything that it points to, until the remote is unregistered
 * Context: may sleep. Calls @desc->ops->init(), and starts the trace of @desc->boot.
 * Return: the remote, or ERR_PTR(). -EINVAL: @desc is not valid, see the log. -EBUSY: a remote has
 * this name. Else -ENOMEM, or the error of init().
 */
struct hyptrace_remote *hyptrace_remote_register(const struct hyptrace_remote_desc *desc)
{
	struct hyptrace_remote *remote;
	int err;

	err = desc_check(desc);
	if (err)
		return ERR_PTR(err);
	remote = add(desc);
	if (!IS_ERR(remote) && desc->boot)
		hyptrace_remote_boot(remote, desc->boot);
	return remote;
}
EXPORT_SYMBOL_GPL(hyptrace_remote_register);

/* The control mutex is held. On return the remote has no rings, attachments or callbacks. */
static void retire(struct hyptrace_remote *remote)
{
	hyptrace_remote_shut_down(remote);
	/* Until now a request may have counted events. */
	if (hyptrace_count_stop(remote, NULL))
		pr_err("hyptrace: remote \"%s\" still counts events\n", remote->name);
	hyptrace_sockets_remove_holds(remote);
	/* also if the writer goes on to count */
	hyptrace_count_end_pmu(remote);
	hyptrace_remote_detach_all(remote);
	hyptrace_announce_remote_removed(remote);
	/* Wait until nobody writes selftest events. */
	guard(rwsem_write)(&remote->marking);
	remote->desc = NULL;
}

/**
 * hyptrace_remote_unregister - undo hyptrace_remote_register()
 * @remote:	the caller must not use it any more
 *
 * Stops tracing and unloads the rings; reading from attached descriptors then fails with -ENODEV. A
 * module that exits finds none, because they pin @desc->owner.
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
		retire(remote);
	mutex_unlock(&remote->change);
	/* This waits for readers of the files: hold no lock here. */
	debugfs_remove(remote->debugfs);
	hyptrace_dump_remove(remote);
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
	int err = hyptrace_panic_init();

	if (err)
		return err;
	err = hyptrace_dump_init();
	if (err)
		goto err_panic;
	hyptrace_wq = alloc_workqueue("hyptrace", WQ_UNBOUND, 0);
	if (!hyptrace_wq) {
		err = -ENOMEM;
		goto err_dump;
	}
	hyptrace_debugfs = debugfs_create_dir("hyptrace", NULL);
	return 0;

err_dump:
	hyptrace_dump_exit();
err_panic:
	hyptrace_panic_exit();
	return err;
}

/**
 * hyptrace_core_exit - undo hyptrace_core_init(); no remote must be registered
 */
void hyptrace_core_exit(void)
{
	debugfs_remove(hyptrace_debugfs);
	destroy_workqueue(hyptrace_wq);
	hyptrace_dump_exit();
	hyptrace_panic_exit();
}
