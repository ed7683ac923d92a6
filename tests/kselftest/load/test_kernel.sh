#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In the machine, with or without the hooks: the remote "kernel", which is mainline's own tracer at EL2. Count its events,
# also against what tracefs says of the same numbers, and try what it must refuse.

set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"

# Under emulation, the static command starts in less than half the time.
PATH=/usr/local/libexec/static:$PATH
tracefs=/sys/kernel/tracing/remotes/hypervisor
# FULL=1 makes more.
min_swaps=300
[[ -z ${FULL:-} ]] || min_swaps=10000
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

ht()
{
	timeout 120 hyptrace -r kernel "$@"
}

of()
{
	ht -j status | jq -r ".[0] | $1"
}

# refuses TEXT ARGUMENT...: succeed if hyptrace refuses this and says why
refuses()
{
	local code=0
	ht "${@:2}" >"$work/said" 2>&1 || code=$?
	((code == 2)) && grep -qF -- "$1" "$work/said" && return
	echo "# ended with $code: $(<"$work/said")"
	return 1
}

# The numbers of selftest events in lines of text, each one once and in order
numbers()
{
	grep -o 'selftest: id=[0-9]*' | cut -d = -f 2
}

# Set up rings of this size, tracing selftest events only.
ready()
{
	ht reset && ht load --size "$1" && ht enable selftest && ht start
}

adds_up()
{
	of 'all(.cpus[]; .written == .read + .lost + .unread)' | grep -qx true || { ht status && return 1; }
}

loads_every_size()
{
	local size
	# mainline refuses these with EINVAL, or has failed with them
	for size in 1 4K 20K 96K 200K 403K 1234567 18000K; do
		ht load --size "$size" && ht unload || return
	done
}

lists_what_it_cannot_do()
{
	hyptrace list | grep -A 1 '^kernel' | tee "$work/list" | grep -q 'no filters, triggers, counters'
}

has_right_formats()
{
	hyptrace -j list -v | jq -e '.[] | select(.name == "kernel").events[] | select(.name == "hyp_exit") |
		.fields[] | select(.name == "vcpu").offset == 4' >/dev/null
}

# mark COUNT: write the numbers 1 to COUNT on CPU 1 while CPU 0 reads; the ring holds them all
reads_all()
{
	ready 1M && ht mark 1 --count 20000 -C 1 && ht stop && ht show >"$work/shown" &&
		numbers <"$work/shown" | cmp - <(seq 20000) &&
		ht stream -C 1 -n 20000 2>/dev/null | numbers | cmp - <(seq 20000) && adds_up
}

# The stream's lines with "LOST" say how many events are missing before the next one.
loses_the_oldest()
{
	ready 20K && ht mark 1 --count 5000 -C 1 && ht stop && ht record -q -C 1 --duration 1ms -o "$work/dat" &&
		hyptrace report -i "$work/dat" >"$work/lines" && numbers <"$work/lines" | tail -n 1 | grep -qx 5000 &&
		check_gaps <"$work/lines" && adds_up
}

# The numbers from 1 to the last one, but those that the lines report lost
check_gaps()
{
	awk '
		/LOST/ { match($0, /LOST [0-9]+/); lost += substr($0, RSTART + 5, RLENGTH - 5) }
		/selftest: id=/ {
			id = substr($0, index($0, "id=") + 3) + 0
			if (id != last + lost + 1) { print "# " id " after " last " and " lost " lost"; bad = 1 }
			last = id; lost = 0; seen++
		}
		END { exit bad || !seen }'
}

# A reader swaps sub-buffers while another CPU writes as fast as it can. 170 events fill a sub-buffer, and the ring has 9.
swaps_under_load()
{
	local swaps=0 id=1
	ready 32K || return
	timeout 120 hyptrace -r kernel stream -C 1 >"$work/lines" 2>"$work/last" &
	for ((id = 1; swaps < min_swaps && id < min_swaps * 2000; id += 4000)); do
		ht mark "$id" --count 4000 -C 1 || return
		((id / 4000 % 8)) || swaps=$(($(of '.cpus[1].read') / 170))
	done
	ht stop
	for _ in {1..100}; do
		[[ $(of '.cpus[1].unread') != 0 ]] || break
		sleep 0.1
	done
	kill $!
	wait $!
	tail -n 1 "$work/last"
	echo "$swaps swaps"
	((swaps >= min_swaps)) && check_gaps <"$work/lines" && adds_up
}

