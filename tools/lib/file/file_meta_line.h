/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of the lines of a file's description. For file_meta.c, which has it and parses by it,
 * and file_meta_text.c, which writes by it.
 */
#ifndef HYPTRACE_FILE_META_LINE_H
#define HYPTRACE_FILE_META_LINE_H

#include <stddef.h>
#include <stdint.h>

struct parser;

enum value_type {
	VALUE_NONE,
	VALUE_NUMBER,		/* uint64_t */
	VALUE_COUNT,		/* the same, with all its digits */
	VALUE_SIGNED,		/* int64_t */
	VALUE_U32,
	VALUE_BOOL,
	VALUE_TEXT,		/* char * */
	VALUE_NAME,		/* the same */
	VALUE_ARRAY,		/* a name in an array */
};

/* A value of a line */
struct file_meta_value {
	enum value_type	type;
	size_t		offset;	/* where it is kept */
	uint32_t	max;	/* bytes of a name, or the largest number; 0 for that of the type */
	const char	*others;	/* characters of a name that a name in C does not have */
};

/* What lines describe, and others after them describe further */
enum owner {
	OWNER_META,
	OWNER_EVENT,
	OWNER_FIELD,
	OWNER_CALL,
	NR_OWNERS
};

/* A kind of lines. If it has a @size, each line is an element of a list of its owner. */
struct file_meta_line {
	const char	*keyword;
	enum owner	of;
	enum owner	is;	/* if it owns other lines */
	const char	*orphan;	/* says that there is no owner */
	size_t		list;	/* where the owner has the list, and its length */
	size_t		nr;
	size_t		size;	/* of an element */
	/* returns what is wrong, or NULL */
	const char	*(*check)(struct parser *p, const void *element);
	struct file_meta_value	values[6];	/* and VALUE_NONE */
};

/* In the order of the text, up to a line without a keyword */
extern const struct file_meta_line hyptrace_file_meta_lines[];

#endif /* HYPTRACE_FILE_META_LINE_H */
