// SPDX-License-Identifier: GPL-2.0-only
/*
 * Catch events: set the trigger at EL2, and wait until the driver notifies that it has fired. At
 * the end the kernel restores the event.
 *
 * The trigger stops nothing, so there is no time in which an event could not fire. EL2 counts the
 * firings of each CPU. What it has counted, and what was not in the ring any more, was missed.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/args.h"
#include "output/clock.h"
#include "output/die.h"
#include "output/message.h"
#include "session/event_hold.h"
#include "session/select.h"
#include "session/signals.h"
#include "catch.h"

/* Descriptors to wait for */
#define FDS		4

/* How long to wait for the events after one that was caught, before the rings are read again */
#define AGE_MSEC	100

/* What notifications have said */
struct waiting {
	const struct catcher	*c;
	bool			has_fired;	/* the trigger has fired */
	/* somebody else has changed the trigger, or disabled the event */
	bool			has_changed;
	bool			has_stopped;	/* tracing was switched off */
};

static bool is_trigger_set(const struct hyptrace_event *event)
{
	return event->enabled && event->trigger == HYPTRACE_TRIGGER_ACTION_NOTIFY;
}

static int see(const struct hyptrace_notification *notification, void *arg)
{
	const struct hyptrace_remote *remote = notification->remote;
	const struct hyptrace_event *event = notification->event;
	struct waiting *waiting = arg;
	const struct catcher *c = waiting->c;

	if (event && !strcmp(event->remote, c->remote->name) && event->id == c->event->id)
		waiting->has_changed |= !is_trigger_set(event);
	if (!remote || strcmp(remote->name, c->remote->name))
		return 0;
	if (notification->type == HYPTRACE_NOTIFICATION_TRIGGER)
		waiting->has_fired = true;
	else
		waiting->has_stopped |= notification->type == HYPTRACE_NOTIFICATION_REMOTE_GONE ||
					remote->state != HYPTRACE_STATE_TRACING;
	return 0;
}

static int ignore(const struct hyptrace_notification *notification, void *arg)
{
	(void)notification;
	(void)arg;
	return 0;
}

/* Notifications were lost or ignored: ask for what they would have said. */
static void ask(struct waiting *waiting)
{
	const struct catcher *c = waiting->c;
	struct hyptrace_remote *remote;
	struct hyptrace_event *event;

	waiting->has_fired = true;
	if (hyptrace_get_remote(c->ctx->h, c->remote->name, &remote, NULL)) {
		waiting->has_stopped = true;
		return;
	}
	waiting->has_stopped |= remote->state != HYPTRACE_STATE_TRACING;
	hyptrace_free_remote(remote);
	if (hyptrace_get_event(c->ctx->h, c->remote->name, c->event->name, &event, NULL))
		return;
	waiting->has_changed |= !is_trigger_set(event);
	hyptrace_free_event(event);
}

static int read_notifications(struct waiting *waiting)
{
	struct hyptrace_error err;
	bool were_lost = false;
	int ret;

	do {
		ret = hyptrace_listener_read(waiting->c->listener, see, waiting, &err);
		were_lost |= ret == -ENOBUFS;
	} while (ret == -ENOBUFS);
	if (were_lost)
		ask(waiting);
	return ret ? cmd_fail("cannot wait for events: %s", err.text) : EXIT_DONE;
}

/* Count the events of a CPU that have fired, but were neither found nor missed so far. */
static uint64_t count_open(const struct catch_cpu *cpu, uint64_t notified, uint64_t found)
{
	const uint64_t known = cpu->base + found + cpu->missed;

	return notified > known ? notified - known : 0;
}

/* All events of a CPU that had fired at a time were taken: print how many were not in its ring. */
static void find_missed(struct catcher *c, struct catch_cpu *cpu, uint64_t notified, uint64_t found)
{
	const uint64_t missed = count_open(cpu, notified, found);

	if (!missed)
		return;
	cpu->missed += missed;
	catch_print_missed(c, cpu->id, missed);
}

