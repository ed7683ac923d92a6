// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes that send requests and make system calls of the device at random, and are killed at
 * random. Afterwards the remote has no reader, no event is held, a reset brings it back, and the
 * memory of the kernel is what it was. The log of the kernel must have no warning.
 *
 * HYPTRACE_HOSTILE_CALLS (6000) is how many requests and ioctls are made at least, each, and
 * HYPTRACE_HOSTILE_SEED (1) chooses them. Which of them happen beside each other is another in each
 * run. So many percent of the allocations of these processes, and of their copies from and to user
 * space, fail: HYPTRACE_HOSTILE_FAULTS (0).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "fault.h"
#include "free_memory.h"
#include "hostile.h"
#include "remotes.h"

#define NR_PROCESSES	4
#define CALLS		6000
/* For a million of each under a kernel in user mode */
#define PATIENCE_S	1500
#define PATIENCE_MS	10000
#define KILL_US		30000
/* The slabs of the kernel are not given back at once. */
#define SLACK_KB	2048
#define ROUNDS		3
#define MOST_ROUNDS	6

REMOTE_FIXTURE(hostile);

static uint64_t setting(const char *name, uint64_t value)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : value;
}

static void attack(struct hostile *h)
{
	if (nl_open(&h->nl))
		_exit(1);
	fault_join_storm();
	/* a fault of what is mapped is one of the ends that a process may find */
	for (;;) {
		if (hostile_below(h, 2))
			hostile_request(h);
		else
			hostile_device(h);
	}
}

static pid_t begin(const char *remote, struct hostile_tries *tries, uint64_t seed)
{
	struct hostile h = { .random = seed, .remote = remote, .tries = tries };
	const pid_t child = fork();

	if (!child)
		attack(&h);
	return child;
}

static bool is_done(const struct hostile_tries *tries, uint64_t calls)
{
	return __atomic_load_n(&tries->requests, __ATOMIC_RELAXED) >= calls &&
	       __atomic_load_n(&tries->ioctls, __ATOMIC_RELAXED) >= calls;
}

/* Have processes attack until there were so many calls; kill one after another meanwhile. */
static void storm(const char *remote, struct hostile_tries *tries, uint64_t calls, uint64_t *seed)
{
	pid_t children[NR_PROCESSES] = {};
	struct hostile chance = { .random = ++*seed };
	unsigned int i, nr_killed = 0;

	while (!is_done(tries, calls)) {
		i = nr_killed++ % NR_PROCESSES;
		if (children[i]) {
			kill(children[i], SIGKILL);
			waitpid(children[i], NULL, 0);
		}
		children[i] = begin(remote, tries, ++*seed << 32);
		usleep(hostile_below(&chance, KILL_US));
	}
	for (i = 0; i < NR_PROCESSES; i++) {
		if (!children[i])
			continue;
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
}

static unsigned int readers(struct nl *nl, const char *remote)
{
	struct info info;

	return control_info(nl, remote, &info) ? UINT_MAX : info.readers;
}

static bool has_holder(struct nl *nl, const char *remote)
{
	static struct nl_answer answer;
	static struct nl_msg msg;
	const struct nlmsghdr *hdr;

	nl_begin(&msg, nl, HYPTRACE_CMD_EVENT_GET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, remote);
	if (nl_dump(nl, &msg, &answer))
		return true;
	for (hdr = nl_first(&answer); hdr; hdr = nl_next(&answer, hdr))
		if (nl_attr(hdr, HYPTRACE_A_EVENT_HOLDER))
			return true;
	return false;
}

TEST_F_TIMEOUT(hostile, processes_leave_nothing_behind, PATIENCE_S)
{
	const uint64_t calls = setting("HYPTRACE_HOSTILE_CALLS", CALLS) / ROUNDS;
	const uint64_t percent = setting("HYPTRACE_HOSTILE_FAULTS", 0);
	uint64_t seed = setting("HYPTRACE_HOSTILE_SEED", 1), before = 0, after = 0;
	struct hostile_tries *tries, all = {};
	unsigned int round, waited;

	tries = mmap(NULL, sizeof(*tries), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	ASSERT_NE(MAP_FAILED, tries);
	if (percent)
		ASSERT_TRUE(fault_prepare_storm(percent));
	/* What was leaked is leaked in each round; what the kernel keeps otherwise is not. */
	for (round = 0; round < ROUNDS || (before > after + SLACK_KB && round < MOST_ROUNDS);
	     round++) {
		*tries = (struct hostile_tries){};
		storm(variant->remote, tries, calls, &seed);
		all.requests += tries->requests;
		all.answered += tries->answered;
		all.ioctls += tries->ioctls;
		all.attached += tries->attached;
		all.others += tries->others;
		/* what a process that was killed had is released a little later */
		for (waited = 0; waited < PATIENCE_MS; waited++) {
			if (!readers(&self->nl, variant->remote) &&
			    !has_holder(&self->nl, variant->remote))
				break;
			usleep(1000);
		}
		EXPECT_EQ(0, readers(&self->nl, variant->remote));
		EXPECT_FALSE(has_holder(&self->nl, variant->remote));
		ASSERT_EQ(0, control_fresh(&self->nl, variant->remote));
		EXPECT_UNLOADED();
		/* the first round also fills caches of the kernel */
		before = after;
		after = free_kb();
		ASSERT_NE(0, after);
		/* What was leaked never comes back. */
		for (waited = 0; before > after + SLACK_KB && waited < PATIENCE_MS; waited += 100) {
			usleep(100000);
			after = free_kb();
		}
	}
	if (percent)
		fault_prepare_storm(0);
	EXPECT_LE(before, after + SLACK_KB);
	printf("# tried: %lu requests, of which %lu were done; %lu ioctls, of which %lu attached; %lu other calls\n",
	       all.requests, all.answered, all.ioctls, all.attached, all.others);
	EXPECT_LT(0, all.answered);
	EXPECT_LT(0, all.attached);
}

TEST_HARNESS_MAIN
