#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Permissions: CAP_PERFMON or CAP_SYS_ADMIN, and the mode of the device file.

load ./helper

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

@test "the user nobody is refused each verb, and nothing changes" {
	for words in list status start stop load unload clear reset "set --size 4K" "enable hyp_enter" "disable all" \
		"mark 1" "stream --count 1" "monitor --count 1"; do
		# shellcheck disable=SC2086 # words
		run -2 nobody hyptrace -r test $words
		[[ $output =~ [Pp]ermi|CAP_PERFMON ]]
	done
	same "$(of '.state, .size_requested' | xargs)" "unloaded 1048576"
	same "$(enabled)" ""
}

@test "the refusal names the capability" {
	run -2 nobody hyptrace list
	says 'CAP_PERFMON'
}

@test "the user nobody with CAP_PERFMON can control a remote" {
	run -0 perfmon hyptrace -r test enable selftest
	same "$(enabled)" selftest
	run -0 perfmon hyptrace -r test start
	run -0 perfmon hyptrace -r test mark 3
	run -0 perfmon hyptrace -r test status
	says tracing
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
	chmod 600 /dev/hyptrace
	same "$(ids <<<"$output")" 3
}

# value KEY: print the value of KEY in the installed udev rule. KEY includes its operator.
value()
{
	sed -n "s/^[^#]*$1\"\([^\"]*\)\".*/\1/p" /usr/local/lib/udev/rules.d/60-hyptrace.rules
}

# There is no udev here: give the device the mode of the rule, and a group of number 4242.
@test "the installed udev rule lets its group read, and no other user" {
	same "$(value KERNEL==)" "$(sed -n s/^DEVNAME=//p /sys/class/misc/hyptrace/uevent)"
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
	chgrp 0 /dev/hyptrace
	chmod 600 /dev/hyptrace
	same "$(ids <<<"$output")" 3
}

@test "root of a user namespace is refused" {
	unshare --user --map-root-user true || skip "this kernel has no user namespaces"
	run -2 unshare --user --map-root-user hyptrace -r test enable selftest
	same "$(enabled)" ""
}
