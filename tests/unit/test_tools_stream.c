// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams: the order of events, the limit, the end, losses and counts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../tools/lib/hyptrace.h"
#include "fail_alloc.h"
#include "fake_device.h"
#include "fake_netlink.h"

#define BOUND	10000000
/* An event is held back for a quarter of the bound. */
#define HELD	(BOUND / 4)

static struct hyptrace *h;
static struct hyptrace_stream *stream;
static const struct hyptrace_stream_event *event;
static struct hyptrace_stream_counts counts;
static struct hyptrace_error err;

static int setup(void **state)
{
	(void)state;
	fake_device_begin();
	memset(&err, 0, sizeof(err));
	h = hyptrace_open(&err);
	stream = h ? hyptrace_stream_new(h, "test", &err) : NULL;
	return stream ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	hyptrace_stream_free(stream);
	stream = NULL;
	hyptrace_close(h);
	fake_netlink_begin(NULL);
	return fake_netlink_nr_open() || fake_device_nr_open();
}

static void start(void)
{
	assert_int_equal(hyptrace_stream_start(stream, &err), 0);
}

/* Events of 1 ns each after the time, numbered from a number on. */
static char *fill(unsigned int cpu, uint64_t ts, unsigned int nr, uint32_t number)
{
	char *subbuf = fake_subbuf(cpu, ts);
	unsigned int i;

	for (i = 0; i < nr; i++)
		fake_event(subbuf, 1, number + i);
	return subbuf;
}

static int next(void)
{
	return hyptrace_stream_next(stream, &event, &err);
}

static uint32_t number_of(const struct hyptrace_stream_event *from)
{
	uint32_t number;

	memcpy(&number, (const char *)from->record.data + sizeof(number), sizeof(number));
	return number;
}

static void expect(unsigned int cpu, uint64_t ts, uint32_t number)
{
	assert_int_equal(next(), 1);
	assert_int_equal(event->cpu, cpu);
	assert_int_equal(event->record.ts, ts);
	assert_non_null(event->record.data);
	assert_int_equal(event->record.size, 8);
	assert_int_equal(number_of(event), number);
}

static void expect_loss(unsigned int cpu, uint64_t ts, uint64_t lost)
{
	assert_int_equal(next(), 1);
	assert_int_equal(event->cpu, cpu);
	assert_int_equal(event->record.ts, ts);
	assert_int_equal(event->record.lost, lost);
	assert_null(event->record.data);
	assert_int_equal(event->record.size, 0);
}

static void expect_end(void)
{
	assert_int_equal(next(), -ENODATA);
	assert_int_equal(next(), -ENODATA);
	assert_int_equal(hyptrace_stream_fd(stream), -1);
	hyptrace_stream_counts(stream, &counts, sizeof(counts));
}

static void end(void)
{
	hyptrace_stream_end(stream);
	expect_end();
}

static void counted(uint64_t delivered, uint64_t filtered, uint64_t discarded, uint64_t lost,
		    bool lost_more)
{
	hyptrace_stream_counts(stream, &counts, sizeof(counts));
	assert_int_equal(counts.delivered, delivered);
	assert_int_equal(counts.filtered, filtered);
	assert_int_equal(counts.discarded, discarded);
	assert_int_equal(counts.lost, lost);
	assert_int_equal(counts.lost_more, lost_more);
}

static void order(void **state)
{
	unsigned int i;

	(void)state;
	start();
	assert_true(hyptrace_stream_fd(stream) >= 0);
	fill(0, 1000, 3, 1);
	fill(1, 1001, 2, 11);
	fill(1, 2000, 1, 13);
	fill(2, 500, 1, 21);
	expect(2, 501, 21);
	expect(0, 1001, 1);
	/* at the same time: the CPU of the lower number first */
	expect(0, 1002, 2);
	expect(1, 1002, 11);
	expect(0, 1003, 3);
	expect(1, 1003, 12);
	expect(1, 2001, 13);
	assert_int_equal(next(), 0);
	for (i = 0; i < FAKE_CPUS; i++)
		assert_true(fake_device.rings[i].in_epoll);
	end();
	counted(7, 0, 0, 0, false);
}

