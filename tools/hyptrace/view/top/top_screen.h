/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What top shows at a moment, and its screen as lines of text. It knows no terminal: top_terminal.c
 * shows it.
 */
#ifndef TOP_SCREEN_H
#define TOP_SCREEN_H

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
void top_screen_add(struct top_screen *screen, enum top_style style, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The last line, if the screen is high enough: a note, or else what keys do */
void top_screen_footer(struct top_screen *screen, const char *note, const char *keys);
void top_screen_rows(struct top_screen *screen, const struct top_view *view,
		     const struct top_look *look);
void top_screen_free(struct top_screen *screen);

/*
 * Write a spark line of up to TOP_SECONDS bars, each of up to three bytes. @known is
 * the number of the youngest seconds that have a value. The largest bar is the highest one.
 */
void top_spark(const struct top_row *row, unsigned int known, unsigned int width, bool has_utf8,
	       char *to);

/* top_detail.c: @row and @sum are NULL if they are not known yet; @sum is that of all samples. */
void top_screen_detail(struct top_screen *screen, const struct top_view *view,
		       const struct top_row *row, const struct stat_row *sum,
		       const struct stat_slow *slow, const char *note);
void top_screen_help(struct top_screen *screen);

#endif /* TOP_SCREEN_H */
