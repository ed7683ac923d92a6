/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The remotes and CPUs that a verb works on.
 */
#ifndef SELECT_H
#define SELECT_H

#include "lib/hyptrace.h"
#include "cli/cli.h"

void cmd_make_printer(struct context *ctx);
int cmd_connect(struct context *ctx);
int cmd_get_remotes(struct context *ctx, bool all, struct hyptrace_remote ***remotes,
		    unsigned int *nr);
int cmd_get_remote(struct context *ctx, struct hyptrace_remote **remote);
int cmd_get_events(struct context *ctx, struct hyptrace_remote **remote,
		   struct hyptrace_event ***events);
int cmd_get_cpus(struct context *ctx, const char *remote, struct hyptrace_cpu ***cpus,
		 unsigned int *nr);

/* Request something for one CPU */
typedef int (*cpu_request_fn)(struct hyptrace *h, const char *remote, int cpu, const void *arg,
			      struct hyptrace_error *err);

int cmd_request(struct context *ctx, const char *what, int without, cpu_request_fn request,
		const void *arg);
int cmd_fail_ring(const struct context *ctx, const char *remote, unsigned int cpu,
		  const struct hyptrace_error *err, const char *hint);

#endif /* SELECT_H */
