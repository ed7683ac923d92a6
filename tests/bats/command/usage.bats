#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Usage: verbs, options, help, unknown names. It needs no hypervisor.

load ../helper

verbs="list enable disable start stop load unload clear reset set status stream strace catch record show count stat top page leaks who monitor mark help"

@test "a missing verb is a usage error" {
	run -1 hyptrace
	says 'a verb is missing'
	says 'Try "hyptrace help".'
	run -1 hyptrace -j
	run -1 hyptrace -r test
}

@test "an unknown verb is a usage error, and the message suggests a similar one" {
	run -1 hyptrace staus
	says 'unknown verb "staus"; did you mean "status"?'
	run -1 hyptrace enabel hyp_enter
	says 'did you mean "enable"?'
	run -1 hyptrace strem --cpu 0
	says 'did you mean "stream"?'
	run -1 hyptrace frobnicate
	says 'unknown verb "frobnicate"'
	says 'Try "hyptrace help".'
	[[ $output != *"did you mean"* ]]
	run -1 hyptrace ''
	says 'unknown verb ""'
	same "$(enabled "${remotes[-1]}")" ""
}

@test "an unknown option is a usage error" {
	run -1 hyptrace --frobnicate list
	says frobnicate
	says 'Try "hyptrace help".'
	run -1 hyptrace list --frobnicate
	says frobnicate
	says 'Try "hyptrace help list".'
	run -1 hyptrace -Z list
	run -1 hyptrace list -r
	says 'Try "hyptrace help list".'
}

@test "--help lists all verbs, and each verb has its own --help" {
	run -0 hyptrace --help
	for verb in $verbs Watch Files Control; do
		says "$verb"
	done
	for verb in $verbs; do
		run -0 hyptrace "$verb" --help
		says "$verb"
		says '--remote'
		[[ ${lines[0]} == "Usage: hyptrace $verb [OPTION...]"* ]]
		# the line that says what the verb does
		[[ ${lines[1]} == [A-Z]* ]]
		case $verb in
		catch | clear | count | mark | page | record | show | stat | status | strace | stream | top | who) says '--cpu' ;;
		*) [[ $output != *--cpu* ]] ;;
		esac
		same "$(hyptrace "$verb" -h)" "$output" "-h of $verb"
	done
	same "$(hyptrace -h)" "$(hyptrace --help)"
	same "$(hyptrace help enable | head -n 1)" 'Usage: hyptrace enable [OPTION...] EVENT...'
	same "$(hyptrace help stream | head -n 1)" 'Usage: hyptrace stream [OPTION...] [EVENT...] [-- COMMAND...]'
}

@test "top needs a terminal or -b, and checks its options" {
	run -1 hyptrace top </dev/null
	says 'top needs a terminal: use -b to print blocks of text'
	run -1 hyptrace top -b --by nothing
	says 'cannot print rows by "nothing": use one of reason, hcall, exit, vcpu, vm, cpu, memory, lock'
	run -1 hyptrace top -b -d 1ms
	says 'the interval is too short: use at least 100ms'
	run -1 hyptrace top -b --delay 2s
	says '--delay is --interval now: use "-d 2s"'
	run -1 hyptrace top -b --from 1
	says 'name it with --input'
	run -1 hyptrace top -b -d soon
	says 'bad time "soon"'
	run -1 hyptrace top -b -k colour
	says 'unknown key "colour"'
	run -1 hyptrace top -b -n 0
	says 'bad count "0"'
	run -1 hyptrace top -b -i x --duration 1s
	says 'a file is read: that takes no --duration and no command'
	run -1 hyptrace -r test top -b -i x
	says '--remote is for the machine'
	run -1 hyptrace -r test report
	says '--remote is for the machine'
	run -1 hyptrace top -b file
	says 'unexpected argument "file"'
}

@test "a letter that has another meaning now is refused, and the message names the new option" {
	for verb in list status count; do
		run -1 hyptrace "$verb" -o cpu
		says '-o and --output write to a file: use --columns=cpu'
		run -1 hyptrace "$verb" --output=cpu
		says 'use --columns=cpu'
	done
	run -1 hyptrace list -p
	says '--pretty has no letter: -p is --pid of strace'
}

