#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Have the kernel panic, and check that its crash kernel finds the events that show has printed before, and that the
# files of kdump have them. The kernel is that of the flavour "builtin": VMCOREINFO names what hyptrace has in memory. The
# last line is "N passed, N failed".

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

passed=0 failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tools=$work/tools

# check NAME COMMAND...: the test passes if the command does
check()
{
	if "${@:2}" >"$work/said" 2>&1; then
		echo "ok - kdump: $1"
		((++passed))
	else
		echo "not ok - kdump: $1"
		sed 's/^/# /' "$work/said" | head -n 40
		((++failed))
	fi
}

# has_panicked MODE [copy]: boot in this mode, panic, and boot the crash kernel
has_panicked()
{
	mkdir "$work/$1"
	cp "$out/Image" "$work/$1"
	"$vm/run.sh" --timeout 100 --mem 512 --mode "$1" --share "$work/$1" --console "$work/$1/console" \
		--append "hyptrace=hyp_enter,hyp_exit,host_hcall:size=64K crashkernel=192M" \
		-- /mnt/repo/tests/vm/kdump-inside.sh "${@:2}" || true
	[[ -s $work/$1/vmcore.events ]] && rm "$work/$1/Image"
}

# has_events MODE NAME: they are those of show, and as many are lost
has_events()
{
	local files=$work/$1
	[[ -s $files/show.events ]] && cmp "$files/show.events" "$files/$2.events" && diff "$files/show.counts" "$files/$2.counts"
}

# report_has_events FILE: the same of a file
report_has_events()
{
	"$tools/hyptrace/hyptrace" report "$work/nvhe/$1" >"$work/nvhe/$1.events" 2>"$work/nvhe/$1.counts" && has_events nvhe "$1"
}

make --no-print-directory -s -C "$repo/tools" O="$tools" >&2
export FLAVOUR=builtin
set_kernel ''
check "the crash kernel of a protected machine reads the rings" has_panicked protected
check "it finds the events of show, and as many lost" has_events protected vmcore
check "/proc/kcore has them, too" has_events protected kcore
check "the crash kernel without protection copies the memory" has_panicked nvhe copy
check "it finds the events of show, and as many lost" has_events nvhe vmcore
check "the copy has them" report_has_events vmcore.elf
check "what makedumpfile has made of it has them" report_has_events vmcore.zlib
echo "$passed passed, $failed failed"
((failed == 0))
