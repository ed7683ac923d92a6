// SPDX-License-Identifier: GPL-2.0-only
/*
 * Remotes, CPUs and events, as the driver describes them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "hyptrace.h"

/* A growing array of remotes, CPUs or events */
struct list {
	void		*items;
	unsigned int	nr;
	size_t		item_size;
	int		(*parse)(const struct nlmsghdr *answer, void *item);
	void		(*free)(void *items, unsigned int nr);
};

static void get_name(char *to, size_t size, const struct nlattr *attr)
{
	if (attr)
		nla_strlcpy(to, attr, size);
}

/* Copy a string, which the caller frees; an absent attribute gives an empty string. */
static int get_string(char **to, const struct nlattr *attr)
{
	*to = attr ? strndup(nla_data(attr), nla_len(attr)) : strdup("");
	return *to ? 0 : -ENOMEM;
}

/* Return 0 for an absent or short attribute, as nla_get_u64() of libnl does. */
static uint32_t get_u32(const struct nlattr *attr)
{
	return attr && nla_len(attr) >= (int)sizeof(uint32_t) ? nla_get_u32(attr) : 0;
}

static bool get_bool(const struct nlattr *attr)
{
	return attr && nla_len(attr) >= 1 && nla_get_u8(attr);
}

static int parse_attrs(const struct nlmsghdr *answer, struct nlattr **tb, int max)
{
	return genlmsg_parse((struct nlmsghdr *)answer, 0, tb, max, NULL) < 0 ? -EBADMSG : 0;
}

/**
 * hyptrace_clear_remote - free what a remote points to
 * @remote:	the remote; empty afterwards
 */
void hyptrace_clear_remote(struct hyptrace_remote *remote)
{
	free(remote->description);
	free(remote->clock);
	memset(remote, 0, sizeof(*remote));
}

/**
 * hyptrace_free_remotes - free the array of hyptrace_get_remotes()
 * @remotes:	the array, or NULL
 * @nr:		number of @remotes
 */
void hyptrace_free_remotes(struct hyptrace_remote *remotes, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		hyptrace_clear_remote(&remotes[i]);
	free(remotes);
}

/**
 * hyptrace_parse_remote - parse a message of remote-get
 * @answer:	the message
 * @remote:	filled in, for hyptrace_clear_remote(); empty on failure
 *
 * Return: 0, -ENOMEM or -EBADMSG.
 */
int hyptrace_parse_remote(const struct nlmsghdr *answer, struct hyptrace_remote *remote)
{
	struct nlattr *tb[HYPTRACE_A_REMOTE_MAX + 1];

	memset(remote, 0, sizeof(*remote));
	if (parse_attrs(answer, tb, HYPTRACE_A_REMOTE_MAX))
		return -EBADMSG;

	get_name(remote->name, sizeof(remote->name), tb[HYPTRACE_A_REMOTE_NAME]);
	remote->state = get_u32(tb[HYPTRACE_A_REMOTE_STATE]);
	remote->mode = get_u32(tb[HYPTRACE_A_REMOTE_MODE]);
	remote->size_requested = nla_get_u64(tb[HYPTRACE_A_REMOTE_SIZE_REQUESTED]);
	remote->size_allocated = nla_get_u64(tb[HYPTRACE_A_REMOTE_SIZE_ALLOCATED]);
	remote->subbuf_size = get_u32(tb[HYPTRACE_A_REMOTE_SUBBUF_SIZE]);
	remote->nr_subbufs = get_u32(tb[HYPTRACE_A_REMOTE_NR_SUBBUFS]);
	remote->nr_cpus = get_u32(tb[HYPTRACE_A_REMOTE_NR_CPUS]);
	remote->nr_events = get_u32(tb[HYPTRACE_A_REMOTE_NR_EVENTS]);
	remote->readers = get_u32(tb[HYPTRACE_A_REMOTE_READERS]);
	remote->is_protected = get_bool(tb[HYPTRACE_A_REMOTE_PROTECTED]);

	if (get_string(&remote->description, tb[HYPTRACE_A_REMOTE_DESCRIPTION]) ||
	    get_string(&remote->clock, tb[HYPTRACE_A_REMOTE_CLOCK])) {
		hyptrace_clear_remote(remote);
		return -ENOMEM;
	}
	return 0;
}

