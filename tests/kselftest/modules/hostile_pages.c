// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pages that the threads offer to EL2: a pool of pages of this module, and pages that EL2 must
 * refuse. Some kernels' EL2 panics if the host writes to a page that EL2 owns. So a page is locked
 * while it is donated, and while the module writes to it, which it does only if EL2 says that the
 * host can.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/arm-smccc.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include <asm/kvm_asm.h>
#include <asm/memory.h>

#include "el2.h"
#include "hyptrace_hostile.h"

#define CHUNK_ORDER	4
#define CHUNK		(1U << CHUNK_ORDER)
#define LOCKS		64
#define SHARED		4	/* pages that the module shares with EL2 */
#define FOREIGN		64	/* pages of EL2 and of guests */
/* To look at each page would take as many hypercalls as the attack. */
#define LOOK_STEP	7
#define LOOK_MOST	(1U << 20)

/* Scribbles: prefer pages that EL2 writes to */
#define CHOICES		4

static struct page **pool;
static u32 nr_pool;
static struct page *shared[SHARED];
static struct page *foreign[FOREIGN];
static u32 nr_shared, nr_foreign;
static raw_spinlock_t locks[LOCKS];

static raw_spinlock_t *lock_of(u64 pfn)
{
	return &locks[pfn % LOCKS];
}

void hostile_lock_page(u64 pfn)
{
	raw_spin_lock(lock_of(pfn));
}

void hostile_unlock_page(u64 pfn)
{
	raw_spin_unlock(lock_of(pfn));
}

/**
 * hostile_hvc() - make a hypercall of pKVM
 * @number:	its number
 * @arg:	its argument
 *
 * Return: what EL2 has answered; -EOPNOTSUPP if it does not know the call.
 */
s64 hostile_hvc(u64 number, u64 arg)
{
	struct arm_smccc_res res;

	arm_smccc_1_1_hvc(KVM_HOST_SMCCC_ID(0) + number, arg, &res);

	return res.a0 == SMCCC_RET_SUCCESS ? (s64)res.a1 : -EOPNOTSUPP;
}

static s64 owner_of(u64 pfn)
{
	return hyptrace_el2.call(HYPTRACE_OP_PAGE, pfn, 0, 0);
}

u32 hostile_nr_pages(void)
{
	return nr_pool;
}

u64 hostile_pfn(u32 page)
{
	return page_to_pfn(pool[page]);
}

/* A page that EL2 must refuse, unless it was a guest's, and is free now */
u64 hostile_bad_pfn(u64 random)
{
	u32 nr = READ_ONCE(nr_foreign), at = random % (SHARED + 1 + FOREIGN);

	if (at < SHARED)
		return page_to_pfn(shared[at]);
	if (at == SHARED || !nr)
		return DEVICE_PFN;

	return page_to_pfn(foreign[at % nr]);
}

bool hostile_is_shared(u64 pfn)
{
	u32 i;

	for (i = 0; i < SHARED; i++)
		if (page_to_pfn(shared[i]) == pfn)
			return true;

	return false;
}

/**
 * hostile_write() - write to a page of the pool, if the host can
 * @page:	its number
 * @offset:	where in the page
 * @from:	what
 * @size:	bytes
 *
 * Return: whether it was written.
 */
bool hostile_write(u32 page, u32 offset, const void *from, u32 size)
{
	u64 pfn = hostile_pfn(page);
	unsigned long flags;
	s64 owner;

	raw_spin_lock_irqsave(lock_of(pfn), flags);
	owner = owner_of(pfn);
	if (owner == HYPTRACE_PAGE_HOST || owner == HYPTRACE_PAGE_HOST_SHARED_HYP)
		memcpy(page_address(pool[page]) + offset, from, size);
	raw_spin_unlock_irqrestore(lock_of(pfn), flags);

	return owner == HYPTRACE_PAGE_HOST || owner == HYPTRACE_PAGE_HOST_SHARED_HYP;
}

/**
 * hostile_scribble() - write anything to any page of the pool that the host can write to
 * @seed:	of the random numbers
 */
void hostile_scribble(u64 *seed)
{
	u64 words[8], random = hostile_next(seed);
	u32 page = random % nr_pool, i;

	for (i = 0; i < CHOICES; i++)
		if (owner_of(hostile_pfn(page)) != HYPTRACE_PAGE_HOST_SHARED_HYP)
			page = hostile_next(seed) % nr_pool;
	for (i = 0; i < ARRAY_SIZE(words); i++)
		words[i] = random >> i & 1 ? hostile_next(seed) : random >> (9 + i) & 0xffff;
	hostile_write(page, random >> 16 & 1 ? 0 :
		      (random >> 20) % (PAGE_SIZE - sizeof(words)) & ~7U, words, sizeof(words));
}

