#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The machine in its other modes: where there is a hypervisor it is traced, where there is none, or it lacks the hooks,
# hyptrace_pkvm refuses and says why. Ends with "N passed, N failed".

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/console.sh"

kselftest=/mnt/repo/tests/kselftest/run.sh
programs=/usr/local/libexec/hyptrace-kselftest
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

# suspended REMOTE...: a machine that switches itself off, and tells on the console how it went
suspended()
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

mode "a kernel without the hooks" env HYPTRACE_UNPATCHED=1 "$vm/run.sh" -- \
	env HYPTRACE_REFUSED="no hooks" "$kselftest" test_modules.sh test_read
mode "the kernel as its own hypervisor (VHE)" "$vm/run.sh" --mode vhe -- \
	env HYPTRACE_REFUSED="no hypervisor to trace" "$kselftest" test_modules.sh
mode "not protected, the hypervisor on demand" "$vm/run.sh" --mode nvhe --append kvm.enable_virt_at_load=0 -- \
	"$kselftest" test_modules.sh test_guest test_on_demand.sh test_leftover.sh
mode "a CPU without VHE, another clock frequency" "$vm/run.sh" --cpu cortex-a72 --require-protected \
	--clock-frequency 50000000 -- "$kselftest" test_guest test_clock
mode "suspended" suspended hypervisor test
mode "the newest CPU" "$vm/run.sh" --cpu max --require-protected -- "$kselftest" test_guest

echo "$passed passed, $failed failed"
((failed == 0))
