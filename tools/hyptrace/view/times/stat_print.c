// SPDX-License-Identifier: GPL-2.0-only
/* Print the times of CPUs and the rows of hyptrace stat, or the counters of EL2 as they are. */
#include "output/die.h"
#include "stat.h"

#define NR(array)	(sizeof(array) / sizeof((array)[0]))

/* The last columns are those of top. */
#define NR_PRINTED	COL_RATE

struct list {
	struct stat_line	*lines;	/* sorted */
	unsigned int		nr;
	struct stat_rows	sums;	/* the rows of all CPUs; unused with --per-cpu */
	bool			is_timed;	/* each sample has a time */
};

static const struct column columns_of_cpus[] = {
	COLUMN("cpu", "CPU", COLUMN_NUMBER),
	COLUMN("wall", "WALL", NUMBER(2)),
	COLUMN("host", "HOST", NUMBER(5)),
	COLUMN("host_percent", "HOST%", COLUMN_NUMBER),
	COLUMN("el2", "EL2", NUMBER(1)),
	COLUMN("el2_percent", "EL2%", COLUMN_NUMBER),
	COLUMN("guest", "GUEST", NUMBER(4)),
	COLUMN("guest_percent", "GUEST%", COLUMN_NUMBER),
	COLUMN("unknown", "UNKNOWN", COLUMN_NUMBER),
	COLUMN("events", "EVENTS", COLUMN_NUMBER),
	COLUMN("lost", "LOST", COLUMN_NUMBER),
	COLUMN("lost_more", "LOST_MORE", COLUMN_JSON),
	COLUMN("tracing", "TRACING", NUMBER(3)),
	COLUMN("tracing_spread", "+-", NUMBER(3)),
	COLUMN("tracing_percent", "TRACING%", NUMBER(6)),
};

#define COLUMN_OF_TRACING	(NR(columns_of_cpus) - 3)

static void add_lines(struct list *list, const struct stat *stat, const struct stat_rows *rows,
		      const struct stat_cpu *cpu)
{
	const bool is_exit = stat->by == STAT_BY_EXIT;
	unsigned int i;

	list->lines = xreallocarray(list->lines, list->nr + rows->nr + 1, sizeof(*list->lines));
	for (i = 0; i < rows->nr; i++) {
		struct stat_line *line = &list->lines[list->nr++];

		*line = (struct stat_line){};
		stat_line_set(line, rows->rows[i], stat->is_counted);
		stat_name(stat, line->key, line->name);
		stat_cell_set(line, COL_CPU, cpu, cpu ? cpu->id : 0);
		stat_cell_set(line, COL_BEGIN, true, stat->begin);
		stat_cell_set(line, COL_END, true, stat->end);
		line->cells[COL_RATE].x = line->row->samples;
		line->cells[COL_GUEST].is_known = is_exit && stat_has_guest(stat);
		line->cells[COL_RUN].is_known = is_exit;
		list->is_timed &= line->row->samples == line->row->times.count;
	}
}

static void list_init(struct list *list, const struct stat *stat)
{
	uint64_t samples = 0, time = 0;
	unsigned int i;

	*list = (struct list){ .is_timed = true };
	for (i = 0; i < stat->nr_cpus; i++) {
		if (stat->per_cpu)
			add_lines(list, stat, &stat->cpus[i]->rows, stat->cpus[i]);
		else
			stat_rows_merge(&list->sums, &stat->cpus[i]->rows);
	}
	add_lines(list, stat, &list->sums, NULL);
	for (i = 0; i < list->nr; i++) {
		samples += list->lines[i].row->samples;
		time += list->lines[i].row->times.sum;
	}
	for (i = 0; i < list->nr; i++) {
		const struct stat_row *row = list->lines[i].row;

		stat_cell_percent(&list->lines[i], COL_SAMPLES_PERCENT, row->samples, samples);
		stat_cell_percent(&list->lines[i], COL_TIME, row->times.sum,
				  row->times.count ? time : 0);
	}
	stat_lines_sort(list->lines, list->nr, sizeof(*list->lines), stat->sort);
}

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

