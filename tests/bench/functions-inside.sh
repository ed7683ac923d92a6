#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run inside the machine with --icount, on a kernel with CONFIG_HYPTRACE_EL2_FUNCTIONS and on one without it:
# functions-inside.sh MODULE prints lines "NAME COST" with the instructions of hypercalls while nothing is traced, and of
# functions that are traced, if the kernel can trace them.

set -euo pipefail

calls=20400
bench=/sys/module/hyptrace_bench/parameters

# measured NAME: print the instructions of a hypercall, those of the loop included, in the second round
measured()
{
	for _ in 1 2; do
		echo "$calls" >"$bench/$1"
		cat "$bench/$1" >/tmp/cost
	done
	awk -v calls="$calls" '{ printf "%.2f\n", $1 / calls }' /tmp/cost
}

# guest: print the instructions of a guest's exit to the host and its next entry, in the CPU time of its process. A timer
# tick may be in one run and not in the other: take the least of five runs.
guest()
{
	for _ in 1 2 3 4 5; do
		"$share/inside" run workload --cpu 0 --mmio 1 --psci "$calls"
	done | sort -n | head -n 1 | awk -v calls="$calls" '{ printf "%.2f\n", $1 / calls }'
}

# traced FILTER [--follow]: print the instructions of a hypercall while these functions are traced
traced()
{
	hyptrace enable func -F "$1" "${@:2}"
	measured shared
	hyptrace disable func
}

share=$(dirname "$1")
insmod "$1"
modprobe hyptrace_pkvm
hyptrace start
for call in refused handled shared; do
	echo "call_$call $(measured $call)"
done
echo "call_guest $(guest)"
hyptrace enable func 2>/dev/null || exit 0
hyptrace disable func
# the handler of the hypercall calls the other one
inner="id == __pkvm_host_share_hyp"
outer="id == handle___pkvm_host_share_hyp"
echo "function_outer $(traced "$outer" --follow)"
echo "function_both $(traced "$outer || $inner" --follow)"
# all functions: without a filter, EL2 records them at once
hyptrace enable func
hyptrace clear
echo "recorded_all $(measured shared)"
hyptrace disable func
echo "recorded $(hyptrace status -j | jq -r '.[0].cpus[0].written')"
