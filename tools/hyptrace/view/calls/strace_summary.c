// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace strace -c: the calls by name.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/columns.h"
#include "output/die.h"
#include "output/printer.h"
#include "strace_summary.h"

#define NSEC_PER_USEC	1000
#define NSEC_PER_SEC	UINT64_C(1000000000)

static const struct column columns_of_summary[] = {
	{ "percent",	"% TIME",	COLUMN_NUMBER, NULL, NULL },
	{ "seconds",	"SECONDS",	COLUMN_NUMBER, NULL, NULL },
	{ "usecs_call",	"USECS/CALL",	COLUMN_NUMBER, NULL, NULL },
	{ "calls",	"CALLS",	COLUMN_NUMBER, NULL, NULL },
	{ "errors",	"ERRORS",	COLUMN_NUMBER, NULL, NULL },
	{ "kind",	"EVENT",	0, NULL, NULL },
	{ "name",	"NAME",		0, NULL, NULL },
	{ "total",	"TOTAL",	COLUMN_NUMBER | COLUMN_JSON, NULL, NULL },
};

static bool is_of(const struct strace_sum *sum, const struct hyptrace_span *call)
{
	if (sum->kind != call->kind || !sum->name != !call->name)
		return false;
	return call->name ? !strcmp(sum->name, call->name) : sum->key == call->key;
}

/* Add a call, whose name must stay valid, to a summary that is all 0 at first. */
void strace_summary_add(struct strace_summary *summary, const struct hyptrace_span *call,
			bool has_failed)
{
	const uint64_t duration = call->end - call->begin;
	struct strace_sum *sum;
	unsigned int i;

	for (i = 0; i < summary->nr && !is_of(&summary->sums[i], call); i++)
		;
	if (i == summary->nr) {
		summary->sums = reallocarray(summary->sums, i + 1, sizeof(*summary->sums));
		if (!summary->sums)
			die_no_memory();
		summary->sums[i] = (struct strace_sum){
			.kind = call->kind,
			.name = call->name,
			.key = call->key,
		};
		summary->nr++;
	}
	sum = &summary->sums[i];
	sum->calls++;
	sum->errors += has_failed;
	sum->total += duration;
	if (!call->depth)
		summary->outer += duration;
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

/* Put the name with the longest time first. */
void strace_summary_sort(struct strace_summary *summary)
{
	if (summary->nr)
		qsort(summary->sums, summary->nr, sizeof(*summary->sums), compare);
}

static void print_text(struct printer *p, const struct strace_summary *summary,
		       const struct strace_sum *sum, const char *kind, const char *name)
{
	char text[32];

	snprintf(text, sizeof(text), "%.2f",
		 summary->outer ? 100.0 * sum->total / summary->outer : 0.0);
	printer_str(p, "percent", text);
	snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu64, sum->total / NSEC_PER_SEC,
		 sum->total % NSEC_PER_SEC / NSEC_PER_USEC);
	printer_str(p, "seconds", text);
	snprintf(text, sizeof(text), "%.3f",
		 sum->calls ? (double)sum->total / sum->calls / NSEC_PER_USEC : 0.0);
	printer_str(p, "usecs_call", text);
	printer_uint(p, "calls", sum->calls);
	if (sum->errors)
		printer_uint(p, "errors", sum->errors);
	else
		printer_none(p, "errors");
	printer_str(p, "kind", kind);
	printer_str(p, "name", name);
}

static void print_json(struct printer *p, const struct strace_sum *sum, const char *kind,
		       const char *name)
{
	printer_str(p, "kind", kind);
	printer_str(p, "name", name);
	printer_uint(p, "calls", sum->calls);
	printer_uint(p, "errors", sum->errors);
	printer_u64(p, "total", sum->total);
}

void strace_summary_print(struct strace_summary *summary, struct printer *p)
{
	const struct columns columns = {
		.all = columns_of_summary,
		.nr = sizeof(columns_of_summary) / sizeof(columns_of_summary[0]),
	};
	struct strace_sum total = { .total = summary->outer };
	char number[STRACE_NUMBER_SIZE];
	const struct strace_sum *sum;

	strace_summary_sort(summary);
	printer_table(p, NULL, &columns);
	for (sum = summary->sums; sum < summary->sums + summary->nr; sum++) {
		const char *name = strace_name(sum->name, sum->key, number);

		printer_row(p);
		if (printer_is_json(p))
			print_json(p, sum, hyptrace_kind_event(sum->kind), name);
		else
			print_text(p, summary, sum, hyptrace_kind_event(sum->kind), name);
		printer_end(p);
		total.calls += sum->calls;
		total.errors += sum->errors;
	}
	if (!printer_is_json(p)) {
		printer_row(p);
		print_text(p, summary, &total, "", "total");
		printer_end(p);
	}
	printer_end(p);
}

void strace_summary_free(struct strace_summary *summary)
{
	free(summary->sums);
}
