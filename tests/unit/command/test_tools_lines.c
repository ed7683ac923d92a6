// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lines of events and losses: their times, as text and as JSON; those of a batch.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../tools/hyptrace/session/session.h"
#include "../../tools/hyptrace/sink/row.h"
#include "../../tools/hyptrace/sink/lines.h"
#include "sentence_case.h"
#include "json_case.h"

#define NSEC_PER_SEC	UINT64_C(1000000000)
#define NSEC_PER_USEC	1000

/* of message.c */
void cmd_note(const char *fmt, ...)
{
	(void)fmt;
}

/* of session.c */
int session_fail(const struct session *s, const struct hyptrace_error *err)
{
	(void)s;
	(void)err;
	return EXIT_REFUSED;
}

/* of choice.c */
struct hyptrace_event **choice_list(const bool *wanted, struct hyptrace_event *const *events,
				    unsigned int *nr)
{
	(void)wanted;
	(void)events;
	(void)nr;
	return NULL;
}

static struct context ctx;
static const struct session session = { .ctx = &ctx };
static struct lines lines;
static char boot[] = "boot", other[] = "counter";
static const char *clock_name = boot;
static char result[8192];

static int begin(const char *option, const char *option2, bool json)
{
	char name[] = "test", first[32], second[32];
	char *argv[] = { name, first, second, NULL };

	memset(&lines, 0, sizeof(lines));
	snprintf(first, sizeof(first), "%s", option);
	snprintf(second, sizeof(second), "%s", option2);
	assert_int_equal(argp_parse(&lines_argp, 3, argv, ARGP_NO_HELP, NULL, &lines), 0);
	out_init(&ctx.out, memfd_create("out", 0));
	ctx.p = printer_new(&ctx.out, json ? PRINTER_JSON : PRINTER_TEXT, false);
	formats = hyptrace_formats_new(NULL, 0, NULL);
	assert_non_null(formats);
	return lines_begin(&lines, &session, clock_name, formats);
}

static const char *end(void)
{
	ssize_t len;

	out_flush(&ctx.out);
	len = pread(ctx.out.fd, result, sizeof(result) - 1, 0);
	assert_true(len >= 0);
	result[len] = '\0';
	close(ctx.out.fd);
	out_free(&ctx.out);
	printer_free(ctx.p);
	lines_end(&lines);
	hyptrace_formats_free(formats);
	return result;
}

static void event(unsigned int cpu, uint64_t ts)
{
	static const uint16_t data[4] = { 7 };
	struct hyptrace_record rec = { .ts = ts, .data = data, .size = sizeof(data) };

	lines_event(&lines, cpu, &rec);
}

/* An event, a loss before the next one, and one that comes too late */
static void some_lines(void)
{
	event(0, 5 * NSEC_PER_SEC + 1);
	lines_lost(&lines, 1, 6 * NSEC_PER_SEC + 123456789, 17);
	event(1, 6 * NSEC_PER_SEC + 123456789);
	lines_lost(&lines, 1, 6 * NSEC_PER_SEC + 123556788, HYPTRACE_LOST_UNKNOWN);
	event(200, 4 * NSEC_PER_SEC);
	lines_lost(&lines, 0, 6 * NSEC_PER_SEC, 1);
}

#define UNKNOWN "unknown event 7 of 8 bytes\n"

static void absolute(void **state)
{
	static const char expected[] =
		"[000]     5.000000: " UNKNOWN
		"[001]     6.123456: LOST 17 events\n"
		"[001]     6.123456: " UNKNOWN
		"[001]     6.123556: LOST events\n"
		"[200]     4.000000: " UNKNOWN
		"[000]     6.000000: LOST 1 event\n";

	(void)state;
	assert_int_equal(begin("--time=abs", "--time=abs", false), 0);
	some_lines();
	assert_string_equal(end(), expected);
}

