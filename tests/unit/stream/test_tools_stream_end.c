// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams: the end, losses and counts.
 */
#include "stream_steps.h"

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
	choose_cpus((unsigned int[]){ 2 }, 1);
	start();
	fill(2, now - 3, 8, 1);
	expect(2, now - 2, 1);
	expect(2, now - 1, 2);
	hyptrace_stream_end(stream);
	expect(2, now, 3);
	expect_end();
	counted(3, 0, 5, 0, false);
}

/* A ring that was empty has events by the time of the request: they take their place. */
static void end_asks_empty_rings(void **state)
{
	const uint64_t now = fake_device.now;
	char *subbuf;

	(void)state;
	choose_cpus((unsigned int[]){ 0, 1 }, 2);
	start();
	subbuf = fill(0, now - 3 * HELD, 2, 1);
	fake_event(subbuf, HELD, 3);
	expect(0, now - 3 * HELD + 1, 1);
	fill(1, now - 3 * HELD + 2, 1, 11);
	hyptrace_stream_end(stream);
	expect(0, now - 3 * HELD + 2, 2);
	expect(1, now - 3 * HELD + 3, 11);
	expect(0, now - 2 * HELD + 2, 3);
	expect_end();
	counted(4, 0, 0, 0, false);
}

/* The same where the request comes before anything was delivered. */
static void end_before_a_run(void **state)
{
	const uint64_t now = fake_device.now;

	(void)state;
	start();
	fill(2, now - 3, 8, 1);
	/* right at the end */
	fill(1, now - 1, 1, 11);
	hyptrace_stream_end(stream);
	expect(2, now - 2, 1);
	expect(2, now - 1, 2);
	expect(1, now, 11);
	expect(2, now, 3);
	expect_end();
	counted(4, 0, 5, 0, false);
}

/* The request to end does not change the order of what was read. */
static void end_in_order(void **state)
{
	char *subbuf;

	(void)state;
	start();
	subbuf = fill(0, 1000, 1, 1);
	fake_event(subbuf, 4, 2);
	fill(1, 1002, 1, 11);
	expect(0, 1001, 1);
	hyptrace_stream_end(stream);
	expect(1, 1003, 11);
	expect(0, 1005, 2);
	expect_end();
	counted(3, 0, 0, 0, false);
}

/* A ring that was empty has an event at the earliest time that there is. */
static void end_at_the_first_times(void **state)
{
	(void)state;
	start();
	fake_event(fill(1, 0, 1, 11), 0, 12);
	expect(1, 1, 11);
	fill(0, 0, 1, 1);
	hyptrace_stream_end(stream);
	expect(0, 1, 1);
	expect(1, 1, 12);
	expect_end();
}

/* A sub-buffer is not decoded any more after an event that is too late. */
static void end_before_damage(void **state)
{
	(void)state;
	start();
	assert_int_equal(next(), 0);
	hyptrace_stream_end(stream);
	fake_damage(fill(0, fake_device.now, 1, 1));
	expect_end();
	counted(0, 0, 1, 0, true);
}

/* A ring with an event after the end is not read any more, whatever another ring needs. */
static void end_of_one_ring(void **state)
{
	const uint64_t now = fake_device.now;

	(void)state;
	start();
	assert_int_equal(next(), 0);
	hyptrace_stream_end(stream);
	fill(0, now, 1, 1);
	fake_device.rings[1].read_errno = EIO;
	assert_int_equal(next(), -EIO);
	fill(0, now + 10, 1, 2);
	fake_device.rings[1].read_errno = 0;
	expect_end();
	assert_int_equal(fake_device.rings[0].nr, 1);
	counted(0, 0, 1, 0, false);
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
		choose_cpus((unsigned int[]){ 0 }, 1);
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

/* If it is not known whether tracing is off, more events may follow. */
static void end_of_an_unknown_state(void **state)
{
	unsigned int reads[FAKE_CPUS], cpu;

	(void)state;
	hyptrace_stream_free(stream);
	fake_device.clock = "counter";
	stream = hyptrace_stream_new(h, "test", &err);
	start();
	assert_int_equal(next(), 0);
	for (cpu = 0; cpu < FAKE_CPUS; cpu++)
		reads[cpu] = fake_device.rings[cpu].reads;
	fake_device.gone = true;
	end();
	for (cpu = 0; cpu < FAKE_CPUS; cpu++)
		assert_int_equal(fake_device.rings[cpu].reads, reads[cpu]);
}

/* A loss has the time of the event that follows it. The last ones have that of the last event. */
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
	expect_loss(1, 2001, 5);
	expect_loss(2, 2001, 2);
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
	expect_loss(0, 1500, 100);
	expect_loss(1, 1500, 55);
	expect_end();
	counted(1, 0, 0, 7 + 100 + 55, false);
}

