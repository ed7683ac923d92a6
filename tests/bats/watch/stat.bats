#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# stat: what the guest does against what stat counts, from a file and live.

load ../helper

export REMOTE=hypervisor

# The work of the guest: none of it traps for another reason
work=(workload --cpu 0 --mmio 300 --psci 200 --sysreg 100)

# row FILE NAME KEY: print a value of a row.
row()
{
	jq -r --arg name "$2" "[.rows[] | select(.name == \$name).$3] | add // 0" "$1"
}

# is_work FILE: the rows by exit are the work.
is_work()
{
	same "$(row "$1" DABT_LOW samples)" 300 stores
	same "$(row "$1" HVC64 samples)" 200 "PSCI calls"
	same "$(row "$1" SYS64 samples)" 100 "reads of a register"
}

# adds_up FILE: the times of each CPU are the time that has passed.
adds_up()
{
	jq -e '.wall > 0 and .wall as $wall | all(.cpus[]; .wall == $wall and .wall == .host + .el2 + .guest + .unknown)' \
		"$1" >/dev/null ||
		{ jq -c '.wall, .cpus[]' "$1" && false; }
}

@test "counts of a file are those of the guest's own work" {
	cd "$BATS_TEST_TMPDIR"
	ht set --size 8M
	words=$(ht record -q -e all -o t.dat -- taskset -c 0 "${work[@]}")
	[[ $words =~ vcpu_pid=([0-9]+) ]]
	pid=${BASH_REMATCH[1]}
	for by in reason exit vcpu vm cpu hcall memory; do
		hyptrace stat -j -i t.dat --by "$by" >"$by.json" 2>note
		grep -q ', 0 lost$' note
		adds_up "$by.json"
	done
	is_work exit.json
	# each exit belongs to the only vCPU, and its time to the guest's
	same "$(jq '.rows | length' vcpu.json)" 1
	[[ $(jq -r '.rows[0].name' vcpu.json) == "vcpu=$pid vm=0x"*.0 ]]
	same "$(jq '[.rows[].samples] | add' exit.json)" "$(jq '.rows[0].samples' vcpu.json)"
	same "$(jq '[.rows[].run] | add' exit.json)" "$(jq '.rows[0].total' vcpu.json)"
	# the guest has exited at the end: both tables have the same time in it
	same "$(jq '[.rows[].guest] | add' exit.json)" "$(jq '[.cpus[].guest] | add' exit.json)"
	same "$(jq '.rows[0] | .samples, .total' vm.json)" "$(jq '.rows[0] | .samples, .total' vcpu.json)"
	same "$(row hcall.json __kvm_vcpu_run samples)" "$(jq '.rows[0].samples' vcpu.json)" runs
	# the samples are the events of the report
	same "$(jq '[.rows[].samples] | add' memory.json)" "$(hyptrace report -q -e mem_transition t.dat | wc -l)"
	same "$(row reason.json guest_exit samples)" "$(hyptrace report -q t.dat | grep -c 'hyp_enter: reason=guest_exit ')"
	jq -e '.cpus[] | select(.cpu == 0) | .guest > 0 and .el2 > 0' exit.json
}

@test "live counts are those of the guest's own work" {
	cd "$BATS_TEST_TMPDIR"
	ht set --size 8M
	ht stat -j --by exit -- taskset -c 0 "${work[@]}" >exit.json 2>note
	grep -q ', 0 lost$' note
	grep -q '^mmio_exits=300 ' note
	is_work exit.json
	adds_up exit.json
	ht stat -j -- taskset -c 0 "${work[@]}" >reason.json
	adds_up reason.json
	(($(row reason.json guest_exit samples) >= 600))
	# what it has enabled and started is as before
	same "$(enabled)" ""
	same "$(of .state)" unloaded
}

@test "stat ends after a time or with its command, and prints intervals" {
	cd "$BATS_TEST_TMPDIR"
	ht stat -j --duration 1 --interval 250ms >lines
	(($(wc -l <lines) >= 2))
	while read -r line; do
		adds_up /dev/stdin <<<"$line"
	done <lines
	# each begins where the one before ended
	jq -s -e '[.[:-1], .[1:]] | transpose | all(.[]; .[0].begin + .[0].wall == .[1].begin)' lines
	run -7 ht stat -q -- sh -c 'exit 7'
	run -2 ht stat -q -- /no/such/program
	says 'cannot run "/no/such/program"'
	same "$(enabled)" ""
}

