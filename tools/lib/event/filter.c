// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters: conditions on the fields of an event, for one event or for all events of a remote.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	/* the filter must fit each of these, of which @events is one; or NULL */
	const struct hyptrace_event *const	*all;
	unsigned int				nr_all;
	const struct hyptrace_formats		*formats;	/* or NULL */
	const char				*text;
	size_t					*at;
	struct hyptrace_error			*err;
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
	for (i = 0; i < filter->nr; i++)
		free(filter->terms[i].field);
	free(filter->text);
	free(filter);
}

/* Make a filter of what is parsed and resolved. Return NULL if there is no memory. */
static struct hyptrace_filter *make_filter(const struct request *request,
					   const struct hyptrace_event *event,
					   const struct filter_program *program)
{
	struct hyptrace_filter *filter = calloc(1, sizeof(*filter));
	struct hyptrace_error err;
	const char *at;
	unsigned int i;

	if (!filter)
		return NULL;
	filter->id = event->id;
	filter->size = event->size;
	filter->formats = request->formats;
	filter->text = strdup(request->text);
	if (!filter->text)
		goto fail;
	for (i = 0; i < program->nr; i++) {
		const struct filter_comparison *c = &program->comparisons[i];
		struct hyptrace_filter_term *term = &filter->terms[i];

		term->field = strndup(c->field.text, c->field.len);
		if (!term->field)
			goto fail;
		filter->nr++;
		hyptrace_filter_resolve(c, event, &filter->values[i], &at, &err);
		term->op = filter->values[i].op;
		term->value = filter->values[i].value;
		term->on_true = c->on_true;
		term->on_false = c->on_false;
	}
	return filter;

fail:
	hyptrace_filter_free(filter);
	return NULL;
}

/* Name the events that lack a field: the first ones, if the filter must fit several. */
static void say_lacking(const struct request *request, const struct filter_span *name,
			char text[HYPTRACE_ERROR_TEXT])
{
	const struct hyptrace_event *const *all = request->all ? request->all : request->events;
	const unsigned int nr_all = request->all ? request->nr_all : 1;
	unsigned int i, nr = 0;
	char names[NAMED_MAX * (HYPTRACE_EVENT_NAME_MAX + 4) + 24] = "", *to = names;

	for (i = 0; i < nr_all; i++) {
		if (hyptrace_filter_field(all[i], name) || nr++ >= NAMED_MAX)
			continue;
		to += sprintf(to, "%s\"%s\"", nr > 1 ? ", " : "", all[i]->name);
	}
	if (nr > NAMED_MAX)
		sprintf(to, " and %u others", nr - NAMED_MAX);
	snprintf(text, HYPTRACE_ERROR_TEXT, "the event%s %s ha%s no field \"%.*s\"",
		 nr == 1 ? "" : "s", names, nr == 1 ? "s" : "ve", filter_quoted(name), name->text);
}

/* Store that no event has a field. */
static void fail_field(const struct request *request, const struct filter_span *name)
{
	struct hyptrace_error *err = request->err;
	struct filter_span word = *name;
	char why[HYPTRACE_ERROR_TEXT];
	const char *near = NULL;
	unsigned int i, j;

	/* the name of another field may look more like the key */
	if (hyptrace_filter_is(name, VM_KEY))
		word = (struct filter_span){ VM_FIELD, strlen(VM_FIELD) };
	for (i = 0; i < request->nr; i++)
		for (j = 0; j < request->events[i]->nr_fields; j++)
			near = hyptrace_nearest_of(word.text, word.len, near,
						   request->events[i]->fields[j]->name);
	if (request->nr == 1)
		say_lacking(request, name, why);
	else
		snprintf(why, sizeof(why), "no event has a field \"%.*s\"", filter_quoted(name),
			 name->text);
	if (near)
		hyptrace_error_set(err, EINVAL, "%s; did you mean \"%s\"?", why, near);
	else if (hyptrace_filter_is(name, CPU_KEY))
		hyptrace_error_set(err, EINVAL, "%s: choose CPUs with --cpu", why);
	else if (request->nr == 1 && hyptrace_event_field(request->events[0], ARG_FIELD))
		hyptrace_error_set(err, EINVAL,
				   "%s; the arguments of calls are \"arg1\" to \"arg4\", in the order of the sentence",
				   why);
	else
		hyptrace_error_set(err, EINVAL, "%s", why);
}

