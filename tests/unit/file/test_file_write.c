// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bytes that the file writer writes, against the formats of trace-cmd.dat.v6(5) and
 * trace-cmd.dat.v7(5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <zstd.h>

#include "fail_alloc.h"
#include "file_bytes.h"
#include "file_remote.h"

/* Sub-buffers of each CPU in these tests; those of the second do not fit in one chunk. */
static const unsigned int subbufs_of[CPUS] = { 3, 200, 0 };

#define SUBBUFS_MAX	200

static struct hyptrace_file_writer *w;
static char *content_of(unsigned int index, size_t *size)
{
	char *content = calloc(SUBBUFS_MAX + 1, SUBBUF);
	unsigned int i;

	*size = subbufs_of[index] * SUBBUF;
	for (i = 0; i < subbufs_of[index]; i++)
		fill(content + i * SUBBUF, i * 1000, index * 100000 + i * 300, 300);
	return content;
}

static void write_all(void)
{
	unsigned int i;
	char *content;
	size_t size;

	for (i = 0; i < CPUS; i++) {
		content = content_of(i, &size);
		/* in two steps */
		assert_int_equal(hyptrace_file_write(w, cpu_ids[i], content, size ? SUBBUF : 0,
						     &err), 0);
		if (size)
			assert_int_equal(hyptrace_file_write(w, cpu_ids[i], content + SUBBUF,
							     size - SUBBUF, &err), 0);
		hyptrace_file_set_counts(w, cpu_ids[i], size, i + 1, i + 2);
		free(content);
	}
}

static void expect_begin(const char *version)
{
	expect_bytes("\x17\x08\x44tracing", 10);
	want_string(version);
	assert_int_equal(take(1), __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	assert_int_equal(take(1), 8);
	assert_int_equal(take(4), SUBBUF);
}

static void expect_header_info(void)
{
	want_string("header_page");
	/* a sub-buffer has 4096 bytes, and a head of 16 */
	skip_text("\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
		  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n");
	want_string("header_event");
	skip_text("time_extend : type == 30\n");
}

static void expect_formats(void)
{
	assert_int_equal(take(4), 1);
	want_string("hyptrace");
	assert_int_equal(take(4), 1);
	skip_text("name: mark\nID: 3\nformat:\n");
}

/* The names of the events take the place of command lines. */
static void expect_names(void)
{
	assert_int_equal(take(8), 7);
	assert_memory_equal(file + at, "3 mark\n", 7);
	at += 7;
}

static void expect_meta(void)
{
	static const char counts[] =
		"\ncpu 1 1 00000000000000012288 00000000000000000001 00000000000000000002\n";
	const char *text = file + at, *end = strstr(text, "\nend\n");

	assert_int_equal(strncmp(text, "hyptrace 1\nremote \"test\"\n", 25), 0);
	assert_non_null(end);
	assert_non_null(strstr(text, "\ncomplete 1\n"));
	assert_non_null(strstr(text, counts));
	assert_non_null(strstr(text, "\nevent 3 8 \"mark\" "));
	at += end + 5 - text;
}

/* What the options say of the data of each CPU */
static unsigned int bytes_of[CPUS];

/* Options that both versions have: those of the CPUs come first, in the order of the CPUs. */
static void expect_common_options(void)
{
	char text[256];
	unsigned int i;

	for (i = 0; i < CPUS; i++) {
		const unsigned int events = subbufs_of[i] * SUBBUF;
		const char *bytes;
		int len;

		assert_int_equal(take(2), 2);
		assert_int_equal(take(4), sizeof(text));
		bytes = strstr(file + at, "\nbytes: ");
		assert_non_null(bytes);
		bytes_of[i] = strtoul(bytes + 8, NULL, 10);
		len = snprintf(text, sizeof(text),
			       "CPU: %u\nentries: %u\noverrun: %u\ncommit overrun: 0\n"
			       "bytes: %u\ndropped events: 0\nread events: %u\n",
			       cpu_ids[i], events, i + 1, bytes_of[i], events);
		/* with blanks up to a size that is always the same */
		snprintf(text + len, sizeof(text) - len, "%*s", (int)sizeof(text) - len - 1, "");
		expect_bytes(text, sizeof(text));
	}
	assert_int_equal(take(2), 5);
	assert_int_equal(take(4), sizeof("Linux"));
	want_string("Linux");
	assert_int_equal(take(2), 9);
	assert_int_equal(take(4), sizeof("hyptrace 1"));
	want_string("hyptrace 1");
}

static unsigned int index_of(unsigned int cpu)
{
	unsigned int i;

	for (i = 0; i < CPUS && cpu_ids[i] != cpu; i++)
		;
	return i;
}

static void check_version_6(void)
{
	unsigned int cpu, index;
	uint64_t offset, size;
	size_t due, next = 0;
	char *content;

	expect_begin("6");
	expect_header_info();
	assert_int_equal(take(4), 0);
	expect_formats();
	assert_int_equal(take(4), 0);
	assert_int_equal(take(4), 0);
	expect_names();
	assert_int_equal(take(4), 6);
	want_string("options  ");
	expect_common_options();
	assert_int_equal(take(2), 0);
	want_string("flyrecord");
	for (cpu = 0; cpu < 6; cpu++) {
		offset = take(8);
		size = take(8);
		index = index_of(cpu);
		if (index == CPUS || !subbufs_of[index]) {
			assert_int_equal(size, 0);
			assert_int_equal(offset, 0);
			continue;
		}
		content = content_of(index, &due);
		assert_int_equal(size, due);
		assert_int_equal(size, bytes_of[index]);
		assert_int_equal(offset % SUBBUF, 0);
		/* one after the other */
		assert_true(!next || offset == next);
		assert_memory_equal(file + offset, content, due);
		next = offset + size;
		free(content);
	}
	assert_int_equal(next, file_size);
	expect_meta();
}

static void test_version_6(void **state)
{
	(void)state;
	w = begin("a.dat", 0);
	write_all();
	assert_int_equal(hyptrace_file_finish(w, &err), 0);
	read_back("a.dat");
	check_version_6();
	free(file);
	assert_false(exists("a.dat.part"));
	assert_false(exists("a.dat.part.cpu2"));
}

static void expect_section(unsigned int id, uint64_t *end)
{
	uint64_t size;

	assert_int_equal(take(2), id);
	assert_int_equal(take(2), id == 3);
	assert_int_equal(take(4), 0);
	size = take(8);
	assert_true(size <= file_size - at);
	*end = at + size;
}

static void check_section(unsigned int id, uint64_t offset)
{
	uint64_t end;

	at = offset;
	expect_section(id, &end);
	if (id == 16)
		expect_header_info();
	else if (id == 18)
		expect_formats();
	else if (id == 21)
		expect_names();
	else
		assert_int_equal(take(4), 0);
	assert_int_equal(at, end);
}

static void check_chunks(uint64_t offset, uint64_t size, unsigned int index)
{
	unsigned int nr, i;
	size_t due, done = 0;
	char *content = content_of(index, &due);
	char *unpacked = calloc(1, due);

	at = offset;
	nr = take(4);
	for (i = 0; i < nr; i++) {
		const size_t packed = take(4), plain = take(4);

		assert_int_equal(plain % SUBBUF, 0);
		assert_true(plain <= due - done);
		assert_int_equal(ZSTD_decompress(unpacked + done, plain, file + at, packed), plain);
		done += plain;
		at += packed;
	}
	assert_int_equal(done, due);
	assert_int_equal(at, offset + size);
	assert_memory_equal(unpacked, content, due);
	free(unpacked);
	free(content);
}

static void check_buffer(void)
{
	unsigned int cpu, index;
	uint64_t offset, size, end, section = take(8);
	size_t back;

	want_string("");
	want_string("boot");
	assert_int_equal(take(4), SUBBUF);
	assert_int_equal(take(4), 6);
	for (cpu = 0; cpu < 6; cpu++) {
		assert_int_equal(take(4), cpu);
		offset = take(8);
		size = take(8);
		index = index_of(cpu);
		back = at;
		assert_int_equal(size, index < CPUS ? bytes_of[index] : 0);
		if (index < CPUS && subbufs_of[index])
			check_chunks(offset, size, index);
		else
			assert_int_equal(size, 0);
		at = back;
	}
	back = at;
	at = section;
	expect_section(3, &end);
	assert_int_equal(end, file_size);
	at = back;
}

static void test_version_7(void **state)
{
	uint64_t end, offset;
	unsigned int id;
	size_t next;

	(void)state;
	w = begin("a.dat", HYPTRACE_FILE_ZSTD);
	write_all();
	assert_int_equal(hyptrace_file_finish(w, &err), 0);
	read_back("a.dat");
	expect_begin("7");
	want_string("zstd");
	want_string(ZSTD_versionString());
	end = take(8);
	expect_meta();
	at = end;
	expect_section(0, &end);
	for (id = 16; id <= 21; id++) {
		assert_int_equal(take(2), id);
		assert_int_equal(take(4), 8);
		offset = take(8);
		next = at;
		check_section(id, offset);
		at = next;
	}
	/* the number of CPUs */
	assert_int_equal(take(2), 8);
	assert_int_equal(take(4), 4);
	assert_int_equal(take(4), 6);
	expect_common_options();
	assert_int_equal(take(2), 3);
	next = take(4);
	next += at;
	check_buffer();
	assert_int_equal(at, next);
	/* no options follow */
	assert_int_equal(take(2), 0);
	assert_int_equal(take(4), 8);
	assert_int_equal(take(8), 0);
	assert_int_equal(at, end);
	free(file);
}

/* Move sub-buffers from a ring: here a pipe that holds them. */
static void splice_all(unsigned int index)
{
	char *content;
	size_t size, done = 0;
	int ends[2];
	int64_t n;

	content = content_of(index, &size);
	assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) >= (int)size);
	if (size)
		assert_int_equal(write(ends[1], content, size), size);
	while ((n = hyptrace_file_splice(w, cpu_ids[index], ends[0], &err)) > 0)
		done += n;
	assert_int_equal(n, 0);
	assert_int_equal(done, size);
	hyptrace_file_set_counts(w, cpu_ids[index], size, index + 1, index + 2);
	close(ends[0]);
	close(ends[1]);
	free(content);
}

static void test_splice(void **state)
{
	static const unsigned int flags[] = { 0, HYPTRACE_FILE_ZSTD };
	unsigned int i, j;

	(void)state;
	for (i = 0; i < 2; i++) {
		w = begin("a.dat", flags[i]);
		for (j = 0; j < CPUS; j++)
			splice_all(j);
		assert_int_equal(hyptrace_file_finish(w, &err), 0);
		read_back("a.dat");
		if (!i)
			check_version_6();
		free(file);
	}
	assert_true(file_size < 203 * SUBBUF / 4);
}

/* What was written is in the parts at once. */
static void test_parts(void **state)
{
	size_t due, size;
	char *content, *part;

	(void)state;
	w = begin("a.dat", 0);
	assert_non_null(w);
	assert_true(exists("a.dat.part"));
	write_all();
	assert_false(exists("a.dat"));
	/* no data, no part */
	assert_false(exists("a.dat.part.cpu5"));

	content = content_of(1, &due);
	part = slurp("a.dat.part.cpu2", &size);
	assert_int_equal(size, due);
	assert_memory_equal(part, content, due);
	free(part);
	free(content);

	content = content_of(0, &due);
	part = slurp("a.dat.part", &size);
	assert_true(size > due);
	assert_memory_equal(part + size - due, content, due);
	assert_non_null(memmem(part, size, "\ncomplete 0\n", 12));
	free(part);
	free(content);

	assert_int_equal(hyptrace_file_finish(w, &err), 0);
	assert_true(exists("a.dat"));
}

static void test_limit(void **state)
{
	char *content;
	int ends[2];
	size_t size;
	uint64_t begun;
	struct stat st;

	(void)state;
	w = begin("a.dat", 0);
	begun = hyptrace_file_size(w);
	hyptrace_file_set_limit(w, begun + 10 * SUBBUF + 5);
	content = content_of(1, &size);
	assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) >= (int)size);
	assert_int_equal(write(ends[1], content, size), size);
	assert_int_equal(hyptrace_file_splice(w, 2, ends[0], &err), 10 * SUBBUF);
	assert_int_equal(hyptrace_file_splice(w, 2, ends[0], &err), -EOVERFLOW);
	assert_int_equal(hyptrace_file_size(w), begun + 10 * SUBBUF);
	assert_int_equal(hyptrace_file_finish(w, &err), 0);
	assert_int_equal(stat("a.dat", &st), 0);
	assert_int_equal(st.st_size, begun + 10 * SUBBUF);
	close(ends[0]);
	close(ends[1]);
	free(content);
}

