/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What hyp/ may use from its surroundings. hyp/ is built three ways:
 *
 *	__KVM_NVHE_HYPERVISOR__	into the EL2 object of an arm64 kernel
 *	HYPTRACE_ENV_MODULE	into the module of the test remote
 *	HYPTRACE_ENV_HOST	into host programs: tests, fuzzers, benchmarks
 *
 * Elsewhere they differ where only EL2 has the code, and in how pmu.c reads counters. Each gives
 *
 *	types, READ_ONCE(), WRITE_ONCE(), smp_load_acquire(),
 *	smp_store_release(), array_index_nospec(), static_assert(), ALIGN(),
 *	smp_mb(), smp_rmb(), smp_wmb(), likely(), swap(), PAGE_SIZE, errnos,
 *	memset(), memcpy(), L1_CACHE_BYTES, PSCI_* of linux/psci.h
 *	hyptrace_lock_t		a spinlock; hold it for a bounded time only
 *	hyptrace_guard()	hold that lock until the enclosing block is left
 *	hyptrace_assert_held()	that lock must be held: by this context (module, lockdep), or by
 *				some CPU (host programs; protected EL2 with its debugging)
 *	hyptrace_read_pair()	two READ_ONCE() of neighbours, in one load if possible
 *	hyptrace_write_pair()	two WRITE_ONCE() to neighbours, in one store if possible
 *	hyptrace_leading_zeros() of a number; 0 has 64
 *	hyptrace_read_counter()	the counter from which the clock is computed
 *	hyptrace_read_counter_synced() the same, where it may be a few instructions too early
 *	hyptrace_this_ring()	the ring of this CPU
 *	hyptrace_ring_of(cpu), hyptrace_spare_ring_of(cpu)
 *				NULL: no such CPU
 *	HYPTRACE_NR_CPUS	all CPU numbers are smaller
 *	hyptrace_nr_cpus()	upper limit of the number of CPUs
 *	hyptrace_take_page()	donate a page of the host to EL2
 *	hyptrace_release_page()	donate it back to the host
 *	hyptrace_share_pages()	share and pin adjacent pages of the host
 *	hyptrace_unshare_pages() undo that
 *	hyptrace_clean()	clean memory to the point of coherency
 *	hyptrace_get_page_states() what pKVM knows of the owner of a page of the host
 *	HYPTRACE_FORMAT_SECTION	section of the formats of hyptrace_printk(), if there is one
 *	HYPTRACE_TREE_LACKS(what) calls what() with each event that cannot be recorded
 */
#ifndef __HYPTRACE_ENV_H
#define __HYPTRACE_ENV_H

struct hyptrace_ring;

/* What a page is for the host, or for EL2 */
enum hyptrace_page_state {
	HYPTRACE_PAGE_STATE_NONE,	/* it has no access */
	HYPTRACE_PAGE_STATE_OWNED,	/* it owns the page alone */
	HYPTRACE_PAGE_STATE_SHARED,	/* it owns the page, and shares it */
	HYPTRACE_PAGE_STATE_BORROWED,	/* another owner shares the page with it */
};

/* What pKVM knows of a page */
struct hyptrace_page_states {
	enum hyptrace_page_state host;
	enum hyptrace_page_state hyp;
	unsigned int nr_guests;	/* with which the host shares it */
};

#if defined(__KVM_NVHE_HYPERVISOR__)

#include <linux/bitfield.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/sizes.h>

#include <uapi/linux/psci.h>

#include <asm/arch_timer.h>
#include <asm/barrier.h>
#include <asm/cache.h>
#include <asm/kvm_hyp.h>
#include <asm/hyptrace_tree.h>
#include <asm/kvm_mmu.h>

#include <nvhe/mem_protect.h>
#include <nvhe/memory.h>
#include <nvhe/mm.h>
#include <nvhe/spinlock.h>

/* hyp.lds.S collects it and defines the symbols of printk.h. */
#define HYPTRACE_FORMAT_SECTION		".rodata.hyptrace_format"

typedef hyp_spinlock_t hyptrace_lock_t;
#define HYPTRACE_LOCK_INIT		__HYP_SPIN_LOCK_UNLOCKED
#ifdef HYPTRACE_HOOK_lock_wait	/* it must not be recorded that EL2 waits for this lock */
#define hyptrace_lock(lock)		hyptrace_spin_lock(lock, true)
#else
#define hyptrace_lock(lock)		hyp_spin_lock(lock)
#endif
#define hyptrace_unlock(lock)		hyp_spin_unlock(lock)
#define hyptrace_assert_held(lock)	hyp_assert_lock_held(lock)

