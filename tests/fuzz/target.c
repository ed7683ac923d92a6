// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is done with each file: all that the reader can do, lines and fields of all events, and one
 * of the exports now and then. Reading must end, within a bound of work and of memory. For
 * libFuzzer.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../tools/hyptrace/sink/export.h"
#include "../../tools/hyptrace/output/die.h"
#include "../../tools/hyptrace/output/out.h"
#include "../../tools/lib/file/read/file.h"
#include "fuzz.h"

/* A file has no more events, damaged places and losses than words. */
#define STEPS(size)	((size) + 1000)

/* The bound of hyptrace.dat(5), in bytes, and what the sanitizers add to small pieces */
#define MEMORY_MAX	((64 << 20) + (16 << 20))

/* An export is tried for one of so many files. */
#define EXPORTS_EACH	4

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

/* The linker puts the formats of all files together. */
extern const struct export_format __start_export_formats[], __stop_export_formats[];

const size_t fuzz_tail;

/* of the other files of the command */
volatile sig_atomic_t signals_stop;

void cmd_note(const char *fmt, ...)
{
	(void)fmt;
}

int export_open(struct export *x, const char *name, struct out *out)
{
	(void)x;
	(void)name;
	out_init(out, open("/dev/null", O_WRONLY | O_CLOEXEC));
	return EXIT_DONE;
}

int export_close(struct export *x, const char *name, struct out *out)
{
	(void)x;
	(void)name;
	out_flush(out);
	close(out->fd);
	out_free(out);
	return EXIT_DONE;
}

static void print(struct hyptrace_formats *fmts, const struct hyptrace_record *rec)
{
	static char line[HYPTRACE_LINE_MAX];
	static volatile unsigned char sink;
	const struct hyptrace_event *event;
	uint32_t size;
	unsigned int i;
	size_t len;
	char *end;

	/* the payload is where it is said to be */
	if (rec->size)
		sink = ((const unsigned char *)rec->data)[rec->size - 1];
	end = hyptrace_formats_line(fmts, rec, line);
	fuzz_check(!end || end <= line + sizeof(line), "a line is too long");
	event = hyptrace_formats_event(fmts, rec);
	if (!event)
		return;
	fuzz_check(hyptrace_formats_text(fmts, event, rec, &len), "an event has no text");
	hyptrace_formats_task(fmts, rec, &len);
	for (i = 0; i < event->nr_fields; i++) {
		const unsigned char *at = hyptrace_field_bytes(event->fields[i], rec, &size);

		if (at && size)
			sink = at[0] + at[size - 1];
	}
	(void)sink;
}

/* Deliver all events to a function. */
static void read_all(struct hyptrace_file *file, size_t size,
		     void (*fn)(void *arg, const struct hyptrace_stream_event *event), void *arg)
{
	const struct hyptrace_stream_event *event;
	struct hyptrace_error err;
	size_t steps = 0;
	int ret;

	do {
		err.text[0] = '\0';
		ret = hyptrace_file_next(file, &event, &err);
		if (ret == 1 && fn)
			fn(arg, event);
		fuzz_check(ret == 1 || ret == -ENODATA || err.text[0], "an error has no text");
		fuzz_check(++steps <= STEPS(size), "reading does not end");
	} while (ret == 1 || ret == -EBADMSG);
}

static void print_event(void *arg, const struct hyptrace_stream_event *event)
{
	if (event->record.data)
		print(arg, &event->record);
}

static bool is_seldom(const struct hyptrace_stream_event *event, void *arg)
{
	(void)arg;
	return event->record.ts % 8 == 0;
}

static void count_subbuf(const struct hyptrace_file_subbuf *subbuf, void *arg)
{
	size_t *nr = arg;

	(void)subbuf;
	++*nr;
}

static void export_event(void *arg, const struct hyptrace_stream_event *event)
{
	export_put(arg, event, 1);
}

