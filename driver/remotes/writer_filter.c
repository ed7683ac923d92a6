// SPDX-License-Identifier: GPL-2.0-only
/*
 * The filters of a writer: kept here, and sent to each CPU. An unloaded ring loses them, so
 * writer.c sends them before it attaches a CPU. Other files call only the callback set_filter.
 */
#include <linux/bitops.h>
#include <linux/cpu.h>
#include <linux/export.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "writer.h"

/* The filters of some events, for one CPU */
struct sending {
	struct hyptrace_writer	*writer;
	unsigned int		cpu;
	u64			events;
	s64			ret;
};

static s64 send_filter(struct hyptrace_writer *writer, unsigned int cpu, u16 event)
{
	const struct hyptrace_writer_filter *filter = &writer->filters[event];
	unsigned int i;
	s64 ret = 0;

	if (!filter->nr_terms)
		return hyptrace_writer_call(writer, HYPTRACE_OP_FILTER,
					    hyptrace_filter_where(cpu, event, 0, 0), 0, 0);

	for (i = 0; i < filter->nr_terms && !ret; i++)
		ret = hyptrace_writer_call(writer, HYPTRACE_OP_FILTER,
					   hyptrace_filter_where(cpu, event, i, filter->nr_terms),
					   hyptrace_pack_term(&filter->terms[i]),
					   filter->terms[i].value);

	return ret;
}

static void do_send(void *arg)
{
	struct sending *sending = arg;
	unsigned int id;

	for (id = 0; id < HYPTRACE_MAX_EVENT_ID && !sending->ret; id++) {
		if (sending->events & BIT_ULL(id))
			sending->ret = send_filter(sending->writer, sending->cpu, id);
	}
}

/* -EBUSY: the CPU is offline, neither parked nor detached: online_cpu() sends its filters later. */
static int send(struct hyptrace_writer *writer, unsigned int cpu, u64 events)
{
	struct sending sending = { .writer = writer, .cpu = cpu, .events = events };

	if (!events)
		return 0;
	if (cpu_online(cpu))
		smp_call_function_single(cpu, do_send, &sending, true);
	else
		do_send(&sending);

	return sending.ret == -EBUSY && !cpu_online(cpu) ? 0 : sending.ret;
}

static int send_to(struct hyptrace_writer *writer, const struct cpumask *cpus, u64 events)
{
	unsigned int cpu;
	int ret;

	for_each_cpu(cpu, cpus) {
		ret = send(writer, cpu, events);
		if (ret)
			return ret;
	}

	return 0;
}

/**
 * hyptrace_writer_send_filters() - give the writer the filters of some CPUs
 * @writer:	its rings are loaded
 * @cpus:	which ones
 * Context: cpus_read_lock() held, or a callback of CPU hotplug.
 * Return: 0 or the errno of the writer.
 */
int hyptrace_writer_send_filters(struct hyptrace_writer *writer, const struct cpumask *cpus)
{
	return send_to(writer, cpus, writer->had_filter);
}

int hyptrace_writer_set_filter(u16 id, const struct hyptrace_term *terms, unsigned int nr,
			       void *priv)
{
	struct hyptrace_writer *writer = priv;
	struct hyptrace_writer_filter *filter = &writer->filters[id];
	struct hyptrace_writer_filter before = *filter;
	int ret = 0;

	cpus_read_lock();
	filter->nr_terms = nr;
	if (nr)
		memcpy(filter->terms, terms, nr * sizeof(*terms));
	writer->had_filter |= BIT_ULL(id);

	if (writer->tracing) {
		ret = send_to(writer, cpu_possible_mask, BIT_ULL(id));
		if (ret) {
			*filter = before;
			send_to(writer, cpu_possible_mask, BIT_ULL(id));
		}
	}
	cpus_read_unlock();

	return ret;
}
