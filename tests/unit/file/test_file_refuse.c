// SPDX-License-Identifier: GPL-2.0-only
/* Files that are no trace files, and what a recording has left: what is said of them. */
#include "lib/internal.h"
#include "file_case.h"

static void put(const char *name, const void *data, size_t size)
{
	char file[128];

	snprintf(file, sizeof(file), "%s/%s", folder, name);
	write_file(file, data, size);
}

static void says(const char *name, int errnum, const char *said)
{
	char file[128];

	snprintf(file, sizeof(file), "%s/%s", folder, name);
	memset(&err, 0, sizeof(err));
	assert_null(hyptrace_file_open(file, &err));
	assert_int_equal(err.errnum, errnum);
	if (strcmp(err.text, said))
		fail_msg("%s: \"%s\" instead of \"%s\"", name, err.text, said);
}

static void other_formats(void **state)
{
	static const struct {
		size_t		offset;
		const char	*magic;
		const char	*what;
	} others[] = {
		{ 0, "\177ELF", "an ELF file" },
		{ 0, "PERFILE2", "a file of perf: use \"perf script\"" },
		{ 0, "\x1f\x8b", "a file of gzip: decompress it first" },
		{ 0, "\x28\xb5\x2f\xfd", "a file of zstd: decompress it first" },
		{ 0, "\xc1\x1f\xfc\xc1", "a stream of CTF: use \"babeltrace2\"" },
		{ 257, "ustar", "a TAR" },
	};
	char data[1024], said[256];
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		memset(data, 0, sizeof(data));
		memcpy(data + others[i].offset, others[i].magic, strlen(others[i].magic));
		put("t.dat", data, sizeof(data));
		snprintf(said, sizeof(said), "it is not a trace file, but %s", others[i].what);
		says("t.dat", EBADMSG, said);
		/* all of it */
		data[others[i].offset + strlen(others[i].magic) - 1]++;
		put("t.dat", data, sizeof(data));
		says("t.dat", EBADMSG, "it is not a trace file");
	}
	put("t.dat", "", 0);
	says("t.dat", EBADMSG, "it is not a trace file, but empty");
	put("t.dat", "x", 1);
	says("t.dat", EBADMSG, "it is not a trace file");
	put("t.dat", "\x17\x08\x44tracin", 9);
	says("t.dat", EBADMSG, "it is not a trace file");
	put("t.dat", "\x17\x08\x44trading", 10);
	says("t.dat", EBADMSG, "it is not a trace file");
}

/* A packet of @length bytes, and @more behind it */
static void perfetto(bool is_one, size_t length, const char *more, size_t size)
{
	static char data[100000];
	size_t at = 0, left = length;
	char *to = data;

	*to++ = 0x0a;
	for (; left > 0x7f; left >>= 7)
		*to++ = 0x80 | (left & 0x7f);
	*to++ = left;
	at = to - data;
	memset(to, 1, length);
	memcpy(to + length, more, size);
	put("t.dat", data, at + length + size);
	says("t.dat", EBADMSG, is_one ?
	     "it is not a trace file, but a Perfetto trace: open it in https://ui.perfetto.dev" :
	     "it is not a trace file");
}

static void perfetto_traces(void **state)
{
	static const size_t lengths[] = { 1, 2, 0x7f, 0x80, 300, 0x3fff, 0x4000, 90000 };
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		perfetto(true, lengths[i], "", 0);
		perfetto(true, lengths[i], "\x0a", 1);
		perfetto(true, lengths[i], "\x0a\1x", 3);
		perfetto(false, lengths[i], "\x0b", 1);
	}
	perfetto(false, 0, "", 0);
	perfetto(true, 0, "\x0a", 1);
	/* a length has five bytes at most */
	put("t.dat", "\x0a\x80\x80\x80\x80\x80\x0ax", 8);
	says("t.dat", EBADMSG, "it is not a trace file, but a Perfetto trace: open it in https://ui.perfetto.dev");
	put("t.dat", "\x0a\x80\x80\x80\x80\x80x\x0a", 8);
	says("t.dat", EBADMSG, "it is not a trace file");
	/* it is cut off in its first packet, or has another first byte */
	put("t.dat", "\x0a\5abcd", 6);
	says("t.dat", EBADMSG, "it is not a trace file");
	put("t.dat", "\x0b\4abcd", 6);
	says("t.dat", EBADMSG, "it is not a trace file");
	put("t.dat", "\x0a", 1);
	says("t.dat", EBADMSG, "it is not a trace file");
}

/* A CPU's part is read by the main file; other names are no such parts. */
static void names_of_parts(void **state)
{
	static const char *const parts[] = { "a.part.cpu7", "a.part.host12", "a.part.part.cpu0" };
	static const char *const others[] = {
		"a.cpu7", "part.cpu7", "apart.cpu7", "a.parts.cpu7", "a.part.cpux", "a.part.hos1",
		"a.part.1", "a.part", "a",
	};
	char said[512], file[256];
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		put(parts[i], "xxxxxxxxxxxx", 12);
		snprintf(file, sizeof(file), "%s/%s", folder, parts[i]);
		snprintf(said, sizeof(said), "it has one CPU of an unfinished recording: read \"%.*s\", which finds this file, too",
			 (int)(strrchr(file, '.') - file), file);
		says(parts[i], EBADMSG, said);
	}
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		put(others[i], "xxxxxxxxxxxx", 12);
		says(others[i], EBADMSG, "it is not a trace file");
	}
	/* the shortest name */
	assert_int_equal(chdir(folder), 0);
	write_file(".part.cpu1", "xxxxxxxxxxxx", 12);
	assert_null(hyptrace_file_open(".part.cpu1", &err));
	assert_string_equal(err.text, "it has one CPU of an unfinished recording: read \".part\", which finds this file, too");
}

static void what_is_missing(void **state)
{
	char said[512];

	(void)state;
	says("none.dat", ENOENT, "No such file or directory");
	put("none.dat.part", "x", 1);
	snprintf(said, sizeof(said), "No such file or directory, but the recording has left \"%s/none.dat.part\": read that",
		 folder);
	says("none.dat", ENOENT, said);
	/* a pipe has no end to begin with; but a file may have that name */
	assert_int_equal(chdir(folder), 0);
	assert_null(hyptrace_file_open("-", &err));
	assert_int_equal(err.errnum, EINVAL);
	assert_string_equal(err.text, "a pipe cannot be read, as files are read from their end, too: write it to a file first");
	put("-", "x", 1);
	assert_null(hyptrace_file_open("-", &err));
	assert_string_equal(err.text, "it is not a trace file");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_formats),
		cmocka_unit_test(perfetto_traces),
		cmocka_unit_test(names_of_parts),
		cmocka_unit_test(what_is_missing),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
