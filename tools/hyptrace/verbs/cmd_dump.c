// SPDX-License-Identifier: GPL-2.0-only
/* hyptrace dump: print what a file says, and how it is made. */
#include "output/clock.h"
#include "output/columns.h"
#include "output/die.h"
#include "output/printer.h"
#include "session/session.h"
#include "sink/export.h"

struct dump {
	struct session		session;
	struct host_events	host;		/* the host's events in the same file */
	bool			is_host;	/* print sub-buffers of the host */
	bool			subbufs;	/* print each sub-buffer */
};

#define PIECE(type, member)	COLUMN_OF(COLUMN_##type, struct hyptrace_file_piece, member)

static const struct column piece_columns[] = {
	{ "offset",	"OFFSET",	COLUMN_NUMBER | PIECE(U64, offset), NULL },
	{ "size",	"SIZE",		COLUMN_NUMBER | PIECE(U64, size), NULL },
	{ "part",	"PART",		PIECE(STRING, text), NULL },
};

static void print_place(struct printer *p, const char *key, const void *row)
{
	printer_str(p, key, ((const struct hyptrace_file_cpu *)row)->own_file ? "its own" : "main");
}

static void print_count(struct printer *p, const char *key, const void *row)
{
	const struct hyptrace_file_cpu *cpu = row;

	printer_uint_if(p, key, cpu->has_counts, !strcmp(key, "events") ? cpu->events :
			!strcmp(key, "lost") ? cpu->lost : cpu->filtered);
}

#define CPU(type, member)	COLUMN_OF(COLUMN_##type, struct hyptrace_file_cpu, member)

static const struct column cpu_columns[] = {
	{ "cpu",	"CPU",		COLUMN_NUMBER | CPU(U32, id), NULL },
	{ "offset",	"OFFSET",	COLUMN_NUMBER | CPU(U64, offset), NULL },
	{ "size",	"SIZE",		COLUMN_NUMBER | CPU(U64, size), NULL },
	{ "file",	"FILE",		0, print_place },
	{ "events",	"EVENTS",	COLUMN_NUMBER, print_count },
	{ "lost",	"LOST",		COLUMN_NUMBER, print_count },
	{ "filtered",	"FILTERED",	COLUMN_NUMBER, print_count },
	{ "missing",	"MISSING",	COLUMN_NUMBER | CPU(U64, missing), NULL },
};

static void print_fields(struct printer *p, const char *key, const void *row)
{
	auto_free char *fields = NULL;
	const struct hyptrace_event *event = row;
	FILE *to = text_open(&fields);
	unsigned int i;

	for (i = 0; i < event->nr_fields; i++)
		fprintf(to, "%s%s", i ? " " : "", event->fields[i]->name);
	text_close(to, &fields);
	printer_str(p, key, fields);
}

#define EVENT(type, member)	COLUMN_OF(COLUMN_##type, struct hyptrace_event, member)

static const struct column event_columns[] = {
	{ "system",	"SYSTEM",	EVENT(CHARS, remote), NULL },
	{ "name",	"NAME",		EVENT(CHARS, name), NULL },
	{ "id",		"ID",		COLUMN_NUMBER | EVENT(U32, id), NULL },
	{ "size",	"SIZE",		COLUMN_NUMBER | EVENT(U32, size), NULL },
	{ "fields",	"FIELDS",	COLUMN_TRUNC, print_fields },
};

static const struct argp_option options[] = {
	{ "subbufs", OPTION_FLAG(struct dump, subbufs), NULL, 0,
	  "Print a line for each sub-buffer instead", 0 },
	{ 0 }
};

static const struct printer_label labels[] = {
	{ "subbuf_size",	"sub-buffer size" },
	{ 0 }
};

static void print_text(struct printer *p, const char *key, const char *text)
{
	if (text || printer_is_json(p))
		printer_str(p, key, text);
}

static bool has_all(const struct hyptrace_file_info *info)
{
	unsigned int i;

	for (i = 0; i < info->nr_cpus && !info->cpus[i]->missing; i++)
		;
	return i == info->nr_cpus;
}

