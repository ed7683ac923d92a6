#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Dump the machine's memory, and check that the verbs that read files find the events in it that show has printed before. The
# last line is "N passed, N failed".

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../checks.sh"

tools=$work/tools
hyptrace=$tools/hyptrace/hyptrace

# dump NAME [FORMAT]: dump the memory when the machine wants it
dump()
{
	local tries
	for ((tries = 0; tries < 1800; tries++)); do
		[[ ! -e $work/share/${1%.*}.wanted ]] || break
		sleep 0.1
	done
	[[ -e $work/share/${1%.*}.wanted ]] && "$repo/tests/blackbox/qmp.py" "$work/qmp" "$work/$1" "${@:2}"
}

has_dumped()
{
	local pid code=0
	mkdir "$work/share"
	"$vm/run.sh" --mem 512 --qmp "$work/qmp" --share "$work/share" --require-protected \
		-- /mnt/repo/tests/blackbox/dump-inside.sh >"$work/inside" 2>&1 &
	pid=$!
	dump without && : >"$work/share/without.done" &&
		dump with && dump with.flat kdump-zlib && : >"$work/share/with.done" || code=1
	wait "$pid" || code=1
	cat "$work/inside"
	((!code)) && "$repo/tests/blackbox/unflatten.py" "$work/with.flat" "$work/with.zlib"
}

# has_events FILE: they are those of show, and as many are lost
has_events()
{
	"$hyptrace" report "$1" >"$work/events" 2>"$work/counts" || return
	diff "$work/share/shown" "$work/events" | head -n 20
	cmp "$work/share/shown" "$work/events" && [[ -s $work/events ]] && diff "$work/share/counts" "$work/counts"
}

# refuses WORDS FILE [OPTION...]: report says so, and prints no event
refuses()
{
	! "$hyptrace" "${@:3}" report "$2" >"$work/events" 2>"$work/error" && [[ ! -s $work/events ]] && cat "$work/error" &&
		grep -F -- "$1" "$work/error"
}

# libkdumpfile 0.5.2 and later reads them.
reads_or_refuses_flattened()
{
	refuses "makedumpfile -R" "$work/with.flat" || has_events "$work/with.flat"
}

reads_fast()
{
	command time -f '%e %M' -o "$work/time" "$hyptrace" report "$work/with" >/dev/null
	cat "$work/time"
	awk '{ exit !($2 < 64 * 1024) }' "$work/time"
}

says_which_kernel()
{
	"$hyptrace" dump -j "$work/with" >"$work/json" && jq -r '.. | .uname? // empty' "$work/json" | tee "$work/uname" &&
		grep -F "$series." "$work/uname" && grep aarch64 "$work/uname"
}

# control_refuses WORDS VERB [ARGUMENT]: a verb for what runs says so
control_refuses()
{
	! "$hyptrace" -r "dump:$work/with" "${@:2}" >"$work/events" 2>"$work/error" && [[ ! -s $work/events ]] &&
		grep -F -- "$1" "$work/error"
}

others_read()
{
	"$hyptrace" stat -i "$work/with" && "$hyptrace" export -f csv "$work/with" && "$hyptrace" strace -c -i "$work/with"
}

# Pages that are not there are said, and the rest is read: where the pages are in the file differs from boot to boot.
reads_the_rest()
{
	local size percent
	size=$(stat -c %s "$work/with")
	cp --sparse=always "$work/with" "$work/cut" || return
	for percent in 90 75 60 45 30 15 1; do
		truncate -s $((size * percent / 100)) "$work/cut"
		"$hyptrace" report "$work/cut" >"$work/events" 2>"$work/error" || true
		cat "$work/error"
		grep 'the file was cut' "$work/error" || return
	done
}

# A dump that is damaged does not harm the reader: 2000 of them, a quarter of a million with FULL=1.
survives_damage()
{
	local runs=2000
	[[ -z ${FULL:-} ]] || runs=250000
	make --no-print-directory -s -C "$repo/tests/fuzz" O="$work/fuzz" dump && "$work/fuzz/dump" -s 1 -n "$runs" "$work/with"
}

make --no-print-directory -s -C "$repo/tools" O="$tools" >&2
set_kernel ''
pkg-config --exists libkdumpfile || die "libkdumpfile-dev is missing: run \"make deps\""
check "QEMU dumps the machine's memory, in two formats" has_dumped
check "report finds the events of show, and as many lost, in an ELF file" has_events "$work/with"
check "the same in a compressed file" has_events "$work/with.zlib"
check "a flattened file is read, or it says how to make a file of it" reads_or_refuses_flattened
check "report takes less than 64 MiB" reads_fast
check "show reads it, too" "$hyptrace" show -i "$work/with"
check "stat, export and strace read it" others_read
check "the file says which kernel it is of" says_which_kernel
check "a remote that it does not have is named" refuses 'no such remote "nobody"' "$work/with" -r nobody
check "status refuses it" control_refuses "has events, and no state" status
check "so does enable" control_refuses "can only be read" enable hyp_enter
check "a dump of a machine without hyptrace is refused" refuses "has nothing of hyptrace" "$work/without"
check "of a dump that was cut, it says what is missing" reads_the_rest
head -c 100 "$work/with" >"$work/head"
check "a file that is only the beginning of a dump is refused" refuses "ELF header is damaged" "$work/head"
{ printf 'KDUMP   ' && head -c 200 /dev/zero; } >"$work/zeros"
check "nor does one whose head is empty harm it" refuses "cannot read the dump" "$work/zeros"
check "damaged dumps are read, or refused" survives_damage
checked
