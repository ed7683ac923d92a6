#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In the machine: a module loads, or refuses to load and says why. It cannot be removed while it is in use.
# HYPTRACE_REFUSED: see run.sh.

set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"

modprobe_said=$(mktemp)
trap 'rm -f "$modprobe_said"' EXIT

unload_all()
{
	local module
	for module in hyptrace_kernel hyptrace_pkvm hyptrace_test hyptrace; do
		[[ ! -d /sys/module/$module ]] || rmmod "$module" || return
	done
}

is_loaded()
{
	[[ -d /sys/module/$1 ]]
}

# Mark the present end of the kernel's log, for new_log.
mark_log()
{
	echo "$0: $BASHPID $RANDOM" >/dev/kmsg
	log_mark=$(dmesg | wc -l)
}

# Print what the kernel has logged since then, without what it says of the first module, which is not signed.
new_log()
{
	dmesg | tail -n "+$((log_mark + 1))" | sed '/module verification failed/d'
}

pkvm_loads()
{
	modprobe hyptrace_pkvm && is_loaded hyptrace_pkvm && is_loaded hyptrace && ctl get hypervisor
}

pkvm_refuses()
{
	refused modprobe hyptrace_pkvm 2>"$modprobe_said" || return
	! is_loaded hyptrace_pkvm
}

pkvm_says_why()
{
	cat "$modprobe_said"
	new_log | grep "hyptrace_pkvm:"
	# On a kernel without the module, modprobe gives the reason.
	new_log | cat - "$modprobe_said" | grep -E "hyptrace_pkvm[: ].*($HYPTRACE_REFUSED)" >/dev/null
}

# EL2 begins to trace with the module, as its parameter says.
pkvm_traces_at_once()
{
	rmmod hyptrace_pkvm && modprobe hyptrace_pkvm trace=selftest && ctl mark hypervisor value=1 cpu=0 &&
		grep '^written:[^0-9]*1$' /sys/kernel/debug/hyptrace/hypervisor/cpu0 &&
		rmmod hyptrace_pkvm && modprobe hyptrace_pkvm && ctl get hypervisor
}

kernel_refuses()
{
	refused modprobe hyptrace_kernel && ! is_loaded hyptrace_kernel &&
		new_log | grep 'hyptrace_kernel: no hypervisor to trace: EL2 is not protected'
}

stays_while_open()
{
	modprobe hyptrace || return
	refused rmmod hyptrace 9</dev/hyptrace
}

no_device_left()
{
	[[ ! -e /dev/hyptrace && ! -e /sys/kernel/debug/hyptrace ]]
}

lists_no_remote()
{
	[[ $(ctl start gone 2>&1) == *'no such remote "gone"; registered: none'* ]]
}

# Somebody else's family of this name: afterwards, sockets are closed as if nobody had tried to load hyptrace.
family_is_taken()
{
	modprobe hyptrace_family && refused modprobe hyptrace && rmmod hyptrace_family && refused ctl get test &&
		modprobe hyptrace && rmmod hyptrace
}

# A stock kernel gets no modules of the tests.
family=''
! modinfo hyptrace_family >/dev/null 2>&1 || family=1

# mainline's own tracer can be traced only in protected mode
kernel=''
[[ -z ${HYPTRACE_UNPROTECTED:-} ]] || ! modinfo hyptrace_kernel >/dev/null 2>&1 || kernel=1

nr=$((17 + ${#family} + ${#kernel}))
[[ -n $HYPTRACE_REFUSED ]] || ((++nr))
plan "$nr"
check "all modules can be unloaded" unload_all
check "no device file and no debugfs folder is left" no_device_left
mark_log
if [[ -n $HYPTRACE_REFUSED ]]; then
	check "hyptrace_pkvm refuses to load" pkvm_refuses
	check "it says why: $HYPTRACE_REFUSED" pkvm_says_why
	check "the remote \"hypervisor\" is not registered" refused ctl get hypervisor
else
	check "hyptrace_pkvm loads, and hyptrace with it" pkvm_loads
	check "loading logs nothing" test -z "$(new_log | grep -i hyptrace)"
	check "modprobe of the loaded module succeeds" modprobe hyptrace_pkvm
	check "hyptrace_pkvm traces at once if its parameter says so" pkvm_traces_at_once
fi
if [[ -n $kernel ]]; then
	mark_log
	check "hyptrace_kernel refuses to load, and says why" kernel_refuses
fi
mark_log
check "hyptrace_test loads" modprobe hyptrace_test
check "it logs nothing" test -z "$(new_log | grep -i hyptrace)"
check "the remote \"test\" is registered" ctl get test
check "/dev/hyptrace exists" test -c /dev/hyptrace
check "hyptrace cannot be removed while a remote uses it" refused rmmod hyptrace
check "hyptrace_test cannot be removed while a descriptor is attached" refused hold test rmmod hyptrace_test
ctl start test
check "hyptrace_test can be removed while its remote is tracing" rmmod hyptrace_test
check "all modules can be unloaded again" unload_all
check "hyptrace cannot be removed while /dev/hyptrace is open" stays_while_open
check "without a remote, a message lists none" lists_no_remote
check "hyptrace can be removed when /dev/hyptrace is closed" rmmod hyptrace
[[ -z $family ]] || check "hyptrace is refused while another module has its family" family_is_taken
check "again no device file and no debugfs folder is left" no_device_left
