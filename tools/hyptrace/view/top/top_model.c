// SPDX-License-Identifier: GPL-2.0-only
/*
 * The numbers of hyptrace top: sums, the last interval, and the last minute of each row.
 */
#include <stdlib.h>
#include <string.h>

#include "output/clock.h"
#include "output/die.h"
#include "output/text.h"
#include "top_model.h"

/* The second of a time; an interval that ends some ms late still has as many as it should. */
static uint64_t second_of(const struct top_model *model, uint64_t ns)
{
	return (ns - model->first + NSEC_PER_SEC / 2) / NSEC_PER_SEC;
}

/* Clear the seconds from the youngest value on, up to a later one. */
static void move_to(struct top_history *history, uint64_t second)
{
	uint64_t i;

	if (second <= history->last)
		return;
	if (second - history->last > TOP_SECONDS)
		history->last = second - TOP_SECONDS;
	for (i = history->last + 1; i <= second; i++)
		history->seconds[i % TOP_SECONDS] = 0;
	history->last = second;
}

/* The first second of the last interval, and how many seconds get its values: at least one */
static uint64_t seconds_of(const struct top_model *model, uint64_t *nr)
{
	const uint64_t first = second_of(model, model->end - model->interval);
	const uint64_t end = second_of(model, model->end);

	*nr = end > first ? end - first : 1;
	return first;
}

/* An interval that is longer than a second has the same value in each of them. */
static void add_history(const struct top_model *model, struct top_history *history, double value)
{
	uint64_t i, nr, first = seconds_of(model, &nr);

	for (i = first; i < first + nr; i++) {
		move_to(history, i);
		history->seconds[i % TOP_SECONDS] += value / nr;
	}
}

/* Each row of the sums has a history; make those of new rows. */
static void name_rows(struct top_model *model, const struct stat *stat, unsigned int nr)
{
	char name[STAT_NAME_SIZE], *plain;
	unsigned int i;

	model->history = reallocarray(model->history, model->sums.nr + 1, sizeof(*model->history));
	if (!model->history)
		die_no_memory();
	for (i = nr; i < model->sums.nr; i++) {
		struct top_history *history = &model->history[i];

		*history = (struct top_history){ .key = model->sums.rows[i]->key };
		stat_name(stat, history->key, name);
		/* it may hold control characters */
		plain = text_copy_plain(name);
		snprintf(history->name, sizeof(history->name), "%.*s", TOP_NAME_SIZE - 1, plain);
		free(plain);
	}
}

static void take_cpu(struct top_model *model, const struct stat *stat, unsigned int i)
{
	const struct stat_cpu *cpu = stat->cpus[i];

	model->cpus[i].id = cpu->id;
	stat_times_sum(&cpu->times, stat->begin, stat->end, model->cpus[i].ns);
	model->events += cpu->events;
	model->lost += cpu->lost;
	model->lost_more |= cpu->lost_more;
	stat_rows_merge(&model->now, &cpu->rows);
}

/**
 * top_model_take - add the numbers of an interval
 * @model:	the numbers so far
 * @stat:	the interval, whose rows are those of the model
 */
void top_model_take(struct top_model *model, const struct stat *stat)
{
	const bool has_time = stat_by_has_time(stat->by);
	unsigned int i, nr = model->sums.nr;

	if (!model->begin)
		model->begin = stat->begin;
	if (!model->first)
		model->first = stat->begin;
	model->end = stat->end;
	model->interval = stat->end - stat->begin;
	model->is_counted = stat->is_counted;
	model->cpus = reallocarray(model->cpus, stat->nr_cpus + 1, sizeof(*model->cpus));
	if (!model->cpus)
		die_no_memory();
	model->nr_cpus = stat->nr_cpus;
	stat_rows_free(&model->now);
	for (i = 0; i < stat->nr_cpus; i++)
		take_cpu(model, stat, i);
	stat_rows_merge(&model->sums, &model->now);
	name_rows(model, stat, nr);
	for (i = 0; i < model->now.nr; i++) {
		const struct stat_row *now = model->now.rows[i];
		unsigned int j = 0;

		while (model->history[j].key.major != now->key.major ||
		       model->history[j].key.minor != now->key.minor)
			j++;
		add_history(model, &model->history[j], has_time ? now->times.sum : now->samples);
	}
}

