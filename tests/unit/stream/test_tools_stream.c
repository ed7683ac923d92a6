// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams: the order of events, the limit, the filter and damaged sub-buffers.
 */
#include "stream_steps.h"

static void order(void **state)
{
	unsigned int i;

	(void)state;
	start();
	/* asked for twice, it is the same */
	i = hyptrace_stream_fd(stream);
	assert_int_equal(hyptrace_stream_fd(stream), i);
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

/* The driver ends a loop of reads though the ring has more, which the others must not overtake. */
static void order_at_the_limit_of_reads(void **state)
{
	const uint64_t now = fake_device.now;

	(void)state;
	fake_device.rings[0].limit = 1;
	start();
	fill(0, now - 3 * BOUND, 1, 1);
	fill(0, now - 2 * BOUND, 1, 2);
	fill(1, now - 2 * BOUND + 10, 1, 11);
	expect(0, now - 3 * BOUND + 1, 1);
	expect(0, now - 2 * BOUND + 1, 2);
	expect(1, now - 2 * BOUND + 11, 11);
	assert_int_equal(next(), 0);
	end();
	counted(3, 0, 0, 0, false);
}

/* An event of a clock that is ahead of the reader's is not held back for longer. */
static void held_by_a_clock_ahead(void **state)
{
	const uint64_t now = fake_device.now;

	(void)state;
	start();
	fill(1, now + 10 * BOUND, 1, 1);
	assert_int_equal(next(), 0);
	assert_int_equal(fake_device.timer, now + HELD);
	fake_device.now = now + HELD;
	expect(1, now + 10 * BOUND + 1, 1);
	end();
}

/* The event after the delivered ones of its sub-buffer is held back, and not lost. */
static void held_in_a_run(void **state)
{
	const uint64_t now = fake_device.now;
	char *subbuf;

	(void)state;
	start();
	subbuf = fill(0, now - 2 * BOUND, 2, 1);
	fake_event(subbuf, 2 * BOUND - 4, 3);
	fake_event(subbuf, 1, 4);
	expect(0, now - 2 * BOUND + 1, 1);
	expect(0, now - 2 * BOUND + 2, 2);
	assert_int_equal(next(), 0);
	assert_int_equal(next(), 0);
	fake_device.now = now + HELD;
	expect(0, now - 2, 3);
	expect(0, now - 1, 4);
	end();
	counted(4, 0, 0, 0, false);
}

static void limit(void **state)
{
	unsigned int i;

	(void)state;
	/* the last choice counts */
	choose_cpus((unsigned int[]){ 0, 2 }, 2);
	choose_cpus((unsigned int[]){ 1 }, 1);
	hyptrace_stream_options(stream)->limit = 3;
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
		hyptrace_stream_options(stream)->limit = nr;
		start();
		fill(1, 1000, 5, 1);
		for (i = 1; i <= nr; i++)
			expect(1, 1000 + i, i);
		expect_end();
		counted(nr, 0, 5 - nr, 0, false);
	}
}

/*
 * Take all events, several at once where that is possible, at most @max. Their numbers must follow
 * each other from 1 on. Return how many there are.
 */
static unsigned int take_runs(unsigned int max)
{
	struct hyptrace_stream_event events[16];
	unsigned int nr = 0, got, i;

	while (next() == 1) {
		assert_int_equal(number_of(event), ++nr);
		do {
			got = hyptrace_stream_run(stream, events, max);
			assert_in_range(got, 0, max);
			for (i = 0; i < got; i++) {
				assert_int_equal(number_of(&events[i]), ++nr);
				assert_int_equal(events[i].record.lost, 0);
			}
		} while (got);
	}
	return nr;
}

