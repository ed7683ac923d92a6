// SPDX-License-Identifier: GPL-2.0-only
/*
 * The changes of a page's owner, from mem_transition events. The hypercall that made a change is
 * the next host_hcall of the same CPU, if it began before the change: see page_history.h.
 */
#include <stdlib.h>
#include <string.h>

#include <linux/hyptrace_netlink.h>

#include "lib/internal.h"
#include "output/die.h"
#include "page_history.h"

/* The event's time and the hypercall's begin are rounded down to ns, each by itself. */
#define ROUNDING_NSEC	1

/**
 * page_history_init - begin a history without changes
 * @history:	the history
 * @pfn:	the page
 * @formats:	formats of the events; must remain valid
 * @events:	the events; must remain valid
 * @nr:		number of @events
 */
void page_history_init(struct page_history *history, uint64_t pfn, struct hyptrace_formats *formats,
		       struct hyptrace_event *const *events, unsigned int nr)
{
	unsigned int i;

	*history = (struct page_history){ .pfn = pfn, .formats = formats };
	for (i = 0; i < nr; i++) {
		if (!strcmp(events[i]->name, "mem_transition"))
			history->transition = events[i];
		if (!strcmp(events[i]->name, "host_hcall"))
			history->call = events[i];
	}
}

/**
 * page_history_free - free the changes
 * @history:	the history
 */
void page_history_free(struct page_history *history)
{
	unsigned int i;

	for (i = 0; i < history->nr; i++)
		page_change_free(&history->changes[i]);
	free(history->changes);
	history->changes = NULL;
	history->nr = 0;
}

/* Get a value; 0 if the event has no such field. */
static uint64_t value_of(const struct hyptrace_event *event, const char *name,
			 const struct hyptrace_record *rec)
{
	const struct hyptrace_field *field = hyptrace_event_field(event, name);
	uint64_t value;

	return field && !hyptrace_field_value(field, rec, &value) ? value : 0;
}

static const char *name_of(const struct hyptrace_event *event, const char *name,
			   const struct hyptrace_record *rec)
{
	const struct hyptrace_field *field = hyptrace_event_field(event, name);
	const char *text = field ? hyptrace_symbol_name(field, value_of(event, name, rec)) : NULL;

	return text ? text : "?";
}

/**
 * page_change_text - get the text of an event
 * @formats:	formats of the events
 * @event:	the event
 * @rec:	its record
 *
 * Return: the text, to be freed.
 */
char *page_change_text(struct hyptrace_formats *formats, const struct hyptrace_event *event,
		       const struct hyptrace_record *rec)
{
	size_t len;
	const char *text = hyptrace_formats_text(formats, event, rec, &len);
	char *copy = strndup(text ? text : "", text ? len : 0);

	if (!copy)
		die_no_memory();
	return copy;
}

/**
 * page_change_init - make a change from an event
 * @change:	the change, to be freed by page_change_free(); it has no hypercall yet
 * @formats:	formats of the events
 * @event:	the event mem_transition
 * @cpu:	the event's CPU
 * @rec:	its record
 */
void page_change_init(struct page_change *change, struct hyptrace_formats *formats,
		      const struct hyptrace_event *event, unsigned int cpu,
		      const struct hyptrace_record *rec)
{
	*change = (struct page_change){
		.ts = rec->ts,
		.cpu = cpu,
		.op = name_of(event, "op", rec),
		.from = name_of(event, "from", rec),
		.to = name_of(event, "to", rec),
		.pfn = value_of(event, "pfn", rec),
		.nr = value_of(event, "nr", rec),
		.handle = value_of(event, "handle", rec),
		.ret = (int64_t)value_of(event, "ret", rec),
		.text = page_change_text(formats, event, rec),
	};
}

/**
 * page_change_free - free the texts of a change
 * @change:	the change
 */
void page_change_free(struct page_change *change)
{
	free(change->text);
	free(change->call);
}

static void add_change(struct page_history *history, unsigned int cpu,
		       const struct hyptrace_record *rec)
{
	const struct hyptrace_event *event = history->transition;
	uint64_t pfn = value_of(event, "pfn", rec), nr = value_of(event, "nr", rec);
	struct page_change *changes;

	if (history->pfn < pfn || history->pfn - pfn >= nr)
		return;
	changes = reallocarray(history->changes, history->nr + 1, sizeof(*changes));
	if (!changes)
		die_no_memory();
	history->changes = changes;
	page_change_init(&changes[history->nr], history->formats, event, cpu, rec);
	changes[history->nr].order = history->nr;
	changes[history->nr].waits = true;
	history->nr++;
	history->nr_waiting++;
}

