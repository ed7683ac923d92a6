#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Read EL2's text from outside of the machine, and check that it is the same, byte for byte, whenever no function is traced:
# after all of them were, after toggles under load, and after a hostile host has asked for changes. The kernel must have
# CONFIG_HYPTRACE_EL2_FUNCTIONS; without FLAVOUR it is "builtin". The last line is "N passed, N failed".

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../checks.sh"

export FLAVOUR=${FLAVOUR:-builtin}
set_kernel ''

# offset SYMBOL: print how far the symbol is from where the host's code begins
offset()
{
	echo $((0x$(awk -v name="$1" '$3 == name { print $1 }' "$out/System.map") - 0x$(awk '$3 == "_text" { print $1 }' "$out/System.map")))
}

# save MODE NAME PID: save EL2's text when the machine wants it, unless that process has ended
save()
{
	local files=$work/$1 place
	until [[ -e $files/$2.wanted ]]; do
		kill -0 "$3" || return
		sleep 0.1
	done
	place=$(<"$files/place") &&
		"$repo/tests/blackbox/qmp.py" "$work/qmp" "$files/$2" $((place + $(offset __hyp_text_start))) \
			$(($(offset __hyp_text_end) - $(offset __hyp_text_start))) && : >"$files/$2.done"
}

# has_saved MODE
has_saved()
{
	local pid code=0 name
	mkdir "$work/$1"
	"$vm/run.sh" --mode "$1" --qmp "$work/qmp" --share "$work/$1" --timeout 1500 -- env \
		HYPTRACE_TOGGLES="${HYPTRACE_TOGGLES:-}" HYPTRACE_STORM_BATCHES="${HYPTRACE_STORM_BATCHES:-}" \
		/mnt/repo/tests/blackbox/text-inside.sh "$1" >"$work/inside" 2>&1 &
	pid=$!
	for name in before traced after toggled stormed; do
		save "$1" $name "$pid" || { code=1 && break; }
	done
	((!code)) || kill "$pid" || true
	wait "$pid" || code=1
	cat "$work/inside"
	return $code
}

# differs MODE: while all functions are traced, as many instructions are others
differs()
{
	local nr
	nr=$(cmp -l "$work/$1/before" "$work/$1/traced" | awk '!word[int(($1 - 1) / 4)]++ { nr++ } END { print nr + 0 }')
	echo "$nr instructions, $(<"$work/$1/functions") functions"
	((nr > 100 && nr == $(<"$work/$1/functions")))
}

for mode in protected nvhe; do
	check "$mode: EL2's text is saved" has_saved $mode
	check "$mode: while functions are traced, it differs by an instruction for each" differs $mode
	check "$mode: it is what it was once none is traced" cmp "$work/$mode/before" "$work/$mode/after"
	check "$mode: it is after toggles under load" cmp "$work/$mode/before" "$work/$mode/toggled"
done
# Without protection none is made.
check "protected: it is after hostile calls" cmp "$work/protected/before" "$work/protected/stormed"
checked
