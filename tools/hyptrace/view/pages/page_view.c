// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace page: the owner of a page now, and how it got there; and what leaks prints alike.
 */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "output/clock.h"
#include "output/die.h"
#include "pages.h"

#define ROW(type, member)	COLUMN_OF(COLUMN_##type, struct who_row, member)

static void print_vm(struct printer *p, const char *key, const void *row)
{
	const struct leak_vm *vm = ((const struct who_row *)row)->vm;

	printer_uint_if(p, key, vm, vm ? vm->handle : 0);
}

/* Of a leak, and of its change */
static const struct column columns[] = {
	{ "page", NULL, ROW(BITS64, page), NULL }, { "pages", NULL, ROW(BITS64, pages), NULL },
	{ "owner", NULL, ROW(STRING, owner), NULL }, { "vm", NULL, 0, print_vm },
	{ "gone", NULL, ROW(BITS64, gone), NULL },
	{ "cpu", NULL, ROW(U32, change.cpu), NULL }, { "ts", NULL, ROW(BITS64, change.ts), NULL },
	{ "op", NULL, ROW(STRING, change.op), NULL },
	{ "from", NULL, ROW(STRING, change.from), NULL },
	{ "to", NULL, ROW(STRING, change.to), NULL },
	{ "pfn", NULL, ROW(BITS64, change.pfn), NULL },
	{ "nr", NULL, ROW(BITS64, change.nr), NULL },
	{ "handle", NULL, ROW(U64, change.handle), NULL },
	{ "ret", NULL, ROW(S64, change.ret), NULL },
	{ "text", NULL, ROW(STRING, change.text), NULL },
	{ "call", NULL, ROW(STRING, change.call), NULL },
};

#define NR_OF_LEAK	5

static const struct columns of_leak = COLUMNS(columns);
static const struct columns of_change = {
	.all = columns + NR_OF_LEAK, .nr = sizeof(columns) / sizeof(columns[0]) - NR_OF_LEAK,
};

void who_begin_rows(const struct who *who)
{
	if (who->csv)
		printer_table(who->session.ctx->p, NULL, who->is_leaks ? &of_leak : &of_change);
}

/* Print a row: without CSV, its line was printed with printer_line(). */
void who_put_row(const struct who *who, const struct who_row *row)
{
	struct printer *p = who->session.ctx->p;

	if (who->csv)
		printer_row(p);
	columns_print_values(who->is_leaks ? &of_leak : &of_change, p, row);
	printer_end(p);
}

void who_end_rows(const struct who *who)
{
	struct context *ctx = who->session.ctx;

	if (who->csv)
		printer_end(ctx->p);
	out_flush(&ctx->out);
}

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

/* Return an event that says who gets and gives back pages, and that is not whole in this kernel. */
const struct hyptrace_event *who_lacking(const struct session *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_events; i++)
		if ((s->events[i]->missing || s->events[i]->incomplete) &&
		    (!strcmp(s->events[i]->name, "mem_transition") ||
		     !strcmp(s->events[i]->name, "host_hcall")))
			return s->events[i];
	return NULL;
}

/* Say why later parts of the history are missing, live. */
void who_look(struct who *who)
{
	const struct event_choice needed = {
		.names = (const char *[]){ "mem_transition", "host_hcall" }, .nr = 2,
	};
	struct session *s = &who->session;

	gaps_begin(&s->gaps, s->ctx, s->name, &needed, s->events, s->nr_events);
	s->gaps.is_quiet = s->quiet;
	gaps_look(&s->gaps, true);
}

static const char *phrase(uint32_t owner)
{
	static const char *const phrases[] = {
		[HYPTRACE_OWNERSHIP_NO_MEMORY]		= "no memory",
		[HYPTRACE_OWNERSHIP_HOST]		= "the host owns it alone",
		[HYPTRACE_OWNERSHIP_HOST_SHARED_HYP] =
			"the host owns it, and shares it with the hypervisor",
		[HYPTRACE_OWNERSHIP_HOST_SHARED_GUEST] =
			"the host owns it, and shares it with a guest",
		[HYPTRACE_OWNERSHIP_HOST_SHARED_FFA] =
			"the host owns it, and shares it with the secure world",
		[HYPTRACE_OWNERSHIP_HYP]		= "the hypervisor owns it alone",
		[HYPTRACE_OWNERSHIP_HYP_SHARED_HOST] =
			"the hypervisor owns it, and shares it with the host",
		[HYPTRACE_OWNERSHIP_GUEST]		= "a protected guest owns it",
	};

	return owner < sizeof(phrases) / sizeof(phrases[0]) ? phrases[owner] : "unknown";
}

