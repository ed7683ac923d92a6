/* SPDX-License-Identifier: GPL-2.0-only */
/* The numbers of stat and top: stat_source.c and stat_counters.c fill a struct stat_cpu per CPU. */
#ifndef STAT_H
#define STAT_H

#include "lib/hyptrace_model.h"
#include "output/clock.h"
#include "output/columns.h"
#include "output/map.h"
#include "output/printer.h"
#include "session/session.h"

/*
 * A log-linear histogram: number, sum and extremes are exact, percentiles within 1 %. A power of
 * two is divided into equal buckets, which take memory from its first value on.
 */

/* Buckets of a power of two, as a power of two: a bucket is at most 1/64 of its values wide */
#define LOGLIN_BITS	6
#define LOGLIN_BUCKETS	(1U << LOGLIN_BITS)
/* The first block has the values below LOGLIN_BUCKETS, and each other one those of a power */
#define LOGLIN_BLOCKS	(64 - LOGLIN_BITS + 1)

/* A histogram; all 0 is an empty one */
struct loglin {
	uint64_t		count;
	uint64_t		sum;	/* their sum */
	uint64_t		min;	/* the smallest one, if there is any */
	uint64_t		max;	/* the largest one */
	__uint128_t		squares;	/* sum of their squares */
	uint64_t		*blocks[LOGLIN_BLOCKS];	/* LOGLIN_BUCKETS buckets each, or NULL */
};

void loglin_allocate(struct loglin *h, unsigned int block);
void loglin_merge(struct loglin *to, const struct loglin *from);
void loglin_free(struct loglin *h);
/* The value that so many of 1000 values do not exceed; 0 without values */
uint64_t loglin_percentile(const struct loglin *h, unsigned int permille);
/* The standard deviation of a value; 0 with less than two */
double loglin_deviation(const struct loglin *h);
/* That of the mean, as a part of the mean; 0 if it is not known */
double loglin_error(const struct loglin *h);
/*
 * Values from @from to below @to (0: no end). Of ranges that follow each other, just one has a
 * value: within 1 % of a limit, maybe the wrong one.
 */
uint64_t loglin_range_count(const struct loglin *h, uint64_t from, uint64_t to);

/* The smallest value of a block, which is below LOGLIN_BLOCKS */
static inline uint64_t loglin_block_from(unsigned int block)
{
	return block ? (uint64_t)LOGLIN_BUCKETS << (block - 1) : 0;
}

/* By how many bits the values of a block are shifted: the first two have a bucket for each value */
static inline unsigned int loglin_shift(uint64_t value)
{
	return 63 - LOGLIN_BITS - __builtin_clzll(value | (2 * LOGLIN_BUCKETS - 1));
}

static inline unsigned int loglin_block(uint64_t value)
{
	const unsigned int shift = loglin_shift(value);

	return shift + (value >> shift) / LOGLIN_BUCKETS;
}

static inline void loglin_add(struct loglin *h, uint64_t value)
{
	const unsigned int block = loglin_block(value);
	const unsigned int bucket = (value >> loglin_shift(value)) % LOGLIN_BUCKETS;

	if (__builtin_expect(!h->blocks[block], 0))
		loglin_allocate(h, block);
	h->blocks[block][bucket]++;
	if (value < h->min || !h->count)
		h->min = value;
	if (value > h->max)
		h->max = value;
	h->count++;
	h->sum += value;
	h->squares += (__uint128_t)value * value;
}

/* stat_rows.c: the rows by their keys, of which all 0 are none, and the times of CPUs */

/* What the samples of a row have in common, such as a reason; its meaning depends on --by */
struct stat_key {
	uint64_t	major;
	uint64_t	minor;	/* what distinguishes rows of the same major, or 0 */
};

/* Buckets that a counter has at most; a struct loglin has fewer */
#define STAT_BUCKETS	64

/* The samples of a row by their times, as EL2 has counted them */
struct stat_buckets {
	unsigned int	nr;
	uint64_t	from[STAT_BUCKETS];	/* the shortest time of each, ns */
	uint64_t	count[STAT_BUCKETS];
};

