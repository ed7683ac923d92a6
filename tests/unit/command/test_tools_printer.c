// SPDX-License-Identifier: GPL-2.0-only
/*
 * The printer: the same calls print JSON or text. Also tests output that fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../tools/hyptrace/output/columns.h"
#include "../../tools/hyptrace/output/out.h"
#include "../../tools/hyptrace/output/printer.h"

static struct out out;
static char result[8192];

static struct printer *begin(enum printer_format format, bool color)
{
	out_init(&out, memfd_create("out", 0));
	assert_true(out.fd >= 0);
	return printer_new(&out, format, color);
}

static const char *end(struct printer *p)
{
	ssize_t len;

	printer_free(p);
	out_flush(&out);
	assert_int_equal(out.error, 0);
	len = pread(out.fd, result, sizeof(result) - 1, 0);
	assert_true(len >= 0);
	result[len] = '\0';
	close(out.fd);
	out_free(&out);
	return result;
}

static const char *json_of(const char *s)
{
	struct printer *p = begin(PRINTER_JSON, false);

	printer_array(p, NULL);
	printer_str(p, NULL, s);
	printer_end(p);
	end(p);
	/* without the [ and ]\n */
	result[strlen(result) - 2] = '\0';
	return result + 1;
}

static void json_escaping(void **state)
{
	(void)state;
	assert_string_equal(json_of(""), "\"\"");
	assert_string_equal(json_of("a\"b\\c/"), "\"a\\\"b\\\\c/\"");
	assert_string_equal(json_of("\b\t\n\f\r"), "\"\\b\\t\\n\\f\\r\"");
	assert_string_equal(json_of("\x01\x0b\x1f\x7f"), "\"\\u0001\\u000b\\u001f\\u007f\"");
	assert_string_equal(json_of("\xc3\xa4z\xff"), "\"\\u00c3\\u00a4z\\u00ff\"");
}

static void json_numbers(void **state)
{
	static const char expected[] =
		"{\"a\":9007199254740992,\"b\":\"9007199254740993\",\"c\":-9007199254740992,"
		"\"d\":\"-9007199254740993\",\"e\":\"7\",\"f\":\"18446744073709551615\","
		"\"g\":\"-9223372036854775808\",\"h\":65536,\"i\":\"-9223372036854775808\"}\n";
	struct printer *p = begin(PRINTER_JSON, false);

	(void)state;
	printer_object(p, NULL);
	printer_uint(p, "a", UINT64_C(1) << 53);
	printer_uint(p, "b", (UINT64_C(1) << 53) + 1);
	printer_int(p, "c", -(INT64_C(1) << 53));
	printer_int(p, "d", -(INT64_C(1) << 53) - 1);
	printer_u64(p, "e", 7);
	printer_u64(p, "f", UINT64_MAX);
	printer_s64(p, "g", INT64_MIN);
	printer_size(p, "h", 65536);
	printer_int(p, "i", INT64_MIN);
	printer_end(p);
	assert_string_equal(end(p), expected);
}

static const struct column all_columns[] = {
	{ "cpu",	"CPU",		COLUMN_NUMBER, NULL },
	{ "remote",	"REMOTE",	COLUMN_EXTRA, NULL },
	{ "state",	"STATE",	0, NULL },
	{ "symbols",	"SYMBOLS",	0, NULL },
	{ "dropped",	"DROPPED",	COLUMN_NUMBER | COLUMN_JSON, NULL },
	{ "read",	"READ",		COLUMN_NUMBER, NULL },
	{ "long",	"LONG",		COLUMN_TRUNC, NULL },
};

static struct columns columns = {
	.all = all_columns,
	.nr = sizeof(all_columns) / sizeof(all_columns[0]),
};

static const struct printer_label labels[] = {
	{ "size_allocated", "allocated" },
	{ 0 }
};

