#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The clock: the times of events are CLOCK_BOOTTIME.

load ../helper

# mark_ms CPU: write a mark on that CPU, print its time in milliseconds.
mark_ms()
{
	ht mark 1 -C "$1"
	ht stream --count 1 -C "$1" -j | jq -r '.ts | tonumber / 1000000 | floor'
}

# The allowed error in milliseconds. Large, because reading the clock from a shell is slow; an error of half a second
# would still show that the clock is not CLOCK_BOOTTIME.
slack=500

@test "the time of a mark is between the times before and after it, on each CPU" {
	tracing_marks
	for cpu in $(cpu_ids); do
		before=$(boot_ms)
		at=$(mark_ms "$cpu")
		after=$(boot_ms)
		echo "CPU $cpu: $before $at $after"
		((before - slack <= at && at <= after + slack))
	done
}

@test "the time of a mark is still right after three seconds" {
	tracing_marks
	first=$(mark_ms 0)
	end=$(($(boot_ms) + 3000))
	while (($(boot_ms) < end)); do
		sleep 0.2
	done
	before=$(boot_ms)
	at=$(mark_ms 0)
	after=$(boot_ms)
	echo "$first then $before $at $after"
	((before - slack <= at && at <= after + slack && at > first))
}

@test "the time of a mark is right after unload and load" {
	for round in 1 2 3; do
		tracing_marks
		before=$(boot_ms)
		at=$(mark_ms 0)
		echo "round $round: $before $at"
		((before - slack <= at && at <= $(boot_ms) + slack))
		ht unload
	done
}

@test "a change of the time of day does not change the times of events" {
	tracing_marks
	first=$(mark_ms 0)
	now=$(date +%s)
	date -s "@$((now - 100000))" >/dev/null
	second=$(mark_ms 0)
	date -s "@$now" >/dev/null
	third=$(mark_ms 0)
	echo "$first $second $third"
	((first < second && second < third && third - first < 60000))
}

@test "the times of a CPU never decrease" {
	tracing_marks --size 2M
	ht mark 1 --count 20000 -C 0
	ht stream --count 20000 -C 0 --ns >"$BATS_TEST_TMPDIR/out"
	in_time_order "$BATS_TEST_TMPDIR/out"
}
