// SPDX-License-Identifier: GPL-2.0-only
/* The command that a verb runs while it traces: it waits until events are recorded. */
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "output/die.h"
#include "loop.h"

/* What a shell adds to the number of the signal that has ended a command */
#define SIGNAL_BASE	128

/* In the new process: wait, then run the command. */
static __attribute__((noreturn)) void run_child(const struct child *child, int go)
{
	int errnum;
	char byte;

	/* the command gets the signals that hyptrace ignores */
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	if (read(go, &byte, 1) != 1)
		_exit(EXIT_REFUSED);
	if (child->no_stdout && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		close(STDOUT_FILENO);
	execvp(child->argv[0], child->argv);
	errnum = errno;
	(void)!write(go, &errnum, sizeof(errnum));
	_exit(EXIT_REFUSED);
}

/* Start the process of the command, which waits. */
int child_prepare(struct child *child)
{
	int go[2];

	child->pidfd = -1;
	child->go = -1;
	if (!child->argv)
		return EXIT_DONE;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go))
		return cmd_fail("cannot run \"%s\": %s", child->argv[0], strerror(errno));
	child->pid = fork();
	if (!child->pid) {
		close(go[1]);
		run_child(child, go[0]);
	}
	close(go[0]);
	child->go = go[1];
	if (child->pid > 0)
		child->pidfd = syscall(SYS_pidfd_open, child->pid, 0);
	if (child->pidfd >= 0)
		return EXIT_DONE;
	return cmd_fail("cannot run \"%s\": %s", child->argv[0], strerror(errno));
}

/* Wait until the process has ended. A signal that comes meanwhile is sent to it, too. */
static void wait_for_end(const struct child *child)
{
	struct pollfd end = { .fd = child->pidfd, .events = POLLIN };
	sigset_t blocked, before;

	/* no signal may come between the look at signals_stop and the wait: ppoll() lets it in */
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGHUP);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	do {
		if (signals_stop)
			kill(child->pid, SIGTERM);
	} while (ppoll(&end, 1, NULL, &before) < 0 && errno == EINTR);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

int child_start(struct child *child)
{
	int errnum;
	ssize_t n;

	if (child->pid <= 0)
		return EXIT_DONE;
	(void)!write(child->go, "", 1);
	n = TEMP_FAILURE_RETRY(read(child->go, &errnum, sizeof(errnum)));
	close(child->go);
	child->go = -1;
	if (n != sizeof(errnum))
		return EXIT_DONE;
	/* child_stop() must not find it still at work */
	wait_for_end(child);
	return cmd_fail("cannot run \"%s\": %s", child->argv[0], strerror(errnum));
}

/* Wait for the end of the command. Unlike with perf, a limit of the verb does not end it. */
void child_stop(struct child *child)
{
	struct pollfd end = { .fd = child->pidfd, .events = POLLIN };
	int status;

	if (child->pid <= 0)
		return;
	if (child->go < 0 && !signals_stop && !poll(&end, 1, 0))
		cmd_note("the tracing has ended; waiting for \"%s\", which still runs (Ctrl-C ends it)",
			 child->argv[0]);
	/* if it was not started, it ends now */
	if (child->go >= 0)
		close(child->go);
	child->go = -1;
	if (child->pidfd >= 0)
		wait_for_end(child);
	if (TEMP_FAILURE_RETRY(waitpid(child->pid, &status, 0)) == child->pid)
		child->code = WIFSIGNALED(status) ? SIGNAL_BASE + WTERMSIG(status) :
			      WEXITSTATUS(status);
	if (child->pidfd >= 0)
		close(child->pidfd);
	child->pidfd = -1;
	child->pid = 0;
}

/* Let "record --snapshot" save what the rings of a remote hold. Return whether it has. */
bool child_save_snapshot(const char *remote, const char *path)
{
	const char *const argv[] = {
		"hyptrace", "-r", remote, "record", "--snapshot", "-q", "-o", path, NULL
	};
	int status;
	pid_t pid = fork();

	if (!pid) {
		signals_end_program(true);
		/* the standard output is the verb's */
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execv("/proc/self/exe", (char *const *)argv);
		cmd_note("cannot run /proc/self/exe: %s", strerror(errno));
		_exit(EXIT_REFUSED);
	}
	if (pid < 0)
		cmd_note("cannot start a process: %s", strerror(errno));
	if (pid < 0 || TEMP_FAILURE_RETRY(waitpid(pid, &status, 0)) != pid)
		return false;
	if (WIFSIGNALED(status))
		cmd_note("cannot save the rings to \"%s\": the process that does was ended by signal %d",
			 path, WTERMSIG(status));
	return WIFEXITED(status) && !WEXITSTATUS(status);
}
