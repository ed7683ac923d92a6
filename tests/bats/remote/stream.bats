#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# stream: what it prints, what it starts and stops, how it ends.

load ../helper

@test "a stream prints events as they happen" {
	ht enable selftest
	stream_begin -C 0
	for id in 1 2 3; do
		ht mark "$id" -C 0
		within "$patience" has_lines "$id" "$out"
	done
	stream_end
	ids <"$out" | numbered 1 3
	none -v '^\[000\] +[0-9]+\.[0-9]{6}: selftest: id=[0-9]+$' "$out"
}

# bats test_tags=any_remote
@test "a stream starts tracing, and stops it at its end" {
	ht enable selftest
	same "$(of .state)" unloaded
	stream_begin
	same "$(of .state)" tracing
	same "$(of .readers)" "$(cpu_ids | wc -l)"
	stream_end
	same "$(of .state)" unloaded
	same "$(of .readers)" 0
	same "$(enabled)" selftest
}

# bats test_tags=any_remote
@test "a stream of loaded rings stops tracing at its end" {
	ht enable selftest
	ht load --size 64K
	stream_begin
	ht mark 1
	within "$patience" has_lines 1 "$out"
	stream_end
	[[ $(of .state) != tracing ]]
	same "$(of .size_requested)" 65536
}

# bats test_tags=any_remote
@test "a stream leaves tracing on if it was on before" {
	tracing_marks
	stream_begin
	stream_end
	same "$(of .state)" tracing
	ht mark 1
	same "$(total unread)" 1
}

# bats test_tags=any_remote
@test "SIGINT, SIGTERM and SIGHUP end a stream with 0 and a line of counts" {
	ht enable selftest
	for signal in INT TERM HUP; do
		stream_begin
		ht mark 1 --count 5 -C 0
		within "$patience" has_lines 5 "$out"
		stream_end "$signal"
		same "$(wc -l <"$out")" 5 "lines after $signal"
		tail -n 1 "$err" | grep -E '(^|[^0-9])5 events?.*(^|[^0-9])0 lost'
	done
}

@test "a stream prints all events from before the signal that ends it" {
	ht enable selftest
	stream_begin -C 0
	ht mark 1 --count 2000 -C 0
	stream_end
	ids <"$out" | numbered 1 2000
}

# bats test_tags=any_remote
@test "a closed pipe ends a stream with 0 and a line of counts" {
	ht enable selftest
	err=$BATS_TEST_TMPDIR/err
	mkfifo "$BATS_TEST_TMPDIR/pipe"
	hyptrace -r "$REMOTE" stream -C 0 >"$BATS_TEST_TMPDIR/pipe" 2>"$err" 3>&- &
	stream=$!
	exec 5<"$BATS_TEST_TMPDIR/pipe"
	within "$patience" is_consumer "$stream"
	within "$patience" is_tracing
	ht mark 1 -C 0
	read -r -u 5 line
	[[ $line == *"selftest: id=1" ]]
	exec 5<&-
	# It must notice that without a new event to write.
	ended "$stream"
	same "$code" 0
	grep -E '[0-9]+ events?.*lost' "$err"
	same "$(of .state)" unloaded
}

# bats test_tags=any_remote
@test "a stream ends without an error when head closes the pipe" {
	tracing_marks
	ht mark 1 --count 1000 -C 0
	run -0 bash -c "set -o pipefail; timeout $patience hyptrace -r $REMOTE stream -C 0 2>$BATS_TEST_TMPDIR/err | head -n 2"
	same "$(ids <<<"$output" | xargs)" "1 2"
	grep -E '[0-9]+ events?.*lost' "$BATS_TEST_TMPDIR/err"
}

# bats test_tags=any_remote
@test "--count N ends a stream after N events" {
	tracing_marks
	ht mark 1 --count 10 -C 0
	run -0 --separate-stderr ht stream --count 4 -C 0
	same "${#lines[@]}" 4
	[[ $stderr =~ (^|[^0-9])4\ event ]]
	run -1 ht stream --count 0
	run -1 ht stream --count x
	says '"x"'
}

