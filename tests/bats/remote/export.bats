#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# export without a file: each format has the events as they happen, and it ends as a stream does.

load ../helper

# marked ARGUMENT...: export 100 marks of CPU 0
marked()
{
	ht export -C 0 -e selftest "$@" -- hyptrace -r "$REMOTE" mark 1 --count 100 -C 0 2>"$BATS_TEST_TMPDIR/err"
	grep -qE '(^|[^0-9])100 events exported.* 0 lost$' "$BATS_TEST_TMPDIR/err"
}

@test "each format has the events that happen while a command runs" {
	cd "$BATS_TEST_TMPDIR"
	marked -o out.jsonl
	same "$(jq -r .fields.id out.jsonl | xargs)" "$(seq -s ' ' 100)"
	marked -f csv >out.csv
	same "$(grep -c ',selftest,' out.csv)" 100
	marked -o tables/ -f csv
	same "$(wc -l <tables/selftest.csv)" 101
	marked -o out.json
	same "$(jq '[.traceEvents[] | select(.args.event == "selftest")] | length' out.json)" 100
	marked -o out.collapsed
	marked -o out.ctf
	[[ -s out.ctf/metadata && -s out.ctf/cpu0 ]]
	marked -o out.pftrace
	[[ $(head -c 1 out.pftrace | od -An -tx1) == ' 0a' ]]
	grep -qa selftest out.pftrace
	# nothing is left behind
	same "$(find . -name 'out.*.??????' | wc -l)" 0
	same "$(of .state)" unloaded
	same "$(enabled)" ""
}

@test "an export is what a recording is" {
	cd "$BATS_TEST_TMPDIR"
	tracing_marks
	ht mark 1 --count 50 -C 0
	ht record -q -o a.dat -e selftest --duration 500ms
	ht start
	ht mark 1 --count 50 -C 0
	ht export -q -n 50 -o live.jsonl
	hyptrace export -q -n 50 -o file.jsonl a.dat
	same "$(jq -c 'del(.ts)' live.jsonl)" "$(jq -c 'del(.ts)' file.jsonl)"
}

# bats test_tags=slow
@test "a live export of two CPUs is whole beyond several MiB, also with -n" {
	cd "$BATS_TEST_TMPDIR"
	(($(nproc) > 1)) || skip "there is one CPU"
	ht set --size 16M
	ht enable selftest
	marks="hyptrace -r $REMOTE mark 1 --count 30000 -C 0 & hyptrace -r $REMOTE mark 30001 --count 30000 -C 1; wait"
	ht export -q -o all.jsonl -- sh -c "$marks"
	(($(stat -c %s all.jsonl) > 4 << 20))
	# each line is an object, and each number is there once
	jq -r .fields.id all.jsonl | sort -n | diff - <(seq 60000)
	ht export -q -n 50000 -o some.jsonl -- sh -c "$marks"
	jq -r .fields.id some.jsonl | sort -n | uniq >numbers
	same "$(wc -l <numbers)" 50000
	ht export -q -n 50000 -o some.csv -- sh -c "$marks"
	same "$(grep -cE '^[0-9]+,[01],selftest,' some.csv)" 50000
	same "$(wc -l <some.csv)" 50001
}

@test "-n, --duration and signals end an export, and the output is complete" {
	cd "$BATS_TEST_TMPDIR"
	ht enable selftest
	ht export -q -n 5 -o out.jsonl -- hyptrace -r "$REMOTE" mark 1 --count 100
	same "$(wc -l <out.jsonl)" 5
	ht export -q --duration 200ms -o out.pftrace
	[[ -s out.pftrace ]]
	hyptrace -r "$REMOTE" export -o out.csv 2>err 3>&- &
	within "$patience" is_tracing
	within "$patience" is_consumer $!
	ht mark 1 --count 7
	kill -INT $!
	ended $!
	same "$code" 0
	same "$(wc -l <out.csv)" 8
	grep -qE '7 events exported, 0 discarded, 0 lost$' err
}

@test "-F chooses events, and its words and those of -e are the same as in stream" {
	ht enable selftest
	same "$(ht export -q -f jsonl -F 'id > 90' -n 10 -- hyptrace -r "$REMOTE" mark 1 --count 100 | wc -l)" 10
	for verb in stream "export -f jsonl"; do
		# shellcheck disable=SC2086 # words
		run -2 ht $verb -e no_such_event --duration 1s
		says no_such_event
		# shellcheck disable=SC2086 # words
		run -1 ht $verb -F 'no_such_field > 1' --duration 1s
		says no_such_field
	done
}

@test "an export returns the exit code of its command, whose output is apart from it" {
	cd "$BATS_TEST_TMPDIR"
	ht enable selftest
	run -3 --separate-stderr ht export -q -f jsonl -- sh -c 'echo said; exit 3'
	same "$output" ""
	says said
	run -3 --separate-stderr ht export -q -o out.jsonl -- sh -c 'echo said; exit 3'
	same "$output" said
	[[ -e out.jsonl ]]
	run -1 ht export -o out.tar
	says 'hyptrace record --host'
	run -1 ht export -o out.jsonl --from +1s
	says '--from and --to choose times of a file'
	run -1 ht export
	says 'name an output with --out or a format with --format'
}
