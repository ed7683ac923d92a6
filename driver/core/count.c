// SPDX-License-Identifier: GPL-2.0-only
/*
 * A remote counts events by the values of a field, without rings: those that count-set has switched
 * on, or that an open socket holds. If count-set switches one off, no socket holds it any more.
 * Called by netlink/, event_hold.c, state.c at a reset, and register.c.
 *
 *	           count-set                  count-set, of the last event
 *	no counters ---------> events counted ----------> counters kept
 *	    ^                        |  ^                     |  |
 *	    |  reset, end of the     |  '---------------------'  |
 *	    '------------------------'         count-set         |
 *	    '  last hold if count-set                            |
 *	    |  without hold has requested nothing                |
 *	    '----------------------------------------------------'
 *	                count-reset of all CPUs, reset
 *
 * With each error, the functions put the reason in @extack, which may be NULL.
 */
#include <linux/bits.h>

#include "internal.h"

/**
 * hyptrace_event_can_be_counted - whether a remote has counters for an event
 * @remote:	control mutex held, and not unregistered
 * @event:	of the remote
 * Return: true if so.
 */
bool hyptrace_event_can_be_counted(const struct hyptrace_remote *remote,
				   const struct hyptrace_event *event)
{
	const struct hyptrace_counting *counting = remote->desc->counting;
	unsigned int i;

	if (remote->desc->missing & BIT_ULL(event->id))
		return false;
	for (i = 0; counting && i < counting->nr_keys; i++) {
		if (counting->keys[i].event == event->id && !counting->keys[i].is_outside)
			return true;
	}
	return false;
}

static int check_events(const struct hyptrace_remote *remote, u64 mask,
			struct netlink_ext_ack *extack)
{
	unsigned int i;

	if (!remote->desc->counting) {
		NL_SET_ERR_MSG_FMT(extack, "remote \"%s\" cannot count events", remote->name);
		return -EOPNOTSUPP;
	}
	for (i = 0; i < remote->nr_events; i++) {
		const struct hyptrace_event *event = remote->events[i];

		if (mask & BIT_ULL(event->id) && !hyptrace_event_can_be_counted(remote, event)) {
			NL_SET_ERR_MSG_FMT(extack, "\"%.48s\" cannot be counted", event->name);
			return -EOPNOTSUPP;
		}
	}
	return 0;
}

static int set_events(struct hyptrace_remote *remote, u64 events, struct netlink_ext_ack *extack)
{
	const struct hyptrace_counting *counting = remote->desc->counting;
	u64 change = events ^ remote->counted;
	unsigned int i;
	int err;

	if (!change)
		return 0;
	err = counting->set_events(events, remote->desc->priv);
	if (err == -ENOMEM) {
		NL_SET_ERR_MSG(extack, "not enough free memory for the counters");
		return err;
	}
	if (err) {
		NL_SET_ERR_MSG_FMT(extack, "the remote failed to change what it counts (error %d)",
				   -err);
		return err;
	}
	remote->has_counters = true;
	remote->counted = events;
	for (i = 0; i < remote->nr_events; i++) {
		if (change & BIT_ULL(remote->events[i]->id))
			hyptrace_announce(event_changed, remote, remote->events[i]);
	}
	return 0;
}

static void end_pmu(struct hyptrace_remote *remote)
{
	struct hyptrace_socket_hold *hold;

	list_for_each_entry(hold, &remote->holds, of_remote)
		hold->has_pmu = false;
	if (remote->has_pmu)
		remote->desc->counting->set_pmu(NULL, remote->desc->priv, NULL);
	remote->has_pmu = false;
}

/**
 * hyptrace_count_end_pmu - give the PMU back if no socket has it that still holds events
 * @remote:	control mutex held
 */
void hyptrace_count_end_pmu(struct hyptrace_remote *remote)
{
	struct hyptrace_socket_hold *hold;

	list_for_each_entry(hold, &remote->holds, of_remote) {
		if (hold->has_pmu && hold->counted)
			return;
	}
	end_pmu(remote);
}

/* There are counters. */
static void free_counters(struct hyptrace_remote *remote)
{
	end_pmu(remote);
	remote->desc->counting->free(remote->desc->priv);
	remote->has_counters = false;
	remote->keeps_counters = false;
}

/* Numbers of these events are incomplete: they were reset, or are not counted any more. */
static void add_break(struct hyptrace_remote *remote, u64 events)
{
	unsigned int id;

	for (id = 0; id < HYPTRACE_MAX_EVENT_ID; id++)
		remote->count_breaks[id] += !!(events & BIT_ULL(id));
}

