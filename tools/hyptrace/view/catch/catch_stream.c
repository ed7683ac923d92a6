// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings that hyptrace catch reads, as a stream, which puts their events in the order of time.
 * It is read only when something was caught: until then the rings keep the last events of each CPU.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "output/die.h"
#include "output/message.h"
#include "session/choice.h"
#include "session/select.h"
#include "catch.h"

#define BUSY_HINT	" (stop it, or use another --cpu)"

/* A stream holds an event back for a quarter of its bound. */
#define BOUND		(4 * CATCH_ORDER_NSEC)

/* EL2's clock is set every 500 ms. Until then it may be ahead of ours by less than this. */
#define AHEAD_NSEC	NSEC_PER_MSEC

/* While the CPUs record as fast as this reads, other things are looked after so often. */
#define READ_NSEC	(100 * NSEC_PER_MSEC)

/* Without order it cannot be known that all was taken: so long is waited for it at most. */
#define READ_ALL_NSEC	NSEC_PER_SEC

/* Events that are taken between two looks at the clock */
#define AT_ONCE		256

/* These are not enabled by default: they say little, and push the others out of the rings. */
static bool is_noisy(const char *name)
{
	static const char *const noisy[] = { "hyp_enter", "hyp_exit", "tlbi", "hyp_pool" };
	unsigned int i;

	for (i = 0; i < sizeof(noisy) / sizeof(noisy[0]); i++)
		if (!strcmp(name, noisy[i]))
			return true;
	return false;
}

static bool is_named(const struct event_choice *choice, const char *name)
{
	unsigned int i;

	for (i = 0; i < choice->nr; i++)
		if (!strcmp(choice->names[i], name))
			return true;
	return false;
}

static bool is_any_enabled(const struct catcher *c)
{
	unsigned int i;

	for (i = 0; i < c->nr_events; i++)
		if (c->events[i]->enabled)
			return true;
	return false;
}

static int fail(const struct catcher *c, const struct hyptrace_error *err)
{
	if (!*err->subject)
		return cmd_fail("cannot catch events of \"%s\": %s", c->remote->name, err->text);
	return cmd_fail("cannot read %s: %s%s", err->subject, err->text,
			err->errnum == EBUSY ? BUSY_HINT : "");
}

/* Hold the events enabled that show what surrounds the caught one. */
static int hold(struct catcher *c)
{
	const bool by_default = !c->words.nr && !is_any_enabled(c);
	const char *names[HYPTRACE_HOLD_EVENTS_MAX];
	struct event_choice choice = { };
	struct hyptrace_error err;
	unsigned int i, nr = 0;
	int code;

	code = cmd_choose_events("catch", c->events, c->nr_events, &c->words, &choice);
	for (i = 0; i < c->nr_events && nr < HYPTRACE_HOLD_EVENTS_MAX; i++) {
		const struct hyptrace_event *event = c->events[i];

		/* the trigger enables that one */
		if (event == c->event)
			continue;
		if (event->enabled || is_named(&choice, event->name) ||
		    (by_default && !is_noisy(event->name)))
			names[nr++] = event->name;
	}
	event_choice_free(&choice);
	if (!code && hyptrace_stream_set_events(c->stream, names, nr, &err))
		code = fail(c, &err);
	return code;
}

/* Count the events that the file gets. */
static void count(const struct catcher *c, struct catch_cpu *cpu, const char *subbufs, size_t size)
{
	const size_t subbuf = c->remote->subbuf_size;
	struct hyptrace_record rec;
	int ret;

	for (; size >= subbuf; subbufs += subbuf, size -= subbuf) {
		ret = hyptrace_decoder_load(cpu->dec, subbufs, subbuf, NULL);
		while (!ret && (ret = hyptrace_decoder_next(cpu->dec, &rec, NULL)) > 0) {
			ret = 0;
			cpu->saved++;
			if (rec.lost == HYPTRACE_LOST_UNKNOWN)
				cpu->lost_more = true;
			else
				cpu->lost += rec.lost;
		}
		cpu->lost_more |= ret < 0;
	}
}

static int tap(unsigned int id, const void *subbufs, size_t size, void *arg,
	       struct hyptrace_error *err)
{
	struct catcher *c = arg;
	struct catch_cpu *cpu;

	for (cpu = c->cpus; cpu < c->cpus + c->nr_cpus && cpu->id != id; cpu++)
		;
	if (cpu == c->cpus + c->nr_cpus)
		return 0;
	cpu->read_at = clock_now(CLOCK_BOOTTIME);
	if (!c->w)
		return 0;
	count(c, cpu, subbufs, size);
	return hyptrace_file_write(c->w, id, subbufs, size, err);
}

static int set_cpus(struct catcher *c, struct hyptrace_error *err)
{
	const struct context *ctx = c->ctx;

	if (!ctx->have_cpus || ctx->cpus.all)
		return 0;
	return hyptrace_stream_set_cpus(c->stream, ctx->cpus.ids, ctx->cpus.nr, err);
}

/*
 * Become the consumer of the rings, enable the events around the caught one, and start tracing. The
 * kernel undoes that when the stream is freed. Return an exit code.
 */
