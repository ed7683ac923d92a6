// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of a guest's run against what the guest does: tests/vm/workload.c makes known
 * numbers of exits of each class. Interrupts cause more exits. An interrupt can also come
 * between a trap that EL2 has handled and the instruction, which then traps again.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>

#include <linux/kvm.h>

#include "kselftest_harness.h"
#include "control.h"
#include "events.h"
#include "interrupts.h"

#define REMOTE		"hypervisor"
#define CPU		1
#define CPUS		2
#define RING_SIZE	(8 << 20)
#define MAX_EVENTS	200000
#define MAX_TYPES	24

/* KVM_VM_TYPE_ARM_PROTECTED of newer kernels */
#define PROTECTED_VM	(1UL << 31)

/* The guest's memory and device, see tests/vm/workload.c */
#define GUEST_RAM	0x80000000ULL
#define GUEST_RAM_SIZE	0x10000
#define GUEST_DEVICE	0x1000

#define MAX_CLASSES	64

/* Rounds of a loop. They take longer than many periods of the host's timer. */
#define SPIN		100000000

enum { ENTER, EXIT, GUEST_ENTER, GUEST_EXIT, FIXUP, LOAD, PUT, NR_EXIT_TYPES };

static const char *const exit_types[] = {
	"hyp_enter", "hyp_exit", "guest_enter", "guest_exit", "guest_fixup", "vcpu_load",
	"vcpu_put",
};

/* Values of fields, by the names that the driver gives them */
struct values {
	int guest_exit, eret_guest;		/* reason */
	int irq, trap;				/* code */
	int wfx, fp, hvc, sys, iabt, dabt;	/* ec */
};

struct work {
	unsigned int mmio, psci, fp, sysreg, wfi, spin;
	bool protected, aarch32;
};

/* How often something was recorded of a guest */
struct tally {
	unsigned int entered, left;	/* EL2, from the guest and to it */
	unsigned int enters, exits, irqs;
	unsigned int loads, puts;
	unsigned int traps[MAX_CLASSES];
	unsigned int handled[MAX_CLASSES], passed_on[MAX_CLASSES];
	unsigned int all_handled, all_passed_on, all_traps;
	uint64_t duration;
};

FIXTURE(exits) {
	struct nl nl;
	struct values values;
	struct event_type types[MAX_TYPES];
	unsigned int nr_types;
	struct event *events;
	bool protected;
};

static int value_of(struct nl *nl, const char *event, const char *field, const char *symbol)
{
	int value = control_symbol(nl, REMOTE, event, field, symbol);

	if (value < 0) {
		fprintf(stderr, "%s: no value %s of %s\n", event, symbol, field);
		abort();
	}
	return value;
}

FIXTURE_SETUP(exits)
{
	struct info info;

	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, control_fresh(&self->nl, REMOTE));
	ASSERT_EQ(0, control_info(&self->nl, REMOTE, &info));
	self->protected = info.protected;
	self->values = (struct values) {
		.guest_exit	= value_of(&self->nl, "hyp_enter", "reason", "guest_exit"),
		.eret_guest	= value_of(&self->nl, "hyp_exit", "reason", "eret_guest"),
		.irq		= value_of(&self->nl, "guest_exit", "code", "irq"),
		.trap		= value_of(&self->nl, "guest_exit", "code", "trap"),
		.wfx		= value_of(&self->nl, "guest_exit", "ec", "WFx"),
		.fp		= value_of(&self->nl, "guest_exit", "ec", "FP_ASIMD"),
		.hvc		= value_of(&self->nl, "guest_exit", "ec", "HVC64"),
		.sys		= value_of(&self->nl, "guest_exit", "ec", "SYS64"),
		.iabt		= value_of(&self->nl, "guest_exit", "ec", "IABT_LOW"),
		.dabt		= value_of(&self->nl, "guest_exit", "ec", "DABT_LOW"),
	};
	ASSERT_EQ(0, control_load(&self->nl, REMOTE, RING_SIZE, HYPTRACE_MODE_DISCARD));
	self->nr_types = NR_EXIT_TYPES;
	ASSERT_EQ(0, event_types(&self->nl, REMOTE, exit_types, self->types, self->nr_types));
	self->events = calloc(MAX_EVENTS, sizeof(*self->events));
	ASSERT_NE(NULL, self->events);
}

