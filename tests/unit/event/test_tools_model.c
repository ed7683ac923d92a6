// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the events of hyp/ mean: their kinds, fields, names, results, and arguments.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "lib/hyptrace_model.h"
#include "fail_alloc.h"
#include "sentence_case.h"

static struct hyptrace_hypercall_arg arg[] = {
	{ (char *)"pfn", (char *)"u64" }, { (char *)"nr_pages", (char *)"u64" },
	{ (char *)"c", (char *)"int" }, { (char *)"d", (char *)"int" },
	{ (char *)"e", (char *)"int" },
};

static struct hyptrace_hypercall_arg *args[] = { &arg[0], &arg[1], &arg[2], &arg[3], &arg[4] };
static struct hyptrace_hypercall call[] = {
	{ .id = 1, .name = (char *)"__share", .returns = true, .known_args = true, .nr_args = 2,
	  .args = args },
	{ .id = 2, .name = (char *)"__nothing", .known_args = true },
	{ .id = 3, .name = (char *)"__long", .returns = true, .known_args = true, .nr_args = 5,
	  .args = args },
	{ .id = 9, .name = (char *)"opaque", .nr_args = 2, .args = args },
	{ .id = 10, .name = (char *)"__kvm_vcpu_run", .returns = true, .known_args = true },
};

static struct hyptrace_hypercall *calls[] = { &call[0], &call[1], &call[2], &call[3], &call[4] };
static struct hyptrace_model *model;

static void begin_model(void)
{
	begin_formats();
	assert_int_equal(hyptrace_formats_set_hypercalls(formats, calls, COUNT(calls), NULL), 0);
	model = hyptrace_model_new(formats, NULL);
	assert_non_null(model);
}

static int begin(void **state)
{
	describe(state);
	begin_model();
	return 0;
}

static int end(void **state)
{
	hyptrace_model_free(model);
	model = NULL;
	return free_formats(state);
}

static const struct hyptrace_meaning *kind_of(const char *event, const void *payload,
					      struct hyptrace_record *rec)
{
	*rec = record_of(event, payload, event_of(event)->size);
	return hyptrace_model_meaning(model, rec);
}

static void kinds(void **state)
{
	struct hyptrace_record rec;
	enum hyptrace_kind kind;
	char payload[128] = {};
	unsigned int i, nr = 0;

	(void)state;
	for (i = 0; i < NR_EVENTS; i++) {
		const struct hyptrace_meaning *meaning = kind_of(events[i].name, payload, &rec);

		assert_ptr_equal(meaning->event, &events[i]);
		assert_int_not_equal(meaning->kind, HYPTRACE_KIND_UNKNOWN);
		if (meaning->kind != HYPTRACE_KIND_OTHER) {
			assert_string_equal(hyptrace_kind_event(meaning->kind), events[i].name);
			assert_ptr_equal(hyptrace_model_of_kind(model, meaning->kind), meaning);
			nr++;
		}
		/* too short */
		rec.size = events[i].size - 1;
		assert_int_equal(hyptrace_model_meaning(model, &rec)->kind, HYPTRACE_KIND_UNKNOWN);
		rec.size = 1;
		assert_int_equal(hyptrace_model_meaning(model, &rec)->kind, HYPTRACE_KIND_UNKNOWN);
		rec.size = events[i].size;
		memset((void *)rec.data, 0xff, sizeof(uint16_t));
		assert_int_equal(hyptrace_model_meaning(model, &rec)->kind, HYPTRACE_KIND_UNKNOWN);
		free((void *)rec.data);
	}
	for (kind = 0, i = 0; kind < HYPTRACE_NR_KINDS; kind++)
		i += !!hyptrace_kind_event(kind);
	assert_int_equal(nr, i);
}

