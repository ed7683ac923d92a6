// SPDX-License-Identifier: GPL-2.0-only
/* Export as CSV: a table of all events, or one per event in a folder, and how DuckDB loads them. */
#include <ctype.h>

#include "output/die.h"
#include "export.h"
#include "row.h"

/* Bytes of a file's name at most, its NUL included */
#define FILE_MAX	(HYPTRACE_EVENT_NAME_MAX + 32)

/* Numbers of tables: ids of events, the losses, and the events that nobody knows */
#define LOST		CHOICE_IDS
#define UNKNOWN		(CHOICE_IDS + 1)
#define NR_TABLES	(CHOICE_IDS + 2)

#define LOST_NAME	"lost"
#define UNKNOWN_NAME	"unknown"

/* A file of the folder */
struct table {
	struct csv	*csv;			/* NULL if the table is not of an event */
	char		name[FILE_MAX];
	char		file[FILE_MAX];
	bool		is_open;
	struct out	out;
};

struct tables {
	struct table	*tables[NR_TABLES];
	int		code;			/* a file could not be created or written */
};

/* Bytes of rows that a part keeps at most: one of them can be longer */
#define ROWS_MAX	(256 << 10)

/* Rows of a table that a part has made */
struct rows {
	struct out	out;
	struct csv	*csv;
	unsigned int	number;
	struct rows	*next;
};

struct csv_part {
	struct csv	*csv;			/* the one table; or else */
	struct rows	*rows[NR_TABLES];
	struct rows	*first;			/* all of them */
};

/* Make a file and its buffer; a file that cannot be created drops what is written to it. */
static struct table *new_table(struct export *x, const char *name, const char *ending)
{
	struct tables *all = x->state;
	struct table *table = xmalloc(sizeof(*table));

	table->csv = NULL;
	snprintf(table->name, sizeof(table->name), "%s", name);
	snprintf(table->file, sizeof(table->file), "%s%s", name, ending);
	/* after the first failure, all that matters is its message */
	all->code = all->code ?: export_open(x, table->file, &table->out);
	table->is_open = !all->code;
	if (all->code) {
		out_init(&table->out, -1);
		table->out.error = EBADF;
	}
	return table;
}

static void free_table(struct export *x, struct table *table)
{
	struct tables *all = x->state;
	int code = EXIT_DONE;

	if (!table)
		return;
	if (table->is_open)
		code = export_close(x, table->file, &table->out);
	else
		out_free(&table->out);
	all->code = all->code ?: code;
	csv_free(table->csv);
	free(table);
}

/* The table of a number; the first time, a file with the names of the columns. */
static struct table *table_of(struct export *x, unsigned int number)
{
	struct tables *all = x->state;
	const char *name = number == LOST ? LOST_NAME : UNKNOWN_NAME, *at;
	struct table *table = all->tables[number];
	char of_id[FILE_MAX];
	unsigned int i = 0;

	if (table)
		return table;
	while (number < CHOICE_IDS && x->events[i]->id != number)
		i++;
	if (number < CHOICE_IDS) {
		/* as the name of a file, and as a word in SQL: a file may contain any name */
		name = x->events[i]->name;
		for (at = name; isalnum((unsigned char)*at) || *at == '_'; at++)
			;
		snprintf(of_id, sizeof(of_id), "event-%u", number);
		if (at == name || *at || !strcmp(name, LOST_NAME) || !strcmp(name, UNKNOWN_NAME))
			name = of_id;
	}
	table = new_table(x, name, ".csv");
	all->tables[number] = table;
	if (number < CHOICE_IDS) {
		table->csv = csv_new_of(x->formats, x->events[i], x->origin);
		csv_head(table->csv, &table->out);
	} else {
		out_puts(&table->out, number == LOST ? "ts,cpu,lost," ORIGIN_COLUMNS "\n" :
			 "ts,cpu,id,size," ORIGIN_COLUMNS "\n");
	}
	out_flush(&table->out);
	return table;
}

/* Append the rows to the file of their table; no other part may do so meanwhile. */
static int write_rows(struct export_part *part, struct rows *rows)
{
	struct table *table;

	if (!rows->out.len)
		return 0;
	table = table_of(part->x, rows->number);
	out_write(&table->out, rows->out.buf, rows->out.len);
	rows->out.len = 0;
	if (!part->batch)
		out_flush(&table->out);
	return table->out.error;
}

/* Too many rows to keep: write them early. */
static void check_room(struct export_part *part, struct rows *rows)
{
	if (__builtin_expect(rows->out.len <= ROWS_MAX, 1))
		return;
	export_wait(part);
	write_rows(part, rows);
}

static struct rows *rows_of(struct export_part *part, unsigned int number,
			    const struct hyptrace_event *event)
{
	struct csv_part *state = part->state;
	struct rows *rows = state->rows[number];

	if (rows)
		return rows;
	rows = xmalloc(sizeof(*rows));
	out_init_memory(&rows->out);
	rows->csv = event ? csv_new_of(part->formats, event, part->x->origin) : NULL;
	rows->number = number;
	rows->next = state->first;
	state->first = rows;
	state->rows[number] = rows;
	return rows;
}

