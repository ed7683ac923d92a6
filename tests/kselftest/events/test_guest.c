// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace real guests on the real hypervisor: the events must show exactly the exits that
 * the guest makes. The guest is the program workload, tests/vm/workload.c: it makes a
 * given number of PSCI calls and of stores to a device.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "control.h"
#include "interrupts.h"
#include "page.h"
#include "subbuf.h"

#define REMOTE		"hypervisor"
#define CPU		1
#define CPUS		2
#define RING_SIZE	(8 << 20)

/* The ring holds at most this many records of 12 bytes. */
#define EVENTS_MAX	(RING_SIZE / 12)

#define BASE_RUNS	5

enum { ENTER, EXIT, NR_EVENTS };

/* A hyp_enter or a hyp_exit */
struct event {
	uint64_t	time;
	int32_t		vcpu;
	uint8_t		reason;
	uint8_t		what;
};

struct reasons {
	int	guest_exit;
	int	eret_host;
	int	eret_guest;
	int	unknown;
};

FIXTURE(guest) {
	struct nl nl;
	int id[NR_EVENTS];
	int reason_at[NR_EVENTS];
	int vcpu_at[NR_EVENTS];
	struct reasons reasons;
};

FIXTURE_SETUP(guest)
{
	static const char *const names[] = { "hyp_enter", "hyp_exit" };
	uint32_t size;
	int i;

	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, control_fresh(&self->nl, REMOTE));
	for (i = 0; i < NR_EVENTS; i++) {
		self->id[i] = control_event_id(&self->nl, REMOTE, names[i]);
		ASSERT_LT(0, self->id[i]);
		self->reason_at[i] = control_field(&self->nl, REMOTE, names[i], "reason", &size);
		ASSERT_LT(0, self->reason_at[i]);
		ASSERT_EQ(1, size);
		self->vcpu_at[i] = control_field(&self->nl, REMOTE, names[i], "vcpu", &size);
		ASSERT_LT(0, self->vcpu_at[i]);
		ASSERT_EQ(4, size);
	}
	self->reasons = (struct reasons) {
		control_symbol(&self->nl, REMOTE, "hyp_enter", "reason", "guest_exit"),
		control_symbol(&self->nl, REMOTE, "hyp_enter", "reason", "eret_host"),
		control_symbol(&self->nl, REMOTE, "hyp_enter", "reason", "eret_guest"),
		control_symbol(&self->nl, REMOTE, "hyp_enter", "reason", "unknown"),
	};
	ASSERT_LT(0, self->reasons.guest_exit);
	ASSERT_LT(0, self->reasons.unknown);
	ASSERT_EQ(0, control_load(&self->nl, REMOTE, RING_SIZE, HYPTRACE_MODE_DISCARD));
	for (i = 0; i < NR_EVENTS; i++)
		ASSERT_EQ(0, control_enable(&self->nl, REMOTE, names[i], true));
}

FIXTURE_TEARDOWN(guest)
{
	control_fresh(&self->nl, REMOTE);
	nl_close(&self->nl);
}

/* Run a guest. Return its pid, which is also the thread id of its only vCPU, or -1. */
static pid_t workload(unsigned int cpu, unsigned int mmio, unsigned int psci)
{
	char cpu_text[12], mmio_text[12], psci_text[12];
	int status;
	pid_t child;

	snprintf(cpu_text, sizeof(cpu_text), "%u", cpu);
	snprintf(mmio_text, sizeof(mmio_text), "%u", mmio);
	snprintf(psci_text, sizeof(psci_text), "%u", psci);
	child = fork();
	if (!child) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, STDOUT_FILENO);
		execlp("workload", "workload", "--cpu", cpu_text, "--mmio", mmio_text,
		       "--psci", psci_text, NULL);
		_exit(127);
	}
	return waitpid(child, &status, 0) == child && !status ? child : -1;
}

static struct event events[EVENTS_MAX];

/* Read all events of a CPU after tracing has stopped. Return their number, or -1. */
static ssize_t read_events(const struct _test_data_guest *self, unsigned int cpu)
{
	static char page[PAGE_MAX] __attribute__((aligned(8)));
	int fd = open_attached(REMOTE, cpu, O_NONBLOCK);
	struct record record;
	struct subbuf sub;
	size_t nr = 0;

	while (fd >= 0 && read(fd, page, PAGE) == PAGE) {
		subbuf_begin(&sub, page, PAGE);
		if (sub.missed)
			sub.bad = "events were lost before a sub-buffer";
		while (subbuf_next(&sub, &record)) {
			struct event *event = &events[nr++];

			event->what = record.event == self->id[ENTER] ? ENTER : EXIT;
			if (nr == EVENTS_MAX ||
			    (event->what == EXIT && record.event != self->id[EXIT])) {
				sub.bad = "an event that is not enabled, or too many events";
				break;
			}
			/* With its header of 4 bytes the record takes 12 bytes. */
			if (record.size != 8) {
				sub.bad = "the payload is not 8 bytes";
				break;
			}
			event->time = record.time;
			memcpy(&event->reason, record.payload + self->reason_at[event->what], 1);
			memcpy(&event->vcpu, record.payload + self->vcpu_at[event->what], 4);
		}
		if (sub.bad) {
			printf("# CPU %u: %s after %zu events\n", cpu, sub.bad, nr);
			close(fd);
			return -1;
		}
	}
	close(fd);
	return fd < 0 ? -1 : (ssize_t)nr;
}

