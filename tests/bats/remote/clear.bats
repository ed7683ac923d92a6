#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# clear: drops the events of all CPUs or of one.

load ../helper

@test "clear drops all events, sets the counters to 0, and tracing goes on" {
	tracing_marks
	ht mark 123456
	run -0 ht clear
	same "$output" ""
	same "$(of .state)" tracing
	same "$(total written)$(total unread)$(total read)$(total lost)" 0000
	ht mark 7890
	same "$(drain | ids)" 7890
	counts_add_up
}

@test "after a clear no loss from before is reported" {
	tracing_marks --size "$(pages 2)"
	ht mark 1 --count "$(fill 50)" -C 0
	(($(total lost) > 0))
	ht clear
	same "$(total lost)" 0
	ht mark 7890 -C 0
	run -0 --separate-stderr ht stream --count 1
	same "$(ids <<<"$output")" 7890
	[[ $output != *LOST* ]]
}

@test "clear drops the rest of a ring that was read in part" {
	tracing_marks
	ht mark 1 --count 1000 -C 0
	ht stream --count 10 -C 0 >/dev/null
	ht clear
	same "$(total unread)" 0
	ht mark 1 --count 3 -C 0
	drain | ids | numbered 1 3
	counts_add_up
}

@test "clear -C clears that CPU only" {
	tracing_marks
	ht mark 5 -C all
	cpu=$(last_cpu)
	run -0 ht clear -C "$cpu"
	for other in $(cpu_ids); do
		same "$(of ".cpus[] | select(.cpu == $other).unread")" "$((other != cpu))"
	done
	ht mark 6 -C "$cpu"
	same "$(ht stream --count 1 -C "$cpu" | ids)" 6
	same "$(ht stream --count 1 -C 0 | ids)" 5
}

@test "clear of an unloaded remote succeeds" {
	run -0 ht clear
	same "$(of .state)" unloaded
}

@test "clear of an unknown CPU is refused and clears nothing" {
	tracing_marks
	ht mark 1 -C 0
	run -2 ht clear -C 4095
	says 'has no CPU 4095'
	run -2 ht clear -C 0,4095
	same "$(total unread)" 1
}
