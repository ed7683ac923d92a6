// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace wait: wait until a trigger has started or stopped the recording.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/hyptrace.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "output/clock.h"
#include "output/die.h"
#include "output/message.h"
#include "output/printer.h"
#include "session/loop.h"
#include "session/select.h"
#include "session/trigger.h"

enum {
	OPT_TIMEOUT = 0x200,
};

static const struct argp_option options[] = {
	{ "timeout", OPT_TIMEOUT, "TIME", 0,
	  "Give up after this time, such as 2s or 500ms, with exit code 2", 0 },
	{ 0 }
};

struct waiting {
	struct context	*ctx;
	const char	*name;		/* of the remote */
	const char	*timeout;	/* argument of --timeout, or NULL */
	uint64_t	nsec;		/* what it means */
	unsigned int	nr_printed;	/* events that have fired and were printed */
	/* the recording goes on for some sub-buffers after the last one */
	bool		goes_on;
	bool		was_armed;
	bool		is_late;	/* the time is over */
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct waiting *waiting = state->input;

	switch (key) {
	case OPT_TIMEOUT:
		waiting->timeout = arg;
		if (!parse_time(arg, &waiting->nsec) || waiting->nsec > INT64_MAX)
			return cmd_usage("bad timeout \"%s\": use a time such as 2s or 500ms",
					 arg);
		return 0;
	case ARGP_KEY_ARG:
		return cmd_usage("unexpected argument \"%s\"", arg);
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Wait until all triggers have fired that can fire, and print the events: name, CPU, time, and what they did. With --after, wait until the recording has ended, too. If all of that has happened already since tracing was started, do not wait.",
};

static void print_firing(struct waiting *waiting, const struct hyptrace_remote *remote,
			 unsigned int which)
{
	char *text = firing_text(remote, which);
	struct printer *p = waiting->ctx->p;

	printer_line(p, STYLE_PLAIN, "%s", text);
	printer_str(p, "remote", waiting->name);
	firing_print_keys(p, remote, which);
	printer_end(p);
	out_flush(&waiting->ctx->out);
	free(text);
}

/* Print what has fired since the last call. Return whether there is more to wait for. */
static bool print_fired(struct waiting *waiting, const struct hyptrace_remote *remote)
{
	/* The triggers were armed again, or the recording has ended: print the stop again. */
	if (remote->nr_fired < waiting->nr_printed)
		waiting->nr_printed = 0;
	else if (waiting->goes_on && remote->has_ended)
		waiting->nr_printed--;
	for (; waiting->nr_printed < remote->nr_fired; waiting->nr_printed++)
		print_firing(waiting, remote, waiting->nr_printed);
	waiting->goes_on = waiting->nr_printed && firing_goes_on(remote, waiting->nr_printed - 1);
	return remote->is_armed || waiting->goes_on;
}

static int ignore(const struct hyptrace_notification *notification, void *arg)
{
	(void)notification;
	(void)arg;
	return 0;
}

/* Print what has fired. Return an exit code, or LOOP_WAIT if more will fire. */
static int look(struct waiting *waiting)
{
	struct hyptrace_remote *remote;
	struct hyptrace_error err;
	bool again;

	if (hyptrace_get_remote(waiting->ctx->h, waiting->name, &remote, &err))
		return cmd_fail("cannot wait for \"%s\": %s", waiting->name, err.text);
	/* While tracing is off, what has fired may be of triggers that are gone. */
	again = (waiting->was_armed || remote->state == HYPTRACE_STATE_TRACING) &&
		print_fired(waiting, remote);
	hyptrace_free_remote(remote);
	if (again) {
		waiting->was_armed = true;
		return LOOP_WAIT;
	}
	if (waiting->nr_printed)
		return EXIT_DONE;
	if (waiting->was_armed)
		return cmd_fail("cannot wait for \"%s\": tracing or its triggers were switched off",
				waiting->name);
	return cmd_fail("cannot wait for \"%s\": no trigger is armed (use \"hyptrace enable EVENT --stop\" or \"--start\", then \"hyptrace start\")",
			waiting->name);
}

static int look_again(struct loop *l, bool lost)
{
	(void)lost;
	return look(l->arg);
}

static bool give_up(struct loop *l)
{
	struct waiting *waiting = l->arg;

	waiting->is_late = true;
	return false;
}

static int fail_late(const struct waiting *waiting)
{
	const char *arg = waiting->timeout, last = arg[strlen(arg) - 1];
	const char *unit = last >= '0' && last <= '9' ? " s" : "";

	if (waiting->goes_on)
		return cmd_fail("the recording of \"%s\" has not ended within %s%s",
				waiting->name, arg, unit);
	if (waiting->nr_printed)
		return cmd_fail("not all triggers of \"%s\" have fired within %s%s",
				waiting->name, arg, unit);
	return cmd_fail("no trigger of \"%s\" has fired within %s%s", waiting->name, arg, unit);
}

static int wait_until_fired(struct waiting *waiting, struct hyptrace_listener *listener,
			    uint64_t begin)
{
	static const struct loop_ops ops = {
		.hear = ignore, .heard = look_again, .stop = give_up,
	};
	struct loop l = LOOP(waiting->ctx, &ops, waiting);
	int code = look(waiting);

	if (code != LOOP_WAIT)
		return code;
	l.listener = listener;
	l.ignores_output = true;
	if (waiting->timeout)
		l.deadline = begin + waiting->nsec;
	code = loop_run(&l);
	return waiting->is_late ? fail_late(waiting) : code;
}

static int cmd_wait(struct context *ctx, int argc, char **argv)
{
	struct waiting waiting = { .ctx = ctx };
	struct hyptrace_listener *listener;
	struct hyptrace_remote *remote;
	struct hyptrace_error err;
	uint64_t begin;
	int code;

	cmd_parse(ctx, &argp, argc, argv, &waiting);
	begin = clock_now(CLOCK_MONOTONIC);
	code = cmd_connect(ctx);
	if (!code)
		code = cmd_get_remote(ctx, &remote);
	if (code)
		return code;

	waiting.name = remote->name;
	/* Listen first: what fires after the first look is notified. */
	listener = hyptrace_listener_open(ctx->h, &err);
	if (listener)
		code = wait_until_fired(&waiting, listener, begin);
	else
		code = cmd_fail("cannot wait for \"%s\": %s", remote->name, err.text);
	hyptrace_listener_close(listener);
	hyptrace_free_remote(remote);
	return code;
}

static const struct verb verbs[] VERBS = {
	{ "wait", cmd_wait, "Wait until triggers have fired.", VERB_WATCH + 9, false },
};
