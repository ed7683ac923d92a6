// SPDX-License-Identifier: GPL-2.0-only
// PSCI calls of the host, and CPUs that are switched off and on.

//# hook psci_call psci-relay.c required: kvm_host_psci_handler() declares the result
@@
identifier c, func, ret;
@@
kvm_host_psci_handler(struct kvm_cpu_context *c, u32 func)
{
<+...
 unsigned long ret;
+hyptrace_psci_call__at_psci_call(func, c->regs.regs);
...+>
}

//# hook psci_return psci-relay.c required: kvm_host_psci_handler() returns the result in register 0
@@
identifier c, func, ret;
@@
kvm_host_psci_handler(struct kvm_cpu_context *c, u32 func)
{
<+...
+hyptrace_psci_return__at_psci_return(func, ret);
 cpu_reg(c, 0) = ret;
...+>
}

//# hook psci_cpu_on psci-relay.c psci_call: psci_cpu_on() calls the firmware
@@
expression ret;
@@
psci_cpu_on(...)
{
<+...
+hyptrace_psci_leave__at_psci_cpu_on();
 ret = psci_call(...);
...+>
}

//# hook psci_system_suspend psci-relay.c psci_call: psci_system_suspend() calls the firmware
@@
@@
psci_system_suspend(...)
{
<+...
+hyptrace_psci_leave__at_psci_system_suspend();
 return psci_call(...);
...+>
}

//# hook psci_resume psci-relay.c psci_call: the entry of a CPU that was suspended
@resumed@
typedef bool;
identifier is_on, c;
expression e;
@@
void __kvm_host_psci_cpu_entry(bool is_on)
{
<+...
+if (!is_on)
+	hyptrace_psci_resume__at_psci_resume();
 cpu_reg(c, 0) = e;
...+>
}

@depends on !resumed@
@@
__kvm_host_psci_cpu_resume_entry(...)
{
<+...
+hyptrace_psci_resume__at_psci_resume();
 __kvm_host_psci_cpu_entry(...);
...+>
}

//# hook psci_entry psci-relay.c required: the entry of a CPU sets the host's register 0
@@
identifier c;
expression e;
@@
__kvm_host_psci_cpu_entry(...)
{
<+...
+hyptrace_cpu_entry__at_psci_entry();
+hyptrace__at_psci_entry(hyp_enter, HYPTRACE_REASON_PSCI);
 cpu_reg(c, 0) = e;
...+>
}

//# hook psci_enter_host psci-relay.c required: the entry of a CPU calls __host_enter()
@@
identifier c;
@@
__kvm_host_psci_cpu_entry(...)
{
<+...
+hyptrace__at_psci_enter_host(hyp_exit, HYPTRACE_REASON_PSCI);
 __host_enter(c);
...+>
}
