// SPDX-License-Identifier: GPL-2.0-only
/* The processes that read the pipes of a tracer in tracefs, and a stream of what they find. */
#include "tracefs_folder.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "lib/tracefs/tracefs.h"

#define PIPE0	"per_cpu/cpu0/trace_pipe"
#define PIPE1	"per_cpu/cpu1/trace_pipe"

static struct hyptrace_reader *readers[2];

/* Read CPUs 0 and 1. */
static void begin(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < 2; cpu++) {
		readers[cpu] = hyptrace_reader_open_on(h, NULL, cpu, 0, &err);
		assert_non_null(readers[cpu]);
		/* as that of the driver */
		assert_true(fcntl(hyptrace_reader_fd(readers[cpu]), F_GETFL) & O_NONBLOCK);
	}
}

static void end(void)
{
	assert_int_equal(hyptrace_reader_hold(readers[0], NULL, 0, false, &err), 0);
}

/* After the end, the CPU has so many events and losses. */
static void has(unsigned int cpu, unsigned int events, uint64_t losses)
{
	uint64_t lost;

	assert_int_equal(drain(readers[cpu], &lost), events);
	assert_int_equal(lost, losses);
	hyptrace_reader_close(readers[cpu]);
}

/* Add a character so many times, and a text. */
static void add(const char *file, char c, unsigned int nr, const char *text)
{
	FILE *f = fopen(path_of(file), "ae");

	while (nr--)
		fputc(c, f);
	fputs(text, f);
	fclose(f);
}

/* A line that is too long for one read is one lost event, and so is one without an end. */
static void long_lines(void **state)
{
	const int lowest = dup(0);

	(void)state;
	close(lowest);
	lines(PIPE0, 0, 1);
	add(PIPE0, 'x', 300000, "\n");
	lines(PIPE0, 1, 1);
	add(PIPE0, 'x', 9, "");
	lines(PIPE1, 0, 3);
	/* the last bytes of it are read alone */
	add(PIPE1, 'x', 128 << 10, "");
	begin();
	end();
	/* there is nothing more to end */
	end();
	has(0, 2, 2);
	has(1, 3, 1);
	/* all descriptors are closed */
	assert_int_equal(dup(0), lowest);
	close(lowest);
}

/* If the rest of a line comes later, the line may begin with 1023 bytes. */
static void lines_in_two_parts(void **state)
{
	static const char loss[] = "CPU:1 [LOST ", rest[] = "9 EVENTS]\n";
	const unsigned int len = strlen(loss);

	(void)state;
	lines(PIPE0, 0, 1);
	add(PIPE0, 0, 0, loss);
	add(PIPE0, '0', 1023 - len, "");
	lines(PIPE1, 0, 1);
	add(PIPE1, 0, 0, loss);
	add(PIPE1, '0', 1024 - len, "");
	begin();
	wait_for(readers[0]);
	wait_for(readers[1]);
	add(PIPE0, 0, 0, rest);
	add(PIPE1, 0, 0, rest);
	end();
	has(0, 1, 9);
	has(1, 1, 1);
}

/* A line with NULs is one lost event, even if another read begins with it: the pipe has text. */
static void a_line_with_nuls(void **state)
{
	(void)state;
	lines(PIPE0, 0, 2);
	begin();
	wait_for(readers[0]);
	add(PIPE0, 0, 9, "\n");
	lines(PIPE0, 2, 3);
	end();
	has(0, 5, 1);
	has(1, 0, 0);
}

/* A page of three hypercalls, as Android's EL2 records them */
static void put_page(FILE *f)
{
	const uint32_t record[] = { 10 << 5, 11, 4, 0 };
	const uint64_t head[] = { 1000, 3 * 15 };
	char page[65536] = {};
	unsigned int i;

	memcpy(page, head, sizeof(head));
	for (i = 0; i < 3; i++)
		memcpy(page + sizeof(head) + 15 * i, record, 15);
	fwrite(page, getpagesize(), 1, f);
}

/* A raw pipe has pages, or text by mistake. */
static void raw_pipes(void **state)
{
	FILE *f = fopen(path_of(PIPE1 "_raw"), "we");

	(void)state;
	put_page(f);
	put_page(f);
	fputs("half a page", f);
	fclose(f);
	lines(PIPE0 "_raw", 0, 5);
	begin();
	end();
	has(0, 5, 0);
	has(1, 6, 1);

	/* too short for a time stamp */
	put(PIPE0 "_raw", "[000]\t ");
	put(PIPE1 "_raw", "");
	begin();
	end();
	has(0, 0, 1);
	has(1, 0, 0);
}

/* CPU time of the process that reads a CPU */
static uint64_t cpu_time(unsigned int cpu)
{
	const struct tracefs_reader *r = readers[cpu]->backend_arg;
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(r->pid, &clock), 0);
	return hyptrace_now(clock);
}

/* A process that waits takes no CPU time: at the end of a file, and if a pipe is empty. */
static void waiting(void **state)
{
	uint64_t before[2];
	unsigned int cpu;
	int writer;

	(void)state;
	lines(PIPE0, 0, 1);
	assert_int_equal(unlink(path_of(PIPE1)), 0);
	assert_int_equal(mkfifo(path_of(PIPE1), 0600), 0);
	writer = open(path_of(PIPE1), O_RDWR | O_CLOEXEC);
	lines(PIPE1, 0, 1);
	begin();
	for (cpu = 0; cpu < 2; cpu++) {
		wait_for(readers[cpu]);
		before[cpu] = cpu_time(cpu);
	}
	usleep(200000);
	for (cpu = 0; cpu < 2; cpu++) {
		assert_in_range(cpu_time(cpu) - before[cpu], 0, 10 * NSEC_PER_MSEC);
		hyptrace_reader_close(readers[cpu]);
	}
	close(writer);
}

