// SPDX-License-Identifier: GPL-2.0-only
/*
 * The headers of version 6 that other programs write: options, the names of functions, of tasks and
 * of trace_printk(), and each part that is missing, wrong or too large.
 */
#include "lib/internal.h"
#include "file_case.h"

#define COMMON \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define BPRINT "name: bprint\nID: 6\nformat:\n" COMMON \
	"\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n" \
	"\tfield:const char * fmt;\toffset:16;\tsize:8;\tsigned:0;\n" \
	"\tfield:u32 buf[];\toffset:24;\tsize:0;\tsigned:0;\n\n" \
	"print fmt: \"%ps: %s\", (void *)REC->ip, REC->fmt\n"
#define TICK "name: tick\nID: 7\nformat:\n" COMMON \
	"\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n" \
	"\tfield:int nr;\toffset:16;\tsize:4;\tsigned:1;\n\n" \
	"print fmt: \"%pS nr=%d\", (void *)REC->ip, REC->nr\n"

#define PAGE_TEXT	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
/* libtraceevent knows the end of a function only by the next one. */
#define END		"2000 T end\n"
/* Sub-buffers begin there. */
#define DATA_AT		(256 << 10)
#define SUBBUF		1024
/* The headers of a further trace buffer, at most */
#define INSTANCE_AT	(DATA_AT - 1024)

/* What is written: of a text that is NULL, nothing */
struct head {
	const char	*version;
	const char	*page_name, *page;
	uint64_t	page_size;	/* that the head says; 0 for that of the text */
	const char	*ftrace;	/* a format */
	const char	*event;		/* a format of the system "test" */
	const char	*functions, *printk, *tasks;
	uint32_t	nr_cpus;
	const char	*options;	/* bytes, without the last option */
	size_t		options_size;
	const char	*tag;
	bool		has_instance;	/* a further trace buffer, whose CPU 0 has the event */
	bool		is_empty;	/* the first one has no event */
	uint32_t	subbuf;
	const uint32_t	*record;	/* the payload of the only event */
	uint32_t	words;
	bool		is_32;	/* a commit word of 4 bytes */
};

static const uint32_t tick[] = { 7, 42, 0x1010, 0, 5 };

static const struct head whole = {
	.version = "6", .page_name = "header_page", .page = PAGE_TEXT, .ftrace = BPRINT,
	.event = TICK, .functions = "1000 T fun\n" END, .printk = "0x2000 : \"x=%d\\n\"\n",
	.tasks = "42 a task\n", .nr_cpus = 1, .tag = "flyrecord", .subbuf = SUBBUF,
	.record = tick, .words = 5,
};

static void put_u16(FILE *f, uint16_t value)
{
	fwrite(&value, sizeof(value), 1, f);
}

static void put_u32(FILE *f, uint32_t value)
{
	fwrite(&value, sizeof(value), 1, f);
}

static void put_u64(FILE *f, uint64_t value)
{
	fwrite(&value, sizeof(value), 1, f);
}

static void put_string(FILE *f, const char *text)
{
	fwrite(text, strlen(text) + 1, 1, f);
}

static void put_named(FILE *f, const char *name, const char *text, uint64_t size)
{
	put_string(f, name);
	put_u64(f, size ? size : strlen(text));
	fputs(text, f);
}

static void put_formats(FILE *f, const char *format)
{
	put_u32(f, format ? 1 : 0);
	if (!format)
		return;
	put_u64(f, strlen(format));
	fputs(format, f);
}

static void put_sized(FILE *f, const char *text)
{
	put_u32(f, strlen(text));
	fputs(text, f);
}

/* A sub-buffer with the event */
static void put_data(const struct head *head, FILE *f, uint64_t ts)
{
	put_u64(f, ts);
	if (head->is_32)
		put_u32(f, (head->words + 1) * 4);
	else
		put_u64(f, (head->words + 1) * 4);
	put_u32(f, hyptrace_record_header(head->words, 1));
	fwrite(head->record, 4, head->words, f);
	while ((ftell(f) - DATA_AT) % SUBBUF)
		fputc(0, f);
}

