// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers, texts and sections of the headers: just what fits is read, and what does not is an
 * error, after which all else is 0.
 */
#include <zstd.h>

#include "lib/file/read/file.h"
#include "file_case.h"

/* A file with the bytes 1, 2, 3 and so on, and a cursor at its begin */
static struct hyptrace_file f;
static struct file_cursor c;

static void begin(size_t size)
{
	unsigned char bytes[64];
	unsigned int i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = i + 1;
	write_file(path, bytes, size);
	f = (struct hyptrace_file){ .fd = open(path, O_RDONLY), .size = size };
	memset(&err, 0, sizeof(err));
	hyptrace_cursor_init(&c, &f, 0, "the test", &err);
}

static void end(void)
{
	close(f.fd);
}

static void failed(const char *said)
{
	assert_int_equal(c.ret, -EBADMSG);
	assert_int_equal(err.errnum, EBADMSG);
	assert_string_equal(err.text, said);
}

/* No offset is negative for the kernel, nor does a read wrap around. */
static void places(void **state)
{
	char to[8];

	(void)state;
	begin(10);
	assert_int_equal(hyptrace_file_pread(f.fd, to, 8, 2), 8);
	assert_int_equal(hyptrace_file_pread(f.fd, to, 8, 3), 7);
	assert_int_equal(hyptrace_file_pread(f.fd, to, 8, 10), 0);
	assert_int_equal(hyptrace_file_pread(f.fd, to, 8, INT64_MAX - 8), 0);
	assert_int_equal(hyptrace_file_pread(f.fd, to, 8, INT64_MAX), 0);
	assert_int_equal(hyptrace_file_pread(f.fd, to, 8, INT64_MAX + UINT64_C(1)), 0);
	assert_int_equal(hyptrace_file_pread(f.fd, to, 8, UINT64_MAX), 0);
	assert_int_equal(hyptrace_file_pread(-1, to, 8, 2), -EBADF);
	assert_int_equal(hyptrace_file_pread(-1, to, 8, INT64_MAX - 8), -EBADF);
	assert_int_equal(hyptrace_file_pread(-1, to, 8, INT64_MAX - 7), 0);
	assert_int_equal(hyptrace_file_pread(-1, to, 0, 2), 0);
	end();
}

static void numbers(void **state)
{
	(void)state;
	begin(17);
	/* big-endian, then little-endian */
	f.swap = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	assert_int_equal(hyptrace_cursor_u16(&c), 0x0102);
	assert_int_equal(hyptrace_cursor_u32(&c), 0x03040506);
	f.swap = !f.swap;
	assert_int_equal(hyptrace_cursor_u16(&c), 0x0807);
	assert_true(hyptrace_cursor_u64(&c) == UINT64_C(0x100f0e0d0c0b0a09));
	assert_int_equal(c.pos, 16);
	assert_int_equal(c.ret, 0);
	/* one byte is left */
	assert_int_equal(hyptrace_cursor_u16(&c), 0);
	failed("offset 17: the test: it ends here");
	/* the first error stays */
	c.pos = 0;
	assert_int_equal(hyptrace_cursor_u64(&c), 0);
	assert_int_equal(c.pos, 0);
	assert_int_equal(hyptrace_cursor_fail(&c, "another one"), -EBADMSG);
	failed("offset 17: the test: it ends here");
	end();
}

/* The end is that of the file, of a section in it, or of memory. */
static void ends(void **state)
{
	char memory[4] = "abc", to[5];

	(void)state;
	begin(10);
	c.pos = 8;
	hyptrace_cursor_get(&c, to, 2);
	assert_memory_equal(to, "\x09\x0a", 2);
	hyptrace_cursor_get(&c, to, 0);
	assert_int_equal(c.ret, 0);
	hyptrace_cursor_get(&c, to, 1);
	failed("offset 10: the test: it ends here");
	end();
	begin(10);
	c.end = 20;
	memset(to, 'x', sizeof(to));
	c.pos = 7;
	hyptrace_cursor_get(&c, to, 4);
	failed("offset 10: the test: the file ends here");
	assert_memory_equal(to, "\0\0\0\0x", 5);
	end();
	begin(10);
	c.pos = 3;
	c.end = 2;
	hyptrace_cursor_get(&c, to, 1);
	failed("offset 3: the test: it ends here");
	end();
	begin(10);
	c.mem = memory;
	c.end = 3;
	hyptrace_cursor_get(&c, to, 3);
	assert_memory_equal(to, "abc", 3);
	assert_int_equal(c.pos, 3);
	hyptrace_cursor_get(&c, to, 1);
	failed("offset 3: the test: it ends here");
	end();
	begin(10);
	close(f.fd);
	hyptrace_cursor_get(&c, to, 3);
	assert_int_equal(c.ret, -EBADF);
	assert_int_equal(err.errnum, EBADF);
	assert_string_equal(err.text, "offset 0: Bad file descriptor");
	assert_int_equal(c.pos, 0);
}

