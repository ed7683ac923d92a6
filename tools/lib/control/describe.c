// SPDX-License-Identifier: GPL-2.0-only
/* Parse the driver's messages by tables of attributes and members, and netlink's extended ack. */
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "message.h"

/* More than any set of attributes has */
#define ATTR_MAX	63

/* A type, whose members follow */
#define NL_TYPE(of, ...) {								\
	sizeof(struct of), (const struct nl_member[]){ __VA_ARGS__ },			\
	COUNT(((const struct nl_member[]){ __VA_ARGS__ })),				\
}

#define NL_MEMBER(kind, attr, of, member) { kind, attr, offsetof(struct of, member), 0, NULL }
/* A member with several elements, whose number is in another one: @fields and @nr_fields */
#define NL_ELEMENTS(kind, attr, of, member, type) \
	{ kind, attr, offsetof(struct of, member), offsetof(struct of, nr_##member), type }

static const struct nl_type firing_type = NL_TYPE(hyptrace_firing,
	NL_MEMBER(NL_U32, HYPTRACE_A_FIRED_ACTION, hyptrace_firing, action),
	NL_MEMBER(NL_U32, HYPTRACE_A_FIRED_CPU, hyptrace_firing, cpu),
	NL_MEMBER(NL_U64, HYPTRACE_A_FIRED_TIME, hyptrace_firing, time),
	NL_MEMBER(NL_EVENT_NAME, HYPTRACE_A_FIRED_EVENT, hyptrace_firing, event)
);

const struct nl_type hyptrace_remote_type = NL_TYPE(hyptrace_remote,
	NL_MEMBER(NL_REMOTE_NAME, HYPTRACE_A_REMOTE_NAME, hyptrace_remote, name),
	NL_MEMBER(NL_STRING, HYPTRACE_A_REMOTE_DESCRIPTION, hyptrace_remote, description),
	NL_MEMBER(NL_STRING, HYPTRACE_A_REMOTE_CLOCK, hyptrace_remote, clock),
	NL_MEMBER(NL_U32, HYPTRACE_A_REMOTE_STATE, hyptrace_remote, state),
	NL_MEMBER(NL_U32, HYPTRACE_A_REMOTE_MODE, hyptrace_remote, mode),
	NL_MEMBER(NL_U64, HYPTRACE_A_REMOTE_SIZE_REQUESTED, hyptrace_remote, size_requested),
	NL_MEMBER(NL_U64, HYPTRACE_A_REMOTE_SIZE_ALLOCATED, hyptrace_remote, size_allocated),
	NL_MEMBER(NL_U32, HYPTRACE_A_REMOTE_SUBBUF_SIZE, hyptrace_remote, subbuf_size),
	NL_MEMBER(NL_U32, HYPTRACE_A_REMOTE_NR_SUBBUFS, hyptrace_remote, nr_subbufs),
	NL_MEMBER(NL_U32, HYPTRACE_A_REMOTE_NR_CPUS, hyptrace_remote, nr_cpus),
	NL_MEMBER(NL_U32, HYPTRACE_A_REMOTE_NR_EVENTS, hyptrace_remote, nr_events),
	NL_MEMBER(NL_U32, HYPTRACE_A_REMOTE_READERS, hyptrace_remote, readers),
	NL_MEMBER(NL_BOOL, HYPTRACE_A_REMOTE_PROTECTED, hyptrace_remote, is_protected),
	NL_MEMBER(NL_BOOL, HYPTRACE_A_REMOTE_ARMED, hyptrace_remote, is_armed),
	/* older drivers do not say it */
	NL_MEMBER(NL_TRUE, HYPTRACE_A_REMOTE_ENDED, hyptrace_remote, has_ended),
	NL_MEMBER(NL_U64, HYPTRACE_A_REMOTE_NOTIFIED, hyptrace_remote, notified),
	NL_ELEMENTS(NL_FIRED, HYPTRACE_A_REMOTE_FIRED, hyptrace_remote, fired, &firing_type)
);

const struct nl_type hyptrace_cpu_type = NL_TYPE(hyptrace_cpu,
	NL_MEMBER(NL_REMOTE_NAME, HYPTRACE_A_CPU_REMOTE, hyptrace_cpu, remote),
	NL_MEMBER(NL_U32, HYPTRACE_A_CPU_ID, hyptrace_cpu, id),
	NL_MEMBER(NL_U32, HYPTRACE_A_CPU_STATE, hyptrace_cpu, state),
	NL_MEMBER(NL_BOOL, HYPTRACE_A_CPU_ONLINE, hyptrace_cpu, online),
	NL_MEMBER(NL_U32, HYPTRACE_A_CPU_NR_SUBBUFS, hyptrace_cpu, nr_subbufs),
	NL_MEMBER(NL_U64, HYPTRACE_A_CPU_UNREPORTED, hyptrace_cpu, unreported),
	NL_MEMBER(NL_U32, HYPTRACE_A_CPU_USED_SUBBUFS, hyptrace_cpu, used_subbufs),
	NL_MEMBER(NL_U64, HYPTRACE_A_CPU_WRITTEN, hyptrace_cpu, written),
	NL_MEMBER(NL_U64, HYPTRACE_A_CPU_READ, hyptrace_cpu, read),
	NL_MEMBER(NL_U64, HYPTRACE_A_CPU_OVERRUN, hyptrace_cpu, overrun),
	NL_MEMBER(NL_U64, HYPTRACE_A_CPU_DROPPED, hyptrace_cpu, dropped),
	NL_MEMBER(NL_U64, HYPTRACE_A_CPU_UNREAD, hyptrace_cpu, unread),
	NL_MEMBER(NL_U32, HYPTRACE_A_CPU_CONSUMER, hyptrace_cpu, consumer),
	NL_MEMBER(NL_U64, HYPTRACE_A_CPU_FILTERED, hyptrace_cpu, filtered),
	NL_MEMBER(NL_U64, HYPTRACE_A_CPU_NOTIFIED, hyptrace_cpu, notified),
	NL_MEMBER(NL_U64, HYPTRACE_A_CPU_CLEARS, hyptrace_cpu, clears)
);

static const struct nl_type symbol_type = NL_TYPE(hyptrace_symbol,
	NL_MEMBER(NL_U64, HYPTRACE_A_SYMBOL_VALUE, hyptrace_symbol, value),
	NL_MEMBER(NL_STRING, HYPTRACE_A_SYMBOL_NAME, hyptrace_symbol, name)
);

static const struct nl_type field_type = NL_TYPE(hyptrace_field,
	NL_MEMBER(NL_U32, HYPTRACE_A_FIELD_OFFSET, hyptrace_field, offset),
	NL_MEMBER(NL_U32, HYPTRACE_A_FIELD_SIZE, hyptrace_field, size),
	NL_MEMBER(NL_BOOL, HYPTRACE_A_FIELD_SIGNED, hyptrace_field, is_signed),
	NL_MEMBER(NL_STRING, HYPTRACE_A_FIELD_NAME, hyptrace_field, name),
	NL_MEMBER(NL_STRING, HYPTRACE_A_FIELD_TYPE, hyptrace_field, type),
	NL_ELEMENTS(NL_LIST, HYPTRACE_A_FIELD_SYMBOL, hyptrace_field, symbols, &symbol_type)
);

/* The members of an event that are in a nest */
static const struct nl_type filter_type = NL_TYPE(hyptrace_event,
	NL_MEMBER(NL_STRING, HYPTRACE_A_FILTER_TEXT, hyptrace_event, filter)
);

const struct nl_type hyptrace_event_type = NL_TYPE(hyptrace_event,
	NL_MEMBER(NL_REMOTE_NAME, HYPTRACE_A_EVENT_REMOTE, hyptrace_event, remote),
	NL_MEMBER(NL_EVENT_NAME, HYPTRACE_A_EVENT_NAME, hyptrace_event, name),
	NL_MEMBER(NL_U32, HYPTRACE_A_EVENT_ID, hyptrace_event, id),
	NL_MEMBER(NL_BOOL, HYPTRACE_A_EVENT_ENABLED, hyptrace_event, enabled),
	NL_MEMBER(NL_PRESENT, HYPTRACE_A_EVENT_COUNTED, hyptrace_event, can_be_counted),
	NL_MEMBER(NL_BOOL, HYPTRACE_A_EVENT_COUNTED, hyptrace_event, counted),
	NL_MEMBER(NL_U32, HYPTRACE_A_EVENT_COUNT_BREAKS, hyptrace_event, count_breaks),
	NL_MEMBER(NL_U32, HYPTRACE_A_EVENT_HOLDER, hyptrace_event, holder),
	NL_MEMBER(NL_PRESENT, HYPTRACE_A_EVENT_MISSING, hyptrace_event, missing),
	NL_MEMBER(NL_PRESENT, HYPTRACE_A_EVENT_INCOMPLETE, hyptrace_event, incomplete),
	NL_MEMBER(NL_U32, HYPTRACE_A_EVENT_SIZE, hyptrace_event, size),
	NL_MEMBER(NL_U32, HYPTRACE_A_EVENT_TRIGGER, hyptrace_event, trigger),
	NL_MEMBER(NL_U32, HYPTRACE_A_EVENT_AFTER, hyptrace_event, after),
	NL_MEMBER(NL_STRING, HYPTRACE_A_EVENT_PRINT_FMT, hyptrace_event, print_fmt),
	{ .kind = NL_NEST, .attr = HYPTRACE_A_EVENT_FILTER, .type = &filter_type },
	NL_ELEMENTS(NL_LIST, HYPTRACE_A_EVENT_FIELD, hyptrace_event, fields, &field_type)
);

static const struct nl_type arg_type = NL_TYPE(hyptrace_hypercall_arg,
	NL_MEMBER(NL_STRING, HYPTRACE_A_HYPERCALL_ARG_NAME, hyptrace_hypercall_arg, name),
	NL_MEMBER(NL_STRING, HYPTRACE_A_HYPERCALL_ARG_TYPE, hyptrace_hypercall_arg, type)
);

const struct nl_type hyptrace_hypercall_type = NL_TYPE(hyptrace_hypercall,
	NL_MEMBER(NL_REMOTE_NAME, HYPTRACE_A_HYPERCALL_REMOTE, hyptrace_hypercall, remote),
	NL_MEMBER(NL_U32, HYPTRACE_A_HYPERCALL_ID, hyptrace_hypercall, id),
	NL_MEMBER(NL_PRESENT, HYPTRACE_A_HYPERCALL_RETURNS, hyptrace_hypercall, returns),
	NL_MEMBER(NL_ABSENT, HYPTRACE_A_HYPERCALL_RAW, hyptrace_hypercall, known_args),
	NL_MEMBER(NL_STRING, HYPTRACE_A_HYPERCALL_NAME, hyptrace_hypercall, name),
	NL_ELEMENTS(NL_LIST, HYPTRACE_A_HYPERCALL_ARGS, hyptrace_hypercall, args, &arg_type)
);

const struct nl_type hyptrace_counter_type = NL_TYPE(hyptrace_event_counter,
	NL_MEMBER(NL_REMOTE_NAME, HYPTRACE_A_COUNTER_REMOTE, hyptrace_event_counter, remote),
	NL_MEMBER(NL_EVENT_NAME, HYPTRACE_A_COUNTER_EVENT, hyptrace_event_counter, event),
	NL_MEMBER(NL_U32, HYPTRACE_A_COUNTER_CPU, hyptrace_event_counter, cpu),
	NL_MEMBER(NL_U64, HYPTRACE_A_COUNTER_VALUE, hyptrace_event_counter, value),
	NL_MEMBER(NL_ABSENT, HYPTRACE_A_COUNTER_VALUE, hyptrace_event_counter, is_others),
	NL_MEMBER(NL_U64, HYPTRACE_A_COUNTER_COUNT, hyptrace_event_counter, count),
	NL_MEMBER(NL_STRING, HYPTRACE_A_COUNTER_FIELD, hyptrace_event_counter, field),
	NL_MEMBER(NL_PRESENT, HYPTRACE_A_COUNTER_TOTAL, hyptrace_event_counter, has_time),
	NL_MEMBER(NL_U64, HYPTRACE_A_COUNTER_TOTAL, hyptrace_event_counter, total),
	NL_MEMBER(NL_U64, HYPTRACE_A_COUNTER_LONGEST, hyptrace_event_counter, longest),
	NL_MEMBER(NL_U64, HYPTRACE_A_COUNTER_FREQUENCY, hyptrace_event_counter, frequency),
	NL_MEMBER(NL_U64, HYPTRACE_A_COUNTER_NOW, hyptrace_event_counter, now),
	NL_ELEMENTS(NL_BUCKETS, HYPTRACE_A_COUNTER_BUCKETS, hyptrace_event_counter, buckets, NULL),
	NL_MEMBER(NL_U64, HYPTRACE_A_COUNTER_MEASURED, hyptrace_event_counter, measured),
	NL_MEMBER(NL_PMU, HYPTRACE_A_COUNTER_PMU, hyptrace_event_counter, pmu),
	/* made of the value */
	NL_MEMBER(NL_OWN, 0, hyptrace_event_counter, name)
);

const struct nl_type hyptrace_reader_type = NL_TYPE(hyptrace_reader_notification,
	NL_MEMBER(NL_REMOTE_NAME, HYPTRACE_A_READER_REMOTE, hyptrace_reader_notification, remote),
	NL_MEMBER(NL_CPU, HYPTRACE_A_READER_CPU, hyptrace_reader_notification, cpu),
	NL_MEMBER(NL_U32, HYPTRACE_A_READER_CHANGE, hyptrace_reader_notification, change),
	NL_MEMBER(NL_U32, HYPTRACE_A_READER_PID, hyptrace_reader_notification, pid)
);

const struct nl_type hyptrace_loss_type = NL_TYPE(hyptrace_loss_notification,
	NL_MEMBER(NL_REMOTE_NAME, HYPTRACE_A_LOSS_REMOTE, hyptrace_loss_notification, remote),
	NL_MEMBER(NL_U32, HYPTRACE_A_LOSS_CPU, hyptrace_loss_notification, cpu),
	NL_MEMBER(NL_U64, HYPTRACE_A_LOSS_COUNT, hyptrace_loss_notification, count),
	NL_MEMBER(NL_U64, HYPTRACE_A_LOSS_TOTAL, hyptrace_loss_notification, total)
);

/* A number that is absent or too short is 0, as nla_get_u64() of libnl has it. */
static uint32_t parse_u32(const struct nlattr *attr)
{
	return attr && nla_len(attr) >= (int)sizeof(uint32_t) ? nla_get_u32(attr) : 0;
}

static int parse_attrs(const struct nl_type *type, const struct nlattr *first, int len, void *to);

/* Add an element, unless an array has no room: there are more than this library knows of. */
static int add_element(const struct nl_member *member, const struct nlattr *nest, void *to)
{
	unsigned int *nr = (void *)((char *)to + member->nr);
	void *at = (char *)to + member->offset, *element;

	if (member->kind == NL_LIST)
		element = hyptrace_list_add(at, nr, member->type->size);
	else if (*nr < HYPTRACE_FIRED_MAX)
		element = (char *)at + (*nr)++ * member->type->size;
	else
		return 0;
	if (!element)
		return -ENOMEM;
	return parse_attrs(member->type, nla_data(nest), nla_len(nest), element);
}

static int parse_buckets(const struct nl_member *member, const struct nlattr *attr, void *to)
{
	uint64_t **buckets = (void *)((char *)to + member->offset);
	unsigned int *nr = (void *)((char *)to + member->nr);

	if (!attr)
		return 0;
	*nr = nla_len(attr) / sizeof(**buckets);
	/* shifts by the number of a bucket must be possible */
	if (*nr > 64)
		return -EBADMSG;
	*buckets = calloc(*nr + 1, sizeof(**buckets));
	if (!*buckets)
		return -ENOMEM;
	memcpy(*buckets, nla_data(attr), *nr * sizeof(**buckets));
	return 0;
}

static int parse_member(const struct nl_member *member, const struct nlattr *attr, void *to)
{
	void *at = (char *)to + member->offset;

	switch (member->kind) {
	case NL_U32:
		*(uint32_t *)at = parse_u32(attr);
		return 0;
	case NL_U64:
		*(uint64_t *)at = nla_get_u64(attr);
		return 0;
	case NL_CPU:
		*(int *)at = attr ? (int)parse_u32(attr) : HYPTRACE_CPU_ALL;
		return 0;
	case NL_BOOL:
	case NL_TRUE:
		*(bool *)at = attr ? nla_len(attr) && nla_get_u8(attr) : member->kind == NL_TRUE;
		return 0;
	case NL_PRESENT:
	case NL_ABSENT:
		*(bool *)at = !attr == (member->kind == NL_ABSENT);
		return 0;
	case NL_REMOTE_NAME:
	case NL_EVENT_NAME:
		if (attr)
			nla_strlcpy(at, attr, member->kind == NL_EVENT_NAME ?
				    HYPTRACE_EVENT_NAME_MAX + 1 : HYPTRACE_REMOTE_NAME_MAX + 1);
		return 0;
	case NL_STRING:
		*(char **)at = attr ? strndup(nla_data(attr), nla_len(attr)) : strdup("");
		return *(char **)at ? 0 : -ENOMEM;
	case NL_BUCKETS:
		return parse_buckets(member, attr, to);
	case NL_PMU:
		nla_memcpy(at, attr, HYPTRACE_PMU_COUNTER_MAX * sizeof(uint64_t));
		return 0;
	case NL_NEST:
		return attr ? parse_attrs(member->type, nla_data(attr), nla_len(attr), to) : 0;
	}
	return 0;
}

static int parse_attrs(const struct nl_type *type, const struct nlattr *first, int len, void *to)
{
	struct nlattr *tb[ATTR_MAX + 1], *attr;
	unsigned int i;
	int rem, ret = 0;

	if (nla_parse(tb, ATTR_MAX, (struct nlattr *)first, len, NULL) < 0)
		return -EBADMSG;
	for (i = 0; i < type->nr && !ret; i++) {
		const struct nl_member *member = &type->members[i];

		if (member->kind != NL_LIST && member->kind != NL_FIRED) {
			ret = parse_member(member, tb[member->attr], to);
			continue;
		}
		nla_for_each_attr(attr, (struct nlattr *)first, len, rem)
			if (!ret && nla_type(attr) == member->attr)
				ret = add_element(member, attr, to);
	}
	return ret;
}

static void clear(const struct nl_type *type, void *item)
{
	unsigned int i, j;

	for (i = 0; i < type->nr; i++) {
		const struct nl_member *member = &type->members[i];
		void **at = (void *)((char *)item + member->offset), **list;

		if (member->kind == NL_NEST)
			clear(member->type, item);
		list = member->kind == NL_LIST ? *at : NULL;
		for (j = 0; list && j < *(unsigned int *)((char *)item + member->nr); j++)
			hyptrace_nl_free(member->type, list[j]);
		if (member->kind == NL_LIST || member->kind == NL_STRING ||
		    member->kind == NL_OWN || member->kind == NL_BUCKETS)
			free(*at);
	}
}

void hyptrace_nl_free(const struct nl_type *type, void *item)
{
	if (item)
		clear(type, item);
	free(item);
}

/* Fill in a struct, all of which is 0. The caller frees it, also after a failure. */
int hyptrace_nl_parse(const struct nl_type *type, const struct nlmsghdr *answer, void *item)
{
	struct genlmsghdr *genl;

	if (!genlmsg_valid_hdr((struct nlmsghdr *)answer, 0))
		return -EBADMSG;
	genl = genlmsg_hdr((struct nlmsghdr *)answer);
	return parse_attrs(type, genlmsg_attrdata(genl, 0), genlmsg_attrlen(genl, 0), item);
}

/* Return the offset of an answer's attributes, 0 if it has none: libnl does not find them. */
static size_t attrs_offset(const struct nlmsghdr *answer, size_t len)
{
	const struct nlmsgerr *e = NLMSG_DATA(answer);

	if (!(answer->nlmsg_flags & NLM_F_ACK_TLVS))
		return 0;

	/* at the end of a dump the attributes follow the error code */
	if (answer->nlmsg_type == NLMSG_DONE)
		return NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(int));

	if (answer->nlmsg_flags & NLM_F_CAPPED)
		return NLMSG_HDRLEN + sizeof(*e);

	/* the whole request, with its header, follows the error */
	if (e->msg.nlmsg_len < NLMSG_HDRLEN || e->msg.nlmsg_len > len)
		return 0;
	return NLMSG_HDRLEN + sizeof(e->error) + NLMSG_ALIGN(e->msg.nlmsg_len);
}

int hyptrace_extack_parse(const struct nlmsghdr *answer, size_t len, struct hyptrace_extack *ext)
{
	struct nlattr *attr;
	size_t off, need;
	int error, rem;

	memset(ext, 0, sizeof(*ext));

	if (len < NLMSG_HDRLEN || answer->nlmsg_len < NLMSG_HDRLEN || answer->nlmsg_len > len)
		return -EBADMSG;
	len = answer->nlmsg_len;

	if (answer->nlmsg_type == NLMSG_ERROR)
		need = NLMSG_HDRLEN + sizeof(struct nlmsgerr);
	else if (answer->nlmsg_type == NLMSG_DONE)
		need = NLMSG_HDRLEN + sizeof(int);
	else
		return -EBADMSG;
	/* the end of a dump without an error code means success */
	if (len < need)
		return answer->nlmsg_type == NLMSG_DONE ? 0 : -EBADMSG;

	memcpy(&error, NLMSG_DATA(answer), sizeof(error));
	/* the lower limit also avoids negating INT_MIN */
	if (error < 0)
		ext->errnum = error >= -4095 ? -error : EBADMSG;

	off = attrs_offset(answer, len);
	if (!off)
		return 0;
	nla_for_each_attr(attr, (struct nlattr *)((char *)answer + off), (int)(len - off), rem) {
		if (nla_type(attr) == NLMSGERR_ATTR_MSG) {
			ext->msg = nla_data(attr);
			ext->msg_len = strnlen(nla_data(attr), nla_len(attr));
		} else if (nla_type(attr) == NLMSGERR_ATTR_OFFS) {
			ext->offset = parse_u32(attr);
		}
	}
	return 0;
}

/* Does the attribute hold one printable name and its NUL? */
static bool printable(const char *text, size_t len)
{
	size_t i;

	if (len < 2 || text[len - 1] != '\0')
		return false;
	for (i = 0; i < len - 1; i++)
		if ((unsigned char)text[i] <= ' ' || (unsigned char)text[i] >= 0x7f)
			return false;
	return true;
}

/* Return the attribute of a request at an offset, or NULL. It is not inside another attribute. */
static const struct nlattr *attr_at(const struct nlmsghdr *request, uint32_t offset)
{
	const struct nlattr *attr;
	int rem;

	nla_for_each_attr(attr, (struct nlattr *)((char *)request + NLMSG_HDRLEN + GENL_HDRLEN),
			  (int)(request->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN), rem)
		if ((const char *)attr - (const char *)request == offset)
			return attr;
	return NULL;
}

/* Each string attribute of the family, outside of nests, holds a name: of a remote or an event. */
static bool attr_is_string(int cmd, unsigned int type)
{
	return type == HYPTRACE_A_CONTROL_REMOTE ||
	       ((cmd == HYPTRACE_CMD_EVENT_GET || cmd == HYPTRACE_CMD_EVENT_SET) &&
		(type == HYPTRACE_A_EVENT_NAME || type == HYPTRACE_A_EVENT_NAMES));
}

void hyptrace_extack_error(const struct hyptrace_extack *ext, const struct nlmsghdr *request,
			   struct hyptrace_error *err)
{
	const struct genlmsghdr *genl = NLMSG_DATA(request);
	const struct nlattr *attr;
	size_t len;

	if (ext->msg_len)
		hyptrace_error_set(err, ext->errnum, "%.*s", (int)ext->msg_len, ext->msg);
	else
		hyptrace_error_set(err, ext->errnum, ext->errnum == EPERM || ext->errnum == EACCES ?
				   "permission denied: CAP_PERFMON or CAP_SYS_ADMIN is needed" :
				   "%m");

	attr = err ? attr_at(request, ext->offset) : NULL;
	if (!attr)
		return;

	len = nla_len(attr);
	if (attr_is_string(genl->cmd, nla_type(attr)) && printable(nla_data(attr), len) &&
	    len <= sizeof(err->subject))
		memcpy(err->subject, nla_data(attr), len);
}

/**
 * hyptrace_free_remote - free a remote
 * @remote:	the remote, or NULL
 */
void hyptrace_free_remote(struct hyptrace_remote *remote)
{
	hyptrace_nl_free(&hyptrace_remote_type, remote);
}

/**
 * hyptrace_free_cpu - free a CPU
 * @cpu:	the CPU, or NULL
 */
void hyptrace_free_cpu(struct hyptrace_cpu *cpu)
{
	hyptrace_nl_free(&hyptrace_cpu_type, cpu);
}

/**
 * hyptrace_free_event - free an event
 * @event:	the event, or NULL
 */
void hyptrace_free_event(struct hyptrace_event *event)
{
	hyptrace_nl_free(&hyptrace_event_type, event);
}

/**
 * hyptrace_value_name - get the name of a value that the driver uses
 * @of:		what the value is
 * @value:	the value
 *
 * hyptrace_state_name(), hyptrace_mode_name(), hyptrace_trigger_name(),
 * hyptrace_cpu_state_name() and hyptrace_ownership_name() are short for it.
 *
 * Return: its name, such as "tracing"; "unknown" for one that is newer than this library.
 */
const char *hyptrace_value_name(enum hyptrace_value of, uint32_t value)
{
	static const char *const names[][8] = {
		[HYPTRACE_VALUE_STATE] = {
			[HYPTRACE_STATE_UNLOADED]		= "unloaded",
			[HYPTRACE_STATE_LOADED]			= "loaded",
			[HYPTRACE_STATE_TRACING]		= "tracing",
		},
		[HYPTRACE_VALUE_MODE] = {
			[HYPTRACE_MODE_OVERWRITE]		= "overwrite",
			[HYPTRACE_MODE_DISCARD]			= "discard",
		},
		[HYPTRACE_VALUE_TRIGGER] = {
			[HYPTRACE_TRIGGER_ACTION_NONE]		= "none",
			[HYPTRACE_TRIGGER_ACTION_START]		= "start",
			[HYPTRACE_TRIGGER_ACTION_STOP]		= "stop",
			[HYPTRACE_TRIGGER_ACTION_NOTIFY]	= "notify",
			[HYPTRACE_TRIGGER_ACTION_FOLLOW]	= "follow",
		},
		[HYPTRACE_VALUE_CPU_STATE] = {
			[HYPTRACE_CPU_STATE_DETACHED]		= "detached",
			[HYPTRACE_CPU_STATE_ATTACHED]		= "attached",
			[HYPTRACE_CPU_STATE_PARKED]		= "parked",
		},
		[HYPTRACE_VALUE_OWNERSHIP] = {
			[HYPTRACE_OWNERSHIP_NO_MEMORY]		= "no-memory",
			[HYPTRACE_OWNERSHIP_HOST]		= "host",
			[HYPTRACE_OWNERSHIP_HOST_SHARED_HYP]	= "host-shared-hyp",
			[HYPTRACE_OWNERSHIP_HOST_SHARED_GUEST]	= "host-shared-guest",
			[HYPTRACE_OWNERSHIP_HOST_SHARED_FFA]	= "host-shared-ffa",
			[HYPTRACE_OWNERSHIP_HYP]		= "hyp",
			[HYPTRACE_OWNERSHIP_HYP_SHARED_HOST]	= "hyp-shared-host",
			[HYPTRACE_OWNERSHIP_GUEST]		= "guest",
		},
	};

	return of < COUNT(names) && value < COUNT(names[0]) && names[of][value] ?
	       names[of][value] : "unknown";
}
