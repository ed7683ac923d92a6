/* SPDX-License-Identifier: GPL-2.0-only */
/* A recording of the remote of file_remote.h, step by step, and what the finished file has. */
#ifndef FILE_STEPS_H
#define FILE_STEPS_H

#include "file_remote.h"
#include "file_count.h"

#define PER_SUBBUF	40

static struct hyptrace_file_writer *w;
static uint32_t next;
/* Events that were given to the writer, by CPU */
static uint64_t written[6];

/* The next sub-buffer of a CPU */
static inline void make(char *subbuf, unsigned int cpu)
{
	fill(subbuf, 1000 + next, next, PER_SUBBUF);
	next += PER_SUBBUF;
	written[cpu] += PER_SUBBUF;
}

/* Write sub-buffers of a CPU. Return what the last call returns. */
static inline int write_some(unsigned int cpu, unsigned int nr)
{
	char subbuf[SUBBUF];
	int ret = 0;

	while (nr--) {
		make(subbuf, cpu);
		ret = hyptrace_file_write(w, cpu, subbuf, SUBBUF, &err);
	}
	return ret;
}

static inline int finish(void)
{
	unsigned int i;

	for (i = 0; i < CPUS; i++)
		hyptrace_file_set_counts(w, cpu_ids[i], written[cpu_ids[i]], 0, 0);
	return hyptrace_file_finish(w, &err);
}

/* Finish "a.dat", which says that so many of its events are lost. */
static inline void finish_with(uint64_t lost)
{
	uint64_t said, events;

	if (finish())
		fail_msg("%s", err.text);
	events = count_events("a.dat", &said);
	assert_int_equal(said, lost);
	assert_int_equal(events, next - lost);
}

static inline void open_ring(int *ends)
{
	assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
}

/* Put sub-buffers into a ring: here a pipe. */
static inline void put(const int *ends, unsigned int cpu, unsigned int nr)
{
	char subbuf[SUBBUF];

	while (nr--) {
		make(subbuf, cpu);
		assert_int_equal(write(ends[1], subbuf, SUBBUF), SUBBUF);
	}
}

static inline int64_t take(const int *ends, unsigned int cpu)
{
	return hyptrace_file_splice(w, cpu, ends[0], &err);
}

static inline void close_ring(const int *ends)
{
	close(ends[0]);
	close(ends[1]);
}

#endif /* FILE_STEPS_H */