static void skips(void **state)
{
	(void)state;
	begin(10);
	hyptrace_cursor_skip(&c, 4);
	assert_int_equal(hyptrace_cursor_u16(&c) & 0xff, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ?
			 5 : 6);
	hyptrace_cursor_skip(&c, 4);
	assert_int_equal(c.pos, 10);
	hyptrace_cursor_skip(&c, 0);
	assert_int_equal(c.ret, 0);
	hyptrace_cursor_skip(&c, 1);
	failed("offset 10: the test: a size is larger than the file");
	c.pos = 0;
	hyptrace_cursor_skip(&c, 4);
	assert_int_equal(c.pos, 0);
	end();
}

static void counts(void **state)
{
	uint32_t nr, left;

	(void)state;
	begin(10);
	nr = hyptrace_cursor_u32(&c);
	c.pos = 0;
	left = nr;
	assert_int_equal(hyptrace_cursor_count(&c, &left), nr);
	assert_int_equal(left, 0);
	assert_int_equal(c.pos, 4);
	c.pos = 0;
	left = nr + 7;
	assert_int_equal(hyptrace_cursor_count(&c, &left), nr);
	assert_int_equal(left, 7);
	c.pos = 0;
	left = nr - 1;
	assert_int_equal(hyptrace_cursor_count(&c, &left), 0);
	assert_int_equal(left, nr - 1);
	failed("offset 0: the test: there are too many");
	end();
}

static void texts(void **state)
{
	char memory[] = "ab\0cdef", to[4] = "xxx", *text;

	(void)state;
	begin(10);
	c.mem = memory;
	c.end = 7;
	hyptrace_cursor_string(&c, to, 3);
	assert_memory_equal(to, "ab\0", 4);
	assert_int_equal(c.pos, 3);
	text = hyptrace_cursor_text(&c, 4, 4);
	assert_string_equal(text, "cdef");
	free(text);
	text = hyptrace_cursor_text(&c, 0, 0);
	assert_string_equal(text, "");
	free(text);
	assert_int_equal(c.ret, 0);
	assert_null(hyptrace_cursor_text(&c, 1, 4));
	failed("offset 7: the test: a text is too long");
	hyptrace_cursor_string(&c, to, 4);
	assert_string_equal(to, "");
	end();
	begin(10);
	c.mem = memory;
	c.end = 7;
	assert_null(hyptrace_cursor_text(&c, 4, 3));
	failed("offset 0: the test: a text is too long");
	end();
	begin(10);
	c.mem = memory;
	c.end = 7;
	c.pos = 3;
	strcpy(to, "xxx");
	hyptrace_cursor_string(&c, to, 3);
	failed("offset 6: the test: a name is too long");
	assert_memory_equal(to, "\0de", 4);
	end();
	/* it has no end */
	begin(10);
	c.pos = 8;
	hyptrace_cursor_string(&c, to, 4);
	failed("offset 10: the test: it ends here");
	assert_string_equal(to, "");
	end();
}

/* Of very many parts of a file, only the first ones are kept. */
static void pieces(void **state)
{
	struct hyptrace_file_info *info = &f.meta.info;
	unsigned int i;

	(void)state;
	begin(10);
	for (i = 0; i <= FILE_PIECES_MAX; i++)
		hyptrace_file_piece(&f, i, 2 * i, "piece %u", i);
	assert_int_equal(info->nr_pieces, FILE_PIECES_MAX);
	for (i = 0; i < info->nr_pieces; i++) {
		char said[32];

		snprintf(said, sizeof(said), "piece %u", i);
		assert_string_equal(info->pieces[i]->text, said);
		assert_int_equal(info->pieces[i]->offset, i);
		assert_int_equal(info->pieces[i]->size, 2 * i);
		free(info->pieces[i]->text);
		free(info->pieces[i]);
	}
	free(info->pieces);
	end();
}

