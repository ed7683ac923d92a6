#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# enable --filter: the writer records only the events that meet the filter, and counts the others.

load ../helper

# filter_of EVENT: print the filter of the event, or null.
filter_of()
{
	ht -j list | jq -r ".[0].events[] | select(.name == \"$1\").filter"
}

# refused LINE...: succeed if stderr of "run" is exactly these lines, and no event is enabled.
refused()
{
	same "$stderr" "$(printf '%s\n' "$@")" stderr
	same "$output" "" stdout
	same "$(enabled)" ""
}

# filtering FILTER: start tracing with selftest enabled for the events that meet the filter.
filtering()
{
	ht load
	ht enable selftest --filter "$1"
	ht start
}

@test "a filter accepts one in a thousand of 100000 events, exactly those" {
	needs filters
	filtering 'id >= 5000 && id < 5100'
	ht mark 0 --count 100000 -C 0
	same "$(total written)" 100
	same "$(total filtered)" 99900
	same "$(total unread)" 100
	counts_add_up
	ht stop
	run -0 --separate-stderr ht stream --no-start
	ids <<<"$output" | numbered 5000 5099
	same "${stderr_lines[0]}" 'hyptrace: "selftest" has the filter "id >= 5000 && id < 5100" at EL2: the other ones are missing'
	same "${stderr_lines[-1]}" "hyptrace: 100 events printed, 0 discarded, 0 lost"
}

@test "list and status show the filter in the words it was given in" {
	needs filters
	filtering ' id==7||id &  0x10 '
	same "$(filter_of selftest)" ' id==7||id &  0x10 '
	same "$(filter_of hyp_enter)" null
	run -0 ht list --columns event,state,filter
	same "$(grep selftest <<<"$output" | xargs)" 'selftest enabled id==7||id & 0x10'
	run -0 ht list -v
	says 'id==7||id &  0x10'
	same "$(of .filters.selftest)" ' id==7||id &  0x10 '
	same "$(of '.filters | length')" 1
	run -0 ht status
	says 'selftest:  id==7||id &  0x10'
	says FILTERED
	ht mark 0 --count 32 -C 0
	run -0 ht status --columns written,filtered -C 0
	same "$(xargs <<<"${lines[1]}")" "17 15"
}

@test "enable without --filter removes the filter, and so does disable" {
	needs filters
	filtering 'id == 1'
	ht mark 0 --count 10 -C 0
	same "$(total written)" 1
	ht enable selftest
	same "$(filter_of selftest)" null
	ht mark 0 --count 10 -C 0
	same "$(total written)" 11
	ht enable selftest -F 'id == 2'
	ht disable selftest
	same "$(filter_of selftest)" null
	ht enable selftest
	ht mark 0 --count 10 -C 0
	same "$(total written)" 21
	same "$(total filtered)" 9
	run -0 ht status
	[[ $output != *filters* ]]
}

@test "a new filter replaces the last one, and a second one is refused" {
	needs filters
	ht enable selftest -F 'id == 3'
	run -1 ht enable selftest -F 'id == 1' --filter='id == 4'
	says '--filter is given twice: join the conditions by "&&"'
	same "$(filter_of selftest)" 'id == 3'
	ht enable selftest -F 'id == 4'
	same "$(filter_of selftest)" 'id == 4'
}

@test "a filter of several events applies to each of them" {
	needs filters
	ht enable 'hyp_e*' --filter 'reason == guest_exit && vcpu > 0'
	same "$(enabled)" "hyp_enter hyp_exit"
	same "$(filter_of hyp_enter)" 'reason == guest_exit && vcpu > 0'
	same "$(filter_of hyp_exit)" 'reason == guest_exit && vcpu > 0'
	same "$(of '.filters | keys | join(" ")')" "hyp_enter hyp_exit"
	ht reset
	same "$(filter_of hyp_enter)" null
}

@test "a wrong filter is a usage error, with a caret below what is wrong" {
	run -1 --separate-stderr ht enable selftest -F 'id == 1 && idd > 5'
	refused 'hyptrace: wrong filter: the event "selftest" has no field "idd"; did you mean "id"?' \
		'  id == 1 && idd > 5' \
		'             ^'
	run -1 --separate-stderr ht enable selftest --filter '(id == 1'
	refused 'hyptrace: wrong filter: ")" is missing for this "("' \
		'  (id == 1' \
		'  ^'
	run -1 --separate-stderr ht enable selftest --filter ''
	refused 'hyptrace: wrong filter: the filter is empty' \
		'  ' \
		'  ^'
}

@test "a filter must fit all named events, and the message names the one that it does not fit" {
	needs filters
	run -1 --separate-stderr ht enable selftest hyp_enter -F 'id == 1'
	refused 'hyptrace: wrong filter: the event "hyp_enter" has no field "id"' \
		'  id == 1' \
		'  ^'
	run -1 --separate-stderr ht enable hyp_enter selftest hyp_exit -F 'id == 1'
	refused 'hyptrace: wrong filter: the events "hyp_enter", "hyp_exit" have no field "id"' \
		'  id == 1' \
		'  ^'
	run -1 --separate-stderr ht enable hyp_enter mem_transition -F 'reason == share'
	[[ $stderr == *'event "hyp_enter": the field "reason" has no value "share"'* ]]
	run -1 --separate-stderr ht enable mem_transition hyp_pool -F 'op == share'
	[[ $stderr == *'event "hyp_pool": the field "op" has no value "share"'* ]]
	same "$(enabled)" ""
}

@test "an unknown event is refused before its filter is looked at" {
	run -2 --separate-stderr ht enable nonsense --filter 'nonsense'
	refused 'hyptrace: cannot enable "nonsense": no such event'
}

@test "a filter that is too long is refused" {
	needs filters
	long=$(printf '%-1010s' 'id == 1 &&')
	run -2 --separate-stderr ht enable selftest --filter "$long id == 1 || id == 2"
	same "$stderr" 'hyptrace: cannot enable "selftest": a filter has at most 1023 characters'
	same "$(enabled)" ""
	run -0 ht enable selftest --filter "$long id == 1"
	same "$(filter_of selftest)" "$long id == 1"
}

@test "a refused filter leaves the filter as it was" {
	needs filters
	filtering 'id == 1'
	run -1 ht enable selftest hyp_enter --filter 'id == 2'
	run -2 ht enable selftest nonsense
	same "$(filter_of selftest)" 'id == 1'
	ht mark 0 --count 10 -C 0
	same "$(total written)" 1
}

@test "a stream does not change the filter, and its own filter is counted apart" {
	needs filters
	filtering 'id & 1'
	stream_begin -F 'id < 10'
	ht mark 0 --count 20 -C 0
	within "$patience" has_lines 5 "$out"
	stream_end
	same "$(ids <"$out" | xargs)" "1 3 5 7 9"
	same "$(<"$err")" 'hyptrace: "selftest" has the filter "id & 1" at EL2: the other ones are missing
hyptrace: 5 events printed, 5 filtered, 0 discarded, 0 lost'
	same "$(filter_of selftest)" 'id & 1'
	same "$(total filtered)" 10
}
