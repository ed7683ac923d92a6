/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of the export to Chrome's JSON: export_chrome.c puts the events on the timeline, and
 * export_chrome_event.c knows what they mean.
 */
#ifndef EXPORT_CHROME_H
#define EXPORT_CHROME_H

#include "row.h"

struct out;

/* The processes */
#define CHROME_HYPERVISOR	1
#define CHROME_GUESTS		2

enum chrome_kind {
	CHROME_INSTANT,
	CHROME_ENTER,		/* hyp_enter */
	CHROME_EXIT,		/* hyp_exit */
	CHROME_CALL,		/* has a duration, on the CPU */
	CHROME_GUEST,		/* has a duration, on the vCPU: guest_exit */
	CHROME_FIXUP,		/* likewise, but does not name the VM: guest_fixup */
	CHROME_POOL,		/* hyp_pool, which has a counter */
};

struct chrome_event {
	enum chrome_kind		kind;
	bool				has_text;	/* a sentence */
	struct row			row;	/* its name on the timeline, and the fields */
	/* the same for a hypercall without a result */
	struct row			no_result;
	/* CALL, GUEST, FIXUP: how long it took, in ns */
	const struct hyptrace_field	*duration;
	const struct hyptrace_field	*vcpu;	/* GUEST, FIXUP: the thread of the vCPU */
	const struct hyptrace_field	*handle;	/* GUEST: the VM */
	const struct hyptrace_field	*index;	/* GUEST: number of the vCPU in the VM */
	const struct hyptrace_field	*pool;	/* POOL: the pool */
	const struct hyptrace_field	*left;	/* POOL: its free pages */
};

/* export_chrome_event.c */
struct chrome_events *chrome_events_new(struct hyptrace_formats *formats);
void chrome_events_free(struct chrome_events *events);
const struct chrome_event *chrome_event_of(struct chrome_events *events,
					   const struct hyptrace_record *rec);
void chrome_put_details(struct chrome_events *events, const struct chrome_event *event,
			const struct hyptrace_record *rec, struct out *out);

#endif /* EXPORT_CHROME_H */