static u64 held_events(const struct hyptrace_remote *remote)
{
	struct hyptrace_socket_hold *hold;
	u64 events = 0;

	list_for_each_entry(hold, &remote->holds, of_remote)
		events |= hold->counted;
	return events;
}

/* A socket that still holds events may need the counters, though a request has ended them. */
static bool has_holds(const struct hyptrace_remote *remote)
{
	struct hyptrace_socket_hold *hold;

	list_for_each_entry(hold, &remote->holds, of_remote) {
		if (hold->counts)
			return true;
	}
	return false;
}

static void override_holds(const struct hyptrace_remote *remote, u64 off)
{
	struct hyptrace_socket_hold *hold;

	list_for_each_entry(hold, &remote->holds, of_remote)
		hold->counted &= ~off;
}

/**
 * hyptrace_counters_set - start or stop counting events
 * @remote:	control mutex held
 * @mask:	bit per event id
 * @count:	true to count these, false to cease
 * @extack:	see above
 *
 * The counters of all events keep their values.
 *
 * Return: 0; -EOPNOTSUPP if @remote cannot count one of the events, -ENOMEM, or the error of
 * the remote's callback. After an error nothing has changed.
 */
int hyptrace_counters_set(struct hyptrace_remote *remote, u64 mask, bool count,
			  struct netlink_ext_ack *extack)
{
	int err = check_events(remote, mask, extack);
	u64 was_counted = remote->counted;

	if (err)
		return err;
	err = set_events(remote, count ? remote->counted | mask : remote->counted & ~mask, extack);
	if (err)
		return err;
	if (count) {
		remote->count_requested |= mask;
		remote->keeps_counters = true;
	} else {
		remote->count_requested &= ~mask;
		override_holds(remote, mask);
		hyptrace_count_end_pmu(remote);
		add_break(remote, mask & was_counted);
		hyptrace_count_free_unused(remote);
	}
	return 0;
}

/* The events that @hold holds are counted: have the PMU count during them. */
static int begin_pmu(struct hyptrace_remote *remote, struct hyptrace_socket_hold *hold,
		     const struct hyptrace_pmu_request *request, struct netlink_ext_ack *extack)
{
	const struct hyptrace_counting *counting = remote->desc->counting;
	struct hyptrace_socket_hold *other;
	int err;

	list_for_each_entry(other, &remote->holds, of_remote) {
		if (!other->has_pmu || other == hold || !READ_ONCE(other->sk))
			continue;
		NL_SET_ERR_MSG_FMT(extack, "process %d (%s) uses the PMU: end it first",
				   other->pid, other->comm);
		return -EBUSY;
	}
	if (!counting->set_pmu) {
		NL_SET_ERR_MSG_FMT(extack, "remote \"%s\" cannot use the PMU", remote->name);
		return -EOPNOTSUPP;
	}
	end_pmu(remote);
	err = counting->set_pmu(request, remote->desc->priv, extack);
	hold->has_pmu = !err;
	remote->has_pmu = !err;
	return err;
}

/**
 * hyptrace_count_update - count what is requested or held, after a change of either
 * @remote:	control mutex held
 * @extack:	see above
 * Return: 0, -ENOMEM, or the error of the remote's callback: then nothing has changed.
 */
int hyptrace_count_update(struct hyptrace_remote *remote, struct netlink_ext_ack *extack)
{
	u64 events = remote->count_requested | held_events(remote);
	int err = set_events(remote, events, extack);

	if (!err)
		hyptrace_count_end_pmu(remote);
	return err;
}

/**
 * hyptrace_count_free_unused - free the counters if nobody needs them
 * @remote:	control mutex held
 */
void hyptrace_count_free_unused(struct hyptrace_remote *remote)
{
	if (!remote->has_counters || remote->counted || remote->keeps_counters ||
	    has_holds(remote))
		return;
	free_counters(remote);
	hyptrace_announce_remote(remote);
}

/**
 * hyptrace_counters_hold - have a socket hold events, or release them
 * @remote:	control mutex held
 * @sender:	of the request
 * @mask:	bit per event id
 * @on:		true to hold these, too; false to release them, and the PMU with the last one
 * @pmu:	what the PMU is to count, if @on; with no counter, that does not change
 * @extack:	see above
 *
 * The last release gives back the PMU, and frees the counters unless count-set has requested some.
 *
 * Return: 0; -EOPNOTSUPP if @remote cannot count one of the events, -ENOMEM, or the error of
 * the remote's callback. After an error nothing has changed, but the PMU counts nothing any more
 * for this socket if @pmu asks for it.
 */
