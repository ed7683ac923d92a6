// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calls to the device, which a fake device in this file answers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/internal.h"
#include "fail_alloc.h"

/* the smallest valid descriptor */
#define FD		0
#define SUBBUF		4096
#define NR_SUBBUFS	5

/**
 * struct device - what the device answers, and what it was asked
 * @open_errno, @attach_errno, @wakeup_errno, @hold_errno: why a call fails; 0: it does not
 * @stat_errno:	the same, of the file
 * @map_fails:	which mmap() fails, from 1; 0: none
 * @map_errno:	why; 0: ENODEV
 * @resize_ms:	mmap() fails with EBUSY until the caller has slept for so many ms
 * @subbuf_size: what ATTACH answers
 * @meta:	the first page
 * @flags:	of open()
 * @attach:	the last request
 * @wakeup:	the same
 * @hold:	the same
 * @held:	the ids of @hold
 * @nr_open:	descriptors that are open
 * @nr_mapped:	maps that are there
 * @nr_maps:	how often mmap() was called
 * @page:	page size
 */
static struct device {
	int				open_errno;
	int				attach_errno;
	int				wakeup_errno;
	int				hold_errno;
	int				stat_errno;
	unsigned int			map_fails;
	int				map_errno;
	unsigned int			resize_ms;
	uint32_t			subbuf_size;
	struct trace_buffer_meta	meta;
	int				flags;
	struct hyptrace_attach		attach;
	struct hyptrace_wakeup		wakeup;
	struct hyptrace_hold		hold;
	uint16_t			held[4];
	unsigned int			nr_open;
	unsigned int			nr_mapped;
	unsigned int			nr_maps;
	size_t				page;
} dev;

int __wrap_open(const char *path, int flags, ...);
int __wrap_close(int fd);
int __wrap_ioctl(int fd, unsigned long cmd, ...);
int __wrap_stat(const char *path, struct stat *st);
int __wrap_usleep(useconds_t usec);
void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset);
int __wrap_munmap(void *at, size_t size);
long __wrap_sysconf(int name);

static int answer(int errnum)
{
	/* a call that succeeds may still change errno */
	errno = errnum ? errnum : EBADE;
	return errnum ? -1 : 0;
}

int __wrap_open(const char *path, int flags, ...)
{
	assert_string_equal(path, "/dev/hyptrace");
	dev.flags = flags;
	if (dev.open_errno)
		return answer(dev.open_errno);
	dev.nr_open++;
	return FD;
}

int __wrap_close(int fd)
{
	assert_int_equal(fd, FD);
	assert_int_equal(dev.nr_mapped, 0);
	dev.nr_open--;
	return 0;
}

int __wrap_ioctl(int fd, unsigned long cmd, ...)
{
	struct hyptrace_attach *attach;
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	assert_int_equal(fd, FD);
	switch (cmd) {
	case HYPTRACE_IOC_ATTACH:
		attach = arg;
		dev.attach = *attach;
		attach->subbuf_size = dev.subbuf_size;
		attach->nr_subbufs = NR_SUBBUFS;
		return answer(dev.attach_errno);
	case HYPTRACE_IOC_WAKEUP:
		dev.wakeup = *(struct hyptrace_wakeup *)arg;
		return answer(dev.wakeup_errno);
	case HYPTRACE_IOC_HOLD:
		dev.hold = *(struct hyptrace_hold *)arg;
		assert_in_range(dev.hold.nr_events, 0, 4);
		if (dev.hold.nr_events)
			memcpy(dev.held, (void *)(uintptr_t)dev.hold.events,
			       dev.hold.nr_events * sizeof(dev.held[0]));
		return answer(dev.hold_errno);
	}
	return answer(ENOTTY);
}

int __wrap_stat(const char *path, struct stat *st)
{
	assert_string_equal(path, "/dev/hyptrace");
	*st = (struct stat){ .st_uid = 5, .st_gid = 6, .st_mode = S_IFCHR | 0640 };
	return answer(dev.stat_errno);
}

int __wrap_usleep(useconds_t usec)
{
	assert_int_equal(usec, 1000);
	if (dev.resize_ms)
		dev.resize_ms--;
	return 0;
}

