// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rows of events that are hypercalls: each hypercall names its arguments.
 */
#include <stdlib.h>

#include "output/die.h"
#include "row.h"

struct row_call {
	const struct hyptrace_hypercall	*of;
	const struct hyptrace_event	*event;
	struct row			row;
	struct row_call			*next;
};

struct row *row_calls_get(struct row_calls *calls, const struct hyptrace_event *event,
			  const struct hyptrace_hypercall *of)
{
	struct row_call **list = &calls->lists[of->id % ROW_CALL_LISTS], *call;

	for (call = *list; call; call = call->next)
		if (call->of == of && call->event == event)
			return &call->row;
	call = calloc(1, sizeof(*call));
	if (!call)
		die_no_memory();
	call->of = of;
	call->event = event;
	call->next = *list;
	*list = call;
	return &call->row;
}

void row_calls_free(struct row_calls *calls)
{
	struct row_call *call, *next;
	unsigned int i;

	for (i = 0; i < ROW_CALL_LISTS; i++) {
		for (call = calls->lists[i]; call; call = next) {
			next = call->next;
			row_free(&call->row);
			free(call);
		}
	}
}
