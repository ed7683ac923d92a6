// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests of the family at random: most have the attributes that they may have, with values that
 * may be valid; some have others; and some are damaged after that.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/genetlink.h>
#include <linux/hyptrace_netlink.h>

#include "hostile.h"

#define MAX_ATTRS	6
/* Events of the test remote in a second, and marks: more would only take time. */
#define RATE_MAX	2000
#define MARKS_MAX	2000
/* A larger size is refused, or takes the memory of the machine. */
#define SIZE_MAX_KB	2048

enum kind {
	NONE, REMOTE, EVENT, FLAG, CPU, SIZE, RATE, MARKS, NUMBER32, NUMBER64, SMALL8, SMALL32,
	FILTER
};

struct attr {
	uint16_t	type;
	uint16_t	kind;
};

#define CONTROL(name, kind)	{ HYPTRACE_A_CONTROL_##name, kind }
#define EVENTS(name, kind)	{ HYPTRACE_A_EVENT_##name, kind }

static const struct {
	uint8_t		cmd;
	struct attr	attrs[MAX_ATTRS];
} requests[] = {
	{ HYPTRACE_CMD_REMOTE_GET, { { HYPTRACE_A_REMOTE_NAME, REMOTE } } },
	{ HYPTRACE_CMD_CPU_GET,
	  { { HYPTRACE_A_CPU_REMOTE, REMOTE }, { HYPTRACE_A_CPU_ID, CPU } } },
	{ HYPTRACE_CMD_EVENT_GET, { EVENTS(REMOTE, REMOTE), EVENTS(NAME, EVENT) } },
	{ HYPTRACE_CMD_EVENT_SET,
	  { EVENTS(REMOTE, REMOTE), EVENTS(NAMES, EVENT), EVENTS(ENABLED, SMALL8) } },
	{ HYPTRACE_CMD_EVENT_SET,
	  { EVENTS(REMOTE, REMOTE), EVENTS(NAMES, EVENT), EVENTS(ENABLED, SMALL8),
	    EVENTS(FILTER, FILTER), EVENTS(TRIGGER, SMALL32), EVENTS(AFTER, SMALL32) } },
	{ HYPTRACE_CMD_EVENT_SET,
	  { EVENTS(REMOTE, REMOTE), EVENTS(NAMES, EVENT), EVENTS(ENABLED, SMALL8),
	    EVENTS(FILTER, FILTER), EVENTS(TRIGGER, SMALL32), EVENTS(HOLD, FLAG) } },
	{ HYPTRACE_CMD_EVENT_RELEASE, { EVENTS(REMOTE, REMOTE), EVENTS(NAMES, EVENT) } },
	{ HYPTRACE_CMD_LOAD,
	  { CONTROL(REMOTE, REMOTE), CONTROL(SIZE, SIZE), CONTROL(MODE, SMALL32) } },
	{ HYPTRACE_CMD_UNLOAD, { CONTROL(REMOTE, REMOTE) } },
	{ HYPTRACE_CMD_START, { CONTROL(REMOTE, REMOTE) } },
	{ HYPTRACE_CMD_STOP, { CONTROL(REMOTE, REMOTE) } },
	{ HYPTRACE_CMD_CLEAR, { CONTROL(REMOTE, REMOTE), CONTROL(CPU, CPU) } },
	{ HYPTRACE_CMD_RESET, { CONTROL(REMOTE, REMOTE) } },
	{ HYPTRACE_CMD_SET,
	  { CONTROL(REMOTE, REMOTE), CONTROL(SIZE, SIZE), CONTROL(MODE, SMALL32),
	    CONTROL(RATE, RATE) } },
	{ HYPTRACE_CMD_MARK,
	  { CONTROL(REMOTE, REMOTE), CONTROL(CPU, CPU), CONTROL(VALUE, NUMBER64),
	    CONTROL(COUNT, MARKS) } },
	{ HYPTRACE_CMD_HYPERCALL_GET,
	  { { HYPTRACE_A_HYPERCALL_REMOTE, REMOTE }, { HYPTRACE_A_HYPERCALL_ID, NUMBER32 } } },
	{ HYPTRACE_CMD_COUNT_SET,
	  { EVENTS(REMOTE, REMOTE), EVENTS(NAMES, EVENT), EVENTS(ENABLED, SMALL8),
	    EVENTS(HOLD, FLAG), EVENTS(PMU, NUMBER32) } },
	{ HYPTRACE_CMD_COUNT_GET,
	  { { HYPTRACE_A_COUNTER_REMOTE, REMOTE }, { HYPTRACE_A_COUNTER_CPU, CPU } } },
	{ HYPTRACE_CMD_COUNT_RESET,
	  { { HYPTRACE_A_COUNTER_REMOTE, REMOTE }, { HYPTRACE_A_COUNTER_CPU, CPU } } },
	{ HYPTRACE_CMD_PAGE_GET,
	  { { HYPTRACE_A_PAGE_REMOTE, REMOTE }, { HYPTRACE_A_PAGE_PFN, NUMBER64 },
	    { HYPTRACE_A_PAGE_COUNT, SMALL32 } } },
	{ HYPTRACE_CMD_VISIT_GET,
	  { { HYPTRACE_A_VISIT_REMOTE, REMOTE }, { HYPTRACE_A_VISIT_COUNT, SMALL32 } } },
};

