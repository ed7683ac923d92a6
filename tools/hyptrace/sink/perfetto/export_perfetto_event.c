// SPDX-License-Identifier: GPL-2.0-only
/* Export to Perfetto: slices and instants of hyptrace's own tracks, their names and arguments. */
#include "output/die.h"
#include "sink/row.h"
#include "export_perfetto.h"

#define BIT(role)	(UINT64_C(1) << HYPTRACE_ROLE_##role)
#define VCPU_BITS	(BIT(VCPU) | BIT(VM) | BIT(INDEX))

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

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

/* A field that can be an argument */
struct perfetto_field {
	const struct hyptrace_field	*field;
	struct place			place;
	enum perfetto_arg_type		type;		/* of its numbers */
	uint64_t			role;		/* a bit; or 0 */
	unsigned int			arg;		/* 1 for the first one of a call; or 0 */
	bool				is_optional;	/* left out if it is 0 */
};

struct argument {
	const struct perfetto_field	*from;
	const char			*text;
	perfetto_name_t			name;		/* its number; 0 before its first use */
};

/* How to write events of the same name */
struct perfetto_plan {
	uint64_t	key;
	perfetto_name_t	name;
	unsigned int	nr;
	struct argument	args[];
};

static struct perfetto_plan *new_plan(struct perfetto *p, const struct perfetto_kind *kind,
				      uint64_t key, const char *name)
{
	const struct hyptrace_meaning *meaning = kind->meaning;
	const struct hyptrace_hypercall *call = hyptrace_meaning_hypercall(meaning, key);
	const bool known_args = call && call->known_args;
	/* after a hypercall that returns nothing, the register has any value */
	uint64_t hidden = kind->hides | (known_args && !call->returns ? BIT(RESULT) : 0);
	struct perfetto_plan *plan;
	unsigned int i;

	/* the fields that give the event its name are no arguments */
	if (name && meaning->kind == HYPTRACE_KIND_TRANSITION)
		hidden |= BIT(OP) | BIT(FROM) | BIT(TO);
	else if (name && meaning->kind == HYPTRACE_KIND_GUEST_EXIT)
		hidden |= key & HYPTRACE_KEY_TRAP ? BIT(CLASS) : BIT(CODE);
	else if (name && meaning->named_by < HYPTRACE_ROLES_MAX)
		hidden |= UINT64_C(1) << meaning->named_by;
	plan = xcalloc(1, sizeof(*plan) + kind->nr_fields * sizeof(plan->args[0]));
	plan->key = key;
	plan->name = perfetto_name(p, name ? name : meaning->event->name);
	for (i = 0; i < kind->nr_fields; i++) {
		const struct perfetto_field *field = &kind->fields[i];

		if (field->role & hidden || (known_args && field->arg > call->nr_args))
			continue;
		plan->args[plan->nr].from = field;
		plan->args[plan->nr++].text = known_args && field->arg ?
					      call->args[field->arg - 1]->name :
					      field->field->name;
	}
	return plan;
}

static struct perfetto_plan *find_plan(struct perfetto *p, struct perfetto_kind *kind,
				       const struct hyptrace_record *rec)
{
	const uint64_t key = hyptrace_meaning_key(kind->meaning, rec);
	struct map_entry *entry;
	const char *name;

	if (kind->last && kind->last->key == key)
		return kind->last;
	entry = map_find(&kind->plans, key, 0);
	if (!entry) {
		name = hyptrace_meaning_name(kind->meaning, key);
		entry = map_add(&kind->plans, name ? key : 0, !name);
		entry->ptr = entry->ptr ?: new_plan(p, kind, key, name);
	}
	kind->last = entry->ptr;
	return kind->last;
}

