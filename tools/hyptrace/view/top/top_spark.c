// SPDX-License-Identifier: GPL-2.0-only
/*
 * Spark lines: the last minute of a row as a line of small bars.
 */
#include <stdio.h>
#include <string.h>

#include "top_screen.h"

#define NR_LEVELS	8

/* From the smallest value that is not 0; 0 is a blank */
static const char *const blocks[NR_LEVELS] = {
	"\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588",
};

static const char *const letters[NR_LEVELS] = { ".", ":", "-", "=", "+", "*", "%", "#" };

/* The mean of the seconds of a bar; less than 0 if none of them is known */
static double value_of(const struct top_row *row, unsigned int known, unsigned int from,
		       unsigned int to)
{
	unsigned int i, nr = 0;
	double sum = 0;

	for (i = from; i < to; i++) {
		if (i + known < TOP_SECONDS)
			continue;
		sum += row->spark[i];
		nr++;
	}
	return nr ? sum / nr : -1;
}

void top_spark(const struct top_row *row, unsigned int known, unsigned int width, bool has_utf8,
	       char *to)
{
	double values[TOP_SECONDS], most = 0;
	unsigned int i, level;

	for (i = 0; i < width; i++) {
		values[i] = value_of(row, known, i * TOP_SECONDS / width,
				     (i + 1) * TOP_SECONDS / width);
		if (values[i] > most)
			most = values[i];
	}
	*to = '\0';
	for (i = 0; i < width; i++) {
		const char *bar = " ";

		if (values[i] > 0) {
			level = values[i] / most * NR_LEVELS;
			level = level < NR_LEVELS ? level : NR_LEVELS - 1;
			bar = (has_utf8 ? blocks : letters)[level];
		}
		to = stpcpy(to, bar);
	}
}
