/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Escape strings for a terminal and for JSON. For the printer.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stdio.h>

struct out;

void text_put_plain(struct out *out, const char *s);
void text_put_json(struct out *out, const char *s);
char *text_copy_plain(const char *s);
FILE *text_open(char **text, size_t *len);
void text_close(FILE *f);

#endif /* TEXT_H */
