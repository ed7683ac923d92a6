#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Faults in the kernel in user mode, on the remote "test": each allocation and each copy from or to user space fails once, in
# each operation of the driver (kselftest/hostile/test_fail_nth.c), and while its modules load (test_fail_load.c). The command
# is killed at any moment, its disk gets full, and its files may not grow (test_killed.sh). SEED= and TIMES=: see run.sh.

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"
. "$repo/tests/jobs.sh"

seed=${SEED:-1} times=${TIMES:-100}

# machine SECONDS NAME SEED TEST...
machine()
{
	job "$1" "$2" env RUN="$repo/tests/um/run.sh" "$vm/boot.sh" "$2-um" "not found" TEST_TIMEOUT=1500 \
		HYPTRACE_FAULT_ROUNDS=$((10 * times / 100 + 2)) HYPTRACE_HOSTILE_SEED="$3" \
		HYPTRACE_HOSTILE_KILLS=$((250 * times / 100)) -- "${@:4}" --
}

if has_um; then
	"$repo/tests/um/build.sh"
	machine 100 faults "$seed" kselftest:test_fail_{nth,load}
	# a machine takes one CPU, and most of the time is for kills
	machine 250 killed-1 "$seed" kselftest:test_killed.sh
	machine 250 killed-2 $((seed + 1)) kselftest:test_killed.sh
else
	echo "# no kernel in user mode on this machine"
fi
jobs_run
