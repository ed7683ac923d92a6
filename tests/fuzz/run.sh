#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Fuzz what reads files, by libFuzzer: RUNS files (8000; with FULL=1 a million), 6 of 10 for the reader of trace files and all
# exports, 2 of 10 for all verbs that read files or dumps, the others for memory that has outlived a reset. Two processes
# share what they have found. SEED=N takes other files. A file may take 5 s, and 100 MiB of memory. With FULL=1 or PLANTS=1 the
# fuzzer itself is tested, too: see plants.sh. The last line is "N passed, N failed".

set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
bin=$here/build
runs=${RUNS:-8000}
seed=${SEED:-1}
[[ -z ${FULL:-} ]] || runs=${RUNS:-1000000}
make -s -j 2 -C "$here" O="$bin" || exit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export bin work

# A process ends after some time, since libtraceevent forgets memory of formats that it cannot parse.
batch=100000

# lane TARGET NUMBER SEED RUNS: what a process does
lane()
{
	local target=$1 number=$2 seed=$3 runs=$4 part log=$work/log.$1.$2
	cd "$work/$target" || return
	for (( ; runs > 0; runs -= part, seed += 2)); do
		part=$((runs < batch ? runs : batch))
		fuzz_once "$target" "$seed" "$part" found seeds >"$log" 2>&1 || return
		sed -n 's/^stat::number_of_executed_units: *//p' "$log" >>"$work/tried.$target"
	done
	: >"$log.done"
}
export -f lane fuzz_once
export batch

passed=0
failed=0
# fuzz TARGET RUNS WHAT CORPUS...
fuzz()
{
	local target=$1 n=$(($2 / 2 + 1)) what=$3 number tried
	mkdir -p "$work/$target/found"
	if ! put_seeds "$target" "$work/$target/seeds" "${@:4}"; then
		echo "not ok - $what: the files to begin with cannot be read"
		((++failed))
		return
	fi
	# shellcheck disable=SC2016 # the shell inside expands it
	printf '%s\n' "1 $seed" "2 $((seed + 1))" | xargs -P 2 -L 1 bash -c 'lane "$0" "$2" "$3" "$1"' "$target" "$n"
	for number in 1 2; do
		[[ ! -e $work/log.$target.$number.done ]] || continue
		echo "not ok - $what: seed $((seed + number - 1))"
		tail -n 40 "$work/log.$target.$number"
		((++failed))
	done
	find "$work/$target" -maxdepth 1 -regex '.*/\(crash\|leak\|timeout\|oom\)-.*' -exec cp -t "$bin" {} + -printf "see $bin/%f\n"
	[[ -e $work/log.$target.1.done && -e $work/log.$target.2.done ]] || return
	tried=$(awk '{ n += $1 } END { print n }' "$work/tried.$target")
	echo "tried: $tried $what"
	echo "ok - $what"
	((++passed))
}

# Plant bugs, and find them.
plant()
{
	RUNS='' "$here/plants.sh" >"$work/plants" 2>&1
	grep -vE '^[0-9]+ passed, ' "$work/plants"
	if [[ $(tail -n 1 "$work/plants") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		echo "tried: $((BASH_REMATCH[1] + BASH_REMATCH[2])) planted bugs"
		((passed += BASH_REMATCH[1], failed += BASH_REMATCH[2]))
	else
		echo "not ok - plants.sh could not run"
		((++failed))
	fi
}

fuzz files $((runs * 6 / 10)) "trace files" "$here"/corpus/*.zst
fuzz verbs $((runs * 2 / 10)) "files for verbs" "$here"/corpus/*.zst "$here"/corpus/images/*.zst
fuzz images $((runs * 2 / 10)) "images of memory" "$here"/corpus/images/image-*.zst
[[ -z ${FULL:-}${PLANTS:-} ]] || plant
echo "$passed passed, $failed failed"
((failed == 0))
