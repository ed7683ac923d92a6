// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export to Perfetto: find out how each event is exported.
 */
#include <stdlib.h>

#include "lib/hyptrace.h"
#include "output/die.h"
#include "export_perfetto.h"

#define BIT(role)	(1U << ROLE_##role)
#define VCPU_BITS	(BIT(VCPU) | BIT(HANDLE) | BIT(INDEX))

static const char *const role_names[] = {
	[ROLE_DURATION] = "duration",
	[ROLE_FROM] = "from",
	[ROLE_HANDLE] = "handle",
	[ROLE_INDEX] = "index",
	[ROLE_INVALID] = "invalid",
	[ROLE_NR] = "nr",
	[ROLE_OP] = "op",
	[ROLE_PFN] = "pfn",
	[ROLE_RET] = "ret",
	[ROLE_TO] = "to",
	[ROLE_VCPU] = "vcpu",
};

/* How an event is exported if it has some fields */
struct style {
	const char	*event;
	unsigned int	needs;		/* the fields: a bit for each enum perfetto_role */
	unsigned int	hides;		/* those that the track or the slice shows, no arguments */
	const char	*names[2];	/* fields that give the name of the slice */
	void		(*put)(struct perfetto *p, const struct perfetto_kind *kind,
			       const struct hyptrace_record *rec);
};

static const struct style styles[] = {
	{ "hyp_enter", 0, 0, { NULL }, NULL },
	{ "hyp_exit", 0, 0, { NULL }, NULL },
	{ "host_hcall", BIT(DURATION), BIT(DURATION), { "id" }, perfetto_put_call },
	{ "host_smc", BIT(DURATION), BIT(DURATION), { "id" }, perfetto_put_call },
	{ "host_mem_abort", BIT(DURATION), BIT(DURATION), { NULL }, perfetto_put_call },
	{ "psci_call", BIT(DURATION), BIT(DURATION), { "func" }, perfetto_put_inner_call },
	{ "host_ffa_call", 0, 0, { "func_id" }, perfetto_put_inner_call },
	{ "guest_enter", VCPU_BITS, VCPU_BITS, { NULL }, perfetto_put_guest_enter },
	{
		"guest_exit", VCPU_BITS | BIT(DURATION), VCPU_BITS | BIT(DURATION),
		{ "ec", "code" }, perfetto_put_guest_exit,
	},
	{
		"guest_fixup", BIT(VCPU) | BIT(DURATION), BIT(VCPU) | BIT(DURATION),
		{ "ec" }, perfetto_put_guest_trap,
	},
	{ "vcpu_illegal_trap", BIT(VCPU), BIT(VCPU), { NULL }, perfetto_put_guest_trap },
	{
		"mem_transition",
		BIT(OP) | BIT(FROM) | BIT(TO) | BIT(HANDLE) | BIT(PFN) | BIT(NR) | BIT(RET),
		BIT(OP) | BIT(FROM) | BIT(TO), { NULL }, perfetto_put_transition,
	},
};

/* Fields whose numbers are addresses, pages or registers; all that begin with "arg", too */
static const char *const hex_fields[] = {
	"addr", "esr", "far", "gfn", "handle", "ipa", "pc", "pfn",
	"pool", "res_a1", "res_a2", "res_a3", "res_a4",
};

/* Fields that say nothing if they are 0 */
static const char *const optional_fields[] = {
	"ec", "err", "esr", "far", "forwarded", "gfn", "handle", "invalid", "ipa", "pc", "res_a1",
	"res_a2", "res_a3", "res_a4",
};

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

static bool is_one_of(const char *name, const char *const *names, size_t nr)
{
	while (nr--)
		if (!strcmp(name, names[nr]))
			return true;
	return false;
}

static const struct hyptrace_field *find_field(const struct hyptrace_event *event,
					       const char *name)
{
	unsigned int i;

	for (i = 0; name && i < event->nr_fields; i++)
		if (!strcmp(event->fields[i]->name, name) &&
		    hyptrace_field_is_number(event->fields[i], event->size))
			return event->fields[i];
	return NULL;
}

