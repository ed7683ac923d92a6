// SPDX-License-Identifier: GPL-2.0-only
/*
 * The names of events, of values and of results, and the arguments of hypercalls.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

/* Bytes of an event's name at most */
#define NAME_SIZE	(3 * SENTENCE_NAME_MAX + 16)

/* The values of op, from and to that have names: else there are no names of transitions */
#define TRANSITION_VALUES	16

static const struct meaning *own(const struct hyptrace_meaning *meaning)
{
	return (const struct meaning *)meaning;
}

static const struct hyptrace_field *field_of(const struct meaning *meaning,
					     enum hyptrace_role role)
{
	return meaning->public.places[role].field;
}

static unsigned int nr_symbols(const struct hyptrace_field *field)
{
	return field ? field->nr_symbols : 0;
}

/* "tlbi vmid_ipa": the value alone does not say what has happened. */
static bool add_after_event(struct meaning *meaning, uint64_t key, const char *value)
{
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "%s %s", meaning->public.event->name, value);
	return hyptrace_sentence_symbols_add(meaning->names, key, name);
}

static bool name_by_field(struct meaning *meaning, enum hyptrace_role role)
{
	const struct hyptrace_field *field = field_of(meaning, role);
	unsigned int i;

	meaning->names = hyptrace_sentence_symbols_alloc(nr_symbols(field));
	for (i = 0; meaning->names && i < nr_symbols(field); i++)
		if (!add_after_event(meaning, field->symbols[i]->value, field->symbols[i]->name))
			return false;
	return meaning->names;
}

static bool name_by_class(struct meaning *meaning)
{
	const struct sentence_symbols *classes = meaning->values->classes;
	const unsigned long nr = classes ? 1UL << classes->bits : 0;
	unsigned long i;

	meaning->names = hyptrace_sentence_symbols_alloc(nr);
	for (i = 0; meaning->names && i < nr; i++)
		if (classes->table[i].text &&
		    !add_after_event(meaning, classes->table[i].value, classes->table[i].text))
			return false;
	return meaning->names;
}

/* A trap is named by its class, any other exit by its code. */
static bool name_exits(struct meaning *meaning)
{
	const struct hyptrace_field *code = field_of(meaning, HYPTRACE_ROLE_CODE);
	const struct hyptrace_field *class = field_of(meaning, HYPTRACE_ROLE_CLASS);
	unsigned int i;

	meaning->names = hyptrace_sentence_symbols_alloc(nr_symbols(code) + nr_symbols(class));
	for (i = 0; meaning->names && i < nr_symbols(code); i++)
		if (code->symbols[i]->value != meaning->public.trap &&
		    !hyptrace_sentence_symbols_add(meaning->names, code->symbols[i]->value,
						   code->symbols[i]->name))
			return false;
	for (i = 0; meaning->names && i < nr_symbols(class); i++)
		if (!hyptrace_sentence_symbols_add(meaning->names,
						   HYPTRACE_KEY_TRAP | class->symbols[i]->value,
						   class->symbols[i]->name))
			return false;
	return meaning->names;
}

/* "donate host -> hyp" */
static bool name_transitions(struct meaning *meaning)
{
	const struct hyptrace_field *fields[] = {
		field_of(meaning, HYPTRACE_ROLE_OP),
		field_of(meaning, HYPTRACE_ROLE_FROM),
		field_of(meaning, HYPTRACE_ROLE_TO),
	};
	const unsigned int nr_op = fields[0]->nr_symbols, nr_from = fields[1]->nr_symbols;
	unsigned int nr = nr_op * nr_from * fields[2]->nr_symbols, i;
	const struct hyptrace_symbol *op, *from, *to;
	char name[NAME_SIZE];

	for (i = 0; i < 3; i++)
		if (fields[i]->nr_symbols > TRANSITION_VALUES)
			nr = 0;
	meaning->names = hyptrace_sentence_symbols_alloc(nr);
	for (i = 0; meaning->names && i < nr; i++) {
		op = fields[0]->symbols[i % nr_op];
		from = fields[1]->symbols[i / nr_op % nr_from];
		to = fields[2]->symbols[i / nr_op / nr_from];
		snprintf(name, sizeof(name), "%s %s -> %s", op->name, from->name, to->name);
		if (!hyptrace_sentence_symbols_add(meaning->names,
						   HYPTRACE_KEY_TRANSITION(op->value, from->value,
									   to->value), name))
			return false;
	}
	return meaning->names;
}

