// SPDX-License-Identifier: GPL-2.0-only
/*
 * The changes of a page's owner, from mem_transition events. The hypercall that made a change is
 * the next host_hcall of the same CPU, if it began before the change: see page_history.h.
 */
#include <stdlib.h>
#include <string.h>

#include <linux/hyptrace_netlink.h>

#include "output/die.h"
#include "page_history.h"

/* The event's time and the hypercall's begin are rounded down to ns, each by itself. */
#define ROUNDING_NSEC	1

/* Begin a history without changes. @formats must remain valid. */
void page_history_init(struct page_history *history, uint64_t pfn, struct hyptrace_formats *formats)
{
	*history = (struct page_history){
		.pfn = pfn, .formats = formats, .model = hyptrace_model_new(formats, NULL),
	};
	if (!history->model)
		die_no_memory();
	history->transition = hyptrace_model_of_kind(history->model, HYPTRACE_KIND_TRANSITION);
}

void page_history_free(struct page_history *history)
{
	unsigned int i;

	for (i = 0; i < history->nr; i++)
		page_change_free(&history->changes[i]);
	free(history->changes);
	history->changes = NULL;
	history->nr = 0;
	hyptrace_model_free(history->model);
	history->model = NULL;
}

static const char *name_of(const struct hyptrace_meaning *meaning, enum hyptrace_role role,
			   const struct hyptrace_record *rec)
{
	const uint64_t value = hyptrace_meaning_value(meaning, role, rec);
	const char *text = hyptrace_meaning_value_name(meaning, role, value);

	return text ? text : "?";
}

/* Get the text of an event, to be freed. */
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

/* Make a change from a transition; it has no hypercall yet. */
void page_change_init(struct page_change *change, struct hyptrace_formats *formats,
		      const struct hyptrace_meaning *meaning, unsigned int cpu,
		      const struct hyptrace_record *rec)
{
	*change = (struct page_change){
		.ts = rec->ts,
		.cpu = cpu,
		.op = name_of(meaning, HYPTRACE_ROLE_OP, rec),
		.from = name_of(meaning, HYPTRACE_ROLE_FROM, rec),
		.to = name_of(meaning, HYPTRACE_ROLE_TO, rec),
		.pfn = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_PAGE, rec),
		.nr = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_COUNT, rec),
		.handle = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_VM, rec),
		.ret = (int64_t)hyptrace_meaning_value(meaning, HYPTRACE_ROLE_RESULT, rec),
		.text = page_change_text(formats, meaning->event, rec),
	};
}

void page_change_free(struct page_change *change)
{
	free(change->text);
	free(change->call);
}

static void add_change(struct page_history *history, unsigned int cpu,
		       const struct hyptrace_meaning *meaning, const struct hyptrace_record *rec)
{
	const uint64_t pfn = hyptrace_meaning_value(meaning, HYPTRACE_ROLE_PAGE, rec);
	struct page_change *changes;

	if (history->pfn < pfn ||
	    history->pfn - pfn >= hyptrace_meaning_value(meaning, HYPTRACE_ROLE_COUNT, rec))
		return;
	changes = reallocarray(history->changes, history->nr + 1, sizeof(*changes));
	if (!changes)
		die_no_memory();
	history->changes = changes;
	page_change_init(&changes[history->nr], history->formats, meaning, cpu, rec);
	changes[history->nr].order = history->nr;
	changes[history->nr].waits = true;
	history->nr++;
	history->nr_waiting++;
}

/* A hypercall has ended on a CPU: it made the changes since its begin, but none before. */
static void add_call(struct page_history *history, unsigned int cpu,
		     const struct hyptrace_meaning *meaning, const struct hyptrace_record *rec)
{
	const uint64_t begin = rec->ts - hyptrace_meaning_value(meaning, HYPTRACE_ROLE_DURATION,
								rec);
	unsigned int i;

	for (i = 0; i < history->nr && history->nr_waiting; i++) {
		struct page_change *change = &history->changes[i];

		if (!change->waits || change->cpu != cpu)
			continue;
		change->waits = false;
		history->nr_waiting--;
		if (change->ts + ROUNDING_NSEC >= begin && change->ts <= rec->ts)
			change->call = page_change_text(history->formats, meaning->event, rec);
	}
}

/* Add an event, or a loss. The events of each CPU must be added in the order of time. */
void page_history_add(struct page_history *history, unsigned int cpu,
		      const struct hyptrace_record *rec)
{
	const struct hyptrace_meaning *meaning;

	page_history_lost(history, rec->ts, rec->lost);
	if (!rec->data)
		return;
	meaning = hyptrace_model_meaning(history->model, rec);
	if (meaning->kind == HYPTRACE_KIND_TRANSITION)
		add_change(history, cpu, meaning, rec);
	else if (meaning->kind == HYPTRACE_KIND_HYPERCALL && history->nr_waiting)
		add_call(history, cpu, meaning, rec);
}

/* Note that @lost events were lost before a time, unless @lost is 0. */
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

/*
 * Find the owner of the page after all changes, which are sorted: enum hyptrace_ownership. Several
 * guests may share a page. The host owns it alone when as many have lost it. Return false if there
 * is no successful change.
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
