// SPDX-License-Identifier: GPL-2.0-only
/* Which format files libtraceevent gets: good ones, those with good fields, and no others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/internal.h"

#define TYPE	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
#define FIELDS	TYPE \
	"\tfield:u32 n;\toffset:4;\tsize:4;\tsigned:0;\n" \
	"\tfield:u8 *list[16];\toffset:8;\tsize:16;\tsigned:0;\n"

static char text[1 << 20];

static void expect(enum format_check expected)
{
	enum format_check found = hyptrace_format_check(text);

	if (found != expected)
		fail_msg("%u instead of %u: %s", found, expected, text);
}

static void whole(enum format_check expected, const char *file)
{
	/* after its end are zeros, not an older text */
	memset(text, 0, sizeof(text));
	strcpy(text, file);
	expect(expected);
}

static void field(enum format_check expected, const char *line)
{
	sprintf(text, "name: tick\nID: 7\nformat:\n%s%s\nprint fmt: \"\"", TYPE, line);
	expect(expected);
}

static void print(enum format_check expected, const char *fmt)
{
	sprintf(text, "name: tick\nID: 7\nformat:\n%s\nprint fmt: %s\n", FIELDS, fmt);
	expect(expected);
}

/* An argument of a print format */
static void arg(enum format_check expected, const char *argument)
{
	char fmt[2048];

	snprintf(fmt, sizeof(fmt), "\"%%u\", %s", argument);
	print(expected, fmt);
}

static void files(void **state)
{
	(void)state;
	whole(FORMAT_GOOD, "name: tick\nID: 7\nformat:\n" FIELDS "\nprint fmt: \"n=%u\", REC->n\n");
	whole(FORMAT_GOOD, "name: tick ID: 999999999 format: print fmt: \"\"");
	whole(FORMAT_GOOD, "name: 9 ID: -1 format: print fmt: \"\"");
	whole(FORMAT_BAD, "name: tick ID: 1000000000 format: print fmt: \"\"");
	whole(FORMAT_BAD, "name: tick ID: format: print fmt: \"\"");
	whole(FORMAT_BAD, "name: ID: 7 format: print fmt: \"\"");
	whole(FORMAT_BAD, "name: ; ID: 7 format: print fmt: \"\"");
	whole(FORMAT_BAD, "ID: 7 format: print fmt: \"\"");
	whole(FORMAT_BAD, "name: tick format: print fmt: \"\"");
	whole(FORMAT_BAD, "name: tick ID: 7 print fmt: \"\"");
	whole(FORMAT_BAD, "name: tick ID: 7 format: \"\"");
	whole(FORMAT_BAD, "name: tick\nID: 7\nformat:\n" FIELDS);
	whole(FORMAT_BAD, "name: tick ID: 7 format: field:print fmt: \"\"");
	whole(FORMAT_FIELDS, "name: tick ID: 7 format: print fmt: \"a");
	whole(FORMAT_FIELDS, "name: tick ID: 7 format: print fmt: \"a\\");
	whole(FORMAT_BAD, "");
}

