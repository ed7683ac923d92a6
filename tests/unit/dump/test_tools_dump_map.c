// SPDX-License-Identifier: GPL-2.0-only
/* A ring of an image needs two maps: without one of them, it is refused, and no map is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "dump_image.h"
#include "lib/internal.h"

/* The calls of the library are redirected to these by the linker. */
void *__real_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
int __real_munmap(void *at, size_t size);
int __wrap_munmap(void *at, size_t size);

/* How many maps succeed before one fails, and how many there are */
static int left, maps;

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	if (!left--) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	maps++;
	return __real_mmap(at, size, protection, flags, fd, offset);
}

int __wrap_munmap(void *at, size_t size)
{
	maps--;
	return __real_munmap(at, size);
}

static void maps_that_fail(void **state)
{
	static struct dump_image image;
	struct hyptrace_error err = {};
	struct hyptrace_reader *reader;
	struct hyptrace *h;
	char path[32];
	int fd, nr;

	(void)state;
	image_build(&image, 1, 2);
	fd = image_open(&image, path);
	assert_true(fd >= 0);
	h = hyptrace_open_dump(path, NULL, NULL, NULL, &err);
	close(fd);
	assert_non_null(h);
	for (nr = 0; nr < 2; nr++) {
		left = nr;
		err.errnum = 0;
		assert_null(h->backend->map(h->backend_arg, 0, &err));
		assert_int_equal(err.errnum, ENOMEM);
		assert_int_equal(maps, 0);
	}
	left = 2;
	reader = h->backend->map(h->backend_arg, 0, &err);
	assert_non_null(reader);
	assert_int_equal(maps, 2);
	hyptrace_reader_close(reader);
	assert_int_equal(maps, 0);
	hyptrace_close(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maps_that_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
