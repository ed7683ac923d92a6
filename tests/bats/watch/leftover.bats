#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What others have left behind, or do meanwhile: each verb that reads the rings says why events are missing, in the same
# words. "says" is the table of these words, and of the verbs that have a reason to say something else, or nothing.

load ../helper

export REMOTE=hypervisor

verbs=(stream strace stat top catch record show page leaks)

declare -A says=(
	[filter]='"host_hcall" has the filter "duration > 1h" at EL2: the other ones are missing'
	[trigger]='host_hcall on CPU N at T: the recording has stopped (use "hyptrace start" to resume it)'
	[stopped]='tracing was switched off: later events are missing (use "hyptrace start" to resume it)'
	[disabled]='"host_hcall" was disabled: later ones are missing'
	[cleared]='the rings were cleared: events that were not read yet are missing'
	[counted]=
)

# noted VERB ACTION: run the verb, and the action while it runs; print what it says about missing events
noted()
{
	local act=(bash -c "$2 >/dev/null")
	case $1 in
	stream | strace | stat) ht "$1" -- "${act[@]}" ;;
	catch) ht catch 'host_hcall && duration > 1h' -- "${act[@]}" ;;
	record) ht record -o "$BATS_TEST_TMPDIR/trace.dat" -- "${act[@]}" ;;
	top) { sleep 1 && "${act[@]}"; } & ht top -b -d 3s -n 1 ;;
	show) "${act[@]}" && ht show ;;
	page) "${act[@]}" && ht page 0x42470 ;;
	leaks) "${act[@]}" && ht leaks ;;
	esac 2>&1 >/dev/null | sed -n 's/^hyptrace: //p' | grep -E 'missing|cleared|disabled|filter|recording' |
		sed -E 's/CPU [0-9]+ at [0-9.]+:/CPU N at T:/'
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
		[[ $said == "${says[$state $verb]-${says[$state]}}" ]] || wrong+="$verb: $said"$'\n'
	done
	same "$wrong" "" "verbs that say something else"
}

@test "a filter of somebody else is told in the same words" {
	all_say filter true "enable hyp_enter hyp_exit host_hcall" "enable host_hcall -F 'duration > 1h'" start
}

@test "a trigger of somebody else is told in the same words" {
	all_say trigger "workload --sysreg 10" "enable hyp_enter hyp_exit" "enable host_hcall --stop" start
}

@test "a stop is told in the same words" {
	all_say stopped "hyptrace -r hypervisor stop" "enable hyp_enter hyp_exit host_hcall" start
}

@test "a disabled event is told in the same words" {
	all_say disabled "hyptrace -r hypervisor disable host_hcall" "enable hyp_enter hyp_exit host_hcall" start
}

@test "a clear is told in the same words" {
	all_say cleared "hyptrace -r hypervisor clear" "enable hyp_enter hyp_exit host_hcall" start
}

@test "counting of somebody else changes nothing" {
	all_say counted "workload --sysreg 10" "enable hyp_enter hyp_exit host_hcall" start "enable --count host_hcall"
}
