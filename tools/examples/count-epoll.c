// SPDX-License-Identifier: GPL-2.0-only
/*
 * Count the events of a remote in an epoll loop, and end cleanly on Ctrl-C: count-epoll REMOTE.
 * The filter keeps the events of vCPUs away.
 *
 *	cc count-epoll.c $(pkg-config --cflags --libs hyptrace)
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>

#include <hyptrace.h>

/* Refuse an event that has a field "vcpu" whose value is not 0. */
static bool is_of_host(const struct hyptrace_stream_event *event, void *arg)
{
	const struct hyptrace_formats *formats = (const struct hyptrace_formats *)arg;
	const struct hyptrace_event *type = hyptrace_formats_event(formats, &event->record);
	const struct hyptrace_field *vcpu = type ? hyptrace_event_field(type, "vcpu") : NULL;
	uint64_t value;

	return !vcpu || hyptrace_field_value(vcpu, &event->record, &value) || !value;
}

static int watch(int epoll, int fd)
{
	struct epoll_event event = {};

	event.events = EPOLLIN;
	event.data.fd = fd;
	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

/* Take events until the stream has ended; return 0 or a negative errno. */
static int run(struct hyptrace_stream *stream, struct hyptrace_error *err)
{
	const struct hyptrace_stream_event *event;
	int epoll = epoll_create1(EPOLL_CLOEXEC), signals = open_signals(), ret;
	struct epoll_event ready;

	if (watch(epoll, hyptrace_stream_fd(stream)) || watch(epoll, signals))
		return -errno;
	for (;;) {
		while ((ret = hyptrace_stream_next(stream, &event, err)) > 0)
			;
		if (ret)
			return ret == -ENODATA ? 0 : ret;
		if (epoll_wait(epoll, &ready, 1, -1) == 1 && ready.data.fd == signals)
			hyptrace_stream_end(stream);
	}
}

int main(int argc, char **argv)
{
	struct hyptrace_stream_counts counts;
	struct hyptrace_stream *stream = NULL;
	struct hyptrace_error err;
	struct hyptrace *h;
	int ret = -1;

	h = hyptrace_open(&err);
	if (h)
		stream = hyptrace_stream_new(h, argc > 1 ? argv[1] : "hypervisor", &err);
	if (stream) {
		hyptrace_stream_options(stream)->filter = is_of_host;
		hyptrace_stream_options(stream)->filter_arg = hyptrace_stream_formats(stream);
		ret = hyptrace_stream_start(stream, &err);
	}
	if (!ret)
		ret = run(stream, &err);
	if (ret) {
		fprintf(stderr, "%s: %s\n", argv[0], err.text);
	} else {
		hyptrace_stream_counts(stream, &counts, sizeof(counts));
		printf("%" PRIu64 " events of the host, %" PRIu64 " of guests, %" PRIu64 " lost\n",
		       counts.delivered, counts.filtered, counts.lost);
	}
	hyptrace_stream_free(stream);
	hyptrace_close(h);
	return ret ? 1 : 0;
}
