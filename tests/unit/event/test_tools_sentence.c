// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sentence of each event, and when an event has none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdio.h>

#include <cmocka.h>

#include "lib/event/meaning.h"
#include "fail_alloc.h"
#include "sentence_case.h"

/* Calls of the host without a table of hypercalls */

static void hypercall_without_table(void **state)
{
	(void)state;
	EXPECT("__seven(0x1, 0x2, 0x3, 0xffffffffffffffff) = 0 <1.204 us>", host_hcall, .id = 7,
	       .arg1 = 1, .arg2 = 2, .arg3 = 3, .arg4 = UINT64_MAX, .duration = 1204);
	EXPECT("0x8(0x0, 0x0, 0x0, 0x0) = -EPERM <0 ns>", host_hcall, .id = 8, .ret = -1);
	EXPECT("0xc600ffff(0x1, 0x0, 0x0, 0x0) invalid <10 ns>", host_hcall, .id = 0xc600ffff,
	       .arg1 = 1, .ret = 1, .invalid = 1, .duration = 10);
}

static void results(void **state)
{
	static const struct {
		int64_t		ret;
		const char	*text;
	} cases[] = {
		{ 0, "0" }, { 1, "1" }, { 4095, "4095" }, { 4096, "0x1000" },
		{ INT64_MAX, "0x7fffffffffffffff" }, { INT64_MIN, "0x8000000000000000" },
		{ -1, "-EPERM" }, { -2, "-ENOENT" }, { -12, "-ENOMEM" }, { -22, "-EINVAL" },
		{ -35, "-EDEADLK" }, { -41, "-41" }, { -95, "-EOPNOTSUPP" },
		{ -133, "-EHWPOISON" }, { -134, "-134" }, { -511, "-511" },
		{ -512, "-ERESTARTSYS" }, { -517, "-EPROBE_DEFER" }, { -520, "-520" },
		{ -531, "-ENOGRACE" }, { -532, "-532" }, { -4095, "-4095" },
		{ -4096, "0xfffffffffffff000" },
	};
	char text[128];
	unsigned int i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		snprintf(text, sizeof(text), "__seven(0x0, 0x0, 0x0, 0x0) = %s <0 ns>",
			 cases[i].text);
		EXPECT(text, host_hcall, .id = 7, .ret = cases[i].ret);
	}
}

/* The table of errnos is that of the C library. It has no number 41 and 58. */
static void errnos(void **state)
{
	const char *name, *known;
	int number, nr = 0;

	(void)state;
	for (number = 1; number <= 134; number++) {
		name = hyptrace_errno_name(-number);
		known = strerrorname_np(number);
		assert_int_equal(!name, !known);
		if (!name)
			continue;
		assert_int_equal(name[0], '-');
		assert_string_equal(name + 1, known);
		nr++;
	}
	assert_int_equal(nr, 131);
	assert_null(hyptrace_errno_name(0));
	assert_null(hyptrace_errno_name(1));
}

static void durations(void **state)
{
	static const struct {
		uint64_t	nsec;
		const char	*text;
	} cases[] = {
		{ 0, "0 ns" }, { 1, "1 ns" }, { 999, "999 ns" }, { 1000, "1.000 us" },
		{ 1204, "1.204 us" }, { 83210, "83.210 us" }, { 999999, "999.999 us" },
		{ 1000000, "1.000 ms" }, { 5823999, "5.823 ms" }, { 999999999, "999.999 ms" },
		{ 1000000000, "1.000 s" }, { 1500000000, "1.500 s" },
		{ 123456789012, "123.456 s" }, { UINT64_MAX, "18446744073.709 s" },
	};
	char text[128];
	unsigned int i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		snprintf(text, sizeof(text), "__seven(0x0, 0x0, 0x0, 0x0) = 0 <%s>",
			 cases[i].text);
		EXPECT(text, host_hcall, .id = 7, .duration = cases[i].nsec);
	}
}

