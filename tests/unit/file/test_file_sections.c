// SPDX-License-Identifier: GPL-2.0-only
/*
 * The headers of version 7: sections, options and a description of any size, each part that is
 * missing, wrong or too large, and what is said of it.
 */
#include <zstd.h>

#include "file_sections.h"

/* The formats of a system that has one event; @says: bytes of the event's format */
static size_t make_formats(char *to, uint64_t says)
{
	const uint32_t one = 1;
	char *at = to;

	memcpy(at, &one, 4);
	strcpy(at + 4, "test");
	memcpy(at + 9, &one, 4);
	memcpy(at + 13, &says, 8);
	strcpy(at + 21, TICK);
	return 21 + strlen(TICK);
}

static void formats(void **state)
{
	const size_t len = strlen(TICK);
	struct hyptrace_file *file;
	char content[1024];
	size_t size, i;

	(void)state;
	for (i = 0; i < 2; i++) {
		begin("none", "");
		size = make_formats(content, len + i);
		pointer(OPTION_EVENT_FORMATS, section(OPTION_EVENT_FORMATS, content, size, false));
		end();
		if (i)
			break;
		file = good();
		assert_int_equal(hyptrace_file_info(file)->nr_events, 1);
		assert_string_equal(hyptrace_file_info(file)->events[0]->name, "tick");
		hyptrace_file_close(file);
	}
	bad("formats of events: a text is too long");
	/* a long one is skipped, also if it is not there */
	for (i = 0; i < 2; i++) {
		static char large[(64 << 10) + 1024];

		begin("none", "");
		make_formats(large, (64 << 10) + 1);
		size = 21 + (64 << 10) + !i;
		pointer(OPTION_EVENT_FORMATS, section(OPTION_EVENT_FORMATS, large, size, false));
		end();
		if (i)
			break;
		file = good();
		assert_int_equal(hyptrace_file_info(file)->nr_events, 0);
		hyptrace_file_close(file);
	}
	bad("formats of events: a size is larger than the file");
	/* without them, no event is known */
	begin("none", "");
	end();
	file = good();
	assert_int_equal(hyptrace_file_info(file)->nr_events, 0);
	hyptrace_file_close(file);
}

/* What is only needed to print events may be damaged. */
static void tasks(void **state)
{
	static const uint64_t sizes[] = { 100, UINT64_MAX - 1, UINT64_MAX };
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		begin("none", "");
		pointer(OPTION_CMDLINES,
			section(OPTION_CMDLINES, (const char *)&sizes[i], 8, false));
		end();
		hyptrace_file_close(good());
	}
}

/* A section with formats: @more: how many more bytes it says to have, compressed and not */
static void compressed(const char *compression, uint32_t more, uint32_t more_full)
{
	char content[1024], packed[1024];
	uint32_t full = make_formats(content, strlen(TICK)), size;

	size = ZSTD_compress(packed + 8, sizeof(packed) - 8, content, full, 1);
	full += more_full;
	memcpy(packed + 4, &full, 4);
	begin(compression, "");
	size += more;
	memcpy(packed, &size, 4);
	pointer(OPTION_EVENT_FORMATS,
		section(OPTION_EVENT_FORMATS, packed, 8 + size - more, true));
	end();
}

static void compressions(void **state)
{
	struct hyptrace_file *file;

	(void)state;
	compressed("zstd", 0, 0);
	file = good();
	assert_int_equal(hyptrace_file_info(file)->nr_events, 1);
	hyptrace_file_close(file);
	compressed("zstd", 1, 0);
	bad("formats of events: its compressed size is wrong");
	compressed("zstd", 0, 24 << 20);
	bad("formats of events: its compressed size is wrong");
	compressed("zstd", 0, 1);
	bad("formats of events: it cannot be decompressed");
	compressed("zlib", 0, 0);
	bad("formats of events: its compression is not zstd");
}

