// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace strace: print hypercalls, calls of firmware and exits of guests, as strace prints system
 * calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "output/die.h"
#include "output/message.h"
#include "session/gaps.h"
#include "session/select.h"
#include "view/calls/strace_run.h"

#define TRACE_HELP \
	"Print only these calls: names or globs of hypercalls, of SMC, PSCI and FF-A functions, of exits, or of their events, with commas between them; \"!\" before them excludes them; may be repeated"

#define FILTER_HELP \
	"Print only calls that meet the condition, such as \"ret == -EPERM || duration > 50us\""

#define PID_HELP \
	"Print only calls of the VM that this process runs, or of the VM with this handle, such as 0x1000; may be repeated"

static const struct argp_option options[] = {
	{ "summary-only", 'c', NULL, 0, "Print no calls, but a table of them at the end", 0 },
	{ "syscall-times", 'T', NULL, 0, "Print the time that each call took", 0 },
	{ "trace", 'e', "CALLS", 0, TRACE_HELP, 0 },
	{ "filter", 'F', "FILTER", 0, FILTER_HELP, 0 },
	{ "pid", 'p', "VM", 0, PID_HELP, 0 },
	{ "input", 'i', "FILE", 0, "Read the calls from a file that hyptrace has recorded", 0 },
	{ "file", 'o', "FILE", 0, "Write the calls to FILE; COMMAND has the standard output", 0 },
	{ "quiet", 'q', NULL, 0, "Print no notes; losses and errors are still printed", 0 },
	{ 0 }
};

static error_t parse_argument(struct strace *s, char *arg, struct argp_state *state)
{
	/* argp has the place of the first argument after "--" */
	if (!state->quoted || state->next <= state->quoted)
		return cmd_usage("unexpected argument \"%s\": put \"--\" before a command (\"hyptrace strace -- %s\"), and -e before names of calls",
				 arg, arg);
	if (!s->child.argv)
		s->child.argv = &state->argv[state->next - 1];
	state->next = state->argc;
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct strace *s = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &s->lines;
		return 0;
	case 'q':
		s->lines.quiet = true;
		return 0;
	case 'c':
		s->summarize = true;
		return 0;
	case 'T':
		s->times = true;
		return 0;
	case 'e':
		if (!strace_choice_add(&s->choice, arg))
			return cmd_usage("no call given: use names or globs, such as \"__pkvm_*\", or \"!\" and names");
		return 0;
	case 'F':
		s->filter = arg;
		return 0;
	case 'p':
		if (!strace_vms_add(&s->vms, arg))
			return cmd_usage("bad VM \"%s\": use the number of its process, or its handle, such as 0x1000",
					 arg);
		return 0;
	case 'i':
		s->path = arg;
		return *arg ? 0 : cmd_usage("the name of the file is empty");
	case 'o':
		s->output = arg;
		return *arg ? 0 : cmd_usage("the name of the file is empty");
	case ARGP_KEY_ARG:
		return parse_argument(s, arg, state);
	case ARGP_KEY_END:
		if (s->path && s->child.argv)
			return cmd_usage("--input reads a file: it takes no command");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = {
	{ &lines_time_argp, 0, NULL, 0 },
	{ 0 }
};

#define DOC \
	"Print hypercalls, SMCs, PSCI and FF-A calls of the host, and exits of guests, until a signal comes, or COMMAND or the VM has ended. A call is printed when it ends, after the calls that it has made, which are indented. The calls of all VMs are printed, also with COMMAND, which writes to the standard error. When the trace ends, all events are enabled and filtered as before. With COMMAND, its exit code is returned."

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.children = children,
	.args_doc = ARGS_COMMAND,
	.doc = DOC,
};

static int fail(const struct strace *s, const struct hyptrace_error *err)
{
	return cmd_fail("cannot read \"%s\": %s", s->path, err->text);
}

