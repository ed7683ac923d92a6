/* SPDX-License-Identifier: GPL-2.0-only */
/* Trace files of version 7, section by section, and what is said of them. */
#ifndef FILE_SECTIONS_H
#define FILE_SECTIONS_H

#include "lib/file/read/file.h"
#include "file_case.h"

#define TICK "name: tick\nID: 7\nformat:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n" \
	"\tfield:int nr;\toffset:4;\tsize:4;\tsigned:1;\n\nprint fmt: \"nr=%d\", REC->nr\n"

/* The file; where it has the offset of the options; and options that are not in it so far */
static FILE *out;
static long options_at;
static char options[1024];
static size_t options_size;

static inline void put(uint64_t value, size_t size)
{
	const uint16_t u16 = value;
	const uint32_t u32 = value;

	fwrite(size == 8 ? (void *)&value : size == 4 ? (void *)&u32 : (void *)&u16, size, 1, out);
}

static inline void begin(const char *compression, const char *description)
{
	out = fopen(path, "w");
	assert_non_null(out);
	fwrite("\x17\x08\x44tracing7", 12, 1, out);
	fputc(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, out);
	fputc(8, out);
	put(1024, 4);
	fwrite(compression, strlen(compression) + 1, 1, out);
	fputc(0, out);
	options_at = ftell(out);
	put(0, 8);
	fputs(description, out);
	options_size = 0;
}

/* Add a section. Return its offset. */
static inline uint64_t section(uint16_t id, const char *content, size_t size, bool compressed)
{
	uint64_t at = ftell(out);

	put(id, 2);
	put(compressed, 2);
	put(0, 4);
	put(size, 8);
	fwrite(content, size, 1, out);
	return at;
}

/* The options have one more, which says that it has so many bytes. */
static inline void option(uint16_t id, const void *data, size_t size, uint32_t says)
{
	char *to = options + options_size;

	memcpy(to, &id, 2);
	memcpy(to + 2, &says, 4);
	memcpy(to + 6, data, size);
	options_size += 6 + size;
}

static inline void pointer(uint16_t id, uint64_t at)
{
	option(id, &at, 8, 8);
}

/* Add the section of the options, which ends the file. */
static inline void put_options(void)
{
	uint64_t at = section(OPTION_DONE, options, options_size, false);

	fseek(out, options_at, SEEK_SET);
	put(at, 8);
	fclose(out);
}

/* No options follow these. */
static inline void end(void)
{
	pointer(OPTION_DONE, 0);
	put_options();
}

static inline struct hyptrace_file *good(void)
{
	struct hyptrace_file *file = hyptrace_file_open(path, &err);

	if (!file)
		fail_msg("%s", err.text);
	return file;
}

static inline void bad(const char *said)
{
	assert_null(hyptrace_file_open(path, &err));
	assert_int_equal(err.errnum, EBADMSG);
	if (!strstr(err.text, said))
		fail_msg("\"%s\" is not in: %s", said, err.text);
}

#endif /* FILE_SECTIONS_H */
