#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# record: what it writes, enables, returns and says, and how it ends. "report" reads the files.

load ../helper

# record_begin [OPTION...]: start a recording of marks to $file in the background. Sets $err to its messages, $recorder to
# its pid.
record_begin()
{
	file=$BATS_TEST_TMPDIR/a.dat err=$BATS_TEST_TMPDIR/err
	hyptrace -r "$REMOTE" record -o "$file" -e selftest "$@" 2>"$err" 3>&- &
	recorder=$!
	within "$patience" is_consumer "$recorder"
	within "$patience" is_tracing
}

# record_end [SIGNAL]: end the recording with the signal, succeed if its exit code is 0.
record_end()
{
	kill -"${1:-INT}" "$recorder"
	ended "$recorder"
	same "$code" 0 "exit code of record"
}

# marks FILE: print the numbers of the marks in a file.
marks()
{
	hyptrace report "$1" | ids
}

# counts: print the counts of the summary in $err: "RECORDED LOST".
counts()
{
	sed -nE 's/^hyptrace: ([0-9]+) events? recorded(, [0-9]+ filtered)?, ([0-9]+) lost; .*/\1 \3/p' "$err"
}

# has_read N: succeed if N events were read.
has_read()
{
	same "$(total read)" "$1" 2>/dev/null
}

# without_gaps FIRST-FILE LAST-FILE...: succeed if the marks in these files have successive numbers. Prints the last.
without_gaps()
{
	local file all=$BATS_TEST_TMPDIR/all first last
	for file; do
		marks "$file"
	done >"$all"
	first=$(head -n 1 "$all")
	last=$(tail -n 1 "$all")
	numbered "$first" "$last" <"$all" >&2 && echo "$last"
}

none_enabled()
{
	[[ -z $(enabled) ]]
}

@test "a recording has all events, and ends at a signal" {
	for signal in INT TERM HUP; do
		record_begin -C 0
		ht mark 1 --count 1000 -C 0
		record_end "$signal"
		marks "$file" | numbered 1 1000
		same "$(counts)" "1000 0"
		[[ ! -e $file.part ]]
		same "$(of .state)" unloaded
	done
}

# bats test_tags=any_remote
@test "a recording has the events of all CPUs" {
	record_begin
	ht mark 1 --count 100 -C all
	record_end
	same "$(marks "$file" | sort -n | uniq -c | awk '{ print $1 }' | sort -u)" "$(cpu_ids | wc -l)"
	in_time_order <(hyptrace report "$file")
}

# bats test_tags=any_remote
@test "a compressed recording has the same events" {
	record_begin -z -C 0
	ht mark 1 --count "$(fill 100)" -C 0
	record_end
	marks "$file" | numbered 1 "$(fill 100)"
	(($(stat -c %s "$file") < 50 * $(page_size)))
}

# bats test_tags=any_remote
@test "a recording enables its events and starts tracing, and the kernel undoes both" {
	record_begin -C 0
	same "$(enabled)" selftest
	record_end
	same "$(enabled)" ""
	same "$(of .state)" unloaded

	record_begin -C 0
	kill -KILL "$recorder"
	ended "$recorder"
	same "$code" 137
	same "$(enabled)" ""
	same "$(of .state)" unloaded
}

# bats test_tags=any_remote
@test "events in the rings before the recording are recorded" {
	tracing_marks
	ht mark 1 --count 500 -C 0
	ht record -q -o "$BATS_TEST_TMPDIR/b.dat" --duration 50ms
	marks "$BATS_TEST_TMPDIR/b.dat" | numbered 1 500
	same "$(total unread)" 0
	counts_add_up
}

@test "the counts are exact when events were overwritten" {
	err=$BATS_TEST_TMPDIR/err
	tracing_marks --size "$(pages 4)"
	ht mark 1 --count "$(fill 20)" -C 0
	lost=$(total lost)
	((lost > 0))
	ht record -o "$BATS_TEST_TMPDIR/b.dat" --duration 50ms 2>"$err"
	same "$(counts)" "$(($(fill 20) - lost)) $lost"
	marks "$BATS_TEST_TMPDIR/b.dat" | numbered $((lost + 1)) "$(fill 20)"
	grep -q "CPU 0: $(($(fill 20) - lost)) events recorded, $lost lost" "$err"
}

@test "the counts are exact when a ring that discards was full, though no sub-buffer has reported it" {
	needs "mode discard"
	err=$BATS_TEST_TMPDIR/err
	tracing_marks --size "$(pages 4)" --mode discard
	ht mark 1 --count "$(fill 20)" -C 0
	dropped=$(total dropped)
	((dropped > 0))
	ht record -o "$BATS_TEST_TMPDIR/b.dat" --duration 50ms 2>"$err"
	same "$(counts)" "$(($(fill 20) - dropped)) $dropped"
	marks "$BATS_TEST_TMPDIR/b.dat" | numbered 1 $(($(fill 20) - dropped))
}

