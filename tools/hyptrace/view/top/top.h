/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of hyptrace top. For cmd_top.c and top_keys.c.
 */
#ifndef TOP_H
#define TOP_H

#include "top_model.h"
#include "top_screen.h"
#include "top_terminal.h"

enum top_next {
	TOP_STAY,
	TOP_OTHER_SOURCE,	/* other rows, or events in place of counters */
	TOP_QUIT,
};

/**
 * struct top - the settings and the state of the verb
 * @ctx:	the verb's context
 * @by:		what the rows are
 * @interval:	length of an interval, ns
 * @count:	intervals until the end; 0 for no limit
 * @has_sort:	--key was given
 * @is_batch:	print blocks of text
 * @has_utf8:	characters are shown in UTF-8
 * @model:	the numbers
 * @view:	what is shown of them
 * @look:	how it is shown
 * @is_help:	the help is shown
 * @is_detail:	the row of @slow is shown alone
 * @slow:	its slowest samples
 * @next:	what the user wants
 * @has_worked:	the source has given the numbers of an interval
 * @last_by:	@by before the last choice of the user
 */
struct top {
	struct context		*ctx;
	enum stat_by		by;
	uint64_t		interval;
	uint64_t		count;
	bool			has_sort;
	bool			is_batch;
	bool			has_utf8;
	struct top_model	model;
	struct top_view		view;
	struct top_look		look;
	bool			is_help;
	bool			is_detail;
	struct stat_slow	slow;
	enum top_next		next;
	bool			has_worked;
	enum stat_by		last_by;
};

/* top_keys.c */
void top_take_key(struct top *top, enum top_key key);
void top_return(struct top *top);

#endif /* TOP_H */