static void make(const struct head *head)
{
	FILE *f = fopen(path, "w");
	uint32_t i;

	assert_non_null(f);
	fwrite("\x17\x08\x44tracing", 10, 1, f);
	put_string(f, head->version);
	fputc(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, f);
	fputc(8, f);
	put_u32(f, head->subbuf);
	put_named(f, head->page_name, head->page, head->page_size);
	put_named(f, "header_event", "", 0);
	put_formats(f, head->ftrace);
	put_u32(f, head->event ? 1 : 0);
	if (head->event) {
		put_string(f, "test");
		put_formats(f, head->event);
	}
	put_sized(f, head->functions);
	put_sized(f, head->printk);
	put_u64(f, strlen(head->tasks));
	fputs(head->tasks, f);
	put_u32(f, head->nr_cpus);
	if (head->options) {
		fwrite("options  ", 10, 1, f);
		fwrite(head->options, head->options_size, 1, f);
		put_u16(f, 0);
	}
	fwrite(head->tag, 10, 1, f);
	for (i = 0; i < head->nr_cpus && i < 3; i++) {
		put_u64(f, DATA_AT);
		put_u64(f, i || head->is_empty ? 0 : SUBBUF);
	}
	if (head->has_instance) {
		fseek(f, INSTANCE_AT, SEEK_SET);
		fwrite("flyrecord", 10, 1, f);
		put_u64(f, DATA_AT + SUBBUF);
		put_u64(f, SUBBUF);
	}
	fseek(f, DATA_AT, SEEK_SET);
	put_data(head, f, 1000);
	put_data(head, f, 2000);
	fclose(f);
}

static struct hyptrace_file *good(const struct head *head)
{
	struct hyptrace_file *file;

	make(head);
	file = hyptrace_file_open(path, &err);
	if (!file)
		fail_msg("%s", err.text);
	return file;
}

static void bad(const struct head *head, const char *said)
{
	make(head);
	assert_null(hyptrace_file_open(path, &err));
	assert_int_equal(err.errnum, EBADMSG);
	if (!strstr(err.text, said))
		fail_msg("\"%s\" is not in: %s", said, err.text);
}

/* The only event is printed like this. */
static void prints(const struct head *head, const char *task, const char *said)
{
	struct hyptrace_file *file = good(head);
	struct hyptrace_formats *fmts = hyptrace_file_info(file)->formats;
	const struct hyptrace_stream_event *event;
	const struct hyptrace_event *known;
	const char *text;
	size_t len;

	assert_int_equal(hyptrace_file_next(file, &event, &err), 1);
	known = hyptrace_formats_event(fmts, &event->record);
	assert_non_null(known);
	text = hyptrace_formats_task(fmts, &event->record, &len);
	if (!strstr(text, task))
		fail_msg("\"%s\" is not in: %s", task, text);
	text = hyptrace_formats_text(fmts, known, &event->record, &len);
	if (strlen(said) != len || memcmp(text, said, len))
		fail_msg("\"%.*s\" instead of \"%s\"", (int)len, text, said);
	hyptrace_file_close(file);
}

