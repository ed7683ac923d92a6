// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse the driver's descriptions of remotes, CPUs, events and hypercalls. For query.c and
 * notify.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "internal.h"

void hyptrace_parse_name(char *to, size_t size, const struct nlattr *attr)
{
	if (attr)
		nla_strlcpy(to, attr, size);
}

/*
 * Get a number. Return the number; 0 for an absent or short attribute, as nla_get_u64() of libnl.
 */
uint32_t hyptrace_parse_u32(const struct nlattr *attr)
{
	return attr && nla_len(attr) >= (int)sizeof(uint32_t) ? nla_get_u32(attr) : 0;
}

/* Copy a string, which the caller frees; an absent attribute gives an empty string. */
static int parse_string(char **to, const struct nlattr *attr)
{
	*to = attr ? strndup(nla_data(attr), nla_len(attr)) : strdup("");
	return *to ? 0 : -ENOMEM;
}

static bool parse_bool(const struct nlattr *attr)
{
	return attr && nla_len(attr) >= 1 && nla_get_u8(attr);
}

static int parse_attrs(const struct nlmsghdr *answer, struct nlattr **tb, int max)
{
	return genlmsg_parse((struct nlmsghdr *)answer, 0, tb, max, NULL) < 0 ? -EBADMSG : 0;
}

/**
 * hyptrace_free_remote - free a remote
 * @remote:	the remote, or NULL
 */
void hyptrace_free_remote(struct hyptrace_remote *remote)
{
	if (!remote)
		return;
	free(remote->description);
	free(remote->clock);
	free(remote);
}

/* Add an event that has fired, unless there are more than this library knows of. */
static int parse_firing(struct nlattr *nest, struct hyptrace_remote *remote)
{
	struct hyptrace_firing *firing = &remote->fired[remote->nr_fired];
	struct nlattr *tb[HYPTRACE_A_FIRED_MAX + 1];

	if (remote->nr_fired == HYPTRACE_FIRED_MAX)
		return 0;
	if (nla_parse_nested(tb, HYPTRACE_A_FIRED_MAX, nest, NULL) < 0)
		return -EBADMSG;
	firing->action = hyptrace_parse_u32(tb[HYPTRACE_A_FIRED_ACTION]);
	firing->cpu = hyptrace_parse_u32(tb[HYPTRACE_A_FIRED_CPU]);
	firing->time = nla_get_u64(tb[HYPTRACE_A_FIRED_TIME]);
	hyptrace_parse_name(firing->event, sizeof(firing->event), tb[HYPTRACE_A_FIRED_EVENT]);
	remote->nr_fired++;
	return 0;
}

static int parse_fired(const struct nlmsghdr *answer, struct hyptrace_remote *remote)
{
	struct genlmsghdr *genl = genlmsg_hdr((struct nlmsghdr *)answer);
	struct nlattr *attr;
	int rem, ret;

	nla_for_each_attr(attr, genlmsg_attrdata(genl, 0), genlmsg_attrlen(genl, 0), rem) {
		if (nla_type(attr) != HYPTRACE_A_REMOTE_FIRED)
			continue;
		ret = parse_firing(attr, remote);
		if (ret)
			return ret;
	}
	return 0;
}

