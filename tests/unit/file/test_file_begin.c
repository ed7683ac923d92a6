// SPDX-License-Identifier: GPL-2.0-only
/* Which CPUs of a trace file are read, and how much memory each of them gets. */
#include "lib/file/read/file.h"
#include "file_case.h"

#define CPUS	400
#define KIB	1024
#define MIB	(1 << 20)

static struct hyptrace_file_cpu cpus[CPUS], *list[CPUS];
static struct file_data data[CPUS];

/* A file of so many CPUs, each of which has a byte */
static struct hyptrace_file *make(unsigned int nr, uint32_t subbuf)
{
	struct hyptrace_file *file = calloc(1, sizeof(*file));
	unsigned int i;

	memset(cpus, 0, sizeof(cpus));
	memset(data, 0, sizeof(data));
	for (i = 0; i < nr; i++) {
		cpus[i].id = i;
		list[i] = &cpus[i];
		data[i].size = 1;
	}
	file->meta.info.cpus = list;
	file->meta.info.nr_cpus = nr;
	file->meta.info.subbuf_size = subbuf;
	file->data = data;
	file->long_size = 8;
	file->options.to = UINT64_MAX;
	file->options.sides = HYPTRACE_SIDE_REMOTE;
	return file;
}

static void memory(void **state)
{
	static const struct {
		unsigned int	nr;
		uint32_t	subbuf;
		bool		swap, compressed;
		size_t		room;	/* 0: they do not fit */
	} cases[] = {
		{ 1, KIB, false, false, 64 * KIB }, { 256, KIB, false, false, 64 * KIB },
		{ 257, KIB, false, false, 63 * KIB },
		/* half of it is for those that are converted */
		{ 128, KIB, true, false, 64 * KIB }, { 129, KIB, true, false, 63 * KIB },
		/* larger ones get more memory, but not too much */
		{ 1, MIB, false, false, MIB }, { 32, MIB, false, false, MIB },
		{ 33, MIB, false, false, 0 }, { 16, MIB, true, false, MIB },
		{ 17, MIB, true, false, 0 }, { 257, 64 * KIB, false, false, 64 * KIB },
		/* a whole chunk */
		{ 1, KIB, false, true, MIB }, { 16, KIB, false, true, MIB },
		{ 17, KIB, false, true, 963 * KIB }, { 8, 128 * KIB, false, true, 2 * MIB },
		{ 9, 128 * KIB, false, true, 14 * 128 * KIB }, { 1, 64 * KIB, false, true, MIB },
	};
	unsigned int i;
	char said[128];

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct hyptrace_file *file = make(cases[i].nr, cases[i].subbuf);
		const size_t room = cases[i].room;

		file->swap = cases[i].swap;
		file->compressed = cases[i].compressed;
		if (room) {
			assert_int_equal(hyptrace_file_begin(file, &err), 0);
			assert_int_equal(file->nr_sources, cases[i].nr);
			assert_int_equal(file->sources[0].size, room);
			assert_int_equal(file->sources[cases[i].nr - 1].size, room);
			assert_int_equal(file->buffer_size, (cases[i].swap ? 2 : 1) * room + 4);
		} else {
			assert_int_equal(hyptrace_file_begin(file, &err), -E2BIG);
			snprintf(said, sizeof(said), "the sub-buffers of %u CPUs do not fit into memory: choose some of the CPUs",
				 cases[i].nr);
			assert_string_equal(err.text, said);
		}
		hyptrace_file_part_free(file);
	}
}

/* A longer commit word takes memory in each sub-buffer. */
static void long_sizes(void **state)
{
	struct hyptrace_file *file = make(1, KIB);

	(void)state;
	file->long_size = 4;
	assert_int_equal(hyptrace_file_begin(file, &err), 0);
	assert_int_equal(file->buffer_size, 64 * KIB + 64 * (KIB + 4) + 4);
	hyptrace_file_part_free(file);
}

/* A CPU is read if it has something, or if something is to be said of it. */
static void choice(void **state)
{
	static const struct {
		uint64_t	size, missing, lost;
		bool		has_counts, is_read;
	} cases[] = {
		{ 1, 0, 0, false, true }, { 0, 0, 0, false, false }, { 0, 1, 0, false, true },
		{ 0, 0, 1, true, true }, { 0, 0, 1, false, false }, { 0, 0, 0, true, false },
	};
	unsigned int i, number, nr, leaves;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct hyptrace_file *file = make(CPUS, KIB);

		data[7].size = cases[i].size;
		cpus[7].missing = cases[i].missing;
		cpus[7].lost = cases[i].lost;
		cpus[7].has_counts = cases[i].has_counts;
		assert_int_equal(hyptrace_file_begin(file, &err), 0);
		assert_int_equal(file->nr_sources, CPUS - !cases[i].is_read);
		hyptrace_file_part_free(file);
		/* it is not chosen, or alone */
		for (number = 6; number <= 7; number++) {
			file = make(CPUS, KIB);
			data[7].size = cases[i].size;
			cpus[7].missing = cases[i].missing;
			cpus[7].lost = cases[i].lost;
			cpus[7].has_counts = cases[i].has_counts;
			file->chosen = &number;
			file->nr_chosen = 1;
			assert_int_equal(hyptrace_file_begin(file, &err), 0);
			assert_int_equal(file->nr_sources, number == 6 || cases[i].is_read);
			if (file->nr_sources)
				assert_int_equal(file->sources[0].event.cpu, number);
			hyptrace_file_part_free(file);
		}
	}
	/* the tree has so many places */
	for (nr = 0; nr < 20; nr++) {
		struct hyptrace_file *file = make(nr, KIB);

		for (leaves = 1; leaves < nr; leaves *= 2)
			;
		assert_int_equal(hyptrace_file_begin(file, &err), 0);
		assert_int_equal(file->nr_leaves, leaves);
		for (i = 0; i < leaves; i++) {
			assert_int_equal(file->players[leaves + i].source, i);
			assert_true(file->players[leaves + i].key == FILE_KEY_NONE);
		}
		hyptrace_file_part_free(file);
	}
}

