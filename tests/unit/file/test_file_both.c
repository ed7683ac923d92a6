// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording of a remote and of the host at once, written and read again: the events and formats
 * of both, the names of tasks, notes, and a recording that was not finished.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "file_remote.h"
#include "lib/hyptrace_file.h"

#define FORMAT(name, id) \
	"name: " name "\nID: " id "\nformat:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n" \
	"\tfield:int nr;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"nr=%d\", REC->nr\n"

#define OF_HOST(cpu)	((cpu) | HYPTRACE_FILE_OF_HOST)

static const char *const systems[] = { "one", "one", "two" };
static const char *const formats[] = {
	FORMAT("first", "101"), FORMAT("second", "102"), FORMAT("third", "103"),
};

/* As cpu_ids of the remote, but one more */
static const unsigned int host_cpus[] = { 0, 1, 2, 5 };

static const struct hyptrace_file_host host = {
	.cpus = host_cpus, .nr_cpus = 4, .systems = systems, .formats = formats, .nr_formats = 3,
};

/* A sub-buffer with @nr events of the host, of task 40 + number */
static void fill_host(char *subbuf, uint64_t ts, uint32_t first, unsigned int nr)
{
	struct hyptrace_subbuf *to = (void *)subbuf;
	unsigned int i;

	memset(subbuf, 0, SUBBUF);
	to->time_stamp = ts;
	to->commit = nr * 16;
	for (i = 0; i < nr; i++) {
		const uint32_t record[] = {
			hyptrace_record_header(3, 1), 101 + i % 3, 40 + i, first + i
		};

		memcpy(to->data + 16 * i, record, sizeof(record));
	}
}

/* One of the remote's hypercalls */
static struct hyptrace_hypercall *new_call(void)
{
	struct hyptrace_hypercall *call = calloc(1, sizeof(*call));

	strcpy(call->remote, "test");
	call->name = strdup("do_it");
	call->id = 4;
	call->args = calloc(1, sizeof(*call->args));
	return call;
}

static struct hyptrace_file_writer *record(const char *path, unsigned int flags)
{
	struct hyptrace_file_meta meta;
	struct hyptrace_file_writer *w;
	char subbuf[SUBBUF];

	describe(&meta);
	meta.info.calls = (struct hyptrace_hypercall **)new_list(new_call());
	meta.info.nr_calls = 1;
	w = hyptrace_file_writer_new(path, &meta, flags, &host, &err);
	if (!w)
		fail_msg("%s", err.text);
	fill(subbuf, 1000, 0, 5);
	assert_int_equal(hyptrace_file_write(w, 2, subbuf, SUBBUF, &err), 0);
	fill_host(subbuf, 2000, 500, 6);
	assert_int_equal(hyptrace_file_write(w, OF_HOST(2), subbuf, SUBBUF, &err), 0);
	fill_host(subbuf, 3000, 600, 3);
	assert_int_equal(hyptrace_file_write(w, OF_HOST(0), subbuf, SUBBUF, &err), 0);
	/* the host's own CPU is none of the remote, and nobody has this one */
	assert_int_equal(hyptrace_file_write(w, 0, subbuf, SUBBUF, &err), -ENXIO);
	assert_int_equal(hyptrace_file_write(w, OF_HOST(3), subbuf, SUBBUF, &err), -ENXIO);
	return w;
}

static void expect(struct hyptrace_file *file, unsigned int cpu, uint64_t ts, const char *task,
		   const char *said)
{
	const struct hyptrace_stream_event *event;
	struct hyptrace_formats *fmts;
	const struct hyptrace_event *known;
	char text[256];
	size_t len;

	assert_int_equal(hyptrace_file_next(file, &event, &err), 1);
	assert_int_equal(event->is_host, !!task);
	fmts = hyptrace_file_info(task ? hyptrace_file_host(file, &err) : file)->formats;
	assert_int_equal(event->cpu, cpu);
	assert_int_equal(event->record.ts, ts);
	known = hyptrace_formats_event(fmts, &event->record);
	assert_non_null(known);
	snprintf(text, sizeof(text), "%s %s", known->name,
		 hyptrace_formats_text(fmts, known, &event->record, &len));
	text[strlen(known->name) + 1 + len] = '\0';
	assert_string_equal(text, said);
	if (task) {
		snprintf(text, sizeof(text), "%.*s", 64,
			 hyptrace_formats_task(fmts, &event->record, &len));
		text[len] = '\0';
		assert_non_null(strstr(text, task));
	} else {
		assert_null(hyptrace_formats_task(fmts, &event->record, &len));
	}
}

