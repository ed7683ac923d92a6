// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that read a file: together they deliver what one reader delivers, whatever is lost or
 * damaged. And several events at once: they are those that are delivered one by one.
 */
#include <limits.h>
#include <sched.h>

#include "file_case.h"
#include "lib/file/read/file.h"

#define SUBBUF		1024
#define SUBBUFS		40
#define ROUNDS		150
#define EVENTS_MAX	300000

/* What a reader has returned, and the event */
struct delivery {
	int		ret;
	uint64_t	ts;
	uint64_t	lost;
	unsigned int	cpu;
	uint64_t	number;
};

static struct delivery whole[EVENTS_MAX], parts[EVENTS_MAX];
static uint32_t seed;

static unsigned int below(unsigned int limit)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % limit;
}

/* Make sub-buffers of a CPU: full, empty, with losses, damaged, and with any times. */
static void make_cpu(struct image *image, unsigned int cpu, unsigned int subbufs)
{
	const uint32_t bad = 0;
	unsigned int i, nr;
	uint64_t ts = 1000;

	for (i = 0; i < subbufs; i++) {
		ts += below(100);
		if (!below(8))
			ts -= 300;
		image_subbuf(image, cpu, ts);
		for (nr = below(3) ? below(60) : 0; nr; nr--) {
			unsigned int delta = below(3);

			if (!image_event(image, cpu, delta, NUMBER(ts + delta, cpu)))
				break;
			ts += delta;
		}
		if (!below(4) && image->cpus[cpu].used < SUBBUF / 2)
			image_lost(image, cpu, below(3) ? 1 + below(9) : HYPTRACE_LOST_UNKNOWN);
		/* a record of length 0, maybe after other records */
		if (!below(6))
			memcpy(image->cpus[cpu].data + i * SUBBUF + 16 + below(2) * IMAGE_RECORD,
			       &bad, sizeof(bad));
		if (!below(8))
			memset(image->cpus[cpu].data + i * SUBBUF + 8, 0x7f, sizeof(uint64_t));
	}
	if (!below(3))
		image->cpus[cpu].size -= below(SUBBUF);
	image->cpus[cpu].lost = below(200);
	image->has_counts = below(4);
}

static void make_many(struct image *image, bool swap, unsigned int nr_cpus, unsigned int subbufs)
{
	unsigned int cpu;

	image_init(image, IMAGE_VERSION_6, swap, SUBBUF, nr_cpus);
	for (cpu = 0; cpu < nr_cpus; cpu++)
		make_cpu(image, cpu, subbufs);
}

static void make(struct image *image, bool swap, unsigned int nr_cpus)
{
	make_many(image, swap, nr_cpus, SUBBUFS);
}

/* Keep an event. A reader may get some of them at once. */
static void keep(struct delivery *to, int ret, const struct hyptrace_stream_event *event)
{
	memset(to, 0, sizeof(*to));
	to->ret = ret;
	if (ret != 1)
		return;
	to->ts = event->record.ts;
	to->lost = event->record.lost;
	to->cpu = event->cpu;
	if (event->record.data)
		memcpy(&to->number, (const char *)event->record.data + 8, sizeof(to->number));
}

/* @runs: get several events at once. */
static unsigned int read_all(struct hyptrace_file *file, struct delivery *to, unsigned int nr,
			     bool runs)
{
	struct hyptrace_stream_event events[7];
	const struct hyptrace_stream_event *event = events;
	int ret, i;

	do {
		ret = runs ? hyptrace_file_fill(file, events, 1 + below(7), NULL) :
			     hyptrace_file_next(file, &event, NULL);
		assert_in_range(nr, 0, EVENTS_MAX - 10);
		for (i = 0; i < ret; i++)
			keep(&to[nr++], 1, &event[i]);
		if (ret == -EBADMSG)
			keep(&to[nr++], ret, NULL);
	} while (ret > 0 || ret == -EBADMSG);
	assert_int_equal(ret, -ENODATA);
	return nr;
}

static bool is_odd(const struct hyptrace_stream_event *event, void *arg)
{
	(void)arg;
	return event->record.ts % 2;
}

