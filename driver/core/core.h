/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface of core: remotes, their rings, and changes of both. Included by device/, netlink/
 * and internal.h. A module that registers a remote includes remote.h instead.
 *
 * core calls no function of the other directories. They register a struct hyptrace_listener.
 *
 * Locks, outermost first:
 *
 *	remote->change		held during each change of the state, the settings, the events or
 *				the attachments, however long it takes
 *	hyptrace_remotes_lock	the list of remotes, and their registration
 *	  remote->control	state, settings, enabled events, attachments and their holds
 *	    reader->lock	one CPU's ring: its reader page and counts
 *	    remote->marking	read: held instead of control while selftest events are
 *				written; write: taken when the remote is unregistered
 *
 *	file->lock		device: the attachment of a descriptor, and the sub-buffer
 *				that read() delivers. Held during copies to user space.
 *				All locks above are taken inside it.
 *
 *	reader->look_lock	lets a waiter, also in a timer, look at the ring without
 *				reader->lock; also taken inside reader->lock
 *
 *	file->timer_lock	device: the latency, and the timer that it sets
 *
 *	sockets_lock		socket.c: its list, and the socket of each hold; also taken inside
 *				remote->control, as dump_lock (dump.c: a mutex) and unused_lock
 *				(keep.c) are
 *
 *	mmap_lock
 *	  reader->map_lock	the mappings of a ring, and its pages for mmap(); also taken
 *				inside reader->lock
 *
 * mmap() cannot take reader->lock, because remotes take other locks inside it. Only file->lock is
 * held during a copy from or to user space.
 *
 * A request that only reads takes control alone. So a change releases control while it allocates
 * and frees memory, and while the writer takes rings or releases them: see release.c, resize.c and
 * state.c. "Control mutex held" includes the change mutex for functions that change any of this.
 *
 * Locks of the kernel: genetlink holds cb_lock during each dump, outside all of these but change.
 * Who waits for change may wait long, so no one does that in generic netlink: see
 * netlink/request.c. splice() holds the mutex of the pipe outside file->lock.
 * Callbacks of remotes take cpus_read_lock() inside remote->control and reader->lock.
 *
 * Locks during callbacks of a remote:
 *
 *	swap_reader_page, sync, count_read: reader->lock
 *	look			reader->lock or reader->look_lock: it must not sleep
 *	reset, exchange_ring	remote->control and reader->lock
 *	write_selftest		remote->marking
 *	calls			none
 *	load_trace_buffer, prepare_resize: remote->change
 *	unload_trace_buffer, finish_resize
 *				none, or remote->change
 *	all others		remote->control
 *
 * No callback runs after hyptrace_remote_unregister() has returned.
 *
 * State of a remote (enum hyptrace_state of linux/hyptrace_netlink.h):
 *
 *	            load, attach                start, hold
 *	UNLOADED ------------------> LOADED ------------------> TRACING
 *	    ^                        |    ^                        |
 *	    '------------------------'    '------------------------'
 *	       unload, or when unused        stop, or when no hold is
 *	                                     left and none sent start
 *
 * start of an UNLOADED remote passes through LOADED, and so does unload of a TRACING one.
 * After stop, clear and close of a descriptor, the driver unloads rings that are unused: no
 * descriptor is attached, and the rings are empty or only attaching has loaded them. A user without
 * CAP_SYS_ADMIN does not unload in this way what another one has loaded or started.
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
#include <linux/sched.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>

#include "remote.h"

/* One sub-buffer of each ring is the reader page. */
#define HYPTRACE_READER_SUBBUFS		1

/* Losses of a CPU are announced at most once per period. */
#define HYPTRACE_LOSS_PERIOD_MS		100

