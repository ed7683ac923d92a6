// SPDX-License-Identifier: GPL-2.0-only
/*
 * A step: one of four CPUs does something for the host, or its protected guest runs for some time.
 * Which CPU, and what the host does, follows from the seed of the host alone. Nothing that guests
 * do may change it: the host waits for no guest but in a step of its own.
 */
#include "lock.h"
#include "silence.h"

struct cpu cpus[ENV_CPUS];
struct lock locks[LOCKS];

static struct {
	u64 seed;
	u64 counter;
} script;

/* From now on this is the CPU that runs. Time goes on in the host's sequence only. */
static void switch_to(struct cpu *cpu, u64 random)
{
	u32 i;

	script.counter += random & 1023;
	if (!(random >> 10 & 1023))
		script.counter += BIT_ULL(28);
	env_counter = script.counter;
	env_cpu(cpu->attack.cpu);
	self = &cpu->attack;
	for (i = 0; i < ENV_NR(cpu->pmu.values); i++)
		cpu->pmu.values[i] += random >> 20 & 255;
	hyptrace_host_pmu = cpu->pmu;
}

static void release(struct lock *lock)
{
	lock->host = NOBODY;
	lock->owner++;
}

/* A lock that another CPU has: wait until its turn is over, as hyptrace_lock_wait() does. */
static void wait_for(struct lock *lock, u16 served, u16 own)
{
	struct hyptrace_ring *ring = hyptrace_this_ring();
	s32 owner = HYPTRACE_LOCK_HIDDEN;

	if (hyptrace_is_on(lock_wait))
		owner = hyptrace_lock_wait_begin(ring, &lock->owner, served, own);
	if (lock->guest != NOBODY)
		guest_release(lock);
	else
		release(lock);
	require(lock->owner == own);
	if (owner != HYPTRACE_LOCK_HIDDEN)
		__hyptrace_lock_wait(ring, HYPTRACE_LOCK_HYP_POOL, owner);
}

/* Use a pool. The CPU may keep the lock until its next step, or until another one wants it. */
static void use_pool(struct attack *attack, u64 random)
{
	struct lock *lock = &locks[random % LOCKS];
	u16 served = lock->owner, own = lock->next++;

	if (own != served)
		wait_for(lock, served, own);
	lock->host = attack->cpu;
	hyptrace_pool_change(&lock->left, random >> 9 & 1, random >> 10 & 3, random % LOCKS);
	if (random >> 8 & 1)
		release(lock);
}

static void some_events(struct attack *attack)
{
	u32 nr;

	for (nr = attack_below(attack, 6); nr; nr--)
		do_event(any_event(attack), attack_random(attack));
	if (attack_below(attack, 2))
		use_pool(attack, attack_random(attack));
}

static void begin_call(struct cpu *cpu)
{
	u64 random = attack_random(&cpu->attack);

	cpu->regs[0] = random & 1;
	cpu->regs[1] = random >> 1;
	cpu->regs[2] = random >> 7;
	cpu->attack.in_call = true;
	hyptrace(hyp_enter, HYPTRACE_REASON_HVC);
	hyptrace_begin(host_hcall, random >> 40 & 255, cpu->regs);
}

static void end_call(struct cpu *cpu)
{
	hyptrace(host_hcall, cpu->regs);
	hyptrace_host_exit();
	cpu->attack.in_call = false;
}

/* As hyptrace_guest_enter() */
static void begin_run(struct cpu *cpu)
{
	struct hyptrace_ring *ring = hyptrace_this_ring();

	begin_call(cpu);
	hyptrace_set_vcpu(1 + attack_below(&cpu->attack, 1000));
	hyptrace_run_begin(ring, 1, 0);
}

static void end_run(struct cpu *cpu, bool protected)
{
	u64 random = attack_random(&cpu->attack), exit_code = random >> 24 & 0x807;
	struct hyptrace_vcpu vcpu = {
		.handle = 1, .protected = protected, .fault = { random >> 30, random, random << 3 },
		.pc = random,
	};

	if (protected)
		guest_end(cpu, &vcpu, exit_code);
	else
		hyptrace_guest_end(false);
	hyptrace_end_span(hyptrace_this_ring(), guest_exit, &vcpu, exit_code);
	hyptrace_set_vcpu(0);
	end_call(cpu);
}

/* The guest is not protected: all that it causes is for the host to see. */
static void run_plain_guest(struct cpu *cpu)
{
	begin_run(cpu);
	hyptrace_guest_begin(false);
	some_events(&cpu->attack);
	end_run(cpu, false);
}

/* The guest gives a page up, which the host learns: as hyptrace_relinquish(). */
static void relinquish(struct cpu *cpu)
{
	struct hyptrace_ring *ring = hyptrace_this_ring();
	u32 silent = ring->silent;

	if (silent == HYPTRACE_SILENT_GUEST)
		hyptrace_set_silent(ring, HYPTRACE_SILENT_LOAD);
	hyptrace(mem_transition, HYPTRACE_MEM_RECLAIM, HYPTRACE_OWNER_GUEST, HYPTRACE_OWNER_HOST,
		 attack_below(&cpu->attack, 1000), 1, 0, 1, 0);
	hyptrace_set_silent(ring, silent);
}

