// SPDX-License-Identifier: GPL-2.0-only
/*
 * Let a pager print the output: that of $HYPTRACE_PAGER or $PAGER, else less.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "die.h"
#include "out.h"

#define PAGER_DEFAULT	"less"
/* less ends if the output fits on the screen, keeps colours, and does not clear the screen */
#define LESS_OPTIONS	"FRX"

/* Exit code of a shell that does not find its command */
#define NOT_FOUND	127

volatile sig_atomic_t pager_has_ended;

static pid_t pager;

static void on_child(int sig __attribute__((unused)))
{
	pager_has_ended = 1;
}

static const char *choose(void)
{
	const char *name = getenv("HYPTRACE_PAGER") ?: getenv("PAGER") ?: PAGER_DEFAULT;

	return *name && strcmp(name, "cat") ? name : NULL;
}

static __attribute__((noreturn)) void become(const char *name, int fd)
{
	dup2(fd, STDIN_FILENO);
	setenv("LESS", LESS_OPTIONS, 0);
	signal(SIGPIPE, SIG_DFL);
	execl("/bin/sh", "sh", "-c", name, (char *)NULL);
	_exit(NOT_FOUND);
}

/* If the standard output is a terminal */
bool pager_begin(struct out *out)
{
	/* SIGCHLD also comes when the pager is stopped, unless that is disabled */
	const struct sigaction action = {
		.sa_handler = on_child, .sa_flags = SA_RESTART | SA_NOCLDSTOP,
	};
	const char *name = isatty(STDOUT_FILENO) ? choose() : NULL;
	int fds[2];

	if (!name || pipe2(fds, O_CLOEXEC))
		return false;
	sigaction(SIGCHLD, &action, NULL);
	pager = fork();
	if (!pager)
		become(name, fds[0]);
	close(fds[0]);
	if (pager < 0) {
		close(fds[1]);
		pager = 0;
		return false;
	}
	/* Ctrl-C is for the pager: when that ends, so does the output */
	signal(SIGINT, SIG_IGN);
	out->fd = fds[1];
	return true;
}

void pager_end(struct out *out)
{
	int status = 0;

	if (!pager)
		return;
	out_flush(out);
	close(out->fd);
	out->fd = STDOUT_FILENO;
	waitpid(pager, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
		cmd_note("the pager could not be run: use --no-pager, or set PAGER");
	signal(SIGINT, SIG_DFL);
	pager = 0;
}
