#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Hostile users: a million requests of the family and a million ioctls at random, by processes that are killed at random, on
# the remote "test", where a kernel in user mode makes that fast, and 100,000 waits for an event; a tenth of that on the
# hypervisor, under emulation. kselftest/hostile/test_{hostile,wakeups}.c say what must be left then.

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"
. "$repo/tests/jobs.sh"

seed=${SEED:-1} times=${TIMES:-100}

# storm CALLS NAME SEED BOOT...: run the tests by that command
storm()
{
	job 180 "$2" "${@:4}" TEST_TIMEOUT=1500 "HYPTRACE_HOSTILE_SEED=$3" "HYPTRACE_HOSTILE_CALLS=$(($1 * times / 100))" \
		"HYPTRACE_HOSTILE_ROUNDS=$(($1 * times / 1000))" -- kselftest:test_{hostile,wakeups} --
}

"$vm/kernel.sh"
"$vm/guest.sh" --tests
if has_um; then
	"$repo/tests/um/build.sh"
	# two machines, since one takes one CPU
	for half in 1 2; do
		storm 500000 "remote-test-$half" $((seed + half - 1)) env RUN="$repo/tests/um/run.sh" \
			"$vm/boot.sh" "hostile-um-$half" "not found"
	done
fi
storm 100000 hypervisor "$seed" "$vm/boot.sh" hostile '' HYPTRACE_EL2_ONLY=1
jobs_run
