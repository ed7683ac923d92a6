// SPDX-License-Identifier: GPL-2.0-only
/* Arm triggers, and notice which have fired. Called by event_set.c, state.c and netlink/. */
#include <linux/build_bug.h>
#include <linux/cleanup.h>

#include "internal.h"

static_assert((int)HYPTRACE_TRIGGER_ACTION_NONE == (int)HYPTRACE_TRIGGER_NONE);
static_assert((int)HYPTRACE_TRIGGER_ACTION_START == (int)HYPTRACE_TRIGGER_START);
static_assert((int)HYPTRACE_TRIGGER_ACTION_STOP == (int)HYPTRACE_TRIGGER_STOP);
static_assert((int)HYPTRACE_TRIGGER_ACTION_NOTIFY == (int)HYPTRACE_TRIGGER_NOTIFY);
static_assert((int)HYPTRACE_TRIGGER_ACTION_FOLLOW == (int)HYPTRACE_TRIGGER_FOLLOW);

/* How often to look whether a trigger has fired. It reads memory only. */
#define PERIOD_MS	100

static bool has_trigger(const struct hyptrace_remote *remote, enum hyptrace_trigger trigger)
{
	unsigned int id;

	for (id = 0; id < HYPTRACE_MAX_EVENT_ID; id++) {
		if (remote->options[id].trigger == trigger)
			return true;
	}
	return false;
}

static bool has_fired(const struct hyptrace_remote *remote, enum hyptrace_trigger trigger)
{
	return remote->fired[trigger].event;
}

/**
 * hyptrace_triggers_armed - check whether a trigger can start or stop the recording
 * @remote:	control mutex held
 * Return: true while tracing, if a trigger has not fired that can still fire.
 */
bool hyptrace_triggers_armed(const struct hyptrace_remote *remote)
{
	if (remote->state != HYPTRACE_STATE_TRACING || has_fired(remote, HYPTRACE_TRIGGER_STOP))
		return false;
	return has_trigger(remote, HYPTRACE_TRIGGER_STOP) ||
	       (has_trigger(remote, HYPTRACE_TRIGGER_START) &&
		!has_fired(remote, HYPTRACE_TRIGGER_START));
}

/* Once the recording has ended, nothing fires until the triggers are armed again. */
static void watch(struct hyptrace_remote *remote)
{
	if (remote->state != HYPTRACE_STATE_TRACING || remote->ended)
		return;
	if (hyptrace_triggers_armed(remote) || has_fired(remote, HYPTRACE_TRIGGER_STOP) ||
	    has_trigger(remote, HYPTRACE_TRIGGER_NOTIFY))
		queue_delayed_work(hyptrace_wq, &remote->trigger_work,
				   msecs_to_jiffies(PERIOD_MS));
}

/* Return whether the trigger has fired since the last look. */
static bool look_at(struct hyptrace_remote *remote, enum hyptrace_trigger trigger)
{
	const struct hyptrace_remote_desc *desc = remote->desc;
	struct hyptrace_firing *firing = &remote->fired[trigger];
	struct hyptrace_fired fired;

	if (firing->event || desc->ops->get_fired(trigger, &fired, &firing->cpu, desc->priv))
		return false;
	firing->time = fired.time;
	firing->event = hyptrace_event_by_id(remote, fired.event);
	if (!firing->event)
		return false;
	if (trigger == HYPTRACE_TRIGGER_STOP)
		remote->ended = desc->ops->has_ended(desc->priv);
	hyptrace_announce(trigger_fired, remote, trigger);
	return true;
}

/* Return whether the recording has ended some sub-buffers after the event that stops it. */
static bool look_at_end(struct hyptrace_remote *remote)
{
	const struct hyptrace_remote_desc *desc = remote->desc;

	if (!has_fired(remote, HYPTRACE_TRIGGER_STOP) || remote->ended ||
	    !desc->ops->has_ended(desc->priv))
		return false;
	remote->ended = true;
	hyptrace_announce(trigger_fired, remote, HYPTRACE_TRIGGER_STOP);
	return true;
}

/* The events that fire each time are only counted. */
static void look_at_notified(struct hyptrace_remote *remote)
{
	unsigned int cpu;
	u64 sum = 0;

	for_each_possible_cpu(cpu)
		sum += hyptrace_reader_notified(remote->readers[cpu]);
	if (sum == remote->notified)
		return;
	remote->notified = sum;
	hyptrace_announce(trigger_fired, remote, HYPTRACE_TRIGGER_NOTIFY);
}

/* Tracing is on, or has just been stopped. */
static void look(struct hyptrace_remote *remote)
{
	bool started, stopped, ended;

	if (!remote->desc->ops->get_fired)
		return;
	ended = look_at_end(remote);
	started = look_at(remote, HYPTRACE_TRIGGER_START);
	stopped = look_at(remote, HYPTRACE_TRIGGER_STOP);
	/* Both may have fired meanwhile; afterwards nobody looks for the start any more. */
	if (stopped)
		started |= look_at(remote, HYPTRACE_TRIGGER_START);
	if (started || stopped || ended)
		hyptrace_announce_remote(remote);
}

/**
 * hyptrace_triggers_look - notice what has started and stopped the recording
 * @remote:	control mutex held
 *
 * This is done every PERIOD_MS; call this to know it now.
 */
void hyptrace_triggers_look(struct hyptrace_remote *remote)
{
	if (remote->state == HYPTRACE_STATE_TRACING)
		look(remote);
}