static void view_row(const struct top_model *model, unsigned int i, uint64_t youngest,
		     struct top_row *row)
{
	const struct stat_row *sum = model->sums.rows[i];
	struct top_history history = model->history[i];
	const struct stat_row *now = NULL;
	unsigned int j;

	for (j = 0; j < model->now.nr && !now; j++)
		if (!memcmp(&model->now.rows[j]->key, &sum->key, sizeof(sum->key)))
			now = model->now.rows[j];
	row->key = sum->key;
	memcpy(row->name, history.name, sizeof(row->name));
	row->samples = sum->samples;
	row->total = sum->times.sum;
	row->longest = sum->times.max;
	/* of numbers that EL2 has counted there are no samples */
	if (!model->is_counted && !sum->buckets && sum->times.count)
		row->p99 = loglin_percentile(&sum->times, 990);
	row->guest = sum->guest;
	if (now) {
		row->now = now->samples;
		row->now_timed = now->times.count;
		row->now_total = now->times.sum;
	}
	move_to(&history, youngest);
	for (i = 0; i < TOP_SECONDS; i++)
		row->spark[i] = history.seconds[(history.last + 1 + i) % TOP_SECONDS];
}

/**
 * top_model_view - make what is shown
 * @model:	the numbers
 * @view:	out: what is shown, for top_view_free(); it refers to nothing of @model
 */
void top_model_view(const struct top_model *model, struct top_view *view)
{
	uint64_t nr, youngest = seconds_of(model, &nr) + nr - 1;
	unsigned int i;

	top_view_free(view);
	*view = (struct top_view){
		.remote = model->remote,
		.by = stat_by_name(model->by),
		.is_counted = model->is_counted,
		.has_time = stat_by_has_time(model->by),
		.is_exit = model->by == STAT_BY_EXIT,
		.interval = model->interval,
		.seconds = (double)(model->end - model->begin) / NSEC_PER_SEC,
		.known = model->interval ? youngest + 1 : 0,
		.events = model->events,
		.lost = model->lost,
		.lost_more = model->lost_more,
		.nr_cpus = model->nr_cpus,
		.nr_rows = model->sums.nr,
	};
	view->cpus = calloc(view->nr_cpus + 1, sizeof(*view->cpus));
	view->rows = calloc(view->nr_rows + 1, sizeof(*view->rows));
	if (!view->cpus || !view->rows)
		die_no_memory();
	if (view->nr_cpus)
		memcpy(view->cpus, model->cpus, view->nr_cpus * sizeof(*view->cpus));
	for (i = 0; i < view->nr_rows; i++)
		view_row(model, i, youngest, &view->rows[i]);
}

/**
 * top_view_free - free what is shown
 * @view:	what is shown, which is then nothing
 */
void top_view_free(struct top_view *view)
{
	free(view->cpus);
	free(view->rows);
	*view = (struct top_view){};
}

/**
 * top_model_row - find a row of the sums
 * @model:	the numbers
 * @key:	its key
 *
 * Return: the row, valid until the sums are reset; NULL if there is none.
 */
const struct stat_row *top_model_row(const struct top_model *model, struct stat_key key)
{
	unsigned int i;

	for (i = 0; i < model->sums.nr; i++)
		if (!memcmp(&model->sums.rows[i]->key, &key, sizeof(key)))
			return model->sums.rows[i];
	return NULL;
}

/**
 * top_model_reset - begin the sums again; the last minute stays
 * @model:	the numbers
 */
void top_model_reset(struct top_model *model)
{
	unsigned int i;

	for (i = 0; i < model->sums.nr; i++) {
		struct stat_row *row = model->sums.rows[i];

		row->samples = 0;
		row->guest = 0;
		loglin_free(&row->times);
		row->times = (struct loglin){};
		if (row->buckets)
			memset(row->buckets->count, 0, sizeof(row->buckets->count));
	}
	model->begin = model->end;
	model->events = 0;
	model->lost = 0;
	model->lost_more = false;
}

/**
 * top_model_free - forget all numbers
 * @model:	the numbers; @by and @remote stay
 */
void top_model_free(struct top_model *model)
{
	stat_rows_free(&model->sums);
	stat_rows_free(&model->now);
	free(model->history);
	free(model->cpus);
	*model = (struct top_model){ .remote = model->remote, .by = model->by };
}
