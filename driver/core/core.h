/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What core offers to the other rooms of the driver: remotes, the rings of their CPUs,
 * and what happens to them. device/ and netlink/ include this, core itself through
 * internal.h. Modules with a remote include remote.h instead.
 *
 * core calls no function of the other rooms. They listen: see struct hyptrace_listener.
 *
 * Locks, in the order in which they are taken:
 *
 *	hyptrace_remotes_lock	the list of remotes, registering and unregistering
 *	  remote->control	state, settings, enabled events, descriptors
 *	    reader->lock	one CPU's ring: its reader's page and counts
 *	    remote->marking	for reading while selftest events are written, without
 *				the control mutex; for writing when the remote goes
 *
 *	file->lock		device: a descriptor's attaching and its piece of a read; it
 *				is held over copies to user space, and all of the
 *				above are taken within it
 *
 *	cb_lock of genetlink, held over each request, is outside of them all, and
 *	cpus_read_lock(), which callbacks of remotes take, inside.
 *
 *	the pipe's mutex is held over a splice, and outside of file->lock
 *
 *	reader->look_lock	that the ring stays what it is while a waiter looks at it,
 *				also from a timer; taken also within reader->lock
 *
 *	file->timer_lock	device: the latency, and the timer that is set by it
 *
 *	mmap_lock
 *	  reader->map_lock	that there is a ring to be mapped; taken also within
 *				reader->lock, which mmap() cannot take: remotes
 *				take other locks in it, and none but file->lock
 *				is held over a copy from or to user space
 *
 * A remote's callbacks are called with control held, but for those of giveback.c;
 * swap_reader_page() and sync() with reader->lock, reset() and renew() with both,
 * write_selftest() with marking. No callback is called once
 * hyptrace_remote_unregister() has returned.
 *
 * State of a remote (enum hyptrace_state of linux/hyptrace_netlink.h):
 *
 *	            load, attach                   start
 *	UNLOADED ------------------> LOADED ------------------> TRACING
 *	    ^                        |    ^                        |
 *	    '------------------------'    '------------------------'
 *	       unload, or by itself                 stop
 *	       once empty and unread
 *
 * start goes on from UNLOADED through LOADED, unload from TRACING likewise.
 * "By itself" is looked at after stop, clear and the last close of a descriptor.
 */
#ifndef __HYPTRACE_CORE_H
#define __HYPTRACE_CORE_H

#include <linux/completion.h>
#include <linux/hyptrace.h>
#include <linux/hyptrace_netlink.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/rwsem.h>
#include <linux/workqueue.h>

#include "remote.h"

/* Names, as in the specification of the netlink family. */
#define HYPTRACE_NAME_MAX		HYPTRACE_REMOTE_NAME_MAX

/* Of the sub-buffers of a ring, one is the reader's. */
#define HYPTRACE_READER_SUBBUFS		1

/* A loss on a CPU is announced once in this time, and no more often. */
#define HYPTRACE_LOSS_PERIOD_MS		100

/**
 * struct hyptrace_reader - the reading end of one CPU's ring
 * @remote:	whose
 * @cpu:	which CPU
 *
 * @map_lock:	see above. Protects @mappings and @resizing
 * @mappings:	of the ring into user space
 * @resizing:	no new ones
 * @ring:	the pages; NULL while unloaded. Changes with @lock and @map_lock held.
 * @user_meta:	the meta page of the user's mapping, likewise
 *
 * @look_lock:	for changing @ring, or what it points to, also with @lock held; for
 *		looking at these without @lock. Protects @renewing.
 * @renewing:	the pages that @ring points to change: no look
 *
 * @lock:	protects from here on. @id and @consumed may be read without it.
 * @id:		the reader's page, an index in @ring
 * @consumed:	bytes of data of that page that were delivered
 * @page_events: events of that page that were delivered
 * @time:	time stamp of the last record that was delivered
 * @lost:	events missing right before the page, not yet delivered with it
 * @swap_lost:	the same, as it was at the swap
 * @next_lost:	events missing right after the page, as far as a resize has told
 * @there:	bytes that were there when the present read began, and were not delivered
 * @read:	events delivered since the load or the last clear
 * @loss_told:	events lost, of those since then, that were notified or are in
 *		@loss_carry
 * @loss_carry:	events lost before the last unload or clear and not notified
 *
 * @consumer:	process that is attached, 0 if none. Protected by the control
 *		mutex.
 */
struct hyptrace_reader {
	struct hyptrace_remote			*remote;
	unsigned int				cpu;

	struct mutex				map_lock;
	unsigned int				mappings;
	bool					resizing;
	const struct hyptrace_ring_pages	*ring;
	struct hyptrace_map_meta		*user_meta;

	spinlock_t				look_lock;
	bool					renewing;

	struct mutex				lock;
	u32					id;
	u32					consumed;
	u32					page_events;
	u64					time;
	u64					lost;
	u64					swap_lost;
	u64					next_lost;
	u64					there;
	u64					read;
	u64					loss_told;
	u64					loss_carry;