# bats test_tags=any_remote
@test "the exit code of a command is returned, and events are recorded while it runs" {
	run -7 --separate-stderr ht record -o "$BATS_TEST_TMPDIR/b.dat" -e selftest -C 0 -- \
		sh -c "hyptrace -r $REMOTE mark 1 --count 50 -C 0; exit 7"
	marks "$BATS_TEST_TMPDIR/b.dat" | numbered 1 50
	# shellcheck disable=SC2016 # the shell inside expands it
	run -143 ht record -q -o "$BATS_TEST_TMPDIR/b.dat" -- sh -c 'kill -TERM $$'
	run -0 ht record -q -o "$BATS_TEST_TMPDIR/b.dat" -- true
	run -2 ht record -q -o "$BATS_TEST_TMPDIR/b.dat" -- /nonsense
	says 'cannot run "/nonsense": No such file or directory'
	[[ ! -e $BATS_TEST_TMPDIR/b.dat.part ]]
	same "$(of .state)" unloaded
}

# bats test_tags=any_remote
@test "a signal also ends the command" {
	file=$BATS_TEST_TMPDIR/a.dat
	hyptrace -r "$REMOTE" record -q -o "$file" -- sleep 1000 3>&- &
	recorder=$!
	within "$patience" is_consumer "$recorder"
	kill -INT "$recorder"
	ended "$recorder"
	same "$code" 143
	hyptrace report "$file" >/dev/null
}

# bats test_tags=any_remote
@test "a signal ends a command that runs on after the recording" {
	file=$BATS_TEST_TMPDIR/a.dat err=$BATS_TEST_TMPDIR/err
	for output in "$file" -; do
		# what the last one said must not be taken for what this one says
		rm -f "$err"
		hyptrace -r "$REMOTE" record -o "$output" --duration 50ms -- sleep 10123 >/dev/null 2>"$err" 3>&- &
		recorder=$!
		within "$patience" grep -qs 'events* recorded' "$err"
		kill -TERM "$recorder"
		ended "$recorder"
		same "$code" 143
		none '^sleep 10123' <(ps -eo args)
	done
	hyptrace report "$file" >/dev/null
}

# bats test_tags=any_remote
@test "a line on the terminal shows what is recorded, and is removed at the end" {
	tracing_marks
	ht mark 1 --count 1000 -C 0
	script -qec "stty cols 30 && hyptrace -r $REMOTE record -o $BATS_TEST_TMPDIR/a.dat --duration 1800ms" /dev/null \
		</dev/null | tr '\r' '\n' >"$BATS_TEST_TMPDIR/out"
	# escape sequences begin a line, and remove it
	grep -E $'^\e\\[K[0-9.]+ s, 1000 events' "$BATS_TEST_TMPDIR/out"
	none $'^\e\\[K[0-9.]+ s,.{26,}' "$BATS_TEST_TMPDIR/out"
	grep -E $'^\e\\[Khyptrace: 1000 events recorded, 0 lost' "$BATS_TEST_TMPDIR/out"
	none $'\e' <(ht record -q -o "$BATS_TEST_TMPDIR/a.dat" --duration 700ms 2>&1)
}

# bats test_tags=any_remote
@test "a duration ends the recording" {
	for time in 100ms 0.1s 0.1; do
		run -0 ht record -q -o "$BATS_TEST_TMPDIR/b.dat" --duration "$time"
	done
	for time in 0 -1 1x s '' inf; do
		run -1 ht record --duration "$time"
		says "bad time \"$time\""
	done
}

# bats test_tags=any_remote
@test "a limit ends the recording, or begins the next file" {
	tracing_marks
	run -0 ht record -q -o "$BATS_TEST_TMPDIR/b.dat" --duration 10ms
	size=$(stat -c %s "$BATS_TEST_TMPDIR/b.dat")
	limit=$((size + $(pages 10)))

	ht mark 1 --count "$(fill 20)" -C 0
	run -0 --separate-stderr ht record -q -o "$BATS_TEST_TMPDIR/b.dat" --limit "$limit"
	(($(stat -c %s "$BATS_TEST_TMPDIR/b.dat") <= limit))
	marks "$BATS_TEST_TMPDIR/b.dat" | numbered 1 "$(fill 10)"

	ht clear
	record_begin -C 0 --limit "$limit" --rotate 3
	# more than the first file has
	ht mark 1 --count "$(fill 45)" -C 0
	within "$patience" test -e "$file.2"
	record_end
	[[ -e $file && -e $file.1 && ! -e $file.3 ]]
	same "$(without_gaps "$file.2" "$file.1" "$file")" "$(fill 45)"

	run -2 ht record -o "$file" --limit 1K
	says 'the limit is too small'
	run -1 ht record --rotate 2
	says '--rotate needs --limit'
}

