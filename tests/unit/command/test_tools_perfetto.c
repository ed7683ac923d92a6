// SPDX-License-Identifier: GPL-2.0-only
/*
 * The Perfetto export: which slices, instants and messages become of events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../tools/hyptrace/output/die.h"
#include "../../tools/hyptrace/output/printer.h"
#include "../../tools/hyptrace/sink/export.h"
#include "allocated.h"
#include "perfetto_text.h"
#include "sentence_case.h"

#define ARG(name, type)	(&(struct hyptrace_hypercall_arg){ name, type })
#define ARGS(...)	(struct hyptrace_hypercall_arg *[]){ __VA_ARGS__ }

static struct hyptrace_hypercall table[] = {
	{ .id = 1, .name = "__pkvm_host_share_hyp", .returns = true, .known_args = true,
	  .nr_args = 1, .args = ARGS(ARG("pfn", "u64")) },
	{ .id = 2, .name = "__kvm_timer_set_cntvoff", .known_args = true, .nr_args = 2,
	  .args = ARGS(ARG("cntvoff", "u64"), ARG("odd", "u64")) },
};

static struct hyptrace_hypercall *calls[] = { &table[0], &table[1] };
static struct hyptrace_event *list[NR_EVENTS];
static struct hyptrace_file_info info;
static uint64_t first;
#define NR_CPUS	4
static struct export x;
volatile sig_atomic_t signals_stop;
static struct out out;
static FILE *file;

/* of the library */
int hyptrace_file_run(struct hyptrace_file *from, const struct hyptrace_file_work *work,
		      size_t size, struct hyptrace_error *err)
{
	(void)from;
	(void)work;
	(void)size;
	(void)err;
	return -1;
}

int hyptrace_file_wait(const struct hyptrace_file_batch *batch)
{
	(void)batch;
	return 0;
}

void cmd_note(const char *fmt, ...)
{
	(void)fmt;
}

static int begin(void **state)
{
	unsigned int i;

	describe_and_begin(state);
	assert_int_equal(hyptrace_formats_set_hypercalls(formats, calls, COUNT(calls), NULL), 0);
	for (i = 0; i < NR_EVENTS; i++)
		list[i] = &events[i];
	file = tmpfile();
	assert_non_null(file);
	out_init(&out, fileno(file));
	x = (struct export){
		.format = export_find_format("perfetto"), .info = &info, .formats = formats,
		.events = list, .nr_events = NR_EVENTS,
		.out = &out, .nr_cpus = NR_CPUS, .first = first,
		.model = hyptrace_model_new(formats, NULL), .origin = origin_new(&info),
	};
	assert_non_null(x.model);
	assert_non_null(x.format);
	assert_int_equal(x.format->begin(&x), EXIT_DONE);
	return 0;
}

static void put_record(unsigned int cpu, const struct hyptrace_record *rec)
{
	const struct hyptrace_stream_event event = { .cpu = cpu, .record = *rec };

	export_put(&x, &event, 1);
}

static void lose(unsigned int cpu, uint64_t ts, uint64_t lost)
{
	put_record(cpu, &(struct hyptrace_record){ .ts = ts, .lost = lost });
}

static void put(unsigned int cpu, uint64_t ts, const char *event, const void *payload)
{
	struct hyptrace_record rec = record_of(event, payload, event_of(event)->size);

	rec.ts = ts;
	put_record(cpu, &rec);
	free((void *)rec.data);
}

