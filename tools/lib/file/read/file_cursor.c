// SPDX-License-Identifier: GPL-2.0-only
/* Read numbers and texts of the headers. After a cursor's first error, they are 0 and empty. */
#include <byteswap.h>
#include <stdarg.h>
#include <zstd.h>

#include "file.h"

/* Return the bytes that were read, fewer at the end of the file; or a negative errno. */
int64_t hyptrace_file_pread(int fd, void *to, size_t size, uint64_t offset)
{
	size_t done = 0;
	ssize_t n = 1;

	if (offset > INT64_MAX || size > INT64_MAX - offset)
		return 0;
	while (n && done < size) {
		n = TEMP_FAILURE_RETRY(pread(fd, (char *)to + done, size - done, offset + done));
		if (n < 0)
			return -errno;
		done += n;
	}
	return done;
}

void hyptrace_cursor_init(struct file_cursor *c, struct hyptrace_file *f, uint64_t pos,
			  const char *what, struct hyptrace_error *err)
{
	*c = (struct file_cursor) {
		.f = f, .pos = pos, .end = f->size, .what = what, .err = err,
	};
}

int hyptrace_cursor_fail(struct file_cursor *c, const char *why)
{
	if (!c->ret)
		c->ret = hyptrace_error_set(c->err, EBADMSG, "offset %" PRIu64 ": %s: %s", c->pos,
					    c->what, why);
	return c->ret;
}

void hyptrace_cursor_get(struct file_cursor *c, void *to, size_t size)
{
	size_t part = c->pos < c->end ? MIN(size, c->end - c->pos) : 0;
	int64_t n = part;

	if (!c->ret && c->mem)
		memcpy(to, c->mem + c->pos, part);
	else if (!c->ret)
		n = hyptrace_file_pread(c->f->fd, to, part, c->pos);
	if (!c->ret && n < 0)
		c->ret = hyptrace_error_set(c->err, -n, "offset %" PRIu64 ": %m", c->pos);
	if (!c->ret) {
		c->pos += n;
		if ((size_t)n < size)
			hyptrace_cursor_fail(c, (size_t)n < part ? "the file ends here" :
								   "it ends here");
	}
	if (c->ret)
		memset(to, 0, size);
}

void hyptrace_cursor_skip(struct file_cursor *c, uint64_t size)
{
	if (size > c->end - c->pos)
		hyptrace_cursor_fail(c, "a size is larger than the file");
	else if (!c->ret)
		c->pos += size;
}

#define DEFINE_GET(bits)						\
uint##bits##_t hyptrace_cursor_u##bits(struct file_cursor *c)		\
{									\
	uint##bits##_t value;						\
									\
	hyptrace_cursor_get(c, &value, sizeof(value));			\
	return c->f->swap ? bswap_##bits(value) : value;		\
}

DEFINE_GET(16)
DEFINE_GET(32)
DEFINE_GET(64)

/* Read how many things follow. Holes of a sparse file take no disk, but might have very many. */
uint32_t hyptrace_cursor_count(struct file_cursor *c, uint32_t *left)
{
	uint32_t nr = hyptrace_cursor_u32(c);

	if (nr > *left) {
		c->pos -= sizeof(nr);
		hyptrace_cursor_fail(c, "there are too many");
		return 0;
	}
	*left -= nr;
	return nr;
}

void hyptrace_cursor_string(struct file_cursor *c, char *to, size_t size)
{
	size_t len = 0;

	do {
		if (len == size)
			hyptrace_cursor_fail(c, "a name is too long");
		else
			hyptrace_cursor_get(c, to + len, 1);
	} while (!c->ret && to[len++]);
	if (c->ret)
		to[0] = '\0';
}

/* Read @size bytes as a text, for free(). */
char *hyptrace_cursor_text(struct file_cursor *c, uint64_t size, uint64_t max)
{
	char *text;

	if (size > max || size > c->end - c->pos) {
		hyptrace_cursor_fail(c, "a text is too long");
		return NULL;
	}
	text = malloc(size + 1);
	if (!text) {
		c->ret = hyptrace_error_memory(c->err);
		return NULL;
	}
	hyptrace_cursor_get(c, text, size);
	text[size] = '\0';
	return text;
}

/* Keep a part of the structure for the command, as long as there is memory and room for it. */
void hyptrace_file_piece(struct hyptrace_file *f, uint64_t offset, uint64_t size,
			 const char *fmt, ...)
{
	struct hyptrace_file_info *info = &f->meta.info;
	struct hyptrace_file_piece *piece = NULL;
	va_list ap;

	if (info->nr_pieces < FILE_PIECES_MAX)
		piece = hyptrace_list_add(&info->pieces, &info->nr_pieces, sizeof(*piece));
	if (!piece)
		return;
	piece->offset = offset;
	piece->size = size;
	va_start(ap, fmt);
	if (vasprintf(&piece->text, fmt, ap) < 0) {
		free(piece);
		info->pieces[--info->nr_pieces] = NULL;
	}
	va_end(ap);
}

/* Decompress the content of a section, which is the rest of the cursor. */
static void inflate(struct hyptrace_file *f, struct file_cursor *c)
{
	auto_free char *from = NULL;
	uint32_t size = hyptrace_cursor_u32(c), full = hyptrace_cursor_u32(c);
	char *to;

	if (!c->ret && (size > c->end - c->pos || size > FILE_SECTION_MAX ||
			full > FILE_SECTION_MAX))
		hyptrace_cursor_fail(c, "its compressed size is wrong");
	if (!c->ret && strcmp(f->meta.info.compression, "zstd"))
		hyptrace_cursor_fail(c, "its compression is not zstd");
	if (c->ret)
		return;
	from = malloc(size ? size : 1);
	to = malloc(full ? full : 1);
	if (!from || !to)
		c->ret = hyptrace_error_memory(c->err);
	else
		hyptrace_cursor_get(c, from, size);
	if (!c->ret && ZSTD_decompress(to, full, from, size) != full)
		hyptrace_cursor_fail(c, "it cannot be decompressed");
	c->mem = to;
	c->pos = 0;
	c->end = full;
}

/* hyptrace_section_find() has found that the section is in the file. The caller frees @c->mem. */
void hyptrace_section_open(struct hyptrace_file *f, struct file_cursor *c,
			   const struct file_section *section, const char *what,
			   struct hyptrace_error *err)
{
	hyptrace_cursor_init(c, f, section->offset, what, err);
	c->end = section->offset + section->size;
	if (section->compressed)
		inflate(f, c);
}

void hyptrace_section_find(struct hyptrace_file *f, uint64_t offset, uint16_t expected,
			   const char *what, struct file_section *section, struct file_cursor *c)
{
	struct file_cursor at;
	uint16_t id, flags;

	hyptrace_cursor_init(&at, f, offset, what, c->err);
	id = hyptrace_cursor_u16(&at);
	flags = hyptrace_cursor_u16(&at);
	hyptrace_cursor_u32(&at);
	section->size = hyptrace_cursor_u64(&at);
	section->offset = at.pos;
	section->compressed = flags & SECTION_COMPRESSED;
	if (!at.ret && (id != expected || section->size > f->size - at.pos))
		hyptrace_cursor_fail(&at, "its header is wrong");
	if (!c->ret)
		c->ret = at.ret;
	if (!at.ret)
		hyptrace_file_piece(f, offset, at.pos - offset + section->size,
				    "section %u: %s%s", id, what,
				    section->compressed ? ", compressed" : "");
}
