// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps a writer's clock in step with CLOCK_BOOTTIME while it traces, and sets it
 * anew after a suspend, over which the counter may have stood still. Called by
 * writer.c.
 */
#include <linux/irqflags.h>
#include <linux/math64.h>
#include <linux/notifier.h>
#include <linux/suspend.h>
#include <linux/timekeeping.h>

#include "../../hyp/abi.h"
#include "writer.h"

/* Often enough for a slewed clock, seldom enough not to be seen. */
#define CLOCK_STEP_MS		500
#define CLOCK_SAMPLES		4
/* More than adjtimex() can slew is a counter or a clock that stood still. */
#define CLOCK_MAX_PPM		1000

/* Both at one moment: the closest of some tries, halfway between two reads. */
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

/* ns per cycle as the clock wants it, from what passed since the last step */
static u64 rate(struct hyptrace_writer *writer, u64 cycles, u64 boot_ns)
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
	/* not one of the calls that are counted: it comes whatever is done with the rings */
	writer->call(HYPTRACE_OP_CLOCK, rate(writer, cycles, boot_ns), cycles, boot_ns);
	writer->cycles = cycles;
	writer->boot_ns = boot_ns;

	queue_delayed_work(system_power_efficient_wq, &writer->clock_work,
			   msecs_to_jiffies(CLOCK_STEP_MS));
}

static int clock_pm(struct notifier_block *nb, unsigned long action, void *unused)
{
	struct hyptrace_writer *writer = container_of(nb, struct hyptrace_writer, clock_pm);

	if (action == PM_POST_SUSPEND || action == PM_POST_HIBERNATION)
		/* at once, if it runs */
		flush_delayed_work(&writer->clock_work);

	return NOTIFY_DONE;
}

/**
 * hyptrace_clock_init() - make a clock that does not run
 * @writer:	whose
 */
void hyptrace_clock_init(struct hyptrace_writer *writer)
{
	INIT_DELAYED_WORK(&writer->clock_work, clock_work);
	writer->clock_pm.notifier_call = clock_pm;
}

/**
 * hyptrace_clock_start() - set the clock and go on keeping it in step
 * @writer:	the clock of which does not run
 *
 * Context: process, sleeps.
 */
void hyptrace_clock_start(struct hyptrace_writer *writer)
{
	/* No rate can be measured over the time in which nobody looked. */
	writer->cycles = U64_MAX;
	queue_delayed_work(system_power_efficient_wq, &writer->clock_work, 0);
	flush_delayed_work(&writer->clock_work);
	/* it cannot fail: the notifier is not registered */
	register_pm_notifier(&writer->clock_pm);
}

/**
 * hyptrace_clock_stop() - leave the clock alone
 * @writer:	whether its clock runs or not
 *
 * Context: process, sleeps.
 */
void hyptrace_clock_stop(struct hyptrace_writer *writer)
{
	unregister_pm_notifier(&writer->clock_pm);
	cancel_delayed_work_sync(&writer->clock_work);
}
