// SPDX-License-Identifier: GPL-2.0-only
/*
 * What events mean: their kinds, and where the fields are that have a role. model_names.c has the
 * names.
 */
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "model.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define BIT(role)	(1U << HYPTRACE_ROLE_##role)
#define BITS_VCPU	(BIT(VCPU) | BIT(VM) | BIT(INDEX))

static const struct {
	const char	*event;
	unsigned int	needs;		/* a bit for each role */
	unsigned int	named_by;
} kinds[HYPTRACE_NR_KINDS] = {
	[HYPTRACE_KIND_ENTER] = { "hyp_enter", BIT(REASON), HYPTRACE_ROLE_REASON },
	[HYPTRACE_KIND_EXIT] = { "hyp_exit", BIT(REASON), HYPTRACE_ROLE_REASON },
	[HYPTRACE_KIND_HYPERCALL] = { "host_hcall", BIT(ID), HYPTRACE_ROLE_ID },
	[HYPTRACE_KIND_SMC] = { "host_smc", BIT(ID), HYPTRACE_ROLE_ID },
	[HYPTRACE_KIND_PSCI] = { "psci_call", BIT(ID), HYPTRACE_ROLE_ID },
	[HYPTRACE_KIND_FFA] = { "host_ffa_call", BIT(ID), HYPTRACE_ROLE_ID },
	[HYPTRACE_KIND_GUEST_EXIT] = { "guest_exit", BIT(CLASS), HYPTRACE_NR_ROLES },
	[HYPTRACE_KIND_GUEST_FIXUP] = { "guest_fixup", BIT(CLASS), HYPTRACE_ROLE_CLASS },
	[HYPTRACE_KIND_MEM_ABORT] = { "host_mem_abort", BIT(ESR), HYPTRACE_NR_ROLES },
	[HYPTRACE_KIND_GUEST_ENTER] = { "guest_enter", BITS_VCPU, HYPTRACE_ROLE_ID },
	[HYPTRACE_KIND_ILLEGAL_TRAP] = { "vcpu_illegal_trap", BIT(ESR), HYPTRACE_NR_ROLES },
	[HYPTRACE_KIND_VCPU_LOAD] = { "vcpu_load", BIT(VCPU), HYPTRACE_ROLE_ID },
	[HYPTRACE_KIND_VCPU_PUT] = { "vcpu_put", BIT(VCPU), HYPTRACE_ROLE_ID },
	[HYPTRACE_KIND_TRANSITION] = { "mem_transition", BIT(OP) | BIT(FROM) | BIT(TO),
				       HYPTRACE_NR_ROLES },
	[HYPTRACE_KIND_TLBI] = { "tlbi", BIT(OP), HYPTRACE_ROLE_OP },
	[HYPTRACE_KIND_POOL] = { "hyp_pool", BIT(OP) | BIT(POOL) | BIT(LEFT), HYPTRACE_ROLE_OP },
	[HYPTRACE_KIND_PRINTK] = { "hyp_printk", 0, HYPTRACE_ROLE_ID },
	[HYPTRACE_KIND_MARK] = { "selftest", BIT(ID), HYPTRACE_ROLE_ID },
};

