/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events that the rings of a remote hold, in the order of time and without consuming them. For
 * who.
 */
#ifndef SNAPSHOTS_H
#define SNAPSHOTS_H

#include "lib/hyptrace.h"
#include "cli/cli.h"

/**
 * struct snapshots - what is known about the rings
 * @has_rings:	they are loaded
 * @read:	events that a consumer has taken from them
 * @filtered:	events that filters at EL2 have not accepted
 * @damaged:	sub-buffers whose rest could not be decoded
 */
struct snapshots {
	bool		has_rings;
	uint64_t	read;
	uint64_t	filtered;
	unsigned int	damaged;
};

/*
 * Gets an event, and the number of those that were lost before it; or, if its data is NULL, of
 * those that were lost after the last one.
 */
typedef void (*snapshots_fn)(void *arg, unsigned int cpu, const struct hyptrace_record *rec);

int snapshots_read(struct context *ctx, const struct hyptrace_remote *remote, snapshots_fn fn,
		   void *arg, struct snapshots *found);

#endif /* SNAPSHOTS_H */
