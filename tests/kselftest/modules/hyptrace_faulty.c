// SPDX-License-Identifier: GPL-2.0-only
/*
 * The remote "faulty", which has no writer, for the tests named *_faults and test_boot.c,
 * test_busy.c, test_count_hold.c, test_panic.c, test_query.c and test_signals.c. Module parameters
 * make its callbacks fail. The remotes "faulty2" to "faulty5" have no filters, triggers and
 * counters; they make dumps longer. "faulty3" cannot discard events, "faulty4" has hypercalls.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/panic_notifier.h>
#include <linux/sched/signal.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>

#include "hyp_events.h"

static int prepare_error;
module_param(prepare_error, int, 0600);
MODULE_PARM_DESC(prepare_error, "the error that prepare_resize() returns; it then keeps no page");

static int exchange_error_cpu = -1;
module_param(exchange_error_cpu, int, 0600);
MODULE_PARM_DESC(exchange_error_cpu, "the CPU for which exchange_ring() returns -EIO");

static int event_error_id;
module_param(event_error_id, int, 0600);
MODULE_PARM_DESC(event_error_id, "the event whose enable_event() returns -EIO");

static int get_state(char *text, const struct kernel_param *param);
static const struct kernel_param_ops state_ops = { .get = get_state };
module_param_cb(state, &state_ops, NULL, 0400);
MODULE_PARM_DESC(state, "ID ENABLED TERMS VALUE TRIGGER AFTER of each event with any: what the callbacks have set; VALUE is of the first term of its filter");

static int filter_error_id;
module_param(filter_error_id, int, 0600);
MODULE_PARM_DESC(filter_error_id, "the event whose set_filter() returns -EIO");

static int get_filter(char *text, const struct kernel_param *param);
static const struct kernel_param_ops filter_ops = { .get = get_filter };
module_param_cb(filter, &filter_ops, NULL, 0400);
MODULE_PARM_DESC(filter, "the terms of the last filter of set_filter(): WIDTH OPERATOR VALUE ON_TRUE ON_FALSE, -WIDTH for a signed field");

static char *trace;
module_param(trace, charp, 0400);
MODULE_PARM_DESC(trace, "the trace that starts at once");

static unsigned long missing;
module_param(missing, ulong, 0400);
MODULE_PARM_DESC(missing, "bit per id of an event that the remote does not have");

static int trigger_error_id;
module_param(trigger_error_id, int, 0600);
MODULE_PARM_DESC(trigger_error_id, "the event whose set_trigger() returns -EIO");

static int pause_fires_id;
module_param(pause_fires_id, int, 0600);
MODULE_PARM_DESC(pause_fires_id, "the event that stops the recording during each pause()");

static int fired_id;
module_param(fired_id, int, 0600);
MODULE_PARM_DESC(fired_id, "the event that has stopped the recording since the last arm()");

static int arm_error;
module_param(arm_error, int, 0600);
MODULE_PARM_DESC(arm_error, "the error that arm() returns");

static unsigned int arms;
module_param(arms, uint, 0400);
MODULE_PARM_DESC(arms, "how often arm() was called after pause()");

static bool goes_on;
module_param(goes_on, bool, 0600);
MODULE_PARM_DESC(goes_on, "the recording has not ended that fired_id stops");

static unsigned int looks;
module_param(looks, uint, 0400);
MODULE_PARM_DESC(looks, "how often get_fired() was called");

static int count_error;
module_param(count_error, int, 0600);
MODULE_PARM_DESC(count_error, "the error that set_events() of the counters returns");

static int count_reset_error;
module_param(count_reset_error, int, 0600);
MODULE_PARM_DESC(count_reset_error, "the error that reset() of the counters of CPU 1 returns");

static int count_read_error;
module_param(count_read_error, int, 0600);
MODULE_PARM_DESC(count_read_error, "the error that read() of the counters of CPU 1 returns");

static int pmu_error;
module_param(pmu_error, int, 0600);
MODULE_PARM_DESC(pmu_error, "the error that set_pmu() returns");

static unsigned int has_counters;
module_param(has_counters, uint, 0400);
MODULE_PARM_DESC(has_counters, "1 if set_events() of the counters was called, and free() was not");

static unsigned int pmu_counters;
module_param(pmu_counters, uint, 0400);
MODULE_PARM_DESC(pmu_counters, "how many counters of the PMU set_pmu() has set");

static int call_panic(const char *value, const struct kernel_param *param);
module_param_call(panic, call_panic, NULL, NULL, 0200);
MODULE_PARM_DESC(panic, "a write calls what hyptrace does if the kernel panics");

static int set_pages(const char *value, const struct kernel_param *param);
module_param_call(pages, set_pages, NULL, NULL, 0200);
MODULE_PARM_DESC(pages, "COMMIT,HEADER,EVENT[,NR]: write sub-buffers with one record into the first NR (1) pages of the ring of CPU 0");

static int unfinished;
module_param(unfinished, int, 0600);
MODULE_PARM_DESC(unfinished, "the writer is recording an event, if set before the rings are loaded");

static int owner_error;
module_param(owner_error, int, 0600);
MODULE_PARM_DESC(owner_error, "the error that get_page_owner() returns for pages from 1000 on");

static int visit_error;
module_param(visit_error, int, 0600);
MODULE_PARM_DESC(visit_error, "the error that time_visits() returns");

static int tracing_error;
module_param(tracing_error, int, 0600);
MODULE_PARM_DESC(tracing_error, "the error that enable_tracing() returns");

static int swap_id = -1;
module_param(swap_id, int, 0600);
MODULE_PARM_DESC(swap_id, "the reader page that swap_reader_page() gives, if set before the rings are loaded");

static unsigned int stall;
module_param(stall, uint, 0600);
MODULE_PARM_DESC(stall, "which callbacks wait while their bit is set, or until the process is killed: 1: load, resize and mark, 2: exchange_ring(), 4: sync(), 8: release of rings, 16: the end of the module");

static bool stalls;
module_param(stalls, bool, 0400);
MODULE_PARM_DESC(stalls, "one of them waits");

static unsigned int families;
static int add_family(const char *value, const struct kernel_param *param);
module_param_call(family, add_family, param_get_uint, &families, 0600);
MODULE_PARM_DESC(family, "a write registers a generic netlink family; how often this was done");

static int set_unregistered(const char *value, const struct kernel_param *param);
module_param_call(unregister, set_unregistered, NULL, NULL, 0200);
MODULE_PARM_DESC(unregister, "a write of any value unregisters the remote \"faulty\"");

#define NR_REMOTES	24U
static unsigned int nr_remotes = 5;
module_param_named(remotes, nr_remotes, uint, 0400);
MODULE_PARM_DESC(remotes, "how many remotes there are, at most 24: more make dumps longer");

static char names[NR_REMOTES][sizeof("faulty99")] = { "faulty" };
static struct hyptrace_remote_desc descs[NR_REMOTES];
static struct hyptrace_remote *remotes[NR_REMOTES];

static struct hyptrace_meta *meta_of(const struct hyptrace_ring_pages *ring)
{
	return page_address(ring->meta);
}

/* A worker is not killed. */
static int wait_while_stalled(unsigned int which)
{
	if (!(READ_ONCE(stall) & which))
		return 0;
	WRITE_ONCE(stalls, true);
	while ((READ_ONCE(stall) & which) && !fatal_signal_pending(current))
		usleep_range(1000, 2000);
	WRITE_ONCE(stalls, false);
	return fatal_signal_pending(current) ? -EINTR : 0;
}

