/* SPDX-License-Identifier: GPL-2.0-only */
/* The hooks for memory: access to pages, the TLB, and EL2's page pools. Included by hooks.h. */
#ifndef __HYPTRACE_HOOKS_MEMORY_H
#define __HYPTRACE_HOOKS_MEMORY_H

/**
 * hyptrace_mem() - record that pKVM was asked to change who may access pages
 * @op:		HYPTRACE_MEM_* without the prefix
 * @from:	owner before, HYPTRACE_OWNER_* without the prefix
 * @to:		who gets or loses them, likewise
 * @pfn:	number of the first page
 * @nr:		number of pages
 * @ret:	0 or a negative errno
 * Context: the locks of the owners held, so that the events are in the order of the changes.
 */
#define hyptrace_mem(op, from, to, pfn, nr, ret)			\
	hyptrace(mem_transition, HYPTRACE_MEM_##op, HYPTRACE_OWNER_##from, \
		 HYPTRACE_OWNER_##to, pfn, nr, 0, 0, ret)

/**
 * hyptrace_guest_mem() - record the same for pages of a guest
 * @op:		see hyptrace_mem()
 * @from:	see hyptrace_mem()
 * @to:		see hyptrace_mem()
 * @vm:		the guest's VM at EL2
 * @gfn:	number of the first page in the guest
 * @pfn:	see hyptrace_mem(); 0 if it is not known
 * @nr:		see hyptrace_mem()
 * @ret:	see hyptrace_mem()
 * Context: the locks of the owners held.
 */
#ifndef HYPTRACE_TREE_MODULE_SHARED_PAGES
#define hyptrace_guest_mem(op, from, to, vm, gfn, pfn, nr, ret)		\
	hyptrace_guest_change(HYPTRACE_MEM_##op, HYPTRACE_OWNER_##from, HYPTRACE_OWNER_##to, \
			      vm, gfn, pfn, nr, ret)
#else
#define hyptrace_guest_mem(op, from, to, vm, gfn, pfn, nr, ret)		\
	do {								\
		if (hyptrace_is_on(mem_transition) && !(ret) &&		\
		    hyptrace_moves_module_page(HYPTRACE_MEM_##op, HYPTRACE_OWNER_##from, pfn)) \
			hyptrace_guest_change(HYPTRACE_MEM_##op == HYPTRACE_MEM_DONATE ? \
					      HYPTRACE_MEM_SHARE : HYPTRACE_MEM_UNSHARE, \
					      HYPTRACE_OWNER_HYP, HYPTRACE_OWNER_GUEST, \
					      vm, gfn, pfn, nr, 0);	\
		else							\
			hyptrace_guest_change(HYPTRACE_MEM_##op, HYPTRACE_OWNER_##from, \
					      HYPTRACE_OWNER_##to, vm, gfn, pfn, nr, ret); \
	} while (0)

/* Whether a donation or reclaim was in fact a share or unshare by a module of EL2, the owner */
static inline bool hyptrace_moves_module_page(u8 op, u8 from, u64 pfn)
{
	return from != HYPTRACE_OWNER_HYP &&
	       (op == HYPTRACE_MEM_DONATE || op == HYPTRACE_MEM_RECLAIM) &&
	       hyptrace_is_owned_by_module(get_host_state(hyp_phys_to_page(hyp_pfn_to_phys(pfn))));
}
#endif

#define hyptrace_guest_change(op, from, to, vm, gfn, pfn, nr, ret)	\
	hyptrace(mem_transition, op, from, to, pfn, nr, gfn, (vm)->kvm.arch.pkvm.handle, ret)

/**
 * hyptrace_relinquish() - record that a protected guest has given a page back
 * @vm:		the guest's VM at EL2
 * @ipa:	address of the page in the guest
 * @phys:	its address; 0: the guest had no page there
 * @ret:	0 or a negative errno
 *
 * The CPU is silent while it runs a protected guest, but EL2 exits to the host now, and tells it
 * of the page.
 *
 * Context: the locks of the owners held.
 */
static inline void hyptrace_relinquish(const struct pkvm_hyp_vm *vm, u64 ipa, u64 phys, int ret)
{
	struct hyptrace_ring *ring = hyptrace_this_ring();
	u32 silent = ring->silent;

	if (ret || !phys || !hyptrace_is_on(mem_transition))
		return;
	if (silent == HYPTRACE_SILENT_GUEST)
		hyptrace_set_silent(ring, HYPTRACE_SILENT_LOAD);
	hyptrace_guest_mem(RECLAIM, GUEST, HOST, vm, hyp_phys_to_pfn(ipa), hyp_phys_to_pfn(phys),
			   1, 0);
	hyptrace_set_silent(ring, silent);
}

#ifdef HYPTRACE_HOOK_current_vm
/* mem_protect.c: the VM whose stage 2 this CPU has locked, or NULL */
DECLARE_PER_CPU(struct pkvm_hyp_vm *, __current_vm);
#define hyptrace_current_vm()	(*this_cpu_ptr(&__current_vm))
#else
#define hyptrace_current_vm()	((struct pkvm_hyp_vm *)NULL)
#endif

/*
 * The VMID of an MMU, without the generation above its bits. In protected mode the host may pass
 * any address as that of an MMU, and must not learn what EL2 has there. So EL2 reads the VMID
 * only from the VM whose stage 2 it changes itself.
 */
static inline u32 hyptrace_vmid_of(const struct kvm_s2_mmu *mmu)
{
	const struct pkvm_hyp_vm *vm = hyptrace_current_vm();

	if (is_protected_kvm_enabled() && !(vm && mmu == &vm->kvm.arch.mmu))
		return 0;

	return atomic64_read(&mmu->vmid.id) & GENMASK(kvm_arm_vmid_bits - 1, 0);
}

/**
 * hyptrace_tlbi() - record that EL2 invalidates TLB entries of a VMID
 * @op:		HYPTRACE_TLBI_* without the prefix
 * @mmu:	whose VMID; may be any address in protected mode
 * @ipa:	address of the first page; 0 if all are invalidated
 * @nr:		number of pages; 0 if all are invalidated
 */
#define hyptrace_tlbi(op, mmu, ipa, nr)					\
	do {								\
		hyptrace_may_delay(HYPTRACE_FAULT_TLBI);		\
		hyptrace(tlbi, HYPTRACE_TLBI_##op, hyptrace_vmid_of(mmu), ipa, nr); \
	} while (0)

#ifdef HYPTRACE_HOOK_pool_field
/**
 * hyptrace_pool_init() - begin to count the free pages of a pool
 * @pool:	has none yet
 */
static inline void hyptrace_pool_init(struct hyp_pool *pool)
{
	pool->nr_free = 0;
}

/**
 * hyptrace_pool_alloc() - record that EL2 has allocated pages of a pool
 * @pool:	its lock held
 * @order:	2^@order pages
 */
static __always_inline void hyptrace_pool_alloc(struct hyp_pool *pool, u8 order)
{
	hyptrace_pool_change(&pool->nr_free, HYPTRACE_POOL_ALLOC, order,
			     hyp_phys_to_pfn(pool->range_start));
}

/**
 * hyptrace_pool_free() - record that EL2 has freed pages of a pool, or has added new ones
 * @pool:	its lock held, or not in use yet
 * @order:	2^@order pages
 */
static __always_inline void hyptrace_pool_free(struct hyp_pool *pool, u8 order)
{
	hyptrace_pool_change(&pool->nr_free, HYPTRACE_POOL_FREE, order,
			     hyp_phys_to_pfn(pool->range_start));
}
#else
/* struct hyp_pool of this tree has no place for the number of free pages. */
#define hyptrace_pool_init(pool)		do { } while (0)
#define hyptrace_pool_alloc(pool, order)	do { } while (0)
#define hyptrace_pool_free(pool, order)		do { } while (0)
#endif

#endif /* __HYPTRACE_HOOKS_MEMORY_H */
