// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sub-buffers that the headers promise, but that are not there; and those that the headers do not
 * have, but that are there. What is missing is said, and all else is read.
 */
#include "file_case.h"

#define NR	1000
#define START	UINT64_C(5000)

static uint64_t numbers[NR];

/* Read all events. The last thing that is said of CPU 0 must be this. Return how many there are. */
static unsigned int read_up_to(const char *said)
{
	const struct hyptrace_stream_event *event;
	struct hyptrace_file *file = hyptrace_file_open(path, &err);
	unsigned int nr = 0, errors = 0;
	int ret;

	if (!file)
		fail_msg("%s", err.text);
	while ((ret = hyptrace_file_next(file, &event, &err)) == 1 || ret == -EBADMSG) {
		nr += ret == 1 && event->record.data;
		if (ret == 1)
			continue;
		errors++;
		if (!strstr(err.text, said))
			fail_msg("\"%s\" is not in: %s", said, err.text);
	}
	assert_int_equal(ret, -ENODATA);
	assert_int_equal(errors, 1);
	hyptrace_file_close(file);
	return nr;
}

/* The last compressed chunk is cut off anywhere. */
static void cut_chunk(void **state)
{
	unsigned int no_text, cut;
	struct hyptrace_file *file;
	struct image image;
	char said[64];
	uint64_t end;

	(void)state;
	for (no_text = 0; no_text < 2; no_text++) {
		image_init(&image, IMAGE_ZSTD, false, 1024, 1);
		image.no_text = no_text;
		fill(&image, 225, START);
		assert_int_equal(image.cpus[0].size, 5 * 1024);
		file = open_image(&image);
		end = hyptrace_file_info(file)->cpus[0]->offset +
		      hyptrace_file_info(file)->cpus[0]->size;
		hyptrace_file_close(file);
		for (cut = 1; cut < 60; cut++) {
			assert_int_equal(truncate(path, end - cut), 0);
			snprintf(said, sizeof(said), "the file was cut: %u bytes are missing", cut);
			/* a chunk has two sub-buffers of 50 events */
			assert_int_equal(read_up_to(said), 200);
		}
		image_free(&image);
	}
}

static void write_part(struct image *image, unsigned int cpu, size_t less)
{
	char name[80];
	size_t size;
	char *data = image_part(image, cpu, &size);

	snprintf(name, sizeof(name), "%s.cpu%u", path, cpu);
	write_file(name, data, size - less);
	free(data);
}

/* A power cut while a recording ended took the last sub-buffers of a CPU's own file. */
static void cut_part(void **state)
{
	struct image image;
	char *data, *at;
	size_t size;

	(void)state;
	image_init(&image, IMAGE_VERSION_6, false, 1024, 2);
	fill(&image, 400, START);
	data = image_make(&image, &size);
	at = memmem(data, size, "complete 1", 10);
	assert_non_null(at);
	at[9] = '2';
	write_file(path, data, size - image.cpus[1].size);
	free(data);
	write_part(&image, 1, 2048);
	assert_in_range(read_up_to("the file was cut: 2048 bytes are missing"), 300, 349);
	image_free(&image);
}

/* A recording that was killed has written a part of a sub-buffer, or of a chunk. */
static void not_whole(void **state)
{
	struct image image;

	(void)state;
	image_init(&image, IMAGE_VERSION_6, false, 1024, 2);
	fill(&image, 400, START);
	image.incomplete = true;
	write_image(&image);
	write_part(&image, 1, 24);
	assert_in_range(read_up_to("the last 1000 bytes are no whole sub-buffer"), 350, 399);
	image_free(&image);
	image_init(&image, IMAGE_ZSTD, false, 1024, 2);
	fill(&image, 400, START);
	image.incomplete = true;
	write_image(&image);
	write_part(&image, 1, 24);
	assert_in_range(read_up_to("bytes are no whole chunk"), 300, 399);
	image_free(&image);
}

/* Before a recording ends, the headers may not have the place of the first CPU. */
static void no_place(void **state)
{
	struct hyptrace_file *file;
	struct image image;
	char *data, *at;
	size_t size;

	(void)state;
	image_init(&image, IMAGE_VERSION_6, false, 4096, 2);
	fill(&image, NR, START);
	image.incomplete = true;
	/* nor are these counts final */
	image.has_counts = true;
	image.cpus[1].lost = 7;
	data = image_make(&image, &size);
	at = memmem(data, size, "flyrecord", 10);
	assert_non_null(at);
	memset(at + 10, 0, 8);
	write_file(path, data, size);
	free(data);
	write_part(&image, 1, 0);
	file = hyptrace_file_open(path, &err);
	assert_non_null(file);
	assert_int_equal(read_numbers(file, numbers, NR), NR);
	hyptrace_file_close(file);
	image_free(&image);
}

/* No file stays open: neither the main one nor a part, also not after a failure. */
static void descriptors(void **state)
{
	const int next = dup(0);
	struct hyptrace_file *file;
	struct image image;
	char *data, *at;
	char part[80];
	size_t size;

	(void)state;
	close(next);
	image_init(&image, IMAGE_VERSION_6, false, 4096, 3);
	fill(&image, NR, START);
	image.incomplete = true;
	write_image(&image);
	write_part(&image, 1, 0);
	write_part(&image, 2, 0);
	file = hyptrace_file_open(path, &err);
	assert_non_null(file);
	assert_int_not_equal(fcntl(next + 2, F_GETFD), -1);
	hyptrace_file_close(file);
	assert_int_equal(dup(0), next);
	close(next);
	/* the part of CPU 1 cannot be opened: nothing is known of CPU 2 */
	snprintf(part, sizeof(part), "%s.cpu1", path);
	assert_int_equal(unlink(part), 0);
	assert_int_equal(symlink(part, part), 0);
	assert_null(hyptrace_file_open(path, &err));
	assert_int_equal(err.errnum, ELOOP);
	assert_int_equal(dup(0), next);
	close(next);
	data = image_make(&image, &size);
	at = memmem(data, size, "\nevent ", 7);
	assert_non_null(at);
	at[7] = 'x';
	write_file(path, data, size);
	free(data);
	assert_null(hyptrace_file_open(path, &err));
	assert_int_equal(dup(0), next);
	close(next);
	image_free(&image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_chunk), cmocka_unit_test(cut_part),
		cmocka_unit_test(not_whole), cmocka_unit_test(no_place),
		cmocka_unit_test(descriptors),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
