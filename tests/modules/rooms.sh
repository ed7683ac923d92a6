#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The rooms of the kernel side: which includes and which calls cross from one to another, and whether the list "arrows"
# allows each. rooms.sh FOLDER: where driver/ and hyp/ were built. Prints what there is, then what is not allowed.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
built=$1
repo=$here/../..

# room_of FILE
room_of()
{
	case $1 in
	driver/main.*) echo main ;;
	driver/compat.h) echo compat ;;
	driver/*/*) echo "${1#driver/}" | cut -d/ -f1 ;;
	hyp/*) echo hyp ;;
	esac
}

# "FROM TO include HEADER"
includes()
{
	local file header path from to
	while IFS=: read -r file header; do
		path=$(realpath -m --relative-to="$repo" "$repo/$(dirname "$file")/$header")
		from=$(room_of "$file") to=$(room_of "$path")
		[[ -z $to || $to == "$from" || $to == compat ]] || echo "$from $to include ${path##*/}"
	done < <(cd "$repo" && grep -oE '^#include "[^"]+"' -r driver hyp --include='*.[ch]' | sed 's/#include "\(.*\)"/\1/')
}

# "FROM TO call FUNCTION"
calls()
{
	local object room
	local -A home=()
	local objects=()
	mapfile -t objects < <(cd "$built" && find driver hyp -name '*.o' ! -name '*.mod.o' ! -name '*.nvhe*')
	((${#objects[@]})) || { echo "there are no objects in $built" >&2 && return 1; }
	while read -r object name; do
		home[$name]=$(room_of "$object")
	done < <(for object in "${objects[@]}"; do nm --defined-only "$built/$object" | sed -n "s|^[0-9a-f]* [A-Z] |$object |p"; done)
	while read -r object name; do
		room=$(room_of "$object")
		[[ -z ${home[$name]:-} || ${home[$name]} == "$room" ]] || echo "$room ${home[$name]} call $name"
	done < <(for object in "${objects[@]}"; do nm -u "$built/$object" | sed "s|^ *U |$object |"; done)
}

found=$({ includes && calls; } | sort -u)
echo "$found" | awk '{ key = $1 " -> " $2 " " $3; names[key] = names[key] " " $4 }
	END { for (key in names) print key ":" names[key] }' | sort
bad=$(echo "$found" | awk -v list="$here/arrows" '
	BEGIN {
		while ((getline line < list) > 0) {
			if (line ~ /^#/ || line == "") continue
			n = split(line, words, " ")
			arrow = words[1] " " words[2]
			if (n == 2) all[arrow] = 1
			for (i = 3; i <= n; i++) some[arrow " " words[i]] = limited[arrow] = 1
		}
	}
	{ arrow = $1 " " $2 }
	$3 == "call" && !all[arrow] { print; next }
	$3 == "include" && limited[arrow] && !some[arrow " " $4] { print; next }
	$3 == "include" && !limited[arrow] && !all[arrow] { print }')
[[ -z $bad ]] || { printf 'not allowed: %s\n' "$bad" && exit 1; }
