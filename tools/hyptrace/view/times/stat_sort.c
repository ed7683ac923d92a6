// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rows of hyptrace stat in the order of a column.
 */
#include <stdlib.h>
#include <string.h>

#include "output/die.h"
#include "output/text.h"
#include "stat.h"

static double samples(const struct stat_row *row)
{
	return row->samples;
}

static double time_of(const struct stat_row *row)
{
	return row->times.sum;
}

static double min_of(const struct stat_row *row)
{
	return row->times.min;
}

static double max_of(const struct stat_row *row)
{
	return row->times.max;
}

static double mean(const struct stat_row *row)
{
	return row->times.count ? (double)row->times.sum / row->times.count : 0;
}

static double guest(const struct stat_row *row)
{
	return row->guest ? row->guest : row->run;
}

static double p50(const struct stat_row *row)
{
	return loglin_percentile(&row->times, 500);
}

static double p90(const struct stat_row *row)
{
	return loglin_percentile(&row->times, 900);
}

static double p99(const struct stat_row *row)
{
	return loglin_percentile(&row->times, 990);
}

static double p99_9(const struct stat_row *row)
{
	return loglin_percentile(&row->times, 999);
}

/* The keys of --key: the largest is first. Counters do not have all of them. */
static const struct sort_key {
	const char	*name;
	double		(*value)(const struct stat_row *row);
	bool		needs_samples;
} keys[] = {
	{ "samples", samples, false },
	{ "time", time_of, false },
	{ "min", min_of, true },
	{ "max", max_of, false },
	{ "mean", mean, false },
	{ "p50", p50, true },
	{ "p90", p90, true },
	{ "p99", p99, true },
	{ "p99.9", p99_9, true },
	{ "guest", guest, false },
	{ "name", NULL, false },
};

#define NR_KEYS	(sizeof(keys) / sizeof(keys[0]))

/**
 * struct sorted - a row while it is sorted
 * @row:	the row
 * @value:	the value to sort by
 * @name:	its name, which decides between equal values
 */
struct sorted {
	const struct stat_row	*row;
	double			value;
	char			*name;
};

static const struct sort_key *find_key(const char *name)
{
	size_t i;

	for (i = 0; i < NR_KEYS; i++)
		if (!strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

/**
 * stat_sort_is_key - can rows be sorted by this key?
 * @key:	the argument of --key
 *
 * Return: true if they can.
 */
bool stat_sort_is_key(const char *key)
{
	return find_key(key);
}

/**
 * stat_sort_needs_samples - does this key need the time of each sample?
 * @key:	a valid key
 *
 * Return: false if counters have it, too.
 */
bool stat_sort_needs_samples(const char *key)
{
	return find_key(key)->needs_samples;
}

/**
 * stat_sort_names - list the keys
 *
 * Return: their names with commas between them, for free().
 */
char *stat_sort_names(void)
{
	size_t len, i;
	char *list;
	FILE *f = text_open(&list, &len);

	for (i = 0; i < NR_KEYS; i++)
		fprintf(f, "%s%s", i ? ", " : "", keys[i].name);
	text_close(f);
	return list;
}

static int compare(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;
	int names;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	names = strcmp(x->name, y->name);
	return names ? names : (x->row->cpu > y->row->cpu) - (x->row->cpu < y->row->cpu);
}

static void sort(struct stat_list *list, const struct stat *stat)
{
	const struct sort_key *key = find_key(stat->sort);
	struct sorted *sorted = calloc(list->nr + 1, sizeof(*sorted));
	char name[STAT_NAME_SIZE];
	unsigned int i;

	if (!sorted)
		die_no_memory();
	for (i = 0; i < list->nr; i++) {
		stat_name(stat, list->rows[i]->key, name);
		sorted[i].row = list->rows[i];
		sorted[i].value = key->value ? key->value(list->rows[i]) : 0;
		sorted[i].name = strdup(name);
		if (!sorted[i].name)
			die_no_memory();
	}
	qsort(sorted, list->nr, sizeof(*sorted), compare);
	for (i = 0; i < list->nr; i++) {
		list->rows[i] = sorted[i].row;
		free(sorted[i].name);
	}
	free(sorted);
}

static void add_rows(struct stat_list *list, const struct stat_rows *rows, unsigned int cpu)
{
	unsigned int i;

	list->rows = reallocarray(list->rows, list->nr + rows->nr + 1, sizeof(*list->rows));
	if (!list->rows)
		die_no_memory();
	for (i = 0; i < rows->nr; i++) {
		struct stat_row *row = rows->rows[i];

		row->cpu = cpu;
		list->rows[list->nr++] = row;
		list->samples += row->samples;
		list->time += row->times.sum;
	}
}

/**
 * stat_list_init - make the list of rows
 * @list:	out: the list, for stat_list_free()
 * @stat:	the verb
 */
void stat_list_init(struct stat_list *list, const struct stat *stat)
{
	unsigned int i;

	*list = (struct stat_list){};
	for (i = 0; i < stat->nr_cpus; i++) {
		if (stat->per_cpu)
			add_rows(list, &stat->cpus[i]->rows, stat->cpus[i]->id);
		else
			stat_rows_merge(&list->sums, &stat->cpus[i]->rows);
	}
	if (!stat->per_cpu)
		add_rows(list, &list->sums, 0);
	sort(list, stat);
}

/**
 * stat_list_free - free a list
 * @list:	the list
 */
void stat_list_free(struct stat_list *list)
{
	free(list->rows);
	stat_rows_free(&list->sums);
}
