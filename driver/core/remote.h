/* SPDX-License-Identifier: GPL-2.0-only */
/* A remote: a source of events in ring buffers as in hyp/ring.h. Included by core and remotes. */
#ifndef __HYPTRACE_REMOTE_H
#define __HYPTRACE_REMOTE_H

#include <linux/cpumask.h>
#include <linux/mm_types.h>
#include <linux/types.h>

#include "../../hyp/abi.h"

struct hyptrace_remote;
struct netlink_ext_ack;

#define HYPTRACE_MAX_EVENT_ID	64	/* the enabled events are the bits of a u64 */

/* A field of an event's payload */
struct hyptrace_field {
	const char	*name;
	const char	*type;		/* its C type, as written in the declaration */
	u16		offset;		/* bytes from the start of the payload */
	u16		size;		/* bytes */
	bool		is_signed;	/* it has a signed integer type */
};

/* An event that a remote can write */
struct hyptrace_event {
	const char			*name;		/* unique within the remote */
	/* as in a format file of tracefs: "\"id=%llu\", REC->id" */
	const char			*print_fmt;
	const struct hyptrace_field	*fields;	/* the payload without the event id (u16) */
	unsigned int			nr_fields;
	u16				size;		/* bytes of the payload with the event id */
	u16				id;		/* unique; below HYPTRACE_MAX_EVENT_ID */
};

/* Most arguments of a hypercall that an event has */
#define HYPTRACE_MAX_HYPERCALL_ARGS	4

/* An argument of a hypercall: its C type and its name */
struct hyptrace_hypercall_arg {
	const char	*type;
	const char	*name;
};

/* A hypercall of the kernel that a remote traces */
struct hyptrace_hypercall {
	u32				id;
	const char			*name;
	/* the first one is in register 1 */
	struct hyptrace_hypercall_arg	args[HYPTRACE_MAX_HYPERCALL_ARGS];
	unsigned int			nr_args;
	bool				returns;	/* it returns a value */
	bool				raw;		/* arguments and result are not known */
};

#define HYPTRACE_COUNTER_BUCKETS	32	/* buckets of the histogram of a counter */

/* Counters of an event: one for each of some values of a field */
struct hyptrace_count_keys {
	u16		event;		/* id of the event */
	const char	*field;		/* name of the field */
	unsigned int	nr;		/* number of counters, for the values from 0 on */
	bool		has_others;	/* the last counter is for all other values */
	bool		has_time;	/* the event takes a time */
	/* only the time outside of the hypervisor after such an exit; counted with another event */
	bool		is_outside;
};

/* The values of a counter */
struct hyptrace_event_counter {
	u64	count;		/* number of events */
	u64	total;		/* sum of their times, ns */
	u64	longest;	/* the longest time, ns */
	u64	now;		/* for @is_outside: the clock when @total was read, ns */
	/* by time: bucket 0: 0 ticks; b: from 2^(b-1) to 2^b - 1; the last: all longer ones, too */
	u64	buckets[HYPTRACE_COUNTER_BUCKETS];
	u64	measured;	/* events during which the PMU has counted */
	/* what its counters have counted, in the order of the request */
	u64	pmu[HYPTRACE_PMU_COUNTERS];
};

/* What the PMU of each CPU is to count */
struct hyptrace_pmu_request {
	unsigned int	nr;	/* how many counters */
	u16		events[HYPTRACE_PMU_COUNTERS];	/* what each counts */
};

/**
 * struct hyptrace_counting - how a remote counts events
 * @keys:	the counters of each CPU, in the order of their numbers
 * @nr_keys:	number of @keys
 * @frequency:	ticks per second
 * @set_events:	count just these events, on all CPUs. Allocates the counters if necessary.
 * @reset:	set the counters of a CPU to 0. -ENXIO: not possible while the CPU is offline.
 * @read:	read a counter; of counter 0, tell the writer where the PMU counts now, too. -EIO if
 *		the writer does not finish a change.
 * @free:	free the counters; no event is counted
 * @set_pmu:	have the PMU count, from 0, in the hypervisor during counted events; NULL: end that.
 *		After an error, with the reason in @extack, it counts nothing. Optional.
 *
 * core calls all but @frequency with the control mutex held, @reset and @read only while
 * there are counters: after a successful @set_events, and before @free.
 */
struct hyptrace_counting {
	const struct hyptrace_count_keys	*keys;
	unsigned int				nr_keys;
	u64	(*frequency)(void *priv);
	int	(*set_events)(u64 events, void *priv);
	int	(*reset)(unsigned int cpu, void *priv);
	int	(*read)(unsigned int cpu, unsigned int number,
			struct hyptrace_event_counter *counter, void *priv);
	void	(*free)(void *priv);
	int	(*set_pmu)(const struct hyptrace_pmu_request *request, void *priv,
			   struct netlink_ext_ack *extack);
};

/* Returns the description of an event: see remote_event.h. */
typedef const struct hyptrace_event *(*hyptrace_event_fn)(void);

