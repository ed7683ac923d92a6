#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A hostile host against the real EL2, under emulation: a million hypercalls from four CPUs, by a module. The part that runs
# in the machine says what is checked: kselftest/hostile/test_host.sh. LIMIT_MS= is how long a call may take: more than a
# second if other programs keep the CPUs of this machine busy.

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=1

"$vm/kernel.sh"
"$vm/guest.sh" --tests
"$vm/boot.sh" host '' TEST_TIMEOUT="${LIMIT:-1800}" HYPTRACE_HOSTILE_SEED="${SEED:-1}" \
	HYPTRACE_HOSTILE_LIMIT_MS="${LIMIT_MS:-1000}" \
	HYPTRACE_HOSTILE_CALLS=$((1000000 * ${TIMES:-100} / 100)) -- kselftest:test_host.sh -- --cpus 4 --require-protected 2>&1 |
	tee "$log" || true
sed -n 's/^# tried: /tried: /p' "$log"
[[ ! $(tail -n 1 "$log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]] || passed=${BASH_REMATCH[1]} failed=${BASH_REMATCH[2]}
echo "$passed passed, $failed failed"
((failed == 0))
