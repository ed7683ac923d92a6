// SPDX-License-Identifier: GPL-2.0-only
/* Control requests: change a remote, its settings and its events. */
#include <netlink/attr.h>

#include "message.h"

/**
 * hyptrace_control - change a remote
 * @h:		the connection
 * @cmd:	a command of linux/hyptrace_netlink.h:
 *		HYPTRACE_CMD_START loads the rings if they are not loaded, and starts tracing;
 *		HYPTRACE_CMD_STOP stops it: the events in the rings can still be read;
 *		HYPTRACE_CMD_LOAD loads the rings;
 *		HYPTRACE_CMD_UNLOAD stops tracing, unloads the rings and frees them;
 *		HYPTRACE_CMD_RESET also disables all events and restores the default settings;
 *		HYPTRACE_CMD_SET changes settings, and resizes rings that are loaded;
 *		HYPTRACE_CMD_CLEAR throws away the events and counters of rings;
 *		HYPTRACE_CMD_COUNT_RESET sets the counters of events to 0: of all CPUs, if no event
 *		is counted, the driver then frees their memory
 * @remote:	the remote's name
 * @cpu:	of CLEAR and COUNT_RESET: the CPU; else, and for all, HYPTRACE_CPU_ALL
 * @settings:	of LOAD and SET: the settings, which are set first; NULL to change nothing
 * @err:	the reason if it fails; may be NULL
 *
 * It is no error if tracing is on or off already.
 *
 * Return: 0 or a negative errno: -EBUSY if rings to load are loaded already, or while a descriptor
 * is attached to rings to unload; -EOPNOTSUPP if the remote cannot count. If SET fails, nothing has
 * changed, unless the remote failed half way.
 */
int hyptrace_control(struct hyptrace *h, int cmd, const char *remote, int cpu,
		     const struct hyptrace_settings *settings, struct hyptrace_error *err)
{
	const uint32_t changes = settings ? settings->changes : 0;
	struct nl_msg *msg = hyptrace_nl_msg(h, cmd, 0, remote);

	if (cpu != HYPTRACE_CPU_ALL)
		hyptrace_nl_put_u32(&msg, HYPTRACE_A_CONTROL_CPU, cpu);
	if (changes & HYPTRACE_SETTING_SIZE)
		hyptrace_nl_put_u64(&msg, HYPTRACE_A_CONTROL_SIZE, settings->size);
	if (changes & HYPTRACE_SETTING_MODE)
		hyptrace_nl_put_u32(&msg, HYPTRACE_A_CONTROL_MODE, settings->mode);
	if (changes & HYPTRACE_SETTING_RATE)
		hyptrace_nl_put_u32(&msg, HYPTRACE_A_CONTROL_RATE, settings->rate);
	return hyptrace_nl_send(h, msg, NULL, NULL, err);
}

/**
 * hyptrace_mark - have the remote write selftest events
 * @h:		the connection
 * @remote:	the remote's name
 * @cpu:	the CPU that writes them, or HYPTRACE_CPU_CURRENT
 * @value:	number that the first event carries; the others count upwards from it
 * @count:	number of events, 1 to HYPTRACE_MARK_COUNT_MAX
 * @err:	the reason if it fails; may be NULL
 * Return: 0 or a negative errno: -EINTR if a signal came after some of the events.
 */
int hyptrace_mark(struct hyptrace *h, const char *remote, int cpu, uint64_t value, uint32_t count,
		  struct hyptrace_error *err)
{
	struct nl_msg *msg = hyptrace_nl_msg(h, HYPTRACE_CMD_MARK, 0, remote);

	if (cpu != HYPTRACE_CPU_CURRENT)
		hyptrace_nl_put_u32(&msg, HYPTRACE_A_CONTROL_CPU, cpu);
	hyptrace_nl_put_u64(&msg, HYPTRACE_A_CONTROL_VALUE, value);
	hyptrace_nl_put_u32(&msg, HYPTRACE_A_CONTROL_COUNT, count);
	return hyptrace_nl_send(h, msg, NULL, NULL, err);
}

