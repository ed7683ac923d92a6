#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run inside the machine with --icount: count the instructions that an event costs at EL2. el2-inside.sh MODULE
# prints lines "NAME PEER OURS". PEER is mainline's tracing in the same boot, or - if the kernel has none.

set -euo pipefail

# This many calls fill whole sub-buffers, with 170, 255 or 340 calls each. So the switch to the next sub-buffer is
# always included.
calls=20400
bench=/sys/module/hyptrace_bench/parameters
mainline=/sys/kernel/tracing/remotes/hypervisor

# cost NAME: print the ns of all the hypercalls; with --icount this is the number of instructions
cost()
{
	echo "$calls" >"$bench/$1"
	cat "$bench/$1"
}

# measured NAME: print the cost of the second round. In the first round, buffers are touched and the clock is read
# for the first time.
measured()
{
	cost "$1" >/dev/null
	cost "$1"
}

# ours OTHER VERB EVENT... -- COMMAND...: print how much more the command says that something costs, after "hyptrace VERB
# EVENT...", which is enable or count. OTHER, unless empty, is an event that is enabled in both measurements.
ours()
{
	local other=$1 verb=$2 events=() before after
	shift 2
	while [[ $1 != -- ]]; do
		events+=("$1")
		shift
	done
	shift
	[[ -z $other ]] || hyptrace enable "$other"
	before=$("$@")
	hyptrace "$verb" "${events[@]}"
	after=$("$@")
	[[ $before && $after ]] || return
	hyptrace disable all
	[[ $verb != count ]] || hyptrace count --off "${events[@]}"
	echo $((after - before))
}

# guest WORK: print how long EL2 takes for the hypercalls that run a guest which makes these exits. Some runs end with an
# interrupt instead: leave out the longest and the shortest twentieth.
guest()
{
	hyptrace enable host_hcall
	hyptrace clear
	workload --cpu 0 --mmio 1 --psci 0 --vary "$1" 1500 >&2
	hyptrace show -q -j | jq -r 'select(.event == "host_hcall" and .symbols.id == "__kvm_vcpu_run") | .fields.duration' | sort -n |
		awk -v calls="$calls" '{ at[NR] = $1 } END {
			for (i = int(NR / 20) + 1; i <= int(NR * 19 / 20); i++) { sum += at[i]; nr++ }
			# too few: print nothing, which row() refuses
			if (NR >= 1000) printf "%d\n", sum / nr * calls }'
	hyptrace disable host_hcall
}

is_armed()
{
	hyptrace list -j | jq -e '.[].events[] | select(.name == "hyp_enter").trigger == "notify"' >/dev/null
}

# caught: print how much more hypercalls cost while "hyptrace catch" catches each hyp_enter than while it is recorded. catch
# is stopped meanwhile, so that only EL2 is measured.
caught()
{
	local before after pid
	# if no event is enabled, catch enables some
	hyptrace enable hyp_enter psci_call
	before=$(measured refused)
	hyptrace disable hyp_enter
	hyptrace catch -q 'hyp_enter && reason != smc' >/dev/null &
	pid=$!
	until is_armed; do sleep 0.1; done
	kill -STOP "$pid"
	after=$(measured refused)
	kill -INT "$pid"
	kill -CONT "$pid"
	wait "$pid"
	hyptrace disable all
	echo $((after - before))
}

is_counted()
{
	hyptrace list -j | jq -e '[.[].events[] | select(.name == "hyp_enter" or .name == "host_hcall") | .counted] |
		length == 2 and all' >/dev/null
}

# pmu COUNTERS: print how much hypercalls cost while "hyptrace stat" measures them with these counters. stat is stopped
# meanwhile, so that only EL2 is measured.
pmu()
{
	local pid
	hyptrace stat -q --by hcall --pmu "$1" >/dev/null &
	pid=$!
	until is_counted; do sleep 0.1; done
	# it holds the PMU and the events with one request
	kill -STOP "$pid"
	measured handled
	kill -INT "$pid"
	kill -CONT "$pid"
	wait "$pid"
}

peers()
{
	local call=$1 before after event
	shift
	[[ -d $mainline ]] || { echo 0 && return; }
	before=$(measured "$call")
	for event; do
		echo 1 >"$mainline/events/hypervisor/$event/enable"
	done
	after=$(measured "$call")
	for event; do
		echo 0 >"$mainline/events/hypervisor/$event/enable"
	done
	echo $((after - before))
}

# row NAME EVENTS-PER-CALL PEER OURS: print the line NAME, per event. What costs nothing was not measured.
row()
{
	((${4:-0} > 0)) || { echo "el2-inside.sh: $1 was not measured: \"$4\"" >&2 && exit 1; }
	awk -v n="$(($2 * calls))" -v name="$1" -v peer="$3" -v ours="$4" 'BEGIN {
		printf "%s %s %.2f\n", name, peer ? sprintf("%.2f", peer / n) : "-", ours / n }'
}

insmod "$1"
modprobe hyptrace_pkvm
[[ ! -d $mainline ]] || echo 1 >"$mainline/tracing_on"
hyptrace start

row el2_insns_enter_exit 2 "$(peers refused hyp_enter hyp_exit)" "$(ours '' enable hyp_enter hyp_exit -- measured refused)"
row el2_insns_selftest 1 "$(peers mainline selftest)" "$(ours hyp_exit enable selftest -- measured ours)"
row el2_insns_host_hcall 1 0 "$(ours psci_call enable host_hcall -- measured handled)"
row el2_insns_filtered 1 0 "$(ours psci_call enable hyp_enter --filter 'reason == smc' -- measured refused)"
row el2_insns_caught 1 0 "$(caught)"
row el2_insns_guest_exit 1 0 "$(ours psci_call enable guest_exit -- guest --psci)"
row el2_insns_guest_abort 1 0 "$(ours psci_call enable guest_exit -- guest --mmio)"
row el2_insns_count_enter 2 0 "$(ours psci_call count hyp_enter -- measured refused)"
row el2_insns_count_hcall 2 0 "$(ours psci_call count host_hcall -- measured handled)"
row el2_insns_count_exit 2 0 "$(ours psci_call count guest_exit -- guest --psci)"
if compgen -G "/sys/bus/event_source/devices/armv8_*" >/dev/null; then
	four=cycles,instructions,br_retired,mem_access
	# three more counters are read when hyp_enter and host_hcall begin and when they end
	row el2_insns_pmu_counter 6 0 "$(($(pmu $four) - $(pmu cycles)))"
	echo 1 >/sys/module/hyptrace_bench/parameters/pmu_stopped
	row el2_insns_pmu_read 12 0 "$(($(pmu $four) - $(pmu cycles)))"
	echo 0 >/sys/module/hyptrace_bench/parameters/pmu_stopped
fi