/* Where reading begins: ten sub-buffers begin at 100, 200 and so on, with one event each. */
static void starts(void **state)
{
	static const struct {
		uint64_t	from, to, last;
		uint64_t	first, floor, skip;
	} cases[] = {
		{ 0, UINT64_MAX, 0, 0, 0, 0 }, { 99, UINT64_MAX, 0, 0, 99, 0 },
		{ 100, UINT64_MAX, 0, 0, 100, 0 }, { 101, UINT64_MAX, 0, 0, 101, 0 },
		{ 300, UINT64_MAX, 0, 1, 300, 0 }, { 301, UINT64_MAX, 0, 2, 301, 0 },
		{ 5000, UINT64_MAX, 0, 9, 5000, 0 }, { 300, 310, 0, 1, 300, 0 },
		/* so many of the last ones: as many sub-buffers, or a power of two */
		{ 0, UINT64_MAX, 1, 9, 1000, 1 }, { 0, UINT64_MAX, 2, 8, 900, 1 },
		{ 0, UINT64_MAX, 3, 6, 700, 2 }, { 0, UINT64_MAX, 10, 0, 0, 1 },
		{ 0, UINT64_MAX, 11, 0, 0, 0 },
		{ 0, 500, 3, 1, 200, 2 }, { 0, 499, 2, 2, 300, 1 }, { 0, 99, 1, 0, 0, 0 },
		{ 300, 500, 2, 3, 400, 1 }, { 300, 500, 3, 1, 300, 1 }, { 300, 500, 4, 1, 300, 0 },
	};
	struct hyptrace_file_options *options;
	struct hyptrace_file *file;
	struct image image;
	unsigned int kind, i;

	(void)state;
	for (kind = IMAGE_VERSION_6; kind <= IMAGE_ZSTD; kind++) {
		image_init(&image, kind, kind == IMAGE_VERSION_7, KIB, 1);
		for (i = 1; i <= 10; i++) {
			image_subbuf(&image, 0, 100 * i);
			image_event(&image, 0, 0, NUMBER(100 * i, 0));
		}
		file = open_image(&image);
		for (i = 0; i < COUNT(cases); i++) {
			options = hyptrace_file_options(file);
			options->from = cases[i].from;
			options->to = cases[i].to;
			options->last = cases[i].last;
			assert_int_equal(hyptrace_file_begin(file, &err), 0);
			if (file->sources[0].start != cases[i].first * KIB ||
			    file->floor != cases[i].floor || file->skip != cases[i].skip)
				fail_msg("case %u: start %llu, floor %llu, skip %llu", i,
					 (unsigned long long)file->sources[0].start / KIB,
					 (unsigned long long)file->floor,
					 (unsigned long long)file->skip);
			assert_int_equal(file->sources[0].next, cases[i].first * KIB);
			assert_int_equal(file->counts.damaged, 0);
		}
		hyptrace_file_close(file);
		image_free(&image);
	}
}

/* A damaged sub-buffer hides on which side of it a time is: reading begins before it. */
static void damaged_middle(void **state)
{
	struct hyptrace_file_options *options;
	struct hyptrace_file *file;
	struct image image;
	unsigned int i, nr = 0;
	size_t size, at;
	char *data;

	(void)state;
	image_init(&image, IMAGE_ZSTD, false, KIB, 1);
	image.per_chunk = 1;
	for (i = 1; i <= 3; i++) {
		image_subbuf(&image, 0, 100 * i);
		image_event(&image, 0, 0, NUMBER(100 * i, 0));
	}
	data = image_make(&image, &size);
	/* the second frame of zstd */
	for (at = 0; at < size - 4 && nr < 2; at++)
		nr += !memcmp(data + at, "\x28\xb5\x2f\xfd", 4);
	memset(data + at + 3, 0xff, 8);
	write_file(path, data, size);
	free(data);
	file = hyptrace_file_open(path, &err);
	assert_non_null(file);
	for (i = 100; i <= 400; i += 50) {
		options = hyptrace_file_options(file);
		options->from = i;
		assert_int_equal(hyptrace_file_begin(file, &err), 0);
		assert_int_equal(file->sources[0].start, 0);
	}
	hyptrace_file_close(file);
	image_free(&image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory), cmocka_unit_test(long_sizes), cmocka_unit_test(choice),
		cmocka_unit_test(starts), cmocka_unit_test(damaged_middle),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