static void relative(void **state)
{
	static const char expected[] =
		"[000]     0.000000000: " UNKNOWN
		"[001]     1.123456788: LOST 17 events\n"
		"[001]     1.123456788: " UNKNOWN
		"[001]     1.123556787: LOST events\n"
		"[200]    -1.000000001: " UNKNOWN
		"[000]     0.999999999: LOST 1 event\n";

	(void)state;
	assert_int_equal(begin("--time=rel", "--ns", false), 0);
	some_lines();
	assert_string_equal(end(), expected);
}

static void since_previous(void **state)
{
	static const char expected[] =
		"[000]     0.000000: " UNKNOWN
		"[001]     1.123456: LOST 17 events\n"
		"[001]     0.000000: " UNKNOWN
		"[001]     0.000099: LOST events\n"
		"[200]    -2.123556: " UNKNOWN
		"[000]     2.000000: LOST 1 event\n";

	(void)state;
	assert_int_equal(begin("--time=delta", "--time=delta", false), 0);
	some_lines();
	assert_string_equal(end(), expected);
}

/* Return CLOCK_REALTIME at the time 0 of CLOCK_BOOTTIME, in ns. */
static uint64_t offset(void)
{
	struct timespec now, up;

	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &up);
	return (now.tv_sec - up.tv_sec) * NSEC_PER_SEC + now.tv_nsec - up.tv_nsec;
}

static void wall_clock(void **state)
{
	const uint64_t noon = 1800014400 * NSEC_PER_SEC + 250 * NSEC_PER_USEC;

	(void)state;
	setenv("TZ", "ABC-3:30", 1);
	tzset();
	assert_int_equal(begin("--time=wall", "--time=wall", false), 0);
	/* a quarter of a millisecond off the edge of a digit: the two offsets differ a little */
	event(0, noon - offset());
	event(1, noon + 86400 * NSEC_PER_SEC - offset());
	assert_memory_equal(end(), "[000] 2027-01-15 15:30:00.000", 29);
	assert_memory_equal(strchr(result, '\n') + 1, "[001] 2027-01-16 15:30:00.000", 29);
	assert_non_null(strstr(result, ": " UNKNOWN));

	clock_name = other;
	assert_int_equal(begin("--time=wall", "--time=wall", false), EXIT_REFUSED);
	end();
	assert_int_equal(begin("--time=abs", "--time=abs", false), 0);
	end();
	clock_name = boot;
}

static void json(void **state)
{
	static const char *const times[] = {
		"--time=abs", "--time=rel", "--time=delta", "--time=wall",
	};
	static const char expected[] =
		"{\"cpu\":0,\"ts\":\"5000000001\",\"event\":null,\"id\":7,\"size\":8}\n"
		"{\"cpu\":1,\"ts\":\"6123456789\",\"lost\":17}\n"
		"{\"cpu\":1,\"ts\":\"6123456789\",\"event\":null,\"id\":7,\"size\":8}\n"
		"{\"cpu\":1,\"ts\":\"6123556788\",\"lost\":null}\n"
		"{\"cpu\":200,\"ts\":\"4000000000\",\"event\":null,\"id\":7,\"size\":8}\n"
		"{\"cpu\":0,\"ts\":\"6000000000\",\"lost\":1}\n";
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		assert_int_equal(begin(times[i], "--ns", true), 0);
		some_lines();
		assert_string_equal(end(), expected);
	}
}

/* Print a batch of three: two events with a loss between them, and a loss. */
static void batch(void)
{
	static const uint16_t data[4] = { 7 };
	const struct hyptrace_stream_event events[] = {
		{ .record = { .ts = 5 * NSEC_PER_SEC + 1, .data = data, .size = sizeof(data) } },
		{ .record = { .ts = 6 * NSEC_PER_SEC + 123456789, .lost = 17, .data = data,
			      .size = sizeof(data) }, .cpu = 1 },
		{ .record = { .ts = 6 * NSEC_PER_SEC + 123556788, .lost = HYPTRACE_LOST_UNKNOWN },
		  .cpu = 1 },
	};

	lines_events(&lines, events, 3);
}