static void print_info(struct printer *p, const struct dump *d)
{
	const struct hyptrace_file_info *info = hyptrace_file_info(d->session.file);
	char begin[64];
	unsigned int i;
	time_t sec = info->begin / NSEC_PER_SEC;
	struct tm tm;

	printer_uint(p, "version", info->version);
	print_text(p, "compression", info->compression);
	printer_str(p, "byte_order", info->big_endian ? "big-endian" : "little-endian");
	printer_uint(p, "subbuf_size", info->subbuf_size);
	printer_bool(p, "complete", info->is_complete && has_all(info) &&
		     (!d->host.file || has_all(hyptrace_file_info(d->host.file))));
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
	print_text(p, "boot", info->boot);
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

static void print_side(struct printer *p, const char *cpus, const char *events,
		       const struct hyptrace_file *f)
{
	static const struct columns of_cpus = COLUMNS(cpu_columns);
	static const struct columns of_events = COLUMNS(event_columns);
	const struct hyptrace_file_info *info = hyptrace_file_info(f);

	columns_print_all(&of_cpus, p, cpus, info->cpus, info->nr_cpus);
	columns_print_all(&of_events, p, events, info->events, info->nr_events);
}

static void print_subbuf(struct dump *d, const struct hyptrace_file_subbuf *s)
{
	struct printer *p = d->session.ctx->p;
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
	printer_uint_if(p, "lost", s->lost != HYPTRACE_LOST_UNKNOWN, s->lost);
	print_text(p, "damage", s->damage);
	printer_end(p);
}

static void look_at_subbuf(const struct hyptrace_file_subbuf *subbuf, void *arg)
{
	struct dump *d = arg;
	struct hyptrace_error err;

	if (d->subbufs)
		print_subbuf(d, subbuf);
	if (!subbuf->damage)
		return;
	snprintf(err.text, sizeof(err.text), "%s", subbuf->damage);
	session_note_damage(&err, &d->session);
}

static int dump_subbufs(struct dump *d)
{
	const struct cpu_list *list = &d->session.ctx->cpus;
	const bool choose = d->session.ctx->have_cpus && !list->all;
	struct hyptrace_file *host = d->host.file;
	struct hyptrace_error err;

	if (hyptrace_file_walk(d->session.file, look_at_subbuf, d, &err))
		return session_fail(&d->session, &err);
	d->is_host = true;
	/* the host may not have recorded a CPU of the list */
	if (host && (!choose || !hyptrace_file_set_cpus(host, list->ids, list->nr, NULL)) &&
	    hyptrace_file_walk(host, look_at_subbuf, d, &err))
		return session_fail(&d->session, &err);
	session_note_counts(&d->session, "sub-buffer", 0, "");
	return d->session.damaged ? EXIT_REFUSED : EXIT_DONE;
}

static void dump_file(struct dump *d)
{
	static const struct columns of_pieces = COLUMNS(piece_columns);
	const struct hyptrace_file_info *info = hyptrace_file_info(d->session.file);
	struct printer *p = d->session.ctx->p;

	printer_object(p, NULL);
	printer_labels(p, labels);
	printer_heading(p, "file", d->session.path);
	print_info(p, d);
	columns_print_all(&of_pieces, p, "parts", info->pieces, info->nr_pieces);
	print_side(p, "cpus", "events", d->session.file);
	if (d->host.file)
		print_side(p, "host_cpus", "host_events", d->host.file);
	printer_end(p);
}

static int cmd_dump(struct context *ctx, int argc, char **argv)
{
	struct dump d = { .session.quiet = true };
	struct session *s = &d.session;
	int code;

	session_parse(s, ctx, NULL, argc, argv, &d);
	code = session_open(s) ?: host_events_open(&d.host, s->file, s->path);
	if (!code && !d.subbufs)
		dump_file(&d);
	if (!code)
		code = dump_subbufs(&d);
	return session_close(s, code);
}

static const struct verb verbs[] VERBS = {
	{ "dump", cmd_dump, "Print what a file says and how it is made.", VERB_FILES + 4, true,
	  .takes = SESSION_INPUT | SESSION_FILE, .argp = {
		.options = options,
		.args_doc = "[FILE]",
		.doc = "Print what a trace file says about itself, its events and its CPUs, and where its parts are, and look for damage. FILE is "
		       FILE_DEFAULT " if it is not given.",
	  } },
};
