// SPDX-License-Identifier: GPL-2.0-only
/* The requests of the netlink family, and opening the device: see control.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "control.h"

static struct nl_answer answer;
static struct nl_msg msg;

/*
 * HYPTRACE_REMOTE= names a remote on which the tests of "hypervisor" are run, so that they test
 * another tracer at EL2, too.
 */
const char *control_remote(const char *remote)
{
	return strcmp(remote, "hypervisor") ? remote : getenv("HYPTRACE_REMOTE") ?: remote;
}

static void begin(const struct nl *nl, uint8_t cmd, const char *remote)
{
	nl_begin(&msg, nl, cmd);
	nl_put_str(&msg, HYPTRACE_A_CONTROL_REMOTE, control_remote(remote));
}

int control(struct nl *nl, uint8_t cmd, const char *remote)
{
	begin(nl, cmd, remote);
	return nl_do(nl, &msg, &answer);
}

int control_load(struct nl *nl, const char *remote, uint64_t size, uint32_t mode)
{
	begin(nl, HYPTRACE_CMD_LOAD, remote);
	nl_put_u64(&msg, HYPTRACE_A_CONTROL_SIZE, size);
	nl_put_u32(&msg, HYPTRACE_A_CONTROL_MODE, mode);
	return nl_do(nl, &msg, &answer);
}

int control_set_rate(struct nl *nl, const char *remote, uint32_t rate)
{
	begin(nl, HYPTRACE_CMD_SET, remote);
	nl_put_u32(&msg, HYPTRACE_A_CONTROL_RATE, rate);
	return nl_do(nl, &msg, &answer);
}

int control_set_size(struct nl *nl, const char *remote, uint64_t size)
{
	begin(nl, HYPTRACE_CMD_SET, remote);
	nl_put_u64(&msg, HYPTRACE_A_CONTROL_SIZE, size);
	return nl_do(nl, &msg, &answer);
}

int control_clear(struct nl *nl, const char *remote, int cpu)
{
	begin(nl, HYPTRACE_CMD_CLEAR, remote);
	if (cpu != CPU_ALL)
		nl_put_u32(&msg, HYPTRACE_A_CONTROL_CPU, cpu);
	return nl_do(nl, &msg, &answer);
}

int control_mark(struct nl *nl, const char *remote, int cpu, uint64_t value, uint32_t count)
{
	begin(nl, HYPTRACE_CMD_MARK, remote);
	if (cpu != CPU_CURRENT)
		nl_put_u32(&msg, HYPTRACE_A_CONTROL_CPU, cpu);
	nl_put_u64(&msg, HYPTRACE_A_CONTROL_VALUE, value);
	nl_put_u32(&msg, HYPTRACE_A_CONTROL_COUNT, count);
	return nl_do(nl, &msg, &answer);
}

int control_enable(struct nl *nl, const char *remote, const char *event, bool enable)
{
	nl_begin(&msg, nl, HYPTRACE_CMD_EVENT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, control_remote(remote));
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, event);
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, enable);
	return nl_do(nl, &msg, &answer);
}

int control_counts(struct nl *nl, const char *remote, uint32_t cpu, struct counts *counts)
{
	const struct nlmsghdr *hdr;
	int err;

	nl_begin(&msg, nl, HYPTRACE_CMD_CPU_GET);
	nl_put_str(&msg, HYPTRACE_A_CPU_REMOTE, control_remote(remote));
	nl_put_u32(&msg, HYPTRACE_A_CPU_ID, cpu);
	err = nl_do(nl, &msg, &answer);
	if (err)
		return err;
	hdr = nl_first(&answer);
	counts->state = nl_u32(nl_attr(hdr, HYPTRACE_A_CPU_STATE));
	counts->nr_subbufs = nl_u32(nl_attr(hdr, HYPTRACE_A_CPU_NR_SUBBUFS));
	counts->used_subbufs = nl_u32(nl_attr(hdr, HYPTRACE_A_CPU_USED_SUBBUFS));
	counts->written = nl_u64(nl_attr(hdr, HYPTRACE_A_CPU_WRITTEN));
	counts->filtered = nl_u64(nl_attr(hdr, HYPTRACE_A_CPU_FILTERED));
	counts->notified = nl_u64(nl_attr(hdr, HYPTRACE_A_CPU_NOTIFIED));
	counts->clears = nl_u64(nl_attr(hdr, HYPTRACE_A_CPU_CLEARS));
	counts->read = nl_u64(nl_attr(hdr, HYPTRACE_A_CPU_READ));
	counts->overrun = nl_u64(nl_attr(hdr, HYPTRACE_A_CPU_OVERRUN));
	counts->dropped = nl_u64(nl_attr(hdr, HYPTRACE_A_CPU_DROPPED));
	counts->unread = nl_u64(nl_attr(hdr, HYPTRACE_A_CPU_UNREAD));
	counts->unreported = nl_u64(nl_attr(hdr, HYPTRACE_A_CPU_UNREPORTED));
	counts->consumer = 0;
	if (nl_attr(hdr, HYPTRACE_A_CPU_CONSUMER))
		counts->consumer = nl_u32(nl_attr(hdr, HYPTRACE_A_CPU_CONSUMER));
	return 0;
}

