#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Compare what other programs read from a trace file with what "hyptrace report" prints:
# readers.sh PROGRAM HYPTRACE FILE. The program is trace-cmd, or kernelshark with its path. All events, their
# times and fields, and the losses between them must be the same, of each CPU in the same order. Losses that no event of the
# CPU follows are left out: only the description of the file has them, which other programs do not read.

set -euo pipefail
program=$1 hyptrace=$2 file=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# trace-cmd prints a loss before the event that follows it, which has the time. Version 3.3 also prints flags after the CPU,
# which our events do not have.
trace_cmd()
{
	trace-cmd report -t -i "$file" 2>"$work/said" | awk '
		/^CPU:[0-9]+ \[[0-9]+ EVENTS DROPPED\]$/ {
			lost = substr($2, 2)
			next
		}
		match($0, /\[[0-9]+\] +([^ ]+ +)?[0-9]+\.[0-9]+: /) {
			place = substr($0, RSTART, RLENGTH)
			words = split(place, word, / +/)
			place = word[1] " " word[words - 1] " "
			event = substr($0, RSTART + RLENGTH)
			sub(/: +/, ": ", event)
			if (lost)
				print place "LOST " lost (lost == 1 ? " event" : " events")
			lost = 0
			print place event
			next
		}
		!/^cpus=/ { print "trace-cmd says: " $0 }'
}

# by_cpu FILE: print the lines of each CPU in their order. Events of two CPUs may have the same time.
by_cpu()
{
	sed -E 's/^(\[[0-9]+\]) +/\1 /; s/ +$//' "$1" | sort -s -k 1,1
}

case $program in
trace-cmd) trace_cmd >"$work/theirs" ;;
*) "$program" "$file" >"$work/theirs" ;;
esac
"$hyptrace" report -q --raw --ns "$file" | tac |
	awk '/: (host )?LOST / && !seen[$1, $3 == "host"] { next } { seen[$1, $3 == "host"] = 1; print }' | tac >"$work/ours"
by_cpu "$work/ours" >"$work/ours-by-cpu"
by_cpu "$work/theirs" >"$work/theirs-by-cpu"
diff "$work/theirs-by-cpu" "$work/ours-by-cpu" | head -n 20
