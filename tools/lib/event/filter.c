// SPDX-License-Identifier: GPL-2.0-only
/* Filters: conditions on the fields of events. */
#include <limits.h>

#include "filter.h"

/* The key in sentences that is not the name of its field, and that name */
#define VM_KEY		"vm"
#define VM_FIELD	"handle"

/* What is no field, but is printed before each event */
#define CPU_KEY		"cpu"

/* The first argument of calls, whose names are only in sentences */
#define ARG_FIELD	"arg1"

/* Events that a message names at most */
#define NAMED_MAX	4

/* What the caller has asked for */
struct request {
	const struct hyptrace_event *const	*events;
	unsigned int				nr;
	bool					fits_all;
	const char				*text;
	size_t					*at;
	struct hyptrace_error			*err;
	struct filter_program			program;
};

/* A filter of an event: its comparisons in the order of the terms */
struct filter_values {
	uint32_t		size;	/* bytes of the event's payload */
	struct filter_value	values[HYPTRACE_FILTER_TERMS_MAX];
};

/**
 * hyptrace_filter_free - free a filter
 * @filter:	the filter, or NULL
 */
void hyptrace_filter_free(struct hyptrace_filter *filter)
{
	unsigned int i;

	if (!filter)
		return;
	for (i = 0; i < filter->nr_ids; i++)
		free(filter->by_id[i]);
	free(filter->text);
	free(filter);
}

/* Name the events that lack a field: the first ones, if the filter must fit several. */
static void say_lacking(const struct request *request, const struct filter_span *name,
			char text[HYPTRACE_ERROR_TEXT])
{
	char names[NAMED_MAX * (HYPTRACE_EVENT_NAME_MAX + 4) + 24] = "", *to = names;
	unsigned int i, nr = 0;

	for (i = 0; i < request->nr; i++) {
		if (hyptrace_filter_field(request->events[i], name) || nr++ >= NAMED_MAX)
			continue;
		to += sprintf(to, "%s\"%s\"", nr > 1 ? ", " : "", request->events[i]->name);
	}
	if (nr > NAMED_MAX)
		sprintf(to, " and %u others", nr - NAMED_MAX);
	snprintf(text, HYPTRACE_ERROR_TEXT, "the event%s %s ha%s no field \"%.*s\"",
		 nr == 1 ? "" : "s", names, nr == 1 ? "s" : "ve", filter_quoted(name), name->text);
}

static void fail_field(const struct request *request, const struct hyptrace_event *const *events,
		       unsigned int nr, const struct filter_span *name)
{
	struct hyptrace_error *err = request->err;
	struct filter_span word = *name;
	char why[HYPTRACE_ERROR_TEXT];
	const char *near = NULL;
	unsigned int i, j;

	/* the name of another field may look more like the key */
	if (hyptrace_filter_is(name, VM_KEY))
		word = (struct filter_span){ VM_FIELD, strlen(VM_FIELD) };
	for (i = 0; i < nr; i++)
		for (j = 0; j < events[i]->nr_fields; j++)
			near = hyptrace_nearest_of(word.text, word.len, near,
						   events[i]->fields[j]->name);
	if (nr == 1)
		say_lacking(request, name, why);
	else
		snprintf(why, sizeof(why), "no event has a field \"%.*s\"", filter_quoted(name),
			 name->text);
	if (near)
		hyptrace_error_set(err, EINVAL, "%s; did you mean \"%s\"?", why, near);
	else if (hyptrace_filter_is(name, CPU_KEY))
		hyptrace_error_set(err, EINVAL, "%s: choose CPUs with --cpu", why);
	else if (nr == 1 && hyptrace_event_field(events[0], ARG_FIELD))
		hyptrace_error_set(err, EINVAL,
				   "%s; the arguments of calls are \"arg1\" to \"arg4\", in the order of the sentence",
				   why);
	else
		hyptrace_error_set(err, EINVAL, "%s", why);
}

