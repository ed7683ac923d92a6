// SPDX-License-Identifier: GPL-2.0-only
/* Work of each remote announces losses if wanted. Called by netlink/, state.c and register.c. */
#include <linux/cleanup.h>
#include <linux/jiffies.h>
#include <linux/workqueue.h>

#include "internal.h"

static bool losses_wanted(void)
{
	return hyptrace_listener && hyptrace_listener->wants_losses();
}

/**
 * hyptrace_remote_watch_losses - start to check for losses periodically
 * @remote:	tracing has started, or the listener now wants losses
 *
 * The check repeats itself while tracing is on and the listener wants losses.
 */
void hyptrace_remote_watch_losses(struct hyptrace_remote *remote)
{
	if (losses_wanted())
		queue_delayed_work(hyptrace_wq, &remote->loss_work,
				   msecs_to_jiffies(HYPTRACE_LOSS_PERIOD_MS));
}

/**
 * hyptrace_remotes_watch_losses - check all remotes for losses: the listener now wants them
 */
void hyptrace_remotes_watch_losses(void)
{
	struct hyptrace_remote *remote;

	guard(mutex)(&hyptrace_remotes_lock);
	list_for_each_entry(remote, hyptrace_locked_remotes(), node)
		hyptrace_remote_watch_losses(remote);
}

/**
 * hyptrace_remotes_forget_losses - never announce the losses of all remotes up to now
 *
 * The listener is about to want losses. It must not hear of those from before: nobody has wanted
 * them then, perhaps for days. Does nothing if it wants them already.
 */
void hyptrace_remotes_forget_losses(void)
{
	struct hyptrace_remote *remote;
	u64 count, total;
	unsigned int cpu;

	if (losses_wanted())
		return;
	guard(mutex)(&hyptrace_remotes_lock);
	list_for_each_entry(remote, hyptrace_locked_remotes(), node) {
		for_each_possible_cpu(cpu)
			hyptrace_reader_losses(remote->readers[cpu], &count, &total);
	}
}

/* Work of a remote. It runs at most once per period, which limits the rate of the announcements. */
void hyptrace_loss_work(struct work_struct *work)
{
	struct hyptrace_remote *remote = container_of(to_delayed_work(work),
						      struct hyptrace_remote, loss_work);
	u64 count, total;
	unsigned int cpu;

	if (!losses_wanted())
		return;
	for_each_possible_cpu(cpu) {
		if (hyptrace_reader_losses(remote->readers[cpu], &count, &total))
			hyptrace_announce(lost, remote, cpu, count, total);
	}
	if (hyptrace_remote_is_tracing(remote))
		hyptrace_remote_watch_losses(remote);
}
