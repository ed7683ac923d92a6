// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export as CSV: one table of all events into a file, or one table per event into a folder, with
 * the commands that load them into DuckDB.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/die.h"
#include "output/out.h"
#include "csv.h"
#include "export.h"

/* Bytes of a file's name at most, its NUL included */
#define FILE_MAX	(HYPTRACE_EVENT_NAME_MAX + 32)

#define NR_IDS		(UINT16_MAX + 1)

/* Tables that are not of an event */
#define TABLE_LOST	"lost"
#define TABLE_UNKNOWN	"unknown"

/**
 * struct table - a file of the folder
 * @csv:	the table of an event; else NULL
 * @name:	its name
 * @file:	name of the file
 * @is_open:	the file could be created
 * @out:	the file
 */
struct table {
	struct csv	*csv;
	char		name[FILE_MAX];
	char		file[FILE_MAX];
	bool		is_open;
	struct out	out;
};

/**
 * struct csv_export - the state of the export
 * @csv:	the one table; NULL if the output is a folder
 * @lost:	the losses; NULL if there is one table
 * @unknown:	the events that nobody knows, once there are any
 * @tables:	the events by their ids, likewise
 * @code:	exit code: a file could not be created or written
 */
struct csv_export {
	struct csv	*csv;
	struct table	*lost;
	struct table	*unknown;
	struct table	*tables[NR_IDS];
	int		code;
};

static void keep_code(struct csv_export *state, int code)
{
	if (!state->code)
		state->code = code;
}

/* Make a file and its buffer; a file that cannot be created drops what is written to it. */
static struct table *new_table(struct export *x, const char *name, const char *ending)
{
	struct csv_export *state = x->state;
	struct table *table = malloc(sizeof(*table));
	int code;

	if (!table)
		die_no_memory();
	table->csv = NULL;
	snprintf(table->name, sizeof(table->name), "%s", name);
	snprintf(table->file, sizeof(table->file), "%s%s", name, ending);
	/* after the first failure, all that matters is its message */
	code = state->code ? state->code : export_open(x, table->file, &table->out);
	table->is_open = !code;
	if (code) {
		out_init(&table->out, -1);
		table->out.error = EBADF;
	}
	keep_code(state, code);
	return table;
}

static void free_table(struct export *x, struct table *table)
{
	if (!table)
		return;
	if (table->is_open)
		keep_code(x->state, export_close(x, table->file, &table->out));
	csv_free(table->csv);
	free(table);
}

/* The name of an event as that of a file, and as a word in SQL: a file may contain any name. */
static void name_table(const struct hyptrace_event *event, char name[FILE_MAX])
{
	const char *at = event->name;

	while (isalnum((unsigned char)*at) || *at == '_')
		at++;
	if (at != event->name && !*at &&
	    strcmp(event->name, TABLE_LOST) && strcmp(event->name, TABLE_UNKNOWN))
		snprintf(name, FILE_MAX, "%s", event->name);
	else
		snprintf(name, FILE_MAX, "event-%u", event->id);
}

static struct table *new_event_table(struct export *x, const struct hyptrace_event *event)
{
	char name[FILE_MAX];
	struct table *table;

	name_table(event, name);
	table = new_table(x, name, ".csv");
	table->csv = csv_new_of(x->formats, event);
	csv_head(table->csv, &table->out);
	return table;
}

/* Make the table of all events that are exported. */
static struct csv *new_csv(const struct export *x)
{
	struct hyptrace_event **events = calloc(x->nr_events + 1, sizeof(struct hyptrace_event *));
	unsigned int i, nr = 0;
	struct csv *csv;

	if (!events)
		die_no_memory();
	for (i = 0; i < x->nr_events; i++)
		if (x->events[i]->id < NR_IDS && (!x->wanted || x->wanted[x->events[i]->id]))
			events[nr++] = x->events[i];
	csv = csv_new(x->formats, events, nr);
	free(events);
	return csv;
}

