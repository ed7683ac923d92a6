// SPDX-License-Identifier: GPL-2.0-only
/*
 * The options of a trace file, the sections of version 7, and what both versions have. For
 * file_head.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "file.h"

/* Bytes of a text in an option at most */
#define TEXT_MAX		4096

const char *const hyptrace_section_names[NR_FILE_SECTIONS] = {
	[FILE_SECTION_FTRACE]	= "formats of ftrace",
	[FILE_SECTION_EVENTS]	= "formats of events",
	[FILE_SECTION_KALLSYMS]	= "names of the kernel's functions",
	[FILE_SECTION_PRINTK]	= "formats of trace_printk()",
	[FILE_SECTION_CMDLINES]	= "names of processes",
};

/* Set the size of a sub-buffer. */
void hyptrace_head_subbuf_size(struct hyptrace_file *f, struct file_cursor *c, uint32_t size)
{
	if (size < FILE_SUBBUF_MIN || size > FILE_SUBBUF_MAX || size & (size - 1))
		hyptrace_cursor_fail(c, "the size of a sub-buffer is wrong");
	else
		f->meta.info.subbuf_size = size;
}

/* Get the size of the commit word from the kernel's description of a page. */
static void read_commit_size(struct hyptrace_file *f, const char *text)
{
	const char *at = strstr(text, " commit;");
	unsigned int size;

	f->long_size = sizeof(uint64_t);
	at = at ? strstr(at, "size:") : NULL;
	if (at && sscanf(at, "size:%u", &size) == 1 && size == sizeof(uint32_t))
		f->long_size = size;
}

/* Read "NAME\0", a size, and so many bytes. The start of the bytes goes to @text. */
static void read_named(struct hyptrace_file *f, struct file_cursor *c, const char *expected,
		       char *text, size_t room)
{
	uint64_t from = c->pos, size, end;
	char name[FILE_NAME_MAX];

	hyptrace_cursor_string(c, name, sizeof(name));
	if (!c->ret && strcmp(name, expected))
		hyptrace_cursor_fail(c, "a header is missing");
	size = hyptrace_cursor_u64(c);
	end = c->pos + size;
	if (size > c->end || end > c->end)
		hyptrace_cursor_fail(c, "a size is larger than the file");
	if (text) {
		room = size < room ? size : room - 1;
		hyptrace_cursor_get(c, text, room);
		text[room] = '\0';
	}
	if (c->ret)
		return;
	c->pos = end;
	hyptrace_file_piece(f, from, end - from, "%s", expected);
}

/* Read the kernel's description of a page and of an event. */
void hyptrace_head_page(struct hyptrace_file *f, struct file_cursor *c)
{
	char text[1024];

	c->what = "the format of a page";
	read_named(f, c, "header_page", text, sizeof(text));
	read_commit_size(f, text);
	read_named(f, c, "header_event", NULL, 0);
}

/* Keep where the sub-buffers of a CPU are. @cpu is larger than that of the last call. */
void hyptrace_head_place(struct hyptrace_file *f, struct file_cursor *c, uint32_t cpu,
			 uint64_t offset, uint64_t size)
{
	if (c->ret)
		return;
	if (cpu >= FILE_CPU_LIMIT || (f->nr_places && f->places[f->nr_places - 1].cpu >= cpu)) {
		hyptrace_cursor_fail(c, "the number of a CPU is wrong");
		return;
	}
	/* memory that is not used is not allocated */
	if (!f->places)
		f->places = malloc(FILE_CPU_LIMIT * sizeof(*f->places));
	if (f->places)
		f->places[f->nr_places++] = (struct file_place){ cpu, offset, size };
	else
		c->ret = hyptrace_error_memory(c->err);
}

bool hyptrace_head_has_data(const struct hyptrace_file *f)
{
	unsigned int i;

	for (i = 0; i < f->nr_places; i++)
		if (f->places[i].size)
			return true;
	return false;
}

/* Read the text of an option, if the description has not said it. */
static void read_text(struct file_cursor *c, uint32_t size, char **to)
{
	if (size > TEXT_MAX || *to) {
		hyptrace_cursor_skip(c, size);
		return;
	}
	*to = hyptrace_cursor_text(c, size, TEXT_MAX);
	if (*to)
		(*to)[strcspn(*to, "\n")] = '\0';
}

/* The kernel lists its clocks; the one in brackets is used. */
static void choose_clock(char *clocks)
{
	char *from = clocks ? strchr(clocks, '[') : NULL;
	char *to = from ? strchr(from, ']') : NULL;

	if (!to)
		return;
	*to = '\0';
	memmove(clocks, from + 1, to - from);
}

