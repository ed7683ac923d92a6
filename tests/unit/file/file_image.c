// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make trace files by hand: what each byte is, independently of the writer.
 */
#include <byteswap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <linux/hyptrace_record.h>

#include "lib/internal.h"
#include "file_image.h"

static struct hyptrace_field value_field = {
	.name = "id", .type = "u64", .offset = 8, .size = 8,
};

static struct hyptrace_field *fields[] = { &value_field, NULL };

static struct hyptrace_event event = {
	.name = "selftest", .id = IMAGE_ID, .size = 16, .print_fmt = "\"id=%llu\", REC->id",
	.fields = fields, .nr_fields = 1,
};

static struct hyptrace_event *events[] = { &event, NULL };

static uint16_t u16(const struct image *image, uint16_t value)
{
	return image->swap ? bswap_16(value) : value;
}

static uint32_t u32(const struct image *image, uint32_t value)
{
	return image->swap ? bswap_32(value) : value;
}

static uint64_t u64(const struct image *image, uint64_t value)
{
	return image->swap ? bswap_64(value) : value;
}

void image_init(struct image *image, enum image_kind kind, bool swap, uint32_t subbuf,
		unsigned int nr_cpus)
{
	memset(image, 0, sizeof(*image));
	image->kind = kind;
	image->swap = swap;
	image->subbuf = subbuf;
	image->nr_cpus = nr_cpus;
	image->per_chunk = 2;
}

void image_free(struct image *image)
{
	unsigned int i;

	for (i = 0; i < IMAGE_CPUS; i++)
		free(image->cpus[i].data);
}

static char *last_subbuf(struct image *image, unsigned int cpu)
{
	return image->cpus[cpu].data + image->cpus[cpu].size - image->subbuf;
}

/* Set the commit word of the last sub-buffer. */
static void commit(struct image *image, unsigned int cpu, uint64_t flags)
{
	uint64_t word = u64(image, image->cpus[cpu].used | flags);

	memcpy(last_subbuf(image, cpu) + sizeof(uint64_t), &word, sizeof(word));
}

/* Begin a sub-buffer. */
void image_subbuf(struct image *image, unsigned int cpu, uint64_t ts)
{
	const size_t nr = image->cpus[cpu].size / image->subbuf;

	/* Room for twice as many: the sanitizer copies at each realloc(). */
	if (!(nr & (nr - 1)))
		image->cpus[cpu].data = realloc(image->cpus[cpu].data,
						(nr ? 2 * nr : 1) * image->subbuf);
	image->cpus[cpu].size += image->subbuf;
	image->cpus[cpu].used = 0;
	memset(last_subbuf(image, cpu), 0, image->subbuf);
	ts = u64(image, ts);
	memcpy(last_subbuf(image, cpu), &ts, sizeof(ts));
	commit(image, cpu, 0);
}

/* Add an event to the last sub-buffer. Return false if it does not fit. */
bool image_event(struct image *image, unsigned int cpu, uint32_t delta, uint64_t value)
{
	const bool big = image->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	uint32_t head = big ? 4u << HYPTRACE_DELTA_BITS | delta :
			      4u | delta << HYPTRACE_TYPE_LEN_BITS;
	uint16_t id = u16(image, IMAGE_ID);
	char *to;

	if (!image->cpus[cpu].size ||
	    image->cpus[cpu].used + IMAGE_RECORD > image->subbuf - HYPTRACE_SUBBUF_HEADER)
		return false;
	to = last_subbuf(image, cpu) + HYPTRACE_SUBBUF_HEADER + image->cpus[cpu].used;
	head = u32(image, head);
	value = u64(image, value);
	memcpy(to, &head, sizeof(head));
	memcpy(to + 4, &id, sizeof(id));
	memcpy(to + 12, &value, sizeof(value));
	image->cpus[cpu].used += IMAGE_RECORD;
	commit(image, cpu, 0);
	return true;
}

/* Events were lost before the last sub-buffer; nothing can be added to it after that. */
void image_lost(struct image *image, unsigned int cpu, uint64_t lost)
{
	char *to = last_subbuf(image, cpu) + HYPTRACE_SUBBUF_HEADER + image->cpus[cpu].used;

	if (lost == HYPTRACE_LOST_UNKNOWN) {
		commit(image, cpu, HYPTRACE_COMMIT_MISSED);
		return;
	}
	commit(image, cpu, HYPTRACE_COMMIT_MISSED | HYPTRACE_COMMIT_STORED);
	lost = u64(image, lost);
	memcpy(to, &lost, sizeof(lost));
}