DECLARE_PER_CPU(struct hyptrace_ring, hyptrace_rings);
DECLARE_PER_CPU(struct hyptrace_ring, hyptrace_spare_rings);

/* adrp finds a symbol that has this alignment, without another instruction. */
#define HYPTRACE_RINGS_ALIGN		SZ_4K

/* this_cpu_ptr(), which would copy the address at each use */
#define hyptrace_this_ring()						\
	({								\
		unsigned long __rings;					\
									\
		asm("adrp %0, %1" : "=r" (__rings) : "S" (&hyptrace_rings)); \
		(struct hyptrace_ring *)(__rings + __my_cpu_offset);	\
	})

#define HYPTRACE_NR_CPUS		NR_CPUS

/* pKVM sets hyp_nr_cpus before the host loses control. Without protection it stays 0. */
static inline u32 hyptrace_nr_cpus(void)
{
	return hyp_nr_cpus ?: NR_CPUS;
}

/* A macro, since struct hyptrace_ring is not complete here. */
#define hyptrace_ring_of(cpu)						\
	(hyptrace_cpu_exists(cpu) ?					\
	 per_cpu_ptr(&hyptrace_rings, array_index_nospec(cpu, NR_CPUS)) : NULL)

#define hyptrace_spare_ring_of(cpu)					\
	(hyptrace_cpu_exists(cpu) ?					\
	 per_cpu_ptr(&hyptrace_spare_rings, array_index_nospec(cpu, NR_CPUS)) : NULL)

static inline bool hyptrace_cpu_exists(u64 cpu)
{
	return cpu < NR_CPUS &&
	       kvm_arm_hyp_percpu_base[array_index_nospec(cpu, NR_CPUS)];
}

#ifdef __clang__
/* clang has no constraint for ldp and stp with an offset, but uses them for 128 volatile bits. */
union hyptrace_pair {
	unsigned __int128 whole __aligned(sizeof(u64));
	u64		words[2];
};

static __always_inline void hyptrace_read_pair(const u64 *from, u64 *first, u64 *second)
{
	union hyptrace_pair pair;

	pair.whole = ((const volatile union hyptrace_pair *)from)->whole;
	*first = pair.words[0];
	*second = pair.words[1];
}

static __always_inline void hyptrace_write_pair(u64 *to, u64 first, u64 second)
{
	union hyptrace_pair pair = { .words = { first, second } };

	((volatile union hyptrace_pair *)to)->whole = pair.whole;
}
#else
static __always_inline void hyptrace_read_pair(const u64 *from, u64 *first, u64 *second)
{
	asm volatile("ldp %0, %1, %2" : "=r" (*first), "=r" (*second)
		     : "Ump" (*(const u64 (*)[2])from));
}

static __always_inline void hyptrace_write_pair(u64 *to, u64 first, u64 second)
{
	asm volatile("stp %x1, %x2, %0" : "=Ump" (*(u64 (*)[2])to)
		     : "rZ" (first), "rZ" (second));
}
#endif

static __always_inline u64 hyptrace_leading_zeros(u64 x)
{
	u64 nr;

	asm("clz %0, %1" : "=r" (nr) : "r" (x));

	return nr;
}

/*
 * The physical counter: unless EL2 runs with E2H set, the virtual counter has the offset
 * of the guest whose vCPU is loaded. The ISB keeps the CPU from reading the counter
 * before it has completed the instructions before the event.
 */
static __always_inline u64 hyptrace_read_counter(void)
{
	u64 cycles;

	asm volatile(ALTERNATIVE("isb\n\tmrs %0, cntpct_el0",
				 "nop\n\t" __mrs_s("%0", SYS_CNTPCTSS_EL0),
				 ARM64_HAS_ECV)
		     : "=r" (cycles));

	return cycles;
}

/*
 * The same without an ISB: as good right after an exception entry or return, which has synchronised
 * the CPU. Elsewhere, as before a guest's first entry, the CPU may read the counter too early.
 */
static __always_inline u64 hyptrace_read_counter_synced(void)
{
	u64 cycles;

	asm volatile("mrs %0, cntpct_el0" : "=r" (cycles));

	return cycles;
}

/* EL2 must be able to map the page: its number is below the span of the linear map. */
static inline bool hyptrace_pfn_valid(u64 pfn)
{
	return pfn < BIT_ULL(PHYS_MASK_SHIFT - PAGE_SHIFT) &&
	       (!is_protected_kvm_enabled() ||
		addr_is_memory(hyp_pfn_to_phys(pfn)));
}