/* Other remotes may have events of these names. */
static void fields_that_are_missing(void **state)
{
	struct hyptrace_record rec;
	const struct hyptrace_meaning *meaning;
	const struct entry_mem_transition payload = { .op = 1, .from = 2, .to = 3 };

	describe(state);
	field_of("mem_transition", "op")->name = (char *)"operation";
	event_of("mem_transition")->print_fmt = (char *)"\"-\"";
	field_of("host_hcall", "id")->size = 3;
	field_of("guest_exit", "duration")->offset = 4096;
	begin_model();
	meaning = kind_of("mem_transition", &payload, &rec);
	assert_int_equal(meaning->kind, HYPTRACE_KIND_OTHER);
	assert_false(hyptrace_meaning_has(meaning, HYPTRACE_ROLE_OP));
	assert_int_equal(hyptrace_meaning_value(meaning, HYPTRACE_ROLE_OP, &rec), 0);
	assert_int_equal(hyptrace_meaning_value(meaning, HYPTRACE_ROLE_TO, &rec), 3);
	assert_int_equal(hyptrace_meaning_key(meaning, &rec), 0);
	assert_null(hyptrace_meaning_name(meaning, 0));
	free((void *)rec.data);
	assert_null(hyptrace_model_of_kind(model, HYPTRACE_KIND_HYPERCALL));
	meaning = hyptrace_model_of_kind(model, HYPTRACE_KIND_GUEST_EXIT);
	assert_false(hyptrace_meaning_has(meaning, HYPTRACE_ROLE_DURATION));
	end(state);
}

