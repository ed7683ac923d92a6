#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run all suites, or the named ones: check.sh [SUITE]... A suite is a script that ends with the line
# "N passed, N failed"; the last line of this script is their sum. A suite that cannot run counts as one failure.
# FULL=1 adds the flavours, which take hours, and fuzzes longer.

set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")" || exit

suites=(
	unit/run.sh		# the host: ring, descriptors, clock, decoder, arguments
	lint/run.sh		# style, scripts, generated files
	modules/run.sh		# out of tree, against a stock kernel's headers
	files/run.sh		# the host: trace files, written, read and exported
	model/run.sh		# Spin and herd7: the ring, the barriers
	fuzz/run.sh		# the host: trace files that are changed; FULL=1: a million
	vm/suite.sh		# inside the machine, on the hypervisor
	vm/newest.sh		# the kernel side once more, on the newest series
	vm/modes.sh		# the machine in its other modes, and without the hooks
)
[[ -z ${FULL:-} ]] || suites+=(vm/flavours.sh)	# other configurations of the kernel
(($# == 0)) || suites=("$@")

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
passed=0 failed=0 summary=

# log_of SUITE
log_of()
{
	echo "$logs/${1//\//-}"
}

# run_suite SUITE: print what it prints, and keep that, its exit code and its time in files
run_suite()
{
	local log start=$SECONDS
	log=$(log_of "$1")
	"./$1" 2>&1 | tee "$log"
	echo "${PIPESTATUS[0]} $((SECONDS - start))" >"$log.end"
}

# count_suite SUITE: count its tests
count_suite()
{
	local suite=$1 log code=1 seconds=0 good=0 bad=1
	log=$(log_of "$suite")
	[[ ! -f $log.end ]] || read -r code seconds <"$log.end"
	if [[ $(tail -n 1 "$log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		good=${BASH_REMATCH[1]} bad=${BASH_REMATCH[2]}
		if ((code && bad == 0)); then
			echo "=== $suite: its tests passed, but it ended with $code"
			bad=1
		fi
	else
		echo "=== $suite could not run: it ended with $code, without the line \"N passed, N failed\""
	fi
	((passed += good, failed += bad))
	summary+=$(printf '%-20s %4d passed, %3d failed, %4d s' "$suite" "$good" "$bad" "$seconds")$'\n'
}

# A suite of the host uses one processor: run two at a time. A suite of the machine uses all, so it runs alone.
running=0
for suite in "${suites[@]}"; do
	[[ $suite != vm/* ]] || continue
	((running < 2)) || { wait -n; ((--running)); }
	echo "=== $suite begins"
	run_suite "$suite" >/dev/null &
	((++running))
done
wait
for suite in "${suites[@]}"; do
	echo "=== $suite"
	if [[ $suite == vm/* ]]; then
		run_suite "$suite"
	else
		cat "$(log_of "$suite")"
	fi
	count_suite "$suite"
done

printf '\n%s' "$summary"
echo "$passed passed, $failed failed"
((failed == 0))