/* Check that a comparison can be made for at least one event. Return 0 or -EINVAL. */
static int check_comparison(const struct request *request, const struct filter_comparison *c)
{
	enum filter_fault fault, worst = FILTER_FAULT_FIELD;
	const char *at, *worst_at = c->field.text;
	struct filter_value value;
	struct hyptrace_error err;
	unsigned int i;

	for (i = 0; i < request->nr; i++) {
		fault = hyptrace_filter_resolve(c, request->events[i], &value, &at, &err);
		if (!fault)
			return 0;
		if (fault <= worst)
			continue;
		worst = fault;
		worst_at = at;
		if (request->all)
			hyptrace_error_set(request->err, EINVAL, "event \"%s\": %s",
					   request->events[i]->name, err.text);
		else
			hyptrace_error_set(request->err, EINVAL, "%s", err.text);
	}
	*request->at = worst_at - request->text;
	if (worst == FILTER_FAULT_FIELD)
		fail_field(request, &c->field);
	return -EINVAL;
}

/* Parse the text, and check that each of its comparisons can be made. */
static int check(const struct request *request, struct filter_program *program)
{
	unsigned int i;
	int ret;

	*request->at = 0;
	if (request->nr == 1 && request->events[0]->id > UINT16_MAX)
		return hyptrace_error_set(request->err, EINVAL,
					  "the id of the event \"%s\" exceeds 16 bits",
					  request->events[0]->name);
	ret = hyptrace_filter_compile(program, request->text, request->at, request->err);
	for (i = 0; !ret && i < program->nr; i++)
		ret = check_comparison(request, &program->comparisons[i]);
	return ret;
}

/* Check that the values of a filter are the same for another event, which the filter fits. */
static int check_same(const struct request *request, const struct filter_program *program,
		      const struct hyptrace_filter *filter, const char *first)
{
	const struct hyptrace_event *event = request->events[0];
	struct filter_value value;
	struct hyptrace_error err;
	const char *at;
	unsigned int i;

	for (i = 0; i < program->nr; i++) {
		const struct filter_comparison *c = &program->comparisons[i];

		hyptrace_filter_resolve(c, event, &value, &at, &err);
		if (value.value == filter->terms[i].value)
			continue;
		*request->at = c->value.text - request->text;
		hyptrace_error_set(request->err, EINVAL,
				   "\"%.*s\" has different values in \"%s\" and \"%s\": use two filters",
				   filter_quoted(&c->value), c->value.text, first, event->name);
		return -EINVAL;
	}
	return 0;
}

/* Check that events can meet a filter. Return 0 or -EINVAL. */
static int check_possible(const struct request *request, const struct filter_program *program,
			  const struct hyptrace_filter *filter)
{
	unsigned int stuck;

	if (hyptrace_filter_is_possible(filter->terms, filter->values, &stuck))
		return 0;
	*request->at = program->comparisons[stuck].field.text - request->text;
	return hyptrace_error_set(request->err, EINVAL,
				  "no event can meet this filter: %s", stuck ?
				  "here, the conditions exclude each other" :
				  "the condition is never true");
}

/**
 * hyptrace_filter_parse_all - parse a filter that fits each of several events
 * @events:	the events
 * @nr:		number of @events, at least 1
 * @text:	the condition, such as "id == 7 && duration > 50us"; see hyptrace-filters(7)
 * @at:		out: if it fails, the offset in @text of what is wrong; may be NULL
 * @err:	the reason if it fails, with the name of the event if there are several; may be NULL
 *
 * For hyptrace_filter_match() it is a filter of the first event.
 *
 * Return: the filter, for hyptrace_filter_free(), or NULL. The errno is EINVAL if @text is wrong.
 */
