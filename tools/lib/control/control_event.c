// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control requests that enable and disable events, or that have the writer count them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/msg.h>

#include "message.h"

struct hyptrace_event_options {
	const struct hyptrace_filter	*filter;
	uint32_t			trigger;
	uint32_t			after;
};

/**
 * hyptrace_event_options_new - make options, none of which is set
 *
 * Return: the options, NULL if there is no memory.
 */
struct hyptrace_event_options *hyptrace_event_options_new(void)
{
	return calloc(1, sizeof(struct hyptrace_event_options));
}

/**
 * hyptrace_event_options_free - free options
 * @options:	the options, or NULL
 */
void hyptrace_event_options_free(struct hyptrace_event_options *options)
{
	free(options);
}

/**
 * hyptrace_event_options_filter - set which events the writer records
 * @options:	the options
 * @filter:	the filter, which must remain valid as long as the options; NULL for all events
 */
void hyptrace_event_options_filter(struct hyptrace_event_options *options,
				   const struct hyptrace_filter *filter)
{
	options->filter = filter;
}

/**
 * hyptrace_event_options_trigger - set what happens when the writer has recorded one of the events
 * @options:	the options
 * @trigger:	enum hyptrace_trigger_action: all CPUs start or stop the recording, or the driver
 *		notifies its listeners; then the filter chooses what fires, not what is recorded
 * @after:	with HYPTRACE_TRIGGER_ACTION_STOP: after a CPU has moved on to the next
 *		sub-buffer so many times; else 0
 */
void hyptrace_event_options_trigger(struct hyptrace_event_options *options, uint32_t trigger,
				    uint32_t after)
{
	options->trigger = trigger;
	options->after = after;
}

static int put_term(struct nl_msg *msg, const struct hyptrace_filter_term *term)
{
	struct nlattr *nest = nla_nest_start(msg, HYPTRACE_A_FILTER_TERM);

	if (!nest ||
	    nla_put_string(msg, HYPTRACE_A_TERM_FIELD, term->field) ||
	    nla_put_u32(msg, HYPTRACE_A_TERM_OP, term->op) ||
	    nla_put_u64(msg, HYPTRACE_A_TERM_VALUE, term->value) ||
	    nla_put_u8(msg, HYPTRACE_A_TERM_ON_TRUE, term->on_true) ||
	    nla_put_u8(msg, HYPTRACE_A_TERM_ON_FALSE, term->on_false))
		return -ENOMEM;
	nla_nest_end(msg, nest);
	return 0;
}

static int put_filter(struct nl_msg *msg, const struct hyptrace_filter *filter)
{
	struct nlattr *nest = nla_nest_start(msg, HYPTRACE_A_EVENT_FILTER);
	const struct hyptrace_filter_term *term;
	unsigned int i;

	if (!nest ||
	    nla_put_string(msg, HYPTRACE_A_FILTER_TEXT, hyptrace_filter_text(filter)))
		return -ENOMEM;
	for (i = 0; (term = hyptrace_filter_term(filter, i)); i++)
		if (put_term(msg, term))
			return -ENOMEM;
	nla_nest_end(msg, nest);
	return 0;
}

static int set_events(struct hyptrace *h, int cmd, const char *remote, const char *const *names,
		      unsigned int nr, bool on, const struct hyptrace_event_options *options,
		      bool hold, struct hyptrace_error *err)
{
	const struct hyptrace_filter *filter = options ? options->filter : NULL;
	struct nl_msg *msg;
	unsigned int i;

	if (nr > HYPTRACE_EVENT_LIST_MAX)
		return hyptrace_error_set(err, E2BIG, "at most %u events can be named at once",
					  HYPTRACE_EVENT_LIST_MAX);
	if (filter && strlen(hyptrace_filter_text(filter)) > HYPTRACE_FILTER_TEXT_MAX)
		return hyptrace_error_set(err, E2BIG, "a filter has at most %u characters",
					  HYPTRACE_FILTER_TEXT_MAX);

	msg = hyptrace_nl_msg(h, cmd, 0, HYPTRACE_A_EVENT_REMOTE, remote);
	for (i = 0; i < nr; i++)
		hyptrace_nl_put_string(&msg, HYPTRACE_A_EVENT_NAMES, names[i]);
	if (msg)
		hyptrace_nl_check(&msg, nla_put_u8(msg, HYPTRACE_A_EVENT_ENABLED, on));
	if (msg && filter)
		hyptrace_nl_check(&msg, put_filter(msg, filter));
	if (options && options->trigger)
		hyptrace_nl_put_u32(&msg, HYPTRACE_A_EVENT_TRIGGER, options->trigger);
	if (options && options->after)
		hyptrace_nl_put_u32(&msg, HYPTRACE_A_EVENT_AFTER, options->after);
	if (msg && hold)
		hyptrace_nl_check(&msg, nla_put_flag(msg, HYPTRACE_A_EVENT_HOLD));
	return hyptrace_nl_send(h, msg, NULL, NULL, err);
}

/**
 * hyptrace_enable_events - enable events with options
 * @h:		the connection
 * @remote:	name of their remote
 * @names:	their exact names, each once
 * @nr:		number of @names, at most HYPTRACE_EVENT_LIST_MAX
 * @options:	the options, which replace those that the events had; NULL for none
 * @err:	the reason if it fails, its subject the name at fault; may be NULL
 *
 * Return: 0 or a negative errno; on failure no event has changed.
 */