/**
 * struct hyptrace_reader - the driver's read side of one CPU's ring
 * @remote:	the remote that writes the ring
 * @cpu:	the CPU
 *
 * @map_lock:	protects @mappings and @resizing
 * @mappings:	number of user mappings of the ring
 * @resizing:	no new mappings are allowed
 * @ring:	the pages; NULL while unloaded. Changes with @lock, @map_lock and @look_lock held.
 * @user_meta:	the meta page of the user mappings. Changes with @lock and @map_lock held.
 *
 * @look_lock:	held, with @lock, to change @ring or what it points to. Waiters read these
 *		with @look_lock alone. Also protects @is_exchanging.
 * @is_exchanging: a resize exchanges the pages of @ring: waiters must not look at them
 *
 * @lock:	protects all that follows. @id and @consumed may be read without it.
 * @id:		the reader page, an index in @ring
 * @consumed:	bytes of data of the reader page that were delivered
 * @page_events: events of the reader page that were delivered
 * @time:	time stamp of the last record that was delivered
 * @lost:	events lost right before the reader page, and not yet reported with its data
 * @swap_lost:	events lost right before the reader page, as the swap reported them
 * @next_lost:	events lost right after the reader page, by a resize; otherwise 0
 * @read_left:	bytes that the current read may still deliver, of those present at its begin
 * @read:	events delivered since the load or the last clear
 * @counts_later: @read lacks some: see reader.c:count_read()
 * @reported:	lost events reported with them
 * @clears:	how often the ring was cleared
 * @loss_counted: events lost since the load or the last clear that were added to @loss_pending
 * @loss_pending: lost events that were not announced yet, also of before an unload or a clear
 * @dump:	describes the ring: see dump.c
 *
 * @consumer:	process that is attached, or 0. Protected by the control mutex.
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
	bool					is_exchanging;

	struct mutex				lock;
	u32					id;
	u32					consumed;
	u32					page_events;
	u64					time;
	u64					lost;
	u64					swap_lost;
	u64					next_lost;
	u64					read_left;
	u64					read;
	bool					counts_later;
	u64					reported;
	u64					clears;
	u64					loss_counted;
	u64					loss_pending;
	struct hyptrace_dump_list		*dump;

	pid_t					consumer;
};

/* How much data wakes a waiter */
struct hyptrace_watermark {
	u32	percent;	/* percentage of the sub-buffers of a ring that hold data */
	u64	bytes;	/* bytes of data; 0 unless @percent is 0. If both are 0, any event wakes. */
};

/* Counts of events, and state, of a CPU's ring */
struct hyptrace_counts {
	u64			written;	/* while enabled, including lost ones */
	u64			read;		/* delivered to a consumer */
	u64			overrun;	/* overwritten before they were read */
	u64			dropped;	/* dropped because the ring was full */
	u64			filtered;	/* while enabled, but their filter rejected them */
	/* have fired a HYPTRACE_TRIGGER_NOTIFY since load */
	u64			notified;
	u64			clears;		/* how often the ring was cleared */
	u64			unread;		/* @written - @read - @overrun - @dropped */
	u64			unreported;	/* lost, and not yet reported to a consumer */
	unsigned int		nr_subbufs;	/* including the reader page; 0 while unloaded */
	unsigned int		used_subbufs;	/* with data that was not delivered to a consumer */
	enum hyptrace_cpu_state	state;		/* attached, detached or parked */
};

/* What a consumer or the requests of the netlink family want on */
struct hyptrace_wants {
	u64	events;	/* bit per id of an event */
	bool	tracing;
};

/* A term of a filter, as a request has it */
struct hyptrace_term_request {
	const struct nlattr	*attr;	/* the attribute, for errors */
	const char		*field;	/* name of the field */
	u64			value;	/* the value, as in struct hyptrace_term */
	u8			op;	/* enum hyptrace_filter_op */
	/* what follows, as in struct hyptrace_term; not checked */
	u8			on_true;
	u8			on_false;	/* the same */
};

/* A filter, as a request has it */
struct hyptrace_filter_request {
	const char			*text;	/* the filter in the words of the user */
	unsigned int			nr_terms;	/* number of @terms, at least 1 */
	struct hyptrace_term_request	terms[HYPTRACE_FILTER_TERMS_MAX];
};

/* A request to enable or disable events */
struct hyptrace_event_request {
	u64					events;		/* bit per id of an event */
	bool					enable;		/* else disable, without options */
	const struct hyptrace_filter_request	*filter;	/* what to record; NULL: all */
	enum hyptrace_trigger			trigger;	/* when one of them was recorded */
	u32					after;		/* of a stop: so many sub-buffers */
};

/* The filter of an event */
struct hyptrace_filter {
	unsigned int		nr_terms;
	struct hyptrace_term	terms[HYPTRACE_FILTER_MAX_TERMS];
	char			text[];	/* the filter in the words of the user */
};

/* How a request has enabled an event; all 0 if neither a request nor a socket's hold has */
struct hyptrace_event_options {
	struct hyptrace_filter	*filter;	/* may be NULL */
	enum hyptrace_trigger	trigger;	/* what happens when it was recorded */
	u32			after;		/* with a stop: after so many sub-buffers */
};

