// SPDX-License-Identifier: GPL-2.0-only
/*
 * What comes before the data of a trace file: the headers of trace.dat, see trace-cmd.dat.v6(5) and
 * trace-cmd.dat.v7(5), and the text of file_meta.c, which trace-cmd does not see. Both are written
 * when the recording begins, and again with other numbers when it ends: the length stays the same.
 */
#include <zstd.h>

#include "file_write.h"

/* Each sub-buffer has a u64 time stamp and a u64 commit, whatever a long is. */
#define LONG_SIZE	8

#define SYSTEM		"hyptrace"

/* Bytes that are kept for the names of the host's tasks: the kernel keeps 128 names by default */
#define TASKS_SIZE	(8 << 10)

/* Bytes of a CPU's counters as text */
#define STAT_SIZE	256

/* Bytes of a section's header */
#define SECTION_HEADER		16

#define DEFINE_PUT(bits)						\
static void put_u##bits(FILE *f, uint##bits##_t value)			\
{									\
	fwrite(&value, sizeof(value), 1, f);				\
}

DEFINE_PUT(16)
DEFINE_PUT(32)
DEFINE_PUT(64)

/* What was written as 0 at @at is known now. */
static void put_u64_at(FILE *f, long at, uint64_t value)
{
	const long end = ftell(f);

	fseek(f, at, SEEK_SET);
	put_u64(f, value);
	fseek(f, end, SEEK_SET);
}

/* A string with its NUL */
static void put_string(FILE *f, const char *text)
{
	fwrite(text, strlen(text) + 1, 1, f);
}

/* A text after its length */
static void put_text(FILE *f, const char *text)
{
	put_u64(f, strlen(text));
	fputs(text, f);
}

static void put_magic(FILE *f, const struct hyptrace_file_writer *w)
{
	static const char magic[] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };

	fwrite(magic, sizeof(magic), 1, f);
	put_string(f, w->meta.info.version == 6 ? "6" : "7");
	fputc(w->meta.info.big_endian, f);
	fputc(LONG_SIZE, f);
	put_u32(f, w->meta.info.subbuf_size);
}

/* How to read a sub-buffer, in the words of tracefs */
static void put_header_info(FILE *f, const struct hyptrace_file_writer *w)
{
	char page[512];

	snprintf(page, sizeof(page),
		 "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		 "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
		 "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		 "\tfield: char data;\toffset:16;\tsize:%zu;\tsigned:0;\n",
		 w->meta.info.subbuf_size - HYPTRACE_SUBBUF_HEADER);
	put_string(f, "header_page");
	put_text(f, page);
	put_string(f, "header_event");
	put_text(f,
		 "# compressed entry header\n"
		 "\ttype_len    :    5 bits\n"
		 "\ttime_delta  :   27 bits\n"
		 "\tarray       :   32 bits\n"
		 "\n"
		 "\tpadding     : type == 29\n"
		 "\ttime_extend : type == 30\n"
		 "\ttime_stamp : type == 31\n"
		 "\tdata max type_len  == 28\n");
}

/* Does a system of the host begin with this format? */
static bool begins_system(const struct hyptrace_file_host *host, unsigned int i)
{
	return !i || strcmp(host->systems[i], host->systems[i - 1]);
}

static void put_host_formats(FILE *f, const struct hyptrace_file_host *host)
{
	unsigned int i, end;

	for (i = 0; i < host->nr_formats; i++) {
		if (begins_system(host, i)) {
			for (end = i + 1; end < host->nr_formats && !begins_system(host, end);)
				end++;
			put_string(f, host->systems[i]);
			put_u32(f, end - i);
		}
		put_text(f, host->formats[i]);
	}
}

/*
 * Describe an event. Other programs tell tasks apart by their process ids, and KernelShark draws
 * nothing without them. EL2 has no tasks: the id of the event takes the place. The host's events
 * have process ids elsewhere, and others expect one place.
 */
