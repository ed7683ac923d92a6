#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# monitor: prints the changes of a remote as they happen.

load ../helper

toggle=/usr/local/libexec/hyptrace-kselftest/toggle

# monitor_begin [OPTION...]: start a monitor and wait until it prints changes. Sets $said and $said_err to the files
# of its output.
monitor_begin()
{
	said=$BATS_TEST_TMPDIR/monitor said_err=$BATS_TEST_TMPDIR/monitor.err
	hyptrace -r "$REMOTE" monitor "$@" >"$said" 2>"$said_err" 3>&- &
	monitor=$!
	within "$patience" hears
	ht disable hyp_exit
}

hears()
{
	ht disable hyp_exit
	ht enable hyp_exit
	[[ -s $said ]]
}

heard_since_loss()
{
	sed -E 's/^[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6} //' "$said" | sed '1,/^notifications were lost/d' | grep -q "$1"
}

# A line of text begins with the time.
heard()
{
	sed -E 's/^[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6} //' "$said" | grep -q "$1"
}

monitor_end()
{
	kill -"${1:-INT}" "$monitor"
	ended "$monitor"
	same "$code" 0 "exit code of monitor"
}

@test "monitor reports events that are enabled and disabled" {
	monitor_begin
	ht enable selftest
	within "$patience" heard "^event $REMOTE: selftest enabled$"
	ht disable selftest
	within "$patience" heard "^event $REMOTE: selftest disabled$"
	monitor_end
}

@test "monitor reports the filters of events" {
	needs filters
	monitor_begin
	ht enable selftest --filter 'id == 3'
	within "$patience" heard "^event $REMOTE: selftest enabled, filter id == 3$"
	ht enable selftest
	within "$patience" heard "^event $REMOTE: selftest enabled$"
	monitor_end
	monitor_begin -j
	ht enable selftest --filter 'id == 3'
	within "$patience" grep -q '"event":"selftest".*"filter":"id == 3"' "$said"
	ht enable selftest
	within "$patience" grep -q '"event":"selftest".*"filter":null' "$said"
	monitor_end
}

@test "monitor reports changes of state and settings" {
	needs "mode discard"
	monitor_begin
	ht set --size 128K --mode discard
	within "$patience" heard "^remote $REMOTE: unloaded, mode discard"
	ht load
	within "$patience" heard "^remote $REMOTE: loaded"
	ht start
	within "$patience" heard "^remote $REMOTE: tracing"
	ht unload
	within "$patience" heard "^remote $REMOTE: unloaded.* 0 bytes allocated"
	monitor_end TERM
}

@test "monitor reports readers that attach and detach" {
	monitor_begin
	stream_begin -C 0
	within "$patience" heard "^reader $REMOTE: CPU 0, process $stream attached$"
	stream_end
	within "$patience" heard "^reader $REMOTE: CPU 0, process $stream detached$"
	monitor_end
}

@test "monitor reports lost events" {
	tracing_marks --size "$(pages 2)"
	monitor_begin
	ht mark 1 --count "$(fill 25)" -C 0
	within "$patience" heard "^loss $REMOTE: CPU 0, .* $(total lost) in total$"
	monitor_end
}

@test "monitor -j prints one JSON object on each line" {
	monitor_begin -j
	ht enable selftest
	within "$patience" heard '"event":"selftest"'
	ht load
	within "$patience" heard '"loaded"'
	monitor_end
	jq -s -e --arg r "$REMOTE" 'any(.[]; .change == "event" and .event == "selftest" and .enabled and .remote == $r)' \
		"$said"
	jq -s -e 'any(.[]; .change == "remote" and .state == "loaded")' "$said"
}

@test "monitor reports nothing for a refused request or one that changes nothing" {
	monitor_begin
	ht enable selftest
	within "$patience" heard "selftest enabled"
	before=$(wc -l <"$said")
	ht enable selftest
	run -2 ht enable nonsense
	ht start
	within "$patience" heard "^remote $REMOTE: tracing"
	tail -n "+$((before + 1))" "$said" >"$BATS_TEST_TMPDIR/rest"
	none '^event' "$BATS_TEST_TMPDIR/rest"
	monitor_end
}

@test "monitor --count N ends after N changes" {
	monitor_begin -n 8
	for ((i = 0; i < 10; i++)); do
		ht enable hyp_exit
		ht disable hyp_exit
	done
	ended "$monitor"
	same "$code" 0
	same "$(wc -l <"$said")" 8
}

@test "after an overflow monitor says so and prints the present state" {
	ht enable selftest
	monitor_begin
	kill -STOP "$monitor"
	"$toggle" "$REMOTE" hyp_enter 10001
	kill -CONT "$monitor"
	within "$patience" heard '^notifications were lost'
	# An odd number of requests leaves hyp_enter enabled.
	within "$patience" heard_since_loss "^event $REMOTE: hyp_enter enabled$"
	heard_since_loss "^remote $REMOTE: unloaded"
	heard_since_loss "^event $REMOTE: selftest enabled$"
	heard_since_loss "^event $REMOTE: hyp_exit disabled$"
	# It goes on to report changes.
	ht load
	within "$patience" heard_since_loss "^remote $REMOTE: loaded"
	ht disable selftest
	within "$patience" heard_since_loss "^event $REMOTE: selftest disabled$"
	same "$(grep -c ' notifications were lost because hyptrace read too slowly' "$said")" 1
	monitor_end
	same "$(cat "$said_err")" ""
}

@test "after an overflow monitor -j prints an object for it" {
	monitor_begin -j
	kill -STOP "$monitor"
	"$toggle" "$REMOTE" hyp_enter 10001
	kill -CONT "$monitor"
	within "$patience" heard '"overflow"'
	ht enable selftest
	within "$patience" heard '"event":"selftest","id":[0-9]*,"enabled":true'
	monitor_end
	jq -s -e '[.[] | select(.change == "overflow")] | map(del(.time)) == [{ change: "overflow" }]' "$said"
}

@test "each line has the time of day" {
	monitor_begin
	ht enable selftest
	within "$patience" heard "selftest enabled"
	monitor_end
	none -v '^[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6} (event|remote) ' "$said"
	# not far from now, on either side of midnight
	age=$(($(date +%s) - $(date -d "$(tail -n 1 "$said" | cut -d ' ' -f 1)" +%s)))
	(((age + 86400) % 86400 <= patience))
	monitor_begin -j
	monitor_end
	jq -s -e 'all(.[]; .time | test("^[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{6}$"))' "$said"
}

@test "no line of a remote is printed twice" {
	monitor_begin
	stream_out=$BATS_TEST_TMPDIR/stream
	for _ in 1 2 3; do
		ht load
		timeout "$patience" hyptrace -r "$REMOTE" stream --no-start >"$stream_out" 2>&1
		ht set --size 64K
		ht set --size 64K
		ht unload
	done
	ht set --size 128K
	within "$patience" heard "^remote $REMOTE: unloaded.* 131072 bytes requested"
	monitor_end
	cut -d ' ' -f 2- "$said" | grep '^remote' | uniq -d >"$BATS_TEST_TMPDIR/twice"
	same "$(cat "$BATS_TEST_TMPDIR/twice")" ""
}

@test "monitor of an unknown remote is refused" {
	run -2 timeout "$patience" hyptrace -r nonsense monitor
	says 'no remote "nonsense"'
	says "$REMOTE"
}
