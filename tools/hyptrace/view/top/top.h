/* SPDX-License-Identifier: GPL-2.0-only */
/* The numbers and the state of hyptrace top. */
#ifndef TOP_H
#define TOP_H

#include "view/times/stat.h"

/* Spark lines have a value for each second of the last minute */
#define TOP_SECONDS	60

struct top_row {
	struct stat_line	line;	/* first: see stat_lines_sort() */
	/* time in ns, or number of samples, of each second; the last one is the youngest */
	double			spark[TOP_SECONDS];
};

/* Where the time of a CPU went in the last interval */
struct top_cpu {
	unsigned int	id;
	uint64_t	ns[NR_STAT_PLACES];
};

/* Plain numbers, which do not change while the display is paused */
struct top_view {
	const char	*source;	/* the remote or the file; NULL for none */
	enum stat_by	by;
	bool		is_counted;	/* by EL2: there are no events */
	bool		is_file;	/* a file is replayed */
	bool		is_over;	/* it has ended */
	uint64_t	interval;	/* the length of the last interval, ns; 0 before its end */
	double		seconds;	/* time since the begin of the sums */
	unsigned int	known;	/* seconds of the spark lines that have a value */
	uint64_t	events;	/* events read since the begin of the sums */
	uint64_t	lost;
	bool		lost_more;	/* and nobody knows how many */
	struct top_cpu	*cpus;
	unsigned int	nr_cpus;
	struct top_row	*rows;
	unsigned int	nr_rows;
};

/* The columns from left to right; NR_STAT_COLUMNS ends them. */
extern const enum stat_column top_columns[];

/* The next column that is shown, to the right (1) or the left (-1); the first follows the last. */
enum stat_column top_column_next(const struct top_view *view, enum stat_column column, int step);

/* The screen has no last column or no last line: for batch mode */
#define TOP_UNLIMITED	0

enum top_style {
	TOP_PLAIN,
	TOP_TITLE,
	TOP_HEAD,
	TOP_SELECTED,
	TOP_LOSS,
};

struct top_line {
	char		*text;	/* UTF-8 only if the screen has it; no longer than the screen */
	enum top_style	style;
};

/* All 0 is an empty one without limits. */
struct top_screen {
	unsigned int	width;	/* or TOP_UNLIMITED */
	unsigned int	height;	/* likewise */
	bool		has_utf8;
	struct top_line	*lines;
	unsigned int	nr;
};

/* What the user has chosen */
struct top_look {
	enum stat_column	sort;
	bool			per_cpu;	/* a line for each CPU */
	bool			paused;	/* the numbers do not change */
	bool			has_selected;
	struct stat_key		selected;
	const char		*note;	/* the last message, or NULL */
};

/* top_screen.c */
void top_screen_rows(struct top_screen *screen, const struct top_view *view,
		     const struct top_look *look);
void top_screen_free(struct top_screen *screen);

/* Up to TOP_SECONDS bars of up to three bytes; @known: how many of the last seconds have a value */
void top_spark(const struct top_row *row, unsigned int known, unsigned int width, bool has_utf8,
	       char *to);

/* @row and @sum are NULL if they are not known yet; @sum is that of all samples. */
void top_screen_detail(struct top_screen *screen, const struct top_view *view,
		       const struct top_row *row, const struct stat_row *sum,
		       const struct stat_slow *slow, const char *note);
void top_screen_help(struct top_screen *screen);

/* top_terminal.c: what the user has done */
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
/* Forget all numbers; what the rows are, and the source, stay. */
void top_model_free(struct top_model *model);

void top_take_key(struct top *top, enum top_key key);
/* Show again what was shown before the last choice, which was refused. */
void top_return(struct top *top);

#endif /* TOP_H */
