// SPDX-License-Identifier: GPL-2.0-only
/* The rows of stat and top: what they can be, their names, cells and order; and the options. */
#include "output/die.h"
#include "stat.h"

#define KIND(kind)	HYPTRACE_KIND_##kind
#define BIT(kind)	HYPTRACE_KIND_BIT(KIND(kind))

const struct stat_rows_info stat_by[NR_STAT_BY] = {
	[STAT_BY_REASON] = { "reason", BIT(ENTER) | BIT(EXIT), true, KIND(UNKNOWN), KIND(ENTER) },
	[STAT_BY_HCALL] = { "hcall", BIT(HYPERCALL), true, KIND(HYPERCALL), KIND(HYPERCALL) },
	[STAT_BY_EXIT] = { "exit", BIT(GUEST_ENTER) | BIT(GUEST_EXIT), true, KIND(GUEST_EXIT),
			   KIND(GUEST_EXIT) },
	[STAT_BY_VCPU] = { "vcpu", BIT(GUEST_EXIT), true, KIND(GUEST_EXIT), KIND(GUEST_EXIT) },
	[STAT_BY_VM] = { "vm", BIT(GUEST_EXIT), true, KIND(GUEST_EXIT), KIND(GUEST_EXIT) },
	[STAT_BY_CPU] = { "cpu", BIT(ENTER) | BIT(EXIT), true, KIND(UNKNOWN), KIND(ENTER) },
	[STAT_BY_MEMORY] = { "memory", BIT(TRANSITION), false, KIND(TRANSITION), KIND(UNKNOWN) },
	[STAT_BY_LOCK] = { "lock", BIT(LOCK_WAIT), true, KIND(LOCK_WAIT), KIND(UNKNOWN) },
};

/* Append a text and the name of a value of an event; without a name, the value after @other. */
static void add_value(const struct hyptrace_meaning *meaning, enum hyptrace_role role,
		      uint64_t value, const char *before, const char *other, char *name)
{
	const char *text = meaning ? hyptrace_meaning_value_name(meaning, role, value) : NULL;
	const size_t len = strlen(name);

	if (text)
		snprintf(name + len, STAT_NAME_SIZE - len, "%s%s", before, text);
	else
		snprintf(name + len, STAT_NAME_SIZE - len, "%s%s %" PRIu64, before, other, value);
}

void stat_name(const struct stat *stat, struct stat_key key, char name[STAT_NAME_SIZE])
{
	const enum hyptrace_kind kind = stat_by[stat->by].kind ?: HYPTRACE_KIND_ENTER;
	const struct hyptrace_meaning *meaning = hyptrace_model_of_kind(stat->model, kind);

	*name = '\0';
	switch (stat->by) {
	case STAT_BY_REASON:
		add_value(meaning, HYPTRACE_ROLE_REASON, key.major, "", "reason", name);
		return;
	case STAT_BY_HCALL:
		if (key.major == STAT_OTHERS)
			strcpy(name, "(other)");
		else
			add_value(meaning, HYPTRACE_ROLE_ID, key.major, "", "hypercall", name);
		return;
	case STAT_BY_EXIT:
		if (key.major & HYPTRACE_KEY_TRAP)
			add_value(meaning, HYPTRACE_ROLE_CLASS, (uint32_t)key.major, "", "class",
				  name);
		else
			add_value(meaning, HYPTRACE_ROLE_CODE, key.major, "", "code", name);
		return;
	case STAT_BY_VCPU:
		snprintf(name, STAT_NAME_SIZE, "vcpu=%" PRIu64 " vm=0x%" PRIx64 ".%u", key.minor,
			 key.major >> 32, (unsigned int)key.major);
		return;
	case STAT_BY_VM:
		snprintf(name, STAT_NAME_SIZE, "vm=0x%" PRIx64, key.major);
		return;
	case STAT_BY_CPU:
		snprintf(name, STAT_NAME_SIZE, "CPU %" PRIu64, key.major);
		return;
	case STAT_BY_MEMORY:
		add_value(meaning, HYPTRACE_ROLE_OP, key.major >> 48, "", "operation", name);
		add_value(meaning, HYPTRACE_ROLE_FROM, (uint16_t)(key.major >> 32), " ", "owner",
			  name);
		add_value(meaning, HYPTRACE_ROLE_TO, (uint32_t)key.major, " -> ", "owner", name);
		return;
	case STAT_BY_LOCK:
		add_value(meaning, HYPTRACE_ROLE_LOCK, key.major, "", "lock", name);
		return;
	case NR_STAT_BY:
		return;
	}
}

