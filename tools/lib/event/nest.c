// SPDX-License-Identifier: GPL-2.0-only
/*
 * How calls, visits of EL2 and runs of guests nest. The event of a call is recorded when it ends,
 * and the call that it is in ends later. So spans wait in a queue until it is known that none that
 * they are in can follow. They leave it in the order in which they have come.
 *
 * EL2 handles one thing at a time on a CPU. So a call is in a later one of the same CPU if it has
 * ended after that one began, and if that kind of calls can have it inside. Times alone do not
 * decide: a call may end in the same tick of the clock in which the next one begins.
 * nest_function.c has the functions of EL2, which are recorded last.
 */
#include "nest.h"

/* Places in the queue at first; doubled when they are used up */
#define PLACES_MIN	16

/**
 * hyptrace_nest_new - begin to nest
 * @model:	what events mean; must stay valid
 * @kinds:	a HYPTRACE_KIND_BIT() for each kind of events that is recorded, so that other calls
 *		can be inside: HYPTRACE_CALL_KINDS for calls with runs of guests inside,
 *		HYPTRACE_VISIT_KINDS for visits of EL2 with calls inside, HYPTRACE_FUNCTION_KINDS
 *		for functions of EL2; or several, or some of these
 *
 * With visits, a call that a guest has interrupted is in the visit in which it ends, and begins
 * with that. The time before is that of the visits before. What is in no visit, since hyp_enter was
 * not recorded or was lost, nests like calls.
 *
 * Functions nest by their depth and the order in which they have returned. A function that has
 * returned in an earlier visit than the one in which it is recorded takes no time in that. A call
 * is in the innermost function that contains it.
 *
 * Return: the nest, for hyptrace_nest_free(); NULL if there is no memory.
 */
struct hyptrace_nest *hyptrace_nest_new(const struct hyptrace_model *model, uint32_t kinds)
{
	struct hyptrace_nest *nest = calloc(1, sizeof(*nest));

	if (!nest)
		return NULL;
	nest->model = model;
	nest->kinds = kinds;
	nest->parents[HYPTRACE_KIND_PSCI] = kinds & BIT(SMC);
	nest->parents[HYPTRACE_KIND_FFA] = kinds & BIT(SMC);
	nest->parents[HYPTRACE_KIND_GUEST_EXIT] = kinds & BIT(HYPERCALL);
	nest->parents[HYPTRACE_KIND_GUEST_FIXUP] = kinds & (BIT(HYPERCALL) | BIT(GUEST_EXIT));
	nest->nr_places = PLACES_MIN;
	nest->places = calloc(nest->nr_places, sizeof(*nest->places));
	nest->head = NONE + 1;
	nest->tail = nest->head;
	if (nest->places)
		return nest;
	free(nest);
	return NULL;
}

/**
 * hyptrace_nest_free - free a nest
 * @nest:	the nest, or NULL
 */
void hyptrace_nest_free(struct hyptrace_nest *nest)
{
	unsigned int number;
	void *cpu;

	if (!nest)
		return;
	for (number = 0; (cpu = by_number_next(&nest->cpus, &number)); number++)
		free(cpu);
	by_number_free(&nest->cpus);
	free(nest->places);
	free(nest);
}

/* An export has a nest for each CPU, so none has memory for others. No file has a larger number. */
static struct nest_cpu *cpu_of(struct hyptrace_nest *nest, unsigned int number)
{
	struct nest_cpu *cpu = by_number_find(&nest->cpus, number);

	if (cpu)
		return cpu;
	cpu = calloc(1, sizeof(*cpu));
	if (cpu && by_number_set(&nest->cpus, number, cpu))
		return cpu;
	free(cpu);
	return NULL;
}

static bool grow(struct hyptrace_nest *nest)
{
	const uint64_t nr = nest->nr_places;
	struct place *old = nest->places, *places = calloc(2 * nr, sizeof(*places));
	uint64_t i;

	if (!places)
		return false;
	nest->places = places;
	nest->nr_places = 2 * nr;
	for (i = nest->head; i < nest->tail; i++)
		*place_of(nest, i) = old[i & (nr - 1)];
	free(old);
	return true;
}

