// SPDX-License-Identifier: GPL-2.0-only
/* Texts for people: why something has failed, and which process it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/internal.h"

static void reasons(void **state)
{
	struct hyptrace_error err = { .errnum = 1, .subject = "old", .text = "old" };

	(void)state;
	errno = 0;
	assert_int_equal(hyptrace_error_set(&err, ENOENT, "%s %d: %m", "CPU", 7), -ENOENT);
	assert_int_equal(err.errnum, ENOENT);
	assert_int_equal(errno, ENOENT);
	assert_string_equal(err.text, "CPU 7: No such file or directory");
	assert_string_equal(err.subject, "");
	hyptrace_error_subject(&err, "%s %d", "CPU", 8);
	assert_string_equal(err.subject, "CPU 8");
	assert_string_equal(err.text, "CPU 7: No such file or directory");
	assert_int_equal(hyptrace_error_memory(&err), -ENOMEM);
	assert_int_equal(err.errnum, ENOMEM);
	assert_string_equal(err.text, "out of memory");
	assert_string_equal(err.subject, "");
}

/* A caller need not want to know why. */
static void no_reason(void **state)
{
	(void)state;
	assert_int_equal(hyptrace_error_set(NULL, ENOENT, "%s", "text"), -ENOENT);
	assert_int_equal(hyptrace_error_memory(NULL), -ENOMEM);
	hyptrace_error_subject(NULL, "%s", "text");
}

/* A text that is too long is cut. */
static void long_texts(void **state)
{
	struct {
		struct hyptrace_error	err;
		char			behind;
	} s = { .behind = 'x' };
	char text[2 * sizeof(s)];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	hyptrace_error_set(&s.err, EIO, "%s", text);
	hyptrace_error_subject(&s.err, "%s", text);
	assert_int_equal(strlen(s.err.text), sizeof(s.err.text) - 1);
	assert_int_equal(strlen(s.err.subject), sizeof(s.err.subject) - 1);
	assert_int_equal(s.behind, 'x');
}

static void processes(void **state)
{
	char name[HYPTRACE_PROCESS_NAME_SIZE], expected[HYPTRACE_PROCESS_NAME_SIZE], old[16];
	int fd = dup(0);

	(void)state;
	close(fd);
	prctl(PR_GET_NAME, old);
	prctl(PR_SET_NAME, "a (long) name 15");
	snprintf(expected, sizeof(expected), "process %d (a (long) name 1)", getpid());
	assert_ptr_equal(hyptrace_process_name(getpid(), name), name);
	assert_string_equal(name, expected);
	prctl(PR_SET_NAME, old);
	/* one that has ended */
	assert_ptr_equal(hyptrace_process_name(UINT32_MAX, name), name);
	assert_string_equal(name, "process 4294967295");
	assert_int_equal(dup(0), fd);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reasons),
		cmocka_unit_test(no_reason),
		cmocka_unit_test(long_texts),
		cmocka_unit_test(processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
