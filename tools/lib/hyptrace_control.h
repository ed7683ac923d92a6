/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Control hyptrace remotes: what they are, change them, count at the writer, and hear of changes.
 * Part of hyptrace.h, which includes it and says what holds for all its functions.
 */
#ifndef HYPTRACE_CONTROL_H
#define HYPTRACE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/hyptrace.h>
#include <linux/hyptrace_netlink.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library hides all other functions. */
#pragma GCC visibility push(default)

#define HYPTRACE_DEVICE		"/dev/hyptrace"

/* For hyptrace_mark(): the CPU on which the caller runs */
#define HYPTRACE_CPU_CURRENT	(-2)

/* Size of an error's text in bytes, its NUL included */
#define HYPTRACE_ERROR_TEXT	384

/**
 * struct hyptrace_error - why something failed
 * @errnum:	a positive errno
 * @text:	the reason, from the kernel if it gave one: lower case and without a
 *		full stop, to follow "cannot do this: "
 * @subject:	the name in the request that caused the error; empty if none did
 */
struct hyptrace_error {
	int	errnum;
	char	text[HYPTRACE_ERROR_TEXT];
	char	subject[HYPTRACE_EVENT_NAME_MAX + 1];
};

/* error.c: what was probably meant, and who reads a ring */
const char *hyptrace_nearest(const char *word, const char *best, const char *name);

/* Bytes of "process 4194304 (hyptrace)" at most, its NUL included */
#define HYPTRACE_PROCESS_NAME_SIZE	64

const char *hyptrace_process_name(uint32_t pid, char name[HYPTRACE_PROCESS_NAME_SIZE]);

/* netlink.c: the connection to the driver */
struct hyptrace;

struct hyptrace *hyptrace_open(struct hyptrace_error *err);
void hyptrace_close(struct hyptrace *h);

/* tracefs.c: the kernel's own tracer in place of the driver */
struct hyptrace *hyptrace_open_tracefs(const char *path, const char *names,
				       struct hyptrace_error *err);

/* dump.c: a dump of a machine's memory in place of the driver */
typedef void (*hyptrace_note_fn)(void *arg, const char *text);

bool hyptrace_is_dump(const char *path);
struct hyptrace *hyptrace_open_dump(const char *path, const char *remote, hyptrace_note_fn note,
				    void *arg, struct hyptrace_error *err);

/* query.c and describe.c: remotes, CPUs, events and hypercalls */

/**
 * struct hyptrace_firing - an event that has started or stopped the recording
 * @action:	enum hyptrace_trigger_action of linux/hyptrace_netlink.h
 * @event:	name of the event
 * @cpu:	the CPU that has recorded it
 * @time:	its time in nanoseconds
 */
struct hyptrace_firing {
	uint32_t	action;
	char		event[HYPTRACE_EVENT_NAME_MAX + 1];
	uint32_t	cpu;
	uint64_t	time;
};

/* A start and a stop */
#define HYPTRACE_FIRED_MAX	2

/**
 * struct hyptrace_remote - a remote; see remote-get in hyptrace.yaml
 * @name:	its name
 * @description: one line of text
 * @clock:	clock of the time stamps; "boot" is CLOCK_BOOTTIME
 * @state:	enum hyptrace_state
 * @mode:	enum hyptrace_mode
 * @size_requested:	requested bytes per CPU
 * @size_allocated:	allocated bytes per CPU, without the reader's sub-buffer
 * @subbuf_size: bytes of a sub-buffer
 * @nr_subbufs:	sub-buffers per CPU, the reader's included
 * @nr_cpus:	CPUs that have a ring while the remote is loaded
 * @nr_events:	number of its events
 * @readers:	attached descriptors
 * @is_protected: the writer does not trust the host
 * @is_armed:	a trigger can start or stop the recording
 * @fired:	the events that have started and stopped the recording since triggers were armed
 * @nr_fired:	number of @fired
 * @notified:	events that have fired the trigger notify since the rings were loaded; only in a
 *		notification of that
 * @has_ended:	the recording has ended that the last of @fired stops, maybe some sub-buffers later
 */
