#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Lost events: LOST lines stand where events are missing, and their numbers are exact.

load ../helper

# sum_of_losses FILE: print the sum of the LOST lines of a stream.
sum_of_losses()
{
	awk '$3 == "LOST" { n += $4 } END { print n + 0 }' "$1"
}

# last_counts FILE: print the counts of the last line of stderr: "PRINTED DISCARDED LOST".
last_counts()
{
	tail -n 1 "$1" | sed -nE 's/^hyptrace: ([0-9]+) events? printed, ([0-9]+) discarded, ([0-9]+) lost$/\1 \2 \3/p'
}

@test "a LOST line for overwritten events stands before the events that are left" {
	tracing_marks --size "$(pages 2)"
	many=$(fill 15)
	ht mark 1 --count "$many" -C 0
	lost=$(total lost)
	((lost > 0))
	same "$(total written)" "$many"
	same "$(total overrun)" "$lost"
	counts_add_up
	drain -C 0 >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err"
	same "$(sum_of_losses "$BATS_TEST_TMPDIR/out")" "$lost" "sum of the LOST lines"
	# at the time of the event that follows
	same "$(head -n 1 "$BATS_TEST_TMPDIR/out")" \
		"$(sed -n '2s/: selftest:.*//p' "$BATS_TEST_TMPDIR/out"): LOST $lost events"
	ids <"$BATS_TEST_TMPDIR/out" | numbered $((lost + 1)) "$many"
	tail -n 1 "$BATS_TEST_TMPDIR/err" | grep -E "(^|[^0-9])$lost lost"
	same "$(total read)" $((many - lost))
	counts_add_up
}

@test "discard mode drops the new events, and the LOST line stands before the next event" {
	needs "mode discard"
	tracing_marks --size "$(pages 2)" --mode discard
	many=$(fill 15)
	ht mark 1 --count "$many" -C 0
	dropped=$(total dropped)
	((dropped > 0 && dropped < many))
	same "$(total overrun)" 0
	counts_add_up
	drain -C 0 >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err"
	ids <"$BATS_TEST_TMPDIR/out" | numbered 1 $((many - dropped))
	# no event follows, so the counters report the loss
	same "$(last_counts "$BATS_TEST_TMPDIR/err")" "$((many - dropped)) 0 $dropped"
	# There is room again: the next event has the LOST line before it.
	ht mark 7000000 -C 0
	run -0 --separate-stderr ht stream --count 1 -C 0
	same "${lines[0]}" "${lines[1]%: selftest*}: LOST $dropped events"
	same "$(ids <<<"$output")" 7000000
	counts_add_up
}

@test "a running stream prints each event or counts it in a LOST line" {
	ht set --size "$(pages 2)"
	ht enable selftest
	stream_begin -C 0
	kill -STOP "$stream"
	many=$(fill 100)
	ht mark 1 --count "$many" -C 0
	kill -CONT "$stream"
	ht mark $((many + 1)) --count 1 -C 0
	within "$patience" grep -q "id=$((many + 1))\$" "$out"
	same "$(total lost)" "$(sum_of_losses "$out")"
	# Each gap in the numbers is as wide as its LOST line says.
	awk '
		$3 == "LOST" { lost += $4 }
		/selftest/ {
			sub(/.*id=/, "")
			if ($0 != last + lost + 1) {
				print "after " last " and " lost " lost came " $0
				bad = 1
			}
			last = $0
			lost = 0
		}
		END { exit bad }
	' "$out"
	(($(sum_of_losses "$out") > 0))
	stream_end
}

@test "JSON has an object for each loss" {
	tracing_marks --size "$(pages 2)"
	ht mark 1 --count "$(fill 15)" -C 0
	lost=$(total lost)
	drain -C 0 -j >"$BATS_TEST_TMPDIR/out"
	same "$(jq -s '[.[] | .lost // 0] | add' "$BATS_TEST_TMPDIR/out")" "$lost"
	same "$(head -n 1 "$BATS_TEST_TMPDIR/out" | jq -c .)" \
		"{\"cpu\":0,\"ts\":\"$(sed -n 2p "$BATS_TEST_TMPDIR/out" | jq -r .ts)\",\"lost\":$lost}"
}

@test "a stream that ends early loses no event" {
	tracing_marks --size 64K
	ht mark 1 --count 2000 -C 0
	ht stream --count 700 -C 0 >"$BATS_TEST_TMPDIR/out"
	ids <"$BATS_TEST_TMPDIR/out" | numbered 1 700
	counts_add_up
	same "$(total lost)" 0
}

@test "losses on one CPU cause none on another" {
	tracing_marks --size "$(pages 2)"
	cpu=$(last_cpu)
	ht mark 1 --count "$(fill 15)" -C 0
	ht mark 1 --count 10 -C "$cpu"
	same "$(of ".cpus[] | select(.cpu == $cpu).lost")" 0
	drain -C "$cpu" --count 10 | ids | numbered 1 10
}

@test "with --count the last line counts discarded and lost events, though the rings are unloaded" {
	ht set --size "$(pages 2)"
	many=$(fill 100)
	ht enable selftest
	for options in "-C 0" "-C 0 -j" "-C 0 --pretty --ns"; do
		# shellcheck disable=SC2086 # words
		stream_begin --count 3 $options
		kill -STOP "$stream"
		ht mark 1 --count "$many" -C 0
		kill -CONT "$stream"
		ended "$stream"
		same "$code" 0
		same "$(of .state)" unloaded
		read -r printed discarded lost <<<"$(last_counts "$err")"
		same "$printed" 3 "printed with $options"
		((discarded > 0 && lost > 0))
		same "$((printed + discarded + lost))" "$many" "all events with $options"
	done
}

@test "the last line counts losses after the last event, though the rings are unloaded" {
	needs "mode discard"
	ht set --size "$(pages 2)" --mode discard
	many=$(fill 100)
	ht enable selftest
	for options in "-C 0" "-C 0 -j"; do
		# shellcheck disable=SC2086 # words
		stream_begin $options
		kill -STOP "$stream"
		ht mark 1 --count "$many" -C 0
		kill -INT "$stream"
		kill -CONT "$stream"
		ended "$stream"
		same "$code" 0
		same "$(of .state)" unloaded
		printed=$(grep -c selftest "$out")
		((printed > 0))
		same "$(last_counts "$err")" "$printed 0 $((many - printed))"
		tail -n 1 "$out" | grep -iE "lost\"?:? ?$((many - printed))\b"
	done
}

@test "the next stream prints what a stream with --count has left in the rings" {
	tracing_marks --size "$(pages 2)"
	ht mark 1 --count "$(fill 15)" -C 0
	lost=$(total lost)
	ht stream --count 3 -C 0 >/dev/null 2>"$BATS_TEST_TMPDIR/err"
	same "$(last_counts "$BATS_TEST_TMPDIR/err")" "3 $(($(total read) - 3)) $lost"
	unread=$(total unread)
	((unread > 0))
	drain -C 0 2>"$BATS_TEST_TMPDIR/err" >/dev/null
	same "$(last_counts "$BATS_TEST_TMPDIR/err")" "$unread 0 0"
}
