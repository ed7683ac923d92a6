/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Print formats as short lists of steps. For format.c.
 */
#ifndef HYPTRACE_PRINT_H
#define HYPTRACE_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tep_event;

enum step_kind {
	STEP_SYMBOL,
	STEP_UNSIGNED,	/* decimal, as many columns as it takes */
	STEP_SIGNED,
	STEP_NUMBER,	/* any other */
	STEP_FLAGS,
	STEP_TEXT,	/* no value */
};

/* A text with DIGITS_SLACK bytes behind that may be read */
struct span {
	const char	*text;
	size_t		len;
};

/* A name of a value, or of a flag */
struct name {
	uint64_t	value;
	struct span	span;
};

/**
 * struct step - a text, and the value that follows it
 * @span:	the text
 * @kind:	enum step_kind
 * @last:	nothing follows
 * @left:	how far the eight bytes at @offset of the payload are shifted, ...
 * @right:	... and back again with their sign, to leave the field
 * @offset:	in the payload
 * @mask:	bits of the field that are printed
 * @names:	SYMBOL, FLAGS: its names
 * @nr_names:	how many; those of SYMBOL ascend
 * @first:	SYMBOL: the value of the first one
 * @nr_dense:	SYMBOL: @nr_names if the values have no gaps, else 0
 * @delim:	FLAGS: stands between two names
 * @width:	NUMBER: columns that it takes at least
 * @fill:	NUMBER: what fills them up
 * @ten:	NUMBER: the digit ten; 0 for decimal
 * @is_signed:	NUMBER: it may be negative
 * @alternate:	NUMBER: 0x or 0X is put before it
 */
struct step {
	struct span	span;
	uint8_t		kind;
	bool		last;
	uint8_t		left;
	uint8_t		right;
	uint32_t	offset;
	uint64_t	mask;
	struct name	*names;
	uint32_t	nr_names;
	uint32_t	nr_dense;
	uint64_t	first;
	struct span	delim;
	uint8_t		width;
	char		fill;
	char		ten;
	bool		is_signed;
	bool		alternate;
};

/**
 * struct print - a print format
 * @size:	of the payload
 * @pool:	memory of the texts
 * @names:	memory of the names
 * @steps:	one at least
 */
struct print {
	uint32_t	size;
	char		*pool;
	struct name	*names;
	struct step	steps[];
};

/* print_build.c */
struct print *hyptrace_print_new(struct tep_event *event, uint32_t size, const char *lead);

/* print.c */
void hyptrace_print_free(struct print *print);
char *hyptrace_print_run(const struct print *print, const void *data, char *to);

#endif /* HYPTRACE_PRINT_H */
