#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Functions of EL2, on a kernel with CONFIG_HYPTRACE_EL2_FUNCTIONS: see vm/modes.sh.

load ../helper

# How often functions are toggled under load, how many random hypercalls each CPU makes, how many batches of 64 hostile
# ones, and how many calls are delayed
: "${HYPTRACE_TOGGLES:=200}" "${HYPTRACE_RANDOM_CALLS:=1000}" "${HYPTRACE_STORM_BATCHES:=50}" "${HYPTRACE_DELAYS:=5}"

events=hyp_enter,hyp_exit,host_hcall,func
# a hypercall of the workload, which few others are
call=__pkvm_host_share_hyp
[[ -z ${HYPTRACE_UNPROTECTED:-} ]] || call=__kvm_vcpu_run

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
	# shellcheck disable=SC2034 # ht reads it
	REMOTE=hypervisor
	modprobe hyptrace_pkvm
	ht reset
	ht set --size 16M
}

# nr_functions: print how many functions EL2 can trace.
nr_functions()
{
	ht list -v -j func | jq -e '[.[0].events[0].fields[] | select(.name == "id") | .symbols[]?] | length | select(. > 100)'
}

# rows FILE: of each event a line CPU TS EVENT NAME DEPTH DURATION AGO INVALID. NAME is that of the function, the hypercall
# or the reason. Events that were lost have the line EVENT lost.
rows()
{
	hyptrace report -q --csv "$1" | awk -F , -v OFS='\t' '
		function field(name, other) { return name in at && $at[name] != "" ? $at[name] : other }
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["event"] == "" && $at["lost"] { print $at["cpu"], $at["ts"], "lost", "-", 0, 0, 0, 0 }
		$at["event"] != "" {
			print $at["cpu"], $at["ts"], $at["event"], field("id_name", field("reason_name", "-")),
				field("depth", 0), field("duration", 0), field("ago", 0), field("invalid", 0)
		}'
}

# is_complete FILE: write its rows to the file lines, and check them: each function has returned into the one that has
# called it. A function has those inside that have returned since the last one of its own depth, all of them one deeper,
# within its time and the tick of the clock.
is_complete()
{
	rows "$1" >lines
	awk -v tick=20 '
		function wrong(what) { print "line " NR ": " what ": " $0; bad = 1; exit 1 }
		# nothing is known of the calls around a gap
		$3 == "lost" { gap[$1] = 1; gaps++ }
		$3 == "hyp_exit" && $4 == "eret_host" {
			for (d = 1; d < 64; d++)
				if (nr[$1, d] && !gap[$1])
					wrong("a function of depth " d " has no parent")
			for (d = 0; d < 64; d++)
				nr[$1, d] = 0
			gap[$1] = 0
		}
		$3 == "func" && !gap[$1] {
			end = $2 - $7; begin = end - $6; d = $5
			for (deeper = d + 2; deeper < 64; deeper++)
				if (nr[$1, deeper])
					wrong("a function of depth " deeper " has no parent")
			inner = nr[$1, d + 1]
			# the rate of the clock may be set in between, or until the function was recorded, which counts if
			# the machine stands still for a while
			slack = tick + $6 / 1000 + $7 / 10000
			if (inner && (first[$1, d + 1] < begin - slack || last[$1, d + 1] > end + slack ||
			    sum[$1, d + 1] > $6 + slack * (inner + 1)))
				wrong("what it has called is not inside: " inner " from " first[$1, d + 1] " to " \
				      last[$1, d + 1] ", " sum[$1, d + 1] " in all, not from " begin " to " end)
			nr[$1, d + 1] = 0
			if (!nr[$1, d]++) {
				first[$1, d] = begin
				sum[$1, d] = 0
			}
			last[$1, d] = end
			sum[$1, d] += $6
			functions++
		}
		END { print functions " functions, " gaps + 0 " gaps"; exit bad || functions < 1000 }' lines
}

