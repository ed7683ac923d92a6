// SPDX-License-Identifier: GPL-2.0-only
/*
 * For the scripts of the kselftests: run a command while a descriptor is attached.
 *
 *	hold REMOTE COMMAND [ARGUMENT]...
 *
 * The exit code is that of the command.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control.h"

int main(int argc, char **argv)
{
	int fd, status;
	pid_t child;

	if (argc < 3) {
		fprintf(stderr, "usage: hold REMOTE COMMAND [ARGUMENT]...\n");
		return 2;
	}
	fd = open_attached(argv[1], HYPTRACE_CPU_ALL, 0);
	if (fd < 0) {
		fprintf(stderr, "hold: cannot attach to %s: %s\n", argv[1], strerror(-fd));
		return EXIT_FAILURE;
	}
	child = fork();
	if (!child) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return EXIT_FAILURE;
	close(fd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}