struct hyptrace_remote {
	char		name[HYPTRACE_REMOTE_NAME_MAX + 1];
	char		*description;
	char		*clock;
	uint32_t	state;
	uint32_t	mode;
	uint64_t	size_requested;
	uint64_t	size_allocated;
	uint32_t	subbuf_size;
	uint32_t	nr_subbufs;
	uint32_t	nr_cpus;
	uint32_t	nr_events;
	uint32_t	readers;
	bool		is_protected;
	bool		is_armed;
	struct hyptrace_firing fired[HYPTRACE_FIRED_MAX];
	unsigned int	nr_fired;
	uint64_t	notified;
	bool		has_ended;
};

/**
 * struct hyptrace_cpu - a CPU's ring; see cpu-get in hyptrace.yaml
 * @remote:	the remote's name
 * @id:		the CPU's number
 * @state:	enum hyptrace_cpu_state
 * @nr_subbufs:	sub-buffers, the reader's included
 * @online:	the CPU is online
 * @written:	events that occurred while enabled, lost ones included
 * @read:	events that a consumer has read
 * @overrun:	events overwritten before they were read
 * @dropped:	events dropped because the ring was full
 * @unread:	events that can still be read
 * @consumer:	process id of the consumer, 0 if there is none
 * @unreported:	lost events that no read has reported yet
 * @used_subbufs: sub-buffers that hold data that no consumer has read
 * @filtered:	events that occurred while enabled, but that their filter did not accept; they are
 *		not in @written
 * @notified:	events that have fired the trigger notify since the rings were loaded
 * @clears:	how often the ring was cleared; the counters then begin again
 */
struct hyptrace_cpu {
	char		remote[HYPTRACE_REMOTE_NAME_MAX + 1];
	uint32_t	id;
	uint32_t	state;
	uint32_t	nr_subbufs;
	bool		online;
	uint64_t	written;
	uint64_t	read;
	uint64_t	overrun;
	uint64_t	dropped;
	uint64_t	unread;
	uint32_t	consumer;
	uint64_t	unreported;
	uint32_t	used_subbufs;
	uint64_t	filtered;
	uint64_t	notified;
	uint64_t	clears;
};

/**
 * struct hyptrace_symbol - the name of one value of a field
 * @value:	the value
 * @name:	its name
 */
struct hyptrace_symbol {
	uint64_t	value;
	char		*name;
};

/**
 * struct hyptrace_field - a field of an event's payload
 * @name:	its name
 * @type:	its C type
 * @offset:	bytes from the start of the payload
 * @size:	bytes
 * @is_signed:	its values are signed
 * @symbols:	names of its values
 * @nr_symbols:	number of @symbols
 */
struct hyptrace_field {
	char			*name;
	char			*type;
	uint32_t		offset;
	uint32_t		size;
	bool			is_signed;
	struct hyptrace_symbol	**symbols;
	unsigned int		nr_symbols;
};

/**
 * struct hyptrace_event - an event; see event-get in hyptrace.yaml
 * @remote:	the remote's name
 * @name:	its name
 * @id:		the u16 at the start of its payload
 * @size:	bytes of its payload
 * @enabled:	the writer records it while tracing
 * @print_fmt:	print format in the syntax of a tracefs format file
 * @fields:	fields of its payload, without the id
 * @nr_fields:	number of @fields
 * @filter:	text of the filter with which it is enabled, or NULL
 * @trigger:	enum hyptrace_trigger_action of linux/hyptrace_netlink.h
 * @after:	if it stops the recording: after so many sub-buffers
 * @can_be_counted: the writer can count it
 * @counted:	the writer counts it, whether it is enabled or not
 * @count_breaks: how often its counters were reset or switched off on request. Absent in
 *		notifications
 * @holder:	process that holds its state (HYPTRACE_EVENT_HOLD), or 0. Absent in notifications
 * @missing:	the writer cannot record it: its kernel has no place for a hook of the event
 * @incomplete:	the writer does not record all of it, for the same reason
 */
struct hyptrace_event {
	char			remote[HYPTRACE_REMOTE_NAME_MAX + 1];
	char			name[HYPTRACE_EVENT_NAME_MAX + 1];
	uint32_t		id;
	uint32_t		size;
	bool			enabled;
	char			*print_fmt;
	struct hyptrace_field	**fields;
	unsigned int		nr_fields;
	char			*filter;
	uint32_t		trigger;
	uint32_t		after;
	bool			can_be_counted;
	bool			counted;
	uint32_t		count_breaks;
	uint32_t		holder;
	bool			missing;
	bool			incomplete;
};