/* Memory of exactly the size of the mapping: the first page of a ring, or its sub-buffers. */
void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	char *map;
	size_t i;

	assert_null(at);
	assert_int_equal(prot, PROT_READ);
	assert_int_equal(flags, MAP_SHARED);
	assert_int_equal(fd, FD);
	if (++dev.nr_maps == dev.map_fails) {
		answer(dev.map_errno ?: ENODEV);
		return MAP_FAILED;
	}
	if (dev.resize_ms) {
		answer(EBUSY);
		return MAP_FAILED;
	}
	map = calloc(1, size);
	if (offset) {
		assert_int_equal(offset, dev.meta.meta_page_size > dev.page ?
				 dev.meta.meta_page_size : dev.page);
		assert_int_equal(size, SUBBUF * NR_SUBBUFS);
		for (i = 0; i < NR_SUBBUFS; i++)
			map[i * SUBBUF] = 'a' + i;
	} else {
		memcpy(map, &dev.meta, sizeof(dev.meta));
	}
	dev.nr_mapped++;
	answer(0);
	return map;
}

int __wrap_munmap(void *at, size_t size)
{
	/* ASan reports it if the size is too large */
	*((volatile char *)at + size - 1) = 0;
	free(at);
	dev.nr_mapped--;
	return 0;
}

long __wrap_sysconf(int name)
{
	assert_int_equal(name, _SC_PAGESIZE);
	return dev.page;
}

static struct hyptrace_reader *reader;
static struct hyptrace_error err;

static int setup(void **state)
{
	(void)state;
	memset(&dev, 0, sizeof(dev));
	memset(&err, 0, sizeof(err));
	dev.page = 4096;
	dev.subbuf_size = SUBBUF;
	dev.meta = (struct trace_buffer_meta){
		.meta_page_size = 4096, .meta_struct_len = sizeof(dev.meta),
		.subbuf_size = SUBBUF, .nr_subbufs = NR_SUBBUFS,
	};
	return 0;
}

/* No test may leave a descriptor open or memory mapped. */
static int teardown(void **state)
{
	(void)state;
	return dev.nr_open || dev.nr_mapped ? -1 : 0;
}

