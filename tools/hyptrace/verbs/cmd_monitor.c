// SPDX-License-Identifier: GPL-2.0-only
/* hyptrace monitor: print changes of state as they happen, or wait until triggers have fired. */
#include <ctype.h>

#include "output/clock.h"
#include "output/die.h"
#include "output/printer.h"
#include "session/loop.h"
#include "session/select.h"

/* Bytes of "23:59:59.999999" and its NUL */
#define TIME_MAX	16

#define OPT_TIMEOUT	0x200

/* The line in which a remote was last printed */
struct known {
	char	name[HYPTRACE_REMOTE_NAME_MAX + 1];
	char	*text;
};

struct monitor {
	struct context	*ctx;
	uint64_t	count;		/* end after so many lines; 0 for no limit */
	uint64_t	seen;		/* lines printed */
	struct known	*known;		/* the remotes that were printed */
	unsigned int	nr_known;

	bool		until_fired;
	const char	*timeout;	/* argument of --timeout, or NULL */
	uint64_t	nsec;		/* what it means */
	const char	*name;		/* of the remote that has the triggers */
	unsigned int	nr_fired;	/* events that have fired and were printed */
	bool		goes_on;	/* it records some sub-buffers more */
	bool		was_armed;
	bool		is_late;	/* the time is over */
};

