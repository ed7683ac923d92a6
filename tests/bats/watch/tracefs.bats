#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The kernel's own tracer in tracefs as the source: mainline's, which Linux 7.1 and later have, or Android's.

load ../helper

for name in remotes/hypervisor hypervisor hyp; do
	tracer=/sys/kernel/tracing/$name source=tracefs:$name
	[[ ! -d $tracer ]] || break
done

setup()
{
	[[ -d $tracer ]] || skip "this kernel has no tracer of its own"
	fresh
	cd "$BATS_TEST_TMPDIR" || return
	read -r size _ <"$tracer/buffer_size_kb"
	state >before
}

teardown()
{
	[[ ! -d $tracer ]] || echo "$size" >"$tracer/buffer_size_kb"
	tidy
}

# state: print what reading must not change.
state()
{
	(cd "$tracer" && grep . tracing_on buffer_size_kb events/*/*/enable)
}

tf()
{
	hyptrace -r "$source" "$@"
}

# mainline: skip a test of what Android's tracer has not: numbered events, guests' exits, and the remote "kernel".
mainline()
{
	[[ -e $tracer/write_event ]] || skip "this is not mainline's tracer"
}

@test "numbered events come each once, and all is put back" {
	mainline
	tf stream -n 300 selftest >lines 2>said &
	until [[ $(cat "$tracer/tracing_on") == 1 ]]; do sleep 0.1; done
	for ((i = 1; i <= 300; i++)); do echo "$i" >"$tracer/write_event"; done
	wait $!
	[[ $(sed 's/.*selftest: id=//' lines) == "$(seq 300)" ]]
	grep -q '^hyptrace: 300 events printed, 0 discarded, 0 lost$' said
	state | cmp - before
}

# In 7.2 a time before the last update of the clock becomes one 584 years later. Such events are discarded.
needs_clock()
{
	[[ $(uname -r) != 7.2.* ]] || skip "the clock of this kernel's tracer is wrong"
}

# for_both FUNCTION: call the function for tracefs and for the remote "kernel", which have the same tracer at EL2, with rings
# of 1 MiB. Only one of them can have its buffer.
for_both()
{
	needs_clock
	echo 1024 >"$tracer/buffer_size_kb"
	"$1"
	echo "$size" >"$tracer/buffer_size_kb"
	state | cmp - before
	modprobe hyptrace_kernel
	source=kernel
	"$1"
	hyptrace -r kernel status -j | jq -e '.[0].state == "unloaded" and .[0].readers == 0'
	modprobe -r hyptrace_kernel
}

has_same_exits()
{
	hyptrace -r "$source" record -e all -o kernel.dat -- \
		hyptrace -r hypervisor record --size 1M -e hyp_enter,hyp_exit -o ours.dat -- workload 2>said
	[[ $(grep -c ' events recorded, 0 lost' said) == 2 ]]
	for file in kernel ours; do
		hyptrace report -q -F 'reason == guest_exit' "$file.dat" | sed 's/.* vcpu=/vcpu=/' >"$file"
	done
	[[ $(wc -l <kernel) -gt 2000 ]]
	cmp kernel ours
}

@test "a guest's exits are as many as the remote hypervisor has" {
	[[ -z ${HYPTRACE_REFUSED:-} ]] || skip "there is no remote \"hypervisor\""
	mainline
	for_both has_same_exits
}

# The guest makes 2000 exits of its own.
has_verbs()
{
	hyptrace -r "$source" stat --by reason -- workload >rows 2>said
	grep -q ', 0 lost$' said
	(($(awk '$1 == "guest_exit" { print $2 }' rows) > 2000))
	hyptrace -r "$source" stream -q hyp_enter -- workload >lines 2>said
	(($(grep -c 'reason=guest_exit' lines) > 2000))
	hyptrace -r "$source" record -q -e hyp_enter,hyp_exit -o t.dat -- workload
	(($(hyptrace report -q t.dat | grep -c 'reason=guest_exit') > 2000))
	(($(hyptrace stat --by reason -i t.dat | awk '$1 == "guest_exit" { print $2 }') > 2000))
	run -2 hyptrace -r "$source" strace
	says 'it has no events of calls, such as host_hcall'
}

@test "the verbs see a guest" {
	mainline
	for_both has_verbs
}

@test "hypercalls are counted and recorded as the remote hypervisor does" {
	[[ -d $tracer/events/hypervisor/host_hcall ]] || skip "this tracer has no events of calls"
	[[ -z ${HYPTRACE_REFUSED:-} ]] || skip "there is no remote \"hypervisor\""
	echo 1024 >"$tracer/buffer_size_kb"
	tf record -e host_hcall -o theirs.dat -- \
		hyptrace -r hypervisor record --size 1M -e host_hcall -o ours.dat -- workload 2>said
	[[ $(grep -c ' events recorded, 0 lost' said) == 2 ]]
	# The guest makes 1000 exits to user space. Rare calls may be those of the two commands.
	for file in theirs ours; do
		hyptrace strace -c --csv -i "$file.dat" | awk -F , '$1 ~ /^[0-9]+$/ && $1 >= 1000 { print $1 }' | sort >"$file"
	done
	[[ $(wc -l <ours) -ge 5 ]]
	cmp theirs ours
}

@test "losses are counted" {
	needs_clock
	# The default can hold all events of the guest. With it, Android's 6.18 warns, and loses the order of its ring:
	# see hyptrace-tracefs(7).
	echo 64 >"$tracer/buffer_size_kb"
	state >before
	# Nobody reads while the guest runs.
	setsid hyptrace -r "$source" stream hyp_enter hyp_exit >lines 2>said &
	until [[ $(cat "$tracer/tracing_on") == 1 ]]; do sleep 0.1; done
	kill -STOP -- "-$!"
	workload
	kill -CONT -- "-$!"
	kill -INT $!
	wait $!
	cat said
	lost=$(sed -n 's/.*printed, .* discarded, \([0-9]*\) .*lost$/\1/p' said)
	is_android || ((lost > 0))
	[[ $(sed -n 's/.*LOST \([0-9]*\) event.*/\1/p' lines | awk '{ n += $1 } END { print n + 0 }') == "$lost" ]]
	state | cmp - before
}

@test "after SIGKILL all is put back" {
	hyptrace -r "$source" stream all >lines 2>&1 &
	until [[ -s lines ]]; do sleep 0.1; done
	kill -KILL $!
	for ((i = 0; i < 100; i++)); do
		! state | cmp -s - before || break
		sleep 0.1
	done
	state | cmp - before
}
