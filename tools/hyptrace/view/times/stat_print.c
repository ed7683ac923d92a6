// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the numbers of hyptrace stat: the times of CPUs, and the rows.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/clock.h"
#include "output/columns.h"
#include "output/message.h"
#include "output/out.h"
#include "output/printer.h"
#include "output/text.h"
#include "output/time_text.h"
#include "stat.h"

#define NR_COLUMNS(columns)	(sizeof(columns) / sizeof((columns)[0]))

/* Some of them are in text only if they have a meaning: see print_table() */
static const struct column columns_of_rows[] = {
	{ "name",		"NAME",		COLUMN_TRUNC },
	{ "cpu",		"CPU",		COLUMN_NUMBER },
	{ "samples",		"SAMPLES",	COLUMN_NUMBER },
	{ "samples_percent",	"SAMPLES%",	COLUMN_NUMBER | COLUMN_RANK(10) },
	{ "timed",		"TIMED",	COLUMN_NUMBER | COLUMN_RANK(6) },
	{ "time_percent",	"TIME%",	COLUMN_NUMBER },
	{ "total",		"TOTAL",	COLUMN_NUMBER },
	{ "min",		"MIN",		COLUMN_NUMBER | COLUMN_RANK(7) },
	{ "max",		"MAX",		COLUMN_NUMBER | COLUMN_RANK(1) },
	{ "mean",		"MEAN",		COLUMN_NUMBER },
	{ "deviation",		"+-",		COLUMN_NUMBER | COLUMN_RANK(9) },
	{ "p50",		"P50",		COLUMN_NUMBER | COLUMN_RANK(4) },
	{ "p90",		"P90",		COLUMN_NUMBER | COLUMN_RANK(5) },
	{ "p99",		"P99",		COLUMN_NUMBER | COLUMN_RANK(3) },
	{ "p99_9",		"P99.9",	COLUMN_NUMBER | COLUMN_RANK(8) },
	{ "guest",		"GUEST",	COLUMN_NUMBER | COLUMN_RANK(2) },
	{ "run",		"RUN",		COLUMN_NUMBER | COLUMN_RANK(2) },
};

#define COLUMN_OF_CPU	1
#define COLUMN_OF_TIMED	4
#define COLUMN_OF_GUEST	(NR_COLUMNS(columns_of_rows) - 2)
#define COLUMN_OF_RUN	(NR_COLUMNS(columns_of_rows) - 1)

static const struct column columns_of_cpus[] = {
	{ "cpu",		"CPU",		COLUMN_NUMBER },
	{ "wall",		"WALL",		COLUMN_NUMBER | COLUMN_RANK(2) },
	{ "host",		"HOST",		COLUMN_NUMBER | COLUMN_RANK(5) },
	{ "host_percent",	"HOST%",	COLUMN_NUMBER },
	{ "el2",		"EL2",		COLUMN_NUMBER | COLUMN_RANK(1) },
	{ "el2_percent",	"EL2%",		COLUMN_NUMBER },
	{ "guest",		"GUEST",	COLUMN_NUMBER | COLUMN_RANK(4) },
	{ "guest_percent",	"GUEST%",	COLUMN_NUMBER },
	{ "unknown",		"UNKNOWN",	COLUMN_NUMBER },
	{ "events",		"EVENTS",	COLUMN_NUMBER },
	{ "lost",		"LOST",		COLUMN_NUMBER },
	{ "tracing",		"TRACING",	COLUMN_NUMBER | COLUMN_RANK(3) },
	{ "tracing_spread",	"+-",		COLUMN_NUMBER | COLUMN_RANK(3) },
	{ "tracing_percent",	"TRACING%",	COLUMN_NUMBER | COLUMN_RANK(6) },
};

#define COLUMN_OF_TRACING	(NR_COLUMNS(columns_of_cpus) - 3)

static const unsigned int percentiles[] = { 500, 900, 990, 999 };
static const char *const percentile_keys[] = { "p50", "p90", "p99", "p99_9" };

/* Print a part of a whole in percent, with two decimals. */
static void print_percent(struct printer *p, const char *key, uint64_t part, uint64_t whole)
{
	char text[TIME_TEXT_SIZE];

	if (!whole) {
		printer_none(p, key);
		return;
	}
	percent_text(text, part, whole);
	printer_number(p, key, text);
}

/* In text it is the deviation of the mean in percent, as in perf; in JSON that of the samples. */
static void print_deviation(struct printer *p, const struct loglin *times)
{
	char text[32];

	if (printer_is_json(p)) {
		snprintf(text, sizeof(text), "%.3f", loglin_deviation(times));
		printer_number(p, "deviation", text);
	} else {
		snprintf(text, sizeof(text), "%.2f%%", 100 * loglin_error(times));
		printer_str(p, "deviation", text);
	}
}

