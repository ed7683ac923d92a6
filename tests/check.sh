#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run all suites, or the named ones: check.sh [SUITE]... A suite is a script that ends with the line
# "N passed, N failed"; the last line of this script is their sum. A suite that cannot run counts as one failure.
# FULL=1 adds the flavours, which take hours.

set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")" || exit

suites=(
	unit/run.sh		# the host: ring, descriptors, clock, decoder, arguments
	lint/run.sh		# style, scripts, generated files
	model/run.sh		# Spin and herd7: the ring, the barriers
	modules/run.sh		# out of tree, against a stock kernel's headers
	vm/suite.sh		# inside the machine, on the hypervisor
	vm/newest.sh		# the kernel side once more, on the newest series
	vm/modes.sh		# the machine in its other modes, and without the hooks
)
[[ -z ${FULL:-} ]] || suites+=(vm/flavours.sh)	# other configurations of the kernel
(($# == 0)) || suites=("$@")

log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0 summary=
for suite in "${suites[@]}"; do
	echo "=== $suite"
	start=$SECONDS code=0
	"./$suite" 2>&1 | tee "$log" || code=$?
	if [[ $(tail -n 1 "$log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		good=${BASH_REMATCH[1]} bad=${BASH_REMATCH[2]}
		if ((code && bad == 0)); then
			echo "=== $suite: its tests passed, but it ended with $code"
			bad=1
		fi
	else
		echo "=== $suite could not run: it ended with $code, without the line \"N passed, N failed\""
		good=0 bad=1
	fi
	((passed += good, failed += bad))
	summary+=$(printf '%-20s %4d passed, %3d failed, %4d s' "$suite" "$good" "$bad" $((SECONDS - start)))$'\n'
done
printf '\n%s' "$summary"
echo "$passed passed, $failed failed"
((failed == 0))
