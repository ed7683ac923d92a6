// SPDX-License-Identifier: GPL-2.0-only
/* The names of events, of values and of results, and the arguments of hypercalls. */
#include "format.h"

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

/* The kinds whose values alone do not say what has happened: "tlbi vmid_ipa" */
#define BIT(kind)	HYPTRACE_KIND_BIT(HYPTRACE_KIND_##kind)
#define AFTER_EVENT	(BIT(GUEST_FIXUP) | BIT(TLBI) | BIT(POOL) | BIT(MEM_ABORT) | \
			 BIT(ILLEGAL_TRAP) | BIT(LOCK_WAIT))

/* Add names for the values of a field, with @bit in their keys. */
static bool add_names(struct meaning *meaning, const struct hyptrace_field *field, uint64_t bit)
{
	const bool after_event = AFTER_EVENT & HYPTRACE_KIND_BIT(meaning->public.kind);
	char name[NAME_SIZE];
	unsigned int i;

	for (i = 0; i < nr_symbols(field); i++) {
		const struct hyptrace_symbol *symbol = field->symbols[i];

		if (after_event)
			snprintf(name, sizeof(name), "%s %s", meaning->public.event->name,
				 symbol->name);
		if (!hyptrace_symbols_add(meaning->names, bit | symbol->value,
					  after_event ? name : symbol->name))
			return false;
	}
	return true;
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
	meaning->names = hyptrace_symbols_alloc(nr);
	for (i = 0; meaning->names && i < nr; i++) {
		op = fields[0]->symbols[i % nr_op];
		from = fields[1]->symbols[i / nr_op % nr_from];
		to = fields[2]->symbols[i / nr_op / nr_from];
		snprintf(name, sizeof(name), "%s %s -> %s", op->name, from->name, to->name);
		if (!hyptrace_symbols_add(meaning->names,
					  HYPTRACE_KEY_TRANSITION(op->value, from->value,
								  to->value), name))
			return false;
	}
	return meaning->names;
}

/* The kinds that the values of one of their fields name */
#define NAMED_BY_FIELD	(BIT(ENTER) | BIT(EXIT) | BIT(HYPERCALL) | BIT(SMC) | BIT(PSCI) | \
			 BIT(FFA) | BIT(GUEST_FIXUP) | BIT(TLBI) | BIT(POOL) | BIT(FUNCTION) | \
			 BIT(LOCK_WAIT))

bool hyptrace_meaning_make_names(struct meaning *meaning)
{
	const uint32_t kind = HYPTRACE_KIND_BIT(meaning->public.kind);
	const struct hyptrace_field *by, *code = NULL;

	if (kind & BIT(TRANSITION))
		return name_transitions(meaning);
	if (kind & NAMED_BY_FIELD) {
		by = field_of(meaning, meaning->public.named_by);
	} else if (kind & (BIT(MEM_ABORT) | BIT(ILLEGAL_TRAP))) {
		by = meaning->values->class_field;
	} else if (kind & BIT(GUEST_EXIT)) {
		/* a trap is named by its class, any other exit by its code */
		code = field_of(meaning, HYPTRACE_ROLE_CODE);
		by = field_of(meaning, HYPTRACE_ROLE_CLASS);
	} else {
		return true;
	}
	meaning->names = hyptrace_symbols_alloc(nr_symbols(by) + nr_symbols(code));
	return meaning->names && add_names(meaning, code, 0) &&
	       add_names(meaning, by, code ? HYPTRACE_KEY_TRAP : 0);
}

/**
 * hyptrace_meaning_compound_key - get the key of an event that several fields name
 * @meaning:	what the event means
 * @rec:	the event's record
 * Return: the key; see hyptrace_meaning_key(), which calls this.
 */
uint64_t hyptrace_meaning_compound_key(const struct hyptrace_meaning *meaning,
				       const struct hyptrace_record *rec)
{
	uint64_t code, op, from, to;

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
		to = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_TO, rec);
		return HYPTRACE_KEY_TRANSITION(op, from, to);
	default:
		return esr_class(hyptrace_meaning_value(meaning, HYPTRACE_ROLE_ESR, rec));
	}
}

/**
 * hyptrace_meaning_name - get the name of an event for people
 * @meaning:	what the event means
 * @key:	its key, from hyptrace_meaning_key()
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
 * Return: the name, such as "host"; NULL if it has none.
 */
