# shellcheck shell=bash
# shellcheck disable=SC2154 # work is of run.sh
# SPDX-License-Identifier: GPL-2.0-only
# The completion of zsh and fish, and of bash where names from the kernel are offered; tests/bats/command/completion.bats tests
# the rest. To be sourced by run.sh, which has $work.

# A command with a verb that takes an option, and a sudo that needs no password.
fake_commands()
{
	mkdir -p "$work/bin" "$work/home"
	cat >"$work/bin/hyptrace" <<-'EOT'
		#!/bin/sh
		case " $* " in
		" help ") printf '%s\n' '  -V, --version    Print it' '' 'Verbs:' ' Watch it:' '  enable   Enable events.' \
			'  count    Count events.' '  graph    Functions.' '' ;;
		" help enable ") printf '%s\n' '      --mode=MODE      Choose' '  -r, --remote=REMOTE   Work on it' \
			'  -F, --filter=FILTER  Only these' ;;
		" help graph ") printf '%s\n' '  -e, --event=FUNCTIONS  Only these' ;;
		*" list -vj func "*)
			[ -n "$AS_ROOT" ] || exit 2
			printf '[{"name":"x","events":[{"name":"func","id":4,"fields":[{"name":"id","type":"u16","symbols":%s}]}]}]\n' \
				'{"0":"handle_trap","1":"hyp_map"}'
			;;
		*" list "*)
			[ -n "$AS_ROOT" ] || exit 2
			printf '[{"name":"test","description":"x","events":[%s,{"name":"hyp_enter","id":1,"fields":[%s,%s]}]}]\n' \
				'{"name":"tlbi","id":2,"counted":null,"enabled":true},{"name":"host_hcall","id":3,"counted":false,"enabled":true}' \
				'{"name":"op","type":"u8","symbols":{"0":"share","1":"unshare","2":"$(touch ~/ran)","3":"a b"}}' \
				'{"name":"order","type":"u32","signed":false}'
			;;
		esac
	EOT
	printf '#!/bin/sh\nshift\nAS_ROOT=1 exec "$@"\n' >"$work/bin/sudo"
	chmod +x "$work/bin/hyptrace" "$work/bin/sudo"
}

# Print what fish offers for the last word of a line.
fish_offers()
{
	# shellcheck disable=SC2016 # fish expands it
	LINE=$1 fish -c 'source hyptrace.fish; complete -C $LINE' 2>&1 | cut -f 1
}

# Print what bash offers for the last word of a line, whose words have a "|" between them.
bash_offers()
{
	# shellcheck disable=SC2016 # the inner bash expands it
	LINE=$1 bash -c '
		source ./hyptrace.bash
		mapfile -td "|" COMP_WORDS < <(printf "%s|" "$LINE")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_hyptrace
		printf "%s\n" "${COMPREPLY[@]}"'
}

# zsh completes only in an interactive shell on a terminal. This .zshrc completes $LINE, records the matches and exits.
zsh_profile()
{
	cat >"$work/home/.zshrc" <<-'EOT'
		fpath=($PWD $fpath)
		autoload -Uz compinit && compinit -u -d ~/dump
		compadd()
		{
			local -a _matches
			# With -A, -D or -O, compadd only filters words: it offers none.
			[[ ${@[1,(i)(-|--)]} == *-[ADO]\ * ]] || builtin compadd -A _matches "$@"
			print -rl -- $_matches >>~/offered
			builtin compadd "$@"
		}
		zle-line-init()
		{
			BUFFER=$LINE CURSOR=$#LINE
			zle complete-word
			exit
		}
		zle -N zle-line-init
	EOT
}

# Print what zsh offers for the last word of a line. zpty gives the inner shell a terminal; timeout ends both.
zsh_offers()
{
	: >"$work/home/offered"
	LINE=$1 ZDOTDIR=$HOME TERM=dumb timeout -k 1 10 \
		zsh -f -c 'zmodload zsh/zpty && zpty inner zsh -d -i && while zpty -r inner; do :; done' >/dev/null ||
		echo '(zsh did not finish)'
	grep . "$work/home/offered" | sort -u
}

