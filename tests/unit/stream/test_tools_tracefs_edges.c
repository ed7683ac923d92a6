// SPDX-License-Identifier: GPL-2.0-only
/* The limits of formats, lines, raw pages and sub-buffers of a tracer in tracefs. */
#include "tracefs_events.h"

#include <fcntl.h>

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define ROOM		(PAGE - 16)	/* for records in a sub-buffer */

static struct tracefs_event parsed;

/* Is it a format of an event with this name? */
static bool parse(const char *name, const char *format, bool is_raw)
{
	memset(&parsed, 0, sizeof(parsed));
	strcpy(parsed.name, name);
	parsed.format = (char *)format;
	return hyptrace_tracefs_parse_format(&parsed, is_raw);
}

/* Is it, with so many fields of a byte, and this name of the last one? */
static bool parse_bytes(const char *name, unsigned int nr, const char *last)
{
	char format[4096] = "ID: 3\nprint fmt: \"\"\n";
	unsigned int i;

	for (i = 1; i < nr; i++)
		sprintf(format + strlen(format), "field:u8 f%u;offset:%u;size:1;signed:0;\n", i, i);
	sprintf(format + strlen(format), "field:u8 %s;offset:%u;size:1;signed:0;\n", last, i);
	return parse(name, format, true);
}

static void numbers_of_fields(void **state)
{
	(void)state;
	assert_true(parse_bytes("x", 16, "z"));
	assert_int_equal(parsed.nr_fields, 16);
	assert_int_equal(parsed.size, 18);
	assert_false(parse_bytes("x", 17, "z"));
	/* a reason is a field, too */
	assert_true(parse_bytes("hyp_exit", 15, "z"));
	assert_int_equal(parsed.nr_fields, 16);
	assert_true(parsed.fields[15].is_unknown);
	assert_false(parse_bytes("hyp_exit", 16, "z"));
	assert_true(parse_bytes("hyp_exit", 16, "reason"));
	assert_false(parsed.fields[15].is_unknown);
}

static void sizes_and_offsets(void **state)
{
	static const struct {
		unsigned int	offset;
		unsigned int	size;
	} edges[] = {
		{ 0, 1 }, { 65534, 1 }, { 65527, 8 },
	};
	char format[128];
	unsigned int i, size;

	(void)state;
	for (size = 0; size <= 17; size++) {
		sprintf(format, "ID: 3\nfield:u8 a;offset:2;size:%u;signed:0;\nprint fmt: \"\"",
			size);
		assert_int_equal(parse("x", format, true),
				 size == 1 || size == 2 || size == 4 || size == 8);
	}
	for (i = 0; i < COUNT(edges); i++) {
		sprintf(format, "ID: 3\nfield:u8 a;offset:%u;size:%u;signed:1;\nprint fmt: \"\"",
			edges[i].offset, edges[i].size);
		assert_true(parse("x", format, true));
		assert_int_equal(parsed.fields[0].from, edges[i].offset);
		assert_int_equal(parsed.fields[0].size, edges[i].size);
		assert_true(parsed.fields[0].is_signed);
		sprintf(format, "ID: 3\nfield:u8 a;offset:%u;size:%u;signed:1;\nprint fmt: \"\"",
			edges[i].offset + 1, edges[i].size);
		assert_int_equal(parse("x", format, true), i == 0);
	}
	/* each is at a multiple of its size */
	assert_true(parse("x", "ID: 3\n" FIELD("u8", "a", 2, 1, 0) FIELD("u32", "b", 3, 4, 0)
			  FIELD("u16", "c", 7, 2, 0) FIELD("u64", "d", 9, 8, 0)
			  FIELD("u64", "e", 17, 8, 0) "print fmt: \"\"\n", true));
	assert_int_equal(parsed.fields[0].offset, 2);
	assert_int_equal(parsed.fields[1].offset, 4);
	assert_int_equal(parsed.fields[2].offset, 8);
	assert_int_equal(parsed.fields[3].offset, 16);
	assert_int_equal(parsed.fields[4].offset, 24);
	assert_int_equal(parsed.size, 32);
}

