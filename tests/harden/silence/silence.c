// SPDX-License-Identifier: GPL-2.0-only
/*
 * silence SEED SEQUENCES: do each sequence of steps twice, in two processes that begin with the
 * same memory. The host does the same in both, the protected guests do not. Whatever the host can
 * see must be equal, byte for byte: each answer, and each page to which it has access.
 *
 * It prints what was tried, and ends with 0 if no guest could be seen.
 */
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "silence.h"

#define STEPS		400
#define EVERY		25	/* steps, then compare the memory */
#define NEVER		STEPS

struct rules rules;
__thread struct attack *self;

/* What a process has seen as the host */
struct seen_by_host {
	u64 sums[STEPS];	/* after each step */
	u64 nr_acts, nr_runs, nr_recorded, nr_answers;
	u8 pages[POOL][PAGE_SIZE];	/* after the step at which it was to end */
	bool can_read[POOL];
};

static struct seen_by_host *views[2];

void attack_failed(const char *file, int line, const char *what)
{
	printf("not ok - %s:%d: %s (CPU %u)\n", file, line, what, self ? self->cpu : 0);
	fflush(stdout);
	_exit(1);
}

/* cmocka's, which the files of the unit tests call */
void _fail(const char *file, const int line)
{
	attack_failed(file, line, "an assertion of the unit tests");
}

static bool host_can_read(u32 page)
{
	return env_owner(page) <= ENV_PINNED;
}

static u64 add(u64 sum, u64 word)
{
	return (sum ^ word) * 0x9e3779b97f4a7c15 ^ sum >> 29;
}

static u64 sum_of_page(u64 sum, const u64 *page)
{
	u64 parts[4] = { sum, 1, 2, 3 };
	u32 i;

	for (i = 0; i < PAGE_SIZE / sizeof(u64); i += 4) {
		parts[0] = add(parts[0], page[i]);
		parts[1] = add(parts[1], page[i + 1]);
		parts[2] = add(parts[2], page[i + 2]);
		parts[3] = add(parts[3], page[i + 3]);
	}

	return add(add(add(parts[0], parts[1]), parts[2]), parts[3]);
}

static u64 sum_of_answers(void)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < ENV_CPUS; i++)
		sum = add(add(sum, cpus[i].attack.answers), cpus[i].attack.attached);

	return sum;
}

static u64 sum_of_memory(u64 sum)
{
	u32 i;

	for (i = 0; i < POOL; i++)
		sum = host_can_read(i) ? sum_of_page(sum, env_page(i)) : add(sum, i);

	return sum;
}

static void keep_pages(struct seen_by_host *view)
{
	u32 i;

	for (i = 0; i < POOL; i++) {
		view->can_read[i] = host_can_read(i);
		if (view->can_read[i])
			memcpy(view->pages[i], env_page(i), PAGE_SIZE);
	}
}

/* A process. @every: steps between two looks at the memory. @last: keep the pages after it. */
static void look_at_steps(struct seen_by_host *view, u64 seed, u64 guest_seed, u32 every, u32 last)
{
	u32 i;

	steps_begin(seed, guest_seed);
	for (i = 0; i < STEPS; i++) {
		steps_do_one();
		view->sums[i] = sum_of_answers();
		if (i % every == every - 1)
			view->sums[i] = sum_of_memory(view->sums[i]);
		if (i == last)
			keep_pages(view);
	}
	for (i = 0; i < ENV_CPUS; i++) {
		view->nr_acts += cpus[i].nr_guest_acts;
		view->nr_runs += cpus[i].nr_guest_runs;
		view->nr_recorded += env_rings[i].recorded;
		view->nr_answers += cpus[i].attack.nr_ops;
	}
}

/* Run both processes, and return the first step after which they differ, or STEPS. */
static u32 run_both(u64 seed, u32 every, u32 last)
{
	pid_t pids[2];
	bool failed = false;
	int status;
	u32 i;

	fflush(stdout);
	for (i = 0; i < 2; i++) {
		pids[i] = fork();
		require(pids[i] >= 0);
		if (!pids[i]) {
			look_at_steps(views[i], seed, seed + i, every, last);
			_exit(0);
		}
	}
	for (i = 0; i < 2; i++) {
		require(waitpid(pids[i], &status, 0) == pids[i]);
		failed |= status;
	}
	if (failed) {
		printf("not ok - a process of sequence 0x%llx ended early\n", seed);
		exit(1);
	}
	for (i = 0; i < STEPS; i++)
		if (views[0]->sums[i] != views[1]->sums[i])
			break;

	return i;
}

/* Say what the host can see of the guests: find the step, then the bytes. */
static void report(u64 seed)
{
	u32 step = run_both(seed, 1, NEVER), page, at;

	run_both(seed, 1, step);
	printf("not ok - the host sees what protected guests do: sequence 0x%llx, step %u\n", seed,
	       step);
	for (page = 0; page < POOL; page++) {
		const u8 *first = views[0]->pages[page], *second = views[1]->pages[page];

		if (views[0]->can_read[page] != views[1]->can_read[page])
			printf("# page %u: only one of both can read it\n", page);
		for (at = 0; at < PAGE_SIZE && first[at] == second[at]; at++)
			;
		if (at < PAGE_SIZE)
			printf("# page %u, byte %u: %02x and %02x\n", page, at, first[at],
			       second[at]);
	}
	exit(1);
}

static void start_pool(void)
{
	static const enum env_owner owners[] = { ENV_SHARED, ENV_GUEST, ENV_PKVM };
	u32 i;

	env_packed = true;
	env_start(POOL);
	for (i = 0; i < OTHERS; i++)
		require(env_change(OTHERS_FIRST + i, ENV_HOST, owners[i % ENV_NR(owners)]));
	env_pages_known = true;
	env_pages_hook = call_pages_hook;
	for (i = 0; i < 2; i++) {
		views[i] = mmap(NULL, sizeof(*views[i]), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		require(views[i] != MAP_FAILED);
	}
}

int main(int argc, char **argv)
{
	u64 seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	u64 nr = argc > 2 ? strtoull(argv[2], NULL, 0) : 100, i, sequence;

	start_pool();
	for (i = 0; i < nr; i++) {
		sequence = env_random(&seed);
		if (run_both(sequence, EVERY, NEVER) < STEPS)
			report(sequence);
	}
	printf("%llu steps, %llu answers, %llu events at the end\n", nr * STEPS,
	       views[0]->nr_answers, views[0]->nr_recorded);
	printf("%llu runs of protected guests, which did %llu and %llu things\n",
	       views[0]->nr_runs, views[0]->nr_acts, views[1]->nr_acts);
	/* Guests that do nothing, or a host that sees nothing, would prove nothing. */
	require(views[0]->nr_acts != views[1]->nr_acts);
	require(views[0]->nr_runs >= nr && views[0]->nr_recorded > nr);

	return 0;
}
