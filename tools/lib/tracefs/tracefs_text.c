// SPDX-License-Identifier: GPL-2.0-only
/*
 * A line of a trace_pipe becomes a record. What cannot be understood is a lost event.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "tracefs.h"

/* Take a number. Return false if there is none, or if it is more than @limit. */
static bool take_number(const char **at, unsigned int base, uint64_t limit, uint64_t *value)
{
	char *end;

	if (!isxdigit((unsigned char)**at))
		return false;
	errno = 0;
	*value = strtoull(*at, &end, base);
	if (end == *at || errno || *value > limit)
		return false;
	*at = end;
	return true;
}

static bool take_text(const char **at, const char *text, size_t len)
{
	if (strncmp(*at, text, len))
		return false;
	*at += len;
	return true;
}

/* The name of a reason: the last one is for all that are not known */
static uint64_t take_reason(const char **at)
{
	size_t len = strcspn(*at, " \t\n");
	uint64_t i;

	for (i = 0; hyptrace_tracefs_reasons[i + 1]; i++)
		if (strlen(hyptrace_tracefs_reasons[i]) == len &&
		    !memcmp(hyptrace_tracefs_reasons[i], *at, len))
			break;
	*at += len;
	return i;
}

static bool take_value(const char **at, const struct tracefs_piece *piece, uint64_t *value)
{
	const bool is_hex = piece->conversion == 'x' || piece->conversion == 'X';
	const bool is_negative = !is_hex && **at == '-';

	if (piece->conversion == 's') {
		*value = take_reason(at);
		return true;
	}
	*at += is_negative;
	if (!take_number(at, is_hex ? 16 : 10, UINT64_MAX, value))
		return false;
	if (is_negative)
		*value = -*value;
	return true;
}

static void store(char *payload, const struct tracefs_field *field, uint64_t value)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	value <<= 8 * (sizeof(value) - field->size);
#endif
	memcpy(payload + field->offset, &value, field->size);
}

/* What follows the name of the event */
static bool parse_fields(const struct tracefs_event *event, const char *at, char *payload)
{
	const struct tracefs_piece *piece = event->pieces;
	uint64_t value;
	size_t len;

	if (!event->nr_pieces) {
		len = strlen(at);
		if (event->nr_fields && event->fields[0].size == TRACEFS_TEXT)
			memcpy(payload + event->fields[0].offset, at,
			       len < TRACEFS_TEXT ? len : TRACEFS_TEXT - 1);
		return true;
	}
	for (; piece->field; piece++) {
		if (!take_text(&at, piece->text, piece->len) || !take_value(&at, piece, &value))
			return false;
		store(payload, piece->field, value);
	}
	/* a format without fields is blank */
	return event->nr_pieces > 1 ? take_text(&at, piece->text, piece->len) && !*at :
				  !at[strspn(at, " \t")];
}

/* "[001]\t   12.345678: host_hcall id=5 invalid=0" */
static bool parse_event(const struct tracefs *t, struct tracefs_page *page, const char *at)
{
	const struct tracefs_event *event;
	uint64_t sec, usec, cpu;
	char payload[TRACEFS_PAYLOAD_MAX] __attribute__((aligned(8))) = {};
	size_t len;

	if (!take_text(&at, "[", 1) || !take_number(&at, 10, UINT32_MAX, &cpu) ||
	    !take_text(&at, "]", 1))
		return false;
	at += strspn(at, " \t");
	if (!take_number(&at, 10, UINT64_MAX / NSEC_PER_SEC / 2, &sec) || !take_text(&at, ".", 1) ||
	    strspn(at, "0123456789") != 6 || !take_number(&at, 10, UINT32_MAX, &usec) ||
	    !take_text(&at, ": ", 2))
		return false;
	len = strcspn(at, " ");
	event = hyptrace_tracefs_find(t, at, len);
	if (!event)
		return false;
	at += len;
	at += *at == ' ';
	memcpy(payload, &event->id, sizeof(event->id));
	if (!parse_fields(event, at, payload))
		return false;
	hyptrace_tracefs_set_unknown(event, payload);
	hyptrace_tracefs_put(page, sec * NSEC_PER_SEC + usec * NSEC_PER_USEC, payload, event->size);
	return true;
}

/* "CPU:1 [LOST 23 EVENTS]" */
static bool parse_loss(struct tracefs_page *page, const char *at)
{
	static const char lost[] = " [LOST ";
	uint64_t cpu, nr;

	if (!take_text(&at, "CPU:", 4) || !take_number(&at, 10, UINT32_MAX, &cpu) ||
	    !take_text(&at, lost, strlen(lost)))
		return false;
	if (!take_number(&at, 10, UINT64_MAX, &nr) || strcmp(at, " EVENTS]"))
		nr = HYPTRACE_LOST_UNKNOWN;
	hyptrace_tracefs_lose(page, nr);
	return true;
}

/* @line: @len bytes and a NUL, without the newline */
void hyptrace_tracefs_line(const struct tracefs *t, struct tracefs_page *page, const char *line,
			   size_t len)
{
	if (strlen(line) == len && (parse_loss(page, line) || parse_event(t, page, line)))
		return;
	hyptrace_tracefs_lose(page, 1);
}
