// SPDX-License-Identifier: GPL-2.0-only
/*
 * A buffer in front of a descriptor: it collects output for few writes, and keeps the
 * first error.
 */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "die.h"
#include "out.h"

void out_init(struct out *out, int fd)
{
	out->fd = fd;
	out->error = 0;
	out->abandon = NULL;
	out->before = NULL;
	out->len = 0;
	out->size = sizeof(out->own);
	out->buf = out->own;
	out->grows = false;
}

void out_init_memory(struct out *out)
{
	out_init(out, -1);
	out->grows = true;
	out->buf = xmalloc(out->size);
}

void out_free(struct out *out)
{
	if (out->buf != out->own)
		free(out->buf);
}

/* Double the buffer, whose bytes are kept if it is memory. */
static void grow(struct out *out)
{
	out->size *= 2;
	out->buf = xreallocarray(out->buf == out->own ? NULL : out->buf, out->size, 1);
}

/* The thread that writes now */
static pthread_t writer;
static volatile sig_atomic_t is_writing;

/* Of a signal handler: the write of another thread is interrupted, too. */
void out_interrupt(void)
{
	if (is_writing && !pthread_equal(writer, pthread_self()))
		pthread_kill(writer, SIGALRM);
}

void out_flush(struct out *out)
{
	size_t done = 0;

	if (out->grows) {
		grow(out);
		return;
	}
	if (out->before && out->len)
		out->before(out->before_arg);
	while (done < out->len && !out->error) {
		ssize_t n;

		writer = pthread_self();
		is_writing = 1;
		n = write(out->fd, out->buf + done, out->len - done);
		is_writing = 0;
		if (n >= 0)
			done += n;
		else if (errno != EINTR)
			out->error = errno;
		else if (out->abandon && *out->abandon)
			/* end as if the reader had closed the pipe */
			out->error = EPIPE;
	}
	out->len = 0;
}

void out_make_room(struct out *out, size_t size)
{
	out_flush(out);
	while (size > out->size - out->len)
		grow(out);
}

/* A closed pipe is no failure: its reader has seen enough. */
bool out_has_failed(const struct out *out)
{
	return out->error && out->error != EPIPE;
}

/* What was in the buffer or in a pipe when its reader has closed that is not known to be read. */
const char *out_printed(const struct out *out, const char *word)
{
	return out->error ? "read until the output was closed" : word;
}

void out_write(struct out *out, const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		size_t room = out->size - out->len;
		size_t part = len < room ? len : room;

		memcpy(out->buf + out->len, at, part);
		out->len += part;
		at += part;
		len -= part;
		if (out->len == out->size)
			out_flush(out);
	}
}

void out_puts(struct out *out, const char *text)
{
	out_write(out, text, strlen(text));
}

void out_spaces(struct out *out, size_t nr)
{
	while (nr--)
		out_putc(out, ' ');
}

void out_printf(struct out *out, const char *fmt, ...)
{
	auto_free char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	out_puts(out, text);
}
