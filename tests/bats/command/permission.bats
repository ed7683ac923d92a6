#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Permissions: the table in hyptrace(4), and the mode of the device file.

load ../helper

teardown()
{
	chgrp 0 /dev/hyptrace
	chmod 600 /dev/hyptrace
	tidy
}

# as_nobody [--groups GROUP] COMMAND...: run it as nobody, with the options $caps of setpriv.
as_nobody()
{
	local groups=--clear-groups
	[[ $1 != --groups ]] || { groups=--groups=$2 && shift 2; }
	# shellcheck disable=SC2086 # words
	setpriv --reuid 65534 --regid 65534 "$groups" ${caps:-} "$@"
}

# nobody [--groups GROUP] COMMAND...: run it as nobody, without capabilities.
nobody()
{
	caps='' as_nobody "$@"
}

# perfmon [--groups GROUP] COMMAND...: run it as nobody with CAP_PERFMON.
perfmon()
{
	caps='--inh-caps +perfmon --ambient-caps +perfmon' as_nobody "$@"
}

# as WHO COMMAND...: run it as a column of the table in hyptrace(4) says. The device has the group 4242.
as()
{
	local who=$1
	shift
	case $who in
	none) nobody "$@" ;;
	G) nobody --groups 4242 "$@" ;;
	P) perfmon "$@" ;;
	PG) perfmon --groups 4242 "$@" ;;
	A) caps='--inh-caps +sys_admin --ambient-caps +sys_admin' as_nobody --groups 4242 "$@" ;;
	N) unshare --user --map-root-user "$@" ;;
	esac
}

# verb_of FIRST-WORD: set $verb to a command of a row, and prepare what it needs.
verb_of()
{
	ht reset
	case $1 in
	list) verb="status" ;;
	stream) tracing_marks && ht mark 3 && verb="stream --count 1" ;;
	start) verb="start" ;;
	enable) verb="enable -F id>1 selftest" ;;
	the) tracing_marks && verb="stop" ;;
	load) verb="load --size 32M" ;;
	monitor) verb="monitor --count 1" && { while ht enable selftest && ht disable selftest; do :; done & } ;;
	*) false ;;
	esac
}

# tests/kselftest/test_rights.c tries each request.
@test "each verb needs what the table of hyptrace(4) says" {
	local columns=(none G P PG A N) rows=0 row words cells i verb
	chgrp 4242 /dev/hyptrace
	chmod 640 /dev/hyptrace
	while read -r row; do
		words=${row%% Ta *}
		IFS=' ' read -ra cells <<<"${row#"$words"}"
		verb_of "${words%%[, ]*}"
		for i in "${!columns[@]}"; do
			# shellcheck disable=SC2086 # words
			run as "${columns[i]}" hyptrace -r test $verb
			same "$status ${cells[2 * i + 1]}" "$([[ $status == 2 ]] && echo "2 -" || echo "0 y")" \
				"$words, ${columns[i]}: $output"
			# It has changed the state.
			((status)) || { tidy && verb_of "${words%%[, ]*}"; }
		done
		tidy
		((++rows))
	done < <(sed -n 's/^\.It \(.* Ta [-y] Ta -\)$/\1/p' /mnt/repo/tools/man/hyptrace.4)
	same "$rows" 7
}

@test "reading also needs the permission of the device file" {
	same "$(stat -c '%a %U' /dev/hyptrace)" "600 root"
	tracing_marks
	ht mark 3
	run -2 perfmon hyptrace -r test stream --count 1
	says '/dev/hyptrace'
	chmod 666 /dev/hyptrace
	run -2 nobody hyptrace -r test stream --count 1
	run -0 --separate-stderr perfmon hyptrace -r test stream --count 1
	same "$(ids <<<"$output")" 3
}

# value KEY: print the value of KEY in the installed udev rule. KEY includes its operator.
value()
{
	sed -n "s/^[^#]*$1\"\([^\"]*\)\".*/\1/p" /usr/local/lib/udev/rules.d/60-hyptrace.rules
}

# There is no udev here: give the device the mode of the rule, and a group of number 4242.
@test "the installed udev rule lets its group read, and no other user" {
	same "$(value KERNEL==)" "$(sed -n s/^DEVNAME=//p /sys/class/misc/hyptrace/uevent)|hyptrace-previous"
	same "$(value SUBSYSTEM==)" "$(basename "$(readlink -f /sys/class/misc/hyptrace/subsystem)")"
	same "$(value GROUP=)" "$(sed -n 's/^g \([^ ]*\) .*/\1/p' /usr/local/lib/sysusers.d/hyptrace.conf)"
	chgrp 4242 /dev/hyptrace
	chmod "$(value MODE=)" /dev/hyptrace
	tracing_marks
	ht mark 3
	run -2 perfmon hyptrace -r test stream --count 1
	says 'group 4242'
	run -2 nobody --groups 4242 hyptrace -r test stream --count 1
	run -0 --separate-stderr perfmon --groups 4242 hyptrace -r test stream --count 1
	same "$(ids <<<"$output")" 3
}