static void find_roles(struct perfetto_kind *kind)
{
	unsigned int i;

	for (i = 0; i < NR_ROLES; i++)
		kind->roles[i] = find_field(kind->event, role_names[i]);
}

static const struct style *find_style(const struct perfetto_kind *kind)
{
	unsigned int i, role;

	for (i = 0; i < COUNT(styles); i++) {
		if (strcmp(styles[i].event, kind->event->name))
			continue;
		for (role = 0; role < NR_ROLES; role++)
			if (styles[i].needs & 1U << role && !kind->roles[role])
				return NULL;
		return &styles[i];
	}
	return NULL;
}

static void add_field(struct perfetto_kind *kind, const struct hyptrace_field *from,
		      unsigned int *args)
{
	struct perfetto_field *field = &kind->fields[kind->nr_fields++];
	const bool is_arg = !strncmp(from->name, "arg", 3);

	field->field = from;
	field->type = from->is_signed ? PERFETTO_INT : PERFETTO_UINT;
	if (is_arg || from == kind->names[0] ||
	    is_one_of(from->name, hex_fields, COUNT(hex_fields)))
		field->type = PERFETTO_HEX;
	field->arg = is_arg ? ++*args : 0;
	field->is_optional = is_one_of(from->name, optional_fields, COUNT(optional_fields));
	field->is_result = !strcmp(from->name, "ret") || !strcmp(from->name, "err");
}

static void make_kind(struct perfetto_kind *kind, const struct hyptrace_event *event)
{
	const struct style *style;
	unsigned int i, role, args = 0;

	kind->event = event;
	kind->message = perfetto_ftrace_find(event, kind->details);
	find_roles(kind);
	style = find_style(kind);
	kind->put = style ? style->put : perfetto_put_other;
	kind->fields = calloc(event->nr_fields + 1, sizeof(*kind->fields));
	if (!kind->fields)
		die_no_memory();
	for (i = 0; i < COUNT(kind->names); i++)
		kind->names[i] = style ? find_field(event, style->names[i]) : NULL;
	for (i = 0; i < event->nr_fields; i++) {
		const struct hyptrace_field *field = event->fields[i];

		if (!hyptrace_field_is_number(field, event->size))
			continue;
		for (role = 0; role < NR_ROLES && kind->roles[role] != field; role++)
			;
		if (!style || role == NR_ROLES || !(style->hides & 1U << role))
			add_field(kind, field, &args);
	}
}

/* Find out how each event is exported. */
void perfetto_kinds(struct perfetto *p)
{
	const struct export *x = p->x;
	unsigned int i;

	for (i = 0; i < x->nr_events; i++)
		if (x->events[i]->id <= UINT16_MAX && x->events[i]->id >= p->nr_kinds)
			p->nr_kinds = x->events[i]->id + 1;
	p->kinds = calloc(p->nr_kinds + 1, sizeof(*p->kinds));
	p->unknown = calloc(1, sizeof(*p->unknown));
	if (!p->kinds || !p->unknown)
		die_no_memory();
	p->unknown->put = perfetto_put_unknown;
	for (i = 0; i < x->nr_events; i++)
		if (x->events[i]->id < p->nr_kinds && !p->kinds[x->events[i]->id].event)
			make_kind(&p->kinds[x->events[i]->id], x->events[i]);
}

const struct perfetto_kind *perfetto_kind(const struct perfetto *p,
					  const struct hyptrace_record *rec)
{
	const struct perfetto_kind *kind;
	uint16_t id;

	if (rec->size < sizeof(id))
		return p->unknown;
	memcpy(&id, rec->data, sizeof(id));
	kind = id < p->nr_kinds ? &p->kinds[id] : p->unknown;
	return kind->event && rec->size >= kind->event->size ? kind : p->unknown;
}

void perfetto_free_kinds(struct perfetto *p)
{
	unsigned int i;

	for (i = 0; i < p->nr_kinds; i++)
		free(p->kinds[i].fields);
	free(p->kinds);
	free(p->unknown);
}