const char *hyptrace_meaning_value_name(const struct hyptrace_meaning *meaning,
					enum hyptrace_role role, uint64_t value)
{
	const struct hyptrace_hypercall *call;

	if (role == HYPTRACE_ROLE_ESR)
		return value ? hyptrace_class_name(own(meaning)->values,
						       esr_class(value)) : NULL;
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
 * Return: the hypercall, one of hyptrace_formats_set_hypercalls(); NULL if it is unknown, or if
 * the event is not that of hypercalls.
 */
const struct hyptrace_hypercall *hyptrace_meaning_hypercall(const struct hyptrace_meaning *meaning,
							    uint64_t id)
{
	const struct sentence_call *found;

	if (meaning->kind != HYPTRACE_KIND_HYPERCALL)
		return NULL;
	found = hyptrace_find_call(own(meaning)->values, id);
	return found ? found->call : NULL;
}

/**
 * hyptrace_meaning_named_args - count the arguments of a hypercall that have names
 * @meaning:	what the event means
 * @call:	the hypercall, or NULL
 * Return: their number: the first one is @call->args[0], with the value of HYPTRACE_ROLE_ARG1, and
 * so on. 0 also if it is not known which arguments the hypercall has.
 */
unsigned int hyptrace_meaning_named_args(const struct hyptrace_meaning *meaning,
					 const struct hyptrace_hypercall *call)
{
	return call && call->known_args ? MIN(call->nr_args, meaning->nr_args) : 0;
}

/* Can a hypercall return something? */
bool hyptrace_meaning_returns(const struct meaning *meaning, uint64_t id)
{
	const struct sentence_call *found = hyptrace_find_call(meaning->values, id);

	return !found || !found->call->known_args || found->call->returns;
}

/**
 * hyptrace_meaning_result - get what a call has returned
 * @meaning:	what the event means
 * @rec:	the event's record
 * @result:	out: the value of HYPTRACE_ROLE_RESULT
 * Return: false if it returns nothing, if EL2 has refused it or passed it on, or if its result is
 * not known yet.
 */
bool hyptrace_meaning_result(const struct hyptrace_meaning *meaning,
			     const struct hyptrace_record *rec, int64_t *result)
{
	const struct sentence_kind *sentence = own(meaning)->sentence;
	uint64_t values[HYPTRACE_NR_ROLES];

	*result = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_RESULT, rec);
	if (!hyptrace_meaning_has(meaning, HYPTRACE_ROLE_RESULT))
		return false;
	if (!sentence)
		return !hyptrace_meaning_value(meaning, HYPTRACE_ROLE_INVALID, rec);
	if (!sentence->has_result)
		return sentence->result;
	hyptrace_meaning_values(own(meaning), rec->data, values);
	return sentence->has_result(own(meaning), values);
}

/**
 * hyptrace_meaning_result_name - get the name of what a call has returned
 * @meaning:	what the event means
 * @rec:	the event's record
 * Return: the name, such as "-EPERM" or "irq"; NULL if it has none.
 */
const char *hyptrace_meaning_result_name(const struct hyptrace_meaning *meaning,
					 const struct hyptrace_record *rec)
{
	const struct sentence_kind *sentence = own(meaning)->sentence;
	uint64_t values[HYPTRACE_NR_ROLES];

	if (!sentence || !sentence->result)
		return NULL;
	hyptrace_meaning_values(own(meaning), rec->data, values);
	return sentence->result(own(meaning), values);
}

/* FF-A answers with another call: this one is an error. Its name has a suffix in some versions. */
#define FFA_PREFIX	"FFA_"
#define FFA_ERROR	"FFA_ERROR"

/**
 * hyptrace_meaning_error - get the error of a call
 * @meaning:	what the event means
 * @rec:	the event's record
 * Return: its name, such as "-EPERM"; "invalid" if EL2 has refused the call; NULL if it is no
 * error, or if the error has no name.
 */