static const char *event(struct hostile *h)
{
	static const char *const names[] = {
		"selftest", "hyp_enter", "hyp_exit", "host_hcall", "guest_exit", "mem_transition",
		"hyp_printk", "func", "pmu", "lock_wait", "", "no_such",
	};

	return names[hostile_below(h, sizeof(names) / sizeof(names[0]))];
}

/* A filter as text, of words that filters have */
static void put_filter(struct hostile *h, struct nl_msg *msg, uint16_t type)
{
	static const char *const words[] = {
		"id", "reason", "duration", "value", "==", "!=", "<", ">=", "&", "&&", "||", "(",
		")", "!", "0", "1", "-1", "0xffffffffffffffff", "hvc", "\"", "%",
	};
	const uint32_t at = nl_nest_begin(msg, type);
	char text[512] = "";
	unsigned int nr = hostile_below(h, 24), i;

	if (hostile_below(h, 2)) {
		snprintf(text, sizeof(text), "%s > %llu", hostile_below(h, 2) ? "id" : "reason",
			 (unsigned long long)hostile_below(h, 8));
	} else {
		for (i = 0; i < nr; i++) {
			strcat(text, words[hostile_below(h, sizeof(words) / sizeof(words[0]))]);
			strcat(text, " ");
		}
	}
	if (hostile_below(h, 16))
		nl_put_str(msg, HYPTRACE_A_FILTER_TEXT, text);
	nl_nest_end(msg, at);
}

static void put(struct hostile *h, struct nl_msg *msg, const struct attr *attr)
{
	const uint16_t type = attr->type;

	switch (attr->kind) {
	case REMOTE:
		nl_put_str(msg, type, hostile_remote(h));
		break;
	case EVENT:
		nl_put_str(msg, type, event(h));
		break;
	case FLAG:
		nl_put(msg, type, NULL, 0);
		break;
	case CPU:
		nl_put_u32(msg, type, hostile_below(h, 8) ? hostile_below(h, 5) :
			   hostile_number(h));
		break;
	case SIZE:
		nl_put_u64(msg, type, hostile_below(h, 8) ? hostile_below(h, SIZE_MAX_KB) << 10 :
			   hostile_number(h) | 1ULL << 40);
		break;
	case RATE:
		nl_put_u32(msg, type, hostile_below(h, RATE_MAX));
		break;
	case MARKS:
		nl_put_u32(msg, type, hostile_below(h, 8) ? hostile_below(h, 16) :
			   hostile_below(h, MARKS_MAX));
		break;
	case NUMBER32:
		nl_put_u32(msg, type, hostile_number(h));
		break;
	case NUMBER64:
		nl_put_u64(msg, type, hostile_number(h));
		break;
	case SMALL8:
		nl_put_u8(msg, type, hostile_below(h, 3));
		break;
	case SMALL32:
		nl_put_u32(msg, type, hostile_below(h, 8) ? hostile_below(h, 6) :
			   hostile_number(h));
		break;
	case FILTER:
		put_filter(h, msg, type);
		break;
	}
}