int control_info(struct nl *nl, const char *remote, struct info *info)
{
	const struct nlmsghdr *hdr;
	const struct nlattr *attr;
	int err;

	nl_begin(&msg, nl, HYPTRACE_CMD_REMOTE_GET);
	nl_put_str(&msg, HYPTRACE_A_REMOTE_NAME, control_remote(remote));
	err = nl_do(nl, &msg, &answer);
	if (err)
		return err;
	hdr = nl_first(&answer);
	info->state = nl_u32(nl_attr(hdr, HYPTRACE_A_REMOTE_STATE));
	info->mode = nl_u32(nl_attr(hdr, HYPTRACE_A_REMOTE_MODE));
	info->size_requested = nl_u64(nl_attr(hdr, HYPTRACE_A_REMOTE_SIZE_REQUESTED));
	info->size_allocated = nl_u64(nl_attr(hdr, HYPTRACE_A_REMOTE_SIZE_ALLOCATED));
	info->subbuf_size = nl_u32(nl_attr(hdr, HYPTRACE_A_REMOTE_SUBBUF_SIZE));
	info->nr_subbufs = nl_u32(nl_attr(hdr, HYPTRACE_A_REMOTE_NR_SUBBUFS));
	info->nr_cpus = nl_u32(nl_attr(hdr, HYPTRACE_A_REMOTE_NR_CPUS));
	info->nr_events = nl_u32(nl_attr(hdr, HYPTRACE_A_REMOTE_NR_EVENTS));
	info->readers = nl_u32(nl_attr(hdr, HYPTRACE_A_REMOTE_READERS));
	attr = nl_attr(hdr, HYPTRACE_A_REMOTE_PROTECTED);
	info->protected = attr ? *(const uint8_t *)nl_data(attr) : UINT8_MAX;
	return 0;
}

const char *control_message(void)
{
	return answer.message;
}

static int event_get(struct nl *nl, const char *remote, const char *event)
{
	nl_begin(&msg, nl, HYPTRACE_CMD_EVENT_GET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, control_remote(remote));
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAME, event);
	return nl_do(nl, &msg, &answer);
}

int control_event_id(struct nl *nl, const char *remote, const char *event)
{
	return event_get(nl, remote, event) ?:
	       (int)nl_u32(nl_attr(nl_first(&answer), HYPTRACE_A_EVENT_ID));
}

const struct nlattr *control_event_attr(struct nl *nl, const char *remote, const char *event,
					uint16_t type)
{
	return event_get(nl, remote, event) ? NULL : nl_attr(nl_first(&answer), type);
}

bool control_is_enabled(struct nl *nl, const char *remote, const char *event)
{
	const struct nlattr *attr = control_event_attr(nl, remote, event, HYPTRACE_A_EVENT_ENABLED);

	return attr && *(const uint8_t *)nl_data(attr);
}

static const struct nlattr *field_find(struct nl *nl, const char *remote, const char *event,
				       const char *field)
{
	const struct nlattr *attr;

	if (event_get(nl, remote, event))
		return NULL;
	for (attr = nl_attr(nl_first(&answer), HYPTRACE_A_EVENT_FIELD); attr;
	     attr = nl_attr_next(nl_first(&answer), attr, HYPTRACE_A_EVENT_FIELD)) {
		if (!strcmp(nl_str(nl_nested(attr, HYPTRACE_A_FIELD_NAME)), field))
			return attr;
	}
	return NULL;
}

/**
 * control_field - get the offset and the size of a field
 * @nl:		the socket
 * @remote:	name
 * @event:	name
 * @field:	name
 * @size:	filled in: size of the field in bytes
 *
 * Return: offset from the start of the payload, or -ENOENT.
 */
int control_field(struct nl *nl, const char *remote, const char *event, const char *field,
		  uint32_t *size)
{
	const struct nlattr *attr = field_find(nl, remote, event, field);

	if (!attr)
		return -ENOENT;
	*size = nl_u32(nl_nested(attr, HYPTRACE_A_FIELD_SIZE));
	return nl_u32(nl_nested(attr, HYPTRACE_A_FIELD_OFFSET));
}

