/* SPDX-License-Identifier: GPL-2.0-only */
/* The EL1 side of a writer that implements hyp/abi.h. Included by such remotes, and by main.c. */
#ifndef __HYPTRACE_WRITER_H
#define __HYPTRACE_WRITER_H

#include <linux/atomic.h>
#include <linux/cpuhotplug.h>
#include <linux/list.h>
#include <linux/notifier.h>
#include <linux/workqueue.h>

#include "../core/remote.h"

/* The filter of an event */
struct hyptrace_writer_filter {
	unsigned int		nr_terms;	/* number of @terms; 0 without a filter */
	struct hyptrace_term	terms[HYPTRACE_FILTER_MAX_TERMS];
};

/* A writer */
struct hyptrace_writer {
	/* The caller of hyptrace_writer_init() sets: */
	const char		*name;			/* for messages */
	/* the hypercall. The caller runs on the CPU that the op requires: see hyp/abi.h */
	s64			(*call)(u64 op, u64 arg1, u64 arg2, u64 arg3);
	/* make a page accessible to the writer before an op names it; optional */
	int			(*map)(struct page *page);
	u64			(*counter)(void);	/* read the counter of the writer's clock */
	u64			frequency;		/* its nominal frequency, Hz */
	/* the writer parks the ring of a CPU that goes offline, without a call */
	bool			parks_offline_cpus;

	/* hyptrace_writer_init() sets: */
	u64			missing;	/* HYPTRACE_INFO_MISSING of hyp/abi.h */
	u64			incomplete;	/* HYPTRACE_INFO_INCOMPLETE */

	/* Protected by cpus_read_lock() and the remote's control mutex, or by cpus_write_lock(): */
	u64			events;		/* bit per enabled event */
	struct hyptrace_writer_filter filters[HYPTRACE_MAX_EVENT_ID];	/* by event id */
	/* bit per event that has a filter, or had one: a ring may still have it */
	u64			had_filter;
	bool			tracing;	/* CPUs are attached */
	u64			arm;		/* number of the last ARM */
	u64			counted;	/* bit per counted event */

	/* Changed with the remote's change mutex held, or by unload_trace_buffer: */
	struct hyptrace_buffer	*buf;	/* the rings, while loaded */

	/* by CPU number; NULL while there are none. Protected by the remote's control mutex. */
	struct hyptrace_counter_pages	*counters;
	/* Protected as @events: */
	struct hyptrace_pmu_request	pmu;		/* what the PMU counts for it */
	/* by CPU number; NULL while @pmu has none */
	struct hyptrace_pmu_counters	*pmu_counters;

	/* Used by the clock's work; others use these only while it does not run: */
	struct delayed_work	clock_work;	/* sets the clock periodically */
	struct notifier_block	clock_pm;	/* runs @clock_work after a suspend */
	u64			cycles;		/* counter when the clock was set last */
	u64			boot_ns;	/* CLOCK_BOOTTIME then */

	struct hlist_node	hotplug;	/* in the list for CPU hotplug */
	atomic64_t		calls;		/* hypercalls so far, without those of the clock */
};

/**
 * hyptrace_writer_call() - call a writer and count the call
 * @writer:	the writer. The caller runs on the CPU that @op requires.
 * @op:		enum hyptrace_op
 * @arg1:	first argument of the op
 * @arg2:	second
 * @arg3:	third
 * Return: as the op.
 */
static inline s64 hyptrace_writer_call(struct hyptrace_writer *writer, u64 op, u64 arg1,
				       u64 arg2, u64 arg3)
{
	atomic64_inc(&writer->calls);
	return writer->call(op, arg1, arg2, arg3);
}

extern const struct hyptrace_remote_ops hyptrace_writer_ops;
int hyptrace_writer_init(struct hyptrace_writer *writer, s64 event_list_hash);
void hyptrace_writer_exit(struct hyptrace_writer *writer);

/* For main.c */
int hyptrace_writers_init(void);
void hyptrace_writers_exit(void);

/* writer_call.c */
s64 hyptrace_writer_call_on(struct hyptrace_writer *writer, unsigned int cpu, u64 op, u64 arg2);

/* writer_filter.c */
int hyptrace_writer_send_filters(struct hyptrace_writer *writer, const struct cpumask *cpus);

/* The files writer_*.c: callbacks of struct hyptrace_remote_ops */
int hyptrace_writer_load(struct hyptrace_buffer *buf, void *priv);
int hyptrace_writer_unload(struct hyptrace_buffer *buf, void *priv);
int hyptrace_writer_prepare_resize(struct hyptrace_buffer *buf, void *priv);
int hyptrace_writer_finish_resize(struct hyptrace_buffer *buf, void *priv);
int hyptrace_writer_write_selftest(unsigned int cpu, u64 id, u32 count, void *priv);
int hyptrace_writer_set_filter(u16 id, const struct hyptrace_term *terms, unsigned int nr,
			       void *priv);
int hyptrace_writer_set_trigger(u16 id, enum hyptrace_trigger trigger, u32 after, void *priv);
int hyptrace_writer_get_fired(enum hyptrace_trigger trigger, struct hyptrace_fired *fired,
			      unsigned int *cpu, void *priv);
bool hyptrace_writer_has_ended(void *priv);

/* writer_count.c */
extern const struct hyptrace_counting hyptrace_writer_counting;
void hyptrace_writer_count_online(struct hyptrace_writer *writer);
void hyptrace_writer_count_offline(struct hyptrace_writer *writer);
s64 hyptrace_writer_recover_counters(struct hyptrace_writer *writer);

/* writer_pmu.c */
int hyptrace_writer_set_pmu(const struct hyptrace_pmu_request *request, void *priv,
			    struct netlink_ext_ack *extack);
void hyptrace_writer_pmu_follow(struct hyptrace_writer *writer, unsigned int cpu);
bool hyptrace_writer_pmu_is_stale(const struct hyptrace_writer *writer, unsigned int cpu);
void hyptrace_writer_pmu_online(struct hyptrace_writer *writer);
void hyptrace_writer_pmu_offline(struct hyptrace_writer *writer);

/* writer_load.c */
struct page *hyptrace_writer_alloc_pair(struct hyptrace_writer *writer);
void hyptrace_writer_free_pair(struct page *pair);

/* writer_recover.c */
int hyptrace_writer_recover(struct hyptrace_writer *writer);

/* writer_clock.c */
void hyptrace_clock_init(struct hyptrace_writer *writer);
void hyptrace_clock_start(struct hyptrace_writer *writer);
void hyptrace_clock_stop(struct hyptrace_writer *writer);

#endif /* __HYPTRACE_WRITER_H */