static inline int hyptrace_take_page(u64 pfn, void **va)
{
	int ret = 0;

	if (!hyptrace_pfn_valid(pfn))
		return -EINVAL;
	if (is_protected_kvm_enabled())
		ret = __pkvm_host_donate_hyp(pfn, 1);
	if (!ret)
		*va = __hyp_va(hyp_pfn_to_phys(pfn));

	return ret;
}

static inline int hyptrace_release_page(void *va)
{
	if (!is_protected_kvm_enabled())
		return 0;

	return __pkvm_hyp_donate_host(hyp_virt_to_pfn(va), 1);
}

/* mem_protect.c of some trees can only do it page by page. */
#ifdef HYPTRACE_HOOK_unshare_range
int __pkvm_host_unshare_hyp_range(u64 pfn, u64 nr_pages);
#else
static inline int __pkvm_host_unshare_hyp_range(u64 pfn, u64 nr_pages)
{
	int ret = 0;

	while (nr_pages--)
		ret = __pkvm_host_unshare_hyp(pfn + nr_pages) ?: ret;

	return ret;
}
#endif

#ifdef HYPTRACE_HOOK_share_range
int __pkvm_host_share_hyp_range(u64 pfn, u64 nr_pages);
#else
static inline int __pkvm_host_share_hyp_range(u64 pfn, u64 nr_pages)
{
	int ret = 0;
	u64 i;

	for (i = 0; i < nr_pages && !ret; i++)
		ret = __pkvm_host_share_hyp(pfn + i);
	if (ret)
		__pkvm_host_unshare_hyp_range(pfn, i - 1);

	return ret;
}
#endif

/*
 * pKVM refuses to share a page that is already shared. So a page has one place in one
 * ring, and the host cannot make its count of pins overflow. Before the pages are pinned
 * the host may unshare some: then pinning fails, and EL2 does not use the pages. Those
 * that stay shared are the host's own loss.
 */
static inline int hyptrace_share_pages(u64 pfn, u32 nr, void **va)
{
	void *page;
	int ret;
	u32 i;

	for (i = 0; i < nr; i++)
		if (!hyptrace_pfn_valid(pfn + i))
			return -EINVAL;

	page = __hyp_va(hyp_pfn_to_phys(pfn));
	if (is_protected_kvm_enabled()) {
		ret = __pkvm_host_share_hyp_range(pfn, nr);
		if (ret)
			return ret;
		ret = hyp_pin_shared_mem(page, page + nr * PAGE_SIZE);
		if (ret) {
			__pkvm_host_unshare_hyp_range(pfn, nr);
			return ret;
		}
	}
	*va = page;

	return 0;
}

/* If the host has had one of them pinned for another purpose, that one at least stays shared. */
static inline void hyptrace_unshare_pages(void *va, u32 nr)
{
	if (is_protected_kvm_enabled()) {
		hyp_unpin_shared_mem(va, va + nr * PAGE_SIZE);
		__pkvm_host_unshare_hyp_range(hyp_virt_to_pfn(va), nr);
	}
}

/* kvm_flush_dcache_to_poc() does not work without protection. */
static inline void hyptrace_clean(void *va, size_t size)
{
	const unsigned long line = 4UL << (read_sysreg(ctr_el0) >> 16 & 0xf);
	unsigned long at = (unsigned long)va & ~(line - 1);

	for (; at < (unsigned long)va + size; at += line)
		asm volatile("dc cvac, %0" : : "r" (at) : "memory");
	dsb(sy);
}

static inline enum hyptrace_page_state hyptrace_page_state(enum pkvm_page_state state)
{
	switch (state) {
	case PKVM_PAGE_OWNED:
		return HYPTRACE_PAGE_STATE_OWNED;
	case PKVM_PAGE_SHARED_OWNED:
		return HYPTRACE_PAGE_STATE_SHARED;
	case PKVM_PAGE_SHARED_BORROWED:
		return HYPTRACE_PAGE_STATE_BORROWED;
	default:
		return HYPTRACE_PAGE_STATE_NONE;
	}
}

/* Whether a module of EL2 owns a page, by its state for the host */
static inline bool hyptrace_is_owned_by_module(enum pkvm_page_state host)
{
#if defined(HYPTRACE_TREE_MODULE_SHARED_PAGES)
	return host & (PKVM_MODULE_OWNED_PAGE | PKVM_MODULE_SHARED_OWNED_PAGE);
#elif defined(HYPTRACE_TREE_MODULE_PAGES)
	return host & PKVM_MODULE_OWNED_PAGE;
#else
	return false;
#endif
}

