#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Test trace files on the host: write them with the writer of hyp/, then record, report, dump and export. Prints a line
# for each test; the last is "N passed, N failed".

set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/check.sh"

# The files, and how make_file writes them
declare -A files=(
	[mixed]="-n 20000 -c 4"
	[compressed]="-n 20000 -c 3 -z"
	[one CPU]="-n 30000 -c 1"
	[overwritten]="-n 20000 -c 2 -p 8 -l 20"
	[discarded]="-n 20000 -c 2 -p 8 -l 20 -d"
	[marks]="-n 5000 -c 2 -m"
	[unfinished]="-n 5000 -c 3 -k"
	[empty]="-n 0 -c 2"
)

# A file that is not finished is read by the name of its first part.
path_of()
{
	local path=$work/${1// /-}.dat
	[[ ! -e $path.part ]] || path+=.part
	echo "$path"
}

# The report has as many events and losses as were written.
counts()
{
	local path=$1 events lost
	read -r events lost < <(awk '{ events += $2; lost += $3 } END { print events + 0, lost + 0 }' "$path.counts")
	"$hyptrace" report "$path" >"$work/report.txt" 2>"$work/note"
	cat "$work/note"
	[[ $(grep -cv ': LOST \|\[[0-9]*\] .*LOST [0-9]* event' "$work/report.txt") == "$events" ]]
	[[ $(sed -n 's/.*LOST \([0-9]*\) event.*/\1/p' "$work/report.txt" | awk '{ n += $1 } END { print n + 0 }') == "$lost" ]]
}

for name in "${!files[@]}"; do
	path=$work/${name// /-}.dat
	# shellcheck disable=SC2086 # they are several words
	"$bin/make_file" ${files[$name]} "$path" >"$work/counts" || exit
	mv "$work/counts" "$(path_of "$name").counts"
done

for name in "${!files[@]}"; do
	path=$(path_of "$name")
	check "$name: events and losses" counts "$path"
	check "$name: dump" "$hyptrace" dump "$path"
	check "$name: stat" "$here/stat.sh" "$hyptrace" "$path"
	[[ $name != unfinished ]] || continue
	check "$name: strace" "$here/strace.py" "$hyptrace" "$path"
	check "$name: pages" "$here/pages.py" "$hyptrace" "$path"
	check "$name: exports" "$here/exports.sh" "$hyptrace" "$path"
	check "$name: Perfetto" "$here/perfetto.sh" "$hyptrace" "$path"
	[[ $name != empty ]] || continue
	check "$name: trace-cmd" "$here/readers.sh" trace-cmd "$hyptrace" "$path"
	check "$name: KernelShark" "$here/readers.sh" "$bin/kernelshark" "$hyptrace" "$path"
done
# Cut a file anywhere: all events before the cut are printed, and a message says where it is.
for option in "" -z -k "-k -z"; do
	path=$work/small${option// /}.dat
	# shellcheck disable=SC2086 # no option, or some
	"$bin/make_file" -n 2000 -c 3 $option "$path" >/dev/null || exit
	[[ $option != -k* ]] || path+=.part
	check "cut at 200 places${option:+, $option}" "$here/cut.py" "$hyptrace" "$path" 200
done

"$bin/make_file" -n 20000 -c 2 "$work/whole.dat" >/dev/null || exit
check "lists that lead in circles" "$here/circles.py" "$hyptrace"
check "memory that has outlived a reset, and dumps" "$here/images.py" "$hyptrace"
check "the same words of the same damage" "$here/damage.sh" "$hyptrace" "$work/whole.dat"

# Who starts the command may ignore SIGCHLD: it gets the exit codes of its own children all the same.
ignored_sigchld()
{
	mkdir "$work/many" && echo >"$work/bad.dat"
	env --ignore-signal=CHLD "$hyptrace" export -q -f jsonl -o "$work/many" "$work/whole.dat" "$work/bad.dat" 2>"$work/note"
	[[ $? == 2 && -s $work/many/whole.jsonl && $(grep -c . "$work/note") == 1 ]] || { ls "$work/many" && cat "$work/note" && false; }
}
check "SIGCHLD is ignored by the parent" ignored_sigchld

"$here/record.sh" "$bin" >"$work/record" 2>&1
grep -vE '^[0-9]+ passed, ' "$work/record"
if [[ $(tail -n 1 "$work/record") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
	((passed += BASH_REMATCH[1], failed += BASH_REMATCH[2]))
else
	echo "not ok - record.sh could not run"
	((++failed))
fi

HYPTRACE=$hyptrace MAKE_FILE=$bin/make_file timeout 900 bats "$here/report.bats" "$here/tracefs.bats" "$here/views.bats" >"$work/report" 2>&1 || true
grep -vE '^[0-9]+\.\.[0-9]+$' "$work/report"
((passed += $(grep -c '^ok ' "$work/report"), failed += $(grep -c '^not ok ' "$work/report")))
[[ $(sed -n 's/^1\.\.//p' "$work/report") == "$(grep -cE '^(not )?ok ' "$work/report")" ]] || {
	echo "not ok - report.bats, tracefs.bats or views.bats could not run"
	((++failed))
}

checked