static void step_in_guest(struct cpu *cpu)
{
	u64 random = attack_random(&cpu->attack);

	guest_act(cpu);
	if (!(random & 7))
		relinquish(cpu);
	if (!(random >> 3 & 7))
		end_run(cpu, true);
}

static void switch_off(struct cpu *cpu)
{
	hyptrace(hyp_exit, HYPTRACE_REASON_SMC);
	hyptrace_cpu_off();
	cpu->place = IS_OFF;
}

static void switch_on(struct cpu *cpu)
{
	hyptrace_cpu_on();
	cpu->attack.attached = look().attached;
	cpu->place = AT_HOST;
	hyptrace(hyp_enter, HYPTRACE_REASON_SMC);
	hyptrace_host_exit();
}

static void program_pmu(struct cpu *cpu)
{
	u64 random = attack_random(&cpu->attack);

	if (cpu->pmu.nr >= 0)
		cpu->pmu.nr = random & 15 ? 6 : random >> 4 & 7;
	cpu->pmu.enabled = random >> 8 & 7 ? ~0ULL : random >> 11;
	cpu->pmu.mdcr = random >> 42 & 3 ? 31 : random >> 44;
	cpu->pmu.pmcr = !!(random >> 55 & 7);
	cpu->pmu.types[random >> 37 & 3] = random >> 39 & 7;
}

/* The host writes to any page to which it has access. */
static void scribble(struct cpu *cpu)
{
	u64 random = attack_random(&cpu->attack);

	env_host_try_write(random % POOL, random >> 16 & 0xff8, &random, sizeof(random), true);
}

static void step_at_host(struct cpu *cpu)
{
	struct attack *attack = &cpu->attack;

	switch (attack_below(attack, 24)) {
	case 0 ... 5:
		any_call(attack);
		break;
	case 6:
	case 7:
		some_script(attack);
		break;
	case 8:
		switch_off(cpu);
		break;
	case 9:
		program_pmu(cpu);
		break;
	case 10:
		scribble(cpu);
		break;
	case 11 ... 14:
		begin_run(cpu);
		guest_begin(cpu);
		break;
	case 15:
		run_plain_guest(cpu);
		break;
	default:
		begin_call(cpu);
		some_events(attack);
		end_call(cpu);
	}
}

void steps_do_one(void)
{
	u64 random = env_random(&script.seed);
	struct cpu *cpu = &cpus[random >> 60 & (ENV_CPUS - 1)];
	u32 i;

	switch_to(cpu, random);
	for (i = 0; i < LOCKS; i++)
		if (locks[i].host == cpu->attack.cpu)
			release(&locks[i]);
	switch (cpu->place) {
	case IN_GUEST:
		step_in_guest(cpu);
		break;
	case IS_OFF:
		if (random >> 58 & 1)
			switch_on(cpu);
		break;
	default:
		step_at_host(cpu);
	}
}

/* Most CPUs begin with a ring and with counters. */
static void start_cpu(struct cpu *cpu)
{
	struct attack *attack = &cpu->attack;
	u32 first = attack->cpu * PER_CPU + ARENAS * ARENA, i;

	switch_to(cpu, 0);
	if (attack_below(attack, 8))
		start_ring(attack);
	if (!attack_below(attack, 3))
		return;
	for (i = first; i < first + 2 * COUNT_PAIRS; i += 2)
		call(attack, HYPTRACE_OP_COUNT_PAGE, attack->cpu, env_pfn(i), env_pfn(i + 1));
	call(attack, HYPTRACE_OP_COUNT, attack->cpu,
	     attack_below(attack, 4) ? HYPTRACE_COUNTABLE_EVENTS : attack_random(attack), 0);
	call(attack, HYPTRACE_OP_PMU, attack->cpu, hyptrace_pmu_counter(0, 1, 0), 0);
}

void steps_begin(u64 seed, u64 guest_seed)
{
	u32 i;

	script.seed = seed;
	script.counter = 100000;
	rules.shadowed = NOBODY;
	rules.calm = env_random(&script.seed) & 1;
	for (i = 0; i < LOCKS; i++)
		locks[i] = (struct lock) { .left = 1000, .host = NOBODY, .guest = NOBODY };
	for (i = 0; i < ENV_CPUS; i++) {
		cpus[i] = (struct cpu) {
			.attack = { .seed = env_random(&script.seed), .cpu = i },
			.guest_seed = env_random(&guest_seed),
			/* The first one has no PMU. */
			.pmu = { .nr = i ? 6 : -1, .enabled = ~0ULL },
		};
		start_cpu(&cpus[i]);
	}
}
