/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What hyp/ runs in here: CPUs, a counter, and a host whose every page has an
 * owner that is watched. For the tests of hyp/.
 *
 * A page of the pool stands between two that cannot be touched. Under ASan it is
 * poisoned as long as EL2 neither owns nor pins it, so that hyp/ cannot use it
 * unseen; env_host_write() is how a test gets at it then.
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
#define ENV_NS_CLOCK	(1ULL << HYPTRACE_CLOCK_SHIFT)	/* mult of 1 ns a cycle */

enum env_owner {
	ENV_HOST,	/* the host's alone */
	ENV_SHARED,	/* the host has shared it, for something else */
	ENV_PINNED,	/* EL2 has shared it and does not let go of it */
	ENV_HYP,	/* EL2's alone */
};

/* Calls of hyp/ into its surroundings. */
struct env_calls {
	u64 take, release, share, unshare;
};

extern struct hyptrace_ring env_rings[ENV_CPUS];
extern struct hyptrace_ring env_spare_rings[ENV_CPUS];
extern struct env_calls env_calls;
/* Things hyp/ did that it must not do: each was told on stderr. */
extern u32 env_violations;
/* The largest CPU number that hyp/ has asked for */
extern u64 env_asked_cpu;
/* The counter; the hook runs each time it is read. */
extern u64 env_counter;
extern void (*env_counter_hook)(void);
/* Bit per CPU that is not there. */
extern u32 env_absent;
/* When not 0: the call after so many fails, with -ENOMEM. */
extern u32 env_fail_take, env_fail_release, env_fail_share;
/* Set before env_start(): pages are neighbours. */
extern bool env_packed;

void env_start(u32 nr_pages);
void env_stop(void);
void env_cpu(u32 cpu);

void *env_page(u32 index);
u64 env_pfn(u32 index);
enum env_owner env_owner(u32 index);
void env_share(u32 index);
void env_unshare(u32 index);
void env_host_write(u32 index, size_t offset, const void *from, size_t len);
bool env_is_wiped(u32 index);
u32 env_count(enum env_owner owner);

/* Deterministic numbers; the seed comes from HYPTRACE_TEST_SEED if that is set. */
u64 env_seed(u64 seed);
u64 env_random(u64 *state);
u64 env_number(const char *name, u64 otherwise);

/*
 * A ring of pool pages from @first on: the data pages in order of their ids, the
 * meta page, directories, tables.
 */
struct env_ring {
	u64 cpu;	/* or HYPTRACE_SPARE_RING of one */
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