/* Memory of one CPU's ring, allocated by core */
struct hyptrace_ring_pages {
	/* data pages (sub-buffers) by id; the last one is the first reader page */
	struct page	**pages;
	struct page	*meta;		/* a zeroed struct hyptrace_meta (hyp/abi.h) */
	/* for the remote: pairs of which it donated the second page, linked by page_private() */
	struct page	*tables;
	unsigned int	nr_pages;	/* including the reader page */
	struct user_struct *user;	/* for core: who is charged; may be NULL */
};

/* The rings of a remote while it is loaded */
struct hyptrace_buffer {
	bool				discard;	/* when full, drop new events */
	/* in memory that outlives a reset: the writer seals the sub-buffers */
	bool				kept;
	/* by CPU number, nr_cpu_ids entries; zeroed for CPUs that are not possible */
	struct hyptrace_ring_pages	*ring;
};

/* Result of a swap */
struct hyptrace_swap {
	u32	id;	/* of the new reader page, in struct hyptrace_ring_pages */
	u64	lost;	/* events lost right before it */
};

/**
 * struct hyptrace_remote_ops - callbacks of a remote
 *
 * core calls them in process context. core.h says which locks it holds. @swap_reader_page, @sync
 * and @reset must not sleep for long. core calls these three only while the rings are loaded: after
 * @load_trace_buffer returns and before it calls @unload_trace_buffer. @swap_reader_page and @sync
 * may run for several CPUs at once, and in parallel with @enable_tracing and @enable_event.
 *
 * A callback must not call core, or wait for anything that does. It returns a negative
 * errno if it fails, and has then changed nothing unless its description says otherwise.
 *
 * @init:	called once, at the end of the registration. Optional.
 * @load_trace_buffer: give the pages of @buf to the writer. Tracing is off, no rings are loaded.
 *		-ENOTRECOVERABLE: the writer has kept pages, which core never frees.
 * @unload_trace_buffer: take all pages back from the writer. Tracing is off. An error means that
 *		the writer has kept pages: core never frees them. A worker calls this, perhaps
 *		without any mutex. Meanwhile core calls no other callback that uses the rings.
 * @enable_tracing: start or stop recording. After a stop returns, no CPU records events.
 * @swap_reader_page: get the next reader page. The consumer has read @consumed bytes of
 *		data of the current one. -EAGAIN if no other page has data, -ESTALE if the
 *		current page has more than @consumed.
 * @sync:	make the writer publish the CPU's struct hyptrace_meta. Optional with @look.
 * @look:	update the CPU's struct hyptrace_meta, if the writer does not. No hypercall, no
 *		sleep: the reader's lock or look_lock is held. Optional.
 * @count_read: get how many events were read since the load or the last reset. The consumer has
 *		read @consumed bytes of data of the reader page. May take long. -EAGAIN if the
 *		writer is too fast for that. For a writer that does not publish reader_entries.
 * @calls:	number of hypercalls so far, but for the clock. For debugfs, at any time. Optional.
 * @reset:	clear all events and counters of a CPU's ring, and publish its struct
 *		hyptrace_meta, whose @reader_id is the reader page from now on.
 * @prepare_resize: as @load_trace_buffer for a second buffer. Optional, with the next two.
 * @exchange_ring: move the CPU's writer from the ring @old to the ring @new, with the events that
 *		fit. Exchange each page of these events, and the reader page @reader_id, for a page
 *		of @new. The reader page becomes its last page. After an error @old is unchanged.
 * @finish_resize: take back the pages that the second buffer now has, like
 *		@unload_trace_buffer. Callbacks for the loaded rings may run in parallel.
 *		Also called if @exchange_ring was not called for all CPUs.
 * @enable_event: set whether the event is recorded while tracing. Called in any state.
 * @set_filter:	record only such events of the kind @id whose payload the filter accepts: @nr
 *		terms, see hyp/abi.h. 0 terms: record all. Called in any state; it applies until
 *		the next call for this event. The terms are valid during the call. Optional.
 * @set_trigger: set what happens when the event was recorded after its filter accepted it: enum
 *		hyptrace_trigger of hyp/abi.h. HYPTRACE_TRIGGER_NOTIFY is armed at once, the others
 *		not until @enable_tracing or @arm. Called in any state. Optional, together with
 *		@pause, @arm, @get_fired and @has_ended.
 * @pause:	let no CPU record events until @arm, while tracing. What fires in this moment is
 *		still what @get_fired gets. @arm follows even after an error.
 * @arm:	end the pause, and arm all triggers again. @enable_tracing arms them, too.
 * @get_fired:	get the event, and its CPU, that has started or stopped the recording since the
 *		last arming; -EAGAIN if none. Called while tracing, or right after. No hypercall.
 * @has_ended:	whether a trigger has ended the recording, perhaps later. Called like @get_fired.
 * @write_selftest: record @count "selftest" events on @cpu, with numbers from @id upwards.
 *		-ENODATA if the event is not enabled, or a trigger keeps it from being recorded;
 *		-ENXIO if the CPU is offline; -EINTR if a signal comes before the end.
 *		Called at any time while the remote is registered. Optional.
 * @get_page_owner: get the enum hyptrace_page_owner of a page. -EOPNOTSUPP without protection.
 *		Called at any time while the remote is registered. Optional.
 * @time_visits: have the current CPU enter EL2 @count times, with interrupts off. Return the time,
 *		ns, or an error. Called at any time while the remote is registered. Optional.
 * @set_rate:	set another rate of selftest events, per second and CPU, while tracing. Optional.
 */
