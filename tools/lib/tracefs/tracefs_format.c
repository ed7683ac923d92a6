// SPDX-License-Identifier: GPL-2.0-only
/*
 * The format files of tracefs: which fields an event has, and where they are in its text.
 *
 * The offsets in mainline's files are wrong. They matter only for raw pipes, which mainline does
 * not have. So sub-buffers have a layout of our own: each field at a multiple of its size.
 */
#include "tracefs.h"

/* The values of the field reason: print formats name a function of the kernel instead. */
const char *const hyptrace_tracefs_reasons[] = {
	"smc", "hvc", "sys", "psci", "host_abort", "guest_exit", "eret_host", "eret_guest",
	[TRACEFS_REASON_UNKNOWN] = "unknown",
};

#define COMMON	"common_"

/* Copy a text that may be a name or a C type. */
static bool copy(char *to, const char *from, size_t len)
{
	size_t i;

	if (!len || len > TRACEFS_NAME_MAX)
		return false;
	for (i = 0; i < len; i++)
		if (!hyptrace_is_word(from[i]) && !strchr(" *", from[i]))
			return false;
	memcpy(to, from, len);
	to[len] = '\0';
	return true;
}

static bool add_field(struct tracefs_event *event, const char *type, size_t type_len,
		      const char *name, size_t name_len, unsigned int size)
{
	struct tracefs_field *field = &event->fields[event->nr_fields];
	const unsigned int align = size <= sizeof(uint64_t) ? size : 1;

	if (event->nr_fields == TRACEFS_FIELDS_MAX || !copy(field->type, type, type_len) ||
	    !copy(field->name, name, name_len))
		return false;
	field->size = size;
	field->is_signed = false;
	field->offset = (event->size + align - 1) / align * align;
	field->is_reason = !strcmp(field->name, "reason") && size == 1;
	event->size = field->offset + size;
	event->nr_fields++;
	return true;
}

/* "field:unsigned int id;\toffset:2;\tsize:4;\tsigned:0;" */
static bool parse_field(struct tracefs_event *event, const char *line, const char *end)
{
	const char *semicolon = memchr(line, ';', end - line), *name = semicolon;
	unsigned int offset, size, is_signed;

	if (!semicolon || sscanf(semicolon, "; offset:%u; size:%u; signed:%u;", &offset, &size,
				 &is_signed) != 3)
		return false;
	while (name > line && hyptrace_is_word(name[-1]))
		name--;
	if (!strncmp(name, COMMON, strlen(COMMON)))
		return true;
	/* no tracer of EL2 has arrays */
	if ((size != 1 && size != 2 && size != 4 && size != 8) || offset > UINT16_MAX - size ||
	    name == line || !add_field(event, line, name - line - (name[-1] == ' '), name,
				       semicolon - name, size))
		return false;
	event->fields[event->nr_fields - 1].from = offset;
	event->fields[event->nr_fields - 1].is_signed = is_signed;
	return true;
}

/* Find the field of the next argument, which is "REC->id" or "NAME(REC->id)" with casts. */
static const struct tracefs_field *take_field(const struct tracefs_event *event, const char **at)
{
	static const char rec[] = "REC->";
	const char *from = *at, *name;
	unsigned int level = 0, i;
	size_t len = 0;

	for (; *from == ' ' || *from == ','; from++)
		;
	for (*at = from; **at && (level || **at != ','); ++*at)
		level += **at == '(' ? 1 : **at == ')' && level ? -1 : 0;
	name = memmem(from, *at - from, rec, strlen(rec));
	if (!name || memmem(name + 1, *at - name - 1, rec, strlen(rec)))
		return NULL;
	name += strlen(rec);
	while (hyptrace_is_word(name[len]))
		len++;
	for (i = 0; i < event->nr_fields; i++)
		if (hyptrace_is(name, len, event->fields[i].name))
			return &event->fields[i];
	return NULL;
}

/* Take a conversion of a number or of a name, before a quotation mark. Return its letter, or 0. */
static char take_conversion(const char **at)
{
	const char *from = *at + 1 + strspn(*at + 1, "lh");

	*at = from + 1;
	return strchr("diuxXs", *from) ? *from : '\0';
}

/* Each field must be in the text once, as a number or as a name that is known; else no pieces. */
static void parse_print(struct tracefs_event *event, const char *text)
{
	struct tracefs_piece *piece = event->pieces;
	bool has[TRACEFS_FIELDS_MAX] = {};
	const char *end, *args, *at;

	/* mainline quotes that of selftest twice */
	text += !strncmp(text, "\"\"", 2) && text[2] != ',';
	at = text + 1;
	end = *text == '"' ? strchr(at, '"') : NULL;
	if (!end || memchr(text, '\\', end - text))
		return;
	args = end + 1;
	for (;;) {
		piece->text = at;
		at = memchr(at, '%', end - at);
		piece->len = (at ? at : end) - piece->text;
		if (!at)
			break;
		piece->conversion = take_conversion(&at);
		piece->field = take_field(event, &args);
		if (!piece->conversion || !piece->field || has[piece->field - event->fields] ||
		    (piece->conversion == 's' && !piece->field->is_reason))
			return;
		has[piece->field - event->fields] = true;
		piece++;
	}
	piece->field = NULL;
	if (piece == event->pieces + event->nr_fields)
		event->nr_pieces = event->nr_fields + 1;
}

