// SPDX-License-Identifier: GPL-2.0-only
/* Enable or disable events, with options. Called by state.c, event_hold.c and netlink/. */
#include <linux/bits.h>
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/slab.h>

#include "internal.h"

/* Record also what the filter does not accept: it only chooses what fires the trigger. */
static void record_rejected(struct hyptrace_filter *filter)
{
	struct hyptrace_term *term;

	for (term = filter->terms; term < filter->terms + filter->nr_terms; term++) {
		if (term->on_true == HYPTRACE_FILTER_REJECT)
			term->on_true = HYPTRACE_FILTER_RECORD;
		if (term->on_false == HYPTRACE_FILTER_REJECT)
			term->on_false = HYPTRACE_FILTER_RECORD;
	}
}

static int make_options(const struct hyptrace_event *event,
			const struct hyptrace_event_request *request,
			struct hyptrace_event_options *options, struct netlink_ext_ack *extack)
{
	struct hyptrace_filter *filter;

	options->trigger = request->trigger;
	options->after = request->after;
	if (!request->filter)
		return 0;
	filter = hyptrace_filter_resolve(event, request->filter, extack);
	if (IS_ERR(filter))
		return PTR_ERR(filter);
	if (request->trigger == HYPTRACE_TRIGGER_NOTIFY)
		record_rejected(filter);
	options->filter = filter;
	return 0;
}

/* The writer fires a trigger only if a filter accepts the event. This one accepts any event. */
static const struct hyptrace_term accept_all = {
	.offset = sizeof(u16), .width = 1, .op = HYPTRACE_TERM_GE,
	.on_true = HYPTRACE_FILTER_ACCEPT, .on_false = HYPTRACE_FILTER_ACCEPT,
};

/* The terms that the writer needs for the options; NULL if it needs none */
static const struct hyptrace_term *terms_of(const struct hyptrace_event_options *options,
					    unsigned int *nr)
{
	*nr = 0;
	if (options->filter) {
		*nr = options->filter->nr_terms;
		return options->filter->terms;
	}
	if (!options->trigger)
		return NULL;
	*nr = 1;
	return &accept_all;
}

static int apply_trigger(const struct hyptrace_remote_desc *desc,
			 const struct hyptrace_event *event,
			 const struct hyptrace_event_options *from,
			 const struct hyptrace_event_options *to)
{
	/* To set it again would disarm it. */
	if (to->trigger == from->trigger && to->after == from->after)
		return 0;
	return desc->ops->set_trigger(event->id, to->trigger, to->after, desc->priv);
}

/* Make the writer use the options of an event: @to in place of @from. */
static int apply_options(struct hyptrace_remote *remote, const struct hyptrace_event *event,
			 const struct hyptrace_event_options *from,
			 const struct hyptrace_event_options *to)
{
	const struct hyptrace_remote_desc *desc = remote->desc;
	const struct hyptrace_term *terms;
	unsigned int nr, nr_before;
	int err;

	terms_of(from, &nr_before);
	terms = terms_of(to, &nr);
	if (nr || nr_before) {
		err = desc->ops->set_filter(event->id, terms, nr, desc->priv);
		if (err)
			return err;
	}
	err = apply_trigger(desc, event, from, to);
	if (err && (nr || nr_before)) {
		terms = terms_of(from, &nr);
		desc->ops->set_filter(event->id, terms, nr, desc->priv);
	}
	return err;
}

/* All events of the mask, or none after an error. @from and @to are by event id. */
static int apply_all_options(struct hyptrace_remote *remote, u64 mask,
			     const struct hyptrace_event_options *from,
			     const struct hyptrace_event_options *to,
			     struct netlink_ext_ack *extack)
{
	const struct hyptrace_event *event;
	unsigned int i;
	int err;

	for (i = 0; i < remote->nr_events; i++) {
		event = remote->events[i];
		if (!(mask & BIT_ULL(event->id)))
			continue;
		err = apply_options(remote, event, &from[event->id], &to[event->id]);
		if (err)
			goto err_restore;
	}
	return 0;

err_restore:
	NL_SET_ERR_MSG_FMT(extack, "the remote failed to set up \"%.32s\" (error %d)",
			   event->name, -err);
	while (i--) {
		event = remote->events[i];
		if (mask & BIT_ULL(event->id))
			apply_options(remote, event, &to[event->id], &from[event->id]);
	}
	return err;
}

static void swap_options(struct hyptrace_remote *remote, u64 mask,
			 struct hyptrace_event_options *options)
{
	unsigned int id;

	for (id = 0; id < HYPTRACE_MAX_EVENT_ID; id++) {
		if (mask & BIT_ULL(id))
			swap(remote->options[id], options[id]);
	}
}

static bool has_options(const struct hyptrace_event_options *options)
{
	return options->filter || options->trigger;
}

/* Announce events whose options have changed, but that were enabled and still are. */
static void announce_options(const struct hyptrace_remote *remote, u64 mask,
			     const struct hyptrace_event_options *before)
{
	unsigned int i;

	for (i = 0; i < remote->nr_events; i++) {
		const struct hyptrace_event *event = remote->events[i];

		if (mask & BIT_ULL(event->id) &&
		    (has_options(&before[event->id]) ||
		     has_options(&remote->options[event->id])))
			hyptrace_announce(event_changed, remote, event);
	}
}

