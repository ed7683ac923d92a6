#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run all suites, or the named ones: check.sh [SUITE]... A suite is a script that ends with the line
# "N passed, N failed"; the last line of this script is their sum. A suite that cannot run counts as one failure.
# FULL=1 adds what is slow and rarely breaks, the packages, and the flavours: hours; full.txt keeps the results.
# QUICK=1 runs what finds most mistakes in some minutes.

set -uo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")" || exit
. ./jobs.sh

suites=(
	unit/run.sh		# the host: ring, descriptors, clock, decoder, arguments
	lint/run.sh		# style, scripts, generated files
	modules/run.sh		# out of tree, against a stock kernel's headers
	files/run.sh		# the host: trace files, written, read and exported
	model/run.sh		# Spin, herd7 and CBMC: the ring, the barriers, arithmetic
	fuzz/run.sh		# the host: trace files that are changed; FULL=1: a million
	harden/short/run.sh	# the host: hostile hypercalls to EL2 as a program, and a protected guest's silence
	um/suite.sh		# the remote "test", in a kernel in user mode
	vm/suite.sh		# inside the machine, on the hypervisor
	vm/newest.sh		# the kernel side once more, on the newest series
	vm/modes.sh		# the machine in its other modes; FULL=1: without the hooks
)
# how many seconds they take; a suite of the machine adds a job for each boot
declare -A seconds=([unit]=280 [lint]=250 [modules]=300 [files]=150 [model]=200 [fuzz]=40 [harden]=40)
if (($#)); then
	suites=("$@")
elif [[ -n ${QUICK:-} ]]; then
	suites=(unit/run.sh lint/run.sh vm/suite.sh)
fi

# What was compiled before, from any clone, is not compiled again.
if [[ -d /usr/lib/ccache ]]; then
	export PATH=/usr/lib/ccache:$PATH CCACHE_BASEDIR=${CCACHE_BASEDIR:-$(git rev-parse --show-toplevel)} CCACHE_NOHASHDIR=1
fi

# Build first: a build uses all processors.
list=$(mktemp)
trap 'rm -f "$list"' EXIT
for suite in "${suites[@]}"; do
	if [[ $suite != [uv]m/* ]]; then
		BOOTS='' job "${seconds[${suite%%/*}]:-0}" "$suite" "./$suite"
	elif ! JOBS_FILE=$list "./$suite"; then
		job 0 "$suite" echo "it could not prepare its boots: see above"
	fi
done
mapfile -t -O "${#jobs[@]}" jobs <"$list"
if [[ -n ${FULL:-} ]]; then
	jobs_results=$PWD/full.txt
	job 0 packages/run.sh ./packages/run.sh
	job 0 vm/flavours.sh ./vm/flavours.sh
fi
jobs_run
