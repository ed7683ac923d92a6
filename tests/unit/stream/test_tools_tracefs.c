// SPDX-License-Identifier: GPL-2.0-only
/*
 * The formats, lines and raw pages of a tracer in tracefs: good ones, and those that are cut,
 * garbage, or of unknown events.
 */
#include "tracefs_events.h"

static void lines_become_records(void **state)
{
	struct hyptrace_record rec;

	(void)state;
	line("[001]\t   12.000345: hyp_enter reason=guest_exit vcpu=-2");
	line("[001]\t   12.000346: selftest id=18446744073709551615");
	line("[001]\t   13.500000: host_hcall id=77 invalid=1");
	line("[001]\t   13.500000: host_ffa_call ffa_func=0x84000063 a4=ff err=-5");
	line("[001]\t  999.999999: hyp_exit  ");
	line("[001]\t 1000.000000: __hyp_printk mapped 0x1000 at 7");
	line("[001]\t 1000.000001: func \xff__kvm_nvhe_handle_trap");
	line("[001]\t 1000.000002: hyp_enter reason=new vcpu=1");
	hyptrace_tracefs_flush(&t.page);
	rec = next();
	assert_int_equal(rec.ts, 12000345000);
	assert_int_equal(field(&rec, "reason"), 5);
	assert_int_equal((int32_t)field(&rec, "vcpu"), -2);
	rec = next();
	assert_int_equal(field(&rec, "id"), UINT64_MAX);
	rec = next();
	assert_int_equal(rec.ts, 13500000000);
	assert_int_equal(field(&rec, "id"), 77);
	assert_int_equal(field(&rec, "invalid"), 1);
	rec = next();
	assert_int_equal(field(&rec, "func_id"), 0x84000063);
	assert_int_equal(field(&rec, "res_a4"), 255);
	assert_int_equal((int32_t)field(&rec, "err"), -5);
	rec = next();
	assert_int_equal(rec.ts, 999999999000);
	/* Android's has no reason */
	assert_int_equal(field(&rec, "reason"), 8);
	rec = next();
	assert_string_equal((const char *)rec.data + 2, "mapped 0x1000 at 7");
	rec = next();
	assert_string_equal((const char *)rec.data + 2, "\xff__kvm_nvhe_handle_trap");
	rec = next();
	assert_int_equal(field(&rec, "reason"), 8);
	assert_int_equal(rec.lost, 0);
	assert_int_equal(t.shared.found.events, 8);
	assert_int_equal(t.shared.found.lost, 0);
}

static void losses_are_before_the_next_record(void **state)
{
	struct hyptrace_record rec;

	(void)state;
	line("[000]\t    1.000000: hyp_exit  ");
	line("CPU:0 [LOST 12 EVENTS]");
	line("CPU:0 [LOST 3 EVENTS]");
	line("[000]\t    2.000000: hyp_exit  ");
	line("CPU:0 [LOST 99999999999999999999999 EVENTS]");
	line("[000]\t    3.000000: hyp_exit  ");
	line("CPU:0 [LOST 4 EVENTS]");
	hyptrace_tracefs_flush(&t.page);
	rec = next();
	assert_int_equal(rec.lost, 0);
	rec = next();
	assert_int_equal(rec.lost, 15);
	rec = next();
	assert_int_equal(rec.ts, 3000000000);
	assert_true(rec.lost == HYPTRACE_LOST_UNKNOWN);
	/* after the last record */
	assert_int_equal(read(t.pipe[0], t.subbuf, PAGE), PAGE);
	assert_int_equal(hyptrace_decoder_load(&t.dec, t.subbuf, PAGE, NULL), 0);
	assert_int_equal(hyptrace_decoder_next(&t.dec, &rec, NULL), 0);
	assert_int_equal(hyptrace_decoder_lost(&t.dec), 4);
	assert_int_equal(t.shared.found.lost, 19);
}