FIXTURE_TEARDOWN(exits)
{
	control_fresh(&self->nl, REMOTE);
	nl_close(&self->nl);
}

/* Run a guest. Return its pid, which is also the thread id of its only vCPU, or -1. */
static pid_t workload(unsigned int cpu, const struct work *work)
{
	char text[7][12];
	int status;
	pid_t child;

	snprintf(text[0], sizeof(text[0]), "%u", cpu);
	snprintf(text[1], sizeof(text[1]), "%u", work->mmio);
	snprintf(text[2], sizeof(text[2]), "%u", work->psci);
	snprintf(text[3], sizeof(text[3]), "%u", work->fp);
	snprintf(text[4], sizeof(text[4]), "%u", work->sysreg);
	snprintf(text[5], sizeof(text[5]), "%u", work->wfi);
	snprintf(text[6], sizeof(text[6]), "%u", work->spin);
	child = fork();
	if (!child) {
		dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
		execlp("workload", "workload", "--cpu", text[0], "--mmio", text[1], "--psci",
		       text[2], "--fp", text[3], "--sysreg", text[4], "--wfi", text[5],
		       "--spin", text[6], work->protected ? "--protected" : NULL,
		       work->aarch32 ? "--aarch32" : NULL, NULL);
		_exit(127);
	}
	return waitpid(child, &status, 0) == child && !status ? child : -1;
}

static uint64_t boottime_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* Run and trace a guest. Return the number of events of its CPU. */
static ssize_t trace(struct __test_metadata *_metadata, struct _test_data_exits *self,
		     const struct work *work, pid_t *pid, uint64_t *nr_interrupts, uint64_t *ns)
{
	uint64_t irqs, start;
	ssize_t nr;

	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	irqs = interrupts(CPU);
	start = boottime_ns();
	*pid = workload(CPU, work);
	*ns = boottime_ns() - start;
	*nr_interrupts = interrupts(CPU) - irqs;
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, REMOTE));
	ASSERT_LT(0, *pid);
	nr = events_read(REMOTE, CPU, self->types, self->nr_types, self->events, MAX_EVENTS);
	ASSERT_LT(0, nr);
	return nr;
}

static bool is(const struct event *event, const char *name)
{
	return !strcmp(event->type->name, name);
}

static void count_exit(struct __test_metadata *_metadata, const struct values *values,
		       const struct event *event, struct tally *counts)
{
	unsigned int ec = event_field(event, "ec");

	counts->exits++;
	counts->duration += event_field(event, "duration");
	if (event_field(event, "code") == values->irq) {
		counts->irqs++;
		EXPECT_EQ(0, ec);
		EXPECT_EQ(0, event_field(event, "esr"));
	} else {
		ASSERT_EQ(values->trap, event_field(event, "code"));
		ASSERT_GT(MAX_CLASSES, ec);
		counts->traps[ec]++;
		counts->all_traps++;
		EXPECT_EQ(ec, (uint64_t)event_field(event, "esr") >> 26 & 63);
	}
	EXPECT_LE(GUEST_RAM, (uint64_t)event_field(event, "pc"));
	EXPECT_GT(GUEST_RAM + GUEST_RAM_SIZE, (uint64_t)event_field(event, "pc"));
	EXPECT_EQ((int)ec == values->dabt ? GUEST_DEVICE : (int)ec == values->iabt ?
		  event_field(event, "pc") : 0, event_field(event, "ipa"));
	EXPECT_EQ(event_field(event, "ipa"), event_field(event, "far"));
}

static void count_fixup(const struct event *event, struct tally *counts)
{
	unsigned int ec = event_field(event, "ec") % MAX_CLASSES;

	if (event_field(event, "handled")) {
		counts->handled[ec]++;
		counts->all_handled++;
	} else {
		counts->passed_on[ec]++;
		counts->all_passed_on++;
	}
}

/*
 * Count the events of a guest, and check their order:
 *
 *	vcpu_load, any number of runs, vcpu_put			only in protected mode
 *	run: guest_enter, any number of visits, guest_exit
 *	visit: hyp_exit eret_guest, hyp_enter guest_exit, guest_fixup if it was a trap. The
 *	       last visit is the one that EL2 has not handled.
 */