/* The event that has started or stopped the recording */
struct hyptrace_firing {
	const struct hyptrace_event	*event;	/* the event; NULL if there is none so far */
	unsigned int			cpu;	/* which CPU has recorded it */
	u64				time;	/* its time, ns */
};

/* Rings that the writer releases */
struct hyptrace_release {
	struct work_struct	work;	/* calls @op, without the control mutex */
	struct completion	done;	/* complete while @work does not run */
	struct hyptrace_buffer	buf;	/* the rings; @work owns them */
	/* the callback of the remote */
	int			(*op)(struct hyptrace_buffer *buf, void *priv);
	int			err;	/* return value of @op */
};

/**
 * struct hyptrace_remote - a registered remote
 * @refs:	held by the list, by attachments and by requests in progress
 * @name:	a copy: messages need it after the registering module is removed
 * @serial:	grows with each registration; dumps resume by it
 * @nr_events:	number of @events
 * @events:	in the order of the registration
 * @readers:	by CPU number; NULL where no such CPU is possible
 * @loss_work:	announces losses
 * @trigger_work: notices that a trigger has fired
 * @debugfs:	its directory
 * @dump_rings:	names the rings: see dump.c
 *
 * @marking:	see above
 *
 * @node:	in the list of remotes. Protected by hyptrace_remotes_lock.
 *
 * @change:	see above
 * @control:	protects all that follows. @state may be read without it.
 * @desc:	as registered; NULL after it was unregistered
 * @state:	see above
 * @broken:	cannot be loaded again: the writer has kept pages. Also set while @release runs.
 * @release:	rings that the writer releases
 * @size_requested:	requested bytes per CPU, of the current or the next load
 * @mode:	what a full ring does, in the current or the next load
 * @rate:	requested selftest events per second and CPU
 * @enabled:	bit per id of an enabled event
 * @requested:	what event-set and start have switched on, and no request has switched off
 * @options:	by event id
 * @fired:	by enum hyptrace_trigger: what has fired since the triggers were armed
 * @ended:	the recording has ended that an event stops
 * @notified:	events that have fired a HYPTRACE_TRIGGER_NOTIFY since the load, as last announced
 * @counted:	bit per id of a counted event
 * @count_requested: bit per id of an event that count-set has switched on, and not off
 * @has_counters: the remote has counters, perhaps of events that are no longer counted
 * @has_pmu:	the PMU counts for the socket of a hold
 * @keeps_counters: count-set has requested some of them: they stay until a reset
 * @count_breaks: by event id: how often its counters were reset or switched off by a request
 * @holds:	list of struct hyptrace_socket_hold
 * @holds_work:	ends the holds of closed sockets: see event_hold.c
 * @owner:	the user who has loaded or started it; INVALID_UID while unloaded
 * @loaded_by_attach: only attaching has loaded the rings: neither load nor start was sent
 * @buf:	the rings, while loaded. load sets it with @change alone, before @state is LOADED
 * @nr_pages:	data pages per CPU with reader page, the smallest after a failed resize; 0: unloaded
 * @nr_attached: number of entries in @attached
 * @attached:	list of struct hyptrace_attachment
 */
struct hyptrace_remote {
	struct kref				refs;
	char					name[HYPTRACE_REMOTE_NAME_MAX + 1];
	unsigned long				serial;
	unsigned int				nr_events;
	const struct hyptrace_event		**events;
	struct hyptrace_reader			**readers;
	struct delayed_work			loss_work;
	struct delayed_work			trigger_work;
	struct dentry				*debugfs;
	struct hyptrace_dump_list		*dump_rings;
	struct rw_semaphore			marking;

	struct list_head			node;

	struct mutex				change;
	struct mutex				control;
	const struct hyptrace_remote_desc	*desc;
	enum hyptrace_state			state;
	bool					broken;
	struct hyptrace_release			release;
	u64					size_requested;
	enum hyptrace_mode			mode;
	u32					rate;
	u64					enabled;
	struct hyptrace_wants			requested;
	struct hyptrace_event_options		options[HYPTRACE_MAX_EVENT_ID];
	struct hyptrace_firing			fired[HYPTRACE_NR_TRIGGERS];
	bool					ended;
	u64					notified;
	u64					counted;
	u64					count_requested;
	bool					has_counters;
	bool					has_pmu;
	bool					keeps_counters;
	u32					count_breaks[HYPTRACE_MAX_EVENT_ID];
	struct list_head			holds;
	struct work_struct			holds_work;
	kuid_t					owner;
	bool					loaded_by_attach;
	struct hyptrace_buffer			buf;
	unsigned int				nr_pages;
	unsigned int				nr_attached;
	struct list_head			attached;
};

