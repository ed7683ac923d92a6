// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files as trace-cmd records them from a host (tests/files/host_trace.py): all that the reader says
 * of them is as in data/files/NAME.txt, and lines.txt. UPDATE=1 in the environment writes these.
 */
#include "fail_alloc.h"
#include "lib/internal.h"
#include "file_case.h"

static const char *const names[] = { "host-6", "host-7", "host-be32", "host-7z" };

#define NR	(sizeof(names) / sizeof(names[0]))

static struct hyptrace_file *open_host(const char *name)
{
	struct hyptrace_file *file;
	char host[256];

	fail_alloc_pause(true);
	snprintf(host, sizeof(host), DATA "/files/%s.dat", name);
	fail_alloc_pause(false);
	file = hyptrace_file_open(host, &err);
	return file;
}

static const char *or_none(const char *text)
{
	return text ? text : "-";
}

static void print_info(FILE *f, const struct hyptrace_file_info *info)
{
	unsigned int i, j;

	fprintf(f, "version %u, compression %s, sub-buffers %u, %s-endian, complete %d\n",
		info->version, info->compression, info->subbuf_size,
		info->big_endian ? "big" : "little", info->is_complete);
	fprintf(f, "remote %s, clock %s, recorder %s, command %s, uname %s, boot %s\n",
		or_none(info->remote), or_none(info->clock), or_none(info->recorder),
		or_none(info->command), or_none(info->uname), or_none(info->boot));
	fprintf(f, "begin %llu, offset %lld\n", (unsigned long long)info->begin,
		(long long)info->offset);
	for (i = 0; i < info->nr_pieces; i++)
		fprintf(f, "%llu + %llu: %s\n", (unsigned long long)info->pieces[i]->offset,
			(unsigned long long)info->pieces[i]->size, info->pieces[i]->text);
	for (i = 0; i < info->nr_cpus; i++)
		fprintf(f, "CPU %u: %llu + %llu\n", info->cpus[i]->id,
			(unsigned long long)info->cpus[i]->offset,
			(unsigned long long)info->cpus[i]->size);
	for (i = 0; i < info->nr_events; i++) {
		const struct hyptrace_event *event = info->events[i];

		fprintf(f, "%s:%s, id %u, %u bytes\n", event->remote, event->name, event->id,
			event->size);
		for (j = 0; j < event->nr_fields; j++) {
			const struct hyptrace_field *field = event->fields[j];
			unsigned int k;

			fprintf(f, "  %s %s: %u + %u%s", field->type, field->name, field->offset,
				field->size, field->is_signed ? ", signed" : "");
			for (k = 0; k < field->nr_symbols; k++)
				fprintf(f, ", %llu %s",
					(unsigned long long)field->symbols[k]->value,
					field->symbols[k]->name);
			fputc('\n', f);
		}
	}
}

static void print_lines(FILE *f, struct hyptrace_file *file)
{
	struct hyptrace_formats *fmts = hyptrace_file_info(file)->formats;
	const struct hyptrace_stream_event *event;
	const struct hyptrace_event *known;
	const char *task, *text;
	size_t task_len, len;

	while (hyptrace_file_next(file, &event, &err) == 1) {
		known = hyptrace_formats_event(fmts, &event->record);
		assert_non_null(known);
		task = hyptrace_formats_task(fmts, &event->record, &task_len);
		fprintf(f, "%.*s[%03u] %llu ", (int)task_len, task, event->cpu,
			(unsigned long long)event->record.ts);
		text = hyptrace_formats_text(fmts, known, &event->record, &len);
		fprintf(f, "%s: %.*s\n", known->name, (int)len, text);
	}
}

/* Compare with a file, line by line. */
static void is_as_in(const char *name, char *text)
{
	char expected[256], line[1024], *at = text, *end;
	unsigned int nr = 0;
	FILE *f;

	snprintf(expected, sizeof(expected), DATA "/files/%s.txt", name);
	if (getenv("UPDATE"))
		write_file(expected, text, strlen(text));
	f = fopen(expected, "re");
	assert_non_null(f);
	for (; fgets(line, sizeof(line), f); at = end, nr++) {
		end = at + strcspn(at, "\n");
		end += *end == '\n';
		if (strncmp(line, at, end - at) || strlen(line) != (size_t)(end - at))
			fail_msg("%s.txt, line %u: \"%.*s\" instead of \"%s\"", name, nr + 1,
				 (int)(end - at), at, line);
	}
	assert_string_equal(at, "");
	assert_in_range(nr, 10, 1000);
	fclose(f);
}

static void contents(void **state)
{
	struct hyptrace_file *file;
	char *info, *lines;
	size_t size;
	unsigned int i;
	FILE *f;

	(void)state;
	for (i = 0; i < NR; i++) {
		file = open_host(names[i]);
		assert_non_null(file);
		f = open_memstream(&info, &size);
		print_info(f, hyptrace_file_info(file));
		fclose(f);
		f = open_memstream(&lines, &size);
		print_lines(f, file);
		fclose(f);
		is_as_in(names[i], info);
		is_as_in("lines", lines);
		free(info);
		free(lines);
		hyptrace_file_close(file);
	}
}

