// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find the sentence of an event, and print it. For format.c.
 */
#include <stdlib.h>
#include <string.h>

#include "sentence.h"

static const struct {
	const char	*name;
	bool		is_signed;
} known_fields[NR_FIELDS] = {
#define FIELD(id, name, is_signed)	[FIELD_##id] = { #name, is_signed },
	SENTENCE_FIELDS
#undef FIELD
};

static const struct sentence_kind *find_kind(const char *event)
{
	const struct sentence_kind *kind = &hyptrace_sentence_printk;

	if (!strcmp(kind->event, event))
		return kind;
	for (kind = hyptrace_sentence_calls; kind->event; kind++)
		if (!strcmp(kind->event, event))
			return kind;
	for (kind = hyptrace_sentence_guests; kind->event; kind++)
		if (!strcmp(kind->event, event))
			return kind;
	return NULL;
}

/* Is the field a number inside the payload, with the right sign and usable names? */
static bool is_usable(const struct hyptrace_event *event, const struct hyptrace_field *field,
		      enum sentence_field which)
{
	unsigned int i;

	if (field->is_signed != known_fields[which].is_signed ||
	    !hyptrace_field_is_number(field, event->size))
		return false;
	/* sentence_printk.c checks a format when it prints it: one does not spoil the others */
	for (i = 0; which != FIELD_FMT_ID && i < field->nr_symbols; i++)
		if (!hyptrace_sentence_is_name(field->symbols[i]->name))
			return false;
	return true;
}

static const struct hyptrace_field *find_field(const struct hyptrace_event *event,
					       enum sentence_field which)
{
	unsigned int i;

	for (i = 0; i < event->nr_fields; i++)
		if (!strcmp(event->fields[i]->name, known_fields[which].name) &&
		    is_usable(event, event->fields[i], which))
			return event->fields[i];
	return NULL;
}

/*
 * Find a field whose values are exception classes. Return the field, whose symbols name the
 * classes; NULL if there is none.
 */
const struct hyptrace_field *
hyptrace_sentence_find_classes(struct hyptrace_event *const *events, unsigned int nr)
{
	const struct hyptrace_field *field = NULL;
	unsigned int i;

	for (i = 0; i < nr && !field; i++)
		field = find_field(events[i], FIELD_EC);
	return field;
}

/* Keep where a field is, and the names of its values. Return false if there is no memory. */
static bool add_field(struct sentence *s, const struct hyptrace_event *event,
		      enum sentence_field which)
{
	const struct hyptrace_field *field = s->fields[which];
	struct sentence_place *place = &s->places[s->nr_places++], *at = &s->places[s->nr_unsigned];

	/* the unsigned fields are first */
	if (!field->is_signed) {
		*place = *at;
		place = at;
		s->nr_unsigned++;
	}
	place->place = hyptrace_place_of(field->offset, field->size, event->size);
	place->field = which;
	if (!field->nr_symbols)
		return true;
	s->symbols[which] = hyptrace_sentence_symbols_new(field);
	return s->symbols[which];
}

void hyptrace_sentence_free(struct sentence *s)
{
	unsigned int i;

	for (i = 0; s && i < NR_FIELDS; i++)
		hyptrace_sentence_symbols_free(s->symbols[i]);
	free(s);
}

/*
 * Find the sentence of an event. Return the sentence, for hyptrace_sentence_free(); NULL if the
 * event has none, or if there is no memory.
 */
struct sentence *hyptrace_sentence_new(const struct hyptrace_event *event,
				       const struct sentence_names *names)
{
	const struct sentence_kind *kind = find_kind(event->name);
	struct sentence *s;
	unsigned int i;

	s = kind ? calloc(1, sizeof(*s)) : NULL;
	if (!s)
		return NULL;
	s->kind = kind;
	s->names = names;
	s->size = event->size;
	for (i = 0; i < NR_FIELDS; i++) {
		if (!(kind->fields & UINT64_C(1) << i))
			continue;
		s->fields[i] = find_field(event, i);
		if (!s->fields[i] || !add_field(s, event, i)) {
			hyptrace_sentence_free(s);
			return NULL;
		}
	}
	return s;
}

static inline void get_values(const struct sentence *s, const void *data, uint64_t *values)
{
	const struct sentence_place *place = s->places, *end = place + s->nr_unsigned;
	uint64_t small = 0;

	/* eight bytes are read for each field */
	if (s->size < sizeof(small))
		data = memcpy(&small, data, s->size);
	for (; place < end; place++)
		values[place->field] = hyptrace_place_unsigned(&place->place, data);
	for (end = s->places + s->nr_places; place < end; place++)
		values[place->field] = hyptrace_place_signed(&place->place, data);
}

char *hyptrace_sentence_put(const struct sentence *s, const void *data, char *to)
{
	uint64_t values[NR_FIELDS];

	get_values(s, data, values);
	return s->kind->put(s, values, to);
}

