// SPDX-License-Identifier: GPL-2.0-only
/* What events mean: their kinds, and where the fields are that have a role. */
#include "format.h"

static const struct {
	const char	*event;
	uint64_t	needs;		/* a bit for each role */
	unsigned int	named_by;
} kinds[HYPTRACE_NR_KINDS] = {
	[HYPTRACE_KIND_ENTER] = { "hyp_enter", NEEDS(REASON), HYPTRACE_ROLE_REASON },
	[HYPTRACE_KIND_EXIT] = { "hyp_exit", NEEDS(REASON), HYPTRACE_ROLE_REASON },
	[HYPTRACE_KIND_HYPERCALL] = { "host_hcall", NEEDS(ID), HYPTRACE_ROLE_ID },
	[HYPTRACE_KIND_SMC] = { "host_smc", NEEDS(ID), HYPTRACE_ROLE_ID },
	[HYPTRACE_KIND_PSCI] = { "psci_call", NEEDS(ID), HYPTRACE_ROLE_ID },
	[HYPTRACE_KIND_FFA] = { "host_ffa_call", NEEDS(ID), HYPTRACE_ROLE_ID },
	[HYPTRACE_KIND_GUEST_EXIT] = { "guest_exit", NEEDS(CLASS), HYPTRACE_ROLES_MAX },
	[HYPTRACE_KIND_GUEST_FIXUP] = { "guest_fixup", NEEDS(CLASS), HYPTRACE_ROLE_CLASS },
	[HYPTRACE_KIND_MEM_ABORT] = { "host_mem_abort", NEEDS(ESR), HYPTRACE_ROLES_MAX },
	[HYPTRACE_KIND_GUEST_ENTER] = { "guest_enter", NEEDS_VM, HYPTRACE_ROLE_ID },
	[HYPTRACE_KIND_ILLEGAL_TRAP] = { "vcpu_illegal_trap", NEEDS(ESR), HYPTRACE_ROLES_MAX },
	[HYPTRACE_KIND_VCPU_LOAD] = { "vcpu_load", NEEDS(VCPU), HYPTRACE_ROLE_ID },
	[HYPTRACE_KIND_VCPU_PUT] = { "vcpu_put", NEEDS(VCPU), HYPTRACE_ROLE_ID },
	[HYPTRACE_KIND_TRANSITION] = { "mem_transition", NEEDS(OP) | NEEDS(FROM) | NEEDS(TO),
				       HYPTRACE_ROLES_MAX },
	[HYPTRACE_KIND_TLBI] = { "tlbi", NEEDS(OP), HYPTRACE_ROLE_OP },
	[HYPTRACE_KIND_POOL] = { "hyp_pool", NEEDS(OP) | NEEDS(POOL) | NEEDS(LEFT),
				 HYPTRACE_ROLE_OP },
	[HYPTRACE_KIND_PRINTK] = { "hyp_printk", 0, HYPTRACE_ROLE_ID },
	[HYPTRACE_KIND_FUNCTION] = {
		"func", NEEDS(ID) | NEEDS(DEPTH) | NEEDS(DURATION) | NEEDS(AGO), HYPTRACE_ROLE_ID },
	[HYPTRACE_KIND_LOCK_WAIT] = { "lock_wait", NEEDS(LOCK), HYPTRACE_ROLE_LOCK },
	[HYPTRACE_KIND_PMU] = { "pmu", NEEDS(COUNTER) | NEEDS(EVENT) | NEEDS(COUNTED),
				HYPTRACE_ROLE_COUNTER },
	[HYPTRACE_KIND_MARK] = { "selftest", NEEDS(ID), HYPTRACE_ROLE_ID },
};