/**
 * struct hyptrace_attachment - a consumer of rings, or an observer, which consumes nothing
 * @remote:	the remote, which exists as long as this; set once, NULL before the attach. Without
 *		the lock of its owner, read it by hyptrace_file_remote().
 * @cpu:	or HYPTRACE_CPU_ALL. @cpu to @comm are set before @remote, and never change after it
 * @snapshot:	true for an observer
 * @pid:	the process that has attached it
 * @comm:	its name
 * @wake:	wakes the waiters, to look again. Called with the control mutex held.
 *
 * Protected by the control mutex:
 * @node:	in the list of the remote
 * @held:	what the consumer holds: see hold.c
 */
struct hyptrace_attachment {
	struct hyptrace_remote	*remote;
	int			cpu;
	bool			snapshot;
	pid_t			pid;
	char			comm[TASK_COMM_LEN];
	void			(*wake)(struct hyptrace_attachment *attachment);
	struct list_head	node;
	struct hyptrace_wants	held;
};

/**
 * struct hyptrace_listener - callbacks for changes of remotes
 * @remote_changed:	a remote was registered, or its state or settings changed
 * @remote_removed:	a remote is being unregistered
 * @event_changed:	an event was enabled or disabled, or its options or counting have changed
 * @trigger_fired:	an event has started or stopped the recording, the recording has ended some
 *			sub-buffers later, or events have fired a HYPTRACE_TRIGGER_NOTIFY
 * @consumer_changed:	the process @pid started or stopped consuming the ring of @cpu, or
 *			all rings (HYPTRACE_CPU_ALL)
 * @wants_losses:	return whether the listener currently needs @lost
 * @lost:		@cpu lost events: @count since the last time, @total since the load or clear
 * Context: the control mutex of the remote is held, except for @wants_losses and @lost.
 */
struct hyptrace_listener {
	void (*remote_changed)(const struct hyptrace_remote *remote);
	void (*remote_removed)(const struct hyptrace_remote *remote);
	void (*event_changed)(const struct hyptrace_remote *remote,
			      const struct hyptrace_event *event);
	void (*trigger_fired)(const struct hyptrace_remote *remote,
			      enum hyptrace_trigger trigger);
	void (*consumer_changed)(const struct hyptrace_remote *remote, int cpu,
				 enum hyptrace_reader_change change, pid_t pid);
	bool (*wants_losses)(void);
	void (*lost)(const struct hyptrace_remote *remote, unsigned int cpu,
		     u64 count, u64 total);
};

/* announce.c: netlink/ sets it, while no remote is registered */
extern const struct hyptrace_listener *hyptrace_listener;

/* register.c */
int hyptrace_core_init(void);
void hyptrace_core_exit(void);

/* remote.c */
extern struct workqueue_struct *hyptrace_wq;
extern struct mutex hyptrace_remotes_lock;
struct hyptrace_remote *hyptrace_remote_get(const char *name);
int hyptrace_remote_begin_change(struct hyptrace_remote *remote);
void hyptrace_remote_end_change(struct hyptrace_remote *remote);
struct hyptrace_remote *hyptrace_remote_find_from(unsigned long serial);
void hyptrace_remote_put(struct hyptrace_remote *remote);
void hyptrace_remote_names(char *names, size_t size);
size_t hyptrace_longest_print_fmt(void);
bool hyptrace_remote_is_tracing(const struct hyptrace_remote *remote);
struct hyptrace_reader *hyptrace_remote_reader(const struct hyptrace_remote *remote,
					       unsigned int cpu);

/* losses.c */
void hyptrace_remotes_watch_losses(void);
void hyptrace_remotes_forget_losses(void);

/* state.c: both mutexes held */
int hyptrace_remote_load(struct hyptrace_remote *remote, u64 size,
			 enum hyptrace_mode mode, struct netlink_ext_ack *extack);
