#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run the kselftests whose result depends on what EL2 does again, on the newest kernel series, which the other compiler
# builds: clang, or gcc if LLVM=1 chose clang. FULL=1 runs all of them, the ynl tests and some tests of the command. The last
# line is "N passed, N failed".

unset KSRC
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$repo/tests/jobs.sh"

set_kernel ''
chosen=$series
[[ ${FLAVOUR:-} != llvm ]] || unset FLAVOUR
if [[ -n $llvm ]]; then unset LLVM; else export LLVM=1; fi
export KERNEL=newest
set_kernel ''
if [[ $series == "$chosen" ]]; then
	say "Linux $series is the newest series: vm/suite.sh runs on it"
else
	say "the newest series is Linux $series, built by $([[ -n $llvm ]] && echo clang || echo gcc)"
	"$vm/kernel.sh"
	"$vm/guest.sh" --tests
	# A kernel in user mode, of this series, runs the rest.
	set_own_tracer "$series"
	settings=(ROUNDS=70) suites=(ynl kselftest "${own_tracer[0]}")
	own_tracer+=(kselftest:test_{kernel_faults,kernel_rings,register} kselftest:kernel)
	of=(env KERNEL="$series" LLVM="${LLVM:-}" FLAVOUR="$flavour")
	! has_um || [[ -n ${FULL:-} ]] || settings+=(HYPTRACE_EL2_ONLY=1) suites=("${of_el2[@]}" "${own_tracer[@]}")
	job 150 newest "${of[@]}" "$vm/boot.sh" newest '' "${settings[@]}" -- "${suites[@]}" -- \
		--require-protected
	job 20 newest-nvhe "${of[@]}" "$vm/boot.sh" newest-nvhe '' HYPTRACE_UNPROTECTED=1 -- kselftest:test_modules.sh -- --mode nvhe
	[[ -z ${FULL:-} ]] || job 480 newest-bats "${of[@]}" "$vm/boot.sh" newest-bats '' "${settings[@]}" -- \
		bats:{watch/{host,stat,catch,who},remote/recorded}.bats -- --require-protected
fi
jobs_run
