#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Have programs of the host read files that were recorded in the machine: recorded.sh FOLDER, which has files of
# tests/bats/remote/recorded.bats, and metrics of tests/bats/watch/count.bats. Prints a line for each test; the last is "N passed, N failed".

set -uo pipefail
shopt -s nullglob
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/check.sh"

for path in "$1"/*.dat; do
	name=${path##*/}
	name=${name%.dat}
	if [[ $name =~ ^marks-.*-([0-9]+)$ ]]; then
		check "$name: each mark" "$here/marks.sh" "$hyptrace" "$path" "${BASH_REMATCH[1]}"
		continue
	fi
	check "$name: trace-cmd" "$here/readers.sh" trace-cmd "$hyptrace" "$path"
	check "$name: KernelShark" "$here/readers.sh" "$bin/kernelshark" "$hyptrace" "$path"
	check "$name: exports" "$here/exports.sh" "$hyptrace" "$path"
	check "$name: Perfetto" "$here/perfetto.sh" "$hyptrace" "$path"
done
for path in "$1"/*.prom; do
	name=${path##*/}
	check "${name%.prom}: promtool" "$here/metrics.sh" "$path"
done

checked && ((passed > 0))
