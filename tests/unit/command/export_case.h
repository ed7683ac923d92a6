/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An export of the events of hyp/ to memory, or to a folder, without a trace file. For the tests
 * of export formats.
 */
#ifndef EXPORT_CASE_H
#define EXPORT_CASE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../tools/hyptrace/output/die.h"
#include "../../tools/hyptrace/output/printer.h"
#include "../../tools/hyptrace/sink/export.h"
#include "sentence_case.h"

static struct hyptrace_hypercall_arg call_arg[] = {
	{ (char *)"pfn", (char *)"u64" }, { (char *)"nr_pages", (char *)"u64" },
};

static struct hyptrace_hypercall_arg *call_args[] = { &call_arg[0], &call_arg[1] };
static struct hyptrace_hypercall call[] = {
	{ .id = 1, .name = (char *)"__share", .returns = true, .known_args = true, .nr_args = 2,
	  .args = call_args },
	{ .id = 3, .name = (char *)"bad name", .returns = true, .known_args = true, .nr_args = 1,
	  .args = call_args },
	{ .id = 9, .name = (char *)"opaque", .returns = true },
};

static struct hyptrace_hypercall *calls[] = { &call[0], &call[1], &call[2] };

static struct hyptrace_file_info info = {
	.clock = (char *)"boot", .remote = (char *)"hyper\"visor", .subbuf_size = 4096,
	.offset = INT64_C(1700000000000000005),
};

static struct export x;
static const struct export_format *x_format;
static struct out x_out;
static char folder[] = "/tmp/test_export.XXXXXX";
static char said[256];

/* of the other files of the command */
volatile sig_atomic_t signals_stop;

int hyptrace_file_run(struct hyptrace_file *file, const struct hyptrace_file_work *work,
		      size_t size, struct hyptrace_error *err)
{
	(void)file;
	(void)work;
	(void)size;
	(void)err;
	return -1;
}

int hyptrace_file_wait(const struct hyptrace_file_batch *batch)
{
	(void)batch;
	return 0;
}

void cmd_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(said, sizeof(said), fmt, ap);
	va_end(ap);
}

/* Begin an export of the events that describe() has described. */
static inline void begin_export(const char *name, bool to_folder)
{
	begin_formats();
	assert_int_equal(hyptrace_formats_set_hypercalls(formats, calls, COUNT(calls), NULL), 0);
	x_format = export_find_format(name);
	assert_non_null(x_format);
	x = (struct export) {
		.format = x_format, .info = &info, .formats = formats,
		.events = event_list(events, NR_EVENTS),
		.nr_events = NR_EVENTS, .name = "out", .calls = calls, .nr_calls = COUNT(calls),
		.nr_cpus = 4096, .model = hyptrace_model_new(formats, NULL),
		.origin = origin_new(&info),
	};
	assert_non_null(x.model);
	said[0] = '\0';
	if (to_folder) {
		strcpy(folder + sizeof(folder) - 7, "XXXXXX");
		assert_non_null(mkdtemp(folder));
		x.folder_fd = open(folder, O_DIRECTORY);
	} else {
		out_init(&x_out, memfd_create("out", 0));
		x.out = &x_out;
	}
	assert_int_equal(x_format->begin(&x), EXIT_DONE);
}

static inline char *read_all(int fd, size_t *len)
{
	struct stat st;
	char *text;

	assert_int_equal(fstat(fd, &st), 0);
	text = calloc(1, st.st_size + 1);
	assert_int_equal(pread(fd, text, st.st_size, 0), st.st_size);
	close(fd);
	*len = st.st_size;
	return text;
}

static inline int end_all(void)
{
	int code;

	export_end_parts(&x);
	code = x_format->end(&x);
	hyptrace_model_free((struct hyptrace_model *)x.model);
	origin_free(x.origin);
	return code;
}

/* End an export to memory; return what was written, for free(). */
static inline char *end_export(void)
{
	size_t len;

	assert_int_equal(end_all(), EXIT_DONE);
	out_flush(&x_out);
	out_free(&x_out);
	free_formats(NULL);
	return read_all(x_out.fd, &len);
}

static inline char *read_file(const char *name, size_t *len)
{
	int fd = openat(x.folder_fd, name, O_RDONLY);

	return fd < 0 ? NULL : read_all(fd, len);
}

/* Remove the folder of an export, after its end. */
static inline void remove_folder(void)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while ((entry = readdir(dir)))
		unlinkat(x.folder_fd, entry->d_name, 0);
	closedir(dir);
	close(x.folder_fd);
	assert_int_equal(rmdir(folder), 0);
	free_formats(NULL);
}

static inline void put_record(unsigned int cpu, const struct hyptrace_record *rec)
{
	const struct hyptrace_stream_event event = { .cpu = cpu, .record = *rec };

	export_put(&x, &event, 1);
}

static inline void put_at(uint64_t ts, unsigned int cpu, const char *name, const void *payload)
{
	struct hyptrace_record rec = record_of(name, payload, event_of(name)->size);

	rec.ts = ts;
	put_record(cpu, &rec);
	free((void *)rec.data);
}

/* PUT(time, cpu, event, .field = value, ...) */
#define PUT(ts, cpu, event, ...) \
	put_at(ts, cpu, #event, &(struct entry_##event){ __VA_ARGS__ })

static inline void put_unknown(uint64_t ts, unsigned int cpu)
{
	static const uint16_t data[4] = { 999, 1, 2, 3 };

	put_record(cpu, &(struct hyptrace_record){ .ts = ts, .data = data, .size = sizeof(data) });
}

static inline void put_loss(unsigned int cpu, uint64_t ts, uint64_t lost)
{
	put_record(cpu, &(struct hyptrace_record){ .ts = ts, .lost = lost });
}

#endif /* EXPORT_CASE_H */
