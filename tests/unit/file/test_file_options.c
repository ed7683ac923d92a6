// SPDX-License-Identifier: GPL-2.0-only
/*
 * What other programs need to find the data of a file that has events of the host, too, and what
 * the file says if something is not known: see trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <zstd.h>

#include "file_bytes.h"

#define FORMAT	"name: first\nID: 101\nformat:\n\n"

/* All CPUs of the file are below this; the host has one more. */
#define ALL_CPUS	8
#define HOST_CPU	7

static const unsigned int host_cpus[] = { 1, HOST_CPU };
static const char *const systems[] = { "one" };
static const char *const formats[] = { FORMAT };
static const struct hyptrace_file_host host = {
	.cpus = host_cpus, .nr_cpus = 2, .systems = systems, .formats = formats, .nr_formats = 1,
};

static uint64_t head_size;

/* Record a sub-buffer of CPU 2, and one of the host, if it is there. */
static void record(unsigned int flags, const struct hyptrace_file_host *of, bool is_known)
{
	struct hyptrace_file_meta meta;
	struct hyptrace_file_writer *w;
	char subbuf[SUBBUF];

	describe(&meta);
	if (!is_known) {
		free(meta.info.uname);
		free(meta.info.clock);
		meta.info.uname = meta.info.clock = NULL;
	}
	w = hyptrace_file_writer_new("a.dat", &meta, flags, of, &err);
	if (!w)
		fail_msg("%s", err.text);
	head_size = w->head_size;
	fill(subbuf, 1000, 0, 5);
	assert_int_equal(hyptrace_file_write(w, 2, subbuf, SUBBUF, &err), 0);
	if (of)
		assert_int_equal(hyptrace_file_write(w, HOST_CPU | HYPTRACE_FILE_OF_HOST, subbuf,
						     SUBBUF, &err), 0);
	assert_int_equal(hyptrace_file_finish(w, &err), 0);
	read_back("a.dat");
}

/* Go behind the next place where this is. */
static void go_behind(const char *bytes, size_t size)
{
	const char *found = memmem(file + at, file_size - at, bytes, size);

	assert_non_null(found);
	at = found + size - file;
}

/* Only this CPU has data, and CPU 1 perhaps a place. */
static void expect_cpus(unsigned int nr, unsigned int with_data, bool has_numbers)
{
	unsigned int cpu;
	uint64_t offset;

	for (cpu = 0; cpu < nr; cpu++) {
		if (has_numbers)
			assert_int_equal(take(4), cpu);
		offset = take(8);
		assert_int_equal(take(8) > 0, cpu == with_data);
		if (cpu == with_data)
			assert_in_range(offset, head_size, file_size - 1);
		else
			assert_int_equal(offset, cpu == 1 && with_data == 2 ? head_size : 0);
	}
}

static void expect_option_string(unsigned int id, const char *text)
{
	assert_int_equal(take(2), id);
	assert_int_equal(take(4), strlen(text) + 1);
	want_string(text);
}

/* The counters of the remote's CPUs, and what it says of the machine, if that is known */
static void expect_common_options(bool is_known)
{
	unsigned int i;

	for (i = 0; i < CPUS; i++) {
		assert_int_equal(take(2), 2);
		assert_int_equal(take(4), 256);
		at += 256;
	}
	if (is_known)
		expect_option_string(5, "Linux");
	expect_option_string(9, "hyptrace 1");
}

static void version_6(void **state)
{
	uint64_t table;

	(void)state;
	record(0, &host, true);
	/* the names of tasks have room */
	go_behind(FORMAT, strlen(FORMAT));
	assert_int_equal(take(4), 0);
	assert_int_equal(take(4), 0);
	assert_int_equal(take(8), 8192);
	at += 8192;
	assert_int_equal(take(4), ALL_CPUS);
	want_string("options  ");
	expect_common_options(true);
	assert_int_equal(take(2), 3);
	assert_int_equal(take(4), 8 + 5);
	table = take(8);
	want_string("host");
	assert_int_equal(take(2), 0);
	want_string("flyrecord");
	expect_cpus(ALL_CPUS, 2, false);
	go_behind("\nend\n", 5);
	assert_int_equal(at, table);
	want_string("flyrecord");
	expect_cpus(ALL_CPUS, HOST_CPU, false);
	free(file);
}