static void declarations(void **state)
{
	char *at = text;
	unsigned int i, nr;

	(void)state;
	field(FORMAT_GOOD, "field:u32 n; offset:4; size:4; signed:0;");
	field(FORMAT_GOOD, "field:const char *name[2]; offset:4; size:4;");
	field(FORMAT_GOOD, "field:u32 n;offset:4;size:4;signed:0;");
	field(FORMAT_GOOD, "field:__data_loc char[] name; offset:4; size:4; signed:-1;");
	/* libtraceevent would know no field of the last word, and crash where that is printed */
	field(FORMAT_BAD, "field:uchar[]8 name; offset:4; size:4; signed:0;");
	field(FORMAT_BAD, "field:char[] 8 name; offset:4; size:4; signed:0;");
	field(FORMAT_BAD, "field:char[]name; offset:4; size:4; signed:0;");
	field(FORMAT_GOOD, "field:char[16] name; offset:4; size:4; signed:0;");
	field(FORMAT_GOOD, "field:char[16] name[2]; offset:4; size:4; signed:0;");
	field(FORMAT_BAD, "field:u32 n");
	field(FORMAT_BAD, "field:u32 n;");
	field(FORMAT_BAD, "field:u32 n; offset:4;");
	field(FORMAT_BAD, "field:u32 n; 4; size:4; signed:0;");
	field(FORMAT_BAD, "field:u32 n; offset:4; size:4; signed:0");
	field(FORMAT_BAD, "field:u32 n; offset:4; size:4; signed:;");
	field(FORMAT_BAD, "field:u32 n; size:4; signed:0;");
	field(FORMAT_BAD, "field:u32 n; offset:4; signed:0;");
	field(FORMAT_BAD, "field:u32 n; offset:; size:4; signed:0;");
	field(FORMAT_BAD, "field:u32 n; offset:4 size:4; signed:0;");
	field(FORMAT_BAD, "field:u32 n; offset:4; size:4x; signed:0;");
	field(FORMAT_BAD, "field:u32; offset:4; size:4; signed:0;");
	field(FORMAT_BAD, "field:; offset:4; size:4; signed:0;");
	field(FORMAT_BAD, "field:32 n; offset:4; size:4; signed:0;");
	field(FORMAT_BAD, "field:u32 n-1; offset:4; size:4; signed:0;");
	field(FORMAT_BAD, "field:u32 n(1); offset:4; size:4; signed:0;");
	field(FORMAT_BAD, "field:field:u32 n; offset:4; size:4; signed:0;");
	field(FORMAT_BAD, "field:u32 *; offset:4; size:4; signed:0;");
	field(FORMAT_BAD, "field:u32 n[2; offset:4; size:4; signed:0;");
	field(FORMAT_BAD, "field:u32 n[; offset:4; size:4; signed:0;");
	field(FORMAT_BAD, "field:u32 [2]; offset:4; size:4; signed:0;");
	field(FORMAT_BAD, "field:u32 n[2][3]; offset:4; size:24; signed:0;");
	/* what libtraceevent reads of any event is where one has it */
	field(FORMAT_BAD, "field:u16 common_type; offset:2; size:2; signed:0;");
	field(FORMAT_BAD, "field:u16 common_type; offset:0; size:4; signed:0;");
	field(FORMAT_BAD, "field:u16 common_type; offset:0; size:22; signed:0;");
	field(FORMAT_GOOD, "field:u16 common_type; offset:0; size:2; signed:0;");
	field(FORMAT_GOOD, "field:u16 common_typ; offset:2; size:2; signed:0;");
	for (nr = 256; nr <= 257; nr++) {
		at = text + sprintf(text, "name: tick\nID: 7\nformat:\n");
		for (i = 0; i < nr; i++)
			at += sprintf(at, "field:u32 n%u; offset:4; size:4; signed:0;\n", i);
		strcpy(at, "print fmt: \"\"");
		expect(nr == 256 ? FORMAT_GOOD : FORMAT_BAD);
	}
}

static void strings(void **state)
{
	(void)state;
	print(FORMAT_GOOD, "\"\"");
	print(FORMAT_GOOD, "\"a\" \"b\"\t\"c\"");
	print(FORMAT_GOOD, "\"a \\\" b \\\\\"");
	print(FORMAT_GOOD, "\"a\" , REC->n");
	print(FORMAT_FIELDS, "a");
	print(FORMAT_FIELDS, "\"a");
	print(FORMAT_FIELDS, "\"a\\");
	print(FORMAT_FIELDS, "\"a\\\"");
	print(FORMAT_FIELDS, "\"a\tb\"");
	print(FORMAT_FIELDS, "\"a\177b\"");
	print(FORMAT_FIELDS, "'a'");
	print(FORMAT_FIELDS, "\"a\" b");
	print(FORMAT_FIELDS, "\"a\",");
	print(FORMAT_FIELDS, "\"a\", REC->n, ");
	print(FORMAT_FIELDS, "\"a\", REC->n REC->n");
}

static void words(void **state)
{
	static const char *const good[] = {
		"REC->n", "REC -> n", "REC->common_type", "REC->list", "REC->list[1]",
		"REC->list[REC->n + 1]", "1", "0x10", "HZ", "\"text\"", "'c'", "'a' 'b'",
		"(REC->n)", "((REC->n))", "-REC->n", "!~-&REC->n", "- 1",
	};
	static const char *const bad[] = {
		"", "REC", "REC->", "REC.n", "REC->m", "REC->u32", "REC->lis", "REC->ist",
		"REC->list[1", "REC->list[]", "REC->list]", "(REC->n", "REC->n)", "()", "-", "\"a",
		"'a", "HZ(", "HZ(1)", "__get_str", "REC->n[1", "@",
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(*good); i++)
		arg(FORMAT_GOOD, good[i]);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		/* a name alone is one that libtraceevent does not know */
		arg(strcmp(bad[i], "__get_str") ? FORMAT_FIELDS : FORMAT_GOOD, bad[i]);
}

