// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams: attaching, what they hold, waiting while tracing is off, and failures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fail_alloc.h"
#include "stream_steps.h"

/* Events that can be held */
#define MOST	HYPTRACE_HOLD_EVENTS_MAX

static int try_start(void)
{
	int ret = hyptrace_stream_start(stream, &err);

	if (ret)
		assert_int_equal(err.errnum, -ret);
	return ret;
}

/* Another stream of the same remote */
static void renew(void)
{
	hyptrace_stream_free(stream);
	stream = hyptrace_stream_new(h, "test", &err);
	assert_non_null(stream);
}

static void fill_one(unsigned int cpu, uint64_t ts)
{
	fake_event(fake_subbuf(cpu, ts), 0, 1);
}

static void refused(int errnum, const char *subject, const char *text)
{
	assert_int_equal(try_start(), -errnum);
	assert_string_equal(err.subject, subject);
	assert_string_equal(err.text, text);
	renew();
	assert_int_equal(hyptrace_stream_start(stream, NULL), -errnum);
	renew();
}

static int lowest_free_fd(void)
{
	FILE *f = fopen("/dev/null", "re");
	int fd = fileno(f);

	/* not close(), which is the fake socket's */
	fclose(f);
	return fd;
}

static void busy(void **state)
{
	const int fd = lowest_free_fd();
	char text[64];

	(void)state;
	fake_device.rings[1].attach_errno = EBUSY;
	refused(EBUSY, "CPU 1 of \"test\"", "another process is reading it");
	/* of this program, and of none */
	fake_device.rings[1].consumer = getpid();
	snprintf(text, sizeof(text), "process %u (%.15s) is reading it", getpid(),
		 program_invocation_short_name);
	refused(EBUSY, "CPU 1 of \"test\"", text);
	fake_device.rings[1].consumer = UINT32_MAX;
	refused(EBUSY, "CPU 1 of \"test\"", "process 4294967295 is reading it");
	assert_int_equal(lowest_free_fd(), fd);
}

static void without_ring(void **state)
{
	unsigned int cpu;

	(void)state;
	fake_device.rings[0].absent = true;
	assert_int_equal(try_start(), 0);
	assert_true(fake_device.rings[1].attached);
	assert_true(fake_device.rings[2].attached);
	/* the hold is of the first that has one */
	assert_int_equal(fake_device.hold_cpu, 1);
	renew();
	choose_cpus((unsigned int[]){ 2, 0 }, 2);
	assert_int_equal(try_start(), -ENXIO);
	assert_string_equal(err.subject, "CPU 0 of \"test\"");
	assert_string_equal(err.text, "no such CPU");
	renew();
	for (cpu = 0; cpu < FAKE_CPUS; cpu++)
		fake_device.rings[cpu].absent = true;
	refused(ENXIO, "", "no CPU has a ring");
}

static void started_twice(void **state)
{
	(void)state;
	assert_int_equal(try_start(), 0);
	assert_int_equal(try_start(), -EALREADY);
	assert_string_equal(err.text, "the stream was started already");
	/* it goes on */
	fill_one(0, 1000);
	assert_int_equal(next(), 1);
}

/* The driver shall tell of any event in time, however few of them there are. */
static void wakeups(void **state)
{
	static const struct { uint64_t bound; uint32_t latency; } cases[] = {
		{ 0, 1000 }, { 3002999, 1000 }, { 3003000, 1001 }, { 8999999, 2999 },
		{ 9000000, 3000 }, { UINT64_MAX, 3000 },
	};
	unsigned int i, cpu;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		renew();
		hyptrace_stream_options(stream)->bound = cases[i].bound;
		assert_int_equal(try_start(), 0);
		for (cpu = 0; cpu < FAKE_CPUS; cpu++) {
			const struct hyptrace_wakeup *wakeup = &fake_device.rings[cpu].wakeup;

			assert_int_equal(wakeup->latency_us, cases[i].latency);
			assert_int_equal(wakeup->percent, 0);
		}
	}
}

