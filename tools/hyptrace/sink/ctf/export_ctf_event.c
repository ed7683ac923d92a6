// SPDX-License-Identifier: GPL-2.0-only
/* Write the fields of an event in CTF. */
#include <ctype.h>

#include "output/die.h"
#include "sink/export.h"
#include "export_ctf.h"

static bool is_any(const struct hyptrace_field *field)
{
	return !field->size || strstr(field->type, "_loc ");
}

/* Is a field that is not a number a text? Else it is just bytes. */
bool ctf_is_text(const struct hyptrace_field *field)
{
	return strstr(field->type, "char");
}

/* Is it a field of a fixed length, inside its event? */
static bool is_inside(const struct hyptrace_event *event, const struct hyptrace_field *field)
{
	return !is_any(field) && field->offset <= event->size &&
	       field->size <= event->size - field->offset;
}

/*
 * Is a field written as its bytes? Fields that overlap, which a kernel does not have, could be much
 * larger than the event: those are left out that would make it larger.
 */
bool ctf_is_written(const struct hyptrace_event *event, unsigned int index)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i <= index; i++)
		if (is_inside(event, event->fields[i]))
			sum += event->fields[i]->size;
	return is_inside(event, event->fields[index]) && sum <= event->size;
}

/* Add a field to the bytes that are copied. */
static void add_field(struct ctf_event *ctf, const struct hyptrace_field *field)
{
	struct ctf_run *run = ctf->nr_runs ? &ctf->runs[ctf->nr_runs - 1] : NULL;

	if (run && run->offset + run->size == field->offset) {
		run->size += field->size;
	} else {
		run = &ctf->runs[ctf->nr_runs++];
		run->offset = field->offset;
		run->size = field->size;
	}
	if (run->size <= PLACE_WORD)
		run->place = hyptrace_place_of(run->offset, run->size, false, ctf->event->size);
	ctf->room += field->size;
}

/* Words that are no identifiers in TSDL */
static const char *const keywords[] = {
	"align", "callsite", "char", "clock", "const", "double", "enum", "env", "event", "float",
	"floating_point", "int", "integer", "long", "short", "signed", "stream", "string",
	"struct", "trace", "typealias", "typedef", "unsigned", "unknown", "variant", "void",
	"_Bool", "_Complex", "_Imaginary",
};

/* Add the hypercall of a number, if it has a name, and if an option can have its name. */
static void add_call(struct ctf_event *ctf, const struct hyptrace_meaning *meaning, uint32_t id)
{
	struct ctf_call *call = &ctf->calls[ctf->nr_calls];
	const char *at, *name = hyptrace_meaning_name(meaning, id);
	unsigned int i;

	if (!name || !*name || isdigit((unsigned char)*name) ||
	    has_name(keywords, sizeof(keywords) / sizeof(keywords[0]), name))
		return;
	for (at = name; *at; at++)
		if (!isalnum((unsigned char)*at) && *at != '_')
			return;
	for (i = 0; i < ctf->nr_calls; i++)
		if (ctf->calls[i].id == id || !strcmp(ctf->calls[i].name, name))
			return;
	call->id = id;
	call->name = name;
	call->call = hyptrace_meaning_hypercall(meaning, id);
	call->nr_args = hyptrace_meaning_named_args(meaning, call->call);
	if (call->nr_args > ctf->nr_args)
		call->nr_args = ctf->nr_args;
	ctf->nr_calls++;
}

