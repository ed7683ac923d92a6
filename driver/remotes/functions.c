// SPDX-License-Identifier: GPL-2.0-only
/* Which functions EL2 traces: those that the filter of func can accept. Called by pkvm.c. */
#include <linux/bitmap.h>

#include "../../hyp/abi.h"
#include "../../hyp/function/function_abi.h"
#include "el2.h"
#include "functions.h"

/* The control mutex of the remote protects them, after hyptrace_functions_init(). */
static const struct hyptrace_el2 *el2;
static unsigned int nr_functions;
static DECLARE_BITMAP(chosen, HYPTRACE_MAX_FUNCTIONS);
static DECLARE_BITMAP(chosen_before, HYPTRACE_MAX_FUNCTIONS);
static DECLARE_BITMAP(traced, HYPTRACE_MAX_FUNCTIONS);
static bool is_enabled;

/* Have EL2 trace these functions, and no other. After an error, those of before are traced. */
static int trace(const unsigned long *functions)
{
	DECLARE_BITMAP(change, HYPTRACE_MAX_FUNCTIONS);
	unsigned int id, failed;
	int err;

	bitmap_xor(change, functions, traced, nr_functions);
	for_each_set_bit(id, change, nr_functions) {
		err = el2->set_function(id, test_bit(id, functions));
		if (err)
			goto err_restore;
	}
	bitmap_copy(traced, functions, nr_functions);
	return 0;

err_restore:
	failed = id;
	for_each_set_bit(id, change, failed)
		el2->set_function(id, test_bit(id, traced));
	return err;
}

static bool compare(u64 id, const struct hyptrace_term *term)
{
	switch (term->op) {
	case HYPTRACE_TERM_EQ:
		return id == term->value;
	case HYPTRACE_TERM_NE:
		return id != term->value;
	case HYPTRACE_TERM_LT:
		return id < term->value;
	case HYPTRACE_TERM_LE:
		return id <= term->value;
	case HYPTRACE_TERM_GT:
		return id > term->value;
	case HYPTRACE_TERM_GE:
		return id >= term->value;
	default:
		return id & term->value;
	}
}

/* Whether the filter can accept an event of this function: what other fields have is not known. */
static bool can_accept(u64 id, const struct hyptrace_term *terms, unsigned int nr)
{
	unsigned long reached = BIT(0);
	unsigned int i, branch;

	for (i = 0; i < nr; i++) {
		const u8 next[] = { terms[i].on_false, terms[i].on_true };
		bool is_known = terms[i].offset == HYPTRACE_FUNC_ID_OFFSET;

		if (!(reached & BIT(i)))
			continue;
		for (branch = 0; branch <= 1; branch++) {
			if (is_known && branch != compare(id, &terms[i]))
				continue;
			if (next[branch] < HYPTRACE_FILTER_MAX_TERMS)
				reached |= BIT(next[branch]);
			else if (next[branch] != HYPTRACE_FILTER_REJECT)
				return true;
		}
	}

	return !nr;
}

/* Choose functions, and have EL2 trace them while func is enabled. */
static int choose(const unsigned long *functions)
{
	int err = is_enabled ? trace(functions) : 0;

	if (!err)
		bitmap_copy(chosen, functions, nr_functions);
	return err;
}

/**
 * hyptrace_functions_init() - choose all functions
 * @access:	to EL2
 * @nr:		number of functions that it can trace
 *
 * EL2 traces none of them yet.
 *
 * Context: the event func is not enabled.
 */
void hyptrace_functions_init(const struct hyptrace_el2 *access, unsigned int nr)
{
	unsigned int id;

	el2 = access;
	nr_functions = min_t(unsigned int, nr, HYPTRACE_MAX_FUNCTIONS);
	bitmap_fill(chosen, nr_functions);
	/* This module may have been removed while they were traced, or a host before kexec. */
	for (id = 0; id < nr_functions; id++)
		el2->set_function(id, false);
}

/**
 * hyptrace_functions_enable() - trace the chosen functions, or none
 * @enable:	the event func is about to be enabled, else it was disabled
 * Context: control mutex of the remote held, or the remote is not registered.
 * Return: 0 or a negative errno, and nothing has changed; 0 if @enable is false.
 */
int hyptrace_functions_enable(bool enable)
{
	unsigned int id;
	int err;

	if (enable) {
		err = trace(chosen);
		is_enabled = !err;
		return err;
	}
	is_enabled = false;
	for_each_set_bit(id, traced, nr_functions) {
		err = el2->set_function(id, false);
		if (!err)
			__clear_bit(id, traced);
		else
			pr_err_once("hyptrace: EL2 still traces functions (error %d)\n", -err);
	}
	return 0;
}

/**
 * hyptrace_functions_choose() - choose the functions that a filter of the event func can accept
 * @terms:	of the filter
 * @nr:		number of @terms; 0: there is no filter
 * Context: control mutex of the remote held.
 * Return: 0 or a negative errno, and nothing has changed.
 */
int hyptrace_functions_choose(const struct hyptrace_term *terms, unsigned int nr)
{
	DECLARE_BITMAP(functions, HYPTRACE_MAX_FUNCTIONS) = { };
	unsigned int id;

	for (id = 0; id < nr_functions; id++)
		__assign_bit(id, functions, can_accept(id, terms, nr));
	bitmap_copy(chosen_before, chosen, nr_functions);
	return choose(functions);
}

/**
 * hyptrace_functions_choose_again() - undo the last hyptrace_functions_choose()
 *
 * Context: as there; nothing has changed since then.
 */
void hyptrace_functions_choose_again(void)
{
	choose(chosen_before);
}
