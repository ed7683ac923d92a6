#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# README.md shows what the demo prints.

load ../helper

# form: the commands and titles of the demo's output, without numbers
form()
{
	sed -nE '/^#|^The|^Next/p; s/^ *(CPU|NAME|% TIME|caught|usual time|before)[ :].*/\1/p' | sed -E 's/[0-9]+/N/g'
}

@test "README.md shows what the demo prints, in fewer than 40 lines of 100 columns" {
	grep -qE 'Protected (nVHE|hVHE) mode' <(dmesg) || skip "the hypervisor is not in protected mode"
	run -0 --keep-empty-lines /mnt/repo/tests/vm/demo-inside.sh
	shown=$(sed -n '/^# hyptrace stream host_hcall guest_exit &$/,/^```$/p' /mnt/repo/README.md)
	same "$(form <<<"$shown")" "$(form <<<"$output")"
	(($(wc -l <<<"$shown") <= 40))
	(($(wc -L <<<"$shown") <= 100 && $(wc -L <<<"$output") <= 100))
}