@test "a snapshot has what the rings hold, and consumes nothing" {
	file=$BATS_TEST_TMPDIR/a.dat
	run -2 ht record --snapshot -o "$file"
	says 'the rings are not loaded'
	tracing_marks --size "$(pages 8)"
	ht mark 1 --count "$(fill 4)" -C 0
	for option in -q -z; do
		ht record --snapshot -o "$file" $option
		marks "$file" | numbered 1 "$(fill 4)"
		same "$(total read)" 0
	done
	# also while another process reads the rings
	record_begin
	cp "$file" "$file.before"
	ht record --snapshot -q -o "$file.now"
	record_end
	run -1 ht record --snapshot -e selftest
	says '--snapshot saves what is there'
}

@test "a filter is set at EL2 while recording, and the kernel restores the old one" {
	[[ $REMOTE == test ]] || skip "the marks of the remote test are enough"
	ht enable selftest -F 'id < 1000000'
	tracing=$(ht -j list | jq -c '.[0].events[] | select(.name == "selftest") | [.enabled, .filter]')
	record_begin -C 0 -F 'id == 7'
	ht mark 1 --count 10 -C 0
	record_end
	same "$(marks "$file")" 7
	grep -q '1 event recorded, 9 filtered, 0 lost' "$err"
	same "$(ht -j list | jq -c '.[0].events[] | select(.name == "selftest") | [.enabled, .filter]')" "$tracing"

	# the kernel does that, too, if the recording is killed
	ht disable selftest
	record_begin -C 0 -F 'id == 7'
	same "$(ht -j list | jq '.[0].events[] | select(.name == "selftest").holder')" "$recorder"
	kill -KILL "$recorder"
	ended "$recorder"
	within "$patience" none_enabled
	run -1 ht record -o "$BATS_TEST_TMPDIR/b.dat" -e selftest -F 'nonsense == 7'
	same "$(enabled)" ""
}

# bats test_tags=any_remote
@test "--size changes the rings while recording" {
	before=$(of .size_requested)
	record_begin --size "$(pages 32)"
	same "$(of .size_requested)" "$(pages 32)"
	record_end
	same "$(of .size_requested)" "$before"
}

# bats test_tags=any_remote
@test "the rings have one consumer" {
	record_begin
	run -2 ht record -o "$BATS_TEST_TMPDIR/b.dat"
	says "cannot read CPU 0 of \"$REMOTE\": process $recorder (hyptrace) is reading it"
	[[ ! -e $BATS_TEST_TMPDIR/b.dat && ! -e $BATS_TEST_TMPDIR/b.dat.part ]]
	record_end
}

# bats test_tags=any_remote
@test "what was written before a recording is killed can be read" {
	record_begin
	ht mark 1 --count 5000 -C 0
	# all rings are read twice a second
	within "$patience" has_read 5000
	kill -KILL "$recorder"
	ended "$recorder"
	[[ -e $file.part && ! -e $file ]]
	marks "$file.part" | numbered 1 5000
	run -2 ht record -o "$file"
	says 'a recording that was not finished is in'
	marks "$file.part" | numbered 1 5000
}

# bats test_tags=slow
@test "a full disk ends the recording, and the file can be read" {
	disk=$BATS_TEST_TMPDIR/disk err=$BATS_TEST_TMPDIR/err
	mkdir "$disk"
	for option in -q -z; do
		mount -t tmpfs -o size=256K none "$disk"
		tracing_marks --size 2M
		ht mark 1 --count 100000 -C 0
		code=0
		ht record -o "$disk/a.dat" $option 2>"$err" || code=$?
		same "$code" 2
		grep -q 'No space left on device: the recording ends' "$err"
		[[ -e $disk/a.dat && ! -e $disk/a.dat.part ]]
		(($(without_gaps "$disk/a.dat") > 5000))
		umount "$disk"
		ht reset
	done
}

# bats test_tags=any_remote
@test "a recording to a pipe is a whole file" {
	tracing_marks
	ht mark 1 --count 1000 -C 0
	ht record -q -o - --duration 50ms | cat >"$BATS_TEST_TMPDIR/b.dat"
	marks "$BATS_TEST_TMPDIR/b.dat" | numbered 1 1000
	run -2 bash -c "set -o pipefail; hyptrace -r $REMOTE record -q -o - --duration 50ms | true"
	says 'cannot write the output: Broken pipe'
}

