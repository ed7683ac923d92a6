#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# show: prints the events in the rings and consumes none.

load ../helper

# show_to FILE [OPTION...]: run show with stdout in FILE and stderr in FILE.err.
show_to()
{
	local file=$1
	shift
	ht show "$@" >"$file" 2>"$file.err"
}

# without_gaps FILE: succeed if each gap between two numbers is as wide as the LOST line between them says.
without_gaps()
{
	awk '
		$3 == "LOST" { lost += $4 }
		/selftest/ {
			sub(/.*id=/, "")
			if (seen && $0 != last + lost + 1) {
				print "after " last " and " lost " lost came " $0
				bad = 1
			}
			seen = 1
			last = $0
			lost = 0
		}
		END { exit bad }
	' "$1"
}

@test "show prints the events and consumes none" {
	out=$BATS_TEST_TMPDIR/out
	tracing_marks
	ht mark 1 --count 1000 -C 0
	for _ in 1 2; do
		show_to "$out" -C 0
		ids <"$out" | numbered 1 1000
		same "$(tail -n 1 "$out.err")" "hyptrace: 1000 events printed, 0 lost"
		same "$(total read)" 0
		same "$(total unread)" 1000
		same "$(of .state)" tracing
		same "$(of .readers)" 0
	done
}

@test "show prints the same lines as a stream after it" {
	out=$BATS_TEST_TMPDIR/out
	tracing_marks
	for burst in 100 200 300; do
		ht mark "$burst" --count 50 -C all
	done
	for option in --ns -j; do
		show_to "$out" "$option"
		same "$(wc -l <"$out")" "$(total unread)"
	done
	show_to "$out" --ns
	drain --ns >"$BATS_TEST_TMPDIR/streamed"
	cmp "$out" "$BATS_TEST_TMPDIR/streamed"
	in_time_order "$out"
	show_to "$out" --ns
	same "$(cat "$out")" ""
	same "$(cat "$out.err")" "hyptrace: 0 events printed, 0 lost"
}

@test "show of an unloaded remote is refused and does not load it" {
	ht enable selftest
	run -2 ht show
	says "cannot read \"$REMOTE\": the rings are not loaded: use \"hyptrace start\" or \"hyptrace load\""
	same "$(of .state)" unloaded
}

@test "show works while tracing is off and does not start it" {
	tracing_marks
	ht mark 1 --count 10 -C 0
	ht stop
	show_to "$BATS_TEST_TMPDIR/out"
	ids <"$BATS_TEST_TMPDIR/out" | numbered 1 10
	same "$(of .state)" loaded
	same "$(total unread)" 10
}

@test "show leaves out the events that a stream has consumed" {
	out=$BATS_TEST_TMPDIR/out
	tracing_marks --size "$(pages 16)"
	many=$(fill 10)
	ht mark 1 --count "$many" -C 0
	ht stream --count $((many / 3)) -C 0 >/dev/null
	unread=$(total unread)
	((unread > 0 && unread <= many - many / 3))
	show_to "$out" -C 0
	ids <"$out" | numbered $((many + 1 - unread)) "$many"
}

@test "show does not disturb a running stream" {
	ht enable selftest
	stream_begin -C 0
	for id in {1..5}; do
		ht mark "$id" -C 0
		show_to "$BATS_TEST_TMPDIR/shown" -C 0
		is_consumer "$stream"
	done
	within "$patience" has_lines 5 "$out"
	stream_end
	ids <"$out" | numbered 1 5
}

@test "show has no gap after the ring was overwritten while its consumer was stopped" {
	shown=$BATS_TEST_TMPDIR/shown
	ht set --size "$(pages 4)"
	ht enable selftest
	stream_begin -C 0
	ht mark 1 --count 20 -C 0
	within "$patience" has_lines 20 "$out"
	kill -STOP "$stream"
	many=$(fill 25)
	ht mark 21 --count "$many" -C 0
	show_to "$shown" -C 0
	same "$(tail -n 1 "$shown" | ids)" $((20 + many))
	has_lines "$(($(fill 3) - 12))" "$shown"
	without_gaps "$shown"
	# what was overwritten was before the first line
	tail -n +2 "$shown" >"$shown.rest"
	none LOST "$shown.rest"
	same "$(sed -n '1s/.*: LOST //p' "$shown")" "$(total lost) events"
	kill -CONT "$stream"
	stream_end
}

@test "show has no gap while events are written" {
	out=$BATS_TEST_TMPDIR/out
	tracing_marks --size "$(pages 4)"
	hyptrace -r "$REMOTE" mark 1 --count 100000 -C 0 3>&- &
	writer=$!
	for _ in {1..20}; do
		show_to "$out" -C 0
		without_gaps "$out"
		tail -n +2 "$out" >"$out.rest"
		none LOST "$out.rest"
	done
	ended "$writer"
	show_to "$out" -C 0
	same "$(tail -n 1 "$out" | ids)" 100000
	has_lines "$(($(fill 3) - 12))" "$out"
	without_gaps "$out"
}