/* Find a section at byte 5 of a file that ends @less bytes before the section does. */
static void find(uint16_t id, uint16_t flags, uint64_t size, unsigned int less)
{
	struct {
		uint16_t	id, flags;
		uint32_t	zero;
		uint64_t	size;
	} head = { id, flags, 0, size };
	struct file_section section;
	char bytes[64] = {};

	memcpy(bytes + 5, &head, sizeof(head));
	begin(10);
	write_file(path, bytes, 5 + sizeof(head) + 9);
	f.size = 5 + sizeof(head) + 9 - less;
	hyptrace_section_find(&f, 5, 17, "a section", &section, &c);
	if (!c.ret) {
		assert_int_equal(section.offset, 5 + sizeof(head));
		assert_int_equal(section.size, size);
		assert_int_equal(section.compressed, flags & 1);
		assert_int_equal(f.meta.info.nr_pieces, 1);
		assert_int_equal(f.meta.info.pieces[0]->offset, 5);
		assert_int_equal(f.meta.info.pieces[0]->size, sizeof(head) + size);
		assert_string_equal(f.meta.info.pieces[0]->text, flags & 1 ?
				    "section 17: a section, compressed" : "section 17: a section");
		free(f.meta.info.pieces[0]->text);
		free(f.meta.info.pieces[0]);
	}
	assert_int_equal(f.meta.info.nr_pieces, c.ret ? 0 : 1);
	free(f.meta.info.pieces);
	end();
}

static void found_sections(void **state)
{
	(void)state;
	find(17, 0, 9, 0);
	assert_int_equal(c.ret, 0);
	find(17, 3, 0, 9);
	assert_int_equal(c.ret, 0);
	find(17, 0, 9, 1);
	failed("offset 21: a section: its header is wrong");
	find(17, 0, UINT64_MAX, 0);
	failed("offset 21: a section: its header is wrong");
	find(16, 0, 9, 0);
	failed("offset 21: a section: its header is wrong");
	find(17, 0, 0, 10);
	failed("offset 20: a section: it ends here");
}

/* Decompress a section of which the head says these sizes, and which has @there bytes. */
static void inflated(uint32_t says, uint32_t full, const void *bytes, size_t size, size_t there)
{
	char kind[] = "zstd";
	struct file_section section = { .offset = 3, .size = 8 + there, .compressed = true };
	int fd;

	free(c.mem);
	begin(3);
	f.meta.info.compression = kind;
	fd = open(path, O_WRONLY);
	assert_int_equal(pwrite(fd, &says, 4, 3), 4);
	assert_int_equal(pwrite(fd, &full, 4, 7), 4);
	assert_int_equal(pwrite(fd, bytes, size, 11), size);
	assert_int_equal(ftruncate(fd, 11 + there), 0);
	close(fd);
	hyptrace_section_open(&f, &c, &section, "a section", &err);
	end();
}

static void compressed_sections(void **state)
{
	const size_t max = FILE_SECTION_MAX, bound = ZSTD_compressBound(max);
	char *zeros = calloc(1, max), *packed = malloc(bound), none[32];
	size_t size = ZSTD_compress(packed, bound, zeros, max, 1), n;

	(void)state;
	inflated(size, max, packed, size, size);
	assert_int_equal(c.ret, 0);
	assert_int_equal(c.pos, 0);
	assert_int_equal(c.end, max);
	assert_memory_equal(c.mem, zeros, max);
	/* of the section, all that follows is left out */
	inflated(size, max, packed, size, size + 1);
	assert_int_equal(c.ret, 0);
	inflated(size, max + 1, packed, size, size);
	failed("offset 11: a section: its compressed size is wrong");
	/* it takes no memory */
	assert_null(c.mem);
	inflated(size, max - 1, packed, size, size);
	assert_non_null(strstr(err.text, "it cannot be decompressed"));
	inflated(size + 1, max, packed, size, size);
	failed("offset 11: a section: its compressed size is wrong");
	inflated(max, 8, packed, size, max);
	assert_non_null(strstr(err.text, "it cannot be decompressed"));
	inflated(max + 1, 8, packed, size, max + 1);
	failed("offset 11: a section: its compressed size is wrong");
	inflated(0, 8, packed, 0, 0);
	failed("offset 11: a section: it cannot be decompressed");
	/* nothing, compressed */
	n = ZSTD_compress(none, sizeof(none), "", 0, 1);
	inflated(n, 0, none, n, n);
	assert_int_equal(c.ret, 0);
	assert_int_equal(c.end, 0);
	free(c.mem);
	free(zeros);
	free(packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places), cmocka_unit_test(numbers), cmocka_unit_test(ends),
		cmocka_unit_test(skips), cmocka_unit_test(counts), cmocka_unit_test(texts),
		cmocka_unit_test(pieces), cmocka_unit_test(found_sections),
		cmocka_unit_test(compressed_sections),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
