// SPDX-License-Identifier: GPL-2.0-only
/*
 * Have EL2 change its text as a hostile host would, through the module hyptrace_calls, and check
 * what it answers:
 *
 *	function_storm FUNCTIONS BATCHES [SEED]
 *
 * A process for each CPU asks for functions that exist, with ids out of range and with other values
 * than 0 and 1, in any order. FUNCTIONS is how many there are. Then each is traced and not, once:
 * EL2 refuses that if its text is not what it should be. The exit code is 1 if an answer is wrong.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"

#include "../../../hyp/abi.h"

static unsigned long nr_functions;

static int64_t expected(const struct calls_one *call)
{
	return call->x[2] < nr_functions && call->x[3] <= 1 ? 0 : -EINVAL;
}

/* Make calls. Return how many answers are wrong. */
static unsigned int ask(const struct calls *calls, struct calls_one *list, unsigned int nr)
{
	unsigned int i, wrong = 0;

	if (calls_make(calls, list, nr))
		return nr;
	for (i = 0; i < nr; i++) {
		if (!list[i].ret[0] && (int64_t)list[i].ret[1] == expected(&list[i]))
			continue;
		wrong++;
		printf("function %#llx, %#llx: %lld, not %lld\n",
		       (unsigned long long)list[i].x[2], (unsigned long long)list[i].x[3],
		       (long long)list[i].ret[1], (long long)expected(&list[i]));
	}
	return wrong;
}

static uint64_t any_id(void)
{
	static const uint64_t odd[] = { ~0ULL, 1ULL << 63, 1ULL << 32, 1ULL << 16, 2048, 4096 };

	switch (rand() % 8) {
	case 0:
		return odd[rand() % (sizeof(odd) / sizeof(*odd))];
	case 1:
		return nr_functions + rand() % 3;
	default:
		return rand() % nr_functions;
	}
}

static uint64_t any_switch(void)
{
	uint64_t value = rand();

	return value % 16 ? value & 1 : value << 1;
}

static unsigned int storm(const struct calls *calls, unsigned long batches)
{
	struct calls_one list[CALLS_BATCH / 4];
	const unsigned int nr = sizeof(list) / sizeof(*list);
	unsigned int i, wrong = 0;

	for (; batches && !wrong; batches--) {
		for (i = 0; i < nr; i++)
			list[i] = calls_hvc(calls, "__hyptrace", HYPTRACE_OP_FUNCTION, any_id(),
					    any_switch());
		wrong = ask(calls, list, nr);
	}
	return wrong;
}

static unsigned int set_all(const struct calls *calls, bool on)
{
	unsigned int wrong = 0;
	unsigned long id;

	for (id = 0; id < nr_functions; id++) {
		struct calls_one call = calls_hvc(calls, "__hyptrace", HYPTRACE_OP_FUNCTION, id,
						  on);

		wrong += ask(calls, &call, 1);
	}
	return wrong;
}

int main(int argc, char **argv)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int seed = argc > 3 ? strtoul(argv[3], NULL, 0) : 1;
	struct calls calls = {};
	int status, failed = 0;
	long i;

	nr_functions = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
	if (argc < 3 || !nr_functions) {
		fputs("usage: function_storm FUNCTIONS BATCHES [SEED]\n", stderr);
		return 2;
	}
	if (calls_open_without_vm(&calls)) {
		perror("function_storm");
		return 2;
	}
	for (i = 0; i < cpus; i++) {
		if (!fork()) {
			srand(seed + i);
			fflush(stdout);
			exit(!!storm(&calls, strtoul(argv[2], NULL, 0)));
		}
	}
	while (wait(&status) > 0)
		failed |= status;
	return failed || set_all(&calls, false) || set_all(&calls, true) || set_all(&calls, false);
}