static void check_host(struct hyptrace_file *file, bool has_tasks)
{
	const struct hyptrace_file_info *info;
	struct hyptrace_file *other = hyptrace_file_host(file, &err);
	const struct hyptrace_stream_event *event;

	assert_non_null(other);
	info = hyptrace_file_info(file);
	assert_int_equal(info->nr_calls, 1);
	assert_string_equal(info->calls[0]->name, "do_it");
	/* the host has none */
	info = hyptrace_file_info(other);
	assert_int_equal(info->nr_calls, 0);
	assert_int_equal(info->nr_cpus, 4);
	assert_int_equal(info->cpus[3]->id, 5);
	assert_int_equal(info->nr_events, 3);
	assert_string_equal(info->events[0]->remote, "one");
	assert_string_equal(info->events[0]->name, "first");
	assert_string_equal(info->events[1]->remote, "one");
	assert_string_equal(info->events[2]->remote, "two");
	assert_string_equal(info->events[2]->name, "third");
	assert_int_equal(info->events[2]->id, 103);
	hyptrace_file_options(file)->sides = HYPTRACE_SIDE_REMOTE | HYPTRACE_SIDE_HOST;
	expect(file, 2, 1001, NULL, "mark 0");
	expect(file, 2, 1002, NULL, "mark 1");
	expect(file, 2, 1003, NULL, "mark 2");
	expect(file, 2, 1004, NULL, "mark 3");
	expect(file, 2, 1005, NULL, "mark 4");
	expect(file, 2, 2001, has_tasks ? "bash-40" : "<...>-40", "first nr=500");
	expect(file, 2, 2002, has_tasks ? "a task-41" : "<...>-41", "second nr=501");
	expect(file, 2, 2003, "<...>-42", "third nr=502");
	expect(file, 2, 2004, "<...>-43", "first nr=503");
	expect(file, 2, 2005, "<...>-44", "second nr=504");
	expect(file, 2, 2006, "<...>-45", "third nr=505");
	if (has_tasks) {
		/* what the counts say, and no sub-buffer */
		assert_int_equal(hyptrace_file_next(file, &event, &err), 1);
		assert_null(event->record.data);
		assert_int_equal(event->record.lost, 70);
		assert_int_equal(event->cpu, 2);
		assert_true(event->is_host);
	}
	expect(file, 0, 3001, has_tasks ? "bash-40" : "<...>-40", "first nr=600");
	expect(file, 0, 3002, has_tasks ? "a task-41" : "<...>-41", "second nr=601");
	expect(file, 0, 3003, "<...>-42", "third nr=602");
	assert_int_equal(hyptrace_file_next(file, &event, &err), -ENODATA);
}

/* Count the events of the host, of which the first has this time. */
static unsigned int count_alone(struct hyptrace_file *file, uint64_t first)
{
	struct hyptrace_file *other = hyptrace_file_host(file, &err);
	const struct hyptrace_stream_event *event;
	unsigned int nr = 0;

	while (hyptrace_file_next(other, &event, &err) == 1) {
		if (!nr)
			assert_int_equal(event->record.ts, first);
		nr += !!event->record.data;
	}
	return nr;
}

/* The host's events are those of the CPUs and times that are chosen of the file. */
static void check_choice(struct hyptrace_file *file)
{
	const unsigned int cpus[] = { 5, 2 };

	hyptrace_file_options(file)->last = 0;
	assert_int_equal(count_alone(file, 2001), 9);
	hyptrace_file_options(file)->from = 2003;
	assert_int_equal(count_alone(file, 2003), 7);
	hyptrace_file_options(file)->to = 2005;
	assert_int_equal(count_alone(file, 2003), 3);
	hyptrace_file_options(file)->from = 0;
	hyptrace_file_options(file)->to = UINT64_MAX;
	assert_int_equal(hyptrace_file_set_cpus(file, cpus, 2, &err), 0);
	assert_int_equal(count_alone(file, 2001), 6);
	assert_int_equal(hyptrace_file_set_cpus(file, cpus, 1, &err), 0);
	assert_int_equal(count_alone(file, 0), 0);
}

static void check(unsigned int flags)
{
	const int free_fd = dup(0);
	struct hyptrace_file_writer *w = record("a.dat", flags);
	const struct hyptrace_stream_event *event;
	const struct hyptrace_file_cpu *cpu;
	struct hyptrace_file *file, *other;
	uint64_t bytes, all;
	unsigned int nr;

	/* the first one that is free when all files are closed */
	close(free_fd);
	/* what is compressed is still in memory */
	assert_int_equal(exists("a.dat.part.host2"), !flags);
	assert_int_equal(exists("a.dat.part.cpu2"), !flags);
	assert_int_equal(exists("a.dat.part.host0"), !flags);
	assert_false(exists("a.dat.part.host5"));
	hyptrace_file_set_host_tasks(w, "9 nobody\n");
	hyptrace_file_set_host_tasks(w, "40 bash\n41 a task\n");
	hyptrace_file_add_note(w, "a note");
	hyptrace_file_set_counts(w, OF_HOST(2), 6, 70, 800);
	assert_int_equal(hyptrace_file_finish(w, &err), 0);
	assert_false(exists("a.dat.part.host2") || exists("a.dat.part"));
	file = hyptrace_file_open("a.dat", &err);
	if (!file)
		fail_msg("%s", err.text);
	assert_true(hyptrace_file_info(file)->is_complete);
	assert_int_equal(hyptrace_file_info(file)->nr_notes, 1);
	assert_string_equal(hyptrace_file_info(file)->notes[0], "a note");
	check_host(file, true);
	/* of compressed sub-buffers, their number is not read */
	hyptrace_file_progress(file, &bytes, &all);
	assert_in_range(bytes, flags ? 1 : all, UINT32_MAX);
	/* of the remote one sub-buffer, of the host two */
	if (!flags)
		assert_int_equal(all, 3 * SUBBUF);
	cpu = hyptrace_file_info(hyptrace_file_host(file, &err))->cpus[2];
	assert_int_equal(cpu->lost, 70);
	assert_int_equal(cpu->filtered, 800);
	/* alone, as many as were chosen of both */
	hyptrace_file_options(file)->last = 2;
	other = hyptrace_file_host(file, &err);
	for (nr = 0; hyptrace_file_next(other, &event, &err) == 1; nr++)
		assert_true(event->record.ts > 3001);
	assert_int_equal(nr, 2);
	check_choice(file);
	hyptrace_file_close(file);
	/* both have opened it */
	assert_int_equal(dup(0), free_fd);
	close(free_fd);
	unlink("a.dat");
}