	pid_t					consumer;
};

/**
 * struct hyptrace_watermark - how much there is to be read before it is told of
 * @percent:	of the sub-buffers of a ring hold data
 * @bytes:	of data; not together with @percent. Both 0: any event.
 */
struct hyptrace_watermark {
	u32	percent;
	u64	bytes;
};

/**
 * struct hyptrace_counts - what is known of a CPU's ring
 * @written:	events that happened while enabled, lost ones included
 * @read:	events delivered to a consumer
 * @overrun:	events overwritten before they were read
 * @dropped:	events dropped because the ring was full
 * @unread:	the rest
 * @nr_subbufs:	sub-buffers, the reader's included; 0 while unloaded
 * @state:	what the CPU does
 */
struct hyptrace_counts {
	u64			written;
	u64			read;
	u64			overrun;
	u64			dropped;
	u64			unread;
	unsigned int		nr_subbufs;
	enum hyptrace_cpu_state	state;
};

/**
 * struct hyptrace_giveback - rings that the writer is giving back
 * @work:	does it, without the control mutex
 * @done:	complete when it does not run
 * @buf:	the rings, which are the work's
 * @op:		the remote's callback
 * @err:	what that answered
 */
struct hyptrace_giveback {
	struct work_struct	work;
	struct completion	done;
	struct hyptrace_buffer	buf;
	int			(*op)(struct hyptrace_buffer *buf, void *priv);
	int			err;
};

/**
 * struct hyptrace_remote - a registered remote
 * @refs:	held by the list, by descriptors and by requests in flight
 * @name:	a copy: it is needed when the registering module has gone
 * @serial:	grows with each registration; dumps resume by it
 * @nr_events:	how many
 * @events:	in the order of the registration
 * @readers:	by CPU number; NULL where no such CPU is possible
 * @loss_work:	sends the notifications of losses
 * @debugfs:	its folder
 *
 * @marking:	see above
 *
 * @node:	in the list of remotes. Protected by hyptrace_remotes_lock.
 *
 * @control:	protects from here on. @state may be read without it.
 * @desc:	as registered; NULL once unregistered
 * @state:	see above
 * @broken:	the writer has kept pages: it cannot be loaded again. Written by
 *		@giveback, too, while that runs.
 * @giveback:	rings on their way back from the writer
 * @size_asked:	bytes per CPU of the next load, or of the present one
 * @mode:	likewise
 * @rate:	selftest events per second that the remote was asked for
 * @enabled:	bits of the ids of enabled events
 * @buf:	the rings, while loaded
 * @nr_pages:	data pages per CPU, the reader's included: the fewest of all CPUs after a
 *		resize that failed half way; 0 while unloaded
 * @nr_attached: how many are attached
 * @attached:	those: struct hyptrace_attachment
 */
struct hyptrace_remote {
	struct kref				refs;
	char					name[HYPTRACE_NAME_MAX + 1];
	unsigned long				serial;
	unsigned int				nr_events;
	const struct hyptrace_event		**events;
	struct hyptrace_reader			**readers;
	struct delayed_work			loss_work;
	struct dentry				*debugfs;
	struct rw_semaphore			marking;

	struct list_head			node;

	struct mutex				control;
	const struct hyptrace_remote_desc	*desc;
	enum hyptrace_state			state;
	bool					broken;
	struct hyptrace_giveback		giveback;
	u64					size_asked;
	enum hyptrace_mode			mode;
	u32					rate;
	u64					enabled;
	struct hyptrace_buffer			buf;
	unsigned int				nr_pages;
	unsigned int				nr_attached;
	struct list_head			attached;
};

/**
 * struct hyptrace_attachment - somebody who reads rings of a remote: a consumer, or an
 * observer, which takes nothing off a ring
 * @remote:	which remote; set once. Who does not hold the lock of its owner reads it by
 *		hyptrace_attachment_remote().
 * @cpu:	whose ring, or HYPTRACE_CPU_ALL. This and @snapshot are set before @remote,
 *		and stay.
 * @snapshot:	an observer
 * @node:	in the list of the remote. Protected by the control mutex.
 */
struct hyptrace_attachment {
	struct hyptrace_remote	*remote;
	int			cpu;
	bool			snapshot;
	struct list_head	node;
};

/**
 * struct hyptrace_listener - what core announces. Each function may be NULL.
 * @remote_changed:	a remote was registered, or its state or settings have changed
 * @remote_gone:	a remote is being unregistered
 * @event_changed:	an event was enabled or disabled
 * @consumer_changed:	the process @pid began or ceased to consume the ring of @cpu, or of
 *			all CPUs: HYPTRACE_CPU_ALL
 * @wants_losses:	whether @lost is of use at present
 * @lost:		events were lost on @cpu: @count since it was announced last, @total
 *			since the load or the last clear
 * @look_again:		what an attachment waits for may have happened
 *
 * Context: the control mutex of the remote is held, but for @wants_losses and @lost.
 */
