// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run the kernel tree's own test of ring-buffer mappings on hyptrace. That test,
 * tools/testing/selftests/ring-buffer/map_test.c, is compiled unchanged. The functions
 * here replace its calls. A write to a file of tracefs becomes a request to the remote
 * that HYPTRACE_REMOTE names. The ring that the test maps is a ring of that remote.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control.h"
#include "wrap.h"

#define TRACEFS		"/sys/kernel/tracing"
#define RING_SIZE	(64 * 1024)

/* The kernel's test writes to one file of tracefs at a time. */
static const char *written;
static int written_fd = -1;

static const char *remote(void)
{
	const char *name = getenv("HYPTRACE_REMOTE");

	return name ? name : "test";
}

/*
 * The kernel's test sets the size while the buffer is empty, so load new rings. A
 * sub-buffer is always one page: refuse a larger one. The kernel rounds a smaller one
 * up to a page.
 */
static int set_subbuf_size(struct nl *nl, unsigned long kb)
{
	if (kb * 1024 > (unsigned long)sysconf(_SC_PAGESIZE))
		return -EINVAL;
	return control_fresh(nl, remote()) ?:
	       control_load(nl, remote(), RING_SIZE, HYPTRACE_MODE_OVERWRITE) ?:
	       control_enable(nl, remote(), "selftest", true);
}

static int do_write(struct nl *nl, unsigned long value)
{
	if (!strcmp(written, "tracing_on"))
		return control(nl, value ? HYPTRACE_CMD_START : HYPTRACE_CMD_STOP, remote());
	if (!strcmp(written, "trace"))
		return control_clear(nl, remote(), CPU_ALL);
	if (!strcmp(written, "trace_marker"))
		return control_mark(nl, remote(), CPU_CURRENT, value, 1);
	if (!strcmp(written, "buffer_subbuf_size_kb"))
		return set_subbuf_size(nl, value);
	/* There is nothing to disable: hyptrace has no tracers and no events of the kernel. */
	if (!strcmp(written, "set_event") || !strcmp(written, "current_tracer"))
		return 0;
	return -EACCES;
}

ssize_t __wrap_write(int fd, const void *data, size_t len)
{
	char value[32] = "";
	struct nl nl;
	int err;

	if (fd != written_fd)
		return __real_write(fd, data, len);
	memcpy(value, data, len < sizeof(value) ? len : sizeof(value) - 1);
	err = nl_open(&nl);
	if (!err) {
		err = do_write(&nl, strtoul(value, NULL, 0));
		nl_close(&nl);
	}
	errno = -err;
	return err ? -1 : (ssize_t)len;
}

int __wrap_open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list args;
	int cpu, fd;

	if (flags & O_CREAT) {
		va_start(args, flags);
		mode = va_arg(args, mode_t);
		va_end(args);
	}
	if (sscanf(path, TRACEFS "/per_cpu/cpu%d/trace_pipe_raw", &cpu) == 1) {
		fd = open_attached(remote(), cpu, flags & O_NONBLOCK);
		errno = fd < 0 ? -fd : 0;
		return fd < 0 ? -1 : fd;
	}
	if (strncmp(path, TRACEFS "/", strlen(TRACEFS "/")))
		return __real_open(path, flags, mode);
	written = path + strlen(TRACEFS "/");
	written_fd = __real_open("/dev/null", O_WRONLY | O_CLOEXEC);
	return written_fd;
}

/* Pretend that tracefs is mounted, without a file "snapshot". */
int __wrap_stat(const char *path, struct stat *stat)
{
	if (!strcmp(path, TRACEFS) || !strcmp(path, TRACEFS "/README"))
		return __real_stat("/", stat);
	return __real_stat(path, stat);
}
