#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Faults in the kernel in user mode, on the remote "test": each allocation and each copy from or to user space fails once, in
# each operation of the driver (kselftest/hostile/test_fail_nth.c), and while its modules load (test_fail_load.c). The command
# is killed at any moment, its disk gets full, and its files may not grow (test_killed.sh). SEED= and TIMES=: see run.sh.

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0

if has_um; then
	"$repo/tests/um/build.sh"
	failed=1
	RUN=$repo/tests/um/run.sh "$vm/boot.sh" faults-um "not found" TEST_TIMEOUT=1500 \
		HYPTRACE_FAULT_ROUNDS=$((10 * ${TIMES:-100} / 100 + 2)) HYPTRACE_HOSTILE_SEED="${SEED:-1}" \
		HYPTRACE_HOSTILE_KILLS=$((500 * ${TIMES:-100} / 100)) -- kselftest:test_{fail_nth,fail_load,killed.sh} -- 2>&1 | tee "$log" || true
	sed -n "s/^# tried: /tried: /p" "$log"
	[[ ! $(tail -n 1 "$log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]] || passed=${BASH_REMATCH[1]} failed=${BASH_REMATCH[2]}
else
	echo "# no kernel in user mode on this machine"
fi
echo "$passed passed, $failed failed"
((failed == 0))
