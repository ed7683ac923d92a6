#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Measure hyptrace report beside trace-cmd report, hyptrace stat and export, on files of the real writer. Prints lines
# "NAME PEER OURS", for rows.py.
#
#   O=FOLDER		where to build (a temporary folder)

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$here/../..
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=${O:-$work}
hyptrace=$out/tools/hyptrace/hyptrace
rounds=15

make --no-print-directory -s -C "$top/tools" O="$out/tools" >&2
make --no-print-directory -s -C "$top/tests/files" O="$out/files" TOOLS="$out/tools" >&2

# best ROUNDS COMMAND...: print the shortest time of some runs in microseconds
best()
{
	local round start us least=
	for ((round = 0; round < $1; round++)); do
		start=${EPOCHREALTIME/./}
		"${@:2}" >/dev/null 2>&1
		us=$((${EPOCHREALTIME/./} - start))
		[[ -n $least ]] && ((least < us)) || least=$us
	done
	echo "$least"
}

# figure NAME PEER X [BY]: print a line, with X divided by BY
figure()
{
	awk -v name="$1" -v peer="$2" -v x="$3" -v by="${4:-1}" 'BEGIN { printf "%s %s %.2f\n", name, peer, x / by }'
}

# row NAME FILE EVENTS: print the nanoseconds per event of both programs
row()
{
	local peer=-
	if command -v trace-cmd >/dev/null; then
		peer=$(best 2 trace-cmd report "$2" | awk -v n="$3" '{ printf "%.2f", $1 * 1000 / n }')
	fi
	figure "$1" "$peer" "$(best "$rounds" "$hyptrace" report -q "$2")000" "$3"
}

# own_row NAME EVENTS ARGUMENT...: print the nanoseconds per event that hyptrace takes
own_row()
{
	figure "$1" - "$(best "$rounds" "$hyptrace" "${@:3}")000" "$2"
}

# export_ctf FILE: export a file as a folder, which must not exist
export_ctf()
{
	rm -rf "$work/ctf"
	"$hyptrace" export -q "$1" -f ctf -o "$work/ctf"
}

# peak_kib COMMAND...: print the most memory that the command has at once
peak_kib()
{
	command time -f %M -o "$work/peak" "$@" >/dev/null
	cat "$work/peak"
}

# file NAME OPTION...: make a file; print the number of its events
file()
{
	"$out/files/make_file" "${@:2}" "$work/$1" | awk '{ n += $2 } END { print n }'
}

events=$(file 4 -n 1000000 -c 4)
row report_ns_4_cpus "$work/4" "$events"
own_row report_ns_json "$events" report -q -j "$work/4"
own_row stat_ns_4_cpus "$events" stat -q -i "$work/4"
own_row stat_ns_exit "$events" stat -q --by exit -i "$work/4"
own_row export_ns_perfetto "$events" export -q "$work/4" -f perfetto -o -
own_row export_ns_csv "$events" export -q "$work/4" -f csv -o -
figure export_ns_ctf - "$(best "$rounds" export_ctf "$work/4")000" "$events"
figure perfetto_bytes_per_event - "$("$hyptrace" export -q "$work/4" -f perfetto -o - | wc -c)" "$events"
file 4z -n 1000000 -c 4 -z >/dev/null
figure zstd_percent - "$(stat -c %s "$work/4z")00" "$(stat -c %s "$work/4")"
rm -r "$work/4" "$work/4z" "$work/ctf"
row report_ns_1_cpu "$work/1" "$(file 1 -n 4000000 -c 1)"
rm "$work/1"
# a file of 4 GiB
file big -n 47000000 -c 4 >/dev/null
figure report_last_100_ms - "$(best 3 "$hyptrace" report -q -n 100 "$work/big")" 1000
figure report_peak_mib - "$(peak_kib "$hyptrace" report -q "$work/big")" 1024
figure stat_peak_mib - "$(peak_kib "$hyptrace" stat -q -i "$work/big")" 1024
figure export_peak_mib - "$(peak_kib "$hyptrace" export -q "$work/big" -f perfetto -o -)" 1024
