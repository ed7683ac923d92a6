// SPDX-License-Identifier: GPL-2.0-only
/* hyptrace page and leaks: ask the hypervisor for owners of pages, and print what was found. */
#include "output/clock.h"
#include "output/die.h"
#include "pages.h"

/* A time in seconds, for printf(), which gets it as two numbers */
#define TIME_FMT	"%" PRIu64 ".%09" PRIu64

#define ROW(key_, type, member) \
	{ .key = (key_), .flags = COLUMN_OF(COLUMN_##type, struct who_row, member) }

static void print_vm(struct printer *p, const char *key, const void *row)
{
	const struct leak_vm *vm = ((const struct who_row *)row)->vm;

	printer_uint_if(p, key, vm, vm ? vm->handle : 0);
}

static const struct column columns[] = {
	ROW("page", BITS64, page), ROW("pages", BITS64, pages), ROW("owner", STRING, owner),
	{ .key = "vm", .print = print_vm }, ROW("gone", BITS64, gone),
	ROW("cpu", U32, change.cpu), ROW("ts", BITS64, change.ts), ROW("op", STRING, change.op),
	ROW("from", STRING, change.from), ROW("to", STRING, change.to),
	ROW("pfn", BITS64, change.pfn), ROW("nr", BITS64, change.nr),
	ROW("handle", U64, change.handle), ROW("ret", S64, change.ret),
	ROW("text", STRING, change.text), ROW("call", STRING, change.call),
};

#define NR_OF_LEAK	5

static const struct columns of_leak = COLUMNS(columns);
static const struct columns of_change = {
	.all = columns + NR_OF_LEAK, .nr = sizeof(columns) / sizeof(columns[0]) - NR_OF_LEAK,
};

static void begin_rows(const struct who *who)
{
	if (who->csv)
		printer_table(who->session.ctx->p, NULL, who->is_leaks ? &of_leak : &of_change);
}

/* Print a row: without CSV, its line was printed with printer_line(). */
static void put_row(const struct who *who, const struct who_row *row)
{
	struct printer *p = who->session.ctx->p;

	if (who->csv)
		printer_row(p);
	columns_print_values(who->is_leaks ? &of_leak : &of_change, p, row);
	printer_end(p);
}

static void end_rows(const struct who *who)
{
	struct context *ctx = who->session.ctx;

	if (who->csv)
		printer_end(ctx->p);
	out_flush(&ctx->out);
}

static void note_losses(const struct who *who)
{
	const struct session *s = &who->session;

	if (s->counts.lost || s->counts.lost_more)
		cmd_note("the history may be incomplete: %" PRIu64 "%s events were lost before "
			 TIME_FMT, s->counts.lost, s->counts.lost_more ? " or more" : "",
			 who->lost_before / NSEC_PER_SEC, who->lost_before % NSEC_PER_SEC);
	if (s->consumed)
		cmd_note("the history may be incomplete: a reader has consumed %" PRIu64 " events",
			 s->consumed);
}

/* Return an event that says who gets and gives back pages, and that is not whole in this kernel. */
static const struct hyptrace_event *find_lacking(const struct session *s)
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
static void look_for_gaps(struct who *who)
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

	begin_rows(who);
	for (i = first; i < history->nr && !ctx->out.error; i++) {
		const struct page_change *change = &history->changes[i];

		if (!who->csv)
			printer_line(ctx->p, change->ret ? STYLE_BAD : STYLE_PLAIN,
				     "[%03u] %5" PRIu64 ".%09" PRIu64 ": %s%s%s%s", change->cpu,
				     change->ts / NSEC_PER_SEC, change->ts % NSEC_PER_SEC,
				     change->ret ? "failed: " : "", change->text,
				     change->call ? " by " : "", change->call ? change->call : "");
		put_row(who, &(struct who_row){ .change = *change });
	}
	end_rows(who);
}

/* Nothing is known about the page: it may be none. */
static void note_address(const struct who *who, uint64_t page_size)
{
	if (!who->is_address && who->page >= page_size)
		cmd_note("0x%" PRIx64 " is taken as a page frame number: if it is an address, use --address",
			 who->page);
}

static void print_page(struct who *who, uint64_t page_size)
{
	const unsigned int nr = who->history.nr;
	const unsigned int first = who->last && who->last < nr ? nr - who->last : 0;
	const struct session *s = &who->session;
	const struct hyptrace_event *lacking = find_lacking(s);
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
	note_losses(who);
	if (lacking)
		cmd_note("the history is incomplete: %s%s is not in %s kernel",
			 lacking->missing ? "" : "the memory of guests in ", lacking->name,
			 s->path ? "the file's" : "this");
	if (!s->path && !s->has_rings)
		cmd_note("there is no history: the rings are not loaded (" WHO_ENABLE ")");
	else if (!s->path)
		look_for_gaps(who);
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
	if (hyptrace_model_of_kind(who->history.model, HYPTRACE_KIND_TRANSITION))
		code = session_run(s);
	else
		code = cmd_fail("cannot read \"%s\": it has no event mem_transition, so it is not of a hypervisor",
				s->name);
	if (!code)
		print_page(who, page_size);
	page_history_free(&who->history);
	return code;
}

/* Keep those leaks that the hypervisor confirms now. Return an exit code. */
static int confirm(struct who *who)
{
	uint64_t nr = who->counts.leaked, i, next, kept = 0;
	uint8_t owners[HYPTRACE_PAGE_COUNT_MAX];
	const struct session *s = &who->session;
	struct page_leak *list = who->list;
	struct hyptrace_error err;

	for (i = 0; i < nr; i = next) {
		const uint64_t first = list[i].pfn;

		/* neighbouring pages, or the same one, that one question can be about */
		for (next = i + 1; next < nr && list[next].pfn - list[next - 1].pfn <= 1 &&
		     list[next].pfn - first < HYPTRACE_PAGE_COUNT_MAX; next++)
			;
		if (hyptrace_get_page_owners(s->ctx->h, s->name, first,
					     list[next - 1].pfn - first + 1, owners, &err))
			return cmd_fail("cannot ask \"%s\" for the owner of page 0x%" PRIx64 ": %s",
					s->name, first, err.text);
		for (; i < next; i++) {
			const uint8_t answer = owners[list[i].pfn - first];
			const uint8_t owner = list[i].take->owner;

			/* as the history says */
			if (answer == owner || (owner == HYPTRACE_OWNERSHIP_HYP &&
						answer == HYPTRACE_OWNERSHIP_HYP_SHARED_HOST))
				list[kept++] = list[i];
		}
	}
	who->back = nr - kept;
	who->counts.leaked = kept;
	return EXIT_DONE;
}

static const char *plural(uint64_t nr)
{
	return nr == 1 ? "" : "s";
}

static void print_summary(struct who *who)
{
	const struct leak_counts *counts = &who->counts;
	const uint64_t open = counts->pending + counts->undecided;
	const struct page_leaks *leaks = &who->leaks;
	const char *were = leaks->nr_gone == 1 ? " was" : "s were";
	const struct session *s = &who->session;
	struct printer *p = s->ctx->p;

	if (counts->leaked)
		printer_line(p, STYLE_BAD, "%" PRIu64 " page%s leaked: %" PRIu64 " VM%s torn down",
			     counts->leaked, plural(counts->leaked), leaks->nr_gone, were);
	else if (who->incomplete)
		printer_line(p, STYLE_NAME, "no leak found, but the history is incomplete");
	else if (!leaks->nr_gone)
		printer_line(p, STYLE_GOOD, "no leak: no VM was torn down");
	else if (open)
		printer_line(p, STYLE_NAME, "no leak found, but %" PRIu64 " page%s not judged",
			     open, open == 1 ? " is" : "s are");
	else
		printer_line(p, STYLE_GOOD, "no leak: %" PRIu64 " VM%s torn down, and all pages have come back",
			     leaks->nr_gone, were);
	printer_u64(p, "pages", counts->leaked);
	printer_u64(p, "ranges", who->nr);
	printer_u64(p, "torn_down", leaks->nr_gone);
	printer_uint(p, "living", leaks->nr_vms);
	printer_u64(p, "pending", counts->pending);
	printer_u64(p, "undecided", counts->undecided);
	printer_u64(p, "unknown", counts->unknown);
	printer_bool(p, "complete", !who->incomplete);
	printer_u64(p, "lost", s->counts.lost);
	printer_bool(p, "lost_more", s->counts.lost_more);
	printer_end(p);
}

static void print_leak(struct who *who, const struct page_leak *leak)
{
	const struct page_take *take = leak->take;
	const struct page_leaks *leaks = &who->leaks;
	struct hyptrace_formats *formats = who->session.formats;
	struct who_row row = {
		.page = leak->pfn,
		.pages = leak->nr,
		.owner = hyptrace_ownership_name(take->owner),
		.vm = take->vm,
		.gone = take->vm ? take->vm->gone : leaks->last_gone,
	};
	struct page_change *change = &row.change;
	char vm[64] = "";

	page_change_read(change, leaks->transition, take->cpu, &take->event);
	change->text = page_change_text(formats, leaks->transition->event, &take->event);
	if (take->call.data)
		change->call = page_change_text(formats, leaks->call->event, &take->call);
	if (take->vm)
		snprintf(vm, sizeof(vm), " of VM 0x%x, gone since " TIME_FMT, take->vm->handle,
			 row.gone / NSEC_PER_SEC, row.gone % NSEC_PER_SEC);
	if (!who->csv)
		printer_line(who->session.ctx->p, STYLE_PLAIN,
			     "0x%" PRIx64 " +%" PRIu64 ": %s%s: [%03u] " TIME_FMT ": %s%s%s",
			     row.page, row.pages, row.owner, vm, change->cpu,
			     change->ts / NSEC_PER_SEC, change->ts % NSEC_PER_SEC, change->text,
			     change->call ? " by " : "", change->call ? change->call : "");
	put_row(who, &row);
	page_change_free(change);
}

static void name_vms(const struct page_leaks *leaks, bool all, char *names, size_t size)
{
	const struct leak_vm *vm;
	size_t len = 0;

	names[0] = '\0';
	for (vm = leaks->vms; vm && len < size; vm = vm->next)
		if (all || vm->state == LEAK_VM_IS_TORN_DOWN)
			len += snprintf(names + len, size - len, "%s0x%x", len ? ", " : "",
					vm->handle);
}

static void note_counts(const struct who *who)
{
	const struct leak_counts *counts = &who->counts;
	const struct page_leaks *leaks = &who->leaks;
	char names[128];

	name_vms(leaks, false, names, sizeof(names));
	if (names[0])
		cmd_note("the teardown of %s is not over: %" PRIu64 " page%s not back yet",
			 names, counts->pending, counts->pending == 1 ? " is" : "s are");
	name_vms(leaks, true, names, sizeof(names));
	if (counts->undecided)
		cmd_note("%" PRIu64 " page%s may be in use by a VM that still lives (%s): not judged",
			 counts->undecided, plural(counts->undecided), names);
	if (counts->unknown)
		cmd_note("%" PRIu64 " page%s not judged: the hypercall may be among the events that were lost",
			 counts->unknown, counts->unknown == 1 ? " is" : "s are");
	if (who->back)
		cmd_note("%" PRIu64 " page%s changed the owner again meanwhile", who->back,
			 who->back == 1 ? " has" : "s have");
	if (leaks->too_many)
		cmd_note("%" PRIu64 " pages are not judged: no more than %u are remembered at a time",
			 leaks->too_many, PAGE_LEAKS_MAX_PAGES);
	if (leaks->too_many_vms)
		cmd_note("%" PRIu64 " VMs are not known: no more than %u are remembered at a time",
			 leaks->too_many_vms, PAGE_LEAKS_MAX_VMS);
}

static int print_leaks(struct who *who)
{
	const struct page_leaks *leaks = &who->leaks;
	struct session *s = &who->session;
	uint64_t i;

	if (s->counts.lost || s->counts.lost_more || s->damaged || s->consumed ||
	    s->refused || who->counts.unknown || leaks->too_many || leaks->too_many_vms)
		who->incomplete = true;
	who->nr = page_leaks_merge(who->list, who->counts.leaked);
	if (!who->csv)
		print_summary(who);
	begin_rows(who);
	for (i = 0; i < who->nr && !s->ctx->out.error; i++)
		print_leak(who, &who->list[i]);
	end_rows(who);
	note_losses(who);
	note_counts(who);
	/* the first line has the number of pages */
	s->quiet = true;
	session_note_counts(s, "range", who->nr, "printed");
	/* session_close() refuses a damaged file */
	return who->nr && !(s->file && s->damaged) ? EXIT_FOUND : EXIT_DONE;
}

/* Is there a history at all, and is it whole? Return an exit code. */
static int check_rings(struct who *who)
{
	const struct page_leaks *leaks = &who->leaks;
	struct session *s = &who->session;
	const char *missing = NULL;

	if (!s->has_rings)
		return cmd_fail("cannot look for leaks: the rings of \"%s\" are not loaded (%s)",
				s->name, WHO_ENABLE);
	if (!leaks->transition->event->enabled && !leaks->transitions)
		missing = leaks->transition->event->name;
	else if (!leaks->call->event->enabled && !leaks->calls)
		missing = leaks->call->event->name;
	if (missing)
		return cmd_fail("cannot look for leaks: the event \"%s\" is not enabled (%s)",
				missing, WHO_ENABLE);
	look_for_gaps(who);
	if (s->gaps.nr && !s->quiet)
		cmd_note("the history may be incomplete (" WHO_ENABLE ")");
	who->incomplete = s->gaps.nr;
	if (!s->quiet)
		gaps_note_filtered(s->name, s->refused);
	return EXIT_DONE;
}

int leaks_run(struct who *who)
{
	struct session *s = &who->session;
	const struct hyptrace_event *lacking = find_lacking(s);
	const struct page_leaks *leaks = &who->leaks;
	struct hyptrace_error err;
	uint8_t owner;
	int code;

	/* the hypervisor must record who gets and gives back pages, also those of guests */
	if (lacking)
		return cmd_fail("cannot look for leaks%s%s%s: %s%s is not in %s",
				s->path ? " in \"" : "", s->path ? s->name : "", s->path ? "\"" : "",
				lacking->missing ? "" : "the memory of guests in ", lacking->name,
				s->path ? "the file's kernel" : "this kernel");
	/* A hypervisor that is not in protected mode owns no pages. */
	if (s->remote && hyptrace_get_page_owners(s->ctx->h, s->name, 0, 1, &owner, &err))
		return cmd_fail("cannot look for leaks: %s", err.text);
	if (page_leaks_init(&who->leaks, PAGE_LEAKS_MAX_PAGES, s->formats))
		code = session_run(s) ?: (s->path ? EXIT_DONE : check_rings(who));
	else if (s->path)
		code = cmd_fail("cannot look for leaks in \"%s\": it has no events mem_transition and host_hcall with the names of hypercalls",
				s->name);
	else
		code = cmd_fail("cannot look for leaks: the hypercalls of \"%s\" have no names",
				s->name);
	if (!code && s->path && !(leaks->calls && (!leaks->nr_gone || leaks->transitions)))
		/* the session may have said that no event is there */
		code = s->is_outside ? EXIT_REFUSED :
		       cmd_fail("cannot look for leaks in \"%s\": it holds no event %s (use \"hyptrace record -e mem_transition,host_hcall\")",
				s->name, leaks->calls ? "mem_transition" : "host_hcall");
	if (!code) {
		who->list = page_leaks_list(leaks, &who->counts);
		code = (s->path ? EXIT_DONE : confirm(who)) ?: print_leaks(who);
		free(who->list);
	}
	page_leaks_free(&who->leaks);
	return code;
}