/* Several events at once are those that are delivered one by one, up to the limit. */
static void runs_at_once(void **state)
{
	struct hyptrace_stream_event events[4];
	unsigned int limit, max, nr;

	for (limit = 0; limit <= 13; limit++) {
		for (max = 1; max <= 16; max *= 4) {
			/* without what the last one has left */
			assert_int_equal(teardown(state) || setup(state), 0);
			hyptrace_stream_options(stream)->limit = limit;
			assert_int_equal(hyptrace_stream_run(stream, events, 4), 0);
			start();
			fill(1, 1000, 6, 1);
			/* of another CPU, in between, and after a loss */
			fill(0, 1006, 1, 7);
			fake_subbuf_lost(fill(1, 2000, 5, 8), 3);
			nr = limit && limit < 12 ? limit : 12;
			assert_int_equal(take_runs(max), nr);
			hyptrace_stream_counts(stream, &counts, sizeof(counts));
			assert_int_equal(counts.delivered, nr);
		}
	}
}

/* Of one CPU, all events of a sub-buffer; of several, those before the next one of another CPU. */
static void run_to_another_cpu(void **state)
{
	struct hyptrace_stream_event events[8];

	(void)state;
	start();
	fill(0, 1000, 4, 1);
	fill(1, 1002, 1, 11);
	expect(0, 1001, 1);
	assert_int_equal(hyptrace_stream_run(stream, events, 8), 2);
	assert_int_equal(number_of(&events[1]), 3);
	expect(1, 1003, 11);
	expect(0, 1004, 4);
	end();

	hyptrace_stream_free(stream);
	stream = hyptrace_stream_new(h, "test", &err);
	choose_cpus((unsigned int[]){ 1 }, 1);
	start();
	fill(1, 1000, 5, 1);
	expect(1, 1001, 1);
	assert_int_equal(hyptrace_stream_run(stream, events, 8), 4);
	end();
}

/* Before its start, a stream has no events. */
static void not_started(void **state)
{
	(void)state;
	assert_int_equal(next(), -EINVAL);
	assert_string_equal(err.text, "the stream was not started");
}

/* The limit is reached by the last event that needs no merge step. */
static void limit_at_another_event(void **state)
{
	(void)state;
	hyptrace_stream_options(stream)->limit = 2;
	start();
	fill(0, 1000, 3, 1);
	fill(1, 1001, 1, 11);
	expect(0, 1001, 1);
	expect(0, 1002, 2);
	expect_end();
	counted(2, 0, 2, 0, false);
}

/* Losses after the event that reaches the limit are counted, not delivered. */
static void limit_before_loss(void **state)
{
	(void)state;
	hyptrace_stream_options(stream)->limit = 2;
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
	hyptrace_stream_options(stream)->limit = 1000000;
	start();
	assert_int_equal(next(), 0);
	assert_int_equal(fake_device.rings[0].last_size, 64 << 10);
	end();
	hyptrace_stream_free(stream);
	stream = hyptrace_stream_new(h, "test", &err);
	/* 4 sub-buffers of 32 events on each of 3 CPUs */
	hyptrace_stream_options(stream)->limit = 4 * 32 * 3;
	start();
	assert_int_equal(next(), 0);
	assert_int_equal(fake_device.rings[0].last_size, 4 * FAKE_SUBBUF);
	end();
	/* a sub-buffer that is larger than what is read at once else, whatever the limit */
	for (limit = 0; limit < 2; limit++) {
		hyptrace_stream_free(stream);
		fake_device.subbuf_size = 1 << 17;
		stream = hyptrace_stream_new(h, "test", &err);
		hyptrace_stream_options(stream)->limit = limit;
		start();
		assert_int_equal(next(), 0);
		assert_int_equal(fake_device.rings[0].last_size, 1 << 17);
		end();
	}
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
	hyptrace_stream_options(stream)->filter = is_odd;
	hyptrace_stream_options(stream)->filter_arg = &counts;
	hyptrace_stream_options(stream)->limit = 4;
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
	choose_cpus((unsigned int[]){ 0 }, 1);
	start();
	fake_damage(fill(0, 1000, 2, 1));
	fill(0, 2000, 1, 3);
	fill(0, 3000, 1, 4);
	expect(0, 1001, 1);
	expect(0, 1002, 2);
	assert_int_equal(next(), -EBADMSG);
	assert_int_equal(err.errnum, EBADMSG);
	expect(0, 2001, 3);
	assert_true(event->record.lost == HYPTRACE_LOST_UNKNOWN);
	/* only the next event reports the loss */
	expect(0, 3001, 4);
	assert_int_equal(event->record.lost, 0);
	assert_int_equal(next(), 0);
	counted(4, 0, 0, 0, true);
	end();
}