static void add_arg(struct perfetto *p, struct perfetto_event *event,
		    const struct hyptrace_meaning *meaning, struct argument *arg,
		    const struct hyptrace_record *rec)
{
	const struct perfetto_field *from = arg->from;
	const uint64_t value = hyptrace_place_value(&from->place, rec->data);
	const char *text = NULL;

	if (!value && from->is_optional)
		return;
	if (from->role == BIT(RESULT) &&
	    hyptrace_meaning_value(meaning, HYPTRACE_ROLE_INVALID, rec))
		return;
	if (from->field->nr_symbols)
		text = hyptrace_symbol_name(from->field, value);
	else if (from->role == BIT(RESULT) && value)
		/* 0 is success everywhere */
		text = hyptrace_meaning_result_name(meaning, rec);
	/* only now: small numbers are for the names that are used */
	if (!arg->name)
		arg->name = perfetto_name(p, arg->text);
	if (text)
		perfetto_add_arg(event, arg->name, PERFETTO_NAME, perfetto_name(p, text));
	else
		perfetto_add_arg(event, arg->name, from->type, value);
}

void perfetto_fill(struct perfetto *p, struct perfetto_event *event, struct perfetto_kind *kind,
		   const struct hyptrace_record *rec)
{
	struct perfetto_plan *plan = find_plan(p, kind, rec);
	unsigned int i;

	event->name = plan->name;
	for (i = 0; i < plan->nr; i++)
		add_arg(p, event, kind->meaning, &plan->args[i], rec);
}

static inline uint64_t get(const struct perfetto_kind *kind, enum hyptrace_role role,
			   const struct hyptrace_record *rec)
{
	return hyptrace_meaning_value(kind->meaning, role, rec);
}

/* Begin the slice of an event, or its instant, and fill it. */
static void begin(struct perfetto *p, struct perfetto_event *event, struct perfetto_kind *kind,
		  const struct hyptrace_record *rec, bool is_instant)
{
	const uint64_t duration = get(kind, HYPTRACE_ROLE_DURATION, rec);

	/* a duration is rounded, and a damaged file can have any */
	perfetto_begin_event(event, duration < rec->ts ? rec->ts - duration : 0, rec->ts,
			     is_instant);
	perfetto_fill(p, event, kind, rec);
}

static void describe_calls(struct perfetto *p)
{
	if (p->calls.outer.uuid)
		return;
	p->calls.outer.uuid = perfetto_cpu_track(p, PERFETTO_CALLS, "Calls");
	p->calls.inner.uuid = p->calls.outer.uuid;
}

static void put_call(struct perfetto *p, struct perfetto_kind *kind,
		     const struct hyptrace_record *rec)
{
	struct perfetto_event event;

	begin(p, &event, kind, rec, false);
	describe_calls(p);
	perfetto_put_outer(p, &p->calls, &event);
}

static void put_inner_call(struct perfetto *p, struct perfetto_kind *kind,
			   const struct hyptrace_record *rec)
{
	struct perfetto_event event;

	/* without a time it is not over, or it takes none */
	begin(p, &event, kind, rec, !get(kind, HYPTRACE_ROLE_DURATION, rec));
	describe_calls(p);
	perfetto_put_inner(p, &p->calls, &event);
}

static struct perfetto_vcpu *get_vcpu(struct perfetto *p, const struct perfetto_kind *kind,
				      const struct hyptrace_record *rec)
{
	return perfetto_vcpu(p, get(kind, HYPTRACE_ROLE_VCPU, rec), true,
			     get(kind, HYPTRACE_ROLE_VM, rec),
			     get(kind, HYPTRACE_ROLE_INDEX, rec));
}

static void put_guest_enter(struct perfetto *p, struct perfetto_kind *kind,
			    const struct hyptrace_record *rec)
{
	perfetto_guest_close(p);
	p->entered = get_vcpu(p, kind, rec);
	p->entered_at = rec->ts;
}

static void put_guest_exit(struct perfetto *p, struct perfetto_kind *kind,
			   const struct hyptrace_record *rec)
{
	struct perfetto_event event;

	begin(p, &event, kind, rec, false);
	perfetto_put_outer(p, &get_vcpu(p, kind, rec)->nest, &event);
	p->entered = NULL;
}

static void put_guest_trap(struct perfetto *p, struct perfetto_kind *kind,
			   const struct hyptrace_record *rec)
{
	struct perfetto_vcpu *vcpu = p->entered;
	const uint32_t pid = get(kind, HYPTRACE_ROLE_VCPU, rec);
	struct perfetto_event event;

	if (!vcpu || vcpu->pid != pid)
		vcpu = perfetto_vcpu(p, pid, false, 0, 0);
	begin(p, &event, kind, rec, !hyptrace_meaning_has(kind->meaning, HYPTRACE_ROLE_DURATION));
	perfetto_put_inner(p, &vcpu->nest, &event);
}

