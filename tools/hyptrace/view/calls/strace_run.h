/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hyptrace strace: its settings and its state.
 */
#ifndef STRACE_RUN_H
#define STRACE_RUN_H

#include "session/child.h"
#include "sink/lines.h"
#include "strace_choice.h"
#include "strace_summary.h"
#include "strace_vm.h"

/* A call waits for the calls that it is in so many ns at most, while events are streamed. */
#define STRACE_HOLD_TIME	(NSEC_PER_SEC / 10)

/* The settings and the state of the verb */
struct strace {
	struct context			*ctx;
	const char			*path;		/* argument of --input, or NULL */
	const char			*output;	/* argument of --file, or NULL */
	const char			*filter;	/* argument of --filter, or NULL */
	bool				summarize;	/* print the summary, and no lines */
	bool				times;		/* print the time of each call */
	struct strace_choice		choice;		/* of --trace */
	struct strace_vms		vms;		/* of --pid */
	struct child			child;
	struct lines			lines;		/* heads of lines, and losses */
	struct strace_events		events;
	uint32_t			needed;		/* bits of the chosen kinds */
	struct hyptrace_filters		*filters;	/* of --filter; NULL without it */
	struct hyptrace_nest		*nest;		/* the calls that wait */
	struct strace_summary		summary;
	uint64_t			nr_printed;	/* or in the summary */
};

/* strace_run.c: what is the same for a file and for a remote */
int strace_begin(struct strace *s, const char *of, struct hyptrace_formats *formats,
		 struct hyptrace_hypercall *const *hypercalls, unsigned int nr_hypercalls);
void strace_event(struct strace *s, const struct hyptrace_stream_event *event, uint64_t now);
void strace_flush(struct strace *s, uint64_t until);
void strace_finish(struct strace *s);
void strace_free(struct strace *s);
void strace_print_counts(const struct strace *s, const char *discarded, uint64_t lost,
			 bool lost_more);

/* strace_live.c: trace a remote */
int strace_live(struct strace *s);

#endif /* STRACE_RUN_H */