/* Keep a page of EL2 or of a guest: nobody else gets it when they give it back. */
static void keep(u64 pfn)
{
	struct page *page = pfn_to_page(pfn);
	s64 owner;

	if (!get_page_unless_zero(page))
		return;
	owner = owner_of(pfn);
	if (owner == HYPTRACE_PAGE_HYP || owner == HYPTRACE_PAGE_GUEST) {
		foreign[nr_foreign] = page;
		/* Order the page before the number: the threads use it at once. */
		smp_store_release(&nr_foreign, nr_foreign + 1);
	} else {
		put_page(page);
	}
}

/**
 * hostile_pages_look() - look for pages of EL2 and of guests
 * @boot:	also in the memory that EL2 has since boot; else only for pages that it was given
 *
 * Context: process; one call at a time.
 */
void hostile_pages_look(bool boot)
{
	u64 pfn = PHYS_PFN(PHYS_OFFSET), end = pfn + LOOK_MOST;
	u32 most = boot ? FOREIGN / 4 : FOREIGN;
	bool seen = false;
	s64 owner;

	for (; pfn < end && nr_foreign < most; pfn += LOOK_STEP) {
		owner = owner_of(pfn);
		if (owner == HYPTRACE_PAGE_NO_MEMORY && seen)
			break;
		seen = seen || owner != HYPTRACE_PAGE_NO_MEMORY;
		if ((owner == HYPTRACE_PAGE_HYP || owner == HYPTRACE_PAGE_GUEST) &&
		    pfn_valid(pfn) && (boot || !PageReserved(pfn_to_page(pfn))))
			keep(pfn);
		cond_resched();
	}
}

static int alloc_pool(void)
{
	u32 nr = nr_cpu_ids * PER_CPU + BIG, i;
	struct page *chunk;

	pool = vcalloc(DIV_ROUND_UP(nr, CHUNK) * CHUNK, sizeof(*pool));
	if (!pool)
		return -ENOMEM;
	while (nr_pool < nr) {
		/* Adjacent pages, which EL2 shares at once; each can be freed alone. */
		chunk = alloc_pages(GFP_KERNEL | __GFP_ZERO, CHUNK_ORDER);
		if (!chunk)
			return -ENOMEM;
		split_page(chunk, CHUNK_ORDER);
		for (i = 0; i < CHUNK; i++)
			pool[nr_pool++] = chunk + i;
	}

	return 0;
}

static int share_pages(void)
{
	for (; nr_shared < SHARED; nr_shared++) {
		shared[nr_shared] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!shared[nr_shared])
			return -ENOMEM;
		if (hostile_hvc(__KVM_HOST_SMCCC_FUNC___pkvm_host_share_hyp,
				page_to_pfn(shared[nr_shared]))) {
			__free_page(shared[nr_shared]);
			return -EIO;
		}
	}

	return 0;
}

int hostile_pages_init(void)
{
	u32 i;
	int ret;

	for (i = 0; i < LOCKS; i++)
		raw_spin_lock_init(&locks[i]);
	ret = alloc_pool() ?: share_pages();
	if (ret)
		hostile_pages_exit();

	return ret;
}

static bool unshare(u64 pfn)
{
	return !hostile_hvc(__KVM_HOST_SMCCC_FUNC___pkvm_host_unshare_hyp, pfn);
}

/* Is the page the host's alone, and can the host write to it? */
static bool is_back(struct page *page)
{
	u64 *word = page_address(page);

	if (owner_of(page_to_pfn(page)) != HYPTRACE_PAGE_HOST)
		return false;
	WRITE_ONCE(*word, page_to_pfn(page));

	return READ_ONCE(*word) == page_to_pfn(page);
}

/**
 * hostile_pages_check() - check that each page of the pool is the host's alone again
 * @unshared:	pages that the threads have taken back from EL2 before it has pinned them
 * @kept:	pages that EL2 has said it keeps
 *
 * If the host takes back one of several pages that EL2 is going to pin, the others stay shared.
 */
void hostile_pages_check(u64 unshared, u64 kept)
{
	struct asked asked = { .op = HYPTRACE_OP_PAGE };
	u32 i;

	for (i = 0; i < nr_pool; i++) {
		asked.args[0] = page_to_pfn(pool[i]);
		asked.ret = owner_of(asked.args[0]);
		if (asked.ret == HYPTRACE_PAGE_HOST_SHARED_HYP && unshared &&
		    i / PER_CPU != SOLE_CPU)
			unshare(asked.args[0]);
		if (is_back(pool[i]))
			continue;
		if (asked.ret == HYPTRACE_PAGE_HYP && kept) {
			kept--;
			continue;
		}
		hostile_failed(NULL, &asked, "a page is not the host's alone again");
	}
}

/* Pages that are not the host's are left to EL2. Those of EL2 since boot are never the host's. */
static void free_one(struct page *page)
{
	if (owner_of(page_to_pfn(page)) == HYPTRACE_PAGE_HOST)
		put_page(page);
}

void hostile_pages_exit(void)
{
	while (nr_foreign)
		free_one(foreign[--nr_foreign]);
	while (nr_shared) {
		unshare(page_to_pfn(shared[--nr_shared]));
		free_one(shared[nr_shared]);
	}
	while (nr_pool)
		free_one(pool[--nr_pool]);
	vfree(pool);
	pool = NULL;
}