/* Get the next place, which is taken by moving the tail. */
static struct place *next_place(struct hyptrace_nest *nest, uint64_t now)
{
	struct place *place;

	if (nest->tail - nest->head == nest->nr_places && !grow(nest))
		return NULL;
	place = place_of(nest, nest->tail);
	memset(place, 0, offsetof(struct place, data));
	place->since = now;
	return place;
}

/* @outer, the next one to come, has the span of @place inside. */
static void put_into(struct hyptrace_nest *nest, struct place *place, struct hyptrace_span *outer)
{
	const uint64_t length = length_of(&place->span);

	place->span.depth++;
	if (place->parent != NONE)
		return;
	place->parent = nest->tail;
	outer->own -= length < outer->own ? length : outer->own;
}

/* Find the waiting spans that are in @span, which begins no later than those in a visit. */
static void enclose(struct hyptrace_nest *nest, const struct nest_cpu *cpu,
		    struct hyptrace_span *span)
{
	uint64_t number = cpu->last, stop = cpu->is_open ? cpu->first : cpu->final;

	/* what EL2 does in a visit is not in the run of the guest before */
	if (cpu->is_open && span->kind == HYPTRACE_KIND_GUEST_EXIT)
		return;
	while (number >= nest->head && number > stop) {
		struct place *place = place_of(nest, number);
		const struct hyptrace_span *inner = &place->span;

		number = place->before;
		if (!cpu->is_open) {
			if (inner->end < span->begin)
				break;
			if (nest->parents[inner->kind] & HYPTRACE_KIND_BIT(span->kind))
				put_into(nest, place, span);
		} else if (inner->kind != HYPTRACE_KIND_GUEST_EXIT &&
			   inner->begin >= span->begin) {
			put_into(nest, place, span);
		}
	}
}

static void put(struct hyptrace_nest *nest, struct nest_cpu *cpu, struct place *place,
		const struct hyptrace_span *span)
{
	place->span = *span;
	place->before = cpu->last;
	memcpy(place->data, span->record.data, span->record.size);
	cpu->last = nest->tail++;
}

static int add_span(struct hyptrace_nest *nest, struct nest_cpu *cpu, struct hyptrace_span *span,
		    uint64_t now)
{
	struct place *place = next_place(nest, now);

	if (!place)
		return -ENOMEM;
	place->whole = span->own;
	enclose(nest, cpu, span);
	put(nest, cpu, place, span);
	return 0;
}

/* Drop the spans of a visit that is broken. */
static void drop_visit(struct hyptrace_nest *nest, struct nest_cpu *cpu)
{
	uint64_t number;

	for (number = cpu->last; cpu->is_open && number >= nest->head && number > cpu->first;
	     number = place_of(nest, number)->before)
		if (place_of(nest, number)->span.kind != HYPTRACE_KIND_GUEST_EXIT)
			place_of(nest, number)->is_dropped = true;
	cpu->is_open = false;
	cpu->has_functions = false;
	cpu->final = cpu->last;
}

static void enter(struct hyptrace_nest *nest, struct nest_cpu *cpu,
		  const struct hyptrace_meaning *meaning, const struct hyptrace_record *rec)
{
	drop_visit(nest, cpu);
	if (cpu->left)
		cpu->in_guest += rec->ts - cpu->left;
	cpu->left = 0;
	cpu->is_open = true;
	cpu->first = cpu->last;
	cpu->begin = rec->ts;
	cpu->reason = hyptrace_meaning_key(meaning, rec);
	cpu->name = hyptrace_meaning_name(meaning, cpu->reason);
	cpu->guest_exit = NULL;
}