/* hyp_enter and hyp_exit alternate. EL2 is entered from where it has returned to. */
static void check_pairs(struct __test_metadata *_metadata, const struct reasons *reasons,
			ssize_t nr)
{
	ssize_t i;

	ASSERT_LT(0, nr);
	for (i = 0; i < nr; i++) {
		const struct event *event = &events[i], *last = event - 1;

		ASSERT_NE(reasons->unknown, event->reason) TH_LOG("event %zd", i);
		if (event->what == EXIT) {
			ASSERT_TRUE(event->reason == reasons->eret_host ||
				    event->reason == reasons->eret_guest)
				TH_LOG("event %zd leaves by reason %u", i, event->reason);
		}
		if (event->reason == reasons->guest_exit || event->reason == reasons->eret_guest)
			ASSERT_LT(0, event->vcpu) TH_LOG("event %zd", i);
		if (!i)
			continue;
		ASSERT_LE(last->time, event->time) TH_LOG("event %zd", i);
		ASSERT_NE(last->what, event->what) TH_LOG("event %zd of %zd", i, nr);
		if (event->what == EXIT)
			continue;
		/* A guest exit follows exactly when EL2 has returned to a guest. */
		ASSERT_EQ(last->reason == reasons->eret_guest,
			  event->reason == reasons->guest_exit)
			TH_LOG("event %zd: reason %u after %u", i, event->reason, last->reason);
		if (event->reason == reasons->guest_exit)
			ASSERT_EQ(last->vcpu, event->vcpu) TH_LOG("event %zd", i);
	}
}

static unsigned int count_exits(const struct reasons *reasons, ssize_t nr, pid_t pid)
{
	unsigned int count = 0;
	ssize_t i;

	for (i = 0; i < nr; i++)
		count += events[i].what == ENTER && events[i].reason == reasons->guest_exit &&
			 events[i].vcpu == pid;
	return count;
}

/*
 * Run and trace a guest. Return the number of its exits. @nr_interrupts: the interrupts
 * that its CPU has taken meanwhile
 */
static unsigned int traced_exits(struct __test_metadata *_metadata,
				 struct _test_data_guest *self, unsigned int mmio,
				 unsigned int psci, uint64_t *nr_interrupts)
{
	uint64_t start;
	ssize_t nr;
	pid_t pid;

	/* Load new rings: those of the last run were unloaded when they had been read. */
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	start = interrupts(CPU);
	pid = workload(CPU, mmio, psci);
	*nr_interrupts = interrupts(CPU) - start;
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, REMOTE));
	ASSERT_LT(0, pid);
	nr = read_events(self, CPU);
	check_pairs(_metadata, &self->reasons, nr);
	return count_exits(&self->reasons, nr, pid);
}

/*
 * A guest exits once for each PSCI call, once for each store, and about once because its
 * code is not mapped yet. Interrupts cause more exits. The base is the minimum of several
 * runs with one store and no call. So the exits of other runs are known, except
 * those by interrupts: one interrupt causes at most one exit.
 */
TEST_F(guest, traced_exits_are_those_that_happened)
{
	static const struct {
		unsigned int mmio, psci;
	} runs[] = { { 1000, 1000 }, { 1, 2000 }, { 500, 0 }, { 2, 1 } };
	unsigned int base = UINT_MAX, exits, known, i;
	uint64_t nr_interrupts;

	for (i = 0; i < BASE_RUNS; i++) {
		exits = traced_exits(_metadata, self, 1, 0, &nr_interrupts);
		if (exits < base)
			base = exits;
	}
	/* one exit for the store, and some for mapping the code */
	EXPECT_LE(1, base);
	EXPECT_GE(4, base);
	for (i = 0; i < ARRAY_SIZE(runs); i++) {
		exits = traced_exits(_metadata, self, runs[i].mmio, runs[i].psci, &nr_interrupts);
		known = base + runs[i].mmio - 1 + runs[i].psci;
		TH_LOG("%u stores, %u calls, %u other exits known: %u exits, %u interrupts",
		       runs[i].mmio, runs[i].psci, base - 1, exits, (unsigned int)nr_interrupts);
		EXPECT_LE(known, exits);
		EXPECT_GE(known + nr_interrupts, exits);
	}
}

TEST_F(guest, hyp_enter_and_hyp_exit_pair_up)
{
	unsigned int cpu;
	pid_t pid[CPUS];

	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	for (cpu = 0; cpu < CPUS; cpu++)
		pid[cpu] = workload(cpu, 100, 100);
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, REMOTE));
	for (cpu = 0; cpu < CPUS; cpu++) {
		ssize_t nr = read_events(self, cpu);

		ASSERT_LT(0, pid[cpu]);
		check_pairs(_metadata, &self->reasons, nr);
		/* The guests are pinned: exactly one of them ran on this CPU. */
		EXPECT_LE(200, count_exits(&self->reasons, nr, pid[cpu]));
		EXPECT_EQ(0, count_exits(&self->reasons, nr, pid[!cpu]));
	}
}

TEST_F(guest, events_pair_up_while_all_cpus_run_guests)
{
	unsigned int cpu;
	int status;

	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	for (cpu = 0; cpu < CPUS; cpu++) {
		if (!fork())
			_exit(workload(cpu, 300, 300) < 0);
	}
	for (cpu = 0; cpu < CPUS; cpu++) {
		ASSERT_LT(0, wait(&status));
		EXPECT_EQ(0, status);
	}
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, REMOTE));
	for (cpu = 0; cpu < CPUS; cpu++)
		check_pairs(_metadata, &self->reasons, read_events(self, cpu));
}

TEST_HARNESS_MAIN