int hyptrace_parse_remote(const struct nlmsghdr *answer, struct hyptrace_remote **remote)
{
	struct nlattr *tb[HYPTRACE_A_REMOTE_MAX + 1];
	struct hyptrace_remote *new;
	int ret;

	*remote = NULL;
	if (parse_attrs(answer, tb, HYPTRACE_A_REMOTE_MAX))
		return -EBADMSG;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;

	hyptrace_parse_name(new->name, sizeof(new->name), tb[HYPTRACE_A_REMOTE_NAME]);
	new->state = hyptrace_parse_u32(tb[HYPTRACE_A_REMOTE_STATE]);
	new->mode = hyptrace_parse_u32(tb[HYPTRACE_A_REMOTE_MODE]);
	new->size_requested = nla_get_u64(tb[HYPTRACE_A_REMOTE_SIZE_REQUESTED]);
	new->size_allocated = nla_get_u64(tb[HYPTRACE_A_REMOTE_SIZE_ALLOCATED]);
	new->subbuf_size = hyptrace_parse_u32(tb[HYPTRACE_A_REMOTE_SUBBUF_SIZE]);
	new->nr_subbufs = hyptrace_parse_u32(tb[HYPTRACE_A_REMOTE_NR_SUBBUFS]);
	new->nr_cpus = hyptrace_parse_u32(tb[HYPTRACE_A_REMOTE_NR_CPUS]);
	new->nr_events = hyptrace_parse_u32(tb[HYPTRACE_A_REMOTE_NR_EVENTS]);
	new->readers = hyptrace_parse_u32(tb[HYPTRACE_A_REMOTE_READERS]);
	new->is_protected = parse_bool(tb[HYPTRACE_A_REMOTE_PROTECTED]);
	new->is_armed = parse_bool(tb[HYPTRACE_A_REMOTE_ARMED]);
	/* older drivers do not say it */
	new->has_ended = !tb[HYPTRACE_A_REMOTE_ENDED] || parse_bool(tb[HYPTRACE_A_REMOTE_ENDED]);
	/* libnl returns 0 for an attribute that is absent or too short */
	new->notified = nla_get_u64(tb[HYPTRACE_A_REMOTE_NOTIFIED]);

	ret = parse_string(&new->description, tb[HYPTRACE_A_REMOTE_DESCRIPTION]);
	if (!ret)
		ret = parse_string(&new->clock, tb[HYPTRACE_A_REMOTE_CLOCK]);
	if (!ret)
		ret = parse_fired(answer, new);
	if (ret)
		hyptrace_free_remote(new);
	else
		*remote = new;
	return ret;
}

/**
 * hyptrace_free_cpu - free a CPU
 * @cpu:	the CPU, or NULL
 */
void hyptrace_free_cpu(struct hyptrace_cpu *cpu)
{
	free(cpu);
}

int hyptrace_parse_cpu(const struct nlmsghdr *answer, struct hyptrace_cpu **cpu)
{
	struct nlattr *tb[HYPTRACE_A_CPU_MAX + 1];
	struct hyptrace_cpu *new;

	*cpu = NULL;
	if (parse_attrs(answer, tb, HYPTRACE_A_CPU_MAX))
		return -EBADMSG;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;

	hyptrace_parse_name(new->remote, sizeof(new->remote), tb[HYPTRACE_A_CPU_REMOTE]);
	new->id = hyptrace_parse_u32(tb[HYPTRACE_A_CPU_ID]);
	new->state = hyptrace_parse_u32(tb[HYPTRACE_A_CPU_STATE]);
	new->online = parse_bool(tb[HYPTRACE_A_CPU_ONLINE]);
	new->nr_subbufs = hyptrace_parse_u32(tb[HYPTRACE_A_CPU_NR_SUBBUFS]);
	new->unreported = nla_get_u64(tb[HYPTRACE_A_CPU_UNREPORTED]);
	new->used_subbufs = hyptrace_parse_u32(tb[HYPTRACE_A_CPU_USED_SUBBUFS]);
	new->written = nla_get_u64(tb[HYPTRACE_A_CPU_WRITTEN]);
	new->read = nla_get_u64(tb[HYPTRACE_A_CPU_READ]);
	new->overrun = nla_get_u64(tb[HYPTRACE_A_CPU_OVERRUN]);
	new->dropped = nla_get_u64(tb[HYPTRACE_A_CPU_DROPPED]);
	new->unread = nla_get_u64(tb[HYPTRACE_A_CPU_UNREAD]);
	new->consumer = hyptrace_parse_u32(tb[HYPTRACE_A_CPU_CONSUMER]);
	new->filtered = nla_get_u64(tb[HYPTRACE_A_CPU_FILTERED]);
	new->notified = nla_get_u64(tb[HYPTRACE_A_CPU_NOTIFIED]);
	new->clears = nla_get_u64(tb[HYPTRACE_A_CPU_CLEARS]);
	*cpu = new;
	return 0;
}