static void smc(void **state)
{
	(void)state;
	EXPECT("PSCI_CPU_ON_64(0x1, 0x80000, 0x0) = 0 forwarded <3.000 us>", host_smc,
	       .id = 0xc4000003, .arg1 = 1, .arg2 = 0x80000, .forwarded = 1, .duration = 3000);
	EXPECT("PSCI_CPU_ON_64(0x1, 0x80000, 0x0) = ALREADY_ON <3.000 us>", host_smc,
	       .id = 0xc4000003, .arg1 = 1, .arg2 = 0x80000, .ret = -4, .duration = 3000);
	EXPECT("PSCI_VERSION(0x0, 0x0, 0x0) = 0x10001 <1 ns>", host_smc, .id = 0x84000000,
	       .ret = 0x10001, .duration = 1);
	EXPECT("PSCI_VERSION(0x0, 0x0, 0x0) invalid <1 ns>", host_smc, .id = 0x84000000,
	       .ret = -1, .invalid = 1, .duration = 1);
	/* the result of a function of 32 bits has 32 bits */
	EXPECT("PSCI_CPU_ON(0x0, 0x0, 0x0) = DENIED <1 ns>", host_smc, .id = 0x84000003,
	       .ret = 0xfffffffd, .duration = 1);
	EXPECT("PSCI_CPU_ON_64(0x0, 0x0, 0x0) = 0xfffffffd <1 ns>", host_smc, .id = 0xc4000003,
	       .ret = 0xfffffffd, .duration = 1);
	EXPECT("0x8400001f(0x0, 0x0, 0x0) = -10 <1 ns>", host_smc, .id = 0x8400001f, .ret = -10,
	       .duration = 1);
	EXPECT("SMCCC_ARCH_FEATURES(0x80008000, 0x0, 0x0) = NOT_REQUIRED <1 ns>", host_smc,
	       .id = 0x80000001, .arg1 = 0x80008000, .ret = -2, .duration = 1);
	/* not PSCI any more, and not yet FF-A */
	EXPECT("0x84000020(0x0, 0x0, 0x0) = -2 <1 ns>", host_smc, .id = 0x84000020, .ret = -2,
	       .duration = 1);
	EXPECT("0x8400005f(0x0, 0x0, 0x0) = -2 <1 ns>", host_smc, .id = 0x8400005f, .ret = -2,
	       .duration = 1);
	EXPECT("0xc2000001(0x0, 0x0, 0x0) = NOT_SUPPORTED forwarded <1 ns>", host_smc,
	       .id = 0xc2000001, .ret = -1, .forwarded = 1, .duration = 1);
	EXPECT("FFA_VERSION(0x10001, 0x0, 0x0) = NOT_SUPPORTED <1 ns>", host_smc, .id = 0x84000063,
	       .arg1 = 0x10001, .ret = 0xffffffff, .duration = 1);
	EXPECT("FFA_MEM_SHARE_64(0x0, 0x0, 0x0) = FFA_ERROR <1 ns>", host_smc, .id = 0xc4000073,
	       .ret = 0x84000060, .duration = 1);
	EXPECT("FFA_RXTX_MAP_64(0x0, 0x0, 0x0) = FFA_SUCCESS_64 <1 ns>", host_smc,
	       .id = 0xc4000066, .ret = 0xc4000061, .duration = 1);
	/* the last function id of FF-A */
	EXPECT("0x840000ff(0x0, 0x0, 0x0) = FFA_ERROR <1 ns>", host_smc, .id = 0x840000ff,
	       .ret = (int32_t)0x84000060, .duration = 1);
	EXPECT("0x84000100(0x0, 0x0, 0x0) = 0x84000060 <1 ns>", host_smc, .id = 0x84000100,
	       .ret = (int32_t)0x84000060, .duration = 1);
	/* an error without a name, whatever is in the high half */
	EXPECT("0x84000100(0x0, 0x0, 0x0) = -10 <1 ns>", host_smc, .id = 0x84000100,
	       .ret = 0xfffffff6, .duration = 1);
	EXPECT("0x84000100(0x0, 0x0, 0x0) = -4095 <1 ns>", host_smc, .id = 0x84000100,
	       .ret = 0xfffff001, .duration = 1);
	EXPECT("0x84000100(0x0, 0x0, 0x0) = 0xfffff000 <1 ns>", host_smc, .id = 0x84000100,
	       .ret = -4096, .duration = 1);
	EXPECT("0xc4000100(0x0, 0x0, 0x0) = 0xfffffff6 <1 ns>", host_smc, .id = 0xc4000100,
	       .ret = 0xfffffff6, .duration = 1);
}

