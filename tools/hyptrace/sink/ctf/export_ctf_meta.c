// SPDX-License-Identifier: GPL-2.0-only
/* The metadata of an export to CTF 1.8: a text in TSDL, which describes the streams. */
#include <ctype.h>
#include <inttypes.h>

#include "sink/export.h"
#include "export_ctf.h"

#define NSEC_PER_SEC	INT64_C(1000000000)

/* Numbers of a size: u16 is decimal, x16 hexadecimal and s16 signed */
static const char numbers_text[] =
	"typealias integer { size = %1$u; align = 8; signed = false; } := u%1$u;\n"
	"typealias integer { size = %1$u; align = 8; signed = false; base = 16; } := x%1$u;\n"
	"typealias integer { size = %1$u; align = 8; signed = true; } := s%1$u;\n";

/* What all packets and events of a stream begin with: struct ctf_packet and struct ctf_head */
static const char stream_text[] =
	"stream {\n"
	"\tid = 0;\n"
	"\tpacket.context := struct {\n"
	"\t\ttime64 timestamp_begin;\n"
	"\t\ttime64 timestamp_end;\n"
	"\t\tu64 content_size;\n"
	"\t\tu64 packet_size;\n"
	"\t\tu64 packet_seq_num;\n"
	"\t\tu64 events_discarded;\n"
	"\t\tu32 cpu_id;\n"
	"\t};\n"
	"\tevent.header := struct {\n"
	"\t\tu16 id;\n"
	"\t\ttime32 timestamp;\n"
	"\t};\n"
	"};\n";

/* Events that nobody knows: struct ctf_unknown and the payload */
static const char unknown_text[] =
	"event {\n"
	"\tname = \"unknown\";\n"
	"\tid = %u;\n"
	"\tstream_id = 0;\n"
	"\tfields := struct {\n"
	"\t\tu16 _id;\n"
	"\t\tu32 _size;\n"
	"\t\tx8 _bytes[_size];\n"
	"\t};\n"
	"};\n";

static void put_string(FILE *f, const char *text)
{
	fputc('"', f);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fprintf(f, "\\%c", *text);
		else if (*text >= ' ' && *text <= '~')
			fputc(*text, f);
		else
			fprintf(f, "\\%03o", (unsigned char)*text);
	}
	fputc('"', f);
}

static void put_env(FILE *f, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	fprintf(f, "\t%s = ", name);
	put_string(f, value);
	fputs(";\n", f);
}

static void put_identifier(FILE *f, const char *name)
{
	for (; *name; name++)
		fputc(isalnum((unsigned char)*name) ? *name : '_', f);
}

static void put_clock(FILE *f, const struct hyptrace_file_info *info)
{
	int64_t sec = info->offset / NSEC_PER_SEC, nsec = info->offset % NSEC_PER_SEC;
	const char *name = info->clock ?: "unknown";
	unsigned int size;

	/* only the seconds may be negative */
	if (nsec < 0) {
		nsec += NSEC_PER_SEC;
		sec--;
	}
	fputs("clock {\n\tname = \"", f);
	put_identifier(f, name);
	fputs("\";\n\tdescription = \"Time of the hypervisor's events\";\n", f);
	fprintf(f, "\tfreq = %" PRId64 ";\n", NSEC_PER_SEC);
	fprintf(f, "\toffset_s = %" PRId64 ";\n\toffset = %" PRId64 ";\n};\n", sec, nsec);
	for (size = 32; size <= 64; size *= 2) {
		fprintf(f, "typealias integer { size = %u; align = 8; signed = false; map = clock.",
			size);
		put_identifier(f, name);
		fprintf(f, ".value; } := time%u;\n", size);
	}
}

