#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Have the host and EL2 panic, and check that the last events are in the kernel's log, and in ramoops after a warm reboot.
# The kernel is that of the flavour "builtin": its trace begins at boot. The last line is "N passed, N failed".

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../checks.sh"

# The log is longer than pstore keeps by default.
store="ramoops.record_size=131072 pstore.kmsg_bytes=65536"

# events FILE: print the events that a panic has printed there, like hyptrace show
events()
{
	tr -d '\r' <"$1" | sed -n 's/.*hyptrace: \(\[[0-9]*\] .*\)/\1/p' | sed 's/   */ /g'
}

# has_panicked CASE EVENTS: boot, panic and boot again
has_panicked()
{
	mkdir "$work/$1"
	FLAVOUR=builtin "$vm/run.sh" --timeout 100 --reboot --share "$work/$1" --console "$work/$1/console" \
		--append "hyptrace=$2 reserve_mem=1M:4096:oops ramoops.mem_name=oops $store" \
		-- /mnt/repo/tests/blackbox/panic-inside.sh "$1" || true
	grep -a 'the last events of CPU [0-9]*, which panics:' "$work/$1/console" &&
		grep -a 'the last events of all CPUs:' "$work/$1/console" && ! grep -a 'are damaged' "$work/$1/console"
}

# The last line of the log is that of the newest event, a message of EL2.
has_last()
{
	sed 's/   */ /g' "$work/host/shown" | tail -n 32 >"$work/want"
	tail -n 1 "$work/want" | grep ' hyp_printk: selftest 77$' &&
		events "$work/host/console" | tail -n 32 | diff "$work/want" -
}

has_hyp_panic()
{
	events "$work/hyp/console" | tail -n 2 >"$work/last"
	cat "$work/last"
	sed -n 1p "$work/last" | grep ' hyp_enter: reason=hvc vcpu=0$' &&
		sed -n 2p "$work/last" | grep ' hyp_panic: vcpu=0 esr=0x9[67][0-9a-f]* elr=0x[0-9a-f]* far=0x[0-9a-f]*$'
}

is_in_pstore()
{
	events "$work/$1/console" >"$work/want"
	[[ -s $work/want ]] && events "$work/$1/pstore" | diff "$work/want" -
}

check "the host's: the last events of its CPU are printed, then those of all" has_panicked host hyp_enter,hyp_exit,hyp_printk
check "the host's: they are the last ones that show has printed before" has_last
check "the host's: ramoops has kept them" is_in_pstore host
check "EL2's: the last events are printed" has_panicked hyp hyp_enter,hyp_exit,host_hcall,hyp_panic
check "EL2's: its own event comes last, after the entry of EL2 by a hypercall" has_hyp_panic
check "EL2's: ramoops has kept them" is_in_pstore hyp
checked
