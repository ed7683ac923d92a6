/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Check the description of an event. For the readers of files.
 */
#ifndef HYPTRACE_FORMAT_CHECK_H
#define HYPTRACE_FORMAT_CHECK_H

enum format_check {
	FORMAT_BAD,	/* nothing of it */
	FORMAT_FIELDS,	/* all but the print format */
	FORMAT_GOOD,
};

enum format_check hyptrace_format_check(const char *text);

#endif /* HYPTRACE_FORMAT_CHECK_H */