/* An event that may be overtaken by one of another CPU is held back, but not for long. */
static void held(void **state)
{
	const uint64_t now = fake_device.now;

	(void)state;
	start();
	fill(1, now - 1001, 1, 5);
	assert_int_equal(next(), 0);
	assert_int_equal(fake_device.timer, now - 1000 + HELD);
	/* the earliest wake-up shares its wait with others */
	fake_device.now = now - 1000 + HELD - 1;
	assert_int_equal(next(), 0);
	assert_int_equal(fake_device.timer, fake_device.now + BOUND / 8);
	/* an earlier event comes in time */
	fill(0, now - 3001, 1, 4);
	expect(0, now - 3000, 4);
	fake_device.now = now - 1000 + HELD;
	assert_int_equal(next(), 0);
	expect(1, now - 1000, 5);
	fake_device.timer = 0;
	assert_int_equal(next(), 0);
	/* nothing is due */
	assert_int_equal(fake_device.timer, 0);
	end();
}

static void limit(void **state)
{
	unsigned int i;

	(void)state;
	hyptrace_stream_set_cpus(stream, (unsigned int[]){ 1 }, 1, &err);
	hyptrace_stream_set_limit(stream, 3);
	counted(0, 0, 0, 0, false);
	start();
	assert_false(fake_device.rings[0].attached);
	fill(1, 1000, 2, 1);
	fill(1, 2000, 4, 3);
	fake_subbuf_lost(fake_device.rings[1].subbufs[1], 9);
	fill(1, 3000, 1, 7);
	expect(1, 1001, 1);
	/* no more is read at once than the limit needs */
	assert_int_equal(fake_device.rings[1].last_size, FAKE_SUBBUF);
	expect(1, 1002, 2);
	assert_int_equal(event->record.lost, 0);
	expect(1, 2001, 3);
	assert_int_equal(event->record.lost, 9);
	expect_end();
	assert_int_equal(fake_device.rings[1].nr, 1);
	counted(3, 0, 3, 9, false);
	for (i = 0; i < FAKE_CPUS; i++)
		assert_false(fake_device.rings[i].attached);
}

/* The limit is reached among the events of a sub-buffer, and by the first of one. */
static void limit_in_a_run(void **state)
{
	unsigned int nr, i;

	(void)state;
	for (nr = 1; nr <= 5; nr++) {
		hyptrace_stream_free(stream);
		stream = hyptrace_stream_new(h, "test", &err);
		hyptrace_stream_set_limit(stream, nr);
		start();
		fill(1, 1000, 5, 1);
		for (i = 1; i <= nr; i++)
			expect(1, 1000 + i, i);
		expect_end();
		counted(nr, 0, 5 - nr, 0, false);
	}
}

/* Losses after the event that reaches the limit are counted, not delivered. */
static void limit_before_loss(void **state)
{
	(void)state;
	hyptrace_stream_set_limit(stream, 2);
	start();
	fill(0, 1000, 1, 1);
	fill(2, 1000, 1, 2);
	fake_subbuf_lost(fill(1, 1005, 1, 3), 4);
	expect(0, 1001, 1);
	expect(2, 1001, 2);
	expect_end();
	counted(2, 0, 1, 4, false);
}

