#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# hyptrace page and leaks, and who, their short name: the owner of a page, its history, and pages that were not given back.

load ../helper

# Trace a VM while it lives, and until it is gone.
record_a_vm()
{
	hyptrace enable mem_transition host_hcall
	hyptrace load --size 8M
	hyptrace start
	workload --mmio 10 --psci 10 >/dev/null
	hyptrace stop
}

take=/usr/local/libexec/hyptrace-kselftest/take_pages

# trace_vms: trace what VMs take and give back.
trace_vms()
{
	hyptrace enable mem_transition host_hcall
	hyptrace load --size 8M
	hyptrace start
}

# take_begin leak|random: get ready to give pages to EL2. The module shares its own memory with EL2, so begin before
# the trace. The program's output goes to $log.
take_begin()
{
	log=$BATS_TEST_TMPDIR/log
	mkfifo "$BATS_TEST_TMPDIR/in"
	"$take" "$@" <"$BATS_TEST_TMPDIR/in" >"$log" 3>&- &
	taker=$!
	exec 7>"$BATS_TEST_TMPDIR/in"
	within "$patience" grep -qx ready "$log"
}

# take_make: give the pages. Then $log has only their numbers.
take_make()
{
	echo >&7
	within "$patience" grep -qx 'done' "$log"
	sed -i -e /^ready$/d -e /^done$/d "$log"
}

# take_end: the program takes all pages back.
take_end()
{
	exec 7>&-
	ended "$taker"
	same "$code" 0 "exit code of take_pages"
}

