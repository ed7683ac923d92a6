// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory, or exit.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "die.h"

void die_no_memory(void)
{
	fputs("hyptrace: out of memory\n", stderr);
	exit(EXIT_REFUSED);
}

void *or_die(void *memory)
{
	if (!memory)
		die_no_memory();
	return memory;
}

void *xmalloc(size_t size)
{
	return or_die(malloc(size));
}

void *xcalloc(size_t nr, size_t size)
{
	return or_die(calloc(nr, size));
}

void *xreallocarray(void *memory, size_t nr, size_t size)
{
	return or_die(reallocarray(memory, nr, size));
}

char *xstrdup(const char *text)
{
	return or_die(strdup(text));
}

char *xstrndup(const char *text, size_t max)
{
	return or_die(strndup(text, max));
}

char *xvasprintf(const char *fmt, va_list ap)
{
	char *text;

	if (vasprintf(&text, fmt, ap) < 0)
		die_no_memory();
	return text;
}

char *xasprintf(const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	return text;
}
