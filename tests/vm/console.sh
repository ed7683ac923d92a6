# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# What a kernel console must not say, and what it says of the hypervisor's mode. To be sourced.

complaints=(
	'WARNING:' 'BUG:' 'Oops' 'Kernel panic' 'Unable to handle' 'Internal error' 'Call trace:'
	'[Hh]yp panic' 'HYP panic' 'hyp panic'
	'detected stalls' 'self-detected stall' 'blocked for more than' 'soft lockup'
	'possible (circular|recursive|irq)' 'inconsistent lock state' 'bad unlock balance' 'held lock freed'
	'lock held when returning' 'non-static key' 'suspicious RCU' 'scheduling while atomic'
	'sleeping function called' 'UBSAN:' 'KASAN:' 'KCSAN:' 'ODEBUG:' 'refcount_t:' 'corruption'
	'unreferenced object' 'new suspected memory leaks' 'page allocation failure'
)

# console_complaints FILE: print the lines of FILE in which a kernel complains; true if there are any.
console_complaints()
{
	local IFS='|'
	grep -aE "${complaints[*]}" "$1"
}

# console_protected FILE: true if the hypervisor came up in protected mode.
console_protected()
{
	grep -aqE 'Protected (nVHE|hVHE) mode initialized successfully' "$1"
}
