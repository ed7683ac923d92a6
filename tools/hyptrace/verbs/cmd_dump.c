// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace dump: print what a file says, and how it is made.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hyptrace_file.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "output/clock.h"
#include "output/columns.h"
#include "output/die.h"
#include "output/message.h"
#include "output/printer.h"
#include "session/select.h"

#define FILE_DEFAULT	"hyptrace.dat"
#define NR_COLUMNS(all)	(sizeof(all) / sizeof((all)[0]))

enum {
	OPT_SUBBUFS = 0x200,
};

/**
 * struct dump - the settings and the state of the verb
 * @ctx:	the verb's context
 * @path:	name of the file
 * @file:	the file
 * @host:	the same for its events of the host; NULL if it has none
 * @is_host:	print sub-buffers of the host
 * @subbufs:	print each sub-buffer
 * @damaged:	something is damaged
 */
struct dump {
	struct context		*ctx;
	const char		*path;
	struct hyptrace_file	*file;
	struct hyptrace_file	*host;
	bool			is_host;
	bool			subbufs;
	bool			damaged;
};

static const struct column piece_columns[] = {
	{ "offset",	"OFFSET",	COLUMN_NUMBER, NULL, NULL },
	{ "size",	"SIZE",		COLUMN_NUMBER, NULL, NULL },
	{ "part",	"PART",		0, NULL, NULL },
};

static const struct column cpu_columns[] = {
	{ "cpu",	"CPU",		COLUMN_NUMBER, NULL, NULL },
	{ "offset",	"OFFSET",	COLUMN_NUMBER, NULL, NULL },
	{ "size",	"SIZE",		COLUMN_NUMBER, NULL, NULL },
	{ "file",	"FILE",		0, NULL, NULL },
	{ "events",	"EVENTS",	COLUMN_NUMBER, NULL, NULL },
	{ "lost",	"LOST",		COLUMN_NUMBER, NULL, NULL },
	{ "filtered",	"FILTERED",	COLUMN_NUMBER, NULL, NULL },
	{ "missing",	"MISSING",	COLUMN_NUMBER, NULL, NULL },
};

static const struct column event_columns[] = {
	{ "system",	"SYSTEM",	0, NULL, NULL },
	{ "name",	"NAME",		0, NULL, NULL },
	{ "id",		"ID",		COLUMN_NUMBER, NULL, NULL },
	{ "size",	"SIZE",		COLUMN_NUMBER, NULL, NULL },
	{ "fields",	"FIELDS",	COLUMN_TRUNC, NULL, NULL },
};

static const struct argp_option options[] = {
	{ "subbufs", OPT_SUBBUFS, NULL, 0, "Print a line for each sub-buffer instead", 0 },
	{ 0 }
};

