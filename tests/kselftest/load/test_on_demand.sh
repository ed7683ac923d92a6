#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In a machine with kvm.enable_virt_at_load=0, KVM keeps its hypervisor only while there are VMs. hyptrace must keep it
# also without them: the last VM may end while tracing.

set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"

unload_all()
{
	local module
	for module in hyptrace_pkvm hyptrace_test hyptrace; do
		[[ ! -d /sys/module/$module ]] || rmmod "$module" || return
	done
}

is_on_demand()
{
	grep -x N /sys/module/kvm/parameters/enable_virt_at_load
}

run_guest()
{
	workload --cpu 0 --mmio 10 --psci 10
}

records()
{
	local cpu
	for cpu in 0 1; do
		ctl mark hypervisor value=1 cpu="$cpu" || return
	done
}

nothing_kept()
{
	! dmesg | grep -E 'kept its rings|failed to stop|that an earlier module left'
}

plan 13
check "KVM enables virtualization on demand" is_on_demand
check "all modules can be unloaded" unload_all
check "a guest runs without hyptrace" run_guest
check "hyptrace_pkvm loads while there is no VM" modprobe hyptrace_pkvm
for round in first second; do
	ctl event-set hypervisor event=selftest enabled=1
	check "$round round: tracing starts" ctl start hypervisor
	check "$round round: a guest runs and ends" run_guest
	check "$round round: the hypervisor still records events" records
	ctl clear hypervisor
	check "$round round: tracing stops" ctl stop hypervisor
	ctl unload hypervisor
done
check "no rings are left at the hypervisor" eval 'rmmod hyptrace_pkvm && modprobe hyptrace_pkvm && nothing_kept'