/**
 * hyptrace_free_cpus - free the array of hyptrace_get_cpus()
 * @cpus:	the array, or NULL
 * @nr:		number of @cpus
 */
void hyptrace_free_cpus(struct hyptrace_cpu *cpus, unsigned int nr)
{
	(void)nr;
	free(cpus);
}

static int parse_cpu(const struct nlmsghdr *answer, struct hyptrace_cpu *cpu)
{
	struct nlattr *tb[HYPTRACE_A_CPU_MAX + 1];

	memset(cpu, 0, sizeof(*cpu));
	if (parse_attrs(answer, tb, HYPTRACE_A_CPU_MAX))
		return -EBADMSG;

	get_name(cpu->remote, sizeof(cpu->remote), tb[HYPTRACE_A_CPU_REMOTE]);
	cpu->id = get_u32(tb[HYPTRACE_A_CPU_ID]);
	cpu->state = get_u32(tb[HYPTRACE_A_CPU_STATE]);
	cpu->online = get_bool(tb[HYPTRACE_A_CPU_ONLINE]);
	cpu->nr_subbufs = get_u32(tb[HYPTRACE_A_CPU_NR_SUBBUFS]);
	cpu->written = nla_get_u64(tb[HYPTRACE_A_CPU_WRITTEN]);
	cpu->read = nla_get_u64(tb[HYPTRACE_A_CPU_READ]);
	cpu->overrun = nla_get_u64(tb[HYPTRACE_A_CPU_OVERRUN]);
	cpu->dropped = nla_get_u64(tb[HYPTRACE_A_CPU_DROPPED]);
	cpu->unread = nla_get_u64(tb[HYPTRACE_A_CPU_UNREAD]);
	cpu->consumer = get_u32(tb[HYPTRACE_A_CPU_CONSUMER]);
	return 0;
}

/**
 * hyptrace_clear_event - free what an event points to
 * @event:	the event; empty afterwards
 */
void hyptrace_clear_event(struct hyptrace_event *event)
{
	unsigned int i, j;

	for (i = 0; i < event->nr_fields; i++) {
		struct hyptrace_field *field = &event->fields[i];

		for (j = 0; j < field->nr_symbols; j++)
			free(field->symbols[j].name);
		free(field->symbols);
		free(field->name);
		free(field->type);
	}
	free(event->fields);
	free(event->print_fmt);
	memset(event, 0, sizeof(*event));
}

/**
 * hyptrace_free_events - free the array of hyptrace_get_events()
 * @events:	the array, or NULL
 * @nr:		number of @events
 */
void hyptrace_free_events(struct hyptrace_event *events, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		hyptrace_clear_event(&events[i]);
	free(events);
}

static int parse_symbol(struct nlattr *nest, struct hyptrace_field *field)
{
	struct nlattr *tb[HYPTRACE_A_SYMBOL_MAX + 1];
	struct hyptrace_symbol *symbols;

	if (nla_parse_nested(tb, HYPTRACE_A_SYMBOL_MAX, nest, NULL) < 0)
		return -EBADMSG;

	symbols = reallocarray(field->symbols, field->nr_symbols + 1, sizeof(*symbols));
	if (!symbols)
		return -ENOMEM;
	field->symbols = symbols;
	symbols[field->nr_symbols].value = nla_get_u64(tb[HYPTRACE_A_SYMBOL_VALUE]);
	return get_string(&symbols[field->nr_symbols++].name, tb[HYPTRACE_A_SYMBOL_NAME]);
}

