/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hyptrace strace: the calls. For cmd_strace.c and the files strace_*.c.
 */
#ifndef STRACE_H
#define STRACE_H

#include <inttypes.h>
#include <stdio.h>

#include "lib/hyptrace_model.h"

struct lines;

/* The hypercall that runs a guest: the exits of the guest are inside it */
#define STRACE_RUN_CALL		"__kvm_vcpu_run"

/* The kinds of events that are calls, from the outer to the inner ones */
#define STRACE_FIRST	HYPTRACE_KIND_HYPERCALL
#define STRACE_LAST	HYPTRACE_KIND_GUEST_FIXUP

/* The events of a remote or of a file */
struct strace_events {
	struct hyptrace_model			*model;
	struct hyptrace_formats			*formats;
	struct hyptrace_hypercall *const	*hypercalls;	/* or NULL */
	unsigned int				nr_hypercalls;
};

/* Bytes of a call's name at most, if its number has none */
#define STRACE_NUMBER_SIZE	24

static inline const char *strace_name(const char *name, uint64_t key,
				      char number[STRACE_NUMBER_SIZE])
{
	if (name)
		return name;
	snprintf(number, STRACE_NUMBER_SIZE, "0x%" PRIx64, key & ~HYPTRACE_KEY_TRAP);
	return number;
}

/* strace_print.c */
void strace_print(struct lines *lines, const struct hyptrace_span *call, bool times);

#endif /* STRACE_H */
