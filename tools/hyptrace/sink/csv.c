// SPDX-License-Identifier: GPL-2.0-only
/* Tables of events as CSV, written by the steps of rows. For report and export. */
#include "output/die.h"
#include "export.h"
#include "row.h"

/* Bytes of the time and the CPU at most */
#define HEAD_MAX	(2 * DIGITS_MAX + 2 + DIGITS_SLACK)

struct csv_column {
	const char	*name;	/* name of the field */
	bool		has_names;	/* another column has the names of the values */
	bool		is_text;	/* a value is not a number */
	bool		is_signed;	/* a value may be negative */
	bool		is_unsigned;	/* a value may be greater than a signed number of size */
	uint32_t	size;	/* bytes of the largest value */
};

struct csv {
	struct hyptrace_formats		*formats;	/* formats of the events */
	const struct hyptrace_event	*event;	/* the event of the table; NULL if it is for all */
	unsigned int			nr;
	struct csv_column		*columns;	/* the columns of fields */
	char				*commas;	/* the commas of a row that has no fields */
	const struct origin		*origin;	/* or NULL */
	char				*tail;	/* the end of each row */
	struct stamp			stamp;	/* the cached time */
	unsigned int			nr_ids;
	/* by ids, compiled when they are needed; from nr_ids on: of hypercalls without a result */
	struct row			**rows;
};

static void add_field(struct csv *csv, const struct hyptrace_event *event,
		      const struct hyptrace_field *field)
{
	const struct row row = { .formats = csv->formats, .event = event };
	struct csv_column *column;
	unsigned int i;

	for (i = 0; i < csv->nr && strcmp(csv->columns[i].name, field->name); i++)
		;
	column = i < csv->nr ? &csv->columns[i] : xappend(csv->columns, csv->nr);
	column->name = field->name;
	column->has_names |= row_has_names(&row, field);
	column->is_text |= !hyptrace_field_is_number(field, event->size);
	column->is_signed |= field->is_signed;
	column->is_unsigned |= !field->is_signed;
	if (field->size > column->size)
		column->size = field->size;
}

struct csv *csv_new(struct hyptrace_formats *formats, struct hyptrace_event *const *events,
		    unsigned int nr, const struct origin *origin)
{
	struct csv *csv = xcalloc(1, sizeof(*csv));
	const struct hyptrace_event *event;
	unsigned int i, j;
	size_t nr_commas;

	csv->formats = formats;
	csv->origin = origin;
	for (i = 0; i < nr; i++) {
		const uint16_t id = events[i]->id;
		const struct hyptrace_record rec = { .data = &id, .size = events[i]->size };

		/* the formats know their own event of this id, and no copy of it */
		event = hyptrace_formats_event(formats, &rec) ?: events[i];
		if (event->id >= csv->nr_ids && event->id <= UINT16_MAX)
			csv->nr_ids = event->id + 1;
		for (j = 0; j < event->nr_fields; j++)
			add_field(csv, event, event->fields[j]);
	}
	csv->rows = xcalloc(2 * csv->nr_ids + 1, sizeof(struct row *));
	nr_commas = csv->nr;
	for (i = 0; i < csv->nr; i++)
		nr_commas += csv->columns[i].has_names;
	csv->commas = xcalloc(nr_commas + 1, 1);
	memset(csv->commas, ',', nr_commas);
	csv->tail = xasprintf("%s%s\n", origin ? "," : "", origin ? origin->csv : "");
	return csv;
}

struct csv *csv_new_of(struct hyptrace_formats *formats, const struct hyptrace_event *event,
		       const struct origin *origin)
{
	struct csv *csv = csv_new(formats, (struct hyptrace_event *const *)&event, 1, origin);

	csv->event = event;
	return csv;
}

void csv_free(struct csv *csv)
{
	unsigned int i;

	if (!csv)
		return;
	for (i = 0; i < 2 * csv->nr_ids; i++) {
		row_free(csv->rows[i]);
		free(csv->rows[i]);
	}
	free(csv->rows);
	free(csv->columns);
	free(csv->commas);
	free(csv->tail);
	free(csv);
}

