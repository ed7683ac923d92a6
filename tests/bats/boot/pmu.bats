#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What the PMU counts at EL2 during hypercalls, exits of guests and visits, on a kernel with CONFIG_HW_PERF_EVENTS: see
# vm/modes.sh. With HYPTRACE_ICOUNT an instruction takes a nanosecond, and QEMU counts instructions; else cycles only.

load ../helper

setup()
{
	# Under icount, time leaps to the next timer whenever the CPU waits for the host: nothing may have a limit then.
	if [[ -n ${HYPTRACE_ICOUNT:-} ]]; then
		[[ $BATS_TEST_DESCRIPTION == "under icount, "* ]] || skip "on the kernel without icount"
		# shellcheck disable=SC2034 # ht reads it
		patience=100000
	fi
	cd "$BATS_TEST_TMPDIR" || return
	# shellcheck disable=SC2034 # ht reads it
	REMOTE=hypervisor
	fresh
	ht set --size 16M
	# With this function, the counters of events stand still in protected mode while a guest is loaded: KVM takes their
	# number from data of the other mode. What runs a guest has no counts then.
	stopped=no_such_event uncounted=0
	if grep -q kvm-arm.mode=protected /proc/cmdline && grep -qw kvm_init_host_debug_data /proc/kallsyms; then
		stopped='__kvm_vcpu_run|guest_exit' uncounted=1
	fi
}

# rows FILE: of each event a line CPU TS EVENT COUNTER OF COUNT
rows()
{
	hyptrace report -q -j "$1" | jq -r '[.cpu, .ts, .event, .symbols.counter // "-", .symbols.of // "-",
		.fields.count // 0] | @tsv'
}

@test "the counters of EL2 have means by hypercall, reason and CPU" {
	for by in hcall reason cpu; do
		ht stat -q -j --by "$by" --pmu cycles,br_retired -- workload --psci 100 --mmio 100 >"$by.json"
		jq -e '.rows | length > 0 and all(.cycles == null or .cycles >= 1) and any(.measured >= 100)' "$by.json"
	done
	# each hypercall is measured
	jq -e --arg stopped "^($stopped)\$" '.rows | all(.measured == if .name | test($stopped) then 0 else .samples end)' hcall.json
	# without --pmu there is no column
	ht stat -q -j --by hcall -- workload --psci 10 | jq -e '.rows | length > 0 and all(has("cycles") or has("measured") | not)'
	run -0 --separate-stderr ht stat -q --csv --by hcall --pmu cycles,r21 -k cycles -- workload --psci 10
	grep -E '^name,.*,measured,cycles,r21,' <<<"$output"
	run -0 --separate-stderr ht stat -q --by hcall --pmu cycles,r21 -- workload --psci 10
	grep -E ' CYCLES +R21$' <<<"$output"
}

@test "events pmu come right before the event that they belong to, at the same time" {
	ht record -q -o pmu.dat -e hyp_enter,hyp_exit,host_hcall,guest_exit --pmu cycles,r21 -- workload --psci 100 --mmio 100
	rows pmu.dat | awk -v uncounted="$uncounted" '
		$3 == "pmu" {
			if ($1 in of && (of[$1] != $5 || ts[$1] != $2))
				exit wrong = 1
			of[$1] = $5; ts[$1] = $2; nr[$1]++
			next
		}
		$1 in of {
			if (ts[$1] != $2 || nr[$1] != 2 || $3 != (of[$1] == "hyp_enter" ? "hyp_exit" : of[$1]))
				exit wrong = 1
			seen[$3]++
			delete of[$1]; nr[$1] = 0
		}
		END {
			for (event in seen)
				print event, seen[event]
			exit wrong || seen["host_hcall"] < 100 || seen["hyp_exit"] < 100 ||
				(uncounted ? seen["guest_exit"] : seen["guest_exit"] < 100)
		}'
}

@test "the numbers of a file are those of its events" {
	ht record -q -o pmu.dat -e hyp_enter,hyp_exit,host_hcall,guest_enter,guest_exit --pmu cycles -- workload --psci 100 --mmio 100
	rows pmu.dat >events.tsv
	for by in hcall exit vcpu vm reason cpu; do
		case $by in
		hcall) event=host_hcall ;;
		reason | cpu) event=hyp_enter ;;
		*) event=guest_exit ;;
		esac
		hyptrace stat -q -j -i pmu.dat --by "$by" --pmu cycles >stat.json
		awk -v event="$event" '$3 == "pmu" && $5 == event { nr++; sum += $6 } END { print nr, sum }' events.tsv >events
		jq -r '.rows | [(map(.measured) | add), (map(.measured * (.cycles // 0)) | add | round)] | map(tostring) | join(" ")' \
			stat.json >stat
		# the means are rounded
		paste -d' ' events stat | awk '{ print; off = $2 - $4; exit !($1 > 50 && $1 == $3 && off * off <= $1 * $1) }'
	done
	# each call of the file
	hyptrace strace -q -j -i pmu.dat --pmu cycles >calls.json
	awk '$3 == "pmu" && $5 != "hyp_enter" { nr++; sum += $6 } END { print nr, sum }' events.tsv >events
	jq -rs 'map(select(.cycles != null)) | "\(length) \(map(.cycles) | add)"' calls.json | diff events -
	run ! hyptrace strace -q -i pmu.dat --pmu nothing
	run -0 --separate-stderr hyptrace stat -i pmu.dat --by hcall --pmu instructions
	grep -E '^hyptrace: the PMU has counted during 0 of [0-9]+ samples: record with "hyptrace record --pmu"$' <<<"$stderr"
}