static void functions(void **state)
{
	static const struct {
		const char *functions;
		const char *said;
	} cases[] = {
		{ "1000 T fun\n" END, "fun+0x10 nr=5" }, { END "1000 t fun", "fun+0x10 nr=5" },
		{ "fff T a\n1000 T fun\n" END, "fun+0x10 nr=5" },
		{ "1000 T  fun\n" END, "fun+0x10 nr=5" },
		{ "1000 T fun [mod]\n" END, "fun+0x10 nr=5" },
		{ "1000 T fun\t[mod]\n" END, "fun+0x10 nr=5" },
		/* these are none */
		{ "x T fun\n" END, "0x1010 nr=5" }, { " T fun\n" END, "0x1010 nr=5" },
		{ "1000 1 fun\n" END, "0x1010 nr=5" }, { "1000 TT fun\n" END, "0x1010 nr=5" },
		{ "1000T fun\n" END, "0x1010 nr=5" }, { "1000 T\40\n" END, "0x1010 nr=5" },
		{ "1000\n" END, "0x1010 nr=5" }, { "\n\n" END, "0x1010 nr=5" },
		{ "", "0x1010 nr=5" },
	};
	struct head head = whole;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		head.functions = cases[i].functions;
		prints(&head, "a task-42", cases[i].said);
	}
}

static void tasks(void **state)
{
	static const struct {
		const char *tasks;
		const char *said;
	} cases[] = {
		{ "42 a task\n", " a task-42" }, { "42 a task", " a task-42" },
		{ "41 b\n42 c\n43 d\n", " c-42" }, { "042 e\n", " e-42" },
		{ "42\n", "<...>-42" }, { "x\n", "<...>-42" }, { "2a task\n", "<...>-42" },
		{ "4294967338 f\n", "<...>-42" }, { "42\tf\n", "<...>-42" }, { "", "<...>-42" },
	};
	struct head head = whole;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		head.tasks = cases[i].tasks;
		prints(&head, cases[i].said, "fun+0x10 nr=5");
	}
}

static void texts_of_printk(void **state)
{
	/* of the function at 0x1000, the format at 0x2000, and its argument */
	static const uint32_t record[] = { 6, 42, 0x1000, 0, 0x2000, 0, 9 };
	static const struct {
		const char *printk;
		const char *said;
	} cases[] = {
		{ "0x2000 : \"x=%d\\n\"\n", "fun: x=9" }, { "2000 : \"x=%d\"\n", "fun: x=9" },
		{ "0x2000 : x=%d\n", "fun: x=9" }, { "0x2000 : \"long\"\n", "fun: long" },
		/* it is too short, or none */
		{ "0x2000 : \"abc\"\n", "fun: (NO FORMAT FOUND at 2000)" },
		{ "0x2000: \"x=%d\"\n", "fun: (NO FORMAT FOUND at 2000)" },
	};
	struct head head = whole;
	unsigned int i;

	(void)state;
	head.record = record;
	head.words = 7;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		head.printk = cases[i].printk;
		prints(&head, "a task-42", cases[i].said);
	}
}

/* Only so long a name is used. */
static void long_names(void **state)
{
	char name[640], said[700];
	struct head head = whole;
	unsigned int len;

	(void)state;
	head.functions = name;
	for (len = 512; len <= 513; len++) {
		snprintf(name, sizeof(name), "1000 T %0*d\n" END, len, 7);
		snprintf(said, sizeof(said), "%0*d+0x10 nr=5", len, 7);
		prints(&head, "a task", len == 512 ? said : "0x1010 nr=5");
	}
	/* with that of the module, which is not printed */
	for (len = 500; len <= 501; len++) {
		snprintf(name, sizeof(name), "1000 T %0*d [012345678901]\n" END, len, 7);
		snprintf(said, sizeof(said), "%0*d+0x10 nr=5", len, 7);
		prints(&head, "a task", len == 500 ? said : "0x1010 nr=5");
	}
}

/* After so many names of a kind, further ones are not used. */
static void many_names(void **state)
{
	static const char other[] = "7 b\n";
	static char tasks[32768 * 4 + 16];
	struct head head = whole;
	char *to = tasks;
	unsigned int i;

	(void)state;
	head.tasks = tasks;
	for (i = 0; i < 32767; i++)
		to = stpcpy(to, other);
	strcpy(to, "42 a task\n");
	prints(&head, "a task-42", "fun+0x10 nr=5");
	strcpy(stpcpy(to, other), "42 a task\n");
	prints(&head, "<...>-42", "fun+0x10 nr=5");
}