/* What counters have: the longest time only if it belongs to this interval */
static void print_counted(struct printer *p, const struct loglin *times)
{
	unsigned int i;

	printer_none(p, "min");
	if (times->max)
		time_print(p, "max", times->max);
	else
		printer_none(p, "max");
	time_print(p, "mean", times->sum / times->count);
	printer_none(p, "deviation");
	for (i = 0; i < NR_COLUMNS(percentile_keys); i++)
		printer_none(p, percentile_keys[i]);
}

static void print_times(struct printer *p, const struct stat *stat, const struct loglin *times,
			const struct stat_list *list)
{
	static const char *const keys[] = { "time_percent", "total", "min", "max", "mean",
					    "deviation", "p50", "p90", "p99", "p99_9" };
	unsigned int i;

	if (!times->count) {
		for (i = 0; i < NR_COLUMNS(keys); i++)
			printer_none(p, keys[i]);
		return;
	}
	print_percent(p, "time_percent", times->sum, list->time);
	time_print(p, "total", times->sum);
	if (stat->is_counted) {
		print_counted(p, times);
		return;
	}
	time_print(p, "min", times->min);
	time_print(p, "max", times->max);
	time_print(p, "mean", times->sum / times->count);
	print_deviation(p, times);
	for (i = 0; i < NR_COLUMNS(percentiles); i++)
		time_print(p, percentile_keys[i], loglin_percentile(times, percentiles[i]));
}

static void print_row(struct printer *p, const struct stat *stat, const struct stat_list *list,
		      const struct stat_row *row)
{
	char name[STAT_NAME_SIZE];

	stat_name(stat, row->key, name);
	printer_styled(p, "name", STYLE_NAME, name);
	if (stat->per_cpu)
		printer_uint(p, "cpu", row->cpu);
	else
		printer_none(p, "cpu");
	printer_uint(p, "samples", row->samples);
	print_percent(p, "samples_percent", row->samples, list->samples);
	print_times(p, stat, &row->times, list);
	printer_uint(p, "timed", row->times.count);
	if (stat->by == STAT_BY_EXIT && stat_has_guest(stat))
		time_print(p, "guest", row->guest);
	else
		printer_none(p, "guest");
	if (stat->by == STAT_BY_EXIT)
		time_print(p, "run", row->run);
	else
		printer_none(p, "run");
}

/* Print the powers of two from the smallest to the largest time of a row. */
static void print_buckets(struct printer *p, const struct loglin *times)
{
	struct time_bucket buckets[LOGLIN_BLOCKS] = {};
	unsigned int i;

	for (i = 0; i < LOGLIN_BLOCKS; i++) {
		buckets[i].from = loglin_block_from(i);
		if (i + 1 < LOGLIN_BLOCKS)
			buckets[i].to = loglin_block_from(i + 1);
		buckets[i].count = loglin_block_count(times, i);
	}
	time_print_histogram(p, buckets, LOGLIN_BLOCKS);
}

/* In JSON a row and its histogram are one object; in text the histograms follow the table. */
static void print_histograms(struct printer *p, const struct stat *stat,
			     const struct stat_list *list)
{
	char name[STAT_NAME_SIZE], heading[STAT_NAME_SIZE + 16];
	unsigned int i;

	for (i = 0; i < list->nr; i++) {
		const struct stat_row *row = list->rows[i];

		if (!row->times.count && !printer_is_json(p))
			continue;
		printer_object(p, NULL);
		if (printer_is_json(p)) {
			print_row(p, stat, list, row);
		} else {
			stat_name(stat, row->key, name);
			snprintf(heading, sizeof(heading), stat->per_cpu ? "%s, CPU %u" : "%s",
				 name, row->cpu);
			printer_heading(p, "name", heading);
		}
		print_buckets(p, &row->times);
		printer_end(p);
	}
}

static bool needs_samples(const char *column)
{
	unsigned int i;

	for (i = 0; i < NR_COLUMNS(percentile_keys); i++)
		if (!strcmp(column, percentile_keys[i]))
			return true;
	return !strcmp(column, "min") || !strcmp(column, "deviation");
}

