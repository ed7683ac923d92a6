#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The command on the remote "test", in a kernel in user mode: killed at any moment, on full disks, and with files that may not
# grow. kselftest/hostile/test_killed.sh says what must be left then. SEED= and TIMES=: see run.sh.

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=1

if ! has_um; then
	echo "# no kernel in user mode on this machine"
	echo "0 passed, 0 failed"
	exit
fi
"$repo/tests/um/build.sh"
RUN=$repo/tests/um/run.sh "$vm/boot.sh" "killed-um" "not found" TEST_TIMEOUT="${LIMIT:-1800}" HYPTRACE_HOSTILE_SEED="${SEED:-1}" \
	HYPTRACE_HOSTILE_KILLS=$((500 * ${TIMES:-100} / 100)) -- kselftest:test_killed.sh -- 2>&1 | tee "$log" || true
sed -n 's/^# tried: /tried: /p' "$log"
[[ ! $(tail -n 1 "$log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]] || passed=${BASH_REMATCH[1]} failed=${BASH_REMATCH[2]}
echo "$passed passed, $failed failed"
((failed == 0))