static int leave(struct hyptrace_nest *nest, struct nest_cpu *cpu, struct hyptrace_span *span,
		 uint64_t now)
{
	int ret;

	if (!cpu->is_open)
		return 0;
	if (hyptrace_nest_functions_arrange(nest, cpu))
		return -ENOMEM;
	/* what it has done is known only after the guest */
	if (span->key == span->meaning->into_guest) {
		cpu->left = span->end;
		span->guest_entry = span->name;
	}
	span->kind = HYPTRACE_KIND_ENTER;
	span->begin = cpu->begin;
	span->own = length_of(span);
	span->key = cpu->reason;
	span->name = cpu->name;
	span->guest_exit = cpu->guest_exit;
	ret = add_span(nest, cpu, span, now);
	cpu->is_open = false;
	cpu->final = cpu->last;
	return ret;
}

/* How long a guest ran: EL2 has taken a part of the duration to handle the exit. */
static void end_guest(struct nest_cpu *cpu, struct hyptrace_span *span)
{
	const uint64_t at_el2 = cpu->is_open ? span->end - cpu->begin : 0;

	if (cpu->in_guest && !cpu->has_gap)
		span->own = cpu->in_guest;
	else
		span->own -= at_el2 < span->own ? at_el2 : span->own;
	cpu->in_guest = 0;
	cpu->has_gap = false;
	cpu->guest_exit = span->name ? span->name : "unknown";
}

static int add_call(struct hyptrace_nest *nest, struct nest_cpu *cpu, struct hyptrace_span *span,
		    bool is_counted, uint64_t now)
{
	int ret = 0;

	if (span->kind == HYPTRACE_KIND_GUEST_EXIT)
		end_guest(cpu, span);
	else if (cpu->is_open && span->begin < cpu->begin)
		span->begin = cpu->begin;
	if (span->kind != HYPTRACE_KIND_GUEST_EXIT)
		span->own = length_of(span);
	if (is_counted)
		ret = add_span(nest, cpu, span, now);
	if (cpu->is_open || nest->parents[span->kind])
		return ret;
	/* nothing that was recorded before it can be in anything that is recorded after it */
	if (nest->kinds & HYPTRACE_FUNCTION_KINDS)
		cpu->has_ended = true;
	else
		cpu->final = cpu->last;
	return ret;
}

/*
 * Do no more functions belong to those waiting in no visit, since an event that is none comes? When
 * EL2 keeps too many functions, it records them before the others of the visit return.
 */
static bool functions_end(const struct nest_cpu *cpu, const struct hyptrace_meaning *meaning,
			  const struct hyptrace_record *rec)
{
	uint64_t reason;
	const char *name;

	if (!cpu->has_functions || cpu->is_returned)
		return true;
	if (meaning->kind != HYPTRACE_KIND_EXIT)
		return false;
	reason = hyptrace_meaning_key(meaning, rec);
	name = hyptrace_meaning_name(meaning, reason);
	/* the CPU comes back from a guest and from the firmware */
	return reason != meaning->into_guest && !(name && !strcmp(name, "smc"));
}

/* What waits for functions, in no visit, has all of them. */
static int end_functions(struct hyptrace_nest *nest, struct nest_cpu *cpu)
{
	const bool has_ended = cpu->has_functions || cpu->has_ended;

	if (cpu->is_open)
		return 0;
	if (hyptrace_nest_functions_arrange(nest, cpu))
		return -ENOMEM;
	cpu->has_ended = false;
	if (has_ended)
		cpu->final = cpu->last;
	return 0;
}

static int add_function(struct hyptrace_nest *nest, struct nest_cpu *cpu,
			struct hyptrace_span *span, bool is_counted, uint64_t now)
{
	const uint64_t ago = hyptrace_meaning_value(span->meaning, HYPTRACE_ROLE_AGO,
						    &span->record);
	const uint64_t earliest = cpu->is_open ? cpu->begin : 0;
	const uint64_t duration = length_of(span);
	struct place *place;