/* Compare what has fired until now, once all of that was taken. */
static void ask_counts(struct catcher *c, uint64_t now)
{
	struct catch_progress *progress = &c->progress;
	unsigned int i;

	if (progress->asked_at)
		return;
	for (i = 0; i < c->nr_cpus; i++) {
		c->cpus[i].asked = c->cpus[i].notified;
		c->cpus[i].asked_found = catch_finder_found(c->finder, i);
	}
	progress->asked_at = now;
	progress->asked_ahead = progress->ahead;
	progress->read_at = 0;
}

/*
 * Compare what has fired with what was found. While the CPUs go on to fire, newer events were
 * found, too, and must not stand for those that were missed. At the end nothing fires any more.
 */
static void compare_counts(struct catcher *c, bool at_end)
{
	const struct catch_progress *progress = &c->progress;
	const bool is_past = catch_is_past(c);
	struct catch_cpu *cpu = c->cpus;
	unsigned int i;
	uint64_t found;

	for (i = 0; i < c->nr_cpus; i++, cpu++) {
		found = catch_finder_found(c->finder, i);
		/* if EL2's clock was further ahead than known, nobody knows which ones are newer */
		if (is_past && !at_end)
			find_missed(c, cpu, cpu->asked, progress->ahead > progress->asked_ahead ?
				    found : cpu->asked_found);
		if (at_end)
			find_missed(c, cpu, cpu->notified, found);
		cpu->waits = count_open(cpu, cpu->notified, found);
	}
	if (is_past)
		c->progress.asked_at = 0;
}

/* Have events fired that were not taken yet, since they are too young? */
static bool any_waits(const struct catcher *c)
{
	unsigned int i;

	for (i = 0; i < c->nr_cpus; i++)
		if (c->cpus[i].waits)
			return true;
	return !c->progress.is_empty;
}

/* Read how many events have fired on each CPU. Return an exit code. */
static int read_notified(struct catcher *c)
{
	struct hyptrace_cpu **cpus;
	struct hyptrace_error err;
	unsigned int nr, i, j;

	if (hyptrace_get_cpus(c->ctx->h, c->remote->name, &cpus, &nr, &err))
		return cmd_fail("cannot list the CPUs of \"%s\": %s", c->remote->name, err.text);
	for (i = 0; i < c->nr_cpus; i++)
		for (j = 0; j < nr; j++)
			if (cpus[j]->id == c->cpus[i].id)
				c->cpus[i].notified = cpus[j]->notified;
	hyptrace_free_cpus(cpus);
	return EXIT_DONE;
}

/*
 * Take what the rings hold, and print it. EL2 counts an event when it is in the ring. So what was
 * counted before the rings are read is there, or was overwritten. At the end, when nothing fires
 * any more, all is taken. Return an exit code.
 */
static int look(struct catcher *c, bool at_end)
{
	int code = read_notified(c);

	if (code)
		return code;
	ask_counts(c, clock_now(CLOCK_BOOTTIME));
	catch_forget_counters(c);
	code = at_end ? catch_read_all(c) : catch_read(c);
	if (!code)
		compare_counts(c, at_end);
	out_flush(&c->ctx->out);
	return code;
}

/* Let the time pass for events that wait for those which follow. */
static void age(struct catcher *c, uint64_t *last)
{
	const uint64_t now = clock_now(CLOCK_MONOTONIC);

	if (now - *last < AGE_MSEC * NSEC_PER_MSEC)
		return;
	*last = now;
	catch_finder_age(c->finder);
	catch_flush(c, false);
	out_flush(&c->ctx->out);
}

/* How long to wait for a notification, until the rings are read again: -1 for no limit */
static int wait_msec(const struct catcher *c)
{
	if (!c->progress.is_empty)
		return 0;
	if (any_waits(c))
		return CATCH_ORDER_NSEC / NSEC_PER_MSEC;
	return catch_finder_waits(c->finder) ? AGE_MSEC : -1;
}

