/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exit codes of the command, its notes and errors on stderr, and memory that is there, or the
 * command exits.
 */
#ifndef DIE_H
#define DIE_H

#include <stdarg.h>
#include <stddef.h>

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
void *xmalloc(size_t size);
void *xcalloc(size_t nr, size_t size);
void *xreallocarray(void *memory, size_t nr, size_t size);
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t max);
char *xvasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* message.c: all of cmd_fail...() return EXIT_REFUSED */
extern void (*cmd_note_to)(const char *text);
void cmd_vnote(const char *fmt, va_list ap);
void cmd_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int cmd_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int cmd_fail_verb(const char *verb, const char *subject, const struct hyptrace_error *err);

#endif /* DIE_H */
