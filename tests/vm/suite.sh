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

# What a boot sets for its tests
settings=()

# boot NAME REFUSED OPTION...: run $wanted in a machine of that kind, where hyptrace_pkvm must refuse for that reason.
# What it counted goes to a file of its own, which says that it failed until it has ended.
boot()
{
	local name=$1 refused=$2 passed=0 failed=0 code=0 last
	local said=$share/$name.${wanted[0]%%:*}
	local count=$said.count
	shift 2
	[[ -z ${BOOTS:-} || " $BOOTS " == *" $name "* ]] || return 0
	echo "0 1" >"$count"
	echo "=== boot $name: ${wanted[*]}"
	"$vm/run.sh" --share "$share" --timeout 3000 --console "$said.console" "$@" -- \
		env HYPTRACE_REFUSED="$refused" "${settings[@]}" /mnt/repo/tests/vm/suite-inside.sh "${wanted[@]}" 2>&1 |
		tee "$said" || code=$?
	last=$(grep -aE '^[0-9]+ passed, [0-9]+ failed$' "$said" | tail -n 1) || true
	if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		passed=${BASH_REMATCH[1]} failed=${BASH_REMATCH[2]}
		if ((code && failed == 0)); then
			echo "not ok # boot $name: the tests passed but the machine failed ($code): see above"
			failed=1
		fi
	else
		echo "not ok # boot $name: it did not get to its end ($code)"
		failed=1
	fi
	echo "$passed $failed" >"$count"
}

# A machine keeps one core busy: two at a time. The command in one, the contract in others.
command_lane()
{
	! suites_among bats || boot protected '' --require-protected
}

contract_lane()
{
	# for how long readers of an idle ring are watched
	settings=(HYPTRACE_IDLE_S=10)
	! suites_among kselftest ynl || boot protected '' --require-protected
	settings=()
	if suites_among bats; then
		wanted=(bats:memory/sizes.bats)
		boot memory '' --mem 1536 --require-protected
	fi
	suites_among kselftest || return 0
	wanted=(kselftest:test_storm)
	settings=(HYPTRACE_STORM_EVENTS=10000000)
	boot storm '' --cpus 4 --require-protected
	wanted=(kselftest) settings=()
	# nVHE without VHE, and without LSE atomics
	boot cortex-a72 '' --cpu cortex-a72 --require-protected
	boot nvhe '' --mode nvhe
	boot vhe 'VHE' --mode vhe
}

if [[ -n $unpatched ]]; then
	! suites_among kselftest ynl || boot unpatched 'hooks.*CONFIG_HYPTRACE_PKVM'
else
	command_lane >"$share/command" 2>&1 &
	contract_lane
	wait
	cat "$share/command"
fi
awk '{ passed += $1; failed += $2 } END { printf "%d passed, %d failed\n", passed, failed
	exit failed || !passed }' "$share"/*.count