/* Wait for notifications, and print what they are about, until the end. Return an exit code. */
static int run(struct catcher *c, int signal_fd)
{
	struct waiting waiting = { .c = c };
	uint64_t last_age = clock_now(CLOCK_MONOTONIC);
	struct pollfd fds[FDS] = {
		{ .fd = hyptrace_listener_fd(c->listener), .events = POLLIN },
		{ .fd = signal_fd, .events = POLLIN },
		/* an error or a hang-up: nobody reads the output any more */
		{ .fd = STDOUT_FILENO },
		/* poll() ignores a negative one */
		{ .fd = c->child.pidfd, .events = POLLIN },
	};
	int code = EXIT_DONE;

	/* arm() has ignored what others have changed meanwhile. */
	ask(&waiting);
	while (!code && !catch_has_enough(c)) {
		if (waiting.has_fired || any_waits(c) || catch_finder_waits(c->finder))
			code = look(c, false);
		age(c, &last_age);
		waiting.has_fired = false;
		if (!code && waiting.has_changed) {
			/* somebody else's wish is what counts now */
			c->is_overridden = true;
			return cmd_fail("cannot go on to catch \"%s\": somebody else has disabled it or changed its trigger",
					c->event->name);
		}
		if (!code && waiting.has_stopped)
			return cmd_fail("cannot go on to catch \"%s\": tracing was switched off",
					c->event->name);
		if (code || catch_has_enough(c))
			break;
		/* if a signal interrupts it, no revents are set */
		poll(fds, FDS, wait_msec(c));
		if (fds[3].revents || fds[2].revents & (POLLERR | POLLHUP | POLLNVAL))
			break;
		code = read_notifications(&waiting);
	}
	return code;
}

/*
 * Set the trigger. Before that, take all events that could not fire: so each one that follows and
 * meets the condition has fired. Return an exit code.
 */
static int arm(struct catcher *c)
{
	struct hyptrace_error err;
	unsigned int i;
	int code;

	if (c->event->enabled && event_hold_disabled(c->ctx->h, c->event, &err))
		return cmd_fail_verb("disable", c->event->name, &err);
	code = catch_read_all(c);
	c->progress.asked_at = 0;
	if (!code)
		code = read_notified(c);
	if (code)
		return code;
	for (i = 0; i < c->nr_cpus; i++)
		c->cpus[i].base = c->cpus[i].notified;
	if (event_hold(c->ctx->h, c->event, c->filter, HYPTRACE_TRIGGER_ACTION_NOTIFY, 0, &err))
		return cmd_fail_verb("catch", c->event->name, &err);
	c->is_armed = true;
	/* what changed until now was changed here */
	while (hyptrace_listener_read(c->listener, ignore, NULL, NULL) == -ENOBUFS)
		;
	return EXIT_DONE;
}

/*
 * Take what has fired at last, and make the event what it was. Return an exit code.
 *
 * If it was enabled, it is recorded without firing again at the end. Such events would be found,
 * too, and stand for those that were missed. So it is disabled until the counts were compared.
 */
static int disarm(struct catcher *c)
{
	struct hyptrace_error err;
	int code;

	if (c->event->enabled && !c->is_overridden &&
	    event_hold_disabled(c->ctx->h, c->event, &err) && err.errnum != ENODEV)
		cmd_note("cannot disable \"%s\": %s", c->event->name, err.text);
	if (!c->event->enabled)
		event_release_all(c->ctx->h, c->remote->name);
	c->is_ending = true;
	code = look(c, true);
	event_release_all(c->ctx->h, c->remote->name);
	catch_flush(c, true);
	out_flush(&c->ctx->out);
	return code;
}

static int begin_file(struct catcher *c)
{
	struct hyptrace_error err;

	if (!c->path)
		return EXIT_DONE;
	c->w = hyptrace_file_create(c->path, c->ctx->h, c->remote->name, 0, c->command, &err);
	return c->w ? EXIT_DONE : cmd_fail("cannot write to %s: %s", c->path, err.text);
}

