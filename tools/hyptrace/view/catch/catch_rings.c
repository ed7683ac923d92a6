// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings that hyptrace catch reads. It is their consumer: so each event is read once, whatever
 * happens between two reads, and the sub-buffers can go to the file as they are.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/internal.h"
#include "cli/args.h"
#include "output/die.h"
#include "output/message.h"
#include "session/events.h"
#include "session/select.h"
#include "catch.h"

/* Bytes to read at once, unless a sub-buffer is larger */
#define READ_SIZE	(64 << 10)

#define BUSY_HINT	" (stop it, or use another --cpu)"

static const struct catch_order_ops order_ops;

static int add_ring(struct catcher *c, const struct hyptrace_cpu *cpu)
{
	struct catch_ring *ring = &c->rings[c->nr_rings];
	struct hyptrace_error err;
	uint32_t subbuf;

	ring->reader = hyptrace_reader_open(c->remote->name, cpu->id, O_NONBLOCK, &err);
	if (!ring->reader) {
		/* without a list, the CPUs that have a ring are meant */
		if (err.errnum == ENXIO && !(c->ctx->have_cpus && !c->ctx->cpus.all))
			return EXIT_DONE;
		return cmd_fail_ring(c->ctx, c->remote->name, cpu->id, &err, BUSY_HINT);
	}
	c->nr_rings++;
	ring->cpu = cpu->id;
	subbuf = hyptrace_reader_subbuf_size(ring->reader);
	ring->size = subbuf < READ_SIZE ? READ_SIZE - READ_SIZE % subbuf : subbuf;
	ring->buf = malloc(ring->size);
	ring->dec = hyptrace_decoder_new();
	if (!ring->buf || !ring->dec)
		die_no_memory();
	return EXIT_DONE;
}

/**
 * catch_open_rings - become the consumer of the rings
 * @c:		the verb, with its remote
 *
 * Return: an exit code; the caller calls catch_close_rings() in any case.
 */
int catch_open_rings(struct catcher *c)
{
	struct hyptrace_cpu **cpus;
	unsigned int nr, i;
	int code;

	code = cmd_get_cpus(c->ctx, c->remote->name, &cpus, &nr);
	if (code)
		return code;
	c->rings = calloc(nr + 1, sizeof(*c->rings));
	if (!c->rings)
		die_no_memory();
	for (i = 0; i < nr && !code; i++)
		code = add_ring(c, cpus[i]);
	hyptrace_free_cpus(cpus);
	if (!code && !c->nr_rings)
		code = cmd_fail("cannot catch events of \"%s\": no CPU has a ring",
				c->remote->name);
	c->order = catch_order_new(c->nr_rings, &order_ops, c);
	return code;
}

/**
 * catch_close_rings - detach from the rings: the kernel undoes catch_hold()
 * @c:		the verb
 */
void catch_close_rings(struct catcher *c)
{
	unsigned int i;

	for (i = 0; i < c->nr_rings; i++) {
		struct catch_ring *ring = &c->rings[i];

		hyptrace_reader_close(ring->reader);
		hyptrace_decoder_free(ring->dec);
		free(ring->buf);
	}
	free(c->rings);
	catch_order_free(c->order);
	c->order = NULL;
	c->rings = NULL;
	c->nr_rings = 0;
}

/* What is enabled if no event is: these say little, and would push the others out of the rings. */
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

/**
 * catch_hold - enable the events that show what surrounds the caught one, and start tracing
 * @c:		the verb, with its rings
 *
 * Return: an exit code.
 */
int catch_hold(struct catcher *c)
{
	const bool by_default = !c->words.nr && !is_any_enabled(c);
	struct event_choice choice = { };
	uint16_t ids[HYPTRACE_HOLD_EVENTS_MAX];
	unsigned int i, nr = 0;
	struct hyptrace_error err;
	int code;

	code = cmd_choose_events("catch", c->events, c->nr_events, &c->words, &choice);
	for (i = 0; i < c->nr_events && nr < HYPTRACE_HOLD_EVENTS_MAX; i++) {
		const struct hyptrace_event *event = c->events[i];

		/* the trigger enables that one */
		if (event == c->event)
			continue;
		if (event->enabled || is_named(&choice, event->name) ||
		    (by_default && !is_noisy(event->name)))
			ids[nr++] = event->id;
	}
	event_choice_free(&choice);
	if (!code && hyptrace_reader_hold(c->rings[0].reader, ids, nr, true, &err))
		code = cmd_fail("cannot trace \"%s\": %s", c->remote->name, err.text);
	return code;
}

static ssize_t read_ring(struct catch_ring *ring)
{
	ssize_t n;

	do {
		n = read(hyptrace_reader_fd(ring->reader), ring->buf, ring->size);
	} while (n < 0 && errno == EINTR);
	if (n > 0)
		ring->read_at = clock_now(CLOCK_BOOTTIME);
	return n;
}

/* Read the next sub-buffers of a ring. Return 1, 0 at the end, or a negative errno. */
static int read_more(struct catcher *c, struct catch_ring *ring, struct hyptrace_error *err)
{
	ssize_t n = read_ring(ring);

	/* The driver limits what is read until the end: the limit may be that of an older look. */
	if (n < 0 && errno == EAGAIN && ring->is_resumed) {
		ring->is_resumed = false;
		n = read_ring(ring);
	}
	if (n < 0 && errno != EAGAIN)
		return hyptrace_error_set(err, errno, "CPU %u: %s", ring->cpu, strerror(errno));
	ring->len = n > 0 ? n : 0;
	ring->pos = 0;
	if (n <= 0)
		return 0;
	return c->w && hyptrace_file_write(c->w, ring->cpu, ring->buf, n, err) ? -err->errnum : 1;
}