@test "stat has the rows of each CPU, and says that there were no events" {
	cd "$BATS_TEST_TMPDIR"
	cpu=$(last_cpu)
	ht set --size 8M
	ht stat -j --per-cpu --by exit -- taskset -c "$cpu" workload --cpu "$cpu" --mmio 50 --psci 60 >exit.json
	same "$(jq -c '[.rows[] | select(.name == "HVC64") | [.cpu, .samples]]' exit.json)" "[[$cpu,60]]"
	run -0 hyptrace -r test stat --duration 100ms
	says 'none of these events was recorded: hyp_enter,hyp_exit'
	# without hyp_enter and hyp_exit, nobody knows how long the guest was at work
	ht record -q -e guest_enter,guest_exit -o t.dat -- "${work[@]}" >/dev/null
	run -0 hyptrace stat -q -i t.dat --by exit
	says ' RUN'
	same "$(hyptrace stat -q -j -i t.dat --by exit | jq -c '[.rows[] | .guest, .run > 0] | unique')" '[null,true]'
	# a CPU without events is in the host, as by counters
	ht stat -q -j --by memory -C "$cpu" --duration 100ms >idle.json
	jq -e '.cpus[0] | .unknown < .wall / 10 and .host > .wall / 2' idle.json
}

@test "rows by reason and hypercall are counted by EL2: no event, no ring, and counting ends as it was" {
	cd "$BATS_TEST_TMPDIR"
	hyptrace stat -j --by hcall -- "${work[@]}" >hcall.json 2>note
	grep -q 'EL2 counts, and no event is recorded' note
	adds_up hcall.json
	# a run for each exit to the host
	(($(row hcall.json __kvm_vcpu_run samples) >= 600))
	jq -e 'all(.rows[]; .total >= .max and .max >= .mean and .p50 == null and .min == null)' hcall.json
	jq -e '.cpus[] | select(.cpu == 0) | .guest > 0 and .el2 > 0 and .unknown < .wall / 1000' hcall.json
	same "$(of .state)" unloaded
	same "$(ht count -j 2>/dev/null)" "[]"
	# counters that somebody else uses: only what happens meanwhile, and they stay
	ht count hyp_enter
	workload --cpu 0 --mmio 20000 >/dev/null
	hyptrace stat -q -j -- "${work[@]}" >reason.json
	(($(row reason.json guest_exit samples) >= 600 && $(row reason.json guest_exit samples) < 20000))
	same "$(ht list -j | jq -r '[.[0].events[] | select(.counted) | .name] | join(" ")')" hyp_enter
	(($(ht count -j 2>/dev/null | jq '.[] | select(.event == "hyp_enter" and .name == "guest_exit").count') > 20000))
	# percentiles need events
	hyptrace stat -q -j --exact -- "${work[@]}" >exact.json
	jq -e 'all(.rows[]; .p50 != null)' exact.json
	hyptrace stat -q -j -k p99 -- "${work[@]}" >p99.json
	jq -e '(.rows | length > 0) and all(.rows[]; .p99 != null)' p99.json
	hyptrace stat --csv -q --interval 500ms --duration 1250ms >csv
	same "$(grep -c ^name, csv)" 1
	same "$(awk -F, '/^name/ { n++; for (i = 1; i <= NF; i++) if ($i == "max") max = i } !/^name/ && $max == "0"' csv)" ''
	# the intervals follow one another
	same "$(hyptrace stat -q --interval 100ms --duration 250ms | grep -cE '^from [0-9]+\.[0-9]{6} to [0-9]+\.[0-9]{6} s:$')" 3
}