static void read_counts(const struct tracefs_reader *r, unsigned int pages, uint64_t events)
{
	lseek(r->reader->fd, pages * getpagesize(), SEEK_SET);
	assert_int_equal(hyptrace_tracefs_count_read(r).events, events);
}

/* If there is no room for all that a process still writes, this is said after what has room. */
static void no_room(void **state)
{
	const struct tracefs_shared *shared;
	struct rlimit all, few;
	struct hyptrace_cpu *cpu;
	unsigned int nr = 0;
	uint64_t lost, last;

	(void)state;
	lines(PIPE0, 0, 50000);
	add(PIPE0, 0, 0, "CPU:0 [LOST 7 EVENTS]\n");
	begin();
	/* until all is in the pipe */
	shared = ((struct tracefs_reader *)readers[0]->backend_arg)->shared;
	while (!nr || shared->at[nr - 1].events < 50000) {
		usleep(1000);
		nr = __atomic_load_n(&shared->nr_written, __ATOMIC_SEQ_CST);
	}
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &all), 0);
	few = (struct rlimit){ .rlim_cur = 4 * getpagesize(), .rlim_max = all.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
	end();
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
	assert_int_equal(lseek(hyptrace_reader_fd(readers[0]), 0, SEEK_END), 4 * getpagesize());
	assert_int_equal(((struct tracefs_reader *)readers[0]->backend_arg)->pid, 0);
	/* the last sub-buffer, which says so, has the time of the last event */
	assert_int_equal(pread(hyptrace_reader_fd(readers[0]), &last, sizeof(last),
			       3 * getpagesize()), sizeof(last));
	assert_int_equal(last, shared->last);
	/* what has room has its counts, too */
	read_counts(readers[0]->backend_arg, 1, shared->at[0].events);
	lseek(hyptrace_reader_fd(readers[0]), 0, SEEK_SET);
	nr = drain(readers[0], &lost);
	assert_true(nr > 0);
	assert_true(lost == HYPTRACE_LOST_UNKNOWN);
	assert_int_equal(hyptrace_get_cpu(h, NULL, 0, &cpu, &err), 0);
	assert_int_equal(cpu->read, nr);
	/* the last sub-buffer says that, too */
	assert_int_equal(cpu->overrun, 7);
	assert_int_equal(cpu->unreported, 0);
	hyptrace_free_cpu(cpu);
	hyptrace_reader_close(readers[0]);
	hyptrace_reader_close(readers[1]);
}

/* What is read of a full list of sub-buffers: nothing, the first one, all */
static void counts_of_a_full_list(void **state)
{
	static struct tracefs_shared shared;
	struct hyptrace_reader reader = {
		.fd = memfd_create("test", MFD_CLOEXEC), .subbuf_size = getpagesize(),
	};
	struct tracefs_reader r = {
		.reader = &reader, .shared = &shared, .has_ended = true,
		.rest = (size_t)TRACEFS_UNREAD_MAX * getpagesize(),
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < TRACEFS_UNREAD_MAX; i++)
		shared.at[i].events = i + 1;
	shared.nr_begun = TRACEFS_UNREAD_MAX;
	shared.nr_written = TRACEFS_UNREAD_MAX;
	read_counts(&r, 0, 0);
	read_counts(&r, 1, 1);
	read_counts(&r, TRACEFS_UNREAD_MAX, TRACEFS_UNREAD_MAX);
	close(reader.fd);
}

/* A stream waits as long for earlier events as the processes may take, and has all in order. */
static void a_stream(void **state)
{
	struct hyptrace_remote *remote;
	struct hyptrace_stream *stream;
	const struct hyptrace_stream_event *event;
	uint64_t bound, last = 0;
	unsigned int nr;
	int ret;

	(void)state;
	lines(PIPE0, 10, 1000);
	lines(PIPE1, 0, 2000);
	assert_int_equal(hyptrace_get_remote(h, NULL, &remote, &err), 0);
	for (bound = NSEC_PER_MSEC; bound <= NSEC_PER_SEC; bound += NSEC_PER_SEC - NSEC_PER_MSEC) {
		stream = hyptrace_stream_new(h, remote->name, &err);
		assert_non_null(stream);
		hyptrace_stream_options(stream)->bound = bound;
		assert_int_equal(hyptrace_stream_start(stream, &err), 0);
		assert_int_equal(hyptrace_stream_options(stream)->bound,
				 MAX(bound, 800 * NSEC_PER_MSEC));
		hyptrace_stream_end(stream);
		for (nr = 0, last = 0; (ret = hyptrace_stream_next(stream, &event, &err)) == 1;
		     nr++) {
			assert_true(event->record.ts >= last);
			last = event->record.ts;
		}
		assert_int_equal(ret, -ENODATA);
		assert_int_equal(nr, 3000);
		hyptrace_stream_free(stream);
	}
	hyptrace_free_remote(remote);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(long_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(lines_in_two_parts, setup, teardown),
		cmocka_unit_test_setup_teardown(a_line_with_nuls, setup, teardown),
		cmocka_unit_test_setup_teardown(raw_pipes, setup, teardown),
		cmocka_unit_test_setup_teardown(waiting, setup, teardown),
		cmocka_unit_test_setup_teardown(no_room, setup, teardown),
		cmocka_unit_test(counts_of_a_full_list),
		cmocka_unit_test_setup_teardown(a_stream, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
