// SPDX-License-Identifier: GPL-2.0-only
/* hyptrace strace: print a call as text or JSON, or with -c a table of all. */
#include "output/clock.h"
#include "output/columns.h"
#include "output/die.h"
#include "sink/row.h"
#include "strace.h"

/* What a call is indented by, for each call that it is in */
#define INDENT		2

/* What a sentence has before a time at its end */
#define BEFORE_TIME	" <"

/* What the PMU has counted during a call; NULL if it has not */
static const uint64_t *counts_of(const struct hyptrace_span *call)
{
	const char *data = call->record.data;

	if (call->record.size != HYPTRACE_SPAN_PAYLOAD || call->meaning->size > STRACE_PMU_OFFSET)
		return NULL;
	return (const uint64_t *)(data + STRACE_PMU_OFFSET);
}

static void print_number(struct printer *p, const char *key, const struct hyptrace_span *call,
			 enum hyptrace_role role)
{
	const int64_t value = hyptrace_meaning_value(call->meaning, role, &call->record);

	if (!hyptrace_meaning_has(call->meaning, role))
		printer_none(p, key);
	else if (role == HYPTRACE_ROLE_DURATION)
		printer_u64(p, key, value);
	else
		printer_int(p, key, value);
}

static void print_json(struct lines *lines, const struct hyptrace_span *call,
		       const struct pmu *pmu)
{
	const uint64_t *counts = counts_of(call);
	const struct hyptrace_meaning *meaning = call->meaning;
	struct printer *p = lines->p;
	char number[STRACE_NUMBER_SIZE];
	const char *args;
	unsigned int i;
	int64_t result;
	size_t len;

	printer_line(p, STYLE_PLAIN, "%s", "");
	printer_u64(p, "time", call->end);
	printer_uint(p, "cpu", call->cpu);
	printer_str(p, "kind", meaning->event->name);
	printer_str(p, "name", strace_name(call->name, call->key, number));
	args = json_rows_args(lines->rows, meaning, &call->record, &len);
	printer_json(p, "args", args, len);
	if (hyptrace_meaning_result(meaning, &call->record, &result))
		printer_s64(p, "result", result);
	else
		printer_none(p, "result");
	printer_str(p, "error", hyptrace_meaning_error(meaning, &call->record));
	print_number(p, "duration", call, HYPTRACE_ROLE_DURATION);
	printer_uint(p, "depth", call->depth);
	print_number(p, "vcpu", call, HYPTRACE_ROLE_VCPU);
	print_number(p, "vm", call, HYPTRACE_ROLE_VM);
	print_number(p, "index", call, HYPTRACE_ROLE_INDEX);
	for (i = 0; i < pmu->nr; i++)
		printer_uint_if(p, pmu->words[i], counts, counts ? counts[i] : 0);
	printer_end(p);
}

void strace_print(struct lines *lines, const struct hyptrace_span *call, bool times,
		  const struct pmu *pmu)
{
	const uint64_t *counts = counts_of(call);
	const struct hyptrace_event *event = call->meaning->event;
	const bool is_sentence = hyptrace_formats_has_sentence(lines->formats, event);
	const char *text, *at;
	unsigned int i;
	size_t len;

	if (lines->json) {
		print_json(lines, call, pmu);
		return;
	}
	lines_put_head(lines, call->cpu, call->end);
	out_spaces(lines->out, (size_t)INDENT * call->depth);
	text = hyptrace_formats_text(lines->formats, event, &call->record, &len);
	/* the sentences of other calls begin with their names */
	if (!is_sentence || call->kind == HYPTRACE_KIND_GUEST_EXIT ||
	    call->kind == HYPTRACE_KIND_GUEST_FIXUP) {
		out_puts(lines->out, event->name);
		out_puts(lines->out, ": ");
	}
	/* a sentence may have a time at its end, behind the last such mark */
	if (is_sentence && !times && len && text[len - 1] == '>')
		for (at = text; (at = strstr(at, BEFORE_TIME)); at++)
			len = at - text;
	if (!is_sentence)
		text_put_plain(lines->out, text);
	else
		out_write(lines->out, text, len);
	for (i = 0; counts && i < pmu->nr; i++)
		out_printf(lines->out, " %s=%" PRIu64, pmu->words[i], counts[i]);
	out_putc(lines->out, '\n');
}