static void print_table(struct printer *p, const struct stat *stat, const struct stat_list *list)
{
	struct column all[NR_COLUMNS(columns_of_rows)];
	const struct columns columns = { .all = all, .nr = NR_COLUMNS(all) };
	unsigned int i;

	memcpy(all, columns_of_rows, sizeof(all));
	if (!stat->per_cpu)
		all[COLUMN_OF_CPU].flags |= COLUMN_JSON;
	for (i = 0; i < list->nr && list->rows[i]->samples == list->rows[i]->times.count; i++)
		;
	if (i == list->nr)
		all[COLUMN_OF_TIMED].flags |= COLUMN_JSON;
	/* with GUEST, RUN says little more */
	if (stat->by != STAT_BY_EXIT || !stat_has_guest(stat))
		all[COLUMN_OF_GUEST].flags |= COLUMN_JSON;
	if (stat->by != STAT_BY_EXIT || stat_has_guest(stat))
		all[COLUMN_OF_RUN].flags |= COLUMN_JSON;
	for (i = 0; i < NR_COLUMNS(all); i++)
		if (stat->is_counted ? needs_samples(all[i].key) :
		    i >= COLUMN_OF_TIMED && !stat_by_has_time(stat->by))
			all[i].flags |= COLUMN_JSON;
	printer_table(p, "rows", &columns);
	for (i = 0; i < list->nr; i++) {
		printer_row(p);
		print_row(p, stat, list, list->rows[i]);
		printer_end(p);
	}
	printer_end(p);
}

static void print_rows(struct printer *p, const struct stat *stat, const struct stat_list *list)
{
	if (stat->histogram && printer_is_json(p)) {
		printer_array(p, "rows");
		print_histograms(p, stat, list);
		printer_end(p);
		return;
	}
	print_table(p, stat, list);
	if (stat->histogram)
		print_histograms(p, stat, list);
}

/* Print the time that it took to record or to count the events. It is a part of the other times. */
static void print_cost(struct printer *p, const struct stat *stat, const struct stat_cpu *cpu,
		       uint64_t wall)
{
	uint64_t cost, spread;

	if (!stat->event_psec && !printer_is_json(p))
		return;
	if (!stat->event_psec || cpu->lost_more) {
		printer_none(p, "tracing");
		printer_none(p, "tracing_spread");
		printer_none(p, "tracing_percent");
		return;
	}
	cost = stat_cost(stat, cpu, &spread);
	time_print(p, "tracing", cost);
	time_print(p, "tracing_spread", spread);
	print_percent(p, "tracing_percent", cost, wall);
}

static void print_cpu(struct printer *p, const struct stat *stat, const struct stat_cpu *cpu)
{
	const uint64_t wall = stat->end - stat->begin;
	uint64_t ns[NR_STAT_PLACES];

	stat_times_sum(&cpu->times, stat->begin, stat->end, ns);
	printer_uint(p, "cpu", cpu->id);
	time_print(p, "wall", wall);
	time_print(p, "host", ns[STAT_HOST]);
	print_percent(p, "host_percent", ns[STAT_HOST], wall);
	time_print(p, "el2", ns[STAT_EL2]);
	print_percent(p, "el2_percent", ns[STAT_EL2], wall);
	time_print(p, "guest", ns[STAT_GUEST]);
	print_percent(p, "guest_percent", ns[STAT_GUEST], wall);
	time_print(p, "unknown", ns[STAT_UNKNOWN]);
	printer_uint(p, "events", cpu->events);
	if (cpu->lost_more && !cpu->lost)
		printer_str(p, "lost", "some");
	else
		printer_uint(p, "lost", cpu->lost);
	if (printer_is_json(p))
		printer_bool(p, "lost_more", cpu->lost_more);
	print_cost(p, stat, cpu, wall);
}

static void print_cpus(struct printer *p, const struct stat *stat)
{
	/* A file does not say what its events have cost. */
	const unsigned int nr = stat->event_psec ? NR_COLUMNS(columns_of_cpus) : COLUMN_OF_TRACING;
	const struct columns columns = { .all = columns_of_cpus, .nr = nr };
	unsigned int i;

	if (printer_is_json(p))
		printer_array(p, "cpus");
	else
		printer_table(p, "cpus", &columns);
	for (i = 0; i < stat->nr_cpus; i++) {
		if (printer_is_json(p))
			printer_object(p, NULL);
		else
			printer_row(p);
		print_cpu(p, stat, stat->cpus[i]);
		printer_end(p);
	}
	printer_end(p);
}

/* Print a text as a field of CSV. */
static void put_csv(struct out *out, const char *text)
{
	out_putc(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			out_putc(out, '"');
		out_putc(out, *text);
	}
	out_putc(out, '"');
}

static void put_csv_number(struct out *out, bool is_known, uint64_t value)
{
	out_putc(out, ',');
	if (is_known)
		out_printf(out, "%" PRIu64, value);
}

