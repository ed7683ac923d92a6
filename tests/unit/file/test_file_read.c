// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reader of trace files: order, times, the last events, damage, and unfinished recordings; of
 * both versions, both byte orders and all sizes of sub-buffers.
 */
#include "file_case.h"

#define NR	3000
#define START	UINT64_C(5000000000)

static uint64_t all[NR], some[NR];

static void is_same(const uint64_t *a, const uint64_t *b, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (a[i] != b[i])
			fail_msg("event %u is %llu, not %llu", i, (unsigned long long)a[i],
				 (unsigned long long)b[i]);
}

/* All kinds of files have the same events. */
static void kinds(void **state)
{
	static const uint32_t sizes[] = { 1024, 4096, 16384, 65536, 131072 };
	unsigned int kind, swap, i, nr_all = 0;

	(void)state;
	for (kind = IMAGE_VERSION_6; kind <= IMAGE_ZSTD; kind++) {
		for (swap = 0; swap < 2; swap++) {
			for (i = 0; i < 5; i++) {
				struct hyptrace_file *file;
				struct image image;
				unsigned int nr;

				image_init(&image, kind, swap, sizes[i], 3);
				fill(&image, NR, START);
				file = open_image(&image);
				assert_int_equal(hyptrace_file_info(file)->subbuf_size, sizes[i]);
				nr = read_numbers(file, some, NR);
				assert_int_equal(nr, NR);
				if (!nr_all)
					memcpy(all, some, sizeof(all));
				nr_all = nr;
				is_same(all, some, NR);
				hyptrace_file_options(file);
				assert_int_equal(read_numbers(file, some, NR), NR);
				hyptrace_file_close(file);
				image_free(&image);
			}
		}
	}
}

