# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Completion of hyptrace in bash. The verbs and options are those that "hyptrace help" prints.

# Run the command. After "sudo" also run it by sudo, unless that needs a password.
_hyptrace_run()
{
	hyptrace "$@" 2>/dev/null && return
	[[ " ${FUNCNAME[*]} " =~ \ _(comp_cmd_)?sudo\  ]] && sudo -n hyptrace "$@" 2>/dev/null
}

_hyptrace_verbs()
{
	_hyptrace_run help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

# Print the long options of a verb, or those before a verb.
_hyptrace_options()
{
	_hyptrace_run help "$@" | sed -n 's/^ *\(-., \)\{0,1\} *\(--[a-z-]*=\{0,1\}\).*/\2/p'
}

# Print the names that the key $1 follows in JSON: "id" follows an event's, "description" a remote's.
_hyptrace_names()
{
	_hyptrace_run "${@:2}" list -j | grep -o "\"name\":\"[^\"]*\",\"$1\"" | cut -d '"' -f 4
}

# Complete the last name of a filter: a field, or after an operator a value of the field before it.
_hyptrace_filter()
{
	local text=${1#[\'\"]} word head list words='' i
	local operator='([A-Za-z_][A-Za-z0-9_]*)[[:blank:]]*([=!<>]=|[<>&])[[:blank:]]*$'

	word=${text##*[!A-Za-z0-9_]}
	head=${text%"$word"}
	list=$(_hyptrace_run "${@:2}" list -vj)
	if [[ $head =~ $operator ]]; then
		words=$(grep -o "\"name\":\"${BASH_REMATCH[1]}\",\"type\"[^}]*}" <<<"$list" |
			grep -o '"[0-9]*":"[^"]*"' | cut -d '"' -f 4)
	elif [[ $head =~ (^|&&|\|\||\()[[:blank:]]*$ ]]; then
		words=$(grep -o '"name":"[^"]*","type"' <<<"$list" | cut -d '"' -f 4)
	fi

	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word" | sort -u)
	for i in "${!COMPREPLY[@]}"; do
		COMPREPLY[i]=$head${COMPREPLY[i]}
	done
	# the filter goes on
	compopt -o nospace 2>/dev/null
}

_hyptrace()
{
	local cur prev verb='' i remote=() words
	# what follows the name of an event that can be counted
	local countable='id"[^}]*"counted":[a-z]*e,'

	cur=${COMP_WORDS[COMP_CWORD]}
	prev=${COMP_WORDS[COMP_CWORD - 1]}
	COMPREPLY=()

	# "--remote=test" is three words
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
		-C | -F | -n | -o | --after | --cpu | --color | --size | --mode | --rate | --count | --filter | --last | --order-bound | --output | --time | --timeout)
			[[ ${COMP_WORDS[i + 1]-} != = ]] || i=$((i + 1))
			i=$((i + 1))
			;;
		-* | =) ;;
		*) [[ -n $verb ]] || verb=${COMP_WORDS[i]} ;;
		esac
	done

	case $prev in
	-r | --remote) words=$(_hyptrace_names description) ;;
	-F | --filter)
		_hyptrace_filter "$cur" "${remote[@]}"
		return
		;;
	-C | --cpu) words="all $(seq -s ' ' 0 $(($(getconf _NPROCESSORS_CONF) - 1)))" ;;
	--color) words='auto always never' ;;
	--mode) words='overwrite discard' ;;
	--size) words='64K 1M 16M' ;;
	--time) words='abs rel delta wall' ;;
	-n | -o | --after | --rate | --count | --last | --order-bound | --output | --timeout) return ;;
	*)
		case $verb:$cur in
		*:-*) words=$(_hyptrace_options ${verb:+"$verb"}) ;;
		:* | help:*) words=$(_hyptrace_verbs) ;;
		enable:* | disable:* | stream:*) words="all $(_hyptrace_names id "${remote[@]}")" ;;
		count:*) words="all $(_hyptrace_names "$countable" "${remote[@]}")" ;;
		*) words=$(_hyptrace_options "$verb") ;;
		esac
		;;
	esac

	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
	# no blank after "--size="
	[[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
}

complete -F _hyptrace hyptrace