int hyptrace_enable_events(struct hyptrace *h, const char *remote, const char *const *names,
			   unsigned int nr, const struct hyptrace_event_options *options,
			   struct hyptrace_error *err)
{
	return set_events(h, HYPTRACE_CMD_EVENT_SET, remote, names, nr, true, options, false, err);
}

/**
 * hyptrace_set_event - enable or disable an event
 * @h:		the connection
 * @remote:	name of its remote
 * @name:	its exact name
 * @enable:	true to enable it without options, false to disable it
 * @err:	the reason if it fails; may be NULL
 *
 * Return: 0 or a negative errno: -ENOENT if the remote has no such event.
 */
int hyptrace_set_event(struct hyptrace *h, const char *remote, const char *name, bool enable,
		       struct hyptrace_error *err)
{
	return set_events(h, HYPTRACE_CMD_EVENT_SET, remote, &name, 1, enable, NULL, false, err);
}

/**
 * hyptrace_set_events - enable or disable events
 * @h:		the connection
 * @remote:	name of their remote
 * @names:	their exact names, each once
 * @nr:		number of @names, at most HYPTRACE_EVENT_LIST_MAX
 * @enable:	true to enable them without options, false to disable them
 * @err:	the reason if it fails, its subject the name at fault; may be NULL
 *
 * Return: 0 or a negative errno; on failure no event has changed.
 */
int hyptrace_set_events(struct hyptrace *h, const char *remote, const char *const *names,
			unsigned int nr, bool enable, struct hyptrace_error *err)
{
	return set_events(h, HYPTRACE_CMD_EVENT_SET, remote, names, nr, enable, NULL, false, err);
}

/**
 * hyptrace_hold_events - enable or disable events until they are released
 * @h:		the connection
 * @remote:	name of their remote
 * @names:	their exact names, each once
 * @nr:		number of @names, at most HYPTRACE_EVENT_LIST_MAX
 * @enable:	true to enable them, false to disable them
 * @options:	how to enable them; NULL for none
 * @err:	the reason if it fails, its subject the name at fault; may be NULL
 *
 * When the connection is closed, even because the process was killed, or after
 * hyptrace_release_events(), the events get back the state that they had before. This connection
 * may hold them again in another state. Any of the functions above overrides the hold.
 *
 * Return: 0 or a negative errno: -EBUSY if another connection holds one of them; on failure no
 * event has changed.
 */
int hyptrace_hold_events(struct hyptrace *h, const char *remote, const char *const *names,
			 unsigned int nr, bool enable, const struct hyptrace_event_options *options,
			 struct hyptrace_error *err)
{
	return set_events(h, HYPTRACE_CMD_EVENT_SET, remote, names, nr, enable, options, true, err);
}

/**
 * hyptrace_release_events - release all events that a connection holds
 * @h:		the connection
 * @remote:	name of their remote
 * @err:	the reason if it fails; may be NULL
 *
 * Return: 0, also if it holds none, or a negative errno.
 */
int hyptrace_release_events(struct hyptrace *h, const char *remote, struct hyptrace_error *err)
{
	struct nl_msg *msg = hyptrace_nl_msg(h, HYPTRACE_CMD_EVENT_RELEASE, 0,
					     HYPTRACE_A_EVENT_REMOTE, remote);

	return hyptrace_nl_send(h, msg, NULL, NULL, err);
}

/**
 * hyptrace_count_events - have the writer count events, or cease to
 * @h:		the connection
 * @remote:	name of their remote
 * @names:	their exact names, each once
 * @nr:		number of @names, at most HYPTRACE_EVENT_LIST_MAX
 * @count:	true to count them, false to cease
 * @err:	the reason if it fails, its subject the name at fault; may be NULL
 *
 * Counting needs no rings and no tracing. The counters keep their values.
 *
 * Return: 0 or a negative errno: -EOPNOTSUPP if the remote cannot count one of them; on failure
 * nothing has changed.
 */
int hyptrace_count_events(struct hyptrace *h, const char *remote, const char *const *names,
			  unsigned int nr, bool count, struct hyptrace_error *err)
{
	return set_events(h, HYPTRACE_CMD_COUNT_SET, remote, names, nr, count, NULL, false, err);
}

/**
 * hyptrace_hold_counting - have the writer count events until the connection is closed
 * @h:		the connection
 * @remote:	name of their remote
 * @names:	their exact names, each once
 * @nr:		number of @names, at most HYPTRACE_EVENT_LIST_MAX
 * @hold:	true to hold them, false to release them
 * @err:	the reason if it fails, its subject the name at fault; may be NULL
 *
 * The writer counts an event while any connection holds it, or after hyptrace_count_events(). If
 * the process ends in any way, so does the hold. hyptrace_count_events() with false as @count
 * overrides it.
 *
 * Return: 0 or a negative errno: -EOPNOTSUPP if the remote cannot count one of them; on failure
 * nothing has changed.
 */
int hyptrace_hold_counting(struct hyptrace *h, const char *remote, const char *const *names,
			   unsigned int nr, bool hold, struct hyptrace_error *err)
{
	return set_events(h, HYPTRACE_CMD_COUNT_SET, remote, names, nr, hold, NULL, true, err);
}
