// SPDX-License-Identifier: GPL-2.0-only
/*
 * The losses that the reader of trace files delivers: before events, instead of events that a
 * filter refuses, and at the end.
 */
#include "file_case.h"

#define START	UINT64_C(5000000000)

static bool is_nothing(const struct hyptrace_stream_event *event, void *arg)
{
	(void)event;
	(void)arg;
	return false;
}

static void losses(void **state)
{
	const struct hyptrace_stream_event *event;
	struct hyptrace_file_counts counts;
	struct hyptrace_file *file;
	struct image image;

	(void)state;
	image_init(&image, IMAGE_VERSION_6, true, 4096, 2);
	image_subbuf(&image, 0, 100);
	image_event(&image, 0, 1, NUMBER(101, 0));
	image_subbuf(&image, 0, 200);
	image_event(&image, 0, 1, NUMBER(201, 0));
	image_lost(&image, 0, 17);
	image_subbuf(&image, 1, 150);
	image_event(&image, 1, 0, NUMBER(150, 1));
	image_lost(&image, 1, HYPTRACE_LOST_UNKNOWN);
	/* lost at the end: no event follows */
	image_subbuf(&image, 1, 300);
	image_lost(&image, 1, 5);
	file = open_image(&image);
	expect(file, 0, 101, true, 0);
	expect(file, 1, 150, true, HYPTRACE_LOST_UNKNOWN);
	expect(file, 0, 201, true, 17);
	expect(file, 1, 300, false, 5);
	assert_int_equal(hyptrace_file_next(file, &event, &err), -ENODATA);
	counts = *hyptrace_file_counts(file);
	assert_int_equal(counts.delivered, 3);
	assert_int_equal(counts.lost, 22);
	assert_int_equal(counts.lost_more, 1);

	/* losses before events that the filter refuses are delivered */
	hyptrace_file_options(file)->filter = is_nothing;
	expect(file, 1, 150, false, HYPTRACE_LOST_UNKNOWN);
	expect(file, 0, 201, false, 17);
	expect(file, 1, 300, false, 5);
	assert_int_equal(hyptrace_file_next(file, &event, &err), -ENODATA);
	counts = *hyptrace_file_counts(file);
	assert_int_equal(counts.delivered, 0);
	assert_int_equal(counts.filtered, 3);
	hyptrace_file_close(file);
	image_free(&image);
}

/* Count the losses that are delivered, and the deliveries that are only a loss. */
static uint64_t sum_losses(struct hyptrace_file *file, unsigned int *alone)
{
	const struct hyptrace_stream_event *event;
	struct hyptrace_file_counts counts;
	uint64_t sum = 0, ts = 0;
	int ret;

	*alone = 0;
	hyptrace_file_options(file);
	while ((ret = hyptrace_file_next(file, &event, &err)) == 1) {
		assert_true(event->record.ts >= ts);
		ts = event->record.ts;
		sum += event->record.lost;
		*alone += !event->record.data;
	}
	assert_int_equal(ret, -ENODATA);
	counts = *hyptrace_file_counts(file);
	assert_int_equal(counts.lost, sum);
	return sum;
}

/* Losses that only the description knows are delivered at the end, and so often as it says. */
static void losses_at_the_end(void **state)
{
	const unsigned int both[] = { 0, 1 };
	struct hyptrace_file *file;
	unsigned int kind, alone;
	struct image image;

	(void)state;
	for (kind = IMAGE_VERSION_6; kind <= IMAGE_ZSTD; kind++) {
		image_init(&image, kind, false, 1024, 3);
		image.has_counts = true;
		image_subbuf(&image, 0, START);
		image_event(&image, 0, 0, NUMBER(START, 0));
		image_lost(&image, 0, 5);
		image_subbuf(&image, 0, START + 10);
		image_event(&image, 0, 0, NUMBER(START + 10, 0));
		image_lost(&image, 0, 6);
		image_subbuf(&image, 1, START + 5);
		image_event(&image, 1, 0, NUMBER(START + 5, 1));
		image_lost(&image, 1, 20);
		image.cpus[0].lost = 18;
		/* fewer than the sub-buffers say */
		image.cpus[1].lost = 19;
		image.cpus[2].lost = 100;
		file = open_image(&image);
		assert_int_equal(sum_losses(file, &alone), 18 + 20 + 100);
		assert_int_equal(alone, 2);
		/* the sub-buffers before the first time still count */
		read_times(file, START + 11, UINT64_MAX);
		assert_int_equal(sum_losses(file, &alone), 18 - 11 + 100);
		read_times(file, START, START + 100);
		assert_int_equal(sum_losses(file, &alone), 11 + 20);
		read_times(file, 0, UINT64_MAX);
		assert_int_equal(hyptrace_file_set_cpus(file, both, 2, &err), 0);
		assert_int_equal(sum_losses(file, &alone), 18 + 20);
		hyptrace_file_close(file);
		image.has_counts = false;
		file = open_image(&image);
		assert_int_equal(sum_losses(file, &alone), 11 + 20);
		assert_int_equal(alone, 0);
		hyptrace_file_close(file);
		image_free(&image);
	}
}

