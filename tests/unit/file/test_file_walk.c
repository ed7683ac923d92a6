// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sub-buffers of a trace file one by one; how far reading is; times that cannot be; and records
 * of all kinds in the other byte order.
 */
#include <byteswap.h>

#include "lib/internal.h"
#include "file_case.h"

#define SEEN_MAX	16
#define YEAR	(UINT64_C(365) * 24 * 3600 * 1000000000)

static struct {
	struct hyptrace_file_subbuf	list[SEEN_MAX];
	char				damage[SEEN_MAX][256];
	unsigned int			nr;
	unsigned int			damaged;
	struct hyptrace_file		*file;
} seen;

static void see(const struct hyptrace_file_subbuf *subbuf, void *arg)
{
	assert_ptr_equal(arg, &seen);
	assert_in_range(seen.nr, 0, SEEN_MAX - 1);
	seen.list[seen.nr] = *subbuf;
	if (subbuf->damage)
		snprintf(seen.damage[seen.nr], sizeof(seen.damage[0]), "%s", subbuf->damage);
	seen.nr++;
	seen.damaged += !!subbuf->damage;
	assert_int_equal(hyptrace_file_counts(seen.file)->damaged, seen.damaged);
}

static void saw(unsigned int nr, unsigned int cpu, uint64_t ts, uint32_t used, uint64_t events,
		uint64_t lost, const char *damage)
{
	const struct hyptrace_file_subbuf *at = &seen.list[nr];

	assert_in_range(nr, 0, seen.nr - 1);
	assert_int_equal(at->cpu, cpu);
	assert_int_equal(at->ts, ts);
	assert_int_equal(at->used, used);
	assert_int_equal(at->events, events);
	assert_true(at->lost == lost);
	assert_int_equal(!!at->damage, !!damage);
	if (damage)
		assert_non_null(strstr(seen.damage[nr], damage));
}

static void walk(struct hyptrace_file *file)
{
	seen.nr = 0;
	seen.damaged = 0;
	seen.file = file;
	assert_int_equal(hyptrace_file_walk(file, see, &seen, &err), 0);
}

static void sub_buffers(void **state)
{
	struct hyptrace_file *file;
	struct image image;
	unsigned int kind;
	uint32_t bad = 0;

	(void)state;
	for (kind = IMAGE_VERSION_6; kind <= IMAGE_ZSTD; kind++) {
		image_init(&image, kind, kind == IMAGE_VERSION_7, 1024, 2);
		image_subbuf(&image, 0, 100);
		image_event(&image, 0, 0, NUMBER(100, 0));
		image_event(&image, 0, 1, NUMBER(101, 0));
		image_subbuf(&image, 0, 200);
		image_event(&image, 0, 0, NUMBER(200, 0));
		image_lost(&image, 0, 17);
		image_subbuf(&image, 0, 300);
		image_subbuf(&image, 0, 400);
		image_event(&image, 0, 0, NUMBER(400, 0));
		image_event(&image, 0, 0, NUMBER(400, 0));
		memcpy(image.cpus[0].data + 3 * 1024 + 16 + IMAGE_RECORD, &bad, 4);
		memcpy(image.cpus[0].data + 3 * 1024 + 16 + IMAGE_RECORD + 4, &bad, 4);
		image_subbuf(&image, 0, 500);
		image_event(&image, 0, 0, NUMBER(500, 0));
		image_subbuf(&image, 1, 600);
		image_event(&image, 1, 0, NUMBER(600, 1));
		image_lost(&image, 1, HYPTRACE_LOST_UNKNOWN);
		file = open_image(&image);
		walk(file);
		assert_int_equal(seen.nr, 6);
		saw(0, 0, 100, 2 * IMAGE_RECORD, 2, 0, NULL);
		saw(1, 0, 200, IMAGE_RECORD, 1, 17, NULL);
		saw(2, 0, 300, 0, 0, 0, NULL);
		saw(3, 0, 400, 2 * IMAGE_RECORD, 1, 0, "byte 20 of its data");
		/* damage before it is no loss of this one */
		saw(4, 0, 500, IMAGE_RECORD, 1, 0, NULL);
		saw(5, 1, 600, IMAGE_RECORD, 1, HYPTRACE_LOST_UNKNOWN, NULL);
		if (kind != IMAGE_ZSTD) {
			assert_int_equal(seen.list[1].offset, seen.list[0].offset + 1024);
			assert_int_equal(seen.list[4].offset, seen.list[0].offset + 4 * 1024);
			assert_int_equal(seen.list[0].offset,
					 hyptrace_file_info(file)->cpus[0]->offset);
		}
		assert_false(seen.list[0].own_file);
		/* again, and then the events */
		walk(file);
		assert_int_equal(seen.nr, 6);
		expect(file, 0, 100, true, 0);
		hyptrace_file_close(file);
		image_free(&image);
	}
}