	span->end -= MIN(ago, span->end);
	span->begin = MAX(span->end - MIN(duration, span->end), earliest);
	span->end = MAX(span->end, earliest);
	span->own = length_of(span);
	if (!is_counted)
		return 0;
	/* it belongs to a later visit than those that wait */
	if (cpu->is_returned && span->begin > cpu->recorded && end_functions(nest, cpu))
		return -ENOMEM;
	place = next_place(nest, now);
	if (!place)
		return -ENOMEM;
	place->whole = span->own;
	put(nest, cpu, place, span);
	cpu->has_functions = true;
	cpu->is_returned = !hyptrace_meaning_value(span->meaning, HYPTRACE_ROLE_DEPTH,
						   &span->record);
	cpu->recorded = span->record.ts;
	return 0;
}

static int add_loss(struct hyptrace_nest *nest, struct nest_cpu *cpu,
		    const struct hyptrace_stream_event *event, uint64_t now)
{
	struct place *place;

	if (end_functions(nest, cpu))
		return -ENOMEM;
	place = next_place(nest, now);
	/* nobody knows how long the CPU was at EL2, or which guest it has entered */
	if (cpu->is_open)
		drop_visit(nest, cpu);
	cpu->left = 0;
	cpu->has_gap = true;
	if (!place)
		return -ENOMEM;
	nest->tail++;
	place->span.kind = HYPTRACE_KIND_LOSS;
	place->span.cpu = event->cpu;
	place->span.lost = event->record.lost;
	place->span.record.ts = event->record.ts;
	return 0;
}

/**
 * hyptrace_nest_add - take an event
 * @nest:	the nest
 * @event:	the event, or a loss; later than those of its CPU that were added. Events of other
 *		kinds are ignored
 * @is_counted:	the span leaves the nest, and counts for the depth; else the nest only learns that
 *		no earlier call is in a later one
 * @now:	the time, by a clock of the caller: see hyptrace_nest_next()
 * Return: 0 or -ENOMEM.
 */
int hyptrace_nest_add(struct hyptrace_nest *nest, const struct hyptrace_stream_event *event,
		      bool is_counted, uint64_t now)
{
	const struct hyptrace_record *rec = &event->record;
	struct nest_cpu *cpu = cpu_of(nest, event->cpu);
	const struct hyptrace_meaning *meaning;
	struct hyptrace_span span;
	uint64_t duration;

	if (!cpu || (rec->lost && add_loss(nest, cpu, event, now)))
		return -ENOMEM;
	if (!rec->data)
		return 0;
	meaning = hyptrace_model_meaning(nest->model, rec);
	if (meaning->kind != HYPTRACE_KIND_FUNCTION &&
	    functions_end(cpu, meaning, rec) && end_functions(nest, cpu))
		return -ENOMEM;
	if (!((nest->kinds | HYPTRACE_CALL_KINDS) & HYPTRACE_KIND_BIT(meaning->kind)) ||
	    meaning->size > HYPTRACE_SPAN_PAYLOAD)
		return 0;
	if (meaning->kind == HYPTRACE_KIND_ENTER) {
		if (end_functions(nest, cpu))
			return -ENOMEM;
		enter(nest, cpu, meaning, rec);
		return 0;
	}
	duration = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_DURATION, rec);
	duration = MIN(duration, rec->ts);
	span = (struct hyptrace_span){
		.kind = meaning->kind,
		.cpu = event->cpu,
		.begin = rec->ts - duration,
		.end = rec->ts,
		.own = duration,
		.key = hyptrace_meaning_key(meaning, rec),
		.meaning = meaning,
		.record = *rec,
	};
	span.name = hyptrace_meaning_name(meaning, span.key);
	/* a payload is rounded up */
	span.record.size = MIN(span.record.size, HYPTRACE_SPAN_PAYLOAD);
	if (meaning->kind == HYPTRACE_KIND_EXIT)
		return leave(nest, cpu, &span, now);
	if (meaning->kind == HYPTRACE_KIND_FUNCTION)
		return add_function(nest, cpu, &span, is_counted, now);
	return add_call(nest, cpu, &span, is_counted, now);
}