#define EACH	(NEEDS_TIME | NEEDS_SAMPLES)

static void print_cell(struct printer *p, const char *key, const void *row)
{
	const struct stat_column_info *info = stat_columns;
	const struct stat_line *line = row;
	const struct stat_cell *cell;
	char text[TIME_TEXT_SIZE];

	while (strcmp(info->column.key, key))
		info++;
	cell = &line->cells[info - stat_columns];
	if (info == &stat_columns[COL_NAME]) {
		printer_styled(p, key, STYLE_NAME, line->name);
	} else if (!cell->is_known) {
		printer_none(p, key);
	} else if (printer_is_text(p)) {
		stat_cell_text(line, info - stat_columns, text);
		printer_str(p, key, text);
	} else if (info->kind == CELL_NUMBER || info->kind == CELL_TIME) {
		printer_uint(p, key, cell->n);
	} else {
		snprintf(text, sizeof(text), info->kind == CELL_PERCENT ? "%.2f" : "%.3f", cell->x);
		printer_number(p, key, text);
	}
}

#define CELL(key_, head_, flags_) \
	{ .key = (key_), .head = (head_), .flags = (flags_), .print = print_cell }

struct stat_column_info stat_columns[NR_STAT_COLUMNS] = {
	[COL_NAME]	= { CELL("name", "NAME", COLUMN_TRUNC), "name", CELL_NUMBER, 0 },
	[COL_CPU]	= { CELL("cpu", "CPU", NUMBER(0)), NULL, CELL_NUMBER, 0 },
	[COL_SAMPLES]	= { CELL("samples", "SAMPLES", NUMBER(0)), "samples", CELL_NUMBER, 0 },
	[COL_SAMPLES_PERCENT] = { CELL("samples_percent", "SAMPLES%", NUMBER(10)), NULL,
				  CELL_PERCENT, 0 },
	[COL_TIMED]	= { CELL("timed", "TIMED", NUMBER(6)), NULL, CELL_NUMBER, NEEDS_TIME },
	[COL_TIME]	= { CELL("time_percent", "TIME%", NUMBER(0)), "time", CELL_PERCENT,
			    NEEDS_TIME },
	[COL_TOTAL]	= { CELL("total", "TOTAL", NUMBER(0)), "total", CELL_TIME, NEEDS_TIME },
	[COL_MIN]	= { CELL("min", "MIN", NUMBER(7)), "min", CELL_TIME, EACH },
	[COL_MAX]	= { CELL("max", "MAX", NUMBER(1)), "max", CELL_TIME, NEEDS_TIME },
	[COL_MEAN]	= { CELL("mean", "MEAN", NUMBER(0)), "mean", CELL_TIME, NEEDS_TIME },
	[COL_DEVIATION]	= { CELL("deviation", "+-", NUMBER(9)), NULL, CELL_DEVIATION, EACH },
	[COL_P50]	= { CELL("p50", "P50", NUMBER(4)), "p50", CELL_TIME, EACH },
	[COL_P90]	= { CELL("p90", "P90", NUMBER(5)), "p90", CELL_TIME, EACH },
	[COL_P99]	= { CELL("p99", "P99", NUMBER(3)), "p99", CELL_TIME, EACH },
	[COL_P99_9]	= { CELL("p99_9", "P99.9", NUMBER(8)), "p99.9", CELL_TIME, EACH },
	[COL_GUEST]	= { CELL("guest", "GUEST", NUMBER(2)), "guest", CELL_TIME, NEEDS_EXIT },
	[COL_RUN]	= { CELL("run", "RUN", NUMBER(2)), NULL, CELL_TIME, NEEDS_EXIT },
	[COL_MEASURED]	= { CELL("measured", "MEASURED", NUMBER(11) | COLUMN_JSON), NULL,
			    CELL_NUMBER, NEEDS_PMU },
	[COL_PMU ... COL_IPC] = { CELL("", "", NUMBER(0)), NULL, CELL_RATIO, NEEDS_PMU },
	[COL_BEGIN]	= { CELL("begin", "BEGIN", COLUMN_CSV), NULL, CELL_NUMBER, 0 },
	[COL_END]	= { CELL("end", "END", COLUMN_CSV), NULL, CELL_NUMBER, 0 },
	[COL_RATE]	= { CELL("rate", "SAMPLES/S", NUMBER(0)), "rate", CELL_NUMBER, 0 },
};