int catch_begin_stream(struct catcher *c)
{
	struct hyptrace_error err;
	unsigned int i;
	int code;

	c->progress.ahead = AHEAD_NSEC;
	for (i = 0; i < c->nr_cpus && c->path; i++) {
		c->cpus[i].dec = hyptrace_decoder_new();
		if (!c->cpus[i].dec)
			die_no_memory();
	}
	c->stream = hyptrace_stream_new(c->ctx->h, c->remote->name, &err);
	if (!c->stream || set_cpus(c, &err))
		return fail(c, &err);
	code = hold(c);
	if (code)
		return code;
	hyptrace_stream_set_bound(c->stream, BOUND);
	hyptrace_stream_set_tap(c->stream, tap, c);
	return hyptrace_stream_start(c->stream, &err) ? fail(c, &err) : EXIT_DONE;
}

static bool has_clock(const struct catcher *c)
{
	return c->remote->clock && !strcmp(c->remote->clock, "boot");
}

/* How far is EL2's clock ahead of ours? An event cannot be later than when it was read. */
static void learn_clock(struct catcher *c, const struct hyptrace_stream_event *event)
{
	const uint64_t ts = event->record.ts;
	const struct catch_cpu *cpu;

	c->progress.last = ts;
	for (cpu = c->cpus; cpu < c->cpus + c->nr_cpus && has_clock(c); cpu++)
		if (cpu->id == event->cpu && ts > cpu->read_at + c->progress.ahead)
			c->progress.ahead = ts - cpu->read_at;
}

/*
 * Take the events that the rings hold, unless they are so young that the order is not known yet,
 * and print what is caught. Return an exit code.
 */
int catch_read(struct catcher *c)
{
	struct catch_progress *progress = &c->progress;
	uint64_t begin = clock_now(CLOCK_BOOTTIME);
	const uint64_t end = begin + READ_NSEC;
	const struct hyptrace_stream_event *event;
	bool all_asked = progress->is_empty;
	struct hyptrace_error err;
	unsigned int nr = 0;
	int ret;

	progress->is_empty = false;
	for (;;) {
		ret = hyptrace_stream_next(c->stream, &event, &err);
		if (ret > 0) {
			learn_clock(c, event);
			catch_take(c, event);
			if (!c->is_ending && catch_has_enough(c))
				return EXIT_DONE;
			if (++nr % AT_ONCE == 0 && clock_now(CLOCK_BOOTTIME) > end)
				return EXIT_DONE;
		} else if (ret == -EBADMSG) {
			out_flush(&c->ctx->out);
			cmd_note("%s: the rest of the sub-buffer is skipped", err.text);
		} else if (ret < 0) {
			return cmd_fail("cannot go on to catch events: %s%s%s", err.subject,
					*err.subject ? ": " : "", err.text);
		} else if (!all_asked) {
			/* the next call looks at all rings: some were read before @begin */
			all_asked = true;
			begin = clock_now(CLOCK_BOOTTIME);
		} else {
			break;
		}
	}
	progress->is_empty = true;
	progress->empty_at = begin;
	if (!progress->read_at)
		progress->read_at = clock_now(CLOCK_BOOTTIME);
	return EXIT_DONE;
}

/* Were all events taken that the rings had when asked_at was set? */
bool catch_is_past(const struct catcher *c)
{
	const struct catch_progress *progress = &c->progress;

	/* the events are in the order of time */
	if (has_clock(c) && progress->last > progress->asked_at + progress->ahead)
		return true;
	/* what was not taken was younger than the bound when the rings were last empty */
	return progress->read_at && progress->empty_at >= progress->read_at + CATCH_ORDER_NSEC +
	       (has_clock(c) ? progress->ahead : 0);
}

/* Take all that the rings hold now. Return an exit code. */
int catch_read_all(struct catcher *c)
{
	const uint64_t begin = clock_now(CLOCK_BOOTTIME);
	int code;

	c->progress.asked_at = begin;
	c->progress.read_at = 0;
	c->progress.last = 0;
	for (;;) {
		code = catch_read(c);
		if (code || catch_is_past(c) || clock_now(CLOCK_BOOTTIME) - begin > READ_ALL_NSEC)
			break;
		if (c->progress.is_empty)
			poll(NULL, 0, CATCH_ORDER_NSEC / NSEC_PER_MSEC + 2);
	}
	return code;
}

/* Finish the file, if there is one, while the rings are still attached. Return an exit code. */
int catch_finish_file(struct catcher *c)
{
	struct hyptrace_error err;
	struct hyptrace_cpu *now;
	struct catch_cpu *cpu;
	int ret;

	if (!c->w)
		return EXIT_DONE;
	for (cpu = c->cpus; cpu < c->cpus + c->nr_cpus; cpu++) {
		/* what was lost after the last event */
		if (hyptrace_get_cpu(c->ctx->h, c->remote->name, cpu->id, &now, NULL))
			continue;
		if (!now->unread)
			cpu->lost += now->unreported;
		hyptrace_free_cpu(now);
		if (!cpu->lost_more)
			hyptrace_file_set_counts(c->w, cpu->id, cpu->saved, cpu->lost, 0);
	}
	ret = hyptrace_file_finish(c->w, &err);
	c->w = NULL;
	return ret ? cmd_fail("cannot finish %s: %s", c->path, err.text) : EXIT_DONE;
}
