#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The part of the demo that runs in the machine: it shows what stream, stat, strace and catch print about a small guest,
# and checks it. README.md has this output; tests/bats/watch/demo.bats compares them.

set -uo pipefail

width=100
# what "workload" makes of each kind
exits=1000

fail()
{
	echo "demo: $*" >&2
	[[ ! -s /tmp/notes ]] || cat /tmp/notes >&2
	exit 1
}

# run COMMAND: print the command, then run it on a terminal of $width columns. Its notes and the guest's line go to
# /tmp/notes.
run()
{
	echo "# $1" | tee /tmp/out
	NO_COLOR=1 script -qec "stty cols $width && { $1; } 2>/tmp/notes" /dev/null </dev/null >/tmp/raw ||
		fail "\"$1\" ended with $?"
	tr -d '\r' </tmp/raw | wrap | tee -a /tmp/out
	echo
}

# Break lines that are too long, if possible before the time.
wrap()
{
	sed -E "/.{$((width + 1))}/{s/^(.{40,$width}) (<.*)/\1\n        \2/;t;s/^(.{40,$width}) /\1\n        /}"
}

# shows PATTERN: check that the last output has a line that matches.
shows()
{
	grep -qE -- "$1" /tmp/out || fail "the output has no line \"$1\""
}

grep -qE 'Protected (nVHE|hVHE) mode' <(dmesg) || fail "the hypervisor is not in protected mode"
modprobe hyptrace_pkvm || fail "the module is missing"
# now, so that the events of what follows are not those of the rings' own pages
hyptrace load || fail "the rings cannot be loaded"

hyptrace stream host_hcall guest_exit >/tmp/stream 2>/tmp/notes &
stream=$!
# The stream must have started before the guest runs.
for ((try = 0; try < 100; try++)); do
	[[ $(hyptrace -r hypervisor -j status | jq -r '.[0].state') != tracing ]] || break
	kill -0 "$stream" 2>/dev/null || fail "hyptrace stream ended at once"
	sleep 0.1
done
echo '# hyptrace stream host_hcall guest_exit &'
run "hyptrace stat -- workload"
(($(awk '$1 == "guest_exit" { print $2 }' /tmp/out) >= 2 * exits)) || fail "the guest has made fewer exits than it should"
# Wait until the stream has printed the guest's end.
for ((try = 0; try < 100; try++)); do
	! grep -q teardown_vm /tmp/stream || break
	sleep 0.1
done
kill -INT "$stream"
wait "$stream" || fail "hyptrace stream ended with $?"
for what in 'trap DABT_LOW' 'trap HVC64' '__kvm_vcpu_run(.*) = '; do
	(($(grep -c "$what" /tmp/stream) >= exits)) ||
		fail "the guest made $exits exits of each kind, but the stream has fewer lines with \"$what\""
done
first=$(grep -n -m 1 ' trap ' /tmp/stream | cut -d : -f 1)
echo "The stream around the guest's first trap, line $first of $(wc -l </tmp/stream):"
sed -n "$((first - 1)),$((first + 2))p" /tmp/stream | wrap
echo

run "hyptrace strace -c -e __kvm_vcpu_run,guest_exit -- workload"
shows " $exits .* DABT_LOW"
shows " $exits .* HVC64"
run "hyptrace catch --count 1 -e mem_transition 'host_hcall && duration > 20us' -- workload"
shows '^caught 1:'
shows 'host_hcall: __.* <.*>'

echo 'Next: "make vm" opens a shell in this machine; README.md says why a guest is slow, in five minutes.'