const enum stat_column stat_keys[] = {
	COL_SAMPLES, COL_TIME, COL_TOTAL, COL_MIN, COL_MAX, COL_MEAN, COL_P50, COL_P90, COL_P99,
	COL_P99_9, COL_GUEST, COL_NAME, COL_PMU, COL_PMU + 1, COL_PMU + 2, COL_PMU + 3, COL_IPC,
	NR_STAT_COLUMNS
};

static void set_name(enum stat_column column, const char *key)
{
	struct stat_column_info *info = &stat_columns[column];
	char *head = xstrdup(key), *c;

	for (c = head; *c; c++)
		*c = *c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c;
	/* until the program ends */
	info->column.key = key;
	info->column.head = head;
	info->sort = key;
}

/* Where a word of --pmu is; @pmu->nr if it is not there */
static unsigned int find_word(const struct pmu *pmu, const char *word)
{
	unsigned int i;

	for (i = 0; i < pmu->nr && strcmp(pmu->words[i], word); i++)
		;
	return i;
}

/* The columns of the mean by cycle: of instructions and of cycles */
static enum stat_column per_cycle[2];

static void set_pmu(const struct pmu *pmu)
{
	unsigned int i, instructions = find_word(pmu, "instructions");
	unsigned int cycles = find_word(pmu, "cycles");

	for (i = 0; i < pmu->nr; i++)
		set_name(COL_PMU + i, pmu->words[i]);
	if (pmu->nr)
		stat_columns[COL_MEASURED].sort = stat_columns[COL_MEASURED].column.key;
	if (instructions == pmu->nr || cycles == pmu->nr)
		return;
	set_name(COL_IPC, "ipc");
	per_cycle[0] = COL_PMU + instructions;
	per_cycle[1] = COL_PMU + cycles;
}

bool stat_column_find(const enum stat_column *list, const char *key, enum stat_column *column)
{
	while (*list != NR_STAT_COLUMNS &&
	       (!stat_columns[*list].sort || strcmp(key, stat_columns[*list].sort)))
		list++;
	*column = *list;
	return *list != NR_STAT_COLUMNS;
}

/* A text and the names of the columns of a list, for free() */
static char *column_names(const enum stat_column *list, const char *before)
{
	const char *between = "";
	char *names;
	FILE *f = text_open(&names);

	fputs(before, f);
	for (; *list != NR_STAT_COLUMNS; list++, between = ", ")
		if (stat_columns[*list].sort)
			fprintf(f, "%s%s", between, stat_columns[*list].sort);
	text_close(f, &names);
	return names;
}

bool stat_column_has(enum stat_column column, enum stat_by by, bool is_counted)
{
	const unsigned int needs = stat_columns[column].needs;

	return !((needs & NEEDS_TIME && !stat_by[by].has_time) ||
		 (needs & NEEDS_SAMPLES && is_counted) ||
		 (needs & NEEDS_EXIT && by != STAT_BY_EXIT) ||
		 (needs & NEEDS_PMU && !(stat_by[by].measured && stat_columns[column].sort)));
}

