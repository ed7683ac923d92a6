// SPDX-License-Identifier: GPL-2.0-only
/*
 * A writer that keeps the contract of hyp/abi.h, seen from EL1: attaching its CPUs,
 * also those that come and go, and the ops of a remote that is such a writer.
 */
#include <linux/cpu.h>
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/smp.h>

#include "../../hyp/abi.h"
#include "writer.h"

/* So many selftest events are written without letting interrupts in. */
#define SELFTEST_BATCH		64

static enum cpuhp_state hotplug_state;

struct cpu_call {
	struct hyptrace_writer	*writer;
	u64			op;
	u64			arg1;
	u64			arg2;
	u64			count;	/* times, arg1 counting up; until an error */
	s64			ret;
};

static void do_call(void *arg)
{
	struct cpu_call *call = arg;
	u64 i;

	for (i = 0; i < call->count && !call->ret; i++)
		call->ret = hyptrace_writer_call(call->writer, call->op, call->arg1 + i,
						 call->arg2, 0);
}

/*
 * An op that must come on the CPU, unless that is off and cannot make it. Under
 * cpus_read_lock(), or in a callback of hotplug.
 */
static s64 call_on(struct hyptrace_writer *writer, unsigned int cpu, u64 op,
		   u64 arg2)
{
	struct cpu_call call = {
		.writer = writer, .op = op, .arg1 = cpu, .arg2 = arg2, .count = 1,
	};

	if (cpu_online(cpu))
		smp_call_function_single(cpu, do_call, &call, true);
	else
		do_call(&call);

	return call.ret;
}

/* A CPU that is off attaches when it comes, unless it is parked and listens. */
static int attach(struct hyptrace_writer *writer, unsigned int cpu)
{
	s64 ret = call_on(writer, cpu, HYPTRACE_OP_ATTACH, writer->events);

	return ret == -EBUSY && !cpu_online(cpu) ? 0 : ret;
}