struct stat_row {
	struct stat_key		key;
	unsigned int		index;	/* its place among the rows */
	uint64_t		samples;
	struct loglin		times;	/* of those samples that have one */
	uint64_t		guest;	/* of guest exits: the times in guests; 0 if unknown */
	uint64_t		run;	/* likewise: guest, and what EL2 did meanwhile */
	struct stat_buckets	*buckets;	/* what EL2 has counted, if it was requested */
	uint64_t		measured;	/* samples during which the PMU has counted */
	uint64_t		pmu[PMU_MAX];	/* and what it has counted: the words of --pmu */
	/* only in the list of vCPUs: the last exit, until the next entry, and its time */
	struct stat_row		*exit;
	uint64_t		since;
};

/* A power of two: rows that need no look at the map */
#define STAT_RECENT	128

struct stat_rows {
	struct stat_row	**rows;	/* in the order of their first samples; each stays where it is */
	unsigned int	nr;
	struct map	map;
	struct stat_row	*recent[STAT_RECENT];
};

struct stat_row *stat_rows_add(struct stat_rows *rows, struct stat_key key);
void stat_rows_merge(struct stat_rows *to, const struct stat_rows *from);
struct stat_buckets *stat_row_buckets(struct stat_row *row, const uint64_t *from, unsigned int nr);
void stat_rows_free(struct stat_rows *rows);

static inline bool stat_key_is(struct stat_key a, struct stat_key b)
{
	return a.major == b.major && a.minor == b.minor;
}

/* NULL if there is none */
static inline struct stat_row *stat_rows_find(const struct stat_rows *rows, struct stat_key key)
{
	const struct map_entry *entry = map_find(&rows->map, key.major, key.minor);

	return entry ? entry->ptr : NULL;
}

/* A new row if the key is new; reasons and classes of traps have places of their own. */
static inline struct stat_row *stat_rows_get(struct stat_rows *rows, struct stat_key key)
{
	struct stat_row **row = &rows->recent[(key.major ^ key.major >> 26 ^ key.minor) %
					      STAT_RECENT];

	if (__builtin_expect(!*row || !stat_key_is((*row)->key, key), 0))
		*row = stat_rows_find(rows, key) ?: stat_rows_add(rows, key);
	return *row;
}

/*
 * Where the time of a CPU goes. Each moment is at one place or unknown: the four add up to the time
 * that has passed. An interval begins and ends with hyp_enter or hyp_exit.
 */
enum stat_place {
	STAT_UNKNOWN,
	STAT_HOST,
	STAT_EL2,
	STAT_GUEST,
	NR_STAT_PLACES
};

/* The times of a CPU; all 0 is one whose place was never known */
struct stat_times {
	uint64_t	ns[NR_STAT_PLACES];	/* the time at each place so far */
	uint64_t	since;	/* when the current interval began */
	enum stat_place	now;	/* its place; STAT_UNKNOWN also if something was lost since then */
};

/* End an interval at @was, or at an unknown place, and begin one at @now. */
static inline void stat_times_change(struct stat_times *t, uint64_t ts, enum stat_place was,
				     enum stat_place now)
{
	if (ts > t->since) {
		t->ns[was] += ts - t->since;
		t->since = ts;
	}
	t->now = now;
}

static inline void stat_times_enter(struct stat_times *t, uint64_t ts)
{
	stat_times_change(t, ts, t->now == STAT_EL2 ? STAT_UNKNOWN : t->now, STAT_EL2);
}

static inline void stat_times_exit(struct stat_times *t, uint64_t ts, bool to_guest)
{
	stat_times_change(t, ts, t->now == STAT_EL2 ? STAT_EL2 : STAT_UNKNOWN,
			  to_guest ? STAT_GUEST : STAT_HOST);
}

static inline void stat_times_lose(struct stat_times *t)
{
	t->now = STAT_UNKNOWN;
}

/*
 * The time at each place from @begin, not after the first event, to @end, not before the last one:
 * @end - @begin in all. The time before the first event is unknown.
 */
static inline void stat_times_sum(const struct stat_times *t, uint64_t begin, uint64_t end,
				  uint64_t ns[NR_STAT_PLACES])
{
	memcpy(ns, t->ns, sizeof(t->ns));
	if (t->now != STAT_UNKNOWN)
		ns[t->now] += end - t->since;
	ns[STAT_UNKNOWN] = end - begin - ns[STAT_HOST] - ns[STAT_EL2] - ns[STAT_GUEST];
}

