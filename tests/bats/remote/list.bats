#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# list: the events of a remote, as text and as JSON.

load ../helper

@test "list prints a line for each event" {
	run -0 ht list
	says "$REMOTE"
	for event in hyp_enter hyp_exit selftest; do
		[[ $output =~ ${event}[[:blank:]].*disabled ]]
	done
	ht enable hyp_exit
	run -0 ht list
	[[ $output =~ hyp_exit[[:blank:]].*enabled ]]
	[[ $output =~ hyp_enter[[:blank:]].*disabled ]]
}

@test "list -j is one JSON document with the remote and its events" {
	run -0 ht list -j
	same "$(jq -r '.[0].name' <<<"$output")" "$REMOTE"
	jq -e '.[0].events | map(.name) | contains(["hyp_enter", "hyp_exit", "selftest"])' <<<"$output"
	jq -e '.[0].events | all(.enabled == false)' <<<"$output"
	# mainline numbers its events from 0
	jq -e '.[0].events | map(.id) | (unique | length) == length and all(. > 0 or env.REMOTE == "kernel")' <<<"$output"
}

@test "list --pretty is the same document, indented" {
	run -0 ht list --pretty
	((${#lines[@]} > 5))
	same "$(jq -cS . <<<"$output")" "$(ht list -j | jq -cS .)"
}

@test "list -v shows offset, size and sign of each field" {
	run -0 ht list -v -j
	same "$(jq -c '.[0].events[] | select(.name == "hyp_enter").fields | map([.name, .offset, .size, .signed])' \
		<<<"$output")" '[["reason",2,1,false],["vcpu",4,4,true]]'
	same "$(jq -c '.[0].events[] | select(.name == "selftest").fields | map([.name, .offset, .size, .signed])' \
		<<<"$output")" '[["id",8,8,false]]'
	same "$(jq -c '.[0].events[] | select(.name == "hyp_exit").size' <<<"$output")" 8
}

@test "list -v shows the names of a field's values" {
	run -0 ht list -v -j
	same "$(jq -c '.[0].events[] | select(.name == "hyp_exit").fields[] | select(.name == "reason").symbols' \
		<<<"$output" | jq -r 'to_entries | map(.value) | sort | join(" ")')" \
		"eret_guest eret_host guest_exit host_abort hvc psci smc sys unknown"
}

@test "list -v says how many names there are, and --names prints them" {
	run -0 ht list -v hyp_exit
	[[ $output =~ reason[^$'\n']*[[:blank:]]9$'\n' && $output == *'{ 0, "smc" }, ...)'* && $output != *eret_guest* ]]
	run -0 ht list --names hyp_exit -j
	same "$(jq -c '.[0].events | map(.name, (.names | length), .names[0])' <<<"$output")" \
		'["hyp_exit",9,{"field":"reason","value":"0","name":"smc"}]'
	run -0 ht list --names hyp_exit
	says eret_guest
}

@test "list EVENT prints these events only" {
	same "$(ht list -j 'hyp_e*' selftest | jq -r '[.[0].events[].name] | join(" ")')" 'hyp_enter hyp_exit selftest'
	same "$(ht list --columns event hyp_exit | xargs)" 'EVENT hyp_exit'
	run -2 ht list hyp_exti
	says 'cannot list "hyp_exti": no such event; did you mean "hyp_exit"?'
	same "$(ht list -vj selftest | jq -c '.[0].events | map(has("counted"))')" '[true]'
}

@test "list shows triggers" {
	needs triggers
	ht enable --stop selftest
	run -0 ht list selftest
	[[ $output =~ COUNTED.*TRIGGER ]] && [[ ${lines[-1]} =~ enabled.*stop ]]
}

@test "list -v prints formats that contain no C names" {
	needs "exits of guests"
	run -0 ht list -v
	says '__print_symbolic('
	says 'guest_exit'
	[[ $output != *HYPTRACE_* ]]
}

@test "list without -r shows all remotes" {
	run -0 hyptrace -j list
	same "$(jq -r '.[].name' <<<"$output" | sort)" "$(printf '%s\n' "${remotes[@]}" | sort)"
}