static const struct column all_columns[] = {
	{ .key = "percent", .head = "% TIME", .flags = COLUMN_NUMBER | COLUMN_TEXT },
	{ .key = "seconds", .head = "SECONDS", .flags = COLUMN_NUMBER | COLUMN_TEXT },
	{ .key = "usecs_call", .head = "USECS/CALL", .flags = COLUMN_NUMBER | COLUMN_TEXT },
	{ .key = "calls", .head = "CALLS", .flags = COLUMN_NUMBER },
	{ .key = "errors", .head = "ERRORS", .flags = COLUMN_NUMBER },
	{ .key = "kind", .head = "EVENT" },
	{ .key = "name", .head = "NAME" },
	{ .key = "total", .head = "TOTAL", .flags = COLUMN_NUMBER | COLUMN_JSON },
};

/* Names are few. A damaged file may have very many numbers that have none. */
static struct strace_sum *find_sum(struct strace_summary *summary, const struct hyptrace_span *call)
{
	struct map_entry *entry;
	struct strace_sum *sum;
	unsigned int i = summary->nr;

	if (call->name) {
		for (i = 0; i < summary->nr; i++) {
			sum = &summary->sums[i];
			if (sum->kind == call->kind && sum->name && !strcmp(sum->name, call->name))
				return sum;
		}
	} else {
		entry = map_add(&summary->unnamed, call->key, call->kind);
		if (entry->value)
			return &summary->sums[entry->value - 1];
		entry->value = i + 1;
	}
	sum = xappend(summary->sums, summary->nr);
	*sum = (struct strace_sum){ .kind = call->kind, .name = call->name, .key = call->key };
	return sum;
}

/* Add a call, whose name must stay valid. */
void strace_summary_add(struct strace_summary *summary, const struct hyptrace_span *call,
			bool has_failed)
{
	const uint64_t duration = call->end - call->begin;
	struct strace_sum *sum = find_sum(summary, call);

	sum->calls++;
	sum->errors += has_failed;
	sum->total += duration;
	if (!call->depth)
		summary->outer += duration;
}

void strace_summary_free(struct strace_summary *summary)
{
	free(summary->sums);
	map_free(&summary->unnamed);
}

static int compare(const void *a, const void *b)
{
	const struct strace_sum *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->name && y->name ? strcmp(x->name, y->name) : 0;
}

void strace_summary_sort(struct strace_summary *summary)
{
	if (summary->nr)
		qsort(summary->sums, summary->nr, sizeof(*summary->sums), compare);
}

/* The printer takes what the columns of its format are. */
static void print_row(struct printer *p, const struct strace_sum *sum, uint64_t outer,
		      const char *kind, const char *name)
{
	char text[32];

	printer_row(p);
	printer_str(p, "kind", kind);
	printer_str(p, "name", name);
	snprintf(text, sizeof(text), "%.2f", outer ? 100.0 * sum->total / outer : 0.0);
	printer_number(p, "percent", text);
	snprintf(text, sizeof(text), "%.6f", (double)sum->total / NSEC_PER_SEC);
	printer_number(p, "seconds", text);
	snprintf(text, sizeof(text), "%.3f",
		 sum->calls ? (double)sum->total / sum->calls / NSEC_PER_USEC : 0.0);
	/* the total has the time of nested calls once, but each of them as a call */
	if (*kind)
		printer_number(p, "usecs_call", text);
	else
		printer_none(p, "usecs_call");
	printer_uint(p, "calls", sum->calls);
	printer_uint_if(p, "errors", sum->errors || !printer_is_text(p), sum->errors);
	printer_u64(p, "total", sum->total);
	printer_end(p);
}

void strace_summary_print(struct strace_summary *summary, struct printer *p)
{
	const struct columns columns = COLUMNS(all_columns);
	struct strace_sum all = { .total = summary->outer };
	char number[STRACE_NUMBER_SIZE];
	const struct strace_sum *sum;
	unsigned int i;

	strace_summary_sort(summary);
	printer_table(p, NULL, &columns);
	for (i = 0; i < summary->nr; i++) {
		sum = &summary->sums[i];
		print_row(p, sum, summary->outer, hyptrace_kind_event(sum->kind),
			  strace_name(sum->name, sum->key, number));
		all.calls += sum->calls;
		all.errors += sum->errors;
	}
	if (printer_is_text(p))
		print_row(p, &all, summary->outer, "", "total");
	printer_end(p);
}