static bool put_format(FILE *f, const struct hyptrace_file_writer *w,
		       const struct hyptrace_event *event)
{
	auto_free char *text = hyptrace_format_file(event);
	static const char pid[] =
		"\tfield:unsigned short common_pid;\toffset:0;\tsize:2;\tsigned:0;";
	const char *fields = text ? strstr(text, "\n\n") : NULL;

	if (fields && !w->has_host) {
		put_u64(f, strlen(text) + 1 + strlen(pid));
		fprintf(f, "%.*s\n%s%s", (int)(fields - text), text, pid, fields);
	} else if (fields) {
		put_text(f, text);
	}
	return fields;
}

/* Return false if there is no memory. */
static bool put_formats(FILE *f, const struct hyptrace_file_writer *w)
{
	unsigned int i, systems = 1;

	for (i = 0; i < w->host.nr_formats; i++)
		systems += begins_system(&w->host, i);
	put_u32(f, systems);
	put_string(f, SYSTEM);
	put_u32(f, w->meta.info.nr_events);
	for (i = 0; i < w->meta.info.nr_events; i++)
		if (!put_format(f, w, w->meta.info.events[i]))
			return false;
	put_host_formats(f, &w->host);
	return true;
}

/* Empty lines keep the room of the host's tasks. Without the host, events are the tasks. */
static void put_tasks(FILE *f, const struct hyptrace_file_writer *w)
{
	const struct hyptrace_file_info *info = &w->meta.info;
	const char *tasks = w->host_tasks ? w->host_tasks : "";
	size_t len = strlen(tasks), i;
	const long begin = ftell(f);

	if (!w->has_host) {
		put_u64(f, 0);
		for (i = 0; i < info->nr_events; i++)
			fprintf(f, "%u %s\n", info->events[i]->id, info->events[i]->name);
		put_u64_at(f, begin, ftell(f) - begin - sizeof(uint64_t));
		return;
	}
	len = MIN(len, TASKS_SIZE);
	while (len && tasks[len - 1] != '\n')
		len--;
	put_u64(f, TASKS_SIZE);
	fwrite(tasks, len, 1, f);
	for (i = len; i < TASKS_SIZE; i++)
		fputc('\n', f);
}

static void put_option(FILE *f, uint16_t id, const void *data, uint32_t size)
{
	put_u16(f, id);
	put_u32(f, size);
	fwrite(data, size, 1, f);
}

static void put_option_u64(FILE *f, uint16_t id, uint64_t value)
{
	put_option(f, id, &value, sizeof(value));
}

static void put_option_string(FILE *f, uint16_t id, const char *text)
{
	if (text)
		put_option(f, id, text, strlen(text) + 1);
}

/* The counters as tracefs prints them, with blanks up to the same length */
static void put_stat(FILE *f, const struct hyptrace_file_cpu *cpu)
{
	char text[STAT_SIZE];
	int len = snprintf(text, sizeof(text),
			   "CPU: %u\nentries: %" PRIu64 "\noverrun: %" PRIu64 "\ncommit overrun: 0\n"
			   "bytes: %" PRIu64 "\ndropped events: 0\nread events: %" PRIu64 "\n",
			   cpu->id, cpu->events, cpu->lost, cpu->size, cpu->events);

	memset(text + len, ' ', sizeof(text) - len - 1);
	text[sizeof(text) - 1] = '\0';
	put_option(f, OPTION_CPUSTAT, text, sizeof(text));
}

static void put_common_options(FILE *f, const struct hyptrace_file_writer *w)
{
	unsigned int i;

	for (i = 0; i < w->meta.info.nr_cpus; i++)
		put_stat(f, w->meta.info.cpus[i]);
	put_option_string(f, OPTION_UNAME, w->meta.info.uname);
	put_option_string(f, OPTION_RECORDER, w->meta.info.recorder);
}

