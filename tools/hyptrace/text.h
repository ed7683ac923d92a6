/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Strings that grow, and strings escaped for printing. For the printer.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>

/**
 * struct text - a string that grows
 * @s:		its bytes and a NUL; NULL until something was appended
 * @len:	its length without the NUL
 * @room:	allocated bytes
 */
struct text {
	char	*s;
	size_t	len;
	size_t	room;
};

void text_write(struct text *text, const char *s, size_t len);
void text_puts(struct text *text, const char *s);
void text_clear(struct text *text);
size_t text_width(const char *s);
void text_json(struct text *text, const char *s);
void text_plain(struct text *text, const char *s);

#endif /* TEXT_H */
