// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write what a trace file says about the remote and about its recording. It is text, so that it
 * does not depend on a byte order, and "strings" shows it. A line is a keyword and its values; a
 * string is in quotes, with the escapes of C. hyptrace.dat(5) describes the lines.
 *
 * The text is written when a recording begins, and again when it ends. All have the same length,
 * also if counts become known or larger: nothing else changes, and counts have all their digits.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "file_meta.h"
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

static void put_text(FILE *f, const char *keyword, const char *text)
{
	if (!text)
		return;
	fputs(keyword, f);
	put_string(f, text);
	fputc('\n', f);
}

static void put_info(FILE *f, const struct hyptrace_file_info *info)
{
	fputs(HYPTRACE_FILE_META_BEGIN, f);
	put_text(f, "remote", info->remote);
	put_text(f, "clock", info->clock);
	put_text(f, "recorder", info->recorder);
	put_text(f, "command", info->command);
	put_text(f, "uname", info->uname);
	fprintf(f, "begin %" PRIu64 "\n", info->begin);
	fprintf(f, "offset %" PRId64 "\n", info->offset);
}

/* Return the bytes of the line of a note. */
static size_t note_size(const char *text)
{
	const unsigned char *c;
	size_t size = strlen("note \"\"\n");

	for (c = (const unsigned char *)text; *c; c++)
		size += *c == '"' || *c == '\\' ? 2 : *c < ' ' || *c == 0x7f ? 4 : 1;
	return size;
}

/* Notes are added while the file is recorded: they have the same room from the beginning. */
static void put_notes(FILE *f, const struct hyptrace_file_info *info)
{
	size_t left = NOTES_SIZE - strlen(ROOM "\n"), size;
	unsigned int i;

	for (i = 0; i < info->nr_notes; i++) {
		size = note_size(info->notes[i]);
		if (size > left)
			continue;
		left -= size;
		put_text(f, "note", info->notes[i]);
	}
	fprintf(f, ROOM "%*s\n", (int)left, "");
}

static void put_field(FILE *f, const struct hyptrace_field *field)
{
	unsigned int i;

	fprintf(f, "field %" PRIu32 " %" PRIu32 " %d", field->offset, field->size,
		field->is_signed);
	put_string(f, field->type);
	put_string(f, field->name);
	fputc('\n', f);
	for (i = 0; i < field->nr_symbols; i++) {
		fprintf(f, "symbol %" PRIu64, field->symbols[i]->value);
		put_string(f, field->symbols[i]->name);
		fputc('\n', f);
	}
}

static void put_event(FILE *f, const struct hyptrace_event *event)
{
	unsigned int i;

	fprintf(f, "event %" PRIu32 " %" PRIu32, event->id, event->size);
	put_string(f, event->name);
	put_string(f, event->print_fmt);
	fputc('\n', f);
	for (i = 0; i < event->nr_fields; i++)
		put_field(f, event->fields[i]);
}

static void put_call(FILE *f, const struct hyptrace_hypercall *call)
{
	unsigned int i;

	fprintf(f, "hypercall %" PRIu32 " %d %d", call->id, call->known_args, call->returns);
	put_string(f, call->name);
	fputc('\n', f);
	for (i = 0; i < call->nr_args; i++) {
		fputs("arg", f);
		put_string(f, call->args[i]->type);
		put_string(f, call->args[i]->name);
		fputc('\n', f);
	}
}

static void put_cpu(FILE *f, const char *keyword, const struct hyptrace_file_cpu *cpu)
{
	fprintf(f, "%s %u %d %020" PRIu64 " %020" PRIu64 " %020" PRIu64 "\n", keyword,
		cpu->id, cpu->has_counts, cpu->events, cpu->lost, cpu->filtered);
}

static void put_meta(FILE *f, const struct hyptrace_file_meta *meta)
{
	unsigned int i;

	put_info(f, &meta->info);
	fprintf(f, "complete %d\n", meta->complete ? 1 : meta->placed ? 2 : 0);
	put_notes(f, &meta->info);
	for (i = 0; i < meta->info.nr_cpus; i++)
		put_cpu(f, "cpu", meta->info.cpus[i]);
	for (i = 0; i < meta->nr_host_cpus; i++)
		put_cpu(f, "host-cpu", meta->host_cpus[i]);
	for (i = 0; i < meta->info.nr_events; i++)
		put_event(f, meta->info.events[i]);
	for (i = 0; i < meta->info.nr_calls; i++)
		put_call(f, meta->info.calls[i]);
	fputs("end\n", f);
}

/* Write the text. Return the text, which the caller frees; NULL if there is no memory. */
char *hyptrace_file_meta_text(const struct hyptrace_file_meta *meta, size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	if (!f)
		return NULL;
	put_meta(f, meta);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

void hyptrace_file_meta_free(struct hyptrace_file_meta *meta)
{
	unsigned int i;

	free(meta->info.remote);
	free(meta->info.clock);
	free(meta->info.recorder);
	free(meta->info.command);
	free(meta->info.uname);
	free(meta->info.compression);
	for (i = 0; i < meta->info.nr_notes; i++)
		free(meta->info.notes[i]);
	free(meta->info.notes);
	for (i = 0; i < meta->info.nr_cpus; i++)
		free(meta->info.cpus[i]);
	free(meta->info.cpus);
	for (i = 0; i < meta->nr_host_cpus; i++)
		free(meta->host_cpus[i]);
	free(meta->host_cpus);
	hyptrace_free_events(meta->info.events);
	hyptrace_free_hypercalls(meta->info.calls);
	memset(meta, 0, sizeof(*meta));
}
