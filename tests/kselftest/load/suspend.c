// SPDX-License-Identifier: GPL-2.0-only
/*
 * suspend REMOTE...: suspend the machine while it traces: afterwards the rings, the readers and the
 * time must be right. suspend --hostile: suspend it while the module hyptrace_hostile attacks EL2.
 *
 * The file systems of the test bed do not survive a suspend. So this program locks itself in
 * memory, prints its results on the console, and switches the machine off at the end: it needs a
 * boot of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "control.h"
#include "page.h"
#include "subbuf.h"

#define RING_SIZE	(64 * 1024)
#define CPUS		2
#define BEFORE		500		/* events on each CPU before the suspend */
#define AFTER		100		/* events on CPU 1 after it */
#define SLEEP_S		3
#define TRIES		5
#define PATIENCE_MS	10000
#define NSEC_PER_SEC	1000000000ULL

/* Allowed error of the event times: far less than the length of the suspend */
#define SLACK_NS	(NSEC_PER_SEC / 2)

static int console;
static unsigned int passed, failed;
static char page[PAGE_MAX] __attribute__((aligned(8)));

static void say(const char *format, ...)
{
	char line[200];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (write(console, line, len) != len)
		_exit(1);
}

static void check(bool right, const char *remote, const char *what)
{
	say("%s - suspend of %s: %s\n", right ? "ok" : "not ok", remote, what);
	if (right)
		passed++;
	else
		failed++;
}

static uint64_t now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static bool put(const char *path, const char *text)
{
	ssize_t len = strlen(text);
	int fd = open(path, O_WRONLY);
	bool done = fd >= 0 && write(fd, text, len) == len;

	close(fd);
	return done;
}

/* Return true if the machine slept. Try again: the alarm may ring before it sleeps. */
static bool suspend(void)
{
	uint64_t asleep;
	char alarm[16];
	int try;

	for (try = 0; try < TRIES; try++) {
		asleep = now(CLOCK_BOOTTIME) - now(CLOCK_MONOTONIC);
		put("/sys/class/rtc/rtc0/wakealarm", "0");
		snprintf(alarm, sizeof(alarm), "+%d", SLEEP_S + try);
		if (!put("/sys/class/rtc/rtc0/wakealarm", alarm))
			return false;
		put("/sys/power/state", "freeze");
		asleep = now(CLOCK_BOOTTIME) - now(CLOCK_MONOTONIC) - asleep;
		if (asleep > NSEC_PER_SEC / 2)
			return true;
	}
	return false;
}

/* Start a child that waits for the next event of CPU 0 during the suspend. */
static pid_t waiting_reader(const char *remote)
{
	struct pollfd poll_fd = { .events = POLLIN };
	pid_t child = fork();

	if (child)
		return child;
	mlockall(MCL_CURRENT | MCL_FUTURE);
	poll_fd.fd = open_attached(remote, 0, O_NONBLOCK);
	/* Read the events from before the suspend. */
	while (read(poll_fd.fd, page, PAGE) == PAGE)
		;
	if (errno != EAGAIN)
		_exit(1);
	if (poll(&poll_fd, 1, 10 * PATIENCE_MS) != 1 || poll_fd.revents != POLLIN)
		_exit(2);
	_exit(read(poll_fd.fd, page, PAGE) == PAGE ? 0 : 3);
}

/* Check the events of CPU 1, which has no reader during the suspend. */
static void check_events(struct nl *nl, const char *remote, uint64_t resumed)
{
	struct sequence seq = { .event = control_event_id(nl, remote, "selftest") };
	uint64_t last = 0;
	int fd = open_attached(remote, 1, O_NONBLOCK);

	while (read(fd, page, PAGE) == PAGE)
		sequence_feed(&seq, page, PAGE);
	last = seq.time;
	close(fd);
	check(!seq.bad[0] && !seq.lost && seq.seen == BEFORE + AFTER, remote,
	      "all events from before and after the suspend can be read, in order");
	check(last + SLACK_NS >= resumed && last <= now(CLOCK_BOOTTIME) + SLACK_NS, remote,
	      "events after the suspend have times of CLOCK_BOOTTIME");
}

static void run(struct nl *nl, const char *remote)
{
	struct counts counts;
	uint64_t resumed;
	pid_t child;
	int status;

	if (control_fresh(nl, remote) ||
	    control_ready(nl, remote, RING_SIZE, HYPTRACE_MODE_OVERWRITE) ||
	    control_mark(nl, remote, 0, 0, BEFORE) || control_mark(nl, remote, 1, 0, BEFORE)) {
		check(false, remote, "tracing starts");
		return;
	}
	child = waiting_reader(remote);
	usleep(200 * 1000);

	check(suspend(), remote, "the machine sleeps");
	resumed = now(CLOCK_BOOTTIME);
	check(!control_counts(nl, remote, 1, &counts) && counts.written == BEFORE &&
	      counts.unread == BEFORE && counts.state == HYPTRACE_CPU_STATE_ATTACHED, remote,
	      "counters and CPU state are the same as before the suspend");
	check(!control_mark(nl, remote, 0, BEFORE, 1) &&
	      !control_mark(nl, remote, 1, BEFORE, AFTER), remote, "events are recorded again");
	check(waitpid(child, &status, 0) == child && !status, remote,
	      "the reader that waited during the suspend gets the next event");
	check_events(nl, remote, resumed);
	check(!control_fresh(nl, remote), remote, "the remote can be unloaded");
}

#define ATTACK	"/sys/module/hyptrace_hostile/parameters/"

static unsigned long number_of(const char *path)
{
	char text[32] = "";
	int fd = open(path, O_RDONLY);

	if (read(fd, text, sizeof(text) - 1) <= 0)
		text[0] = 0;
	close(fd);
	return strtoul(text, NULL, 0);
}

/* Suspend the machine until all calls are made. */
static void run_attack(void)
{
	unsigned int suspends = 0, waited;

	while (number_of(ATTACK "left") && suspend())
		suspends++;
	for (waited = 0; number_of(ATTACK "left") && waited < PATIENCE_MS; waited += 100)
		usleep(100000);
	check(!number_of(ATTACK "left"), "attack", "all calls are made");
	check(suspends, "attack", "the machine sleeps");
	check(put(ATTACK "finish", "1"), "attack", "it ends");
	check(number_of(ATTACK "made") && !number_of(ATTACK "failures"), "attack",
	      "EL2 has answered as it must, in time, and gives all pages back");
	say("# tried: %lu hypercalls during %u suspends\n", number_of(ATTACK "made"), suspends);
}

int main(int argc, char **argv)
{
	const bool attack = argc == 2 && !strcmp(argv[1], "--hostile");
	struct nl nl;

	console = open("/dev/console", O_WRONLY);
	if (console < 0 || mlockall(MCL_CURRENT | MCL_FUTURE) || (!attack && nl_open(&nl))) {
		perror("suspend");
		return EXIT_FAILURE;
	}
	if (attack)
		run_attack();
	for (argv++; *argv && !attack; argv++)
		run(&nl, *argv);
	say("%u passed, %u failed\n", passed, failed);
	fsync(console);
	usleep(200 * 1000);
	reboot(RB_POWER_OFF);
	return EXIT_FAILURE;
}