# bats test_tags=slow
@test "counters that somebody resets meanwhile give no wrong numbers, and stat says so" {
	cd "$BATS_TEST_TMPDIR"
	ht count hyp_enter
	workload --cpu 0 --mmio 20000 >/dev/null
	hyptrace stat -q -j -- sh -c "hyptrace count -r hypervisor --reset; workload --cpu 0 --mmio 300 >/dev/null" \
		>reset.json 2>note
	grep -q 'reset or switched off by somebody else' note
	jq -e '[.rows[].samples] | add < 20000' reset.json
	# the counters may be larger again
	ht count --reset
	hyptrace stat -q -j -- sh -c "hyptrace count -r hypervisor --reset; workload --cpu 0 --mmio 20000 >/dev/null" \
		>reset.json 2>note
	grep -q 'reset or switched off by somebody else' note
	# of one CPU only: those of the others are compared with what they were
	cpu=$(last_cpu)
	((cpu > 0)) || return 0
	workload --cpu 0 --mmio 300 >/dev/null
	workload --cpu "$cpu" --mmio 20000 >/dev/null
	hyptrace stat -q -j -- hyptrace count -r hypervisor --reset -C 0 >reset.json 2>note
	grep -q 'reset or switched off by somebody else' note
	jq -e '[.rows[].samples] | add < 20000' reset.json
}

# counted: print the events that EL2 counts.
counted()
{
	ht list -j | jq -r '[.[0].events[] | select(.counted) | .name] | sort | join(" ")'
}

counts_nothing()
{
	[[ -z $(counted) && $(ht count -j 2>/dev/null) == "[]" ]]
}

counts()
{
	[[ $(counted) == "$1" ]]
}

# bats test_tags=slow
@test "two that count do not disturb each other, and one that is killed leaves nothing" {
	cd "$BATS_TEST_TMPDIR"
	hyptrace stat -q -j --duration 1h >long.json 3>&- &
	long=$!
	within "$patience" counts hyp_enter
	hyptrace stat -q -j -- workload --cpu 0 --mmio 20000 >short.json
	(($(row short.json guest_exit samples) >= 20000))
	same "$(counted)" hyp_enter
	kill -INT "$long"
	ended "$long"
	same "$code" 0 "exit code of stat"
	(($(row long.json guest_exit samples) >= 20000))
	counts_nothing

	hyptrace stat -q -j --by hcall --duration 1h >long.json 3>&- &
	long=$!
	within "$patience" counts "host_hcall hyp_enter"
	kill -KILL "$long"
	ended "$long"
	within "$patience" counts_nothing
}

@test "if somebody switches the counters off, stat says so and counts again" {
	cd "$BATS_TEST_TMPDIR"
	hyptrace stat -q -j --interval 1s -- bash -c "
		hyptrace -r hypervisor count --off hyp_enter
		until [[ -s lines ]]; do sleep 0.1; done
		workload --cpu 0 --mmio 20000 >/dev/null" >lines 2>note
	grep -q 'reset or switched off by somebody else' note
	(($(jq -s '[.[].rows[] | select(.name == "guest_exit").samples] | add' lines) >= 20000))
	counts_nothing
	hyptrace stat -q -j -- hyptrace -r hypervisor reset >lines 2>note
	grep -q 'reset or switched off by somebody else' note
	counts_nothing
}

@test "stat counts again after the module was loaded again" {
	cd "$BATS_TEST_TMPDIR"
	hyptrace stat -q -j --interval 1s >lines 2>note 3>&- &
	stat=$!
	within "$patience" counts hyp_enter
	# it asks for nothing meanwhile
	kill -STOP "$stat"
	modprobe -r hyptrace_pkvm
	modprobe hyptrace_pkvm
	counts_nothing
	kill -CONT "$stat"
	within "$patience" counts hyp_enter
	grep -q 'reset or switched off by somebody else' note
	workload --cpu 0 --mmio 300 >/dev/null
	kill -INT "$stat"
	ended "$stat"
	same "$code" 0 "exit code of stat"
	jq -se 'any(.[]; any(.rows[]; .name == "guest_exit" and .samples >= 300))' lines
}

# gap WORDS VERB...: run a verb; it must succeed, and note this.
gap()
{
	hyptrace -r "$REMOTE" "${@:2}" >/dev/null 2>note
	grep -q "^hyptrace: $1" note || { cat note && false; }
}

