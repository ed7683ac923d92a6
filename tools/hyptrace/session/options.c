// SPDX-License-Identifier: GPL-2.0-only
/* The options of a session: the same words and meanings in each verb. */
#include "output/clock.h"
#include "output/die.h"
#include "session.h"

#define BOUND_DEFAULT	(10 * NSEC_PER_MSEC)
#define BOUND_MAX	(60 * NSEC_PER_SEC)

enum {
	OPT_BOUND = 0x500,
	OPT_DURATION,
	OPT_FROM,
	OPT_LAST,
	OPT_PMU,
	OPT_PREVIOUS,
	OPT_TO,
};

#define FROM_HELP \
	"Choose no event before this time: seconds of the file's clock, \"+10ms\" (after the first event) or \"-1s\" (before the last one)"

struct session_option {
	unsigned int		takes;
	struct argp_option	option;
};

static const struct session_option session_options[] = {
	{ SESSION_EVENT, { .name = "event", .key = 'e', .arg = "EVENT", .doc =
	  "Choose these events: names, globs or all, with commas between them; may be repeated" } },
	{ SESSION_FILTER, { .name = "filter", .key = 'F', .arg = "FILTER", .doc =
	  "Choose events that meet the condition, such as \"ret == -EPERM || duration > 50us\"" } },
	{ SESSION_INPUT, { "input", 'i', "FILE", 0, "Read this file", 0 } },
	{ SESSION_INPUT, { "previous-boot", OPT_PREVIOUS, NULL, 0,
			   "Read what the boot before has left (see hyptrace-blackbox(7))", 0 } },
	{ SESSION_TIMES, { "from", OPT_FROM, "TIME", 0, FROM_HELP, 0 } },
	{ SESSION_TIMES, { "to", OPT_TO, "TIME", 0,
	  "Choose no event after this time, likewise", 0 } },
	{ SESSION_FIRST | SESSION_LAST,
	  { "count", 'n', "N", 0, "End after N events; of a file, choose the last N", 0 } },
	{ SESSION_FIRST, { "count", 'n', "N", 0, "End after N events", 0 } },
	{ SESSION_LAST, { "count", 'n', "N", 0, "Choose the last N events", 0 } },
	{ SESSION_COUNT, { "count", 'n', "N", 0,
	  "End after N of these; of a file, choose the last N", 0 } },
	{ SESSION_INTERVALS, { "count", 'n', "N", 0, "End after N intervals", 0 } },
	{ SESSION_LAST, { "last", OPT_LAST, "N", OPTION_HIDDEN, NULL, 0 } },
	{ SESSION_DURATION, { "duration", OPT_DURATION, "TIME", 0,
			      "End after this time, such as 10s or 500ms", 0 } },
	{ SESSION_BOUND, { .name = "order-bound", .key = OPT_BOUND, .arg = "TIME", .doc =
	  "Wait for events of other CPUs for so long (10ms), which keeps all events in order" } },
	{ SESSION_NO_START, { "no-start", OPTION_FLAG(struct session, no_start), NULL, 0,
	  "Do not start tracing; end when it is off and the rings are empty", 0 } },
	{ SESSION_PMU, { "pmu", OPT_PMU, "COUNTERS", 0,
	  "Have the PMU count these during calls, at most 4: names such as cycles,instructions or numbers such as r1b",
	  0 } },
	{ SESSION_QUIET, { "quiet", 'q', NULL, 0,
			   "Print no notes; losses and errors are still printed", 0 } },
};

#define NR_OPTIONS	(sizeof(session_options) / sizeof(session_options[0]))

static error_t parse_bound(struct session *s, const char *arg)
{
	const char last = *arg ? arg[strlen(arg) - 1] : '\0';

	if (!parse_time(arg, &s->bound) || s->bound > BOUND_MAX)
		return cmd_usage("bad time \"%s\": use a number and ns, us, ms or s, up to 60s",
				 arg);
	if (s->bound && last >= '0' && last <= '9')
		return cmd_usage("--order-bound \"%s\" has no unit: add ns, us, ms or s", arg);
	return 0;
}

/* Parse a moment such as 12.5, +10ms or -1s. */
static bool parse_moment(const char *text, struct moment *moment)
{
	moment->kind = *text == '+' ? MOMENT_AFTER_FIRST :
		       *text == '-' ? MOMENT_BEFORE_LAST : MOMENT_ABSOLUTE;
	return parse_time(text + (moment->kind != MOMENT_ABSOLUTE), &moment->ns);
}