static void count(struct __test_metadata *_metadata, struct _test_data_exits *self, ssize_t nr,
		  pid_t pid, struct tally *counts)
{
	const struct values *values = &self->values;
	const struct event *last = NULL, *loaded = NULL, *event;
	int64_t handle = -1;

	*counts = (struct tally) { };
	for (event = self->events; event < self->events + nr; event++) {
		bool handled = last && is(last, "guest_fixup") && event_field(last, "handled");

		if (event_field(event, "vcpu") != pid)
			continue;
		if (is(event, "guest_enter") || is(event, "guest_exit") ||
		    is(event, "vcpu_load") || is(event, "vcpu_put")) {
			if (handle < 0)
				handle = event_field(event, "handle");
			EXPECT_EQ(handle, event_field(event, "handle"));
			EXPECT_EQ(0, event_field(event, "index"));
		}
		if (is(event, "vcpu_load")) {
			counts->loads++;
			EXPECT_EQ(NULL, loaded);
			loaded = event;
			continue;
		}
		if (is(event, "vcpu_put")) {
			counts->puts++;
			EXPECT_NE(NULL, loaded);
			loaded = NULL;
			continue;
		}
		if (is(event, "guest_enter")) {
			counts->enters++;
			EXPECT_EQ(self->protected, !!loaded);
			ASSERT_TRUE(!last || is(last, "guest_exit"));
		} else if (is(event, "hyp_exit")) {
			if (event_field(event, "reason") != values->eret_guest)
				continue;
			counts->left++;
			ASSERT_NE(NULL, last);
			ASSERT_TRUE(is(last, "guest_enter") || handled);
		} else if (is(event, "hyp_enter")) {
			if (event_field(event, "reason") != values->guest_exit)
				continue;
			counts->entered++;
			ASSERT_NE(NULL, last);
			ASSERT_TRUE(is(last, "hyp_exit"));
		} else if (is(event, "guest_fixup")) {
			count_fixup(event, counts);
			ASSERT_NE(NULL, last);
			ASSERT_TRUE(is(last, "hyp_enter"));
		} else {
			count_exit(_metadata, values, event, counts);
			ASSERT_NE(NULL, last);
			ASSERT_TRUE(is(last, "hyp_enter") ||
				    (is(last, "guest_fixup") && !handled));
			/* A trap is looked at before, and an interrupt is not. */
			EXPECT_EQ(event_field(event, "code") == values->trap,
				  is(last, "guest_fixup"));
		}
		last = event;
	}
	EXPECT_EQ(self->protected, handle > 0);
	EXPECT_EQ(NULL, loaded);
}

/* What holds of every guest that is not protected */
static void check_sums(struct __test_metadata *_metadata, struct _test_data_exits *self,
		       const struct tally *counts)
{
	unsigned int i;

	EXPECT_EQ(counts->entered, counts->exits + counts->all_handled);
	EXPECT_EQ(counts->left, counts->entered);
	EXPECT_EQ(counts->enters, counts->exits);
	EXPECT_EQ(counts->exits, counts->irqs + counts->all_traps);
	EXPECT_EQ(counts->all_traps, counts->all_passed_on);
	for (i = 0; i < MAX_CLASSES; i++)
		EXPECT_EQ(counts->traps[i], counts->passed_on[i]) TH_LOG("class 0x%x", i);
	EXPECT_EQ(counts->loads, counts->puts);
}