/* Version 7: read where the sub-buffers of a trace buffer are, after its offset and name. */
static void read_buffer(struct hyptrace_file *f, struct file_cursor *c, bool compressed)
{
	uint32_t nr, cpu, page;
	char clock[FILE_NAME_MAX];
	uint64_t offset, size;

	hyptrace_cursor_string(c, clock, sizeof(clock));
	page = hyptrace_cursor_u32(c);
	if (!c->ret)
		hyptrace_head_subbuf_size(f, c, page);
	f->compressed = compressed;
	for (nr = hyptrace_cursor_u32(c); nr && !c->ret; nr--) {
		cpu = hyptrace_cursor_u32(c);
		offset = hyptrace_cursor_u64(c);
		size = hyptrace_cursor_u64(c);
		hyptrace_head_place(f, c, cpu, offset, size);
	}
	if (!c->ret && !f->meta.info.clock && clock[0]) {
		f->meta.info.clock = strdup(clock);
		if (!f->meta.info.clock)
			c->ret = hyptrace_error_memory(c->err);
	}
}

/* Is the content of the section at an offset compressed? */
static bool is_compressed(struct hyptrace_file *f, struct file_cursor *c, uint64_t offset)
{
	struct file_cursor at;
	uint16_t flags;

	hyptrace_cursor_init(&at, f, offset, c->err);
	at.what = "the section of a trace buffer";
	hyptrace_cursor_u16(&at);
	flags = hyptrace_cursor_u16(&at);
	if (!c->ret)
		c->ret = at.ret;
	return flags & SECTION_COMPRESSED;
}

/*
 * A further trace buffer: the first one that has events is read. In a file with a description it
 * is the one of the remote, or that of the host.
 */
static void read_buffer_option(struct hyptrace_file *f, struct file_cursor *c, uint32_t size)
{
	uint64_t end = c->pos + size, offset = hyptrace_cursor_u64(c);
	char name[FILE_NAME_MAX];

	hyptrace_cursor_string(c, name, sizeof(name));
	if (f->meta.info.version == 6) {
		if (!f->instance)
			f->instance = offset;
		return;
	}
	if (f->is_ours && f->is_host != !strcmp(name, HYPTRACE_FILE_HOST))
		return;
	if (hyptrace_head_has_data(f))
		return;
	f->nr_places = 0;
	read_buffer(f, c, is_compressed(f, c, offset));
	if (!c->ret && c->pos > end)
		hyptrace_cursor_fail(c, "an option is too short");
}

static void read_option(struct hyptrace_file *f, struct file_cursor *c, uint16_t id, uint32_t size)
{
	struct hyptrace_file_info *info = &f->meta.info;
	uint64_t end = c->pos + size;

	if (c->ret)
		return;
	if (end > c->end) {
		hyptrace_cursor_fail(c, "a size is larger than the file");
		return;
	}
	switch (id) {
	case OPTION_BUFFER:
		read_buffer_option(f, c, size);
		break;
	case OPTION_CLOCK:
		if (info->clock)
			break;
		read_text(c, size, &info->clock);
		choose_clock(info->clock);
		break;
	case OPTION_UNAME:
		read_text(c, size, &info->uname);
		break;
	case OPTION_RECORDER:
		read_text(c, size, &info->recorder);
		break;
	}
	if (!c->ret)
		c->pos = end;
}

/* Read what version 7 has after the size of a sub-buffer. */
void hyptrace_head_compression(struct hyptrace_file *f, struct file_cursor *c, uint64_t *options)
{
	char name[FILE_NAME_MAX], version[FILE_NAME_MAX];
	uint64_t from = c->pos;

	c->what = "the compression";
	hyptrace_cursor_string(c, name, sizeof(name));
	hyptrace_cursor_string(c, version, sizeof(version));
	*options = hyptrace_cursor_u64(c);
	if (c->ret)
		return;
	f->meta.info.compression = strdup(name);
	if (!f->meta.info.compression)
		c->ret = hyptrace_error_memory(c->err);
	hyptrace_file_piece(f, from, c->pos - from, "compression: %s %s", name, version);
}

/* Decompress the content of a section, which is the rest of the cursor. */
static void inflate(struct hyptrace_file *f, struct file_cursor *c)
{
	uint32_t size = hyptrace_cursor_u32(c), full = hyptrace_cursor_u32(c);
	char *from, *to;

	if (!c->ret && (size > c->end - c->pos || size > FILE_SECTION_MAX ||
			full > FILE_SECTION_MAX))
		hyptrace_cursor_fail(c, "its compressed size is wrong");
	if (!c->ret && strcmp(f->meta.info.compression, "zstd"))
		hyptrace_cursor_fail(c, "its compression is not zstd");
	if (c->ret)
		return;
	from = malloc(size ? size : 1);
	to = malloc(full ? full : 1);
	if (!from || !to) {
		c->ret = hyptrace_error_memory(c->err);
	} else {
		hyptrace_cursor_get(c, from, size);
		if (!c->ret && ZSTD_decompress(to, full, from, size) != full)
			hyptrace_cursor_fail(c, "it cannot be decompressed");
	}
	free(from);
	if (c->ret) {
		free(to);
		return;
	}
	c->mem = to;
	c->pos = 0;
	c->end = full;
}