static struct hyptrace_ring_pages *ring_of_cpu_0;

static int load(struct hyptrace_buffer *buf, void *priv)
{
	unsigned int cpu;

	if (wait_while_stalled(1))
		return -EINTR;
	ring_of_cpu_0 = &buf->ring[0];
	meta_of(ring_of_cpu_0)->unfinished = unfinished;
	for_each_possible_cpu(cpu) {
		meta_of(&buf->ring[cpu])->state = HYPTRACE_RING_DETACHED;
		meta_of(&buf->ring[cpu])->reader_id = buf->ring[cpu].nr_pages - 1;
		meta_of(&buf->ring[cpu])->nr_unread = swap_id >= 0;
		meta_of(&buf->ring[cpu])->reader_entries = UINT_MAX;	/* not plausible */
		meta_of(&buf->ring[cpu])->unread = swap_id >= 0 ? HYPTRACE_SUBBUF_DATA_SIZE : 0;
	}
	return 0;
}

static int release_rings(struct hyptrace_buffer *buf, void *priv)
{
	ring_of_cpu_0 = NULL;
	return wait_while_stalled(8);
}

static int write_selftest(unsigned int cpu, u64 id, u32 count, void *priv)
{
	return wait_while_stalled(1);
}

static int enable_tracing(bool enable, void *priv)
{
	return tracing_error;
}

