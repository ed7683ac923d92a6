#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run the litmus tests with herd7 and the kernel's memory model. extract.py takes their accesses and barriers from
# the code. The outcome of each test must "Never" happen. Without its locks, the outcome of each test that has
# locks must happen "Sometimes". Each barrier of the code that is weakened, or moved to either end of its
# function, must make the outcome of at least one test happen "Sometimes". litmus.sh NAME runs one test, as it is.
# Prints "ok" and "not ok" lines; "skip" if herd7 or the memory model is not available.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tests" "$work/no-locks" "$work/weak"
root=../..

# observe FILE...: print what herd7 observes for each file: Never, Sometimes or Always
observe()
{
	(cd "$model" && "$herd" -conf linux-kernel.cfg "$@" 2>"$work/err" | awk '$1 == "Observation" { print $3 }')
}

# expect TITLE EXPECTED FILE: compare it with what herd7 observes
expect()
{
	local seen
	seen=$(observe "$3")
	if [[ $seen == "$2" ]]; then
		echo "ok - $1: $2"
	else
		echo "not ok - $1: expected $2, got ${seen:-"nothing from herd7: $(head -n 3 "$work/err")"}"
	fi
}

find_model()
{
	. ../vm/lib.sh
	set_kernel ""
	model=${ksrc:-$pristine}/tools/memory-model
	[[ -d $model || -n $ksrc ]] || "$vm/fetch.sh" "$series"
	[[ -f $model/linux-kernel.cfg ]] || die "the kernel tree has no memory model for herd7: there is no $model"
	echo "$model"
}

find_herd()
{
	./program.sh forky herdtools7 herd7 libgmp10 -- -set-libdir ROOT/usr/share/herdtools7/herd
}

./extract.py "$root" "$work/tests" litmus/*.litmus.in || exit 0
if ! herd=$(find_herd 2>"$work/err") || ! model=$(find_model 2>>"$work/err"); then
	echo "skip - litmus tests: $(tail -n 1 "$work/err")"
	exit 0
fi

for file in "$work"/tests/${1:-*}.litmus; do
	expect "$(basename "$file" .litmus)" Never "$file"
done
[[ -z ${1:-} ]] || exit 0

./extract.py --no-locks "$root" "$work/no-locks" litmus/*.litmus.in
for file in "$work"/tests/*.litmus; do
	name=$(basename "$file" .litmus)
	! grep -q $'^\tspin_lock(' "$file" || expect "$name without the lock" Sometimes "$work/no-locks/$name.litmus"
done

while IFS=$'\t' read -r nr what; do
	if [[ -z $what ]]; then
		echo "$nr"
	elif observe "$work/weak/$nr"/*.litmus | grep -q Sometimes; then
		echo "ok - $what is found"
	else
		echo "not ok - $what is not found: no litmus test has the result \"Sometimes\""
	fi
done < <(./weaken.py "$root" "$work/weak" litmus/*.litmus.in)
