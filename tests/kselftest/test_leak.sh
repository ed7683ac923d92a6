#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In the machine: the modules are loaded and unloaded a hundred times, with tracing on in between, and nothing is lost:
# no page of the host's, and none that EL2 was given, for it must give all back before the host may use them again.
# HYPTRACE_REFUSED: see run.sh.

set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

rounds=${ROUNDS:-100}
warm_up=5

# Memory of the slab caches, page tables and per-CPU lists comes and goes by some pages. A leak of one page in each round
# is twice that.
allowed=$((rounds / 2))

remotes=(test) modules=(hyptrace_test)
if [[ -z $HYPTRACE_REFUSED ]]; then
	remotes+=(hypervisor)
	modules+=(hyptrace_pkvm)
fi

unload_all()
{
	local module
	for module in hyptrace_pkvm hyptrace_test hyptrace; do
		[[ ! -d /sys/module/$module ]] || rmmod "$module" || return
	done
}

# One round: every way that memory goes. It ends at the first thing that fails.
round()
{
	local remote
	modprobe -a "${modules[@]}" || return
	for remote in "${remotes[@]}"; do
		ctl load "$remote" size=$((256 << 10)) &&
			ctl event-set "$remote" event=selftest event=hyp_enter event=hyp_exit enabled=1 &&
			ctl start "$remote" && ctl mark "$remote" value=0 count=1000 &&
			hold "$remote" ctl stop "$remote" && ctl unload "$remote" || return
		# and by itself, when the module goes
		ctl start "$remote" || return
	done
	unload_all
}

rounds_of()
{
	local i
	for ((i = 0; i < $1; i++)); do
		round || { echo "round $i failed"; return 1; }
	done
}

# Pages that are free, those on the lists of the CPUs included
free_pages()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
	awk '$1 == "nr_free_pages" { sum += $2 } $1 == "count:" { sum += $2 } END { print sum }' /proc/zoneinfo
}

# Several looks: what is freed later, by RCU or a worker, is free soon
settled_pages()
{
	local best=0 now try
	for ((try = 0; try < 5; try++)); do
		now=$(free_pages)
		((now <= best)) || best=$now
		sleep 0.1
	done
	echo "$best"
}

nothing_kept()
{
	! dmesg | grep -E 'kept its buffers|cannot be loaded again|does not stop'
}

no_pages_lost()
{
	echo "free pages: $before before, $after after $rounds rounds; up to $allowed may be missing"
	((before - after <= allowed))
}

no_leaks()
{
	echo scan >/sys/kernel/debug/kmemleak
	sleep 5
	echo scan >/sys/kernel/debug/kmemleak
	! grep . /sys/kernel/debug/kmemleak
}

kmemleak=
[[ ! -e /sys/kernel/debug/kmemleak ]] || kmemleak=1
plan $((4 + ${kmemleak:-0}))
unload_all
check "$warm_up rounds to warm up" rounds_of "$warm_up"
before=$(settled_pages)
check "$rounds rounds of loading, tracing and unloading" rounds_of "$rounds"
after=$(settled_pages)
check "all pages of rings were given back" nothing_kept
check "no pages are lost" no_pages_lost
[[ -z $kmemleak ]] || check "kmemleak finds nothing" no_leaks