TEST_F(exits, classes_of_exits_are_those_that_the_guest_causes)
{
	static const struct work works[] = {
		{ .mmio = 1 }, { .mmio = 300, .psci = 200 }, { .mmio = 1, .fp = 150 },
		{ .mmio = 2, .sysreg = 170 }, { .mmio = 3, .wfi = 30 },
		{ .mmio = 1, .spin = SPIN },
		{ .mmio = 50, .psci = 60, .fp = 70, .sysreg = 80, .wfi = 20 },
	};
	const struct values *values = &self->values;
	uint64_t irqs, ns;
	struct tally counts;
	unsigned int i;
	ssize_t nr;
	pid_t pid;

	for (i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		const struct work *work = &works[i];

		nr = trace(_metadata, self, work, &pid, &irqs, &ns);
		count(_metadata, self, nr, pid, &counts);
		check_sums(_metadata, self, &counts);
		TH_LOG("%u stores, %u calls, %u with FP, %u reads, %u WFI: %u exits, %u irq of %u, %u HVC64, %u SYS64, %u WFx, %u DABT_LOW, %u IABT_LOW, %u fixups, %u loads",
		       work->mmio, work->psci + work->fp, work->fp, work->sysreg, work->wfi,
		       counts.exits, counts.irqs, (unsigned int)irqs, counts.traps[values->hvc],
		       counts.traps[values->sys], counts.traps[values->wfx],
		       counts.traps[values->dabt], counts.traps[values->iabt],
		       counts.all_handled, counts.loads);
		EXPECT_EQ(work->psci + work->fp, counts.traps[values->hvc]);
		EXPECT_EQ(work->sysreg, counts.traps[values->sys]);
		EXPECT_EQ(work->mmio, counts.traps[values->dabt]);
		/* A WFI does not wait, and does not trap, while an interrupt is pending. */
		EXPECT_GE(work->wfi, counts.traps[values->wfx]);
		EXPECT_LE(work->wfi, counts.traps[values->wfx] + irqs);
		/* Interrupts that come while the host runs cause no exit. */
		EXPECT_GE(irqs, counts.irqs);
		if (work->spin)
			EXPECT_LT(0, counts.irqs);
		/* KVM maps the guest's code when it is executed, and again if that has failed. */
		EXPECT_LE(1, counts.traps[values->iabt]);
		EXPECT_GE(3, counts.traps[values->iabt]);
		EXPECT_EQ(counts.all_traps, counts.traps[values->hvc] + counts.traps[values->sys] +
			  counts.traps[values->dabt] + counts.traps[values->wfx] +
			  counts.traps[values->iabt]);
		/*
		 * In protected mode EL2 saves the registers after each run, so that FP traps
		 * once after each. Otherwise they stay until the host uses them.
		 */
		EXPECT_EQ(counts.all_handled, counts.handled[values->fp]);
		EXPECT_GE(work->fp + (work->fp ? irqs : 0), counts.all_handled);
		EXPECT_LE(self->protected ? work->fp : !!work->fp, counts.all_handled);
		EXPECT_GE(ns, counts.duration);
		EXPECT_LT(0, counts.duration);
		EXPECT_EQ(self->protected, counts.loads > 0);
	}
}

TEST_F(exits, guests_on_all_cpus_at_once)
{
	static const struct work work = { .mmio = 100, .psci = 100, .fp = 100, .wfi = 20 };
	unsigned int cpu, i;
	struct tally counts;
	pid_t pids[CPUS];
	int status[2];

	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	for (cpu = 0; cpu < CPUS; cpu++) {
		ASSERT_EQ(0, pipe(status));
		if (!fork()) {
			pid_t pid = workload(cpu, &work);

			_exit(write(status[1], &pid, sizeof(pid)) != sizeof(pid));
		}
		pids[cpu] = status[0];
	}
	for (cpu = 0; cpu < CPUS; cpu++) {
		int fd = pids[cpu];

		ASSERT_EQ(sizeof(pids[cpu]), read(fd, &pids[cpu], sizeof(pids[cpu])));
		ASSERT_LT(0, pids[cpu]);
	}
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, REMOTE));
	for (cpu = 0; cpu < CPUS; cpu++) {
		ssize_t nr = events_read(REMOTE, cpu, self->types, self->nr_types, self->events,
					 MAX_EVENTS);

		ASSERT_LT(0, nr);
		for (i = 0; i < CPUS; i++) {
			if (i == cpu) {
				count(_metadata, self, nr, pids[i], &counts);
				check_sums(_metadata, self, &counts);
				EXPECT_EQ(work.mmio, counts.traps[self->values.dabt]);
				EXPECT_EQ(work.psci + work.fp, counts.traps[self->values.hvc]);
			}
		}
	}
}

static bool kernel_has_protected_guests(void)
{
	int kvm = open("/dev/kvm", O_RDWR), vm = ioctl(kvm, KVM_CREATE_VM, PROTECTED_VM);

	if (vm >= 0)
		close(vm);
	close(kvm);
	return vm >= 0;
}

