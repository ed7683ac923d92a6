/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages of the netlink family "hyptrace": requests, and how their answers become structs. */
#ifndef HYPTRACE_MESSAGE_H
#define HYPTRACE_MESSAGE_H

#include "internal.h"

/* What an attribute becomes. Without it, all but NL_TRUE, NL_ABSENT and NL_CPU are 0. */
enum nl_kind {
	NL_U32,
	NL_U64,
	NL_CPU,		/* an int, HYPTRACE_CPU_ALL without it */
	NL_BOOL,
	NL_TRUE,	/* a bool, true without it */
	NL_PRESENT,	/* a bool: does the message have it? */
	NL_ABSENT,
	NL_REMOTE_NAME,	/* an array of characters */
	NL_EVENT_NAME,
	NL_STRING,	/* for free(); "" without it */
	NL_OWN,		/* no attribute, for free() */
	NL_BUCKETS,	/* a pointer to numbers of 64 bits */
	NL_PMU,		/* an array of HYPTRACE_PMU_COUNTER_MAX of them */
	NL_LIST,	/* pointers to structs, each of one such attribute */
	NL_FIRED,	/* an array of HYPTRACE_FIRED_MAX such structs */
	NL_NEST,	/* other members of the same struct */
};

struct nl_member {
	uint8_t			kind;		/* enum nl_kind */
	uint8_t			attr;
	uint16_t		offset;
	uint16_t		nr;		/* offset of the number of elements */
	const struct nl_type	*type;		/* of an element */
};

struct nl_type {
	size_t			size;
	const struct nl_member	*members;
	unsigned int		nr;
};

/* describe.c */
extern const struct nl_type hyptrace_remote_type;
extern const struct nl_type hyptrace_cpu_type;
extern const struct nl_type hyptrace_event_type;
extern const struct nl_type hyptrace_hypercall_type;
extern const struct nl_type hyptrace_counter_type;
extern const struct nl_type hyptrace_reader_type;
extern const struct nl_type hyptrace_loss_type;

int hyptrace_nl_parse(const struct nl_type *type, const struct nlmsghdr *answer, void *item);
void hyptrace_nl_free(const struct nl_type *type, void *item);

/* The kernel's answer to a request */
struct hyptrace_extack {
	int		errnum;	/* a positive errno, 0 if the request succeeded */
	const char	*msg;	/* the kernel's message inside the answer, NULL if there is none */
	size_t		msg_len;	/* its length without a NUL */
	uint32_t	offset;	/* of the attribute at fault in the request; 0 if none */
};

int hyptrace_extack_parse(const struct nlmsghdr *answer, size_t len, struct hyptrace_extack *ext);
void hyptrace_extack_error(const struct hyptrace_extack *ext, const struct nlmsghdr *request,
			   struct hyptrace_error *err);

/* netlink.c: requests. Without memory a message becomes NULL, and hyptrace_nl_send() says so. */

struct nl_msg *hyptrace_nl_msg(struct hyptrace *h, int cmd, int flags, const char *remote);
void hyptrace_nl_check(struct nl_msg **msg, int ret);
void hyptrace_nl_put_u32(struct nl_msg **msg, int attr, uint32_t value);
void hyptrace_nl_put_u64(struct nl_msg **msg, int attr, uint64_t value);
void hyptrace_nl_put_string(struct nl_msg **msg, int attr, const char *text);
int hyptrace_nl_send(struct hyptrace *h, struct nl_msg *msg, hyptrace_nl_fn fn, void *arg,
		     struct hyptrace_error *err);
int hyptrace_nl_group(struct hyptrace *h);

#endif /* HYPTRACE_MESSAGE_H */