static const struct {
	const char		*field;
	enum hyptrace_role	role;
} roles[] = {
	{ "addr", HYPTRACE_ROLE_ADDRESS },	{ "arg", HYPTRACE_ROLE_ARG1 },
	{ "arg1", HYPTRACE_ROLE_ARG1 },		{ "arg2", HYPTRACE_ROLE_ARG2 },
	{ "arg3", HYPTRACE_ROLE_ARG3 },		{ "arg4", HYPTRACE_ROLE_ARG4 },
	{ "code", HYPTRACE_ROLE_CODE },		{ "duration", HYPTRACE_ROLE_DURATION },
	{ "ec", HYPTRACE_ROLE_CLASS },		{ "err", HYPTRACE_ROLE_RESULT },
	{ "esr", HYPTRACE_ROLE_ESR },		{ "forwarded", HYPTRACE_ROLE_FORWARDED },
	{ "from", HYPTRACE_ROLE_FROM },		{ "func", HYPTRACE_ROLE_ID },
	{ "func_id", HYPTRACE_ROLE_ID },	{ "gfn", HYPTRACE_ROLE_GUEST_PAGE },
	{ "handle", HYPTRACE_ROLE_VM },		{ "handled", HYPTRACE_ROLE_HANDLED },
	{ "id", HYPTRACE_ROLE_ID },		{ "index", HYPTRACE_ROLE_INDEX },
	{ "invalid", HYPTRACE_ROLE_INVALID },	{ "ipa", HYPTRACE_ROLE_IPA },
	{ "left", HYPTRACE_ROLE_LEFT },		{ "nr", HYPTRACE_ROLE_COUNT },
	{ "op", HYPTRACE_ROLE_OP },		{ "pc", HYPTRACE_ROLE_PC },
	{ "pfn", HYPTRACE_ROLE_PAGE },		{ "pool", HYPTRACE_ROLE_POOL },
	{ "reason", HYPTRACE_ROLE_REASON },	{ "ret", HYPTRACE_ROLE_RESULT },
	{ "to", HYPTRACE_ROLE_TO },		{ "vcpu", HYPTRACE_ROLE_VCPU },
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
		if (kinds[kind].needs & 1U << role && !meaning->places[role].size)
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

static struct meaning *new_meaning(const struct hyptrace_formats *fmts,
				   const struct format *format)
{
	struct meaning *own = calloc(1, sizeof(*own));
	struct hyptrace_meaning *meaning;

	if (!own)
		return NULL;
	own->values = &fmts->names;
	own->sentence = format->meaning;
	meaning = &own->public;
	meaning->event = format->event;
	meaning->size = format->event->size;
	find_places(meaning);
	meaning->kind = find_kind(meaning);
	meaning->named_by = kinds[meaning->kind].named_by;
	meaning->into_guest = UINT64_MAX;
	meaning->trap = UINT64_MAX;
	if (meaning->kind == HYPTRACE_KIND_EXIT)
		meaning->into_guest = value_named(meaning, HYPTRACE_ROLE_REASON, "eret_guest");
	if (meaning->kind == HYPTRACE_KIND_GUEST_EXIT)
		meaning->trap = value_named(meaning, HYPTRACE_ROLE_CODE, "trap");
	if (hyptrace_meaning_make_names(own))
		return own;
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
 *
 * Return: the model, for hyptrace_model_free(); or NULL.
 */
struct hyptrace_model *hyptrace_model_new(const struct hyptrace_formats *fmts,
					  struct hyptrace_error *err)
{
	struct model *model = calloc(1, sizeof(*model) + fmts->nr_ids * sizeof(model->by_id[0]));
	unsigned int i;

	if (!model)
		goto no_memory;
	model->public.nr = fmts->nr_ids;
	model->public.by_id = (const struct hyptrace_meaning *const *)model->by_id;
	model->public.unknown = &model->unknown.public;
	/* no record is that large */
	model->unknown.public.size = UINT32_MAX;
	for (i = 0; i < fmts->nr_ids; i++)
		model->by_id[i] = &model->unknown;
	for (i = 0; i < fmts->nr_ids; i++) {
		struct meaning *meaning;

		if (!fmts->by_id[i].event)
			continue;
		meaning = new_meaning(fmts, &fmts->by_id[i]);
		if (!meaning)
			goto no_memory;
		model->by_id[i] = meaning;
	}
	return &model->public;

no_memory:
	hyptrace_error_memory(err);
	hyptrace_model_free(model ? &model->public : NULL);
	return NULL;
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
		if (own->by_id[i] == &own->unknown)
			continue;
		hyptrace_sentence_symbols_free(own->by_id[i]->names);
		free(own->by_id[i]);
	}
	free(own);
}

/**
 * hyptrace_model_of_kind - find the event of a kind
 * @model:	the model
 * @kind:	the kind
 *
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
 *
 * Return: the name, such as "host_hcall"; NULL if events of any name can have the kind.
 */
const char *hyptrace_kind_event(enum hyptrace_kind kind)
{
	return kinds[kind].event;
}
