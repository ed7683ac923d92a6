#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Check that each hook of a series patch is in the right function. patch(1) finds a place by the lines around it, and
# with an offset that place can be in another function. The list beside the patch (7.2.hooks beside 7.2.patch) has the
# right functions.
#
#   hooks.sh PATCH TREE            compare the list with TREE, which has the patch applied
#   hooks.sh --list TREE FILE...   print the hooks of these files, in the format of the list
#   hooks.sh --update PATCH TREE   write the list after a change of the patch; TREE is an unpatched kernel of that
#                                  series, or src/SERIES of the cache, which keeps the original files beside it
#
# Every line that contains hyptrace is a hook: no kernel without the patch has that word. A line of the list is
# FILE FUNCTION HOOK. FUNCTION may also be a macro, an enum or a table; it is "-" outside of all these.

set -euo pipefail

die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# hooks_files PATCH: print the files that the patch changes.
hooks_files()
{
	sed -n 's,^+++ b/\([^[:space:]]*\).*,\1,p' "$1"
}

# hooks_list TREE FILE...: print the hooks of the files. It assumes that a definition starts in the first column and
# ends with a brace in the first column.
hooks_list()
{
	local file
	for file in "${@:2}"; do
		awk -v file="$file" '
			# the name that a definition defines; head is its text up to the brace
			function name_of(head,	args) {
				gsub(/[ \t]+/, " ", head)
				if (head ~ /^(struct|enum|union) [A-Za-z0-9_]+ *\{/) {
					split(head, args, /[ {]+/)
					return args[2]
				}
				# a macro that defines a function: keep its arguments
				if (match(head, /^[A-Z][A-Z0-9_]*\([^)]*\)/)) {
					head = substr(head, RSTART, RLENGTH)
					gsub(/ /, "", head)
					return head
				}
				gsub(/__attribute__ *\(\([^)]*\)+/, "", head)
				if (!match(head, /[A-Za-z0-9_]+ *(\(|\[|=)/))
					return "?"
				head = substr(head, RSTART, RLENGTH)
				sub(/[^A-Za-z0-9_]+$/, "", head)
				return head
			}
			function hook(line) {
				gsub(/^[ \t]+|[ \t]*\\?$/, "", line)
				gsub(/[ \t]+/, " ", line)
				return line
			}
			FNR == 1 { place = "-"; head = ""; pending = 0 }
			# a macro of several lines
			place == "-" && /^#[ \t]*define/ && /\\$/ {
				match($0, /define[ \t]+[A-Za-z0-9_]+/)
				place = substr($0, RSTART, RLENGTH)
				sub(/define[ \t]+/, "", place)
				macro = 1
			}
			/^[A-Za-z_]/ && place == "-" && !/:$/ { head = "" }
			place == "-" && !/^[#\/]/ && !/^ \*/ && NF { head = head $0 " " }
			place == "-" && (/^\{/ || (head ~ /^[A-Za-z_]/ && /\{[ \t]*$/)) { place = name_of(head); macro = 0; head = "" }
			place == "-" && /;[ \t]*$/ { head = "" }
			tolower($0) ~ /hyptrace/ { pending++; line[pending] = hook($0) }
			{
				# a hook in the arguments of a function belongs to that function
				if (pending && (place != "-" || head == "")) {
					for (i = 1; i <= pending; i++)
						print file, place, line[i]
					pending = 0
				}
			}
			place != "-" && (macro ? !/\\$/ : /^\}/) { place = "-"; head = "" }
			END { for (i = 1; i <= pending; i++) print file, place, line[i] }
		' "$1/$file"
	done
}

# hooks_check PATCH TREE: succeed, or print a line for each hook that is not in its function.
hooks_check()
{
	local list=${1%.patch}.hooks files now wanted differing
	[[ -f $list ]] || die "$list is missing. It says which function each hook is in: see tests/vm/hooks.sh"
	mapfile -t files < <(hooks_files "$1")
	now=$(hooks_list "$2" "${files[@]}")
	wanted=$(sed '/^#/d; /^$/d' "$list")
	[[ $now != "$wanted" ]] || return 0
	differing=$(diff <(echo "$wanted") <(echo "$now") | sed -n \
		-e 's/^< \([^ ]*\) \([^ ]*\) \(.*\)/  missing from \2 in \1: \3/p' \
		-e 's/^> \([^ ]*\) \([^ ]*\) \(.*\)/  found in \2 in \1: \3/p')
	printf '%s\n' "$differing" >&2
	return 1
}

# hooks_rejected PATCH: read what patch(1) says, and print the hooks of each hunk that failed, or its first line if it has
# none. Lines of the list are in the order of the patch.
hooks_rejected()
{
	local list=${1%.patch}.hooks
	[[ -f $list ]] || list=/dev/null
	awk '
		function flush() {
			if ((file, hunk) in failed)
				printf "%s", said ? said : first
			said = first = ""
		}
		function line(place,	text) {
			text = substr($0, 2)
			gsub(/^[ \t]+|[ \t]*\\?$/, "", text)
			return "  does not fit " (place == "-" ? "" : "into " place " ") "in " file ": " text "\n"
		}
		FILENAME == "-" && $1 == "patching" { file = $3 }
		FILENAME == "-" && /^Hunk #[0-9]+ FAILED/ { failed[file, substr($2, 2)] }
		FILENAME == ARGV[2] && !/^#/ && NF { places[++nr] = $2 }
		FILENAME != ARGV[3] { next }
		/^(---|@@) / { flush() }
		$1 == "+++" { file = substr($2, 3); hunk = 0 }
		/^@@ / { hunk++ }
		/^\+/ && $1 != "+++" && tolower($0) ~ /hyptrace/ { said = said line(++hook in places ? places[hook] : "-") }
		/^[-+]/ && !/^(---|\+\+\+) / && !first { first = line("-") }
		END { flush() }
	' - "$list" "$1"
}

[[ ${BASH_SOURCE[0]} == "$0" ]] || return 0
case ${1:-} in
--list)
	(($# > 2)) || die "usage: ${0##*/} --list TREE FILE..."
	hooks_list "${@:2}"
	;;
--update)
	(($# == 3)) || die "usage: ${0##*/} --update PATCH TREE"
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	mapfile -t files < <(hooks_files "$2")
	for file in "${files[@]}"; do
		from=$3/$file
		[[ ! -f $3.pristine/$file ]] || from=$3.pristine/$file
		mkdir -p "$work/${file%/*}"
		cp "$from" "$work/$file"
	done
	patch -s -f -F 0 -p1 -d "$work" --no-backup-if-mismatch -r - <"$2" || die "$2 does not apply to $3"
	{
		echo "# SPDX-License-Identifier: GPL-2.0-only"
		echo "# The function that each hook of ${2##*/} must be in; see tests/vm/hooks.sh."
		hooks_list "$work" "${files[@]}"
	} >"${2%.patch}.hooks"
	;;
-* | '') die "usage: ${0##*/} PATCH TREE, or --list TREE FILE..., or --update PATCH TREE" ;;
*)
	(($# == 2)) || die "usage: ${0##*/} PATCH TREE"
	hooks_check "$@" || die "the hooks of $1 are not where they belong in $2: see above"
	;;
esac
