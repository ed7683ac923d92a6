/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Non-interference: a host whose actions follow from one seed, and protected guests whose actions
 * follow from another. silence.c has the whole, step.c what a step is, guest.c what guests do.
 */
#ifndef SILENCE_H
#define SILENCE_H

#include "../el2/el2.h"

#define LOCKS	3

/* A ticket lock of pKVM, and a page pool that it protects */
struct lock {
	u16 owner;	/* whose turn it is */
	u16 next;
	u32 left;	/* free pages of its pool */
	u32 host;	/* the CPU that has it for the host, or NOBODY */
	u32 guest;	/* the CPU that has it for a protected guest, or NOBODY */
};

enum place { AT_HOST, IN_GUEST, IS_OFF };

/* A CPU. The guest that runs on it uses @guest_seed and nothing else that is random. */
struct cpu {
	struct attack attack;
	enum place place;
	u64 guest_seed;
	u64 regs[31];		/* of the call that runs the guest */
	struct hyptrace_host_pmu pmu;	/* while the guest does not run */
	u64 nr_guest_acts, nr_guest_runs;
};

extern struct cpu cpus[ENV_CPUS];
extern struct lock locks[LOCKS];

/* step.c */
void steps_begin(u64 seed, u64 guest_seed);
void steps_do_one(void);

/* guest.c */
void guest_begin(struct cpu *cpu);
void guest_act(struct cpu *cpu);
void guest_end(struct cpu *cpu, struct hyptrace_vcpu *vcpu, u64 exit_code);
void guest_release(struct lock *lock);

#endif /* SILENCE_H */