/* Of parts that begin at the same place, the largest comes first: others may be in it. */
static void parts_at_one_place(void **state)
{
	/* the further trace buffer that an option names is in another option, and has no CPUs */
	static const char before[] = "\0\0flyrecord";
	struct __attribute__((packed)) {
		uint16_t id;
		uint32_t size;
		char text[10];
		uint16_t buffer;
		uint32_t buffer_size;
		uint64_t at;
		char name[2];
	} added = { 999, 10, "flyrecord", 3, 10, 0, "a" };
	const struct hyptrace_file_info *info;
	struct hyptrace_file *file;
	struct image image;
	char *data, *end;
	unsigned int i;
	size_t size;
	FILE *f;

	(void)state;
	image_init(&image, IMAGE_VERSION_6, false, 1024, 0);
	image.no_text = true;
	data = image_make(&image, &size);
	end = memmem(data, size, before, sizeof(before));
	assert_non_null(end);
	added.at = end - data + 6;
	f = fopen(path, "w");
	fwrite(data, 1, end - data, f);
	fwrite(&added, sizeof(added), 1, f);
	fwrite(end, 1, data + size - end, f);
	fclose(f);
	free(data);
	file = hyptrace_file_open(path, &err);
	if (!file)
		fail_msg("%s", err.text);
	info = hyptrace_file_info(file);
	for (i = 0; strcmp(info->pieces[i]->text, "option 3"); i++)
		assert_in_range(i, 0, info->nr_pieces - 3);
	assert_string_equal(info->pieces[i + 1]->text, "the table of the CPUs: 0");
	assert_int_equal(info->pieces[i]->offset, added.at + 10);
	assert_int_equal(info->pieces[i + 1]->offset, added.at + 10);
	hyptrace_file_close(file);
	image_free(&image);
}

/* The names of all values are there. */
static void check_symbols(const struct hyptrace_file_info *info)
{
	unsigned int i, j, k;

	for (i = 0; i < info->nr_events; i++)
		for (j = 0; j < info->events[i]->nr_fields; j++)
			for (k = 0; k < info->events[i]->fields[j]->nr_symbols; k++)
				assert_non_null(info->events[i]->fields[j]->symbols[k]->name);
}

/*
 * Read a file once more for each allocation, which fails. What can be opened lacks nothing, and
 * what cannot closes no descriptor but its own. Return how many allocations there are.
 */
static unsigned int fail_each(struct hyptrace_file *(*open)(const void *arg), const void *arg,
			      unsigned int nr_events)
{
	const struct hyptrace_stream_event *event;
	const int input = fcntl(STDIN_FILENO, F_GETFD);
	const struct hyptrace_file_info *info;
	struct hyptrace_file *file;
	unsigned int nth, nr;
	bool failed = true;
	uint64_t ts;
	int ret;

	for (nth = 1; failed; nth++) {
		memset(&err, 0, sizeof(err));
		fail_alloc(nth);
		file = open(arg);
		if (!file) {
			failed = fail_alloc_end();
			assert_true(failed);
			assert_int_equal(err.errnum, ENOMEM);
			assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), input);
			continue;
		}
		info = hyptrace_file_info(file);
		/* version 6 need not have an option for it */
		assert_true(info->clock || info->version == 6);
		assert_non_null(info->compression);
		check_symbols(info);
		ret = hyptrace_file_times(file, &ts, NULL, &err);
		assert_true(!ret || ret == -ENOMEM);
		for (nr = 0; !ret && (ret = hyptrace_file_next(file, &event, &err)) == 1; nr++)
			ret = 0;
		failed = fail_alloc_end();
		hyptrace_file_close(file);
		if (ret == -ENODATA)
			assert_int_equal(nr, nr_events);
		else
			assert_int_equal(ret, -ENOMEM);
		assert_true(failed || ret == -ENODATA);
	}
	return nth;
}

/* The other calls that allocate fail, too: the name of a recording's part, and chosen CPUs. */
static void other_calls(void **state)
{
	const unsigned int cpu = 1;
	struct hyptrace_file *file;
	unsigned int nth;
	char none[80];
	bool failed;

	(void)state;
	snprintf(none, sizeof(none), "%s/none.dat", folder);
	for (nth = 1, failed = true; failed; nth++) {
		fail_alloc(nth);
		assert_null(hyptrace_file_open(none, &err));
		failed = fail_alloc_end();
		assert_int_equal(err.errnum, failed ? ENOMEM : ENOENT);
	}
	assert_in_range(nth, 4, 10);
	file = open_host(names[0]);
	assert_non_null(file);
	fail_alloc(1);
	assert_int_equal(hyptrace_file_set_cpus(file, &cpu, 1, &err), -ENOMEM);
	assert_true(fail_alloc_end());
	hyptrace_file_close(file);
}

static struct hyptrace_file *open_named(const void *arg)
{
	return open_host(arg);
}

static struct hyptrace_file *open_path(const void *arg)
{
	return hyptrace_file_open(arg, &err);
}

static void no_memory(void **state)
{
	struct image image;
	unsigned int i;
	size_t size;
	char *data;

	(void)state;
	for (i = 0; i < NR; i++)
		assert_in_range(fail_each(open_named, names[i], 32), 40, 5000);
	for (i = IMAGE_VERSION_6; i <= IMAGE_ZSTD; i++) {
		char part[80];

		image_init(&image, i, i == IMAGE_VERSION_7, 1024, 2);
		fill(&image, 150, 1000);
		write_image(&image);
		assert_in_range(fail_each(open_path, path, 150), 40, 5000);
		/* a recording that has not ended */
		image.incomplete = true;
		write_image(&image);
		data = image_part(&image, 1, &size);
		snprintf(part, sizeof(part), "%s.cpu1", path);
		write_file(part, data, size);
		free(data);
		assert_in_range(fail_each(open_path, path, 150), 40, 5000);
		unlink(part);
		/* without a description, the headers have the clock */
		if (i != IMAGE_VERSION_6) {
			image.incomplete = false;
			image.no_text = true;
			write_image(&image);
			assert_in_range(fail_each(open_path, path, 150), 40, 5000);
		}
		image_free(&image);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(contents), cmocka_unit_test(parts_at_one_place),
		cmocka_unit_test(no_memory),
		cmocka_unit_test(other_calls),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
