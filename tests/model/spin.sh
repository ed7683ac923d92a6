#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Let Spin check all states of the models ring, trigger and count, and check that Spin finds each mutant:
# spin.sh [proofs|mutants]. Uses one core and at most MEMORY megabytes. Prints "ok" and "not ok" lines with the number of states and seconds.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1

MEMORY=3500
folder=$PWD/spin
model=ring
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for program in spin gcc; do
	command -v "$program" >/dev/null && continue
	echo "not ok - Spin: the program $program is missing: install Debian's package $program"
	exit 1
done

# verify GCC-OPTIONS DEFINITION...: build and run the verifier, with its output in $work/out
verify()
{
	local how=$1 run=()
	shift
	[[ $how != *-DNP* ]] || run=(-l)
	rm -f "$work"/*
	# shellcheck disable=SC2086 # several options
	(cd "$work" && spin -a "$@" "$folder/$model.pml" && gcc $how -w -DCOLLAPSE -DMEMLIM=$MEMORY -o pan pan.c &&
		./pan -m20000 -w25 "${run[@]}") >"$work/out" 2>&1
}

states()
{
	awk '/ states, stored/ { print $1; exit }' "$work/out"
}

# prove GCC-OPTIONS DEFINITION...: passes if Spin has visited all states and found no error
prove()
{
	local start=$SECONDS
	verify "$@"
	if grep -q ', errors: 0$' "$work/out" &&
	   ! grep -qE 'Search not completed|max search depth|reached -DMEMLIM' "$work/out"; then
		echo "ok - $model ${*:2}${pass:+ $pass}: $(states) states, $((SECONDS - start)) s"
	else
		echo "not ok - $model ${*:2}: $(grep -m 1 -E '^pan:|rror' "$work/out")"
	fi
}

# find_mutant NUMBER DEFINITION...: passes if Spin finds an error in that mutant
find_mutant()
{
	local name
	verify "-O0 -DSAFETY" "${@:2}" "-DMUTANT=$1"
	name=$(sed -n "s|.*MUTANT [!=]= $1\t*/\* \(.*\) \*/|\1|p" spin/*.pml | head -n 1)
	if grep -qE '^pan:1: (assertion violated|invalid end state)' "$work/out"; then
		echo "ok - mutant $1 ($name) is found: $(sed -n 's/^pan:1: //p' "$work/out")"
	else
		echo "not ok - mutant $1 ($name) is not found: $(grep -m 1 -E 'errors:|rror' "$work/out")"
	fi
}

prove_triggers()
{
	local model=trigger safe="-O1 -DSAFETY"
	prove "$safe" -DSTOPS=1 -DRECORDS=2 -DCALLS=2
	prove "$safe" -DSTARTS=1 -DSTOPS=2 -DRECORDS=2 -DCALLS=2
	prove "$safe" -DNOTIFIES=1 -DSTOPS=2 -DRECORDS=2 -DCALLS=2
	prove "$safe" -DSTOPS=1 -DAFTER=1 -DRECORDS=2 -DCALLS=2
	prove "$safe" -DSTOPS=1 -DOFFS=1 -DRECORDS=1 -DCALLS=2
	model=count
	prove "$safe" -DHOOKS=4 -DOWN=4 -DOFFS=2 -DCALLS=8
}

proofs()
{
	local pages mode safe="-O1 -DSAFETY" pass=

	prove_triggers

	for mode in -DDISCARD=0 -DDISCARD=1; do
		for pages in 3 4 5 6; do
			prove "$safe" "-DPAGES=$pages" $mode -DEVENTS=16
		done
		prove "$safe" -DPAGES=3 $mode -DEVENTS=8 -DBIG=2
		prove "$safe" -DPAGES=4 $mode -DEVENTS=16 -DROOM=3 -DPARTS=2
		prove "$safe" -DPAGES=3 $mode -DEVENTS=10 -DRESETS=1
		prove "$safe" -DPAGES=5 $mode -DEVENTS=8 -DRESETS=1 -DBACK=1
		prove "$safe" -DPAGES=3 $mode -DEVENTS=8 -DMOVES=2 -DCALLS=2 -DFREE=1
		prove "$safe" -DPAGES=3 $mode -DEVENTS=6 -DMOVES=2 -DCALLS=1 -DRESETS=1
		prove "$safe" -DPAGES=4 -DNEW_PAGES=3 $mode -DEVENTS=8 -DEXCHANGES=1
		prove "$safe" -DPAGES=3 -DNEW_PAGES=4 $mode -DEVENTS=6 -DEXCHANGES=2
		prove "$safe" -DPAGES=4 -DNEW_PAGES=3 $mode -DEVENTS=4 -DEXCHANGES=1 -DMOVES=1 -DRESETS=1
	done
	prove "$safe" -DPAGES=4 -DEVENTS=10 -DMOVES=2 -DCALLS=1
	prove "$safe" -DPAGES=4 -DEVENTS=10 -DRESETS=1

	# The model has no progress labels, so Spin reports any cycle.
	pass="without a livelock"
	prove "-O1 -DNP" -DPAGES=3 -DDISCARD=0 -DEVENTS=8
	prove "-O1 -DNP" -DPAGES=3 -DDISCARD=1 -DEVENTS=8
	prove "-O1 -DNP" -DPAGES=3 -DEVENTS=4 -DMOVES=1 -DCALLS=1 -DRESETS=1
}

trigger_mutants()
{
	local model=trigger mutant
	find_mutant 30 -DSTOPS=1 -DAFTER=1 -DCALLS=2
	find_mutant 31 -DSTARTS=1 -DCALLS=3
	find_mutant 32 -DSTOPS=1 -DCALLS=1
	find_mutant 33 -DSTOPS=1 -DAFTER=2 -DRECORDS=3 -DCALLS=2
	for mutant in 34 35; do
		find_mutant $mutant -DOFFS=1 -DRECORDS=1 -DCALLS=1
	done
	find_mutant 36 -DSTOPS=1 -DRECORDS=1 -DCALLS=1
	model=count
	for mutant in 40 41 42 43 44; do
		find_mutant $mutant
	done
}

mutants()
{
	local mutant

	trigger_mutants
	for mutant in 1 2 3 4 5 8 9 16 17 18 19 26; do
		find_mutant $mutant -DPAGES=4 -DEVENTS=16
	done
	for mutant in 10 11; do
		find_mutant $mutant -DPAGES=3 -DEVENTS=8 -DBIG=2 -DDISCARD=1
	done
	for mutant in 6 7 15; do
		find_mutant $mutant -DPAGES=3 -DEVENTS=8 -DRESETS=1 -DDISCARD=1
	done
	find_mutant 27 -DPAGES=4 -DEVENTS=8 -DRESETS=1 -DBACK=1
	for mutant in 12 13 14; do
		find_mutant $mutant -DPAGES=3 -DEVENTS=6 -DMOVES=2 -DCALLS=2 -DFREE=1
	done
	for mutant in 20 21 23 24 25; do
		find_mutant $mutant -DPAGES=4 -DNEW_PAGES=3 -DEVENTS=8 -DEXCHANGES=1
	done
	find_mutant 22 -DPAGES=4 -DNEW_PAGES=3 -DEVENTS=8 -DEXCHANGES=1 -DDISCARD=1
}

case ${1:-all} in
proofs) proofs ;;
mutants) mutants ;;
all) proofs && mutants ;;
*)
	echo "usage: ${0##*/} [proofs|mutants]" >&2
	exit 1
	;;
esac
