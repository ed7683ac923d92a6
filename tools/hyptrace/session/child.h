/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command that a verb runs while it traces. For verbs that take a COMMAND.
 */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/* The command to run while events are traced */
struct child {
	char	**argv;	/* the command; NULL without one */
	/* the standard output is for the verb, so the command writes to the standard error */
	bool	no_stdout;
	pid_t	pid;	/* its process; 0 if it was not started */
	int	pidfd;	/* readable once it has ended; -1 without a process */
	/* closing it without a byte ends the process; a byte lets it run the command */
	int	go;
	int	result;	/* an errno comes out if the command cannot be run */
	int	code;	/* its exit code, or 128 plus the number of its signal */
};

int child_prepare(struct child *child);
int child_start(struct child *child);
void child_stop(struct child *child);
bool child_save_snapshot(const char *remote, const char *path);

#endif /* CHILD_H */
