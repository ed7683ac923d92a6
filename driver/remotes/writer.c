// SPDX-License-Identifier: GPL-2.0-only
/* The EL1 side of a writer that implements hyp/abi.h: attaching CPUs, CPU hotplug, callbacks. */
#include <linux/cpu.h>
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/module.h>

#include "writer.h"

static enum cpuhp_state hotplug_state;

/* Attach an online CPU, or change a parked one. -EBUSY: neither; online_cpu() attaches it later. */
static int attach(struct hyptrace_writer *writer, unsigned int cpu)
{
	s64 ret = hyptrace_writer_call_on(writer, cpu, HYPTRACE_OP_ATTACH, writer->events);

	return ret == -EBUSY && !cpu_online(cpu) ? 0 : ret;
}

static int attach_all(struct hyptrace_writer *writer)
{
	unsigned int cpu;
	int ret;

	for_each_possible_cpu(cpu) {
		ret = attach(writer, cpu);
		if (ret)
			return ret;
	}

	return 0;
}

static int detach_all(struct hyptrace_writer *writer)
{
	int ret, first = 0;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		ret = hyptrace_writer_call_on(writer, cpu, HYPTRACE_OP_DETACH, 0);
		first = first ?: ret;
	}

	return first;
}

/* ATTACH makes the writer forget timed events: none may begin before a pause and end after it. */
static int pause_and_attach(struct hyptrace_writer *writer)
{
	s64 ret = hyptrace_writer_call(writer, HYPTRACE_OP_PAUSE, 0, 0, 0);

	return ret ?: attach_all(writer);
}

static int arm(void *priv)
{
	struct hyptrace_writer *writer = priv;

	return hyptrace_writer_call(writer, HYPTRACE_OP_ARM, ++writer->arm, 0, 0);
}

static int attach_and_arm(struct hyptrace_writer *writer)
{
	int ret = pause_and_attach(writer);
	int arm_ret = arm(writer);

	return ret ?: arm_ret;
}

static int online_cpu(unsigned int cpu, struct hlist_node *node)
{
	struct hyptrace_writer *writer =
		hlist_entry(node, struct hyptrace_writer, hotplug);

	/* First: a CPU that counts an event also knows that triggers keep it from recording it. */
	hyptrace_writer_count_online(writer);
	hyptrace_writer_pmu_online(writer);
	if (writer->tracing &&
	    (hyptrace_writer_send_filters(writer, cpumask_of(cpu)) || attach(writer, cpu)))
		pr_warn("%s: CPU %u is online, but the writer does not record on it\n",
			writer->name, cpu);

	return 0;
}

static int offline_cpu(unsigned int cpu, struct hlist_node *node)
{
	struct hyptrace_writer *writer =
		hlist_entry(node, struct hyptrace_writer, hotplug);

	if (writer->tracing && !writer->parks_offline_cpus)
		hyptrace_writer_call_on(writer, cpu, HYPTRACE_OP_DETACH, 0);
	hyptrace_writer_pmu_offline(writer);
	hyptrace_writer_count_offline(writer);

	return 0;
}

/**
 * hyptrace_writer_init() - check a writer and begin to follow CPU hotplug
 * @writer:		with the fields set that struct hyptrace_writer asks for
 * @event_list_hash:	hash of the caller's list of events
 * Context: process, sleeps.
 * Return: 0, or a negative errno; the log has the reason.
 */