/* A hypercall has ended on a CPU: it made the changes since its begin, but none before. */
static void add_call(struct page_history *history, unsigned int cpu,
		     const struct hyptrace_record *rec)
{
	uint64_t begin = rec->ts - value_of(history->call, "duration", rec);
	unsigned int i;

	for (i = 0; i < history->nr && history->nr_waiting; i++) {
		struct page_change *change = &history->changes[i];

		if (!change->waits || change->cpu != cpu)
			continue;
		change->waits = false;
		history->nr_waiting--;
		if (change->ts + ROUNDING_NSEC >= begin && change->ts <= rec->ts)
			change->call = page_change_text(history->formats, history->call,
							rec);
	}
}

/**
 * page_history_add - add an event to the history, if it is about the page
 * @history:	the history
 * @cpu:	the event's CPU. The events of each CPU must be added in the order of time
 * @rec:	the event; data is NULL if it is only a loss
 */
void page_history_add(struct page_history *history, unsigned int cpu,
		      const struct hyptrace_record *rec)
{
	const struct hyptrace_event *event;

	page_history_lost(history, rec->ts, rec->lost);
	event = rec->data ? hyptrace_formats_event(history->formats, rec) : NULL;
	if (!event)
		return;
	if (event == history->transition)
		add_change(history, cpu, rec);
	else if (event == history->call && history->nr_waiting)
		add_call(history, cpu, rec);
}

/**
 * page_history_lost - note that events were lost
 * @history:	the history
 * @ts:		the time before which they were lost
 * @lost:	their number, or HYPTRACE_LOST_UNKNOWN; nothing is noted if it is 0
 */
void page_history_lost(struct page_history *history, uint64_t ts, uint64_t lost)
{
	if (!lost)
		return;
	if (lost == HYPTRACE_LOST_UNKNOWN)
		history->lost_more = true;
	else
		history->lost += lost;
	if (ts > history->lost_before)
		history->lost_before = ts;
}

static int compare(const void *a, const void *b)
{
	const struct page_change *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/**
 * page_history_sort - sort the changes of all CPUs by their time
 * @history:	the history
 */
void page_history_sort(struct page_history *history)
{
	if (history->nr)
		qsort(history->changes, history->nr, sizeof(*history->changes), compare);
}

static uint32_t owner_named(const char *name)
{
	if (!strcmp(name, "hyp"))
		return HYPTRACE_OWNERSHIP_HYP;
	if (!strcmp(name, "guest"))
		return HYPTRACE_OWNERSHIP_GUEST;
	return HYPTRACE_OWNERSHIP_HOST;
}

static uint32_t shared_with(const char *name)
{
	if (!strcmp(name, "hyp"))
		return HYPTRACE_OWNERSHIP_HOST_SHARED_HYP;
	if (!strcmp(name, "guest"))
		return HYPTRACE_OWNERSHIP_HOST_SHARED_GUEST;
	return HYPTRACE_OWNERSHIP_HOST_SHARED_FFA;
}

/**
 * page_history_owner - find the owner of the page after all changes
 * @history:	the history, sorted
 * @owner:	out: enum hyptrace_ownership
 *
 * Several guests may share a page. The host owns it alone when as many have lost it.
 *
 * Return: true, or false if there is no successful change.
 */
bool page_history_owner(const struct page_history *history, uint32_t *owner)
{
	unsigned int i, sharers = 0;
	bool known = false;

	for (i = 0; i < history->nr; i++) {
		const struct page_change *change = &history->changes[i];

		if (change->ret)
			continue;
		known = true;
		if (!strcmp(change->op, "share")) {
			*owner = shared_with(change->to);
			sharers++;
		} else if (!strcmp(change->op, "unshare")) {
			sharers -= sharers > 0;
			if (!sharers)
				*owner = HYPTRACE_OWNERSHIP_HOST;
			else
				*owner = shared_with(change->to);
		} else {
			*owner = owner_named(change->to);
			sharers = 0;
		}
	}
	return known;
}
