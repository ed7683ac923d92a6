#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# How much of the project's EL2 code is executed by the tests? Boot a kernel that has all of it (flavour "coverage"), attack it,
# run the tests of EL2 in its modes, and list what was not reached: fail if that is more than 5 % of the instructions that
# can be. What cannot be reached, and why, is in the file "unreachable".
# coverage.sh DIR only reports on what other runs have collected: run.sh puts a file into DIR for each boot of a kernel, if the
# environment has HYPTRACE_COVERAGE=DIR. COVERAGE_BOOTS="NAME..." runs only these boots. The last line is "N passed, N failed".
#
# QEMU logs each block of code when it is first executed (run.sh), up to a branch. So an instruction counts as executed
# although an exception has ended its block before it.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

limit=95
export FLAVOUR=${FLAVOUR:-coverage}
set_kernel ''

passed=0 failed=0
# count NAME COMMAND...: run a boot, and count its tests
count()
{
	local name=$1
	shift
	[[ -z ${COVERAGE_BOOTS:-} || " $COVERAGE_BOOTS " == *" $name "* ]] || return 0
	echo "=== $name"
	"$@" 2>&1 | tee "$work/log" || true
	if [[ $(tail -n 1 "$work/log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		((passed += BASH_REMATCH[1], failed += BASH_REMATCH[2])) || true
	else
		echo "not ok - $name: it did not run to its end"
		((++failed))
	fi
}

# boot NAME [SETTING...] -- SUITE... -- [OPTION...]
boot()
{
	count "$1" "$vm/boot.sh" "$1" '' "${@:2}"
}

# ends NAME WORDS COMMAND [OPTION...]: the command, while all events are recorded and after a guest, ends in a reset of the
# machine, whose console then has these words.
ends()
{
	count "$1" ends_with "${@:2}"
}

ends_with()
{
	"$vm/run.sh" --timeout 200 --console "$work/console" "${@:3}" -- sh -c "modprobe hyptrace_pkvm && hyptrace enable all &&
		hyptrace start && workload && $2" || true
	if grep -aE "$1" "$work/console"; then
		echo "1 passed, 0 failed"
	else
		tail -n 40 "$work/console"
		echo "0 passed, 1 failed"
	fi
}

# All boots. The host of the last one is hostile.
boots()
{
	local panic="modprobe hyptrace_calls panics=1"
	boot tests HYPTRACE_EL2_ONLY=1 -- kselftest -- --require-protected
	boot functions -- bats:boot/{functions,pmu}.bats -- --require-protected
	boot full HYPTRACE_COUNTED_CALLS=20000000 TEST_TIMEOUT=2800 -- kselftest:test_full_counters -- --require-protected
	boot nvhe HYPTRACE_UNPROTECTED=1 HYPTRACE_EL2_ONLY=1 -- kselftest:test_{guest,exits,visits} -- --mode nvhe
	count suspend "$vm/modes.sh" suspend hyptrace_pkvm hypervisor
	ends panic "hyp_panic: vcpu=0" "$panic" --require-protected
	ends panic-filter "hyp_panic: vcpu=0" "hyptrace enable -F 'elr != 0' hyp_panic && $panic" --require-protected
	ends panic-full "[Hh]yp panic" "hyptrace reset && hyptrace load --mode discard --size 16K && hyptrace enable all &&
		hyptrace start && workload && $panic" --require-protected
	ends kept "hyptrace: .* outlive a reset" true --require-protected --reserve 5f000000:800000
	boot host HYPTRACE_HOSTILE_CALLS="${HYPTRACE_HOSTILE_CALLS:-300000}" HYPTRACE_HOSTILE_LIMIT_MS=60000 TEST_TIMEOUT=2800 \
		-- kselftest:test_host.sh -- --cpus 4 --require-protected
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if (($#)); then
	collected=$1
else
	# Another clone may build the same series, and remove the objects.
	(lock "kernel-$kernel" && "$vm/kernel.sh" && "$vm/coverage.py" keep "$build" "$out/coverage")
	"$vm/rootfs.sh"
	"$vm/guest.sh" --tests
	export HYPTRACE_COVERAGE=${HYPTRACE_COVERAGE:-$work/collected}
	collected=$HYPTRACE_COVERAGE
	mkdir -p "$collected"
	boots
fi
mapfile -t files < <(find "$collected" -type f -name "${out##*/}.*" -size +0 | sort)
((${#files[@]})) || die "$collected has nothing of the kernel ${out##*/}"
if "$vm/coverage.py" report "$out/coverage" "$limit" "${files[@]}"; then
	echo "ok - at least $limit % of the instructions of EL2 that can be executed were"
	((++passed))
else
	echo "not ok - at least $limit % of the instructions of EL2 that can be executed were"
	((++failed))
fi
echo "$passed passed, $failed failed"
((failed == 0))