static int attach_all(struct hyptrace_writer *writer)
{
	unsigned int cpu;
	int ret;

	for_each_cpu(cpu, writer->buf->cpus) {
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

	for_each_cpu(cpu, writer->buf->cpus) {
		ret = call_on(writer, cpu, HYPTRACE_OP_DETACH, 0);
		first = first ?: ret;
	}

	return first;
}

static int cpu_comes(unsigned int cpu, struct hlist_node *node)
{
	struct hyptrace_writer *writer =
		hlist_entry(node, struct hyptrace_writer, hotplug);

	if (writer->tracing && attach(writer, cpu))
		pr_warn("%s: CPU %u came, but does not trace\n", writer->name, cpu);

	return 0;
}

static int cpu_goes(unsigned int cpu, struct hlist_node *node)
{
	struct hyptrace_writer *writer =
		hlist_entry(node, struct hyptrace_writer, hotplug);

	if (writer->tracing && !writer->parks)
		call_on(writer, cpu, HYPTRACE_OP_DETACH, 0);

	return 0;
}

/**
 * hyptrace_writer_init() - check a writer and begin to follow its CPUs
 * @writer:		filled in as its description says
 * @event_list_hash:	of the list of events that the caller knows
 *
 * Context: process, sleeps.
 * Return: 0, or a negative errno after a message that says what is wrong.
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

	ret = hyptrace_writer_recover(writer);
	if (ret)
		return ret;

	ret = cpuhp_state_add_instance_nocalls(hotplug_state, &writer->hotplug);
	if (ret)
		pr_err("%s: cannot follow CPUs that come and go: %pe\n",
		       writer->name, ERR_PTR(ret));

	return ret;
}
EXPORT_SYMBOL_GPL(hyptrace_writer_init);

/**
 * hyptrace_writer_exit() - cease to follow a writer's CPUs
 * @writer:	of a remote that was unregistered
 *
 * Context: process, sleeps.
 */
void hyptrace_writer_exit(struct hyptrace_writer *writer)
{
	/* it runs still if the writer could not be stopped */
	hyptrace_clock_stop(writer);
	cpuhp_state_remove_instance_nocalls(hotplug_state, &writer->hotplug);
}
EXPORT_SYMBOL_GPL(hyptrace_writer_exit);

/**
 * hyptrace_writer_load() - see struct hyptrace_remote_ops
 * @buf:	the rings
 * @priv:	the writer
 *
 * Return: as there.
 */
int hyptrace_writer_load(struct hyptrace_buffer *buf, void *priv)
{
	struct hyptrace_writer *writer = priv;
	int ret;

	ret = hyptrace_writer_share_all(writer, buf, 0);
	if (!ret)
		writer->buf = buf;

	return ret;
}
EXPORT_SYMBOL_GPL(hyptrace_writer_load);

/**
 * hyptrace_writer_unload() - see struct hyptrace_remote_ops
 * @buf:	the rings
 * @priv:	the writer
 *
 * Return: as there.
 */
int hyptrace_writer_unload(struct hyptrace_buffer *buf, void *priv)
{
	struct hyptrace_writer *writer = priv;

	writer->buf = NULL;

	return hyptrace_writer_take_back(writer, buf, 0);
}
EXPORT_SYMBOL_GPL(hyptrace_writer_unload);

/**
 * hyptrace_writer_enable_tracing() - see struct hyptrace_remote_ops
 * @enable:	to trace or not
 * @priv:	the writer
 *
 * Return: as there.
 */
int hyptrace_writer_enable_tracing(bool enable, void *priv)
{
	struct hyptrace_writer *writer = priv;
	int ret;

	if (enable)
		hyptrace_clock_start(writer);

	cpus_read_lock();
	ret = enable ? attach_all(writer) : detach_all(writer);
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
EXPORT_SYMBOL_GPL(hyptrace_writer_enable_tracing);

/**
 * hyptrace_writer_swap() - see struct hyptrace_remote_ops
 * @cpu:	whose ring
 * @consumed:	bytes
 * @swap:	what the reader got
 * @priv:	the writer
 *
 * Return: as there.
 */
int hyptrace_writer_swap(unsigned int cpu, u32 consumed,
			 struct hyptrace_swap *swap, void *priv)
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
EXPORT_SYMBOL_GPL(hyptrace_writer_swap);

/**
 * hyptrace_writer_calls() - see struct hyptrace_remote_ops
 * @priv:	the writer
 *
 * Return: as there.
 */
u64 hyptrace_writer_calls(void *priv)
{
	struct hyptrace_writer *writer = priv;

	return atomic64_read(&writer->calls);
}
EXPORT_SYMBOL_GPL(hyptrace_writer_calls);

/**
 * hyptrace_writer_sync() - see struct hyptrace_remote_ops
 * @cpu:	whose ring
 * @priv:	the writer
 *
 * Return: as there.
 */
int hyptrace_writer_sync(unsigned int cpu, void *priv)
{
	struct hyptrace_writer *writer = priv;

	return hyptrace_writer_call(writer, HYPTRACE_OP_SYNC, cpu, 0, 0);
}
EXPORT_SYMBOL_GPL(hyptrace_writer_sync);

/**
 * hyptrace_writer_reset() - see struct hyptrace_remote_ops
 * @cpu:	whose ring
 * @priv:	the writer
 *
 * Return: as there.
 */
int hyptrace_writer_reset(unsigned int cpu, void *priv)
{
	struct hyptrace_writer *writer = priv;
	int ret;

	/* again, while the writer has time stamps to wipe */
	cpus_read_lock();
	do {
		ret = call_on(writer, cpu, HYPTRACE_OP_RESET, 0);
		cond_resched();
	} while (ret > 0);
	cpus_read_unlock();

	return ret;
}
EXPORT_SYMBOL_GPL(hyptrace_writer_reset);

/**
 * hyptrace_writer_prepare_resize() - see struct hyptrace_remote_ops
 * @buf:	the rings to come
 * @priv:	the writer
 *
 * Return: as there.
 */
int hyptrace_writer_prepare_resize(struct hyptrace_buffer *buf, void *priv)
{
	return hyptrace_writer_share_all(priv, buf, HYPTRACE_SPARE_RING);
}
EXPORT_SYMBOL_GPL(hyptrace_writer_prepare_resize);

/* Each answer moves a sub-buffer, and there are no more than pages. */
static s64 move_all(struct hyptrace_writer *writer, unsigned int cpu,
		    struct hyptrace_ring_pages *old, struct hyptrace_ring_pages *new)
{
	unsigned int steps = old->nr_pages;
	s64 ret, from, to;

	while ((ret = hyptrace_writer_call(writer, HYPTRACE_OP_MOVE, cpu, 0, 0)) > 0) {
		from = HYPTRACE_MOVED_FROM(ret);
		to = HYPTRACE_MOVED_TO(ret);
		if (!steps-- || from >= old->nr_pages || to >= new->nr_pages)
			return -EPROTO;
		if (ret != HYPTRACE_GONE)
			swap(old->pages[from], new->pages[to]);
		cond_resched();
	}

	return ret;
}

/* What is not moved is in the writer's old ring still, and that cannot be freed. */
static void move_events(struct hyptrace_writer *writer, unsigned int cpu,
			struct hyptrace_ring_pages *old, struct hyptrace_ring_pages *new)
{
	s64 ret = move_all(writer, cpu, old, new);

	if (ret)
		pr_err("%s: events of CPU %u cannot be moved: %lld\n", writer->name, cpu, ret);
}

/**
 * hyptrace_writer_renew() - see struct hyptrace_remote_ops
 * @cpu:	whose ring
 * @old:	the pages that it has
 * @reader_id:	which of these is the reader's
 * @new:	the pages that it is to have
 * @priv:	the writer
 *
 * Return: as there.
 */
int hyptrace_writer_renew(unsigned int cpu, struct hyptrace_ring_pages *old, u32 reader_id,
			  struct hyptrace_ring_pages *new, void *priv)
{
	struct hyptrace_writer *writer = priv;
	int ret;

	cpus_read_lock();
	ret = call_on(writer, cpu, HYPTRACE_OP_RENEW, 0);
	cpus_read_unlock();
	if (ret)
		return ret;

	swap(old->pages[reader_id], new->pages[new->nr_pages - 1]);
	move_events(writer, cpu, old, new);

	return 0;
}
EXPORT_SYMBOL_GPL(hyptrace_writer_renew);

/**
 * hyptrace_writer_finish_resize() - see struct hyptrace_remote_ops
 * @buf:	the rings that were
 * @priv:	the writer
 *
 * Return: as there.
 */
int hyptrace_writer_finish_resize(struct hyptrace_buffer *buf, void *priv)
{
	return hyptrace_writer_take_back(priv, buf, HYPTRACE_SPARE_RING);
}
EXPORT_SYMBOL_GPL(hyptrace_writer_finish_resize);

/**
 * hyptrace_writer_enable_event() - see struct hyptrace_remote_ops
 * @id:		the event
 * @enable:	to write it or not
 * @priv:	the writer
 *
 * Return: as there.
 */
int hyptrace_writer_enable_event(u16 id, bool enable, void *priv)
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
EXPORT_SYMBOL_GPL(hyptrace_writer_enable_event);

/**
 * hyptrace_writer_selftest() - see struct hyptrace_remote_ops
 * @cpu:	on which
 * @id:		number of the first
 * @count:	how many
 * @priv:	the writer
 *
 * Context: process, sleeps. Neither a lock of the remote nor its rings are needed.
 * Return: 0; -ENXIO if the CPU is off; -ENODATA if the event is not enabled there
 * (any more); -EINTR if a signal came in between.
 */
int hyptrace_writer_selftest(unsigned int cpu, u64 id, u32 count, void *priv)
{
	struct cpu_call call = {
		.writer = priv, .op = HYPTRACE_OP_WRITE, .arg1 = id,
	};
	int ret = 0;

	while (count && !ret) {
		call.count = min(count, SELFTEST_BATCH);
		if (smp_call_function_single(cpu, do_call, &call, true))
			return -ENXIO;
		call.arg1 += call.count;
		count -= call.count;
		ret = call.ret;
		if (!ret && count && signal_pending(current))
			ret = -EINTR;
		cond_resched();
	}

	return ret;
}
EXPORT_SYMBOL_GPL(hyptrace_writer_selftest);

/**
 * hyptrace_writers_init() - what all writers have in common
 *
 * Return: 0 or a negative errno.
 */
int __init hyptrace_writers_init(void)
{
	int ret = cpuhp_setup_state_multi(CPUHP_AP_ONLINE_DYN, "hyptrace:online",
					  cpu_comes, cpu_goes);

	if (ret < 0)
		return ret;
	hotplug_state = ret;

	return 0;
}

/**
 * hyptrace_writers_exit() - mirror of hyptrace_writers_init()
 */
void hyptrace_writers_exit(void)
{
	cpuhp_remove_multi_state(hotplug_state);
}
