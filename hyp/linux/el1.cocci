// SPDX-License-Identifier: GPL-2.0-only
// The host's KVM.

//# hook vcpu_thread arch/arm64/kvm/arm.c required: kvm_arch_vcpu_load() notes the CPU
@@
identifier vcpu, cpu;
@@
kvm_arch_vcpu_load(struct kvm_vcpu *vcpu, int cpu)
{
<+...
 vcpu->cpu = cpu;
+vcpu->arch.pid__at_vcpu_thread = pid_nr(rcu_dereference_protected(vcpu->pid, true));
...+>
}