struct hyptrace_filter *hyptrace_filter_parse_all(const struct hyptrace_event *const *events,
						  unsigned int nr, const char *text, size_t *at,
						  struct hyptrace_error *err)
{
	size_t offset;
	struct request request = {
		.nr = 1,
		.all = nr > 1 ? events : NULL,
		.nr_all = nr,
		.text = text,
		.at = at ? at : &offset,
		.err = err,
	};
	struct hyptrace_filter *filter = NULL;
	struct filter_program program;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		request.events = &events[i];
		if (check(&request, &program) ||
		    (filter && check_same(&request, &program, filter, events[0]->name)))
			goto fail;
		if (filter)
			continue;
		filter = make_filter(&request, events[i], &program);
		if (!filter) {
			hyptrace_error_memory(err);
			return NULL;
		}
		if (check_possible(&request, &program, filter))
			goto fail;
	}
	return filter;

fail:
	hyptrace_filter_free(filter);
	return NULL;
}

/**
 * hyptrace_filter_parse - parse a filter for an event
 * @event:	the event
 * @text:	the condition, such as "id == 7 && duration > 50us"; see hyptrace-filters(7)
 * @at:		out: if it fails, the offset in @text of what is wrong; may be NULL
 * @err:	the reason if it fails; may be NULL
 *
 * The filter has copies of what it needs of @event and @text.
 *
 * Return: the filter, for hyptrace_filter_free(), or NULL. The errno is EINVAL if @text is wrong.
 */
struct hyptrace_filter *hyptrace_filter_parse(const struct hyptrace_event *event,
					      const char *text, size_t *at,
					      struct hyptrace_error *err)
{
	return hyptrace_filter_parse_all(&event, 1, text, at, err);
}

const char *hyptrace_filter_text(const struct hyptrace_filter *filter)
{
	return filter->text;
}

/* Return NULL if there is no such comparison. */
const struct hyptrace_filter_term *hyptrace_filter_term(const struct hyptrace_filter *filter,
							unsigned int index)
{
	return index < filter->nr ? &filter->terms[index] : NULL;
}

static int add_filter(struct hyptrace_filters *filters, const struct request *request,
		      const struct hyptrace_event *event, const struct filter_program *program)
{
	struct hyptrace_filter *filter = make_filter(request, event, program);
	unsigned int stuck;

	if (!filter)
		return -ENOMEM;
	if (!hyptrace_filter_is_possible(filter->terms, filter->values, &stuck)) {
		hyptrace_filter_free(filter);
		return 0;
	}
	/* a remote with two events of the same id: the last counts */
	hyptrace_filter_free(filters->by_id[event->id]);
	filters->by_id[event->id] = filter;
	return 1;
}

static struct hyptrace_filters *make_filters(const struct request *request,
					     const struct filter_program *program)
{
	struct hyptrace_filters *filters;
	unsigned int i, nr = 0;
	bool added = false;
	int ret;

	for (i = 0; i < request->nr; i++)
		if (request->events[i]->id <= UINT16_MAX && request->events[i]->id >= nr)
			nr = request->events[i]->id + 1;
	filters = calloc(1, sizeof(*filters) + nr * sizeof(filters->by_id[0]));
	if (!filters)
		goto no_memory;
	filters->nr = nr;
	for (i = 0; i < request->nr; i++) {
		if (request->events[i]->id >= nr)
			continue;
		ret = add_filter(filters, request, request->events[i], program);
		if (ret < 0)
			goto no_memory;
		added |= ret;
	}
	if (added)
		return filters;
	hyptrace_error_set(request->err, EINVAL,
			   "no event can meet this filter: none has all its fields and values");
	hyptrace_filters_free(filters);
	return NULL;

no_memory:
	hyptrace_error_memory(request->err);
	hyptrace_filters_free(filters);
	return NULL;
}

