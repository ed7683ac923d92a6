// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sentence of host_hcall with a table of hypercalls.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdio.h>

#include <cmocka.h>

#include "fail_alloc.h"
#include "hyptrace_model.h"
#include "sentence_case.h"

#define ARG(name, type)	(&(struct hyptrace_hypercall_arg){ name, type })
#define ARGS(...)	(struct hyptrace_hypercall_arg *[]){ __VA_ARGS__ }
#define CALL(number, text, has_result, known, nr, list)			\
	{ .id = number, .name = text, .returns = has_result, .known_args = known, \
	  .nr_args = nr, .args = list }

/* In no order */
static struct hyptrace_hypercall table[] = {
	CALL(0xffff, "last", true, true, 0, NULL),
	CALL(1, "__pkvm_host_share_hyp", true, true, 1, ARGS(ARG("pfn", "u64"))),
	CALL(2, "__kvm_timer_set_cntvoff", false, true, 1, ARGS(ARG("cntvoff", "u64"))),
	CALL(3, "__pkvm_prot_finalize", true, true, 0, NULL),
	CALL(4, "unreadable", false, false, 0, NULL),
	CALL(5, "many", true, true, 6,
	     ARGS(ARG("a", "u64"), ARG("b", "u64"), ARG("c", "u64"), ARG("d", "u64"),
		  ARG("e", "u64"), ARG("f", "u64"))),
	/* numbers of hypercalls have 16 bits */
	CALL(0x10000, "beyond", true, true, 0, NULL),
	CALL(9, "control\n", true, true, 0, NULL),
	CALL(11, "__kvm_vcpu_run", true, true, 1, ARGS(ARG("host_vcpu", "u64"))),
	CALL(10, "odd_arg", true, true, 1, ARGS(ARG("back\\slash", "u64"))),
};

static struct hyptrace_hypercall *list[COUNT(table)];

static int begin_with_table(void **state)
{
	unsigned int i;

	describe_and_begin(state);
	for (i = 0; i < COUNT(table); i++)
		list[i] = &table[i];
	assert_int_equal(hyptrace_formats_set_hypercalls(formats, list, COUNT(table), NULL), 0);
	return 0;
}

static void texts(void **state)
{
	(void)state;
	EXPECT("__pkvm_host_share_hyp(pfn=0x812f3) = -EPERM <1.204 us>", host_hcall, .id = 1,
	       .arg1 = 0x812f3, .arg2 = 7, .ret = -1, .duration = 1204);
	/* it returns why the guest has exited */
	EXPECT("__kvm_vcpu_run(host_vcpu=0x7) = trap <1 ns>", host_hcall, .id = 11, .arg1 = 7,
	       .ret = 2, .duration = 1);
	EXPECT("__kvm_vcpu_run(host_vcpu=0x7) = irq <1 ns>", host_hcall, .id = 11, .arg1 = 7,
	       .duration = 1);
	EXPECT("__kvm_vcpu_run(host_vcpu=0x7) = 4 <1 ns>", host_hcall, .id = 11, .arg1 = 7,
	       .ret = 4, .duration = 1);
	EXPECT("__kvm_vcpu_run(host_vcpu=0x7) = -EPERM <1 ns>", host_hcall, .id = 11, .arg1 = 7,
	       .ret = -1, .duration = 1);
	/* it returns nothing */
	EXPECT("__kvm_timer_set_cntvoff(cntvoff=0x7) <1 ns>", host_hcall, .id = 2, .arg1 = 7,
	       .ret = 7, .duration = 1);
	EXPECT("__pkvm_prot_finalize() = 0 <1 ns>", host_hcall, .id = 3, .arg1 = 7,
	       .duration = 1);
	EXPECT("__pkvm_prot_finalize() invalid <1 ns>", host_hcall, .id = 3, .arg1 = 7,
	       .ret = 7, .invalid = 1, .duration = 1);
	EXPECT("unreadable(0x1, 0x2, 0x3, 0x4) = 0x1000 <1 ns>", host_hcall, .id = 4, .arg1 = 1,
	       .arg2 = 2, .arg3 = 3, .arg4 = 4, .ret = 4096, .duration = 1);
	/* the event has four arguments */
	EXPECT("many(a=0x1, b=0x2, c=0x3, d=0x4) = 0 <1 ns>", host_hcall, .id = 5, .arg1 = 1,
	       .arg2 = 2, .arg3 = 3, .arg4 = 4, .duration = 1);
	EXPECT("last() = 0 <1 ns>", host_hcall, .id = 0xffff, .duration = 1);
	/* not in the table: the print format may know it */
	EXPECT("__seven(0x0, 0x0, 0x0, 0x0) = 0 <1 ns>", host_hcall, .id = 7, .duration = 1);
	EXPECT("0x6(0x0, 0x0, 0x0, 0x0) = 0 <1 ns>", host_hcall, .id = 6, .duration = 1);
	EXPECT("0x10000(0x0, 0x0, 0x0, 0x0) = 0 <1 ns>", host_hcall, .id = 0x10000,
	       .duration = 1);
	/* names that would break a line */
	EXPECT("0x9(0x0, 0x0, 0x0, 0x0) = 0 <1 ns>", host_hcall, .id = 9, .duration = 1);
	EXPECT("0xa(0x0, 0x0, 0x0, 0x0) = 0 <1 ns>", host_hcall, .id = 10, .duration = 1);
}

