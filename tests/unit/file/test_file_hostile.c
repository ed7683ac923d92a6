// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reader with files that are damaged anywhere: cut off, with wrong sizes, or with random
 * bytes. Reading must end, without an access outside of its memory. ROUNDS=N in the environment
 * sets how many random files there are of each kind.
 */
#include <sys/resource.h>

#include "lib/file/read/file.h"
#include "file_case.h"

#define ROUNDS		300
/* A file of some KiB has fewer events, places that are damaged, and losses. */
#define STEPS_MAX	20000

static uint32_t seed = 1;

/* libtraceevent forgets some memory of formats that it cannot parse */
const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent.so";
}

static uint32_t random_below(uint32_t limit)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % limit;
}

static void count_subbuf(const struct hyptrace_file_subbuf *subbuf, void *arg)
{
	unsigned int *nr = arg;

	(void)subbuf;
	(*nr)++;
	assert_in_range(*nr, 0, STEPS_MAX);
}

static bool is_seldom(const struct hyptrace_stream_event *event, void *arg)
{
	(void)arg;
	return event->record.ts % 8 == 0;
}

/* Print an event as a line, and all its fields. */
static void print(struct hyptrace_formats *fmts, const struct hyptrace_record *rec)
{
	static char line[HYPTRACE_LINE_MAX];
	const struct hyptrace_event *event;
	uint32_t size;
	unsigned int i;
	size_t len;
	char *end;

	end = hyptrace_formats_line(fmts, rec, line);
	assert_true(!end || end <= line + sizeof(line));
	event = hyptrace_formats_event(fmts, rec);
	if (!event)
		return;
	assert_non_null(hyptrace_formats_text(fmts, event, rec, &len));
	hyptrace_formats_task(fmts, rec, &len);
	for (i = 0; i < event->nr_fields; i++) {
		const unsigned char *at = hyptrace_field_bytes(event->fields[i], rec, &size);

		if (at && size)
			assert_true(at[0] <= UINT8_MAX && at[size - 1] <= UINT8_MAX);
	}
}

static void read_all(struct hyptrace_file *file)
{
	const struct hyptrace_stream_event *event;
	unsigned int steps = 0;
	int ret;

	do {
		ret = hyptrace_file_next(file, &event, &err);
		if (ret == 1 && event->record.data)
			print(hyptrace_file_info(file)->formats, &event->record);
		else if (ret < 0 && ret != -ENODATA)
			assert_true(err.text[0]);
		assert_in_range(++steps, 0, STEPS_MAX);
	} while (ret == 1 || ret == -EBADMSG);
}

/* Writing many files to a disk would take minutes. */
static void write_memory(const char *data, size_t size)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("file", 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, data, size, 0), size);
	if (getenv("KEEP"))
		write_file(getenv("KEEP"), data, size);
}

/* Do all that the reader can do. Return whether the file could be opened. */
static bool use(const char *data, size_t size)
{
	struct hyptrace_file *file;
	unsigned int nr = 0;
	uint64_t ts = 0;

	write_memory(data, size);
	memset(&err, 0, sizeof(err));
	file = hyptrace_file_open(path, &err);
	if (!file) {
		assert_true(err.text[0]);
		return false;
	}
	read_all(file);
	hyptrace_file_options(file)->last = 5;
	read_all(file);
	hyptrace_file_options(file)->last = 0;
	hyptrace_file_times(file, &ts, NULL, NULL);
	read_times(file, ts + 3, UINT64_MAX);
	hyptrace_file_times(file, NULL, &ts, NULL);
	hyptrace_file_options(file)->filter = is_seldom;
	read_all(file);
	read_times(file, 0, UINT64_MAX);
	hyptrace_file_walk(file, count_subbuf, &nr, &err);
	hyptrace_file_close(file);
	return true;
}