void stat_cell_set(struct stat_line *line, enum stat_column column, bool is_known, uint64_t n)
{
	line->cells[column] = (struct stat_cell){ .is_known = is_known, .n = n, .x = n };
}

static void set_ratio(struct stat_line *line, enum stat_column column, double part, double whole)
{
	line->cells[column] = (struct stat_cell){ .is_known = whole,
						  .x = whole ? part / whole : 0 };
}

void stat_cell_percent(struct stat_line *line, enum stat_column column, double part, double whole)
{
	set_ratio(line, column, 100 * part, whole);
}

void stat_cell_mean(struct stat_line *line, const struct loglin *times)
{
	const double mean = times->count ? (double)times->sum / times->count : 0;

	line->cells[COL_MEAN] = (struct stat_cell){ .is_known = times->count, .n = mean + 0.5,
						    .x = mean };
}

/* What the PMU has counted per measured sample */
void stat_cells_pmu(struct stat_line *line, const struct stat_row *row)
{
	unsigned int i;

	stat_cell_set(line, COL_MEASURED, true, row->measured);
	for (i = 0; i < PMU_MAX; i++)
		set_ratio(line, COL_PMU + i, row->pmu[i], row->measured);
	if (per_cycle[0])
		set_ratio(line, COL_IPC, line->cells[per_cycle[0]].x, line->cells[per_cycle[1]].x);
}

void stat_cell_text(const struct stat_line *line, enum stat_column column,
		    char text[TIME_TEXT_SIZE])
{
	const enum stat_cell_kind kind = stat_columns[column].kind;
	const struct stat_cell *cell = &line->cells[column];

	if (!cell->is_known)
		strcpy(text, "-");
	else if (kind == CELL_NUMBER)
		snprintf(text, TIME_TEXT_SIZE, "%" PRIu64, cell->n);
	else if (kind == CELL_TIME)
		time_text(text, cell->n);
	else if (kind == CELL_DEVIATION)
		/* that of the mean, as in perf */
		snprintf(text, TIME_TEXT_SIZE, "%.2f%%", 100 * line->error);
	else
		snprintf(text, TIME_TEXT_SIZE,
			 kind == CELL_RATIO && cell->x >= 100 ? "%.0f" : "%.2f", cell->x);
}

/* Samples of events are only in the times: they are added to the buckets of EL2. */
void stat_row_print_histogram(struct printer *p, const struct stat_row *row)
{
	const struct stat_buckets *counted = row->buckets;
	const unsigned int nr = counted ? counted->nr : LOGLIN_BLOCKS;
	struct time_bucket buckets[STAT_BUCKETS];
	unsigned int i;

	for (i = 0; i < nr; i++)
		buckets[i].from = counted ? counted->from[i] : loglin_block_from(i);
	for (i = 0; i < nr; i++) {
		buckets[i].to = i + 1 < nr ? buckets[i + 1].from : 0;
		buckets[i].count = (counted ? counted->count[i] : 0) +
			loglin_range_count(&row->times, buckets[i].from, buckets[i].to);
	}
	time_print_histogram(p, buckets, nr);
}

