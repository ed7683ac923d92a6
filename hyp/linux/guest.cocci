// SPDX-License-Identifier: GPL-2.0-only
// Runs of a guest, and the loading of its vCPUs.

//# hook guest_run switch.c required: __kvm_vcpu_run() notes the running vCPU
@@
expression c;
identifier vcpu;
@@
__kvm_vcpu_run(struct kvm_vcpu *vcpu)
{
<+...
 c->__hyp_running_vcpu = vcpu;
+hyptrace_guest_run__at_guest_run(vcpu);
...+>
}

//# hook guest_left switch.c required: __kvm_vcpu_run() notes that no vCPU runs
@@
expression c;
@@
__kvm_vcpu_run(...)
{
<+...
 c->__hyp_running_vcpu = NULL;
+hyptrace_set_vcpu__at_guest_left(0);
...+>
}

//# hook guest_fixup switch.c required: __kvm_vcpu_run() calls fixup_guest_exit()
@@
identifier vcpu, code;
@@
__kvm_vcpu_run(struct kvm_vcpu *vcpu)
{
<+...
-fixup_guest_exit(vcpu, &code)
+hyptrace_fixup__at_guest_fixup(fixup_guest_exit(vcpu, &code), code)
...+>
}

//# hook guest_begin switch.c required: __kvm_vcpu_run() has called __debug_switch_to_guest()
@@
identifier vcpu;
@@
__kvm_vcpu_run(struct kvm_vcpu *vcpu)
{
<+...
 __debug_switch_to_guest(vcpu);
+hyptrace_guest_enter__at_guest_begin(vcpu);
+hyptrace_guest_begin__at_guest_begin(vcpu_is_protected(vcpu));
...+>
}

//# hook guest_end switch.c required: __kvm_vcpu_run() saves the guest's system registers
@@
identifier vcpu;
expression guest;
@@
__kvm_vcpu_run(struct kvm_vcpu *vcpu)
{
<+...
+hyptrace_guest_end__at_guest_end(vcpu_is_protected(vcpu));
+hyptrace_guest_exit__at_guest_end(vcpu, exit_code, vcpu_is_protected(vcpu));
 __sysreg_save_state_nvhe(guest);
 __sysreg32_save_state(vcpu);
...+>
}

//# hook guest_enter switch.c required: __kvm_vcpu_run() calls __guest_enter()
@@
identifier vcpu, code;
@@
__kvm_vcpu_run(struct kvm_vcpu *vcpu)
{
<+...
+hyptrace__at_guest_enter(hyp_exit, HYPTRACE_REASON_ERET_GUEST);
 code = __guest_enter(vcpu);
+hyptrace__at_guest_enter(hyp_enter, HYPTRACE_REASON_GUEST_EXIT);
...+>
}

//# hook vcpu_load pkvm.c vcpu_load: pkvm_load_hyp_vcpu() returns the vCPU
@@
typedef pkvm_handle_t;
identifier handle, index;
identifier hyp_vcpu != NULL;
@@
struct pkvm_hyp_vcpu *pkvm_load_hyp_vcpu(pkvm_handle_t handle, unsigned int index)
{
<+...
+hyptrace_vcpu_load__at_vcpu_load(hyp_vcpu, handle);
 return hyp_vcpu;
...+>
}

//# hook vcpu_put pkvm.c vcpu_put: pkvm_put_hyp_vcpu() finds the VM
@@
identifier hyp_vcpu, vm;
@@
pkvm_put_hyp_vcpu(struct pkvm_hyp_vcpu *hyp_vcpu)
{
<+...
 struct pkvm_hyp_vm *vm = pkvm_hyp_vcpu_to_hyp_vm(hyp_vcpu);
+hyptrace_vcpu_put__at_vcpu_put(hyp_vcpu, vm->kvm.arch.pkvm.handle);
...+>
}
