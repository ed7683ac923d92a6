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
	(void)x;
	return EXIT_DONE;
}

static void begin_part(struct export_part *part)
{
	struct lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		die_no_memory();
	lines->out = part->out;
	lines->formats = part->formats;
	lines->p = printer_new(part->out, PRINTER_JSON, false);
	lines->model = (struct hyptrace_model *)part->x->model;
	lines->rows = json_rows_new(part->formats, part->x->model);
	part->state = lines;
}

static void put_events(struct export_part *part, const struct hyptrace_stream_event *events,
		       unsigned int nr)
{
	const struct hyptrace_stream_event *event;

	for (event = events; event < events + nr; event++) {
		const struct hyptrace_record *rec = &event->record;

		if (rec->lost)
			lines_lost_json(part->state, event->cpu, rec->ts, rec->lost);
		if (rec->data)
			lines_event_json(part->state, event->cpu, rec);
	}
}

static void end_part(struct export_part *part)
{
	struct lines *lines = part->state;

	json_rows_free(lines->rows);
	printer_free(lines->p);
	free(lines);
}

static const char *const endings[] = { ".jsonl", ".ndjson", NULL };

const struct export_format export_jsonl = {
	.name = "jsonl",
	.endings = endings,
	.help = "JSON Lines, as report -j prints EL2's events",
	.targets = EXPORT_TO_FILE,
	.begin = begin,
	.begin_part = begin_part,
	.events = put_events,
	.end_part = end_part,
	.end = begin,
};