/* wait takes only the last one */
static const struct argp_option options[] = {
	{ "count", 'n', "N", 0, "End after N lines", 0 },
	{ "until-fired", OPTION_FLAG(struct monitor, until_fired), NULL, 0,
	  "Print only triggers that fire, and end when all have that can", 0 },
	{ "timeout", OPT_TIMEOUT, "TIME", 0,
	  "Give up after this time, such as 2s or 500ms, with exit code 2", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct monitor *mon = state->input;

	switch (key) {
	case 'n':
		return parse_number(arg, UINT64_MAX, &mon->count) && mon->count ? 0 :
		       cmd_usage("bad count \"%s\": use a number from 1", arg);
	case OPT_TIMEOUT:
		mon->timeout = arg;
		return parse_time(arg, &mon->nsec) && mon->nsec <= INT64_MAX ? 0 :
		       cmd_usage("bad timeout \"%s\": use a number and ms, s, m or h", arg);
	case ARGP_KEY_END:
		if (mon->until_fired && mon->count)
			return cmd_usage("--count and --until-fired exclude each other");
		if (mon->timeout && !mon->until_fired)
			return cmd_usage("--timeout needs --until-fired");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* Begin a line: the time, the remote and @fmt in text; the time, @change and the remote in JSON. */
static __attribute__((format(printf, 4, 5))) void begin_line(struct monitor *mon,
							     const char *change,
							     const char *remote,
							     const char *fmt, ...)
{
	auto_free char *text = NULL;
	struct printer *p = mon->ctx->p;
	char time[TIME_MAX];
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	clock_time_of_day(clock_now(CLOCK_REALTIME), time, sizeof(time));
	printer_line(p, !strcmp(change, "loss") ? STYLE_BAD : STYLE_PLAIN, "%s %s %s: %s", time,
		     !strcmp(change, "removed") ? "remote" : change, remote, text);
	printer_str(p, "time", time);
	printer_str(p, "change", change);
	printer_str(p, "remote", remote);
}

/* Forget how a remote, or all remotes if @name is NULL, was last printed. */
static void forget(struct monitor *mon, const char *name)
{
	unsigned int i;

	for (i = mon->nr_known; i--; ) {
		if (name && strcmp(mon->known[i].name, name))
			continue;
		free(mon->known[i].text);
		mon->known[i] = mon->known[--mon->nr_known];
	}
}

static void print_event(struct monitor *mon, const struct hyptrace_event *event)
{
	auto_free char *trigger = event->trigger ? trigger_text(event) : NULL;
	struct printer *p = mon->ctx->p;

	begin_line(mon, "event", event->remote, "%s %s%s%s%s%s%s", event->name,
		   event->enabled ? "enabled" : "disabled",
		   event->filter ? ", filter " : "", event->filter ?: "",
		   trigger ? ", trigger: " : "", trigger ?: "", event->counted ? ", counted" : "");
	printer_str(p, "event", event->name);
	printer_uint(p, "id", event->id);
	printer_bool(p, "enabled", event->enabled);
	printer_str(p, "filter", event->filter);
	trigger_print_keys(p, event);
	printer_bool(p, "counted", event->counted);
}

static void print_trigger(struct monitor *mon, const struct hyptrace_remote *remote)
{
	const char *name = hyptrace_trigger_name(HYPTRACE_TRIGGER_ACTION_NOTIFY);
	struct printer *p = mon->ctx->p;
	auto_free char *text = NULL;

	if (remote->nr_fired) {
		text = firing_text(remote, 0);
		begin_line(mon, "trigger", remote->name, "%s", text);
		firing_print_keys(p, remote, 0);
		return;
	}
	/* the trigger notify: there is no single event */
	begin_line(mon, "trigger", remote->name,
		   "%s, fired %" PRIu64 " time%s since the rings were loaded", name,
		   remote->notified, remote->notified == 1 ? "" : "s");
	printer_str(p, "trigger", name);
	printer_u64(p, "notified", remote->notified);
}

static void print_reader(struct monitor *mon, const struct hyptrace_reader_notification *reader)
{
	const char *change = reader->change == HYPTRACE_READER_CHANGE_ATTACHED ?
			     "attached" : "detached";
	struct printer *p = mon->ctx->p;
	char cpus[16] = "all CPUs";

	if (reader->cpu != HYPTRACE_CPU_ALL)
		snprintf(cpus, sizeof(cpus), "CPU %d", reader->cpu);
	begin_line(mon, "reader", reader->remote, "%s, process %u %s", cpus, reader->pid, change);
	if (reader->cpu == HYPTRACE_CPU_ALL)
		printer_none(p, "cpu");
	else
		printer_int(p, "cpu", reader->cpu);
	printer_uint(p, "pid", reader->pid);
	printer_str(p, "reader", change);
}

/* End a line, and count it; return 1 if there are enough. */
static int end_line(struct monitor *mon)
{
	printer_end(mon->ctx->p);
	return ++mon->seen == mon->count;
}

/* The driver also notifies changes that are in no line: do not repeat the last one. */
static int print_change(struct monitor *mon, const struct hyptrace_remote *remote)
{
	char *text = xasprintf("%s, mode %s, %" PRIu64 " bytes requested, %" PRIu64 " bytes allocated, %u reader%s",
			       hyptrace_state_name(remote->state), hyptrace_mode_name(remote->mode),
			       remote->size_requested, remote->size_allocated, remote->readers,
			       remote->readers == 1 ? "" : "s");
	struct printer *p = mon->ctx->p;
	struct known *known;

	for (known = mon->known; known < mon->known + mon->nr_known; known++) {
		if (!strcmp(known->name, remote->name) && !strcmp(known->text, text)) {
			free(text);
			return 0;
		}
	}
	begin_line(mon, "remote", remote->name, "%s", text);
	forget(mon, remote->name);
	known = xappend(mon->known, mon->nr_known);
	snprintf(known->name, sizeof(known->name), "%s", remote->name);
	known->text = text;
	printer_str(p, "state", hyptrace_state_name(remote->state));
	printer_str(p, "mode", hyptrace_mode_name(remote->mode));
	printer_size(p, "size_requested", remote->size_requested);
	printer_size(p, "size_allocated", remote->size_allocated);
	printer_uint(p, "readers", remote->readers);
	return end_line(mon);
}

static int print_notification(const struct hyptrace_notification *notification, void *arg)
{
	struct monitor *mon = ((struct loop *)arg)->arg;
	/* a notification has one of these */
	const char *remote = notification->event ? notification->event->remote :
			     notification->reader ? notification->reader->remote :
			     notification->loss ? notification->loss->remote :
						  notification->remote->name;
	const struct hyptrace_loss_notification *loss;
	struct printer *p = mon->ctx->p;

	/* after each of them until_fired() looks at the remote */
	if (mon->until_fired || (mon->ctx->remote && strcmp(mon->ctx->remote, remote)))
		return 0;

	switch (notification->type) {
	case HYPTRACE_NOTIFICATION_REMOTE:
		return print_change(mon, notification->remote);
	case HYPTRACE_NOTIFICATION_REMOTE_GONE:
		forget(mon, notification->remote->name);
		begin_line(mon, "removed", notification->remote->name, "removed");
		break;
	case HYPTRACE_NOTIFICATION_EVENT:
		print_event(mon, notification->event);
		break;
	case HYPTRACE_NOTIFICATION_READER:
		print_reader(mon, notification->reader);
		break;
	case HYPTRACE_NOTIFICATION_LOSS:
		loss = notification->loss;
		begin_line(mon, "loss", remote, "CPU %u, %" PRIu64 " event%s, %" PRIu64 " in total",
			   loss->cpu, loss->count, loss->count == 1 ? "" : "s", loss->total);
		printer_uint(p, "cpu", loss->cpu);
		printer_uint(p, "count", loss->count);
		printer_uint(p, "total", loss->total);
		break;
	case HYPTRACE_NOTIFICATION_TRIGGER:
		if (!notification->remote->nr_fired && !notification->remote->notified)
			return 0;
		print_trigger(mon, notification->remote);
		break;
	}
	return end_line(mon);
}

/* After a loss; a change meanwhile is also notified. Return 1 if there are enough lines. */
static int print_state(struct monitor *mon, struct hyptrace_error *err)
{
	auto_remotes struct hyptrace_remote **remotes = NULL;
	struct context *ctx = mon->ctx;
	char time[TIME_MAX];
	unsigned int nr, i, j;
	int ret;

	clock_time_of_day(clock_now(CLOCK_REALTIME), time, sizeof(time));
	printer_line(ctx->p, STYLE_BAD, "%s notifications were lost because hyptrace read too slowly; the current state follows:",
		     time);
	printer_str(ctx->p, "time", time);
	printer_str(ctx->p, "change", "overflow");
	forget(mon, NULL);
	if (end_line(mon))
		return 1;
	ret = hyptrace_get_remotes(ctx->h, &remotes, &nr, err);
	for (i = 0; !ret && i < nr; i++) {
		auto_events struct hyptrace_event **events = NULL;
		const char *name = remotes[i]->name;
		unsigned int nr_events;

		if (ctx->remote && strcmp(ctx->remote, name))
			continue;
		ret = print_change(mon, remotes[i]);
		/* the remote may be unregistered: that has its own notification */
		if (ret || hyptrace_get_events(ctx->h, name, &events, &nr_events, NULL))
			continue;
		for (j = 0; j < nr_events && !ret; j++) {
			print_event(mon, events[j]);
			ret = end_line(mon);
		}
	}
	return ret;
}

/* Print what has fired since the last call. Return whether there is more to wait for. */
static bool print_fired(struct monitor *mon, const struct hyptrace_remote *remote)
{
	struct printer *p = mon->ctx->p;

	/* The triggers were armed again, or the recording has ended: print the stop again. */
	if (remote->nr_fired < mon->nr_fired)
		mon->nr_fired = 0;
	else if (mon->goes_on && remote->has_ended)
		mon->nr_fired--;
	for (; mon->nr_fired < remote->nr_fired; mon->nr_fired++) {
		auto_free char *text = firing_text(remote, mon->nr_fired);

		printer_line(p, STYLE_PLAIN, "%s", text);
		printer_str(p, "remote", mon->name);
		firing_print_keys(p, remote, mon->nr_fired);
		printer_end(p);
		out_flush(&mon->ctx->out);
	}
	mon->goes_on = mon->nr_fired && firing_goes_on(remote, mon->nr_fired - 1);
	return remote->is_armed || mon->goes_on;
}

/* Print what has fired. Return an exit code, or LOOP_WAIT if more will fire. */
static int look_at_fired(struct monitor *mon)
{
	auto_remote struct hyptrace_remote *remote = NULL;
	struct hyptrace_error err;

	if (hyptrace_get_remote(mon->ctx->h, mon->name, &remote, &err))
		return cmd_fail("cannot wait for \"%s\": %s", mon->name, err.text);
	/* While tracing is off, what has fired may be of triggers that are gone. */
	if ((mon->was_armed || remote->state == HYPTRACE_STATE_TRACING) &&
	    print_fired(mon, remote)) {
		mon->was_armed = true;
		return LOOP_WAIT;
	}
	if (mon->nr_fired)
		return EXIT_DONE;
	if (mon->was_armed)
		return cmd_fail("cannot wait for \"%s\": tracing or its triggers were switched off",
				mon->name);
	return cmd_fail("cannot wait for \"%s\": no trigger is armed (use \"hyptrace enable EVENT --stop\" or \"--start\", then \"hyptrace start\")",
			mon->name);
}

/* First the notifications that arrived before a loss were printed. */
static int after_news(struct loop *l, bool lost)
{
	struct monitor *mon = l->arg;
	struct hyptrace_error err;
	int ret;

	if (mon->until_fired)
		return look_at_fired(mon);
	ret = lost ? print_state(mon, &err) : 0;
	return ret < 0 ? cmd_fail("cannot monitor: %s", err.text) : ret ? EXIT_DONE : LOOP_WAIT;
}

static bool stop(struct loop *l)
{
	struct monitor *mon = l->arg;

	mon->is_late = true;
	return false;
}

static int run(struct monitor *mon)
{
	static const struct loop_ops ops = {
		.hear = print_notification, .heard = after_news, .stop = stop,
	};
	const uint64_t begin = clock_now(CLOCK_MONOTONIC);
	struct loop loop = LOOP(mon->ctx, &ops, mon);
	auto_remote struct hyptrace_remote *remote = NULL;
	struct context *ctx = mon->ctx;
	struct hyptrace_error err;
	int code = cmd_connect(ctx);

	if (!code && (ctx->remote || mon->until_fired))
		code = cmd_get_remote(ctx, &remote);
	if (code)
		return code;
	/* a signal ends the waiting at once: no trigger has fired */
	if (!mon->until_fired && signals_catch() < 0)
		return cmd_fail("cannot catch signals: %s", strerror(errno));
	ctx->out.abandon = &signals_abandon;
	/* Listen before the first look: what fires after it is notified. */
	loop.listener = hyptrace_listener_open(ctx->h, &err);
	mon->name = remote ? remote->name : NULL;
	if (!loop.listener && mon->until_fired)
		code = cmd_fail("cannot wait for \"%s\": %s", mon->name, err.text);
	else if (!loop.listener)
		code = cmd_fail("cannot monitor: %s", err.text);
	else
		code = mon->until_fired ? look_at_fired(mon) : LOOP_WAIT;
	if (code == LOOP_WAIT) {
		loop.ignores_output = mon->until_fired;
		if (mon->timeout)
			loop.deadline = begin + mon->nsec;
		code = loop_run(&loop);
	}
	if (mon->until_fired && mon->is_late)
		code = cmd_fail(mon->goes_on ?
				"the recording of \"%s\" has not ended within %s%s" :
				mon->nr_fired ?
				"not all triggers of \"%s\" have fired within %s%s" :
				"no trigger of \"%s\" has fired within %s%s",
				mon->name, mon->timeout,
				isdigit((unsigned char)mon->timeout[strlen(mon->timeout) - 1]) ?
				" s" : "");
	hyptrace_listener_close(loop.listener);
	forget(mon, NULL);
	free(mon->known);
	return code;
}

static int cmd_monitor(struct context *ctx, int argc, char **argv)
{
	struct monitor mon = { .ctx = ctx, .until_fired = !strcmp(ctx->verb->name, "wait") };

	cmd_parse(ctx, argc, argv, &mon, NULL, NULL);
	return run(&mon);
}

static const struct verb verbs[] VERBS = {
	{ "wait", cmd_monitor, "Wait until triggers have fired.", VERB_WATCH + 10, false, .argp = {
		.options = options + 2,
		.parser = parse,
		.doc = "Short for \"hyptrace monitor --until-fired\": wait until all triggers have fired that can fire, and print the events: name, CPU, time, and what they did. With --after, wait until the recording has ended, too. If all of that has happened already since tracing was started, do not wait.",
	  } },
	{ "monitor", cmd_monitor, "Print changes of state as they happen.",
	  VERB_WATCH + 11, false, .argp = {
		.options = options,
		.parser = parse,
		.doc = "Print a line for each change of a remote, an event or a reader, for each loss, and for each trigger that fires, until a signal comes. With --until-fired, wait for triggers as \"hyptrace wait\".",
	  } },
};
