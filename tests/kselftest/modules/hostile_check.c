// SPDX-License-Identifier: GPL-2.0-only
/*
 * The answer of a hypercall must be one that the op documents, and it must fit what the thread of
 * this CPU knows:
 *
 *	- ops without a state, and numbers of CPUs that do not exist
 *	- while its CPU is attached, no other one can change that, nor while it counts an event
 *	- of SOLE_CPU, whose rings and counters no other thread touches, all: hostile_model.c
 *
 * Not compared: what becomes of the rings of other CPUs, which several threads use at the same
 * time; whether EL2 takes a page, and which sub-buffer it gives to the reader; what is recorded
 * and counted; and whether a filter's term is valid. The attack on EL2 as a host program compares
 * these.
 */
#include <linux/cpumask.h>
#include <linux/errno.h>

#include "hyptrace_hostile.h"
#include "answers.h"

/* What is expected of an answer */
#define EXPECT(attack, asked, condition)				\
	do {								\
		if (!(condition))					\
			hostile_failed(attack, asked, #condition);	\
	} while (0)

static bool has_cpu(u64 op)
{
	switch (op) {
	case HYPTRACE_OP_INFO:
	case HYPTRACE_OP_CLOCK:
	case HYPTRACE_OP_WRITE:
	case HYPTRACE_OP_TRIGGER:
	case HYPTRACE_OP_PAUSE:
	case HYPTRACE_OP_ARM:
	case HYPTRACE_OP_PAGE:
	case HYPTRACE_OP_VOID_HCALLS:
	case HYPTRACE_OP_FUNCTION:
		return false;
	default:
		return true;
	}
}

static u64 cpu_of(const struct asked *asked)
{
	if (asked->op == HYPTRACE_OP_FILTER)
		return (u32)asked->args[0];
	if (asked->op >= HYPTRACE_OP_RING_BEGIN && asked->op <= HYPTRACE_OP_RING_FREE)
		return asked->args[0] & ~HYPTRACE_SPARE_RING;

	return asked->args[0];
}

static void check_cpu(struct attack *attack, const struct asked *asked)
{
	u64 cpu = cpu_of(asked);
	bool exists = cpu < nr_cpu_ids && cpu_possible(cpu);

	if (has_cpu(asked->op))
		EXPECT(attack, asked, exists == (asked->ret != -ENXIO));
}

static bool is_trigger(const u64 *args)
{
	return args[0] && args[0] < HYPTRACE_NR_EVENTS && args[1] < HYPTRACE_NR_TRIGGERS &&
	       (!args[2] || args[1] == HYPTRACE_TRIGGER_STOP) && !(args[2] >> 32) &&
	       (args[1] != HYPTRACE_TRIGGER_FOLLOW || args[0] == HYPTRACE_EVENT_func);
}

/* Ops whose answer depends on the arguments only */
static void check_stateless(struct attack *attack, const struct asked *asked)
{
	const u64 *args = asked->args;
	s64 ret = asked->ret;

	switch (asked->op) {
	case HYPTRACE_OP_INFO:
		EXPECT(attack, asked, (ret == -EINVAL) == (args[0] > HYPTRACE_INFO_INCOMPLETE));
		if (args[0] == HYPTRACE_INFO_VERSION)
			EXPECT(attack, asked, ret == HYPTRACE_ABI_VERSION);
		break;
	case HYPTRACE_OP_CLOCK:
		EXPECT(attack, asked, ret == (args[0] ? 0 : -EINVAL));
		break;
	case HYPTRACE_OP_TRIGGER:
		EXPECT(attack, asked, ret == (is_trigger(args) ? 0 : -EINVAL));
		break;
	case HYPTRACE_OP_ARM:
		EXPECT(attack, asked, ret == (args[0] ? 0 : -EINVAL));
		break;
	case HYPTRACE_OP_VOID_HCALLS:
		EXPECT(attack, asked, ret == (args[0] && args[0] != 64 ? -EINVAL : 0));
		break;
	case HYPTRACE_OP_PAGE:
		if (args[0] == DEVICE_PFN)
			EXPECT(attack, asked, ret == HYPTRACE_PAGE_NO_MEMORY);
		if (hostile_is_shared(args[0]))
			EXPECT(attack, asked, ret == HYPTRACE_PAGE_HOST_SHARED_HYP);
		break;
	}
}

/* This CPU's ring, while the CPU is attached to it */
static void check_attached(struct attack *attack, const struct asked *asked)
{
	s64 ret = asked->ret;

	switch (asked->op) {
	case HYPTRACE_OP_RING_BEGIN:
	case HYPTRACE_OP_RING_DIR:
	case HYPTRACE_OP_RING_TABLE:
	case HYPTRACE_OP_RING_READY:
		EXPECT(attack, asked, ret < 0);
		break;
	case HYPTRACE_OP_RING_FREE:
		EXPECT(attack, asked, ret == -EBUSY);
		break;
	case HYPTRACE_OP_ATTACH:
		EXPECT(attack, asked, ret == (asked->args[1] & ~ALL_EVENTS ? -EINVAL : 0));
		break;
	case HYPTRACE_OP_DETACH:
	case HYPTRACE_OP_SYNC:
		EXPECT(attack, asked, !ret);
		break;
	case HYPTRACE_OP_RESET:
		EXPECT(attack, asked, ret >= 0);
		break;
	case HYPTRACE_OP_FILTER:
		EXPECT(attack, asked, !ret || ret == -EINVAL);
		break;
	case HYPTRACE_OP_SWAP:
		EXPECT(attack, asked, ret != -ENODEV);
		break;
	}
}

/* This CPU's counters, while it counts an event */
static void check_counting(struct attack *attack, const struct asked *asked)
{
	s64 ret = asked->ret;

	switch (asked->op) {
	case HYPTRACE_OP_COUNT_PAGE:
	case HYPTRACE_OP_COUNT_FREE:
		EXPECT(attack, asked, ret == -EBUSY);
		break;
	case HYPTRACE_OP_COUNT_RESET:
		EXPECT(attack, asked, asked->args[1] < COUNT_PARTS ? ret >= 0 : ret == -EINVAL);
		break;
	case HYPTRACE_OP_COUNT:
		EXPECT(attack, asked, ret == (asked->args[1] & ~COUNTABLE ? -EINVAL : 0));
		break;
	case HYPTRACE_OP_PMU:
		EXPECT(attack, asked, ret != -EBUSY && ret != -ENODATA);
		break;
	}
}

static void check_write(struct attack *attack, const struct asked *asked)
{
	u64 event = asked->args[1] == HYPTRACE_WRITE_SELFTEST ? HYPTRACE_EVENT_selftest :
								HYPTRACE_EVENT_hyp_printk;

	if (asked->args[1] > HYPTRACE_WRITE_FAULT)
		EXPECT(attack, asked, asked->ret == -EINVAL);
	else if (asked->args[1] != HYPTRACE_WRITE_FAULT &&
		 (attack->attached == NO ||
		  (attack->attached == YES && !(attack->events & BIT_ULL(event)))))
		EXPECT(attack, asked, asked->ret == -ENODATA);
}

static void learn(struct attack *attack, const struct asked *asked)
{
	if (asked->ret)
		return;
	switch (asked->op) {
	case HYPTRACE_OP_ATTACH:
		attack->attached = YES;
		attack->events = asked->args[1];
		break;
	case HYPTRACE_OP_DETACH:
		attack->attached = NO;
		break;
	case HYPTRACE_OP_COUNT:
		attack->counting = asked->args[1] ? YES : NO;
		break;
	}
}

/**
 * hostile_check() - check the answer of a call
 * @attack:	the thread of this CPU
 * @asked:	the call
 */
void hostile_check(struct attack *attack, const struct asked *asked)
{
	EXPECT(attack, asked, hyptrace_may_answer(asked->op, asked->ret));
	if (asked->op >= HYPTRACE_NR_OPS)
		return;
	check_cpu(attack, asked);
	check_stateless(attack, asked);
	if (asked->op == HYPTRACE_OP_WRITE)
		check_write(attack, asked);
	if (!has_cpu(asked->op) || cpu_of(asked) != attack->cpu)
		return;
	if (attack->attached == YES &&
	    !(asked->op <= HYPTRACE_OP_RING_FREE && asked->args[0] & HYPTRACE_SPARE_RING))
		check_attached(attack, asked);
	if (attack->counting == YES)
		check_counting(attack, asked);
	if (attack->cpu == SOLE_CPU)
		hostile_model(attack, asked);
	learn(attack, asked);
}
