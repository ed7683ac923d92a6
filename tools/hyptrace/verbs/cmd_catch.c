// SPDX-License-Identifier: GPL-2.0-only
/* hyptrace catch: wait for events, or find them in a file, and print what surrounds them. */
#include "output/die.h"
#include "view/catch/catch.h"
#include "view/graph/graph.h"

#define AFTER_MAX	1000

#define KEEP_DEFAULT	10
#define RATE_DEFAULT	6
#define NUMBER_MAX	100000

enum {
	OPT_AFTER = 0x200,
	OPT_SNAPSHOT,
	OPT_KEEP,
	OPT_LIMIT,
	OPT_RATE,
	OPT_IDLE,
};

static const struct argp_option options[] = {
	{ "after", OPT_AFTER, "N", 0, "Print N events that its CPU records after it, too", 0 },
	{ "graph", OPTION_FLAG(struct catcher, is_graph), NULL, 0,
	  "Print the functions of EL2 that the call of each such event has called; EL2 records no others",
	  0 },
	{ "file", 'o', "FILE", 0, "Save what the rings hold around each event to FILE", 0 },
	{ "snapshot", OPT_SNAPSHOT, "DIR", 0,
	  "Do not print events: save what the rings hold to a file in DIR each time, also after SIGUSR1 and when a trigger stops the recording",
	  0 },
	{ "keep", OPT_KEEP, "N", 0, "With --snapshot: keep the last N files (10; 0 for all)", 0 },
	{ "limit", OPT_LIMIT, "SIZE", 0, "With --snapshot: keep no more than SIZE in all", 0 },
	{ "rate", OPT_RATE, "N/min", 0, "With --snapshot: save at most N times in a minute (6)",
	  0 },
	{ "idle", OPT_IDLE, "TIME", 0,
	  "With --snapshot: save also when no event has come for TIME", 0 },
	{ 0 }
};

/* Parse "EVENT && FILTER": whoever evaluates the filter parses that. */
static error_t parse_condition(struct catcher *c, const char *arg)
{
	static const char blanks[] = " \t\n";
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	const char *begin = arg + strspn(arg, blanks), *rest;

	if (c->what)
		return cmd_usage("unexpected argument \"%s\": quote the condition, and put \"--\" before a command",
				 arg);
	c->what = arg;
	c->name = xstrndup(begin, strspn(begin, letters));
	rest = begin + strlen(c->name);
	rest += strspn(rest, blanks);
	if (*c->name && !*rest)
		return 0;
	if (!*c->name || strncmp(rest, "&&", 2))
		return cmd_usage("bad condition \"%s\": use EVENT, or EVENT && FILTER, such as \"host_hcall && duration > 50us\"",
				 arg);
	c->text = rest + 2;
	return 0;
}

static bool parse_rate(const char *arg, uint64_t *rate)
{
	auto_free char *number = xstrndup(arg, strcspn(arg, "/"));
	const char *unit = arg + strlen(number);

	return (!*unit || !strcmp(unit, "/min")) && parse_number(number, NUMBER_MAX, rate) && *rate;
}

static int check_options(const struct catcher *c)
{
	if (c->session.path && (c->path || c->dir))
		return cmd_usage("--input reads a file: it takes no --%s",
				 c->path ? "file" : "snapshot");
	if (c->path && c->dir)
		return cmd_usage("--snapshot saves what the rings hold: it takes no --file");
	if (c->is_graph && (c->path || c->dir || c->after || c->session.choice.words.nr ||
			    c->session.choice.filter))
		return cmd_usage("--graph prints functions: it takes no --after, --event, --file, --filter and --snapshot");
	if (!c->dir && (c->is_limited || c->idle))
		return cmd_usage("--keep, --limit, --rate and --idle need --snapshot");
	if (c->dir && (c->after || c->session.choice.filter || c->lines.time ||
		       c->lines.nanoseconds))
		return cmd_usage("--snapshot prints no events: it takes no --after, --filter, --time and --ns");
	if (!c->what && !c->dir)
		return cmd_usage("no event given: use a name, or a name and a condition, such as \"host_hcall && duration > 50us\"");
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct catcher *c = state->input;

	c->is_limited |= key == OPT_KEEP || key == OPT_LIMIT || key == OPT_RATE;
	switch (key) {
	case OPT_AFTER:
		return parse_number(arg, AFTER_MAX, &c->after) ? 0 :
		       cmd_usage("bad --after \"%s\": use a number of events up to %d", arg,
				 AFTER_MAX);
	case 'o':
		c->path = arg;
		if (!strcmp(arg, "-"))
			return cmd_usage("the standard output has the events that are caught: name a file");
		return *arg ? 0 : cmd_usage("the name of the file is empty");
	case OPT_SNAPSHOT:
		c->dir = arg;
		return *arg ? 0 : cmd_usage("the name of the folder is empty");
	case OPT_KEEP:
		return parse_number(arg, NUMBER_MAX, &c->keep) ? 0 :
		       cmd_usage("bad --keep \"%s\": use a number of files up to %d", arg,
				 NUMBER_MAX);
	case OPT_LIMIT:
		return parse_size(arg, &c->bytes) && c->bytes ? 0 :
		       cmd_usage("bad --limit \"%s\": use bytes, or K, M, G or T", arg);
	case OPT_RATE:
		return parse_rate(arg, &c->rate) ? 0 :
		       cmd_usage("bad --rate \"%s\": use a number from 1 to %d, such as 6/min",
				 arg, NUMBER_MAX);
	case OPT_IDLE:
		return parse_time(arg, &c->idle) && c->idle ? 0 :
		       cmd_usage("bad --idle \"%s\": use a time, such as 500ms or 10s", arg);
	case ARGP_KEY_ARG:
		return parse_condition(c, arg);
	case ARGP_KEY_END:
		return check_options(c);
	}
	return ARGP_ERR_UNKNOWN;
}

