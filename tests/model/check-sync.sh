#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Fail when a function that a model stands for has changed since somebody looked: check-sync.sh [--update]. A model
# says so in lines "models: FILE:FUNCTION SHA256-OF-ITS-TEXT"; --update rewrites the sums, once the model is right again.
# Prints "ok" and "not ok" lines.

set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1

update=
case ${1:-} in
"") ;;
--update) update=y ;;
*)
	echo "usage: ${0##*/} [--update]" >&2
	exit 1
	;;
esac

# function_text FILE FUNCTION: its definition, or the macro's; nothing if there is none.
function_text()
{
	awk -v name="$2" '
		!inside && $0 ~ "^[a-z#].*[ *]" name "\\(" { inside = 1; text = ""; macro = /^#/ }
		!inside { next }
		{ text = text $0 "\n" }
		macro ? !/\\$/ : /^}/ { printf "%s", text; exit }
		!macro && /;$/ && text !~ /\n{/ { inside = 0 }' "../../$1"
}

code=0
for model in *.pml *.litmus; do
	stale=()
	while read -r what sum; do
		text=$(function_text "${what%:*}" "${what#*:}"; echo .)
		if [[ $text == . ]]; then
			echo "not ok - $model: $what is not there any more"
			code=1
			continue
		fi
		now=$(printf '%s' "${text%.}" | sha256sum | cut -d ' ' -f 1)
		if [[ -n $update ]]; then
			sed -i "s|models: $what\( .*\)\?\$|models: $what $now|" "$model"
		elif [[ $sum != "$now" ]]; then
			stale+=("$what")
		fi
	done < <(sed -n 's/^ \* models: //p' "$model")
	if ((${#stale[@]})); then
		echo "not ok - $model: see whether it still says what ${stale[*]} now does, then check-sync.sh --update"
		code=1
	else
		echo "ok - $model is as the code"
	fi
done
exit "$code"