/**
 * struct hyptrace_hypercall_arg - an argument of a hypercall
 * @name:	its name
 * @type:	its C type
 */
struct hyptrace_hypercall_arg {
	char	*name;
	char	*type;
};

/**
 * struct hyptrace_hypercall - a hypercall; see hypercall-get in hyptrace.yaml
 * @remote:	the remote's name
 * @name:	its name
 * @id:		its number, as in the field id of the event host_hcall
 * @returns:	it returns a value; false if @known_args is false
 * @known_args:	it is known which arguments it has, and whether it returns a value
 * @args:	its arguments: the first one is the field arg1 of the event, and so on
 * @nr_args:	number of @args
 */
struct hyptrace_hypercall {
	char				remote[HYPTRACE_REMOTE_NAME_MAX + 1];
	char				*name;
	uint32_t			id;
	bool				returns;
	bool				known_args;
	struct hyptrace_hypercall_arg	**args;
	unsigned int			nr_args;
};

int hyptrace_get_remotes(struct hyptrace *h, struct hyptrace_remote ***remotes,
			 unsigned int *nr, struct hyptrace_error *err);
int hyptrace_get_remote(struct hyptrace *h, const char *name, struct hyptrace_remote **remote,
			struct hyptrace_error *err);
int hyptrace_get_cpus(struct hyptrace *h, const char *remote, struct hyptrace_cpu ***cpus,
		      unsigned int *nr, struct hyptrace_error *err);
int hyptrace_get_cpu(struct hyptrace *h, const char *remote, unsigned int id,
		     struct hyptrace_cpu **cpu, struct hyptrace_error *err);
int hyptrace_get_events(struct hyptrace *h, const char *remote, struct hyptrace_event ***events,
			unsigned int *nr, struct hyptrace_error *err);
int hyptrace_get_event(struct hyptrace *h, const char *remote, const char *name,
		       struct hyptrace_event **event, struct hyptrace_error *err);
int hyptrace_get_hypercalls(struct hyptrace *h, const char *remote,
			    struct hyptrace_hypercall ***calls, unsigned int *nr,
			    struct hyptrace_error *err);
void hyptrace_free_remotes(struct hyptrace_remote **remotes);
void hyptrace_free_remote(struct hyptrace_remote *remote);
void hyptrace_free_cpus(struct hyptrace_cpu **cpus);
void hyptrace_free_cpu(struct hyptrace_cpu *cpu);
void hyptrace_free_events(struct hyptrace_event **events);
void hyptrace_free_event(struct hyptrace_event *event);
void hyptrace_free_hypercalls(struct hyptrace_hypercall **calls);
const char *hyptrace_symbol_name(const struct hyptrace_field *field, uint64_t value);
const struct hyptrace_field *hyptrace_event_field(const struct hyptrace_event *event,
						  const char *name);

/* What hyptrace_value_name() can name: values of linux/hyptrace_netlink.h */
enum hyptrace_value {
	HYPTRACE_VALUE_STATE,
	HYPTRACE_VALUE_MODE,
	HYPTRACE_VALUE_TRIGGER,
	HYPTRACE_VALUE_CPU_STATE,
	HYPTRACE_VALUE_OWNERSHIP,
};

const char *hyptrace_value_name(enum hyptrace_value of, uint32_t value);

#define hyptrace_state_name(state)	hyptrace_value_name(HYPTRACE_VALUE_STATE, state)
#define hyptrace_mode_name(mode)	hyptrace_value_name(HYPTRACE_VALUE_MODE, mode)
#define hyptrace_trigger_name(trigger)	hyptrace_value_name(HYPTRACE_VALUE_TRIGGER, trigger)
#define hyptrace_cpu_state_name(state)	hyptrace_value_name(HYPTRACE_VALUE_CPU_STATE, state)
#define hyptrace_ownership_name(owner)	hyptrace_value_name(HYPTRACE_VALUE_OWNERSHIP, owner)

