#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run inside the machine with --icount: count the instructions that hyptrace stat takes to read an event of a file, and
# perf kvm stat report beside it, of the same guest. stat-inside.sh FOLDER, which has the program "inside". Prints
# lines "NAME PEER OURS" like el2-inside.sh.

set -euo pipefail
shopt -s inherit_errexit

inside=$1/inside
few=5000
many=25000
cd /tmp

# has_perf: succeed if perf can count the exits of guests.
has_perf()
{
	[[ -d /sys/kernel/tracing/events/kvm && -d /sys/bus/event_source ]]
}

# make_files N: record a guest with N exits
make_files()
{
	local peer=()
	! has_perf || peer=(perf kvm stat record -o "$1.perf")
	"${peer[@]}" hyptrace record -q -e hyp_enter,hyp_exit,guest_enter,guest_exit -o "$1.dat" -- \
		workload --mmio 1 --psci "$1" --vary >/dev/null 2>&1
}

# least COMMAND...: print the smallest figure of three runs, after a first run that touches all memory
least()
{
	for round in 0 1 2 3; do
		# shellcheck disable=SC2016 # the shell inside expands it
		"$inside" run sh -c 'exec "$@" >/dev/null 2>&1' - "$@" >"$round.ns"
	done
	sort -n [123].ns | head -n 1
}

ours()
{
	least hyptrace stat -q -i "$1.dat" --by exit
}

peers()
{
	has_perf || { echo 0 && return; }
	least perf kvm -i "$1.perf" stat report
}

events()
{
	hyptrace stat -q -j -i "$1.dat" --by exit | jq '[.cpus[].events] | add'
}

modprobe hyptrace_pkvm
hyptrace set --size 32M
make_files "$few"
make_files "$many"
# perf has two events for an exit
awk -v peer="$(($(peers "$many") - $(peers "$few")))" -v ours="$(($(ours "$many") - $(ours "$few")))" \
	-v exits="$((many - few))" -v events="$(($(events "$many") - $(events "$few")))" 'BEGIN {
		printf "stat_insns_per_event %s %.2f\n", peer ? sprintf("%.2f", peer / exits / 2) : "-", ours / events }'
