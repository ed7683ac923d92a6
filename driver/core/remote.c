// SPDX-License-Identifier: GPL-2.0-only
/* The list of remotes, and their references and locks. Called by device/, netlink/ and core. */
#include <linux/cleanup.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "internal.h"

/* For work that may take long or sleep. */
struct workqueue_struct *hyptrace_wq;

/* The lock order is in core.h. */
DEFINE_MUTEX(hyptrace_remotes_lock);

/* Sorted by serial. Protected by hyptrace_remotes_lock. */
LIST_HEAD(hyptrace_remotes);

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

/**
 * hyptrace_locked_remotes - get the list of remotes, to walk over it
 *
 * Context: hyptrace_remotes_lock held.
 * Return: hyptrace_remotes.
 */
struct list_head *hyptrace_locked_remotes(void)
{
	lockdep_assert_held(&hyptrace_remotes_lock);
	return &hyptrace_remotes;
}

/**
 * hyptrace_remote_find - find a remote by its name
 * @name:	exact name
 * Context: hyptrace_remotes_lock held.
 * Return: the remote, which stays registered while the lock is held, or NULL.
 */
struct hyptrace_remote *hyptrace_remote_find(const char *name)
{
	struct hyptrace_remote *remote;

	list_for_each_entry(remote, hyptrace_locked_remotes(), node) {
		if (!strcmp(remote->name, name))
			return remote;
	}
	return NULL;
}

/**
 * hyptrace_remote_get - find a remote by its name
 * @name:	exact name
 * Return: the remote with a reference for the caller, or NULL. The remote may be unregistered at
 * any time. After taking its control mutex, a caller must check that its desc is not NULL.
 */
struct hyptrace_remote *hyptrace_remote_get(const char *name)
{
	struct hyptrace_remote *remote;

	guard(mutex)(&hyptrace_remotes_lock);
	remote = hyptrace_remote_find(name);
	if (remote)
		kref_get(&remote->refs);
	return remote;
}

/**
 * hyptrace_remote_begin_change - lock both mutexes of a remote, to change it
 * @remote:	none of its locks held
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
 * Context: hyptrace_remotes_lock held.
 * Return: the remote, which stays registered while the lock is held, or NULL.
 */
struct hyptrace_remote *hyptrace_remote_find_from(unsigned long serial)
{
	struct hyptrace_remote *remote;

	list_for_each_entry(remote, hyptrace_locked_remotes(), node) {
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
	list_for_each_entry(remote, hyptrace_locked_remotes(), node)
		length += scnprintf(names + length, size - length, "%s%s",
				    length ? ", " : "", remote->name);
}

/**
 * hyptrace_longest_print_fmt - the length of the longest print format of all events
 *
 * Return: characters.
 */
size_t hyptrace_longest_print_fmt(void)
{
	struct hyptrace_remote *remote;
	size_t longest = 0;
	unsigned int i;

	guard(mutex)(&hyptrace_remotes_lock);
	list_for_each_entry(remote, hyptrace_locked_remotes(), node) {
		for (i = 0; i < remote->nr_events; i++)
			longest = max(longest, strlen(remote->events[i]->print_fmt));
	}
	return longest;
}

/**
 * hyptrace_remote_is_tracing - whether the writer may currently record events
 * @remote:	no lock needed
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
 * Return: the reader, or NULL if there is no such CPU.
 */
struct hyptrace_reader *hyptrace_remote_reader(const struct hyptrace_remote *remote,
					       unsigned int cpu)
{
	return cpu < nr_cpu_ids ? remote->readers[array_index_nospec(cpu, nr_cpu_ids)] : NULL;
}
