#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# enable --stop, --start and --after: events that stop and start the recording; wait, which waits for them.

load ../helper

# recorded: print the ids of the marks that the rings have
recorded()
{
	ht show | ids | xargs
}

# fired: print what has fired, in one line
fired()
{
	of '[.fired[] | "\(.trigger) \(.event) \(.cpu)"] | join(", ")'
}

has_fired()
{
	same "$(fired)" "$1" 2>/dev/null
}

# hears: make a change, and succeed if the monitor has printed one.
hears()
{
	ht disable hyp_exit
	ht enable hyp_exit
	[[ -s $BATS_TEST_TMPDIR/out ]]
}

# listens PID: succeed if the process has a socket for notifications: the first that it opens is for requests.
listens()
{
	(($(find "/proc/$1/fd" -lname 'socket:*' | wc -l) >= 2))
}

is_armed()
{
	of .armed
}

@test "an event with --stop stops the recording on all CPUs" {
	needs triggers
	ht load
	ht enable selftest --filter 'id == 7' --stop
	same "$(is_armed)" false
	ht start
	same "$(is_armed)" true
	run -0 ht status
	says 'selftest: stop (armed)'
	ht mark 6 -C 0
	ht mark 7 -C 1
	run -2 ht mark 7 -C 0
	says 'CPU 0 does not record "selftest": a trigger may have stopped recording'
	run -2 ht mark 7 -C 1
	same "$(total written)" 1
	# at once: status does not wait for the driver to look at its triggers
	same "$(fired)" 'stop selftest 1'
	same "$(is_armed)" false
	run -0 ht status
	says 'selftest: stop (not armed)'
	grep -qE 'fired:? +selftest on CPU 1 at [0-9]+\.[0-9]{6}: stop$' <<<"$output"
	same "$(recorded)" 7
}

@test "the time that status prints is that of the event" {
	needs triggers
	ht load
	ht enable selftest --stop
	ht start
	ht mark 5 -C 1
	within "$patience" has_fired 'stop selftest 1'
	time=$(ht status | sed -n 's/.*selftest on CPU 1 at \([0-9.]*\): stop$/\1/p')
	ht show | grep -qF "$time: selftest: id=5"
}

@test "with --after the recording stops so many sub-buffers later" {
	needs triggers
	ht load --size "$(pages 8)"
	ht enable selftest --stop --after 2
	ht start
	run -0 ht status
	says 'selftest: stop after 2 sub-buffers (armed)'
	ht mark 0 -C 0
	within "$patience" has_fired 'stop selftest 0'
	run -0 ht status
	says 'stop (still recording)'
	run -2 ht wait --timeout 0
	says 'has not ended within 0 s'
	run -2 ht mark 1 --count "$(fill 20)" -C 0
	(($(total written) <= $(fill 2) + 2 && $(total written) > $(fill 2) - 3))
	run -0 ht monitor --until-fired --timeout "$patience"
	[[ $output == *": stop" ]]
	same "$output" "$(ht wait)"
	same "$(of '.fired[0].ended')" true
	# the event is still in the ring
	same "$(ht show | ids | head -n 1)" 0
}

@test "with --start nothing is recorded before the event" {
	needs triggers
	ht load
	ht enable selftest --filter 'id >= 100' --start
	ht start
	ht mark 0 --count 10 -C 0
	run -0 ht status
	says 'selftest: start (armed)'
	same "$(total written)" 0
	same "$(total filtered)" 10
	ht mark 100 -C 0
	within "$patience" has_fired 'start selftest 0'
	ht mark 101 -C 1
	same "$(recorded)" "100 101"
}

@test "start arms a trigger again, enable without it removes it" {
	needs triggers
	ht load
	ht enable selftest --filter 'id == 7' --stop
	ht start
	ht mark 7 -C 0
	within "$patience" has_fired 'stop selftest 0'
	ht start
	same "$(is_armed)" true
	same "$(fired)" ''
	ht mark 7 -C 1
	within "$patience" has_fired 'stop selftest 1'
	ht enable selftest
	run -2 ht mark 7 -C 1
	same "$(total written)" 2
	ht start
	same "$(is_armed)" false
	ht mark 7 -C 1
	same "$(total written)" 3
	same "$(of '.triggers | length')" 0
}

@test "list shows triggers" {
	needs triggers
	ht enable selftest --stop --after 1
	ht enable hyp_enter --start
	same "$(ht -j list | jq -r '[.[0].events[] | select(.trigger) | "\(.name) \(.trigger) \(.after)"] | join(", ")')" \
		"hyp_enter start 0, selftest stop 1"
	same "$(of '[.triggers[] | "\(.trigger) \(.after) \(.armed)"] | join(", ")')" "start 0 false, stop 1 false"
	run -0 ht list --columns event,trigger
	grep -qE '^selftest +stop after 1 sub-buffer$' <<<"$output"
	run -0 ht list -v
	says 'stop after 1 sub-buffer'
}

