// SPDX-License-Identifier: GPL-2.0-only
/*
 * What EL2 does for a protected guest that runs on a CPU: any events, exits that EL2 handles
 * itself, locks, pools, pages that the guest shares. None of it may reach the host. Time and the
 * counters of the PMU go on meanwhile, too; afterwards they are what the host's sequence says.
 */
#include "lock.h"
#include "silence.h"

#define MAX_ACTS	8

static u64 guest_random(struct cpu *cpu)
{
	return env_random(&cpu->guest_seed);
}

/* EL2 enters the guest, again after each exit that it handles itself. */
static void enter(void)
{
	hyptrace(hyp_exit, HYPTRACE_REASON_ERET_GUEST);
	hyptrace(hyp_enter, HYPTRACE_REASON_GUEST_EXIT);
}

/* Any event but those that only the host's calls cause, and which change what these have begun. */
static void some_hidden_event(u64 random)
{
	u32 event = 1 + (random >> 8) % (HYPTRACE_NR_EVENTS - 1);

	if (event != HYPTRACE_EVENT_guest_exit && event != HYPTRACE_EVENT_psci_call)
		do_event(event, random);
}

/* The turn of the guest is over. */
void guest_release(struct lock *lock)
{
	lock->guest = NOBODY;
	lock->owner++;
}

/* Take a free lock for some time. One that the host has would block the guest: leave it alone. */
static void use_lock(struct cpu *cpu, struct lock *lock, u64 random)
{
	if (lock->guest == cpu->attack.cpu && random & 1) {
		guest_release(lock);
	} else if (lock->guest == NOBODY && lock->host == NOBODY) {
		lock->guest = cpu->attack.cpu;
		lock->next++;
	}
	if (lock->guest == cpu->attack.cpu)
		hyptrace_pool_change(&lock->left, random >> 1 & 1, random >> 2 & 3, 1);
}

/* Wait for a lock that only guests use. */
static void wait_for_other_guest(struct cpu *cpu, u64 random)
{
	static u16 turn;
	struct hyptrace_ring *ring = hyptrace_this_ring();
	s32 owner = HYPTRACE_LOCK_HIDDEN;

	(void)cpu;
	if (hyptrace_is_on(lock_wait))
		owner = hyptrace_lock_wait_begin(ring, &turn, turn, turn + 1);
	env_counter += random & 0xffff;
	turn++;
	if (owner != HYPTRACE_LOCK_HIDDEN)
		__hyptrace_lock_wait(ring, HYPTRACE_LOCK_VM, owner);
}

static void share_page(u64 random)
{
	u32 page = OTHERS_FIRST + random % OTHERS;

	if (!env_change(page, ENV_GUEST, ENV_GUEST_SHARED))
		env_change(page, ENV_GUEST_SHARED, ENV_GUEST);
}

static void act(struct cpu *cpu)
{
	u64 random = guest_random(cpu);

	env_counter += random >> 8 & 0xfff;
	hyptrace_host_pmu.values[random >> 20 & 31] += random >> 32;
	switch (random & 7) {
	case 0:
		enter();
		break;
	case 1:
	case 2:
		use_lock(cpu, &locks[(random >> 3) % LOCKS], random >> 5);
		break;
	case 3:
		wait_for_other_guest(cpu, random);
		break;
	case 4:
		share_page(random >> 3);
		break;
	default:
		some_hidden_event(guest_random(cpu));
	}
	cpu->nr_guest_acts++;
}

void guest_begin(struct cpu *cpu)
{
	hyptrace_guest_begin(true);
	cpu->place = IN_GUEST;
	enter();
}

/* Let the guest run for some time, or for none. */
void guest_act(struct cpu *cpu)
{
	u64 counter = env_counter, nr = guest_random(cpu) % MAX_ACTS;

	while (nr--)
		act(cpu);
	env_counter = counter;
	hyptrace_host_pmu = cpu->pmu;
}

/* The host learns the code and the class of a trap, but not what else the guest leaves in @vcpu. */
void guest_end(struct cpu *cpu, struct hyptrace_vcpu *vcpu, u64 exit_code)
{
	u64 class = HYPTRACE_EXIT_EC << HYPTRACE_EXIT_EC_SHIFT, random = guest_random(cpu);
	u32 i;

	for (i = 0; i < LOCKS; i++)
		if (locks[i].guest == cpu->attack.cpu)
			guest_release(&locks[i]);
	if ((exit_code & HYPTRACE_EXIT_CODE) != HYPTRACE_EXIT_TRAP)
		class = 0;
	vcpu->fault.esr_el2 = (vcpu->fault.esr_el2 & class) | (random & ~class);
	vcpu->fault.far_el2 = guest_random(cpu);
	vcpu->fault.hpfar_el2 = guest_random(cpu);
	vcpu->pc = guest_random(cpu);
	cpu->place = AT_HOST;
	cpu->nr_guest_runs++;
	hyptrace_guest_end(true);
}