static void info(void **state)
{
	struct hyptrace_file_cpu *const *cpus;
	const struct hyptrace_file_info *info;
	struct hyptrace_event *const *events;
	struct hyptrace_file *file;
	struct image image;

	(void)state;
	image_init(&image, IMAGE_ZSTD, true, 4096, 2);
	fill(&image, 10, START);
	file = open_image(&image);
	info = hyptrace_file_info(file);
	assert_string_equal(info->remote, "test");
	assert_string_equal(info->clock, "boot");
	assert_string_equal(info->recorder, "hyptrace 0");
	assert_string_equal(info->compression, "zstd");
	assert_null(info->command);
	assert_int_equal(info->begin, 1234);
	assert_int_equal(info->offset, -5);
	assert_int_equal(info->version, 7);
	assert_int_equal(info->big_endian, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	assert_true(info->is_complete);
	cpus = info->cpus;
	assert_int_equal(info->nr_cpus, 2);
	assert_int_equal(cpus[1]->id, 1);
	assert_true(cpus[1]->size && cpus[1]->offset > cpus[0]->offset);
	assert_false(cpus[0]->has_counts);
	events = info->events;
	assert_int_equal(info->nr_events, 1);
	assert_string_equal(events[0]->name, "selftest");
	assert_string_equal(events[0]->remote, "test");
	assert_string_equal(events[0]->fields[0]->name, "id");
	assert_int_equal(info->nr_calls, 0);
	assert_non_null(hyptrace_file_info(file)->formats);
	hyptrace_file_close(file);
	image_free(&image);
}

/* Without a description, the events are those of the formats. */
static void no_text(void **state)
{
	struct hyptrace_event *const *events;
	struct hyptrace_file *file;
	struct image image;
	unsigned int kind;

	(void)state;
	for (kind = IMAGE_VERSION_6; kind <= IMAGE_ZSTD; kind++) {
		image_init(&image, kind, kind == IMAGE_VERSION_7, 4096, 2);
		image.no_text = true;
		fill(&image, 100, START);
		file = open_image(&image);
		assert_null(hyptrace_file_info(file)->remote);
		events = hyptrace_file_info(file)->events;
		assert_int_equal(hyptrace_file_info(file)->nr_events, 1);
		assert_string_equal(events[0]->name, "selftest");
		assert_string_equal(events[0]->remote, "hyptrace");
		assert_int_equal(events[0]->size, 16);
		assert_int_equal(events[0]->nr_fields, 1);
		assert_int_equal(read_numbers(file, some, NR), 100);
		hyptrace_file_close(file);
		image_free(&image);
	}
}

static void cpus(void **state)
{
	const unsigned int one = 1, two[] = { 2, 0 }, none[] = { 0, 9 };
	struct hyptrace_file *file;
	struct image image;
	unsigned int nr, i, with_1 = 0;

	(void)state;
	image_init(&image, IMAGE_VERSION_6, false, 4096, 3);
	fill(&image, NR, START);
	file = open_image(&image);
	assert_int_equal(read_numbers(file, all, NR), NR);
	assert_int_equal(hyptrace_file_set_cpus(file, none, 2, &err), -ENXIO);
	assert_string_equal(err.text, "it has no CPU 9");
	assert_int_equal(hyptrace_file_set_cpus(file, &one, 1, &err), 0);
	nr = read_numbers(file, some, NR);
	for (i = 0; i < NR; i++) {
		if (all[i] % 10 != 1)
			continue;
		assert_true(some[with_1] == all[i]);
		with_1++;
	}
	assert_int_equal(nr, with_1);
	assert_int_equal(hyptrace_file_set_cpus(file, two, 2, &err), 0);
	assert_int_equal(read_numbers(file, some, NR), NR - with_1);
	hyptrace_file_close(file);
	image_free(&image);
}

static bool is_even(const struct hyptrace_stream_event *event, void *arg)
{
	(void)arg;
	return number_of(event) / 10 % 2 == 0;
}

static bool is_wanted(uint64_t number, uint64_t from, uint64_t to, bool even)
{
	const uint64_t ts = number / 10;

	return ts >= from && ts <= to && (!even || ts % 2 == 0);
}

/* Times, the last events and a filter, compared with what is chosen of all events. */
static void choices(void **state)
{
	static const uint64_t lasts[] = { 0, 1, 2, 7, 100, 1000, NR, 10 * NR };
	static const int shares[][2] = {
		{ 0, 100 }, { 0, 50 }, { 50, 100 }, { 30, 31 }, { 100, 200 }, { -10, 0 },
		{ 110, 120 }, { 60, 40 },
	};
	unsigned int kind, i, j, even, nr, k, wanted;
	struct hyptrace_file_counts counts;
	struct hyptrace_file *file;
	struct image image;
	uint64_t first, last, from, to, skip, length;

	(void)state;
	for (kind = IMAGE_VERSION_6; kind <= IMAGE_ZSTD; kind++) {
		image_init(&image, kind, kind == IMAGE_VERSION_7, 1024, 3);
		fill(&image, NR, START);
		file = open_image(&image);
		assert_int_equal(read_numbers(file, all, NR), NR);
		assert_int_equal(hyptrace_file_times(file, &first, NULL, &err), 0);
		assert_int_equal(hyptrace_file_times(file, NULL, &last, &err), 0);
		assert_true(first == all[0] / 10 && last == all[NR - 1] / 10);
		length = last - first;
		for (i = 0; i < 8 * 8 * 2; i++) {
			from = first + (int64_t)length * shares[i % 8][0] / 100;
			to = first + (int64_t)length * shares[i % 8][1] / 100;
			even = i / 64;
			for (wanted = 0, j = 0; j < NR; j++)
				wanted += is_wanted(all[j], from, to, even);
			read_times(file, from, to);
			hyptrace_file_options(file)->last = lasts[i / 8 % 8];
			hyptrace_file_options(file)->filter = even ? is_even : NULL;
			nr = read_numbers(file, some, NR);
			skip = lasts[i / 8 % 8] && lasts[i / 8 % 8] < wanted ?
			       wanted - lasts[i / 8 % 8] : 0;
			assert_int_equal(nr, wanted - skip);
			for (j = 0, k = 0; j < NR; j++) {
				if (!is_wanted(all[j], from, to, even) || (skip && skip--))
					continue;
				assert_true(some[k] == all[j]);
				k++;
			}
			counts = *hyptrace_file_counts(file);
			assert_int_equal(counts.delivered, nr);
			assert_true(!counts.lost && !counts.lost_more && !counts.damaged);
		}
		hyptrace_file_close(file);
		image_free(&image);
	}
}

/* Of equal times, the lower CPU is first; an event of the last possible time is delivered. */
static void order(void **state)
{
	const struct hyptrace_stream_event *event;
	struct hyptrace_file *file;
	struct image image;
	unsigned int i;

	(void)state;
	image_init(&image, IMAGE_VERSION_6, false, 4096, 4);
	/* without a description it is not known when the recording began */
	image.no_text = true;
	for (i = 0; i < 4; i++) {
		image_subbuf(&image, i, UINT64_MAX - 9);
		image_event(&image, i, 0, NUMBER(UINT64_MAX - 9, i));
		image_subbuf(&image, i, UINT64_MAX);
		image_event(&image, i, 0, NUMBER(UINT64_MAX, i));
	}
	file = open_image(&image);
	for (i = 0; i < 8; i++) {
		assert_int_equal(hyptrace_file_next(file, &event, &err), 1);
		assert_int_equal(event->cpu, i % 4);
		assert_true(event->record.ts == (i < 4 ? UINT64_MAX - 9 : UINT64_MAX));
	}
	assert_int_equal(hyptrace_file_next(file, &event, &err), -ENODATA);
	hyptrace_file_close(file);
	image_free(&image);
}

/* An event of the time at which the next sub-buffer begins is found, too. */
static void edges(void **state)
{
	const struct hyptrace_stream_event *event;
	struct hyptrace_file *file;
	struct image image;

	(void)state;
	image_init(&image, IMAGE_VERSION_6, false, 4096, 1);
	image_subbuf(&image, 0, 100);
	image_event(&image, 0, 0, NUMBER(100, 0));
	image_event(&image, 0, 100, NUMBER(200, 0));
	image_subbuf(&image, 0, 200);
	image_event(&image, 0, 0, NUMBER(200, 0));
	image_event(&image, 0, 1, NUMBER(201, 0));
	image_subbuf(&image, 0, 300);
	image_event(&image, 0, 0, NUMBER(300, 0));
	file = open_image(&image);
	read_times(file, 200, 200);
	expect(file, 0, 200, true, 0);
	expect(file, 0, 200, true, 0);
	assert_int_equal(hyptrace_file_next(file, &event, &err), -ENODATA);
	read_times(file, 201, 300);
	expect(file, 0, 201, true, 0);
	expect(file, 0, 300, true, 0);
	/* the last one up to a time */
	read_times(file, 0, 200);
	hyptrace_file_options(file)->last = 1;
	expect(file, 0, 200, true, 0);
	read_times(file, 0, 299);
	hyptrace_file_options(file)->last = 2;
	expect(file, 0, 200, true, 0);
	expect(file, 0, 201, true, 0);
	hyptrace_file_close(file);
	image_free(&image);
}

/* A damaged sub-buffer is named, and the rest is read. */
static void damage(void **state)
{
	const struct hyptrace_stream_event *event;
	struct hyptrace_file_counts counts;
	struct hyptrace_file *file;
	struct image image;
	uint32_t bad = 0;
	int ret;

	(void)state;
	image_init(&image, IMAGE_VERSION_6, false, 4096, 2);
	image_subbuf(&image, 0, 100);
	image_event(&image, 0, 0, NUMBER(100, 0));
	image_event(&image, 0, 1, NUMBER(101, 0));
	/* a length of 0 */
	memcpy(image.cpus[0].data + 16 + IMAGE_RECORD, &bad, 4);
	memcpy(image.cpus[0].data + 16 + IMAGE_RECORD + 4, &bad, 4);
	image_subbuf(&image, 0, 200);
	image_event(&image, 0, 0, NUMBER(200, 0));
	image_subbuf(&image, 1, 300);
	image_event(&image, 1, 0, NUMBER(300, 1));
	/* a commit that is too large */
	image.cpus[1].data[9] = 0x7f;
	file = open_image(&image);
	assert_int_equal(hyptrace_file_next(file, &event, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "CPU 1, offset "));
	expect(file, 0, 100, true, 0);
	assert_int_equal(hyptrace_file_next(file, &event, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "CPU 0, offset "));
	assert_non_null(strstr(err.text, "byte 20 of its data"));
	expect(file, 0, 200, true, HYPTRACE_LOST_UNKNOWN);
	expect(file, 1, 300, false, HYPTRACE_LOST_UNKNOWN);
	assert_int_equal(hyptrace_file_next(file, &event, &err), -ENODATA);
	counts = *hyptrace_file_counts(file);
	assert_int_equal(counts.delivered, 2);
	assert_int_equal(counts.damaged, 2);
	assert_int_equal(counts.lost_more, 1);
	/* to look for the last events does not count */
	hyptrace_file_options(file)->last = 3;
	while ((ret = hyptrace_file_next(file, &event, &err)) == 1 || ret == -EBADMSG)
		;
	assert_int_equal(ret, -ENODATA);
	assert_int_equal(hyptrace_file_counts(file)->damaged, 2);
	hyptrace_file_close(file);
	image_free(&image);
}

/* A chunk that cannot be decompressed costs only its own events. */
static void damaged_chunk(void **state)
{
	const struct hyptrace_stream_event *event;
	struct hyptrace_file *file;
	struct image image;
	unsigned int nr = 0, bad = 0;
	size_t size, i;
	char *data;
	int ret;

	(void)state;
	image_init(&image, IMAGE_ZSTD, false, 1024, 1);
	fill(&image, 500, START);
	data = image_make(&image, &size);
	/* the second frame of zstd */
	for (i = 0; i < size - 4 && nr < 2; i++)
		nr += !memcmp(data + i, "\x28\xb5\x2f\xfd", 4);
	assert_int_equal(nr, 2);
	memset(data + i + 3, 0xff, 20);
	write_file(path, data, size);
	free(data);
	file = hyptrace_file_open(path, &err);
	assert_non_null(file);
	for (nr = 0; (ret = hyptrace_file_next(file, &event, &err)) != -ENODATA; nr += ret == 1)
		bad += ret == -EBADMSG;
	assert_int_equal(bad, 1);
	/* a chunk has two sub-buffers of 50 events */
	assert_int_equal(nr, 400);
	hyptrace_file_close(file);
	image_free(&image);
}

/* A file that was cut off: all whole sub-buffers are read, and the place is named. */
static void cut_off(void **state)
{
	const struct hyptrace_stream_event *event;
	struct hyptrace_file *file;
	struct image image;
	unsigned int nr = 0;
	size_t size;
	char *data;
	int ret;

	(void)state;
	image_init(&image, IMAGE_VERSION_6, false, 1024, 1);
	fill(&image, 100, START);
	assert_int_equal(image.cpus[0].size, 2048);
	data = image_make(&image, &size);
	write_file(path, data, size - 1);
	file = hyptrace_file_open(path, &err);
	assert_non_null(file);
	while ((ret = hyptrace_file_next(file, &event, &err)) == 1)
		nr++;
	assert_int_equal(ret, -EBADMSG);
	assert_non_null(strstr(err.text, "the file was cut: 1 bytes are missing"));
	/* what was there is lost */
	assert_int_equal(hyptrace_file_next(file, &event, &err), 1);
	assert_null(event->record.data);
	assert_true(event->record.lost == HYPTRACE_LOST_UNKNOWN);
	assert_int_equal(hyptrace_file_next(file, &event, &err), -ENODATA);
	assert_int_equal(nr, 50);
	hyptrace_file_close(file);

	write_file(path, data, size - 1024);
	file = hyptrace_file_open(path, &err);
	assert_non_null(file);
	while ((ret = hyptrace_file_next(file, &event, &err)) == 1)
		nr++;
	assert_int_equal(ret, -EBADMSG);
	assert_non_null(strstr(err.text, "the file was cut: 1024 bytes are missing"));
	assert_int_equal(nr, 100);
	hyptrace_file_close(file);
	free(data);
	image_free(&image);
}

static void write_part(struct image *image, unsigned int cpu, bool hole)
{
	char name[80];
	size_t size;
	char *data = image_part(image, cpu, &size);
	int fd;

	snprintf(name, sizeof(name), "%s.cpu%u", path, cpu);
	write_file(name, data, size);
	free(data);
	if (!hole)
		return;
	fd = open(name, O_WRONLY);
	assert_int_equal(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), 0);
	close(fd);
}

