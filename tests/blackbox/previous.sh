#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Reset the machine, and check what the next boot finds of the boot before: after a reboot, a panic of the host and of EL2,
# and after 200 power cuts at any moment. Without FULL=1 only after a reboot and a panic of EL2. The kernel is that of the
# flavour "builtin": its trace begins at boot. The last line is "N passed, N failed".

. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../checks.sh"

tools=$work/tools
hyptrace=$tools/hyptrace/hyptrace
events=hyptrace=hyp_enter,hyp_exit,hyp_panic,psci_call
rounds=${ROUNDS:-200}

# boot CASE HOW WORDS [OPTION...]: boot, reset the machine as HOW says, and boot again
boot()
{
	mkdir "$work/$1"
	"$vm/run.sh" --timeout 100 --reboot --mem 512 --share "$work/$1" --console "$work/$1/console" --append "$3" "${@:4}" \
		-- /mnt/repo/tests/blackbox/previous-inside.sh "$2"
	[[ -s $work/$1/shown ]]
}

# lacks LINES OTHERS: print the first lines of a file that another one does not have, and succeed if there are some
lacks()
{
	comm -23 <(sort "$1") <(sort "$2") | sed -n 1,5p | grep .
}

# has_events CASE: the report has all that show has printed, all ways to read it print the same, and no event is lost
has_events()
{
	local files=$work/$1
	[[ -s $files/report ]] && cat "$files/report.said" && cmp "$files/show" "$files/report" && cmp "$files/record" "$files/report" &&
		! lacks "$files/shown" "$files/report" &&
		grep -q ', 0 lost$' "$files/report.said" && grep -q ' hvc ' "$files/stat" && "$hyptrace" report --ns "$files/image" |
		cmp - "$files/report"
}

# has_all CASE: the report has all that show has printed, and no event is lost
has_all()
{
	local files=$work/$1
	cat "$files/report.said" && ! grep -F "checksum" "$files/report.said" && ! lacks "$files/shown" "$files/report" && grep -q ', 0 lost$' "$files/report.said"
}

# is_whole CASE: the reader has lost events, and no sub-buffer is damaged
is_whole()
{
	local files=$work/$1
	grep -m 1 -E '[1-9][0-9]* lost' "$files/streamed" && cat "$files/report.said" &&
		! grep -F "checksum" "$files/report.said" && ! lacks "$files/shown" "$files/report"
}

# has_first CASE: the report has all events that show has printed, and others are lost
has_first()
{
	cat "$work/$1/report.said"
	! lacks <(grep -v LOST "$work/$1/shown") "$work/$1/report" && grep -E ', [1-9][0-9]* lost$' "$work/$1/report.said"
}

# ends_with CASE WORDS: the last event of the boot before
ends_with()
{
	tail -n 1 "$work/$1/report"
	tail -n 1 "$work/$1/report" | grep -- "$2"
}

# says CASE FILE WORDS: the file has these words
says()
{
	cat "$work/$1/$2"
	grep -F -- "$3" "$work/$1/$2"
}

# has_boot CASE: the image names its boot as the log of that boot does
has_boot()
{
	local id
	id=$("$hyptrace" dump -j "$work/$1/image" | jq -r '.. | .boot? // empty')
	[[ $id ]] && says "$1" log "the next boot will call this one $id"
}

# has_lines NUMBER FILE
has_lines()
{
	[[ $(wc -l <"$2") == "$1" ]]
}

# reads_rest: what the image has is read
reads_rest()
{
	"$hyptrace" report --ns "$work/tree/image" >"$work/events" 2>"$work/error" && cat "$work/error" &&
		grep -F "are not in the dump: their events are missing" "$work/error" && ! lacks "$work/events" "$work/tree/report"
}

# refuses WORDS FILE: report says so, and prints no event
refuses()
{
	! "$hyptrace" report "$2" >"$work/events" 2>"$work/error" && [[ ! -s $work/events ]] && cat "$work/error" &&
		grep -F -- "$1" "$work/error"
}

# A byte is changed in each sub-buffer in turn: no event of it is printed, and all others are.
skips_damage()
{
	local at
	"$repo/tests/blackbox/image.py" "$work/protected-reboot/image" >"$work/places" || return
	[[ $(wc -l <"$work/places") -gt 2 ]] || return
	while read -r at; do
		cp "$work/protected-reboot/image" "$work/damaged" && printf '\xff' | dd of="$work/damaged" bs=1 seek="$at" conv=notrunc status=none &&
			"$hyptrace" report --ns "$work/damaged" >"$work/events" 2>"$work/error" || return
		grep -F "or their checksum is wrong" "$work/error" && ! lacks "$work/events" "$work/protected-reboot/report" &&
			lacks "$work/protected-reboot/report" "$work/events" >"$work/lacking" || return
	done < <(head -n 20 "$work/places")
}

# An image with small rings that is damaged does not harm the reader: half a million of them.
survives_damage()
{
	make --no-print-directory -s -C "$repo/tests/fuzz" O="$work/fuzz" dump && "$work/fuzz/dump" -s 1 -n 500000 "$work/tiny/image"
}

