// SPDX-License-Identifier: GPL-2.0-only
/* The remote "hypervisor": the nVHE, hVHE or protected (pKVM) hypervisor of arm64. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/arm-smccc.h>
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/reboot.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <asm/arch_timer.h>
#include <asm/kvm_asm.h>

#include "../core/remote.h"
#include "el2.h"
#include "formats.h"
#include "functions.h"
#include "writer.h"

/* Made by hypercalls.awk. The print formats of hyp_events.h have its names of hypercalls. */
#include "hypercalls.h"
#include "hyp_events.h"

#define NO_SUCH_CALL	0xffff	/* no kernel has so many hypercalls */

static const struct hyptrace_el2 *el2;
static struct hyptrace_remote *remote;

static u64 counter(void)
{
	return __arch_counter_get_cntpct();
}

static struct hyptrace_writer writer = {
	.name		= "hypervisor",
	.counter	= counter,
};

static int get_page_owner(u64 pfn, void *priv)
{
	return hyptrace_writer_call(priv, HYPTRACE_OP_PAGE, pfn, 0, 0);
}

/* EL2 refuses the call, but it enters and returns as for any other. */
static s64 time_visits(unsigned int count, void *priv)
{
	struct arm_smccc_res res = { };
	unsigned long flags;
	u64 begin, ns;

	local_irq_save(flags);
	begin = ktime_get_ns();
	while (count--)
		arm_smccc_1_1_hvc(KVM_HOST_SMCCC_ID(NO_SUCH_CALL), &res);
	ns = ktime_get_ns() - begin;
	local_irq_restore(flags);

	return res.a0 == (unsigned long)SMCCC_RET_NOT_SUPPORTED ? ns : -EIO;
}

static struct hyptrace_remote_ops ops __ro_after_init;

/* The formats are EL2's own, and hyptrace_printk() has checked that they take numbers only. */
static void print_event(const void *payload, char *text, size_t size)
{
	const struct hyptrace_entry_hyp_printk *entry = payload;
	size_t formats_size;
	const char *formats = el2->formats(&formats_size);

	if (entry->common_type == HYPTRACE_EVENT_hyp_printk && entry->fmt_id < formats_size &&
	    (!entry->fmt_id || !formats[entry->fmt_id - 1]))
		scnprintf(text, size, formats + entry->fmt_id, entry->a, entry->b, entry->c,
			  entry->d);
	else
		hyptrace_print_event(payload, text, size);
}

static char *trace;
module_param(trace, charp, 0444);
MODULE_PARM_DESC(trace, "events and options of a trace that starts at once: see hyptrace-boot(7)");
#ifndef MODULE
core_param(hyptrace, trace, charp, 0444);
#endif

/* An EL2 that does not protect itself does not see that the host resets the machine. */
static int on_reboot(struct notifier_block *block, unsigned long action, void *data)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		hyptrace_writer_call(&writer, HYPTRACE_OP_SYNC, cpu, 0, 0);

	return NOTIFY_DONE;
}

static struct notifier_block reboot_block = { .notifier_call = on_reboot };

static hyptrace_event_fn events[ARRAY_SIZE(hyp_events)];

static struct hyptrace_remote_desc desc = {
	.name		= "hypervisor",
	.owner		= THIS_MODULE,
	.ops		= &ops,
	.priv		= &writer,
	.events		= events,
	.nr_events	= ARRAY_SIZE(events),
	.print		= print_event,
	.hypercalls	= hypercalls,
	.nr_hypercalls	= ARRAY_SIZE(hypercalls),
	.counting	= &hyptrace_writer_counting,
	.follower	= HYPTRACE_EVENT_func,
	.max_pages	= HYPTRACE_RING_MAX_PAGES(PAGE_SIZE),
	.is_kept	= true,
};

static struct hyptrace_event printk_event, func_event;

static const struct hyptrace_event *describe_printk(void)
{
	return &printk_event;
}

static const struct hyptrace_event *describe_func(void)
{
	return &func_event;
}

static void set_event(struct hyptrace_event *event, enum hyptrace_names of, const char *names,
		      size_t size, hyptrace_event_fn describe)
{
	const char *print_fmt = hyptrace_formats_print_fmt(of, names, size);

	/* Ids count from 1 in the order of the list. */
	*event = *hyp_events[event->id - 1]();
	if (!print_fmt)
		return;
	event->print_fmt = print_fmt;
	events[event->id - 1] = describe;
}

/* Give some events print formats with the names of this kernel, if there is memory. */
static void set_events(void)
{
	const char *names;
	size_t size;

	memcpy(events, hyp_events, sizeof(events));
	names = el2->formats(&size);
	printk_event.id = HYPTRACE_EVENT_hyp_printk;
	set_event(&printk_event, HYPTRACE_NAMES_PRINTK, names, size, describe_printk);
	names = el2->functions(&size);
	func_event.id = HYPTRACE_EVENT_func;
	set_event(&func_event, HYPTRACE_NAMES_FUNC, names, size, describe_func);
}

static void free_events(void)
{
	if (events[HYPTRACE_EVENT_hyp_printk - 1] == describe_printk)
		kfree(printk_event.print_fmt);
	if (events[HYPTRACE_EVENT_func - 1] == describe_func)
		kfree(func_event.print_fmt);
}

