#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The machine in its other modes: where there is a hypervisor it is traced, where there is none, or it lacks the hooks,
# hyptrace_pkvm refuses and says why. Ends with "N passed, N failed".

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

kselftest=/mnt/repo/tests/kselftest/run.sh
passed=0 failed=0
result=$(mktemp)
trap 'rm -f "$result"' EXIT

# mode TITLE COMMAND...: that runs tests in the machine
mode()
{
	local title=$1 code=0
	shift
	echo "== $title"
	"$@" 2>&1 | tee "$result" || code=$?
	if [[ $(tail -n 1 "$result") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		((passed += BASH_REMATCH[1], failed += BASH_REMATCH[2])) || true
		((code == 0 || BASH_REMATCH[2] > 0)) || { echo "$title: the machine failed" && ((++failed)); }
	else
		echo "$title could not run (it ended with $code)"
		((++failed))
	fi
}

"$vm/kernel.sh"
HYPTRACE_UNPATCHED=1 "$vm/kernel.sh"
"$vm/rootfs.sh"
"$vm/guest.sh" --tests

mode "a kernel without the hooks" env HYPTRACE_UNPATCHED=1 "$vm/run.sh" -- \
	env HYPTRACE_REFUSED="no hooks" "$kselftest" test_modules.sh test_read
mode "the kernel as its own hypervisor (VHE)" "$vm/run.sh" --mode vhe -- \
	env HYPTRACE_REFUSED="no hypervisor to trace" "$kselftest" test_modules.sh
mode "not protected" "$vm/run.sh" --mode nvhe -- "$kselftest" test_modules.sh test_guest
mode "a CPU without VHE" "$vm/run.sh" --cpu cortex-a72 --require-protected -- "$kselftest" test_guest
mode "the newest CPU" "$vm/run.sh" --cpu max --require-protected -- "$kselftest" test_guest

echo "$passed passed, $failed failed"
((failed == 0))
