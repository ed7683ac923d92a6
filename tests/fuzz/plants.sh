#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Does the fuzzer find bugs? plants.sh [NAME]... puts a bug in each kind of reader (plants/NAME.patch), and lets a target of
# libFuzzer look for it from some files of corpus/ on: a patch has lines "Target: ", "Seeds: " and, for the target "verbs",
# "Verb: ". It must be found within RUNS files (20000), and without the bug none of the files that found it may fail. SEED=N
# takes other files. All bugs are built at once: $PLANTED names the one that is there. The last line is "N passed, N failed".

set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
. "$here/../jobs.sh"
runs=${RUNS:-20000} seed=${SEED:-1}
# where run.sh builds, without the bugs
good=${BIN:-$here/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Only what the patches change is compiled again: the others are older than what was made of them.
build()
{
	local patch
	make -s -j 2 -C "$here" O="$good" || return
	mkdir "$work/src"
	cp -a "$here/../../tools" "$here/../../uapi" "$work/src" && cp -a "$good" "$work/bin" || return
	for patch in "$here"/plants/*.patch; do
		patch -d "$work/src" -p1 -s -F 0 <"$patch" || { echo "not ok - ${patch##*/} does not apply" && return 1; }
	done
	make -s -j 2 -C "$here" O="$work/bin" SRC="$work/src" FUZZ_CC="${FUZZ_CC:-clang} -include $here/plants/plant.h" || return
	echo "note: the planted bugs are built"
}

# value_of KEY PATCH
value_of()
{
	sed -n "s/^$1: //p;/^---/q" "$2"
}

not_ok()
{
	echo "not ok - $1"
	return 1
}

# check NAME: is it found?
check()
{
	local name=$1 patch=$here/plants/$1.patch target pattern found start=$SECONDS patterns files=() crashes=()
	target=$(value_of Target "$patch")
	read -ra patterns < <(value_of Seeds "$patch")
	for pattern in "${patterns[@]}"; do
		# shellcheck disable=SC2206 # it is a pattern
		files+=("$here"/corpus/$pattern.zst)
	done
	mkdir -p "$work/$name/found"
	put_seeds "$target" "$work/$name/seeds" "${files[@]}" || { not_ok "$name: no seeds"; return; }
	FUZZ_VERB=$(value_of Verb "$patch")
	export FUZZ_VERB
	if ! bin=$work/bin PLANTED=$name fuzz_once "$target" "$seed" 1 "$work/$name/seeds"/* >"$work/$name/log" 2>&1; then
		not_ok "$name: a file to begin with has it already, so nothing is to be found"
		return
	fi
	bin=$work/bin PLANTED=$name fuzz_once "$target" "$seed" "$runs" -artifact_prefix="$work/$name/" \
		"$work/$name/found" "$work/$name/seeds" >"$work/$name/log" 2>&1
	crashes=("$work/$name"/{crash,leak,timeout,oom}-*)
	if ((${#crashes[@]} == 0)); then
		tail -n 3 "$work/$name/log"
		not_ok "$name: not found in $target after $runs files"
		return
	fi
	found=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$name/log" | tail -n 1)
	if ! bin=$good fuzz_once "$target" "$seed" 1 "${crashes[0]}" >"$work/$name/good" 2>&1; then
		tail -n 20 "$work/$name/good"
		cp "${crashes[0]}" "$good"
		not_ok "$name: the file that has found it fails without it, too; it is in $good"
		return
	fi
	echo "ok - $name: found in $target after ${found:-few} files ($((SECONDS - start)) s)"
}

one()
{
	if check "$1"; then echo "1 passed, 0 failed"; else echo "0 passed, 1 failed"; fi
}

shopt -s nullglob
if ! build; then
	echo "0 passed, 1 failed"
	exit 1
fi
names=("$@")
if ((!$#)); then
	names=("$here"/plants/*.patch)
	names=("${names[@]##*/}")
	names=("${names[@]%.patch}")
fi
for name in "${names[@]}"; do
	job 10 "$name" one "$name"
done
jobs_run
