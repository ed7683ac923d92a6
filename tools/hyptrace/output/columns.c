// SPDX-License-Identifier: GPL-2.0-only
/* The columns that --columns selects; and tables of text or CSV, and labels with values. */
#include <strings.h>
#include <sys/ioctl.h>

#include "columns.h"
#include "die.h"
#include "out.h"

#define GAP		2		/* blanks between two columns */
#define NO_COLOR	"\033[0m"
#define DEFAULT_WIDTH	80

static bool is_chosen(const struct columns *columns, unsigned int index)
{
	unsigned int i;

	for (i = 0; i < columns->nr_chosen; i++)
		if (columns->chosen[i] == index)
			return true;
	return false;
}

bool columns_parse(struct columns *columns, const char *list, const char **bad, size_t *len)
{
	unsigned int i;

	columns->nr_chosen = 0;
	for (*bad = list;; *bad += *len + 1) {
		*len = strcspn(*bad, ",");
		for (i = 0; i < columns->nr; i++)
			if (strlen(columns->all[i].head) == *len &&
			    !strncasecmp(columns->all[i].head, *bad, *len))
				break;
		if (i == columns->nr)
			return false;
		if (!is_chosen(columns, i))
			columns->chosen[columns->nr_chosen++] = i;
		if (!(*bad)[*len])
			return true;
	}
}

void columns_tell_apart(struct columns *columns, unsigned int nr)
{
	if (nr < 2 || !columns->nr_chosen || is_chosen(columns, 0))
		return;
	memmove(&columns->chosen[1], columns->chosen, columns->nr_chosen * sizeof(unsigned int));
	columns->chosen[0] = 0;
	columns->nr_chosen++;
}

/* Is a value printed in JSON? */
bool columns_has(const struct columns *columns, const char *key)
{
	unsigned int i;

	for (i = 0; i < columns->nr; i++)
		if (!strcmp(columns->all[i].key, key))
			return columns->nr_chosen ? is_chosen(columns, i) :
			       !(columns->all[i].flags & (COLUMN_EXTRA | COLUMN_CSV | COLUMN_TEXT));
	return false;
}

char *columns_names(const struct columns *columns, const char *before)
{
	unsigned int i;
	char *names;
	FILE *f = text_open(&names);

	fputs(before, f);
	for (i = 0; i < columns->nr; i++)
		fprintf(f, "%s%s", i ? ", " : "", columns->all[i].head);
	text_close(f, &names);
	return names;
}

const struct column *columns_find(const struct columns *columns, const char *name)
{
	const struct column *column, *end = columns->all + columns->nr;

	for (column = columns->all; column < end; column++)
		if (!strcmp(column->key, name) || !strcasecmp(column->head, name))
			return column;
	return NULL;
}

struct cell {
	char		*text;
	const char	*color;
};

struct table {
	struct columns	columns;	/* without them it has labels and values */
	struct cell	*cells;		/* row after row; the first row has the heads */
	unsigned int	width;		/* number of columns */
	unsigned int	nr_rows;
	unsigned int	nr_slots;	/* rows that have memory */
	bool		csv;
	size_t		widths[COLUMNS_MAX];	/* in table_print(): of each column, 0 if hidden */
};

static struct cell *row_of(const struct table *table, unsigned int row)
{
	return table->cells + (size_t)row * table->width;
}

static unsigned int flags_of(const struct table *table, unsigned int index)
{
	const struct columns *columns = &table->columns;

	return columns->nr ? columns->all[columns->chosen[index]].flags : 0;
}

static void set_cell(struct table *table, unsigned int index, char *text, const char *color)
{
	struct cell *cell = row_of(table, table->nr_rows - 1) + index;

	free(cell->text);
	*cell = (struct cell){ .text = text, .color = color };
}

struct table *table_new(const struct columns *columns, bool csv)
{
	/* what is printed only if it is selected */
	const unsigned int hidden = COLUMN_EXTRA | (csv ? COLUMN_TEXT : COLUMN_JSON | COLUMN_CSV);
	struct table *table = xcalloc(1, sizeof(*table));
	unsigned int i;

	table->width = 2;
	if (!columns)
		return table;
	table->columns = *columns;
	table->csv = csv;
	for (i = 0; !columns->nr_chosen && i < columns->nr; i++)
		if (!(columns->all[i].flags & hidden))
			table->columns.chosen[table->columns.nr_chosen++] = i;
	table->width = table->columns.nr_chosen;
	table_row(table);
	for (i = 0; i < table->width; i++) {
		const struct column *column = &columns->all[table->columns.chosen[i]];

		set_cell(table, i, text_copy_plain(csv ? column->key : column->head), NULL);
	}
	return table;
}

