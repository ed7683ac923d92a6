#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Suspend to idle, with the machine's clock to wake it: rings, readers and time come through it.

load ../helper

seconds=2

# The machine sleeps for so long. A wakeup that comes while tasks are still being frozen ends it early: once more then.
suspend()
{
	local before after try
	for try in 1 2 3; do
		before=$(boot_ms)
		echo 0 >/sys/class/rtc/rtc0/wakealarm
		echo "+$((seconds + try - 1))" >/sys/class/rtc/rtc0/wakealarm
		echo freeze >/sys/power/state || true
		after=$(boot_ms)
		((after - before >= (seconds - 1) * 1000)) && return
	done
	echo "it does not suspend: $before to $after, $(dmesg | tail -n 5)"
	return 1
}

@test "events and counters are those of before, and tracing goes on" {
	tracing_marks
	ht mark 1 --count 300 --cpu 0
	ht mark 1 --count 200 --cpu 1
	suspend
	same "$(of .state)" tracing
	same "$(total unread)" 500
	ht mark 301 --count 10 --cpu 0
	ht mark 201 --count 10 --cpu 1
	run -0 ht stream --count 310 --cpu 0 -j
	same "$(jq -r 'select(.event == "selftest") | .fields.id' <<<"$output" | tail -n 1)" 310
	same "$(total lost)" 0
}

@test "time is CLOCK_BOOTTIME again, on each CPU" {
	tracing_marks
	ht mark 1 --cpu 0
	suspend
	for cpu in $(cpu_ids); do
		before=$(boot_ms)
		ht mark 2 --cpu "$cpu"
		after=$(boot_ms)
		at=$(ht stream --count "$((cpu == 0 ? 2 : 1))" --cpu "$cpu" -j |
			jq -r 'select(.ts) | .ts | tonumber / 1000000 | floor' | tail -n 1)
		echo "CPU $cpu: $before $at $after"
		((before - 500 <= at && at <= after + 500))
	done
}

@test "a stream that waits goes on waiting, and gets the next event" {
	tracing_marks
	stream_begin
	suspend
	ht mark 77 --cpu 1
	within "$patience" grep -q 'id=77' "$out"
	stream_end
}
