#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Completion in bash: verbs, events, remotes, options. It needs no hypervisor: remotes.bats has what does.

load ../helper
load ./complete

setup()
{
	fresh
	# shellcheck source=/dev/null
	source /usr/local/share/bash-completion/completions/hyptrace
}

@test "verbs are completed" {
	same "$(complete_line hyptrace st | xargs)" "start stat status stop strace stream"
	same "$(complete_line hyptrace '' | grep -cE '^(list|enable|disable|start|stop|load|unload|clear|reset|set|status|stream|show|record|report|dump|export|count|wait|monitor|mark|help|stat|strace|page|leaks|who)$')" 27
	same "$(complete_line hyptrace -r test en)" enable
	same "$(complete_line hyptrace help stre)" stream
}

@test "events are completed" {
	same "$(complete_line hyptrace enable hyp_e | xargs)" "hyp_enter hyp_exit"
	same "$(complete_line hyptrace enable hyp_enter self)" selftest
	complete_line hyptrace disable '' | grep -qx hyp_exit
	same "$(complete_line hyptrace stream --cpu 0 hyp_e | xargs)" "hyp_enter hyp_exit"
	same "$(complete_line hyptrace -r test count '' | xargs)" all
}

@test "remotes are completed" {
	same "$(complete_line hyptrace -r t)" test
}

@test "options are completed" {
	complete_line hyptrace load --s | grep -qx -- '--size=\?'
	same "$(complete_line hyptrace show --ra)" --raw
	complete_line hyptrace list --j | grep -qx -- --json
	complete_line hyptrace stream -- | grep -qx -- --count=
	same "$(complete_line hyptrace start | xargs)" start
}

@test "values are completed" {
	same "$(complete_line hyptrace load --mode = d)" discard
	same "$(complete_line hyptrace set --mode o)" overwrite
	same "$(complete_line hyptrace list --color = | xargs)" "always auto never"
	same "$(complete_line hyptrace stream --cpu al)" all
	same "$(complete_line hyptrace stream --count '')" ""
}

@test "fields and values are completed inside a filter" {
	same "$(complete_line hyptrace show -F reas)" reason
	same "$(complete_line hyptrace -r test stream -F "'reason == gues")" "reason == guest_exit"
	same "$(complete_line hyptrace stream --filter = "\"(reason == hvc || dur")" "(reason == hvc || duration"
	same "$(complete_line hyptrace show -F "'op != d" | xargs)" "op != donate"
	same "$(complete_line hyptrace show -F "'duration > ")" ""
	same "$(complete_line hyptrace show -F "'reason == hvc ")" ""
	# without quotes, bash makes three words of it
	same "$(complete_line hyptrace -r test show -F reason == gues)" guest_exit
	# the filter is not the verb
	same "$(complete_line hyptrace show -F 'reason == hvc' --ra)" --raw
}

@test "--cpu is offered for the verbs that take it" {
	for verb in $(hyptrace --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
		taken=$(hyptrace help "$verb" | grep -c -- --cpu) || true
		same "$(complete_line hyptrace "$verb" --cp | grep -c -- --cpu)" "$((taken > 0))" "$verb"
		verbs+=" $verb"
	done
	[[ $verbs == *" list "*" mark "*" stream "* ]]
	same "$(complete_line hyptrace --cp)" --cpu=
}

# This uses bash's own completion for sudo, a hyptrace that works only as root, and a sudo that asks for no password.
@test "names are completed after sudo" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	cat >"$BATS_TEST_TMPDIR/bin/hyptrace" <<-EOF
		#!/bin/bash
		[[ -n \$AS_ROOT ]] || exit 2
		exec $(command -v hyptrace) "\$@"
	EOF
	cat >"$BATS_TEST_TMPDIR/bin/sudo" <<-'EOF'
		#!/bin/bash
		[[ $1 == -n ]] || exit 1
		AS_ROOT=1 exec "${@:2}"
	EOF
	cat >"$BATS_TEST_TMPDIR/complete" <<-'EOF'
		source /usr/share/bash-completion/bash_completion
		source /usr/local/share/bash-completion/completions/hyptrace
		_comp_load sudo
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE=$* COMP_POINT=${#COMP_LINE} COMP_TYPE=9 COMP_KEY=9
		_comp_cmd_sudo sudo "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"
		printf '%s\n' "${COMPREPLY[@]}" | sort -u | xargs
	EOF
	chmod +x "$BATS_TEST_TMPDIR"/bin/*
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
	export LC_ALL=C
	same "$(bash "$BATS_TEST_TMPDIR/complete" sudo hyptrace enable hyp_e)" "hyp_enter hyp_exit"
	same "$(bash "$BATS_TEST_TMPDIR/complete" sudo -u root hyptrace -r t)" test
	same "$(bash "$BATS_TEST_TMPDIR/complete" sudo hyptrace st)" "start stat status stop strace stream"
	# Without sudo on the command line the completion does not use it.
	same "$(complete_line hyptrace enable hyp_e)" ""
	# A refused list is no error.
	same "$(complete_line hyptrace enable hyp_e 2>&1)" ""
}
