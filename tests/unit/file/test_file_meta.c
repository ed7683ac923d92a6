// SPDX-License-Identifier: GPL-2.0-only
/* The description in a trace file: what is written is read again, and what is wrong is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fail_alloc.h"
#include "lib/file/file_meta.h"
#include "lib/internal.h"

#define BEGIN	"hyptrace 1\n"
#define EVENT	"event 7 8 \"tick\" \"\\\"n=%u\\\", REC->n\"\n"
#define FIELD	"field 4 4 0 \"u32\" \"n\"\n"

/* All kinds of lines, as the writer writes them */
static const char whole[] = BEGIN
	"remote \"a-b.c:d\"\n"
	"clock \"boot\"\n"
	"recorder \"hyptrace 1\"\n"
	"command \"a \\\"b\\\" \\\\ \\011 \\177\"\n"
	"uname \"Linux\"\n"
	"boot \"the boot\"\n"
	"begin 18446744073709551615\n"
	"offset -9223372036854775807\n"
	"complete 2\n"
	"cpu 0 1 00000000000000000001 00000000000000000002 00000000000000000003\n"
	"cpu 65535 0 00000000000000000000 00000000000000000000 00000000000000000000\n"
	"host-cpu 4 1 18446744073709551615 00000000000000000000 00000000000000000000\n"
	"event 65535 8 \"tick\" \"\\\"n=%u\\\", REC->n\"\n"
	"missing 1\n"
	"incomplete 1\n"
	"field 4 4 1 \"int *[]\" \"n\"\n"
	"symbol 18446744073709551615 \"minus one\"\n"
	"event 1 2 \"tock\" \"\\\"\\\"\"\n"
	"hypercall 65535 1 1 \"a-b.c:d\"\n"
	"arg \"void (*)[]\" \"to_\"\n"
	"hypercall 1 0 0 \"f\"\n";

static struct hyptrace_file_meta meta;
static struct hyptrace_error err;

static int parse_bytes(const char *text, size_t len)
{
	/* without a byte behind it */
	char *copy = memcpy(malloc(len), text, len);
	int ret;

	hyptrace_file_meta_free(&meta);
	memset(&err, 0, sizeof(err));
	ret = hyptrace_file_meta_parse(copy, len, &meta, &err);
	free(copy);
	return ret;
}

static int parse(const char *body)
{
	char text[4096];
	int len = snprintf(text, sizeof(text), "%s%send\n", BEGIN, body);

	return parse_bytes(text, len);
}

static int teardown(void **state)
{
	(void)state;
	hyptrace_file_meta_free(&meta);
	return 0;
}

static void all_lines(void **state)
{
	const struct hyptrace_file_info *info = &meta.info;
	char text[4096];
	int len = snprintf(text, sizeof(text), "%send\n", whole);

	(void)state;
	assert_int_equal(parse_bytes(text, len), 0);
	assert_string_equal(info->remote, "a-b.c:d");
	assert_string_equal(info->clock, "boot");
	assert_string_equal(info->recorder, "hyptrace 1");
	assert_string_equal(info->command, "a \"b\" \\ \t \177");
	assert_string_equal(info->uname, "Linux");
	assert_string_equal(info->boot, "the boot");
	assert_true(info->begin == UINT64_MAX && info->offset == -INT64_MAX);
	assert_int_equal(meta.state, FILE_PLACED);
	assert_int_equal(info->nr_cpus, 2);
	assert_true(info->cpus[0]->has_counts && !info->cpus[1]->has_counts);
	assert_int_equal(info->cpus[0]->events, 1);
	assert_int_equal(info->cpus[0]->lost, 2);
	assert_int_equal(info->cpus[0]->filtered, 3);
	assert_int_equal(info->cpus[1]->id, 65535);
	assert_int_equal(meta.nr_host_cpus, 1);
	assert_int_equal(meta.host_cpus[0]->id, 4);
	assert_true(meta.host_cpus[0]->events == UINT64_MAX);
	assert_int_equal(info->nr_events, 2);
	assert_string_equal(info->events[0]->remote, "a-b.c:d");
	assert_string_equal(info->events[0]->print_fmt, "\"n=%u\", REC->n");
	assert_true(info->events[0]->missing && info->events[0]->incomplete);
	assert_true(info->events[0]->fields[0]->is_signed);
	assert_string_equal(info->events[0]->fields[0]->type, "int *[]");
	assert_true(info->events[0]->fields[0]->symbols[0]->value == UINT64_MAX);
	assert_string_equal(info->events[0]->fields[0]->symbols[0]->name, "minus one");
	assert_int_equal(info->events[1]->size, 2);
	assert_string_equal(info->events[1]->remote, "a-b.c:d");
	assert_int_equal(info->nr_calls, 2);
	assert_string_equal(info->calls[0]->remote, "a-b.c:d");
	assert_true(info->calls[0]->known_args && info->calls[0]->returns);
	assert_string_equal(info->calls[0]->args[0]->type, "void (*)[]");
	assert_int_equal(info->calls[1]->nr_args, 0);
	assert_string_equal(info->calls[1]->remote, "a-b.c:d");
}