/* Decode the next event of a ring. Return 1, 0 at the end, or a negative errno. */
static int next_event(struct catcher *c, struct catch_ring *ring, struct hyptrace_error *err)
{
	const size_t subbuf = hyptrace_reader_subbuf_size(ring->reader);
	int ret;

	for (;;) {
		ret = hyptrace_decoder_next(ring->dec, &ring->rec, err);
		if (ret > 0)
			break;
		if (!ret && ring->len - ring->pos < subbuf) {
			ret = read_more(c, ring, err);
			if (ret <= 0)
				return ret;
		}
		if (!ret || ret == 1) {
			ret = hyptrace_decoder_load(ring->dec, ring->buf + ring->pos, subbuf, err);
			ring->pos += subbuf;
		}
		if (ret < 0) {
			out_flush(&c->ctx->out);
			cmd_note("CPU %u: %s: the rest of the sub-buffer is skipped", ring->cpu,
				 err->text);
			ring->is_damaged = true;
		}
	}
	if (ring->is_damaged)
		ring->rec.lost = HYPTRACE_LOST_UNKNOWN;
	ring->is_damaged = false;
	ring->read++;
	if (ring->rec.lost == HYPTRACE_LOST_UNKNOWN)
		ring->lost_more = true;
	else
		ring->lost += ring->rec.lost;
	return 1;
}

static bool is_match(const struct catcher *c, const struct hyptrace_record *rec)
{
	if (!c->is_armed || lines_record_id(rec) != c->event->id)
		return false;
	return !c->filter || hyptrace_filter_match(c->filter, rec->data, rec->size);
}

/**
 * catch_flush - print the events that were caught
 * @c:		the verb
 * @all:	also those that are not complete
 */
void catch_flush(struct catcher *c, bool all)
{
	struct caught *caught;

	while ((caught = catch_finder_next(c->finder, all))) {
		catch_print(c, caught);
		caught_free(caught);
	}
}

static void take(void *arg, unsigned int index)
{
	struct catcher *c = arg;
	struct catch_ring *ring = &c->rings[index];
	const struct hyptrace_stream_event event = { .record = ring->rec, .cpu = ring->cpu };
	uint64_t begin = ring->rec.ts, duration;
	bool match;

	match = is_match(c, &ring->rec);
	if (match && c->duration && !hyptrace_field_value(c->duration, &ring->rec, &duration))
		begin -= duration < begin ? duration : begin;
	if (match && ring->rec.ts <= ring->asked_at + ring->asked_ahead)
		ring->asked_found++;
	catch_finder_add(c->finder, index, &event, match, begin);
	catch_flush(c, false);
}

static int next(void *arg, unsigned int index, uint64_t *ts, uint64_t *there)
{
	struct catcher *c = arg;
	struct hyptrace_error err;
	int ret;

	ret = next_event(c, &c->rings[index], &err);
	if (ret < 0)
		cmd_fail("cannot go on to catch events: %s", err.text);
	*ts = c->rings[index].rec.ts;
	*there = c->rings[index].read_at;
	return ret;
}

static const struct catch_order_ops order_ops = { .next = next, .take = take };

/**
 * catch_drain - take the events that the rings hold, and print what is caught
 * @c:		the verb, with its rings
 * @all:	also take events that have just happened, before which others may be missing
 *
 * The driver limits how much is read while a CPU goes on to record.
 *
 * Return: an exit code.
 */
int catch_drain(struct catcher *c, bool all)
{
	/* without the host's clock nobody knows how old an event is */
	const bool has_clock = c->remote->clock && !strcmp(c->remote->clock, "boot");
	unsigned int i;

	for (i = 0; i < c->nr_rings; i++)
		c->rings[i].is_resumed = catch_order_holds(c->order, i);
	return catch_order_drain(c->order, clock_now(CLOCK_BOOTTIME), all || !has_clock) ?
	       EXIT_REFUSED : EXIT_DONE;
}

/**
 * catch_finish_file - finish the file, if there is one
 * @c:		the verb, still attached to its rings, which are drained
 *
 * Return: an exit code.
 */
int catch_finish_file(struct catcher *c)
{
	struct hyptrace_error err;
	struct hyptrace_cpu *cpu;
	unsigned int i;
	int ret;

	if (!c->w)
		return EXIT_DONE;
	for (i = 0; i < c->nr_rings; i++) {
		struct catch_ring *ring = &c->rings[i];

		/* what was lost after the last event */
		if (hyptrace_get_cpu(c->ctx->h, c->remote->name, ring->cpu, &cpu, NULL))
			continue;
		if (!cpu->unread)
			ring->lost += cpu->unreported;
		hyptrace_free_cpu(cpu);
		if (!ring->lost_more)
			hyptrace_file_set_counts(c->w, ring->cpu, ring->read, ring->lost, 0);
	}
	ret = hyptrace_file_finish(c->w, &err);
	c->w = NULL;
	return ret ? cmd_fail("cannot finish %s: %s", c->path, err.text) : EXIT_DONE;
}
