// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run a verb in a process of its own: it may exit anywhere, and leaves nothing to the next one.
 * What it has reached, and the memory that it took, come back through shared memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"

/* The files of a process may have so many bytes. */
#define OUTPUT_MAX	((rlim_t)256 << 20)

/* Of verbs, with EXIT_FOUND of leaks */
#define CODE_MAX	3

static struct result {
	size_t	memory;
	bool	bad;
	uint8_t	reached[];
} *result;

static int (*verb_main)(int argc, char **argv);
static bool is_verb;	/* this process runs one: else it is libFuzzer */

/* The linker has the calls of the verbs come here (--wrap). */
void __real_exit(int code) __attribute__((noreturn));
void __real__exit(int code) __attribute__((noreturn));
pid_t __real_waitpid(pid_t pid, int *status, int options);
void __wrap_exit(int code) __attribute__((noreturn));
void __wrap__exit(int code) __attribute__((noreturn));
pid_t __wrap_waitpid(pid_t pid, int *status, int options);
bool __wrap_child_save_snapshot(const char *remote, const char *path);

/*
 * No verb ends with the code of a sanitizer, whose default is 1. All processes would ask the same
 * symbolizer, and get answers of each other: ASAN_OPTIONS=symbolize=1 is for a single file.
 */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "exitcode=77:symbolize=0";
}

static size_t nr_counters(void)
{
	return __stop___sancov_cntrs - __start___sancov_cntrs;
}

static bool is_good(int status)
{
	return WIFEXITED(status) && WEXITSTATUS(status) <= CODE_MAX;
}

/* Report what this process has reached. What is already there comes from processes of its own. */
void __wrap__exit(int code)
{
	const size_t memory = fuzz_memory_peak();
	size_t i;

	if (!is_verb)
		__real__exit(code);
	if (memory > result->memory)
		result->memory = memory;
	for (i = 0; i < nr_counters(); i++)
		if (__start___sancov_cntrs[i] > result->reached[i])
			result->reached[i] = __start___sancov_cntrs[i];
	__real__exit(code);
}

/* libFuzzer takes exit() for a mistake of the target. */
void __wrap_exit(int code)
{
	if (!is_verb)
		__real_exit(code);
	fflush(NULL);
	__wrap__exit(code);
}

/* export of many files, and of dumps, wait for processes of their own. */
pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
	const pid_t ended = __real_waitpid(pid, status, options);

	if (ended > 0 && !is_good(*status))
		result->bad = true;
	return ended;
}

/* The verbs run themselves to read a dump: the program is the fuzzer. */
bool __wrap_child_save_snapshot(const char *remote, const char *path)
{
	const char *const argv[] = {
		"hyptrace", "-r", remote, "record", "--snapshot", "-q", "-o", path, NULL
	};
	int status;
	pid_t pid = fork();

	fuzz_check(pid >= 0, "there is no process");
	if (!pid)
		exit(verb_main(sizeof(argv) / sizeof(argv[0]) - 1, (char **)argv));
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status);
}

static void limit(int resource, rlim_t max)
{
	const struct rlimit limits = { .rlim_cur = max, .rlim_max = max };

	setrlimit(resource, &limits);
}

static void begin_child(int out, int log)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	is_verb = true;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* of libFuzzer's own handlers, one would go on */
	signal(SIGXCPU, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	limit(RLIMIT_CPU, FUZZ_SECONDS_MAX);
	limit(RLIMIT_FSIZE, OUTPUT_MAX);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(log, STDERR_FILENO) < 0)
		__real__exit(CODE_MAX + 1);
	memset(__start___sancov_cntrs, 0, nr_counters());
	fuzz_memory_begin();
}

/**
 * fuzz_run - run a verb
 * @run:	main()
 * @argc:	number of words
 * @argv:	the command line
 * @out:	descriptor of a file that takes its output
 * @log:	descriptor that takes what it says
 *
 * Return: how it has ended.
 */
struct fuzz_end fuzz_run(int (*run)(int argc, char **argv), int argc, char **argv, int out,
			 int log)
{
	const size_t size = sizeof(*result) + nr_counters();
	struct fuzz_end end;
	int status;
	pid_t pid;

	if (!result) {
		result = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			      -1, 0);
		fuzz_check(result != MAP_FAILED, "there is no memory");
		verb_main = run;
	}
	memset(result, 0, size);
	pid = fork();
	fuzz_check(pid >= 0, "there is no process");
	if (!pid) {
		begin_child(out, log);
		exit(run(argc, argv));
	}
	while (__real_waitpid(pid, &status, 0) < 0)
		fuzz_check(errno == EINTR, "cannot wait for a process");
	memcpy(__start___sancov_cntrs, result->reached, nr_counters());
	end.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
	end.memory = result->memory;
	end.bad = result->bad || !is_good(status);
	return end;
}