#define VALUE(role, event, ...) value_of(HYPTRACE_ROLE_##role, #event, \
					 &(struct entry_##event){ __VA_ARGS__ })

static uint64_t value_of(enum hyptrace_role role, const char *event, const void *payload)
{
	struct hyptrace_record rec;
	const struct hyptrace_meaning *meaning = kind_of(event, payload, &rec);
	uint64_t value = hyptrace_meaning_value(meaning, role, &rec);

	free((void *)rec.data);
	return value;
}

static void values(void **state)
{
	(void)state;
	assert_int_equal(VALUE(REASON, hyp_enter, .reason = 200), 200);
	assert_int_equal(VALUE(VCPU, hyp_enter, .vcpu = -5), -5);
	assert_int_equal(VALUE(ID, host_hcall, .id = UINT32_MAX), UINT32_MAX);
	assert_int_equal(VALUE(RESULT, host_hcall, .ret = INT64_MIN), INT64_MIN);
	assert_int_equal(VALUE(ARG4, host_hcall, .arg4 = UINT64_MAX), UINT64_MAX);
	assert_int_equal(VALUE(ARG1, psci_call, .arg = 7), 7);
	assert_int_equal(VALUE(RESULT, host_ffa_call, .err = -6), -6);
	assert_int_equal(VALUE(INDEX, guest_enter, .index = 65535), 65535);
	assert_int_equal(VALUE(DURATION, hyp_exit, .reason = 1), 0);
}

/* The name of an event, and the same one again by its address */
static void expect_name(const char *name, const char *event, const void *payload)
{
	struct hyptrace_record rec;
	const struct hyptrace_meaning *meaning = kind_of(event, payload, &rec);
	const char *is = hyptrace_meaning_name(meaning, hyptrace_meaning_key(meaning, &rec));

	if (name)
		assert_string_equal(is ? is : "(none)", name);
	else
		assert_null(is);
	assert_ptr_equal(is, hyptrace_meaning_name(meaning, hyptrace_meaning_key(meaning, &rec)));
	free((void *)rec.data);
}

#define EXPECT_NAME(name, event, ...) \
	expect_name(name, #event, &(struct entry_##event){ __VA_ARGS__ })

static void names(void **state)
{
	(void)state;
	EXPECT_NAME("hvc", hyp_enter, .reason = 1);
	EXPECT_NAME(NULL, hyp_enter, .reason = 99);
	EXPECT_NAME("eret_guest", hyp_exit, .reason = 7);
	EXPECT_NAME("__share", host_hcall, .id = 1);
	EXPECT_NAME("__seven", host_hcall, .id = 7);
	EXPECT_NAME(NULL, host_hcall, .id = 70000);
	EXPECT_NAME("PSCI_VERSION", host_smc, .id = 0x84000000);
	EXPECT_NAME("PSCI_CPU_ON_64", psci_call, .func = 0xc4000003);
	EXPECT_NAME("FFA_FEATURES", host_ffa_call, .func_id = 0x84000064);
	EXPECT_NAME("DABT_LOW", guest_exit, .code = 2, .ec = 0x24);
	/* the class has no meaning */
	EXPECT_NAME("irq", guest_exit, .code = 0, .ec = 0x24);
	EXPECT_NAME(NULL, guest_exit, .code = 77, .ec = 0x24);
	EXPECT_NAME("guest_fixup WFx", guest_fixup, .ec = 1);
	EXPECT_NAME("host_mem_abort DABT_LOW", host_mem_abort, .esr = 0x24UL << 26);
	EXPECT_NAME("vcpu_illegal_trap WFx", vcpu_illegal_trap, .esr = 1UL << 26);
	EXPECT_NAME("donate host -> hyp", mem_transition, .op = 2, .to = 1);
	EXPECT_NAME("share host -> ffa", mem_transition, .op = 0, .to = 3);
	EXPECT_NAME(NULL, mem_transition, .op = 2, .from = 9);
	EXPECT_NAME("tlbi vmid", tlbi, .op = 3);
	EXPECT_NAME("hyp_pool free", hyp_pool, .op = 1);
	EXPECT_NAME("lock_wait pkvm_pgd", lock_wait, .lock = 2);
	EXPECT_NAME(NULL, guest_enter, .vcpu = 1);
	EXPECT_NAME(NULL, selftest, .id = 1);
}

static void names_of_values(void **state)
{
	const struct hyptrace_meaning *meaning;

	(void)state;
#define NAME_OF(kind, role, value) \
	hyptrace_meaning_value_name(hyptrace_model_of_kind(model, HYPTRACE_KIND_##kind), \
				    HYPTRACE_ROLE_##role, value)
	assert_string_equal(NAME_OF(HYPERCALL, ID, 1), "__share");
	assert_string_equal(NAME_OF(HYPERCALL, ID, 7), "__seven");
	assert_null(NAME_OF(HYPERCALL, ID, 8));
	assert_string_equal(NAME_OF(GUEST_EXIT, CODE, 2), "trap");
	assert_string_equal(NAME_OF(GUEST_EXIT, CLASS, 0x24), "DABT_LOW");
	assert_string_equal(NAME_OF(MEM_ABORT, ESR, 0x24UL << 26), "DABT_LOW");
	assert_null(NAME_OF(GUEST_EXIT, ESR, 0));
	assert_string_equal(NAME_OF(TRANSITION, TO, 1), "hyp");
	assert_null(NAME_OF(TRANSITION, PAGE, 1));
	assert_null(NAME_OF(TRANSITION, REASON, 1));
	meaning = hyptrace_model_of_kind(model, HYPTRACE_KIND_EXIT);
	assert_int_equal(meaning->into_guest, 7);
	meaning = hyptrace_model_of_kind(model, HYPTRACE_KIND_GUEST_EXIT);
	assert_int_equal(meaning->trap, 2);
}

/* Fields that have names of values by another field, or that the sentence of the event knows */
static void names_that_depend(void **state)
{
	static const char depend[] =
		" host_hcall.id host_hcall.ret host_smc.ret psci_call.ret host_ffa_call.err "
		"host_mem_abort.esr host_mem_abort.ret guest_exit.ec guest_exit.esr "
		"vcpu_illegal_trap.esr mem_transition.ret ";
	const struct hyptrace_field *field;
	unsigned int raw, i, j;
	char name[64];

	(void)state;
	for (raw = 0; raw < 2; raw++) {
		for (i = 0; i < NR_EVENTS; i++)
			for (j = 0; j < events[i].nr_fields; j++) {
				field = events[i].fields[j];
				snprintf(name, sizeof(name), " %s.%s ", events[i].name,
					 field->name);
				if (hyptrace_formats_name_depends(formats, &events[i], field) !=
				    (!raw && strstr(depend, name)))
					fail_msg("%s", name);
			}
		/* without sentences, each value has one name */
		hyptrace_formats_set_raw(formats);
	}
}

static void arguments(void **state)
{
	const struct hyptrace_meaning *hcall, *smc;

	(void)state;
	hcall = hyptrace_model_of_kind(model, HYPTRACE_KIND_HYPERCALL);
	smc = hyptrace_model_of_kind(model, HYPTRACE_KIND_SMC);
	assert_ptr_equal(hyptrace_meaning_hypercall(hcall, 1), &call[0]);
	assert_null(hyptrace_meaning_hypercall(hcall, 7));
	assert_null(hyptrace_meaning_hypercall(hcall, UINT64_MAX));
	assert_null(hyptrace_meaning_hypercall(smc, 1));
	assert_int_equal(hyptrace_meaning_named_args(hcall, &call[0]), 2);
	assert_int_equal(hyptrace_meaning_named_args(hcall, &call[1]), 0);
	/* the event has four */
	assert_int_equal(hyptrace_meaning_named_args(hcall, &call[2]), 4);
	/* nobody knows which ones it has */
	assert_int_equal(hyptrace_meaning_named_args(hcall, &call[3]), 0);
	assert_int_equal(hyptrace_meaning_named_args(hcall, NULL), 0);
	assert_int_equal(smc->nr_args, 3);
}

static void expect_result(bool has_result, const char *name, const char *error, const char *event,
			  const void *payload)
{
	struct hyptrace_record rec;
	const struct hyptrace_meaning *meaning = kind_of(event, payload, &rec);
	const char *is = hyptrace_meaning_result_name(meaning, &rec);
	int64_t result;

	assert_int_equal(hyptrace_meaning_result(meaning, &rec, &result), has_result);
	assert_string_equal(is ? is : "none", name ? name : "none");
	is = hyptrace_meaning_error(meaning, &rec);
	assert_string_equal(is ? is : "none", error ? error : "none");
	free((void *)rec.data);
}

#define EXPECT_RESULT(has_result, name, error, event, ...) \
	expect_result(has_result, name, error, #event, &(struct entry_##event){ __VA_ARGS__ })

static void results(void **state)
{
	(void)state;
	EXPECT_RESULT(true, "-EPERM", "-EPERM", host_hcall, .id = 7, .ret = -1);
	EXPECT_RESULT(true, NULL, NULL, host_hcall, .id = 7, .ret = 1);
	EXPECT_RESULT(false, NULL, NULL, host_hcall, .id = 2, .ret = -1);
	/* why the guest has exited is no error */
	EXPECT_RESULT(true, "irq", NULL, host_hcall, .id = 10, .ret = 0);
	EXPECT_RESULT(true, "-EPERM", "-EPERM", host_hcall, .id = 10, .ret = -1);
	EXPECT_RESULT(false, NULL, "invalid", host_hcall, .id = 8, .ret = -1, .invalid = 1);
	EXPECT_RESULT(true, NULL, NULL, host_smc, .id = 0x80000000, .ret = 0x10002);
	EXPECT_RESULT(true, "NOT_SUPPORTED", "NOT_SUPPORTED", host_smc, .id = 0x84000000,
		      .ret = 0xffffffff);
	/* FF-A answers with another call */
	EXPECT_RESULT(true, "FFA_ERROR", "FFA_ERROR", host_smc, .id = 0x84000063,
		      .ret = 0x84000060);
	EXPECT_RESULT(true, "FFA_SUCCESS", NULL, host_smc, .id = 0x84000063, .ret = 0x84000061);
	EXPECT_RESULT(true, "INVALID_PARAMETERS", "INVALID_PARAMETERS", psci_call,
		      .func = 0xc4000003, .ret = -2);
	/* recorded before the firmware is called */
	EXPECT_RESULT(false, NULL, NULL, psci_call, .func = 0xc4000003);
	EXPECT_RESULT(true, NULL, NULL, psci_call, .func = 0x84000000);
	/* its result is a version, which the event does not have */
	EXPECT_RESULT(false, NULL, NULL, host_ffa_call, .func_id = 0x84000063, .handled = 1);
	EXPECT_RESULT(true, "DENIED", "DENIED", host_ffa_call, .func_id = 0x84000064, .handled = 1,
		      .err = -6);
	EXPECT_RESULT(false, "DENIED", NULL, host_ffa_call, .func_id = 0x84000064, .err = -6);
	EXPECT_RESULT(true, "-ENOMEM", "-ENOMEM", mem_transition, .ret = -12);
	EXPECT_RESULT(false, NULL, NULL, guest_exit, .code = 2, .ec = 0x24);
}

/* Give the values of a field the names that those of another one have. */
static void name_like(struct hyptrace_field *field, const struct hyptrace_field *other)
{
	field->symbols = other->symbols;
	field->nr_symbols = other->nr_symbols;
}

/* Another remote may name values in another order, or lack a field of the sentence. */
static void other_descriptions(void **state)
{
	struct hyptrace_field *field;

	describe(state);
	field = field_of("hyp_exit", "reason");
	for (; strcmp(field->symbols[0]->name, "eret_guest"); field->nr_symbols--)
		field->symbols++;
	name_like(field_of("mem_transition", "from"), field_of("mem_transition", "op"));
	field_of("mem_transition", "from")->nr_symbols = 2;
	field_of("host_hcall", "arg4")->name = (char *)"x4";
	event_of("host_hcall")->print_fmt = (char *)"\"-\"";
	begin_model();
	assert_int_equal(hyptrace_model_of_kind(model, HYPTRACE_KIND_EXIT)->into_guest, 7);
	EXPECT_NAME("donate unshare -> hyp", mem_transition, .op = 2, .from = 1, .to = 1);
	EXPECT_NAME(NULL, mem_transition, .op = 2, .from = 2, .to = 1);
	EXPECT_RESULT(true, NULL, NULL, host_hcall, .id = 1, .ret = -1);
	EXPECT_RESULT(false, NULL, "invalid", host_hcall, .id = 1, .ret = -1, .invalid = 1);
	end(state);
}

/* Eight bytes are read for each field; another remote may have an event with fewer. */
static void small_payload(void **state)
{
	struct hyptrace_event *event;
	const signed char payload[] = { 0, 0, 1, -2, 3 };
	unsigned int i;

	describe(state);
	event = event_of("guest_enter");
	for (i = 0; i < event->nr_fields; i++) {
		event->fields[i]->offset = 2 + i;
		event->fields[i]->size = 1;
	}
	event->size = sizeof(payload);
	begin_formats();
	expect_text("guest_enter", payload, "vcpu=-2 vm=0x3.1");
	free_formats(state);
}

static void hostile_descriptions(void **state)
{
	describe(state);
	/* names of transitions would be too many */
	name_like(field_of("mem_transition", "op"), field_of("guest_exit", "ec"));
	field_of("mem_transition", "to")->nr_symbols = 0;
	begin_model();
	EXPECT_NAME(NULL, mem_transition, .op = 0);
	end(state);
	describe(state);
	name_like(field_of("mem_transition", "to"), field_of("guest_exit", "ec"));
	begin_model();
	EXPECT_NAME(NULL, mem_transition, .op = 0);
	end(state);
	describe(state);
	field_of("hyp_exit", "reason")->nr_symbols = 0;
	field_of("guest_exit", "code")->nr_symbols = 0;
	begin_model();
	EXPECT_NAME(NULL, hyp_exit, .reason = 7);
	EXPECT_NAME(NULL, guest_exit, .code = 2, .ec = 0x24);
	end(state);
}

static void no_memory(void **state)
{
	struct hyptrace_error err;
	bool failed = true;
	unsigned int nth;

	(void)state;
	for (nth = 1; failed; nth++) {
		hyptrace_model_free(model);
		err.errnum = 0;
		fail_alloc(nth);
		model = hyptrace_model_new(formats, &err);
		failed = fail_alloc_end();
		if (failed) {
			assert_null(model);
			assert_int_equal(err.errnum, ENOMEM);
		}
	}
	assert_non_null(model);
}

/* Take an event of a nest. Return what that returns. */
static int take(struct hyptrace_nest *nest, unsigned int cpu, uint64_t ts, const char *event,
		const void *payload)
{
	struct hyptrace_stream_event put = { .cpu = cpu };
	int ret;

	fail_alloc_pause(true);
	put.record = record_of(event, payload, event_of(event)->size);
	fail_alloc_pause(false);
	put.record.ts = ts;
	ret = hyptrace_nest_add(nest, &put, true, 1);
	free((void *)put.record.data);
	return ret;
}

#define TAKE(ts, cpu, event, ...) \
	take(nest, cpu, ts, #event, &(struct entry_##event){ __VA_ARGS__ })

/* Functions of no visit, a visit with calls and functions, on each CPU; and a loss */
static int fill(struct hyptrace_nest *nest)
{
	/* without data, the size says nothing */
	const struct hyptrace_stream_event loss = {
		.cpu = 1, .record = { .ts = 900, .lost = 3, .size = 64 },
	};
	unsigned int i;
	int ret = 0;

	for (i = 0; i < 40 && !ret; i++) {
		const uint64_t ts = 1000 * (i + 1);
		const unsigned int cpu = i % 20;

		ret = TAKE(ts - 20, cpu, func, .id = 1, .duration = 5) ?:
		      TAKE(ts - 10, cpu, func, .id = 1, .depth = i & 1, .duration = 5) ?:
		      TAKE(ts, cpu, hyp_enter, .reason = 1) ?:
		      TAKE(ts + 50, cpu, host_hcall, .id = 1, .duration = 20) ?:
		      TAKE(ts + 60, cpu, func, .id = 1, .depth = 1, .duration = 5) ?:
		      TAKE(ts + 60, cpu, func, .id = 2, .depth = 0, .duration = 40) ?:
		      TAKE(ts + 70, cpu, hyp_exit, .reason = 6);
	}
	return ret ?: hyptrace_nest_add(nest, &loss, true, 1);
}

static void no_memory_for_spans(void **state)
{
	struct hyptrace_nest *nest;
	bool failed = true;
	unsigned int nth, nr;
	int ret;

	(void)state;
	for (nth = 1; failed; nth++) {
		fail_alloc(nth);
		nest = hyptrace_nest_new(model, HYPTRACE_VISIT_KINDS | HYPTRACE_FUNCTION_KINDS);
		ret = nest ? fill(nest) : -ENOMEM;
		failed = fail_alloc_end();
		assert_int_equal(ret, failed ? -ENOMEM : 0);
		if (!failed) {
			hyptrace_nest_end(nest);
			for (nr = 0; hyptrace_nest_next(nest, 2); nr++)
				;
			assert_int_equal(nr, 40 * 6 + 1);
		}
		hyptrace_nest_free(nest);
	}
	assert_true(nth > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(kinds, begin, end),
		cmocka_unit_test(fields_that_are_missing),
		cmocka_unit_test_setup_teardown(values, begin, end),
		cmocka_unit_test_setup_teardown(names, begin, end),
		cmocka_unit_test_setup_teardown(names_of_values, begin, end),
		cmocka_unit_test_setup_teardown(names_that_depend, begin, end),
		cmocka_unit_test_setup_teardown(arguments, begin, end),
		cmocka_unit_test_setup_teardown(results, begin, end),
		cmocka_unit_test(other_descriptions),
		cmocka_unit_test(small_payload),
		cmocka_unit_test(hostile_descriptions),
		cmocka_unit_test_setup_teardown(no_memory, begin, end),
		cmocka_unit_test_setup_teardown(no_memory_for_spans, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