static void psci(void **state)
{
	(void)state;
	/* recorded before the firmware is called */
	EXPECT("PSCI_CPU_ON_64(mpidr=0x10000)", psci_call, .func = 0xc4000003, .arg = 0x10000,
	       .duration = 16);
	EXPECT("PSCI_CPU_OFF()", psci_call, .func = 0x84000002);
	EXPECT("PSCI_SYSTEM_SUSPEND_64(entry=0x80000)", psci_call, .func = 0xc400000e,
	       .arg = 0x80000);
	EXPECT("PSCI_CPU_ON_64(mpidr=0x1) = INVALID_PARAMETERS <1.000 us>", psci_call,
	       .func = 0xc4000003, .arg = 1, .ret = -2, .duration = 1000);

	EXPECT("PSCI_CPU_SUSPEND_64(state=0x10000) = 0 <5.823 ms>", psci_call, .func = 0xc4000001,
	       .arg = 0x10000, .duration = 5823000);
	EXPECT("PSCI_AFFINITY_INFO(mpidr=0x1) = 1 <1 ns>", psci_call, .func = 0x84000004,
	       .arg = 1, .ret = 1, .duration = 1);
	EXPECT("PSCI_FEATURES(func=PSCI_CPU_SUSPEND) = 0 <1 ns>", psci_call, .func = 0x8400000a,
	       .arg = 0x84000001, .duration = 1);
	EXPECT("PSCI_FEATURES(func=0x12) = NOT_SUPPORTED <1 ns>", psci_call, .func = 0x8400000a,
	       .arg = 0x12, .ret = -1, .duration = 1);
	EXPECT("PSCI_VERSION() = 0x10003 <1 ns>", psci_call, .func = 0x84000000, .arg = 77,
	       .ret = 0x10003, .duration = 1);
	EXPECT("PSCI_CPU_SUSPEND(state=0x0) = -11 <1 ns>", psci_call, .func = 0x84000001,
	       .ret = 0xfffffff5, .duration = 1);
	EXPECT("0x84000016(arg=0x4d) = INVALID_ADDRESS <1 ns>", psci_call, .func = 0x84000016,
	       .arg = 77, .ret = -9, .duration = 1);
	EXPECT("0x1(arg=0x0) = 0 <1 ns>", psci_call, .func = 1, .duration = 1);
}

/* The name of the first argument of each function; NULL: it has none */
static void psci_arguments(void **state)
{
	static const char *const names[] = {
		NULL, "state", NULL, "mpidr", "mpidr", "mpidr", NULL, NULL, NULL, NULL, NULL, NULL,
		"entry", "mpidr", "entry", "mode", "mpidr", "mpidr", "type", "enable", "base",
		"type", "arg",
	};
	char text[128];
	uint32_t func;

	(void)state;
	for (func = 0xc4000000; func < 0xc4000000 + COUNT(names); func++) {
		const char *symbol = hyptrace_symbol_name(field_of("psci_call", "func"), func);
		const char *name = names[func - 0xc4000000];
		char number[16], arg[32] = "";

		/* it is the name of a function */
		if (func == 0xc400000a)
			continue;
		snprintf(number, sizeof(number), "0x%x", func);
		if (name)
			snprintf(arg, sizeof(arg), "%s=0x7", name);
		snprintf(text, sizeof(text), "%s(%s) = DENIED <1 ns>", symbol ? symbol : number,
			 arg);
		EXPECT(text, psci_call, .func = func, .arg = 7, .ret = -3, .duration = 1);
	}
}

