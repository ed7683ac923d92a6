/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hyptrace strace -c: the calls by name.
 */
#ifndef STRACE_SUMMARY_H
#define STRACE_SUMMARY_H

#include "strace.h"

struct printer;

/* The calls of a name */
struct strace_sum {
	enum hyptrace_kind	kind;
	const char		*name;		/* NULL if @key has none */
	uint64_t		key;
	uint64_t		calls;
	uint64_t		errors;
	uint64_t		total;		/* in ns */
};

struct strace_summary {
	struct strace_sum	*sums;
	unsigned int		nr;
	uint64_t		outer;		/* ns of the calls that are in no other one */
};

void strace_summary_add(struct strace_summary *summary, const struct hyptrace_span *call,
			bool has_failed);
void strace_summary_sort(struct strace_summary *summary);
void strace_summary_print(struct strace_summary *summary, struct printer *p);
void strace_summary_free(struct strace_summary *summary);

#endif /* STRACE_SUMMARY_H */
