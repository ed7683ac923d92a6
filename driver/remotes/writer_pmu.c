// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counters of the PMU that a writer reads: perf programs them to count EL2, and this kernel
 * tells the writer which ones. Called by core, through struct hyptrace_counting, and by writer.c.
 *
 * The events of perf are pinned, and each is of one CPU. perf may give an event another counter, or
 * none. The writer notices that, and measures nothing until hyptrace_writer_pmu_follow() tells it.
 */
#define pr_fmt(fmt) "hyptrace: " fmt

#include <linux/cpu.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "../../hyp/abi.h"
#include "../compat.h"
#include "writer.h"

/* The counters of a CPU's PMU */
struct hyptrace_pmu_counters {
	struct perf_event	*events[HYPTRACE_PMU_COUNTERS];	/* of perf */
	/* of each, the number of the counter that the writer knows */
	int			numbers[HYPTRACE_PMU_COUNTERS];
	/* the sums are of an earlier time; a CPU that comes online changes it without a lock */
	bool			is_stale;
};

#if IS_ENABLED(CONFIG_PERF_EVENTS) && IS_ENABLED(CONFIG_ARM64)

static struct perf_event *create_event(unsigned int cpu, u16 what)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_RAW,
		.size		= sizeof(attr),
		.config		= what,
		.pinned		= true,
		.exclude_user	= true,
		.exclude_kernel	= true,
	};

	return perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
}

/* The counter of an event; -1: it has none at present */
static int number_of(const struct perf_event *event)
{
	int idx = READ_ONCE(event->hw.idx);

	return READ_ONCE(event->state) == PERF_EVENT_STATE_ACTIVE && idx >= 0 ?
	       hyptrace_pmu_number(idx) : -1;
}

#else

static struct perf_event *create_event(unsigned int cpu, u16 what)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static int number_of(const struct perf_event *event)
{
	return -1;
}

#endif

static void release(struct hyptrace_writer *writer, unsigned int cpu)
{
	struct hyptrace_pmu_counters *counters = &writer->pmu_counters[cpu];
	unsigned int i;

	for (i = 0; i < HYPTRACE_PMU_COUNTERS; i++) {
		if (counters->events[i])
			perf_event_release_kernel(counters->events[i]);
		counters->events[i] = NULL;
	}
}

/* Tell the writer which counter an event has. */
static s64 tell(struct hyptrace_writer *writer, unsigned int cpu, unsigned int i)
{
	struct hyptrace_pmu_counters *counters = &writer->pmu_counters[cpu];
	int number = number_of(counters->events[i]);
	s64 ret;

	if (number < 0)
		return -EBUSY;
	ret = hyptrace_writer_call_on(writer, cpu, HYPTRACE_OP_PMU,
				      hyptrace_pmu_counter(i, number, writer->pmu.events[i]));
	counters->numbers[i] = ret ? -1 : number;
	return ret;
}

/* Set the sums to 0: not of a CPU that is offline without the writer having seen it going. */
static void reset(struct hyptrace_writer *writer, unsigned int cpu)
{
	bool is_stale = hyptrace_writer_call_on(writer, cpu, HYPTRACE_OP_PMU, HYPTRACE_PMU_RESET);

	/*
	 * (PS) Order the sums, which are 0 now, before it. Pairs with (PS) in
	 * hyptrace_writer_pmu_is_stale().
	 */
	smp_store_release(&writer->pmu_counters[cpu].is_stale, is_stale);
}

/* Have the PMU of a CPU count, whose counters the writer does not know so far. */
static s64 begin(struct hyptrace_writer *writer, unsigned int cpu, unsigned int *which)
{
	struct hyptrace_pmu_counters *counters = &writer->pmu_counters[cpu];
	s64 ret = 0;

	for (*which = 0; !ret && *which < writer->pmu.nr; ++*which) {
		struct perf_event *event = create_event(cpu, writer->pmu.events[*which]);

		if (IS_ERR(event))
			return PTR_ERR(event);
		counters->events[*which] = event;
		ret = tell(writer, cpu, *which);
		if (ret)
			return ret;
	}
	return ret;
}

/* Give back the counters of a CPU. */
static void end(struct hyptrace_writer *writer, unsigned int cpu)
{
	s64 ret = hyptrace_writer_call_on(writer, cpu, HYPTRACE_OP_PMU, HYPTRACE_PMU_NONE);

	/* a CPU that is offline, without the writer having seen it going, measures nothing */
	if (ret && ret != -EBUSY)
		pr_warn_once("%s: the writer goes on to read the PMU of CPU %u: %lld\n",
			     writer->name, cpu, ret);
	release(writer, cpu);
}

static void end_all(struct hyptrace_writer *writer)
{
	unsigned int cpu;

	if (!writer->pmu_counters)
		return;
	for_each_possible_cpu(cpu)
		end(writer, cpu);
	kfree(writer->pmu_counters);
	writer->pmu_counters = NULL;
	writer->pmu.nr = 0;
}