/* Several events at once are those that are next. */
static void runs(void **state)
{
	unsigned int round, nr, i;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		struct hyptrace_file *file;
		struct image image;

		seed = round;
		make(&image, round % 2, 1 + round % IMAGE_CPUS);
		file = open_image(&image);
		if (!below(3))
			read_times(file, 1000 + below(400), 1500 + below(2000));
		nr = read_all(file, whole, 0, false);
		hyptrace_file_options(file);
		assert_int_equal(read_all(file, parts, 0, true), nr);
		for (i = 0; i < nr; i++)
			if (memcmp(&whole[i], &parts[i], sizeof(*whole)))
				fail_msg("round %u: delivery %u of %u differs", round, i, nr);
		hyptrace_file_close(file);
		image_free(&image);
	}
}

/* The payloads of several events are valid together, also if one event was read alone before. */
static void run_after_next(void **state)
{
	const struct hyptrace_stream_event *events;
	struct hyptrace_file *file;
	struct image image;
	unsigned int i;

	(void)state;
	/* it is read alone */
	image_init(&image, IMAGE_VERSION_6, false, 65536, 1);
	for (i = 0; i < 6; i++) {
		if (i % 3 == 0)
			image_subbuf(&image, 0, 1000 + i);
		image_event(&image, 0, !!(i % 3), NUMBER(UINT64_C(1000) + i, 0));
	}
	file = open_image(&image);
	assert_int_equal(hyptrace_file_next(file, &events, &err), 1);
	assert_int_equal(number_of(events), NUMBER(1000, 0));
	assert_int_equal(hyptrace_file_batch(file, &events, &err), 5);
	for (i = 0; i < 5; i++)
		assert_int_equal(number_of(&events[i]), NUMBER(1001 + i, 0));
	hyptrace_file_close(file);
	image_free(&image);
}

static bool is_rare(const struct hyptrace_stream_event *event, void *arg)
{
	(void)arg;
	return event->record.ts % 2000 == 0;
}

/* Batches are full, however many buffers those before them have emptied. */
static void full_batches(void **state)
{
	const struct hyptrace_stream_event *events;
	unsigned int nr = 0, all = 90000;
	struct hyptrace_file *file;
	struct image image;
	int ret;

	(void)state;
	image_init(&image, IMAGE_VERSION_6, false, SUBBUF, 1);
	fill(&image, all, 5000);
	assert_true(image.cpus[0].size > FILE_BATCH_BUFFERS + FILE_READ_SIZE);
	file = open_image(&image);
	while ((ret = hyptrace_file_batch(file, &events, &err)) > 0) {
		nr += ret;
		assert_true(ret == FILE_BATCH_EVENTS || nr == all);
	}
	assert_int_equal(ret, -ENODATA);
	assert_int_equal(nr, all);
	/* one that has few events of many buffers ends early: it keeps these */
	hyptrace_file_options(file)->filter = is_rare;
	while ((ret = hyptrace_file_batch(file, &events, &err)) > 0)
		assert_in_range(file->emptied_size, 0, FILE_BATCH_BUFFERS + file->buffer_size);
	assert_int_equal(ret, -ENODATA);
	hyptrace_file_close(file);
	image_free(&image);
}

/* What threads have flushed, in its order. */
struct flushed {
	unsigned int	nr;
};

/* What a thread has used since its last flush. */
struct used {
	struct flushed	*to;
	unsigned int	nr;
	struct delivery	what[EVENTS_MAX];
};

static void *begin_use(struct hyptrace_formats *formats, void *to)
{
	struct used *used = calloc(1, sizeof(*used));

	assert_non_null(formats);
	used->to = to;
	return used;
}

static int use(void *state, const struct hyptrace_file_batch *batch)
{
	struct used *used = state;
	unsigned int i;

	for (i = 0; i < batch->nr; i++)
		keep(&used->what[used->nr++], 1, &batch->events[i]);
	/* as if there was no more room */
	if (batch->events[0].record.ts % 3 == 0) {
		assert_int_equal(hyptrace_file_wait(batch), 0);
		memcpy(parts + used->to->nr, used->what, used->nr * sizeof(*parts));
		used->to->nr += used->nr;
		used->nr = 0;
	}
	return 0;
}

