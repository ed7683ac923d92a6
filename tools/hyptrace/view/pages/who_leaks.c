// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace who --leaks: the pages that were not given back after the teardown of a VM.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <linux/hyptrace_netlink.h>

#include "lib/hyptrace_file.h"
#include "cli/cli.h"
#include "output/clock.h"
#include "output/die.h"
#include "output/message.h"
#include "output/printer.h"
#include "session/select.h"
#include "page_leaks.h"
#include "who.h"

/* A time in seconds, for printf(), which gets it as two numbers */
#define TIME_FMT	"%" PRIu64 ".%09" PRIu64

/* The state of the verb */
struct who_leaks {
	struct context			*ctx;	/* the verb's context */
	const struct hyptrace_remote	*remote;	/* the remote, or NULL */
	const char			*path;	/* name of the file, or NULL */
	struct snapshots		rings;	/* what is known about the rings */
	struct page_leaks		leaks;
	struct page_leak		*list;
	uint64_t			nr;
	struct leak_counts		counts;
	/* pages that have come back since the history was read */
	uint64_t			back;
	bool				incomplete;	/* events are missing */
};

static void add_record(void *arg, unsigned int cpu, const struct hyptrace_record *rec)
{
	page_leaks_add(arg, cpu, rec);
}

/* Is the answer of the hypervisor what the history says? */
static bool is_confirmed(const struct page_leak *leak, uint8_t owner)
{
	if (leak->take->owner == HYPTRACE_OWNERSHIP_HYP)
		return owner == HYPTRACE_OWNERSHIP_HYP ||
		       owner == HYPTRACE_OWNERSHIP_HYP_SHARED_HOST;
	return owner == leak->take->owner;
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
static int confirm(struct who_leaks *who)
{
	uint64_t nr = who->counts.leaked, i, next, kept = 0;
	uint8_t owners[HYPTRACE_PAGE_COUNT_MAX];
	struct page_leak *list = who->list;
	struct hyptrace_error err;

	for (i = 0; i < nr; i = next) {
		const uint64_t first = list[i].pfn;

		next = i + count_neighbours(&list[i], nr - i);
		if (hyptrace_get_page_owners(who->ctx->h, who->remote->name, first,
					     list[next - 1].pfn - first + 1, owners, &err))
			return cmd_fail("cannot ask \"%s\" for the owner of page 0x%" PRIx64 ": %s",
					who->remote->name, first, err.text);
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

static void print_summary(struct who_leaks *who)
{
	const struct page_leaks *leaks = &who->leaks;
	const uint64_t pages = who->counts.leaked;
	struct printer *p = who->ctx->p;

	if (pages)
		printer_line(p, STYLE_BAD, "%" PRIu64 " page%s leaked: %" PRIu64 " VM%s torn down",
			     pages, plural(pages), leaks->nr_gone,
			     leaks->nr_gone == 1 ? " was" : "s were");
	else if (who->incomplete)
		printer_line(p, STYLE_NAME, "no leak found, but the history is incomplete");
	else if (!leaks->nr_gone)
		printer_line(p, STYLE_GOOD, "no leak: no VM was torn down");
	else if (who->counts.pending || who->counts.undecided)
		printer_line(p, STYLE_NAME, "no leak found, but %" PRIu64 " page%s not judged",
			     who->counts.pending + who->counts.undecided,
			     who->counts.pending + who->counts.undecided == 1 ? " is" : "s are");
	else
		printer_line(p, STYLE_GOOD, "no leak: %" PRIu64 " VM%s torn down, and all pages have come back",
			     leaks->nr_gone, leaks->nr_gone == 1 ? " was" : "s were");
	printer_u64(p, "pages", pages);
	printer_u64(p, "ranges", who->nr);
	printer_u64(p, "torn_down", leaks->nr_gone);
	printer_uint(p, "living", leaks->nr_vms);
	printer_u64(p, "pending", who->counts.pending);
	printer_u64(p, "undecided", who->counts.undecided);
	printer_u64(p, "unknown", who->counts.unknown);
	printer_bool(p, "complete", !who->incomplete);
	printer_u64(p, "lost", leaks->lost);
	printer_bool(p, "lost_more", leaks->lost_more);
	printer_end(p);
}

static void print_leak(struct who_leaks *who, const struct page_leak *leak)
{
	const struct page_take *take = leak->take;
	struct printer *p = who->ctx->p;
	struct page_change change;
	char vm[64] = "";

	page_change_init(&change, who->leaks.formats, who->leaks.transition, take->cpu,
			 &(struct hyptrace_record){ .ts = take->ts, .data = take->event,
						    .size = take->event_size });
	if (take->call)
		change.call = page_change_text(who->leaks.formats, who->leaks.call->event,
					       &(struct hyptrace_record){ .ts = take->call_ts,
						       .data = take->call,
						       .size = take->call_size });
	if (take->vm)
		snprintf(vm, sizeof(vm), " of VM 0x%x, gone since " TIME_FMT, take->vm->handle,
			 take->vm->gone / NSEC_PER_SEC, take->vm->gone % NSEC_PER_SEC);
	printer_line(p, STYLE_PLAIN, "0x%" PRIx64 " +%" PRIu64 ": %s%s: [%03u] " TIME_FMT ": %s%s%s",
		     leak->pfn, leak->nr, hyptrace_ownership_name(take->owner), vm, take->cpu,
		     take->ts / NSEC_PER_SEC, take->ts % NSEC_PER_SEC, change.text,
		     change.call ? " by " : "", change.call ? change.call : "");
	printer_u64(p, "page", leak->pfn);
	printer_u64(p, "pages", leak->nr);
	printer_str(p, "owner", hyptrace_ownership_name(take->owner));
	if (take->vm)
		printer_uint(p, "vm", take->vm->handle);
	else
		printer_none(p, "vm");
	printer_u64(p, "gone", take->vm ? take->vm->gone : who->leaks.last_gone);
	who_add_change(p, &change);
	printer_end(p);
	page_change_free(&change);
}

/* Name the VMs in a state, for a message. */
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

static void note_counts(const struct who_leaks *who)
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

/* Print what was found. Return an exit code. */
static int print_all(struct who_leaks *who)
{
	const struct page_leaks *leaks = &who->leaks;
	uint64_t i;

	if (leaks->lost || leaks->lost_more || who->rings.read || who->rings.damaged ||
	    who->counts.unknown || leaks->too_many || leaks->too_many_vms)
		who->incomplete = true;
	who->nr = page_leaks_merge(who->list, who->counts.leaked);
	print_summary(who);
	for (i = 0; i < who->nr && !who->ctx->out.error; i++)
		print_leak(who, &who->list[i]);
	out_flush(&who->ctx->out);
	who_note_losses(leaks->lost, leaks->lost_more, leaks->lost_before, who->rings.read);
	note_counts(who);
	return who->nr ? EXIT_FOUND : EXIT_DONE;
}

/* Say why an event may be missing from the rings. */
static void note_event(struct who_leaks *who, const struct hyptrace_event *event)
{
	if (event->enabled && !event->filter)
		return;
	who->incomplete = true;
	if (event->filter)
		cmd_note("the history may be incomplete: the event \"%s\" has a filter (use \"hyptrace enable %s\")",
			 event->name, event->name);
	else
		cmd_note("the history may be incomplete: the event \"%s\" is not enabled (use \"hyptrace enable %s\")",
			 event->name, event->name);
}

static void note_filtered(struct who_leaks *who, uint64_t filtered)
{
	if (!filtered)
		return;
	who->incomplete = true;
	cmd_note("the history may be incomplete: filters have refused %" PRIu64 " event%s",
		 filtered, plural(filtered));
}

/* Is there a history at all? Return an exit code. */
static int check_rings(struct who_leaks *who)
{
	const struct page_leaks *leaks = &who->leaks;
	const struct hyptrace_event *transition = leaks->transition->event;
	const struct hyptrace_event *call = leaks->call->event;
	const char *name = who->remote->name;

	if (!who->rings.has_rings)
		return cmd_fail("cannot look for leaks: the rings of \"%s\" are not loaded (%s)",
				name, WHO_ENABLE);
	if ((!transition->enabled && !leaks->transitions) || (!call->enabled && !leaks->calls))
		return cmd_fail("cannot look for leaks: the event \"%s\" is not enabled (%s)",
				!transition->enabled && !leaks->transitions ? transition->name :
				call->name, WHO_ENABLE);
	note_event(who, transition);
	note_event(who, call);
	note_filtered(who, who->rings.filtered);
	if (who->remote->state != HYPTRACE_STATE_TRACING) {
		who->incomplete = true;
		cmd_note("the history may be incomplete: the recording is stopped (use \"hyptrace start\")");
	}
	return EXIT_DONE;
}

static int look_into_rings(struct who_leaks *who)
{
	int code;

	code = snapshots_read(who->ctx, who->remote, add_record, &who->leaks, &who->rings);
	if (!code)
		code = check_rings(who);
	if (code)
		return code;
	who->list = page_leaks_list(&who->leaks, &who->counts);
	code = confirm(who);
	if (!code)
		code = print_all(who);
	free(who->list);
	return code;
}

int who_leaks_live(struct context *ctx, const struct hyptrace_remote *remote)
{
	struct who_leaks who = { .ctx = ctx, .remote = remote };
	struct hyptrace_error err;
	struct who_events events;
	uint8_t owner;
	int code;

	/* A hypervisor that is not in protected mode owns no pages. */
	if (hyptrace_get_page_owners(ctx->h, remote->name, 0, 1, &owner, &err))
		return cmd_fail("cannot look for leaks: %s", err.text);
	code = who_get_events(ctx, remote->name, &events);
	if (code)
		return code;
	if (page_leaks_init(&who.leaks, PAGE_LEAKS_MAX_PAGES, events.formats))
		code = look_into_rings(&who);
	else
		code = cmd_fail("cannot look for leaks: the hypercalls of \"%s\" have no names",
				remote->name);
	page_leaks_free(&who.leaks);
	who_free_events(&events);
	return code;
}

/* Read all events of the file. Return 0 or a negative errno. */
static int add_file(struct who_leaks *who, struct hyptrace_file *file, struct hyptrace_error *err)
{
	const struct hyptrace_stream_event *event;
	int ret;

	while ((ret = hyptrace_file_next(file, &event, err)) != -ENODATA) {
		if (ret == -EBADMSG) {
			cmd_note("\"%s\": %s", who->path, err->text);
			who->rings.damaged++;
		} else if (ret < 0) {
			return ret;
		} else if (ret) {
			page_leaks_add(&who->leaks, event->cpu, &event->record);
		}
	}
	return 0;
}

/* Filters of the recording may have refused events that are needed. */
static void note_filters(struct who_leaks *who, const struct hyptrace_file *file)
{
	const struct hyptrace_file_cpu *const *cpus;
	uint64_t filtered = 0;
	unsigned int nr, i;

	cpus = hyptrace_file_cpus(file, &nr);
	for (i = 0; i < nr; i++)
		filtered += cpus[i]->has_counts ? cpus[i]->filtered : 0;
	note_filtered(who, filtered);
}

static int look_into_file(struct who_leaks *who, struct hyptrace_file *file)
{
	const struct page_leaks *leaks = &who->leaks;
	struct hyptrace_error err;
	int code;

	if (add_file(who, file, &err))
		return cmd_fail("cannot read \"%s\": %s", who->path, err.text);
	if (!leaks->calls || (leaks->nr_gone && !leaks->transitions))
		return cmd_fail("cannot look for leaks in \"%s\": it holds no event %s (use \"hyptrace record -e mem_transition,host_hcall\")",
				who->path, leaks->calls ? "mem_transition" : "host_hcall");
	note_filters(who, file);
	who->list = page_leaks_list(&who->leaks, &who->counts);
	code = print_all(who);
	free(who->list);
	return code;
}

int who_leaks_file(struct context *ctx, const char *path)
{
	struct who_leaks who = { .ctx = ctx, .path = path };
	struct hyptrace_file *file;
	struct hyptrace_error err;
	int code;

	cmd_make_printer(ctx);
	file = hyptrace_file_open(path, &err);
	if (!file)
		return cmd_fail("cannot read \"%s\": %s", path, err.text);
	if (page_leaks_init(&who.leaks, PAGE_LEAKS_MAX_PAGES, hyptrace_file_formats(file)))
		code = look_into_file(&who, file);
	else
		code = cmd_fail("cannot look for leaks in \"%s\": it has no events mem_transition and host_hcall with the names of hypercalls",
				path);
	page_leaks_free(&who.leaks);
	hyptrace_file_close(file);
	return code;
}
