// SPDX-License-Identifier: GPL-2.0-only
/*
 * The printer: JSON and text of the same calls, and output that fails.
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

#include "../../tools/hyptrace/out.h"
#include "../../tools/hyptrace/printer.h"
#include "../../tools/hyptrace/text.h"

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
	/* without [ and ]\n */
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
	assert_string_equal(json_of("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
			    "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
}

#define BAD "\xef\xbf\xbd"

static void json_invalid_utf8(void **state)
{
	(void)state;
	assert_string_equal(json_of("a\xffz"), "\"a" BAD "z\"");
	assert_string_equal(json_of("\x80"), "\"" BAD "\"");
	/* cut off */
	assert_string_equal(json_of("\xc3"), "\"" BAD "\"");
	assert_string_equal(json_of("\xe2\x82"), "\"" BAD BAD "\"");
	assert_string_equal(json_of("\xf0\x9f\x98"), "\"" BAD BAD BAD "\"");
	/* too long a form, a surrogate, beyond the last character */
	assert_string_equal(json_of("\xc0\xaf"), "\"" BAD BAD "\"");
	assert_string_equal(json_of("\xe0\x80\xaf"), "\"" BAD BAD BAD "\"");
	assert_string_equal(json_of("\xed\xa0\x80"), "\"" BAD BAD BAD "\"");
	assert_string_equal(json_of("\xf4\x90\x80\x80"), "\"" BAD BAD BAD BAD "\"");
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

/* What list and status do, in short */
static void nest(struct printer *p)
{
	printer_array(p, NULL);
	printer_object(p, NULL);
	printer_heading(p, "name", "test");
	printer_str(p, "state", "loaded");
	printer_size(p, "size_allocated", 3 << 20);
	printer_size(p, "odd", 1025);
	printer_table(p, "cpus");
	printer_row(p);
	printer_uint(p, "cpu", 0);
	printer_styled(p, "state", STYLE_GOOD, "attached");
	printer_object(p, "symbols");
	printer_str(p, "0", "smc");
	printer_str(p, "1", "hvc");
	printer_end(p);
	printer_uint(p, "read", 123456);
	printer_end(p);
	printer_row(p);
	printer_uint(p, "cpu", 10);
	printer_str(p, "state", "off");
	printer_none(p, "read");
	printer_end(p);
	printer_end(p);
	printer_bool(p, "protected", true);
	printer_end(p);
	printer_object(p, NULL);
	printer_table(p, "cpus");
	printer_end(p);
	printer_end(p);
	printer_end(p);
}

static void nesting_json(void **state)
{
	static const char expected[] =
		"[{\"name\":\"test\",\"state\":\"loaded\",\"size_allocated\":3145728,\"odd\":1025,"
		"\"cpus\":["
		"{\"cpu\":0,\"state\":\"attached\",\"symbols\":{\"0\":\"smc\",\"1\":\"hvc\"},"
		"\"read\":123456},{\"cpu\":10,\"state\":\"off\",\"read\":null}],"
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
		"  \"d\": [\n    {\n      \"e\": 1\n    }\n  ]\n}\n";
	struct printer *p = begin(PRINTER_PRETTY, true);

	(void)state;
	printer_object(p, NULL);
	printer_str(p, "a", "b");
	printer_array(p, "c");
	printer_end(p);
	printer_table(p, "d");
	printer_row(p);
	printer_uint(p, "e", 1);
	printer_end(p);
	printer_end(p);
	printer_end(p);
	assert_string_equal(end(p), expected);
}

static void nesting_text(void **state)
{
	static const char expected[] =
		"test\n"
		"  state           loaded\n"
		"  size allocated  3M\n"
		"  odd             1025\n"
		"  CPU  STATE     SYMBOLS        READ\n"
		"    0  attached  0=smc 1=hvc  123456\n"
		"   10  off       -                 -\n"
		"  protected  yes\n";
	struct printer *p = begin(PRINTER_TEXT, false);

	(void)state;
	nest(p);
	assert_string_equal(end(p), expected);
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
		cmocka_unit_test(json_invalid_utf8),
		cmocka_unit_test(json_numbers),
		cmocka_unit_test(nesting_json),
		cmocka_unit_test(nesting_pretty),
		cmocka_unit_test(nesting_text),
		cmocka_unit_test(streams),
		cmocka_unit_test(full_device),
		cmocka_unit_test(closed_pipe),
		cmocka_unit_test(more_than_the_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
