#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run inside the machine by text.sh: trace functions and cease to, and wait while EL2's text is saved: text-inside.sh MODE

set -euo pipefail

# want NAME: let text.sh save the text
want()
{
	: >"$1.wanted"
	until [[ -e $1.done ]]; do sleep 0.1; done
}

cd /mnt/share
awk '/ : Kernel code$/ { sub(/-.*/, ""); print "0x" $1 }' /proc/iomem >place
# as in vm/suite-inside.sh: the emulator may miss that KVM's notifiers are switched on
modprobe -a hyptrace_keys hyptrace_pkvm
hyptrace reset
nr=$(hyptrace list -v -j func | jq '[.[0].events[0].fields[] | select(.name == "id") | .symbols[]?] | length')
echo "$nr" >functions
want before
hyptrace enable func
want traced
hyptrace disable func
want after

while workload --psci 10 --mmio 10 >/dev/null; do :; done &
load=$!
/usr/local/libexec/hyptrace-kselftest/toggle hypervisor func $((2 * ${HYPTRACE_TOGGLES:-200})) "$nr"
want toggled

# without protection, hyptrace_calls makes no hypercalls, and EL2 does not change its text
if [[ $1 == protected ]]; then
	while :; do
		echo 0 >/sys/devices/system/cpu/cpu1/online
		echo 1 >/sys/devices/system/cpu/cpu1/online
		sleep 0.1
	done &
	hotplug=$!
	seed=${HYPTRACE_HOSTILE_SEED:-$RANDOM}
	echo "hostile calls with HYPTRACE_HOSTILE_SEED=$seed"
	/usr/local/libexec/hyptrace-kselftest/function_storm "$nr" "${HYPTRACE_STORM_BATCHES:-50}" "$seed"
	kill "$hotplug"
fi
kill "$load"
want stormed