/* Begin to count again at a time that is not before the last event. */
static inline void stat_times_cut(struct stat_times *t, uint64_t at)
{
	memset(t->ns, 0, sizeof(t->ns));
	t->since = at;
}

enum stat_by {
	STAT_BY_REASON,		/* why a CPU has entered EL2 */
	STAT_BY_HCALL,		/* hypercalls by their numbers */
	STAT_BY_EXIT,		/* exits of guests by their classes */
	STAT_BY_VCPU,
	STAT_BY_VM,
	STAT_BY_CPU,
	STAT_BY_MEMORY,		/* transitions of memory by operation and owners */
	STAT_BY_LOCK,		/* waits for spinlocks of EL2 */
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
	COL_MEASURED,
	COL_PMU,		/* a mean for each word of --pmu: see stat_columns_set_pmu() */
	COL_IPC = COL_PMU + PMU_MAX,
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
	struct stat_row			*vcpu;	/* that ran last, or NULL */
	struct stat_times		times;
	uint64_t			guest_before;	/* time in guests at the last guest_exit */
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
	struct stat_slow		*slow;	/* or NULL */
	const struct pmu		*pmu;
	struct pmu_counts		pmu_counts;
};

struct stat {
	struct session		session;	/* its count is that of intervals */
	enum stat_by		by;
	bool			per_cpu;	/* rows of each CPU */
	bool			histogram;
	bool			csv;
	bool			counters;	/* print the counters of EL2 as they are */
	bool			metrics;	/* the same, for Prometheus */
	bool			exact;	/* use events even if EL2 has counters */
	bool			has_buckets;	/* take the buckets of counters, too */
	enum stat_column	sort;	/* NR_STAT_COLUMNS: the default */
	const char		*key;	/* the argument of --key, or NULL */
	const enum stat_column	*keys;	/* what can be sorted by: see stat_column_find() */
	uint64_t		interval;	/* ns; 0: the numbers of the whole time */
	/* called with the numbers of each interval, or of the whole time; false ends the verb */
	bool			(*show)(struct stat *stat);
	int			input_fd;	/* @input is called when it is readable */
	void			(*input)(struct stat *stat);	/* may set is_over; or NULL */
	void			*owner;	/* for these two */
	struct stat_slow	*slow;
	struct counting		*counting;	/* while EL2 counts */

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
};

/* stat_columns.c */
struct stat_rows_info {
	const char		*name;
	/* the events that the rows need, besides those that all need for the times of CPUs */
	uint32_t		events;
	bool			has_time;
	enum hyptrace_kind	kind;	/* of the samples; UNKNOWN: visits of EL2 */
	enum hyptrace_kind	measured;	/* whose event the PMU measures; UNKNOWN: none */
};

extern const struct stat_rows_info stat_by[NR_STAT_BY];

extern const struct argp stat_argp;

static inline bool stat_by_needs(enum stat_by by, enum hyptrace_kind kind)
{
	return stat_by[by].events & HYPTRACE_KIND_BIT(kind);
}

/* The name of a row, whose key comes from an event */
void stat_name(const struct stat *stat, struct stat_key key, char name[STAT_NAME_SIZE]);

/* stat_feed.c: take the numbers from events and losses; new CPUs are added */
void stat_feed(struct stat *stat, const struct hyptrace_stream_event *events, unsigned int nr);

/* Do events say how long guests have run? Else only the field duration of guest_exit does. */
bool stat_has_guest(const struct stat *stat);
struct stat_cpu *stat_add_cpu(struct stat *stat, unsigned int id);
void stat_limits(struct stat *stat);
void stat_input(struct loop *l);
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

/* what an event costs */
void stat_cost_prepare(struct stat *stat);
void stat_cost_measure(struct stat *stat);
#define PSEC_PER_NSEC	1000

/* stat_print.c: print the numbers; false once the output takes no more */
bool stat_print(struct stat *stat);