static unsigned int count_functions(void)
{
	unsigned int nr = 0;
	const char *names;
	size_t size, i;

	names = el2->functions(&size);
	for (i = 0; i < size; i++)
		nr += !names[i];
	return nr;
}

/* The functions branch to where func is recorded only while it is enabled. */
static int enable_event(u16 id, bool enable, void *priv)
{
	int err = 0;

	if (id == HYPTRACE_EVENT_func && enable)
		err = hyptrace_functions_enable(true);
	err = err ?: hyptrace_writer_ops.enable_event(id, enable, priv);
	if (id == HYPTRACE_EVENT_func && enable == !!err)
		hyptrace_functions_enable(false);
	return err;
}

/* They branch only where the filter may accept them. */
static int set_filter(u16 id, const struct hyptrace_term *terms, unsigned int nr, void *priv)
{
	int err = id == HYPTRACE_EVENT_func ? hyptrace_functions_choose(terms, nr) : 0;

	if (err)
		return err;
	err = hyptrace_writer_ops.set_filter(id, terms, nr, priv);
	if (err && id == HYPTRACE_EVENT_func)
		hyptrace_functions_choose_again();
	return err;
}

/* Set for which hypercalls EL2 has no result in the field ret, as far as this module knows. */
static int set_void_hcalls(void)
{
	u64 bits[HYPTRACE_FILTER_HCALLS / BITS_PER_TYPE(u64)] = {};
	unsigned int i;
	s64 ret = 0;

	for (i = 0; i < ARRAY_SIZE(hypercalls); i++) {
		const struct hyptrace_hypercall *call = &hypercalls[i];

		if (call->raw || call->returns)
			continue;
		if (call->id < HYPTRACE_FILTER_HCALLS)
			bits[call->id / BITS_PER_TYPE(u64)] |=
				BIT_ULL(call->id % BITS_PER_TYPE(u64));
		else
			pr_warn_once("EL2 takes the register of %s for its result: its number is above %u\n",
				     call->name, HYPTRACE_FILTER_HCALLS - 1);
	}
	for (i = 0; i < ARRAY_SIZE(bits) && !ret; i++)
		ret = hyptrace_writer_call(&writer, HYPTRACE_OP_VOID_HCALLS,
					   i * BITS_PER_TYPE(u64), bits[i], 0);

	return ret;
}

/* If this is built in, pKVM protects EL2 right before it is called: see finalize_pkvm(). */
static int __init hyptrace_pkvm_init(void)
{
	const char *why_not;
	int ret;

	el2 = symbol_get(hyptrace_el2);
	if (!el2) {
		pr_err("this kernel has no hooks for hyptrace at EL2: add them with \"make patch-tree\" and set CONFIG_HYPTRACE_PKVM\n");
		return -EOPNOTSUPP;
	}

	why_not = el2->why_not();
	if (why_not) {
		pr_err("no hypervisor to trace: %s\n", why_not);
		ret = -ENODEV;
		goto err_put_el2;
	}

	ret = el2->hold();
	if (ret) {
		pr_err("KVM cannot enable the hypervisor: %pe\n", ERR_PTR(ret));
		goto err_put_el2;
	}

	writer.call = el2->call;
	writer.frequency = el2->counter_rate();
	/* A protected EL2 maps shared pages itself. */
	if (!el2->is_protected())
		writer.map = el2->map;
	writer.parks_offline_cpus = el2->is_protected();
	ret = hyptrace_writer_init(&writer, hyptrace_event_list_hash(hyp_event_list));
	if (ret)
		goto err_release_el2;

	ret = set_void_hcalls();
	if (ret) {
		pr_err("EL2 has refused the list of hypercalls without a result: %pe\n",
		       ERR_PTR(ret));
		goto err_exit_writer;
	}

	set_events();
	ops = hyptrace_writer_ops;
	ops.get_page_owner = get_page_owner;
	ops.time_visits = time_visits;
	ops.enable_event = enable_event;
	ops.set_filter = set_filter;
	hyptrace_functions_init(el2, count_functions());
	desc.missing = writer.missing;
	desc.incomplete = writer.incomplete;
	desc.boot = trace;
	desc.protected = el2->is_protected();
	desc.description = desc.protected ? "the pKVM hypervisor, protected from this kernel" :
					    "the KVM hypervisor (nVHE), not protected";
	remote = hyptrace_remote_register(&desc);
	if (IS_ERR(remote)) {
		ret = PTR_ERR(remote);
		goto err_free_format;
	}
	if (!desc.protected)
		register_reboot_notifier(&reboot_block);

	return 0;

err_free_format:
	free_events();
err_exit_writer:
	hyptrace_writer_exit(&writer);
err_release_el2:
	el2->release();
err_put_el2:
	symbol_put(hyptrace_el2);
	return ret;
}
device_initcall_sync(hyptrace_pkvm_init);

static void __exit hyptrace_pkvm_exit(void)
{
	if (!desc.protected)
		unregister_reboot_notifier(&reboot_block);
	hyptrace_remote_unregister(remote);
	hyptrace_functions_enable(false);
	free_events();
	hyptrace_writer_exit(&writer);
	el2->release();
	symbol_put(hyptrace_el2);
}
module_exit(hyptrace_pkvm_exit);

MODULE_DESCRIPTION("hyptrace remote: the arm64 hypervisor (EL2)");
MODULE_LICENSE("GPL");
