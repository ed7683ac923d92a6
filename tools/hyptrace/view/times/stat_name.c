// SPDX-License-Identifier: GPL-2.0-only
/*
 * The names of the rows of hyptrace stat, as the events have them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/internal.h"
#include "output/die.h"
#include "stat.h"

/* Write a number to a field of a payload. */
static void put_field(const struct hyptrace_field *field, uint64_t value, void *data)
{
	uint32_t value32 = value;
	uint16_t value16 = value;
	uint8_t value8 = value;
	const void *from = field->size == sizeof(value8) ? (void *)&value8 :
			   field->size == sizeof(value16) ? (void *)&value16 :
			   field->size == sizeof(value32) ? (void *)&value32 : (void *)&value;

	memcpy((char *)data + field->offset, from, field->size);
}

/*
 * Write the name of a field's value; without a name, the value after @other. The formats name the
 * values of records: make one that is 0 elsewhere, but whose code is that of a trap, since only a
 * trap has a class.
 */
static void put_value(const struct stat *stat, enum stat_event which, const char *field_name,
		      uint64_t value, const char *other, FILE *f)
{
	const struct hyptrace_event *event = stat->kinds.events[which];
	const struct hyptrace_field *field = hyptrace_event_field(event, field_name);
	const struct hyptrace_field *code = hyptrace_event_field(event, "code");
	struct hyptrace_record rec = { .size = event->size };
	uint16_t id = event->id;
	const char *name;
	char *data = calloc(1, event->size + sizeof(id));

	if (!data)
		die_no_memory();
	memcpy(data, &id, sizeof(id));
	if (code)
		put_field(code, stat->kinds.trap, data);
	put_field(field, value, data);
	rec.data = data;
	name = hyptrace_formats_name(stat->formats, event, field, &rec);
	if (name)
		fputs(name, f);
	else
		fprintf(f, "%s %" PRIu64, other, value);
	free(data);
}

static void put_exit(const struct stat *stat, struct stat_key key, FILE *f)
{
	if (key.major == stat->kinds.trap)
		put_value(stat, STAT_GUEST_EXIT, "ec", key.minor, "class", f);
	else
		put_value(stat, STAT_GUEST_EXIT, "code", key.major, "code", f);
}

static void put_memory(const struct stat *stat, struct stat_key key, FILE *f)
{
	put_value(stat, STAT_MEMORY, "op", key.major, "operation", f);
	fputc(' ', f);
	put_value(stat, STAT_MEMORY, "from", key.minor >> 32, "owner", f);
	fputs(" -> ", f);
	put_value(stat, STAT_MEMORY, "to", (uint32_t)key.minor, "owner", f);
}

static void put_key(const struct stat *stat, struct stat_key key, FILE *f)
{
	switch (stat->by) {
	case STAT_BY_REASON:
		put_value(stat, STAT_ENTER, "reason", key.major, "reason", f);
		return;
	case STAT_BY_HCALL:
		if (key.major == STAT_OTHERS)
			fputs("(other)", f);
		else
			put_value(stat, STAT_HCALL, "id", key.major, "hypercall", f);
		return;
	case STAT_BY_EXIT:
		put_exit(stat, key, f);
		return;
	case STAT_BY_VCPU:
		fprintf(f, "vcpu=%" PRIu64 " vm=0x%" PRIx64 ".%u", key.minor, key.major >> 32,
			(unsigned int)key.major);
		return;
	case STAT_BY_VM:
		fprintf(f, "vm=0x%" PRIx64, key.major);
		return;
	case STAT_BY_CPU:
		fprintf(f, "CPU %" PRIu64, key.major);
		return;
	case STAT_BY_MEMORY:
		put_memory(stat, key, f);
		return;
	case NR_STAT_BY:
		return;
	}
}

void stat_name(const struct stat *stat, struct stat_key key, char name[STAT_NAME_SIZE])
{
	FILE *f = fmemopen(name, STAT_NAME_SIZE, "w");

	if (!f)
		die_no_memory();
	put_key(stat, key, f);
	fclose(f);
	name[STAT_NAME_SIZE - 1] = '\0';
}