static void put_instant(struct perfetto *p, const struct perfetto_event *event)
{
	if (!p->events.uuid)
		p->events.uuid = perfetto_cpu_track(p, PERFETTO_EVENTS, "Events");
	perfetto_put(p, &p->events, event);
}

static void put_other(struct perfetto *p, struct perfetto_kind *kind,
		      const struct hyptrace_record *rec)
{
	struct perfetto_event event;
	size_t len;

	perfetto_begin_event(&event, rec->ts, rec->ts, true);
	perfetto_fill(p, &event, kind, rec);
	if (kind->meaning->kind == HYPTRACE_KIND_PRINTK) {
		event.text = hyptrace_formats_text(p->formats, kind->meaning->event, rec, &len);
		perfetto_add_arg(&event, perfetto_name(p, "text"), PERFETTO_TEXT, 0);
	}
	put_instant(p, &event);
}

/* The functions of EL2 are slices inside each other, on a track for each CPU. */
static void begin_function(void *arg, const struct function *function)
{
	const char *name = function->span.name ?: function->span.meaning->event->name;
	struct perfetto *p = arg;

	perfetto_begin_slice(p, &p->functions_track, function->span.begin, perfetto_name(p, name));
}

static void end_function(void *arg, const struct function *function)
{
	struct perfetto *p = arg;

	perfetto_end_slice(p, &p->functions_track, function->span.end);
}

static void put_functions(void *arg)
{
	struct perfetto *p = arg;

	if (!p->functions_track.uuid)
		p->functions_track.uuid = perfetto_cpu_track(p, PERFETTO_FUNCTIONS, "Functions");
	functions_walk(&p->functions, begin_function, end_function, p);
}

/* The first function of the CPU; the format itself adds the events that follow. */
static void begin_functions(struct perfetto *p, struct perfetto_kind *kind,
			    const struct hyptrace_record *rec)
{
	(void)kind;
	if (p->functions.nest)
		return;
	functions_begin(&p->functions, p->x->model, put_functions, p);
	functions_add(&p->functions,
		      &(struct hyptrace_stream_event){ .cpu = p->cpu, .record = *rec });
}

void perfetto_put_unknown(struct perfetto *p, struct perfetto_kind *kind,
			  const struct hyptrace_record *rec)
{
	struct perfetto_event event;

	(void)kind;
	perfetto_begin_event(&event, rec->ts, rec->ts, true);
	event.name = perfetto_name(p, "unknown event");
	perfetto_add_arg(&event, perfetto_name(p, "id"), PERFETTO_UINT, row_record_id(rec));
	perfetto_add_arg(&event, perfetto_name(p, "size"), PERFETTO_UINT, rec->size);
	put_instant(p, &event);
}

/* How events of a kind are exported if they have some fields; all others are instants */
static const struct style {
	void		(*put)(struct perfetto *p, struct perfetto_kind *kind,
			       const struct hyptrace_record *rec);
	uint64_t	needs;		/* roles of the fields */
	uint64_t	hides;		/* those that the track or the slice shows: no arguments */
} styles[HYPTRACE_NR_KINDS] = {
	[HYPTRACE_KIND_HYPERCALL] = { put_call, BIT(DURATION), BIT(DURATION) },
	[HYPTRACE_KIND_SMC] = { put_call, BIT(DURATION), BIT(DURATION) },
	[HYPTRACE_KIND_MEM_ABORT] = { put_call, BIT(DURATION), BIT(DURATION) },
	[HYPTRACE_KIND_PSCI] = { put_inner_call, BIT(DURATION), BIT(DURATION) },
	[HYPTRACE_KIND_FFA] = { put_inner_call, 0, 0 },
	[HYPTRACE_KIND_GUEST_ENTER] = { put_guest_enter, VCPU_BITS, VCPU_BITS },
	[HYPTRACE_KIND_GUEST_EXIT] = { put_guest_exit, VCPU_BITS | BIT(DURATION),
				       VCPU_BITS | BIT(DURATION) },
	[HYPTRACE_KIND_GUEST_FIXUP] = { put_guest_trap, BIT(VCPU) | BIT(DURATION),
					BIT(VCPU) | BIT(DURATION) },
	[HYPTRACE_KIND_ILLEGAL_TRAP] = { put_guest_trap, BIT(VCPU), BIT(VCPU) },
	[HYPTRACE_KIND_FUNCTION] = { begin_functions, 0, 0 },
	[HYPTRACE_KIND_TRANSITION] = { put_other, BIT(VM) | BIT(PAGE) | BIT(COUNT) | BIT(RESULT),
				       0 },
};