static const struct {
	const char		*field;
	enum hyptrace_role	role;
} roles[] = {
	{ "a", HYPTRACE_ROLE_NUMBER1 },		{ "b", HYPTRACE_ROLE_NUMBER2 },
	{ "c", HYPTRACE_ROLE_NUMBER3 },		{ "d", HYPTRACE_ROLE_NUMBER4 },
	{ "addr", HYPTRACE_ROLE_ADDRESS },	{ "ago", HYPTRACE_ROLE_AGO },
	{ "arg", HYPTRACE_ROLE_ARG1 },		{ "depth", HYPTRACE_ROLE_DEPTH },
	{ "arg1", HYPTRACE_ROLE_ARG1 },		{ "arg2", HYPTRACE_ROLE_ARG2 },
	{ "arg3", HYPTRACE_ROLE_ARG3 },		{ "arg4", HYPTRACE_ROLE_ARG4 },
	{ "code", HYPTRACE_ROLE_CODE },		{ "count", HYPTRACE_ROLE_COUNTED },
	{ "counter", HYPTRACE_ROLE_COUNTER },	{ "duration", HYPTRACE_ROLE_DURATION },
	{ "ec", HYPTRACE_ROLE_CLASS },		{ "err", HYPTRACE_ROLE_RESULT },
	{ "esr", HYPTRACE_ROLE_ESR },		{ "fmt_id", HYPTRACE_ROLE_FORMAT },
	{ "forwarded", HYPTRACE_ROLE_FORWARDED }, { "order", HYPTRACE_ROLE_ORDER },
	{ "of", HYPTRACE_ROLE_EVENT },
	{ "res_a1", HYPTRACE_ROLE_RETURNED1 },	{ "res_a2", HYPTRACE_ROLE_RETURNED2 },
	{ "res_a3", HYPTRACE_ROLE_RETURNED3 },	{ "res_a4", HYPTRACE_ROLE_RETURNED4 },
	{ "from", HYPTRACE_ROLE_FROM },		{ "func", HYPTRACE_ROLE_ID },
	{ "func_id", HYPTRACE_ROLE_ID },	{ "gfn", HYPTRACE_ROLE_GUEST_PAGE },
	{ "handle", HYPTRACE_ROLE_VM },		{ "handled", HYPTRACE_ROLE_HANDLED },
	{ "id", HYPTRACE_ROLE_ID },		{ "index", HYPTRACE_ROLE_INDEX },
	{ "invalid", HYPTRACE_ROLE_INVALID },	{ "ipa", HYPTRACE_ROLE_IPA },
	{ "left", HYPTRACE_ROLE_LEFT },		{ "lock", HYPTRACE_ROLE_LOCK },
	{ "nr", HYPTRACE_ROLE_COUNT },		{ "owner", HYPTRACE_ROLE_OWNER },
	{ "op", HYPTRACE_ROLE_OP },		{ "pc", HYPTRACE_ROLE_PC },
	{ "pfn", HYPTRACE_ROLE_PAGE },		{ "pool", HYPTRACE_ROLE_POOL },
	{ "reason", HYPTRACE_ROLE_REASON },	{ "ret", HYPTRACE_ROLE_RESULT },
	{ "to", HYPTRACE_ROLE_TO },		{ "vcpu", HYPTRACE_ROLE_VCPU },
	{ "vmid", HYPTRACE_ROLE_VMID },
};

static enum hyptrace_kind find_kind(const struct hyptrace_meaning *meaning)
{
	enum hyptrace_kind kind;
	unsigned int role;

	for (kind = 0; kind < HYPTRACE_NR_KINDS; kind++)
		if (kinds[kind].event && !strcmp(kinds[kind].event, meaning->event->name))
			break;
	if (kind == HYPTRACE_NR_KINDS)
		return HYPTRACE_KIND_OTHER;
	for (role = 0; role < HYPTRACE_NR_ROLES; role++)
		if (kinds[kind].needs >> role & 1 && !meaning->places[role].size)
			return HYPTRACE_KIND_OTHER;
	return kind;
}

static void find_places(struct hyptrace_meaning *meaning)
{
	const struct hyptrace_event *event = meaning->event;
	unsigned int i, j;

	for (i = 0; i < event->nr_fields; i++) {
		const struct hyptrace_field *field = event->fields[i];

		if (!hyptrace_field_is_number(field, event->size))
			continue;
		for (j = 0; j < COUNT(roles) && strcmp(roles[j].field, field->name); j++)
			;
		if (j == COUNT(roles) || meaning->places[roles[j].role].size)
			continue;
		meaning->places[roles[j].role] = (struct hyptrace_place){
			.field = field,
			.sign = field->is_signed ? UINT64_C(1) << (8 * field->size - 1) : 0,
			.offset = field->offset,
			.size = field->size,
		};
	}
	while (meaning->nr_args < HYPTRACE_ROLE_ARG4 - HYPTRACE_ROLE_ARG1 + 1 &&
	       meaning->places[HYPTRACE_ROLE_ARG1 + meaning->nr_args].size)
		meaning->nr_args++;
}

