// SPDX-License-Identifier: GPL-2.0-only
// Who may access pages: transitions between the host, EL2, the secure world and guests.

//# hook mem_abort mem_protect.c host_mem_abort: handle_host_mem_abort() maps the page
@@
expression addr;
@@
handle_host_mem_abort(...)
{
<+...
(
-host_stage2_idmap(addr)
+hyptrace_timed__at_mem_abort(host_mem_abort, host_stage2_idmap(addr), esr, addr)
|
-host_stage2_fault(addr)
+hyptrace_timed__at_mem_abort(host_mem_abort, host_stage2_fault(addr), esr, addr)
)
...+>
}

// Sharing of pages one by one becomes that of ranges where all pages of a range can be checked for pins.

@ack@
typedef u64;
identifier addr, tx, size;
@@
int hyp_ack_unshare(u64 addr, const struct pkvm_mem_transition *tx)
{
 u64 size = tx->nr_pages * PAGE_SIZE;
+u64 page;
 ...
-if (tx->initiator.id == PKVM_ID_HOST && hyp_page_count((void *)addr))
-	return -EBUSY;
+for (page = addr; page < addr + size; page += PAGE_SIZE)
+	if (tx->initiator.id == PKVM_ID_HOST && hyp_page_count((void *)page))
+		return -EBUSY;
 ...
}

//# hook unshare_range mem_protect.c -: __pkvm_host_unshare_hyp() checks the pins of as many pages as it unshares
@unshare_struct depends on ack@
typedef u64;
identifier pfn, share;
@@
-int __pkvm_host_unshare_hyp(u64 pfn)
+int __pkvm_host_unshare_hyp_range__at_unshare_range(u64 pfn, u64 nr_pages)
{
 ...
 struct pkvm_mem_share share = { .tx = {
-	.nr_pages = 1,
+	.nr_pages = nr_pages,
	...
 }, ..., };
 ...
}
+
+int __pkvm_host_unshare_hyp(u64 pfn)
+{
+	return __pkvm_host_unshare_hyp_range(pfn, 1);
+}

@unshare_size depends on !ack@
typedef u64;
identifier pfn, size;
expression e;
@@
-int __pkvm_host_unshare_hyp(u64 pfn)
+int __pkvm_host_unshare_hyp_range__at_unshare_range(u64 pfn, u64 nr_pages)
{
 ...
-u64 size = PAGE_SIZE;
+u64 size = PAGE_SIZE * nr_pages;
 ... when any
 e = __hyp_check_page_count_range(..., size);
 ... when any
}
+
+int __pkvm_host_unshare_hyp(u64 pfn)
+{
+	return __pkvm_host_unshare_hyp_range(pfn, 1);
+}

//# hook share_range mem_protect.c -: __pkvm_host_share_hyp() has a number of pages or a size
@share_struct depends on unshare_struct@
typedef u64;
identifier pfn, share;
@@
-int __pkvm_host_share_hyp(u64 pfn)
+int __pkvm_host_share_hyp_range__at_share_range(u64 pfn, u64 nr_pages)
{
 ...
 struct pkvm_mem_share share = { .tx = {
-	.nr_pages = 1,
+	.nr_pages = nr_pages,
	...
 }, ..., };
 ...
}
+
+int __pkvm_host_share_hyp(u64 pfn)
+{
+	return __pkvm_host_share_hyp_range(pfn, 1);
+}

@share_size depends on unshare_size@
typedef u64;
identifier pfn, size;
@@
-int __pkvm_host_share_hyp(u64 pfn)
+int __pkvm_host_share_hyp_range__at_share_range(u64 pfn, u64 nr_pages)
{
 ...
-u64 size = PAGE_SIZE;
+u64 size = PAGE_SIZE * nr_pages;
 ... when any
}
+
+int __pkvm_host_share_hyp(u64 pfn)
+{
+	return __pkvm_host_share_hyp_range(pfn, 1);
+}

//# hook mem_share mem_protect.c mem_transition: __pkvm_host_share_hyp() unlocks EL2's page table
@@
typedef u64;
identifier pfn, nr_pages;
@@
int __pkvm_host_share_hyp_range__at_share_range(u64 pfn, u64 nr_pages)
{
<+...
+hyptrace_mem__at_mem_share(SHARE, HOST, HYP, pfn, nr_pages, ret);
 hyp_unlock_component();
...+>
}

