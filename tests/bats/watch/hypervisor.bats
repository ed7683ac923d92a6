#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What the hypervisor does while a guest runs, as the command shows it.

load ../helper

export REMOTE=hypervisor

# trace_workload [COMMAND]...: trace the command, then the workload, on CPU 0. Sets $out to the file of the events,
# $words to the output of the workload, $pid to the pid of its vCPU.
trace_workload()
{
	ht set --size 8M
	ht enable hyp_enter hyp_exit
	stream_begin -C 0
	"$@"
	words=$(taskset -c 0 workload --cpu 0 --mmio 300 --psci 200)
	[[ $words =~ vcpu_pid=([0-9]+) ]]
	pid=${BASH_REMATCH[1]}
	stream_end
	none LOST "$out"
}

# number PATTERN: print how many lines of $out match.
number()
{
	grep -cE "$1" "$out" || true
}

# Most of the memory is not mapped for the host until it is used.
use_memory()
{
	taskset -c 0 head -c 300M /dev/zero >fill
	rm fill
}

@test "a guest run shows hvc, host_abort, guest_exit, eret_guest and eret_host" {
	cd "$BATS_TEST_TMPDIR"
	trace_workload use_memory
	reasons="hvc host_abort guest_exit"
	# The EL2 of Android has all of the host's memory mapped from the beginning.
	! is_android || reasons="hvc guest_exit"
	for reason in $reasons; do
		(($(number "hyp_enter: reason=$reason ") > 0)) || { echo "no $reason" && false; }
	done
	for reason in eret_guest eret_host; do
		(($(number "hyp_exit: reason=$reason ") > 0)) || { echo "no $reason" && false; }
	done
	same "$(number 'reason=unknown')" 0
}

@test "each store and each PSCI call of a guest is a guest exit" {
	trace_workload
	exits=$(number "hyp_enter: reason=guest_exit vcpu=$pid$")
	[[ $words =~ run_ioctls=([0-9]+) ]]
	rounds=${BASH_REMATCH[1]}
	echo "$words: $exits exits"
	# 300 stores and 200 PSCI calls; more exits by host interrupts and by page faults
	((exits >= 500))
	same "$(number 'reason=guest_exit')" "$exits" "guest exits of all vCPUs"
	same "$(number "hyp_exit: reason=eret_guest vcpu=$pid$")" "$exits" "entries to the guest"
	((rounds >= 300))
}

@test "vcpu is the thread of the vCPU in events of a guest, and 0 in events of the host" {
	trace_workload
	same "$(number "reason=(guest_exit|eret_guest) vcpu=$pid$")" "$(number 'reason=(guest_exit|eret_guest) ')"
	same "$(number 'reason=(hvc|smc|host_abort|psci) vcpu=0$')" "$(number 'reason=(hvc|smc|host_abort|psci) ')"
	same "$(number 'reason=eret_host vcpu=0$')" "$(number 'reason=eret_host ')"
}

@test "hyp_enter and hyp_exit alternate" {
	trace_workload
	awk '
		/LOST/ { next }
		{ enter = $3 == "hyp_enter:" }
		NR > 1 && enter == was { print "two of a kind at line " NR ": " $0; bad = 1 }
		{ was = enter }
		END { exit bad || NR < 1000 }
	' "$out"
}

@test "status and stream count the same number of events" {
	trace_workload
	ht load --size 8M
	ht enable hyp_enter
	ht start
	taskset -c 0 workload --cpu 0 --mmio 100 --psci 100
	ht stop
	counts_add_up
	unread=$(total unread)
	((unread > 200))
	same "$(total written)" "$unread"
	ht disable all
	drain >"$BATS_TEST_TMPDIR/all"
	same "$(wc -l <"$BATS_TEST_TMPDIR/all")" "$unread"
}

@test "a disabled event is not recorded" {
	ht enable hyp_exit
	stream_begin -C 0
	taskset -c 0 workload --cpu 0 --mmio 10 --psci 10
	stream_end
	same "$(number hyp_enter)" 0
	(($(number hyp_exit) > 20))
}

@test "a CPU that goes offline and online leaves an event with reason psci" {
	cpu=$(last_cpu)
	((cpu > 0)) || skip "there is one CPU only"
	ht set --size 4M
	ht enable hyp_enter hyp_exit
	stream_begin
	cpu_set "$cpu" 0
	cpu_set "$cpu" 1
	within "$patience" grep -q "^\[$(printf %03d "$cpu")\].*reason=psci" "$out"
	stream_end
	in_time_order "$out"
}

@test "a hyp_enter takes 12 bytes of a sub-buffer" {
	ht load --size 1 --mode discard
	ht enable hyp_enter
	ht start
	# Almost this many fit into a sub-buffer: some have a time extension. With 16 bytes it would be three quarters.
	most=$((($(page_size) - 16) / 12))
	taskset -c 0 workload --cpu 0 --mmio $((3 * most)) --psci $((3 * most))
	ht stop
	unread=$(of '.cpus[0].unread')
	echo "$unread events in 2 of $(of '.cpus[0].nr_subbufs') sub-buffers"
	(($(of '.cpus[0].dropped') > 0))
	((unread > 2 * most * 94 / 100 && unread <= 2 * most))
}

@test "a stream of all CPUs is in the order of time while a guest runs on each" {
	ht set --size 8M
	ht enable 'hyp_e*'
	# a CPU of an emulator may stand still for longer than 10 ms
	stream_begin --ns --order-bound 1s
	for cpu in $(cpu_ids); do
		taskset -c "$cpu" workload --cpu "$cpu" --mmio 200 --psci 200 &
		guests+=" $!"
	done
	for guest in $guests; do
		wait "$guest"
	done
	stream_end
	in_time_order "$out"
	same "$(grep -E 'reason=guest_exit' "$out" | sed 's/.*vcpu=//' | sort -u | wc -l)" "$(cpu_ids | wc -l)"
}