static void parts_of_formats(void **state)
{
	static const char *const bad[] = {
		"ID: 3\nfield:u8 ;offset:2;size:1;signed:0;\nprint fmt: \"\"\n",
		"ID: 3\nfield: a;offset:2;size:1;signed:0;\nprint fmt: \"\"\n",
		"ID: 3\nfield:a;offset:2;size:1;signed:0;\nprint fmt: \"\"\n",
		"ID: 3\nfield:u8 a;offset:2;size:1;signed:;\nprint fmt: \"\"\n",
		"ID: 3\nfield:[8 a;offset:2;size:1;signed:0;\nprint fmt: \"\"\n",
		"ID: 65535\nprint fmt: \"\"\n", "ID: x\nprint fmt: \"\"\n", "print fmt: \"\"\n",
		"ID: 3\n", "ID: 3\nprint fmt:\"\"\n",
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < COUNT(bad); i++)
		assert_false(parse("x", bad[i], true));
	/* without a newline at the end; the lines in another order, with blanks before them */
	assert_true(parse("x", "print fmt: \"\"\n\t field:char *a;offset:2;size:8;signed:0;\n"
			  "\tfield:int common_pid;offset:4;size:3;signed:1;\n \tID: 65534", true));
	assert_int_equal(parsed.id, 65534);
	assert_int_equal(parsed.nr_fields, 1);
	assert_string_equal(parsed.fields[0].name, "a");
	assert_string_equal(parsed.fields[0].type, "char *");
	/* what has no fields for the text has only that, which is not signed */
	assert_true(parse("x", "ID: 3\n" FIELD("int", "a", 2, 4, 1) FIELD("int", "b", 6, 4, 1)
			  "print fmt: Unknown\n", false));
	assert_int_equal(parsed.nr_fields, 1);
	assert_int_equal(parsed.size, 2 + 96);
	assert_string_equal(parsed.fields[0].type, "char");
	assert_int_equal(parsed.fields[0].offset, 2);
	assert_int_equal(parsed.fields[0].size, 96);
	assert_false(parsed.fields[0].is_signed || parsed.fields[0].is_reason);
}

/* Which print formats tell the fields a, b and reason? */
static void print_formats(void **state)
{
	static const struct {
		const char	*print;
		bool		is_told;
	} prints[] = {
		{ "\"%u %u %s\", REC->a, REC->b, REC->reason", true },
		{ "\"\"%u %u %s\", REC->a, REC->b, REC->reason\",", true },
		{ "\"%d%i%s\", REC->b, REC->a, REC->reason", true },
		{ "\"%hhx %lX %llu\",REC->b,REC->a,REC->reason", true },
		/* a comma in brackets ends no argument, and a bracket may be closed too often */
		{ "\"%u %u %s\", f(REC->a, 1), (int)(f(g(1, 2), REC->b)), REC->reason", true },
		{ "\"%u %u %s\", REC->a), REC->b)), REC->reason", true },
		{ "\"%u %u %s\", f(REC->a, REC->b, REC->reason", false },
		{ "\"%u %u %s\", REC->a, REC->a, REC->reason", false },
		{ "\"%u %u %s\", REC->a, REC->b, REC->b", false },
		{ "\"%u %u %u %s\", REC->a, REC->b, REC->b, REC->reason", false },
		{ "\"%u %u\", REC->a, REC->b, REC->reason", false },
		{ "\"%s %u %u\", REC->a, REC->b, REC->reason", false },
		{ "\"%c %u %s\", REC->a, REC->b, REC->reason", false },
		{ "\"%p %u %s\", REC->a, REC->b, REC->reason", false },
		{ "\"%u %u %zu\", REC->a, REC->b, REC->reason", false },
		{ "\"%u%% %u %s\", REC->a, REC->b, REC->reason", false },
		{ "\"%u\\n %u %s\", REC->a, REC->b, REC->reason", false },
		{ "\"%u %u %s\", REC->a + REC->, REC->b, REC->reason", false },
		{ "\"%u %u %s\", REC->aREC->, REC->b, REC->reason", false },
		{ "\"%u %u %s\", REC->ab, REC->b, REC->reason", false },
		{ "\"%u %u %s\", REC->, REC->b, REC->reason", false },
		{ "\"%u %u %s\", REC-a, REC->b, REC->reason", false },
		{ "\"%u %u %s\", REC->a, REC->b", false },
		{ "\"%u %u %s\", 7, REC->b, REC->reason", false },
		{ "x\"%u %u %s\", REC->a, REC->b, REC->reason", false },
		{ "\"%u %u %s", false }, { "\"", false }, { "", false }, { "\"\",", false },
	};
	char format[512], *print;
	unsigned int i;

	(void)state;
	for (i = 0; i < COUNT(prints); i++) {
		sprintf(format, "ID: 3\n" FIELD("u8", "a", 2, 1, 0) FIELD("u32", "b", 3, 4, 1)
			FIELD("u8", "reason", 7, 1, 0) "print fmt: %s\n", prints[i].print);
		assert_true(parse("x", format, true));
		if (parsed.nr_pieces != (prints[i].is_told ? 4 : 0))
			fail_msg("%u pieces of %s", parsed.nr_pieces, prints[i].print);
		assert_int_equal(parsed.nr_fields, 3);
	}
	/* pieces of a format that is not used do not matter */
	assert_true(parse("x", "ID: 3\n" FIELD("u8", "a", 2, 1, 0)
			  "print fmt: \"%x %x\", REC->a\n", true));
	print = hyptrace_tracefs_print_fmt(&parsed, &(struct tracefs_names){});
	assert_string_equal(print, "\"a=%llu\", REC->a");
	free(print);
}