static int swap_reader_page(unsigned int cpu, u32 consumed, struct hyptrace_swap *swap,
			    void *priv)
{
	if (swap_id < 0)
		return -EAGAIN;
	*swap = (struct hyptrace_swap) { .id = swap_id };
	return 0;
}

static int on_cpu(unsigned int cpu, void *priv)
{
	return 0;
}

static int sync(unsigned int cpu, void *priv)
{
	return wait_while_stalled(4);
}

static int prepare_resize(struct hyptrace_buffer *buf, void *priv)
{
	return prepare_error ?: load(buf, priv);
}

static int exchange_ring(unsigned int cpu, struct hyptrace_ring_pages *old, u32 reader_id,
			 struct hyptrace_ring_pages *new, void *priv)
{
	if (cpu == exchange_error_cpu || wait_while_stalled(2))
		return -EIO;
	swap(old->pages[reader_id], new->pages[new->nr_pages - 1]);
	return 0;
}

/* What the callbacks have set, by event id */
static struct { u32 enabled, nr_terms, trigger, after; u64 value; } of_event[HYPTRACE_MAX_EVENT_ID];

static int get_state(char *text, const struct kernel_param *param)
{
	int length = 0, id;

	for (id = 0; id < ARRAY_SIZE(of_event); id++)
		if (of_event[id].enabled || of_event[id].nr_terms || of_event[id].trigger)
			length += sysfs_emit_at(text, length, "%s%d %u %u %llu %u %u",
						length ? ", " : "", id, of_event[id].enabled,
						of_event[id].nr_terms, of_event[id].value,
						of_event[id].trigger, of_event[id].after);
	return length;
}

static int enable_event(u16 id, bool enable, void *priv)
{
	if (id == event_error_id)
		return -EIO;
	of_event[id].enabled = enable;
	return 0;
}

static struct hyptrace_term last_terms[HYPTRACE_FILTER_MAX_TERMS];
static unsigned int nr_last_terms;

static int get_filter(char *text, const struct kernel_param *param)
{
	const struct hyptrace_term *term;
	int length = 0;

	for (term = last_terms; term < last_terms + nr_last_terms; term++)
		length += sysfs_emit_at(text, length, "%s%d %d %lld %d %d", length ? ", " : "",
					term->is_signed ? -term->width : term->width, term->op,
					term->value, term->on_true, term->on_false);
	return length;
}

static int set_filter(u16 id, const struct hyptrace_term *terms, unsigned int nr, void *priv)
{
	if (id == filter_error_id)
		return -EIO;
	of_event[id].nr_terms = nr;
	of_event[id].value = nr ? terms[0].value : 0;
	if (nr) {
		nr_last_terms = nr;
		memcpy(last_terms, terms, nr * sizeof(*terms));
	}
	return 0;
}

static bool paused;

static int set_trigger(u16 id, enum hyptrace_trigger trigger, u32 after, void *priv)
{
	if (id == trigger_error_id)
		return -EIO;
	of_event[id].trigger = trigger;
	of_event[id].after = after;
	return 0;
}

static int pause(void *priv)
{
	paused = true;
	if (pause_fires_id)
		fired_id = pause_fires_id;
	return 0;
}

static int arm(void *priv)
{
	arms += paused;
	paused = false;
	fired_id = 0;
	return arm_error;
}

static int get_fired(enum hyptrace_trigger trigger, struct hyptrace_fired *fired,
		     unsigned int *cpu, void *priv)
{
	looks++;
	if (trigger != HYPTRACE_TRIGGER_STOP || !fired_id)
		return -EAGAIN;
	fired->event = fired_id;
	*cpu = 0;
	return 0;
}

static bool has_ended(void *priv)
{
	return !goes_on;
}

