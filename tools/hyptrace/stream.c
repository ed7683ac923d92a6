// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stream events: read the rings and print in the order of time.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "signals.h"
#include "stream.h"

#define NSEC_PER_SEC	UINT64_C(1000000000)
#define NSEC_PER_MSEC	UINT64_C(1000000)

/*
 * An event must be printed before the bound for the order is over. It is held for
 * 1/HELD_PART of the bound, until the other CPUs were empty so long after it. By then a
 * writer with an earlier time stamp has committed its event. The rest of the bound is for
 * noticing that and for printing. A wait takes at least 1/TOGETHER_PART of the bound,
 * so that events due at nearly the same time share it.
 */
#define HELD_PART	4
#define TOGETHER_PART	8

/* The latency bound of the rings: after this time at most poll() reports an event. */
#define LATENCY_USEC	3000

/* Bytes to read at once from a ring, unless a sub-buffer is larger */
#define READ_SIZE	(64 << 10)

/* Bytes of the smallest record: a header, and an event id that is rounded up */
#define RECORD_MIN	8

/* While tracing is off poll() does not block: look again after this time instead. */
#define ASLEEP_NSEC	(200 * NSEC_PER_MSEC)

/* Descriptors besides the rings: notifications, signals and the output */
#define OTHER_FDS	3

/**
 * struct stream_source - a CPU's ring
 * @reader:	its consumer
 * @cpu:	the CPU
 * @dec:	decodes a sub-buffer of @buf
 * @buf:	sub-buffers as they were read
 * @size:	room in @buf
 * @len:	bytes in @buf
 * @pos:	where the next sub-buffer starts
 * @asked:	the time right before the last read
 * @rec:	the next event, if @pending
 * @err:	why a sub-buffer could not be decoded
 * @pending:	there is a next event
 * @damaged:	a sub-buffer could not be decoded, and the rest of it is lost
 * @asleep:	tracing is off and the ring is empty
 * @over:	the ring must not be read any more
 */
struct stream_source {
	struct hyptrace_reader	*reader;
	int			cpu;
	struct hyptrace_decoder	*dec;
	char			*buf;
	size_t			size;
	size_t			len;
	size_t			pos;
	uint64_t		asked;
	struct hyptrace_record	rec;
	struct hyptrace_error	err;
	bool			pending;
	bool			damaged;
	bool			asleep;
	bool			over;
};

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static int attach_failed(struct stream *s, const struct hyptrace_cpu *cpu,
			 const struct hyptrace_error *err)
{
	struct hyptrace_cpu *again;
	uint32_t pid = 0;

	if (err->errnum != EBUSY)
		return cmd_fail("cannot read CPU %u of \"%s\": %s", cpu->id, s->remote->name,
				err->text);

	/* get the CPU again: the consumer may have attached after the list */
	if (!hyptrace_get_cpu(s->ctx->h, s->remote->name, cpu->id, &again, NULL)) {
		pid = again->consumer;
		hyptrace_free_cpu(again);
	}
	if (pid)
		return cmd_fail("cannot read CPU %u of \"%s\": process %u reads it already",
				cpu->id, s->remote->name, pid);
	return cmd_fail("cannot read CPU %u of \"%s\": %s", cpu->id, s->remote->name, err->text);
}

static int open_source(struct stream *s, const struct hyptrace_cpu *cpu)
{
	struct stream_source *src = &s->sources[s->nr_sources];
	struct hyptrace_error err;

	src->reader = hyptrace_reader_open(s->remote->name, cpu->id, O_NONBLOCK, &err);
	if (!src->reader) {
		/* "all" means all CPUs that have a ring */
		if (err.errnum == ENXIO && (!s->ctx->have_cpus || s->ctx->cpus.all))
			return EXIT_DONE;
		return attach_failed(s, cpu, &err);
	}

	src->cpu = cpu->id;
	s->counts[s->nr_sources++].cpu = cpu->id;
	if (hyptrace_reader_latency(src->reader, LATENCY_USEC, &err))
		return cmd_fail("cannot read CPU %u of \"%s\": %s", cpu->id, s->remote->name,
				err.text);
	src->size = READ_SIZE - READ_SIZE % hyptrace_reader_subbuf_size(src->reader);
	if (src->size < hyptrace_reader_subbuf_size(src->reader))
		src->size = hyptrace_reader_subbuf_size(src->reader);
	src->buf = malloc(src->size);
	src->dec = hyptrace_decoder_new();
	if (!src->buf || !src->dec)
		die_no_memory();
	return EXIT_DONE;
}