/**
 * hyptrace_nest_idle - say that no event of a CPU follows for now
 * @nest:	the nest
 * @cpu:	the CPU
 *
 * In no visit, if the last function was called by none that is traced, it and those before it wait
 * for none any more.
 *
 * Return: 0 or -ENOMEM.
 */
int hyptrace_nest_idle(struct hyptrace_nest *nest, unsigned int cpu)
{
	struct nest_cpu *own = by_number_find(&nest->cpus, cpu);

	return own && own->has_functions && own->is_returned ? end_functions(nest, own) : 0;
}

/* Can the first span leave? One that has waited for long leaves without what it is in. */
static bool can_leave(struct hyptrace_nest *nest, struct place *place, uint64_t until)
{
	const struct nest_cpu *cpu = by_number_find(&nest->cpus, place->span.cpu);
	enum hyptrace_kind kind = place->span.kind;
	unsigned int usual = 0;

	if (place->span.kind == HYPTRACE_KIND_LOSS || nest->has_ended || cpu->final >= nest->head)
		return true;
	if ((!until || place->since > until) && nest->tail - nest->head < HYPTRACE_NEST_MAX)
		return false;
	if (cpu->is_open && place->span.kind != HYPTRACE_KIND_GUEST_EXIT) {
		/* its time is that of the visit */
		if (place->parent != NONE)
			place_of(nest, place->parent)->span.own += length_of(&place->span);
		place->is_dropped = true;
	}
	/* if all are recorded; the outer kinds are before the inner ones in enum hyptrace_kind */
	for (; nest->parents[kind]; usual++)
		kind = (enum hyptrace_kind)(31 - __builtin_clz(nest->parents[kind]));
	if (!cpu->is_open)
		place->span.depth = MAX(place->span.depth, usual);
	return true;
}

/**
 * hyptrace_nest_next - take the first span out of a nest
 * @nest:	the nest
 * @until:	also take one that has come until then, by the clock of the caller, though a call
 *		that it is in may follow: it is as deep as calls of its kind usually are. 0 for none
 *
 * Spans leave in the order in which they have ended, so those inside of another one are before it.
 *
 * Return: the span, valid with its parents until the next one is added; NULL if the first one has
 * to wait.
 */
const struct hyptrace_span *hyptrace_nest_next(struct hyptrace_nest *nest, uint64_t until)
{
	struct place *place, *outer;

	do {
		if (nest->head == nest->tail)
			return NULL;
		place = place_of(nest, nest->head);
		if (!place->is_dropped && !can_leave(nest, place, until))
			return NULL;
		nest->head++;
	} while (place->is_dropped);

	if (place->span.kind != HYPTRACE_KIND_LOSS)
		place->span.record.data = place->data;
	for (outer = place; outer->parent != NONE; outer = place_of(nest, outer->parent))
		outer->span.parent = &place_of(nest, outer->parent)->span;
	return &place->span;
}

/**
 * hyptrace_nest_end - say that no event follows
 * @nest:	the nest
 */
void hyptrace_nest_end(struct hyptrace_nest *nest)
{
	struct nest_cpu *cpu;
	unsigned int number;

	for (number = 0; (cpu = by_number_next(&nest->cpus, &number)); number++) {
		/* without memory, functions have no parents */
		end_functions(nest, cpu);
		if (cpu->is_open)
			drop_visit(nest, cpu);
	}
	nest->has_ended = true;
}

/**
 * hyptrace_nest_waits - does a span wait?
 * @nest:	the nest
 * @since:	out: when the first one has come, by the clock of the caller
 * Return: true if one waits.
 */
bool hyptrace_nest_waits(const struct hyptrace_nest *nest, uint64_t *since)
{
	if (nest->head == nest->tail)
		return false;
	*since = place_of(nest, nest->head)->since;
	return true;
}
