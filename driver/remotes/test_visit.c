// SPDX-License-Identifier: GPL-2.0-only
/* Events of the remote "test" that are not "selftest". It is built as hyp/ is. */
#include "../../hyp/hooks.h"
#include "test.h"

/**
 * hyptrace_test_visit - record and count what EL2 does for a call that does nothing
 * @unused:	for smp_call_function_single()
 *
 * Context: interrupts are off.
 */
void hyptrace_test_visit(void *unused)
{
	hyptrace(hyp_enter, HYPTRACE_REASON_HVC);
	hyptrace(hyp_exit, HYPTRACE_REASON_ERET_HOST);
}