/**
 * stream_open - become the consumer of rings
 * @s:		the stream
 * @cpus:	the CPUs of the rings
 * @nr:		number of @cpus
 *
 * Return: an exit code; the caller calls stream_close() in any case.
 */
int stream_open(struct stream *s, struct hyptrace_cpu *const *cpus, unsigned int nr)
{
	unsigned int i;
	int code;

	s->sources = calloc(nr ? nr : 1, sizeof(*s->sources));
	s->counts = calloc(nr ? nr : 1, sizeof(*s->counts));
	if (!s->sources || !s->counts)
		die_no_memory();
	for (i = 0; i < nr; i++) {
		code = open_source(s, cpus[i]);
		if (code)
			return code;
	}
	if (!s->nr_sources)
		return cmd_fail("cannot read \"%s\": no CPU has a ring", s->remote->name);
	s->merge = hyptrace_merge_new(s->nr_sources, s->bound / HELD_PART);
	if (!s->merge)
		die_no_memory();
	return stream_count_begin(s);
}

/**
 * stream_close - detach from the rings
 * @s:		the stream; only its counts stay valid
 */
void stream_close(struct stream *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_sources; i++) {
		hyptrace_reader_close(s->sources[i].reader);
		hyptrace_decoder_free(s->sources[i].dec);
		free(s->sources[i].buf);
	}
	free(s->sources);
	s->sources = NULL;
	hyptrace_merge_free(s->merge);
	s->merge = NULL;
}

/**
 * stream_stop - stop tracing if the stream has started it
 * @s:		the stream
 *
 * Return: an exit code.
 */
int stream_stop(struct stream *s)
{
	struct hyptrace_error err;

	if (!s->started)
		return EXIT_DONE;
	s->started = false;
	if (hyptrace_stop(s->ctx->h, s->remote->name, &err))
		return cmd_fail_verb("stop", s->remote->name, &err);
	return EXIT_DONE;
}

/* Get the next event after a sub-buffer whose decoding gave @ret; false if there is none. */
static bool next_subbuf(struct stream_source *src, int ret)
{
	const size_t subbuf = hyptrace_reader_subbuf_size(src->reader);

	for (;;) {
		if (ret < 0) {
			cmd_note("CPU %d: %s; the rest of it is passed over", src->cpu,
				 src->err.text);
			src->damaged = true;
		}
		if (src->len - src->pos < subbuf)
			return false;
		ret = hyptrace_decoder_load(src->dec, src->buf + src->pos, subbuf, &src->err);
		src->pos += subbuf;
		if (!ret)
			ret = hyptrace_decoder_next(src->dec, &src->rec, &src->err);
		if (ret > 0)
			return true;
	}
}

/* Get the next event of what was read; return false if there is none. */
static inline bool next_record(struct stream_source *src)
{
	int ret = hyptrace_decoder_next(src->dec, &src->rec, &src->err);

	return ret > 0 || next_subbuf(src, ret);
}

static bool has_enough(const struct stream *s)
{
	return s->limit && s->printed == s->limit;
}

/* Return the time of the last event that may be printed. */
static uint64_t last_time(const struct stream *s)
{
	return s->ending && s->boot_clock ? s->end : UINT64_MAX;
}

/* Discard the next event of a source, which was consumed and will not be printed. */
static void discard(struct stream *s, unsigned int index)
{
	struct stream_source *src = &s->sources[index];

	src->pending = false;
	s->discarded++;
	stream_count_lost(s, index, src->rec.lost);
}

