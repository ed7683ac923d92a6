/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find certain events in a stream of events, with what happened before, meanwhile and after. For
 * hyptrace catch.
 */
#ifndef CATCH_FIND_H
#define CATCH_FIND_H

#include "lib/hyptrace.h"

/* Events that are kept of each CPU */
#define CATCH_BEFORE	20

/* After so many calls of catch_finder_age() an event is complete, whatever has followed it. */
#define CATCH_AGE_MAX	10

/* If more events wait for what follows, the first one is complete: this bounds the memory. */
#define CATCH_WAITING_MAX	256

struct catch_events {
	struct hyptrace_stream_event	*events;
	unsigned int			nr;
};

/* The events around one, each list in the order of time */
enum {
	AROUND_BEFORE,	/* the last events of its CPU before it */
	AROUND_EARLIER,	/* the last event of each other CPU that recorded nothing while it lasted */
	AROUND_OTHERS,	/* what the other CPUs recorded while it lasted */
	AROUND_AFTER,	/* the next events of its CPU */
	NR_AROUND
};

/* An event that was found */
struct caught {
	struct caught			*next;	/* the one that was found after it */
	struct hyptrace_stream_event	event;
	struct catch_events		around[NR_AROUND];
	unsigned int			age;	/* calls of catch_finder_age() since then */
};

struct catch_finder;

struct catch_finder *catch_finder_new(unsigned int nr_cpus, unsigned int after);
void catch_finder_free(struct catch_finder *finder);
void catch_finder_add(struct catch_finder *finder, unsigned int index,
		      const struct hyptrace_stream_event *event, bool is_match, uint64_t begin);
void catch_finder_age(struct catch_finder *finder);
bool catch_finder_waits(const struct catch_finder *finder);
struct caught *catch_finder_next(struct catch_finder *finder, bool all);
uint64_t catch_finder_found(const struct catch_finder *finder, unsigned int index);
void caught_free(struct caught *caught);

#endif /* CATCH_FIND_H */