static void ffa(void **state)
{
	(void)state;
	EXPECT("FFA_FEATURES passed on", host_ffa_call, .func_id = 0x84000064);
	EXPECT("FFA_MEM_SHARE_64 handled = DENIED", host_ffa_call, .func_id = 0xc4000073,
	       .handled = 1, .err = -6, .res_a2 = 0xfffffffa);
	EXPECT("FFA_VERSION handled", host_ffa_call, .func_id = 0x84000063, .handled = 1,
	       .res_a1 = 0x10001);
	EXPECT("FFA_RXTX_MAP_64 handled = 0 (0x0, 0x1, 0x2, 0x3)", host_ffa_call,
	       .func_id = 0xc4000066, .handled = 1, .res_a2 = 1, .res_a3 = 2, .res_a4 = 3);
	EXPECT("0x840000ff handled = -11", host_ffa_call, .func_id = 0x840000ff, .handled = 1,
	       .err = -11);
	EXPECT("0x840000ff handled = NOT_READY", host_ffa_call, .func_id = 0x840000ff,
	       .handled = 1, .err = -10);
}

#define DATA_ABORT	(UINT64_C(0x24) << 26)

static void mem_abort(void **state)
{
	static const struct {
		uint64_t	esr;
		const char	*text;
	} cases[] = {
		{ DATA_ABORT | 0x07, "DABT_LOW read translation fault level 3" },
		{ DATA_ABORT | 0x47, "DABT_LOW write translation fault level 3" },
		{ UINT64_C(0x20) << 26 | 0x46, "IABT_LOW translation fault level 2" },
		{ DATA_ABORT | 0x00, "DABT_LOW read address size fault level 0" },
		{ DATA_ABORT | 0x03, "DABT_LOW read address size fault level 3" },
		{ DATA_ABORT | 0x04, "DABT_LOW read translation fault level 0" },
		{ DATA_ABORT | 0x09, "DABT_LOW read access flag fault level 1" },
		{ DATA_ABORT | 0x4f, "DABT_LOW write permission fault level 3" },
		{ DATA_ABORT | 0x10, "DABT_LOW read external abort" },
		{ DATA_ABORT | 0x11, "DABT_LOW read tag check fault" },
		{ DATA_ABORT | 0x13, "DABT_LOW read external abort on table walk level -1" },
		{ DATA_ABORT | 0x17, "DABT_LOW read external abort on table walk level 3" },
		{ DATA_ABORT | 0x18, "DABT_LOW read parity error" },
		{ DATA_ABORT | 0x19, "DABT_LOW read fault 0x19" },
		{ DATA_ABORT | 0x1b, "DABT_LOW read parity error on table walk level -1" },
		{ DATA_ABORT | 0x20, "DABT_LOW read fault 0x20" },
		{ DATA_ABORT | 0x21, "DABT_LOW read alignment fault" },
		{ DATA_ABORT | 0x24,
		  "DABT_LOW read granule protection fault on table walk level 0" },
		{ DATA_ABORT | 0x28, "DABT_LOW read granule protection fault" },
		{ DATA_ABORT | 0x29, "DABT_LOW read address size fault level -1" },
		{ DATA_ABORT | 0x2b, "DABT_LOW read translation fault level -1" },
		{ DATA_ABORT | 0x2c, "DABT_LOW read address size fault level -2" },
		{ DATA_ABORT | 0x30, "DABT_LOW read TLB conflict" },
		{ DATA_ABORT | 0x31, "DABT_LOW read unsupported atomic update" },
		{ DATA_ABORT | 0x34, "DABT_LOW read lockdown fault" },
		{ DATA_ABORT | 0x35, "DABT_LOW read unsupported exclusive access" },
		{ DATA_ABORT | 0x3f, "DABT_LOW read fault 0x3f" },
		{ UINT64_C(0x3f) << 26 | UINT64_C(1) << 32 | 0x04,
		  "0x3f translation fault level 0" },
	};
	char text[128];
	unsigned int i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		snprintf(text, sizeof(text), "%s addr=0x80123000 = 0 <3.105 us>", cases[i].text);
		EXPECT(text, host_mem_abort, .esr = cases[i].esr, .addr = 0x80123000,
		       .duration = 3105);
	}
	EXPECT("DABT_LOW write permission fault level 3 addr=0x1000 = -EAGAIN <1 ns>",
	       host_mem_abort, .esr = DATA_ABORT | 0x4f, .addr = 0x1000, .ret = -11,
	       .duration = 1);
}

/* Guests and memory */

