/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What hyptrace top shows at a moment: plain numbers, which do not change while the display is
 * paused. top_model.c makes them, top_screen.c renders them.
 */
#ifndef TOP_VIEW_H
#define TOP_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "view/times/stat_rows.h"
#include "view/times/stat_times.h"

/* Bytes of the name of a row, its NUL included */
#define TOP_NAME_SIZE	64
/* Spark lines have a value for each second of the last minute */
#define TOP_SECONDS	60

/**
 * struct top_row - a row
 * @key:	its key
 * @name:	its name
 * @samples:	samples since the begin of the sums
 * @total:	the sum of their times, ns
 * @longest:	the longest one, ns; 0 if it is not known
 * @p99:	the 99th percentile, ns; only of events
 * @guest:	time in guests, ns; only of guest exits
 * @now:	samples of the last interval
 * @now_timed:	those of them that have a time
 * @now_total:	the sum of their times, ns
 * @spark:	time in ns, or number of samples, of each second; the last one is the youngest
 */
struct top_row {
	struct stat_key	key;
	char		name[TOP_NAME_SIZE];
	uint64_t	samples;
	uint64_t	total;
	uint64_t	longest;
	uint64_t	p99;
	uint64_t	guest;
	uint64_t	now;
	uint64_t	now_timed;
	uint64_t	now_total;
	double		spark[TOP_SECONDS];
};

/**
 * struct top_cpu - where the time of a CPU went in the last interval
 * @id:		the CPU
 * @ns:		the time at each place
 */
struct top_cpu {
	unsigned int	id;
	uint64_t	ns[NR_STAT_PLACES];
};

/**
 * struct top_view - what is shown
 * @remote:	the remote's name, or NULL
 * @by:		the argument of --by
 * @is_counted:	the numbers are counters of EL2: there are no events
 * @has_time:	the samples have times
 * @is_exit:	the rows are exits of guests
 * @interval:	the length of the last interval, ns; 0 before its end
 * @seconds:	time since the begin of the sums, s
 * @known:	seconds of the spark lines that have a value
 * @events:	events that were read since the begin of the sums
 * @lost:	events that were lost
 * @lost_more:	more were lost, and nobody knows how many
 * @cpus:	the CPUs
 * @nr_cpus:	number of @cpus
 * @rows:	the rows
 * @nr_rows:	number of @rows
 */
struct top_view {
	const char	*remote;
	const char	*by;
	bool		is_counted;
	bool		has_time;
	bool		is_exit;
	uint64_t	interval;
	double		seconds;
	unsigned int	known;
	uint64_t	events;
	uint64_t	lost;
	bool		lost_more;
	struct top_cpu	*cpus;
	unsigned int	nr_cpus;
	struct top_row	*rows;
	unsigned int	nr_rows;
};

/* The columns of rows, and the keys of --key */
enum top_column {
	TOP_NAME,
	TOP_RATE,
	TOP_TIME,
	TOP_MEAN,
	TOP_MAX,
	TOP_P99,
	TOP_SAMPLES,
	TOP_TOTAL,
	TOP_GUEST,
	NR_TOP_COLUMNS
};

/* Size of the text of a cell, its NUL included */
#define TOP_CELL_SIZE	32

/* top_columns.c */
const char *top_column_key(enum top_column column);
const char *top_column_head(enum top_column column);
unsigned int top_column_width(enum top_column column);
bool top_column_find(const char *key, enum top_column *column);
bool top_column_is_shown(const struct top_view *view, enum top_column column);
enum top_column top_column_next(const struct top_view *view, enum top_column column, int step);
void top_column_cell(const struct top_view *view, const struct top_row *row,
		     enum top_column column, char cell[TOP_CELL_SIZE]);
void top_sort(struct top_view *view, enum top_column column);

#endif /* TOP_VIEW_H */
