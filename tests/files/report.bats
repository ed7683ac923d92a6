#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The verbs report and dump, on files that hyptrace record and trace-cmd would have written. They need no driver.
#
# shellcheck disable=SC2154 # run sets variables that shellcheck does not see
#
#   HYPTRACE=FILE	the command (hyptrace)
#   MAKE_FILE=FILE	make_file of this folder

bats_require_minimum_version 1.5.0

setup()
{
	cd "$BATS_TEST_TMPDIR" || return
	hyptrace=${HYPTRACE:-hyptrace}
	host_trace=$BATS_TEST_DIRNAME/host_trace.py
}

hyptrace()
{
	command "$hyptrace" "$@"
}

# made OPTION...: make t.dat
made()
{
	"$MAKE_FILE" "$@" t.dat >made
}

# host OPTION...: make t.dat as trace-cmd records a host
host()
{
	"$host_trace" "$@" t.dat
}

# report OPTION...: print the lines of t.dat
report()
{
	hyptrace report -q "$@" t.dat
}

@test "report prints all events, and says so" {
	made -n 20000 -c 3
	hyptrace report t.dat >lines 2>note
	[[ $(wc -l <lines) == "$(awk '{ n += $2 } END { print n }' made)" ]]
	[[ $(<note) == "hyptrace: $(wc -l <lines) events printed, 0 lost" ]]
	# they are in order
	awk '{ print $2 }' lines | sort -c -n
}

@test "report -C, --last, --from and --to choose lines" {
	made -n 20000 -c 3
	report --ns >lines
	grep -F '[001] ' lines | cmp - <(report --ns -C 1)
	tail -n 50 lines | cmp - <(report --ns --last 50)
	# in nanoseconds
	awk '{ t = $2; gsub(/[.:]/, "", t); t += 0; if (!from) from = t } t >= from + 1000000 && t <= from + 2000000' lines >some
	[[ -s some ]]
	cmp some <(report --ns --from=+1ms --to=+2ms)
	last=$(tail -n 1 lines | awk '{ sub(":", "", $2); print $2 }')
	tail -n 1 lines | cmp - <(report --ns --from="$last")
	run hyptrace report -C 7 t.dat
	((status == 2))
	[[ $output == 'hyptrace: cannot read "t.dat": it has no CPU 7' ]]
	run hyptrace report --from=soon t.dat
	((status == 1))
	[[ $output == *'bad time "soon"'* ]]
}

@test "report -e and -F choose events" {
	made -n 20000
	report >lines
	grep ': hyp_enter: ' lines | cmp - <(report -e hyp_enter)
	grep -E ': hyp_(enter|exit): ' lines | cmp - <(report -e 'hyp_e*')
	grep 'vcpu=701\b' lines | grep ': hyp_enter: ' | cmp - <(report -e hyp_enter -F 'vcpu == 701')
	hyptrace report -e hyp_enter t.dat 2>note >/dev/null
	grep -q "$(grep -vc ': hyp_enter: ' lines) filtered, 0 lost" note
	run hyptrace report -e hyp_entr t.dat
	((status == 2))
	[[ $output == *'did you mean "hyp_enter"?'* ]]
}

@test "report -j and --csv have the same events" {
	command -v jq >/dev/null || skip "there is no jq"
	made -n 5000
	report -j | jq -r '[.cpu, .ts, .event] | @csv' | tr -d '"' >json
	report --csv | tail -n +2 | awk -F , '{ print $2 "," $1 "," $3 }' | cmp - json
	run -1 hyptrace report -j --csv t.dat
	[[ $output == *'--csv and --json exclude each other' ]]
}

@test "report marks losses where they are" {
	made -n 20000 -l 10
	lost=$(awk '{ n += $3 } END { print n }' made)
	[[ $(report | sed -n 's/.*: LOST \([0-9]*\) events*$/\1/p' | awk '{ n += $1 } END { print n }') == "$lost" ]]
	hyptrace report -q t.dat 2>&1 >/dev/null | grep -q " $lost lost"
}

@test "a compressed file has the same events" {
	made -n 20000 -c 3
	report >plain
	made -n 20000 -c 3 -z
	report | cmp - plain
	tail -n 7 plain | cmp - <(report -n 7)
}

@test "report prints what a killed recording has left" {
	made -n 20000 -c 3 -k
	hyptrace report t.dat.part >lines 2>note
	[[ $(wc -l <lines) == "$(awk '{ n += $2 } END { print n }' made)" ]]
	grep -q 'was not finished' note
}

