// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waiting for events through a descriptor. Called by chardev.c and read.c.
 *
 * The writer does not announce events. While there are waiters, a timer looks at what it publishes,
 * once per latency. That needs no call of the writer and, except on PREEMPT_RT, no thread.
 */
#include <linux/hrtimer.h>
#include <linux/poll.h>
#include <linux/wait.h>

#include "../compat.h"
#include "device.h"

/* The timer may expire earlier by this part of the latency, together with other timers. */
#define SLACK_DIVISOR	8

/* A remote stays loaded while a descriptor is attached, until it is unregistered. */
static bool is_unregistered(const struct hyptrace_remote *remote)
{
	return READ_ONCE(remote->state) == HYPTRACE_STATE_UNLOADED;
}

static void wake_waiters(struct hyptrace_attachment *attachment)
{
	struct hyptrace_file *file = container_of(attachment, struct hyptrace_file, attachment);

	atomic_inc(&file->nr_wakeups);
	wake_up_interruptible_poll(&file->wait, EPOLLIN | EPOLLRDNORM | EPOLLHUP | EPOLLERR);
}

/**
 * hyptrace_file_has_data - whether the data to read has reached a watermark
 * @file:	the descriptor
 * @remote:	the remote to which @file is attached
 * @watermark:	the watermark; one of the descriptor's CPUs must reach it
 * Return: true if so, also if reading would fail.
 */
bool hyptrace_file_has_data(const struct hyptrace_file *file,
			    const struct hyptrace_remote *remote,
			    const struct hyptrace_watermark *watermark)
{
	unsigned int cpu;

	if (READ_ONCE(file->pending_at) < READ_ONCE(file->pending_end))
		return true;
	if (!hyptrace_file_is_for_all(file))
		return hyptrace_reader_has_data(hyptrace_file_reader(file), watermark);
	for_each_possible_cpu(cpu) {
		if (hyptrace_reader_has_data(hyptrace_remote_reader(remote, cpu), watermark))
			return true;
	}
	return false;
}

static struct hyptrace_watermark get_watermark(const struct hyptrace_file *file)
{
	return (struct hyptrace_watermark) {
		.percent = READ_ONCE(file->watermark.percent),
		.bytes = READ_ONCE(file->watermark.bytes),
	};
}

/* Called with timer_lock held. */
static void timer_start(struct hyptrace_file *file)
{
	u64 latency_ns = (u64)file->latency_us * NSEC_PER_USEC;

	hrtimer_start_range_ns(&file->timer, ns_to_ktime(latency_ns - latency_ns / SLACK_DIVISOR),
			       latency_ns / SLACK_DIVISOR, HRTIMER_MODE_REL_SOFT);
}

static void timer_arm(struct hyptrace_file *file)
{
	guard(hyptrace_spinlock_bh)(&file->timer_lock);
	if (!hrtimer_is_queued(&file->timer))
		timer_start(file);
}

static bool has_waiters(struct hyptrace_file *file)
{
	/*
	 * (N) Order the dequeuing of the timer before the load of blocked: the barrier is
	 * in wq_has_sleeper(). Pairs with (N) in hyptrace_file_sleep().
	 */
	return wq_has_sleeper(&file->wait) || atomic_read(&file->blocked);
}

static enum hrtimer_restart timer_expired(struct hrtimer *timer)
{
	static const struct hyptrace_watermark any_event;
	struct hyptrace_file *file = container_of(timer, struct hyptrace_file, timer);
	struct hyptrace_remote *remote = hyptrace_file_remote(file);
	const struct hyptrace_watermark watermark = atomic_read(&file->blocked) ?
						    any_event : get_watermark(file);

	if (!has_waiters(file))
		return HRTIMER_NORESTART;
	if (!hyptrace_remote_is_tracing(remote) || hyptrace_file_has_data(file, remote, &watermark))
		wake_waiters(&file->attachment);
	else
		timer_arm(file);
	return HRTIMER_NORESTART;
}

/**
 * hyptrace_file_wait_init - set up waiting, with the default latency
 * @file:	a new descriptor
 */
