/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the two halves of who share: cmd_who.c and who_leaks.c.
 */
#ifndef WHO_H
#define WHO_H

#include "lib/hyptrace_model.h"
#include "cli/cli.h"
#include "output/printer.h"
#include "session/snapshots.h"
#include "page_history.h"

/* Both events are needed. */
#define WHO_ENABLE	"use \"hyptrace enable mem_transition host_hcall\" and \"hyptrace start\""

/* The events of a remote, and how they are printed */
struct who_events {
	struct hyptrace_event		**events;
	unsigned int			nr;
	/* their formats, with the names of hypercalls */
	struct hyptrace_formats		*formats;
	struct hyptrace_hypercall	**calls;	/* these names, or NULL */
};

/* who_events.c */
int who_get_events(struct context *ctx, const char *remote, struct who_events *events);
void who_free_events(struct who_events *events);
void who_add_change(struct printer *p, const struct page_change *change);
void who_note_losses(uint64_t lost, bool lost_more, uint64_t before, uint64_t read);

/* who_leaks.c */
int who_leaks_live(struct context *ctx, const struct hyptrace_remote *remote);
int who_leaks_file(struct context *ctx, const char *path);

#endif /* WHO_H */
