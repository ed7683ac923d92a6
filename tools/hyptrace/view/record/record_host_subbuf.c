// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sub-buffers of tracefs: count their events, and give them the ids that they have in the file.
 * For record_host.c.
 *
 * In a trace file, an id stands for one event. The ids of the kernel and those of a remote both
 * begin with small numbers, so those of the kernel are moved up.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/hyptrace_record.h>

#include "cli/args.h"
#include "output/die.h"
#include "record_host.h"

/* All ids of remotes are lower. */
#define ID_OFFSET	16384

/* Find the payload of a record. Return the bytes of the record, 0 if it is damaged. */
static uint32_t parse_record(const uint8_t *data, uint32_t left, uint32_t *payload)
{
	uint32_t header, type, word = 0;

	*payload = 0;
	memcpy(&header, data, sizeof(header));
	type = hyptrace_record_type_len(header);
	if (left >= 2 * sizeof(header))
		memcpy(&word, data + sizeof(header), sizeof(word));
	if (type == HYPTRACE_TYPE_PADDING && !hyptrace_record_delta(header))
		return left;
	if (type == HYPTRACE_TYPE_TIME_EXTEND || type == HYPTRACE_TYPE_TIME_ABSOLUTE)
		return 2 * sizeof(header);
	if (type == HYPTRACE_TYPE_LENGTH_WORD || type == HYPTRACE_TYPE_PADDING) {
		/* more than a sub-buffer has: the sum would wrap around */
		if (word < sizeof(word) || word > left)
			return 0;
		if (type == HYPTRACE_TYPE_LENGTH_WORD && word > sizeof(word))
			*payload = 2 * sizeof(header);
		return sizeof(header) + ((word + 3) & ~3U);
	}
	*payload = sizeof(header);
	return sizeof(header) * (1 + type);
}

/* Give the events of a sub-buffer the ids that they have in the file. */
uint64_t record_host_renumber(void *subbuf, uint32_t size)
{
	struct hyptrace_subbuf *s = subbuf;
	uint32_t end = s->commit & HYPTRACE_COMMIT_MASK, at = 0, len, payload;
	uint64_t events = 0;
	uint16_t id;

	if (end > size - sizeof(*s))
		return 0;
	for (; end - at >= sizeof(uint32_t); at += len) {
		len = parse_record(s->data + at, end - at, &payload);
		/* a reader of the file says what is damaged */
		if (!len || len > end - at)
			break;
		if (!payload)
			continue;
		memcpy(&id, s->data + at + payload, sizeof(id));
		id += ID_OFFSET;
		memcpy(s->data + at + payload, &id, sizeof(id));
		events++;
	}
	return events;
}

/*
 * Write the id that an event has in the file to its format. Return the format, which the caller
 * frees; NULL if the format has no id, or a large one.
 */
char *record_host_renumber_format(const char *format)
{
	static const char begin[] = "\nID: ";
	const char *at = strstr(format, begin);
	unsigned long id;
	char *end, *text;

	if (!at || !isdigit((unsigned char)at[strlen(begin)]))
		return NULL;
	at += strlen(begin);
	id = strtoul(at, &end, 10);
	if (id > UINT16_MAX - ID_OFFSET)
		return NULL;
	if (asprintf(&text, "%.*s%lu%s", (int)(at - format), format, id + ID_OFFSET, end) < 0)
		die_no_memory();
	return text;
}
