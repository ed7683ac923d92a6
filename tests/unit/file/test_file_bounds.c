// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bounds of the reader and of the writer: work that is linear in the size of a file, many CPUs, and
 * a recording that is abandoned.
 */
#include "lib/file/read/file.h"
#include "lib/file/write/file_write.h"
#include "file_case.h"

#define SUBBUF		4096
#define EMPTY		4000

static uint64_t nr_read;

ssize_t __real_pread(int fd, void *to, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *to, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *to, size_t size, off_t offset)
{
	ssize_t n = __real_pread(fd, to, size, offset);

	nr_read += n > 0 ? n : 0;
	return n;
}

/* Find the first, the last and the last few events: how often is each byte read? */
static void find_edges(struct image *image)
{
	const struct hyptrace_stream_event *event;
	struct hyptrace_file *file = open_image(image);
	uint64_t ts, size = image->cpus[0].size;
	int ret;

	nr_read = 0;
	assert_int_equal(hyptrace_file_times(file, &ts, NULL, &err), 0);
	assert_int_equal(ts, 1000);
	assert_in_range(nr_read, 0, 2 * size);
	nr_read = 0;
	assert_int_equal(hyptrace_file_times(file, NULL, &ts, &err), 0);
	assert_int_equal(ts, 1000);
	assert_in_range(nr_read, 0, 6 * size);
	nr_read = 0;
	hyptrace_file_options(file)->last = 5;
	do {
		ret = hyptrace_file_next(file, &event, &err);
	} while (ret == 1 || ret == -EBADMSG);
	assert_int_equal(ret, -ENODATA);
	assert_in_range(nr_read, 0, 6 * size);
	hyptrace_file_close(file);
}

/* One event among sub-buffers that are empty, or damaged */
static void test_work_is_linear(void **state)
{
	unsigned int kind, damaged, at, i;
	struct image image;

	(void)state;
	for (kind = IMAGE_VERSION_6; kind <= IMAGE_VERSION_7; kind++) {
		for (i = 0; i < 4; i++) {
			damaged = i % 2;
			at = i / 2 ? EMPTY - 1 : 0;
			image_init(&image, kind, false, 1024, 1);
			for (unsigned int nr = 0; nr < EMPTY; nr++) {
				image_subbuf(&image, 0, 1000);
				if (nr == at)
					image_event(&image, 0, 0, NUMBER(1000, 0));
				else if (damaged)
					memset(image.cpus[0].data + nr * 1024 + 8, 0xff, 8);
			}
			find_edges(&image);
			image_free(&image);
		}
	}
}

/* To begin at a time, few sub-buffers are read: those on the way of a binary search. */
static void test_search(void **state)
{
	const unsigned int events = 100000;
	const struct hyptrace_stream_event *event;
	struct hyptrace_file *file;
	uint64_t first, last;
	struct image image;

	(void)state;
	image_init(&image, IMAGE_VERSION_6, false, 1024, 1);
	fill(&image, events, 1000);
	file = open_image(&image);
	assert_int_equal(hyptrace_file_times(file, &first, &last, &err), 0);
	read_times(file, last, UINT64_MAX);
	nr_read = 0;
	assert_int_equal(hyptrace_file_next(file, &event, &err), 1);
	assert_int_equal(event->record.ts, last);
	assert_int_equal(hyptrace_file_next(file, &event, &err), -ENODATA);
	/* that of the event, the one before it, and one for each power of two of them */
	assert_in_range(nr_read, 0, (2 + 11) * 1024);
	hyptrace_file_close(file);
	image_free(&image);
}

/* Sources that have room for a part of a chunk read the same as others. */
static void test_parts_of_chunks(void **state)
{
	static uint64_t all[2000], parts[2000];
	struct hyptrace_file *file;
	struct image image;
	unsigned int nr, i;

	(void)state;
	image_init(&image, IMAGE_ZSTD, false, 1024, 4);
	fill(&image, 2000, 1000);
	file = open_image(&image);
	nr = read_numbers(file, all, 2000);
	assert_int_equal(nr, 2000);
	hyptrace_file_options(file);
	assert_int_equal(hyptrace_file_begin(file, &err), 0);
	for (i = 0; i < file->nr_sources; i++)
		file->sources[i].size = 1024;
	assert_int_equal(read_numbers(file, parts, 2000), nr);
	assert_non_null(file->chunk);
	assert_memory_equal(all, parts, nr * sizeof(*all));
	hyptrace_file_close(file);
	image_free(&image);
}

