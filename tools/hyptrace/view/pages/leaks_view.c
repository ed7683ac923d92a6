// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace leaks: the pages that were not given back after the teardown of a VM.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "output/clock.h"
#include "output/die.h"
#include "pages.h"

/* A time in seconds, for printf(), which gets it as two numbers */
#define TIME_FMT	"%" PRIu64 ".%09" PRIu64

/* Is the answer of the hypervisor what the history says? */
static bool is_confirmed(const struct page_leak *leak, uint8_t owner)
{
	return owner == leak->take->owner || (leak->take->owner == HYPTRACE_OWNERSHIP_HYP &&
					      owner == HYPTRACE_OWNERSHIP_HYP_SHARED_HOST);
}

/* Count the entries of neighbouring pages, or of the same one, that one question can be about. */
static uint64_t count_neighbours(const struct page_leak *list, uint64_t nr)
{
	uint64_t i;

	for (i = 1; i < nr && list[i].pfn - list[i - 1].pfn <= 1 &&
	     list[i].pfn - list[0].pfn < HYPTRACE_PAGE_COUNT_MAX; i++)
		;
	return i;
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

		next = i + count_neighbours(&list[i], nr - i);
		if (hyptrace_get_page_owners(s->ctx->h, s->name, first,
					     list[next - 1].pfn - first + 1, owners, &err))
			return cmd_fail("cannot ask \"%s\" for the owner of page 0x%" PRIx64 ": %s",
					s->name, first, err.text);
		for (; i < next; i++)
			if (is_confirmed(&list[i], owners[list[i].pfn - first]))
				list[kept++] = list[i];
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
	who_put_row(who, &row);
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

static int print_all(struct who *who)
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
	who_begin_rows(who);
	for (i = 0; i < who->nr && !s->ctx->out.error; i++)
		print_leak(who, &who->list[i]);
	who_end_rows(who);
	who_note_losses(who);
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
	who_look(who);
	if (s->gaps.nr && !s->quiet)
		cmd_note("the history may be incomplete (" WHO_ENABLE ")");
	who->incomplete = s->gaps.nr;
	if (!s->quiet)
		gaps_note_filtered(s->name, s->refused);
	return EXIT_DONE;
}

static int check_file(const struct who *who)
{
	const struct page_leaks *leaks = &who->leaks;

	if (leaks->calls && (!leaks->nr_gone || leaks->transitions))
		return EXIT_DONE;
	/* the session has said that no event is there */
	if (who->session.is_outside)
		return EXIT_REFUSED;
	return cmd_fail("cannot look for leaks in \"%s\": it holds no event %s (use \"hyptrace record -e mem_transition,host_hcall\")",
			who->session.name, leaks->calls ? "mem_transition" : "host_hcall");
}

static int look(struct who *who)
{
	struct session *s = &who->session;
	int code = session_run(s) ?: (s->path ? check_file(who) : check_rings(who));

	if (code)
		return code;
	who->list = page_leaks_list(&who->leaks, &who->counts);
	if (!s->path)
		code = confirm(who);
	if (!code)
		code = print_all(who);
	free(who->list);
	return code;
}

/* Does the hypervisor record who gets and gives back pages, also those of guests? */
static int check_events(const struct session *s)
{
	const struct hyptrace_event *lacking = who_lacking(s);

	if (!lacking)
		return EXIT_DONE;
	return cmd_fail("cannot look for leaks%s%s%s: %s%s is not in %s", s->path ? " in \"" : "",
			s->path ? s->name : "", s->path ? "\"" : "",
			lacking->missing ? "" : "the memory of guests in ", lacking->name,
			s->path ? "the file's kernel" : "this kernel");
}

int leaks_run(struct who *who)
{
	struct session *s = &who->session;
	struct hyptrace_error err;
	uint8_t owner;
	int code = check_events(s);

	if (code)
		return code;

	/* A hypervisor that is not in protected mode owns no pages. */
	if (s->remote && hyptrace_get_page_owners(s->ctx->h, s->name, 0, 1, &owner, &err))
		return cmd_fail("cannot look for leaks: %s", err.text);
	if (page_leaks_init(&who->leaks, PAGE_LEAKS_MAX_PAGES, s->formats))
		code = look(who);
	else if (s->path)
		code = cmd_fail("cannot look for leaks in \"%s\": it has no events mem_transition and host_hcall with the names of hypercalls",
				s->name);
	else
		code = cmd_fail("cannot look for leaks: the hypercalls of \"%s\" have no names",
				s->name);
	page_leaks_free(&who->leaks);
	return code;
}
