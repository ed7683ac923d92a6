#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Completion: verbs, events, remotes.

load ./helper

# complete_line WORD...: what bash would offer for the last word.
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

setup()
{
	fresh
	# shellcheck source=/dev/null
	source /usr/local/share/bash-completion/completions/hyptrace
}

@test "verbs are completed" {
	same "$(complete_line hyptrace st | xargs)" "start status stop stream"
	same "$(complete_line hyptrace '' | grep -cE '^(list|enable|disable|start|stop|load|unload|clear|reset|set|status|stream|show|monitor|mark|help)$')" 16
	same "$(complete_line hyptrace -r test en)" enable
	same "$(complete_line hyptrace help str)" stream
}

@test "events are completed" {
	same "$(complete_line hyptrace enable hyp_e | xargs)" "hyp_enter hyp_exit"
	same "$(complete_line hyptrace enable hyp_enter self)" selftest
	complete_line hyptrace disable '' | grep -qx hyp_exit
}

@test "remotes are completed" {
	same "$(complete_line hyptrace -r t)" test
	same "$(complete_line hyptrace list --remote h)" hypervisor
}

@test "options are completed" {
	complete_line hyptrace load --s | grep -qx -- '--size=\?'
	same "$(complete_line hyptrace show --l)" --last=
	complete_line hyptrace list --j | grep -qx -- --json
}