int hyptrace_remote_unload(struct hyptrace_remote *remote, struct netlink_ext_ack *extack);
bool hyptrace_remote_is_own(const struct hyptrace_remote *remote);
int hyptrace_remote_start(struct hyptrace_remote *remote, struct netlink_ext_ack *extack);
int hyptrace_remote_stop(struct hyptrace_remote *remote, struct netlink_ext_ack *extack);
int hyptrace_remote_clear(struct hyptrace_remote *remote, int cpu,
			  struct netlink_ext_ack *extack);
int hyptrace_remote_reset(struct hyptrace_remote *remote, struct netlink_ext_ack *extack);
int hyptrace_remote_set_rate(struct hyptrace_remote *remote, u32 rate,
			     struct netlink_ext_ack *extack);
void hyptrace_remote_set_mode(struct hyptrace_remote *remote, enum hyptrace_mode mode);
int hyptrace_remote_check_mode(const struct hyptrace_remote *remote, enum hyptrace_mode mode,
			       struct netlink_ext_ack *extack);
int hyptrace_remote_check_size(const struct hyptrace_remote *remote, u64 size,
			       struct netlink_ext_ack *extack);

/* resize.c: both mutexes held */
int hyptrace_remote_resize(struct hyptrace_remote *remote, u64 size,
			   struct netlink_ext_ack *extack);

/* attach.c: the control mutex not held */
int hyptrace_remote_attach(struct hyptrace_remote *remote,
			   struct hyptrace_attachment *attachment, int cpu);
void hyptrace_remote_detach(struct hyptrace_attachment *attachment);

/* hold.c: the control mutex not held */
int hyptrace_remote_hold(struct hyptrace_remote *remote, struct hyptrace_attachment *attachment,
			 const struct hyptrace_wants *held);

/* event.c */
const struct hyptrace_event *hyptrace_event_find(const struct hyptrace_remote *remote,
						 const char *name);

/* A value and its name in a print format */
struct hyptrace_symbol {
	u64		value;
	const char	*name;	/* the name, without a terminating NUL */
	size_t		length;	/* number of characters in @name */
};

const char *hyptrace_symbols_of(const char *print_fmt, const char *field);
const char *hyptrace_symbol_next(const char *at, struct hyptrace_symbol *symbol);

/* event_set.c: both mutexes held */
int hyptrace_events_set(struct hyptrace_remote *remote,
			const struct hyptrace_event_request *request,
			struct netlink_ext_ack *extack);

/* trigger.c: the control mutex held */
bool hyptrace_triggers_armed(const struct hyptrace_remote *remote);
void hyptrace_triggers_look(struct hyptrace_remote *remote);

/* Which counter it is */
struct hyptrace_counter_name {
	const struct hyptrace_event		*event;
	const struct hyptrace_count_keys	*keys;
	/* value of the field @keys->field, unless @is_others */
	u64					value;
	/* for all values that have no counter of their own */
	bool					is_others;
};

/* count.c: the control mutex held */
bool hyptrace_event_can_be_counted(const struct hyptrace_remote *remote,
				   const struct hyptrace_event *event);
int hyptrace_counters_set(struct hyptrace_remote *remote, u64 mask, bool count,
			  struct netlink_ext_ack *extack);
int hyptrace_counters_reset(struct hyptrace_remote *remote, int cpu,
			    struct netlink_ext_ack *extack);
unsigned int hyptrace_count_nr(const struct hyptrace_remote *remote);
void hyptrace_count_name(const struct hyptrace_remote *remote, unsigned int number,
			 struct hyptrace_counter_name *name);

/* reader.c */
struct hyptrace_subbuf;

int hyptrace_reader_take(struct hyptrace_reader *reader,
			 struct hyptrace_subbuf *to, u64 *lost);
int hyptrace_reader_advance(struct hyptrace_reader *reader);
int hyptrace_reader_begin_read(struct hyptrace_reader *reader, u64 *present, u64 *capacity);
int hyptrace_reader_counts(struct hyptrace_reader *reader,
			   struct hyptrace_counts *counts);

/* look.c */
bool hyptrace_reader_has_data(struct hyptrace_reader *reader,
			      const struct hyptrace_watermark *watermark);

/* user_meta.c: @map_lock of the reader, or its lock, held */
struct page *hyptrace_reader_user_page(const struct hyptrace_reader *reader,
				       unsigned long index);
unsigned long hyptrace_reader_nr_user_pages(const struct hyptrace_reader *reader);

#endif /* __HYPTRACE_CORE_H */