/* Report a source's next event to the merge. */
static void found(struct stream *s, unsigned int index)
{
	struct stream_source *src = &s->sources[index];
	/* if the writer's clock is ahead of ours, the event must not be held for longer */
	bool same_clock = s->boot_clock && src->rec.ts < src->asked;

	/* events after the request to end are not printed */
	if (src->rec.ts > last_time(s)) {
		discard(s, index);
		src->over = true;
		hyptrace_merge_empty(s->merge, index, src->asked);
		return;
	}
	hyptrace_merge_pending(s->merge, index, src->rec.ts,
			       same_clock ? src->rec.ts : src->asked);
}

/* Return how much to read: consume as few events as possible that are not printed. */
static size_t read_size(const struct stream *s, const struct stream_source *src)
{
	const size_t subbuf = hyptrace_reader_subbuf_size(src->reader);
	size_t size;

	if (!s->limit)
		return src->size;
	/* a sub-buffer holds at most subbuf / RECORD_MIN events */
	size = (s->limit - s->printed) / s->nr_sources / (subbuf / RECORD_MIN) * subbuf;
	if (size < subbuf)
		return subbuf;
	return size < src->size ? size : src->size;
}

/* Look for the next event of a source. Return an exit code. */
static int ask(struct stream *s, unsigned int index)
{
	struct stream_source *src = &s->sources[index];
	ssize_t n;

	src->pending = next_record(src);
	while (!src->pending && !src->over) {
		src->asked = now();
		n = read(hyptrace_reader_fd(src->reader), src->buf, read_size(s, src));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			return cmd_fail("cannot read CPU %d of \"%s\": %s", src->cpu,
					s->remote->name, strerror(errno));
		src->asleep = !n;
		if (n <= 0)
			break;
		src->len = n;
		src->pos = 0;
		src->pending = next_record(src);
	}

	if (src->pending)
		found(s, index);
	else
		hyptrace_merge_empty(s->merge, index, src->asked);
	return EXIT_DONE;
}

static void tell_lost(struct stream *s, unsigned int index, uint64_t lost)
{
	stream_count_lost(s, index, lost);
	lines_lost(&s->lines, s->counts[index].cpu, s->sources[index].rec.ts, lost);
}

/* Print the next event, and those of the same source that need no merge step. */
static void emit(struct stream *s, unsigned int index)
{
	struct stream_source *src = &s->sources[index];
	uint64_t until = hyptrace_merge_until(s->merge, index);
	/* without a limit (0) this wraps around, and never becomes 0 in practice */
	uint64_t left = s->limit - s->printed;
	bool more;

	if (until > last_time(s))
		until = last_time(s);
	do {
		if (src->rec.lost)
			tell_lost(s, index, src->rec.lost);
		lines_event(&s->lines, src->cpu, &src->rec);
		more = --left && next_record(src);
	} while (more && src->rec.ts <= until);

	src->pending = more;
	s->printed = s->limit - left;
	if (src->pending)
		found(s, index);
}

static int wake(const struct hyptrace_notification *notification, void *arg)
{
	(void)notification;
	*(bool *)arg = true;
	return 0;
}

static void take_notices(struct stream *s)
{
	struct hyptrace_error err;
	bool changed = false;
	unsigned int i;

	/* lost notifications mean a change, too */
	while (hyptrace_listener_read(s->listener, wake, &changed, &err) == -ENOBUFS)
		changed = true;
	for (i = 0; i < s->nr_sources && changed; i++)
		s->sources[i].asleep = false;
}

/* Return how long to wait, in nanoseconds; UINT64_MAX is no limit. */
static uint64_t wait_time(const struct stream *s, bool asleep)
{
	uint64_t due = hyptrace_merge_due(s->merge), at = now(), wait = UINT64_MAX;

	if (due != UINT64_MAX) {
		wait = due > at ? due - at : 0;
		if (wait < s->bound / TOGETHER_PART)
			wait = s->bound / TOGETHER_PART;
	}
	return asleep && wait > ASLEEP_NSEC ? ASLEEP_NSEC : wait;
}

