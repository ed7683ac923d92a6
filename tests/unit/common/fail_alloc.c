// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocations that fail on request. The linker (--wrap) redirects the calls of a test's
 * sources to this file. Calls inside the libraries are not affected.
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "fail_alloc.h"

struct nl_cb;
struct nl_msg;
struct nl_sock;
struct tep_handle;

/* Counts down to 0, at which the allocation fails. */
static unsigned int left;
static bool failed;
static bool paused;

void (*on_alloc)(void);

/**
 * fail_alloc - let an allocation fail
 * @nth:	which of the following allocations, from 1; 0: none
 */
void fail_alloc(unsigned int nth)
{
	left = nth;
	failed = false;
}

/**
 * fail_alloc_end - let all allocations succeed again
 *
 * Return: true if an allocation has failed.
 */
bool fail_alloc_end(void)
{
	left = 0;
	return failed;
}

/**
 * fail_alloc_pause - do not count the allocations of a test itself
 * @pause:	true to begin, false to end
 */
void fail_alloc_pause(bool pause)
{
	paused = pause;
}

static bool fails(void)
{
	if (paused || !left || --left)
		return false;
	failed = true;
	errno = ENOMEM;
	return true;
}

#define WRAP(ret, name, args, ...)			\
	ret __real_##name args;				\
	ret __wrap_##name args;				\
	ret __wrap_##name args				\
	{						\
		return fails() ? 0 : __real_##name(__VA_ARGS__); \
	}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	if (on_alloc)
		on_alloc();
	return fails() ? NULL : __real_malloc(size);
}

/**
 * alloc_surely - allocate memory that the test itself needs
 * @size:	in bytes
 *
 * Return: the memory.
 */
void *alloc_surely(size_t size)
{
	return __real_malloc(size);
}

WRAP(void *, calloc, (size_t nr, size_t size), nr, size)
WRAP(void *, reallocarray, (void *old, size_t nr, size_t size), old, nr, size)
WRAP(char *, strdup, (const char *text), text)
WRAP(char *, strndup, (const char *text, size_t max), text, max)
WRAP(FILE *, open_memstream, (char **text, size_t *len), text, len)
WRAP(struct tep_handle *, tep_alloc, (void))
WRAP(struct nl_sock *, nl_socket_alloc, (void))
WRAP(struct nl_cb *, nl_cb_alloc, (int kind), kind)
WRAP(struct nl_msg *, nlmsg_alloc_size, (size_t size), size)
WRAP(void *, genlmsg_put, (struct nl_msg *msg, unsigned int port, unsigned int seq, int family,
			   int header, int flags, unsigned char cmd, unsigned char version),
     msg, port, seq, family, header, flags, cmd, version)
WRAP(struct nlattr *, nla_nest_start, (struct nl_msg *msg, int type), msg, type)

/* These functions return 0 on success. */
#define WRAP_INT(error, name, args, ...)		\
	int __real_##name args;				\
	int __wrap_##name args;				\
	int __wrap_##name args				\
	{						\
		return fails() ? (error) : __real_##name(__VA_ARGS__); \
	}

/* libnl returns this (negative) if a message is full. */
#define NLE_NOMEM	5

WRAP_INT(-NLE_NOMEM, nla_put, (struct nl_msg *msg, int type, int len, const void *data),
	 msg, type, len, data)
WRAP_INT(-NLE_NOMEM, nla_put_u8, (struct nl_msg *msg, int type, unsigned char value),
	 msg, type, value)
WRAP_INT(-NLE_NOMEM, nla_put_u32, (struct nl_msg *msg, int type, unsigned int value),
	 msg, type, value)
WRAP_INT(-NLE_NOMEM, nla_put_u64, (struct nl_msg *msg, int type, unsigned long value),
	 msg, type, value)
WRAP_INT(-NLE_NOMEM, nla_put_string, (struct nl_msg *msg, int type, const char *text),
	 msg, type, text)

/* fclose() closes the file even if it fails. */
int __real_fclose(FILE *f);
int __wrap_fclose(FILE *f);
int __wrap_fclose(FILE *f)
{
	int ret = __real_fclose(f);

	return fails() ? EOF : ret;
}

int __real_vasprintf(char **text, const char *fmt, va_list ap);
int __wrap_vasprintf(char **text, const char *fmt, va_list ap);
int __wrap_vasprintf(char **text, const char *fmt, va_list ap)
{
	if (fails()) {
		/* it is not defined what it stores then */
		*text = (char *)fmt;
		return -1;
	}
	return __real_vasprintf(text, fmt, ap);
}

int __wrap_asprintf(char **text, const char *fmt, ...);
int __wrap_asprintf(char **text, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = __wrap_vasprintf(text, fmt, ap);
	va_end(ap);
	return len;
}