/* Check that a comparison can be made for at least one of some events. Return 0 or -EINVAL. */
static int check_comparison(const struct request *request,
			    const struct hyptrace_event *const *events, unsigned int nr,
			    const struct filter_comparison *c)
{
	enum filter_fault fault, worst = FILTER_FAULT_FIELD;
	const char *at, *worst_at = c->field.text;
	struct filter_value value;
	struct hyptrace_error err;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		fault = hyptrace_filter_resolve(c, events[i], &value, &at, &err);
		if (!fault)
			return 0;
		if (fault <= worst)
			continue;
		worst = fault;
		worst_at = at;
		if (request->fits_all && request->nr > 1)
			hyptrace_error_set(request->err, EINVAL, "event \"%s\": %s",
					   events[i]->name, err.text);
		else
			hyptrace_error_set(request->err, EINVAL, "%s", err.text);
	}
	*request->at = worst_at - request->text;
	if (worst == FILTER_FAULT_FIELD)
		fail_field(request, events, nr, &c->field);
	return -EINVAL;
}

static int check(const struct request *request, const struct hyptrace_event *const *events,
		 unsigned int nr)
{
	unsigned int i;
	int ret = 0;

	if (nr == 1 && events[0]->id > UINT16_MAX)
		return hyptrace_error_set(request->err, EINVAL,
					  "the id of the event \"%s\" exceeds 16 bits",
					  events[0]->name);
	for (i = 0; !ret && i < request->program.nr; i++)
		ret = check_comparison(request, events, nr, &request->program.comparisons[i]);
	return ret;
}

/*
 * A filter has no negation: if a set of comparisons leads to the acceptance, events for which other
 * comparisons are true, too, are also accepted. So only comparisons that are true matter.
 */

/* Narrow a range of keys: values as unsigned numbers with the same order. Is anything left? */
static bool narrow(const struct filter_value *value, uint64_t *first, uint64_t *last)
{
	const uint64_t key = value->value ^ (value->field.is_signed ? (uint64_t)INT64_MIN : 0);
	const uint32_t op = value->op;

	if ((op == HYPTRACE_FILTER_OP_LT && !key) ||
	    (op == HYPTRACE_FILTER_OP_GT && key == UINT64_MAX) ||
	    (op == HYPTRACE_FILTER_OP_NE && key == *first && key == *last))
		return false;
	if (op == HYPTRACE_FILTER_OP_NE) {
		*first += key == *first;
		*last -= key == *last;
	}
	if (op == HYPTRACE_FILTER_OP_EQ || op == HYPTRACE_FILTER_OP_GE ||
	    op == HYPTRACE_FILTER_OP_GT)
		*first = MAX(*first, key + (op == HYPTRACE_FILTER_OP_GT));
	if (op == HYPTRACE_FILTER_OP_EQ || op == HYPTRACE_FILTER_OP_LE ||
	    op == HYPTRACE_FILTER_OP_LT)
		*last = MIN(*last, key - (op == HYPTRACE_FILTER_OP_LT));
	return *first <= *last;
}

/* Can the comparisons of @set be true that are about the field of comparison @of? */
static bool is_possible(const struct filter_value *values, unsigned int set, unsigned int of)
{
	const struct hyptrace_field *field = &values[of].field;
	const uint64_t bits = UINT64_MAX >> (64 - CHAR_BIT * field->size);
	const uint64_t middle = field->is_signed ? (uint64_t)INT64_MIN : 0;
	uint64_t first = field->is_signed ? middle - bits / 2 - 1 : 0, last = first + bits;
	unsigned int round, i;

	/* what one excludes at an end of the range can be due to another one: go round again */
	for (round = 0; round < HYPTRACE_FILTER_TERMS_MAX; round++)
		for (i = 0; set >> i; i++)
			if ((set >> i & 1) && values[i].field.offset == field->offset &&
			    !narrow(&values[i], &first, &last))
				return false;
	for (i = 0; set >> i; i++)
		if ((set >> i & 1) && values[i].field.offset == field->offset &&
		    values[i].op == HYPTRACE_FILTER_OP_AND &&
		    !(values[i].value & (first == last ? first ^ middle : bits)))
			return false;
	return true;
}

/* Can @next lead to acceptance after those of @set? Else @stuck is the last that excludes all. */
static bool reaches_end(const struct hyptrace_filter_term *terms, const struct filter_value *values,
			uint32_t next, unsigned int set, unsigned int *stuck)
{
	if (next == HYPTRACE_FILTER_ACCEPT || next == HYPTRACE_FILTER_REJECT)
		return next == HYPTRACE_FILTER_ACCEPT;
	if (values[next].field.size && is_possible(values, set | 1U << next, next)) {
		if (reaches_end(terms, values, terms[next].on_true, set | 1U << next, stuck))
			return true;
	} else if (next > *stuck) {
		*stuck = next;
	}
	return reaches_end(terms, values, terms[next].on_false, set, stuck);
}

