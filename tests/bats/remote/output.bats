#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Output: the place of options, colours, JSON, outputs that cannot be written.

load ../helper

escape=$'\033'

@test "options may stand before or after the verb" {
	ht enable selftest
	for line in "-r $REMOTE -j list" "list -r $REMOTE -j" "-j list -r $REMOTE" \
		"--remote=$REMOTE list --json" "--json --remote $REMOTE list"; do
		# shellcheck disable=SC2086 # words
		run -0 hyptrace $line
		same "$(jq -r '.[0].name' <<<"$output")" "$REMOTE" "$line"
	done
	run -0 hyptrace -C 0 -r "$REMOTE" -j status
	same "$(jq -c '.[0].cpus | map(.cpu)' <<<"$output")" '[0]'
	run -0 hyptrace status -j --cpu 0 --remote "$REMOTE"
	same "$(jq -c '.[0].cpus | map(.cpu)' <<<"$output")" '[0]'
}

@test "if an option is given twice, the last one counts" {
	run -0 hyptrace -r nonsense status -j -r "$REMOTE"
	same "$(jq -r '.[0].name' <<<"$output")" "$REMOTE"
}

@test "status takes a list of CPUs" {
	all=$(cpu_ids | xargs)
	same "$(ht status -j -C all | jq -r '.[0].cpus[].cpu' | xargs)" "$all"
	same "$(ht status -j -C "0-$(last_cpu)" | jq -r '.[0].cpus[].cpu' | xargs)" "$all"
	same "$(ht status -j -C "$(last_cpu),0,0" | jq -r '.[0].cpus[].cpu' | sort -un | xargs)" "0 $(last_cpu)"
	run -2 ht status -C 4095
	says 'has no CPU 4095'
}

@test "--cpu is a usage error for verbs that do not take it" {
	for verb in list start stop load unload reset monitor; do
		run -1 ht "$verb" --cpu 0
		says 'does not take --cpu'
		run -1 hyptrace -r "$REMOTE" -C 0 "$verb"
	done
	same "$(of .state)" unloaded
}

@test "output to a pipe has no colours, except with --color=always" {
	ht enable selftest
	run -0 ht list
	[[ $output != *$escape* ]]
	run -0 ht list --color=auto
	[[ $output != *$escape* ]]
	run -0 ht list --color=always
	[[ $output == *$escape* ]]
	run -0 ht --color=never list
	[[ $output != *$escape* ]]
	run -1 ht list --color=sometimes
	says '"sometimes"'
}

# on_terminal VARIABLE=VALUE... COMMAND...: run it where a pseudo terminal can be opened.
on_terminal()
{
	mountpoint -q /dev/pts || mount -t devpts -o ptmxmode=666 devpts /dev/pts || return
	[[ -e /dev/ptmx ]] || ln -s pts/ptmx /dev/ptmx
	env -u NO_COLOR "$@" </dev/null
}

pty='import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))'

@test "output to a terminal has colours, except with NO_COLOR, TERM=dumb or --color=never" {
	grep -q devpts /proc/filesystems || skip "this kernel has no pseudo terminals"
	run -0 on_terminal TERM=xterm python3 -c "$pty" hyptrace -r "$REMOTE" list
	[[ $output == *$escape* ]]
	run -0 on_terminal TERM=xterm NO_COLOR=1 python3 -c "$pty" hyptrace -r "$REMOTE" list
	says "$REMOTE"
	[[ $output != *$escape* ]]
	run -0 on_terminal TERM=dumb python3 -c "$pty" hyptrace -r "$REMOTE" list
	[[ $output != *$escape* ]]
	run -0 on_terminal TERM=xterm python3 -c "$pty" hyptrace -r "$REMOTE" list --color=never
	[[ $output != *$escape* ]]
	run -0 on_terminal TERM=xterm NO_COLOR=1 python3 -c "$pty" hyptrace -r "$REMOTE" list --color=always
	[[ $output == *$escape* ]]
}

@test "JSON never has colours" {
	run -0 ht list -j --color=always
	[[ $output != *$escape* ]]
	jq -e . <<<"$output"
}

@test "a stream with colours prints the same text" {
	tracing_marks
	ht mark 1 --count 2 -C 0
	ht stream --count 2 -C 0 --color=always >"$BATS_TEST_TMPDIR/out"
	grep -q "$escape" "$BATS_TEST_TMPDIR/out"
	sed "s/$escape\[[0-9;]*m//g" "$BATS_TEST_TMPDIR/out" | ids | numbered 1 2
}

@test "a full disk is reported as an error" {
	for verb in list status "list -j" "status --pretty" --help "list --help" --version; do
		run -2 bash -c "hyptrace -r $REMOTE $verb >/dev/full"
		says 'cannot write the output: No space left on device'
	done
}

@test "a limit of the size of files is reported as an error" {
	for verb in list status "list -j" --help; do
		run -2 bash -c "ulimit -f 0; exec hyptrace -r $REMOTE $verb >$BATS_TEST_TMPDIR/out"
		says 'cannot write the output: File too large'
	done
}

@test "a full disk ends a stream with an error, and the stream stops what it started" {
	ht enable selftest
	hyptrace -r "$REMOTE" stream -C 0 >/dev/full 2>"$BATS_TEST_TMPDIR/err" 3>&- &
	stream=$!
	within "$patience" is_consumer "$stream"
	within "$patience" is_tracing
	ht mark 1 -C 0
	ended "$stream"
	same "$code" 2
	grep 'cannot write the output: No space left on device' "$BATS_TEST_TMPDIR/err"
	# the event could not be written
	none ' printed, ' "$BATS_TEST_TMPDIR/err"
	same "$(of .state)" unloaded
}

@test "show on a full disk does not count the events that it could not write" {
	tracing_marks
	ht mark 1 -C 0
	run -2 bash -c "hyptrace -r $REMOTE show >/dev/full"
	same "$output" 'hyptrace: cannot write the output: No space left on device'
}

@test "a closed stdout is reported as an error" {
	for verb in list status "list -j"; do
		run -2 bash -c "hyptrace -r $REMOTE $verb >&-"
		says 'cannot write the output'
	done
}

@test "verbs that print nothing succeed with a closed stdout" {
	run -0 bash -c "hyptrace -r $REMOTE enable selftest >&-"
	same "$(enabled)" selftest
	run -0 bash -c "hyptrace -r $REMOTE start <&- >&- 2>&-"
	is_tracing
}

@test "a closed stderr does not change the exit code" {
	run -2 bash -c "hyptrace -r $REMOTE enable nonsense 2>&-"
	same "$(enabled)" ""
}

@test "list succeeds when the reader of its pipe has ended" {
	run -0 bash -c "set -o pipefail; hyptrace -r $REMOTE list -v --pretty | true"
}
