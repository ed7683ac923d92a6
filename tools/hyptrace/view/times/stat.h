/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hyptrace stat: what is counted, and the parts that it is made of. For cmd_stat.c and stat_*.c.
 *
 * A source of numbers (stat_source.c, stat_counters.c) fills the struct stat_cpu of each CPU; the
 * other files do not know where the numbers come from.
 */
#ifndef STAT_H
#define STAT_H

#include "lib/hyptrace_file.h"
#include "lib/hyptrace_model.h"
#include "session/session.h"
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
	COL_BEGIN,		/* of the time that is counted; only in CSV */
	COL_END,
	COL_RATE,		/* only top: samples per second */
	NR_STAT_COLUMNS
};

/* The row of all hypercalls that have no counter of their own */
#define STAT_OTHERS	UINT64_MAX

struct stat_cpu {
	unsigned int			id;
	enum stat_by			by;
	const struct hyptrace_model	*model;
	struct stat_rows		*vcpus;	/* of all CPUs; NULL if their exits do not matter */
	struct stat_times		times;
	uint64_t			in_guest;	/* time since the last guest_exit */
	uint64_t			entered;	/* if it is at EL2: since when, and why */
	uint64_t			reason;
	struct stat_rows		rows;
	uint64_t			events;
	uint64_t			first;	/* time of the first of them */
	uint64_t			last;
	uint64_t			counted;	/* events that EL2 has not recorded */
	uint32_t			seen;	/* kinds of its events, as HYPTRACE_KIND_BIT() */
	uint64_t			lost;
	bool				lost_more;	/* and nobody knows how many */
	bool				has_buckets;	/* take the buckets of counters, too */
	struct stat_slow		*slow;	/* or NULL */
};

/* The settings and the numbers of the verb */
struct stat {
	struct session		session;	/* its count is that of intervals */
	enum stat_by		by;
	bool			per_cpu;	/* rows of each CPU */
	bool			histogram;
	bool			csv;
	bool			counters;	/* print the counters of EL2 as they are */
	bool			exact;	/* use events even if EL2 has counters */
	bool			has_buckets;	/* take the buckets of counters, too */
	enum stat_column	sort;	/* NR_STAT_COLUMNS: the default */
	const enum stat_column	*keys;	/* what can be sorted by: see stat_column_find() */
	uint64_t		interval;	/* ns; 0: the numbers of the whole time */
	/* called with the numbers of each interval, or of the whole time; false ends the verb */
	bool			(*show)(struct stat *stat);
	int			input_fd;	/* @input is called when it is readable */
	void			(*input)(struct stat *stat);	/* may set is_over; or NULL */
	void			*owner;	/* for these two */
	struct stat_slow	*slow;

	bool			is_over;	/* the end was requested */
	bool			is_counted;	/* there are no events, and no percentiles */
	/* time of some visits of EL2 while nothing is recorded or counted, in ns; 0: unknown */
	uint64_t		visits_nsec;
	uint64_t		visits_spread;	/* how much this varies */
	uint64_t		event_psec;	/* what an event costs, in ps; 0: unknown */
	uint64_t		event_spread;
	struct hyptrace_model	*model;
	struct stat_cpu		**cpus;	/* by their numbers; each stays where it is */
	unsigned int		nr_cpus;
	struct map		by_id;	/* the same */
	struct stat_rows	vcpus;	/* and their last exits, if rows are by exit */
	uint64_t		begin;	/* of the time that is counted */
	uint64_t		end;
	bool			has_clock;	/* begin and end are known before the events are */
	bool			has_begun;	/* the events from @from on are counted */
	uint64_t		from;
	uint64_t		next;	/* end of the interval; UINT64_MAX without intervals */
	uint32_t		seen;	/* as in struct stat_cpu */
	bool			is_outside;	/* no event lies between --from and --to */
};

/* stat_name.c */
#define STAT_BY_NAMES	"reason, hcall, exit, vcpu, vm, cpu, memory"

const char *stat_by_name(enum stat_by by);
bool stat_by_find(const char *name, enum stat_by *by);
bool stat_by_needs(enum stat_by by, enum hyptrace_kind kind);
bool stat_by_has_time(enum stat_by by);
/* The kind of the events that are samples; HYPTRACE_KIND_UNKNOWN if visits of EL2 are */
enum hyptrace_kind stat_by_kind(enum stat_by by);
/* The name of a row, whose key comes from an event */
void stat_name(const struct stat *stat, struct stat_key key, char name[STAT_NAME_SIZE]);

/* stat_feed.c: take the numbers from events and losses; new CPUs are added */
void stat_feed(struct stat *stat, const struct hyptrace_stream_event *events, unsigned int nr);

/* stat_cpus.c: the CPUs */
/* Do events say how long guests have run? Else only the field duration of guest_exit does. */
bool stat_has_guest(const struct stat *stat);
struct stat_cpu *stat_add_cpu(struct stat *stat, unsigned int id);
void stat_limits(struct stat *stat);
void stat_cut(struct stat *stat, uint64_t at);
void stat_free(struct stat *stat);

static inline struct stat_cpu *stat_find_cpu(const struct stat *stat, unsigned int id)
{
	const struct map_entry *entry = map_find(&stat->by_id, id, 0);

	return entry ? entry->ptr : NULL;
}

/* stat_source.c: take the numbers from a file, or from now on; returns an exit code */
int stat_run(struct stat *stat);

/* stat_counters.c: from the counters of EL2, if they have all numbers */
bool stat_can_count(const struct stat *stat);
int stat_counters(struct stat *stat);

/* stat_options.c: for a struct stat */
extern const struct argp stat_argp;

/* stat_cost.c: what an event costs */
void stat_cost_prepare(struct stat *stat);
void stat_cost_measure(struct stat *stat);
uint64_t stat_cost(const struct stat *stat, const struct stat_cpu *cpu, uint64_t *spread);

/* stat_print.c: print the numbers; false once the output takes no more */
bool stat_print(struct stat *stat);

#endif /* STAT_H */