void table_row(struct table *table)
{
	size_t size = sizeof(*table->cells) * table->width;

	if (table->nr_rows == table->nr_slots) {
		table->nr_slots = 2 * table->nr_slots + 8;
		table->cells = xreallocarray(table->cells, table->nr_slots, size);
	}
	memset(row_of(table, table->nr_rows++), 0, size);
}

void table_cell(struct table *table, const char *key, const char *value, const char *color)
{
	const struct columns *columns = &table->columns;
	unsigned int i;

	for (i = 0; i < columns->nr_chosen; i++)
		if (!strcmp(columns->all[columns->chosen[i]].key, key))
			set_cell(table, i, (table->csv ? text_copy_csv : text_copy_plain)(value),
				 color);
}

void table_label(struct table *table, const char *label, const char *value, const char *color)
{
	table_row(table);
	set_cell(table, 0, text_copy_plain(label), NULL);
	set_cell(table, 1, text_copy_plain(value), color);
}

static const char *text_of(const struct table *table, unsigned int row, unsigned int index)
{
	const struct cell *cell = row_of(table, row) + index;

	return cell->text ? cell->text : table->csv ? "" : "-";
}

static size_t terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	int width = 0;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		width = size.ws_col;
	if (!width && columns)
		width = atoi(columns);
	return width > 0 ? width : DEFAULT_WIDTH;
}

/* Hide columns that have a rank, then cut texts, until the lines fit the terminal. */
static void fit(struct table *table, size_t indent)
{
	size_t *const widths = table->widths, max = terminal_width(), width = indent, least;
	unsigned int i, rank;

	for (i = 0; i < table->width; i++)
		width += widths[i] + (i ? GAP : 0);
	for (rank = COLUMNS_MAX; rank; rank--) {
		for (i = 0; i < table->width; i++) {
			if ((flags_of(table, i) & COLUMN_RANK_MASK) != COLUMN_RANK(rank) ||
			    width <= max)
				continue;
			width -= widths[i] + GAP;
			widths[i] = 0;
		}
	}
	for (i = 0; i < table->width && width > max; i++) {
		if (!(flags_of(table, i) & COLUMN_TRUNC) || !widths[i])
			continue;
		least = strlen(text_of(table, 0, i));
		if (widths[i] <= least)
			continue;
		least = width - max < widths[i] - least ? widths[i] - (width - max) : least;
		width -= widths[i] - least;
		widths[i] = least;
	}
}

static void measure(struct table *table, size_t indent)
{
	unsigned int row, i;

	for (i = 0; i < table->width; i++) {
		for (row = 0; row < table->nr_rows; row++) {
			size_t len = strlen(text_of(table, row, i));

			table->widths[i] = len > table->widths[i] ? len : table->widths[i];
		}
	}
	/* a value of a label that is too long continues on the next line of the terminal */
	if (table->columns.nr && isatty(STDOUT_FILENO))
		fit(table, indent);
}

static void put_row(const struct table *table, struct out *out, unsigned int row,
		    unsigned int indent, bool color)
{
	size_t blanks = 0, len;
	unsigned int i;

	out_spaces(out, indent);
	for (i = 0; i < table->width; i++) {
		const char *text = text_of(table, row, i), *code = row_of(table, row)[i].color;
		const bool is_number = flags_of(table, i) & COLUMN_NUMBER;

		/* hidden, or without any text */
		if (!table->widths[i])
			continue;
		len = strnlen(text, table->widths[i]);
		blanks += is_number ? table->widths[i] - len : 0;
		if (len) {
			out_spaces(out, blanks);
			blanks = 0;
			out_puts(out, color && code ? code : "");
			out_write(out, text, len);
			out_puts(out, color && code ? NO_COLOR : "");
		}
		blanks += GAP + (is_number ? 0 : table->widths[i] - len);
	}
	out_putc(out, '\n');
}

static void put_csv(const struct table *table, struct out *out, unsigned int row)
{
	unsigned int i;

	for (i = 0; i < table->width; i++) {
		if (i)
			out_putc(out, ',');
		out_puts(out, text_of(table, row, i));
	}
	out_putc(out, '\n');
}

void table_print(struct table *table, struct out *out, unsigned int first, unsigned int indent,
		 bool color)
{
	unsigned int row, cell;

	if (!table)
		return;
	if (!table->csv)
		measure(table, indent);
	/* heads alone are not a table */
	if (!table->csv && table->columns.nr && table->nr_rows == 1)
		first = 1;
	for (row = first; row < table->nr_rows; row++) {
		if (table->csv)
			put_csv(table, out, row);
		else
			put_row(table, out, row, indent, color);
	}
	for (cell = 0; cell < table->nr_rows * table->width; cell++)
		free(table->cells[cell].text);
	free(table->cells);
	free(table);
}
