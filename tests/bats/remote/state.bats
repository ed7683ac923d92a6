#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# load, start, stop, unload, reset, set: the states of a remote.

load ../helper

@test "after reset a remote is unloaded and has its default settings" {
	same "$(of .state)" unloaded
	same "$(of .mode)" overwrite
	same "$(of .size_requested)" 1048576
	same "$(of .size_allocated)" 0
	same "$(of .readers)" 0
	same "$(of .clock)" boot
	same "$(total written)" 0
}

@test "load, start, stop and unload change the state" {
	run -0 ht load
	same "$output" ""
	same "$(of .state)" loaded
	run -0 ht start
	same "$(of .state)" tracing
	run -0 ht stop
	same "$(of .state)" unloaded
	ht load
	run -0 ht unload
	same "$(of .state)" unloaded
}

@test "start loads the rings if they are not loaded" {
	ht start
	same "$(of .state)" tracing
	same "$(of '.size_allocated >= .size_requested')" true
}

@test "a second start or stop succeeds" {
	ht start
	run -0 ht start
	same "$(of .state)" tracing
	ht stop
	run -0 ht stop
	same "$(of .state)" unloaded
}

@test "unload and reset of an unloaded remote succeed" {
	run -0 ht unload
	run -0 ht reset
	same "$(of .state)" unloaded
}

@test "load of a loaded remote is refused and changes nothing" {
	ht load --size 64K
	run -2 ht load --size 128K
	says 'cannot load'
	says 'already loaded'
	same "$(of '.state, .size_requested' | xargs)" "loaded 65536"
	ht start
	run -2 ht load
	same "$(of .state)" tracing
}

@test "a stopped remote with unread events stays loaded until they are cleared" {
	tracing_marks
	ht mark 5
	ht stop
	same "$(of .state)" loaded
	same "$(total unread)" 1
	ht clear
	same "$(of .state)" unloaded
}

@test "unload discards unread events and stops tracing" {
	tracing_marks
	ht mark 5
	run -0 ht unload
	same "$(of .state)" unloaded
	same "$(total unread)" 0
	run -2 ht mark 6
	says 'tracing is off'
}

@test "unload and reset are refused while a stream is attached" {
	ht enable selftest
	stream_begin
	run -2 ht unload
	says "is reading "
	run -2 ht reset
	says "is reading "
	same "$(of .state)" tracing
	same "$(enabled)" selftest
	stream_end
}

@test "stopped rings stay loaded until the stream ends" {
	ht enable selftest
	stream_begin
	ht stop
	same "$(of .state)" loaded
	stream_end
	same "$(of .state)" unloaded
}

@test "set while unloaded applies to the next load" {
	needs "mode discard"
	run -0 ht set --size 128K --mode discard
	same "$(of '.size_requested, .mode, .state' | xargs)" "131072 discard unloaded"
	ht load
	same "$(of .size_allocated)" 131072
	same "$(of .mode)" discard
}

@test "set of a mode is refused while loaded" {
	ht load
	run -2 ht set --mode discard
	says 'cannot set'
	says 'mode'
	same "$(of '.size_requested, .mode' | xargs)" "1048576 overwrite"
}

@test "set of a size while tracing keeps the events that fit" {
	needs "mode discard"
	size=$(($(pages 17) + 100))
	# The events fill four sub-buffers and most of a fifth.
	many=$(($(fill 5) - 20))
	tracing_marks
	ht mark 1 --count "$many" --cpu 0
	run -0 ht set --size "$size"
	same "$(of '.size_requested, .size_allocated, .state' | xargs)" "$size $(pages 18) tracing"
	same "$(total unread)" "$many"
	run -0 ht set --size "$(pages 2)"
	same "$(of .size_allocated)" "$(pages 2)"
	same "$(total written)" "$many"
	same "$(total unread)" $(($(fill 1) - 20))
	run -2 ht set --size 1T
	same "$(of .size_allocated)" "$(pages 2)"
}

@test "reset unloads, disables all events and restores the default settings" {
	needs "mode discard"
	ht set --size 64K --mode discard
	tracing_marks
	ht mark 1
	run -0 ht reset
	same "$(of '.state, .mode, .size_requested, .size_allocated' | xargs)" "unloaded overwrite 1048576 0"
	same "$(enabled)" ""
	same "$(total written)" 0
}

@test "set without an option, a bad mode and extra arguments are usage errors" {
	run -1 ht set
	says '--size'
	run -1 ht set --mode sometimes
	says '"sometimes"'
	run -1 ht load now
	says '"now"'
	run -1 ht start it
	run -1 ht stop it
	run -1 ht reset it
	same "$(of .state)" unloaded
}

@test "status shows state, mode, clock, size and counters as text" {
	tracing_marks
	run -0 ht status
	for word in "$REMOTE" tracing overwrite boot 1M WRITTEN READ LOST UNREAD CONSUMER; do
		says "$word"
	done
	# Leave out the offset of the clocks: it is measured again each time.
	same "$(ht status --pretty | jq -cS '.[0] | del(.cpus, .clock_offset)')" \
		"$(ht status -j | jq -cS '.[0] | del(.cpus, .clock_offset)')"
}

@test "status shows whether the hypervisor is in protected mode" {
	[[ $REMOTE != test ]] || {
		same "$(of .protected)" false
		return
	}
	grep -q 'kvm-arm.mode=protected' /proc/cmdline && expected=true || expected=false
	same "$(of .protected)" "$expected"
}
