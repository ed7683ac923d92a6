#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Have the host panic, and check that its crash kernel finds the events that show has printed before, and that the files of
# kdump have them. Have EL2 panic inside its writer, and in an abort of a program, and check that the last events that were
# printed are the last ones that the crash kernel finds. The kernel is that of the flavour "builtin": VMCOREINFO names what
# hyptrace has in memory, and its EL2 has fault points. The last line is "N passed, N failed".

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../checks.sh"

tools=$work/tools

# has_panicked MODE HOW [OPTION...]: boot in this mode, panic, and boot the crash kernel
has_panicked()
{
	local files=$work/$1-$2 words=''
	[[ $2 != *-kpti ]] || words=kpti=1
	mkdir "$files"
	cp "$out/Image" "$files"
	"$vm/run.sh" "${@:3}" --timeout 100 --mem 512 --mode "$1" --share "$files" --console "$files/console" \
		--append "hyptrace=hyp_enter,hyp_exit,hyp_panic:size=64K crashkernel=192M crash_kexec_post_notifiers $words" \
		-- /mnt/repo/tests/blackbox/kdump-inside.sh "$2" || true
	[[ -s $files/vmcore.events ]] && rm "$files/Image"
}

# has_events MODE-HOW NAME: they are those of show, and as many are lost
has_events()
{
	local files=$work/$1
	[[ -s $files/show.events ]] && cmp "$files/show.events" "$files/$2.events" && diff "$files/show.counts" "$files/$2.counts"
}

# report_has_events FILE: the same of a file
report_has_events()
{
	local files=$work/nvhe-copy
	"$tools/hyptrace/hyptrace" report --ns "$files/$1" >"$files/$1.events" 2>"$files/$1.counts" && has_events nvhe-copy "$1"
}

# prints_last MODE-HOW: the last lines of the log before the crash kernel are those of the last events, and EL2's panic is
# one of them unless the ring was locked
prints_last()
{
	local files=$work/$1
	sed 's/   */ /g' "$files/vmcore.events" | tail -n 32 >"$work/want"
	tr -d '\r' <"$files/console" | sed -n 's/.*hyptrace: \(\[[0-9]*\] .*\)/\1/p' | sed 's/   */ /g' | tail -n 32 >"$work/got"
	diff "$work/want" "$work/got" && [[ -s $work/want ]] && ! grep -a 'are damaged' "$files/console" || return
	tail -n 3 "$work/got"
	if [[ $1 == *-swap ]]; then
		[[ $(<"$work/got") != *hyp_panic* ]] && ! grep -a 'and that are left out' "$files/console"
	elif [[ $1 == *-user* ]]; then
		grep 'hyp_panic: vcpu=0 esr=0xf' "$work/got" && { [[ $1 != *-kpti ]] || grep -a 'detected: Kernel page table isolation' "$files/console"; }
	else
		grep 'hyp_panic: .* esr=0xf' "$work/got" && grep -a 'was recording when it panicked, and that are left out: 1' "$files/console"
	fi
}

make --no-print-directory -s -C "$repo/tools" O="$tools" >&2
export FLAVOUR=builtin
set_kernel ''
check "the crash kernel of a protected machine reads the rings" has_panicked protected host
check "it finds the events of show, and as many lost" has_events protected-host vmcore
check "/proc/kcore has them, too" has_events protected-host kcore
check "the crash kernel without protection copies the memory" has_panicked nvhe copy
check "it finds the events of show, and as many lost" has_events nvhe-copy vmcore
check "the copy has them" report_has_events vmcore.elf
check "what makedumpfile has made of it has them" report_has_events vmcore.zlib
for point in user user-kpti; do
	check "protected: EL2 panics in $point" has_panicked protected $point --cpus 1
	check "protected: the last committed event is the last printed" prints_last protected-$point
done
for mode in protected nvhe; do
	for point in reserve commit swap; do
		check "$mode: EL2 panics in $point" has_panicked $mode $point --cpus 1
		check "$mode: the last committed event is the last printed" prints_last $mode-$point
	done
done
checked