static char *make(enum image_kind kind, bool swap, bool no_text, size_t *size)
{
	struct image image;
	char *data;

	image_init(&image, kind, swap, 1024, 2);
	image.no_text = no_text;
	fill(&image, 150, 1000);
	/* a loss in the last sub-buffer of each CPU */
	if (image.cpus[0].used + 8 <= 1008)
		image_lost(&image, 0, 17);
	image_lost(&image, 1, HYPTRACE_LOST_UNKNOWN);
	data = image_make(&image, size);
	image_free(&image);
	return data;
}

static char *load(const char *name, size_t *size)
{
	char file[256], *data;
	FILE *f;

	snprintf(file, sizeof(file), "%s/files/%s", DATA, name);
	f = fopen(file, "r");
	assert_non_null(f);
	data = malloc(64 << 10);
	*size = fread(data, 1, 64 << 10, f);
	fclose(f);
	return data;
}

/* Cut a file off at each offset of its headers, and at many behind them. */
static void cut_off(void **state)
{
	unsigned int kind, opened;
	size_t size, at, step;
	char *data;

	(void)state;
	for (kind = IMAGE_VERSION_6; kind <= IMAGE_ZSTD; kind++) {
		data = make(kind, false, false, &size);
		assert_true(use(data, size));
		step = kind == IMAGE_ZSTD ? 3 : 13;
		for (at = 0, opened = 0; at < size; at += at < 1100 ? 1 : step)
			opened += use(data, at);
		/* once the headers are there */
		assert_true(opened > 100);
		free(data);
	}
}

/* Change some bytes: mostly one, to values that are likely to hurt. */
static void change(char *data, size_t size)
{
	static const uint64_t values[] = {
		0, 1, 7, 0x7f, 0xff, 0x100, 0xfff, 0xffff, 0x10000, 0x7fffffff, 0x80000000,
		0xffffffff, UINT64_C(0x7fffffffffffffff), UINT64_C(0x8000000000000000),
		UINT64_MAX, UINT64_MAX - 15,
	};
	unsigned int nr = 1 + random_below(4) * random_below(2), bytes;
	uint64_t value;
	size_t at;

	while (nr--) {
		/* mostly in the headers */
		at = random_below(random_below(4) ? (size < 1500 ? size : 1500) : size);
		bytes = 1 << random_below(4);
		value = values[random_below(sizeof(values) / sizeof(values[0]))];
		if (!random_below(3))
			value = random_below(256) * UINT64_C(0x0101010101010101);
		if (bytes <= size - at)
			memcpy(data + at, &value, bytes);
	}
}

static void damage(const char *data, size_t size)
{
	const char *rounds = getenv("ROUNDS");
	unsigned int nr = rounds ? strtoul(rounds, NULL, 0) : ROUNDS, opened = 0, i;
	char *copy = malloc(size);

	for (i = 0; i < nr; i++) {
		memcpy(copy, data, size);
		change(copy, size);
		opened += use(copy, random_below(10) ? size : random_below(size));
	}
	assert_true(opened > nr / 10);
	free(copy);
}

static void damaged(void **state)
{
	unsigned int kind;
	size_t size;
	char *data;

	(void)state;
	for (kind = IMAGE_VERSION_6; kind <= IMAGE_ZSTD; kind++) {
		data = make(kind, kind == IMAGE_VERSION_7, false, &size);
		damage(data, size);
		free(data);
	}
}

static void damaged_without_text(void **state)
{
	size_t size;
	char *data;

	(void)state;
	data = make(IMAGE_VERSION_7, false, true, &size);
	damage(data, size);
	free(data);
}

/* Files as trace-cmd records them from a host, see tests/files/host_trace.py */
static void damaged_host(void **state)
{
	static const char *const names[] = {
		"host-6.dat", "host-7.dat", "host-be32.dat", "host-7z.dat"
	};
	unsigned int i;
	size_t size;
	char *data;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		data = load(names[i], &size);
		assert_true(use(data, size));
		damage(data, size);
		free(data);
	}
}