void hyptrace_section_open(struct hyptrace_file *f, struct file_cursor *c,
			   const struct file_section *section, const char *what,
			   struct hyptrace_error *err)
{
	hyptrace_cursor_init(c, f, section->offset, err);
	c->what = what;
	if (section->offset > f->size || section->size > f->size - section->offset)
		hyptrace_cursor_fail(c, "a size is larger than the file");
	else
		c->end = section->offset + section->size;
	if (section->compressed)
		inflate(f, c);
}

void hyptrace_section_close(struct file_cursor *c)
{
	free(c->mem);
	c->mem = NULL;
}

/* Read the header of a section. */
static void find_section(struct hyptrace_file *f, uint64_t offset, uint16_t expected,
			 const char *what, struct file_section *section, struct file_cursor *c)
{
	struct file_cursor at;
	uint16_t id, flags;

	hyptrace_cursor_init(&at, f, offset, c->err);
	at.what = what;
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

static void read_header_info(struct hyptrace_file *f, struct file_cursor *c, uint64_t offset)
{
	const char *what = "the format of a page";
	struct file_section section;
	struct file_cursor at;

	find_section(f, offset, OPTION_HEADER_INFO, what, &section, c);
	/* a file has one: to inflate it for each of many options would take very long */
	if (c->ret || f->has_page)
		return;
	f->has_page = true;
	hyptrace_section_open(f, &at, &section, what, c->err);
	if (!at.ret)
		hyptrace_head_page(f, &at);
	c->ret = at.ret;
	hyptrace_section_close(&at);
}

/* Read an option of version 7 that points to a section. Return false if it is another one. */
static bool read_pointer(struct hyptrace_file *f, struct file_cursor *c, uint16_t id,
			 uint32_t size)
{
	const unsigned int kind = id - OPTION_SECTIONS;
	struct file_cursor at = *c;
	uint64_t offset;

	if (size < sizeof(offset) || (id != OPTION_HEADER_INFO && kind >= NR_FILE_SECTIONS))
		return false;
	offset = hyptrace_cursor_u64(&at);
	c->ret = at.ret;
	if (id == OPTION_HEADER_INFO)
		read_header_info(f, c, offset);
	else
		find_section(f, offset, id, hyptrace_section_names[kind], &f->sections[kind], c);
	hyptrace_cursor_skip(c, size);
	return true;
}

/*
 * Read options up to that of number 0; @left more may follow in the file. Return where the next
 * section of options is, 0 if there is none.
 */
uint64_t hyptrace_head_options(struct hyptrace_file *f, struct file_cursor *c, uint32_t *left)
{
	const bool is_6 = f->meta.info.version == 6;
	uint64_t from;
	uint32_t size;
	uint16_t id;

	c->what = "options";
	while (!c->ret) {
		from = c->pos;
		id = hyptrace_cursor_u16(c);
		if (id == OPTION_DONE && is_6)
			break;
		size = hyptrace_cursor_u32(c);
		if (id == OPTION_DONE)
			return hyptrace_cursor_u64(c);
		if (!c->ret && !(*left)--)
			hyptrace_cursor_fail(c, "there are too many");
		else if (is_6 || !read_pointer(f, c, id, size))
			read_option(f, c, id, size);
		if (!c->ret && is_6)
			hyptrace_file_piece(f, from, c->pos - from, "option %u", id);
	}
	return 0;
}

/* Read the options of version 7, and where its sections are. */
void hyptrace_head_sections(struct hyptrace_file *f, struct file_cursor *c, uint64_t options)
{
	const char *what = "options";
	uint32_t left = FILE_COUNT_MAX;
	struct file_section section;
	struct file_cursor at;
	uint64_t bytes = 0;

	while (options && !c->ret) {
		find_section(f, options, OPTION_DONE, what, &section, c);
		if (c->ret)
			break;
		hyptrace_section_open(f, &at, &section, what, c->err);
		/* a few bytes of the file may become very many */
		bytes += at.end - at.pos;
		if (bytes > FILE_SECTION_MAX)
			hyptrace_cursor_fail(&at, "they are too long");
		options = hyptrace_head_options(f, &at, &left);
		/* programs append the next ones: all else would have no end */
		if (options && options < section.offset) {
			c->pos = options;
			c->what = what;
			hyptrace_cursor_fail(c, "they are before the options that name them");
		}
		if (!c->ret)
			c->ret = at.ret;
		hyptrace_section_close(&at);
	}
}