static void guests(void **state)
{
	(void)state;
	EXPECT("vcpu=141 vm=0x1000.0", guest_enter, .vcpu = 141, .handle = 0x1000);
	EXPECT("vcpu=-1 vm=0xffffffff.65535", guest_enter, .vcpu = -1, .handle = UINT32_MAX,
	       .index = UINT16_MAX);
	EXPECT("vcpu=141 vm=0x1000.2", vcpu_load, .vcpu = 141, .handle = 0x1000, .index = 2);
	EXPECT("vcpu=141 vm=0x1001.3", vcpu_put, .vcpu = 141, .handle = 0x1001, .index = 3);
	EXPECT("vcpu=141 SYS64 esr=0x62000000", vcpu_illegal_trap, .vcpu = 141,
	       .esr = 0x62000000);
	EXPECT("vcpu=141 0x3f esr=0xfc000000", vcpu_illegal_trap, .vcpu = 141, .esr = 0xfc000000);
	EXPECT("vcpu=141 SYS64 handled <412 ns>", guest_fixup, .vcpu = 141, .ec = 0x18,
	       .handled = 1, .duration = 412);
	EXPECT("vcpu=141 0x3e passed on <1.000 us>", guest_fixup, .vcpu = 141, .ec = 0x3e,
	       .duration = 1000);
}

static void guest_exits(void **state)
{
	(void)state;
	EXPECT("vcpu=141 vm=0x1000.0 trap DABT_LOW ipa=0x9000018 pc=0x40080124 <83.210 us since entry>",
	       guest_exit, .vcpu = 141, .handle = 0x1000, .code = 2, .ec = 0x24,
	       .esr = 0x93820046, .ipa = 0x9000018, .far = 0xffff000009000018, .pc = 0x40080124,
	       .duration = 83210);
	EXPECT("vcpu=141 vm=0x1000.1 trap WFx esr=0x7e000000 pc=0x40080128 <1 ns since entry>",
	       guest_exit, .vcpu = 141, .handle = 0x1000, .index = 1, .code = 2, .ec = 1,
	       .esr = 0x7e000000, .pc = 0x40080128, .duration = 1);
	/* an interrupt has no class */
	EXPECT("vcpu=141 vm=0x1000.0 irq pc=0x40080128 <4.000 ms since entry>", guest_exit,
	       .vcpu = 141, .handle = 0x1000, .pc = 0x40080128, .duration = 4000000);
	/* an address of 0 is printed, too */
	EXPECT("vcpu=141 vm=0x1000.0 trap IABT_LOW ipa=0x0 pc=0x0 <1 ns since entry>", guest_exit,
	       .vcpu = 141, .handle = 0x1000, .code = 2, .ec = 0x20, .esr = 0x82000006,
	       .duration = 1);
	EXPECT("vcpu=141 vm=0x1000.0 trap HVC64 esr=0x5a000000 pc=0x0 <1 ns since entry>",
	       guest_exit, .vcpu = 141, .handle = 0x1000, .code = 2, .ec = 0x16,
	       .esr = 0x5a000000, .ipa = 1, .duration = 1);
	/* a protected guest */
	EXPECT("vcpu=141 vm=0x1000.0 trap HVC64 <1 ns since entry>", guest_exit, .vcpu = 141,
	       .handle = 0x1000, .code = 2, .ec = 0x16, .duration = 1);
	EXPECT("vcpu=141 vm=0x1000.0 0x9 <1 ns since entry>", guest_exit, .vcpu = 141,
	       .handle = 0x1000, .code = 9, .duration = 1);
}

