// SPDX-License-Identifier: GPL-2.0-only
/* The headers of a trace file: where its parts are. hyptrace.dat(5) describes them. */
#include "file.h"

#define MAGIC		"\027\010Dtracing"
#define VERSION_MAX	8
#define TAG_SIZE	10

/* Bytes of a text in an option at most */
#define TEXT_MAX	4096

static const char *const section_names[NR_FILE_SECTIONS] = {
	[OPTION_FTRACE_EVENTS]	= "formats of ftrace",
	[OPTION_EVENT_FORMATS]	= "formats of events",
	[OPTION_KALLSYMS]	= "names of the kernel's functions",
	[OPTION_PRINTK]		= "formats of trace_printk()",
	[OPTION_CMDLINES]	= "names of processes",
};

static void set_subbuf_size(struct hyptrace_file *f, struct file_cursor *c, uint32_t size)
{
	if (size < FILE_SUBBUF_MIN || size > FILE_SUBBUF_MAX || size & (size - 1))
		hyptrace_cursor_fail(c, "the size of a sub-buffer is wrong");
	else
		f->meta.info.subbuf_size = size;
}

/* Read "NAME\0", a size, and so many bytes. Their start goes to @text, which is 0 so far. */
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
	if (text)
		hyptrace_cursor_get(c, text, size < room ? size : room - 1);
	if (c->ret)
		return;
	c->pos = end;
	/* what was decompressed has no place in the file */
	if (!c->mem)
		hyptrace_file_piece(f, from, end - from, "%s", expected);
}

/* Read the kernel's description of a page, with the size of the commit word, and of an event. */
static void read_page(struct hyptrace_file *f, struct file_cursor *c)
{
	unsigned int size;
	const char *at;
	char text[1024] = {};

	c->what = "the format of a page";
	read_named(f, c, "header_page", text, sizeof(text));
	at = strstr(text, " commit;");
	at = at ? strstr(at, "size:") : NULL;
	if (at && sscanf(at, "size:%u", &size) == 1 && size == sizeof(uint32_t))
		f->long_size = size;
	read_named(f, c, "header_event", NULL, 0);
}

/* Read where the sub-buffers of CPUs are: of all from 0 on, or each with its number, in order. */
static void read_places(struct hyptrace_file *f, struct file_cursor *c, uint32_t nr, bool number)
{
	struct file_place place;
	uint32_t i;

	/* memory that is not used is not allocated */
	if (nr && !f->places)
		f->places = malloc(FILE_CPU_LIMIT * sizeof(*f->places));
	if (nr && !f->places && !c->ret)
		c->ret = hyptrace_error_memory(c->err);
	for (i = 0; i < nr && !c->ret; i++) {
		place.cpu = number ? hyptrace_cursor_u32(c) : i;
		place.offset = hyptrace_cursor_u64(c);
		place.size = hyptrace_cursor_u64(c);
		if (place.cpu >= FILE_CPU_LIMIT ||
		    (f->nr_places && f->places[f->nr_places - 1].cpu >= place.cpu))
			hyptrace_cursor_fail(c, "the number of a CPU is wrong");
		if (!c->ret)
			f->places[f->nr_places++] = place;
	}
}

static bool has_data(const struct hyptrace_file *f)
{
	unsigned int i;

	for (i = 0; i < f->nr_places; i++)
		if (f->places[i].size)
			return true;
	return false;
}

/* Read the text of an option, if the description has not said it. */
static void read_option_text(struct file_cursor *c, uint32_t size, char **to)
{
	/* the caller skips it */
	if (size > TEXT_MAX || *to)
		return;
	*to = hyptrace_cursor_text(c, size, TEXT_MAX);
	if (*to)
		(*to)[strcspn(*to, "\n")] = '\0';
}

/* Version 7: read where the sub-buffers of a trace buffer are, after its offset and name. */
static void read_buffer(struct hyptrace_file *f, struct file_cursor *c, bool compressed)
{
	char clock[FILE_NAME_MAX];

	hyptrace_cursor_string(c, clock, sizeof(clock));
	set_subbuf_size(f, c, hyptrace_cursor_u32(c));
	f->compressed = compressed;
	read_places(f, c, hyptrace_cursor_u32(c), true);
	if (c->ret || f->meta.info.clock || !clock[0])
		return;
	f->meta.info.clock = strdup(clock);
	if (!f->meta.info.clock)
		c->ret = hyptrace_error_memory(c->err);
}