static void print_csv(const struct stat *stat, const struct stat_list *list)
{
	const bool is_exit = stat->by == STAT_BY_EXIT;
	struct out *out = &stat->ctx->out;
	char name[STAT_NAME_SIZE];
	unsigned int i, j;

	out_puts(out, "name,cpu,samples,timed,total,min,max,mean,deviation,p50,p90,p99,p99_9,guest,run,begin,end\n");
	for (i = 0; i < list->nr; i++) {
		const struct stat_row *row = list->rows[i];
		const struct loglin *times = &row->times;
		const bool has_samples = times->count && !stat->is_counted;

		stat_name(stat, row->key, name);
		put_csv(out, name);
		put_csv_number(out, stat->per_cpu, row->cpu);
		put_csv_number(out, true, row->samples);
		put_csv_number(out, true, times->count);
		put_csv_number(out, true, times->sum);
		put_csv_number(out, has_samples, times->min);
		put_csv_number(out, has_samples || times->max, times->max);
		put_csv_number(out, times->count, times->count ? times->sum / times->count : 0);
		out_putc(out, ',');
		if (has_samples)
			out_printf(out, "%.3f", loglin_deviation(times));
		for (j = 0; j < NR_COLUMNS(percentiles); j++)
			put_csv_number(out, has_samples,
				       has_samples ? loglin_percentile(times, percentiles[j]) : 0);
		put_csv_number(out, is_exit && stat_has_guest(stat), row->guest);
		put_csv_number(out, is_exit, row->run);
		put_csv_number(out, true, stat->begin);
		put_csv_number(out, true, stat->end);
		out_putc(out, '\n');
	}
}

/* Say which events are missing to answer the question. */
static void note_missing(const struct stat *stat)
{
	enum stat_event event;
	bool is_needed = false;
	size_t len;
	char *list;
	FILE *f = text_open(&list, &len);

	for (event = STAT_NONE + 1; event < NR_STAT_EVENTS; event++) {
		bool needed = stat_by_needs(stat->by, event);

		if (stat->has_seen[event] ||
		    (!needed && event != STAT_ENTER && event != STAT_EXIT))
			continue;
		is_needed |= needed;
		fprintf(f, "%s%s", ftell(f) ? "," : "", stat_event_name(event));
	}
	text_close(f);
	if (stat->is_outside)
		;
	else if (is_needed && stat->path)
		cmd_note("\"%s\" lacks events for --by=%s: use \"hyptrace record -e %s\"",
			 stat->path, stat_by_name(stat->by), list);
	else if (is_needed)
		cmd_note("none of these events was recorded: %s", list);
	else if (*list && stat->path)
		cmd_note("\"%s\" does not say where the time goes: use \"hyptrace record -e %s\", too",
			 stat->path, list);
	free(list);
}

static void note_counts(const struct stat *stat)
{
	uint64_t events = 0, lost = 0;
	bool more = false;
	unsigned int i;

	for (i = 0; i < stat->nr_cpus; i++) {
		events += stat->cpus[i]->events;
		lost += stat->cpus[i]->lost;
		more |= stat->cpus[i]->lost_more;
	}
	if (stat->quiet && !lost && !more)
		return;
	cmd_note("%" PRIu64 " event%s read, %" PRIu64 "%s lost", events, events == 1 ? "" : "s",
		 lost, more ? " or more" : "");
}

/**
 * stat_print - print the numbers, between the begin and the end of their time
 * @stat:	the verb, after stat_limits()
 *
 * Return: false once the output takes no more.
 */
bool stat_print(struct stat *stat)
{
	struct printer *p = stat->ctx->p;
	struct stat_list list;

	stat_list_init(&list, stat);
	if (stat->csv) {
		print_csv(stat, &list);
	} else {
		printer_object(p, NULL);
		if (printer_is_json(p)) {
			printer_str(p, "by", stat_by_name(stat->by));
			printer_uint(p, "begin", stat->begin);
			printer_uint(p, "wall", stat->end - stat->begin);
			if (stat->event_psec) {
				printer_uint(p, "event_psec", stat->event_psec);
				printer_uint(p, "event_psec_spread", stat->event_spread);
			} else {
				printer_none(p, "event_psec");
				printer_none(p, "event_psec_spread");
			}
		}
		if (stat->interval && !printer_is_json(p))
			out_printf(&stat->ctx->out, "from %.6f to %.6f s:\n",
				   (double)stat->begin / NSEC_PER_SEC,
				   (double)stat->end / NSEC_PER_SEC);
		print_cpus(p, stat);
		if (!printer_is_json(p))
			out_putc(&stat->ctx->out, '\n');
		print_rows(p, stat, &list);
		printer_end(p);
	}
	stat_list_free(&list);
	out_flush(&stat->ctx->out);
	/* nothing is recorded, so nothing can be missing or lost */
	if (!stat->is_counted && !stat->quiet)
		note_missing(stat);
	if (!stat->is_counted)
		note_counts(stat);
	return !stat->ctx->out.error;
}
