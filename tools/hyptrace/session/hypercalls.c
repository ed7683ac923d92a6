// SPDX-License-Identifier: GPL-2.0-only
/*
 * The names of hypercalls and their arguments, for the verbs that print events.
 */
#include "lib/hyptrace.h"
#include "cli/cli.h"
#include "select.h"

/**
 * cmd_name_hypercalls - print hypercalls with their names
 * @ctx:	the context, connected
 * @remote:	name of the remote of the events
 * @formats:	formats of its events
 *
 * Without the names, numbers are printed: that is no error.
 *
 * Return: what hyptrace_free_hypercalls() frees after the last event; may be NULL.
 */
struct hyptrace_hypercall **cmd_name_hypercalls(struct context *ctx, const char *remote,
						struct hyptrace_formats *formats)
{
	struct hyptrace_hypercall **calls;
	unsigned int nr;

	if (hyptrace_get_hypercalls(ctx->h, remote, &calls, &nr, NULL))
		return NULL;
	hyptrace_formats_set_hypercalls(formats, calls, nr, NULL);
	return calls;
}
