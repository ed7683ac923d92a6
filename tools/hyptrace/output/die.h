/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exit codes, notes and errors on stderr, and memory, or exit. It has the headers of C that nearly
 * all files need: only those without it include these.
 */
#ifndef DIE_H
#define DIE_H

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/cleanup.h"

struct hyptrace_error;

enum exit_code {
	EXIT_DONE	= 0,
	EXIT_USAGE	= 1,
	EXIT_REFUSED	= 2,	/* by the kernel or the system */
	EXIT_FOUND	= 3,	/* leaks has found some */
};

void die_no_memory(void) __attribute__((noreturn));

/* @memory, unless it is NULL */
void *or_die(void *memory);
#define xmalloc(size)			or_die(malloc(size))
#define xcalloc(nr, size)		or_die(calloc(nr, size))
#define xreallocarray(memory, nr, size)	or_die(reallocarray(memory, nr, size))
#define xstrdup(text)			((char *)or_die(strdup(text)))
#define xstrndup(text, max)		((char *)or_die(strndup(text, max)))

/* Append an element of all 0 to an array, of which @nr is the number of elements. Return it. */
#define xappend(array, nr) ({ \
	__typeof__(array) *array_ = &(array); \
	unsigned int *nr_ = &(nr); \
	*array_ = xreallocarray(*array_, *nr_ + 1, sizeof(**array_)); \
	memset(*array_ + *nr_, 0, sizeof(**array_)); \
	*array_ + (*nr_)++; \
})

char *xvasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* message.c: all of cmd_fail...() return EXIT_REFUSED */
extern void (*cmd_note_to)(const char *text);
void cmd_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
#define cmd_fail(...)	(cmd_note(__VA_ARGS__), EXIT_REFUSED)
int cmd_fail_verb(const char *verb, const char *subject, const struct hyptrace_error *err);

#endif /* DIE_H */