@test "report names damage and prints the rest" {
	made -n 20000 -c 1
	report >lines
	truncate -s -5000 t.dat
	run hyptrace report -q t.dat
	((status == 2))
	[[ $output == *'CPU 0, offset '*'are no whole sub-buffer'* ]]
	hyptrace report -q t.dat 2>/dev/null | cmp -n 100000 - lines
	run hyptrace report /dev/null
	((status == 2))
	[[ $output == 'hyptrace: cannot read "/dev/null": it is not a regular file' ]]
}

@test "report prints files of trace-cmd like trace-cmd" {
	for options in '' '--version 7' '--big-endian' '--big-endian --long 4 --page 65536' '--version 7 --long 4'; do
		# shellcheck disable=SC2086 # words
		host $options
		report >lines
		[[ $(wc -l <lines) == 2000 ]]
		grep -q '^         task100-100   \[001\]     5.000001: irq_handler_entry: irq=1 name=virtio1-input.0$' lines
		grep -q ' print: do_something: marker 7$' lines
		if command -v trace-cmd >/dev/null; then
			# without the times, which trace-cmd rounds, and with one blank between all words
			trace-cmd report -N t.dat 2>/dev/null | sed -n 's/ *[0-9]*\.[0-9]*: */ /p' | tr -s ' ' >theirs
			sed 's/ *[0-9]*\.[0-9]*: */ /' lines | tr -s ' ' | cmp - theirs
		fi
	done
}

@test "report filters the events of trace-cmd, and prints them as JSON and CSV" {
	host
	[[ $(report -F 'irq == 9 && common_pid == 300' | wc -l) -gt 0 ]]
	report -e irq_handler_entry -j | head -n 1 | grep -q '"name":"virtio'
	[[ $(report -e irq_handler_entry --csv | head -n 1) == *,irq,name ]]
}

@test "an export does not replace the file that it reads" {
	made -n 1000
	cp t.dat before.dat
	ln -s t.dat link.dat
	for out in t.dat link.dat; do
		run -2 hyptrace export -f csv -o "$out" t.dat
		[[ $output == "hyptrace: \"$out\" is read: give the output another name" ]]
	done
	run -2 hyptrace export -f perfetto --with before.dat -o before.dat t.dat
	cmp t.dat before.dat
}

@test "dump prints what a file says" {
	made -n 20000 -c 3
	hyptrace dump t.dat >text
	grep -q 'remote *hypervisor$' text
	grep -q 'description of the remote' text
	[[ $(hyptrace dump --subbufs t.dat | sed 's/.* bytes, *\([0-9]*\) events.*/\1/' | awk '{ n += $1 } END { print n }') == \
		"$(awk '{ n += $2 } END { print n }' made)" ]]
	if command -v jq >/dev/null; then
		[[ $(hyptrace dump -j t.dat | jq '[.cpus[].events] | add') == "$(awk '{ n += $2 } END { print n }' made)" ]]
	fi
}

@test "a pager prints the lines on a terminal" {
	command -v script >/dev/null || skip "there is no script(1)"
	host
	HYPTRACE_PAGER='head -n 2' script -qec "$hyptrace report t.dat" /dev/null >lines </dev/null
	[[ $(grep -c task lines) == 1 || $(grep -c 'sched_switch\|irq' lines) == 2 ]]
}

@test "strace -i: -e, -F and -p choose calls, and wrong ones are refused" {
	made -n 20000 -c 2
	hyptrace strace -qj -i t.dat >all
	hyptrace strace -qj -i t.dat -e '__pkvm_host_*,WFx' >some
	jq -c 'select((.name | startswith("__pkvm_host_")) or .name == "WFx")' all >expected
	[[ -s some ]]
	cmp some <(jq -c . expected)
	hyptrace strace -qj -i t.dat -e 'trace=!__pkvm_host_*,WFx' | cmp - <(grep -vxFf expected all)
	hyptrace strace -qj -i t.dat -F 'duration > 50us' | cmp - <(jq -c 'select((.duration // "0" | tonumber) > 50000)' all)
	# the VM of CPU 1, by its handle and by the thread of its vCPU
	hyptrace strace -qj -i t.dat -e guest_exit -p 0x1001 | cmp - <(jq -c 'select(.vm == 4097)' all)
	hyptrace strace -qj -i t.dat -e guest_exit -p 704 -p 705 | cmp - <(jq -c 'select(.vm == 4097)' all)
	run hyptrace strace -i t.dat -e '!__pkvm_host_shar_hyp'
	((status == 2))
	[[ $output == *'no such call; did you mean "__pkvm_host_share_hyp"?' ]]
	run hyptrace strace -i t.dat -e '!*'
	((status == 2))
	[[ $output == *'--trace excludes all calls' ]]
	run hyptrace strace -i t.dat -F 'pfn == 1'
	((status == 1))
	[[ $output == *'no event has a field "pfn"'* ]]
	run hyptrace strace -i t.dat -p 0x
	((status == 1))
	[[ $output == *'bad VM "0x"'* ]]
	run hyptrace strace -i t.dat -e ,
	((status == 1))
	run hyptrace strace -i t.dat -- true
	((status == 1))
	run hyptrace strace -i missing.dat
	((status == 2))
}

