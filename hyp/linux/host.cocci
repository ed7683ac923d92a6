// SPDX-License-Identifier: GPL-2.0-only
// Exceptions of the host: hypercalls, calls of the firmware, aborts.
// tests/vm/hooks.py says what the lines "//#" and the names with "__at_" mean.

//# hook host_hcall hyp-main.c required: handle_host_hcall() makes a hypercall's number of the function id
@@
expression id;
@@
handle_host_hcall(...)
{
<+...
 id -= KVM_HOST_SMCCC_ID(0);
+hyptrace_host_call__at_host_hcall(id, id == __KVM_HOST_SMCCC_FUNC___hyptrace, host_ctxt->regs.regs);
...+>
}

//# hook host_smc hyp-main.c host_smc: handle_host_smc() declares whether the call is handled
@@
identifier c;
identifier handled;
@@
handle_host_smc(struct kvm_cpu_context *c)
{
<+...
-bool handled;
+int handled = -EINVAL;
+hyptrace_begin__at_host_smc(host_smc, func_id, c->regs.regs);
...+>
}

//# hook host_smc_end hyp-main.c host_smc: handle_host_smc() skips the instruction
@@
identifier c;
@@
handle_host_smc(struct kvm_cpu_context *c)
{
<+...
+hyptrace__at_host_smc_end(host_smc, handled, c->regs.regs);
 kvm_skip_host_instr();
...+>
}

//# hook host_ffa hyp-main.c host_ffa_call: handle_host_smc() calls kvm_host_ffa_handler()
@@
identifier c;
expression handled, id;
@@
handle_host_smc(struct kvm_cpu_context *c)
{
<+...
 if (!handled)
	handled = kvm_host_ffa_handler(c, id);
+hyptrace_ffa__at_host_ffa(id, handled, c->regs.regs);
...+>
}

//# hook forward_smc hyp-main.c required: __kvm_hyp_host_forward_smc() passes a call on to the firmware
@@
identifier c;
@@
+hyptrace__at_forward_smc(hyp_exit, HYPTRACE_REASON_SMC);
 __kvm_hyp_host_forward_smc(c);
+hyptrace__at_forward_smc(hyp_enter, HYPTRACE_REASON_SMC);

//# hook enter_smc hyp-main.c required: handle_trap() calls handle_host_smc()
@@
identifier c;
@@
handle_trap(struct kvm_cpu_context *c)
{
<+...
+hyptrace__at_enter_smc(hyp_enter, HYPTRACE_REASON_SMC);
 handle_host_smc(c);
...+>
}

//# hook enter_abort hyp-main.c required: handle_trap() calls handle_host_mem_abort()
@@
identifier c;
@@
handle_trap(struct kvm_cpu_context *c)
{
<+...
+hyptrace__at_enter_abort(hyp_enter, HYPTRACE_REASON_HOST_ABORT);
 handle_host_mem_abort(c);
...+>
}

//# hook enter_mte hyp-main.c required if \bhandle_host_mte\(: handle_trap() calls handle_host_mte()
@@
identifier c;
expression esr;
statement S;
@@
handle_trap(struct kvm_cpu_context *c)
{
<+...
+hyptrace__at_enter_mte(hyp_enter, HYPTRACE_REASON_SYS);
 if (handle_host_mte(esr)) S
...+>
}

//# hook enter_module hyp-main.c required if \bdefault_trap_handler\(: handle_trap() calls the handler of a module
@@
identifier c;
@@
handle_trap(struct kvm_cpu_context *c)
{
<+...
+hyptrace__at_enter_module(hyp_enter, HYPTRACE_REASON_SYS);
 BUG_ON(<+... default_trap_handler ...+>);
...+>
}

//# hook enter_fp hyp-main.c required if ^\t\t(fpsimd_host_restore\(\)|__deactivate_cptr_traps\(NULL\));: handle_trap() lets the host use its registers
@@
identifier c;
@@
handle_trap(struct kvm_cpu_context *c)
{
<+...
(
+hyptrace__at_enter_fp(hyp_enter, HYPTRACE_REASON_SYS);
 fpsimd_host_restore();
|
+hyptrace__at_enter_fp(hyp_enter, HYPTRACE_REASON_SYS);
 __deactivate_cptr_traps(NULL);
)
...+>
}

//# hook exit_host hyp-main.c required: the end of handle_trap()
@@
identifier c;
@@
handle_trap(struct kvm_cpu_context *c)
{
...
+hyptrace_host_exit__at_exit_host();
}

//# hook panic switch.c hyp_panic: hyp_panic() looks for the vCPU that runs
@@
identifier c, v, e;
@@
hyp_panic(void)
{
<+...
 u64 e = read_sysreg_el2(SYS_ELR);
...
 v = c->__hyp_running_vcpu;
+hyptrace_panic__at_panic(e, v);
...+>
}
