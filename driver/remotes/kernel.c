// SPDX-License-Identifier: GPL-2.0-only
/*
 * The remote "kernel": the tracer that mainline's pKVM has since Linux 7.1 with
 * CONFIG_NVHE_EL2_TRACING. tracefs calls it remotes/hypervisor. KVM exports no function to modules,
 * but a protected EL2 shares pages and enables events by hypercalls.
 */
#include <linux/err.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/mutex.h>

#include <asm/arch_timer.h>
#include <asm/virt.h>

#include "counter.h"
#include "kernel.h"
#include "kernel_events.h"
#include "writer.h"

/* tracefs has the same switches: events are enabled at EL2 only while this remote has rings. */
static DEFINE_MUTEX(events_lock);
static unsigned long enabled_events;
static bool is_loaded;

static struct hyptrace_remote *remote;

/* Bits of mult: EL2 needs no long multiplication for some minutes. */
#define CLOCK_MULT_BITS		28
/* The line is set again after this time, so that the product does not become long. */
#define CLOCK_LINE_S		60
/* A smaller error is not worth a hypercall. */
#define CLOCK_TOLERANCE_NS	500
/* A larger one comes from a suspend, not from adjtimex(). */
#define CLOCK_JUMP_NS		((s64)NSEC_PER_MSEC)
/* More than rounding, and CLOCK_MAX_PPM of the time that the call takes, can take away */
#define CLOCK_MARGIN_NS		10

/* The line by which EL2 converts the counter to a time; no @mult before the first one */
static struct {
	u32	mult;
	u32	shift;
	u64	cycles;
	u64	ns;
	bool	is_bent;
} line;

static u64 counter(void)
{
	return __arch_counter_get_cntvct();
}

static u64 line_ns(u64 cycles)
{
	return line.ns + mul_u64_u32_shr(cycles - line.cycles, line.mult, line.shift);
}

/*
 * HYPTRACE_OP_CLOCK of hyp/abi.h. EL2 stores a step backwards as a huge step forwards. So each line
 * begins where the one before is when EL2 gets it, and bends towards the boot clock.
 */
static void set_clock(u64 mult, u64 cycles, u64 boot_ns)
{
	u64 passed = cycles - line.cycles;
	s64 error = boot_ns - line_ns(cycles);
	const bool is_jump = !line.mult || error > CLOCK_JUMP_NS;
	typeof(line) new = {};
	int surplus;

	if (is_jump) {
		new.ns = boot_ns;
		new.cycles = cycles;
	} else if (abs(error) > CLOCK_TOLERANCE_NS) {
		new.is_bent = true;
		mult += div64_s64(max(error, -CLOCK_JUMP_NS) * BIT_ULL(HYPTRACE_CLOCK_SHIFT),
				  arch_timer_get_cntfrq());
	} else if (!line.is_bent && passed < CLOCK_LINE_S * (u64)arch_timer_get_cntfrq()) {
		return;
	}
	surplus = max(fls64(mult) - CLOCK_MULT_BITS, 0);
	new.mult = mult >> surplus;
	new.shift = HYPTRACE_CLOCK_SHIFT - surplus;

	guard(irqsave)();
	if (!is_jump) {
		new.cycles = counter();
		new.ns = line_ns(new.cycles) + CLOCK_MARGIN_NS;
	}
	line = new;
	kernel_call(__tracing_update_clock, line.mult, line.shift, line.ns, line.cycles);
}

/* The ops of hyp/abi.h that this tracer has. It does not say whether it has recorded an event. */
static s64 call(u64 op, u64 arg1, u64 arg2, u64 arg3)
{
	if (op == HYPTRACE_OP_CLOCK)
		set_clock(arg1, arg2, arg3);
	else if (op == HYPTRACE_OP_WRITE)
		kernel_call(__tracing_write_event, arg1);

	return 0;
}

static struct hyptrace_writer writer = {
	.name		= "kernel",
	.call		= call,
	.counter	= counter,
};

/* Enable or disable all of @mask. After an error, go on with the others. */
static int switch_events(unsigned long mask, bool enable)
{
	unsigned int id;
	int ret = 0;

	for_each_set_bit(id, &mask, ARRAY_SIZE(events))
		ret = kernel_call(__tracing_enable_event, id, enable) ?: ret;

	return ret;
}

