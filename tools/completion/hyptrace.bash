# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Completion of hyptrace in bash. The verbs and options are those that "hyptrace help" prints.

# Run the command. After "sudo" also run it by sudo, unless that needs a password.
_hyptrace_run()
{
	hyptrace "$@" 2>/dev/null && return
	[[ " ${FUNCNAME[*]} " =~ \ _(comp_cmd_)?sudo\  ]] && sudo -n hyptrace "$@" 2>/dev/null
}

# Print the verbs, or the formats of the verb "export".
_hyptrace_listed()
{
	_hyptrace_run help "$@" | sed -nE '/^(Verbs|Formats):/,/^$/s/^  ([a-z]*) .*/\1/p'
}

# Print the long options of a verb, or those before a verb.
_hyptrace_options()
{
	_hyptrace_run help "$@" | sed -n 's/^ *\(-., \)\{0,1\} *\(--[a-z-]*=\{0,1\}\).*/\2/p'
}

# Print the names that the key $1 follows in JSON: "id" follows an event's, "description" a remote's.
# Only plain names: a print format may have any text as the name of a value.
_hyptrace_names()
{
	_hyptrace_run "${@:2}" list -j | grep -o "\"name\":\"[A-Za-z0-9_-]*\",\"$1\"" | cut -d '"' -f 4
}

# Print the names of the values of the fields $1 in the JSON of "list".
_hyptrace_values()
{
	grep -oE "\"name\":\"($1)\",\"type\"[^}]*}" | grep -o '"[0-9]*":"[A-Za-z0-9_-]*"' | cut -d '"' -f 4
}

# Offer the words of standard input that begin with $1, each with $2 before it. "compgen -W" would expand the words.
_hyptrace_offer()
{
	local word
	while read -r word; do
		[[ -z $word || $word != "$1"* ]] || COMPREPLY+=("$2$word")
	done < <(sort -u)
}