static void names_of_reasons(void **state)
{
	static const char *const reasons[] = {
		"smc", "hvc", "sys", "psci", "host_abort", "guest_exit", "eret_host", "eret_guest",
		"unknown", "smcx", "sm", "",
	};
	struct hyptrace_record rec;
	char text[128];
	unsigned int i;

	(void)state;
	for (i = 0; i < COUNT(reasons); i++) {
		sprintf(text, "[001] 1.000000: hyp_enter reason=%s vcpu=%u", reasons[i], i);
		line(text);
	}
	hyptrace_tracefs_flush(&t.page);
	for (i = 0; i < COUNT(reasons); i++) {
		rec = next();
		assert_int_equal(field(&rec, "reason"), i < 8 ? i : 8);
		assert_int_equal(field(&rec, "vcpu"), i);
	}
}

/* A line is an event, or a lost one, of one of the formats at the top. */
static void parts_of_lines(void **state)
{
	static const struct {
		const char	*text;
		bool		is_event;
	} all[] = {
		{ "[0]1.000000: hyp_exit", true },
		{ "[0] \t 0.999999: hyp_exit \t ", true },
		{ "[0] 1.000000: func", true },
		{ "[0] 1.000000:  hyp_exit", false },
		{ "[0] 1.000000:hyp_exit", false },
		{ "[0] 1.000000: hyp_exit  7", false },
		{ "[0] 1000000: hyp_exit", false },
		{ "[0] 1,000000: hyp_exit", false },
		{ "[0] .000000: hyp_exit", false },
		{ "[0] 1.: hyp_exit", false },
		{ "[0 1.000000: hyp_exit", false },
		{ "0] 1.000000: hyp_exit", false },
		{ "[] 1.000000: hyp_exit", false },
		{ "[a] 1.000000: hyp_exit", false },
		{ "[-1] 1.000000: hyp_exit", false },
		{ "[0] 1.000000: hyp_exi", false },
		{ "[0] 9223372036.000000: hyp_exit", true },
		{ "[0] 9223372037.000000: hyp_exit", false },
		{ "[0] 1.000000: selftest id=5", true },
		{ "[0] 1.000000: selftest id=-5", true },
		{ "[0] 1.000000: selftest id=--5", false },
		{ "[0] 1.000000: selftest id=+5", false },
		{ "[0] 1.000000: selftest id= 5", false },
		{ "[0] 1.000000: selftest id=a", false },
		{ "[0] 1.000000: selftest id=5a", false },
		{ "[0] 1.000000: selftest", false },
		{ "[0] 1.000000: host_ffa_call ffa_func=0x5 a4=F err=1", true },
		{ "[0] 1.000000: host_ffa_call ffa_func=0x5 a4=-1 err=1", false },
		{ "[0] 1.000000: host_ffa_call ffa_func=0x5 a4=g err=1", false },
		{ "[0] 1.000000: host_ffa_call ffa_func=5 a4=F err=1", false },
		{ "CPU:x [LOST 1 EVENTS]", false },
		{ "CPU:4294967296 [LOST 3 EVENTS]", false },
		{ "CPU:1[LOST 3 EVENTS]", false },
	};
	uint64_t events, lost;
	unsigned int i;

	(void)state;
	for (i = 0; i < COUNT(all); i++) {
		events = t.shared.found.events;
		lost = t.shared.found.lost;
		line(all[i].text);
		if (t.shared.found.events - events != all[i].is_event ||
		    t.shared.found.lost - lost != !all[i].is_event)
			fail_msg("%s", all[i].text);
	}
}