/* An option; @extra: how much larger it says it is */
static void option(struct head *head, char *to, uint16_t id, const char *text, size_t size,
		   int32_t extra)
{
	uint32_t says = size + extra;

	to += head->options_size;
	memcpy(to, &id, 2);
	memcpy(to + 2, &says, 4);
	memcpy(to + 6, text, size);
	head->options_size += 6 + size;
}

static void options(void **state)
{
	static char bytes[32768], text[4097];
	const struct hyptrace_file_info *info;
	struct hyptrace_file *file;
	struct head head = whole;

	(void)state;
	head.options = bytes;
	option(&head, bytes, OPTION_CLOCK, "local [global] counter\n", 24, 0);
	option(&head, bytes, OPTION_UNAME, "Linux\nmore", 10, 0);
	option(&head, bytes, 99, "unknown", 7, 0);
	option(&head, bytes, OPTION_RECORDER, "a recorder", 11, 0);
	/* the first one counts */
	option(&head, bytes, OPTION_CLOCK, "[mono]", 7, 0);
	option(&head, bytes, OPTION_UNAME, "Hurd", 5, 0);
	option(&head, bytes, OPTION_RECORDER, "another", 8, 0);
	option(&head, bytes, OPTION_CPUCOUNT, "\1\0\0\0", 4, 0);
	file = good(&head);
	info = hyptrace_file_info(file);
	assert_string_equal(info->clock, "global");
	assert_string_equal(info->uname, "Linux");
	assert_string_equal(info->recorder, "a recorder");
	assert_int_equal(info->version, 6);
	hyptrace_file_close(file);
	/* without brackets */
	head.options_size = 0;
	option(&head, bytes, OPTION_CLOCK, "mono", 4, 0);
	file = good(&head);
	assert_string_equal(hyptrace_file_info(file)->clock, "mono");
	hyptrace_file_close(file);
	head.options_size = 0;
	option(&head, bytes, OPTION_CLOCK, "a [mono", 7, 0);
	file = good(&head);
	assert_string_equal(hyptrace_file_info(file)->clock, "a [mono");
	hyptrace_file_close(file);
	/* longer ones are skipped */
	memset(text, 'u', sizeof(text));
	head.options_size = 0;
	option(&head, bytes, OPTION_UNAME, text, 4097, 0);
	option(&head, bytes, OPTION_RECORDER, text, 4096, 0);
	file = good(&head);
	info = hyptrace_file_info(file);
	assert_null(info->uname);
	assert_int_equal(strlen(info->recorder), 4096);
	hyptrace_file_close(file);
	/* one that is larger than the file */
	head.options_size = 0;
	option(&head, bytes, 99, "unknown", 7, 1 << 20);
	bad(&head, "options: a size is larger than the file");
	head.options_size = 0;
	option(&head, bytes, OPTION_UNAME, "unknown", 7, 1 << 20);
	bad(&head, "options: a size is larger than the file");
}

/* The first trace buffer that has events is read. */
static void instances(void **state)
{
	static char bytes[64];
	const struct hyptrace_stream_event *event;
	const uint64_t at = INSTANCE_AT;
	struct hyptrace_file *file;
	struct head head = whole;
	char buffer[16];
	unsigned int i;

	(void)state;
	memcpy(buffer, &at, 8);
	strcpy(buffer + 8, "more");
	head.options = bytes;
	option(&head, bytes, OPTION_BUFFER, buffer, 13, 0);
	/* a third buffer is nowhere */
	option(&head, bytes, OPTION_BUFFER, "\1\0\0\0\0\0\0\0last", 13, 0);
	head.has_instance = true;
	for (i = 0; i < 2; i++) {
		head.is_empty = i;
		file = good(&head);
		assert_int_equal(hyptrace_file_next(file, &event, &err), 1);
		assert_int_equal(event->record.ts, i ? 2001 : 1001);
		assert_int_equal(hyptrace_file_next(file, &event, &err), -ENODATA);
		hyptrace_file_close(file);
	}
	/* it is not where the option says */
	head.has_instance = false;
	bad(&head, "the kind of its data: it is unknown");
}

