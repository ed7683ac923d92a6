#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The times of lines: --time, of events and of losses.

load ../helper

# Write marks on CPU 0 until the ring drops some, then one more after the gap. Sets $lost to the dropped ones.
lossy()
{
	needs "mode discard"
	tracing_marks --size "$(pages 4)" --mode discard
	ht mark 1 --count "$(fill 15)" -C 0
	lost=$(total dropped)
	((lost > 0))
	ht stream -n 1 -C 0 >/dev/null 2>&1
	ht mark 7 -C 0
}

# times FILE: print the time of each line in nanoseconds. The lines must have been printed with --ns.
times()
{
	sed -nE 's/^\[[0-9]+\] +([0-9]+)\.([0-9]{9}): .*/\1\2/p' "$1" | sed 's/^0*\(.\)/\1/'
}

# without_times FILE: print the lines without their times.
without_times()
{
	sed -E 's/^(\[[0-9]+\]) [^:]*[0-9][0-9:.-]*: /\1 /; s/^(\[[0-9]+\]) .*(selftest|LOST)/\1 \2/' "$1"
}

@test "--time=abs is the default" {
	lossy
	ht show --ns >"$BATS_TEST_TMPDIR/none" 2>/dev/null
	ht show --ns --time=abs >"$BATS_TEST_TMPDIR/abs" 2>/dev/null
	cmp "$BATS_TEST_TMPDIR/none" "$BATS_TEST_TMPDIR/abs"
}

@test "rel is the time since the first line, delta since the one before" {
	lossy
	for time in abs rel delta; do
		ht show --ns --time "$time" >"$BATS_TEST_TMPDIR/$time" 2>/dev/null
		times "$BATS_TEST_TMPDIR/$time" >"$BATS_TEST_TMPDIR/$time.ns"
		same "$(wc -l <"$BATS_TEST_TMPDIR/$time.ns")" "$(wc -l <"$BATS_TEST_TMPDIR/$time")" "lines of $time"
		cmp <(without_times "$BATS_TEST_TMPDIR/$time") <(without_times "$BATS_TEST_TMPDIR/abs")
	done
	awk 'NR == 1 { first = $1 } { printf "%d\n", $1 - first }' "$BATS_TEST_TMPDIR/abs.ns" |
		cmp - "$BATS_TEST_TMPDIR/rel.ns"
	awk '{ printf "%d\n", NR == 1 ? 0 : $1 - last; last = $1 }' "$BATS_TEST_TMPDIR/abs.ns" |
		cmp - "$BATS_TEST_TMPDIR/delta.ns"
	ht show --time=rel >"$BATS_TEST_TMPDIR/rel" 2>/dev/null
	grep -E '^\[[0-9]+\]     0\.000000: ' "$BATS_TEST_TMPDIR/rel"
}

@test "wall is the local date and time" {
	tracing_marks
	ht mark 1 -C 0
	for zone in UTC UTC-5; do
		line=$(TZ=$zone ht show --time=wall 2>/dev/null)
		[[ $line =~ ^\[000\]\ ([0-9]{4}-[0-9]{2}-[0-9]{2}\ [0-9]{2}:[0-9]{2}:[0-9]{2})\.[0-9]{6}:\ selftest:\ id=1$ ]]
		age=$(($(date +%s) - $(TZ=$zone date -d "${BASH_REMATCH[1]}" +%s)))
		((age >= -1 && age <= patience))
	done
}

@test "a stream knows the same times" {
	tracing_marks
	ht mark 1 --count 3 -C 0
	for time in abs rel delta wall; do
		ht show --ns --time="$time" >"$BATS_TEST_TMPDIR/$time" 2>/dev/null
	done
	ht stream -n 3 --ns --time=delta >"$BATS_TEST_TMPDIR/out" 2>/dev/null
	cmp "$BATS_TEST_TMPDIR/out" "$BATS_TEST_TMPDIR/delta"
	for time in rel wall; do
		ht clear
		ht mark 1 --count 3 -C 0
		run -0 --separate-stderr ht stream -n 3 --time="$time"
		same "$(ids <<<"$output" | xargs)" "1 2 3" "$time"
		[[ $time != rel || ${lines[0]} == *" 0.000000: "* ]]
	done
}

@test "a LOST line has a time, whatever the options" {
	for options in "" "-q" "--ns" "--time=rel" "--time=delta" "--time=wall" "--time=wall --ns -q" "-q --time=rel"; do
		ht reset
		lossy
		unread=$(total unread)
		# shellcheck disable=SC2086 # words
		ht stream -n "$unread" $options >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err"
		sed -nE 's/^\[000\] .*[0-9]+\.([0-9]{6}|[0-9]{9}): LOST ([0-9]+) events$/\2/p' "$BATS_TEST_TMPDIR/out" |
			grep -qx "$lost" || { echo "no loss with $options" && false; }
		# -q does not hide what was lost
		same "$(tail -n 1 "$BATS_TEST_TMPDIR/err")" "hyptrace: $unread events printed, 0 discarded, $lost lost" \
			"with $options"
	done
}

@test "JSON has the time of a loss in ns, whatever the options" {
	for options in "-j" "-j -q" "--pretty" "-j --time=rel" "-j --time=delta --ns" "-q -j --time=wall"; do
		ht reset
		lossy
		unread=$(total unread)
		# shellcheck disable=SC2086 # words
		ht stream -n "$unread" $options >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err"
		jq -s -e --argjson n "$lost" 'map(select(has("lost"))) | length == 1 and .[0].lost == $n and
			(.[0].ts | test("^[0-9]+$"))' "$BATS_TEST_TMPDIR/out"
		jq -s -e 'map(.ts | tonumber) | . == sort' "$BATS_TEST_TMPDIR/out"
		same "$(tail -n 1 "$BATS_TEST_TMPDIR/err")" "hyptrace: $unread events printed, 0 discarded, $lost lost" \
			"with $options"
	done
}

@test "-q prints no notes and no last line where nothing was lost" {
	for options in "-q" "--quiet" "-q -j" "-q --time=wall" "-q --no-start"; do
		tracing_marks
		ht mark 1 --count 5 -C 0
		# shellcheck disable=SC2086 # words
		ht stream -n 5 $options >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err"
		same "$(cat "$BATS_TEST_TMPDIR/err")" "" "stderr with $options"
		[[ -s $BATS_TEST_TMPDIR/out ]]
		ht reset
	done
	# errors are still printed
	run -2 ht stream -q -C 4095
	says 'has no CPU 4095'
	run -2 ht show -q
	says 'not loaded'
}