static void memory(void **state)
{
	(void)state;
	EXPECT("donate host -> hyp pfn=0x812f4 +1 = 0", mem_transition, .op = 2, .to = 1,
	       .pfn = 0x812f4, .nr = 1);
	EXPECT("share host -> guest pfn=0x812f4 +512 vm=0x1000 gfn=0x40000 = -EPERM",
	       mem_transition, .to = 2, .pfn = 0x812f4, .nr = 512, .handle = 0x1000,
	       .gfn = 0x40000, .ret = -1);
	/* EL2 did not get as far as the page of the host */
	EXPECT("unshare guest -> host vm=0x1000 gfn=0x40000 +1 = -EPERM", mem_transition, .op = 1,
	       .from = 2, .nr = 1, .handle = 0x1000, .gfn = 0x40000, .ret = -1);
	EXPECT("share guest -> host pfn=0x0 +1 vm=0x1000 gfn=0x40000 = 0", mem_transition,
	       .from = 2, .nr = 1, .handle = 0x1000, .gfn = 0x40000);
	EXPECT("share host -> hyp pfn=0x0 +1 = -EPERM", mem_transition, .to = 1, .nr = 1,
	       .ret = -1);
	EXPECT("0x9 0x8 -> 0x7 pfn=0x0 +0 = 0", mem_transition, .op = 9, .from = 8, .to = 7);
	EXPECT("vmid_ipa vmid=3 ipa=0x40000000 +1", tlbi, .vmid = 3, .ipa = 0x40000000, .nr = 1);
	EXPECT("vmid_range vmid=0 ipa=0x0 +512", tlbi, .op = 2, .nr = 512);
	EXPECT("vmid vmid=3", tlbi, .op = 3, .vmid = 3);
	EXPECT("vm_context", tlbi, .op = 5);
	EXPECT("0x6 vmid=0", tlbi, .op = 6);
	EXPECT("alloc order=2 left=1020 pool=0x812f4", hyp_pool, .order = 2, .left = 1020,
	       .pool = 0x812f4);
	EXPECT("free order=0 left=1021 pool=0x0", hyp_pool, .op = 1, .left = 1021);
	EXPECT("0x2 order=0 left=0 pool=0x0", hyp_pool, .op = 2);
	EXPECT("leaf depth=2 <1.204 us, 16 ns ago>", func, .id = 4, .depth = 2, .duration = 1204,
	       .ago = 16);
	EXPECT("0x4d depth=0 <0 ns, 0 ns ago>", func, .id = 77);
	EXPECT("host_mmu held by CPU 3 <1.204 us>", lock_wait, .lock = 1, .owner = 3,
	       .duration = 1204);
	EXPECT("other held by CPU 0 <0 ns>", lock_wait, .owner = 0);
	EXPECT("0x9 <40 ns>", lock_wait, .lock = 9, .owner = -1, .duration = 40);
	EXPECT("host_hcall instructions=1377", pmu, .counter = 8, .of = 1, .count = 1377);
	EXPECT("0x7 0xffff=18446744073709551615", pmu, .counter = 0xffff, .of = 7,
	       .count = UINT64_MAX);
}

/* Events without a sentence */

static void other_events(void **state)
{
	(void)state;
	EXPECT("reason=hvc vcpu=5", hyp_enter, .reason = 1, .vcpu = 5);
	EXPECT("id=7", selftest, .id = 7);
	assert_false(hyptrace_formats_has_sentence(formats, event_of("hyp_enter")));
	assert_true(hyptrace_formats_has_sentence(formats, event_of("tlbi")));
}

static void raw(void **state)
{
	const struct entry_tlbi payload = { .op = 3 };
	struct hyptrace_record rec = record_of("tlbi", &payload, sizeof(payload));
	char *line = malloc(HYPTRACE_LINE_MAX);

	(void)state;
	/* a line that was prepared for the sentence is no longer possible */
	assert_int_equal(hyptrace_formats_lines(formats, "", ": ", NULL), 0);
	hyptrace_formats_set_raw(formats);
	assert_null(hyptrace_formats_line(formats, &rec, line));
	free((void *)rec.data);
	free(line);
	EXPECT("op=vmid vmid=3 ipa=0x0 nr=0", tlbi, .op = 3, .vmid = 3);
	assert_false(hyptrace_formats_has_sentence(formats, event_of("tlbi")));
	assert_null(NAME(host_hcall, ret, .ret = -1));
	assert_string_equal(NAME(tlbi, op, .op = 3), "vmid");
}

/* libtraceevent crashes if a field of the print format is missing. */
static char no_fields[] = "\"\"", other[] = "other";

