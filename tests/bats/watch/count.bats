#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# count: the counters at EL2, as the command shows them.

load ../helper

export REMOTE=hypervisor

# guest [CPU]: run a guest with 300 stores and 200 PSCI calls on CPU 0, or on another.
guest()
{
	taskset -c "${1:-0}" workload --cpu "${1:-0}" --mmio 300 --psci 200 >/dev/null
}

# number FILTER: print what the jq filter finds in the counters.
number()
{
	ht count -j | jq -r "$1"
}

@test "guest exits are counted by class, without rings" {
	ht count guest_exit
	guest
	run -0 ht count
	[[ ${lines[0]} =~ ^EVENT\ +KEY\ +CPU\ +COUNT\ +TOTAL\ +AVERAGE\ +LONGEST$ ]]
	[[ $output =~ guest_exit\ +DABT_LOW\ +all\ +300\ +[0-9.]+\ [mu]?s\ +[0-9.]+\ [mun]?s\ +[0-9.]+\ [mun]?s ]]
	[[ $output =~ guest_exit\ +HVC64\ +all\ +200\  ]]
	same "$(of .state)" unloaded
	same "$(number '[.[] | select(.field == "ec" and .name == "DABT_LOW") | .cpu, .count, .counted] | @csv')" ',300,true'
	number 'all(.[]; .total >= .longest and .longest >= .average and .average > 0)' | grep -qx true
}

@test "counters are those of a stream of the same events" {
	ht set --size 8M
	ht count host_hcall guest_exit
	out=$BATS_TEST_TMPDIR/out
	ht enable host_hcall guest_exit
	ht start
	guest
	ht stop
	ht count --off host_hcall guest_exit
	ht disable all
	drain -j >"$out"
	none lost "$out"
	# "EVENT KEY NUMBER", of both
	diff <(jq -r '[.event, .symbols.id // (if .symbols.code == "trap" then .symbols.ec else .symbols.code end)] | join(" ")' "$out" |
		LC_ALL=C sort | uniq -c | awk '{ print $2, $3, $1 }') \
		<(number '.[] | [.event, .name, .count] | join(" ")' | LC_ALL=C sort)
	(($(wc -l <"$out") > 1000))
}

@test "--cpu prints each CPU, and without it the CPUs are added up" {
	cpu=$(last_cpu)
	((cpu > 0)) || skip "there is one CPU only"
	ht count guest_exit
	guest 0
	guest "$cpu"
	same "$(number '.[] | select(.name == "HVC64").count')" 400
	run -0 ht count -j --cpu "$cpu"
	same "$(jq -c '.[] | select(.name == "HVC64") | [.cpu, .count]' <<<"$output")" "[$cpu,200]"
	run -0 ht count -C all --columns cpu,key,count
	same "$(grep -cE '^ *(0|'"$cpu"') +HVC64 +200$' <<<"$output")" 2
	run -2 ht count --cpu 4711
	says 'has no CPU 4711'
}

@test "--histogram shows how long the events have taken" {
	ht count guest_exit mem_transition
	guest
	run -0 ht count --histogram
	says guest_exit
	[[ $output =~ key\ +HVC64 ]]
	[[ $output =~ FROM\ +TO\ +COUNT ]]
	[[ $output =~ '#' ]]
	run -0 ht count --histogram -j
	jq -e '[.[] | select(.event == "guest_exit")] | all(([.histogram[].count] | add) == .count)' <<<"$output"
	jq -e '[.[] | select(.event == "guest_exit").histogram[]] | all(.from < .to)' <<<"$output"
	jq -e '[.[] | select(.event == "mem_transition")] | length > 0 and all(.total == null)' <<<"$output"
}

@test "hyp_exit is counted with hyp_enter: the times in the host and in guests" {
	ht count hyp_enter
	guest
	run -0 ht count
	[[ $output =~ hyp_exit\ +eret_host\ +all\ +-\ +[0-9.]+\ [mu]?s\ +-\ +- ]]
	[[ $output =~ hyp_exit\ +eret_guest\ +all\ +-\ +[0-9.]+\ [mu]?s\ +-\ +- ]]
	number 'all(.[] | select(.event == "hyp_exit"); .count == null and .average == null and .total > 0)' |
		grep -qx true
	run -0 ht count --histogram
	says eret_guest
	run -2 ht count hyp_exit
	says 'cannot count "hyp_exit": EL2 has no counters for this event'
}

