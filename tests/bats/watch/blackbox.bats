#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# catch --snapshot: a black box that saves what the rings hold, each time that something is caught.

load ../helper

export REMOTE=hypervisor

setup()
{
	fresh
	cd "$BATS_TEST_TMPDIR" || return
	dir=$BATS_TEST_TMPDIR/box
	mkdir "$dir"
	ht enable selftest
	ht start
}

# box_begin ARGUMENT...: begin to catch in the background, and wait until it does. Sets $out and $err to the files of its
# output, $catch to its pid.
box_begin()
{
	out=$BATS_TEST_TMPDIR/out err=$BATS_TEST_TMPDIR/err
	hyptrace -r "$REMOTE" catch --snapshot "$dir" "$@" >"$out" 2>"$err" 3>&- &
	catch=$!
	within "$patience" grep -q '^hyptrace: waiting for ' "$err"
}

# box_end [SIGNAL [CODE]]
box_end()
{
	kill -"${1:-INT}" "$catch"
	ended "$catch"
	same "$code" "${2:-0}" "exit code of catch"
}

# has_saved N: succeed if so many files were saved since the begin
has_saved()
{
	[[ $(wc -l <"$out") == "$1" ]]
}

@test "each event that is caught gives a file of all rings, with the time and the event in its name" {
	box_begin 'selftest && id == 7'
	ht mark 5
	ht mark 7
	within "$patience" has_saved 1
	ht mark 8
	box_end
	file=$(<"$out")
	[[ $file =~ ^$dir/20[0-9]{6}T[0-9]{6}\.[0-9]{3}Z-selftest\.dat$ ]]
	same "$(echo "$dir"/*)" "$file"
	hyptrace report -q "$file" | sed 's/.*selftest: id=//' >ids
	same "$(tr '\n' ' ' <ids)" "5 7 "
	same "$(tail -n 1 "$err")" "hyptrace: 1 snapshot saved, 0 skipped"
	# nothing was consumed, and the event is what it was
	same "$(ht show -q | sed 's/.*selftest: id=//' | tr '\n' ' ')" "5 7 8 "
	ht list -j | jq -e '.[0].events[] | select(.name == "selftest") | .enabled and .trigger == null'
}

# wakes: print how often the threads of catch have slept or were interrupted, and the hypercalls of the driver
wakes()
{
	awk '/ctxt_switches/ { n += $2 } END { print n }' "/proc/$catch/task/"*/status
	cat "/sys/kernel/debug/hyptrace/$REMOTE/calls"
}

@test "between two catches nothing wakes it, and it makes no hypercall, while events are recorded" {
	ht enable hyp_enter
	box_begin 'selftest && id == 7'
	sleep 0.5
	written=$(total written)
	wakes >before
	workload --psci 200 --mmio 200 >/dev/null
	sleep 2
	wakes >after
	diff before after
	(($(total written) > written + 400))
	ht mark 7
	within "$patience" has_saved 1
	box_end
}

@test "the oldest files are removed, and nothing else" {
	touch "$dir/20200101T000000.000Z-selftest.txt" "$dir/notes-selftest.dat" "$dir/20200101T000000.000Z-old.dat" \
		"$dir/20200101T000000.000Z-old.dat.part.cpu0"
	box_begin -j --keep 2 --rate 100/min 'selftest && id == 7'
	for i in 1 2 3; do
		ht mark 7
		within "$patience" has_saved "$i"
	done
	box_end
	jq -r .file "$out" | tail -n 2 >want
	jq -e -s 'all(.reason == "selftest")' "$out"
	printf '%s\n' "$dir"/*Z-*.dat* | diff want -
	[[ -e $dir/20200101T000000.000Z-selftest.txt && -e $dir/notes-selftest.dat ]]
}

@test "--limit keeps the last file, however large it is" {
	box_begin --keep 0 --limit 1 --rate 100/min 'selftest && id == 7'
	for i in 1 2; do
		ht mark 7
		within "$patience" has_saved "$i"
	done
	box_end
	same "$(echo "$dir"/*)" "$(tail -n 1 "$out")"
}

@test "what comes more often than --rate is skipped and counted" {
	box_begin --rate 1/min
	kill -USR1 "$catch"
	within "$patience" has_saved 1
	kill -USR1 "$catch"
	sleep 0.3
	box_end
	[[ $(<"$out") == *Z-signal.dat ]]
	same "$(tail -n 1 "$err")" "hyptrace: 1 snapshot saved, 1 skipped (more than --rate in a minute)"
}

@test "a time without events is a reason, once until there are events again" {
	box_begin --idle 300ms --rate 100
	within "$patience" has_saved 1
	sleep 1
	has_saved 1
	ht mark 1
	within "$patience" has_saved 2
	box_end
	[[ $(head -n 1 "$out") == *Z-idle.dat && $(tail -n 1 "$out") == *Z-idle.dat ]]
}

@test "a trigger that stops the recording is a reason" {
	ht stop
	ht enable --stop selftest
	ht start
	box_begin
	ht mark 3
	within "$patience" has_saved 1
	box_end
	[[ $(<"$out") == *Z-stopped.dat ]]
	hyptrace report -q "$(<"$out")" | grep -q 'selftest: id=3$'
}

@test "after SIGKILL the event is what it was, and --count ends it" {
	box_begin 'selftest && id == 7'
	box_end KILL 137
	within "$patience" eval 'ht list -j | jq -e ".[0].events[] | select(.name == \"selftest\") | .enabled and .trigger == null"'
	box_begin -n 1 'selftest && id == 7'
	ht mark 7
	ended "$catch"
	same "$code" 0
}

@test "what fires right before the end is saved, too" {
	run -0 ht catch --snapshot "$dir" 'selftest && id == 7' -- hyptrace -r "$REMOTE" mark 7
	says "hyptrace: 1 snapshot saved, 0 skipped"
	hyptrace report -q "$dir"/*.dat | grep -q 'selftest: id=7$'
}

@test "what cannot be is refused, and nothing is changed" {
	run -2 ht catch --snapshot "$dir/none"
	says "cannot write to $dir/none: No such file or directory"
	touch "$dir/file"
	run -2 ht catch --snapshot "$dir/file" selftest
	says "cannot write to $dir/file: Not a directory"
	run -1 ht catch --snapshot "$dir" -F 'id == 3' selftest
	says "it takes no --after, --filter"
	box_begin
	run -2 ht catch --snapshot "$dir" selftest
	says 'another "hyptrace catch" does'
	box_end
	run -2 ht catch --snapshot "$dir" none
	says 'cannot catch "none": no such event'
	ht stop
	run -2 ht catch --snapshot "$dir" selftest
	says "tracing is off"
	ht list -j | jq -e '.[0].events[] | select(.name == "selftest") | .enabled and .trigger == null'
}