/*
 * While EL2 runs a protected guest, only the outermost entry and exit of EL2 are recorded, and
 * guest_exit has nothing of the guest's registers. Kernels before 7.1 refuse such guests.
 */
TEST_F(exits, a_protected_guest_leaves_the_outermost_events_only)
{
	static const char *const all[] = {
		"hyp_enter", "hyp_exit", "guest_enter", "guest_exit", "guest_fixup", "vcpu_load",
		"vcpu_put", "selftest", "host_hcall", "host_smc", "psci_call", "host_mem_abort",
		"host_ffa_call", "vcpu_illegal_trap", "mem_transition", "tlbi", "hyp_pool",
		"hyp_printk", "hyp_panic", "pmu", "lock_wait",
	};
	const struct work work = {
		.mmio = 20, .psci = 30, .fp = 40, .sysreg = 50, .wfi = 5, .protected = true,
	};
	const struct event *event, *enter = NULL;
	uint64_t irqs, ns;
	unsigned int runs = 0;
	struct info info;
	ssize_t nr;
	pid_t pid;

	if (!kernel_has_protected_guests()) {
		EXPECT_EQ(-1, workload(CPU, &work));
		SKIP(return, "this kernel has no protected guests");
	}
	self->nr_types = sizeof(all) / sizeof(all[0]);
	ASSERT_EQ(0, event_types(&self->nl, REMOTE, all, self->types, self->nr_types));
	ASSERT_EQ(0, control_info(&self->nl, REMOTE, &info));
	/* and func, which few kernels have */
	EXPECT_EQ(info.nr_events, self->nr_types + 1);
	nr = trace(_metadata, self, &work, &pid, &irqs, &ns);
	for (event = self->events; event < self->events + nr; event++) {
		if (!enter) {
			enter = is(event, "guest_enter") ? event : NULL;
			continue;
		}
		EXPECT_EQ(pid, event_field(event, "vcpu"));
		switch (event - enter) {
		case 1:
			EXPECT_STREQ("hyp_exit", event->type->name);
			EXPECT_EQ(self->values.eret_guest, event_field(event, "reason"));
			break;
		case 2:
			EXPECT_STREQ("hyp_enter", event->type->name);
			EXPECT_EQ(self->values.guest_exit, event_field(event, "reason"));
			break;
		case 3:
			ASSERT_STREQ("guest_exit", event->type->name);
			EXPECT_EQ(0, event_field(event, "esr"));
			EXPECT_EQ(0, event_field(event, "pc"));
			EXPECT_EQ(0, event_field(event, "far"));
			EXPECT_EQ(0, event_field(event, "ipa"));
			enter = NULL;
			runs++;
			break;
		}
	}
	TH_LOG("%u runs of a protected guest", runs);
	EXPECT_LE(work.mmio, runs);
}

/* EL2 ends the run of a protected guest that it finds in AArch32 state, and says so, once. */
TEST_F(exits, a_protected_guest_that_runs_aarch32_code_is_stopped)
{
	static const char *const names[] = { "vcpu_illegal_trap" };
	const struct work work = { .mmio = 1, .protected = true, .aarch32 = true };
	const struct event *event, *illegal = NULL;
	uint64_t irqs, ns;
	ssize_t nr;
	pid_t pid;

	if (!kernel_has_protected_guests())
		SKIP(return, "this kernel has no protected guests");
	ASSERT_EQ(0, event_types(&self->nl, REMOTE, names, self->types + self->nr_types, 1));
	self->nr_types++;
	nr = trace(_metadata, self, &work, &pid, &irqs, &ns);
	for (event = self->events; event < self->events + nr; event++) {
		/* no other run follows */
		EXPECT_FALSE(illegal && is(event, "guest_enter"));
		if (!is(event, "vcpu_illegal_trap"))
			continue;
		EXPECT_EQ(NULL, illegal);
		EXPECT_EQ(pid, event_field(event, "vcpu"));
		illegal = event;
	}
	ASSERT_NE(NULL, illegal);
	ASSERT_LT(1, self->events + nr - illegal);
	EXPECT_TRUE(is(illegal + 1, "guest_exit"));
}

TEST_HARNESS_MAIN