void stat_line_set(struct stat_line *line, const struct stat_row *row, bool is_counted)
{
	static const unsigned int permille[] = { 500, 900, 990, 999 };
	const struct loglin *times = &row->times;
	const bool is_timed = times->count, has_samples = is_timed && !is_counted;
	unsigned int i;

	line->key = row->key;
	line->row = row;
	stat_cell_set(line, COL_SAMPLES, true, row->samples);
	stat_cell_set(line, COL_TIMED, true, times->count);
	stat_cell_set(line, COL_TOTAL, is_timed, times->sum);
	stat_cell_set(line, COL_MIN, has_samples, times->min);
	/* counters have it only if it belongs to this interval */
	stat_cell_set(line, COL_MAX, has_samples || times->max, times->max);
	stat_cell_mean(line, times);
	line->error = has_samples ? loglin_error(times) : 0;
	stat_cell_set(line, COL_DEVIATION, has_samples, 0);
	if (has_samples)
		line->cells[COL_DEVIATION].x = loglin_deviation(times);
	for (i = 0; i < 4; i++)
		stat_cell_set(line, COL_P50 + i, has_samples,
			      has_samples ? loglin_percentile(times, permille[i]) : 0);
	stat_cells_pmu(line, row);
	stat_cell_set(line, COL_RUN, true, row->run);
	stat_cell_set(line, COL_GUEST, true, row->guest);
	if (!row->guest)
		line->cells[COL_GUEST].x = row->run;
}

static int compare(const void *a, const void *b, void *arg)
{
	const enum stat_column column = *(enum stat_column *)arg;
	const struct stat_line *x = a, *y = b;
	const double left = x->cells[column].x, right = y->cells[column].x;
	int names;

	if (left != right)
		return left < right ? 1 : -1;
	names = strcmp(x->name, y->name);
	return names ? names : (x->cells[COL_CPU].n > y->cells[COL_CPU].n) -
			       (x->cells[COL_CPU].n < y->cells[COL_CPU].n);
}

void stat_lines_sort(void *lines, unsigned int nr, size_t size, enum stat_column column)
{
	if (nr)
		qsort_r(lines, nr, size, compare, &column);
}

enum {
	OPT_BY = 0x400,
	OPT_DELAY,
};

static const struct argp_option options[] = {
	{ "by", OPT_BY, "WHAT", 0,
	  "Print a row for each reason (default), hcall, exit, vcpu, vm, cpu, memory or lock", 0 },
	{ "interval", 'd', "TIME", 0, "Print the numbers of each such time, such as 1s", 0 },
	{ "delay", OPT_DELAY, "TIME", OPTION_HIDDEN, NULL, 0 },
	{ "key", 'k', "KEY", 0, "", 0 },
	{ 0 }
};

static error_t check(struct stat *stat)
{
	auto_free char *names = NULL;

	set_pmu(&stat->session.pmu);
	if (stat->session.count && !stat->interval)
		return cmd_usage("--count ends after so many intervals: use it with --interval");
	if (stat->session.pmu.nr && !stat_by[stat->by].measured)
		return cmd_usage("--pmu counts during visits of EL2, hypercalls and runs of guests: leave --by=%s out",
				 stat_by[stat->by].name);
	if (!stat->key || stat_column_find(stat->keys, stat->key, &stat->sort))
		return 0;
	names = column_names(stat->keys, "");
	return cmd_usage("unknown key \"%s\": use one of %s", stat->key, names);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct stat *stat = state->input;

	switch (key) {
	case OPT_BY:
		for (stat->by = 0; stat->by < NR_STAT_BY; stat->by++)
			if (!strcmp(arg, stat_by[stat->by].name))
				break;
		if (stat->by == NR_STAT_BY)
			return cmd_usage("cannot print rows by \"%s\": use one of reason, hcall, exit, vcpu, vm, cpu, memory, lock",
					 arg);
		return 0;
	case 'd':
		if (!parse_duration(arg, &stat->interval))
			return cmd_usage("bad time \"%s\": use a number and us, ms, s, m or h",
					 arg);
		return 0;
	case OPT_DELAY:
		return cmd_usage("--delay is --interval now: use \"-d %s\"", arg);
	case 'k':
		stat->key = arg;
		return 0;
	case ARGP_KEY_END:
		return check(stat);
	}
	return ARGP_ERR_UNKNOWN;
}

static char *help(int key, const char *text, void *input)
{
	const struct stat *stat = input;

	return key == 'k' ? column_names(stat->keys,
					 "Sort the rows by a counter of --pmu, ipc, or one of ") :
			    (char *)text;
}

const struct argp stat_argp = { .options = options, .parser = parse, .help_filter = help };