/* A large limit reads much at once. */
static void read_sizes(void **state)
{
	unsigned int limit;

	(void)state;
	hyptrace_stream_set_limit(stream, 1000000);
	start();
	assert_int_equal(next(), 0);
	assert_int_equal(fake_device.rings[0].last_size, 64 << 10);
	end();
	hyptrace_stream_free(stream);
	stream = hyptrace_stream_new(h, "test", &err);
	/* 4 sub-buffers of 32 events on each of 3 CPUs */
	hyptrace_stream_set_limit(stream, 4 * 32 * 3);
	start();
	assert_int_equal(next(), 0);
	assert_int_equal(fake_device.rings[0].last_size, 4 * FAKE_SUBBUF);
	end();
	/* a sub-buffer that is larger than what is read at once else, whatever the limit */
	for (limit = 0; limit < 2; limit++) {
		hyptrace_stream_free(stream);
		fake_device.subbuf_size = 1 << 17;
		stream = hyptrace_stream_new(h, "test", &err);
		hyptrace_stream_set_limit(stream, limit);
		start();
		assert_int_equal(next(), 0);
		assert_int_equal(fake_device.rings[0].last_size, 1 << 17);
		end();
	}
}

/* What happens after the request to end is not delivered, though it was read. */
static void end_in_time(void **state)
{
	const uint64_t now = fake_device.now;
	char *subbuf;

	(void)state;
	start();
	assert_int_equal(fake_device.hold_flags, HYPTRACE_HOLD_TRACING);
	assert_int_equal(fake_device.nr_held, 0);
	subbuf = fill(0, now, 2, 1);
	fake_event(subbuf, HELD, 3);
	fake_event(subbuf, 1, 4);
	fill(1, now + 5, 1, 11);
	fake_device.now = now + HELD + 1;
	expect(0, now + 1, 1);
	fake_device.now = now + 10;
	hyptrace_stream_end(stream);
	/* tracing is released at once */
	assert_int_equal(fake_device.nr_holds, 2);
	assert_int_equal(fake_device.hold_flags, 0);
	/* again is no harm */
	fake_device.now = now + 10 * HELD;
	hyptrace_stream_end(stream);
	expect(0, now + 2, 2);
	expect(1, now + 6, 11);
	expect_end();
	assert_int_equal(fake_device.nr_holds, 2);
	counted(3, 0, 2, 0, false);
}

/* The same where the event after the end is the next of many. */
static void end_in_a_run(void **state)
{
	const uint64_t now = fake_device.now;

	(void)state;
	hyptrace_stream_set_cpus(stream, (unsigned int[]){ 2 }, 1, &err);
	start();
	fill(2, now - 3, 8, 1);
	expect(2, now - 2, 1);
	expect(2, now - 1, 2);
	hyptrace_stream_end(stream);
	expect(2, now, 3);
	expect_end();
	counted(3, 0, 5, 0, false);
}

/* Without a common clock, what was read is delivered, and nothing is read any more. */
static void end_by_another_clock(void **state)
{
	unsigned int tracing, reads;

	(void)state;
	for (tracing = 0; tracing < 2; tracing++) {
		hyptrace_stream_free(stream);
		fake_device.clock = "counter";
		fake_device.tracing = true;
		stream = hyptrace_stream_new(h, "test", &err);
		hyptrace_stream_set_cpus(stream, (unsigned int[]){ 0 }, 1, &err);
		start();
		fill(0, UINT64_C(1) << 50, 3, 1);
		expect(0, (UINT64_C(1) << 50) + 1, 1);
		fill(0, UINT64_C(1) << 51, 1, 4);
		reads = fake_device.rings[0].reads;
		fake_device.tracing = tracing;
		hyptrace_stream_end(stream);
		expect(0, (UINT64_C(1) << 50) + 2, 2);
		expect(0, (UINT64_C(1) << 50) + 3, 3);
		if (!tracing)
			expect(0, (UINT64_C(1) << 51) + 1, 4);
		expect_end();
		assert_int_equal(fake_device.rings[0].reads, reads + (tracing ? 0 : 2));
		fake_device.rings[0].nr = 0;
	}
}