static void try_export(struct hyptrace_file *file, size_t size,
		       const struct export_format *format, bool to_folder)
{
	static struct out out;
	struct export x = {
		.info = hyptrace_file_info(file), .folder_fd = -1, .name = "out",
		.format = format, .formats = hyptrace_file_info(file)->formats,
	};
	unsigned int i;
	struct hyptrace_model *model = hyptrace_model_new(x.formats, NULL);
	struct origin *origin = origin_new(x.info);

	fuzz_check(model, "there is no memory");
	x.origin = origin;
	x.model = model;
	for (i = 0; i < x.info->nr_cpus; i++)
		if (x.info->cpus[i]->id >= x.nr_cpus)
			x.nr_cpus = x.info->cpus[i]->id + 1;
	x.events = x.info->events;
	x.nr_events = x.info->nr_events;
	x.calls = x.info->calls;
	x.nr_calls = x.info->nr_calls;
	if (!to_folder) {
		out_init(&out, open("/dev/null", O_WRONLY | O_CLOEXEC));
		x.out = &out;
	}
	if (!format->begin(&x))
		read_all(file, size, export_event, &x);
	export_end_parts(&x);
	format->end(&x);
	if (x.out) {
		out_flush(&out);
		close(out.fd);
		out_free(&out);
	}
	origin_free(origin);
	hyptrace_model_free(model);
}

static uint32_t hash(const uint8_t *data, size_t size)
{
	uint32_t value = 2166136261;
	size_t i;

	for (i = 0; i < size; i += 1 + i / 64)
		value = (value ^ data[i]) * 16777619;
	return value ^ value >> 15;
}

static void use_file(struct hyptrace_file *file, size_t size, uint32_t number)
{
	const struct hyptrace_file_options all = *hyptrace_file_options(file);
	struct hyptrace_error err = {};
	uint64_t first = 0, last = 0;
	size_t nr = 0;
	const size_t nr_formats = __stop_export_formats - __start_export_formats;
	const struct export_format *format;

	read_all(file, size, print_event, hyptrace_file_info(file)->formats);
	hyptrace_file_options(file)->last = number % 8 + 1;
	read_all(file, size, NULL, NULL);
	hyptrace_file_times(file, &first, NULL, NULL);
	hyptrace_file_times(file, NULL, &last, NULL);
	*hyptrace_file_options(file) = (struct hyptrace_file_options){
		.from = first + 3, .to = number & 8 ? last : UINT64_MAX,
		.last = number & 16 ? 3 : 0, .sides = all.sides, .filter = is_seldom,
	};
	read_all(file, size, NULL, NULL);
	*hyptrace_file_options(file) = all;
	hyptrace_file_walk(file, count_subbuf, &nr, &err);
	fuzz_check(nr <= STEPS(size), "there are more sub-buffers than bytes");
	number = (number >> 8) % (2 * nr_formats * EXPORTS_EACH);
	if (number >= 2 * nr_formats)
		return;
	format = &__start_export_formats[number / 2];
	if (format->targets & (number % 2 ? EXPORT_TO_FOLDER : EXPORT_TO_FILE))
		try_export(file, size, format, number % 2);
}

/* Read a file; its second half is also a part of CPU 1 beside it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	struct hyptrace_error err = {};
	struct hyptrace_file *file;
	size_t part;

	if (size > FUZZ_SIZE_MAX)
		size = FUZZ_SIZE_MAX;
	fuzz_write("f", data, size);
	/* a sub-buffer of the smallest size begins there */
	part = (size - size / 2) & ~(size_t)1023;
	fuzz_write("f.cpu1", data + part, size - part);
	snprintf(path, sizeof(path), "%s/f", fuzz_folder());
	fuzz_memory_begin();
	file = hyptrace_file_open(path, &err);
	fuzz_check(file || err.text[0], "an error has no text");
	if (file)
		use_file(file, size, hash(data, size));
	hyptrace_file_close(file);
	fuzz_check(fuzz_memory_peak() < MEMORY_MAX, "it takes too much memory");
	fuzz_check(fuzz_seconds() < FUZZ_SECONDS_MAX, "it takes too long");
	if (!file)
		fuzz_refused();
	return 0;
}
