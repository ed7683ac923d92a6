// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waiting for events through a descriptor. Called by chardev.c, read.c and
 * state.c.
 *
 * The writer does not announce events. While somebody waits, a timer looks at what
 * the writer publishes, as often as the descriptor's latency asks for. That takes
 * neither a call of the writer nor, but for PREEMPT_RT, a thread.
 */
#include <linux/hrtimer.h>
#include <linux/poll.h>
#include <linux/wait.h>

#include "../compat.h"
#include "device.h"

/* So much of the latency a look may come earlier, together with other timers. */
#define SLACK	8

/* An attached remote is loaded, unless it was unregistered. */
static bool remote_is_gone(const struct hyptrace_remote *remote)
{
	return READ_ONCE(remote->state) == HYPTRACE_STATE_UNLOADED;
}

/**
 * hyptrace_file_kick - have those who wait look again
 * @file:	whatever they wait for
 */
void hyptrace_file_kick(struct hyptrace_file *file)
{
	atomic_inc(&file->kicks);
	wake_up_interruptible_poll(&file->wait, EPOLLIN | EPOLLRDNORM | EPOLLHUP | EPOLLERR);
}

/* Of a descriptor of one CPU */
static struct hyptrace_reader *reader_of(const struct hyptrace_file *file,
					 const struct hyptrace_remote *remote)
{
	return hyptrace_remote_reader(remote, file->attachment.cpu);
}

/**
 * hyptrace_file_has_data - whether there is as much to read as is waited for
 * @file:	attached to @remote
 * @remote:	see there
 * @mark:	how much that is, on any of the descriptor's CPUs
 *
 * Return: whether so; true also when reading would fail.
 */
bool hyptrace_file_has_data(const struct hyptrace_file *file,
			    const struct hyptrace_remote *remote,
			    const struct hyptrace_watermark *mark)
{
	unsigned int cpu;

	if (READ_ONCE(file->spare_at) < READ_ONCE(file->spare_end))
		return true;
	if (file->attachment.cpu != HYPTRACE_CPU_ALL)
		return hyptrace_reader_has_data(reader_of(file, remote), mark);
	for_each_possible_cpu(cpu) {
		if (hyptrace_reader_has_data(hyptrace_remote_reader(remote, cpu), mark))
			return true;
	}
	return false;
}

static struct hyptrace_watermark watermark(const struct hyptrace_file *file)
{
	return (struct hyptrace_watermark) {
		.percent = READ_ONCE(file->mark.percent),
		.bytes = READ_ONCE(file->mark.bytes),
	};
}

/* With the timer's lock held. */
static void timer_start(struct hyptrace_file *file)
{
	u64 latency_ns = (u64)file->latency_us * NSEC_PER_USEC;

	/* a part of the latency is for other timers to come at the same time */
	hrtimer_start_range_ns(&file->timer, ns_to_ktime(latency_ns - latency_ns / SLACK),
			       latency_ns / SLACK, HRTIMER_MODE_REL_SOFT);
}

static void timer_arm(struct hyptrace_file *file)
{
	guard(spinlock_bh)(&file->timer_lock);
	if (!hrtimer_is_queued(&file->timer))
		timer_start(file);
}

static bool has_waiters(struct hyptrace_file *file)
{
	/* wq_has_sleeper() orders the end of the timer before the look at blocked, too */
	return wq_has_sleeper(&file->wait) || atomic_read(&file->blocked);
}

static enum hrtimer_restart timer_expired(struct hrtimer *timer)
{
	static const struct hyptrace_watermark any;
	struct hyptrace_file *file = container_of(timer, struct hyptrace_file, timer);
	struct hyptrace_remote *remote = hyptrace_file_remote(file);
	const struct hyptrace_watermark mark = atomic_read(&file->blocked) ? any : watermark(file);

	if (!has_waiters(file))
		return HRTIMER_NORESTART;
	if (!hyptrace_remote_is_tracing(remote) || hyptrace_file_has_data(file, remote, &mark))
		hyptrace_file_kick(file);
	else
		timer_arm(file);
	return HRTIMER_NORESTART;
}