/* Take the events of the file. Return an exit code. */
static int run_file(struct strace *s, struct hyptrace_file *file)
{
	const struct hyptrace_stream_event *event;
	struct hyptrace_error err;
	int ret, code = EXIT_DONE;

	while (!s->ctx->out.error) {
		ret = hyptrace_file_next(file, &event, &err);
		if (ret == -ENODATA)
			break;
		if (ret == -EBADMSG) {
			out_flush(&s->ctx->out);
			cmd_note("\"%s\": %s", s->path, err.text);
			code = EXIT_REFUSED;
		} else if (ret < 0) {
			return fail(s, &err);
		} else if (ret > 0) {
			/* the file has no time in which a call could wait too long */
			strace_event(s, event, 1);
			strace_flush(s, 0);
		}
	}
	return code;
}

static int begin_file(struct strace *s, struct hyptrace_file *file)
{
	const struct hyptrace_file_info *info = hyptrace_file_info(file);
	const struct cpu_list *list = &s->ctx->cpus;
	struct hyptrace_hypercall *const *hypercalls;
	unsigned int nr_hypercalls;
	struct hyptrace_error err;

	s->lines.has_offset = info->offset;
	s->lines.offset = info->offset;
	if (lines_begin(&s->lines, s->ctx, info->clock ? info->clock : "",
			hyptrace_file_formats(file), &err))
		return fail(s, &err);
	if (s->ctx->have_cpus && !list->all &&
	    hyptrace_file_set_cpus(file, list->ids, list->nr, &err))
		return fail(s, &err);
	hypercalls = hyptrace_file_hypercalls(file, &nr_hypercalls);
	return strace_begin(s, s->path, hyptrace_file_formats(file), hypercalls, nr_hypercalls);
}

static int strace_file(struct strace *s)
{
	struct hyptrace_file_counts counts;
	struct hyptrace_file *file;
	struct hyptrace_error err;
	int code;

	cmd_make_printer(s->ctx);
	file = hyptrace_file_open(s->path, &err);
	if (!file)
		return fail(s, &err);
	if (!s->lines.quiet)
		gaps_note_file(file, s->path);
	code = begin_file(s, file);
	if (!code) {
		code = run_file(s, file);
		strace_finish(s);
		hyptrace_file_counts(file, &counts, sizeof(counts));
		strace_print_counts(s, "", counts.lost, counts.lost_more);
	}
	lines_end(&s->lines);
	hyptrace_file_close(file);
	return code;
}

/* Trace a remote, and run the command if there is one. */
static int strace_command(struct strace *s)
{
	int code;

	/* the standard output has the calls */
	s->child.no_stdout = !s->output;
	code = child_prepare(&s->child);
	if (!code)
		code = cmd_connect(s->ctx);
	if (!code)
		code = strace_live(s);
	/* a signal also ends the command */
	child_stop(&s->child);
	return code ? code : s->child.code;
}

/* The file of --file takes the place of the standard output. Return an exit code. */
static int open_output(struct strace *s)
{
	struct stat input, output;

	if (!s->output)
		return EXIT_DONE;
	if (s->path && !stat(s->path, &input) && !stat(s->output, &output) &&
	    input.st_dev == output.st_dev && input.st_ino == output.st_ino)
		return cmd_fail("cannot write to \"%s\": it is the file to read", s->output);
	s->ctx->color = false;
	s->ctx->out.fd = open(s->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (s->ctx->out.fd >= 0)
		return EXIT_DONE;
	s->ctx->out.fd = STDOUT_FILENO;
	return cmd_fail("cannot write to \"%s\": %s", s->output, strerror(errno));
}

static int cmd_strace(struct context *ctx, int argc, char **argv)
{
	struct strace s = { .ctx = ctx, .child.pidfd = -1 };
	int code;

	cmd_parse(ctx, &argp, argc, argv, &s);
	code = open_output(&s);
	if (!code)
		code = s.path ? strace_file(&s) : strace_command(&s);
	strace_free(&s);
	hyptrace_filters_free(s.filters);
	return code;
}

static const struct verb verbs[] VERBS = {
	{ "strace", cmd_strace, "Print hypercalls, firmware calls and guest exits.",
	  VERB_WATCH + 2, true },
};