void hyptrace_file_wait_init(struct hyptrace_file *file)
{
	init_waitqueue_head(&file->wait);
	spin_lock_init(&file->timer_lock);
	hrtimer_setup(&file->timer, timer_expired, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	file->latency_us = HYPTRACE_LATENCY_DEFAULT_US;
	file->attachment.wake = wake_waiters;
}

/**
 * hyptrace_file_wait_exit - undo hyptrace_file_wait_init()
 * @file:	without waiters
 */
void hyptrace_file_wait_exit(struct hyptrace_file *file)
{
	hrtimer_cancel(&file->timer);
}

/**
 * hyptrace_file_set_wakeup - set the watermark and the latency of a descriptor
 * @file:	the descriptor
 * @wakeup:	see linux/hyptrace.h
 *
 * The new values apply to present waiters, too.
 *
 * Return: 0, or -EINVAL and nothing has changed.
 */
int hyptrace_file_set_wakeup(struct hyptrace_file *file, const struct hyptrace_wakeup *wakeup)
{
	if (wakeup->flags || wakeup->percent > 100 || (wakeup->percent && wakeup->bytes) ||
	    wakeup->latency_us < HYPTRACE_LATENCY_MIN_US ||
	    wakeup->latency_us > HYPTRACE_LATENCY_MAX_US)
		return -EINVAL;
	scoped_guard(hyptrace_spinlock_bh, &file->timer_lock) {
		file->latency_us = wakeup->latency_us;
		/* By the old latency the timer may expire too late. */
		if (hrtimer_is_queued(&file->timer))
			timer_start(file);
	}
	WRITE_ONCE(file->watermark.percent, wakeup->percent);
	WRITE_ONCE(file->watermark.bytes, wakeup->bytes);
	wake_waiters(&file->attachment);
	return 0;
}

/**
 * hyptrace_file_rearm_timer - keep polling the writer for edge-triggered epoll waiters
 * @file:	a descriptor from which the caller has read all data
 *
 * Such a waiter reads until nothing is left, and does not call poll() again.
 */
void hyptrace_file_rearm_timer(struct hyptrace_file *file)
{
	if (wq_has_sleeper(&file->wait))
		timer_arm(file);
}

/**
 * hyptrace_file_sleep - sleep until there may be an event
 * @file:	a descriptor that has nothing to read
 * @nr_wakeups:	@file->nr_wakeups from before the caller found that
 * Return: 0 or -ERESTARTSYS.
 */
int hyptrace_file_sleep(struct hyptrace_file *file, int nr_wakeups)
{
	int err;

	/*
	 * (N) Order the increment of blocked before the look at the timer: either a timer
	 * that expires now sees blocked, or timer_arm() starts it again. Pairs with (N) in
	 * has_waiters().
	 */
	atomic_inc_return(&file->blocked);
	timer_arm(file);
	err = wait_event_interruptible(file->wait, atomic_read(&file->nr_wakeups) != nr_wakeups);
	atomic_dec(&file->blocked);
	return err;
}

/**
 * hyptrace_file_poll - poll(): see linux/hyptrace.h
 * @filp:	the open file
 * @wait:	table of the caller, as in any poll method
 * Return: EPOLL* as in linux/hyptrace.h.
 */
__poll_t hyptrace_file_poll(struct file *filp, poll_table *wait)
{
	static const struct hyptrace_watermark any_event;
	struct hyptrace_file *file = filp->private_data;
	const struct hyptrace_watermark watermark = get_watermark(file);
	struct hyptrace_remote *remote = hyptrace_file_remote(file);
	bool tracing;

	if (!remote)
		return EPOLLERR;
	poll_wait(filp, &file->wait, wait);
	if (is_unregistered(remote))
		return EPOLLERR | EPOLLHUP;
	WRITE_ONCE(file->draining, false);
	tracing = hyptrace_remote_is_tracing(remote);
	/* While tracing is off no data is added: ignore the watermark. */
	if (hyptrace_file_has_data(file, remote, tracing ? &watermark : &any_event))
		return EPOLLIN | EPOLLRDNORM;
	if (!tracing)
		return EPOLLHUP;
	timer_arm(file);
	return 0;
}