# bats test_tags=any_remote
@test "--cpu 0 reads the ring of CPU 0 and leaves the others alone" {
	tracing_marks
	ht mark 1 -C all
	ht stream --count 1 --cpu 0 >"$BATS_TEST_TMPDIR/out"
	grep -q '^\[000\]' "$BATS_TEST_TMPDIR/out"
	same "$(of '[.cpus[] | select(.cpu != 0).read] | add')" 0
	same "$(of '[.cpus[] | select(.cpu != 0).unread] | all(. == 1)')" true
}

# bats test_tags=any_remote
@test "an unknown CPU is refused, a bad CPU list is a usage error" {
	run -2 ht stream -C 4095
	says 'has no CPU 4095'
	run -2 ht stream -C 0,4095
	for list in x 1-0 ',' '' -1 0- 99999999999999999999; do
		run -1 ht stream -C "$list"
		says "bad CPU list \"$list\""
	done
	same "$(of .state)" unloaded
}

# Print the events that a stream enables by itself if none is named and none is enabled.
defaults()
{
	[[ $REMOTE == test ]] && echo selftest || echo hyp_enter hyp_exit
}

# bats test_tags=any_remote
@test "a stream without an enabled event enables the default events until it ends, and says so" {
	stream_begin
	same "$(enabled)" "$(defaults)"
	grep "no event is enabled: this stream enables $(defaults | sed 's/ / and /') until it ends" "$err"
	[[ $REMOTE != test ]] || { ht mark 1 && within "$patience" has_lines 1 "$out"; }
	stream_end
	same "$(enabled)" ""
	# With -q it says nothing.
	stream_begin -q
	same "$(enabled)" "$(defaults)"
	stream_end
	same "$(cat "$err")" ""
	# With --no-start it enables nothing.
	run -0 --separate-stderr ht stream --no-start
	same "$(enabled)" ""
	[[ $stderr != *enable* ]]
}

@test "a stream enables the events that it is given until it ends" {
	stream_begin selftest
	same "$(enabled)" selftest
	ht mark 3
	within "$patience" has_lines 1 "$out"
	stream_end
	same "$(enabled)" ""
	none enable "$err"
	ht enable hyp_exit
	stream_begin -C 0 'hyp_e*' selftest
	same "$(enabled)" "hyp_enter hyp_exit selftest"
	stream_end
	same "$(enabled)" hyp_exit
	stream_begin -C 0 all
	# all is all but func
	same "$(enabled)" "$(ht -j list | jq -r '[.[0].events[].name | select(. != "func")] | join(" ")')"
	stream_end
}

# bats test_tags=any_remote
@test "a stream that is killed leaves no event enabled and no tracing" {
	stream_begin selftest
	kill -KILL "$stream"
	wait "$stream" || true
	same "$(enabled)" ""
	same "$(of '.state, .readers' | xargs)" "unloaded 0"
}

# bats test_tags=any_remote
@test "a stream of an unknown event is refused and starts nothing" {
	run -2 ht stream selftst
	says 'cannot stream "selftst": no such event; did you mean "selftest"?'
	run -2 ht stream selftest nonsense
	says 'cannot stream "nonsense": no such event'
	run -2 ht stream foo bar
	says 'cannot stream "foo", "bar": no such events'
	run -2 ht stream 'zzz*'
	says 'no event matches'
	same "$(of .state)" unloaded
}

# bats test_tags=any_remote
@test "a stream prints events that are enabled while it runs" {
	stream_begin hyp_enter
	ht enable selftest
	ht mark 3
	within "$patience" has_event 3
	stream_end
	grep -q 'selftest: id=3$' "$out"
	same "$(enabled)" selftest
}

has_event()
{
	grep -q "selftest: id=$1\$" "$out"
}

@test "a stream prints events of several CPUs in the order of time" {
	ht set --size 4M
	ht enable selftest
	stream_begin --ns
	for cpu in $(cpu_ids); do
		for burst in {0..19}; do
			hyptrace -r "$REMOTE" mark "$((burst * 100))" --count 100 -C "$cpu" || exit
		done &
		pids+=" $!"
	done
	for pid in $pids; do
		wait "$pid"
	done
	within "$patience" has_lines "$((2000 * $(cpu_ids | wc -l)))" "$out"
	stream_end
	in_time_order "$out"
	for cpu in $(cpu_ids); do
		grep "^\[$(printf %03d "$cpu")\]" "$out" | ids | numbered 0 1999
	done
	# The CPUs wrote at the same time: their lines alternate.
	(($(cut -c 1-5 "$out" | uniq | wc -l) > $(cpu_ids | wc -l)))
}