int hyptrace_writer_init(struct hyptrace_writer *writer, s64 event_list_hash)
{
	s64 version, hash;
	int ret;

	hyptrace_clock_init(writer);
	version = hyptrace_writer_call(writer, HYPTRACE_OP_INFO, HYPTRACE_INFO_VERSION, 0, 0);
	if (version == -ENODEV) {
		pr_err("%s: the writer does not answer\n", writer->name);
		return -ENODEV;
	}
	if (version != HYPTRACE_ABI_VERSION) {
		pr_err("%s: version %lld of the contract at the writer, %d in this module: build both from the same sources\n",
		       writer->name, version, HYPTRACE_ABI_VERSION);
		return -EPROTO;
	}

	hash = hyptrace_writer_call(writer, HYPTRACE_OP_INFO, HYPTRACE_INFO_EVENTS, 0, 0);
	if (hash != event_list_hash) {
		pr_err("%s: the writer was built with another list of events (%016llx) than this module (%016llx): build both from the same hyp/events.h\n",
		       writer->name, hash, event_list_hash);
		return -EPROTO;
	}

	writer->missing = hyptrace_writer_call(writer, HYPTRACE_OP_INFO, HYPTRACE_INFO_MISSING, 0,
					       0);
	writer->incomplete = hyptrace_writer_call(writer, HYPTRACE_OP_INFO,
						  HYPTRACE_INFO_INCOMPLETE, 0, 0);

	ret = hyptrace_writer_recover(writer);
	if (ret)
		return ret;

	ret = cpuhp_state_add_instance_nocalls(hotplug_state, &writer->hotplug);
	if (ret)
		pr_err("%s: cannot follow CPU hotplug: %pe\n", writer->name, ERR_PTR(ret));

	return ret;
}
EXPORT_SYMBOL_GPL(hyptrace_writer_init);

/**
 * hyptrace_writer_exit() - undo hyptrace_writer_init()
 * @writer:	its remote is unregistered
 * Context: process, sleeps.
 */
void hyptrace_writer_exit(struct hyptrace_writer *writer)
{
	/* The clock still runs if the writer could not be stopped. */
	hyptrace_clock_stop(writer);
	cpuhp_state_remove_instance_nocalls(hotplug_state, &writer->hotplug);
}
EXPORT_SYMBOL_GPL(hyptrace_writer_exit);

static int enable_tracing(bool enable, void *priv)
{
	struct hyptrace_writer *writer = priv;
	int ret;

	if (enable)
		hyptrace_clock_start(writer);

	cpus_read_lock();
	if (enable)
		ret = hyptrace_writer_send_filters(writer, cpu_possible_mask) ?:
		      attach_and_arm(writer);
	else
		ret = detach_all(writer);
	if (!ret)
		writer->tracing = enable;
	else if (enable)
		detach_all(writer);
	else
		attach_all(writer);
	cpus_read_unlock();

	if (!enable == !ret)
		hyptrace_clock_stop(writer);

	return ret;
}

static int swap_reader_page(unsigned int cpu, u32 consumed, struct hyptrace_swap *swap,
			    void *priv)
{
	struct hyptrace_writer *writer = priv;
	struct hyptrace_meta *meta;
	s64 ret;

	ret = hyptrace_writer_call(writer, HYPTRACE_OP_SWAP, cpu, consumed, 0);
	if (ret < 0)
		return ret;

	meta = page_address(writer->buf->ring[cpu].meta);
	swap->id = ret;
	swap->lost = READ_ONCE(meta->reader_lost);

	return 0;
}

static u64 get_calls(void *priv)
{
	struct hyptrace_writer *writer = priv;

	return atomic64_read(&writer->calls);
}

static int sync_ring(unsigned int cpu, void *priv)
{
	struct hyptrace_writer *writer = priv;

	return hyptrace_writer_call(writer, HYPTRACE_OP_SYNC, cpu, 0, 0);
}

static int reset_ring(unsigned int cpu, void *priv)
{
	struct hyptrace_writer *writer = priv;
	int ret;

	/* RESET returns 1 while the writer still has time stamps to wipe. */
	cpus_read_lock();
	do {
		ret = hyptrace_writer_call_on(writer, cpu, HYPTRACE_OP_RESET, 0);
		cond_resched();
	} while (ret > 0);
	cpus_read_unlock();

	return ret;
}

/* Each MOVE takes one sub-buffer from the old ring, so nr_pages bounds their number. */
static s64 move_all(struct hyptrace_writer *writer, unsigned int cpu,
		    struct hyptrace_ring_pages *old, struct hyptrace_ring_pages *new)
{
	const struct hyptrace_meta *meta = page_address(new->meta);
	unsigned int steps = old->nr_pages;
	u32 old_id, new_id;
	s64 ret;

