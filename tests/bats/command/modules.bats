#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Modules: not loaded, in use, removed and loaded again. The kselftest test_leak.sh does that a hundred times.

load ../helper

unload_all()
{
	modprobe -r hyptrace_pkvm hyptrace_test hyptrace
}

teardown()
{
	echo 0 >/proc/sys/kernel/dmesg_restrict
	[[ ! -e $BATS_TEST_TMPDIR/modprobe ]] || cat "$BATS_TEST_TMPDIR/modprobe" >/proc/sys/kernel/modprobe
	tidy
}

@test "without the driver every verb says that it must be loaded" {
	unload_all
	# Keep the kernel from loading the driver by the name of its netlink family.
	cat /proc/sys/kernel/modprobe >"$BATS_TEST_TMPDIR/modprobe"
	echo /nonexistent >/proc/sys/kernel/modprobe
	for words in list status start "enable all" "stream --count 1" "monitor --count 1" "mark 1"; do
		# shellcheck disable=SC2086 # words
		run -2 timeout "$patience" hyptrace $words
		says 'hyptrace'
		says 'load'
	done
	[[ ! -e /sys/module/hyptrace ]]
}

@test "every verb makes the kernel load the driver, and says that no remote is registered" {
	unload_all
	for words in status start "enable all" "stream --count 1" "mark 1"; do
		# shellcheck disable=SC2086 # words
		run -2 timeout "$patience" hyptrace $words
		says 'no remote is registered'
		says 'load hyptrace_pkvm'
	done
	[[ -e /sys/module/hyptrace ]]
	run -2 timeout "$patience" hyptrace -r test status
}

@test "without a remote list prints nothing, and says what to load" {
	unload_all
	modprobe hyptrace
	run -0 --separate-stderr hyptrace list
	same "$output" ""
	[[ $stderr == *"no remote is registered: load hyptrace_pkvm (the hypervisor) or hyptrace_test"* ]]
	for option in -j --pretty "-j --columns event"; do
		# shellcheck disable=SC2086 # words
		run -0 --separate-stderr hyptrace list $option
		same "$(jq -c . <<<"$output")" '[]' "list $option"
	done
	run -2 hyptrace -r test list
}

@test "the kernel's reason is printed if hyptrace_pkvm was refused" {
	unload_all
	modprobe hyptrace
	echo '<3>hyptrace_pkvm: no hypervisor to trace: this is a test' >/dev/kmsg
	# Neither of these is an error message of the module.
	echo '<4>hyptrace_pkvm: a warning' >/dev/kmsg
	echo '<3>hyptrace: hyptrace_pkvm: something else' >/dev/kmsg
	run -0 hyptrace list
	says 'hyptrace: the last error of hyptrace_pkvm: no hypervisor to trace: this is a test'
	# A user who may not read the log gets a hint where the reason is.
	echo 1 >/proc/sys/kernel/dmesg_restrict
	run -0 setpriv --bounding-set -all,+perfmon --inh-caps -all,+perfmon hyptrace list
	says 'no remote is registered'
	says 'the kernel log'
}

@test "the module of a remote cannot be removed while a stream reads its rings" {
	stream_begin
	run ! modprobe -r hyptrace_test
	stream_end
	modprobe -r hyptrace_test
	run -2 hyptrace -r test status
}

@test "the module of a tracing remote can be removed, and its remote comes back reset" {
	tracing_marks --size 64K
	ht mark 1 --count 100
	modprobe -r hyptrace_test
	modprobe hyptrace_test
	same "$(of '.state, .size_requested' | xargs)" "unloaded 1048576"
	same "$(enabled)" ""
}

@test "hyptrace_pkvm can be removed while tracing, and its remote comes back reset" {
	export REMOTE=hypervisor
	tracing_marks --size 64K
	ht enable all
	modprobe -r hyptrace_pkvm
	modprobe hyptrace_pkvm
	same "$(of '.state, .size_requested' | xargs)" "unloaded 1048576"
	tracing_marks
	ht mark 1
	same "$(drain | ids)" 1
}