static void casts(void **state)
{
	static const char *const good[] = {
		"(u32)REC->n", "(unsigned long long)REC->n", "(const struct page *)REC->n",
		"(void **)REC->n", "(u8)(u16)(REC->n)", "(struct page)REC->n", "(long) -1",
		"(page)", "(struct)",
	};
	static const char *const bad[] = {
		"(u32)", "(page *)REC->n", "(struct *)REC->n", "(struct 1)REC->n",
		"(unsigned page)REC->n", "(u32 REC->n", "(page)REC->n", "(*)REC->n",
		"(struct page *", "(const struct page *)",
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(*good); i++)
		arg(FORMAT_GOOD, good[i]);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		arg(FORMAT_FIELDS, bad[i]);
}

static void operators(void **state)
{
	static const char *const all[] = {
		"<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "<", ">", "&", "|", "^", "+", "-",
		"*",
	};
	static const char *const bad[] = {
		"REC->n +", "+ 1", "* 1", "REC->n % REC->n", "REC->n / 0", "REC->n / 0x0",
		"REC->n / n", "REC->n / (1)", "REC->n / -1", "REC->n / 2 / 2", "REC->n / 2 * 2",
		"REC->n % 2 % 2", "REC->n /", "REC->n = 1", "REC->n ? 1", "REC->n ? 1 :",
		"REC->n ? : 1", "REC->n : 1", "1 ? 2 : 3 :", "? 1 : 2",
	};
	static const char *const good[] = {
		"REC->n / 2", "REC->n % 010", "REC->n / 2 + 1", "REC->n / 2 ? 1 : 2", "(REC->n / 2)",
		"REC->n ? 1 : 2", "REC->n ? 1 ? 2 : 3 : 4", "REC->n ? 1 : 2 ? 3 : 4",
		"REC->n + 1 * 2 - 3", "(REC->n / 2) * 3", "REC->n/1, REC->n%1",
	};
	char argument[64];
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
		snprintf(argument, sizeof(argument), "REC->n %s 1", all[i]);
		arg(FORMAT_GOOD, argument);
		snprintf(argument, sizeof(argument), "REC->n %s", all[i]);
		arg(FORMAT_FIELDS, argument);
	}
	for (i = 0; i < sizeof(good) / sizeof(*good); i++)
		arg(FORMAT_GOOD, good[i]);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		arg(FORMAT_FIELDS, bad[i]);
}

