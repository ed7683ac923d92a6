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

# first_of PATH, first_two_of PATH: set $room to the first part of a path, or the first two
first_of()
{
	room=${1%%/*}
}

first_two_of()
{
	local rest=${1#*/}
	room=${1%%/*}/${rest%%/*}
}

# room_of FILE: set $room to the part that it belongs to. It starts no process: it is called for each include and symbol.
room_of()
{
	room=
	case $1 in
	driver/main.*) room=main ;;
	driver/compat.h) room=compat ;;
	driver/*/*) first_of "${1#driver/}" ;;
	hyp/*) room=hyp ;;
	tools/lib/file/*/*) if [[ $main == lib ]]; then first_two_of "${1#tools/lib/}"; else room=lib; fi ;;
	tools/lib/*/*) if [[ $main == lib ]]; then first_of "${1#tools/lib/}"; else room=lib; fi ;;
	tools/lib/*) room=lib ;;
	tools/hyptrace/view/*/*) first_two_of "${1#tools/hyptrace/}" ;;
	tools/hyptrace/*/*) first_of "${1#tools/hyptrace/}" ;;
	tools/hyptrace/*) room=main ;;
	esac
}

# normal PATH: set $path to the path without . and ..
normal()
{
	local part IFS=/ parts=()
	for part in $1; do
		case $part in
		. | '') ;;
		..) ((!${#parts[@]})) || unset 'parts[-1]' ;;
		*) parts+=("$part") ;;
		esac
	done
	path=${parts[*]}
}

# Print "FROM TO include HEADER" lines. A header's path is relative to the including file, or to a folder that compilers
# are told.
includes()
{
	local file header path room from folder
	cd "$repo"
	grep -rnoE '^[[:space:]]*#[[:space:]]*include[[:space:]]+["<][^">]+' "$@" --include='*.[ch]' >"$work/lines"
	while IFS=: read -r file _ header; do
		header=${header##*[\"<]}
		for folder in "${file%/*}" . tools tools/hyptrace tools/lib; do
			normal "$folder/$header"
			[[ ! -f $path ]] || break
		done
		[[ -f $path ]] || continue
		room_of "$file"
		from=$room
		room_of "$path"
		[[ -z $room || $room == "$from" || $room == compat ]] || echo "$from $room include ${path##*/}"
	done <"$work/lines"
}

# Print "FROM TO call FUNCTION" lines.
calls()
{
	local objects object kind name room
	local -A home=()
	cd "$built"
	mapfile -t objects < <(find "$@" -name '*.o' ! -path '*/pic/*' ! -name '*.mod.o' ! -name '*.nvhe*')
	nm -A "${objects[@]}" 2>"$work/errors" | awk -v OFS=' ' '{ file = $1; sub(/:[^:]*$/, "", file) }
		$(NF - 1) == "U" || ($(NF - 1) ~ /^[A-Z]$/) { print file, $(NF - 1), $NF }' >"$work/symbols"
	! grep 'no symbols' "$work/errors" >&2 || return 1
	while read -r object kind name; do
		[[ $kind != U ]] || continue
		room_of "$object"
		home[$name]=$room
	done <"$work/symbols"
	while read -r object kind name; do
		[[ $kind == U && -n ${home[$name]:-} ]] || continue
		room_of "$object"
		[[ ${home[$name]} == "$room" ]] || echo "$room ${home[$name]} call $name"
	done <"$work/symbols"
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
