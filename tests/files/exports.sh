#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compare the exports to CTF, CSV, JSON Lines, Chrome's JSON and collapsed stacks with the report of the same file:
# exports.sh HYPTRACE FILE... It needs babeltrace2, jq and python3.
set -eu

here=$(dirname "$0")
hyptrace=$1
shift
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

for file; do
	rm -rf "${tmp:?}"/*
	"$hyptrace" report -q --raw --ns "$file" >"$tmp/report.txt" 2>"$tmp/notes"
	"$hyptrace" report -q -j "$file" >"$tmp/report.jsonl" 2>>"$tmp/notes"
	for ending in jsonl csv json collapsed; do
		"$hyptrace" export -q -o "$tmp/out.$ending" "$file" 2>>"$tmp/notes"
	done
	"$hyptrace" export -q -f csv -o "$tmp/tables/" "$file" 2>>"$tmp/notes"
	"$hyptrace" export -q -o "$tmp/out.ctf" "$file" 2>>"$tmp/notes"
	# an export also says where its events are from
	sed 's/,"machine":"[^"]*","boot":"[^"]*","kernel":"[^"]*"}$/}/' "$tmp/out.jsonl" | cmp "$tmp/report.jsonl" -
	"$hyptrace" report -q --csv "$file" 2>>"$tmp/notes" >"$tmp/report.csv"
	sed 's/,[^,]*,[^,]*,[^,]*$//' "$tmp/out.csv" | cmp "$tmp/report.csv" -
	"$hyptrace" dump -j "$file" 2>>"$tmp/notes" >"$tmp/dump.json"
	python3 "$here/schema.py" "$here/../../tools/schema/events.schema.json" "$tmp/out.jsonl"
	babeltrace2 --clock-cycles "$tmp/out.ctf" >"$tmp/ctf.txt" 2>"$tmp/ctf.notes"
	jq -r '[.event // "lost", .lost // 0, (.fields.duration // "0")] | @tsv' "$tmp/out.jsonl" |
		awk '{ n[$1]++; lost += $2; time[$1] += $3 }
			END { for (e in n) printf "%s %d %d %.0f\n", e, n[e], e == "lost" ? lost : 0, time[e] }' >"$tmp/jq.txt"
	python3 "$here/exports.py" "$tmp"
done
