// SPDX-License-Identifier: GPL-2.0-only
/*
 * host_smc, psci_call and host_ffa_call against SMCs that the test makes, and against a CPU
 * that it switches off and on. Also hyp_printk.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/utsname.h>

#include "kselftest_harness.h"
#include "../../../hyp/abi.h"
#include "calls.h"
#include "control.h"
#include "cpus.h"
#include "events.h"

#define REMOTE		"hypervisor"
#define CPUS		2
#define RING_SIZE	(1 << 20)
#define MAX_EVENTS	10000

/* Function ids of the SMC calling convention */
#define PSCI_VERSION		0x84000000
#define PSCI_FEATURES		0x8400000a
#define PSCI_CPU_OFF		0x84000002
#define PSCI_CPU_ON		0x84000003
#define PSCI_CPU_ON_64		0xc4000003
#define PSCI_AFFINITY_INFO_64	0xc4000004
#define PSCI_SYSTEM_SUSPEND_64	0xc400000e
#define FFA_MEM_DONATE		0x84000071
#define SIP_UNKNOWN		0xc2001234

/* Bits of a function id: the hint that SVE registers are unused, and one that EL2 refuses */
#define SVE_HINT		0x10000
#define HIGH_HALF		(1ULL << 32)

/* A result of PSCI_AFFINITY_INFO */
#define AFFINITY_OFF		1

/* The CPU that is switched off, and its affinity: QEMU numbers CPUs in the lowest field. */
#define OFF_CPU		1
#define OFF_MPIDR	1
#define NO_MPIDR	0xff00ff

enum { SMC, PSCI, FFA, PRINTK, NR_TYPES };

static const char *const names[] = { "host_smc", "psci_call", "host_ffa_call", "hyp_printk" };

FIXTURE(firmware) {
	struct nl nl;
	struct calls calls;
	struct event_type types[NR_TYPES];
	struct event *events;
};

FIXTURE_SETUP(firmware)
{
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, control_fresh(&self->nl, REMOTE));
	ASSERT_EQ(0, calls_open(&self->calls));
	ASSERT_EQ(0, control_load(&self->nl, REMOTE, RING_SIZE, HYPTRACE_MODE_DISCARD));
	ASSERT_EQ(0, event_types(&self->nl, REMOTE, names, self->types, NR_TYPES));
	self->events = calloc(MAX_EVENTS, sizeof(*self->events));
	ASSERT_NE(NULL, self->events);
	ASSERT_EQ(0, pin_to(0));
}

FIXTURE_TEARDOWN(firmware)
{
	control_fresh(&self->nl, REMOTE);
	EXPECT_EQ(0, calls_close(&self->calls));
	nl_close(&self->nl);
}

/* Make calls and trace them. Return the number of events of this CPU. */
static ssize_t trace(struct __test_metadata *_metadata, struct _test_data_firmware *self,
		     struct calls_one *list, size_t nr_calls)
{
	ssize_t nr;

	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	ASSERT_EQ(0, calls_make(&self->calls, list, nr_calls));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, REMOTE));
	nr = events_read(REMOTE, 0, self->types, NR_TYPES, self->events, MAX_EVENTS);
	ASSERT_LE(0, nr);
	return nr;
}

static uint64_t ns_of(const struct calls_info *info, const struct calls_one *call)
{
	uint64_t ns = (__uint128_t)call->cycles * 1000000000 / info->rate;

	/* The clock's rate follows that of the kernel, which may differ by 500 ppm. */
	return ns + ns / 1000 + 1;
}

