#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Check the includes and calls between the parts ("rooms") of some sources against a list: rooms.sh FOLDER LIST SOURCE...
# where FOLDER is where the sources were built. Prints what crosses, then the errors. Of sources that are not built there
# (EL2's, and pkvm.c unless on arm64) it checks only the includes. Rooms must not use each other in a circle, even if the
# list allows it.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
built=$1 list=$(realpath "$2")
shift 2
# of which the rooms are told apart
main=${1##*/}
repo=$(realpath "$here/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# room_of FILE: print the part that it belongs to
room_of()
{
	case $1 in
	driver/main.*) echo main ;;
	driver/compat.h) echo compat ;;
	driver/*/*) echo "${1#driver/}" | cut -d/ -f1 ;;
	hyp/*) echo hyp ;;
	tools/lib/file/*/*) [[ $main == lib ]] && echo "${1#tools/lib/}" | cut -d/ -f1-2 || echo lib ;;
	tools/lib/*/*) [[ $main == lib ]] && echo "${1#tools/lib/}" | cut -d/ -f1 || echo lib ;;
	tools/lib/*) echo lib ;;
	tools/hyptrace/view/*/*) echo "${1#tools/hyptrace/}" | cut -d/ -f1-2 ;;
	tools/hyptrace/*/*) echo "${1#tools/hyptrace/}" | cut -d/ -f1 ;;
	tools/hyptrace/*) echo main ;;
	esac
}

# Print "FROM TO include HEADER" lines. A header's path is relative to the including file, or to a folder that compilers
# are told.
includes()
{
	local file header path from to folder
	cd "$repo"
	grep -rnoE '^[[:space:]]*#[[:space:]]*include[[:space:]]+["<][^">]+' "$@" --include='*.[ch]' >"$work/lines"
	while IFS=: read -r file _ header; do
		header=${header##*[\"<]}
		for folder in "$(dirname "$file")" . tools tools/hyptrace tools/lib; do
			path=$(realpath -m --relative-to="$repo" "$folder/$header")
			[[ ! -f $path ]] || break
		done
		[[ -f $path ]] || continue
		from=$(room_of "$file") to=$(room_of "$path")
		[[ -z $to || $to == "$from" || $to == compat ]] || echo "$from $to include ${path##*/}"
	done <"$work/lines"
}

# Print "FROM TO call FUNCTION" lines.
calls()
{
	local object name room
	local -A home=()
	cd "$built"
	find "$@" -name '*.o' ! -path '*/pic/*' ! -name '*.mod.o' ! -name '*.nvhe*' >"$work/objects"
	while read -r object; do
		nm "$object" >"$work/nm"
		[[ -s $work/nm ]] || { echo "nm finds no symbols in $object" >&2 && return 1; }
		sed -n "s|^[0-9a-f]\\+ [A-Z] |$object |p" "$work/nm" >>"$work/defined"
		sed -n "s|^ *U |$object |p" "$work/nm" >>"$work/undefined"
	done <"$work/objects"
	while read -r object name; do
		home[$name]=$(room_of "$object")
	done <"$work/defined"
	while read -r object name; do
		room=$(room_of "$object")
		[[ -z ${home[$name]:-} || ${home[$name]} == "$room" ]] || echo "$room ${home[$name]} call $name"
	done <"$work/undefined"
}

includes "$@" >"$work/found"
calls "$@" >>"$work/found"
sort -u -o "$work/found" "$work/found"
awk '{ print $1, $2 }' "$work/found" | tsort >/dev/null 2>"$work/loops" ||
	{ echo "rooms that use each other in a circle:" && sed 's/^tsort: -\?/ /' "$work/loops" && exit 1; }
awk '{ key = $1 " -> " $2 " " $3; names[key] = names[key] " " $4 }
	END { for (key in names) print key ":" names[key] }' "$work/found" | sort
awk '
	FNR == NR {
		found[$1 " " $2 " " $3 " " $4] = any[$1 " " $2 " " $3 " *"] = any["* " $2 " " $3 " " $4] = 1
		next
	}
	/^#/ || !NF { next }
	{
		for (i = 4; i <= NF; i++) {
			arrow = $1 " " $2 " " $3 " " $i
			allowed[arrow] = 1
			if (!(arrow in found) && !(arrow in any)) {
				print "allowed in arrows, but no longer in the code: " arrow
				bad = 1
			}
		}
	}
	END {
		for (arrow in found) {
			split(arrow, words, " ")
			if (!(arrow in allowed) && !((words[1] " " words[2] " " words[3] " *") in allowed) &&
			    !(("* " words[2] " " words[3] " " words[4]) in allowed)) {
				print "not allowed by arrows: " arrow
				bad = 1
			}
		}
		exit bad
	}' "$work/found" "$list"
