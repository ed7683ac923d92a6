// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make random hypercalls on this CPU, through the module hyptrace_calls, and print a line for each:
 *
 *	random_calls NUMBER [SEED [all]]
 *
 *	CPU ID INVALID ARG1 ARG2 ARG3 ARG4 RET NAME
 *
 * It prints "ready" once KVM and the module make no hypercalls any more, waits for a line of
 * standard input, makes the calls, prints their lines and "done", and waits for the end of standard
 * input.
 *
 * ID is what the event host_hcall has, and NAME the hypercall of that number, also if EL2 has
 * refused the call because its function id is of another range; it is empty if there is none. The
 * numbers are hexadecimal but for CPU and INVALID. The calls of hyptrace itself are left out: they
 * leave no events.
 *
 * With "all", it makes so many calls on each CPU, at the same time, and prints no lines for them.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls_random.h"
#include "cpus.h"

static void print(const struct calls_info *info, const struct calls_one *call)
{
	uint64_t number = (call->x[0] & ~info->hints) - info->base;
	uint32_t id = number < CALLS_NUMBERS ? number : call->x[0];
	unsigned int i;

	printf("%u %" PRIx32 " %d", call->cpu, id, !!call->ret[0]);
	for (i = 1; i < 5; i++)
		printf(" %" PRIx64, (uint64_t)call->x[i]);
	printf(" %" PRIx64 " %s\n", (uint64_t)call->ret[1],
	       id < info->nr_known ? info->known[id].name : "");
}

/* Make them on all CPUs, a process for each. */
static void make_on_all(const struct calls *calls, struct calls_log *log, size_t nr,
			uint64_t seed)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int status;
	long cpu;

	for (cpu = 0; cpu < cpus; cpu++) {
		if (fork())
			continue;
		log->failed = pin_to(cpu);
		calls_make_random(calls, log, nr, seed + cpu);
		_exit(log->failed);
	}
	while (wait(&status) > 0)
		log->failed |= status != 0;
}

int main(int argc, char **argv)
{
	size_t nr = argc > 1 ? strtoul(argv[1], NULL, 0) : 0, i;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	struct calls calls = {};
	struct calls_log *log;

	if (!nr) {
		fputs("usage: random_calls NUMBER [SEED [all]]\n", stderr);
		return 1;
	}
	/* after a reserving call comes another one */
	log = calloc(1, sizeof(*log) + 2 * nr * sizeof(log->list[0]));
	if (!log || pin_to(sched_getcpu()) || calls_open(&calls)) {
		perror("random_calls");
		return 2;
	}
	puts("ready");
	fflush(stdout);
	if (getchar() != EOF)
		(argc > 3 ? make_on_all : calls_make_random)(&calls, log, nr, seed);
	for (i = 0; i < log->nr; i++)
		if (!calls_is_own(&calls, &log->list[i]))
			print(&calls.info, &log->list[i]);
	puts("done");
	fflush(stdout);
	while (getchar() != EOF)
		;
	if (calls_close(&calls) || log->failed) {
		fputs("random_calls: the calls could not be made\n", stderr);
		return 2;
	}
	free(log);
	return 0;
}