@depends on !share_struct && !share_size@
typedef u64;
identifier pfn;
@@
int __pkvm_host_share_hyp(u64 pfn)
{
<+...
+hyptrace_mem__at_mem_share(SHARE, HOST, HYP, pfn, 1, ret);
 hyp_unlock_component();
...+>
}

//# hook mem_unshare mem_protect.c mem_transition: __pkvm_host_unshare_hyp() unlocks EL2's page table
@@
typedef u64;
identifier pfn, nr_pages;
@@
int __pkvm_host_unshare_hyp_range__at_unshare_range(u64 pfn, u64 nr_pages)
{
<+...
+hyptrace_mem__at_mem_unshare(UNSHARE, HOST, HYP, pfn, nr_pages, ret);
 hyp_unlock_component();
...+>
}

@depends on !unshare_struct && !unshare_size@
typedef u64;
identifier pfn;
@@
int __pkvm_host_unshare_hyp(u64 pfn)
{
<+...
+hyptrace_mem__at_mem_unshare(UNSHARE, HOST, HYP, pfn, 1, ret);
 hyp_unlock_component();
...+>
}

//# hook mem_donate mem_protect.c mem_transition: __pkvm_host_donate_hyp() or its helper unlocks EL2's page table
@donate@
typedef u64;
identifier pfn, nr_pages;
@@
int __pkvm_host_donate_hyp(u64 pfn, u64 nr_pages)
{
<+...
+hyptrace_mem__at_mem_donate(DONATE, HOST, HYP, pfn, nr_pages, ret);
 hyp_unlock_component();
...+>
}

@locked depends on !donate@
@@
__pkvm_host_donate_hyp_locked(...)
{
<+...
+hyptrace_mem__at_mem_donate(DONATE, HOST, HYP, pfn, nr_pages, ret);
 hyp_unlock_component();
...+>
}

@depends on !donate && !locked@
@@
pkvm_host_donate_hyp(...)
{
<+...
+hyptrace_mem__at_mem_donate(DONATE, HOST, HYP, pfn, nr_pages, ret);
 hyp_unlock_component();
...+>
}

//# hook mem_release mem_protect.c mem_transition: __pkvm_hyp_donate_host() unlocks EL2's page table
@@
typedef u64;
identifier pfn, nr_pages;
@@
int __pkvm_hyp_donate_host(u64 pfn, u64 nr_pages)
{
<+...
+hyptrace_mem__at_mem_release(DONATE, HYP, HOST, pfn, nr_pages, ret);
 hyp_unlock_component();
...+>
}

//# hook mem_share_ffa mem_protect.c mem_transition: __pkvm_host_share_ffa() unlocks the host's page table
@@
typedef u64;
identifier pfn, nr_pages;
@@
int __pkvm_host_share_ffa(u64 pfn, u64 nr_pages)
{
<+...
+hyptrace_mem__at_mem_share_ffa(SHARE, HOST, FFA, pfn, nr_pages, ret);
 host_unlock_component();
...+>
}

//# hook mem_unshare_ffa mem_protect.c mem_transition: __pkvm_host_unshare_ffa() unlocks the host's page table
@@
typedef u64;
identifier pfn, nr_pages;
@@
int __pkvm_host_unshare_ffa(u64 pfn, u64 nr_pages)
{
<+...
+hyptrace_mem__at_mem_unshare_ffa(UNSHARE, HOST, FFA, pfn, nr_pages, ret);
 host_unlock_component();
...+>
}

//# hook mem_lend_ffa mem_protect.c mem_transition if \b__pkvm_host_donate_ffa\(: __pkvm_host_donate_ffa() unlocks the host's page table
@@
typedef u64;
identifier pfn, nr_pages;
@@
int __pkvm_host_donate_ffa(u64 pfn, u64 nr_pages)
{
<+...
+hyptrace_mem__at_mem_lend_ffa(DONATE, HOST, FFA, pfn, nr_pages, ret);
 host_unlock_component();
...+>
}

