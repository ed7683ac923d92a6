// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wait until the driver notifies that the trigger has fired at EL2. It stops nothing, so there is
 * no time in which an event could not fire. EL2 counts the firings of each CPU. What it has
 * counted, and what was not in the ring any more, was missed.
 */
#include "output/die.h"
#include "catch.h"

/* How long to wait for the events after one that was caught, before the rings are read again */
#define AGE_NSEC	(100 * NSEC_PER_MSEC)

static bool is_armed(const struct hyptrace_event *event)
{
	return event->enabled && event->trigger == HYPTRACE_TRIGGER_ACTION_NOTIFY;
}

int catch_listen(struct catcher *c, const struct loop_ops *ops, void *arg)
{
	struct session *s = &c->session;
	struct hyptrace_error err;

	s->loop.ops = ops;
	s->loop.arg = arg;
	s->loop.listener = hyptrace_listener_open(s->ctx->h, &err);
	return s->loop.listener ? EXIT_DONE :
	       cmd_fail("cannot wait for events of \"%s\": %s", s->name, err.text);
}

/* Note what a notification says. Return whether a trigger of the remote has fired. */
bool catch_hear(struct catcher *c, const struct hyptrace_notification *notification)
{
	const bool is_trigger = notification->type == HYPTRACE_NOTIFICATION_TRIGGER;
	const struct hyptrace_remote *remote = notification->remote;
	const struct hyptrace_event *event = notification->event;

	if (event && c->event && !strcmp(event->remote, c->session.name) &&
	    event->id == c->event->id)
		c->has_changed |= !is_armed(event);
	if (!remote || strcmp(remote->name, c->session.name))
		return false;
	c->has_stopped |= notification->type == HYPTRACE_NOTIFICATION_REMOTE_GONE ||
			  (!is_trigger && remote->state != HYPTRACE_STATE_TRACING);
	return is_trigger;
}

static int hear(const struct hyptrace_notification *notification, void *arg)
{
	struct catcher *c = ((struct loop *)arg)->arg;

	c->session.is_changed |= notification->type != HYPTRACE_NOTIFICATION_TRIGGER;
	c->has_fired |= catch_hear(c, notification);
	return 0;
}

/* Notifications were lost or ignored: ask for what they would have said. */
void catch_ask(struct catcher *c)
{
	auto_remote struct hyptrace_remote *remote = NULL;
	struct hyptrace_event *event auto_event = NULL;
	struct hyptrace *h = c->session.ctx->h;

	c->has_fired = true;
	if (hyptrace_get_remote(h, c->session.name, &remote, NULL)) {
		c->has_stopped = true;
		return;
	}
	c->has_stopped |= remote->state != HYPTRACE_STATE_TRACING;
	if (c->event && !hyptrace_get_event(h, c->session.name, c->event->name, &event, NULL))
		c->has_changed |= !is_armed(event);
}

/* Set the trigger, if there is an event, and hear of all that changes from now on. */
int catch_arm(struct catcher *c)
{
	struct hyptrace_error err;
	int code;

	if (c->event && event_hold(c->session.ctx->h, c->event, true, c->filter,
				   HYPTRACE_TRIGGER_ACTION_NOTIFY, 0, &err))
		return cmd_fail_verb("catch", c->event->name, &err);
	c->is_armed = true;
	/* what changed until now was changed here, but others may have changed something, too */
	code = loop_listen(&c->session.loop);
	c->has_changed = false;
	c->has_stopped = false;
	catch_ask(c);
	return code < 0 ? EXIT_DONE : code;
}

