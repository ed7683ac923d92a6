// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace does not trace itself: the hypercalls that it makes for readers leave no events,
 * and a reader that waits causes no hypercalls.
 *
 * HYPTRACE_IDLE_S: for how many seconds readers of an idle ring are watched
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/utsname.h>

#include "kselftest_harness.h"
#include "page.h"
#include "remotes.h"
#include "subbuf.h"
#include "waiting.h"

#define CPUS		2
#define RING_SIZE	(64 * PAGE)
#define IDLE_S		1
#define PATIENCE_S	300

/* Repetitions of an operation that must not leave events */
#define REPEATS		1000
/* How long each kind of reader is watched. The driver polls for it each millisecond. */
#define WATCH_MS	500
/* Size of a large ring. A resize to it hands each of its pages to EL2. */
#define LARGE_PAGES	((16 << 20) / PAGE)
#define MARKS		10

REMOTE_FIXTURE(idle);

TRACED_FIXTURE(traced, RING_SIZE);

/* Return the number of hypercalls that the driver has made for the remote, or -errno. */
static long long calls_of(const char *remote)
{
	char path[64], text[32];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/debug/hyptrace/%s/calls", remote);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -errno;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (len <= 0)
		return -EIO;
	text[len] = 0;
	return strtoll(text, NULL, 10);
}

static uint64_t written_to(struct nl *nl, const char *remote, unsigned int cpu)
{
	struct counts counts;

	return control_counts(nl, remote, cpu, &counts) ? UINT64_MAX / CPUS : counts.written;
}

static uint64_t written_to_all(struct nl *nl, const char *remote)
{
	uint64_t written = 0;
	unsigned int cpu;

	for (cpu = 0; cpu < CPUS; cpu++)
		written += written_to(nl, remote, cpu);
	return written;
}

/* Child processes that wait, and the descriptors that they wait on */
struct waiters {
	unsigned int	nr;
	pid_t		pids[2 * CPUS * NR_WAITS];
	enum wait_kind	kinds[2 * CPUS * NR_WAITS];
	unsigned int	nr_fds;
	int		fds[2 * CPUS];
};

/* Start a waiter of each kind from @first on, except @skip. */
static void start_waiters(struct __test_metadata *_metadata, struct waiters *waiters, int fd,
			  enum wait_kind first, enum wait_kind skip)
{
	enum wait_kind kind;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, set_latency(fd, HYPTRACE_LATENCY_MIN_US));
	waiters->fds[waiters->nr_fds++] = fd;
	for (kind = first; kind < NR_WAITS; kind++) {
		if (kind == skip)
			continue;
		waiters->kinds[waiters->nr] = kind;
		waiters->pids[waiters->nr] = waiter_start(kind, fd, -1, 0);
		ASSERT_TRUE(waiter_settle(waiters->pids[waiters->nr]))
			TH_LOG("%s", wait_names[kind]);
		waiters->nr++;
	}
}

/* Expect that all waiters still wait, and that they end when tracing stops. */
static void end_waiters(struct __test_metadata *_metadata, struct nl *nl, const char *remote,
			struct waiters *waiters)
{
	unsigned int i;
	int status;

	for (i = 0; i < waiters->nr; i++) {
		EXPECT_EQ(0, waitpid(waiters->pids[i], &status, WNOHANG))
			TH_LOG("%s ended without an event", wait_names[waiters->kinds[i]]);
	}
	ASSERT_EQ(0, control(nl, HYPTRACE_CMD_STOP, remote));
	for (i = 0; i < waiters->nr; i++) {
		ASSERT_EQ(waiters->pids[i], waitpid(waiters->pids[i], &status, 0));
		EXPECT_EQ(0, status) TH_LOG("%s", wait_names[waiters->kinds[i]]);
	}
	for (i = 0; i < waiters->nr_fds; i++)
		close(waiters->fds[i]);
}

static unsigned int idle_seconds(void)
{
	const char *seconds = getenv("HYPTRACE_IDLE_S");

	return seconds ? strtoul(seconds, NULL, 0) : IDLE_S;
}

static void expect_idle(struct __test_metadata *_metadata, struct nl *nl, const char *remote,
			struct waiters *waiters)
{
	uint64_t written = written_to_all(nl, remote);
	long long calls = calls_of(remote);

