// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sentence of hyp_printk: a format with its numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sentence_case.h"

static void formats_of_printk(void **state)
{
	(void)state;
	EXPECT("no numbers", hyp_printk);
	EXPECT("-1 4294967295 0xffffffff 000000ff", hyp_printk, .fmt_id = 1,
	       .a = UINT64_MAX, .b = UINT64_MAX, .c = UINT64_MAX, .d = 255);
	EXPECT("-1|18446744073709551615|0xffffffffffffffff|-5    |", hyp_printk, .fmt_id = 2,
	       .a = UINT64_MAX, .b = UINT64_MAX, .c = UINT64_MAX, .d = -5);
	EXPECT("-1 -2 A?~", hyp_printk, .fmt_id = 3, .a = 255, .b = 65534, .c = 'A', .d = '\n');
	EXPECT(" 100% of +7,     8, 11", hyp_printk, .fmt_id = 4, .a = 7, .b = 8, .c = 9);
	/* the numbers of unknown conversions are printed after the format */
	EXPECT("7 %s %d: 0x8 0x9 0x0", hyp_printk, .fmt_id = 5, .a = 7, .b = 8, .c = 9);
	EXPECT("1 2 3 4 %d", hyp_printk, .fmt_id = 6, .a = 1, .b = 2, .c = 3, .d = 4);
	EXPECT("ends with %: 0x1 0x0 0x0 0x0", hyp_printk, .fmt_id = 7, .a = 1);
	EXPECT("%33d: 0x1 0x0 0x0 0x0", hyp_printk, .fmt_id = 8, .a = 1);
	EXPECT("5 %*d: 0x6 0x7 0x0", hyp_printk, .fmt_id = 13, .a = 5, .b = 6, .c = 7);
	EXPECT("%.33d: 0x1 0x0 0x0 0x0", hyp_printk, .fmt_id = 14, .a = 1);
	EXPECT("0000abcd|    00ff|-005  |7", hyp_printk, .fmt_id = 11, .a = 0xabcd, .b = 255,
	       .c = -5, .d = 7);
	EXPECT("  A|B  |C|D", hyp_printk, .fmt_id = 12, .a = 'A', .b = 'B', .c = 0x100 | 'C',
	       .d = 0xffffff00 | 'D');
	/* one format that is not ASCII */
	EXPECT("format 0xf: 0x15 0x0 0x0 0x0", hyp_printk, .fmt_id = 15, .a = 21);
	EXPECT("~ ?", hyp_printk, .fmt_id = 10, .a = '~', .b = ' ', .c = '~' + 1);
	EXPECT("format 0x9: 0x1 0x2 0x3 0x4", hyp_printk, .fmt_id = 9, .a = 1, .b = 2, .c = 3,
	       .d = 4);
}

/* What there is no room for is cut off. */
static void long_printk(void **state)
{
	struct hyptrace_symbol *symbol = event_of("hyp_printk")->fields[0]->symbols[0];
	const struct entry_hyp_printk payload = { .a = UINT64_MAX, .b = 1, .c = 2, .d = 3 };
	const char *text;
	char format[5000];
	struct hyptrace_record rec;
	size_t len, i;

	(void)state;
	memset(format, 'x', sizeof(format));
	format[sizeof(format) - 1] = '\0';
	symbol->name = format;
	begin_formats();
	rec = record_of("hyp_printk", &payload, sizeof(payload));
	hyptrace_formats_text(formats, event_of("hyp_printk"), &rec, &len);
	assert_in_range(len, 880, 1023);
	/* a number at each place up to the end */
	for (i = 0; i < 1100; i++) {
		memcpy(format + i, "%32llo", 6);
		text = hyptrace_formats_text(formats, event_of("hyp_printk"), &rec, &len);
		assert_in_range(len, 880, 1023);
		/* no number is cut off */
		assert_true(strstr(text, " 1777777777777777777777") ||
			    strstr(text, ": 0xffffffffffffffff"));
		assert_string_equal(text + len - strlen(" 0x1 0x2 0x3"), " 0x1 0x2 0x3");
		memset(format + i, 'x', 6);
	}
	free((void *)rec.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(formats_of_printk, describe_and_begin,
						free_formats),
		cmocka_unit_test_setup_teardown(long_printk, describe, free_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
