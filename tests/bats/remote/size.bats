#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# Sizes: any size that fits can be loaded. Others are refused and change nothing.

load ../helper
load ../size

@test "small sizes load, rounded up to at least two sub-buffers" {
	loads 1 1
	loads 4095 4095
	loads 4096 4096
	loads 7K 7168
	loads 8193 8193
	ht load --size 1
	same "$(of '.size_allocated / .subbuf_size')" 2
}

@test "sizes that the remotes of tracefs cannot load do load" {
	loads 96K 98304
	loads 200K 204800
	loads 403K 412672
	loads 18000K 18432000
	loads 20000K 20480000
}

@test "a size may be hexadecimal or have a unit" {
	loads 0x10000 65536
	loads 1M 1048576
	loads 2m 2097152
	loads 64k 65536
}

@test "a size of 100,000 KB per CPU loads" {
	loads 100000K 102400000
}

@test "size 0 is refused" {
	run -2 ht load --size 0
	says 'size 0'
	run -2 ht set --size 0
	says 'size 0'
	same "$(of '.state, .size_requested' | xargs)" "unloaded 1048576"
}

@test "a size larger than the memory is refused at once" {
	run -2 ht load --size 1T
	says 'cannot load'
	says "exceed the machine's memory"
	run -2 ht set --size 1T
	says "exceed the machine's memory"
	run -2 ht load --size 18446744073709551615
	run -2 ht load --size 16777215T
	same "$(of '.state, .size_requested' | xargs)" "unloaded 1048576"
	# Nearly all of the memory is too much, too.
	run -2 ht load --size "$(awk '/MemTotal/ { print int($2 * 0.97) }' /proc/meminfo)K"
	same "$(of '.state, .size_requested' | xargs)" "unloaded 1048576"
	loads 64K 65536
}

@test "a bad size is a usage error" {
	for size in -1 '' 7Q 1KB garbage 0x 1.5M ' 7' +7 18446744073709551616 16777216T; do
		run -1 ht load --size="$size"
		says "bad size \"$size\""
		run -1 ht set --size="$size"
	done
	same "$(of '.state, .size_requested' | xargs)" "unloaded 1048576"
}
