// SPDX-License-Identifier: GPL-2.0-only
/*
 * No wakeup is lost: a process reads all that there is and waits, another writes an event at a
 * random moment around that, again and again, by each way to wait and on several CPUs at once. A
 * third process changes the latency of all, which starts their timers again.
 *
 * HYPTRACE_HOSTILE_ROUNDS (400) is how many events are written in all. HYPTRACE_HOSTILE_SEED (1)
 * chooses their moments.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "kselftest_harness.h"
#include "hostile.h"
#include "page.h"
#include "remotes.h"
#include "waiting.h"

#define ROUNDS		400
#define PATIENCE_S	1500
#define RING_SIZE	(64 * 1024)
/* A shorter and a longer time than until the timer of a waiter expires */
#define LONGEST_NS	(2 * HYPTRACE_LATENCY_MIN_US * 1000)
/* A pair that makes no round for so long may have lost a wakeup. */
#define GOES_ON_NS	(20 * LONGEST_NS)

REMOTE_FIXTURE(wakeups);

enum way {
	READ,
	POLL,
	EPOLL,
	EPOLL_EDGE,
	NR_WAYS
};

static const char *const way_names[NR_WAYS] = {
	[READ]		= "read",
	[POLL]		= "poll",
	[EPOLL]		= "epoll",
	[EPOLL_EDGE]	= "epoll, edge-triggered",
};

/**
 * struct pair - a process that waits and one that writes; in memory that they share
 * @way:	how it waits
 * @cpu:	the ring of both
 * @fd:		the descriptor of the waiting one
 * @rounds:	how many events to write
 * @waiting:	number of the event for which it waits
 * @woken:	rounds that it has ended
 */
struct pair {
	enum way	way;
	unsigned int	cpu;
	int		fd;
	uint64_t	rounds;
	uint64_t	waiting;
	uint64_t	woken;
};

static uint64_t setting(const char *name, uint64_t value)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : value;
}

static void sleep_ns(uint64_t ns)
{
	struct timespec time = { .tv_nsec = ns };

	nanosleep(&time, NULL);
}

/* Wait by that way. Return false if nothing comes. */
static bool wait_by(const struct pair *pair, int epoll_fd)
{
	struct pollfd poll_fd = { .fd = pair->fd, .events = POLLIN };
	struct epoll_event got;

	switch (pair->way) {
	case POLL:
		return poll(&poll_fd, 1, SOON_MS) == 1;
	case EPOLL:
	case EPOLL_EDGE:
		return epoll_wait(epoll_fd, &got, 1, SOON_MS) == 1;
	default:
		return true;
	}
}

/* Read until nothing is left. Return how often there was something, or -errno. */
static int drain(int fd)
{
	static char buffer[PAGE_MAX] __attribute__((aligned(8)));
	int nr = 0;

	while (read(fd, buffer, sizeof(buffer)) > 0)
		nr++;
	return errno == EAGAIN ? nr : -errno;
}

/* The process that waits. An alarm ends a read() to which nothing comes. */
static int wait_all(struct pair *pair)
{
	struct epoll_event event = { .events = EPOLLIN };
	static char buffer[PAGE_MAX] __attribute__((aligned(8)));
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	int nr;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (pair->way == EPOLL_EDGE)
		event.events |= EPOLLET;
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, pair->fd, &event))
		return 1;
	while (pair->woken < pair->rounds) {
		__atomic_store_n(&pair->waiting, pair->woken + 1, __ATOMIC_RELEASE);
		if (pair->way == READ) {
			alarm(SOON_MS / 1000);
			if (read(pair->fd, buffer, sizeof(buffer)) <= 0)
				return 2;
			pair->woken++;
			continue;
		}
		/* An edge may have been there before, and what it told of was read then. */
		do {
			if (!wait_by(pair, epoll_fd))
				return 2;
			nr = drain(pair->fd);
		} while (!nr);
		if (nr < 0)
			return 3;
		pair->woken++;
	}
	return 0;
}