static bool is_compressed(struct hyptrace_file *f, struct file_cursor *c, uint64_t offset)
{
	struct file_cursor at;
	uint16_t flags;

	hyptrace_cursor_init(&at, f, offset, "the section of a trace buffer", c->err);
	hyptrace_cursor_u16(&at);
	flags = hyptrace_cursor_u16(&at);
	if (!c->ret)
		c->ret = at.ret;
	return flags & SECTION_COMPRESSED;
}

/* A further trace buffer: the first with events is read; with a description, that of the side. */
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
	if ((f->is_ours && f->is_host != !strcmp(name, HYPTRACE_FILE_HOST)) || has_data(f))
		return;
	/* is_compressed() would replace the reason */
	if (c->ret)
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
	char *from, *to;

	if (end > c->end)
		hyptrace_cursor_fail(c, "a size is larger than the file");
	if (c->ret)
		return;
	switch (id) {
	case OPTION_BUFFER:
		read_buffer_option(f, c, size);
		break;
	case OPTION_CLOCK:
		if (info->clock)
			break;
		read_option_text(c, size, &info->clock);
		/* the kernel lists its clocks; the one in brackets is used */
		from = info->clock ? strchr(info->clock, '[') : NULL;
		to = from ? strchr(from, ']') : NULL;
		if (!to)
			break;
		*to = '\0';
		memmove(info->clock, from + 1, to - from);
		break;
	case OPTION_UNAME:
		read_option_text(c, size, &info->uname);
		break;
	case OPTION_RECORDER:
		read_option_text(c, size, &info->recorder);
		break;
	}
	c->pos = end;
}

static void read_header_info(struct hyptrace_file *f, struct file_cursor *c, uint64_t offset)
{
	const char *what = "the format of a page";
	struct file_section section;
	struct file_cursor at;

	hyptrace_section_find(f, offset, OPTION_HEADER_INFO, what, &section, c);
	/* a file has one: to inflate it for each of many options would take very long */
	if (c->ret || f->has_page)
		return;
	f->has_page = true;
	hyptrace_section_open(f, &at, &section, what, c->err);
	if (!at.ret)
		read_page(f, &at);
	c->ret = at.ret;
	free(at.mem);
}

/* Read an option of version 7 that points to a section. Return false if it is another one. */
static bool read_pointer(struct hyptrace_file *f, struct file_cursor *c, uint16_t id,
			 uint32_t size)
{
	uint64_t offset;

	if (size < sizeof(offset) || id < OPTION_HEADER_INFO || id >= NR_FILE_SECTIONS)
		return false;
	offset = hyptrace_cursor_u64(c);
	if (!c->ret && id == OPTION_HEADER_INFO)
		read_header_info(f, c, offset);
	else if (!c->ret)
		hyptrace_section_find(f, offset, id, section_names[id], &f->sections[id], c);
	hyptrace_cursor_skip(c, size - sizeof(offset));
	return true;
}

/* Read options up to number 0, at most @left. Return where their next section is, or 0. */
static uint64_t read_options(struct hyptrace_file *f, struct file_cursor *c, uint32_t *left)
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

static void read_sections(struct hyptrace_file *f, struct file_cursor *c, uint64_t options)
{
	const char *what = "options";
	uint32_t left = FILE_COUNT_MAX;
	struct file_section section;
	struct file_cursor at;
	uint64_t bytes = 0;

	while (options && !c->ret) {
		hyptrace_section_find(f, options, OPTION_DONE, what, &section, c);
		if (c->ret)
			break;
		hyptrace_section_open(f, &at, &section, what, c->err);
		/* a few bytes of the file may become very many */
		bytes += at.end - at.pos;
		if (bytes > FILE_SECTION_MAX)
			hyptrace_cursor_fail(&at, "they are too long");
		options = read_options(f, &at, &left);
		/* programs append the next ones: all else would have no end */
		if (options && options < section.offset) {
			c->pos = options;
			c->what = what;
			hyptrace_cursor_fail(c, "they are before the options that name them");
		}
		if (!c->ret)
			c->ret = at.ret;
		free(at.mem);
	}
}

static void read_initial(struct hyptrace_file *f, struct file_cursor *c)
{
	char magic[sizeof(MAGIC) - 1], version[VERSION_MAX];
	uint8_t order = 0, long_size;

	hyptrace_cursor_get(c, magic, sizeof(magic));
	if (c->ret == -EBADMSG || (!c->ret && memcmp(magic, MAGIC, sizeof(magic))))
		c->ret = -ENOEXEC;
	if (c->ret)
		return;
	hyptrace_cursor_string(c, version, sizeof(version));
	if (!c->ret && strcmp(version, "6") && strcmp(version, "7"))
		c->ret = hyptrace_error_set(c->err, EBADMSG, "it has an unknown version of the file format");
	f->meta.info.version = version[0] - '0';
	hyptrace_cursor_get(c, &order, 1);
	hyptrace_cursor_get(c, &long_size, 1);
	f->meta.info.big_endian = order;
	f->swap = order != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	set_subbuf_size(f, c, hyptrace_cursor_u32(c));
	hyptrace_file_piece(f, 0, c->pos,
			    "trace file, version %s, %s-endian, sub-buffers of %u bytes", version,
			    order ? "big" : "little", f->meta.info.subbuf_size);
}

