#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A hostile host against the real EL2, under emulation: a million hypercalls from four CPUs, by a module, while plain and
# protected guests run, and some more while the machine sleeps and wakes. The newest kernel, unless KERNEL= or KSRC= chooses another:
# Linux 6.12 has no protected guests. The part that runs in the machine says what is checked: kselftest/hostile/test_host.sh.
# LIMIT_MS= is how long a call may take: more than a second if other programs keep the CPUs of this machine busy.

protected=
[[ -n ${KERNEL:-}${KSRC:-} ]] || export KERNEL=newest LLVM=1 protected=y
. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"
. "$repo/tests/jobs.sh"

seed=${SEED:-1} times=${TIMES:-100} limit_ms=${LIMIT_MS:-1000}

"$vm/kernel.sh"
"$vm/guest.sh" --tests
job 150 host "$vm/boot.sh" host '' TEST_TIMEOUT="${LIMIT:-1800}" HYPTRACE_HOSTILE_SEED="$seed" \
	HYPTRACE_HOSTILE_LIMIT_MS="$limit_ms" HYPTRACE_HOSTILE_CALLS=$((10000 * times)) \
	HYPTRACE_PROTECTED_GUESTS="$protected" -- kselftest:test_host.sh -- \
	--cpus 4 --require-protected
# enough calls for a suspend
job 30 suspend "$vm/modes.sh" suspend \
	"hyptrace_hostile seed=$seed calls=$((400 * (times > 25 ? times : 25))) limit_ms=$limit_ms" --hostile
# one after the other: a call must not take long
jobs_most=1
jobs_run
