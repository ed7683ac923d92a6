// SPDX-License-Identifier: GPL-2.0-only
/*
 * The exports to CTF, CSV, JSON Lines, Chrome's JSON and collapsed stacks: what rarely happens in
 * a trace. tests/files has real traces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <sys/resource.h>

#include "../../tools/hyptrace/sink/ctf/export_ctf.h"
#include "allocated.h"
#include "export_case.h"

#define US	UINT64_C(1000)

/* Stacks in export_collapsed.c at most */
#define STACKS_MAX	16384

static void expect_export(const char *expected)
{
	char *text = end_export();

	assert_string_equal(text, expected);
	free(text);
}

#define ASSERT_HAS(text, part)	assert_non_null(strstr(text, part))

/* Collapsed stacks */

static void nested_parts(void **state)
{
	(void)state;
	begin_export("collapsed", false);
	PUT(100, 0, hyp_enter, .reason = 0);
	PUT(150, 0, psci_call, .func = 0x84000000, .duration = 20);
	PUT(180, 0, host_smc, .id = 0x84000000, .duration = 60);
	PUT(190, 0, host_hcall, .id = 9, .duration = 5);
	PUT(200, 0, hyp_exit, .reason = 6);
	expect_export("el2;smc 35\n"
		      "el2;smc;PSCI_VERSION 40\n"
		      "el2;smc;PSCI_VERSION;PSCI_VERSION 20\n"
		      "el2;smc;opaque 5\n");
}

static void guest_in_a_hypercall(void **state)
{
	(void)state;
	begin_export("collapsed", false);
	PUT(100, 1, hyp_enter, .reason = 1);
	PUT(110, 1, hyp_exit, .reason = 7);
	PUT(1000, 1, hyp_enter, .reason = 5);
	PUT(1020, 1, guest_fixup, .ec = 1, .duration = 10);
	PUT(1030, 1, guest_exit, .code = 2, .ec = 0x24, .handle = 16, .index = 2, .duration = 925);
	/* it began long before: only its time of this stay counts */
	PUT(1040, 1, host_hcall, .id = 9, .duration = 935);
	PUT(1050, 1, hyp_exit, .reason = 6);
	expect_export("el2;guest_exit;DABT_LOW 10\n"
		      "el2;guest_exit;DABT_LOW;opaque 30\n"
		      "el2;guest_exit;DABT_LOW;opaque;guest_fixup WFx 10\n"
		      "el2;hvc;eret_guest 10\n"
		      "guest;VM 0x10;vCPU 2;DABT_LOW 890\n");
}

static void stays_with_losses(void **state)
{
	(void)state;
	begin_export("collapsed", false);
	PUT(100, 0, hyp_exit, .reason = 6);
	PUT(200, 0, hyp_enter, .reason = 1);
	put_loss(0, 300, 5);
	PUT(300, 0, host_hcall, .id = 9, .duration = 30);
	PUT(310, 0, hyp_exit, .reason = 6);
	PUT(400, 0, hyp_enter, .reason = 99);
	put_unknown(405, 0);
	PUT(410, 0, hyp_exit, .reason = 6);
	PUT(500, 0, hyp_enter, .reason = 1);
	expect_export("el2;unknown 10\n");
}

/* EL2 records functions at the end; they are parts of a call, or the other way round. */
static void put_functions(void)
{
	PUT(100 * US, 0, hyp_enter, .reason = 1);
	PUT(180 * US, 0, host_hcall, .id = 9, .duration = 70 * US);
	PUT(190 * US, 0, func, .id = 3, .depth = 2, .duration = 10 * US, .ago = 50 * US);
	PUT(190 * US, 0, func, .id = 1, .depth = 1, .duration = 40 * US, .ago = 20 * US);
	PUT(190 * US, 0, func, .id = 0, .depth = 0, .duration = 80 * US, .ago = 5 * US);
	PUT(200 * US, 0, hyp_exit, .reason = 6);
}

