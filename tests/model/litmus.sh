#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run the litmus tests by herd7 with the kernel's memory model. Each must "Never" happen; with any one of its lines
# that are marked "weaken" without its barrier it must happen "Sometimes" ("the lock": with all of them without).
# Every labelled barrier of hyp/ and driver/ must be in a test. Prints "ok" and "not ok" lines; "skip" where herd7 or
# the model cannot be had.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# observe TITLE EXPECTED FILE
observe()
{
	local seen
	seen=$(cd "$model" && "$herd" -conf linux-kernel.cfg "$3" 2>"$work/err" | awk '$1 == "Observation" { print $3 }')
	if [[ $seen == "$2" ]]; then
		echo "ok - $1: $2"
	else
		echo "not ok - $1: expected $2, herd7 says ${seen:-"nothing: $(head -n 3 "$work/err")"}"
	fi
}

# weaken WHAT: stdin to stdout, the barriers of the lines of that address gone
weaken()
{
	sed "$1"'{
		s/smp_store_release(\([^,]*\),/WRITE_ONCE(*\1,/
		s/smp_load_acquire(\([^)]*\))/READ_ONCE(*\1)/
		/smp_[rw]\?mb();\|spin_\(un\)\?lock(/d
	}'
}

check_labels()
{
	local label
	while read -r label; do
		if grep -q "orders:.*$label" ./*.litmus; then
			echo "ok - $label has a litmus test"
		else
			echo "not ok - $label has no litmus test"
		fi
	done < <(cd ../.. && grep -on '([A-Z])' hyp/*.[ch] driver/*.[ch] | sed 's/:[0-9]*:/:/' | sort -u)
	while read -r label; do
		grep -q "(${label#*(}" "../../${label%%:*}" ||
			echo "not ok - a litmus test is for $label, which there is not"
	done < <(grep -h 'orders:' ./*.litmus | grep -o '[a-z]*/[^ ]*' | sort -u)
}

find_model()
{
	. ../vm/lib.sh
	set_kernel ""
	model=${ksrc:-$pristine}/tools/memory-model
	[[ -d $model || -n $ksrc ]] || "$vm/fetch.sh" "$series"
	[[ -f $model/linux-kernel.cfg ]] || die "there is no $model"
	echo "$model"
}

check_labels
if ! herd=$(./herd7.sh 2>"$work/err") || ! model=$(find_model 2>>"$work/err"); then
	echo "skip - litmus tests: $(tail -n 1 "$work/err")"
	exit 0
fi

for file in *.litmus; do
	name=${file%.litmus}
	observe "$name" Never "$PWD/$file"
	if grep -q '// weaken, the lock' "$file"; then
		weaken '/weaken, the lock/' <"$file" >"$work/$file"
		observe "$name without the lock" Sometimes "$work/$file"
	fi
	while IFS=: read -r line text; do
		weaken "$line" <"$file" >"$work/$file"
		observe "$name without ${text#*weaken } in line $line" Sometimes "$work/$file"
	done < <(grep -n '// weaken (' "$file")
done
