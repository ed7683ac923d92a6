// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace record: write events to a file.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "output/clock.h"
#include "output/die.h"
#include "output/message.h"
#include "output/text.h"
#include "session/choice.h"
#include "session/event_hold.h"
#include "session/select.h"
#include "session/signals.h"
#include "view/record/record.h"

#define FILE_DEFAULT	"hyptrace.dat"

/* All rings are read this often, however little they hold: a crash loses no more than that. */
#define TICK		(NSEC_PER_SEC / 2)

/* The buffers of the host's tracing are read so often: no poll() says that they fill up. */
#define HOST_TICK	(NSEC_PER_SEC / 20)

/* What epoll reports besides the index of a ring */
#define SIGNAL_READY	UINT32_MAX
#define CHILD_READY	(UINT32_MAX - 1)

/* Events to take from epoll at once */
#define READY_MAX	64

/* Files that --rotate keeps at most */
#define ROTATE_MAX	1000000

enum {
	OPT_HOST = 0x200,
	OPT_SIZE,
	OPT_DURATION,
	OPT_LIMIT,
	OPT_ROTATE,
	OPT_SNAPSHOT,
};

#define FILE_HELP \
	"Write to FILE (" FILE_DEFAULT "); - is the standard output"

#define SIZE_HELP \
	"Use rings of this size, in bytes, or units of 1024 with K, M, G or T"

#define QUIET_HELP \
	"Print no notes, and a summary only if events were lost"

#define SNAPSHOT_HELP \
	"Save what the rings hold now, and consume nothing"

#define EVENT_HELP \
	"Enable these events while recording: names, globs or all, with commas between them; may be repeated"

#define HOST_HELP \
	"Record these events of the host's own tracing, too: \"kvm:kvm_exit\", a system such as kvm, or a glob, with commas between them; may be repeated"

#define ROTATE_HELP \
	"At the limit, begin the next file, and keep N: FILE, FILE.1 and so on, the newest first"

static const struct argp_option options[] = {
	{ "file", 'o', "FILE", 0, FILE_HELP, 0 },
	{ "event", 'e', "EVENT", 0, EVENT_HELP, 0 },
	{ "filter", 'F', "FILTER", 0, "Have EL2 record only events that meet the condition", 0 },
	{ "host", OPT_HOST, "EVENT", 0, HOST_HELP, 0 },
	{ "size", OPT_SIZE, "BYTES", 0, SIZE_HELP, 0 },
	{ "duration", OPT_DURATION, "TIME", 0, "End after so many s, ms, m or h", 0 },
	{ "limit", OPT_LIMIT, "BYTES", 0, "End when the file has so many bytes", 0 },
	{ "rotate", OPT_ROTATE, "N", 0, ROTATE_HELP, 0 },
	{ "compress", 'z', NULL, 0, "Compress the file by zstd", 0 },
	{ "quiet", 'q', NULL, 0, QUIET_HELP, 0 },
	{ "snapshot", OPT_SNAPSHOT, NULL, 0, SNAPSHOT_HELP, 0 },
	{ 0 }
};

static error_t check_options(const struct record *r)
{
	if (r->ctx->json && record_is_stdout(r))
		return cmd_usage("--json prints to the standard output, so the file cannot go there");
	if (r->rotate && !r->limit)
		return cmd_usage("--rotate needs --limit");
	if (r->rotate && record_is_stream(r))
		return cmd_usage("--rotate needs a file");
	if (r->snapshot && r->host.words.nr)
		return cmd_usage("--snapshot saves what the rings hold: it does not record the host");
	/* --file, --compress and --quiet go with it */
	if (r->snapshot && (r->words.nr || r->filter || r->size || r->duration ||
			    r->limit || r->child.argv))
		return cmd_usage("--snapshot saves what is there: it takes no events, no filter, no limits and no command");
	return 0;
}