/* The value of a role that has a name; UINT64_MAX if none has it */
static uint64_t value_named(const struct hyptrace_meaning *meaning, enum hyptrace_role role,
			    const char *name)
{
	const struct hyptrace_field *field = meaning->places[role].field;
	unsigned int i;

	for (i = 0; field && i < field->nr_symbols; i++)
		if (!strcmp(field->symbols[i]->name, name))
			return field->symbols[i]->value;
	return UINT64_MAX;
}

/* Is a field a number with the sign of its role, and are the names of its values usable? */
static bool is_usable(const struct hyptrace_field *field, enum hyptrace_role role, uint32_t size)
{
	const bool is_signed = role == HYPTRACE_ROLE_RESULT || role == HYPTRACE_ROLE_VCPU ||
			       role == HYPTRACE_ROLE_OWNER;
	unsigned int i;

	if (!field || field->is_signed != is_signed || !hyptrace_field_is_number(field, size))
		return false;
	/* sentence_printk.c checks a format when it prints it: one does not spoil the others */
	for (i = 0; role != HYPTRACE_ROLE_FORMAT && i < field->nr_symbols; i++)
		if (!hyptrace_is_name(field->symbols[i]->name))
			return false;
	return true;
}

/* Name exception classes as a field does whose values they are. Return false without memory. */
bool hyptrace_names_set_classes(struct sentence_names *names, struct hyptrace_event *const *events,
				unsigned int nr)
{
	const struct hyptrace_field *field;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		field = hyptrace_event_field(events[i], "ec");
		if (!is_usable(field, HYPTRACE_ROLE_CLASS, events[i]->size))
			continue;
		names->class_field = field;
		names->classes = hyptrace_symbols_new(field);
		return names->classes;
	}
	return true;
}

/* Keep where a field of the sentence is, and the names of its values. */
static bool add_field(struct meaning *own, const struct hyptrace_field *field,
		      enum hyptrace_role role)
{
	struct sentence_place *place = &own->places[own->nr_places++];
	struct sentence_place *at = &own->places[own->nr_unsigned];

	/* the unsigned fields are first */
	if (!field->is_signed) {
		*place = *at;
		place = at;
		own->nr_unsigned++;
	}
	place->place = hyptrace_place_of(field->offset, field->size, field->is_signed,
					 own->public.size);
	place->role = role;
	if (field->nr_symbols)
		own->symbols[role] = hyptrace_symbols_new(field);
	return !field->nr_symbols || own->symbols[role];
}

/* Give the event its sentence if it has all fields that it needs. */
static bool add_sentence(struct meaning *own)
{
	const struct sentence_kind *sentence = &hyptrace_sentences[own->public.kind];
	unsigned int role;

	for (role = 0; role < HYPTRACE_NR_ROLES; role++)
		if (sentence->needs >> role & 1 &&
		    !is_usable(own->public.places[role].field, role, own->public.size))
			return true;
	for (role = 0; role < HYPTRACE_NR_ROLES; role++)
		if (sentence->needs >> role & 1 &&
		    !add_field(own, own->public.places[role].field, role))
			return false;
	own->sentence = sentence->put ? sentence : NULL;
	return true;
}

void hyptrace_meaning_free(struct meaning *own)
{
	unsigned int i;

	for (i = 0; own && i < HYPTRACE_NR_ROLES; i++)
		hyptrace_symbols_free(own->symbols[i]);
	free(own);
}

