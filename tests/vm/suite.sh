#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Build and boot the machine and run the suites in it, or only the named ones: suite.sh [kselftest|bats|ynl]...
# BOOTS="NAME..." runs only these boots; the calls of boot below have the names.
#
# The last line is "N passed, N failed". A boot counts as failed also if its kernel complains.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

set_kernel ''
(($#)) || set -- kselftest bats ynl
suites=("$@")
"$vm/kernel.sh"
"$vm/rootfs.sh"
"$vm/guest.sh" --tests

# Share the kernel tree's YNL client with the machine, for the suite ynl.
share=$(mktemp -d)
trap 'rm -rf "$share"' EXIT
cp -r "$tree/tools/net/ynl" "$share/"

# suites_among NAME...: set $wanted to the named suites that are to run. Succeed if there are any.
suites_among()
{
	local suite
	wanted=()
	for suite in "$@"; do
		[[ " ${suites[*]} " != *" $suite "* ]] || wanted+=("$suite")
	done
	((${#wanted[@]}))
}

# variables that a boot sets for its tests
settings=()

# boot NAME REFUSED OPTION...: run $wanted in a machine with these options. If REFUSED is not empty, hyptrace_pkvm must
# refuse to load with this reason. Write the counts to a file. Until the boot has ended, that file counts one failure.
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
			echo "not ok # boot $name: the tests passed, but the machine failed with $code: see above"
			failed=1
		fi
	else
		echo "not ok # boot $name: the suites did not run to their end, the machine ended with $code"
		failed=1
	fi
	echo "$passed $failed" >"$count"
}

# A machine keeps one core busy, so run two at a time: one for the command (bats), others for the driver.
command_lane()
{
	settings=(BATS_SHARE=rest)
	! suites_among bats || boot protected '' --require-protected
	settings=()
	! suites_among bats:host.bats bats:remote/record.bats bats:remote/recorded.bats ||
		boot protected '' --require-protected
}

driver_lane()
{
	# Watch the readers of an idle ring longer than the default.
	settings=(HYPTRACE_IDLE_S=10)
	! suites_among kselftest ynl || boot protected '' --require-protected
	settings=()
	if suites_among bats; then
		wanted=(bats:memory/sizes.bats)
		boot memory '' --mem 1536 --require-protected
		# 10 million events, from two CPUs
		wanted=(bats:remote/recorded.bats)
		settings=(REMOTE=hypervisor HYPTRACE_RECORD_MARKS=5000000)
		boot record '' --require-protected
		wanted=(bats) settings=(BATS_SHARE=quarter)
		boot quarter '' --require-protected
		settings=()
	fi
	suites_among kselftest || return 0
	wanted=(kselftest:test_storm)
	settings=(HYPTRACE_STORM_EVENTS=10000000)
	boot storm '' --cpus 4 --require-protected
	wanted=(kselftest) settings=()
	# a CPU without VHE and without LSE atomics
	boot cortex-a72 '' --cpu cortex-a72 --require-protected
	settings=(HYPTRACE_UNPROTECTED=1)
	boot nvhe '' --mode nvhe
	settings=()
	boot vhe 'VHE' --mode vhe
}

if [[ -n $unpatched ]]; then
	! suites_among kselftest ynl || boot unpatched 'hooks.*CONFIG_HYPTRACE_PKVM'
else
	command_lane >"$share/command" 2>&1 &
	driver_lane
	wait
	cat "$share/command"
fi
if [[ -d $share/recorded ]]; then
	echo "=== recorded files, on the host"
	echo "0 1" >"$share/recorded.count"
	"$repo/tests/files/recorded.sh" "$share/recorded" 2>&1 | tee "$share/recorded.said" || true
	sed -nE '$s/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$share/recorded.said" >"$share/recorded.result"
	[[ ! -s $share/recorded.result ]] || mv "$share/recorded.result" "$share/recorded.count"
fi
awk '{ passed += $1; failed += $2 } END { printf "%d passed, %d failed\n", passed, failed
	exit failed || !passed }' "$share"/*.count
