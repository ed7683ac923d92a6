/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The numbers of hyptrace top, which grow with each interval. For cmd_top.c.
 */
#ifndef TOP_MODEL_H
#define TOP_MODEL_H

#include "view/times/stat.h"
#include "top_view.h"

/**
 * struct top_history - the last minute of a row
 * @key:	its key
 * @name:	its name
 * @last:	the second of the youngest value
 * @seconds:	a value for each second, by the second modulo TOP_SECONDS
 */
struct top_history {
	struct stat_key	key;
	char		name[TOP_NAME_SIZE];
	uint64_t	last;
	double		seconds[TOP_SECONDS];
};

/**
 * struct top_model - the numbers; all 0 are none
 * @remote:	the remote's name, or NULL
 * @by:		what the rows are
 * @is_counted:	the last interval was counted by EL2
 * @sums:	the rows since the begin of the sums
 * @now:	the rows of the last interval
 * @history:	the last minute of each row of @sums, in the same order
 * @begin:	begin of the sums, ns
 * @first:	begin of the spark lines, ns
 * @end:	end of the last interval, ns
 * @interval:	its length, ns
 * @events:	events that were read since @begin
 * @lost:	events that were lost since then
 * @lost_more:	more were lost, and nobody knows how many
 * @cpus:	the CPUs
 * @nr_cpus:	number of @cpus
 */
struct top_model {
	const char		*remote;
	enum stat_by		by;
	bool			is_counted;
	struct stat_rows	sums;
	struct stat_rows	now;
	struct top_history	*history;
	uint64_t		begin;
	uint64_t		first;
	uint64_t		end;
	uint64_t		interval;
	uint64_t		events;
	uint64_t		lost;
	bool			lost_more;
	struct top_cpu		*cpus;
	unsigned int		nr_cpus;
};

void top_model_take(struct top_model *model, const struct stat *stat);
void top_model_view(const struct top_model *model, struct top_view *view);
void top_view_free(struct top_view *view);
const struct stat_row *top_model_row(const struct top_model *model, struct stat_key key);
void top_model_reset(struct top_model *model);
void top_model_free(struct top_model *model);

#endif /* TOP_MODEL_H */