struct hyptrace_listener {
	void (*remote_changed)(const struct hyptrace_remote *remote);
	void (*remote_gone)(const struct hyptrace_remote *remote);
	void (*event_changed)(const struct hyptrace_remote *remote,
			      const struct hyptrace_event *event);
	void (*consumer_changed)(const struct hyptrace_remote *remote, int cpu,
				 enum hyptrace_reader_change change, pid_t pid);
	bool (*wants_losses)(void);
	void (*lost)(const struct hyptrace_remote *remote, unsigned int cpu,
		     u64 count, u64 total);
	void (*look_again)(struct hyptrace_attachment *attachment);
};

/* announce.c: while no remote is registered */
void hyptrace_listener_add(const struct hyptrace_listener *listener);
void hyptrace_listener_remove(const struct hyptrace_listener *listener);

/* remote.c */
extern struct workqueue_struct *hyptrace_wq;
extern struct mutex hyptrace_remotes_lock;
int hyptrace_core_init(void);
void hyptrace_core_exit(void);
struct hyptrace_remote *hyptrace_remote_get(const char *name);
struct hyptrace_remote *hyptrace_remote_from(unsigned long serial);
void hyptrace_remote_put(struct hyptrace_remote *remote);
void hyptrace_remote_names(char *names, size_t size);
void hyptrace_remotes_watch(void);
bool hyptrace_remote_is_tracing(const struct hyptrace_remote *remote);
struct hyptrace_reader *hyptrace_remote_reader(const struct hyptrace_remote *remote,
					       unsigned int cpu);

/* state.c: the control mutex held */
int hyptrace_remote_load(struct hyptrace_remote *remote, u64 size,
			 enum hyptrace_mode mode, struct netlink_ext_ack *extack);
int hyptrace_remote_unload(struct hyptrace_remote *remote,
			   struct netlink_ext_ack *extack);
int hyptrace_remote_start(struct hyptrace_remote *remote,
			  struct netlink_ext_ack *extack);
int hyptrace_remote_stop(struct hyptrace_remote *remote,
			 struct netlink_ext_ack *extack);
int hyptrace_remote_clear(struct hyptrace_remote *remote, int cpu,
			  struct netlink_ext_ack *extack);
int hyptrace_remote_reset(struct hyptrace_remote *remote,
			  struct netlink_ext_ack *extack);
int hyptrace_remote_set_rate(struct hyptrace_remote *remote, u32 rate,
			     struct netlink_ext_ack *extack);
void hyptrace_remote_set_mode(struct hyptrace_remote *remote, enum hyptrace_mode mode);
int hyptrace_remote_check_size(const struct hyptrace_remote *remote, u64 size,
			       struct netlink_ext_ack *extack);

/* resize.c: the control mutex held */
int hyptrace_remote_resize(struct hyptrace_remote *remote, u64 size,
			   struct netlink_ext_ack *extack);

/* attach.c: the control mutex not held */
int hyptrace_remote_attach(struct hyptrace_remote *remote,
			   struct hyptrace_attachment *attachment, int cpu);
void hyptrace_remote_detach(struct hyptrace_attachment *attachment);
struct hyptrace_remote *
hyptrace_attachment_remote(const struct hyptrace_attachment *attachment);

/* event.c */
const struct hyptrace_event *hyptrace_event_find(const struct hyptrace_remote *remote,
						 const char *name);
int hyptrace_events_set(struct hyptrace_remote *remote, u64 mask, bool enable,
			struct netlink_ext_ack *extack);

/**
 * struct hyptrace_symbol - a value and its name in a print format
 * @value:	the value
 * @name:	the name, not terminated
 * @length:	its characters
 */
struct hyptrace_symbol {
	u64		value;
	const char	*name;
	size_t		length;
};

const char *hyptrace_symbols_of(const char *print_fmt, const char *field);
const char *hyptrace_symbol_next(const char *at, struct hyptrace_symbol *symbol);

/* reader.c */
struct hyptrace_subbuf;

int hyptrace_reader_take(struct hyptrace_reader *reader,
			 struct hyptrace_subbuf *to, u64 *lost);
int hyptrace_reader_advance(struct hyptrace_reader *reader);
int hyptrace_reader_begin(struct hyptrace_reader *reader, u64 *there, u64 *capacity);
int hyptrace_reader_counts(struct hyptrace_reader *reader,
			   struct hyptrace_counts *counts);

/* look.c */
bool hyptrace_reader_has_data(struct hyptrace_reader *reader,
			      const struct hyptrace_watermark *mark);

/* user_meta.c: @map_lock of the reader held */
struct page *hyptrace_reader_user_page(const struct hyptrace_reader *reader,
				       unsigned long index);
unsigned long hyptrace_reader_nr_user_pages(const struct hyptrace_reader *reader);

#endif /* __HYPTRACE_CORE_H */
