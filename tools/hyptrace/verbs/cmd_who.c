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

#include "lib/hyptrace_file.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "output/clock.h"
#include "output/die.h"
#include "output/message.h"
#include "output/printer.h"
#include "session/choice.h"
#include "session/select.h"
#include "view/pages/who.h"

/* The options and the state of the verb */
struct who {
	struct context		*ctx;	/* the verb's context */
	struct words		words;
	uint64_t		number;	/* the page that was given */
	bool			is_address;	/* it is an address */
	/* name of the file; NULL: ask the hypervisor and look into the rings */
	const char		*path;
	uint64_t		page_size;	/* bytes of a page */
	uint8_t			owner;	/* the hypervisor's answer */
	bool			leaks;	/* look for pages that were not given back */
	struct snapshots	rings;	/* what is known about the rings */
	struct page_history	history;
};

static const struct argp_option options[] = {
	{ "address", 'a', NULL, 0, "PAGE is a physical address, not a page frame number", 0 },
	{ "leaks", 'l', NULL, 0,
	  "List the pages that VMs have taken and that have not come back after their teardown",
	  0 },
	{ 0 }
};

/* With --leaks there is no page. */
static error_t parse_leaks(struct who *who)
{
	if (who->is_address)
		return cmd_usage("--address cannot be combined with --leaks, which looks at all pages");
	if (who->words.nr > 1)
		return cmd_usage("unexpected argument \"%s\"", who->words.words[1]);
	if (who->words.nr)
		who->path = who->words.words[0];
	return 0;
}

static error_t parse_page(struct who *who)
{
	if (!who->words.nr)
		return cmd_usage("no page is given: use a page frame number such as 0x812f3, or an address with --address");
	if (!parse_number(who->words.words[0], UINT64_MAX, &who->number))
		return cmd_usage("bad page \"%s\": use a page frame number such as 0x812f3, or an address with --address",
				 who->words.words[0]);
	if (who->words.nr > 2)
		return cmd_usage("unexpected argument \"%s\"", who->words.words[2]);
	if (who->words.nr > 1)
		who->path = who->words.words[1];
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct who *who = state->input;

	switch (key) {
	case 'a':
		who->is_address = true;
		return 0;
	case 'l':
		who->leaks = true;
		return 0;
	case ARGP_KEY_ARG:
		cmd_add_word(&who->words, arg);
		return 0;
	case ARGP_KEY_END:
		return who->leaks ? parse_leaks(who) : parse_page(who);
	}
	return ARGP_ERR_UNKNOWN;
}

#define DOC \
	"Print who owns a page of memory now, as the hypervisor answers, and the changes of its " \
	"owner that are in the rings, each with the hypercall that made it. Nothing is consumed. " \
	"With FILE, print the changes in a trace file; \"live\" is the default. The changes come " \
	"from the events mem_transition and host_hcall, which must have been enabled. " \
	"With --leaks, replay these events, and list the pages that were donated to or " \
	"shared with the hypervisor or a guest whose VM was torn down since, and that have not " \
	"come back. The exit code is 3 if there are any."

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "PAGE|--leaks [FILE|live]",
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
	who_add_change(p, change);
	printer_end(p);
}

/* Nothing is known about the page: it may be none. */
static void note_address(const struct who *who)
{
	if (!who->is_address && who->number >= who->page_size)
		cmd_note("0x%" PRIx64 " is taken as a page frame number: if it is an address, use --address",
			 who->number);
}

static void note_gaps(const struct who *who)
{
	const struct page_history *history = &who->history;

	if (who->path ? !history->nr : who->owner == HYPTRACE_OWNERSHIP_NO_MEMORY)
		note_address(who);
	who_note_losses(history->lost, history->lost_more, history->lost_before, who->rings.read);
	if (!who->path && !who->rings.has_rings)
		cmd_note("there is no history: the rings are not loaded (" WHO_ENABLE ")");
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

static void add_record(void *arg, unsigned int cpu, const struct hyptrace_record *rec)
{
	page_history_add(arg, cpu, rec);
}

static int who_live(struct who *who, const struct hyptrace_remote *remote)
{
	struct hyptrace_error err;
	struct who_events events;
	int code;

	who->page_size = sysconf(_SC_PAGESIZE);
	if (hyptrace_get_page_owners(who->ctx->h, remote->name, page_of(who), 1, &who->owner,
				     &err)) {
		code = cmd_fail("cannot ask \"%s\" for the owner of page 0x%" PRIx64 ": %s",
				remote->name, page_of(who), err.text);
		note_address(who);
		return code;
	}
	code = who_get_events(who->ctx, remote->name, &events);
	if (code)
		return code;
	page_history_init(&who->history, page_of(who), events.formats);
	code = snapshots_read(who->ctx, remote, add_record, &who->history, &who->rings);
	if (!code)
		print_all(who);
	page_history_free(&who->history);
	who_free_events(&events);
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
	struct hyptrace_file *file;
	struct hyptrace_error err;
	int code = EXIT_DONE;

	cmd_make_printer(who->ctx);
	file = hyptrace_file_open(who->path, &err);
	if (!file)
		return cmd_fail("cannot read \"%s\": %s", who->path, err.text);
	/* A sub-buffer is a page. */
	who->page_size = hyptrace_file_info(file)->subbuf_size;
	page_history_init(&who->history, page_of(who), hyptrace_file_formats(file));
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

static int cmd_who(struct context *ctx, int argc, char **argv)
{
	struct who who = { .ctx = ctx };
	struct hyptrace_remote *remote;
	int code;

	cmd_parse(ctx, &argp, argc, argv, &who);
	if (who.path && !strcmp(who.path, "live"))
		who.path = NULL;
	free(who.words.words);
	if (who.path)
		return who.leaks ? who_leaks_file(ctx, who.path) : who_file(&who);
	code = cmd_connect(ctx);
	if (!code)
		code = cmd_get_remote(ctx, &remote);
	if (code)
		return code;
	code = who.leaks ? who_leaks_live(ctx, remote) : who_live(&who, remote);
	hyptrace_free_remote(remote);
	return code;
}

static const struct verb verbs[] VERBS = {
	{ "who", cmd_who, "Print who owns a page, and how it got there.", VERB_WATCH + 8, false },
};
