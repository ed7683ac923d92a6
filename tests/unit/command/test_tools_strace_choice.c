// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyptrace strace -e: which calls are chosen, and the filters at EL2.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "output/die.h"
#include "view/calls/strace.h"
#include "filter_case.h"
#include "sentence_case.h"

/* A table of hypercalls from 0 on, more than a filter has comparisons */
static struct hyptrace_hypercall table[] = {
	{ .id = 0, .name = "__kvm_vcpu_run" },
	{ .id = 1, .name = "__pkvm_host_share_hyp" },
	{ .id = 2, .name = "__pkvm_host_unshare_hyp" },
	{ .id = 3, .name = "__pkvm_a" }, { .id = 4, .name = "__pkvm_b" },
	{ .id = 5, .name = "__pkvm_c" }, { .id = 6, .name = "__pkvm_d" },
	{ .id = 7, .name = "__pkvm_e" }, { .id = 8, .name = "__pkvm_f" },
	{ .id = 9, .name = "__pkvm_g" },
};

static struct hyptrace_hypercall *list[COUNT(table)];
static struct hyptrace_model *model;
static struct strace_choice choice;
/* What strace_choice_begin() has returned */
static int checked;

#define KIND(kind)	HYPTRACE_KIND_##kind

static char message[512];

/* What the command would print */
void cmd_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
}

/* Choose by some arguments of -e, which end with NULL. */
static bool choose(const char *first, ...)
{
	static char texts[4][200];
	const char *arg = first;
	unsigned int i = 0;
	bool ok = true;
	va_list ap;

	strace_choice_free(&choice);
	choice = (struct strace_choice){};
	va_start(ap, first);
	for (; arg; arg = va_arg(ap, const char *)) {
		strcpy(texts[i], arg);
		ok &= strace_choice_add(&choice, texts[i++]);
	}
	va_end(ap);
	checked = strace_choice_begin(&choice, model, list, COUNT(table));
	return ok;
}

static int begin(void **state)
{
	unsigned int i;

	describe_and_begin(state);
	for (i = 0; i < COUNT(table); i++)
		list[i] = &table[i];
	model = hyptrace_model_new(formats, NULL);
	assert_non_null(model);
	choose(NULL);
	return 0;
}

static int end(void **state)
{
	strace_choice_free(&choice);
	choice = (struct strace_choice){};
	hyptrace_model_free(model);
	return free_formats(state);
}

static bool has(enum hyptrace_kind kind, const char *name)
{
	return strace_choice_name(&choice, kind, name);
}

static void words(void **state)
{
	(void)state;
	/* by default all calls, but not the traps that an exit follows */
	assert_true(has(KIND(HYPERCALL), "__kvm_vcpu_run"));
	assert_true(has(KIND(GUEST_EXIT), "WFx"));
	assert_false(has(KIND(GUEST_FIXUP), "WFx"));

	assert_true(choose("__pkvm_*,WFx", NULL));
	assert_true(has(KIND(HYPERCALL), "__pkvm_a"));
	assert_false(has(KIND(HYPERCALL), "__kvm_vcpu_run"));
	assert_true(has(KIND(GUEST_EXIT), "WFx"));
	assert_false(has(KIND(GUEST_EXIT), "irq"));
	assert_false(has(KIND(GUEST_FIXUP), "WFx"));

	assert_true(choose("guest_*", NULL));
	assert_true(has(KIND(GUEST_EXIT), "irq"));
	assert_true(has(KIND(GUEST_FIXUP), "WFx"));
	assert_false(has(KIND(SMC), "PSCI_VERSION"));

	assert_true(choose("!__kvm_vcpu_run,irq", NULL));
	assert_false(has(KIND(HYPERCALL), "__kvm_vcpu_run"));
	assert_false(has(KIND(GUEST_EXIT), "irq"));
	assert_true(has(KIND(GUEST_EXIT), "WFx"));
	assert_false(has(KIND(GUEST_FIXUP), "WFx"));

	assert_true(choose("trace=!host_hcall", NULL));
	assert_false(has(KIND(HYPERCALL), "__pkvm_a"));
	assert_true(has(KIND(SMC), "PSCI_VERSION"));

	/* what one argument excludes, another one does not choose */
	assert_true(choose("trace=host_hcall", "!__pkvm_a", NULL));
	assert_false(has(KIND(HYPERCALL), "__pkvm_a"));
	assert_true(has(KIND(HYPERCALL), "__pkvm_b"));
	assert_false(has(KIND(SMC), "PSCI_VERSION"));
	assert_true(choose("host_hcall,!__pkvm_a", NULL));
	assert_false(has(KIND(HYPERCALL), "__pkvm_a"));
	assert_true(has(KIND(HYPERCALL), "__pkvm_b"));

	assert_false(choose("", NULL));
	assert_false(choose(",", NULL));
	assert_false(choose("!", NULL));
	assert_false(choose("trace=", NULL));
	assert_false(choose("irq,!", NULL));
}

static void unknown_words(void **state)
{
	(void)state;
	choose("__pkvm_host_share_hyp,WFx,PSCI_*,psci_call,!irq,0x1234", NULL);
	assert_int_equal(checked, EXIT_DONE);
	choose("irq,__pkvm_host_share_hip", NULL);
	assert_int_equal(checked, EXIT_REFUSED);
	assert_string_equal(message, "cannot trace \"__pkvm_host_share_hip\": no such call; did you mean \"__pkvm_host_share_hyp\"?");
	choose("!wfx", NULL);
	assert_int_equal(checked, EXIT_REFUSED);
	assert_string_equal(message, "cannot trace \"wfx\": no such call; did you mean \"WFx\"?");
	choose("nothing*", NULL);
	assert_int_equal(checked, EXIT_REFUSED);
	assert_string_equal(message, "cannot trace \"nothing*\": no call matches");
	choose("hyp_enter", NULL);
	assert_int_equal(checked, EXIT_REFUSED);
	/* it is not the class of an exit that is chosen by it */
	choose("trap", NULL);
	assert_int_equal(checked, EXIT_REFUSED);
}