static int catch_events(struct catcher *c, int signal_fd)
{
	struct hyptrace_error err;
	int code, end;

	c->listener = hyptrace_listener_open(c->ctx->h, &err);
	if (!c->listener)
		return cmd_fail("cannot wait for events of \"%s\": %s", c->remote->name, err.text);
	code = begin_file(c);
	if (code)
		return code;
	c->finder = catch_finder_new(c->nr_cpus, c->after);
	/* what EL2 needs for its counters is no event before the first one that is caught */
	code = catch_begin_counting(c);
	if (!code)
		code = catch_begin_stream(c);
	if (!code)
		code = arm(c);
	if (!code)
		code = child_start(&c->child);
	if (!code) {
		if (!c->lines.quiet)
			cmd_note("waiting for \"%s\" (end with Ctrl-C)", c->what);
		code = run(c, signal_fd);
		end = disarm(c);
		code = code ? code : end;
		end = catch_finish_file(c);
		code = code ? code : end;
	} else if (c->w) {
		/* nothing was caught */
		hyptrace_file_abandon(c->w);
		c->w = NULL;
	}
	end = catch_end_counting(c);
	return code ? code : end;
}

/* Can the remote catch events? Return an exit code. */
static int check(const struct catcher *c)
{
	const struct hyptrace_remote *remote = c->remote;
	unsigned int i;

	if (remote->mode == HYPTRACE_MODE_DISCARD)
		return cmd_fail("cannot catch events of \"%s\": its full rings discard new events (use \"hyptrace set --mode overwrite\")",
				remote->name);
	for (i = 0; i < remote->nr_fired; i++)
		if (remote->state == HYPTRACE_STATE_TRACING &&
		    remote->fired[i].action == HYPTRACE_TRIGGER_ACTION_STOP)
			return cmd_fail("cannot catch events of \"%s\": a trigger has stopped the recording (use \"hyptrace start\" to resume it)",
					remote->name);
	return EXIT_DONE;
}

/* List the CPUs. Return an exit code. */
static int list_cpus(struct catcher *c)
{
	struct hyptrace_cpu **cpus;
	unsigned int nr, i;
	int code;

	code = cmd_get_cpus(c->ctx, c->remote->name, &cpus, &nr);
	if (code)
		return code;
	for (i = 0; i < nr; i++)
		catch_add_cpu(c, cpus[i]->id);
	hyptrace_free_cpus(cpus);
	return EXIT_DONE;
}

static int with_formats(struct catcher *c, int signal_fd)
{
	struct hyptrace_hypercall **calls = NULL;
	struct hyptrace_formats *formats;
	struct hyptrace_error err;
	int code;

	formats = hyptrace_formats_new(c->events, c->nr_events, &err);
	if (formats)
		calls = cmd_name_hypercalls(c->ctx, c->remote->name, formats);
	if (formats && c->filter)
		hyptrace_filter_set_formats(c->filter, formats);
	if (!formats || lines_begin(&c->lines, c->ctx, c->remote->clock, formats, &err))
		code = cmd_fail("cannot catch events of \"%s\": %s", c->remote->name, err.text);
	else
		code = list_cpus(c);
	if (!code)
		code = catch_events(c, signal_fd);
	hyptrace_stream_free(c->stream);
	hyptrace_listener_close(c->listener);
	lines_end(&c->lines);
	hyptrace_formats_free(formats);
	hyptrace_free_hypercalls(calls);
	return code;
}

/* Catch events until the end is requested. Return an exit code. */
int catch_live(struct catcher *c)
{
	struct hyptrace_event **events = NULL;
	struct hyptrace_error err;
	int code, signal_fd;

	code = cmd_get_remote(c->ctx, &c->remote);
	if (code)
		return code;
	code = check(c);
	if (!code && hyptrace_get_events(c->ctx->h, c->remote->name, &events, &c->nr_events, &err))
		code = cmd_fail("cannot list the events of \"%s\": %s", c->remote->name, err.text);
	c->events = events;
	if (!code)
		code = catch_choose(c);
	if (!code) {
		signal_fd = signals_catch();
		c->ctx->out.abandon = &signals_abandon;
		code = signal_fd < 0 ? cmd_fail("cannot catch signals: %s", strerror(errno)) :
				       with_formats(c, signal_fd);
	}
	if (!code)
		catch_print_summary(c);
	hyptrace_free_events(events);
	hyptrace_free_remote(c->remote);
	return code;
}
