#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Faults in the kernel, on the remote "test" in a kernel in user mode: each allocation and each copy from or to user space
# fails once, in each operation of the driver (kselftest/hostile/test_fail_nth.c) and while the modules load
# (test_fail_load.c); and some fail at random while hostile users storm (test_hostile.c). SEED= chooses the storm.

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0

# faults TEST SETTING...
faults()
{
	local good=0 bad=1
	RUN=$repo/tests/um/run.sh "$vm/boot.sh" "faults-um" "not found" TEST_TIMEOUT=1500 "${@:2}" -- "kselftest:$1" -- 2>&1 |
		tee "$log" || true
	sed -n "s/^# tried: /tried: /p" "$log"
	[[ ! $(tail -n 1 "$log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]] || good=${BASH_REMATCH[1]} bad=${BASH_REMATCH[2]}
	((passed += good, failed += bad))
}

if has_um; then
	"$repo/tests/um/build.sh"
	faults test_fail_nth HYPTRACE_FAULT_ROUNDS=$((10 * TIMES / 100 + 2))
	faults test_fail_load
	faults test_hostile HYPTRACE_HOSTILE_FAULTS=1 HYPTRACE_HOSTILE_SEED="$SEED" \
		HYPTRACE_HOSTILE_CALLS=$((200000 * TIMES / 100))
else
	echo "# no kernel in user mode on this machine"
fi
echo "$passed passed, $failed failed"
((failed == 0))
