#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Boot the machine and run suites in it: boot.sh NAME REFUSED SETTING... -- SUITE... -- OPTION... The settings are
# variables for the tests, the options those of run.sh. If REFUSED is not empty, hyptrace_pkvm must refuse to load with
# this reason. RUN is another script than vm/run.sh that starts a machine. The last line is "N passed, N failed". A boot fails also if its kernel complains.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

name=$1 refused=$2
shift 2
settings=() suites=()
while [[ $1 != -- ]]; do settings+=("$1") && shift; done
shift
while [[ $1 != -- ]]; do suites+=("$1") && shift; done
shift

set_kernel ''
share=$(mktemp -d)
trap 'rm -rf "$share"' EXIT
# Share the kernel tree's YNL client with the machine, for the suite ynl.
[[ " ${suites[*]} " != *" ynl "* ]] || cp -r "$tree/tools/net/ynl" "$share/"

passed=0 failed=0
# count CODE FILE: add the results in the last such line of the file
count()
{
	local last
	last=$(grep -aE '^[0-9]+ passed, [0-9]+ failed$' "$2" | tail -n 1) || true
	if [[ ! $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		echo "not ok # boot $name: the tests did not run to their end; they ended with $1"
		((++failed))
		return
	fi
	((passed += BASH_REMATCH[1], failed += BASH_REMATCH[2])) || true
	if (($1 && BASH_REMATCH[2] == 0)); then
		echo "not ok # boot $name: the tests passed, but the machine failed with $1: see above"
		((++failed))
	fi
}

code=0
"${RUN:-$vm/run.sh}" --share "$share" --timeout 3000 "$@" -- env HYPTRACE_REFUSED="$refused" FULL="${FULL:-}" "${settings[@]}" \
	/mnt/repo/tests/vm/suite-inside.sh "${suites[@]}" 2>&1 | tee "$share/said" || code=$?
count "$code" "$share/said"
if [[ -d $share/recorded ]]; then
	echo "=== recorded files, on the host"
	code=0
	"$repo/tests/files/recorded.sh" "$share/recorded" 2>&1 | tee "$share/said" || code=$?
	count "$code" "$share/said"
fi
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
