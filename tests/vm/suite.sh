#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Build and boot the machine and run the suites in it, or only the named ones: suite.sh [kselftest|bats|ynl]...
# BOOTS="NAME..." runs only these boots; the calls of boot below have the names. QUICK=1 runs one short boot instead.
# The last line is "N passed, N failed".

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$repo/tests/jobs.sh"

set_kernel ''
(($#)) || set -- kselftest bats ynl
chosen=" $* "
"$vm/kernel.sh"
"$vm/rootfs.sh"
"$vm/guest.sh" --tests

# boot SECONDS NAME REFUSED [SETTING...] -- SUITE... -- [OPTION...]: add a boot with those of its suites that are chosen
boot()
{
	local seconds=$1 name=$2 line=("$2" "$3") suites=()
	shift 3
	while [[ $1 != -- ]]; do line+=("$1") && shift; done
	line+=("$1")
	shift
	while [[ $1 != -- ]]; do
		[[ $chosen != *" ${1%%:*} "* ]] || suites+=("$1")
		shift
	done
	((${#suites[@]})) || return 0
	job "$seconds" "$name" env KERNEL="$series" "$vm/boot.sh" "${line[@]}" "${suites[@]}" "$@"
}

if [[ -n $unpatched ]]; then
	boot 0 unpatched 'hooks.*CONFIG_HYPTRACE_PKVM' -- ynl kselftest --
	jobs_run
	exit
fi
if [[ -n ${QUICK:-} ]]; then
	boot 0 quick '' REMOTE=hypervisor -- kselftest:test_control kselftest:test_read kselftest:test_guest \
		bats:remote/stream.bats bats:remote/state.bats -- --require-protected
	jobs_run
	exit
fi
# um/suite.sh runs the tests of the remote "test" in a kernel in user mode. What is left of them here is what such a kernel
# cannot do, CPU hotplug, and what depends on the kernel series. FULL=1 runs all of them here, too.
el2_only=() anywhere=(ynl)
# The boot "protected" loads and unloads the modules more often.
few=(ROUNDS=70)
if has_um && [[ -z $flavour && -z ${FULL:-} ]]; then
	el2_only=(HYPTRACE_EL2_ONLY=1) anywhere=()
	boot 60 bats-test '' REMOTE=test -- bats:remote/hotplug.bats -- --require-protected
fi
# FULL=1 looks for the outliers of catch among more calls, and writes more events.
calls=() storm=2000000
[[ -z ${FULL:-} ]] || calls=(HYPTRACE_CALLS=1000000) storm=10000000
for share in 1 2 3; do
	boot 600 "bats-$share" '' "${el2_only[@]}" "${calls[@]}" BATS_SHARE="$share/3" -- bats -- --require-protected
done
# Watch the readers of an idle ring longer than the default. A kernel that checks itself takes long for some tests.
patience=()
[[ $flavour != debug ]] || patience=(TEST_TIMEOUT=1800)
boot 280 protected '' HYPTRACE_IDLE_S=4 "${patience[@]}" -- "${anywhere[@]}" kselftest -- --require-protected
boot 60 memory '' REMOTE=hypervisor -- bats:memory/sizes.bats -- --mem 1536 --require-protected
# 10 million events, from two CPUs
[[ -z ${FULL:-} ]] ||
	boot 60 record '' REMOTE=hypervisor HYPTRACE_RECORD_MARKS=5000000 -- bats:remote/recorded.bats -- --require-protected
# A hostile host, whose calls may take longer than a second on a busy machine.
boot 70 storm '' HYPTRACE_STORM_EVENTS=$storm HYPTRACE_HOSTILE_LIMIT_MS=60000 -- \
	kselftest:test_storm kselftest:test_host.sh -- --cpus 4 --require-protected
# a CPU without VHE and without LSE atomics
boot 60 cortex-a72 '' "${el2_only[@]}" "${few[@]}" -- "${of_el2[@]}" -- --cpu cortex-a72 --require-protected
boot 60 nvhe '' HYPTRACE_UNPROTECTED=1 "${el2_only[@]}" "${few[@]}" -- "${of_el2[@]}" -- --mode nvhe
# The remote "test" is all that is left here.
vhe=(kselftest)
((!${#el2_only[@]})) || vhe=(kselftest:test_{modules.sh,control,read,mmap,unrest})
boot 20 vhe VHE -- "${vhe[@]}" -- --mode vhe
((${#jobs[@]})) || [[ -n ${BOOTS:-} ]] || die "no boot has the suite $*: run tests/um/suite.sh"
jobs_run