static void bad_lines_are_lost_events(void **state)
{
	static const char *const bad[] = {
		"", "[", "[000]", "[000]\t    1.000000:", "[000]\t    1.000000: unknown id=1",
		"[000]\t    1.00000: hyp_exit  ", "[000]\t    1.0000000: hyp_exit  ",
		"[x]\t    1.000000: hyp_exit  ", "[000]\t 99999999999999999999.000000: hyp_exit  ",
		"[000]\t    1.000000: host_hcall id=1 inv", "[000]\t    1.000000: host_hcall id= invalid=1",
		"[000]\t    1.000000: host_hcall id=1 invalid=1x", "[000]\t    1.000000: selftest id=99999999999999999999",
		"[000]\t    1.000000: hyp_exit x", "CPU:0 LOST 5 EVENTS", "CPU: [LOST 5 EVENTS]",
		"[000]\t    1.000000: Unknown event id 9", "\xff\xfe\x80",
	};
	struct hyptrace_record rec;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		line(bad[i]);
	hyptrace_tracefs_line(&t.tracefs, &t.page, "a\0b", 3);
	line("[000]\t    1.000000: hyp_exit  ");
	hyptrace_tracefs_flush(&t.page);
	rec = next();
	assert_int_equal(rec.lost, i + 1);
	assert_int_equal(t.shared.found.lost, i + 1);
}

static void times_do_not_go_back(void **state)
{
	struct hyptrace_record rec;

	(void)state;
	line("[000]\t    5.000000: hyp_exit  ");
	line("[000]\t    4.000000: hyp_exit  ");
	line("[000]\t 500000.000000: hyp_exit  ");
	hyptrace_tracefs_flush(&t.page);
	assert_int_equal(next().ts, 5000000000);
	assert_int_equal(next().ts, 5000000000);
	rec = next();
	assert_int_equal(rec.ts, 500000000000000);
}

static void many_lines_fill_sub_buffers(void **state)
{
	char text[64];
	unsigned int i;
	struct hyptrace_record rec;

	(void)state;
	for (i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "[000]\t    1.%06u: selftest id=%u", i, i);
		line(text);
	}
	hyptrace_tracefs_flush(&t.page);
	for (i = 0; i < 1000; i++) {
		rec = next();
		assert_int_equal(field(&rec, "id"), i);
		assert_int_equal(rec.lost, 0);
	}
}

/* Nothing is left there of the sub-buffer before. */
static void padding_is_zero(void **state)
{
	struct hyptrace_record rec;
	unsigned int i;

	(void)state;
	line("[000]\t    1.000000: selftest id=18446744073709551615");
	hyptrace_tracefs_flush(&t.page);
	next();
	line("[000]\t    2.000000: host_hcall id=1 invalid=1");
	hyptrace_tracefs_flush(&t.page);
	rec = next();
	assert_int_equal(rec.size, 12);
	for (i = t.events[2].size; i < rec.size; i++)
		assert_int_equal(((const char *)rec.data)[i], 0);
}

static void raw_pages_become_records(void **state)
{
	struct hyptrace_subbuf *subbuf = (void *)t.subbuf;
	struct hyptrace_record rec;
	const uint64_t lost = 6;
	char page[PAGE] __attribute__((aligned(8))) = {};
	size_t at = sizeof(*subbuf);

	(void)state;
	subbuf = (void *)page;
	subbuf->time_stamp = 1000;
	at = put_raw(page, at, 5, "\x02\0\x09\0\0\0\x01", 7);
	at = put_raw(page, at, 6, "\x04\0", 2);
	subbuf->commit = (at - sizeof(*subbuf)) | HYPTRACE_COMMIT_MISSED | HYPTRACE_COMMIT_STORED;
	memcpy(page + at, &lost, sizeof(lost));
	assert_true(hyptrace_tracefs_raw(&t.tracefs, &t.page, page, PAGE));
	/* of an unknown event, too short, and cut off */
	at = put_raw(page, sizeof(*subbuf), 1, "\x63\0", 2);
	at = put_raw(page, at, 1, "\x02\0\x09", 3);
	at = put_raw(page, at, 1, "\x04\0", 2);
	subbuf->commit = at - sizeof(*subbuf) - 1;
	assert_false(hyptrace_tracefs_raw(&t.tracefs, &t.page, page, PAGE));
	subbuf->commit = PAGE;
	assert_false(hyptrace_tracefs_raw(&t.tracefs, &t.page, page, PAGE));
	assert_false(hyptrace_tracefs_raw(&t.tracefs, &t.page, page, 8));
	hyptrace_tracefs_flush(&t.page);
	rec = next();
	assert_int_equal(rec.ts, 1005);
	assert_int_equal(rec.lost, 6);
	assert_int_equal(field(&rec, "id"), 9);
	assert_int_equal(field(&rec, "invalid"), 1);
	rec = next();
	assert_int_equal(rec.ts, 1011);
	assert_int_equal(t.shared.found.events, 2);
	assert_int_equal(t.shared.found.lost, 8);
}