static void holds(void **state)
{
	static const char *const both[] = { "second", "first" };
	static const char *many[MOST + 1];
	unsigned int i;

	(void)state;
	assert_int_equal(hyptrace_stream_set_events(stream, both, 2, &err), 0);
	assert_int_equal(try_start(), 0);
	assert_int_equal(fake_device.hold_flags, HYPTRACE_HOLD_TRACING);
	assert_int_equal(fake_device.nr_held, 2);
	assert_int_equal(fake_device.held[0], FAKE_EVENTS_ID + 1);
	assert_int_equal(fake_device.held[1], FAKE_EVENTS_ID);

	renew();
	hyptrace_stream_set_events(stream, both, 1, &err);
	hyptrace_stream_options(stream)->no_start = true;
	assert_int_equal(try_start(), 0);
	assert_int_equal(fake_device.hold_flags, 0);
	assert_int_equal(fake_device.nr_held, 1);
	hyptrace_stream_end(stream);
	assert_int_equal(fake_device.nr_held, 0);

	/* a list that is refused replaces the one before */
	renew();
	hyptrace_stream_set_events(stream, both, 2, &err);
	assert_int_equal(hyptrace_stream_set_events(stream, (const char *[]){ "third" }, 1, &err),
			 -ENOENT);
	assert_int_equal(try_start(), 0);
	assert_int_equal(fake_device.nr_held, 0);

	/* nothing to hold */
	renew();
	hyptrace_stream_options(stream)->no_start = true;
	fake_device.nr_holds = 0;
	assert_int_equal(try_start(), 0);
	hyptrace_stream_close(stream);
	assert_int_equal(fake_device.nr_holds, 0);

	renew();
	for (i = 0; i <= MOST; i++)
		many[i] = i ? "first" : "third";
	assert_int_equal(hyptrace_stream_set_events(stream, many, MOST + 1, &err), -E2BIG);
	assert_int_equal(hyptrace_stream_set_events(stream, many, MOST, &err), -ENOENT);
	assert_string_equal(err.subject, "third");
	assert_string_equal(err.text, "no such event");
	assert_int_equal(hyptrace_stream_set_events(stream, many, 1, NULL), -ENOENT);
	assert_int_equal(hyptrace_stream_set_events(stream, many + 1, MOST, NULL), 0);
}

static void failures(void **state)
{
	(void)state;
	fake_device.hold_errno = EIO;
	refused(EIO, "", "Input/output error");
	fake_device.hold_errno = 0;
	fake_device.rings[2].wakeup_errno = EINVAL;
	refused(EINVAL, "CPU 2 of \"test\"", "cannot set the latency: Invalid argument");
	fake_device.rings[2].wakeup_errno = 0;
	fake_device.epoll_errno = EMFILE;
	refused(EMFILE, "", "cannot wait for events: Too many open files");
	fake_device.epoll_errno = 0;
	fake_device.timer_errno = EMFILE;
	refused(EMFILE, "", "cannot wait for events: Too many open files");
	fake_device.timer_errno = 0;
	/* the timer, a ring */
	fake_device.bad_fd = 91;
	refused(ENOMEM, "", "cannot wait for events: Cannot allocate memory");
	fake_device.bad_fd = 0;
	/* only a caller that waits has the rings watched */
	fake_device.rings[2].epoll_errno = ENOSPC;
	assert_int_equal(try_start(), 0);
	assert_int_equal(next(), 0);
	assert_true(hyptrace_stream_fd(stream) >= 0);
	assert_int_equal(next(), -ENOSPC);
	assert_string_equal(err.text, "cannot wait for events: No space left on device");
	fake_device.rings[2].epoll_errno = 0;
	renew();

	assert_int_equal(try_start(), 0);
	fake_device.rings[1].read_errno = EINTR;
	assert_int_equal(next(), 0);
	fake_device.rings[1].read_errno = EIO;
	assert_int_equal(next(), -EIO);
	assert_string_equal(err.subject, "CPU 1 of \"test\"");
	assert_string_equal(err.text, "Input/output error");
	/* the next call looks at all rings, though the caller was not told to wait */
	fake_device.rings[1].read_errno = 0;
	fill_one(2, 1000);
	assert_int_equal(next(), 1);
	renew();
	fake_device.gone = true;
	assert_int_equal(try_start(), -ENODEV);
	assert_null(hyptrace_stream_new(h, "test", &err));
	assert_int_equal(err.errnum, ENODEV);
}

