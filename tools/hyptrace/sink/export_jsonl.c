// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export as JSON Lines: the lines that report -j prints, see hyptrace-json(7).
 */
#include <stdlib.h>

#include "output/die.h"
#include "output/out.h"
#include "output/printer.h"
#include "export.h"
#include "json_rows.h"
#include "lines.h"

static int begin(struct export *x)
{
	struct lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		die_no_memory();
	lines->out = x->out;
	lines->formats = x->formats;
	lines->p = printer_new(x->out, PRINTER_JSON, false);
	lines->rows = json_rows_new(x->formats);
	x->state = lines;
	return EXIT_DONE;
}

static void put_event(struct export *x, unsigned int cpu, const struct hyptrace_record *rec)
{
	lines_event_json(x->state, cpu, rec);
}

static void put_loss(struct export *x, unsigned int cpu, uint64_t ts, uint64_t lost)
{
	lines_lost_json(x->state, cpu, ts, lost);
}

static int end(struct export *x)
{
	struct lines *lines = x->state;

	if (!lines)
		return EXIT_DONE;
	json_rows_free(lines->rows);
	printer_free(lines->p);
	free(lines);
	return EXIT_DONE;
}

static const char *const endings[] = { ".jsonl", ".ndjson", NULL };

const struct export_format export_jsonl = {
	.name = "jsonl",
	.endings = endings,
	.help = "JSON Lines, as report -j prints EL2's events",
	.targets = EXPORT_TO_FILE,
	.begin = begin,
	.event = put_event,
	.loss = put_loss,
	.end = end,
};
