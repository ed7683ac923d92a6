/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The screen of hyptrace top as lines of text. It knows no terminal: top_terminal.c shows it.
 */
#ifndef TOP_SCREEN_H
#define TOP_SCREEN_H

#include "view/times/stat_slow.h"
#include "top_view.h"

/* The screen has no last column or no last line: for batch mode */
#define TOP_UNLIMITED	0

enum top_style {
	TOP_PLAIN,
	TOP_TITLE,
	TOP_HEAD,
	TOP_SELECTED,
	TOP_LOSS,
};

/**
 * struct top_line - a line
 * @text:	its text, in UTF-8 only if the screen has it, and no longer than the screen is wide
 * @style:	how it looks
 */
struct top_line {
	char		*text;
	enum top_style	style;
};

/**
 * struct top_screen - a screen; all 0 is an empty one without limits
 * @width:	its columns, or TOP_UNLIMITED
 * @height:	its lines, or TOP_UNLIMITED
 * @has_utf8:	it can show block elements
 * @lines:	the lines
 * @nr:		number of @lines, at most @height
 */
struct top_screen {
	unsigned int	width;
	unsigned int	height;
	bool		has_utf8;
	struct top_line	*lines;
	unsigned int	nr;
};

/**
 * struct top_look - what the user has chosen
 * @sort:	the column by which the rows are sorted
 * @per_cpu:	a line for each CPU
 * @paused:	the numbers do not change
 * @has_selected: a row is selected
 * @selected:	its key
 * @note:	the last message, or NULL
 */
struct top_look {
	enum top_column	sort;
	bool		per_cpu;
	bool		paused;
	bool		has_selected;
	struct stat_key	selected;
	const char	*note;
};

/* top_screen.c */
void top_screen_add(struct top_screen *screen, enum top_style style, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void top_screen_footer(struct top_screen *screen, const char *note, const char *keys);
void top_screen_rows(struct top_screen *screen, const struct top_view *view,
		     const struct top_look *look);
void top_screen_free(struct top_screen *screen);

/* top_spark.c */
void top_spark(const struct top_row *row, unsigned int known, unsigned int width, bool has_utf8,
	       char *to);

/* top_detail.c */
void top_screen_detail(struct top_screen *screen, const struct top_view *view,
		       const struct top_row *row, const struct stat_row *sum,
		       const struct stat_slow *slow, const char *note);
void top_screen_help(struct top_screen *screen);

#endif /* TOP_SCREEN_H */
