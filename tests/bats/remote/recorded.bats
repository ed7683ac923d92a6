#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Files that were recorded in this machine, as trace-cmd reads them, and long recordings. The files stay in /mnt/share, if
# the machine has it: tests/files/recorded.sh has other programs of the host read them.
#   HYPTRACE_RECORD_MARKS=N   only the long ones, with so many marks of each CPU (20000)

load ../helper

setup()
{
	fresh
	folder=$BATS_TEST_TMPDIR
	files=/mnt/repo/tests/files
	kernel=$(uname -r)
	if mountpoint -q /mnt/share; then
		folder=/mnt/share/recorded
		mkdir -p "$folder"
	fi
}

# mark_all N: make the marks 1 to N on all CPUs, which work at the same time.
mark_all()
{
	local cpu from pid pids=() marks=$1 at_once=1000000
	for cpu in $(cpu_ids); do
		for ((from = 1; from <= marks; from += at_once)); do
			hyptrace -r "$REMOTE" mark "$from" -C "$cpu" \
				--count $((marks - from < at_once ? marks - from + 1 : at_once)) || return
		done &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || return
	done
}

@test "trace-cmd reads what EL2 does as report does" {
	[[ $REMOTE == hypervisor ]] || skip "the remote test has only marks"
	[[ -z ${HYPTRACE_RECORD_MARKS:-} ]] || skip "only long recordings"
	file=$folder/events-$kernel.dat cpu=$(last_cpu)
	for option in -q -z; do
		# shellcheck disable=SC2016 # the shell inside expands it
		ht record $option -o "$file" -e all -- sh -ec '
			workload --mmio 5 --psci 20 --fp 5 --sysreg 5 --wfi 5 --spin 10000
			hyptrace -r hypervisor mark 1 --count 100 -C all
			[ "$1" = 0 ] || for online in 0 1; do
				echo $online >"/sys/devices/system/cpu/cpu$1/online"
			done' sh "$cpu"
		# An abort of the host depends on which memory it happens to use.
		for event in hyp_enter hyp_exit selftest host_hcall guest_enter guest_exit guest_fixup vcpu_load vcpu_put \
			mem_transition hyp_pool; do
			hyptrace report -q -e "$event" -n 1 "$file" | grep .
		done
		((cpu == 0)) || hyptrace report -q -e psci_call -n 1 "$file" | grep .
		"$files/readers.sh" trace-cmd hyptrace "$file"
	done
}

@test "trace-cmd reads the losses of a ring that overwrites as report does" {
	[[ -z ${HYPTRACE_RECORD_MARKS:-} ]] || skip "only long recordings"
	file=$folder/losses-$REMOTE-$kernel.dat
	ht load --size "$(pages 8)"
	ht enable selftest
	ht start
	for id in 1 1001 2001; do
		ht mark $id --count 1000 -C all
		ht mark $id --count "$(fill 20)" -C 0
	done
	ht record -q -o "$file" --duration 50ms
	hyptrace report -q "$file" | grep LOST
	"$files/readers.sh" trace-cmd hyptrace "$file"
}

@test "each of many marks is in the file, or reported as lost where it was" {
	marks=${HYPTRACE_RECORD_MARKS:-20000}
	for size in 4M "$(pages 8)"; do
		file=$folder/marks-$REMOTE-$size-$kernel-$marks.dat
		hyptrace -r "$REMOTE" record -q -o "$file" -e selftest --size "$size" 2>/dev/null 3>&- &
		recorder=$!
		within "$patience" is_consumer "$recorder"
		within "$patience" is_tracing
		mark_all "$marks"
		kill -INT "$recorder"
		ended "$recorder"
		same "$code" 0
		hyptrace -j dump "$file" | jq -c '.cpus[] | [.cpu, .events, .lost]'
		hyptrace -j dump "$file" | jq -e "all(.cpus[]; .events + .lost == $marks)"
		# the host looks at long ones
		((marks > 100000)) || "$files/marks.sh" hyptrace "$file" "$marks"
	done
}
