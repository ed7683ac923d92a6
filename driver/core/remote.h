/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A remote: anything that fills ring buffers in the format of hyp/ring.h.
 * Included by the modules that register one and by the driver's core.
 */
#ifndef __HYPTRACE_REMOTE_H
#define __HYPTRACE_REMOTE_H

#include <linux/cpumask.h>
#include <linux/mm_types.h>
#include <linux/types.h>

struct hyptrace_remote;

/* Ids fit the u16 that starts each payload; enabled ones are bits of a u64. */
#define HYPTRACE_MAX_EVENT_ID	64

/**
 * struct hyptrace_field - a field of an event's payload
 * @name:	its name
 * @type:	its C type, as written in the declaration
 * @offset:	bytes from the start of the payload
 * @size:	bytes
 * @is_signed:	of a signed integer type
 */
struct hyptrace_field {
	const char	*name;
	const char	*type;
	u16		offset;
	u16		size;
	bool		is_signed;
};

/**
 * struct hyptrace_event - an event that a remote can write
 * @name:	unique within the remote
 * @print_fmt:	in the syntax of a tracefs format file: "\"id=%llu\", REC->id"
 * @fields:	the payload without the u16 event id it starts with
 * @nr_fields:	how many
 * @size:	bytes of the payload, the event id included
 * @id:		unique within the remote, below HYPTRACE_MAX_EVENT_ID and not 0
 */
struct hyptrace_event {
	const char			*name;
	const char			*print_fmt;
	const struct hyptrace_field	*fields;
	unsigned int			nr_fields;
	u16				size;
	u16				id;
};

/* How an event comes into the list of a remote: see remote_event.h. */
typedef const struct hyptrace_event *(*hyptrace_event_fn)(void);

/**
 * struct hyptrace_ring_pages - memory of one CPU's ring, allocated by the core
 * @pages:	the data pages (sub-buffers), index = id of the sub-buffer. The
 *		page with the last index is the reader's first spare.
 * @meta:	a zeroed page for struct hyptrace_meta (hyp/abi.h)
 * @tables:	for the remote: pages by which the writer was told of these, chained by
 *		their private
 * @nr_pages:	how many in @pages, the reader's spare included
 */
struct hyptrace_ring_pages {
	struct page	**pages;
	struct page	*meta;
	struct page	*tables;
	unsigned int	nr_pages;
};

/**
 * struct hyptrace_buffer - the rings of a remote while it is loaded
 * @cpus:	CPUs that have a ring
 * @discard:	drop new events when full, instead of overwriting the oldest
 * @ring:	by CPU number, nr_cpu_ids of them; zeroed where not in @cpus
 */
struct hyptrace_buffer {
	cpumask_var_t			cpus;
	bool				discard;
	struct hyptrace_ring_pages	*ring;
};

/**
 * struct hyptrace_swap - what a swap gave the reader
 * @id:		index of the reader's new page in struct hyptrace_ring_pages
 * @lost:	events missing right before it
 */
struct hyptrace_swap {
	u32	id;
	u64	lost;
};