/**
 * hyptrace_filters_new - parse a filter for all events of a remote
 * @events:	the events
 * @nr:		number of @events
 * @fmts:	as in hyptrace_filter_set_formats(); may be NULL
 * @text:	the condition, as in hyptrace_filter_parse()
 * @at:		out: if it fails, the offset in @text of what is wrong; may be NULL
 * @err:	the reason if it fails; may be NULL
 *
 * A comparison is false for an event that does not have the field, or whose field does not have
 * the value of a name. It is an error if that is so for all events, or if a number is out of the
 * range of the field in all of them. The filters have copies of what they need of @events and
 * @text.
 *
 * Return: the filters, for hyptrace_filters_free(), or NULL. The errno is EINVAL if @text is wrong.
 */
struct hyptrace_filters *hyptrace_filters_new(struct hyptrace_event *const *events,
					      unsigned int nr, const struct hyptrace_formats *fmts,
					      const char *text, size_t *at,
					      struct hyptrace_error *err)
{
	size_t offset;
	const struct request request = {
		.events = (const struct hyptrace_event *const *)events,
		.nr = nr,
		.formats = fmts,
		.text = text,
		.at = at ? at : &offset,
		.err = err,
	};
	struct filter_program program;

	return check(&request, &program) ? NULL : make_filters(&request, &program);
}

/**
 * hyptrace_filters_free - free filters
 * @filters:	the filters, or NULL
 */
void hyptrace_filters_free(struct hyptrace_filters *filters)
{
	unsigned int i;

	if (!filters)
		return;
	for (i = 0; i < filters->nr; i++)
		hyptrace_filter_free(filters->by_id[i]);
	free(filters);
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
			const void *payload, size_t size)
{
	const struct hyptrace_record rec = { .data = payload, .size = size };
	const struct hyptrace_formats *fmts = filter->formats;
	const struct hyptrace_event *event = fmts ? hyptrace_formats_event(fmts, &rec) : NULL;
	const struct hyptrace_field *missing;

	missing = event ? hyptrace_formats_missing(fmts, event, &rec) : NULL;
	return missing && missing->offset == field->offset;
}

/**
 * hyptrace_filter_set_formats - set the formats that say which hypercalls return nothing
 * @filter:	the filter
 * @fmts:	the formats of the events; must stay valid
 *
 * From then on, a comparison of the result of a hypercall is false if it has none.
 */
void hyptrace_filter_set_formats(struct hyptrace_filter *filter,
				 const struct hyptrace_formats *fmts)
{
	filter->formats = fmts;
}

/**
 * hyptrace_filter_match - check whether an event meets a filter
 * @filter:	the filter
 * @payload:	the event's payload, which starts with the event id
 * @size:	bytes of @payload
 *
 * Return: true if it does; false for another event, or if @payload is too short.
 */
bool hyptrace_filter_match(const struct hyptrace_filter *filter, const void *payload, size_t size)
{
	const struct hyptrace_filter_term *term;
	const struct filter_value *value;
	uint32_t next = 0;
	uint16_t id;

	if (size < sizeof(id) || size < filter->size)
		return false;
	memcpy(&id, payload, sizeof(id));
	if (id != filter->id)
		return false;
	while (next < filter->nr) {
		term = &filter->terms[next];
		value = &filter->values[next];
		if (value->field.size && holds(value, payload) &&
		    !lacks_value(filter, &value->field, payload, size))
			next = term->on_true;
		else
			next = term->on_false;
	}
	return next == HYPTRACE_FILTER_ACCEPT;
}

/**
 * hyptrace_filters_match - check whether an event meets the filter of its kind
 * @filters:	the filters
 * @rec:	the event's record
 *
 * Return: true if it does; false for an unknown event.
 */
bool hyptrace_filters_match(const struct hyptrace_filters *filters,
			    const struct hyptrace_record *rec)
{
	uint16_t id;

	if (rec->size < sizeof(id))
		return false;
	memcpy(&id, rec->data, sizeof(id));
	return id < filters->nr && filters->by_id[id] &&
	       hyptrace_filter_match(filters->by_id[id], rec->data, rec->size);
}