static void wrong_parts(void **state)
{
	struct head head = whole;
	struct hyptrace_file *file;
	uint64_t size;

	(void)state;
	prints(&head, "a task-42", "fun+0x10 nr=5");
	head.version = "5";
	bad(&head, "it has an unknown version of the file format");
	head.version = "66";
	bad(&head, "it has an unknown version of the file format");
	head = whole;
	head.page_name = "header_pag";
	bad(&head, "the format of a page: a header is missing");
	head = whole;
	for (size = DATA_AT + 2 * SUBBUF; size; size *= 2) {
		head.page_size = size;
		bad(&head, "the format of a page: a size is larger than the file");
	}
	head.page_size = UINT64_MAX;
	bad(&head, "the format of a page: a size is larger than the file");
	head = whole;
	head.tag = "flyrecorx";
	bad(&head, "the kind of its data: it is unknown");
	head.tag = "latency  ";
	bad(&head, "the kind of its data: it is unknown");
	head = whole;
	head.nr_cpus = 65537;
	bad(&head, "the number of CPUs: it is too large");
	head = whole;
	for (head.subbuf = 1; head.subbuf < 2048; head.subbuf *= 2) {
		if (head.subbuf < 1024)
			bad(&head, "the size of a sub-buffer is wrong");
		else
			hyptrace_file_close(good(&head));
	}
	head.subbuf = 1 << 20;
	hyptrace_file_close(good(&head));
	head.subbuf = 1 << 21;
	bad(&head, "the size of a sub-buffer is wrong");
	head.subbuf = 1023;
	bad(&head, "the size of a sub-buffer is wrong");
	/* without formats, nothing is known of an event */
	head = whole;
	head.event = NULL;
	head.ftrace = NULL;
	file = good(&head);
	assert_int_equal(hyptrace_file_info(file)->nr_events, 0);
	hyptrace_file_close(file);
}

/* In a kernel of 32 bits, an unsigned long has 4 bytes. */
static void long_sizes(void **state)
{
	struct head head = whole;
	char page[1200];
	const char *text;
	unsigned int at;

	(void)state;
	head.event = "name: tick\nID: 7\nformat:\n" COMMON
		"\tfield:unsigned long ip;\toffset:8;\tsize:4;\tsigned:0;\n"
		"\tfield:int nr;\toffset:16;\tsize:4;\tsigned:1;\n\n"
		"print fmt: \"%lx nr=%d\", REC->ip, REC->nr\n";
	prints(&head, "a task", "1010 nr=5");
	head.page = "\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n";
	head.is_32 = true;
	prints(&head, "a task", "1010 nr=5");
	/* what is behind 1023 bytes is not looked at: first, the number is the last byte */
	text = head.page;
	head.page = page;
	for (at = 983; at <= 984; at++) {
		memset(page, ' ', sizeof(page));
		strcpy(page + at, text);
		head.is_32 = at == 983;
		prints(&head, "a task", "1010 nr=5");
	}
}

