#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A hostile host against the real EL2, under emulation: a million hypercalls from four CPUs, by a module, and some more while
# the machine sleeps and wakes. The part that runs in the machine says what is checked: kselftest/hostile/test_host.sh.
# LIMIT_MS= is how long a call may take: more than a second if other programs keep the CPUs of this machine busy.

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0 seed=${SEED:-1} times=${TIMES:-100} limit_ms=${LIMIT_MS:-1000}

# attack COMMAND...
attack()
{
	local good=0 bad=1
	"$@" 2>&1 | tee "$log" || true
	sed -n 's/^# tried: /tried: /p' "$log"
	[[ ! $(tail -n 1 "$log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]] || good=${BASH_REMATCH[1]} bad=${BASH_REMATCH[2]}
	((passed += good, failed += bad)) || true
}

"$vm/kernel.sh"
"$vm/guest.sh" --tests
attack "$vm/boot.sh" host '' TEST_TIMEOUT="${LIMIT:-1800}" HYPTRACE_HOSTILE_SEED="$seed" HYPTRACE_HOSTILE_LIMIT_MS="$limit_ms" \
	HYPTRACE_HOSTILE_CALLS=$((10000 * times)) -- kselftest:test_host.sh -- --cpus 4 --require-protected
attack "$vm/modes.sh" suspend "hyptrace_hostile seed=$seed calls=$((400 * times)) limit_ms=$limit_ms" --hostile
echo "$passed passed, $failed failed"
((failed == 0))
