// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write what a trace file says about itself: see file_meta.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file_meta.h"
#include "file_meta_line.h"
#include "internal.h"

/* Bytes of all notes, and of the line that fills up what they leave */
#define NOTES_SIZE	4096
#define ROOM		"room"

static void put_string(FILE *f, const char *text)
{
	fputs(" \"", f);
	for (; *text; text++) {
		unsigned char c = *text;

		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			fprintf(f, "\\%03o", c);
		else
			fputc(c, f);
	}
	fputc('"', f);
}

static void put_value(FILE *f, enum value_type type, const void *from)
{
	if (type == VALUE_NUMBER)
		fprintf(f, " %" PRIu64, *(const uint64_t *)from);
	else if (type == VALUE_COUNT)
		fprintf(f, " %020" PRIu64, *(const uint64_t *)from);
	else if (type == VALUE_SIGNED)
		fprintf(f, " %" PRId64, *(const int64_t *)from);
	else if (type == VALUE_U32)
		fprintf(f, " %" PRIu32, *(const uint32_t *)from);
	else if (type == VALUE_BOOL)
		fprintf(f, " %d", *(const bool *)from);
	else
		put_string(f, type == VALUE_ARRAY ? from : *(const char *const *)from);
}

static void put_lines(FILE *f, enum owner of, const char *owner);

static void put_line(FILE *f, const struct file_meta_line *line, const char *element)
{
	const struct file_meta_value *value = line->values;

	/* a text may be unknown, and few events have a flag */
	if (!line->size && (value->type == VALUE_TEXT || value->type == VALUE_NAME) &&
	    !*(const char *const *)(element + value->offset))
		return;
	if (!line->size && value->type == VALUE_BOOL && !*(const bool *)(element + value->offset))
		return;
	fputs(line->keyword, f);
	for (; value->type; value++)
		put_value(f, value->type, element + value->offset);
	fputc('\n', f);
	if (line->is)
		put_lines(f, line->is, element);
}

/* Put all lines that describe something further. */
static void put_lines(FILE *f, enum owner of, const char *owner)
{
	const struct file_meta_line *line;
	unsigned int i;

	for (line = hyptrace_file_meta_lines; line->keyword; line++) {
		if (line->of != of)
			continue;
		if (!line->size)
			put_line(f, line, owner);
		for (i = 0; line->size && i < *(const unsigned int *)(owner + line->nr); i++)
			put_line(f, line, (*(char *const *const *)(owner + line->list))[i]);
	}
}

/* Notes are added while the file is recorded: they have the same room from the beginning. */
static void put_notes(FILE *f, const struct hyptrace_file_info *info)
{
	const long end = ftell(f) + NOTES_SIZE - strlen(ROOM "\n");
	unsigned int i;
	long at;

	for (i = 0; i < info->nr_notes; i++) {
		at = ftell(f);
		fputs("note", f);
		put_string(f, info->notes[i]);
		fputc('\n', f);
		/* the next line replaces one that has no room */
		if (ftell(f) > end)
			fseek(f, at, SEEK_SET);
	}
	fprintf(f, ROOM "%*s\n", (int)(end - ftell(f)), "");
}

/* Write the text. Return the text, which the caller frees; NULL if there is no memory. */
char *hyptrace_file_meta_text(const struct hyptrace_file_meta *meta, size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	if (!f)
		return NULL;
	fputs(HYPTRACE_FILE_META_BEGIN, f);
	put_lines(f, OWNER_META, (const char *)meta);
	put_notes(f, &meta->info);
	fputs("end\n", f);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}
