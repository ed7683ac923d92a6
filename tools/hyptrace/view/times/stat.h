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

/* Bytes of the name of a row, its NUL included */
#define STAT_NAME_SIZE	256

enum stat_column {
	COL_NAME,
	COL_CPU,
	COL_SAMPLES,
	COL_SAMPLES_PERCENT,
	COL_TIMED,
	COL_TIME,		/* the part of the times of all rows */
	COL_TOTAL,
	COL_MIN,
	COL_MAX,
	COL_MEAN,
	COL_DEVIATION,
	COL_P50,
	COL_P90,
	COL_P99,
	COL_P99_9,
	COL_GUEST,
	COL_RUN,
	COL_RATE,		/* only top: samples per second */
	NR_STAT_COLUMNS
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

/* Where a number is in a payload */
struct stat_field {
	uint32_t	offset;	/* its offset */
	uint32_t	size;	/* its bytes: 1, 2, 4 or 8 */
};

/* What stat takes from the events of an id */
struct stat_kind {
	enum stat_event		event;	/* which event it is */
	uint32_t		size;	/* bytes of its payload at least */
	/* its fields, in the order of the table in stat_kinds.c */
	struct stat_field	fields[STAT_FIELDS];
};

/* The events of a remote */
struct stat_kinds {
	struct stat_kind		*by_id;	/* by their ids */
	unsigned int			nr;
	/* the description of each; NULL if the remote has none with all fields */
	const struct hyptrace_event	*events[NR_STAT_EVENTS];
	/* the reason of hyp_exit for an entry to a guest */
	uint64_t			eret_guest;
	uint64_t			trap;	/* the code of guest_exit for a trap */
};

struct stat_cpu {
	unsigned int		id;
	enum stat_by		by;	/* what its rows are */
	const struct stat_kinds	*kinds;
	/* the vCPUs of all CPUs; NULL if their exits and entries are not compared */
	struct stat_rows	*vcpus;
	struct stat_times	times;	/* where its time goes */
	uint64_t		in_guest;	/* the time in a guest since the last guest_exit */
	/* the CPU is at EL2, and nothing was lost since it entered */
	bool			is_inside;
	uint64_t		entered;	/* when it entered EL2 */
	uint64_t		reason;	/* why */
	struct stat_rows	rows;	/* its rows */
	bool			has_time;	/* first and last are known */
	uint64_t		first;	/* time of the first event */
	uint64_t		last;	/* time of the last event */
	uint64_t		events;
	/* number of events that EL2 has counted and not recorded */
	uint64_t		counted;
	uint64_t		seen[NR_STAT_EVENTS];	/* number of events of each kind */
	uint64_t		lost;	/* number of lost events */
	bool			lost_more;	/* more were lost, and nobody knows how many */
	bool			has_buckets;	/* take the buckets of counters, too */
	struct stat_slow	*slow;	/* keeps the slowest samples; NULL if nobody wants them */
};

/* The settings and the numbers of the verb */
struct stat {
	struct context		*ctx;	/* the verb's context */
	const char		*path;	/* the file; NULL if the numbers are taken now */
	enum stat_by		by;	/* what the rows are */
	bool			per_cpu;	/* rows of each CPU */
	bool			histogram;	/* print a histogram of each row */
	bool			csv;	/* print CSV */
	bool			counters;	/* print the counters of EL2 as they are */
	/* take the numbers from events even if EL2 has counters for them */
	bool			exact;
	/* the numbers are counters: there are no events, and no percentiles */
	bool			is_counted;
	/* time of some visits of EL2 while nothing is recorded or counted; 0: unknown */
	uint64_t		visits_nsec;
	uint64_t		visits_spread;	/* how much this time varies */
	uint64_t		event_psec;	/* what an event costs, in ps; 0: unknown */
	uint64_t		event_spread;	/* how much this varies */
	bool			quiet;	/* print no notes; losses and errors are still printed */
	enum stat_column	sort;	/* see stat_columns.h */
	struct moment		from;	/* argument of --from */
	struct moment		to;	/* argument of --to */
	uint64_t		duration;	/* end after so many ns; 0 for no limit */
	/* print the numbers of each so many ns; 0 for those of the whole time */
	uint64_t		interval;
	struct child		child;	/* the command to run */
	/*
	 * called with the numbers of each interval, or of the whole time; live, false requests the
	 * end
	 */
	bool			(*show)(struct stat *stat);
	/* live, input is called when it is readable; unused without input */
	int			input_fd;
	/* takes what is to be read there; false requests the end. NULL for none */
	bool			(*input)(struct stat *stat);
	void			*owner;	/* for show and input */
	struct stat_kinds	kinds;
	struct hyptrace_formats	*formats;	/* the names of their values */
	/* the CPUs in the order of their numbers; each stays where it is */
	struct stat_cpu		**cpus;
	unsigned int		nr_cpus;
	struct stat_rows	vcpus;	/* vCPUs and their last exits, if by is STAT_BY_EXIT */
	uint64_t		begin;	/* begin of the time that is counted */
	uint64_t		end;	/* its end */
	bool			has_buckets;	/* take the buckets of counters, too */
	/* keeps the slowest samples of a row; NULL if nobody wants them */
	struct stat_slow	*slow;
	/* there were events of these kinds */
	bool			has_seen[NR_STAT_EVENTS];
	/* the file has events, but none between --from and --to */
	bool			is_outside;
	uint64_t		damaged;	/* places of the file that are damaged */
};

/* stat_kinds.c: the events of a remote */
void stat_kinds_init(struct stat_kinds *kinds, struct hyptrace_event *const *events,
		     unsigned int nr);
void stat_kinds_free(struct stat_kinds *kinds);
const char *stat_event_name(enum stat_event event);

/* stat_by.c */
#define STAT_BY_NAMES	"reason, hcall, exit, vcpu, vm, cpu, memory"
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

/* stat_name.c: the name of a row, whose key comes from an event */
void stat_name(const struct stat *stat, struct stat_key key, char name[STAT_NAME_SIZE]);

/* stat_print.c: print the numbers */
bool stat_print(struct stat *stat);

#endif /* STAT_H */
