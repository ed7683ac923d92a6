#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# A kernel with hyptrace built in, whose command line starts a trace: see vm/modes.sh.

load ../helper

words='host_hcall,hyp_enter,hyp_exit:size=1M:mode=discard'

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
	# shellcheck disable=SC2034 # ht reads it
	REMOTE=hypervisor
}

@test "the trace began before the first program, right after EL2 was protected" {
	local first begin init now at
	grep -q "hyptrace=$words" /proc/cmdline
	ht status -j | jq -e '.[0] | .state == "tracing" and .mode == "discard" and .size_requested == 1048576'
	# without protection, nobody enters EL2 before there is a VM
	[[ -z ${HYPTRACE_UNPROTECTED:-} ]] || return 0
	first=$(ht show -q 2>said | sed -n '1s/^\[[0-9]*\] *\([0-9.]*\):.*/\1/p')
	[[ -n $first ]]
	# the kernel's log has the time of another clock: what to add to it
	read -r now _ </proc/uptime
	echo "boot.bats: now" >/dev/kmsg
	dmesg >log
	at=$(sed -n 's/^\[ *\([0-9.]*\)\] boot.bats: now$/\1/p' log)
	begin=$(sed -n 's/^\[ *\([0-9.]*\)\] .*Protected .* initialized successfully.*/\1/p' log)
	init=$(sed -n 's/^\[ *\([0-9.]*\)\] Run .* as init process.*/\1/p' log)
	[[ -n $at && -n $begin && -n $init ]]
	awk -v first="$first" -v init="$init" -v now="$now" -v at="$at" -v begin="$begin" '
		BEGIN { add = now - at; print begin + add, first, init + add
			exit first < begin + add - 0.1 || first >= init + add + 0.1 }'
}

@test "all events since then are in the rings, and EL2 has counted as many" {
	local written lost
	workload >/dev/null
	ht stop
	ht status -j >state.json
	jq -e '.[0].cpus | all(.written == .read + .lost + .unread)' state.json
	written=$(jq '[.[0].cpus[].written] | add' state.json)
	lost=$(jq '[.[0].cpus[].lost] | add' state.json)
	((written > 1000))
	same "$(ht show -q | wc -l)" "$((written - lost))"
	ht record -q --snapshot -o boot.dat
	same "$(hyptrace report -q boot.dat | wc -l)" "$((written - lost))"
}

@test "a wrong word was named" {
	dmesg | grep -q 'remote "hypervisor": "colour=red" in the words of the boot is ignored: there is no such option'
}

@test "the present state in words is that of the boot" {
	run -0 ht status --boot
	same "$output" "hyptrace=hyp_enter,hyp_exit,host_hcall:size=1048576:mode=discard"
	run -0 ht status --boot="$output"
}