@test "a recording goes on while rings are resized, and CPUs go offline and come back" {
	needs resizing
	cpu=$(last_cpu)
	record_begin
	ht mark 1 --count 100 -C 0
	ht set --size "$(pages 64)"
	ht mark 101 --count 100 -C 0
	if ((cpu)); then
		cpu_set "$cpu" 0
		cpu_set "$cpu" 1
	fi
	ht mark 201 --count 100 -C 0
	ht set --size "$(pages 16)"
	ht mark 301 --count 100 -C 0
	record_end
	marks "$file" | numbered 1 400
}

# unrest CPU: resize the rings, and take the CPU offline and back, until the file "calm" is there. A resize is refused while
# a snapshot has a ring mapped.
unrest()
{
	while [[ ! -e $BATS_TEST_TMPDIR/calm ]]; do
		ht set --size "$(pages 64)" || true
		cpu_set "$1" 0
		ht set --size "$(pages 128)" || true
		cpu_set "$1" 1
	done
}

# bats test_tags=slow
@test "a file is reported and exported while it is written, and rings are resized and CPUs go offline" {
	cpu=$(last_cpu)
	((cpu)) || skip "there is one CPU"
	record_begin
	unrest "$cpu" 3>&- &
	restless=$!
	for ((from = 1; from <= 5000; from += 1000)); do
		ht mark "$from" --count 1000 -C 0
		marks "$file.part" >"$BATS_TEST_TMPDIR/ids" 2>"$BATS_TEST_TMPDIR/notes"
		numbered 1 "$(wc -l <"$BATS_TEST_TMPDIR/ids")" <"$BATS_TEST_TMPDIR/ids"
		hyptrace export -q -e selftest -f csv "$file.part" | tail -n +2 >"$BATS_TEST_TMPDIR/csv"
		(($(wc -l <"$BATS_TEST_TMPDIR/csv") >= $(wc -l <"$BATS_TEST_TMPDIR/ids")))
		ht record --snapshot -q -o "$file.now"
	done
	touch "$BATS_TEST_TMPDIR/calm"
	ended "$restless"
	same "$code" 0 "exit code of unrest"
	record_end
	marks "$file" | numbered 1 5000
	same "$(counts)" "5000 0"
}

# bats test_tags=any_remote
@test "the module of a remote cannot be removed while its events are recorded" {
	module=hyptrace_${REMOTE/hypervisor/pkvm}
	record_begin
	ht mark 1 --count 100 -C 0
	run -1 rmmod "$module"
	says 'is in use'
	ht mark 101 --count 100 -C 0
	record_end
	marks "$file" | numbered 1 200
}

# bats test_tags=any_remote
@test "after a clear the counts are not known" {
	record_begin
	ht mark 1 --count 100 -C 0
	within "$patience" has_read 100
	sleep 1.2
	ht clear
	ht mark 101 --count 50 -C 0
	record_end
	marks "$file" | numbered 1 150
	grep -q 'CPU 0: the ring was cleared: events that were not read yet are missing' "$err"
}

# bats test_tags=any_remote
@test "-j prints the summary as JSON" {
	file=$BATS_TEST_TMPDIR/a.dat
	tracing_marks --size "$(pages 4)"
	ht mark 1 --count "$(fill 20)" -C 0
	lost=$(total lost)
	((lost > 0))
	ht -j record -q -o "$file" -C 0 -- echo started >"$BATS_TEST_TMPDIR/out" 2>/dev/null
	same "$(head -n 1 "$BATS_TEST_TMPDIR/out")" started
	same "$(tail -n +2 "$BATS_TEST_TMPDIR/out" | jq -c '[.remote, .file, .files, .bytes, .events, .lost, .filtered, .cpus]')" \
		"$(jq -nc --arg remote "$REMOTE" --arg file "$file" \
			"[\$remote, \$file, 1, $(stat -c %s "$file"), $(($(fill 20) - lost)), $lost, 0,
				[{ cpu: 0, events: $(($(fill 20) - lost)), lost: $lost, filtered: 0 }]]")"
	ht -j record --snapshot -q -o "$file" -C 0 | jq -e '.events == 0 and .lost == 0'
	run -1 ht record -j -o -
	says '--json prints to the standard output'
}

# bats test_tags=any_remote
@test "usage errors of record" {
	run -1 ht record selftest
	says 'unexpected argument "selftest": a command follows "--", events --event'
	for list in '' ',' ',,'; do
		run -1 ht record -e "$list"
		says 'no event given'
	done
	run -1 ht record --limit x
	run -1 ht record --size 0
	run -1 ht record -o ''
	run -2 ht record -e nonsense -o "$BATS_TEST_TMPDIR/b.dat"
	says 'cannot record "nonsense": no such event'
	run -2 ht record -o /nonsense/b.dat
	says 'cannot make /nonsense/b.dat.part: No such file or directory'
	same "$(of .state)" unloaded
}