# Complete the last name of a filter: a field, or after an operator a value of the field before it. $2 is the last word
# of the line, and $1 the part of the filter before that.
_hyptrace_filter()
{
	local cur=${2#[\'\"]} word head list
	local operator='([A-Za-z_][A-Za-z0-9_]*)[[:blank:]]*([=!<>]=|[<>&])[[:blank:]]*$'

	word=${cur##*[!A-Za-z0-9_]}
	cur=${cur%"$word"}
	head=${1#[\'\"]}$cur
	list=$(_hyptrace_run "${@:3}" list -vj)
	_hyptrace_offer "$word" "$cur" < <(
		if [[ $head =~ $operator ]]; then
			_hyptrace_values "${BASH_REMATCH[1]}" <<<"$list"
		elif [[ $head =~ (^|&&|\|\||\()[[:blank:]]*$ ]]; then
			grep -o '"name":"[A-Za-z0-9_-]*","type"' <<<"$list" | cut -d '"' -f 4
		fi
	)
	# bash closes a quote after the only word; without a blank, one key opens it again
	compopt -o nospace 2>/dev/null
}

_hyptrace()
{
	local cur prev before='' verb='' i last=$COMP_CWORD remote=() words
	local line=("${COMP_WORDS[@]:0:COMP_CWORD+1}")
	# what follows the name of an event that can be counted
	local countable='id"[^}]*"counted":[a-z]*e,'

	COMPREPLY=()
	# "--remote=test" is three words, and so is an unquoted "op==donate"; without its last letters it is two.
	[[ ${line[last]} != *[!=]* && -n ${line[last]} ]] && line[++last]=
	cur=${line[last]}
	while ((last > 2)) && [[ ${line[last - 1]} == =* && ${line[last - 2]} != -* ]]; do
		before=${line[last - 2]}${line[last - 1]}$before
		((last -= 2))
	done
	prev=${line[last - 1]}
	[[ $prev != = ]] || prev=${line[last - 2]}

	for ((i = 1; i < last; i++)); do
		case ${line[i]} in
		-r | --remote)
			[[ ${line[i + 1]-} != = ]] || i=$((i + 1))
			i=$((i + 1))
			((i >= last)) || remote=(--remote="${line[i]}")
			;;
		-C | -F | -d | -e | -f | -i | -k | -n | -o | --after | --by | --cpu | --color | --columns | --duration | --event | --file | --limit | --rotate | --size | --mode | --rate | --count | --delay | --filter | --format | --from | --host | --input | --interval | --key | --idle | --keep | --order-bound | --out | --pid | --pmu | --time | --timeout | --to | --trace | --with)
			[[ ${line[i + 1]-} != = ]] || i=$((i + 1))
			i=$((i + 1))
			;;
		-* | =*) ;;
		*) [[ -n $verb ]] || verb=${line[i]} ;;
		esac
	done

	# this one has no argument
	[[ $verb:$prev != @(enable|disable):--count ]] || prev=
	case $prev in
	-r | --remote) words=$(_hyptrace_names description) ;;
	-F | --filter)
		_hyptrace_filter "$before" "$cur" "${remote[@]}"
		return
		;;
	-C | --cpu) words="all $(seq -s ' ' 0 $(($(getconf _NPROCESSORS_CONF) - 1)))" ;;
	--color) words='auto always never' ;;
	--mode) words='overwrite discard' ;;
	--size) words='64K 1M 16M' ;;
	--time) words='abs rel delta wall' ;;
	--by) words='reason hcall exit vcpu vm cpu memory lock' ;;
	-k | --key)
		words='samples time min max mean p50 p90 p99 p99.9 guest name'
		[[ $verb != top ]] || words='name rate time mean max p99 samples total guest'
		;;
	-e | --event | --trace)
		if [[ $verb == strace ]]; then
			# its calls: the values of the fields that name them, and their events
			words='host_hcall host_smc psci_call host_ffa_call guest_exit guest_fixup '
			words+=$(_hyptrace_run "${remote[@]}" list -vj | _hyptrace_values 'id|func|func_id|code|ec')
		elif [[ $verb == graph ]]; then
			words=$(_hyptrace_run "${remote[@]}" list -vj func | _hyptrace_values '[^"]*')
		else
			words="all $(_hyptrace_names id "${remote[@]}")"
		fi
		;;
	-f | --format) words=$(_hyptrace_listed export) ;;
	--pmu) words='cycles instructions l1i_cache_refill l1d_cache_refill l1d_tlb_refill br_mis_pred mem_access' ;;
	--host) words=$(find /sys/kernel/tracing/events -mindepth 1 -maxdepth 1 -type d -printf '%f ' 2>/dev/null) ;;
	-i | -o | --file | --input | --out | --with)
		compopt -o default 2>/dev/null
		return
		;;
	-d | -n | --after | --columns | --delay | --duration | --from | --idle | --interval | --keep | --limit | --rotate | --rate | --count | --order-bound | --pid | --timeout | --to) return ;;
	*)
		case $verb:$cur in
		*:-*) words=$(_hyptrace_options ${verb:+"$verb"}) ;;
		:* | help:*) words=$(_hyptrace_listed) ;;
		list:* | enable:* | disable:* | stream:*) words="all $(_hyptrace_names id "${remote[@]}")" ;;
		catch:*) words=$(_hyptrace_names id "${remote[@]}") ;;
		count:*) words="all $(_hyptrace_names "$countable" "${remote[@]}")" ;;
		report:* | dump:* | export:* | page:* | leaks:* | who:*)
			compopt -o default 2>/dev/null
			return
			;;
		*) words=$(_hyptrace_options "$verb") ;;
		esac
		;;
	esac

	_hyptrace_offer "$cur" '' < <(tr ' ' '\n' <<<"$words")
	# no blank after "--size="
	[[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
}

complete -F _hyptrace hyptrace