//# hook mem_reclaim_ffa mem_protect.c mem_transition if \b__pkvm_host_reclaim_ffa\(: __pkvm_host_reclaim_ffa() unlocks the host's page table
@@
typedef u64;
identifier pfn, nr_pages;
@@
int __pkvm_host_reclaim_ffa(u64 pfn, u64 nr_pages)
{
<+...
+hyptrace_mem__at_mem_reclaim_ffa(RECLAIM, FFA, HOST, pfn, nr_pages, ret);
 host_unlock_component();
...+>
}

// Android: a device that a guest gets, and its way back when the guest's VM is torn down.

//# hook guest_donate_mmio mem_protect.c guest_memory if \bpkvm_hyp_donate_guest\(: __pkvm_install_guest_mmio() calls pkvm_hyp_donate_guest()
@@
identifier vcpu, pfn, gfn, ret;
@@
__pkvm_install_guest_mmio(...)
{
<+...
 ret = pkvm_hyp_donate_guest(vcpu, pfn, gfn);
+hyptrace_guest_mem__at_guest_donate_mmio(DONATE, HYP, GUEST, vm, gfn, pfn, 1, ret);
...+>
}

//# hook guest_reclaim_mmio arch/arm64/kvm/hyp/nvhe/device/device.c guest_memory if \bhost_stage2_set_owner_locked\(: pkvm_devices_reclaim_device() makes the host the owner
@@
identifier res;
@@
pkvm_devices_reclaim_device(...)
{
<+...
 WARN_ON(host_stage2_set_owner_locked(res->base, res->size, PKVM_ID_HOST));
+hyptrace_mem__at_guest_reclaim_mmio(DONATE, HYP, HOST, hyp_phys_to_pfn(res->base), res->size >> PAGE_SHIFT, 0);
...+>
}

//# hook guest_relinquish mem_protect.c guest_memory if \b__pkvm_guest_relinquish_to_host\(: __pkvm_guest_relinquish_to_host() unlocks the guest's page table
@relinquish@
@@
__pkvm_guest_relinquish_to_host(...)
{
<+...
 phys = kvm_pte_to_phys(pte);
...+>
}

@depends on relinquish@
identifier vm;
@@
__pkvm_guest_relinquish_to_host(...)
{
<+...
+hyptrace_relinquish__at_guest_relinquish(vm, ipa, phys, ret);
 guest_unlock_component(vm);
...+>
}

@depends on !relinquish@
identifier vm;
@@
__pkvm_guest_relinquish_to_host(...)
{
<+...
+hyptrace_relinquish__at_guest_relinquish(vm, ipa, data.pa, ret);
 guest_unlock_component(vm);
...+>
}

//# hook guest_force_reclaim mem_protect.c guest_memory if \b__pkvm_host_force_reclaim_page_guest\(: __pkvm_host_force_reclaim_page_guest() unlocks the guest's page table
@@
identifier vm;
@@
__pkvm_host_force_reclaim_page_guest(...)
{
<+...
+hyptrace_guest_mem__at_guest_force_reclaim(RECLAIM, GUEST, HOST, vm, gfn, hyp_phys_to_pfn(phys), 1, ret);
 guest_unlock_component(vm);
...+>
}

//# hook guest_reclaim mem_protect.c guest_memory if \b__pkvm_host_reclaim_page(_guest)?\(: __pkvm_host_reclaim_page_guest() or its like unlocks the guest's page table
@reclaim_pages@
typedef u64;
identifier nr =~ "^nr_pages$";
identifier vm;
@@
int __pkvm_host_reclaim_page_guest(..., u64 nr, ...)
{
<+...
+hyptrace_guest_mem__at_guest_reclaim(RECLAIM, GUEST, HOST, vm, gfn, ret ? 0 : hyp_phys_to_pfn(phys), nr, ret);
 guest_unlock_component(vm);
...+>
}

@depends on !reclaim_pages@
identifier vm;
@@
__pkvm_host_reclaim_page_guest(...)
{
<+...
+hyptrace_guest_mem__at_guest_reclaim(RECLAIM, GUEST, HOST, vm, gfn, ret ? 0 : hyp_phys_to_pfn(phys), 1, ret);
 guest_unlock_component(vm);
...+>
}

