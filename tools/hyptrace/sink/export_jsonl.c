// SPDX-License-Identifier: GPL-2.0-only
/*
 * Export as JSON Lines: the lines that report -j prints, see hyptrace-json(7).
 */
#include "output/die.h"
#include "export.h"
#include "json_rows.h"

static int begin(struct export *x)
{
	(void)x;
	return EXIT_DONE;
}

static void begin_part(struct export_part *part)
{
	part->state = json_rows_new(part->formats, part->x->model, 0);
}

static void put_events(struct export_part *part, const struct hyptrace_stream_event *events,
		       unsigned int nr)
{
	const struct hyptrace_stream_event *event;

	for (event = events; event < events + nr; event++) {
		const struct hyptrace_record *rec = &event->record;

		if (rec->lost)
			json_rows_lost(part->state, event->cpu, rec->ts, rec->lost, part->out);
		if (rec->data)
			json_rows_print(part->state, event->cpu, rec, part->out);
	}
}

static void end_part(struct export_part *part)
{
	json_rows_free(part->state);
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
