#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# CPUs that go offline and come back online while tracing.

load ../helper

setup()
{
	fresh
	cpu=$(last_cpu)
	((cpu > 0)) || skip "there is one CPU only"
	[[ -e /sys/devices/system/cpu/cpu$cpu/online ]] || skip "no CPU can go offline"
}

cpu_state()
{
	of ".cpus[] | select(.cpu == $cpu).state"
}

@test "the ring of an offline CPU can be read" {
	tracing_marks
	ht mark 1 --count 8 -C "$cpu"
	cpu_set "$cpu" 0
	# EL2 parks a CPU that goes offline. With the remote "test" the CPU detaches itself.
	same "$(cpu_state)" "$([[ $REMOTE == hypervisor ]] && echo parked || echo detached)"
	same "$(of ".cpus[] | select(.cpu == $cpu) | .online, .unread" | xargs)" "false 8"
	run -0 --separate-stderr ht stream --count 8 -C "$cpu"
	ids <<<"$output" | numbered 1 8
	counts_add_up
}

@test "a ring loaded while its CPU was offline works when the CPU is online" {
	cpu_set "$cpu" 0
	tracing_marks
	same "$(cpu_state)" detached
	ht mark 1 -C 0
	run -0 --separate-stderr ht stream --count 1
	same "$(ids <<<"$output")" 1
	cpu_set "$cpu" 1
	same "$(cpu_state)" attached
	ht mark 1 --count 8 -C "$cpu"
	run -0 --separate-stderr ht stream --count 8 -C "$cpu"
	ids <<<"$output" | numbered 1 8
}

@test "mark on an offline CPU is refused" {
	tracing_marks
	cpu_set "$cpu" 0
	run -2 ht mark 1 -C "$cpu"
	says "CPU $cpu is offline"
}

@test "a stream of all CPUs goes on while a CPU goes offline and online" {
	ht enable selftest
	stream_begin --ns
	for round in 1 2 3; do
		ht mark "$round" -C "$cpu"
		cpu_set "$cpu" 0
		ht mark "$round" -C 0
		cpu_set "$cpu" 1
	done
	within "$patience" has_lines 6 "$out"
	stream_end
	for number in 0 "$cpu"; do
		grep "^\[$(printf %03d "$number")\]" "$out" | ids | numbered 1 3
	done
	in_time_order "$out"
}

@test "a stream of one CPU goes on while that CPU goes offline and online" {
	ht enable selftest
	stream_begin -C "$cpu"
	ht mark 1 -C "$cpu"
	cpu_set "$cpu" 0
	within "$patience" has_lines 1 "$out"
	cpu_set "$cpu" 1
	ht mark 2 -C "$cpu"
	within "$patience" has_lines 2 "$out"
	stream_end
	ids <"$out" | numbered 1 2
}

@test "stop, start, clear and unload work while a CPU is offline" {
	tracing_marks
	ht mark 1 -C "$cpu"
	cpu_set "$cpu" 0
	ht stop
	same "$(ht stream --count 1 -C "$cpu" | ids)" 1
	ht start
	ht mark 2 -C 0
	ht clear
	same "$(total unread)" 0
	ht unload
	same "$(of .state)" unloaded
	cpu_set "$cpu" 1
	tracing_marks
	ht mark 3 -C "$cpu"
	same "$(ht stream --count 1 -C "$cpu" | ids)" 3
}

@test "written = read + lost + unread while a CPU goes offline and online ten times" {
	ht set --size "$(pages 2)"
	tracing_marks
	part=$(($(fill 2) + 100))
	for round in {1..10}; do
		ht mark 1 --count "$part" -C "$cpu"
		cpu_set "$cpu" 0
		counts_add_up
		cpu_set "$cpu" 1
		same "$(of ".cpus[] | select(.cpu == $cpu).written")" $((round * part))
	done
	counts_add_up
	ht stop
	ht unload
}

@test "a stream goes on while all CPUs but the first are offline" {
	ht enable selftest
	stream_begin
	for other in $(cpu_ids); do
		((other == 0)) || cpu_set "$other" 0
	done
	ht mark 4
	within "$patience" has_lines 1 "$out"
	same "$(ids <"$out")" 4
	cpus_on
	ht mark 5 -C all
	within "$patience" has_lines $((1 + $(cpu_ids | wc -l))) "$out"
	stream_end
}
