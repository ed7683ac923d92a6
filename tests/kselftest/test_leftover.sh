#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In the machine: what an earlier module left at the hypervisor does not keep a later one from working.

set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

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

# The CPUs are attached, and have spare rings too.
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

# Trace on each CPU, resize, and give all back.
works()
{
	local cpu
	ctl set hypervisor size=65536 && ctl event-set hypervisor event=selftest enabled=1 && ctl start hypervisor || return
	for ((cpu = 0; cpu < cpus; cpu++)); do
		ctl mark hypervisor value=1 cpu="$cpu" || return
	done
	ctl set hypervisor size=131072 && ctl stop hypervisor && ctl unload hypervisor && rmmod hyptrace_pkvm
}

not_without_the_cpu()
{
	refused modprobe hyptrace_pkvm && [[ ! -d /sys/module/hyptrace_pkvm ]]
}

plan $((protected ? 7 : 9))
check "a module leaves rings, CPUs attached" leave_rings
mark_log
check "the next module loads" modprobe hyptrace_pkvm
check "it says what it found" says "freed the rings of $cpus CPUs"
check "tracing works, and all is given back" works

check "a module leaves rings again" leave_rings
power 0
mark_log
if ((protected)); then
	# the hypervisor has parked the CPU
	check "the next module loads while CPU $last is off" modprobe hyptrace_pkvm
	power 1
else
	check "the next module refuses while CPU $last is off" not_without_the_cpu
	check "it names the CPU" says "CPU $last is off"
	power 1
	check "it loads when the CPU is back" modprobe hyptrace_pkvm
fi
check "tracing works again" works
modprobe -a hyptrace_test hyptrace_pkvm
