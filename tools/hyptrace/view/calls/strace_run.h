/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hyptrace strace: its settings and its state. For cmd_strace.c, strace_live.c and strace_run.c.
 */
#ifndef STRACE_RUN_H
#define STRACE_RUN_H

#include "session/child.h"
#include "sink/lines.h"
#include "strace_choice.h"
#include "strace_nest.h"
#include "strace_summary.h"
#include "strace_vm.h"

/* A call waits for the calls that it is in so many ns at most, while events are streamed. */
#define STRACE_HOLD_TIME	(NSEC_PER_SEC / 10)

/**
 * struct strace - the settings and the state of the verb
 * @ctx:	the verb's context
 * @path:	argument of --input, or NULL
 * @output:	argument of --file, or NULL
 * @filter:	argument of --filter, or NULL
 * @summarize:	print the summary, and no lines
 * @times:	print the time of each call
 * @choice:	the calls that --trace chooses
 * @vms:	the VMs that --pid chooses
 * @child:	the command
 * @lines:	prints the CPUs and times of lines, and losses
 * @events:	the events that are calls
 * @is_needed:	by kind: calls of it are chosen
 * @filters:	conditions of --filter; NULL without it
 * @nest:	the calls that wait
 * @summary:	the summary
 * @nr_printed:	calls that were printed, or that are in the summary
 */
struct strace {
	struct context			*ctx;
	const char			*path;
	const char			*output;
	const char			*filter;
	bool				summarize;
	bool				times;
	struct strace_choice		choice;
	struct strace_vms		vms;
	struct child			child;
	struct lines			lines;
	struct strace_events		events;
	bool				is_needed[NR_STRACE_KINDS];
	struct hyptrace_filters		*filters;
	struct strace_nest		*nest;
	struct strace_summary		summary;
	uint64_t			nr_printed;
};

/* strace_run.c: what is the same for a file and for a remote */
int strace_begin(struct strace *s, const char *of, struct hyptrace_event *const *list,
		 unsigned int nr, struct hyptrace_formats *formats,
		 struct hyptrace_hypercall *const *hypercalls, unsigned int nr_hypercalls);
void strace_event(struct strace *s, const struct hyptrace_stream_event *event, uint64_t now);
void strace_flush(struct strace *s, uint64_t until);
void strace_finish(struct strace *s);
void strace_print_counts(const struct strace *s, const char *discarded, uint64_t lost,
			 bool lost_more);

/* strace_live.c: trace a remote */
int strace_live(struct strace *s);

#endif /* STRACE_RUN_H */