static void add_field(struct perfetto_kind *kind, const struct hyptrace_field *from,
		      unsigned int *args)
{
	struct perfetto_field *field = &kind->fields[kind->nr_fields++];
	const bool is_arg = !strncmp(from->name, "arg", 3);
	unsigned int role = 0;

	field->field = from;
	field->place = hyptrace_place_of(from->offset, from->size, from->is_signed,
					 kind->meaning->event->size);
	while (role < HYPTRACE_NR_ROLES && kind->meaning->places[role].field != from)
		role++;
	field->role = role < HYPTRACE_NR_ROLES ? UINT64_C(1) << role : 0;
	field->type = from->is_signed ? PERFETTO_INT : PERFETTO_UINT;
	if (is_arg || has_name(hex_fields, COUNT(hex_fields), from->name) ||
	    (kind->meaning->kind != HYPTRACE_KIND_OTHER &&
	     kind->meaning->kind != HYPTRACE_KIND_MARK && field->role & (BIT(ID) | BIT(CLASS))))
		field->type = PERFETTO_HEX;
	field->arg = is_arg ? ++*args : 0;
	field->is_optional = has_name(optional_fields, COUNT(optional_fields), from->name);
}

static struct perfetto_kind *make_kind(const struct hyptrace_meaning *meaning)
{
	struct perfetto_kind *kind = xcalloc(1, sizeof(*kind));
	const struct hyptrace_event *event = meaning->event;
	const struct style *style = &styles[meaning->kind];
	unsigned int i, args = 0;
	uint64_t roles = 0;

	kind->meaning = meaning;
	perfetto_ftrace_find(kind, event);
	for (i = 0; i < HYPTRACE_NR_ROLES; i++)
		roles |= (uint64_t)hyptrace_meaning_has(meaning, i) << i;
	kind->put = put_other;
	if (style->put && (roles & style->needs) == style->needs) {
		kind->put = style->put;
		kind->hides = style->hides;
		kind->waits = meaning->kind == HYPTRACE_KIND_TRANSITION;
	}
	/* they are slices of Perfetto's own track */
	if (kind->message == PERFETTO_HYP_ENTER || kind->message == PERFETTO_HYP_EXIT)
		kind->put = NULL;
	kind->fields = xcalloc(event->nr_fields + 1, sizeof(*kind->fields));
	for (i = 0; i < event->nr_fields; i++)
		if (hyptrace_field_is_number(event->fields[i], event->size))
			add_field(kind, event->fields[i], &args);
	return kind;
}

struct perfetto_kind *perfetto_kind(struct perfetto *p, const struct hyptrace_record *rec)
{
	const uint16_t id = row_record_id(rec);
	const struct hyptrace_model *model = p->x->model;
	struct perfetto_kind *kind = by_number_find(&p->kinds, id);

	if (__builtin_expect(!kind, 0)) {
		if (id >= model->nr || !model->by_id[id]->event)
			return &p->unknown;
		kind = make_kind(model->by_id[id]);
		if (!by_number_set(&p->kinds, id, kind))
			die_no_memory();
	}
	return rec->size >= kind->meaning->size ? kind : &p->unknown;
}

void perfetto_free_kinds(struct perfetto *p)
{
	struct perfetto_kind *kind;
	unsigned int id;

	for (id = 0; (kind = by_number_next(&p->kinds, &id)); id++) {
		map_free_values(&kind->plans);
		free(kind->fields);
		free(kind);
	}
	by_number_free(&p->kinds);
}