/* Wait until there may be events. Return false if the reader of the output is gone. */
static bool wait_for_events(struct stream *s, struct pollfd *fds)
{
	struct pollfd *other = fds + s->nr_sources;
	struct timespec timeout;
	bool asleep = false;
	uint64_t wait;
	unsigned int i;
	int ret;

	for (i = 0; i < s->nr_sources; i++) {
		const struct stream_source *src = &s->sources[i];

		asleep |= src->asleep;
		fds[i].fd = src->pending || src->asleep ? -1 : hyptrace_reader_fd(src->reader);
		fds[i].events = POLLIN;
	}
	other[0].fd = s->listener ? hyptrace_listener_fd(s->listener) : -1;
	other[0].events = POLLIN;
	other[1].fd = s->signal_fd;
	other[1].events = POLLIN;
	other[2].fd = STDOUT_FILENO;

	wait = wait_time(s, asleep);
	timeout.tv_sec = wait / NSEC_PER_SEC;
	timeout.tv_nsec = wait % NSEC_PER_SEC;
	ret = ppoll(fds, s->nr_sources + OTHER_FDS, wait == UINT64_MAX ? NULL : &timeout, NULL);
	if (ret <= 0)
		return true;
	if (other[0].revents)
		take_notices(s);
	return !(other[2].revents & (POLLERR | POLLHUP | POLLNVAL));
}

/*
 * Begin to end the stream: print only the events that happened so far. If the clock
 * cannot tell which these are and tracing continues, print what was already read.
 */
static int begin_end(struct stream *s, bool tracing)
{
	bool endless = tracing && !s->started && !s->boot_clock;
	unsigned int i;
	int code;

	s->ending = true;
	s->end = now();
	code = stream_stop(s);
	hyptrace_merge_finish(s->merge);
	for (i = 0; i < s->nr_sources; i++)
		s->sources[i].over = endless;
	return code;
}

/* Is tracing off, with every ring read to its end? */
static bool is_drained(const struct stream *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_sources; i++)
		if (!s->sources[i].pending && !s->sources[i].asleep)
			return false;
	return true;
}

/* Look again at the sources that were empty. */
static int ask_again(struct stream *s)
{
	unsigned int i;
	int code = EXIT_DONE;

	for (i = 0; i < s->nr_sources && !code; i++)
		if (!s->sources[i].pending)
			code = ask(s, i);
	return code;
}

static int run(struct stream *s, struct pollfd *fds)
{
	unsigned int index;
	int code = EXIT_DONE;

	while (!code && !s->ctx->out.error && !signals_abandon) {
		switch (hyptrace_merge_step(s->merge, &index)) {
		case HYPTRACE_MERGE_ASK:
			if (signals_stop && !s->ending)
				code = begin_end(s, true);
			if (!code)
				code = ask(s, index);
			break;
		case HYPTRACE_MERGE_EMIT:
			emit(s, index);
			if (has_enough(s))
				return EXIT_DONE;
			break;
		case HYPTRACE_MERGE_WAIT:
			if (s->ending)
				return EXIT_DONE;
			if (s->no_start && is_drained(s)) {
				code = begin_end(s, false);
				break;
			}
			out_flush(&s->ctx->out);
			if (s->ctx->out.error || !wait_for_events(s, fds))
				return EXIT_DONE;
			if (signals_stop)
				code = begin_end(s, true);
			if (!code)
				code = ask_again(s);
			break;
		}
	}
	return code;
}

/* Count what was read but not printed, and the losses after the last event. */
static void count_rest(struct stream *s, unsigned int index)
{
	struct stream_source *src = &s->sources[index];
	uint64_t lost;

	if (src->pending)
		discard(s, index);
	while (next_record(src))
		discard(s, index);
	s->lost_more |= src->damaged;
	lost = hyptrace_decoder_lost(src->dec);
	if (lost && has_enough(s))
		stream_count_lost(s, index, lost);
	else if (lost)
		tell_lost(s, index, lost);
}

/**
 * stream_run - print events up to the limit, or until the end is requested
 * @s:		the stream
 *
 * Return: an exit code.
 */
int stream_run(struct stream *s)
{
	struct pollfd *fds = calloc(s->nr_sources + OTHER_FDS, sizeof(*fds));
	unsigned int i;
	int code;

	if (!fds)
		die_no_memory();
	code = run(s, fds);
	for (i = 0; i < s->nr_sources; i++)
		count_rest(s, i);
	out_flush(&s->ctx->out);
	free(fds);
	return code;
}
