# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# What bash completes. For the tests of completion.

# complete_line WORD...: print what bash would offer for the last word.
complete_line()
{
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	COMP_LINE=$*
	COMP_POINT=${#COMP_LINE}
	COMPREPLY=()
	local function
	function=$(complete -p hyptrace | sed 's/.* -F \([^ ]*\) .*/\1/')
	"$function" hyptrace "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}" || true
	printf '%s\n' "${COMPREPLY[@]}" | sed 's/ *$//' | sort -u
}