/* Work of a remote */
void hyptrace_trigger_work(struct work_struct *work)
{
	struct hyptrace_remote *remote = container_of(to_delayed_work(work),
						      struct hyptrace_remote, trigger_work);

	guard(mutex)(&remote->control);
	if (remote->state != HYPTRACE_STATE_TRACING)
		return;
	look(remote);
	look_at_notified(remote);
	watch(remote);
}

/**
 * hyptrace_triggers_forget - forget what has started and stopped the recording
 * @remote:	control mutex held
 */
void hyptrace_triggers_forget(struct hyptrace_remote *remote)
{
	memset(remote->fired, 0, sizeof(remote->fired));
	remote->ended = false;
}

/**
 * hyptrace_triggers_begin - watch the triggers: the writer has just armed them
 * @remote:	control mutex held
 */
void hyptrace_triggers_begin(struct hyptrace_remote *remote)
{
	hyptrace_triggers_forget(remote);
	watch(remote);
}

/**
 * hyptrace_triggers_end - look for the last time: tracing has just been stopped
 * @remote:	control mutex held
 *
 * A recording that was to end some sub-buffers after its trigger has now ended, too.
 */
void hyptrace_triggers_end(struct hyptrace_remote *remote)
{
	look_at_notified(remote);
	look(remote);
	if (remote->ended || !has_fired(remote, HYPTRACE_TRIGGER_STOP))
		return;
	remote->ended = true;
	hyptrace_announce(trigger_fired, remote, HYPTRACE_TRIGGER_STOP);
}

/* Arm all triggers. What fires until then is announced before that. */
static int arm_again(struct hyptrace_remote *remote, struct netlink_ext_ack *extack)
{
	const struct hyptrace_remote_desc *desc = remote->desc;
	int err, arm_err;

	err = desc->ops->pause(desc->priv);
	look(remote);
	arm_err = desc->ops->arm(desc->priv);
	err = err ?: arm_err;
	if (err) {
		NL_SET_ERR_MSG_FMT(extack, "the remote failed to arm its triggers (error %d)",
				   -err);
		return err;
	}
	hyptrace_triggers_begin(remote);
	hyptrace_announce_remote(remote);
	return 0;
}

static bool any_has_fired(const struct hyptrace_remote *remote)
{
	return has_fired(remote, HYPTRACE_TRIGGER_START) ||
	       has_fired(remote, HYPTRACE_TRIGGER_STOP);
}

/* The writer arms the others at once. */
static bool needs_arm(enum hyptrace_trigger trigger)
{
	return trigger == HYPTRACE_TRIGGER_START || trigger == HYPTRACE_TRIGGER_STOP;
}

static int arm_unless_fired(struct hyptrace_remote *remote, struct netlink_ext_ack *extack)
{
	look(remote);
	return any_has_fired(remote) ? 0 : arm_again(remote, extack);
}

/**
 * hyptrace_triggers_restart - arm the triggers again if one has fired
 * @remote:	control mutex held; tracing
 * @extack:	see state.c
 * Return: 0, or the error of the remote's callback.
 */
int hyptrace_triggers_restart(struct hyptrace_remote *remote, struct netlink_ext_ack *extack)
{
	look(remote);
	return any_has_fired(remote) ? arm_again(remote, extack) : 0;
}

/**
 * hyptrace_triggers_update - arm the triggers if the options of events have changed theirs
 * @remote:	control mutex held; it has the new options
 * @mask:	bit per id of an event whose options may have changed
 * @before:	by event id: its options before
 * @is_release:	events get back their triggers of before a hold: a stopped recording stays so
 * @extack:	see state.c
 *
 * To take triggers away does not start a recording again that one of them has stopped.
 *
 * Return: 0, or the error of the remote's callback.
 */
int hyptrace_triggers_update(struct hyptrace_remote *remote, u64 mask,
			     const struct hyptrace_event_options *before, bool is_release,
			     struct netlink_ext_ack *extack)
{
	bool given = false, start_taken = false;
	unsigned int id;

	for (id = 0; id < HYPTRACE_MAX_EVENT_ID; id++) {
		if (!(mask & BIT_ULL(id)))
			continue;
		if (needs_arm(remote->options[id].trigger))
			given |= !is_release || before[id].trigger != remote->options[id].trigger ||
				 before[id].after != remote->options[id].after;
		else if (before[id].trigger == HYPTRACE_TRIGGER_START)
			start_taken = true;
	}
	if (remote->state != HYPTRACE_STATE_TRACING)
		return 0;
	if (is_release)
		look(remote);
	if (given && !(is_release && has_fired(remote, HYPTRACE_TRIGGER_STOP)))
		return arm_again(remote, extack);
	watch(remote);
	/* Without its trigger, the recording would wait for an event that starts it no more. */
	return start_taken ? arm_unless_fired(remote, extack) : 0;
}

/**
 * hyptrace_triggers_recover - arm the triggers again after a request has failed half way
 * @remote:	control mutex held; it has its old options again
 * @mask:	bit per id of an event whose options the request was to change
 * @tried:	by event id: the options that the request was to give them
 *
 * To set any trigger disarms it. If one has fired, the recording stays as it is.
 */
void hyptrace_triggers_recover(struct hyptrace_remote *remote, u64 mask,
			       const struct hyptrace_event_options *tried)
{
	bool touched = false;
	unsigned int id;

	for (id = 0; id < HYPTRACE_MAX_EVENT_ID; id++)
		if (mask & BIT_ULL(id))
			touched |= needs_arm(remote->options[id].trigger) ||
				   needs_arm(tried[id].trigger);
	if (remote->state == HYPTRACE_STATE_TRACING && touched)
		arm_unless_fired(remote, NULL);
}
