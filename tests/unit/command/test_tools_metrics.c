// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counters as metrics for Prometheus: names, labels, units and escapes.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../tools/hyptrace/cli/cli.h"
#include "../../tools/hyptrace/output/die.h"
#include "../../tools/hyptrace/output/out.h"
#include "../../tools/hyptrace/view/times/stat.h"

static struct hyptrace_remote remote = { .name = "hypervisor", .state = HYPTRACE_STATE_TRACING };

static struct hyptrace_event events[] = {
	{ .name = "hyp_enter", .id = 1 }, { .name = "hyp_exit", .id = 2 },
	{ .name = "host_hcall", .id = 3 }, { .name = "guest_exit", .id = 4 },
	{ .name = "later", .id = 5 },
};

static struct hyptrace_event *event_list[] = {
	&events[0], &events[1], &events[2], &events[3], &events[4], NULL,
};

#define COUNTER(event_, cpu_, field_, value_, name_, ...) { \
	.event = event_, .cpu = cpu_, .field = (char *)(field_), .value = value_, \
	.name = (char *)(name_), __VA_ARGS__ }

static struct hyptrace_event_counter counters[] = {
	COUNTER("hyp_enter", 0, "reason", 1, "hvc", .count = 5, .total = 1000000007),
	COUNTER("hyp_enter", 1, "reason", 1, "hvc", .count = 7, .total = 9),
	COUNTER("hyp_exit", 1, "reason", 6, "eret_host", .total = UINT64_MAX, .now = 1),
	COUNTER("host_hcall", 0, "id", 3, "a\"b\\c\nd", .count = 2, .total = 3),
	COUNTER("host_hcall", 1, "id", 3, "a\"b\\c\nd", .count = UINT64_C(1) << 53, .total = 4),
	COUNTER("host_hcall", 1, "id", 0, NULL, .is_others = true, .count = 1),
	COUNTER("guest_exit", 0, "code", 9, NULL, .count = 1),
	COUNTER("guest_exit", 0, "ec", 9, NULL, .count = 1),
	COUNTER("later", 0, "id", 9, NULL, .count = 1),
};

static struct hyptrace_event_counter *counter_list[16];

static struct hyptrace_cpu cpus[] = {
	{ .id = 0, .written = 10, .read = 4, .overrun = 2, .dropped = 1, .filtered = 6 },
	{ .id = 4095 },
};

static struct hyptrace_cpu *cpu_list[] = { &cpus[0], &cpus[1], NULL };
static int code_of_counters;

int cmd_get_events(struct context *ctx, struct hyptrace_remote **r, struct hyptrace_event ***list,
		   unsigned int *nr)
{
	(void)ctx;
	*r = &remote;
	*list = event_list;
	*nr = 5;
	return EXIT_DONE;
}

int cmd_get_cpus(struct context *ctx, const char *name, struct hyptrace_cpu ***list,
		 unsigned int *nr)
{
	(void)ctx;
	(void)name;
	*list = cpu_list;
	*nr = 2;
	return EXIT_DONE;
}

int hyptrace_get_counters(struct hyptrace *h, const char *name, int cpu,
			  struct hyptrace_event_counter ***list, unsigned int *nr,
			  struct hyptrace_error *err)
{
	(void)h;
	(void)name;
	(void)cpu;
	if (code_of_counters) {
		strcpy(err->text, "no memory");
		err->errnum = -code_of_counters;
		return -1;
	}
	for (*nr = 0; *nr < sizeof(counters) / sizeof(counters[0]); ++*nr)
		counter_list[*nr] = &counters[*nr];
	*list = counter_list;
	return 0;
}

void hyptrace_free_cpus(struct hyptrace_cpu **list)
{
	(void)list;
}

void hyptrace_free_counters(struct hyptrace_event_counter **list)
{
	(void)list;
}

void hyptrace_free_events(struct hyptrace_event **list)
{
	(void)list;
}

void hyptrace_free_remote(struct hyptrace_remote *r)
{
	(void)r;
}

static struct context ctx;

/* What is printed, with an exit code */
static const char *metrics(int code)
{
	static char text[8192];

	memset(text, 0, sizeof(text));
	out_init(&ctx.out, memfd_create("out", 0));
	assert_int_equal(stat_metrics(&ctx), code);
	out_flush(&ctx.out);
	assert_true(pread(ctx.out.fd, text, sizeof(text) - 1, 0) >= 0);
	close(ctx.out.fd);
	out_free(&ctx.out);
	return text;
}