static void free_symbol(struct hyptrace_symbol *symbol)
{
	free(symbol->name);
	free(symbol);
}

static void free_field(struct hyptrace_field *field)
{
	unsigned int i;

	for (i = 0; i < field->nr_symbols; i++)
		free_symbol(field->symbols[i]);
	free(field->symbols);
	free(field->name);
	free(field->type);
	free(field);
}

/**
 * hyptrace_free_event - free an event
 * @event:	the event, or NULL
 */
void hyptrace_free_event(struct hyptrace_event *event)
{
	unsigned int i;

	if (!event)
		return;
	for (i = 0; i < event->nr_fields; i++)
		free_field(event->fields[i]);
	free(event->fields);
	free(event->print_fmt);
	free(event->filter);
	free(event);
}

static int parse_symbol(struct nlattr *nest, struct hyptrace_field *field)
{
	struct nlattr *tb[HYPTRACE_A_SYMBOL_MAX + 1];
	struct hyptrace_symbol **symbols, *symbol;

	if (nla_parse_nested(tb, HYPTRACE_A_SYMBOL_MAX, nest, NULL) < 0)
		return -EBADMSG;

	symbols = reallocarray(field->symbols, field->nr_symbols + 1, sizeof(*symbols));
	if (!symbols)
		return -ENOMEM;
	field->symbols = symbols;
	symbol = calloc(1, sizeof(*symbol));
	if (!symbol)
		return -ENOMEM;
	symbols[field->nr_symbols++] = symbol;
	symbol->value = nla_get_u64(tb[HYPTRACE_A_SYMBOL_VALUE]);
	return parse_string(&symbol->name, tb[HYPTRACE_A_SYMBOL_NAME]);
}

static int parse_field(struct nlattr *nest, struct hyptrace_event *event)
{
	struct nlattr *tb[HYPTRACE_A_FIELD_MAX + 1], *attr;
	struct hyptrace_field **fields, *field;
	int rem, ret;

	if (nla_parse_nested(tb, HYPTRACE_A_FIELD_MAX, nest, NULL) < 0)
		return -EBADMSG;

	fields = reallocarray(event->fields, event->nr_fields + 1, sizeof(*fields));
	if (!fields)
		return -ENOMEM;
	event->fields = fields;
	field = calloc(1, sizeof(*field));
	if (!field)
		return -ENOMEM;
	fields[event->nr_fields++] = field;

	field->offset = hyptrace_parse_u32(tb[HYPTRACE_A_FIELD_OFFSET]);
	field->size = hyptrace_parse_u32(tb[HYPTRACE_A_FIELD_SIZE]);
	field->is_signed = parse_bool(tb[HYPTRACE_A_FIELD_SIGNED]);
	if (parse_string(&field->name, tb[HYPTRACE_A_FIELD_NAME]) ||
	    parse_string(&field->type, tb[HYPTRACE_A_FIELD_TYPE]))
		return -ENOMEM;

	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) != HYPTRACE_A_FIELD_SYMBOL)
			continue;
		ret = parse_symbol(attr, field);
		if (ret)
			return ret;
	}
	return 0;
}

static int parse_fields(const struct nlmsghdr *answer, struct hyptrace_event *event)
{
	struct genlmsghdr *genl = genlmsg_hdr((struct nlmsghdr *)answer);
	struct nlattr *attr;
	int rem, ret;

	nla_for_each_attr(attr, genlmsg_attrdata(genl, 0), genlmsg_attrlen(genl, 0), rem) {
		if (nla_type(attr) != HYPTRACE_A_EVENT_FIELD)
			continue;
		ret = parse_field(attr, event);
		if (ret)
			return ret;
	}
	return 0;
}