/* A file has one format of a page; programs that append options may repeat the option. */
static void second_page(void **state)
{
	static const char page[] = "header_page\0\0\0\0\0\0\0\0\0header_event\0\0\0\0\0\0\0\0";
	uint64_t at;
	bool first;

	(void)state;
	for (first = true;; first = false) {
		begin("none", "");
		at = section(OPTION_HEADER_INFO, page, sizeof(page), false);
		if (first)
			pointer(OPTION_HEADER_INFO, at);
		pointer(OPTION_HEADER_INFO, section(OPTION_HEADER_INFO, "other_page", 11, false));
		end();
		if (!first)
			break;
		hyptrace_file_close(good());
	}
	bad("the format of a page: a header is missing");
}

/* The last option of a section, or what says that it is the last one, does not fit. */
static void ends_of_options(void **state)
{
	uint64_t at;

	(void)state;
	begin("none", "");
	option(99, "unknown", 7, 8);
	put_options();
	bad("options: a size is larger than the file");
	begin("none", "");
	option(99, "unknown", 7, 7);
	put_options();
	bad("options: it ends here");
	begin("none", "");
	at = section(OPTION_PRINTK, "\0\0\0", 4, false);
	option(OPTION_PRINTK, &at, 8, 9);
	put_options();
	bad("options: a size is larger than the file");
	begin("none", "");
	at = section(OPTION_PRINTK, "\0\0\0", 4, false);
	pointer(OPTION_PRINTK, at);
	put_options();
	bad("options: it ends here");
}

/* All options have 24 MiB at most: of two sections, each with a long option and the end of them */
static void long_options(void **state)
{
	static char content[(12 << 20) + 1];
	unsigned int extra, i;

	(void)state;
	for (extra = 0; extra < 2; extra++) {
		begin("none", "");
		for (i = 0; i < 2; i++) {
			size_t size = (12 << 20) + (i ? extra : 0);
			uint64_t at = ftell(out), next = i ? 0 : at + 16 + size;
			const uint32_t says = size - 6 - 14;
			const uint16_t id = 99;

			memset(content, 0, sizeof(content));
			memcpy(content, &id, 2);
			memcpy(content + 2, &says, 4);
			memcpy(content + size - 8, &next, 8);
			section(OPTION_DONE, content, size, false);
			if (i)
				continue;
			fseek(out, options_at, SEEK_SET);
			put(at, 8);
			fseek(out, 0, SEEK_END);
		}
		fclose(out);
		if (extra)
			bad("options: they are too long");
		else
			hyptrace_file_close(good());
	}
}

/* Trace buffers, each with the same two CPUs; @far: how far behind its place one seems to be */
static void with_buffers(unsigned int nr_buffers, uint64_t far, uint32_t first, uint32_t second)
{
	const uint32_t subbuf = 1024, nr = 2;
	char buffer[128] = {};
	uint64_t data;

	begin("none", "");
	data = section(OPTION_BUFFER, "", 0, false) + far;
	memcpy(buffer, &data, 8);
	strcpy(buffer + 9, "mono");
	memcpy(buffer + 14, &subbuf, 4);
	memcpy(buffer + 18, &nr, 4);
	memcpy(buffer + 22, &first, 4);
	memcpy(buffer + 42, &second, 4);
	while (nr_buffers--)
		option(OPTION_BUFFER, buffer, 62, 62);
	end();
}

static void with_cpus(uint32_t first, uint32_t second)
{
	with_buffers(1, 0, first, second);
}

static void cpus(void **state)
{
	const struct hyptrace_file_info *info;
	struct hyptrace_file *file;

	(void)state;
	with_cpus(3, 65535);
	file = good();
	info = hyptrace_file_info(file);
	assert_int_equal(info->nr_cpus, 2);
	assert_int_equal(info->cpus[0]->id, 3);
	assert_int_equal(info->cpus[1]->id, 65535);
	assert_string_equal(info->clock, "mono");
	hyptrace_file_close(file);
	with_cpus(3, 65536);
	bad("options: the number of a CPU is wrong");
	with_cpus(65536, 65537);
	bad("options: the number of a CPU is wrong");
	with_cpus(3, 3);
	bad("options: the number of a CPU is wrong");
	with_cpus(3, 2);
	bad("options: the number of a CPU is wrong");
	/* the first buffer with events is read, else the last one */
	with_buffers(2, 0, 3, 65535);
	file = good();
	assert_int_equal(hyptrace_file_info(file)->nr_cpus, 2);
	hyptrace_file_close(file);
	with_buffers(1, 1 << 20, 3, 4);
	bad("the section of a trace buffer: it ends here");
}