/* How an argument of all ones, but for the lowest bit, is printed, by its type and name */
static void arguments(void **state)
{
	static const struct {
		const char	*type;
		const char	*name;
		const char	*text;
	} cases[] = {
		{ "u64", "pfn", "0xfffffffffffffffe" },
		{ "u64", "gfn", "0xfffffffffffffffe" },
		{ "phys_addr_t", "phys", "0xfffffffffffffffe" },
		{ "struct kvm_vcpu *", "host_vcpu", "0xfffffffffffffffe" },
		{ "unsigned long", "size", "0xfffffffffffffffe" },
		{ "some_t", "x", "0xfffffffffffffffe" },
		{ "enum kvm_pgtable_prot *", "where", "0xfffffffffffffffe" },
		{ "enum kvm_pgtable_prot", "prot", "0xfffffffffffffffe" },
		{ "u64", "nr_pages", "18446744073709551614" },
		{ "unsigned long", "pages", "18446744073709551614" },
		{ "unsigned long", "id", "18446744073709551614" },
		{ "u64", "op", "18446744073709551614" },
		{ "unsigned int", "vcpu_idx", "4294967294" },
		{ "u32", "hyp_va_bits", "4294967294" },
		{ "int", "level", "-2" },
		{ "unsigned short", "id", "65534" },
		{ "bool", "enable", "1" },
		{ "pkvm_handle_t", "handle", "0xfffffffe" },
	};
	struct hyptrace_hypercall_arg arg;
	struct hyptrace_hypercall call = CALL(1, "call", false, true, 1, ARGS(&arg));
	struct hyptrace_hypercall *calls[] = { &call };
	char text[128];
	unsigned int i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		arg.type = (char *)cases[i].type;
		arg.name = (char *)cases[i].name;
		assert_int_equal(hyptrace_formats_set_hypercalls(formats, calls, 1, NULL), 0);
		snprintf(text, sizeof(text), "call(%s=%s) <1 ns>", cases[i].name, cases[i].text);
		EXPECT(text, host_hcall, .id = 1, .arg1 = -2, .duration = 1);
	}
}

/* A name of 64 bytes is used, one of 65 is not. */
static void long_names(void **state)
{
	char name[66] = "", text[128];
	struct hyptrace_hypercall call = CALL(1, name, true, true, 0, NULL), *calls[] = { &call };

	(void)state;
	memset(name, 'n', 64);
	assert_int_equal(hyptrace_formats_set_hypercalls(formats, calls, 1, NULL), 0);
	snprintf(text, sizeof(text), "%s() = 0 <1 ns>", name);
	EXPECT(text, host_hcall, .id = 1, .duration = 1);
	name[64] = 'n';
	assert_int_equal(hyptrace_formats_set_hypercalls(formats, calls, 1, NULL), 0);
	EXPECT("0x1(0x0, 0x0, 0x0, 0x0) = 0 <1 ns>", host_hcall, .id = 1, .duration = 1);
}

static void empty_table(void **state)
{
	(void)state;
	assert_int_equal(hyptrace_formats_set_hypercalls(formats, NULL, 0, NULL), 0);
	EXPECT("0x1(0x0, 0x0, 0x0, 0x0) = 0 <1 ns>", host_hcall, .id = 1, .duration = 1);
}

static const struct hyptrace_hypercall *call_of(const char *event, uint32_t id)
{
	const struct entry_host_hcall hcall = { .id = id };
	struct hyptrace_record rec = { .data = &hcall, .size = sizeof(hcall) };
	struct hyptrace_model *model = hyptrace_model_new(formats, NULL);
	const struct hyptrace_meaning *meaning = model->by_id[event_of(event)->id];
	const struct hyptrace_hypercall *call = hyptrace_meaning_hypercall(meaning,
		hyptrace_meaning_value(meaning, HYPTRACE_ROLE_ID, &rec));

	hyptrace_model_free(model);
	return call;
}

static void names(void **state)
{
	(void)state;
	assert_string_equal(NAME(host_hcall, id, .id = 1), "__pkvm_host_share_hyp");
	assert_string_equal(NAME(host_hcall, id, .id = 7), "__seven");
	assert_null(NAME(host_hcall, id, .id = 8));
	/* the id of another event is no hypercall */
	assert_null(NAME(host_smc, id, .id = 1));
	assert_null(NAME(selftest, id, .id = 1));
	/* it returns nothing */
	assert_null(NAME(host_hcall, ret, .id = 2, .ret = -1));
	assert_string_equal(NAME(host_hcall, ret, .id = 4, .ret = -1), "-EPERM");

	assert_ptr_equal(call_of("host_hcall", 1), &table[1]);
	assert_null(call_of("host_hcall", 8));
	assert_null(call_of("host_smc", 1));
	assert_null(call_of("selftest", 1));
}

static void no_memory(void **state)
{
	struct hyptrace_error err = {};

	(void)state;
	fail_alloc(1);
	assert_int_equal(hyptrace_formats_set_hypercalls(formats, list, 1, &err), -ENOMEM);
	assert_true(fail_alloc_end());
	assert_int_equal(err.errnum, ENOMEM);
	/* the table is as before */
	EXPECT("last() = 0 <1 ns>", host_hcall, .id = 0xffff, .duration = 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_with_table, free_formats)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(texts), TEST(arguments), TEST(long_names), TEST(empty_table), TEST(names),
		TEST(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