/**
 * struct hyptrace_remote_ops - what a remote can do
 *
 * All are called in process context, with the remote's control mutex held, but
 * for @write_selftest, which is called at any time while the remote is registered,
 * and @swap_reader_page and @sync, which are called with the mutex of that CPU's
 * reader held and must not sleep for long; @reset is called with both. Those
 * three are called only while loaded: not before @load_trace_buffer has returned
 * nor once @unload_trace_buffer is called. They may run for several CPUs at once,
 * and at the same time as @enable_tracing and @enable_event. None of them may
 * call the core, or wait for something that does. Errors are negative errnos and
 * mean that nothing has changed.
 *
 * @init:	once, at the end of the registration. Optional.
 * @load_trace_buffer: take the pages of @buf for the writer. The core calls it
 *		with tracing off and not loaded. -ENOTRECOVERABLE is the error that
 *		means that the writer has kept pages: see the next.
 * @unload_trace_buffer: give all pages back. Tracing is off. An error means that
 *		the writer has kept some: the core then never frees them. A worker calls
 *		it, and may do so without the control mutex, but then no other callback
 *		that has to do with the rings.
 * @enable_tracing: write enabled events, or cease to; every CPU has ceased when
 *		it returns.
 * @swap_reader_page: the reader has consumed that many bytes of its page (of the
 *		data, without the header of 16 bytes) and wants the next. -EAGAIN
 *		when there is nothing more, -ESTALE when the present page has
 *		grown since.
 * @sync:	have the writer publish the CPU's struct hyptrace_meta.
 * @calls:	how often the writer was called so far, but to keep its clock in step: for
 *		debugfs. Optional; at any time, without a lock.
 * @reset:	throw away all events and counters of a CPU's ring. The reader's
 *		page stays with the reader and is empty then.
 * @prepare_resize: take the pages of a second buffer as well: as @load_trace_buffer.
 *		Optional, with the next two: -EOPNOTSUPP.
 * @renew:	have the CPU's writer go on in the ring @new, with all events of the
 *		ring @old that fit: pages that have events, and the page @reader_id of the
 *		reader, change places with such of @new. That page is the last of @new
 *		then. Called as @reset; an error means that @old is what it was.
 * @finish_resize: give the pages of that second buffer, what it now consists of, back:
 *		as @unload_trace_buffer. Also when @renew was not called for all CPUs.
 * @enable_event: set whether the event is written while tracing. At any time.
 * @write_selftest: have @count events "selftest" written on @cpu, numbered
 *		upwards from @id. -ENODATA where it is not enabled. Optional:
 *		-EOPNOTSUPP.
 * @set_rate:	write that many selftest events per second and CPU while tracing.
 *		Optional.
 */
struct hyptrace_remote_ops {
	int	(*init)(struct hyptrace_remote *remote, void *priv);
	int	(*load_trace_buffer)(struct hyptrace_buffer *buf, void *priv);
	int	(*unload_trace_buffer)(struct hyptrace_buffer *buf, void *priv);
	int	(*enable_tracing)(bool enable, void *priv);
	int	(*swap_reader_page)(unsigned int cpu, u32 consumed,
				    struct hyptrace_swap *swap, void *priv);
	int	(*sync)(unsigned int cpu, void *priv);
	u64	(*calls)(void *priv);
	int	(*reset)(unsigned int cpu, void *priv);
	int	(*prepare_resize)(struct hyptrace_buffer *buf, void *priv);
	int	(*renew)(unsigned int cpu, struct hyptrace_ring_pages *old, u32 reader_id,
			 struct hyptrace_ring_pages *new, void *priv);
	int	(*finish_resize)(struct hyptrace_buffer *buf, void *priv);
	int	(*enable_event)(u16 id, bool enable, void *priv);
	int	(*write_selftest)(unsigned int cpu, u64 id, u32 count, void *priv);
	int	(*set_rate)(u32 rate, void *priv);
};

/**
 * struct hyptrace_remote_desc - what a module registers
 * @name:	unique, at most HYPTRACE_REMOTE_NAME_MAX characters of [a-z0-9_-]
 * @description: one line for people
 * @owner:	THIS_MODULE; pinned while the remote is in use
 * @ops:	see there
 * @priv:	handed to each of @ops
 * @events:	in the order in which they are listed
 * @nr_events:	how many
 * @max_pages:	data pages that a ring can have, the reader's included; 0: any
 * @protected:	the writer does not trust the host
 *
 * The struct and all it points to must stay until the remote is unregistered.
 */
struct hyptrace_remote_desc {
	const char				*name;
	const char				*description;
	struct module				*owner;
	const struct hyptrace_remote_ops	*ops;
	void					*priv;
	const hyptrace_event_fn			*events;
	unsigned int				nr_events;
	unsigned int				max_pages;
	bool					protected;
};

struct hyptrace_remote *hyptrace_remote_register(const struct hyptrace_remote_desc *desc);
void hyptrace_remote_unregister(struct hyptrace_remote *remote);

#endif /* __HYPTRACE_REMOTE_H */