/* Check that the values of a filter are the same for another event, which the filter fits. */
static int check_same(const struct request *request, const struct hyptrace_filter *filter,
		      const struct filter_values *own, const struct hyptrace_event *event)
{
	unsigned int i;

	for (i = 0; i < filter->nr; i++) {
		const struct filter_span *value = &request->program.comparisons[i].value;

		if (own->values[i].value == filter->terms[i].value)
			continue;
		*request->at = value->text - request->text;
		return hyptrace_error_set(request->err, EINVAL,
					  "\"%.*s\" has different values in \"%s\" and \"%s\": use two filters",
					  filter_quoted(value), value->text,
					  request->events[0]->name, event->name);
	}
	return 0;
}

/* Make a filter that no event meets yet. Return NULL if there is no memory. */
static struct hyptrace_filter *new_filter(const struct request *request)
{
	struct hyptrace_filter *filter;
	unsigned int i, nr_ids = 0;

	for (i = 0; i < request->nr; i++)
		if (request->events[i]->id <= UINT16_MAX && request->events[i]->id >= nr_ids)
			nr_ids = request->events[i]->id + 1;
	filter = calloc(1, sizeof(*filter) + nr_ids * sizeof(filter->by_id[0]));
	if (!filter)
		return NULL;
	filter->nr_ids = nr_ids;
	filter->nr = request->program.nr;
	for (i = 0; i < filter->nr; i++) {
		const struct filter_comparison *c = &request->program.comparisons[i];
		struct hyptrace_filter_term *term = &filter->terms[i];

		snprintf(term->field, sizeof(term->field), "%.*s", (int)c->field.len,
			 c->field.text);
		term->on_true = c->on_true;
		term->on_false = c->on_false;
	}
	filter->text = strdup(request->text);
	if (filter->text)
		return filter;
	hyptrace_filter_free(filter);
	return NULL;
}

/* Let a filter accept an event. Return 1; 0 if it never meets it; a negative errno if it must. */
static int add_event(const struct request *request, struct hyptrace_filter *filter,
		     const struct hyptrace_event *event)
{
	struct filter_values *own = calloc(1, sizeof(*own));
	struct hyptrace_error err;
	unsigned int stuck = 0, i;
	const char *at;
	int ret = 1;

	if (!own)
		return hyptrace_error_memory(request->err);
	own->size = event->size;
	for (i = 0; i < filter->nr; i++) {
		hyptrace_filter_resolve(&request->program.comparisons[i], event, &own->values[i],
					&at, &err);
		if (event != request->events[0])
			continue;
		filter->terms[i].op = own->values[i].op;
		filter->terms[i].value = own->values[i].value;
	}
	if (request->fits_all && event != request->events[0])
		ret = check_same(request, filter, own, event) ?: 1;
	else if (!reaches_end(filter->terms, own->values, 0, 0, &stuck))
		ret = 0;
	if (!ret && request->fits_all) {
		*request->at = request->program.comparisons[stuck].field.text - request->text;
		ret = hyptrace_error_set(request->err, EINVAL, "no event can meet this filter: %s",
					 stuck ? "here, the conditions exclude each other" :
						 "the condition is never true");
	}
	if (ret <= 0) {
		free(own);
		return ret;
	}
	/* a remote with two events of the same id: the last counts */
	free(filter->by_id[event->id]);
	filter->by_id[event->id] = own;
	return 1;
}

/**
 * hyptrace_filter_new - parse a filter
 * @events:	the events
 * @nr:		number of @events
 * @fmts:	formats that say which hypercalls return nothing: a comparison of their result is
 *		false; must stay valid. NULL if it does not matter
 * @fits_all:	the filter must fit each of the events, as one at EL2 must
 * @text:	the condition, such as "id == 7 && duration > 50us"; see hyptrace-filters(7)
 * @at:		out: if it fails, the offset in @text of what is wrong; may be NULL
 * @err:	the reason if it fails, with the name of the event if the filter must fit several;
 *		may be NULL
 *
 * Without @fits_all, a comparison is false for an event that does not have the field, or whose
 * field does not have the value of a name. It is an error if that is so for all events, or if a
 * number is out of the range of the field in all of them. The filter has copies of what it needs
 * of @events and @text.
 *
 * Return: the filter, for hyptrace_filter_free(), or NULL. The errno is EINVAL if @text is wrong.
 */