static error_t parse_argument(struct record *r, char *arg, struct argp_state *state)
{
	/* argp has the place of the first argument after "--" */
	if (!state->quoted || state->next <= state->quoted)
		return cmd_usage("unexpected argument \"%s\": events follow --event, and a command follows \"--\"",
				 arg);
	if (!r->child.argv)
		r->child.argv = &state->argv[state->next - 1];
	state->next = state->argc;
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct record *r = state->input;

	switch (key) {
	case 'o':
		r->path = arg;
		return *arg ? 0 : cmd_usage("the name of the file is empty");
	case 'e':
		return cmd_add_words(&r->words, arg);
	case OPT_HOST:
		if (!arg[strspn(arg, ",")])
			return cmd_usage("no event given: use \"kvm:kvm_exit\", a system such as kvm, or a glob");
		return cmd_add_words(&r->host.words, arg);
	case 'F':
		r->filter = arg;
		return 0;
	case OPT_SIZE:
		if (!parse_size(arg, &r->size) || !r->size)
			return cmd_usage("bad size \"%s\": use bytes, or K, M, G or T", arg);
		return 0;
	case OPT_DURATION:
		if (!parse_duration(arg, &r->duration))
			return cmd_usage("bad time \"%s\": use a number and s, ms, m or h", arg);
		return 0;
	case OPT_LIMIT:
		if (!parse_size(arg, &r->limit) || !r->limit)
			return cmd_usage("bad limit \"%s\": use bytes, or K, M, G or T", arg);
		return 0;
	case OPT_ROTATE:
		if (!parse_number(arg, ROTATE_MAX, &r->rotate) || !r->rotate)
			return cmd_usage("bad number \"%s\": use a number of files from 1 to %d",
					 arg, ROTATE_MAX);
		return 0;
	case 'z':
		r->compress = true;
		return 0;
	case 'q':
		r->quiet = true;
		return 0;
	case OPT_SNAPSHOT:
		r->snapshot = true;
		return 0;
	case ARGP_KEY_ARG:
		return parse_argument(r, arg, state);
	case ARGP_KEY_END:
		return check_options(r);
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = ARGS_COMMAND,
	.doc = "Write events to a file until a signal comes, or COMMAND has ended. \"hyptrace report\" and trace-cmd read the file. Events that are enabled are recorded, too. When the recording ends, the kernel undoes what it has enabled and started. With COMMAND, its exit code is returned.",
};

static int epoll_add(struct record *r, int fd, uint32_t data)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = data };

	return epoll_ctl(r->epoll, EPOLL_CTL_ADD, fd, &event);
}

static int open_epoll(struct record *r)
{
	int signal_fd = signals_catch();

	/* a write beyond the limit of the process fails instead */
	signal(SIGXFSZ, SIG_IGN);
	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (signal_fd >= 0 && r->epoll >= 0 && !epoll_add(r, signal_fd, SIGNAL_READY) &&
	    (r->child.pidfd < 0 || !epoll_add(r, r->child.pidfd, CHILD_READY)))
		return EXIT_DONE;
	return cmd_fail("cannot wait for events: %s", strerror(errno));
}

/*
 * Say why the recording ends before it was asked to, of a ring or, if that is NULL, of the host.
 * Return an exit code.
 */
static int fail_drain(struct record *r, const struct record_ring *ring,
		      const struct hyptrace_error *err)
{
	record_hide_status(r);
	r->has_failed = true;
	if (err->errnum == ENODEV)
		return cmd_fail("the remote \"%s\" was unregistered: the recording ends",
				r->remote->name);
	if (err->errnum == ENOSPC || err->errnum == EDQUOT)
		return cmd_fail("%s: the recording ends", err->text);
	if (!ring)
		return cmd_fail("the host: %s: the recording ends", err->text);
	return cmd_fail("CPU %u: %s: the recording ends", ring->cpu, err->text);
}

/*
 * A drain has ended early: at the limit begin the next file, or set @end if there is none. Return
 * an exit code.
 */
static int go_on(struct record *r, const struct record_ring *ring, const struct hyptrace_error *err,
		 bool *end)
{
	if (err->errnum != EOVERFLOW)
		return fail_drain(r, ring, err);
	if (r->rotate)
		return record_next_file(r);
	*end = true;
	return EXIT_DONE;
}

/*
 * Move what a ring holds to the file, but not for ever what comes meanwhile. Return an exit code;
 * @end is set at the limit.
 */
static int drain(struct record *r, struct record_ring *ring, bool *end)
{
	int64_t left = record_ring_size(r, ring);
	struct hyptrace_error err;
	int code;

	while (record_drain(r, ring, &left, &err)) {
		code = go_on(r, ring, &err, end);
		if (code || *end)
			return code;
	}
	return EXIT_DONE;
}

