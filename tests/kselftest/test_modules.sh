#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In the machine: modules are loaded where they can be, refuse where they cannot and say why, and stay while in use.
# HYPTRACE_REFUSED: see run.sh.

set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

modprobe_said=$(mktemp)
trap 'rm -f "$modprobe_said"' EXIT

unload_all()
{
	local module
	for module in hyptrace_pkvm hyptrace_test hyptrace; do
		[[ ! -d /sys/module/$module ]] || rmmod "$module" || return
	done
}

is_loaded()
{
	[[ -d /sys/module/$1 ]]
}

# What the kernel has said since the last call of it
mark_log()
{
	echo "$0: $BASHPID $RANDOM" >/dev/kmsg
	log_mark=$(dmesg | wc -l)
}

new_log()
{
	dmesg | tail -n "+$((log_mark + 1))"
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
	# where the module does not exist, modprobe says so
	new_log | cat - "$modprobe_said" | grep -E "hyptrace_pkvm[: ].*($HYPTRACE_REFUSED)" >/dev/null
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

plan 15
check "all modules can be unloaded" unload_all
check "no device is left" no_device_left
mark_log
if [[ -n $HYPTRACE_REFUSED ]]; then
	check "hyptrace_pkvm refuses" pkvm_refuses
	check "it says why: $HYPTRACE_REFUSED" pkvm_says_why
	check "the command tells of no hypervisor" refused ctl get hypervisor
else
	check "hyptrace_pkvm loads, with hyptrace" pkvm_loads
	check "the kernel does not complain" test -z "$(new_log | grep -i hyptrace)"
	check "no second time" modprobe hyptrace_pkvm
fi
check "hyptrace_test loads" modprobe hyptrace_test
check "the test remote is there" ctl get test
check "/dev/hyptrace is there" test -c /dev/hyptrace
check "hyptrace stays while a remote needs it" refused rmmod hyptrace
check "a remote stays while a descriptor is attached" refused hold test rmmod hyptrace_test
ctl start test
check "a remote that is tracing goes" rmmod hyptrace_test
check "all modules can be unloaded again" unload_all
check "hyptrace stays while its device is open, without a remote" stays_while_open
check "and goes when it is closed" rmmod hyptrace
check "no device is left again" no_device_left
