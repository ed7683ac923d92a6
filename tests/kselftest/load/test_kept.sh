#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In a machine with reserve_mem=...:hyptrace: what the driver finds of the boot before. There is no reset: the modules are
# removed, and the module hyptrace_reset puts back what was in the memory. tests/blackbox resets machines.

set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"

reset=/sys/module/hyptrace_reset/parameters
previous=/dev/hyptrace-previous
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

unload()
{
	local module
	for module in hyptrace_faulty hyptrace_test hyptrace; do
		[[ ! -d /sys/module/$module ]] || rmmod "$module" || return
	done
}

# load: the log of the kernel from now on is in $work/log
load()
{
	dmesg -C
	modprobe hyptrace && modprobe hyptrace_test kept=1 && dmesg >"$work/log"
}

# said TEXT
said()
{
	grep -F "$1" "$work/log" || { cat "$work/log" && return 1; }
}

finds_nothing()
{
	unload && load && said ' outlive a reset' && ! grep 'copied what boot' "$work/log" && [[ ! -e $previous ]]
}

# The rings are in the memory. Each CPU has other events.
records()
{
	local cpu
	hyptrace -r test enable selftest && hyptrace -r test load --size 64K && hyptrace -r test start || return
	date +%s >"$work/begin"
	for cpu in 0 1; do
		hyptrace -r test mark $((1000 * cpu)) --count 700 --cpu "$cpu" || return
	done
	date +%s >"$work/end"
	hyptrace -r test show --ns >"$work/shown" && (($(wc -l <"$work/shown") == 1400)) && ! grep 'too small' <(dmesg)
}

resets()
{
	echo 1 >"$reset/save" && unload && echo 1 >"$reset/restore"
}

finds_all()
{
	local boot at
	resets && load && said 'copied what boot' || return
	boot=$(sed -n 's/.*copied what boot \([^ ]*\) has left.*/\1/p' "$work/log")
	cat "$previous" >"$work/image" && hyptrace report -q --ns "$work/image" >"$work/report" &&
		cmp "$work/shown" "$work/report" && [[ $(hyptrace dump -j "$work/image" | jq -r '.. | .boot? // empty') == "$boot" ]] ||
		return
	at=$(date -d "$(hyptrace report -q --time wall "$work/image" | sed -n '1s/^\[[0-9]*\] *\([^.]*\).*/\1/p')" +%s) &&
		(($(<"$work/begin") <= at && at <= $(<"$work/end")))
}

# A remote that was removed is not in it. The number of places that remotes have had is at byte 54: see
# linux/hyptrace_dump.h.
forgets_what_was_removed()
{
	unload && load && modprobe hyptrace_faulty && rmmod hyptrace_test && resets && load && said 'copied what boot' || return
	cat "$previous" >"$work/image" && (($(od -An -tu2 -j 54 -N 2 "$work/image") == 6)) &&
		! hyptrace report -r test "$work/image" >"$work/log" 2>&1 && said 'no such remote "test"' &&
		! hyptrace report -r faulty "$work/image" >"$work/log" 2>&1 && said 'no ring of "faulty"' || return
	# nothing else is described after the last one
	unload && load && rmmod hyptrace_test && resets && load && said 'copied what boot'
}

# The device is a file of the size of the memory, which can be read from any place.
is_a_file()
{
	local size
	size=$(stat -c %s "$work/image")
	((size == 2 << 20)) && [[ $(stat -c %a "$previous") == 400 ]] &&
		! dd if="$previous" bs=1 skip=$((size + 1)) count=1 2>/dev/null && cmp <(tail -c 5000 "$work/image") <(tail -c 5000 "$previous") && ! echo 1 2>/dev/null >"$previous"
}

# refuses OFFSET TEXT: one byte of the first page has changed
refuses()
{
	records && resets && echo "$1" >"$reset/damage" && load || return
	if [[ -n $2 ]]; then said "$2"; else ! grep 'is damaged' "$work/log"; fi || return
	! grep 'copied what boot' "$work/log" && [[ ! -e $previous ]]
}

# Of the 2 MB, each ring needs a page for each sub-buffer, one for the reader, and one of data about them.
says_what_does_not_fit()
{
	unload && load || return
	hyptrace -r test load --size 960K && dmesg >"$work/log" &&
		said '"test": a reset will lose its rings: the memory that outlives it has no room for 1936 KB' &&
		hyptrace -r test reset
}

# A remote whose rings are not to be kept does not need the memory.
says_nothing_of_other_rings()
{
	unload && dmesg -C && modprobe hyptrace && modprobe hyptrace_test && hyptrace -r test load --size 960K &&
		! grep 'will lose' <(dmesg) && hyptrace -r test reset
}

# Without a size, rings are as large as fit.
takes_what_fits()
{
	local nr
	unload && load && hyptrace -r test load && ! grep 'will lose' <(dmesg) || return
	nr=$(hyptrace -r test -j status | jq '.[0].nr_subbufs') && ((nr > 100)) && hyptrace -r test reset || return
	# one of them is the reader's
	hyptrace -r test load --size "$((4 * nr))K" && dmesg >"$work/log" && said 'will lose' && hyptrace -r test reset
}

resizes_if_both_fit()
{
	unload && load && hyptrace -r test load --size 500K || return
	! hyptrace -r test set --size 600K 2>"$work/log" && said 'has no room for the old and the new rings' &&
		hyptrace -r test set --size 200K && ! grep 'will lose' <(dmesg) && hyptrace -r test reset
}

plan 14
check "a boot that is the first finds nothing" finds_nothing
check "rings are in the memory" eval 'modprobe hyptrace_reset && records'
check "after a reset, all events are there, from the boot that the log names" finds_all
check "the device is a file" is_a_file
check "a remote that was removed is not in it" forgets_what_was_removed
check "after one more, nothing is left" finds_nothing
check "rings that do not fit are named in the log" says_what_does_not_fit
check "those of other remotes are not" says_nothing_of_other_rings
check "rings are as large as fit" takes_what_fits
check "a resize needs memory for the old and the new rings" resizes_if_both_fit
check "damaged memory is refused with a message" refuses 100 'what the previous boot has left is damaged'
check "memory without the magic is not of hyptrace" refuses 0 ''
check "nor is a copy of it from another address" refuses 16 ''
check "nor is that of a kernel with pages of another size" refuses 28 ''
unload
rmmod hyptrace_reset
modprobe hyptrace_test
