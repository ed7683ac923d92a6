#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Test the functions of EL2, and what the PMU counts, on a kernel of any flavour that has both. FULL=1 makes 100,000 random
# hypercalls on 4 CPUs, 10,000 toggles under load, and 100 delays. The last line is "N passed, N failed".

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$repo/tests/jobs.sh"

unset BOOTS
settings=() machine=()
if [[ -n ${FULL:-} ]]; then
	export HYPTRACE_TOGGLES=10000 HYPTRACE_STORM_BATCHES=100
	settings=(BATS_FILE_TIMEOUT=2800 HYPTRACE_DELAYS=100 HYPTRACE_RANDOM_CALLS=25000 HYPTRACE_TOGGLES=10000 HYPTRACE_STORM_BATCHES=100)
	machine=(--cpus 4 --mem 2048)
fi
job 120 functions "$vm/boot.sh" functions '' "${settings[@]}" -- bats:boot/{functions,pmu}.bats -- "${machine[@]}" --require-protected
job 120 functions-nvhe "$vm/boot.sh" functions-nvhe '' HYPTRACE_UNPROTECTED=1 "${settings[@]}" -- bats:boot/functions.bats -- \
	--mode nvhe
job 60 text "$repo/tests/blackbox/text.sh"
jobs_run
