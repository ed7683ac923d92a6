// SPDX-License-Identifier: GPL-2.0-only
/* Check the terms of a filter, and resolve their fields; options of all events. See event_set.c. */
#include <linux/build_bug.h>
#include <linux/err.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "internal.h"

static_assert(HYPTRACE_FILTER_TERMS_MAX == HYPTRACE_FILTER_MAX_TERMS);
static_assert((int)HYPTRACE_FILTER_OP_EQ == (int)HYPTRACE_TERM_EQ);
static_assert((int)HYPTRACE_FILTER_OP_NE == (int)HYPTRACE_TERM_NE);
static_assert((int)HYPTRACE_FILTER_OP_LT == (int)HYPTRACE_TERM_LT);
static_assert((int)HYPTRACE_FILTER_OP_LE == (int)HYPTRACE_TERM_LE);
static_assert((int)HYPTRACE_FILTER_OP_GT == (int)HYPTRACE_TERM_GT);
static_assert((int)HYPTRACE_FILTER_OP_GE == (int)HYPTRACE_TERM_GE);
static_assert((int)HYPTRACE_FILTER_OP_AND == (int)HYPTRACE_TERM_AND);

static const struct hyptrace_field *find_field(const struct hyptrace_event *event,
					       const char *name)
{
	unsigned int i;

	for (i = 0; i < event->nr_fields; i++) {
		if (!strcmp(event->fields[i].name, name))
			return &event->fields[i];
	}
	return NULL;
}

static bool is_integer(const struct hyptrace_field *field)
{
	return (field->size == 1 || field->size == 2 || field->size == 4 || field->size == 8) &&
	       !strchr(field->type, '[');
}

static bool is_target(u8 target, unsigned int number, unsigned int nr_terms)
{
	return (target > number && target < nr_terms) || target == HYPTRACE_FILTER_ACCEPT ||
	       target == HYPTRACE_FILTER_REJECT;
}

static int resolve_term(const struct hyptrace_event *event,
			const struct hyptrace_filter_request *request, unsigned int number,
			struct hyptrace_term *term, struct netlink_ext_ack *extack)
{
	const struct hyptrace_term_request *from = &request->terms[number];
	const struct hyptrace_field *field = find_field(event, from->field);

	if (!field) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, from->attr, "\"%.32s\" has no field \"%.20s\"",
					event->name, from->field);
		return -ENOENT;
	}
	if (!is_integer(field)) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, from->attr,
					"the field \"%.16s\" of \"%.24s\" is not an integer",
					field->name, event->name);
		return -EINVAL;
	}
	if (!is_target(from->on_true, number, request->nr_terms) ||
	    !is_target(from->on_false, number, request->nr_terms)) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, from->attr,
					"what follows term %u is not a later term, 254 or 255",
					number);
		return -EINVAL;
	}
	*term = (struct hyptrace_term) {
		.value		= from->value,
		.offset		= field->offset,
		.width		= field->size,
		.op		= from->op,
		.is_signed	= field->is_signed,
		.on_true	= from->on_true,
		.on_false	= from->on_false,
	};
	return 0;
}

/**
 * hyptrace_filter_resolve - make a filter of an event
 * @event:	the event
 * @request:	the filter, as it was requested
 * @extack:	the reason, and the attribute, if it fails; may be NULL
 * Return: the filter, for kfree(); ERR_PTR(): -ENOENT: no such field, -EINVAL: bad term, -ENOMEM.
 */
struct hyptrace_filter *hyptrace_filter_resolve(const struct hyptrace_event *event,
						const struct hyptrace_filter_request *request,
						struct netlink_ext_ack *extack)
{
	size_t size = strlen(request->text) + 1;
	struct hyptrace_filter *filter;
	unsigned int i;
	int err;

	filter = kzalloc(struct_size(filter, text, size), GFP_KERNEL);
	if (!filter)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < request->nr_terms; i++) {
		err = resolve_term(event, request, i, &filter->terms[i], extack);
		if (err) {
			kfree(filter);
			return ERR_PTR(err);
		}
	}
	filter->nr_terms = request->nr_terms;
	memcpy(filter->text, request->text, size);
	return filter;
}

/**
 * hyptrace_events_alloc_options - allocate the options of all events
 * @extack:	says that there is no memory; may be NULL
 * Return: an array by event id, for hyptrace_events_free_options() and kfree(), or NULL.
 */
struct hyptrace_event_options *hyptrace_events_alloc_options(struct netlink_ext_ack *extack)
{
	struct hyptrace_event_options *options;

	options = kcalloc(HYPTRACE_MAX_EVENT_ID, sizeof(*options), GFP_KERNEL);
	if (!options)
		NL_SET_ERR_MSG(extack, "not enough free memory to change the events");
	return options;
}

/**
 * hyptrace_events_free_options - free what the options of all events point to
 * @options:	by event id
 */
void hyptrace_events_free_options(struct hyptrace_event_options *options)
{
	unsigned int id;

	for (id = 0; id < HYPTRACE_MAX_EVENT_ID; id++)
		kfree(options[id].filter);
}