/* The same for what the host has recorded; @partial: also for sub-buffers that are not full. */
static int drain_host(struct record *r, bool partial, bool *end)
{
	struct hyptrace_error err;
	int code;

	while (record_host_drain(r, partial, &err)) {
		code = go_on(r, NULL, &err, end);
		if (code || *end)
			return code;
	}
	return EXIT_DONE;
}

static int drain_all(struct record *r, bool *end)
{
	unsigned int i;
	int code = EXIT_DONE;

	for (i = 0; i < r->nr_rings && !code && !*end; i++)
		code = drain(r, &r->rings[i], end);
	return code || *end ? code : drain_host(r, true, end);
}

/* Wait for data until a time. Return the number of ready descriptors. */
static int wait_until(const struct record *r, uint64_t until, struct epoll_event *ready)
{
	uint64_t now = clock_now(CLOCK_MONOTONIC);
	int msec = now < until ? (until - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC : 0;
	unsigned int i;
	int nr;

	/* epoll does not tell again of data that was left */
	for (i = 0; i < r->nr_rings; i++)
		if (r->rings[i].is_ready)
			msec = 0;
	nr = epoll_wait(r->epoll, ready, READY_MAX, msec);
	return nr > 0 ? nr : 0;
}

/* Drain the rings that are ready. Return an exit code. */
static int handle(struct record *r, const struct epoll_event *ready, int nr, bool *end)
{
	int i, code = EXIT_DONE;
	unsigned int cpu;

	for (i = 0; i < nr; i++) {
		if (ready[i].data.u32 == SIGNAL_READY || ready[i].data.u32 == CHILD_READY)
			*end = true;
		else
			r->rings[ready[i].data.u32].is_ready = true;
	}
	for (cpu = 0; cpu < r->nr_rings && !code; cpu++) {
		if (!r->rings[cpu].is_ready)
			continue;
		code = drain(r, &r->rings[cpu], end);
	}
	return code;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Record until the end is requested. Return an exit code. */
static int run(struct record *r)
{
	const uint64_t deadline = r->duration ? r->begin + r->duration : UINT64_MAX;
	struct epoll_event ready[READY_MAX];
	uint64_t tick = r->begin + TICK, host_tick = UINT64_MAX, until, now;
	bool end = false;
	int code = EXIT_DONE;

	if (r->host.words.nr)
		host_tick = r->begin + HOST_TICK;
	while (!code && !end && !signals_stop) {
		until = earlier(earlier(tick, deadline), host_tick);
		code = handle(r, ready, wait_until(r, until, ready), &end);
		now = clock_now(CLOCK_MONOTONIC);
		end |= now >= deadline;
		if (!code && !end && now >= host_tick) {
			code = drain_host(r, false, &end);
			host_tick = r->host.has_more ? now : now + HOST_TICK;
		}
		if (code || end || now < tick)
			continue;
		/* before the rings are read, so that the status line says how full they were */
		if (record_count(r, RECORD_COUNT_LOOK)) {
			record_hide_status(r);
			gaps_watch(&r->gaps);
			record_show_status(r);
		}
		code = drain_all(r, &end);
		tick = now + TICK;
	}
	return code;
}

/*
 * Finish the file. From now on only the user's signals interrupt calls. If a pipe blocks, the next
 * one ends the program; a file is finished in any case. Return an exit code.
 */
static int end_file(struct record *r)
{
	int code;

	signal(SIGALRM, SIG_IGN);
	signals_end_program(record_is_stream(r));
	code = record_end_file(r);
	/* the command may still run: a signal ends it, too */
	signals_end_program(false);
	return code;
}

/* Say what was recorded. Return an exit code. */
static int print_summary(const struct record *r)
{
	record_print_summary(r);
	record_print_host_summary(r);
	if (r->ctx->json)
		record_print_json(r);
	if (!r->unwritten || r->has_failed)
		return EXIT_DONE;
	return cmd_fail("%" PRIu64 " events could not be written to the file", r->unwritten);
}

static int set_size(struct record *r, uint64_t bytes)
{
	struct hyptrace_settings *settings = hyptrace_settings_new();
	struct hyptrace_error err;
	int ret;

	if (!settings)
		die_no_memory();
	hyptrace_settings_size(settings, bytes);
	ret = hyptrace_set(r->ctx->h, r->remote->name, settings, &err);
	hyptrace_settings_free(settings);
	return ret ? cmd_fail_verb("resize", r->remote->name, &err) : EXIT_DONE;
}

/* Make filters and rings what they were, unless that was done. Return an exit code. */
static int restore(struct record *r)
{
	const bool is_sized = r->is_sized;

	if (r->is_filtered)
		event_release_all(r->ctx->h, r->remote->name);
	record_close_rings(r);
	r->is_filtered = false;
	r->is_sized = false;
	return is_sized ? set_size(r, r->remote->size_requested) : EXIT_DONE;
}

/* Take what the rings hold after the end, and finish the file. Return an exit code. */
static int end(struct record *r, int code)
{
	bool full = false;
	int back, last;

	record_hide_status(r);
	gaps_look(&r->gaps);
	record_release(r);
	record_host_stop(r);
	record_count(r, RECORD_COUNT_LOOK);
	if (!code)
		code = drain_all(r, &full);
	r->counts_failed = !record_count(r, RECORD_COUNT_LAST);
	record_host_count(r);
	/* before the file is finished: a signal may end that */
	back = restore(r);
	last = end_file(r);
	if (!last)
		last = print_summary(r);
	code = code ? code : last;
	return code ? code : back;
}

static int record_live(struct record *r)
{
	int code, back;

	code = record_host_begin(r);
	if (!code)
		code = record_open_rings(r);
	if (!code)
		code = record_begin_file(r);
	if (!code && !record_count(r, RECORD_COUNT_BEGIN))
		code = cmd_fail("cannot read the counters of \"%s\"", r->remote->name);
	if (!code)
		code = record_set_filter(r);
	if (!code)
		code = record_hold(r);
	if (!code)
		code = record_host_start(r);
	if (!code)
		gaps_look(&r->gaps);
	if (!code)
		code = child_start(&r->child);
	if (!code) {
		r->begin = clock_now(CLOCK_MONOTONIC);
		r->shown_at = r->begin;
		code = end(r, run(r));
	} else if (r->file.w) {
		/* nothing was recorded */
		gaps_set_file(&r->gaps, NULL);
		hyptrace_file_abandon(r->file.w);
		r->file.w = NULL;
	}
	back = restore(r);
	record_host_end(r);
	return code ? code : back;
}

/* Record while the rings have the size of --size. */
static int record_sized(struct record *r)
{
	int code;

	if (!r->size)
		return record_live(r);
	code = set_size(r, r->size);
	r->is_sized = !code;
	return code ? code : record_live(r);
}

/* Put the words of the command line together. */
static char *join(int argc, char **argv)
{
	char *text;
	size_t len;
	FILE *f = text_open(&text, &len);
	int i;

	fputs("hyptrace record", f);
	for (i = 0; i < argc; i++)
		fprintf(f, " %s", argv[i]);
	text_close(f);
	return text;
}

static int record(struct record *r)
{
	int code;

	r->child.no_stdout = record_is_stdout(r);
	code = child_prepare(&r->child);
	if (!code)
		code = open_epoll(r);
	if (!code)
		code = record_choose(r);
	if (!code)
		gaps_begin(&r->gaps, r->ctx, r->remote->name, &r->choice, r->events, r->nr_events);
	r->gaps.own = r->filter;
	if (!code)
		code = r->snapshot ? record_snapshot(r) : record_sized(r);
	if (r->snapshot && !code)
		code = print_summary(r);
	/* as perf: a signal also ends the command */
	child_stop(&r->child);
	return code ? code : r->child.code;
}

static int cmd_record(struct context *ctx, int argc, char **argv)
{
	struct record r = { .ctx = ctx, .path = FILE_DEFAULT, .epoll = -1, .child.pidfd = -1 };
	char *command = join(argc - 1, argv + 1);
	struct hyptrace_remote *remote;
	int code;

	cmd_parse(ctx, &argp, argc, argv, &r);
	r.command = command;
	code = cmd_connect(ctx);
	if (!code)
		code = cmd_get_remote(ctx, &remote);
	if (code)
		return code;
	r.remote = remote;
	code = record(&r);
	if (r.epoll >= 0)
		close(r.epoll);
	gaps_end(&r.gaps);
	event_choice_free(&r.choice);
	hyptrace_free_events(r.events);
	hyptrace_free_remote(remote);
	free(r.words.words);
	free(r.rings);
	free(command);
	return code;
}

static const struct verb verbs[] VERBS = {
	{ "record", cmd_record, "Write events to a file, and consume them.",
	  VERB_FILES + 1, true },
};