/**
 * hyptrace_events_exchange - replace the options of events, and the set of enabled events
 * @remote:	control mutex held
 * @mask:	bit per id of an event that gets other options
 * @enabled:	bit per id of an event that is to be enabled
 * @options:	by event id: the new options; out: those of before
 * @is_release:	see hyptrace_triggers_update()
 * @extack:	names the event that failed; may be NULL
 * Return: 0, or the error of the remote's callback. After an error, nothing has changed.
 */
int hyptrace_events_exchange(struct hyptrace_remote *remote, u64 mask, u64 enabled,
			     struct hyptrace_event_options *options, bool is_release,
			     struct netlink_ext_ack *extack)
{
	u64 before = remote->enabled;
	int err;

	/* The filter is set before enabling and removed after disabling: it applies at any time. */
	err = apply_all_options(remote, mask & enabled, remote->options, options, extack);
	if (err)
		goto err_recover;
	/* An announcement of an event has its new options. */
	swap_options(remote, mask, options);
	err = hyptrace_events_replace(remote, enabled, extack);
	if (err)
		goto err_swap;
	err = apply_all_options(remote, mask & ~enabled, options, remote->options, extack);
	if (err)
		goto err_replace;
	err = hyptrace_triggers_update(remote, mask, options, is_release, extack);
	if (err)
		goto err_restore;
	announce_options(remote, mask & enabled & before, options);
	return 0;

err_restore:
	apply_all_options(remote, mask & ~enabled, remote->options, options, NULL);
err_replace:
	hyptrace_events_replace(remote, before, NULL);
err_swap:
	swap_options(remote, mask, options);
	apply_all_options(remote, mask & enabled, options, remote->options, NULL);
err_recover:
	hyptrace_triggers_recover(remote, mask, options);
	return err;
}

/**
 * hyptrace_events_change - enable or disable events
 * @remote:	control mutex held
 * @request:	which events, and how
 * @options:	all 0; out: by event id, the options of before, for hyptrace_events_free_options()
 * @extack:	names the event that failed; may be NULL
 * Return: as hyptrace_events_set().
 */
int hyptrace_events_change(struct hyptrace_remote *remote,
			   const struct hyptrace_event_request *request,
			   struct hyptrace_event_options *options, struct netlink_ext_ack *extack)
{
	u64 mask = request->events;
	unsigned int i;
	int err;

	if (request->filter && !remote->desc->ops->set_filter) {
		NL_SET_ERR_MSG_FMT(extack, "remote \"%s\" has no filters", remote->name);
		return -EOPNOTSUPP;
	}
	if (request->trigger && !remote->desc->ops->set_trigger) {
		NL_SET_ERR_MSG_FMT(extack, "remote \"%s\" has no triggers", remote->name);
		return -EOPNOTSUPP;
	}
	for (i = 0; i < remote->nr_events; i++) {
		const struct hyptrace_event *event = remote->events[i];

		if (!(mask & BIT_ULL(event->id)))
			continue;
		if (request->trigger == HYPTRACE_TRIGGER_FOLLOW &&
		    event->id != remote->desc->follower) {
			NL_SET_ERR_MSG_FMT(extack, "\"%.32s\" cannot follow other events",
					   event->name);
			return -EINVAL;
		}
		err = make_options(event, request, &options[event->id], extack);
		if (err)
			return err;
	}
	return hyptrace_events_exchange(remote, mask, request->enable ? remote->enabled | mask :
					remote->enabled & ~mask, options, false, extack);
}

static void override_holds(struct hyptrace_remote *remote, u64 events)
{
	struct hyptrace_socket_hold *hold;

	list_for_each_entry(hold, &remote->holds, of_remote)
		hyptrace_event_hold_forget(hold, events);
}

/**
 * hyptrace_events_set_with - as hyptrace_events_set(), without allocating memory if it disables
 * @remote:	control mutex held
 * @request:	which events, and how
 * @options:	as of hyptrace_events_change()
 * @extack:	names the event that failed; may be NULL
 * Return: as hyptrace_events_set().
 */
int hyptrace_events_set_with(struct hyptrace_remote *remote,
			     const struct hyptrace_event_request *request,
			     struct hyptrace_event_options *options,
			     struct netlink_ext_ack *extack)
{
	int err = hyptrace_events_change(remote, request, options, extack);

	if (err)
		return err;
	override_holds(remote, request->events);
	if (request->enable) {
		remote->requested.events |= request->events;
	} else {
		remote->requested.events &= ~request->events;
		hyptrace_hold_override(remote, &(struct hyptrace_wants){
					       .events = request->events });
	}
	return 0;
}

/**
 * hyptrace_events_set - enable or disable events by request
 * @remote:	control mutex held
 * @request:	which events, and how
 * @extack:	names the event that failed; may be NULL
 *
 * No socket holds the events any more, no attachment holds a disabled one; enabled ones stay.
 *
 * Return: 0; -EINVAL, -ENOENT or -EOPNOTSUPP if the request is not valid for one of the events;
 * -ENOMEM; or the error of the remote's callback. After an error, no event has changed.
 */
int hyptrace_events_set(struct hyptrace_remote *remote,
			const struct hyptrace_event_request *request,
			struct netlink_ext_ack *extack)
{
	struct hyptrace_event_options *options;
	int err;

	options = hyptrace_events_alloc_options(extack);
	if (!options)
		return -ENOMEM;
	err = hyptrace_events_set_with(remote, request, options, extack);
	hyptrace_events_free_options(options);
	kfree(options);
	return err;
}
