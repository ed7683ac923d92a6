// SPDX-License-Identifier: GPL-2.0-only
/* Clocks, times with their units, percents, bars of histograms. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "columns.h"
#include "printer.h"

static const struct column columns_of_buckets[] = {
	{ .key = "from", .head = "FROM", .flags = COLUMN_NUMBER },
	{ .key = "to", .head = "TO", .flags = COLUMN_NUMBER },
	{ .key = "count", .head = "COUNT", .flags = COLUMN_NUMBER },
	{ .key = "bar", .head = "" },
};

uint64_t clock_now(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* CLOCK_REALTIME minus CLOCK_BOOTTIME, ns */
uint64_t clock_offset(void)
{
	uint64_t before = clock_now(CLOCK_BOOTTIME);
	uint64_t real = clock_now(CLOCK_REALTIME);
	uint64_t after = clock_now(CLOCK_BOOTTIME);

	return real - before - (after - before) / 2;
}

void clock_time_of_day(uint64_t ns, char *text, size_t size)
{
	time_t sec = ns / NSEC_PER_SEC;
	struct tm tm;

	localtime_r(&sec, &tm);
	snprintf(text, size, "%02d:%02d:%02d.%06u", tm.tm_hour, tm.tm_min, tm.tm_sec,
		 (unsigned int)(ns % NSEC_PER_SEC / NSEC_PER_USEC));
}

/* Three decimals, rounded */
void time_text(char to[TIME_TEXT_SIZE], uint64_t nsec)
{
	static const struct {
		uint64_t	nsec;
		const char	*name;
	} units[] = {
		{ NSEC_PER_SEC, "s" }, { NSEC_PER_MSEC, "ms" }, { NSEC_PER_USEC, "us" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		const uint64_t step = units[i].nsec / 1000, steps = nsec / step +
								    (nsec % step * 2 >= step);

		if (steps < 1000)
			continue;
		snprintf(to, TIME_TEXT_SIZE, "%" PRIu64 ".%03u %s", steps / 1000,
			 (unsigned int)(steps % 1000), units[i].name);
		return;
	}
	snprintf(to, TIME_TEXT_SIZE, "%" PRIu64 " ns", nsec);
}

/* Write a part of a whole in percent, with two decimals. */
void percent_text(char to[TIME_TEXT_SIZE], uint64_t part, uint64_t whole)
{
	snprintf(to, TIME_TEXT_SIZE, "%.2f", 100.0 * part / whole);
}

/* Print a time: ns in JSON, with a unit in text. */
void time_print(struct printer *p, const char *key, uint64_t nsec)
{
	char text[TIME_TEXT_SIZE];

	if (!printer_is_text(p)) {
		printer_uint(p, key, nsec);
		return;
	}
	time_text(text, nsec);
	printer_str(p, key, text);
}

void time_print_if(struct printer *p, const char *key, bool is_known, uint64_t nsec)
{
	if (is_known)
		time_print(p, key, nsec);
	else
		printer_none(p, key);
}

/* Print the buckets from the first to the last one that has a time. */
void time_print_histogram(struct printer *p, const struct time_bucket *buckets, unsigned int nr)
{
	static const char hashes[] = "########################################";
	static const struct columns columns = COLUMNS(columns_of_buckets);
	const struct time_bucket *bucket, *end = buckets + nr;
	uint64_t most = 0, len;

	while (buckets < end && !buckets->count)
		buckets++;
	while (end > buckets && !end[-1].count)
		end--;
	for (bucket = buckets; bucket < end; bucket++)
		most = bucket->count > most ? bucket->count : most;
	printer_table(p, "histogram", &columns);
	for (bucket = buckets; bucket < end; bucket++) {
		printer_row(p);
		time_print(p, "from", bucket->from);
		time_print_if(p, "to", bucket->to, bucket->to);
		printer_uint(p, "count", bucket->count);
		len = bucket->count * strlen(hashes) / most;
		len = bucket->count && !len ? 1 : len;
		if (!printer_is_json(p))
			printer_str(p, "bar", hashes + strlen(hashes) - len);
		printer_end(p);
	}
	printer_end(p);
}
