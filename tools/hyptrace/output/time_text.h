/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Times with their units, percents, and bars of histograms. For count, stat and top.
 */
#ifndef TIME_TEXT_H
#define TIME_TEXT_H

#include <stdint.h>

#include "printer.h"

/* Size of the text of a time, its NUL included */
#define TIME_TEXT_SIZE	32

/* A bucket of a histogram */
struct time_bucket {
	uint64_t	from;	/* its smallest time, ns */
	uint64_t	to;	/* the smallest time of the next one; 0 if there is none */
	uint64_t	count;	/* number of times in it */
};

void time_text(char to[TIME_TEXT_SIZE], uint64_t nsec);
void percent_text(char to[TIME_TEXT_SIZE], uint64_t part, uint64_t whole);
void time_print(struct printer *p, const char *key, uint64_t nsec);
void time_print_if(struct printer *p, const char *key, bool is_known, uint64_t nsec);
void time_print_histogram(struct printer *p, const struct time_bucket *buckets, unsigned int nr);

#endif /* TIME_TEXT_H */
