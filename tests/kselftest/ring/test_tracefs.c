// SPDX-License-Identifier: GPL-2.0-only
/*
 * libtracefs reads a ring of hyptrace like a ring of the kernel: by read(2), by splice() and
 * by its mapping. kbuffer of libtraceevent decodes the sub-buffers.
 *
 * Some functions of libtracefs work with any descriptor. Those that return a kbuffer, or
 * map the ring, work only with a file that libtracefs has opened. So the test makes a folder
 * that looks like tracefs, with a link to /dev/hyptrace.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <tracefs.h>

#include "kselftest_harness.h"
#include "page.h"
#include "remotes.h"

#define BIG_SIZE	(1024 * 1024)
#define BIG_COUNT	30000
#define SMALL_SIZE	(4 * PAGE)
#define NUMBER_OFFSET	8	/* in the payload of a selftest event */

/* libtracefs returns nothing once before it goes on to the next sub-buffer. */
#define EMPTY_ROUNDS	3

REMOTE_FIXTURE(tracefs);

/* The numbers of selftest events that kbuffer has decoded so far */
struct numbers {
	uint16_t	event;
	uint64_t	next;
	uint64_t	seen;
	uint64_t	lost;
	uint64_t	time;
	bool		mapped;
	const char	*bad;
};

static void check_kbuffer(struct numbers *numbers, struct kbuffer *kbuf)
{
	int missed = kbuffer_missed_events(kbuf);
	unsigned long long time;
	uint64_t number;
	uint16_t event;
	void *data;

	if (missed < 0 && !numbers->mapped)
		numbers->bad = "the number of missed events is not stored";
	if (missed > 0) {
		numbers->lost += missed;
		numbers->next += missed;
	}
	for (data = kbuffer_read_event(kbuf, &time); data; data = kbuffer_next_event(kbuf, &time)) {
		memcpy(&event, data, sizeof(event));
		memcpy(&number, (char *)data + NUMBER_OFFSET, sizeof(number));
		/* A mapped sub-buffer that is full has no room for the number of lost events. */
		if (missed < 0) {
			numbers->lost += number - numbers->next;
			numbers->next = number;
			missed = 0;
		}
		if (event != numbers->event)
			numbers->bad = "an event that is not enabled";
		if (number != numbers->next)
			numbers->bad = "an unexpected number";
		if (time < numbers->time)
			numbers->bad = "the time goes back";
		numbers->time = time;
		numbers->next = number + 1;
		numbers->seen++;
	}
}

static void check_page(struct numbers *numbers, void *page)
{
	struct kbuffer *kbuf = kbuffer_alloc(KBUFFER_LSIZE_SAME_AS_HOST,
					     KBUFFER_ENDIAN_SAME_AS_HOST);

	if (kbuffer_load_subbuffer(kbuf, page))
		numbers->bad = "kbuffer cannot load the sub-buffer";
	else
		check_kbuffer(numbers, kbuf);
	kbuffer_free(kbuf);
}

static void check_file(struct numbers *numbers, int fd)
{
	static char page[PAGE_MAX] __attribute__((aligned(8)));

	while (read(fd, page, PAGE) == PAGE)
		check_page(numbers, page);
}

static struct tracefs_cpu *cpu_given(const char *remote, bool nonblock)
{
	int fd = open_attached(remote, 0, nonblock ? O_NONBLOCK : 0);

	return fd < 0 ? NULL : tracefs_cpu_alloc_fd(fd, PAGE, nonblock);
}

/* Make the files that libtracefs reads: the layout of a sub-buffer, and the link to the device. */
static bool make_tracefs(void)
{
	char dir[] = "/tmp/tracefs.XXXXXX";
	FILE *header;

	if (!mkdtemp(dir) || chdir(dir) || mkdir("events", 0700) || mkdir("per_cpu", 0700) ||
	    mkdir("per_cpu/cpu0", 0700) || symlink(DEVICE, "per_cpu/cpu0/trace_pipe_raw"))
		return false;
	header = fopen("events/header_page", "w");
	if (!header)
		return false;
	fprintf(header, "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n");
	fprintf(header, "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n");
	fprintf(header, "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n");
	fprintf(header, "\tfield: char data;\toffset:16;\tsize:%ld;\tsigned:0;\n", PAGE - 16);
	return !fclose(header) && !tracefs_set_tracing_dir(dir);
}

