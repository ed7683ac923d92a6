/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Print events that the kernel has described, in files that trace-cmd has recorded. For format.c.
 */
#ifndef HYPTRACE_FORMAT_FOREIGN_H
#define HYPTRACE_FORMAT_FOREIGN_H

#include "internal.h"

struct tep_event;
struct trace_seq;

/* format.c */
void hyptrace_formats_distrust(struct hyptrace_formats *fmts);

bool hyptrace_foreign_print(struct tep_handle *tep, struct trace_seq *s,
			    struct tep_event *tep_event, const struct hyptrace_event *event,
			    const struct hyptrace_record *rec);
bool hyptrace_foreign_task(struct tep_handle *tep, struct trace_seq *s,
			   const struct hyptrace_event *event, const struct hyptrace_record *rec);

#endif /* HYPTRACE_FORMAT_FOREIGN_H */