/* A loss has the time of the event that follows it, or of what is last. */
static void losses(void **state)
{
	(void)state;
	start();
	fake_subbuf_lost(fill(0, 1000, 2, 1), 7);
	fake_subbuf_lost(fill(0, 2000, 1, 3), HYPTRACE_LOST_UNKNOWN);
	fake_subbuf_lost(fill(1, 1500, 0, 0), 5);
	fill(2, 1600, 1, 21);
	fake_subbuf_lost(fill(2, 1700, 0, 0), 2);
	expect(0, 1001, 1);
	assert_int_equal(event->record.lost, 7);
	expect(0, 1002, 2);
	assert_int_equal(event->record.lost, 0);
	expect(2, 1601, 21);
	expect(0, 2001, 3);
	assert_true(event->record.lost == HYPTRACE_LOST_UNKNOWN);
	assert_int_equal(next(), 0);
	hyptrace_stream_end(stream);
	expect_loss(1, 1500, 5);
	expect_loss(2, 1700, 2);
	expect_end();
	counted(4, 0, 0, 14, true);
}

/* Nothing follows the last losses of a ring: its counters report them. */
static void losses_after_the_last_event(void **state)
{
	(void)state;
	start();
	fake_subbuf_lost(fill(0, 1000, 1, 1), 7);
	fake_subbuf_lost(fill(1, 1500, 0, 0), 5);
	expect(0, 1001, 1);
	assert_int_equal(next(), 0);
	fake_device.rings[0].unreported = 100;
	fake_device.rings[1].unreported = 50;
	/* these are still before an event, which the next consumer reads */
	fake_device.rings[2].unreported = 1000;
	fake_device.rings[2].unread = 1;
	fake_device.loaded_after = true;
	hyptrace_stream_end(stream);
	expect_loss(0, 1001, 100);
	expect_loss(1, 1500, 55);
	expect_end();
	counted(1, 0, 0, 7 + 100 + 55, false);
}

/* If the rings are unloaded, nobody else can see what was in them. */
static void unloaded(void **state)
{
	unsigned int loaded;

	(void)state;
	for (loaded = 0; loaded < 2; loaded++) {
		hyptrace_stream_free(stream);
		fake_device.tracing = false;
		fake_device.rings[1].unread = 1000;
		fake_device.rings[1].unreported = 50;
		stream = hyptrace_stream_new(h, "test", &err);
		hyptrace_stream_set_cpus(stream, (unsigned int[]){ 0, 2 }, 2, &err);
		start();
		fake_subbuf_lost(fill(0, 1000, 1, 1), 7);
		expect(0, 1001, 1);
		fake_device.rings[0].unreported = 3;
		fake_device.rings[0].unread = 4;
		fake_device.loaded_after = loaded;
		end();
		if (loaded)
			counted(1, 0, 0, 7, false);
		else
			counted(1, 0, 4, 10, false);
	}
	hyptrace_stream_free(stream);
	fake_device.loaded_after = true;
	stream = hyptrace_stream_new(h, "test", &err);
	start();
	fake_device.gone = true;
	fake_device.rings[0].unread = 400;
	end();
	/* the counters of the end are not known */
	counted(0, 0, 0, 0, false);
}

/* Lets only odd numbers pass. */
static bool is_odd(const struct hyptrace_stream_event *of, void *arg)
{
	assert_ptr_equal(arg, &counts);
	return number_of(of) % 2;
}

static void filter(void **state)
{
	(void)state;
	hyptrace_stream_set_filter(stream, is_odd, &counts);
	hyptrace_stream_set_limit(stream, 4);
	start();
	fill(0, 1000, 3, 1);
	fake_subbuf_lost(fill(0, 2000, 2, 4), 6);
	fill(1, 1000, 2, 12);
	fill(0, 3000, 1, 7);
	expect(0, 1001, 1);
	expect(1, 1002, 13);
	expect(0, 1003, 3);
	/* the event is refused, the loss before it is not */
	expect_loss(0, 2001, 6);
	expect(0, 2002, 5);
	expect_end();
	counted(4, 3, 0, 6, false);
}

