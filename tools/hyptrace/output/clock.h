/* SPDX-License-Identifier: GPL-2.0-only */
/* The clock of a remote and the wall clock, and times with their units. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct printer;

#define NSEC_PER_SEC	UINT64_C(1000000000)
#define NSEC_PER_MSEC	UINT64_C(1000000)
#define NSEC_PER_USEC	1000

uint64_t clock_now(clockid_t id);
uint64_t clock_offset(void);
void clock_time_of_day(uint64_t ns, char *text, size_t size);

/* Size of the text of a time, its NUL included */
#define TIME_TEXT_SIZE	32

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

#endif /* CLOCK_H */