static int parse_filter(struct nlattr *nest, struct hyptrace_event *event)
{
	struct nlattr *tb[HYPTRACE_A_FILTER_MAX + 1];

	if (!nest)
		return 0;
	if (nla_parse_nested(tb, HYPTRACE_A_FILTER_MAX, nest, NULL) < 0)
		return -EBADMSG;
	return parse_string(&event->filter, tb[HYPTRACE_A_FILTER_TEXT]);
}

int hyptrace_parse_event(const struct nlmsghdr *answer, struct hyptrace_event **event)
{
	struct nlattr *tb[HYPTRACE_A_EVENT_MAX + 1];
	struct hyptrace_event *new;
	int ret;

	*event = NULL;
	if (parse_attrs(answer, tb, HYPTRACE_A_EVENT_MAX))
		return -EBADMSG;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;

	hyptrace_parse_name(new->remote, sizeof(new->remote), tb[HYPTRACE_A_EVENT_REMOTE]);
	hyptrace_parse_name(new->name, sizeof(new->name), tb[HYPTRACE_A_EVENT_NAME]);
	new->id = hyptrace_parse_u32(tb[HYPTRACE_A_EVENT_ID]);
	new->enabled = parse_bool(tb[HYPTRACE_A_EVENT_ENABLED]);
	new->can_be_counted = tb[HYPTRACE_A_EVENT_COUNTED];
	new->counted = parse_bool(tb[HYPTRACE_A_EVENT_COUNTED]);
	new->count_breaks = hyptrace_parse_u32(tb[HYPTRACE_A_EVENT_COUNT_BREAKS]);
	new->holder = hyptrace_parse_u32(tb[HYPTRACE_A_EVENT_HOLDER]);
	new->size = hyptrace_parse_u32(tb[HYPTRACE_A_EVENT_SIZE]);
	new->trigger = hyptrace_parse_u32(tb[HYPTRACE_A_EVENT_TRIGGER]);
	new->after = hyptrace_parse_u32(tb[HYPTRACE_A_EVENT_AFTER]);
	ret = parse_string(&new->print_fmt, tb[HYPTRACE_A_EVENT_PRINT_FMT]);
	if (!ret)
		ret = parse_filter(tb[HYPTRACE_A_EVENT_FILTER], new);
	if (!ret)
		ret = parse_fields(answer, new);
	if (ret)
		hyptrace_free_event(new);
	else
		*event = new;
	return ret;
}

static void free_arg(struct hyptrace_hypercall_arg *arg)
{
	free(arg->name);
	free(arg->type);
	free(arg);
}

void hyptrace_free_hypercall(struct hyptrace_hypercall *call)
{
	unsigned int i;

	if (!call)
		return;
	for (i = 0; i < call->nr_args; i++)
		free_arg(call->args[i]);
	free(call->args);
	free(call->name);
	free(call);
}

static int parse_arg(struct nlattr *nest, struct hyptrace_hypercall *call)
{
	struct nlattr *tb[HYPTRACE_A_HYPERCALL_ARG_MAX + 1];
	struct hyptrace_hypercall_arg **args, *arg;

	if (nla_parse_nested(tb, HYPTRACE_A_HYPERCALL_ARG_MAX, nest, NULL) < 0)
		return -EBADMSG;

	args = reallocarray(call->args, call->nr_args + 1, sizeof(*args));
	if (!args)
		return -ENOMEM;
	call->args = args;
	arg = calloc(1, sizeof(*arg));
	if (!arg)
		return -ENOMEM;
	args[call->nr_args++] = arg;
	if (parse_string(&arg->name, tb[HYPTRACE_A_HYPERCALL_ARG_NAME]) ||
	    parse_string(&arg->type, tb[HYPTRACE_A_HYPERCALL_ARG_TYPE]))
		return -ENOMEM;
	return 0;
}

