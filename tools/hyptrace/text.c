// SPDX-License-Identifier: GPL-2.0-only
/*
 * Strings that grow, and strings escaped for JSON and for a terminal.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "text.h"

/* U+FFFD, which replaces bytes that are not UTF-8 */
#define REPLACEMENT	"\xef\xbf\xbd"

/**
 * text_write - append bytes
 * @text:	the string
 * @s:		the bytes, none of them 0
 * @len:	number of bytes
 */
void text_write(struct text *text, const char *s, size_t len)
{
	if (text->len + len + 1 > text->room) {
		size_t room = 2 * (text->len + len + 1);
		char *grown = realloc(text->s, room);

		if (!grown)
			die_no_memory();
		text->s = grown;
		text->room = room;
	}
	memcpy(text->s + text->len, s, len);
	text->len += len;
	text->s[text->len] = '\0';
}

/**
 * text_puts - append a string
 * @text:	the string that grows
 * @s:		the string to append
 */
void text_puts(struct text *text, const char *s)
{
	text_write(text, s, strlen(s));
}

/**
 * text_clear - free a string
 * @text:	the string; empty afterwards
 */
void text_clear(struct text *text)
{
	free(text->s);
	memset(text, 0, sizeof(*text));
}

/*
 * Return the number of bytes of the character at @s, 0 if it is not valid UTF-8.
 * Overlong forms, surrogates and codes above U+10FFFF are not valid.
 */
static size_t utf8_len(const unsigned char *s)
{
	uint32_t code;
	size_t len, i;

	if (s[0] < 0x80)
		return 1;
	if ((s[0] & 0xe0) == 0xc0) {
		len = 2;
		code = s[0] & 0x1f;
	} else if ((s[0] & 0xf0) == 0xe0) {
		len = 3;
		code = s[0] & 0x0f;
	} else if ((s[0] & 0xf8) == 0xf0) {
		len = 4;
		code = s[0] & 0x07;
	} else {
		return 0;
	}
	/* a NUL is not a continuation byte, so this ends within the string */
	for (i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if ((len == 2 && code < 0x80) || (len == 3 && code < 0x800) ||
	    (len == 4 && (code < 0x10000 || code > 0x10ffff)) ||
	    (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return len;
}

/**
 * text_width - get the width of a string
 * @s:		UTF-8 whose characters take one column each
 *
 * Return: the number of columns.
 */
size_t text_width(const char *s)
{
	size_t width = 0;

	for (; *s; s++)
		width += ((unsigned char)*s & 0xc0) != 0x80;
	return width;
}

/**
 * text_json - append a JSON string with its quotes
 * @text:	the string that grows
 * @s:		the string to append; bytes that are not UTF-8 become U+FFFD
 */
void text_json(struct text *text, const char *s)
{
	static const char names[] = "btn\0fr";	/* letters of the codes 8 to 13 */
	char escape[8];

	text_write(text, "\"", 1);
	while (*s) {
		const unsigned char c = *s;
		size_t len = utf8_len((const unsigned char *)s);

		if (!len) {
			text_puts(text, REPLACEMENT);
			len = 1;
		} else if (c == '"' || c == '\\') {
			escape[0] = '\\';
			escape[1] = c;
			text_write(text, escape, 2);
		} else if (c >= '\b' && c <= '\r' && names[c - '\b']) {
			escape[0] = '\\';
			escape[1] = names[c - '\b'];
			text_write(text, escape, 2);
		} else if (c < ' ' || c == 0x7f) {
			snprintf(escape, sizeof(escape), "\\u%04x", c);
			text_puts(text, escape);
		} else {
			text_write(text, s, len);
		}
		s += len;
	}
	text_write(text, "\"", 1);
}

/**
 * text_plain - append a string as text for a terminal
 * @text:	the string that grows
 * @s:		the string to append; control characters and bytes that are not UTF-8
 *		become \xNN
 */
void text_plain(struct text *text, const char *s)
{
	char escape[8];

	while (*s) {
		const unsigned char *c = (const unsigned char *)s;
		size_t len = utf8_len(c);
		/* U+0080 to U+009F are control characters, too */
		bool control = len && (c[0] < ' ' || c[0] == 0x7f || (c[0] == 0xc2 && c[1] < 0xa0));

		if (len && !control) {
			text_write(text, s, len);
			s += len;
			continue;
		}
		snprintf(escape, sizeof(escape), "\\x%02x", *c);
		text_puts(text, escape);
		s++;
	}
}
