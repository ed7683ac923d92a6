#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# mark: the remote writes numbered events, and stream prints the same numbers.

load ../helper

@test "stream prints id=7 after mark 7" {
	tracing_marks
	run -0 ht mark 7
	same "$output" ""
	run -0 --separate-stderr ht stream --count 1
	[[ $output =~ ^\[[0-9]{3}\]\ +[0-9]+\.[0-9]{6}:\ selftest:\ id=7$ ]]
}

@test "stream -j prints the id 7 after mark 7" {
	tracing_marks
	ht mark 7
	run -0 --separate-stderr ht stream --count 1 -j
	same "$(jq -r '.event, .fields.id' <<<"$output" | xargs)" "selftest 7"
	jq -e '(.cpu | type) == "number" and (.ts | type) == "string"' <<<"$output"
}

@test "the largest 64-bit number is printed exactly" {
	tracing_marks
	ht mark 18446744073709551615
	ht mark 0xffffffff00000001
	ht stream --count 2 >"$BATS_TEST_TMPDIR/out"
	same "$(ids <"$BATS_TEST_TMPDIR/out" | sort | xargs)" "18446744069414584321 18446744073709551615"
}

@test "100,000 marks are read completely and in order" {
	tracing_marks --size 4M
	ht mark 1 --count 100000 -C 0
	same "$(total written)" 100000
	same "$(total lost)" 0
	ht stream --count 100000 -C 0 >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err"
	ids <"$BATS_TEST_TMPDIR/out" | numbered 1 100000
	in_time_order "$BATS_TEST_TMPDIR/out"
	grep -q '100000' "$BATS_TEST_TMPDIR/err"
	same "$(total read)" 100000
	same "$(total unread)" 0
	counts_add_up
}

@test "a stream prints 100,000 marks completely while they are written" {
	ht set --size 4M
	ht enable selftest
	stream_begin -C 0
	ht mark 1 --count 100000 -C 0
	within "$patience" has_lines 100000 "$out"
	stream_end
	ids <"$out" | numbered 1 100000
	none LOST "$out"
}

@test "mark --cpu writes on the named CPUs" {
	tracing_marks
	ht mark 40 --cpu all
	for cpu in $(cpu_ids); do
		same "$(of ".cpus[] | select(.cpu == $cpu).unread")" 1
		run -0 --separate-stderr ht stream --count 1 -C "$cpu"
		[[ $output =~ ^"[$(printf %03d "$cpu")]".*id=40$ ]]
	done
}

@test "mark without --cpu writes on the CPU that it runs on" {
	tracing_marks
	for cpu in $(cpu_ids); do
		taskset -c "$cpu" hyptrace -r "$REMOTE" mark 1
		same "$(of ".cpus[] | select(.cpu == $cpu).written")" 1
	done
}

@test "mark is refused while tracing is off or selftest disabled, and says which" {
	run -2 ht mark 1
	says 'tracing is off'
	ht start
	run -2 ht mark 1
	says 'selftest'
	says 'not enabled'
	same "$(total written)" 0
}

@test "mark refuses a count that leads past the largest number" {
	tracing_marks
	run -1 ht mark 18446744073709551615 --count 2
	says 'number 18446744073709551615 is too large for a count of 2: use a number from 0 to 18446744073709551614'
	run -1 ht mark -n 3 18446744073709551614
	says 'use a number from 0 to 18446744073709551613'
	same "$(total written)" 0
	ht mark 18446744073709551614 --count 2 -C 0
	same "$(ht stream --count 2 -q | ids | xargs)" "18446744073709551614 18446744073709551615"
}

@test "mark with a bad number, count or CPU is refused" {
	tracing_marks
	run -1 ht mark
	run -1 ht mark x
	says 'bad number "x": use a number from 0 to 18446744073709551615'
	run -1 ht mark -1
	run -1 ht mark 18446744073709551616
	says 'bad number "18446744073709551616"'
	run -1 ht mark 1 2
	run -1 ht mark 1 --count 0
	run -1 ht mark 1 --count 4294967296
	run -2 ht mark 1 -C 4095
	says 'no CPU 4095'
	same "$(total written)" 0
}