static int heard(struct loop *l, bool lost)
{
	struct catcher *c = l->arg;

	if (lost)
		catch_ask(c);
	if ((c->session.is_changed || lost) && !c->has_stopped && !c->has_changed)
		session_look(&c->session);
	c->session.is_changed = false;
	return LOOP_WAIT;
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
	struct printer *p = c->session.ctx->p;

	if (!missed)
		return;
	cpu->missed += missed;
	c->nr_missed += missed;
	printer_line(p, STYLE_BAD,
		     "MISSED %" PRIu64 " event%s on CPU %u: overwritten before %s could be read",
		     missed, missed == 1 ? "" : "s", cpu->id, missed == 1 ? "it" : "they");
	printer_uint(p, "cpu", cpu->id);
	printer_uint(p, "missed", missed);
	printer_end(p);
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

static int read_notified(struct catcher *c)
{
	auto_cpus struct hyptrace_cpu **cpus = NULL;
	const struct session *s = &c->session;
	struct catch_cpu *cpu;
	unsigned int nr, i;
	int code = cmd_get_cpus(s->ctx, s->name, &cpus, &nr);

	if (code)
		return code;
	for (i = 0; i < nr; i++) {
		cpu = catch_find_cpu(c, cpus[i]->id);
		if (cpu)
			cpu->notified = cpus[i]->notified;
	}
	return EXIT_DONE;
}

/*
 * EL2 counts an event when it is in the ring. So what was counted before the rings are read is
 * there, or was overwritten. At the end, when nothing fires any more, all is taken.
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
	return code;
}

static int take(struct loop *l)
{
	struct catcher *c = l->arg;
	int code = EXIT_DONE;

	if (c->has_fired || any_waits(c) || catch_finder_waits(c->finder))
		code = look(c, false);
	c->has_fired = false;
	if (!code && c->has_changed)
		return cmd_fail("cannot go on to catch \"%s\": somebody else has disabled it or changed its trigger",
				c->event->name);
	if (!code && c->has_stopped)
		return cmd_fail("cannot go on to catch \"%s\": tracing was switched off",
				c->event->name);
	if (code || catch_has_enough(c))
		return code;
	return c->progress.is_empty ? LOOP_WAIT : LOOP_AGAIN;
}

/* Let the time pass for events that wait for those which follow. */
static uint64_t tick(struct loop *l, uint64_t now)
{
	struct catcher *c = l->arg;

	if (now - c->aged_at >= AGE_NSEC) {
		c->aged_at = now;
		catch_finder_age(c->finder);
		catch_flush(c, false);
		l->is_over |= catch_has_enough(c);
	}
	if (any_waits(c))
		return now + CATCH_ORDER_NSEC;
	return catch_finder_waits(c->finder) ? now + AGE_NSEC : UINT64_MAX;
}

/* First take all events that could not fire: so each one that follows, and is meant, has fired. */
static int arm(struct catcher *c)
{
	struct hyptrace *h = c->session.ctx->h;
	struct hyptrace_error err;
	unsigned int i;
	int code;

	if (c->event->enabled && event_hold(h, c->event, false, NULL, 0, 0, &err))
		return cmd_fail_verb("disable", c->event->name, &err);
	code = catch_read_all(c);
	c->progress.asked_at = 0;
	if (!code)
		code = read_notified(c);
	if (code)
		return code;
	for (i = 0; i < c->nr_cpus; i++)
		c->cpus[i].base = c->cpus[i].notified;
	return catch_arm(c);
}

/*
 * If the event was enabled, it is recorded without firing again at the end. Such events would be
 * found, too, and stand for those that were missed. So it is disabled until the counts were
 * compared, unless somebody else has changed it.
 */
static int disarm(struct catcher *c)
{
	struct hyptrace *h = c->session.ctx->h;
	struct hyptrace_error err;
	int code;

	if (c->event->enabled && !c->has_changed &&
	    event_hold(h, c->event, false, NULL, 0, 0, &err) && err.errnum != ENODEV)
		cmd_note("cannot disable \"%s\": %s", c->event->name, err.text);
	if (!c->event->enabled)
		event_release_all(h, c->session.name);
	c->is_ending = true;
	code = look(c, true);
	event_release_all(h, c->session.name);
	catch_flush(c, true);
	out_flush(&c->session.ctx->out);
	return code;
}

/* Finish the file, if there is one, while the rings are still attached. Return an exit code. */
static int finish_file(struct catcher *c)
{
	const struct session *s = &c->session;
	struct hyptrace_error err;
	struct catch_cpu *cpu;

	for (cpu = c->cpus; c->w && cpu < c->cpus + c->nr_cpus; cpu++) {
		auto_cpu struct hyptrace_cpu *now = NULL;

		if (!hyptrace_get_cpu(s->ctx->h, s->name, cpu->id, &now, NULL))
			ring_counts_end(&cpu->counts, now, true, c->w);
	}
	if (c->w && hyptrace_file_finish(c->w, &err))
		return cmd_fail("cannot finish %s: %s", c->path, err.text);
	return EXIT_DONE;
}

int catch_check(const struct hyptrace_remote *remote)
{
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

int catch_live(struct catcher *c)
{
	static const struct loop_ops ops = {
		.take = take, .tick = tick, .hear = hear, .heard = heard,
	};
	struct session *s = &c->session;
	struct hyptrace_error err;
	int code = catch_check(s->remote) ?: catch_listen(c, &ops, c), end, last;

	if (code)
		return code;
	if (c->path) {
		c->w = hyptrace_file_create(c->path, s->ctx->h, s->name, 0, s->command_line,
					    NULL, 0, &err);
		if (!c->w)
			return cmd_fail("cannot write to %s: %s", c->path, err.text);
	}
	/* what EL2 needs for its counters is no event before the first one that is caught */
	code = catch_begin_counting(c) ?: catch_begin_stream(c);
	c->finder = catch_finder_new(c->nr_cpus, c->after);
	code = code ?: arm(c) ?: child_start(&s->child);
	if (!code) {
		session_look(s);
		if (!s->quiet)
			cmd_note("waiting for \"%s\" (end with Ctrl-C)", c->what);
		c->aged_at = clock_now(CLOCK_MONOTONIC);
		code = loop_run(&s->loop);
		if (!code)
			session_look(s);
		end = disarm(c);
		last = finish_file(c);
		code = code ?: end ?: last;
	} else if (c->w) {
		/* nothing was caught */
		hyptrace_file_abandon(c->w);
	}
	end = catch_end_counting(c);
	if (!code && !end && !out_has_failed(&s->ctx->out) && (!s->quiet || c->nr_missed))
		cmd_note("%" PRIu64 " event%s caught, %" PRIu64 " missed%s", c->nr_caught,
			 c->nr_caught == 1 ? "" : "s", c->nr_missed,
			 c->nr_missed ? " (use larger rings: \"hyptrace set --size\")" : "");
	return code ? code : end;
}
