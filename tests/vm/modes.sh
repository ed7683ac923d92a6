#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run tests in the machine's other modes. With a hypervisor, hyptrace traces it. Without one, or without the hooks,
# hyptrace_pkvm refuses to load and says why. The last line is "N passed, N failed".

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/console.sh"

kselftest=/mnt/repo/tests/kselftest/run.sh
programs=/usr/local/libexec/hyptrace-kselftest
passed=0 failed=0
result=$(mktemp)
trap 'rm -f "$result"' EXIT

# mode TITLE COMMAND...: run the command, which runs tests in the machine, and add its results.
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
		echo "$title could not run: it ended with $code"
		((++failed))
	fi
}

# run_suspend REMOTE...: run the program suspend. It prints its results on the console and switches the machine off.
run_suspend()
{
	local console
	console=$(mktemp)
	"$vm/run.sh" --require-protected --timeout 300 --console "$console" -- \
		sh -c "modprobe -a hyptrace_test hyptrace_pkvm && exec $programs/suspend $*" >/dev/null 2>&1 || true
	tr -d '\r' <"$console" | grep -aE '^((not )?ok - |[0-9]+ passed, )' || true
	! console_complaints "$console" || echo "the kernel complained: see above"
	rm -f "$console"
}

"$vm/kernel.sh"
HYPTRACE_UNPATCHED=1 "$vm/kernel.sh"
"$vm/rootfs.sh"
"$vm/guest.sh" --tests

mode "kernel without the hooks" env HYPTRACE_UNPATCHED=1 "$vm/run.sh" -- \
	env HYPTRACE_REFUSED="no hooks" "$kselftest" test_modules.sh test_read
mode "kernel at EL2 (VHE)" "$vm/run.sh" --mode vhe -- \
	env HYPTRACE_REFUSED="no hypervisor to trace" "$kselftest" test_modules.sh
mode "nVHE, hypervisor enabled on demand" "$vm/run.sh" --mode nvhe --append kvm.enable_virt_at_load=0 -- \
	"$kselftest" test_modules.sh test_guest test_exits test_on_demand.sh test_leftover.sh
mode "CPU without VHE, another frequency of the counter" "$vm/run.sh" --cpu cortex-a72 --require-protected \
	--clock-frequency 50000000 -- "$kselftest" test_guest test_exits test_hypercalls test_clock
mode "suspend" run_suspend hypervisor test
mode "newest CPU" "$vm/run.sh" --cpu max --require-protected -- \
	"$kselftest" test_guest test_exits test_hypercalls test_memory

echo "$passed passed, $failed failed"
((failed == 0))