/* Return the value that the field prints as @symbol, or -ENOENT. */
int control_symbol(struct nl *nl, const char *remote, const char *event, const char *field,
		   const char *symbol)
{
	const struct nlattr *nest = field_find(nl, remote, event, field);
	const struct nlattr *attr;
	const char *end;

	if (!nest)
		return -ENOENT;
	end = (const char *)nest + nest->nla_len;
	for (attr = nl_nested(nest, HYPTRACE_A_FIELD_SYMBOL); attr && (const char *)attr < end;
	     attr = (const void *)((const char *)attr + NLA_ALIGN(attr->nla_len))) {
		if ((attr->nla_type & NLA_TYPE_MASK) == HYPTRACE_A_FIELD_SYMBOL &&
		    !strcmp(nl_str(nl_nested(attr, HYPTRACE_A_SYMBOL_NAME)), symbol))
			return nl_u64(nl_nested(attr, HYPTRACE_A_SYMBOL_VALUE));
	}
	return -ENOENT;
}

/* Bring the remote back to the state that it had when it was registered. */
int control_fresh(struct nl *nl, const char *remote)
{
	return control(nl, HYPTRACE_CMD_RESET, remote);
}

/* Load rings of that size and mode, enable the event "selftest", start tracing. */
int control_ready(struct nl *nl, const char *remote, uint64_t size, uint32_t mode)
{
	return control_fresh(nl, remote) ?: control_load(nl, remote, size, mode) ?:
	       control_enable(nl, remote, "selftest", true) ?:
	       control(nl, HYPTRACE_CMD_START, remote);
}

/* Return the next notification that does not report losses. */
const struct nlmsghdr *control_next_change(struct nl *listener, int timeout_ms)
{
	const struct nlmsghdr *hdr;

	do {
		hdr = nl_notification(listener, timeout_ms);
	} while (hdr && nl_cmd(hdr) == HYPTRACE_CMD_LOSS_NTF);
	return hdr;
}

int control_snapshot(struct nl *nl, struct snapshot *snapshot)
{
	static const uint8_t cmds[] = {
		HYPTRACE_CMD_REMOTE_GET, HYPTRACE_CMD_CPU_GET, HYPTRACE_CMD_EVENT_GET,
	};
	unsigned int i;
	int err;

	snapshot->len = 0;
	for (i = 0; i < sizeof(cmds); i++) {
		nl_begin(&msg, nl, cmds[i]);
		err = nl_dump(nl, &msg, &answer);
		if (err)
			return err;
		if (snapshot->len + answer.len > sizeof(snapshot->data))
			return -EMSGSIZE;
		memcpy(snapshot->data + snapshot->len, answer.data, answer.len);
		snapshot->len += answer.len;
	}
	return 0;
}

/* Take a snapshot without the numbers of clears, which are others after each load. */
int snapshot_of_any_load(struct nl *nl, struct snapshot *snapshot)
{
	const int err = control_snapshot(nl, snapshot);
	struct nlmsghdr *hdr;
	struct nlattr *clears;
	size_t at;

	for (at = 0; at < snapshot->len; at += NLMSG_ALIGN(hdr->nlmsg_len)) {
		hdr = (void *)(snapshot->data + at);
		clears = nl_cmd(hdr) == HYPTRACE_CMD_CPU_GET ?
			 (void *)nl_attr(hdr, HYPTRACE_A_CPU_CLEARS) : NULL;
		if (clears)
			memset((void *)nl_data(clears), 0, sizeof(uint64_t));
	}
	return err;
}

bool snapshot_equal(const struct snapshot *a, const struct snapshot *b)
{
	return a->len && a->len == b->len && !memcmp(a->data, b->data, a->len);
}

static int attach_as(int fd, const char *remote, int cpu, uint32_t flags,
		     struct hyptrace_attach *attached)
{
	struct hyptrace_attach request = { .size = sizeof(request), .cpu = cpu, .flags = flags };

	remote = control_remote(remote);
	if (strlen(remote) >= sizeof(request.remote))
		return -ENAMETOOLONG;
	strcpy(request.remote, remote);
	if (ioctl(fd, HYPTRACE_IOC_ATTACH, &request))
		return -errno;
	if (attached)
		*attached = request;
	return 0;
}

int attach(int fd, const char *remote, int cpu, struct hyptrace_attach *attached)
{
	return attach_as(fd, remote, cpu, 0, attached);
}

static int open_as(const char *remote, int cpu, int flags, uint32_t attach_flags)
{
	int fd, err;

	fd = open(DEVICE, O_RDONLY | O_CLOEXEC | flags);
	if (fd < 0)
		return -errno;
	err = attach_as(fd, remote, cpu, attach_flags, NULL);
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* Open a descriptor that is the consumer of the ring. Return it or a negative errno. */
int open_attached(const char *remote, int cpu, int flags)
{
	return open_as(remote, cpu, flags, 0);
}

/* Open a descriptor that is an observer: it consumes nothing. */
int open_snapshot(const char *remote, int cpu)
{
	return open_as(remote, cpu, 0, HYPTRACE_ATTACH_SNAPSHOT);
}