TEST_F(firmware, calls_are_recorded_as_they_were_made)
{
	static const struct {
		uint64_t x[4];
		int type;	/* of the event before host_smc, or SMC: none */
		bool leaves;	/* recorded before EL2 calls the firmware, and when that fails */
		bool at_el2;	/* refused by EL2, maybe in less than a tick of the counter */
	} calls[] = {
		{ { PSCI_VERSION, 7, 8, 9 }, PSCI },
		{ { PSCI_FEATURES, PSCI_CPU_OFF, ~0ULL, 3 }, PSCI },
		{ { PSCI_FEATURES, 0x12345678 }, PSCI },
		{ { PSCI_AFFINITY_INFO_64, OFF_MPIDR }, PSCI },
		{ { PSCI_VERSION | SVE_HINT, 7, 8, 9 }, PSCI },
		/* not supported, no such CPU, and a CPU that is on, as the firmware says */
		{ { PSCI_CPU_ON, OFF_MPIDR }, PSCI, .at_el2 = true },
		{ { PSCI_CPU_ON_64, NO_MPIDR, 5, 6 }, PSCI, .at_el2 = true },
		{ { PSCI_CPU_ON_64, OFF_MPIDR, 5, 6 }, PSCI, .leaves = true },
		/* The firmware of QEMU does not have it. */
		{ { PSCI_SYSTEM_SUSPEND_64, 0x1234, 5 }, PSCI, .leaves = true },
		{ { FFA_MEM_DONATE, 1, 2, 3 }, FFA, .at_el2 = true },
		{ { SIP_UNKNOWN | SVE_HINT, 4 }, SMC },
		{ { SIP_UNKNOWN, ~0ULL, 0x5555555555555555, 1 }, SMC },
	};
	const unsigned int nr_calls = sizeof(calls) / sizeof(calls[0]);
	struct calls_one list[sizeof(calls) / sizeof(calls[0])] = { };
	const struct event *event = self->events;
	unsigned int i;
	ssize_t nr;

	for (i = 0; i < nr_calls; i++) {
		list[i].how = CALLS_SMC;
		memcpy(list[i].x, calls[i].x, sizeof(calls[i].x));
	}
	nr = trace(_metadata, self, list, nr_calls);
	for (i = 0; i < nr_calls; i++) {
		const struct calls_one *call = &list[i];
		uint64_t ns = ns_of(&self->calls.info, call);
		uint64_t id = call->x[0] & ~self->calls.info.hints;

		if (calls[i].leaves) {
			ASSERT_LT(event - self->events, nr);
			ASSERT_EQ(&self->types[PSCI], event->type);
			EXPECT_EQ(id, (uint64_t)event_field(event, "func"));
			EXPECT_EQ(call->x[1], (uint64_t)event_field(event, "arg"));
			EXPECT_EQ(0, event_field(event, "ret"));
			EXPECT_EQ(0, event_field(event, "duration"));
			EXPECT_GT(0, (int32_t)call->ret[0]);
			event++;
		}
		if (calls[i].type == PSCI) {
			ASSERT_LT(event - self->events, nr);
			ASSERT_EQ(&self->types[PSCI], event->type);
			EXPECT_EQ(id, (uint64_t)event_field(event, "func"));
			EXPECT_EQ(call->x[1], (uint64_t)event_field(event, "arg"));
			EXPECT_EQ((int64_t)call->ret[0], event_field(event, "ret"));
			if (!calls[i].at_el2)
				EXPECT_LT(0, event_field(event, "duration"));
			EXPECT_GE(ns, (uint64_t)event_field(event, "duration"));
			event++;
		} else if (calls[i].type == FFA) {
			ASSERT_LT(event - self->events, nr);
			ASSERT_EQ(&self->types[FFA], event->type);
			EXPECT_EQ(id, (uint64_t)event_field(event, "func_id"));
			EXPECT_EQ(1, event_field(event, "handled"));
			EXPECT_EQ(call->ret[1], (uint64_t)event_field(event, "res_a1"));
			if (call->ret[0] == call->x[0]) {
				/* Android's 6.6 handles it, and answers nothing. */
				EXPECT_EQ(0, event_field(event, "err"));
			} else {
				EXPECT_GT(0, event_field(event, "err"));
				EXPECT_EQ(event_field(event, "err"),
					  (int32_t)event_field(event, "res_a2"));
			}
			event++;
		}
		ASSERT_LT(event - self->events, nr);
		ASSERT_EQ(&self->types[SMC], event->type);
		EXPECT_EQ(id, (uint64_t)event_field(event, "id"));
		EXPECT_EQ(calls[i].type == SMC, event_field(event, "forwarded"));
		EXPECT_EQ(0, event_field(event, "invalid"));
		EXPECT_EQ(call->x[1], (uint64_t)event_field(event, "arg1"));
		EXPECT_EQ(call->x[2], (uint64_t)event_field(event, "arg2"));
		EXPECT_EQ(call->x[3], (uint64_t)event_field(event, "arg3"));
		EXPECT_EQ((int64_t)call->ret[0], event_field(event, "ret"));
		if (!calls[i].at_el2)
			EXPECT_LT(0, event_field(event, "duration"));
		EXPECT_GE(ns, (uint64_t)event_field(event, "duration"));
		event++;
	}
	EXPECT_EQ(nr, event - self->events);
	/* not supported */
	EXPECT_EQ(-1, (int32_t)list[nr_calls - 1].ret[0]);
}

/* Since Linux 7 EL2 refuses a function id of more than 32 bits; before, it ignores the others. */
TEST_F(firmware, calls_that_el2_refuses)
{
	struct calls_one call = { .how = CALLS_SMC, .x = { HIGH_HALF | PSCI_VERSION, 5, 6, 7 } };
	const struct event *event = self->events;
	struct utsname name;

	uname(&name);
	if (strtoul(name.release, NULL, 10) < 7)
		SKIP(return, "EL2 refuses no SMC before Linux 7");
	ASSERT_EQ(1, trace(_metadata, self, &call, 1));
	EXPECT_EQ(-1, (int32_t)call.ret[0]);
	EXPECT_EQ(&self->types[SMC], event->type);
	EXPECT_EQ(PSCI_VERSION, event_field(event, "id"));
	EXPECT_EQ(1, event_field(event, "invalid"));
	EXPECT_EQ(0, event_field(event, "forwarded"));
	EXPECT_EQ(5, event_field(event, "arg1"));
	EXPECT_EQ(7, event_field(event, "arg3"));
	EXPECT_EQ(-1, (int32_t)event_field(event, "ret"));
}