static void remove_tracefs(void)
{
	unlink("events/header_page");
	unlink("per_cpu/cpu0/trace_pipe_raw");
	rmdir("per_cpu/cpu0");
	rmdir("per_cpu");
	rmdir("events");
	rmdir(tracefs_tracing_dir());
}

/* libtracefs opens the device with the lowest free descriptor number. Attach it afterwards. */
static struct tracefs_cpu *cpu_opened(const char *remote, bool nonblock)
{
	struct tracefs_cpu *tcpu = NULL;
	int fd = dup(STDIN_FILENO);

	close(fd);
	if (make_tracefs())
		tcpu = tracefs_cpu_open(NULL, 0, nonblock);
	remove_tracefs();
	return tcpu && !attach(fd, remote, 0, NULL) ? tcpu : NULL;
}

static struct numbers numbers_of(struct nl *nl, const char *remote)
{
	return (struct numbers) { .event = control_event_id(nl, remote, "selftest") };
}

/* Write BIG_COUNT events, with numbers from 0 on, before anybody reads. */
static void fill(struct __test_metadata *_metadata, struct nl *nl, const char *remote,
		 uint64_t size)
{
	ASSERT_EQ(0, control_ready(nl, remote, size, HYPTRACE_MODE_OVERWRITE));
	ASSERT_EQ(0, control_mark(nl, remote, 0, 0, BIG_COUNT));
}

/* Expect that each event was read or reported as lost, and that the counters agree. */
static void check(struct __test_metadata *_metadata, struct nl *nl, const char *remote,
		  const struct numbers *numbers)
{
	struct counts counts;

	EXPECT_EQ(NULL, numbers->bad) TH_LOG("%s", numbers->bad);
	EXPECT_EQ(BIG_COUNT, numbers->next);
	EXPECT_EQ(BIG_COUNT, numbers->seen + numbers->lost);
	EXPECT_LT(0, numbers->seen);
	ASSERT_EQ(0, control_counts(nl, remote, 0, &counts));
	EXPECT_EQ(numbers->seen, counts.read);
	EXPECT_EQ(numbers->lost, counts.overrun);
	EXPECT_EQ(0, counts.unread);
}

/* Run the body with a large ring, then with a small one. */
#define for_each_size(size)							\
	for (uint64_t size = BIG_SIZE; size; size = size == BIG_SIZE ? SMALL_SIZE : 0)

TEST_F(tracefs, cpu_read_delivers_all)
{
	static char page[PAGE_MAX] __attribute__((aligned(8)));
	struct tracefs_cpu *tcpu;
	struct numbers numbers;
	int len;

	for_each_size(size) {
		fill(_metadata, &self->nl, variant->remote, size);
		numbers = numbers_of(&self->nl, variant->remote);
		tcpu = cpu_given(variant->remote, true);
		ASSERT_NE(NULL, tcpu);
		EXPECT_EQ(PAGE, tracefs_cpu_read_size(tcpu));
		while ((len = tracefs_cpu_read(tcpu, page, true)) > 0) {
			ASSERT_EQ(PAGE, len);
			check_page(&numbers, page);
		}
		EXPECT_EQ(0, len);
		check(_metadata, &self->nl, variant->remote, &numbers);
		tracefs_cpu_close(tcpu);
	}
}

TEST_F(tracefs, cpu_read_buf_delivers_all)
{
	struct tracefs_cpu *tcpu;
	struct numbers numbers;
	struct kbuffer *kbuf;

	for_each_size(size) {
		fill(_metadata, &self->nl, variant->remote, size);
		numbers = numbers_of(&self->nl, variant->remote);
		tcpu = cpu_opened(variant->remote, true);
		ASSERT_NE(NULL, tcpu);
		while ((kbuf = tracefs_cpu_read_buf(tcpu, true)))
			check_kbuffer(&numbers, kbuf);
		check(_metadata, &self->nl, variant->remote, &numbers);
		tracefs_cpu_close(tcpu);
	}
}

