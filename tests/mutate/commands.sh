#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Build the command of this tree, in which a file of tools/lib was changed, and run tests of tests/files until one fails:
# commands.sh PATH, which is the file, to begin with the tests that are likely to notice; "": no file was changed, all tests.
# Prints the test that fails, and ends with 1; with 3 if the command cannot be built.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
files=$PWD/tests/files bin=$PWD/tests/files/build hyptrace=$PWD/tests/files/build/tools/hyptrace/hyptrace
# the command first: its options are lenient, and make_file takes its library
{
	make -s -C tools O="$bin/tools" CFLAGS='-O2 -g -Wno-error' "$hyptrace" &&
		make -s -C "$files" O=build build/make_file build/hyptrace
} || exit 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# written: files of all kinds are read as they were written
written()
{
	local options path=$work/t.dat want
	for options in "-n 2000 -c 2" "-n 2000 -c 3 -z" "-n 1000 -c 2 -m" "-n 2000 -c 2 -p 8 -l 20" "-n 2000 -c 2 -p 8 -l 20 -d"; do
		# shellcheck disable=SC2086 # they are several words
		"$bin/make_file" $options "$path" >"$work/counts" || return
		want=$(awk '{ events += $2; lost += $3 } END { print events + 0, lost + 0 }' "$work/counts")
		"$hyptrace" report "$path" >"$work/report" 2>/dev/null || return
		[[ $(awk '/: LOST |\] .*LOST [0-9]+ event/ { for (i = 1; i < NF; i++) if ($i == "LOST") lost += $(i + 1); next } { events++ }
			END { print events + 0, lost + 0 }' "$work/report") == "$want" ]] || return
		"$hyptrace" dump "$path" >/dev/null && "$files/stat.sh" "$hyptrace" "$path" && "$files/exports.sh" "$hyptrace" "$path" || return
	done
}

damaged()
{
	"$bin/make_file" -n 2000 -c 2 "$work/whole.dat" && "$files/damage.sh" "$hyptrace" "$work/whole.dat" &&
		"$bin/make_file" -n 500 -c 3 "$work/small.dat" && "$files/cut.py" "$hyptrace" "$work/small.dat" 30 || return
	"$bin/make_file" -n 500 -c 3 -k -z "$work/part.dat" && "$files/cut.py" "$hyptrace" "$work/part.dat.part" 30
}

images() { "$files/images.py" "$hyptrace" && "$files/circles.py" "$hyptrace"; }
record() { "$files/record.sh" "$bin"; }
tracefs() { HYPTRACE=$hyptrace bats "$files/tracefs.bats"; }
report() { HYPTRACE=$hyptrace MAKE_FILE=$bin/make_file bats "$files/report.bats"; }
views() { HYPTRACE=$hyptrace MAKE_FILE=$bin/make_file bats "$files/views.bats"; }

# Only these run the code of dumps and of tracefs. Elsewhere all follow, but those that take a minute or more.
others=(images written damaged report views)
case $1 in
'') order=(tracefs record) ;;
tools/lib/dump/*) order=(images) others=() ;;
tools/lib/tracefs/*) order=(tracefs) others=() ;;
tools/lib/file/write/*) order=(written damaged record) ;;
tools/lib/file/* | tools/lib/event/*) order=(written damaged report views) ;;
*) order=(written record) ;;
esac
for name in "${others[@]}"; do
	[[ " ${order[*]} " == *" $name "* ]] || order+=("$name")
done
for name in "${order[@]}"; do
	if ! "$name" >"$work/said" 2>&1; then
		echo "$name"
		exit 1
	fi
	[[ -z ${VERBOSE:-} ]] || echo "# $name: $SECONDS s" >&2
done