/* Find out what an event means, but for its names. Return NULL if there is no memory. */
struct meaning *hyptrace_meaning_new(const struct hyptrace_event *event,
				     const struct sentence_names *values, bool has_sentence)
{
	struct meaning *own = calloc(1, sizeof(*own));
	struct hyptrace_meaning *meaning;

	if (!own)
		return NULL;
	own->values = values;
	meaning = &own->public;
	meaning->event = event;
	meaning->size = event->size;
	find_places(meaning);
	meaning->kind = find_kind(meaning);
	meaning->named_by = kinds[meaning->kind].named_by;
	meaning->into_guest = meaning->kind == HYPTRACE_KIND_EXIT ?
		value_named(meaning, HYPTRACE_ROLE_REASON, "eret_guest") : UINT64_MAX;
	meaning->trap = meaning->kind == HYPTRACE_KIND_GUEST_EXIT ?
		value_named(meaning, HYPTRACE_ROLE_CODE, "trap") : UINT64_MAX;
	if (!has_sentence || add_sentence(own))
		return own;
	hyptrace_meaning_free(own);
	return NULL;
}

/* The meaning of an event of a model, whose sentence is that of the formats */
static struct meaning *new_meaning(const struct hyptrace_formats *fmts,
				   const struct format *format)
{
	struct meaning *own = format->meaning ? malloc(sizeof(*own)) :
			      hyptrace_meaning_new(format->event, &fmts->names, false);

	if (own && format->meaning)
		*own = *format->meaning;
	if (own && hyptrace_meaning_make_names(own))
		return own;
	if (own)
		hyptrace_symbols_free(own->names);
	free(own);
	return NULL;
}

struct model {
	struct hyptrace_model	public;
	struct meaning		unknown;
	struct meaning		*by_id[];	/* like @public.by_id */
};

/**
 * hyptrace_model_new - compile what events mean
 * @fmts:	formats of the events, after hyptrace_formats_set_hypercalls(); must stay valid
 * @err:	the reason if it fails; may be NULL
 * Return: the model, for hyptrace_model_free(); or NULL.
 */
struct hyptrace_model *hyptrace_model_new(const struct hyptrace_formats *fmts,
					  struct hyptrace_error *err)
{
	struct model *model = calloc(1, sizeof(*model) + fmts->nr_ids * sizeof(model->by_id[0]));
	bool has_memory = true;
	unsigned int i;

	if (!model)
		return hyptrace_error_null(hyptrace_error_memory(err));
	model->public.nr = fmts->nr_ids;
	model->public.by_id = (const struct hyptrace_meaning *const *)model->by_id;
	model->public.unknown = &model->unknown.public;
	/* no record is that large */
	model->unknown.public.size = UINT32_MAX;
	for (i = 0; i < fmts->nr_ids; i++) {
		model->by_id[i] = fmts->by_id[i].event ? new_meaning(fmts, &fmts->by_id[i]) :
							 &model->unknown;
		has_memory &= !!model->by_id[i];
	}
	if (has_memory)
		return &model->public;
	hyptrace_model_free(&model->public);
	return hyptrace_error_null(hyptrace_error_memory(err));
}

/**
 * hyptrace_model_free - free a model
 * @model:	the model, or NULL
 */
void hyptrace_model_free(struct hyptrace_model *model)
{
	struct model *own = (struct model *)model;
	unsigned int i;

	for (i = 0; own && i < model->nr; i++) {
		if (!own->by_id[i] || own->by_id[i] == &own->unknown)
			continue;
		hyptrace_symbols_free(own->by_id[i]->names);
		free(own->by_id[i]);
	}
	free(own);
}

/**
 * hyptrace_model_of_kind - find the event of a kind
 * @model:	the model
 * @kind:	the kind
 * Return: what it means, or NULL if there is none.
 */
const struct hyptrace_meaning *hyptrace_model_of_kind(const struct hyptrace_model *model,
						      enum hyptrace_kind kind)
{
	unsigned int i;

	for (i = 0; i < model->nr; i++)
		if (model->by_id[i]->kind == kind && model->by_id[i]->event)
			return model->by_id[i];
	return NULL;
}

/**
 * hyptrace_kind_event - get the name of the event of a kind
 * @kind:	the kind
 * Return: the name, such as "host_hcall"; NULL if events of any name can have the kind.
 */
const char *hyptrace_kind_event(enum hyptrace_kind kind)
{
	return kind < HYPTRACE_NR_KINDS ? kinds[kind].event : NULL;
}