@test "strace has the counts of each call" {
	ht strace -q -T --pmu cycles,r21 -e host_hcall,guest_exit -- workload --psci 100 --mmio 100 >calls 2>said
	(($(grep -cE '> cycles=[0-9]+ r21=[0-9]+$' calls) > (uncounted ? 100 : 200)))
	run ! grep -vE " cycles=[0-9]+ r21=[0-9]+\$|LOST|$stopped" calls
	((!uncounted)) || run ! grep -E "($stopped).* r21=" calls
	ht strace -q -j --pmu cycles -e guest_exit -F 'code == trap' -- workload --psci 100 --mmio 100 |
		jq -se 'length >= 100 and all(.cycles > 0)'
	# nothing is left: no event, no counter
	ht list -j | jq -e '.[0].events | all((.enabled or .counted) | not)'
}

@test "live events have rows of exits and of vCPUs, and top sorts by the PMU" {
	for by in exit vcpu hcall; do
		ht stat -q -j --exact --by "$by" --pmu cycles -k cycles -- workload --psci 100 --mmio 100 |
			jq -e '.rows | length > 0 and .[0].cycles > 0 and (map(.cycles // 0) | . == (sort | reverse))'
	done
	ht stat -q -j --by hcall -e host_hcall -F 'duration > 1' --pmu cycles -- workload --psci 100 |
		jq -e '.rows | any(.measured >= 100)'
	run -0 --separate-stderr ht top -b --by hcall --pmu cycles -k cycles -d 1s -n 1
	grep -F '*CYCLES' <<<"$output"
}

# refused WORDS COMMAND...: the command fails and says these words.
refused()
{
	local words=$1
	shift
	run ! "$@"
	grep -F -- "$words" <<<"$output"
}

@test "what cannot be counted is refused" {
	refused 'cannot count "cycle": no such counter; did you mean "cycles"?' ht stat --pmu cycle --duration 1s
	refused 'cannot count "r12345"' ht stat --pmu r12345 --duration 1s
	refused '--pmu has an empty name' ht stat --pmu cycles, --duration 1s
	refused '--pmu has an empty name' ht stat --pmu '' --duration 1s
	refused '--pmu takes at most 4 counters' ht stat --pmu r1,r2,r3,r4,r5 --duration 1s
	refused '--pmu names "cycles" twice' ht stat --pmu cycles,cycles --duration 1s
	refused 'cannot count "r11" twice: "cycles" is the same' ht stat --pmu cycles,r11 --duration 1s
	refused 'leave --by=memory out' ht stat --by memory --pmu cycles --duration 1s
	refused 'none of them is chosen' ht record -o x.dat -e tlbi --pmu cycles --duration 1s
	refused 'for means use "hyptrace stat' ht strace -c --pmu cycles --duration 1s
	refused '"test"' hyptrace -r test stat --pmu cycles --duration 1s
	hyptrace -r hypervisor stat -q --by hcall --pmu cycles >/dev/null &
	until ht list -j | jq -e '.[0].events | any(.counted)' >/dev/null; do sleep 0.1; done
	# the events are counted a moment before the PMU is held
	sleep 0.1
	refused "cannot use the PMU: process $! (hyptrace) uses the PMU" ht strace --pmu cycles --duration 1s
	refused "cannot use the PMU: process $! (hyptrace) uses the PMU" ht stat --by hcall --pmu cycles --duration 1s
	kill -INT $!
	wait $! || true
}

@test "under icount, the instructions of a hypercall are its duration" {
	[[ -n ${HYPTRACE_ICOUNT:-} ]] || skip "only with one instruction a nanosecond"
	ht strace -q -j --pmu instructions,cycles -e host_hcall -- workload --psci 100 --mmio 100 >calls.json
	jq -r '[.name, .duration, .instructions, .cycles] | @tsv' calls.json >calls
	sort calls | uniq -c | sort -rn | head -n 20
	# a tick of the clock is 16 ns at both ends, and the PMU is read before the clock at the begin, and after it at the end
	awk -F'\t' -v stopped="$stopped" '
		$1 ~ "^(" stopped ")$" { wrong = $3 || $4; if (wrong) exit; next }
		{ off = $2 - $3 }
		off < -112 || off > 0 || $3 != $4 { exit wrong = 1 }
		$1 in same && same[$1] != $3 { different[$1] = 1 }
		{ same[$1] = $3; nr[$1]++ }
		END {
			# this hypercall has no branches
			exit wrong || NR < 200 || nr["__kvm_timer_set_cntvoff"] < 10 || different["__kvm_timer_set_cntvoff"]
		}' calls
	# the means of the counters are the same
	ht stat -q -j --by hcall --pmu instructions,cycles -- workload --psci 100 --mmio 100 >means.json
	jq -c '.rows[] | [.name, .samples, .mean, .instructions, .ipc]' means.json
	jq -e --arg stopped "^($stopped)\$" '.rows | map(select(.samples >= 100)) | length > 1 and all(if .name | test($stopped) then
			.measured == 0 else .ipc > 0.99 and .ipc < 1.01 and (.instructions - .mean | . > 0 and . < 112) end)' means.json
}