/* A letter after a number may be a digit of another base. */
static void numbers_before_letters(void **state)
{
	(void)state;
	t.events[1] = (struct tracefs_event){
		.name = "selftest", .format = "ID: 1\n" FIELD("u64", "id", 2, 8, 0)
					      "print fmt: \"%llub left\", REC->id\n",
	};
	assert_true(hyptrace_tracefs_parse_format(&t.events[1], false));
	line("[0] 1.000000: selftest 5b left");
	assert_int_equal(t.shared.found.events, 1);
	assert_int_equal(t.shared.found.lost, 0);
	line("[0] 1.000000: selftest b left");
	assert_int_equal(t.shared.found.events, 1);
	assert_int_equal(t.shared.found.lost, 1);
}

/* Losses without a number are not counted. */
static void numbers_of_losses(void **state)
{
	static const struct {
		const char	*text;
		uint64_t	counted;
		uint64_t	told;
	} all[] = {
		{ "CPU:4294967295 [LOST 3 EVENTS]", 3, 3 },
		{ "CPU:0 [LOST 18446744073709551614 EVENTS]", 0xfffffffffffffffeULL,
		  0xfffffffffffffffeULL },
		{ "CPU:0 [LOST EVENTS]", 0, HYPTRACE_LOST_UNKNOWN },
		{ "CPU:0 [LOST 3 EVENTS", 0, HYPTRACE_LOST_UNKNOWN },
		{ "CPU:0 [LOST 3 EVENTS] ", 0, HYPTRACE_LOST_UNKNOWN },
		{ "CPU:0 [LOST 18446744073709551616 EVENTS]", 0, HYPTRACE_LOST_UNKNOWN },
	};
	const uint64_t max = HYPTRACE_LOST_UNKNOWN;
	unsigned int i;

	(void)state;
	for (i = 0; i < COUNT(all); i++) {
		t.page.counts.lost = 0;
		line(all[i].text);
		assert_int_equal(t.page.used, 0);
		assert_true(t.page.lost == all[i].told);
		assert_true(t.shared.found.lost == all[i].counted);
		assert_int_equal(t.shared.found.events, 0);
		hyptrace_tracefs_flush(&t.page);
		assert_int_equal(t.page.lost, 0);
	}
	/* the sum, until that is not known */
	hyptrace_tracefs_lose(&t.page, max - 5);
	hyptrace_tracefs_lose(&t.page, 4);
	assert_true(t.page.lost == max - 1);
	hyptrace_tracefs_lose(&t.page, 2);
	assert_true(t.page.lost == max);
	hyptrace_tracefs_lose(&t.page, 1);
	assert_true(t.page.lost == max);
}

/* Read the next sub-buffer. Return its commit. */
static uint64_t take(uint64_t *ts)
{
	uint64_t head[2];

	assert_int_equal(read(t.pipe[0], t.subbuf, PAGE), PAGE);
	memcpy(head, t.subbuf, sizeof(head));
	if (ts)
		*ts = head[0];
	return head[1];
}