TEST_F(tracefs, cpu_flush_delivers_all)
{
	static char page[PAGE_MAX] __attribute__((aligned(8)));
	struct tracefs_cpu *tcpu;
	struct numbers numbers;
	struct kbuffer *kbuf;

	for_each_size(size) {
		fill(_metadata, &self->nl, variant->remote, size);
		numbers = numbers_of(&self->nl, variant->remote);
		tcpu = cpu_opened(variant->remote, false);
		ASSERT_NE(NULL, tcpu);
		ASSERT_EQ(PAGE, tracefs_cpu_flush(tcpu, page));
		check_page(&numbers, page);
		while ((kbuf = tracefs_cpu_flush_buf(tcpu)))
			check_kbuffer(&numbers, kbuf);
		EXPECT_EQ(0, tracefs_cpu_flush(tcpu, page));
		check(_metadata, &self->nl, variant->remote, &numbers);
		tracefs_cpu_close(tcpu);
	}
}

TEST_F(tracefs, cpu_flush_write_delivers_all)
{
	struct tracefs_cpu *tcpu;
	struct numbers numbers;
	int file, len;

	for_each_size(size) {
		fill(_metadata, &self->nl, variant->remote, size);
		numbers = numbers_of(&self->nl, variant->remote);
		tcpu = cpu_given(variant->remote, false);
		ASSERT_NE(NULL, tcpu);
		file = memfd_create("flushed", 0);
		while ((len = tracefs_cpu_flush_write(tcpu, file)) > 0)
			;
		EXPECT_EQ(0, len);
		ASSERT_EQ(0, lseek(file, 0, SEEK_SET));
		check_file(&numbers, file);
		check(_metadata, &self->nl, variant->remote, &numbers);
		close(file);
		tracefs_cpu_close(tcpu);
	}
}

/* kbuffer decodes the memory that the writer writes to. */
TEST_F(tracefs, cpu_read_buf_of_the_mapping_delivers_all)
{
	struct tracefs_cpu *tcpu;
	struct numbers numbers;
	struct kbuffer *kbuf;
	unsigned int empty;

	for_each_size(size) {
		fill(_metadata, &self->nl, variant->remote, size);
		numbers = numbers_of(&self->nl, variant->remote);
		numbers.mapped = true;
		tcpu = cpu_opened(variant->remote, true);
		ASSERT_NE(NULL, tcpu);
		ASSERT_EQ(0, tracefs_cpu_map(tcpu));
		ASSERT_TRUE(tracefs_cpu_is_mapped(tcpu));
		for (empty = 0; empty < EMPTY_ROUNDS;) {
			kbuf = tracefs_cpu_read_buf(tcpu, true);
			if (kbuf)
				check_kbuffer(&numbers, kbuf);
			else
				empty++;
		}
		check(_metadata, &self->nl, variant->remote, &numbers);
		tracefs_cpu_close(tcpu);
	}
}

/* Copy from the mapping into a buffer. Without losses: libtracefs does not pass them on here. */
TEST_F(tracefs, cpu_read_of_the_mapping_delivers_all)
{
	static char page[PAGE_MAX] __attribute__((aligned(8)));
	struct tracefs_cpu *tcpu;
	struct numbers numbers;
	unsigned int empty;

	fill(_metadata, &self->nl, variant->remote, BIG_SIZE);
	numbers = numbers_of(&self->nl, variant->remote);
	tcpu = cpu_opened(variant->remote, true);
	ASSERT_NE(NULL, tcpu);
	ASSERT_EQ(0, tracefs_cpu_map(tcpu));
	for (empty = 0; empty < EMPTY_ROUNDS;) {
		if (tracefs_cpu_read(tcpu, page, true) > 0)
			check_page(&numbers, page);
		else
			empty++;
	}
	check(_metadata, &self->nl, variant->remote, &numbers);
	tracefs_cpu_close(tcpu);
}

/*
 * Write more events than a ring of discard mode has room for, read a part of it, and write more:
 * these follow a loss. Return the descriptor, or -1.
 */
static int discard(struct nl *nl, const char *remote, struct numbers *numbers)
{
	int fd;

	if (control_ready(nl, remote, SMALL_SIZE, HYPTRACE_MODE_DISCARD) ||
	    control_mark(nl, remote, 0, 0, BIG_COUNT - 1))
		return -1;
	fd = open_attached(remote, 0, O_NONBLOCK);
	if (fd < 0)
		return -1;
	check_file(numbers, fd);
	return control_mark(nl, remote, 0, BIG_COUNT - 1, 1) ? -1 : fd;
}