/**
 * hyptrace_file_wait_init - have nobody wait, with the defaults
 * @file:	a new one
 */
void hyptrace_file_wait_init(struct hyptrace_file *file)
{
	init_waitqueue_head(&file->wait);
	spin_lock_init(&file->timer_lock);
	hrtimer_setup(&file->timer, timer_expired, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	file->latency_us = HYPTRACE_LATENCY_DEFAULT_US;
}

/**
 * hyptrace_file_wait_exit - undo hyptrace_file_wait_init()
 * @file:	nobody waits any more
 */
void hyptrace_file_wait_exit(struct hyptrace_file *file)
{
	hrtimer_cancel(&file->timer);
}

/**
 * hyptrace_file_set_wakeup - what a descriptor waits for, and how long at most
 * @file:	whose
 * @wakeup:	see linux/hyptrace.h
 *
 * Those who wait now do so by the new values.
 *
 * Return: 0 or -EINVAL, and nothing has changed.
 */
int hyptrace_file_set_wakeup(struct hyptrace_file *file, const struct hyptrace_wakeup *wakeup)
{
	if (wakeup->flags || wakeup->percent > 100 || (wakeup->percent && wakeup->bytes) ||
	    wakeup->latency_us < HYPTRACE_LATENCY_MIN_US ||
	    wakeup->latency_us > HYPTRACE_LATENCY_MAX_US)
		return -EINVAL;
	scoped_guard(spinlock_bh, &file->timer_lock) {
		file->latency_us = wakeup->latency_us;
		/* What is due by the old latency may be far away. */
		if (hrtimer_is_queued(&file->timer))
			timer_start(file);
	}
	WRITE_ONCE(file->mark.percent, wakeup->percent);
	WRITE_ONCE(file->mark.bytes, wakeup->bytes);
	hyptrace_file_kick(file);
	return 0;
}

/**
 * hyptrace_file_rearm_timer - keep looking for waiters that do not ask again
 * @file:	which was just found empty
 *
 * An edge-triggered epoll waiter reads until there is nothing, and calls poll() no more.
 */
void hyptrace_file_rearm_timer(struct hyptrace_file *file)
{
	if (wq_has_sleeper(&file->wait))
		timer_arm(file);
}

/**
 * hyptrace_file_sleep - sleep until there may be an event
 * @file:	where there is nothing to read
 * @kicks:	@file->kicks before that was found
 *
 * Return: 0 or -ERESTARTSYS.
 */
int hyptrace_file_sleep(struct hyptrace_file *file, int kicks)
{
	int err;

	/*
	 * Fully ordered: a timer that is at its end sees this in has_waiters(), or it is
	 * seen to have ended, and armed again.
	 */
	atomic_inc_return(&file->blocked);
	timer_arm(file);
	err = wait_event_interruptible(file->wait, atomic_read(&file->kicks) != kicks);
	atomic_dec(&file->blocked);
	return err;
}

/**
 * hyptrace_file_poll - what poll() answers
 * @filp:	the open file
 * @wait:	as poll() has it
 *
 * Return: as in linux/hyptrace.h.
 */
__poll_t hyptrace_file_poll(struct file *filp, poll_table *wait)
{
	static const struct hyptrace_watermark any;
	struct hyptrace_file *file = filp->private_data;
	const struct hyptrace_watermark mark = watermark(file);
	struct hyptrace_remote *remote = hyptrace_file_remote(file);
	bool tracing;

	if (!remote)
		return EPOLLERR;
	poll_wait(filp, &file->wait, wait);
	if (remote_is_gone(remote))
		return EPOLLERR | EPOLLHUP;
	WRITE_ONCE(file->draining, false);
	tracing = hyptrace_remote_is_tracing(remote);
	/* nothing more comes: what there is has not to wait for the mark */
	if (hyptrace_file_has_data(file, remote, tracing ? &mark : &any))
		return EPOLLIN | EPOLLRDNORM;
	if (!tracing)
		return EPOLLHUP;
	timer_arm(file);
	return 0;
}
