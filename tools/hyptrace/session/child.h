/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command that a verb runs while it traces. For verbs that take a COMMAND.
 */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * struct child - the command to run while events are traced
 * @argv:	the command; NULL without one
 * @no_stdout:	the standard output is for the verb, so the command writes to the standard error
 * @pid:	its process; 0 if it was not started
 * @pidfd:	readable once it has ended; -1 without a process
 * @go:		closing it without a byte ends the process; a byte lets it run the command
 * @result:	an errno comes out if the command cannot be run
 * @code:	its exit code, or 128 plus the number of its signal
 */
struct child {
	char	**argv;
	bool	no_stdout;
	pid_t	pid;
	int	pidfd;
	int	go;
	int	result;
	int	code;
};

int child_prepare(struct child *child);
int child_start(struct child *child);
void child_stop(struct child *child);

#endif /* CHILD_H */