/* Android's EL2 records no reasons: with an unknown one, the time at EL2 can be summed up. */
static bool add_reason(struct tracefs_event *event)
{
	unsigned int i;

	if (strcmp(event->name, "hyp_enter") && strcmp(event->name, "hyp_exit"))
		return true;
	for (i = 0; i < event->nr_fields; i++)
		if (event->fields[i].is_reason)
			return true;
	if (!add_field(event, "u8", 2, "reason", 6, 1))
		return false;
	event->fields[event->nr_fields - 1].is_unknown = true;
	return true;
}

/* Parse event->format. Return false if it makes no sense. Raw records need no text of fields. */
bool hyptrace_tracefs_parse_format(struct tracefs_event *event, bool is_raw)
{
	const char *line = event->format, *end, *print = NULL;
	bool has_id = false;
	unsigned int id;

	event->nr_fields = 0;
	event->nr_pieces = 0;
	event->size = sizeof(event->id);
	for (; *line; line = *end ? end + 1 : end) {
		line += strspn(line, " \t");
		end = line + strcspn(line, "\n");
		if (!strncmp(line, "field:", 6)) {
			if (!parse_field(event, line + 6, end))
				return false;
		} else if (sscanf(line, "ID: %u", &id) == 1 && id < UINT16_MAX) {
			has_id = true;
			event->id = id;
		} else if (!strncmp(line, "print fmt: ", 11)) {
			print = line + 11;
		}
	}
	if (!has_id || !print)
		return false;
	parse_print(event, print);
	if (event->nr_pieces || is_raw)
		return add_reason(event);
	/* all that there is to see */
	event->nr_fields = 0;
	event->size = sizeof(event->id);
	return add_field(event, "char", 4, "text", 4, TRACEFS_TEXT);
}

bool hyptrace_tracefs_is_call(const struct tracefs_event *event,
			      const struct tracefs_field *field)
{
	return !strcmp(event->name, "host_hcall") && !strcmp(field->name, "id");
}

static bool is_named(const struct tracefs_event *event, const struct tracefs_field *field,
		     const struct tracefs_names *names)
{
	return field->is_reason || (names->nr && hyptrace_tracefs_is_call(event, field));
}

/* As the kernel prints it, but long enough */
static const char *conversion_of(const struct tracefs_event *event,
				 const struct tracefs_field *field)
{
	unsigned int i;

	for (i = 0; i < event->nr_pieces; i++)
		if (event->pieces[i].field == field && event->pieces[i].conversion == 'x')
			return "0x%llx";
	return field->is_signed ? "%lld" : "%llu";
}

static void print_argument(FILE *f, const struct tracefs_field *field, bool is_named,
			   const struct tracefs_names *names)
{
	unsigned int i;

	fprintf(f, is_named ? ", __print_symbolic(REC->%s" : ", REC->%s", field->name);
	for (i = 0; field->is_reason && i < COUNT(hyptrace_tracefs_reasons); i++)
		fprintf(f, ", { %u, \"%s\" }", i, hyptrace_tracefs_reasons[i]);
	for (i = 0; is_named && !field->is_reason && i < names->nr; i++)
		if (names->by_id[i])
			fprintf(f, ", { %u, \"%s\" }", i, names->by_id[i]);
	if (is_named)
		fputc(')', f);
}

/* A print format without functions of the kernel, for free(); NULL if there is no memory */
char *hyptrace_tracefs_print_fmt(const struct tracefs_event *event,
				 const struct tracefs_names *names)
{
	const bool is_text = event->nr_fields && event->fields[0].size == TRACEFS_TEXT;
	const struct tracefs_field *field = event->fields, *end = field + event->nr_fields;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	fputs(is_text ? "\"%s" : "\"", f);
	for (; field < end && !is_text; field++)
		fprintf(f, "%s%s=%s", field > event->fields ? " " : "", field->name,
			is_named(event, field, names) ? "%s" : conversion_of(event, field));
	fputc('"', f);
	for (field = event->fields; field < end; field++)
		print_argument(f, field, is_named(event, field, names), names);
	return hyptrace_end_text(f, &text);
}

const struct tracefs_event *hyptrace_tracefs_find(const struct tracefs *t, const char *name,
						  size_t len)
{
	unsigned int i;

	for (i = 0; i < t->nr_events; i++)
		if (hyptrace_is(name, len, t->events[i]->name))
			return t->events[i];
	return NULL;
}