static void kinds(void **state)
{
	(void)state;
	assert_true(strace_choice_kind(&choice, KIND(FFA)));
	assert_false(strace_choice_kind(&choice, KIND(GUEST_FIXUP)));
	choose("PSCI_CPU_ON_64", NULL);
	assert_true(strace_choice_kind(&choice, KIND(PSCI)));
	assert_true(strace_choice_kind(&choice, KIND(SMC)));
	assert_false(strace_choice_kind(&choice, KIND(HYPERCALL)));
	assert_false(strace_choice_kind(&choice, KIND(GUEST_EXIT)));
	/* any kind may have a number without a name */
	choose("0x1234", NULL);
	assert_true(strace_choice_kind(&choice, KIND(HYPERCALL)));
	assert_true(strace_choice_kind(&choice, KIND(GUEST_EXIT)));
	assert_false(strace_choice_kind(&choice, KIND(GUEST_FIXUP)));
	choose("!host_hcall,__pkvm_a", NULL);
	assert_false(strace_choice_kind(&choice, KIND(HYPERCALL)));
	assert_true(strace_choice_kind(&choice, KIND(GUEST_EXIT)));
}

/* The filter is the expected one, and EL2 would accept it. NULL: there is none. */
static void expect_filter(enum hyptrace_kind kind, const char *expected)
{
	char *text = strace_choice_filter(&choice, kind);
	struct hyptrace_filter *filter;
	struct hyptrace_error err;
	size_t at;

	if (!expected) {
		if (text)
			fail_msg("the filter is \"%s\"", text);
		return;
	}
	assert_non_null(text);
	assert_string_equal(text, expected);
	filter = filter_of(hyptrace_model_of_kind(model, kind)->event, text, &at, &err);
	if (!filter)
		fail_msg("\"%s\" at %zu: %s", text, at, err.text);
	hyptrace_filter_free(filter);
	free(text);
}

static void filters(void **state)
{
	(void)state;
	expect_filter(KIND(HYPERCALL), NULL);
	expect_filter(KIND(GUEST_EXIT), NULL);
	choose("host_hcall", NULL);
	expect_filter(KIND(HYPERCALL), NULL);
	choose("__pkvm_host_*", NULL);
	expect_filter(KIND(HYPERCALL), "id == 1 || id == 2");
	choose("!__pkvm_host_*", NULL);
	expect_filter(KIND(HYPERCALL), "id != 1 && id != 2");
	expect_filter(KIND(GUEST_EXIT), NULL);
	/* nine of them */
	choose("__pkvm_*", NULL);
	expect_filter(KIND(HYPERCALL), NULL);
	choose("__pkvm_[a-f],__pkvm_host*", NULL);
	expect_filter(KIND(HYPERCALL), "id == 1 || id == 2 || id == 3 || id == 4 || id == 5 || id == 6 || id == 7 || id == 8");
	/* a number may have no name */
	choose("__pkvm_a,0x77", NULL);
	expect_filter(KIND(HYPERCALL), NULL);
	choose("PSCI_VERSION", NULL);
	expect_filter(KIND(PSCI), "func == 2214592512");
	expect_filter(KIND(SMC), "id == 2214592512");
}

static void filters_of_exits(void **state)
{
	(void)state;
	choose("irq", NULL);
	expect_filter(KIND(GUEST_EXIT), "code == 0");
	choose("WFx,DABT_LOW", NULL);
	expect_filter(KIND(GUEST_EXIT), "code == 2 && (ec == 1 || ec == 36)");
	choose("WFx,irq,serror", NULL);
	expect_filter(KIND(GUEST_EXIT), "code == 0 || code == 1 || code == 2 && (ec == 1)");
	choose("!WFx", NULL);
	expect_filter(KIND(GUEST_EXIT), "code != 2 || (ec != 1)");
	choose("!irq", NULL);
	expect_filter(KIND(GUEST_EXIT), "code != 0");
	choose("!irq,WFx,DABT_LOW", NULL);
	expect_filter(KIND(GUEST_EXIT), "code != 0 && (code != 2 || (ec != 1 && ec != 36))");
	choose("guest_fixup", NULL);
	expect_filter(KIND(GUEST_FIXUP), NULL);
	choose("guest_fixup,!WFx", NULL);
	expect_filter(KIND(GUEST_FIXUP), "ec != 1");
}

static void filters_of_exits_without_code(void **state)
{
	end(state);
	model = NULL;
	describe(state);
	field_of("guest_exit", "code")->name = "other";
	event_of("guest_exit")->print_fmt = (char *)"\"\"";
	begin_formats();
	model = hyptrace_model_new(formats, NULL);
	assert_non_null(model);
	choose("WFx", NULL);
	assert_int_equal(checked, EXIT_DONE);
	assert_true(strace_choice_kind(&choice, KIND(GUEST_EXIT)));
	expect_filter(KIND(GUEST_EXIT), NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(words, begin, end),
		cmocka_unit_test_setup_teardown(unknown_words, begin, end),
		cmocka_unit_test_setup_teardown(kinds, begin, end),
		cmocka_unit_test_setup_teardown(filters, begin, end),
		cmocka_unit_test_setup_teardown(filters_of_exits, begin, end),
		cmocka_unit_test_setup_teardown(filters_of_exits_without_code, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