static void of_a_batch(void **state)
{
	static const char text[] =
		"[000]     5.000000: " UNKNOWN
		"[001]     6.123456: LOST 17 events\n"
		"[001]     6.123456: " UNKNOWN
		"[001]     6.123556: LOST events\n";
	static const char objects[] =
		"{\"cpu\":0,\"ts\":\"5000000001\",\"event\":null,\"id\":7,\"size\":8}\n"
		"{\"cpu\":1,\"ts\":\"6123456789\",\"lost\":17}\n"
		"{\"cpu\":1,\"ts\":\"6123456789\",\"event\":null,\"id\":7,\"size\":8}\n"
		"{\"cpu\":1,\"ts\":\"6123556788\",\"lost\":null}\n";

	(void)state;
	assert_int_equal(begin("--time=abs", "--time=abs", false), 0);
	batch();
	assert_string_equal(end(), text);
	assert_int_equal(begin("--time=abs", "--time=abs", true), 0);
	batch();
	assert_string_equal(end(), objects);
}

static void bad_time(void **state)
{
	char name[] = "test", option[] = "--time=soon", *argv[] = { name, option, NULL };

	(void)state;
	assert_int_not_equal(argp_parse(&lines_argp, 2, argv, ARGP_NO_HELP, NULL, &lines), 0);
}

/* Begin with the events of hyp/ instead of none. */
static void begin_with_events(const char *option, bool as_json)
{
	static struct hyptrace_hypercall_arg arg[] = {
		{ (char *)"pfn", (char *)"u64" }, { (char *)"b", (char *)"u64" },
		{ (char *)"c", (char *)"u64" }, { (char *)"d", (char *)"u64" },
		{ (char *)"e", (char *)"u64" },
	};
	static struct hyptrace_hypercall_arg *args[] = {
		&arg[0], &arg[1], &arg[2], &arg[3], &arg[4],
	};
	static struct hyptrace_hypercall share = {
		.id = 1, .name = (char *)"share", .returns = true, .known_args = true,
		.nr_args = 1, .args = args,
	};
	static struct hyptrace_hypercall many = {
		.id = 2, .name = (char *)"many", .returns = true, .known_args = true,
		.nr_args = 5, .args = args,
	};
	static struct hyptrace_hypercall opaque = {
		.id = 3, .name = (char *)"opaque", .returns = true,
	};
	static struct hyptrace_hypercall nothing = {
		.id = 4, .name = (char *)"nothing", .known_args = true,
	};
	static struct hyptrace_hypercall *calls[] = { &share, &many, &opaque, &nothing };

	begin(option, "--time=abs", as_json);
	lines_end(&lines);
	hyptrace_formats_free(formats);
	describe(NULL);
	begin_formats();
	assert_int_equal(lines_begin(&lines, &session, clock_name, formats), 0);
	assert_int_equal(hyptrace_formats_set_hypercalls(formats, calls, 4, NULL), 0);
}

static void print(const char *name, const void *payload)
{
	struct hyptrace_record rec = record_of(name, payload, event_of(name)->size);

	lines_event(&lines, 0, &rec);
	free((void *)rec.data);
}

#define PRINT(event, ...) print(#event, &(struct entry_##event){ __VA_ARGS__ })

static void sentences(void **state)
{
	(void)state;
	begin_with_events("--time=abs", false);
	PRINT(host_hcall, .id = 1, .arg1 = 0x812f3, .ret = -1, .duration = 1204);
	PRINT(hyp_enter, .reason = 1, .vcpu = 7);
	assert_string_equal(end(),
			    "[000]     0.000000: host_hcall: share(pfn=0x812f3) = -EPERM <1.204 us>\n"
			    "[000]     0.000000: hyp_enter: reason=hvc vcpu=7\n");
}