static void heads_of_sub_buffers(void **state)
{
	uint64_t ts, lost;

	(void)state;
	fcntl(t.pipe[0], F_SETFL, O_NONBLOCK);
	/* there is nothing to write */
	hyptrace_tracefs_flush(&t.page);
	assert_int_equal(t.shared.nr_written, 0);
	assert_int_equal(read(t.pipe[0], t.subbuf, PAGE), -1);
	line("[0] 1.000000: hyp_exit");
	line("[0] 2.000000: hyp_exit");
	hyptrace_tracefs_lose(&t.page, 7);
	assert_int_equal(t.shared.nr_begun, 1);
	assert_int_equal(t.shared.nr_written, 1);
	assert_int_equal(t.shared.at[0].events, 2);
	assert_int_equal(t.shared.at[0].lost, 0);
	assert_int_equal(take(&ts), 8 + 8 + 8);
	assert_int_equal(ts, NSEC_PER_SEC);
	assert_int_equal(t.shared.last, 2 * NSEC_PER_SEC);
	/* only a loss: the time of the last event, and the number after no data */
	hyptrace_tracefs_flush(&t.page);
	assert_int_equal(t.shared.nr_begun, 2);
	assert_int_equal(t.shared.nr_written, 2);
	assert_int_equal(t.shared.at[1].events, 2);
	assert_int_equal(t.shared.at[1].lost, 7);
	assert_int_equal(take(&ts), HYPTRACE_COMMIT_MISSED | HYPTRACE_COMMIT_STORED);
	assert_int_equal(ts, 2 * NSEC_PER_SEC);
	memcpy(&lost, t.subbuf + 16, sizeof(lost));
	assert_int_equal(lost, 7);
	/* without a number */
	hyptrace_tracefs_lose(&t.page, HYPTRACE_LOST_UNKNOWN);
	line("[0] 3.000000: hyp_exit");
	hyptrace_tracefs_flush(&t.page);
	assert_int_equal(take(&ts), 8 | HYPTRACE_COMMIT_MISSED);
	assert_int_equal(ts, 3 * NSEC_PER_SEC);
	assert_int_equal(t.shared.at[2].events, 3);
	assert_int_equal(t.shared.at[2].lost, 7);
	assert_int_equal(read(t.pipe[0], t.subbuf, PAGE), -1);
}

/* Their counts are in a ring. */
static void many_sub_buffers(void **state)
{
	(void)state;
	t.shared.nr_begun = TRACEFS_UNREAD_MAX - 1;
	line("[0] 1.000000: hyp_exit");
	hyptrace_tracefs_flush(&t.page);
	line("[0] 2.000000: hyp_exit");
	hyptrace_tracefs_flush(&t.page);
	assert_int_equal(t.shared.at[TRACEFS_UNREAD_MAX - 1].events, 1);
	assert_int_equal(t.shared.at[0].events, 2);
	assert_int_equal(t.shared.nr_written, TRACEFS_UNREAD_MAX + 1);
}

/* Nothing is written after a write that failed, but all is counted. */
static void failed_write(void **state)
{
	(void)state;
	fcntl(t.pipe[0], F_SETFL, O_NONBLOCK);
	t.page.fd = -1;
	line("[0] 1.000000: hyp_exit");
	hyptrace_tracefs_flush(&t.page);
	assert_true(t.page.has_failed);
	t.page.fd = t.pipe[1];
	line("[0] 2.000000: hyp_exit");
	hyptrace_tracefs_flush(&t.page);
	assert_true(t.page.has_failed);
	assert_int_equal(t.page.used, 0);
	assert_int_equal(t.shared.nr_written, 2);
	assert_int_equal(t.shared.found.events, 2);
	assert_int_equal(read(t.pipe[0], t.subbuf, PAGE), -1);
}

