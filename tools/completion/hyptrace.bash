# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Completion of hyptrace in bash: verbs, options, names of events and remotes.

# What the command prints. Behind "sudo" it runs as sudo does, unless that takes a password: then nothing is known.
_hyptrace_run()
{
	hyptrace "$@" 2>/dev/null && return
	[[ " ${FUNCNAME[*]} " =~ \ _(comp_cmd_)?sudo\  ]] && sudo -n hyptrace "$@" 2>/dev/null
}

# Values of "name" in the JSON that is read: of the remotes, or of the events. An array
# "events" follows the name of its remote, and names hold nothing that JSON escapes.
_hyptrace_names()
{
	local what=$1 json name rest
	shift
	json=$(_hyptrace_run "$@" list -j) || return
	rest=$json
	while [[ $rest =~ \"name\":\"([^\"]*)\",\"(description|id)\":(.*) ]]; do
		name=${BASH_REMATCH[1]}
		case $what:${BASH_REMATCH[2]} in
		remotes:description | events:id) printf '%s\n' "$name" ;;
		esac
		rest=${BASH_REMATCH[3]}
	done
}

_hyptrace()
{
	local cur prev verb='' i remote=() words
	local global='--json --pretty --remote= --color= --help --usage --version'
	local verbs='list enable disable start stop load unload clear reset set status stream show monitor mark help'

	cur=${COMP_WORDS[COMP_CWORD]}
	prev=${COMP_WORDS[COMP_CWORD - 1]}
	COMPREPLY=()

	# "--remote=test" comes as three words
	if [[ $cur == = ]]; then
		cur=
	elif [[ $prev == = ]]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi

	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-r | --remote)
			[[ ${COMP_WORDS[i + 1]-} != = ]] || i=$((i + 1))
			i=$((i + 1))
			((i >= COMP_CWORD)) || remote=(--remote="${COMP_WORDS[i]}")
			;;
		-C | --cpu | --color | --size | --mode | --rate | --count | --last | --order-bound)
			[[ ${COMP_WORDS[i + 1]-} != = ]] || i=$((i + 1))
			i=$((i + 1))
			;;
		-* | =) ;;
		*) [[ -n $verb ]] || verb=${COMP_WORDS[i]} ;;
		esac
	done

	# the verbs that take it, and a line that has no verb yet
	case $verb in
	'' | clear | mark | show | status | stream) global+=' --cpu=' ;;
	esac

	case $prev in
	-r | --remote) words=$(_hyptrace_names remotes) ;;
	-C | --cpu) words="all $(seq -s ' ' 0 $(($(getconf _NPROCESSORS_CONF) - 1)))" ;;
	--color) words='auto always never' ;;
	--mode) words='overwrite discard' ;;
	--size) words='64K 1M 16M' ;;
	--rate | --count | --last | --order-bound) return ;;
	*)
		case $verb in
		'') words="$verbs $global" ;;
		list) words="--verbose $global" ;;
		enable | disable)
			if [[ $cur == -* ]]; then
				words=$global
			else
				words="all $(_hyptrace_names events "${remote[@]}")"
			fi
			;;
		load) words="--size= --mode= $global" ;;
		set) words="--size= --mode= --rate= $global" ;;
		show) words="--last= --ns $global" ;;
		help) words="$verbs $global" ;;
		stream) words="--count= --no-start --ns --order-bound= $global" ;;
		monitor | mark) words="--count= $global" ;;
		*) words=$global ;;
		esac
		;;
	esac

	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
	# no blank after "--size="
	[[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
}

complete -F _hyptrace hyptrace
