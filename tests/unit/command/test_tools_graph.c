// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace graph: the lines of functions, of events among them and of losses, and the sums.
 * test_tools_nest_function.c has which function is in which.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "output/die.h"
#include "output/printer.h"
#include "sentence_case.h"
#include "view/graph/graph.h"

static struct context ctx;
static struct session session;
static struct graph g;

/* of the other files of the command */
static char said[256];

void cmd_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(said, sizeof(said), fmt, ap);
	va_end(ap);
}

int session_fail(const struct session *s, const struct hyptrace_error *err)
{
	(void)s;
	(void)err;
	return EXIT_REFUSED;
}

void session_note_counts(const struct session *s, const char *what, uint64_t nr,
			 const char *printed)
{
	(void)s;
	snprintf(said, sizeof(said), "%lu %s %s", (unsigned long)nr, what, printed);
}

static void begin_graph(enum printer_format format)
{
	memset(&session, 0, sizeof(session));
	g = (struct graph){ .session = &session };
	memset(&ctx, 0, sizeof(ctx));
	out_init(&ctx.out, memfd_create("out", 0));
	ctx.p = printer_new(&ctx.out, format, false);
	session.ctx = &ctx;
	session.formats = formats;
	session.arg = &g;
	session.name = "t.dat";
	session.path = "t.dat";
	session.clock = "boot";
}

static void start(enum printer_format format)
{
	begin_graph(format);
	assert_int_equal(graph_begin(&g), EXIT_DONE);
}

static void put(unsigned int cpu, uint64_t ts, uint64_t lost, const char *event,
		const void *payload)
{
	struct hyptrace_stream_event put = { .cpu = cpu };

	if (event)
		put.record = record_of(event, payload, event_of(event)->size);
	put.record.ts = ts;
	put.record.lost = lost;
	graph_ops.batch(&session, &put, 1);
	free((void *)put.record.data);
}