@test "wait ends when a trigger has fired" {
	needs triggers
	ht load
	ht enable selftest --filter 'id == 7' --stop
	ht start
	hyptrace -r "$REMOTE" wait >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
	waiter=$!
	within "$patience" listens "$waiter"
	ht mark 6 -C 0
	sleep 0.3
	kill -0 "$waiter"
	ht mark 7 -C 1
	ended "$waiter"
	same "$code" 0
	grep -qE '^selftest on CPU 1 at [0-9]+\.[0-9]{6}: stop$' "$BATS_TEST_TMPDIR/out"
	same "$(wc -l <"$BATS_TEST_TMPDIR/out")" 1
	same "$(<"$BATS_TEST_TMPDIR/err")" ''
	# it has fired already
	run -0 --separate-stderr ht wait
	same "$output" "$(<"$BATS_TEST_TMPDIR/out")"
	run -0 --separate-stderr ht -j wait
	same "$(jq -r '"\(.remote) \(.trigger) \(.event) \(.cpu)"' <<<"$output")" "$REMOTE stop selftest 1"
}

@test "wait waits for the stop after the start" {
	needs triggers
	ht load
	ht enable hyp_enter --filter 'vcpu == 123456' --stop
	ht enable selftest --start
	ht start
	ht mark 1 -C 0
	within "$patience" has_fired 'start selftest 0'
	run -0 ht status
	says 'selftest: start (not armed)'
	says 'hyp_enter: stop (armed)'
	run -2 --separate-stderr ht wait --timeout 1
	grep -qE '^selftest on CPU 0 at [0-9]+\.[0-9]{6}: start$' <<<"$output"
	same "$stderr" "hyptrace: not all triggers of \"$REMOTE\" have fired within 1 s"
}

@test "wait does not print what has fired before tracing was stopped" {
	needs triggers
	ht load
	ht enable selftest --stop
	ht start
	ht mark 7 -C 0
	within "$patience" has_fired 'stop selftest 0'
	ht stop
	run -2 --separate-stderr ht wait
	same "$output" ''
}

@test "wait refuses to wait if no trigger is armed, and ends if tracing stops" {
	needs triggers
	run -2 --separate-stderr ht wait
	same "$output" ''
	says "cannot wait for \"$REMOTE\": no trigger is armed"
	ht enable selftest --stop
	run -2 ht wait --timeout 5
	says 'no trigger is armed'
	ht start
	hyptrace -r "$REMOTE" wait >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
	waiter=$!
	within "$patience" listens "$waiter"
	sleep 0.3
	ht stop
	ended "$waiter"
	same "$code" 2
	grep -q 'tracing or its triggers were switched off$' "$BATS_TEST_TMPDIR/out"
}

@test "stream notes that a trigger has started or stopped the recording" {
	needs triggers
	ht load
	ht enable selftest --filter 'id == 7' --stop
	stream_begin
	ht mark 7 -C 1
	within "$patience" grep -qxE 'hyptrace: selftest on CPU 1 at [0-9]+\.[0-9]{6}: stop: the recording has stopped \(use "hyptrace start" to resume it\)' "$err"
	stream_end
	same "$(ids <"$out")" 7
	ht reset
	ht load --size "$(pages 8)"
	ht enable selftest --stop --after 2
	stream_begin -q
	ht mark 1 -C 0
	within "$patience" has_fired 'stop selftest 0'
	stream_end
	same "$(<"$err")" ''
	ht enable hyp_enter --filter 'vcpu == 123456' --stop --after 2
	ht enable selftest --start
	stream_begin
	ht mark 1 -C 0
	within "$patience" grep -qE 'selftest on CPU 0 at [0-9.]+: start: the recording has started$' "$err"
	stream_end
}

@test "monitor prints that a trigger has fired" {
	needs triggers
	ht load
	ht enable selftest --stop --after 3
	hyptrace -r "$REMOTE" monitor >"$BATS_TEST_TMPDIR/out" 3>&- &
	monitor=$!
	within "$patience" hears
	ht start
	ht enable selftest --stop
	within "$patience" grep -q "event $REMOTE: selftest enabled, trigger: stop$" "$BATS_TEST_TMPDIR/out"
	ht mark 1 -C 0
	within "$patience" grep -qE "trigger $REMOTE: selftest on CPU 0 at [0-9]+\.[0-9]{6}: stop$" "$BATS_TEST_TMPDIR/out"
	kill "$monitor"
}

@test "wrong options are refused" {
	for options in '--start --stop' '--after 3' '--start --after 3' '--stop --after x' '--stop --after 4294967296' \
		'--stop --after -1'; do
		# shellcheck disable=SC2086 # several options
		run -1 ht enable selftest $options
	done
	run -1 ht enable selftest --start --stop
	says '--start, --stop and --follow exclude each other'
	run -1 ht enable selftest --after 3
	says '--after needs --stop'
	run -1 ht disable selftest --stop
	run -1 ht wait --timeout x
	says 'bad timeout "x"'
	run -1 ht wait selftest
	run -1 ht monitor --timeout 1s
	says '--timeout needs --until-fired'
	run -1 ht monitor --until-fired --count 1
	says '--count and --until-fired exclude each other'
	same "$(enabled)" ''
}
