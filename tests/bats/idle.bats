#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The README's first example shows what the machine does, and nothing that hyptrace does itself: on an idle machine,
# on a busy one, and pinned to the CPU that it reads.

load ./helper

export REMOTE=hypervisor

# for how long something is watched
seconds=2

traced()
{
	hyptrace -r hypervisor reset
	ht enable hyp_enter hyp_exit
}

# looks REMOTE: twenty, at its counters and at its rings; how many events come of it.
looks()
{
	local before
	before=$(total written)
	for _ in {1..10}; do
		hyptrace -r "$1" status
		hyptrace -r "$1" show
	done >"$BATS_TEST_TMPDIR/look"
	echo $(($(total written) - before))
}

# most: as many events of all CPUs as there may be in that time, by what happens without anybody who looks.
most()
{
	local before
	traced
	ht start
	before=$(total written)
	sleep "$seconds"
	echo $((3 * ($(total written) - before) + 200))
}

# watched LIMIT: no more than that is written.
watched()
{
	local before after
	before=$(total written)
	sleep "$seconds"
	after=$(total written)
	echo "$((after - before)) events in $seconds s, $1 at most"
	((after - before <= $1))
}

# readers SHIFT: a stream of each CPU, pinned to the one that is SHIFT further on.
readers()
{
	local cpu cpus
	cpus=$(cpu_ids | wc -l)
	for cpu in $(cpu_ids); do
		taskset -c $(((cpu + $1) % cpus)) hyptrace -r hypervisor stream --cpu "$cpu" \
			>"$BATS_TEST_TMPDIR/out.$cpu" 2>"$BATS_TEST_TMPDIR/err.$cpu" 3>&- &
		streams+=" $!"
	done
	for cpu in $streams; do
		within "$patience" is_consumer "$cpu"
	done
}

streams_end()
{
	local pid
	for pid in $streams; do
		kill -INT "$pid"
		ended "$pid"
		same "$code" 0 "exit code of stream"
	done
	streams=''
}

@test "idle: streams print few events, on the CPU that they read and on others" {
	limit=$(most)
	for shift in 0 1; do
		traced
		ht start
		readers "$shift"
		watched "$limit"
		streams_end
		cat "$BATS_TEST_TMPDIR"/err.*
		(($(cat "$BATS_TEST_TMPDIR"/out.* | wc -l) <= 3 * limit))
	done
}

@test "idle: status and show leave no events while a stream runs" {
	traced
	ht start
	hyptrace -r test load
	# looks at the other remote take as long, and no hypercalls. The host may be busy just then: once is enough.
	for _ in 1 2 3; do
		others=$(looks test)
		stream_begin --cpu 0
		own=$(looks hypervisor)
		stream_end
		echo "$own events, $others of looks at something else"
		((own > 2 * others + 20)) || break
	done
	((own <= 2 * others + 20))
}

@test "busy: a stream prints the guest's events, and adds none" {
	traced
	ht set --size 4M
	ht start
	taskset -c 0 workload --cpu 0 --mmio 1000 --psci 1000
	alone=$(of '.cpus[0].written')
	limit=$((alone + alone / 4 + $(most)))
	for cpu in $(cpu_ids); do
		traced
		ht set --size 4M
		out=$BATS_TEST_TMPDIR/out err=$BATS_TEST_TMPDIR/err
		taskset -c "$cpu" hyptrace -r hypervisor stream --cpu 0 >"$out" 2>"$err" 3>&- &
		stream=$!
		within "$patience" is_consumer "$stream"
		within "$patience" is_tracing
		taskset -c 0 workload --cpu 0 --mmio 1000 --psci 1000
		stream_end
		cat "$err"
		none LOST "$out"
		echo "$(wc -l <"$out") events with a stream on CPU $cpu, $alone without, $limit at most"
		(($(wc -l <"$out") <= limit))
		(($(grep -c 'hyp_enter: reason=guest_exit' "$out") >= 2000))
	done
}

@test "a ring of 256K with ten marks keeps them when it becomes 64M, on the CPU that is traced" {
	for cpu in $(cpu_ids); do
		for events in selftest "selftest hyp_enter hyp_exit"; do
			hyptrace -r hypervisor reset
			ht load --size 256K
			# shellcheck disable=SC2086 # words
			ht enable $events
			ht start
			ht mark 1 --count 10 -C "$cpu"
			taskset -c "$cpu" hyptrace -r hypervisor set --size 64M
			ht stop
			ht stream --no-start -C "$cpu" >"$BATS_TEST_TMPDIR/all"
			none LOST "$BATS_TEST_TMPDIR/all"
			ids <"$BATS_TEST_TMPDIR/all" | numbered 1 10
		done
	done
}