/* An event whose print format is not well formed is printed field by field, if it is known. */
static void odd_formats(void **state)
{
	struct head head = whole;
	struct hyptrace_file *file;

	(void)state;
	head.event = "name: tick\nID: 7\nformat:\n" COMMON
		"\tfield:int nr;\toffset:16;\tsize:4;\tsigned:1;\n\n"
		"print fmt: \"%d\", kernel_function(REC->nr)\n";
	prints(&head, "a task", "common_flags=0 common_preempt_count=0 common_pid=42 nr=5");
	/* it has no room for another one */
	head.event = "name: tick\nID: 7\nformat:\n" COMMON
		"\tfield:int nr;\toffset:16;\tsize:4;\tsigned:1;\n\nprint fmt:x";
	file = good(&head);
	assert_int_equal(hyptrace_file_info(file)->nr_events, 1);
	hyptrace_file_close(file);
	head.event = "name: tick\nID: 7\nformat:\n" COMMON
		"\tfield:int nr;\toffset:16;\tsize:x;\tsigned:1;\n\nprint fmt: \"%d\", REC->nr\n";
	file = good(&head);
	assert_int_equal(hyptrace_file_info(file)->nr_events, 1);
	assert_string_equal(hyptrace_file_info(file)->events[0]->name, "bprint");
	hyptrace_file_close(file);
}

/* The names of a field's values are those of its first use in the print format. */
static void symbols(void **state)
{
	const struct hyptrace_event *event;
	const struct hyptrace_field *field;
	struct head head = whole;
	struct hyptrace_file *file;

	(void)state;
	head.event = "name: tick\nID: 7\nformat:\n" COMMON
		"\tfield:int nr;\toffset:16;\tsize:4;\tsigned:1;\n\n"
		"print fmt: \"%s %s %s\", __print_symbolic(REC->common_type, { 7, \"seven\" }), "
		"__print_symbolic(REC->nr, { 5, \"five\" }, { 6, \"six\" }), "
		"__print_symbolic(REC->nr, { 5, \"many\" })\n";
	prints(&head, "a task", "seven five many");
	file = good(&head);
	event = hyptrace_file_info(file)->events[1];
	assert_string_equal(event->name, "tick");
	field = hyptrace_event_field(event, "nr");
	assert_non_null(field);
	assert_int_equal(field->nr_symbols, 2);
	assert_string_equal(field->symbols[0]->name, "five");
	assert_string_equal(field->symbols[1]->name, "six");
	hyptrace_file_close(file);
}

/* A record may lack the end of an array, but not a number. */
static void short_records(void **state)
{
	const struct hyptrace_stream_event *event;
	struct hyptrace_file *file;
	struct head head = whole;

	(void)state;
	head.event = "name: tick\nID: 7\nformat:\n" COMMON
		"\tfield:int nr;\toffset:16;\tsize:4;\tsigned:1;\n"
		"\tfield:int values[4];\toffset:20;\tsize:16;\tsigned:1;\n\n"
		"print fmt: \"nr=%d\", REC->nr\n";
	prints(&head, "a task", "common_flags=0 common_preempt_count=0 common_pid=42 nr=5");
	head.words = 4;
	file = good(&head);
	assert_int_equal(hyptrace_file_next(file, &event, &err), 1);
	assert_null(hyptrace_formats_event(hyptrace_file_info(file)->formats, &event->record));
	hyptrace_file_close(file);
}

/* A field that is farther away than any record has bytes is not read. */
static void far_fields(void **state)
{
	struct head head = whole;

	(void)state;
	head.event = "name: tick\nID: 7\nformat:\n" COMMON
		"\tfield:int nr;\toffset:16;\tsize:4;\tsigned:1;\n"
		"\tfield:int far;\toffset:65536;\tsize:4;\tsigned:1;\n\n"
		"print fmt: \"nr=%d\", REC->nr\n";
	prints(&head, "a task", "common_flags=0 common_preempt_count=0 common_pid=42 nr=5");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions), cmocka_unit_test(tasks),
		cmocka_unit_test(texts_of_printk), cmocka_unit_test(long_names),
		cmocka_unit_test(options), cmocka_unit_test(instances),
		cmocka_unit_test(wrong_parts),
		cmocka_unit_test(long_sizes), cmocka_unit_test(odd_formats),
		cmocka_unit_test(many_names), cmocka_unit_test(symbols),
		cmocka_unit_test(short_records), cmocka_unit_test(far_fields),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
