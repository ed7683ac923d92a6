#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Faults in the kernel in user mode, on the remote "test": each allocation and each copy from or to user space fails once, in
# each operation of the driver (kselftest/hostile/test_fail_nth.c), and while its modules load (test_fail_load.c). The command
# is killed at any moment, its disk gets full, and its files may not grow (test_killed.sh). SEED= and TIMES=: see run.sh.

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# machine NAME TEST...
machine()
{
	attack '' env RUN="$repo/tests/um/run.sh" "$vm/boot.sh" "$1" "not found" TEST_TIMEOUT=1500 \
		HYPTRACE_FAULT_ROUNDS=$((10 * times / 100 + 2)) HYPTRACE_HOSTILE_SEED="$seed" \
		HYPTRACE_HOSTILE_KILLS=$((500 * times / 100)) -- "${@:2}" --
}

if has_um; then
	"$repo/tests/um/build.sh"
	machine faults-um kselftest:test_fail_{nth,load}
	machine killed-um kselftest:test_killed.sh
	wait_for_attacks
else
	echo "# no kernel in user mode on this machine"
fi
echo "$passed passed, $failed failed"
((failed == 0))