static void functions_as_stacks(void **state)
{
	(void)state;
	begin_export("collapsed", false);
	put_functions();
	expect_export("el2;hvc 20000\n"
		      "el2;hvc;handle_host_hcall 10000\n"
		      "el2;hvc;handle_host_hcall;opaque 30000\n"
		      "el2;hvc;handle_host_hcall;opaque;handle___share 30000\n"
		      "el2;hvc;handle_host_hcall;opaque;handle___share;inner 10000\n");
}

static void too_many_stacks(void **state)
{
	unsigned int i;
	char *text;

	(void)state;
	begin_export("collapsed", false);
	for (i = 0; i < STACKS_MAX + 5; i++)
		PUT(100 + i, 0, guest_exit, .code = 2, .ec = 0x24, .handle = i, .duration = 3);
	PUT(1000000, 0, guest_exit, .code = 2, .ec = 0x24, .handle = 7, .duration = 30);
	PUT(1000010, 0, host_hcall, .id = 9, .duration = 4);
	text = end_export();
	ASSERT_HAS(text, "guest;(other) 15\n");
	ASSERT_HAS(text, "el2;opaque 4\n");
	ASSERT_HAS(text, "guest;VM 0x7;vCPU 0;DABT_LOW 33\n");
	free(text);
}

static void guest_without_stays(void **state)
{
	(void)state;
	/* only calls and exits: the call has the time of the guest, too */
	begin_export("collapsed", false);
	PUT(1030, 1, guest_exit, .code = 2, .ec = 0x24, .handle = 16, .index = 2, .duration = 925);
	PUT(1040, 1, host_hcall, .id = 9, .duration = 935);
	PUT(1100, 1, host_hcall, .id = 9, .duration = 7);
	expect_export("guest;VM 0x10;vCPU 2;DABT_LOW 925\n"
		      "el2;opaque 17\n");
	/* of the first call the hyp_enter is lost */
	begin_export("collapsed", false);
	put_loss(1, 90, 3);
	PUT(100, 1, host_hcall, .id = 9, .duration = 50);
	PUT(110, 1, hyp_exit, .reason = 6);
	PUT(200, 1, hyp_enter, .reason = 1);
	PUT(210, 1, hyp_exit, .reason = 6);
	expect_export("el2;hvc 10\n");
}

/* Chrome's JSON */

static unsigned int count(const char *text, const char *what)
{
	unsigned int nr = 0;

	for (text = strstr(text, what); text; text = strstr(text + 1, what))
		nr++;
	return nr;
}

static void slices_that_are_missing(void **state)
{
	char *text;

	(void)state;
	begin_export("chrome", false);
	PUT(50 * US, 0, hyp_exit, .reason = 6);
	PUT(100 * US, 0, hyp_enter, .reason = 1);
	PUT(150 * US, 0, selftest, .id = 7);
	put_loss(0, 200 * US, 5);
	PUT(300 * US, 0, hyp_exit, .reason = 6);
	PUT(400 * US, 0, hyp_enter, .reason = 1);
	PUT(500 * US, 0, hyp_enter, .reason = 2);
	put_loss(1, 600 * US, HYPTRACE_LOST_UNKNOWN);
	put_unknown(700 * US + 1, 0);
	text = end_export();
	assert_int_equal(count(text, "\"ph\":\"X\""), 3);
	/* up to the last event before a loss, the next entry, and the end */
	ASSERT_HAS(text, "\"tid\":0,\"ts\":100.000,\"dur\":50.000,");
	ASSERT_HAS(text, "\"tid\":0,\"ts\":400.000,\"dur\":100.000,");
	ASSERT_HAS(text, "\"tid\":0,\"ts\":500.000,\"dur\":200.001,");
	ASSERT_HAS(text, "\"ts\":200.000,\"s\":\"t\",\"name\":\"LOST\",\"args\":{\"lost\":5}}");
	ASSERT_HAS(text, "\"name\":\"LOST\",\"args\":{\"lost\":null}}");
	ASSERT_HAS(text, "\"ts\":700.001,\"s\":\"t\",\"name\":\"unknown\"}");
	free(text);
}

