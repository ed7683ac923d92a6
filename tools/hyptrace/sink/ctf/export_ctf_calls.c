// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hypercalls of an event in CTF: a variant whose options are the names of the hypercalls, and
 * have their arguments. For export_ctf_event.c.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hyptrace.h"
#include "output/die.h"
#include "sink/export.h"
#include "export_ctf.h"

/* Words that are no identifiers in TSDL */
static const char *const keywords[] = {
	"align", "callsite", "char", "clock", "const", "double", "enum", "env", "event", "float",
	"floating_point", "int", "integer", "long", "short", "signed", "stream", "string",
	"struct", "trace", "typealias", "typedef", "unsigned", "unknown", "variant", "void",
	"_Bool", "_Complex", "_Imaginary",
};

static bool is_identifier(const char *name)
{
	const char *at;
	unsigned int i;

	for (i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
		if (!strcmp(name, keywords[i]))
			return false;
	for (at = name; *at; at++)
		if (!isalnum((unsigned char)*at) && *at != '_')
			return false;
	return at != name && !isdigit((unsigned char)name[0]);
}

/* Set the field with the number of the hypercall in a payload. */
static void set_id(const struct hyptrace_field *field, char *payload, uint32_t id)
{
	const uint8_t u8 = id;
	const uint16_t u16 = id;
	const uint64_t u64 = id;

	switch (field->size) {
	case sizeof(u8):
		memcpy(payload + field->offset, &u8, sizeof(u8));
		break;
	case sizeof(u16):
		memcpy(payload + field->offset, &u16, sizeof(u16));
		break;
	case sizeof(id):
		memcpy(payload + field->offset, &id, sizeof(id));
		break;
	default:
		memcpy(payload + field->offset, &u64, sizeof(u64));
	}
}

static bool is_taken(const struct ctf_event *ctf, uint32_t id, const char *name)
{
	unsigned int i;

	for (i = 0; i < ctf->nr_calls; i++)
		if (ctf->calls[i].id == id || !strcmp(ctf->calls[i].name, name))
			return true;
	return false;
}

/* Add the hypercall of a number, if the formats know it, and if an option can have its name. */
static void add_call(struct ctf_event *ctf, const struct export *x, char *payload, uint32_t id)
{
	const struct hyptrace_record rec = { .data = payload, .size = ctf->event->size };
	struct ctf_call *call = &ctf->calls[ctf->nr_calls];

	set_id(ctf->id, payload, id);
	call->id = id;
	call->call = hyptrace_formats_hypercall(x->formats, ctf->event, &rec);
	call->name = hyptrace_formats_name(x->formats, ctf->event, ctf->id, &rec);
	if (!call->name || !is_identifier(call->name) || is_taken(ctf, id, call->name))
		return;
	call->nr_args = call->call && call->call->known_args ? call->call->nr_args : 0;
	if (call->nr_args > ctf->nr_args)
		call->nr_args = ctf->nr_args;
	ctf->nr_calls++;
}

static int compare(const void *a, const void *b)
{
	const struct ctf_call *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* Find the fields with the arguments: those from "arg1" on. */
static void find_args(struct ctf_event *ctf)
{
	const struct hyptrace_event *event = ctf->event;
	unsigned int i;

	ctf->args = calloc(event->nr_fields + 1, sizeof(*ctf->args));
	if (!ctf->args)
		die_no_memory();
	for (i = 0; i < event->nr_fields; i++)
		if (!strncmp(event->fields[i]->name, "arg", 3) &&
		    event->fields[i]->size == sizeof(uint64_t) &&
		    hyptrace_field_is_number(event->fields[i], event->size))
			ctf->args[ctf->nr_args++] = event->fields[i];
}

/* Find the hypercalls of an event, if it is that of hypercalls. */
void ctf_find_calls(struct ctf_event *ctf, const struct export *x)
{
	const struct hyptrace_event *event = ctf->event;
	const struct hyptrace_field *id = NULL;
	unsigned int i;
	char *payload;

	for (i = 0; i < event->nr_fields; i++)
		if (!strcmp(event->fields[i]->name, "id") && !event->fields[i]->is_signed &&
		    hyptrace_field_is_number(event->fields[i], event->size))
			id = event->fields[i];
	/* only a sentence knows the hypercalls; a damaged file may have any size */
	if (!id || !x->nr_calls || event->size > UINT16_MAX ||
	    !hyptrace_formats_name_depends(x->formats, event, id))
		return;

	find_args(ctf);
	ctf->id = id;
	ctf->calls = calloc(x->nr_calls + id->nr_symbols + 1, sizeof(*ctf->calls));
	payload = calloc(1, event->size);
	if (!ctf->calls || !payload)
		die_no_memory();
	for (i = 0; i < x->nr_calls; i++)
		add_call(ctf, x, payload, x->calls[i]->id);
	for (i = 0; i < id->nr_symbols; i++)
		if (id->symbols[i]->value <= UINT32_MAX)
			add_call(ctf, x, payload, id->symbols[i]->value);
	free(payload);
	qsort(ctf->calls, ctf->nr_calls, sizeof(*ctf->calls), compare);
}