static unsigned int count_cpus(const struct hyptrace_file_writer *w)
{
	unsigned int nr = 0, i;

	for (i = 0; i < w->nr_parts; i++)
		nr = MAX(nr, w->parts[i].cpu->id + 1);
	return nr;
}

/* Offset and size of the data of each CPU from 0 on, and also its number if @number is set */
static void put_cpus(FILE *f, const struct hyptrace_file_writer *w, bool host, bool number)
{
	struct hyptrace_file_cpu *const *cpus = host ? w->meta.host_cpus : w->meta.info.cpus;
	const unsigned int nr_known = host ? w->meta.nr_host_cpus : w->meta.info.nr_cpus;
	const struct hyptrace_file_cpu none = {}, *cpu;
	unsigned int id, i = 0, nr = count_cpus(w);

	for (id = 0; id < nr; id++) {
		cpu = i < nr_known && cpus[i]->id == id ? cpus[i++] : &none;
		if (number)
			put_u32(f, id);
		put_u64(f, cpu->offset);
		put_u64(f, cpu->size);
	}
}

/* What describes the events, and is a section of version 7. Return false if there is no memory. */
static bool put_content(FILE *f, const struct hyptrace_file_writer *w, unsigned int id)
{
	if (id == OPTION_EVENT_FORMATS)
		return put_formats(f, w);
	if (id == OPTION_HEADER_INFO)
		put_header_info(f, w);
	else if (id == OPTION_CMDLINES)
		put_tasks(f, w);
	else
		put_u32(f, 0);	/* there are no others */
	return true;
}

/* Return false if there is no memory. */
static bool put_version_6(FILE *f, const struct hyptrace_file_writer *w, const char *text,
			  size_t len)
{
	unsigned int id;
	long offset = 0;
	bool done = true;

	put_magic(f, w);
	for (id = OPTION_HEADER_INFO; id <= OPTION_CMDLINES; id++)
		done &= put_content(f, w, id);
	put_u32(f, count_cpus(w));
	put_string(f, "options  ");
	put_common_options(f, w);
	if (w->has_host) {
		/* the trace buffer of the host, with the offset of its table */
		put_u16(f, OPTION_BUFFER);
		put_u32(f, sizeof(uint64_t) + sizeof(HYPTRACE_FILE_HOST));
		offset = ftell(f);
		put_u64(f, 0);
		put_string(f, HYPTRACE_FILE_HOST);
	}
	put_u16(f, OPTION_DONE);
	put_string(f, "flyrecord");
	put_cpus(f, w, false, false);
	fwrite(text, len, 1, f);
	if (!w->has_host)
		return done;
	put_u64_at(f, offset, ftell(f));
	put_string(f, "flyrecord");
	put_cpus(f, w, true, false);
	return done;
}

static void put_section(FILE *f, uint16_t id, uint16_t flags, uint64_t size)
{
	put_u16(f, id);
	put_u16(f, flags);
	put_u32(f, 0);			/* no description */
	put_u64(f, size);
}

static void end_section(FILE *f, long begin)
{
	const long content = begin + SECTION_HEADER;

	put_u64_at(f, content - sizeof(uint64_t), ftell(f) - content);
}

static uint64_t data_size(const struct hyptrace_file_writer *w)
{
	const struct file_part *part;
	uint64_t end = w->head_size;

	for (part = w->parts; part < w->parts + w->nr_parts; part++)
		end = MAX(end, part->cpu->offset + part->cpu->size);
	return end - w->head_size;
}