static void functions_as_slices(void **state)
{
	const char *outer, *inner;
	char *text;

	(void)state;
	begin_export("chrome", false);
	put_functions();
	/* a guest's run is in the first one, which is on the thread of long calls, as are calls */
	PUT(300 * US, 0, hyp_enter, .reason = 5);
	PUT(310 * US, 0, func, .id = 4, .depth = 1, .duration = 2 * US, .ago = 4 * US);
	PUT(310 * US, 0, func, .id = 2, .depth = 0, .duration = 100 * US, .ago = 1 * US);
	text = end_export();
	outer = strstr(text, "\"tid\":0,\"ts\":105.000,\"dur\":80.000,\"name\":\"handle_host_hcall\",\"args\":{\"event\":\"func\",\"self\":40000}}");
	inner = strstr(text, "\"tid\":0,\"ts\":130.000,\"dur\":10.000,\"name\":\"inner\",");
	assert_non_null(outer);
	assert_non_null(inner);
	/* viewers keep the order of slices that take as long */
	assert_true(outer < inner);
	ASSERT_HAS(text, "\"tid\":0,\"ts\":304.000,\"dur\":2.000,\"name\":\"leaf\",");
	ASSERT_HAS(text, "\"tid\":1048576,\"ts\":209.000,\"dur\":100.000,\"name\":\"outer\",");
	free(text);
}

static void arguments_of_slices(void **state)
{
	char *text;

	(void)state;
	begin_export("chrome", false);
	PUT(90 * US, 0, hyp_enter, .reason = 1);
	PUT(100 * US, 0, host_hcall, .id = 1, .arg1 = 5, .arg2 = 6, .arg3 = 7, .ret = -1,
	    .duration = 1500);
	PUT(200 * US, 0, guest_exit, .code = 0, .vcpu = 77, .handle = 16, .index = 2,
	    .duration = 2 * US);
	PUT(201 * US, 0, guest_exit, .code = 0, .vcpu = 77, .handle = 16, .index = 2,
	    .duration = 500 * US);
	PUT(202 * US, 0, host_hcall, .id = 1, .duration = 150 * US);
	PUT(300 * US, 0, hyp_pool, .op = 1, .left = 12, .pool = 0x48000);
	text = end_export();
	/* it has begun before the CPU came to EL2: a slice of the CPU's thread would not nest */
	ASSERT_HAS(text, "{\"ph\":\"X\",\"pid\":1,\"tid\":1048576,\"ts\":52.000,\"dur\":150.000,");
	ASSERT_HAS(text, "\"tid\":1048576,\"name\":\"thread_name\",\"args\":{\"name\":\"CPU 0, long calls\"}");
	ASSERT_HAS(text, "{\"ph\":\"X\",\"pid\":1,\"tid\":0,\"ts\":98.500,\"dur\":1.500,\"name\":\"__share\","
		   "\"args\":{\"event\":\"host_hcall\",\"invalid\":0,\"id\":\"__share\",\"pfn\":\"0x5\","
		   "\"nr_pages\":\"0x6\",\"ret\":\"-EPERM\","
		   "\"text\":\"__share(pfn=0x5, nr_pages=6) = -EPERM <1.500 us>\"}}");
	assert_int_equal(count(text, "\"args\":{\"name\":\"VM 0x10 vCPU 2\"}"), 1);
	ASSERT_HAS(text, "{\"ph\":\"X\",\"pid\":2,\"tid\":77,\"ts\":198.000,\"dur\":2.000");
	/* it cannot have begun before time 0 */
	ASSERT_HAS(text, "{\"ph\":\"X\",\"pid\":2,\"tid\":77,\"ts\":0.000,\"dur\":201.000");
	ASSERT_HAS(text, "\"name\":\"pool 0x48000\",\"args\":{\"free pages\":12}}");
	free(text);
}

/* JSON Lines and CSV */

static void lines(void **state)
{
	(void)state;
	begin_export("jsonl", false);
	PUT(5, 0, selftest, .id = UINT64_MAX);
	put_loss(1, 6, 17);
	put_loss(1, 6, HYPTRACE_LOST_UNKNOWN);
	put_unknown(UINT64_MAX, 4095);
	expect_export("{\"cpu\":0,\"ts\":\"5\",\"event\":\"selftest\",\"fields\":{\"id\":\"18446744073709551615\"}}\n"
		      "{\"cpu\":1,\"ts\":\"6\",\"lost\":17}\n"
		      "{\"cpu\":1,\"ts\":\"6\",\"lost\":null}\n"
		      "{\"cpu\":4095,\"ts\":\"18446744073709551615\",\"event\":null,\"id\":999,\"size\":8}\n");
}

