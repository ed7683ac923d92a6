#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compare what stat counts with what jq makes of the report of the same file: stat.sh HYPTRACE FILE... It needs jq.
set -eu

here=$(dirname "$0")
hyptrace=$1
shift
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# same FILE NAME: compare what jq has made of the report with what stat says
same()
{
	LC_ALL=C sort "$tmp/$2.jq" >"$tmp/want"
	LC_ALL=C sort "$tmp/$2.stat" >"$tmp/got"
	diff "$tmp/want" "$tmp/got" >"$tmp/diff" || {
		echo "$1: the rows by $2 differ:"
		cat "$tmp/diff"
		exit 1
	}
}

# rows NAME [OPTION...]: print the rows that stat makes by NAME
rows()
{
	by=$1
	shift
	"$hyptrace" stat -q -j -i "$file" --by "$by" "$@" 2>>"$tmp/notes" >"$tmp/$by.json"
	jq -r '.rows[] | [.name, .cpu // "all", .samples, .timed, .total // 0, .min // 0, .max // 0, .guest // 0, .run // 0] | @tsv' \
		"$tmp/$by.json"
}

for file; do
	rm -f "${tmp:?}"/*
	"$hyptrace" report -q -j "$file" >"$tmp/report.jsonl" 2>"$tmp/notes"
	rows reason --per-cpu >"$tmp/reason.stat"
	for by in hcall exit vcpu vm memory; do
		rows "$by" >"$tmp/$by.stat"
	done
	rows cpu >"$tmp/cpu.stat"
	jq -s -r -f "$here/stat.jq" "$tmp/report.jsonl" >"$tmp/all.jq"
	for by in reason hcall exit vcpu vm cpu memory; do
		sed -n "s/^$by	//p" "$tmp/all.jq" >"$tmp/$by.jq"
		same "$file" "$by"
	done

	# the four times of each CPU are those of jq, and add up to the time that has passed; jq sees no empty CPU
	jq -r '.wall as $wall | .cpus[] |
		if .host + .el2 + .guest + .unknown != $wall or .wall != $wall then error("CPU \(.cpu) has another wall time")
		elif .events + .lost == 0 then empty
		else [.cpu, .host, .el2, .guest, .unknown, .events, .lost] | @tsv end' "$tmp/hcall.json" >"$tmp/times.stat"
	sed -n 's/^times	//p' "$tmp/all.jq" >"$tmp/times.jq"
	same "$file" times

	# the intervals have all samples, and top replays the same ones
	"$hyptrace" stat -q -j -i "$file" --by hcall --interval 10ms >"$tmp/intervals" 2>>"$tmp/notes"
	[ "$(jq -s '[.[].rows[].samples] | add // 0' "$tmp/intervals")" = "$(jq '[.rows[].samples] | add // 0' "$tmp/hcall.json")" ]
	jq -s -e '[.[:-1], .[1:]] | transpose | all(.[]; .[0].begin + .[0].wall == .[1].begin)' "$tmp/intervals" >"$tmp/said"
	"$hyptrace" top -j -i "$file" --by hcall -d 10ms 2>>"$tmp/notes" | cmp - "$tmp/intervals"
	"$hyptrace" top -b -i "$file" --by hcall -d 10ms -n 2 >"$tmp/blocks"

	# CSV has the same rows; a histogram has all samples
	"$hyptrace" stat -q --csv -i "$file" --by hcall 2>>"$tmp/notes" >"$tmp/csv"
	python3 - "$tmp/csv" "$tmp/hcall.json" <<-'PYTHON'
		import csv, json, sys
		rows = list(csv.DictReader(open(sys.argv[1])))
		wanted = json.load(open(sys.argv[2]))["rows"]
		keys = ["name", "samples", "timed", "total", "min", "max", "mean", "p50", "p90", "p99", "p99_9"]
		times = json.load(open(sys.argv[2]))
		assert all(int(r["begin"]) == times["begin"] and int(r["end"]) - int(r["begin"]) == times["wall"] for r in rows)
		assert [[str(w[k]) for k in keys] for w in wanted] == [[r[k] for k in keys] for r in rows]
	PYTHON
	"$hyptrace" stat -q -j --histogram -i "$file" --by exit 2>>"$tmp/notes" |
		jq -e 'all(.rows[]; .timed == ([.histogram[].count] | add // 0))' >"$tmp/said"
done
