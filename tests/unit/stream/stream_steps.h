/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A stream of the fake device, and what a test expects of it step by step.
 */
#ifndef STREAM_STEPS_H
#define STREAM_STEPS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/hyptrace.h"
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

static inline int setup(void **state)
{
	(void)state;
	fake_device_begin();
	memset(&err, 0, sizeof(err));
	h = hyptrace_open(&err);
	stream = h ? hyptrace_stream_new(h, "test", &err) : NULL;
	return stream ? 0 : -1;
}

static inline int teardown(void **state)
{
	(void)state;
	hyptrace_stream_free(stream);
	stream = NULL;
	hyptrace_close(h);
	fake_netlink_begin(NULL);
	return fake_netlink_nr_open() || fake_device_nr_open();
}

/* @cpus must stay valid until the stream is started. */
static inline void choose_cpus(const unsigned int *cpus, unsigned int nr)
{
	hyptrace_stream_options(stream)->cpus = cpus;
	hyptrace_stream_options(stream)->nr_cpus = nr;
}

static inline void start(void)
{
	assert_int_equal(hyptrace_stream_start(stream, &err), 0);
}

/* Events of 1 ns each after the time, numbered from a number on. */
static inline char *fill(unsigned int cpu, uint64_t ts, unsigned int nr, uint32_t number)
{
	char *subbuf = fake_subbuf(cpu, ts);
	unsigned int i;

	for (i = 0; i < nr; i++)
		fake_event(subbuf, 1, number + i);
	return subbuf;
}

static inline int next(void)
{
	return hyptrace_stream_next(stream, &event, &err);
}

static inline uint32_t number_of(const struct hyptrace_stream_event *from)
{
	uint32_t number;

	memcpy(&number, (const char *)from->record.data + sizeof(number), sizeof(number));
	return number;
}

static inline void expect(unsigned int cpu, uint64_t ts, uint32_t number)
{
	assert_int_equal(next(), 1);
	assert_int_equal(event->cpu, cpu);
	assert_int_equal(event->record.ts, ts);
	assert_non_null(event->record.data);
	assert_int_equal(event->record.size, 8);
	assert_int_equal(number_of(event), number);
}

static inline void expect_loss(unsigned int cpu, uint64_t ts, uint64_t lost)
{
	assert_int_equal(next(), 1);
	assert_int_equal(event->cpu, cpu);
	assert_int_equal(event->record.ts, ts);
	assert_int_equal(event->record.lost, lost);
	assert_null(event->record.data);
	assert_int_equal(event->record.size, 0);
}

static inline void expect_end(void)
{
	assert_int_equal(next(), -ENODATA);
	assert_int_equal(next(), -ENODATA);
	assert_int_equal(hyptrace_stream_fd(stream), -1);
	hyptrace_stream_counts(stream, &counts, sizeof(counts));
}

static inline void end(void)
{
	hyptrace_stream_end(stream);
	expect_end();
}

static inline void counted(uint64_t delivered, uint64_t filtered, uint64_t discarded,
			   uint64_t lost, bool lost_more)
{
	hyptrace_stream_counts(stream, &counts, sizeof(counts));
	assert_int_equal(counts.delivered, delivered);
	assert_int_equal(counts.filtered, filtered);
	assert_int_equal(counts.discarded, discarded);
	assert_int_equal(counts.lost, lost);
	assert_int_equal(counts.lost_more, lost_more);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif /* STREAM_STEPS_H */
