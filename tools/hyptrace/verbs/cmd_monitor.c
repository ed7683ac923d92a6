// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace monitor: print changes of state as they happen.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
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
#include "session/signals.h"
#include "session/trigger.h"

/* Bytes of "23:59:59.999999" and its NUL */
#define TIME_MAX	16

static const struct argp_option options[] = {
	{ "count", 'n', "N", 0, "End after N lines", 0 },
	{ 0 }
};

/* A remote as it was last printed */
struct known {
	char		name[HYPTRACE_REMOTE_NAME_MAX + 1];	/* its name */
	uint32_t	state;	/* its state */
	uint32_t	mode;	/* its mode */
	uint64_t	requested;	/* requested bytes per CPU */
	uint64_t	allocated;	/* allocated bytes per CPU */
	uint32_t	readers;	/* attached descriptors */
};

/* The options and the state of the verb */
struct monitor {
	struct context	*ctx;	/* the verb's context */
	uint64_t	count;	/* end after so many lines; 0 for no limit */
	uint64_t	seen;	/* lines printed */
	struct known	*known;	/* the remotes that were printed */
	unsigned int	nr_known;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct monitor *mon = state->input;

	switch (key) {
	case 'n':
		if (!parse_number(arg, UINT64_MAX, &mon->count) || !mon->count)
			return cmd_usage("bad count \"%s\": use a number from 1", arg);
		return 0;
	case ARGP_KEY_ARG:
		return cmd_usage("unexpected argument \"%s\"", arg);
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.doc = "Print a line for each change of a remote, an event or a reader, for each loss, and for each trigger that fires, until a signal comes.",
};

/* Begin a line: the time, then @fmt in text and @change in JSON. */
static __attribute__((format(printf, 4, 5))) void begin_line(struct monitor *mon,
							     enum printer_style style,
							     const char *change,
							     const char *fmt, ...)
{
	uint64_t now = clock_now(CLOCK_REALTIME);
	struct printer *p = mon->ctx->p;
	char time[TIME_MAX], *text;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0)
		die_no_memory();
	clock_time_of_day(now, time, sizeof(time));
	printer_line(p, style, "%s %s", time, text);
	printer_str(p, "time", time);
	printer_str(p, "change", change);
	free(text);
}

static struct known *find_known(struct monitor *mon, const char *name)
{
	unsigned int i;

	for (i = 0; i < mon->nr_known; i++)
		if (!strcmp(mon->known[i].name, name))
			return &mon->known[i];
	return NULL;
}

/* Forget how a remote, or all remotes if @name is NULL, was last printed. */
static void forget(struct monitor *mon, const char *name)
{
	struct known *known;

	if (!name) {
		mon->nr_known = 0;
		return;
	}
	known = find_known(mon, name);
	if (known)
		*known = mon->known[--mon->nr_known];
}

/* Was the remote last printed as it is now? If not, remember how it is now. */
static bool is_printed(struct monitor *mon, const struct hyptrace_remote *remote)
{
	struct known now = {
		.state = remote->state,
		.mode = remote->mode,
		.requested = remote->size_requested,
		.allocated = remote->size_allocated,
		.readers = remote->readers,
	}, *known = find_known(mon, remote->name);

	snprintf(now.name, sizeof(now.name), "%s", remote->name);
	if (!known) {
		mon->known = reallocarray(mon->known, mon->nr_known + 1, sizeof(*mon->known));
		if (!mon->known)
			die_no_memory();
		known = &mon->known[mon->nr_known++];
	} else if (known->state == now.state && known->mode == now.mode &&
		   known->requested == now.requested && known->allocated == now.allocated &&
		   known->readers == now.readers) {
		return true;
	}
	*known = now;
	return false;
}

static void print_remote(struct monitor *mon, const struct hyptrace_remote *remote)
{
	struct printer *p = mon->ctx->p;

	begin_line(mon, STYLE_PLAIN, "remote",
		   "remote %s: %s, mode %s, %" PRIu64 " bytes requested, %" PRIu64 " bytes allocated, %u reader%s",
		   remote->name, hyptrace_state_name(remote->state),
		   hyptrace_mode_name(remote->mode), remote->size_requested,
		   remote->size_allocated, remote->readers, remote->readers == 1 ? "" : "s");
	printer_str(p, "remote", remote->name);
	printer_str(p, "state", hyptrace_state_name(remote->state));
	printer_str(p, "mode", hyptrace_mode_name(remote->mode));
	printer_size(p, "size_requested", remote->size_requested);
	printer_size(p, "size_allocated", remote->size_allocated);
	printer_uint(p, "readers", remote->readers);
	printer_end(p);
}

