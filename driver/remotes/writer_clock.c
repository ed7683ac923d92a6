// SPDX-License-Identifier: GPL-2.0-only
/* Keeps a tracing writer's clock in step, also after a suspend. Called by writer.c and kernel.c. */
#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/math64.h>
#include <linux/notifier.h>
#include <linux/suspend.h>
#include <linux/timekeeping.h>

#include "../../hyp/abi.h"
#include "writer.h"

/* Often enough to follow a slewed clock, and rare enough to cost nothing noticeable. */
#define CLOCK_STEP_MS		500
#define CLOCK_SAMPLES		4
/* A larger error does not come from adjtimex(): the counter or the clock has stopped. */
#define CLOCK_MAX_PPM		1000

/* Read the counter before and after the clock: take the middle of the closest attempt. */
static void sample(struct hyptrace_writer *writer, u64 *cycles, u64 *boot_ns)
{
	u64 before, after, ns, width = U64_MAX;
	unsigned long flags;
	int i;

	for (i = 0; i < CLOCK_SAMPLES; i++) {
		local_irq_save(flags);
		before = writer->counter();
		ns = ktime_get_boottime_ns();
		after = writer->counter();
		local_irq_restore(flags);

		if (after - before < width) {
			width = after - before;
			*cycles = before + width / 2;
			*boot_ns = ns;
		}
	}
}

/* mult of HYPTRACE_OP_CLOCK since the last step; nominal without one, or if it cannot be right */
static u64 measure_rate(struct hyptrace_writer *writer, u64 cycles, u64 boot_ns)
{
	u64 nominal = mul_u64_u64_div_u64(NSEC_PER_SEC, BIT_ULL(HYPTRACE_CLOCK_SHIFT),
					  writer->frequency);
	u64 measured, error;

	if (cycles <= writer->cycles || boot_ns <= writer->boot_ns)
		return nominal;

	measured = mul_u64_u64_div_u64(boot_ns - writer->boot_ns,
				       BIT_ULL(HYPTRACE_CLOCK_SHIFT),
				       cycles - writer->cycles);
	error = measured > nominal ? measured - nominal : nominal - measured;

	return error < div_u64(nominal, USEC_PER_SEC) * CLOCK_MAX_PPM ?
	       measured : nominal;
}

static void clock_work(struct work_struct *work)
{
	struct hyptrace_writer *writer =
		container_of(work, struct hyptrace_writer, clock_work.work);
	u64 cycles, boot_ns;

	sample(writer, &cycles, &boot_ns);
	/* Do not count this call: it does not depend on what is done with the rings. */
	writer->call(HYPTRACE_OP_CLOCK, measure_rate(writer, cycles, boot_ns), cycles, boot_ns);
	writer->cycles = cycles;
	writer->boot_ns = boot_ns;

	queue_delayed_work(system_power_efficient_wq, &writer->clock_work,
			   msecs_to_jiffies(CLOCK_STEP_MS));
}

static int clock_pm(struct notifier_block *nb, unsigned long action, void *unused)
{
	struct hyptrace_writer *writer = container_of(nb, struct hyptrace_writer, clock_pm);

	if (action == PM_POST_SUSPEND || action == PM_POST_HIBERNATION)
		/* Set the clock now, if it is being kept in step. */
		flush_delayed_work(&writer->clock_work);

	return NOTIFY_DONE;
}

/**
 * hyptrace_clock_init() - set up the clock's work, without starting it
 * @writer:	whose clock
 */
void hyptrace_clock_init(struct hyptrace_writer *writer)
{
	INIT_DELAYED_WORK(&writer->clock_work, clock_work);
	writer->clock_pm.notifier_call = clock_pm;
}
EXPORT_SYMBOL_GPL(hyptrace_clock_init);

/**
 * hyptrace_clock_start() - set the clock and keep it in step
 * @writer:	its clock is not being kept in step
 * Context: process, sleeps.
 */
void hyptrace_clock_start(struct hyptrace_writer *writer)
{
	/* There is no recent sample: begin with the nominal rate. */
	writer->cycles = U64_MAX;
	queue_delayed_work(system_power_efficient_wq, &writer->clock_work, 0);
	flush_delayed_work(&writer->clock_work);
	/* This fails only if the notifier is registered already. */
	register_pm_notifier(&writer->clock_pm);
}
EXPORT_SYMBOL_GPL(hyptrace_clock_start);

/**
 * hyptrace_clock_stop() - stop keeping the clock in step
 * @writer:	whose clock; it may be stopped already
 * Context: process, sleeps.
 */
void hyptrace_clock_stop(struct hyptrace_writer *writer)
{
	unregister_pm_notifier(&writer->clock_pm);
	cancel_delayed_work_sync(&writer->clock_work);
}
EXPORT_SYMBOL_GPL(hyptrace_clock_stop);