/* A column without a meaning is in JSON only. */
static bool is_in_text(const struct stat *stat, const struct list *list, enum stat_column column)
{
	switch (column) {
	case COL_CPU:
		return stat->per_cpu;
	case COL_TIMED:
		return !list->is_timed && stat_by[stat->by].has_time;
	case COL_GUEST:
		return stat->by == STAT_BY_EXIT && stat_has_guest(stat);
	case COL_RUN:
		/* with GUEST, RUN says little more */
		return stat->by == STAT_BY_EXIT && !stat_has_guest(stat);
	default:
		return stat_column_has(column, stat->by, stat->is_counted);
	}
}

/* In JSON a row and its histogram are one object; in text the histograms follow the table. */
static void print_rows(struct printer *p, const struct stat *stat, const struct list *list)
{
	struct column all[NR_PRINTED];
	struct columns columns = { .all = all };
	char heading[STAT_NAME_SIZE + 16];
	const struct stat_line *line;

	for (unsigned int i = 0; i < NR_PRINTED; i++) {
		struct column *column = &all[columns.nr];

		*column = stat_columns[i].column;
		if (!is_in_text(stat, list, i))
			column->flags |= COLUMN_JSON;
		/* without --pmu, they are not there at all */
		columns.nr += stat_columns[i].sort || !(stat_columns[i].needs & NEEDS_PMU);
	}
	printer_table(p, "rows", &columns);
	for (line = list->lines; line < list->lines + list->nr; line++) {
		printer_row(p);
		columns_print_values(&columns, p, line);
		if (stat->histogram && printer_is_json(p))
			stat_row_print_histogram(p, line->row);
		printer_end(p);
	}
	printer_end(p);
	if (!stat->histogram || printer_is_json(p))
		return;
	for (line = list->lines; line < list->lines + list->nr; line++) {
		if (!line->row->times.count)
			continue;
		printer_object(p, NULL);
		snprintf(heading, sizeof(heading), stat->per_cpu ? "%s, CPU %u" : "%s", line->name,
			 (unsigned int)line->cells[COL_CPU].n);
		printer_heading(p, "name", heading);
		stat_row_print_histogram(p, line->row);
		printer_end(p);
	}
}

static void print_cpu(struct printer *p, const struct stat *stat, const struct stat_cpu *cpu)
{
	const bool has_cost = stat->event_psec && !cpu->lost_more;
	/* events whose recording or counting took time: one that was lost was recorded, too */
	const uint64_t nr = cpu->events + cpu->lost + cpu->counted;
	const uint64_t cost = nr * stat->event_psec / PSEC_PER_NSEC;
	const uint64_t wall = stat->end - stat->begin;
	uint64_t ns[NR_STAT_PLACES];

	stat_times_sum(&cpu->times, stat->begin, stat->end, ns);
	printer_row(p);
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
	printer_bool(p, "lost_more", cpu->lost_more);
	/* it is a part of the other times */
	time_print_if(p, "tracing", has_cost, cost);
	time_print_if(p, "tracing_spread", has_cost, nr * stat->event_spread / PSEC_PER_NSEC);
	print_percent(p, "tracing_percent", cost, has_cost ? wall : 0);
	printer_end(p);
}

static void print_cpus(struct printer *p, const struct stat *stat)
{
	/* A file does not say what its events have cost. */
	const bool has_cost = stat->event_psec || printer_is_json(p);
	const struct columns columns = {
		.all = columns_of_cpus,
		.nr = has_cost ? NR(columns_of_cpus) : COLUMN_OF_TRACING,
	};
	unsigned int i;

	printer_table(p, "cpus", &columns);
	for (i = 0; i < stat->nr_cpus; i++)
		print_cpu(p, stat, stat->cpus[i]);
	printer_end(p);
}