/* One of each kind */
static const struct hyptrace_count_keys count_keys[] = {
	{ HYPTRACE_EVENT_hyp_enter, "reason", 3, .has_time = true },
	{ HYPTRACE_EVENT_host_hcall, "id", 2, .has_others = true, .has_time = true },
	{ HYPTRACE_EVENT_guest_exit, "ec", 1, .has_time = true },
	{ HYPTRACE_EVENT_mem_transition, "op", 2 },
	{ HYPTRACE_EVENT_hyp_exit, "reason", 2, .has_time = true, .is_outside = true },
};

#define FIRST_OUTSIDE	8	/* number of the first counter of hyp_exit */

static struct cpumask reset_cpus;
static u64 counted;

static u64 count_frequency(void *priv)
{
	return 1000000;
}

static int count_set_events(u64 events, void *priv)
{
	if (count_error)
		return count_error;
	if (!has_counters)
		cpumask_clear(&reset_cpus);
	has_counters = 1;
	counted = events;
	return 0;
}

static int count_reset(unsigned int cpu, void *priv)
{
	WARN_ON_ONCE(!has_counters);
	if (count_reset_error && cpu == 1)
		return count_reset_error;
	cpumask_set_cpu(cpu, &reset_cpus);
	return 0;
}

/* Numbers that a test can compute; those of a CPU that was reset are 0. */
static int count_read(unsigned int cpu, unsigned int number, struct hyptrace_event_counter *counter,
		      void *priv)
{
	const u64 value = cpumask_test_cpu(cpu, &reset_cpus) ? 0 : 100 * cpu + number + 1;

	WARN_ON_ONCE(!has_counters);
	if (count_read_error && cpu == 1)
		return count_read_error;
	*counter = (struct hyptrace_event_counter) { .total = 1000 * value, .longest = 10 * value };
	if (number >= FIRST_OUTSIDE) {
		counter->now = 2000 * value;
		return 0;
	}
	counter->count = value;
	counter->buckets[10] = value;
	if (pmu_counters) {
		counter->measured = value;
		counter->pmu[pmu_counters - 1] = 3 * value;
	}
	return 0;
}

static void count_free(void *priv)
{
	WARN_ON_ONCE(!has_counters || counted || pmu_counters);
	has_counters = 0;
}

static int count_set_pmu(const struct hyptrace_pmu_request *request, void *priv,
			 struct netlink_ext_ack *extack)
{
	WARN_ON_ONCE(!has_counters);
	pmu_counters = 0;
	if (!request)
		return 0;
	if (pmu_error) {
		NL_SET_ERR_MSG(extack, "the PMU is faulty");
		return pmu_error;
	}
	pmu_counters = request->nr;
	return 0;
}

static const struct hyptrace_counting counting = {
	.keys		= count_keys,
	.nr_keys	= ARRAY_SIZE(count_keys),
	.frequency	= count_frequency,
	.set_events	= count_set_events,
	.reset		= count_reset,
	.read		= count_read,
	.free		= count_free,
	.set_pmu	= count_set_pmu,
};

static int get_page_owner(u64 pfn, void *priv)
{
	return owner_error && pfn >= 1000 ? owner_error : pfn % 3;
}

static s64 time_visits(unsigned int count, void *priv)
{
	return visit_error ?: (s64)1000 * count;
}

static u64 calls(void *priv)
{
	return 12345;
}

static const struct hyptrace_hypercall hypercalls[] = {
	{ .id = 7, .name = "seven" },
	{ .id = 8, .name = "eight", .args = { { "u64", "pfn" }, { "struct kvm *", "kvm" } },
	  .nr_args = 2, .returns = true },
	{ .id = 9, .name = "nine", .raw = true },
};

#define OPS_WITHOUT_FILTERS				\
	.load_trace_buffer	= load,			\
	.unload_trace_buffer	= release_rings,	\
	.enable_tracing		= enable_tracing,	\
	.swap_reader_page	= swap_reader_page,	\
	.sync			= sync,			\
	.reset			= on_cpu,		\
	.prepare_resize		= prepare_resize,	\
	.exchange_ring		= exchange_ring,	\
	.finish_resize		= release_rings,	\
	.enable_event		= enable_event

