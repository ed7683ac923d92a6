// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triggers: events that start or stop the recording on all CPUs, or that EL2 counts so that the
 * host notices them. hcall.c sets and arms them, trace.c calls in when it has recorded such an
 * event, and ring.c with each sub-buffer that it enters. The recording of all CPUs starts and
 * stops with one word: hyptrace_allow_events().
 */
#include "hooks.h"

/* trigger_lock protects all that follows; these three and notifying are also read without it. */
u64 hyptrace_armed;
u32 hyptrace_stop_after;
bool hyptrace_func_follows;

static hyptrace_lock_t trigger_lock = HYPTRACE_LOCK_INIT;

/* Bit per event id: the events that start, that stop, and that notify, and when those stop */
static u64 starting, stopping, notifying;
static u32 stop_after[HYPTRACE_NR_EVENTS];

/* The number of the last ARM, and whether a PAUSE came after it */
static u64 last_arm;
static bool paused;

/**
 * hyptrace_trigger_set() - set what an event does
 * @event:	its id
 * @what:	enum hyptrace_trigger
 * @after:	see HYPTRACE_OP_TRIGGER
 * Return: 0 or -EINVAL.
 */
int hyptrace_trigger_set(u64 event, u64 what, u64 after)
{
	u64 bit;

	if (!event || event >= HYPTRACE_NR_EVENTS || what >= HYPTRACE_NR_TRIGGERS ||
	    (after && what != HYPTRACE_TRIGGER_STOP) || after >> 32 ||
	    (what == HYPTRACE_TRIGGER_FOLLOW && event != HYPTRACE_EVENT_func))
		return -EINVAL;

	event = array_index_nospec(event, HYPTRACE_NR_EVENTS);
	bit = BIT_ULL(event);
	hyptrace_guard(&trigger_lock);
	starting = what == HYPTRACE_TRIGGER_START ? starting | bit : starting & ~bit;
	stopping = what == HYPTRACE_TRIGGER_STOP ? stopping | bit : stopping & ~bit;
	WRITE_ONCE(notifying, what == HYPTRACE_TRIGGER_NOTIFY ? notifying | bit :
							       notifying & ~bit);
	if (event == HYPTRACE_EVENT_func)
		WRITE_ONCE(hyptrace_func_follows, what == HYPTRACE_TRIGGER_FOLLOW);
	stop_after[event] = after;
	WRITE_ONCE(hyptrace_armed, (hyptrace_armed & ~bit) | (notifying & bit));

	return 0;
}

static void allow(u64 events)
{
	hyptrace_assert_held(&trigger_lock);
	hyptrace_allow_events(events);
}

/**
 * hyptrace_trigger_pause() - let no CPU record any event: HYPTRACE_OP_PAUSE
 *
 * Return: 0.
 */
int hyptrace_trigger_pause(void)
{
	hyptrace_guard(&trigger_lock);
	paused = true;
	allow(0);

	return 0;
}

/**
 * hyptrace_trigger_arm() - end the pause and arm all triggers
 * @arm:	number of the host, not 0
 * Return: 0 or -EINVAL.
 */
int hyptrace_trigger_arm(u64 arm)
{
	if (!arm)
		return -EINVAL;

	hyptrace_guard(&trigger_lock);
	last_arm = arm;
	paused = false;
	WRITE_ONCE(hyptrace_stop_after, 0);
	WRITE_ONCE(hyptrace_armed, (starting ?: stopping) | notifying);
	allow(starting ?: ~0ULL);

	return 0;
}

static void start(void)
{
	hyptrace_assert_held(&trigger_lock);
	WRITE_ONCE(hyptrace_armed, stopping | notifying);
	if (!paused)
		allow(~0ULL);
}

static void end_recording(struct hyptrace_ring *ring)
{
	allow(0);
	ring->ended = last_arm;
}