/* Each field of each sentence must be there, be a number, and have the right sign. */
static void missing_fields(void **state)
{
	static char array[] = "u8[8]", tab[] = "a\tb";
	static char too_long[] =
		"a-name-of-sixty-five-characters----------------------------------";
	struct hyptrace_symbol symbol = { .value = 0 }, *list[] = { &symbol };
	unsigned int i, j, broken;

	for (i = 0; i < NR_EVENTS; i++) {
		for (j = 0; j < events[i].nr_fields; j++) {
			for (broken = 0; broken < 8; broken++) {
				struct hyptrace_field *field;
				bool has;

				describe(state);
				has = i >= 3 && strcmp(events[i].name, "hyp_panic");
				field = events[i].fields[j];
				events[i].print_fmt = no_fields;
				/* far is in no sentence, and hyp_enter and hyp_panic have none */
				if (!has || !strcmp(field->name, "far"))
					broken = 8;
				if (broken == 0)
					field->name = other;
				else if (broken == 1)
					field->type = array;
				else if (broken == 2)
					field->is_signed = !field->is_signed;
				else if (broken == 3)
					field->size = 3;
				else if (broken == 4)
					field->offset = events[i].size - field->size + 1;
				else if (broken == 5)
					field->offset = UINT32_MAX;
				else
					symbol.name = broken == 6 ? tab : too_long;
				if (broken == 6 || broken == 7) {
					field->symbols = list;
					field->nr_symbols = 1;
				}
				begin_formats();
				/* formats are checked when they are printed */
				assert_int_equal(hyptrace_formats_has_sentence(formats, &events[i]),
						 broken == 8 ? has : broken >= 6 &&
						 !strcmp(events[i].fields[j]->name, "fmt_id"));
				free_formats(state);
			}
		}
	}
	assert_int_equal(strlen(too_long), 65);
	describe(state);
}

/* Two events with one id: the last one counts. */
static void same_id(void **state)
{
	(void)state;
	event_of("hyp_pool")->id = event_of("tlbi")->id;
	begin_formats();
	EXPECT("alloc order=3 left=0 pool=0x0", hyp_pool, .order = 3);
}

static void short_payloads(void **state)
{
	static const char payload[512];
	char *line = malloc(HYPTRACE_LINE_MAX);
	unsigned int i;

	(void)state;
	assert_int_equal(hyptrace_formats_lines(formats, "", ": ", NULL), 0);
	for (i = 0; i < NR_EVENTS; i++) {
		struct hyptrace_record rec = record_of(events[i].name, payload, events[i].size - 1);

		assert_null(hyptrace_formats_event(formats, &rec));
		assert_null(hyptrace_formats_line(formats, &rec, line));
		free((void *)rec.data);
	}
	free(line);
}

/* The text before an event must leave room for a sentence. */
static void long_lead(void **state)
{
	const struct entry_tlbi payload = { .op = 3 };
	struct hyptrace_record rec = record_of("tlbi", &payload, sizeof(payload));
	const size_t room = HYPTRACE_LINE_MAX - 1024 - strlen("tlbi: ");
	char lead[HYPTRACE_LINE_MAX], *line = malloc(HYPTRACE_LINE_MAX);

	(void)state;
	assert_null(hyptrace_formats_line(formats, &rec, line));
	memset(lead, 'x', sizeof(lead));
	lead[room] = '\0';
	assert_int_equal(hyptrace_formats_lines(formats, lead, ": ", NULL), 0);
	assert_ptr_equal(hyptrace_formats_line(formats, &rec, line),
			 line + room + strlen("tlbi: vmid vmid=0"));
	lead[room] = 'x';
	lead[room + 1] = '\0';
	assert_int_equal(hyptrace_formats_lines(formats, lead, ": ", NULL), 0);
	assert_null(hyptrace_formats_line(formats, &rec, line));
	free((void *)rec.data);
	free(line);
}

/* Classes have the names that the first field for them has. */
static void classes(void **state)
{
	struct hyptrace_field *reason = field_of("hyp_enter", "reason"), *ec;

	(void)state;
	ec = field_of("guest_exit", "ec");
	reason->symbols = ec->symbols + 1;
	reason->nr_symbols = ec->nr_symbols - 1;
	reason->name = ec->name;
	event_of("hyp_enter")->print_fmt = no_fields;
	begin_formats();
	EXPECT("vcpu=1 WFx esr=0x4000000", vcpu_illegal_trap, .vcpu = 1, .esr = 0x4000000);
	EXPECT("vcpu=1 0x0 esr=0x1", vcpu_illegal_trap, .vcpu = 1, .esr = 1);
}