/* What the tap has got: of the last call, and in all */
struct tapped {
	unsigned int	cpu;
	uint64_t	ts;
	size_t		size;
	int		ret;
};

static int tap(unsigned int cpu, const void *subbufs, size_t size, void *arg,
	       struct hyptrace_error *why)
{
	struct tapped *tapped = arg;

	tapped->cpu = cpu;
	memcpy(&tapped->ts, subbufs, sizeof(tapped->ts));
	tapped->size += size;
	if (tapped->ret)
		why->errnum = -tapped->ret;
	return tapped->ret;
}

/* Sub-buffers are handed over before their events are delivered, also damaged ones. */
static void taps(void **state)
{
	struct tapped tapped = { 0 };

	(void)state;
	choose_cpus((unsigned int[]){ 1 }, 1);
	hyptrace_stream_options(stream)->tap = tap;
	hyptrace_stream_options(stream)->tap_arg = &tapped;
	start();
	fill(1, 1000, 2, 1);
	fake_damage(fill(1, 2000, 1, 3));
	expect(1, 1001, 1);
	assert_int_equal(tapped.cpu, 1);
	assert_int_equal(tapped.ts, 1000);
	assert_int_equal(tapped.size % FAKE_SUBBUF, 0);
	expect(1, 1002, 2);
	expect(1, 2001, 3);
	assert_int_equal(next(), -EBADMSG);
	assert_int_equal(next(), 0);
	assert_int_equal(tapped.size, 2 * FAKE_SUBBUF);
	/* it fails: the events are delivered all the same */
	tapped.ret = -ENOSPC;
	fill(1, 3000, 1, 4);
	assert_int_equal(next(), -ENOSPC);
	assert_int_equal(err.errnum, ENOSPC);
	expect(1, 3001, 4);
	end();
}

/* Likewise if the header of a sub-buffer is damaged: none of its events is delivered. */
static void damaged_header(void **state)
{
	(void)state;
	choose_cpus((unsigned int[]){ 0 }, 1);
	start();
	fill(0, 1000, 1, 1);
	/* the commit word */
	memset(fill(0, 2000, 1, 2) + sizeof(uint64_t), 0xff, sizeof(uint64_t));
	fill(0, 3000, 1, 3);
	expect(0, 1001, 1);
	assert_int_equal(next(), -EBADMSG);
	expect(0, 3001, 3);
	assert_true(event->record.lost == HYPTRACE_LOST_UNKNOWN);
	end();
	counted(2, 0, 0, 0, true);
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
	choose_cpus((unsigned int[]){ 0 }, 1);
	start();
	fake_damage(fill(0, 1000, 2, 1));
	fill(0, 2000, 1, 3);
	expect(0, 1001, 1);
	hyptrace_stream_close(stream);
	expect_end();
	counted(1, 0, 2, 0, true);

	/* the CPU is not empty: later events of others come after its next one */
	hyptrace_stream_free(stream);
	stream = hyptrace_stream_new(h, "test", &err);
	start();
	fake_damage(fake_subbuf(0, 1000));
	fill(0, 2000, 1, 1);
	fill(1, 3000, 1, 11);
	assert_int_equal(next(), -EBADMSG);
	expect(0, 2001, 1);
	expect(1, 3001, 11);
	end();

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(order), TEST(held), TEST(order_at_the_limit_of_reads),
		TEST(held_by_a_clock_ahead), TEST(held_in_a_run),
		TEST(limit), TEST(limit_in_a_run), TEST(runs_at_once),
		TEST(run_to_another_cpu), TEST(not_started),
		TEST(limit_at_another_event), TEST(limit_before_loss), TEST(read_sizes),
		TEST(filter), TEST(taps), TEST(damage),
		TEST(damaged_header), TEST(damage_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
