// SPDX-License-Identifier: GPL-2.0-only
/*
 * Store the reason for a failure as text. For all of libhyptrace.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "internal.h"

int hyptrace_error_set(struct hyptrace_error *err, int errnum, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return -errnum;

	err->errnum = errnum;
	err->subject[0] = '\0';
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return -errnum;
}

int hyptrace_error_memory(struct hyptrace_error *err)
{
	return hyptrace_error_set(err, ENOMEM, "out of memory");
}

void hyptrace_error_subject(struct hyptrace_error *err, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return;
	va_start(ap, fmt);
	vsnprintf(err->subject, sizeof(err->subject), fmt, ap);
	va_end(ap);
}
