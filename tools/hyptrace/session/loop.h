/* SPDX-License-Identifier: GPL-2.0-only */
/* The wait loop of each verb that waits, the signals that end it, and the command of a verb. */
#ifndef LOOP_H
#define LOOP_H

#include <sys/types.h>

#include "lib/hyptrace.h"
#include "cli/cli.h"

/* The signal that has arrived, or 0: the verb must end. */
extern volatile sig_atomic_t signals_stop;
/* Another one has arrived, or a second has passed: give up output that blocks. */
extern volatile sig_atomic_t signals_abandon;

int signals_catch(void);
void signals_give_time(void);
int signals_fd(void);
void signals_end_program(bool end);

/* child.c: the command that a verb runs while it traces */
struct child {
	char	**argv;	/* the command; NULL without one */
	bool	no_stdout;	/* that is for the verb: the command has the standard error */
	pid_t	pid;	/* its process; 0 if it was not started */
	int	pidfd;	/* readable once it has ended; -1 without a process */
	/* a byte makes it run, a close without one ends it; an errno comes out if it cannot run */
	int	go;
	int	code;	/* its exit code, or 128 plus the number of its signal */
};

int child_prepare(struct child *child);
int child_start(struct child *child);
void child_stop(struct child *child);
bool child_save_snapshot(const char *remote, const char *path);

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
	int				fd;		/* readable: take() has work; or -1 */
	int				input_fd;	/* or -1 */
	struct hyptrace_listener	*listener;	/* or NULL */
	const struct child		*child;		/* its end is that of the loop; or NULL */
	uint64_t			deadline;	/* by CLOCK_MONOTONIC */
	uint64_t			duration;	/* from loop_run() on, ns; 0: no limit */
	bool				ignores_output;	/* go on if nobody reads it any more */
	bool				is_over;	/* set it to request the end */
	bool				has_ended;	/* the end was requested */
};

#define LOOP(ctx_, ops_, arg_) \
	{ .ctx = ctx_, .ops = ops_, .arg = arg_, .fd = -1, .input_fd = -1, .deadline = UINT64_MAX }

int loop_run(struct loop *l);
int loop_listen(struct loop *l);

#endif /* LOOP_H */