#define HEAD(name, type, help)	"# HELP hyptrace_" name " " help "\n" \
				"# TYPE hyptrace_" name " " type "\n"
#define OF(name)		"hyptrace_" name "{remote=\"hypervisor\","

static const char expected[] =
	HEAD("version_info", "gauge", "The version of the command.")
	"hyptrace_version_info{version=\"1\"} 1\n"
	HEAD("tracing", "gauge", "1 while enabled events are recorded, else 0.")
	"hyptrace_tracing{remote=\"hypervisor\"} 1\n"
	HEAD("ring_events_total", "counter",
	     "Events that occurred while enabled, lost ones included.")
	OF("ring_events_total") "cpu=\"0\"} 10\n" OF("ring_events_total") "cpu=\"4095\"} 0\n"
	HEAD("ring_read_events_total", "counter", "Events that a consumer has read.")
	OF("ring_read_events_total") "cpu=\"0\"} 4\n"
	OF("ring_read_events_total") "cpu=\"4095\"} 0\n"
	HEAD("ring_lost_events_total", "counter", "Events that were overwritten or dropped.")
	OF("ring_lost_events_total") "cpu=\"0\"} 3\n"
	OF("ring_lost_events_total") "cpu=\"4095\"} 0\n"
	HEAD("ring_filtered_events_total", "counter",
	     "Events that a filter at EL2 did not accept.")
	OF("ring_filtered_events_total") "cpu=\"0\"} 6\n"
	OF("ring_filtered_events_total") "cpu=\"4095\"} 0\n"
	HEAD("el2_visits_total", "counter", "Entries into EL2, by their reason.")
	OF("el2_visits_total") "cpu=\"0\",reason=\"hvc\"} 5\n"
	OF("el2_visits_total") "cpu=\"1\",reason=\"hvc\"} 7\n"
	HEAD("el2_seconds_total", "counter", "Time at EL2, by the reason of the entry.")
	OF("el2_seconds_total") "cpu=\"0\",reason=\"hvc\"} 1.000000007\n"
	OF("el2_seconds_total") "cpu=\"1\",reason=\"hvc\"} 0.000000009\n"
	HEAD("outside_el2_seconds_total", "counter",
	     "Time outside of EL2: of the host (eret_host), guests (eret_guest), firmware (smc).")
	OF("outside_el2_seconds_total") "cpu=\"1\",reason=\"eret_host\"} 18446744073.709551615\n"
	HEAD("hypercalls_total", "counter", "Hypercalls of the host.")
	OF("hypercalls_total") "hypercall=\"a\\\"b\\\\c\\nd\"} 9007199254740994\n"
	OF("hypercalls_total") "hypercall=\"other\"} 1\n"
	HEAD("hypercall_seconds_total", "counter",
	     "Time from the begin of hypercalls to their end, the time in guests included.")
	OF("hypercall_seconds_total") "hypercall=\"a\\\"b\\\\c\\nd\"} 0.000000007\n"
	OF("hypercall_seconds_total") "hypercall=\"other\"} 0.000000000\n"
	HEAD("guest_exits_total", "counter",
	     "Exits of guests, by exception class or exit code.")
	OF("guest_exits_total") "exit=\"code 9\"} 1\n" OF("guest_exits_total") "exit=\"ec 9\"} 1\n"
	HEAD("guest_run_seconds_total", "counter",
	     "Time from entries of guests to these exits.")
	OF("guest_run_seconds_total") "exit=\"code 9\"} 0.000000000\n"
	OF("guest_run_seconds_total") "exit=\"ec 9\"} 0.000000000\n";

static void all_metrics(void **state)
{
	(void)state;
	assert_string_equal(metrics(EXIT_DONE), expected);
}

/* Half of the metrics would look as if the others had begun again. */
static void nothing_after_an_error(void **state)
{
	(void)state;
	code_of_counters = -12;
	assert_string_equal(metrics(EXIT_REFUSED), "");
	code_of_counters = 0;
}

static void rings_without_counters(void **state)
{
	const char *text;

	(void)state;
	code_of_counters = -EOPNOTSUPP;
	text = metrics(EXIT_DONE);
	assert_non_null(strstr(text, "\n" OF("ring_events_total") "cpu=\"0\"} 10\n"));
	assert_null(strstr(text, "hyptrace_el2_visits_total"));
	code_of_counters = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_metrics),
		cmocka_unit_test(nothing_after_an_error),
		cmocka_unit_test(rings_without_counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