	while ((ret = hyptrace_writer_call(writer, HYPTRACE_OP_MOVE, cpu, 0, 0)) > 0) {
		if (!steps--)
			return -EPROTO;
		if (ret == HYPTRACE_MOVE_MOVED) {
			old_id = READ_ONCE(meta->moved.retired_id);
			new_id = READ_ONCE(meta->moved.ring_id);
			if (old_id >= old->nr_pages || new_id >= new->nr_pages)
				return -EPROTO;
			swap(old->pages[old_id], new->pages[new_id]);
		}
		cond_resched();
	}

	return ret;
}

/* If a sub-buffer is not moved, it stays in the retired ring, which cannot be freed then. */
static void move_events(struct hyptrace_writer *writer, unsigned int cpu,
			struct hyptrace_ring_pages *old, struct hyptrace_ring_pages *new)
{
	s64 ret = move_all(writer, cpu, old, new);

	if (ret)
		pr_err("%s: events of CPU %u cannot be moved: %lld\n", writer->name, cpu, ret);
}

static int exchange_ring(unsigned int cpu, struct hyptrace_ring_pages *old, u32 reader_id,
			 struct hyptrace_ring_pages *new, void *priv)
{
	struct hyptrace_writer *writer = priv;
	int ret;

	cpus_read_lock();
	ret = hyptrace_writer_call_on(writer, cpu, HYPTRACE_OP_EXCHANGE, 0);
	cpus_read_unlock();
	if (ret)
		return ret;

	swap(old->pages[reader_id], new->pages[new->nr_pages - 1]);
	move_events(writer, cpu, old, new);

	return 0;
}

static int enable_event(u16 id, bool enable, void *priv)
{
	struct hyptrace_writer *writer = priv;
	u64 before = writer->events;
	int ret = 0;

	cpus_read_lock();
	if (enable)
		writer->events |= BIT_ULL(id);
	else
		writer->events &= ~BIT_ULL(id);

	if (writer->tracing) {
		ret = attach_all(writer);
		if (ret) {
			writer->events = before;
			attach_all(writer);
		}
	}
	cpus_read_unlock();

	return ret;
}

/* When it returns, no CPU is recording an event any more: what has fired is published. */
static int pause_tracing(void *priv)
{
	int ret;

	cpus_read_lock();
	ret = pause_and_attach(priv);
	cpus_read_unlock();

	return ret;
}

/* With the writer as priv. A remote copies them, and adds its own. */
const struct hyptrace_remote_ops hyptrace_writer_ops = {
	.load_trace_buffer	= hyptrace_writer_load,
	.unload_trace_buffer	= hyptrace_writer_unload,
	.enable_tracing		= enable_tracing,
	.swap_reader_page	= swap_reader_page,
	.sync			= sync_ring,
	.calls			= get_calls,
	.reset			= reset_ring,
	.prepare_resize		= hyptrace_writer_prepare_resize,
	.exchange_ring		= exchange_ring,
	.finish_resize		= hyptrace_writer_finish_resize,
	.enable_event		= enable_event,
	.set_filter		= hyptrace_writer_set_filter,
	.set_trigger		= hyptrace_writer_set_trigger,
	.pause			= pause_tracing,
	.arm			= arm,
	.get_fired		= hyptrace_writer_get_fired,
	.has_ended		= hyptrace_writer_has_ended,
	.write_selftest		= hyptrace_writer_write_selftest,
};
EXPORT_SYMBOL_GPL(hyptrace_writer_ops);

/**
 * hyptrace_writers_init() - set up the state of CPU hotplug that all writers share
 *
 * Return: 0 or a negative errno.
 */
int __init hyptrace_writers_init(void)
{
	int ret = cpuhp_setup_state_multi(CPUHP_AP_ONLINE_DYN, "hyptrace:online",
					  online_cpu, offline_cpu);

	if (ret < 0)
		return ret;
	hotplug_state = ret;

	return 0;
}

/**
 * hyptrace_writers_exit() - undo hyptrace_writers_init()
 */
void hyptrace_writers_exit(void)
{
	cpuhp_remove_multi_state(hotplug_state);
}