void csv_head(const struct csv *csv, struct out *out)
{
	unsigned int i;

	out_puts(out, csv->event ? "ts,cpu" : "ts,cpu,event,lost");
	for (i = 0; i < csv->nr; i++) {
		auto_free char *name = text_copy_csv(csv->columns[i].name);

		out_printf(out, ",%s", name);
		if (csv->columns[i].has_names)
			out_printf(out, ",%s_name", name);
	}
	out_puts(out, csv->origin ? "," ORIGIN_COLUMNS "\n" : "\n");
}

/* Compile the row of an event, with nothing in the column of the field @but, which may be NULL. */
static struct row *compile(const struct csv *csv, const struct hyptrace_event *event,
			   const struct hyptrace_field *but)
{
	struct row *row = xmalloc(sizeof(*row));
	unsigned int i;

	row_init(row, ROW_CSV, csv->formats, event);
	if (!csv->event) {
		row_add_text(row, ",");
		row_add_string(row, event->name);
		row_add_text(row, ",");
	}
	for (i = 0; i < csv->nr; i++) {
		const struct csv_column *column = &csv->columns[i];
		const struct hyptrace_field *field = hyptrace_event_field(event, column->name);

		row_add_text(row, ",");
		if (field && field != but)
			row_add_value(row, field);
		if (!column->has_names)
			continue;
		row_add_text(row, ",");
		if (field && row_has_names(row, field))
			row_add_name(row, field);
	}
	row_add_text(row, csv->tail);
	return row;
}

static inline char *put_head(struct csv *csv, char *to, unsigned int cpu, uint64_t ts)
{
	to = stamp_put(&csv->stamp, to, ts);
	*to++ = ',';
	return hyptrace_digits_decimal(to, cpu);
}

void csv_event(struct csv *csv, unsigned int cpu, const struct hyptrace_record *rec,
	       struct out *out)
{
	const struct hyptrace_event *event = hyptrace_formats_event(csv->formats, rec);
	const struct hyptrace_field *but;
	unsigned int index;

	out_put_to(out, put_head(csv, out_room(out, HEAD_MAX), cpu, rec->ts));
	if (!event || event->id >= csv->nr_ids) {
		out_printf(out, ",%s,%s%s", event ? event->name : "unknown", csv->commas,
			   csv->tail);
		return;
	}
	but = hyptrace_formats_missing(csv->formats, event, rec);
	index = event->id + (but ? csv->nr_ids : 0);
	if (__builtin_expect(!csv->rows[index], 0))
		csv->rows[index] = compile(csv, event, but);
	row_print(csv->rows[index], rec, out);
}

void csv_lost(struct csv *csv, unsigned int cpu, uint64_t ts, uint64_t lost, struct out *out)
{
	out_put_to(out, put_head(csv, out_room(out, HEAD_MAX), cpu, ts));
	out_puts(out, ",,");
	if (lost != HYPTRACE_LOST_UNKNOWN)
		out_printf(out, "%" PRIu64, lost);
	out_puts(out, csv->commas);
	out_puts(out, csv->tail);
}

static void put_name(struct out *out, const char *name, const char *more)
{
	out_puts(out, ", \"");
	for (; *name; name++) {
		if (*name == '"')
			out_putc(out, '"');
		out_putc(out, *name);
	}
	out_printf(out, "%s\"", more);
}

/* Write the types of the columns of fields. */
void csv_sql(const struct csv *csv, struct out *out)
{
	static const char *const types[][2] = {
		{ "UTINYINT", "TINYINT" }, { "USMALLINT", "SMALLINT" },
		{ "UINTEGER", "INTEGER" }, { "UBIGINT", "BIGINT" },
	};
	unsigned int i;

	for (i = 0; i < csv->nr; i++) {
		const struct csv_column *column = &csv->columns[i];
		const char *type;

		if (column->is_text)
			type = "VARCHAR";
		else if (column->is_signed && column->is_unsigned)
			type = column->size == sizeof(uint64_t) ? "HUGEINT" : "BIGINT";
		else
			type = types[__builtin_ctz(column->size)][column->is_signed];
		put_name(out, column->name, "");
		out_printf(out, " %s", type);
		if (!column->has_names)
			continue;
		put_name(out, column->name, "_name");
		out_puts(out, " VARCHAR");
	}
	if (csv->origin)
		out_puts(out, ", " ORIGIN_SQL);
}