static void remove_part(unsigned int cpu)
{
	char name[80];

	snprintf(name, sizeof(name), "%s.cpu%u", path, cpu);
	unlink(name);
}

/* What a killed recording leaves has all events. */
static void unfinished(void **state)
{
	struct hyptrace_file *file;
	struct image image;
	unsigned int kind;

	(void)state;
	for (kind = IMAGE_VERSION_6; kind <= IMAGE_ZSTD; kind++) {
		image_init(&image, kind, false, 4096, 3);
		fill(&image, NR, START);
		image.incomplete = true;
		write_image(&image);
		write_part(&image, 1, false);
		write_part(&image, 2, false);
		file = hyptrace_file_open(path, &err);
		assert_non_null(file);
		assert_false(hyptrace_file_info(file)->is_complete);
		assert_int_equal(read_numbers(file, some, NR), NR);
		hyptrace_file_close(file);
		/* one has no events */
		remove_part(1);
		file = hyptrace_file_open(path, &err);
		assert_non_null(file);
		assert_in_range(read_numbers(file, some, NR), NR / 2, NR - 1);
		hyptrace_file_close(file);
		remove_part(2);
		image_free(&image);
	}
}

static void mark_incomplete(char *data, size_t size)
{
	char *at = memmem(data, size, "complete 1", 10);

	assert_non_null(at);
	at[9] = '2';
}

