#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Fuzz what reads files, by libFuzzer: RUNS files (8000; with FULL=1 a million), three of four for the reader of trace files and
# all exports, the others for that of memory that has outlived a reset. Two processes share what they have found. SEED=N takes
# other files. A file may take 5 s, and 100 MiB of memory. The last line is "N passed, N failed".

set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=$here/build
runs=${RUNS:-8000}
seed=${SEED:-1}
[[ -z ${FULL:-} ]] || runs=${RUNS:-1000000}
make -s -j 2 -C "$here" O="$bin" || exit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Most of the time would be for the stacks of allocations.
export ASAN_OPTIONS=${ASAN_OPTIONS:-malloc_context_size=0:quarantine_size_mb=2} bin work

# A process ends after some time, since libtraceevent forgets memory of formats that it cannot parse.
batch=100000

# lane TARGET NUMBER SEED RUNS: what a process does
lane()
{
	local target=$1 number=$2 seed=$3 runs=$4 part log=$work/log.$1.$2
	cd "$work/$target" || return
	for (( ; runs > 0; runs -= part, seed += 2)); do
		part=$((runs < batch ? runs : batch))
		"$bin/$target" -seed="$seed" -runs="$part" -max_len=131072 -timeout=5 -malloc_limit_mb=100 -close_fd_mask=1 \
			-print_final_stats=1 -verbosity=1 found seeds >"$log" 2>&1 || return
		sed -n 's/^stat::number_of_executed_units: *//p' "$log" >>"$work/tried.$target"
	done
	: >"$log.done"
}
export -f lane
export batch

passed=0
failed=0
# fuzz TARGET RUNS WHAT CORPUS...
fuzz()
{
	local target=$1 n=$(($2 / 2 + 1)) what=$3 file number tried
	mkdir -p "$work/$target/"{found,seeds}
	for file in "${@:4}"; do
		zstd -q -d "$file" -o "$work/$target/seeds/$(basename "${file%.zst}")" || return
	done
	# shellcheck disable=SC2016 # the shell inside expands it
	printf '%s\n' "1 $seed" "2 $((seed + 1))" | xargs -P 2 -L 1 bash -c 'lane "$0" "$2" "$3" "$1"' "$target" "$n"
	for number in 1 2; do
		[[ ! -e $work/log.$target.$number.done ]] || continue
		echo "not ok - $what: seed $((seed + number - 1))"
		tail -n 40 "$work/log.$target.$number"
		((++failed))
	done
	cp "$work/$target"/{crash,leak,timeout,oom}-* "$bin" 2>/dev/null && echo "the files are in $bin"
	[[ -e $work/log.$target.1.done && -e $work/log.$target.2.done ]] || return
	tried=$(awk '{ n += $1 } END { print n }' "$work/tried.$target")
	echo "tried: $tried $what"
	echo "ok - $what"
	((++passed))
}

fuzz files $((runs * 3 / 4)) "trace files" "$here"/corpus/*.zst
fuzz images $((runs / 4)) "images of memory" "$here"/corpus/images/*.zst
echo "$passed passed, $failed failed"
((failed == 0 && passed == 2))