@test "stat prints the times of CPUs and a row of each reason" {
	made -n 20000 -c 3
	hyptrace stat -i t.dat >text 2>note
	[[ $(<note) == "hyptrace: $(awk '{ n += $2 } END { print n }' made) events read, 0 lost" ]]
	[[ $(awk 'NF { print $1 }' text | xargs) == "CPU 0 1 2 NAME "* ]]
	hyptrace stat -q -j -i t.dat >json
	jq -e 'all(.cpus[]; .unknown == 0 and .host + .el2 + .guest == .wall)' json
	[[ $(jq -r '.rows | sort_by(-.total)[].name' json) == "$(jq -r '.rows[].name' json)" ]]
	hyptrace stat -q -j -i t.dat -k name >sorted
	[[ $(jq -r '.rows[].name' sorted) == "$(jq -r '.rows[].name' json | LC_ALL=C sort)" ]]
	# the rows of each CPU, of some CPUs, of some time
	hyptrace stat -q -j -i t.dat --per-cpu >cpus
	[[ $(jq -c '[.rows[].samples] | add' cpus) == "$(jq -c '[.rows[].samples] | add' json)" ]]
	[[ $(hyptrace stat -q -j -i t.dat -C 1 | jq -c '[.rows[] | [.name, .samples]] | sort') == \
		"$(jq -c '[.rows[] | select(.cpu == 1) | [.name, .samples]] | sort' cpus)" ]]
	[[ $(hyptrace stat -q -j -i t.dat --from=+1ms --to=+2ms | jq '[.cpus[].events] | add') == \
		$(report --from=+1ms --to=+2ms | wc -l) ]]
}

@test "stat says which events to record, and refuses what it cannot do" {
	made -n 2000 -c 2 -m
	run -0 --separate-stderr hyptrace stat -i t.dat --by hcall
	[[ $stderr == *'"hyptrace record -e hyp_enter,hyp_exit,host_hcall"'* ]]
	hyptrace stat -q -i t.dat 2>note
	[[ ! -s note ]]
	for arguments in '-i t.dat --duration 1' '-i t.dat -- true' '--from 1 --duration 1' '-i t.dat --csv -j' '--by this' \
		'-k this' 't.dat' '--interval 0' '-i t.dat --from x'; do
		# shellcheck disable=SC2086 # they are several words
		run -1 --separate-stderr hyptrace stat $arguments
		[[ -z $output && $stderr == hyptrace:* ]]
	done
	run -2 --separate-stderr hyptrace stat -i none.dat
	[[ $stderr == 'hyptrace: cannot read "none.dat": No such file or directory' ]]
	run -2 --separate-stderr hyptrace stat -i t.dat -C 5
	[[ $stderr == *'it has no CPU 5' ]]
}

@test "stat counts a damaged place, and all other events" {
	made -n 20000 -c 1
	python3 - <<-'PYTHON'
		data = bytearray(open("t.dat", "rb").read())
		at = len(data) // 2 // 4096 * 4096 + 16
		data[at:at + 4] = b"\xff\xff\xff\xff"
		open("t.dat", "wb").write(data)
	PYTHON
	run -2 --separate-stderr hyptrace stat -i t.dat
	[[ $stderr == *'bad record'*' or more lost' ]]
	[[ $(hyptrace stat -q -j -i t.dat 2>/dev/null | jq '.cpus[0] | .events, .lost_more, .unknown > 0' | xargs) == \
		"$(report 2>/dev/null | grep -vc LOST) true true" ]]
}