static int compare(const void *a, const void *b)
{
	const struct ctf_call *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* A variant, whose options are the names of the hypercalls, and have their arguments */
static void find_calls(struct ctf_event *ctf, const struct export *x)
{
	const struct hyptrace_event *event = ctf->event;
	const struct hyptrace_meaning *meaning;
	const struct hyptrace_field *id, *arg;
	unsigned int i;

	if (event->id >= x->model->nr)
		return;
	meaning = x->model->by_id[event->id];
	id = meaning->places[HYPTRACE_ROLE_ID].field;
	/* a damaged file may have any size */
	if (meaning->kind != HYPTRACE_KIND_HYPERCALL || id->is_signed || !x->nr_calls ||
	    event->size > UINT16_MAX)
		return;
	for (i = 0; i < meaning->nr_args; i++) {
		arg = meaning->places[HYPTRACE_ROLE_ARG1 + i].field;
		if (arg->size != sizeof(uint64_t))
			break;
		ctf->args[ctf->nr_args++] = arg;
	}
	ctf->id = id;
	ctf->calls = xcalloc(x->nr_calls + id->nr_symbols + 1, sizeof(*ctf->calls));
	for (i = 0; i < x->nr_calls; i++)
		add_call(ctf, meaning, x->calls[i]->id);
	for (i = 0; i < id->nr_symbols; i++)
		if (id->symbols[i]->value <= UINT32_MAX)
			add_call(ctf, meaning, id->symbols[i]->value);
	qsort(ctf->calls, ctf->nr_calls, sizeof(*ctf->calls), compare);
}

struct ctf_event *ctf_event_new(const struct export *x, const struct hyptrace_event *event)
{
	struct ctf_event *ctf = xcalloc(1, sizeof(*ctf));
	unsigned int i;

	ctf->event = event;
	ctf->runs = xcalloc(event->nr_fields + 1, sizeof(*ctf->runs));
	ctf->named = xcalloc(event->nr_fields + 1, sizeof(*ctf->named));
	ctf->any = xcalloc(event->nr_fields + 1, sizeof(*ctf->any));
	find_calls(ctf, x);
	for (i = 0; i < event->nr_fields; i++) {
		const struct hyptrace_field *field = event->fields[i];

		if (is_any(field))
			ctf->any[ctf->nr_any++] = i;
		if (!ctf_is_written(event, i))
			continue;
		add_field(ctf, field);
		/* enumerations have the names of all other fields */
		if (field != ctf->id && !field->nr_symbols &&
		    hyptrace_formats_name_depends(x->formats, event, field))
			ctf->named[ctf->nr_named++] = i;
	}
	/* a run of up to eight bytes is written as a whole word */
	ctf->room += ctf->nr_args * sizeof(uint64_t) + ctf->nr_named * CTF_NAME_MAX + PLACE_WORD;
	return ctf;
}

void ctf_event_free(struct ctf_event *ctf)
{
	free(ctf->runs);
	free(ctf->calls);
	free(ctf->named);
	free(ctf->any);
	free(ctf);
}

static char *put_runs(const struct ctf_event *ctf, const char *data, char *to)
{
	const struct ctf_run *run = ctf->runs, *end = run + ctf->nr_runs;
	uint64_t small = 0, word;

	if (ctf->event->size < PLACE_WORD)
		data = memcpy(&small, data, ctf->event->size);
	for (; run < end; run++) {
		if (run->size <= PLACE_WORD) {
			word = hyptrace_place_unsigned(&run->place, data);
			if (htole16(1) != 1)
				word <<= run->place.right;
			memcpy(to, &word, sizeof(word));
		} else {
			memcpy(to, data + run->offset, run->size);
		}
		to += run->size;
	}
	return to;
}

/* A text ends with a NUL, and the bytes of another field follow their number. */
static char *put_any(const struct hyptrace_field *field, const struct hyptrace_record *rec,
		     uint32_t *left, char *to)
{
	uint32_t size;
	const char *bytes = hyptrace_field_bytes(field, rec, &size);

	/* such fields do not overlap either */
	if (!bytes || size > *left)
		size = 0;
	*left -= size;
	if (ctf_is_text(field))
		size = size ? strnlen(bytes, size) : 0;
	else
		to = mempcpy(to, &size, sizeof(size));
	if (size)
		to = mempcpy(to, bytes, size);
	if (ctf_is_text(field))
		*to++ = '\0';
	return to;
}

char *ctf_event_put(const struct ctf_event *ctf, const struct hyptrace_formats *formats,
		    const struct hyptrace_record *rec, char *to)
{
	const struct ctf_call *call = NULL;
	const char *data = rec->data, *name;
	struct ctf_call key;
	uint32_t left = rec->size;
	unsigned int i;
	uint64_t id;

	to = put_runs(ctf, data, to);
	if (ctf->id) {
		id = hyptrace_field_read(ctf->id, data);
		key.id = id;
		if (id <= UINT32_MAX)
			call = bsearch(&key, ctf->calls, ctf->nr_calls, sizeof(key), compare);
	}
	for (i = 0; call && i < call->nr_args; i++)
		to = mempcpy(to, data + ctf->args[i]->offset, sizeof(uint64_t));
	for (i = 0; i < ctf->nr_named; i++) {
		name = hyptrace_formats_name(formats, ctf->event,
					     ctf->event->fields[ctf->named[i]], rec) ?: "";
		to = mempcpy(to, name, strnlen(name, CTF_NAME_MAX - 1));
		*to++ = '\0';
	}
	for (i = 0; i < ctf->nr_any; i++)
		to = put_any(ctf->event->fields[ctf->any[i]], rec, &left, to);
	return to;
}
