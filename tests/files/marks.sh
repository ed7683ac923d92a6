#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Check a file for which each CPU has tried to record the marks 1 to LAST: marks.sh HYPTRACE FILE LAST. Each mark is in the
# file, or lost where the report has a LOST line of that size, or lost after the last one, as the file's counts say.

set -euo pipefail
hyptrace=$1 file=$2 last=$3

counted=$("$hyptrace" -j dump "$file" | jq -r '.cpus[] | select(.events + .lost > 0) | "\(.cpu) \(.events) \(.lost)"' |
	awk '{ printf "[%03d] %d %d\n", $1, $2, $3 }')
found=$("$hyptrace" report -q "$file" 2>/dev/null | awk -v last="$last" '
	$3 == "LOST" {
		gap[$1] += $4
		lost[$1] += $4
		next
	}
	$3 == "selftest:" {
		id = substr($4, 4)
		if (id != at[$1] + gap[$1] + 1 && !bad[$1]++)
			print $1 ": after mark " at[$1] + 0 " and a loss of " gap[$1] + 0 " comes " id
		at[$1] = id
		gap[$1] = 0
		events[$1]++
	}
	END {
		for (cpu in at)
			print cpu, events[cpu], lost[cpu] + last - at[cpu]
	}' | sort)
diff <(echo "$counted") <(echo "$found") | head -n 20
[[ -n $found ]]
while read -r _ events lost; do
	((events + lost == last))
done <<<"$found"
