/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The values of an event as a row of text, compiled to steps: each is a text and the value
 * after it.
 *
 *	row_add_text(row, "\"reason\":");
 *	row_add_value(row, event, reason);
 *	row_add_text(row, ",\"name\":");
 *	row_add_name(row, event, reason);
 *	row_add_text(row, "}");			"reason":1,"name":"hvc"}
 */
#ifndef ROW_H
#define ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/digits.h"
#include "common/place.h"
#include "lib/hyptrace.h"
#include "output/map.h"
#include "output/text.h"

struct out;

/* For functions that few events need: inlined, they would slow down all others. */
#define noinline	__attribute__((noinline))
/* For functions that each event needs: a call would save and restore many registers. */
#define always_inline	__attribute__((always_inline))

/* How a string is written: JSON or CSV */
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

/* A text; DIGITS_SLACK bytes after it are readable */
struct row_text {
	size_t	len;
	char	text[];
};

/* A text, and the value that follows it */
struct row_step {
	struct row_text			*before;
	size_t				room;	/* bytes that both take at most */
	uint8_t				kind;	/* enum row_kind */
	uint8_t				skip;	/* number of steps to leave out after a value */
	/* UNSIGNED, SIGNED, HEX, NAME: place of the field */
	struct place			place;
	struct map			names;	/* NAME: from values to texts */
	const struct hyptrace_field	*field;	/* BYTES, NAME, ASK_NAME: the field */
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
void row_skip_after(struct row *row, unsigned int nr);
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

#endif /* ROW_H */