static const struct hyptrace_remote_ops ops = {
	OPS_WITHOUT_FILTERS,
	.set_filter		= set_filter,
	.set_trigger		= set_trigger,
	.pause			= pause,
	.arm			= arm,
	.get_fired		= get_fired,
	.write_selftest		= write_selftest,
	.has_ended		= has_ended,
	.get_page_owner		= get_page_owner,
	.time_visits		= time_visits,
	.calls			= calls,
};

/* For the other remotes */
static const struct hyptrace_remote_ops other_ops = {
	OPS_WITHOUT_FILTERS,
};

/* The lock of the parameters makes one call at a time. */
static int set_unregistered(const char *value, const struct kernel_param *param)
{
	if (!remotes[0])
		return -ENODEV;
	hyptrace_remote_unregister(remotes[0]);
	remotes[0] = NULL;
	return 0;
}

static struct genl_family test_family = { .name = "hyptrace_faulty", .module = THIS_MODULE };

static void family_work(struct work_struct *work)
{
	if (!genl_register_family(&test_family) && !genl_unregister_family(&test_family))
		families++;
}

static DECLARE_WORK(work, family_work);

static int add_family(const char *value, const struct kernel_param *param)
{
	schedule_work(&work);
	return 0;
}

static int call_panic(const char *value, const struct kernel_param *param)
{
	struct notifier_block *block = rcu_access_pointer(panic_notifier_list.head);
	char name[KSYM_SYMBOL_LEN];

	for (; block; block = rcu_access_pointer(block->next)) {
		sprint_symbol(name, (unsigned long)block->notifier_call);
		/* others stop the machine */
		if (strstr(name, "[hyptrace]"))
			block->notifier_call(block, 0, NULL);
	}
	return 0;
}

static int set_pages(const char *value, const struct kernel_param *param)
{
	struct { u32 header; u16 event, unused[3]; u64 id; } __packed record = { .id = 7 };
	struct hyptrace_subbuf *subbuf;
	unsigned int i, nr = 1;
	u64 commit, now = ktime_get_boot_fast_ns();

	if (!ring_of_cpu_0)
		return -ENODEV;
	if (sscanf(value, "%llx,%x,%hu,%u", &commit, &record.header, &record.event, &nr) < 3 ||
	    nr > ring_of_cpu_0->nr_pages)
		return -EINVAL;
	for (i = 0; i < nr; i++) {
		subbuf = page_address(ring_of_cpu_0->pages[i]);
		subbuf->time_stamp = now - i;
		subbuf->commit = commit;
		memcpy(subbuf->data, &record, sizeof(record));
	}
	return 0;
}

static void faulty_exit(void)
{
	unsigned int i;

	flush_work(&work);
	wait_while_stalled(16);
	for (i = 0; i < min(nr_remotes, NR_REMOTES); i++) {
		if (!IS_ERR_OR_NULL(remotes[i]))
			hyptrace_remote_unregister(remotes[i]);
	}
}
module_exit(faulty_exit);

static int __init faulty_init(void)
{
	unsigned int i;

	for (i = 0; i < min(nr_remotes, NR_REMOTES); i++) {
		if (i)
			snprintf(names[i], sizeof(names[i]), "faulty%u", i + 1);
		descs[i] = (struct hyptrace_remote_desc) {
			.name		= names[i],
			.description	= "for tests: fails as the module parameters say",
			.owner		= THIS_MODULE,
			.ops		= i ? &other_ops : &ops,
			.events		= hyp_events,
			.nr_events	= ARRAY_SIZE(hyp_events),
			.counting	= i ? NULL : &counting,
			.hypercalls	= i && i != 3 ? NULL : hypercalls,
			.nr_hypercalls	= i && i != 3 ? 0 : ARRAY_SIZE(hypercalls),
			.print		= i ? NULL : hyptrace_print_event,
			.boot		= i ? NULL : trace,
			.missing	= i ? 0 : missing,
			.only_overwrites = i == 2,
		};
		remotes[i] = hyptrace_remote_register(&descs[i]);
		if (IS_ERR(remotes[i])) {
			faulty_exit();
			return PTR_ERR(remotes[i]);
		}
	}
	return 0;
}
module_init(faulty_init);

MODULE_DESCRIPTION("for tests: a remote that fails");
MODULE_LICENSE("GPL");