static int flush(void *state)
{
	struct used *used = state;

	memcpy(parts + used->to->nr, used->what, used->nr * sizeof(*parts));
	used->to->nr += used->nr;
	used->nr = 0;
	return 0;
}

static void damage(const struct hyptrace_error *why, void *arg)
{
	struct flushed *to = arg;

	assert_int_equal(why->errnum, EBADMSG);
	keep(&parts[to->nr++], -EBADMSG, NULL);
}

/* Several threads flush what one of them reads. */
static void threads(void **state)
{
	const struct hyptrace_file_work work = {
		.begin = begin_use, .batch = use, .flush = flush, .damage = damage, .end = free,
	};
	unsigned int round, nr, i;

	(void)state;
	for (round = 0; round < 60; round++) {
		struct hyptrace_file_work with = work;
		struct hyptrace_file_counts one, all;
		struct hyptrace_file *file;
		struct flushed to = {};
		struct image image;

		seed = round;
		make_many(&image, round % 2, 1 + round / 2 % IMAGE_CPUS, 2500);
		file = open_image(&image);
		if (round % 5 == 0)
			hyptrace_file_options(file)->filter = is_odd;
		if (round % 4 == 1)
			read_times(file, 1000 + below(40000), round % 8 == 1 ? UINT64_MAX : 60000);
		nr = read_all(file, whole, 0, false);
		one = *hyptrace_file_counts(file);
		with.arg = &to;
		assert_int_equal(hyptrace_file_run(file, &with, sizeof(with), &err), 0);
		assert_int_equal(to.nr, nr);
		for (i = 0; i < nr; i++)
			if (memcmp(&whole[i], &parts[i], sizeof(*whole)))
				fail_msg("round %u: delivery %u of %u differs", round, i, nr);
		all = *hyptrace_file_counts(file);
		assert_memory_equal(&one, &all, sizeof(all));
		hyptrace_file_close(file);
		image_free(&image);
	}
}

/* The last events, so many that several threads read them, are the end of all. */
static void last_events(void **state)
{
	static const unsigned int lasts[] = { 200000, 230001, 279999, 280000, 290000 };
	struct flushed to;
	const struct hyptrace_file_work work = {
		.begin = begin_use, .batch = use, .flush = flush, .damage = damage, .end = free,
		.arg = &to,
	};
	unsigned int kind, nr, last, i;

	(void)state;
	for (kind = 0; kind < 2 * (IMAGE_ZSTD + 1); kind++) {
		struct hyptrace_file *file;
		struct image image;

		image_init(&image, kind / 2, false, 4096, kind % 2 ? IMAGE_CPUS : 1);
		fill(&image, 280000, 5000);
		file = open_image(&image);
		nr = read_all(file, whole, 0, true);
		assert_int_equal(nr, 280000);
		for (i = 0; i < sizeof(lasts) / sizeof(lasts[0]); i++) {
			to.nr = 0;
			hyptrace_file_options(file)->last = lasts[i];
			assert_int_equal(hyptrace_file_run(file, &work, sizeof(work), &err), 0);
			last = lasts[i] < nr ? lasts[i] : nr;
			assert_int_equal(to.nr, last);
			assert_memory_equal(parts, whole + nr - last, last * sizeof(*parts));
		}
		hyptrace_file_close(file);
		image_free(&image);
	}
}