static void put_trace(FILE *f, const struct export *x)
{
	const struct hyptrace_file_info *info = x->info;
	unsigned int size;

	fputs("/* CTF 1.8 */\n", f);
	for (size = 8; size <= 64; size *= 2)
		fprintf(f, numbers_text, size);
	fputs("typealias integer { size = 8; align = 8; encoding = UTF8; } := letter;\n", f);
	fprintf(f, "trace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = %s;\n",
		htole16(1) == 1 ? "le" : "be");
	fputs("\tpacket.header := struct {\n\t\tx32 magic;\n\t\tu32 stream_id;\n\t};\n};\n", f);
	fputs("env {\n\tdomain = \"hypervisor\";\n\ttracer_name = \"hyptrace\";\n", f);
	put_env(f, "remote", info->remote);
	put_env(f, "recorder", info->recorder);
	put_env(f, "command", info->command);
	put_env(f, "uname", info->uname);
	/* the names that other tracers of Linux have for them */
	put_env(f, "hostname", x->origin->machine);
	put_env(f, "sysname", x->origin->system);
	put_env(f, "kernel_release", x->origin->kernel);
	put_env(f, "kernel_version", x->origin->version);
	put_env(f, "boot_id", x->origin->boot);
	fputs("};\n", f);
	put_clock(f, info);
	fputs(stream_text, f);
}

/* Does the print format have a field in hexadecimal, as in "esr=0x%llx"? */
static bool is_hex(const struct hyptrace_event *event, const struct hyptrace_field *field)
{
	const char *at = event->print_fmt ? event->print_fmt : "";
	size_t len = strlen(field->name);

	for (at = strstr(at, field->name); at; at = strstr(at + 1, field->name))
		if (!strncmp(at + len, "=0x%", 4) && at != event->print_fmt &&
		    (at[-1] == ' ' || at[-1] == '"'))
			return true;
	return false;
}

/* Is this value of a symbol one that the field can have? */
static bool is_in_range(const struct hyptrace_field *field, uint64_t value)
{
	unsigned int unused = 64 - 8 * field->size;

	if (field->is_signed)
		return (uint64_t)((int64_t)(value << unused) >> unused) == value;
	return value << unused >> unused == value;
}

static void put_symbols(FILE *f, const struct hyptrace_field *field)
{
	const char *before = " {\n";
	unsigned int i;

	for (i = 0; i < field->nr_symbols; i++) {
		const struct hyptrace_symbol *symbol = field->symbols[i];

		/* if a value has two names, the first one counts */
		if (!is_in_range(field, symbol->value) ||
		    hyptrace_symbol_name(field, symbol->value) != symbol->name)
			continue;
		fprintf(f, "%s\t\t\t", before);
		put_string(f, symbol->name);
		fprintf(f, field->is_signed ? " = %" PRId64 : " = %" PRIu64, symbol->value);
		before = ",\n";
	}
	fputs("\n\t\t}", f);
}

static bool has_symbols(const struct hyptrace_field *field)
{
	unsigned int i;

	for (i = 0; i < field->nr_symbols; i++)
		if (is_in_range(field, field->symbols[i]->value))
			return true;
	return false;
}

/* The numbers of hypercalls: each has a name, since the variant of arguments needs one. */
static void put_calls(FILE *f, const struct ctf_event *ctf)
{
	const uint64_t last = UINT64_MAX >> (64 - 8 * ctf->id->size);
	const struct ctf_call *call = ctf->calls, *end = call + ctf->nr_calls;
	const char *before = " {\n";
	uint64_t next = 0;

	while (next <= last) {
		const bool has_call = call < end && call->id <= last;

		if (!has_call || call->id > next) {
			fprintf(f, "%s\t\t\t\"unknown\" = %" PRIu64 " ... %" PRIu64, before, next,
				has_call ? call->id - 1 : last);
			before = ",\n";
		}
		if (!has_call)
			break;
		fprintf(f, "%s\t\t\t\"%s\" = %" PRIu32, before, call->name, call->id);
		before = ",\n";
		next = call++->id + UINT64_C(1);
	}
	fputs("\n\t\t}", f);
}

/*
 * Names of fields have an underscore in front, which readers remove: they may be keywords. The
 * place among the fields makes a name unique that another field has, too.
 */
