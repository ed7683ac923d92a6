// SPDX-License-Identifier: GPL-2.0-only
/*
 * The filters that a verb sets at EL2 while it runs. For record, strace and catch.
 *
 * A hold leaves filters as they are. So the events are enabled with a filter of the verb, and at
 * the end they become again what they were.
 */
#include <errno.h>
#include <stdlib.h>

#include "cmd.h"
#include "event_filters.h"

/**
 * event_filters_begin - prepare to set filters
 * @filters:	all 0
 * @h:		the connection; must stay open
 * @remote:	name of the remote; must stay valid
 */
void event_filters_begin(struct event_filters *filters, struct hyptrace *h, const char *remote)
{
	filters->h = h;
	filters->remote = remote;
}

static int enable(const struct event_filters *filters, const struct hyptrace_event *event,
		  const struct hyptrace_filter *filter, uint32_t trigger, uint32_t after,
		  struct hyptrace_error *err)
{
	struct hyptrace_event_options *options = hyptrace_event_options_new();
	const char *name = event->name;
	int ret;

	if (!options)
		die_no_memory();
	hyptrace_event_options_filter(options, filter);
	hyptrace_event_options_trigger(options, trigger, after);
	ret = hyptrace_enable_events(filters->h, filters->remote, &name, 1, options, err);
	hyptrace_event_options_free(options);
	return ret;
}

/* The event has to be restored. */
static void remember(struct event_filters *filters, const struct hyptrace_event *event)
{
	unsigned int i;

	for (i = 0; i < filters->nr; i++)
		if (filters->changed[i] == event)
			return;
	filters->changed = reallocarray(filters->changed, filters->nr + 1,
					sizeof(*filters->changed));
	if (!filters->changed)
		die_no_memory();
	filters->changed[filters->nr++] = event;
}

/**
 * event_filters_set - enable an event with a filter
 * @filters:	the filters, after event_filters_begin()
 * @event:	the event as it is now; must stay valid until event_filters_restore()
 * @filter:	the filter; NULL to record all
 * @err:	the reason if it fails
 *
 * Return: 0 or a negative errno.
 */
int event_filters_set(struct event_filters *filters, const struct hyptrace_event *event,
		      const struct hyptrace_filter *filter, struct hyptrace_error *err)
{
	int ret = enable(filters, event, filter, event->trigger, event->after, err);

	if (!ret)
		remember(filters, event);
	return ret;
}

/**
 * event_filters_notify - have the driver notify of an event that a filter accepts
 * @filters:	the filters, after event_filters_begin()
 * @event:	the event as it is now; must stay valid until event_filters_restore()
 * @filter:	the filter; NULL to accept all
 * @err:	the reason if it fails
 *
 * The event is enabled, and has no other trigger meanwhile.
 *
 * Return: 0 or a negative errno.
 */
int event_filters_notify(struct event_filters *filters, const struct hyptrace_event *event,
			 const struct hyptrace_filter *filter, struct hyptrace_error *err)
{
	int ret = enable(filters, event, filter, HYPTRACE_TRIGGER_ACTION_NOTIFY, 0, err);

	if (!ret)
		remember(filters, event);
	return ret;
}

/**
 * event_filters_disable - disable an event
 * @filters:	the filters, after event_filters_begin()
 * @event:	the event as it was first; must stay valid until event_filters_restore()
 * @err:	the reason if it fails
 *
 * Return: 0 or a negative errno.
 */
int event_filters_disable(struct event_filters *filters, const struct hyptrace_event *event,
			  struct hyptrace_error *err)
{
	int ret = hyptrace_set_event(filters->h, filters->remote, event->name, false, err);

	if (!ret)
		remember(filters, event);
	return ret;
}

/**
 * event_filters_forget - leave all events as they are now
 * @filters:	the filters, all 0 or after event_filters_begin()
 */
void event_filters_forget(struct event_filters *filters)
{
	filters->nr = 0;
}

static int restore(const struct event_filters *filters, const struct hyptrace_event *event,
		   struct hyptrace_error *err)
{
	struct hyptrace_filter *filter = NULL;
	size_t at;
	int ret;

	if (!event->enabled)
		return hyptrace_set_event(filters->h, filters->remote, event->name, false, err);
	if (event->filter) {
		filter = hyptrace_filter_parse(event, event->filter, &at, err);
		if (!filter)
			return -err->errnum;
	}
	ret = enable(filters, event, filter, event->trigger, event->after, err);
	hyptrace_filter_free(filter);
	return ret;
}

/**
 * event_filters_restore - make the events what they were
 * @filters:	the filters, all 0 or after event_filters_begin()
 */
void event_filters_restore(struct event_filters *filters)
{
	struct hyptrace_error err;

	while (filters->nr) {
		const struct hyptrace_event *event = filters->changed[--filters->nr];

		/* if the remote is gone, its events are, too */
		if (restore(filters, event, &err) && err.errnum != ENODEV)
			cmd_note("cannot restore the filter of \"%s\": %s", event->name, err.text);
	}
	free(filters->changed);
	filters->changed = NULL;
}
