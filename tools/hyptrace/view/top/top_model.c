// SPDX-License-Identifier: GPL-2.0-only
/* The numbers of hyptrace top: sums, the last interval and the last minute; and what keys do. */
#include "output/die.h"
#include "top.h"

/* The second of a time; an interval that ends some ms late still has as many as it should. */
static uint64_t second_of(const struct top_model *model, uint64_t ns)
{
	return (ns - model->first + NSEC_PER_SEC / 2) / NSEC_PER_SEC;
}

/* Clear the seconds from the youngest value on, up to a later one. */
static void move_to(struct top_history *history, uint64_t second)
{
	if (second > history->last + TOP_SECONDS)
		history->last = second - TOP_SECONDS;
	while (history->last < second)
		history->seconds[++history->last % TOP_SECONDS] = 0;
}

/* The first second of the last interval, and how many seconds get its values: at least one */
static uint64_t seconds_of(const struct top_model *model, uint64_t *nr)
{
	const uint64_t first = second_of(model, model->end - model->view.interval);
	const uint64_t end = second_of(model, model->end);

	*nr = end > first ? end - first : 1;
	return first;
}

/* An interval that is longer than a second has the same value in each of them. */
static void add_history(const struct top_model *model, struct top_history *history, double value)
{
	uint64_t i, nr, first = seconds_of(model, &nr);

	for (i = nr > TOP_SECONDS ? first + nr - TOP_SECONDS : first; i < first + nr; i++) {
		move_to(history, i);
		history->seconds[i % TOP_SECONDS] += value / nr;
	}
}

static void name_rows(struct top_model *model, const struct stat *stat, unsigned int nr)
{
	char name[STAT_NAME_SIZE];

	model->history = xreallocarray(model->history, model->sums.nr + 1, sizeof(*model->history));
	for (; nr < model->sums.nr; nr++) {
		auto_free char *plain = NULL;
		struct top_history *history = &model->history[nr];

		*history = (struct top_history){};
		stat_name(stat, model->sums.rows[nr]->key, name);
		/* it may hold control characters */
		plain = text_copy_plain(name);
		snprintf(history->name, sizeof(history->name), "%s", plain);
	}
}

void top_model_take(struct top_model *model, const struct stat *stat)
{
	const bool has_time = stat_by[stat->by].has_time;
	struct top_view *view = &model->view;
	unsigned int i, nr = model->sums.nr;

	if (!model->begin)
		model->begin = stat->begin;
	if (!model->first)
		model->first = stat->begin;
	model->end = stat->end;
	view->interval = stat->end - stat->begin;
	view->is_counted = stat->is_counted;
	view->is_file = stat->session.path;
	view->cpus = xreallocarray(view->cpus, stat->nr_cpus + 1, sizeof(*view->cpus));
	view->nr_cpus = stat->nr_cpus;
	stat_rows_free(&model->now);
	for (i = 0; i < stat->nr_cpus; i++) {
		const struct stat_cpu *cpu = stat->cpus[i];

		view->cpus[i].id = cpu->id;
		stat_times_sum(&cpu->times, stat->begin, stat->end, view->cpus[i].ns);
		view->events += cpu->events;
		view->lost += cpu->lost;
		view->lost_more |= cpu->lost_more;
		stat_rows_merge(&model->now, &cpu->rows);
	}
	stat_rows_merge(&model->sums, &model->now);
	name_rows(model, stat, nr);
	for (i = 0; i < model->now.nr; i++) {
		const struct stat_row *now = model->now.rows[i];

		add_history(model, &model->history[stat_rows_find(&model->sums, now->key)->index],
			    has_time ? now->times.sum : now->samples);
	}
}

/* The rate, the part of the time, the means and the spark line are those of the last interval. */
static void view_row(const struct top_model *model, const struct stat_row *sum, uint64_t youngest,
		     uint64_t time, struct top_row *row)
{
	const struct stat_row none = {}, *now = stat_rows_find(&model->now, sum->key) ?: &none;
	struct top_history history = model->history[sum->index];
	const uint64_t interval = model->view.interval;
	struct stat_line *line = &row->line;
	unsigned int i;

	/* of numbers that EL2 has counted there are no samples */
	stat_line_set(line, sum, model->view.is_counted || sum->buckets);
	line->row = NULL;
	strcpy(line->name, history.name);
	stat_cell_set(line, COL_RATE, true, 0);
	line->cells[COL_RATE].x = interval ? (double)now->samples * NSEC_PER_SEC / interval : 0;
	line->cells[COL_RATE].n = line->cells[COL_RATE].x + 0.5;
	stat_cell_percent(line, COL_TIME, now->times.sum, now->times.sum ? time : 0);
	stat_cell_mean(line, &now->times);
	stat_cells_pmu(line, now);
	move_to(&history, youngest);
	for (i = 0; i < TOP_SECONDS; i++)
		row->spark[i] = history.seconds[(history.last + 1 + i) % TOP_SECONDS];
}

