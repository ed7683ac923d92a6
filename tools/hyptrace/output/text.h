/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Strings for a terminal, JSON and CSV.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>
#include <stdio.h>

struct out;

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
void text_close(FILE *f);

#endif /* TEXT_H */
