// SPDX-License-Identifier: GPL-2.0-only
/*
 * The netlink attributes of remotes, CPUs, events and hypercalls. Called by query.c and notify.c,
 * with the control mutex of the remote held. Each function returns 0, or -EMSGSIZE if the message
 * lacks room: the caller must cancel it, since it may contain a part of the attributes.
 */
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <net/netlink.h>

#include "netlink.h"

/**
 * hyptrace_fill_fired - put the event that has started or stopped the recording
 * @skb:	the message, with attributes of a remote
 * @remote:	the remote
 * @trigger:	which of the two; if it has not fired, this puts nothing
 * Return: see above.
 */
int hyptrace_fill_fired(struct sk_buff *skb, const struct hyptrace_remote *remote,
			enum hyptrace_trigger trigger)
{
	const struct hyptrace_firing *firing = &remote->fired[trigger];
	struct nlattr *nest;

	if (!firing->event)
		return 0;
	nest = nla_nest_start(skb, HYPTRACE_A_REMOTE_FIRED);
	if (!nest ||
	    nla_put_u32(skb, HYPTRACE_A_FIRED_ACTION, trigger) ||
	    nla_put_string(skb, HYPTRACE_A_FIRED_EVENT, firing->event->name) ||
	    nla_put_u32(skb, HYPTRACE_A_FIRED_CPU, firing->cpu) ||
	    nla_put_u64_64bit(skb, HYPTRACE_A_FIRED_TIME, firing->time, HYPTRACE_A_FIRED_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * hyptrace_fill_remote - put a remote, its state and settings
 * @skb:	the message
 * @remote:	which one
 * @item:	not used
 * Return: see above.
 */
int hyptrace_fill_remote(struct sk_buff *skb, const struct hyptrace_remote *remote,
			 const void *item)
{
	const struct hyptrace_remote_desc *desc = remote->desc;
	u64 subbufs = remote->nr_pages ? remote->nr_pages - HYPTRACE_READER_SUBBUFS : 0;

	if (nla_put_string(skb, HYPTRACE_A_REMOTE_NAME, remote->name) ||
	    nla_put_string(skb, HYPTRACE_A_REMOTE_DESCRIPTION, desc->description ?: "") ||
	    nla_put_u32(skb, HYPTRACE_A_REMOTE_STATE, remote->state) ||
	    nla_put_u32(skb, HYPTRACE_A_REMOTE_MODE, remote->mode) ||
	    nla_put_u64_64bit(skb, HYPTRACE_A_REMOTE_SIZE_REQUESTED, remote->size_requested,
			      HYPTRACE_A_REMOTE_PAD) ||
	    nla_put_u64_64bit(skb, HYPTRACE_A_REMOTE_SIZE_ALLOCATED, subbufs << PAGE_SHIFT,
			      HYPTRACE_A_REMOTE_PAD) ||
	    nla_put_u32(skb, HYPTRACE_A_REMOTE_SUBBUF_SIZE, PAGE_SIZE) ||
	    nla_put_u32(skb, HYPTRACE_A_REMOTE_NR_SUBBUFS, remote->nr_pages) ||
	    nla_put_u32(skb, HYPTRACE_A_REMOTE_NR_CPUS, num_possible_cpus()) ||
	    nla_put_u32(skb, HYPTRACE_A_REMOTE_NR_EVENTS, remote->nr_events) ||
	    nla_put_u32(skb, HYPTRACE_A_REMOTE_READERS, remote->nr_attached) ||
	    nla_put_string(skb, HYPTRACE_A_REMOTE_CLOCK, "boot") ||
	    nla_put_u8(skb, HYPTRACE_A_REMOTE_PROTECTED, desc->protected) ||
	    nla_put_u8(skb, HYPTRACE_A_REMOTE_ARMED, hyptrace_triggers_armed(remote)) ||
	    nla_put_u8(skb, HYPTRACE_A_REMOTE_ENDED, remote->ended) ||
	    hyptrace_fill_fired(skb, remote, HYPTRACE_TRIGGER_START) ||
	    hyptrace_fill_fired(skb, remote, HYPTRACE_TRIGGER_STOP))
		return -EMSGSIZE;
	return 0;
}

/**
 * hyptrace_fill_cpu - put a CPU's ring, its state and counts
 * @skb:	the message
 * @remote:	of the ring
 * @item:	number of a possible CPU
 * Return: see above.
 */
int hyptrace_fill_cpu(struct sk_buff *skb, const struct hyptrace_remote *remote,
		      const void *item)
{
	const unsigned int cpu = *(const unsigned int *)item;
	struct hyptrace_reader *reader = remote->readers[cpu];
	struct hyptrace_counts counts;

	/* The counts are all 0 if the remote is not loaded. */
	hyptrace_reader_counts(reader, &counts);

	if (nla_put_string(skb, HYPTRACE_A_CPU_REMOTE, remote->name) ||
	    nla_put_u32(skb, HYPTRACE_A_CPU_ID, cpu) ||
	    nla_put_u32(skb, HYPTRACE_A_CPU_STATE, counts.state) ||
	    nla_put_u8(skb, HYPTRACE_A_CPU_ONLINE, cpu_online(cpu)) ||
	    nla_put_u32(skb, HYPTRACE_A_CPU_NR_SUBBUFS, counts.nr_subbufs) ||
	    nla_put_u32(skb, HYPTRACE_A_CPU_USED_SUBBUFS, counts.used_subbufs) ||
	    nla_put_u64_64bit(skb, HYPTRACE_A_CPU_WRITTEN, counts.written,
			      HYPTRACE_A_CPU_PAD) ||
	    nla_put_u64_64bit(skb, HYPTRACE_A_CPU_READ, counts.read, HYPTRACE_A_CPU_PAD) ||
	    nla_put_u64_64bit(skb, HYPTRACE_A_CPU_OVERRUN, counts.overrun,
			      HYPTRACE_A_CPU_PAD) ||
	    nla_put_u64_64bit(skb, HYPTRACE_A_CPU_DROPPED, counts.dropped,
			      HYPTRACE_A_CPU_PAD) ||
	    nla_put_u64_64bit(skb, HYPTRACE_A_CPU_UNREAD, counts.unread,
			      HYPTRACE_A_CPU_PAD) ||
	    nla_put_u64_64bit(skb, HYPTRACE_A_CPU_UNREPORTED, counts.unreported,
			      HYPTRACE_A_CPU_PAD) ||
	    nla_put_u64_64bit(skb, HYPTRACE_A_CPU_FILTERED, counts.filtered,
			      HYPTRACE_A_CPU_PAD) ||
	    nla_put_u64_64bit(skb, HYPTRACE_A_CPU_NOTIFIED, counts.notified,
			      HYPTRACE_A_CPU_PAD) ||
	    nla_put_u64_64bit(skb, HYPTRACE_A_CPU_CLEARS, counts.clears, HYPTRACE_A_CPU_PAD))
		return -EMSGSIZE;
	if (reader->consumer && nla_put_u32(skb, HYPTRACE_A_CPU_CONSUMER, reader->consumer))
		return -EMSGSIZE;
	return 0;
}

static int fill_symbol(struct sk_buff *skb, const struct hyptrace_symbol *symbol)
{
	struct nlattr *nest = nla_nest_start(skb, HYPTRACE_A_FIELD_SYMBOL);
	struct nlattr *name;
	char *to;

	if (!nest || nla_put_u64_64bit(skb, HYPTRACE_A_SYMBOL_VALUE, symbol->value,
				       HYPTRACE_A_SYMBOL_PAD))
		return -EMSGSIZE;
	/* The name is a part of the print format, so it has no NUL. */
	name = nla_reserve(skb, HYPTRACE_A_SYMBOL_NAME, symbol->length + 1);
	if (!name)
		return -EMSGSIZE;
	to = nla_data(name);
	memcpy(to, symbol->name, symbol->length);
	to[symbol->length] = '\0';
	nla_nest_end(skb, nest);
	return 0;
}

static int fill_field(struct sk_buff *skb, const struct hyptrace_event *event,
		      const struct hyptrace_field *field)
{
	struct nlattr *nest = nla_nest_start(skb, HYPTRACE_A_EVENT_FIELD);
	struct hyptrace_symbol symbol;
	const char *at;

	if (!nest ||
	    nla_put_string(skb, HYPTRACE_A_FIELD_NAME, field->name) ||
	    nla_put_string(skb, HYPTRACE_A_FIELD_TYPE, field->type) ||
	    nla_put_u32(skb, HYPTRACE_A_FIELD_OFFSET, field->offset) ||
	    nla_put_u32(skb, HYPTRACE_A_FIELD_SIZE, field->size) ||
	    nla_put_u8(skb, HYPTRACE_A_FIELD_SIGNED, field->is_signed))
		return -EMSGSIZE;
	at = hyptrace_symbols_of(event->print_fmt, field->name);
	while (at && (at = hyptrace_symbol_next(at, &symbol))) {
		if (fill_symbol(skb, &symbol))
			return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int fill_filter(struct sk_buff *skb, const struct hyptrace_filter *filter)
{
	struct nlattr *nest;

	if (!filter)
		return 0;
	nest = nla_nest_start(skb, HYPTRACE_A_EVENT_FILTER);
	if (!nest || nla_put_string(skb, HYPTRACE_A_FILTER_TEXT, filter->text))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * hyptrace_fill_event_state - put which event it is, and what can change of it
 * @skb:	the message
 * @remote:	of the event
 * @event:	which one
 * Return: see above.
 */
int hyptrace_fill_event_state(struct sk_buff *skb, const struct hyptrace_remote *remote,
			      const struct hyptrace_event *event)
{
	const struct hyptrace_event_options *options = &remote->options[event->id];
	const u64 bit = BIT_ULL(event->id);

	if (nla_put_string(skb, HYPTRACE_A_EVENT_REMOTE, remote->name) ||
	    nla_put_u32(skb, HYPTRACE_A_EVENT_ID, event->id) ||
	    nla_put_string(skb, HYPTRACE_A_EVENT_NAME, event->name) ||
	    nla_put_u8(skb, HYPTRACE_A_EVENT_ENABLED, !!(remote->enabled & bit)) ||
	    fill_filter(skb, options->filter) ||
	    (options->trigger && nla_put_u32(skb, HYPTRACE_A_EVENT_TRIGGER, options->trigger)) ||
	    (options->after && nla_put_u32(skb, HYPTRACE_A_EVENT_AFTER, options->after)))
		return -EMSGSIZE;
	if (!hyptrace_event_can_be_counted(remote, event))
		return 0;
	return nla_put_u8(skb, HYPTRACE_A_EVENT_COUNTED, !!(remote->counted & bit));
}

static int fill_missing(struct sk_buff *skb, const struct hyptrace_remote *remote,
			const struct hyptrace_event *event)
{
	if (remote->desc->missing & BIT_ULL(event->id))
		return nla_put_flag(skb, HYPTRACE_A_EVENT_MISSING);
	if (remote->desc->incomplete & BIT_ULL(event->id))
		return nla_put_flag(skb, HYPTRACE_A_EVENT_INCOMPLETE);
	return 0;
}

/**
 * hyptrace_fill_event - put an event, its fields and print format
 * @skb:	the message
 * @remote:	of the event
 * @item:	index in its events
 * Return: see above.
 */
int hyptrace_fill_event(struct sk_buff *skb, const struct hyptrace_remote *remote,
			const void *item)
{
	const struct hyptrace_event *event = remote->events[*(const unsigned int *)item];
	pid_t holder = hyptrace_event_holder(remote, event);
	unsigned int i;

	if (hyptrace_fill_event_state(skb, remote, event) ||
	    (holder && nla_put_u32(skb, HYPTRACE_A_EVENT_HOLDER, holder)) ||
	    fill_missing(skb, remote, event) ||
	    nla_put_u32(skb, HYPTRACE_A_EVENT_SIZE, event->size) ||
	    nla_put_string(skb, HYPTRACE_A_EVENT_PRINT_FMT, event->print_fmt))
		return -EMSGSIZE;
	if (hyptrace_event_can_be_counted(remote, event) &&
	    nla_put_u32(skb, HYPTRACE_A_EVENT_COUNT_BREAKS, remote->count_breaks[event->id]))
		return -EMSGSIZE;
	for (i = 0; i < event->nr_fields; i++) {
		if (fill_field(skb, event, &event->fields[i]))
			return -EMSGSIZE;
	}
	return 0;
}

static int fill_arg(struct sk_buff *skb, const struct hyptrace_hypercall_arg *arg)
{
	struct nlattr *nest = nla_nest_start(skb, HYPTRACE_A_HYPERCALL_ARGS);

	if (!nest ||
	    nla_put_string(skb, HYPTRACE_A_HYPERCALL_ARG_NAME, arg->name) ||
	    nla_put_string(skb, HYPTRACE_A_HYPERCALL_ARG_TYPE, arg->type))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * hyptrace_fill_hypercall - put a hypercall and its arguments
 * @skb:	the message
 * @remote:	of the hypercall
 * @item:	index in its hypercalls
 * Return: see above.
 */
int hyptrace_fill_hypercall(struct sk_buff *skb, const struct hyptrace_remote *remote,
			    const void *item)
{
	const unsigned int index = *(const unsigned int *)item;
	const struct hyptrace_hypercall *call = &remote->desc->hypercalls[index];
	unsigned int i;

	if (nla_put_string(skb, HYPTRACE_A_HYPERCALL_REMOTE, remote->name) ||
	    nla_put_u32(skb, HYPTRACE_A_HYPERCALL_ID, call->id) ||
	    nla_put_string(skb, HYPTRACE_A_HYPERCALL_NAME, call->name))
		return -EMSGSIZE;
	if (call->returns && nla_put_flag(skb, HYPTRACE_A_HYPERCALL_RETURNS))
		return -EMSGSIZE;
	if (call->raw && nla_put_flag(skb, HYPTRACE_A_HYPERCALL_RAW))
		return -EMSGSIZE;
	for (i = 0; i < call->nr_args; i++) {
		if (fill_arg(skb, &call->args[i]))
			return -EMSGSIZE;
	}
	return 0;
}