static void put_name(FILE *f, const struct hyptrace_event *event, unsigned int index)
{
	const char *name = event->fields[index]->name;
	unsigned int i;

	fputc('_', f);
	put_identifier(f, name);
	for (i = 0; i < index; i++) {
		if (strcmp(event->fields[i]->name, name))
			continue;
		fprintf(f, "_%u", index);
		return;
	}
}

static void put_field(FILE *f, const struct ctf_event *ctf, unsigned int index)
{
	const struct hyptrace_event *event = ctf->event;
	const struct hyptrace_field *field = event->fields[index];
	const bool is_number = hyptrace_field_is_number(field, event->size);

	if (!ctf_is_written(event, index))
		return;
	fputs("\t\t", f);
	if (!is_number) {
		fputs(ctf_is_text(field) ? "letter " : "x8 ", f);
	} else {
		const bool is_enum = field == ctf->id || has_symbols(field);

		fprintf(f, "%s%c%u", is_enum ? "enum : " : "",
			field->is_signed ? 's' : is_hex(event, field) ? 'x' : 'u', 8 * field->size);
		if (field == ctf->id)
			put_calls(f, ctf);
		else if (is_enum)
			put_symbols(f, field);
		fputc(' ', f);
	}
	put_name(f, event, index);
	if (!is_number)
		fprintf(f, "[%" PRIu32 "]", field->size);
	fputs(";\n", f);
}

static void put_args(FILE *f, const struct ctf_event *ctf)
{
	unsigned int i, j, same;

	fputs("\t\tvariant <_id> {\n", f);
	for (i = 0; i < ctf->nr_calls; i++) {
		const struct ctf_call *call = &ctf->calls[i];

		fputs("\t\t\tstruct { ", f);
		for (j = 0; j < call->nr_args; j++) {
			const char *name = call->call->args[j]->name;

			fputs("x64 _", f);
			put_identifier(f, name);
			/* the place among the arguments makes its name unique */
			for (same = 0; strcmp(call->call->args[same]->name, name); same++)
				;
			if (same < j)
				fprintf(f, "_%u", j);
			fputs("; ", f);
		}
		fprintf(f, "} %s;\n", call->name);
	}
	fputs("\t\t\tstruct { } unknown;\n\t\t} _args;\n", f);
}

static void put_any(FILE *f, const struct hyptrace_event *event, unsigned int index)
{
	const bool is_text = ctf_is_text(event->fields[index]);

	fputs(is_text ? "\t\tstring " : "\t\tu32 ", f);
	put_name(f, event, index);
	if (!is_text) {
		fputs("_size;\n\t\tx8 ", f);
		put_name(f, event, index);
		fputc('[', f);
		put_name(f, event, index);
		fputs("_size]", f);
	}
	fputs(";\n", f);
}

static void put_event(FILE *f, const struct ctf_event *ctf)
{
	const struct hyptrace_event *event = ctf->event;
	unsigned int i;

	fputs("event {\n\tname = ", f);
	put_string(f, event->name);
	fprintf(f, ";\n\tid = %" PRIu32 ";\n\tstream_id = 0;\n\tfields := struct {\n", event->id);
	for (i = 0; i < event->nr_fields; i++)
		put_field(f, ctf, i);
	if (ctf->id)
		put_args(f, ctf);
	for (i = 0; i < ctf->nr_named; i++) {
		fputs("\t\tstring ", f);
		put_name(f, event, ctf->named[i]);
		fputs("_name;\n", f);
	}
	for (i = 0; i < ctf->nr_any; i++)
		put_any(f, event, ctf->any[i]);
	fputs("\t};\n};\n", f);
}

char *ctf_meta_text(const struct export *x, struct ctf_event *const *events, unsigned int nr,
		    uint16_t unknown)
{
	char *text;
	FILE *f = text_open(&text);
	unsigned int i;

	put_trace(f, x);
	for (i = 0; i < nr; i++)
		put_event(f, events[i]);
	fprintf(f, unknown_text, unknown);
	text_close(f, &text);
	return text;
}
