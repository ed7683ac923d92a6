/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of the export to Chrome's JSON: export_chrome.c puts the events on the timeline, and
 * export_chrome_event.c knows what they mean.
 */
#ifndef EXPORT_CHROME_H
#define EXPORT_CHROME_H

#include "../lib/hyptrace.h"

struct out;

/* The processes */
#define CHROME_HYPERVISOR	1
#define CHROME_GUESTS		2

/* Bytes of an event's name at most, its NUL included */
#define CHROME_NAME_MAX		72

enum chrome_kind {
	CHROME_INSTANT,
	CHROME_ENTER,		/* hyp_enter */
	CHROME_EXIT,		/* hyp_exit */
	CHROME_CALL,		/* has a duration, on the CPU */
	CHROME_GUEST,		/* has a duration, on the vCPU: guest_exit */
	CHROME_FIXUP,		/* likewise, but does not name the VM: guest_fixup */
	CHROME_POOL,		/* hyp_pool, which has a counter */
};

/**
 * struct chrome_event - what an event means
 * @rec:	the event
 * @type:	its description; NULL if it is unknown
 * @kind:	enum chrome_kind
 * @name:	its name on the timeline
 * @duration:	CALL, GUEST, FIXUP: how long it took, in ns
 * @vcpu:	GUEST, FIXUP: the thread of the vCPU
 * @handle:	GUEST: the VM
 * @index:	GUEST: number of the vCPU in the VM
 * @pool:	POOL: the pool
 * @left:	POOL: its free pages
 */
struct chrome_event {
	const struct hyptrace_record	*rec;
	const struct hyptrace_event	*type;
	enum chrome_kind		kind;
	char				name[CHROME_NAME_MAX];
	uint64_t			duration;
	uint64_t			vcpu;
	uint64_t			handle;
	uint64_t			index;
	uint64_t			pool;
	uint64_t			left;
};

/* export_chrome_event.c */
void chrome_event_init(struct chrome_event *event, const struct hyptrace_formats *formats,
		       const struct hyptrace_record *rec);
void chrome_put_usec(struct out *out, uint64_t nsec);
void chrome_put_args(struct out *out, struct hyptrace_formats *formats,
		     const struct chrome_event *event);

#endif /* EXPORT_CHROME_H */