/* Export only some events: the others have no columns. */
static void chosen_columns(void **state)
{
	bool wanted[UINT16_MAX + 1] = {};

	(void)state;
	wanted[event_of("hyp_pool")->id] = true;
	wanted[event_of("selftest")->id] = true;
	begin_export("csv", false);
	free(end_export());
	/* begin again, now with the choice */
	begin_formats();
	x.formats = formats;
	x.origin = origin_new(&info);
	x.model = hyptrace_model_new(formats, NULL);
	x.wanted = wanted;
	out_init(&x_out, memfd_create("out", 0));
	assert_int_equal(x_format->begin(&x), EXIT_DONE);
	PUT(5, 0, selftest, .id = 7);
	PUT(123456789012, 1, hyp_pool, .op = 1, .order = 2, .left = 3, .pool = 4);
	put_loss(1, 123456789013, 17);
	put_loss(1, 123456789013, HYPTRACE_LOST_UNKNOWN);
	put_unknown(1, 2);
	expect_export("ts,cpu,event,lost,id,op,op_name,order,left,pool,machine,boot,kernel\n"
		      "5,0,selftest,,7,,,,,,,,\n"
		      "123456789012,1,hyp_pool,,,1,free,2,3,4,,,\n"
		      "123456789013,1,,17,,,,,,,,,\n"
		      "123456789013,1,,,,,,,,,,,\n"
		      "1,2,unknown,,,,,,,,,,\n");
}