static int begin(struct export *x)
{
	struct csv_export *state = calloc(1, sizeof(*state));

	if (!state)
		die_no_memory();
	x->state = state;
	if (!x->out) {
		/* it is there even if it stays empty: queries need not look whether it is */
		state->lost = new_table(x, TABLE_LOST, ".csv");
		out_puts(&state->lost->out, "ts,cpu,lost\n");
		return state->code;
	}
	state->csv = new_csv(x);
	csv_head(state->csv, x->out);
	return EXIT_DONE;
}

static void put_unknown(struct export *x, unsigned int cpu, const struct hyptrace_record *rec)
{
	struct csv_export *state = x->state;
	uint16_t id = 0;

	if (!state->unknown) {
		state->unknown = new_table(x, TABLE_UNKNOWN, ".csv");
		out_puts(&state->unknown->out, "ts,cpu,id,size\n");
	}
	if (rec->size >= sizeof(id))
		memcpy(&id, rec->data, sizeof(id));
	out_printf(&state->unknown->out, "%" PRIu64 ",%u,%u,%u\n", rec->ts, cpu, id, rec->size);
}

static void put_event(struct export *x, unsigned int cpu, const struct hyptrace_record *rec)
{
	struct csv_export *state = x->state;
	const struct hyptrace_event *event;
	struct table *table;

	if (state->csv) {
		csv_event(state->csv, cpu, rec, x->out);
		return;
	}
	event = hyptrace_formats_event(x->formats, rec);
	if (!event) {
		put_unknown(x, cpu, rec);
		return;
	}
	table = state->tables[event->id];
	if (!table) {
		table = new_event_table(x, event);
		state->tables[event->id] = table;
	}
	csv_event(table->csv, cpu, rec, &table->out);
}

static void put_loss(struct export *x, unsigned int cpu, uint64_t ts, uint64_t lost)
{
	struct csv_export *state = x->state;

	if (state->csv) {
		csv_lost(state->csv, cpu, ts, lost, x->out);
		return;
	}
	out_printf(&state->lost->out, "%" PRIu64 ",%u,", ts, cpu);
	if (lost != HYPTRACE_LOST_UNKNOWN)
		out_printf(&state->lost->out, "%" PRIu64, lost);
	out_putc(&state->lost->out, '\n');
}

static void load(struct out *out, const struct table *table, const char *columns)
{
	if (table)
		out_printf(out, "CREATE TABLE \"%s\" (%s);\nCOPY \"%s\" FROM '%s' (HEADER);\n",
			   table->name, columns, table->name, table->file);
}

/* Write load.sql, which has the types of all columns. */
static void write_sql(struct export *x)
{
	struct csv_export *state = x->state;
	struct table *sql = new_table(x, "load", ".sql");
	unsigned int i;

	out_puts(&sql->out, "-- Load these tables into DuckDB, in this folder: duckdb trace.db <load.sql\n");
	for (i = 0; i < NR_IDS; i++)
		if (state->tables[i])
			csv_sql(state->tables[i]->csv, state->tables[i]->name,
				state->tables[i]->file, &sql->out);
	load(&sql->out, state->lost, "ts UBIGINT, cpu UINTEGER, lost UBIGINT");
	load(&sql->out, state->unknown, "ts UBIGINT, cpu UINTEGER, id USMALLINT, size UINTEGER");
	free_table(x, sql);
}

static int end(struct export *x)
{
	struct csv_export *state = x->state;
	unsigned int i;
	int code;

	if (!state)
		return EXIT_DONE;
	if (!x->out)
		write_sql(x);
	for (i = 0; i < NR_IDS; i++)
		free_table(x, state->tables[i]);
	free_table(x, state->lost);
	free_table(x, state->unknown);
	csv_free(state->csv);
	code = state->code;
	free(state);
	return code;
}

static const char *const endings[] = { ".csv", NULL };

const struct export_format export_csv = {
	.name = "csv",
	.endings = endings,
	.help = "tables for DuckDB and pandas: one, or one per event",
	.targets = EXPORT_TO_FILE | EXPORT_TO_FOLDER,
	.begin = begin,
	.event = put_event,
	.loss = put_loss,
	.end = end,
};