static int enable_event(u16 id, bool enable, void *priv)
{
	int ret = 0;

	guard(mutex)(&events_lock);
	if (is_loaded)
		ret = switch_events(BIT_ULL(id), enable);
	if (!ret)
		__assign_bit(id, &enabled_events, enable);

	return ret;
}

static int load(struct hyptrace_buffer *buf, void *priv)
{
	int ret = kernel_rings_load(buf, priv);

	if (ret)
		return ret;
	scoped_guard(mutex, &events_lock) {
		ret = switch_events(enabled_events, true);
		if (ret)
			switch_events(enabled_events, false);
		is_loaded = !ret;
	}
	if (ret)
		return kernel_rings_unload(buf, priv) ? -ENOTRECOVERABLE : ret;
	line.mult = 0;
	hyptrace_clock_start(&writer);

	return 0;
}

static int unload(struct hyptrace_buffer *buf, void *priv)
{
	hyptrace_clock_stop(&writer);
	scoped_guard(mutex, &events_lock) {
		switch_events(enabled_events, false);
		is_loaded = false;
	}

	return kernel_rings_unload(buf, priv);
}

static int enable_tracing(bool enable, void *priv)
{
	int ret = kernel_call(__tracing_enable, enable);

	if (!ret)
		kernel_rings_set_tracing(enable);

	return ret;
}

static int write_selftest(unsigned int cpu, u64 id, u32 count, void *priv)
{
	if (!(READ_ONCE(enabled_events) & BIT_ULL(KERNEL_EVENT_selftest)) || !READ_ONCE(is_loaded))
		return -ENODATA;

	return hyptrace_writer_ops.write_selftest(cpu, id, count, &writer);
}

static const struct hyptrace_remote_ops ops = {
	.load_trace_buffer	= load,
	.unload_trace_buffer	= unload,
	.enable_tracing		= enable_tracing,
	.swap_reader_page	= kernel_ring_swap,
	.look			= kernel_ring_look,
	.count_read		= kernel_ring_count_read,
	.reset			= kernel_ring_reset,
	.enable_event		= enable_event,
	.write_selftest		= write_selftest,
};

static struct hyptrace_remote_desc desc = {
	.name		= "kernel",
	.description	=
		"the kernel's own tracer at EL2: no filters, triggers, counters, discard mode",
	.owner		= THIS_MODULE,
	.ops		= &ops,
	.events		= events,
	.nr_events	= ARRAY_SIZE(events),
	.busy		= "tracefs has loaded the hypervisor's buffer",
	.only_overwrites = true,
	.protected	= true,
};

static const char *why_not(void)
{
	if (is_kernel_in_hyp_mode())
		return "the kernel itself is at EL2 (VHE): boot with kvm-arm.mode=protected";
	/* KVM writes EL2's page table itself then, and exports no function for that. */
	if (!is_protected_kvm_enabled())
		return "EL2 is not protected: boot with kvm-arm.mode=protected, or use tracefs";
	if (hyptrace_has_counter_erratum(true))
		return "the virtual counter needs a workaround that EL2 does not have";
	/* The tracer refuses this CPU with -EINVAL. */
	if (kernel_call(__tracing_swap_reader, U32_MAX) != -EINVAL)
		return "EL2 has no tracer";

	return NULL;
}

static int __init hyptrace_kernel_init(void)
{
	const char *reason = why_not();
	int ret;

	if (reason) {
		pr_err("hyptrace_kernel: no hypervisor to trace: %s\n", reason);
		return -ENODEV;
	}
	if (!list_events()) {
		pr_err("hyptrace_kernel: unknown ids: this kernel does not list its events by name\n");
		return -EOPNOTSUPP;
	}
	ret = kernel_rings_init();
	if (ret)
		return ret;

	writer.frequency = arch_timer_get_cntfrq();
	hyptrace_clock_init(&writer);
	desc.max_pages = kernel_rings_max_pages();
	remote = hyptrace_remote_register(&desc);
	if (IS_ERR(remote)) {
		kernel_rings_exit();
		return PTR_ERR(remote);
	}

	return 0;
}
module_init(hyptrace_kernel_init);

static void __exit hyptrace_kernel_exit(void)
{
	hyptrace_remote_unregister(remote);
	kernel_rings_exit();
}
module_exit(hyptrace_kernel_exit);

MODULE_DESCRIPTION("hyptrace remote: the kernel's own tracer at EL2");
MODULE_LICENSE("GPL");
