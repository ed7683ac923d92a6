// SPDX-License-Identifier: GPL-2.0-only
/* Requests that enable events with a filter: see filter.h. */
#include <stdio.h>
#include <string.h>

#include <linux/hyptrace_netlink.h>

#include "filter.h"

static struct nl_answer answer;
static struct nl_msg msg;

static void put_term(struct nl_msg *to, const struct filter_term *term)
{
	uint32_t nest = nl_nest_begin(to, HYPTRACE_A_FILTER_TERM);

	if (term->without != HYPTRACE_A_TERM_FIELD)
		nl_put_str(to, HYPTRACE_A_TERM_FIELD, term->field);
	if (term->without != HYPTRACE_A_TERM_OP)
		nl_put_u32(to, HYPTRACE_A_TERM_OP, term->op);
	if (term->without != HYPTRACE_A_TERM_VALUE)
		nl_put_u64(to, HYPTRACE_A_TERM_VALUE, term->value);
	if (term->without != HYPTRACE_A_TERM_ON_TRUE)
		nl_put_u8(to, HYPTRACE_A_TERM_ON_TRUE, term->on_true);
	if (term->without != HYPTRACE_A_TERM_ON_FALSE)
		nl_put_u8(to, HYPTRACE_A_TERM_ON_FALSE, term->on_false);
	nl_nest_end(to, nest);
}

/**
 * filter_put - put the attribute "filter" of event-set
 * @to:		the request
 * @text:	its text; NULL: without text
 * @terms:	its terms
 * @nr:		number of @terms
 * @offsets:	filled in: offsets of the terms in the request; may be NULL
 */
void filter_put(struct nl_msg *to, const char *text, const struct filter_term *terms,
		unsigned int nr, uint32_t *offsets)
{
	uint32_t nest = nl_nest_begin(to, HYPTRACE_A_EVENT_FILTER);
	unsigned int i;

	if (text)
		nl_put_str(to, HYPTRACE_A_FILTER_TEXT, text);
	for (i = 0; i < nr; i++) {
		if (offsets)
			offsets[i] = to->hdr.nlmsg_len;
		put_term(to, &terms[i]);
	}
	nl_nest_end(to, nest);
}

/* Enable an event with a filter. Return 0 or a negative errno. */
int filter_enable(struct nl *nl, const char *remote, const char *event, const char *text,
		  const struct filter_term *terms, unsigned int nr)
{
	nl_begin(&msg, nl, HYPTRACE_CMD_EVENT_SET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, remote);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAMES, event);
	nl_put_u8(&msg, HYPTRACE_A_EVENT_ENABLED, 1);
	filter_put(&msg, text, terms, nr, NULL);
	return nl_do(nl, &msg, &answer);
}

/* Enable selftest for one id. Return 0 or a negative errno. */
int filter_enable_id(struct nl *nl, const char *remote, uint64_t id)
{
	const struct filter_term term = FILTER_TERM("id", EQ, id);
	char text[32];

	snprintf(text, sizeof(text), "id == %llu", (unsigned long long)id);
	return filter_enable(nl, remote, "selftest", text, &term, 1);
}

/* Return the text of an event's filter until the next call, or an empty string. */
const char *filter_text(struct nl *nl, const char *remote, const char *event)
{
	nl_begin(&msg, nl, HYPTRACE_CMD_EVENT_GET);
	nl_put_str(&msg, HYPTRACE_A_EVENT_REMOTE, remote);
	nl_put_str(&msg, HYPTRACE_A_EVENT_NAME, event);
	if (nl_do(nl, &msg, &answer))
		return "(the request failed)";
	return nl_str(nl_nested(nl_attr(nl_first(&answer), HYPTRACE_A_EVENT_FILTER),
				HYPTRACE_A_FILTER_TEXT));
}