static void both(void **state)
{
	(void)state;
	check(0);
	check(HYPTRACE_FILE_ZSTD);
}

/* Without an end, the parts are read; without names of tasks. */
static void unfinished(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct hyptrace_file_writer *w = record("b.dat", i ? HYPTRACE_FILE_ZSTD : 0);
		struct hyptrace_file *file;

		if (!i) {
			file = hyptrace_file_open("b.dat.part", &err);
			if (!file)
				fail_msg("%s", err.text);
			assert_false(hyptrace_file_info(file)->is_complete);
			check_host(file, false);
			hyptrace_file_close(file);
			assert_null(hyptrace_file_open("b.dat.part.host2", &err));
			assert_string_equal(err.text, "it has one CPU of an unfinished recording: read \"b.dat.part\", which finds this file, too");
			assert_null(hyptrace_file_open("b.dat.part.cpu2", &err));
			assert_string_equal(err.text, "it has one CPU of an unfinished recording: read \"b.dat.part\", which finds this file, too");
		}
		hyptrace_file_abandon(w);
		assert_false(exists("b.dat") || exists("b.dat.part") ||
			     exists("b.dat.part.host2") || exists("b.dat.part.host0") ||
			     exists("b.dat.part.cpu2"));
	}
	/* what is left of another one is not taken for a part of this */
	for (i = 0; i < 2; i++) {
		struct hyptrace_file_meta meta;

		describe(&meta);
		fclose(fopen(i ? "c.dat.part.cpu5" : "c.dat.part.host5", "w"));
		assert_null(hyptrace_file_writer_new("c.dat", &meta, 0, &host, &err));
		assert_int_equal(err.errnum, EEXIST);
		assert_non_null(strstr(err.text, i ? "c.dat.part.cpu5 is left" :
						     "c.dat.part.host5 is left"));
		unlink(i ? "c.dat.part.cpu5" : "c.dat.part.host5");
	}
}

/* Of more tasks than the head has room for, whole lines are kept. */
static void many_tasks(void **state)
{
	struct hyptrace_file_writer *w = record("d.dat", 0);
	char tasks[16384] = "";
	const char *in;
	char *data;
	size_t size;
	unsigned int i;

	(void)state;
	for (i = 0; i < 1000; i++)
		sprintf(tasks + strlen(tasks), "%u task%u\n", 1000 + i, i);
	hyptrace_file_set_host_tasks(w, tasks);
	assert_int_equal(hyptrace_file_finish(w, &err), 0);
	data = slurp("d.dat", &size);
	in = memmem(data, size, "1000 task0\n1001", 15);
	assert_non_null(in);
	for (i = 0; in[i] && in[i] == tasks[i]; i++)
		;
	assert_in_range(i, 8192 - 16, 8192);
	assert_int_equal(tasks[i - 1], '\n');
	for (; i < 8192; i++)
		assert_int_equal(in[i], '\n');
	assert_int_not_equal(in[8192], '\n');
	free(data);
}

/* Only whole lines are kept: the rest of the room has empty ones. */
static void lines_of_tasks(void **state)
{
	static const struct {
		const char	*tasks;
		size_t		kept;
	} cases[] = {
		{ "", 0 }, { "40 bash", 0 }, { "40 bash\n", 8 }, { "40 bash\n4", 8 },
		{ "40 bash\n41 a", 8 }, { "\n\n4", 2 },
	};
	struct hyptrace_file_writer *w;
	char room[8192 + 8], *data;
	unsigned int i;
	size_t size;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t len = 8192;

		w = record("e.dat", 0);
		hyptrace_file_set_host_tasks(w, cases[i].tasks);
		assert_int_equal(hyptrace_file_finish(w, &err), 0);
		memcpy(room, &len, sizeof(len));
		memset(room + 8, '\n', 8192);
		memcpy(room + 8, cases[i].tasks, cases[i].kept);
		data = slurp("e.dat", &size);
		assert_non_null(memmem(data, size, room, sizeof(room)));
		free(data);
		unlink("e.dat");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(both, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(unfinished, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(many_tasks, enter_folder, leave_folder),
		cmocka_unit_test_setup_teardown(lines_of_tasks, enter_folder, leave_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
