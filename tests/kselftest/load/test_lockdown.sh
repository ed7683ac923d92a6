#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In the machine: kernel lockdown (confidentiality) forbids everything, also to root. It stays until the machine ends, so
# run.sh runs this last.

set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"

# forbidden VERB...: succeed if hyptrace refuses it because of the lockdown
forbidden()
{
	local said code=0
	said=$(hyptrace -r test "$@" 2>&1) || code=$?
	echo "$said"
	[[ $code == 2 && $said == *lockdown* ]]
}

# open_device WORDS: succeed if the device opens, or if it does not and the message has these words
open_device()
{
	local said
	said=$({ : <>/dev/hyptrace; } 2>&1)
	echo "$said"
	[[ ${said:-none} == *"${1:-none}"* ]]
}

verbs=(list status start stop load unload clear reset "set --size 4K" "enable selftest" "disable all" "mark 1" "wait"
	"stream --count 1" show "record -o /dev/null" "monitor --count 1")
plan $((${#verbs[@]} + 4))
modprobe -a hyptrace_test
[[ -d /sys/kernel/security/lockdown ]] || mount -t securityfs none /sys/kernel/security
check "the device can be opened" open_device
check "the kernel can be locked down" eval 'echo confidentiality >/sys/kernel/security/lockdown'
for verb in "${verbs[@]}"; do
	# shellcheck disable=SC2086 # words
	check "$verb is forbidden" forbidden $verb
done
check "the device is forbidden" open_device "Operation not permitted"
check "debugfs is forbidden" refused cat /sys/kernel/debug/hyptrace/test/cpu0
