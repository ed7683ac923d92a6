# shellcheck shell=bash
# shellcheck disable=SC2154 # work is of run.sh
# SPDX-License-Identifier: GPL-2.0-only
# The completion of zsh and fish; tests/bats/completion.bats tests that of bash. To be sourced by run.sh, which has $work.

# A command with one verb that takes an option, and a sudo that needs no password.
fake_commands()
{
	mkdir -p "$work/bin" "$work/home"
	cat >"$work/bin/hyptrace" <<-'EOT'
		#!/bin/sh
		case " $* " in
		" help ") printf '%s\n' '  -V, --version    Print it' '' 'Verbs:' '  enable   Enable events.' '' ;;
		" help enable ") printf '%s\n' '      --mode=MODE      Choose' '  -r, --remote=REMOTE   Work on it' ;;
		*" list "*)
			[ -n "$AS_ROOT" ] || exit 2
			printf '[{"name":"test","description":"x","events":[{"name":"hyp_enter","id":1}]}]\n'
			;;
		esac
	EOT
	printf '#!/bin/sh\nshift\nAS_ROOT=1 exec "$@"\n' >"$work/bin/sudo"
	chmod +x "$work/bin/hyptrace" "$work/bin/sudo"
}

# offers LINE WANTED: what fish offers for the last word, in one line
offers()
{
	local got
	got=$(cd tools/completion && HOME=$work/home PATH=$work/bin:$PATH \
		fish -c "source hyptrace.fish; complete -C '$1'" 2>&1 | cut -f 1 | tr '\n' ' ')
	[[ $got == "$2 " ]] || { echo "after \"$1\" fish offers \"${got% }\", not \"$2\"" && return 1; }
}

check_fish_completion()
{
	local bad=0
	need fish
	fish -N -n tools/completion/hyptrace.fish || return
	fake_commands
	offers 'hyptrace en' enable || bad=1
	offers 'hyptrace --v' --version || bad=1
	offers 'hyptrace enable --mo' --mode || bad=1
	offers 'hyptrace enable --mode ' 'discard overwrite' || bad=1
	# without root the names are refused
	offers 'hyptrace enable ' all || bad=1
	AS_ROOT=1 offers 'hyptrace enable h' hyp_enter || bad=1
	AS_ROOT=1 offers 'hyptrace enable -r ' test || bad=1
	offers 'sudo hyptrace enable h' hyp_enter || bad=1
	return "$bad"
}

check_zsh_completion()
{
	need zsh
	zsh -f -n tools/completion/_hyptrace
}
