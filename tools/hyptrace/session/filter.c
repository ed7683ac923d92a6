// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse the argument of --filter, and point at what is wrong in it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hyptrace.h"
#include "output/columns.h"
#include "output/die.h"
#include "output/text.h"
#include "filter.h"

/* Blanks before the filter, and before the caret */
#define INDENT	2

/* Return the columns that the first @at characters of a text take when they are escaped. */
static int columns_before(const char *text, size_t at)
{
	char *part = strndup(text, at), *plain;
	int width;

	if (!part)
		die_no_memory();
	plain = text_copy_plain(part);
	width = strlen(plain);
	free(plain);
	free(part);
	return width;
}

/**
 * filter_fail - print what is wrong in a filter: the reason, the filter, and a caret below it
 * @text:	the filter
 * @at:		offset of what is wrong
 * @err:	the reason
 *
 * Return: EXIT_USAGE.
 */
int filter_fail(const char *text, size_t at, const struct hyptrace_error *err)
{
	char *plain = text_copy_plain(text), *why = text_copy_plain(err->text);

	/* in one write: other processes may write there, too */
	fprintf(stderr, "hyptrace: wrong filter: %s\n%*s%s\n%*s^\n", why, INDENT, "", plain,
		INDENT + columns_before(text, at), "");
	free(plain);
	free(why);
	return EXIT_USAGE;
}

/**
 * filter_parse - parse the argument of --filter
 * @text:	the argument, or NULL
 * @events:	the events of the remote
 * @nr:		number of @events
 * @formats:	their formats; must stay valid
 * @filters:	out: for hyptrace_filters_free(); NULL without a filter
 *
 * Return: an exit code.
 */
int filter_parse(const char *text, struct hyptrace_event *const *events, unsigned int nr,
		 const struct hyptrace_formats *formats, struct hyptrace_filters **filters)
{
	struct hyptrace_error err;
	size_t at;

	*filters = NULL;
	if (!text)
		return EXIT_DONE;
	*filters = hyptrace_filters_new(events, nr, text, &at, &err);
	if (*filters) {
		hyptrace_filters_set_formats(*filters, formats);
		return EXIT_DONE;
	}
	if (err.errnum == ENOMEM)
		die_no_memory();
	return filter_fail(text, at, &err);
}

/**
 * filter_count - make the part of the last line that counts the filtered events
 * @filters:	not all events are printed
 * @nr:		how many events were left out
 * @text:	out: the part, with a comma before it; empty if all are printed
 *
 * Return: @text.
 */
const char *filter_count(bool filters, uint64_t nr,
			 char text[FILTER_COUNT_SIZE])
{
	text[0] = '\0';
	if (filters)
		snprintf(text, FILTER_COUNT_SIZE, ", %" PRIu64 " filtered", nr);
	return text;
}