/* A writer for CPUs with numbers from @first on */
static struct hyptrace_file_writer *begin_cpus_from(unsigned int first, unsigned int nr,
						    unsigned int flags)
{
	struct hyptrace_file_meta meta = { .info.subbuf_size = SUBBUF };
	struct hyptrace_file_writer *w;
	unsigned int i;

	meta.info.cpus = calloc(nr + 1, sizeof(*meta.info.cpus));
	for (i = 0; i < nr; i++) {
		meta.info.cpus[i] = calloc(1, sizeof(**meta.info.cpus));
		meta.info.cpus[i]->id = first + i;
	}
	meta.info.nr_cpus = nr;
	meta.info.events = calloc(1, sizeof(*meta.info.events));
	w = hyptrace_file_writer_new(path, &meta, flags, NULL, &err);
	if (!w)
		fail_msg("%s", err.text);
	return w;
}

static struct hyptrace_file_writer *begin_cpus(unsigned int nr, unsigned int flags)
{
	return begin_cpus_from(0, nr, flags);
}

/* Write sub-buffers with an event each. */
static void write_subbufs(struct hyptrace_file_writer *w, unsigned int cpu, unsigned int nr)
{
	const uint32_t record[] = { hyptrace_record_header(2, 1), 3, cpu };
	struct hyptrace_subbuf *subbuf = calloc(1, SUBBUF);
	unsigned int i;

	subbuf->commit = sizeof(record);
	memcpy(subbuf->data, record, sizeof(record));
	for (i = 0; i < nr; i++) {
		subbuf->time_stamp = 1000 + i;
		assert_int_equal(hyptrace_file_write(w, cpu, subbuf, SUBBUF, &err), 0);
	}
	free(subbuf);
}

/* More CPUs than the reader has memory for whole chunks */
static void test_many_cpus(void **state)
{
	const unsigned int cpus = 160, subbufs = 66;
	const struct hyptrace_stream_event *event;
	struct hyptrace_file_writer *w;
	struct hyptrace_file *file;
	unsigned int i, nr = 0;
	int ret;

	(void)state;
	w = begin_cpus(cpus, HYPTRACE_FILE_ZSTD);
	assert_in_range(w->chunk_size * cpus, 1, 16 << 20);
	for (i = 0; i < cpus; i++)
		write_subbufs(w, i, subbufs);
	assert_int_equal(hyptrace_file_finish(w, &err), 0);
	file = hyptrace_file_open(path, &err);
	assert_non_null(file);
	while ((ret = hyptrace_file_next(file, &event, &err)) == 1)
		nr++;
	assert_int_equal(ret, -ENODATA);
	assert_int_equal(nr, cpus * subbufs);
	hyptrace_file_close(file);
	unlink(path);
}

/* A program may have an array of all CPUs up to the highest number. */
static void test_high_cpu(void **state)
{
	struct hyptrace_file_writer *w;

	(void)state;
	w = begin_cpus_from(UINT32_MAX, 1, 0);
	assert_int_equal(hyptrace_file_finish(w, &err), 0);
	assert_null(hyptrace_file_open(path, &err));
	assert_non_null(strstr(err.text, "a number is too large"));
	unlink(path);
}

/* The thread that compresses must not make a part that was removed. */
static void test_abandon(void **state)
{
	struct hyptrace_file_writer *w;
	char command[128];
	unsigned int i;

	(void)state;
	for (i = 0; i < 50; i++) {
		w = begin_cpus(3, HYPTRACE_FILE_ZSTD);
		write_subbufs(w, 1, 64);
		write_subbufs(w, 2, 64);
		hyptrace_file_abandon(w);
		snprintf(command, sizeof(command), "test -z \"$(ls %s)\"", folder);
		assert_int_equal(system(command), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_abandon), cmocka_unit_test(test_many_cpus),
		cmocka_unit_test(test_high_cpu), cmocka_unit_test(test_search),
		cmocka_unit_test(test_work_is_linear), cmocka_unit_test(test_parts_of_chunks),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
