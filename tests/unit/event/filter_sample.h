/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An event with fields of all widths and signs, for the tests of filters.
 */
#ifndef FILTER_SAMPLE_H
#define FILTER_SAMPLE_H

#include "lib/internal.h"

struct sample {
	uint16_t	event;
	uint8_t		op;
	int8_t		step;
	uint16_t	index;
	int16_t		delta;
	uint32_t	handle;
	int32_t		ret;
	uint64_t	pfn;
	int64_t		res;
	uint64_t	duration;
	char		name[4];
	uint32_t	beyond;
};

#define SAMPLE_ID	7
/* without the last field */
#define SAMPLE_SIZE	offsetof(struct sample, beyond)

#define FIELD(_type, _name, _signed, _symbols, _nr) \
	{ #_name, _type, offsetof(struct sample, _name), sizeof(((struct sample *)0)->_name), \
	  _signed, _symbols, _nr }

static struct hyptrace_symbol sample_symbols[] = {
	{ 0, "share" }, { 1, "unshare" }, { 2, "donate" }, { 3, "_4k" },
};

static struct hyptrace_symbol *sample_ops[] = {
	&sample_symbols[0], &sample_symbols[1], &sample_symbols[2], &sample_symbols[3],
};

static struct hyptrace_field sample_fields[] = {
	FIELD("u8", op, false, sample_ops, 4),
	FIELD("s8", step, true, NULL, 0),
	FIELD("u16", index, false, NULL, 0),
	FIELD("s16", delta, true, NULL, 0),
	FIELD("u32", handle, false, NULL, 0),
	FIELD("s32", ret, true, NULL, 0),
	FIELD("u64", pfn, false, NULL, 0),
	FIELD("s64", res, true, NULL, 0),
	FIELD("u64", duration, false, NULL, 0),
	FIELD("char[4]", name, false, NULL, 0),
	FIELD("u32", beyond, false, NULL, 0),
};

static struct hyptrace_field *sample_list[] = {
	&sample_fields[0], &sample_fields[1], &sample_fields[2], &sample_fields[3],
	&sample_fields[4], &sample_fields[5], &sample_fields[6], &sample_fields[7],
	&sample_fields[8], &sample_fields[9], &sample_fields[10],
};

/* The fields that a filter can compare */
#define SAMPLE_NUMBERS	9

static struct hyptrace_event sample_event = {
	.remote = "test", .name = "sample", .id = SAMPLE_ID, .size = SAMPLE_SIZE,
	.fields = sample_list, .nr_fields = sizeof(sample_list) / sizeof(sample_list[0]),
};

#endif /* FILTER_SAMPLE_H */
