/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests that enable events with a filter. For the kselftest programs.
 */
#ifndef __FILTER_H
#define __FILTER_H

#include "nl.h"

#define FILTER_ACCEPT	255
#define FILTER_REJECT	254

/* A term of a filter; @without: type of an attribute that it lacks, or 0 */
struct filter_term {
	const char	*field;
	uint32_t	op;
	uint64_t	value;
	uint8_t		on_true;
	uint8_t		on_false;
	uint16_t	without;
};

/* A term that accepts the events for which it is true, and no others */
#define FILTER_TERM(field, op, value) \
	{ field, HYPTRACE_FILTER_OP_ ## op, value, FILTER_ACCEPT, FILTER_REJECT }

void filter_put(struct nl_msg *msg, const char *text, const struct filter_term *terms,
		unsigned int nr, uint32_t *offsets);
int filter_enable(struct nl *nl, const char *remote, const char *event, const char *text,
		  const struct filter_term *terms, unsigned int nr);
int filter_enable_id(struct nl *nl, const char *remote, uint64_t id);
const char *filter_text(struct nl *nl, const char *remote, const char *event);

#endif /* __FILTER_H */
