/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The environment of hyp/ in the host tests: CPUs, a counter, and a host that
 * tracks the owner of each of its pages. For the tests of hyp/.
 *
 * Each page of the pool lies between two inaccessible pages. While EL2 neither owns
 * nor pins a page, ASan has it poisoned, so that an access by hyp/ is reported. A test
 * writes to such a page with env_host_write().
 *
 * Threads may call hyp/ at the same time, each as another CPU. Pages change hands one at a time:
 * meanwhile the host cannot write to them.
 */
#ifndef HYP_ENV_H
#define HYP_ENV_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hooks.h"

#define ENV_CPUS	4
#define ENV_NR(array)	(sizeof(array) / sizeof((array)[0]))
#define ENV_NS_CLOCK	(1ULL << HYPTRACE_CLOCK_SHIFT)	/* mult for 1 ns per cycle */

enum env_owner {
	ENV_HOST,	/* the host owns it */
	ENV_SHARED,	/* the host has shared it for another purpose */
	ENV_PINNED,	/* EL2 has shared and pinned it */
	ENV_HYP,	/* EL2 owns it, since hyp/ has taken it */
	ENV_GUEST,	/* a protected guest owns it */
	ENV_PKVM,	/* EL2 owns it, but not for hyp/ */
	ENV_GUEST_SHARED, /* a protected guest owns it, and shares it with the host */
};

/* How often hyp/ has called each function of its environment. */
struct env_calls {
	u64 take, release, share, unshare;
};

extern struct hyptrace_ring env_rings[ENV_CPUS];
extern struct hyptrace_ring env_spare_rings[ENV_CPUS];
extern struct env_calls env_calls;
/* How often this thread has called any function of the environment. */
extern __thread u64 env_thread_calls;
/* How often hyp/ broke a rule of its environment; stderr has the details. */
extern u32 env_violations;
/* The largest CPU number that hyp/ has asked for. */
extern u64 env_asked_cpu;
/* The value of the counter. The hook runs on each read. */
extern u64 env_counter;
extern void (*env_counter_hook)(void);
/* hyptrace_nr_cpus() calls it. */
extern void (*env_cpus_hook)(void);
/* Runs whenever pages change hands. */
extern void (*env_pages_hook)(void);
/* Bit per CPU that does not exist. */
extern u32 env_absent;
/* If n is not 0, the nth call of this thread from now fails with -ENOMEM. */
extern __thread u32 env_fail_take, env_fail_release, env_fail_share;
/* What pKVM says of each page: an errno, or the states; and for which page hyp/ has asked last. */
extern struct hyptrace_page_states env_page_states;
extern int env_page_error;
extern u64 env_page_asked;
/* Set after env_start(): pKVM says of each page who owns it, not @env_page_states. */
extern bool env_pages_known;
/* Set before env_start(): the pages of the pool are contiguous. */
extern bool env_packed;

void env_start(u32 nr_pages);
void env_stop(void);
void env_cpu(u32 cpu);

void *env_page(u32 index);
u64 env_pfn(u32 index);
enum env_owner env_owner(u32 index);
u32 env_nr_pages(void);
bool env_find(const void *va, u32 *index);
bool env_change(u32 index, enum env_owner from, enum env_owner to);
void env_share(u32 index);
void env_unshare(u32 index);
bool env_host_try_write(u32 index, size_t offset, const void *from, size_t len, bool scribbles);
void env_host_write(u32 index, size_t offset, const void *from, size_t len);
bool env_is_wiped(u32 index);
u32 env_count(enum env_owner owner);

/*
 * Deterministic random numbers; the environment variable HYPTRACE_TEST_SEED overrides the
 * seed.
 */
u64 env_seed(u64 seed);
u64 env_random(u64 *state);
u64 env_number(const char *name, u64 otherwise);

/*
 * A ring made of the pool pages from @first on: first the data pages in order of
 * their ids, then the meta page, the directories and the tables.
 */
struct env_ring {
	u64 cpu;	/* with HYPTRACE_SPARE_RING: its spare ring */
	u32 first;
	u32 nr_pages;
	u32 nr_dirs;
	u32 nr_tables;
};

u32 env_ring_pages(u32 nr_pages);
void env_ring_shape(struct env_ring *ring, u64 cpu, u32 first, u32 nr_pages);
u32 env_ring_dir(const struct env_ring *ring, u32 nr);
u32 env_ring_table(const struct env_ring *ring, u32 nr);
void env_ring_list(const struct env_ring *ring, u32 table);
void env_ring_give_table(const struct env_ring *ring, u32 table);
void env_ring_load(struct env_ring *ring, u64 cpu, u32 first, u32 nr_pages,
		   u32 flags);
void env_ring_free(struct env_ring *ring);

static inline struct hyptrace_subbuf *env_ring_data(const struct env_ring *ring,
						    u32 id)
{
	return env_page(ring->first + id);
}

static inline struct hyptrace_meta *env_ring_meta(const struct env_ring *ring)
{
	return env_page(ring->first + ring->nr_pages);
}

#endif /* HYP_ENV_H */