static void print_event(struct monitor *mon, const struct hyptrace_event *event)
{
	char *trigger = event->trigger ? trigger_text(event) : NULL;
	struct printer *p = mon->ctx->p;

	begin_line(mon, STYLE_PLAIN, "event", "event %s: %s %s%s%s%s%s%s", event->remote,
		   event->name, event->enabled ? "enabled" : "disabled",
		   event->filter ? ", filter " : "", event->filter ?: "",
		   trigger ? ", trigger: " : "", trigger ?: "", event->counted ? ", counted" : "");
	free(trigger);
	printer_str(p, "remote", event->remote);
	printer_str(p, "event", event->name);
	printer_uint(p, "id", event->id);
	printer_bool(p, "enabled", event->enabled);
	if (event->filter)
		printer_str(p, "filter", event->filter);
	else
		printer_none(p, "filter");
	trigger_print_keys(p, event);
	printer_bool(p, "counted", event->counted);
	printer_end(p);
}

/* The trigger notify: there is no single event. */
static void print_notified(struct monitor *mon, const struct hyptrace_remote *remote)
{
	const char *name = hyptrace_trigger_name(HYPTRACE_TRIGGER_ACTION_NOTIFY);
	struct printer *p = mon->ctx->p;

	begin_line(mon, STYLE_PLAIN, "trigger",
		   "trigger %s: %s, fired %" PRIu64 " time%s since the rings were loaded",
		   remote->name, name, remote->notified, remote->notified == 1 ? "" : "s");
	printer_str(p, "remote", remote->name);
	printer_str(p, "trigger", name);
	printer_u64(p, "notified", remote->notified);
	printer_end(p);
}

static void print_trigger(struct monitor *mon, const struct hyptrace_remote *remote)
{
	struct printer *p = mon->ctx->p;
	char *text = firing_text(remote, 0);

	begin_line(mon, STYLE_PLAIN, "trigger", "trigger %s: %s", remote->name, text);
	free(text);
	printer_str(p, "remote", remote->name);
	firing_print_keys(p, remote, 0);
	printer_end(p);
}

static void print_reader(struct monitor *mon, const struct hyptrace_reader_notification *reader)
{
	const char *change = reader->change == HYPTRACE_READER_CHANGE_ATTACHED ?
			     "attached" : "detached";
	struct printer *p = mon->ctx->p;
	char cpus[16] = "all CPUs";

	if (reader->cpu != HYPTRACE_CPU_ALL)
		snprintf(cpus, sizeof(cpus), "CPU %d", reader->cpu);
	begin_line(mon, STYLE_PLAIN, "reader", "reader %s: %s, process %u %s", reader->remote,
		   cpus, reader->pid, change);
	printer_str(p, "remote", reader->remote);
	if (reader->cpu == HYPTRACE_CPU_ALL)
		printer_none(p, "cpu");
	else
		printer_int(p, "cpu", reader->cpu);
	printer_uint(p, "pid", reader->pid);
	printer_str(p, "reader", change);
	printer_end(p);
}

static void print_loss(struct monitor *mon, const struct hyptrace_loss_notification *loss)
{
	struct printer *p = mon->ctx->p;

	begin_line(mon, STYLE_BAD, "loss",
		   "loss %s: CPU %u, %" PRIu64 " event%s, %" PRIu64 " in total", loss->remote,
		   loss->cpu, loss->count, loss->count == 1 ? "" : "s", loss->total);
	printer_str(p, "remote", loss->remote);
	printer_uint(p, "cpu", loss->cpu);
	printer_uint(p, "count", loss->count);
	printer_uint(p, "total", loss->total);
	printer_end(p);
}

static void print_removed(struct monitor *mon, const struct hyptrace_remote *remote)
{
	begin_line(mon, STYLE_PLAIN, "removed", "remote %s: removed", remote->name);
	printer_str(mon->ctx->p, "remote", remote->name);
	printer_end(mon->ctx->p);
}

static void print_overflow(struct monitor *mon)
{
	begin_line(mon, STYLE_BAD, "overflow",
		   "notifications were lost because hyptrace read too slowly; the current state follows:");
	printer_end(mon->ctx->p);
}

static const char *remote_of(const struct hyptrace_notification *notification)
{
	switch (notification->type) {
	case HYPTRACE_NOTIFICATION_EVENT:
		return notification->event->remote;
	case HYPTRACE_NOTIFICATION_READER:
		return notification->reader->remote;
	case HYPTRACE_NOTIFICATION_LOSS:
		return notification->loss->remote;
	}
	return notification->remote->name;
}