	ASSERT_LE(0, calls);
	sleep(idle_seconds());
	EXPECT_EQ(calls, calls_of(remote));
	EXPECT_EQ(written, written_to_all(nl, remote));
	end_waiters(_metadata, nl, remote, waiters);
}

/* Wait in all ways at once: the counters would show the hypercalls of any of them. */
TEST_F_TIMEOUT(idle, waiting_for_a_cpu_causes_no_hypercalls, PATIENCE_S)
{
	struct waiters waiters = {};
	unsigned int cpu;

	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, RING_SIZE,
				   HYPTRACE_MODE_OVERWRITE));
	for (cpu = 0; cpu < CPUS; cpu++) {
		start_waiters(_metadata, &waiters, open_attached(variant->remote, cpu, 0),
			      WAIT_READ, NR_WAITS);
		start_waiters(_metadata, &waiters, open_snapshot(variant->remote, cpu), WAIT_POLL,
			      NR_WAITS);
	}
	expect_idle(_metadata, &self->nl, variant->remote, &waiters);
}

TEST_F_TIMEOUT(idle, waiting_for_all_cpus_causes_no_hypercalls, PATIENCE_S)
{
	struct waiters waiters = {};

	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, RING_SIZE,
				   HYPTRACE_MODE_OVERWRITE));
	start_waiters(_metadata, &waiters, open_attached(variant->remote, HYPTRACE_CPU_ALL, 0),
		      WAIT_READ, WAIT_GET_READER);
	expect_idle(_metadata, &self->nl, variant->remote, &waiters);
}

/* Count the context switches of the whole system during @ms milliseconds. */
static uint64_t context_switches(unsigned int ms)
{
	static char text[64 * 1024];
	uint64_t count[2];
	unsigned int i;
	ssize_t len;
	char *line;
	int fd;

	for (i = 0; i < 2; i++) {
		if (i)
			usleep(ms * 1000);
		fd = open("/proc/stat", O_RDONLY);
		len = read(fd, text, sizeof(text) - 1);
		close(fd);
		text[len > 0 ? len : 0] = 0;
		line = strstr(text, "\nctxt ");
		count[i] = line ? strtoull(line + strlen("\nctxt "), NULL, 10) : UINT64_MAX;
	}
	return count[1] - count[0];
}

/*
 * The context switches that polling the writer may cost in @ms milliseconds, at one poll a
 * millisecond. With PREEMPT_RT a thread runs the timers: a switch to it and back.
 */
static uint64_t switches_allowed(unsigned int ms)
{
	struct utsname name;

	return !uname(&name) && strstr(name.version, "PREEMPT_RT") ? 2 * ms : ms / 4;
}

/*
 * The descriptors are in an epoll set, but nobody calls epoll_wait(). One of three
 * measurements must be within the limit: other processes may run during the others. An
 * event after that must still be reported.
 */
TEST_F_TIMEOUT(idle, epoll_set_without_a_waiter_costs_little, PATIENCE_S)
{
	struct epoll_event events[CPUS] = {
		{ .events = EPOLLIN }, { .events = EPOLLIN | EPOLLET },
	};
	uint64_t alone, with = UINT64_MAX, limit;
	unsigned int round;
	int sets[CPUS], fds[CPUS], cpu;
	struct epoll_event got;

	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, RING_SIZE,
				   HYPTRACE_MODE_OVERWRITE));
	alone = context_switches(2 * WATCH_MS);
	limit = alone + switches_allowed(2 * WATCH_MS);
	for (cpu = 0; cpu < CPUS; cpu++) {
		sets[cpu] = epoll_create1(EPOLL_CLOEXEC);
		fds[cpu] = open_attached(variant->remote, cpu, O_NONBLOCK);
		ASSERT_EQ(0, set_latency(fds[cpu], HYPTRACE_LATENCY_MIN_US));
		ASSERT_EQ(0, epoll_ctl(sets[cpu], EPOLL_CTL_ADD, fds[cpu], &events[cpu]));
		EXPECT_EQ(0, epoll_wait(sets[cpu], &got, 1, 0));
	}
	for (round = 0; round < 3 && with > limit; round++)
		with = context_switches(2 * WATCH_MS);
	EXPECT_LE(with, limit);
	TH_LOG("%llu context switches in %u ms, %llu without", (unsigned long long)with,
	       2 * WATCH_MS, (unsigned long long)alone);
	for (cpu = 0; cpu < CPUS; cpu++) {
		ASSERT_EQ(0, control_mark(&self->nl, variant->remote, cpu, 0, 1));
		EXPECT_EQ(1, epoll_wait(sets[cpu], &got, 1, SOON_MS));
		close(fds[cpu]);
		close(sets[cpu]);
	}
}