/* An array that is larger than the record, which libtraceevent would print to its end */
static void long_array(void **state)
{
	static const char field[] = "next_comm[16];\toffset:40;\tsize:";
	static const char lie[] = "65535;       ";
	size_t size;
	char *data, *at;

	(void)state;
	data = load("host-6.dat", &size);
	at = memmem(data, size, field, strlen(field));
	assert_non_null(at);
	memcpy(at + strlen(field), lie, strlen(lie));
	assert_true(use(data, size));
	free(data);
}

/* trace-cmd 3.1.6 says of each CPU that it has 4 bytes less. */
static void short_sizes(void **state)
{
	struct hyptrace_file_counts counts;
	struct hyptrace_file *file;
	size_t size;
	char *data;

	(void)state;
	data = load("host-7z.dat", &size);
	write_memory(data, size);
	file = hyptrace_file_open(path, &err);
	assert_non_null(file);
	read_all(file);
	counts = *hyptrace_file_counts(file);
	assert_int_equal(counts.delivered, 32);
	assert_int_equal(counts.damaged, 0);
	hyptrace_file_close(file);
	free(data);
}

/* The sizes of a file that lies do not take memory. */
static void memory(void **state)
{
	struct rusage before, after;
	size_t size, at;
	char *data;

	(void)state;
	data = make(IMAGE_VERSION_6, false, false, &size);
	getrusage(RUSAGE_SELF, &before);
	for (at = 10; at + 8 < size && at < 900; at++) {
		char old[8];

		memcpy(old, data + at, sizeof(old));
		memset(data + at, 0x7f, sizeof(old));
		use(data, size);
		memcpy(data + at, old, sizeof(old));
	}
	getrusage(RUSAGE_SELF, &after);
	/* in KiB, and much of it is that of the sanitizer */
	assert_in_range(after.ru_maxrss - before.ru_maxrss, 0, 128 << 10);
	free(data);
}

static void is_refused(const char *data, size_t size, const char *why)
{
	write_memory(data, size);
	assert_null(hyptrace_file_open(path, &err));
	if (!strstr(err.text, why))
		fail_msg("\"%s\" does not say \"%s\"", err.text, why);
}

/* Options that name themselves, or the ones before, as the next ones */
static void options_without_end(void **state)
{
	char data[] = "\027\010Dtracing7\0\0\010\0\020\0\0none\0\0"
		      "\040\0\0\0\0\0\0\0"
		      "\0\0\0\0\0\0\0\0\016\0\0\0\0\0\0\0"
		      "\0\0\010\0\0\0\0\0\0\0\0\0\0";
	const unsigned int at = 32;

	(void)state;
	data[sizeof(data) - 8] = at;
	is_refused(data, sizeof(data), "options: they are before the options that name them");
	data[sizeof(data) - 8] = 1;
	is_refused(data, sizeof(data), "options: they are before the options that name them");
}

/* More systems and formats than a file can have */
static void too_many_formats(void **state)
{
	const uint32_t many = 65537, some = 65536;
	size_t size, left;
	uint64_t length;
	char *data, *at;

	(void)state;
	data = make(IMAGE_VERSION_6, false, false, &size);
	at = memmem(data, size, "header_event", 13);
	assert_non_null(at);
	at += 13;
	memcpy(&length, at, sizeof(length));
	at += sizeof(length) + length;
	left = size - (at - data);
	assert_true(left > 12 + 4 * sizeof(many));
	memcpy(at, &many, sizeof(many));
	is_refused(data, size, "formats of ftrace: there are too many");
	memset(at, 0, sizeof(many));
	memcpy(at + 4, &many, sizeof(many));
	is_refused(data, size, "formats of events: there are too many");
	/* together */
	memcpy(at + 4, &some, sizeof(some));
	memset(at + 8, 0, left - 8);
	memcpy(at + 9, &many, sizeof(many));
	is_refused(data, size, "formats of events: there are too many");
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_without_end), cmocka_unit_test(too_many_formats),
		cmocka_unit_test(memory), cmocka_unit_test(cut_off), cmocka_unit_test(damaged),
		cmocka_unit_test(damaged_without_text), cmocka_unit_test(damaged_host),
		cmocka_unit_test(long_array), cmocka_unit_test(short_sizes),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
