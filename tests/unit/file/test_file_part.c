// SPDX-License-Identifier: GPL-2.0-only
/*
 * Readers of parts: together they deliver what one reader of the whole file delivers, whatever is
 * lost or damaged and wherever the parts begin. And several events at once: they are those that
 * are delivered one by one.
 */
#include "file_case.h"
#include "../../tools/lib/file/read/file.h"

#define SUBBUF		1024
#define SUBBUFS		40
#define ROUNDS		300
#define MAX		20000

/* What a reader has returned, and the event */
struct delivery {
	int		ret;
	uint64_t	ts;
	uint64_t	lost;
	unsigned int	cpu;
	uint64_t	number;
};

static struct delivery whole[MAX], parts[MAX];
static uint32_t seed;

static unsigned int below(unsigned int limit)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % limit;
}

/* Make sub-buffers of a CPU: full, empty, with losses, damaged, and with any times. */
static void make_cpu(struct image *image, unsigned int cpu)
{
	const uint32_t bad = 0;
	unsigned int i, nr;
	uint64_t ts = 1000;

	for (i = 0; i < SUBBUFS; i++) {
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

static void make(struct image *image, bool swap, unsigned int nr_cpus)
{
	unsigned int cpu;

	image_init(image, IMAGE_VERSION_6, swap, SUBBUF, nr_cpus);
	for (cpu = 0; cpu < nr_cpus; cpu++)
		make_cpu(image, cpu);
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

/* @runs: get several events at once now and then. */
static unsigned int read_all(struct hyptrace_file *file, struct delivery *to, unsigned int nr,
			     bool runs)
{
	struct hyptrace_stream_event events[7];
	const struct hyptrace_stream_event *event;
	unsigned int more, i;
	int ret;

	do {
		more = runs && below(2) ? hyptrace_file_run(file, events, 1 + below(7)) : 0;
		assert_in_range(nr, 0, MAX - 10);
		for (i = 0; i < more; i++)
			keep(&to[nr++], 1, &events[i]);
		ret = hyptrace_file_next(file, &event, NULL);
		if (ret != -ENODATA)
			keep(&to[nr++], ret, event);
	} while (ret == 1 || ret == -EBADMSG);
	assert_int_equal(ret, -ENODATA);
	return nr;
}

/* Read the file in parts. Return the number of deliveries. */
static unsigned int read_parts(struct hyptrace_file *file, uint64_t at, uint64_t end)
{
	struct hyptrace_file *readers[2];
	struct file_rest rest = {};
	unsigned int nr = 0, which = 0;

	readers[0] = hyptrace_file_part_new(file, NULL);
	readers[1] = hyptrace_file_part_new(file, NULL);
	memset(&file->counts, 0, sizeof(file->counts));
	while (at < end) {
		struct hyptrace_file *part = readers[which++ % 2];
		uint64_t to = at + SUBBUF * (1 + below(4));

		if (!hyptrace_file_part_begin(part, at, to < end ? to : UINT64_MAX))
			hyptrace_file_part_continue(part, &rest);
		nr = read_all(part, parts, nr, true);
		hyptrace_file_part_end(part, &rest);
		hyptrace_file_part_count(file, part);
		at = to;
	}
	hyptrace_file_part_free(readers[0]);
	hyptrace_file_part_free(readers[1]);
	return nr;
}

static bool is_odd(const struct hyptrace_stream_event *event, void *arg)
{
	(void)arg;
	return event->record.ts % 2;
}

static void same(void **state)
{
	unsigned int round, nr, i;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		struct hyptrace_file_counts counts;
		struct hyptrace_file *file;
		struct image image;
		uint64_t from, to;

		seed = round;
		make(&image, round % 2, 1);
		file = open_image(&image);
		if (!below(3))
			hyptrace_file_set_times(file, 1000 + below(400), UINT64_MAX);
		if (!below(3))
			hyptrace_file_set_filter(file, is_odd, NULL);
		nr = read_all(file, whole, 0, false);
		hyptrace_file_counts(file, &counts, sizeof(counts));
		assert_int_equal(hyptrace_file_parts(file, &from, &to, NULL), 1);
		assert_int_equal(read_parts(file, from, to), nr);
		for (i = 0; i < nr; i++)
			if (memcmp(&whole[i], &parts[i], sizeof(*whole)))
				fail_msg("round %u: delivery %u of %u differs", round, i, nr);
		assert_memory_equal(&file->counts, &counts, sizeof(counts));
		hyptrace_file_close(file);
		image_free(&image);
	}
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
			hyptrace_file_set_times(file, 1000 + below(400), 1500 + below(2000));
		nr = read_all(file, whole, 0, false);
		hyptrace_file_rewind(file);
		assert_int_equal(read_all(file, parts, 0, true), nr);
		for (i = 0; i < nr; i++)
			if (memcmp(&whole[i], &parts[i], sizeof(*whole)))
				fail_msg("round %u: delivery %u of %u differs", round, i, nr);
		hyptrace_file_close(file);
		image_free(&image);
	}
}

/* The events of several CPUs, the last events, and those up to a time are not read in parts. */
static void not_in_parts(void **state)
{
	const unsigned int cpu = 1;
	struct hyptrace_file *file;
	struct image image;
	uint64_t from, to;
	unsigned int kind;

	(void)state;
	for (kind = IMAGE_VERSION_6; kind <= IMAGE_ZSTD; kind++) {
		image_init(&image, kind, false, 4096, 2);
		fill(&image, 1000, 5000);
		file = open_image(&image);
		assert_int_equal(hyptrace_file_parts(file, &from, &to, &err), 0);
		assert_int_equal(hyptrace_file_set_cpus(file, &cpu, 1, &err), 0);
		assert_int_equal(hyptrace_file_parts(file, &from, &to, &err), kind != IMAGE_ZSTD);
		hyptrace_file_set_last(file, 10);
		assert_int_equal(hyptrace_file_parts(file, &from, &to, &err), 0);
		hyptrace_file_set_last(file, 0);
		hyptrace_file_set_times(file, 0, 6000);
		assert_int_equal(hyptrace_file_parts(file, &from, &to, &err), 0);
		hyptrace_file_close(file);
		image_free(&image);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same),
		cmocka_unit_test(runs),
		cmocka_unit_test(not_in_parts),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