/* Print the answer of the hypervisor, or what the file implies. */
static void print_owner(const struct who *who, bool is_implied, uint32_t implied)
{
	const struct page_history *history = &who->history;
	const struct session *s = &who->session;
	struct printer *p = s->ctx->p;

	if (s->path)
		printer_line(p, STYLE_NAME, "page 0x%" PRIx64 " at the end of %s\"%s\": %s",
			     history->pfn, s->to.kind ? "these times of " : "", s->name,
			     is_implied ? phrase(implied) : "not known, since nothing has changed");
	else
		printer_line(p, STYLE_NAME, "page 0x%" PRIx64 ": %s", history->pfn,
			     phrase(who->owner));
	printer_u64(p, "pfn", history->pfn);
	printer_str(p, "owner", s->path ? NULL : hyptrace_ownership_name(who->owner));
	printer_str(p, "implied", is_implied ? hyptrace_ownership_name(implied) : NULL);
	printer_uint(p, "changes", history->nr);
	printer_u64(p, "lost", s->counts.lost);
	printer_bool(p, "lost_more", s->counts.lost_more || s->damaged);
	printer_end(p);
}

static void print_changes(struct who *who, unsigned int first)
{
	const struct page_history *history = &who->history;
	struct context *ctx = who->session.ctx;
	unsigned int i;

	who_begin_rows(who);
	for (i = first; i < history->nr && !ctx->out.error; i++) {
		const struct page_change *change = &history->changes[i];

		if (!who->csv)
			printer_line(ctx->p, change->ret ? STYLE_BAD : STYLE_PLAIN,
				     "[%03u] %5" PRIu64 ".%09" PRIu64 ": %s%s%s%s", change->cpu,
				     change->ts / NSEC_PER_SEC, change->ts % NSEC_PER_SEC,
				     change->ret ? "failed: " : "", change->text,
				     change->call ? " by " : "", change->call ? change->call : "");
		who_put_row(who, &(struct who_row){ .change = *change });
	}
	who_end_rows(who);
}

/* Nothing is known about the page: it may be none. */
static void note_address(const struct who *who, uint64_t page_size)
{
	if (!who->is_address && who->page >= page_size)
		cmd_note("0x%" PRIx64 " is taken as a page frame number: if it is an address, use --address",
			 who->page);
}

static void print_all(struct who *who, uint64_t page_size)
{
	const unsigned int nr = who->history.nr;
	const unsigned int first = who->last && who->last < nr ? nr - who->last : 0;
	const struct session *s = &who->session;
	const struct hyptrace_event *lacking = who_lacking(s);
	uint32_t implied = 0;
	const bool is_implied = page_history_owner(&who->history, &implied);

	if (!who->csv)
		print_owner(who, is_implied, implied);
	print_changes(who, first);
	if (!s->path && is_implied && implied != who->owner)
		cmd_note("the changes imply another owner (%s): some are missing, or the owner has changed meanwhile",
			 hyptrace_ownership_name(implied));
	if (s->path ? !nr && !s->is_outside : who->owner == HYPTRACE_OWNERSHIP_NO_MEMORY)
		note_address(who, page_size);
	who_note_losses(who);
	if (lacking)
		cmd_note("the history is incomplete: %s%s is not in %s kernel",
			 lacking->missing ? "" : "the memory of guests in ", lacking->name,
			 s->path ? "the file's" : "this");
	if (!s->path && !s->has_rings)
		cmd_note("there is no history: the rings are not loaded (" WHO_ENABLE ")");
	else if (!s->path)
		who_look(who);
	session_note_counts(s, "change", nr - first, "printed");
}

int page_run(struct who *who)
{
	struct session *s = &who->session;
	/* a sub-buffer is a page */
	const uint64_t page_size = s->file ? hyptrace_file_info(s->file)->subbuf_size :
					     (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t pfn = who->is_address ? who->page / page_size : who->page;
	struct hyptrace_error err;
	int code;

	if (s->remote && hyptrace_get_page_owners(s->ctx->h, s->name, pfn, 1, &who->owner, &err)) {
		code = cmd_fail("cannot ask \"%s\" for the owner of page 0x%" PRIx64 ": %s",
				s->name, pfn, err.text);
		note_address(who, page_size);
		return code;
	}
	page_history_init(&who->history, pfn, s->formats);
	if (who->history.transition)
		code = session_run(s);
	else
		code = cmd_fail("cannot read \"%s\": it has no event mem_transition, so it is not of a hypervisor",
				s->name);
	if (!code)
		print_all(who, page_size);
	page_history_free(&who->history);
	return code;
}
