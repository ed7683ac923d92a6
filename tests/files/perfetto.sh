#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compare the Perfetto exports of trace files with their events: perfetto.sh HYPTRACE FILE... It needs protoc and python3.
set -eu

here=$(dirname "$0")
hyptrace=$1
shift
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

for file; do
	"$hyptrace" export -q -o "$tmp/a.pftrace" "$file"
	protoc -I "$here" --decode=Trace perfetto.proto <"$tmp/a.pftrace" >"$tmp/a.txt"
	"$hyptrace" export -q -f jsonl "$file" >"$tmp/a.jsonl"
	python3 "$here/perfetto.py" "$tmp/a.txt" "$tmp/a.jsonl"

	cp "$tmp/a.pftrace" "$tmp/b.pftrace"
	# a TAR of it and of another trace, with and without a name
	"$hyptrace" export -q --with="$tmp/b.pftrace" -o "$tmp/a.tar" "$file"
	"$hyptrace" export -q --with="$tmp/b.pftrace" "$file" | cmp - "$tmp/a.tar"
	[ "$(tar tf "$tmp/a.tar" | xargs)" = "hyptrace.pftrace b.pftrace" ]
	tar xOf "$tmp/a.tar" hyptrace.pftrace | cmp - "$tmp/a.pftrace"
	tar xOf "$tmp/a.tar" b.pftrace | cmp - "$tmp/b.pftrace"
done