static void rows(struct printer *p, bool symbols)
{
	printer_row(p);
	printer_uint(p, "cpu", 0);
	printer_str(p, "remote", "test");
	printer_styled(p, "state", STYLE_GOOD, "attached");
	if (symbols && printer_is_text(p)) {
		printer_uint(p, "symbols", 2);
	} else if (symbols) {
		printer_object(p, "symbols");
		printer_str(p, "0", "smc");
		printer_str(p, "1", "hvc");
		printer_end(p);
	}
	printer_uint(p, "dropped", 7);
	printer_uint(p, "read", 123456);
	printer_str(p, "long", "a\n\xc3\xa4");
	printer_end(p);
	printer_row(p);
	printer_uint(p, "cpu", 10);
	printer_str(p, "state", "off");
	printer_none(p, "read");
	printer_end(p);
}

/* What list and status do, in short */
static void nest(struct printer *p)
{
	printer_array(p, NULL);
	printer_object(p, NULL);
	printer_labels(p, labels);
	printer_heading(p, "name", "test");
	printer_str(p, "state", "loaded");
	printer_size(p, "size_allocated", 3 << 20);
	printer_size(p, "odd_size", 1025);
	printer_table(p, "cpus", &columns);
	rows(p, true);
	printer_end(p);
	printer_bool(p, "protected", true);
	printer_end(p);
	printer_object(p, NULL);
	printer_table(p, "cpus", &columns);
	printer_end(p);
	printer_end(p);
	printer_end(p);
}

static void nesting_json(void **state)
{
	static const char expected[] =
		"[{\"name\":\"test\",\"state\":\"loaded\",\"size_allocated\":3145728,"
		"\"odd_size\":1025,\"cpus\":["
		"{\"cpu\":0,\"state\":\"attached\",\"symbols\":{\"0\":\"smc\",\"1\":\"hvc\"},"
		"\"dropped\":7,\"read\":123456,\"long\":\"a\\n\\u00c3\\u00a4\"},"
		"{\"cpu\":10,\"state\":\"off\",\"read\":null}],"
		"\"protected\":true},{\"cpus\":[]}]\n";
	struct printer *p = begin(PRINTER_JSON, false);

	(void)state;
	nest(p);
	assert_string_equal(end(p), expected);
}

static void nesting_pretty(void **state)
{
	static const char expected[] =
		"{\n  \"a\": \"b\",\n  \"c\": [],\n"
		"  \"d\": [\n    {\n      \"read\": 1\n    }\n  ]\n}\n";
	struct printer *p = begin(PRINTER_PRETTY, true);

	(void)state;
	printer_object(p, NULL);
	printer_str(p, "a", "b");
	printer_array(p, "c");
	printer_end(p);
	printer_table(p, "d", &columns);
	printer_row(p);
	printer_uint(p, "read", 1);
	printer_end(p);
	printer_end(p);
	printer_end(p);
	assert_string_equal(end(p), expected);
}

static void nesting_text(void **state)
{
	static const char expected[] =
		"test\n"
		"  state      loaded\n"
		"  allocated  3M\n"
		"  odd size   1025\n"
		"  CPU  STATE     SYMBOLS    READ  LONG\n"
		"    0  attached  2        123456  a\\x0a\\xc3\\xa4\n"
		"   10  off       -             -  -\n"
		"  protected  yes\n";
	struct printer *p = begin(PRINTER_TEXT, false);

	(void)state;
	nest(p);
	assert_string_equal(end(p), expected);
}

static const char *table_of(enum printer_format format)
{
	struct printer *p = begin(format, false);

	printer_table(p, NULL, &columns);
	rows(p, false);
	printer_end(p);
	return end(p);
}

static void chosen_columns(void **state)
{
	const char *bad;
	size_t len;

	(void)state;
	assert_true(columns_parse(&columns, "read,Remote,READ,dropped", &bad, &len));
	assert_string_equal(table_of(PRINTER_TEXT),
			    "  READ  REMOTE  DROPPED\n"
			    "123456  test          7\n"
			    "     -  -             -\n");
	assert_string_equal(table_of(PRINTER_JSON),
			    "[{\"remote\":\"test\",\"dropped\":7,\"read\":123456},{\"read\":null}]\n");
	columns.nr_chosen = 0;
}

static void csv_rows(void **state)
{
	(void)state;
	assert_string_equal(table_of(PRINTER_CSV),
			    "cpu,state,symbols,dropped,read,long\n"
			    "0,attached,,7,123456,a\\x0a\\xc3\\xa4\n"
			    "10,off,,,,\n");
}