static void expect_file(const char *name, const char *expected)
{
	size_t len;
	char *text = read_file(name, &len);

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

static void tables_with_odd_names(void **state)
{
	size_t len;
	char *sql;

	(void)state;
	/* a file may contain any names */
	strcpy(event_of("hyp_pool")->name, "../pool");
	strcpy(event_of("selftest")->name, "lost");
	field_of("../pool", "order")->name = (char *)"or,\"der";
	symbols[12][1].name = (char *)"fr\"ee,\n";
	begin_export("csv", true);
	put_at(5, 0, "lost", &(struct entry_selftest){ .id = 7 });
	put_at(6, 1, "../pool", &(struct entry_hyp_pool){ .op = 1, .order = 2, .left = 3 });
	put_loss(1, 7, 17);
	put_unknown(8, 2);
	assert_int_equal(end_all(), EXIT_DONE);
	expect_file("event-3.csv", "ts,cpu,id,machine,boot,kernel\n5,0,7,,,\n");
	expect_file("event-17.csv",
		    "ts,cpu,op,op_name,\"or,\"\"der\",left,pool,"
		    "machine,boot,kernel\n6,1,1,\"fr\"\"ee,\\x0a\",2,3,0,,,\n");
	expect_file("lost.csv", "ts,cpu,lost,machine,boot,kernel\n7,1,17,,,\n");
	expect_file("unknown.csv", "ts,cpu,id,size,machine,boot,kernel\n8,2,999,8,,,\n");
	sql = read_file("load.sql", &len);
	ASSERT_HAS(sql, "CREATE TABLE \"event-3\" (ts UBIGINT, cpu UINTEGER, \"id\" UBIGINT, "
		   "machine VARCHAR, boot VARCHAR, kernel VARCHAR);\n");
	ASSERT_HAS(sql, "\"or,\"\"der\" UTINYINT");
	free(sql);
	remove_folder();
}

static void expect_part(const char *expected)
{
	char *text = end_export();

	ASSERT_HAS(text, expected);
	free(text);
}

/* Exports say which machine, boot and kernel they are from; a file may contain any names. */
static void origins(void **state)
{
	(void)state;
	info.uname = (char *)"Linux a,\"b\x01 7.3 #1 SMP x aarch64";
	info.boot = (char *)"u-1";
	begin_export("csv", false);
	PUT(5, 0, selftest, .id = 7);
	put_loss(1, 6, 17);
	put_unknown(8, 2);
	expect_part(",,\"a,\"\"b\\x01\",u-1,7.3\n6,1,,17,");
	begin_export("jsonl", false);
	put_loss(1, 6, 17);
	put_unknown(8, 2);
	expect_export("{\"cpu\":1,\"ts\":\"6\",\"lost\":17,\"machine\":\"a,\\\"b\\u0001\",\"boot\":\"u-1\",\"kernel\":\"7.3\"}\n"
		      "{\"cpu\":2,\"ts\":\"8\",\"event\":null,\"id\":999,\"size\":8,\"machine\":\"a,\\\"b\\u0001\",\"boot\":\"u-1\",\"kernel\":\"7.3\"}\n");
	begin_export("chrome", false);
	expect_part("\"otherData\":{\"clock\":\"boot\",\"machine\":\"a,\\\"b\\u0001\",\"boot\":\"u-1\",\"kernel\":\"7.3\"}");
	/* what is not known has no key */
	info.uname = (char *)"Linux";
	begin_export("chrome", false);
	expect_part("\"otherData\":{\"clock\":\"boot\",\"boot\":\"u-1\"}");
	info.uname = NULL;
	info.boot = NULL;
	begin_export("chrome", false);
	expect_part("\"otherData\":{\"clock\":\"boot\"}");
}

static void table_that_exists(void **state)
{
	(void)state;
	begin_export("csv", true);
	close(openat(x.folder_fd, "selftest.csv", O_CREAT | O_WRONLY, 0600));
	PUT(5, 0, selftest, .id = 7);
	PUT(5, 0, hyp_enter, .reason = 1);
	assert_int_equal(export_flush(&x), EBADF);
	assert_int_equal(end_all(), EXIT_REFUSED);
	assert_string_equal(said, "cannot create \"out/selftest.csv\": File exists");
	remove_folder();
}

/* A file of a folder that cannot be written ends the export at once. */
static void no_space_in_a_folder(void **state)
{
	static const char *const names[] = { "ctf", "csv" };
	struct rlimit limit, small;
	unsigned int i, j;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = limit;
	small.rlim_cur = 100;
	for (i = 0; i < COUNT(names); i++) {
		begin_export(names[i], true);
		PUT(5, 0, selftest, .id = 7);
		assert_int_equal(export_flush(&x), 0);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
		for (j = 0; j < 1000; j++)
			PUT(6 + j, 0, selftest, .id = j);
		assert_int_equal(export_flush(&x), EFBIG);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		assert_int_equal(end_all(), EXIT_REFUSED);
		ASSERT_HAS(said, "cannot write \"out/");
		ASSERT_HAS(said, "File too large");
		remove_folder();
	}
}

/* A hostile file of 100 KB can have a thousand CPUs. */
static void memory_of_a_cpu(void **state)
{
	static const char *const names[] = { "ctf", "chrome", "collapsed" };
	size_t before;
	unsigned int i, cpu;

	(void)state;
	for (i = 0; i < COUNT(names); i++) {
		begin_export(names[i], !i);
		before = allocated();
		for (cpu = 3840; cpu < 4096; cpu++)
			PUT(5, cpu, host_hcall, .id = 9, .duration = 5);
		assert_in_range((allocated() - before) / 256, 1, 16 << 10);
		if (i) {
			free(end_export());
			continue;
		}
		assert_int_equal(end_all(), EXIT_DONE);
		remove_folder();
	}
}

/* CTF */

struct file_stream {
	char	*data;
	size_t	size;
	size_t	at;
};

/* Expect the next packet: its times, its lost events, and its bytes; return its events. */
static const char *expect_packet(struct file_stream *stream, uint64_t begin, uint64_t end,
				 uint64_t discarded, size_t bytes, uint64_t number)
{
	struct ctf_packet packet;

	assert_in_range(stream->at + sizeof(packet), 0, stream->size);
	memcpy(&packet, stream->data + stream->at, sizeof(packet));
	assert_int_equal(packet.magic, 0xc1fc1fc1);
	assert_int_equal(packet.stream_id, 0);
	assert_int_equal(packet.timestamp_begin, begin);
	assert_int_equal(packet.timestamp_end, end);
	assert_int_equal(packet.events_discarded, discarded);
	assert_int_equal(packet.packet_seq_num, number);
	assert_int_equal(packet.content_size, packet.packet_size);
	assert_int_equal(packet.content_size, 8 * (sizeof(packet) + bytes));
	stream->at += sizeof(packet) + bytes;
	return stream->data + stream->at - bytes;
}

static void ctf_packets(void **state)
{
	const uint64_t far = UINT64_C(5) << 32;
	const size_t mark = sizeof(struct ctf_head) + sizeof(uint64_t);
	struct file_stream stream = {};
	const char *data;
	unsigned int i;

	(void)state;
	begin_export("ctf", true);
	put_loss(3, far, 17);
	PUT(far, 3, selftest, .id = 7);
	/* it is before the last one */
	PUT(far - 10, 3, selftest, .id = 8);
	/* the low bits of the time are not enough */
	PUT(2 * far, 3, selftest, .id = 9);
	put_loss(3, 2 * far + 5, HYPTRACE_LOST_UNKNOWN);
	put_unknown(2 * far + 5, 3);
	for (i = 0; i < 4096 / mark; i++)
		PUT(3 * far + i, 3, selftest, .id = i);
	PUT(5, 1, selftest, .id = 1);
	put_loss(1, 5, 2);
	assert_int_equal(end_all(), EXIT_DONE);
	assert_string_equal(said, "the number of lost events is not known in 1 place: each counts as 1 event");

	stream.data = read_file("cpu3", &stream.size);
	assert_non_null(stream.data);
	expect_packet(&stream, far, far, 0, 0, 0);
	expect_packet(&stream, far, far, 17, 0, 1);
	data = expect_packet(&stream, far, far, 17, 2 * mark, 2);
	assert_memory_equal(data, "\3\0\0\0\0\0\7\0\0\0\0\0\0\0\3\0\0\0\0\0\10\0\0\0\0\0\0\0",
			    2 * mark);
	expect_packet(&stream, 2 * far, 2 * far, 17, mark, 3);
	expect_packet(&stream, 2 * far, 2 * far + 5, 18, 0, 4);
	data = expect_packet(&stream, 2 * far + 5, 2 * far + 5, 18, 6 + 6 + 8, 5);
	assert_memory_equal(data, "\xff\xff\5\0\0\0\xe7\3\10\0\0\0\xe7\3\1\0\2\0\3\0", 20);
	/* a packet is not larger than a sub-buffer, as each event may be as large as it can */
	i = (4096 - sizeof(struct ctf_packet) - sizeof(uint64_t)) / mark;
	expect_packet(&stream, 3 * far, 3 * far + i - 1, 18, i * mark, 6);
	expect_packet(&stream, 3 * far + i, 3 * far + 4096 / mark - 1, 18,
		      (4096 / mark - i) * mark, 7);
	assert_int_equal(stream.at, stream.size);
	free(stream.data);

	stream.at = 0;
	stream.data = read_file("cpu1", &stream.size);
	expect_packet(&stream, 5, 5, 0, mark, 0);
	expect_packet(&stream, 5, 5, 2, 0, 1);
	assert_int_equal(stream.at, stream.size);
	free(stream.data);
	remove_folder();
}

static void ctf_hypercalls(void **state)
{
	struct file_stream stream = {};
	const size_t fields = sizeof(struct ctf_head) + 1 + 4 + 6 * 8;
	const char *data;
	char *meta;
	size_t len;

	(void)state;
	begin_export("ctf", true);
	PUT(5, 0, host_hcall, .id = 1, .arg1 = 10, .arg2 = 11, .arg3 = 12, .ret = -1);
	PUT(5, 0, host_hcall, .id = 3, .arg1 = 10, .ret = -999999);
	PUT(5, 0, host_hcall, .id = 9, .arg1 = 10);
	PUT(5, 0, host_hcall, .id = 0xc4000000, .arg1 = 10);
	assert_int_equal(end_all(), EXIT_DONE);
	stream.data = read_file("cpu0", &stream.size);
	data = expect_packet(&stream, 5, 5, 0, 4 * fields + 16 + 7 + 1 + 1 + 1, 0);
	assert_memory_equal(data + fields, "\12\0\0\0\0\0\0\0\13\0\0\0\0\0\0\0-EPERM", 16 + 7);
	assert_int_equal(data[fields + 16 + 7 + fields], 0);
	free(stream.data);

	meta = read_file("metadata", &len);
	ASSERT_HAS(meta, "remote = \"hyper\\\"visor\";");
	ASSERT_HAS(meta, "offset_s = 1700000000;\n\toffset = 5;\n");
	/* each number has a name, and each name is an identifier */
	ASSERT_HAS(meta, "\"unknown\" = 0 ... 0,\n\t\t\t\"__share\" = 1,\n\t\t\t\"unknown\" = 2 ... 6,\n"
		   "\t\t\t\"__seven\" = 7,\n\t\t\t\"unknown\" = 8 ... 8,\n\t\t\t\"opaque\" = 9,\n"
		   "\t\t\t\"unknown\" = 10 ... 4294967295\n\t\t} _id;");
	ASSERT_HAS(meta, "struct { x64 _pfn; x64 _nr_pages; } __share;\n");
	ASSERT_HAS(meta, "struct { } opaque;\n");
	assert_null(strstr(meta, "bad name"));
	ASSERT_HAS(meta, "string _ret_name;");
	free(meta);
	remove_folder();
}

static void ctf_odd_descriptions(void **state)
{
	size_t len;
	char *meta;

	(void)state;
	/* a field outside of the payload, two of the same name, values that do not fit, arrays */
	field_of("hyp_pool", "pool")->offset = 1000;
	field_of("hyp_pool", "left")->name = (char *)"order";
	symbols[12][0].value = 256;
	field_of("tlbi", "ipa")->type = (char *)"char[8]";
	field_of("tlbi", "nr")->type = (char *)"u8[8]";
	info.offset = -1;
	/* no record can be of it */
	event_of("psci_call")->id = UINT16_MAX + 1000000;
	begin_export("ctf", true);
	PUT(5, 0, hyp_pool, .op = 1);
	assert_int_equal(end_all(), EXIT_DONE);
	meta = read_file("metadata", &len);
	ASSERT_HAS(meta, "enum : u8 {\n\t\t\t\"free\" = 1\n\t\t} _op;\n"
		   "\t\tu8 _order;\n\t\tu32 _order_2;\n\t};\n");
	ASSERT_HAS(meta, "letter _ipa[8];\n\t\tx8 _nr[8];\n");
	assert_null(strstr(meta, "psci_call"));
	ASSERT_HAS(meta, "offset_s = -1;\n\toffset = 999999999;\n");
	free(meta);
	info.offset = 0;
	remove_folder();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nested_parts, describe),
		cmocka_unit_test_setup(guest_in_a_hypercall, describe),
		cmocka_unit_test_setup(guest_without_stays, describe),
		cmocka_unit_test_setup(stays_with_losses, describe),
		cmocka_unit_test_setup(functions_as_stacks, describe),
		cmocka_unit_test_setup(too_many_stacks, describe),
		cmocka_unit_test_setup(functions_as_slices, describe),
		cmocka_unit_test_setup(slices_that_are_missing, describe),
		cmocka_unit_test_setup(arguments_of_slices, describe),
		cmocka_unit_test_setup(lines, describe),
		cmocka_unit_test_setup(chosen_columns, describe),
		cmocka_unit_test_setup(tables_with_odd_names, describe),
		cmocka_unit_test_setup(origins, describe),
		cmocka_unit_test_setup(table_that_exists, describe),
		cmocka_unit_test_setup(no_space_in_a_folder, describe),
		cmocka_unit_test_setup(memory_of_a_cpu, describe),
		cmocka_unit_test_setup(ctf_packets, describe),
		cmocka_unit_test_setup(ctf_hypercalls, describe),
		cmocka_unit_test_setup(ctf_odd_descriptions, describe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