struct hyptrace_remote_ops {
	int	(*init)(struct hyptrace_remote *remote, void *priv);
	int	(*load_trace_buffer)(struct hyptrace_buffer *buf, void *priv);
	int	(*unload_trace_buffer)(struct hyptrace_buffer *buf, void *priv);
	int	(*enable_tracing)(bool enable, void *priv);
	int	(*swap_reader_page)(unsigned int cpu, u32 consumed,
				    struct hyptrace_swap *swap, void *priv);
	int	(*sync)(unsigned int cpu, void *priv);
	void	(*look)(unsigned int cpu, void *priv);
	int	(*count_read)(unsigned int cpu, u32 consumed, u64 *read, void *priv);
	u64	(*calls)(void *priv);
	int	(*reset)(unsigned int cpu, void *priv);
	int	(*prepare_resize)(struct hyptrace_buffer *buf, void *priv);
	int	(*exchange_ring)(unsigned int cpu, struct hyptrace_ring_pages *old, u32 reader_id,
				 struct hyptrace_ring_pages *new, void *priv);
	int	(*finish_resize)(struct hyptrace_buffer *buf, void *priv);
	int	(*enable_event)(u16 id, bool enable, void *priv);
	int	(*set_filter)(u16 id, const struct hyptrace_term *terms, unsigned int nr,
			      void *priv);
	int	(*set_trigger)(u16 id, enum hyptrace_trigger trigger, u32 after, void *priv);
	int	(*pause)(void *priv);
	int	(*arm)(void *priv);
	int	(*get_fired)(enum hyptrace_trigger trigger, struct hyptrace_fired *fired,
			     unsigned int *cpu, void *priv);
	bool	(*has_ended)(void *priv);
	int	(*write_selftest)(unsigned int cpu, u64 id, u32 count, void *priv);
	int	(*get_page_owner)(u64 pfn, void *priv);
	s64	(*time_visits)(unsigned int count, void *priv);
	int	(*set_rate)(u32 rate, void *priv);
};

/**
 * struct hyptrace_remote_desc - description of a remote
 * @name:	unique, at most HYPTRACE_REMOTE_NAME_MAX characters of [a-z0-9_-]
 * @description: one line for the user
 * @owner:	THIS_MODULE; pinned while descriptors are attached
 * @ops:	the callbacks
 * @priv:	passed to each of @ops
 * @events:	in the order in which they are listed
 * @nr_events:	number of @events
 * @hypercalls:	hypercalls that the events name
 * @nr_hypercalls: number of @hypercalls; may be 0
 * @counting:	how it counts events; NULL if it cannot
 * @missing:	bit per id of an event that the writer cannot record
 * @incomplete:	bit per id of an event of which the writer does not record all
 * @follower:	id of the event that can have the trigger follow; 0: none
 * @max_pages:	most data pages per ring, including the reader page; 0: no limit
 * @print:	write the fields of an event into @text, ending with a zero, at a panic: no lock, no
 *		wait. @payload has the size of the event; NULL: a panic prints no events
 * @boot:	trace from the registration on, as these words say: see boot.c; may be NULL
 * @busy:	the reason if @load_trace_buffer returns -EBUSY; may be NULL
 * @protected:	the writer does not trust the host
 * @only_overwrites: a full ring cannot drop new events
 * @is_kept:	its rings may be in memory that outlives a reset: see keep.c
 *
 * The struct and everything that it points to must remain valid until the remote is unregistered.
 */
struct hyptrace_remote_desc {
	const char				*name;
	const char				*description;
	struct module				*owner;
	const struct hyptrace_remote_ops	*ops;
	void					*priv;
	const hyptrace_event_fn			*events;
	unsigned int				nr_events;
	const struct hyptrace_hypercall		*hypercalls;
	unsigned int				nr_hypercalls;
	const struct hyptrace_counting		*counting;
	u64					missing;
	u64					incomplete;
	u16					follower;
	unsigned int				max_pages;
	void	(*print)(const void *payload, char *text, size_t size);
	const char				*boot;
	const char				*busy;
	bool					protected;
	bool					only_overwrites;
	bool					is_kept;
};

struct hyptrace_remote *hyptrace_remote_register(const struct hyptrace_remote_desc *desc);
void hyptrace_remote_unregister(struct hyptrace_remote *remote);
u32 hyptrace_count_events(const struct hyptrace_ring_pages *ring, u32 id, u32 begin, u32 end);

#endif /* __HYPTRACE_REMOTE_H */
