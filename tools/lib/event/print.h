/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Print formats, compiled to short lists of steps. For format.c.
 */
#ifndef HYPTRACE_PRINT_H
#define HYPTRACE_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/place.h"

struct tep_event;

enum step_kind {
	STEP_SYMBOL,
	STEP_UNSIGNED,	/* decimal, not padded */
	STEP_SIGNED,
	STEP_HEX,
	STEP_TEXT,	/* no value */
};

/* A text; DIGITS_SLACK bytes after it are readable */
struct span {
	const char	*text;
	size_t		len;
};

/* A text, and the value that follows it */
struct step {
	struct span	span;
	uint8_t		kind;	/* enum step_kind */
	bool		last;	/* this is the last step */
	struct place	place;	/* of the field in the payload */
	uint64_t	mask;	/* bits of the field that are printed */
	struct sentence_symbols	*names;	/* SYMBOL: names of the values */
};

struct print {
	uint32_t	size;
	unsigned int	nr;	/* of steps */
	char		*pool;	/* memory of the texts */
	struct step	steps[];	/* at least one */
};

struct print *hyptrace_print_new(struct tep_event *event, uint32_t size, const char *lead);
void hyptrace_print_free(struct print *print);
char *hyptrace_print_run(const struct print *print, const void *data, char *to);

#endif /* HYPTRACE_PRINT_H */
