// SPDX-License-Identifier: GPL-2.0-only
/*
 * What both halves of who need: the events of a remote, a change as JSON, and notes on losses.
 */
#include <inttypes.h>

#include "output/clock.h"
#include "output/die.h"
#include "output/message.h"
#include "session/select.h"
#include "who.h"

/* Get the events of a remote, and how they are printed. */
int who_get_events(struct context *ctx, const char *remote, struct who_events *events)
{
	struct hyptrace_error err;

	if (hyptrace_get_events(ctx->h, remote, &events->events, &events->nr, &err))
		return cmd_fail("cannot list the events of \"%s\": %s", remote, err.text);
	events->formats = hyptrace_formats_new(events->events, events->nr, &err);
	if (!events->formats) {
		hyptrace_free_events(events->events);
		return cmd_fail("cannot read \"%s\": %s", remote, err.text);
	}
	events->calls = cmd_name_hypercalls(ctx, remote, events->formats);
	return EXIT_DONE;
}

void who_free_events(struct who_events *events)
{
	hyptrace_formats_free(events->formats);
	hyptrace_free_hypercalls(events->calls);
	hyptrace_free_events(events->events);
}

/* Add a change to the JSON object that is being printed. */
void who_add_change(struct printer *p, const struct page_change *change)
{
	printer_uint(p, "cpu", change->cpu);
	printer_u64(p, "ts", change->ts);
	printer_str(p, "op", change->op);
	printer_str(p, "from", change->from);
	printer_str(p, "to", change->to);
	printer_u64(p, "pfn", change->pfn);
	printer_u64(p, "nr", change->nr);
	printer_uint(p, "handle", change->handle);
	printer_int(p, "ret", change->ret);
	printer_str(p, "text", change->text);
	if (change->call)
		printer_str(p, "call", change->call);
	else
		printer_none(p, "call");
}

void who_note_losses(uint64_t lost, bool lost_more, uint64_t before, uint64_t read)
{
	if (lost || lost_more)
		cmd_note("the history may be incomplete: %" PRIu64 "%s events were lost before %"
			 PRIu64 ".%09" PRIu64, lost, lost_more ? " or more" : "",
			 before / NSEC_PER_SEC, before % NSEC_PER_SEC);
	if (read)
		cmd_note("the history may be incomplete: a reader has consumed %" PRIu64 " events",
			 read);
}
