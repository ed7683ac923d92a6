// SPDX-License-Identifier: GPL-2.0-only
/* hyptrace page, leaks and who: who owns a page, and the pages that were not given back. */
#include "output/clock.h"
#include "output/die.h"
#include "view/pages/pages.h"

static error_t check(const struct who *who)
{
	const struct session *s = &who->session;

	if (who->csv && s->ctx->json)
		return cmd_usage("--csv and --json exclude each other");
	if (!who->is_leaks && !who->has_page)
		return cmd_usage("no page is given: use a page frame number such as 0x812f3, or an address with --address");
	if (!who->is_leaks || !s->ctx->verb->takes_cpus)
		return 0;
	if (who->is_address)
		return cmd_usage("--address cannot be combined with --leaks, which looks at all pages");
	if (s->count || s->ctx->have_cpus)
		return cmd_usage("--%s cannot be combined with --leaks, which looks at all events",
				 s->count ? "count" : "cpu");
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
		who->is_leaks = true;
		return 0;
	case ARGP_KEY_ARG:
		if (!who->is_leaks && !who->has_page) {
			who->has_page = true;
			return parse_number(arg, UINT64_MAX, &who->page) ? 0 :
			       cmd_usage("bad page \"%s\": use a page frame number such as 0x812f3, or an address with --address",
					 arg);
		}
		if (who->session.path || who->is_live)
			break;
		who->is_live = !strcmp(arg, "live");
		who->session.path = who->is_live ? NULL : arg;
		return 0;
	case ARGP_KEY_END:
		return check(who);
	}
	return ARGP_ERR_UNKNOWN;
}

/* page takes those after the first one, leaks those after the second one */
static const struct argp_option options[] = {
	{ "leaks", 'l', NULL, 0, "Do as \"" PROGRAM " leaks\"", 0 },
	{ "address", 'a', NULL, 0, "PAGE is a physical address, not a page frame number", 0 },
	{ "csv", OPTION_FLAG(struct who, csv), NULL, 0, "Print comma-separated values", 0 },
	{ 0 }
};

static void add(struct session *s, const struct hyptrace_stream_event *events, unsigned int nr)
{
	const struct hyptrace_stream_event *event;
	struct who *who = s->arg;

	for (event = events; event < events + nr; event++) {
		const struct hyptrace_record *rec = &event->record;

		if (rec->lost)
			who->lost_before = rec->ts;
		/* those of a ring after its last event: until now */
		if (rec->lost && !rec->data && !s->path)
			who->lost_before = clock_now(CLOCK_BOOTTIME);
		if (who->is_leaks)
			page_leaks_add(&who->leaks, event->cpu, rec);
		else
			page_history_add(&who->history, event->cpu, rec);
	}
}

static int cmd_who(struct context *ctx, int argc, char **argv)
{
	static const struct session_ops ops = { .batch = add };
	struct who who = { .is_leaks = !strcmp(ctx->verb->name, "leaks") };
	struct session *s = &who.session;
	int code;

	session_parse(s, ctx, &ops, argc, argv, &who);
	/* that of the changes of the page, not of the events */
	who.last = s->count;
	s->count = 0;
	ctx->csv = who.csv;
	code = session_open(s) ?: (who.is_leaks ? leaks_run(&who) : page_run(&who));
	return session_close(s, code);
}

#define TAKES	(SESSION_QUIET | SESSION_INPUT | SESSION_TIMES | SESSION_WORDS | \
		 SESSION_SNAPSHOT | SESSION_NO_RINGS)

static const struct verb verbs[] VERBS = {
	{ "page", cmd_who, "Print who owns a page, and how it got there.", VERB_WATCH + 9, true,
	  .takes = TAKES | SESSION_LAST, .argp = {
		.options = options + 1, .parser = parse, .args_doc = "PAGE [FILE|live]",
		.doc = "Print who owns a page of memory now, as the hypervisor answers, and the changes of its owner that are in the rings, each with the hypercall that made it. Nothing is consumed. With FILE, print the changes in a trace file; \"live\" is the default. The changes come from the events mem_transition and host_hcall, which must have been enabled.",
	  } },
	{ "leaks", cmd_who, "List pages that VMs have not given back.", VERB_WATCH + 9, false,
	  .takes = TAKES, .argp = {
		.options = options + 2, .parser = parse, .args_doc = "[FILE|live]",
		.doc = "Replay the events mem_transition and host_hcall of the rings or of FILE, and list the pages that were donated to or shared with the hypervisor or a guest whose VM was torn down since, and that have not come back. The exit code is 3 if there are any.",
	  } },
	{ "who", cmd_who, "Do as page, or with --leaks as leaks.", VERB_WATCH + 9, true,
	  .takes = TAKES | SESSION_LAST, .argp = {
		.options = options, .parser = parse, .args_doc = "PAGE|--leaks [FILE|live]",
		.doc = "The short name of \"" PROGRAM " page\" and, with --leaks, of \"" PROGRAM " leaks\": see their help.",
	  } },
};
