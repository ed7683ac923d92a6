#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What others have left behind, or do meanwhile: each verb that reads the rings says why events are missing, in the same
# words. "says" is the table of these words, and of the verbs that have a reason to say something else, or nothing.

load ../helper

export REMOTE=hypervisor

verbs=(stream export strace stat top catch record show page leaks)

has_stopped='the recording has stopped (use "hyptrace start" to resume it)'
declare -gA says=(
	[filter]='"host_hcall" has the filter "ret == 77" at EL2: the other ones are missing'
	[trigger]='the trigger of "host_hcall" has stopped the recording: later events are missing (use "hyptrace start" to resume it)'
	# these hear of it when it fires
	[trigger stream]="host_hcall on CPU N at T: stop: $has_stopped"
	[trigger export]="host_hcall on CPU N at T: stop: $has_stopped"
	[trigger strace]="host_hcall on CPU N at T: stop: $has_stopped"
	[fired]='the trigger of "host_hcall" has stopped the recording: later events are missing (use "hyptrace start" to resume it)'
	[stopped]='tracing was switched off: later events are missing (use "hyptrace start" to resume it)'
	[stopped catch]='cannot go on to catch "host_hcall": tracing was switched off'
	[disabled]='"host_hcall" was disabled: later ones are missing'
	[disabled leaks]='cannot look for leaks: the event "host_hcall" is not enabled (use "hyptrace enable mem_transition host_hcall" and "hyptrace start")'
	[disabled catch]='cannot go on to catch "host_hcall": somebody else has disabled it or changed its trigger'
	[cleared]='the rings were cleared: events that were not read yet are missing'
	[cleared record]='CPU N: the ring was cleared: events that were not read yet are missing'
	[counted]=''
	# EL2 only counts for these: no event is needed
	[filter stat]='' [trigger stat]='' [fired stat]='' [stopped stat]='' [disabled stat]='' [cleared stat]=''
	[filter top]='' [trigger top]='' [fired top]='' [stopped top]='' [disabled top]='' [cleared top]=''
	# these set filters and triggers of their own in place of others
	[filter strace]='' [filter catch]='' [trigger catch]=''
	[fired catch]='cannot catch events of "hypervisor": a trigger has stopped the recording (use "hyptrace start" to resume it)'
	# this prints what is there, whatever follows
	[trigger show]='' [fired show]='' [stopped show]='' [disabled show]='' [cleared show]=''
	# what was consumed or cleared is no longer theirs to miss
	[cleared page]='' [cleared leaks]=''
)

# noted VERB ACTION: run the verb, and the action while it runs; print what it says about missing events
noted()
{
	local act=(bash -c "$2 >/dev/null")
	case $1 in
	stream | strace | stat) ht "$1" -- "${act[@]}" ;;
	# it hears of the action before its command ends
	catch) ht catch 'host_hcall && ret == 77' -- bash -c "{ $2; } >/dev/null; sleep 1" ;;
	record) ht record -o "$BATS_TEST_TMPDIR/trace.dat" -- "${act[@]}" ;;
	top) { sleep 1 && "${act[@]}"; } & ht top -b -d 3s -n 1 ;;
	show) "${act[@]}" && ht show ;;
	page) "${act[@]}" && ht page 0x42470 ;;
	leaks) "${act[@]}" && { ht leaks || (($? == 3)); } ;;
	export) ht export -o "$BATS_TEST_TMPDIR/x.json" -- "${act[@]}" ;;
	esac 2>&1 >/dev/null | tee "$BATS_TEST_TMPDIR/raw" | sed -n 's/^hyptrace: //p' | grep -E 'missing$|missing \(|cannot go on|is not enabled|recording has stopped|has stopped the recording' |
		sed -E 's/CPU [0-9]+ at [0-9.]+:/CPU N at T:/; s/CPU [0-9]+:/CPU N:/' | sort -u
}

# all_say STATE ACTION [SETTING...]: compare what each verb says, after "ht SETTING" for each of the settings
all_say()
{
	local state=$1 action=$2 verb setting said wrong=''
	shift 2
	for verb in "${verbs[@]}"; do
		ht reset
		for setting; do
			eval "ht $setting"
		done
		said=$(noted "$verb" "$action") || true
		[[ $said == "${says[$state $verb]-${says[$state]}}" ]] || wrong+="$verb: $said"$'\n'"$(<"$BATS_TEST_TMPDIR/raw")"$'\n'
	done
	same "$wrong" "" "verbs that say something else"
}

# bats test_tags=slow
@test "a filter of somebody else is told in the same words" {
	all_say filter true "enable hyp_enter hyp_exit mem_transition host_hcall" "enable host_hcall -F 'ret == 77'" start
}

# bats test_tags=slow
@test "a trigger of somebody else is told in the same words" {
	all_say trigger "workload --sysreg 10" "enable hyp_enter hyp_exit mem_transition" "enable host_hcall --stop" start
}

# bats test_tags=slow
@test "a stop is told in the same words" {
	all_say stopped "workload --sysreg 5; hyptrace -r hypervisor stop" "enable hyp_enter hyp_exit mem_transition host_hcall" start
}

@test "a disabled event is told in the same words" {
	all_say disabled "hyptrace -r hypervisor disable host_hcall" "enable hyp_enter hyp_exit mem_transition host_hcall" start
}

# bats test_tags=slow
@test "a clear is told in the same words" {
	all_say cleared "workload --sysreg 10; sleep .5; hyptrace -r hypervisor clear" "enable hyp_enter hyp_exit mem_transition host_hcall" start
}

@test "counting of somebody else changes nothing" {
	all_say counted "workload --sysreg 10" "enable hyp_enter hyp_exit mem_transition host_hcall" start "enable --count host_hcall"
}

# bats test_tags=slow
@test "a trigger of somebody else that has fired before is told in the same words" {
	all_say fired true "enable hyp_enter hyp_exit mem_transition" "enable host_hcall --stop" \
		"start; workload --sysreg 10 >/dev/null"
}