@test "counters stay after --off until --reset, and an event that did not happen is shown" {
	run -0 --separate-stderr ht count
	same "$output" ""
	says 'no event is counted: use "hyptrace count EVENT..."'
	run -0 ht count -j
	jq -e '. == []' <<<"${lines[-1]}"
	ht count guest_exit host_hcall
	run -0 ht count
	[[ $output =~ guest_exit\ +-\ +all\ +0\  ]]
	run -0 --separate-stderr ht count -C 1
	[[ $output != *guest_exit* ]]
	guest
	ht count --off all
	same "$(number '[.[].counted] | unique | @csv')" false
	guest
	same "$(number '.[] | select(.name == "HVC64").count')" 200
	ht count --reset
	same "$(number length)" 0
}

@test "all and globs are the events that can be counted" {
	ht count all
	same "$(ht list -j | jq -r '[.[0].events[] | select(.counted) | .name] | sort | join(" ")')" \
		"guest_exit host_hcall hyp_enter lock_wait mem_transition"
	ht disable --count all
	ht enable --count 'h*' mem_transition guest_exit
	run -1 hyptrace enable --count --stop hyp_enter
	same "$(ht stat --counters --histogram -j | jq -c '[.[].event] | unique')" "$(ht count -j | jq -c '[.[].event] | unique')"
	ht count --off 'h*'
	same "$(ht list -j | jq -r '[.[0].events[] | select(.counted) | .name] | sort | join(" ")')" \
		"guest_exit mem_transition"
	run -2 ht count tlbi
	says 'cannot count "tlbi": EL2 has no counters for this event'
	run -2 ht count --off tlbi
	says 'cannot stop counting "tlbi": EL2 has no counters for this event'
	run -2 ht count host_hcal
	says 'cannot count "host_hcal": no such event; did you mean "host_hcall"?'
	run -2 ht count host_hcall 'x*'
	same "$(ht list -j | jq -r '[.[0].events[] | select(.counted) | .name] | sort | join(" ")')" \
		"guest_exit mem_transition" "after a refused request"
	ht reset
	same "$(ht list -j | jq -r '[.[0].events[] | select(.counted)] | length')" 0
}

@test "the remote test cannot count" {
	for words in "" selftest all --reset; do
		# shellcheck disable=SC2086 # words
		run -2 hyptrace -r test count $words
		says 'remote "test" cannot count events'
	done
}

# The monitor needs a moment until it prints changes.
hears()
{
	ht enable hyp_exit
	ht disable hyp_exit
	[[ -s $out ]]
}

@test "monitor reports what is counted" {
	out=$BATS_TEST_TMPDIR/out
	hyptrace -r hypervisor monitor >"$out" 3>&- &
	monitor=$!
	within "$patience" hears
	ht count mem_transition
	within "$patience" grep -q 'event hypervisor: mem_transition disabled, counted' "$out"
	kill -INT "$monitor"
	ended "$monitor"
}

# metric LABELS: the value of a metric of metrics.prom.
metric()
{
	grep -F "$1 " metrics.prom | cut -d ' ' -f 2
}

@test "stat --openmetrics prints what count prints, and its numbers only grow" {
	cd "$BATS_TEST_TMPDIR"
	ht count hyp_enter host_hcall guest_exit mem_transition
	for times in 1 2; do
		guest
		ht stat --openmetrics >metrics.prom
		same "$(metric 'hyptrace_guest_exits_total{remote="hypervisor",exit="DABT_LOW"}')" $((300 * times))
		same "$(metric 'hyptrace_guest_exits_total{remote="hypervisor",exit="HVC64"}')" $((200 * times))
		# each line is a comment or a number, each name is there once, and each has its help and its type before it
		run -1 grep -vE '^(# (HELP|TYPE) hyptrace_[a-z0-9_]+ .+|hyptrace_[a-z0-9_]+\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\} [0-9]+(\.[0-9]{9})?)$' metrics.prom
		same "$(grep -v '^#' metrics.prom | cut -d ' ' -f 1 | sort | uniq -d)" ""
		# what was there before has not become smaller
		((times == 1)) || awk '/^#/ { next } NR == FNR { was[$1] = $2; next } $1 in was { n++; bad += $2 < was[$1] }
			END { exit bad || n < 20 }' first.prom metrics.prom
		cp metrics.prom first.prom
	done
	if mountpoint -q /mnt/share; then
		mkdir -p /mnt/share/recorded
		cp metrics.prom "/mnt/share/recorded/metrics-$(uname -r).prom"
	fi
}