static void read_table(struct hyptrace_file *f, struct file_cursor *c, uint32_t nr)
{
	uint64_t from = c->pos;

	c->what = "the table of the CPUs";
	read_places(f, c, nr, false);
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

/* Version 6: read another trace buffer if the first is empty; with a description, the host's. */
static void read_instance(struct hyptrace_file *f, struct file_cursor *c)
{
	const uint32_t nr_cpus = f->nr_places;

	if (!f->instance || c->ret || (f->is_ours ? !f->is_host : has_data(f)))
		return;
	c->pos = f->instance;
	f->nr_places = 0;
	read_data_tag(c);
	read_table(f, c, nr_cpus);
}

static void read_version_6(struct hyptrace_file *f, struct file_cursor *c)
{
	uint32_t nr_cpus, left = UINT32_MAX;
	enum file_option id;
	char tag[TAG_SIZE];
	uint64_t from;

	read_page(f, c);
	for (id = OPTION_FTRACE_EVENTS; id < NR_FILE_SECTIONS; id++) {
		from = c->pos;
		c->what = section_names[id];
		hyptrace_section_read(f, c, id);
		if (c->ret)
			break;
		f->sections[id] = (struct file_section){ .offset = from, .size = c->pos - from };
		hyptrace_file_piece(f, from, c->pos - from, "%s", c->what);
	}
	c->what = "the number of CPUs";
	nr_cpus = hyptrace_cursor_u32(c);
	if (nr_cpus > FILE_CPU_LIMIT)
		hyptrace_cursor_fail(c, "it is too large");
	hyptrace_cursor_get(c, tag, sizeof(tag));
	if (!c->ret && !memcmp(tag, "options  ", TAG_SIZE))
		read_options(f, c, &left);
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
	/* memory that is not used is not allocated */
	char *text = malloc(FILE_META_MAX), *found = NULL, *from = text;
	int64_t n;

	*len = 0;
	if (!text)
		c->ret = hyptrace_error_memory(c->err);
	while (!c->ret && !found) {
		n = hyptrace_file_pread(f->fd, text + *len, FILE_READ_SIZE, c->pos + *len);
		if (n < 0) {
			c->ret = hyptrace_error_set(c->err, -n, "%m");
			break;
		}
		*len += n;
		if (*len < word || memcmp(text, begin, word))
			break;
		found = memmem(from, text + *len - from, end, strlen(end));
		/* the end may be in both parts */
		from = text + *len - strlen(end);
		if (!found && n < (int64_t)FILE_READ_SIZE)
			hyptrace_cursor_fail(c, "the end is missing");
		else if (!found && *len == FILE_META_MAX)
			hyptrace_cursor_fail(c, "it is too long");
	}
	if (found) {
		*len = found + strlen(end) - text;
		return text;
	}
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

static void read_compression(struct hyptrace_file *f, struct file_cursor *c, uint64_t *options)
{
	char name[FILE_NAME_MAX], version[FILE_NAME_MAX];
	uint64_t from = c->pos;

	c->what = "the compression";
	hyptrace_cursor_string(c, name, sizeof(name));
	hyptrace_cursor_string(c, version, sizeof(version));
	*options = hyptrace_cursor_u64(c);
	f->meta.info.compression = strdup(name);
	if (!f->meta.info.compression)
		c->ret = hyptrace_error_memory(c->err);
	hyptrace_file_piece(f, from, c->pos - from, "compression: %s%s%s", name,
			    *version ? " " : "", version);
}

/* Read all headers. Return 0 or a negative errno: -ENOEXEC, without a reason, if there are none. */
int hyptrace_file_read_headers(struct hyptrace_file *f, struct hyptrace_error *err)
{
	struct file_cursor c;
	uint64_t options;

	hyptrace_cursor_init(&c, f, 0, "the headers", err);
	read_initial(f, &c);
	f->long_size = sizeof(uint64_t);
	if (f->meta.info.version == 6) {
		read_version_6(f, &c);
		read_meta(f, &c);
		read_instance(f, &c);
		return c.ret;
	}
	read_compression(f, &c, &options);
	read_meta(f, &c);
	read_sections(f, &c, options);
	return c.ret;
}
