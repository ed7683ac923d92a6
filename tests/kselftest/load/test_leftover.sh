#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In the machine: a module that did not release its rings must not keep a later module from working.

set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"

protected=$(dmesg | grep -c 'Protected .* mode initialized')
cpus=$(nproc --all)
last=$((cpus - 1))

unload_all()
{
	local module
	for module in hyptrace_leave hyptrace_pkvm hyptrace_test hyptrace_faulty hyptrace; do
		[[ ! -d /sys/module/$module ]] || rmmod "$module" || return
	done
}

# Leave all CPUs attached to rings, with spare rings for a resize, and a trigger that would start the recording.
leave_rings()
{
	unload_all && modprobe hyptrace_leave && unload_all
}

power()
{
	echo "$1" >"/sys/devices/system/cpu/cpu$last/online"
}

mark_log()
{
	echo "$0: $BASHPID $RANDOM" >/dev/kmsg
	log_mark=$(dmesg | wc -l)
}

says()
{
	dmesg | tail -n "+$((log_mark + 1))" | grep hyptrace
	dmesg | tail -n "+$((log_mark + 1))" | grep -E "$1" >/dev/null
}

# Trace on each CPU, resize, unload, and remove the module. Events are recorded from the beginning.
works()
{
	local cpu
	ctl set hypervisor size=65536 && ctl event-set hypervisor event=selftest enabled=1 && ctl start hypervisor || return
	for ((cpu = 0; cpu < cpus; cpu++)); do
		ctl mark hypervisor value=1 count=10 cpu="$cpu" &&
			awk '$1 == "written:" { exit $2 < 10 }' "/sys/kernel/debug/hyptrace/hypervisor/cpu$cpu" || return
	done
	ctl set hypervisor size=131072 && ctl stop hypervisor && ctl unload hypervisor && rmmod hyptrace_pkvm
}

refuses_without_the_cpu()
{
	refused modprobe hyptrace_pkvm && [[ ! -d /sys/module/hyptrace_pkvm ]]
}

plan $((protected ? 7 : 9))
check "a module can be removed without releasing its rings" leave_rings
mark_log
check "the next module loads" modprobe hyptrace_pkvm
check "it logs that it has freed the old rings" says "freed the rings of $cpus CPUs"
check "tracing works, and the rings are released" works

check "a module can be removed again without releasing its rings" leave_rings
power 0
mark_log
if ((protected)); then
	# The hypervisor has parked the CPU, so its ring can be detached while it is off.
	check "the next module loads while CPU $last is off" modprobe hyptrace_pkvm
	power 1
else
	check "the next module refuses to load while CPU $last is off" refuses_without_the_cpu
	check "it logs which CPU is off" says "CPU $last is off"
	power 1
	check "it loads when the CPU is online again" modprobe hyptrace_pkvm
fi
check "tracing works again" works
modprobe -a hyptrace_test hyptrace_pkvm
