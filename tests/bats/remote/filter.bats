#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# --filter of stream and show: which events are printed, what is counted, and what is wrong in a filter.

load ../helper

# points LINE...: succeed if stderr of "run" is exactly these lines.
points()
{
	same "$stderr" "$(printf '%s\n' "$@")" stderr
	same "$output" "" stdout
}

@test "a stream prints the events that meet the filter, and counts the others" {
	tracing_marks
	ht mark 1 --count 100 -C 0
	ht stop
	run -0 --separate-stderr ht stream --no-start -F 'id >= 10 && id < 0x14 || id == 50'
	same "$(ids <<<"$output" | xargs)" "10 11 12 13 14 15 16 17 18 19 50"
	same "$stderr" "hyptrace: 11 events printed, 89 filtered, 0 discarded, 0 lost"
	same "$(total unread)" 0
}

@test "a stream with a filter ends after the events of -n that meet it" {
	tracing_marks
	ht mark 1 --count 100 -C 0
	run -0 --separate-stderr ht stream -C 0 -n 3 --filter='id & 0xf0'
	same "$(ids <<<"$output" | xargs)" "16 17 18"
	same "$stderr" "hyptrace: 3 events printed, 15 filtered, 82 discarded, 0 lost"
}

@test "EL2 itself filters the events that only the stream enables" {
	needs filters
	stream_begin -F 'id == 3 || id == 30' selftest
	same "$(ht -j list | jq -r '.[0].events[] | select(.name == "selftest").filter')" 'id == 3 || id == 30'
	ht mark 1 --count 40 -C 0
	within "$patience" has_lines 2 "$out"
	same "$(total filtered)" 38
	stream_end
	same "$(ids <"$out" | xargs)" "3 30"
	same "$(<"$err")" "hyptrace: 2 events printed, 38 filtered, 0 discarded, 0 lost"
	same "$(enabled)" ""
}

none_enabled()
{
	[[ -z $(enabled) ]]
}

@test "a filter that only the stream has set is gone while its command still runs" {
	hyptrace -r "$REMOTE" stream -q -n 1 -F 'id == 3' selftest -- \
		sh -c "hyptrace -r $REMOTE mark 1 --count 5 -C 0 && sleep 10456" >"$BATS_TEST_TMPDIR/out" 3>&- &
	within "$patience" has_lines 1 "$BATS_TEST_TMPDIR/out"
	within "$patience" none_enabled
	kill -TERM $!
	ended $!
	same "$code" 143
}

@test "a filter hides no loss" {
	tracing_marks --size "$(pages 2)"
	many=$(fill 15)
	ht mark 1 --count "$many" -C 0
	lost=$(total lost)
	((lost > 0))
	ht stop
	run -0 --separate-stderr ht stream --no-start -F "id == $many"
	same "${#lines[@]}" 2
	[[ ${lines[0]} == *": LOST $lost events" ]]
	same "$(ids <<<"$output")" "$many"
	same "$stderr" "hyptrace: 1 event printed, $((many - lost - 1)) filtered, 0 discarded, $lost lost"
}

@test "show prints the events that meet the filter" {
	tracing_marks
	ht mark 1 --count 30 -C 0
	run -0 --separate-stderr ht show -F 'id<4||id>28'
	same "$(ids <<<"$output" | xargs)" "1 2 3 29 30"
	same "$stderr" "hyptrace: 5 events printed, 25 filtered, 0 lost"
	run -0 --separate-stderr ht show -j -F 'id == 7'
	same "$(jq -r .fields.id <<<"$output")" 7
	run -0 --separate-stderr ht show -F 'id == 77'
	same "$output" ""
	same "$stderr" "hyptrace: 0 events printed, 30 filtered, 0 lost"
}

@test "show -n prints the last events that meet the filter" {
	tracing_marks
	ht mark 1 --count 30 -C 0
	run -0 --separate-stderr ht show -n 3 -F 'id & 8'
	same "$(ids <<<"$output" | xargs)" "28 29 30"
	same "$stderr" "hyptrace: 3 events printed, 0 filtered, 0 lost"
	run -0 --separate-stderr ht show -n 3 -F 'id < 12'
	same "$(ids <<<"$output" | xargs)" "9 10 11"
	same "$stderr" "hyptrace: 3 events printed, 19 filtered, 0 lost"
	run -0 --separate-stderr ht show -n 1000 -F 'id < 3'
	same "$(ids <<<"$output" | xargs)" "1 2"
	same "$stderr" "hyptrace: 2 events printed, 28 filtered, 0 lost"
}

@test "a second filter is refused, and the message says how to join them" {
	run -1 ht show -q -F 'id == 1' -F 'id == 3'
	says '--filter is given twice: join the conditions by "&&"'
}

@test "a wrong filter is a usage error, with a caret below what is wrong" {
	tracing_marks
	run -1 --separate-stderr ht show -F 'id == 1 && idd > 5'
	points 'hyptrace: wrong filter: no event has a field "idd"; did you mean "id"?' \
		'  id == 1 && idd > 5' \
		'             ^'
	run -1 --separate-stderr ht stream -F 'id == '
	points 'hyptrace: wrong filter: a value is missing after "=="' \
		'  id == ' \
		'        ^'
	run -1 --separate-stderr ht stream -F ''
	points 'hyptrace: wrong filter: the filter is empty' \
		'  ' \
		'  ^'
	same "$(of .readers)" 0
}

@test "the caret stands below the character also if others are escaped" {
	tracing_marks
	run -1 --separate-stderr ht show -F $'id == \t1 \x1b'
	points 'hyptrace: wrong filter: "&&" or "||" is missing before "\x1b"' \
		'  id == \x091 \x1b' \
		'              ^'
}