/* A recording that was killed while it moved the parts to the file: nothing is read twice. */
static void half_moved(void **state)
{
	const struct hyptrace_stream_event *event;
	struct hyptrace_file *file;
	unsigned int nr = 0;
	struct image image;
	char name[80];
	char *data;
	size_t size;
	int ret;

	(void)state;
	image_init(&image, IMAGE_VERSION_6, false, 4096, 3);
	fill(&image, NR, START);
	data = image_make(&image, &size);
	mark_incomplete(data, size);
	/* CPU 1 was moved, of CPU 2 one block */
	write_file(path, data, size - image.cpus[2].size + 4096);
	write_part(&image, 2, true);
	file = hyptrace_file_open(path, &err);
	assert_non_null(file);
	assert_int_equal(read_numbers(file, some, NR), NR);
	/* if the part becomes shorter meanwhile, that block is still read */
	hyptrace_file_options(file);
	snprintf(name, sizeof(name), "%s.cpu2", path);
	assert_int_equal(truncate(name, 4096), 0);
	while ((ret = hyptrace_file_next(file, &event, &err)) == 1 || ret == -EBADMSG)
		nr += ret == 1 && event->cpu == 2 && event->record.data;
	assert_int_equal(ret, -ENODATA);
	assert_int_equal(nr, (4096 - 16) / IMAGE_RECORD);
	hyptrace_file_close(file);
	remove_part(2);
	free(data);
	image_free(&image);
}