static void bad_formats_are_refused(void **state)
{
	static const char *const bad[] = {
		"", "name: x\n", "name: x\nID: 3\n", "ID: 99999\nprint fmt: \"\"\n",
		"ID: 3\n\tfield:u8 a;\toffset:2;\tsize:3;\tsigned:0;\nprint fmt: \"%u\", REC->a\n",
		"ID: 3\n\tfield:u8 a[4];\toffset:2;\tsize:4;\tsigned:0;\nprint fmt: \"%u\", REC->a\n",
		"ID: 3\n\tfield:u8[] a;\toffset:2;\tsize:1;\tsigned:0;\nprint fmt: \"%u\", REC->a\n",
		"ID: 3\n\tfield:a;\toffset:2;\tsize:1;\tsigned:0;\nprint fmt: \"%u\", REC->a\n",
		"ID: 3\n\tfield:u8 a\nprint fmt: \"%u\", REC->a\n",
		"ID: 3\n\tfield:u8 a;\toffset:99999;\tsize:1;\tsigned:0;\nprint fmt: \"%u\", REC->a\n",
	};
	/* these are formats, but the text does not tell the fields */
	static const char *const texts[] = {
		"\"%", "\"%u", "\"%u\"", "\"%s\", REC->a", "\"%u %u\", REC->a, REC->a", "\"%u\", REC->b",
		"\"%*u\", REC->a", "\"x\"", "\"%llllu\", REC->a + REC->a", "\"%l\", REC->a",
	};
	struct tracefs_event event = {};
	char text[256];
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		event.format = (char *)bad[i];
		assert_false(hyptrace_tracefs_parse_format(&event, false));
	}
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		snprintf(text, sizeof(text), "ID: 3\n" FIELD("u8", "a", 2, 1, 0) "print fmt: %s\n",
			 texts[i]);
		event.format = text;
		assert_true(hyptrace_tracefs_parse_format(&event, false));
		assert_int_equal(event.nr_pieces, 0);
		assert_string_equal(event.fields[0].name, "text");
	}
}

static void print_formats_name_no_function(void **state)
{
	char *calls[] = { NULL, "__pkvm_init" };
	const struct tracefs_names names = { calls, 2 }, none = {};
	char *text = hyptrace_tracefs_print_fmt(&t.events[2], &names);

	(void)state;
	assert_string_equal(text, "\"id=%s invalid=%llu\", __print_symbolic(REC->id, { 1, \"__pkvm_init\" }), REC->invalid");
	free(text);
	text = hyptrace_tracefs_print_fmt(&t.events[0], &names);
	assert_string_equal(text, "\"reason=%s vcpu=%lld\", __print_symbolic(REC->reason, "
			    "{ 0, \"smc\" }, { 1, \"hvc\" }, { 2, \"sys\" }, { 3, \"psci\" }, "
			    "{ 4, \"host_abort\" }, { 5, \"guest_exit\" }, { 6, \"eret_host\" }, "
			    "{ 7, \"eret_guest\" }, { 8, \"unknown\" }), REC->vcpu");
	free(text);
	text = hyptrace_tracefs_print_fmt(&t.events[3], &none);
	assert_string_equal(text, "\"func_id=0x%llx res_a4=0x%llx err=%lld\", REC->func_id, REC->res_a4, REC->err");
	free(text);
	text = hyptrace_tracefs_print_fmt(&t.events[5], &none);
	assert_string_equal(text, "\"%s\", REC->text");
	free(text);
}

