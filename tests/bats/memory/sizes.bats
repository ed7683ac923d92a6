#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Large rings, in a machine with two CPUs and 1.5 GB. Rings that fit are loaded, and unload frees all of their memory.
# Rings that do not fit are refused, and the OOM killer does not run.

load ../helper
load ../size

setup()
{
	fresh
	cpus=$(nproc --all)
	loads 64K 65536
	dmesg --clear
	before=$(known_pages)
}

teardown()
{
	tidy
	hyptrace -r "$REMOTE" reset
}

# refuses SIZE: succeed if load refuses the size with a message and keeps no memory.
refuses()
{
	run -2 ht load --size "$1"
	says "cannot load"
	says "bytes for each of $cpus CPUs"
	same "$(of '.state, .size_requested' | xargs)" "unloaded 65536"
	gives_back "$before"
}

no_killing()
{
	dmesg | none -i 'out of memory|oom|page allocation failure|kept its rings' -
}

# percent N: print N percent of the available memory, divided by the number of CPUs, in bytes.
percent()
{
	awk -v percent="$1" -v cpus="$cpus" \
		'$1 == "MemAvailable:" { printf "%d\n", $2 * 1024 * percent / 100 / cpus }' /proc/meminfo
}

@test "rings of 1 MB to 512 MB per CPU load, and unload frees all of their memory" {
	# First make sure that has_pages notices a loaded ring.
	ht load --size 1M
	run -1 has_pages "$before"
	ht unload
	for mb in 1 4 16 64 256 512; do
		loads "${mb}M" $((mb << 20))
		gives_back "$before"
	done
	no_killing
}

# bats test_tags=slow
@test "unload frees the memory also of sizes that are no power of two" {
	for kb in 96 200 403 18000 20000 100000; do
		loads "${kb}K" $((kb << 10))
		gives_back "$before"
	done
	no_killing
}

@test "sizes larger than the memory are refused" {
	refuses 9223372036854775808
	refuses 18446744073709551615
	refuses "$(awk '$1 == "MemTotal:" { printf "%d\n", $2 * 0.8 }' /proc/meminfo)K"
	no_killing
}

@test "a size near the available memory loads or is refused, but leaks nothing" {
	refuses "$(percent 101)"
	for part in 100 98 96; do
		run ht load --size "$(percent "$part")"
		if ((status)); then
			same "$status" 2
			says "not enough free memory"
		fi
		ht unload
		gives_back "$before"
	done
	bytes=$(percent 90)
	loads "$bytes" "$bytes"
	gives_back "$before"
	no_killing
}

@test "a load that is killed leaks no memory" {
	for ms in 010 050 200 500; do
		hyptrace -r "$REMOTE" load --size 512M &
		sleep "0.$ms"
		# The load may have ended before the kill.
		kill -KILL $! || true
		wait $! || true
		of .state | grep -qxE 'unloaded|loaded'
		ht unload
		gives_back "$before"
	done
	no_killing
}