@test "stat, strace and record say why events are missing that were not lost" {
	cd "$BATS_TEST_TMPDIR"
	ht enable -F 'code == irq' guest_exit
	gap '"guest_exit" has the filter "code == irq" at EL2: the other ones are missing' \
		stat -q --by exit -- "${work[@]}"
	ht disable guest_exit
	gap '"guest_exit" was disabled: later ones are missing' \
		stat -q --by exit -- hyptrace -r "$REMOTE" disable guest_exit
	for verb in 'stat -q --by exit' 'strace -c' 'record -q -e guest_exit -o t.dat'; do
		# shellcheck disable=SC2086 # words
		gap 'tracing was switched off: later events are missing (use "hyptrace start" to resume it)' \
			$verb -- hyptrace -r "$REMOTE" stop
	done
	ht enable --stop guest_exit
	ht start
	gap 'guest_exit on CPU 0 at [0-9.]*: stop: the recording has stopped (use "hyptrace start" to resume it)' \
		strace -c -- "${work[@]}"
	for verb in 'stat -q --by exit' 'record -q -e all -o t.dat'; do
		# shellcheck disable=SC2086 # words
		gap 'the trigger of "guest_exit" has stopped the recording: later events are missing (use "hyptrace start" to resume it)' \
			$verb -- "${work[@]}"
	done
	gap '"guest_exit" was disabled: later ones are missing' strace -c -- hyptrace -r "$REMOTE" disable guest_exit
	# nothing is missing, and nothing is said
	ht reset
	hyptrace -r "$REMOTE" stat -q --by exit -- "${work[@]}" >/dev/null 2>note
	[[ ! -s note ]] || { cat note && false; }
}

# has_cost FILE [OPTION]...: stat has measured what tracing costs, which it does not say if other work was in the way
has_cost()
{
	hyptrace stat -q -j "${@:2}" -- "${work[@]}" >"$1"
	jq -e '.event_psec > 0 and any(.cpus[]; .tracing > 0)' "$1"
}

@test "stat says what tracing has cost, and does not count how it measures that" {
	cd "$BATS_TEST_TMPDIR"
	within "$patience" has_cost counted.json
	within "$patience" has_cost exact.json --exact
	jq -e '.event_psec_spread >= 0 and all(.cpus[]; .tracing_spread >= 0)' exact.json
	jq -e '.event_psec as $ps | all(.cpus[]; .tracing == (.events * $ps / 1000 | floor))' exact.json
	hyptrace stat -q -j --exact --duration 10ms >idle.json
	(($(row idle.json hvc samples) < 256))
	# who else traces must not see that either, so it is not measured
	hyptrace enable hyp_enter
	hyptrace start -r hypervisor
	hyptrace stat -q -j --duration 10ms >others.json
	jq -e '.event_psec == null and all(.cpus[]; .tracing == null)' others.json
	(($(of .cpus[0].written) < 256))
}

# perf_row FILE NAME: print how many samples perf has of an exit.
perf_row()
{
	awk -v name="$2" '$1 == name { print $2 }' "$1"
}

# bats test_tags=slow
@test "perf kvm stat counts the same exits in the same run" {
	[[ -d /sys/kernel/tracing/events/kvm && -d /sys/bus/event_source ]] || skip "this kernel has no tracepoints for perf"
	cd "$BATS_TEST_TMPDIR"
	ht set --size 8M
	perf kvm stat record -o perf.data hyptrace record -q -e hyp_enter,hyp_exit,guest_enter,guest_exit -o t.dat \
		-- "${work[@]}" >said 2>&1 || { cat said && false; }
	perf kvm -i perf.data stat report >perf.txt 2>&1
	cat perf.txt
	hyptrace stat -q -j -i t.dat --by exit >exit.json
	is_work exit.json
	# perf sees the exits that the host's kernel handles, which are all but those that EL2 itself handles
	for name in DABT_LOW IABT_LOW HVC64 SYS64; do
		same "$(perf_row perf.txt "$name")" "$(row exit.json "$name" samples)" "$name"
	done
	same "$(perf_row perf.txt IRQ)" "$(row exit.json irq samples)" interrupts
}
