// SPDX-License-Identifier: GPL-2.0-only
/*
 * Convert sub-buffers of machines with another byte order, or with a commit word of 32 bits, to
 * those of this machine. So the decoder, the print steps, the filters and the exports see only
 * sub-buffers and payloads of this machine. For file_source.c.
 */
#include <byteswap.h>
#include <stdlib.h>
#include <string.h>

#include <linux/hyptrace_record.h>

#include "file.h"

#define WORD	sizeof(uint32_t)

int hyptrace_file_swap_init(struct hyptrace_file *f, struct hyptrace_error *err)
{
	unsigned int i;

	if (!f->swap)
		return 0;
	f->by_id = calloc(UINT16_MAX + 1, sizeof(struct hyptrace_event *));
	if (!f->by_id)
		return hyptrace_error_memory(err);
	for (i = 0; i < f->meta.info.nr_events; i++)
		if (f->meta.info.events[i]->id <= UINT16_MAX)
			f->by_id[f->meta.info.events[i]->id] = f->meta.info.events[i];
	return 0;
}

uint32_t hyptrace_file_u32(const struct hyptrace_file *f, const char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return f->swap ? bswap_32(value) : value;
}

uint64_t hyptrace_file_swap_time(const struct hyptrace_file *f, uint64_t value)
{
	return f->swap ? bswap_64(value) : value;
}

/* Only what has the size of a number is one. */
static void swap_number(char *at, uint32_t size)
{
	uint32_t i;

	for (i = 0; i < size / 2 && (size == 2 || size == 4 || size == 8); i++) {
		char byte = at[i];

		at[i] = at[size - 1 - i];
		at[size - 1 - i] = byte;
	}
}

/* Bytes of an element of an array whose length is in its type; 1 if that is not known */
static uint32_t element_size(const struct hyptrace_field *field)
{
	const char *array = strchr(field->type, '[');
	unsigned long nr = array ? strtoul(array + 1, NULL, 0) : 1;

	return nr && field->size % nr == 0 ? field->size / nr : 1;
}

static void swap_field(const struct hyptrace_field *field, char *data, uint32_t size)
{
	uint32_t element, at;

	if (field->size > size || field->offset > size - field->size)
		return;
	/* what describes a dynamic array is one number; its elements stay as they are */
	element = strstr(field->type, "_loc ") ? field->size : element_size(field);
	for (at = 0; element > 1 && at < field->size; at += element)
		swap_number(data + field->offset + at, element);
}

static void swap_payload(const struct hyptrace_file *f, char *data, uint32_t size)
{
	const struct hyptrace_event *event;
	unsigned int i;
	uint16_t id;

	if (size < sizeof(id))
		return;
	swap_number(data, sizeof(id));
	memcpy(&id, data, sizeof(id));
	event = f->by_id[id];
	for (i = 0; event && i < event->nr_fields; i++)
		swap_field(event->fields[i], data, size);
}

static void put_u32(char *to, uint32_t value)
{
	memcpy(to, &value, sizeof(value));
}

/* Convert a record. Return its bytes; 0 if it is not valid: then the decoder says so. */
static uint32_t swap_record(const struct hyptrace_file *f, char *at, uint32_t room)
{
	uint32_t head = hyptrace_file_u32(f, at), type, delta, len;

	/* the first bit-field takes the high bits on a big-endian machine */
	if (f->meta.info.big_endian) {
		type = head >> HYPTRACE_DELTA_BITS;
		delta = head & ((1U << HYPTRACE_DELTA_BITS) - 1);
	} else {
		type = head & ((1U << HYPTRACE_TYPE_LEN_BITS) - 1);
		delta = head >> HYPTRACE_TYPE_LEN_BITS;
	}
	put_u32(at, hyptrace_record_header(type, delta));
	if (type > HYPTRACE_TYPE_LENGTH_WORD && type <= HYPTRACE_TYPE_MAX_WORDS) {
		len = type * WORD;
		if (len > room - WORD)
			return 0;
		swap_payload(f, at + WORD, len);
		return WORD + len;
	}
	if ((type == HYPTRACE_TYPE_PADDING && !delta) || room < 2 * WORD)
		return 0;
	len = hyptrace_file_u32(f, at + WORD);
	put_u32(at + WORD, len);
	if (type == HYPTRACE_TYPE_TIME_EXTEND || type == HYPTRACE_TYPE_TIME_ABSOLUTE)
		return 2 * WORD;
	if (len < WORD || len > room - WORD || len % WORD)
		return 0;
	if (type == HYPTRACE_TYPE_LENGTH_WORD)
		swap_payload(f, at + 2 * WORD, len - WORD);
	return WORD + len;
}

static void swap_records(const struct hyptrace_file *f, char *data, uint32_t size)
{
	uint32_t at = 0, len;

	while (size - at >= WORD) {
		len = swap_record(f, data + at, size - at);
		if (!len)
			return;
		at += len;
	}
}

void hyptrace_file_swap(const struct hyptrace_file *f, const char *subbuf, char *to)
{
	const uint32_t head = sizeof(uint64_t) + f->long_size;
	const uint32_t room = f->meta.info.subbuf_size - head;
	uint64_t time, commit, lost;
	uint32_t used;

	memcpy(&time, subbuf, sizeof(time));
	memcpy(&commit, subbuf + sizeof(time), sizeof(commit));
	time = hyptrace_file_swap_time(f, time);
	commit = f->long_size == sizeof(uint32_t) ? hyptrace_file_u32(f, subbuf + sizeof(time)) :
						    hyptrace_file_swap_time(f, commit);
	memcpy(to, &time, sizeof(time));
	memcpy(to + sizeof(time), &commit, sizeof(commit));
	to += HYPTRACE_SUBBUF_HEADER;
	memcpy(to, subbuf + head, room);

	used = commit & HYPTRACE_COMMIT_MASK;
	/* the decoder refuses such a sub-buffer */
	if (used > room)
		return;
	if (f->swap)
		swap_records(f, to, used);
	if (!(commit & HYPTRACE_COMMIT_STORED) || room - used < f->long_size)
		return;
	if (f->long_size == sizeof(uint32_t)) {
		lost = hyptrace_file_u32(f, subbuf + head + used);
	} else {
		memcpy(&lost, subbuf + head + used, sizeof(lost));
		lost = hyptrace_file_swap_time(f, lost);
	}
	memcpy(to + used, &lost, sizeof(lost));
}