/* CPUs that take turns have the same order, whether one thread reads or several of them. */
static void turns(void **state)
{
	struct flushed to;
	const struct hyptrace_file_work work = {
		.begin = begin_use, .batch = use, .flush = flush, .damage = damage, .end = free,
		.arg = &to, .flags = HYPTRACE_FILE_TURNS,
	};
	cpu_set_t all, one;
	unsigned int round, nr;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	for (round = 0; round < 20; round++) {
		struct hyptrace_file_counts counts[2], merged;
		struct hyptrace_file *file;
		struct image image;

		seed = round;
		make_many(&image, round % 2, 1 + round / 2 % IMAGE_CPUS, 2500);
		file = open_image(&image);
		if (round % 3 == 0)
			hyptrace_file_options(file)->filter = is_odd;
		read_all(file, whole, 0, true);
		merged = *hyptrace_file_counts(file);
		to.nr = 0;
		assert_int_equal(hyptrace_file_run(file, &work, sizeof(work), &err), 0);
		counts[0] = *hyptrace_file_counts(file);
		nr = to.nr;
		memcpy(whole, parts, nr * sizeof(*whole));
		to.nr = 0;
		assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
		assert_int_equal(hyptrace_file_run(file, &work, sizeof(work), &err), 0);
		assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
		assert_int_equal(to.nr, nr);
		assert_memory_equal(parts, whole, nr * sizeof(*parts));
		counts[1] = *hyptrace_file_counts(file);
		assert_memory_equal(&counts[0], &counts[1], sizeof(counts[0]));
		assert_memory_equal(&counts[0], &merged, sizeof(merged));
		hyptrace_file_close(file);
		image_free(&image);
	}
}

static int end_at_once(void *state, const struct hyptrace_file_batch *batch)
{
	(void)batch;
	++*(unsigned int *)state;
	return 1;
}

/* A thread can end reading; and each CPU's events have their order without flush(). */
static void ended(void **state)
{
	unsigned int nr = 0;
	struct hyptrace_file_work work = { .batch = end_at_once, .arg = &nr };
	struct hyptrace_file *file;
	struct image image;

	(void)state;
	image_init(&image, IMAGE_VERSION_6, false, 1024, 1);
	fill(&image, 1000, 5000);
	file = open_image(&image);
	assert_int_equal(hyptrace_file_run(file, &work, sizeof(work), &err), 1);
	assert_int_equal(nr, 1);
	hyptrace_file_close(file);
	image_free(&image);
}

/* Who ends reading, and what was called since. Threads share it. */
static struct {
	bool		in_flush;
	unsigned int	after;		/* calls before that */
	unsigned int	calls;
	unsigned int	begun;
	unsigned int	ended;
	unsigned int	limit;		/* of states; 0: none */
} end;

static void *begin_end(struct hyptrace_formats *formats, void *arg)
{
	(void)formats;
	(void)arg;
	if (end.limit && __atomic_load_n(&end.begun, __ATOMIC_SEQ_CST) == end.limit)
		return NULL;
	__atomic_fetch_add(&end.begun, 1, __ATOMIC_SEQ_CST);
	return malloc(1);
}

static void end_end(void *state)
{
	__atomic_fetch_add(&end.ended, 1, __ATOMIC_SEQ_CST);
	free(state);
}

static int batch_end(void *state, const struct hyptrace_file_batch *batch)
{
	(void)state;
	(void)batch;
	return !end.in_flush && __atomic_add_fetch(&end.calls, 1, __ATOMIC_SEQ_CST) > end.after;
}

/* Only one thread calls it, if there is an order; and nobody after the end. */
static int flush_end(void *state)
{
	(void)state;
	if (!end.in_flush)
		return 0;
	assert_true(end.calls <= end.after);
	return ++end.calls > end.after;
}

static void ended_by_threads(void **state)
{
	static const unsigned int flags[] = { 0, HYPTRACE_FILE_TURNS, HYPTRACE_FILE_ALONE };
	struct hyptrace_file_work work = {
		.begin = begin_end, .batch = batch_end, .flush = flush_end, .end = end_end,
	};
	struct hyptrace_file *file;
	struct image image;
	unsigned int i;
	int ret;

	(void)state;
	image_init(&image, IMAGE_VERSION_6, false, 4096, IMAGE_CPUS);
	fill(&image, 280000, 5000);
	file = open_image(&image);
	for (i = 0; i < 3 * 2 * 6; i++) {
		memset(&end, 0, sizeof(end));
		end.in_flush = i % 2;
		end.after = i / 2 % 6;
		work.flags = flags[i / 12];
		ret = hyptrace_file_run(file, &work, sizeof(work), &err);
		/* one thread alone flushes once */
		assert_int_equal(ret, end.calls > end.after);
		assert_true(end.calls);
		if (end.in_flush && ret)
			assert_int_equal(end.calls, end.after + 1);
		assert_true(end.begun && end.begun == end.ended);
	}
	/* to its end */
	for (i = 0; i < 3; i++) {
		memset(&end, 0, sizeof(end));
		end.after = UINT_MAX;
		work.flags = flags[i];
		assert_int_equal(hyptrace_file_run(file, &work, sizeof(work), &err), 0);
		assert_int_equal(end.begun, end.ended);
	}
	/* without memory for the state of the second CPU */
	memset(&end, 0, sizeof(end));
	end.after = UINT_MAX;
	end.limit = 1;
	work.flags = HYPTRACE_FILE_TURNS;
	assert_int_equal(hyptrace_file_run(file, &work, sizeof(work), &err), -ENOMEM);
	assert_int_equal(err.errnum, ENOMEM);
	assert_int_equal(end.begun, end.ended);
	hyptrace_file_close(file);
	image_free(&image);
}