/* What was pending when the stream began is not of this stream, unless a sub-buffer reports it. */
static void losses_before_the_stream(void **state)
{
	(void)state;
	fake_device.rings[0].unreported = 5;
	fake_device.rings[1].unreported = 5;
	fake_device.rings[2].unreported = 5;
	fake_device.rings[2].reported = 1;
	fake_device.loaded_after = true;
	start();
	fake_subbuf_lost(fill(2, 1000, 1, 1), 5);
	expect(2, 1001, 1);
	assert_int_equal(next(), 0);
	fake_device.rings[1].unreported = 8;
	fake_device.rings[2].reported = 6;
	fake_device.rings[2].unreported = 2;
	hyptrace_stream_end(stream);
	expect_loss(1, 1001, 3);
	expect_loss(2, 1001, 2);
	expect_end();
	counted(1, 0, 0, 5 + 3 + 2, false);
}

/* What was pending behind unread events is of this stream, which reads these events. */
static void losses_behind_unread_events(void **state)
{
	(void)state;
	fake_device.rings[0].unread = 1;
	fake_device.rings[0].unreported = 5;
	start();
	fill(0, 1000, 1, 1);
	expect(0, 1001, 1);
	fake_device.rings[0].unread = 0;
	hyptrace_stream_end(stream);
	expect_loss(0, 1001, 5);
	expect_end();
	counted(1, 0, 0, 5, false);
}

/* A sub-buffer without events has reported losses, and the counters report more. */
static void losses_of_both_kinds(void **state)
{
	unsigned int cpu;

	(void)state;
	start();
	/* later losses are before an event */
	fake_subbuf_lost(fill(0, 1000, 0, 0), 6);
	fake_device.rings[0].unread = 1;
	/* nobody knows how many were lost at all */
	fake_subbuf_lost(fill(1, 2000, 0, 0), HYPTRACE_LOST_UNKNOWN);
	/* the next consumer does not see what is counted here */
	fake_subbuf_lost(fill(2, 3000, 0, 0), 5);
	for (cpu = 0; cpu < FAKE_CPUS; cpu++)
		fake_device.rings[cpu].unreported = 100;
	fake_device.tracing = false;
	fake_device.loaded_after = false;
	assert_int_equal(next(), 0);
	hyptrace_stream_end(stream);
	expect_loss(0, 3000, 6);
	expect_loss(1, 3000, HYPTRACE_LOST_UNKNOWN);
	expect_loss(2, 3000, 105);
	expect_end();
	/* the rings are unloaded with an event and the losses before it */
	counted(0, 0, 1, 6 + 105 + 100 + 100, true);
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
		choose_cpus((unsigned int[]){ 0, 2 }, 2);
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
		/* a second close counts nothing again */
		hyptrace_stream_close(stream);
		counted(1, 0, loaded ? 0 : 4, loaded ? 7 : 10, false);
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

/* The remote is unregistered, or does not answer, after its counters were read. */
static void gone_at_the_end(void **state)
{
	unsigned int gone;

	(void)state;
	for (gone = 0; gone < 2; gone++) {
		hyptrace_stream_free(stream);
		fake_device.rings[1].unreported = 0;
		stream = hyptrace_stream_new(h, "test", &err);
		start();
		fake_device.rings[0].unread = 4;
		fake_device.rings[1].unreported = 3;
		hyptrace_stream_end(stream);
		/* there is no event */
		expect_loss(1, fake_device.now, 3);
		fake_device.gone = gone;
		fake_netlink.send_errno = gone ? 0 : EIO;
		expect_end();
		counted(0, 0, gone ? 4 : 0, 3, false);
		fake_netlink.send_errno = 0;
	}
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(end_in_time), TEST(end_in_a_run), TEST(end_before_a_run), TEST(end_in_order),
		TEST(end_asks_empty_rings), TEST(end_at_the_first_times), TEST(end_before_damage),
		TEST(end_of_one_ring), TEST(end_by_another_clock), TEST(end_of_an_unknown_state),
		TEST(losses), TEST(losses_after_the_last_event),
		TEST(losses_before_the_stream), TEST(losses_behind_unread_events),
		TEST(losses_of_both_kinds),
		TEST(unloaded), TEST(gone_at_the_end), TEST(closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