static void put_u16(const struct image *image, FILE *f, uint16_t value)
{
	value = u16(image, value);
	fwrite(&value, sizeof(value), 1, f);
}

static void put_u32(const struct image *image, FILE *f, uint32_t value)
{
	value = u32(image, value);
	fwrite(&value, sizeof(value), 1, f);
}

static void put_u64(const struct image *image, FILE *f, uint64_t value)
{
	value = u64(image, value);
	fwrite(&value, sizeof(value), 1, f);
}

static void put_string(FILE *f, const char *text)
{
	fwrite(text, strlen(text) + 1, 1, f);
}

static void put_sized(const struct image *image, FILE *f, const char *text)
{
	put_u64(image, f, strlen(text));
	fputs(text, f);
}

static void put_header_info(const struct image *image, FILE *f)
{
	put_string(f, "header_page");
	put_sized(image, f, "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n");
	put_string(f, "header_event");
	put_sized(image, f, "# compressed entry header\n");
}

static void put_formats(const struct image *image, FILE *f)
{
	char *text = hyptrace_format_file(&event);

	put_u32(image, f, 1);
	put_string(f, "hyptrace");
	put_u32(image, f, 1);
	put_sized(image, f, text);
	free(text);
}

static void put_text(const struct image *image, FILE *f)
{
	struct hyptrace_file_cpu cpus[IMAGE_CPUS] = {}, *list[IMAGE_CPUS];
	struct hyptrace_file_meta meta = {
		.info.remote = "test", .info.clock = "boot", .info.recorder = "hyptrace 0",
		.info.begin = 1234, .info.offset = -5, .info.cpus = list,
		.info.nr_cpus = image->nr_cpus, .info.events = events, .info.nr_events = 1,
		.state = image->incomplete ? FILE_RECORDING : FILE_COMPLETE,
	};
	unsigned int i;
	size_t len;
	char *text;

	if (image->no_text)
		return;
	for (i = 0; i < image->nr_cpus; i++) {
		cpus[i].id = i;
		cpus[i].has_counts = image->has_counts;
		cpus[i].lost = image->cpus[i].lost;
		list[i] = &cpus[i];
	}
	text = hyptrace_file_meta_text(&meta, &len);
	fwrite(text, len, 1, f);
	free(text);
}

/* The sub-buffers of a CPU as the file has them, for free() */
char *image_part(struct image *image, unsigned int cpu, size_t *size)
{
	const char *data = image->cpus[cpu].data;
	size_t left = image->cpus[cpu].size, part, n;
	char *text, *packed;
	FILE *f = open_memstream(&text, size);

	if (image->kind != IMAGE_ZSTD) {
		if (left)
			fwrite(data, left, 1, f);
		left = 0;
	} else if (left) {
		put_u32(image, f, (left / image->subbuf + image->per_chunk - 1) / image->per_chunk);
	}
	for (; left; left -= part, data += part) {
		part = MIN(left, image->per_chunk * image->subbuf);
		packed = malloc(ZSTD_compressBound(part));
		n = ZSTD_compress(packed, ZSTD_compressBound(part), data, part, 1);
		put_u32(image, f, n);
		put_u32(image, f, part);
		fwrite(packed, n, 1, f);
		free(packed);
	}
	fclose(f);
	return text;
}

/* Where the data of each CPU is, if it begins at @at. */
static void put_places(struct image *image, FILE *f, uint64_t at, bool number)
{
	unsigned int i;
	size_t size;

	for (i = 0; i < image->nr_cpus; i++) {
		free(image_part(image, i, &size));
		/* a recording knows the sizes when it ends */
		if (image->incomplete)
			size = 0;
		if (number)
			put_u32(image, f, i);
		put_u64(image, f, i && image->incomplete ? 0 : at);
		put_u64(image, f, size);
		at += (size + image->subbuf - 1) / image->subbuf * image->subbuf;
	}
}

static void put_initial(const struct image *image, FILE *f)
{
	fputs("\027\010Dtracing", f);
	put_string(f, image->kind == IMAGE_VERSION_6 ? "6" : "7");
	fputc(image->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__), f);
	fputc(8, f);
	put_u32(image, f, image->subbuf);
}