/* Two trace buffers with a CPU each: the first one that has sub-buffers is read. */
static void choice_of_buffers(void **state)
{
	const struct hyptrace_file_info *info;
	const uint32_t subbuf = 1024, one = 1;
	struct hyptrace_file *file;
	uint64_t data, size;
	unsigned int sizes, i;
	uint32_t cpu;

	(void)state;
	for (sizes = 0; sizes < 4; sizes++) {
		begin("none", "");
		data = section(OPTION_BUFFER, "", 0, false);
		for (i = 0; i < 2; i++) {
			char buffer[48] = {};

			cpu = 3 + i;
			size = sizes & 1 << i ? 1024 : 0;
			memcpy(buffer, &data, 8);
			/* neither a name nor a clock */
			memcpy(buffer + 10, &subbuf, 4);
			memcpy(buffer + 14, &one, 4);
			memcpy(buffer + 18, &cpu, 4);
			memcpy(buffer + 22, &data, 8);
			memcpy(buffer + 30, &size, 8);
			option(OPTION_BUFFER, buffer, 38, 38);
		}
		end();
		file = good();
		info = hyptrace_file_info(file);
		assert_int_equal(info->nr_cpus, 1);
		assert_int_equal(info->cpus[0]->id, sizes & 1 ? 3 : 4);
		assert_null(info->clock);
		hyptrace_file_close(file);
	}
}

/* What an option has must be inside it. */
static void short_options(void **state)
{
	const uint32_t subbuf = 1024, none = 0;
	struct hyptrace_file *file;
	char buffer[32] = {};
	uint64_t at;
	int says;

	(void)state;
	for (says = 17; says <= 19; says++) {
		begin("none", "");
		at = section(OPTION_BUFFER, "", 0, false);
		memcpy(buffer, &at, 8);
		memcpy(buffer + 10, &subbuf, 4);
		memcpy(buffer + 14, &none, 4);
		option(OPTION_BUFFER, buffer, says < 18 ? 18 : says, says);
		end();
		if (says < 18)
			bad("options: an option is too short");
		else
			hyptrace_file_close(good());
	}
	/* these are no pointers to sections: their bytes are skipped, and the next one is read */
	begin("none", "");
	option(OPTION_HEADER_INFO - 1, "12345678", 8, 8);
	option(NR_FILE_SECTIONS, "12345678", 8, 8);
	option(OPTION_PRINTK, "1234567", 7, 7);
	option(OPTION_CLOCK, "mono", 4, 4);
	end();
	file = good();
	assert_string_equal(hyptrace_file_info(file)->clock, "mono");
	hyptrace_file_close(file);
	/* bytes behind the pointer are skipped, too */
	begin("none", "");
	at = section(OPTION_PRINTK, "\0\0\0", 4, false);
	memcpy(buffer, &at, 8);
	option(OPTION_PRINTK, buffer, 13, 13);
	option(OPTION_CLOCK, "mono", 4, 4);
	end();
	file = good();
	assert_string_equal(hyptrace_file_info(file)->clock, "mono");
	hyptrace_file_close(file);
}

/* Of several errors the first one is told. */
static void first_errors(void **state)
{
	static const uint16_t ids[] = { OPTION_HEADER_INFO, OPTION_EVENT_FORMATS };
	const uint32_t subbuf = 1024;
	char buffer[300] = {}, said[128];
	unsigned int i;
	uint64_t at;

	(void)state;
	/* a name that is too long, of a section that is there, or of one behind the file */
	for (i = 0; i < 2; i++) {
		begin("none", "");
		at = i ? 1ULL << 40 : section(OPTION_BUFFER, "", 0, false);
		memcpy(buffer, &at, 8);
		memset(buffer + 8, 'x', 256);
		memcpy(buffer + 8 + 256 + 1, &subbuf, 4);
		option(OPTION_BUFFER, buffer, 280, 280);
		end();
		bad("options: a name is too long");
	}
	/* a pointer that is cut off */
	for (i = 0; i < 2; i++) {
		begin("none", "");
		option(ids[i], "1234567", 7, 8);
		put_options();
		bad("options: it ends here");
	}
	/* what is no section of options need not have any */
	begin("none", "");
	at = section(OPTION_CLOCK, "", 0, false);
	fseek(out, options_at, SEEK_SET);
	put(at, 8);
	fclose(out);
	bad("options: its header is wrong");
	/* the next options are these, or begin inside their header */
	for (i = 0; i < 2; i++) {
		begin("none", "");
		at = ftell(out) + (i ? 15 : 0);
		pointer(OPTION_DONE, at);
		put_options();
		snprintf(said, sizeof(said), "offset %u: options: they are before the options that name them",
			 (unsigned int)at);
		bad(said);
	}
	/* the begin of a file */
	begin("none", "");
	fclose(out);
	assert_int_equal(truncate(path, options_at + 7), 0);
	bad("the compression: it ends here");
}