static void note_missing(const struct stat *stat)
{
	auto_free char *list = NULL;
	enum hyptrace_kind kind;
	bool is_needed = false;
	FILE *f = text_open(&list);

	for (kind = 0; kind < HYPTRACE_NR_KINDS; kind++) {
		bool needed = stat_by_needs(stat->by, kind);

		if (stat->seen & HYPTRACE_KIND_BIT(kind) ||
		    (!needed && kind != HYPTRACE_KIND_ENTER && kind != HYPTRACE_KIND_EXIT))
			continue;
		is_needed |= needed;
		fprintf(f, "%s%s", ftell(f) ? "," : "", hyptrace_kind_event(kind));
	}
	text_close(f, &list);
	if (is_needed && stat->session.path)
		cmd_note("\"%s\" has none of the events for --by=%s, which \"hyptrace record -e %s\" records",
			 stat->session.path, stat_by[stat->by].name, list);
	else if (is_needed)
		cmd_note("none of these events was recorded: %s", list);
	else if (*list && stat->session.path)
		cmd_note("\"%s\" does not say where the time goes: use \"hyptrace record -e %s\", too",
			 stat->session.path, list);
}

/* The means are those of the samples during which the PMU has counted. */
static void note_measured(const struct stat *stat, const struct list *list)
{
	uint64_t samples = 0, measured = 0;
	unsigned int i;

	for (i = 0; i < list->nr; i++) {
		samples += list->lines[i].row->samples;
		measured += list->lines[i].row->measured;
	}
	if (measured == samples)
		return;
	cmd_note("the PMU has counted during %" PRIu64 " of %" PRIu64 " samples%s", measured,
		 samples, stat->session.path && !measured ?
		 ": record with \"hyptrace record --pmu\"" : "");
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
	if (stat->session.quiet && !lost && !more)
		return;
	cmd_note("%" PRIu64 " event%s read, %" PRIu64 "%s lost", events, events == 1 ? "" : "s",
		 lost, more ? " or more" : "");
}

bool stat_print(struct stat *stat)
{
	struct out *out = &stat->session.ctx->out;
	struct printer *p = stat->session.ctx->p;
	struct list list;

	list_init(&list, stat);
	printer_object(p, NULL);
	if (printer_is_json(p)) {
		printer_str(p, "by", stat_by[stat->by].name);
		printer_uint(p, "begin", stat->begin);
		printer_uint(p, "wall", stat->end - stat->begin);
		printer_uint_if(p, "event_psec", stat->event_psec, stat->event_psec);
		printer_uint_if(p, "event_psec_spread", stat->event_psec, stat->event_spread);
	}
	if (stat->interval && printer_is_text(p))
		out_printf(out, "from %.6f to %.6f s:\n", (double)stat->begin / NSEC_PER_SEC,
			   (double)stat->end / NSEC_PER_SEC);
	if (!printer_is_csv(p))
		print_cpus(p, stat);
	if (printer_is_text(p))
		out_putc(out, '\n');
	print_rows(p, stat, &list);
	printer_end(p);
	if (stat->session.pmu.nr && !stat->session.quiet)
		note_measured(stat, &list);
	free(list.lines);
	stat_rows_free(&list.sums);
	out_flush(out);
	/* nothing is recorded, so nothing can be missing or lost */
	if (!stat->is_counted && !stat->session.quiet && !stat->session.is_outside &&
	    !choice_is_made(&stat->session.choice))
		note_missing(stat);
	if (!stat->is_counted && stat->interval)
		note_counts(stat);
	return !out->error;
}

static const struct column counter_columns[] = {
	COLUMN("event", "EVENT", 0),
	COLUMN("field", "FIELD", COLUMN_JSON),
	COLUMN("value", "VALUE", COLUMN_NUMBER | COLUMN_JSON),
	COLUMN("name", "KEY", 0),
	COLUMN("cpu", "CPU", COLUMN_NUMBER),
	COLUMN("count", "COUNT", COLUMN_NUMBER),
	COLUMN("total", "TOTAL", COLUMN_NUMBER),
	COLUMN("average", "AVERAGE", COLUMN_NUMBER),
	COLUMN("longest", "LONGEST", COLUMN_NUMBER),
	COLUMN("counted", "COUNTED", COLUMN_JSON),
};

const struct columns stat_raw_columns = COLUMNS(counter_columns);

/* The value that was counted is in text its name, or else the value itself. */
static void print_key(struct printer *p, const struct hyptrace_event_counter *of)
{
	if (!of || of->name || printer_is_json(p))
		printer_str(p, "name", of ? of->name : NULL);
	else if (of->is_others)
		printer_str(p, "name", "(other)");
	else
		printer_uint(p, "name", of->value);
}