/* Of a chunk that is damaged, only its place is known. */
static void damaged_chunk(void **state)
{
	unsigned int nr = 0, i;
	size_t size, at, chunks[3];
	struct hyptrace_file *file;
	struct image image;
	char *data;

	(void)state;
	image_init(&image, IMAGE_ZSTD, false, 1024, 1);
	for (i = 0; i < 6; i++) {
		image_subbuf(&image, 0, 100 * (i + 1));
		image_event(&image, 0, 0, NUMBER(100 * (i + 1), 0));
	}
	data = image_make(&image, &size);
	/* before each frame of zstd are two sizes */
	for (at = 0; at < size - 4; at++)
		if (!memcmp(data + at, "\x28\xb5\x2f\xfd", 4))
			chunks[nr++] = at - 8;
	assert_int_equal(nr, 3);
	memset(data + chunks[1] + 12, 0xff, 8);
	write_file(path, data, size);
	free(data);
	file = hyptrace_file_open(path, &err);
	assert_non_null(file);
	walk(file);
	assert_int_equal(seen.nr, 5);
	for (i = 0; i < 5; i++) {
		assert_int_equal(seen.list[i].offset, chunks[i / 2 + i / 3 - i / 4]);
		if (i == 2)
			saw(i, 0, 0, 0, 0, 0, "cannot be decompressed: its events are lost");
		else
			saw(i, 0, 100 * (i + 1 + i / 3), IMAGE_RECORD, 1, 0, NULL);
	}
	hyptrace_file_close(file);
	image_free(&image);
}

/* So is the place of a sub-buffer of which the end is missing. */
static void cut_off(void **state)
{
	struct hyptrace_file *file;
	struct image image;
	struct stat st;
	unsigned int i;

	(void)state;
	image_init(&image, IMAGE_VERSION_6, false, 1024, 1);
	for (i = 0; i < 6; i++)
		image_subbuf(&image, 0, 100 * (i + 1));
	write_image(&image);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(truncate(path, st.st_size - 100), 0);
	file = hyptrace_file_open(path, &err);
	assert_non_null(file);
	walk(file);
	assert_int_equal(seen.nr, 6);
	for (i = 0; i < 6; i++)
		assert_int_equal(seen.list[i].offset, st.st_size - (6 - i) * 1024);
	saw(5, 0, 0, 0, 0, 0, "the file was cut: 100 bytes are missing");
	hyptrace_file_close(file);
	image_free(&image);
}

static void progress(void **state)
{
	const struct hyptrace_stream_event *event;
	struct hyptrace_file *file;
	struct image image;
	uint64_t bytes, all;
	unsigned int i;

	(void)state;
	image_init(&image, IMAGE_VERSION_6, false, 1024, 3);
	fill(&image, 500, 1000);
	file = open_image(&image);
	hyptrace_file_progress(file, &bytes, &all);
	assert_int_equal(bytes, 0);
	assert_int_equal(all, image.cpus[0].size + image.cpus[1].size + image.cpus[2].size);
	for (i = 1; i <= 2; i++) {
		while (hyptrace_file_next(file, &event, &err) == 1)
			;
		hyptrace_file_progress(file, &bytes, &all);
		assert_int_equal(bytes, i * all);
		assert_int_equal(hyptrace_file_counts(file)->delivered, 500);
		hyptrace_file_options(file);
	}
	assert_null(hyptrace_file_host(file, &err));
	assert_int_equal(err.errnum, ENODATA);
	assert_string_equal(err.text, "it has no events of the host");
	assert_null(hyptrace_file_host(file, NULL));
	hyptrace_file_close(file);
	image_free(&image);
}

/* Read a CPU whose second of three sub-buffers has this time. Return 1 or the error of it. */
static int read_second(uint32_t subbuf, uint64_t first, uint64_t second, uint64_t third,
		       unsigned int nr)
{
	const struct hyptrace_stream_event *event;
	struct hyptrace_file *file;
	struct image image;
	int ret;

	image_init(&image, IMAGE_VERSION_6, false, subbuf, 1);
	image.no_text = true;
	image_subbuf(&image, 0, first);
	image_event(&image, 0, 0, NUMBER(first, 0));
	image_subbuf(&image, 0, second);
	image_event(&image, 0, 0, NUMBER(second, 0));
	if (nr > 2) {
		image_subbuf(&image, 0, third);
		image_event(&image, 0, 0, NUMBER(third, 0));
	}
	file = open_image(&image);
	assert_int_equal(hyptrace_file_next(file, &event, &err), 1);
	assert_int_equal(event->record.ts, first);
	ret = hyptrace_file_next(file, &event, &err);
	if (ret == 1)
		assert_int_equal(event->record.ts, second);
	else
		assert_non_null(strstr(err.text, "which is too late"));
	hyptrace_file_close(file);
	image_free(&image);
	return ret;
}

