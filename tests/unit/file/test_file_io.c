// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads of a trace file that fail, are interrupted, or return less than was asked for; and files
 * that end anywhere. No error is lost, and no event is invented.
 */
#include "lib/internal.h"
#include "file_case.h"

static const char *const hosts[] = { "host-6", "host-7", "host-be32", "host-7z" };

#define NR_HOSTS	(sizeof(hosts) / sizeof(hosts[0]))
#define NR_KINDS	(IMAGE_ZSTD + 1)
#define EVENTS		400
#define START		UINT64_C(1000)

/* The next read but so many fails with this error; 0: none */
static unsigned int left;
static int error;
static size_t most = SIZE_MAX;

ssize_t __real_pread(int fd, void *to, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *to, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *to, size_t size, off_t offset)
{
	if (left && !--left) {
		errno = error;
		return -1;
	}
	return __real_pread(fd, to, size < most ? size : most, offset);
}

/* What a file yields: a sum of all that is said of the events, and their number */
struct yield {
	uint64_t	sum;
	unsigned int	nr;
	uint64_t	first;
	uint64_t	last;
};

static uint64_t mix(uint64_t sum, uint64_t value)
{
	return (sum ^ value) * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

static void count_subbuf(const struct hyptrace_file_subbuf *subbuf, void *arg)
{
	(void)subbuf;
	++*(unsigned int *)arg;
}

/* Read a file, or its second half; return 0 or the first error. */
static int read_file(const char *name, uint64_t last, bool half, struct yield *yield)
{
	const struct hyptrace_stream_event *event;
	struct hyptrace_file *file;
	unsigned int subbufs = 0;
	int ret;

	memset(yield, 0, sizeof(*yield));
	memset(&err, 0, sizeof(err));
	file = hyptrace_file_open(name, &err);
	if (!file)
		return -err.errnum;
	ret = hyptrace_file_times(file, &yield->first, &yield->last, &err);
	/* nothing may be left of a file that was cut */
	if (ret == -ENODATA)
		ret = 0;
	if (!ret)
		ret = hyptrace_file_walk(file, count_subbuf, &subbufs, &err);
	hyptrace_file_options(file)->last = last;
	hyptrace_file_options(file)->from = half ? (yield->first + yield->last) / 2 : 0;
	while (!ret && (ret = hyptrace_file_next(file, &event, &err)) == 1) {
		yield->sum = mix(yield->sum, event->record.ts);
		yield->sum = mix(yield->sum, event->record.lost);
		yield->sum = mix(yield->sum, event->cpu * 1000 + event->record.size);
		yield->nr += !!event->record.data;
		ret = 0;
	}
	hyptrace_file_close(file);
	assert_true(subbufs || ret != -ENODATA || !yield->nr);
	return ret == -ENODATA ? 0 : ret;
}

/* The name of one of all files */
static const char *file_of(unsigned int i)
{
	static char name[256];
	struct image image;

	if (i < NR_HOSTS) {
		snprintf(name, sizeof(name), DATA "/files/%s.dat", hosts[i]);
		return name;
	}
	i -= NR_HOSTS;
	image_init(&image, i, i == IMAGE_VERSION_7, 1024, 3);
	fill(&image, EVENTS, START);
	write_image(&image);
	image_free(&image);
	return path;
}

static void check_reads(const char *name, uint64_t last, bool half)
{
	struct yield good, now;
	unsigned int nth;
	bool failed;
	int ret;

	assert_int_equal(read_file(name, last, half, &good), 0);
	assert_true(good.nr && good.first && good.last > good.first);
	for (nth = 1, failed = true; failed; nth++) {
		left = nth;
		error = EIO;
		ret = read_file(name, last, half, &now);
		failed = !left;
		if (ret != (failed ? -EIO : 0))
			fail_msg("%s, last %u, read %u: %d, %s", name, (unsigned int)last, nth,
				 ret, err.text);
		if (ret)
			assert_non_null(strstr(err.text, "Input/output error"));
		if (nth % 4)
			continue;
		left = nth;
		error = EINTR;
		assert_int_equal(read_file(name, last, half, &now), 0);
		assert_memory_equal(&now, &good, sizeof(now));
	}
	assert_true(nth > 10);
	left = 0;
	for (most = 1; most < 1000; most = most * 5 + 2) {
		assert_int_equal(read_file(name, last, half, &now), 0);
		assert_memory_equal(&now, &good, sizeof(now));
	}
	most = SIZE_MAX;
}

static void reads(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < NR_HOSTS + NR_KINDS; i++) {
		const char *name = file_of(i);

		check_reads(name, 0, false);
		check_reads(name, 5, true);
	}
}

/* Cut a file at each place. What is there is read, and the cut is an error. */
static void cuts(void **state)
{
	char cut[80];
	struct yield good, now;
	unsigned int i, step;
	size_t size, len;
	struct stat st;
	char *data;
	int ret;
	FILE *f;

	(void)state;
	snprintf(cut, sizeof(cut), "%s/cut.dat", folder);
	for (i = 0; i < NR_HOSTS + NR_KINDS; i++) {
		const char *name = file_of(i);

		assert_int_equal(read_file(name, 0, false, &good), 0);
		assert_int_equal(stat(name, &st), 0);
		size = st.st_size;
		data = malloc(size);
		f = fopen(name, "r");
		assert_int_equal(fread(data, 1, size, f), size);
		fclose(f);
		/* the last byte of all may be padding */
		for (len = 0; len < size - 1024; len += step) {
			write_file(cut, data, len);
			ret = read_file(cut, 0, false, &now);
			if (ret != -EBADMSG)
				fail_msg("%s, %zu bytes of %zu: %d, %s", name, len, size, ret,
					 err.text);
			assert_true(err.text[0] && !strstr(err.text, "Success"));
			assert_true(now.nr < good.nr);
			step = len < 600 ? 1 : 17;
		}
		free(data);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads),
		cmocka_unit_test(cuts),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