static void print_numbers(struct printer *p, const struct counter_sum *sum)
{
	const bool has_time = sum->of && sum->of->has_time;

	if (!sum->all_cpus)
		printer_uint(p, "cpu", sum->of->cpu);
	else
		printer_str(p, "cpu", printer_is_json(p) ? NULL : "all");
	/* hyp_exit has a time only */
	printer_uint_if(p, "count", !(sum->of && sum->of->now), sum->count);
	time_print_if(p, "total", has_time, sum->total);
	time_print_if(p, "average", has_time && sum->count, sum->total / (sum->count ?: 1));
	time_print_if(p, "longest", has_time && sum->count, sum->longest);
}

static void print_sum(struct printer *p, const struct counter_sum *sum)
{
	const struct hyptrace_event_counter *of = sum->of;

	printer_styled(p, "event", STYLE_NAME, sum->event->name);
	printer_str(p, "field", of ? of->field : NULL);
	printer_uint_if(p, "value", of && !of->is_others, of ? of->value : 0);
	print_key(p, of);
	print_numbers(p, sum);
	printer_bool(p, "counted", sum->event->counted);
}

static void print_sum_histogram(struct printer *p, const struct counter_sum *sum)
{
	static const struct printer_label labels[] = { { "name", "key" }, { 0 } };
	const struct hyptrace_event_counter *of = sum->of;
	const unsigned int nr = of ? of->nr_buckets : 0;
	auto_free struct time_bucket *buckets = xcalloc(nr + 1, sizeof(*buckets));
	unsigned int i;

	for (i = 0; i < nr; i++) {
		buckets[i].from = hyptrace_counter_bucket(of, i);
		if (i + 1 < nr)
			buckets[i].to = hyptrace_counter_bucket(of, i + 1);
		buckets[i].count = sum->buckets[i];
	}
	printer_object(p, NULL);
	printer_labels(p, labels);
	if (printer_is_json(p)) {
		print_sum(p, sum);
	} else {
		printer_heading(p, "event", sum->event->name);
		if (of)
			print_key(p, of);
		print_numbers(p, sum);
	}
	if (nr)
		time_print_histogram(p, buckets, nr);
	printer_end(p);
}

int stat_raw(struct context *ctx, const struct columns *columns, bool histogram)
{
	auto_counters struct hyptrace_event_counter **counters = NULL;
	struct hyptrace_cpu **cpus auto_cpus = NULL;
	struct hyptrace_event **events auto_events = NULL;
	struct hyptrace_remote *remote auto_remote = NULL;
	struct counter_sums sums = {};
	struct printer *p = ctx->p;
	struct hyptrace_error err;
	unsigned int nr, i;
	int code = cmd_get_events(ctx, &remote, &events, &nr);

	/* refuse CPUs that do not exist */
	if (!code && ctx->have_cpus)
		code = cmd_get_cpus(ctx, remote->name, &cpus, &nr);
	if (code)
		return code;
	if (hyptrace_get_counters(ctx->h, remote->name, HYPTRACE_CPU_ALL, &counters, &nr, &err))
		return cmd_fail("cannot get the counters: %s", err.text);
	for (i = 0; i < nr; i++)
		if (!ctx->have_cpus || cpu_list_has(&ctx->cpus, counters[i]->cpu))
			counter_sums_add(&sums, events, counters[i], !ctx->have_cpus);
	if (!ctx->have_cpus)
		counter_sums_add_unused(&sums, events);
	counter_sums_sort(&sums);
	if (!sums.nr && counters_any_counted(events))
		cmd_note("no counted event has occurred on these CPUs");
	else if (!sums.nr)
		cmd_note("no event is counted: use \"hyptrace count EVENT...\"");
	if (histogram)
		printer_array(p, NULL);
	else
		printer_table(p, NULL, columns);
	for (i = 0; i < sums.nr; i++) {
		if (histogram) {
			print_sum_histogram(p, &sums.sums[i]);
			continue;
		}
		printer_row(p);
		print_sum(p, &sums.sums[i]);
		printer_end(p);
	}
	printer_end(p);
	counter_sums_free(&sums);
	return EXIT_DONE;
}