static void check_discarded(struct __test_metadata *_metadata, struct nl *nl, const char *remote,
			    const struct numbers *numbers)
{
	struct counts counts;

	EXPECT_EQ(NULL, numbers->bad) TH_LOG("%s", numbers->bad);
	EXPECT_EQ(BIG_COUNT, numbers->next);
	EXPECT_EQ(BIG_COUNT, numbers->seen + numbers->lost);
	ASSERT_EQ(0, control_counts(nl, remote, 0, &counts));
	EXPECT_LT(0, counts.dropped);
	EXPECT_EQ(numbers->lost, counts.dropped);
	EXPECT_EQ(0, counts.unreported);
}

/* kbuffer reports a loss only if the first record of a sub-buffer is an event. */
TEST_F(tracefs, read_reports_discarded_events)
{
	struct numbers numbers = numbers_of(&self->nl, variant->remote);
	int fd = discard(&self->nl, variant->remote, &numbers);

	ASSERT_LE(0, fd);
	EXPECT_EQ(0, numbers.lost);
	check_file(&numbers, fd);
	check_discarded(_metadata, &self->nl, variant->remote, &numbers);
	close(fd);
}

TEST_F(tracefs, cpu_write_reports_discarded_events)
{
	struct numbers numbers = numbers_of(&self->nl, variant->remote);
	int fd = discard(&self->nl, variant->remote, &numbers), file;
	struct tracefs_cpu *tcpu;

	ASSERT_LE(0, fd);
	tcpu = tracefs_cpu_alloc_fd(fd, PAGE, true);
	ASSERT_NE(NULL, tcpu);
	file = memfd_create("written", 0);
	while (tracefs_cpu_write(tcpu, file, true) > 0)
		;
	while (tracefs_cpu_flush_write(tcpu, file) > 0)
		;
	ASSERT_EQ(0, lseek(file, 0, SEEK_SET));
	check_file(&numbers, file);
	check_discarded(_metadata, &self->nl, variant->remote, &numbers);
	close(file);
	tracefs_cpu_close(tcpu);
}

/* libtracefs calls splice() with a pipe of its own. */
TEST_F(tracefs, cpu_buffered_read_delivers_all)
{
	static char page[PAGE_MAX] __attribute__((aligned(8)));
	struct tracefs_cpu *tcpu;
	struct numbers numbers;
	int len;

	for_each_size(size) {
		fill(_metadata, &self->nl, variant->remote, size);
		numbers = numbers_of(&self->nl, variant->remote);
		tcpu = cpu_given(variant->remote, true);
		ASSERT_NE(NULL, tcpu);
		while ((len = tracefs_cpu_buffered_read(tcpu, page, true)) > 0) {
			ASSERT_EQ(PAGE, len);
			check_page(&numbers, page);
		}
		EXPECT_LT(0, numbers.seen);
		/* The flush at the end delivers a sub-buffer that is not full. */
		while ((len = tracefs_cpu_flush(tcpu, page)) > 0)
			check_page(&numbers, page);
		check(_metadata, &self->nl, variant->remote, &numbers);
		tracefs_cpu_close(tcpu);
	}
}

TEST_F(tracefs, cpu_buffered_read_buf_delivers_all)
{
	struct tracefs_cpu *tcpu;
	struct numbers numbers;
	struct kbuffer *kbuf;

	for_each_size(size) {
		fill(_metadata, &self->nl, variant->remote, size);
		numbers = numbers_of(&self->nl, variant->remote);
		tcpu = cpu_opened(variant->remote, true);
		ASSERT_NE(NULL, tcpu);
		while ((kbuf = tracefs_cpu_buffered_read_buf(tcpu, true)))
			check_kbuffer(&numbers, kbuf);
		EXPECT_LT(0, numbers.seen);
		while ((kbuf = tracefs_cpu_flush_buf(tcpu)))
			check_kbuffer(&numbers, kbuf);
		check(_metadata, &self->nl, variant->remote, &numbers);
		tracefs_cpu_close(tcpu);
	}
}

