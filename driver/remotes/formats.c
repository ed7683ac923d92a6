// SPDX-License-Identifier: GPL-2.0-only
/*
 * The print format of hyp_printk. The event has the place of its format among all formats of
 * the hypervisor; the print format has their texts, as names of these values.
 */
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "formats.h"

/* The print format must fit in a message to user space, once more with each name in a nest. */
#define PRINT_FMT_BYTES		4096

#define HEAD	"\"%s a=0x%llx b=0x%llx c=0x%llx d=0x%llx\", __print_symbolic(REC->fmt_id"
#define TAIL	"), REC->a, REC->b, REC->c, REC->d"

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
 * hyptrace_formats_print_fmt() - make the print format of hyp_printk
 * @formats:	strings, with any number of zeros between two; the last one ends with a zero
 * @size:	bytes of @formats
 *
 * Formats for which there is no room have no name.
 *
 * Return: the print format, for kfree(); NULL if there is no format, or no memory.
 */
char *hyptrace_formats_print_fmt(const char *formats, size_t size)
{
	char *print_fmt = kzalloc(PRINT_FMT_BYTES, GFP_KERNEL);
	const size_t room = PRINT_FMT_BYTES - sizeof(TAIL);
	bool any = false;
	struct seq_buf buf;
	size_t at = 0;

	if (!print_fmt)
		return NULL;
	seq_buf_init(&buf, print_fmt, PRINT_FMT_BYTES);
	seq_buf_printf(&buf, "%s", HEAD);
	while (at < size) {
		size_t length = strnlen(formats + at, size - at);
		size_t before = buf.len;

		if (length && at + length < size) {
			seq_buf_printf(&buf, ", { %zu, \"", at);
			put_text(&buf, formats + at);
			seq_buf_printf(&buf, "\" }");
			if (buf.len > room)
				buf.len = before;
			else
				any = true;
		}
		at += length + 1;
	}
	seq_buf_printf(&buf, "%s", TAIL);
	print_fmt[buf.len] = '\0';
	if (any)
		return print_fmt;
	kfree(print_fmt);
	return NULL;
}