static const struct printer_label labels[] = {
	{ "subbuf_size",	"sub-buffer size" },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct dump *d = state->input;

	switch (key) {
	case OPT_SUBBUFS:
		d->subbufs = true;
		return 0;
	case ARGP_KEY_ARG:
		if (d->path)
			return cmd_usage("unexpected argument \"%s\"", arg);
		d->path = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

#define DOC \
	"Print what a trace file says about itself, its events and its CPUs, and where its parts " \
	"are. FILE is " FILE_DEFAULT " if it is not given."

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[FILE]",
	.doc = DOC,
};

static void print_text(struct printer *p, const char *key, const char *text)
{
	if (text)
		printer_str(p, key, text);
	else if (printer_is_json(p))
		printer_none(p, key);
}

static void print_info(struct printer *p, const struct hyptrace_file *f)
{
	const struct hyptrace_file_info *info = hyptrace_file_info(f);
	char begin[64];
	unsigned int i;
	time_t sec = info->begin / NSEC_PER_SEC;
	struct tm tm;

	printer_uint(p, "version", info->version);
	print_text(p, "compression", info->compression);
	printer_str(p, "byte_order", info->big_endian ? "big-endian" : "little-endian");
	printer_uint(p, "subbuf_size", info->subbuf_size);
	printer_bool(p, "complete", info->is_complete);
	print_text(p, "remote", info->remote);
	print_text(p, "clock", info->clock);
	if (printer_is_json(p)) {
		printer_s64(p, "clock_offset", info->offset);
		printer_u64(p, "begin", info->begin);
	} else if (info->begin) {
		localtime_r(&sec, &tm);
		strftime(begin, sizeof(begin), "%Y-%m-%d %H:%M:%S %z", &tm);
		printer_str(p, "begin", begin);
	}
	print_text(p, "recorder", info->recorder);
	print_text(p, "command", info->command);
	print_text(p, "uname", info->uname);
	if (printer_is_json(p))
		printer_array(p, "notes");
	for (i = 0; i < info->nr_notes; i++) {
		if (printer_is_json(p))
			printer_object(p, NULL);
		printer_str(p, "note", info->notes[i]);
		if (printer_is_json(p))
			printer_end(p);
	}
	if (printer_is_json(p))
		printer_end(p);
}

static void print_pieces(struct printer *p, const struct hyptrace_file *f)
{
	const struct columns columns = { .all = piece_columns, .nr = NR_COLUMNS(piece_columns) };
	const struct hyptrace_file_piece *const *pieces;
	unsigned int nr, i;

	pieces = hyptrace_file_pieces(f, &nr);
	printer_table(p, "parts", &columns);
	for (i = 0; i < nr; i++) {
		printer_row(p);
		printer_uint(p, "offset", pieces[i]->offset);
		printer_uint(p, "size", pieces[i]->size);
		printer_str(p, "part", pieces[i]->text);
		printer_end(p);
	}
	printer_end(p);
}

static void print_count(struct printer *p, const char *key, bool known, uint64_t count)
{
	if (known)
		printer_uint(p, key, count);
	else
		printer_none(p, key);
}

static void print_cpus(struct printer *p, const char *key, const struct hyptrace_file *f)
{
	const struct columns columns = { .all = cpu_columns, .nr = NR_COLUMNS(cpu_columns) };
	const struct hyptrace_file_cpu *const *cpus;
	unsigned int nr, i;

	cpus = hyptrace_file_cpus(f, &nr);
	printer_table(p, key, &columns);
	for (i = 0; i < nr; i++) {
		const struct hyptrace_file_cpu *cpu = cpus[i];

		printer_row(p);
		printer_uint(p, "cpu", cpu->id);
		printer_uint(p, "offset", cpu->offset);
		printer_uint(p, "size", cpu->size);
		printer_str(p, "file", cpu->own_file ? "its own" : "main");
		print_count(p, "events", cpu->has_counts, cpu->events);
		print_count(p, "lost", cpu->has_counts, cpu->lost);
		print_count(p, "filtered", cpu->has_counts, cpu->filtered);
		printer_uint(p, "missing", cpu->missing);
		printer_end(p);
	}
	printer_end(p);
}

static void print_events(struct printer *p, const char *key, const struct hyptrace_file *f)
{
	const struct columns columns = { .all = event_columns, .nr = NR_COLUMNS(event_columns) };
	struct hyptrace_event *const *events;
	unsigned int nr, i, j;
	char *fields;
	size_t len;

	events = hyptrace_file_events(f, &nr);
	printer_table(p, key, &columns);
	for (i = 0; i < nr; i++) {
		const struct hyptrace_event *event = events[i];
		FILE *to = open_memstream(&fields, &len);

		if (!to)
			die_no_memory();
		for (j = 0; j < event->nr_fields; j++)
			fprintf(to, "%s%s", j ? " " : "", event->fields[j]->name);
		fclose(to);
		printer_row(p);
		printer_str(p, "system", event->remote);
		printer_str(p, "name", event->name);
		printer_uint(p, "id", event->id);
		printer_uint(p, "size", event->size);
		printer_str(p, "fields", fields);
		printer_end(p);
		free(fields);
	}
	printer_end(p);
}

static void print_subbuf(const struct hyptrace_file_subbuf *s, void *arg)
{
	struct dump *d = arg;
	struct printer *p = d->ctx->p;
	char lost[32] = "?";

	if (s->lost != HYPTRACE_LOST_UNKNOWN)
		snprintf(lost, sizeof(lost), "%" PRIu64, s->lost);
	printer_line(p, s->damage ? STYLE_BAD : STYLE_PLAIN,
		     "[%03u] %s%12" PRIu64 "%s %5" PRIu64 ".%09" PRIu64 ": %5" PRIu32
		     " bytes, %4" PRIu64 " events, %s lost%s%s",
		     s->cpu, d->is_host ? "host " : "", s->offset,
		     s->own_file ? " of its own file" : "", s->ts / NSEC_PER_SEC,
		     (uint64_t)(s->ts % NSEC_PER_SEC), s->used, s->events, lost,
		     s->damage ? ": " : "", s->damage ? s->damage : "");
	printer_uint(p, "cpu", s->cpu);
	if (d->is_host)
		printer_bool(p, "host", true);
	printer_u64(p, "offset", s->offset);
	printer_bool(p, "own_file", s->own_file);
	printer_u64(p, "ts", s->ts);
	printer_uint(p, "used", s->used);
	printer_uint(p, "events", s->events);
	print_count(p, "lost", s->lost != HYPTRACE_LOST_UNKNOWN, s->lost);
	print_text(p, "damage", s->damage);
	printer_end(p);
	d->damaged |= !!s->damage;
}

static int fail(const struct dump *d, const struct hyptrace_error *err)
{
	return cmd_fail("cannot read \"%s\": %s", d->path, err->text);
}

static int dump_subbufs(struct dump *d)
{
	const struct cpu_list *list = &d->ctx->cpus;
	const bool choose = d->ctx->have_cpus && !list->all;
	struct hyptrace_error err;

	if ((choose && hyptrace_file_set_cpus(d->file, list->ids, list->nr, &err)) ||
	    hyptrace_file_walk(d->file, print_subbuf, d, &err))
		return fail(d, &err);
	d->is_host = true;
	/* the host may not have recorded a CPU of the list */
	if (d->host && (!choose || !hyptrace_file_set_cpus(d->host, list->ids, list->nr, NULL)) &&
	    hyptrace_file_walk(d->host, print_subbuf, d, &err))
		return fail(d, &err);
	return d->damaged ? EXIT_REFUSED : EXIT_DONE;
}

/* Say from where on bytes are missing of a file that was cut, or damaged in part. */
static void note_missing(struct dump *d, const struct hyptrace_file *f)
{
	const struct hyptrace_file_cpu *const *cpus;
	unsigned int nr, i;

	cpus = hyptrace_file_cpus(f, &nr);
	for (i = 0; i < nr; i++) {
		const struct hyptrace_file_cpu *cpu = cpus[i];

		if (!cpu->missing)
			continue;
		cmd_note("\"%s\": CPU %u%s, offset %" PRIu64 "%s: the file ends here: %" PRIu64
			 " bytes are missing", d->path, cpu->id,
			 f == d->host ? " of the host" : "", cpu->offset + cpu->size,
			 cpu->own_file ? " of its own file" : "", cpu->missing);
		d->damaged = true;
	}
}

static void dump_file(struct dump *d)
{
	struct printer *p = d->ctx->p;

	printer_object(p, NULL);
	printer_labels(p, labels);
	printer_heading(p, "file", d->path);
	print_info(p, d->file);
	print_pieces(p, d->file);
	print_cpus(p, "cpus", d->file);
	print_events(p, "events", d->file);
	if (d->host) {
		print_cpus(p, "host_cpus", d->host);
		print_events(p, "host_events", d->host);
	}
	printer_end(p);
}

static int cmd_dump(struct context *ctx, int argc, char **argv)
{
	struct dump d = { .ctx = ctx };
	struct hyptrace_error err;
	int code = EXIT_DONE;

	cmd_parse(ctx, &argp, argc, argv, &d);
	if (!d.path)
		d.path = FILE_DEFAULT;
	cmd_make_printer(ctx);
	d.file = hyptrace_file_open(d.path, &err);
	if (!d.file)
		return fail(&d, &err);
	d.host = hyptrace_file_host(d.file, &err);
	if (!d.host && err.errnum != ENODATA)
		code = fail(&d, &err);
	if (d.subbufs && !code)
		code = dump_subbufs(&d);
	else if (!code)
		dump_file(&d);
	if (!d.subbufs && !code) {
		out_flush(&ctx->out);
		note_missing(&d, d.file);
		if (d.host)
			note_missing(&d, d.host);
		code = d.damaged ? EXIT_REFUSED : EXIT_DONE;
	}
	hyptrace_file_close(d.file);
	return code;
}

static const struct verb verbs[] VERBS = {
	{ "dump", cmd_dump, "Print what a file says and how it is made.", VERB_FILES + 4, true },
};
