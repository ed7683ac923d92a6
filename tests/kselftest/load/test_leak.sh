#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In the machine: load the modules, trace, and unload the modules a hundred times. No page may be leaked, also none that
# the host has donated to EL2: EL2 must return those before the host can use them again. HYPTRACE_REFUSED: see run.sh.

set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"

rounds=${ROUNDS:-100}
warm_up=10

# The free memory varies by a few pages: slab caches, page tables and others keep some. A leak of one page in each round
# would be twice this limit, and be seen in more rounds, too.
allowed=$((rounds / 2))

remotes=test modules=(hyptrace hyptrace_test)
if [[ -z ${HYPTRACE_REFUSED:-} ]]; then
	remotes+=,hypervisor
	modules+=(hyptrace_pkvm)
fi
files=()
for module in "${modules[@]}"; do
	files+=("$(modinfo -n "$module")")
done

unload_all()
{
	local module
	for module in hyptrace_pkvm hyptrace_test hyptrace; do
		[[ ! -d /sys/module/$module ]] || rmmod "$module" || return
	done
}

# Print the number of free pages, including those on the per-CPU lists.
free_pages()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
	awk '$1 == "nr_free_pages" || $1 == "count:" { sum += $2 } END { print sum }' /proc/zoneinfo
}

# Print the largest of several measurements: RCU and workers free some pages a little later, and KASAN keeps what was freed
# until its cache shrinks.
settled_pages()
{
	local best=0 now try cache
	for cache in /sys/kernel/slab/*/shrink; do
		[[ ! -e $cache ]] || echo 1 >"$cache"
	done
	for ((try = 0; try < 5; try++)); do
		now=$(free_pages)
		((now <= best)) || best=$now
		sleep 0.1
	done
	echo "$best"
}

nothing_kept()
{
	local said
	# other tests have rings kept on purpose
	said=$(dmesg | sed -n "/$begin/,\$p")
	[[ $said ]] && ! grep -E 'kept its rings|cannot be loaded again|failed to stop' <<<"$said"
}

no_pages_lost()
{
	local try
	for try in 1 2 3; do
		if ((try > 1)); then
			before=$after
			cycle "$rounds" "$remotes" "${files[@]}" || return
			after=$(settled_pages)
		fi
		echo "free pages: $before before, $after after $rounds rounds; $allowed fewer are allowed"
		((before - after > allowed)) || return 0
	done
	return 1
}

no_leaks()
{
	echo scan >/sys/kernel/debug/kmemleak
	sleep 5
	echo scan >/sys/kernel/debug/kmemleak
	! grep . /sys/kernel/debug/kmemleak
}

kmemleak=0
[[ ! -e /sys/kernel/debug/kmemleak ]] || kmemleak=1

plan $((4 + kmemleak))
begin="test_leak.sh $$ begins"
echo "$begin" >/dev/kmsg
# and what they need
modprobe -a "${modules[@]}"
unload_all
check "$warm_up rounds to warm up" cycle "$warm_up" "$remotes" "${files[@]}"
before=$(settled_pages)
check "$rounds rounds of loading, tracing and unloading" cycle "$rounds" "$remotes" "${files[@]}"
after=$(settled_pages)
check "the hypervisor has returned all pages of the rings" nothing_kept
check "no pages are leaked" no_pages_lost
((!kmemleak)) || check "kmemleak reports no leak" no_leaks
