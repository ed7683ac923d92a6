/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The numbers and the state of hyptrace top.
 */
#ifndef TOP_H
#define TOP_H

#include "top_screen.h"

/* top_terminal.c: the terminal */

/* What the user has done */
enum top_key {
	TOP_KEY_NONE,		/* nothing more */
	TOP_KEY_REDRAW,		/* the size has changed, or the program was stopped */
	TOP_KEY_GONE,		/* the terminal is gone */
	TOP_KEY_LEFT,
	TOP_KEY_RIGHT,
	TOP_KEY_UP,
	TOP_KEY_DOWN,
	TOP_KEY_ENTER,
	TOP_KEY_BACK,
	TOP_KEY_GROUP,
	TOP_KEY_PER_CPU,
	TOP_KEY_PAUSE,
	TOP_KEY_RESET,
	TOP_KEY_HELP,
	TOP_KEY_QUIT,
	TOP_KEY_OTHER,
};

int top_terminal_begin(void);
void top_terminal_size(struct top_screen *screen);
void top_terminal_show(const struct top_screen *screen);
enum top_key top_terminal_key(void);
void top_terminal_end(void);
bool top_terminal_has_utf8(void);

/* The last minute of a row */
struct top_history {
	char		name[STAT_NAME_SIZE];
	uint64_t	last;	/* the second of the youngest value */
	double		seconds[TOP_SECONDS];	/* by the second modulo TOP_SECONDS */
};

/* The numbers, which grow with each interval */
struct top_model {
	struct top_view		view;	/* of the last interval, without rows */
	struct stat_rows	sums;	/* the rows since the begin of the sums */
	struct stat_rows	now;	/* the rows of the last interval */
	struct top_history	*history;	/* of each row of sums */
	uint64_t		begin;	/* begin of the sums, ns */
	uint64_t		first;	/* begin of the spark lines, ns */
	uint64_t		end;	/* end of the last interval, ns */
};

enum top_next {
	TOP_STAY,
	TOP_OTHER_SOURCE,	/* other rows, or events in place of counters */
	TOP_QUIT,
};

struct top {
	struct stat		stat;	/* the options */
	uint64_t		end;	/* of --duration, by CLOCK_MONOTONIC; or 0 */
	enum stat_column	sort;	/* the user's choice */
	bool			is_batch;	/* print blocks of text */
	bool			has_utf8;
	struct top_model	model;
	struct top_view		view;	/* what is shown of the model */
	struct top_look		look;
	bool			is_help;	/* the help is shown */
	bool			is_detail;	/* the row of slow is shown alone */
	struct stat_slow	slow;
	enum top_next		next;	/* what the user wants */
	bool			has_worked;	/* the source has given an interval */
	uint64_t		shown;	/* of a file: the end of the last interval that was shown */
	enum stat_by		last_by;	/* before the last choice of the user */
};

/* top_model.c */
void top_model_take(struct top_model *model, const struct stat *stat);
/* @view refers to nothing of the model; for top_view_free() */
void top_model_view(const struct top_model *model, struct top_view *view);
void top_view_free(struct top_view *view);
/* Begin the sums again; the last minute stays. */
void top_model_reset(struct top_model *model);
/* Forget all numbers; what the rows are, and the source, stay. */
void top_model_free(struct top_model *model);

/* top_keys.c */
void top_take_key(struct top *top, enum top_key key);
/* Show again what was shown before the last choice, which was refused. */
void top_return(struct top *top);

#endif /* TOP_H */
