/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hyptrace strace -c: the calls by name. For cmd_strace.c.
 */
#ifndef STRACE_SUMMARY_H
#define STRACE_SUMMARY_H

#include "strace.h"

struct printer;

/**
 * struct strace_sum - the calls of a name
 * @kind:	their kind
 * @name:	their name; NULL if @number has none
 * @number:	their number
 * @calls:	how many there were
 * @errors:	how many of them have failed
 * @total:	their time, in ns
 */
struct strace_sum {
	enum strace_kind	kind;
	const char		*name;
	uint64_t		number;
	uint64_t		calls;
	uint64_t		errors;
	uint64_t		total;
};

/**
 * struct strace_summary - all calls
 * @sums:	by name
 * @nr:		number of @sums
 * @outer:	time of the calls that are in no other one, in ns
 */
struct strace_summary {
	struct strace_sum	*sums;
	unsigned int		nr;
	uint64_t		outer;
};

void strace_summary_add(struct strace_summary *summary, const struct strace_call *call,
			bool has_failed);
void strace_summary_sort(struct strace_summary *summary);
void strace_summary_print(struct strace_summary *summary, struct printer *p);
void strace_summary_free(struct strace_summary *summary);

#endif /* STRACE_SUMMARY_H */