/* Make the table of all events that are exported. */
static struct csv *new_csv(const struct export *x, struct hyptrace_formats *formats)
{
	auto_free struct hyptrace_event **events = xcalloc(x->nr_events + 1, sizeof(*events));
	unsigned int i, nr = 0;

	for (i = 0; i < x->nr_events; i++)
		if (x->events[i]->id < CHOICE_IDS && choice_has(x->wanted, x->events[i]))
			events[nr++] = x->events[i];
	return csv_new(formats, events, nr, x->origin);
}

static int begin(struct export *x)
{
	struct tables *all;
	struct csv *csv;

	if (x->out) {
		csv = new_csv(x, x->formats);
		csv_head(csv, x->out);
		csv_free(csv);
		return EXIT_DONE;
	}
	all = xcalloc(1, sizeof(*all));
	x->state = all;
	/* it is there even if it stays empty: queries need not look whether it is */
	table_of(x, LOST);
	return all->code;
}

static void begin_part(struct export_part *part)
{
	struct csv_part *state = xcalloc(1, sizeof(*state));

	part->state = state;
	if (part->out)
		state->csv = new_csv(part->x, part->formats);
}

static void put_row(struct export_part *part, unsigned int cpu, const struct hyptrace_record *rec)
{
	const struct hyptrace_event *event = hyptrace_formats_event(part->formats, rec);
	struct rows *rows = rows_of(part, event ? event->id : UNKNOWN, event);

	if (event)
		csv_event(rows->csv, cpu, rec, &rows->out);
	else
		out_printf(&rows->out, "%" PRIu64 ",%u,%u,%u,%s\n", rec->ts, cpu,
			   row_record_id(rec), rec->size, part->x->origin->csv);
	check_room(part, rows);
}

static void put_loss(struct export_part *part, unsigned int cpu, uint64_t ts, uint64_t lost)
{
	struct rows *rows = rows_of(part, LOST, NULL);
	struct out *out = &rows->out;

	out_printf(out, "%" PRIu64 ",%u,", ts, cpu);
	if (lost != HYPTRACE_LOST_UNKNOWN)
		out_printf(out, "%" PRIu64, lost);
	out_printf(out, ",%s\n", part->x->origin->csv);
	check_room(part, rows);
}

static void put_events(struct export_part *part, const struct hyptrace_stream_event *events,
		       unsigned int nr)
{
	const struct csv_part *state = part->state;
	const struct hyptrace_stream_event *event;

	for (event = events; event < events + nr; event++) {
		const struct hyptrace_record *rec = &event->record;

		if (rec->lost && state->csv)
			csv_lost(state->csv, event->cpu, rec->ts, rec->lost, part->out);
		else if (rec->lost)
			put_loss(part, event->cpu, rec->ts, rec->lost);
		if (rec->data && state->csv)
			csv_event(state->csv, event->cpu, rec, part->out);
		else if (rec->data)
			put_row(part, event->cpu, rec);
	}
}

static int flush(struct export_part *part)
{
	const struct csv_part *state = part->state;
	struct rows *rows;
	int error = 0;

	for (rows = state->first; rows && !error; rows = rows->next)
		error = write_rows(part, rows);
	return error;
}

static void end_part(struct export_part *part)
{
	struct csv_part *state = part->state;
	struct rows *rows, *next;

	for (rows = state->first; rows; rows = next) {
		next = rows->next;
		out_free(&rows->out);
		csv_free(rows->csv);
		free(rows);
	}
	csv_free(state->csv);
	free(state);
}

static void load(struct out *out, const struct table *table, const char *columns)
{
	if (!table)
		return;
	out_printf(out, "CREATE TABLE \"%s\" (ts UBIGINT, cpu UINTEGER%s", table->name, columns);
	if (table->csv)
		csv_sql(table->csv, out);
	out_printf(out, ");\nCOPY \"%s\" FROM '%s' (HEADER);\n", table->name, table->file);
}

static int end(struct export *x)
{
	struct tables *all = x->state;
	struct table *sql;
	unsigned int i;
	int code;

	if (!all)
		return EXIT_DONE;
	/* load.sql has the types of all columns */
	sql = new_table(x, "load", ".sql");
	out_puts(&sql->out, "-- Load these tables into DuckDB, in this folder: duckdb trace.db <load.sql\n");
	for (i = 0; i < CHOICE_IDS; i++)
		load(&sql->out, all->tables[i], "");
	load(&sql->out, all->tables[LOST], ", lost UBIGINT, " ORIGIN_SQL);
	load(&sql->out, all->tables[UNKNOWN], ", id USMALLINT, size UINTEGER, " ORIGIN_SQL);
	free_table(x, sql);
	for (i = 0; i < NR_TABLES; i++)
		free_table(x, all->tables[i]);
	code = all->code;
	free(all);
	return code;
}

static const struct export_format format EXPORT_FORMAT = {
	.name = "csv",
	.place = 6,
	.endings = (const char *const[]){ ".csv", NULL },
	.help = "tables for DuckDB and pandas: one, or one per event",
	.targets = EXPORT_TO_FILE | EXPORT_TO_FOLDER,
	.begin = begin,
	.begin_part = begin_part,
	.events = put_events,
	.flush = flush,
	.end_part = end_part,
	.end = end,
};
