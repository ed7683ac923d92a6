#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Two remotes: which one a verb acts on, and what completion offers.

load ../helper
load ./complete

@test "without -r a verb acts on the hypervisor" {
	run -0 hyptrace enable hyp_exit
	same "$(enabled hypervisor)" hyp_exit
	same "$(enabled test)" ""
	hyptrace start
	same "$(hyptrace -r hypervisor -j status | jq -r '.[0].state')" tracing
	same "$(hyptrace -r test -j status | jq -r '.[0].state')" unloaded
}

@test "without -r a verb acts on the only remote" {
	modprobe -r hyptrace_pkvm
	run -0 hyptrace enable hyp_exit
	same "$(enabled test)" hyp_exit
}

@test "without -r status and list show all remotes" {
	same "$(hyptrace -j status | jq -r 'map(.name) | sort | join(" ")')" "hypervisor test"
	run -0 hyptrace status
	says hypervisor
	says test
}

@test "remotes and the events that they count are completed" {
	# shellcheck source=/dev/null
	source /usr/local/share/bash-completion/completions/hyptrace
	same "$(complete_line hyptrace list --remote h)" hypervisor
	same "$(complete_line hyptrace -r hypervisor count --off '' | xargs)" "all guest_exit host_hcall hyp_enter lock_wait mem_transition"
	same "$(complete_line hyptrace -r hypervisor stream -F "'reason == gues")" "reason == guest_exit"
}
