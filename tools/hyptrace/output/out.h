/* SPDX-License-Identifier: GPL-2.0-only */
/* Buffers in front of descriptors; strings for a terminal, JSON and CSV; a pager; progress. */
#ifndef OUT_H
#define OUT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct hyptrace_file;

/* A buffer of at least so many bytes is written before it would grow. */
#define OUT_BUFFER	(64 << 10)

struct out {
	int				fd;
	int				error;	/* errno of a write: further output is dropped */
	/* if set, a write that a signal interrupts is given up; may be NULL */
	const volatile sig_atomic_t	*abandon;
	void				(*before)(void *arg);	/* a write; may be NULL */
	void				*before_arg;
	size_t				len;	/* bytes in buf */
	size_t				size;	/* bytes that buf can have */
	char				*buf;	/* NULL before the first byte; of out_free() */
	bool				grows;	/* in place of being written */
};

void out_init(struct out *out, int fd);
/* Keep all output in memory that grows. */
void out_init_memory(struct out *out);
/* Drop the buffer. */
void out_free(struct out *out);
void out_make_room(struct out *out, size_t size);
void out_flush(struct out *out);
void out_interrupt(void);
void out_write(struct out *out, const void *data, size_t len);
void out_puts(struct out *out, const char *text);
void out_spaces(struct out *out, size_t nr);
bool out_has_failed(const struct out *out);
void out_printf(struct out *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static inline void out_putc(struct out *out, char c)
{
	if (__builtin_expect(out->len == out->size, 0))
		out_make_room(out, 1);
	out->buf[out->len++] = c;
}

/* Room in the buffer for the next bytes: fill it, then call out_put_to(). */
static inline char *out_room(struct out *out, size_t size)
{
	if (__builtin_expect(size > out->size - out->len, 0))
		out_make_room(out, size);
	return out->buf + out->len;
}

static inline void out_put_to(struct out *out, const char *end)
{
	out->len = end - out->buf;
}

/* Strings */

/* Bytes that text_json() and text_csv() write for each byte of a string at most, and in addition */
#define TEXT_FACTOR	6
#define TEXT_MORE	16

/* Blanks before each level of JSON, and of objects in text */
#define TEXT_INDENT	2

/* Bytes that are not printable ASCII become \xNN. */
void text_put_plain(struct out *out, const char *s);
char *text_copy_plain(const char *s);

/* With quotes; bytes that are not printable ASCII become \u00NN. Returns the end. */
char *text_json(char *to, const char *text, size_t len);
void text_put_json(struct out *out, const char *s);
/* Begin a line that is indented. */
void text_new_line(struct out *out, unsigned int depth);
/* Print JSON without blanks with them, in lines that are indented from the second one on. */
void text_indent_json(struct out *out, const char *json, size_t len, unsigned int depth);

/* With quotes if it needs them. Returns the end. */
char *text_csv(char *to, const char *text, size_t len);
char *text_copy_csv(const char *s);

/* A string that grows, for free(); it is valid after text_close(). */
FILE *text_open(char **text);
void text_close(FILE *f, char **text);

/* pager.c: the pager on a terminal */

/* The pager has ended: nobody reads what is printed. */
extern volatile sig_atomic_t pager_has_ended;

void pager_begin(struct out *out);
void pager_end(struct out *out);

/* How much of a file was read: show it while that takes more than a second */
void progress_begin(const struct hyptrace_file *file, bool wanted);
void progress_end(void);
bool is_stdout_file(void);

#endif /* OUT_H */
