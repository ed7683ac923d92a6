#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# set --rate: the remote "test" writes events by itself. The hypervisor has no rate.

load ../helper

@test "with a rate each CPU writes events by itself, numbered from 0" {
	ht set --rate 1000
	ht enable selftest
	stream_begin
	within "$patience" has_lines 200 "$out"
	stream_end
	for cpu in $(cpu_ids); do
		grep "^\[$(printf %03d "$cpu")\]" "$out" | ids >"$BATS_TEST_TMPDIR/ids"
		[[ -s $BATS_TEST_TMPDIR/ids ]]
		numbered 0 $(($(wc -l <"$BATS_TEST_TMPDIR/ids") - 1)) <"$BATS_TEST_TMPDIR/ids"
	done
	same "$(of .state)" unloaded
}

some_written()
{
	(($(total written) > 0))
}

@test "rate 0 stops these events" {
	ht set --rate 1000
	tracing_marks
	within "$patience" some_written
	ht set --rate 0
	ht clear
	ht mark 1 -C 0
	sleep 0.5
	same "$(total written)" 1
}

@test "reset sets the rate to 0" {
	ht set --rate 1000
	ht reset
	tracing_marks
	sleep 0.5
	same "$(total written)" 0
}

@test "a disabled event is not written, whatever the rate is" {
	ht set --rate 1000
	ht start
	sleep 0.5
	same "$(total written)" 0
}

@test "a rate of the hypervisor is refused" {
	run -2 hyptrace -r hypervisor set --rate 5
	says 'rate'
}

@test "a bad rate is a usage error" {
	for rate in -1 x 4294967296 ''; do
		run -1 ht set --rate="$rate"
		says "\"$rate\""
	done
}
