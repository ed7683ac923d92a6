// SPDX-License-Identifier: GPL-2.0-only
/* hyptrace strace: print hypercalls, calls of firmware and exits of guests, as strace does. */
#include <fcntl.h>
#include <sys/stat.h>

#include "output/die.h"
#include "view/calls/strace.h"

static const struct argp_option options[] = {
	{ "summary-only", 'c', NULL, 0, "Print no calls, but a table of them at the end", 0 },
	{ "csv", OPTION_FLAG(struct strace, csv), NULL, 0,
	  "Print the table as comma-separated values", 0 },
	{ "syscall-times", 'T', NULL, 0, "Print the time that each call took", 0 },
	{ "trace", 'e', "CALLS", 0,
	  "Print only these calls: names or globs of hypercalls, of SMC, PSCI and FF-A functions, of exits, or of their events, with commas between them; \"!\" before them excludes them; may be repeated",
	  0 },
	{ "event", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 0 },
	{ "pid", 'p', "VM", 0,
	  "Print only calls of the VM that this process runs, or of the VM with this handle, such as 0x1000; may be repeated",
	  0 },
	{ "file", 'o', "FILE", 0, "Write the calls to FILE; COMMAND has the standard output", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct strace *s = state->input;

	switch (key) {
	case 'c':
		s->summarize = true;
		return 0;
	case 'T':
		s->times = true;
		return 0;
	case 'e':
		return strace_choice_add(&s->choice, arg) ? 0 :
		       cmd_usage("no call given: use names or globs, such as \"__pkvm_*\", or \"!\" and names");
	case 'p':
		return strace_vms_add(&s->vms, arg) ? 0 :
		       cmd_usage("bad VM \"%s\": use the number of its process, or its handle, such as 0x1000",
				 arg);
	case 'o':
		s->output = arg;
		return *arg ? 0 : cmd_usage("the name of the file is empty");
	case ARGP_KEY_ARG:
		return cmd_usage("unexpected argument \"%s\": put \"--\" before a command (\"hyptrace strace -- %s\"), and -e before names of calls",
				 arg, arg);
	case ARGP_KEY_END:
		if (s->csv && (!s->summarize || s->session.ctx->json))
			return cmd_usage("--csv prints the table of calls: use it with -c and without --json");
		if (s->summarize && s->session.pmu.nr)
			return cmd_usage("--pmu prints counts of each call: for means use \"hyptrace stat --by hcall --pmu\"");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static int cmd_strace(struct context *ctx, int argc, char **argv)
{
	struct stat input, output;
	static struct strace s;
	int code = EXIT_DONE;

	session_parse(&s.session, ctx, &strace_ops, argc, argv, &s);
	/* the standard output has the calls */
	s.session.child.no_stdout = !s.output;
	ctx->csv = s.csv;
	if (s.output && s.session.path && !stat(s.session.path, &input) &&
	    !stat(s.output, &output) && input.st_dev == output.st_dev &&
	    input.st_ino == output.st_ino) {
		code = cmd_fail("cannot write to \"%s\": it is the file to read", s.output);
	} else if (s.output) {
		/* it takes the place of the standard output */
		ctx->color = false;
		ctx->out.fd = open(s.output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		if (ctx->out.fd < 0)
			code = cmd_fail("cannot write to \"%s\": %s", s.output, strerror(errno));
		ctx->out.fd = code ? STDOUT_FILENO : ctx->out.fd;
	}
	code = code ?: session_open(&s.session) ?: strace_begin(&s);
	if (!code) {
		code = session_run(&s.session);
		strace_finish(&s);
	}
	strace_free(&s);
	code = session_close(&s.session, code);
	if (s.output)
		out_flush(&ctx->out);
	/* the message names the file: main() would call it the output */
	if (s.output && out_has_failed(&ctx->out)) {
		code = cmd_fail("cannot write to \"%s\": %s", s.output, strerror(ctx->out.error));
		ctx->out.error = 0;
	}
	return code;
}

static const struct verb verbs[] VERBS = {
	{ "strace", cmd_strace, "Print hypercalls, firmware calls and guest exits.",
	  VERB_WATCH + 2, true,
	  .takes = SESSION_QUIET | SESSION_FILTER | SESSION_INPUT | SESSION_TIMES | SESSION_COUNT |
		   SESSION_DURATION | SESSION_COMMAND | SESSION_BOUND | SESSION_WORDS |
		   SESSION_HOLDS_FILTERS | SESSION_GAPS | SESSION_PMU,
	  .child = &lines_time_argp, .child_input = offsetof(struct strace, lines),
	  .argp = {
		.options = options,
		.parser = parse,
		.args_doc = ARGS_COMMAND,
		.doc = "Print hypercalls, SMCs, PSCI and FF-A calls of the host, and exits of guests, until a signal comes, or COMMAND or the VM has ended. A call is printed when it ends, after the calls that it has made, which are indented. The calls of all VMs are printed, also with COMMAND, which writes to the standard error. When the trace ends, all events are enabled and filtered as before. With COMMAND, its exit code is returned.",
	  } },
};
