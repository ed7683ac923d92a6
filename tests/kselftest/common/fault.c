// SPDX-License-Identifier: GPL-2.0-only
/* Faults of this process: see fault.h. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fault.h"

#define FOLDER	"/sys/kernel/debug/"

static const char *const kinds[] = { "failslab", "fail_page_alloc", "fail_usercopy" };
static unsigned int nr_kinds = 3;

static int fail_nth = -1;

static bool set(const char *path, const char *value)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done;

	if (fd < 0)
		return false;
	done = write(fd, value, strlen(value)) == (ssize_t)strlen(value);
	close(fd);
	return done;
}

/* Set it for allocations of both kinds, and for copies if they fail, too. */
static bool set_all(const char *name, const char *value)
{
	char path[128];
	unsigned int i;

	for (i = 0; i < nr_kinds; i++) {
		snprintf(path, sizeof(path), FOLDER "%s/%s", kinds[i], name);
		if (!set(path, value))
			return false;
	}
	return true;
}

static bool prepare(void)
{
	return set(FOLDER "failslab/ignore-gfp-wait", "N") &&
	       set(FOLDER "fail_page_alloc/ignore-gfp-wait", "N") &&
	       set(FOLDER "fail_page_alloc/min-order", "0") && set_all("verbose", "0");
}

/**
 * fault_init - prepare faults of this process
 * @copies:	copies from and to user space fail, too
 *
 * Allocations that may wait for memory fail, too. The kernel does not log each fault. Pages of the
 * process itself are there: a fault that hits them would only be tried again.
 *
 * Return: false if the kernel cannot inject faults.
 */
bool fault_init(bool copies)
{
	nr_kinds = copies ? 3 : 2;
	fail_nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	return fail_nth >= 0 && !mlockall(MCL_CURRENT | MCL_FUTURE) && prepare();
}

/**
 * fault_begin - let the Nth allocation or copy from now on fail
 * @nth:	from 1 on; 0 for none
 */
void fault_begin(unsigned int nth)
{
	char text[16];
	const int len = snprintf(text, sizeof(text), "%u", nth);

	if (pwrite(fail_nth, text, len, 0) != len)
		abort();
}

/**
 * fault_end - let nothing fail any more
 *
 * Return: whether something has failed since fault_begin().
 */
bool fault_end(void)
{
	char text[16] = "";
	bool is_left;

	if (fail_nth < 0)
		return false;
	/* If one copy is left before the fault, this read is that copy, and fails. */
	is_left = pread(fail_nth, text, sizeof(text) - 1, 0) <= 0 || strtoul(text, NULL, 10);
	/* This write copies from user space, too: so the first one may fail. */
	while (pwrite(fail_nth, "0", 1, 0) != 1)
		;
	return !is_left;
}

/**
 * fault_prepare_storm - prepare faults at random of other processes
 * @percent:	of the allocations and copies of those that call fault_join_storm(); 0 for none
 *
 * Return: false if the kernel cannot inject faults.
 */
bool fault_prepare_storm(unsigned int percent)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", percent);
	return prepare() && set_all("task-filter", "Y") && set_all("times", "-1") &&
	       set_all("probability", text);
}

/**
 * fault_join_storm - let allocations and copies of this process fail at random from now on
 */
void fault_join_storm(void)
{
	set("/proc/self/make-it-fail", "1");
}
