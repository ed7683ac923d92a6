/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The wait loop of each verb that waits: for events, signals, its command, the reader of its
 * output, notifications and times.
 */
#ifndef LOOP_H
#define LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/hyptrace.h"
#include "cli/cli.h"
#include "child.h"

/* What take() returns besides an exit code, which ends the loop */
enum {
	LOOP_AGAIN = -1,	/* there may be more at once */
	LOOP_WAIT = -2,		/* there is no more at present */
};

struct loop;

/* Each may be NULL. */
struct loop_ops {
	/* take what there is, but not for ever */
	int (*take)(struct loop *l);
	/* called at each turn, with CLOCK_MONOTONIC; returns when the next call is due */
	uint64_t (*tick)(struct loop *l, uint64_t now);
	/* a notification; not 0 ends the loop */
	hyptrace_notification_fn hear;
	/* after notifications, of which some may be lost; returns LOOP_WAIT or an exit code */
	int (*heard)(struct loop *l, bool lost);
	/* the user has pressed a key */
	void (*input)(struct loop *l);
	/* the end was requested; without it, or if it returns false, the loop ends at once */
	bool (*stop)(struct loop *l);
};

struct loop {
	struct context			*ctx;
	const struct loop_ops		*ops;
	void				*arg;
	/* readable: take() finds something; or -1 */
	int				fd;
	int				input_fd;	/* or -1 */
	struct hyptrace_listener	*listener;	/* or NULL */
	const struct child		*child;		/* its end is that of the loop; or NULL */
	uint64_t			deadline;	/* by CLOCK_MONOTONIC */
	/* go on if nobody reads the output any more */
	bool				ignores_output;
	bool				is_over;	/* set it to request the end */
	bool				has_ended;	/* the end was requested */
};

#define LOOP(ctx_, ops_, arg_) \
	{ .ctx = ctx_, .ops = ops_, .arg = arg_, .fd = -1, .input_fd = -1, .deadline = UINT64_MAX }

int loop_run(struct loop *l);
int loop_listen(struct loop *l);

#endif /* LOOP_H */