/* The events that the pages of hyptrace leave when they change hands, and those of hypercalls */
static void enable_more(struct __test_metadata *_metadata, struct nl *nl, const char *remote)
{
	static const char *const events[] = {
		"mem_transition", "tlbi", "hyp_pool", "host_hcall",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		ASSERT_EQ(0, control_enable(nl, remote, events[i], true));
}

/*
 * If each operation left one event, its hyp_enter or its hyp_exit, the limit would be
 * reached. Below the limit is what else EL2 does meanwhile. That is most while the test
 * queries the counters, on a kernel with debug options.
 */
TEST_F_TIMEOUT(traced, own_hypercalls_leave_no_events, PATIENCE_S)
{
	static char page[PAGE_MAX];
	uint64_t written, seen;
	unsigned int cpu, i;
	int fd;

	enable_more(_metadata, &self->nl, variant->remote);
	for (cpu = 0; cpu < CPUS; cpu++) {
		ASSERT_EQ(0, pin_to_cpu(cpu));
		written = written_to(&self->nl, variant->remote, cpu);
		for (i = 0; i < REPEATS; i++)
			seen = written_to(&self->nl, variant->remote, cpu);
		EXPECT_GT(REPEATS, seen - written) TH_LOG("queries of the counters");

		written = seen;
		for (i = 0; i < REPEATS; i++)
			ASSERT_EQ(0, control_mark(&self->nl, variant->remote, cpu, i, 1));
		seen = written_to(&self->nl, variant->remote, cpu);
		EXPECT_LE(REPEATS, seen - written);
		EXPECT_GT(REPEATS + REPEATS / 2, seen - written) TH_LOG("marks");

		written = seen;
		for (i = 0; i < REPEATS; i++)
			ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "selftest", i % 2));
		seen = written_to(&self->nl, variant->remote, cpu);
		EXPECT_GT(REPEATS / 2, seen - written) TH_LOG("events enabled and disabled");

		written = seen;
		fd = open_attached(variant->remote, cpu, O_NONBLOCK);
		for (i = 0; i < REPEATS; i++)
			read(fd, page, sizeof(page));
		seen = written_to(&self->nl, variant->remote, cpu);
		EXPECT_GT(REPEATS / 2, seen - written) TH_LOG("reads");
		close(fd);
	}
}

/*
 * Resize to a larger and back to a smaller ring, on the traced CPU. EL2 records few
 * events meanwhile: host faults on memory that is shared with EL2 in part. So the marks
 * are among the newest events, which stay.
 */
TEST_F_TIMEOUT(traced, resize_keeps_the_newest_events, PATIENCE_S)
{
	const unsigned int pages[] = { LARGE_PAGES, 16 };
	static char page[PAGE_MAX];
	struct sequence seq;
	uint64_t written;
	unsigned int cpu, i;
	int fd;

	for (cpu = 0; cpu < CPUS; cpu++) {
		ASSERT_EQ(0, pin_to_cpu(cpu));
		ASSERT_EQ(0, control_clear(&self->nl, variant->remote, CPU_ALL));
		ASSERT_EQ(0, control_enable(&self->nl, variant->remote, "selftest", true));
		ASSERT_EQ(0, control_mark(&self->nl, variant->remote, cpu, 0, MARKS));
		for (i = 0; i < ARRAY_SIZE(pages); i++) {
			written = written_to(&self->nl, variant->remote, cpu);
			ASSERT_EQ(0, control_set_size(&self->nl, variant->remote,
						      pages[i] * PAGE));
			written = written_to(&self->nl, variant->remote, cpu) - written;
			/* a hypercall that is recorded leaves at least two */
			EXPECT_GT(2 * LARGE_PAGES, written) TH_LOG("to %u pages", pages[i]);
		}
		ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, variant->remote));
		fd = open_attached(variant->remote, cpu, O_NONBLOCK);
		seq = (struct sequence) {
			.event = control_event_id(&self->nl, variant->remote, "selftest"),
		};
		while (read(fd, page, PAGE) == PAGE)
			sequence_feed(&seq, page, PAGE);
		EXPECT_STREQ("", seq.bad);
		EXPECT_EQ(MARKS, seq.seen);
		EXPECT_EQ(0, seq.lost);
		ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, variant->remote));
		close(fd);
	}
}

