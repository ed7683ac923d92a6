/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libhyptrace: control hyptrace remotes and read their rings. For the hyptrace
 * command and any other program.
 *
 * A function that can fail returns 0 or a negative errno, unless its comment says
 * otherwise. On failure it also stores the reason, as text for the user, in its
 * struct hyptrace_error, which may be NULL. The library never prints, never exits
 * and keeps no global state. Only one thread at a time may use an object.
 */
#ifndef HYPTRACE_LIB_H
#define HYPTRACE_LIB_H

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

/* error.c */
int hyptrace_error_set(struct hyptrace_error *err, int errnum, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* extack.c: why the kernel refused a request */
struct nlmsghdr;

/**
 * struct hyptrace_extack - the kernel's answer to a request
 * @errnum:	a positive errno, 0 if the request succeeded
 * @msg:	the kernel's message inside the answer, NULL if there is none
 * @msg_len:	its length without a NUL
 * @offset:	from the start of the request to the attribute at fault; 0 if none
 * @miss_type:	type of the missing attribute; 0 if none
 */
struct hyptrace_extack {
	int		errnum;
	const char	*msg;
	size_t		msg_len;
	uint32_t	offset;
	uint32_t	miss_type;
};

int hyptrace_extack_parse(const struct nlmsghdr *answer, size_t len, struct hyptrace_extack *ext);
void hyptrace_extack_error(const struct hyptrace_extack *ext, const struct nlmsghdr *request,
			   struct hyptrace_error *err);

/* netlink.c: the connection */
struct hyptrace_nl;
struct nl_msg;

/* Called for each message of an answer, and with NULL when a dump restarts */
typedef int (*hyptrace_nl_fn)(const struct nlmsghdr *answer, void *arg);

struct hyptrace_nl *hyptrace_nl_open(struct hyptrace_error *err);
void hyptrace_nl_close(struct hyptrace_nl *nl);
struct nl_msg *hyptrace_nl_msg(struct hyptrace_nl *nl, int cmd, int flags);
int hyptrace_nl_send(struct hyptrace_nl *nl, struct nl_msg *msg, hyptrace_nl_fn fn, void *arg,
		     struct hyptrace_error *err);
int hyptrace_nl_group(struct hyptrace_nl *nl);

/* describe.c: remotes, CPUs and events */

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
	struct hyptrace_symbol	*symbols;
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
 */
struct hyptrace_event {
	char			remote[HYPTRACE_REMOTE_NAME_MAX + 1];
	char			name[HYPTRACE_EVENT_NAME_MAX + 1];
	uint32_t		id;
	uint32_t		size;
	bool			enabled;
	char			*print_fmt;
	struct hyptrace_field	*fields;
	unsigned int		nr_fields;
};

int hyptrace_get_remotes(struct hyptrace_nl *nl, struct hyptrace_remote **remotes,
			 unsigned int *nr, struct hyptrace_error *err);
int hyptrace_get_cpus(struct hyptrace_nl *nl, const char *remote, struct hyptrace_cpu **cpus,
		      unsigned int *nr, struct hyptrace_error *err);
int hyptrace_get_events(struct hyptrace_nl *nl, const char *remote, struct hyptrace_event **events,
			unsigned int *nr, struct hyptrace_error *err);
int hyptrace_parse_remote(const struct nlmsghdr *answer, struct hyptrace_remote *remote);
int hyptrace_parse_event(const struct nlmsghdr *answer, struct hyptrace_event *event);
void hyptrace_clear_remote(struct hyptrace_remote *remote);
void hyptrace_clear_event(struct hyptrace_event *event);
void hyptrace_free_remotes(struct hyptrace_remote *remotes, unsigned int nr);
void hyptrace_free_cpus(struct hyptrace_cpu *cpus, unsigned int nr);
void hyptrace_free_events(struct hyptrace_event *events, unsigned int nr);
const char *hyptrace_symbol_name(const struct hyptrace_field *field, uint64_t value);

/* control.c: change remotes and events */

enum hyptrace_request_attrs {
	HYPTRACE_REQUEST_CPU	= 1 << 0,
	HYPTRACE_REQUEST_SIZE	= 1 << 1,
	HYPTRACE_REQUEST_MODE	= 1 << 2,
	HYPTRACE_REQUEST_VALUE	= 1 << 3,
	HYPTRACE_REQUEST_COUNT	= 1 << 4,
	HYPTRACE_REQUEST_RATE	= 1 << 5,
};

/**
 * struct hyptrace_request - the attributes of a control request
 * @remote:	the remote's name
 * @attrs:	which members below are sent: enum hyptrace_request_attrs
 * @cpu:	the CPU
 * @size:	bytes per CPU
 * @mode:	enum hyptrace_mode
 * @value:	number that the first selftest event carries
 * @count:	number of selftest events
 * @rate:	selftest events per second and CPU
 */
struct hyptrace_request {
	const char	*remote;
	unsigned int	attrs;
	uint32_t	cpu;
	uint64_t	size;
	uint32_t	mode;
	uint64_t	value;
	uint32_t	count;
	uint32_t	rate;
};

int hyptrace_control(struct hyptrace_nl *nl, int cmd, const struct hyptrace_request *req,
		     struct hyptrace_error *err);
int hyptrace_set_events(struct hyptrace_nl *nl, const char *remote, const char *const *names,
			unsigned int nr, bool enable, struct hyptrace_error *err);
const char *hyptrace_state_name(uint32_t state);
const char *hyptrace_mode_name(uint32_t mode);
const char *hyptrace_cpu_state_name(uint32_t state);

/* notify.c: notifications of changes */

/**
 * struct hyptrace_reader_notice - a consumer attached or detached
 * @remote:	the remote's name
 * @cpu:	the ring's CPU, or HYPTRACE_CPU_ALL
 * @change:	enum hyptrace_reader_change
 * @pid:	process id of the consumer
 */
struct hyptrace_reader_notice {
	char		remote[HYPTRACE_REMOTE_NAME_MAX + 1];
	int		cpu;
	uint32_t	change;
	uint32_t	pid;
};

/**
 * struct hyptrace_loss_notice - events were lost
 * @remote:	the remote's name
 * @cpu:	the ring's CPU
 * @count:	events lost since the last such notification for this CPU
 * @total:	events lost since the ring was loaded or cleared
 */
struct hyptrace_loss_notice {
	char		remote[HYPTRACE_REMOTE_NAME_MAX + 1];
	uint32_t	cpu;
	uint64_t	count;
	uint64_t	total;
};

/**
 * struct hyptrace_notice - a notification
 * @cmd:	HYPTRACE_CMD_*_NTF; it says which member below is set
 * @remote:	REMOTE_NTF; REMOTE_DEL_NTF, only its name
 * @event:	EVENT_NTF, without fields
 * @reader:	READER_NTF
 * @loss:	LOSS_NTF
 */
struct hyptrace_notice {
	int				cmd;
	struct hyptrace_remote		remote;
	struct hyptrace_event		event;
	struct hyptrace_reader_notice	reader;
	struct hyptrace_loss_notice	loss;
};

typedef int (*hyptrace_notice_fn)(const struct hyptrace_notice *notice, void *arg);

struct hyptrace_listener;

struct hyptrace_listener *hyptrace_listener_open(struct hyptrace_nl *nl,
						 struct hyptrace_error *err);
void hyptrace_listener_close(struct hyptrace_listener *listener);
int hyptrace_listener_fd(const struct hyptrace_listener *listener);
int hyptrace_listener_read(struct hyptrace_listener *listener, hyptrace_notice_fn fn, void *arg,
			   struct hyptrace_error *err);

/* device.c: read or observe a ring */

/**
 * struct hyptrace_reader - an open and attached /dev/hyptrace
 * @fd:		the descriptor, for poll()
 * @cpu:	the ring's CPU, or HYPTRACE_CPU_ALL
 * @subbuf_size: bytes of a sub-buffer
 * @nr_subbufs:	sub-buffers of the ring, the reader's included
 * @meta:	the mapped meta page, NULL before hyptrace_reader_map()
 * @meta_size:	bytes mapped at @meta
 * @data:	the mapped sub-buffers
 * @data_size:	bytes mapped at @data
 */
struct hyptrace_reader {
	int				fd;
	int				cpu;
	uint32_t			subbuf_size;
	uint32_t			nr_subbufs;
	const struct trace_buffer_meta	*meta;
	size_t				meta_size;
	const void			*data;
	size_t				data_size;
};

int hyptrace_reader_open(struct hyptrace_reader *reader, const char *remote, int cpu, int flags,
			 struct hyptrace_error *err);
int hyptrace_reader_open_snapshot(struct hyptrace_reader *reader, const char *remote, int cpu,
				  struct hyptrace_error *err);
void hyptrace_reader_close(struct hyptrace_reader *reader);
int hyptrace_reader_latency(struct hyptrace_reader *reader, uint32_t usec,
			    struct hyptrace_error *err);
int hyptrace_reader_map(struct hyptrace_reader *reader, struct hyptrace_error *err);
int hyptrace_reader_swap(struct hyptrace_reader *reader, struct hyptrace_error *err);
const void *hyptrace_reader_subbuf(const struct hyptrace_reader *reader, uint32_t id);

/* decode.c: the records of a sub-buffer */

/* Bytes of the u64 time stamp and of the u64 commit word */
#define HYPTRACE_SUBBUF_HEADER	sizeof(struct hyptrace_subbuf)

/* Events were lost, but their number is not known. */
#define HYPTRACE_LOST_UNKNOWN	UINT64_MAX

/**
 * struct hyptrace_record - the record of an event in a sub-buffer
 * @ts:		its time in nanoseconds
 * @lost:	events lost right before it, or HYPTRACE_LOST_UNKNOWN
 * @data:	its payload, which starts with the u16 event id
 * @size:	bytes of @data, as the writer rounded them up
 */
struct hyptrace_record {
	uint64_t	ts;
	uint64_t	lost;
	const void	*data;
	unsigned int	size;
};

struct hyptrace_decoder;

struct hyptrace_decoder *hyptrace_decoder_new(void);
void hyptrace_decoder_free(struct hyptrace_decoder *dec);
int hyptrace_decoder_load(struct hyptrace_decoder *dec, const void *subbuf, size_t size,
			  struct hyptrace_error *err);
int hyptrace_decoder_next(struct hyptrace_decoder *dec, struct hyptrace_record *rec,
			  struct hyptrace_error *err);
uint64_t hyptrace_decoder_lost(struct hyptrace_decoder *dec);

/* snapshot.c: copy what a ring holds, without consuming it */
struct hyptrace_snapshot;

int hyptrace_snapshot_take(struct hyptrace_snapshot **snap, const struct hyptrace_reader *reader,
			   uint32_t mode, uint64_t last, struct hyptrace_error *err);
void hyptrace_snapshot_free(struct hyptrace_snapshot *snap);
int hyptrace_snapshot_next(struct hyptrace_snapshot *snap, struct hyptrace_record *rec,
			   struct hyptrace_error *err);
uint64_t hyptrace_snapshot_lost(struct hyptrace_snapshot *snap);
uint64_t hyptrace_snapshot_events(const struct hyptrace_snapshot *snap);

/* format.c: print an event as text */

/* Bytes that hyptrace_formats_line() writes at most */
#define HYPTRACE_LINE_MAX	4096

struct hyptrace_formats;

struct hyptrace_formats *hyptrace_formats_new(const struct hyptrace_event *events, unsigned int nr,
					      struct hyptrace_error *err);
void hyptrace_formats_free(struct hyptrace_formats *fmts);
const struct hyptrace_event *hyptrace_formats_event(const struct hyptrace_formats *fmts,
						    const struct hyptrace_record *rec);
const char *hyptrace_formats_text(struct hyptrace_formats *fmts,
				  const struct hyptrace_event *event,
				  const struct hyptrace_record *rec, size_t *len);
int hyptrace_formats_lines(struct hyptrace_formats *fmts, const char *before, const char *after,
			   struct hyptrace_error *err);
char *hyptrace_formats_line(const struct hyptrace_formats *fmts, const struct hyptrace_record *rec,
			    char *to);
int hyptrace_field_value(const struct hyptrace_field *field, const struct hyptrace_record *rec,
			 uint64_t *value);
char *hyptrace_format_file(const struct hyptrace_event *event, size_t *len);

/* merge.c: merge the events of several rings in the order of time */
struct hyptrace_merge;

enum hyptrace_merge_step {
	HYPTRACE_MERGE_EMIT,	/* the source's pending event is the next one */
	HYPTRACE_MERGE_ASK,	/* the caller must look for the source's next event */
	HYPTRACE_MERGE_WAIT,	/* no event can be emitted yet */
};

struct hyptrace_merge *hyptrace_merge_new(unsigned int nr_sources, uint64_t bound);
void hyptrace_merge_free(struct hyptrace_merge *merge);
void hyptrace_merge_pending(struct hyptrace_merge *merge, unsigned int source, uint64_t ts,
			    uint64_t since);
void hyptrace_merge_empty(struct hyptrace_merge *merge, unsigned int source, uint64_t at);
enum hyptrace_merge_step hyptrace_merge_step(struct hyptrace_merge *merge, unsigned int *source);
uint64_t hyptrace_merge_until(const struct hyptrace_merge *merge, unsigned int source);
uint64_t hyptrace_merge_due(const struct hyptrace_merge *merge);
void hyptrace_merge_finish(struct hyptrace_merge *merge);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* HYPTRACE_LIB_H */