/* By splice() into a pipe and from there to a file, as trace-cmd record does */
TEST_F(tracefs, cpu_write_delivers_all)
{
	struct tracefs_cpu *tcpu;
	struct numbers numbers;
	int file, len;

	for_each_size(size) {
		fill(_metadata, &self->nl, variant->remote, size);
		numbers = numbers_of(&self->nl, variant->remote);
		tcpu = cpu_given(variant->remote, true);
		ASSERT_NE(NULL, tcpu);
		file = memfd_create("written", 0);
		while ((len = tracefs_cpu_write(tcpu, file, true)) > 0)
			ASSERT_EQ(0, len % PAGE);
		EXPECT_LT(0, lseek(file, 0, SEEK_CUR));
		while ((len = tracefs_cpu_flush_write(tcpu, file)) > 0)
			;
		EXPECT_EQ(0, len);
		ASSERT_EQ(0, lseek(file, 0, SEEK_SET));
		check_file(&numbers, file);
		check(_metadata, &self->nl, variant->remote, &numbers);
		close(file);
		tracefs_cpu_close(tcpu);
	}
}

/* By splice() into a pipe of the caller */
TEST_F(tracefs, cpu_pipe_delivers_all)
{
	static char page[PAGE_MAX];
	struct tracefs_cpu *tcpu;
	struct numbers numbers;
	int ends[2], len;

	for_each_size(size) {
		ASSERT_EQ(0, control_ready(&self->nl, variant->remote, size,
					   HYPTRACE_MODE_OVERWRITE));
		numbers = numbers_of(&self->nl, variant->remote);
		tcpu = cpu_given(variant->remote, true);
		ASSERT_NE(NULL, tcpu);
		/* libtracefs finds out the size of a pipe only in this call. */
		ASSERT_GE(0, tracefs_cpu_buffered_read(tcpu, page, true));
		ASSERT_EQ(0, control_mark(&self->nl, variant->remote, 0, 0, BIG_COUNT));
		ASSERT_EQ(0, pipe2(ends, O_NONBLOCK));
		while ((len = tracefs_cpu_pipe(tcpu, ends[1], true)) > 0) {
			ASSERT_EQ(0, len % PAGE);
			check_file(&numbers, ends[0]);
		}
		EXPECT_LT(0, numbers.seen);
		while ((len = tracefs_cpu_flush_write(tcpu, ends[1])) > 0)
			check_file(&numbers, ends[0]);
		EXPECT_EQ(0, len);
		check(_metadata, &self->nl, variant->remote, &numbers);
		close(ends[0]);
		close(ends[1]);
		tracefs_cpu_close(tcpu);
	}
}

static void *stop(void *tcpu)
{
	usleep(100 * 1000);
	tracefs_cpu_stop(tcpu);
	return NULL;
}

/* libtracefs waits in select(), for the device or for tracefs_cpu_stop(). */
TEST_F(tracefs, read_waits_until_an_event_or_stop)
{
	static char page[PAGE_MAX] __attribute__((aligned(8)));
	struct tracefs_cpu *tcpu;
	struct numbers numbers;
	pthread_t stopper;
	pid_t child;
	int status;

	ASSERT_EQ(0, control_ready(&self->nl, variant->remote, SMALL_SIZE,
				   HYPTRACE_MODE_OVERWRITE));
	numbers = numbers_of(&self->nl, variant->remote);
	tcpu = cpu_given(variant->remote, false);
	ASSERT_NE(NULL, tcpu);
	child = fork();
	if (!child) {
		struct nl own;

		usleep(100 * 1000);
		_exit(nl_open(&own) || control_mark(&own, variant->remote, 0, 0, 1));
	}
	ASSERT_EQ(PAGE, tracefs_cpu_read(tcpu, page, false));
	check_page(&numbers, page);
	EXPECT_EQ(NULL, numbers.bad);
	EXPECT_EQ(1, numbers.seen);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, pthread_create(&stopper, NULL, stop, tcpu));
	EXPECT_EQ(0, tracefs_cpu_read(tcpu, page, false));
	ASSERT_EQ(0, pthread_join(stopper, NULL));
	tracefs_cpu_close(tcpu);
}

TEST_HARNESS_MAIN