static void test_arguments(void **state)
{
	char subbuf[SUBBUF] = "";

	(void)state;
	w = begin("a.dat", 0);
	assert_int_equal(hyptrace_file_write(w, 3, subbuf, SUBBUF, &err), -ENXIO);
	assert_string_equal(err.text, "the remote has no CPU 3");
	assert_int_equal(hyptrace_file_write(w, 1, subbuf, SUBBUF - 1, &err), -EINVAL);
	assert_int_equal(hyptrace_file_splice(w, 3, 0, &err), -ENXIO);
	hyptrace_file_set_counts(w, 3, 1, 1, 1);
	assert_int_equal(hyptrace_file_splice(w, 1, -1, &err), -EBADF);
	hyptrace_file_abandon(w);
	assert_false(exists("a.dat.part"));
	assert_false(exists("a.dat"));
	hyptrace_file_abandon(NULL);
	assert_int_equal(hyptrace_file_finish(NULL, &err), 0);
	assert_null(begin("none/a.dat", 0));
	assert_string_equal(err.text, "cannot make none/a.dat.part: No such file or directory");
	assert_null(begin(".", 0));
	assert_string_equal(err.text, "cannot open .: Is a directory");
}

/* Write a file. Return 0 or a negative errno. */
static int try_to_write(const char *path, unsigned int flags)
{
	char subbuf[SUBBUF];
	struct hyptrace_file_meta meta;
	unsigned int i;
	int ret;

	fail_alloc_pause(true);
	describe(&meta);
	fail_alloc_pause(false);
	w = hyptrace_file_writer_new(path, &meta, flags, NULL, &err);
	if (!w)
		return -err.errnum;
	/* all parts of a file that has a name have names */
	for (i = 1; i < CPUS && w->path; i++)
		assert_non_null(w->parts[i].path);
	fill(subbuf, 1000, 0, 10);
	ret = hyptrace_file_write(w, 1, subbuf, SUBBUF, &err);
	if (!ret)
		ret = hyptrace_file_write(w, 5, subbuf, SUBBUF, &err);
	if (!ret)
		return hyptrace_file_finish(w, &err);
	hyptrace_file_abandon(w);
	return ret;
}