#if defined(HYPTRACE_TREE_PAGE_STATE_VMEMMAP)
/* pKVM keeps the states of the host and of EL2 in the vmemmap. */
static inline int hyptrace_read_page_states(u64 pfn, struct hyptrace_page_states *states)
{
	struct hyp_page *page = hyp_phys_to_page(hyp_pfn_to_phys(pfn));

	states->host = hyptrace_page_state(get_host_state(page));
	states->hyp = hyptrace_is_owned_by_module(get_host_state(page)) ?
		      HYPTRACE_PAGE_STATE_OWNED : hyptrace_page_state(get_hyp_state(page));
	states->nr_guests = page->host_share_guest_count;
#ifdef HYPTRACE_TREE_LENT_FFA
	if (get_host_state(page) == PKVM_NOPAGE && states->hyp == HYPTRACE_PAGE_STATE_NONE) {
		kvm_pte_t host;
		int ret = kvm_pgtable_get_leaf(&host_mmu.pgt, hyp_pfn_to_phys(pfn), &host, NULL);

		if (ret)
			return ret;
		/* The host has lent it to the secure world. */
		if (FIELD_GET(KVM_INVALID_PTE_OWNER_MASK, host) == PKVM_ID_FFA)
			states->host = HYPTRACE_PAGE_STATE_SHARED;
	}
#endif

	return 0;
}
#elif defined(HYPTRACE_TREE_PAGE_STATE_HOST)
/* pKVM keeps the states of the host in the vmemmap, and those of EL2 in its page table. */
static inline int hyptrace_read_page_states(u64 pfn, struct hyptrace_page_states *states)
{
	u64 phys = hyp_pfn_to_phys(pfn);
	struct hyp_page *page = hyp_phys_to_page(phys);
	kvm_pte_t hyp;
	int ret = kvm_pgtable_get_leaf(&pkvm_pgtable, (u64)__hyp_va(phys), &hyp, NULL);

	if (ret)
		return ret;
	states->host = hyptrace_page_state(page->host_state);
	states->hyp = HYPTRACE_PAGE_STATE_NONE;
	if (hyptrace_is_owned_by_module(page->host_state))
		states->hyp = HYPTRACE_PAGE_STATE_OWNED;
	else if (kvm_pte_valid(hyp))
		states->hyp = hyptrace_page_state(pkvm_getstate(kvm_pgtable_hyp_pte_prot(hyp)));
#ifdef HYPTRACE_TREE_SHARE_COUNT
	states->nr_guests = page->host_share_guest_count;
#elif defined(HYPTRACE_TREE_GUEST_SHARES)
	/* EL2 does not know with whom. A guest is more usual than the secure world. */
	states->nr_guests = states->hyp == HYPTRACE_PAGE_STATE_NONE;
#else
	states->nr_guests = 0;
#endif

	return 0;
}
#else
/* Whether EL2 is the owner in an entry of the host's page table that is not valid and not 0 */
static inline bool hyptrace_is_owned_by_hyp(kvm_pte_t host)
{
#ifdef KVM_INVALID_PTE_OWNER_MASK
	return FIELD_GET(KVM_INVALID_PTE_OWNER_MASK, host) == PKVM_ID_HYP;
#else
	/* Guests own no pages in these kernels. */
	return true;
#endif
}

/*
 * pKVM keeps the states in the page tables. In the host's, the entry of a page that the host owns
 * but has not accessed is 0. The entry of a page of another owner is not valid and not 0.
 */
static inline int hyptrace_read_page_states(u64 pfn, struct hyptrace_page_states *states)
{
	u64 phys = hyp_pfn_to_phys(pfn);
	kvm_pte_t host, hyp;
	int ret;

	ret = kvm_pgtable_get_leaf(&host_mmu.pgt, phys, &host, NULL) ?:
	      kvm_pgtable_get_leaf(&pkvm_pgtable, (u64)__hyp_va(phys), &hyp, NULL);
	if (ret)
		return ret;
	states->nr_guests = 0;
	if (host && !kvm_pte_valid(host)) {
		states->host = HYPTRACE_PAGE_STATE_NONE;
		states->hyp = hyptrace_is_owned_by_hyp(host) ? HYPTRACE_PAGE_STATE_OWNED :
							       HYPTRACE_PAGE_STATE_NONE;
		return 0;
	}
	states->host = hyptrace_page_state(pkvm_getstate(kvm_pgtable_stage2_pte_prot(host)));
	states->hyp = HYPTRACE_PAGE_STATE_NONE;
	if (kvm_pte_valid(hyp))
		states->hyp = hyptrace_page_state(pkvm_getstate(kvm_pgtable_hyp_pte_prot(hyp)));

	return 0;
}
#endif