/* control.c: change remotes and events */

/* The settings of a remote, as bits */
enum hyptrace_setting {
	HYPTRACE_SETTING_SIZE = 1,
	HYPTRACE_SETTING_MODE = 2,
	HYPTRACE_SETTING_RATE = 4,
};

/**
 * struct hyptrace_settings - settings to change
 * @changes:	which of those below, as bits of enum hyptrace_setting; the others are ignored.
 *		Later versions may add members at the end, with new bits
 * @mode:	what happens when a ring is full: enum hyptrace_mode
 * @rate:	how many selftest events the remote "test" writes by itself, per second and CPU: up
 *		to HYPTRACE_RATE_MAX
 * @size:	requested bytes per CPU
 */
struct hyptrace_settings {
	uint32_t	changes;
	uint32_t	mode;
	uint32_t	rate;
	uint64_t	size;
};

int hyptrace_control(struct hyptrace *h, int cmd, const char *remote, int cpu,
		     const struct hyptrace_settings *settings, struct hyptrace_error *err);
int hyptrace_mark(struct hyptrace *h, const char *remote, int cpu, uint64_t value, uint32_t count,
		  struct hyptrace_error *err);

struct hyptrace_filter;

/* Until the connection is closed */
#define HYPTRACE_EVENT_HOLD	1

/**
 * struct hyptrace_event_options - how to enable or disable events
 * @filter:	which events the writer records; NULL for all
 * @trigger:	enum hyptrace_trigger_action, for when the writer has recorded one of the events:
 *		all CPUs start or stop the recording, or the driver notifies its listeners; then
 *		the filter chooses what fires, not what is recorded
 * @after:	with HYPTRACE_TRIGGER_ACTION_STOP: after a CPU has moved on to the next sub-buffer
 *		so many times; else 0
 * @flags:	0, or HYPTRACE_EVENT_HOLD. Later versions may add members at the end, with new flags
 */
struct hyptrace_event_options {
	const struct hyptrace_filter	*filter;
	uint32_t			trigger;
	uint32_t			after;
	uint32_t			flags;
};

int hyptrace_set_events(struct hyptrace *h, const char *remote, const char *const *names,
			unsigned int nr, bool enable, const struct hyptrace_event_options *options,
			struct hyptrace_error *err);
int hyptrace_release_events(struct hyptrace *h, const char *remote, struct hyptrace_error *err);

/* query.c, counters: count events at the writer */

/**
 * struct hyptrace_event_counter - how often an event has happened on a CPU with a value of a field
 * @remote:	the remote's name
 * @event:	the event's name
 * @cpu:	the CPU's number
 * @field:	name of the field
 * @value:	its value
 * @is_others:	the counter is for all values that have none of their own; @value is 0
 * @name:	name of the value; NULL if it has none
 * @count:	number of events; 0 if @now is set
 * @has_time:	the event has a time; else all that follows is 0
 * @total:	sum of the times, ns
 * @longest:	the longest time, ns
 * @frequency:	ticks per second
 * @buckets:	number of events by time: the first bucket has those of 0 ticks, bucket b those
 *		of 2^(b-1) to 2^b - 1 ticks, and the last one all longer ones, too
 * @nr_buckets:	number of @buckets
 * @now:	for hyp_exit, else 0: time at which @total was read, ns since an unspecified moment.
 *		@total is then the time that the CPU was outside of EL2 after exits with that
 *		reason, until now; there are no @longest and @buckets
 * @measured:	number of the events during which the PMU has counted, of those of @count
 * @pmu:	what it has counted in EL2 during these, in the order of the request; else 0
 */
struct hyptrace_event_counter {
	char		remote[HYPTRACE_REMOTE_NAME_MAX + 1];
	char		event[HYPTRACE_EVENT_NAME_MAX + 1];
	uint32_t	cpu;
	char		*field;
	uint64_t	value;
	bool		is_others;
	char		*name;
	uint64_t	count;
	bool		has_time;
	uint64_t	total;
	uint64_t	longest;
	uint64_t	frequency;
	uint64_t	*buckets;
	unsigned int	nr_buckets;
	uint64_t	now;
	uint64_t	measured;
	uint64_t	pmu[HYPTRACE_PMU_COUNTER_MAX];
};