static int parse_args(const struct nlmsghdr *answer, struct hyptrace_hypercall *call)
{
	struct genlmsghdr *genl = genlmsg_hdr((struct nlmsghdr *)answer);
	struct nlattr *attr;
	int rem, ret;

	nla_for_each_attr(attr, genlmsg_attrdata(genl, 0), genlmsg_attrlen(genl, 0), rem) {
		if (nla_type(attr) != HYPTRACE_A_HYPERCALL_ARGS)
			continue;
		ret = parse_arg(attr, call);
		if (ret)
			return ret;
	}
	return 0;
}

int hyptrace_parse_hypercall(const struct nlmsghdr *answer, struct hyptrace_hypercall **call)
{
	struct nlattr *tb[HYPTRACE_A_HYPERCALL_MAX + 1];
	struct hyptrace_hypercall *new;
	int ret;

	*call = NULL;
	if (parse_attrs(answer, tb, HYPTRACE_A_HYPERCALL_MAX))
		return -EBADMSG;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;

	hyptrace_parse_name(new->remote, sizeof(new->remote), tb[HYPTRACE_A_HYPERCALL_REMOTE]);
	new->id = hyptrace_parse_u32(tb[HYPTRACE_A_HYPERCALL_ID]);
	new->returns = tb[HYPTRACE_A_HYPERCALL_RETURNS];
	new->known_args = !tb[HYPTRACE_A_HYPERCALL_RAW];
	ret = parse_string(&new->name, tb[HYPTRACE_A_HYPERCALL_NAME]);
	if (!ret)
		ret = parse_args(answer, new);
	if (ret)
		hyptrace_free_hypercall(new);
	else
		*call = new;
	return ret;
}

/**
 * hyptrace_state_name - the name of a remote's state
 * @state:	enum hyptrace_state
 *
 * Return: its name, "unknown" for one that is newer than this library.
 */
const char *hyptrace_state_name(uint32_t state)
{
	switch (state) {
	case HYPTRACE_STATE_UNLOADED:
		return "unloaded";
	case HYPTRACE_STATE_LOADED:
		return "loaded";
	case HYPTRACE_STATE_TRACING:
		return "tracing";
	}
	return "unknown";
}

/**
 * hyptrace_mode_name - the name of a mode
 * @mode:	enum hyptrace_mode
 *
 * Return: its name, "unknown" for one that is newer than this library.
 */
const char *hyptrace_mode_name(uint32_t mode)
{
	switch (mode) {
	case HYPTRACE_MODE_OVERWRITE:
		return "overwrite";
	case HYPTRACE_MODE_DISCARD:
		return "discard";
	}
	return "unknown";
}

/**
 * hyptrace_trigger_name - the name of what a trigger does
 * @trigger:	enum hyptrace_trigger_action
 *
 * Return: its name, "unknown" for one that is newer than this library.
 */
const char *hyptrace_trigger_name(uint32_t trigger)
{
	switch (trigger) {
	case HYPTRACE_TRIGGER_ACTION_NONE:
		return "none";
	case HYPTRACE_TRIGGER_ACTION_START:
		return "start";
	case HYPTRACE_TRIGGER_ACTION_STOP:
		return "stop";
	case HYPTRACE_TRIGGER_ACTION_NOTIFY:
		return "notify";
	}
	return "unknown";
}

/**
 * hyptrace_cpu_state_name - the name of the state of a CPU's ring
 * @state:	enum hyptrace_cpu_state
 *
 * Return: its name, "unknown" for one that is newer than this library.
 */
const char *hyptrace_cpu_state_name(uint32_t state)
{
	switch (state) {
	case HYPTRACE_CPU_STATE_DETACHED:
		return "detached";
	case HYPTRACE_CPU_STATE_ATTACHED:
		return "attached";
	case HYPTRACE_CPU_STATE_PARKED:
		return "parked";
	}
	return "unknown";
}
