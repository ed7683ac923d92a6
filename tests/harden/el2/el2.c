// SPDX-License-Identifier: GPL-2.0-only
/*
 * el2 SEED ROUNDS: four CPUs attack EL2 for so many rounds each; a fifth thread scribbles. Between
 * epochs no thread runs: then all that EL2 keeps is checked, and the rules change.
 *
 * It prints what was tried, and ends with 0 if EL2 has done what it must.
 */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "el2.h"
#include "hyp_books.h"

#define EPOCH		400	/* rounds */
#define SHADOW_STEPS	20	/* per round */
#define ENOUGH		100000	/* ops */
#define CHOICES		8	/* pages of which it takes one */
#define BATCH		16	/* scribbles */
#define BATCH_US	100	/* between two of them */
#define MAX_STEPS	(2 * POOL)

struct rules rules;
__thread struct attack *self;

static struct attack attacks[ENV_CPUS];
static pthread_barrier_t begins, ends, all_over;
static bool epoch_is_over, all_is_over;
static u64 nr_scribbled;

/* The state of all threads is what a debugger would look at: do not end it orderly. */
void attack_failed(const char *file, int line, const char *what)
{
	char text[256];
	int len;

	if (self)
		len = snprintf(text, sizeof(text), "not ok - %s:%d: %s (CPU %u, op %llu)\n", file,
			       line, what, self->cpu, self->op);
	else
		len = snprintf(text, sizeof(text), "not ok - %s:%d: %s\n", file, line, what);
	if (write(STDOUT_FILENO, text, len) != len)
		abort();
	_exit(1);
}

/* cmocka's, which the files of the unit tests call. In no test it would end without a word. */
void _fail(const char *file, const int line)
{
	attack_failed(file, line, "an assertion of the unit tests");
}

/*
 * SYNC may seal a sub-buffer while its CPU writes to it. EL2 reads what the host can write, too,
 * but it decides nothing.
 */
const char *__tsan_default_suppressions(void)
{
	return "race:hyptrace_seal_sum\n";
}

static void round_of(struct attack *attack)
{
	u64 random = attack_random(attack) & 15;

	if (random < 4)
		any_call(attack);
	else if (random == 4)
		some_script(attack);
	else
		some_visit(attack);
}

static void *attack_thread(void *arg)
{
	struct attack *attack = arg;
	u32 i;

	self = attack;
	env_cpu(attack->cpu);
	for (;;) {
		pthread_barrier_wait(&begins);
		if (all_is_over)
			return NULL;
		if (rules.shadowed == attack->cpu)
			shadow_run(attack, EPOCH * SHADOW_STEPS);
		else
			for (i = 0; i < EPOCH; i++)
				round_of(attack);
		pthread_barrier_wait(&ends);
	}
}

/*
 * Write to any page that the host can write to, also where EL2 publishes what it has done; but not
 * to those that the model is compared with.
 */
static void scribble(u64 *seed)
{
	u64 words[8], random = env_random(seed);
	u32 page = random % SHADOW_FIRST, other, i;

	/* Prefer pages that EL2 writes to. */
	for (i = 0; i < CHOICES; i++) {
		other = env_random(seed) % SHADOW_FIRST;
		if (env_owner(page) != ENV_PINNED)
			page = other;
	}
	for (i = 0; i < ENV_NR(words); i++)
		words[i] = random >> i & 1 ? env_random(seed) : random >> (9 + i) & 0xffff;
	nr_scribbled += env_host_try_write(page, random >> 16 & 1 ? 0 :
					   (random >> 20) % (PAGE_SIZE - sizeof(words)),
					   words, sizeof(words), true);
}

static void *scribble_thread(void *arg)
{
	u64 *seed = arg;
	u32 i;

	for (;;) {
		pthread_barrier_wait(&begins);
		if (all_is_over)
			return NULL;
		while (!READ_ONCE(epoch_is_over)) {
			for (i = 0; i < BATCH; i++)
				scribble(seed);
			usleep(BATCH_US);
		}
		pthread_barrier_wait(&all_over);
	}
}

