#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# hyptrace must not trace itself: the README's first example shows what the machine does, and no hypercall of hyptrace.
# This holds on an idle and on a busy machine, also when the stream runs on the CPU that it reads.

load ../helper

export REMOTE=hypervisor

# how long each measurement takes
seconds=2

traced()
{
	hyptrace -r hypervisor reset
	ht enable hyp_enter hyp_exit
}

# events_of_queries REMOTE: run status and show ten times each, print how many events the hypervisor wrote meanwhile.
events_of_queries()
{
	local before
	before=$(total written)
	for _ in {1..10}; do
		hyptrace -r "$1" status
		hyptrace -r "$1" show
	done >"$BATS_TEST_TMPDIR/look"
	echo $(($(total written) - before))
}

# most: print how many events of all CPUs may come in $seconds, from a measurement without any reader.
most()
{
	local before
	traced
	ht start
	before=$(total written)
	sleep "$seconds"
	echo $((3 * ($(total written) - before) + 200))
}

# writes_at_most LIMIT: succeed if the hypervisor writes at most LIMIT events in $seconds.
writes_at_most()
{
	local before after
	before=$(total written)
	sleep "$seconds"
	after=$(total written)
	echo "$((after - before)) events in $seconds s, $1 at most"
	((after - before <= $1))
}

# start_readers SHIFT: start a stream of each CPU, pinned to the CPU that is SHIFT further on.
start_readers()
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

@test "streams on an idle machine print few events, on whatever CPU they run" {
	limit=$(most)
	for shift in 0 1; do
		traced
		ht start
		start_readers "$shift"
		writes_at_most "$limit"
		streams_end
		cat "$BATS_TEST_TMPDIR"/err.*
		(($(cat "$BATS_TEST_TMPDIR"/out.* | wc -l) <= 3 * limit))
	done
}

@test "status and show cause no events while a stream runs" {
	traced
	ht start
	# Compare with queries of the remote "test", which take as long but make no hypercalls. It has an event: the rings
	# of one without any are unloaded after the first look. One success in five rounds is enough, because the host may
	# be busy during a round, and pKVM maps memory that was not used before.
	hyptrace -r test enable selftest
	hyptrace -r test start
	hyptrace -r test mark 1
	for _ in 1 2 3 4 5; do
		others=$(events_of_queries test)
		stream_begin --cpu 0
		own=$(events_of_queries hypervisor)
		stream_end
		echo "$own events while hypervisor is queried, $others while test is"
		((own > 2 * others + 20)) || break
	done
	((own <= 2 * others + 20))
}

# bats test_tags=slow
@test "a stream prints the events of a guest and adds none of its own" {
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

# bats test_tags=slow
@test "set --size 64M on the traced CPU keeps the events of a ring of 256K" {
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