# offers SHELL LINE WANTED: check what the shell offers for the last word, in one line
offers()
{
	local got
	got=$(cd tools/completion && HOME=$work/home PATH=$work/bin:$PATH "$1_offers" "$2" 2>&1 | tr '\n' ' ')
	[[ ${got% } == "$3" ]] || { echo "after \"$2\" $1 offers \"${got% }\", not \"$3\"" && return 1; }
}

# completes SHELL MODE BEFORE...: check the completion of a shell, which offers the option MODE, and BEFORE with a name
# of a filter
completes()
{
	local bad=0
	offers "$1" 'hyptrace en' enable || bad=1
	offers "$1" 'hyptrace --v' --version || bad=1
	offers "$1" 'hyptrace enable --mo' "$2" || bad=1
	offers "$1" 'hyptrace enable --mode ' 'discard overwrite' || bad=1
	# without root the names are refused
	offers "$1" 'hyptrace enable ' all || bad=1
	AS_ROOT=1 offers "$1" 'hyptrace enable h' 'host_hcall hyp_enter' || bad=1
	AS_ROOT=1 offers "$1" 'hyptrace count ' 'all host_hcall' || bad=1
	AS_ROOT=1 offers "$1" 'hyptrace graph -e ' 'handle_trap hyp_map' || bad=1
	AS_ROOT=1 offers "$1" 'hyptrace enable -r ' test || bad=1
	offers "$1" 'sudo hyptrace enable hy' hyp_enter || bad=1
	AS_ROOT=1 offers "$1" 'hyptrace enable -F o' 'op order' || bad=1
	AS_ROOT=1 offers "$1" "hyptrace enable --filter 'op == s" "$3share" || bad=1
	# what is no name is not offered
	AS_ROOT=1 offers "$1" "hyptrace enable --filter 'op == " "$3share $3unshare" || bad=1
	AS_ROOT=1 offers "$1" "hyptrace enable --filter op==" "${3:+op==}share ${3:+op==}unshare" || bad=1
	AS_ROOT=1 offers "$1" "hyptrace enable --filter='op != share && or" "$4order" || bad=1
	AS_ROOT=1 offers "$1" "hyptrace enable -F 'order < " '' || bad=1
	return "$bad"
}

check_fish_completion()
{
	need fish
	fish -N -n tools/completion/hyptrace.fish || return
	fake_commands
	completes fish --mode 'op == ' '--filter=op != share && '
}

check_bash_completion()
{
	local bad=0
	fake_commands
	offers bash 'hyptrace|en' enable || bad=1
	export AS_ROOT=1
	offers bash 'hyptrace|enable|h' 'host_hcall hyp_enter' || bad=1
	offers bash 'hyptrace|-r|t' test || bad=1
	offers bash 'hyptrace|graph|-e|h' 'handle_trap hyp_map' || bad=1
	offers bash 'hyptrace|show|-F|o' 'op order' || bad=1
	offers bash "hyptrace|show|-F|'op == s" 'op == share' || bad=1
	# what is no name is not offered, and nothing runs
	offers bash "hyptrace|show|-F|'op == " 'op == share op == unshare' || bad=1
	# without quotes, bash makes words of it
	offers bash 'hyptrace|show|-F|op|==|u' unshare || bad=1
	offers bash 'hyptrace|show|--filter|=|op|==' 'share unshare' || bad=1
	offers bash 'hyptrace|show|-F|op!|=|' 'share unshare' || bad=1
	offers bash 'hyptrace|show|-F|op|==|share|--m' '' || bad=1
	offers bash 'hyptrace|show|-F|op|==|share|' "$(cd tools/completion && bash_offers 'hyptrace|show|' | xargs)" || bad=1
	offers bash 'hyptrace|enable|--mode|=|d' discard || bad=1
	[[ ! -e $work/home/ran ]] || { echo 'bash runs a name' && bad=1; }
	return "$bad"
}

check_zsh_completion()
{
	need zsh
	zsh -f -n tools/completion/_hyptrace || return
	fake_commands
	zsh_profile
	completes zsh --mode= '' ''
}
