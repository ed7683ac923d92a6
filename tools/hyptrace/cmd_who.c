// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace who: the owner of a page now, and how it got there.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/hyptrace_netlink.h>

#include "../lib/hyptrace_file.h"
#include "clock.h"
#include "cmd.h"
#include "edge_losses.h"
#include "page_history.h"

/**
 * struct who - the options and the state of the verb
 * @ctx:	the verb's context
 * @number:	the number that was given
 * @has_number:	it was given
 * @is_address:	it is an address
 * @path:	name of the file; NULL: ask the hypervisor and look into the rings
 * @page_size:	bytes of a page
 * @owner:	the hypervisor's answer
 * @has_rings:	the rings are loaded
 * @read:	events that a consumer has taken from the rings
 * @history:	the history
 */
struct who {
	struct context		*ctx;
	uint64_t		number;
	bool			has_number;
	bool			is_address;
	const char		*path;
	uint64_t		page_size;
	uint8_t			owner;
	bool			has_rings;
	uint64_t		read;
	struct page_history	history;
};

static const struct argp_option options[] = {
	{ "address", 'a', NULL, 0, "PAGE is a physical address, not a page frame number", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct who *who = state->input;

	switch (key) {
	case 'a':
		who->is_address = true;
		return 0;
	case ARGP_KEY_ARG:
		if (who->has_number && who->path)
			return cmd_usage("unexpected argument \"%s\"", arg);
		if (who->has_number) {
			who->path = arg;
			return 0;
		}
		if (!parse_number(arg, UINT64_MAX, &who->number))
			return cmd_usage("bad page \"%s\": use a page frame number such as 0x812f3, or an address with --address",
					 arg);
		who->has_number = true;
		return 0;
	case ARGP_KEY_END:
		if (!who->has_number)
			return cmd_usage("no page is given: use a page frame number such as 0x812f3, or an address with --address");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

#define DOC \
	"Print who owns a page of memory now, as the hypervisor answers, and the changes of its " \
	"owner that are in the rings, each with the hypercall that made it. Nothing is consumed. " \
	"With FILE, print the changes in a trace file; \"live\" is the default. The changes come " \
	"from the events mem_transition and host_hcall, which must have been enabled."

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "PAGE [FILE|live]",
	.doc = DOC,
};

static uint64_t page_of(const struct who *who)
{
	return who->is_address ? who->number / who->page_size : who->number;
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

static void print_owner(const struct who *who)
{
	const struct page_history *history = &who->history;
	struct printer *p = who->ctx->p;
	bool is_implied;
	uint32_t implied;

	is_implied = page_history_owner(history, &implied);
	if (who->path)
		printer_line(p, STYLE_NAME, "page 0x%" PRIx64 " at the end of \"%s\": %s",
			     history->pfn, who->path,
			     is_implied ? phrase(implied) : "not known, since nothing has changed");
	else
		printer_line(p, STYLE_NAME, "page 0x%" PRIx64 ": %s", history->pfn,
			     phrase(who->owner));
	printer_u64(p, "pfn", history->pfn);
	if (who->path)
		printer_none(p, "owner");
	else
		printer_str(p, "owner", hyptrace_ownership_name(who->owner));
	if (is_implied)
		printer_str(p, "implied", hyptrace_ownership_name(implied));
	else
		printer_none(p, "implied");
	printer_uint(p, "changes", history->nr);
	printer_u64(p, "lost", history->lost);
	printer_bool(p, "lost_more", history->lost_more);
	printer_end(p);
	if (!who->path && is_implied && implied != who->owner)
		cmd_note("the changes imply another owner (%s): some are missing, or the owner has changed meanwhile",
			 hyptrace_ownership_name(implied));
}

static void print_change(struct printer *p, const struct page_change *change)
{
	printer_line(p, change->ret ? STYLE_BAD : STYLE_PLAIN,
		     "[%03u] %5" PRIu64 ".%09" PRIu64 ": %s%s%s%s", change->cpu,
		     change->ts / NSEC_PER_SEC, change->ts % NSEC_PER_SEC,
		     change->ret ? "failed: " : "", change->text, change->call ? " by " : "",
		     change->call ? change->call : "");
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

static void note_gaps(const struct who *who)
{
	const struct page_history *history = &who->history;

	if (history->lost || history->lost_more)
		cmd_note("the history may be incomplete: %" PRIu64 "%s events were lost before %"
			 PRIu64 ".%09" PRIu64, history->lost, history->lost_more ? " or more" : "",
			 history->lost_before / NSEC_PER_SEC, history->lost_before % NSEC_PER_SEC);
	if (who->read)
		cmd_note("the history may be incomplete: a reader has consumed %" PRIu64 " events",
			 who->read);
	if (!who->path && !who->has_rings)
		cmd_note("there is no history: the rings are not loaded (use \"hyptrace enable mem_transition host_hcall\" and \"hyptrace start\")");
}

static void print_all(struct who *who)
{
	unsigned int i;

	page_history_sort(&who->history);
	print_owner(who);
	for (i = 0; i < who->history.nr && !who->ctx->out.error; i++)
		print_change(who->ctx->p, &who->history.changes[i]);
	out_flush(&who->ctx->out);
	note_gaps(who);
}

/* Add the events of a snapshot, and the losses around them. */
static void add_snapshot(struct who *who, const struct hyptrace_cpu *before,
			 struct hyptrace_snapshot *snap, const char *remote)
{
	struct edge_losses edge = { 0 };
	struct hyptrace_record rec;
	struct hyptrace_cpu *after;
	struct hyptrace_error err;
	uint64_t inner = 0, now;
	int ret;

	if (!hyptrace_get_cpu(who->ctx->h, remote, before->id, &after, NULL)) {
		edge_losses_find(&edge, before, after);
		who->read += after->read;
		hyptrace_free_cpu(after);
	}
	now = clock_now(CLOCK_BOOTTIME);
	while ((ret = hyptrace_snapshot_next(snap, &rec, &err))) {
		if (ret < 0) {
			cmd_note("CPU %u: %s: the rest of the sub-buffer is skipped", before->id,
				 err.text);
			continue;
		}
		inner = edge_losses_add(inner, rec.lost);
		rec.lost = edge_losses_add(rec.lost, edge.begin);
		edge.begin = 0;
		page_history_add(&who->history, before->id, &rec);
	}
	inner = edge_losses_add(inner, hyptrace_snapshot_lost(snap));
	page_history_lost(&who->history, now, hyptrace_snapshot_lost(snap));
	page_history_lost(&who->history, now, edge.begin);
	page_history_lost(&who->history, now, edge_losses_end(&edge, inner));
}

static int add_cpu(struct who *who, const struct hyptrace_remote *remote,
		   const struct hyptrace_cpu *cpu)
{
	struct hyptrace_reader *reader;
	struct hyptrace_snapshot *snap;
	struct hyptrace_error err;

	reader = hyptrace_reader_open_snapshot(remote->name, cpu->id, &err);
	/* without rings, or without one of this CPU, there is no history */
	if (!reader && (err.errnum == ENODATA || err.errnum == ENXIO))
		return EXIT_DONE;
	if (!reader)
		return cmd_fail("cannot read CPU %u of \"%s\": %s", cpu->id, remote->name,
				err.text);
	who->has_rings = true;
	snap = hyptrace_snapshot_take(reader, remote->mode, 0, &err);
	hyptrace_reader_close(reader);
	if (!snap)
		return cmd_fail("cannot read CPU %u of \"%s\": %s", cpu->id, remote->name,
				err.text);
	add_snapshot(who, cpu, snap, remote->name);
	hyptrace_snapshot_free(snap);
	return EXIT_DONE;
}

static int add_rings(struct who *who, const struct hyptrace_remote *remote)
{
	struct hyptrace_cpu **cpus;
	unsigned int nr, i;
	int code;

	code = cmd_get_cpus(who->ctx, remote->name, &cpus, &nr);
	if (code)
		return code;
	for (i = 0; i < nr && !code; i++)
		code = add_cpu(who, remote, cpus[i]);
	hyptrace_free_cpus(cpus);
	return code;
}

static int who_live(struct who *who, const struct hyptrace_remote *remote)
{
	struct hyptrace_hypercall **calls;
	struct hyptrace_formats *formats;
	struct hyptrace_event **events;
	struct hyptrace_error err;
	unsigned int nr;
	int code;

	who->page_size = sysconf(_SC_PAGESIZE);
	if (hyptrace_get_page_owners(who->ctx->h, remote->name, page_of(who), 1, &who->owner, &err))
		return cmd_fail("cannot ask \"%s\" for the owner of page 0x%" PRIx64 ": %s",
				remote->name, page_of(who), err.text);
	if (hyptrace_get_events(who->ctx->h, remote->name, &events, &nr, &err))
		return cmd_fail("cannot list the events of \"%s\": %s", remote->name, err.text);
	formats = hyptrace_formats_new(events, nr, &err);
	if (!formats) {
		hyptrace_free_events(events);
		return cmd_fail("cannot read \"%s\": %s", remote->name, err.text);
	}
	calls = cmd_name_hypercalls(who->ctx, remote->name, formats);
	page_history_init(&who->history, page_of(who), formats, events, nr);
	code = add_rings(who, remote);
	if (!code)
		print_all(who);
	page_history_free(&who->history);
	hyptrace_formats_free(formats);
	hyptrace_free_hypercalls(calls);
	hyptrace_free_events(events);
	return code;
}

/* Read all events of the file. Return 0 or a negative errno. */
static int add_file(struct who *who, struct hyptrace_file *file, struct hyptrace_error *err)
{
	const struct hyptrace_stream_event *event;
	int ret;

	for (;;) {
		ret = hyptrace_file_next(file, &event, err);
		if (ret == -ENODATA)
			return 0;
		if (ret == -EBADMSG) {
			cmd_note("\"%s\": %s", who->path, err->text);
			who->history.lost_more = true;
		} else if (ret < 0) {
			return ret;
		} else if (ret) {
			page_history_add(&who->history, event->cpu, &event->record);
		}
	}
}

static int who_file(struct who *who)
{
	struct hyptrace_event *const *events;
	struct hyptrace_file *file;
	struct hyptrace_error err;
	unsigned int nr;
	int code = EXIT_DONE;

	cmd_make_printer(who->ctx);
	file = hyptrace_file_open(who->path, &err);
	if (!file)
		return cmd_fail("cannot read \"%s\": %s", who->path, err.text);
	/* A sub-buffer is a page. */
	who->page_size = hyptrace_file_info(file)->subbuf_size;
	events = hyptrace_file_events(file, &nr);
	page_history_init(&who->history, page_of(who), hyptrace_file_formats(file), events, nr);
	if (!who->history.transition)
		code = cmd_fail("cannot read \"%s\": it has no event mem_transition, so it is not of a hypervisor",
				who->path);
	else if (add_file(who, file, &err))
		code = cmd_fail("cannot read \"%s\": %s", who->path, err.text);
	else
		print_all(who);
	page_history_free(&who->history);
	hyptrace_file_close(file);
	return code;
}

int cmd_who(struct context *ctx, int argc, char **argv)
{
	struct who who = { .ctx = ctx };
	struct hyptrace_remote *remote;
	int code;

	cmd_parse(ctx, &argp, argc, argv, &who);
	if (who.path && !strcmp(who.path, "live"))
		who.path = NULL;
	if (who.path)
		return who_file(&who);
	code = cmd_connect(ctx);
	if (!code)
		code = cmd_get_remote(ctx, &remote);
	if (code)
		return code;
	code = who_live(&who, remote);
	hyptrace_free_remote(remote);
	return code;
}
