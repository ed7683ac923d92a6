#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# hyptrace who: the owner of a page, and its history.

load ./helper

# Trace a VM while it lives, and until it is gone.
record_a_vm()
{
	hyptrace enable mem_transition host_hcall
	hyptrace load --size 8M
	hyptrace start
	workload --mmio 10 --psci 10 >/dev/null
	hyptrace stop
}

# touched: print the numbers of all pages of the transitions in the rings, each once
touched()
{
	hyptrace show -q -j -e mem_transition |
		jq -r 'select(.fields.ret == 0) | .fields | (.pfn | tonumber) as $p | range($p; $p + (.nr | tonumber))' | sort -u
}

@test "who without a page, or with a bad one, is a usage error" {
	run -1 hyptrace who
	says 'no page is given'
	run -1 hyptrace who hyp
	says 'bad page "hyp"'
	run -1 hyptrace who 0x1g
	run -1 hyptrace who 1 live more
	says 'unexpected argument "more"'
}

@test "who of a remote that protects no memory says why" {
	run -2 hyptrace -r test who 1
	says '"test" protects no memory'
}

@test "who without rings prints the owner, and says that there is no history" {
	run -0 --separate-stderr hyptrace who 0x9000
	same "$output" "page 0x9000: no memory"
	says 'the rings are not loaded'
	same "$(hyptrace who 0x9000 -j 2>/dev/null | jq -c '[.pfn, .owner, .implied, .changes]')" \
		'["36864","no-memory",null,0]'
	same "$(hyptrace who -a 0x9000123 2>/dev/null)" "page 0x9000: no memory"
}

@test "for each page of a VM that is gone, the answer is what the history implies" {
	record_a_vm
	pages=$(touched)
	[[ $(wc -l <<<"$pages") -gt 4 ]]
	for page in $pages; do
		hyptrace who "$page" -j 2>/dev/null >"$BATS_TEST_TMPDIR/who.json"
		same "$(head -n 1 "$BATS_TEST_TMPDIR/who.json" | jq -r .owner)" "$(head -n 1 "$BATS_TEST_TMPDIR/who.json" | jq -r .implied)" "page $page"
		same "$(head -n 1 "$BATS_TEST_TMPDIR/who.json" | jq -r .changes)" "$(($(wc -l <"$BATS_TEST_TMPDIR/who.json") - 1))"
		# in the order of time, and each with the hypercall that made it
		tail -n +2 "$BATS_TEST_TMPDIR/who.json" | jq -e '.call != null' >/dev/null
		tail -n +2 "$BATS_TEST_TMPDIR/who.json" | jq -r .ts | sort -c -n
	done
}

@test "who prints the history of a file as that of the rings" {
	record_a_vm
	hyptrace record --snapshot -o "$BATS_TEST_TMPDIR/who.dat"
	page=$(touched | head -n 1)
	hyptrace who "$page" -j 2>/dev/null | tail -n +2 >"$BATS_TEST_TMPDIR/live"
	hyptrace who "$page" "$BATS_TEST_TMPDIR/who.dat" -j | tail -n +2 >"$BATS_TEST_TMPDIR/file"
	cd "$BATS_TEST_TMPDIR"
	[[ -s live ]]
	cmp live file
	hyptrace who "$page" live -j 2>/dev/null | tail -n +2 | cmp - file
	run -0 hyptrace who "$page" "$BATS_TEST_TMPDIR/who.dat"
	says 'the host owns it alone'
	says ' by __pkvm_'
}

@test "who says that events were lost" {
	record_a_vm
	hyptrace unload
	hyptrace load --size 8K
	hyptrace start
	workload --mmio 1000 --psci 1000 >/dev/null
	hyptrace stop
	run -0 --separate-stderr hyptrace who 0x40000
	says 'the history may be incomplete: '
	says ' events were lost before '
}

@test "who of a file that does not exist" {
	run -2 hyptrace who 1 /nowhere/t.dat
	says 'cannot read "/nowhere/t.dat"'
}