/* The process that writes */
static int write_all(struct pair *pair, const char *remote, uint64_t seed)
{
	struct hostile chance = { .random = seed };
	struct nl nl;
	uint64_t round;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (nl_open(&nl))
		return 1;
	for (round = 1; round <= pair->rounds; round++) {
		while (__atomic_load_n(&pair->waiting, __ATOMIC_ACQUIRE) < round)
			sched_yield();
		if (hostile_below(&chance, 4))
			sleep_ns(hostile_below(&chance, LONGEST_NS));
		if (control_mark(&nl, remote, pair->cpu, round, 1))
			return 2;
	}
	return 0;
}

/*
 * Set the latency of one of the pairs, again and again. That wakes who waits, so it must not help
 * one whose wakeup was lost: such a pair does not go on.
 */
static void unsettle(struct pair *pairs, unsigned int nr, uint64_t seed)
{
	struct hostile chance = { .random = seed };
	uint64_t woken;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		struct pair *pair = &pairs[hostile_below(&chance, nr)];

		woken = __atomic_load_n(&pair->woken, __ATOMIC_RELAXED);
		sleep_ns(GOES_ON_NS);
		if (__atomic_load_n(&pair->woken, __ATOMIC_RELAXED) == woken)
			continue;
		set_latency(pair->fd,
			    HYPTRACE_LATENCY_MIN_US * (1 + hostile_below(&chance, 2)));
		sleep_ns(hostile_below(&chance, 100 * LONGEST_NS) % 999999999);
	}
}

static int end_of(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST_F_TIMEOUT(wakeups, none_is_lost, PATIENCE_S)
{
	const uint64_t rounds = setting("HYPTRACE_HOSTILE_ROUNDS", ROUNDS);
	uint64_t seed = setting("HYPTRACE_HOSTILE_SEED", 1) << 32, woken = 0;
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int first, nr, i;
	pid_t waiters[NR_WAYS], writers[NR_WAYS], other;
	struct pair *pairs;

	pairs = mmap(NULL, NR_WAYS * sizeof(*pairs), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, pairs);
	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, RING_SIZE, HYPTRACE_MODE_OVERWRITE));
	for (first = 0; first < NR_WAYS; first += nr) {
		nr = NR_WAYS - first < cpus ? NR_WAYS - first : cpus;
		for (i = 0; i < nr; i++) {
			struct pair *pair = &pairs[first + i];

			*pair = (struct pair){ .way = first + i, .cpu = i,
					       .rounds = rounds / NR_WAYS };
			pair->fd = open_attached(variant->remote, i,
						 pair->way == READ ? 0 : O_NONBLOCK);
			ASSERT_LE(0, pair->fd);
			ASSERT_EQ(0, set_latency(pair->fd, HYPTRACE_LATENCY_MIN_US));
		}
		for (i = 0; i < nr; i++) {
			seed++;
			waiters[i] = fork();
			if (!waiters[i])
				_exit(wait_all(&pairs[first + i]));
			writers[i] = fork();
			if (!writers[i])
				_exit(write_all(&pairs[first + i], variant->remote, seed));
		}
		other = fork();
		if (!other)
			unsettle(&pairs[first], nr, seed);
		for (i = 0; i < nr; i++) {
			const struct pair *pair = &pairs[first + i];

			EXPECT_EQ(0, end_of(waiters[i])) {
				TH_LOG("%s: woken %lu of %lu times", way_names[pair->way],
				       pair->woken, pair->rounds);
				kill(writers[i], SIGKILL);
			}
			end_of(writers[i]);
			woken += pair->woken;
			close(pair->fd);
		}
		kill(other, SIGKILL);
		end_of(other);
	}
	printf("# tried: %lu wakeups, by read, poll and epoll\n", woken);
	EXPECT_EQ(rounds / NR_WAYS * NR_WAYS, woken);
}

TEST_HARNESS_MAIN