static void raw(void **state)
{
	(void)state;
	begin_with_events("--raw", false);
	PRINT(mem_transition, .op = 2, .to = 1, .pfn = 0x812f4, .nr = 1);
	assert_string_equal(end(),
			    "[000]     0.000000: mem_transition: op=donate from=host to=hyp pfn=0x812f4 nr=1 gfn=0x0 handle=0x0 ret=0\n");
}

#define JSON_HEAD "{\"cpu\":0,\"ts\":\"0\",\"event\":\"host_hcall\",\"fields\":"

static void json_sentences(void **state)
{
	static const char expected[] =
		JSON_HEAD "{\"invalid\":0,\"id\":1,\"arg1\":\"529139\",\"arg2\":\"2\",\"arg3\":\"3\",\"arg4\":\"4\",\"duration\":\"1204\",\"ret\":\"-1\"},"
		"\"symbols\":{\"id\":\"share\",\"ret\":\"-EPERM\"},"
		"\"args\":{\"pfn\":\"529139\"},"
		"\"text\":\"share(pfn=0x812f3) = -EPERM <1.204 us>\"}\n"
		JSON_HEAD "{\"invalid\":0,\"id\":2,\"arg1\":\"1\",\"arg2\":\"2\",\"arg3\":\"3\",\"arg4\":\"4\",\"duration\":\"1\",\"ret\":\"0\"},"
		"\"symbols\":{\"id\":\"many\"},"
		"\"args\":{\"pfn\":\"1\",\"b\":\"2\",\"c\":\"3\",\"d\":\"4\"},"
		"\"text\":\"many(pfn=0x1, b=0x2, c=0x3, d=0x4) = 0 <1 ns>\"}\n"
		JSON_HEAD "{\"invalid\":0,\"id\":3,\"arg1\":\"0\",\"arg2\":\"0\",\"arg3\":\"0\",\"arg4\":\"0\",\"duration\":\"1\",\"ret\":\"0\"},"
		"\"symbols\":{\"id\":\"opaque\"},"
		"\"text\":\"opaque(0x0, 0x0, 0x0, 0x0) = 0 <1 ns>\"}\n";

	(void)state;
	begin_with_events("--time=abs", true);
	PRINT(host_hcall, .id = 1, .arg1 = 0x812f3, .arg2 = 2, .arg3 = 3, .arg4 = 4, .ret = -1,
	      .duration = 1204);
	PRINT(host_hcall, .id = 2, .arg1 = 1, .arg2 = 2, .arg3 = 3, .arg4 = 4, .duration = 1);
	PRINT(host_hcall, .id = 3, .duration = 1);
	assert_string_equal(end(), expected);
}

/* A hypercall that returns nothing, or that EL2 has refused, has no field "ret". */
static void json_without_result(void **state)
{
	static const char expected[] =
		JSON_HEAD "{\"invalid\":0,\"id\":4,\"arg1\":\"0\",\"arg2\":\"0\",\"arg3\":\"0\",\"arg4\":\"0\",\"duration\":\"1\"},"
		"\"symbols\":{\"id\":\"nothing\"},\"args\":{},"
		"\"text\":\"nothing() <1 ns>\"}\n"
		JSON_HEAD "{\"invalid\":1,\"id\":9,\"arg1\":\"0\",\"arg2\":\"0\",\"arg3\":\"0\",\"arg4\":\"0\",\"duration\":\"1\"},"
		"\"text\":\"0x9(0x0, 0x0, 0x0, 0x0) invalid <1 ns>\"}\n";

	(void)state;
	begin_with_events("--time=abs", true);
	PRINT(host_hcall, .id = 4, .ret = -1, .duration = 1);
	PRINT(host_hcall, .id = 9, .invalid = 1, .ret = -1, .duration = 1);
	assert_string_equal(end(), expected);
}

