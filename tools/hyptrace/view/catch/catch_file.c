// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find events in a file, as hyptrace catch does it in the rings.
 */
#include <errno.h>
#include <inttypes.h>

#include "output/die.h"
#include "output/message.h"
#include "session/gaps.h"
#include "session/moment.h"
#include "session/select.h"
#include "session/signals.h"
#include "catch.h"

static int fail(const struct catcher *c, const struct hyptrace_error *err)
{
	return cmd_fail("cannot read \"%s\": %s", c->input, err->text);
}

static int begin(struct catcher *c, struct hyptrace_file *file)
{
	const struct hyptrace_file_info *info = hyptrace_file_info(file);
	const char *clock = info->clock ? info->clock : "";
	const struct cpu_list *list = &c->ctx->cpus;
	const struct hyptrace_file_cpu *const *cpus;
	struct hyptrace_error err;
	unsigned int nr, i;
	int code;

	c->events = hyptrace_file_events(file, &c->nr_events);
	code = catch_choose(c);
	if (code)
		return code;
	if (c->filter)
		hyptrace_filter_set_formats(c->filter, hyptrace_file_formats(file));
	c->lines.has_offset = info->offset;
	c->lines.offset = info->offset;
	if (lines_begin(&c->lines, c->ctx, clock, hyptrace_file_formats(file), &err) ||
	    (c->ctx->have_cpus && !list->all &&
	     hyptrace_file_set_cpus(file, list->ids, list->nr, &err)) ||
	    moment_set_times(file, &c->from, &c->to, &err))
		return fail(c, &err);
	cpus = hyptrace_file_cpus(file, &nr);
	for (i = 0; i < nr; i++)
		catch_add_cpu(c, cpus[i]->id);
	c->finder = catch_finder_new(c->nr_cpus, c->after);
	c->is_armed = true;
	return EXIT_DONE;
}

static int find(struct catcher *c, struct hyptrace_file *file)
{
	const struct hyptrace_stream_event *event;
	struct hyptrace_error err;
	int ret, code = EXIT_DONE;

	while (!catch_has_enough(c)) {
		ret = hyptrace_file_next(file, &event, &err);
		if (ret == -ENODATA)
			break;
		if (ret == -EBADMSG) {
			out_flush(&c->ctx->out);
			cmd_note("\"%s\": %s", c->input, err.text);
			code = EXIT_REFUSED;
		} else if (ret < 0) {
			return fail(c, &err);
		} else if (event->record.data) {
			catch_take(c, event);
		}
	}
	catch_flush(c, true);
	return code;
}

static void print_summary(const struct catcher *c, const struct hyptrace_file *file)
{
	struct hyptrace_file_counts counts;

	hyptrace_file_counts(file, &counts, sizeof(counts));
	if (!out_has_failed(&c->ctx->out) && (!c->lines.quiet || counts.lost || counts.lost_more))
		cmd_note("%" PRIu64 " event%s caught, %" PRIu64 "%s lost in between", c->nr_caught,
			 c->nr_caught == 1 ? "" : "s", counts.lost,
			 counts.lost_more ? " or more" : "");
}

/* Find the events in the file. Return an exit code. */
int catch_file(struct catcher *c)
{
	struct hyptrace_file *file;
	struct hyptrace_error err;
	int code;

	cmd_make_printer(c->ctx);
	file = hyptrace_file_open(c->input, &err);
	if (!file)
		return fail(c, &err);
	if (!c->lines.quiet)
		gaps_note_file(file, c->input);
	code = begin(c, file);
	if (!code) {
		code = find(c, file);
		print_summary(c, file);
	}
	lines_end(&c->lines);
	hyptrace_file_close(file);
	return code;
}