static error_t parse_argument(struct session *s, char *arg, struct argp_state *state)
{
	/* argp has moved the arguments before "--" behind it */
	if ((s->takes & SESSION_COMMAND) && state->next > state->argc - s->command_words) {
		s->child.argv = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	}
	if (s->takes & SESSION_WORDS)
		return ARGP_ERR_UNKNOWN;
	if (s->takes & SESSION_FILE && !s->path) {
		s->path = arg;
		return 0;
	}
	if (!(s->takes & SESSION_COMMAND))
		return cmd_usage("unexpected argument \"%s\"", arg);
	return cmd_usage("unexpected argument \"%s\": a command follows \"--\"%s%s", arg,
			 s->takes & SESSION_INPUT ? ", a file --input" : "",
			 s->takes & SESSION_EVENT ? ", events --event" : "");
}

static error_t check(const struct session *s)
{
	if (s->path && (s->duration || s->child.argv))
		return cmd_usage("a file is read: that takes no --duration and no command");
	if (s->path && (s->no_start || s->bound != BOUND_DEFAULT))
		return cmd_usage("a file is read: that takes no --no-start and no --order-bound");
	if ((s->path || (s->takes & SESSION_FILE)) && s->ctx->remote &&
	    !(s->path && hyptrace_is_dump(s->path)))
		return cmd_usage("--remote is for the machine: a file has the events of one remote");
	if (!s->path && !(s->takes & SESSION_FILE) && (s->from.kind || s->to.kind))
		return cmd_usage("--from and --to choose times of a file: name it with --input");
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct session *s = state->input;

	if (cmd_set_flag(key, s))
		return 0;
	switch (key) {
	case 'q':
		s->quiet = true;
		return 0;
	case 'e':
		return cmd_add_words(&s->choice.words, arg);
	case 'F':
		return cmd_set_filter(&s->choice.filter, arg);
	case 'i':
		s->path = arg;
		return *arg ? 0 : cmd_usage("the name of the file is empty");
	case OPT_PREVIOUS:
		s->path = PREVIOUS_PATH;
		return 0;
	case 'n':
		if (!parse_number(arg, UINT64_MAX, &s->count) || !s->count)
			return cmd_usage("bad count \"%s\": use a number from 1", arg);
		return 0;
	case OPT_LAST:
		return cmd_usage("--last is --count now: use \"-n %s\"", arg);
	case OPT_FROM:
	case OPT_TO:
		if (!parse_moment(arg, key == OPT_FROM ? &s->from : &s->to))
			return cmd_usage("bad time \"%s\": use seconds, +TIME (after the first event) or -TIME (before the last one), such as 12.5, +10ms or -1s",
					 arg);
		return 0;
	case OPT_DURATION:
		if (!parse_duration(arg, &s->duration))
			return cmd_usage("bad time \"%s\": use a number and us, ms, s, m or h",
					 arg);
		return 0;
	case OPT_BOUND:
		return parse_bound(s, arg);
	case OPT_PMU:
		return pmu_parse(&s->pmu, arg);
	case ARGP_KEY_ARG:
		return parse_argument(s, arg, state);
	case ARGP_KEY_END:
		/* what reads files reads it as a file */
		if (s->ctx->remote && !strcmp(s->ctx->remote, PREVIOUS_REMOTE) &&
		    (s->takes & SESSION_INPUT) && !s->path) {
			s->path = PREVIOUS_PATH;
			s->ctx->remote = NULL;
		}
		return check(s);
	}
	return ARGP_ERR_UNKNOWN;
}

/* Parse the options of the session and the verb's own, whose parser has the input @arg, or exit. */
void session_parse(struct session *s, struct context *ctx, const struct session_ops *ops, int argc,
		   char **argv, void *arg)
{
	struct argp_option options[NR_OPTIONS + 1] = {};
	const struct argp own = { .options = options, .parser = parse };
	FILE *f = text_open(&s->command_line);
	size_t i, nr = 0;
	int word;

	s->ctx = ctx;
	s->takes = ctx->verb->takes;
	s->ops = ops;
	s->arg = arg;
	/* put the words together before any of them is changed, and count those after "--" */
	fprintf(f, PROGRAM " %s", s->ctx->verb->name);
	for (word = 1; word < argc; word++) {
		fprintf(f, " %s", argv[word]);
		if (!s->command_words && !strcmp(argv[word], "--"))
			s->command_words = argc - word - 1;
	}
	text_close(f, &s->command_line);

	for (i = 0; i < NR_OPTIONS; i++)
		if ((s->takes & session_options[i].takes) == session_options[i].takes &&
		    (!nr || options[nr - 1].key != session_options[i].option.key))
			options[nr++] = session_options[i].option;
	s->bound = BOUND_DEFAULT;
	cmd_parse(s->ctx, argc, argv, arg, &own, s);
	if (s->takes & SESSION_FILE && !s->path)
		s->path = FILE_DEFAULT;
}
