// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parts of the benchmarks that run inside the machine. Each but the last two prints
 * the CPU time that it took, in nanoseconds. With --icount this is the number of
 * instructions; time in which the CPU idles is not.
 *
 *	inside run COMMAND...		run a command
 *	inside lines N PATH		read N lines of text
 *	inside read N FILE REMOTE	read(2) N sub-buffers of CPU 0 into a file
 *	inside splice N FILE REMOTE	the same by splice(2)
 *	inside latency N TRIGGER PATH	N times write to TRIGGER and wait for a line from
 *					PATH; print the longest time
 *	inside until WORD PATH		print the number of lines before one with WORD
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/hyptrace.h>

#define BUFFER		(256 << 10)
/* Pauses from 0 to 20 ms, all different, so that they are not in step with any timer. */
#define PAUSE(i)	((i) * 7919 % 20011)

static char buffer[BUFFER];

static void fail(const char *what)
{
	fprintf(stderr, "inside: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int must_open(const char *path, int flags)
{
	int fd = open(path, flags, 0600);

	if (fd < 0)
		fail(path);

	return fd;
}

static uint64_t now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);

	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/* Begin each measurement right after a tick, so that each has about the same number of ticks. */
static void wait_for_tick(void)
{
	uint64_t before = now(CLOCK_MONOTONIC_COARSE);

	while (now(CLOCK_MONOTONIC_COARSE) == before)
		;
}

static uint64_t run(char **command)
{
	struct rusage used;
	pid_t child;
	int status;

	wait_for_tick();
	child = fork();
	if (!child) {
		/* the caller must not get the command's output */
		dup2(2, 1);
		execvp(command[0], command);
		fail(command[0]);
	}
	if (child < 0 || wait4(child, &status, 0, &used) < 0)
		fail("running a command");
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		fprintf(stderr, "inside: %s failed\n", command[0]);
		exit(1);
	}

	return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000ULL +
	       (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000ULL;
}

static long count_lines(const char *text, size_t len)
{
	const char *end = text + len;
	long nr = 0;

	while ((text = memchr(text, '\n', end - text))) {
		text++;
		nr++;
	}

	return nr;
}

static void read_lines(int fd, long nr)
{
	ssize_t len;

	while (nr > 0) {
		len = read(fd, buffer, sizeof(buffer));
		if (len <= 0)
			fail("reading lines");
		nr -= count_lines(buffer, len);
	}
}

static uint64_t lines(long nr, const char *path)
{
	int fd = must_open(path, O_RDONLY);
	uint64_t start;

	wait_for_tick();
	start = now(CLOCK_PROCESS_CPUTIME_ID);
	read_lines(fd, nr);

	return now(CLOCK_PROCESS_CPUTIME_ID) - start;
}

static int attach(struct hyptrace_attach *how, const char *remote)
{
	int fd = must_open("/dev/hyptrace", O_RDONLY);

	how->size = sizeof(*how);
	if (snprintf(how->remote, sizeof(how->remote), "%s", remote) >= (int)sizeof(how->remote)) {
		errno = ENAMETOOLONG;
		fail(remote);
	}
	if (ioctl(fd, HYPTRACE_IOC_ATTACH, how))
		fail("attaching to CPU 0");

	return fd;
}

static uint64_t drain(long nr, const char *path, const char *remote)
{
	struct hyptrace_attach how = { };
	int fd = attach(&how, remote), to = must_open(path, O_WRONLY | O_CREAT);
	size_t left = nr * how.subbuf_size;
	uint64_t start;
	ssize_t len;

	wait_for_tick();
	start = now(CLOCK_PROCESS_CPUTIME_ID);
	while (left) {
		len = read(fd, buffer, left < sizeof(buffer) ? left : sizeof(buffer));
		if (len <= 0)
			fail("reading sub-buffers");
		if (write(to, buffer, len) != len)
			fail(path);
		left -= len;
	}

	return now(CLOCK_PROCESS_CPUTIME_ID) - start;
}

static uint64_t drain_by_splice(long nr, const char *path, const char *remote)
{
	struct hyptrace_attach how = { };
	int fd = attach(&how, remote), to = must_open(path, O_WRONLY | O_CREAT);
	size_t left = nr * how.subbuf_size;
	ssize_t len, moved;
	int ends[2];
	uint64_t start;

	if (pipe(ends) || fcntl(ends[1], F_SETPIPE_SZ, BUFFER) < 0)
		fail("making a pipe");
	wait_for_tick();
	start = now(CLOCK_PROCESS_CPUTIME_ID);
	while (left) {
		len = splice(fd, NULL, ends[1], NULL, left < BUFFER ? left : BUFFER, 0);
		if (len <= 0)
			fail("splicing sub-buffers");
		left -= len;
		for (; len; len -= moved) {
			moved = splice(ends[0], NULL, to, NULL, len, SPLICE_F_MOVE);
			if (moved <= 0)
				fail(path);
		}
	}

	return now(CLOCK_PROCESS_CPUTIME_ID) - start;
}

static uint64_t latency(long nr, const char *trigger, const char *path)
{
	int from = must_open(path, O_RDONLY), to = must_open(trigger, O_WRONLY);
	uint64_t start, took, worst = 0;
	long i;

	/* The first round is not counted: it ensures that the reader has started. */
	for (i = 0; i <= nr; i++) {
		usleep(PAUSE(i));
		start = now(CLOCK_MONOTONIC);
		if (pwrite(to, "1", 1, 0) != 1)
			fail(trigger);
		read_lines(from, 1);
		took = now(CLOCK_MONOTONIC) - start;
		if (i && took > worst)
			worst = took;
	}

	return worst;
}

static uint64_t until(const char *word, const char *path)
{
	FILE *from = fopen(path, "r");
	uint64_t nr = 0;

	if (!from)
		fail(path);
	while (fgets(buffer, sizeof(buffer), from) && !strstr(buffer, word))
		nr++;

	return nr;
}

int main(int argc, char **argv)
{
	long nr = argc > 2 ? strtol(argv[2], NULL, 0) : 0;
	uint64_t took;

	if (argc > 2 && !strcmp(argv[1], "run"))
		took = run(argv + 2);
	else if (argc == 4 && !strcmp(argv[1], "lines"))
		took = lines(nr, argv[3]);
	else if (argc == 5 && !strcmp(argv[1], "read"))
		took = drain(nr, argv[3], argv[4]);
	else if (argc == 5 && !strcmp(argv[1], "splice"))
		took = drain_by_splice(nr, argv[3], argv[4]);
	else if (argc == 5 && !strcmp(argv[1], "latency"))
		took = latency(nr, argv[3], argv[4]);
	else if (argc == 4 && !strcmp(argv[1], "until"))
		took = until(argv[2], argv[3]);
	else
		return 1;
	printf("%llu\n", (unsigned long long)took);

	return 0;
}