/* Say why the PMU of a CPU does not count. */
static int refuse(struct netlink_ext_ack *extack, s64 err, unsigned int cpu, u16 what)
{
	if (!IS_ENABLED(CONFIG_HW_PERF_EVENTS))
		NL_SET_ERR_MSG_FMT(extack, "CPU %u has no PMU without CONFIG_HW_PERF_EVENTS", cpu);
	else if (err == -ENOENT || err == -ENODEV || err == -EOPNOTSUPP || err == -ENXIO)
		NL_SET_ERR_MSG_FMT(extack, "CPU %u has no PMU that counts in the hypervisor",
				   cpu);
	else if (err == -EBUSY || err == -ENOSPC)
		NL_SET_ERR_MSG_FMT(extack, "CPU %u has no free counter for 0x%x: perf uses them",
				   cpu, what);
	else
		NL_SET_ERR_MSG_FMT(extack, "the PMU of CPU %u cannot count 0x%x (error %lld)", cpu,
				   what, -err);
	return err;
}

/**
 * hyptrace_writer_set_pmu() - set_pmu() of struct hyptrace_counting
 * @request:	what the PMU is to count; NULL: nothing any more
 * @priv:	the writer
 * @extack:	out: the reason of an error; may be NULL
 * Return: 0 or a negative errno.
 */
int hyptrace_writer_set_pmu(const struct hyptrace_pmu_request *request, void *priv,
			    struct netlink_ext_ack *extack)
{
	struct hyptrace_writer *writer = priv;
	unsigned int cpu, which;
	int err = 0;

	cpus_read_lock();
	end_all(writer);
	if (!request)
		goto out;
	writer->pmu_counters = kcalloc(nr_cpu_ids, sizeof(*writer->pmu_counters), GFP_KERNEL);
	if (!writer->pmu_counters) {
		NL_SET_ERR_MSG(extack, "not enough free memory for the counters");
		err = -ENOMEM;
		goto out;
	}
	writer->pmu = *request;
	for_each_possible_cpu(cpu)
		reset(writer, cpu);
	for_each_online_cpu(cpu) {
		err = begin(writer, cpu, &which);
		if (err) {
			refuse(extack, err, cpu, request->events[which]);
			end_all(writer);
			break;
		}
	}
out:
	cpus_read_unlock();
	return err;
}

/**
 * hyptrace_writer_pmu_follow() - tell the writer if perf has moved a counter of a CPU
 * @writer:	the writer; control mutex held
 * @cpu:	the CPU
 */
void hyptrace_writer_pmu_follow(struct hyptrace_writer *writer, unsigned int cpu)
{
	unsigned int i;

	cpus_read_lock();
	for (i = 0; writer->pmu_counters && i < writer->pmu.nr; i++) {
		struct hyptrace_pmu_counters *counters = &writer->pmu_counters[cpu];
		struct perf_event *event = counters->events[i];
		int number = event ? number_of(event) : -1;

		if (!event || (number >= 0 && number == counters->numbers[i]))
			continue;
		/* perf has needed it, and does not give it back of its own */
		if (number < 0)
			perf_event_enable(event);
		tell(writer, cpu, i);
	}
	cpus_read_unlock();
}

/**
 * hyptrace_writer_pmu_is_stale() - whether what a CPU has measured is of an earlier time
 * @writer:	the writer; control mutex held
 * @cpu:	the CPU
 *
 * To be asked before what is measured is read: meanwhile, the CPU may come online.
 *
 * Return: true until it is online again.
 */
bool hyptrace_writer_pmu_is_stale(const struct hyptrace_writer *writer, unsigned int cpu)
{
	/* (PS) Order it before the sums. Pairs with (PS) in reset(). */
	return writer->pmu_counters && smp_load_acquire(&writer->pmu_counters[cpu].is_stale);
}

/**
 * hyptrace_writer_pmu_online() - measure on a CPU that is coming online
 * @writer:	the writer
 * Context: a callback of CPU hotplug, on that CPU, which counts the events already.
 */
void hyptrace_writer_pmu_online(struct hyptrace_writer *writer)
{
	unsigned int cpu = smp_processor_id(), which;

	if (!writer->pmu_counters)
		return;
	if (writer->pmu_counters[cpu].is_stale)
		reset(writer, cpu);
	if (begin(writer, cpu, &which)) {
		pr_warn("%s: CPU %u is online, but its PMU does not count\n", writer->name, cpu);
		end(writer, cpu);
	}
}

/**
 * hyptrace_writer_pmu_offline() - give back the counters of a CPU that goes offline
 * @writer:	the writer
 * Context: a callback of CPU hotplug, on that CPU.
 */
void hyptrace_writer_pmu_offline(struct hyptrace_writer *writer)
{
	if (writer->pmu_counters)
		end(writer, smp_processor_id());
}
