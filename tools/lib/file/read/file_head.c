// SPDX-License-Identifier: GPL-2.0-only
/*
 * The headers of a trace file: where its formats, its description and its sub-buffers are; and
 * what a file is that has none. hyptrace.dat(5) describes them; file_options.c reads those of
 * version 7.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

#define MAGIC		"\027\010Dtracing"
#define VERSION_MAX	8
#define TAG_SIZE	10

/* The field "packet" of a Perfetto trace, and the bytes of a length at most */
#define PERFETTO_PACKET	0x0a
#define LENGTH_MAX	5

/* Files that are taken for trace files */
static const struct {
	unsigned int	offset;
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

/**
 * hyptrace_file_is_perfetto - is a file a Perfetto trace?
 * @fd:		the file
 *
 * Return: true if another packet, or the end of the file, follows the first packet.
 */
bool hyptrace_file_is_perfetto(int fd)
{
	unsigned char head[1 + LENGTH_MAX] = {}, next;
	uint64_t length = 0;
	unsigned int i = 1;
	int64_t n;

	if (hyptrace_file_pread(fd, head, sizeof(head), 0) < 2 || head[0] != PERFETTO_PACKET)
		return false;
	do {
		length |= (uint64_t)(head[i] & 0x7f) << 7 * (i - 1);
	} while (head[i++] & 0x80 && i < sizeof(head));
	n = hyptrace_file_pread(fd, &next, 1, i + length);
	if (n)
		return n == 1 && next == PERFETTO_PACKET;
	return length && hyptrace_file_pread(fd, &next, 1, i + length - 1) == 1;
}

/* For the file of a CPU of an unfinished recording: return where the main file's name ends. */
static const char *end_of_main(const char *path)
{
	static const char part[] = ".part";
	const char *dot = strrchr(path, '.');
	size_t word = dot ? strcspn(dot, "0123456789") : 0;

	if (!dot || dot - path < (int)strlen(part) ||
	    strncmp(dot - strlen(part), part, strlen(part)) ||
	    (strncmp(dot, ".cpu", word) && strncmp(dot, "." HYPTRACE_FILE_HOST, word)))
		return NULL;
	return dot;
}

/* Say what a file is instead of a trace file. Return -EBADMSG. */
static int refuse(const struct hyptrace_file *f, struct hyptrace_error *err)
{
	const char *end = end_of_main(f->path), *what = NULL;
	char begin[512] = {};
	unsigned int i;

	if (end)
		return hyptrace_error_set(err, EBADMSG, "it has one CPU of an unfinished recording: read \"%.*s\", which finds this file, too",
					  (int)(end - f->path), f->path);
	if (!f->size)
		what = "empty";
	hyptrace_file_pread(f->fd, begin, sizeof(begin), 0);
	for (i = 0; i < sizeof(others) / sizeof(others[0]) && !what; i++)
		if (!memcmp(begin + others[i].offset, others[i].magic, strlen(others[i].magic)))
			what = others[i].what;
	if (!what && hyptrace_file_is_perfetto(f->fd))
		what = "a Perfetto trace: open it in https://ui.perfetto.dev";
	return hyptrace_error_set(err, EBADMSG, "it is not a trace file%s%s", what ? ", but " : "",
				  what ? what : "");
}

static void read_initial(struct hyptrace_file *f, struct file_cursor *c)
{
	char magic[sizeof(MAGIC) - 1], version[VERSION_MAX];
	uint8_t order = 0, long_size;
	uint32_t page;

	hyptrace_cursor_get(c, magic, sizeof(magic));
	if (c->ret || memcmp(magic, MAGIC, sizeof(magic))) {
		c->ret = refuse(f, c->err);
		return;
	}
	hyptrace_cursor_string(c, version, sizeof(version));
	if (!c->ret && strcmp(version, "6") && strcmp(version, "7"))
		c->ret = hyptrace_error_set(c->err, EBADMSG, "it has an unknown version of the file format");
	f->meta.info.version = version[0] - '0';
	hyptrace_cursor_get(c, &order, 1);
	hyptrace_cursor_get(c, &long_size, 1);
	f->meta.info.big_endian = order;
	f->swap = order != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	page = hyptrace_cursor_u32(c);
	hyptrace_head_subbuf_size(f, c, page);
	hyptrace_file_piece(f, 0, c->pos,
			    "trace file, version %s, %s-endian, sub-buffers of %u bytes", version,
			    order ? "big" : "little", f->meta.info.subbuf_size);
}

static void skip_section(struct hyptrace_file *f, struct file_cursor *c,
			 enum file_section_kind kind)
{
	uint32_t most = FILE_COUNT_MAX, left = FILE_COUNT_MAX, systems;
	char name[FILE_NAME_MAX];
	uint64_t from = c->pos;

	c->what = hyptrace_section_names[kind];
	switch (kind) {
	case FILE_SECTION_FTRACE:
		hyptrace_cursor_skip_formats(c, hyptrace_cursor_count(c, &left));
		break;
	case FILE_SECTION_EVENTS:
		for (systems = hyptrace_cursor_count(c, &most); systems && !c->ret; systems--) {
			hyptrace_cursor_string(c, name, sizeof(name));
			hyptrace_cursor_skip_formats(c, hyptrace_cursor_count(c, &left));
		}
		break;
	case FILE_SECTION_CMDLINES:
		/* only their size has 64 bits */
		hyptrace_cursor_skip(c, hyptrace_cursor_u64(c));
		break;
	default:
		hyptrace_cursor_skip(c, hyptrace_cursor_u32(c));
	}
	if (c->ret)
		return;
	f->sections[kind].offset = from;
	f->sections[kind].size = c->pos - from;
	hyptrace_file_piece(f, from, c->pos - from, "%s", c->what);
}

static void read_table(struct hyptrace_file *f, struct file_cursor *c, uint32_t nr)
{
	uint64_t from = c->pos, offset, size;
	uint32_t cpu;

	c->what = "the table of the CPUs";
	for (cpu = 0; cpu < nr && !c->ret; cpu++) {
		offset = hyptrace_cursor_u64(c);
		size = hyptrace_cursor_u64(c);
		hyptrace_head_place(f, c, cpu, offset, size);
	}
	if (!c->ret)
		hyptrace_file_piece(f, from, c->pos - from, "%s: %" PRIu32, c->what, nr);
}

static void read_data_tag(struct file_cursor *c)
{
	char tag[TAG_SIZE];

	c->what = "the kind of its data";
	hyptrace_cursor_get(c, tag, sizeof(tag));
	if (!c->ret && memcmp(tag, "flyrecord", TAG_SIZE))
		hyptrace_cursor_fail(c, "it is unknown");
}

/*
 * Version 6: if the trace buffer has no events, read the first other one. In a file with a
 * description that is the one of the host.
 */
static void read_instance(struct hyptrace_file *f, struct file_cursor *c)
{
	const uint32_t nr_cpus = f->nr_places;

	if (!f->instance || c->ret || (f->is_ours ? !f->is_host : hyptrace_head_has_data(f)))
		return;
	c->pos = f->instance;
	f->nr_places = 0;
	read_data_tag(c);
	read_table(f, c, nr_cpus);
}

/* Read the headers of version 6, up to the table of the CPUs. */
static void read_version_6(struct hyptrace_file *f, struct file_cursor *c)
{
	uint32_t nr_cpus, left = UINT32_MAX;
	enum file_section_kind kind;
	char tag[TAG_SIZE];

	hyptrace_head_page(f, c);
	for (kind = 0; kind < NR_FILE_SECTIONS; kind++)
		skip_section(f, c, kind);
	c->what = "the number of CPUs";
	nr_cpus = hyptrace_cursor_u32(c);
	if (nr_cpus > FILE_CPU_LIMIT)
		hyptrace_cursor_fail(c, "it is too large");
	hyptrace_cursor_get(c, tag, sizeof(tag));
	if (!c->ret && !memcmp(tag, "options  ", TAG_SIZE))
		hyptrace_head_options(f, c, &left);
	else
		c->pos -= sizeof(tag);
	read_data_tag(c);
	read_table(f, c, nr_cpus);
}

/* Read the description, if the file has one: up to the line "end". */
static char *read_text(struct hyptrace_file *f, struct file_cursor *c, size_t *len)
{
	static const char begin[] = HYPTRACE_FILE_META_BEGIN, end[] = "\nend\n";
	const size_t word = strchr(begin, ' ') - begin + 1;
	char *text = NULL, *longer, *found;
	size_t size = sizeof(c->buf), had = 0;
	int64_t n;

	for (; size <= FILE_META_MAX; size *= 2, had = *len) {
		longer = realloc(text, size);
		if (!longer) {
			c->ret = hyptrace_error_memory(c->err);
			break;
		}
		text = longer;
		n = hyptrace_file_pread(f->fd, text + had, size - had, c->pos + had);
		if (n < 0) {
			c->ret = hyptrace_error_set(c->err, -n, "%s", strerror(-n));
			break;
		}
		*len = had + n;
		if (*len < word || memcmp(text, begin, word))
			break;
		/* the end may be in both parts */
		had = had < strlen(end) ? 0 : had - strlen(end);
		found = memmem(text + had, *len - had, end, strlen(end));
		if (found) {
			*len = found + strlen(end) - text;
			return text;
		}
		if (*len < size) {
			hyptrace_cursor_fail(c, "the end is missing");
			break;
		}
	}
	if (!c->ret && size > FILE_META_MAX)
		hyptrace_cursor_fail(c, "it is too long");
	free(text);
	return NULL;
}

static void read_meta(struct hyptrace_file *f, struct file_cursor *c)
{
	size_t len = 0;
	char *text;

	c->what = "its description";
	text = c->ret ? NULL : read_text(f, c, &len);
	if (!text)
		return;
	f->is_ours = true;
	c->ret = hyptrace_file_meta_parse(text, len, &f->meta, c->err);
	if (!c->ret)
		hyptrace_file_piece(f, c->pos, len, "description of the remote and of the recording");
	f->header_end = c->pos + len;
	free(text);
}

int hyptrace_file_read_headers(struct hyptrace_file *f, struct hyptrace_error *err)
{
	struct file_cursor c;
	uint64_t options;

	hyptrace_cursor_init(&c, f, 0, err);
	read_initial(f, &c);
	if (c.ret)
		return c.ret;
	f->long_size = sizeof(uint64_t);
	if (f->meta.info.version == 6) {
		read_version_6(f, &c);
		f->header_end = c.pos;
		read_meta(f, &c);
		read_instance(f, &c);
		return c.ret;
	}
	hyptrace_head_compression(f, &c, &options);
	read_meta(f, &c);
	hyptrace_head_sections(f, &c, options);
	return c.ret;
}