struct hyptrace_filter *hyptrace_filter_new(const struct hyptrace_event *const *events,
					    unsigned int nr, const struct hyptrace_formats *fmts,
					    bool fits_all, const char *text, size_t *at,
					    struct hyptrace_error *err)
{
	size_t offset;
	struct request request = {
		.events = events,
		.nr = nr,
		.fits_all = fits_all,
		.text = text,
		.at = at ? at : &offset,
		.err = err,
	};
	struct hyptrace_filter *filter;
	bool is_met = false;
	unsigned int i;
	int ret = 0;

	*request.at = 0;
	if (hyptrace_filter_compile(&request.program, text, request.at, err) ||
	    (!fits_all && check(&request, events, nr)))
		return NULL;
	filter = new_filter(&request);
	if (!filter)
		return hyptrace_error_null(hyptrace_error_memory(err));
	filter->formats = fmts;
	for (i = 0; i < nr && ret >= 0; i++) {
		ret = fits_all ? check(&request, &events[i], 1) : 0;
		if (!ret && events[i]->id < filter->nr_ids)
			ret = add_event(&request, filter, events[i]);
		is_met |= ret > 0;
	}
	if (ret >= 0 && is_met)
		return filter;
	if (ret >= 0)
		hyptrace_error_set(err, EINVAL,
				   "no event can meet this filter: none has all its fields and values");
	hyptrace_filter_free(filter);
	return NULL;
}

static bool holds(const struct filter_value *value, const void *payload)
{
	const uint64_t is = hyptrace_field_read(&value->field, payload), than = value->value;
	const bool less = value->field.is_signed ? (int64_t)is < (int64_t)than : is < than;

	switch (value->op) {
	case HYPTRACE_FILTER_OP_EQ:
		return is == than;
	case HYPTRACE_FILTER_OP_NE:
		return is != than;
	case HYPTRACE_FILTER_OP_LT:
		return less;
	case HYPTRACE_FILTER_OP_LE:
		return less || is == than;
	case HYPTRACE_FILTER_OP_GT:
		return !less && is != than;
	case HYPTRACE_FILTER_OP_GE:
		return !less;
	default:
		return is & than;
	}
}

/* Is the field the result of a hypercall that has none? */
static bool lacks_value(const struct hyptrace_filter *filter, const struct hyptrace_field *field,
			const struct hyptrace_record *rec)
{
	const struct hyptrace_formats *fmts = filter->formats;
	const struct hyptrace_event *event = fmts ? hyptrace_formats_event(fmts, rec) : NULL;
	const struct hyptrace_field *missing;

	missing = event ? hyptrace_formats_missing(fmts, event, rec) : NULL;
	return missing && missing->offset == field->offset;
}

/* Not inlined: most events have no filter, and that path is hot. */
static __attribute__((noinline)) bool accepts(const struct hyptrace_filter *filter,
					      const struct filter_values *own,
					      const struct hyptrace_record *rec)
{
	const struct filter_value *value;
	uint32_t next = 0;

	while (next < filter->nr) {
		value = &own->values[next];
		if (value->field.size && holds(value, rec->data) &&
		    !lacks_value(filter, &value->field, rec))
			next = filter->terms[next].on_true;
		else
			next = filter->terms[next].on_false;
	}
	return next == HYPTRACE_FILTER_ACCEPT;
}

/**
 * hyptrace_filter_match - check whether an event meets a filter
 * @filter:	the filter
 * @rec:	the event's record
 * Return: true if it does; false for an event that the filter does not know, or that is too short.
 */
bool hyptrace_filter_match(const struct hyptrace_filter *filter, const struct hyptrace_record *rec)
{
	const struct filter_values *own;
	uint16_t id;

	if (rec->size < sizeof(id))
		return false;
	memcpy(&id, rec->data, sizeof(id));
	own = id < filter->nr_ids ? filter->by_id[id] : NULL;
	return own && rec->size >= own->size && accepts(filter, own, rec);
}
