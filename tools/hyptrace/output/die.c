// SPDX-License-Identifier: GPL-2.0-only
/* Memory, or exit. */
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