static bool name_by_value(struct meaning *meaning, enum hyptrace_role role)
{
	meaning->names = hyptrace_sentence_symbols_new(field_of(meaning, role));
	return meaning->names;
}

bool hyptrace_meaning_make_names(struct meaning *meaning)
{
	bool has_memory;

	switch (meaning->public.kind) {
	case HYPTRACE_KIND_ENTER:
	case HYPTRACE_KIND_EXIT:
		has_memory = name_by_value(meaning, HYPTRACE_ROLE_REASON);
		break;
	case HYPTRACE_KIND_HYPERCALL:
	case HYPTRACE_KIND_SMC:
	case HYPTRACE_KIND_PSCI:
	case HYPTRACE_KIND_FFA:
		has_memory = name_by_value(meaning, HYPTRACE_ROLE_ID);
		break;
	case HYPTRACE_KIND_GUEST_EXIT:
		has_memory = name_exits(meaning);
		break;
	case HYPTRACE_KIND_GUEST_FIXUP:
		has_memory = name_by_field(meaning, HYPTRACE_ROLE_CLASS);
		break;
	case HYPTRACE_KIND_TLBI:
	case HYPTRACE_KIND_POOL:
		has_memory = name_by_field(meaning, HYPTRACE_ROLE_OP);
		break;
	case HYPTRACE_KIND_MEM_ABORT:
	case HYPTRACE_KIND_ILLEGAL_TRAP:
		has_memory = name_by_class(meaning);
		break;
	case HYPTRACE_KIND_TRANSITION:
		has_memory = name_transitions(meaning);
		break;
	default:
		return true;
	}
	if (!has_memory)
		hyptrace_sentence_symbols_free(meaning->names);
	return has_memory;
}

/**
 * hyptrace_meaning_compound_key - get the key of an event that several fields name
 * @meaning:	what the event means
 * @rec:	the event's record
 *
 * Return: the key; see hyptrace_meaning_key(), which calls this.
 */
uint64_t hyptrace_meaning_compound_key(const struct hyptrace_meaning *meaning,
				       const struct hyptrace_record *rec)
{
	uint64_t code, op, from;

	switch (meaning->kind) {
	case HYPTRACE_KIND_GUEST_EXIT:
		code = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_CODE, rec);
		if (code != meaning->trap && hyptrace_meaning_has(meaning, HYPTRACE_ROLE_CODE))
			return (uint32_t)code;
		return HYPTRACE_KEY_TRAP |
		       (uint32_t)hyptrace_meaning_value(meaning, HYPTRACE_ROLE_CLASS, rec);
	case HYPTRACE_KIND_TRANSITION:
		op = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_OP, rec);
		from = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_FROM, rec);
		return HYPTRACE_KEY_TRANSITION(op, from, hyptrace_meaning_value(meaning,
									HYPTRACE_ROLE_TO,
									rec));
	default:
		return sentence_esr_class(hyptrace_meaning_value(meaning, HYPTRACE_ROLE_ESR, rec));
	}
}

/**
 * hyptrace_meaning_name - get the name of an event for people
 * @meaning:	what the event means
 * @key:	its key, from hyptrace_meaning_key()
 *
 * Return: the name, such as "hvc", "__pkvm_init_vm", "PSCI_CPU_ON", "DABT_LOW",
 * "guest_fixup SYS64" or "donate host -> hyp". It is always at the same address. NULL if the event
 * has none but its own: its kind has no names, or the value has none.
 */
const char *hyptrace_meaning_name(const struct hyptrace_meaning *meaning, uint64_t key)
{
	const struct sentence_symbols *names = own(meaning)->names;
	const struct hyptrace_hypercall *call = NULL;

	if (!names)
		return NULL;
	if (meaning->kind == HYPTRACE_KIND_HYPERCALL)
		call = hyptrace_meaning_hypercall(meaning, key);
	return call ? call->name : sentence_find_symbol(names, key)->text;
}