static bool is_meant(const struct monitor *mon, const char *remote)
{
	return !mon->ctx->remote || !strcmp(mon->ctx->remote, remote);
}

/* Count a line; return 1 if there are enough. */
static int seen(struct monitor *mon)
{
	return ++mon->seen == mon->count;
}

/* The driver also notifies changes that are in no line: do not repeat the last one. */
static int print_change(struct monitor *mon, const struct hyptrace_remote *remote)
{
	if (is_printed(mon, remote))
		return 0;
	print_remote(mon, remote);
	return seen(mon);
}

static int print_notification(const struct hyptrace_notification *notification, void *arg)
{
	struct monitor *mon = ((struct loop *)arg)->arg;

	if (!is_meant(mon, remote_of(notification)))
		return 0;

	switch (notification->type) {
	case HYPTRACE_NOTIFICATION_REMOTE:
		return print_change(mon, notification->remote);
	case HYPTRACE_NOTIFICATION_REMOTE_GONE:
		forget(mon, notification->remote->name);
		print_removed(mon, notification->remote);
		break;
	case HYPTRACE_NOTIFICATION_EVENT:
		print_event(mon, notification->event);
		break;
	case HYPTRACE_NOTIFICATION_READER:
		print_reader(mon, notification->reader);
		break;
	case HYPTRACE_NOTIFICATION_LOSS:
		print_loss(mon, notification->loss);
		break;
	case HYPTRACE_NOTIFICATION_TRIGGER:
		if (notification->remote->nr_fired)
			print_trigger(mon, notification->remote);
		else if (notification->remote->notified)
			print_notified(mon, notification->remote);
		else
			return 0;
		break;
	}
	return seen(mon);
}

static int print_events_of(struct monitor *mon, const struct hyptrace_remote *remote)
{
	struct hyptrace_event **events;
	unsigned int nr, i;
	int ret = 0;

	/* the remote may be unregistered: that has its own notification */
	if (hyptrace_get_events(mon->ctx->h, remote->name, &events, &nr, NULL))
		return 0;
	for (i = 0; i < nr && !ret; i++) {
		print_event(mon, events[i]);
		ret = seen(mon);
	}
	hyptrace_free_events(events);
	return ret;
}

/*
 * Notifications were lost: print that, and then the current state. A change meanwhile
 * is also notified. Return 0, 1 if there are enough lines, or a negative errno.
 */
static int print_state(struct monitor *mon, struct hyptrace_error *err)
{
	struct hyptrace_remote **remotes;
	unsigned int nr, i;
	int ret;

	print_overflow(mon);
	forget(mon, NULL);
	if (seen(mon))
		return 1;
	ret = hyptrace_get_remotes(mon->ctx->h, &remotes, &nr, err);
	if (ret)
		return ret;
	for (i = 0; i < nr && !ret; i++) {
		if (!is_meant(mon, remotes[i]->name))
			continue;
		ret = print_change(mon, remotes[i]);
		if (!ret)
			ret = print_events_of(mon, remotes[i]);
	}
	hyptrace_free_remotes(remotes);
	return ret;
}

/* First the notifications that arrived before a loss were printed. */
static int after_news(struct loop *l, bool lost)
{
	struct hyptrace_error err;
	int ret = lost ? print_state(l->arg, &err) : 0;

	if (ret < 0)
		return cmd_fail("cannot monitor: %s", err.text);
	return ret ? EXIT_DONE : LOOP_WAIT;
}

static int cmd_monitor(struct context *ctx, int argc, char **argv)
{
	static const struct loop_ops ops = { .hear = print_notification, .heard = after_news };
	struct monitor mon = { .ctx = ctx };
	struct loop loop = LOOP(ctx, &ops, &mon);
	struct hyptrace_remote *remote = NULL;
	struct hyptrace_error err;
	int code;

	cmd_parse(ctx, &argp, argc, argv, &mon);
	code = cmd_connect(ctx);
	if (!code && ctx->remote)
		code = cmd_get_remote(ctx, &remote);
	if (code)
		return code;
	hyptrace_free_remote(remote);

	if (signals_catch() < 0)
		return cmd_fail("cannot catch signals: %s", strerror(errno));
	ctx->out.abandon = &signals_abandon;
	loop.listener = hyptrace_listener_open(ctx->h, &err);
	if (!loop.listener)
		return cmd_fail("cannot monitor: %s", err.text);
	code = loop_run(&loop);
	hyptrace_listener_close(loop.listener);
	free(mon.known);
	return code;
}

static const struct verb verbs[] VERBS = {
	{ "monitor", cmd_monitor, "Print changes of state as they happen.",
	  VERB_WATCH + 10, false },
};
