#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In the machine: a hostile host. The module hyptrace_hostile makes hypercalls of any kind from all CPUs, while CPUs go off
# and on and guests run. EL2 must answer as hyp/abi.h says, and give all back in the end; hyptrace must work afterwards.
# HYPTRACE_HOSTILE_CALLS (30000) and HYPTRACE_HOSTILE_SEED (1) choose the calls. HYPTRACE_HOSTILE_LIMIT_MS (1000) is how long
# one may take: an emulator on a busy machine may stop a CPU that has a lock of EL2 for which others wait.

set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"

calls=${HYPTRACE_HOSTILE_CALLS:-30000} seed=${HYPTRACE_HOSTILE_SEED:-1} limit=${HYPTRACE_HOSTILE_LIMIT_MS:-1000}
# A short attack may miss a rare op.
enough=100000
# Stop before the test is killed.
patience=$((${TEST_TIMEOUT:-600} - 60))
parameters=/sys/module/hyptrace_hostile/parameters
cpus=$(nproc --all)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkfifo "$work/never"
# In the order of enum hyptrace_op
ops=(INFO RING_BEGIN RING_DIR RING_TABLE RING_READY RING_FREE ATTACH DETACH SWAP RESET SYNC EXCHANGE MOVE CLOCK WRITE FILTER
	TRIGGER PAUSE ARM COUNT_PAGE COUNT_FREE COUNT COUNT_RESET PAGE VOID_HCALLS FUNCTION PMU)

unload_all()
{
	local module
	for module in hyptrace_pkvm hyptrace_test hyptrace; do
		[[ ! -d /sys/module/$module ]] || rmmod "$module" || return
	done
}

# value PARAMETER
value()
{
	echo "$(<"$parameters/$1")"
}

# pause SECONDS: a program would take longer to start.
pause()
{
	read -rt "$1" <>"$work/never" || true
}

# power CPU: switch it off and on again until all is over.
power()
{
	local online=/sys/devices/system/cpu/cpu$1/online number=0
	while [[ ! -e $work/over ]]; do
		echo 0 >"$online" || break
		pause "0.$((RANDOM % 4))"
		echo 1 >"$online" || break
		echo $((++number)) >"$work/power$1"
		pause "0.$((RANDOM % 8))"
	done
	echo 1 >"$online"
}

# guests NAME [OPTION]...: run one guest after another until all is over.
guests()
{
	local name=$1 number=0
	shift
	while [[ ! -e $work/over ]]; do
		if ! workload --mmio 400 --psci 400 "$@" >"$work/said" 2>&1; then
			cp "$work/said" "$work/failed-$name"
			break
		fi
		echo $((++number)) >"$work/$name"
	done
}

attacks()
{
	local cpu start=$SECONDS code=0 jobs=()
	for ((cpu = 2; cpu < cpus; cpu++)); do
		power "$cpu" &
		jobs+=($!)
	done
	guests guests &
	jobs+=($!)
	# Some kernels have no protected guests; HYPTRACE_PROTECTED_GUESTS says that this one must have them.
	if [[ -n ${HYPTRACE_PROTECTED_GUESTS:-} ]] || workload --protected --mmio 1 --psci 1 >/dev/null 2>&1; then
		guests protected --protected &
		jobs+=($!)
	fi
	while (($(value left) > 0)); do
		if ((SECONDS - start > patience)); then
			echo "$(value left) calls are left after $patience s"
			code=1
			break
		fi
		echo 1 >"$parameters/look"
		pause 4
	done
	touch "$work/over"
	wait "${jobs[@]}"
	echo "$((SECONDS - start)) s"
	return "$code"
}

guests_ran()
{
	cat "$work"/failed-* 2>/dev/null && return 1
	echo "tried: $(cat "$work/guests") runs of guests, and $(cat "$work/protected" 2>/dev/null || echo 0) of protected ones"
	(($(cat "$work/guests") > 0)) && { [[ -z ${HYPTRACE_PROTECTED_GUESTS:-} ]] || (($(cat "$work/protected") > 0)); }
}

cpus_went_off()
{
	local cpu
	((cpus > 2)) || { echo "it takes more than two CPUs" && return 1; }
	for ((cpu = 2; cpu < cpus; cpu++)); do
		echo "CPU $cpu went off $(cat "$work/power$cpu") times"
		(($(cat "$work/power$cpu") > 0)) || return
	done
}

did_nothing_wrong()
{
	value failed
	dmesg | grep 'hyptrace_hostile: '
	(($(value failures) == 0))
}

# Print the numbers for the part of tests/harden.
report()
{
	local accepted worst sum=0 number
	IFS=, read -ra accepted <"$parameters/accepted"
	IFS=, read -ra worst <"$parameters/worst_ns"
	for number in "${accepted[@]}"; do
		((sum += number))
	done
	echo "# tried: $(value made) hypercalls, of which $sum were accepted"
	for number in "${!ops[@]}"; do
		echo "# ${ops[number]}: ${accepted[number]}, the longest call took ${worst[number]} ns"
	done
	echo "# $(value scribbles) scribbles, $(value unshared) pages taken back in time, $(value kept) kept by EL2"
	echo "# the sequences ended with $(value sequence)"
}

# An attack in which little happens would find nothing.
accepted_all()
{
	local accepted number
	((calls >= enough)) || return 0
	IFS=, read -ra accepted <"$parameters/accepted"
	for number in "${!ops[@]}"; do
		# A kernel may have no list of functions, and a machine no PMU.
		[[ ${ops[number]} != FUNCTION && ${ops[number]} != PMU ]] || continue
		((accepted[number] > calls / 20000)) || { echo "${ops[number]} was accepted ${accepted[number]} times" && return 1; }
	done
}

# All was freed: the driver finds nothing that was left.
finds_nothing()
{
	modprobe hyptrace_pkvm && ! dmesg | grep 'that an earlier module left'
}

records()
{
	local cpu number
	hyptrace record -q -o "$work/file" -e selftest,host_hcall -- workload --mmio 20 --psci 20 || return
	number=$(hyptrace report "$work/file" | grep -c host_hcall)
	echo "$number events"
	for ((cpu = 0; cpu < cpus; cpu++)); do
		ctl event-set hypervisor event=selftest enabled=1 && ctl start hypervisor &&
			ctl mark hypervisor value=1 cpu="$cpu" || return
	done
	ctl stop hypervisor && ((number >= 20))
}

plan 10
check "no driver is loaded" unload_all
check "the module loads" modprobe hyptrace_hostile seed="$seed" calls="$calls" limit_ms="$limit"
check "all calls are made while CPUs go off and on and guests run" attacks
echo 1 >"$parameters/finish"
report
check "EL2 has answered as it must, in time, and gives all pages back" did_nothing_wrong
check "each op was accepted often" accepted_all
check "guests have run" guests_ran
check "CPUs have gone off and on" cpus_went_off
check "the module can be removed" rmmod hyptrace_hostile
check "hyptrace loads, and finds nothing left" finds_nothing
check "hyptrace works on each CPU" records