static void helpers(void **state)
{
	static const char *const fields[] = {
		"__get_str", "__get_rel_str", "__get_bitmask", "__get_rel_bitmask",
		"__get_dynamic_array", "__get_dynamic_array_len", "__get_rel_dynamic_array",
		"__get_rel_dynamic_array_len",
	};
	static const char *const two[] = { "__builtin_expect", "__print_hex", "__print_hex_str" };
	static const char *const good[] = {
		"__print_symbolic(REC->n, { 1, \"a\" })",
		"__print_symbolic(REC->n, { 1, \"a\" }, { 1 << 2, \"b\" \"c\" })",
		"__print_flags(REC->n, \"|\", { 1, \"a\" }, { -1, \"b\" })",
		"__print_array(REC->list, 4, 1)",
		"__builtin_expect(!!(REC->n), 1)",
		"__print_hex(__get_dynamic_array(list), __get_dynamic_array_len(list))",
	};
	static const char *const bad[] = {
		"__print_symbolic(REC->n)", "__print_symbolic(REC->n, 1)",
		"__print_symbolic(REC->n, 1, \"a\" })",
		"__print_symbolic(REC->n, { 1 })", "__print_symbolic(REC->n, { 1, })",
		"__print_symbolic(REC->n, { 1, a })", "__print_symbolic(REC->n, { , \"a\" })",
		"__print_symbolic(REC->n, { 1 \"a\" })", "__print_symbolic(REC->n, { 1, \"a\" )",
		"__print_symbolic(REC->n, { 1, \"a\" }, )",
		"__print_symbolic(REC->n, { 1, \"a\" } { 2, \"b\" })",
		"__print_symbolic(, { 1, \"a\" })", "__print_symbolic(REC->n { 1, \"a\" })",
		"__print_flags(REC->n, { 1, \"a\" })", "__print_flags(REC->n, |, { 1, \"a\" })",
		"__print_flags(REC->n, \"|\" { 1, \"a\" })", "__print_flags(REC->n, \"|\", 1)",
		"__print_flags(REC->n, \"|\")",
		"__print_array(REC->list, 4)", "__print_array(REC->list, 4, )",
		"__print_array(REC->list, , 1)", "__print_array(REC->list 4, 1)",
		"__print_unknown(REC->n)",
	};
	char argument[128];
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		snprintf(argument, sizeof(argument), "%s(list)", fields[i]);
		arg(FORMAT_GOOD, argument);
		snprintf(argument, sizeof(argument), "%s(nothing)", fields[i]);
		arg(FORMAT_FIELDS, argument);
		snprintf(argument, sizeof(argument), "%s(list", fields[i]);
		arg(FORMAT_FIELDS, argument);
		snprintf(argument, sizeof(argument), "%s()", fields[i]);
		arg(FORMAT_FIELDS, argument);
	}
	for (i = 0; i < sizeof(two) / sizeof(*two); i++) {
		snprintf(argument, sizeof(argument), "%s(REC->list, 2)", two[i]);
		arg(FORMAT_GOOD, argument);
		snprintf(argument, sizeof(argument), "%s(REC->list)", two[i]);
		arg(FORMAT_FIELDS, argument);
		snprintf(argument, sizeof(argument), "%s(REC->list, )", two[i]);
		arg(FORMAT_FIELDS, argument);
		snprintf(argument, sizeof(argument), "%s(REC->list, 2, 1)", two[i]);
		arg(FORMAT_FIELDS, argument);
	}
	for (i = 0; i < sizeof(good) / sizeof(*good); i++)
		arg(FORMAT_GOOD, good[i]);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		arg(FORMAT_FIELDS, bad[i]);
}

/* @middle, with @nr times @before and @after around it */
static void repeat(enum format_check expected, const char *before, const char *middle,
		   const char *after, unsigned int nr)
{
	char *fmt = malloc(nr * 16 + 64);
	unsigned int i;

	strcpy(fmt, "\"\", ");
	for (i = 0; i < nr; i++)
		strcat(fmt, before);
	strcat(fmt, middle);
	for (i = 0; i < nr; i++)
		strcat(fmt, after);
	print(expected, fmt);
	free(fmt);
}

static void limits(void **state)
{
	(void)state;
	repeat(FORMAT_GOOD, "(", "1", ")", 99);
	repeat(FORMAT_FIELDS, "(", "1", ")", 100);
	repeat(FORMAT_FIELDS, "(", "", ")", 100);
	/* the expression is one, too */
	repeat(FORMAT_GOOD, "-", "1", "", 999);
	repeat(FORMAT_FIELDS, "-", "1", "", 1000);
	repeat(FORMAT_FIELDS, "-", "", "", 1000);
	repeat(FORMAT_GOOD, "-", "(1)", "", 998);
	repeat(FORMAT_FIELDS, "-", "(1)", "", 999);
	repeat(FORMAT_GOOD, "", "1", "+1", 999);
	repeat(FORMAT_FIELDS, "", "1", "+1", 1000);
	repeat(FORMAT_GOOD, "(u8)", "1", "", 999);
	repeat(FORMAT_FIELDS, "(u8)", "1", "", 1000);
	repeat(FORMAT_GOOD, "", "1", "/1+1", 499);
	repeat(FORMAT_FIELDS, "", "1", "/1+1", 500);
	/* of each argument */
	repeat(FORMAT_GOOD, "-", "1, 1", "+1", 999);
	/* of all arguments */
	repeat(FORMAT_GOOD, "", "1", ",-1", 1200);
	repeat(FORMAT_GOOD, "", "1", ",REC->n", 1024);
	repeat(FORMAT_FIELDS, "", "1", ",REC->n", 1025);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files), cmocka_unit_test(declarations), cmocka_unit_test(strings),
		cmocka_unit_test(words), cmocka_unit_test(casts), cmocka_unit_test(operators),
		cmocka_unit_test(helpers), cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