/* Tracing that somebody stops and starts again */
static void asleep(void **state)
{
	(void)state;
	assert_int_equal(try_start(), 0);
	fake_device.tracing = false;
	fake_device.timer = 0;
	assert_int_equal(next(), 0);
	/* the driver wakes the waiters of all rings: no need for a timer */
	assert_int_equal(fake_device.timer, 0);
	fake_device.edges = true;
	fake_device.tracing = true;
	fill_one(0, 1000);
	assert_int_equal(next(), 1);
	assert_int_equal(next(), 0);
	assert_false(fake_device.edges);
	assert_true(fake_netlink_all_read());
}

/* A stream that does not start tracing ends when there is nothing to come. */
static void not_started(void **state)
{
	(void)state;
	hyptrace_stream_options(stream)->no_start = true;
	assert_int_equal(try_start(), 0);
	fill_one(0, 1000);
	assert_int_equal(next(), 1);
	assert_int_equal(next(), 0);
	fake_device.tracing = false;
	/* no earlier event can come: the last one is not held back */
	fill_one(1, fake_device.now - 1);
	assert_int_equal(next(), 1);
	assert_int_equal(event->cpu, 1);
	assert_int_equal(next(), -ENODATA);
}

/* It does not end before each ring has said that tracing is off. */
static void not_all_asleep(void **state)
{
	unsigned int cpu;

	(void)state;
	for (cpu = 0; cpu < FAKE_CPUS; cpu++) {
		renew();
		hyptrace_stream_options(stream)->no_start = true;
		assert_int_equal(try_start(), 0);
		/* this ring was read before tracing was stopped, the others after it */
		fake_device.tracing = false;
		fake_device.rings[cpu].read_errno = EAGAIN;
		assert_int_equal(next(), 0);
		fake_device.rings[cpu].read_errno = 0;
		assert_int_equal(next(), -ENODATA);
	}
}

/* A small bound, and none */
static void bounds(void **state)
{
	(void)state;
	hyptrace_stream_options(stream)->bound = 0;
	assert_int_equal(try_start(), 0);
	fill_one(0, fake_device.now - 1);
	assert_int_equal(next(), 1);
	renew();
	hyptrace_stream_options(stream)->bound = 1000000;
	assert_int_equal(try_start(), 0);
	fill_one(0, fake_device.now - 1);
	assert_int_equal(next(), 0);
	assert_int_equal(fake_device.timer, fake_device.now - 1 + 250000);
}

static void formats(void **state)
{
	struct hyptrace_formats *fmts = hyptrace_stream_formats(stream);

	(void)state;
	assert_int_equal(try_start(), 0);
	fill_one(0, 1000);
	assert_int_equal(next(), 1);
	assert_string_equal(hyptrace_formats_event(fmts, &event->record)->name, "first");
}

static void no_memory(void **state)
{
	bool failed = true;
	unsigned int nth, cpu;
	int ret;

	(void)state;
	for (nth = 1; failed; nth++) {
		hyptrace_stream_free(stream);
		fail_alloc(nth);
		stream = hyptrace_stream_new(h, "test", &err);
		failed = fail_alloc_end();
		assert_int_equal(!stream, failed);
		if (failed)
			assert_int_equal(err.errnum, ENOMEM);
	}
	for (failed = true, nth = 1; failed; nth++) {
		renew();
		fail_alloc(nth);
		choose_cpus((unsigned int[]){ 1 }, 1);
		ret = try_start();
		failed = fail_alloc_end();
		assert_int_equal(ret != 0, failed);
		if (ret)
			assert_int_equal(ret, -ENOMEM);
	}
	for (failed = true, nth = 1; failed; nth++) {
		renew();
		fail_alloc(nth);
		ret = try_start();
		failed = fail_alloc_end();
		assert_int_equal(ret != 0, failed);
		hyptrace_stream_close(stream);
		for (cpu = 0; cpu < FAKE_CPUS; cpu++)
			assert_false(fake_device.rings[cpu].attached);
	}
	hyptrace_stream_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(busy), TEST(without_ring), TEST(started_twice), TEST(wakeups), TEST(holds),
		TEST(failures), TEST(asleep),
		TEST(not_started), TEST(not_all_asleep), TEST(bounds),
		TEST(formats), TEST(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
