// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events that hyptrace stat takes numbers from, and where their fields are.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/internal.h"
#include "output/die.h"
#include "stat.h"

/* The events, and the fields that stat_feed.c reads */
static const struct {
	const char	*name;
	const char	*fields[STAT_FIELDS];
} wanted[NR_STAT_EVENTS] = {
	[STAT_ENTER]		= { "hyp_enter", { "reason" } },
	[STAT_EXIT]		= { "hyp_exit", { "reason" } },
	[STAT_HCALL]		= { "host_hcall", { "duration", "id" } },
	[STAT_GUEST_ENTER]	= { "guest_enter", { "handle", "index", "vcpu" } },
	[STAT_GUEST_EXIT]	= { "guest_exit",
				    { "handle", "index", "vcpu", "duration", "code", "ec" } },
	[STAT_MEMORY]		= { "mem_transition", { "op", "from", "to" } },
};

const char *stat_event_name(enum stat_event event)
{
	return wanted[event].name;
}

static enum stat_event find_event(const char *name)
{
	enum stat_event event;

	for (event = STAT_NONE + 1; event < NR_STAT_EVENTS; event++)
		if (!strcmp(name, wanted[event].name))
			return event;
	return STAT_NONE;
}

/* Find the fields. Return false if one is missing. */
static bool make_kind(struct stat_kind *kind, const struct hyptrace_event *event)
{
	enum stat_event which = find_event(event->name);
	const struct hyptrace_field *field;
	unsigned int i;

	if (which == STAT_NONE)
		return false;
	kind->size = event->size;
	for (i = 0; i < STAT_FIELDS && wanted[which].fields[i]; i++) {
		field = hyptrace_event_field(event, wanted[which].fields[i]);
		if (!field || !hyptrace_field_is_number(field, event->size))
			return false;
		kind->fields[i].offset = field->offset;
		kind->fields[i].size = field->size;
	}
	kind->event = which;
	return true;
}

/* The value of a field that has a name; UINT64_MAX if none has it. */
static uint64_t value_of(const struct hyptrace_event *event, const char *field_name,
			 const char *name)
{
	const struct hyptrace_field *field;
	unsigned int i;

	field = event ? hyptrace_event_field(event, field_name) : NULL;
	for (i = 0; field && i < field->nr_symbols; i++)
		if (!strcmp(field->symbols[i]->name, name))
			return field->symbols[i]->value;
	return UINT64_MAX;
}

void stat_kinds_init(struct stat_kinds *kinds, struct hyptrace_event *const *events,
		     unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (events[i]->id <= UINT16_MAX && events[i]->id >= kinds->nr)
			kinds->nr = events[i]->id + 1;
	kinds->by_id = calloc(kinds->nr + 1, sizeof(*kinds->by_id));
	if (!kinds->by_id)
		die_no_memory();
	for (i = 0; i < nr; i++) {
		struct stat_kind *kind;

		if (events[i]->id >= kinds->nr)
			continue;
		kind = &kinds->by_id[events[i]->id];
		if (make_kind(kind, events[i]))
			kinds->events[kind->event] = events[i];
	}
	kinds->eret_guest = value_of(kinds->events[STAT_EXIT], "reason", "eret_guest");
	kinds->trap = value_of(kinds->events[STAT_GUEST_EXIT], "code", "trap");
}

void stat_kinds_free(struct stat_kinds *kinds)
{
	free(kinds->by_id);
	kinds->by_id = NULL;
}