static void refused(void **state)
{
	struct image image;
	char *data;
	size_t size;

	(void)state;
	unlink(path);
	assert_null(hyptrace_file_open(path, &err));
	assert_int_equal(err.errnum, ENOENT);
	assert_null(hyptrace_file_open(folder, &err));
	assert_string_equal(err.text, "it is not a regular file");
	write_file(path, "no trace file at all", 20);
	assert_null(hyptrace_file_open(path, &err));
	assert_string_equal(err.text, "it is not a trace file");
	assert_null(hyptrace_file_open(path, NULL));

	image_init(&image, IMAGE_VERSION_6, false, 4096, 1);
	data = image_make(&image, &size);
	data[10] = '8';
	write_file(path, data, size);
	assert_null(hyptrace_file_open(path, &err));
	assert_string_equal(err.text, "it has an unknown version of the file format");
	data[10] = '6';
	data[15] = 1;
	write_file(path, data, size);
	assert_null(hyptrace_file_open(path, &err));
	assert_non_null(strstr(err.text, "the size of a sub-buffer is wrong"));
	free(data);
	image_free(&image);
}

static void empty(void **state)
{
	const struct hyptrace_stream_event *event;
	struct hyptrace_file *file;
	struct image image;
	uint64_t ts;

	(void)state;
	image_init(&image, IMAGE_ZSTD, false, 4096, 2);
	file = open_image(&image);
	assert_int_equal(hyptrace_file_times(file, &ts, NULL, &err), -ENODATA);
	assert_int_equal(hyptrace_file_times(file, NULL, &ts, &err), -ENODATA);
	hyptrace_file_options(file)->last = 10;
	assert_int_equal(hyptrace_file_next(file, &event, &err), -ENODATA);
	hyptrace_file_close(file);
	hyptrace_file_close(NULL);
	image_free(&image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds), cmocka_unit_test(info), cmocka_unit_test(no_text),
		cmocka_unit_test(cpus), cmocka_unit_test(choices), cmocka_unit_test(order),
		cmocka_unit_test(edges), cmocka_unit_test(damage), cmocka_unit_test(damaged_chunk),
		cmocka_unit_test(cut_off),
		cmocka_unit_test(unfinished), cmocka_unit_test(half_moved),
		cmocka_unit_test(refused), cmocka_unit_test(empty),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