static void take(struct session *s, const struct hyptrace_stream_event *events, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		catch_take(s->arg, &events[i]);
}

static int find_in_file(struct catcher *c)
{
	struct session *s = &c->session;
	const struct hyptrace_file_info *info = hyptrace_file_info(s->file);
	unsigned int i;
	int code;

	for (i = 0; i < info->nr_cpus; i++)
		xappend(c->cpus, c->nr_cpus)->id = info->cpus[i]->id;
	c->finder = catch_finder_new(c->nr_cpus, c->after);
	c->is_armed = true;
	code = session_run(s);
	catch_flush(c, true);
	session_note_counts(s, "event", c->nr_caught, "caught");
	return code;
}

/* Print the functions of the calls with such events. */
static int show_graph(struct catcher *c)
{
	static struct graph g;

	g.session = &c->session;
	g.lines = c->lines;
	g.caught = c->event;
	g.condition = c->filter;
	g.limit = c->limit;
	c->session.ops = &graph_ops;
	c->session.arg = &g;
	return graph_run(&g);
}

static int cmd_catch(struct context *ctx, int argc, char **argv)
{
	static const struct session_ops ops = { .batch = take };
	static struct catcher c = { .keep = KEEP_DEFAULT, .rate = RATE_DEFAULT };
	struct session *s = &c.session;
	int code;

	/* the standard output has the events */
	s->child.no_stdout = true;
	session_parse(s, ctx, &ops, argc, argv, &c);
	c.limit = s->count;
	if (c.is_graph)
		s->takes |= SESSION_BOUND | SESSION_HOLDS_FILTERS | SESSION_GAPS;
	code = session_open(s) ?: catch_choose(&c) ?:
	       (c.is_graph ? show_graph(&c) : lines_begin(&c.lines, s, s->clock, s->formats) ?:
		s->file ? find_in_file(&c) : c.dir ? catch_save(&c) : catch_live(&c));
	lines_end(&c.lines);
	catch_finder_free(c.finder);
	hyptrace_filter_free(c.filter);
	free(c.cpus);
	free(c.name);
	return session_close(s, code);
}

static const struct verb verbs[] VERBS = {
	{ "catch", cmd_catch, "Wait for events, and print what surrounds them.",
	  VERB_WATCH + 5, true,
	  .takes = SESSION_QUIET | SESSION_EVENT | SESSION_FILTER | SESSION_INPUT | SESSION_TIMES |
		   SESSION_COUNT | SESSION_DURATION | SESSION_COMMAND | SESSION_WORDS,
	  .child = &lines_time_argp, .child_input = offsetof(struct catcher, lines),
	  .argp = {
		.options = options,
		.parser = parse,
		.args_doc = "['EVENT [&& FILTER]'] [-- COMMAND...]",
		.doc = "Wait for events that meet a condition, until a signal comes, or COMMAND has ended. Print each of them with what its CPU recorded before, what the other CPUs recorded meanwhile, and how long such events usually take. EL2 itself looks for them, and the recording does not stop. --event and --filter choose what is printed around them. At the end all events are enabled and filtered as before. With --input, find such events in a file instead. With --snapshot, be a black box. With COMMAND, its exit code is returned.",
	  } },
};
