#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Fuzz the reader of trace files: RUNS files (8000; with FULL=1 a million), by two processes. They are the same in each
# run; SEED=N takes others. The last line is "N passed, N failed".

set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=$here/build
runs=${RUNS:-8000}
seed=${SEED:-1}
[[ -z ${FULL:-} ]] || runs=${RUNS:-1000000}
make -s -C "$here" O="$bin" || exit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit

# A process ends after some time, since libtraceevent forgets memory of formats that it cannot parse.
batch=25000
((runs / 2 >= batch)) || batch=$(((runs + 1) / 2))
passed=0
failed=0
# shellcheck disable=SC2016 # the shell inside expands it
while read -r first code; do
	if ((code == 0)); then
		((++passed))
		continue
	fi
	echo "not ok - a file of the seeds from $first on"
	tail -n 40 "$work/$first"
	((++failed))
done < <(seq "$seed" "$batch" $((seed + runs - 1)) |
	xargs -P 2 -I '{}' sh -c '"$1" -s "$2" -n "$3" "$4"/corpus/* >"$2" 2>&1; echo "$2 $?"' - "$bin/fuzz" '{}' "$batch" "$here")
cp fuzz-*.dat "$bin" 2>/dev/null && echo "the files are in $bin"
((failed)) || echo "ok - the reader of trace files: $runs files"
echo "$passed passed, $failed failed"
((failed == 0))
