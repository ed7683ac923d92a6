#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Fail if files call each other in a circle, or headers include each other in one: circles.sh FOLDER SOURCE..., where
# FOLDER is where the sources were built. A call is any use of another file's function. The list "circles" has the
# calls that may close a circle.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
built=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Print "FROM TO" lines: files without their ending, as paths in the repository.
calls()
{
	cd "$built"
	find "$@" -name '*.o' ! -path '*/pic/*' ! -name '*.mod.o' ! -name '*.nvhe*' -exec nm -A {} + >"$work/nm"
	[[ -s $work/nm ]] || { echo "$built has no objects of $*" >&2 && return 1; }
	awk '
		{ file = $1; sub(/[.]o:.*/, "", file) }
		FNR == NR { if ($2 ~ /^[TW]$/) home[$3] = file; next }
		$(NF - 1) == "U" && ($NF in home) && home[$NF] != file && !seen[file, home[$NF]]++ { print file, home[$NF] }
	' "$work/nm" "$work/nm"
}

# Print "FROM TO" lines of includes with quotes, which name headers of this project.
includes()
{
	cd "$here/../.."
	grep -roE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"[^"]+' "$@" --include='*.h' | while IFS=: read -r file header; do
		header=${header##*\"}
		for folder in "${file%/*}" tools tools/hyptrace tools/lib; do
			[[ ! -f $folder/$header ]] || { echo "$file $(realpath --relative-to=. "$folder/$header")" && break; }
		done
	done
}

# has_circle FILE: whether these arrows have a circle; print one
has_circle()
{
	! tsort "$1" 2>&1 >/dev/null | sed -n 's/^tsort: //p' | awk '
		/input contains a loop/ { if (nr++) exit; print "in a circle:"; next }
		{ print "  " $0; found = 1 }
		END { exit found }'
}

code=0
calls "$@" >"$work/all"
includes "$@" >>"$work/all"
sed 's/[[:space:]]*#.*//; /^$/d' "$here/circles" >"$work/allowed"
grep -vxFf "$work/allowed" "$work/all" >"$work/arrows"
! has_circle "$work/arrows" || code=1
while read -r from to; do
	# the list is also for sources that are not these
	grep -q "^$from " "$work/all" || continue
	grep -qxF "$from $to" "$work/all" && { cat "$work/arrows" && echo "$from $to"; } >"$work/with" &&
		has_circle "$work/with" >/dev/null && continue
	echo "allowed in circles, but it closes none: $from $to"
	code=1
done <"$work/allowed"
exit "$code"