/* The one after it is not earlier, but for a minute; unless it is damaged, which makes a year. */
static void late_times(void **state)
{
	const uint64_t begin = 5 * YEAR, late = begin + 300 * YEAR, third = begin + 3 * YEAR;
	uint32_t size;

	(void)state;
	/* also if each is read by itself */
	for (size = 1024; size <= 65536; size *= 64) {
		assert_int_equal(read_second(size, begin, begin + 10, begin + 20, 3), 1);
		assert_int_equal(read_second(size, begin, begin + 10, 0, 2), 1);
		assert_int_equal(read_second(size, begin, third, third - YEAR, 3), 1);
		assert_int_equal(read_second(size, begin, third, third - YEAR - 1, 3), -EBADMSG);
		assert_int_equal(read_second(size, begin, late, begin + 5, 3), -EBADMSG);
		/* nothing is known of the time after the last one */
		assert_int_equal(read_second(size, begin, late, 0, 2), 1);
	}
}

/* Put words in the other byte order behind the head of the last sub-buffer. */
static void put_words(struct image *image, const uint32_t *words, unsigned int nr)
{
	char *subbuf = image->cpus[0].data + image->cpus[0].size - image->subbuf;
	const uint64_t commit = bswap_64(nr * 4);
	unsigned int i;

	for (i = 0; i < nr; i++) {
		const uint32_t word = bswap_32(words[i]);

		memcpy(subbuf + 16 + 4 * i, &word, 4);
	}
	memcpy(subbuf + 8, &commit, 8);
}

/* The head of a record, as a machine of the other byte order writes it */
static uint32_t head(unsigned int type, uint32_t delta)
{
	const bool is_big = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

	return is_big ? type << HYPTRACE_DELTA_BITS | delta :
			type | delta << HYPTRACE_TYPE_LEN_BITS;
}

static uint32_t id_word(void)
{
	const bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

	/* an id, and two bytes that are not used */
	return is_little ? IMAGE_ID << 16 : IMAGE_ID;
}

static void all_records_swapped(void **state)
{
	const uint32_t words[] = {
		/* an event, which is short, after a time of two words */
		head(HYPTRACE_TYPE_TIME_EXTEND, 5), 1,
		head(4, 2), id_word(), 0, 0, 77,
		/* a time that is not relative */
		head(HYPTRACE_TYPE_TIME_ABSOLUTE, 9), 2,
		head(4, 0), id_word(), 0, 0, 78,
		/* some that are padding, and one with its length in a word */
		head(HYPTRACE_TYPE_PADDING, 1), 8, 1,
		head(HYPTRACE_TYPE_LENGTH_WORD, 3), 20, id_word(), 0, 0, 79,
		/* a time, and padding of two words, after which nothing follows */
		head(HYPTRACE_TYPE_TIME_EXTEND, 1), 0,
		head(HYPTRACE_TYPE_PADDING, 1), 4,
	};
	const uint64_t extended = (UINT64_C(1) << HYPTRACE_DELTA_BITS) + 5;
	const uint64_t absolute = (UINT64_C(2) << HYPTRACE_DELTA_BITS) + 9, start = 1000;
	const struct hyptrace_stream_event *event;
	struct hyptrace_file *file;
	struct image image;
	unsigned int i;
	uint64_t value;

	(void)state;
	image_init(&image, IMAGE_VERSION_6, true, 1024, 1);
	image_subbuf(&image, 0, start);
	put_words(&image, words, sizeof(words) / 4);
	file = open_image(&image);
	for (i = 0; i < 3; i++) {
		assert_int_equal(hyptrace_file_next(file, &event, &err), 1);
		assert_int_equal(event->record.size, 16);
		assert_int_equal(event->record.lost, 0);
		memcpy(&value, (const char *)event->record.data + 8, 8);
		if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
			assert_int_equal(value, 77 + i);
		if (!i)
			assert_int_equal(event->record.ts, start + extended + 2);
		else if (i == 1)
			assert_int_equal(event->record.ts, absolute);
	}
	assert_int_equal(hyptrace_file_next(file, &event, &err), -ENODATA);
	hyptrace_file_close(file);
	image_free(&image);
}