/* PUT(cpu, time, event, .field = value, ...) */
#define PUT(cpu, ts, event, ...) \
	put(cpu, ts, #event, &(struct entry_##event){ __VA_ARGS__ })

/* End the export; return it as text, for free(). */
static char *finish(void)
{
	char *data, *text;
	long size;

	export_end_parts(&x);
	assert_int_equal(x.format->end(&x), EXIT_DONE);
	hyptrace_model_free((struct hyptrace_model *)x.model);
	origin_free(x.origin);
	out_flush(&out);
	assert_int_equal(out.error, 0);
	size = lseek(out.fd, 0, SEEK_END);
	data = malloc(size + 1);
	assert_int_equal(pread(out.fd, data, size, 0), size);
	text = perfetto_text(data, size);
	free(data);
	out_free(&out);
	fclose(file);
	file = NULL;
	free_formats(NULL);
	return text;
}

/* All events are in the first second after the boot. */
#define CLOCKS	"clocks 6=1\n"

static void expect(const char *expected)
{
	char *text = finish();

	assert_memory_equal(text, CLOCKS, strlen(CLOCKS));
	assert_string_equal(text + strlen(CLOCKS), expected);
	free(text);
}

static void hypercalls(void **state)
{
	(void)state;
	PUT(3, 1000, hyp_enter, .reason = 1);
	PUT(3, 1900, host_hcall, .id = 1, .arg1 = 0x812f3, .arg2 = 7, .ret = -1, .duration = 800);
	PUT(3, 2000, hyp_exit);
	PUT(3, 3000, hyp_enter);
	/* it returns nothing */
	PUT(3, 3500, host_hcall, .id = 2, .arg1 = 7, .arg2 = 8, .arg3 = 9, .ret = 7, .duration = 1);
	PUT(3, 3500, hyp_exit);
	/* the arguments are not known; the name is from the event */
	PUT(3, 3600, host_hcall, .id = 7, .arg1 = 1, .ret = 5, .duration = 10);
	PUT(3, 3700, host_hcall, .id = 6, .invalid = 1, .ret = 5, .duration = 10);
	expect("track Calls of EL2\n"
	       "track Calls of EL2/Calls CPU 3\n"
	       "[Calls CPU 3] 1100 B __pkvm_host_share_hyp pfn=0x812f3 ret=-EPERM\n"
	       "[Calls CPU 3] 1900 E\n"
	       "[Calls CPU 3] 3499 B __kvm_timer_set_cntvoff cntvoff=0x7 odd=0x8\n"
	       "[Calls CPU 3] 3500 E\n"
	       "[Calls CPU 3] 3590 B __seven arg1=0x1 arg2=0x0 arg3=0x0 arg4=0x0 ret=5\n"
	       "[Calls CPU 3] 3600 E\n"
	       "[Calls CPU 3] 3690 B host_hcall invalid=1 id=0x6 arg1=0x0 arg2=0x0 arg3=0x0 arg4=0x0\n"
	       "[Calls CPU 3] 3700 E\n"
	       "CPU 3: 1000 hyp_enter\n"
	       "CPU 3: 1900 host_hcall 1=0x1\n"
	       "CPU 3: 2000 hyp_exit\n"
	       "CPU 3: 3000 hyp_enter\n"
	       "CPU 3: 3500 host_hcall 1=0x2\n"
	       "CPU 3: 3500 hyp_exit\n");
}

static void firmware(void **state)
{
	(void)state;
	PUT(0, 1000, hyp_enter);
	PUT(0, 1500, host_smc, .id = 0x80000000, .arg1 = 1, .forwarded = 1, .ret = 0x10001,
	    .duration = 400);
	/* the inner one began at the same tick of the clock */
	PUT(0, 2000, psci_call, .func = 0xc4000003, .arg = 1, .ret = -4, .duration = 300);
	PUT(0, 2010, host_smc, .id = 0xc4000003, .arg1 = 1, .ret = -4, .duration = 310);
	/* before the firmware is called */
	PUT(0, 3000, psci_call, .func = 0xc4000003, .arg = 1);
	PUT(0, 3500, host_ffa_call, .func_id = 0x84000063, .handled = 1, .err = -1);
	PUT(0, 4000, host_mem_abort, .esr = 0x92000047, .addr = 0x1000, .ret = -1,
	    .duration = 100);
	expect("track Calls of EL2\n"
	       "track Calls of EL2/Calls CPU 0\n"
	       "[Calls CPU 0] 1100 B SMCCC_VERSION forwarded=1 arg1=0x1 arg2=0x0 arg3=0x0 ret=65537\n"
	       "[Calls CPU 0] 1500 E\n"
	       "[Calls CPU 0] 1700 B PSCI_CPU_ON_64 arg=0x1 ret=ALREADY_ON\n"
	       "[Calls CPU 0] 2000 E\n"
	       "[Calls CPU 0] 1699 B PSCI_CPU_ON_64 arg1=0x1 arg2=0x0 arg3=0x0 ret=ALREADY_ON\n"
	       "[Calls CPU 0] 2010 E\n"
	       "[Calls CPU 0] 3000 I PSCI_CPU_ON_64 arg=0x1 ret=0\n"
	       "[Calls CPU 0] 3500 I FFA_VERSION handled=1 err=NOT_SUPPORTED\n"
	       "[Calls CPU 0] 3900 B host_mem_abort DABT_LOW ret=-EPERM esr=0x92000047 addr=0x1000\n"
	       "[Calls CPU 0] 4000 E\n"
	       "CPU 0: 1000 hyp_enter\n"
	       "CPU 0: 1500 host_smc 1=0x80000000 2=0x1\n"
	       "CPU 0: 2010 host_smc 1=0xc4000003\n"
	       "CPU 0: 3500 host_ffa_call 1=0x84000063 6=0x1 7=0xffffffffffffffff\n"
	       "CPU 0: 4000 host_mem_abort 1=0x92000047 2=0x1000\n"
	       "CPU 0: 4000 hyp_exit\n");
}

/* Exits that are missing are added; an exit without an entry is left out. */
static void missing_exits(void **state)
{
	(void)state;
	PUT(1, 1000, hyp_exit);
	PUT(1, 1100, hyp_enter);
	PUT(1, 1200, selftest, .id = 7);
	PUT(1, 1300, hyp_enter);
	PUT(1, 1400, hyp_exit);
	PUT(1, 1500, hyp_enter);
	lose(1, 1900, 12);
	PUT(1, 1900, hyp_exit);
	lose(1, 2000, HYPTRACE_LOST_UNKNOWN);
	PUT(1, 2000, hyp_enter);
	lose(1, 2000, 1);
	/* before the first event of a CPU */
	lose(0, 2100, 3);
	expect("track Events of EL2\n"
	       "track Events of EL2/Events CPU 1\n"
	       "[Events CPU 1] 1200 I selftest id=7\n"
	       "CPU 1: 1100 hyp_enter\n"
	       "CPU 1: 1200 hyp_exit\n"
	       "CPU 1: 1300 hyp_enter\n"
	       "CPU 1: 1400 hyp_exit\n"
	       "CPU 1: 1500 hyp_enter\n"
	       "CPU 1: 1500 hyp_exit\n"
	       "track Lost events\n"
	       "track Lost events/Losses CPU 1\n"
	       "[Losses CPU 1] 1500 B LOST 12 events lost=12\n"
	       "[Losses CPU 1] 1900 E\n"
	       "[Losses CPU 1] 1900 B LOST events\n"
	       "[Losses CPU 1] 2000 E\n"
	       "CPU 1 lost\n"
	       "CPU 1: 2000 hyp_enter\n"
	       "CPU 1: 2000 hyp_exit\n"
	       "[Losses CPU 1] 2000 I LOST 1 event lost=1\n"
	       "track Lost events\n"
	       "track Lost events/Losses CPU 0\n"
	       "[Losses CPU 0] 2100 I LOST 3 events lost=3\n");
}

static void guests(void **state)
{
	(void)state;
	/* its VM is not known yet */
	PUT(0, 1000, guest_fixup, .vcpu = 141, .ec = 0x18, .handled = 1, .duration = 50);
	PUT(0, 2000, guest_exit, .vcpu = 141, .handle = 0x1000, .index = 1, .code = 2, .ec = 0x24,
	    .esr = 0x93000046, .pc = 0x40080124, .ipa = 0x9000018, .duration = 1500);
	PUT(0, 3000, guest_enter, .vcpu = 141, .handle = 0x1000, .index = 1);
	PUT(0, 3100, guest_exit, .vcpu = 141, .handle = 0x1000, .index = 1, .duration = 100);
	/* the same thread runs another VM on another CPU, whose exit is lost */
	PUT(1, 4000, guest_enter, .vcpu = 141, .handle = 0x1001);
	PUT(1, 4100, vcpu_illegal_trap, .vcpu = 141, .esr = 0x62000000);
	lose(1, 5000, 1);
	/* a thread of which nothing is known, and a run that does not end */
	PUT(1, 6000, guest_fixup, .vcpu = 7, .ec = 1, .duration = 10);
	PUT(0, 7000, guest_enter, .vcpu = 141, .handle = 0x1000, .index = 1);
	PUT(0, 7500, selftest, .id = 1);
	expect("[vCPU 1 (thread 141)] 950 B guest_fixup SYS64 handled=1\n"
	       "[vCPU 1 (thread 141)] 1000 E\n"
	       "[vCPU 1 (thread 141)] 500 B DABT_LOW code=trap esr=0x93000046 pc=0x40080124 ipa=0x9000018\n"
	       "[vCPU 1 (thread 141)] 2000 E\n"
	       "[vCPU 1 (thread 141)] 3000 B irq\n"
	       "[vCPU 1 (thread 141)] 3100 E\n"
	       "[vCPU 0 (thread 141)] 4100 I vcpu_illegal_trap SYS64 esr=0x62000000\n"
	       "[vCPU 0 (thread 141)] 4000 B guest (exit not recorded)\n"
	       "[vCPU 0 (thread 141)] 4100 E\n"
	       "track Lost events\n"
	       "track Lost events/Losses CPU 1\n"
	       "[Losses CPU 1] 4100 B LOST 1 event lost=1\n"
	       "[Losses CPU 1] 5000 E\n"
	       "[vCPU (thread 7)] 5990 B guest_fixup WFx handled=0\n"
	       "[vCPU (thread 7)] 6000 E\n"
	       "track Events of EL2\n"
	       "track Events of EL2/Events CPU 0\n"
	       "[Events CPU 0] 7500 I selftest id=1\n"
	       "[vCPU 1 (thread 141)] 7000 B guest (exit not recorded)\n"
	       "[vCPU 1 (thread 141)] 7500 E\n"
	       "track Guests\n"
	       "track Guests/VM 0x1000\n"
	       "track VM 0x1000/vCPU 1 (thread 141)\n"
	       "track Guests\n"
	       "track Guests/VM 0x1001\n"
	       "track VM 0x1001/vCPU 0 (thread 141)\n"
	       "track Guests/vCPU (thread 7)\n");
}

static void transitions(void **state)
{
	(void)state;
	/* two pages are donated, and return one after the other */
	PUT(0, 1000, mem_transition, .op = 2, .from = 0, .to = 2, .pfn = 0x10, .nr = 2,
	    .gfn = 5, .handle = 0x1000);
	PUT(1, 1100, mem_transition, .op = 3, .from = 2, .to = 0, .pfn = 0x11, .nr = 1,
	    .handle = 0x1000);
	PUT(1, 1200, mem_transition, .op = 3, .from = 2, .to = 0, .pfn = 0x11, .nr = 1, .ret = -1,
	    .handle = 0x1000);
	PUT(0, 1300, mem_transition, .op = 3, .from = 2, .to = 0, .pfn = 0x10, .nr = 2,
	    .handle = 0x1000);
	PUT(0, 1400, mem_transition, .op = 3, .from = 2, .to = 0, .pfn = 0x10, .nr = 1,
	    .handle = 0x1000);
	/* a page is shared with two VMs */
	PUT(0, 2000, mem_transition, .op = 0, .to = 2, .pfn = 0x20, .nr = 1, .handle = 1);
	PUT(0, 2100, mem_transition, .op = 0, .to = 2, .pfn = 0x20, .nr = 1, .handle = 2);
	PUT(0, 2200, mem_transition, .op = 1, .to = 2, .pfn = 0x20, .nr = 1, .handle = 1);
	PUT(0, 2300, mem_transition, .op = 9, .from = 0, .to = 7, .pfn = 0x20, .nr = UINT64_MAX);
	expect("track Memory of EL2 and guests\n"
	       "[Memory of EL2 and guests] 1000 I donate host -> guest handle=0x1000 ret=0 pfn=0x10 nr=2 gfn=0x5 cpu=0 flow=1\n"
	       "[Memory of EL2 and guests] 1100 I reclaim guest -> host handle=0x1000 ret=0 pfn=0x11 nr=1 cpu=1 flow=1\n"
	       "[Memory of EL2 and guests] 1200 I reclaim guest -> host handle=0x1000 ret=-EPERM pfn=0x11 nr=1 cpu=1\n"
	       "[Memory of EL2 and guests] 1300 I reclaim guest -> host handle=0x1000 ret=0 pfn=0x10 nr=2 cpu=0 flow=1\n"
	       "[Memory of EL2 and guests] 1400 I reclaim guest -> host handle=0x1000 ret=0 pfn=0x10 nr=1 cpu=0\n"
	       "[Memory of EL2 and guests] 2000 I share host -> guest handle=0x1 ret=0 pfn=0x20 nr=1 cpu=0 flow=2\n"
	       "[Memory of EL2 and guests] 2100 I share host -> guest handle=0x2 ret=0 pfn=0x20 nr=1 cpu=0 flow=3\n"
	       "[Memory of EL2 and guests] 2200 I unshare host -> guest handle=0x1 ret=0 pfn=0x20 nr=1 cpu=0 flow=2\n"
	       "[Memory of EL2 and guests] 2300 I mem_transition op=9 from=host to=7 ret=0 pfn=0x20 nr=18446744073709551615 cpu=0\n");
}

#define MODEL_PAGES	400

/* Each page's flow is that of its last donation, whatever else is in the table. */
static void many_pages(void **state)
{
	uint64_t owner[MODEL_PAGES] = { 0 }, flows = 0, seed = 1;
	char *text, *at, expected[64];
	struct {
		unsigned int	op;
		uint64_t	flow;
	} done[6000];
	unsigned int i;

	(void)state;
	for (i = 0; i < COUNT(done); i++) {
		uint64_t page;

		seed = seed * 6364136223846793005 + 1442695040888963407;
		page = (seed >> 33) % MODEL_PAGES;
		done[i].op = seed >> 63 ? 2 : 3;
		done[i].flow = owner[page];
		if (done[i].op == 2)
			done[i].flow = ++flows;
		owner[page] = done[i].op == 2 ? flows : 0;
		PUT(0, 1000 + i, mem_transition, .op = done[i].op, .from = done[i].op == 2 ? 0 : 2,
		    .to = done[i].op == 2 ? 2 : 0, .pfn = page << 9, .nr = 1, .handle = 1);
	}
	text = finish();
	at = text;
	for (i = 0; i < COUNT(done); i++) {
		snprintf(expected, sizeof(expected), "] %u I ", 1000 + i);
		at = strstr(at, expected);
		assert_non_null(at);
		snprintf(expected, sizeof(expected), " cpu=0%s%.0u\n",
			 done[i].flow ? " flow=" : "", (unsigned int)done[i].flow);
		at = strstr(at, " cpu=");
		assert_memory_equal(at, expected, strlen(expected));
	}
	free(text);
}

static void other_events(void **state)
{
	struct hyptrace_record rec = { .ts = 9000, .data = "\xff\xff\0", .size = 4 };

	(void)state;
	PUT(2, 1000, hyp_printk, .fmt_id = 1, .a = 1, .b = 2, .c = 3, .d = 4);
	PUT(2, 2000, tlbi, .op = 2, .vmid = 3, .ipa = 0x40000000, .nr = 512);
	PUT(2, 3000, vcpu_load, .vcpu = 141, .handle = 0x1000, .index = 1);
	put_record(2, &rec);
	/* too short */
	rec.size = 1;
	put_record(2, &rec);
	expect("track Events of EL2\n"
	       "track Events of EL2/Events CPU 2\n"
	       "[Events CPU 2] 1000 I hyp_printk fmt_id=%d %u %#x %08x a=1 b=2 c=3 d=4 text=\"1 2 0x3 00000004\"\n"
	       "[Events CPU 2] 2000 I tlbi vmid_range vmid=3 ipa=0x40000000 nr=512\n"
	       "[Events CPU 2] 3000 I vcpu_load index=1 vcpu=141 handle=0x1000\n"
	       "[Events CPU 2] 9000 I unknown event id=65535 size=4\n"
	       "[Events CPU 2] 9000 I unknown event id=0 size=1\n");
}

/* Slices nest, whatever the durations say. */
static void wrong_durations(void **state)
{
	(void)state;
	PUT(0, 1000, host_hcall, .id = 1, .duration = 5000);
	PUT(0, 2000, host_hcall, .id = 1, .duration = 1500);
	PUT(0, 2000, host_hcall, .id = 1, .duration = 0);
	PUT(0, 2100, psci_call, .func = 1, .duration = 500);
	PUT(0, 2200, psci_call, .func = 1, .duration = 500);
	PUT(0, 2300, host_smc, .id = 1, .duration = 150);
	/* the file is damaged: time goes back */
	PUT(0, 100, host_hcall, .id = 1, .duration = 50);
	expect("track Calls of EL2\n"
	       "track Calls of EL2/Calls CPU 0\n"
	       "[Calls CPU 0] 0 B __pkvm_host_share_hyp pfn=0x0 ret=0\n"
	       "[Calls CPU 0] 1000 E\n"
	       "[Calls CPU 0] 1000 B __pkvm_host_share_hyp pfn=0x0 ret=0\n"
	       "[Calls CPU 0] 2000 E\n"
	       "[Calls CPU 0] 2000 B __pkvm_host_share_hyp pfn=0x0 ret=0\n"
	       "[Calls CPU 0] 2000 E\n"
	       "[Calls CPU 0] 2000 B psci_call func=0x1 arg=0x0 ret=0\n"
	       "[Calls CPU 0] 2100 E\n"
	       "[Calls CPU 0] 2100 B psci_call func=0x1 arg=0x0 ret=0\n"
	       "[Calls CPU 0] 2200 E\n"
	       "[Calls CPU 0] 2000 B host_smc id=0x1 arg1=0x0 arg2=0x0 arg3=0x0 ret=0\n"
	       "[Calls CPU 0] 2300 E\n"
	       "[Calls CPU 0] 2300 B __pkvm_host_share_hyp pfn=0x0 ret=0\n"
	       "[Calls CPU 0] 2300 E\n");
}

/* More names than numbers of one byte, and one that is not ASCII and too long */
static void many_names(void **state)
{
	static char names[300][16], wild[2000];
	struct hyptrace_field *field = field_of("tlbi", "op");
	static struct hyptrace_symbol many[301];
	char *text, expected[64];
	unsigned int i;

	(void)state;
	memset(wild, '\xe4', sizeof(wild) - 1);
	for (i = 0; i < COUNT(names); i++) {
		snprintf(names[i], sizeof(names[i]), "name%u", i);
		many[i] = (struct hyptrace_symbol){ i, names[i] };
	}
	many[200].name = wild;
	field->symbols = (struct hyptrace_symbol **)list_of(many, sizeof(many[0]), COUNT(names));
	field->nr_symbols = COUNT(names);
	for (i = 0; i < COUNT(names); i++)
		PUT(i % 3, 1000 + i, tlbi, .op = i);
	for (i = 0; i < COUNT(names); i++)
		PUT(i % 3, 2000 + i, tlbi, .op = i);
	text = finish();
	assert_non_null(strstr(text, "op=name255 "));
	snprintf(expected, sizeof(expected), "op=%.40s", "????????????????????????????????????????");
	assert_non_null(strstr(text, expected));
	free(text);
}

static void no_event(void **state)
{
	(void)state;
	expect("");
}

/* A function is recorded after those that it has called, but begins before them. */
static void functions(void **state)
{
	(void)state;
	PUT(2, 1000, func, .id = 4, .depth = 2, .duration = 16, .ago = 100);
	PUT(2, 1000, func, .id = 3, .depth = 1, .duration = 16, .ago = 100);
	PUT(2, 1000, func, .id = 4, .depth = 1, .duration = 0, .ago = 100);
	PUT(2, 1000, func, .id = 2, .depth = 0, .duration = 48, .ago = 84);
	PUT(2, 1010, hyp_exit, .reason = 6);
	PUT(2, 2000, func, .id = 77, .depth = 0, .duration = 10);
	lose(2, 2500, 1);
	PUT(2, 3000, func, .id = 2, .depth = 1, .duration = 10);
	expect("track Functions of EL2\n"
	       "track Functions of EL2/Functions CPU 2\n"
	       "[Functions CPU 2] 868 B outer\n"
	       "[Functions CPU 2] 884 B inner\n"
	       "[Functions CPU 2] 884 B leaf\n"
	       "[Functions CPU 2] 900 E\n"
	       "[Functions CPU 2] 900 E\n"
	       "[Functions CPU 2] 900 B leaf\n"
	       "[Functions CPU 2] 900 E\n"
	       "[Functions CPU 2] 916 E\n"
	       "[Functions CPU 2] 1990 B func\n"
	       "[Functions CPU 2] 2000 E\n"
	       "track Lost events\n"
	       "track Lost events/Losses CPU 2\n"
	       "[Losses CPU 2] 2000 B LOST 1 event lost=1\n"
	       "[Losses CPU 2] 2500 E\n"
	       "[Functions CPU 2] 2990 B outer\n"
	       "[Functions CPU 2] 3000 E\n");
}

static int begin_late(void **state)
{
	info.offset = 500;
	first = 3000000000;
	return begin(state);
}

/* The wall clock is known; a packet has the time since the one before. */
static void clocks(void **state)
{
	char *text;

	(void)state;
	PUT(0, 3000000000, selftest, .id = 1);
	PUT(0, 3000000007, selftest, .id = 1);
	text = finish();
	assert_string_equal(text, "clocks 6=2000000000 1=2000000500\n"
				  "track Events of EL2\n"
				  "track Events of EL2/Events CPU 0\n"
				  "[Events CPU 0] 3000000000 I selftest id=1\n"
				  "[Events CPU 0] 3000000007 I selftest id=1\n");
	free(text);
}

/* A hostile file of 100 KB can have a thousand CPUs. */
static void memory_of_a_cpu(void **state)
{
	size_t before = allocated();
	unsigned int cpu;

	(void)state;
	for (cpu = 0; cpu < x.nr_cpus; cpu++) {
		PUT(cpu, 5, hyp_enter, .reason = 0);
		PUT(cpu, 9, host_hcall, .id = 9, .duration = 3);
	}
	assert_in_range((allocated() - before) / x.nr_cpus, 1, 16 << 10);
	free(finish());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(hypercalls, begin),
		cmocka_unit_test_setup(firmware, begin),
		cmocka_unit_test_setup(missing_exits, begin),
		cmocka_unit_test_setup(guests, begin),
		cmocka_unit_test_setup(transitions, begin),
		cmocka_unit_test_setup(many_pages, begin),
		cmocka_unit_test_setup(other_events, begin),
		cmocka_unit_test_setup(wrong_durations, begin),
		cmocka_unit_test_setup(many_names, begin),
		cmocka_unit_test_setup(no_event, begin),
		cmocka_unit_test_setup(functions, begin),
		cmocka_unit_test_setup(memory_of_a_cpu, begin),
		cmocka_unit_test_setup(clocks, begin_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