struct sums {
	uint64_t	last[IMAGE_CPUS];
	uint64_t	nr[IMAGE_CPUS];
};

static int sum(void *state, const struct hyptrace_file_batch *batch)
{
	const unsigned int cpu = batch->events[0].cpu;
	struct sums *sums = state;
	unsigned int i;

	for (i = 0; i < batch->nr; i++) {
		assert_int_equal(batch->events[i].cpu, cpu);
		sums->nr[cpu]++;
		sums->last[cpu] = batch->events[i].record.ts;
	}
	return 0;
}

static int no_flush(void *state)
{
	(void)state;
	fail_msg("without an order nothing is flushed");
	return 1;
}

static int take_any(void *state, const struct hyptrace_file_batch *batch)
{
	(void)state;
	(void)batch;
	return 0;
}

static void by_cpu(void **state)
{
	struct sums sums;
	const struct hyptrace_file_work work_of_last = {
		.flags = HYPTRACE_FILE_BY_CPU, .batch = take_any, .flush = no_flush,
	};
	const struct hyptrace_file_work work = {
		.flags = HYPTRACE_FILE_BY_CPU, .batch = sum, .flush = no_flush, .arg = &sums,
	};
	unsigned int kind, nr, i;

	(void)state;
	for (kind = IMAGE_VERSION_6; kind <= IMAGE_ZSTD; kind++) {
		struct hyptrace_file_counts one, all;
		const unsigned int chosen[] = { 3, 1 };
		struct hyptrace_file *file;
		struct image image;

		image_init(&image, kind, false, 4096, 4);
		fill(&image, 1000, 5000);
		file = open_image(&image);
		read_all(file, whole, 0, true);
		one = *hyptrace_file_counts(file);
		memset(&sums, 0, sizeof(sums));
		assert_int_equal(hyptrace_file_run(file, &work, sizeof(work), &err), 0);
		all = *hyptrace_file_counts(file);
		assert_memory_equal(&one, &all, sizeof(all));
		for (i = 0; i < 4; i++)
			assert_true(sums.nr[i]);
		for (nr = 1; nr <= 2; nr++) {
			memset(&sums, 0, sizeof(sums));
			assert_int_equal(hyptrace_file_set_cpus(file, chosen, nr, &err), 0);
			assert_int_equal(hyptrace_file_run(file, &work, sizeof(work), &err), 0);
			for (i = 0; i < 4; i++)
				assert_int_equal(!!sums.nr[i], i == 3 || (i == 1 && nr == 2));
		}
		/* one thread reads the last events of all CPUs */
		hyptrace_file_options(file)->last = 10;
		assert_int_equal(hyptrace_file_run(file, &work_of_last, sizeof(work_of_last), &err),
				 0);
		hyptrace_file_close(file);
		image_free(&image);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads),
		cmocka_unit_test(last_events),
		cmocka_unit_test(turns),
		cmocka_unit_test(ended),
		cmocka_unit_test(ended_by_threads),
		cmocka_unit_test(by_cpu),
		cmocka_unit_test(runs), cmocka_unit_test(run_after_next),
		cmocka_unit_test(full_batches),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