/* -ENOENT if the page is no memory. It takes the locks in the same order as pKVM. */
static inline int hyptrace_get_page_states(u64 pfn, struct hyptrace_page_states *states)
{
	int ret;

	if (!is_protected_kvm_enabled())
		return -EOPNOTSUPP;
	if (!hyptrace_pfn_valid(pfn))
		return -ENOENT;
	/* No mask keeps speculation from the states of another page, since memory has holes. */
	spec_bar();
	hyp_spin_lock(&host_mmu.lock);
	hyp_spin_lock(&pkvm_pgd_lock);
	ret = hyptrace_read_page_states(pfn, states);
	hyp_spin_unlock(&pkvm_pgd_lock);
	hyp_spin_unlock(&host_mmu.lock);

	return ret;
}

#elif defined(HYPTRACE_ENV_MODULE)

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#include <uapi/linux/psci.h>

#include <asm/barrier.h>

/* Callers have disabled interrupts, as at EL2. */
typedef raw_spinlock_t hyptrace_lock_t;

#define HYPTRACE_LOCK_INIT		__RAW_SPIN_LOCK_UNLOCKED(hyptrace_lock)
#define hyptrace_lock(lock)		raw_spin_lock(lock)
#define hyptrace_unlock(lock)		raw_spin_unlock(lock)
#define hyptrace_assert_held(lock)	lockdep_assert_held(lock)

/* Allocated: a module may have 8 KiB of static data per CPU only. */
extern struct hyptrace_ring __percpu *hyptrace_rings;
extern struct hyptrace_ring __percpu *hyptrace_spare_rings;

#define hyptrace_this_ring()		this_cpu_ptr(hyptrace_rings)

#define HYPTRACE_NR_CPUS		nr_cpu_ids
#define hyptrace_nr_cpus()		num_possible_cpus()

#define hyptrace_ring_of(cpu)						\
	((cpu) < nr_cpu_ids && cpu_possible(cpu) ?			\
	 per_cpu_ptr(hyptrace_rings, array_index_nospec(cpu, nr_cpu_ids)) : NULL)

#define hyptrace_spare_ring_of(cpu)					\
	((cpu) < nr_cpu_ids && cpu_possible(cpu) ?			\
	 per_cpu_ptr(hyptrace_spare_rings, array_index_nospec(cpu, nr_cpu_ids)) : NULL)

static __always_inline u64 hyptrace_read_counter(void)
{
	return ktime_get_raw_fast_ns();
}

#define hyptrace_read_counter_synced()	hyptrace_read_counter()

static __always_inline u64 hyptrace_leading_zeros(u64 x)
{
	return 64 - fls64(x);
}

static __always_inline void hyptrace_read_pair(const u64 *from, u64 *first, u64 *second)
{
	*first = READ_ONCE(from[0]);
	*second = READ_ONCE(from[1]);
}

static __always_inline void hyptrace_write_pair(u64 *to, u64 first, u64 second)
{
	WRITE_ONCE(to[0], first);
	WRITE_ONCE(to[1], second);
}

static inline int hyptrace_take_page(u64 pfn, void **va)
{
	if (!pfn_valid(pfn))
		return -EINVAL;
	*va = page_address(pfn_to_page(pfn));

	return *va ? 0 : -EINVAL;
}

static inline int hyptrace_release_page(void *va)
{
	return 0;
}

static inline int hyptrace_share_pages(u64 pfn, u32 nr, void **va)
{
	return hyptrace_take_page(pfn, va);
}

static inline void hyptrace_unshare_pages(void *va, u32 nr)
{
}

/* Only EL2 keeps rings. */
static inline void hyptrace_clean(void *va, size_t size)
{
}

/* No page has another owner than this kernel. */
static inline int hyptrace_get_page_states(u64 pfn, struct hyptrace_page_states *states)
{
	return -EOPNOTSUPP;
}

#else /* HYPTRACE_ENV_HOST */

#include "env_host.h"

#endif

static inline void hyptrace_guard_end(hyptrace_lock_t **lock)
{
	hyptrace_unlock(*lock);
}

#define hyptrace_guard(lock)						\
	hyptrace_lock_t *__PASTE(__guard, __LINE__) __cleanup(hyptrace_guard_end) = (lock); \
	hyptrace_lock(__PASTE(__guard, __LINE__))

#ifndef HYPTRACE_TREE_LACKS
#define HYPTRACE_TREE_LACKS(...)
#endif

#endif /* __HYPTRACE_ENV_H */
