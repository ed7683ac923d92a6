#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Time the writer on the host: hot and cold, with small and large rings, with one and many threads. Prints lines
# "NAME PEER OURS" in ns per event. PEER is a loop of the same stores, or another writer. With --build, only build it.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
hyp=("$here"/../../hyp/*.c)

${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O2 -flto -Wall -Wextra -Werror -fno-strict-aliasing -DHYPTRACE_ENV_HOST \
	-I"$here/../../hyp" -o "$work/writer" "$here/writer.c" "${hyp[@]}" -lpthread
[[ ${1-} != --build ]] || exit 0

# The machine may be busy with other work for seconds: take the smallest result of runs at different times.
least()
{
	sort -n | head -n 1
}

# row NAME PEER HOW KIB EVENTS [THREADS [cold]]: print the line NAME
row()
{
	local name=$1 peer=$2 how=$3
	shift 3
	for _ in 1 2 3 4 5; do
		"$work/writer" "$peer" "$@" >>"$work/$name.floor"
		"$work/writer" "$how" "$@" >>"$work/$name"
	done
	echo "$name $(least <"$work/$name.floor") $(least <"$work/$name")"
}

for kib in 32 2048; do
	size=
	((kib == 32)) || size=_2mib
	row "writer_ns_const$size" floor ring "$kib" 100000
	row "writer_ns_const_record$size" record ring "$kib" 100000
	row "writer_ns_tsc$size" floor whole "$kib" 100000
	row "writer_ns_const${size}_cold" floor ring "$kib" 2048 1 cold
	row "writer_ns_tsc${size}_cold" floor whole "$kib" 2048 1 cold
done
"$here/mainline.sh" "$work/mainline"
for _ in 1 2 3 4 5; do
	"$work/mainline" 32 100000 >>"$work/mainlines"
done
echo "writer_ns_mainline $(least <"$work/mainlines") $(least <"$work/writer_ns_const")"
if lttng=$("$here/lttng.sh" 32 100000); then
	read -r -d '' counting own <<<"$lttng" || true
	echo "writer_ns_lttng_const $counting $(least <"$work/writer_ns_const")"
	echo "writer_ns_lttng $own $(least <"$work/writer_ns_tsc")"
elif (($? != 77)); then
	exit 1
fi
for threads in 2 4 8; do
	row "writer_ns_${threads}_threads" floor ring 2048 100000 "$threads"
done
# The largest rings may take up to half of the available memory.
for kib in 32768 524288; do
	if ((kib * 2 < $(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo) / 2)); then
		row "writer_ns_$((kib >> 10))_mib" floor ring "$kib" 10000000
	fi
done
for events in 10000 1000000 10000000; do
	row "writer_ns_${events}_events" floor ring 2048 "$events"
done