enum stat_needs {
	NEEDS_TIME	= 1 << 0,	/* samples have times */
	NEEDS_SAMPLES	= 1 << 1,	/* the time of each sample; counters do not have it */
	NEEDS_EXIT	= 1 << 2,	/* rows by exit */
	NEEDS_PMU	= 1 << 3,	/* what the PMU has counted */
};

#define COLUMN(key_, head_, flags_) { .key = (key_), .head = (head_), .flags = (flags_) }
#define NUMBER(rank)	(COLUMN_NUMBER | COLUMN_RANK(rank))

enum stat_cell_kind {
	CELL_NUMBER,
	CELL_TIME,
	CELL_PERCENT,
	CELL_DEVIATION,
	CELL_RATIO,
};

struct stat_column_info {
	struct column		column;	/* for the printer */
	/* its name in --key; NULL if rows cannot be sorted by it, or without --pmu */
	const char		*sort;
	enum stat_cell_kind	kind;
	unsigned int		needs;	/* enum stat_needs */
};

/* Those of --pmu have names only with that option. */
extern struct stat_column_info stat_columns[NR_STAT_COLUMNS];

struct stat_cell {
	bool		is_known;
	uint64_t	n;
	double		x;	/* the value to sort by; of a percentage or a deviation the value */
};

/* A row as it is printed */
struct stat_line {
	struct stat_key		key;
	const struct stat_row	*row;	/* valid while its samples are kept */
	char			name[STAT_NAME_SIZE];
	double			error;	/* standard deviation of the mean, as a part of it */
	struct stat_cell	cells[NR_STAT_COLUMNS];
};

/* The columns that rows of stat can be sorted by */
extern const enum stat_column stat_keys[];

/* Find a column of a list, which NR_STAT_COLUMNS ends, by the argument of --key. */
bool stat_column_find(const enum stat_column *list, const char *key, enum stat_column *column);
bool stat_column_has(enum stat_column column, enum stat_by by, bool is_counted);

void stat_cell_set(struct stat_line *line, enum stat_column column, bool is_known, uint64_t n);
void stat_cell_percent(struct stat_line *line, enum stat_column column, double part, double whole);
void stat_cell_mean(struct stat_line *line, const struct loglin *times);
void stat_cells_pmu(struct stat_line *line, const struct stat_row *row);
/* "-" if it is not known */
void stat_cell_text(const struct stat_line *line, enum stat_column column,
		    char text[TIME_TEXT_SIZE]);

void stat_row_print_histogram(struct printer *p, const struct stat_row *row);

/* All cells but the name, the CPU and the percentages */
void stat_line_set(struct stat_line *line, const struct stat_row *row, bool is_counted);
/* Sort elements of a size that begin with a struct stat_line: the largest first, or by name. */
void stat_lines_sort(void *lines, unsigned int nr, size_t size, enum stat_column column);

/* The counters of EL2 as they are, as a table or with their histograms */
extern const struct columns stat_raw_columns;
int stat_raw(struct context *ctx, const struct columns *columns, bool histogram);

/* stat_metrics.c: the counters for Prometheus */
int stat_metrics(struct context *ctx);

/* Slowest samples of a row that are kept */
#define STAT_SLOW_SAMPLES	16
/* Bytes of the text of an event, its NUL included */
#define STAT_SLOW_TEXT		200

struct stat_slow_sample {
	uint64_t	time;	/* how long it took, ns */
	unsigned int	cpu;	/* the CPU on which it ended */
	char		text[STAT_SLOW_TEXT];	/* its event: the name and the arguments */
};

/* The slowest samples of a row; all 0 but stat and key are none */
struct stat_slow {
	const struct stat	*stat;	/* the verb whose events they are */
	struct stat_key		key;	/* the key of the row */
	struct stat_slow_sample	samples[STAT_SLOW_SAMPLES];	/* the samples, the slowest first */
	unsigned int		nr;
	struct map		kept;	/* the last event of each CPU, or of each vCPU */
};

bool stat_slow_needs(enum stat_by by, enum hyptrace_kind kind);
void stat_slow_free(struct stat_slow *slow);

static inline struct stat_key stat_slow_cpu(const struct stat_cpu *cpu)
{
	return (struct stat_key){ .major = UINT64_MAX, .minor = cpu->id };
}

#endif /* STAT_H */