static void free_ring(u64 which)
{
	u32 steps = 0;
	s64 ret;

	do {
		ret = hyptrace_hcall(HYPTRACE_OP_RING_FREE, which, 0, 0);
		require(steps++ < MAX_STEPS);
	} while (ret == 1);
	require(!ret);
}

/* The CPU's rings become empty. */
static void free_rings(u32 cpu)
{
	env_cpu(cpu);
	hyptrace_hcall(HYPTRACE_OP_DETACH, cpu, 0, 0);
	free_ring(cpu);
	while (hyptrace_hcall(HYPTRACE_OP_MOVE, cpu, 0, 0) > 0)
		;
	free_ring(cpu | HYPTRACE_SPARE_RING);
}

static void free_counters(u32 cpu)
{
	s64 ret;

	env_cpu(cpu);
	require(!hyptrace_hcall(HYPTRACE_OP_COUNT, cpu, 0, 0));
	require(!hyptrace_hcall(HYPTRACE_OP_PMU, cpu, HYPTRACE_PMU_NONE, 0));
	do {
		ret = hyptrace_hcall(HYPTRACE_OP_COUNT_FREE, cpu, 0, 0);
	} while (ret == 1);
	require(!ret);
}

static void set_rules(u64 epoch)
{
	u32 event;

	rules.calm = epoch & 1;
	rules.shadowed = (epoch >> 1) % (ENV_CPUS + 1);
	rules.may_lose = epoch % 8 == 4;
	if (rules.calm) {
		for (event = 1; event < HYPTRACE_NR_EVENTS; event++)
			require(!hyptrace_hcall(HYPTRACE_OP_TRIGGER, event, 0, 0));
		require(!hyptrace_hcall(HYPTRACE_OP_ARM, 1, 0, 0));
	}
	if (rules.shadowed != NOBODY) {
		free_rings(rules.shadowed);
		attacks[rules.shadowed].attached = false;
	}
}

/* What EL2 publishes is what it keeps. */
static void check_published(u32 cpu)
{
	struct hyptrace_ring *ring = &env_rings[cpu];
	const struct hyptrace_meta *meta = ring->meta;

	if (hyptrace_hcall(HYPTRACE_OP_SYNC, cpu, 0, 0))
		return;
	require(meta->written == ring->recorded + ring->dropped);
	require(meta->overrun == ring->overrun && meta->dropped == ring->dropped);
	require(meta->filtered == ring->filtered && meta->unread == ring->unread);
	require(meta->state == ring->state);
	require(meta->reader_id == hyptrace_reader_slot(ring)->id);
}

static u32 count_kept(void)
{
	u32 nr = 0, cpu;

	for (cpu = 0; cpu < ENV_CPUS; cpu++)
		nr += attacks[cpu].nr_kept;

	return nr;
}

static void check_all(void)
{
	u32 cpu;

	books_check(count_kept());
	for (cpu = 0; cpu < ENV_CPUS; cpu++)
		check_published(cpu);
}

/* These pages are not the host's alone, and never become so. */
static void start_pool(bool packed)
{
	static const enum env_owner owners[] = { ENV_SHARED, ENV_GUEST, ENV_PKVM };
	u32 i;

	env_packed = packed;
	env_start(POOL);
	env_counter = 100000;
	for (i = 0; i < OTHERS; i++)
		require(env_change(OTHERS_FIRST + i, ENV_HOST, owners[i % ENV_NR(owners)]));
	env_pages_known = true;
	env_pages_hook = call_pages_hook;
}

/* All pages are back, but for those that EL2 said it would keep. */
static void stop_pool(void)
{
	u32 kept = count_kept(), cpu, i;

	for (cpu = 0; cpu < ENV_CPUS; cpu++) {
		free_rings(cpu);
		free_counters(cpu);
	}
	books_check(kept);
	for (i = 0; i < POOL; i++)
		kept -= env_change(i, ENV_HYP, ENV_HOST);
	require(!kept);
	require(env_count(ENV_HOST) == POOL - OTHERS);
	env_stop();
}