teardown()
{
	exec 7>&- || true
	# it gives its pages back, also if the test has failed
	[[ -z ${taker:-} ]] || ended "$taker" || true
	tidy
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

# bats test_tags=slow
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
	hyptrace page "$page" -j 2>/dev/null | tail -n +2 | cmp - file
	hyptrace page "$page" -j -i who.dat | tail -n +2 | cmp - file
	hyptrace page "$page" -n 1 -j 2>/dev/null | tail -n +2 | cmp - <(tail -n 1 file)
	for cpu in 0 1; do
		hyptrace page "$page" -C "$cpu" -j 2>/dev/null | tail -n +2 | cmp - <(grep "\"cpu\":$cpu," file || true)
	done
	hyptrace page "$page" --csv 2>/dev/null | tail -n +2 | cmp - <(hyptrace page "$page" --csv who.dat 2>/dev/null | tail -n +2)
	same "$(hyptrace page "$page" --csv 2>/dev/null | wc -l)" "$(($(wc -l <file) + 1))"
	hyptrace page "$page" 2>&1 >/dev/null | grep -q "$(wc -l <file) changes\{0,1\} printed, 0 events lost"
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

@test "who --leaks: bad usage" {
	run -1 hyptrace who --leaks -C 0
	says '--cpu cannot be combined with --leaks'
	run -1 hyptrace leaks -C 0
	says 'the verb "leaks" does not take --cpu'
	run -1 hyptrace who --leaks -a
	says '--address cannot be combined with --leaks'
	run -1 hyptrace who --leaks live more
	says 'unexpected argument "more"'
	run -2 hyptrace who --leaks /nowhere/t.dat
	says 'cannot read "/nowhere/t.dat"'
	run -2 hyptrace -r test who --leaks
	says '"test" protects no memory'
}

@test "who --leaks without a history says which command begins one" {
	run -2 hyptrace who --leaks
	says 'the rings of "hypervisor" are not loaded (use "hyptrace enable mem_transition host_hcall" and "hyptrace start")'
	hyptrace enable host_hcall
	hyptrace start
	run -2 hyptrace who --leaks
	says 'the event "mem_transition" is not enabled (use "hyptrace enable mem_transition host_hcall"'
	hyptrace enable mem_transition
	run -0 --separate-stderr hyptrace who --leaks
	same "$output" "no leak: no VM was torn down"
	same "$stderr" ""
	hyptrace enable -F 'id != 3' host_hcall
	run -0 hyptrace who --leaks
	says 'no leak found, but the history is incomplete'
	says '"host_hcall" has the filter "id != 3" at EL2: the other ones are missing'
	says 'the history may be incomplete (use "hyptrace enable mem_transition host_hcall"'
	run -0 hyptrace leaks -q
	same "$output" 'no leak found, but the history is incomplete'
	# stopped, empty rings are unloaded
	workload --mmio 10 >/dev/null
	hyptrace stop
	run -0 hyptrace who --leaks
	says 'tracing was switched off: later events are missing (use "hyptrace start" to resume it)'
}

@test "guests that are gone leave no leak" {
	trace_vms
	workload --mmio 10 --psci 10 >/dev/null
	workload --mmio 10 --psci 10 >/dev/null
	run -0 --separate-stderr hyptrace who --leaks
	same "$output" "no leak: 2 VMs were torn down, and all pages have come back"
	same "$stderr" ""
	same "$(hyptrace who --leaks -j | jq -c '[.pages, .torn_down, .living, .complete]')" '["0","2",0,true]'
	# kernels without protected guests refuse it
	workload --protected --mmio 10 >/dev/null || true
	run -0 hyptrace who --leaks
	says 'no leak: '
	hyptrace record --snapshot -o "$BATS_TEST_TMPDIR/who.dat"
	same "$(hyptrace who --leaks "$BATS_TEST_TMPDIR/who.dat")" "$output"
	same "$(hyptrace leaks -i "$BATS_TEST_TMPDIR/who.dat")" "$output"
	same "$(hyptrace leaks)" "$output"
}

@test "pages that are not given back are named with the hypercall that took them, and no others" {
	[[ -x $take ]] || skip "take_pages is not installed"
	take_begin leak 2
	trace_vms
	take_make
	run -0 hyptrace who --leaks
	same "${lines[0]}" "no leak: no VM was torn down"
	workload --mmio 10 --psci 10 >/dev/null
	run -3 --separate-stderr hyptrace who --leaks
	same "${lines[0]}" "2 pages leaked: 1 VM was torn down"
	same "${#lines[@]}" 3
	same "$stderr" ""
	for i in 1 2; do
		page=$(sed -n "$i"p "$log")
		[[ ${lines[i]} == "$page +1: host-shared-hyp: ["???"] "*" by __pkvm_host_share_hyp(pfn=$page) = 0"* ]] ||
			{ echo "${lines[i]}" >&2 && false; }
	done
	hyptrace record --snapshot -o "$BATS_TEST_TMPDIR/who.dat"
	same "$(hyptrace who --leaks "$BATS_TEST_TMPDIR/who.dat" || true)" "$output" "of the file"
	same "$(hyptrace leaks --csv || true)" "$(hyptrace leaks --csv "$BATS_TEST_TMPDIR/who.dat" || true)" "CSV of the file"
	same "$(hyptrace leaks --csv | wc -l)" 3
	run -3 --separate-stderr hyptrace who --leaks -j "$BATS_TEST_TMPDIR/who.dat"
	same "$(jq -s -c '[.[0].pages, .[0].complete, .[1].pages, .[1].owner, .[1].vm, .[1].op]' <<<"$output")" \
		'["2",true,"1","host-shared-hyp",null,"share"]'
	mapfile -t pages <"$log"
	same "$(jq -s -r '.[1:][].page' <<<"$output")" "$(printf '%d\n' "${pages[@]}")"
	take_end
	run -0 --separate-stderr hyptrace who --leaks
	same "$output" "no leak: 1 VM was torn down, and all pages have come back"
	# The file still has the leak.
	run -3 hyptrace who --leaks "$BATS_TEST_TMPDIR/who.dat"
}

@test "a page that a living VM may use is no leak" {
	[[ -x $take ]] || skip "take_pages is not installed"
	take_begin leak 1
	trace_vms
	take_make
	workload --cpu 0 --mmio 100000000 >/dev/null 3>&- 7>&- &
	guest=$!
	within "$patience" sh -c "hyptrace who --leaks -j | grep -q '\"living\":1'"
	kill -STOP "$guest"
	workload --cpu 1 --mmio 10 --psci 10 >/dev/null
	run -0 --separate-stderr hyptrace who --leaks
	[[ $output =~ ^"no leak found, but "[0-9]+" pages are not judged"$ ]]
	[[ $stderr == *" pages may be in use by a VM that still lives (0x"*"): not judged"* ]]
	kill -KILL "$guest"
	ended "$guest"
	run -3 --separate-stderr hyptrace who --leaks
	same "${lines[0]}" "1 page leaked: 2 VMs were torn down"
	same "$stderr" ""
	take_end
}

@test "after random shares, donations and reclaims the answer is what the history implies" {
	[[ -x $take ]] || skip "take_pages is not installed"
	take_begin random 3000
	trace_vms
	take_make
	while read -r page; do
		hyptrace who "$page" -j 2>/dev/null | head -n 1 >>"$BATS_TEST_TMPDIR/who.json"
	done <"$log"
	same "$(wc -l <"$BATS_TEST_TMPDIR/who.json")" 64
	# EL2 may have refused all changes of a page
	jq -s -e 'all(.changes > 0 and .owner == (.implied // "host"))' "$BATS_TEST_TMPDIR/who.json" >/dev/null
	jq -s -e 'any(.owner != "host")' "$BATS_TEST_TMPDIR/who.json" >/dev/null
	take_end
	# VMs that KVM does not know leak nothing, either. Android's EL2 makes none of random arguments.
	run -0 hyptrace who --leaks
	is_android || says 'VMs were torn down, and all pages have come back'
}