/* The events of a sub-buffer up to a damaged one are delivered; how many follow is not known. */
static void damage(void **state)
{
	(void)state;
	hyptrace_stream_set_cpus(stream, (unsigned int[]){ 0 }, 1, &err);
	start();
	fake_damage(fill(0, 1000, 2, 1));
	fill(0, 2000, 1, 3);
	expect(0, 1001, 1);
	expect(0, 1002, 2);
	assert_int_equal(next(), -EBADMSG);
	assert_int_equal(err.errnum, EBADMSG);
	expect(0, 2001, 3);
	assert_true(event->record.lost == HYPTRACE_LOST_UNKNOWN);
	assert_int_equal(next(), 0);
	counted(3, 0, 0, 0, true);
	end();
}

/* A damaged sub-buffer that is the first of a CPU, and one that nobody asks for. */
static void damage_elsewhere(void **state)
{
	(void)state;
	start();
	assert_int_equal(next(), 0);
	fake_damage(fake_subbuf(0, 1000));
	fill(0, 2000, 1, 1);
	fill(1, 1000, 1, 11);
	assert_int_equal(next(), -EBADMSG);
	expect(1, 1001, 11);
	expect(0, 2001, 1);
	assert_true(event->record.lost == HYPTRACE_LOST_UNKNOWN);
	assert_int_equal(next(), 0);
	end();
	counted(2, 0, 0, 0, true);

	hyptrace_stream_free(stream);
	stream = hyptrace_stream_new(h, "test", &err);
	hyptrace_stream_set_cpus(stream, (unsigned int[]){ 0 }, 1, &err);
	start();
	fake_damage(fill(0, 1000, 2, 1));
	fill(0, 2000, 1, 3);
	expect(0, 1001, 1);
	hyptrace_stream_close(stream);
	expect_end();
	counted(1, 0, 2, 0, true);

	/* nothing follows it */
	hyptrace_stream_free(stream);
	stream = hyptrace_stream_new(h, "test", &err);
	start();
	fake_damage(fake_subbuf(0, 1000));
	assert_int_equal(next(), -EBADMSG);
	assert_int_equal(next(), 0);
	end();
	counted(0, 0, 0, 0, true);
}

static void closed(void **state)
{
	const uint64_t now = fake_device.now;

	(void)state;
	start();
	fill(0, 1000, 5, 1);
	fake_subbuf_lost(fill(1, 1001, 3, 11), 8);
	fill(2, now - 2, 1, 21);
	expect(0, 1001, 1);
	hyptrace_stream_close(stream);
	hyptrace_stream_close(stream);
	hyptrace_stream_end(stream);
	assert_int_equal(fake_device.nr_holds, 2);
	expect_end();
	counted(1, 0, 8, 8, false);
	/* a struct of an older program */
	memset(&counts, 0xff, sizeof(counts));
	hyptrace_stream_counts(stream, &counts, sizeof(counts.delivered));
	assert_int_equal(counts.delivered, 1);
	assert_true(counts.filtered == UINT64_MAX);
	/* and of a newer one */
	{
		struct {
			struct hyptrace_stream_counts	known;
			uint64_t			unknown;
		} newer = { .unknown = 1 };

		hyptrace_stream_counts(stream, &newer.known, sizeof(newer));
		assert_int_equal(newer.known.discarded, 8);
		assert_int_equal(newer.unknown, 0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(order), TEST(held), TEST(limit), TEST(limit_in_a_run),
		TEST(limit_before_loss), TEST(read_sizes),
		TEST(end_in_time), TEST(end_in_a_run), TEST(end_by_another_clock), TEST(losses),
		TEST(losses_after_the_last_event),
		TEST(unloaded), TEST(filter), TEST(damage), TEST(damage_elsewhere), TEST(closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
