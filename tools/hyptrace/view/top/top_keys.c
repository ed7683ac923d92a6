// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the keys of hyptrace top do.
 */
#include "output/message.h"
#include "top.h"

/* Show other rows. */
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
	switch (key) {
	case TOP_KEY_LEFT:
	case TOP_KEY_RIGHT:
		top->look.sort = top_column_next(&top->view, top->look.sort,
						 key == TOP_KEY_LEFT ? -1 : 1);
		top->sort = top->look.sort;
		return;
	case TOP_KEY_UP:
	case TOP_KEY_DOWN:
		select_row(top, key == TOP_KEY_UP ? -1 : 1);
		return;
	case TOP_KEY_ENTER:
		begin_detail(top);
		return;
	case TOP_KEY_BACK:
		top->look.has_selected = false;
		return;
	case TOP_KEY_GROUP:
		group(top, (top->stat.by + 1) % NR_STAT_BY);
		return;
	case TOP_KEY_PER_CPU:
		top->look.per_cpu = !top->look.per_cpu;
		return;
	case TOP_KEY_PAUSE:
		top->look.paused = !top->look.paused;
		return;
	default:
		return;
	}
}

void top_take_key(struct top *top, enum top_key key)
{
	switch (key) {
	case TOP_KEY_NONE:
	case TOP_KEY_REDRAW:
		return;
	case TOP_KEY_QUIT:
	case TOP_KEY_GONE:
		top->next = TOP_QUIT;
		return;
	default:
		break;
	}
	if (top->is_help) {
		top->is_help = false;
	} else if (key == TOP_KEY_HELP) {
		top->is_help = true;
	} else if (key == TOP_KEY_RESET) {
		top_model_reset(&top->model);
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
