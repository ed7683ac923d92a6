// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the events of a remote as they happen, in the order of time: print-events REMOTE.
 *
 *	cc print-events.c $(pkg-config --cflags --libs hyptrace)
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>

#include <hyptrace.h>

static void print(struct hyptrace_formats *formats, const struct hyptrace_stream_event *event)
{
	const struct hyptrace_record *rec = &event->record;
	const struct hyptrace_event *type;
	size_t len;

	if (rec->lost)
		printf("[%03u] LOST events\n", event->cpu);
	type = rec->data ? hyptrace_formats_event(formats, rec) : NULL;
	if (type)
		printf("[%03u] %" PRIu64 " %s: %s\n", event->cpu, rec->ts, type->name,
		       hyptrace_formats_text(formats, type, rec, &len));
}

int main(int argc, char **argv)
{
	const struct hyptrace_stream_event *event;
	struct hyptrace_stream *stream = NULL;
	struct hyptrace_error err;
	struct hyptrace *h;
	int ret = -1;

	h = hyptrace_open(&err);
	if (h)
		stream = hyptrace_stream_new(h, argc > 1 ? argv[1] : "hypervisor", &err);
	if (stream && !hyptrace_stream_start(stream, &err)) {
		while ((ret = hyptrace_stream_next(stream, &event, &err)) >= 0) {
			struct pollfd fd = { hyptrace_stream_fd(stream), POLLIN, 0 };

			if (ret)
				print(hyptrace_stream_formats(stream), event);
			else
				poll(&fd, 1, -1);
		}
	}
	if (ret != -ENODATA)
		fprintf(stderr, "%s: %s\n", argv[0], err.text);
	hyptrace_stream_free(stream);
	hyptrace_close(h);
	return ret != -ENODATA;
}
