// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open a file, or a dump of memory: "record --snapshot" makes a file of that, so all verbs that
 * read files read dumps.
 */
#include <limits.h>

#include "output/clock.h"
#include "output/die.h"
#include "session.h"

static int open_dump(struct session *s, struct hyptrace_error *err)
{
	auto_free char *folder = NULL, *path = NULL, *source = NULL;
	const char *remote = s->ctx->remote, *tmp = getenv("TMPDIR");
	char full[PATH_MAX];
	const bool is_caught = signals_fd() >= 0;
	int code = EXIT_REFUSED;

	folder = xasprintf("%s/hyptrace-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(folder))
		return cmd_fail("cannot make a folder for what the dump has: %s: %s", folder,
				strerror(errno));
	/* a signal does not keep the folder from being removed */
	signals_catch();
	path = xasprintf("%s/events.dat", folder);
	/* a name with a colon must not begin like that of a remote */
	source = xasprintf(DUMP_PREFIX "%s%s%s", remote ? remote : "", remote ? ":" : "",
			   realpath(s->path, full) ? full : s->path);
	if (child_save_snapshot(source, path)) {
		s->file = hyptrace_file_open(path, err);
		code = s->file ? EXIT_DONE : session_fail(s, err);
	}
	unlink(path);
	rmdir(folder);
	if (!is_caught) {
		signals_end_program(true);
		if (signals_stop)
			raise(signals_stop);
	}
	return code;
}

static int resolve(struct hyptrace_file *file, const struct moment *moment, uint64_t *ns,
		   struct hyptrace_error *err)
{
	uint64_t edge = 0;
	int ret = 0;

	if (moment->kind == MOMENT_AFTER_FIRST)
		ret = hyptrace_file_times(file, &edge, NULL, err);
	else if (moment->kind == MOMENT_BEFORE_LAST)
		ret = hyptrace_file_times(file, NULL, &edge, err);
	if (moment->kind == MOMENT_BEFORE_LAST)
		*ns = edge > moment->ns ? edge - moment->ns : 0;
	else if (moment->kind != MOMENT_NONE && __builtin_add_overflow(edge, moment->ns, ns))
		*ns = UINT64_MAX;
	/* of a file without events all times are the same */
	return ret == -ENODATA ? 0 : ret;
}

int session_open_file(struct session *s)
{
	const struct cpu_list *list = &s->ctx->cpus;
	const struct hyptrace_file_info *info;
	struct hyptrace_file_options *options;
	struct hyptrace_error err;
	int code;

	s->name = s->path;
	if (hyptrace_is_dump(s->path) || !strcmp(s->path, PREVIOUS_PATH)) {
		code = open_dump(s, &err);
	} else {
		s->file = hyptrace_file_open(s->path, &err);
		code = s->file ? EXIT_DONE : session_fail(s, &err);
	}
	if (code)
		return code;
	if (!s->quiet)
		gaps_note_file(s->ctx, s->file, s->path);
	s->refused = gaps_count_filtered(s->ctx, s->file);
	info = hyptrace_file_info(s->file);
	s->clock = info->clock ? info->clock : "";
	s->has_offset = info->offset;
	s->offset = info->offset;
	s->formats = info->formats;
	s->events = info->events;
	s->nr_events = info->nr_events;
	s->calls = info->calls;
	s->nr_calls = info->nr_calls;
	options = hyptrace_file_options(s->file);
	/* the times are those of the CPUs that are chosen */
	if ((s->ctx->have_cpus && !list->all &&
	     hyptrace_file_set_cpus(s->file, list->ids, list->nr, &err)) ||
	    resolve(s->file, &s->from, &options->from, &err) ||
	    resolve(s->file, &s->to, &options->to, &err))
		return session_fail(s, &err);
	if (s->takes & SESSION_LAST)
		options->last = s->count;
	return EXIT_DONE;
}

void session_count_file(struct session *s)
{
	const struct hyptrace_file_counts *counts = hyptrace_file_counts(s->file);
	uint64_t first = 0, last = 0;

	s->counts.delivered = counts->delivered;
	s->counts.filtered = counts->filtered;
	s->counts.lost = counts->lost;
	s->counts.lost_more = counts->lost_more;
	if ((!s->from.kind && !s->to.kind) || counts->delivered || counts->filtered ||
	    hyptrace_file_times(s->file, &first, &last, NULL))
		return;
	s->is_outside = true;
	cmd_note("\"%s\" has no event at these times, but from %.6f to %.6f s", s->name,
		 (double)first / NSEC_PER_SEC, (double)last / NSEC_PER_SEC);
}

static int take(void *arg, const struct hyptrace_file_batch *batch)
{
	struct session *s = arg;

	s->ops->batch(s, batch->events, batch->nr);
	return 0;
}

int session_run_file(struct session *s)
{
	const struct hyptrace_file_work work = {
		.flags = s->file_flags, .arg = s, .batch = take, .damage = session_note_damage,
	};
	const struct hyptrace_stream_event *events;
	struct hyptrace_error err;
	int ret = 0;

	progress_begin(s->file, !s->quiet && (s->file_flags || is_stdout_file()));
	/* with the threads of the library, nothing is left for this one */
	if (s->file_flags)
		ret = hyptrace_file_run(s->file, &work, sizeof(work), &err) ?: -ENODATA;
	while ((ret >= 0 || ret == -EBADMSG) && !s->ctx->out.error && !signals_stop &&
	       !s->loop.is_over) {
		ret = hyptrace_file_batch(s->file, &events, &err);
		if (ret > 0)
			s->ops->batch(s, events, ret);
		else if (ret == -EBADMSG)
			session_note_damage(&err, s);
	}
	progress_end();
	session_count_file(s);
	if (ret < 0 && ret != -ENODATA && ret != -EBADMSG)
		return session_fail(s, &err);
	return EXIT_DONE;
}
