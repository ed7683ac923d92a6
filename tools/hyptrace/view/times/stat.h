/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hyptrace stat: what is counted, and the parts that it is made of. For cmd_stat.c and stat_*.c.
 *
 * A source of numbers (stat_file.c, stat_stream.c, stat_counters.c) fills the struct stat_cpu of
 * each CPU; the other files do not know where the numbers come from.
 */
#ifndef STAT_H
#define STAT_H

#include "lib/hyptrace_file.h"
#include "cli/cli.h"
#include "session/child.h"
#include "session/moment.h"
#include "stat_rows.h"
#include "stat_times.h"

struct stat_slow;

/* What the rows are */
enum stat_by {
	STAT_BY_REASON,		/* why a CPU has entered EL2 */
	STAT_BY_HCALL,		/* hypercalls by their numbers */
	STAT_BY_EXIT,		/* exits of guests by their classes */
	STAT_BY_VCPU,
	STAT_BY_VM,
	STAT_BY_CPU,
	STAT_BY_MEMORY,		/* transitions of memory by operation and owners */
	NR_STAT_BY
};

/* Events that stat takes numbers from */
enum stat_event {
	STAT_NONE,
	STAT_ENTER,		/* hyp_enter */
	STAT_EXIT,		/* hyp_exit */
	STAT_HCALL,		/* host_hcall */
	STAT_GUEST_ENTER,
	STAT_GUEST_EXIT,
	STAT_MEMORY,		/* mem_transition */
	NR_STAT_EVENTS
};

#define STAT_FIELDS	6

/* The row of all hypercalls that have no counter of their own */
#define STAT_OTHERS	UINT64_MAX

/**
 * struct stat_field - where a number is in a payload
 * @offset:	its offset
 * @size:	its bytes: 1, 2, 4 or 8
 */
struct stat_field {
	uint32_t	offset;
	uint32_t	size;
};

/**
 * struct stat_kind - what stat takes from the events of an id
 * @event:	which event it is
 * @size:	bytes of its payload at least
 * @fields:	its fields, in the order of the table in stat_kinds.c
 */
struct stat_kind {
	enum stat_event		event;
	uint32_t		size;
	struct stat_field	fields[STAT_FIELDS];
};

/**
 * struct stat_kinds - the events of a remote
 * @by_id:	by their ids
 * @nr:		number of @by_id
 * @events:	the description of each; NULL if the remote has none with all fields
 * @eret_guest:	the reason of hyp_exit for an entry to a guest
 * @trap:	the code of guest_exit for a trap
 */
struct stat_kinds {
	struct stat_kind		*by_id;
	unsigned int			nr;
	const struct hyptrace_event	*events[NR_STAT_EVENTS];
	uint64_t			eret_guest;
	uint64_t			trap;
};

/**
 * struct stat_cpu - the numbers of a CPU
 * @id:		the CPU
 * @by:		what its rows are
 * @kinds:	the events
 * @vcpus:	the vCPUs of all CPUs; NULL if their exits and entries are not compared
 * @times:	where its time goes
 * @in_guest:	the time in a guest since the last guest_exit
 * @is_inside:	the CPU is at EL2, and nothing was lost since it entered
 * @entered:	when it entered EL2
 * @reason:	why
 * @rows:	its rows
 * @has_time:	@first and @last are known
 * @first:	time of the first event
 * @last:	time of the last event
 * @events:	number of events
 * @counted:	number of events that EL2 has counted and not recorded
 * @seen:	number of events of each kind
 * @lost:	number of lost events
 * @lost_more:	more were lost, and nobody knows how many
 * @has_buckets: take the buckets of counters, too
 * @slow:	keeps the slowest samples; NULL if nobody wants them
 */
struct stat_cpu {
	unsigned int		id;
	enum stat_by		by;
	const struct stat_kinds	*kinds;
	struct stat_rows	*vcpus;
	struct stat_times	times;
	uint64_t		in_guest;
	bool			is_inside;
	uint64_t		entered;
	uint64_t		reason;
	struct stat_rows	rows;
	bool			has_time;
	uint64_t		first;
	uint64_t		last;
	uint64_t		events;
	uint64_t		counted;
	uint64_t		seen[NR_STAT_EVENTS];
	uint64_t		lost;
	bool			lost_more;
	bool			has_buckets;
	struct stat_slow	*slow;
};