# cut_power: reset the machine at random moments while it writes
cut_power()
{
	local files=$work/cut round pid code=0 tries
	mkdir "$files"
	"$vm/run.sh" --timeout $((200 + 30 * rounds)) --reboot --mem 512 --share "$files" --console "$files/console" --qmp "$work/qmp" \
		--append "hyptrace=selftest:size=64K reserve_mem=2M:4096:hyptrace" -- /mnt/repo/tests/blackbox/previous-inside.sh cut &
	pid=$!
	for ((round = 1; round <= rounds && !code; round++)); do
		for ((tries = 0; tries < 600; tries++)); do
			[[ ! -e $files/ready.$round ]] || break
			sleep 0.1
		done
		sleep 0.$((RANDOM % 700 + 200))
		read -r address size <"$files/place" || code=1
		"$repo/tests/blackbox/qmp.py" "$work/qmp" "$files/saved.$round" "$address" $((size * 1024)) reset || code=1
	done
	# the last one is not read by the machine
	kill "$pid"
	wait "$pid"
	return $code
}

# has_marks: each round has all marks of complete sub-buffers, and as many are lost as report says
has_marks()
{
	local round files=$work/cut lost events=0
	for ((round = 1; round < rounds; round++)); do
		cmp "$files/saved.$round" "$files/image.$round" || return
		"$hyptrace" report --ns "$files/image.$round" >"$work/report" 2>"$work/report.said" || return
		lost=$("$repo/tests/blackbox/image.py" "$files/image.$round" "$work/report") || return
		grep -q ", $lost lost\$" "$work/report.said" || {
			echo "round $round: $lost are lost" && cat "$work/report.said"
			return 1
		}
		events=$((events + $(wc -l <"$work/report")))
	done
	echo "# $((rounds - 1)) rounds, $events marks"
	((events))
}

make --no-print-directory -s -C "$repo/tools" O="$tools" >&2
export FLAVOUR=builtin
set_kernel ''
check "protected: a reboot" boot protected-reboot reboot "$events reserve_mem=8M:4096:hyptrace"
check "protected: no event is lost" has_events protected-reboot
check "protected: the last event is the reset" ends_with protected-reboot 'psci_call: PSCI_SYSTEM_RESET'
check "the image names its boot" has_boot protected-reboot
check "a boot that has found nothing says so" says protected-reboot none.said "this boot has found nothing of the one before"
check "EL2 panics" boot hyp hyp "$events reserve_mem=8M:4096:hyptrace"
check "no event is lost" has_events hyp
check "EL2's panic is the last" ends_with hyp 'hyp_panic: vcpu=0'
head -c 5000 "$work/protected-reboot/image" >"$work/cut.image"
check "an image that is cut is refused" refuses "is not in the dump" "$work/cut.image"
check "a sub-buffer with another checksum is skipped, and that is said" skips_damage
if [[ -z ${FULL:-} ]]; then
	checked
	exit
fi
check "nvhe: a reboot" boot nvhe-reboot reboot "$events reserve_mem=8M:4096:hyptrace" --mode nvhe
check "nvhe: no event is lost" has_events nvhe-reboot
check "memory of the device tree" boot tree reboot "$events" --reserve 5f000000:800000
check "no event is lost, either" has_events tree
check "the host panics; the rings are made to fit" boot panic panic "$events reserve_mem=2M:4096:hyptrace"
check "no event is lost then" has_events panic
check "rings that are read, and unloaded" boot unload unload "$events reserve_mem=8M:4096:hyptrace"
check "a stream could map them" has_lines 100 "$work/unload/streamed"
check "that is said" says unload report.said "it was not loaded, or did not fit"
check "rings that are read, and cleared" boot clear clear "$events:size=1M reserve_mem=8M:4096:hyptrace"
check "no later event is lost" has_all clear
check "rings whose reader has lost events" boot slow slow "$events:size=16K reserve_mem=8M:4096:hyptrace"
check "what the driver tells the reader is not where a seal is" is_whole slow
check "rings that are full, and discard events" boot discard reboot "$events:mode=discard:size=16K reserve_mem=8M:4096:hyptrace"
check "the first events are there, and the others are counted" has_first discard
check "rings that do not fit" boot large reboot "$events:size=4M reserve_mem=8M:4096:hyptrace"
check "the log says so" says large log "a reset will lose its rings: the memory that outlives it has no room for"
check "the next boot says that they are lost" says large report.said "it was not loaded, or did not fit"
check "memory that is too small" boot small reboot "$events reserve_mem=64K:4096:hyptrace"
check "the log says so, too" says small log "is not used: it is too small"
check "memory of the device tree that is no RAM" boot none reboot "$events" --reserve 6f000000:800000
check "the log says why it is not used" says none log "is not used: not all of it is reserved RAM"
truncate -s 700000 "$work/tree/image"
check "of one that has its beginning, the rest is missing" reads_rest
check "small rings" boot tiny reboot "$events:size=16K reserve_mem=8M:4096:hyptrace"
check "damaged images are read, or refused" survives_damage
check "power cuts" cut_power
check "all events of complete sub-buffers are there" has_marks
checked