void top_model_view(const struct top_model *model, struct top_view *view)
{
	uint64_t nr, youngest = seconds_of(model, &nr) + nr - 1, time = 0;
	unsigned int i;

	top_view_free(view);
	*view = model->view;
	view->seconds = (double)(model->end - model->begin) / NSEC_PER_SEC;
	view->known = view->interval ? youngest + 1 : 0;
	view->nr_rows = model->sums.nr;
	view->cpus = xcalloc(view->nr_cpus + 1, sizeof(*view->cpus));
	view->rows = xcalloc(view->nr_rows + 1, sizeof(*view->rows));
	if (view->nr_cpus)
		memcpy(view->cpus, model->view.cpus, view->nr_cpus * sizeof(*view->cpus));
	for (i = 0; i < model->now.nr; i++)
		time += model->now.rows[i]->times.sum;
	for (i = 0; i < view->nr_rows; i++)
		view_row(model, model->sums.rows[i], youngest, time, &view->rows[i]);
}

void top_view_free(struct top_view *view)
{
	free(view->cpus);
	free(view->rows);
	*view = (struct top_view){};
}

/* Begin the sums again; the last minute stays. */
static void reset(struct top_model *model)
{
	unsigned int i;

	for (i = 0; i < model->sums.nr; i++) {
		struct stat_row *row = model->sums.rows[i];

		loglin_free(&row->times);
		if (row->buckets)
			memset(row->buckets->count, 0, sizeof(row->buckets->count));
		*row = (struct stat_row){
			.key = row->key, .index = row->index, .buckets = row->buckets,
		};
	}
	model->begin = model->end;
	model->view.events = 0;
	model->view.lost = 0;
	model->view.lost_more = false;
}

void top_model_free(struct top_model *model)
{
	const struct top_view view = { .source = model->view.source, .by = model->view.by };

	stat_rows_free(&model->sums);
	stat_rows_free(&model->now);
	free(model->history);
	free(model->view.cpus);
	*model = (struct top_model){ .view = view };
}

static void group(struct top *top, enum stat_by by)
{
	top->last_by = top->stat.by;
	top->stat.by = by;
	top->model.view.by = by;
	top_model_free(&top->model);
	top->look.has_selected = false;
	top->look.paused = false;
	top->look.sort = top->sort;
	top_model_view(&top->model, &top->view);
	top->next = TOP_OTHER_SOURCE;
}

/* Show the selected row, whose slowest samples need events. */
static void begin_detail(struct top *top)
{
	if (!top->look.has_selected) {
		cmd_note("no row is selected: use Up and Down");
		return;
	}
	stat_slow_free(&top->slow);
	top->slow.key = top->look.selected;
	top->last_by = top->stat.by;
	top->look.paused = false;
	top->is_detail = true;
	top->next = TOP_OTHER_SOURCE;
}

/* Select the row above or below; without a selected row, the first one. */
static void select_row(struct top *top, int step)
{
	const struct top_view *view = &top->view;
	unsigned int i;

	if (!view->nr_rows)
		return;
	for (i = 0; i < view->nr_rows && top->look.has_selected; i++)
		if (stat_key_is(view->rows[i].line.key, top->look.selected))
			break;
	if (!top->look.has_selected || i == view->nr_rows)
		i = 0;
	else if ((step < 0 && i) || (step > 0 && i + 1 < view->nr_rows))
		i += step;
	top->look.has_selected = true;
	top->look.selected = view->rows[i].line.key;
}

static void take_key_of_rows(struct top *top, enum top_key key)
{
	if (key == TOP_KEY_LEFT || key == TOP_KEY_RIGHT) {
		top->look.sort = top_column_next(&top->view, top->look.sort,
						 key == TOP_KEY_LEFT ? -1 : 1);
		top->sort = top->look.sort;
	} else if (key == TOP_KEY_UP || key == TOP_KEY_DOWN) {
		select_row(top, key == TOP_KEY_UP ? -1 : 1);
	} else if (key == TOP_KEY_ENTER) {
		begin_detail(top);
	} else if (key == TOP_KEY_BACK) {
		top->look.has_selected = false;
	} else if (key == TOP_KEY_GROUP) {
		group(top, (top->stat.by + 1) % NR_STAT_BY);
	} else if (key == TOP_KEY_PER_CPU) {
		top->look.per_cpu = !top->look.per_cpu;
	} else if (key == TOP_KEY_PAUSE) {
		top->look.paused = !top->look.paused;
	}
}

void top_take_key(struct top *top, enum top_key key)
{
	if (key == TOP_KEY_NONE || key == TOP_KEY_REDRAW)
		return;
	if (key == TOP_KEY_QUIT || key == TOP_KEY_GONE) {
		top->next = TOP_QUIT;
	} else if (top->is_help) {
		top->is_help = false;
	} else if (key == TOP_KEY_HELP) {
		top->is_help = true;
	} else if (key == TOP_KEY_RESET) {
		reset(&top->model);
		top->slow.nr = 0;
	} else if (!top->is_detail) {
		take_key_of_rows(top, key);
	} else if (key == TOP_KEY_BACK) {
		top->is_detail = false;
		top->next = TOP_OTHER_SOURCE;
	}
}

void top_return(struct top *top)
{
	top->is_detail = false;
	if (top->stat.by != top->last_by)
		group(top, top->last_by);
	top->next = TOP_OTHER_SOURCE;
}