@test "the functions of a guest and of its boot are complete" {
	ht record -q -o guest.dat -e "$events,guest_exit" -- workload --psci 100 --mmio 100
	is_complete guest.dat
	grep -P '\tfunc\thandle___kvm_vcpu_run\t0\t' lines
	grep -P '\tfunc\t__kvm_vcpu_run\t' lines
}

@test "while EL2 serves a protected guest, no function is recorded" {
	if ! workload --protected --mmio 10 --psci 10 >/dev/null; then
		[[ $(uname -r) == [1-6].* ]]
		skip "this kernel has no protected guests"
	fi
	ht record -q -o protected.dat -e "$events" -- workload --protected --mmio 100 --psci 100
	is_complete protected.dat
	# functions around a run, and none that has begun in it; its calls of PSCI are answered by EL2
	awk '$3 == "hyp_exit" && $4 == "eret_guest" { run[$1] = $2; runs++ }
		$3 == "func" && run[$1] {
			end = $2 - $7
			begin = end - $6
			if (begin > run[$1] && end < back[$1] && back[$1] > run[$1]) {
				print
				exit bad = 1
			}
			if ($4 == "__kvm_vcpu_run" && begin <= run[$1] && end >= back[$1])
				around++
		}
		$3 == "hyp_enter" && $4 == "guest_exit" { back[$1] = $2 }
		END { print runs " runs, " around " around"; exit bad || runs < 100 || around < runs * 0.9 }' lines
}

@test "each hypercall has its handler inside" {
	[[ -z ${HYPTRACE_UNPROTECTED:-} ]] || skip "without protection, the host makes hypercalls by itself only"
	patience=$((patience + HYPTRACE_RANDOM_CALLS / 20))
	ht record -q -o calls.dat -e "$events" -- sh -c \
		"{ sleep 0.1; echo; } | /usr/local/libexec/hyptrace-kselftest/random_calls $HYPTRACE_RANDOM_CALLS $RANDOM all"
	is_complete calls.dat
	awk '
		# a call may have lost its handler, and a handler its call
		$3 == "lost" { calls -= call[$1] != "" && !seen[$1]; call[$1] = "" ; gap[$1] = 1 }
		$3 == "hyp_enter" { call[$1] = ""; seen[$1] = gap[$1] = 0 }
		$3 == "host_hcall" && !$8 && !gap[$1] { call[$1] = $4; at[$1] = $2; took[$1] = $6; calls++ }
		$3 == "func" && call[$1] != "" && $4 == "handle_" call[$1] {
			if ($2 - $7 <= at[$1] + 20 && $2 - $7 - $6 >= at[$1] - took[$1] - 20)
				seen[$1] = ++inside
		}
		END { print calls " calls, " inside " handlers inside"; exit calls < 100 || calls != inside }' lines
}

@test "own times add up to the time of the outermost functions" {
	ht graph -q -j -- workload --psci 100 --mmio 100 >graph.json
	jq -r 'select(.event == "func") | [.depth, .duration, .self] | @tsv' graph.json | awk '
		!$1 { total += $2 }
		{ own += $3; nr++ }
		END { print nr, total, own; exit nr < 1000 || total != own }'
}

@test "the sums of --flat are those of --tree and of all calls" {
	ht record -q -o sums.dat -e "$events" -- workload --psci 100 --mmio 100
	hyptrace graph -q -j -i sums.dat | jq -r 'select(.event == "func") | [.name, .duration, .self] | @tsv' | sort |
		awk '{ calls[$1]++; self[$1] += $3 } END { for (i in calls) print i, calls[i], self[i] }' | sort >calls
	hyptrace graph -q --flat -j -i sums.dat | jq -r '.[] | [.function, .calls, .self] | @tsv' | tr '\t' ' ' | sort >flat
	hyptrace graph -q --tree -j -i sums.dat | jq -r '.[] | [.function, .calls, .self] | @tsv' |
		awk '{ calls[$1] += $2; self[$1] += $3 } END { for (i in calls) print i, calls[i], self[i] }' | sort >tree
	(($(wc -l <flat) > 10))
	diff calls flat
	diff tree flat
}