static void stop(struct hyptrace_ring *ring, u32 event)
{
	hyptrace_assert_held(&trigger_lock);
	WRITE_ONCE(hyptrace_armed, notifying);
	if (paused)
		return;
	WRITE_ONCE(hyptrace_stop_after, stop_after[event]);
	if (!stop_after[event])
		end_recording(ring);
}

static void publish(struct hyptrace_fired *to, const struct hyptrace_fired *fired)
{
	WRITE_ONCE(to->time, fired->time);
	WRITE_ONCE(to->event, fired->event);
	WRITE_ONCE(to->reserved, 0);
	/*
	 * (T) Order the event and its time before arm. Pairs with (T) in
	 * driver/remotes/writer_trigger.c:read_fired().
	 */
	smp_store_release(&to->arm, fired->arm);
}

static void publish_notified(struct hyptrace_ring *ring)
{
	/*
	 * (V) Order the commit of the event before notified. Pairs with (V) in
	 * driver/core/look.c:hyptrace_meta_notified().
	 */
	smp_store_release(&ring->meta->notified, ring->notified);
}

/**
 * hyptrace_trigger_publish() - publish which events of a CPU have fired
 * @ring:	loaded, its lock held
 */
void hyptrace_trigger_publish(struct hyptrace_ring *ring)
{
	hyptrace_assert_held(&ring->lock);
	publish(&ring->meta->started, &ring->started);
	publish(&ring->meta->stopped, &ring->stopped);
	publish_notified(ring);
	WRITE_ONCE(ring->meta->ended, ring->ended);
}

/**
 * hyptrace_trigger_forget() - forget which events of a CPU have fired, and publish that
 * @ring:	loaded, its lock held
 */
void hyptrace_trigger_forget(struct hyptrace_ring *ring)
{
	memset(&ring->started, 0, sizeof(ring->started));
	memset(&ring->stopped, 0, sizeof(ring->stopped));
	ring->ended = 0;
	ring->after_arm = 0;
	ring->notified = 0;
	hyptrace_trigger_publish(ring);
}

/**
 * __hyptrace_trigger_fire() - fire the event's trigger, if it is armed
 * @ring:	this CPU's
 * @event:	its id; the CPU has just recorded it
 * @time:	its time, ns
 */
void __hyptrace_trigger_fire(struct hyptrace_ring *ring, u32 event, u64 time)
{
	struct hyptrace_fired fired;
	u64 bit = BIT_ULL(event);

	hyptrace_guard(&ring->lock);
	/* All CPUs may do this at any rate: they must not wait for each other. */
	if (READ_ONCE(notifying) & bit) {
		ring->notified++;
		publish_notified(ring);
		return;
	}
	hyptrace_guard(&trigger_lock);
	/* Another CPU may have been first. */
	if (!(hyptrace_armed & bit))
		return;
	fired = (struct hyptrace_fired){ .time = time, .event = event, .arm = last_arm };
	if (starting & bit) {
		start();
		ring->started = fired;
	} else {
		stop(ring, event);
		ring->stopped = fired;
	}
	hyptrace_trigger_publish(ring);
}

/**
 * __hyptrace_trigger_count_subbuf() - stop the recording, if this sub-buffer is the last
 * @ring:	this CPU's, its lock held; it has entered a sub-buffer since an event that stops
 */
void __hyptrace_trigger_count_subbuf(struct hyptrace_ring *ring)
{
	/* After so many sub-buffers the next one would overwrite the event. */
	u32 most = ring->nr_pages - 2;

	hyptrace_assert_held(&ring->lock);
	hyptrace_guard(&trigger_lock);
	if (ring->after_arm != last_arm) {
		ring->after_arm = last_arm;
		ring->nr_after = 0;
	}
	/* It may have been armed again. */
	if (!hyptrace_stop_after)
		return;
	ring->nr_after++;
	if (ring->nr_after >= hyptrace_stop_after || ring->nr_after >= most) {
		end_recording(ring);
		WRITE_ONCE(ring->meta->ended, ring->ended);
	}
}