/* Sub-buffers without events leave their losses to the next event, and each counts once. */
static void losses_without_events(void **state)
{
	struct hyptrace_file *file;
	unsigned int kind, alone;
	struct image image;

	(void)state;
	for (kind = IMAGE_VERSION_6; kind <= IMAGE_ZSTD; kind++) {
		image_init(&image, kind, false, 1024, 1);
		image.has_counts = true;
		image.cpus[0].lost = 30;
		image_subbuf(&image, 0, START);
		image_lost(&image, 0, 5);
		image_subbuf(&image, 0, START + 10);
		image_lost(&image, 0, 6);
		image_subbuf(&image, 0, START + 20);
		image_event(&image, 0, 0, NUMBER(START + 20, 0));
		image_subbuf(&image, 0, START + 30);
		image_event(&image, 0, 0, NUMBER(START + 30, 0));
		file = open_image(&image);
		expect(file, 0, START + 20, true, 11);
		expect(file, 0, START + 30, true, 0);
		expect(file, 0, START + 30, false, 30 - 11);
		assert_int_equal(sum_losses(file, &alone), 30);
		/* those before the first time belong to it */
		read_times(file, START + 30, UINT64_MAX);
		assert_int_equal(sum_losses(file, &alone), 30 - 11);
		assert_int_equal(alone, 1);
		hyptrace_file_close(file);
		image_free(&image);
	}
}

/* When losses after the last event are said to have happened, and which of them */
static void times_of_losses(void **state)
{
	/* what the image says of the recording's begin, on the clock of the events */
	const uint64_t begin = 1234 + 5;
	static const struct {
		uint64_t	from, to, stored;
		uint64_t	ts, lost;	/* 0: none are reported */
	} cases[] = {
		{ 0, UINT64_MAX, 5, START + 10, 12 },
		{ START + 10, UINT64_MAX, 5, START + 10, 12 },
		/* those that the sub-buffer has are earlier */
		{ START + 11, UINT64_MAX, 5, START + 11, 7 },
		{ 0, START + 10, 5, START + 10, 5 }, { 0, START + 9, 5, START, 5 },
		{ START + 1, START + 9, 5, 0, 0 }, { START + 11, START + 20, 5, 0, 0 },
		{ 0, UINT64_MAX, 12, START + 10, 12 }, { START + 11, UINT64_MAX, 12, 0, 0 },
		{ 0, UINT64_MAX, HYPTRACE_LOST_UNKNOWN, START + 10, HYPTRACE_LOST_UNKNOWN },
	};
	const struct hyptrace_stream_event *event;
	const unsigned int first = 0, second = 1;
	uint64_t from, to;
	struct hyptrace_file *file;
	struct image image;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		image_init(&image, IMAGE_VERSION_6, false, 1024, 2);
		image.has_counts = true;
		image.cpus[0].lost = 12;
		image.cpus[1].lost = 3;
		image_subbuf(&image, 0, START);
		image_event(&image, 0, 0, NUMBER(START, 0));
		image_subbuf(&image, 0, START + 10);
		image_lost(&image, 0, cases[i].stored);
		file = open_image(&image);
		/* the file's times are those of its events */
		assert_int_equal(hyptrace_file_times(file, &from, &to, &err), 0);
		assert_true(from == START && to == START);
		assert_int_equal(hyptrace_file_set_cpus(file, &first, 1, &err), 0);
		read_times(file, cases[i].from, cases[i].to);
		if (cases[i].from <= START)
			expect(file, 0, START, true, 0);
		if (cases[i].lost)
			expect(file, 0, cases[i].ts, false, cases[i].lost);
		/* an unknown number of them does not hide those that were counted */
		if (cases[i].lost == HYPTRACE_LOST_UNKNOWN)
			expect(file, 0, cases[i].ts, false, 12);
		assert_int_equal(hyptrace_file_next(file, &event, &err), -ENODATA);
		/* of a CPU without sub-buffers */
		assert_int_equal(hyptrace_file_set_cpus(file, &second, 1, &err), 0);
		assert_int_equal(hyptrace_file_times(file, &from, NULL, &err), -ENODATA);
		if (cases[i].to == UINT64_MAX)
			expect(file, 1, cases[i].from ? cases[i].from : begin, false, 3);
		assert_int_equal(hyptrace_file_next(file, &event, &err), -ENODATA);
		hyptrace_file_close(file);
		image_free(&image);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losses), cmocka_unit_test(losses_at_the_end),
		cmocka_unit_test(losses_without_events), cmocka_unit_test(times_of_losses),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