/* What was written says what its events are. */
static void expect_event(void)
{
	read_back("a.dat");
	assert_non_null(memmem(file, file_size, "name: mark\nID: 3\nformat:\n", 25));
	free(file);
}

/* Without memory there is an error, and after it another file can be written. */
static void test_no_memory(void **state)
{
	unsigned int nth, i;
	bool failed;
	int ret;

	(void)state;
	for (i = 0; i < 4; i++) {
		failed = true;
		for (nth = 1; failed; nth++) {
			fail_alloc(nth);
			ret = try_to_write(i < 2 ? "a.dat" : "/dev/null",
					   i % 2 ? HYPTRACE_FILE_ZSTD : 0);
			failed = fail_alloc_end();
			if (!failed)
				assert_int_equal(ret, 0);
			else if (ret)
				assert_int_equal(ret, -ENOMEM);
			if (!ret && i < 2)
				expect_event();
			/* a file that cannot be finished leaves its parts */
			assert_int_equal(system("rm -f a.dat*"), 0);
		}
		assert_true(nth > 20);
	}
}

/* A sub-buffer for which there is no memory stays in the ring. */
static void test_no_memory_for_a_chunk(void **state)
{
	char subbuf[SUBBUF];
	int ends[2];

	(void)state;
	w = begin("a.dat", HYPTRACE_FILE_ZSTD);
	fill(subbuf, 1000, 0, 10);
	assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	assert_int_equal(write(ends[1], subbuf, SUBBUF), SUBBUF);
	fail_alloc(1);
	assert_int_equal(hyptrace_file_splice(w, 2, ends[0], &err), -ENOMEM);
	assert_true(fail_alloc_end());
	assert_string_equal(err.text, "out of memory");
	assert_int_equal(hyptrace_file_splice(w, 2, ends[0], &err), SUBBUF);
	/* one that was given is lost */
	fail_alloc(1);
	assert_int_equal(hyptrace_file_write(w, 5, subbuf, SUBBUF, &err), -ENOMEM);
	assert_true(fail_alloc_end());
	assert_int_equal(hyptrace_file_unwritten(w, 2), 0);
	assert_int_equal(hyptrace_file_unwritten(w, 5), 10);
	assert_int_equal(hyptrace_file_finish(w, &err), 0);
	close(ends[0]);
	close(ends[1]);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, enter_folder, leave_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_version_6),
		TEST(test_version_7),
		TEST(test_splice),
		TEST(test_parts),
		TEST(test_limit),
		TEST(test_arguments),
		TEST(test_no_memory),
		TEST(test_no_memory_for_a_chunk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
