/* SPDX-License-Identifier: GPL-2.0-only */
/* The values of an event as a row of text, compiled to steps: a text and the value after it. */
#ifndef ROW_H
#define ROW_H

#include "common/digits.h"
#include "common/place.h"
#include "lib/hyptrace.h"
#include "output/map.h"
#include "output/out.h"

struct hyptrace_meaning;
struct hyptrace_model;
struct origin;

/* For functions that few events need: inlined, they would slow down all others. */
#define noinline	__attribute__((noinline))
/* For functions that each event needs: a call would save and restore many registers. */
#define always_inline	__attribute__((always_inline))

/* How a string is written */
enum row_style {
	ROW_JSON,
	ROW_CSV,
};

enum row_kind {
	ROW_END,	/* no value: the last step */
	ROW_UNSIGNED,
	ROW_SIGNED,
	ROW_HEX,	/* an unsigned number as a hexadecimal string */
	ROW_BYTES,	/* a field that is not a number */
	ROW_NAME,	/* the name of a value, if it has one, as its symbols say */
	ROW_ASK_NAME,	/* the same, as hyptrace_formats_name() says */
};

/* DIGITS_SLACK bytes after the text are readable. */
struct row_text {
	size_t	len;
	char	text[];
};

struct row_step {
	struct row_text			*before;	/* the text before the value */
	size_t				room;	/* bytes that both take at most */
	uint8_t				kind;	/* enum row_kind */
	uint8_t				skip;	/* number of steps to leave out after a value */
	struct place			place;	/* of UNSIGNED, SIGNED, HEX, NAME */
	struct map			names;	/* of NAME: from values to texts */
	const struct hyptrace_field	*field;	/* of BYTES, NAME, ASK_NAME */
};

/* The steps of an event */
struct row {
	enum row_style			style;	/* how strings are written */
	const struct hyptrace_formats	*formats;	/* formats of the events */
	const struct hyptrace_event	*event;
	/* there is always room for one more, which has the text after the last value */
	unsigned int			nr;
	size_t				room;	/* bytes that the row takes at most */
	struct row_step			*steps;
};

void row_init(struct row *row, enum row_style style, const struct hyptrace_formats *formats,
	      const struct hyptrace_event *event);
void row_free(struct row *row);
void row_add_text(struct row *row, const char *text);
void row_add_string(struct row *row, const char *text);
void row_add_value(struct row *row, const struct hyptrace_field *field);
void row_add_name(struct row *row, const struct hyptrace_field *field);
void row_add_hex(struct row *row, const struct hyptrace_field *field);
bool row_has_names(const struct row *row, const struct hyptrace_field *field);
char *row_put_names(const struct row *row, const struct hyptrace_record *rec, char *to);
void row_print(const struct row *row, const struct hyptrace_record *rec, struct out *out);
void row_print_text(struct hyptrace_formats *formats, const struct hyptrace_event *event,
		    const struct hyptrace_record *rec, struct out *out);

/* The id of the event; 0 if the record is too short */
static inline uint16_t row_record_id(const struct hyptrace_record *rec)
{
	uint16_t id = 0;

	if (rec->size >= sizeof(id))
		memcpy(&id, rec->data, sizeof(id));
	return id;
}

/* Times in nanoseconds. The first digits are cached, since many times in a row share them. */

/* The last eight digits differ within this time */
#define STAMP_TICK	UINT64_C(100000000)

/* The cached digits of a time; all 0 at first */
struct stamp {
	uint64_t	tick;	/* the time that begins with them, and goes on with eight zeros */
	uint32_t	len;	/* length of text; 0 if nothing is cached */
	char		text[DIGITS_MAX + DIGITS_SLACK];
};

static inline char *stamp_put(struct stamp *stamp, char *to, uint64_t ts)
{
	if (__builtin_expect(ts - stamp->tick >= STAMP_TICK || !stamp->len, 0)) {
		if (ts < STAMP_TICK)
			return hyptrace_digits_decimal(to, ts);
		stamp->tick = ts - ts % STAMP_TICK;
		stamp->len = hyptrace_digits_decimal(stamp->text, ts / STAMP_TICK) - stamp->text;
	}
	to = hyptrace_digits_text(to, stamp->text, stamp->len);
	return hyptrace_digits_eight(to, ts - stamp->tick);
}

/*
 * csv.c: a table of all events has the columns ts, cpu, event and lost, and one for each field of
 * any event; a table of one event has ts, cpu and its fields. A field whose values have names has
 * another column FIELD_name. A column of a field is empty for the other events. A loss is a row
 * without an event; its column lost is empty if nobody knows the number. The last columns are those
 * of @origin, which must stay valid, or may be NULL.
 */
struct csv *csv_new(struct hyptrace_formats *formats, struct hyptrace_event *const *events,
		    unsigned int nr, const struct origin *origin);
struct csv *csv_new_of(struct hyptrace_formats *formats, const struct hyptrace_event *event,
		       const struct origin *origin);
void csv_free(struct csv *csv);
void csv_head(const struct csv *csv, struct out *out);
void csv_event(struct csv *csv, unsigned int cpu, const struct hyptrace_record *rec,
	       struct out *out);
void csv_lost(struct csv *csv, unsigned int cpu, uint64_t ts, uint64_t lost, struct out *out);
void csv_sql(const struct csv *csv, struct out *out);

/* json_rows.c: the lines of events and of losses as JSON */

enum json_rows_flags {
	JSON_ROWS_PRETTY	= 1 << 0,	/* indent lines */
	JSON_ROWS_HOST		= 1 << 1,	/* events of the host: each says so */
};

/* The model may be NULL for events of the host. Each line ends with @members; "" for none. */
struct json_rows *json_rows_new(struct hyptrace_formats *formats,
				const struct hyptrace_model *model, unsigned int flags,
				const char *members);
void json_rows_free(struct json_rows *rows);
void json_rows_print(struct json_rows *rows, unsigned int cpu, const struct hyptrace_record *rec,
		     struct out *out);
void json_rows_lost(struct json_rows *rows, unsigned int cpu, uint64_t ts, uint64_t lost,
		    struct out *out);
/* The arguments of a call as an object, likewise: those that are known, or else fields */
const char *json_rows_args(struct json_rows *rows, const struct hyptrace_meaning *meaning,
			   const struct hyptrace_record *rec, size_t *len);
/* An event as an object, never indented, with the member "lost"; valid until the next call */
const char *json_rows_object(struct json_rows *rows, unsigned int cpu,
			     const struct hyptrace_record *rec, size_t *len);

#endif /* ROW_H */