/* The option about the data of a trace buffer, all of which is in one section */
static void put_buffer(FILE *f, const struct hyptrace_file_writer *w, bool host, uint64_t section)
{
	const unsigned int nr = count_cpus(w);
	const char *clock = w->meta.info.clock ? w->meta.info.clock : "local";
	const char *name = host ? HYPTRACE_FILE_HOST : "";	/* "" is the top instance */

	put_u16(f, OPTION_BUFFER);
	put_u32(f, sizeof(uint64_t) + strlen(name) + 1 + strlen(clock) + 1 +
		2 * sizeof(uint32_t) + nr * (sizeof(uint32_t) + 2 * sizeof(uint64_t)));
	put_u64(f, section);
	put_string(f, name);
	put_string(f, clock);
	put_u32(f, w->meta.info.subbuf_size);
	put_u32(f, nr);
	put_cpus(f, w, host, true);
}

/* The options, which point to the sections that begin at @at */
static void put_options(FILE *f, const struct hyptrace_file_writer *w, const long *at)
{
	const uint32_t nr = count_cpus(w);
	const long begin = ftell(f);
	unsigned int id;

	put_section(f, OPTION_DONE, 0, 0);
	for (id = OPTION_HEADER_INFO; id <= OPTION_CMDLINES; id++)
		put_option_u64(f, id, at[id]);
	put_option(f, OPTION_CPUCOUNT, &nr, sizeof(nr));
	put_common_options(f, w);
	put_buffer(f, w, false, w->head_size - SECTION_HEADER);
	if (w->has_host)
		put_buffer(f, w, true, w->head_size - SECTION_HEADER);
	put_option_u64(f, OPTION_DONE, 0);
	end_section(f, begin);
}

static bool put_version_7(FILE *f, const struct hyptrace_file_writer *w, const char *text,
			  size_t len)
{
	long at[OPTION_CMDLINES + 1], offset;
	unsigned int id;
	bool done = true;

	put_magic(f, w);
	put_string(f, w->meta.info.compression);
	put_string(f, ZSTD_versionString());
	offset = ftell(f);
	put_u64(f, 0);
	fwrite(text, len, 1, f);
	for (id = OPTION_HEADER_INFO; id <= OPTION_CMDLINES; id++) {
		at[id] = ftell(f);
		put_section(f, id, 0, 0);
		done &= put_content(f, w, id);
		end_section(f, at[id]);
	}
	put_u64_at(f, offset, ftell(f));
	put_options(f, w, at);
	return done;
}

/* Make what comes before the data; NULL if there is no memory. */
static char *make_head(const struct hyptrace_file_writer *w, size_t *len)
{
	size_t text_len;
	auto_free char *text = hyptrace_file_meta_text(&w->meta, &text_len);
	char *head = NULL;
	FILE *f = text ? open_memstream(&head, len) : NULL;
	long zeros;
	bool done;

	if (!f)
		return NULL;
	done = w->meta.info.version == 6 ? put_version_6(f, w, text, text_len) :
					   put_version_7(f, w, text, text_len);
	/* in version 7 the header of the section of the data is right before the data */
	for (zeros = w->head_size - SECTION_HEADER - ftell(f); zeros > 0; zeros--)
		fputc(0, f);
	put_section(f, OPTION_BUFFER, w->flags & HYPTRACE_FILE_ZSTD ? SECTION_COMPRESSED : 0,
		    data_size(w));
	done &= !ferror(f);
	head = hyptrace_end_text(f, &head);
	if (done)
		return head;
	free(head);
	return NULL;
}

int hyptrace_file_write_head(struct hyptrace_file_writer *w, struct hyptrace_error *err)
{
	const uint32_t subbuf = w->meta.info.subbuf_size;
	size_t len;
	auto_free char *head = make_head(w, &len);

	/* only now it is known how many bytes come before the data */
	if (head && !w->head_size) {
		w->head_size = (len + subbuf - 1) / subbuf * subbuf;
		w->meta.info.cpus[0]->offset = w->head_size;
		free(head);
		head = make_head(w, &len);
	}
	if (!head)
		return hyptrace_error_memory(err);
	return hyptrace_file_pwrite(w->fd, head, len, 0) < len ?
	       hyptrace_error_set(err, errno, "%m") : 0;
}