/* PUT(time, event, .field = value, ...) */
#define PUT(ts, event, ...) \
	put(2, ts, 0, #event, &(struct entry_##event){ __VA_ARGS__ })
#define FUNC(ts, id_, depth_, begin, end) \
	PUT(ts, func, .id = id_, .depth = depth_, .duration = (end) - (begin), .ago = (ts) - (end))

static void expect(const char *expected)
{
	char text[4096] = "";

	graph_finish(&g);
	graph_free(&g);
	printer_free(ctx.p);
	assert_true(pread(ctx.out.fd, text, sizeof(text) - 1, 0) >= 0);
	close(ctx.out.fd);
	out_free(&ctx.out);
	assert_string_equal(text, expected);
}

static void put_visit(void)
{
	PUT(1000, hyp_enter, .reason = 1);
	PUT(1400, tlbi, .op = 3, .vmid = 3);
	PUT(3000, host_hcall, .id = 7, .duration = 1900);
	FUNC(3200, 4, 2, 1300, 1500);
	FUNC(3200, 4, 2, 1600, 1700);
	FUNC(3200, 1, 1, 1200, 2900);
	FUNC(3200, 0, 0, 1050, 3100);
	PUT(3300, hyp_exit, .reason = 6);
}

static void functions_and_events(void **state)
{
	(void)state;
	start(PRINTER_TEXT);
	/* EL2 has called no function: nothing is printed */
	PUT(100, hyp_enter, .reason = 1);
	PUT(110, tlbi, .op = 5);
	PUT(120, hyp_exit, .reason = 6);
	put_visit();
	expect("  2)             |  handle_host_hcall() {\n"
	       "  2)             |    handle___share() {\n"
	       "  2)             |      leaf() {\n"
	       "  2)             |        /* tlbi: vmid vmid=3 */\n"
	       "  2)      200 ns |      }\n"
	       "  2)      100 ns |      leaf();\n"
	       "  2)    1.700 us |    } /* self 1.400 us */\n"
	       "  2)             |    /* host_hcall: __seven(0x0, 0x0, 0x0, 0x0) = 0 <1.900 us> */\n"
	       "  2)    2.050 us |  } /* self 350 ns */\n");
	assert_string_equal(said, "4 function printed");
}

/* A caller that is not known leaves its place empty, and losses are where they were. */
static void losses(void **state)
{
	(void)state;
	start(PRINTER_TEXT);
	FUNC(200, 4, 1, 100, 110);
	put(2, 1000000000, 5, NULL, NULL);
	FUNC(1000000300, 3, 1, 1000000220, 1000000230);
	FUNC(1000000300, 2, 0, 1000000215, 1000000240);
	PUT(1000000310, hyp_exit, .reason = 6);
	put(2, 2000000000, HYPTRACE_LOST_UNKNOWN, NULL, NULL);
	FUNC(2000000300, 0x4d, 0, 2000000100, 2000000110);
	expect("  2)       10 ns |    leaf();\n"
	       "[002]     1.000000: LOST 5 events\n"
	       "  2)             |  outer() {\n"
	       "  2)       10 ns |    inner();\n"
	       "  2)       25 ns |  } /* self 15 ns */\n"
	       "[002]     2.000000: LOST events\n"
	       "  2)       10 ns |  0x4d();\n");
}

/* A damaged file may have any depth: the lines stay short, and so do the names of --tree. */
static void damaged_depths(void **state)
{
	char lines[512];

	(void)state;
	start(PRINTER_TEXT);
	FUNC(200, 4, UINT16_MAX, 100, 110);
	snprintf(lines, sizeof(lines), "  2)       10 ns |  %*sleaf();\n", 2 * GRAPH_LEVELS_MAX, "");
	expect(lines);

	begin_graph(PRINTER_TEXT);
	g.is_tree = true;
	assert_int_equal(graph_begin(&g), EXIT_DONE);
	for (unsigned int depth = 1000; depth; depth--)
		FUNC(3000 + 2 * depth, 4, depth, 2000 - depth, 2000 + depth);
	PUT(9000, hyp_exit, .reason = 6);
	graph_finish(&g);
	graph_free(&g);
	printer_free(ctx.p);
	/* 1000 lines with the numbers, the indentation and the name */
	assert_in_range(lseek(ctx.out.fd, 0, SEEK_END), 1000 * 40, 1000 * 200);
	close(ctx.out.fd);
	out_free(&ctx.out);
}

static void rows(void **state)
{
	(void)state;
	start(PRINTER_JSON);
	PUT(3000, tlbi, .op = 5);
	FUNC(3200, 4, 1, 1300, 1500);
	FUNC(3200, 0, 0, 1050, 3100);
	put(2, 4000, 2, "hyp_exit", &(struct entry_hyp_exit){ .reason = 6 });
	expect("{\"cpu\":2,\"ts\":\"1050\",\"event\":\"func\",\"name\":\"handle_host_hcall\",\"depth\":0,\"duration\":\"2050\",\"self\":\"1850\"}\n"
	       "{\"cpu\":2,\"ts\":\"1300\",\"event\":\"func\",\"name\":\"leaf\",\"depth\":1,\"duration\":\"200\",\"self\":\"200\"}\n"
	       "{\"cpu\":2,\"ts\":\"3000\",\"event\":\"tlbi\",\"fields\":{\"op\":5,\"vmid\":0,\"ipa\":\"0\",\"nr\":\"0\"},\"symbols\":{\"op\":\"vm_context\"},\"text\":\"vm_context\"}\n"
	       "{\"cpu\":2,\"ts\":\"4000\",\"lost\":2}\n");
}

static void sums_of_functions(void **state)
{
	(void)state;
	begin_graph(PRINTER_TEXT);
	g.is_flat = true;
	assert_int_equal(graph_begin(&g), EXIT_DONE);
	put_visit();
	expect("CALLS     TOTAL      SELF      MEAN       MAX  FUNCTION\n"
	       "    1  1.700 us  1.400 us  1.700 us  1.700 us  handle___share\n"
	       "    1  2.050 us    350 ns  2.050 us  2.050 us  handle_host_hcall\n"
	       "    2    300 ns    300 ns    150 ns    200 ns  leaf\n");
	assert_string_equal(said, "4 function counted");
}

static void sums_of_stacks(void **state)
{
	(void)state;
	begin_graph(PRINTER_TEXT);
	g.is_tree = true;
	assert_int_equal(graph_begin(&g), EXIT_DONE);
	put_visit();
	FUNC(4000, 4, 0, 3500, 3510);
	FUNC(4000, 2, 0, 3500, 3990);
	PUT(4300, hyp_exit, .reason = 6);
	expect("CALLS     TOTAL      SELF      MEAN       MAX  FUNCTION\n"
	       "    1  2.050 us    350 ns  2.050 us  2.050 us  handle_host_hcall\n"
	       "    1  1.700 us  1.400 us  1.700 us  1.700 us    handle___share\n"
	       "    2    300 ns    300 ns    150 ns    200 ns      leaf\n"
	       "    1    490 ns    490 ns    490 ns    490 ns  outer\n"
	       "    1     10 ns     10 ns     10 ns     10 ns  leaf\n");
}

static void expect_refusal(const char *why)
{
	assert_int_equal(graph_begin(&g), EXIT_REFUSED);
	assert_string_equal(said, why);
	graph_free(&g);
	printer_free(ctx.p);
	close(ctx.out.fd);
	out_free(&ctx.out);
}

static void refusals(void **state)
{
	(void)state;
	begin_graph(PRINTER_TEXT);
	*xappend(g.functions.words, g.functions.nr) = "handle___shared";
	expect_refusal("cannot trace \"handle___shared\": no such function; did you mean \"handle___share\"?");
	begin_graph(PRINTER_TEXT);
	*xappend(g.functions.words, g.functions.nr) = "no*";
	expect_refusal("cannot trace \"no*\": no function matches (\"hyptrace list -v func\" lists the functions of \"t.dat\")");
	begin_graph(PRINTER_TEXT);
	event_of("func")->missing = true;
	expect_refusal("\"t.dat\" has no functions: the kernel that recorded it was built without CONFIG_HYPTRACE_EL2_FUNCTIONS");
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, describe_and_begin, free_formats)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(functions_and_events),
		TEST(losses),
		TEST(damaged_depths),
		TEST(rows),
		TEST(sums_of_functions),
		TEST(sums_of_stacks),
		TEST(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