@test "a flame graph and slices" {
	ht record -q -o flame.dat -e "$events" -- workload --psci 100 --mmio 100
	hyptrace export -q -f collapsed flame.dat >stacks
	grep -E '^el2;[^;]+;([^;]*;)*handle___kvm_vcpu_run;([^;]*;)*__kvm_vcpu_run[; ]' stacks
	# each line is frames and a number
	run ! grep -vE '^[^ ;]+(;[^;]+)* [0-9]+$' stacks
	hyptrace export -q -f chrome flame.dat | jq -e '[.traceEvents[] | select(.ph == "X" and .name == "__kvm_vcpu_run")] | length > 0'
}

@test "only the chosen functions are traced, and none afterwards" {
	ht graph -q -j -e "*${call#__}*" -- workload | jq -r 'select(.event == "func") | .name' | sort -u >names
	grep -x "handle_$call" names
	run ! grep -v "${call#__}" names
	ht graph -q -j -D 1 -- workload | jq -se 'map(select(.event == "func")) | length > 100 and all(.depth == 0)'
	ht graph -q -j -m 20us -- workload | jq -se 'map(select(.event == "func")) | length > 0 and all((.duration | tonumber) >= 20000)'
	ht list -j | jq -e '.[0].events[] | select(.name == "func") | .enabled == false and .filter == null'
}

@test "another choice is traced at once" {
	ht enable func -F "id == handle___pkvm_host_unshare_hyp"
	ht start
	ht enable func -F "id == handle_$call"
	workload >/dev/null
	ht stop
	same "$(ht show -q -j | jq -r .symbols.id | sort -u)" "handle_$call"
}

@test "all functions but one are traced" {
	ht enable func -F "id != 0"
	ht start
	workload >/dev/null
	ht stop
	ht show -q -j | jq -r .symbols.id | sort -u >names
	grep -x "handle_$call" names
}

@test "a call that is slow is caught with its functions, and no other" {
	ht set --size 1M
	ht enable host_hcall -F "id == $call"
	ht enable func --follow
	ht start
	workload --psci 10 --mmio 10 >/dev/null
	ht show -q -j | jq -r '[.event, .symbols.id // "-"] | @tsv' >shown
	ht stop
	awk -v call="$call" '
		$1 == "host_hcall" { if ($2 != call) exit 1; calls++ }
		$1 == "func" && $2 == "handle_" call { inside++ }
		$1 == "func" && $2 ~ /^handle___/ && $2 != "handle_" call { exit 1 }
		END { print calls, inside; exit !calls || calls != inside }' shown
	run ! ht enable host_hcall --follow
	says '"host_hcall" cannot follow other events'
}

@test "catch --graph prints the functions of those calls, at once, and EL2 records no others" {
	ht enable hyp_printk
	ht list -j >before
	ht catch -q --graph -n 1 "host_hcall && id == $call" >one.txt &
	within "$patience" eval "[[ \$(of .state) == tracing ]]"
	workload >/dev/null
	wait %1
	same "$(grep -c "handle_$call" one.txt)" 1
	grep -q "host_hcall: $call" one.txt
	ht list -j | diff before -
	ht catch -q -j --graph 'host_hcall && id == __kvm_vcpu_run && duration > 1us' -- workload >run.json
	jq -se 'map(select(.event == "func" and .depth == 0) | .name) | unique == ["handle___kvm_vcpu_run"]' run.json
	ht record -q -o all.dat -e "$events" -- workload --psci 100 --mmio 100
	hyptrace catch -q -j --graph -i all.dat "host_hcall && id == $call" |
		jq -se --arg call "handle_$call" 'map(select(.event == "func" and .depth == 0) | .name) | unique == [$call]'
	run -1 ht catch --graph --after 3 host_hcall
	run -1 ht catch --graph -e func host_hcall
	says '--graph prints functions: it takes no --after'
}