/* Readers that run until they are killed, and do not check the data. */
static char taken[16 * PAGE_MAX];

static void drain(int fd)
{
	while (read(fd, taken, sizeof(taken)) > 0)
		;
}

static void by_read(int fd)
{
	fcntl(fd, F_SETFL, 0);
	drain(fd);
}

static void by_trying(int fd)
{
	for (;;)
		drain(fd);
}

static void by_poll(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	for (;;) {
		poll(&poll_fd, 1, -1);
		drain(fd);
	}
}

static void by_epoll(int fd, uint32_t flags)
{
	struct epoll_event event = { .events = EPOLLIN | flags }, got;
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);

	epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
	for (;;) {
		epoll_wait(epoll_fd, &got, 1, -1);
		drain(fd);
	}
}

static void by_level(int fd)
{
	by_epoll(fd, 0);
}

static void by_edge(int fd)
{
	by_epoll(fd, EPOLLET);
}

static void by_mapping(int fd)
{
	fcntl(fd, F_SETFL, 0);
	mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	while (!ioctl(fd, TRACE_MMAP_IOCTL_GET_READER))
		;
}

/* poll() is level-triggered and an observer consumes nothing, so this does not wait. */
static void by_looking(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	while (poll(&poll_fd, 1, -1) >= 0)
		;
}

static const struct kind {
	const char	*name;
	void		(*go)(int fd);
	bool		all_cpus;
	bool		snapshot;
} kinds[] = {
	{ "read",			by_read },
	{ "read until EAGAIN",		by_trying },
	{ "poll",			by_poll },
	{ "epoll",			by_level },
	{ "epoll, edge-triggered",	by_edge },
	{ "GET_READER",			by_mapping },
	{ "poll of snapshots",		by_looking, .snapshot = true },
	{ "read of all CPUs",		by_read, .all_cpus = true },
	{ "poll of all CPUs",		by_poll, .all_cpus = true },
};

/* Run a reader until the parent kills it. Return an exit code if it ends before. */
static int reader(const struct kind *kind, const char *remote, unsigned int cpu,
		  unsigned int on_cpu)
{
	int fd = kind->snapshot ? open_snapshot(remote, cpu) :
		 open_attached(remote, kind->all_cpus ? HYPTRACE_CPU_ALL : (int)cpu, O_NONBLOCK);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (pin_to_cpu(on_cpu) || set_latency(fd, HYPTRACE_LATENCY_MIN_US))
		return 1;
	kind->go(fd);
	return 2;
}

static uint64_t written_within(struct nl *nl, const char *remote, unsigned int ms)
{
	uint64_t written = written_to_all(nl, remote);

	usleep(ms * 1000);
	return written_to_all(nl, remote) - written;
}

/* Each ring has a reader, on the CPU that writes to the ring or on another; or one reads all. */
TEST_F_TIMEOUT(traced, readers_cause_no_events, PATIENCE_S)
{
	unsigned int nr, cpu, across;
	pid_t readers[CPUS];
	const struct kind *kind;
	uint64_t alone, with;
	int status;

	enable_more(_metadata, &self->nl, variant->remote);
	alone = written_within(&self->nl, variant->remote, WATCH_MS);
	TH_LOG("%llu events in %u ms without a reader", (unsigned long long)alone, WATCH_MS);
	for (kind = kinds; kind < kinds + ARRAY_SIZE(kinds); kind++) {
		for (across = 0; across < CPUS; across++) {
			nr = kind->all_cpus ? 1 : CPUS;
			for (cpu = 0; cpu < nr; cpu++) {
				readers[cpu] = fork();
				if (!readers[cpu])
					_exit(reader(kind, variant->remote, cpu,
						     (cpu + across) % CPUS));
			}
			usleep(100 * 1000);
			with = written_within(&self->nl, variant->remote, WATCH_MS);
			EXPECT_LE(with, 3 * alone + 200)
				TH_LOG("%s%s", kind->name, across ? ", on another CPU" : "");
			for (cpu = 0; cpu < nr; cpu++) {
				kill(readers[cpu], SIGKILL);
				ASSERT_EQ(readers[cpu], waitpid(readers[cpu], &status, 0));
				EXPECT_TRUE(WIFSIGNALED(status))
					TH_LOG("%s: %d", kind->name, status);
			}
		}
	}
}

TEST_HARNESS_MAIN
