// SPDX-License-Identifier: GPL-2.0-only
/* The values and the bytes of fields, at each place of a record and behind its end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/internal.h"

static unsigned char *data;
static struct hyptrace_record rec;
static uint32_t size;

/* A record of so many bytes, each its own number, and no byte behind it */
static void record(uint32_t len)
{
	uint32_t i;

	free(data);
	data = malloc(len ? len : 1);
	for (i = 0; i < len; i++)
		data[i] = 0x81 + i;
	rec = (struct hyptrace_record){ .data = data, .size = len };
}

static int teardown(void **state)
{
	(void)state;
	free(data);
	data = NULL;
	return 0;
}

static const unsigned char *bytes(const char *type, uint32_t offset, uint32_t len)
{
	const struct hyptrace_field field = { .type = (char *)type, .offset = offset, .size = len };

	size = 12345;
	return hyptrace_field_bytes(&field, &rec, &size);
}

static void is_at(const unsigned char *found, uint32_t offset, uint32_t len)
{
	assert_non_null(found);
	assert_ptr_equal(found, data + offset);
	assert_int_equal(size, len);
}

static void arrays(void **state)
{
	(void)state;
	record(16);
	is_at(bytes("u8[16]", 0, 16), 0, 16);
	is_at(bytes("u8[4]", 12, 4), 12, 4);
	/* to the end of the record, or its first elements */
	is_at(bytes("u8[]", 4, 0), 4, 12);
	is_at(bytes("u8[8]", 12, 8), 12, 4);
	is_at(bytes("u8[]", 16, 0), 16, 0);
	is_at(bytes("u8[4]", 16, 4), 16, 0);
	assert_null(bytes("u8[4]", 17, 4));
	assert_null(bytes("u8[]", 17, 0));
	/* no array */
	is_at(bytes("u32", 12, 4), 12, 4);
	assert_null(bytes("u32", 13, 4));
	is_at(bytes("u32", 16, 0), 16, 0);
	record(0);
	is_at(bytes("u8[]", 0, 0), 0, 0);
}

/* A field of the kernel that says where its bytes are */
static const unsigned char *referred(const char *type, uint32_t offset, uint32_t field_size,
				     uint16_t to, uint16_t len)
{
	const uint32_t where = to | (uint32_t)len << 16;

	if (offset + sizeof(where) <= rec.size)
		memcpy(data + offset, &where, sizeof(where));
	return bytes(type, offset, field_size);
}

static void references(void **state)
{
	const char *any = "__data_loc char[]", *rel = "__rel_loc char[]";

	(void)state;
	record(16);
	is_at(referred(any, 4, 4, 8, 8), 8, 8);
	is_at(referred(any, 0, 4, 15, 1), 15, 1);
	is_at(referred(any, 12, 4, 16, 0), 16, 0);
	is_at(referred(any, 12, 4, 0, 16), 0, 16);
	assert_null(referred(any, 4, 4, 8, 9));
	assert_null(referred(any, 4, 4, 17, 0));
	assert_null(referred(any, 4, 4, 0, 17));
	assert_null(referred(any, 4, 4, UINT16_MAX, UINT16_MAX));
	/* relative to the end of the field */
	is_at(referred(rel, 4, 4, 0, 8), 8, 8);
	is_at(referred(rel, 4, 4, 7, 1), 15, 1);
	is_at(referred(rel, 12, 4, 0, 0), 16, 0);
	assert_null(referred(rel, 4, 4, 0, 9));
	assert_null(referred(rel, 4, 4, 9, 0));
	/* the field itself */
	assert_null(referred(any, 13, 4, 0, 0));
	assert_null(referred(any, 4, 8, 8, 8));
	assert_null(referred(any, 4, 2, 8, 8));
	record(4);
	is_at(referred(any, 0, 4, 4, 0), 4, 0);
	record(3);
	assert_null(bytes(any, 0, 4));
	assert_null(bytes(rel, 0, 4));
}

static void numbers(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 4, 8 };
	struct hyptrace_field field = { .type = (char *)"u8" };
	unsigned int i;

	(void)state;
	for (field.size = 0; field.size <= 17; field.size++) {
		bool is_one = false;

		for (i = 0; i < 4; i++)
			is_one |= field.size == sizes[i];
		field.offset = 0;
		assert_int_equal(hyptrace_field_is_number(&field, 16), is_one);
		if (!is_one)
			continue;
		field.offset = 16 - field.size;
		assert_true(hyptrace_field_is_number(&field, 16));
		field.offset++;
		assert_false(hyptrace_field_is_number(&field, 16));
		assert_false(hyptrace_field_is_number(&field, field.size - 1));
	}
	field = (struct hyptrace_field){ .type = (char *)"u8[4]", .size = 4 };
	assert_false(hyptrace_field_is_number(&field, 16));
}

static void values(void **state)
{
	struct hyptrace_field field = { .type = (char *)"u8" };
	uint64_t value, expected;
	int64_t with_sign;
	unsigned int i;

	(void)state;
	record(16);
	for (field.size = 1; field.size <= 8; field.size *= 2) {
		for (field.offset = 0; field.offset <= 16 - field.size; field.offset++) {
			for (expected = 0, i = 0; i < field.size; i++)
				expected |= (uint64_t)data[field.offset + i] << 8 * i;
			field.is_signed = false;
			assert_int_equal(hyptrace_field_value(&field, &rec, &value), 0);
			assert_true(value == expected);
			field.is_signed = true;
			assert_int_equal(hyptrace_field_value(&field, &rec, &value), 0);
			with_sign = expected << (64 - 8 * field.size);
			assert_true((int64_t)value == with_sign >> (64 - 8 * field.size));
		}
		assert_true(hyptrace_field_value(&field, &rec, &value) < 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(arrays, teardown),
		cmocka_unit_test_teardown(references, teardown),
		cmocka_unit_test_teardown(numbers, teardown),
		cmocka_unit_test_teardown(values, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
