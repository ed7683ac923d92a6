// SPDX-License-Identifier: GPL-2.0-only
// Invalidation of TLB entries by EL2.

//# hook tlb_ipa tlb.c tlbi: __kvm_tlb_flush_vmid_ipa() takes the guest's VMID
@@
identifier mmu, ipa, level;
@@
__kvm_tlb_flush_vmid_ipa(struct kvm_s2_mmu *mmu, phys_addr_t ipa, int level)
{
<+...
+hyptrace_tlbi__at_tlb_ipa(VMID_IPA, mmu, ipa, 1);
 enter_vmid_context(mmu, ...);
...+>
}

//# hook tlb_ipa_nsh tlb.c tlbi: __kvm_tlb_flush_vmid_ipa_nsh() takes the guest's VMID
@@
identifier mmu, ipa, level;
@@
__kvm_tlb_flush_vmid_ipa_nsh(struct kvm_s2_mmu *mmu, phys_addr_t ipa, int level)
{
<+...
+hyptrace_tlbi__at_tlb_ipa_nsh(VMID_IPA_NSH, mmu, ipa, 1);
 enter_vmid_context(mmu, ...);
...+>
}

//# hook tlb_range tlb.c tlbi: __kvm_tlb_flush_vmid_range() takes the guest's VMID
@@
identifier mmu, start, pages;
@@
__kvm_tlb_flush_vmid_range(struct kvm_s2_mmu *mmu, phys_addr_t start, unsigned long pages)
{
<+...
+hyptrace_tlbi__at_tlb_range(VMID_RANGE, mmu, start, pages);
 enter_vmid_context(mmu, ...);
...+>
}

//# hook tlb_vmid tlb.c tlbi: __kvm_tlb_flush_vmid() takes the guest's VMID
@@
identifier mmu;
@@
__kvm_tlb_flush_vmid(struct kvm_s2_mmu *mmu)
{
<+...
+hyptrace_tlbi__at_tlb_vmid(VMID, mmu, 0, 0);
 enter_vmid_context(mmu, ...);
...+>
}

//# hook tlb_cpu tlb.c tlbi: __kvm_flush_cpu_context() takes the guest's VMID
@@
identifier mmu;
@@
__kvm_flush_cpu_context(struct kvm_s2_mmu *mmu)
{
<+...
+hyptrace_tlbi__at_tlb_cpu(CPU_CONTEXT, mmu, 0, 0);
 enter_vmid_context(mmu, ...);
...+>
}

//# hook tlb_all tlb.c tlbi: __kvm_flush_vm_context() invalidates all
@@
@@
__kvm_flush_vm_context(...)
{
<+...
+hyptrace__at_tlb_all(tlbi, HYPTRACE_TLBI_VM_CONTEXT, 0, 0, 0);
 __tlbi(alle1is);
...+>
}