static void put_option(const struct image *image, FILE *f, uint16_t id, const char *text)
{
	put_u16(image, f, id);
	put_u32(image, f, strlen(text) + 1);
	put_string(f, text);
}

static void put_version_6(struct image *image, FILE *f, uint64_t data)
{
	put_initial(image, f);
	put_header_info(image, f);
	put_u32(image, f, 0);
	put_formats(image, f);
	put_u32(image, f, 0);
	put_u32(image, f, 0);
	put_u64(image, f, 0);
	put_u32(image, f, image->nr_cpus);
	put_string(f, "options  ");
	put_option(image, f, 5, "Linux");
	put_option(image, f, 777, "unknown");
	put_u16(image, f, 0);
	put_string(f, "flyrecord");
	put_places(image, f, data, false);
	put_text(image, f);
}

static void put_section(const struct image *image, FILE *f, uint16_t id, uint64_t size)
{
	put_u16(image, f, id);
	put_u16(image, f, id == 3 && image->kind == IMAGE_ZSTD);
	put_u32(image, f, 0);
	put_u64(image, f, size);
}

/* Replace a section's size, once its end is known. */
static void end_section(const struct image *image, FILE *f, long from)
{
	long to = ftell(f);

	fseek(f, from + 8, SEEK_SET);
	put_u64(image, f, to - from - 16);
	fseek(f, to, SEEK_SET);
}

static void put_version_7(struct image *image, FILE *f, uint64_t data)
{
	long options_at, info, formats, unknown, options, end;

	put_initial(image, f);
	put_string(f, image->kind == IMAGE_ZSTD ? "zstd" : "none");
	put_string(f, "1");
	options_at = ftell(f);
	put_u64(image, f, 0);
	put_text(image, f);
	info = ftell(f);
	put_section(image, f, 16, 0);
	put_header_info(image, f);
	end_section(image, f, info);
	formats = ftell(f);
	put_section(image, f, 18, 0);
	put_formats(image, f);
	end_section(image, f, formats);
	unknown = ftell(f);
	put_section(image, f, 99, 0);
	put_string(f, "what is that?");
	end_section(image, f, unknown);
	options = ftell(f);
	put_section(image, f, 0, 0);
	put_u16(image, f, 16);
	put_u32(image, f, 8);
	put_u64(image, f, info);
	put_u16(image, f, 18);
	put_u32(image, f, 8);
	put_u64(image, f, formats);
	put_option(image, f, 777, "unknown");
	put_u16(image, f, 3);
	put_u32(image, f, 8 + 1 + 5 + 4 + 4 + image->nr_cpus * 20);
	put_u64(image, f, data - 16);
	put_string(f, "");
	put_string(f, "boot");
	put_u32(image, f, image->subbuf);
	put_u32(image, f, image->nr_cpus);
	put_places(image, f, data, true);
	put_u16(image, f, 0);
	put_u32(image, f, 8);
	put_u64(image, f, 0);
	end_section(image, f, options);
	end = ftell(f);
	fseek(f, options_at, SEEK_SET);
	put_u64(image, f, options);
	fseek(f, end, SEEK_SET);
}

static void put_head(struct image *image, FILE *f, uint64_t data)
{
	if (image->kind == IMAGE_VERSION_6)
		put_version_6(image, f, data);
	else
		put_version_7(image, f, data);
}

/* The file, for free(). An incomplete one has only the sub-buffers of CPU 0. */
char *image_make(struct image *image, size_t *size)
{
	char *text, *part;
	size_t len, data;
	unsigned int i;
	FILE *f;

	f = open_memstream(&text, size);
	put_head(image, f, 0);
	fclose(f);
	free(text);
	data = (*size + 16 + image->subbuf - 1) / image->subbuf * image->subbuf;

	f = open_memstream(&text, size);
	put_head(image, f, data);
	while ((size_t)ftell(f) < data - (image->kind == IMAGE_VERSION_6 ? 0 : 16))
		fputc(0, f);
	if (image->kind != IMAGE_VERSION_6)
		put_section(image, f, 3, 0);
	for (i = 0; i < (image->incomplete ? 1 : image->nr_cpus); i++) {
		part = image_part(image, i, &len);
		if (len)
			fwrite(part, len, 1, f);
		free(part);
		while (!image->incomplete && len++ % image->subbuf)
			fputc(0, f);
	}
	fclose(f);
	return text;
}
