// SPDX-License-Identifier: GPL-2.0-only
/*
 * The print formats of hyp_printk and func. An event has the place of its format, or the number of
 * a function. The print format has their texts, as names of these values.
 */
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "formats.h"

static const struct kind {
	const char	*head;
	const char	*tail;
	/* It must fit in a message to user space, once more with each name in a nest. */
	size_t		bytes;
	bool		is_numbered;
} kinds[] = {
	[HYPTRACE_NAMES_PRINTK] = {
		.head =
			"\"%s a=0x%llx b=0x%llx c=0x%llx d=0x%llx\", __print_symbolic(REC->fmt_id",
		.tail	= "), REC->a, REC->b, REC->c, REC->d",
		.bytes	= 4096,
	},
	[HYPTRACE_NAMES_FUNC] = {
		.head	= "\"id=%s depth=%u duration=%llu ago=%llu\", __print_symbolic(REC->id",
		.tail	= "), REC->depth, REC->duration, REC->ago",
		.bytes	= 12288,
		.is_numbered = true,
	},
};

/* Characters that would end the name; a name has no escapes. */
static void put_text(struct seq_buf *buf, const char *text)
{
	for (; *text; text++) {
		if (*text == '"')
			seq_buf_printf(buf, "'");
		else if (*text >= ' ' && *text != '\\')
			seq_buf_printf(buf, "%c", *text);
	}
}

/**
 * hyptrace_formats_print_fmt() - make a print format with names
 * @of:		which one
 * @formats:	the names: strings, any number of zeros between two; the last one ends with a zero
 * @size:	bytes of @formats
 *
 * Names for which there is no room are left out.
 *
 * Return: the print format, for kfree(); NULL if there is no name, or no memory.
 */
char *hyptrace_formats_print_fmt(enum hyptrace_names of, const char *formats, size_t size)
{
	const struct kind *kind = &kinds[of];
	char *print_fmt = kzalloc(kind->bytes, GFP_KERNEL);
	const size_t room = kind->bytes - strlen(kind->tail) - 1;
	unsigned int nr = 0;
	bool any = false;
	struct seq_buf buf;
	size_t at = 0;

	if (!print_fmt)
		return NULL;
	seq_buf_init(&buf, print_fmt, kind->bytes);
	seq_buf_printf(&buf, "%s", kind->head);
	while (at < size) {
		size_t length = strnlen(formats + at, size - at);
		size_t before = buf.len;

		if (length && at + length < size) {
			seq_buf_printf(&buf, ", { %zu, \"", kind->is_numbered ? nr++ : at);
			put_text(&buf, formats + at);
			seq_buf_printf(&buf, "\" }");
			if (buf.len > room)
				buf.len = before;
			else
				any = true;
		}
		at += length + 1;
	}
	seq_buf_printf(&buf, "%s", kind->tail);
	print_fmt[buf.len] = '\0';
	if (any)
		return print_fmt;
	kfree(print_fmt);
	return NULL;
}