/* A record with more words than a short one has, between others */
static void long_records(void **state)
{
	struct tracefs_event wide = { .name = "wide" }, *list[] = { &wide, &t.events[1] };
	char format[4096], print[1024] = "", args[1024] = "", text[2048];
	struct hyptrace_record rec;
	unsigned int i, nr;
	uint64_t value;
	int at;

	(void)state;
	t.tracefs.events = list;
	t.tracefs.nr_events = 2;
	/* with 13 fields, 108 bytes: a short one; with 14, 116 bytes */
	for (nr = 12; nr <= 15; nr++) {
		at = sprintf(format, "name: wide\nID: 9\nformat:\n");
		print[0] = 0;
		args[0] = 0;
		for (i = 0; i < nr; i++) {
			at += sprintf(format + at, "\tfield:u64 f%u;\toffset:%u;\tsize:8;\tsigned:0;\n",
				      i, 8 + 8 * i);
			sprintf(print + strlen(print), " %%llu");
			sprintf(args + strlen(args), ", REC->f%u", i);
		}
		sprintf(format + at, "\nprint fmt: \"%s\"%s\n", print + 1, args);
		wide.format = format;
		assert_true(hyptrace_tracefs_parse_format(&wide, false));
		assert_int_equal(wide.size, 8 + 8 * nr);
		at = sprintf(text, "[001]\t %5u.000001: wide", nr);
		for (i = 0; i < nr; i++)
			at += sprintf(text + at, " %u", 100 * nr + i);
		line(text);
		line("[001]\t  100.000000: selftest id=5");
		hyptrace_tracefs_flush(&t.page);
		t.page.last = 0;
		rec = next();
		assert_int_equal(rec.size, 8 + 8 * nr);
		for (i = 0; i < nr; i++) {
			memcpy(&value, (const char *)rec.data + 8 + 8 * i, sizeof(value));
			assert_int_equal(value, 100 * nr + i);
		}
		rec = next();
		assert_int_equal(rec.ts, 100000000000);
		assert_int_equal(field(&rec, "id"), 5);
	}
}

static void numbers_of_cpus(void **state)
{
	(void)state;
	line("[4294967295]\t    1.000000: hyp_exit  ");
	assert_int_equal(t.shared.found.events, 1);
	line("[4294967296]\t    1.000000: hyp_exit  ");
	line("[0a]\t    1.000000: hyp_exit  ");
	assert_int_equal(t.shared.found.events, 1);
	assert_int_equal(t.shared.found.lost, 2);
}

#define NAMED "ID: 3\n\tfield:%.*s %.*s;\toffset:2;\tsize:1;\tsigned:0;\nprint fmt: \"\"\n"

/* Names and types of so many letters; a reason that is not the first field, or is no byte. */
static void names_and_reasons(void **state)
{
	struct tracefs_event event = { .name = "hyp_enter" };
	char text[512], name[65];
	unsigned int len, i;

	(void)state;
	event.format = text;
	memset(name, 'n', sizeof(name));
	name[64] = 0;
	for (i = 0; i < 2; i++) {
		for (len = 63; len <= 64; len++) {
			snprintf(text, sizeof(text), NAMED,
				 i ? (int)len : 2, name, i ? 2 : (int)len, name);
			assert_int_equal(hyptrace_tracefs_parse_format(&event, true), len == 63);
		}
	}
	event = (struct tracefs_event){ .name = "hyp_enter", .format = text };
	snprintf(text, sizeof(text),
		 "ID: 3\n" FIELD("pid_t", "vcpu", 2, 4, 1) FIELD("u8", "reason", 6, 1, 0)
		 "print fmt: \"vcpu=%%d  reason=%%s\",  REC->vcpu , str(REC->reason)\n");
	assert_true(hyptrace_tracefs_parse_format(&event, false));
	assert_int_equal(event.nr_fields, 2);
	assert_int_equal(event.nr_pieces, 3);
	assert_true(event.fields[1].is_reason);
	assert_false(event.fields[0].is_reason || event.fields[1].is_unknown);
	/* of another type, it is none, and the event gets one */
	snprintf(text, sizeof(text), "ID: 3\n" FIELD("u16", "reason", 2, 2, 0)
		 "print fmt: \"reason=%%d\", REC->reason\n");
	assert_true(hyptrace_tracefs_parse_format(&event, false));
	assert_int_equal(event.nr_fields, 2);
	assert_string_equal(event.fields[1].type, "u8");
	assert_string_equal(event.fields[1].name, "reason");
	assert_true(event.fields[1].is_reason && event.fields[1].is_unknown);
	/* a type with a blank and an asterisk */
	snprintf(text, sizeof(text), "ID: 3\n" FIELD("const char *", "name", 2, 8, 0)
		 "print fmt: \"%%llx\", REC->name\n");
	assert_true(hyptrace_tracefs_parse_format(&event, false));
	assert_string_equal(event.fields[0].type, "const char *");
	/* other events need none */
	strcpy(event.name, "hyp_ente");
	assert_true(hyptrace_tracefs_parse_format(&event, false));
	assert_int_equal(event.nr_fields, 1);
}

