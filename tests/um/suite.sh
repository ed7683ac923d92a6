#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run the tests of the remote "test" in a kernel in user mode, at the speed of the host. vm/suite.sh leaves them out where
# this script can run. The last line is "N passed, N failed".

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"
. "$repo/tests/jobs.sh"

if has_um; then
	"$repo/tests/um/build.sh"
	# boot SECONDS NAME SETTING... -- SUITE...
	boot()
	{
		job "$1" "$2" env RUN="$repo/tests/um/run.sh" "$vm/boot.sh" "$2" "not found" "${@:3}" --
	}
	boot 90 um-kselftest HYPTRACE_IDLE_S=10 -- ynl kselftest:test_killed.sh kselftest
	job 20 um-kept env RUN="$repo/tests/um/run.sh" "$vm/boot.sh" um-kept "not found" -- kselftest:test_kept.sh -- \
		--append reserve_mem=2M:4096:hyptrace
	for memory in "${misfits[@]}"; do
		job 5 "um-${memory%:*}" env RUN="$repo/tests/um/run.sh" "$vm/boot.sh" um-misfit "not found" -- \
			kselftest:test_misfit.sh -- --append "reserve_mem=$memory:hyptrace"
	done
	for share in 1 2; do
		boot 160 "um-bats-$share" BATS_SHARE="$share/2" -- bats
	done
else
	say "no kernel in user mode on this machine: vm/suite.sh runs the remote \"test\""
fi
jobs_run