/**
 * struct stat - the settings and the numbers of the verb
 * @ctx:	the verb's context
 * @path:	the file; NULL if the numbers are taken now
 * @by:		what the rows are
 * @per_cpu:	rows of each CPU
 * @histogram:	print a histogram of each row
 * @csv:	print CSV
 * @exact:	take the numbers from events even if EL2 has counters for them
 * @is_counted:	the numbers are counters: there are no events, and no percentiles
 * @visits_nsec: time of some visits of EL2 while nothing is recorded or counted; 0: unknown
 * @visits_spread: how much this time varies
 * @event_psec:	what an event costs, in ps; 0: unknown
 * @event_spread: how much this varies
 * @quiet:	print no notes; losses and errors are still printed
 * @sort:	the key by which the rows are sorted; see stat_sort.c
 * @from:	argument of --from
 * @to:		argument of --to
 * @duration:	end after so many ns; 0 for no limit
 * @interval:	print the numbers of each so many ns; 0 for those of the whole time
 * @child:	the command to run
 * @show:	called with the numbers of each interval, or of the whole time; live, false requests
 *		the end
 * @input_fd:	live, @input is called when it is readable; unused without @input
 * @input:	takes what is to be read there; false requests the end. NULL for none
 * @owner:	for @show and @input
 * @kinds:	the events
 * @formats:	the names of their values
 * @cpus:	the CPUs in the order of their numbers; each stays where it is
 * @nr_cpus:	number of @cpus
 * @vcpus:	vCPUs and their last exits, if @by is STAT_BY_EXIT
 * @begin:	begin of the time that is counted
 * @end:	its end
 * @has_buckets: take the buckets of counters, too
 * @slow:	keeps the slowest samples of a row; NULL if nobody wants them
 * @has_seen:	there were events of these kinds
 * @is_outside:	the file has events, but none between --from and --to
 * @damaged:	places of the file that are damaged
 */
struct stat {
	struct context		*ctx;
	const char		*path;
	enum stat_by		by;
	bool			per_cpu;
	bool			histogram;
	bool			csv;
	bool			exact;
	bool			is_counted;
	uint64_t		visits_nsec;
	uint64_t		visits_spread;
	uint64_t		event_psec;
	uint64_t		event_spread;
	bool			quiet;
	const char		*sort;
	struct moment		from;
	struct moment		to;
	uint64_t		duration;
	uint64_t		interval;
	struct child		child;
	bool			(*show)(struct stat *stat);
	int			input_fd;
	bool			(*input)(struct stat *stat);
	void			*owner;
	struct stat_kinds	kinds;
	struct hyptrace_formats	*formats;
	struct stat_cpu		**cpus;
	unsigned int		nr_cpus;
	struct stat_rows	vcpus;
	uint64_t		begin;
	uint64_t		end;
	bool			has_buckets;
	struct stat_slow	*slow;
	bool			has_seen[NR_STAT_EVENTS];
	bool			is_outside;
	uint64_t		damaged;
};

/**
 * struct stat_list - sorted rows
 * @rows:	the rows
 * @nr:		number of @rows
 * @samples:	sum of their samples
 * @time:	sum of their times
 * @sums:	the rows of all CPUs added up; unused with --per-cpu
 */
struct stat_list {
	const struct stat_row	**rows;
	unsigned int		nr;
	uint64_t		samples;
	uint64_t		time;
	struct stat_rows	sums;
};

/* stat_kinds.c: the events of a remote */
void stat_kinds_init(struct stat_kinds *kinds, struct hyptrace_event *const *events,
		     unsigned int nr);
void stat_kinds_free(struct stat_kinds *kinds);
const char *stat_event_name(enum stat_event event);
const char *stat_by_name(enum stat_by by);
bool stat_by_find(const char *name, enum stat_by *by);
bool stat_by_needs(enum stat_by by, enum stat_event event);
bool stat_by_has_time(enum stat_by by);

/* stat_feed.c: take the numbers from events */
void stat_feed(struct stat_cpu *cpu, const struct hyptrace_record *rec);
void stat_feed_run(struct stat_cpu *cpu, const struct hyptrace_stream_event *events,
		   unsigned int nr);

/* stat_cpus.c: the CPUs */
bool stat_has_guest(const struct stat *stat);
struct stat_cpu *stat_add_cpu(struct stat *stat, unsigned int id);
struct stat_cpu *stat_find_cpu(const struct stat *stat, unsigned int id);
void stat_limits(struct stat *stat);
void stat_cut(struct stat *stat, uint64_t at);
void stat_free(struct stat *stat);

/* stat_file.c: from a file */
int stat_file(struct stat *stat);

/* stat_stream.c: from the events as they happen */
int stat_stream(struct stat *stat, int signal_fd);

/* stat_counters.c: from the counters of EL2 */
bool stat_can_count(const struct stat *stat, struct hyptrace_event *const *events);
int stat_counters(struct stat *stat, const char *remote, int signal_fd);

/* stat_cost.c: what an event costs */
void stat_cost_prepare(struct stat *stat, const char *remote);
void stat_cost_measure(struct stat *stat, const char *remote);
uint64_t stat_cost(const struct stat *stat, const struct stat_cpu *cpu, uint64_t *spread);

/* stat_sort.c: the rows in their order */
bool stat_sort_is_key(const char *key);
bool stat_sort_needs_samples(const char *key);
char *stat_sort_names(void);
void stat_list_init(struct stat_list *list, const struct stat *stat);
void stat_list_free(struct stat_list *list);

/* stat_name.c: what keys mean */

/* Bytes of the name of a row at most, its NUL included */
#define STAT_NAME_SIZE	256

void stat_name(const struct stat *stat, struct stat_key key, char name[STAT_NAME_SIZE]);

/* stat_print.c: print the numbers */
bool stat_print(struct stat *stat);

#endif /* STAT_H */