# Run guests on CPU 0, one after another: an idle machine hardly enters EL2, and hyptrace leaves no events of its own.
guests_begin()
{
	(trap exit TERM
	while taskset -c 0 workload --cpu 0 --mmio 20 --psci 20; do :; done) >/dev/null 2>&1 3>&- &
	guests=$!
}

guests_end()
{
	kill "$guests"
	wait "$guests" || :
}

@test "JSON has both the number and the name of a symbol" {
	ht enable hyp_enter
	guests_begin
	run -0 --separate-stderr ht stream -j --count 20
	guests_end
	jq -s -e 'all(.[]; .event == "hyp_enter" and (.fields.reason | type) == "number" and
		(.symbols.reason | type) == "string" and (.fields.vcpu | type) == "number")' <<<"$output"
}

@test "right after modprobe, enable and stream print events" {
	modprobe -r hyptrace_pkvm
	modprobe hyptrace_pkvm
	hyptrace enable hyp_enter
	guests_begin
	run -0 --separate-stderr timeout "$patience" hyptrace stream --cpu 0 --count 5
	guests_end
	same "$(grep -cE '^\[000\] +[0-9]+\.[0-9]{6}: hyp_enter: reason=[a-z_]+ vcpu=[0-9]+$' <<<"$output")" 5
}

@test "a filter takes the names of values, for all events that have the field" {
	ht enable hyp_enter hyp_exit guest_exit
	ht start
	taskset -c 0 workload --cpu 0 --mmio 20 --psci 20
	ht stop
	out=$BATS_TEST_TMPDIR/out
	ht show -F 'reason == guest_exit || reason >= eret_host && vcpu == 0 || ec == DABT_LOW && duration > 1ns' >"$out"
	(($(number 'hyp_enter: reason=guest_exit ') >= 40))
	(($(number 'hyp_exit: reason=eret_host vcpu=0$') > 0))
	(($(number 'guest_exit: .* DABT_LOW ') >= 20))
	same "$(number 'reason=(hvc|host_abort|eret_guest)|guest_exit: .* (irq|IABT_LOW|HVC64)')" 0
	same "$(number .)" "$(($(number 'reason=guest_exit') + $(number 'reason=eret_host') + $(number 'guest_exit: .* DABT_LOW')))"
	run -1 --separate-stderr ht show -F 'ret != 0 || ec == dabt_low'
	says 'wrong filter: the field "ec" has no value "dabt_low"; did you mean "DABT_LOW"?'
	run -1 --separate-stderr ht show -F 'reason == hvc && vcpu > 5us'
	says 'wrong filter: "vcpu" is not a time: use a number without a unit'
}

@test "EL2 records only the events that meet the filter of their kind" {
	ht enable guest_exit --filter 'ec == DABT_LOW && duration > 1ns'
	ht enable hyp_enter hyp_exit --filter 'reason == guest_exit || reason == eret_guest && vcpu != 0'
	ht enable host_hcall --filter 'ret < 0'
	ht start
	taskset -c 0 workload --cpu 0 --mmio 20 --psci 20
	ht stop
	run -0 --separate-stderr ht show -j
	jq -s -e 'all(.[]; .event == "guest_exit" and .symbols.ec == "DABT_LOW" or
		.event == "hyp_enter" and .symbols.reason == "guest_exit" or
		.event == "hyp_exit" and .symbols.reason == "eret_guest" or
		.event == "host_hcall" and (.fields.ret | tonumber) < 0)' <<<"$output"
	jq -s -e 'map(.event) | group_by(.) | map({(.[0]): length}) | add |
		.guest_exit >= 20 and .hyp_enter >= 40 and .hyp_exit >= 40' <<<"$output"
	same "$(total written)" "${#lines[@]}"
	(($(total filtered) > 0))
	counts_add_up
}

@test "a hypercall that returns nothing has no result, and meets no filter of results" {
	local all with
	ht enable host_hcall
	ht start
	taskset -c 0 workload --cpu 0 --mmio 20 --psci 20
	ht stop
	run -0 --separate-stderr ht show -j
	all=$(jq -s length <<<"$output")
	with=$(jq -s 'map(select(.fields.ret)) | length' <<<"$output")
	# what a register has after such a call is an address of the kernel, a negative number
	((with > 0 && all > with))
	jq -s -e 'all(.[] | select(.fields.ret | not); .text | test("\\) (invalid )?<"))' <<<"$output"
	same "$(ht show -q -F 'ret < 0 || ret >= 0' | wc -l)" "$with"
	ht clear
	ht enable -F 'ret < 0 || ret >= 0' host_hcall
	ht start
	taskset -c 0 workload --cpu 0 --mmio 20 --psci 20
	ht stop
	run -0 --separate-stderr ht show -j
	jq -s -e 'length > 0 and all(.[]; .fields.ret)' <<<"$output"
	(($(total filtered) > 0))
	counts_add_up
}

@test "stream enables the events of -e, and refuses a filter that none of its events can meet" {
	run -1 ht stream -F 'pfn == 1' host_hcall
	says 'no field "pfn"'
	run -1 ht stream -e host_hcall -F 'pfn == 1'
	says 'no field "pfn"'
	same "$(enabled)" ""
	# another enabled event has it
	ht enable mem_transition
	stream_begin -F 'pfn == 1' host_hcall
	stream_end
	ht reset
	stream_begin -e host_hcall,guest_exit
	same "$(enabled)" "host_hcall guest_exit"
	stream_end
	grep -q 'no event is enabled: this stream enables .* until it ends' "$err"
	same "$(enabled)" ""
}
