/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The requests of the netlink family as functions, and opening the device. Tests use
 * them to bring a remote into a state. All return 0 or a negative errno.
 */
#ifndef __CONTROL_H
#define __CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/hyptrace.h>
#include <linux/hyptrace_netlink.h>

#include "nl.h"

#define DEVICE		"/dev/hyptrace"
#define CPU_CURRENT	(-1)	/* for control_mark() */
#define CPU_ALL		(-1)	/* for control_clear() */

struct counts {
	uint32_t	state;
	uint32_t	nr_subbufs;
	uint32_t	used_subbufs;
	uint64_t	written;
	uint64_t	read;
	uint64_t	overrun;
	uint64_t	dropped;
	uint64_t	filtered;
	uint64_t	notified;
	uint64_t	clears;
	uint64_t	unread;
	uint64_t	unreported;
	uint32_t	consumer;	/* 0 if there is none */
};

struct info {
	uint32_t	state;
	uint32_t	mode;
	uint64_t	size_requested;
	uint64_t	size_allocated;
	uint32_t	subbuf_size;
	uint32_t	nr_subbufs;
	uint32_t	nr_cpus;
	uint32_t	nr_events;
	uint32_t	readers;
	uint8_t		protected;
};

const char *control_remote(const char *remote);
/* Why the last of these requests has failed, or an empty string */
const char *control_message(void);
int control(struct nl *nl, uint8_t cmd, const char *remote);
int control_load(struct nl *nl, const char *remote, uint64_t size, uint32_t mode);
int control_set_rate(struct nl *nl, const char *remote, uint32_t rate);
int control_set_size(struct nl *nl, const char *remote, uint64_t size);
int control_clear(struct nl *nl, const char *remote, int cpu);
int control_mark(struct nl *nl, const char *remote, int cpu, uint64_t value, uint32_t count);
int control_enable(struct nl *nl, const char *remote, const char *event, bool enable);
int control_counts(struct nl *nl, const char *remote, uint32_t cpu, struct counts *counts);
int control_info(struct nl *nl, const char *remote, struct info *info);
int control_event_id(struct nl *nl, const char *remote, const char *event);
/* An attribute of an event, valid until the next request; NULL if it has none */
const struct nlattr *control_event_attr(struct nl *nl, const char *remote, const char *event,
					uint16_t type);
bool control_is_enabled(struct nl *nl, const char *remote, const char *event);
int control_field(struct nl *nl, const char *remote, const char *event, const char *field,
		  uint32_t *size);
int control_symbol(struct nl *nl, const char *remote, const char *event, const char *field,
		   const char *symbol);
int control_fresh(struct nl *nl, const char *remote);
int control_ready(struct nl *nl, const char *remote, uint64_t size, uint32_t mode);

const struct nlmsghdr *control_next_change(struct nl *listener, int timeout_ms);

/* The answers of all dumps, to find out whether anything has changed */
struct snapshot {
	size_t	len;
	char	data[NL_ANSWER_SIZE] __attribute__((aligned(NLMSG_ALIGNTO)));
};

int control_snapshot(struct nl *nl, struct snapshot *snapshot);
int snapshot_of_any_load(struct nl *nl, struct snapshot *snapshot);
bool snapshot_equal(const struct snapshot *a, const struct snapshot *b);

int attach(int fd, const char *remote, int cpu, struct hyptrace_attach *attached);
int open_attached(const char *remote, int cpu, int flags);
int open_snapshot(const char *remote, int cpu);

#endif /* __CONTROL_H */
