#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# How much of the project's EL2 code is executed by the tests? Boot a kernel that has all of it (flavour "coverage"), attack it,
# run the tests of EL2 in its modes, and list what was not reached: fail if that is more than 5 % of the instructions.
# coverage.sh DIR only reports on what other runs have collected: run.sh puts a file into DIR for each boot of a kernel, if the
# environment has HYPTRACE_COVERAGE=DIR. The last line is "N passed, N failed".
#
# QEMU logs each block of code when it is first executed (run.sh), up to a branch. So an instruction counts as executed
# although an exception has ended its block before it. What cannot be reached, and why, is in the file "unreachable".

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

limit=95
export FLAVOUR=${FLAVOUR:-coverage}
set_kernel ''

passed=0 failed=0
# count WHAT LOG: add the tests of a boot
count()
{
	if [[ $(tail -n 1 "$2") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		((passed += BASH_REMATCH[1], failed += BASH_REMATCH[2])) || true
	else
		echo "not ok - $1: it did not run to its end"
		((++failed))
	fi
}

# boot NAME [SETTING...] -- SUITE... -- [OPTION...]
boot()
{
	local name=$1
	shift
	[[ -z ${BOOTS:-} || " $BOOTS " == *" $name "* ]] || return 0
	echo "=== $name"
	"$vm/boot.sh" "$name" '' "$@" 2>&1 | tee "$work/log" || true
	count "$name" "$work/log"
}

# reset NAME COMMAND [OPTION...]: the command, with all events enabled, ends in a reset of the machine
reset()
{
	[[ -z ${BOOTS:-} || " $BOOTS " == *" $1 "* ]] || return 0
	echo "=== $1"
	"$vm/run.sh" --timeout 100 "${@:3}" -- sh -c "modprobe hyptrace_pkvm && hyptrace enable all && hyptrace start && workload && $2" \
		>"$work/log" 2>&1 || true
	tail -n 40 "$work/log"
}

if (($#)); then
	collected=$1
else
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	"$vm/kernel.sh"
	"$vm/rootfs.sh"
	"$vm/guest.sh" --tests
	collected=$work/collected
	mkdir "$collected"
	export HYPTRACE_COVERAGE=$collected
	boot host HYPTRACE_HOSTILE_CALLS=100000 HYPTRACE_HOSTILE_LIMIT_MS=60000 -- kselftest:test_host.sh -- --cpus 4 --require-protected
	boot tests HYPTRACE_EL2_ONLY=1 -- kselftest bats:boot/{functions,pmu}.bats bats:watch/{hypervisor,count,strace}.bats -- --require-protected
	boot nvhe HYPTRACE_UNPROTECTED=1 HYPTRACE_EL2_ONLY=1 -- kselftest:test_{guest,exits,visits} -- --mode nvhe
	reset panic "modprobe hyptrace_calls panics=1"
	reset kept "true" --reserve 5f000000:800000
fi
mapfile -t files < <(find "$collected" -type f -name "${out##*/}.*" -size +0 | sort)
((${#files[@]})) || die "$collected has nothing of the kernel ${out##*/}"
if "$vm/coverage.py" "$build" "$limit" "${files[@]}"; then
	echo "ok - at least $limit % of the instructions of EL2 were executed"
	((++passed))
else
	echo "not ok - at least $limit % of the instructions of EL2 were executed"
	((++failed))
fi
echo "$passed passed, $failed failed"
((failed == 0))