@@
identifier vm;
@@
__pkvm_host_reclaim_page(struct pkvm_hyp_vm *vm, ...)
{
<+...
+hyptrace_guest_mem__at_guest_reclaim(RECLAIM, GUEST, HOST, vm, hyp_phys_to_pfn(ipa), pfn, 1ULL << (order & 63), ret);
 guest_unlock_component(vm);
...+>
}

//# hook guest_donate mem_protect.c guest_memory if \b__pkvm_host_donate_guest\(: __pkvm_host_donate_guest() unlocks the guest's page table
@donate_pages@
typedef u64;
identifier nr =~ "^nr_pages$";
identifier vm;
@@
int __pkvm_host_donate_guest(..., u64 nr, ...)
{
<+...
+hyptrace_guest_mem__at_guest_donate(DONATE, HOST, GUEST, vm, gfn, pfn, nr, ret);
 guest_unlock_component(vm);
...+>
}

@depends on !donate_pages@
identifier vm;
@@
__pkvm_host_donate_guest(...)
{
<+...
+hyptrace_guest_mem__at_guest_donate(DONATE, HOST, GUEST, vm, gfn, pfn, 1, ret);
 guest_unlock_component(vm);
...+>
}

// Android: lists of pages. EL2 has copied the list, which is not valid if that failed.

//# hook guest_donate_list mem_protect.c guest_memory if \b__pkvm_host_donate_sglist_guest\(: __pkvm_host_donate_sglist_guest() unlocks the guest's page table
@@
iterator name for_each_hyp_ppage;
identifier vm;
@@
__pkvm_host_donate_sglist_guest(...)
{
<+...
+if (!ret)
+	for_each_hyp_ppage(ppage)
+		hyptrace_guest_mem__at_guest_donate_list(DONATE, HOST, GUEST, vm, ppage->gfn, ppage->pfn, 1ULL << ppage->order, 0);
 guest_unlock_component(vm);
...+>
}

//# hook mem_donate_list mem_protect.c mem_transition if \b__pkvm_host_donate_sglist_hyp\(: __pkvm_host_donate_sglist_hyp() unlocks EL2's page table
@@
identifier list, nr;
@@
int __pkvm_host_donate_sglist_hyp(struct pkvm_sglist_page *list, size_t nr)
{
<+...
+if (!ret)
+	for (p = 0; p < nr; p++)
+		hyptrace_mem__at_mem_donate_list(DONATE, HOST, HYP, list[p].pfn, 1ULL << list[p].order, 0);
 hyp_unlock_component();
...+>
}

//# hook guest_share mem_protect.c guest_memory if \b__pkvm_host_share_guest\(: __pkvm_host_share_guest() unlocks the guest's page table
@@
identifier vm;
@@
__pkvm_host_share_guest(...)
{
<+...
+hyptrace_guest_mem__at_guest_share(SHARE, HOST, GUEST, vm, gfn, pfn, nr_pages, ret);
 guest_unlock_component(vm);
...+>
}

//# hook guest_unshare mem_protect.c guest_memory if \b__pkvm_host_unshare_guest\(: __pkvm_host_unshare_guest() unlocks the guest's page table
@unshare_order@
typedef u8;
identifier vm, order;
@@
int __pkvm_host_unshare_guest(..., u8 order)
{
<+...
+hyptrace_guest_mem__at_guest_unshare(UNSHARE, HOST, GUEST, vm, gfn, pfn, 1ULL << (order & 63), ret);
 guest_unlock_component(vm);
...+>
}

// After this loop, phys is the end of the range.
@unshare_end depends on !unshare_order@
identifier vm, end, phys;
statement S;
@@
__pkvm_host_unshare_guest(...)
{
...
for (; phys < end; phys += PAGE_SIZE) S
...
+hyptrace_guest_mem__at_guest_unshare(UNSHARE, HOST, GUEST, vm, gfn, ret ? 0 : hyp_phys_to_pfn(phys) - nr_pages, nr_pages, ret);
 guest_unlock_component(vm);
...
}

@depends on !unshare_order && !unshare_end@
identifier vm;
@@
__pkvm_host_unshare_guest(...)
{
<+...
+hyptrace_guest_mem__at_guest_unshare(UNSHARE, HOST, GUEST, vm, gfn, ret ? 0 : hyp_phys_to_pfn(phys), nr_pages, ret);
 guest_unlock_component(vm);
...+>
}