static int parse_field(struct nlattr *nest, struct hyptrace_event *event)
{
	struct nlattr *tb[HYPTRACE_A_FIELD_MAX + 1], *attr;
	struct hyptrace_field *fields, *field;
	int rem, ret;

	if (nla_parse_nested(tb, HYPTRACE_A_FIELD_MAX, nest, NULL) < 0)
		return -EBADMSG;

	fields = reallocarray(event->fields, event->nr_fields + 1, sizeof(*fields));
	if (!fields)
		return -ENOMEM;
	event->fields = fields;
	field = &fields[event->nr_fields++];
	memset(field, 0, sizeof(*field));

	field->offset = get_u32(tb[HYPTRACE_A_FIELD_OFFSET]);
	field->size = get_u32(tb[HYPTRACE_A_FIELD_SIZE]);
	field->is_signed = get_bool(tb[HYPTRACE_A_FIELD_SIGNED]);
	if (get_string(&field->name, tb[HYPTRACE_A_FIELD_NAME]) ||
	    get_string(&field->type, tb[HYPTRACE_A_FIELD_TYPE]))
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

/**
 * hyptrace_parse_event - parse a message of event-get
 * @answer:	the message
 * @event:	filled in, for hyptrace_clear_event(); it holds no memory on failure
 *
 * Return: 0, -ENOMEM or -EBADMSG.
 */
int hyptrace_parse_event(const struct nlmsghdr *answer, struct hyptrace_event *event)
{
	struct nlattr *tb[HYPTRACE_A_EVENT_MAX + 1], *attr;
	struct genlmsghdr *genl = genlmsg_hdr((struct nlmsghdr *)answer);
	int rem, ret = 0;

	memset(event, 0, sizeof(*event));
	if (parse_attrs(answer, tb, HYPTRACE_A_EVENT_MAX))
		return -EBADMSG;

	get_name(event->remote, sizeof(event->remote), tb[HYPTRACE_A_EVENT_REMOTE]);
	get_name(event->name, sizeof(event->name), tb[HYPTRACE_A_EVENT_NAME]);
	event->id = get_u32(tb[HYPTRACE_A_EVENT_ID]);
	event->enabled = get_bool(tb[HYPTRACE_A_EVENT_ENABLED]);
	event->size = get_u32(tb[HYPTRACE_A_EVENT_SIZE]);
	if (get_string(&event->print_fmt, tb[HYPTRACE_A_EVENT_PRINT_FMT]))
		return -ENOMEM;

	nla_for_each_attr(attr, genlmsg_attrdata(genl, 0), genlmsg_attrlen(genl, 0), rem) {
		if (nla_type(attr) != HYPTRACE_A_EVENT_FIELD)
			continue;
		ret = parse_field(attr, event);
		if (ret) {
			hyptrace_clear_event(event);
			break;
		}
	}
	return ret;
}

static int add_item(const struct nlmsghdr *answer, void *arg)
{
	struct list *list = arg;
	void *items;

	if (!answer) {
		list->free(list->items, list->nr);
		list->items = NULL;
		list->nr = 0;
		return 0;
	}

	items = reallocarray(list->items, list->nr + 1, list->item_size);
	if (!items)
		return -ENOMEM;
	list->items = items;
	/* counted on failure, too: the item holds no memory, and is freed with the others */
	return list->parse(answer, (char *)items + list->nr++ * list->item_size);
}

static int get_list(struct hyptrace_nl *nl, int cmd, int attr, const char *remote,
		    struct list *list, struct hyptrace_error *err)
{
	struct nl_msg *msg = hyptrace_nl_msg(nl, cmd, NLM_F_DUMP);
	int ret;

	if (!msg || (remote && nla_put_string(msg, attr, remote))) {
		nlmsg_free(msg);
		return hyptrace_error_set(err, ENOMEM, "out of memory");
	}

	ret = hyptrace_nl_send(nl, msg, add_item, list, err);
	if (ret)
		add_item(NULL, list);
	return ret;
}

static int parse_remote_item(const struct nlmsghdr *answer, void *item)
{
	return hyptrace_parse_remote(answer, item);
}

static void free_remote_items(void *items, unsigned int nr)
{
	hyptrace_free_remotes(items, nr);
}

/**
 * hyptrace_get_remotes - get all remotes
 * @nl:		the connection
 * @remotes:	out: an array for hyptrace_free_remotes()
 * @nr:		out: number of @remotes; 0 is not an error
 * @err:	the reason if it fails; may be NULL
 *
 * Return: 0 or a negative errno.
 */
int hyptrace_get_remotes(struct hyptrace_nl *nl, struct hyptrace_remote **remotes,
			 unsigned int *nr, struct hyptrace_error *err)
{
	struct list list = {
		.item_size = sizeof(**remotes),
		.parse = parse_remote_item,
		.free = free_remote_items,
	};
	int ret = get_list(nl, HYPTRACE_CMD_REMOTE_GET, 0, NULL, &list, err);

	*remotes = list.items;
	*nr = list.nr;
	return ret;
}

static int parse_cpu_item(const struct nlmsghdr *answer, void *item)
{
	return parse_cpu(answer, item);
}

static void free_cpu_items(void *items, unsigned int nr)
{
	hyptrace_free_cpus(items, nr);
}

/**
 * hyptrace_get_cpus - get the CPUs of a remote
 * @nl:		the connection
 * @remote:	the remote's name
 * @cpus:	out: an array for hyptrace_free_cpus()
 * @nr:		out: number of @cpus
 * @err:	the reason if it fails; may be NULL
 *
 * Return: 0 or a negative errno.
 */
int hyptrace_get_cpus(struct hyptrace_nl *nl, const char *remote, struct hyptrace_cpu **cpus,
		      unsigned int *nr, struct hyptrace_error *err)
{
	struct list list = {
		.item_size = sizeof(**cpus),
		.parse = parse_cpu_item,
		.free = free_cpu_items,
	};
	int ret = get_list(nl, HYPTRACE_CMD_CPU_GET, HYPTRACE_A_CPU_REMOTE, remote, &list, err);

	*cpus = list.items;
	*nr = list.nr;
	return ret;
}

static int parse_event_item(const struct nlmsghdr *answer, void *item)
{
	return hyptrace_parse_event(answer, item);
}

static void free_event_items(void *items, unsigned int nr)
{
	hyptrace_free_events(items, nr);
}

/**
 * hyptrace_get_events - get the events of a remote
 * @nl:		the connection
 * @remote:	the remote's name
 * @events:	out: an array for hyptrace_free_events()
 * @nr:		out: number of @events
 * @err:	the reason if it fails; may be NULL
 *
 * Return: 0 or a negative errno.
 */
int hyptrace_get_events(struct hyptrace_nl *nl, const char *remote, struct hyptrace_event **events,
			unsigned int *nr, struct hyptrace_error *err)
{
	struct list list = {
		.item_size = sizeof(**events),
		.parse = parse_event_item,
		.free = free_event_items,
	};
	int ret = get_list(nl, HYPTRACE_CMD_EVENT_GET, HYPTRACE_A_EVENT_REMOTE, remote, &list, err);

	*events = list.items;
	*nr = list.nr;
	return ret;
}

/**
 * hyptrace_symbol_name - get the name of a field's value
 * @field:	the field
 * @value:	its value
 *
 * Return: the name, NULL if it has none.
 */
const char *hyptrace_symbol_name(const struct hyptrace_field *field, uint64_t value)
{
	unsigned int i;

	for (i = 0; i < field->nr_symbols; i++)
		if (field->symbols[i].value == value)
			return field->symbols[i].name;
	return NULL;
}
