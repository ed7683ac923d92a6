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
	{ "cpu",	"CPU",		COLUMN_NUMBER },
	{ "remote",	"REMOTE",	COLUMN_EXTRA },
	{ "state",	"STATE",	0 },
	{ "symbols",	"SYMBOLS",	0 },
	{ "dropped",	"DROPPED",	COLUMN_NUMBER | COLUMN_JSON },
	{ "read",	"READ",		COLUMN_NUMBER },
	{ "long",	"LONG",		COLUMN_TRUNC },
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
	if (symbols) {
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
		"  CPU  STATE     SYMBOLS        READ  LONG\n"
		"    0  attached  0=smc 1=hvc  123456  a\\x0a\\xc3\\xa4\n"
		"   10  off       -                 -  -\n"
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
	printer_object(p, "fields");
	printer_str(p, "id", "x");
	printer_end(p);
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
		cmocka_unit_test(unknown_columns),
		cmocka_unit_test(streams),
		cmocka_unit_test(full_device),
		cmocka_unit_test(closed_pipe),
		cmocka_unit_test(more_than_the_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