int hyptrace_counters_hold(struct hyptrace_remote *remote, const struct netlink_skb_parms *sender,
			   u64 mask, bool on, const struct hyptrace_pmu_request *pmu,
			   struct netlink_ext_ack *extack)
{
	int err = check_events(remote, mask, extack);
	struct hyptrace_socket_hold *hold;
	u64 before;

	if (err)
		return err;
	hold = hyptrace_socket_get_hold(remote, sender, extack);
	if (!hold)
		return -ENOMEM;
	before = hold->counted;
	hold->counted = on ? before | mask : before & ~mask;
	err = hyptrace_count_update(remote, extack);
	if (!err && on && pmu->nr)
		err = begin_pmu(remote, hold, pmu, extack);
	if (err)
		hold->counted = before;
	else
		hold->counts = hold->counted;
	hyptrace_socket_put_hold(hold);
	if (err)
		hyptrace_count_update(remote, NULL);
	hyptrace_count_free_unused(remote);
	return err;
}

static int reset_counters(struct hyptrace_remote *remote, int cpu, struct netlink_ext_ack *extack)
{
	unsigned int i;
	int err;

	for_each_possible_cpu(i) {
		if (cpu != HYPTRACE_CPU_ALL && i != cpu)
			continue;
		err = remote->desc->counting->reset(i, remote->desc->priv);
		if (err == -ENXIO)
			NL_SET_ERR_MSG_FMT(extack,
					   "CPU %u is offline: its counters cannot be reset", i);
		else if (err)
			NL_SET_ERR_MSG_FMT(extack,
					   "the remote failed to reset CPU %u (error %d)", i, -err);
		if (err)
			return err;
	}
	return 0;
}

/**
 * hyptrace_counters_reset - set counters to 0, and announce the remote
 * @remote:	control mutex held
 * @cpu:	a possible CPU, or HYPTRACE_CPU_ALL: if no event is counted, this frees the counters
 * @extack:	see above
 * Return: 0; -EOPNOTSUPP if it cannot count, or a callback's error: then some CPUs' may be 0.
 */
int hyptrace_counters_reset(struct hyptrace_remote *remote, int cpu,
			    struct netlink_ext_ack *extack)
{
	int err = check_events(remote, 0, extack);

	if (err || !remote->has_counters)
		return err;
	if (cpu == HYPTRACE_CPU_ALL && !remote->counted)
		free_counters(remote);
	else
		err = reset_counters(remote, cpu, extack);
	/* Nothing is left that was counted on request. */
	if (!err && cpu == HYPTRACE_CPU_ALL && !remote->count_requested)
		remote->keeps_counters = false;
	add_break(remote, ~0ULL);
	/* Even after an error the counters of some CPUs may be 0. */
	hyptrace_announce_remote(remote);
	return err;
}

/**
 * hyptrace_count_stop - cease to count, and free the counters
 * @remote:	control mutex held
 * @extack:	see above
 * Return: 0, or the error of the remote's callback: then it still counts.
 */
int hyptrace_count_stop(struct hyptrace_remote *remote, struct netlink_ext_ack *extack)
{
	int err;

	if (!remote->has_counters)
		return 0;
	err = set_events(remote, 0, extack);
	if (err)
		return err;
	remote->count_requested = 0;
	override_holds(remote, ~0ULL);
	add_break(remote, ~0ULL);
	free_counters(remote);
	return 0;
}

/**
 * hyptrace_count_nr - number of counters of a CPU
 * @remote:	control mutex held, and not unregistered
 * Return: the number, 0 if there are none at present.
 */
unsigned int hyptrace_count_nr(const struct hyptrace_remote *remote)
{
	const struct hyptrace_counting *counting = remote->desc->counting;
	unsigned int i, nr = 0;

	for (i = 0; remote->has_counters && i < counting->nr_keys; i++)
		nr += counting->keys[i].nr;
	return nr;
}

/**
 * hyptrace_count_name - say what a counter counts
 * @remote:	control mutex held, and not unregistered
 * @number:	below hyptrace_count_nr()
 * @name:	out: what it counts
 */
void hyptrace_count_name(const struct hyptrace_remote *remote, unsigned int number,
			 struct hyptrace_counter_name *name)
{
	const struct hyptrace_count_keys *keys = remote->desc->counting->keys;

	for (; number >= keys->nr; keys++)
		number -= keys->nr;
	*name = (struct hyptrace_counter_name) {
		.event		= hyptrace_event_by_id(remote, keys->event),
		.keys		= keys,
		.value		= number,
		.is_others	= keys->has_others && number == keys->nr - 1,
	};
}