/* There may be so many options, of all sections together; the one that ends them does not count. */
static void many_options(void **state)
{
	static char content[6 * (FILE_COUNT_MAX + 1) + 14];
	const uint16_t id = 99;
	uint64_t at, next;
	unsigned int more, i;
	size_t size;

	(void)state;
	for (more = 0; more < 2; more++) {
		begin("none", "");
		memset(content, 0, sizeof(content));
		for (i = 0; i < FILE_COUNT_MAX + more; i++)
			memcpy(content + 6 * i, &id, 2);
		at = ftell(out);
		/* the second section has the last one */
		size = 6 * (i - 1) + 14;
		next = at + 16 + size;
		memset(content + size - 14, 0, 6);
		memcpy(content + size - 8, &next, 8);
		section(OPTION_DONE, content, size, false);
		memset(content, 0, 20);
		memcpy(content, &id, 2);
		section(OPTION_DONE, content, 20, false);
		fseek(out, options_at, SEEK_SET);
		put(at, 8);
		fclose(out);
		if (more)
			bad("options: there are too many");
		else
			hyptrace_file_close(good());
	}
}

static char command[4 << 20];

/* A file whose description has so many bytes, most of them of a command */
static void described(size_t size)
{
	struct hyptrace_file_meta meta = {
		.info.remote = "test", .info.command = command, .state = FILE_COMPLETE,
	};
	size_t len;
	char *text;

	memset(command, 0, sizeof(command));
	free(hyptrace_file_meta_text(&meta, &len));
	memset(command, 'x', size - len);
	text = hyptrace_file_meta_text(&meta, &len);
	assert_int_equal(len, size);
	assert_string_equal(text + size - 5, "\nend\n");
	begin("none", text);
	end();
	free(text);
}

/* It is read in parts of 64 KiB; its end may be in two of them. */
static void descriptions(void **state)
{
	const struct hyptrace_file_info *info;
	struct hyptrace_file *file;
	struct stat st;
	size_t size;

	(void)state;
	for (size = FILE_READ_SIZE - 2; size <= FILE_READ_SIZE + 6; size++) {
		described(size);
		file = good();
		info = hyptrace_file_info(file);
		assert_string_equal(info->command, command);
		assert_string_equal(info->pieces[2]->text,
				    "description of the remote and of the recording");
		assert_int_equal(info->pieces[2]->size, size);
		hyptrace_file_close(file);
	}
	described(FILE_META_MAX);
	hyptrace_file_close(good());
	described(FILE_META_MAX + 1);
	bad("its description: it is too long");
	begin("none", "hyptrace 2\nend\n");
	end();
	bad("it has no description that this version can read");
	described(FILE_META_MAX);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(truncate(path, 100000), 0);
	bad("its description: the end is missing");
	assert_int_equal(truncate(path, 1000), 0);
	bad("its description: the end is missing");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats), cmocka_unit_test(tasks), cmocka_unit_test(compressions),
		cmocka_unit_test(second_page), cmocka_unit_test(ends_of_options),
		cmocka_unit_test(long_options), cmocka_unit_test(cpus),
		cmocka_unit_test(descriptions), cmocka_unit_test(choice_of_buffers),
		cmocka_unit_test(short_options), cmocka_unit_test(many_options),
		cmocka_unit_test(first_errors),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