@test "a delay in one function: catch --graph names that function, each time" {
	[[ -z ${HYPTRACE_UNPROTECTED:-} ]] || skip "without protection, hyptrace_calls makes no hypercalls"
	mkfifo in
	taskset -c 0 /usr/local/libexec/hyptrace-kselftest/outliers $((HYPTRACE_DELAYS * 20)) "$HYPTRACE_DELAYS" "$RANDOM" delay \
		<in >log 3>&- &
	exec 7>in
	within "$patience" grep -qxE 'ready|refused' log
	none refused log || skip "this kernel has no CONFIG_HYPTRACE_FAULTS"
	hyptrace -r hypervisor catch -q -j --graph 'host_hcall && duration > 40ms' >caught 3>&- &
	within "$patience" eval "[[ \$(of .state) == tracing ]]"
	echo >&7
	within 600 grep -qx 'done' log
	kill -INT %2
	wait %2
	exec 7>&-
	wait %1
	grep -E '^[0-9]' log | sort >delayed
	same "$(wc -l <delayed)" "$HYPTRACE_DELAYS"
	# of each call that was caught: its number, and the function that has taken most of the time itself
	jq -r '[.event, .fields.arg4 // 0, .name // "-", .self // 0] | @tsv' caught | awk '
		$1 == "func" && $4 > most { most = $4; name = $3 }
		$1 == "host_hcall" { print $2, name; most = 0 }' | sort >found
	# a machine that is busy may make others slow
	run ! grep -vxFf found delayed
}

@test "functions are toggled under load, and are what they were" {
	while :; do workload >/dev/null; done &
	ht enable host_hcall
	ht start
	/usr/local/libexec/hyptrace-kselftest/toggle hypervisor func $((2 * HYPTRACE_TOGGLES)) "$(nr_functions)"
	ht stop
	# EL2 refuses to change an instruction that is not what it should be
	ht enable func
	ht disable func
	kill %1
	wait %1 || true
	ht graph -q -j -- workload --psci 100 --mmio 100 >graph.json
	(($(grep -c '"event":"func"' graph.json) > 1000))
}

@test "no function is recorded after a trigger has stopped the recording, and none of before one has started it" {
	local written
	ht enable func
	ht enable host_hcall --stop -F "id == $call"
	ht start
	workload --psci 10 --mmio 10 >/dev/null
	written=$(total written)
	((written > 0))
	workload >/dev/null
	same "$(total written)" "$written"
	ht stop
	ht reset
	ht enable func
	ht enable host_hcall --start -F "id == $call"
	ht start
	workload --psci 10 --mmio 10 >/dev/null
	ht show -q -j | jq -r '[.event, .ts, .fields.duration // 0, .fields.ago // 0] | @tsv' >shown
	ht stop
	awk 'NR == 1 { if ($1 != "host_hcall") exit 1; begin = $2 - $3 - 20 }
		$1 == "func" { functions++; if ($2 - $4 < begin) exit 1 }
		END { print functions; exit !functions }' shown
}

@test "a hostile host cannot have EL2 change any other text, on all CPUs, while they run and go off" {
	[[ -z ${HYPTRACE_UNPROTECTED:-} ]] || skip "without protection, the host changes the text"
	{ while workload --psci 10 --mmio 10 >/dev/null; do :; done; } &
	{ while :; do echo 0 >/sys/devices/system/cpu/cpu1/online; echo 1 >/sys/devices/system/cpu/cpu1/online; sleep 0.1; done; } &
	/usr/local/libexec/hyptrace-kselftest/function_storm "$(nr_functions)" "$HYPTRACE_STORM_BATCHES" "$RANDOM"
	tidy
	ht graph -q -j -- workload --psci 100 --mmio 100 >graph.json
	(($(grep -c '"event":"func"' graph.json) > 1000))
}

@test "what does not exist is refused, and changes nothing" {
	ht list -j >before
	run -2 ht graph -e no_such_function -- true
	says 'cannot trace "no_such_function": no such function'
	run -1 ht graph -D 0 -- true
	says 'bad depth "0"'
	run -1 ht graph -m 10parsecs -- true
	says 'bad time "10parsecs"'
	run ! ht enable func -F 'id == no_such_function'
	ht list -j | diff before -
}