int hyptrace_count_events(struct hyptrace *h, const char *remote, const char *const *names,
			  unsigned int nr, bool count, uint32_t flags, struct hyptrace_error *err);
int hyptrace_hold_counters(struct hyptrace *h, const char *remote, const char *const *names,
			   unsigned int nr, const uint32_t *pmu, unsigned int nr_pmu,
			   struct hyptrace_error *err);
int hyptrace_get_counters(struct hyptrace *h, const char *remote, int cpu,
			  struct hyptrace_event_counter ***counters, unsigned int *nr,
			  struct hyptrace_error *err);
void hyptrace_free_counters(struct hyptrace_event_counter **counters);
uint64_t hyptrace_counter_bucket(const struct hyptrace_event_counter *counter, unsigned int bucket);

/* query.c, questions: the owners of pages, and how long a visit of EL2 takes */
int hyptrace_get_page_owners(struct hyptrace *h, const char *remote, uint64_t pfn,
			     unsigned int nr, uint8_t *owners, struct hyptrace_error *err);
int hyptrace_time_visits(struct hyptrace *h, const char *remote, unsigned int nr, uint64_t *nsec,
			 struct hyptrace_error *err);

/* notify.c: notifications of changes */

enum hyptrace_notification_type {
	HYPTRACE_NOTIFICATION_REMOTE = 1,	/* a remote was registered or has changed */
	HYPTRACE_NOTIFICATION_REMOTE_GONE,	/* a remote was unregistered */
	HYPTRACE_NOTIFICATION_EVENT,		/* an event or its options have changed */
	HYPTRACE_NOTIFICATION_READER,		/* a consumer attached or detached */
	HYPTRACE_NOTIFICATION_LOSS,		/* events were lost */
	HYPTRACE_NOTIFICATION_TRIGGER,		/* events have fired a trigger */
};

/**
 * struct hyptrace_reader_notification - a consumer attached or detached
 * @remote:	the remote's name
 * @cpu:	the ring's CPU, or HYPTRACE_CPU_ALL
 * @change:	enum hyptrace_reader_change of linux/hyptrace_netlink.h
 * @pid:	process id of the consumer
 */
struct hyptrace_reader_notification {
	char		remote[HYPTRACE_REMOTE_NAME_MAX + 1];
	int		cpu;
	uint32_t	change;
	uint32_t	pid;
};

/**
 * struct hyptrace_loss_notification - events were lost
 * @remote:	the remote's name
 * @cpu:	the ring's CPU
 * @count:	events lost since the last such notification for this CPU
 * @total:	events lost since the ring was loaded or cleared
 */
struct hyptrace_loss_notification {
	char		remote[HYPTRACE_REMOTE_NAME_MAX + 1];
	uint32_t	cpu;
	uint64_t	count;
	uint64_t	total;
};

/**
 * struct hyptrace_notification - a notification; it and what it points to is valid while it
 * is delivered
 * @type:	enum hyptrace_notification_type, which says which pointer below is not NULL
 * @remote:	REMOTE; REMOTE_GONE, which has only the remote's name; TRIGGER, which has only the
 *		name, and either one of the events that have started and stopped the recording, or
 *		how many events have fired the trigger notify
 * @event:	EVENT, without fields
 * @reader:	READER
 * @loss:	LOSS
 */
struct hyptrace_notification {
	uint32_t					type;
	const struct hyptrace_remote			*remote;
	const struct hyptrace_event			*event;
	const struct hyptrace_reader_notification	*reader;
	const struct hyptrace_loss_notification		*loss;
};

typedef int (*hyptrace_notification_fn)(const struct hyptrace_notification *notification,
					void *arg);

struct hyptrace_listener;

struct hyptrace_listener *hyptrace_listener_open(struct hyptrace *h, struct hyptrace_error *err);
void hyptrace_listener_close(struct hyptrace_listener *listener);
int hyptrace_listener_fd(const struct hyptrace_listener *listener);
int hyptrace_listener_read(struct hyptrace_listener *listener, hyptrace_notification_fn fn,
			   void *arg, struct hyptrace_error *err);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* HYPTRACE_CONTROL_H */
