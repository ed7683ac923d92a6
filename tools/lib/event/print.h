/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Print formats, compiled to short lists of steps. For format.c.
 */
#ifndef HYPTRACE_PRINT_H
#define HYPTRACE_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "place.h"

struct tep_event;

enum step_kind {
	STEP_SYMBOL,
	STEP_UNSIGNED,	/* decimal, not padded */
	STEP_SIGNED,
	STEP_NUMBER,	/* any other number */
	STEP_FLAGS,
	STEP_TEXT,	/* no value */
};

/* A text; DIGITS_SLACK bytes after it are readable */
struct span {
	const char	*text;
	size_t		len;
};

/* The name of a value, or of a flag */
struct name {
	uint64_t	value;
	struct span	span;
};

/**
 * struct step - a text, and the value that follows it
 * @span:	the text
 * @kind:	enum step_kind
 * @last:	this is the last step
 * @place:	of the field in the payload
 * @mask:	bits of the field that are printed
 * @names:	SYMBOL, FLAGS: names of the values or flags
 * @nr_names:	number of @names; those of SYMBOL ascend by value
 * @first:	SYMBOL: value of the first name
 * @nr_dense:	SYMBOL: @nr_names if the values have no gaps, else 0
 * @delim:	FLAGS: text between two names
 * @width:	NUMBER: minimum of columns
 * @fill:	NUMBER: padding character
 * @ten:	NUMBER: character of the digit ten; 0 for decimal
 * @is_signed:	NUMBER: it may be negative
 * @alternate:	NUMBER: prefix it with 0x or 0X
 */
struct step {
	struct span	span;
	uint8_t		kind;
	bool		last;
	struct place	place;
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
 * @size:	bytes of the payload
 * @pool:	memory of the texts
 * @names:	memory of the names
 * @steps:	at least one
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