# The benchmark measures how soon. Here the stream must not hold an event back until the next one.
# bats test_tags=any_remote
@test "a stream prints a single event though no other event follows" {
	tracing_marks
	stream_begin
	for id in {1..50}; do
		ht mark "$id"
		within "$patience" has_lines "$id" "$out"
	done
	ids <"$out" | numbered 1 50
	stream_end
}

# bats test_tags=any_remote
@test "--ns prints nanoseconds" {
	tracing_marks
	ht mark 1
	run -0 --separate-stderr ht stream --count 1 --ns
	[[ $output =~ ^\[[0-9]{3}\]\ +[0-9]+\.[0-9]{9}:\ selftest:\ id=1$ ]]
}

# bats test_tags=any_remote
@test "with --no-start a stream prints the events of stopped rings and ends" {
	tracing_marks
	ht mark 1 --count 3 -C all
	ht stop
	run -0 --separate-stderr ht stream --no-start
	same "$(ids <<<"$output" | sort -n | uniq | xargs)" "1 2 3"
	same "${#lines[@]}" "$((3 * $(cpu_ids | wc -l)))"
	[[ $(of .state) != tracing ]]
	# The rings are empty now.
	run -0 --separate-stderr ht stream --no-start
	same "$output" ""
	[[ $stderr == *"0 events printed, 0 discarded, 0 lost" ]]
}

# bats test_tags=any_remote
@test "with --no-start a stream goes on until tracing stops" {
	tracing_marks
	stream_begin --no-start -C 0
	ht mark 1 -C 0
	within "$patience" has_lines 1 "$out"
	ht mark 2 -C 0
	ht stop
	ended "$stream"
	same "$code" 0
	ids <"$out" | numbered 1 2
}

# bats test_tags=any_remote
@test "the last line counts a single event in the singular" {
	tracing_marks
	ht mark 1 -C 0
	run -0 --separate-stderr ht stream --count 1
	[[ $stderr == *" 1 event printed, 0 discarded, 0 lost" ]]
}

# bats test_tags=any_remote
@test "stream -j prints one JSON object on each line" {
	tracing_marks
	ht mark 1 --count 3 -C 0
	run -0 --separate-stderr ht stream --count 3 -C 0 -j
	same "${#lines[@]}" 3
	for line in "${lines[@]}"; do
		jq -e '.cpu == 0 and .event == "selftest"' <<<"$line"
	done
	same "$(jq -r .fields.id <<<"$output" | xargs)" "1 2 3"
	jq -s -e 'map(.ts | tonumber) | . == sort' <<<"$output"
}

# bats test_tags=any_remote
@test "a second stream is refused, and the message names the process of the first" {
	ht enable selftest
	stream_begin
	run -2 ht stream --count 1
	says 'cannot read CPU'
	says "process $stream (hyptrace) is reading it (stop it, or use \"hyptrace show\")"
	run -2 ht stream --count 1 -C 0
	# The first stream goes on.
	ht mark 8
	within "$patience" has_lines 1 "$out"
	stream_end
	same "$(ids <"$out")" 8
}

# bats test_tags=any_remote
@test "two streams can read different CPUs" {
	ht enable selftest
	stream_begin -C 0
	cpu=$(last_cpu)
	ht mark 6 -C "$cpu"
	run -0 --separate-stderr ht stream --count 1 -C "$cpu"
	same "$(ids <<<"$output")" 6
	is_tracing
	stream_end
}

@test "a stream goes on while another process stops and starts tracing" {
	ht enable selftest
	stream_begin -C 0
	ht mark 1 -C 0
	within "$patience" has_lines 1 "$out"
	ht stop
	ht start
	ht mark 2 -C 0
	within "$patience" has_lines 2 "$out"
	stream_end
	ids <"$out" | numbered 1 2
}

# bats test_tags=any_remote
@test "a stream goes on after a clear" {
	ht enable selftest
	stream_begin -C 0
	ht mark 1 -C 0
	within "$patience" has_lines 1 "$out"
	ht clear
	ht mark 2 -C 0
	within "$patience" has_lines 2 "$out"
	stream_end
	ids <"$out" | numbered 1 2
}
