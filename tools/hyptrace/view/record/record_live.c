// SPDX-License-Identifier: GPL-2.0-only
/* Record what happens: become the consumer of the rings, and move what they hold to the file. */
#include <fcntl.h>
#include <sys/epoll.h>

#include "output/clock.h"
#include "output/die.h"
#include "record.h"

/* All rings are read this often, however little they hold: a crash loses no more than that. */
#define TICK		(NSEC_PER_SEC / 2)

/* The buffers of the host's tracing are read so often: no poll() says that they fill up. */
#define HOST_TICK	(NSEC_PER_SEC / 20)

#define READY_MAX	64

/*
 * A ring is read when a quarter of it holds data: that makes few calls for many events, and
 * leaves time before events are lost. The driver looks at the rings as often as this.
 */
#define WATERMARK_PERCENT	25
#define LOOK_USEC		5000

#define BUSY_HINT	" (stop it, or use \"hyptrace record --snapshot\")"

int record_choose(struct record *r)
{
	auto_choice struct event_choice choice = {};
	struct session *s = &r->session;
	unsigned int i;
	int code = EXIT_DONE;

	if (s->choice.words.nr) {
		code = cmd_choose_events("record", s->events, s->nr_events, &s->choice.words,
					 &choice);
		cmd_leave_out_func(&choice, &s->choice.words);
		code = code ?: cmd_refuse_missing("record", s->events, s->nr_events, &choice);
	} else if (!r->snapshot) {
		cmd_choose_default("recording", s->name, s->events, s->nr_events,
				   &s->choice.words, s->quiet, &choice);
	}
	r->chosen = xcalloc(s->nr_events + 1, sizeof(*r->chosen));
	for (i = 0; i < choice.nr; i++)
		r->chosen[r->nr_chosen++] = choice.events[i];
	gaps_begin(&s->gaps, s->ctx, s->name, &choice, s->events, s->nr_events);
	s->gaps.own = s->choice.filter;
	return code;
}

static int set_filter(struct record *r)
{
	auto_filter struct hyptrace_filter *filter = NULL;
	const struct session *s = &r->session;
	const struct hyptrace_event **events = r->chosen;
	struct hyptrace_error err;
	unsigned int nr = r->nr_chosen, i;
	int code;

	if (!s->choice.filter)
		return EXIT_DONE;
	for (i = 0; i < s->nr_events && !r->nr_chosen; i++)
		if (s->events[i]->enabled)
			events[nr++] = s->events[i];
	code = filter_parse(s->choice.filter, events, nr, NULL, true, &filter);
	if (code)
		return code;
	r->is_filtered = true;
	for (i = 0; i < nr; i++)
		if (event_hold(s->ctx->h, events[i], true, filter, events[i]->trigger,
			       events[i]->after, &err))
			return cmd_fail_verb("filter", events[i]->name, &err);
	return EXIT_DONE;
}

/* Become the consumer. The caller calls restore() in any case. */
static int open_rings(struct record *r)
{
	auto_cpus struct hyptrace_cpu **cpus = NULL;
	const struct session *s = &r->session;
	char name[HYPTRACE_PROCESS_NAME_SIZE];
	struct hyptrace_error err;
	struct record_ring *ring;
	unsigned int nr, i;
	int code = cmd_get_cpus(s->ctx, s->name, &cpus, &nr);

	if (code)
		return code;
	r->rings = xcalloc(nr + 1, sizeof(*r->rings));
	for (i = 0; i < nr; i++) {
		struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data.u32 = r->nr_rings };
		struct hyptrace_cpu *found auto_cpu = NULL;

		ring = &r->rings[r->nr_rings];
		ring->cpu = cpus[i]->id;
		ring->reader = hyptrace_reader_open_on(s->ctx->h, s->name, ring->cpu, O_NONBLOCK,
						       &err);
		/* without a list, the CPUs that have a ring are meant */
		if (!ring->reader && err.errnum == ENXIO &&
		    !(s->ctx->have_cpus && !s->ctx->cpus.all))
			continue;
		r->nr_rings += !!ring->reader;
		if (ring->reader &&
		    !hyptrace_reader_watermark(ring->reader, LOOK_USEC, WATERMARK_PERCENT, &err)) {
			if (!epoll_ctl(r->epoll, EPOLL_CTL_ADD, hyptrace_reader_fd(ring->reader),
				       &event))
				continue;
			return cmd_fail("cannot wait for events: %s", strerror(errno));
		}
		if (err.errnum == EBUSY &&
		    !hyptrace_get_cpu(s->ctx->h, s->name, ring->cpu, &found, NULL) &&
		    found->consumer)
			return cmd_fail("cannot read CPU %u of \"%s\": %s is reading it" BUSY_HINT,
					ring->cpu, s->name,
					hyptrace_process_name(found->consumer, name));
		return cmd_fail("cannot read CPU %u of \"%s\": %s%s", ring->cpu, s->name, err.text,
				err.errnum == EBUSY ? BUSY_HINT : "");
	}
	return r->nr_rings ? EXIT_DONE :
	       cmd_fail("cannot record \"%s\": no CPU has a ring", s->name);
}