hears()
{
	ht enable hyp_exit
	ht disable hyp_exit
	[[ -s $BATS_TEST_TMPDIR/out ]]
}

last_line()
{
	tail -n 1 "$BATS_TEST_TMPDIR/out" | grep -q "$1"
}

@test "monitor reports remotes that are unregistered and registered" {
	hyptrace monitor >"$BATS_TEST_TMPDIR/out" 3>&- &
	monitor=$!
	within "$patience" hears
	modprobe -r hyptrace_test
	within "$patience" grep -q ' remote test: removed$' "$BATS_TEST_TMPDIR/out"
	modprobe hyptrace_test
	within "$patience" last_line " remote test: unloaded"
	kill "$monitor"
	ended "$monitor"
	same "$code" 0
}

@test "an event that is not in the kernel is said to be so, and not enabled" {
	local missing incomplete
	modprobe hyptrace_test
	missing=$(ht -r test list -j | jq '[.[0].events[] | select(.name | IN("tlbi", "hyp_exit", "host_ffa_call")) | pow(2; .id)] | add')
	incomplete=$(ht -r test list -j | jq '.[0].events[] | select(.name == "mem_transition") | pow(2; .id)')
	modprobe -r hyptrace_test
	modprobe hyptrace_test missing="$missing" incomplete="$incomplete"
	run -0 ht -r test list
	same "$(sed -n 's/^ *\([a-z_]*\) .*not in this kernel.*/\1/p' <<<"$output" | sort | xargs)" "host_ffa_call hyp_exit tlbi"
	same "$(sed -n 's/^ *\([a-z_]*\) .*without guests.*/\1/p' <<<"$output" | xargs)" mem_transition
	run -0 ht -r test list -v tlbi
	says "not in this kernel"
	run -0 ht -r test list -v -j
	jq -e '.[0].events | map(select(.missing) | .name) | sort == ["host_ffa_call", "hyp_exit", "tlbi"]' <<<"$output"
	jq -e '.[0].events | map(select(.incomplete) | .name) == ["mem_transition"]' <<<"$output"

	run -2 ht -r test enable tlbi
	says '"tlbi" is not in this kernel'
	run -2 ht -r test enable selftest tlbi
	jq -e '.[0].events | all(.enabled == false)' <<<"$(ht -r test list -j)"
	# globs leave it out
	run -0 ht -r test enable 'hyp_*'
	run -0 ht -r test enable all
	jq -e '.[0].events | all(.enabled != (.missing or .name == "func"))' <<<"$(ht -r test list -j)"
	run -0 ht -r test disable all

	# what chooses events by itself leaves it out
	run -0 ht -r test strace -c -- true
	run -0 ht -r test strace -e '!host_ffa_call' -- true
	run -2 ht -r test strace -e guest_exit,host_ffa_call -- true
	says '"host_ffa_call": it is not in this kernel'
	run -2 ht -r test strace -e 'host_ffa*' -- true
	says "host_ffa_call is not in this kernel"
	run -0 ht -r test catch selftest -- true
	run -0 ht -r test stream -e 'hyp_*' -- true
	run -2 ht -r test stream -e hyp_exit -- true
	says '"hyp_exit": it is not in this kernel'
	run -2 ht -r test record -o x.dat -e hyp_exit -- true
	says 'cannot record "hyp_exit": it is not in this kernel'
	run -2 ht -r test stream selftest,hyp_enter
	says 'write blanks between events, not commas'
	run -2 ht -r test stat -- true
	says "needs hyp_exit, which is not in this kernel"
	modprobe -r hyptrace_test
	modprobe hyptrace_test
	jq -e '.[0].events | any(.missing or .incomplete) | not' <<<"$(ht -r test list -j)"
}
