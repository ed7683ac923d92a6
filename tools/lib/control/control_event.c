// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control requests that enable and disable events, or that have the writer count them.
 */
#include <errno.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/msg.h>

#include "message.h"

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
	unsigned int i;

	if (!nest || nla_put_string(msg, HYPTRACE_A_FILTER_TEXT, filter->text))
		return -ENOMEM;
	for (i = 0; i < filter->nr; i++)
		if (put_term(msg, &filter->terms[i]))
			return -ENOMEM;
	nla_nest_end(msg, nest);
	return 0;
}

static int set_events(struct hyptrace *h, int cmd, const char *remote, const char *const *names,
		      unsigned int nr, bool on, const struct hyptrace_event_options *options,
		      struct hyptrace_error *err)
{
	const struct hyptrace_filter *filter = options->filter;
	struct nl_msg *msg;
	unsigned int i;

	if (nr > HYPTRACE_EVENT_LIST_MAX)
		return hyptrace_error_set(err, E2BIG, "at most %u events can be named at once",
					  HYPTRACE_EVENT_LIST_MAX);
	if (filter && strlen(filter->text) > HYPTRACE_FILTER_TEXT_MAX)
		return hyptrace_error_set(err, E2BIG, "a filter has at most %u characters",
					  HYPTRACE_FILTER_TEXT_MAX);

	msg = hyptrace_nl_msg(h, cmd, 0, HYPTRACE_A_EVENT_REMOTE, remote);
	for (i = 0; i < nr; i++)
		hyptrace_nl_put_string(&msg, HYPTRACE_A_EVENT_NAMES, names[i]);
	if (msg)
		hyptrace_nl_check(&msg, nla_put_u8(msg, HYPTRACE_A_EVENT_ENABLED, on));
	if (msg && filter)
		hyptrace_nl_check(&msg, put_filter(msg, filter));
	if (options->trigger)
		hyptrace_nl_put_u32(&msg, HYPTRACE_A_EVENT_TRIGGER, options->trigger);
	if (options->after)
		hyptrace_nl_put_u32(&msg, HYPTRACE_A_EVENT_AFTER, options->after);
	if (msg && options->flags & HYPTRACE_EVENT_HOLD)
		hyptrace_nl_check(&msg, nla_put_flag(msg, HYPTRACE_A_EVENT_HOLD));
	return hyptrace_nl_send(h, msg, NULL, NULL, err);
}

/**
 * hyptrace_set_events - enable or disable events
 * @h:		the connection
 * @remote:	name of their remote
 * @names:	their exact names, each once
 * @nr:		number of @names, at most HYPTRACE_EVENT_LIST_MAX
 * @enable:	true to enable them, false to disable them
 * @options:	how, in place of the options that the events had; NULL for none
 * @err:	the reason if it fails, its subject the name at fault; may be NULL
 *
 * With HYPTRACE_EVENT_HOLD, the events get back the state that they had before when the connection
 * is closed, even because the process was killed, or after hyptrace_release_events(). This
 * connection may hold them again in another state. Without, it overrides the hold.
 *
 * Return: 0 or a negative errno: -ENOENT if the remote has no such event, -EBUSY if another
 * connection holds one that this one is to hold; on failure no event has changed.
 */
int hyptrace_set_events(struct hyptrace *h, const char *remote, const char *const *names,
			unsigned int nr, bool enable, const struct hyptrace_event_options *options,
			struct hyptrace_error *err)
{
	static const struct hyptrace_event_options none;

	return set_events(h, HYPTRACE_CMD_EVENT_SET, remote, names, nr, enable,
			  options ? options : &none, err);
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
 * @flags:	0, or HYPTRACE_EVENT_HOLD: until the connection is closed, in any way
 * @err:	the reason if it fails, its subject the name at fault; may be NULL
 *
 * Counting needs no rings and no tracing. The counters keep their values. The writer counts an
 * event while any connection holds it, or after a call without HYPTRACE_EVENT_HOLD; one with false
 * as @count overrides all holds.
 *
 * Return: 0 or a negative errno: -EOPNOTSUPP if the remote cannot count one of them; on failure
 * nothing has changed.
 */
int hyptrace_count_events(struct hyptrace *h, const char *remote, const char *const *names,
			  unsigned int nr, bool count, uint32_t flags, struct hyptrace_error *err)
{
	const struct hyptrace_event_options options = { .flags = flags };

	return set_events(h, HYPTRACE_CMD_COUNT_SET, remote, names, nr, count, &options, err);
}