/* They have no names if no field has them. */
static void no_classes(void **state)
{
	(void)state;
	field_of("guest_exit", "ec")->name = other;
	field_of("guest_fixup", "ec")->name = other;
	event_of("guest_exit")->print_fmt = no_fields;
	event_of("guest_fixup")->print_fmt = no_fields;
	begin_formats();
	EXPECT("vcpu=1 0x18 esr=0x62000000", vcpu_illegal_trap, .vcpu = 1, .esr = 0x62000000);
	assert_null(NAME(vcpu_illegal_trap, esr, .esr = 0x62000000));
}

static void names(void **state)
{
	(void)state;
	assert_string_equal(NAME(host_hcall, id, .id = 7), "__seven");
	assert_null(NAME(host_hcall, id, .id = 8));
	assert_string_equal(NAME(host_hcall, ret, .ret = -1), "-EPERM");
	assert_null(NAME(host_hcall, ret, .ret = 1));
	assert_null(NAME(host_hcall, ret, .ret = -1, .invalid = 1));
	assert_null(NAME(host_hcall, arg1, .arg1 = 7));
	assert_string_equal(NAME(host_smc, ret, .id = 0x84000003, .ret = 0xfffffffd), "DENIED");
	assert_string_equal(NAME(host_ffa_call, err, .err = -6), "DENIED");
	assert_string_equal(NAME(host_ffa_call, func_id, .func_id = 0x84000060), "FFA_ERROR");
	assert_string_equal(NAME(psci_call, ret, .ret = -3), "DENIED");
	assert_string_equal(NAME(host_mem_abort, esr, .esr = DATA_ABORT | 7), "DABT_LOW");
	assert_string_equal(NAME(mem_transition, ret, .ret = -12), "-ENOMEM");
	assert_string_equal(NAME(guest_exit, ec, .code = 2, .ec = 0x24), "DABT_LOW");
	assert_string_equal(NAME(guest_exit, ec, .code = 2), "UNKNOWN");
	assert_string_equal(NAME(guest_fixup, ec), "UNKNOWN");
	assert_string_equal(NAME(guest_exit, esr, .code = 2, .esr = 1), "UNKNOWN");
	/* an interrupt has no class, and that of a protected guest is in ec only */
	assert_null(NAME(guest_exit, ec));
	assert_null(NAME(guest_exit, esr, .code = 2, .ec = 0x24));
	assert_null(NAME(guest_exit, vcpu, .vcpu = 1));
	assert_string_equal(NAME(hyp_enter, reason, .reason = 1), "hvc");
}

/* Without memory for a sentence, there are no formats. */
static void no_memory(void **state)
{
	struct hyptrace_event **list = event_list(events, NR_EVENTS);
	unsigned int nth;
	bool failed = true;

	(void)state;
	for (nth = 1; failed; nth++) {
		fail_alloc(nth);
		formats = hyptrace_formats_new(list, NR_EVENTS, NULL);
		failed = fail_alloc_end();
		assert_int_equal(!formats, failed);
		if (formats)
			assert_true(hyptrace_formats_has_sentence(formats, event_of("tlbi")));
		hyptrace_formats_free(formats);
	}
	/* each event has a meaning and a description */
	assert_true(nth > 2 * NR_EVENTS);
	begin_formats();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, describe_and_begin, free_formats)
#define DESCRIBED(name) cmocka_unit_test_setup_teardown(name, describe, free_formats)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(hypercall_without_table), TEST(results), TEST(errnos), TEST(durations),
		TEST(smc), TEST(psci), TEST(psci_arguments), TEST(ffa), TEST(mem_abort),
		TEST(guests), TEST(guest_exits), TEST(memory), TEST(other_events), TEST(raw),
		DESCRIBED(missing_fields), DESCRIBED(same_id), TEST(short_payloads),
		TEST(long_lead), DESCRIBED(classes), DESCRIBED(no_classes), TEST(names),
		DESCRIBED(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