static void csv_strings(void **state)
{
	struct printer *p = begin(PRINTER_CSV, false);

	(void)state;
	printer_table(p, NULL, &columns);
	printer_end(p);
	printer_table(p, NULL, &columns);
	printer_row(p);
	printer_bool(p, "cpu", true);
	printer_str(p, "state", "a,b");
	printer_str(p, "symbols", "say \"x\"");
	printer_u64(p, "dropped", UINT64_MAX);
	printer_size(p, "read", 65536);
	printer_none(p, "long");
	printer_end(p);
	printer_end(p);
	/* the heads come once */
	assert_string_equal(end(p), "cpu,state,symbols,dropped,read,long\n"
			    "true,\"a,b\",\"say \"\"x\"\"\",18446744073709551615,65536,\n");
}

/* Rows that columns print themselves */
static void print_twice(struct printer *p, const char *key, const void *row)
{
	printer_uint(p, key, 2 * *(const unsigned int *)row);
}

static void print_plain(struct printer *p, const char *key, const void *row)
{
	printer_uint(p, key, *(const unsigned int *)row);
}

static void described_columns(void **state)
{
	static const struct column all[] = {
		{ "n", "N", COLUMN_NUMBER, print_plain },
		{ "twice", "TWICE", COLUMN_NUMBER, print_twice },
		{ "only", "ONLY", COLUMN_CSV, print_plain },
	};
	static const struct columns table = { .all = all, .nr = 3 };
	static const unsigned int numbers[] = { 25, 11, 19, 7 };
	static const enum printer_format formats[] = { PRINTER_TEXT, PRINTER_JSON, PRINTER_CSV };
	static const char *const expected[] = {
		" N  TWICE\n25     50\n11     22\n19     38\n 7     14\n",
		"[{\"n\":25,\"twice\":50},{\"n\":11,\"twice\":22},{\"n\":19,\"twice\":38},"
		"{\"n\":7,\"twice\":14}]\n",
		"n,twice,only\n25,50,25\n11,22,11\n19,38,19\n7,14,7\n",
	};
	struct printer *p;
	unsigned int i, j;

	(void)state;
	assert_ptr_equal(columns_find(&table, "Twice"), &all[1]);
	assert_null(columns_find(&table, "thrice"));
	for (i = 0; i < 3; i++) {
		p = begin(formats[i], false);
		printer_table(p, NULL, &table);
		for (j = 0; j < 4; j++)
			columns_print(&table, p, &numbers[j]);
		printer_end(p);
		assert_string_equal(end(p), expected[i]);
	}
}

