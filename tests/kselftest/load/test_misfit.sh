#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In a machine with two CPUs and one of the misfits of vm/lib.sh as reserved memory: whether the driver uses it, and what it
# says. The smallest that fits has 148 pages for descriptions, and 4 for each CPU's ring.

set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"

case $(</proc/cmdline) in
*reserve_mem=620K:*) expected='is not used: it is too small' ;;
*reserve_mem=624K:*) expected='624 KB at .* outlive a reset' ;;
*) expected='is not used: it is not aligned to pages' ;;
esac

driver_says_so()
{
	modprobe -r hyptrace_test && dmesg -C && modprobe hyptrace_test kept=1 && dmesg || return
	dmesg | grep -q "hyptrace: .*$expected"
}

# The smallest rings, in that memory or elsewhere
rings_can_be_loaded()
{
	hyptrace -r test load --size 4K && hyptrace -r test start && hyptrace -r test enable selftest &&
		hyptrace -r test mark 1 --cpu 1 && [[ $(hyptrace -r test show) == *'selftest: id=1'* ]] && hyptrace -r test reset &&
		! dmesg | grep 'will lose its rings'
}

# The smallest memory has no room for the addresses of all pages of such rings. They work nevertheless.
descriptions_may_be_lost()
{
	local remote message='a reset will lose some of what it should not: the memory that outlives it is too small'
	modprobe -r hyptrace_test && dmesg -C && modprobe hyptrace_faulty remotes=8 || return
	for remote in faulty faulty{2..8}; do
		hyptrace -r "$remote" load --size 8M || return
	done
	case $expected in
	*outlive*) dmesg | grep "$message" ;;
	*) ! dmesg | grep "$message" ;;
	esac && rmmod hyptrace_faulty && modprobe hyptrace_test
}

plan 3
check "the driver says what it thinks of the memory" driver_says_so
check "rings can be loaded" rings_can_be_loaded
check "descriptions of remotes are there, or their loss is logged" descriptions_may_be_lost