static void opened(void **state)
{
	(void)state;
	reader = hyptrace_reader_open("test", 3, O_NONBLOCK, &err);
	assert_non_null(reader);
	assert_int_equal(dev.flags, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	assert_int_equal(dev.attach.size, sizeof(dev.attach));
	assert_int_equal(dev.attach.flags, 0);
	assert_int_equal(dev.attach.cpu, 3);
	assert_string_equal(dev.attach.remote, "test");
	assert_int_equal(hyptrace_reader_fd(reader), FD);
	assert_int_equal(reader->subbuf_size, SUBBUF);
	assert_null(reader->meta);
	assert_null(hyptrace_reader_subbuf(reader, 0));
	hyptrace_reader_close(reader);
	assert_int_equal(dev.nr_open, 0);
	hyptrace_reader_close(NULL);
}

static void refused_open(int errnum, const char *text)
{
	dev.open_errno = errnum;
	assert_null(hyptrace_reader_open("test", 0, 0, &err));
	assert_int_equal(err.errnum, errnum);
	if (!strstr(err.text, text))
		fail_msg("\"%s\" has no \"%s\"", err.text, text);
}

static void not_opened(void **state)
{
	(void)state;
	refused_open(ENOENT, "the driver is not loaded");
	refused_open(ENXIO, "the driver is not loaded");
	refused_open(ENODEV, "the driver is not loaded");
	refused_open(EPERM, "CAP_PERFMON");
	refused_open(EACCES, "user 5, group 6, mode 0640");
	dev.stat_errno = EACCES;
	refused_open(EACCES, "permission denied on /dev/hyptrace");
	refused_open(EMFILE, strerror(EMFILE));
}

static void refused_attach(int errnum, const char *text)
{
	dev.attach_errno = errnum;
	assert_null(hyptrace_reader_open("test", 0, 0, &err));
	assert_int_equal(err.errnum, errnum);
	if (!strstr(err.text, text))
		fail_msg("\"%s\" has no \"%s\"", err.text, text);
	assert_int_equal(dev.nr_open, 0);
}

static void not_attached(void **state)
{
	char name[HYPTRACE_REMOTE_NAME_MAX + 2];

	(void)state;
	refused_attach(ENODEV, "no such remote");
	refused_attach(ENXIO, "no such CPU");
	refused_attach(EBUSY, "another process is reading it");
	refused_attach(ENOMEM, "no memory for rings");
	refused_attach(ENODATA, "nothing is loaded");
	refused_attach(EPERM, "CAP_PERFMON");
	refused_attach(EINTR, strerror(EINTR));
	dev.attach_errno = 0;

	/* A name of the maximal length is accepted. A longer one is refused without a request. */
	memset(name, 'n', sizeof(name));
	name[HYPTRACE_REMOTE_NAME_MAX] = '\0';
	reader = hyptrace_reader_open(name, 0, 0, &err);
	assert_non_null(reader);
	assert_string_equal(dev.attach.remote, name);
	hyptrace_reader_close(reader);
	name[HYPTRACE_REMOTE_NAME_MAX] = 'n';
	name[HYPTRACE_REMOTE_NAME_MAX + 1] = '\0';
	dev.flags = -1;
	assert_null(hyptrace_reader_open(name, 0, 0, &err));
	assert_int_equal(err.errnum, ENODEV);
	assert_int_equal(dev.flags, -1);

	dev.subbuf_size = HYPTRACE_SUBBUF_HEADER;
	assert_null(hyptrace_reader_open("test", 0, 0, &err));
	assert_int_equal(err.errnum, EPROTO);
	assert_non_null(strstr(err.text, "sub-buffers of 16 bytes"));
	dev.subbuf_size++;
	reader = hyptrace_reader_open("test", 0, 0, &err);
	assert_non_null(reader);
	hyptrace_reader_close(reader);
}

static void latency(void **state)
{
	(void)state;
	reader = hyptrace_reader_open("test", 0, 0, &err);
	assert_non_null(reader);
	assert_int_equal(hyptrace_reader_watermark(reader, 1234, 0, &err), 0);
	assert_int_equal(dev.wakeup.size, sizeof(dev.wakeup));
	assert_int_equal(dev.wakeup.latency_us, 1234);
	dev.wakeup_errno = EINVAL;
	assert_int_equal(hyptrace_reader_watermark(reader, 1, 0, &err), -EINVAL);
	assert_string_equal(err.text, "cannot set the latency: Invalid argument");
	hyptrace_reader_close(reader);
}

static void no_memory(void **state)
{
	(void)state;
	fail_alloc(1);
	assert_null(hyptrace_reader_open("test", 0, 0, &err));
	assert_true(fail_alloc_end());
	assert_int_equal(err.errnum, ENOMEM);
	assert_int_equal(dev.nr_open, 0);
}

static void hold(void **state)
{
	static const uint16_t ids[] = { 3, 1 };

	(void)state;
	reader = hyptrace_reader_open("test", 0, 0, &err);
	assert_non_null(reader);
	assert_int_equal(hyptrace_reader_hold(reader, ids, 2, true, &err), 0);
	assert_int_equal(dev.hold.size, sizeof(dev.hold));
	assert_int_equal(dev.hold.flags, HYPTRACE_HOLD_TRACING);
	assert_int_equal(dev.hold.nr_events, 2);
	assert_memory_equal(dev.held, ids, sizeof(ids));
	assert_int_equal(hyptrace_reader_hold(reader, NULL, 0, false, &err), 0);
	assert_int_equal(dev.hold.flags, 0);
	assert_int_equal(dev.hold.nr_events, 0);
	dev.hold_errno = ENOENT;
	assert_int_equal(hyptrace_reader_hold(reader, ids, 1, false, &err), -ENOENT);
	assert_string_equal(err.text, "no such event");
	dev.hold_errno = EOPNOTSUPP;
	assert_int_equal(hyptrace_reader_hold(reader, ids, 1, false, &err), -EOPNOTSUPP);
	assert_string_equal(err.text, "an event is not in this kernel");
	dev.hold_errno = EPERM;
	assert_int_equal(hyptrace_reader_hold(reader, ids, 1, false, &err), -EPERM);
	assert_non_null(strstr(err.text, "it is the trace of another user: "));
	dev.hold_errno = EIO;
	assert_int_equal(hyptrace_reader_hold(reader, ids, 1, false, &err), -EIO);
	assert_string_equal(err.text, strerror(EIO));
	hyptrace_reader_close(reader);
}

static void check_map(void)
{
	const char *subbuf;
	uint32_t id;

	assert_int_equal(dev.nr_mapped, 2);
	assert_int_equal(reader->meta->nr_subbufs, NR_SUBBUFS);
	for (id = 0; id < NR_SUBBUFS; id++) {
		subbuf = hyptrace_reader_subbuf(reader, id);
		assert_non_null(subbuf);
		assert_int_equal(*subbuf, 'a' + id);
	}
	assert_null(hyptrace_reader_subbuf(reader, id));
	assert_null(hyptrace_reader_subbuf(reader, UINT32_MAX));
}

static void mapped(void **state)
{
	(void)state;
	reader = hyptrace_reader_open_snapshot("test", 0, &err);
	assert_non_null(reader);
	check_map();
	assert_int_equal(reader->meta_size, 4096);
	assert_int_equal(dev.nr_maps, 2);
	hyptrace_reader_close(reader);
}

/* A first page that is larger than a page of this machine: it is mapped again. */
static void large_meta(void **state)
{
	(void)state;
	dev.meta.meta_page_size = 3 * 4096;
	reader = hyptrace_reader_open_snapshot("test", 0, &err);
	assert_non_null(reader);
	check_map();
	assert_int_equal(reader->meta_size, 3 * 4096);
	assert_int_equal(dev.nr_maps, 3);
	hyptrace_reader_close(reader);
	/* one that takes less is mapped whole */
	setup(state);
	dev.page = 65536;
	dev.meta.meta_page_size = 4096;
	reader = hyptrace_reader_open_snapshot("test", 0, &err);
	assert_non_null(reader);
	check_map();
	assert_int_equal(reader->meta_size, 65536);
	hyptrace_reader_close(reader);
}

static void not_mapped(void **state)
{
	unsigned int nth;

	(void)state;
	dev.meta.meta_page_size = 2 * 4096;
	for (nth = 1; nth <= 3; nth++) {
		dev.nr_maps = 0;
		dev.map_fails = nth;
		assert_null(hyptrace_reader_open_snapshot("test", 0, &err));
		assert_int_equal(err.errnum, ENODEV);
		assert_string_equal(err.text, "cannot map the ring: No such device");
		assert_int_equal(dev.nr_mapped, 0);
	}
}

static void a_ring_that_is_being_resized_is_waited_for(void **state)
{
	(void)state;
	dev.map_fails = 2;
	dev.map_errno = EBUSY;
	reader = hyptrace_reader_open_snapshot("test", 0, &err);
	assert_non_null(reader);
	assert_int_equal(dev.nr_maps, 3);
	check_map();
	hyptrace_reader_close(reader);
	/* for a second, which is longer than a resize can take */
	dev.resize_ms = 999;
	reader = hyptrace_reader_open_snapshot("test", 0, &err);
	assert_non_null(reader);
	check_map();
	hyptrace_reader_close(reader);
	dev.resize_ms = 1000;
	assert_null(hyptrace_reader_open_snapshot("test", 0, &err));
	assert_int_equal(err.errnum, EBUSY);
}

static void snapshot(void **state)
{
	(void)state;
	reader = hyptrace_reader_open_snapshot("test", 1, &err);
	assert_non_null(reader);
	assert_int_equal(dev.flags, O_RDONLY | O_CLOEXEC);
	assert_int_equal(dev.attach.flags, HYPTRACE_ATTACH_SNAPSHOT);
	assert_int_equal(dev.attach.cpu, 1);
	check_map();
	hyptrace_reader_close(reader);

	dev.map_fails = dev.nr_maps + 2;
	assert_null(hyptrace_reader_open_snapshot("test", 1, &err));
	assert_int_equal(err.errnum, ENODEV);
	assert_int_equal(dev.nr_open, 0);
	dev.attach_errno = ENODATA;
	assert_null(hyptrace_reader_open_snapshot("test", 1, &err));
	assert_int_equal(err.errnum, ENODATA);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(opened), TEST(not_opened), TEST(not_attached), TEST(latency), TEST(hold),
		TEST(mapped),
		TEST(large_meta), TEST(not_mapped),
		TEST(a_ring_that_is_being_resized_is_waited_for), TEST(snapshot), TEST(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
