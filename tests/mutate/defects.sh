#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Put defects of other tracers into hyptrace, one at a time, and check that a test finds each: defects.sh [NAME]... runs
# defects/NAME.patch. Its line "Red: KIND TEST" names the test, which must fail with the patch and pass without it:
#
#   unit TEST [SETTING]	a program of tests/unit; it must build
#   build TEST: TEXT	the same program must not build, and the compiler says TEXT
#   litmus TEST		a litmus test of tests/model; it must find what it forbids; left out without herd7
#   lint CHECK		a check of tests/lint
#   um TEST		a kselftest in the kernel in user mode, which tests/um/build.sh has built; left out where there is none
#
# A patch that does not apply any more is a failure. The last line is "N passed, N failed".
#
# Some defects have no counterpart here:
# - Page addresses that are not aligned are accepted: the host gives numbers of pages, not addresses.
#
# Without a patch: a remote that cannot be unregistered. With such a defect the kernel in user mode hangs.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
. tests/vm/lib.sh
. tests/jobs.sh
set +e

work=$(mktemp -d)
trap '[[ ! -e $work/um/.machine ]] || tests/mutate/machine.sh end "$work/um" 2>/dev/null; rm -rf "$work"' EXIT

# red_of PATCH: print the test that must fail
red_of()
{
	sed -n 's/^Red: //p;/^---/q' "$1"
}

# copy_to FOLDER
copy_to()
{
	mkdir -p "$1"
	git ls-files -z -co --exclude-standard | tar --null -T - -c | tar -x -C "$1"
}

# run_test TREE KIND TEST [ARGUMENT]...: 0 the test passes, 1 it fails, 2 it cannot run, 3 something is missing for it. A test
# that fails has said what is wrong, or the kernel has: a machine that does not boot finds nothing.
run_test()
{
	local tree=$1 kind=$2 test=${3%:} code wrong='^not ok'
	case $kind in
	unit)
		make --no-print-directory -s -C "$tree/tests/unit" "$test" || return 2
		# a test that hangs with the patch has ended in time without it
		wrong='\[  FAILED|Sanitizer|runtime error|Assertion|\.c:[0-9]+: failed: |^not ok - [a-z_]+: [a-z_]+ hangs: '
		env "${@:4}" LIMIT=60 "$tree/tests/unit/run.sh" "$test" >"$tree/said" 2>&1
		;;
	build)
		make --no-print-directory -s -C "$tree/tests/unit" "$test" >"$tree/said" 2>&1 && return 0
		grep -F "${*:4}" "$tree/said" || { cat "$tree/said" && return 2; }
		return 1
		;;
	litmus)
		"$tree/tests/model/litmus.sh" "$test" >"$tree/said"
		! grep -q '^skip' "$tree/said" || return 3
		grep -q '^ok' "$tree/said" && ! grep -q '^not ok' "$tree/said"
		;;
	lint) "$tree/tests/lint/run.sh" "$test" >"$tree/said" 2>&1 ;;
	um)
		tests/mutate/machine.sh modules "$tree" || return 2
		wrong='^not ok [0-9]+ |Kernel panic|BUG: |WARNING: |invoked oom-killer'
		tests/mutate/machine.sh test "$tree" TEST_TIMEOUT=60 -- "kselftest:$test" >"$tree/said" 2>&1
		;;
	*) return 2 ;;
	esac
	code=$?
	cat "$tree/said"
	((code)) || return 0
	((code != 2)) && grep -qE "$wrong" "$tree/said" && return 1
	return 2
}

not_ok()
{
	sed 's/^/# /' "$log" | tail -n 30
	echo "not ok - $1"
	((++failed))
}

count()
{
	echo "tried: $((passed + failed)) defects"
	echo "$passed passed, $failed failed"
}

# check NAME TREE: apply the patch to the tree, and run its test
check()
{
	local patch=$repo/tests/mutate/defects/$1.patch red start=$SECONDS
	read -ra red < <(red_of "$patch")
	if ! patch -d "$2" -p1 -s -F 0 <"$patch" >"$log" 2>&1; then
		not_ok "$1: the patch does not apply"
		return
	fi
	run_test "$2" "${red[@]}" >"$log" 2>&1
	case $? in
	0) not_ok "$1: ${red[*]:0:2} does not find it" ;;
	1)
		echo "ok - $1: ${red[*]:0:2} finds it ($((SECONDS - start)) s)"
		((++passed))
		;;
	*) not_ok "$1: ${red[*]:0:2} cannot run" ;;
	esac
}

# must_pass NAME: with no defect in the tree, its test passes. Each test runs once.
declare -A good=()
must_pass()
{
	local red code
	read -ra red < <(red_of "tests/mutate/defects/$1.patch")
	if [[ -n ${good[${red[*]}]:-} ]]; then
		((good[${red[*]}] == 1)) || echo "skip - $1: ${red[*]:0:2} did not pass, or was left out"
		return "$((${good[${red[*]}]} - 1))"
	fi
	run_test "$2" "${red[@]}" >"$log" 2>&1
	code=$?
	good[${red[*]}]=$((code ? 2 : 1))
	case $code in
	0) ;;
	3) echo "skip - $1: $(sed -n 's/^skip[^a-z]*//p' "$log")" ;;
	*) not_ok "$1: ${red[*]:0:2} fails without the defect" ;;
	esac
	return "$((${good[${red[*]}]} - 1))"
}

names=("$@")
if ((!$#)); then
	names=(tests/mutate/defects/*.patch)
	names=("${names[@]##*/}")
	names=("${names[@]%.patch}")
fi
on_host=() in_um=()
for name in "${names[@]}"; do
	[[ -f tests/mutate/defects/$name.patch ]] || { echo "there is no defect \"$name\"" >&2 && exit 1; }
	if [[ $(red_of "tests/mutate/defects/$name.patch") == um\ * ]]; then in_um+=("$name"); else on_host+=("$name"); fi
done

on_host()
{
	local log=$work/log.host name passed=0 failed=0
	copy_to "$work/good"
	git -C "$work/good" init -q && git -C "$work/good" add -A
	for name in "${on_host[@]}"; do
		must_pass "$name" "$work/good" || continue
		# the objects come along: only what a patch changes is compiled again
		rm -rf "$work/bad"
		cp -a "$work/good" "$work/bad"
		check "$name" "$work/bad"
	done
	count
}

in_um()
{
	local log=$work/log.um name passed=0 failed=0
	copy_to "$work/um"
	if has_um && tests/mutate/machine.sh begin "$work/um"; then
		for name in "${in_um[@]}"; do
			must_pass "$name" "$work/um" || continue
			check "$name" "$work/um"
			patch -d "$work/um" -p1 -s -R <"tests/mutate/defects/$name.patch"
		done
	else
		echo "skip - ${in_um[*]}: there is no kernel in user mode: run tests/um/build.sh"
	fi
	count
}

((${#on_host[@]} == 0)) || job 60 on-host on_host
((${#in_um[@]} == 0)) || job 300 in-user-mode in_um
jobs_run