@test "an error of a verb says where its help is" {
	while read -r verb rest; do
		# shellcheck disable=SC2086 # words
		run -1 --separate-stderr hyptrace "$verb" $rest
		same "$output" ""
		same "${stderr_lines[-1]}" "Try \"hyptrace help $verb\"." "end of: $verb $rest"
		[[ ${stderr_lines[0]} == "hyptrace: "* ]]
		same "${#stderr_lines[@]}" 2 "lines of: $verb $rest"
	done <<-END
		list --columns
		enable
		disable --frobnicate
		start now
		stop -C 0
		load --size x
		unload now
		clear now
		reset now
		set
		status --columns nothing
		stream -n 0
		catch
		catch --count 0 host_hcall
		catch --after x host_hcall
		catch -o - host_hcall
		catch host_hcall duration
		catch host_hcall duration -- true
		catch -- true
		record now
		record --rotate 2
		record --duration 0
		show --time=never
		count --columns nothing
		count --off
		count --reset host_hcall
		count --cpu 0 host_hcall
		count --histogram --columns count
		count --histogram --reset
		monitor now
		mark
		mark 1 2
		page
		page 1 live now
		leaks live now
		leaks -i
		who
		who hyp
		who --leaks live now
		who --leaks --address
		help list status
	END
}

@test "errors of arguments name what is missing or wrong" {
	run -1 hyptrace set
	says 'no setting given: use --size, --mode or --rate'
	run -1 hyptrace enable
	says 'no event given: use names'
	run -1 hyptrace mark
	says 'no number given'
	run -1 hyptrace stream --time=soon
	says 'bad time "soon": use abs, rel, delta or wall'
	for options in '-v --columns id' '-v --names' '--names --columns id'; do
		# shellcheck disable=SC2086 # words
		run -1 hyptrace list $options
		says 'exclude each other'
	done
}

@test "characters that a terminal may interpret are escaped in messages" {
	run -2 hyptrace -r test enable $'x\033y\n'
	says 'cannot enable "x\x1by\x0a": no such event'
}

@test "help prints the same as --help" {
	same "$(hyptrace help)" "$(hyptrace --help)"
	for verb in $verbs; do
		same "$(hyptrace help "$verb")" "$(hyptrace "$verb" --help)"
	done
	run -1 hyptrace help strem
	says 'did you mean "stream"?'
	run -1 hyptrace help list status
	says '"status"'
	run -1 hyptrace help frobnicate
	says 'unknown verb "frobnicate"'
}

@test "a verb that does not take --cpu says so" {
	run -1 hyptrace start --cpu 0
	says 'does not take --cpu'
	run -1 hyptrace -C 0 list
	says 'does not take --cpu'
}

@test "--version prints the version" {
	run -0 hyptrace --version
	[[ $output =~ ^hyptrace\ [0-9] ]]
}

@test "an unknown remote is refused, and the message names it and the known remotes" {
	for words in list status start stop load unload clear reset "set --size 4K" "enable hyp_enter" "disable all" \
		"mark 1" "stream --count 1" show monitor count "count hyp_enter" "count --reset"; do
		# shellcheck disable=SC2086 # words
		run -2 timeout "$patience" hyptrace -r nonsense $words
		says 'nonsense'
		says "${remotes[-1]}"
	done
	run -2 hyptrace -r '' status
	run -2 hyptrace -r "$(printf 'x%.0s' {1..500})" status
}

@test "messages begin with the program's name" {
	for words in "enable nonsense" "-r nonsense list" "status -C 4095" "mark 1"; do
		# shellcheck disable=SC2086 # words
		run -2 --separate-stderr hyptrace $words
		same "$output" ""
		[[ $stderr == hyptrace:* ]]
	done
	run -1 --separate-stderr hyptrace mark x
	same "$output" ""
	[[ $stderr == hyptrace:* ]]
}
