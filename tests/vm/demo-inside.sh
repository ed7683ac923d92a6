#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The part of the demo that runs in the machine: list and enable events, stream while a guest runs, and check that the
# expected events were printed.

set -uo pipefail

lines=20
guest_exits=200

fail()
{
	echo "demo: $*" >&2
	[[ ! -s /tmp/stream.err ]] || cat /tmp/stream.err >&2
	exit 1
}

# run COMMAND...: print the command, then run it.
run()
{
	printf '\n# %s\n' "$*"
	"$@" || fail "\"$*\" ended with $?"
}

# count REASON: print the number of hyp_enter events with that reason.
count()
{
	grep -c "hyp_enter: reason=$1 " /tmp/stream
}

grep -qE 'Protected (nVHE|hVHE) mode' <(dmesg) || fail "the hypervisor is not in protected mode"

run modprobe hyptrace_pkvm
run hyptrace list
run hyptrace enable hyp_enter hyp_exit

printf '\n# hyptrace stream &\n'
hyptrace stream >/tmp/stream 2>/tmp/stream.err &
stream=$!
# Wait for the first events, so that the stream has started before the guest runs.
for ((try = 0; try < 100; try++)); do
	[[ ! -s /tmp/stream ]] || break
	kill -0 "$stream" 2>/dev/null || fail "hyptrace stream ended at once"
	sleep 0.1
done
[[ -s /tmp/stream ]] || fail "hyptrace stream printed nothing in 10 s"

run workload --mmio $((guest_exits / 2)) --psci $((guest_exits / 2))
run hyptrace status
# Wait until the stream has printed the events of the workload.
for ((try = 0; try < 100; try++)); do
	[[ $(count guest_exit) -lt $guest_exits ]] || break
	sleep 0.1
done
kill -INT "$stream"
wait "$stream" || fail "hyptrace stream ended with $?"

printf '\nThe first %d events around the guest'\''s first exit, of %d:\n' "$lines" "$(wc -l </tmp/stream)"
first=$(grep -n -m 1 'reason=guest_exit' /tmp/stream | cut -d : -f 1)
first=$((${first:-1} > lines / 2 ? first - lines / 2 : 1))
tail -n "+$first" /tmp/stream | head -n "$lines"
cat /tmp/stream.err

printf '\nEvents by reason:\n'
grep -oE 'hyp_(enter|exit): reason=[a-z_]+' /tmp/stream | sort | uniq -c | sort -rn

for reason in hvc host_abort guest_exit; do
	(($(count "$reason") > 0)) || fail "no event \"hyp_enter: reason=$reason\" was seen"
done
(($(count guest_exit) >= guest_exits)) ||
	fail "the guest made at least $guest_exits exits, but only $(count guest_exit) guest_exit events were printed"
