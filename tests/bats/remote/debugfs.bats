#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# debugfs: read-only files that show the state of the rings.

load ../helper

@test "a file for each CPU shows the state of its ring and changes nothing" {
	folder=/sys/kernel/debug/hyptrace/$REMOTE
	for cpu in $(cpu_ids); do
		grep -q unloaded "$folder/cpu$cpu"
	done
	tracing_marks
	ht mark 1 --count 10 -C 0
	before=$(of 'del(.clock_offset)')
	for cpu in $(cpu_ids); do
		cat "$folder/cpu$cpu" >"$BATS_TEST_TMPDIR/state"
		[[ -s $BATS_TEST_TMPDIR/state ]]
		none unloaded "$BATS_TEST_TMPDIR/state"
	done
	same "$(of 'del(.clock_offset)')" "$before"
	ht stream --count 10 -C 0 | ids | numbered 1 10
}

@test "the files cannot be written" {
	folder=/sys/kernel/debug/hyptrace/$REMOTE
	for file in "$folder"/*; do
		run ! bash -c "echo 1 >$file"
	done
}