/* Raw pages: padding, long times, records that say a wrong size, and losses without a number */
static void raw_records(void **state)
{
	struct hyptrace_subbuf *subbuf;
	struct hyptrace_record rec;
	char page[PAGE] __attribute__((aligned(8))) = {};
	uint32_t word[2];
	size_t at = sizeof(*subbuf);

	(void)state;
	subbuf = (void *)page;
	subbuf->time_stamp = 1000;
	word[0] = hyptrace_record_header(HYPTRACE_TYPE_TIME_EXTEND, 7);
	word[1] = 2;
	memcpy(page + at, word, 8);
	at = put_raw(page, at + 8, 5, "\x04\0", 2);
	word[0] = hyptrace_record_header(HYPTRACE_TYPE_PADDING, 0);
	memcpy(page + at, word, 8);
	subbuf->commit = at + 8 - sizeof(*subbuf);
	assert_true(hyptrace_tracefs_raw(&t.tracefs, &t.page, page, PAGE));
	assert_int_equal(t.shared.found.events, 1);
	/* a short record, one that is smaller than its size, one that is larger than the page */
	word[0] = hyptrace_record_header(1, 0);
	word[1] = 6;
	memcpy(page + sizeof(*subbuf), word, 8);
	subbuf->commit = 16;
	assert_false(hyptrace_tracefs_raw(&t.tracefs, &t.page, page, PAGE));
	word[0] = hyptrace_record_header(HYPTRACE_TYPE_LENGTH_WORD, 0);
	word[1] = 3;
	memcpy(page + sizeof(*subbuf), word, 8);
	assert_false(hyptrace_tracefs_raw(&t.tracefs, &t.page, page, PAGE));
	word[1] = 13;
	memcpy(page + sizeof(*subbuf), word, 8);
	assert_false(hyptrace_tracefs_raw(&t.tracefs, &t.page, page, PAGE));
	hyptrace_tracefs_flush(&t.page);
	rec = next();
	assert_int_equal(rec.ts, 1000 + 7 + ((uint64_t)2 << HYPTRACE_DELTA_BITS) + 5);
	assert_int_equal(rec.lost, 0);
	/* a number of losses that is behind the page is not known */
	subbuf->commit = PAGE - sizeof(*subbuf) - 4;
	subbuf->commit |= HYPTRACE_COMMIT_MISSED | HYPTRACE_COMMIT_STORED;
	memset(page + sizeof(*subbuf), 0, PAGE - sizeof(*subbuf));
	word[0] = hyptrace_record_header(HYPTRACE_TYPE_PADDING, 0);
	memcpy(page + sizeof(*subbuf), word, 4);
	assert_true(hyptrace_tracefs_raw(&t.tracefs, &t.page, page, PAGE));
	line("[000]\t   99.000000: hyp_exit  ");
	hyptrace_tracefs_flush(&t.page);
	rec = next();
	assert_true(rec.lost == HYPTRACE_LOST_UNKNOWN);
	/* a full page */
	subbuf->commit = PAGE - sizeof(*subbuf);
	assert_true(hyptrace_tracefs_raw(&t.tracefs, &t.page, page, PAGE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lines_become_records, setup, teardown),
		cmocka_unit_test_setup_teardown(losses_are_before_the_next_record, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_lines_are_lost_events, setup, teardown),
		cmocka_unit_test_setup_teardown(times_do_not_go_back, setup, teardown),
		cmocka_unit_test_setup_teardown(many_lines_fill_sub_buffers, setup, teardown),
		cmocka_unit_test_setup_teardown(padding_is_zero, setup, teardown),
		cmocka_unit_test_setup_teardown(raw_pages_become_records, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_formats_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(print_formats_name_no_function, setup, teardown),
		cmocka_unit_test_setup_teardown(long_records, setup, teardown),
		cmocka_unit_test_setup_teardown(numbers_of_cpus, setup, teardown),
		cmocka_unit_test_setup_teardown(names_and_reasons, setup, teardown),
		cmocka_unit_test_setup_teardown(raw_records, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