bool hyptrace_sentence_has_value(const struct sentence *s, const struct hyptrace_field *field,
				 const void *data)
{
	if (field == s->fields[FIELD_ESR])
		return hyptrace_field_read(field, data);
	if (field == s->fields[FIELD_EC] && s->fields[FIELD_CODE])
		return hyptrace_field_read(s->fields[FIELD_CODE], data) == EXIT_TRAP;
	return true;
}

static bool is_result(const struct sentence *s, const struct hyptrace_field *field)
{
	return s->kind->result &&
	       (field == s->fields[FIELD_RET] || field == s->fields[FIELD_ERR]);
}

/* Does a field's name depend on more than its value? */
bool hyptrace_sentence_names(const struct sentence *s, const struct hyptrace_field *field)
{
	return field == s->fields[FIELD_ESR] || is_result(s, field) ||
	       (field == s->fields[FIELD_EC] && s->fields[FIELD_CODE]) ||
	       (field == s->fields[FIELD_ID] && s->fields[FIELD_ARG4]);
}

/* The exception class in a field of ESR_EL2 */
static uint64_t class_in(const struct hyptrace_field *field, const void *data)
{
	return sentence_esr_class(hyptrace_field_read(field, data));
}

/* Get the name of a field's value that only a sentence knows. Return the name, or NULL. */
const char *hyptrace_sentence_name(const struct sentence *s, const struct hyptrace_field *field,
				   const void *data)
{
	const struct hyptrace_hypercall *call;
	uint64_t values[NR_FIELDS];

	if (field == s->fields[FIELD_ESR])
		return hyptrace_sentence_class(s->names, class_in(field, data));
	if (field == s->fields[FIELD_ID]) {
		call = hyptrace_sentence_call(s, data);
		return call ? call->name : NULL;
	}
	if (!is_result(s, field))
		return NULL;
	get_values(s, data, values);
	return s->kind->result(s, values);
}

bool hyptrace_sentence_returns(const struct sentence *s, uint64_t id)
{
	const struct sentence_call *found = hyptrace_sentence_find_call(s->names, id);

	return !found || !found->call->known_args || found->call->returns;
}

/*
 * Get the field with the result of a hypercall. Return the field; NULL if the event is not that of
 * a hypercall.
 */
const struct hyptrace_field *hyptrace_sentence_result_field(const struct sentence *s)
{
	/* only host_hcall has this field */
	return s->fields[FIELD_ARG4] ? s->fields[FIELD_RET] : NULL;
}

/*
 * Does hyptrace_sentence_result_field() have a result? Return false if the hypercall was invalid or
 * returns nothing; true for other events.
 */
bool hyptrace_sentence_has_result(const struct sentence *s, const void *data)
{
	return !s->fields[FIELD_ARG4] ||
	       (!hyptrace_field_read(s->fields[FIELD_INVALID], data) &&
		hyptrace_sentence_returns(s, hyptrace_field_read(s->fields[FIELD_ID], data)));
}

/*
 * Get the hypercall of an event. Return the hypercall; NULL if the event is not that of a
 * hypercall, or if it is unknown.
 */
const struct hyptrace_hypercall *hyptrace_sentence_call(const struct sentence *s,
							const void *data)
{
	const struct sentence_call *found;
	uint64_t id;

	/* only host_hcall has this field */
	if (!s->fields[FIELD_ARG4])
		return NULL;
	id = hyptrace_field_read(s->fields[FIELD_ID], data);
	found = hyptrace_sentence_find_call(s->names, id);
	return found ? found->call : NULL;
}

/* What a call has returned; false if it returns nothing, or if that is not known */
bool hyptrace_sentence_get_result(const struct sentence *s, const void *data, int64_t *result)
{
	const enum sentence_field field = s->fields[FIELD_RET] ? FIELD_RET : FIELD_ERR;
	uint64_t values[NR_FIELDS];

	if (!s->kind->result)
		return false;
	get_values(s, data, values);
	*result = values[field];
	return !s->kind->has_result || s->kind->has_result(s, values);
}

/* FF-A answers with another call: this one is an error. Its name has a suffix in some versions. */
#define FFA_PREFIX	"FFA_"
#define FFA_ERROR	"FFA_ERROR"

/* The name of a call's error; NULL if it has succeeded, or if its error has no name */
const char *hyptrace_sentence_error(const struct sentence *s, const void *data)
{
	uint64_t values[NR_FIELDS];
	const char *name;

	if (!s->kind->result)
		return NULL;
	get_values(s, data, values);
	if (s->fields[FIELD_INVALID] && values[FIELD_INVALID])
		return "invalid";
	if (s->kind->has_result && !s->kind->has_result(s, values))
		return NULL;
	name = s->kind->result(s, values);
	/* the exits of __kvm_vcpu_run() have names, too */
	if (s->fields[FIELD_ARG4] && (int64_t)values[FIELD_RET] >= 0)
		return NULL;
	if (name && !strncmp(name, FFA_PREFIX, strlen(FFA_PREFIX)) &&
	    strncmp(name, FFA_ERROR, strlen(FFA_ERROR)))
		return NULL;
	return name;
}