/* The notes, and the room that they may take, come before the events. */
static void is_written_again(void **state)
{
	char text[4096], *again, *at, *end;
	int len = snprintf(text, sizeof(text), "%send\n", whole);
	size_t size;

	(void)state;
	assert_int_equal(parse_bytes(text, len), 0);
	again = hyptrace_file_meta_text(&meta, &size);
	assert_non_null(again);
	assert_int_equal(strlen(again), size);
	at = strstr(again, "\nroom");
	assert_non_null(at);
	end = strchr(at + 1, '\n');
	memmove(at, end, strlen(end) + 1);
	assert_string_equal(again, text);
	free(again);
}

static void notes(void **state)
{
	char text[512], *with, *without;
	size_t len, size;

	(void)state;
	assert_int_equal(parse("note \"one\"\nnote \"two\"\n"), 0);
	assert_int_equal(meta.info.nr_notes, 2);
	assert_string_equal(meta.info.notes[0], "one");
	assert_string_equal(meta.info.notes[1], "two");
	with = hyptrace_file_meta_text(&meta, &len);
	assert_non_null(strstr(with, "\nnote \"one\"\nnote \"two\"\n"));
	/* notes that come later change no length */
	assert_int_equal(parse(""), 0);
	without = hyptrace_file_meta_text(&meta, &size);
	assert_int_equal(size, len);
	free(with);
	free(without);
	snprintf(text, sizeof(text), "note one\n");
	assert_int_equal(parse(text), -EBADMSG);
	assert_string_equal(err.text, "line 2 of its description: a text is missing");
}

/* All notes and the line that fills up take 4096 bytes: one that does not fit is left out. */
static void room_of_notes(void **state)
{
	/* bytes of the text of one that fits */
	const size_t most = 4096 - strlen("note \"\"\n") - strlen("room\n");
	char body[5000], *text, *from;
	size_t i, len, size;

	(void)state;
	for (i = 0; i < 3; i++) {
		/* the next one has room only if this one is left out */
		len = most - 1 + i;
		snprintf(body, sizeof(body), "%snote \"%0*d\"\nnote \"1\"\nend\n", BEGIN, (int)len,
			 0);
		assert_int_equal(parse_bytes(body, strlen(body)), 0);
		text = hyptrace_file_meta_text(&meta, &size);
		from = strstr(text, i < 2 ? "\nnote \"0" : "\nnote \"1\"\nroom");
		assert_non_null(from);
		assert_int_equal(!strstr(text, "note \"1\"\n"), i < 2);
		assert_int_equal(strstr(text, "\nend\n") - from, 4096);
		free(text);
	}
}

struct sentence {
	const char *body;
	unsigned int line;	/* 0: it is valid */
	const char *said;
};

static void check(const struct sentence *at)
{
	char expected[256];
	int ret = parse(at->body);

	if (!at->line) {
		if (ret)
			fail_msg("%s: %s", at->body, err.text);
		return;
	}
	if (ret != -EBADMSG)
		fail_msg("%s: %d", at->body, ret);
	snprintf(expected, sizeof(expected), "line %u of its description: %s", at->line, at->said);
	assert_string_equal(err.text, expected);
}