/* Records that are cut off, or say a wrong size, in the other byte order */
static void bad_records_swapped(void **state)
{
	const struct {
		unsigned int	nr;
		uint32_t	words[4];
	} bad[] = {
		{ 1, { head(4, 0) } }, { 4, { head(4, 0), id_word() } },
		/* what is behind the data is not looked at: it would be very long */
		{ 1, { head(HYPTRACE_TYPE_TIME_EXTEND, 0), 0,
		       head(HYPTRACE_TYPE_LENGTH_WORD, 0), 0x7ffffff0 } },
		{ 1, { head(HYPTRACE_TYPE_LENGTH_WORD, 0) } },
		{ 2, { head(HYPTRACE_TYPE_LENGTH_WORD, 0), 3 } },
		{ 3, { head(HYPTRACE_TYPE_LENGTH_WORD, 0), 12, 0 } },
		{ 3, { head(HYPTRACE_TYPE_LENGTH_WORD, 0), 6, 0 } },
		{ 1, { head(HYPTRACE_TYPE_PADDING, 1) } },
	};
	const struct hyptrace_stream_event *event;
	struct hyptrace_file *file;
	struct image image;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		image_init(&image, IMAGE_VERSION_6, true, 1024, 1);
		image_subbuf(&image, 0, 1000);
		put_words(&image, bad[i].words, 4);
		/* of which the commit word has some */
		put_words(&image, bad[i].words, bad[i].nr);
		file = open_image(&image);
		assert_int_equal(hyptrace_file_next(file, &event, &err), -EBADMSG);
		assert_non_null(strstr(err.text, "byte 0 of its data"));
		hyptrace_file_close(file);
		image_free(&image);
	}
	/* an event of two bytes, and padding to the end, are none of these */
	image_init(&image, IMAGE_VERSION_6, true, 1024, 1);
	image_subbuf(&image, 0, 1000);
	put_words(&image, (uint32_t[]){ head(1, 0), id_word(), head(HYPTRACE_TYPE_PADDING, 0) }, 3);
	file = open_image(&image);
	assert_int_equal(hyptrace_file_next(file, &event, &err), 1);
	assert_int_equal(event->record.size, 4);
	assert_int_equal(*(const uint16_t *)event->record.data, IMAGE_ID);
	assert_int_equal(hyptrace_file_next(file, &event, &err), -ENODATA);
	hyptrace_file_close(file);
	image_free(&image);
}

/* An event whose end is behind the memory of its sub-buffer, which is not touched */
static void long_record_swapped(void **state)
{
	static uint32_t words[(65536 - HYPTRACE_SUBBUF_HEADER) / 4];
	const unsigned int nr = sizeof(words) / 4;
	const struct hyptrace_stream_event *event;
	struct hyptrace_file *file;
	struct image image;

	(void)state;
	words[0] = head(HYPTRACE_TYPE_PADDING, 1);
	words[1] = 4 * (nr - 4);
	words[nr - 3] = head(4, 0);
	words[nr - 2] = id_word();
	image_init(&image, IMAGE_VERSION_6, true, 65536, 1);
	image_subbuf(&image, 0, 1000);
	put_words(&image, words, nr);
	file = open_image(&image);
	assert_int_equal(hyptrace_file_next(file, &event, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "byte 65508 of its data"));
	hyptrace_file_close(file);
	image_free(&image);
}

/* The bytes of an array stay as they are if the size of its elements is not known. */
static void array_swapped(void **state)
{
	const struct hyptrace_stream_event *event;
	struct hyptrace_file *file;
	struct image image;
	uint64_t value;
	size_t size;
	char *data;

	(void)state;
	image_init(&image, IMAGE_VERSION_6, true, 1024, 1);
	image.no_text = true;
	image_subbuf(&image, 0, 1000);
	image_event(&image, 0, 0, 0x1122334455667788);
	data = image_make(&image, &size);
	memcpy(memmem(data, size, "u64 id;", 7), "u8 i[];", 7);
	write_file(path, data, size);
	free(data);
	file = hyptrace_file_open(path, &err);
	assert_non_null(file);
	assert_string_equal(hyptrace_file_info(file)->events[0]->fields[0]->type, "u8[]");
	assert_int_equal(hyptrace_file_next(file, &event, &err), 1);
	memcpy(&value, (const char *)event->record.data + 8, sizeof(value));
	assert_int_equal(value, bswap_64(0x1122334455667788));
	hyptrace_file_close(file);
	image_free(&image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sub_buffers), cmocka_unit_test(damaged_chunk),
		cmocka_unit_test(cut_off), cmocka_unit_test(progress),
		cmocka_unit_test(late_times), cmocka_unit_test(all_records_swapped),
		cmocka_unit_test(bad_records_swapped), cmocka_unit_test(long_record_swapped),
		cmocka_unit_test(array_swapped),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
