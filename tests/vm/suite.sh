#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The suites that run in the machine: build what they need, boot, run them. With names, only these:
# suite.sh [kselftest|bats|ynl]... BOOTS chooses among the machines, by their names below.
#
# Its last line is "N passed, N failed", which includes that of the machine itself: its kernel must not complain.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

set_kernel ''
(($#)) || set -- kselftest bats ynl
suites=("$@")
"$vm/kernel.sh"
"$vm/rootfs.sh"
"$vm/guest.sh" --tests

# the kernel tree's YNL client, for those who need it
share=$(mktemp -d)
trap 'rm -rf "$share"' EXIT
cp -r "$tree/tools/net/ynl" "$share/"

passed=0 failed=0

# suites_among NAME...: those of the suites that are to run, in $wanted
suites_among()
{
	local suite
	wanted=()
	for suite in "$@"; do
		[[ " ${suites[*]} " != *" $suite "* ]] || wanted+=("$suite")
	done
	((${#wanted[@]}))
}

# boot NAME REFUSED OPTION...: run $wanted in a machine of that kind, where hyptrace_pkvm must refuse for that reason
boot()
{
	local name=$1 refused=$2 code=0 last
	shift 2
	[[ -z ${BOOTS:-} || " $BOOTS " == *" $name "* ]] || return 0
	echo "=== boot $name: ${wanted[*]}"
	"$vm/run.sh" --share "$share" --timeout 1800 --console "$share/console" "$@" -- \
		env HYPTRACE_REFUSED="$refused" /mnt/repo/tests/vm/suite-inside.sh "${wanted[@]}" 2>&1 |
		tee "$share/said" || code=$?
	last=$(grep -aE '^[0-9]+ passed, [0-9]+ failed$' "$share/said" | tail -n 1) || true
	if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		((passed += BASH_REMATCH[1], failed += BASH_REMATCH[2])) || true
		if ((code && BASH_REMATCH[2] == 0)); then
			echo "not ok # boot $name: the tests passed but the machine failed ($code): see above"
			((++failed))
		fi
	else
		echo "not ok # boot $name: it did not get to its end ($code)"
		((++failed))
	fi
}

all=(kselftest bats ynl)
if [[ -n $unpatched ]]; then
	suites_among kselftest ynl && boot unpatched 'hooks.*CONFIG_HYPTRACE_PKVM'
else
	suites_among "${all[@]}" && boot protected '' --require-protected
	# nVHE without VHE, and without LSE atomics
	suites_among kselftest && boot cortex-a72 '' --cpu cortex-a72 --require-protected
	suites_among kselftest && boot nvhe '' --mode nvhe
	suites_among kselftest && boot vhe 'VHE' --mode vhe
fi
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