/* The records of a PSCI function in the order of time; NULL if there are less than @nr. */
static const struct event *psci_call(const struct _test_data_firmware *self, ssize_t nr_events,
				     uint32_t func, unsigned int nr)
{
	const struct event *event;

	for (event = self->events; event < self->events + nr_events; event++) {
		if (event->type == &self->types[PSCI] && event_field(event, "func") == func &&
		    !--nr)
			return event;
	}
	return NULL;
}

TEST_F(firmware, a_cpu_that_goes_off_and_on)
{
	const struct event *off, *on, *info, *event;
	unsigned int i, nr_affinity = 0, nr_smc = 0;
	ssize_t nr;

	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_START, REMOTE));
	ASSERT_EQ(0, cpu_set_online(1, false));
	ASSERT_EQ(0, cpu_set_online(1, true));
	ASSERT_EQ(0, control(&self->nl, HYPTRACE_CMD_STOP, REMOTE));
	nr = events_read_all(REMOTE, CPUS, self->types, NR_TYPES, self->events, MAX_EVENTS);
	ASSERT_LT(0, nr);

	/* Recorded on the CPU itself, before it leaves: once, since the call does not return. */
	off = psci_call(self, nr, PSCI_CPU_OFF, 1);
	ASSERT_NE(NULL, off);
	EXPECT_EQ(NULL, psci_call(self, nr, PSCI_CPU_OFF, 2));
	EXPECT_EQ(OFF_CPU, off->cpu);
	EXPECT_EQ(0, event_field(off, "ret"));
	EXPECT_EQ(0, event_field(off, "duration"));

	on = psci_call(self, nr, PSCI_CPU_ON_64, 1);
	ASSERT_NE(NULL, on);
	EXPECT_EQ(NULL, psci_call(self, nr, PSCI_CPU_ON_64, 2));
	EXPECT_EQ(0, on->cpu);
	EXPECT_EQ(OFF_MPIDR, event_field(on, "arg"));
	EXPECT_EQ(0, event_field(on, "ret"));
	EXPECT_LT(off->time, on->time);

	/* The kernel waits until the firmware says that the CPU is off. */
	for (i = 1; (event = psci_call(self, nr, PSCI_AFFINITY_INFO_64, i)); i++) {
		info = event;
		EXPECT_EQ(OFF_MPIDR, event_field(info, "arg"));
		nr_affinity++;
	}
	ASSERT_LT(0, nr_affinity);
	EXPECT_EQ(AFFINITY_OFF, event_field(info, "ret"));
	EXPECT_GT(info->time, off->time);
	EXPECT_LT(info->time, on->time);

	/* CPU_OFF has not returned, so there is no host_smc of it. */
	for (event = self->events; event < self->events + nr; event++) {
		if (event->type != &self->types[SMC])
			continue;
		EXPECT_NE(PSCI_CPU_OFF, event_field(event, "id"));
		if (event_field(event, "id") == PSCI_CPU_ON_64) {
			EXPECT_EQ(0, event->cpu);
			EXPECT_EQ(0, event_field(event, "forwarded"));
			EXPECT_EQ(0, event_field(event, "ret"));
			nr_smc++;
		}
	}
	EXPECT_EQ(1, nr_smc);
}

/* __hyptrace() itself leaves no event, but for the one that it was asked for. */
TEST_F(firmware, printk)
{
	struct calls_one list[] = {
		calls_hvc(&self->calls, "__hyptrace", HYPTRACE_OP_WRITE, 77, HYPTRACE_WRITE_PRINTK),
		calls_hvc(&self->calls, "__hyptrace", HYPTRACE_OP_WRITE, ~0ULL,
			  HYPTRACE_WRITE_PRINTK),
		calls_hvc(&self->calls, "__hyptrace", HYPTRACE_OP_WRITE, 77,
			  HYPTRACE_WRITE_PRINTK + 1),
	};
	ssize_t nr = trace(_metadata, self, list, sizeof(list) / sizeof(list[0])), i;

	EXPECT_EQ(0, list[0].ret[1]);
	EXPECT_EQ(0, list[1].ret[1]);
	EXPECT_EQ(-EINVAL, (int64_t)list[2].ret[1]);
	ASSERT_EQ(2, nr);
	for (i = 0; i < nr; i++) {
		EXPECT_EQ(&self->types[PRINTK], self->events[i].type);
		EXPECT_EQ(control_symbol(&self->nl, REMOTE, "hyp_printk", "fmt_id",
					 "selftest %llu"),
			  event_field(&self->events[i], "fmt_id"));
		EXPECT_EQ(list[i].x[2], (uint64_t)event_field(&self->events[i], "a"));
		EXPECT_EQ(0, event_field(&self->events[i], "b"));
		EXPECT_EQ(0, event_field(&self->events[i], "d"));
	}
}

TEST_HARNESS_MAIN