/* A terminal of 30 columns as the standard output */
static const char *table_on_terminal(const struct columns *of, const char *last)
{
	const struct winsize size = { .ws_col = 30, .ws_row = 10 };
	int real = dup(STDOUT_FILENO), master = posix_openpt(O_RDWR | O_NOCTTY), slave;
	struct printer *p;

	assert_true(master >= 0);
	assert_int_equal(grantpt(master), 0);
	assert_int_equal(unlockpt(master), 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	assert_true(slave >= 0);
	assert_int_equal(ioctl(slave, TIOCSWINSZ, &size), 0);
	fflush(stdout);
	dup2(slave, STDOUT_FILENO);
	p = begin(PRINTER_TEXT, true);
	printer_table(p, NULL, of);
	printer_row(p);
	printer_styled(p, "name", STYLE_NAME, "a name");
	printer_str(p, "long", "0123456789abcdef");
	printer_uint(p, "more", 1234567);
	printer_str(p, "last", last);
	printer_end(p);
	printer_end(p);
	end(p);
	dup2(real, STDOUT_FILENO);
	close(real);
	close(slave);
	close(master);
	return result;
}

static void terminal(void **state)
{
	static const struct column all[] = {
		{ "name", "NAME", 0, NULL },
		{ "long", "LONG", COLUMN_TRUNC, NULL },
		{ "more", "MORE", COLUMN_NUMBER | COLUMN_RANK(1), NULL },
		{ "last", "LAST", 0, NULL },
	};
	static const struct columns table = { .all = all, .nr = 4 };

	(void)state;
	assert_string_equal(table_on_terminal(&table, "abcd"),
			    "NAME    LONG              LAST\n"
			    "\033[1ma name\033[0m  0123456789abcdef  abcd\n");
	assert_string_equal(table_on_terminal(&table, "abcdefghij"),
			    "NAME    LONG        LAST\n"
			    "\033[1ma name\033[0m  0123456789  abcdefghij\n");
	assert_string_equal(table_on_terminal(&table, "abcdefghijklmnopqrstuvw"),
			    "NAME    LONG  LAST\n"
			    "\033[1ma name\033[0m  0123  abcdefghijklmnopqrstuvw\n");
}

static void unknown_columns(void **state)
{
	static const char *const lists[] = {
		"", "cpu,", ",cpu", "cpu,,read", "cpus", "cp", "cpu read",
	};
	const char *bad;
	size_t len, i;

	(void)state;
	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		assert_false(columns_parse(&columns, lists[i], &bad, &len));
	assert_false(columns_parse(&columns, "cpu,what,ever", &bad, &len));
	assert_int_equal(len, 4);
	assert_memory_equal(bad, "what", len);
	columns.nr_chosen = 0;
}

static void lines(struct printer *p)
{
	printer_line(p, STYLE_BAD, "[%03u] LOST %u events", 1, 5);
	printer_uint(p, "cpu", 1);
	if (printer_is_json(p)) {
		printer_object(p, "fields");
		printer_str(p, "id", "x");
		printer_end(p);
	}
	printer_end(p);
	printer_line(p, STYLE_PLAIN, "%s", "bad \033[31m\xff \xc2\x9b");
	printer_uint(p, "cpu", 2);
	printer_end(p);
}

static void streams(void **state)
{
	static const char expected[] =
		"\033[31m[001] LOST 5 events\033[0m\nbad \\x1b[31m\\xff \\xc2\\x9b\n";
	struct printer *p = begin(PRINTER_JSON, false);

	(void)state;
	lines(p);
	assert_string_equal(end(p), "{\"cpu\":1,\"fields\":{\"id\":\"x\"}}\n{\"cpu\":2}\n");

	p = begin(PRINTER_TEXT, false);
	lines(p);
	assert_string_equal(end(p), "[001] LOST 5 events\nbad \\x1b[31m\\xff \\xc2\\x9b\n");

	p = begin(PRINTER_TEXT, true);
	lines(p);
	assert_string_equal(end(p), expected);
}

static void full_device(void **state)
{
	unsigned int i;

	(void)state;
	out_init(&out, open("/dev/full", O_WRONLY));
	for (i = 0; i < OUT_BUFFER; i++)
		out_printf(&out, "%u\n", i);
	out_flush(&out);
	assert_int_equal(out.error, ENOSPC);
	assert_int_equal(out.len, 0);
	close(out.fd);
	out_free(&out);
}

static void closed_pipe(void **state)
{
	int fds[2];

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	out_init(&out, fds[1]);
	out_puts(&out, "anybody?");
	out_flush(&out);
	assert_int_equal(out.error, EPIPE);
	close(fds[1]);
	out_free(&out);
}

static void more_than_the_buffer(void **state)
{
	static char big[3 * OUT_BUFFER + 17], back[sizeof(big)];
	int fd = memfd_create("out", 0);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(big); i++)
		big[i] = i % 251;
	out_init(&out, fd);
	out_putc(&out, big[0]);
	out_write(&out, big + 1, sizeof(big) - 1);
	out_flush(&out);
	assert_int_equal(pread(fd, back, sizeof(back), 0), sizeof(back));
	assert_memory_equal(big, back, sizeof(big));
	close(fd);
	out_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_escaping),
		cmocka_unit_test(json_numbers),
		cmocka_unit_test(nesting_json),
		cmocka_unit_test(nesting_pretty),
		cmocka_unit_test(nesting_text),
		cmocka_unit_test(chosen_columns),
		cmocka_unit_test(csv_rows),
		cmocka_unit_test(csv_strings),
		cmocka_unit_test(described_columns),
		cmocka_unit_test(terminal),
		cmocka_unit_test(unknown_columns),
		cmocka_unit_test(streams),
		cmocka_unit_test(full_device),
		cmocka_unit_test(closed_pipe),
		cmocka_unit_test(more_than_the_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
