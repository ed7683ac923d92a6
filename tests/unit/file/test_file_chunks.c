// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sub-buffers read at any place, into memory of any size, of CPUs in turn: they are those of the
 * file, also if a compressed chunk has more of them than there is room for.
 */
#include "fail_alloc.h"
#include "lib/file/read/file.h"
#include "file_case.h"

#define SUBBUF	1024
#define CPUS	3

static struct image image;
static uint32_t seed = 1;

static uint32_t random_below(uint32_t limit)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % limit;
}

static struct hyptrace_file *begin(enum image_kind kind, unsigned int events,
				   unsigned int per_chunk)
{
	struct hyptrace_file *file;

	image_init(&image, kind, false, SUBBUF, CPUS);
	image.per_chunk = per_chunk;
	fill(&image, events, 1000);
	file = open_image(&image);
	assert_true(image.cpus[0].size / SUBBUF > 10);
	return file;
}

/* Read from a place; it must be what the file has there. Return the bytes. */
static int64_t read_at(struct hyptrace_file *file, unsigned int cpu, uint64_t at, size_t room)
{
	char *to = malloc(room);
	int64_t n = hyptrace_data_read(file, &file->data[cpu], at, to, room, &err);

	if (n > 0) {
		assert_true((size_t)n <= room);
		assert_int_equal(n % SUBBUF, 0);
		assert_true(at + n <= image.cpus[cpu].size);
		assert_memory_equal(to, image.cpus[cpu].data + at, n);
	}
	free(to);
	return n;
}

static void any_place(void **state)
{
	struct hyptrace_file *file;
	unsigned int i, kind, cpu;
	size_t room, size, nr;
	uint64_t at;
	int64_t n;

	(void)state;
	for (kind = IMAGE_VERSION_6; kind <= IMAGE_ZSTD; kind++) {
		file = begin(kind, 2000, 3);
		for (i = 0; i < 3000; i++) {
			cpu = random_below(CPUS);
			size = image.cpus[cpu].size;
			nr = size / SUBBUF;
			at = (uint64_t)random_below(nr + 2) * SUBBUF;
			/* a chunk has three, the last one perhaps fewer */
			room = SUBBUF + random_below(3 * SUBBUF);
			n = read_at(file, cpu, at, room);
			assert_int_equal(n > 0, at < size);
			assert_true(n >= 0);
			if (kind != IMAGE_ZSTD && at < size)
				assert_int_equal(n, MIN(room / SUBBUF * SUBBUF, size - at));
		}
		for (cpu = 0; cpu < CPUS; cpu++) {
			assert_int_equal(hyptrace_data_count(file, &file->data[cpu], &at, &err), 0);
			assert_int_equal(at, image.cpus[cpu].size / SUBBUF);
		}
		hyptrace_file_close(file);
		image_free(&image);
	}
}

/* A whole CPU in order, with room for one sub-buffer, while another CPU takes the memory. */
static void in_order(void **state)
{
	struct hyptrace_file *file;
	uint64_t at, bytes, all;
	unsigned int step;

	(void)state;
	for (step = 0; step < 3; step++) {
		file = begin(IMAGE_ZSTD, 30000, 2);
		for (at = 0; at < image.cpus[0].size; at += SUBBUF) {
			assert_int_equal(read_at(file, 0, at, SUBBUF + step * 100), SUBBUF);
			if (step && at < image.cpus[1].size)
				assert_int_equal(read_at(file, 1, at, SUBBUF), SUBBUF);
		}
		assert_int_equal(read_at(file, 0, at, SUBBUF), 0);
		/* alone, the CPU needs to find and decompress each chunk only once */
		hyptrace_file_progress(file, &bytes, &all);
		if (!step)
			assert_in_range(bytes, 1, hyptrace_file_info(file)->cpus[0]->size * 3 / 2);
		hyptrace_file_close(file);
		image_free(&image);
	}
}

static void no_memory(void **state)
{
	struct hyptrace_file *file;
	bool failed = true;
	unsigned int nth;
	int64_t n;

	(void)state;
	for (nth = 1; failed; nth++) {
		char to[SUBBUF];

		file = begin(IMAGE_ZSTD, 2000, 2);
		fail_alloc(nth);
		n = hyptrace_data_read(file, &file->data[0], 0, to, SUBBUF, &err);
		failed = fail_alloc_end();
		/* to remember where chunks are is not necessary */
		assert_true(n == SUBBUF || (failed && n == -ENOMEM));
		assert_int_equal(read_at(file, 0, 0, SUBBUF), SUBBUF);
		hyptrace_file_close(file);
		image_free(&image);
	}
}

/* A chunk that is damaged is named each time; those beside it are read. */
static void damaged(void **state)
{
	const struct hyptrace_stream_event *event;
	struct hyptrace_file *file;
	char *data, said[64];
	unsigned int nr = 0, i;
	size_t size, at;
	int ret;

	(void)state;
	image_init(&image, IMAGE_ZSTD, false, SUBBUF, 1);
	fill(&image, 500, 1000);
	data = image_make(&image, &size);
	/* the second frame of zstd */
	for (at = 0; at < size - 4 && nr < 2; at++)
		nr += !memcmp(data + at, "\x28\xb5\x2f\xfd", 4);
	memset(data + at + 3, 0xff, 20);
	write_file(path, data, size);
	free(data);
	file = hyptrace_file_open(path, &err);
	assert_non_null(file);
	for (i = 0; i < 2; i++) {
		const size_t room = (i + 1) * SUBBUF;

		assert_true(read_at(file, 0, 0, room) > 0);
		assert_int_equal(read_at(file, 0, 2 * SUBBUF, room), -EBADMSG);
		assert_non_null(strstr(err.text, "cannot be decompressed: its events are lost"));
		assert_int_equal(read_at(file, 0, 3 * SUBBUF, room), -EBADMSG);
		assert_true(read_at(file, 0, 4 * SUBBUF, room) > 0);
		assert_true(read_at(file, 0, SUBBUF, room) > 0);
	}
	/* who reads events gets to know where it is, too: the chunk begins with two sizes */
	while ((ret = hyptrace_file_next(file, &event, &err)) == 1)
		;
	assert_int_equal(ret, -EBADMSG);
	snprintf(said, sizeof(said), "CPU 0, offset %zu: ", at - 1 - 8);
	assert_memory_equal(err.text, said, strlen(said));
	assert_non_null(strstr(err.text, "cannot be decompressed: its events are lost"));
	hyptrace_file_close(file);
	image_free(&image);
}

/* A chunk that lacks its compressed bytes is not the end. */
static void empty_chunk(void **state)
{
	struct hyptrace_file *file;
	struct file_data *data;
	const uint32_t none = 0;
	char to[2 * SUBBUF];
	int64_t n;
	int fd;

	(void)state;
	file = begin(IMAGE_ZSTD, 2000, 2);
	data = &file->data[0];
	assert_int_equal(read_at(file, 0, 0, sizeof(to)), 2 * SUBBUF);
	fd = open(path, O_WRONLY);
	assert_int_equal(pwrite(fd, &none, sizeof(none), data->offset + data->at.offset), 4);
	close(fd);
	n = hyptrace_data_read(file, data, 2 * SUBBUF, to, sizeof(to), &err);
	assert_int_equal(n, -EBADMSG);
	assert_non_null(strstr(err.text, "a chunk of 0 bytes cannot be decompressed"));
	hyptrace_file_close(file);
	image_free(&image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_place), cmocka_unit_test(in_order),
		cmocka_unit_test(no_memory), cmocka_unit_test(damaged),
		cmocka_unit_test(empty_chunk),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
