#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Tables of list and status: columns, and the width of the terminal.

load ../helper

@test "list --columns prints one table with these columns" {
	ht enable selftest
	run -0 ht list --columns state,EVENT,remote
	same "$(xargs <<<"${lines[0]}")" "STATE EVENT REMOTE"
	same "$(grep selftest <<<"$output" | xargs)" "enabled selftest $REMOTE"
	same "$(grep -c "$REMOTE" <<<"$output")" "$(ht list -j | jq '.[0].events | length')"
	run -0 ht list --columns=event
	same "${lines[0]}" EVENT
	same "${lines[*]:1:3}" "hyp_enter hyp_exit selftest"
	same "$(tail -n +2 <<<"$output" | xargs)" "$(ht list -j | jq -r '[.[0].events[].name] | join(" ")')"
	run -0 ht list --columns size,id
	same "${lines[0]}" "SIZE  ID"
}

@test "list --columns of all remotes is one table" {
	run -0 hyptrace list --columns remote,event
	same "$(grep -c selftest <<<"$output")" "${#remotes[@]}"
	same "$(grep -c EVENT <<<"$output")" 1
	# the remotes are told apart
	first="REMOTE "
	((${#remotes[@]} > 1)) || first=
	run -0 hyptrace list --columns event
	same "$(xargs <<<"${lines[0]}")" "${first}EVENT"
	run -0 hyptrace status --columns cpu,state
	same "$(xargs <<<"${lines[0]}")" "${first}CPU STATE"
}

@test "status --columns prints one table with these columns" {
	tracing_marks
	ht mark 1 --count 5 -C 0
	run -0 ht status --columns cpu,written,unread,used,subbufs,fill% -C 0
	same "${#lines[@]}" 2
	same "$(xargs <<<"${lines[0]}")" "CPU WRITTEN UNREAD USED SUBBUFS FILL%"
	read -r cpu written unread used subbufs fill <<<"${lines[1]}"
	same "$cpu $written $unread" "0 5 5"
	same "$subbufs" "$(of .nr_subbufs)"
	((used > 0 && used <= subbufs))
	same "$fill" $((100 * used / subbufs))
	run -0 ht status --columns remote,overrun,dropped
	same "${#lines[@]}" "$((1 + $(cpu_ids | wc -l)))"
	same "$(xargs <<<"${lines[1]}")" "$REMOTE 0 0"
}

@test "--columns chooses the keys of JSON" {
	same "$(ht status -j --columns lost,cpu -C 0)" '[{"cpu":0,"lost":0}]'
	same "$(ht list -j --columns event,state | jq -c 'map(keys) | unique')" '[["enabled","name"]]'
	same "$(ht list -j --columns remote | jq -r '.[].remote' | sort -u)" "$REMOTE"
}

@test "an unknown column is a usage error, and the message lists the known ones" {
	for list in '' nothing 'cpu,' ',cpu' 'cpu lost'; do
		run -1 ht status --columns "$list"
		says 'unknown column'
		says 'UNREAD'
	done
	run -1 ht list --columns written
	says 'unknown column "written": use some of REMOTE, EVENT'
	run -1 ht stream -o cpu
}

@test "status has labels in plain words" {
	ht load --size 64K
	run -0 ht status
	for label in state mode requested allocated sub-buffers 'sub-buffer size' clock 'clock offset' readers; do
		grep -qE "^  $label  " <<<"$output" || { echo "no $label" && false; }
	done
	grep -qE '^  requested +64K$' <<<"$output"
	grep -qE '^  readers +none$' <<<"$output"
	# CLOCK_REALTIME less CLOCK_BOOTTIME, about when the machine booted
	offset=$(of .clock_offset)
	now=$(($(date +%s%3N) - $(boot_ms)))
	((offset / 1000000 - now < 1000 && now - offset / 1000000 < 1000))
	says "clock offset     $((offset / 1000000000))."
}

@test "status names the process that reads" {
	ht enable selftest
	stream_begin -C 0
	run -0 ht status
	says "process $stream (hyptrace) is reading CPU 0"
	stream_end
	((last = $(last_cpu)))
	((last > 0)) || return 0
	stream_begin
	run -0 ht status
	says "process $stream (hyptrace) is reading CPUs 0-$last"
	stream_end
}

pty='import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))'

# widest: columns of the longest line of the table in $output.
widest()
{
	tr -d '\r' <<<"$output" | awk '/^  (EVENT|selftest) / && length > n { n = length } END { print n + 0 }'
}

@test "a table is cut to the width of the terminal, and nowhere else" {
	needs filters
	grep -q devpts /proc/filesystems || skip "this kernel has no pseudo terminals"
	mountpoint -q /dev/pts || mount -t devpts -o ptmxmode=666 devpts /dev/pts
	[[ -e /dev/ptmx ]] || ln -s pts/ptmx /dev/ptmx
	ht enable selftest -F 'id == 100000000001 || id == 100000000002 || id == 100000000003'
	run -0 bash -c "COLUMNS=60 TERM=dumb python3 -c '$pty' hyptrace -r $REMOTE list </dev/null"
	((0 < $(widest) && $(widest) <= 60))
	run -0 bash -c "COLUMNS=60 hyptrace -r $REMOTE list"
	(($(widest) > 80))
}