static void sentences(void **state)
{
	static const struct sentence all[] = {
		{ "", 0, NULL }, { "\n\n", 0, NULL },
		/* what later versions may add */
		{ "unknown\nremoter \"x\"\nremote \"x\" 1 2 3\n", 0, NULL },
		{ "begin\n", 2, "a number is missing" }, { "begin\40\n", 2, "a number is missing" },
		{ "begin x\n", 2, "a number is missing" },
		{ "begin 1x\n", 2, "a number is missing" }, { "begin    1 \40\n", 0, NULL },
		{ "begin -1\n", 2, "a number is missing" },
		{ "\nbegin 18446744073709551616\n", 3, "a number is too large" },
		{ "begin 18446744073709551609\n", 0, NULL },
		{ "begin 184467440737095516150\n", 2, "a number is too large" },
		{ "offset 9223372036854775807\n", 0, NULL },
		{ "offset 9223372036854775808\n", 2, "a number is too large" },
		{ "offset --1\n", 2, "a number is missing" },
		{ "offset -\n", 2, "a number is missing" },
		{ "complete 3\n", 2, "a number is too large" },
		{ "clock\n", 2, "a text is missing" }, { "clock x\"\n", 2, "a text is missing" },
		{ "clock \"x\n", 2, "a text has no end" }, { "clock \"\"\n", 0, NULL },
		{ "clock \"\\0101\"\n", 0, NULL }, { "clock \"\\377\"\n", 0, NULL },
		{ "clock \"\\400\"\n", 2, "a text has a bad character" },
		{ "clock \"\\000\"\n", 2, "a text has a bad character" },
		{ "clock \"\\18\"\n", 2, "a text has a bad character" },
		{ "clock \"\\1\"\n", 2, "a text has a bad character" },
		{ "clock \"\\n\"\n", 2, "a text has a bad character" },
		{ "clock \"\\\n", 2, "a text has a bad character" },
		{ "remote \"\"\n", 2, "a name is empty or too long" },
		{ "remote \"a b\"\n", 2, "a name has a bad character" },
		{ "remote \"0123456789012345678901234567890\"\n", 0, NULL },
		{ "remote \"01234567890123456789012345678901\"\n", 2,
		  "a name is empty or too long" },
		{ "cpu 65536 0 0 0 0\n", 2, "a number is too large" },
		{ "cpu 1 2 0 0 0\n", 2, "a number is too large" },
		{ "cpu 1 1 0 0\n", 2, "a number is missing" },
		{ "cpu 1 1 0 0 0\ncpu 1 1 0 0 0\n", 3, "the CPUs are not in order" },
		{ "cpu 1 1 0 0 0\ncpu 0 1 0 0 0\n", 3, "the CPUs are not in order" },
		{ "cpu 1 1 0 0 0\nhost-cpu 1 1 0 0 0\nhost-cpu 2 1 0 0 0\n", 0, NULL },
		{ "missing 1\n", 2, "nothing is missing without an event" },
		{ "incomplete 1\n", 2, "nothing is incomplete without an event" },
		{ FIELD, 2, "a field has no event" },
		{ EVENT "symbol 1 \"x\"\n", 3, "the name of a value has no field" },
		{ EVENT FIELD EVENT "symbol 1 \"x\"\n", 5, "the name of a value has no field" },
		{ "arg \"int\" \"x\"\n", 2, "an argument has no hypercall" },
		{ EVENT FIELD, 0, NULL },
		{ "event 65536 8 \"tick\" \"\"\n", 2, "a number is too large" },
		{ "event 1 1 \"tick\" \"\\\"\\\"\"\n", 2, "an event has no room for its number" },
		{ "event 1 2 \"tick\" \"\\\"\\\"\"\n", 0, NULL },
		{ "event 1 2 \"tick*\" \"\\\"\\\"\"\n", 2, "a name has a bad character" },
		{ EVENT "field 4 5 0 \"u32\" \"n\"\n", 3, "a field is not inside its event" },
		{ EVENT "field 9 0 0 \"u32\" \"n\"\n", 3, "a field is not inside its event" },
		{ EVENT "field 8 0 0 \"u32\" \"n\"\n", 0, NULL },
		{ EVENT "field 4 4294967295 0 \"u32\" \"n\"\n", 3,
		  "a field is not inside its event" },
		{ EVENT "field 0 8 0 \"u64\" \"a\"\nfield 7 1 0 \"u8\" \"b\"\n", 4,
		  "the fields of an event have more bytes than the event" },
		{ EVENT "field 0 8 0 \"u64\" \"a\"\n" EVENT "field 0 8 0 \"u64\" \"a\"\n", 0,
		  NULL },
		{ EVENT "field 4 4 0 \"u32\" \"a b\"\n", 3, "a name has a bad character" },
		{ EVENT "field 4 4 0 \"u-32\" \"a\"\n", 3, "a name has a bad character" },
		{ EVENT "field 4 4 2 \"u32\" \"a\"\n", 3, "a number is too large" },
		{ "hypercall 65536 0 0 \"f\"\n", 2, "a number is too large" },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		check(&all[i]);
}

static void whole_texts(void **state)
{
	(void)state;
	assert_int_equal(parse_bytes(BEGIN "end", strlen(BEGIN "end")), 0);
	assert_int_equal(parse_bytes(BEGIN "end\nbegin x\n", strlen(BEGIN "end\nbegin x\n")), 0);
	assert_int_equal(parse_bytes(BEGIN, strlen(BEGIN)), -EBADMSG);
	assert_string_equal(err.text, "line 1 of its description: the end is missing");
	assert_int_equal(parse_bytes(BEGIN "ends\n", strlen(BEGIN "ends\n")), -EBADMSG);
	assert_int_equal(parse_bytes(BEGIN, strlen(BEGIN) - 1), -EBADMSG);
	assert_string_equal(err.text, "it has no description that this version can read");
	/* what is behind the text does not belong to it */
	assert_int_equal(hyptrace_file_meta_parse(BEGIN "clock \"x\"\n", strlen(BEGIN "clock"),
						  &meta, &err), -EBADMSG);
	assert_string_equal(err.text, "line 2 of its description: a text is missing");
	assert_int_equal(parse_bytes("hyptrace 2\nend\n", 15), -EBADMSG);
	assert_int_equal(parse_bytes(BEGIN "cl\0ck\nend\n", strlen(BEGIN) + 10), -EBADMSG);
	assert_string_equal(err.text, "line 2 of its description: it is not a text");
}

/* A print format that is not well formed is replaced; an event that is not is refused. */
static void formats(void **state)
{
	(void)state;
	assert_int_equal(parse("event 7 8 \"tick\" \"\\\"n=%u\"\n" FIELD), 0);
	assert_string_equal(meta.info.events[0]->print_fmt, "0");
	assert_int_equal(parse(EVENT FIELD "event 8 8 \"tock\" \"\\\"n=%u\"\n" FIELD), 0);
	assert_string_equal(meta.info.events[1]->print_fmt, "0");
	assert_int_equal(parse("event 7 8 \"tick\" \"\\\"n=%u\\\", REC->n\"\n" FIELD), 0);
	assert_string_equal(meta.info.events[0]->print_fmt, "\"n=%u\", REC->n");
	/* an empty one stays so */
	assert_int_equal(parse("event 7 8 \"tick\" \"\"\n" FIELD), 0);
	assert_string_equal(meta.info.events[0]->print_fmt, "");
	/* a type without a name */
	assert_int_equal(parse(EVENT FIELD "event 8 8 \"tock\" \"\"\nfield 4 4 0 \"*\" \"n\"\n"),
			 -EBADMSG);
	assert_int_equal(err.errnum, EBADMSG);
	assert_string_equal(err.text, "its description: the event tock is not valid");
}

static void made_cpus(void **state)
{
	struct hyptrace_file_cpu **cpus = NULL;
	unsigned int nr = 0, i;

	(void)state;
	assert_true(hyptrace_file_make_cpus(&cpus, &nr, 0));
	assert_null(cpus);
	for (i = 1; i < 4; i += 2) {
		assert_true(hyptrace_file_make_cpus(&cpus, &nr, i));
		assert_int_equal(nr, i);
		assert_null(cpus[i]);
	}
	/* what one of them has already stays */
	cpus[2]->id = 7;
	fail_alloc(1);
	assert_false(hyptrace_file_make_cpus(&cpus, &nr, 4));
	assert_true(fail_alloc_end());
	assert_int_equal(nr, 3);
	assert_int_equal(cpus[2]->id, 7);
	while (nr--)
		free(cpus[nr]);
	free(cpus);
}

/* A name of @len letters, and a print format of @fmt */
static int long_parts(unsigned int len, size_t fmt)
{
	char *text = malloc(fmt + 2048);
	int at, ret;

	at = sprintf(text, "%sevent 7 8 \"tick\" \"", BEGIN);
	memset(text + at, ' ', fmt);
	at += fmt;
	at += sprintf(text + at, "\"\nfield 4 4 0 \"u32\" \"%0*d\"\nend\n", len, 0);
	ret = parse_bytes(text, at);
	free(text);
	return ret;
}

static void limits(void **state)
{
	const char *said = "line 3 of its description: a list is too long";
	char *text = malloc(65536 * 30);
	unsigned int i, j;
	int at;

	(void)state;
	assert_int_equal(long_parts(256, 100), 0);
	assert_int_equal(long_parts(257, 100), -EBADMSG);
	assert_string_equal(err.text, "line 3 of its description: a name is empty or too long");
	assert_int_equal(long_parts(1, 65536), 0);
	assert_int_equal(long_parts(1, 65537), -EBADMSG);
	assert_string_equal(err.text, "line 2 of its description: a print format is too long");
	/* all lists together */
	for (i = 65536; i <= 65537; i++) {
		at = sprintf(text, "%s", BEGIN);
		for (j = 0; j < i; j++)
			at += sprintf(text + at, "hypercall 1 0 0 \"f\"\n");
		at += sprintf(text + at, "end\n");
		assert_int_equal(parse_bytes(text, at), i == 65536 ? 0 : -EBADMSG);
	}
	assert_string_equal(strchr(err.text, ':'), strchr(said, ':'));
	at = sprintf(text, "%s", BEGIN "hypercall 1 0 0 \"f\"\nnote \"\"\n");
	for (j = 0; j < 65535; j++)
		at += sprintf(text + at, "note \"\"\n");
	at += sprintf(text + at, "end\n");
	assert_int_equal(parse_bytes(text, at), -EBADMSG);
	assert_string_equal(err.text, "line 65538 of its description: a list is too long");
	free(text);
}

static void no_memory(void **state)
{
	char text[4096], *again;
	int len = snprintf(text, sizeof(text), "%snote \"x\"\nend\n", whole), ret;
	bool failed = true;
	unsigned int nth;
	size_t size;

	(void)state;
	for (nth = 1; failed; nth++) {
		hyptrace_file_meta_free(&meta);
		fail_alloc(nth);
		ret = hyptrace_file_meta_parse(text, len, &meta, &err);
		failed = fail_alloc_end();
		assert_int_equal(ret, failed ? -ENOMEM : 0);
	}
	assert_true(nth > 30);
	for (nth = 1, failed = true; failed; nth++) {
		fail_alloc(nth);
		again = hyptrace_file_meta_text(&meta, &size);
		failed = fail_alloc_end();
		assert_int_equal(failed, !again);
		free(again);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(all_lines, teardown),
		cmocka_unit_test_teardown(is_written_again, teardown),
		cmocka_unit_test_teardown(notes, teardown),
		cmocka_unit_test_teardown(room_of_notes, teardown),
		cmocka_unit_test_teardown(sentences, teardown),
		cmocka_unit_test_teardown(whole_texts, teardown),
		cmocka_unit_test_teardown(formats, teardown),
		cmocka_unit_test_teardown(limits, teardown), cmocka_unit_test(made_cpus),
		cmocka_unit_test_teardown(no_memory, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
