// SPDX-License-Identifier: GPL-2.0-only
/*
 * What page and leaks print alike: the values of a change or a leak, and notes on losses.
 */
#include <inttypes.h>

#include "output/clock.h"
#include "output/message.h"
#include "who.h"

/* The columns of CSV, with the keys of JSON: of a leak, and of its change */
static const struct column columns[] = {
	{ .key = "page" }, { .key = "pages" }, { .key = "owner" }, { .key = "vm" },
	{ .key = "gone" },
	{ .key = "cpu" }, { .key = "ts" }, { .key = "op" }, { .key = "from" }, { .key = "to" },
	{ .key = "pfn" }, { .key = "nr" }, { .key = "handle" }, { .key = "ret" },
	{ .key = "text" }, { .key = "call" },
};

#define NR_COLUMNS	(sizeof(columns) / sizeof(columns[0]))
#define NR_OF_LEAK	5

void who_begin_rows(const struct who *who)
{
	static const struct columns of_leak = { .all = columns, .nr = NR_COLUMNS };
	static const struct columns of_change = {
		.all = columns + NR_OF_LEAK, .nr = NR_COLUMNS - NR_OF_LEAK,
	};

	if (who->csv)
		printer_table(who->session.ctx->p, NULL, who->is_leaks ? &of_leak : &of_change);
}

static void put_leak(struct printer *p, const struct who_row *row)
{
	printer_u64(p, "page", row->page);
	printer_u64(p, "pages", row->pages);
	printer_str(p, "owner", row->owner);
	if (row->vm)
		printer_uint(p, "vm", row->vm->handle);
	else
		printer_none(p, "vm");
	printer_u64(p, "gone", row->gone);
}

/* Print a row: without CSV, its line was printed with printer_line(). */
void who_put_row(const struct who *who, const struct who_row *row)
{
	const struct page_change *change = row->change;
	struct printer *p = who->session.ctx->p;

	if (who->csv)
		printer_row(p);
	if (who->is_leaks)
		put_leak(p, row);
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
	printer_end(p);
}

void who_end_rows(const struct who *who)
{
	struct context *ctx = who->session.ctx;

	if (who->csv)
		printer_end(ctx->p);
	out_flush(&ctx->out);
}

/* Say that the history may be incomplete. */
void who_note_losses(const struct who *who)
{
	const struct session *s = &who->session;

	if (s->counts.lost || s->counts.lost_more)
		cmd_note("the history may be incomplete: %" PRIu64 "%s events were lost before %"
			 PRIu64 ".%09" PRIu64, s->counts.lost, s->counts.lost_more ? " or more" : "",
			 who->lost_before / NSEC_PER_SEC, who->lost_before % NSEC_PER_SEC);
	if (s->consumed)
		cmd_note("the history may be incomplete: a reader has consumed %" PRIu64 " events",
			 s->consumed);
}
