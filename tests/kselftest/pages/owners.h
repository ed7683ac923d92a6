/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who owns each page, as mem_transition events say: for the tests that replay such events from
 * a state that they know.
 */
#ifndef __OWNERS_H
#define __OWNERS_H

#include <stdbool.h>
#include <stdint.h>

#include "events.h"
#include "nl.h"

#define OWNERS_MAX_PAGES	16384	/* a power of two */
#define NR_OWNERS		4

/* Values of fields of mem_transition, by the names that the driver gives them */
struct mem_values {
	int share, unshare, donate, reclaim;
	int host, hyp, guest;
};

/* Who owns a page, and with how many of each kind it shares it */
struct page_state {
	uint64_t	pfn;
	bool		used;
	int		owner;
	int		sharers[NR_OWNERS];
};

/* All pages, by a hash of their numbers */
struct owners {
	struct mem_values	values;
	unsigned int		nr_used;
	struct page_state	*pages;
};

int value_of(struct nl *nl, const char *remote, const char *event, const char *field,
	     const char *symbol);
int owners_init(struct owners *owners, struct nl *nl, const char *remote);
struct page_state *owners_page(struct owners *owners, uint64_t pfn);
int page_sharers(const struct page_state *page);
bool owners_apply(struct owners *owners, const struct event *event);
uint8_t owners_implied(const struct owners *owners, const struct page_state *page);
int owners_ask(struct nl *nl, const char *remote, uint64_t pfn, uint32_t nr, uint8_t *answers);
int count_pools(const struct event *events, ssize_t nr, const struct event_type *type, int free);

#endif /* __OWNERS_H */