static void expect_buffer(const char *name, const char *clock, unsigned int nr, unsigned int cpu)
{
	size_t end, back;

	assert_int_equal(take(2), 3);
	end = take(4);
	end += at;
	back = take(8);
	want_string(name);
	want_string(clock);
	assert_int_equal(take(4), SUBBUF);
	assert_int_equal(take(4), nr);
	expect_cpus(nr, cpu, true);
	assert_int_equal(at, end);
	/* all data is in the section that ends with the file */
	assert_int_equal(back, head_size - 16);
	at = back;
	assert_int_equal(take(2), 3);
	assert_int_equal(take(2), 1);
	assert_int_equal(take(4), 0);
	assert_int_equal(take(8), file_size - head_size);
	at = end;
}

static void version_7(bool has_host, bool is_known)
{
	const unsigned int nr = has_host ? ALL_CPUS : 6;
	const char *clock = is_known ? "boot" : "local";
	unsigned int id;
	size_t end;

	record(HYPTRACE_FILE_ZSTD, has_host ? &host : NULL, is_known);
	go_behind(ZSTD_versionString(), strlen(ZSTD_versionString()) + 1);
	at = take(8);
	assert_int_equal(take(2), 0);
	assert_int_equal(take(2), 0);
	assert_int_equal(take(4), 0);
	end = take(8);
	end += at;
	for (id = 16; id <= 21; id++) {
		assert_int_equal(take(2), id);
		assert_int_equal(take(4), 8);
		take(8);
	}
	assert_int_equal(take(2), 8);
	assert_int_equal(take(4), 4);
	assert_int_equal(take(4), nr);
	expect_common_options(is_known);
	expect_buffer("", clock, nr, 2);
	if (has_host)
		expect_buffer("host", clock, nr, HOST_CPU);
	assert_int_equal(take(2), 0);
	assert_int_equal(take(4), 8);
	assert_int_equal(take(8), 0);
	assert_int_equal(at, end);
	free(file);
}

static void versions_7(void **state)
{
	(void)state;
	version_7(true, true);
	version_7(false, true);
	version_7(false, false);
}

/* Without the host, programs that want a process id get the id of the event. */
static void process_ids(void **state)
{
	static const char pid[] =
		"field:unsigned short common_pid;\toffset:0;\tsize:2;\tsigned:0;\n";

	(void)state;
	record(0, NULL, true);
	go_behind("name: mark\nID: 3\nformat:\n", 25);
	go_behind(pid, strlen(pid));
	free(file);
	record(0, &host, true);
	assert_null(memmem(file, file_size, "common_pid", 10));
	free(file);
}

/* The data of a CPU begins at a multiple of the size of a sub-buffer, whatever is before it. */
static void compressed_sizes(void **state)
{
	const unsigned int subbuf = 32;
	bool had[32] = {};
	struct hyptrace_file_meta meta;
	struct hyptrace_file_writer *w;
	unsigned int i;
	uint64_t first, all;
	char data[128] = "";
	struct stat st;

	(void)state;
	srandom(1);
	/* more and more bytes cannot be compressed */
	for (i = 0; i < sizeof(data); i++) {
		data[i] = random();
		describe(&meta);
		meta.info.subbuf_size = subbuf;
		w = hyptrace_file_writer_new("a.dat", &meta, HYPTRACE_FILE_ZSTD, NULL, &err);
		assert_non_null(w);
		assert_int_equal(hyptrace_file_write(w, 1, data, sizeof(data), &err), 0);
		assert_int_equal(hyptrace_file_write(w, 2, data, sizeof(data), &err), 0);
		hyptrace_file_unwritten(w, 1);
		first = w->parts[0].size;
		assert_int_equal(w->parts[1].size, first);
		all = w->head_size + (first + subbuf - 1) / subbuf * subbuf + first;
		had[first % subbuf] = true;
		assert_int_equal(hyptrace_file_finish(w, &err), 0);
		assert_int_equal(stat("a.dat", &st), 0);
		assert_int_equal(st.st_size, all);
	}
	assert_true(had[0] && had[1] && had[subbuf - 1]);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, enter_folder, leave_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(version_6),
		TEST(versions_7),
		TEST(process_ids),
		TEST(compressed_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
