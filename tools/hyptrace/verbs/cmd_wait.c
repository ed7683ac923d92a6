// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace wait: wait until a trigger has started or stopped the recording.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hyptrace.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "output/clock.h"
#include "output/die.h"
#include "output/message.h"
#include "output/printer.h"
#include "session/select.h"
#include "session/trigger.h"
#include "verbs.h"

enum {
	OPT_TIMEOUT = 0x200,
};

#define MSEC_PER_SEC	1000
#define TIMEOUT_MAX	(INT_MAX / MSEC_PER_SEC)

static const struct argp_option options[] = {
	{ "timeout", OPT_TIMEOUT, "S", 0, "Give up after S seconds, with exit code 2", 0 },
	{ 0 }
};

/**
 * struct waiting - the options and the state of the verb
 * @ctx:	the verb's context
 * @name:	the remote
 * @timeout:	seconds, if @has_timeout
 * @has_timeout: --timeout was given
 * @end:	when to give up, by CLOCK_MONOTONIC
 * @nr_printed:	how many of the events that have fired were printed
 * @goes_on:	the recording goes on for some sub-buffers after the last of them
 */
struct waiting {
	struct context	*ctx;
	const char	*name;
	uint64_t	timeout;
	bool		has_timeout;
	uint64_t	end;
	unsigned int	nr_printed;
	bool		goes_on;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct waiting *waiting = state->input;

	switch (key) {
	case OPT_TIMEOUT:
		if (!parse_number(arg, TIMEOUT_MAX, &waiting->timeout))
			return cmd_usage("bad timeout \"%s\": use a number of seconds up to %u",
					 arg, TIMEOUT_MAX);
		waiting->has_timeout = true;
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

/* Wait for a notification. Return 0, or -ETIME, or another negative errno. */
static int wait_for_change(struct waiting *waiting, struct hyptrace_listener *listener,
			   struct hyptrace_error *err)
{
	struct pollfd fd = { .fd = hyptrace_listener_fd(listener), .events = POLLIN };
	int timeout = -1, ret;
	uint64_t now;

	if (waiting->has_timeout) {
		now = clock_now(CLOCK_MONOTONIC);
		if (now >= waiting->end)
			return -ETIME;
		timeout = (waiting->end - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC;
	}
	if (poll(&fd, 1, timeout) < 0)
		return -errno;
	/* If some were lost, there may be more of them. */
	do {
		ret = hyptrace_listener_read(listener, ignore, NULL, err);
	} while (ret == -ENOBUFS);
	return ret;
}

static int wait_until_fired(struct waiting *waiting, struct hyptrace_listener *listener)
{
	struct hyptrace_remote *remote;
	struct hyptrace_error err;
	bool again, was_armed = false;
	int ret;

	for (;;) {
		if (hyptrace_get_remote(waiting->ctx->h, waiting->name, &remote, &err))
			return cmd_fail("cannot wait for \"%s\": %s", waiting->name, err.text);
		/* While tracing is off, what has fired may be of triggers that are gone. */
		again = (was_armed || remote->state == HYPTRACE_STATE_TRACING) &&
			print_fired(waiting, remote);
		hyptrace_free_remote(remote);
		if (!again && waiting->nr_printed)
			return EXIT_DONE;
		if (!again && was_armed)
			return cmd_fail("cannot wait for \"%s\": tracing or its triggers were switched off",
					waiting->name);
		if (!again)
			return cmd_fail("cannot wait for \"%s\": no trigger is armed (use \"hyptrace enable EVENT --stop\" or \"--start\", then \"hyptrace start\")",
					waiting->name);
		was_armed = true;

		ret = wait_for_change(waiting, listener, &err);
		if (ret == -ETIME && waiting->goes_on)
			return cmd_fail("the recording of \"%s\" has not ended within %u s",
					waiting->name, (unsigned int)waiting->timeout);
		if (ret == -ETIME && waiting->nr_printed)
			return cmd_fail("not all triggers of \"%s\" have fired within %u s",
					waiting->name, (unsigned int)waiting->timeout);
		if (ret == -ETIME)
			return cmd_fail("no trigger of \"%s\" has fired within %u s", waiting->name,
					(unsigned int)waiting->timeout);
		if (ret)
			return cmd_fail("cannot wait for \"%s\": %s", waiting->name,
					strerror(-ret));
	}
}

int cmd_wait(struct context *ctx, int argc, char **argv)
{
	struct waiting waiting = { .ctx = ctx };
	struct hyptrace_listener *listener;
	struct hyptrace_remote *remote;
	struct hyptrace_error err;
	int code;

	cmd_parse(ctx, &argp, argc, argv, &waiting);
	waiting.end = clock_now(CLOCK_MONOTONIC) + waiting.timeout * NSEC_PER_SEC;
	code = cmd_connect(ctx);
	if (!code)
		code = cmd_get_remote(ctx, &remote);
	if (code)
		return code;

	waiting.name = remote->name;
	/* Listen first: what fires after the first look is notified. */
	listener = hyptrace_listener_open(ctx->h, &err);
	if (listener)
		code = wait_until_fired(&waiting, listener);
	else
		code = cmd_fail("cannot wait for \"%s\": %s", remote->name, err.text);
	hyptrace_listener_close(listener);
	hyptrace_free_remote(remote);
	return code;
}