/**
 * hyptrace_meaning_value_name - get the name of a value
 * @meaning:	what the event means
 * @role:	the role of the field; not HYPTRACE_ROLE_RESULT
 * @value:	its value
 *
 * Return: the name, such as "host"; NULL if it has none.
 */
const char *hyptrace_meaning_value_name(const struct hyptrace_meaning *meaning,
					enum hyptrace_role role, uint64_t value)
{
	const struct hyptrace_hypercall *call;

	if (role == HYPTRACE_ROLE_ESR)
		return value ? hyptrace_sentence_class(own(meaning)->values,
						       sentence_esr_class(value)) : NULL;
	if (role == HYPTRACE_ROLE_ID) {
		call = hyptrace_meaning_hypercall(meaning, value);
		if (call)
			return call->name;
	}
	return meaning->places[role].field ?
	       hyptrace_symbol_name(meaning->places[role].field, value) : NULL;
}

/**
 * hyptrace_meaning_hypercall - find a hypercall
 * @meaning:	what the event means
 * @id:		value of HYPTRACE_ROLE_ID
 *
 * Return: the hypercall, one of hyptrace_formats_set_hypercalls(); NULL if it is unknown, or if
 * the event is not that of hypercalls.
 */
const struct hyptrace_hypercall *hyptrace_meaning_hypercall(const struct hyptrace_meaning *meaning,
							    uint64_t id)
{
	const struct sentence_call *found;

	if (meaning->kind != HYPTRACE_KIND_HYPERCALL)
		return NULL;
	found = hyptrace_sentence_find_call(own(meaning)->values, id);
	return found ? found->call : NULL;
}

/**
 * hyptrace_meaning_named_args - count the arguments of a hypercall that have names
 * @meaning:	what the event means
 * @call:	the hypercall, or NULL
 *
 * Return: their number: the first one is @call->args[0], with the value of HYPTRACE_ROLE_ARG1, and
 * so on. 0 also if it is not known which arguments the hypercall has.
 */
unsigned int hyptrace_meaning_named_args(const struct hyptrace_meaning *meaning,
					 const struct hyptrace_hypercall *call)
{
	if (!call || !call->known_args)
		return 0;
	return call->nr_args < meaning->nr_args ? call->nr_args : meaning->nr_args;
}

/**
 * hyptrace_meaning_result - get what a call has returned
 * @meaning:	what the event means
 * @rec:	the event's record
 * @result:	out: the value of HYPTRACE_ROLE_RESULT
 *
 * Return: false if it returns nothing, if EL2 has refused it or passed it on, or if its result is
 * not known yet.
 */
bool hyptrace_meaning_result(const struct hyptrace_meaning *meaning,
			     const struct hyptrace_record *rec, int64_t *result)
{
	if (own(meaning)->sentence)
		return hyptrace_sentence_get_result(own(meaning)->sentence, rec->data, result);
	*result = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_RESULT, rec);
	return hyptrace_meaning_has(meaning, HYPTRACE_ROLE_RESULT) &&
	       !hyptrace_meaning_value(meaning, HYPTRACE_ROLE_INVALID, rec);
}

/**
 * hyptrace_meaning_result_name - get the name of what a call has returned
 * @meaning:	what the event means
 * @rec:	the event's record
 *
 * Return: the name, such as "-EPERM" or "irq"; NULL if it has none.
 */
const char *hyptrace_meaning_result_name(const struct hyptrace_meaning *meaning,
					 const struct hyptrace_record *rec)
{
	const struct hyptrace_field *field = meaning->places[HYPTRACE_ROLE_RESULT].field;

	return own(meaning)->sentence && field ?
	       hyptrace_sentence_name(own(meaning)->sentence, field, rec->data) : NULL;
}

/**
 * hyptrace_meaning_error - get the error of a call
 * @meaning:	what the event means
 * @rec:	the event's record
 *
 * Return: its name, such as "-EPERM"; "invalid" if EL2 has refused the call; NULL if it is no
 * error, or if the error has no name.
 */
const char *hyptrace_meaning_error(const struct hyptrace_meaning *meaning,
				   const struct hyptrace_record *rec)
{
	if (own(meaning)->sentence)
		return hyptrace_sentence_error(own(meaning)->sentence, rec->data);
	return hyptrace_meaning_value(meaning, HYPTRACE_ROLE_INVALID, rec) ? "invalid" : NULL;
}