static int hold_pmu(struct record *r)
{
	auto_free const char **names = xcalloc(r->nr_chosen + 1, sizeof(*names));
	const struct event_choice choice = { .names = names, .nr = r->nr_chosen };
	struct session *s = &r->session;
	unsigned int i;

	for (i = 0; i < r->nr_chosen; i++)
		names[i] = r->chosen[i]->name;
	for (i = 0; i < s->nr_events && s->pmu.nr; i++)
		if (s->events[i]->id == s->pmu.id && !event_choice_has(&choice, s->events[i]->name))
			r->chosen[r->nr_chosen++] = s->events[i];
	return session_hold_pmu(s, &choice);
}

static int hold(struct record *r)
{
	const struct session *s = &r->session;
	uint16_t ids[HYPTRACE_HOLD_EVENTS_MAX];
	struct hyptrace_error err;
	unsigned int i;

	if (r->nr_chosen > HYPTRACE_HOLD_EVENTS_MAX)
		return cmd_fail("cannot record \"%s\": %u events were chosen, and the driver takes %u at most",
				s->name, r->nr_chosen, HYPTRACE_HOLD_EVENTS_MAX);
	for (i = 0; i < r->nr_chosen; i++)
		ids[i] = r->chosen[i]->id;
	if (!hyptrace_reader_hold(r->rings[0].reader, ids, r->nr_chosen, true, &err))
		return EXIT_DONE;
	return cmd_fail("cannot record \"%s\": %s", s->name, err.text);
}

/* A drain of @ring, or of the host, ended early. Return LOOP_WAIT to go on, or an exit code. */
static int go_on(struct record *r, const struct record_ring *ring, const struct hyptrace_error *err)
{
	if (err->errnum == EOVERFLOW)
		return r->rotate ? record_next_file(r) ?: LOOP_WAIT : EXIT_DONE;
	record_hide_status(r);
	r->has_failed = true;
	if (err->errnum == ENODEV)
		return cmd_fail("the remote \"%s\" was unregistered: the recording ends",
				r->session.name);
	if (err->errnum == ENOSPC || err->errnum == EDQUOT)
		return cmd_fail("%s: the recording ends", err->text);
	if (!ring)
		return cmd_fail("the host: %s: the recording ends", err->text);
	return cmd_fail("CPU %u: %s: the recording ends", ring->cpu, err->text);
}

/* A CPU may record as fast as this reads: then the ring is still ready. Return likewise. */
static int drain(struct record *r, struct record_ring *ring)
{
	/* a sub-buffer may be read in two parts */
	int64_t left = (ring->nr_subbufs + 1LL) * r->session.remote->subbuf_size;
	const int fd = hyptrace_reader_fd(ring->reader);
	struct hyptrace_error err;
	int ret = LOOP_WAIT;
	int64_t n = 1;

	while (n && left > 0 && ret == LOOP_WAIT) {
		n = hyptrace_file_splice(r->file.w, ring->cpu, fd, &err);
		if (n < 0)
			ret = go_on(r, ring, &err);
		else
			left -= n;
	}
	ring->is_ready = n > 0;
	return ret;
}

/* The same for what the host has recorded; @partial: also for sub-buffers that are not full. */
static int drain_host(struct record *r, bool partial)
{
	struct hyptrace_error err;
	int ret = LOOP_WAIT;

	while (ret == LOOP_WAIT && r->host.instance && record_host_drain(r, partial, &err))
		ret = go_on(r, NULL, &err);
	return ret;
}

static int drain_all(struct record *r)
{
	int ret = LOOP_WAIT;
	unsigned int i;

	for (i = 0; i < r->nr_rings && ret == LOOP_WAIT; i++)
		ret = drain(r, &r->rings[i]);
	return ret == LOOP_WAIT ? drain_host(r, true) : ret;
}

static int take(struct loop *l)
{
	struct epoll_event ready[READY_MAX];
	struct record *r = l->arg;
	int i, ret = LOOP_WAIT, nr = epoll_wait(r->epoll, ready, READY_MAX, 0);
	struct record_ring *ring;
	uint64_t now;

	for (i = 0; i < nr; i++)
		r->rings[ready[i].data.u32].is_ready = true;
	for (ring = r->rings; ring < r->rings + r->nr_rings && ret == LOOP_WAIT; ring++)
		if (ring->is_ready)
			ret = drain(r, ring);
	now = clock_now(CLOCK_MONOTONIC);
	if (ret == LOOP_WAIT && now >= r->next_of_host) {
		ret = drain_host(r, false);
		r->next_of_host = r->host.has_more ? now : now + HOST_TICK;
	}
	if (ret == LOOP_WAIT && now >= r->next) {
		/* before the rings are read, so that the status line says how full they were */
		if (record_count(r, RECORD_COUNT_LOOK)) {
			record_hide_status(r);
			gaps_watch(&r->session.gaps);
			record_show_status(r);
		}
		ret = drain_all(r);
		r->next = now + TICK;
	}
	/* epoll does not tell again of data that was left */
	for (ring = r->rings; ring < r->rings + r->nr_rings && ret == LOOP_WAIT; ring++)
		if (ring->is_ready)
			ret = LOOP_AGAIN;
	return ret;
}