/* A sub-buffer keeps room for a long time, a header of two words, and the number of losses. */
static void full_sub_buffers(void **state)
{
	const size_t full = ROOM - 24;	/* where the payload of the last record may end */
	unsigned int i, extra;

	(void)state;
	for (extra = 0; extra < 2; extra++) {
		t.page.last = 0;
		/* 20 bytes, and 8 bytes each: then 4 bytes are left, or none */
		line("[0] 1.000000: selftest id=1");
		for (i = 0; i < (full - 24) / 8 + extra; i++)
			line("[0] 1.000000: hyp_exit");
		assert_int_equal(t.shared.nr_written, 2 * extra);
		assert_int_equal(t.page.used, full - 4 + 8 * extra);
		line("[0] 1.000000: hyp_exit");
		assert_int_equal(t.shared.nr_written, 3 * extra);
		assert_int_equal(t.page.used, extra ? 8 : full + 4);
		line("[0] 1.000000: hyp_exit");
		hyptrace_tracefs_flush(&t.page);
		assert_int_equal(t.shared.nr_written, 2 + 2 * extra);
		assert_int_equal(take(NULL), full + 4);
		assert_int_equal(take(NULL), extra ? 16 : 8);
	}
}

/* A raw page with the records of these bytes, and what is found in it */
static bool raw(uint64_t commit, const void *bytes, size_t len, size_t size)
{
	char page[PAGE] __attribute__((aligned(8))) = {};
	const uint64_t head[2] = { 1000, commit };

	memcpy(page, head, sizeof(head));
	memcpy(page + sizeof(head), bytes, len);
	return hyptrace_tracefs_raw(&t.tracefs, &t.page, page, size);
}

static void edges_of_raw_pages(void **state)
{
	static const struct {
		uint32_t	word[4];
		uint64_t	commit;
		size_t		size;
		bool		is_good;
		unsigned int	events;
		uint64_t	lost;	/* told */
	} all[] = {
		{ {}, 0, 16, true, 0, 0 },
		{ {}, 0, 15, false, 0, HYPTRACE_LOST_UNKNOWN },
		/* hyp_exit, with a byte more than it needs, and exactly */
		{ { 0, 7, 4 }, 11, 27, true, 1, 0 },
		{ { 0, 6, 4 }, 10, 26, true, 1, 0 },
		{ { 0, 6, 4 }, 10, 25, false, 0, HYPTRACE_LOST_UNKNOWN },
		{ { 0, 6, 4 }, 9, 27, false, 0, HYPTRACE_LOST_UNKNOWN },
		/* without an ID, with half of it, an ID that nobody has */
		{ { 0, 4 }, 8, 64, true, 0, 1 },
		{ { 0, 5, 4 }, 9, 64, true, 0, 1 },
		{ { 0, 6, 7 }, 10, 64, true, 0, 1 },
		{ { 0, 3, 4 }, 10, 64, false, 0, HYPTRACE_LOST_UNKNOWN },
		/* a field of selftest is cut */
		{ { 0, 14, 1 }, 18, 64, true, 1, 0 },
		{ { 0, 13, 1 }, 17, 64, true, 0, 1 },
		/* the ID of a text has no text */
		{ { 0, 6, 5 }, 10, 64, true, 1, 0 },
		/* what is left after a record is too short for one */
		{ { 0, 6, 4 | 0xffff << 16, 0xffffffff }, 16, 64, true, 1, 0 },
		{ { 0, 8, 4, 0xffffffff }, 16, 64, true, 1, 0 },
		/* padding ends the page */
		{ { HYPTRACE_TYPE_PADDING, 0, 0, 6 }, 16, 64, true, 0, 0 },
		{ { HYPTRACE_TYPE_TIME_EXTEND, 1, HYPTRACE_TYPE_PADDING }, 16, 64, true, 0, 0 },
		{ { HYPTRACE_TYPE_TIME_ABSOLUTE, 6, 4 }, 16, 64, false, 0, HYPTRACE_LOST_UNKNOWN },
		/* a number of losses in the page, beyond it, and not in use */
		{ { 5 }, HYPTRACE_COMMIT_MISSED | HYPTRACE_COMMIT_STORED, 24, true, 0, 5 },
		{ { 5 }, HYPTRACE_COMMIT_MISSED | HYPTRACE_COMMIT_STORED, 23, true, 0,
		  HYPTRACE_LOST_UNKNOWN },
		{ { 5 }, HYPTRACE_COMMIT_MISSED, 24, true, 0, HYPTRACE_LOST_UNKNOWN },
		{ { 5 }, HYPTRACE_COMMIT_STORED, 24, true, 0, 0 },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < COUNT(all); i++) {
		t.page.lost = 0;
		t.page.counts.events = 0;
		t.shared.found.events = 0;
		if (raw(all[i].commit, all[i].word, sizeof(all[i].word), all[i].size) !=
		    all[i].is_good)
			fail_msg("page %u", i);
		if (t.shared.found.events != all[i].events || t.page.lost != all[i].lost)
			fail_msg("page %u: %u events, %llu lost", i,
				 (unsigned int)t.shared.found.events,
				 (unsigned long long)t.page.lost);
		hyptrace_tracefs_flush(&t.page);
		if (all[i].events || all[i].lost)
			take(NULL);
	}
}

