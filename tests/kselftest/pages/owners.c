// SPDX-License-Identifier: GPL-2.0-only
/* Who owns each page, as mem_transition events say: see owners.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "owners.h"

#define MAX_POOLS	16

/* Return the value that has a name in a field; there must be one. */
int value_of(struct nl *nl, const char *remote, const char *event, const char *field,
	     const char *symbol)
{
	int value = control_symbol(nl, remote, event, field, symbol);

	if (value < 0) {
		fprintf(stderr, "%s: no value %s of %s\n", event, symbol, field);
		abort();
	}
	return value;
}

/* Begin with the host as the owner of all pages. Return 0 or a negative errno. */
int owners_init(struct owners *owners, struct nl *nl, const char *remote)
{
	owners->values = (struct mem_values) {
		.share		= value_of(nl, remote, "mem_transition", "op", "share"),
		.unshare	= value_of(nl, remote, "mem_transition", "op", "unshare"),
		.donate		= value_of(nl, remote, "mem_transition", "op", "donate"),
		.reclaim	= value_of(nl, remote, "mem_transition", "op", "reclaim"),
		.host		= value_of(nl, remote, "mem_transition", "to", "host"),
		.hyp		= value_of(nl, remote, "mem_transition", "to", "hyp"),
		.guest		= value_of(nl, remote, "mem_transition", "to", "guest"),
	};
	owners->nr_used = 0;
	owners->pages = calloc(OWNERS_MAX_PAGES, sizeof(*owners->pages));
	return owners->pages ? 0 : -ENOMEM;
}

/* Find a page. A page that was not found before is the host's. */
struct page_state *owners_page(struct owners *owners, uint64_t pfn)
{
	unsigned int i = pfn % OWNERS_MAX_PAGES, tries;

	for (tries = 0; tries < OWNERS_MAX_PAGES; tries++, i = (i + 1) % OWNERS_MAX_PAGES) {
		struct page_state *page = &owners->pages[i];

		if (!page->used) {
			*page = (struct page_state) {
				.used = true, .pfn = pfn, .owner = owners->values.host,
			};
			owners->nr_used++;
		}
		if (page->pfn == pfn)
			return page;
	}
	fputs("too many pages\n", stderr);
	abort();
}

int page_sharers(const struct page_state *page)
{
	return page->sharers[0] + page->sharers[1] + page->sharers[2] + page->sharers[3];
}

/* Apply a transition that has succeeded. Return whether the page was in a state for it. */
static bool apply(const struct mem_values *values, struct page_state *page, int op, int from,
		  int to)
{
	bool right;

	if (page->owner != from)
		return false;
	if (op == values->share) {
		/* Several guests may share a page of the host. */
		right = page_sharers(page) == (to == values->guest ? page->sharers[to] : 0);
		page->sharers[to]++;
	} else if (op == values->unshare) {
		right = page->sharers[to] > 0;
		page->sharers[to]--;
	} else if (op == values->donate) {
		right = !page_sharers(page);
		page->owner = to;
	} else {
		right = op == values->reclaim && from == values->guest && to == values->host;
		page->owner = to;
		memset(page->sharers, 0, sizeof(page->sharers));
	}
	return right;
}

/**
 * owners_apply - apply a transition
 * @owners:	the pages
 * @event:	mem_transition
 *
 * Return: whether it was possible: each page was in a state for it, or EL2 has refused it.
 */
bool owners_apply(struct owners *owners, const struct event *event)
{
	uint64_t pfn = event_field(event, "pfn"), end = pfn + event_field(event, "nr");
	int op = event_field(event, "op");
	int from = event_field(event, "from"), to = event_field(event, "to");
	bool right = from < NR_OWNERS && to < NR_OWNERS && pfn < end;

	if (event_field(event, "ret"))
		return event_field(event, "ret") < 0;
	for (; right && pfn < end; pfn++)
		right = apply(&owners->values, owners_page(owners, pfn), op, from, to);
	if (!right)
		printf("# event %llu of CPU %u: op %d from %d to %d, page 0x%llx\n",
		       (unsigned long long)event->nr, event->cpu, op, from, to,
		       (unsigned long long)pfn - 1);
	return right;
}

/* Get the owner that the events imply, enum hyptrace_ownership. */
uint8_t owners_implied(const struct owners *owners, const struct page_state *page)
{
	const struct mem_values *values = &owners->values;

	if (page->owner == values->hyp)
		return HYPTRACE_OWNERSHIP_HYP;
	if (page->owner == values->guest)
		return HYPTRACE_OWNERSHIP_GUEST;
	if (page->sharers[values->hyp])
		return HYPTRACE_OWNERSHIP_HOST_SHARED_HYP;
	if (page->sharers[values->guest])
		return HYPTRACE_OWNERSHIP_HOST_SHARED_GUEST;
	return HYPTRACE_OWNERSHIP_HOST;
}

/* Ask EL2 for the owners of pages. Return 0 or a negative errno. */
int owners_ask(struct nl *nl, const char *remote, uint64_t pfn, uint32_t nr, uint8_t *answers)
{
	static struct nl_answer answer;
	static struct nl_msg msg;
	const struct nlattr *attr;
	int err;

	nl_begin(&msg, nl, HYPTRACE_CMD_PAGE_GET);
	nl_put_str(&msg, HYPTRACE_A_PAGE_REMOTE, remote);
	nl_put_u64(&msg, HYPTRACE_A_PAGE_PFN, pfn);
	if (nr != 1)
		nl_put_u32(&msg, HYPTRACE_A_PAGE_COUNT, nr);
	err = nl_do(nl, &msg, &answer);
	if (err)
		return err;
	attr = nl_attr(nl_first(&answer), HYPTRACE_A_PAGE_OWNERS);
	if (!attr || attr->nla_len != NLA_HDRLEN + nr ||
	    nl_u64(nl_attr(nl_first(&answer), HYPTRACE_A_PAGE_PFN)) != pfn)
		return -EBADMSG;
	memcpy(answers, nl_data(attr), nr);
	return 0;
}

/**
 * count_pools - count the pools that hyp_pool events are about
 * @events:	events of all CPUs, in the order of time
 * @nr:		their number
 * @type:	the type of hyp_pool
 * @free:	the value of its field op
 *
 * Return: the number of pools; -1 if what a pool has left does not follow from what it had left
 * before and the pages that the event is about, or if there are too many pools.
 */
int count_pools(const struct event *events, ssize_t nr, const struct event_type *type, int free)
{
	struct { int64_t id, left; } pools[MAX_POOLS];
	const struct event *event;
	int nr_pools = 0, i;
	int64_t change;

	for (event = events; event < events + nr; event++) {
		if (event->type != type)
			continue;
		change = 1LL << event_field(event, "order");
		if (event_field(event, "op") != free)
			change = -change;
		for (i = 0; i < nr_pools && pools[i].id != event_field(event, "pool"); i++)
			;
		if (i == MAX_POOLS)
			return -1;
		if (i == nr_pools)
			pools[nr_pools++].id = event_field(event, "pool");
		else if (pools[i].left + change != event_field(event, "left"))
			return -1;
		pools[i].left = event_field(event, "left");
	}
	return nr_pools;
}
