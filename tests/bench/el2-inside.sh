#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In the machine, with --icount: what an event costs at EL2, in instructions. el2-inside.sh MODULE; prints lines
# "NAME PEER OURS", where PEER is mainline's tracing in the same boot, or - where the kernel has none.

set -euo pipefail

# whole sub-buffers, whether 170 calls fill one, 255 or 340: so often it goes on to the next in any case
calls=20400
bench=/sys/module/hyptrace_bench/parameters
mainline=/sys/kernel/tracing/remotes/hypervisor

# cost NAME: ns, which are instructions, of so many hypercalls
cost()
{
	echo "$calls" >"$bench/$1"
	cat "$bench/$1"
}

# A round before the one that counts: buffers are touched and the clock is read for the first time in it.
measured()
{
	cost "$1" >/dev/null
	cost "$1"
}

# ours HYPERCALL OTHER EVENT...: what the hypercall takes more with these events enabled, beside the OTHER if that is not
# empty
ours()
{
	local call=$1 other=$2 before after
	shift 2
	hyptrace disable all
	[[ -z $other ]] || hyptrace enable "$other"
	before=$(measured "$call")
	hyptrace enable "$@"
	after=$(measured "$call")
	hyptrace disable all
	echo $((after - before))
}

peers()
{
	local call=$1 before after event
	shift
	[[ -d $mainline ]] || { echo 0 && return; }
	before=$(measured "$call")
	for event; do
		echo 1 >"$mainline/events/hypervisor/$event/enable"
	done
	after=$(measured "$call")
	for event; do
		echo 0 >"$mainline/events/hypervisor/$event/enable"
	done
	echo $((after - before))
}

# row NAME EVENTS-PER-CALL PEER OURS
row()
{
	awk -v n="$(($2 * calls))" -v name="$1" -v peer="$3" -v ours="$4" 'BEGIN {
		printf "%s %s %.2f\n", name, peer ? sprintf("%.2f", peer / n) : "-", ours / n }'
}

insmod "$1"
modprobe hyptrace_pkvm
[[ ! -d $mainline ]] || echo 1 >"$mainline/tracing_on"
hyptrace start

row el2_insns_enter_exit 2 "$(peers refused hyp_enter hyp_exit)" "$(ours refused '' hyp_enter hyp_exit)"
row el2_insns_selftest 1 "$(peers mainline selftest)" "$(ours ours hyp_exit selftest)"
