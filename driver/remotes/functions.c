// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which functions of EL2 are traced: those that were chosen, while the event func is enabled. Called by
 * pkvm.c.
 */
#include <linux/bitmap.h>

#include "../../hyp/abi.h"
#include "el2.h"
#include "functions.h"

static const struct hyptrace_el2 *el2;
static unsigned int nr_functions;

/* The control mutex of the remote protects them. */
static DECLARE_BITMAP(chosen, HYPTRACE_MAX_FUNCTIONS);
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

static int update(bool enable, const unsigned long *functions)
{
	static const DECLARE_BITMAP(none, HYPTRACE_MAX_FUNCTIONS);

	return trace(enable ? functions : none);
}

/**
 * hyptrace_functions_init() - choose all functions
 * @access:	to EL2
 * @nr:		number of functions that it can trace
 *
 * Context: the event func is not enabled.
 */
void hyptrace_functions_init(const struct hyptrace_el2 *access, unsigned int nr)
{
	el2 = access;
	nr_functions = min_t(unsigned int, nr, HYPTRACE_MAX_FUNCTIONS);
	bitmap_fill(chosen, nr_functions);
}

/**
 * hyptrace_functions_enable() - trace the chosen functions, or none
 * @enable:	the event func is about to be enabled, else it was disabled
 *
 * Context: control mutex of the remote held.
 * Return: 0 or a negative errno, and nothing has changed.
 */
int hyptrace_functions_enable(bool enable)
{
	int err = update(enable, chosen);

	if (!err)
		is_enabled = enable;
	return err;
}

/**
 * hyptrace_functions_choose() - choose which functions are traced
 * @functions:	a bit per id; NULL: all
 *
 * Context: control mutex of the remote held.
 * Return: 0 or a negative errno, and nothing has changed.
 */
int hyptrace_functions_choose(const unsigned long *functions)
{
	DECLARE_BITMAP(all, HYPTRACE_MAX_FUNCTIONS);
	int err;

	bitmap_fill(all, nr_functions);
	err = update(is_enabled, functions ?: all);
	if (!err)
		bitmap_copy(chosen, functions ?: all, nr_functions);
	return err;
}