/* Raw JSON has the names of the print formats, as that of an event without a sentence. */
static void json_raw(void **state)
{
	(void)state;
	begin_with_events("--raw", true);
	PRINT(hyp_pool, .op = 1, .left = 5);
	PRINT(hyp_enter, .reason = 1, .vcpu = 7);
	assert_string_equal(end(),
			    "{\"cpu\":0,\"ts\":\"0\",\"event\":\"hyp_pool\",\"fields\":{\"op\":1,\"order\":0,\"left\":5,\"pool\":\"0\"},\"symbols\":{\"op\":\"free\"}}\n"
			    "{\"cpu\":0,\"ts\":\"0\",\"event\":\"hyp_enter\",\"fields\":{\"reason\":1,\"vcpu\":7},\"symbols\":{\"reason\":\"hvc\"}}\n");
}

/* Print an event with the rows of JSON, or with the printer; return what was printed. */
static char *print_with(bool rows, bool pretty, const struct hyptrace_record *rec)
{
	struct json_rows *indented = json_rows_new(lines.formats, lines.model,
						   JSON_ROWS_PRETTY, "");
	struct printer *p = printer_new(&ctx.out, pretty ? PRINTER_PRETTY : PRINTER_JSON, false);
	char *text;
	ssize_t len;

	if (!rows)
		print_slowly(p, lines.formats, rec);
	else if (pretty)
		json_rows_print(indented, 3, rec, &ctx.out);
	else
		lines_event(&lines, 3, rec);
	printer_free(p);
	json_rows_free(indented);
	out_flush(&ctx.out);
	len = pread(ctx.out.fd, result, sizeof(result) - 1, 0);
	assert_in_range(len, 1, sizeof(result) - 2);
	result[len] = '\0';
	text = strdup(result);
	assert_int_equal(ftruncate(ctx.out.fd, 0), 0);
	lseek(ctx.out.fd, 0, SEEK_SET);
	return text;
}

static void both_print_the_same(const struct hyptrace_record *rec, bool pretty)
{
	char *fast = print_with(true, pretty, rec), *slow = print_with(false, pretty, rec);

	assert_string_equal(fast, slow);
	free(fast);
	free(slow);
}

/* Any event prints the same by the rows as by the printer: numbers at random, and small ones. */
static void json_rows_print_the_same(void **state)
{
	struct hyptrace_record rec;
	unsigned char payload[256];
	unsigned int i, k, j;

	(void)state;
	srandom(1);
	begin_with_events("--time=abs", true);
	for (i = 0; i < NR_EVENTS * 300; i++) {
		const struct hyptrace_event *event = &events[i % NR_EVENTS];

		for (k = 0; k < sizeof(payload); k++)
			payload[k] = random() % 3 ? 0 : random() % 2 ? random() : random() % 8;
		/* errors, and wide numbers */
		for (j = 0; j < event->nr_fields; j++)
			if (!(random() % 4))
				memset(payload + event->fields[j]->offset, 0xff,
				       event->fields[j]->size);
		rec = record_of(event->name, payload, event->size);
		rec.ts = (uint64_t)random() << (random() % 3 ? random() % 33 : 0);
		if (!(random() % 3))
			rec.ts %= 100;
		both_print_the_same(&rec, false);
		/* the rows of this are made anew for each event */
		if (!(i % 32))
			both_print_the_same(&rec, true);
		free((void *)rec.data);
	}
	end();
}