/* Attack one pool of pages for so many epochs. */
static void run(u64 seed, u64 epochs, bool packed)
{
	u64 scribbler = seed + ENV_CPUS, epoch;
	pthread_t threads[ENV_CPUS + 1];
	u32 cpu;

	start_pool(packed);
	all_is_over = false;
	for (cpu = 0; cpu < ENV_CPUS; cpu++) {
		attacks[cpu].seed = seed + cpu;
		attacks[cpu].cpu = cpu;
		attacks[cpu].nr_kept = 0;
		attacks[cpu].attached = false;
		require(!pthread_create(&threads[cpu], NULL, attack_thread, &attacks[cpu]));
	}
	require(!pthread_create(&threads[ENV_CPUS], NULL, scribble_thread, &scribbler));
	for (epoch = 0; epoch < epochs; epoch++) {
		set_rules(epoch);
		epoch_is_over = false;
		pthread_barrier_wait(&begins);
		pthread_barrier_wait(&ends);
		WRITE_ONCE(epoch_is_over, true);
		pthread_barrier_wait(&all_over);
		check_all();
	}
	all_is_over = true;
	pthread_barrier_wait(&begins);
	for (cpu = 0; cpu <= ENV_CPUS; cpu++)
		require(!pthread_join(threads[cpu], NULL));
	stop_pool();
}

#define SUM(field)							\
	({								\
		u64 sum = 0;						\
									\
		for (u32 i = 0; i < ENV_CPUS; i++)			\
			sum += attacks[i].field;			\
		sum;							\
	})

/* An attack in which little happens would find nothing; but a short one may miss a rare op. */
static void check_effort(void)
{
	u64 nr = SUM(nr_ops);
	u32 op;

	if (nr < ENOUGH)
		return;
	for (op = 0; op < HYPTRACE_NR_OPS; op++)
		if (op != HYPTRACE_OP_FUNCTION)
			require(SUM(accepted[op]) > nr / 20000);
	require(SUM(nr_protected) > nr / 100 && SUM(nr_exact) > nr / 10);
	require(SUM(nr_silent) > nr / 10 && SUM(nr_shadow) > nr / 10);
	require(SUM(nr_waits) && SUM(nr_hidden) && nr_scribbled);
}

int main(int argc, char **argv)
{
	u64 seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	u64 rounds = argc > 2 ? strtoull(argv[2], NULL, 0) : 100000;
	u64 epochs = DIV_ROUND_UP(rounds, 2 * EPOCH);

	pthread_barrier_init(&begins, NULL, ENV_CPUS + 2);
	pthread_barrier_init(&ends, NULL, ENV_CPUS + 1);
	pthread_barrier_init(&all_over, NULL, 2);
	run(seed, epochs, false);
	run(~seed, epochs, true);
	printf("%llu ops, %llu of them accepted: %llu rings, %llu swaps, %llu exchanged\n",
	       SUM(nr_ops), SUM(nr_accepted), SUM(accepted[HYPTRACE_OP_RING_READY]),
	       SUM(accepted[HYPTRACE_OP_SWAP]), SUM(accepted[HYPTRACE_OP_EXCHANGE]));
	printf("%llu guest runs, %llu of them protected\n", SUM(nr_runs), SUM(nr_protected));
	printf("%llu events, %llu of them while silent, %llu exact, %llu with a shadow\n",
	       SUM(nr_events), SUM(nr_silent), SUM(nr_exact), SUM(nr_shadow));
	printf("%llu waits for locks, %llu of them hidden, %llu times off, %llu scribbles\n",
	       SUM(nr_waits), SUM(nr_hidden), SUM(nr_off), nr_scribbled);
	/* the same seed, the same sequences */
	printf("the sequences ended with %llx\n", SUM(seed));
	check_effort();

	return 0;
}