static int put_filter(struct nl_msg *msg, const struct hyptrace_filter *filter)
{
	const struct hyptrace_filter_term *term = filter->terms, *const end = term + filter->nr;
	struct nlattr *nest = nla_nest_start(msg, HYPTRACE_A_EVENT_FILTER), *inner;

	if (!nest || nla_put_string(msg, HYPTRACE_A_FILTER_TEXT, filter->text))
		return -ENOMEM;
	for (; term < end; term++) {
		inner = nla_nest_start(msg, HYPTRACE_A_FILTER_TERM);
		if (!inner ||
		    nla_put_string(msg, HYPTRACE_A_TERM_FIELD, term->field) ||
		    nla_put_u32(msg, HYPTRACE_A_TERM_OP, term->op) ||
		    nla_put_u64(msg, HYPTRACE_A_TERM_VALUE, term->value) ||
		    nla_put_u8(msg, HYPTRACE_A_TERM_ON_TRUE, term->on_true) ||
		    nla_put_u8(msg, HYPTRACE_A_TERM_ON_FALSE, term->on_false))
			return -ENOMEM;
		nla_nest_end(msg, inner);
	}
	nla_nest_end(msg, nest);
	return 0;
}

/* @pmu: numbers of what the PMU is to count, @nr_pmu of them */
static int set_events(struct hyptrace *h, int cmd, const char *remote, const char *const *names,
		      unsigned int nr, bool on, const struct hyptrace_event_options *options,
		      const uint32_t *pmu, unsigned int nr_pmu, struct hyptrace_error *err)
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

	msg = hyptrace_nl_msg(h, cmd, 0, remote);
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
	for (i = 0; i < nr_pmu; i++)
		hyptrace_nl_put_u32(&msg, HYPTRACE_A_EVENT_PMU, pmu[i]);
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
	return set_events(h, HYPTRACE_CMD_EVENT_SET, remote, names, nr, enable,
			  options ?: &(struct hyptrace_event_options){}, NULL, 0, err);
}

/**
 * hyptrace_release_events - release all events that a connection holds
 * @h:		the connection
 * @remote:	name of their remote
 * @err:	the reason if it fails; may be NULL
 * Return: 0, also if it holds none, or a negative errno.
 */
int hyptrace_release_events(struct hyptrace *h, const char *remote, struct hyptrace_error *err)
{
	return hyptrace_nl_send(h, hyptrace_nl_msg(h, HYPTRACE_CMD_EVENT_RELEASE, 0, remote), NULL,
				NULL, err);
}

/**
 * hyptrace_count_events - have the writer start or stop counting events
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
	return set_events(h, HYPTRACE_CMD_COUNT_SET, remote, names, nr, count,
			  &(struct hyptrace_event_options){ .flags = flags }, NULL, 0, err);
}

/**
 * hyptrace_hold_counters - have the writer count events, and each CPU's PMU count during them
 * @h:		the connection
 * @remote:	name of their remote
 * @names:	their exact names, each once
 * @nr:		number of @names, at most HYPTRACE_EVENT_LIST_MAX
 * @pmu:	what the PMU counts: numbers that the field counter of the event pmu can have
 * @nr_pmu:	number of @pmu, at most HYPTRACE_PMU_COUNTER_MAX
 * @err:	the reason if it fails; may be NULL
 *
 * As hyptrace_count_events() with HYPTRACE_EVENT_HOLD, which with false also ends this. The PMU
 * counts in EL2, during hyp_enter, host_hcall and guest_exit. What it has counted before is set
 * to 0. Another call has it count something else.
 *
 * Return: 0 or a negative errno: -EBUSY if another connection uses the PMU; on failure the PMU
 * counts nothing, and no event is held that was not held before.
 */
int hyptrace_hold_counters(struct hyptrace *h, const char *remote, const char *const *names,
			   unsigned int nr, const uint32_t *pmu, unsigned int nr_pmu,
			   struct hyptrace_error *err)
{
	return set_events(h, HYPTRACE_CMD_COUNT_SET, remote, names, nr, true,
			  &(struct hyptrace_event_options){ .flags = HYPTRACE_EVENT_HOLD }, pmu,
			  nr_pmu, err);
}