static uint64_t tick(struct loop *l, uint64_t now)
{
	const struct record *r = l->arg;

	(void)now;
	return r->next < r->next_of_host ? r->next : r->next_of_host;
}

static int run(struct record *r)
{
	static const struct loop_ops ops = { .take = take, .tick = tick };
	struct loop *l = &r->session.loop;

	l->ops = &ops;
	l->arg = r;
	l->fd = r->epoll;
	/* the file may be the output: a write says what is wrong with it */
	l->ignores_output = true;
	r->begin = clock_now(CLOCK_MONOTONIC);
	r->shown_at = r->begin;
	r->next = r->begin + TICK;
	r->next_of_host = r->host.instance ? r->begin + HOST_TICK : UINT64_MAX;
	return loop_run(l);
}

static int set_size(struct record *r, uint64_t bytes)
{
	const struct hyptrace_settings settings = {
		.changes = HYPTRACE_SETTING_SIZE,
		.size = bytes,
	};
	const struct session *s = &r->session;
	struct hyptrace_error err;

	if (hyptrace_control(s->ctx->h, HYPTRACE_CMD_SET, s->name, HYPTRACE_CPU_ALL, &settings,
			     &err))
		return cmd_fail_verb("resize", s->name, &err);
	return EXIT_DONE;
}

/* Restore filters and rings, unless that was done. Return an exit code. */
static int restore(struct record *r)
{
	const bool is_sized = r->is_sized;
	struct record_ring *ring;

	if (r->is_filtered)
		event_release_all(r->session.ctx->h, r->session.name);
	for (ring = r->rings; ring < r->rings + r->nr_rings; ring++) {
		hyptrace_reader_close(ring->reader);
		ring->reader = NULL;
	}
	r->is_filtered = false;
	r->is_sized = false;
	return is_sized ? set_size(r, r->session.remote->size_requested) : EXIT_DONE;
}

/* Take what the rings hold after the end, and finish the file. Return an exit code. */
static int end(struct record *r, int code)
{
	int back, last;

	record_hide_status(r);
	gaps_look(&r->session.gaps, true);
	/* if this fails, the kernel does it when the rings are closed */
	hyptrace_reader_hold(r->rings[0].reader, NULL, 0, false, NULL);
	if (r->host.instance)
		record_host_switch(r, false);
	record_count(r, RECORD_COUNT_LOOK);
	if (!code) {
		last = drain_all(r);
		code = last == LOOP_WAIT ? EXIT_DONE : last;
	}
	r->counts_failed = !record_count(r, RECORD_COUNT_LAST);
	if (r->host.instance)
		record_host_count(r);
	/* before the file is finished: a signal may end that */
	back = restore(r);
	/* if a pipe blocks, the next signal ends the program; a file is finished in any case */
	signal(SIGALRM, SIG_IGN);
	signals_end_program(record_is_stream(r));
	last = record_end_file(r);
	/* the command may still run: a signal ends it, too */
	signals_end_program(false);
	last = last ?: record_print_summary(r);
	return code ?: last ?: back;
}

static int begin(struct record *r)
{
	struct session *s = &r->session;
	int code = r->size ? set_size(r, r->size) : EXIT_DONE;

	r->is_sized = r->size && !code;
	if (!code && r->host.words.nr)
		code = record_host_begin ? record_host_begin(r) :
		       cmd_fail("cannot record the host: this hyptrace was built without libtracefs");
	code = code ?: open_rings(r) ?: record_begin_file(r);
	if (!code && !record_count(r, RECORD_COUNT_BEGIN))
		code = cmd_fail("cannot read the counters of \"%s\"", s->name);
	code = code ?: set_filter(r) ?: hold_pmu(r) ?: hold(r);
	if (!code && r->host.instance)
		code = record_host_switch(r, true);
	if (!code)
		gaps_look(&s->gaps, true);
	return code ? code : child_start(&s->child);
}

int record_live(struct record *r)
{
	int code, back;

	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (r->epoll < 0)
		return cmd_fail("cannot wait for events: %s", strerror(errno));
	code = begin(r);
	if (!code)
		code = end(r, run(r));
	else if (r->file.w)
		/* nothing was recorded */
		record_abandon_file(r);
	back = restore(r);
	if (record_host_end)
		record_host_end(r);
	return code ? code : back;
}
