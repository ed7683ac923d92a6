/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of events as CSV. For report and export.
 *
 * A table of all events has the columns ts, cpu, event and lost, and a column for each field of
 * any event, which is empty for the other events. A table of one event has ts, cpu and its fields.
 * A field whose values have names has another column FIELD_name. A loss is a row without an
 * event; its column lost is empty if nobody knows the number. With an origin, its columns are the
 * last ones.
 */
#ifndef CSV_H
#define CSV_H

#include "lib/hyptrace.h"

struct csv;
struct origin;
struct out;

struct csv *csv_new(struct hyptrace_formats *formats, struct hyptrace_event *const *events,
		    unsigned int nr);
struct csv *csv_new_of(struct hyptrace_formats *formats, const struct hyptrace_event *event);
/* The origin must stay valid. Call this before the first row. */
void csv_set_origin(struct csv *csv, const struct origin *origin);
void csv_free(struct csv *csv);
void csv_head(const struct csv *csv, struct out *out);
void csv_event(struct csv *csv, unsigned int cpu, const struct hyptrace_record *rec,
	       struct out *out);
void csv_lost(struct csv *csv, unsigned int cpu, uint64_t ts, uint64_t lost, struct out *out);
void csv_sql(const struct csv *csv, struct out *out);

#endif /* CSV_H */
