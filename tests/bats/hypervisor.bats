#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The main job: what the hypervisor does while a guest runs.

load ./helper

export REMOTE=hypervisor

# Run the workload in a trace of everything on CPU 0: events in $out, its words in $words, its process in $pid.
trace_workload()
{
	ht set --size 8M
	ht enable hyp_enter hyp_exit
	stream_begin -C 0
	words=$(taskset -c 0 workload --cpu 0 --mmio 300 --psci 200)
	[[ $words =~ vcpu_pid=([0-9]+) ]]
	pid=${BASH_REMATCH[1]}
	stream_end
	none LOST "$out"
}

# number PATTERN
number()
{
	grep -cE "$1" "$out" || true
}

@test "all reasons of a guest's life appear" {
	trace_workload
	for reason in hvc host_abort guest_exit; do
		(($(number "hyp_enter: reason=$reason ") > 0)) || { echo "no $reason" && false; }
	done
	for reason in eret_guest eret_host; do
		(($(number "hyp_exit: reason=$reason ") > 0)) || { echo "no $reason" && false; }
	done
	same "$(number 'reason=unknown')" 0
}

@test "the guest leaves as often as it is known to, and by no more than interrupts" {
	trace_workload
	exits=$(number "hyp_enter: reason=guest_exit vcpu=$pid$")
	[[ $words =~ run_ioctls=([0-9]+) ]]
	rounds=${BASH_REMATCH[1]}
	echo "$words: $exits exits"
	# 300 stores and 200 PSCI calls; besides, interrupts of the host, and faults of its first touches
	((exits >= 500))
	same "$(number 'reason=guest_exit')" "$exits" "guest exits of all vCPUs"
	same "$(number "hyp_exit: reason=eret_guest vcpu=$pid$")" "$exits" "ways into the guest"
	((rounds >= 300))
}

@test "vcpu is the vCPU's thread on the guest's events and 0 on the host's" {
	trace_workload
	same "$(number "reason=(guest_exit|eret_guest) vcpu=$pid$")" "$(number 'reason=(guest_exit|eret_guest) ')"
	same "$(number 'reason=(hvc|smc|host_abort|psci) vcpu=0$')" "$(number 'reason=(hvc|smc|host_abort|psci) ')"
	same "$(number 'reason=eret_host vcpu=0$')" "$(number 'reason=eret_host ')"
}

@test "enters and exits pair up" {
	trace_workload
	awk '
		/LOST/ { next }
		{ enter = $3 == "hyp_enter:" }
		NR > 1 && enter == was { print "two of a kind at line " NR ": " $0; bad = 1 }
		{ was = enter }
		END { exit bad || NR < 1000 }
	' "$out"
}

@test "counts of status and stream agree" {
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

@test "a disabled event does not come" {
	ht enable hyp_exit
	stream_begin -C 0
	taskset -c 0 workload --cpu 0 --mmio 10 --psci 10
	stream_end
	same "$(number hyp_enter)" 0
	(($(number hyp_exit) > 20))
}

@test "a CPU that goes off and comes back tells of PSCI first" {
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

@test "hyp_enter takes 12 bytes: as many fit a sub-buffer" {
	ht load --size 1 --mode discard
	ht enable hyp_enter
	ht start
	# so many go into a sub-buffer, but for some time extensions; of 16 bytes it were three quarters of that
	most=$((($(page_size) - 16) / 12))
	taskset -c 0 workload --cpu 0 --mmio $((3 * most)) --psci $((3 * most))
	ht stop
	unread=$(of '.cpus[0].unread')
	echo "$unread events in 2 of $(of '.cpus[0].nr_subbufs') sub-buffers"
	(($(of '.cpus[0].dropped') > 0))
	((unread > 2 * most * 94 / 100 && unread <= 2 * most))
}

@test "a stream of all CPUs is in order while guests run on each" {
	ht set --size 8M
	ht enable 'hyp_*'
	stream_begin --ns
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

# What is idle does not come to EL2, and hyptrace leaves no events of its own: guests on CPU 0, one after another.
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

@test "symbols come as names in JSON" {
	ht enable hyp_enter
	guests_begin
	run -0 --separate-stderr ht stream -j --count 20
	guests_end
	jq -s -e 'all(.[]; .event == "hyp_enter" and (.fields.reason | type) == "number" and
		(.symbols.reason | type) == "string" and (.fields.vcpu | type) == "number")' <<<"$output"
}

@test "hyptrace enable and stream, as the first thing after modprobe, print events" {
	modprobe -r hyptrace_pkvm
	modprobe hyptrace_pkvm
	hyptrace enable hyp_enter
	guests_begin
	run -0 --separate-stderr timeout "$patience" hyptrace stream --cpu 0 --count 5
	guests_end
	same "$(grep -cE '^\[000\] +[0-9]+\.[0-9]{6}: hyp_enter: reason=[a-z_]+ vcpu=[0-9]+$' <<<"$output")" 5
}