/* A time that has no room in a record has a record of its own. */
static void long_times(void **state)
{
	const uint64_t max = (1 << HYPTRACE_DELTA_BITS) - 1;
	static const uint64_t more[] = { 0, 1, 1ULL << 33, 5 };
	unsigned int i;

	(void)state;
	for (i = 0; i < COUNT(more); i++) {
		const uint64_t delta = max + more[i];
		const uint32_t long_time[] = {
			hyptrace_record_header(HYPTRACE_TYPE_TIME_EXTEND, delta & max),
			delta >> HYPTRACE_DELTA_BITS,
		};
		char bytes[32];
		size_t at = put_raw(bytes, 0, 0, "\x04\0", 2);

		memcpy(bytes + at, long_time, sizeof(long_time));
		at = put_raw(bytes, at + sizeof(long_time), 0, "\x04\0", 2);
		t.page.last = 0;
		assert_true(raw(at, bytes, at, PAGE));
		hyptrace_tracefs_flush(&t.page);
		assert_int_equal(take(NULL), more[i] ? 24 : 16);
		assert_int_equal(hyptrace_decoder_load(&t.dec, t.subbuf, PAGE, NULL), 0);
		assert_int_equal(next().ts, 1000);
		assert_int_equal(next().ts, 1000 + delta);
	}
}

/* All of a text that is shorter than 96 bytes */
static void long_texts(void **state)
{
	char text[200] = "[0] 1.000000: func ";
	struct hyptrace_record rec;
	unsigned int len, had;

	(void)state;
	had = strlen(text);
	for (len = 94; len <= 97; len++) {
		memset(text + had, 'x', len);
		text[had + len] = 0;
		line(text);
		hyptrace_tracefs_flush(&t.page);
		rec = next();
		assert_int_equal(rec.size, 100);
		assert_int_equal(strlen((const char *)rec.data + 2), len < 96 ? len : 95);
	}
}

/* Lines of a raw pipe, of an event whose text does not tell the fields: these are 0. */
static void lines_without_fields(void **state)
{
	struct hyptrace_record rec;

	(void)state;
	assert_true(hyptrace_tracefs_parse_format(&t.events[5], true));
	assert_int_equal(t.events[5].nr_pieces, 0);
	line("[0] 1.000000: __hyp_printk mapped");
	hyptrace_tracefs_flush(&t.page);
	rec = next();
	assert_int_equal(field(&rec, "fmt_id"), 0);
	assert_int_equal(t.shared.found.lost, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_fields),
		cmocka_unit_test(sizes_and_offsets),
		cmocka_unit_test(parts_of_formats),
		cmocka_unit_test(print_formats),
		cmocka_unit_test_setup_teardown(names_of_reasons, setup, teardown),
		cmocka_unit_test_setup_teardown(parts_of_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(numbers_before_letters, setup, teardown),
		cmocka_unit_test_setup_teardown(numbers_of_losses, setup, teardown),
		cmocka_unit_test_setup_teardown(heads_of_sub_buffers, setup, teardown),
		cmocka_unit_test_setup_teardown(many_sub_buffers, setup, teardown),
		cmocka_unit_test_setup_teardown(failed_write, setup, teardown),
		cmocka_unit_test_setup_teardown(full_sub_buffers, setup, teardown),
		cmocka_unit_test_setup_teardown(edges_of_raw_pages, setup, teardown),
		cmocka_unit_test_setup_teardown(long_times, setup, teardown),
		cmocka_unit_test_setup_teardown(long_texts, setup, teardown),
		cmocka_unit_test_setup_teardown(lines_without_fields, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