# around FILE: print each selftest event of CPU 0 in a recording, with the events before and after it, without times
around()
{
	hyptrace report -q --cpu 0 "$1" | sed 's/^\[[0-9]*\] *[0-9.]*: //' | grep -B 1 -A 1 '^selftest' | grep -vx -- --
}

# Only one of both can have the buffer, so the run is repeated. EL2 enters, writes the event and leaves for each number.
tracefs_says_the_same()
{
	# shellcheck disable=SC2016 # the inner shell expands it
	local writes='for ((id = 1; id <= 500; id++)); do echo $id >$0/write_event; done'
	ht reset && ht record -q --size 1M -e all -o "$work/ours.dat" -- hyptrace -r kernel mark 1 --count 500 -C 0 &&
		ht reset || return
	echo 1024 >$tracefs/buffer_size_kb
	hyptrace -r tracefs:remotes/hypervisor record -q -e all -o "$work/theirs.dat" -- taskset 1 bash -c "$writes" $tracefs ||
		return
	around "$work/ours.dat" >"$work/ours" && around "$work/theirs.dat" >"$work/theirs" && cmp "$work/ours" "$work/theirs" &&
		cut -d : -f 1 "$work/ours" | sort | uniq -c | xargs | tee "$work/counts" &&
		grep -qx '500 hyp_enter 500 hyp_exit 500 selftest' "$work/counts" &&
		numbers <"$work/ours" | cmp - <(seq 500)
}

# refused while tracefs has the buffer, and the reverse
tracefs_has_it()
{
	local code=0
	echo 1 >$tracefs/tracing_on || return
	refuses "tracefs has loaded the hypervisor's buffer" load || code=1
	refuses "another tracer, such as tracefs, has loaded its buffer" stream hyp_enter || code=1
	refuses "another tracer, such as tracefs, has loaded its buffer" record -e hyp_enter -o "$work/none" || code=1
	echo 0 >$tracefs/tracing_on
	echo >$tracefs/trace
	ht load || return
	refused sh -c "echo 1 >$tracefs/tracing_on" 2>/dev/null || code=1
	ht unload
	echo 1 >$tracefs/tracing_on || code=1
	echo 0 >$tracefs/tracing_on
	return $code
}

clears_full_rings()
{
	ready 16K || return
	for _ in 1 2 3 4 5; do
		ht enable all && ht mark 1 --count 3000 -C 1 && ht disable hyp_enter hyp_exit && ht clear &&
			ht mark 7 --count 3 -C 1 && ht stream -C 1 -n 3 2>/dev/null | numbers | cmp - <(seq 7 9) || return
	done
	adds_up
}

works_offline()
{
	ready 64K && ht mark 1 --count 1000 -C 1 || return
	echo 0 >/sys/devices/system/cpu/cpu1/online || return
	ht stream -C 1 -n 1000 2>/dev/null | numbers | cmp - <(seq 1000) || return
	echo 1 >/sys/devices/system/cpu/cpu1/online
	ht mark 1001 --count 500 -C 1 && ht stream -C 1 -n 500 2>/dev/null | numbers | cmp - <(seq 1001 1500) && adds_up
}

unloads_while_tracing()
{
	ready 64K && rmmod hyptrace_kernel && modprobe hyptrace_kernel && ready 64K && ht mark 1 && ht reset
}

has_visits()
{
	ht reset && ht record -q -e hyp_enter -e hyp_exit -o "$work/dat" -- sleep 0.2 &&
		hyptrace stat -j -i "$work/dat" | jq -es 'length > 0' >/dev/null
}

plan 16
check "hyptrace_kernel loads" modprobe hyptrace_kernel
check "list says what EL2 cannot do" lists_what_it_cannot_do
check "the formats have the right offsets" has_right_formats
check "any size can be loaded" loads_every_size
check "show and stream have all events" reads_all
check "the number of overwritten events is exact" loses_the_oldest
check "no event is missing or doubled in many swaps under load" swaps_under_load
check "tracefs has the same events" tracefs_says_the_same
check "only one of tracefs and hyptrace has the buffer" tracefs_has_it
check "a full ring can be cleared" clears_full_rings
check "a ring works while its CPU is offline, and after that" works_offline
check "the module can be removed while it traces" unloads_while_tracing
check "visits of EL2 are recorded" has_visits
ht reset
check "it has no filters" refuses "has no filters" enable -F 'id > 3' selftest
check "it has no discard mode" refuses "can only overwrite" load --mode discard
check "it counts no events" refuses "cannot count events" enable --count hyp_enter
rmmod hyptrace_kernel