/* Names that need escapes, arrays, payloads of less than a word, and a line that is too long */
static void json_of_odd_events(void **state)
{
	static struct hyptrace_symbol symbol[] = {
		{ 7, (char *)"a \"quoted\"\tname\\" }, { UINT64_MAX, (char *)"minus\x7f one" },
		{ 7, (char *)"second" }, { 100, (char *)"hundred\351" },
	};
	static struct hyptrace_symbol *of_value[] = {
		&symbol[0], &symbol[1], &symbol[2], &symbol[3],
	};
	static char long_name[40000];
	static struct hyptrace_field field[] = {
		{ .name = (char *)"va\"lue", .type = (char *)"s8", .offset = 2, .size = 1,
		  .is_signed = true, .symbols = of_value, .nr_symbols = 4 },
		{ .name = (char *)"text", .type = (char *)"char[6]", .offset = 4, .size = 6 },
		{ .name = (char *)"bytes", .type = (char *)"u8[3]", .offset = 10, .size = 3 },
		{ .name = long_name, .type = (char *)"u8", .offset = 3, .size = 1 },
	};
	static struct hyptrace_field *fields[] = { &field[0], &field[1], &field[2], &field[3] };
	static struct hyptrace_event short_event = {
		.name = "short", .id = 1, .size = 4, .print_fmt = (char *)"\"\"",
		.fields = fields, .nr_fields = 1,
	};
	static struct hyptrace_event odd = {
		.name = "odd", .id = 2, .size = 16, .print_fmt = (char *)"\"\"",
		.fields = fields, .nr_fields = 3,
	};
	static struct hyptrace_event large = {
		.name = "large", .id = 3, .size = 4, .print_fmt = (char *)"\"\"",
		.fields = fields, .nr_fields = 4,
	};
	static struct hyptrace_event *of[] = { &short_event, &odd, &large };
	static const signed char values[] = { 7, -1, 100, 0, -128 };
	unsigned int i;

	(void)state;
	memset(long_name, 'x', sizeof(long_name) - 1);
	begin("--time=abs", "--time=abs", true);
	lines_end(&lines);
	hyptrace_formats_free(formats);
	formats = hyptrace_formats_new(of, 2, NULL);
	assert_int_equal(lines_begin(&lines, &session, clock_name, formats), 0);
	for (i = 0; i < sizeof(values) * 2; i++) {
		char data[16] = "\0\0\0\0a\",\n\xe9z\xab\xcd\xef";
		const struct hyptrace_event *event = of[i % 2];
		struct hyptrace_record rec = { .size = event->size };
		char *fast;

		data[0] = event->id;
		data[2] = values[i / 2];
		rec.data = memcpy(malloc(event->size), data, event->size);
		both_print_the_same(&rec, true);
		both_print_the_same(&rec, false);
		fast = print_with(true, false, &rec);
		if (i == 1)
			assert_string_equal(fast,
					    "{\"cpu\":3,\"ts\":\"0\",\"event\":\"odd\",\"fields\":{\"va\\\"lue\":7,"
					    "\"text\":\"a\\\",\\n\\u00e9z\",\"bytes\":\"abcdef\"},"
					    "\"symbols\":{\"va\\\"lue\":\"a \\\"quoted\\\"\\tname\\\\\"}}\n");
		free(fast);
		free((void *)rec.data);
	}
	end();
	begin("--time=abs", "--time=abs", true);
	lines_end(&lines);
	hyptrace_formats_free(formats);
	formats = hyptrace_formats_new(of, 3, NULL);
	assert_int_equal(lines_begin(&lines, &session, clock_name, formats), 0);
	lines_event(&lines, 0, &(struct hyptrace_record){ .data = "\3\0\7\1", .size = 4 });
	assert_non_null(strstr(end(), "xxxxxxxx"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(absolute),
		cmocka_unit_test(relative),
		cmocka_unit_test(since_previous),
		cmocka_unit_test(wall_clock),
		cmocka_unit_test(json),
		cmocka_unit_test(of_a_batch),
		cmocka_unit_test(bad_time),
		cmocka_unit_test(sentences),
		cmocka_unit_test(raw),
		cmocka_unit_test(json_sentences),
		cmocka_unit_test(json_without_result),
		cmocka_unit_test(json_raw),
		cmocka_unit_test(json_rows_print_the_same),
		cmocka_unit_test(json_of_odd_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