@test "show marks what was overwritten before its first line" {
	out=$BATS_TEST_TMPDIR/out
	tracing_marks --size "$(pages 4)"
	many=$(fill 15)
	ht mark 1 --count "$many" -C 0
	ht mark 1 --count "$many" -C 1
	ht mark 1 -C 1
	for cpu in 0 1; do
		lost=$(ht -j status -C "$cpu" | jq '.[0].cpus[0].overrun')
		((lost > 0))
		show_to "$out" -C "$cpu"
		same "$(head -n 1 "$out")" "$(sed -n '2s/: selftest:.*//p' "$out"): LOST $lost events"
		same "$(sed -n 2p "$out" | ids)" $((lost + 1))
		same "$(tail -n 1 "$out.err")" "hyptrace: $(grep -c selftest "$out") events printed, $lost lost"
	done
	show_to "$out"
	in_time_order "$out"
	same "$(sed -nE 's/.*LOST ([0-9]+) events$/\1/p' "$out" | awk '{ n += $1 } END { print n }')" "$(total lost)"
	# the last events only, wherever they begin
	show_to "$out" -n 3
	none LOST "$out"
	# a consumer learns of the losses, and they are not marked again
	ht stream -n 1 -C 0 >/dev/null
	show_to "$out" -C 0
	none LOST "$out"
}

@test "show prints a LOST line where discard mode has dropped events" {
	needs "mode discard"
	out=$BATS_TEST_TMPDIR/out
	tracing_marks --size "$(pages 4)" --mode discard
	many=$(fill 15)
	ht mark 1 --count "$many" -C 0
	dropped=$(total dropped)
	((dropped > 0))
	show_to "$out" -C 0
	ids <"$out" | numbered 1 $((many - dropped))
	same "$(tail -n 1 "$out" | cut -d ' ' -f 2- | xargs)" \
		"$(tail -n 2 "$out" | sed -n '1s/selftest: .*//p' | cut -d ' ' -f 2- | xargs) LOST $dropped events"
	same "$(grep -c LOST "$out")" 1
	# Consume one sub-buffer to make room.
	ht stream --count 1 -C 0 >/dev/null
	ht mark $((many + 1)) --count 10 -C 0
	show_to "$out" -C 0
	grep -Eqx "\[000\] +[0-9]+\.[0-9]{6}: LOST $dropped events" "$out"
	in_time_order "$out"
	without_gaps "$out"
	same "$(tail -n 1 "$out" | ids)" $((many + 10))
	same "$(tail -n 1 "$out.err")" \
		"hyptrace: $(total unread) events printed, $dropped lost"
	show_to "$out" -C 0 -j
	jq -s -e --argjson n "$dropped" '[.[] | select(.lost) | del(.ts)] | . == [{ cpu: 0, lost: $n }]' "$out"
	jq -s -e '[.[] | .ts | tonumber] | . == sort' "$out"
}

@test "--count N prints the last N events of all CPUs together" {
	out=$BATS_TEST_TMPDIR/out
	tracing_marks
	ht mark 1 --count 1000 -C 0
	show_to "$out" --count 5 -C 0
	ids <"$out" | numbered 996 1000
	same "$(cat "$out.err")" "hyptrace: 5 events printed, 0 lost"
	show_to "$out" --count 1
	same "$(ids <"$out")" 1000
	same "$(cat "$out.err")" "hyptrace: 1 event printed, 0 lost"
	show_to "$out" --count 5000 -C 0
	ids <"$out" | numbered 1 1000
	show_to "$out" -n 2 -C 0
	ids <"$out" | numbered 999 1000
	ht mark 7 -C "$(last_cpu)"
	show_to "$out" --count 3
	same "$(ids <"$out" | xargs)" "999 1000 7"
	run -1 ht show --count 0
	run -1 ht show --count x
	says '"x"'
}

@test "-q leaves out the last line, except if events were lost" {
	needs "mode discard"
	out=$BATS_TEST_TMPDIR/out
	tracing_marks --size "$(pages 4)" --mode discard
	ht mark 1 --count 10 -C 0
	for option in -q --quiet "-q -j" "-q --time=rel" "-q -n 3"; do
		# shellcheck disable=SC2086 # words
		show_to "$out" $option
		same "$(cat "$out.err")" "" "stderr with $option"
	done
	ht mark 11 --count "$(fill 15)" -C 0
	dropped=$(total dropped)
	ht stream -n 1 -C 0 >/dev/null
	ht mark 1 -C 0
	for option in "" -q "-q -j" "-j" "-q --time=wall" "--time=delta --ns"; do
		# shellcheck disable=SC2086 # words
		show_to "$out" $option
		same "$(cat "$out.err")" "hyptrace: $(total unread) events printed, $dropped lost" "with $option"
	done
}

@test "--cpu shows the events of that CPU only" {
	tracing_marks
	ht mark 1 -C all
	show_to "$BATS_TEST_TMPDIR/out" -C "$(last_cpu)"
	same "$(cut -d ']' -f 1 "$BATS_TEST_TMPDIR/out")" "[$(printf %03d "$(last_cpu)")"
	run -2 ht show -C 4095
	says 'has no CPU 4095'
}

@test "show leaves out events from before a clear" {
	tracing_marks
	ht mark 1 --count 1000 -C 0
	ht clear
	ht mark 5 --count 2 -C 0
	show_to "$BATS_TEST_TMPDIR/out"
	same "$(ids <"$BATS_TEST_TMPDIR/out" | xargs)" "5 6"
}

@test "show ends without an error when head closes the pipe" {
	tracing_marks
	ht mark 1 --count 1000 -C 0
	run -0 bash -c "set -o pipefail; timeout $patience hyptrace -r $REMOTE show -C 0 2>/dev/null | head -n 2"
	same "$(ids <<<"$output" | xargs)" "1 2"
}

@test "an argument is a usage error" {
	run -1 ht show now
	says '"now"'
}