const char *hyptrace_meaning_error(const struct hyptrace_meaning *meaning,
				   const struct hyptrace_record *rec)
{
	const char *name;
	int64_t result;

	if (hyptrace_meaning_value(meaning, HYPTRACE_ROLE_INVALID, rec))
		return "invalid";
	if (!hyptrace_meaning_result(meaning, rec, &result))
		return NULL;
	/* the exits of __kvm_vcpu_run() have names, too */
	if (meaning->kind == HYPTRACE_KIND_HYPERCALL && result >= 0)
		return NULL;
	name = hyptrace_meaning_result_name(meaning, rec);
	if (name && !strncmp(name, FFA_PREFIX, strlen(FFA_PREFIX)) &&
	    strncmp(name, FFA_ERROR, strlen(FFA_ERROR)))
		return NULL;
	return name;
}

/**
 * hyptrace_formats_name_depends - check whether the name of a value depends on the whole event
 * @fmts:	the formats
 * @event:	the event, from hyptrace_formats_event()
 * @field:	the field, one of @event
 * Return: true if hyptrace_formats_name() may give a value another name than
 * hyptrace_symbol_name().
 */
bool hyptrace_formats_name_depends(const struct hyptrace_formats *fmts,
				   const struct hyptrace_event *event,
				   const struct hyptrace_field *field)
{
	const struct meaning *own = fmts->by_id[event->id].sentence;
	const struct hyptrace_place *places;

	if (!own)
		return false;
	places = own->public.places;
	return field == places[HYPTRACE_ROLE_ESR].field ||
	       (field == places[HYPTRACE_ROLE_RESULT].field && own->sentence->result) ||
	       (field == places[HYPTRACE_ROLE_CLASS].field && places[HYPTRACE_ROLE_CODE].size) ||
	       (field == places[HYPTRACE_ROLE_ID].field &&
		own->public.kind == HYPTRACE_KIND_HYPERCALL);
}

/**
 * hyptrace_formats_name - get the name of a field's value
 * @fmts:	the formats
 * @event:	the event, from hyptrace_formats_event()
 * @field:	the field, one of @event
 * @rec:	a record of @event
 * Return: the name, such as "-EPERM" for a field ret; NULL if the value has none.
 */
const char *hyptrace_formats_name(const struct hyptrace_formats *fmts,
				  const struct hyptrace_event *event,
				  const struct hyptrace_field *field,
				  const struct hyptrace_record *rec)
{
	const struct meaning *own = fmts->by_id[event->id].sentence;
	const struct hyptrace_meaning *meaning;
	const struct hyptrace_place *places;
	const char *name = NULL;
	uint64_t value;

	if (hyptrace_field_value(field, rec, &value))
		return NULL;
	if (!own)
		return hyptrace_symbol_name(field, value);
	meaning = &own->public;
	places = meaning->places;
	if (field == places[HYPTRACE_ROLE_ESR].field)
		return hyptrace_meaning_value_name(meaning, HYPTRACE_ROLE_ESR, value);
	if (field == places[HYPTRACE_ROLE_ID].field)
		return hyptrace_meaning_value_name(meaning, HYPTRACE_ROLE_ID, value);
	if (field == places[HYPTRACE_ROLE_CLASS].field && places[HYPTRACE_ROLE_CODE].size &&
	    hyptrace_meaning_value(meaning, HYPTRACE_ROLE_CODE, rec) != EXIT_TRAP)
		return NULL;
	if (field == places[HYPTRACE_ROLE_RESULT].field)
		name = hyptrace_meaning_result_name(meaning, rec);
	return name ? name : hyptrace_symbol_name(field, value);
}

/**
 * hyptrace_formats_missing - get the field that has no value: the result of a hypercall
 * @fmts:	the formats
 * @event:	the event, from hyptrace_formats_event()
 * @rec:	a record of @event; NULL for any that lacks a value
 * Return: the field if the hypercall was invalid or returns nothing; else NULL.
 */
const struct hyptrace_field *hyptrace_formats_missing(const struct hyptrace_formats *fmts,
						      const struct hyptrace_event *event,
						      const struct hyptrace_record *rec)
{
	const struct meaning *own = fmts->by_id[event->id].meaning;
	const struct hyptrace_meaning *meaning;

	if (!own || !own->sentence || own->public.kind != HYPTRACE_KIND_HYPERCALL)
		return NULL;
	meaning = &own->public;
	if (rec && !hyptrace_meaning_value(meaning, HYPTRACE_ROLE_INVALID, rec) &&
	    hyptrace_meaning_returns(own, hyptrace_meaning_value(meaning, HYPTRACE_ROLE_ID, rec)))
		return NULL;
	return meaning->places[HYPTRACE_ROLE_RESULT].field;
}