/* Any attribute, of any length */
static void put_any(struct hostile *h, struct nl_msg *msg)
{
	uint64_t bytes[40];
	unsigned int i;

	for (i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
		bytes[i] = hostile_number(h);
	nl_put(msg, hostile_below(h, 24) | (hostile_below(h, 4) ? 0 : NLA_F_NESTED), bytes,
	       hostile_below(h, 4) ? hostile_below(h, 17) : hostile_below(h, sizeof(bytes)));
}

/* Damage the message: any byte, the length of an attribute, or that of the message. */
static void damage(struct hostile *h, struct nl_msg *msg)
{
	const uint32_t begin = NLMSG_LENGTH(GENL_HDRLEN), len = msg->hdr.nlmsg_len;

	switch (hostile_below(h, 3)) {
	case 0:
		msg->bytes[begin + hostile_below(h, len - begin + 1)] = hostile_random(h);
		break;
	case 1:
		if (len > begin)
			((struct nlattr *)(msg->bytes + begin))->nla_len = hostile_number(h);
		break;
	case 2:
		msg->hdr.nlmsg_len = begin + hostile_below(h, len - begin + 1);
		break;
	}
}

/* Read what has come: the kernel has already done what it was asked to. */
static void receive(struct hostile *h)
{
	static char buffer[64 * 1024] __attribute__((aligned(NLMSG_ALIGNTO)));
	const struct nlmsghdr *hdr = (const void *)buffer;
	const struct nlmsgerr *error = NLMSG_DATA(hdr);
	ssize_t n;

	while ((n = recv(h->nl.fd, buffer, sizeof(buffer), MSG_DONTWAIT)) > 0)
		if (n >= (ssize_t)NLMSG_LENGTH(sizeof(*error)) &&
		    hdr->nlmsg_type == NLMSG_ERROR && !error->error)
			__atomic_add_fetch(&h->tries->answered, 1, __ATOMIC_RELAXED);
}

/**
 * hostile_request() - send a request at random, and forget the answer
 * @h:	the process
 */
void hostile_request(struct hostile *h)
{
	static struct nl_msg msg;
	const unsigned int which = hostile_below(h, sizeof(requests) / sizeof(requests[0]));
	const unsigned int strange = hostile_below(h, 16);
	uint32_t len;
	unsigned int i;

	nl_begin(&msg, &h->nl, strange == 1 ? hostile_random(h) : requests[which].cmd);
	msg.hdr.nlmsg_flags = NLM_F_REQUEST | (hostile_below(h, 4) ? NLM_F_ACK : NLM_F_DUMP);
	for (i = 0; i < MAX_ATTRS && requests[which].attrs[i].kind; i++)
		if (hostile_below(h, 16))
			put(h, &msg, &requests[which].attrs[i]);
	for (i = 0; strange < 3 && i < hostile_below(h, 4); i++)
		put_any(h, &msg);
	len = msg.hdr.nlmsg_len;
	if (strange > 13)
		damage(h, &msg);
	__atomic_add_fetch(&h->tries->requests, 1, __ATOMIC_RELAXED);
	if (send(h->nl.fd, msg.bytes, len, MSG_DONTWAIT) < 0 && errno != EAGAIN && errno != ENOBUFS)
		return;
	receive(h);
}
